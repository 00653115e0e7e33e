"""Columns of times: integers are ticks, timestamps and ISO 8601 text are dates (`times.parse_time`, many at once),
unless a `TimeReading` says otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import buffer_numbers, dictionary_encoded, indices, is_text, is_valid, microseconds
from thence.columns.time_reading import PLAINLY, TimeReading, from_zone
from thence.errors import InputError
from thence.rdf.times import Domain, parse_time

_TICKS, _DATES = np.uint8(Domain.TICKS.value), np.uint8(Domain.DATETIME.value)
_INTEGER = r"^[+-]?[0-9]+$"
_PLAIN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z?$"


@dataclass(frozen=True, slots=True, eq=False)
class TimeColumn:
    """One time per row, valid where `given`: faulty and empty cells have no time."""

    times: NDArray[np.int64]
    domains: NDArray[np.uint8]
    given: NDArray[np.bool_]
    faults: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """The start and end of each row."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    domains: NDArray[np.uint8]

    def take(self, rows: NDArray[np.int64]) -> Intervals:
        return Intervals(self.starts[rows], self.ends[rows], self.domains[rows])


def intervals(start: TimeColumn, end: TimeColumn | None) -> tuple[Intervals, dict[int, str]]:
    """The intervals of rows with these starts and ends, and the reason for each row without one. A row without an end
    is a point in time."""
    faults = dict(start.faults)
    _note(faults, ~start.given, 'no time: "time" is empty')
    if end is None:
        return Intervals(start.times, start.times, start.domains), faults
    for row, reason in end.faults.items():
        faults.setdefault(row, reason)
    ends = np.where(end.given, end.times, start.times)
    mixed = end.given & (end.domains != start.domains)
    _note(faults, mixed, "its start and its end are of different kinds: a tick and a date")
    _note(faults, ends < start.times, "it ends before it starts")
    return Intervals(start.times, ends, start.domains), faults


def _note(faults: dict[int, str], rows: NDArray[np.bool_], reason: str) -> None:
    for row in np.flatnonzero(rows).tolist():
        faults.setdefault(row, reason)


def is_time(kind: Any) -> bool:
    """Whether an Arrow type can hold times."""
    types = pa.types
    if types.is_dictionary(kind):
        return is_time(kind.value_type)
    return bool(types.is_integer(kind) or types.is_timestamp(kind) or types.is_null(kind) or is_text(kind))


def read_times(array: Any, reading: TimeReading = PLAINLY) -> TimeColumn:
    """The times of a column."""
    array = dictionary_encoded(array)
    if reading.format is not None and pa.types.is_integer(array.type):
        array = array.cast(pa.string()).dictionary_encode()  # 20240506
    given = is_valid(array) if array.null_count else np.ones(len(array), np.bool_)
    if pa.types.is_dictionary(array.type):
        return _from_texts(array, given, reading)
    if pa.types.is_timestamp(array.type):
        return _from_timestamps(array, given, reading.zone)
    if pa.types.is_null(array.type):
        return TimeColumn(np.zeros(len(array), np.int64), np.full(len(array), _TICKS), given)
    found = _from_integers(buffer_numbers(array), given)
    return found if reading.unit is None else _since_1970(found, reading.unit)


def _from_integers(numbers: NDArray[Any], given: NDArray[np.bool_]) -> TimeColumn:
    times = numbers.astype(np.int64, copy=False)
    domains = np.full(len(times), _TICKS)
    if numbers.dtype != np.uint64 or not (numbers > np.uint64(2**63 - 1)).any():
        return TimeColumn(times, domains, given)
    far = np.flatnonzero(given & (numbers > np.uint64(2**63 - 1)))
    return _without(TimeColumn(times, domains, given), {int(row): _fault(int(numbers[row])) for row in far})


def _since_1970(numbers: TimeColumn, unit: str) -> TimeColumn:
    """Integers as instants."""
    found = microseconds(pa.array(numbers.times).view(pa.timestamp(unit)))
    dates = TimeColumn(found.times, np.full(len(found.times), _DATES), numbers.given, numbers.faults)
    wrong = np.flatnonzero((found.too_fine | found.too_far) & numbers.given).tolist()
    return _without(dates, {row: _reason(str(numbers.times[row]), bool(found.too_fine[row])) for row in wrong})


def _reason(shown: str, too_fine: bool) -> str:
    return f'"{shown}" ' + ("is finer than a microsecond" if too_fine else "is out of range: times have 64 bits")


def _from_timestamps(array: Any, given: NDArray[np.bool_], zone: str | None) -> TimeColumn:
    found = microseconds(array)
    times = TimeColumn(found.times, np.full(len(found.times), _DATES), given)
    wrong = np.flatnonzero((found.too_fine | found.too_far) & given)
    if len(wrong):
        shown = dict(zip(wrong.tolist(), array.take(pa.array(wrong)).cast(pa.string()).to_pylist(), strict=True))
        times = _without(times, {row: _reason(text, bool(found.too_fine[row])) for row, text in shown.items()})
    return times if zone is None or array.type.tz is not None else _in_zone(times, zone, lambda row: str(array[row]))


