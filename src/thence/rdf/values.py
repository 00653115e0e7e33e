"""The values of literals, and comparison of terms by value: `=`, `<` (SPARQL 1.1, 17.3), ORDER BY (15.1)."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, TypeGuard

from thence.rdf import numbers
from thence.rdf.dates import (
    MOST_ZONE,
    XSD_DAY_TIME_DURATION,
    XSD_DURATION,
    XSD_YEAR_MONTH_DURATION,
    Date,
    DateTime,
    Duration,
    PartialDate,
    Time,
    parse_date,
    parse_date_time,
    parse_duration,
    parse_part,
    parse_time,
)
from thence.rdf.numbers import EXACT, MAX_DIGITS, Float, Number, promote
from thence.rdf.terms import IRI, XSD, XSD_STRING, BlankNode, Literal, Term

# The values of literals: `value` reads them, `literal` writes them.
#
# ===========================================  =======================================
# datatype                                     value
# ===========================================  =======================================
# xsd:integer and the types derived from it    `int`
# xsd:decimal                                  `Decimal`
# xsd:float, xsd:double                        `Float`, `float`
# xsd:boolean, xsd:string                      `bool`, `str`
# rdf:langString                               `LangString`
# xsd:dateTime, date, time, gYear …            `DateTime`, `Date`, `Time`, `PartialDate`
# xsd:duration and its two derived types       `Duration`
# any other, and ill-typed literals            None: there is no value
# ===========================================  =======================================

XSD_INTEGER = XSD + "integer"
XSD_DECIMAL = XSD + "decimal"
XSD_FLOAT = XSD + "float"
XSD_DOUBLE = XSD + "double"
XSD_BOOLEAN = XSD + "boolean"
XSD_DATE_TIME = XSD + "dateTime"
XSD_DATE = XSD + "date"
XSD_TIME = XSD + "time"


@dataclass(frozen=True, slots=True)
class LangString:
    """A text in a language."""

    text: str
    language: str


Value: TypeAlias = Number | bool | str | LangString | DateTime | Date | Time | PartialDate | Duration

INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
    XSD_INTEGER: (None, None),
    XSD + "nonPositiveInteger": (None, 0),
    XSD + "negativeInteger": (None, -1),
    XSD + "nonNegativeInteger": (0, None),
    XSD + "positiveInteger": (1, None),
    XSD + "long": (-(2**63), 2**63 - 1),
    XSD + "int": (-(2**31), 2**31 - 1),
    XSD + "short": (-(2**15), 2**15 - 1),
    XSD + "byte": (-(2**7), 2**7 - 1),
    XSD + "unsignedLong": (0, 2**64 - 1),
    XSD + "unsignedInt": (0, 2**32 - 1),
    XSD + "unsignedShort": (0, 2**16 - 1),
    XSD + "unsignedByte": (0, 2**8 - 1),
}
NUMERIC = frozenset({*INTEGER_RANGES, XSD_DECIMAL, XSD_FLOAT, XSD_DOUBLE})

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL = {"NaN": "nan", "INF": "inf", "+INF": "inf", "-INF": "-inf"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _parse_integer(text: str, least: int | None, most: int | None) -> int | None:
    if len(text) > MAX_DIGITS or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    within = (least is None or number >= least) and (most is None or number <= most)
    return number if within else None


def _parse_decimal(text: str) -> Decimal | None:
    if len(text) > MAX_DIGITS or not _DECIMAL.fullmatch(text):
        return None
    number = Decimal(text)
    return number if number else Decimal(0)  # a decimal has one zero; "-0.0" as a double is -0


def _parse_double(text: str) -> float | None:
    if text in _SPECIAL:
        return float(_SPECIAL[text])
    return float(text) if len(text) <= MAX_DIGITS and _DOUBLE.fullmatch(text) else None


def _parse_float(text: str) -> Float | None:
    if text in _SPECIAL:
        return Float(float(_SPECIAL[text]))
    if len(text) > MAX_DIGITS or not _DOUBLE.fullmatch(text):
        return None
    # such an exponent means zero or infinity
    exponent = re.split("[eE]", text)[-1] if "e" in text.lower() else "0"
    return numbers.nearest_single(Decimal(text)) if len(exponent) < 10 else Float(float(text))


_PARSERS: dict[str, Callable[[str], Value | None]] = {
    XSD_STRING: str,
    XSD_DECIMAL: _parse_decimal,
    XSD_DOUBLE: _parse_double,
    XSD_FLOAT: _parse_float,
    XSD_BOOLEAN: _BOOLEANS.get,
    XSD_DATE_TIME: parse_date_time,
    XSD_DATE: parse_date,
    XSD_TIME: parse_time,
}


def _ranged(least: int | None, most: int | None) -> Callable[[str], int | None]:
    return lambda text: _parse_integer(text, least, most)


def _part(name: str) -> Callable[[str], PartialDate | None]:
    return lambda text: parse_part(name, text)


def _duration(datatype: str) -> Callable[[str], Duration | None]:
    return lambda text: parse_duration(text, datatype)


_PARSERS |= {datatype: _ranged(least, most) for datatype, (least, most) in INTEGER_RANGES.items()}
_PARSERS |= {XSD + name: _part(name) for name in ("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay")}
_PARSERS |= {name: _duration(name) for name in (XSD_DURATION, XSD_DAY_TIME_DURATION, XSD_YEAR_MONTH_DURATION)}


def parse(text: str, datatype: str) -> Value | None:
    """The value of a lexical form in a datatype; None if it has no value, or the datatype is unknown."""
    parser = _PARSERS.get(datatype)
    return parser(text) if parser else None


def value(literal: Literal) -> Value | None:
    """The value of a literal; None if it is ill-typed or its datatype is unknown.

    >>> value(Literal("01", XSD_INTEGER)), value(Literal("300", XSD + "byte")), value(Literal("chat", language="fr"))
    (1, None, LangString(text='chat', language='fr'))
    """
    if literal.language is not None:
        return LangString(literal.value, literal.language)
    return parse(literal.value, literal.datatype)


MAX_TEXT = 1 << 24
"""Characters of a text that an expression makes: no event can hold a longer one, and doubling it soon ends memory."""


def literal(value: Value) -> Literal:
    """The literal of a value, in canonical form. OverflowError if that would exceed every limit.

    >>> print(literal(Decimal("2.50")), literal(True))
    "2.5"^^<http://www.w3.org/2001/XMLSchema#decimal> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
    """
    match value:
        case bool():
            return TRUE if value else FALSE
        case str():
            return Literal(value)
        case int() | Decimal() | float():
            return Literal(numbers.canonical(value), number_type(value))
        case LangString(text, language):
            return Literal(text, language=language)
        case Duration():
            if value.months.bit_length() > MAX_DIGITS * 3 or value.seconds.adjusted() > MAX_DIGITS:
                raise OverflowError("a duration is too long")
            return Literal(str(value), value.datatype)
        case DateTime():
            return Literal(str(value), XSD_DATE_TIME)
        case Date():
            return Literal(str(value), XSD_DATE)
        case Time():
            return Literal(str(value), XSD_TIME)
        case PartialDate():
            return Literal(str(value), XSD + _part_name(value))


def _part_name(part: PartialDate) -> str:
    names = (("Year", part.year), ("Month", part.month), ("Day", part.day))
    return "g" + "".join(name for name, number in names if number is not None)


def number_type(number: Number) -> str:
    """The IRI of a number's datatype."""
    match number:
        case Float():
            return XSD_FLOAT
        case float():
            return XSD_DOUBLE
        case Decimal():
            return XSD_DECIMAL
        case int():
            return XSD_INTEGER


