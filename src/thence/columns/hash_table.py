"""The dictionary's inner loop: a hash table from bytes to ids, over plain arrays, compiled.

`text[ends[i-1]:ends[i]]` is entry i; `slots` is an open-addressed table (-1: free), a power of two long.
The caller makes room beforehand (`Terms.reserve`), so that nothing here allocates.
"""

from __future__ import annotations

import numpy as np

from thence.jit.compiled import inlined, inner
from thence.jit.interpreted import lazy_entry

OFFSET = np.uint64(14695981039346656037)  # FNV-1a, 64 bits
PRIME = np.uint64(1099511628211)
FREE = -1


@inlined
def hash_step(code, byte):
    return (code ^ np.uint64(byte)) * PRIME


@inner
def hash_bytes(source, start, stop):
    code = OFFSET
    for i in range(start, stop):
        code = hash_step(code, source[i])
    return code


@inlined
def same_bytes(left, i, right, j, length):
    # unsigned, since a signed index costs a test for being negative each time
    a, b = np.uint64(i), np.uint64(j)
    for k in range(np.uint64(length)):
        if left[a + k] != right[b + k]:
            return False
    return True


@inlined
def _first_slot(code, slots):
    # FNV's low bits are weak for short keys: fold the high half in
    return np.int64((code ^ (code >> np.uint64(32))) & np.uint64(len(slots) - 1))


@inlined
def _mark(code, entry):
    """What a slot holds: the upper half of the hash, which settles most misses at once, and the entry."""
    return np.int64((code & np.uint64(0x7FFFFFFF00000000)) | np.uint64(entry))


@inlined
def find(text, ends, slots, source, start, stop, code):
    """The id of `source[start:stop]`, or -1 - the free slot where it belongs."""
    slot = _first_slot(code, slots)
    wanted = _mark(code, 0)
    while True:
        held = slots[slot]
        if held == FREE:
            return -1 - slot
        if held & np.int64(0x7FFFFFFF00000000) == wanted:
            entry = held & np.int64(0xFFFFFFFF)
            begin = ends[entry - 1] if entry > 0 else 0
            if ends[entry] - begin == stop - start and same_bytes(text, begin, source, start, stop - start):
                return entry
        slot = (slot + 1) & (len(slots) - 1)


@inlined
def append(text, ends, hashes, slots, count, source, start, stop, code, slot):
    """Make `source[start:stop]` entry number `count`, at a slot that `find` gave."""
    begin = ends[count - 1] if count > 0 else 0
    for k in range(stop - start):
        text[begin + k] = source[start + k]
    ends[count] = begin + stop - start
    hashes[count] = code
    slots[slot] = _mark(code, count)


def _bytes_given(text, ends, hashes, slots, count, source, bounds, found):
    return 2 * len(source)


def _bytes_sought(text, ends, slots, source, bounds, found):
    return 2 * len(source)


def _bytes_imported(text, ends, hashes, slots, count, source_text, source_ends, source_hashes, ids, found):
    return int((source_ends[ids] - np.where(ids > 0, source_ends[ids - 1], 0)).sum()) + len(ids)


def _bytes_looked_up(text, ends, slots, source_text, source_ends, source_hashes, ids, known, unknown, missing):
    return int((source_ends[ids] - np.where(ids > 0, source_ends[ids - 1], 0)).sum()) + len(ids)


@lazy_entry(lambda hashes, count, slots: 4 * count)
def rehash(hashes, count, slots):
    """Enter the first `count` entries into an empty, larger table."""
    for number in range(count):
        slot = _first_slot(hashes[number], slots)
        while slots[slot] != FREE:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = _mark(hashes[number], number)


@lazy_entry(_bytes_sought)
def find_all(text, ends, slots, source, bounds, found):
    """The id of each `source[bounds[i]:bounds[i+1]]`, or a negative number."""
    for i in range(len(found)):
        start, stop = bounds[i], bounds[i + 1]
        found[i] = find(text, ends, slots, source, start, stop, hash_bytes(source, start, stop))


@lazy_entry(_bytes_given)
def add_all(text, ends, hashes, slots, count, source, bounds, found):
    """The id of each `source[bounds[i]:bounds[i+1]]`, entered where new; the new count."""
    for i in range(len(found)):
        start, stop = bounds[i], bounds[i + 1]
        code = hash_bytes(source, start, stop)
        entry = find(text, ends, slots, source, start, stop, code)
        if entry < 0:
            append(text, ends, hashes, slots, count, source, start, stop, code, -1 - entry)
            entry = count
            count += 1
        found[i] = entry
    return count


@lazy_entry(_bytes_imported)
def import_all(text, ends, hashes, slots, count, source_text, source_ends, source_hashes, ids, found):
    """The id here of each of some entries of another table, entered where new; the new count."""
    for i in range(len(ids)):
        start = source_ends[ids[i] - 1] if ids[i] > 0 else 0
        stop = source_ends[ids[i]]
        code = source_hashes[ids[i]]
        entry = find(text, ends, slots, source_text, start, stop, code)
        if entry < 0:
            append(text, ends, hashes, slots, count, source_text, start, stop, code, -1 - entry)
            entry = np.int64(count)
            count += 1
        found[i] = entry
    return count


@lazy_entry(_bytes_looked_up)
def look_up(text, ends, slots, source_text, source_ends, source_hashes, ids, known, unknown, missing):
    """Note in `known`, by id of another table, the id here of each of some entries, or `missing`. Each that is not
    `unknown` is known already."""
    for i in range(len(ids)):
        if known[ids[i]] == unknown:
            start = source_ends[ids[i] - 1] if ids[i] > 0 else 0
            entry = find(text, ends, slots, source_text, start, source_ends[ids[i]], source_hashes[ids[i]])
            known[ids[i]] = missing if entry < 0 else entry
