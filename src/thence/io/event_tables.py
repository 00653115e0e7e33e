"""Tables of typed events: required columns, bad rows, and the good ones as a `ColumnBatch`; Parquet files of them."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import AttributeColumn, dictionary_encoded, indices, is_text, is_valid, microseconds
from thence.columns.batches import Batch, ColumnBatch, EventBatch, RowPositions, TypedRows
from thence.columns.shared_dictionary import Dictionaries
from thence.columns.time_columns import Intervals, intervals, read_times
from thence.columns.time_reading import PLAINLY, TimeReading
from thence.errors import InputError, LimitError, ThenceError
from thence.io.rdf_rows import RdfRows
from thence.io.table_columns import event_columns
from thence.io.table_layout import EventColumns, RowKind, TableLayout
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent, predicate_term
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI
from thence.rdf.times import MIN_TIME

_NO_TYPE = 'a typed event needs a "type", which is text'


@dataclass(frozen=True, slots=True)
class EventTable:
    """Where the rows of a table come from, and what its columns are. `name` is the file's, for errors; `reads` has the
    meaning of the texts of some attributes. Attributes that nobody asks for are `unread`."""

    name: str
    stream: str
    namespace: str
    limits: Limits
    columns: EventColumns
    times: TimeReading = PLAINLY
    reads: Mapping[str, Any] = field(default_factory=dict)
    unread: Collection[str] = ()
    dictionaries: Dictionaries = field(default_factory=Dictionaries)

    def __post_init__(self) -> None:
        if len(self.columns.attributes) + 2 > self.limits.event_triples:
            raise LimitError(f"{self.name}: an event of this table is {self.limits.describe_event()}")

    def of_record(self, record: Any, places: RowPositions) -> Iterator[ColumnBatch | BadEvent]:
        """The events of the rows of a record batch that has all columns but those that are unread."""
        parts = {ours: record.column(theirs) for ours, theirs in self.columns.parts.items()}
        attributes = {name: record.column(name) for name in self.columns.attributes if name not in self.unread}
        yield from self.read(parts, attributes, places)

    def read(
        self, parts: Mapping[str, Any], attributes: Mapping[str, Any], places: RowPositions
    ) -> Iterator[ColumnBatch | BadEvent]:
        """The events of some rows, and the bad rows: Arrow arrays of the parts of events by our names, and of
        attributes."""
        encoded: dict[int, Any] = {}
        for array in (*parts.values(), *attributes.values()):
            if id(array) not in encoded:
                check_indices(array)
                encoded[id(array)] = dictionary_encoded(array)
        rows = _CheckedRows(
            self,
            {name: encoded[id(array)] for name, array in parts.items()},
            {name: encoded[id(array)] for name, array in attributes.items()},
            len(places),
        )
        times, faults = rows.judged()
        if not faults:
            yield self._batch(rows.parts, rows.attributes, places, times)
            return
        good = np.ones(len(places), np.bool_)
        good[list(faults)] = False
        kept = np.flatnonzero(good)
        if len(kept):
            taken = pa.array(kept)
            parts, attributes = (
                {name: array.take(taken) for name, array in columns.items()}
                for columns in (rows.parts, rows.attributes)
            )
            yield self._batch(parts, attributes, places.take(kept), times.take(kept))
        for row in sorted(faults):
            yield BadEvent(self.stream, places.line(row), faults[row], rows.text(row))

    def _batch(
        self, parts: Mapping[str, Any], attributes: Mapping[str, Any], places: RowPositions, times: Intervals
    ) -> ColumnBatch:
        alike = None if self.columns.type is None else repeated_text(self.columns.type, len(places))
        rows = TypedRows(
            stream=self.stream,
            namespace=self.namespace,
            types=parts.get("type", alike),
            subjects=parts.get("subject"),
            ids=parts.get("id"),
            attributes={
                predicate_term(name, self.namespace): AttributeColumn(name, array, self.reads.get(name))
                for name, array in attributes.items()
            },
            places=places,
            dictionaries=self.dictionaries,
        )
        return ColumnBatch(rows, slice(0, len(places)), times.starts, times.ends, times.domains)


@dataclass(frozen=True, slots=True, eq=False)
class _CheckedRows:
    """Rows that are being judged."""

    table: EventTable
    parts: dict[str, Any]  # by our names
    attributes: dict[str, Any]
    count: int
    given: dict[str, Any] = field(default_factory=dict)  # attributes that were converted, as they were

    def judged(self) -> tuple[Intervals, dict[int, str]]:
        """The times of all rows, and why some are not events: the first reason of each."""
        faults = self._no_text()
        start = read_times(self.parts["time"], self.table.times)
        end = self.parts.get("end")
        interval, wrong = intervals(start, None if end is None else read_times(end, self.table.times))
        _note(faults, wrong)
        self._judge_types(faults)
        self._judge_moments(faults)
        self._judge_sizes(faults)
        return interval, faults

    def _no_text(self) -> dict[int, str]:
        """Rows with bytes that are not UTF-8. Their columns are rewritten without them."""
        faults: dict[int, str] = {}
        called = self.table.columns.parts
        for columns in (self.parts, self.attributes):
            for name, array in columns.items():
                if not pa.types.is_dictionary(array.type):
                    continue
                try:
                    array.dictionary.validate(full=True)
                except pa.ArrowInvalid:
                    theirs = called[name] if columns is self.parts else name
                    columns[name] = self._with_text(theirs, array, faults)
        return faults

    def _with_text(self, name: str, array: Any, faults: dict[int, str]) -> Any:
        written = array.dictionary.cast(pa.binary()).to_pylist()
        texts = [each.decode("utf-8", "replace") for each in written]
        wrong = np.array([text.encode() != each for text, each in zip(texts, written, strict=True)])
        rows = np.flatnonzero(wrong[indices(array)] & is_valid(array))
        _note(faults, dict.fromkeys(rows.tolist(), f'column "{name:.80}" is not UTF-8'))
        return pa.DictionaryArray.from_arrays(array.indices, pa.array(texts, pa.string()))

    def _judge_types(self, faults: dict[int, str]) -> None:
        types = self.parts.get("type")
        if types is None:
            return
        if types.null_count:
            _note(faults, dict.fromkeys(np.flatnonzero(~is_valid(types)).tolist(), _NO_TYPE))
        if pa.types.is_dictionary(types.type) and len(types.dictionary):
            blank = np.array([text == "" for text in types.dictionary.to_pylist()])
            if blank.any():
                empty = blank[indices(types)] & is_valid(types)
                _note(faults, dict.fromkeys(np.flatnonzero(empty).tolist(), _NO_TYPE))

    def _judge_moments(self, faults: dict[int, str]) -> None:
        zone = self.table.times.zone
        for name, array in self.attributes.items():
            if pa.types.is_timestamp(array.type):
                found = read_times(array, TimeReading(zone=zone))
                _note(faults, found.faults)
                if zone is not None and array.type.tz is None:
                    self.given[name] = array
                    utc = pa.array(found.times, mask=~found.given)
                    self.attributes[name] = utc.cast(pa.timestamp("us", "UTC"))
            elif pa.types.is_duration(array.type):
                lengths = microseconds(array)
                for wrong, reason in ((lengths.too_fine, "finer than a microsecond"), (lengths.too_far, "too long")):
                    rows = np.flatnonzero(wrong & is_valid(array)).tolist()
                    _note(faults, dict.fromkeys(rows, f'the duration in column "{name:.80}" is {reason}'))

    def _judge_sizes(self, faults: dict[int, str]) -> None:
        """Rows whose names and texts are larger than an event may be; nearly always all texts together are smaller."""
        most = self.table.limits.event_bytes
        own = {name: array for name, array in self.parts.items() if name in ("type", "subject")}
        all_names = (*own, *self.attributes, *self.table.unread)
        least = sum(len(predicate_term(name, self.table.namespace).value) for name in all_names)
        texts = [each for each in (*own.values(), *self.attributes.values()) if pa.types.is_dictionary(each.type)]
        if least + sum(array.dictionary.nbytes for array in texts) <= most:
            return
        sizes = np.full(self.count, least, np.int64)
        for array in texts:
            lengths = pc.binary_length(array.dictionary).fill_null(0).to_numpy(zero_copy_only=False)
            sizes += np.where(is_valid(array), lengths[indices(array)], 0) if len(lengths) else 0
        _note(faults, dict.fromkeys(np.flatnonzero(sizes > most).tolist(), self.table.limits.describe_event()))

    def text(self, row: int) -> str:
        """A row as one would write it down."""
        columns = {theirs: self.parts[ours] for ours, theirs in self.table.columns.parts.items()}
        columns |= self.attributes | self.given
        cells = {name: _shown(array, row) for name, array in columns.items()}
        return json.dumps({name: cell for name, cell in cells.items() if cell is not None}, ensure_ascii=False)


def _note(faults: dict[int, str], more: Mapping[int, str]) -> None:
    for row, reason in more.items():
        faults.setdefault(row, reason)


def is_needed(column: Any, columns: EventColumns, wanted: Collection[IRI], namespace: str) -> bool:
    """Whether a column must be read: if it is part of an event or tells of one of these predicates, or may tell that a
    row is not an event, as texts do and times."""
    is_part = column.name in columns.parts.values()
    return is_part or predicate_term(column.name, namespace) in wanted or _may_be_bad(column.type)


def _may_be_bad(kind: Any) -> bool:
    """Whether a value of an Arrow type can be one that no event has: bytes that are not text, a time too fine or
    too far, a text that is too long."""
    types, values = pa.types, kind.value_type if pa.types.is_dictionary(kind) else kind
    if types.is_timestamp(values):
        return values.unit != "us" or values.tz is None  # which a zone may lack
    if types.is_duration(values):
        return bool(values.unit != "us")
    plain = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_date)
    return not any(test(values) for test in plain)


def repeated_text(text: str, count: int) -> Any:
    """A column that has one and the same text in all rows."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text], pa.string()))


