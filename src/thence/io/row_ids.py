"""Generated ids of rows, the same on any machine and in any partitioning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import buffer_numbers, dictionary_encoded, indices, is_text, is_valid
from thence.columns.batches import label_of

# Ids for rows without one: 128-bit hashes of their cells, the same on any machine and in any partitioning.
#
# A text counts by its BLAKE2 digest, which is made once for each distinct one; a number by its own bits. Columns are
# taken in one after the other, in the order of their names, by steps that lose nothing: two rows that differ in one
# cell alone never get one id unless their texts have one digest.

Lane = NDArray[np.uint64]

_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


class _Cells(NamedTuple):
    """The values of a column, as 128 bits per row."""

    high: Lane
    low: Lane


def row_ids(stream: str, columns: Mapping[str, Any]) -> Any:
    """An id for each row of a stream's, given as Arrow arrays: 32 hexadecimal digits, as an Arrow array of texts.

    >>> row_ids("S1", {"type": pa.array(["A", None]), "watts": pa.array([7, 7])}).to_pylist()
    ['c3a90a9ff42af13f4bc578bb25a9da9b', '51788bcad689c8d5e06c583f0276f6bc']
    """
    count = len(next(iter(columns.values())))
    beginning = _digests([stream.encode()])[0]
    high, low = np.full(count, beginning[0]), np.full(count, beginning[1])
    for name in sorted(columns):
        salt = _digests([name.encode()])
        cells = _cells(columns[name])
        high ^= salt[0, 0]
        high ^= cells.high
        low ^= salt[0, 1]
        low ^= cells.low
        low += _mixed(high)
        _mixed(low)
    high ^= low  # so that each half depends on all input
    _mixed(high)
    return _hexadecimal(np.column_stack([high, low]))


def with_ids(stream: str, given: Any | None, columns: Mapping[str, Any]) -> Any:
    """The given ids of rows, as texts; generated ones for rows whose id is null or empty."""
    if given is None:
        return row_ids(stream, columns)
    given = given.dictionary_decode() if pa.types.is_dictionary(given.type) else given
    texts = given.cast(pa.string())
    missing = pc.fill_null(pc.equal(pc.binary_length(texts), 0), True)
    return (
        pc.if_else(missing, prefixed_ids(stream, row_ids(stream, columns)), texts) if pc.any(missing).as_py() else texts
    )


def numbered_ids(stream: str, given: Any | None, first: int, count: int) -> Any:
    """The given ids of rows, as texts; STREAM:NUMBER, from 1, for rows whose id is null or empty.

    >>> numbered_ids("S", pa.array(["a", None]), 6, 2).to_pylist()
    ['a', 'S:8']
    """
    numbers = pa.array(np.arange(first + 1, first + count + 1)).cast(pa.string())
    ids = pc.binary_join_element_wise(pa.scalar(stream), numbers, ":")
    if given is None:
        return ids
    own = given.cast(pa.string())
    return pc.if_else(pc.fill_null(pc.not_equal(own, ""), False), own, ids)


def prefixed_ids(stream: str, ids: Any) -> Any:
    """Ids of rows among others that were given theirs."""
    return pc.binary_join_element_wise(pa.scalar(id_prefix(stream)), ids, "")


def id_prefix(stream: str) -> str:
    """The prefix of generated ids."""
    return f"{stream}:"


def owner_labels(stream: str, digests: Iterable[str]) -> list[str]:
    """The prefix of the labels of events' blank nodes: the stream, and the hash of the event's row. Equal rows share it
    until a shard distinguishes their events (`shard`), because no task knows the rows of others.

    >>> owner_labels("S1", ["3223a2fe67c611c9a3b8cc8383d22be5"])
    ['S1_3223a2fe67c611c9a3b8cc8383d22be5']
    """
    beginning = label_of(stream)
    return [f"{beginning}_{digest}" for digest in digests]


def _cells(array: Any) -> _Cells:
    kind, types = array.type, pa.types
    if types.is_null(kind):
        return _everywhere(_NULL, len(array))
    if is_text(kind) or types.is_dictionary(kind):
        array = dictionary_encoded(array)
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
        name, values = "boolean", buffer_numbers(array.cast(pa.uint8())).astype(np.int64)
    elif types.is_floating(kind):
        doubles = buffer_numbers(array).astype(np.float64)
        name, values = "double", np.where(np.isnan(doubles), np.nan, doubles).view(np.int64)  # one NaN
    elif types.is_timestamp(kind) or types.is_duration(kind):
        named = "timestamp" if types.is_timestamp(kind) else "duration"
        name, values = f"{named} {kind.unit}", buffer_numbers(array.view(pa.int64()))
    elif types.is_date32(kind):
        name, values = "date", buffer_numbers(array.view(pa.int32())).astype(np.int64)
    elif types.is_integer(kind):
        values = buffer_numbers(array).astype(np.int64)
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
    """The other half of a number's bits, so that numbers of different kinds differ, and none equals null."""
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
