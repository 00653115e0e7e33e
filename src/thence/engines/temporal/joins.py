"""The joins of EP-SPARQL, Section 4.2, each semi-naively: a step joins new solutions with stored ones.

`closed` is the time before which nothing will arrive any more: what ends before it is final (EP-50).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.dictionary import UNBOUND
from thence.engines.temporal.conditions import ExistsStores, PatternSolver, Scope, asked_of
from thence.engines.temporal.program import Combine, Condition, JoinKeys, Merge, Node, OptionalCombine, Without, no_rows
from thence.relation.interval_table import (
    ABSENT,
    NO_END,
    UNBOUNDED,
    IntervalTable,
    Relation,
    chosen_columns,
    concatenated,
)
from thence.relation.solution_store import SolutionStore


def store_of(node: Node, keys: tuple[int, ...], certain: int, relation: Relation) -> SolutionStore:
    """A store for the solutions of a node."""
    return SolutionStore(keys, certain, relation is Relation.EQUALS, len(node.variables), len(node.places))


def combined(
    left: IntervalTable,
    left_rows: Ints,
    right: IntervalTable,
    right_rows: Ints,
    merge: Merge,
    *,
    right_first: bool = False,
) -> IntervalTable:
    """Pairs of rows as combinations: the smaller tα, the larger tω, the union of μ (EP-17)."""
    ids = np.full((len(merge.left), len(left_rows)), UNBOUND, np.int32)
    for place, (own, other) in enumerate(zip(merge.left, merge.right, strict=True)):
        if own >= 0:
            ids[place] = left.ids[own][left_rows]
        if other >= 0:
            unbound = slice(None) if own < 0 else np.flatnonzero(ids[place] == UNBOUND)
            ids[place, unbound] = right.ids[other][right_rows[unbound]]
    refs = left.refs[:, left_rows], right.refs[:, right_rows]
    return IntervalTable(
        np.minimum(left.start[left_rows], right.start[right_rows]),
        np.maximum(left.end[left_rows], right.end[right_rows]),
        ids,
        np.concatenate(refs[::-1] if right_first else refs),
    )


def _without_events(table: IntervalTable) -> IntervalTable:
    return IntervalTable(table.start, table.end, table.ids, table.refs[:0])


def keep_useful(store: SolutionStore, closed: int, longest: int) -> None:
    """Evict solutions that no later combination can use: it would end at `closed` or later, and last too long
    (EP-75)."""
    if longest < UNBOUNDED:
        stored = store.table
        least = max(closed - longest, NO_END)
        store.keep((stored.start >= least) | (stored.end == NO_END))


@dataclass(slots=True)
class CombineState:
    """Join, SeqJoin, EqJoin. `longest` has how long solutions of each side may last. `condition` is that of the FILTER
    above the join. It is evaluated before the columns that it does not read are built."""

    node: Combine
    left: SolutionStore
    right: SolutionStore
    longest: tuple[int, int]
    most: int  # how long combinations may last
    condition: Condition | None
    pairs: int = 0  # of the last step

    @classmethod
    def of(
        cls, node: Combine, nodes: Sequence[Node], bounds: Sequence[int], own: int, condition: Condition | None
    ) -> CombineState:
        keys = node.keys
        return cls(
            node,
            store_of(nodes[node.left], keys.left, keys.certain, node.relation),
            store_of(nodes[node.right], keys.right, keys.certain, node.relation),
            (bounds[node.left], bounds[node.right]),
            own,
            condition,
        )

    def step(self, deltas: Sequence[IntervalTable], closed: int, scope: Scope) -> IntervalTable:
        new_left, new_right = deltas
        node, keys = self.node, self.node.keys
        rows, stored = self.right.pairs(new_left, keys.left, node.relation, stored_left=False, longest=self.most)
        self.pairs = len(rows)
        parts = [self._passing(new_left, rows, self.right.table, stored, scope)]
        if node.relation is Relation.SEQ:
            rows, stored = self.left.add_and_follow(new_left, new_right, keys.right, self.most)
        else:
            self.left.add(new_left)
            rows, stored = self.left.pairs(new_right, keys.right, node.relation, stored_left=True, longest=self.most)
        self.pairs += len(rows)
        parts.append(self._passing(self.left.table, stored, new_right, rows, scope))
        self.right.add(new_right)
        return concatenated(parts)

    def _passing(
        self, left: IntervalTable, left_rows: Ints, right: IntervalTable, right_rows: Ints, scope: Scope
    ) -> IntervalTable:
        """The combinations of some pairs that pass the FILTER."""
        if not len(left_rows):
            return no_rows(self.node)
        merge = self.node.merge
        if self.condition is not None:
            asked = asked_of(self.condition)
            places = [place for place, name in enumerate(self.node.variables) if name in asked]
            seen = combined(
                _without_events(left),
                left_rows,
                _without_events(right),
                right_rows,
                Merge(tuple(merge.left[each] for each in places), tuple(merge.right[each] for each in places)),
            )
            passed = scope.holds(self.condition, [self.node.variables[each] for each in places], seen, {})
            left_rows, right_rows = left_rows[passed], right_rows[passed]
        return combined(left, left_rows, right, right_rows, merge)

    def evict(self, closed: int) -> None:
        self.close(closed)
        for store, longest in zip(self.stores, self.longest, strict=True):
            keep_useful(store, closed, longest)

    def close(self, closed: int) -> None:
        """SEQ's right side waits only for left ones that may still arrive; equal intervals end together."""
        if self.node.relation is Relation.SEQ:
            self.right.keep(self.right.table.start > closed)
        elif self.node.relation is Relation.EQUALS:
            self.left.keep(self.left.table.end >= closed)
            self.right.keep(self.right.table.end >= closed)

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield from (self.left, self.right)


