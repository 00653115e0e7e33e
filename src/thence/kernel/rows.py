"""From batches of events to the machine's rows: every event meets every graph pattern once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.certain import never_repeats
from thence.algebra.expressions import Variable
from thence.kernel.star import star_values
from thence.kernel.strided import write_columns
from thence.match import Background, solutions
from thence.match.context import Context
from thence.match.table import Ids, Name, Table, compatible
from thence.program.automaton import Automaton
from thence.program.image import EVENTS, FEED, TIME, previous_place, row_width
from thence.program.sequence import AllTriples, Attributes, SequenceProgram
from thence.program.sequence import Table as Asked
from thence.program.values import Values, values_of
from thence.rdf.column_batch import Batch, ColumnBatch
from thence.rdf.dictionary import Terms
from thence.rdf.tags import NONE
from thence.rdf.value_columns import one_tag

Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Arrived:
    """A batch of one stream's events. Event i is known as `first_ref + i` for as long as a run holds it."""

    stream: str
    batch: Batch
    first_ref: int


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Matches of a source or an input: start, end, events, and a column for each variable; `fresh` are those not seen
    before. All events of a match have one end; `start` is that of the first of them. Where all events are points in
    time, `start` may be the same array as `end`, and then costs nothing."""

    start: Times
    end: Times
    refs: NDArray[np.int64]  # a row for each match, a column for each event
    columns: dict[Variable, Values]
    fresh: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.end)

    def renamed(self, variables: Sequence[Variable]) -> Matched:
        """The same rows, their columns called otherwise."""
        return replace(self, columns=dict(zip(variables, self.columns.values(), strict=True)))

    def take(self, rows: NDArray[np.int64]) -> Matched:
        columns = {variable: values.take(rows) for variable, values in self.columns.items()}
        end = self.end[rows]
        start = end if self.start is self.end else self.start[rows]
        return Matched(start, end, self.refs[rows], columns, self.fresh[rows])


def times_of(batch: Batch) -> tuple[Times, Times]:
    """The starts and ends of a batch's events; one array, where all are points in time."""
    if batch.starts is batch.ends or (batch.starts == batch.ends).all():
        return batch.ends, batch.ends
    return batch.starts, batch.ends


def times_at(times: tuple[Times, Times], events: NDArray[np.integer[Any]]) -> tuple[Times, Times]:
    """Those of some events."""
    start, end = times
    taken = end[events]
    return (taken if start is end else start[events]), taken


