"""Expressions over solutions with intervals: time functions are columns (EP-29 – EP-34), EXISTS is a column too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Bound, Expression, Variable
from thence.algebra.variables import mentioned, parts
from thence.columns.dictionary import UNBOUND, Terms
from thence.kernel.temporal.interval_table import NO_END, Ids, IntervalTable, Ints
from thence.match.background import Background
from thence.match.context import Context
from thence.match.expression_columns import ExpressionColumns
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.program.temporal.network import DURATION, END_TIME, START_TIME, Condition
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.terms import Literal
from thence.rdf.times import Domain, time_literal
from thence.rdf.values import FALSE, TRUE, literal

MICROSECONDS = 1_000_000


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
            lasted = rows.end - rows.start
            passes &= rows.end != NO_END  # EP-33
            passes &= True if condition.shortest is None else lasted >= condition.shortest
            passes &= True if condition.longest is None else lasted <= condition.longest
        expression = condition.expression
        if expression is None or not passes.any():
            return passes
        if passes.all():
            return self._columns(expression, variables, rows, flags).holds(expression)
        taken = np.flatnonzero(passes)
        some = {name: ids[taken] for name, ids in flags.items()}
        passes[taken] = self._columns(expression, variables, rows.take(taken), some).holds(expression)
        return passes

    def ids(
        self, expression: Expression, variables: Sequence[Variable], rows: IntervalTable, flags: Mapping[Variable, Ids]
    ) -> Ids:
        """The term in each row; UNBOUND for an error."""
        return self._columns(expression, variables, rows, flags).ids(expression)

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
        asked = mentioned(expression) | {part.variable for part in parts(expression) if isinstance(part, Bound)}
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


TIMES: Mapping[Variable, Callable[[Ints, Ints], Ints]] = {
    DURATION: lambda start, end: end - start,
    START_TIME: lambda start, end: start,
    END_TIME: lambda start, end: end,
}
"""The time functions, over starts and ends."""
