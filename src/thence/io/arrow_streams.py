"""Tables in memory (pandas, Polars, Arrow, DuckDB), by Arrow's interface for streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from thence.columns.batches import Batch, RowPositions
from thence.errors import InputError
from thence.io.event_tables import EventTable, rdf_events
from thence.io.table_columns import event_columns
from thence.io.table_layout import RowKind, TableLayout
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits

_TOGETHER = 65_536
_INDEX = "__index_level_"
"""How the columns of an index of pandas begin that has no name."""


@dataclass(slots=True, eq=False)
class ArrowStream:
    """A table that can be read as record batches. `schema` has its columns as they are read."""

    value: Any
    place: str
    schema: Any
    _reader: Any  # the first one, of which the schema is

    @classmethod
    def of(cls, value: Any, place: str) -> ArrowStream:
        reader = _reader(value, place)
        return cls(value, place, pa.schema([_plain(each) for each in _columns(reader.schema)]), reader)

    def batches(self) -> Iterator[Any]:
        """All rows, some ten thousand at a time."""
        reader, self._reader = self._reader, None
        reader = _reader(self.value, self.place) if reader is None else reader
        names = [each.name for each in _columns(reader.schema)]
        for record in reader:
            for first in range(0, record.num_rows, _TOGETHER):
                some = record.slice(first, _TOGETHER)
                columns = [_cast(some.column(name), self.schema.field(name).type) for name in names]
                yield pa.RecordBatch.from_arrays(columns, names)


def _reader(value: Any, place: str) -> Any:
    try:
        return pa.RecordBatchReader.from_stream(value)
    except Exception as error:  # whatever a library raises for what Arrow has no type for
        reason = str(error).split("\n")[0][:200]
        raise InputError(f"{place}: {type(value).__name__} can't be read as an Arrow table: {reason}") from None


def _columns(schema: Any) -> list[Any]:
    return [each for each in schema if not each.name.startswith(_INDEX)]


def _plain(column: Any) -> Any:
    """A column of a type that our readers know: texts as views are texts."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return column.with_type(pa.large_string()) if pa.types.is_string_view(kind) else column


def _cast(array: Any, kind: Any) -> Any:
    return array if array.type == kind else array.cast(kind)


def read_arrow(given: ArrowStream, *, stream: str, namespace: str, layout: TableLayout) -> Iterator[Batch | BadEvent]:
    """The events of a table in batches, and the bad rows."""
    limits = Limits()
    columns = event_columns(layout, given.place, given.schema)
    first = 0
    if columns.kind is not RowKind.TYPED:
        for record in given.batches():
            yield from rdf_events(record, columns, layout, stream, namespace, limits, first)
            first += record.num_rows
        return
    table = EventTable(given.place, stream, namespace, limits, columns, layout.times)
    for record in given.batches():
        yield from table.of_record(record, RowPositions(first, record.num_rows))
        first += record.num_rows
