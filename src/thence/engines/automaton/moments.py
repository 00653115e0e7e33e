"""Moments: numbers for the (time, order) of events, in their order, under the option `order` (C-9).

The machine then compares moments wherever it compares the times of events: for *follows*, contiguity and ties. Windows,
the ends of gaps and what is shown go by time. All events of a time come in one step, so that a moment is complete when
it is numbered, and every later one is greater.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from thence.algebra.expressions import Variable
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn
from thence.interface.extracted import BindingTable, Extracted

TIME = Variable("time")
"""The column of events' times in the history of SASE+, where negations ask for them."""


@dataclass(slots=True)
class Moments:
    """The times of those moments that a state still names, and the number of the next one."""

    next: int = 0
    numbers: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    times: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def placed(self, found: Extracted, terms: Terms) -> tuple[Extracted, Ints]:
        """The same events, with their moments as ends in all tables, and these."""
        order = found.order
        assert order is not None
        ranks = order.ranks(terms)
        moments = ranks + self.next
        count = int(ranks.max(initial=-1)) + 1
        times = np.empty(count, np.int64)
        times[ranks] = order.ends
        self.numbers = np.concatenate([self.numbers, np.arange(self.next, self.next + count)])
        self.times = np.concatenate([self.times, times])
        self.next += count
        tables = tuple(_with_ends(rows, order.of(rows.refs[:, 0], moments)) for rows in found.tables)
        return replace(found, tables=tables), moments

    def clock(self, moments: Ints) -> Ints:
        """The times of some moments that are remembered."""
        if not len(self.times):
            return moments
        return self.times[np.minimum(np.searchsorted(self.numbers, moments), len(self.times) - 1)]

    def keep(self, named: Iterable[Ints]) -> None:
        """Forget the times of all moments but these."""
        kept = np.isin(self.numbers, np.concatenate([np.empty(0, np.int64), *named]))
        self.numbers, self.times = self.numbers[kept], self.times[kept]


def _with_ends(rows: BindingTable, moments: Ints) -> BindingTable:
    columns = rows.columns
    if TIME in columns:
        columns = columns | {TIME: ValueColumn(columns[TIME].tags, moments)}
    start = rows.start.copy() if rows.start is rows.end else rows.start
    return replace(rows, start=start, end=moments, columns=columns)
