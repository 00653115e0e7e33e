"""Nodes of event patterns: which instances a current event completes (Table 4.2; TEF-23, TEF-29 to TEF-39).

A node gives, for each step, the instances that the current event completes; where two sides are joined, it stores the
instances that were completed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from thence.algebra.expressions import Comparison
from thence.algebra.tef_sparql import TemporalRelation
from thence.engines.facts.compiled_expressions import Truth
from thence.engines.facts.event_instances import (
    Asked,
    Blocking,
    Capture,
    CurrentEvent,
    CurrentFact,
    CurrentMatch,
    CurrentTriple,
    EventInstance,
    Pending,
    Stored,
    WaitingExpression,
    is_met,
    settled,
)
from thence.engines.facts.fact_nodes import ALWAYS, FactBase, FactMatch, FactNode, TimesSlots, TripleSlots, assigned
from thence.engines.facts.frames import Frame, is_bound, merged, only


@dataclass(slots=True)
class TripleNode:
    """A triple; with its times, if they are written just behind it."""

    slots: TripleSlots
    empty: Frame
    times: TimesSlots | None = None

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        if not isinstance(current, CurrentTriple):
            return []
        key, triple, start, end, refs = current
        frame = self.slots.unified(triple, self.empty)
        if frame is not None and self.times is not None:
            frame = self.times.timed(frame, start, end, facts)
        return [] if frame is None else [EventInstance(frame, start, end, (key,), refs)]

    def nodes(self) -> tuple[EventNode, ...]:
        return ()


@dataclass(slots=True)
class FactEventNode:
    """ONSTART F, ONEND F, where F is one triple, its times perhaps bound: each fact has its turn itself."""

    slots: TripleSlots
    times: tuple[TimesSlots, ...]  # innermost first
    starts: bool
    empty: Frame

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        if not isinstance(current, CurrentFact) or current.starts != self.starts:
            return []
        key, fact, _, time = current
        frame = self.slots.unified(fact.triple, self.empty)
        for times in self.times:
            if frame is not None:
                frame = times.timed(frame, fact.start, None if self.starts else time, facts)
        return [] if frame is None else [EventInstance(frame, time, time, (key,), ())]

    def nodes(self) -> tuple[EventNode, ...]:
        return ()


@dataclass(slots=True)
class MatchEventNode:
    """ONSTART F, ONEND F of a composite F: the turns of an unnamed view, whose slots are `copied` into the statement's
    (TEF-50)."""

    view: int
    starts: bool
    copied: tuple[tuple[int, int], ...]
    empty: Frame

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        if not isinstance(current, CurrentMatch) or current.starts != self.starts or current.view != self.view:
            return []
        frame = list(self.empty)
        for source, target in self.copied:
            frame[target] = current.match.frame[source]
        return [EventInstance(tuple(frame), current.time, current.time, (current.key,), ())]

    def nodes(self) -> tuple[EventNode, ...]:
        return ()


class LateTest(NamedTuple):
    """An expression of a fact pattern that waits for variables further to the left. `clock`: it compares with now(),
    and so clips (TEF-63)."""

    expression: WaitingExpression
    clock: Comparison | None = None

    def waiting(self, frame: Frame, times: tuple[int, ...]) -> Iterator[Pending]:
        """It, for each of the times at which it must be true."""
        for time in times if self.clock is not None else times[:1]:
            yield Pending(self.expression, frame, time)


@dataclass(slots=True)
class StaticNode:
    """E with static triples: they change no times (TEF-9)."""

    child: EventNode
    pattern: FactNode
    late: tuple[LateTest, ...] = ()

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        instances = []
        for instance in self.child.delta(current, facts):
            for each in self.pattern.find(instance.frame, ALWAYS, facts):
                waiting = (one for test in self.late for one in test.waiting(each.frame, (facts.now,)))
                pending, hidden = (*instance.pending, *waiting), instance.hidden | each.hidden
                joined = settled(instance._replace(frame=each.frame, pending=pending, hidden=hidden), facts)
                if joined is not None:
                    instances.append(joined)
        return instances

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class PairNode:
    """`E1, E2`, `E1 SEQ E2`, `E1 BEFORE E2`: no relation is a conjunction."""

    relation: TemporalRelation | None
    left: EventNode
    right: EventNode
    lefts: Stored
    rights: Stored

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        left, right = self.left.delta(current, facts), self.right.delta(current, facts)
        pairs = [(one, other) for one in left for other in self.rights.of(one.frame)]
        pairs += [(one, other) for other in right for one in self.lefts.of(other.frame)]
        instances = [each for one, other in pairs if (each := self._joined(one, other, facts)) is not None]
        for one in left:
            self.lefts.add(one)
        for other in right:
            self.rights.add(other)
        return instances

    def _joined(self, left: EventInstance, right: EventInstance, facts: FactBase) -> EventInstance | None:
        if not self._fits(left, right) or not set(left.keys).isdisjoint(right.keys):  # TEF-35
            return None
        frame = merged(left.frame, right.frame)
        if frame is None:
            return None
        start = left.start if self.relation is TemporalRelation.SEQ else min(left.start, right.start)
        end = max(left.end, right.end) if self.relation is None else right.end
        made = EventInstance(
            frame,
            start,
            end,
            left.keys + right.keys,
            left.refs + right.refs,
            left.pending + right.pending,
            left.read + right.read,
            left.hidden | right.hidden,
            left.arms + right.arms,
            left.blocked + right.blocked,
            left.asked + right.asked,
        )
        return settled(made, facts)

    def _fits(self, left: EventInstance, right: EventInstance) -> bool:
        match self.relation:
            case None:
                return True
            case TemporalRelation.SEQ:
                return left.end <= right.start
            case _:
                return left.end <= right.end

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.left, self.right)


@dataclass(slots=True)
class WhileNode:
    """`E DURING F`, `E WITH F` (TEF-30, TEF-31), and the tests behind it that wait for nothing."""

    relation: TemporalRelation
    child: EventNode
    pattern: FactNode
    late: tuple[LateTest, ...] = ()
    tests: tuple[Truth, ...] = ()

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        instances = []
        for instance in self.child.delta(current, facts):
            frame, start, end, keys, refs, pending, read, hidden, arms, blocked, asked = instance
            last = end if self.relation is TemporalRelation.DURING else start
            for each in self.pattern.find(frame, last, facts):
                if each.start <= start and (each.end is None or last < each.end) and self._passes(each.frame, facts):
                    if self.late:
                        late = (one for test in self.late for one in test.waiting(each.frame, (start, last)))
                        pending = (*instance.pending, *late)
                    made = EventInstance(
                        each.frame,
                        start,
                        end,
                        keys,
                        refs,
                        pending,
                        read + each.facts,
                        hidden | each.hidden if each.hidden else hidden,
                        arms,
                        blocked,
                        asked,
                    )
                    joined = settled(made, facts) if made.pending or blocked else made
                    if joined is not None:
                        instances.append(joined)
        return instances

    def _passes(self, frame: Frame, facts: FactBase) -> bool:
        for test in self.tests:
            if not test(frame, facts.moment):
                return False
        return True

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class WithoutFactsNode:
    """`E WITHOUT F` (TEF-32). `outer` are the slots of F's variables that are bound further to the left."""

    child: EventNode
    pattern: FactNode
    outer: tuple[int, ...]
    late: tuple[LateTest, ...] = ()

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        judged = (self._judged(each, facts) for each in self.child.delta(current, facts))
        return [each for each in judged if each is not None]

    def _judged(self, instance: EventInstance, facts: FactBase) -> EventInstance | None:
        there = [
            each
            for each in self.pattern.find(instance.frame, instance.start, facts)
            if each.start <= instance.end and (each.end is None or instance.start < each.end)
        ]
        if not there or not self.outer:
            return None if there else instance
        known = tuple(self._blocking(instance, each) for each in there)
        return settled(instance._replace(blocked=instance.blocked + known), facts)

    def _blocking(self, instance: EventInstance, fact: FactMatch) -> Blocking:
        first = max(instance.start, fact.start)
        last = instance.end if fact.end is None else min(instance.end, fact.end - 1)
        pending: list[Pending] = []
        for test in self.late:  # a comparison is true somewhere in the time that both share, if it is at one end
            is_early = test.clock in (Comparison.LESS, Comparison.LESS_OR_EQUAL)
            pending += test.waiting(fact.frame, (first if is_early else last,))
        return Blocking(only(fact.frame, self.outer), self.outer, tuple(pending))

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class AskingNode:
    """`E DURING F`, `E WITH F`, or E with static triples, where F is asked later; `bound` are the slots that it
    binds. It `is_first` if it is left of E."""

    child: EventNode
    relation: TemporalRelation
    capture: Capture
    bound: tuple[int, ...]
    is_first: bool = False

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        instances = []
        for instance in self.child.delta(current, facts):
            last = instance.end if self.relation is TemporalRelation.DURING else instance.start
            captured = self.capture.of(instance, last, current.key, facts)
            asked = Asked(instance.frame, self.capture.outer, self.bound, captured)
            every = (asked, *instance.asked) if self.is_first else (*instance.asked, asked)
            instances.append(instance._replace(asked=every))
        return instances

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class CapturingNode:
    """`E WITHOUT F`, where F is asked later."""

    child: EventNode
    capture: Capture

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        instances = []
        for instance in self.child.delta(current, facts):
            captured = self.capture.of(instance, instance.end, current.key, facts)
            blocking = Blocking(instance.frame, self.capture.outer, captured=captured)
            each = settled(instance._replace(blocked=(*instance.blocked, blocking)), facts)
            if each is not None:
                instances.append(each)
        return instances

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class WithoutEventsNode:
    """`E1 WITHOUT E2` (TEF-36). `outer` are the slots of E2's variables that are bound further to the left."""

    child: EventNode
    absent: EventNode
    seen: Stored
    outer: tuple[int, ...]

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        judged = (self._judged(each, facts) for each in self.child.delta(current, facts))
        instances = [each for each in judged if each is not None]
        for other in self.absent.delta(current, facts):
            self.seen.add(other)
        return instances

    def _judged(self, instance: EventInstance, facts: FactBase) -> EventInstance | None:
        known = []
        for other in self.seen.of(instance.frame):
            if not instance.start <= other.end < instance.end or set(other.keys) <= set(instance.keys):
                continue
            if not self.outer:
                if is_met(other, instance.frame, facts):
                    return None
                continue
            together = merged(instance.frame, other.frame)
            checked = None if together is None else settled(other._replace(frame=together), facts)
            if checked is not None:
                known.append(_blocking(checked, self.outer))
        return settled(instance._replace(blocked=instance.blocked + tuple(known)), facts) if known else instance

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child, self.absent)


