"""`solutions`: the answers of a graph pattern in each event of a batch, by whichever evaluator the pattern takes."""

from __future__ import annotations

import numpy as np

from thence.algebra.patterns import Pattern
from thence.algebra.variables import in_scope
from thence.match import plain, vectorised
from thence.match.background import NO_BACKGROUND, Background, NamedGraphs
from thence.match.choice import reason_for_plain
from thence.match.context import Context, Solution
from thence.match.table import Name, Table
from thence.rdf.columns import EventBatch
from thence.rdf.dataset import Dataset, Graph


def solutions(
    pattern: Pattern,
    batch: EventBatch,
    *,
    background: Background = NO_BACKGROUND,
    context: Context | None = None,
    vectorise: bool = True,
) -> Table:
    """`[[P]]_G` for every event G of a batch: a row a solution, ordered by event. `vectorise=False` takes the plain
    way, which gives the same rows in another order."""
    context = context or Context()
    background.check(pattern)
    if vectorise and reason_for_plain(pattern) is None:
        return vectorised.evaluate(pattern, batch, background, context)
    return _event_by_event(pattern, batch, background, context)


def _event_by_event(pattern: Pattern, batch: EventBatch, background: Background, context: Context) -> Table:
    named = NamedGraphs(background)
    found: list[tuple[int, Solution]] = []
    for index in range(len(batch)):
        dataset = Dataset(Graph(batch.triples(index)), named)
        found.extend((index, solution) for solution in plain.evaluate(pattern, dataset, context))
    columns: dict[Name, np.ndarray] = {
        variable: batch.terms.add_all(solution.get(variable) for _, solution in found) for variable in in_scope(pattern)
    }
    return Table(len(found), columns, np.array([index for index, _ in found], np.int32))