def matched(
    asked: Asked,
    arrived: Sequence[Arrived],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> Matched:
    """[[(u, P)]] over some events (Definition 7): each mapping of an event once. An event that asks too much of the
    matcher has none, and is noted in `refused`."""
    parts = [
        _matched_in(asked, each, terms, background, context, refused) for each in arrived if each.stream == asked.stream
    ]
    return concatenated(parts, asked.variables)


def _matched_in(
    asked: Asked,
    arrived: Arrived,
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> Matched:
    assert not isinstance(asked.pattern, Attributes | AllTriples)  # read elsewhere
    if isinstance(arrived.batch, ColumnBatch):
        read = star_values(asked.pattern, arrived.batch, asked.variables, terms)
        if read is not None:
            events, values = read
            times = times_of(arrived.batch)
            if len(events) < len(arrived.batch):
                times = times_at(times, events)
            refs = (arrived.first_ref + events).reshape(-1, 1)
            return Matched(*times, refs, values, np.ones(len(events), np.bool_))
    batch = arrived.batch.as_events()
    too_much: dict[int, str] = {}
    found = solutions(asked.pattern, batch, background=background, context=context, refused=too_much)
    refused.update((arrived.first_ref + index, reason) for index, reason in too_much.items())
    if not never_repeats(asked.pattern):
        found = found.take(_distinct(found))
    assert found.events is not None
    unbound = np.full(len(found), -1, np.int32)
    columns = {v: values_of(found.columns.get(v, unbound), batch.terms, terms) for v in asked.variables}
    refs = (arrived.first_ref + found.events.astype(np.int64)).reshape(-1, 1)
    return Matched(*times_at(times_of(batch), found.events), refs, columns, np.ones(len(found), np.bool_))


def _distinct(found: Table) -> NDArray[np.int64]:
    """The first of equal solutions: a set of mappings, where SPARQL gives a bag."""
    assert found.events is not None
    keys = [found.events, *(ids for name, ids in found.columns.items() if isinstance(name, Variable))]
    order = np.lexsort(keys[::-1])
    differs = np.zeros(len(found), np.bool_)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[order][1:] != key[order][:-1]
    return np.sort(order[differs])


def concatenated(parts: Sequence[Matched], variables: Sequence[Variable], width: int = 1) -> Matched:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none = {variable: Values(np.empty(0, np.uint16), np.empty(0, np.int64)) for variable in variables}
        no_time = np.empty(0, np.int64)
        return Matched(no_time, no_time, np.empty((0, width), np.int64), none, np.empty(0, np.bool_))
    end = np.concatenate([part.end for part in parts])
    points = all(part.start is part.end for part in parts)
    return Matched(
        end if points else np.concatenate([part.start for part in parts]),
        end,
        np.concatenate([part.refs for part in parts]),
        {
            variable: Values(
                np.concatenate([part.columns[variable].tags for part in parts]),
                np.concatenate([part.columns[variable].bits for part in parts]),
            )
            for variable in variables
        },
        np.concatenate([part.fresh for part in parts]),
    )


def at_the_same_time(left: Matched, right: Matched, *, right_is_first: bool = False) -> Matched:
    """[[left & right]] (Definition 8): pairs at one time whose mappings are compatible; fresh if either side is. Their
    start is that of the side that is first in the pattern."""
    shared = [variable for variable in left.columns if variable in right.columns]
    times = _codes(left.end, right.end)
    left_ids: dict[Name, Ids] = {}
    right_ids: dict[Name, Ids] = {}
    for variable in shared:
        left_ids[variable], right_ids[variable] = _term_codes(left.columns[variable], right.columns[variable])
    pairs = compatible(Table(len(left), left_ids, times[0]), Table(len(right), right_ids, times[1]))
    a, b = left.take(pairs.lefts), right.take(pairs.rights)
    columns = dict(a.columns)
    for variable, values in b.columns.items():
        if variable in columns:
            unbound = columns[variable].tags == NONE
            values = Values(
                np.where(unbound, values.tags, columns[variable].tags),
                np.where(unbound, values.bits, columns[variable].bits),
            )
        columns[variable] = values
    first = b if right_is_first else a
    return Matched(first.start, first.end, np.concatenate([a.refs, b.refs], axis=1), columns, a.fresh | b.fresh)


def _codes(left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    where = np.unique(np.concatenate([left, right]), return_inverse=True)[1].astype(np.int32)
    return where[: len(left)], where[len(left) :]


def _term_codes(left: Values, right: Values) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Small numbers for terms, equal where they are; -1 for unbound."""
    tags = np.concatenate([left.tags, right.tags])
    bits = np.unique(np.concatenate([left.bits, right.bits]), return_inverse=True)[1]
    codes = np.unique(bits * np.int64(2**16) + tags, return_inverse=True)[1].astype(np.int32)
    codes[tags == NONE] = -1
    return codes[: len(left.tags)], codes[len(left.tags) :]


def feeds(program: SequenceProgram, by_source: Sequence[Matched]) -> list[Matched]:
    """The rows of each feed: its sources joined, and only those not seen before."""
    found = []
    for number in program.feeds:
        rows = conjunction([by_source[source] for source in program.inputs[number].sources])
        found.append(rows if rows.fresh.all() else rows.take(np.flatnonzero(rows.fresh)))
    return found


def conjunction(tables: Sequence[Matched]) -> Matched:
    """Tables joined, the smallest first, then the smallest that shares a variable with what is joined: their sizes in
    this batch say what each operand costs (Section 7.3). Events stay in the order of the tables; the start is that of
    the first table's event."""
    if len(tables) == 1:
        return tables[0]
    waiting = sorted(range(len(tables)), key=lambda number: len(tables[number]))
    order = [waiting.pop(0)]
    rows = tables[order[0]]
    while waiting:
        connected = [number for number in waiting if not rows.columns.keys().isdisjoint(tables[number].columns)]
        order.append((connected or waiting)[0])
        waiting.remove(order[-1])
        rows = at_the_same_time(rows, tables[order[-1]], right_is_first=order[-1] == 0)
    return replace(rows, refs=rows.refs[:, np.argsort(order)])


def machine_rows(
    program: SequenceProgram,
    listed: Sequence[tuple[int, Matched]],
    previous: Sequence[Sequence[Times]] | None = None,
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
    program: SequenceProgram, feed: int, rows: Matched, previous: Sequence[Times], table: NDArray[np.int64]
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
    """Where in each of some rows the start of its first event stands: a point's is its time."""
    width = row_width(automaton)
    return width if rows.shape[1] > width else TIME


def write_values(
    table: NDArray[np.int64],
    values: Sequence[tuple[int, Values]],
    others: Sequence[tuple[int, NDArray[Any]]] = (),
    constants: Sequence[tuple[int, int]] = (),
) -> None:
    """Put values into a table, each as tag and bits from its place on, beside other columns and numbers."""
    columns, alike = list(others), list(constants)
    for place, each in values:
        columns.append((place + 1, each.bits))
        tag = one_tag(each.tags)
        if tag is None:
            columns.append((place, each.tags))
        else:
            alike.append((place, tag))
    write_columns(table, columns, alike)
