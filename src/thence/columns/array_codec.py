"""Encodes arrays as bytes, with a head that describes them. No pickle: the bytes are not trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.errors import InputError

_KINDS = frozenset({"bool", "uint8", "uint16", "int32", "int64", "uint64"})
_UNIT = 8
"""Arrays begin at multiples of this many bytes, as compiled code requires."""


def pack_arrays(head: dict[str, Any], arrays: Iterable[NDArray[Any]]) -> bytes:
    """A head and arrays as bytes.

    >>> head, arrays = unpack_arrays(pack_arrays({"a": 1}, [np.arange(3)]))
    >>> head["a"], arrays.next().tolist()
    (1, [0, 1, 2])
    """
    listed = [np.ascontiguousarray(array) for array in arrays]
    described = head | {"arrays": [[str(array.dtype), list(array.shape)] for array in listed]}
    text = json.dumps(described).encode()
    text += b" " * (-(len(text) + _UNIT) % _UNIT)
    parts: list[bytes | memoryview] = [len(text).to_bytes(_UNIT, "little"), text]
    for array in listed:
        parts += [array.data.cast("B") if array.size else b"", bytes(-array.nbytes % _UNIT)]
    return b"".join(parts)


def unpack_arrays(content: bytes | memoryview) -> tuple[dict[str, Any], ArrayReader]:
    """The head and a reader of packed arrays. InputError if they are malformed."""
    size = int.from_bytes(content[:_UNIT], "little")
    if size > len(content) - _UNIT:
        raise InputError("The saved arrays are cut off in their head.")
    try:
        head: dict[str, Any] = json.loads(bytes(content[_UNIT : _UNIT + size]))
        described = [(kind, _shape(shape)) for kind, shape in head["arrays"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError("The saved arrays were not written by Thence: their head is malformed.") from None
    return head, ArrayReader(content, described, _UNIT + size)


def _shape(found: list[int]) -> list[int]:
    if not all(type(length) is int and length >= 0 for length in found):
        raise ValueError("no shape")
    return found


@dataclass(slots=True)
class ArrayReader:
    """Returns arrays one after the other, as read-only views."""

    content: bytes | memoryview
    described: list[tuple[str, list[int]]]
    position: int
    number: int = 0

    def next(self) -> NDArray[Any]:
        if self.number == len(self.described):
            raise InputError("The saved arrays are cut off: arrays are missing.")
        kind, shape = self.described[self.number]
        count = 1
        for length in shape:
            count *= length
        if kind not in _KINDS:
            raise InputError(f"The saved arrays were not written by Thence: unknown type {str(kind)[:20]!r}.")
        dtype = np.dtype(kind)
        size = count * dtype.itemsize
        if self.position + size > len(self.content):
            raise InputError("The saved arrays are cut off in their bytes.")
        array = np.frombuffer(self.content, dtype, count, self.position).reshape(shape)
        self.position += size + -size % _UNIT
        self.number += 1
        return array
