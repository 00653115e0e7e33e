"""The types of a table's attributes, by Arrow's types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thence.columns.value_types import BOOLEAN, DATE, STRING, TIMESTAMP, UNKNOWN, Atom, Kind, Types


def attribute_types(columns: Mapping[str, Any]) -> Types:
    """The types of a table's attributes, by Arrow's. A time that is text is an event's time, and no text."""
    found = {name: atom_of(kind) for name, kind in columns.items()}
    return {name: UNKNOWN if name in ("time", "end") and kind == STRING else kind for name, kind in found.items()}


def atom_of(kind: Any) -> Atom:
    """Arrow's type as ours: text, if it is of no values that we know."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind):
        return UNKNOWN
    if types.is_integer(kind):
        return Atom(Kind.INTEGER, bits=kind.bit_width)
    if types.is_floating(kind):
        return Atom(Kind.DOUBLE, bits=kind.bit_width)
    if types.is_decimal(kind):
        return Atom(Kind.DECIMAL, digits=kind.precision, scale=kind.scale)
    if types.is_boolean(kind):
        return BOOLEAN
    if types.is_timestamp(kind):
        return TIMESTAMP
    return DATE if types.is_date(kind) else STRING
