"""Expressions of RSEP-QL: SPARQL's (C-28), NOW() (RS-55) and aggregates over the members of a group.

None is an error, also that of a variable without a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import assert_never

from oracle.ep_sparql_expressions import Rank, order, rank, term
from oracle.expressions import Number, Value, calculate, compare, effective, number, total
from oracle.rsep_ql_query import (
    Aggregate,
    And,
    Apart,
    Arithmetic,
    Bound,
    Coalesce,
    Compare,
    Exists,
    Expression,
    Group,
    If,
    Not,
    Now,
    Or,
)
from oracle.terms import Blank, Iri, Literal, Term, Var


@dataclass(frozen=True)
class Scope:
    """What an expression sees: a mapping, the evaluation's time, how EXISTS is answered, the members of its group."""

    mapping: Mapping[str, Term]
    now: Literal
    exists: Callable[[Group, Mapping[str, Term]], bool]
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
        case Apart(operator, later, earlier, seconds):
            return compare(operator, elapsed(value(later, scope), value(earlier, scope)), _whole(seconds))
        case Arithmetic(operator, left, right):
            return calculate(operator, number(value(left, scope)), number(value(right, scope)))
        case Now():
            return scope.now
        case Exists(group):
            return scope.exists(group, scope.mapping)
        case Aggregate():
            return aggregate(expression, scope.members)
        case _:
            assert_never(expression)


def elapsed(later: Value | None, earlier: Value | None) -> Number | None:
    """The seconds between two dates."""
    match later, earlier:
        case Literal(end, "dateTime"), Literal(start, "dateTime"):
            between = datetime.fromisoformat(end) - datetime.fromisoformat(start)
            return _whole(round(between.total_seconds()))
        case _:
            return None


def _read(found: Term) -> Value:
    return found.lexical == "true" if isinstance(found, Literal) and found.datatype == "boolean" else found


def _whole(count: int) -> Number:
    return Number(Fraction(count), integer=True)


def aggregate(of: Aggregate, members: tuple[Scope, ...]) -> Value | None:
    """SPARQL 1.1, 18.5.1. COUNT leaves errors out; the others are errors if one member's value is. Of no members SUM
    and AVG are 0, MIN and MAX errors."""
    if of.operand is None:
        rows = [frozenset(member.mapping.items()) for member in members]
        return _whole(len(set(rows) if of.distinct else rows))
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
            return _read(min(bound, key=rank)) if bound else None
        case "MAX":
            return _read(max(bound, key=rank)) if bound else None
    raise ValueError(of.function)


__all__ = ["Rank", "Scope", "aggregate", "holds", "order", "rank", "term", "truth", "value"]
