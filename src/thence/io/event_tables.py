"""Tables of typed events: required columns, bad rows, and the good ones as a `ColumnBatch`; Parquet files of them."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import AttributeColumn, dictionary_encoded, has_values, indices, is_text, is_valid
from thence.columns.batches import ColumnBatch, RowPositions, TypedRows
from thence.columns.shared_dictionary import Dictionaries
from thence.columns.time_columns import Intervals, intervals, is_time, read_times
from thence.errors import InputError, LimitError, ThenceError
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent, predicate_term
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI
from thence.rdf.times import MIN_TIME

OWN_COLUMNS = ("type", "time", "end", "id", "subject")
"""Columns that are not attributes."""

_NO_TYPE = 'a typed event needs a "type", which is text'


@dataclass(frozen=True, slots=True)
class EventTable:
    """Where the rows of a table come from. `name` is the file's, for errors; in CSV all is text: `integers_in_text` are
    ticks, and `reads` has the meaning of the texts of some columns. Not given with the rows are `alike`, columns with
    one and the same text in all rows, as many as ever come together; and `unread`, attributes that nobody asks for."""

    name: str
    stream: str
    namespace: str
    limits: Limits
    integers_in_text: bool = False
    reads: Mapping[str, Any] = field(default_factory=dict)
    alike: Mapping[str, Any] = field(default_factory=dict)
    unread: Collection[str] = ()
    dictionaries: Dictionaries = field(default_factory=Dictionaries)

    def check(self, schema: Any) -> None:
        """That the columns are there which an event needs, and hold what they should."""
        twice = [name for name in schema.names if schema.names.count(name) > 1] if _repeats(schema.names) else []
        if twice:
            raise InputError(f'{self.name}: two columns are called "{twice[0]:.80}". Try: a name for each')
        for needed, cure in (("type", "a column with the events' type"), ("time", "a column with the events' time")):
            if needed not in schema.names:
                raise InputError(
                    f'{self.name}: no column is called "{needed}", and a typed event needs one. Try: {cure}'
                )
        if len(schema) - 1 > self.limits.event_triples:
            raise LimitError(f"{self.name}: an event of this table is {self.limits.describe_event()}")
        for column in schema:
            if not _is_possible(column.name, column.type):
                raise InputError(
                    f'{self.name}: column "{column.name:.80}" is of type {column.type}. {_cure(column.name)}'
                )

    def read(
        self, record: Any, places: RowPositions, names: Sequence[str] | None = None
    ) -> Iterator[ColumnBatch | BadEvent]:
        """The events of some rows, and the bad rows. `names` are the columns in their order, by default those that are
        given."""
        given = {name: record.column(name) for name in (names or record.schema.names) if name not in self.alike}
        for array in given.values():
            check_indices(array)
        columns = {
            name: self.alike[name].slice(0, record.num_rows) if name in self.alike else given[name]
            for name in (names or record.schema.names)
        }
        rows = _CheckedRows(self, {name: dictionary_encoded(array) for name, array in columns.items()}, record.num_rows)
        times, faults = rows.judged()
        if not faults:
            yield self._batch(rows.columns, places, times)
            return
        good = np.ones(record.num_rows, np.bool_)
        good[list(faults)] = False
        kept = np.flatnonzero(good)
        if len(kept):
            columns = {name: array.take(pa.array(kept)) for name, array in rows.columns.items()}
            yield self._batch(columns, places.take(kept), times.take(kept))
        for row in sorted(faults):
            yield BadEvent(self.stream, places.line(row), faults[row], rows.text(row))

    def _batch(self, columns: Mapping[str, Any], places: RowPositions, times: Intervals) -> ColumnBatch:
        rows = TypedRows(
            stream=self.stream,
            namespace=self.namespace,
            types=columns["type"],
            subjects=columns.get("subject"),
            ids=columns.get("id"),
            attributes={
                predicate_term(name, self.namespace): AttributeColumn(name, array, self.reads.get(name))
                for name, array in columns.items()
                if name not in OWN_COLUMNS
            },
            places=places,
            dictionaries=self.dictionaries,
        )
        return ColumnBatch(rows, slice(0, len(places)), times.starts, times.ends, times.domains)


@dataclass(frozen=True, slots=True, eq=False)
class _CheckedRows:
    """Rows that are being judged."""

    table: EventTable
    columns: dict[str, Any]
    count: int

    def judged(self) -> tuple[Intervals, dict[int, str]]:
        """The times of all rows, and why some are not events: the first reason of each."""
        faults = self._no_text()
        start = read_times(self.columns["time"], integers_in_text=self.table.integers_in_text)
        end = self.columns.get("end")
        interval, wrong = intervals(
            start, None if end is None else read_times(end, integers_in_text=self.table.integers_in_text)
        )
        _note(faults, wrong)
        self._judge_types(faults)
        self._judge_moments(faults)
        self._judge_sizes(faults)
        return interval, faults

    def _no_text(self) -> dict[int, str]:
        """Rows with bytes that are not UTF-8. Their columns are rewritten without them."""
        faults: dict[int, str] = {}
        for name, array in self.columns.items():
            if not pa.types.is_dictionary(array.type):
                continue
            try:
                array.dictionary.validate(full=True)
            except pa.ArrowInvalid:
                written = array.dictionary.cast(pa.binary()).to_pylist()
                texts = [each.decode("utf-8", "replace") for each in written]
                wrong = np.array([text.encode() != each for text, each in zip(texts, written, strict=True)])
                rows = np.flatnonzero(wrong[indices(array)] & is_valid(array))
                _note(faults, dict.fromkeys(rows.tolist(), f'column "{name:.80}" is not UTF-8'))
                self.columns[name] = pa.DictionaryArray.from_arrays(array.indices, pa.array(texts, pa.string()))
        return faults

    def _judge_types(self, faults: dict[int, str]) -> None:
        types = self.columns["type"]
        if types.null_count:
            _note(faults, dict.fromkeys(np.flatnonzero(~is_valid(types)).tolist(), _NO_TYPE))
        if pa.types.is_dictionary(types.type) and len(types.dictionary):
            blank = np.array([text == "" for text in types.dictionary.to_pylist()])
            if blank.any():
                empty = blank[indices(types)] & is_valid(types)
                _note(faults, dict.fromkeys(np.flatnonzero(empty).tolist(), _NO_TYPE))

    def _judge_moments(self, faults: dict[int, str]) -> None:
        for name, array in self.columns.items():
            if name not in OWN_COLUMNS and pa.types.is_timestamp(array.type):
                _note(faults, read_times(array, integers_in_text=False).faults)

    def _judge_sizes(self, faults: dict[int, str]) -> None:
        """Rows whose names and texts are larger than an event may be; nearly always all texts together are smaller."""
        most = self.table.limits.event_bytes
        names = [name for name in self.columns if name not in OWN_COLUMNS[1:4]]
        all_names = (*names, *self.table.unread)
        least = sum(len(predicate_term(name, self.table.namespace).value) for name in all_names)
        texts = [self.columns[name] for name in names if pa.types.is_dictionary(self.columns[name].type)]
        if least + sum(array.dictionary.nbytes for array in texts) <= most:
            return
        sizes = np.full(self.count, least, np.int64)
        for array in texts:
            lengths = pc.binary_length(array.dictionary).fill_null(0).to_numpy(zero_copy_only=False)
            sizes += np.where(is_valid(array), lengths[indices(array)], 0) if len(lengths) else 0
        _note(faults, dict.fromkeys(np.flatnonzero(sizes > most).tolist(), self.table.limits.describe_event()))

    def text(self, row: int) -> str:
        """A row as one would write it down."""
        cells = {name: _shown(array, row) for name, array in self.columns.items()}
        return json.dumps({name: cell for name, cell in cells.items() if cell is not None}, ensure_ascii=False)


def _note(faults: dict[int, str], more: Mapping[int, str]) -> None:
    for row, reason in more.items():
        faults.setdefault(row, reason)


def _repeats(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)


def _is_possible(name: str, kind: Any) -> bool:
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    match name:
        case "time" | "end":
            return is_time(kind)
        case "type":
            return is_text(values) or pa.types.is_null(values)
        case "id" | "subject":
            return is_text(values) or pa.types.is_null(values) or pa.types.is_integer(values)
        case _:
            return has_values(kind)


def is_needed(column: Any, wanted: Collection[IRI], namespace: str) -> bool:
    """Whether a column must be read: if it tells of one of these predicates, or may tell that a row is not an event, as
    texts do and times."""
    return column.name in OWN_COLUMNS or predicate_term(column.name, namespace) in wanted or _may_be_bad(column.type)


def _may_be_bad(kind: Any) -> bool:
    """Whether a value of an Arrow type can be one that no event has: bytes that are not text, a time too fine or
    too far, a text that is too long."""
    types, values = pa.types, kind.value_type if pa.types.is_dictionary(kind) else kind
    if types.is_timestamp(values):
        return bool(values.unit != "us")
    plain = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_date)
    return not any(test(values) for test in plain)


def repeated_text(text: str, count: int) -> Any:
    """A column that has one and the same text in all rows."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text], pa.string()))