TRUE = Literal("true", XSD_BOOLEAN)
FALSE = Literal("false", XSD_BOOLEAN)


def is_number(value: Value | None) -> TypeGuard[Number]:
    """Whether it is one of the four kinds of numbers (Python counts `True` among its integers)."""
    return isinstance(value, int | Decimal | float) and not isinstance(value, bool)


# Values as Python objects


def python(term: Term) -> object:
    """A term as a Python object: a number, bool, str, datetime, date, time or timedelta.

    An IRI, a blank node and a literal without a value give their text. Values that Python's own type cannot hold
    exactly (years beyond 9999, seconds finer than a microsecond, days in a time zone, months) keep the types of
    `thence.rdf.dates`.

    >>> python(Literal("2.50", XSD_DECIMAL)), python(Literal("2020-02-29T12:00:00Z", XSD_DATE_TIME))
    (Decimal('2.50'), datetime.datetime(2020, 2, 29, 12, 0, tzinfo=datetime.timezone.utc))
    """
    if not isinstance(term, Literal):
        return term.value
    known = value(term)
    match known:
        case None | LangString():
            return term.value
        case Float():
            return float(known)
        case DateTime() | Time() if _has_microseconds(known.second):
            second, microsecond = divmod(int(known.second.scaleb(6, EXACT)), 1_000_000)
            zone = None if known.zone is None else datetime.timezone(datetime.timedelta(minutes=known.zone))
            time = datetime.time(known.hour, known.minute, second, microsecond, zone)
            if isinstance(known, Time):
                return time
            year = known.year
            return datetime.datetime.combine(_date(known), time) if 1 <= year <= 9999 else known
        case Date() if known.zone is None and 1 <= known.year <= 9999:
            return _date(known)
        case Duration(months=0) if _has_microseconds(known.seconds) and known.seconds.copy_abs() < 86_400 * 10**9:
            return datetime.timedelta(microseconds=int(known.seconds.scaleb(6, EXACT)))
        case _:
            return known


