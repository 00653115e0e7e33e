"""Statements as the machine runs them, and which of them an event in hand concerns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from thence.algebra.tef_sparql import Plain, Replace, Since, TefStatement, Until
from thence.kernel.facts.cells import Cell
from thence.kernel.facts.compiled_expressions import Attempt
from thence.kernel.facts.event_instances import AbsentEvents, WaitingExpression
from thence.kernel.facts.event_nodes import EventNode, FactEventNode, MatchEventNode, TripleNode, leaves_of
from thence.kernel.facts.fact_nodes import FactNode
from thence.kernel.facts.frames import Layout
from thence.kernel.facts.hands import FactHand, Hand, MatchHand, TripleHand
from thence.kernel.facts.heads import Head
from thence.kernel.facts.unnamed_views import UnnamedQuery


@dataclass(slots=True)
class CompiledArm:
    """An arm over events: its node; of REPLACE its facts, and the expressions behind it. `seen` are the slots of F's
    variables, if it names others: F sees no other variable of ON, which stands to its right (TEF-39)."""

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
    """A SELECT over facts: the arms' patterns (TEF-72), and the slots that all of them bind (TEF-69)."""

    statement: CompiledStatement
    queries: tuple[UnnamedQuery, ...]
    common: tuple[int, ...]


class Concerned(NamedTuple):
    """Statements with those of their arms that may look at an event in hand, and the events right of `F WITHOUT E`."""

    statements: tuple[tuple[CompiledStatement, tuple[CompiledArm, ...]], ...]
    absent: tuple[tuple[EventNode, AbsentEvents], ...]


class Occasion(Enum):
    """What a leaf looks at: event triples, or facts that begin or end."""

    EVENT = "event"
    START = "start"
    END = "end"


Topic: TypeAlias = Cell | None
"""The predicate that a leaf looks at, None being any; the number of an unnamed view (a predicate is no number)."""


class Dispatch:
    """What an event in hand concerns, by its predicate or unnamed view. Whatever no leaf names has the topic None."""

    __slots__ = ("ends", "events", "starts")

    def __init__(
        self, statements: Sequence[CompiledStatement], absent: Sequence[tuple[EventNode, AbsentEvents]]
    ) -> None:
        self.events = _table(Occasion.EVENT, statements, absent)
        self.starts = _table(Occasion.START, statements, absent)
        self.ends = _table(Occasion.END, statements, absent)

    def of(self, hand: Hand) -> Concerned:
        match hand:
            case TripleHand():
                return self.events.get(hand.triple[1]) or self.events[None]
            case FactHand():
                return self.of_fact(hand.fact.triple[1], hand.starts)
            case MatchHand():
                return (self.starts if hand.starts else self.ends)[hand.view]

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
