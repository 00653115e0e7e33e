"""Extraction: what a program asks of each event alone, before any state is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.kernel.attributes import events_as_rows, repeated_in
from thence.kernel.rows import Arrived, Matched, concatenated, matched
from thence.match import Background
from thence.match.context import Context
from thence.program.operator import Program
from thence.program.sequence import OBJECT, PREDICATE, SUBJECT, AllTriples, Attributes, Table
from thence.program.values import values_of
from thence.rdf.column_batch import Batch
from thence.rdf.dictionary import Terms


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was extracted from some events: a table of bindings for each of a program's tables, and the ends of all
    these events, in no order: events that match nothing count for contiguity. `latest` is the time of the latest event
    of all inputs so far, in whichever stream or shard, as far as the host knows it."""

    tables: tuple[Matched, ...]
    times: NDArray[np.int64]
    events: int
    latest: int | None = None


def found_in(
    program: Program,
    arrived: Sequence[Arrived],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> Found:
    """What is extracted from some batches. Terms are entered into `terms`; an event that exceeds a limit, or that a
    table cannot read, matches nothing and is noted in `refused`, by ref."""
    tables = tuple(_extracted(table, arrived, terms, background, context, refused) for table in program.tables)
    times = [each.batch.ends for each in arrived]
    together = times[0] if len(times) == 1 else np.concatenate(times) if times else np.empty(0, np.int64)
    return Found(tables, together, len(together))


def _extracted(
    table: Table,
    arrived: Sequence[Arrived],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> Matched:
    match table.pattern:
        case Attributes():
            return events_as_rows(table, arrived, terms, context, refused)
        case AllTriples():
            return _triples(table, arrived, terms)
        case _:
            return matched(table, arrived, terms, background, context, refused)


def _triples(table: Table, arrived: Sequence[Arrived], terms: Terms) -> Matched:
    """The triples of events, in document order."""
    parts = []
    for each in arrived:
        if each.stream != table.stream:
            continue
        batch = each.batch.as_events()
        ids = {SUBJECT: batch.subjects, PREDICATE: batch.predicates, OBJECT: batch.objects}
        events = batch.event_of_triple.astype(np.int64)
        columns = {name: values_of(ids[name], batch.terms, terms) for name in table.variables}
        refs = (each.first_ref + events).reshape(-1, 1)
        times = batch.starts[events], batch.ends[events]
        parts.append(Matched(*times, refs, columns, np.ones(len(events), np.bool_)))
    return concatenated(parts, table.variables)


def rejected_by(tables: Sequence[Table], batch: Batch, background: Background) -> dict[int, str]:
    """The events of a batch that some tables refuse, by number, and why: the first reason where there are several."""
    found: dict[int, str] = {}
    for table in reversed(tables):
        if isinstance(table.pattern, Attributes):
            found |= repeated_in(batch, table.pattern)
        else:
            refused: dict[int, str] = {}
            _extracted(table, [Arrived(table.stream, batch, 0)], Terms(), background, Context(), refused)
            found |= refused
    return found
