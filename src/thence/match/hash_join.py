"""The join of two tables of ids, compiled: a hash of the columns that are always bound, comparing those that may not
be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import UNBOUND
from thence.errors import LimitError
from thence.jit.compiled import inner, lazy_entry

MAX_ROWS = 1 << 26
"""The most pairs of one join, over all events of a batch: a gigabyte of row numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class JoinIndex:
    """Rows of key columns, ready to be joined with: the first `certain` columns are bound everywhere, and hashed."""

    keys: NDArray[np.int32]
    certain: int
    heads: NDArray[np.int64]
    following: NDArray[np.int64]


def build_index(keys: NDArray[np.int32], certain: int) -> JoinIndex:
    return JoinIndex(keys, certain, *_chains(keys, certain))


def join_rows(left: NDArray[np.int32], right: JoinIndex) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of rows that agree, by the left row, then by the right: the certain columns are equal, and of the others an
    unbound one agrees with anything."""
    lefts, rights = _join(left, right.keys, right.certain, right.heads, right.following, MAX_ROWS)
    if len(lefts) > MAX_ROWS:
        raise LimitError(
            f"A join gives more than {MAX_ROWS:,} rows. Try: patterns that share a variable, fewer events."
        )
    return lefts, rights


@inner
def _hash(keys, certain, row):
    code = np.uint64(1469598103934665603)
    for k in range(certain):
        code = (code ^ np.uint64(keys[k, row])) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return code


@inner
def _agree(left, i, right, j, certain):
    for k in range(certain):
        if left[k, i] != right[k, j]:
            return False
    for k in range(certain, left.shape[0]):
        if left[k, i] != right[k, j] and left[k, i] != UNBOUND and right[k, j] != UNBOUND:
            return False
    return True


@lazy_entry(lambda keys, certain: keys.shape[1] * (certain + 1))
def _chains(keys, certain):
    """Chained hashing: the first row of each chain, and of each row the next."""
    rows = keys.shape[1]
    size = 16
    while size < 2 * rows:
        size *= 2
    mask = np.uint64(size - 1)
    heads = np.full(size, -1, np.int64)
    following = np.empty(rows, np.int64)
    for j in range(rows - 1, -1, -1):  # backwards, so that a chain runs forwards
        slot = np.int64(_hash(keys, certain, j) & mask)
        following[j] = heads[slot]
        heads[slot] = j
    return heads, following


@lazy_entry(lambda left, right, *_: (left.shape[0] + 1) * left.shape[1] * (right.shape[1] + 1))
def _join(left, right, certain, heads, following, most):
    """Stops one row beyond `most`."""
    mask = np.uint64(len(heads) - 1)
    capacity = left.shape[1] + 16
    lefts = np.empty(capacity, np.int64)
    rights = np.empty(capacity, np.int64)
    count = 0
    for i in range(left.shape[1]):
        j = heads[np.int64(_hash(left, certain, i) & mask)]
        while j >= 0:
            if _agree(left, i, right, j, certain):
                if count == capacity:
                    capacity *= 2
                    lefts = _grown(lefts, capacity)
                    rights = _grown(rights, capacity)
                lefts[count] = i
                rights[count] = j
                count += 1
                if count > most:
                    return lefts[:count], rights[:count]
            j = following[j]
    return lefts[:count].copy(), rights[:count].copy()


@inner
def _grown(array, capacity):
    larger = np.empty(capacity, array.dtype)
    for i in range(len(array)):  # not by a slice, which brings the text of an error of shapes: 3 s to compile
        larger[i] = array[i]
    return larger
