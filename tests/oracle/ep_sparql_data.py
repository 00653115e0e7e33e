"""What EP-SPARQL queries read: the paper's set S of occurrences, and whose they are (EP-1 to EP-3, EP-35 to EP-40)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import TypeAlias

from oracle.ep_sparql_expressions import Time
from oracle.terms import Blank, Graph, Term, Triple

GivenEvent: TypeAlias = tuple[str, int, int, Iterable[Triple]]
"""An input event: (id, start, end, triples)."""


class UnknownGraph(ValueError):
    """GRAPH with an IRI that no background has (EP-40)."""


@dataclass(frozen=True)
class Occurrence:
    """⟨triple, tα, tω⟩ (EP-2). A background triple is timeless: tα = +∞, tω = −∞ (EP-35)."""

    triple: Triple
    start: Time = inf
    end: Time = -inf


@dataclass(frozen=True)
class Source:
    """An event with all its triples, the inferred ones included; or a derived triple, an event of its own (EP-63).

    `event` is the id of an input event, "" for a derived triple.
    """

    position: int
    event: str
    start: int
    end: int
    triples: Graph

    def occurrences(self) -> list[Occurrence]:
        return [Occurrence(triple, self.start, self.end) for triple in sorted(self.triples, key=repr)]


@dataclass(frozen=True)
class Data:
    """The sources in their order, the unnamed background, and the named graphs."""

    sources: tuple[Source, ...]
    background: Graph = frozenset()
    named: Mapping[str, Graph] | None = None
    bringers: Mapping[Occurrence, tuple[Source, ...]] = field(init=False)

    def __post_init__(self) -> None:
        bringers: dict[Occurrence, tuple[Source, ...]] = {
            Occurrence(triple): () for triple in sorted(self.background, key=repr)
        }
        for source in self.sources:
            for occurrence in source.occurrences():
                bringers[occurrence] = (*bringers.get(occurrence, ()), source)
        object.__setattr__(self, "bringers", bringers)

    @property
    def occurrences(self) -> Collection[Occurrence]:
        """The paper's set S; background first, then by source."""
        return self.bringers.keys()

    def until(self, time: Time) -> Data:
        """What ends at the time or before it."""
        return replace(self, sources=tuple(source for source in self.sources if source.end <= time))

    def graph(self, iri: str) -> Data:
        """Γ(iri), of which every triple is timeless: what has that name; where nothing has a name, the unnamed
        background (EP-40, SP-55)."""
        if self.named:
            if iri not in self.named:
                raise UnknownGraph(iri)
            return Data((), self.named[iri], self.named)
        if not self.background:
            raise UnknownGraph(iri)
        return Data((), self.background)

    def brought_by(self, occurrence: Occurrence) -> tuple[Source, ...]:
        """The sources of an occurrence, in their order; none for background's, those of named graphs included."""
        return self.bringers.get(occurrence, ())

    def event(self, occurrence: Occurrence) -> str | None:
        """The first input event that brought it (EP-81)."""
        return next((source.event for source in self.brought_by(occurrence) if source.event), None)


def own_blanks(event: str, triples: Iterable[Triple]) -> Graph:
    """Blank nodes are local to their event (C-4)."""

    def own(term: Term) -> Term:
        return Blank(term.label, event) if isinstance(term, Blank) else term

    return frozenset((own(s), own(p), own(o)) for s, p, o in triples)
