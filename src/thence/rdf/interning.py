"""The dictionary's inner loop: a hash table from bytes to ids, over plain arrays, compiled.

`text[ends[i-1]:ends[i]]` is entry i; `slots` is an open-addressed table of ids (-1: free), a power of two long.
The caller makes room beforehand (`Terms.reserve`), so that nothing here allocates.
"""

from __future__ import annotations

import numpy as np
from numba import njit

OFFSET = np.uint64(14695981039346656037)  # FNV-1a, 64 bits
PRIME = np.uint64(1099511628211)
FREE = -1


@njit(cache=True, inline="always")
def hash_step(code, byte):  # type: ignore[no-untyped-def]
    return (code ^ np.uint64(byte)) * PRIME


@njit(cache=True)
def hash_bytes(source, start, stop):  # type: ignore[no-untyped-def]
    code = OFFSET
    for i in range(start, stop):
        code = hash_step(code, source[i])
    return code


@njit(cache=True)
def same_bytes(left, i, right, j, length):  # type: ignore[no-untyped-def]
    for k in range(length):
        if left[i + k] != right[j + k]:
            return False
    return True


@njit(cache=True)
def find(text, ends, hashes, slots, source, start, stop, code):  # type: ignore[no-untyped-def]
    """The id of `source[start:stop]`, or -1 - the free slot where it belongs."""
    mask = np.int64(slots.shape[0] - 1)
    # FNV's low bits are weak for short keys: fold the high half in
    slot = np.int64((code ^ (code >> np.uint64(32))) & np.uint64(mask))
    while True:
        entry = slots[slot]
        if entry == FREE:
            return -1 - slot
        if hashes[entry] == code:
            begin = ends[entry - 1] if entry > 0 else 0
            if ends[entry] - begin == stop - start and same_bytes(text, begin, source, start, stop - start):
                return np.int64(entry)
        slot = (slot + 1) & mask


@njit(cache=True)
def append(text, ends, hashes, slots, count, source, start, stop, code, slot):  # type: ignore[no-untyped-def]
    """Make `source[start:stop]` entry number `count`, at a slot that `find` gave."""
    begin = ends[count - 1] if count > 0 else 0
    for k in range(stop - start):
        text[begin + k] = source[start + k]
    ends[count] = begin + stop - start
    hashes[count] = code
    slots[slot] = count


@njit(cache=True)
def rehash(hashes, count, slots):  # type: ignore[no-untyped-def]
    """Enter the first `count` entries into an empty, larger table."""
    mask = np.int64(slots.shape[0] - 1)
    for entry in range(count):
        code = hashes[entry]
        slot = np.int64((code ^ (code >> np.uint64(32))) & np.uint64(mask))
        while slots[slot] != FREE:
            slot = (slot + 1) & mask
        slots[slot] = entry


@njit(cache=True)
def find_all(text, ends, hashes, slots, source, bounds, found):  # type: ignore[no-untyped-def]
    """The id of each `source[bounds[i]:bounds[i+1]]`, or a negative number."""
    for i in range(len(found)):
        start, stop = bounds[i], bounds[i + 1]
        found[i] = find(text, ends, hashes, slots, source, start, stop, hash_bytes(source, start, stop))


@njit(cache=True)
def add_all(text, ends, hashes, slots, count, source, bounds, found):  # type: ignore[no-untyped-def]
    """The id of each `source[bounds[i]:bounds[i+1]]`, entered where new; the new count."""
    for i in range(len(found)):
        start, stop = bounds[i], bounds[i + 1]
        code = hash_bytes(source, start, stop)
        entry = find(text, ends, hashes, slots, source, start, stop, code)
        if entry < 0:
            append(text, ends, hashes, slots, count, source, start, stop, code, -1 - entry)
            entry = count
            count += 1
        found[i] = entry
    return count
