"""What groups keep of their members' terms: how often each is there, and which is the least or greatest."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

import numpy as np

from thence.columns.dictionary import Terms
from thence.columns.term_ids import Ids
from thence.kernel.windows.table_log import Ints
from thence.match.aggregates import total_key

_FEW = 16
"""So few entries of a heap are not cleared of terms that have left."""

_MOST_ENTRIES = 10_000

_Entry: TypeAlias = tuple[Any, int]
"""A key by which a term sorts, and its id."""

Changes: TypeAlias = tuple[Ints, Ids, Ints]
"""Groups, the ids of terms, and signs: 1 for what comes, -1 for what goes."""


@dataclass(slots=True, eq=False)
class TermCounts:
    """How often each group has each term."""

    counts: dict[int, int] = field(default_factory=dict)  # by group and id, as `_code` has them

    def update(self, groups: Ints, ids: Ids, signs: Ints) -> Changes:
        """Members come and go: the terms that a group did not have before, and those that it has no longer."""
        codes, where = np.unique(_code(groups, ids), return_inverse=True)
        changes = np.zeros(len(codes), np.int64)
        np.add.at(changes, where, signs)
        found, turns = [], []
        for code, change in zip(codes.tolist(), changes.tolist(), strict=True):
            before = self.counts.get(code, 0)
            if before + change:
                self.counts[code] = before + change
            elif before:
                del self.counts[code]
            if (before == 0) != (before + change == 0):
                found.append(code)
                turns.append(1 if change > 0 else -1)
        chosen = np.array(found, np.int64)
        return chosen >> 32, (chosen & 0xFFFFFFFF).astype(np.int32) - 1, np.array(turns, np.int64)

    def has(self, group: int, id: int) -> bool:
        return (group << 32 | (id + 1)) in self.counts


def _code(groups: Ints, ids: Ids) -> Ints:
    """Numbers for groups and ids, UNBOUND (-1) among them."""
    return groups << 32 | (ids.astype(np.int64) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Descending:
    """A key that sorts the other way round."""

    key: tuple[Any, ...]

    def __lt__(self, other: _Descending) -> bool:
        return other.key < self.key


@dataclass(slots=True, eq=False)
class ExtremeTerms:
    """The least or greatest term of each group: a heap of all its terms, in which those that have left stay until they
    are first, or are more than the others."""

    descending: bool
    heaps: dict[int, list[_Entry]] = field(default_factory=lambda: defaultdict(list))
    entries: dict[int, _Entry] = field(default_factory=dict)  # by id; some of those that are or were there

    def update(self, changes: Changes, known: TermCounts, sizes: Ints, terms: Terms) -> None:
        """Terms come and go; `known` are those that there are now, `sizes` how many."""
        for group, id, sign in zip(*(each.tolist() for each in changes), strict=True):
            heap = self.heaps[group]
            if sign > 0:
                heappush(heap, self._entry(id, terms))
            elif len(heap) > 2 * sizes[group] + _FEW:
                heap[:] = {id: (key, id) for key, id in heap if known.has(group, id)}.values()
                heapify(heap)

    def _entry(self, id: int, terms: Terms) -> _Entry:
        found = self.entries.get(id)
        if found is None:
            if len(self.entries) >= _MOST_ENTRIES:
                self.entries.clear()
            key = total_key(terms[id])
            found = self.entries[id] = (_Descending(key) if self.descending else key, id)
        return found

    def first(self, group: int, known: TermCounts) -> int | None:
        """The id of the term; None if there is none."""
        heap = self.heaps[group]
        while heap and not known.has(group, heap[0][1]):
            heappop(heap)
        return heap[0][1] if heap else None