def check_indices(array: Any) -> None:
    """ArrowInvalid if a row's index is outside the dictionary. Arrow itself does not check this in damaged files."""
    if pa.types.is_dictionary(array.type) and array.null_count < len(array):
        named = indices(array)
        if named.min() < 0 or named.max() >= len(array.dictionary):
            raise pa.ArrowInvalid("a row refers to a text that its dictionary does not have")


def _shown(array: Any, row: int) -> object:
    """A cell as a JSON value; long texts are cut."""
    cell = array.slice(row, 1)
    if pa.types.is_dictionary(array.type):
        text = cell.dictionary_decode()[0].as_py()
        return None if text is None else text[: BadEvent.LONGEST]
    if pa.types.is_integer(array.type) or pa.types.is_boolean(array.type) or pa.types.is_null(array.type):
        return cell[0].as_py()
    if pa.types.is_union(array.type):
        return str(cell[0].as_py())
    return cell.cast(pa.string())[0].as_py()


# Parquet files of typed events, some ten thousand rows at a time.

_TOGETHER = 65_536
_AHEAD = 1 << 20
"""Bytes of a column that are read from the disk at a time."""
_LIMITS = Limits()
_LAYOUT = TableLayout()


def read_parquet(
    path: str | os.PathLike[str],
    *,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    wanted: Collection[IRI] | None = None,
    layout: TableLayout = _LAYOUT,
) -> Iterator[Batch | BadEvent]:
    """The events of a file in batches, in the file's order, and the bad rows; constant memory. With `wanted`, events
    may lack other predicates; events and bad rows stay the same."""
    name = os.fspath(path)
    file = _opened(name, limits)
    schema = file.schema_arrow
    columns = event_columns(layout, name, schema)
    if columns.kind is not RowKind.TYPED:
        yield from _rdf_rows(file, columns, layout, stream, namespace, limits)
        return
    types = columns.parts.get("type")
    alike = {} if types is None else _alike_in_all(file, types)
    attributes = [schema.field(each) for each in columns.attributes]
    unread = (
        [] if wanted is None else [each.name for each in attributes if not is_needed(each, columns, wanted, namespace)]
    )
    table = EventTable(name, stream, namespace, limits, columns, layout.times, unread=unread)
    names = [each for each in columns.names if each not in unread and (each not in alike or each in columns.attributes)]
    first = 0
    try:
        for record in file.iter_batches(batch_size=_TOGETHER, columns=names, use_threads=False):
            count = record.num_rows
            for each, array in alike.items():
                if each not in names:
                    record = record.append_column(each, array.slice(0, count))
            yield from table.of_record(record, RowPositions(first, count))
            first += count
    except (pa.ArrowException, OSError) as error:
        yield BadEvent(stream, first + 1, f"the file is damaged: {_reason(error)}", "")
    finally:
        file.close()