@dataclass(slots=True)
class OptionalState:
    """LeftJoin, SeqRightJoin, EqLeftJoin. Mandatory solutions wait until no optional one for them can arrive."""

    node: OptionalCombine
    mandatory: SolutionStore
    optional: SolutionStore
    exists: ExistsStores
    longest: int  # how long optional solutions may last
    matched: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))  # of the mandatory ones

    @classmethod
    def of(cls, node: OptionalCombine, nodes: Sequence[Node], bounds: Sequence[int]) -> OptionalState:
        keys = node.keys
        return cls(
            node,
            store_of(nodes[node.mandatory], keys.left, keys.certain, node.relation),
            store_of(nodes[node.optional], keys.right, keys.certain, node.relation),
            ExistsStores.of(node.condition, nodes),
            bounds[node.optional],
        )

    def step(
        self, deltas: Sequence[IntervalTable], closed: int, before: int, scope: Scope, solver: PatternSolver
    ) -> IntervalTable:
        """`before`: what is left of SEQ is judged before it (EP-53)."""
        mandatory, optional, *tests = deltas
        self.exists.add(tests)
        parts = [no_rows(self.node)]
        if self.exists.is_empty:
            parts += self._new_pairs(mandatory, optional, closed, scope, solver)
        else:  # F is known only when the instant is closed
            self._add(mandatory)
            self.optional.add(optional)
        parts += self._closed(closed, before, scope, solver)
        return concatenated(parts)

    def _new_pairs(
        self, mandatory: IntervalTable, optional: IntervalTable, closed: int, scope: Scope, solver: PatternSolver
    ) -> Iterator[IntervalTable]:
        node, keys = self.node, self.node.keys
        first = len(self.mandatory)
        self._add(mandatory)
        rows, stored = self.optional.pairs(mandatory, keys.left, node.relation, stored_left=False)
        yield self._passing(rows + first, self.optional.table, stored, scope, solver)
        rows, stored = self.mandatory.pairs(optional, keys.right, node.relation, stored_left=True)
        yield self._passing(stored, optional, rows, scope, solver)
        self.optional.add(optional)

    def _passing(
        self, rows: Ints, optional: IntervalTable, optional_rows: Ints, scope: Scope, solver: PatternSolver
    ) -> IntervalTable:
        """The combinations of stored mandatory solutions with optional ones that pass F."""
        node, stored = self.node, self.mandatory.table
        if not len(rows):
            return no_rows(node)
        found = combined(stored, rows, optional, optional_rows, node.merge, right_first=node.optional_first)
        if node.condition is not None:
            flags = self.exists.flags(node.condition, node.variables, found, scope, solver)
            passed = scope.holds(node.condition, node.variables, found, flags)
            found, rows = found.take(passed), rows[passed]
        self.matched[rows] = True
        return found

    def _closed(self, closed: int, before: int, scope: Scope, solver: PatternSolver) -> Iterator[IntervalTable]:
        """The mandatory solutions that no combination can join any more leave; without any, they are bare (EP-23)."""
        node, stored = self.node, self.mandatory.table
        leaving = stored.end < closed
        if node.relation is Relation.SEQ_UNTIL and self.exists.is_empty:
            leaving |= stored.start <= before  # EP-44
        if not leaving.any():
            return
        if not self.exists.is_empty:
            rows = np.flatnonzero(leaving)
            some, other = self.optional.pairs(stored.take(rows), node.keys.left, node.relation, stored_left=False)
            yield self._passing(rows[some], self.optional.table, other, scope, solver)
        yield self._bare(stored.take(leaving & ~self.matched))
        self.mandatory.keep(~leaving)
        self.matched = self.matched[~leaving]

    def _bare(self, rows: IntervalTable) -> IntervalTable:
        absent = len(self.node.places) - len(rows.refs)
        none = np.full((absent, len(rows)), ABSENT, np.int64)
        refs = np.concatenate([none, rows.refs] if self.node.optional_first else [rows.refs, none])
        return IntervalTable(rows.start, rows.end, chosen_columns(rows.ids, self.node.merge.left), refs)

    def _add(self, rows: IntervalTable) -> None:
        self.mandatory.add(rows)
        self.matched = np.concatenate([self.matched, np.zeros(len(rows), np.bool_)])

    def evict(self, closed: int) -> None:
        if self.node.relation is Relation.EQUALS:
            self.optional.keep(self.optional.table.end >= closed)
        keep_useful(self.optional, closed, self.longest)

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield from (self.mandatory, self.optional, *self.exists.stores)


