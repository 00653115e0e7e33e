"""`solutions`: the answers of a graph pattern in each event of a batch, by whichever evaluator the pattern takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np

from thence.algebra.patterns import Graph, Pattern
from thence.algebra.variables import in_scope
from thence.columns.event_batch import EventBatch
from thence.errors import LimitError
from thence.match import plain_evaluator, vectorised_evaluator
from thence.match.background import NO_BACKGROUND, Background, ForeignSolutions, NamedGraphs
from thence.match.context import Context, Solution
from thence.match.evaluator_choice import reason_for_plain
from thence.match.solution_table import ColumnVariable, SolutionTable, union
from thence.rdf.dataset import Dataset
from thence.rdf.dataset import IndexedGraph as PlainGraph

MAX_SOLUTIONS = 1_000_000
"""Of one event, evaluated by itself: more are a product of things that have nothing to do with each other."""


def solutions(
    pattern: Pattern,
    batch: EventBatch,
    *,
    background: Background = NO_BACKGROUND,
    context: Context | None = None,
    vectorise: bool = True,
    refused: dict[int, str] | None = None,
) -> SolutionTable:
    """`[[P]]_G` (SPAseQ, Definition 6) for every event G of a batch: a row a solution, ordered by event.
    `vectorise=False` takes the plain way, which gives the same rows in another order. An event that asks too much is a
    LimitError, or with `refused` has no rows, and its reason there."""
    context = context or Context()
    background.check(pattern)

    def evaluate(some: EventBatch) -> SolutionTable:
        if vectorise and reason_for_plain(pattern) is None:
            return vectorised_evaluator.evaluate(pattern, some, background, context)
        return _event_by_event(pattern, some, background, context)

    return _within_limits(evaluate, batch, 0, refused)


def background_solutions(block: Graph, background: Background, context: Context) -> ForeignSolutions:
    """`GRAPH name { pattern }` over the background, in its own ids. The pattern must be one that `reason_for_plain` has
    no reason against."""
    background.check(block)

    def evaluate(pattern: Pattern, graph: EventBatch) -> SolutionTable:
        return vectorised_evaluator.evaluate(pattern, graph, background, context)

    try:
        return background.solutions(block, context, evaluate)
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> LimitError:
    return LimitError("The pattern is nested too deeply to be evaluated. Try fewer levels of braces.")


def _within_limits(
    evaluate: Callable[[EventBatch], SolutionTable], batch: EventBatch, first: int, refused: dict[int, str] | None
) -> SolutionTable:
    """A batch that asks too much is halved, until it is one event: whether a query is answered must not depend on what
    its events are batched with."""
    try:
        return evaluate(batch)
    except RecursionError:
        raise _too_deep() from None
    except LimitError as error:
        if len(batch) == 1 and refused is not None:
            refused[first] = str(error)
            return SolutionTable(0, {}, np.empty(0, np.int32))
        if len(batch) < 2:
            raise
    middle = len(batch) // 2
    before = _within_limits(evaluate, batch.take(np.arange(middle)), first, refused)
    behind = _within_limits(evaluate, batch.take(np.arange(middle, len(batch))), first + middle, refused)
    assert behind.events is not None
    return union(before, SolutionTable(len(behind), behind.columns, behind.events + np.int32(middle)))


def _event_by_event(pattern: Pattern, batch: EventBatch, background: Background, context: Context) -> SolutionTable:
    named = NamedGraphs(background)
    found: list[tuple[int, Solution]] = []
    for index in range(len(batch)):
        dataset = Dataset(PlainGraph(batch.triples(index)), named)
        before = len(found)
        some = islice(plain_evaluator.solutions(pattern, dataset, context), MAX_SOLUTIONS + 1)
        found.extend((index, solution) for solution in some)
        if len(found) - before > MAX_SOLUTIONS:
            raise LimitError(
                f"An event gives more than {MAX_SOLUTIONS:,} solutions. Try: patterns that share a variable."
            )
    columns: dict[ColumnVariable, np.ndarray] = {
        variable: batch.terms.add_all(solution.get(variable) for _, solution in found) for variable in in_scope(pattern)
    }
    return SolutionTable(len(found), columns, np.array([index for index, _ in found], np.int32))
