"""Parquet files of typed events, some ten thousand rows at a time."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thence.columns.arrow_values import is_text
from thence.columns.column_batch import ColumnBatch, RowPositions
from thence.columns.time_columns import intervals, is_time, read_times
from thence.errors import InputError, LimitError, ThenceError
from thence.io.event_tables import EventTable, is_needed, repeated_text
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI
from thence.rdf.times import MIN_TIME
from thence.rdf.typed_events import DEFAULT_NAMESPACE

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
    """The events of a file in batches, in the file's order, and the rows that are none; constant memory. With `wanted`,
    events need have no predicates but these; they are the same rows all the same, and so are those that are none."""
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
        told = [file.metadata.row_group(group).column(number).statistics for group in groups]
        if not all(each is not None and each.has_min_max and each.null_count == 0 for each in told):
            return {}
        found = {each.min for each in told} | {each.max for each in told}
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
        raise InputError(f"{name} is no Parquet file, or a damaged one: {_reason(error)}") from None
    unpacked = sum(file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups))
    if unpacked > limits.event_bytes and unpacked > os.path.getsize(name) * limits.gunzip_ratio:
        file.close()
        raise LimitError(f"{name} unpacks to more than {limits.gunzip_ratio} times its size, which no honest file does")
    return file


def _reason(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")[:200]
