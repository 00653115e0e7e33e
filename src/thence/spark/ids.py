"""Ids for rows that have none: 128 bits of what stands in them, the same on any machine and however rows are cut.

A text counts by its BLAKE2 digest, which is made once for each distinct one; a number by its own bits. Columns are
taken in one after the other, in the order of their names, by steps that lose nothing: two rows that differ in one cell
alone never get one id unless their texts have one digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.rdf.arrow_values import encoded, indices, is_text, is_valid, raw
from thence.rdf.columns import label_of

Lane = NDArray[np.uint64]

_LONGEST = 100  # characters of a label that spells out an id: each of an event's blank nodes has them
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


class _Cells(NamedTuple):
    """What a column holds, as 128 bits a row."""

    high: Lane
    low: Lane


def row_ids(columns: Mapping[str, Any]) -> Any:
    """An id for each row of some Arrow arrays: 32 hexadecimal digits, as an Arrow array of texts.

    >>> row_ids({"type": pa.array(["A", None]), "watts": pa.array([7, 7])}).to_pylist()
    ['3223a2fe67c611c9a3b8cc8383d22be5', 'cce43e0cb399031786edb1e636eb8dd2']
    """
    count = len(next(iter(columns.values())))
    high, low = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    for name in sorted(columns):
        salt = _digests([name.encode()])
        cells = _cells(columns[name])
        high ^= salt[0, 0]
        high ^= cells.high
        low ^= salt[0, 1]
        low ^= cells.low
        low += _mixed(high)
        _mixed(low)
    high ^= low  # so that each half tells of all that came
    _mixed(high)
    return _hexadecimal(np.column_stack([high, low]))


def with_ids(given: Any | None, columns: Mapping[str, Any]) -> Any:
    """The ids that rows were given, as texts; those of their own where there is none, or an empty one."""
    if given is None:
        return row_ids(columns)
    given = given.dictionary_decode() if pa.types.is_dictionary(given.type) else given
    texts = given.cast(pa.string())
    missing = pc.fill_null(pc.equal(pc.binary_length(texts), 0), True)
    return pc.if_else(missing, row_ids(columns), texts) if pc.any(missing).as_py() else texts


def ordinals(ids: Any, times: Any) -> NDArray[np.int64]:
    """Which of the rows with its id and its time each row is, from 0."""
    numbers = ids.dictionary_encode()
    if len(numbers.dictionary) == len(ids):
        return np.zeros(len(ids), np.int64)
    moments = times if pa.types.is_dictionary(times.type) else times.dictionary_encode()
    when = raw(pc.fill_null(moments.indices.cast(pa.int64()), -1)) + 1
    where = raw(numbers.indices).astype(np.int64) * (len(moments.dictionary) + 1) + when
    order = np.argsort(where, kind="stable")
    first = np.flatnonzero(np.diff(where[order], prepend=-1))
    found = np.empty(len(ids), np.int64)
    found[order] = np.arange(len(ids)) - np.repeat(first, np.diff(np.append(first, len(ids))))
    return found


def owner_labels(stream: str, ids: Iterable[str], times: Iterable[int], numbers: Iterable[int]) -> list[str]:
    """What the labels of events' blank nodes begin with: stream, id, time, and which of the events with both it is. Ids
    and not places, since several workers read a stream, each from its own first place on; and times, since ids may come
    again.

    >>> owner_labels("S1", ["house 1"], [-7], [0])
    ['S1_housex20x1_m7_0']
    """
    beginning = label_of(stream)
    return [
        f"{beginning}_{_label(id)}_{'m' * (time < 0)}{abs(time)}_{number}"
        for id, time, number in zip(ids, times, numbers, strict=True)
    ]


def _label(id: str) -> str:
    if id.isascii() and id.isalnum() and "x" not in id and len(id) <= _LONGEST:
        return id
    spelt = label_of(id) if len(id) <= _LONGEST else ""
    return spelt if 0 < len(spelt) <= _LONGEST else "xx" + blake2b(id.encode(), digest_size=16).hexdigest()


def _cells(array: Any) -> _Cells:
    kind, types = array.type, pa.types
    if types.is_null(kind):
        return _everywhere(_NULL, len(array))
    if is_text(kind) or types.is_dictionary(kind):
        array = encoded(array)
    if types.is_dictionary(array.type):
        cells = _texts(array)
    elif types.is_binary(array.type) or types.is_large_binary(array.type):
        digests = _digests([text or b"" for text in array.to_pylist()])
        cells = _Cells(digests[:, 0], digests[:, 1])
    elif types.is_decimal128(kind):
        halves = np.frombuffer(array.buffers()[1] or b"", np.uint64).reshape(-1, 2)
        low, high = halves[array.offset : array.offset + len(array)].T
        cells = _Cells(low, high ^ _kind(f"decimal {kind.scale}"))
    else:
        cells = _numbers(array)
    if not array.null_count:
        return cells
    valid = is_valid(array)
    return _Cells(np.where(valid, cells.high, _NULL[0]), np.where(valid, cells.low, _NULL[1]))


def _texts(array: Any) -> _Cells:
    if not len(array.dictionary):
        return _everywhere(_NULL, len(array))
    kind = pa.large_binary() if pa.types.is_large_string(array.type.value_type) else pa.binary()
    digests = _digests(array.dictionary.cast(kind).to_pylist())[indices(array)]
    return _Cells(digests[:, 0], digests[:, 1])


def _numbers(array: Any) -> _Cells:
    kind, types = array.type, pa.types
    name = "integer"
    if types.is_boolean(kind):
        name, values = "boolean", raw(array.cast(pa.uint8())).astype(np.int64)
    elif types.is_floating(kind):
        doubles = raw(array).astype(np.float64)
        name, values = "double", np.where(np.isnan(doubles), np.nan, doubles).view(np.int64)  # one NaN
    elif types.is_timestamp(kind):
        name, values = f"timestamp {kind.unit}", raw(array.view(pa.int64()))
    elif types.is_date32(kind):
        name, values = "date", raw(array.view(pa.int32())).astype(np.int64)
    elif types.is_integer(kind):
        values = raw(array).astype(np.int64)
        name = "unsigned" if types.is_uint64(kind) else name
    else:
        return _cells(array.cast(pa.string()))
    return _Cells(values.view(np.uint64), np.full(len(array), _kind(name)))


def _everywhere(pair: Lane, count: int) -> _Cells:
    return _Cells(np.full(count, pair[0]), np.full(count, pair[1]))


def _digests(texts: list[bytes]) -> NDArray[np.uint64]:
    found = b"".join([blake2b(text, digest_size=16).digest() for text in texts])
    return np.frombuffer(found, "<u8").astype(np.uint64).reshape(-1, 2)


def _kind(name: str) -> np.uint64:
    """What a number's other half is, so that a number is no other kind's, and none is null."""
    found: np.uint64 = _digests([name.encode()])[0, 0]
    return found


_NULL: Lane = _digests([b"null"])[0]


def _mixed(bits: Lane) -> Lane:
    """Each bit over all 64, in place, and no two numbers into one (Steele, Lea and Flood: Fast splittable pseudorandom
    number generators)."""
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


def _hexadecimal(halves: NDArray[np.uint64]) -> Any:
    octets = halves.astype(">u8").view(np.uint8).reshape(len(halves), 16)
    digits = np.empty((len(halves), 32), np.uint8)
    digits[:, 0::2], digits[:, 1::2] = _HEX[octets >> 4], _HEX[octets & 15]
    bounds = np.arange(0, 32 * len(halves) + 1, 32, dtype=np.int32)
    return pa.StringArray.from_buffers(len(halves), pa.py_buffer(bounds), pa.py_buffer(digits))
