"""FILTER, BIND, EXISTS, UNION and plain SELECT over solutions with intervals (EP-26 to EP-34)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Bound, Call, Expression, Variable
from thence.algebra.variables import mentioned, parts
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.engines.temporal.program import (
    DURATION,
    END_TIME,
    START_TIME,
    Assign,
    Condition,
    Either,
    ExistsTest,
    Node,
    Project,
    Restrict,
    no_rows,
)
from thence.match.background import Background
from thence.match.context import Context, Solution, SolutionLabels
from thence.match.expression_columns import ExpressionColumns
from thence.match.expression_evaluator import attempt
from thence.match.expression_evaluator import passes as passes_row
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.terms import BlankNode, Literal
from thence.rdf.times import Domain, time_literal
from thence.rdf.values import FALSE, TRUE, literal
from thence.relation.interval_table import (
    ABSENT,
    NO_END,
    IntervalTable,
    Relation,
    chosen_columns,
    concatenated,
    durations,
    first_of_each,
)
from thence.relation.solution_store import SolutionStore

# Expressions over solutions with intervals: time functions are columns (EP-29 – EP-34), EXISTS is a column too.

MICROSECONDS = 1_000_000

_FEW = 4
"""Rows for which an expression is evaluated one by one: for so few, columns take more time."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The node whose solutions an expression is about, and how many columns they have; BINDs add others behind them."""

    node: int
    columns: int


@dataclass(slots=True)
class Scope:
    """The context of expressions: the dictionary, the kind of time, the background; and `outer`, the terms that
    EXISTS has put in for variables."""

    terms: Terms
    background: Background
    context: Context
    domain: Domain = Domain.TICKS
    outer: Mapping[Variable, int] = field(default_factory=dict)
    named: dict[int, int] = field(default_factory=dict)  # by rule: the solutions that blank nodes were named for

    def holds(
        self, condition: Condition, variables: Sequence[Variable], rows: IntervalTable, flags: Mapping[Variable, Ids]
    ) -> NDArray[np.bool_]:
        """The rows that pass a FILTER."""
        passes = np.ones(len(rows), np.bool_)
        if condition.bounds_duration:
            lasted = durations(rows.start, rows.end)
            passes &= rows.end != NO_END  # EP-33
            passes &= True if condition.shortest is None else lasted >= condition.shortest
            passes &= True if condition.longest is None else lasted <= condition.longest
        expression = condition.expression
        if expression is None or not passes.any():
            return passes
        if passes.all():
            return self._passes(expression, variables, rows, flags)
        taken = np.flatnonzero(passes)
        some = {name: ids[taken] for name, ids in flags.items()}
        passes[taken] = self._passes(expression, variables, rows.take(taken), some)
        return passes

    def _passes(
        self, expression: Expression, variables: Sequence[Variable], rows: IntervalTable, flags: Mapping[Variable, Ids]
    ) -> NDArray[np.bool_]:
        if len(rows) <= _FEW and not makes_nodes(expression):
            few = self._few(expression, variables, rows, flags)
            return np.array([passes_row(expression, solution, self.context) for solution in few], np.bool_)
        columns = self._columns(expression, variables, rows, flags)
        if not makes_nodes(expression):
            return columns.holds(expression)
        origin = Origin(-1, len(rows.ids))  # no node leaves a FILTER
        found = [passes_row(expression, *row) for row in self._one_by_one(columns.solutions, rows, origin)]
        return np.array(found, np.bool_)

    def ids(
        self,
        expression: Expression,
        variables: Sequence[Variable],
        rows: IntervalTable,
        flags: Mapping[Variable, Ids],
        origin: Origin,
    ) -> Ids:
        """The term in each row; UNBOUND for an error."""
        if len(rows) <= _FEW and not makes_nodes(expression):
            few = self._few(expression, variables, rows, flags)
            return self.terms.add_all([attempt(expression, solution, self.context) for solution in few])
        columns = self._columns(expression, variables, rows, flags)
        if not makes_nodes(expression):
            return columns.ids(expression)
        solutions = self._one_by_one(columns.solutions, rows, origin)
        return self.terms.add_all([attempt(expression, *row) for row in solutions])

    def _few(
        self, expression: Expression, variables: Sequence[Variable], rows: IntervalTable, flags: Mapping[Variable, Ids]
    ) -> Iterator[Solution]:
        """The rows as mappings of what an expression reads."""
        columns = self._columns(expression, variables, rows, flags).solutions.columns
        named = [(name, ids.tolist()) for name, ids in columns.items() if isinstance(name, Variable)]
        for row in range(len(rows)):
            yield {name: self.terms[ids[row]] for name, ids in named if ids[row] != UNBOUND}

    def _one_by_one(
        self, table: SolutionTable, rows: IntervalTable, origin: Origin
    ) -> Iterator[tuple[Solution, Context]]:
        """Each row as a mapping, with a context whose blank nodes are those of the solution (EP-4), so that the same
        events give the same nodes."""
        columns = {name: ids.tolist() for name, ids in table.columns.items() if isinstance(name, Variable)}
        for row in range(len(rows)):
            solution = {name: self.terms[ids[row]] for name, ids in columns.items() if ids[row] != UNBOUND}
            own = rows.ids[: origin.columns, row].tolist()
            terms = ["" if each == UNBOUND else self.terms.text_of(each) for each in own]
            interval = int(rows.start[row]), int(rows.end[row])
            identity = repr((origin.node, interval, rows.refs[:, row].tolist(), terms))
            random = Random(f"{identity} column {len(rows.ids)}")
            yield solution, replace(self.context, random=random, labels=_Labels(identity))

    def solutions_of(self, rule: int, count: int, *, fresh: bool) -> int:
        """The number of the first of some solutions of a rule that has blank nodes; `fresh`: they were not numbered."""
        if fresh:
            self.named[rule] = self.named.get(rule, 0) + count
        return self.named[rule] - count

    def flags(self, truth: NDArray[np.bool_]) -> Ids:
        """The result of EXISTS in each row, as terms."""
        false, true = self.terms.add_all([FALSE, TRUE]).tolist()
        return np.where(truth, np.int32(true), np.int32(false))

    def _columns(
        self, expression: Expression, variables: Sequence[Variable], rows: IntervalTable, flags: Mapping[Variable, Ids]
    ) -> ExpressionColumns:
        asked = _asked(expression)
        found: dict[ColumnVariable, Ids] = {
            name: rows.ids[place] for place, name in enumerate(variables) if name in asked
        }
        for name in asked:
            if name in self.outer:
                own = found.get(name)
                outer = np.full(len(rows), self.outer[name], np.int32)
                found[name] = outer if own is None else np.where(own == UNBOUND, outer, own)
        found |= {name: self.times(name, rows.start, rows.end) for name in asked & set(TIMES)}
        found |= {name: ids for name, ids in flags.items() if name in asked}
        return ExpressionColumns(self.terms, SolutionTable(len(rows), found, None), self.context)

    def times(self, function: Variable, start: Ints, end: Ints) -> Ids:
        """A time function of each interval, as terms; UNBOUND for a timeless one (EP-33)."""
        found = np.full(len(end), UNBOUND, np.int32)
        rows = np.flatnonzero(end != NO_END)
        numbers = TIMES[function](start[rows], end[rows])
        distinct, where = np.unique(numbers, return_inverse=True)
        shown = [self.time(function, each) for each in distinct.tolist()]
        found[rows] = self.terms.add_all(shown)[where]
        return found

    def time(self, function: Variable, number: int) -> Literal:
        """The term of a time or a length of time (EP-30)."""
        if function == DURATION and self.domain is Domain.DATETIME:
            return literal(Duration(0, Decimal(number) / MICROSECONDS, XSD_DAY_TIME_DURATION))
        return time_literal(number, self.domain)