def _date(value: Date | DateTime) -> datetime.date:
    return datetime.date(value.year, value.month, value.day)


def _has_microseconds(seconds: Decimal) -> bool:
    exact = seconds.scaleb(6, EXACT)
    return exact == exact.to_integral_value()


# Comparing terms by value: `=` and `<` (SPARQL 1.1, 17.3) and the order of ORDER BY (15.1).
#
# `equal` and `less` answer None for what SPARQL calls a type error.
#
# xsd:dateTime follows XPath with UTC as the implicit time zone, so that any two can be compared. The other dates and
# times are in no operator table of SPARQL and follow XML Schema: one with a zone and one without are neither equal
# nor
# different while they lie no more than 14 hours apart.

SortKey: TypeAlias = tuple[Any, ...]

_SECONDS_A_MONTH = Decimal(2_629_746)  # of a mean Gregorian year: orders durations that XML Schema leaves unordered


def equal(left: Term, right: Term) -> bool | None:
    """`left = right`: by value, else RDFterm-equal. None means a type error.

    Literals of two known types are different. A literal without a value equals itself; any other comparison with it is
    an error.

    >>> from thence.rdf.terms import XSD
    >>> one, unknown = Literal("1", XSD + "integer"), Literal("1", "http://example.org/inch")
    >>> equal(one, Literal("1.0", XSD + "decimal")), equal(one, Literal("1")), equal(one, unknown)
    (True, False, None)
    """
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return left == right
    if (left.language is None) != (right.language is None):
        return False  # no datatype's values have a language
    a, b = value(left), value(right)
    if a is None or b is None:
        return True if left == right else None
    return equal_values(a, b)


def equal_values(a: Value, b: Value) -> bool | None:
    """`=` of two values: False where they are of different kinds."""
    match a:
        case bool() | str() | LangString():
            return type(a) is type(b) and a == b
        case int() | Decimal() | float():
            if not is_number(b):
                return False
            x, y = promote(a, b)
            return x == y
        case DateTime():
            return isinstance(b, DateTime) and a.instant == b.instant
        case Duration():
            return isinstance(b, Duration) and (a.months, a.seconds) == (b.months, b.seconds)
        case Date() | Time() | PartialDate():
            if not _same_type(b, a):
                return False
            difference = _difference(a, b)
            return None if difference is None else difference == 0