@dataclass(slots=True)
class TestNode:
    """`E, expression`: with a variable, its value."""

    child: EventNode
    expression: WaitingExpression

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        instances = []
        for instance in self.child.delta(current, facts):
            if instance.waits or not is_bound(instance.frame, self.expression.slots):
                waiting = Pending(self.expression, instance.frame, facts.now)
                each = settled(instance._replace(pending=(*instance.pending, waiting)), facts)
            else:
                each = self._judged(instance, facts)
            if each is not None:
                instances.append(each)
        return instances

    def _judged(self, instance: EventInstance, facts: FactBase) -> EventInstance | None:
        """The instance once no expression waits, with the bound variable; None if the condition fails."""
        slot = self.expression.slot
        if slot < 0:
            return instance if self.expression.truth(instance.frame, facts.moment) else None
        frame = assigned(instance.frame, slot, self.expression.value(instance.frame, facts.moment))
        return None if frame is None else EventInstance(frame, *instance[1:])

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class TimesNode:
    child: EventNode
    times: TimesSlots

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        instances = []
        for instance in self.child.delta(current, facts):
            frame = self.times.timed(instance.frame, instance.start, instance.end, facts)
            each = None if frame is None else settled(EventInstance(frame, *instance[1:]), facts)
            if each is not None:
                instances.append(each)
        return instances

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class EitherNode:
    """`E1 UNION E2`: only common variables stay (TEF-69), those in `common`."""

    left: EventNode
    right: EventNode
    common: tuple[int, ...]

    def delta(self, current: CurrentEvent, facts: FactBase) -> list[EventInstance]:
        sides = (self.left.delta(current, facts), self.right.delta(current, facts))
        return [self._kept(each, arm) for arm, instances in enumerate(sides) for each in instances]

    def _kept(self, instance: EventInstance, arm: int) -> EventInstance:
        dropped = frozenset(
            (slot, each) for slot, each in enumerate(instance.frame) if each is not None and slot not in self.common
        )
        kept = only(instance.frame, self.common)
        return instance._replace(frame=kept, hidden=instance.hidden | dropped, arms=(arm, *instance.arms))

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.left, self.right)


