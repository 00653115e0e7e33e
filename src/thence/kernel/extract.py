"""Extraction: what a program asks of each event alone, before any state is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.columns.column_batch import Batch
from thence.columns.dictionary import Terms
from thence.columns.term_values import values_of
from thence.kernel.attributes import attribute_bindings, repeated_attributes
from thence.kernel.bindings import pattern_bindings
from thence.match import Background
from thence.match.context import Context
from thence.match.rdfs_background import closed_background
from thence.match.rdfs_columns import SchemaColumns, matching
from thence.program.extracted import (
    ArrivedBatch,
    BindingTable,
    Extracted,
    concatenate_bindings,
    times_at,
    times_of,
)
from thence.program.operator import Program
from thence.program.tables import (
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
from thence.rdf.terms import IRI
from thence.rdf.times import Domain

Ids = NDArray[np.int32]


def extract(
    program: Program,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> Extracted:
    """What is extracted from some batches. Terms are entered into `terms`; an event that exceeds a limit, or that a
    table cannot read, matches nothing and is noted in `refused`, by ref."""
    tables = tuple(_extracted(table, arrived, terms, background, context, refused) for table in program.tables)
    times = [each.batch.ends for each in arrived]
    together = times[0] if len(times) == 1 else np.concatenate(times) if times else np.empty(0, np.int64)
    domain = Domain(int(arrived[0].batch.domains[0])) if len(together) else Domain.TICKS
    return Extracted(tables, together, len(together), domain=domain)


def _extracted(
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
    """The triples that have a key, and these."""
    known = terms.find_all(predicate for predicate, _ in keys)
    is_subject = np.isin(ids[PREDICATE], known[[position == SUBJECT for _, position in keys]])
    kept = np.flatnonzero(is_subject | np.isin(ids[PREDICATE], known))
    return kept, np.where(is_subject, ids[SUBJECT], ids[OBJECT])[kept]


def _entailed(
    table: Table, pattern: TriplePattern, arrived: Sequence[ArrivedBatch], terms: Terms, background: Background
) -> BindingTable:
    """The triples of events that match a pattern, those that they entail included: nothing else is inferred."""
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
    """The events of a batch that some tables refuse, by number, and why: the first reason where there are several."""
    found: dict[int, str] = {}
    for table in reversed(tables):
        if isinstance(table.pattern, Attributes):
            found |= repeated_attributes(batch, table.pattern)
        elif not isinstance(table.pattern, EntailedTriples):  # these refuse none
            refused: dict[int, str] = {}
            _extracted(table, [ArrivedBatch(table.stream, batch, 0)], Terms(), background, Context(), refused)
            found |= refused
    return found