def asked_of(condition: Condition) -> frozenset[Variable]:
    """The variables that a condition reads."""
    return frozenset() if condition.expression is None else _asked(condition.expression)


def _asked(expression: Expression) -> frozenset[Variable]:
    return mentioned(expression) | {part.variable for part in parts(expression) if isinstance(part, Bound)}


class _Labels(SolutionLabels):
    """The blank nodes that BNODE("label") makes in the solution of an identity."""

    __slots__ = ("_identity",)

    def __init__(self, identity: str) -> None:
        super().__init__()
        self._identity = identity

    def node(self, label: str, fresh: Callable[[], BlankNode]) -> BlankNode:
        return Context(random=Random(f"{self._identity} label {label}")).fresh()


def makes_nodes(expression: Expression) -> bool:
    """Whether an expression has another value in each solution: BNODE alone does, of what is not rejected (EP-16)."""
    return any(isinstance(part, Call) and part.function == "BNODE" for part in parts(expression))


TIMES: Mapping[Variable, Callable[[Ints, Ints], Ints | NDArray[np.uint64]]] = {
    DURATION: durations,
    START_TIME: lambda start, end: start,
    END_TIME: lambda start, end: end,
}
"""The time functions, over starts and ends."""


# EXISTS over solutions with intervals: it sees what ends no later than the solution under test (EP-26, EP-27).


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
        from thence.engines.temporal.joins import earliest

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
        """The result of each EXISTS for some rows, whose instants are closed."""
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
    """SELECT without groups and slices. DISTINCT keeps the rows of instants that are not closed."""

    node: Project
    waiting: IntervalTable  # those that DISTINCT keeps

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