def less(left: Term, right: Term) -> bool | None:
    """`left < right`: numbers, strings, booleans, dates, times and durations of one type. None means a type error."""
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return None
    a, b = value(left), value(right)
    return None if a is None or b is None else less_values(a, b)


def less_values(a: Value, b: Value) -> bool | None:
    """`<` of two values."""
    match a:
        case bool():
            return a < b if isinstance(b, bool) else None
        case str():
            return a < b if isinstance(b, str) else None
        case int() | Decimal() | float():
            if not is_number(b):
                return None
            x, y = promote(a, b)
            return x < y
        case DateTime():
            return a.instant < b.instant if isinstance(b, DateTime) else None
        case Duration():
            return _less_durations(a, b) if isinstance(b, Duration) else None
        case Date() | Time() | PartialDate():
            difference = _difference(a, b) if _same_type(b, a) else None
            return None if difference is None else difference < 0
        case LangString():
            return None


_Partial: TypeAlias = Date | Time | PartialDate


def _same_type(b: Value, a: _Partial) -> TypeGuard[_Partial]:
    return type(a) is type(b) and (
        not isinstance(a, PartialDate) or not isinstance(b, PartialDate) or _shape(a) == _shape(b)
    )


def _difference(a: _Partial, b: _Partial) -> Decimal | None:
    """a - b in seconds; None if it depends on the missing zone of one."""
    seconds = EXACT.subtract(a.instant, b.instant)
    decided = (a.zone is None) == (b.zone is None) or seconds.copy_abs() > MOST_ZONE
    return seconds if decided else None


def _shape(part: PartialDate) -> tuple[bool, bool, bool]:
    return part.year is None, part.month is None, part.day is None


def _less_durations(a: Duration, b: Duration) -> bool | None:
    if a.datatype == b.datatype == XSD_DAY_TIME_DURATION:
        return a.seconds < b.seconds
    return a.months < b.months if a.datatype == b.datatype == XSD_YEAR_MONTH_DURATION else None


# ORDER BY


def order_key(term: Term | None) -> SortKey:
    """A sort key for the order of 15.1 (unbound, blank nodes, IRIs, literals), extended to a total preorder.

    Literals that are equal by value have one key, so that the next condition decides. Numbers are compared exactly, NaN
    is the least. Literals without a value come last.
    """
    if term is None:
        return (0,)
    if isinstance(term, BlankNode):
        return (1, term.value)
    if isinstance(term, IRI):
        return (2, term.value)
    known = value(term)
    if known is None:
        return (3, 99, term.datatype, term.value)
    return (3, *_value_key(known))


def _value_key(known: Value) -> SortKey:
    match known:
        case bool():
            return 1, known
        case int() | Decimal() | float():
            return 0, *_number_key(known)
        case str():
            return 2, known
        case LangString():
            return 3, known.text, known.language
        case DateTime():
            return 4, known.instant
        case Date():
            return 5, known.instant
        case Time():
            return 6, known.instant
        case PartialDate():
            return 7, _shape(known), known.instant
        case Duration():
            months = EXACT.multiply(_SECONDS_A_MONTH, Decimal(known.months))
            return 8, EXACT.add(months, known.seconds), known.months


def _number_key(number: Number) -> SortKey:
    return (0,) if isinstance(number, float) and math.isnan(number) else (1, number)


def tie_key(term: Term | None) -> SortKey:
    """A sort key by which no two terms are equal: it orders the rows that ORDER BY leaves open."""
    if term is None:
        return (0,)
    if isinstance(term, Literal):
        return (3, term.value, term.datatype, term.language or "")
    return (1 if isinstance(term, BlankNode) else 2, term.value)


def total_key(term: Term | None) -> SortKey:
    """A key that sorts as ORDER BY does, and terms of equal value by their texts."""
    return (*order_key(term), *tie_key(term))
