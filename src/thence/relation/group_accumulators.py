"""Aggregates of many groups at once, over columns of terms: members are added, and subtracted where a window drops
them. Nothing depends on their order, except SAMPLE.

They have a form of their own, since NumPy adds the members of a batch much faster than one accumulator after another.
`thence.relation.accumulators` defines the aggregates; each value is computed by it, or agrees with it
(`tests/relation/test_group_accumulators.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

import numpy as np

from thence.algebra.expressions import Aggregate, AggregateFunction
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_kinds import INTEGER
from thence.rdf.terms import Term
from thence.rdf.values import literal, total_key
from thence.relation.accumulators import SPARQL_TOTALS, Accumulator, Count, Total, finished
from thence.relation.group_sums import GroupSums, Members

# The terms of groups' members: how often each occurs, and which is the least or greatest.

_FEW = 16
"""So few entries of a heap are not cleared of terms that have left."""

_MOST_ENTRIES = 10_000

_Entry: TypeAlias = tuple[Any, int]
"""A key by which a term sorts, and its id."""

Changes: TypeAlias = tuple[Ints, Ids, Ints]
"""Groups, the ids of terms, and signs: 1 for what comes, -1 for what goes."""


@dataclass(slots=True, eq=False)
class TermCounts:
    """The number of times that each group has each term."""

    counts: dict[int, int] = field(default_factory=dict)  # by group and id, as `_code` has them

    def update(self, groups: Ints, ids: Ids, signs: Ints) -> Changes:
        """Members come and go: the terms that a group did not have before, and those that it has no longer."""
        codes, where = np.unique(_code(groups, ids), return_inverse=True)
        changes = np.zeros(len(codes), np.int64)
        np.add.at(changes, where, signs)
        before = np.array([self.counts.get(code, 0) for code in codes.tolist()], np.int64)
        after = before + changes
        is_there = after != 0
        self.counts.update(zip(codes[is_there].tolist(), after[is_there].tolist(), strict=True))
        for code in codes[~is_there & (before != 0)].tolist():
            del self.counts[code]
        turned = (before != 0) != is_there
        chosen = codes[turned]
        return chosen >> 32, (chosen & 0xFFFFFFFF).astype(np.int32) - 1, np.where(is_there[turned], 1, -1)

    def members(self) -> Iterator[tuple[int, int]]:
        """Groups, and the id of a term that each has."""
        for code in self.counts:
            yield code >> 32, (code & 0xFFFFFFFF) - 1

    def has(self, group: int, id: int) -> bool:
        return (group << 32 | (id + 1)) in self.counts


def _code(groups: Ints, ids: Ids) -> Ints:
    """Numbers for groups and ids, UNBOUND (-1) among them."""
    return groups << 32 | (ids.astype(np.int64) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Descending:
    """A key that sorts the other way round."""

    key: tuple[Any, ...]

    def __lt__(self, other: _Descending) -> bool:
        return other.key < self.key


@dataclass(slots=True, eq=False)
class ExtremeTerms:
    """The least or greatest term of each group: a heap of all its terms, in which those that have left stay until they
    are first, or are more than the others."""

    descending: bool
    heaps: dict[int, list[_Entry]] = field(default_factory=lambda: defaultdict(list))
    entries: dict[int, _Entry] = field(default_factory=dict)  # by id; some of those that are or were there

    def update(self, changes: Changes, known: TermCounts, sizes: Ints, terms: Terms) -> None:
        """Terms come and go; `known` are those that there are now, `sizes` how many."""
        for group, id, sign in zip(*(each.tolist() for each in changes), strict=True):
            heap = self.heaps[group]
            if sign > 0:
                heappush(heap, self._entry(id, terms))
            elif len(heap) > 2 * sizes[group] + _FEW:
                heap[:] = {id: (key, id) for key, id in heap if known.has(group, id)}.values()
                heapify(heap)

    def _entry(self, id: int, terms: Terms) -> _Entry:
        found = self.entries.get(id)
        if found is None:
            if len(self.entries) >= _MOST_ENTRIES:
                self.entries.clear()
            key = total_key(terms[id])
            found = self.entries[id] = (_Descending(key) if self.descending else key, id)
        return found

    def first(self, group: int, known: TermCounts) -> int | None:
        """The id of the term, or None."""
        heap = self.heaps[group]
        while heap and not known.has(group, heap[0][1]):
            heappop(heap)
        return heap[0][1] if heap else None


@dataclass(slots=True, eq=False)
class FirstTerms:
    """The first term of each group, in the order of MIN, of MAX, or of arrival (SAMPLE). Members are only added."""

    function: AggregateFunction
    chosen: Ids = field(default_factory=lambda: np.empty(0, np.int32))

    def grow(self, groups: int) -> None:
        self.chosen = np.append(self.chosen, np.full(groups - len(self.chosen), UNBOUND, np.int32))

    def add(self, groups: Ints, ids: Ids, terms: Terms) -> None:
        known = np.flatnonzero(self.chosen != UNBOUND)
        groups, ids = np.append(known, groups), np.append(self.chosen[known], ids)
        order = np.arange(len(ids))
        if self.function is not AggregateFunction.SAMPLE:
            order = _ranks(ids, terms, descending=self.function is AggregateFunction.MAX)
        by_group = np.lexsort((order, groups))
        rows = by_group[np.unique(groups[by_group], return_index=True)[1]]
        self.chosen[groups[rows]] = ids[rows]

    def first(self, group: int) -> int | None:
        """The id of the term, or None."""
        found = int(self.chosen[group])
        return None if found == UNBOUND else found


def _ranks(ids: Ids, terms: Terms, *, descending: bool) -> Ints:
    """The place of each term in the order of MIN, or of MAX."""
    distinct, where = np.unique(ids, return_inverse=True)
    tags, bits = terms.tags[distinct], terms.bits[distinct]
    if (tags == INTEGER).all() and len(np.unique(bits)) == len(bits):
        places: Ints = bits
    else:
        order = sorted(range(len(distinct)), key=lambda each: total_key(terms[int(distinct[each])]))
        places = np.empty(len(distinct), np.int64)
        places[order] = np.arange(len(distinct))
    found: Ints = np.unique(places[where], return_inverse=True)[1]
    return -found if descending else found


# Aggregates

_EXTREMES = (AggregateFunction.MIN, AggregateFunction.MAX)


@dataclass(slots=True, eq=False)
class GroupAccumulator:
    """One aggregate of all groups, over an operand. `bound` counts members with a value, `wanting` those without one;
    equal terms once, where `terms` counts them."""

    aggregate: Aggregate
    bound: Ints
    wanting: Ints
    terms: TermCounts | None = None  # of DISTINCT, and of MIN and MAX that are subtracted from
    sums: GroupSums | None = None  # of SUM and AVG
    extremes: ExtremeTerms | None = None  # of MIN and MAX that are subtracted from
    firsts: FirstTerms | None = None  # of SAMPLE, and of MIN and MAX that are not

    @classmethod
    def of(cls, aggregate: Aggregate, *, subtracts: bool, groups: int = 0) -> GroupAccumulator:
        """An accumulator without members. SAMPLE cannot subtract."""
        function = aggregate.function
        made = cls(aggregate, np.zeros(0, np.int64), np.zeros(0, np.int64))
        if function in SPARQL_TOTALS:
            made.sums = GroupSums.of(0)
        elif function in _EXTREMES and subtracts:
            made.extremes = ExtremeTerms(function is AggregateFunction.MAX)
        elif function in (*_EXTREMES, AggregateFunction.SAMPLE):
            made.firsts = FirstTerms(function)
        if made.extremes is not None or (aggregate.distinct and made.firsts is None):
            made.terms = TermCounts()
        made.grow(groups)
        return made

    def grow(self, groups: int) -> None:
        more = np.zeros(groups - len(self.bound), np.int64)
        self.bound, self.wanting = np.append(self.bound, more), np.append(self.wanting, more)
        if self.sums is not None:
            self.sums.grow(groups)
        if self.firsts is not None:
            self.firsts.grow(groups)

    def update(self, groups: Ints, ids: Ids, signs: Ints, terms: Terms) -> None:
        """Add (1) or subtract (-1) members of groups; UNBOUND has no value."""
        if self.terms is not None:
            groups, ids, signs = self.terms.update(groups, ids, signs)
        has_value = ids != UNBOUND
        np.add.at(self.wanting, groups[~has_value], signs[~has_value])
        groups, ids, signs = groups[has_value], ids[has_value], signs[has_value]
        np.add.at(self.bound, groups, signs)
        if self.sums is not None:
            self.sums.add(groups, Members.of(ids, terms), signs)
        if self.firsts is not None:
            self.firsts.add(groups, ids, terms)
        if self.extremes is not None and self.terms is not None:
            self.extremes.update((groups, ids, signs), self.terms, self.bound, terms)

    def value(self, group: int, terms: Terms) -> Term | None:
        """The value of a group; None: an error."""
        function = self.aggregate.function
        if function is AggregateFunction.COUNT:
            return literal(int(self.bound[group]))
        if self.wanting[group] and function is not AggregateFunction.SAMPLE:
            return None
        if self.sums is not None:
            return finished(SPARQL_TOTALS[function], self.sums.sum_of(group), int(self.bound[group]))
        first = self._first(group)
        return None if first is None else terms[first]

    def _first(self, group: int) -> int | None:
        if self.firsts is not None:
            return self.firsts.first(group)
        assert self.extremes is not None and self.terms is not None
        return self.extremes.first(group, self.terms)

    def add_to(self, accumulators: Sequence[Accumulator], terms: Terms) -> None:
        """Add the members of each group to its accumulator."""
        if self.terms is not None:
            for group, id in self.terms.members():
                accumulators[group].add(None if id == UNBOUND else terms[id])
            return
        for group, (accumulator, bound, wanting) in enumerate(
            zip(accumulators, self.bound.tolist(), self.wanting.tolist(), strict=True)
        ):
            if isinstance(accumulator, Count):
                accumulator.count += bound
                continue
            if wanting:
                accumulator.add(None)
            if isinstance(accumulator, Total):
                assert self.sums is not None
                accumulator.include(self.sums.sum_of(group), bound)
            elif (first := self._first(group)) is not None:
                accumulator.add(terms[first])


def group_numbers(keys: Sequence[Ids], rows: int) -> tuple[Ints, Ints]:
    """The number of each row's group, by some keys, and a row of each group."""
    numbers, firsts = np.zeros(rows, np.int64), np.zeros(min(rows, 1), np.int64)
    for ids in keys if rows else ():
        low, span = int(ids.min()), int(ids.max()) - int(ids.min()) + 1
        numbers, firsts = _numbered(numbers * span + ids - low, len(firsts) * span)
    return numbers, firsts


def _numbered(codes: Ints, size: int) -> tuple[Ints, Ints]:
    """Codes, which are below `size`, numbered from 0 on in their order: the number of each, and a row of each."""
    if size > 4 * len(codes) + 1000:
        _, firsts, numbers = np.unique(codes, return_index=True, return_inverse=True)
        return numbers, firsts
    places = np.full(size, -1, np.int64)
    places[codes] = np.arange(len(codes))
    found = np.flatnonzero(places >= 0)
    numbers = np.empty(size, np.int64)
    numbers[found] = np.arange(len(found))
    return numbers[codes], places[found]
