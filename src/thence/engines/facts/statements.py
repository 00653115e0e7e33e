"""Statements as the machine runs them, which of them an event concerns, and what it completes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from thence.algebra.tef_sparql import Plain, Replace, Since, TefStatement, Until
from thence.engines.facts.compiled_expressions import Attempt, Head
from thence.engines.facts.event_instances import (
    AbsentEvents,
    CurrentEvent,
    CurrentFact,
    CurrentMatch,
    CurrentTriple,
    EventInstance,
    WaitingExpression,
)
from thence.engines.facts.event_nodes import EventNode, FactEventNode, MatchEventNode, TripleNode, leaves_of
from thence.engines.facts.fact_nodes import FactNode
from thence.engines.facts.fact_store import Fact
from thence.engines.facts.frames import Cell, Frame, Layout, frame_rank, triple_rank
from thence.engines.facts.views import UnnamedQuery


@dataclass(slots=True)
class CompiledArm:
    """An arm over events: its node; of REPLACE its facts, and the expressions behind it. `seen` are the slots of F's
    variables, if it names others: F sees no other variable of ON, which is to its right (TEF-39)."""

    place: int
    arm: Plain | Since | Until | Replace
    node: EventNode
    replaced: FactNode | None
    steps: tuple[WaitingExpression, ...]
    seen: tuple[int, ...] | None = None


@dataclass(slots=True)
class CompiledStatement:
    """A statement over its layout. `once` are the values that the rows of one key of ONCE PER agree in (TEF-73);
    `query` is its number among the SELECTs, from 1."""

    number: int  # from 1, of all statements
    statement: TefStatement
    layout: Layout
    head: Head | None
    once: tuple[Attempt, ...] | None
    query: int
    columns: tuple[int, ...]  # the slots of what SELECT emits
    arms: tuple[CompiledArm, ...] = ()  # over events
    initial: tuple[FactNode, ...] = ()  # ON INIT


@dataclass(slots=True)
class FactSelect:
    """A SELECT over facts: the arms' patterns (TEF-72)."""

    statement: CompiledStatement
    queries: tuple[UnnamedQuery, ...]


class Concerned(NamedTuple):
    """Statements with those of their arms that may read a current event, and the events right of `F WITHOUT E`."""

    statements: tuple[tuple[CompiledStatement, tuple[CompiledArm, ...]], ...]
    absent: tuple[tuple[EventNode, AbsentEvents], ...]


class Occasion(Enum):
    """The input of a leaf: event triples, or facts that begin or end."""

    EVENT = "event"
    START = "start"
    END = "end"


Topic: TypeAlias = Cell | None
"""The predicate that a leaf reads, None for any; or the number of an unnamed view (a predicate is not a number)."""


class Dispatch:
    """The statements that a current event concerns, by its predicate or unnamed view. An event that no leaf names has
    the topic None."""

    __slots__ = ("ends", "events", "starts")

    def __init__(
        self, statements: Sequence[CompiledStatement], absent: Sequence[tuple[EventNode, AbsentEvents]]
    ) -> None:
        self.events = _table(Occasion.EVENT, statements, absent)
        self.starts = _table(Occasion.START, statements, absent)
        self.ends = _table(Occasion.END, statements, absent)

    def of(self, current: CurrentEvent) -> Concerned:
        match current:
            case CurrentTriple():
                return self.events.get(current.triple[1]) or self.events[None]
            case CurrentFact():
                return self.of_fact(current.fact.triple[1], current.starts)
            case CurrentMatch():
                return (self.starts if current.starts else self.ends)[current.view]

    def of_fact(self, predicate: Cell, starts: bool) -> Concerned:
        table = self.starts if starts else self.ends
        return table.get(predicate) or table[None]


def _table(
    occasion: Occasion, statements: Sequence[CompiledStatement], absent: Sequence[tuple[EventNode, AbsentEvents]]
) -> dict[Topic, Concerned]:
    topics: dict[Topic, None] = {None: None}
    for node in (*(arm.node for each in statements for arm in each.arms), *(node for node, _ in absent)):
        topics.update((topic, None) for topic in _topics(node, occasion))

    def looks(node: EventNode, topic: Topic) -> bool:
        return any(each == topic or (each is None and type(topic) is not int) for each in _topics(node, occasion))

    def concerned(topic: Topic) -> Concerned:
        arms = [(each, tuple(arm for arm in each.arms if looks(arm.node, topic))) for each in statements]
        return Concerned(
            tuple((each, some) for each, some in arms if some), tuple(each for each in absent if looks(each[0], topic))
        )

    return {topic: concerned(topic) for topic in topics}


def _topics(node: EventNode, occasion: Occasion) -> Iterator[Topic]:
    for leaf in leaves_of(node):
        match leaf:
            case TripleNode() if occasion is Occasion.EVENT:
                yield leaf.slots.positions[1].constant
            case FactEventNode() if occasion is (Occasion.START if leaf.starts else Occasion.END):
                yield leaf.slots.positions[1].constant
            case MatchEventNode() if occasion is (Occasion.START if leaf.starts else Occasion.END):
                yield leaf.view
            case _:
                pass


# Completed arms of statements, and their effects.


class Completed(NamedTuple):
    """An instance of a statement's arm that a current event completes, its frame as the arm has it, and the facts that
    REPLACE ends; it does not start a fact if ONCE PER keeps another instance of the step (TEF-42)."""

    statement: CompiledStatement
    arm: CompiledArm
    instance: EventInstance
    frame: Frame
    replaced: tuple[Fact, ...]
    starts: bool = True


class Effects(NamedTuple):
    """The effects that the instances of a step request; none is applied before all are known (TEF-21)."""

    ends: dict[int, tuple[Completed, Fact]]  # by the number of the fact
    starts: list[Completed]
    made: list[Completed]


def mapping_rank(each: Completed) -> object:
    """The sort key of a mapping, as it is before UNION drops variables (TEF-73)."""
    return frame_rank(each.frame, each.instance.hidden)


def each_once(found: list[Completed]) -> list[Completed]:
    """Without those that differ in nothing but the facts read; REPLACE is about these."""
    seen: set[object] = set()
    kept = []
    for each in found:
        instance = each.instance
        identity = (each.arm.place, instance.keys, each.frame, instance.hidden, instance.arms)
        if isinstance(each.arm.arm, Replace) or identity not in seen:
            seen.add(identity)
            kept.append(each)
    return kept


def in_order(ends: list[tuple[Completed, Fact]]) -> list[tuple[Completed, Fact]]:
    """Facts that end, by statement, then start and positions of what ends them, then triple (TEF-21)."""

    def place(item: tuple[Completed, Fact]) -> tuple[int, int, tuple[int, ...]]:
        return item[0].statement.number, item[0].instance.start, item[0].instance.keys

    if len({place(each) for each in ends}) < len(ends):  # else no triples need be compared
        ends.sort(key=lambda each: triple_rank(each[1].triple))
    return sorted(ends, key=place)
