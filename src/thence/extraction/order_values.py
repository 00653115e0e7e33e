"""The values of the option `order` of each event (C-8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thence.columns.batches import Batch, ColumnBatch
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_columns import ValueColumn, values_of
from thence.interface.event_order import EventOrder, concatenate_columns, missing_values
from thence.interface.extracted import ArrivedBatch
from thence.interface.operator import Order
from thence.match.star_patterns import imported
from thence.rdf.terms import IRI


def event_order(
    order: Order, arrived: Sequence[ArrivedBatch], terms: Terms, refused: dict[int, str]
) -> EventOrder | None:
    """The values by which some events are ordered within a time; None without the option. An event with two values of
    one predicate is noted in `refused`."""
    if not order:
        return None
    by_stream, width = dict(order), max(len(predicates) for _, predicates in order)
    parts = []
    for each in arrived:
        columns = []
        for predicate in by_stream.get(each.stream, ()):
            values, repeated = _values(predicate, each.batch, terms)
            columns.append(values)
            refused.update((each.first_ref + event, _reason(predicate)) for event in repeated)
        parts.append(columns + [missing_values(len(each.batch))] * (width - len(columns)))
    refs = [each.first_ref + np.arange(len(each.batch)) for each in arrived]
    ends = [each.batch.ends for each in arrived]
    none = np.empty(0, np.int64)
    return EventOrder(np.concatenate([none, *refs]), np.concatenate([none, *ends]), concatenate_columns(parts, width))


def _values(predicate: IRI, batch: Batch, terms: Terms) -> tuple[ValueColumn, list[int]]:
    """The value of each event, and the events that have several."""
    if isinstance(batch, ColumnBatch):
        return imported(batch.column(predicate), len(batch), batch, terms), []
    rows = np.flatnonzero(batch.predicates == batch.terms.find(predicate))
    events = batch.event_of_triple[rows]
    ids = np.full(len(batch), UNBOUND, np.int32)
    ids[events] = batch.objects[rows]
    repeated = np.unique(events[ids[events] != batch.objects[rows]])
    return values_of(ids, batch.terms, terms), repeated.tolist()


def _reason(predicate: IRI) -> str:
    return f"it has several values of {predicate}, and order needs one. Try: another predicate in order"
