"""A SPAseQ query (Definition 4) and its events, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from oracle.event_order import Moment, Ordinal
from oracle.expressions import Expression
from oracle.terms import Graph, TriplePattern, Var


@dataclass(frozen=True)
class Event:
    """(τ, G) of a named stream (Definitions 1 to 3). Its time τ is when it ends; it `lasts` as long before that."""

    stream: str
    time: int
    graph: Graph
    id: str
    lasts: int = 0
    order: tuple[Ordinal, ...] = ()  # the values of the option `order`

    @property
    def start(self) -> int:
        return self.time - self.lasts

    @property
    def moment(self) -> Moment:
        """What *follows*, contiguity and ties are judged by (C-9)."""
        return self.time, self.order

    def __hash__(self) -> int:
        return hash(self.id)  # sets of runs ask for it all the time


@dataclass(frozen=True)
class GraphBlock:
    """GRAPH :iri { … }."""

    iri: str
    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True)
class Gpm:
    """DEFINE GPM name ON stream { triples, FILTERs, GRAPHs }."""

    name: str
    stream: str
    triples: tuple[TriplePattern, ...]
    filters: tuple[Expression, ...] = ()
    graphs: tuple[GraphBlock, ...] = ()

    def variables(self) -> tuple[str, ...]:
        """Those of the graph pattern and the GRAPH blocks, which it binds, as they stand in the text."""
        blocks = (triple for block in self.graphs for triple in block.triples)
        return (*dict.fromkeys([*_variables(self.triples), *_variables(blocks)]),)

    def event_variables(self) -> frozenset[str]:
        """Those that the event's own graph binds."""
        return frozenset(_variables(self.triples))


def _variables(triples: Iterable[TriplePattern]) -> list[str]:
    return [slot.name for triple in triples for slot in triple if isinstance(slot, Var)]


@dataclass(frozen=True)
class Use:
    """The name of a GPM, in SEQ."""

    gpm: str


@dataclass(frozen=True)
class Conjunction:
    left: Group
    right: Group


@dataclass(frozen=True)
class Disjunction:
    left: Group
    right: Group


Group: TypeAlias = Use | Conjunction | Disjunction
"""A BOp expression Ψ."""


def uses(group: Group) -> tuple[str, ...]:
    """The GPM names of a group in the order of the text, each as often as it occurs."""
    match group:
        case Use(name):
            return (name,)
        case Conjunction(left, right) | Disjunction(left, right):
            return uses(left) + uses(right)
        case _:
            assert_never(group)


class Unary(Enum):
    ONCE = ""
    PLUS = "+"
    OPTIONAL = "?"
    NOT = "!"


class Selection(Enum):
    STRICT = ","
    NEXT = ";"
    ANY = ":"


@dataclass(frozen=True)
class Part:
    """An operand of the sequence operators."""

    group: Group
    unary: Unary = Unary.ONCE


@dataclass(frozen=True)
class Within:
    """WITHIN width, or WITHIN width TUMBLING [FROM start]."""

    width: int
    tumbling: bool = False
    start: int = 0


@dataclass(frozen=True)
class Aggregate:
    """COUNT of a GPM's iterations; AVG, SUM, MIN, MAX, FIRST, LAST or COLLECT of a variable's values in them."""

    function: str
    of: str


@dataclass(frozen=True)
class Column:
    """`?name`, or `(expression AS ?name)`."""

    name: str
    expression: Expression | Aggregate | None = None


@dataclass(frozen=True)
class Query:
    """`selections[i]` stands between `parts[i]` and `parts[i + 1]`. `select=None` is `SELECT *`."""

    streams: tuple[str, ...]
    gpms: tuple[Gpm, ...]
    parts: tuple[Part, ...]
    selections: tuple[Selection, ...]
    within: Within | None = None
    partition: tuple[str, ...] = ()
    select: tuple[Column, ...] | None = None
    distinct: bool = False

    def gpm(self, name: str) -> Gpm:
        return next(gpm for gpm in self.gpms if gpm.name == name)

    def bound_by(self, parts: Iterable[Part]) -> frozenset[str]:
        """The variables in the graph patterns and GRAPH blocks of these parts."""
        return frozenset(
            variable for part in parts for name in uses(part.group) for variable in self.gpm(name).variables()
        )

    def locals_of(self, part: int) -> frozenset[str]:
        """The variables local to the closure that this part is: in no GPM outside its operand, in the query as written.

        A run has one partition, so what it is partitioned by is local to nothing.
        """
        if self.parts[part].unary is not Unary.PLUS:
            return frozenset()
        outside = self.bound_by(other for index, other in enumerate(self.parts) if index != part)
        return self.bound_by([self.parts[part]]) - outside - frozenset(self.partition)


@dataclass(frozen=True)
class Step:
    """A part of an arm, with the operator to its left there. `number` is its place among the query's parts."""

    number: int
    part: Part
    selection: Selection | None

    @property
    def negated(self) -> bool:
        return self.part.unary is Unary.NOT


Arm: TypeAlias = tuple[Step, ...]


def arms(query: Query) -> tuple[Arm, ...]:
    """`B?`: all combinations with and without; a dropped part takes the operator to its left with it (to its right, if
    it is first). An arm without parts gives nothing, and is none."""
    written: list[Arm] = [()]
    for number, part in enumerate(query.parts):
        step = Step(number, part, query.selections[number - 1] if number else None)
        written = [arm + kept for arm in written for kept in _choices(step)]
    return tuple((Step(arm[0].number, arm[0].part, None), *arm[1:]) for arm in written if arm)


def _choices(step: Step) -> tuple[Arm, ...]:
    return ((step,), ()) if step.part.unary is Unary.OPTIONAL else ((step,),)
