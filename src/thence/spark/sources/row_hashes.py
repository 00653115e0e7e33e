"""Spark's xxhash64 over Arrow columns: workers hash rows that they read themselves as Spark does in Java.

A row's hash goes through its cells, one after the other: each is hashed with what came of those before it as its seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thence.columns.arrow_values import buffer_numbers, dictionary_encoded, indices, is_valid
from thence.columns.hashing import word_at
from thence.columns.texts import Texts
from thence.jit.compiled import inlined, lazy_entry

Hashes = NDArray[np.uint64]

NULL, MINUS = 1, 2
"""The number before a cell that has no value, or -0.0, whose hash is that of 0.0; before others 0."""

_SEED = 42  # Spark's own
_1 = np.uint64(0x9E3779B185EBCA87)
_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_3 = np.uint64(0x165667B19E3779F9)
_4 = np.uint64(0x85EBCA77C2B2AE63)
_5 = np.uint64(0x27D4EB2F165667C5)


@inlined
def turned(word, bits):
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@inlined
def finished(code):
    code = (code ^ (code >> np.uint64(33))) * _2
    code = (code ^ (code >> np.uint64(29))) * _3
    return code ^ (code >> np.uint64(32))


@inlined
def with_four(code, word):
    return turned(code ^ (word * _1), 23) * _2 + _3


@inlined
def with_eight(code, word):
    return turned(code ^ (turned(word * _2, 31) * _1), 27) * _1 + _4


@inlined
def of_int(word, seed):
    return finished(with_four(seed + _5 + np.uint64(4), word))


@inlined
def of_long(word, seed):
    return finished(with_eight(seed + _5 + np.uint64(8), word))


@inlined
def lane(code, word):
    return turned(code + word * _2, 31) * _1


@inlined
def merged(code, one):
    return (code ^ lane(np.uint64(0), one)) * _1 + _4


@inlined
def of_bytes(text, start, end, seed):
    place = start
    if end - start >= 32:
        a, b, c, d = seed + _1 + _2, seed + _2, seed, seed - _1
        while place + 32 <= end:
            a, b = lane(a, word_at(text, place, 8)), lane(b, word_at(text, place + 8, 8))
            c, d = lane(c, word_at(text, place + 16, 8)), lane(d, word_at(text, place + 24, 8))
            place += 32
        code = turned(a, 1) + turned(b, 7) + turned(c, 12) + turned(d, 18)
        code = merged(merged(merged(merged(code, a), b), c), d)
    else:
        code = seed + _5
    code += np.uint64(end - start)
    while place + 8 <= end:
        code = with_eight(code, word_at(text, place, 8))
        place += 8
    if place + 4 <= end:
        code = with_four(code, word_at(text, place, 4))
        place += 4
    while place < end:
        code = turned(code ^ (np.uint64(text[place]) * _5), 11) * _1
        place += 1
    return finished(code)


@lazy_entry(lambda words, *others: 32 * len(words))
def hash_numbers(words, before, wide, found):
    """The hashes of a column of numbers: each row hashes a prefix and the number. `before` is empty if the prefix is 0
    for all rows."""
    for row in range(len(words)):
        kind = before[row] if len(before) > 0 else np.uint64(0)
        code = of_int(kind, found[row])
        if kind != np.uint64(NULL):
            code = of_long(words[row], code) if wide else of_int(words[row], code)
        found[row] = code


def _bytes_hashed(text, ends, places, *others):
    """Where rows are few, by the very texts that they have."""
    few = len(places) < 10_000
    return 64 * len(places) + (int(np.diff(ends, prepend=0)[places].sum()) if few else 0)


@lazy_entry(_bytes_hashed)
def hash_texts(text, ends, places, valid, found):
    """A column of texts, each of which is at its place among those that differ."""
    for row in range(len(places)):
        nothing = len(valid) > 0 and not valid[row]
        code = of_int(np.uint64(nothing), found[row])
        if not nothing:
            place = places[row]
            code = of_bytes(text, ends[place - 1] if place else 0, ends[place], code)
        found[row] = code


@lazy_entry(lambda number, text, seed: 8 * len(text))
def hash_literals(number, text, seed):
    """The beginning of the hash of a row."""
    return of_bytes(text, 0, len(text), of_int(np.uint64(number), seed))


def row_hashes(half: int, stream: str, columns: Iterable[Any], count: int) -> Hashes:
    """`xxhash64(half, X'stream', before a, a, before b, b, …)` of some rows.

    >>> row_hashes(1, "S", [pa.array([7, None]), pa.array(["a", "é" * 20])], 2).view(np.int64).tolist()
    [6811987584983829691, -8808036523434909195]
    """
    name = np.frombuffer(bytearray(stream.encode()), np.uint8)
    found = np.full(count, hash_literals(half, name, np.uint64(_SEED)), np.uint64)
    for array in columns:
        _add(dictionary_encoded(array), found)
    return found


def _add(array: Any, found: Hashes) -> None:
    valid = np.array(is_valid(array) if array.null_count else (), np.bool_)
    if pa.types.is_dictionary(array.type):
        texts = Texts.of_arrow(array.dictionary)
        hash_texts(np.array(texts.text), np.array(texts.ends), indices(array).astype(np.int64), valid, found)
        return
    words, wide = _words(array)
    before = np.where(valid, 0, NULL).astype(np.uint64)
    if pa.types.is_floating(array.type):
        minus = (buffer_numbers(array) == 0) & np.signbit(buffer_numbers(array))
        if minus.any():
            before = np.zeros(len(array), np.uint64) if not len(before) else before
            before[minus & (before != NULL)] = MINUS
    hash_numbers(np.array(words), before, wide, found)  # copied, as all arrays are: Numba compiles again for views


def _words(array: Any) -> tuple[Hashes, bool]:
    """The bits that Spark hashes of each value of a column, and whether they are eight bytes or four."""
    types, kind = pa.types, array.type
    if types.is_boolean(kind):
        return buffer_numbers(array.cast(pa.uint8())).astype(np.uint64), False
    if types.is_float32(kind):
        floats = _one_of_each(buffer_numbers(array))
        return floats.view(np.uint32).astype(np.uint64), False
    if types.is_float64(kind):
        return _one_of_each(buffer_numbers(array)).view(np.uint64), True
    if types.is_decimal128(kind):  # of at most 18 digits
        halves = np.frombuffer(array.buffers()[1] or b"", np.uint64).reshape(-1, 2)
        return np.ascontiguousarray(halves[array.offset : array.offset + len(array), 0]), True
    if types.is_timestamp(kind):
        return buffer_numbers(array.view(pa.int64())).astype(np.uint64), True
    numbers = buffer_numbers(array.view(pa.int32()) if types.is_date32(kind) else array)
    wide = numbers.dtype.itemsize == 8
    return (numbers.view(np.uint64) if wide else numbers.astype(np.int32).view(np.uint32).astype(np.uint64)), wide


def _one_of_each(numbers: NDArray[Any]) -> NDArray[Any]:
    """Normalises -0.0 and NaN."""
    found = np.where(numbers == 0, np.zeros(1, numbers.dtype), numbers)
    return np.where(np.isnan(found), np.full(1, np.nan, numbers.dtype), found)
