"""Aggregates of groups kept from one evaluation to the next: rows that come are added, rows that go are subtracted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

import numpy as np

from thence.algebra.expressions import Aggregate, AggregateFunction
from thence.algebra.patterns import GroupKey
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.match.context import Context
from thence.match.expression_columns import ExpressionColumns
from thence.match.group_columns import GroupSums, Members, result
from thence.match.solution_table import SolutionTable
from thence.rdf.terms import Term
from thence.rdf.values import literal, total_key

# What groups keep of their members' terms: how often each is there, and which is the least or greatest.

_FEW = 16
"""So few entries of a heap are not cleared of terms that have left."""

_MOST_ENTRIES = 10_000

_Entry: TypeAlias = tuple[Any, int]
"""A key by which a term sorts, and its id."""

Changes: TypeAlias = tuple[Ints, Ids, Ints]
"""Groups, the ids of terms, and signs: 1 for what comes, -1 for what goes."""


@dataclass(slots=True, eq=False)
class TermCounts:
    """How often each group has each term."""

    counts: dict[int, int] = field(default_factory=dict)  # by group and id, as `_code` has them

    def update(self, groups: Ints, ids: Ids, signs: Ints) -> Changes:
        """Members come and go: the terms that a group did not have before, and those that it has no longer."""
        codes, where = np.unique(_code(groups, ids), return_inverse=True)
        changes = np.zeros(len(codes), np.int64)
        np.add.at(changes, where, signs)
        found, turns = [], []
        for code, change in zip(codes.tolist(), changes.tolist(), strict=True):
            before = self.counts.get(code, 0)
            if before + change:
                self.counts[code] = before + change
            elif before:
                del self.counts[code]
            if (before == 0) != (before + change == 0):
                found.append(code)
                turns.append(1 if change > 0 else -1)
        chosen = np.array(found, np.int64)
        return chosen >> 32, (chosen & 0xFFFFFFFF).astype(np.int32) - 1, np.array(turns, np.int64)

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


# Aggregates of groups that are kept from one evaluation to the next: rows that come are added, rows that go are
# subtracted. Nothing is computed again, and nothing depends on the order of rows.

_ADDING = (AggregateFunction.SUM, AggregateFunction.AVG)
_EXTREMES = (AggregateFunction.MIN, AggregateFunction.MAX)


@dataclass(slots=True, eq=False)
class Running:
    """One aggregate of all groups. `bound` counts members with a value, `wanting` those without one; equal terms once,
    where `terms` counts them."""

    aggregate: Aggregate
    bound: Ints
    wanting: Ints
    terms: TermCounts | None  # of DISTINCT, MIN and MAX
    sums: GroupSums | None  # of SUM and AVG
    extremes: ExtremeTerms | None  # of MIN and MAX

    @classmethod
    def of(cls, aggregate: Aggregate) -> Running:
        function = aggregate.function
        is_extreme = function in _EXTREMES
        return cls(
            aggregate,
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            TermCounts() if aggregate.distinct or is_extreme else None,
            GroupSums.of(0) if function in _ADDING else None,
            ExtremeTerms(function is AggregateFunction.MAX) if is_extreme else None,
        )

    def grow(self, groups: int) -> None:
        more = np.zeros(groups - len(self.bound), np.int64)
        self.bound, self.wanting = np.append(self.bound, more), np.append(self.wanting, more)
        if self.sums is not None:
            self.sums.grow(groups)

    def update(self, groups: Ints, ids: Ids, signs: Ints, terms: Terms) -> None:
        """Rows come (1) and go (-1)."""
        if self.terms is not None:
            groups, ids, signs = self.terms.update(groups, ids, signs)
        has_value = ids != UNBOUND
        np.add.at(self.wanting, groups[~has_value], signs[~has_value])
        groups, ids, signs = groups[has_value], ids[has_value], signs[has_value]
        np.add.at(self.bound, groups, signs)
        if self.sums is not None:
            self.sums.add(groups, Members.of(ids, terms), signs)
        if self.extremes is not None and self.terms is not None:
            self.extremes.update((groups, ids, signs), self.terms, self.bound, terms)

    def value(self, group: int, terms: Terms) -> Term | None:
        """The value of a group; None: an error."""
        if self.aggregate.function is AggregateFunction.COUNT:
            return literal(int(self.bound[group]))
        if self.wanting[group]:
            return None
        if self.extremes is not None and self.terms is not None:
            first = self.extremes.first(group, self.terms)
            return None if first is None else terms[first]
        assert self.sums is not None
        size = int(self.bound[group]) if self.aggregate.function is AggregateFunction.AVG else None
        return result(self.sums.sum_of(group), size)


@dataclass(slots=True, eq=False)
class RunningGroups:
    """The groups of a query. Rows are columns of ids: the number of the group, then the operand of each aggregate that
    has one."""

    keys: tuple[GroupKey, ...] | None
    aggregates: Sequence[Aggregate]
    terms: Terms
    key_ids: list[tuple[int, ...]] = field(default_factory=list)  # of each group
    sizes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    values: dict[int, list[Term | None]] = field(default_factory=dict)  # of the groups that have rows
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    _running: list[Running] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._running = [Running.of(each) for each in self.aggregates if each.operand is not None]
        if not self.keys:
            self._number(())
        if self.keys is None:  # all rows are one group, be there none
            self._settle(np.zeros(1, np.int64))

    @property
    def width(self) -> int:
        return 1 + len(self._running)

    def columns(self, table: SolutionTable, context: Context) -> Ids:
        """The rows of a table as columns of ids."""
        found = ExpressionColumns(self.terms, table, context)
        keys = np.array([found.ids(key.expression) for key in self.keys or ()], np.int32).reshape(-1, len(table))
        operands = [found.ids(each.aggregate.operand) for each in self._running if each.aggregate.operand is not None]
        numbers = np.zeros(len(table), np.int32)
        if self.keys:
            numbers = self._numbered(keys)
        return np.array([numbers, *operands], np.int32).reshape(self.width, len(table))

    def _numbered(self, keys: Ids) -> Ids:
        """The number of each row's group."""
        if len(keys) == 1:
            distinct, where = np.unique(keys[0], return_inverse=True)
            listed: list[tuple[int, ...]] = [(key,) for key in distinct.tolist()]
        else:
            columns, where = np.unique(keys, axis=1, return_inverse=True)
            listed = [tuple(key) for key in columns.T.tolist()]
        found: Ids = np.array([self._number(key) for key in listed], np.int32)[where.ravel()]
        return found

    def _number(self, key: tuple[int, ...]) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.key_ids)
            self.key_ids.append(key)
            if len(self.key_ids) > len(self.sizes):
                more = 2 * len(self.key_ids) + 16
                self.sizes = np.append(self.sizes, np.zeros(more - len(self.sizes), np.int64))
                for each in self._running:
                    each.grow(more)
        return self._numbers[key]

    def update(self, came: Ids, went: Ids) -> Ints:
        """Rows have come and gone. The groups that have changed."""
        both = np.concatenate([came, went], axis=1)
        groups = both[0].astype(np.int64)
        signs = np.repeat(np.array([1, -1]), [came.shape[1], went.shape[1]])
        np.add.at(self.sizes, groups, signs)
        for each, ids in zip(self._running, both[1:], strict=True):
            each.update(groups, ids, signs, self.terms)
        changed = np.unique(groups)
        self._settle(changed)
        return changed

    def _settle(self, changed: Ints) -> None:
        """The values of the groups that have changed."""
        for group in changed.tolist():
            if not self.sizes[group] and self.keys is not None:
                self.values.pop(group, None)
                continue
            running = iter(self._running)
            self.values[group] = [
                literal(int(self.sizes[group])) if each.operand is None else next(running).value(group, self.terms)
                for each in self.aggregates
            ]
