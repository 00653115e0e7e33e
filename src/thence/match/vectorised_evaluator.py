"""`[[P]]_G` for many events at once: the operators of SPARQL's algebra over columns of ids."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    PathPattern,
    Pattern,
    PatternTerm,
    SubSelect,
    TemporalJoin,
    TriplePattern,
    Union,
    Values,
    WindowPattern,
)
from thence.columns.arrays import Ids
from thence.columns.batches import EventBatch
from thence.match import solution_table as tables
from thence.match.background import Background, ForeignSolutions
from thence.match.context import Context
from thence.match.expression_columns import ExpressionColumns
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.rdf.terms import BlankNode


def evaluate(pattern: Pattern, batch: EventBatch, background: Background, context: Context) -> SolutionTable:
    """The solutions of a pattern in each event of a batch. The pattern must be one that `reason_for_plain` has no
    reason against."""
    return _Evaluation(batch, batch.event_of_triple, background, context).evaluate(pattern)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    batch: EventBatch
    event_of_triple: Ids
    background: Background
    context: Context

    def evaluate(self, pattern: Pattern) -> SolutionTable:
        """A table over events."""
        found = self._partial(pattern)
        if isinstance(found, ForeignSolutions):
            found = found.imported(self.batch.terms)
        return found if found.events is not None else tables.join(tables.one_empty_solution(len(self.batch)), found)

    def _partial(self, pattern: Pattern) -> SolutionTable | ForeignSolutions:
        """Solutions that may not speak of events yet, or be in the background's ids: a join knows how to use them."""
        streams = self.context.streams
        if streams is not None and streams.known and pattern in streams.known:
            return streams.known[pattern]
        match pattern:
            case Bgp():
                return self._bgp(pattern)
            case Values():
                return self._values(pattern)
            case Graph():
                return self._graph(pattern)
            case Join():
                return self._join(self._partial(pattern.left), self._partial(pattern.right))
            case LeftJoin():
                return self._left_join(pattern)
            case Union():
                return tables.union(self.evaluate(pattern.left), self.evaluate(pattern.right))
            case Minus():
                return tables.minus(self.evaluate(pattern.left), self.evaluate(pattern.right))
            case Filter():
                solutions = self.evaluate(pattern.pattern)
                return solutions.keep(self._holds(pattern.condition, solutions))
            case Extend():
                solutions = self.evaluate(pattern.pattern)
                return solutions.with_column(pattern.variable, self._columns(solutions).ids(pattern.expression))
            case SubSelect():
                raise AssertionError("a sub-select is evaluated event by event")
            case WindowPattern():
                return self._window(pattern)
            case MatchPattern():
                assert self.context.streams is not None
                return self.context.streams.matches[pattern.place]
            case TemporalJoin():
                raise AssertionError("one graph has no time")
            case _:
                assert_never(pattern)

    def _columns(self, solutions: SolutionTable) -> ExpressionColumns:
        return ExpressionColumns(self.batch.terms, solutions, self.context)

    def _holds(self, condition: Expression, solutions: SolutionTable) -> NDArray[np.bool_]:
        return self._columns(solutions).holds(condition)

    def _bgp(self, pattern: Bgp) -> SolutionTable:
        """Triple by triple, the one with the fewest matches first, then those that share a variable with what is
        joined."""
        waiting = [self._triple(triple) for triple in pattern.triples]
        if not waiting:
            return tables.one_empty_solution(len(self.batch))
        joined = waiting.pop(_smallest(waiting))
        while waiting:
            connected = [found for found in waiting if not joined.columns.keys().isdisjoint(found.columns)]
            following = connected or waiting
            chosen = following[_smallest(following)]
            waiting = [found for found in waiting if found is not chosen]
            joined = tables.join(joined, chosen)
        return joined.without_blank_nodes()

    def _triple(self, triple: TriplePattern | PathPattern) -> SolutionTable:
        assert isinstance(triple, TriplePattern), "a path is evaluated event by event"
        columns, rows = matching(triple, self.batch, None)
        events = self.event_of_triple if rows is None else self.event_of_triple[rows]
        return SolutionTable(len(events), columns, events)

    def _values(self, pattern: Values) -> SolutionTable:
        columns: dict[ColumnVariable, Ids] = {
            variable: self.batch.terms.add_all(row[place] for row in pattern.rows)
            for place, variable in enumerate(pattern.variables)
        }
        return SolutionTable(len(pattern.rows), columns, None)

    def _window(self, pattern: WindowPattern) -> SolutionTable:
        """In another graph of the same dictionary."""
        assert self.context.streams is not None
        batch = self.context.streams.windows[pattern.name]
        return replace(self, batch=batch, event_of_triple=batch.event_of_triple).evaluate(pattern.pattern)

    def _graph(self, pattern: Graph) -> ForeignSolutions:
        return self.background.solutions(
            pattern, self.context, lambda inner, graph: evaluate(inner, graph, self.background, self.context)
        )

    def _join(self, left: SolutionTable | ForeignSolutions, right: SolutionTable | ForeignSolutions) -> SolutionTable:
        if isinstance(left, ForeignSolutions):
            left, right = right, left
        if isinstance(left, ForeignSolutions):
            left = left.imported(self.batch.terms)
        if isinstance(right, ForeignSolutions):
            right = right.restricted(left, self.batch.terms)
        return tables.join(left, right)

    def _left_join(self, pattern: LeftJoin) -> SolutionTable:
        left = self.evaluate(pattern.left)
        right = self._partial(pattern.right)
        if isinstance(right, ForeignSolutions):
            right = right.restricted(left, self.batch.terms)
        pairs = tables.compatible(left, right)
        passed = np.ones(len(pairs.lefts), np.bool_)
        if pattern.condition is not None:
            passed = self._holds(pattern.condition, pairs.merged())
        return tables.left_join(pairs, passed)


def matching(
    triple: TriplePattern, batch: EventBatch, rows: NDArray[np.int64] | None
) -> tuple[dict[ColumnVariable, Ids], NDArray[np.int64] | None]:
    """The columns of a triple pattern's variables, and the matching triples of a batch, among `rows` unless None."""
    columns: dict[ColumnVariable, Ids] = {}
    places = (
        (triple.predicate, batch.predicates),  # the predicate is nearly always a constant
        (triple.subject, batch.subjects),
        (triple.object, batch.objects),
    )
    for slot, ids in places:
        if not isinstance(slot, Variable | BlankNode):
            rows = _where_equal(ids, batch.terms.find(slot), rows)
    for slot, ids in places:
        if isinstance(slot, Variable | BlankNode):
            taken = ids if rows is None else ids[rows]
            if slot in columns:
                same = np.flatnonzero(columns[slot] == taken)
                columns = {name: column[same] for name, column in columns.items()}
                rows = same if rows is None else rows[same]
            else:
                columns[slot] = taken
    return _in_order(triple, columns), rows


def _smallest(candidates: list[SolutionTable]) -> int:
    return min(range(len(candidates)), key=lambda i: len(candidates[i]))


def _where_equal(ids: Ids, constant: int, rows: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if rows is None:
        return np.flatnonzero(ids == constant)
    kept: NDArray[np.int64] = rows[ids[rows] == constant]
    return kept


def _in_order(triple: TriplePattern, columns: dict[ColumnVariable, Ids]) -> dict[ColumnVariable, Ids]:
    """Columns as the triple names them, so that a table reads like its pattern."""
    slots: tuple[PatternTerm, ...] = (triple.subject, triple.predicate, triple.object)
    return {slot: columns[slot] for slot in slots if isinstance(slot, Variable | BlankNode)}
