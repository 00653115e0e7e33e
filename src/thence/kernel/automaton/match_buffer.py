"""Takes matches out of the machine's memory as columns, in one pass: they exceed the processor's cache, so passes are
what costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.jit.compiled import entry, inlined
from thence.jit.pointers import pointer
from thence.kernel.automaton.memory import CERTAIN, MATCH_END, MATCH_NODE, MATCH_SLOTS, MATCH_START

Ints = NDArray[np.int64]

_MANY = 1000
"""Matches that are read in their order, by something compiled."""
_AT_ONCE = 64
"""Matches that are gone through column by column: so few that they stay in the processor's nearest cache."""

_FAR = 1000
"""Places that a match is moved, before another way is taken to sort them."""

UNSORTED, SORTED, ALIKE = 0, 1, 2
"""What is found of an order: it is none, or the only one, or some matches have all in common that it goes by."""


class MatchColumns(NamedTuple):
    """Columns of matches. What answers show stands in an array of its own, and can be kept without the rest."""

    shown: Ints  # a row for each column: start, end, and the bits of each slot
    rest: Ints  # certain and node
    tags: Ints  # a row for each match, perhaps a view of one row for all
    is_sorted: bool  # as `Matches` has it


def take_matches(found: Ints) -> MatchColumns:
    """Some matches as the memory has them. Many are brought into the order of certainty, end and start, if they nearly
    are: that costs little on the way."""
    shown = np.array([MATCH_START, MATCH_END, *range(MATCH_SLOTS + 1, found.shape[1], 2)])
    rest, kinds = np.array([CERTAIN, MATCH_NODE]), np.arange(MATCH_SLOTS, found.shape[1], 2)
    if len(found) >= _MANY:
        columns, others = (np.empty((len(places), len(found)), np.int64) for places in (shown, rest))
        order = np.arange(len(found))
        verdict, is_one = _drain(found, order, shown, columns, rest, others, kinds)
        if verdict != UNSORTED:
            tags = np.broadcast_to(found[0, kinds], (len(found), len(kinds))) if is_one else found[:, kinds][order]
            return MatchColumns(columns, others, tags, bool(verdict == SORTED))
    return MatchColumns(found.T[shown], found.T[rest], found[:, kinds], False)


def sorted_by_times(certain: Ints, end: Ints, start: Ints) -> Ints:
    """The order of some matches by certainty, end and start, which most often is nearly the one that they have.

    >>> sorted_by_times(np.array([4, 4, 7]), np.array([4, 4, 7]), np.array([3, 1, 2]))
    array([1, 0, 2])
    """
    order = np.arange(len(certain))
    times = np.empty((len(certain), 3), np.int64)
    times[:, CERTAIN], times[:, MATCH_START], times[:, MATCH_END] = certain, start, end
    return order if _in_order(times, order) != UNSORTED else np.lexsort((start, end, certain))


@entry
def _drain(found, order, shown, columns, rest, others, kinds):
    """What is found of the order, and whether all matches have the tags of the first. Unless they are UNSORTED, the
    columns are filled."""
    cells, width, rows, length = pointer(found), found.shape[1], pointer(order), len(order)
    verdict, differs, done = SORTED, np.int64(0), 0
    for i in range(length):
        if i - done >= _AT_ONCE and cells[i * width + CERTAIN] > cells[(i - 1) * width + CERTAIN]:
            _pick(cells, width, rows, done, i, pointer(shown), len(shown), pointer(columns), length)
            _pick(cells, width, rows, done, i, pointer(rest), len(rest), pointer(others), length)
            differs |= _differ(cells, width, done, i, pointer(kinds), len(kinds))
            done = i  # none that follows belongs before it
        place = _placed(cells, width, rows, i)
        if place == UNSORTED:
            return UNSORTED, False
        verdict = max(verdict, place)
    _pick(cells, width, rows, done, length, pointer(shown), len(shown), pointer(columns), length)
    _pick(cells, width, rows, done, length, pointer(rest), len(rest), pointer(others), length)
    differs |= _differ(cells, width, done, length, pointer(kinds), len(kinds))
    return verdict, differs == 0


@entry
def _in_order(times, order):
    """Put `order` into the order of some matches' times, and tell what was found of it."""
    verdict = SORTED
    for i in range(len(order)):
        found = _placed(pointer(times), times.shape[1], pointer(order), i)
        if found == UNSORTED:
            return UNSORTED
        verdict = max(verdict, found)
    return verdict


@inlined
def _placed(cells, width, order, i):
    """Put match number i into its place among those before it. They come nearly in order: what is certain first comes
    first, and few are certain at once."""
    row = i * width
    if i > 0 and cells[row + CERTAIN] < cells[row - width + CERTAIN]:
        return UNSORTED
    place, found = i, SORTED
    while place > 0:
        other = order[place - 1] * width
        if cells[other + CERTAIN] < cells[row + CERTAIN] or cells[other + MATCH_END] < cells[row + MATCH_END]:
            break
        is_after = cells[other + MATCH_END] > cells[row + MATCH_END]
        if not is_after and cells[other + MATCH_START] <= cells[row + MATCH_START]:
            found = ALIKE if cells[other + MATCH_START] == cells[row + MATCH_START] else SORTED
            break
        order[place] = order[place - 1]
        place -= 1
        if i - place > _FAR:
            return UNSORTED
    order[place] = i
    return found


@inlined
def _pick(cells, width, order, first, last, places, count, columns, length):
    """Some places of the matches from `first` to `last`, each into a column."""
    for k in range(count):
        place, column = places[k], k * length
        for i in range(first, last):
            columns[column + i] = cells[order[i] * width + place]


@inlined
def _differ(cells, width, first, last, places, count):
    """Whether a match has another number in one of some places than the first of all: not 0, if one has."""
    differs = np.int64(0)
    for k in range(count):
        place = places[k]
        for i in range(first, last):
            differs |= cells[i * width + place] ^ cells[place]
    return differs
