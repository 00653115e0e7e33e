"""`TimeReading`: what values mean as times, where they are neither ticks nor ISO 8601 in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

from thence.errors import InputError, closest
from thence.rdf.terms import Literal
from thence.rdf.times import XSD_INTEGER, Domain, Instant, has_zone, parse_time

_PARTS = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
_YEARS = ("%Y", "%y", "%G", "%c", "%x")
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_DATES_FROM, _DATES_TO = (
    (datetime(*day) - _EPOCH) // _MICROSECOND for day in ((1, 1, 2), (9999, 12, 31))
)  # which Python knows in every zone
_ARROW_TO = (datetime(2037, 12, 31) - _EPOCH) // _MICROSECOND
"""From here on Arrow applies the last offset of a zone's table, and not its rule."""


@dataclass(frozen=True, slots=True)
class TimeReading:
    """What cells mean as times. Integers are ticks, or instants in `unit`s since 1970; text is ISO 8601, or of the
    `format` (strptime); what has no zone is a local time of `zone`, else UTC. `integers_in_text`: text may be an
    integer, as in CSV.

    >>> TimeReading(unit="ms").instant(1_500).time, TimeReading(format="%d/%m/%Y").instant("02/01/1970").time
    (1500000, 86400000000)
    """

    unit: str | None = None
    format: str | None = None
    zone: str | None = None
    integers_in_text: bool = False

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in _PARTS:
            raise InputError(f"time_unit can't be {self.unit!r:.80}. Try: time_unit='s', 'ms', 'us' or 'ns'")
        if self.zone is not None:
            _check_zone(self.zone)
        if self.format is not None:
            _check_format(self.format)
        if self.unit is not None and self.format is not None:
            raise InputError("time_unit is for integers and time_format for text. Try: one of them")

    def domain(self, kind: Any) -> Domain | None:
        """The kind of the times of a column, as far as its Arrow type shows it."""
        from pyarrow import types  # heavy

        if self.format is not None or self.unit is not None or types.is_timestamp(kind):
            return Domain.DATETIME
        return Domain.TICKS if types.is_integer(kind) else None

    def instant(self, value: object) -> Instant:
        """One value as Python has it. InputError, with a cure, if it is not a time."""
        if isinstance(value, bool):
            return parse_time(value)
        if isinstance(value, int) and self.format is not None:
            value = str(value)
        if isinstance(value, int) and self.unit is not None:
            return Instant(_since_1970(value, self.unit), Domain.DATETIME)
        if isinstance(value, datetime) and value.tzinfo is None and self.zone is not None:
            return Instant(_one_in_zone(parse_time(value).time, self.zone, str(value)), Domain.DATETIME)
        return parse_time(value) if not isinstance(value, str) else self._of_text(value)

    def _of_text(self, text: str) -> Instant:
        if self.format is not None:
            return Instant(self._formatted(text, self.format), Domain.DATETIME)
        is_integer = text.lstrip("+-").isdecimal() and text.isascii()
        if is_integer and self.unit is not None:
            return self.instant(parse_time(Literal(text, XSD_INTEGER)).time)
        try:
            found = parse_time(Literal(text, XSD_INTEGER) if is_integer and self.integers_in_text else text)
        except InputError:
            if (cure := time_cure(text)) is None:
                raise
            raise InputError(f'"{text:.60}" is not a time. Try: {cure}') from None
        if self.zone is None or found.domain is Domain.TICKS or has_zone(text):
            return found
        return Instant(_one_in_zone(found.time, self.zone, text), Domain.DATETIME)

    def _formatted(self, text: str, format: str) -> int:
        try:
            found = datetime.strptime(text, format)
        except ValueError:
            cure = time_cure(text)
            raise InputError(
                f'"{text:.60}" does not fit time_format={format!r:.60}' + (f". Try: {cure}" if cure else "")
            ) from None
        if found.tzinfo is not None:
            return (found.astimezone(UTC).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        time = (found - _EPOCH) // _MICROSECOND
        return time if self.zone is None else _one_in_zone(time, self.zone, text)


PLAINLY = TimeReading()
IN_TEXT = TimeReading(integers_in_text=True)


def _since_1970(number: int, unit: str) -> int:
    time, rest = (number * 1_000_000 // _PARTS[unit], number * 1_000_000 % _PARTS[unit])
    if rest:
        raise InputError(f'"{number}" is finer than a microsecond')
    return parse_time(time).time


def _check_zone(zone: str) -> None:
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError, ImportError, TypeError):
        near = closest(str(zone), available_timezones())
        cure = f"Did you mean {near}?" if near else "Try: time_zone='America/New_York'"
        raise InputError(f"time_zone can't be {zone!r:.80}. {cure}") from None


def _check_format(format: str) -> None:
    if not any(each in format for each in _YEARS):
        cure = "time_unit='s'" if "%s" in format else "time_format='%d/%m/%Y %H:%M:%S'"
        raise InputError(f"time_format={format!r:.80} has no year. Try: {cure}")
    if "%p" in format and "%I" not in format:  # Python would read the letters and ignore them
        raise InputError(
            f"time_format={format!r:.80}: %p has no effect without %I. Try: {format.replace('%H', '%I')!r}"
        )
    if "%I" in format and "%p" not in format:
        raise InputError(f"time_format={format!r:.80}: %I needs %p. Try: {format.replace('%I', '%H')!r}")
    try:
        datetime.strptime(datetime(2024, 5, 6, tzinfo=UTC).strftime(format), format)
    except ValueError as error:
        raise InputError(f"time_format={format!r:.80} can't be read: {error}. Try: '%d/%m/%Y %H:%M:%S'") from None


_DAYS = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y-%m-%d"),
    *("%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%b %d %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y", "%d/%b/%Y"),
    *("%a %b %d %Y", "%a, %d %b %Y"),
)
_CLOCKS = (
    *(" %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f", " %H:%M", " %I:%M:%S %p", " %I:%M %p", ""),
    *(":%H:%M:%S %z", " %H:%M:%S %z"),
)
_GUESSES = (*(day + clock for clock in _CLOCKS for day in _DAYS), "%a %b %d %H:%M:%S %Y", "%Y%m%d%H%M%S")


