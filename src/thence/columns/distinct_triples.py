"""Removes duplicate triples of an event, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thence.jit.compiled import inner
from thence.jit.interpreted import lazy_entry


def without_duplicates(
    offsets: NDArray[np.int64], subjects: NDArray[np.int32], predicates: NDArray[np.int32], objects: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Which triples to keep so that each event is a set; the first occurrences stay."""
    keep = np.ones(len(subjects), np.bool_)
    _mark_duplicates(offsets, subjects, predicates, objects, keep)
    return keep


@lazy_entry(lambda offsets, subjects, predicates, objects, keep: 16 * len(keep))
def _mark_duplicates(offsets, subjects, predicates, objects, keep):
    for event in range(len(offsets) - 1):
        first, last = offsets[event], offsets[event + 1]
        if last - first > 32:
            _mark_by_hash(first, last, subjects, predicates, objects, keep)
        else:
            for i in range(first + 1, last):
                for j in range(first, i):
                    if objects[j] == objects[i] and predicates[j] == predicates[i] and subjects[j] == subjects[i]:
                        keep[i] = False
                        break


@inner
def _mark_by_hash(first, last, subjects, predicates, objects, keep):
    size = 64
    while size < 2 * (last - first):
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, np.int64)
    for i in range(first, last):
        code = np.uint64(objects[i]) * np.uint64(0x9E3779B97F4A7C15)
        code = (code ^ np.uint64(predicates[i])) * np.uint64(0xC2B2AE3D27D4EB4F)
        code = (code ^ np.uint64(subjects[i])) * np.uint64(0x165667B19E3779F9)
        slot = np.int64((code >> np.uint64(20)) & mask)
        while slots[slot] >= 0:
            j = slots[slot]
            if objects[j] == objects[i] and predicates[j] == predicates[i] and subjects[j] == subjects[i]:
                keep[i] = False
                break
            slot = (slot + 1) & np.int64(mask)
        if keep[i]:
            slots[slot] = i
