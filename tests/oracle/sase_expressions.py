"""What expressions of SASE+ mean, on the events that a run has chosen."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from oracle.sase_query import (
    Aggregate,
    And,
    Arithmetic,
    Attribute,
    Compare,
    Constant,
    Event,
    Expression,
    Index,
    IsNull,
    Length,
    Not,
    Or,
    Span,
    Value,
    first_index,
    iterates,
)


@dataclass(frozen=True)
class Scope:
    """The events of each variable, and the i of each closure that has one."""

    events: Mapping[str, tuple[Event, ...]]
    indices: Mapping[str, int]


def holds(conjunct: Expression, scope: Scope) -> bool:
    """True, for every i of each closure that has none yet."""
    open_closures = [name for name in scope.events if name not in scope.indices and iterates(conjunct, name)]
    ranges = [range(first_index(conjunct, name), len(scope.events[name]) + 1) for name in open_closures]
    return all(
        evaluate(conjunct, Scope(scope.events, {**scope.indices, **dict(zip(open_closures, chosen, strict=True))}))
        is True
        for chosen in product(*ranges)
    )


def evaluate(expression: Expression, scope: Scope) -> Value:
    match expression:
        case Constant(value):
            return value
        case Attribute(variable, index, attribute):
            return _event(variable, index, scope)[attribute]
        case Length(variable):
            return len(scope.events[variable])
        case Aggregate(function, variable, attribute, _, k):
            assert variable is not None, "count(*) counts matches, and stands in AGGREGATE only"
            events = _events(expression, scope)
            return aggregate(function, [1 if attribute is None else event[attribute] for event in events], k)
        case Arithmetic(sign, left, right):
            return calculate(sign, evaluate(left, scope), evaluate(right, scope))
        case Compare(sign, left, right):
            return compare(sign, evaluate(left, scope), evaluate(right, scope))
        case IsNull(operand, negated):
            return (evaluate(operand, scope) is None) != negated
        case Not(operand):
            found = _truth(evaluate(operand, scope))
            return None if found is None else not found
        case And(left, right):
            both = (_truth(evaluate(left, scope)), _truth(evaluate(right, scope)))
            return False if False in both else None if None in both else True
        case Or(left, right):
            both = (_truth(evaluate(left, scope)), _truth(evaluate(right, scope)))
            return True if True in both else None if None in both else False


def _event(variable: str, index: Index, scope: Scope) -> Event:
    events = scope.events[variable]
    match index:
        case Index.PLAIN | Index.FIRST:
            return events[0]
        case Index.LAST:
            return events[-1]
        case Index.CURRENT:
            return events[scope.indices[variable] - 1]
        case Index.PREVIOUS:
            return events[scope.indices[variable] - 2]


def _events(of: Aggregate, scope: Scope) -> tuple[Event, ...]:
    assert of.variable is not None
    events = scope.events[of.variable]
    return events[: scope.indices[of.variable] - 1] if of.span is Span.BEFORE else events


def _truth(value: Value) -> bool | None:
    return value if isinstance(value, bool) else None


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(sign: str, left: Value, right: Value) -> bool | None:
    """Neither true nor false if a value is missing, or the two are of different kinds."""
    if _kind(left) is None or _kind(left) != _kind(right):
        return None
    return COMPARISONS[sign](left, right)


def _kind(value: Value) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "boolean"
        case str():
            return "string"
        case _:
            return "number"


def calculate(sign: str, left: Value, right: Value) -> Value:
    """Integers are exact; `/` gives a float, and nothing if the divisor is 0. Only numbers are calculated with."""
    if _kind(left) != "number" or _kind(right) != "number":
        return None
    assert isinstance(left, int | float) and isinstance(right, int | float)
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right if right else None
    raise ValueError(sign)


def aggregate(function: str, values: Iterable[Value], k: int | None = None) -> Value:
    """Over what is not missing. Of nothing, `count` is 0 and all others are missing."""
    given = [value for value in values if value is not None]
    if function == "count":
        return len(given)
    kinds = {_kind(value) for value in given}
    match function:
        case "first":
            return given[0] if given else None
        case "last":
            return given[-1] if given else None
        case "sum" | "avg":
            if kinds != {"number"}:
                return None
            total: Value = 0
            for value in given:
                total = calculate("+", total, value)
            return total if function == "sum" else calculate("/", total, len(given))
        case "min" | "lowest":
            return _ordered(given, kinds, k or 1)
        case "max" | "highest":
            return _ordered(given, kinds, -(k or 1))
    raise ValueError(function)


def _ordered(given: Sequence[Any], kinds: set[str | None], place: int) -> Value:
    """The value at a place counted from 1 upwards, or from -1 downwards. Values of different kinds have no order."""
    if len(kinds) != 1 or abs(place) > len(given):
        return None
    found: Value = sorted(given)[place - 1 if place > 0 else place]
    return found
