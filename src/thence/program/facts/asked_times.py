"""How far back the patterns of a statement ask: for facts that have ended, and for the events at which facts restart
(TEF-77)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    Since,
    TefPattern,
    TefStatement,
    TemporalRelation,
    Test,
    Times,
    Until,
)
from thence.algebra.traversal import nodes
from thence.program.facts.kinds import Kinds

NOW = 0
"""Asked back no further than the event in hand."""


class Asking(NamedTuple):
    """An operator that asks for facts which have ended, `back` so far before now; None: any."""

    word: str
    back: int | None


class Restart(NamedTuple):
    """`F WITHOUT E`, asked for what it was so far before now; None: at any time."""

    pattern: Absent
    back: int | None


def endings(statement: TefStatement, kind: Kind, kinds: Kinds) -> Iterator[Asking]:
    """The operators that ask for facts which have ended. An event that lasts meets those of its time, under WITH and
    WITHOUT (TEF-31, TEF-32); DURING asks for facts that hold. WITHIN bounds it (TEF-76). A view asks what holds, and
    what began or ended at this instant (TEF-49)."""
    if _asks_for_now(statement, kind):
        return
    longest = None if statement.within is None else statement.within.length
    for node in nodes(statement.arms):
        if isinstance(node, Absent) and kinds.of_pattern(node.right) is not Kind.EVENT:
            over_facts = kinds.of_pattern(node.left, Kind.FACT) is not Kind.EVENT
            yield Asking("WITHOUT", None if over_facts else longest)
        elif isinstance(node, Related) and node.relation is TemporalRelation.WITH:
            yield Asking("WITH", longest)


def _asks_for_now(statement: TefStatement, kind: Kind) -> bool:
    """Whether it is a view that does not ask for the times of anything which WITHOUT interrupts."""
    is_view = isinstance(statement, ConstructStatement) and kind is Kind.FACT
    if not is_view or not all(isinstance(arm, Plain) for arm in statement.arms):
        return False
    timed = [node for node in nodes(statement) if isinstance(node, Times)]
    return not any(isinstance(node, Absent) for each in timed for node in nodes(each))


def restarts(statement: TefStatement, kind: Kind, kinds: Kinds) -> Iterator[Restart]:
    """Each `F WITHOUT E` of a statement."""
    within = None if statement.within is None else statement.within.length
    for arm in statement.arms:
        yield from _of_arm(arm, _Walk(kinds, within), kind is not Kind.EVENT)


def _of_arm(arm: Arm, walk: _Walk, is_over_facts: bool) -> Iterator[Restart]:
    match arm:
        case Plain(pattern):
            yield from walk.facts(pattern, NOW) if is_over_facts else walk.events(pattern)
        case Since(pattern) | Until(pattern):
            yield from walk.events(pattern)
        case Replace():
            yield from walk.facts(arm.facts, NOW)
            yield from walk.events(arm.events)
        case OnInit():
            pass
        case _:
            assert_never(arm)


class _Walk(NamedTuple):
    kinds: Kinds
    within: int | None

    def events(self, pattern: TefPattern, *, is_first: bool = True) -> Iterator[Restart]:
        """`is_first`: nothing stands further to the left, so that nothing is asked later."""
        match pattern:
            case TriplePattern():
                pass
            case Times() | Test() | Assignment():
                yield from self.events(pattern.pattern, is_first=is_first)
            case OnStart() | OnEnd():
                yield from self.facts(pattern.facts, NOW)
            case Related(TemporalRelation.DURING | TemporalRelation.WITH):
                yield from self.events(pattern.left, is_first=is_first)
                back = NOW if pattern.relation is TemporalRelation.DURING else self.within
                yield from self.facts(pattern.right, back if is_first else None)
            case Absent():
                yield from self.events(pattern.left, is_first=is_first)
                if self.kinds.of_pattern(pattern.right) is Kind.EVENT:
                    yield from _Walk(self.kinds, None).events(pattern.right, is_first=False)
                else:
                    yield from self.facts(pattern.right, self.within if is_first else None)
            case Related() | Conjunction():
                is_static = self.kinds.of_pattern(pattern.left) is Kind.STATIC
                if not is_static:
                    yield from self.events(pattern.left, is_first=is_first)
                if self.kinds.of_pattern(pattern.right) is not Kind.STATIC:
                    yield from self.events(pattern.right, is_first=False)
            case Either():
                yield from self.events(pattern.left, is_first=is_first)
                yield from self.events(pattern.right, is_first=is_first)
            case _:
                assert_never(pattern)

    def facts(self, pattern: TefPattern, back: int | None) -> Iterator[Restart]:
        match pattern:
            case TriplePattern():
                pass
            case Times() | Test() | Assignment():
                yield from self.facts(pattern.pattern, back)
            case Conjunction() | Either():
                yield from self.facts(pattern.left, back)
                yield from self.facts(pattern.right, back)
            case Absent():
                yield from self.facts(pattern.left, back)
                if self.kinds.of_pattern(pattern.right) is Kind.EVENT:
                    yield Restart(pattern, back)
                    yield from _Walk(self.kinds, None).events(pattern.right, is_first=False)
                else:
                    yield from self.facts(pattern.right, None)
            case Related() | OnStart() | OnEnd():
                raise AssertionError("an event is no fact")
            case _:
                assert_never(pattern)
