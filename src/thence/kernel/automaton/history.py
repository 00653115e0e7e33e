"""The events of matches, collected from their last node back to their first, compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.jit.interpreted import lazy_entry
from thence.kernel.automaton.memory import PARENT


@dataclass(frozen=True, slots=True, eq=False)
class MatchEvents:
    """The events of some matches, as nodes: those of match i stand at `offsets[i]:offsets[i+1]`."""

    offsets: NDArray[np.int64]
    nodes: NDArray[np.int64]

    def take(self, matches: NDArray[np.int64]) -> MatchEvents:
        """Those of some of the matches, in the order given, as often as given."""
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
    """Where the events of each match begin and end, into `offsets`; `last` is the last node of each."""
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
