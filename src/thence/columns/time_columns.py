"""Columns of times: integers are ticks, timestamps and ISO 8601 text are dates (`times.parse_time`, many at once)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import buffer_numbers, dictionary_encoded, indices, is_text, is_valid, microseconds
from thence.errors import InputError
from thence.rdf.terms import Literal
from thence.rdf.times import XSD_INTEGER, Domain, parse_time

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


def read_times(array: Any, *, integers_in_text: bool) -> TimeColumn:
    """The times of a column. In CSV, where all is text, integers are ticks."""
    array = dictionary_encoded(array)
    given = is_valid(array) if array.null_count else np.ones(len(array), np.bool_)
    if pa.types.is_dictionary(array.type):
        return _from_texts(array, given, integers_in_text)
    if pa.types.is_timestamp(array.type):
        return _from_timestamps(array, given)
    if pa.types.is_null(array.type):
        return TimeColumn(np.zeros(len(array), np.int64), np.full(len(array), _TICKS), given)
    return _from_integers(buffer_numbers(array), given)


def _from_integers(numbers: NDArray[Any], given: NDArray[np.bool_]) -> TimeColumn:
    times = numbers.astype(np.int64, copy=False)
    domains = np.full(len(times), _TICKS)
    if numbers.dtype != np.uint64 or not (numbers > np.uint64(2**63 - 1)).any():
        return TimeColumn(times, domains, given)
    far = np.flatnonzero(given & (numbers > np.uint64(2**63 - 1)))
    return _without(TimeColumn(times, domains, given), {int(row): _fault(int(numbers[row])) for row in far})


def _from_timestamps(array: Any, given: NDArray[np.bool_]) -> TimeColumn:
    found = microseconds(array)
    times = TimeColumn(found.times, np.full(len(found.times), _DATES), given)
    wrong = np.flatnonzero((found.too_fine | found.too_far) & given)
    if not len(wrong):
        return times
    shown = dict(zip(wrong.tolist(), array.take(pa.array(wrong)).cast(pa.string()).to_pylist(), strict=True))
    reasons = {True: "is finer than a microsecond", False: "is out of range: times have 64 bits"}
    return _without(times, {row: f'"{text}" {reasons[bool(found.too_fine[row])]}' for row, text in shown.items()})


def _from_texts(array: Any, given: NDArray[np.bool_], integers: bool) -> TimeColumn:
    """The times of texts, parsed in bulk if all have the common form, else one distinct text at a time. With one time
    per event, every text is distinct."""
    values = array.dictionary
    bulk = _ticks_in_bulk(values) if integers else None
    if bulk is None:
        bulk = _dates_in_bulk(values)
    distinct = _one_by_one(values.to_pylist(), integers) if bulk is None else bulk
    if not len(values):
        return TimeColumn(np.zeros(len(array), np.int64), np.full(len(array), _TICKS), given)
    where = indices(array)
    times = TimeColumn(distinct.times[where], distinct.domains[where], given)
    if not distinct.faults:
        return times
    rows = np.flatnonzero(given & np.isin(where, list(distinct.faults)))
    return _without(times, {row: distinct.faults[int(where[row])] for row in rows.tolist()})


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


def _all(values: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _all_given(times: NDArray[np.int64], domain: np.uint8) -> TimeColumn:
    return TimeColumn(times, np.full(len(times), domain), np.ones(len(times), np.bool_))


def _one_by_one(texts: list[str], integers: bool) -> TimeColumn:
    times, domains = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.uint8)
    faults = {}
    for row, text in enumerate(texts):
        try:
            plain = integers and text.lstrip("+-").isdecimal() and text.isascii()
            instant = parse_time(Literal(text, XSD_INTEGER) if plain else text)
        except InputError as error:
            faults[row] = str(error)
        else:
            times[row], domains[row] = instant.time, instant.domain.value
    return TimeColumn(times, domains, np.ones(len(texts), np.bool_), faults)


def _without(times: TimeColumn, faults: dict[int, str]) -> TimeColumn:
    given = times.given.copy()
    given[list(faults)] = False
    return TimeColumn(times.times, times.domains, given, faults)


def _fault(time: int) -> str:
    try:
        parse_time(time)
    except InputError as error:
        return str(error)
    raise AssertionError("a time in range has no fault")
