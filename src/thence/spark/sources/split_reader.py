"""Reads event files in workers, split by split, as one process reads them.

A finite run knows its files, so it needs no source that looks for them: the DataFrame has a number for each part, and
what a worker makes of it are the events, ids and blank nodes that `query.match` has of the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from thence.columns.batches import Batch, ColumnBatch
from thence.columns.value_types import Types
from thence.io.csv_files import read_csv, types_of_csv
from thence.io.event_files import is_csv, read_batches, table_types
from thence.io.table_layout import TableLayout
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.file_splits import CsvPart, FileSplit, read_split, split_file
from thence.spark.sources.row_positions import SourcedBatch, file_rank

SPLIT = 32 << 20
"""Bytes of a file that a task reads."""

_TABLES = (".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class SplitReader:
    """Makes events of rows that are the numbers of parts of files. It is sent to workers."""

    parts: tuple[FileSplit, ...]
    namespace: str
    domain: Domain | None
    """The kind of the times, if there is an event."""
    layout: TableLayout = field(default_factory=TableLayout)

    columns: ClassVar[tuple[str, ...]] = ("id",)
    names: ClassVar[tuple[tuple[str, str], ...]] = (("id", "id"),)  # which says that every event has one

    def read(self, record: Any) -> Iterator[SourcedBatch | BadEvent]:
        for number in record.column("id").to_pylist():
            for part in self.parts[number : number + 1]:  # of empty files there is a row, and no part
                for found in _read(part, self.namespace, self.layout):
                    if isinstance(found, BadEvent):
                        yield found
                        continue
                    batch = _named(found) if isinstance(found, ColumnBatch) else found
                    yield SourcedBatch(batch, part.rank, batch.positions)

    def types(self) -> list[Types | None]:
        """The types of attributes of each file that is a table; those of CSV are read for it."""
        return [table_types(path, self.layout) for path in dict.fromkeys(part.path for part in self.parts)]


def file_splits(path: str, *, label: str, split: int = SPLIT, number: int = 0) -> list[FileSplit]:
    """The parts of a file, of that number among the stream's. `label` is what the ids of events that have none begin
    with."""
    rank = file_rank(number)
    if is_csv(path):
        return _csv_splits(path, label, rank)
    if _is_table(path):
        return [FileSplit(path, label, rank=rank)]
    return split_file(path, stream=label, split=split, rank=rank)


def first_domain(path: str, *, label: str, namespace: str, layout: TableLayout) -> Domain | None:
    """The kind of time of a file's first event; None if it has no event."""
    for found in _read(FileSplit(path, label), namespace, layout):
        if not isinstance(found, BadEvent) and len(found):
            return Domain(int(found.domains[0]))
    return None


def domain_of(files: Sequence[tuple[str, str]], *, namespace: str, layout: TableLayout) -> Domain | None:
    """The kind of time of a stream's files, each given with its label."""
    found = (first_domain(path, label=label, namespace=namespace, layout=layout) for path, label in files)
    return next((domain for domain in found if domain is not None), None)


def _csv_splits(path: str, label: str, rank: str) -> list[FileSplit]:
    """The parts of a CSV file, which is read once for them and for the types of its columns: workers need not."""
    types = types_of_csv(path)
    alone = replace(types, splits=None)  # of the others, a worker need not hear
    if types.splits is None:
        return [FileSplit(path, label, rank=rank, csv=CsvPart(alone))]
    return [
        FileSplit(path, label, each.begin, each.end, each.line, rank, CsvPart(alone, each)) for each in types.splits
    ]


def _read(part: FileSplit, namespace: str, layout: TableLayout) -> Iterator[Batch | BadEvent]:
    if part.csv is not None:
        found = part.csv
        return read_csv(
            part.path, stream=part.stream, namespace=namespace, layout=layout, types=found.types, split=found.split
        )
    if _is_table(part.path):
        return read_batches(part.path, stream=part.stream, namespace=namespace, layout=layout)
    return read_split(part, namespace=namespace, limits=Limits(), layout=layout)


def _is_table(path: str) -> bool:
    return path.lower().removesuffix(".gz").endswith(_TABLES)


def _named(batch: ColumnBatch) -> ColumnBatch:
    """The same events, of which each has an id: its own, or STREAM:LINE."""
    table = batch.table
    lines = pa.array([table.places.line(row) for row in range(len(table.places))], pa.int64())
    ids = pc.binary_join_element_wise(pa.scalar(table.stream), lines.cast(pa.string()), ":")
    if table.ids is not None:
        own = table.ids.cast(pa.string())
        ids = pc.if_else(pc.fill_null(pc.not_equal(own, ""), False), own, ids)
    return replace(batch, table=replace(table, ids=ids))
