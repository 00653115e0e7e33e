"""Reads splits of Parquet files in workers, by Arrow, into the same record batches that Spark would send. No Spark in
here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import indices, is_text, is_valid
from thence.columns.batches import Batch
from thence.columns.hashing import as_hexadecimal
from thence.errors import InputError
from thence.io.event_tables import check_indices
from thence.io.row_ids import prefixed_ids
from thence.io.table_layout import ID
from thence.rdf.events import BadEvent
from thence.rdf.times import Domain
from thence.spark.sources.row_decoder import HIGH, LOW, Decoder
from thence.spark.sources.row_hashes import row_hashes
from thence.spark.sources.row_positions import SourcedBatch

TOGETHER = 131_072
"""Rows that become events together, if row groups are small: files may have a few rows each."""

_AHEAD = 1 << 20
"""Bytes of a column that are read from the disk at a time."""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Row groups of a file, as it is when a query is made."""

    path: str
    size: int
    changed: int  # when it was last, in nanoseconds
    groups: tuple[int, ...]

    def records(self, schema: Any) -> Iterator[Any]:
        """Its rows in batches; texts as dictionaries."""
        from pyarrow import parquet  # heavy

        status = os.stat(self.path)
        if (status.st_size, status.st_mtime_ns) != (self.size, self.changed):
            raise InputError(f"{self.path} has changed since the query was planned. Try: build its DataFrames again")
        texts = [field.name for field in schema if is_text(field.type)]
        file = parquet.ParquetFile(self.path, read_dictionary=texts, pre_buffer=False, buffer_size=_AHEAD)
        with file:
            names = schema.names
            for record in file.iter_batches(TOGETHER, row_groups=self.groups, columns=names, use_threads=False):
                columns = [_as_sent(record.column(field.name), field.type) for field in schema]
                yield pa.RecordBatch.from_arrays(columns, names)


@dataclass(frozen=True, slots=True)
class ScanReader:
    """Makes events of rows that are the numbers of parts of files. It is sent to workers."""

    parts: tuple[tuple[RowGroups, ...], ...]
    schema: Any  # of the DataFrame, as Arrow has it
    whole: Decoder
    """How rows are read of which all is sent."""
    decoder: Decoder

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        return self.decoder.names

    @property
    def domain(self) -> Domain | None:
        return self.decoder.domain

    def read(self, record: Any) -> Iterator[Batch | SourcedBatch | BadEvent]:
        for number in record.column("id").to_pylist():
            for some in coalesced_batches(self.parts[number], self.schema):
                yield from self.decoder.read(self.sent(some))

    def sent(self, record: Any) -> Any:
        """The columns that Spark would send for these rows (`column_selection`)."""
        given = dict(zip(record.schema.names, record.columns, strict=True))
        columns = {theirs: given[theirs] for theirs in self.decoder.columns if theirs != ID}
        if self.decoder.hashed:
            columns[HIGH] = pa.array(self._half(1, given), mask=self._untyped(given))
            if not self.decoder.numbered:
                columns[LOW] = pa.array(self._half(2, given))
        else:
            columns[ID] = self._ids(given[dict(self.whole.names)["id"]], given)
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    def _half(self, number: int, given: Mapping[str, Any]) -> NDArray[np.int64]:
        columns = [given[name] for name in sorted(self.whole.columns)]
        return row_hashes(number, self.decoder.stream, columns, len(columns[0])).view(np.int64)

    def _untyped(self, given: Mapping[str, Any]) -> NDArray[np.bool_] | None:
        """The rows without a type, where it is said of rows only whether they have one."""
        if not self.decoder.untyped:
            return None
        types = given[dict(self.whole.names)["type"]]
        empty = pc.equal(types.dictionary, "").to_numpy(zero_copy_only=False)
        if not types.null_count and not empty.any():
            return None
        found: NDArray[np.bool_] = ~is_valid(types)
        return found | empty[indices(types)] if len(empty) else found

    def _ids(self, own: Any, given: Mapping[str, Any]) -> Any:
        own = own.cast(pa.string())
        has_one = pc.fill_null(pc.not_equal(own, ""), False)
        if pc.all(has_one).as_py():
            return own
        halves = np.column_stack([self._half(number, given) for number in (1, 2)]).view(np.uint64)
        return pc.if_else(has_one, own, prefixed_ids(self.decoder.stream, as_hexadecimal(halves).to_arrow()))


def _as_sent(array: Any, kind: Any) -> Any:
    """A column as Spark's type is in Arrow, though whoever wrote the file may have had another in mind for the same
    values; texts as dictionaries."""
    if not is_text(kind):
        return array.cast(kind)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    array = array.cast(pa.dictionary(pa.int32(), pa.string()))
    check_indices(array)
    return array


def coalesced_batches(part: Iterable[RowGroups], schema: Any) -> Iterator[Any]:
    """The rows of a part, in few batches."""
    waiting: list[Any] = []
    for record in (record for stretch in part for record in stretch.records(schema)):
        if waiting and sum(each.num_rows for each in waiting) + record.num_rows > TOGETHER:
            yield from _one(waiting)
            waiting = []
        waiting.append(record)
    yield from _one(waiting)


def _one(records: Sequence[Any]) -> Iterator[Any]:
    if len(records) < 2:
        return iter(records)
    batches: list[Any] = pa.Table.from_batches(records).unify_dictionaries().combine_chunks().to_batches()
    return iter(batches)
