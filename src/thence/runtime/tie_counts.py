"""Counts what the option `order` is about, for a warning at the end of a finite run: events that share their time where
neighbours matter, and streams without a value to order by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from thence.columns.arrays import Ints
from thence.columns.value_kinds import NONE
from thence.interface.extracted import ArrivedBatch, Extracted
from thence.interface.operator import Orderable, Program

FEWEST = 100
"""Events, of which fewer say little of ties."""

ENOUGH = 50_000
"""Events after which ties are no longer counted: sorting all of them would cost as much as matching them."""


@dataclass(slots=True)
class TieCounts:
    """Of the events that a stage has read: how many there were, how many shared their time with another of the same
    shard key, as others never meet, and for each stream whether an event had a value of each predicate of `order`."""

    program: Program
    events: int = 0
    tied: int = 0
    seen: dict[str, list[bool]] = field(default_factory=dict)

    @property
    def counts_ties(self) -> bool:
        program = self.program
        return isinstance(program, Orderable) and program.ties_matter and not program.order

    def add(self, arrived: Sequence[ArrivedBatch], found: Extracted) -> None:
        """Count events in: all of their times, none of which comes again."""
        if self.counts_ties and self.events < ENOUGH:
            routes = self.program.shard_key.routes if self.program.shard_key.names else ()
            tied = _tied_in_keys(found, routes) if routes else _tied(found.times)
            self.events += len(found.times)
            self.tied += tied
        if found.order is not None:
            self._look(arrived, found)

    def _look(self, arrived: Sequence[ArrivedBatch], found: Extracted) -> None:
        assert found.order is not None
        orders, first = dict(self.program.order), 0
        for each in arrived:
            span, first = slice(first, first + len(each.batch)), first + len(each.batch)
            seen = self.seen.setdefault(each.stream, [False] * len(orders.get(each.stream, ())))
            for place, known in enumerate(seen):
                if not known:
                    seen[place] = bool((found.order.columns[place].tags[span] != NONE).any())

    def warnings(self) -> Iterator[str]:
        """What there is to say at the end."""
        if self.events >= FEWEST and 100 * self.tied > self.events:
            events = f"{'the first ' if self.events >= ENOUGH else ''}{self.events:,}"
            yield (
                f"{self.tied:,} of {events} events share their time with another, and of two such neither "
                'follows the other. Try: order="COLUMN", which orders events of one time'
            )
        for stream, predicates in self.program.order:
            for predicate, known in zip(predicates, self.seen.get(stream, ()), strict=False):
                if not known:
                    yield f"No event of the stream {stream} has a value of {predicate}, which order names"


def _tied(times: Ints) -> int:
    """How many of some times occur more than once."""
    if (times[1:] < times[:-1]).any():
        times = np.sort(times, kind="stable")
    same = times[1:] == times[:-1]
    if not same.any():
        return 0
    return int(np.count_nonzero(np.append(False, same) | np.append(same, False)))


def _tied_in_keys(found: Extracted, routes: Sequence[tuple[int, ...] | None]) -> int:
    """How many events that fit a pattern have the time and the shard key of another."""
    parts = []
    for table, places in zip(found.tables, routes, strict=True):
        if places is not None and len(table):
            columns = [list(table.columns.values())[place] for place in places]
            values = [part.astype(np.int64) for column in columns for part in (column.tags, column.bits)]
            parts.append(np.stack([table.refs[:, 0], table.end, *values]))
    if not parts:
        return 0
    rows = np.concatenate(parts, axis=1)
    rows = rows[:, np.unique(rows[0], return_index=True)[1]][1:]  # an event once
    rows = rows[:, np.lexsort(rows[::-1])]
    same = (rows[:, 1:] == rows[:, :-1]).all(axis=0)
    return int(np.count_nonzero(np.append(False, same) | np.append(same, False))) if same.any() else 0
