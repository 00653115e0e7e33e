"""Names for matches that are the same whenever and wherever a match is found: 128 bits as hexadecimal text, compiled
where there is a loop over bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thence.kernel.sequence import Matches
from thence.rdf.compiled import entry
from thence.rdf.dictionary import Terms
from thence.rdf.tags import NONE
from thence.rdf.texts import Texts
from thence.rdf.value_columns import names_a_term

Words = NDArray[np.uint64]

_SEEDS = (np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344))  # digits of pi
_ODD = np.uint64(0x9E3779B97F4A7C15)
_FAR = np.uint64(29)


@entry
def hash_texts(text, ends, seed, found):
    """A hash of each text."""
    start = 0
    for number in range(len(ends)):
        code = seed
        for place in range(start, ends[number]):
            code = (code ^ np.uint64(text[place])) * np.uint64(0x100000001B3)
        found[number] = code ^ (code >> np.uint64(32))
        start = ends[number]


def match_ids(matches: Matches, ids: Texts, terms: Terms) -> Texts:
    """A name for each match, of its events' ids, the places that they fill, and what it binds. `ids` are those of all
    its events, one match behind the other."""
    halves = [_half(matches, ids, terms, seed) for seed in _SEEDS]
    return as_hexadecimal(np.stack(halves, axis=1))


def _half(matches: Matches, ids: Texts, terms: Terms, seed: np.uint64) -> Words:
    hashed = np.empty(len(ids), np.uint64)
    hash_texts(np.array(ids.text), np.array(ids.ends), seed, hashed)
    lengths = np.diff(matches.offsets)
    position = np.arange(len(hashed)) - np.repeat(matches.offsets[:-1], lengths)
    hashed = _mixed(hashed, matches.places.astype(np.uint64))
    hashed = _mixed(hashed, position.astype(np.uint64))
    # each is mixed with its position, so that a sum tells orders apart; every match has an event
    code = np.add.reduceat(hashed, matches.offsets[:-1]) if len(lengths) else np.empty(0, np.uint64)
    for times in (matches.first, matches.last):
        code = _mixed(code, times.astype(np.uint64))
    for column in range(matches.tags.shape[1]):
        tags, bits = matches.tags[:, column], matches.bits[:, column].astype(np.uint64)
        named = names_a_term(tags) & (tags != NONE)
        if named.any():
            bits[named] = terms.hashes[matches.bits[named, column]]
        bits[tags == NONE] = 0
        code = _mixed(_mixed(code, tags.astype(np.uint64)), bits)
    return code


def _mixed(code: Words, more: Words) -> Words:
    code = (code ^ more) * _ODD
    return code ^ (code >> _FAR)


_DIGITS = np.frombuffer(b"".join(b"%04x" % pair for pair in range(2**16)), np.uint32)


def as_hexadecimal(words: Words) -> Texts:
    """Two words a row as 32 digits.

    >>> as_hexadecimal(np.array([[1, 255]], np.uint64)).to_list()
    ['000000000000000100000000000000ff']
    """
    pairs = words.astype(">u8").view(">u2").reshape(-1)
    return Texts(_DIGITS[pairs].view(np.uint8), 32 * np.arange(1, len(words) + 1))
