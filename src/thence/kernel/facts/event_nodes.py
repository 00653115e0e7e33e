"""Nodes of event patterns: which instances an event in hand completes (Table 4.2; TEF-23, TEF-29 to TEF-39).

A node gives, for each step, the instances that the event in hand completes; where two sides are joined, it stores the
instances that were completed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from thence.algebra.expressions import Comparison, Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import TefPattern, TemporalRelation, Times
from thence.algebra.tef_variables import bound as bound_variables
from thence.kernel.facts.event_instances import Blocking, EventInstance, Pending, Stored, is_met, merged, settled
from thence.kernel.facts.fact_patterns import FactEvaluation, FactInstance
from thence.kernel.facts.fact_store import Fact, unified
from thence.kernel.facts.hands import FactHand, Hand, InstanceHand, TripleHand
from thence.match.context import Solution
from thence.program.facts.kinds import Kinds
from thence.rdf.terms import IRI


@dataclass(slots=True)
class TripleNode:
    pattern: TriplePattern
    kinds: Kinds

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        if not isinstance(hand, TripleHand):
            return []
        predicate = self.pattern.predicate
        if isinstance(predicate, IRI) and predicate.value != hand.triple.predicate.value:
            return []
        bound = unified(self.pattern, hand.triple, {})
        return [] if bound is None else [EventInstance(bound, hand.start, hand.end, (hand.key,), hand.refs)]

    def nodes(self) -> tuple[EventNode, ...]:
        return ()


@dataclass(slots=True)
class FactEventNode:
    """ONSTART F, ONEND F."""

    pattern: TefPattern
    starts: bool

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        match hand:
            case FactHand(key, fact, starts, time) if starts == self.starts and is_simple(self.pattern):
                bound = _fact_bound(self.pattern, fact, time, self.starts, facts)
                return [] if bound is None else [EventInstance(bound, time, time, (key,), ())]
            case InstanceHand(key, pattern, instance, starts, time) if starts == self.starts:
                if pattern != self.pattern:
                    return []
                own = {name: term for name, term in instance.bound.items() if name in bound_variables(self.pattern)}
                return [EventInstance(own, time, time, (key,), ())]
            case _:
                return []

    def nodes(self) -> tuple[EventNode, ...]:
        return ()


def is_simple(pattern: TefPattern) -> bool:
    """Whether a fact pattern is one triple, its times perhaps bound: then each fact has its turn itself."""
    return isinstance(pattern, TriplePattern) or (isinstance(pattern, Times) and is_simple(pattern.pattern))


def _fact_bound(pattern: TefPattern, fact: Fact, time: int, starts: bool, facts: FactEvaluation) -> Solution | None:
    if isinstance(pattern, TriplePattern):
        return unified(pattern, fact.triple, {})
    assert isinstance(pattern, Times)
    inner = _fact_bound(pattern.pattern, fact, time, starts, facts)
    return None if inner is None else facts.timed(inner, pattern, fact.start, None if starts else time)


class Step(NamedTuple):
    """An expression of a fact pattern that waits for variables further to the left: a test, or the value of a
    variable. `names` are these variables; `clock`: it compares with now(), and so clips (TEF-63)."""

    variable: Variable | None
    expression: Expression
    names: frozenset[Variable]
    clock: Comparison | None = None

    def waiting(self, bound: Solution, times: tuple[int, ...]) -> Iterator[Pending]:
        """It, for each of the times at which it must be true."""
        for time in times if self.clock is not None else times[:1]:
            yield Pending(self.variable, self.expression, bound, time, self.names)


@dataclass(slots=True)
class StaticNode:
    """E with static triples: they change no times (TEF-9)."""

    child: EventNode
    pattern: TefPattern
    steps: tuple[Step, ...] = ()

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = []
        for instance in self.child.delta(hand, facts):
            for each in facts.facts(self.pattern, instance.bound):
                waiting = (one for step in self.steps for one in step.waiting(each.bound, (facts.now,)))
                pending, hidden = (*instance.pending, *waiting), instance.hidden | each.hidden
                joined = settled(instance._replace(bound=each.bound, pending=pending, hidden=hidden), facts)
                if joined is not None:
                    found.append(joined)
        return found

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

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        left, right = self.left.delta(hand, facts), self.right.delta(hand, facts)
        pairs = [(one, other) for one in left for other in self.rights.of(one.bound)]
        pairs += [(one, other) for other in right for one in self.lefts.of(other.bound)]
        found = [each for one, other in pairs if (each := self._joined(one, other, facts)) is not None]
        for one in left:
            self.lefts.add(one)
        for other in right:
            self.rights.add(other)
        return found

    def _joined(self, left: EventInstance, right: EventInstance, facts: FactEvaluation) -> EventInstance | None:
        if not self._fits(left, right) or not set(left.keys).isdisjoint(right.keys):  # TEF-35
            return None
        bound = merged(left.bound, right.bound)
        if bound is None:
            return None
        start = left.start if self.relation is TemporalRelation.SEQ else min(left.start, right.start)
        end = max(left.end, right.end) if self.relation is None else right.end
        made = EventInstance(
            bound,
            start,
            end,
            left.keys + right.keys,
            left.refs + right.refs,
            left.pending + right.pending,
            left.read + right.read,
            left.hidden | right.hidden,
            left.arms + right.arms,
            left.blocked + right.blocked,
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
    """`E DURING F`, `E WITH F` (TEF-30, TEF-31)."""

    relation: TemporalRelation
    child: EventNode
    pattern: TefPattern
    steps: tuple[Step, ...] = ()

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = []
        for instance in self.child.delta(hand, facts):
            last = instance.end if self.relation is TemporalRelation.DURING else instance.start
            for each in facts.facts(self.pattern, instance.bound, ended=last < facts.now):
                if each.start <= instance.start and (each.end is None or last < each.end):
                    times = (instance.start, last)
                    waiting = (one for step in self.steps for one in step.waiting(each.bound, times))
                    pending, hidden = (*instance.pending, *waiting), instance.hidden | each.hidden
                    read = instance.read + each.facts
                    made = instance._replace(bound=each.bound, pending=pending, read=read, hidden=hidden)
                    joined = settled(made, facts)
                    if joined is not None:
                        found.append(joined)
        return found

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class WithoutFactsNode:
    """`E WITHOUT F` (TEF-32). `outer` are variables of F that are bound further to the left."""

    child: EventNode
    pattern: TefPattern
    outer: frozenset[Variable]
    steps: tuple[Step, ...] = ()
    is_at_start: bool = False  # it is asked of the start of E alone, as WITH does

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = (self._judged(each, facts) for each in self.child.delta(hand, facts))
        return [each for each in found if each is not None]

    def _judged(self, instance: EventInstance, facts: FactEvaluation) -> EventInstance | None:
        there = [
            each
            for each in facts.facts(self.pattern, instance.bound, ended=instance.start < facts.now)
            if each.start <= (instance.start if self.is_at_start else instance.end)
            and (each.end is None or instance.start < each.end)
        ]
        if not there or not self.outer:
            return None if there else instance
        known = tuple(self._blocking(instance, each) for each in there)
        return settled(instance._replace(blocked=instance.blocked + known), facts)

    def _blocking(self, instance: EventInstance, fact: FactInstance) -> Blocking:
        first = max(instance.start, fact.start)
        last = instance.end if fact.end is None else min(instance.end, fact.end - 1)
        pending: list[Pending] = []
        for step in self.steps:  # a comparison is true somewhere in the time that both share, if it is at one end
            is_early = step.clock in (Comparison.LESS, Comparison.LESS_OR_EQUAL)
            pending += step.waiting(fact.bound, (first if is_early else last,))
        own = {name: term for name, term in fact.bound.items() if name in self.outer}
        return Blocking(own, self.outer, tuple(pending))

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class WithoutEventsNode:
    """`E1 WITHOUT E2` (TEF-36). `outer` are variables of E2 that are bound further to the left."""

    child: EventNode
    absent: EventNode
    seen: Stored
    outer: frozenset[Variable]

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        judged = (self._judged(each, facts) for each in self.child.delta(hand, facts))
        found = [each for each in judged if each is not None]
        for other in self.absent.delta(hand, facts):
            self.seen.add(other)
        return found

    def _judged(self, instance: EventInstance, facts: FactEvaluation) -> EventInstance | None:
        known = []
        for other in self.seen.of(instance.bound):
            if not instance.start <= other.end < instance.end or set(other.keys) <= set(instance.keys):
                continue
            if not self.outer:
                if is_met(other, instance.bound, facts):
                    return None
                continue
            together = merged(instance.bound, other.bound)
            checked = None if together is None else settled(other._replace(bound=together), facts)
            if checked is not None:
                own = {name: term for name, term in other.bound.items() if name in self.outer}
                known.append(Blocking(own, self.outer, checked.pending))
        return settled(instance._replace(blocked=instance.blocked + tuple(known)), facts) if known else instance

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child, self.absent)


@dataclass(slots=True)
class TestNode:
    """`E, expression`: with a variable, its value."""

    child: EventNode
    variable: Variable | None
    expression: Expression
    names: frozenset[Variable]

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = []
        for instance in self.child.delta(hand, facts):
            waiting = Pending(self.variable, self.expression, instance.bound, facts.now, self.names)
            each = settled(instance._replace(pending=(*instance.pending, waiting)), facts)
            if each is not None:
                found.append(each)
        return found

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class TimesNode:
    child: EventNode
    times: Times

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = []
        for instance in self.child.delta(hand, facts):
            bound = facts.timed(instance.bound, self.times, instance.start, instance.end)
            if bound is not None and (each := settled(instance._replace(bound=bound), facts)) is not None:
                found.append(each)
        return found

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.child,)


@dataclass(slots=True)
class EitherNode:
    """`E1 UNION E2`: only common variables stay (TEF-69)."""

    left: EventNode
    right: EventNode
    common: frozenset[Variable]
    is_of_facts: bool = False  # its arms are the same events, and facts are no part of a match (TEF-71)

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        sides = (self.left.delta(hand, facts), self.right.delta(hand, facts))
        return [self._kept(each, arm) for arm, found in enumerate(sides) for each in found]

    def _kept(self, instance: EventInstance, arm: int) -> EventInstance:
        kept = {name: term for name, term in instance.bound.items() if name in self.common}
        dropped = frozenset(item for item in instance.bound.items() if item[0] not in self.common)
        arms = instance.arms if self.is_of_facts else (arm, *instance.arms)
        return instance._replace(bound=kept, hidden=instance.hidden | dropped, arms=arms)

    def nodes(self) -> tuple[EventNode, ...]:
        return (self.left, self.right)


EventNode: TypeAlias = (
    TripleNode
    | FactEventNode
    | StaticNode
    | PairNode
    | WhileNode
    | WithoutFactsNode
    | WithoutEventsNode
    | TestNode
    | TimesNode
    | EitherNode
)


def forget(node: EventNode, before: int) -> None:
    """Drop stored instances that are in no match that starts at a time or later. What stands right of WITHOUT may have
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
    """All that a network stores, in one order."""
    match node:
        case PairNode():
            yield from (node.lefts, node.rights)
        case WithoutEventsNode():
            yield node.seen
        case _:
            pass
    for each in node.nodes():
        yield from stores_of(each)
