"""Equal triples of different events: in a window's graph each is there once (RS-24), compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thence.columns.arrays import Ids, Ints
from thence.jit.compiled import inner, lazy_entry
from thence.rdf.times import MAX_TIME, MIN_TIME


@dataclass(slots=True, eq=False)
class LatestTriples:
    """The last evaluation at which each triple is in the window. `width` columns identify a triple."""

    width: int
    count: int = 0
    _ids: Ids = field(init=False)
    _last: Ints = field(init=False)
    _slots: Ints = field(init=False)

    def __post_init__(self) -> None:
        self._allocate(16)

    def split(self, ids: Ids, first: Ints, last: Ints, time: int) -> None:
        """Change the lifetimes of triples, which come in the order of their ends, so that those of equal ones do not
        overlap: a triple takes over where the one before leaves. One that has nothing to add gets an empty lifetime."""
        if self.count + len(first) > len(self._last):
            self._grow(len(first), time)
        self.count = _split(np.ascontiguousarray(ids), first, last, self._ids, self._last, self._slots, self.count)

    def _grow(self, more: int, time: int) -> None:
        """Make room; those that have left are dropped."""
        kept = np.flatnonzero(self._last[: self.count] >= time)
        ids, last = np.ascontiguousarray(self._ids[:, kept]), self._last[kept]
        self._allocate(2 * (len(kept) + more))
        self.count = _split(ids, np.full(len(kept), MIN_TIME), last, self._ids, self._last, self._slots, 0)

    def _allocate(self, capacity: int) -> None:
        size = 32
        while size < 2 * capacity:
            size *= 2
        self._ids = np.empty((self.width, capacity), np.int32)
        self._last = np.empty(capacity, np.int64)
        self._slots = np.full(size, -1, np.int64)


@lazy_entry(lambda ids, first, *_: len(first) * (ids.shape[0] + 2))
def _split(ids, first, last, known, known_last, slots, count):
    mask = np.uint64(len(slots) - 1)
    width = ids.shape[0]
    for row in range(len(first)):
        slot = _hash(ids, width, row) & mask
        while slots[slot] >= 0 and not _are_equal(ids, row, known, slots[slot], width):
            slot = (slot + np.uint64(1)) & mask
        number = slots[slot]
        if number < 0:
            for k in range(width):
                known[k, count] = ids[k, row]
            known_last[count] = last[row]
            slots[slot] = count
            count += 1
        elif known_last[number] >= last[row]:
            first[row] = MAX_TIME
            last[row] = MIN_TIME
        else:
            first[row] = max(first[row], known_last[number] + 1)
            known_last[number] = last[row]
    return count


@inner
def _hash(ids, width, row):
    code = np.uint64(1469598103934665603)
    for k in range(width):
        code = (code ^ np.uint64(ids[k, row])) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return code


@inner
def _are_equal(left, i, right, j, width):
    for k in range(width):
        if left[k, i] != right[k, j]:
            return False
    return True