def _in_zone(times: TimeColumn, zone: str, shown: Callable[[int], str]) -> TimeColumn:
    rows = np.flatnonzero(times.given)
    found = from_zone(times.times[rows], zone, lambda row: shown(int(rows[row])))
    moved = np.array(times.times)
    moved[rows] = found.times
    faults = {int(rows[row]): reason for row, reason in found.faults.items()}
    return _without(TimeColumn(moved, times.domains, times.given, times.faults), faults)


def _from_texts(array: Any, given: NDArray[np.bool_], reading: TimeReading) -> TimeColumn:
    """The times of texts, parsed in bulk if all have the common form, else one distinct text at a time. With one time
    per event, every text is distinct."""
    values = array.dictionary
    if not len(values):
        return TimeColumn(np.zeros(len(array), np.int64), np.full(len(array), _TICKS), given)
    distinct = _in_bulk(values, reading)
    if distinct is None:
        distinct = _one_by_one(values.to_pylist(), reading)
    where = indices(array)
    times = TimeColumn(distinct.times[where], distinct.domains[where], given)
    if not distinct.faults:
        return times
    rows = np.flatnonzero(given & np.isin(where, list(distinct.faults)))
    return _without(times, {row: distinct.faults[int(where[row])] for row in rows.tolist()})


def _in_bulk(values: Any, reading: TimeReading) -> TimeColumn | None:
    if reading.format is not None:
        return _formatted_in_bulk(values, reading)
    ticks = _ticks_in_bulk(values) if reading.integers_in_text or reading.unit is not None else None
    if ticks is not None:
        return ticks if reading.unit is None else _since_1970(ticks, reading.unit)
    dates = _dates_in_bulk(values)
    if dates is None or reading.zone is None:
        return dates
    with_zone = pc.ends_with(values, "Z").to_numpy(zero_copy_only=False)
    if not with_zone.any():
        return _in_zone(dates, reading.zone, lambda row: str(values[row]))
    return dates if with_zone.all() else None


def _ticks_in_bulk(values: Any) -> TimeColumn | None:
    try:
        numbers = buffer_numbers(values.cast(pa.int64())) if _all(values, _INTEGER) else None
    except pa.ArrowInvalid:  # out of range, or a sign that Arrow does not know
        return None
    return None if numbers is None else _all_given(numbers, _TICKS)


def _dates_in_bulk(values: Any) -> TimeColumn | None:
    if not _all(values, _PLAIN):
        return None
    try:
        stamps = pc.utf8_rtrim(values, characters="Z").cast(pa.timestamp("us"))
    except pa.ArrowInvalid:  # there is no such day
        return None
    return _all_given(buffer_numbers(stamps.view(pa.int64())), _DATES)


_FRACTION = r"^(?P<rest>.*[0-9])(?P<point>[.,])(?P<digits>[0-9]{1,6})$"


def _formatted_in_bulk(values: Any, reading: TimeReading) -> TimeColumn | None:
    """Texts of a format, where Arrow surely reads them as Python does: where it writes the same texts again, since it
    takes the 31st of February for a day."""
    format = reading.format or ""
    micros = np.zeros(len(values), np.int64)
    if format.endswith(("%S.%f", "%S,%f")):
        parts = pc.extract_regex(values, _FRACTION)
        point = format[-3]
        if parts.null_count or not _all(pc.struct_field(parts, "point"), re.escape(point)):
            return None
        digits = pc.utf8_rpad(pc.struct_field(parts, "digits"), 6, "0")
        values, format, micros = pc.struct_field(parts, "rest"), format[:-3], buffer_numbers(digits.cast(pa.int64()))
    if "%z" in format.lower():
        return None
    try:
        stamps = pc.strptime(values, format, "s")
        if not pc.all(pc.equal(pc.strftime(stamps, format), values)).as_py():
            return None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    found = _all_given(buffer_numbers(stamps.view(pa.int64())) * 1_000_000 + micros, _DATES)
    return found if reading.zone is None else _in_zone(found, reading.zone, lambda row: str(values[row]))


def _all(values: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _all_given(times: NDArray[np.int64], domain: np.uint8) -> TimeColumn:
    return TimeColumn(times, np.full(len(times), domain), np.ones(len(times), np.bool_))


def _one_by_one(texts: list[str], reading: TimeReading) -> TimeColumn:
    times, domains = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.uint8)
    faults = {}
    for row, text in enumerate(texts):
        try:
            instant = reading.instant(text)
        except InputError as error:
            faults[row] = str(error)
        else:
            times[row], domains[row] = instant.time, instant.domain.value
    return TimeColumn(times, domains, np.ones(len(texts), np.bool_), faults)


def _without(times: TimeColumn, faults: dict[int, str]) -> TimeColumn:
    if not faults:
        return times
    given = times.given.copy()
    given[list(faults)] = False
    return TimeColumn(times.times, times.domains, given, times.faults | faults)


def _fault(time: int) -> str:
    try:
        parse_time(time)
    except InputError as error:
        return str(error)
    raise AssertionError("a time in range has no fault")
