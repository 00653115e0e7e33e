"""`solutions`: the answers of a graph pattern in each event of a batch, by whichever evaluator the pattern takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np

from thence.algebra.expressions import Aggregate, Call, Exists, Expression
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
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.variables import in_scope, operands
from thence.columns.batches import EventBatch
from thence.errors import LimitError
from thence.match import reference_evaluator, vectorised_evaluator
from thence.match.background import NO_BACKGROUND, Background, ForeignSolutions, NamedGraphs
from thence.match.context import Context, Solution
from thence.match.solution_table import ColumnVariable, SolutionTable, union
from thence.rdf.dataset import Dataset
from thence.rdf.dataset import IndexedGraph as PlainGraph

# Which evaluator a pattern takes: columns for what streams use, event by event for the rest of SPARQL.

_DIFFERENT_EACH_TIME = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})


def reason_for_reference(pattern: Pattern) -> str | None:
    """The reason why a pattern must be evaluated event by event; None if it runs vectorised.

    >>> from thence.algebra.patterns import Bgp, OneOrMore, PathPattern
    >>> from thence.algebra.expressions import Variable
    >>> from thence.rdf.terms import IRI
    >>> path = OneOrMore(IRI("http://example.org/feeds"))
    >>> reason_for_reference(Bgp((PathPattern(Variable("a"), path, Variable("b")),)))
    'a property path'
    """
    match pattern:
        case Bgp():
            return "a property path" if any(isinstance(t, PathPattern) for t in pattern.triples) else None
        case Values():
            return None
        case SubSelect():
            return "a sub-select"
        case WindowPattern():
            return reason_for_reference(pattern.pattern)
        case MatchPattern():
            return None
        case TemporalJoin():
            raise AssertionError("one graph has no time")
        case Join() | Union() | Minus():
            return reason_for_reference(pattern.left) or reason_for_reference(pattern.right)
        case LeftJoin():
            found = reason_for_reference(pattern.left) or reason_for_reference(pattern.right)
            return found or (pattern.condition and reason_in_expression(pattern.condition)) or None
        case Filter():
            return reason_for_reference(pattern.pattern) or reason_in_expression(pattern.condition)
        case Extend():
            return reason_for_reference(pattern.pattern) or reason_in_expression(pattern.expression)
        case Graph():
            return reason_for_reference(pattern.pattern)


def reason_in_expression(expression: Expression) -> str | None:
    """The reason why an expression is evaluated row by row; None if it is not."""
    match expression:
        case Exists():
            return "EXISTS"
        case Aggregate():
            return "an aggregate"
        case Call() if expression.function in _DIFFERENT_EACH_TIME:
            return f"{expression.function}(), which differs from row to row"
        case _:
            return next((reason for part in operands(expression) if (reason := reason_in_expression(part))), None)


MAX_SOLUTIONS = 1_000_000
"""The limit for one event evaluated alone. More solutions come from a product of unrelated patterns."""


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
        if vectorise and reason_for_reference(pattern) is None:
            return vectorised_evaluator.evaluate(pattern, some, background, context)
        return _event_by_event(pattern, some, background, context)

    return _within_limits(evaluate, batch, 0, refused)


def background_solutions(block: Graph, background: Background, context: Context) -> ForeignSolutions:
    """`GRAPH name { pattern }` over the background, in its own ids. The pattern must be one that
    `reason_for_reference` has no reason against."""
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
        some = islice(reference_evaluator.solutions(pattern, dataset, context), MAX_SOLUTIONS + 1)
        found.extend((index, solution) for solution in some)
        if len(found) - before > MAX_SOLUTIONS:
            raise LimitError(
                f"An event gives more than {MAX_SOLUTIONS:,} solutions. Try: patterns that share a variable."
            )
    columns: dict[ColumnVariable, np.ndarray] = {
        variable: batch.terms.add_all(solution.get(variable) for _, solution in found) for variable in in_scope(pattern)
    }
    return SolutionTable(len(found), columns, np.array([index for index, _ in found], np.int32))
