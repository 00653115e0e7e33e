"""Expressions of TEF-SPARQL: SPARQL's (C-28), now() and duration(); and the instants at which `now() op c` is true.

None is an error, also that of a variable without a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias, assert_never

from oracle.ep_sparql_expressions import rank as rank
from oracle.ep_sparql_expressions import term as term
from oracle.expressions import Number, Value, calculate, compare, effective, number
from oracle.tef_sparql_query import (
    And,
    Arithmetic,
    Bound,
    Coalesce,
    Compare,
    Duration,
    Expression,
    Not,
    Now,
    Or,
    every,
)
from oracle.terms import Iri, Literal, Term, Var


def holds(expression: Expression, mapping: Mapping[str, Term], now: int | None) -> bool:
    """Does a test let the mapping through? An error does not (TEF-59)."""
    return truth(expression, mapping, now) is True


def truth(expression: Expression, mapping: Mapping[str, Term], now: int | None) -> bool | None:
    """The effective boolean value; `&&`, `||` and `!` in SPARQL's logic of three values."""
    match expression:
        case And(left, right):
            sides = {truth(left, mapping, now), truth(right, mapping, now)}
            return False if False in sides else None if None in sides else True
        case Or(left, right):
            sides = {truth(left, mapping, now), truth(right, mapping, now)}
            return True if True in sides else None if None in sides else False
        case Not(operand):
            found = truth(operand, mapping, now)
            return None if found is None else not found
        case _:
            return effective(value(expression, mapping, now))


def value(expression: Expression, mapping: Mapping[str, Term], now: int | None) -> Value | None:
    match expression:
        case Iri() | Literal():
            return _read(expression)
        case Var(name):
            found = mapping.get(name)
            return None if found is None else _read(found)
        case And() | Or() | Not():
            return truth(expression, mapping, now)
        case Bound(variable):
            return variable.name in mapping
        case Coalesce(several):
            values = (value(operand, mapping, now) for operand in several)
            return next((found for found in values if found is not None), None)
        case Compare(operator, left, right):
            return compare(operator, value(left, mapping, now), value(right, mapping, now))
        case Arithmetic(operator, left, right):
            return calculate(operator, number(value(left, mapping, now)), number(value(right, mapping, now)))
        case Now():
            return None if now is None else Number(Fraction(now), integer=True)
        case Duration(start, end):
            return calculate("-", number(value(end, mapping, now)), number(value(start, mapping, now)))
        case _:
            assert_never(expression)


def _read(found: Term) -> Value:
    return found.lexical == "true" if isinstance(found, Literal) and found.datatype == "boolean" else found


# Comparisons with now() over facts (TEF-63, TEF-64)

Stretch: TypeAlias = tuple[int | None, int | None]
"""The instants from the first on and before the second; None is without bound."""

MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


def is_clip(expression: Expression) -> bool:
    """Is it `now() op c` or `c op now()`, where c does not name now()?"""
    if not isinstance(expression, Compare):
        return False
    sides = (expression.left, expression.right)
    return sum(side == Now() for side in sides) == 1 and sum(1 for _ in every(Now, sides)) == 1


def stretches(expression: Expression, mapping: Mapping[str, Term]) -> list[Stretch]:
    """The instants at which a comparison with now() is true; of an error none.

    >>> ten = Literal("10", "integer")
    >>> [stretches(Compare(operator, Now(), ten), {}) for operator in (">", ">=", "<", "<=", "=", "!=")]
    [[(11, None)], [(10, None)], [(None, 10)], [(None, 11)], [(10, 11)], [(None, 10), (11, None)]]
    """
    assert isinstance(expression, Compare)
    operator, other = expression.operator, expression.right
    if expression.right == Now():
        operator, other = MIRRORED[operator], expression.left
    found = number(value(other, mapping, None))
    if found is None:
        return [(None, None)] if operator == "!=" and value(other, mapping, None) is not None else []
    c = found.value
    whole = c.denominator == 1
    match operator:
        case ">":
            return [(floor(c) + 1, None)]
        case ">=":
            return [(ceil(c), None)]
        case "<":
            return [(None, ceil(c))]
        case "<=":
            return [(None, floor(c) + 1)]
        case "=":
            return [(int(c), int(c) + 1)] if whole else []
        case "!=":
            return [(None, int(c)), (int(c) + 1, None)] if whole else [(None, None)]
    raise ValueError(operator)