def _rdf_rows(
    file: Any, columns: EventColumns, layout: TableLayout, stream: str, namespace: str, limits: Limits
) -> Iterator[EventBatch | BadEvent]:
    first = 0
    try:
        for record in file.iter_batches(batch_size=_TOGETHER, columns=list(columns.names), use_threads=False):
            yield from rdf_events(record, columns, layout, stream, namespace, limits, first)
            first += record.num_rows
    except (pa.ArrowException, OSError) as error:
        yield BadEvent(stream, first + 1, f"the file is damaged: {_reason(error)}", "")
    finally:
        file.close()


def rdf_events(
    record: Any, columns: EventColumns, layout: TableLayout, stream: str, namespace: str, limits: Limits, first: int
) -> Iterator[EventBatch | BadEvent]:
    """The events of rows that have a graph each. `first` is the number of the first one in its table."""
    parts = {ours: record.column(theirs) for ours, theirs in columns.parts.items()}
    if record.num_rows:
        yield from RdfRows(stream, namespace, limits, parts, layout.in_text, first=first).read()


def parquet_schema(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> Any:
    """The columns of a file with their Arrow types."""
    with _opened(os.fspath(path), limits) as file:
        return file.schema_arrow


def times_between(
    path: str | os.PathLike[str], layout: TableLayout = _LAYOUT, *, limits: Limits = _LIMITS
) -> tuple[int, int] | None:
    """The first time and the last, at which events end, if all rows of a file stand in the order of time; None if they
    do not, if there are no rows, or if something is wrong: whoever reads the file will see. Only times are read."""
    try:
        file = _opened(os.fspath(path), limits)
        with file:
            columns = event_columns(layout, os.fspath(path), file.schema_arrow)
            return _first_and_last(file, {ours: columns.parts.get(ours) for ours in ("time", "end")}, layout.times)
    except (ThenceError, pa.ArrowException, OSError, KeyError):
        return None


def _first_and_last(file: Any, parts: Mapping[str, str | None], reading: TimeReading) -> tuple[int, int] | None:
    first, last, known = None, MIN_TIME, None
    names = [name for name in parts.values() if name is not None]
    for record in file.iter_batches(batch_size=_TOGETHER, columns=names, use_threads=False):
        ends, domains = _ends(record, parts, reading)
        if len(ends):
            known = domains[0] if known is None else known
            if ends[0] < last or (ends[1:] < ends[:-1]).any() or (domains != known).any():
                return None
            first, last = int(ends[0]) if first is None else first, int(ends[-1])
    return None if first is None else (first, last)


def _ends(
    record: Any, parts: Mapping[str, str | None], reading: TimeReading
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """When the events of some rows end, and in what kind of time; rows without a time are left out."""
    start, end = (None if name is None else read_times(record.column(name), reading) for name in parts.values())
    assert start is not None
    found, _ = intervals(start, end)
    return (found.ends, found.domains) if start.given.all() else (found.ends[start.given], found.domains[start.given])


def _alike_in_all(file: Any, column: str) -> dict[str, Any]:
    """A column, where the file's own statistics say that it has one and the same text in all rows: it need not be
    read."""
    number = file.schema_arrow.get_field_index(column)
    groups = range(file.metadata.num_row_groups)
    if number < 0 or file.schema_arrow.names != file.schema.names or not groups:  # nested ones are counted otherwise
        return {}
    try:
        statistics = [file.metadata.row_group(group).column(number).statistics for group in groups]
        if not all(each is not None and each.has_min_max and each.null_count == 0 for each in statistics):
            return {}
        found = {each.min for each in statistics} | {each.max for each in statistics}
    except (pa.ArrowException, UnicodeDecodeError):
        return {}
    text = found.pop()
    return {column: repeated_text(text, _TOGETHER)} if not found and isinstance(text, str) and text else {}


def _opened(name: str, limits: Limits) -> Any:
    """The file, which may not grow without end; texts are read as dictionaries, so that a long one that is in many
    rows is kept once."""
    from pyarrow import parquet  # heavy

    try:
        schema = parquet.read_schema(name)
        texts = [column.name for column in schema if is_text(column.type)]
        # Arrow would else keep what it has read of every row group, and read each whole
        file = parquet.ParquetFile(name, read_dictionary=texts, pre_buffer=False, buffer_size=_AHEAD)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last by a column's name
        raise InputError(f"{name} is not a Parquet file, or a damaged one: {_reason(error)}") from None
    unpacked = sum(file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups))
    if unpacked > limits.event_bytes and unpacked > os.path.getsize(name) * limits.gunzip_ratio:
        file.close()
        raise LimitError(f"{name} unpacks to more than {limits.gunzip_ratio} times its size, the most that is allowed")
    return file


def _reason(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")[:200]
