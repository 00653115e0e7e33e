"""What expressions of SASE+ mean, on the events that a run has chosen."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cmp_to_key
from itertools import product
from typing import Any

from oracle import floating
from oracle.sase_query import (
    OWN,
    Aggregate,
    And,
    Arithmetic,
    Attribute,
    Call,
    Compare,
    Constant,
    Event,
    Expression,
    In,
    Index,
    IsNull,
    Key,
    Length,
    Like,
    Not,
    Or,
    Span,
    Value,
    first_index,
    iterates,
    spelt_out,
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
    chosen = [dict(zip(open_closures, each, strict=True)) for each in product(*ranges)]
    return all(
        truth(evaluate(conjunct, Scope(scope.events, {**scope.indices, **indices}))) is True for indices in chosen
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
        case In():
            return evaluate(spelt_out(expression), scope)
        case Like(operand, pattern, negated):
            text = evaluate(operand, scope)
            return like(text, pattern) != negated if isinstance(text, str) else None
        case Call(function, arguments):
            return call(function, [evaluate(each, scope) for each in arguments])
        case Not(operand):
            found = truth(evaluate(operand, scope))
            return None if found is None else not found
        case And(left, right):
            both = (truth(evaluate(left, scope)), truth(evaluate(right, scope)))
            return False if False in both else None if None in both else True
        case Or(left, right):
            both = (truth(evaluate(left, scope)), truth(evaluate(right, scope)))
            return True if True in both else None if None in both else False


def of_event(key: Key, event: Event) -> Value:
    """What an event has as a key: an attribute, or what is computed of its own."""
    return event[key] if isinstance(key, str) else evaluate(key, Scope({OWN: (event,)}, {}))


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


def truth(value: Value) -> bool | None:
    """SPARQL's effective boolean value."""
    match value:
        case bool():
            return value
        case int() | float() | Decimal():
            return bool(value) and value == value
        case str():
            return value != ""
        case _:
            return None


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
    if kind_of(left) is None or kind_of(left) != kind_of(right):
        return None
    return COMPARISONS[sign](*_promoted(left, right))


def kind_of(value: Value) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "boolean"
        case str():
            return "string"
        case datetime():
            return "time"
        case timedelta():
            return "duration"
        case int() | float() | Decimal():
            return "number"


def _promoted(left: Any, right: Any) -> tuple[Any, Any]:
    """SPARQL's numeric promotion: beside a float, all numbers are floats; integers and decimals are exact."""
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    return left, right


