"""Comparing terms by value: `=` and `<` (SPARQL 1.1, 17.3) and the order of ORDER BY (15.1).

`equal` and `less` answer None for what SPARQL calls a type error.

xsd:dateTime follows XPath with UTC as the implicit time zone, so that any two can be compared. The other dates and
times stand in no operator table of SPARQL and follow XML Schema: one with a zone and one without are neither equal nor
different while they lie no more than 14 hours apart.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, TypeAlias, TypeGuard

from thence.rdf.dates import (
    MOST_ZONE,
    XSD_DAY_TIME_DURATION,
    XSD_YEAR_MONTH_DURATION,
    Date,
    DateTime,
    Duration,
    PartialDate,
    Time,
)
from thence.rdf.numbers import EXACT, Number, promote
from thence.rdf.terms import IRI, BlankNode, Literal, Term
from thence.rdf.values import LangString, Value, is_number, value

SortKey: TypeAlias = tuple[Any, ...]

_SECONDS_A_MONTH = Decimal(2_629_746)  # of a mean Gregorian year: orders durations that XML Schema leaves unordered


def equal(left: Term, right: Term) -> bool | None:
    """`left = right`: by value, else RDFterm-equal. None: a type error.

    Literals of two known types are different; one without a value is equal to itself, and nothing can be said beyond.

    >>> from thence.rdf.terms import XSD
    >>> one, unknown = Literal("1", XSD + "integer"), Literal("1", "http://example.org/inch")
    >>> equal(one, Literal("1.0", XSD + "decimal")), equal(one, Literal("1")), equal(one, unknown)
    (True, False, None)
    """
    if not isinstance(left, Literal) or not isinstance(right, Literal):
        return left == right
    if (left.language is None) != (right.language is None):
        return False  # whatever the other's datatype means, its values have no language
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
    """`left < right`: numbers, strings, booleans, dates, times and durations of one type. None: a type error."""
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
    """a - b in seconds; None where the missing zone of one decides what it is."""
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
    """A key that sorts as 15.1 says: unbound, blank nodes, IRIs, literals; and extends it to a total preorder.

    Literals that are equal by value have one key, so that the next condition decides. Numbers are compared exactly, NaN
    is the least of them. Literals without a value come last.
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
    """A key by which no two terms are equal: it settles the order among rows that ORDER BY leaves open."""
    if term is None:
        return (0,)
    if isinstance(term, Literal):
        return (3, term.value, term.datatype, term.language or "")
    return (1 if isinstance(term, BlankNode) else 2, term.value)
