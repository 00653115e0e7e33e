"""`+ - * / %` on terms (17.3): numbers, and dates with durations as XPath has them (F&O, 10.6 – 10.8)."""

from __future__ import annotations

from decimal import Decimal

from thence.algebra.expressions import Operation
from thence.match.expression_errors import ExpressionError
from thence.rdf import numbers
from thence.rdf.dates import (
    XSD_DAY_TIME_DURATION,
    XSD_DURATION,
    Date,
    DateTime,
    Duration,
    Time,
    add_duration,
    add_to_date,
    add_to_time,
    seconds_between,
)
from thence.rdf.numbers import EXACT, Number
from thence.rdf.terms import Literal, Term
from thence.rdf.values import Value, is_number, literal, value


def _quotient(left: Number, right: Number) -> Number:
    return numbers.to_double(left) / numbers.to_double(right)


_ON_NUMBERS = {
    Operation.ADD: numbers.add,
    Operation.SUBTRACT: numbers.subtract,
    Operation.MULTIPLY: numbers.multiply,
    Operation.DIVIDE: numbers.divide,
    Operation.QUOTIENT: _quotient,
    Operation.REMAINDER: numbers.remainder,
}


def number(term: Term) -> Number:
    """The number a term is."""
    found = value(term) if isinstance(term, Literal) else None
    if not is_number(found):
        raise ExpressionError(f"{term} is no number")
    return found


def known_value(term: Term) -> Value:
    """The value a literal has."""
    found = value(term) if isinstance(term, Literal) else None
    if found is None:
        raise ExpressionError(f"{term} has no value")
    return found


def written(value: Value) -> Literal:
    """The literal of a value; an error where it would be longer than any limit."""
    try:
        return literal(value)
    except OverflowError as error:
        raise ExpressionError(str(error)) from None


def compute(operation: Operation, left: Term, right: Term) -> Literal:
    """`left operation right`.

    >>> one, two = Literal("1", "http://www.w3.org/2001/XMLSchema#integer"), Literal("2.50", "http://www.w3.org/2001/XMLSchema#decimal")
    >>> print(compute(Operation.ADD, one, two))
    "3.5"^^<http://www.w3.org/2001/XMLSchema#decimal>
    """
    a, b = known_value(left), known_value(right)
    try:
        if is_number(a) and is_number(b):
            return written(_ON_NUMBERS[operation](a, b))
        return written(_on_time(Operation.DIVIDE if operation is Operation.QUOTIENT else operation, a, b))
    except ZeroDivisionError:
        raise ExpressionError(f"{left} is divided by zero") from None


def _on_time(operation: Operation, a: Value, b: Value) -> Value:
    match operation, a, b:
        case Operation.ADD, DateTime() | Date() | Time(), Duration():
            return _moved(a, b)
        case Operation.ADD, Duration(), DateTime() | Date() | Time():
            return _moved(b, a)
        case Operation.SUBTRACT, DateTime() | Date() | Time(), Duration():
            return _moved(a, _negated(b))
        case Operation.SUBTRACT, (DateTime() | Date() | Time()) as later, (DateTime() | Date() | Time()) as earlier:
            if type(later) is type(earlier):
                return seconds_between(later, earlier)
        case Operation.ADD, Duration(), Duration():
            return _sum(a, b)
        case Operation.SUBTRACT, Duration(), Duration():
            return _sum(a, _negated(b))
        case ((Operation.MULTIPLY | Operation.DIVIDE), Duration(), _) if is_number(b):
            return _scaled(a, b, divide=operation is Operation.DIVIDE)
        case Operation.MULTIPLY, _, Duration() if is_number(a):
            return _scaled(b, a, divide=False)
        case Operation.DIVIDE, Duration(), Duration():
            return _ratio(a, b)
    raise ExpressionError(f"there is no {operation.value} for these types")


def _moved(moment: DateTime | Date | Time, duration: Duration) -> Value:
    match moment:
        case DateTime():
            return add_duration(moment, duration)
        case Date():
            return add_to_date(moment, duration)
        case Time():
            if duration.months:
                raise ExpressionError("a time of day has no months to add to")
            return add_to_time(moment, duration)


def _negated(duration: Duration) -> Duration:
    return Duration(-duration.months, duration.seconds.copy_negate(), duration.datatype)


def _sum(a: Duration, b: Duration) -> Duration:
    """Of two of one type: months and days together may be of different signs, which no xsd:duration has."""
    if a.datatype != b.datatype or a.datatype == XSD_DURATION:
        raise ExpressionError("only two xsd:dayTimeDuration or two xsd:yearMonthDuration can be added")
    return Duration(a.months + b.months, EXACT.add(a.seconds, b.seconds), a.datatype)


def _scaled(duration: Duration, by: Number, *, divide: bool) -> Duration:
    """Months are rounded to whole ones, halves up (F&O, 10.6.3)."""
    if duration.datatype == XSD_DURATION:
        raise ExpressionError("only an xsd:dayTimeDuration or xsd:yearMonthDuration can be multiplied or divided")
    try:
        factor = numbers.to_decimal(by)
    except ValueError as error:
        raise ExpressionError(str(error)) from None
    operation = numbers.divide if divide else numbers.multiply
    if duration.datatype == XSD_DAY_TIME_DURATION:
        return Duration(0, Decimal(operation(duration.seconds, factor)), duration.datatype)
    months = numbers.round_half_up(operation(Decimal(duration.months), factor))
    return Duration(int(months), Decimal(0), duration.datatype)


def _ratio(a: Duration, b: Duration) -> Number:
    if a.datatype != b.datatype or a.datatype == XSD_DURATION:
        raise ExpressionError("only two xsd:dayTimeDuration or two xsd:yearMonthDuration can be divided")
    if a.datatype == XSD_DAY_TIME_DURATION:
        return numbers.divide(a.seconds, b.seconds)
    return numbers.divide(a.months, b.months)


def negated(term: Term) -> Literal:
    """`-term`; of a duration too."""
    found = known_value(term)
    return written(_negated(found) if isinstance(found, Duration) else numbers.negate(number(term)))