def _blocking(other: EventInstance, outer: tuple[int, ...]) -> Blocking:
    return Blocking(other.frame, outer, other.pending, other.blocked, asked=other.asked)


EventNode: TypeAlias = (
    TripleNode
    | FactEventNode
    | MatchEventNode
    | StaticNode
    | PairNode
    | WhileNode
    | WithoutFactsNode
    | AskingNode
    | CapturingNode
    | WithoutEventsNode
    | TestNode
    | TimesNode
    | EitherNode
)


def forget(node: EventNode, before: int) -> None:
    """Drop stored instances that are in no match that starts at a time or later. What is right of WITHOUT may have
    begun earlier (TEF-36)."""
    match node:
        case PairNode():
            node.lefts.forget(before)
            node.rights.forget(before)
        case WithoutEventsNode():
            node.seen.forget(before, by_end=True)
            forget(node.child, before)
            return
        case _:
            pass
    for each in node.nodes():
        forget(each, before)


def stores_of(node: EventNode) -> Iterator[Stored]:
    """All stores of a network, in a fixed order."""
    match node:
        case PairNode():
            yield from (node.lefts, node.rights)
        case WithoutEventsNode():
            yield node.seen
        case _:
            pass
    for each in node.nodes():
        yield from stores_of(each)


def leaves_of(node: EventNode) -> Iterator[TripleNode | FactEventNode | MatchEventNode]:
    """The leaves of a network that read the current event."""
    if isinstance(node, TripleNode | FactEventNode | MatchEventNode):
        yield node
    for each in node.nodes():
        yield from leaves_of(each)
