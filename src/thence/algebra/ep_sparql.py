"""EP-SPARQL: a file of statements (Anicic, Fodor, Rudolph, Stojanovic, "EP-SPARQL: A Unified Language for Event
Processing and Stream Reasoning"). Patterns are those of SPARQL with `TemporalJoin` (Section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from thence.algebra.patterns import Construct, Select
from thence.algebra.streams import PlacedText, Stream
from thence.errors import QueryError
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI
from thence.rdf.times import Domain

UNNAMED = "events"
"""The one stream that a file reads: the language has no name for it."""

DURATION, START_TIME, END_TIME = "GETDURATION", "GETSTARTTIME", "GETENDTIME"
"""The time functions, as calls without arguments (EP-29); NOW is END_TIME (EP-34)."""

Statement: TypeAlias = Select | Construct


@dataclass(frozen=True, slots=True)
class RulePlaces:
    """A file's text, and the offsets of its CONSTRUCTs in it."""

    text: PlacedText
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuleFile:
    """CONSTRUCTs feed the stream, SELECTs read it (EP-46): in the order of the text. `places` are not part of what a
    file means."""

    statements: tuple[Statement, ...]
    namespace: str = DEFAULT_NAMESPACE
    time_kind: tuple[Domain, str] | None = None
    warnings: tuple[str, ...] = ()
    places: RulePlaces | None = field(default=None, compare=False, repr=False)

    @property
    def streams(self) -> tuple[Stream, ...]:
        return (Stream(UNNAMED, IRI(self.namespace + UNNAMED)),)

    @property
    def selects(self) -> tuple[Select, ...]:
        return tuple(each for each in self.statements if isinstance(each, Select))

    @property
    def rules(self) -> tuple[Construct, ...]:
        return tuple(each for each in self.statements if isinstance(each, Construct))

    def error(self, rule: int, reason: str, hint: str) -> QueryError:
        """About the CONSTRUCT of that number, from 1. A file that was built without a text gives the number in place of
        line and column."""
        if self.places is None:
            return QueryError(f"CONSTRUCT {rule}: {reason}", hint=hint)
        return self.places.text.error(reason, self.places.rules[rule - 1], hint=hint)
