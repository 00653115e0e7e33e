"""Decodes DataFrame rows into events: which columns are read, and how a worker decodes a record batch.

No Spark object is needed here: a worker is given Arrow's record batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.arrow_values import dictionary_encoded, is_text, is_valid
from thence.columns.batches import Batch, ColumnBatch, RowPositions, TypedRows
from thence.columns.hashing import as_hexadecimal
from thence.columns.time_columns import is_time
from thence.errors import InputError, closest, listed
from thence.io.event_tables import OWN_COLUMNS, EventTable
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.rdf_rows import RdfRows, are_triples
from thence.spark.sources.row_ids import COLUMN, SourcedBatch, by_file, owner_labels, position_column, row_ids, with_ids

HIGH, LOW = "thence_high", "thence_low"
"""Columns with the halves of a row's id, of which the second may be its time."""

_LIMITS = Limits()
_AS_NAMED: Mapping[str, str] = MappingProxyType({})


class RowKind(Enum):
    """The kind of a DataFrame's rows: typed events, or graphs as documents or as arrays of triples."""

    TYPED = "type"
    DOCUMENT = "value"
    TRIPLES = "graph"

    @property
    def own_columns(self) -> tuple[str, ...]:
        """Our names for the columns that mean something."""
        match self:
            case RowKind.TYPED:
                return OWN_COLUMNS
            case RowKind.DOCUMENT:
                return ("time", "end", "id", "value", "format", "bad")
            case RowKind.TRIPLES:
                return ("time", "end", "id", "graph", "bad")


_NAMES = tuple(dict.fromkeys(name for kind in RowKind for name in kind.own_columns))


@dataclass(frozen=True)
class Decoder:
    """Makes events of record batches. It is sent to workers."""

    stream: str
    namespace: str
    limits: Limits
    kind: RowKind
    names: tuple[tuple[str, str], ...]  # our names of the columns, and the DataFrame's
    domain: Domain | None
    """The kind of the times, where the column's type shows it."""
    hashed: bool = False
    """Whether rows come with an id of Spark's making."""
    untyped: bool = False
    """Whether it is said of rows only whether they have a type, and not which: without, they have no HIGH."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the DataFrame that record batches must have."""
        return tuple(dict.fromkeys(name for _, name in self.names))

    def read(self, record: Any) -> Iterator[Batch | SourcedBatch | BadEvent]:
        """The events of a record batch, with their positions if the rows have them, and the bad rows. Each event has an
        id."""
        columns = {ours: record.column(theirs) for ours, theirs in self.names}
        positions = columns.pop(COLUMN, None)
        for found in self._events(record, columns):
            if positions is None or isinstance(found, BadEvent):
                yield found
            else:
                yield from by_file(found, positions)

    def without_positions(self) -> Decoder:
        """The same, which does not ask for them."""
        return replace(self, names=tuple(each for each in self.names if each[0] != COLUMN))

    def _events(self, record: Any, columns: dict[str, Any]) -> Iterator[Batch | BadEvent]:
        if self.hashed:
            low = columns["time"] if self.domain is not None else record.column(LOW)
            halves = [_bits(record.column(HIGH)), _bits(low)]
            columns["id"] = as_hexadecimal(np.column_stack(halves)).to_arrow()
        if self.untyped:
            columns["type"] = _some_type(record.column(HIGH))
        if record.num_rows and self.kind is RowKind.TYPED:
            yield from self._typed(columns, record.num_rows)
        elif record.num_rows:
            yield from RdfRows(self.stream, self.namespace, self.limits, columns, hashed=self.hashed).read()

    def _typed(self, columns: Mapping[str, Any], count: int) -> Iterator[Batch | BadEvent]:
        given = columns.get("id")
        if self.hashed:  # of our own making: nothing in them is to be judged
            columns = {name: array for name, array in columns.items() if name != "id"}
        columns = {name: dictionary_encoded(array) for name, array in columns.items()}  # here, since ids need it too
        others = {name: array for name, array in columns.items() if name != "id"}
        ids = given if self.hashed else with_ids(self.stream, columns.get("id"), others)
        contents = None if self.hashed or "id" not in columns else columns
        record = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
        for found in self._table.read(record, RowPositions(0, count, lines=np.zeros(count, np.int64))):
            yield found if isinstance(found, BadEvent) else _with_ids(found, ids, contents)

    @cached_property
    def _table(self) -> EventTable:
        """Kept, so that what batches repeat is entered into one dictionary once."""
        return _table(self.stream, self.namespace, self.limits)

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def decoder(
    stream: str,
    schema: Any,
    *,
    namespace: str,
    columns: Mapping[str, str] = _AS_NAMED,
    limits: Limits = _LIMITS,
) -> Decoder:
    """How the rows of a DataFrame with this Arrow schema are events of a stream. `columns` has the DataFrame's names
    for ours, where they are others.

    >>> schema = pa.schema({"ts": pa.int64(), "type": pa.string(), "watts": pa.int64()})
    >>> reads = decoder("S1", schema, namespace="http://example.org/", columns={"time": "ts"})
    >>> record = pa.RecordBatch.from_pylist([{"ts": 7, "type": "Reading", "watts": 2150}], schema=schema)
    >>> [event.start for batch in reads.read(record) for event in batch]
    [7]
    """
    place = f"stream {stream}"
    _check_names(place, schema, columns)
    kind = _kind(place, schema, columns)
    own = {name: columns.get(name, name) for name in kind.own_columns}
    names = {name: theirs for name, theirs in own.items() if theirs in schema.names}
    position = position_column(schema)
    if kind is RowKind.TYPED:
        names |= _attributes(place, schema, names, position)
        _table(stream, namespace, limits).check(
            pa.schema([schema.field(theirs).with_name(ours) for ours, theirs in names.items()])
        )
    else:
        names = _rdf_columns(place, schema, names)
    names |= {} if position is None else {COLUMN: position}
    return Decoder(stream, namespace, limits, kind, tuple(names.items()), _domain(schema.field(names["time"]).type))


