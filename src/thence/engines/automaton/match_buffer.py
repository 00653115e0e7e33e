"""The events of matches, from their last node back to their first, and matches taken out of memory as columns;
compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.row_order import SORTED, UNSORTED, placed
from thence.engines.automaton.memory import CERTAIN, MATCH_END, MATCH_NODE, MATCH_SLOTS, MATCH_START, PARENT
from thence.jit.compiled import entry, inlined, lazy_entry
from thence.jit.pointers import pointer


@dataclass(frozen=True, slots=True, eq=False)
class MatchEvents:
    """The events of some matches, as nodes: those of match i are at `offsets[i]:offsets[i+1]`."""

    offsets: NDArray[np.int64]
    nodes: NDArray[np.int64]

    def take(self, matches: NDArray[np.int64]) -> MatchEvents:
        """The events of some matches, in the given order, as often as given."""
        lengths = np.diff(self.offsets)[matches]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.repeat(self.offsets[matches] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return MatchEvents(offsets, self.nodes[rows])


@dataclass(slots=True, eq=False)
class History:
    """The events of some matches, unrolled when they are first asked for: most tables of matches have no use for
    them."""

    make: Callable[[], MatchEvents]
    _made: MatchEvents | None = field(default=None)

    @property
    def events(self) -> MatchEvents:
        if self._made is None:
            self._made = self.make()
        return self._made


def match_events(nodes: NDArray[np.int64], last: NDArray[np.int64]) -> MatchEvents:
    """The events of the matches that end with some nodes."""
    last = np.ascontiguousarray(last)
    offsets = np.empty(len(last) + 1, np.int64)
    _lengths(nodes, last, offsets)
    found = np.empty((int(offsets[-1]), nodes.shape[1]), np.int64)
    _unroll(nodes, last, offsets, found)
    return MatchEvents(offsets, found)


def concatenate_events(parts: Sequence[History]) -> History:
    """The events of several lists of matches, as of one."""

    def make() -> MatchEvents:
        lengths = np.concatenate([np.diff(each.events.offsets) for each in parts])
        nodes = np.concatenate([each.events.nodes for each in parts])
        return MatchEvents(np.concatenate([[0], np.cumsum(lengths)]), nodes)

    return History(make)


@lazy_entry(lambda nodes, last, offsets: len(nodes) * len(last))
def _lengths(nodes, last, offsets):
    """Write the start and end of each match's events into `offsets`; `last` is the last node of each."""
    offsets[0] = 0
    for match in range(len(last)):
        node, count = last[match], 0
        while node >= 0:
            count += 1
            node = nodes[node, PARENT]
        offsets[match + 1] = offsets[match] + count


@lazy_entry(lambda nodes, last, offsets, history: history.size)
def _unroll(nodes, last, offsets, history):
    """The nodes of each match, in the order of its events."""
    for match in range(len(last)):
        node, place = last[match], offsets[match + 1]
        while node >= 0:
            place -= 1
            for k in range(nodes.shape[1]):
                history[place, k] = nodes[node, k]
            node = nodes[node, PARENT]


# Takes matches out of the machine's memory as columns, in one pass: they exceed the processor's cache, so passes are
# what costs.

_MANY = 1000
"""Matches that are read in their order, by something compiled."""
_AT_ONCE = 64
"""Matches that are gone through column by column: so few that they stay in the processor's nearest cache."""


class MatchColumns(NamedTuple):
    """Columns of matches. The array of shown values is separate, and can be kept alone."""

    shown: Ints  # a row for each column: start, end, and the bits of each slot
    rest: Ints  # certain and node
    tags: Ints  # a row for each match, perhaps a view of one row for all
    is_sorted: bool  # as `Matches` has it


def take_matches(found: Ints) -> MatchColumns:
    """Takes matches out of the memory. Many are brought into the order of certainty, end and start, if they nearly
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


@entry
def _drain(found, order, shown, columns, rest, others, kinds):
    """The order that the matches turn out to be in, and whether all have the tags of the first. Unless UNSORTED, the
    columns are filled."""
    cells, width, rows, length = pointer(found), found.shape[1], pointer(order), len(order)
    verdict, differs, done = SORTED, np.int64(0), 0
    for i in range(length):
        if i - done >= _AT_ONCE and cells[i * width + CERTAIN] > cells[(i - 1) * width + CERTAIN]:
            _pick(cells, width, rows, done, i, pointer(shown), len(shown), pointer(columns), length)
            _pick(cells, width, rows, done, i, pointer(rest), len(rest), pointer(others), length)
            differs |= _differ(cells, width, done, i, pointer(kinds), len(kinds))
            done = i  # none that follows belongs before it
        place = placed(cells, width, rows, i)
        if place == UNSORTED:
            return UNSORTED, False
        verdict = max(verdict, place)
    _pick(cells, width, rows, done, length, pointer(shown), len(shown), pointer(columns), length)
    _pick(cells, width, rows, done, length, pointer(rest), len(rest), pointer(others), length)
    differs |= _differ(cells, width, done, length, pointer(kinds), len(kinds))
    return verdict, differs == 0


@inlined
def _pick(cells, width, order, first, last, places, count, columns, length):
    """Copies some places of the matches from `first` to `last`, each into a column."""
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
