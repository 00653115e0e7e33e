"""XML Schema's dates, times and durations: years of any size, seconds of any precision (XSD 1.1, part 2, section 3.3).

Python's own `datetime` ends at year 9999 and at microseconds, so values are held here as XML Schema defines them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from thence.rdf.numbers import EXACT, MAX_DIGITS
from thence.rdf.terms import XSD

XSD_DURATION = XSD + "duration"
XSD_DAY_TIME_DURATION = XSD + "dayTimeDuration"
XSD_YEAR_MONTH_DURATION = XSD + "yearMonthDuration"

ZERO = Decimal(0)
DAY = 86_400
MOST_ZONE = Decimal(14 * 3600)  # seconds: no time zone is further from UTC


@dataclass(frozen=True, slots=True)
class DateTime:
    """An xsd:dateTime in its own zone (minutes from UTC), or without a zone. Year 0 is the one before year 1."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: Decimal = ZERO
    zone: int | None = None

    @property
    def instant(self) -> Decimal:
        """Seconds since 1970-01-01T00:00:00Z; without a zone, as in UTC."""
        whole = days_from_epoch(self.year, self.month, self.day) * DAY + self.hour * 3600 + self.minute * 60
        return EXACT.add(Decimal(whole - (self.zone or 0) * 60), self.second)

    def __str__(self) -> str:
        return f"{_date(self.year, self.month, self.day)}T{_time(self.hour, self.minute, self.second)}{zone(self.zone)}"


@dataclass(frozen=True, slots=True)
class Date:
    """An xsd:date: the day that begins in this zone, or without a zone."""

    year: int
    month: int
    day: int
    zone: int | None = None

    @property
    def instant(self) -> Decimal:
        """The beginning of the day."""
        return Decimal(days_from_epoch(self.year, self.month, self.day) * DAY - (self.zone or 0) * 60)

    def __str__(self) -> str:
        return f"{_date(self.year, self.month, self.day)}{zone(self.zone)}"


