"""Hash tables from bytes to ids, 128-bit hashes of texts and values, and distinct triples; compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thence.columns.texts import Texts
from thence.columns.value_kinds import NONE
from thence.jit.compiled import inlined, inner, lazy_entry

# Bytes of texts as 64-bit words, compiled: input of hash functions.


@inlined
def word_at(text, place, count):
    """Up to eight bytes as a number, the first byte lowest."""
    word = np.uint64(0)
    for number in range(count):
        word |= np.uint64(text[place + number]) << np.uint64(8 * number)
    return word


# The dictionary's inner loop: a hash table from bytes to ids, over plain arrays, compiled.
#
# `text[ends[i-1]:ends[i]]` is entry i; `slots` is an open-addressed table (-1: free), a power of two long.
# The caller makes room beforehand (`Terms.reserve`), so that nothing here allocates.

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
    # unsigned, since a signed index costs a test for negative values
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
    """The content of a slot: the upper half of the hash, which detects most misses at once, and the entry."""
    return np.int64((code & np.uint64(0x7FFFFFFF00000000)) | np.uint64(entry))


@inlined
def find(text, ends, slots, source, start, stop, code):
    """The id of `source[start:stop]`, or -1 - the free slot for it."""
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
    """Stores `source[start:stop]` as entry number `count`, at a slot that `find` returned."""
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
    """Enters the first `count` entries into an empty, larger table."""
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
    """The id of each `source[bounds[i]:bounds[i+1]]`, entered where new; and the new count."""
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
    """The ids in this table of some entries of another one, entered where new; and the new count."""
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
    """Stores in `known`, by id of another table, the id in this table of each of some entries, or `missing`. Entries
    other than `unknown` are already known."""
    for i in range(len(ids)):
        if known[ids[i]] == unknown:
            start = source_ends[ids[i] - 1] if ids[i] > 0 else 0
            entry = find(text, ends, slots, source_text, start, source_ends[ids[i]], source_hashes[ids[i]])
            known[ids[i]] = missing if entry < 0 else entry


# Removes duplicate triples of an event, compiled.


def without_duplicates(
    offsets: NDArray[np.int64], subjects: NDArray[np.int32], predicates: NDArray[np.int32], objects: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """A mask of the triples to keep so that each event is a set: the first of equal ones."""
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


# 128-bit hashes of texts, events and values, and their hexadecimal text; compiled where there is a loop over bytes.

Words = NDArray[np.uint64]

_HIGH, _LOW = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)  # digits of pi


@inlined
def high(code, more):
    code = (code ^ more) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(29))


@inlined
def low(code, more):
    """The lower half of a hash, mixed differently from `high`, so that values equal in one half differ in the other."""
    code = (code ^ more) * np.uint64(0xD1B54A32D192ED03)
    return code ^ (code >> np.uint64(32))


@lazy_entry(lambda text, ends, found: len(text) + 4 * len(ends))
def hash_texts(text, ends, found):
    """Two hashes of each text, eight bytes at a time."""
    start = 0
    for number in range(len(ends)):
        end = ends[number]
        one, other = high(_HIGH, np.uint64(end - start)), low(_LOW, np.uint64(end - start))
        for place in range(start, end, 8):
            word = word_at(text, place, 8) if place + 8 <= end else word_at(text, place, end - place)
            one, other = high(one, word), low(other, word)
        found[number, 0], found[number, 1] = one, other
        start = end


@lazy_entry(lambda hashed, *others: 8 * len(hashed))
def hash_events(hashed, offsets, places, starts, ends, found):
    """The hash of a match's events: of their hashes, positions and places, and the match's times."""
    for match in range(len(found)):
        one, other = np.uint64(0), np.uint64(0)
        for number in range(offsets[match], offsets[match + 1]):
            place, position = np.uint64(places[number]), np.uint64(number - offsets[match])
            # each is mixed with its position, so that the sum depends on the order
            one += high(high(hashed[number, 0], place), position)
            other += low(low(hashed[number, 1], place), position)
        start, end = np.uint64(starts[match]), np.uint64(ends[match])
        found[match, 0] = high(high(one, start), end)
        found[match, 1] = low(low(other, start), end)


@lazy_entry(lambda tags, *others: 8 * len(tags))
def hash_values(tags, bits, named, hashes, found):
    """The hash of the bindings of matches or iterations, one column at a time. A term counts by its own hash, since its
    id differs between processes."""
    for row in range(len(found)):
        tag, value = np.uint64(tags[row]), np.uint64(bits[row])
        if tags[row] == NONE:
            value = np.uint64(0)
        elif named[row]:
            value = hashes[bits[row]]
        found[row, 0] = high(high(found[row, 0], tag), value)
        found[row, 1] = low(low(found[row, 1], tag), value)


_DIGITS = np.frombuffer(b"".join(b"%04x" % pair for pair in range(2**16)), np.uint32)


def as_hexadecimal(words: Words) -> Texts:
    """Two words per row as 32 digits.

    >>> as_hexadecimal(np.array([[1, 255]], np.uint64)).to_list()
    ['000000000000000100000000000000ff']
    """
    pairs = words.astype(">u8").view(">u2").reshape(-1)
    return Texts(_DIGITS[pairs].view(np.uint8), 32 * np.arange(1, len(words) + 1))


_VALUES = np.full(256, 255, np.uint8)
_VALUES[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
"""The value of each byte as a digit; 255 if it is not a digit."""


@lazy_entry(lambda text, values, found: 4 * len(text))
def read_digits(text, values, found):
    """Two words of 16 digits per row; and whether all are digits as `as_hexadecimal` writes them."""
    others = np.uint8(0)
    place = 0
    for row in range(len(found)):
        for half in range(2):
            word = np.uint64(0)
            for _ in range(16):
                value = values[text[place]]
                others |= value
                word = (word << np.uint64(4)) | np.uint64(value)
                place += 1
            found[row, half] = word
    return others < 16


def from_hexadecimal(texts: Texts) -> Words | None:
    """The words that `as_hexadecimal` wrote; None if the texts have another form.

    >>> from_hexadecimal(as_hexadecimal(np.array([[1, 255]], np.uint64))).tolist()
    [[1, 255]]
    """
    if not len(texts) or (texts.ends != 32 * np.arange(1, len(texts) + 1)).any():
        return None
    found = np.empty((len(texts), 2), np.uint64)
    return found if read_digits(np.array(texts.text), _VALUES, found) else None
