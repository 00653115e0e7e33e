"""Patterns → nodes over the layout of their statement."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

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
from thence.algebra.tef_variables import bound
from thence.algebra.traversal import nodes
from thence.algebra.variables import mentioned
from thence.kernel.facts.cells import cell
from thence.kernel.facts.compiled_expressions import attempted, truth_of
from thence.kernel.facts.event_instances import AbsentEvents, Stored, WaitingExpression
from thence.kernel.facts.event_nodes import (
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
from thence.kernel.facts.fact_nodes import (
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
from thence.kernel.facts.frames import Layout
from thence.program.facts.kinds import Kinds, now_comparison
from thence.rdf.terms import IRI, BlankNode, Literal


@dataclass(slots=True)
class PatternCompiler:
    """Compiles the patterns of one statement. `views` numbers the unnamed views of ONSTART and ONEND, each with the
    layout of its own pattern; `absent` gets the events right of `F WITHOUT E`."""

    kinds: Kinds
    layout: Layout
    views: dict[TefPattern, tuple[int, Layout]]
    absent: list[tuple[EventNode, Stored]] = field(default_factory=list)
    expressions: list[WaitingExpression] = field(default_factory=list)
    patterns: list[FactNode] = field(default_factory=list)  # that are captured

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
                    return TestFactNode(child, truth_of(pattern.condition, self.layout))
                limit, truth = attempted(clock[1], self.layout), truth_of(pattern.condition, self.layout)
                return ClockNode(child, clock[0], limit, truth)
            case Assignment():
                value = attempted(pattern.expression, self.layout)
                return AssignFactNode(self.facts(pattern.pattern), self.layout.slots[pattern.variable], value)
            case Absent():
                return self._absent_facts(pattern)
            case Related() | OnStart() | OnEnd():
                raise AssertionError("an event is no fact")
            case _:
                assert_never(pattern)

    def _either_facts(self, pattern: Either) -> EitherFactNode:
        common = bound(pattern)
        sides = tuple(
            (self.facts(side), frozenset(self.layout.slots_of(bound(side) - common)))
            for side in (pattern.left, pattern.right)
        )
        return EitherFactNode(sides, self.layout.slots_of(common))

    def _absent_facts(self, pattern: Absent) -> FactNode:
        left = self.facts(pattern.left)
        if self.kinds.of_pattern(pattern.right) is not Kind.EVENT:
            return WithoutFactNode(left, self.facts(pattern.right))
        node = self.events(pattern.right, frozenset(self.layout.variables))  # whatever F may bind
        stored = self._store(certain(pattern.left) & certain(pattern.right))
        self.absent.append((node, stored))
        return RestartNode(left, AbsentEvents(stored))

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
            node, late = self._facts_with(pattern.right, pattern.left, outer)
            return StaticNode(self.events(pattern.left, outer), node, late)
        if self._is_static(pattern.left):
            return self._static_first(pattern.left, pattern.right, outer)
        return self._pair(None, pattern.left, pattern.right, outer)

    def _related(self, pattern: Related, outer: frozenset[Variable]) -> EventNode:
        if pattern.relation in (TemporalRelation.DURING, TemporalRelation.WITH):
            if (sides := split_union(pattern.right, pattern.left, outer)) is not None:
                one, other = (self._related(replace(pattern, right=side), outer) for side in sides)
                common = self.layout.slots_of(bound(pattern.left) | bound(pattern.right))
                return EitherNode(one, other, common, is_of_facts=True)
            child = self.events(pattern.left, outer)
            return self._while(pattern.relation, child, pattern.right, away_from(pattern.left, outer))
        if self._is_static(pattern.left):  # older than everything
            return self._static_first(pattern.left, pattern.right, outer)
        return self._pair(pattern.relation, pattern.left, pattern.right, outer)

    def _static_first(self, static: TefPattern, events: TefPattern, outer: frozenset[Variable]) -> StaticNode:
        node, late = self._facts_with(static, None, outer)
        return StaticNode(self.events(events, outer | bound(static)), node, late)

    def _facts_with(
        self, pattern: TefPattern, events: TefPattern | None, outer: frozenset[Variable]
    ) -> tuple[FactNode, tuple[LateTest, ...]]:
        """The node of a fact pattern that goes with events, without the expressions that may have to wait; and these
        (TEF-58)."""
        known, late = lifted(pattern, outer if events is None else away_from(events, outer))
        return self.facts(known), tuple(self._late(each) for each in late)

    def _while(
        self, relation: TemporalRelation, child: EventNode, pattern: TefPattern, away: frozenset[Variable]
    ) -> EventNode:
        """`E DURING F`, `E WITH F`. If F has a WITHOUT that may have to wait, it waits with E: E DURING (F1 WITHOUT F2)
        is (E DURING F1) WITHOUT F2, and E DURING (F1, F2) is (E DURING F1) DURING F2."""
        inner, late = lifted(pattern, away)
        gaps = [node for node in nodes(inner) if isinstance(node, Absent) and not self._is_event(node.right)]
        if not any(asked_from(gap, away) for gap in gaps):
            return WhileNode(relation, child, self.facts(inner), tuple(self._late(each) for each in late))
        found: EventNode
        match inner:
            case Conjunction():
                left = self._while(relation, child, inner.left, away)
                found = self._while(relation, left, inner.right, away - bound(inner.left))
            case Absent() if not self._is_event(inner.right):
                left = self._while(relation, child, inner.left, away)
                is_at_start = relation is TemporalRelation.WITH
                found = self._without_facts(left, inner.right, asked_from(inner, away), is_at_start=is_at_start)
            case _:
                found = WhileNode(relation, child, self.facts(inner))
        for each in late:
            found = TestNode(found, self.waiting(each.variable, each.expression, each.missing))
        return found

    def _late(self, each: Lifted) -> LateTest:
        clock = now_comparison(each.expression) if each.variable is None else None
        waiting = self.waiting(each.variable, each.expression, each.missing)
        return LateTest(waiting, None if clock is None else clock[0])

    def _pair(
        self, relation: TemporalRelation | None, left: TefPattern, right: TefPattern, outer: frozenset[Variable]
    ) -> PairNode:
        names = certain(left) & certain(right)
        one, other = self.events(left, outer), self.events(right, outer | bound(left))
        return PairNode(relation, one, other, self._store(names), self._store(names))

    def _without(self, pattern: Absent, outer: frozenset[Variable]) -> EventNode:
        sides = None if self._is_event(pattern.right) else split_union(pattern.right, pattern.left, outer)
        if sides is not None:
            return self._without(Absent(Absent(pattern.left, sides[0]), sides[1]), outer)
        child = self.events(pattern.left, outer)
        known = bound(pattern.left)
        further = all_variables(pattern.right) & away_from(pattern.left, outer)
        if not self._is_event(pattern.right):
            return self._without_facts(child, pattern.right, further)
        absent = self.events(pattern.right, outer | known)
        seen = self._store(certain(pattern.left) & certain(pattern.right))
        return WithoutEventsNode(child, absent, seen, self.layout.slots_of(further))

    def _without_facts(
        self, child: EventNode, pattern: TefPattern, further: frozenset[Variable], *, is_at_start: bool = False
    ) -> EventNode:
        """`E WITHOUT F`, where F may have to wait for what is bound further to the left."""
        slots = self.layout.slots_of(further)
        inner, late = lifted(pattern, further)
        gaps = [node for node in nodes(inner) if isinstance(node, Absent)]
        unions = [node for node in nodes(inner) if isinstance(node, Either)]
        tested = any(lifted(side, further)[1] for union in unions for side in (union.left, union.right))
        waits = tested or any(asked_from(gap, further) for gap in gaps)
        if not waits or any(self._is_event(gap.right) for gap in gaps):
            tests = tuple(self._late(each) for each in late)
            return WithoutFactsNode(child, self.facts(inner), slots, tests, is_at_start=is_at_start)
        leaves = tuple(self.triple(node) for node in nodes(pattern) if isinstance(node, TriplePattern))
        self.patterns.append(self.facts(pattern))
        number = len(self.patterns) - 1
        return CapturingNode(child, self.patterns[number], number, leaves, slots, is_at_start)

    def _test(
        self, pattern: TefPattern, variable: Variable | None, expression: Expression, outer: frozenset[Variable]
    ) -> TestNode | WhileNode:
        """It waits for what is bound further to the left, and for what waits itself; what else has no value has
        none."""
        names = mentioned(expression) & (outer | assigned_variables(pattern))
        child = self.events(pattern, outer)
        if variable is None and not names and isinstance(child, WhileNode):
            child.tests = (*child.tests, truth_of(expression, self.layout))
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
            computed = frozenset(each.variable for each in late if each.variable is not None)
            missing = mentioned(expression) & ((away - bound(inner)) | computed)
            if not missing:
                return replace(pattern, pattern=inner), late
            variable = None if isinstance(pattern, Test) else pattern.variable
            return inner, (*late, Lifted(variable, expression, missing))
        case Times():
            inner, late = lifted(pattern.pattern, away)
            return replace(pattern, pattern=inner), late
        case Conjunction():
            left, late = lifted(pattern.left, away)
            computed = frozenset(each.variable for each in late if each.variable is not None)
            right, more = lifted(pattern.right, (away - bound(left)) | computed)
            return Conjunction(left, right), late + more
        case _:
            return pattern, ()


def split_union(
    pattern: TefPattern, events: TefPattern, outer: frozenset[Variable]
) -> tuple[TefPattern, TefPattern] | None:
    """A fact pattern as two, one for each side of a UNION in it that has expressions which may have to wait: each side
    waits by itself. None if it has none, or if a variable that UNION drops would join one outside."""
    return _split(pattern, away_from(events, outer), outer | bound(events))


def _split(
    pattern: TefPattern, away: frozenset[Variable], outside: frozenset[Variable]
) -> tuple[TefPattern, TefPattern] | None:
    """`away` are the variables that may have no value yet, `outside` all that are bound around the pattern."""
    found: tuple[TefPattern, TefPattern] | None = None
    match pattern:
        case Either():
            dropped = (bound(pattern.left) | bound(pattern.right)) - bound(pattern)
            waits = any(_waits(side, away) for side in (pattern.left, pattern.right))
            return (pattern.left, pattern.right) if waits and not dropped & outside else None
        case Conjunction(left, right):
            if (found := _split(left, away, outside | all_variables(right))) is not None:
                return Conjunction(found[0], right), Conjunction(found[1], right)
            if (found := _split(right, away - bound(left), outside | all_variables(left))) is not None:
                return Conjunction(left, found[0]), Conjunction(left, found[1])
        case Test() | Assignment() | Times():
            own = all_variables(pattern) - all_variables(pattern.pattern)
            if (found := _split(pattern.pattern, away, outside | own)) is not None:
                return replace(pattern, pattern=found[0]), replace(pattern, pattern=found[1])
        case _:
            pass
    return found


def _waits(pattern: TefPattern, away: frozenset[Variable]) -> bool:
    """Whether a side of a UNION has expressions that may have to wait."""
    return bool(lifted(pattern, away)[1]) or _split(pattern, away, frozenset()) is not None


def away_from(events: TefPattern, outer: frozenset[Variable]) -> frozenset[Variable]:
    """The variables that may have no value yet when events are there."""
    return (outer - bound(events)) | assigned_variables(events)


def asked_from(pattern: Absent, away: frozenset[Variable]) -> frozenset[Variable]:
    """What WITHOUT asks for that may have no value yet."""
    return all_variables(pattern.right) & (away - bound(pattern.left))


def assigned_variables(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that a pattern computes: they may wait for others."""
    return frozenset(node.variable for node in nodes(pattern) if isinstance(node, Assignment))


def is_simple(pattern: TefPattern) -> bool:
    """Whether a fact pattern is one triple, its times perhaps bound: then each fact has its turn itself."""
    return isinstance(pattern, TriplePattern) or (isinstance(pattern, Times) and is_simple(pattern.pattern))


def certain(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that every instance of a pattern binds, before anything that waits."""
    match pattern:
        case TriplePattern():
            return bound(pattern)
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
