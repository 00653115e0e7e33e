"""Patterns → nodes over the layout of their statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
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
    TefStatement,
    TemporalRelation,
    Test,
    Times,
    bound,
)
from thence.algebra.traversal import nodes
from thence.algebra.variables import mentioned
from thence.engines.facts.compiled_expressions import attempted, truth_of
from thence.engines.facts.event_instances import AbsentEvents, Beginning, Capture, Stored, WaitingExpression
from thence.engines.facts.event_nodes import (
    AskingNode,
    CapturingNode,
    EitherNode,
    EventNode,
    FactEventNode,
    LateTest,
    MatchEventNode,
    PairNode,
    StaticNode,
    TestNode,
    TimesNode,
    TripleNode,
    WhileNode,
    WithoutEventsNode,
    WithoutFactsNode,
)
from thence.engines.facts.fact_nodes import (
    ALWAYS,
    AssignFactNode,
    BothFactsNode,
    ClockNode,
    EitherFactNode,
    FactNode,
    Position,
    RestartNode,
    TestFactNode,
    TimesFactNode,
    TimesSlots,
    TripleFactNode,
    TripleSlots,
    WithoutFactNode,
    times_slots,
)
from thence.engines.facts.frames import Layout, cell
from thence.engines.facts.kind_checks import Kinds, now_comparison
from thence.rdf.terms import IRI, BlankNode, Literal

Asking: TypeAlias = dict[TefPattern, tuple[TefPattern, TefPattern]]
"""Events with facts that are asked later: their events, and their facts."""


@dataclass(slots=True)
class PatternCompiler:
    """Compiles the patterns of one statement, or of an unnamed view: of `root`. `views` numbers the unnamed views of
    ONSTART and ONEND, each with the layout of its own pattern; `absent` gets the events right of `F WITHOUT E`;
    `restarts` has how far back each of these is asked."""

    kinds: Kinds
    root: TefStatement | TefPattern
    layout: Layout
    views: dict[TefPattern, tuple[int, Layout]]
    absent: list[tuple[EventNode, AbsentEvents]] = field(default_factory=list)
    restarts: dict[Absent, int | None] = field(default_factory=dict)
    expressions: list[WaitingExpression] = field(default_factory=list)
    patterns: list[FactNode] = field(default_factory=list)  # that are captured
    asked: Asking = field(default_factory=dict)

    # Facts

    def facts(self, pattern: TefPattern) -> FactNode:
        """The node of a fact pattern."""
        match pattern:
            case TriplePattern():
                slots = self.triple(pattern)
                is_static = isinstance(pattern.predicate, IRI) and self.kinds.of(pattern.predicate) is Kind.STATIC
                return TripleFactNode(slots, slots.positions[1].constant if is_static else None)
            case Times():
                inner, times = self.facts(pattern.pattern), times_slots(pattern, self.layout)
                if isinstance(inner, TripleFactNode) and inner.times is None:
                    return replace(inner, times=times)
                return TimesFactNode(inner, times)
            case Conjunction():
                return BothFactsNode(self.facts(pattern.left), self.facts(pattern.right))
            case Either():
                return self._either_facts(pattern)
            case Test():
                child, clock = self.facts(pattern.pattern), now_comparison(pattern.condition)
                if clock is None:
                    if isinstance(child, TripleFactNode):
                        child = child.bounded(pattern.condition, self.layout)
                    return TestFactNode(child, truth_of(pattern.condition, self.layout))
                limit, truth = attempted(clock[1], self.layout), truth_of(pattern.condition, self.layout)
                return ClockNode(child, clock[0], limit, truth)
            case Assignment():
                value = attempted(pattern.expression, self.layout)
                return AssignFactNode(self.facts(pattern.pattern), self.layout.slots[pattern.variable], value)
            case Absent():
                return self._absent_facts(pattern)
            case Related() | OnStart() | OnEnd():
                raise AssertionError("an event is not a fact")
            case _:
                assert_never(pattern)

    def _either_facts(self, pattern: Either) -> EitherFactNode:
        common = bound(pattern)
        sides = (pattern.left, pattern.right)
        return EitherFactNode(tuple((self.facts(side), self.layout.slots_of(bound(side) - common)) for side in sides))

    def _absent_facts(self, pattern: Absent) -> FactNode:
        left = self.facts(pattern.left)
        if self.kinds.of_pattern(pattern.right) is not Kind.EVENT:
            return WithoutFactNode(left, self.facts(pattern.right))
        node = self.events(pattern.right, frozenset(self.layout.variables))  # whatever F may bind
        names = certain(pattern.left) & self._certain(pattern.right)
        back = self.restarts.get(pattern) if are_alike(pattern, self.root) else None
        known = AbsentEvents(self._store(names), self._since(pattern.left, names), back)
        self.absent.append((node, known))
        return RestartNode(left, known)

    def _since(self, pattern: TefPattern, names: frozenset[Variable]) -> Beginning:
        """Since when a fact pattern may match, given values of some variables."""
        match pattern:
            case TriplePattern():
                if self._is_static(pattern):
                    return lambda key, store: ALWAYS
                places = self.layout.slots_of(names)
                parts = [
                    (position.constant, places.index(position.slot) if position.slot in places else -1)
                    for position in self.triple(pattern).positions
                ]
                return lambda key, store: store.first(
                    *(key[place] if place >= 0 else constant for constant, place in parts)
                )
            case Times() | Test() | Assignment():
                return self._since(pattern.pattern, names)
            case Absent():
                return self._since(pattern.left, names)
            case Conjunction() | Either():
                one, other = self._since(pattern.left, names), self._since(pattern.right, names)
                chosen = max if isinstance(pattern, Conjunction) else min
                return lambda key, store: chosen(one(key, store), other(key, store))
            case Related() | OnStart() | OnEnd():
                raise AssertionError("an event is not a fact")
            case _:
                assert_never(pattern)

    # Events

    def events(self, pattern: TefPattern, outer: frozenset[Variable] = frozenset()) -> EventNode:
        """The node of an event pattern. `outer` are the variables that are bound further to the left."""
        match pattern:
            case TriplePattern():
                return TripleNode(self.triple(pattern), self.layout.empty)
            case Times():
                inner, times = self.events(pattern.pattern, outer), times_slots(pattern, self.layout)
                if isinstance(inner, TripleNode) and inner.times is None:
                    return replace(inner, times=times)
                return TimesNode(inner, times)
            case Conjunction():
                return self._both(pattern, outer)
            case Related():
                return self._related(pattern, outer)
            case Absent():
                return self._without(pattern, outer)
            case Test():
                return self._test(pattern.pattern, None, pattern.condition, outer)
            case Assignment():
                return self._test(pattern.pattern, pattern.variable, pattern.expression, outer)
            case Either():
                left, right = self.events(pattern.left, outer), self.events(pattern.right, outer)
                return EitherNode(left, right, self.layout.slots_of(bound(pattern)))
            case OnStart() | OnEnd():
                return self._turn(pattern.facts, isinstance(pattern, OnStart))
            case _:
                assert_never(pattern)

    def _both(self, pattern: Conjunction, outer: frozenset[Variable]) -> EventNode:
        if self._is_static(pattern.right):
            child = self.events(pattern.left, outer)
            return self._with_static(child, pattern, pattern.right, self._away(pattern.left, outer))
        if self._is_static(pattern.left):
            return self._static_first(pattern, outer)
        return self._pair(None, pattern.left, pattern.right, outer)

    def _related(self, pattern: Related, outer: frozenset[Variable]) -> EventNode:
        if pattern.relation in (TemporalRelation.DURING, TemporalRelation.WITH):
            return self._while(pattern, self.events(pattern.left, outer), self._away(pattern.left, outer))
        if self._is_static(pattern.left):  # older than everything
            return self._static_first(pattern, outer)
        return self._pair(pattern.relation, pattern.left, pattern.right, outer)

    def _static_first(self, pattern: Conjunction | Related, outer: frozenset[Variable]) -> EventNode:
        child = self.events(pattern.right, outer | bound(pattern.left))
        return self._with_static(child, pattern, pattern.left, outer, is_first=True)

    def _with_static(
        self,
        child: EventNode,
        pattern: Conjunction | Related,
        static: TefPattern,
        away: frozenset[Variable],
        *,
        is_first: bool = False,
    ) -> EventNode:
        """`away` are the variables that may have no value yet; it `is_first` if it is left of the events."""
        known, late = lifted(static, away)
        if not waits(known, away | computed(late)):
            return StaticNode(child, self.facts(known), tuple(map(self._late, late)))
        self.asked[pattern] = (pattern.right if is_first else pattern.left, static)
        capture, slots = self._capture(static, away), self.layout.slots_of(bound(static))
        return AskingNode(child, TemporalRelation.WITH, capture, slots, is_first)

    def _while(self, pattern: Related, child: EventNode, away: frozenset[Variable]) -> EventNode:
        """`E DURING F`, `E WITH F`."""
        known, late = lifted(pattern.right, away)
        if not waits(known, away | computed(late)):
            return WhileNode(pattern.relation, child, self.facts(known), tuple(map(self._late, late)))
        self.asked[pattern] = (pattern.left, pattern.right)
        capture, slots = self._capture(pattern.right, away), self.layout.slots_of(bound(pattern.right))
        return AskingNode(child, pattern.relation, capture, slots)

    def _capture(self, pattern: TefPattern, away: frozenset[Variable]) -> Capture:
        leaves = tuple(self.triple(node) for node in nodes(pattern) if isinstance(node, TriplePattern))
        earlier = len(self.absent)
        self.patterns.append(self.facts(pattern))
        for _, known in self.absent[earlier:]:
            known.is_captured = True
        number = len(self.patterns) - 1
        return Capture(self.patterns[number], number, leaves, self.layout.slots_of(all_variables(pattern) & away))

    def _away(self, events: TefPattern, outer: frozenset[Variable]) -> frozenset[Variable]:
        """The variables that may have no value yet when events, which are compiled, are there."""
        return (outer - bound(events)) | late_variables(events, self.asked)

    def _late(self, each: Lifted) -> LateTest:
        clock = now_comparison(each.expression) if each.variable is None else None
        waiting = self.waiting(each.variable, each.expression, each.missing)
        return LateTest(waiting, None if clock is None else clock[0])

    def _pair(
        self, relation: TemporalRelation | None, left: TefPattern, right: TefPattern, outer: frozenset[Variable]
    ) -> PairNode:
        one, other = self.events(left, outer), self.events(right, outer | bound(left))
        names = self._certain(left) & self._certain(right)
        return PairNode(relation, one, other, self._store(names), self._store(names))

    def _without(self, pattern: Absent, outer: frozenset[Variable]) -> EventNode:
        child = self.events(pattern.left, outer)
        further = all_variables(pattern.right) & self._away(pattern.left, outer)
        slots = self.layout.slots_of(further)
        if self._is_event(pattern.right):
            absent = self.events(pattern.right, outer | bound(pattern.left))
            seen = self._store(self._certain(pattern.left) & self._certain(pattern.right))
            return WithoutEventsNode(child, absent, seen, slots)
        known, late = lifted(pattern.right, further)
        if waits(known, further | computed(late)):
            return CapturingNode(child, self._capture(pattern.right, further))
        return WithoutFactsNode(child, self.facts(known), slots, tuple(map(self._late, late)))

    def _test(
        self, pattern: TefPattern, variable: Variable | None, expression: Expression, outer: frozenset[Variable]
    ) -> TestNode | WhileNode:
        """It waits for variables that are bound further to the left or wait themselves; any other unbound variable has
        none."""
        child = self.events(pattern, outer)
        names = mentioned(expression) & (outer | late_variables(pattern, self.asked))
        if variable is None and not names and isinstance(child, WhileNode):
            child.tests = (*child.tests, truth_of(expression, self.layout))
            if isinstance(child.pattern, TripleFactNode):
                child.pattern = child.pattern.bounded(expression, self.layout)
            return child
        return TestNode(child, self.waiting(variable, expression, names))

    def _turn(self, pattern: TefPattern, starts: bool) -> FactEventNode | MatchEventNode:
        if not is_simple(pattern):
            number, own = self.views[pattern]
            copied = tuple((own.slots[each], self.layout.slots[each]) for each in bound(pattern))
            return MatchEventNode(number, starts, copied, self.layout.empty)
        times: list[TimesSlots] = []
        while isinstance(pattern, Times):
            times.append(times_slots(pattern, self.layout))
            pattern = pattern.pattern
        assert isinstance(pattern, TriplePattern)
        return FactEventNode(self.triple(pattern), tuple(reversed(times)), starts, self.layout.empty)

    # Both

    def triple(self, pattern: TriplePattern) -> TripleSlots:
        def position(part: object) -> Position:
            if isinstance(part, Variable):
                return Position(None, self.layout.slots[part])
            assert isinstance(part, IRI | BlankNode | Literal)
            return Position(cell(part), -1)

        return TripleSlots((position(pattern.subject), position(pattern.predicate), position(pattern.object)))

    def waiting(
        self, variable: Variable | None, expression: Expression, names: frozenset[Variable] = frozenset()
    ) -> WaitingExpression:
        """An expression that may wait for variables further to the left."""
        slot = -1 if variable is None else self.layout.slots[variable]
        truth, value = truth_of(expression, self.layout), attempted(expression, self.layout)
        made = WaitingExpression(len(self.expressions), self.layout.slots_of(names), slot, truth, value)
        self.expressions.append(made)
        return made

    def _certain(self, pattern: TefPattern) -> frozenset[Variable]:
        return certain(pattern, self.asked)

    def _store(self, names: frozenset[Variable]) -> Stored:
        return Stored(self.layout, self.expressions, self.patterns, self.layout.slots_of(names))

    def _is_event(self, pattern: TefPattern) -> bool:
        return self.kinds.of_pattern(pattern) is Kind.EVENT

    def _is_static(self, pattern: TefPattern) -> bool:
        return self.kinds.of_pattern(pattern) is Kind.STATIC


def all_variables(pattern: object) -> frozenset[Variable]:
    """Every variable that a pattern names, those of expressions included."""
    return frozenset(node for node in nodes(pattern) if isinstance(node, Variable))


class Lifted(NamedTuple):
    """An expression that was taken out of a fact pattern, since it may have to wait: for what is `missing`."""

    variable: Variable | None
    expression: Expression
    missing: frozenset[Variable]


def lifted(pattern: TefPattern, away: frozenset[Variable]) -> tuple[TefPattern, tuple[Lifted, ...]]:
    """A fact pattern without the expressions that name variables which are bound further to the left, and these."""
    match pattern:
        case Test() | Assignment():
            inner, late = lifted(pattern.pattern, away)
            expression = pattern.condition if isinstance(pattern, Test) else pattern.expression
            missing = mentioned(expression) & ((away - bound(inner)) | computed(late))
            if not missing:
                return replace(pattern, pattern=inner), late
            variable = None if isinstance(pattern, Test) else pattern.variable
            return inner, (*late, Lifted(variable, expression, missing))
        case Times():
            inner, late = lifted(pattern.pattern, away)
            return replace(pattern, pattern=inner), late
        case Conjunction():
            left, late = lifted(pattern.left, away)
            right, more = lifted(pattern.right, (away - bound(left)) | computed(late))
            return Conjunction(left, right), late + more
        case _:
            return pattern, ()


def computed(late: Iterable[Lifted]) -> frozenset[Variable]:
    """The variables whose values are expressions that wait."""
    return frozenset(each.variable for each in late if each.variable is not None)


def waits(pattern: TefPattern, away: frozenset[Variable]) -> bool:
    """Whether a fact pattern can't be asked before variables have values: an expression, or what is right of
    WITHOUT, names them. What is only joined by them can be asked."""
    match pattern:
        case TriplePattern():
            return False
        case Times():
            return waits(pattern.pattern, away)
        case Test() | Assignment():
            expression = pattern.condition if isinstance(pattern, Test) else pattern.expression
            return bool(mentioned(expression) & (away - bound(pattern.pattern))) or waits(pattern.pattern, away)
        case Conjunction():
            return waits(pattern.left, away) or waits(pattern.right, away - bound(pattern.left))
        case Either():
            return waits(pattern.left, away) or waits(pattern.right, away)
        case Absent():
            return bool(all_variables(pattern.right) & (away - bound(pattern.left))) or waits(pattern.left, away)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is not a fact")
        case _:
            assert_never(pattern)


def late_variables(pattern: TefPattern, asked: Asking) -> frozenset[Variable]:
    """The variables of events that may get their values later: they are computed, or of facts that are asked later."""
    found: set[Variable] = set()
    for node in nodes(pattern):
        if isinstance(node, Assignment):
            found.add(node.variable)
        elif isinstance(node, Related | Conjunction) and node in asked:
            events, facts = asked[node]
            found |= bound(facts) - certain(events, asked)
    return frozenset(found)


def are_alike(pattern: Absent, root: TefStatement | TefPattern) -> bool:
    """Whether the events of `F WITHOUT E` differ in nothing that other parts of a statement name, but in the variables
    that F and E always bind: then the latest of them stands for those before it."""
    if any(isinstance(node, Absent | Either | OnStart | OnEnd) for node in nodes(pattern.right)):
        return False
    related = (node.relation for node in nodes(pattern.right) if isinstance(node, Related))
    if any(each in (TemporalRelation.DURING, TemporalRelation.WITH) for each in related):
        return False
    elsewhere = Counter(_named(root)) - Counter(_named(pattern.right))
    return all_variables(pattern.right) & elsewhere.keys() <= certain(pattern.left) & certain(pattern.right)


def _named(root: object) -> Iterator[Variable]:
    return (node for node in nodes(root) if isinstance(node, Variable))


def is_simple(pattern: TefPattern) -> bool:
    """Whether a fact pattern is one triple, its times perhaps bound: then each fact has its turn itself."""
    return isinstance(pattern, TriplePattern) or (isinstance(pattern, Times) and is_simple(pattern.pattern))


def certain(pattern: TefPattern, asked: Asking | None = None) -> frozenset[Variable]:
    """The variables that every instance of a pattern binds, before anything that waits."""
    match pattern:
        case TriplePattern():
            return bound(pattern)
        case Times() | Test() | Assignment():
            return certain(pattern.pattern, asked)
        case Conjunction() | Related():
            if asked is not None and pattern in asked:
                return certain(asked[pattern][0], asked)
            return certain(pattern.left, asked) | certain(pattern.right, asked)
        case Absent():
            return certain(pattern.left, asked)
        case Either():
            return certain(pattern.left, asked) & certain(pattern.right, asked)
        case OnStart() | OnEnd():
            return certain(pattern.facts)
        case _:
            assert_never(pattern)
