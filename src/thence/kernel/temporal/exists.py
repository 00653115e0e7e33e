"""EXISTS over solutions with intervals: it sees what ends no later than the solution under test (EP-26, EP-27)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.dictionary import UNBOUND
from thence.kernel.temporal.conditions import Scope
from thence.kernel.temporal.interval_table import Ids, IntervalTable
from thence.kernel.temporal.solution_store import SolutionStore
from thence.program.temporal.network import Condition, ExistsTest, Node, Relation


class PatternSolver(Protocol):
    """Evaluates the pattern of an EXISTS for one solution, whose terms replace its variables."""

    def has_solution(self, node: int, outer: Mapping[Variable, int], until: int) -> bool:
        """Whether a pattern has a solution that ends no later than `until`."""
        ...


@dataclass(slots=True)
class ExistsStores:
    """The solutions of each EXISTS in a condition, hashed on what they share with the solutions under test."""

    tests: tuple[ExistsTest, ...] = ()
    stores: list[SolutionStore] = field(default_factory=list)

    @classmethod
    def of(cls, condition: Condition | None, nodes: Sequence[Node]) -> ExistsStores:
        tests = () if condition is None else condition.exists
        stores = [
            SolutionStore(
                test.keys.right,
                test.keys.certain,
                False,
                len(nodes[test.node].variables),
                len(nodes[test.node].places),
            )
            for test in tests
        ]
        return cls(tests, stores)

    @property
    def is_empty(self) -> bool:
        return not self.tests

    def add(self, deltas: Sequence[IntervalTable]) -> None:
        """New solutions of the patterns. Those of correlated ones are not needed: they depend on what is tested."""
        from thence.kernel.temporal.joins import earliest

        for test, store, rows in zip(self.tests, self.stores, deltas, strict=True):
            if not test.correlated:
                store.add(earliest(store, rows, test.keys))

    def flags(
        self,
        condition: Condition,
        variables: Sequence[Variable],
        rows: IntervalTable,
        scope: Scope,
        solver: PatternSolver,
    ) -> dict[Variable, Ids]:
        """What each EXISTS says of some rows, whose instants are closed."""
        found = {}
        for test, store in zip(self.tests, self.stores, strict=True):
            if test.correlated:
                truth = self._anew(test, variables, rows, scope, solver)
            else:
                truth = np.zeros(len(rows), np.bool_)
                some, _ = store.pairs(rows, test.keys.left, Relation.UNTIL, stored_left=False)
                truth[some] = True
            found[test.flag] = scope.flags(truth)
        return found

    def _anew(
        self,
        test: ExistsTest,
        variables: Sequence[Variable],
        rows: IntervalTable,
        scope: Scope,
        solver: PatternSolver,
    ) -> NDArray[np.bool_]:
        truth = np.zeros(len(rows), np.bool_)
        for row, until in enumerate(rows.end.tolist()):
            own = {
                name: value
                for name, value in zip(variables, rows.ids[:, row].tolist(), strict=True)
                if value != UNBOUND
            }
            truth[row] = solver.has_solution(test.node, {**scope.outer, **own}, until)
        return truth

    def __iter__(self) -> Iterator[SolutionStore]:
        return iter(self.stores)
