"""FILTER, BIND, UNION and plain SELECT over solutions with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thence.kernel.temporal.conditions import Origin, Scope
from thence.kernel.temporal.exists import ExistsStores, PatternSolver
from thence.kernel.temporal.interval_table import (
    ABSENT,
    IntervalTable,
    chosen_columns,
    concatenated,
    first_of_each,
    no_rows,
)
from thence.kernel.temporal.solution_store import SolutionStore
from thence.program.temporal.network import Assign, Either, Node, Project, Restrict


@dataclass(slots=True)
class ConditionState:
    """FILTER and BIND. With EXISTS in it, solutions wait until their instant is closed. `judged`: the join below it
    lets only pass what the FILTER does."""

    node: Restrict | Assign
    below: Node
    exists: ExistsStores
    waiting: IntervalTable
    origin: Origin
    judged: bool

    @classmethod
    def of(cls, node: Restrict | Assign, nodes: Sequence[Node], *, judged: bool) -> ConditionState:
        below = source = nodes[node.input]
        number = node.input
        while isinstance(source, Assign):  # BINDs that stand on each other are about one solution
            number, source = source.input, nodes[source.input]
        origin = Origin(number, len(source.variables))
        return cls(node, below, ExistsStores.of(node.condition, nodes), no_rows(below), origin, judged)

    def step(self, deltas: Sequence[IntervalTable], closed: int, scope: Scope, solver: PatternSolver) -> IntervalTable:
        rows, *tests = deltas
        if self.judged:
            return rows
        if not self.exists.is_empty:
            self.exists.add(tests)
            waiting = concatenated([self.waiting, rows])
            leaving = waiting.end < closed
            self.waiting, rows = waiting.take(~leaving), waiting.take(leaving)
        if not len(rows):
            return no_rows(self.node)
        condition, variables = self.node.condition, self.below.variables
        flags = self.exists.flags(condition, variables, rows, scope, solver)
        if isinstance(self.node, Restrict):
            return rows.take(scope.holds(condition, variables, rows, flags))
        assert condition.expression is not None
        assigned = scope.ids(condition.expression, variables, rows, flags, origin=self.origin)
        return IntervalTable(rows.start, rows.end, np.concatenate([rows.ids, assigned[None]]), rows.refs)

    def evict(self, closed: int) -> None:
        """Nothing that waits can leave before it is decided."""

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield from self.exists.stores


def either(node: Either, nodes: Sequence[Node], deltas: Sequence[IntervalTable]) -> IntervalTable:
    """UNION."""
    left, right = deltas
    sides = (len(nodes[node.left].places), len(nodes[node.right].places))
    no_left = np.full((sides[0], len(right)), ABSENT, np.int64)
    no_right = np.full((sides[1], len(left)), ABSENT, np.int64)
    return concatenated(
        [
            IntervalTable(
                left.start,
                left.end,
                chosen_columns(left.ids, node.columns[0]),
                np.concatenate([left.refs, no_right]),
            ),
            IntervalTable(
                right.start,
                right.end,
                chosen_columns(right.ids, node.columns[1]),
                np.concatenate([no_left, right.refs]),
            ),
        ]
    )


@dataclass(slots=True)
class ProjectState:
    """SELECT without groups and slices. DISTINCT remembers the rows of instants that are not closed."""

    node: Project
    waiting: IntervalTable  # those that DISTINCT remembers

    @classmethod
    def of(cls, node: Project) -> ProjectState:
        return cls(node, no_rows(node))

    def step(self, deltas: Sequence[IntervalTable], closed: int, scope: Scope) -> IntervalTable:
        (rows,) = deltas
        refs = rows.refs[:0] if self.node.distinct else rows.refs
        columns = (*self.node.columns, *self.node.hidden)
        shown = IntervalTable(rows.start, rows.end, chosen_columns(rows.ids, columns), refs)
        if not self.node.distinct or not len(shown):
            return shown
        shown = shown.take(first_of_each(shown, self.waiting))
        self.waiting = concatenated([self.waiting, shown])
        return shown

    def evict(self, closed: int) -> None:
        if len(self.waiting):
            self.waiting = self.waiting.take(self.waiting.end >= closed)

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield from ()
