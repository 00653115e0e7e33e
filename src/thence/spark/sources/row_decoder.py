"""Decodes DataFrame rows into events: which columns are read, and how a worker decodes a record batch.

No Spark object is needed here: a worker is given Arrow's record batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.arrow_values import dictionary_encoded, is_valid
from thence.columns.batches import Batch, ColumnBatch, RowPositions, TypedRows
from thence.columns.hashing import as_hexadecimal
from thence.columns.time_reading import TimeReading
from thence.io.event_tables import EventTable
from thence.io.rdf_rows import RdfRows
from thence.io.row_ids import owner_labels, row_ids, with_ids
from thence.io.table_columns import event_columns
from thence.io.table_layout import EventColumns, RowKind, TableLayout
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.row_positions import SourcedBatch, by_file, position_column

HIGH, LOW = "thence_high", "thence_low"
"""Columns with the halves of a row's id, of which the second may be its time."""

_LIMITS = Limits()
_LAYOUT = TableLayout()


@dataclass(frozen=True)
class Decoder:
    """Makes events of record batches. It is sent to workers."""

    stream: str
    namespace: str
    limits: Limits
    parts: EventColumns
    times: TimeReading
    domain: Domain | None
    """The kind of the times, where the column's type shows it."""
    numbered: bool
    """Whether times are numbers, or timestamps."""
    position: str | None = None
    """The column with the positions of rows at their source."""
    hashed: bool = False
    """Whether rows come with an id of Spark's making."""
    untyped: bool = False
    """Whether it is said of rows only whether they have a type, and not which: without, they have no HIGH."""

    @property
    def kind(self) -> RowKind:
        return self.parts.kind

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Our names of the parts of events, and the DataFrame's."""
        return tuple(self.parts.parts.items())

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the DataFrame that record batches must have."""
        return (*self.parts.names, *([] if self.position is None else [self.position]))

    def read(self, record: Any) -> Iterator[Batch | SourcedBatch | BadEvent]:
        """The events of a record batch, with their positions if the rows have them, and the bad rows. Each event has an
        id."""
        for found in self._events(record):
            if self.position is None or isinstance(found, BadEvent):
                yield found
            else:
                yield from by_file(found, record.column(self.position))

    def without_positions(self) -> Decoder:
        """The same, which does not ask for them."""
        return replace(self, position=None)

    def _events(self, record: Any) -> Iterator[Batch | BadEvent]:
        parts = {ours: record.column(theirs) for ours, theirs in self.names}
        if self.hashed:
            low = parts["time"] if self.numbered else record.column(LOW)
            halves = [_bits(record.column(HIGH)), _bits(low)]
            parts["id"] = as_hexadecimal(np.column_stack(halves)).to_arrow()
        if self.untyped:
            parts["type"] = _some_type(record.column(HIGH))
        if record.num_rows and self.kind is RowKind.TYPED:
            yield from self._typed(parts, {name: record.column(name) for name in self.parts.attributes})
        elif record.num_rows:
            rows = RdfRows(self.stream, self.namespace, self.limits, parts, self.times, hashed=self.hashed)
            yield from rows.read()

    def _typed(self, parts: dict[str, Any], attributes: dict[str, Any]) -> Iterator[Batch | BadEvent]:
        given = parts.get("id")
        count = len(parts["time"])
        if self.hashed:  # of our own making: nothing in them is to be judged
            del parts["id"]
        parts = {name: dictionary_encoded(array) for name, array in parts.items()}  # here, since ids need it too
        attributes = {name: dictionary_encoded(array) for name, array in attributes.items()}
        others = attributes | {self.parts.parts.get(name, name): array for name, array in parts.items() if name != "id"}
        ids = given if self.hashed else with_ids(self.stream, parts.get("id"), others)
        contents = None if self.hashed or "id" not in parts else others | {"id": parts["id"]}
        for found in self._table.read(parts, attributes, RowPositions(0, count, lines=np.zeros(count, np.int64))):
            yield found if isinstance(found, BadEvent) else _with_ids(found, ids, contents)

    @cached_property
    def _table(self) -> EventTable:
        """Kept, so that what batches repeat is entered into one dictionary once."""
        return EventTable(f"stream {self.stream}", self.stream, self.namespace, self.limits, self.parts, self.times)

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def decoder(
    stream: str, schema: Any, *, namespace: str, layout: TableLayout = _LAYOUT, limits: Limits = _LIMITS
) -> Decoder:
    """How the rows of a DataFrame with this Arrow schema are events of a stream. `layout` says what its columns are.

    >>> schema = pa.schema({"ts": pa.int64(), "type": pa.string(), "watts": pa.int64()})
    >>> layout = TableLayout("S1", columns={"time": "ts"})
    >>> reads = decoder("S1", schema, namespace="http://example.org/", layout=layout)
    >>> record = pa.RecordBatch.from_pylist([{"ts": 7, "type": "Reading", "watts": 2150}], schema=schema)
    >>> [event.start for batch in reads.read(record) for event in batch]
    [7]
    """
    parts = event_columns(layout, f"stream {stream}", schema)
    time = schema.field(parts.parts["time"]).type
    numbered = TimeReading().domain(time) is not None
    found = Decoder(
        stream, namespace, limits, parts, layout.in_text, layout.times.domain(time), numbered, position_column(schema)
    )
    assert found._table.columns is parts  # which checks its size
    return found


def _bits(array: Any) -> NDArray[np.uint64]:
    """Numbers or times as bits; no time is 0."""
    numbers = pc.fill_null(array.cast(pa.int64()), 0)
    return np.asarray(numbers).view(np.uint64)


def _some_type(ids: Any) -> Any:
    """A column of types, where only those of no type are known."""
    nothing = None if not ids.null_count else ~is_valid(ids)
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(ids), np.int32), mask=nothing), ["type"])


@dataclass(frozen=True, eq=False)
class _RowsById(TypedRows):
    """Rows by number, whose blank nodes are distinguished by the rows' content."""

    contents: Mapping[str, Any] | None  # of the whole record batch; None: ids are digests of it

    def owners(self, rows: Ints) -> list[str]:
        return owner_labels(self.stream, self._digests.take(pa.array(rows)).to_pylist())

    @cached_property
    def _digests(self) -> Any:
        if self.contents is None:
            return self.ids
        return _of_rows(row_ids(self.stream, self.contents), self.places)


def _with_ids(batch: ColumnBatch, ids: Any, contents: Mapping[str, Any] | None) -> ColumnBatch:
    table = batch.table
    parts = {field.name: getattr(table, field.name) for field in fields(TypedRows)}
    parts["ids"] = _of_rows(ids, table.places)
    return replace(batch, table=_RowsById(**parts, contents=contents))


def _of_rows(ids: Any, places: RowPositions) -> Any:
    """Those of a record batch's ids that are of rows at some places in it."""
    return ids if len(places) == len(ids) else ids.take(pa.array(places.positions))
