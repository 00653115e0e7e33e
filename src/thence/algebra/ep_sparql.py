"""EP-SPARQL: a file of statements (Anicic, Fodor, Rudolph, Stojanovic, "EP-SPARQL: A Unified Language for Event
Processing and Stream Reasoning"). Patterns are those of SPARQL with `TemporalJoin` (Section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from thence.algebra.patterns import Construct, Select
from thence.algebra.streams import Stream
from thence.rdf.terms import IRI
from thence.rdf.times import Domain
from thence.rdf.typed_events import DEFAULT_NAMESPACE

UNNAMED = "events"
"""The one stream that a file reads: the language has no name for it."""

DURATION, START_TIME, END_TIME = "GETDURATION", "GETSTARTTIME", "GETENDTIME"
"""The time functions, as calls without arguments (EP-29); NOW is END_TIME (EP-34)."""

Statement: TypeAlias = Select | Construct


@dataclass(frozen=True, slots=True)
class RuleFile:
    """CONSTRUCTs feed the stream, SELECTs read it (EP-46): in the order of the text."""

    statements: tuple[Statement, ...]
    namespace: str = DEFAULT_NAMESPACE
    time_kind: tuple[Domain, str] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def streams(self) -> tuple[Stream, ...]:
        return (Stream(UNNAMED, IRI(self.namespace + UNNAMED)),)

    @property
    def selects(self) -> tuple[Select, ...]:
        return tuple(each for each in self.statements if isinstance(each, Select))

    @property
    def rules(self) -> tuple[Construct, ...]:
        return tuple(each for each in self.statements if isinstance(each, Construct))
