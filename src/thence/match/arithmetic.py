"""`+ - * / %` on terms (17.3; F&O, 10.6 to 10.8), and the constructors of XML Schema's types (17.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from thence.algebra.expressions import Operation
from thence.match.context import ExpressionError
from thence.rdf import numbers
from thence.rdf.dates import (
    XSD_DAY_TIME_DURATION,
    XSD_DURATION,
    XSD_YEAR_MONTH_DURATION,
    Date,
    DateTime,
    Duration,
    PartialDate,
    Time,
    add_duration,
    add_to_date,
    add_to_time,
    seconds_between,
)
from thence.rdf.numbers import EXACT, Number
from thence.rdf.terms import IRI, XSD, XSD_STRING, Literal, Term
from thence.rdf.values import (
    INTEGER_RANGES,
    XSD_BOOLEAN,
    XSD_DATE,
    XSD_DATE_TIME,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_FLOAT,
    XSD_TIME,
    LangString,
    Value,
    is_number,
    literal,
    parse,
    value,
)

# `+ - * / %` on terms (17.3): numbers, and dates with durations as XPath has them (F&O, 10.6 – 10.8).


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
        raise ExpressionError(f"{term} is not a number")
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
        return written(_on_time(operation, a, b))
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
        case ((Operation.MULTIPLY | Operation.DIVIDE | Operation.QUOTIENT), Duration(), _) if is_number(b):
            return _scaled(a, b, divide=operation is not Operation.MULTIPLY)
        case Operation.MULTIPLY, _, Duration() if is_number(a):
            return _scaled(b, a, divide=False)
        case Operation.DIVIDE, Duration(), Duration():
            return _ratio(a, b)
        case Operation.QUOTIENT, Duration(datatype=kind), Duration() if kind == b.datatype == XSD_DAY_TIME_DURATION:
            return float(Fraction(a.seconds) / Fraction(b.seconds))
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
    """The sum of two durations of one type. Months and days of different signs are no xsd:duration."""
    if a.datatype != b.datatype or a.datatype == XSD_DURATION:
        raise ExpressionError(
            "durations can be added only if both are xsd:dayTimeDuration or both xsd:yearMonthDuration"
        )
    return Duration(a.months + b.months, EXACT.add(a.seconds, b.seconds), a.datatype)


def _scaled(duration: Duration, by: Number, *, divide: bool) -> Duration:
    """The product or quotient; months are rounded to whole ones, halves up (F&O, 10.6.3)."""
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
        raise ExpressionError(
            "durations can be divided only if both are xsd:dayTimeDuration or both xsd:yearMonthDuration"
        )
    if a.datatype == XSD_DAY_TIME_DURATION:
        return numbers.divide(a.seconds, b.seconds)
    return numbers.divide(a.months, b.months)


def negated(term: Term) -> Literal:
    """`-term`; of a duration too."""
    found = known_value(term)
    return written(_negated(found) if isinstance(found, Duration) else numbers.negate(number(term)))


# Casting, by the constructors of XML Schema's types (17.5; XPath F&O, section 17.1).


def cast(datatype: str, term: Term) -> Literal:
    """The constructor function `datatype(term)`.

    >>> print(cast(XSD + "integer", Literal("3.7", XSD_DECIMAL)), cast(XSD_STRING, Literal("1.50", XSD_DECIMAL)))
    "3"^^<http://www.w3.org/2001/XMLSchema#integer> "1.5"
    """
    if datatype == XSD_STRING:
        return Literal(_to_string(term))
    target = _TARGETS.get(datatype)
    if target is None:
        raise ExpressionError(f"there is no function <{datatype}>")
    given = value(term) if isinstance(term, Literal) else None
    if isinstance(given, str):
        found = parse(" ".join(given.split()), datatype)
    elif given is None or isinstance(given, LangString):
        found = None
    else:
        found = target(given)
    if found is None:
        raise ExpressionError(f"{term} can't be cast to <{datatype}>")
    return Literal(written(found).value, datatype)


def _to_string(term: Term) -> str:
    match term:
        case IRI():
            return term.value
        case Literal():
            found = value(term)
            if found is None or isinstance(found, str | LangString):
                return term.value  # without a value only the form is left, as in XPath's untyped data
            return numbers.cast_to_string(found) if is_number(found) else written(found).value
        case _:
            raise ExpressionError("a blank node can't be cast to a string")


def _to_boolean(given: Value) -> bool | None:
    if is_number(given):
        return not (given == 0 or (isinstance(given, float) and math.isnan(given)))
    return given if isinstance(given, bool) else None


def _to_integer(given: Value) -> int | None:
    try:
        return numbers.to_integer(given) if isinstance(given, int | Decimal | float) else None
    except ValueError:
        return None


def _ranged(least: int | None, most: int | None) -> Callable[[Value], int | None]:
    def ranged(given: Value) -> int | None:
        found = _to_integer(given)
        if found is None or (least is not None and found < least) or (most is not None and found > most):
            return None
        return found

    return ranged


def _to_decimal(given: Value) -> Decimal | None:
    try:
        return numbers.to_decimal(given) if isinstance(given, int | Decimal | float) else None
    except ValueError:
        return None


def _to_double(given: Value) -> float | None:
    return numbers.to_double(given) if isinstance(given, int | Decimal | float) else None


def _to_float(given: Value) -> float | None:
    return numbers.to_single(given) if isinstance(given, int | Decimal | float) else None


def _to_date_time(given: Value) -> DateTime | None:
    match given:
        case DateTime():
            return given
        case Date():
            return DateTime(given.year, given.month, given.day, zone=given.zone)
        case _:
            return None


def _to_date(given: Value) -> Date | None:
    return Date(given.year, given.month, given.day, given.zone) if isinstance(given, DateTime | Date) else None


def _to_time(given: Value) -> Time | None:
    return Time(given.hour, given.minute, given.second, given.zone) if isinstance(given, DateTime | Time) else None


def _to_part(*, year: bool = False, month: bool = False, day: bool = False) -> Callable[[Value], PartialDate | None]:
    def part(given: Value) -> PartialDate | None:
        if isinstance(given, PartialDate):
            shape = (given.year is not None, given.month is not None, given.day is not None)
            return given if shape == (year, month, day) else None
        if not isinstance(given, DateTime | Date):
            return None
        return PartialDate(
            given.year if year else None, given.month if month else None, given.day if day else None, given.zone
        )

    return part


def _to_duration(datatype: str) -> Callable[[Value], Duration | None]:
    def duration(given: Value) -> Duration | None:
        if not isinstance(given, Duration):
            return None
        months = 0 if datatype == XSD_DAY_TIME_DURATION else given.months
        seconds = Decimal(0) if datatype == XSD_YEAR_MONTH_DURATION else given.seconds
        return Duration(months, seconds, datatype)

    return duration


_TARGETS: dict[str, Callable[[Value], Value | None]] = {
    XSD_BOOLEAN: _to_boolean,
    XSD_DECIMAL: _to_decimal,
    XSD_DOUBLE: _to_double,
    XSD_FLOAT: _to_float,
    XSD_DATE_TIME: _to_date_time,
    XSD_DATE: _to_date,
    XSD_TIME: _to_time,
    XSD + "gYear": _to_part(year=True),
    XSD + "gYearMonth": _to_part(year=True, month=True),
    XSD + "gMonth": _to_part(month=True),
    XSD + "gMonthDay": _to_part(month=True, day=True),
    XSD + "gDay": _to_part(day=True),
}
_TARGETS |= {datatype: _ranged(least, most) for datatype, (least, most) in INTEGER_RANGES.items()}
_TARGETS |= {name: _to_duration(name) for name in (XSD_DURATION, XSD_DAY_TIME_DURATION, XSD_YEAR_MONTH_DURATION)}

CASTS = frozenset({XSD_STRING, *_TARGETS})
"""The datatypes that have a constructor."""
