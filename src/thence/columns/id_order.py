"""The order of event ids (C-33): `S:6` comes before `S:10`."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.texts import Texts

_NUMBERED = re.compile(r"(.*):0*([0-9]*)", re.DOTALL)
_ZERO, _NINE, _COLON = b"09:"
_MOST_DIGITS = 18  # that 64 bits hold


def id_key(name: str) -> tuple[str, int, int, str, int]:
    """The sort key of an id: (TEXT, 0, number) for TEXT:DIGITS, (id, 1) for any other. Among ids of one number the
    shorter comes first.

    >>> sorted(["S:10", "S:6", "S", "T:1", "S:x", "S:06"], key=id_key)
    ['S:6', 'S:06', 'S:10', 'S', 'S:x', 'T:1']
    """
    found = _NUMBERED.fullmatch(name)
    if found is None or name.endswith(":"):
        return name, 1, 0, "", 0
    text, digits = found.groups()
    return text, 0, len(digits), digits, len(name)


def id_ranks(ids: Texts) -> Ints:
    """The rank of each id in the order of `id_key`; equal ids have one rank.

    >>> id_ranks(Texts.of(["S:10", "S:6", "S", "S:10"])).tolist()
    [1, 0, 2, 1]
    """
    if not len(ids.text):
        return np.zeros(len(ids), np.int64)
    first, last = ids.starts, ids.ends  # of each id, then of its digits
    places = np.arange(len(ids.text))
    is_digit = (ids.text >= _ZERO) & (ids.text <= _NINE)
    before = np.maximum.accumulate(np.where(is_digit, -1, places))[last - 1]  # the last that is not a digit
    is_numbered = (before >= first) & (before < last - 1) & (ids.text[before] == _COLON)
    counted = np.append(
        0, np.cumsum(~is_digit | (ids.text != _ZERO))
    )  # the number of characters other than zeros so far
    leading = np.minimum(np.searchsorted(counted, counted[before + 1] + 1) - 1, last)
    lengths = np.where(is_numbered, last - leading, 0)
    keys = (
        np.where(is_numbered, last - first, 0),
        _numbers(ids, leading, lengths),
        lengths,
        ~is_numbered,
        _text_ranks(ids.text, first, np.where(is_numbered, before, last)),
    )
    order = np.lexsort(keys)
    is_new = np.zeros(len(ids), np.int64)
    for key in keys:
        is_new[1:] |= key[order[1:]] != key[order[:-1]]
    ranks = np.empty(len(ids), np.int64)
    ranks[order] = np.cumsum(is_new)
    return ranks


def _numbers(ids: Texts, first: Ints, lengths: Ints) -> Ints:
    """Numbers with these many digits each; numbers of one length are ordered by them."""
    found = np.zeros(len(ids), np.int64)
    for place in range(min(int(lengths.max()), _MOST_DIGITS)):
        has = lengths > place
        found[has] = 10 * found[has] + ids.text[first[has] + place] - _ZERO
    long = np.flatnonzero(lengths > _MOST_DIGITS)
    if len(long):
        found[long] = _text_ranks(ids.text, first[long], ids.ends[long])
    return found


def _text_ranks(text: NDArray[np.uint8], first: Ints, last: Ints) -> Ints:
    """The rank of each of some texts."""
    content = text.tobytes()
    texts = [content[i:j] for i, j in zip(first.tolist(), last.tolist(), strict=True)]
    ranks = {each: rank for rank, each in enumerate(sorted(set(texts)))}
    return np.array([ranks[each] for each in texts], np.int64)
