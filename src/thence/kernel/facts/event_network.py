"""Event pattern → the network of its nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

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
from thence.kernel.facts.event_instances import Stored
from thence.kernel.facts.event_nodes import (
    EitherNode,
    EventNode,
    FactEventNode,
    PairNode,
    StaticNode,
    Step,
    TestNode,
    TimesNode,
    TripleNode,
    WhileNode,
    WithoutEventsNode,
    WithoutFactsNode,
)
from thence.program.facts.kinds import Kinds, now_comparison


def event_node(pattern: TefPattern, kinds: Kinds, outer: frozenset[Variable] = frozenset()) -> EventNode:
    """The node of an event pattern. `outer` are the variables that are bound further to the left."""
    match pattern:
        case TriplePattern():
            return TripleNode(pattern, kinds)
        case Times():
            return TimesNode(event_node(pattern.pattern, kinds, outer), pattern)
        case Conjunction():
            if _is_static(pattern.right, kinds):
                known, steps = _facts_of(pattern.right, pattern.left, outer)
                return StaticNode(event_node(pattern.left, kinds, outer), known, steps)
            if _is_static(pattern.left, kinds):
                return _static_first(pattern.left, pattern.right, kinds, outer)
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
    """It waits for what is bound further to the left, and for what waits itself; what else has no value has none."""
    names = mentioned(expression) & (outer | _assigned(pattern))
    return TestNode(event_node(pattern, kinds, outer), variable, expression, names)


def _without(pattern: Absent, kinds: Kinds, outer: frozenset[Variable]) -> EventNode:
    sides = None if _is_event(pattern.right, kinds) else _split(pattern.right, pattern.left, outer)
    if sides is not None:
        return _without(Absent(Absent(pattern.left, sides[0]), sides[1]), kinds, outer)
    child = event_node(pattern.left, kinds, outer)
    known = bound_variables(pattern.left)
    further = all_variables(pattern.right) & ((outer - known) | _assigned(pattern.left))
    if kinds.of_pattern(pattern.right) is not Kind.EVENT:
        right, steps = _facts_of(pattern.right, pattern.left, outer)
        return WithoutFactsNode(child, right, further, steps)
    names = tuple(sorted(certain(pattern.left) & certain(pattern.right), key=str))
    absent = event_node(pattern.right, kinds, outer | known)
    return WithoutEventsNode(child, absent, Stored(names), further)


def all_variables(pattern: object) -> frozenset[Variable]:
    """Every variable that a pattern names, those of expressions included."""
    return frozenset(node for node in nodes(pattern) if isinstance(node, Variable))


def _related(pattern: Related, kinds: Kinds, outer: frozenset[Variable]) -> EventNode:
    if pattern.relation in (TemporalRelation.DURING, TemporalRelation.WITH):
        if (sides := _split(pattern.right, pattern.left, outer)) is not None:
            one, other = (_related(replace(pattern, right=side), kinds, outer) for side in sides)
            common = bound_variables(pattern.left) | bound_variables(pattern.right)
            return EitherNode(one, other, common, is_of_facts=True)
        child = event_node(pattern.left, kinds, outer)
        return _while(pattern.relation, child, pattern.right, _away(pattern.left, outer), kinds)
    if _is_static(pattern.left, kinds):  # older than everything
        return _static_first(pattern.left, pattern.right, kinds, outer)
    return _pair(pattern.relation, pattern.left, pattern.right, kinds, outer)


def _static_first(static: TefPattern, events: TefPattern, kinds: Kinds, outer: frozenset[Variable]) -> StaticNode:
    known, steps = _facts_of(static, None, outer)
    return StaticNode(event_node(events, kinds, outer | bound_variables(static)), known, steps)


def _facts_of(
    pattern: TefPattern, events: TefPattern | None, outer: frozenset[Variable]
) -> tuple[TefPattern, tuple[Step, ...]]:
    """A fact pattern that goes with events, without the expressions that may have to wait; and these (TEF-58)."""
    return _lifted(pattern, outer if events is None else _away(events, outer))


def _split(pattern: TefPattern, events: TefPattern, outer: frozenset[Variable]) -> tuple[TefPattern, TefPattern] | None:
    """The sides of a UNION of facts that has expressions which may have to wait: each side waits by itself. None if it
    has none, or if a variable that UNION drops would join one outside."""
    if not isinstance(pattern, Either):
        return None
    sides = (pattern.left, pattern.right)
    dropped = frozenset().union(*map(bound_variables, sides)) - bound_variables(pattern)
    waits = any(_lifted(side, _away(events, outer))[1] for side in sides)
    return sides if waits and not dropped & (outer | bound_variables(events)) else None


def _away(events: TefPattern, outer: frozenset[Variable]) -> frozenset[Variable]:
    """The variables that may have no value yet when events are there."""
    return (outer - bound_variables(events)) | _assigned(events)


def _while(
    relation: TemporalRelation, child: EventNode, pattern: TefPattern, away: frozenset[Variable], kinds: Kinds
) -> EventNode:
    """`E DURING F`, `E WITH F`. If F has a WITHOUT that may have to wait, it waits with E: E DURING (F1 WITHOUT F2) is
    (E DURING F1) WITHOUT F2, and E DURING (F1, F2) is (E DURING F1) DURING F2."""
    inner, steps = _lifted(pattern, away)
    gaps = [node for node in nodes(inner) if isinstance(node, Absent) and not _is_event(node.right, kinds)]
    if not any(_asked_from(gap, away) for gap in gaps):
        return WhileNode(relation, child, inner, steps)
    found: EventNode
    match inner:
        case Conjunction():
            left = _while(relation, child, inner.left, away, kinds)
            found = _while(relation, left, inner.right, away - bound_variables(inner.left), kinds)
        case Absent() if not _is_event(inner.right, kinds):
            further = _asked_from(inner, away)
            right, more = _lifted(inner.right, further)
            left = _while(relation, child, inner.left, away, kinds)
            found = WithoutFactsNode(left, right, further, more, is_at_start=relation is TemporalRelation.WITH)
        case _:
            found = WhileNode(relation, child, inner)
    for step in steps:
        found = TestNode(found, step.variable, step.expression, step.names)
    return found


def _asked_from(pattern: Absent, away: frozenset[Variable]) -> frozenset[Variable]:
    """What WITHOUT asks for that may have no value yet."""
    return all_variables(pattern.right) & (away - bound_variables(pattern.left))


def _lifted(pattern: TefPattern, away: frozenset[Variable]) -> tuple[TefPattern, tuple[Step, ...]]:
    match pattern:
        case Test() | Assignment():
            inner, steps = _lifted(pattern.pattern, away)
            is_test = isinstance(pattern, Test)
            expression = pattern.condition if isinstance(pattern, Test) else pattern.expression
            missing = mentioned(expression) & ((away - bound_variables(inner)) | _of_steps(steps))
            if not missing:
                return replace(pattern, pattern=inner), steps
            variable = None if isinstance(pattern, Test) else pattern.variable
            clock = now_comparison(expression) if is_test else None
            return inner, (*steps, Step(variable, expression, missing, None if clock is None else clock[0]))
        case Times():
            inner, steps = _lifted(pattern.pattern, away)
            return replace(pattern, pattern=inner), steps
        case Conjunction():
            left, steps = _lifted(pattern.left, away)
            right, more = _lifted(pattern.right, (away - bound_variables(left)) | _of_steps(steps))
            return Conjunction(left, right), steps + more
        case _:
            return pattern, ()


def _of_steps(steps: tuple[Step, ...]) -> frozenset[Variable]:
    return frozenset(step.variable for step in steps if step.variable is not None)


def _assigned(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that a pattern computes: they may wait for others."""
    return frozenset(node.variable for node in nodes(pattern) if isinstance(node, Assignment))


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


def _is_event(pattern: TefPattern, kinds: Kinds) -> bool:
    return kinds.of_pattern(pattern) is Kind.EVENT


def _is_static(pattern: TefPattern, kinds: Kinds) -> bool:
    return kinds.of_pattern(pattern) is Kind.STATIC
