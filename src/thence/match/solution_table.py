"""`SolutionTable`: the solutions of a pattern over many events at once, as columns; and the operators of SPARQL's
algebra on tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND
from thence.match.hash_join import JoinIndex, build_index, join_rows
from thence.rdf.terms import BlankNode

ColumnVariable = Variable | BlankNode
"""The meaning of a column: a variable, or a blank node of a pattern, which is a variable inside its basic graph
pattern."""


@dataclass(frozen=True, slots=True, eq=False)
class SolutionTable:
    """A multiset of mappings, each of one event. Rows are ordered by event; an id of -1 is an unbound variable.
    A table that speaks of no event (VALUES, background data) has no `events`: its rows join with those of every
    event."""

    length: int
    columns: Mapping[ColumnVariable, Ids]
    events: Ids | None

    def __len__(self) -> int:
        return self.length

    def take(self, rows: Ints) -> SolutionTable:
        events = None if self.events is None else self.events[rows]
        return SolutionTable(len(rows), {name: ids[rows] for name, ids in self.columns.items()}, events)

    def keep(self, mask: NDArray[np.bool_]) -> SolutionTable:
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def with_column(self, name: ColumnVariable, ids: Ids) -> SolutionTable:
        return SolutionTable(self.length, {**self.columns, name: ids}, self.events)

    def binds_always(self, name: ColumnVariable) -> bool:
        return bool((self.columns[name] != UNBOUND).all())

    def without_blank_nodes(self) -> SolutionTable:
        kept: dict[ColumnVariable, Ids] = {
            name: ids for name, ids in self.columns.items() if isinstance(name, Variable)
        }
        return SolutionTable(self.length, kept, self.events)


def one_empty_solution(events: int) -> SolutionTable:
    """The solutions of an empty pattern: each event once, with nothing bound."""
    return SolutionTable(events, {}, np.arange(events, dtype=np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of compatible rows of two tables, ordered by the left row."""

    left: SolutionTable
    right: SolutionTable
    lefts: Ints
    rights: Ints

    def merged(self) -> SolutionTable:
        """μ1 ∪ μ2 for each pair."""
        columns = {name: ids[self.lefts] for name, ids in self.left.columns.items()}
        for name, ids in self.right.columns.items():
            taken = ids[self.rights]
            columns[name] = np.where(columns[name] == UNBOUND, taken, columns[name]) if name in columns else taken
        if self.left.events is not None:
            return SolutionTable(len(self.lefts), columns, self.left.events[self.lefts])
        return SolutionTable(
            len(self.lefts), columns, None if self.right.events is None else self.right.events[self.rights]
        )


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """The columns by which two tables join: `names` that both have, the first `certain` of them bound in every row of
    both."""

    names: tuple[ColumnVariable, ...]
    certain: int
    by_event: bool

    def of(self, table: SolutionTable) -> Ids:
        """The key columns of one side."""
        stacked = np.empty((len(self.names) + self.by_event, len(table)), np.int32)
        if self.by_event and table.events is not None:
            stacked[0] = table.events
        for row, name in enumerate(self.names, start=self.by_event):
            stacked[row] = table.columns[name]
        return stacked

    def index(self, table: SolutionTable) -> JoinIndex:
        return build_index(self.of(table), self.certain + self.by_event)


def join_keys(left: SolutionTable, right: SolutionTable) -> JoinKeys:
    shared = [name for name in left.columns if name in right.columns]
    certain = [name for name in shared if left.binds_always(name) and right.binds_always(name)]
    others = [name for name in shared if name not in certain]
    return JoinKeys((*certain, *others), len(certain), left.events is not None and right.events is not None)


def compatible(left: SolutionTable, right: SolutionTable) -> Pairs:
    """All pairs of compatible mappings of the same event (SPARQL 1.1, 18.3)."""
    keys = join_keys(left, right)
    return Pairs(left, right, *join_rows(keys.of(left), keys.index(right)))


def join(left: SolutionTable, right: SolutionTable) -> SolutionTable:
    """Join (18.5). Rows stay ordered by event: the side that has events leads."""
    if left.events is None and right.events is not None:
        left, right = right, left
    return compatible(left, right).merged()


def union(left: SolutionTable, right: SolutionTable) -> SolutionTable:
    """Union (18.5) of two tables over events."""
    names = [*left.columns, *(name for name in right.columns if name not in left.columns)]
    columns = {name: np.concatenate([_column(left, name), _column(right, name)]) for name in names}
    assert left.events is not None and right.events is not None
    events = np.concatenate([left.events, right.events])
    return SolutionTable(len(events), columns, events).take(np.argsort(events, kind="stable"))


def _column(table: SolutionTable, name: ColumnVariable) -> Ids:
    ids = table.columns.get(name)
    return np.full(len(table), UNBOUND, np.int32) if ids is None else ids


def left_join(pairs: Pairs, passed: NDArray[np.bool_]) -> SolutionTable:
    """LeftJoin (18.5): the pairs whose condition `passed`, and the left rows without such a pair, alone."""
    merged = pairs.merged()
    lefts = pairs.lefts[passed]
    alone = np.ones(len(pairs.left), np.bool_)
    alone[lefts] = False
    bare = np.flatnonzero(alone)
    order = np.argsort(np.concatenate([lefts, bare]), kind="stable")
    kept = merged.take(np.flatnonzero(passed))
    left = pairs.left.take(bare)
    columns = {name: np.concatenate([ids, _column(left, name)])[order] for name, ids in kept.columns.items()}
    assert kept.events is not None and left.events is not None
    return SolutionTable(len(order), columns, np.concatenate([kept.events, left.events])[order])


def minus(left: SolutionTable, right: SolutionTable) -> SolutionTable:
    """Minus (18.5): without the left rows that a right one is compatible with, sharing at least one bound variable."""
    if not any(name in right.columns for name in left.columns):
        return left
    pairs = compatible(left, right)
    overlap = np.zeros(len(pairs.lefts), np.bool_)
    for name in left.columns:
        if name in right.columns:
            overlap |= (left.columns[name][pairs.lefts] != UNBOUND) & (right.columns[name][pairs.rights] != UNBOUND)
    keep = np.ones(len(left), np.bool_)
    keep[pairs.lefts[overlap]] = False
    return left.keep(keep)
