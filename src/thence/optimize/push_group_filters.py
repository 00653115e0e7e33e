"""Conditions of a group's FILTER move to the smallest part that binds all their variables (EP-SPARQL)."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.chains import chain
from thence.algebra.expressions import And, Call, Exists, Expression
from thence.algebra.guarantees import always_bound
from thence.algebra.patterns import (
    Bgp,
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
    TemporalOperator,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.traversal import conjuncts
from thence.algebra.variables import mentioned, parts

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
        case Join() | TemporalJoin(TemporalOperator.SEQ | TemporalOperator.EQUALS):
            if _decides(pattern.left, condition):
                return replace(pattern, left=_placed(condition, pattern.left))
            if _decides(pattern.right, condition):
                return replace(pattern, right=_placed(condition, pattern.right))
            return None
        case LeftJoin() | Minus() | TemporalJoin(TemporalOperator.EQUALSOPTIONAL):
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
