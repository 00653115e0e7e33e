"""Event pattern → the network of its nodes."""

from __future__ import annotations

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
    TestNode,
    TimesNode,
    TripleNode,
    WhileNode,
    WithoutEventsNode,
    WithoutFactsNode,
)
from thence.program.facts.kinds import Kinds


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
