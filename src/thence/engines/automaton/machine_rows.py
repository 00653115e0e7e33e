"""Tables of bindings → the machine's rows, in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.value_columns import write_values
from thence.engines.automaton.image import EVENTS, FEED, TIME, previous_place, row_width
from thence.engines.automaton.program import Automaton, SequenceProgram
from thence.extraction.extract import conjunction
from thence.interface.extracted import BindingTable


def feed_rows(program: SequenceProgram, by_source: Sequence[BindingTable]) -> list[BindingTable]:
    """The rows of each feed: its sources joined, and only those not seen before."""
    found = []
    for number in program.feeds:
        rows = conjunction([by_source[source] for source in program.inputs[number].sources])
        found.append(rows if rows.fresh.all() else rows.take(np.flatnonzero(rows.fresh)))
    return found


def machine_rows(
    program: SequenceProgram,
    listed: Sequence[tuple[int, BindingTable]],
    previous: Sequence[Sequence[Ints]] | None = None,
    *,
    width: int | None = None,
) -> NDArray[np.int64]:
    """Rows of several feeds as the machine reads them, in the order of time; `previous` are the previous times of each
    feed's rows. They are as wide as they need be, or `width`."""
    if width is None:
        width = row_width(program.automaton) + any(rows.start is not rows.end for _, rows in listed)
    table = np.empty((sum(len(rows) for _, rows in listed), width), np.int64)
    first = 0
    for position, (number, rows) in enumerate(listed):
        before = [rows.end] * program.automaton.previous if previous is None else previous[position]
        _write(program, number, rows, before, table[first : first + len(rows)])
        first += len(rows)
    times = listed[0][1].end if len(listed) == 1 else table[:, TIME]
    if (times[1:] >= times[:-1]).all():
        return table
    return np.ascontiguousarray(table[np.argsort(times, kind="stable")])


def _write(
    program: SequenceProgram, feed: int, rows: BindingTable, previous: Sequence[Ints], table: NDArray[np.int64]
) -> None:
    """The rows of one feed into a table."""
    columns: list[tuple[int, NDArray[Any]]] = [(TIME, rows.end)]
    start = start_place(program.automaton, table)
    columns += [(start, rows.start)] if start != TIME else []
    columns += [(previous_place(program.automaton, number), times) for number, times in enumerate(previous)]
    columns += [(EVENTS + event, refs) for event, refs in enumerate(rows.refs.T)]
    variables = program.inputs[program.feeds[feed]].variables
    values = [(program.automaton.row_values + 2 * n, rows.columns[variable]) for n, variable in enumerate(variables)]
    write_values(table, values, columns, [(FEED, feed)])


def start_place(automaton: Automaton, rows: NDArray[np.int64]) -> int:
    """The place in each of some rows of the start of its first event; for a point, of its time."""
    width = row_width(automaton)
    return width if rows.shape[1] > width else TIME
