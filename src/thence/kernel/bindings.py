"""Bindings of graph patterns in events, and their join at one time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.guarantees import never_repeats
from thence.columns.column_batch import ColumnBatch
from thence.columns.dictionary import Terms
from thence.columns.term_values import ValueColumn, values_of
from thence.columns.value_kinds import NONE
from thence.match import Background, solutions
from thence.match.context import Context
from thence.match.solution_table import ColumnVariable, Ids, SolutionTable, compatible
from thence.match.star_patterns import star_values
from thence.program.extracted import ArrivedBatch, BindingTable, concatenate_bindings, times_at, times_of
from thence.program.tables import AllTriples, Attributes, EntailedTriples
from thence.program.tables import Table as Asked


def pattern_bindings(
    asked: Asked,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> BindingTable:
    """[[(u, P)]] over some events (Definition 7): each mapping of an event once. An event that asks too much of the
    matcher has none, and is noted in `refused`."""
    parts = [
        _matched_in(asked, each, terms, background, context, refused) for each in arrived if each.stream == asked.stream
    ]
    return concatenate_bindings(parts, asked.variables)


def _matched_in(
    asked: Asked,
    arrived: ArrivedBatch,
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> BindingTable:
    assert not isinstance(asked.pattern, Attributes | AllTriples | EntailedTriples)  # read elsewhere
    if isinstance(arrived.batch, ColumnBatch):
        read = star_values(asked.pattern, arrived.batch, asked.variables, terms)
        if read is not None:
            events, values = read
            times = times_of(arrived.batch)
            if len(events) < len(arrived.batch):
                times = times_at(times, events)
            refs = (arrived.first_ref + events).reshape(-1, 1)
            return BindingTable(*times, refs, values, np.ones(len(events), np.bool_))
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
    return BindingTable(*times_at(times_of(batch), found.events), refs, columns, np.ones(len(found), np.bool_))


def _distinct(found: SolutionTable) -> NDArray[np.int64]:
    """The first of equal solutions: a set of mappings, where SPARQL gives a bag."""
    assert found.events is not None
    keys = [found.events, *(ids for name, ids in found.columns.items() if isinstance(name, Variable))]
    order = np.lexsort(keys[::-1])
    differs = np.zeros(len(found), np.bool_)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[order][1:] != key[order][:-1]
    return np.sort(order[differs])


def join_at_same_time(left: BindingTable, right: BindingTable, *, right_is_first: bool = False) -> BindingTable:
    """[[left & right]] (Definition 8): pairs at one time whose mappings are compatible; fresh if either side is. Their
    start is that of the side that is first in the pattern."""
    shared = [variable for variable in left.columns if variable in right.columns]
    times = _codes(left.end, right.end)
    left_ids: dict[ColumnVariable, Ids] = {}
    right_ids: dict[ColumnVariable, Ids] = {}
    for variable in shared:
        left_ids[variable], right_ids[variable] = _term_codes(left.columns[variable], right.columns[variable])
    pairs = compatible(SolutionTable(len(left), left_ids, times[0]), SolutionTable(len(right), right_ids, times[1]))
    a, b = left.take(pairs.lefts), right.take(pairs.rights)
    columns = dict(a.columns)
    for variable, values in b.columns.items():
        if variable in columns:
            unbound = columns[variable].tags == NONE
            values = ValueColumn(
                np.where(unbound, values.tags, columns[variable].tags),
                np.where(unbound, values.bits, columns[variable].bits),
            )
        columns[variable] = values
    first = b if right_is_first else a
    return BindingTable(first.start, first.end, np.concatenate([a.refs, b.refs], axis=1), columns, a.fresh | b.fresh)


def _codes(left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    where = np.unique(np.concatenate([left, right]), return_inverse=True)[1].astype(np.int32)
    return where[: len(left)], where[len(left) :]


def _term_codes(left: ValueColumn, right: ValueColumn) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Small numbers for terms, equal where they are; -1 for unbound."""
    tags = np.concatenate([left.tags, right.tags])
    bits = np.unique(np.concatenate([left.bits, right.bits]), return_inverse=True)[1]
    codes = np.unique(bits * np.int64(2**16) + tags, return_inverse=True)[1].astype(np.int32)
    codes[tags == NONE] = -1
    return codes[: len(left.tags)], codes[len(left.tags) :]


def conjunction(tables: Sequence[BindingTable]) -> BindingTable:
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
        rows = join_at_same_time(rows, tables[order[-1]], right_is_first=order[-1] == 0)
    return replace(rows, refs=rows.refs[:, np.argsort(order)])
