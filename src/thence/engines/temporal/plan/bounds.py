"""Bounds from filters: conditions pushed to the smallest part of a group, and bounds on getDURATION() (EP-74 to
EP-77)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from thence.algebra.expressions import And, Call, Compare, Comparison, Exists, Expression
from thence.algebra.patterns import (
    Bgp,
    ChainOperator,
    Construct,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    Select,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.traversal import chain, conjuncts
from thence.algebra.variables import always_bound, mentioned, parts
from thence.engines.temporal.program import (
    DURATION,
    Assign,
    Combine,
    Either,
    Node,
    OptionalCombine,
    PathScan,
    Project,
    Restrict,
    Scan,
    Statement,
    Summarise,
    Timeless,
    Without,
)
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.terms import Literal
from thence.rdf.values import is_number, literal, value
from thence.relation.interval_table import UNBOUNDED, Relation

# Conditions of a group's FILTER move to the smallest part that binds all their variables (EP-SPARQL).

_OF_THE_ROW = frozenset({"GETDURATION", "GETSTARTTIME", "GETENDTIME", "NOW", "BNODE"})
"""Functions that differ from a part to the whole."""


def push_group_filters(statement: Select | Construct) -> Select | Construct:
    """The statement with its conditions pushed down. A variable that a part always binds keeps its value in all
    that the part is combined with, so the condition is decided there."""
    return replace(statement, where=_pushed(statement.where))


def _pushed(pattern: Pattern) -> Pattern:
    match pattern:
        case Filter():
            inner = _pushed(pattern.pattern)
            rest: list[Expression] = []
            for condition in conjuncts(pattern.condition):
                moved = _into(condition, inner) if _can_move(condition) else None
                if moved is None:
                    rest.append(condition)
                else:
                    inner = moved
            return Filter(chain(And, rest), inner) if rest else inner
        case Join() | Union() | Minus() | TemporalJoin() | LeftJoin():
            return replace(pattern, left=_pushed(pattern.left), right=_pushed(pattern.right))
        case Extend() | WindowPattern():
            return replace(pattern, pattern=_pushed(pattern.pattern))
        case SubSelect():
            return replace(pattern, select=replace(pattern.select, where=_pushed(pattern.select.where)))
        case Bgp() | Values() | Graph() | MatchPattern():
            return pattern


def _can_move(condition: Expression) -> bool:
    return not any(
        isinstance(part, Exists) or (isinstance(part, Call) and part.function in _OF_THE_ROW)
        for part in parts(condition)
    )


def _into(condition: Expression, pattern: Pattern) -> Pattern | None:
    """The pattern with a condition somewhere inside; None if no part of it decides the condition."""
    match pattern:
        case Join() | TemporalJoin(ChainOperator.SEQ | ChainOperator.EQUALS):
            if _decides(pattern.left, condition):
                return replace(pattern, left=_placed(condition, pattern.left))
            if _decides(pattern.right, condition):
                return replace(pattern, right=_placed(condition, pattern.right))
            return None
        case LeftJoin() | Minus() | TemporalJoin(ChainOperator.EQUALSOPTIONAL):
            if not _decides(pattern.left, condition):
                return None
            return replace(pattern, left=_placed(condition, pattern.left))
        case TemporalJoin():
            if not _decides(pattern.right, condition):
                return None
            return replace(pattern, right=_placed(condition, pattern.right))
        case Union():
            if not (_decides(pattern.left, condition) and _decides(pattern.right, condition)):
                return None
            return replace(pattern, left=_placed(condition, pattern.left), right=_placed(condition, pattern.right))
        case Filter() | Extend():
            moved = _into(condition, pattern.pattern) if _decides(pattern.pattern, condition) else None
            return None if moved is None else replace(pattern, pattern=moved)
        case _:
            return None


def _decides(pattern: Pattern, condition: Expression) -> bool:
    return mentioned(condition) <= always_bound(pattern)


def _placed(condition: Expression, pattern: Pattern) -> Pattern:
    """The condition inside a part that decides it, as deep as can be."""
    return _into(condition, pattern) or Filter(condition, pattern)


# Bounds on getDURATION() in filters, and their scope: a bound prunes every part of its group (EP-74 – EP-77).

_MICROSECONDS = 1_000_000
_REVERSED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_OR_EQUAL: Comparison.GREATER_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: Comparison.LESS_OR_EQUAL,
    Comparison.EQUAL: Comparison.EQUAL,
}


def duration_bounds(condition: Expression) -> tuple[Expression | None, int | None, int | None]:
    """A condition without its tests of getDURATION() alone, and the shortest and the longest duration that they allow,
    both inclusive; None means no bound."""
    rest: list[Expression] = []
    shortest: int | None = None
    longest: int | None = None
    for each in conjuncts(condition):
        found = _bounds(each)
        if found is None:
            rest.append(each)
            continue
        low, high = found
        shortest = low if shortest is None or (low is not None and low > shortest) else shortest
        longest = high if longest is None or (high is not None and high < longest) else longest
    return (chain(And, rest) if rest else None), shortest, longest


def _bounds(condition: Expression) -> tuple[int | None, int | None] | None:
    """The durations that one comparison allows; None if it is not a comparison of getDURATION() with a constant."""
    match condition:
        case Compare(comparison, left, Literal() as right) if left == DURATION:
            length = _length(right)
        case Compare(comparison, Literal() as left, right) if right == DURATION and comparison in _REVERSED:
            comparison, length = _REVERSED[comparison], _length(left)
        case _:
            return None
    if length is None:
        return None
    floor, is_whole = length.numerator // length.denominator, length.denominator == 1
    if not -(2**62) < floor < 2**62:
        return None
    match comparison:
        case Comparison.LESS:
            return None, floor - 1 if is_whole else floor
        case Comparison.LESS_OR_EQUAL:
            return None, floor
        case Comparison.GREATER:
            return floor + 1, None
        case Comparison.GREATER_OR_EQUAL:
            return floor if is_whole else floor + 1, None
        case Comparison.EQUAL:
            return (floor, floor) if is_whole else (1, 0)
        case _:
            return None


def _length(constant: Literal) -> Fraction | None:
    """A length of time in ticks or microseconds; None where it has no fixed length (EP-31)."""
    found = value(constant)
    if isinstance(found, Duration):
        return None if found.months else Fraction(found.seconds) * _MICROSECONDS
    if is_number(found) and not isinstance(found, float):
        return Fraction(found)
    return None


def comparable_duration(constant: Literal) -> Literal:
    """An xsd:duration without months as getDURATION() has it; one with months stays, and compares with nothing
    (EP-31)."""
    found = value(constant)
    if isinstance(found, Duration) and not found.months:
        return literal(Duration(0, found.seconds, XSD_DAY_TIME_DURATION))
    return constant


def useful_durations(
    nodes: Sequence[Node], statements: Sequence[Statement], whole: Collection[int] = ()
) -> tuple[int, ...]:
    """The longest useful duration of each node's solutions: a longer one can't become part of a row or a derived
    triple. The solutions of `whole` nodes are all useful: under a policy they are rivals."""
    found = [0] * len(nodes)
    for statement in statements:
        found[statement.root] = UNBOUNDED
        for known in statement.known:
            found[known] = UNBOUNDED
    for number in range(len(nodes) - 1, -1, -1):  # a node before its inputs
        own = found[number] = UNBOUNDED if number in whole else found[number]
        node = nodes[number]

        def allow(below: int, longest: int) -> None:
            found[below] = max(found[below], longest)

        match node:
            case Scan() | PathScan() | Timeless():
                pass
            case Combine() | Either():
                allow(node.left, own)
                allow(node.right, own)
            case OptionalCombine():
                # an outer bound removes a row and does not leave it bare (EP-77); equal intervals share it (EP-76)
                inner = (
                    UNBOUNDED if node.condition is None or node.condition.longest is None else node.condition.longest
                )
                allow(node.mandatory, own)
                allow(node.optional, min(inner, own) if node.relation is Relation.EQUALS else inner)
                for test in node.condition.exists if node.condition is not None else ():
                    allow(test.node, UNBOUNDED)
            case Without():
                allow(node.left, own)
                allow(node.right, UNBOUNDED)
            case Restrict() | Assign():
                longest = node.condition.longest if isinstance(node, Restrict) else None
                allow(node.input, own if longest is None else min(own, longest))
                for test in node.condition.exists:
                    allow(test.node, UNBOUNDED)
            case Project():
                allow(node.input, own)
            case Summarise():  # a group keeps all of its solutions, and a slice counts them
                allow(node.input, UNBOUNDED)
                for _, other in node.exists:
                    allow(other, UNBOUNDED)
    return tuple(found)