def calculate(sign: str, left: Value, right: Value) -> Value:
    """Of numbers: integers and decimals are exact; `/` gives a float; `/` and `%` give nothing if the divisor is 0. Of
    times: what lies between two of them, and what is so much earlier or later."""
    kinds = kind_of(left), kind_of(right)
    one, other = _promoted(left, right) if kinds == ("number", "number") else (left, right)
    match sign, kinds:
        case "+", ("number", "number") | ("time", "duration") | ("duration", "time") | ("duration", "duration"):
            return one + other  # type: ignore[no-any-return]
        case "-", ("number", "number") | ("time", "time") | ("time", "duration") | ("duration", "duration"):
            return one - other  # type: ignore[no-any-return]
        case "*", ("number", "number"):
            return one * other  # type: ignore[no-any-return]
        case "/", ("number", "number"):
            return float(one) / float(other) if other else None
        case "*", ("duration", "number"):
            return _stretched(one, other)
        case "*", ("number", "duration"):
            return _stretched(other, one)
        case "/", ("duration", "number"):
            return _stretched(one, other, divides=True)
        case "/", ("duration", "duration"):
            return float(Fraction(one // MICRO, other // MICRO)) if other else None
        case "%", ("number", "number"):
            return _remainder(one, other) if other else None
    return None


MICRO = timedelta(microseconds=1)


def _stretched(length: timedelta, by: Any, *, divides: bool = False) -> Value:
    """A duration so many times as long, or as short: exact."""
    if not math.isfinite(by) or (divides and not by):
        return None
    exact = Fraction(length // MICRO) / Fraction(by) if divides else Fraction(length // MICRO) * Fraction(by)
    assert exact.denominator == 1, "Python has nothing shorter than a microsecond"
    return int(exact) * MICRO


def _remainder(left: Any, right: Any) -> Value:
    """What the quotient, cut off to an integer, leaves: of the dividend's sign."""
    if isinstance(left, float):
        return math.fmod(left, right) if math.isfinite(left) else math.nan
    exact = Fraction(left) - math.trunc(Fraction(left) / Fraction(right)) * Fraction(right)
    if isinstance(left, int) and isinstance(right, int):
        return int(exact)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def like(text: str, pattern: str) -> bool:
    """`%` is any text, `_` any character."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(like(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return text != "" and pattern[0] in ("_", text[0]) and like(text[1:], pattern[1:])


NUMERIC = ("abs", "ceil", "floor", "round")
OF_TEXTS = ("lower", "upper", "length", "contains", "starts_with", "ends_with")


def call(function: str, arguments: Sequence[Value]) -> Value:
    """Nothing, of values that the function is not for."""
    match function, arguments:
        case (("abs" | "ceil" | "floor" | "round"), [bool()]):
            return None
        case (("abs" | "ceil" | "floor" | "round"), [int() | float() | Decimal() as number]):
            return abs(number) if function == "abs" else _whole(function, number)
        case "lower", [str() as text]:
            return text.lower()
        case "upper", [str() as text]:
            return text.upper()
        case "length", [str() as text]:
            return len(text)
        case "contains", [str() as text, str() as part]:
            return part in text
        case "starts_with", [str() as text, str() as part]:
            return text.startswith(part)
        case "ends_with", [str() as text, str() as part]:
            return text.endswith(part)
    return None


def _whole(function: str, number: float | Decimal) -> Value:
    """Half of one is rounded up, as in SPARQL."""
    if not math.isfinite(number):
        return number
    exact = Decimal(number)
    match function:
        case "floor":
            return int(exact.to_integral_value(ROUND_FLOOR))
        case "ceil":
            return -int((-exact).to_integral_value(ROUND_FLOOR))
        case _:
            return int((exact + Decimal("0.5")).to_integral_value(ROUND_FLOOR))


def aggregate(function: str, values: Iterable[Value], k: int | None = None) -> Value:
    """Over what is not missing. Of nothing, `count` is 0 and all others are missing."""
    given = [value for value in values if value is not None]
    if function == "count":
        return len(given)
    kinds = {kind_of(value) for value in given}
    match function:
        case "first":
            return given[0] if given else None
        case "last":
            return given[-1] if given else None
        case "sum" | "avg":
            if kinds != {"number"}:
                return None
            return _total(given, len(given) if function == "avg" else None)
        case "min" | "lowest":
            return _ordered(given, kinds, k or 1)
        case "max" | "highest":
            return _ordered(given, kinds, -(k or 1))
    raise ValueError(function)


def _total(given: Sequence[Any], count: int | None) -> Value:
    """The exact sum, or the average, which is a float; rounded once (C-31)."""
    if count is not None or any(isinstance(value, float) for value in given):
        members = [value if isinstance(value, float) else Fraction(value) for value in given]
        return floating.total(members, "double", count or 1)
    return sum(given)


def _ordered(given: Sequence[Any], kinds: set[str | None], place: int) -> Value:
    """The value at a place counted from 1 upwards, or from -1 downwards. Values of different kinds have no order; what
    is not a number has no place in it."""
    placed = [value for value in given if value == value]
    if len(kinds) != 1 or abs(place) > len(placed):
        return None
    by_value = cmp_to_key(lambda one, other: bool(compare(">", one, other)) - bool(compare("<", one, other)))
    found: Value = sorted(placed, key=by_value)[place - 1 if place > 0 else place]
    return found
