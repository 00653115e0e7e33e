"""`LivingRows`: the rows of a view that hold at an evaluation, and how they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from thence.columns.term_ids import Ids
from thence.kernel.temporal.interval_table import IntervalTable
from thence.kernel.windows.table_log import Ints
from thence.kernel.windows.views import Step, View
from thence.rdf.times import MIN_TIME

_FEW = 1000
"""So few rows are not cleared of those that have left."""


@dataclass(slots=True, eq=False)
class LivingRows:
    """Rows of a view, and those that will hold later. `shape` makes the columns that are kept of the view's."""

    view: View
    width: int
    shape: Callable[[IntervalTable, Step], Ids]
    time: int = MIN_TIME - 1  # of the last evaluation
    count: int = 0
    _first: Ints = field(init=False)
    _last: Ints = field(init=False)
    _ids: Ids = field(init=False)
    holds_any: bool = False
    _kept: int = 0  # how many rows stayed, when it was last cleared

    def __post_init__(self) -> None:
        self._first, self._last = np.empty(16, np.int64), np.empty(16, np.int64)
        self._ids = np.empty((self.width, 16), np.int32)

    def advance(self, step: Step) -> tuple[Ids, Ids]:
        """Go on to an evaluation: the rows that hold now and did not before, and the reverse. A row that is replaced by
        an equal one is in both."""
        before, time = self.time, step.time
        changes = self.view.changes(step)
        if len(changes):
            self._add(changes, self.shape(changes, step))
        first, last = self._first[: self.count], self._last[: self.count]
        holds = (first <= time) & (last >= time)
        if before < MIN_TIME:
            left = np.zeros(len(first), np.bool_)
            entered = holds
        else:
            left = (first <= before) & (last >= before) & (last < time)
            entered = holds & (first > before)
        found = self._ids[:, : self.count][:, entered], self._ids[:, : self.count][:, left]
        self.time, self.holds_any = time, bool(holds.any())
        if self.count > 2 * self._kept + _FEW:
            self._clear(last >= time)
        return found

    def rows(self) -> Ids:
        """The rows that hold."""
        first, last = self._first[: self.count], self._last[: self.count]
        return self._ids[:, : self.count][:, (first <= self.time) & (last >= self.time)]

    def _add(self, rows: IntervalTable, ids: Ids) -> None:
        low, high = self.count, self.count + len(rows)
        if high > len(self._first):
            self._allocate(2 * high)
        self._first[low:high], self._last[low:high], self._ids[:, low:high] = rows.start, rows.end, ids
        self.count = high

    def _clear(self, stays: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        kept = np.flatnonzero(stays)
        first, last, ids = self._first[kept], self._last[kept], self._ids[:, kept]
        self._first[: len(kept)], self._last[: len(kept)], self._ids[:, : len(kept)] = first, last, ids
        self.count = self._kept = len(kept)

    def _allocate(self, capacity: int) -> None:
        first, last = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        ids = np.empty((self.width, capacity), np.int32)
        some = slice(self.count)
        first[some], last[some], ids[:, some] = self._first[some], self._last[some], self._ids[:, some]
        self._first, self._last, self._ids = first, last, ids

    @property
    def stored(self) -> int:
        return self.count + self.view.stored
