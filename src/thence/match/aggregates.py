"""Grouping and aggregates (11, 18.5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias, assert_never

from thence.algebra.expressions import Aggregate, AggregateFunction, Exists, Expression, Variable
from thence.algebra.patterns import GroupKey
from thence.match.arithmetic import number, written
from thence.match.context import Context, Solution
from thence.match.expression_errors import ExpressionError, check_length
from thence.match.expression_evaluator import attempt
from thence.match.functions import str_
from thence.match.mappings import distinct
from thence.rdf import numbers
from thence.rdf.comparison import order_key, tie_key
from thence.rdf.exact_sums import sum_of
from thence.rdf.terms import IRI, Literal, Term
from thence.rdf.values import literal

Key: TypeAlias = tuple[Term | None, ...]
"""The values of the GROUP BY expressions; None: an error, or unbound."""


def group(keys: Sequence[GroupKey], solutions: Iterable[Solution], context: Context) -> dict[Key, list[Solution]]:
    """Group(exprlist, Ω): the solutions by the values of the keys, in the order in which the groups appear."""
    groups: dict[Key, list[Solution]] = {}
    for solution in solutions:
        key = tuple(attempt(item.expression, solution, context) for item in keys)
        groups.setdefault(key, []).append(solution)
    return groups


def aggregate(function: Aggregate, members: Sequence[Solution], context: Context) -> Term | None:
    """Aggregation(exprlist, func, scalarvals, Ω) for one group. None: an error."""
    try:
        return _aggregate(function, members, context)
    except ExpressionError:
        return None


def _aggregate(function: Aggregate, members: Sequence[Solution], context: Context) -> Term:
    if function.operand is None:
        return literal(sum(1 for _ in distinct(members)) if function.distinct else len(members))
    found: list[Term | None] = [attempt(function.operand, member, context) for member in members]
    if function.distinct:
        found = list(dict.fromkeys(found))
    values = [term for term in found if term is not None]
    match function.function:
        case AggregateFunction.COUNT:
            return literal(len(values))
        case AggregateFunction.SAMPLE:
            return _first(values)
        case _ if len(values) < len(found):
            raise ExpressionError("a member of the group has no value")
        case AggregateFunction.SUM:
            return written(sum_of(map(number, values)))
        case AggregateFunction.AVG:
            return written(numbers.divide(sum_of(map(number, values)), len(values)) if values else 0)
        case AggregateFunction.MIN:
            return min(values, key=total_key) if values else _first(values)
        case AggregateFunction.MAX:
            return max(values, key=total_key) if values else _first(values)
        case AggregateFunction.GROUP_CONCAT:
            separator = " " if function.separator is None else function.separator
            texts = [str_(term).value for term in values]
            check_length(sum(map(len, texts)) + len(separator) * len(texts))
            return Literal(separator.join(texts))
        case _:
            assert_never(function.function)


def _first(values: Sequence[Term]) -> Term:
    if not values:
        raise ExpressionError("the group is empty")
    return values[0]


def total_key(term: Term) -> tuple[Any, ...]:
    """By which MIN and MAX choose: the order of ORDER BY, and of equal ones that of their texts."""
    return (*order_key(term), *tie_key(term))


# Aggregates inside expressions (18.2.4.1): each becomes a variable agg_i, which the group then binds


class AggregateVariables:
    """The aggregates met in a query's expressions, each with the variable that stands for it."""

    def __init__(self, named: Iterable[Variable]) -> None:
        self.variables: dict[Aggregate, Variable] = {}
        self._named = frozenset(named)  # what a group has of its own: keys, and columns computed from it

    def lift(self, expression: Expression) -> Expression:
        """The expression with variables in place of its aggregates, and SAMPLE(?v) for a ?v of its members."""
        match expression:
            case Aggregate():
                return self._variable(expression)
            case Variable():
                own = expression in self._named
                return expression if own else self._variable(Aggregate(AggregateFunction.SAMPLE, expression))
            case IRI() | Literal() | Exists():
                return expression
            case _:
                changes = {
                    field.name: self._lift_field(getattr(expression, field.name)) for field in fields(expression)
                }
                return replace(expression, **changes)

    def _lift_field(self, found: Any) -> Any:
        if isinstance(found, tuple):
            return tuple(self.lift(item) for item in found)
        return self.lift(found) if isinstance(found, Expression) else found

    def _variable(self, found: Aggregate) -> Variable:
        # no query can write a name with a space in it
        return self.variables.setdefault(found, Variable(f"aggregate {len(self.variables)}"))

    def solution(self, members: Sequence[Solution], context: Context) -> Solution:
        """The values of all aggregates for one group."""
        found = {variable: aggregate(item, members, context) for item, variable in self.variables.items()}
        return {variable: term for variable, term in found.items() if term is not None}
