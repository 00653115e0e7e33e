"""A file of TEF-SPARQL as it was read, before its expressions are known to bind or to test, and before its arms are
known to be where they may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from thence.algebra.expressions import Expression
from thence.algebra.patterns import TriplePattern
from thence.algebra.streams import Stream
from thence.algebra.tef_sparql import HeadTriple, Kind, OncePer, StatementPlaces, TefStatement, When
from thence.lang.draft import PlacedDraft
from thence.rdf.terms import IRI
from thence.rdf.times import Span

SINCE, UNTIL, REPLACE, ON_INIT = "SINCE", "UNTIL", "REPLACE", "ON INIT"
"""The keywords of arms that make facts."""


@dataclass(frozen=True, slots=True)
class StepDraft:
    """`, expression`, BIND or FILTER: it binds a variable or tests (TEF-57)."""

    expression: Expression
    keyword: str  # BIND, FILTER or nothing
    at: int


@dataclass(frozen=True, slots=True)
class WithoutDraft:
    """`, WITHOUT P`, which takes all before it (TEF-67)."""

    pattern: OperandDraft
    at: int


@dataclass(frozen=True, slots=True)
class TimesDraft:
    """`P[start, end]`."""

    pattern: OperandDraft
    start: When
    end: When


@dataclass(frozen=True, slots=True)
class PunctuationDraft:
    """`ONSTART F`, `ONEND F`."""

    keyword: str
    pattern: OperandDraft
    at: int


@dataclass(frozen=True, slots=True)
class InfixDraft:
    """`P SEQ P DURING P`, left to right: each operator's keyword, its right side, and where it is."""

    first: OperandDraft
    rest: tuple[tuple[str, OperandDraft, int], ...]


@dataclass(frozen=True, slots=True)
class ListDraft:
    """`P, P, expression`: at least one item, the first of them a pattern."""

    first: OperandDraft
    rest: tuple[OperandDraft | StepDraft | WithoutDraft, ...]
    at: int

    @property
    def arms_with_steps(self) -> tuple[UnionDraft, tuple[StepDraft, ...]] | None:
        """The group that the list is, and the expressions behind it; None, if it is more than that."""
        steps = tuple(item for item in self.rest if isinstance(item, StepDraft))
        if isinstance(self.first, UnionDraft) and len(steps) == len(self.rest):
            return self.first, steps
        return None


@dataclass(frozen=True, slots=True)
class ArmDraft:
    """An arm, as UNION separates them. `keyword` is empty for a pattern alone; `events` are those behind ON."""

    keyword: str
    content: ListDraft
    at: int
    events: ListDraft | None = None


@dataclass(frozen=True, slots=True)
class UnionDraft:
    """A whole WHERE, or a group: arms with UNION between them."""

    arms: tuple[ArmDraft, ...]
    at: int

    def making_facts(self) -> Iterator[ArmDraft]:
        """The arms with a keyword, those in groups that are an arm of their own included; without recursion."""
        waiting = list(reversed(self.arms))
        while waiting:
            arm = waiting.pop()
            if arm.keyword:
                yield arm
            elif found := arm.content.arms_with_steps:
                waiting += reversed(found[0].arms)


OperandDraft: TypeAlias = TriplePattern | TimesDraft | PunctuationDraft | InfixDraft | UnionDraft


# Clauses and statements


@dataclass(frozen=True, slots=True)
class PlacedOncePer:
    once_per: OncePer
    at: int


@dataclass(frozen=True, slots=True)
class PlacedSpan:
    """WITHIN."""

    span: Span
    at: int


@dataclass(frozen=True, slots=True)
class StreamClause:
    """`FROM STREAM name <iri>`; the name may be left out."""

    name: str
    iri: IRI
    at: int


Clause: TypeAlias = PlacedOncePer | PlacedSpan | StreamClause


@dataclass(frozen=True, slots=True)
class HeadDraft:
    """The head of a CONSTRUCT, and the place of each triple's predicate."""

    triples: tuple[HeadTriple, ...]
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Declaration:
    """`DECLARE kind iri`, one for each IRI."""

    predicate: IRI
    kind: Kind
    at: int


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement, and where its parts are."""

    statement: TefStatement
    places: StatementPlaces


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning, and the place that it is about."""

    words: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(PlacedDraft):
    statements: tuple[PlacedStatement, ...]
    declared: tuple[Declaration, ...]
    streams: tuple[Stream, ...]
    cautions: tuple[Caution, ...]
