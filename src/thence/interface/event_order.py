"""The option `order`: values that order events of one time, as SPARQL's ORDER BY orders terms (C-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thence.columns.arrays import Ints
from thence.columns.canonical_terms import SHORTEST
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, term_of
from thence.columns.value_kinds import BLANK, INTEGER, NONE
from thence.rdf.values import order_key


@dataclass(frozen=True, slots=True, eq=False)
class EventOrder:
    """Some events: the ref and the end of each, and its values of `order`, a column for each."""

    refs: Ints
    ends: Ints
    columns: tuple[ValueColumn, ...]

    def __len__(self) -> int:
        return len(self.refs)

    def take(self, events: Ints) -> EventOrder:
        columns = tuple(values.take(events) for values in self.columns)
        return EventOrder(self.refs[events], self.ends[events], columns)

    def ranks(self, terms: Terms) -> Ints:
        """The place of each event's (time, order) among those of all, from 0; ties have one place."""
        ends, count = self.ends, len(self.ends)
        order = np.arange(count) if (ends[1:] >= ends[:-1]).all() else np.argsort(ends, kind="stable")
        same = ends[order[1:]] == ends[order[:-1]]
        begins = np.ones(count, np.bool_)
        begins[1:] = ~same
        if same.any():
            tied = np.flatnonzero(np.append(False, same) | np.append(same, False))
            events = order[tied]
            keys = [ends[events], *(_codes(values.take(events), terms) for values in self.columns)]
            sort = np.lexsort(keys[::-1])
            order[tied] = events[sort]
            begins[tied[1:]] = np.logical_or.reduce([key[sort][1:] != key[sort][:-1] for key in keys])
        ranks = np.empty(count, np.int64)
        ranks[order] = np.cumsum(begins) - 1
        return ranks

    def of(self, refs: Ints, values: Ints) -> Ints:
        """The values of the events with some refs, from those of all events."""
        if not len(refs):
            return values[:0]
        if (self.refs[1:] > self.refs[:-1]).all():
            return values[np.searchsorted(self.refs, refs)]
        order = np.argsort(self.refs)
        return values[order[np.searchsorted(self.refs[order], refs)]]


def concatenate_columns(parts: Sequence[Sequence[ValueColumn]], width: int) -> tuple[ValueColumn, ...]:
    """Columns of several batches, as of one."""
    return tuple(
        ValueColumn(
            np.concatenate([np.empty(0, np.uint16), *(part[number].tags for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part[number].bits for part in parts)]),
        )
        for number in range(width)
    )


def missing_values(count: int) -> ValueColumn:
    return ValueColumn(np.full(count, NONE, np.uint16), np.zeros(count, np.int64))


def _codes(values: ValueColumn, terms: Terms) -> Ints:
    """Numbers that compare as ORDER BY compares the terms; equal for terms of equal value, and for all blank nodes,
    which have no order."""
    tags = values.tags
    if (tags == INTEGER).all():
        return values.bits
    if (tags == SHORTEST).all():
        distinct, codes = np.unique(values.bits.view(np.float64), return_inverse=True)
        codes = codes.reshape(-1)
        codes[np.isnan(distinct)[codes]] = -1  # the least of all numbers
        return codes
    pairs, where = np.unique(np.stack([tags.astype(np.int64), values.bits]), axis=1, return_inverse=True)
    keys = [_key(tag, bits, terms) for tag, bits in pairs.T.tolist()]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    found: Ints = np.array([places[key] for key in keys], np.int64)[where.reshape(-1)]
    return found


def _key(tag: int, bits: int, terms: Terms) -> tuple[object, ...]:
    return (1,) if tag == BLANK else order_key(term_of(tag, bits, terms))
