"""`LivingRows`: the rows of a view that hold at an evaluation, and how they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.kernel.temporal.interval_table import IntervalTable, empty
from thence.kernel.windows.views import Step, View
from thence.rdf.times import MIN_TIME

_FEW = 1000
"""So few rows are not cleared of those that have left."""


@dataclass(slots=True, eq=False)
class LivingRows:
    """Rows of a view, and those that will hold later: `width` columns and `places` events, which `shape` makes of the
    view's."""

    view: View
    width: int
    places: int
    shape: Callable[[IntervalTable, Step], IntervalTable]
    time: int = MIN_TIME - 1  # of the last evaluation
    count: int = 0
    holds_any: bool = False
    _table: IntervalTable = field(init=False)  # longer than there are rows
    _kept: int = 0  # how many rows stayed, when it was last cleared

    def __post_init__(self) -> None:
        self._table = empty(self.width, self.places)

    def advance(self, step: Step) -> tuple[IntervalTable, IntervalTable]:
        """Go on to an evaluation: the rows that hold now and did not before, and the reverse. A row that is replaced by
        an equal one is in both."""
        before, time = self.time, step.time
        changes = self.view.changes(step)
        if len(changes):
            self._add(self.shape(changes, step))
        rows = self._rows
        holds = self._holding(time)
        self.time, self.holds_any = time, bool(holds.any())
        if before < MIN_TIME:
            return rows.take(holds), rows.take(slice(0))
        found = rows.take(holds & (rows.start > before)), rows.take(self._holding(before) & (rows.end < time))
        if self.count > 2 * self._kept + _FEW:
            self._clear(rows.end >= time)
        return found

    def rows(self) -> IntervalTable:
        """The rows that hold."""
        return self._rows.take(self._holding(self.time))

    @property
    def _rows(self) -> IntervalTable:
        return self._table.take(slice(self.count))

    def _holding(self, time: int) -> NDArray[np.bool_]:
        rows = self._rows
        found: NDArray[np.bool_] = (rows.start <= time) & (rows.end >= time)
        return found

    def _add(self, rows: IntervalTable) -> None:
        low, high = self.count, self.count + len(rows)
        if high > len(self._table):
            self._allocate(2 * high)
        table = self._table
        table.start[low:high], table.end[low:high] = rows.start, rows.end
        table.ids[:, low:high], table.refs[:, low:high] = rows.ids, rows.refs
        self.count = high

    def _clear(self, stays: NDArray[np.bool_]) -> None:
        kept = self._rows.take(stays)
        self.count = 0
        self._add(kept)
        self._kept = self.count

    def _allocate(self, capacity: int) -> None:
        old, self._table = (
            self._rows,
            IntervalTable(
                np.empty(capacity, np.int64),
                np.empty(capacity, np.int64),
                np.empty((self.width, capacity), np.int32),
                np.empty((self.places, capacity), np.int64),
            ),
        )
        self.count = 0
        self._add(old)

    @property
    def stored(self) -> int:
        return self.count + self.view.stored
