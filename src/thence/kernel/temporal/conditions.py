"""Expressions over solutions with intervals: time functions are columns (EP-29 – EP-34), EXISTS is a column too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Bound, Call, Expression, Variable
from thence.algebra.variables import mentioned, parts
from thence.columns.dictionary import UNBOUND, Terms
from thence.kernel.temporal.interval_table import NO_END, Ids, IntervalTable, Ints, durations
from thence.match.background import Background
from thence.match.context import Context, Solution, SolutionLabels
from thence.match.expression_columns import ExpressionColumns
from thence.match.expression_evaluator import attempt
from thence.match.expression_evaluator import passes as passes_row
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.program.temporal.network import DURATION, END_TIME, START_TIME, Condition
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.terms import BlankNode, Literal
from thence.rdf.times import Domain, time_literal
from thence.rdf.values import FALSE, TRUE, literal

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
    """What expressions are evaluated in: the dictionary, the kind of time, the background; and `outer`, the terms that
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
        """Where a FILTER lets a row pass."""
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
        """What EXISTS says in each row, as terms."""
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
