"""A table's rows in the order of their ends: one log for each table, into which windows are cursors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from thence.algebra.rsep_ql import WindowFunction
from thence.columns.dictionary import Terms
from thence.columns.term_ids import Ids, term_ids
from thence.kernel.windows.content import Bounds, bounds, next_change
from thence.program.extracted import BindingTable
from thence.program.tables import Table
from thence.rdf.times import MIN_TIME

Ints = NDArray[np.int64]


@dataclass(slots=True)
class TableLog:
    """Rows by their ends. The arrays may be longer than the log, which ends at `length`."""

    start: Ints
    end: Ints
    ids: Ids  # a row for each variable
    refs: Ints
    length: int = 0
    dropped: int = 0  # rows before the first one here, since the log began: cursors that count all of them stay true

    @classmethod
    def of(cls, table: Table) -> TableLog:
        none = np.empty(16, np.int64)
        return cls(none, none.copy(), np.empty((len(table.variables), 16), np.int32), none.copy())

    def __len__(self) -> int:
        return self.length

    @property
    def ends(self) -> Ints:
        return self.end[: self.length]

    def append(self, found: BindingTable, table: Table, terms: Terms) -> None:
        """Rows none of which ends before those that are here."""
        if not len(found):
            return
        order = np.argsort(found.end, kind="stable")
        ids = [term_ids(found.columns[name], terms)[order] for name in table.variables]
        self.add(found.start[order], found.end[order], ids, found.refs[order, 0])

    def add(self, start: Ints, end: Ints, ids: list[Ids] | Ids, refs: Ints) -> None:
        first, last = self.length, self.length + len(end)
        if last > len(self.end):
            self._grow(2 * last)
        self.start[first:last], self.end[first:last], self.refs[first:last] = start, end, refs
        for place, column in enumerate(ids):
            self.ids[place, first:last] = column
        self.length = last

    def _grow(self, capacity: int) -> None:
        start, end, refs = (np.empty(capacity, np.int64) for _ in range(3))
        ids = np.empty((len(self.ids), capacity), np.int32)
        used = self.length
        start[:used], end[:used], refs[:used] = self.start[:used], self.end[:used], self.refs[:used]
        ids[:, :used] = self.ids[:, :used]
        self.start, self.end, self.refs, self.ids = start, end, refs, ids

    def rows(self, inside: Bounds) -> tuple[int, int]:
        """The first row of a window, and the one behind its last."""
        ends = self.ends
        low = 0 if inside.after < MIN_TIME else int(np.searchsorted(ends, inside.after, side="right"))
        high = 0 if inside.upto < MIN_TIME else int(np.searchsorted(ends, inside.upto, side="right"))
        return low, max(low, high)

    def next_change(self, function: WindowFunction, time: int) -> int | None:
        """The earliest later time at which a window over it may hold something else."""
        low, high = self.rows(bounds(function, time))
        oldest = int(self.end[low]) if low < high else None
        following = int(self.end[high]) if high < self.length else None
        return next_change(function, time, oldest, following)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Forget the others."""
        kept = np.flatnonzero(rows)
        self.dropped += int(kept[0]) if len(kept) else self.length
        self.start, self.end, self.refs = self.start[kept], self.end[kept], self.refs[kept]
        self.ids = np.ascontiguousarray(self.ids[:, kept])
        self.length = len(kept)

    def used_ids(self) -> Ids:
        return self.ids[:, : self.length].ravel()

    def renumber(self, ids: Ids) -> None:
        """Ids have changed: `ids` has the new one of each, and at its end that of UNBOUND."""
        self.ids[:, : self.length] = ids[self.ids[:, : self.length]]


@dataclass(slots=True)
class Rows:
    """Rows of answers, as ids by column, with the events of each: those of row i stand at `offsets[i]:offsets[i+1]`."""

    ids: Ids
    offsets: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    refs: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    places: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        return int(self.ids.shape[1])

    @classmethod
    def none(cls, columns: int) -> Rows:
        return cls(np.empty((columns, 0), np.int32))

    def take(self, rows: Ints) -> Rows:
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Rows(self.ids[:, rows], offsets, self.refs[places], self.places[places])

    def lists(self) -> Iterator[tuple[int, ...]]:
        """The events of each row."""
        refs, offsets = self.refs.tolist(), self.offsets.tolist()
        return (tuple(refs[low:high]) for low, high in pairwise(offsets))
