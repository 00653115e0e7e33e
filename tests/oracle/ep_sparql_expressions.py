"""Expressions of EP-SPARQL: SPARQL's (C-28), the time functions (EP-29 to EP-34) and aggregates over members.

None is an error, also that of a variable without a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from typing import TypeAlias, assert_never

from oracle.ep_sparql_query import (
    Aggregate,
    And,
    Arithmetic,
    Bound,
    Coalesce,
    Compare,
    Exists,
    Expression,
    Group,
    If,
    Not,
    Or,
    TimeFunction,
    full,
)
from oracle.expressions import Number, Value, calculate, compare, effective, number, total
from oracle.floating import canonical
from oracle.terms import Blank, Iri, Literal, Term, Var

Time: TypeAlias = int | float
"""A tick, or one of the two infinities of timeless solutions (EP-35)."""


@dataclass(frozen=True)
class Scope:
    """What an expression sees: a mapping, its interval, the members of its group, and how EXISTS is answered."""

    mapping: Mapping[str, Term]
    start: Time
    end: Time
    exists: Callable[[Group, Scope], bool]
    members: tuple[Scope, ...] = ()


def holds(expression: Expression, scope: Scope) -> bool:
    """Does a FILTER let it through? An error does not."""
    return truth(expression, scope) is True


def truth(expression: Expression, scope: Scope) -> bool | None:
    """The effective boolean value; `&&`, `||` and `!` in SPARQL's logic of three values."""
    match expression:
        case And(left, right):
            sides = {truth(left, scope), truth(right, scope)}
            return False if False in sides else None if None in sides else True
        case Or(left, right):
            sides = {truth(left, scope), truth(right, scope)}
            return True if True in sides else None if None in sides else False
        case Not(operand):
            found = truth(operand, scope)
            return None if found is None else not found
        case _:
            return effective(value(expression, scope))


def value(expression: Expression, scope: Scope) -> Value | None:
    match expression:
        case Iri() | Blank() | Literal():
            return _read(expression)
        case Var(name):
            found = scope.mapping.get(name)
            return None if found is None else _read(found)
        case And() | Or() | Not():
            return truth(expression, scope)
        case Bound(variable):
            return variable.name in scope.mapping
        case Coalesce(several):
            values = (value(operand, scope) for operand in several)
            return next((found for found in values if found is not None), None)
        case If(condition, then, otherwise):
            judged = truth(condition, scope)
            return None if judged is None else value(then if judged else otherwise, scope)
        case Compare(operator, left, right):
            return compare(operator, value(left, scope), value(right, scope))
        case Arithmetic(operator, left, right):
            return calculate(operator, number(value(left, scope)), number(value(right, scope)))
        case TimeFunction():
            return time(expression, scope)
        case Exists(group):
            return scope.exists(group, scope)
        case Aggregate():
            return aggregate(expression, scope.members)
        case _:
            assert_never(expression)


def _read(term: Term) -> Value:
    return term.lexical == "true" if isinstance(term, Literal) and term.datatype == "boolean" else term


def time(function: TimeFunction, scope: Scope) -> Number | None:
    """Ticks (EP-30). Of a timeless solution an error (EP-33). NOW() is getENDTIME() (EP-34)."""
    if isinf(scope.end):
        return None
    match function:
        case TimeFunction.DURATION:
            ticks = scope.end - scope.start
        case TimeFunction.START:
            ticks = scope.start
        case TimeFunction.END | TimeFunction.NOW:
            ticks = scope.end
    return Number(Fraction(ticks), integer=True)


def term(found: Value | None) -> Term | None:
    """A value as a term. Numbers are in their shortest form; a decimal without an end is written as a fraction."""
    match found:
        case bool():
            return Literal("true" if found else "false", "boolean")
        case Number(float() as inexact, _, datatype):
            return Literal(canonical(inexact, datatype), datatype)
        case Number(Fraction() as exact, integer):
            return Literal(str(exact.numerator) if integer else _decimal(exact), "integer" if integer else "decimal")
        case _:
            return found


def _decimal(exact: Fraction) -> str:
    """
    >>> _decimal(Fraction(3, 8)), _decimal(Fraction(4, 2)), _decimal(Fraction(-5, 3))
    ('0.375', '2', '-5/3')
    """
    digits = next((count for count in range(40) if (exact * 10**count).denominator == 1), None)
    if digits is None or digits == 0:
        return str(exact)
    whole, rest = divmod(abs(exact.numerator) * 10**digits // exact.denominator, 10**digits)
    return f"{'-' if exact < 0 else ''}{whole}.{rest:0{digits}}"


def aggregate(of: Aggregate, members: tuple[Scope, ...]) -> Value | None:
    """SPARQL 1.1, 18.5.1. COUNT leaves errors out; the others are errors if one member's value is."""
    if of.operand is None:
        return _whole(len(members))
    values = [term(value(of.operand, member)) for member in members]
    if of.distinct:
        values = list(dict.fromkeys(values))
    bound = [found for found in values if found is not None]
    if of.function == "COUNT":
        return _whole(len(bound))
    if len(bound) < len(values):
        return None
    match of.function:
        case "SUM":
            return total(bound)
        case "AVG":
            return total(bound, average=True)
        case "MIN":
            return _read(min(bound, key=rank))
        case "MAX":
            return _read(max(bound, key=rank))
    raise ValueError(of.function)


def _whole(count: int) -> Number:
    return Number(Fraction(count), integer=True)


Rank: TypeAlias = tuple[int, tuple[bool, Fraction | float], str, str]

ZERO = (True, Fraction(0))


def order(found: Term | None) -> Rank:
    """What ORDER BY compares: numbers that are equal have no order, and the next condition decides."""
    kind, value, first, second = rank(found)
    return (kind, value, "", "") if kind == 4 else (kind, value, first, second)


def rank(found: Term | None) -> Rank:
    """SPARQL's order (15.1): unbound, blank nodes, IRIs, literals; booleans, numbers, strings among these. NaN is the
    least number; equal numbers go by their texts."""
    match found:
        case None:
            return (0, ZERO, "", "")
        case Blank(label, event):
            return (1, ZERO, event, label)
        case Iri():
            return (2, ZERO, full(found), "")
        case Literal(lexical, "boolean"):
            return (3, ZERO, lexical, "")
        case Literal(lexical, "string"):
            return (5, ZERO, lexical, "")
        case Literal(lexical, "dateTime"):
            return (6, ZERO, lexical, "")
        case Literal(lexical, datatype):
            known = number(found)
            assert known is not None
            is_nan = known.value != known.value
            return (4, (not is_nan, 0 if is_nan else known.value), lexical, datatype)
        case _:
            assert_never(found)
