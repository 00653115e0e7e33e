"""Evaluates a GRAPH block by index lookups, if the background is far larger than the bindings that are joined with
it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression
from thence.algebra.patterns import Bgp, Filter, Graph, PathPattern, Pattern, PatternTerm, TriplePattern
from thence.columns.event_batch import EventBatch
from thence.match import solution_table as tables
from thence.match.background import Background, ForeignSolutions
from thence.match.context import Context
from thence.match.expression_columns import ExpressionColumns
from thence.match.solution_table import ColumnVariable, Ids, SolutionTable
from thence.match.vectorised_evaluator import matching
from thence.rdf.terms import IRI

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """A graph's triples by predicate and subject, and by predicate and object; each put in order when first asked."""

    graph: EventBatch
    ordered: dict[tuple[int, bool], tuple[Ids, Rows]] = field(default_factory=dict)

    def rows(self, predicate: int, by_subject: bool, wanted: Ids) -> Rows:
        """The triples of a predicate that have one of these subjects, or objects."""
        ids, rows = self._by(predicate, by_subject)
        low, high = np.searchsorted(ids, wanted, side="left"), np.searchsorted(ids, wanted, side="right")
        counts = high - low
        starts = np.repeat(low - np.cumsum(counts) + counts, counts)
        found: Rows = rows[starts + np.arange(len(starts))]
        return found

    def _by(self, predicate: int, by_subject: bool) -> tuple[Ids, Rows]:
        key = (predicate, by_subject)
        if key not in self.ordered:
            rows = np.flatnonzero(self.graph.predicates == predicate)
            ids = (self.graph.subjects if by_subject else self.graph.objects)[rows]
            order = np.argsort(ids, kind="stable")
            self.ordered[key] = ids[order], rows[order]
        return self.ordered[key]


def look_up(block: Graph, asked: SolutionTable, background: Background, context: Context) -> ForeignSolutions | None:
    """The solutions of a block that some row of `asked`, in the background's ids, is compatible with. None where it
    can't be looked up: it is no basic graph pattern with constant predicates, each of whose triples shares a variable
    with what was asked or looked up before."""
    conditions, pattern = _apart(block)
    if not isinstance(pattern, Bgp) or not isinstance(block.name, IRI):
        return None
    names = {slot for triple in pattern.triples for slot in (triple.subject, triple.object)}
    known: dict[ColumnVariable, Ids] = {
        v: ids for v, ids in asked.columns.items() if v in names and asked.binds_always(v)
    }
    steps = _steps(pattern, set(known))
    if not known or steps is None:
        return None
    found = _joined(_lookup(background, block.name), _distinct(known), steps)
    for condition in conditions:
        found = found.keep(ExpressionColumns(background.data.terms, found, context).holds(condition))
    return ForeignSolutions(found, background.data.terms)


def _distinct(columns: dict[ColumnVariable, Ids]) -> SolutionTable:
    """Each question once, or each would be answered as often as it is asked."""
    rows = np.unique(np.stack(list(columns.values())), axis=1)
    return SolutionTable(rows.shape[1], dict(zip(columns, rows, strict=True)), None)


def _apart(block: Graph) -> tuple[list[Expression], Pattern]:
    pattern = block.pattern
    conditions = []
    while isinstance(pattern, Filter):
        conditions.append(pattern.condition)
        pattern = pattern.pattern
    return conditions, pattern


def _steps(pattern: Bgp, known: set[ColumnVariable]) -> list[tuple[TriplePattern, bool]] | None:
    """The triples in an order in which each has its subject (True) or its object (False) known."""
    waiting = list(pattern.triples)
    steps: list[tuple[TriplePattern, bool]] = []
    while waiting:
        step = next(_possible(waiting, known), None)
        if step is None:
            return None
        steps.append(step)
        waiting.remove(step[0])
        known = known | {slot for slot in (step[0].subject, step[0].object) if isinstance(slot, ColumnVariable)}
    return steps


def _possible(
    waiting: Sequence[TriplePattern | PathPattern], known: set[ColumnVariable]
) -> Iterator[tuple[TriplePattern, bool]]:
    for triple in waiting:
        if isinstance(triple, TriplePattern) and isinstance(triple.predicate, IRI):
            for slot, by_subject in ((triple.subject, True), (triple.object, False)):
                if slot in known:
                    yield triple, by_subject


def _joined(lookup: Lookup, joined: SolutionTable, steps: list[tuple[TriplePattern, bool]]) -> SolutionTable:
    graph = lookup.graph
    for triple, by_subject in steps:
        slot: PatternTerm = triple.subject if by_subject else triple.object
        assert isinstance(slot, ColumnVariable) and isinstance(triple.predicate, IRI)
        wanted = np.unique(joined.columns[slot])
        rows = lookup.rows(graph.terms.find(triple.predicate), by_subject, wanted)
        columns = matching(triple, graph, rows)[0]
        joined = tables.join(joined, SolutionTable(len(columns[slot]), columns, None))
    return joined.without_blank_nodes()


def _lookup(background: Background, name: IRI) -> Lookup:
    made = background.lookups.get(name)
    if not isinstance(made, Lookup):
        made = background.lookups[name] = Lookup(background.graph(name))
    return made