def _cure(name: str) -> str:
    match name:
        case "time" | "end":
            return "Try: integers, timestamps, or ISO 8601 text"
        case "type":
            return "Try: text"
        case "id" | "subject":
            return "Try: text, or integers"
        case _:
            return "Try: numbers, text, booleans, dates or timestamps, or leave the column out"


def check_indices(array: Any) -> None:
    """That a dictionary has what its rows name: nothing in Arrow looks, if the file is damaged."""
    if pa.types.is_dictionary(array.type) and array.null_count < len(array):
        named = indices(array)
        if named.min() < 0 or named.max() >= len(array.dictionary):
            raise pa.ArrowInvalid("a text that the dictionary does not have")


def _shown(array: Any, row: int) -> object:
    """A cell as JSON has it, and of a long one the beginning."""
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


def read_parquet(
    path: str | os.PathLike[str],
    *,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    wanted: Collection[IRI] | None = None,
) -> Iterator[ColumnBatch | BadEvent]:
    """The events of a file in batches, in the file's order, and the bad rows; constant memory. With `wanted`, events
    may lack other predicates; events and bad rows stay the same."""
    name = os.fspath(path)
    file = _opened(name, limits)
    schema = file.schema_arrow
    alike = _alike_in_all(file, "type")
    unread = [] if wanted is None else [each.name for each in schema if not is_needed(each, wanted, namespace)]
    names = [each for each in schema.names if each not in unread]
    table = EventTable(name, stream, namespace, limits, alike=alike, unread=unread)
    table.check(schema)
    first = 0
    try:
        columns = [each for each in names if each not in alike]
        for record in file.iter_batches(batch_size=_TOGETHER, columns=columns, use_threads=False):
            yield from table.read(record, RowPositions(first, record.num_rows), names)
            first += record.num_rows
    except (pa.ArrowException, OSError) as error:
        yield BadEvent(stream, first + 1, f"the file is damaged: {_reason(error)}", "")
    finally:
        file.close()