def time_cure(text: str) -> str | None:
    """The option with which a text that is not a time would be one; None if it is of no usual form.

    >>> time_cure("31/05/2018 00:01:21"), time_cure("1525132881000"), time_cure("soon")
    ("time_format='%d/%m/%Y %H:%M:%S'", "time_unit='ms'", None)
    >>> time_cure("01/05/2018 00:01:21")
    "time_format='%d/%m/%Y %H:%M:%S', or '%m/%d/%Y %H:%M:%S' where months come first"
    """
    if len(text) > 60:
        return None
    if (unit := unit_of(text)) is not None:
        return f"time_unit={unit!r}"
    fitting = [each for each in _guesses().get(_shape(text), ()) if _fits(text, each)]
    if not fitting:
        return None
    first, other = fitting[0], re.sub(r"^%d(.)%m", r"%m\1%d", fitting[0])
    if other == first or other not in fitting:
        return f"time_format={first!r}"
    if "%p" in first:  # clocks of twelve hours go with months before days
        return f"time_format={other!r}, or {first!r} where days come first"
    return f"time_format={first!r}, or {other!r} where months come first"


@cache
def _guesses() -> dict[str, list[str]]:
    """Usual formats by the shape of their texts."""
    found: dict[str, list[str]] = {}
    for each in _GUESSES:
        found.setdefault(_shape(datetime(2024, 5, 6, 7, 8, 9, 10, UTC).strftime(each)), []).append(each)
    return found


def _shape(text: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", text))


def unit_of(digits: str) -> str | None:
    """The unit in which digits are probably an instant of our days.

    >>> unit_of("1525132881"), unit_of("1525132881000"), unit_of("20180501")
    ('s', 'ms', None)
    """
    if not re.fullmatch(r"[0-9]{10,19}", digits):
        return None
    return {10: "s", 13: "ms", 16: "us", 19: "ns"}.get(len(digits))


def _fits(text: str, format: str) -> bool:
    try:
        datetime.strptime(text, format)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class LocalTimes:
    """Local times of a zone in UTC, where they are one time: clocks that go back have an hour twice, clocks that go
    forward leave one out."""

    times: NDArray[np.int64]
    faults: dict[int, str]


def from_zone(times: NDArray[np.int64], zone: str, shown: Callable[[int], str]) -> LocalTimes:
    """Local times in microseconds as UTC; `shown` is the text of a row, for its fault."""
    early, late = np.array(times), np.array(times)
    known = (times >= _DATES_FROM) & (times < _DATES_TO)
    ours = np.flatnonzero(known & (times < _ARROW_TO))
    if len(ours):
        import pyarrow as pa  # heavy
        import pyarrow.compute as pc

        local = pa.array(times[ours]).view(pa.timestamp("us"))
        for found, rule in ((early, "earliest"), (late, "latest")):
            utc = pc.assume_timezone(local, zone, ambiguous=rule, nonexistent=rule)
            found[ours] = utc.view(pa.int64()).to_numpy()
    for row in np.flatnonzero(known & (times >= _ARROW_TO)).tolist():
        early[row], late[row] = _in_python(int(times[row]), zone)
    faults = {}
    for row in np.flatnonzero(early != late).tolist():
        why = "is not a time" if late[row] - early[row] == 1 else "is two times"
        faults[row] = f'"{shown(row)}" {why} in {zone}, where clocks are changed. Try: times with an offset'
    faults.update({row: f'"{shown(row)}" is out of the range of time_zone' for row in np.flatnonzero(~known).tolist()})
    return LocalTimes(early, faults)


def _in_python(time: int, zone: str) -> tuple[int, int]:
    """The earliest and the latest UTC time of a local one; if there is none, two that differ by 1."""
    local = _EPOCH + time * _MICROSECOND
    both = [local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC) for fold in (0, 1)]
    early, late = ((each.replace(tzinfo=None) - _EPOCH) // _MICROSECOND for each in both)
    return (early, late) if early <= late else (late, late + 1)


def _one_in_zone(time: int, zone: str, shown: str) -> int:
    found = from_zone(np.array([time], np.int64), zone, lambda _: shown)
    if found.faults:
        raise InputError(found.faults[0])
    return int(found.times[0])
