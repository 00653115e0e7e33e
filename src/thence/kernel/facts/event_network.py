"""Event patterns: which instances an event in hand completes (Table 4.2; TEF-23, TEF-29 to TEF-39).

A node gives, for each step, the instances that the event in hand completes; where two sides are joined, it stores the
instances that were completed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, assert_never

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    Conjunction,
    Either,
    Kind,
    OnEnd,
    OnStart,
    Related,
    TefPattern,
    TemporalRelation,
    Test,
    Times,
)
from thence.algebra.tef_variables import bound as bound_variables
from thence.algebra.traversal import nodes
from thence.algebra.variables import mentioned
from thence.kernel.facts.fact_patterns import FactEvaluation, FactInstance
from thence.kernel.facts.fact_store import Fact, unified
from thence.match.context import Solution
from thence.match.expression_evaluator import passes
from thence.program.facts.kinds import Kinds
from thence.rdf.terms import IRI, Term, Triple

# What a step has in hand (TEF-21)


class TripleHand(NamedTuple):
    """An event triple, from outside (`ref`) or constructed. `key` numbers events in the order in which they are
    taken."""

    key: int
    triple: Triple
    start: int
    end: int
    refs: tuple[int, ...]


class FactHand(NamedTuple):
    """A fact that began (ONSTART) or ended (ONEND)."""

    key: int
    fact: Fact
    starts: bool
    time: int


class InstanceHand(NamedTuple):
    """A match of a composite fact pattern that began or ended: an unnamed view (TEF-50)."""

    key: int
    pattern: TefPattern
    instance: FactInstance
    starts: bool
    time: int


Hand: TypeAlias = TripleHand | FactHand | InstanceHand


class Pending(NamedTuple):
    """An expression that waits for variables to its left (TEF-58): a test, or the value of a variable. `now` is when
    its part was completed (TEF-62)."""

    variable: Variable | None
    expression: Expression
    bound: Solution
    now: int
    names: frozenset[Variable]  # of the expression


class Blocking(NamedTuple):
    """What stands right of WITHOUT, and was there, if it goes with variables that are bound further to the left
    (TEF-39)."""

    bound: Solution
    names: frozenset[Variable]
    pending: tuple[Pending, ...] = ()


class EventInstance(NamedTuple):
    """A match of an event pattern. `keys` are its events in pattern order, `refs` those from outside; `read` are the
    facts that DURING and WITH have read; `hidden` is what UNION has dropped, `arms` which arms they are of."""

    bound: Solution
    start: int
    end: int
    keys: tuple[int, ...]
    refs: tuple[int, ...]
    pending: tuple[Pending, ...] = ()
    read: tuple[Fact, ...] = ()
    hidden: frozenset[tuple[Variable, Term]] = frozenset()
    arms: tuple[int, ...] = ()
    blocked: tuple[Blocking, ...] = ()

    @property
    def identity(self) -> object:
        """Its events and its mapping, as it is before UNION drops variables (TEF-71)."""
        return self.keys, frozenset(self.bound.items()), self.hidden, self.arms


def merged(left: Solution, right: Solution) -> Solution | None:
    """Both mappings as one; None if they are not compatible."""
    small, large = (left, right) if len(left) < len(right) else (right, left)
    for variable, term in small.items():
        if large.get(variable, term) != term:
            return None
    return {**left, **right}


def settled(instance: EventInstance, facts: FactEvaluation) -> EventInstance | None:
    """With the expressions evaluated that waited for variables which are bound now; None: one does not hold."""
    if not instance.pending and not instance.blocked:
        return instance
    bound, rest = instance.bound, []
    for each in instance.pending:
        known = {**bound, **each.bound}
        if not each.names <= known.keys():
            rest.append(each)
        elif each.variable is None:
            if not passes(each.expression, known, facts.at(each.now)):
                return None
        else:
            found = facts.assigned(known, each.variable, each.expression, facts.at(each.now))
            if found is None:
                return None
            bound = {**bound, each.variable: found[each.variable]}
    undecided = []
    for other in instance.blocked:
        if merged({name: term for name, term in bound.items() if name in other.names}, other.bound) is None:
            continue  # it is about something else
        if not other.names <= bound.keys():
            undecided.append(other)
        elif _still_blocks(other, bound, facts):
            return None
    return instance._replace(bound=bound, pending=tuple(rest), blocked=tuple(undecided))


def _still_blocks(other: Blocking, bound: Solution, facts: FactEvaluation) -> bool:
    together = {**{name: bound[name] for name in other.names}, **other.bound}
    checked = settled(EventInstance(together, 0, 0, (), (), other.pending), facts)
    return checked is not None and not checked.pending


@dataclass(slots=True)
class Stored:
    """Instances that were completed earlier, by the variables that the other side always binds too."""

    names: tuple[Variable, ...]
    listed: dict[tuple[Term, ...], list[EventInstance]] = field(default_factory=dict)

    def add(self, instance: EventInstance) -> None:
        self.listed.setdefault(self._key(instance.bound), []).append(instance)

    def of(self, bound: Solution) -> list[EventInstance]:
        return self.listed.get(self._key(bound), [])

    def all(self) -> Iterator[EventInstance]:
        return (each for same in self.listed.values() for each in same)

    def forget(self, before: int) -> None:
        """Drop instances that start before a time."""
        for key in list(self.listed):
            kept = [each for each in self.listed[key] if each.start >= before]
            if kept:
                self.listed[key] = kept
            else:
                del self.listed[key]

    def _key(self, bound: Solution) -> tuple[Term, ...]:
        return tuple(bound[name] for name in self.names)


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


@dataclass(slots=True)
class StaticNode:
    """E with static triples: they change no times (TEF-9)."""

    child: EventNode
    pattern: TefPattern

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = []
        for instance in self.child.delta(hand, facts):
            for each in facts.facts(self.pattern, instance.bound):
                joined = settled(instance._replace(bound=each.bound), facts)
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

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = []
        for instance in self.child.delta(hand, facts):
            last = instance.end if self.relation is TemporalRelation.DURING else instance.start
            for each in facts.facts(self.pattern, instance.bound):
                if each.start <= instance.start and (each.end is None or last < each.end):
                    made = instance._replace(bound=each.bound, read=instance.read + each.facts)
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

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        found = (self._judged(each, facts) for each in self.child.delta(hand, facts))
        return [each for each in found if each is not None]

    def _judged(self, instance: EventInstance, facts: FactEvaluation) -> EventInstance | None:
        there = [
            each.bound
            for each in facts.facts(self.pattern, instance.bound)
            if each.start <= instance.end and (each.end is None or instance.start < each.end)
        ]
        if not there or not self.outer:
            return None if there else instance
        known = tuple(
            Blocking({name: term for name, term in each.items() if name in self.outer}, self.outer) for each in there
        )
        return settled(instance._replace(blocked=instance.blocked + known), facts)

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


def is_met(other: EventInstance, bound: Solution, facts: FactEvaluation) -> bool:
    """Whether an instance, right of WITHOUT, goes with what is bound to its left (TEF-39)."""
    together = merged(bound, other.bound)
    if together is None:
        return False
    checked = settled(other._replace(bound=together), facts)
    return checked is not None and not checked.pending


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

    def delta(self, hand: Hand, facts: FactEvaluation) -> list[EventInstance]:
        sides = (self.left.delta(hand, facts), self.right.delta(hand, facts))
        return [self._kept(each, arm) for arm, found in enumerate(sides) for each in found]

    def _kept(self, instance: EventInstance, arm: int) -> EventInstance:
        kept = {name: term for name, term in instance.bound.items() if name in self.common}
        dropped = frozenset(item for item in instance.bound.items() if item[0] not in self.common)
        return instance._replace(bound=kept, hidden=instance.hidden | dropped, arms=(arm, *instance.arms))

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


def event_node(pattern: TefPattern, kinds: Kinds, outer: frozenset[Variable] = frozenset()) -> EventNode:
    """The node of an event pattern. `outer` are the variables that are bound further to the left."""
    match pattern:
        case TriplePattern():
            return TripleNode(pattern, kinds)
        case Times():
            return TimesNode(event_node(pattern.pattern, kinds, outer), pattern)
        case Conjunction():
            if _is_static(pattern.right, kinds):
                return StaticNode(event_node(pattern.left, kinds, outer), pattern.right)
            if _is_static(pattern.left, kinds):
                return StaticNode(event_node(pattern.right, kinds, outer | bound_variables(pattern.left)), pattern.left)
            return _pair(None, pattern.left, pattern.right, kinds, outer)
        case Related():
            return _related(pattern, kinds, outer)
        case Absent():
            return _without(pattern, kinds, outer)
        case Test():
            return _test(pattern.pattern, None, pattern.condition, kinds, outer)
        case Assignment():
            return _test(pattern.pattern, pattern.variable, pattern.expression, kinds, outer)
        case Either():
            left, right = event_node(pattern.left, kinds, outer), event_node(pattern.right, kinds, outer)
            return EitherNode(left, right, bound_variables(pattern))
        case OnStart():
            return FactEventNode(pattern.facts, True)
        case OnEnd():
            return FactEventNode(pattern.facts, False)
        case _:
            assert_never(pattern)


def _test(
    pattern: TefPattern, variable: Variable | None, expression: Expression, kinds: Kinds, outer: frozenset[Variable]
) -> TestNode:
    return TestNode(event_node(pattern, kinds, outer), variable, expression, mentioned(expression))


def _without(pattern: Absent, kinds: Kinds, outer: frozenset[Variable]) -> EventNode:
    child = event_node(pattern.left, kinds, outer)
    known = bound_variables(pattern.left)
    further = all_variables(pattern.right) & (outer - known)
    if kinds.of_pattern(pattern.right) is not Kind.EVENT:
        return WithoutFactsNode(child, pattern.right, further)
    names = tuple(sorted(certain(pattern.left) & certain(pattern.right), key=str))
    absent = event_node(pattern.right, kinds, outer | known)
    return WithoutEventsNode(child, absent, Stored(names), further)


def all_variables(pattern: object) -> frozenset[Variable]:
    """Every variable that a pattern names, those of expressions included."""
    return frozenset(node for node in nodes(pattern) if isinstance(node, Variable))


def _related(pattern: Related, kinds: Kinds, outer: frozenset[Variable]) -> EventNode:
    if pattern.relation in (TemporalRelation.DURING, TemporalRelation.WITH):
        return WhileNode(pattern.relation, event_node(pattern.left, kinds, outer), pattern.right)
    if _is_static(pattern.left, kinds):  # older than everything
        return StaticNode(event_node(pattern.right, kinds, outer | bound_variables(pattern.left)), pattern.left)
    return _pair(pattern.relation, pattern.left, pattern.right, kinds, outer)


def _pair(
    relation: TemporalRelation | None, left: TefPattern, right: TefPattern, kinds: Kinds, outer: frozenset[Variable]
) -> PairNode:
    names = tuple(sorted(certain(left) & certain(right), key=str))
    further = outer | bound_variables(left)
    one, other = event_node(left, kinds, outer), event_node(right, kinds, further)
    return PairNode(relation, one, other, Stored(names), Stored(names))


def certain(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that every instance of a pattern binds, before anything that waits."""
    match pattern:
        case TriplePattern():
            return bound_variables(pattern)
        case Times() | Test() | Assignment():
            return certain(pattern.pattern)
        case Conjunction():
            return certain(pattern.left) | certain(pattern.right)
        case Related():
            return certain(pattern.left) | certain(pattern.right)
        case Absent():
            return certain(pattern.left)
        case Either():
            return certain(pattern.left) & certain(pattern.right)
        case OnStart() | OnEnd():
            return certain(pattern.facts)
        case _:
            assert_never(pattern)


def _is_static(pattern: TefPattern, kinds: Kinds) -> bool:
    return kinds.of_pattern(pattern) is Kind.STATIC


def is_event_predicate(predicate: Term, kinds: Kinds) -> bool:
    return isinstance(predicate, IRI) and kinds.of(predicate) is Kind.EVENT
