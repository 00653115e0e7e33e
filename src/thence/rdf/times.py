"""The two time domains: ticks, which are plain integers, and dates, held as microseconds since 1970; both 64-bit."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from numbers import Integral
from typing import Final, NamedTuple

from thence.errors import InputError
from thence.rdf.dates import XSD_DAY_TIME_DURATION, date_from_epoch, days_from_epoch, days_in_month
from thence.rdf.dates import Duration as XsdDuration
from thence.rdf.dates import parse_duration as parse_xsd_duration
from thence.rdf.terms import XSD, XSD_STRING, Literal

MIN_TIME: Final = -(2**63)
MAX_TIME: Final = 2**63 - 1

FIRST_TIME: Final = MIN_TIME + 1
LAST_TIME: Final = MAX_TIME - 2
"""The first and the last time that an event can have. The remaining 64-bit numbers mean "before all" and "after
all".
"""

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_QUOTED = 60  # characters of a wrong text that an error shows

XSD_INTEGER = XSD + "integer"
XSD_DATE_TIME = XSD + "dateTime"
_INTEGER_TYPES = frozenset(
    XSD + name
    for name in (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        *("negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_DATE_TYPES = frozenset({XSD_DATE_TIME, XSD + "dateTimeStamp", XSD_STRING})


class Domain(Enum):
    """The kind of a stream's times. A query's streams are all of one domain."""

    TICKS = 0
    DATETIME = 1


class Instant(NamedTuple):
    """A point in time."""

    time: int
    domain: Domain


class Span(NamedTuple):
    """A length of time: ticks, or microseconds."""

    length: int
    domain: Domain


def parse_time(value: object) -> Instant:
    """A time from a Python integer (ticks), a datetime, ISO 8601 text, or a literal. Without a zone it is UTC.

    >>> parse_time(7)
    Instant(time=7, domain=<Domain.TICKS: 0>)
    >>> parse_time("1970-01-01 00:00:01.5").time
    1500000
    >>> parse_time(Literal("1970-01-01T01:00:00+01:00", XSD_DATE_TIME))
    Instant(time=0, domain=<Domain.DATETIME: 1>)
    """
    match value:
        case bool():
            raise InputError(f"{value} is not a time")
        case int() | Integral():
            return Instant(_in_range(int(value), str(value)), Domain.TICKS)
        case datetime():
            return Instant(_from_datetime(value), Domain.DATETIME)
        case str():
            return Instant(_from_text(value), Domain.DATETIME)
        case Literal():
            return _from_literal(value)
        case _:
            raise InputError(f"{_quote(str(value))} is not a time. Try: an integer, or {_EXAMPLE}")


_EXAMPLE = '"2024-05-06T07:00:00Z"'


def _from_literal(literal: Literal) -> Instant:
    if literal.datatype in _INTEGER_TYPES:
        return Instant(_from_digits(literal.value), Domain.TICKS)
    if literal.datatype in _DATE_TYPES:
        return Instant(_from_text(literal.value.strip(" \t\r\n")), Domain.DATETIME)
    raise InputError(f"{_quote(str(literal))} is not a time: a time is an xsd:integer or an xsd:dateTime")


def _from_digits(text: str) -> int:
    digits = text.strip(" \t\r\n")
    if not re.fullmatch(r"[+-]?[0-9]+", digits):
        raise InputError(f"{_quote(text)} is not an integer")
    sign = -1 if digits[0] == "-" else 1
    plain = digits.lstrip("+-").lstrip("0")[:30] or "0"  # 30 digits are out of range, so more need not be read
    return _in_range(sign * int(plain), text)


def _from_datetime(moment: datetime) -> int:
    if getattr(moment, "nanosecond", 0):  # a pandas Timestamp
        raise InputError(f"{moment} is finer than a microsecond")
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = aware - _EPOCH
    return since.days * _DAY + since.seconds * _SECOND + since.microseconds


_TEXT = re.compile(
    r"(-?(?:[0-9]{4}|[1-9][0-9]{4,5}))-([0-9]{2})-([0-9]{2})[T ]"
    r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,40}))?)?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)


def _from_text(text: str) -> int:
    found = _TEXT.fullmatch(text) if len(text) < 100 else None
    if not found:
        raise InputError(f"{_quote(text)} is not a time. Try: {_EXAMPLE}")
    year, month, day, hour, minute = (int(found[group]) for group in range(1, 6))
    second, fraction = int(found[6] or 0), found[7] or ""
    if fraction[6:].strip("0"):
        raise InputError(f"{_quote(text)} is finer than a microsecond")
    micro = int(fraction[:6].ljust(6, "0"))
    is_date = 1 <= month <= 12 and 1 <= day <= days_in_month(year, month)
    is_time = (hour < 24 and minute < 60 and second < 60) or (hour, minute, second, micro) == (24, 0, 0, 0)
    if not (is_date and is_time):
        raise InputError(f"{_quote(text)} is not a time: there is no such {'time of day' if is_date else 'day'}")
    seconds = days_from_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - _zone(found[8], text)
    return _in_range(seconds * _SECOND + micro, text)


def has_zone(text: str) -> bool:
    """Whether a text that is a time says its zone.

    >>> has_zone("2024-05-06T07:00Z"), has_zone("2024-05-06 07:00")
    (True, False)
    """
    found = _TEXT.fullmatch(text)
    return found is not None and found[8] is not None


def _zone(zone: str | None, text: str) -> int:
    """The offset of a zone from UTC, in seconds."""
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        raise InputError(f"{_quote(text)} is not a time: there is no zone {zone}")
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def evaluation_time(instant: Instant) -> Instant:
    """A time at which a query can be evaluated: any but the last, which means the open end of a fact.

    >>> evaluation_time(Instant(MAX_TIME, Domain.TICKS))
    Traceback (most recent call last):
    thence.errors.InputError: "9223372036854775807" is out of range: no evaluation is later than 9223372036854775806
    """
    if instant.time == MAX_TIME:
        shown, last = (format_time(each, instant.domain) for each in (MAX_TIME, MAX_TIME - 1))
        raise InputError(f"{_quote(shown)} is out of range: no evaluation is later than {last}")
    return instant


def _in_range(time: int, shown: str) -> int:
    if not MIN_TIME <= time <= MAX_TIME:
        raise InputError(f"{_quote(shown)} is out of range: times have 64 bits")
    return time


def format_time(time: int, domain: Domain) -> str:
    """A time as text: digits for ticks, else ISO 8601 in UTC, with a fraction only if there is one.

    >>> format_time(1_500_000, Domain.DATETIME), format_time(0, Domain.DATETIME), format_time(7, Domain.TICKS)
    ('1970-01-01T00:00:01.5Z', '1970-01-01T00:00:00Z', '7')
    """
    if domain is Domain.TICKS:
        return str(time)
    days, rest = divmod(time, _DAY)
    year, month, day = date_from_epoch(days)
    seconds, micro = divmod(rest, _SECOND)
    fraction = f".{micro:06}".rstrip("0") if micro else ""
    sign = "-" if year < 0 else ""
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{sign}{abs(year):04}-{month:02}-{day:02}T{clock}{fraction}Z"


def time_literal(time: int, domain: Domain) -> Literal:
    """A time as a term: xsd:integer for ticks, else xsd:dateTime."""
    return Literal(format_time(time, domain), XSD_INTEGER if domain is Domain.TICKS else XSD_DATE_TIME)


def duration_literal(microseconds: int) -> Literal:
    """A length of time as a term.

    >>> print(duration_literal(90_000_000))
    "PT1M30S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>
    """
    seconds = Decimal(microseconds).scaleb(-6)
    return Literal(str(XsdDuration(0, seconds, XSD_DAY_TIME_DURATION)), XSD_DAY_TIME_DURATION)


_UNITS = {
    ("ms", "millisecond", "milliseconds"): 1000,
    ("s", "sec", "second", "seconds"): _SECOND,
    ("m", "min", "minute", "minutes"): 60 * _SECOND,
    ("h", "hour", "hours"): 3600 * _SECOND,
    ("d", "day", "days"): _DAY,
    ("w", "week", "weeks"): 7 * _DAY,
}
_MICROSECONDS = {name: length for names, length in _UNITS.items() for name in names}
_LENGTH = re.compile(r"([0-9]{1,19})(\.[0-9]{1,19})?\s*([A-Za-z]{0,12})")
_DURATION_EXAMPLES = "10 MINUTES, 10s, PT10M, 50 TICKS"


def parse_duration(text: str) -> Span:
    """A length of time: `10 MINUTES`, `10s`, `PT10M`, `50 TICKS`; a bare number is ticks.

    >>> parse_duration("10 MINUTES") == parse_duration("600s") == parse_duration("PT10M")
    True
    >>> parse_duration("50")
    Span(length=50, domain=<Domain.TICKS: 0>)
    """
    stripped = text.strip()
    if stripped[:1] in ("P", "p"):
        return _iso_duration(stripped.upper())
    found = _LENGTH.fullmatch(stripped)
    if not found:
        raise InputError(f"{_quote(text)} is not a duration. Try: {_DURATION_EXAMPLES}")
    number, unit = Decimal(found[1] + (found[2] or "")), found[3].lower()
    if unit in ("", "tick", "ticks"):
        return _span(number, 1, Domain.TICKS, text)
    if unit not in _MICROSECONDS:
        raise InputError(f"{_quote(text)} is not a duration: there is no unit {found[3]}. Try: {_DURATION_EXAMPLES}")
    return _span(number, _MICROSECONDS[unit], Domain.DATETIME, text)


def _iso_duration(text: str) -> Span:
    weeks = re.fullmatch(r"P([0-9]{1,9})W", text)
    if weeks:
        return _span(Decimal(weeks[1]), 7 * _DAY, Domain.DATETIME, text)
    duration = parse_xsd_duration(text) if len(text) < 100 else None
    if duration is None:
        raise InputError(f"{_quote(text)} is not a duration. Try: {_DURATION_EXAMPLES}")
    if duration.months:
        raise InputError(f"{_quote(text)} has no fixed length: years and months differ. Try: days")
    return _span(duration.seconds, _SECOND, Domain.DATETIME, text)


def _span(number: Decimal, unit: int, domain: Domain, text: str) -> Span:
    numerator, denominator = number.as_integer_ratio()
    length, rest = divmod(numerator * unit, denominator)
    if rest:
        raise InputError(f"{_quote(text)} is finer than a {'tick' if domain is Domain.TICKS else 'microsecond'}")
    return Span(_in_range(length, text), domain)


def _quote(text: str) -> str:
    return f'"{text}"' if len(text) <= _QUOTED else f'"{text[:_QUOTED]}…"'