def _bits(array: Any) -> NDArray[np.uint64]:
    """Numbers or times as bits; no time is 0."""
    numbers = pc.fill_null(array.cast(pa.int64()), 0)
    return np.asarray(numbers).view(np.uint64)


def _some_type(ids: Any) -> Any:
    """A column of types, where only those of no type are known."""
    nothing = None if not ids.null_count else ~is_valid(ids)
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(ids), np.int32), mask=nothing), ["type"])


def _table(stream: str, namespace: str, limits: Limits) -> EventTable:
    return EventTable(f"stream {stream}", stream, namespace, limits, integers_in_text=True)


def _check_names(place: str, schema: Any, columns: Mapping[str, str]) -> None:
    twice = next((name for name in schema.names if schema.names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f'{place}: two columns are called "{twice:.80}". Try: a name for each')
    for ours, theirs in columns.items():
        if ours not in _NAMES:
            raise InputError(f'{place}: "{ours:.80}" is not part of an event. Try: {", ".join(_NAMES)}')
        if theirs not in schema.names:
            near = closest(theirs, schema.names)
            cure = f"Did you mean {near}?" if near else f"Try: {listed(schema.names[:20])}"
            raise InputError(f'{place}: the DataFrame has no column "{theirs:.80}". {cure}')


def _kind(place: str, schema: Any, columns: Mapping[str, str]) -> RowKind:
    """The kind of rows that the caller's columns name; else typed events if there is a column `type`, beside which
    `value` and `graph` are ordinary attributes."""
    said = [kind for kind in RowKind if kind.value in columns]
    found = said or [kind for kind in RowKind if kind.value in schema.names]
    if not said and RowKind.TYPED in found:
        found = [RowKind.TYPED]
    if not found:
        raise InputError(
            f"{place}: the DataFrame has no column that can be an event: type (typed events), value (an RDF "
            f'document) or graph (triples). Try: columns={{"type": …}} if one has the type under another name; if all '
            f'are of one type, frame.withColumn("type", lit("{place.rpartition(" ")[2].capitalize()}"))'
        )
    if len(found) > 1:
        both = " and ".join(kind.value for kind in found[:2])
        raise InputError(
            f"{place}: an event comes from one of the columns {both}, not from both. "
            f'Try: columns={{"{found[0].value}": …}} alone'
        )
    for ours in columns:
        if ours not in found[0].own_columns:
            raise InputError(
                f'{place}: an event from the column {found[0].value} has no "{ours}". '
                f"Try: {', '.join(found[0].own_columns)}"
            )
    return found[0]


def _attributes(place: str, schema: Any, names: Mapping[str, str], position: str | None) -> dict[str, str]:
    found = {name: name for name in schema.names if name not in names.values() and name != position}
    for name in found.keys() & names.keys():
        raise InputError(
            f'{place}: "{names[name]:.80}" was given as the events\' {name}, and the DataFrame has a column "{name}" '
            f'too. Try: drop("{name}")'
        )
    return found


def _rdf_columns(place: str, schema: Any, names: dict[str, str]) -> dict[str, str]:
    if "time" not in names:
        raise InputError(f'{place}: the DataFrame lacks a column "time". Try: columns={{"time": …}}')
    if "bad" in names and not _tells_why(schema.field(names["bad"]).type):
        del names["bad"]  # somebody else's
    for ours, theirs in names.items():
        kind = schema.field(theirs).type
        fits, cure = _fits(ours, kind.value_type if pa.types.is_dictionary(kind) else kind)
        if not fits:
            raise InputError(f'{place}: column "{theirs:.80}" is of type {kind}. Try: {cure}')
    return names


def _fits(name: str, kind: Any) -> tuple[bool, str]:
    """Whether a column can be of an Arrow type, and of which it should be."""
    types = pa.types
    match name:
        case "time" | "end":
            return is_time(kind), "integers, timestamps, or ISO 8601 text"
        case "id":
            return is_text(kind) or types.is_integer(kind) or types.is_null(kind), "text, or integers"
        case "value":
            is_bytes = types.is_binary(kind) or types.is_large_binary(kind)
            return is_text(kind) or is_bytes, "an RDF document in each row, as text or binary"
        case "graph":
            return are_triples(kind), "array<struct<s: string, p: string, o: string>>, of terms as in N-Triples"
        case "format":
            return is_text(kind) or types.is_null(kind), "text"
        case _:
            return True, ""


def _tells_why(kind: Any) -> bool:
    """Whether a column has what could not be read by our own source."""
    if not pa.types.is_struct(kind):
        return False
    found = {field.name: field.type for field in kind}
    return {"line", "reason", "text"} <= found.keys() and pa.types.is_integer(found["line"]) and is_text(found["text"])


def _domain(kind: Any) -> Domain | None:
    if pa.types.is_integer(kind):
        return Domain.TICKS
    return Domain.DATETIME if pa.types.is_timestamp(kind) else None


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
