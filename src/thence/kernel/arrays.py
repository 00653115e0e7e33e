"""Arrays as bytes, and back: behind a head that says what they are. No pickle: bytes may come from anywhere."""

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
"""Arrays begin at multiples of this, as compiled code wants them."""


def written(head: dict[str, Any], arrays: Iterable[NDArray[Any]]) -> bytes:
    """A head and arrays as bytes.

    >>> head, arrays = read(written({"a": 1}, [np.arange(3)]))
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


def read(content: bytes | memoryview) -> tuple[dict[str, Any], Reader]:
    """What was written. InputError if it can't have been."""
    size = int.from_bytes(content[:_UNIT], "little")
    if size > len(content) - _UNIT:
        raise InputError("The arrays are not whole: they end before their head does.")
    head: dict[str, Any] = json.loads(bytes(content[_UNIT : _UNIT + size]))
    return head, Reader(content, head["arrays"], _UNIT + size)


@dataclass(slots=True)
class Reader:
    """Gives out arrays, one after the other: views, which can't be written to."""

    content: bytes | memoryview
    described: list[tuple[str, list[int]]]
    position: int
    number: int = 0

    def next(self) -> NDArray[Any]:
        kind, shape = self.described[self.number]
        count = 1
        for length in shape:
            count *= length
        if kind not in _KINDS or min(shape, default=0) < 0:
            raise InputError(f"The arrays are no arrays of ours: one is of {str(kind)[:20]!r}.")
        dtype = np.dtype(kind)
        size = count * dtype.itemsize
        if self.position + size > len(self.content):
            raise InputError("The arrays are not whole: their bytes end too early.")
        array = np.frombuffer(self.content, dtype, count, self.position).reshape(shape)
        self.position += size + -size % _UNIT
        self.number += 1
        return array