@dataclass(frozen=True, slots=True)
class Time:
    """An xsd:time: every day at this time."""

    hour: int
    minute: int
    second: Decimal = ZERO
    zone: int | None = None

    @property
    def instant(self) -> Decimal:
        """Seconds since the day began, in UTC."""
        return EXACT.add(Decimal(self.hour * 3600 + self.minute * 60 - (self.zone or 0) * 60), self.second)

    def __str__(self) -> str:
        return f"{_time(self.hour, self.minute, self.second)}{zone(self.zone)}"


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A part of a date: xsd:gYear, gYearMonth, gMonth, gMonthDay, gDay. The parts that the type leaves open are
    None."""

    year: int | None
    month: int | None
    day: int | None
    zone: int | None = None

    @property
    def instant(self) -> Decimal:
        """The beginning; open parts are taken from a leap year, as XSD 1.1 orders them."""
        year = 1972 if self.year is None else self.year
        days = days_from_epoch(year, self.month or 1, self.day or 1)
        return Decimal(days * DAY - (self.zone or 0) * 60)

    def __str__(self) -> str:
        year = "-" if self.year is None else _year(self.year)
        month = "" if self.month is None else f"-{self.month:02}"
        if self.month is None and self.day is not None:
            month = "-"
        day = "" if self.day is None else f"-{self.day:02}"
        return f"{year}{month}{day}{zone(self.zone)}"


@dataclass(frozen=True, slots=True)
class Duration:
    """Months and seconds, both of one sign; `datatype` says whether only one of them is allowed."""

    months: int
    seconds: Decimal
    datatype: str = XSD_DURATION

    def __str__(self) -> str:
        """The canonical form: `P1Y2M`, `-P1DT2H3M4.5S`, `PT0S`."""
        if self.datatype == XSD_YEAR_MONTH_DURATION and not self.months:
            return "P0M"
        if not self.months and not self.seconds:
            return "PT0S"
        sign = "-" if self.months < 0 or self.seconds < 0 else ""
        years, months = divmod(abs(self.months), 12)
        whole = int(self.seconds.copy_abs())
        fraction = EXACT.subtract(self.seconds.copy_abs(), Decimal(whole))
        days, rest = divmod(whole, DAY)
        hours, rest = divmod(rest, 3600)
        minutes, seconds = divmod(rest, 60)
        date = f"{years}Y" * bool(years) + f"{months}M" * bool(months) + f"{days}D" * bool(days)
        time = f"{hours}H" * bool(hours) + f"{minutes}M" * bool(minutes)
        if seconds or fraction:
            time += f"{_decimal(EXACT.add(Decimal(seconds), fraction))}S"
        return f"{sign}P{date}{'T' * bool(time)}{time}"


Temporal: TypeAlias = DateTime | Date | Time | PartialDate


# The calendar: proleptic Gregorian, as in XML Schema


def days_from_epoch(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01.

    >>> days_from_epoch(1970, 1, 1), days_from_epoch(2000, 3, 1), days_from_epoch(0, 1, 1)
    (0, 11017, -719528)
    """
    y = year - (month <= 2)  # a year that begins in March has its leap day at the end
    era, of_era = divmod(y, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def date_from_epoch(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970-01-01."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    of_year = day_of_era - (365 * of_era + of_era // 4 - of_era // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return era * 400 + of_era + (month <= 2), month, day


def days_in_month(year: int, month: int) -> int:
    """The number of days, 28 to 31."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


# Arithmetic (XPath F&O, 10.4 – 10.8; XSD 1.1, E.3.3)


def date_time_at(instant: Decimal, zone: int | None) -> DateTime:
    """The dateTime at so many seconds since 1970-01-01T00:00:00Z, in `zone`."""
    local = EXACT.add(instant, Decimal((zone or 0) * 60))
    days, second = _split(local, DAY)
    hour, second = _split(second, 3600)
    minute, second = _split(second, 60)
    return DateTime(*date_from_epoch(days), hour, minute, second, zone)


def _split(seconds: Decimal, unit: int) -> tuple[int, Decimal]:
    """The whole units, rounded down, and the rest."""
    whole = int(seconds.to_integral_value("ROUND_FLOOR")) // unit
    return whole, EXACT.subtract(seconds, Decimal(whole * unit))


def add_duration(moment: DateTime, duration: Duration) -> DateTime:
    """The date and time after a duration. The months are added first (the day is at most the month's last), then the
    seconds.

    >>> print(add_duration(DateTime(2000, 1, 31), Duration(1, Decimal(0))))
    2000-02-29T00:00:00
    """
    years, month = divmod(moment.month - 1 + duration.months, 12)
    year, month = moment.year + years, month + 1
    day = min(moment.day, days_in_month(year, month))
    moved = replace(moment, year=year, month=month, day=day)
    return date_time_at(EXACT.add(moved.instant, duration.seconds), moment.zone) if duration.seconds else moved


def add_to_date(date: Date, duration: Duration) -> Date:
    """The date after a duration is added to the beginning of the day."""
    moment = add_duration(DateTime(date.year, date.month, date.day, zone=date.zone), duration)
    return Date(moment.year, moment.month, moment.day, date.zone)


def add_to_time(time: Time, duration: Duration) -> Time:
    """The time after a duration, round the clock; only the seconds of the duration count."""
    moment = DateTime(1972, 12, 31, time.hour, time.minute, time.second, time.zone)
    moved = add_duration(moment, Duration(0, duration.seconds))
    return Time(moved.hour, moved.minute, moved.second, time.zone)


def seconds_between(left: DateTime | Date | Time, right: DateTime | Date | Time) -> Duration:
    """`left - right`."""
    return Duration(0, EXACT.subtract(left.instant, right.instant), XSD_DAY_TIME_DURATION)


# Text


def zone(minutes: int | None) -> str:
    """`Z`, `-08:00`, or nothing."""
    if minutes is None:
        return ""
    if minutes == 0:
        return "Z"
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _year(year: int) -> str:
    return f"{'-' if year < 0 else ''}{abs(year):04}"


def _date(year: int, month: int, day: int) -> str:
    return f"{_year(year)}-{month:02}-{day:02}"


def _time(hour: int, minute: int, second: Decimal) -> str:
    text = _decimal(second)
    return f"{hour:02}:{minute:02}:{text if second >= 10 else '0' + text}"


def _decimal(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").removesuffix(".") if "." in text else text


_YEAR = r"(-?(?:[1-9][0-9]{3,}|0[0-9]{3}))"
_MONTH = r"(0[1-9]|1[0-2])"
_DAY = r"(0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)|(24):(00):(00(?:\.0+)?))"
_ZONE = r"(Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"

_DATE_TIME = re.compile(f"{_YEAR}-{_MONTH}-{_DAY}T{_TIME}{_ZONE}", re.ASCII)
_DATE_FORM = re.compile(f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}", re.ASCII)
_TIME_FORM = re.compile(_TIME + _ZONE, re.ASCII)
_PARTS = {  # year, month, day: each a group of the form, or None
    "gYear": (re.compile(_YEAR + _ZONE, re.ASCII), (1, None, None)),
    "gYearMonth": (re.compile(f"{_YEAR}-{_MONTH}{_ZONE}", re.ASCII), (1, 2, None)),
    "gMonth": (re.compile(f"--{_MONTH}{_ZONE}", re.ASCII), (None, 1, None)),
    "gMonthDay": (re.compile(f"--{_MONTH}-{_DAY}{_ZONE}", re.ASCII), (None, 1, 2)),
    "gDay": (re.compile(f"---{_DAY}{_ZONE}", re.ASCII), (None, None, 1)),
}
_DURATION = re.compile(
    r"(-)?P(?=[0-9T])(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?"
    r"(T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?",
    re.ASCII,
)


def _match(form: re.Pattern[str], text: str) -> re.Match[str] | None:
    return form.fullmatch(text) if len(text) <= MAX_DIGITS else None


def _zone_minutes(text: str | None) -> int | None:
    if text is None or text == "Z":
        return None if text is None else 0
    minutes = int(text[1:3]) * 60 + int(text[4:6])
    return -minutes if text[0] == "-" else minutes


def parse_date_time(text: str) -> DateTime | None:
    """The value of an xsd:dateTime's lexical form, or None. 24:00:00 is the next day's beginning."""
    found = _match(_DATE_TIME, text)
    if not found:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    zone = _zone_minutes(found[10])
    if day > days_in_month(year, month):
        return None
    if found[7]:
        return DateTime(*date_from_epoch(days_from_epoch(year, month, day) + 1), zone=zone)
    return DateTime(year, month, day, int(found[4]), int(found[5]), Decimal(found[6]), zone)


def parse_date(text: str) -> Date | None:
    """The value of an xsd:date's lexical form, or None."""
    found = _match(_DATE_FORM, text)
    if not found or int(found[3]) > days_in_month(int(found[1]), int(found[2])):
        return None
    return Date(int(found[1]), int(found[2]), int(found[3]), _zone_minutes(found[4]))


def parse_time(text: str) -> Time | None:
    """The value of an xsd:time's lexical form, or None. 24:00:00 is 00:00:00."""
    found = _match(_TIME_FORM, text)
    if not found:
        return None
    zone = _zone_minutes(found[7])
    return Time(0, 0, ZERO, zone) if found[4] else Time(int(found[1]), int(found[2]), Decimal(found[3]), zone)


def parse_part(name: str, text: str) -> PartialDate | None:
    """The value of an xsd:gYear, gYearMonth, gMonth, gMonthDay or gDay; None if the form is wrong."""
    form, groups = _PARTS[name]
    found = _match(form, text)
    if not found:
        return None
    year, month, day = (int(found[group]) if group else None for group in groups)
    if month and day and day > days_in_month(1972, month):
        return None
    return PartialDate(year, month, day, _zone_minutes(found[form.groups]))


def parse_duration(text: str, datatype: str = XSD_DURATION) -> Duration | None:
    """The value of a duration of this datatype; None if the form is wrong.

    >>> parse_duration("P1DT2H", XSD_DAY_TIME_DURATION)
    Duration(months=0, seconds=Decimal('93600'), datatype='http://www.w3.org/2001/XMLSchema#dayTimeDuration')
    """
    found = _match(_DURATION, text)
    if not found:
        return None
    sign, years, months, days, time, hours, minutes, seconds = found.groups()
    if datatype == XSD_YEAR_MONTH_DURATION and (days or time):
        return None
    if datatype == XSD_DAY_TIME_DURATION and (years or months):
        return None
    total = int(years or 0) * 12 + int(months or 0)
    whole = int(days or 0) * DAY + int(hours or 0) * 3600 + int(minutes or 0) * 60
    length = EXACT.add(Decimal(whole), Decimal(seconds or 0))
    return Duration(-total, length.copy_negate(), datatype) if sign else Duration(total, length, datatype)
