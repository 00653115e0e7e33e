"""Columns of a DataFrame, built of cells or of values: each value as its column's type has it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thence.columns.arrow_terms import lexical_column
from thence.columns.dictionary import Terms
from thence.columns.term_values import term_of
from thence.columns.value_kinds import DOUBLE, INTEGER, KIND_MASK
from thence.columns.value_types import Atom, Fields, Kind, Several, Type, Types
from thence.errors import InputError
from thence.program.output import ColumnTypes
from thence.program.solutions import Cell
from thence.rdf.terms import Term

_ARROW = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.TIMESTAMP: pa.timestamp("us", "UTC"),
    Kind.DATE: pa.date32(),
    Kind.STRING: pa.string(),
    Kind.UNKNOWN: pa.string(),
}
_INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_DOUBLES = {16: pa.float16(), 32: pa.float32(), 64: pa.float64()}


def arrow_type(kind: Type, leaf: pa.DataType | None = None) -> pa.DataType:
    """A type as Arrow has it; with `leaf`, each single value is of that type."""
    match kind:
        case Several(of=of):
            return pa.list_(arrow_type(of, leaf))
        case Fields(fields=fields):
            return pa.struct([(name, arrow_type(of, leaf)) for name, of in fields])
        case Atom() if leaf is not None:
            return leaf
        case Atom(kind=Kind.INTEGER, bits=bits):
            return _INTEGERS[bits]
        case Atom(kind=Kind.DOUBLE, bits=bits):
            return _DOUBLES[bits]
        case Atom(kind=Kind.DECIMAL, digits=digits, scale=scale):
            return pa.decimal128(digits, scale)
        case Atom():
            return _ARROW[kind.kind]


def arrow_types(
    types: ColumnTypes, attributes: Types | None, leaf: pa.DataType, *, texts: Collection[str] = ()
) -> dict[str, pa.DataType]:
    """The Arrow types of columns, by name. Each single value is a `leaf` where attributes have no types, and in the
    columns `texts`."""
    found = types.resolve(attributes)
    return {
        name: arrow_type(kind, leaf if attributes is None or name in texts else None) for name, kind in found.items()
    }


def array_of(cells: list[Cell | None], kind: pa.DataType, leaf: Callable[[Term], Any] | None) -> pa.Array:
    """A column of cells; with `leaf`, each value as that makes it, else as the type has it."""
    made = [_made(cell, kind, leaf) for cell in cells]
    try:
        return pa.array(made, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise InputError(f"A value of the answer does not fit into its column's type, {kind}: {error}") from None


def _made(cell: Any, kind: pa.DataType, leaf: Callable[[Term], Any] | None) -> Any:
    match cell:
        case None:
            return None
        case tuple():
            return [_made(each, kind.value_type, leaf) for each in cell]
        case Mapping():
            return {name: _made(each, kind.field(name).type, leaf) for name, each in cell.items()}
    if leaf is not None:
        return leaf(cell)
    if pa.types.is_string(kind):
        return cell.value
    found = cell.python
    if pa.types.is_floating(kind) and isinstance(found, int | Decimal):
        return float(found)
    if pa.types.is_decimal(kind) and isinstance(found, float):
        return Decimal(
            repr(found)
        )  # a key, as equality compares it: a decimal of so few digits that its double is exact
    return found


def typed_array(tags: NDArray[Any], bits: NDArray[np.int64], terms: Terms, kind: pa.DataType) -> pa.Array:
    """A column of values as its type has them: numbers at once, where all are of one kind."""
    kinds = np.unique(tags & KIND_MASK).tolist()
    if kinds == [DOUBLE] and pa.types.is_floating(kind):
        return pa.array(np.ascontiguousarray(bits).view(np.float64)).cast(kind)
    if kinds == [INTEGER] and pa.types.is_integer(kind):
        return pa.array(np.ascontiguousarray(bits)).cast(kind)
    if pa.types.is_string(kind):
        return lexical_column(tags, bits, terms)
    cells: list[Cell | None] = [
        term_of(tag, value, terms) for tag, value in zip(tags.tolist(), bits.tolist(), strict=True)
    ]
    return array_of(cells, kind, None)
