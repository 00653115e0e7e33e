"""`OccurrenceState`: the occurrences of a scan that a policy still sees, each with all events that brought it (EP-72).

Under a policy, solutions name the occurrence that fills each place by its number, in the rows where they otherwise name
the event: whose occurrence it is changes when events are consumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from thence.kernel.temporal.interval_table import IntervalTable, Ints, concatenated, is_event, no_rows
from thence.kernel.temporal.solution_store import SolutionStore
from thence.program.temporal.network import Scan

_EVENT, _NUMBER = 0, 1
"""The rows of `brought.refs`."""


@dataclass(slots=True)
class OccurrenceState:
    """`brought` has a row for each visible event of each occurrence, by number and then in source order; its refs are
    the event and the number. `waiting` are the rows of instants that are not closed."""

    node: Scan
    brought: SolutionStore
    waiting: IntervalTable
    count: int = 0

    @classmethod
    def of(cls, node: Scan) -> OccurrenceState:
        return cls(node, SolutionStore((), 0, False, len(node.variables), 2), no_rows(node))

    def step(self, rows: IntervalTable) -> IntervalTable:
        """The occurrences of some rows, all of an instant or of several: each once, with its number."""
        if not len(rows):
            return rows
        (events,) = rows.refs
        keys = (rows.end, rows.start, *rows.ids)
        order = np.lexsort((events.view(np.uint64), *keys[::-1]))  # NO_EVENT is last
        is_first = np.zeros(len(order), np.bool_)
        is_first[0] = True
        for key in keys:
            ordered = key[order]
            is_first[1:] |= ordered[1:] != ordered[:-1]
        numbers = self.count + np.cumsum(is_first) - 1
        self.count = int(numbers[-1]) + 1
        rows = rows.take(order)
        self.brought.add(IntervalTable(rows.start, rows.end, rows.ids, np.stack([rows.refs[0], numbers])))
        first = rows.take(is_first)
        return IntervalTable(first.start, first.end, first.ids, numbers[is_first][None])

    def intervals(self, numbers: Ints) -> tuple[Ints, Ints]:
        """The starts and ends of visible occurrences."""
        table = self.brought.table
        rows = np.searchsorted(table.refs[_NUMBER], numbers)
        return table.start[rows], table.end[rows]

    def events(self, numbers: Ints) -> Ints:
        """The first visible event of each (EP-72); NO_EVENT for background."""
        table = self.brought.table
        found: Ints = table.refs[_EVENT, np.searchsorted(table.refs[_NUMBER], numbers)]
        return found

    def consume(self, events: Ints) -> Ints:
        """Hide some events. The numbers of the occurrences that no visible event brought any more."""
        table = self.brought.table
        hidden = np.isin(table.refs[_EVENT], events)
        touched: Ints = table.refs[_NUMBER, hidden]
        if not len(touched):
            return touched
        self.brought.keep(~hidden)
        found: Ints = np.setdiff1d(touched, self.brought.table.refs[_NUMBER])
        return found

    def visible(self) -> IntervalTable:
        """All visible occurrences, a row for each event that brought them."""
        table = self.brought.table
        return IntervalTable(table.start, table.end, table.ids, table.refs[:1])

    def wait(self, rows: IntervalTable) -> None:
        """Add rows of instants that are not closed; in the order of their ends."""
        if len(rows):
            waiting = concatenated([self.waiting, rows])
            self.waiting = waiting.take(np.argsort(waiting.end, kind="stable"))

    def leave(self, watermark: int) -> IntervalTable:
        """The rows of closed instants, in the order of their ends: they wait no longer."""
        closed = int(np.searchsorted(self.waiting.end, watermark))
        found, self.waiting = self.waiting.take(slice(closed)), self.waiting.take(slice(closed, None))
        return found

    def refs(self) -> Ints:
        """The events that a later row may list."""
        refs = np.concatenate([self.brought.table.refs[_EVENT], self.waiting.refs[0]])
        found: Ints = refs[is_event(refs)]
        return found

    def evict(self, closed: int) -> None:
        """Only consumed events leave: others remain rivals (EP-70)."""

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield self.brought
