"""Answers on their way to the command: each task writes its rows, in order, into a file, and the command merges the
files. So neither Java nor Python ever holds all rows, and no job runs twice to find ranges, as a sort of all rows
would.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame

_FILE = pa.schema([("file", pa.string())])
Row = tuple[Any, ...]
"""A row's cells as Python has them: times as 64-bit numbers, in the order of the DataFrame's columns."""


@dataclass(frozen=True, slots=True)
class Spool:
    """A function for workers: rows → the name of a file that contains them."""

    folder: str

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = (record for record in records if record.num_rows)
        first = next(filled, None)
        if first is None:
            return
        path = os.path.join(self.folder, f"{uuid4().hex}.arrow")
        with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, first.schema) as writer:
            writer.write_batch(first)
            for record in filled:
                writer.write_batch(record)
        yield pa.RecordBatch.from_pylist([{"file": path}], schema=_FILE)


def spooled(rows: DataFrame, folder: str, *, by: Sequence[int]) -> list[str]:
    """The files with a DataFrame's rows, written by one job; each is ordered by some columns, nulls first."""
    names = [f"column{number}" for number in range(len(rows.columns))]  # a query's own may be like ours
    spool = Spool(folder)

    def run(records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return spool(records)

    ordered = rows.toDF(*names).sortWithinPartitions(*(names[number] for number in by))
    return [found.file for found in ordered.mapInArrow(run, "file string").collect()]


def in_order(files: Sequence[str], *, by: Sequence[int]) -> Iterator[Row]:
    """The rows of all files, ordered by the columns that each file is ordered by. The files are deleted."""

    def keyed(path: str) -> Iterator[tuple[Any, Row]]:
        for row in _rows(path):
            yield tuple((row[number] is not None, row[number]) for number in by), row

    for _, row in merge(*map(keyed, files), key=itemgetter(0)):
        yield row


def _rows(path: str) -> Iterator[Row]:
    with pa.OSFile(path, "rb") as file, pa.ipc.open_stream(file) as reader:
        for record in reader:
            columns = [_as_python(record.column(number)) for number in range(record.num_columns)]
            yield from zip(*columns, strict=True)
    os.remove(path)


def _as_python(column: Any) -> list[Any]:
    found: list[Any] = column.cast(pa.int64()).to_pylist() if pa.types.is_timestamp(column.type) else column.to_pylist()
    return found
