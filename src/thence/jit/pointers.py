"""Arrays as bare pointers, and columns copied into tables of rows and back; compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from thence.jit.compiled import INTERPRETED_AS, entry

# Arrays as bare pointers, inside compiled code.
#
# An array that is passed on costs two atomic operations a call, and an index that might be negative a comparison; a
# pointer costs neither. It is not checked either: with `NUMBA_BOUNDSCHECK=1` a pointer is the array itself, and every
# index is.


@intrinsic
def _bare(typing_context, array):
    def generate(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate  # type: ignore[no-untyped-call]


@njit(cache=True)
def _checked(array):
    return array.ravel()


pointer: Any = _checked if getattr(config, "BOUNDSCHECK", None) else _bare
"""The items of a contiguous array, one after the other. The caller keeps the array alive."""

INTERPRETED_AS[_bare] = np.ravel


# Copies columns into tables of rows and back, compiled. NumPy would walk the table once for each column, and load all
# of it into the processor's cache each time.
#
# Columns are passed by address and stride, so that one compiled function serves for any number of them, contiguous or
# not, read-only or not. Compiled code checks no bounds: callers do.

_FEW = 1000
"""The number of rows below which no compiled function is called."""
_AT_ONCE = 64
"""The number of rows that are copied column by column at a time: few enough to stay in the processor's first cache."""


def write_columns(
    table: NDArray[np.int64], columns: Sequence[tuple[int, NDArray[Any]]], constants: Sequence[tuple[int, int]]
) -> None:
    """Writes columns, and numbers that all rows share, into their places of a table.

    >>> table = np.zeros((2, 3), np.int64)
    >>> write_columns(table, [(2, np.arange(4)[::2])], [(0, 7)])
    >>> table
    array([[7, 0, 0],
           [7, 0, 2]])
    """
    if not all(len(column) == len(table) for _, column in columns):
        raise IndexError("a column that is not as long as the table")
    if len(table) < _FEW:
        for place, number in constants:
            table[:, place] = number
        for place, column in columns:
            table[:, place] = column
        return
    kept, where = _addresses([column for _, column in columns])
    places = np.array([place for place, _ in columns], np.int64)
    _write(table, places, where, np.array(constants, np.int64).reshape(-1, 2))
    del kept


def read_columns(columns: Sequence[NDArray[Any]], order: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Columns of one length, each as a row of the result; `order` selects and orders their items.

    >>> read_columns([np.arange(6)[::2], np.arange(3)], np.array([2, 0]))
    array([[4, 0],
           [2, 0]])
    """
    rows = len(order) if order is not None else len(columns[0]) if columns else 0
    if order is None and not all(len(column) == rows for column in columns):
        raise IndexError("the columns differ in length")
    found = np.empty((len(columns), rows), np.int64)
    if rows < _FEW:
        for place, column in enumerate(columns):
            found[place] = column if order is None else column[order]
        return found
    kept, where = _addresses(columns)
    if order is None:
        _read(where, found)
    else:
        if order.min() < 0 or not all(order.max() < len(column) for column in columns):
            raise IndexError("a row number is out of range")
        _pick(where, np.ascontiguousarray(order), found)
    del kept
    return found


def _addresses(columns: Sequence[NDArray[Any]]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """The address and stride of each column, and the arrays that must stay alive with them."""
    wide = [column if column.dtype == np.int64 else column.astype(np.int64) for column in columns]
    addresses = [(column.__array_interface__["data"][0], column.strides[0]) for column in wide]
    return wide, np.array(addresses, np.int64).reshape(-1, 2)


@intrinsic
def _load(typing_context, address):
    def generate(context, builder, signature, arguments):
        pointed = context.get_value_type(types.CPointer(types.int64))  # type: ignore[no-untyped-call]
        return builder.load(builder.inttoptr(arguments[0], pointed))

    return types.int64(types.int64), generate


_number_at: Any = _load
"""The number at an address. The compiler knows one of its two arguments."""


@entry
def _write(table, places, columns, constants):
    cells, width = pointer(table), table.shape[1]
    for first in range(0, len(table), _AT_ONCE):
        count = min(_AT_ONCE, len(table) - first)
        for k in range(len(constants)):
            cell, number = first * width + constants[k, 0], constants[k, 1]
            for _ in range(count):
                cells[cell] = number
                cell += width
        for k in range(len(places)):
            cell, stride = first * width + places[k], columns[k, 1]
            address = columns[k, 0] + first * stride
            for _ in range(count):
                cells[cell] = _number_at(address)
                cell += width
                address += stride


@entry
def _read(columns, found):
    cells, length = pointer(found), found.shape[1]
    for first in range(0, length, _AT_ONCE):
        count = min(_AT_ONCE, length - first)
        for k in range(len(columns)):
            cell, stride = k * length + first, columns[k, 1]
            address = columns[k, 0] + first * stride
            for _ in range(count):
                cells[cell] = _number_at(address)
                cell += 1
                address += stride


@entry
def _pick(columns, order, found):
    cells, rows, length = pointer(found), pointer(order), len(order)
    for first in range(0, length, _AT_ONCE):
        for k in range(len(columns)):
            address, stride, cell = columns[k, 0], columns[k, 1], k * length
            for place in range(first, min(first + _AT_ONCE, length)):
                cells[cell + place] = _number_at(address + rows[place] * stride)
