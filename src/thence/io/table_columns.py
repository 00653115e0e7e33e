"""What the columns of a table are, by a `TableLayout` and their Arrow types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from thence.columns.arrow_values import has_values, is_text
from thence.columns.time_columns import is_time
from thence.columns.value_types import STRING, TIMESTAMP, UNKNOWN, Type, Types, atom_of
from thence.errors import InputError, closest, listed
from thence.io.table_layout import ID, EventColumns, RowKind, TableLayout
from thence.rdf.events import predicate_term
from thence.rdf.times import Domain

IN_THE_GRAPH = ("type", "time", "subject")
"""Columns that are no attributes unless they are called otherwise: an event has them itself."""


def event_columns(layout: TableLayout, place: str, schema: Any, *, rdf: bool = True) -> EventColumns:
    """What the columns of an Arrow schema are. InputError if they can't be events. Without `rdf`, rows are typed events
    in any case.

    >>> layout = TableLayout("trades", columns={"time": "ts"}, named_types=("STOCK",))
    >>> found = event_columns(layout, "trades.csv", pa.schema({"ts": pa.int64(), "price": pa.float64()}))
    >>> found.parts, found.attributes, found.type
    ({'time': 'ts'}, ('ts', 'price'), 'STOCK')
    """
    _check_names(layout, place, schema)
    kind = _kind(layout, place, schema) if rdf else RowKind.TYPED
    for ours in layout.columns:
        if ours not in kind.parts:
            cure = listed(name for name in kind.parts if name != "bad")
            raise InputError(f'{place}: an event from the column {kind.value} has no "{ours}". Try: {cure}')
    parts = _parts(layout, kind, schema)
    if "time" not in parts:
        cure = f'columns={{"time": "{likely_time(schema) or "…"}"}}'
        raise InputError(f'{place}: no column is called "time", and an event needs one. Try: {cure}')
    for ours, theirs in parts.items():
        if not _fits(ours, _values(schema, theirs)):
            found = schema.field(theirs).type
            raise InputError(f'{place}: column "{theirs:.80}" is of type {found}. Try: {_cure(ours, theirs)}')
    if kind is not RowKind.TYPED:
        return EventColumns(kind, parts)
    named = None if "type" in parts else layout.type_of_rows(place)
    return EventColumns(kind, parts, _attributes(layout, place, schema, parts), named)


def attribute_types(layout: TableLayout, place: str, schema: Any, *, rdf: bool = True) -> Types | None:
    """The types of a table's attributes; None if its rows are RDF. A time given as text is a time, not text. Without
    `rdf` the table is a CSV file, whose cells are text, whatever their types as attributes."""
    cells = schema if rdf else pa.schema([(name, pa.string()) for name in schema.names])
    found = event_columns(layout, place, cells, rdf=rdf)
    if found.kind is not RowKind.TYPED:
        return None
    kinds: dict[str, Type] = {"type": STRING, "subject": STRING}
    kinds |= {name: atom_of(schema.field(name).type) for name in found.attributes}
    for ours in ("time", "end"):
        if ours in found.parts and (ours == "time" or "end" in kinds):
            kind = _values(schema, found.parts[ours])
            domain = layout.times.domain(kind)
            kinds[ours] = TIMESTAMP if domain is Domain.DATETIME else UNKNOWN if domain is None else atom_of(kind)
    return kinds


def _check_names(layout: TableLayout, place: str, schema: Any) -> None:
    if len(set(schema.names)) < len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise InputError(f'{place}: two columns are called "{twice:.80}". Try: a name for each')
    for theirs in layout.columns.values():
        if theirs not in schema.names:
            near = closest(theirs, schema.names)
            cure = f"Did you mean {near}?" if near else f"Try: {listed(schema.names[:20])}"
            raise InputError(f'{place}: no column is called "{theirs:.80}". {cure}')


def _kind(layout: TableLayout, place: str, schema: Any) -> RowKind:
    """The kind of rows that the caller's columns name; else typed events if there is a column of types, beside which
    `value` and `graph` are ordinary attributes; else graphs, if a column can have them."""
    said = [kind for kind in RowKind if kind.value in layout.columns]
    if not said and (layout.type is not None or "type" in schema.names or "subject" in layout.columns):
        return RowKind.TYPED
    there = [kind for kind in RowKind if kind.value in schema.names]
    found = said or (there if any(_fits(kind.value, _values(schema, kind.value)) for kind in there) else [])
    if len(found) > 1:
        both = " and ".join(kind.value for kind in found[:2])
        raise InputError(
            f"{place}: an event comes from one of the columns {both}, not from both. "
            f'Try: columns={{"{found[0].value}": …}} alone'
        )
    return found[0] if found else RowKind.TYPED


def _parts(layout: TableLayout, kind: RowKind, schema: Any) -> dict[str, str]:
    named = {name: layout.columns.get(name, name) for name in kind.parts}
    if layout.type is not None:
        named.pop("type", None)
    found = {ours: theirs for ours, theirs in named.items() if theirs in schema.names}
    if "bad" in found and not _tells_why(schema.field(found["bad"]).type):
        del found["bad"]  # somebody else's
    return found | ({"id": ID} if ID in schema.names else {})


def _attributes(layout: TableLayout, place: str, schema: Any, parts: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that are attributes: all that have values, but for those that an event has in its graph. Others are
    left out, unless the query names them."""
    hidden = {name for name in IN_THE_GRAPH if parts.get(name) == name}
    found = []
    for column in schema:
        if column.name in hidden or column.name == ID:
            continue
        if has_values(column.type):
            found.append(column.name)
        elif predicate_term(column.name, layout.namespace) in layout.predicates:
            raise InputError(
                f'{place}: column "{column.name:.80}" is of type {column.type}, which no attribute has. '
                "Try: numbers, text, booleans, dates, timestamps or durations"
            )
    return tuple(found)


