"""128-bit hashes of texts, events and values, and their hexadecimal text; compiled where there is a loop over bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thence.columns.byte_words import word_at
from thence.columns.texts import Texts
from thence.columns.value_kinds import NONE
from thence.jit.compiled import inlined
from thence.jit.interpreted import lazy_entry

Words = NDArray[np.uint64]

_HIGH, _LOW = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)  # digits of pi


@inlined
def high(code, more):
    code = (code ^ more) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(29))


@inlined
def low(code, more):
    """Otherwise than `high`, so that what is alike in one half differs in the other."""
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
    """What a match's events are: their hashes, where they stand in it, the places that they fill, its times."""
    for match in range(len(found)):
        one, other = np.uint64(0), np.uint64(0)
        for number in range(offsets[match], offsets[match + 1]):
            place, position = np.uint64(places[number]), np.uint64(number - offsets[match])
            # each is mixed with its position, so that a sum tells orders apart
            one += high(high(hashed[number, 0], place), position)
            other += low(low(hashed[number, 1], place), position)
        start, end = np.uint64(starts[match]), np.uint64(ends[match])
        found[match, 0] = high(high(one, start), end)
        found[match, 1] = low(low(other, start), end)


@lazy_entry(lambda tags, *others: 8 * len(tags))
def hash_values(tags, bits, named, hashes, found):
    """What matches bind, or iterations, a column at a time: of a term its hash, since it has another number
    elsewhere."""
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
    """Two words a row as 32 digits.

    >>> as_hexadecimal(np.array([[1, 255]], np.uint64)).to_list()
    ['000000000000000100000000000000ff']
    """
    pairs = words.astype(">u8").view(">u2").reshape(-1)
    return Texts(_DIGITS[pairs].view(np.uint8), 32 * np.arange(1, len(words) + 1))


_VALUES = np.full(256, 255, np.uint8)
_VALUES[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
"""What each byte is as a digit; 255 if it is none."""


@lazy_entry(lambda text, values, found: 4 * len(text))
def read_digits(text, values, found):
    """Two words of 16 digits a row; whether all are such digits as `as_hexadecimal` writes."""
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
    """What `as_hexadecimal` has written; None if it has not.

    >>> from_hexadecimal(as_hexadecimal(np.array([[1, 255]], np.uint64))).tolist()
    [[1, 255]]
    """
    if not len(texts) or (texts.ends != 32 * np.arange(1, len(texts) + 1)).any():
        return None
    found = np.empty((len(texts), 2), np.uint64)
    return found if read_digits(np.array(texts.text), _VALUES, found) else None
