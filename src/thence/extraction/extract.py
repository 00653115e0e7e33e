"""Extraction: what a program asks of each event alone, before any state is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.variables import never_repeats
from thence.columns.arrays import Ids
from thence.columns.batches import Batch, ColumnBatch
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, values_of, values_of_ids
from thence.columns.value_kinds import NONE
from thence.extraction.attributes import attribute_bindings, repeated_attributes
from thence.extraction.order_values import event_order
from thence.interface.extracted import ArrivedBatch, BindingTable, Extracted, concatenate_bindings, times_at, times_of
from thence.interface.operator import Program
from thence.interface.tables import (
    KEY,
    OBJECT,
    PREDICATE,
    SUBJECT,
    AllTriples,
    Attributes,
    EntailedTriples,
    KeyPositions,
    Table,
)
from thence.interface.tables import Table as Asked
from thence.match import Background, solutions
from thence.match.context import Context
from thence.match.rdfs_columns import SchemaColumns, closed_background, matching
from thence.match.solution_table import ColumnVariable, SolutionTable, compatible
from thence.match.star_patterns import star_values
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, time_literal

# Bindings of graph patterns in events, and their join at one time.


def pattern_bindings(
    asked: Asked,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> BindingTable:
    """[[(u, P)]] over some events (Definition 7): each mapping of an event once. An event that exceeds a limit of the
    matcher has none and is noted in `refused`."""
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
    """The first of equal solutions: the definition has a set of mappings, SPARQL gives a bag."""
    assert found.events is not None
    keys = [found.events, *(ids for name, ids in found.columns.items() if isinstance(name, Variable))]
    order = np.lexsort(keys[::-1])
    differs = np.zeros(len(found), np.bool_)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[order][1:] != key[order][:-1]
    return np.sort(order[differs])


def join_at_same_time(left: BindingTable, right: BindingTable, *, right_is_first: bool = False) -> BindingTable:
    """[[left & right]] (Definition 8): pairs at one time whose mappings are compatible. A pair is fresh if either side
    is. Its start is that of the side that comes first in the pattern."""
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
    """The join of several tables: the smallest table first, then always the smallest that shares a variable with the
    result so far. The sizes in this batch are the costs of the operands (Section 7.3). Events stay in the order of the
    tables; the start is that of the first table's event."""
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