@dataclass(slots=True)
class WithoutState:
    """MINUS. Left solutions wait until their instant is closed."""

    node: Without
    right: SolutionStore
    waiting: IntervalTable

    @classmethod
    def of(cls, node: Without, right: Node) -> WithoutState:
        keys = node.keys
        return cls(node, store_of(right, keys.right, keys.certain, Relation.UNTIL), no_rows(node))

    def step(self, deltas: Sequence[IntervalTable], closed: int, scope: Scope) -> IntervalTable:
        left, right = deltas
        keys = self.node.keys
        waiting = concatenated([self.waiting, left])
        leaving = waiting.end < closed
        self.waiting = waiting.take(~leaving)
        found = waiting.take(leaving)
        if not keys.left:  # without a shared variable nothing is removed, but the row waits (EP-43)
            return found
        self.right.add(earliest(self.right, right, keys))
        rows, stored = self.right.pairs(found, keys.left, Relation.UNTIL, stored_left=False)
        removed = np.zeros(len(found), np.bool_)
        others = self.right.table.ids
        for own, other in zip(keys.left, keys.right, strict=True):
            both = (found.ids[own][rows] != UNBOUND) & (others[other][stored] != UNBOUND)
            removed[rows[both]] = True
        return found.take(~removed)

    def evict(self, closed: int) -> None:
        """The earliest of each shared mapping stay for ever (EP-78)."""

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield self.right


def earliest(store: SolutionStore, rows: IntervalTable, keys: JoinKeys) -> IntervalTable:
    """The rows that add something to a store that is only asked what ended by some time: of each shared mapping, the
    one that ends first (EP-78)."""
    if not len(rows) or keys.certain < len(keys.right):
        return rows
    known, _ = store.pairs(rows, keys.right, Relation.UNTIL, stored_left=False)
    is_new = np.ones(len(rows), np.bool_)
    is_new[known] = False
    rows = rows.take(is_new)
    shared = rows.ids[list(keys.right)]
    order = np.lexsort((rows.end, *shared[::-1]))
    first = np.zeros(len(order), np.bool_)
    first[:1] = True
    for column in shared:
        ordered = column[order]
        first[1:] |= ordered[1:] != ordered[:-1]
    return rows.take(order[first])