def _values(schema: Any, name: str) -> Any:
    """The type of a column's values."""
    if name not in schema.names:
        return pa.null()
    kind = schema.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _fits(name: str, kind: Any) -> bool:
    """Whether values of an Arrow type can be a part of events."""
    types = pa.types
    match name:
        case "time" | "end":
            return is_time(kind)
        case "type" | "format":
            return is_text(kind) or types.is_null(kind)
        case "id" | "subject":
            return is_text(kind) or types.is_integer(kind) or types.is_null(kind)
        case "value":
            return is_text(kind) or types.is_binary(kind) or types.is_large_binary(kind)
        case "graph":
            return are_triples(kind)
        case _:
            return True


def are_triples(kind: Any) -> bool:
    """Whether an Arrow type is that of an array of triples."""
    types = pa.types
    if not (types.is_list(kind) or types.is_large_list(kind)) or not types.is_struct(kind.value_type):
        return False
    fields = {field.name: field.type for field in kind.value_type}
    return all(name in fields and is_text(fields[name]) for name in "spo")


def _cure(ours: str, theirs: str) -> str:
    kinds = {
        "type": "text",
        "format": "text",
        "value": "an RDF document in each row, as text or binary",
        "graph": "array<struct<s: string, p: string, o: string>>, of terms as in N-Triples",
        "id": "text, or integers",
        "subject": "text, or integers",
    }.get(ours, "integers, timestamps, or ISO 8601 text")
    return f'{kinds}; or columns={{"{ours}": …}}, if another column is meant' if ours == theirs else kinds


def likely_time(schema: Any) -> str | None:
    """The column that probably has the times."""
    names = [name for name in schema.names if is_time(schema.field(name).type)]
    near = next((name for name in names if pa.types.is_timestamp(schema.field(name).type)), None)
    if near is None:
        usual = ("ts", "timestamp", "datetime", "date", "when", "time")
        near = next((name for name in names for word in usual if word in name.lower()), None)
    return near


def _tells_why(kind: Any) -> bool:
    """Whether a column has what could not be read by our own source."""
    if not pa.types.is_struct(kind):
        return False
    found = {field.name: field.type for field in kind}
    return {"line", "reason", "text"} <= found.keys() and pa.types.is_integer(found["line"]) and is_text(found["text"])