def extract(
    program: Program,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> Extracted:
    """The tables extracted from some batches. Terms are entered into `terms`; an event that exceeds a limit, or that a
    table cannot read, matches nothing and is noted in `refused`, by ref."""
    tables = tuple(_extracted(table, arrived, terms, background, context, refused) for table in program.tables)
    unordered: dict[int, str] = {}
    order = event_order(program.order, arrived, terms, unordered)
    if unordered:
        refused.update(unordered)
        tables = tuple(rows.take(np.flatnonzero(~np.isin(rows.refs[:, 0], list(unordered)))) for rows in tables)
    times = [each.batch.ends for each in arrived]
    together = times[0] if len(times) == 1 else np.concatenate(times) if times else np.empty(0, np.int64)
    domain = Domain(int(arrived[0].batch.domains[0])) if len(together) else None
    return Extracted(tables, together, len(together), domain=domain, order=order)


def _extracted(
    table: Table,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> BindingTable:
    times = [name for name in (table.start, table.end) if name is not None]
    if not times:
        return _matched(table, arrived, terms, background, context, refused)
    alone = Table(table.stream, table.pattern, table.variables[: -len(times)])
    found = _matched(alone, arrived, terms, background, context, refused)
    domain = next((Domain(int(each.batch.domains[0])) for each in arrived if len(each.batch)), Domain.TICKS)
    known = {table.start: found.start, table.end: found.end}
    columns = {name: _time_column(known[name], domain, terms) for name in times}
    return replace(found, columns=found.columns | columns)


def _time_column(times: NDArray[np.int64], domain: Domain, terms: Terms) -> ValueColumn:
    """Times as values: integers or xsd:dateTime."""
    distinct, places = np.unique(times, return_inverse=True)
    ids = terms.add_all(time_literal(time, domain) for time in distinct.tolist())
    return values_of_ids(ids[places], terms)


def _matched(
    table: Table,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> BindingTable:
    match table.pattern:
        case Attributes():
            return attribute_bindings(table, arrived, terms, context, refused)
        case AllTriples():
            return _triples(table, table.pattern, arrived, terms, background, refused)
        case EntailedTriples():
            return _entailed(table, table.pattern.pattern, arrived, terms, background)
        case _:
            return pattern_bindings(table, arrived, terms, background, context, refused)


def _triples(
    table: Table,
    wanted: AllTriples,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    background: Background,
    refused: dict[int, str],
) -> BindingTable:
    """The triples of events, in document order."""
    rejected = [name for name in wanted.rejected if name not in wanted.open or not _has(background, name)]
    parts = []
    for each in arrived:
        if each.stream != table.stream:
            continue
        batch = each.batch.as_events()
        ids = {SUBJECT: batch.subjects, PREDICATE: batch.predicates, OBJECT: batch.objects}
        events = batch.event_of_triple.astype(np.int64)
        if rejected:
            bad = np.isin(batch.predicates, batch.terms.find_all(rejected))
            for row in np.flatnonzero(bad)[::-1].tolist():
                fact = batch.terms[int(batch.predicates[row])]
                refused[each.first_ref + int(events[row])] = f"{fact} is a fact, and facts are not on the stream"
            kept = np.flatnonzero(~np.isin(events, events[bad]))
            events, ids = events[kept], {name: column[kept] for name, column in ids.items()}
        if wanted.keys:
            kept, keys = _keyed(wanted.keys, batch.terms, ids)
            events, ids = events[kept], {name: column[kept] for name, column in ids.items()} | {KEY: keys}
        columns = {name: values_of(ids[name], batch.terms, terms) for name in table.variables}
        refs = (each.first_ref + events).reshape(-1, 1)
        times = batch.starts[events], batch.ends[events]
        parts.append(BindingTable(*times, refs, columns, np.ones(len(events), np.bool_)))
    return concatenate_bindings(parts, table.variables)


def _has(background: Background, predicate: IRI) -> bool:
    graph = background.data.unnamed
    return graph is not None and bool((graph.predicates == graph.terms.find(predicate)).any())


def _keyed(keys: KeyPositions, terms: Terms, ids: dict[Variable, Ids]) -> tuple[NDArray[np.int64], Ids]:
    """The triples that have a key, and their keys."""
    known = terms.find_all(predicate for predicate, _ in keys)
    is_subject = np.isin(ids[PREDICATE], known[[position == SUBJECT for _, position in keys]])
    kept = np.flatnonzero(is_subject | np.isin(ids[PREDICATE], known))
    return kept, np.where(is_subject, ids[SUBJECT], ids[OBJECT])[kept]


def _entailed(
    table: Table, pattern: TriplePattern, arrived: Sequence[ArrivedBatch], terms: Terms, background: Background
) -> BindingTable:
    """The triples of events that match a pattern, asserted or entailed. Nothing else is inferred."""
    schema = closed_background(background).seen_by(frozenset({pattern}))
    parts = []
    for each in arrived:
        if each.stream != table.stream:
            continue
        batch = each.batch.as_events()
        inferred = SchemaColumns(schema, batch.terms).inferred(batch.subjects, batch.predicates, batch.objects)
        triples = (
            np.concatenate([batch.subjects, inferred.subjects]),
            np.concatenate([batch.predicates, inferred.predicates]),
            np.concatenate([batch.objects, inferred.objects]),
        )
        rows, found = matching(pattern, *triples, batch.terms)
        of_triple = batch.event_of_triple.astype(np.int64)
        events = np.concatenate([of_triple, of_triple[inferred.rows]])[rows]
        columns = {name: values_of(found[name], batch.terms, terms) for name in table.variables}
        refs = (each.first_ref + events).reshape(-1, 1)
        parts.append(BindingTable(*times_at(times_of(batch), events), refs, columns, np.ones(len(events), np.bool_)))
    return concatenate_bindings(parts, table.variables)


def rejected_by(tables: Sequence[Table], batch: Batch, background: Background) -> dict[int, str]:
    """The events of a batch that some table refuses, by number, with the first reason."""
    found: dict[int, str] = {}
    for table in reversed(tables):
        if isinstance(table.pattern, Attributes):
            found |= repeated_attributes(batch, table.pattern)
        elif not isinstance(table.pattern, EntailedTriples):  # these tables refuse no event
            refused: dict[int, str] = {}
            _extracted(table, [ArrivedBatch(table.stream, batch, 0)], Terms(), background, Context(), refused)
            found |= refused
    return found
