"""Data extracted from events: tables of bindings, with the time and the events of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.arrays import Ints
from thence.columns.batches import Batch
from thence.columns.value_columns import ValueColumn
from thence.interface.event_order import EventOrder
from thence.rdf.times import Domain


@dataclass(frozen=True, slots=True, eq=False)
class ArrivedBatch:
    """A batch of one stream's events. Event i has the ref `first_ref + i` for as long as a state holds it."""

    stream: str
    batch: Batch
    first_ref: int


def times_of(batch: Batch) -> tuple[Ints, Ints]:
    """The starts and ends of a batch's events; one array if all are points in time."""
    if batch.starts is batch.ends or (batch.starts == batch.ends).all():
        return batch.ends, batch.ends
    return batch.starts, batch.ends


def times_at(times: tuple[Ints, Ints], events: NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
    """The starts and ends of some events."""
    start, end = times
    taken = end[events]
    return (taken if start is end else start[events]), taken


@dataclass(frozen=True, slots=True, eq=False)
class BindingTable:
    """Matches of a source or an input: start, end, events, and a column for each variable; `fresh` are those not seen
    before. All events of a match have one end; `start` is that of the first of them. Where all events are points in
    time, `start` may be the same array as `end`, and then costs nothing."""

    start: Ints
    end: Ints
    refs: NDArray[np.int64]  # a row for each match, a column for each event
    columns: dict[Variable, ValueColumn]
    fresh: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.end)

    def renamed(self, variables: Sequence[Variable]) -> BindingTable:
        """The same rows under other column names."""
        return replace(self, columns=dict(zip(variables, self.columns.values(), strict=True)))

    def take(self, rows: NDArray[np.int64]) -> BindingTable:
        columns = {variable: values.take(rows) for variable, values in self.columns.items()}
        end = self.end[rows]
        start = end if self.start is self.end else self.start[rows]
        return BindingTable(start, end, self.refs[rows], columns, self.fresh[rows])


def concatenate_bindings(parts: Sequence[BindingTable], variables: Sequence[Variable], width: int = 1) -> BindingTable:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none = {variable: ValueColumn(np.empty(0, np.uint16), np.empty(0, np.int64)) for variable in variables}
        no_time = np.empty(0, np.int64)
        return BindingTable(no_time, no_time, np.empty((0, width), np.int64), none, np.empty(0, np.bool_))
    end = np.concatenate([part.end for part in parts])
    points = all(part.start is part.end for part in parts)
    return BindingTable(
        end if points else np.concatenate([part.start for part in parts]),
        end,
        np.concatenate([part.refs for part in parts]),
        {
            variable: ValueColumn(
                np.concatenate([part.columns[variable].tags for part in parts]),
                np.concatenate([part.columns[variable].bits for part in parts]),
            )
            for variable in variables
        },
        np.concatenate([part.fresh for part in parts]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Extracted:
    """The values extracted from some events: a table of bindings for each of a program's tables, and the ends of all
    these events, in no order: events that match nothing count for contiguity. `latest` is the time of the latest event
    of all inputs so far, in any stream or shard, as far as the host knows it; `heard` is that of the program's own
    streams, including events that still wait for their turn (RS-14). `domain` is the kind of time, None while nothing
    has fixed it (C-32). `advanced` is the time given to `advance`, if it was called (RS-21). `order` has the values
    of the option `order` of the events that the tables are of; of all events, if the program has no shard key."""

    tables: tuple[BindingTable, ...]
    times: NDArray[np.int64]
    events: int
    latest: int | None = None
    heard: int | None = None
    domain: Domain | None = None
    advanced: int | None = None
    order: EventOrder | None = None