def parquet_types(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> dict[str, Any]:
    """The types of a file's columns."""
    with _opened(os.fspath(path), limits) as file:
        return {column.name: column.type for column in file.schema_arrow}


def times_between(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> tuple[int, int] | None:
    """The first time and the last, at which events end, if all rows of a file stand in the order of time; None if they
    do not, if there are no rows, or if something is wrong: whoever reads the file will see. Only times are read."""
    try:
        file = _opened(os.fspath(path), limits)
        with file:
            return _first_and_last(file)
    except (ThenceError, pa.ArrowException, OSError, KeyError):
        return None


def _first_and_last(file: Any) -> tuple[int, int] | None:
    columns = [column for column in file.schema_arrow if column.name in ("time", "end")]
    if not all(is_time(column.type) for column in columns):
        return None
    first, last, known = None, MIN_TIME, None
    names = [column.name for column in columns]
    for record in file.iter_batches(batch_size=_TOGETHER, columns=names, use_threads=False):
        ends, domains = _ends(record)
        if len(ends):
            known = domains[0] if known is None else known
            if ends[0] < last or (ends[1:] < ends[:-1]).any() or (domains != known).any():
                return None
            first, last = int(ends[0]) if first is None else first, int(ends[-1])
    return None if first is None else (first, last)


def _ends(record: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """When the events of some rows end, and in what kind of time; rows without a time are left out."""
    start = read_times(record.column("time"), integers_in_text=False)
    end = read_times(record.column("end"), integers_in_text=False) if "end" in record.schema.names else None
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
    """The file, which may not grow without end; texts are read as dictionaries, so that a long one that stands in many
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
