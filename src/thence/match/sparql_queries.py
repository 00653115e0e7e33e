"""Whole queries: SELECT, CONSTRUCT, ASK, DESCRIBE (16) over graphs that the caller supplies (13.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias, assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Ask,
    Bgp,
    Construct,
    DatasetClause,
    Describe,
    Modifiers,
    Pattern,
    PatternTerm,
    Projection,
    Select,
    SparqlQuery,
    TriplePattern,
)
from thence.algebra.variables import columns, in_scope
from thence.errors import InputError, LimitError
from thence.match import reference_evaluator
from thence.match.context import Context, Solution
from thence.match.modifiers import modified, sliced
from thence.match.reference_evaluator import DEFAULT_CONTEXT, select_rows
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple

Solve: TypeAlias = Callable[[Pattern, Dataset, Context], Iterable[Solution]]
"""An evaluator of WHERE clauses: `reference_evaluator.solutions`, or anything with the same results."""


@dataclass(frozen=True, slots=True)
class SelectResult:
    """The result of SELECT: its variables in order, and its rows, in order if the query gives one."""

    variables: tuple[Variable, ...]
    rows: tuple[Solution, ...]


Result: TypeAlias = SelectResult | frozenset[Triple] | bool


def run(
    query: SparqlQuery,
    dataset: Dataset,
    context: Context = DEFAULT_CONTEXT,
    *,
    solve: Solve = reference_evaluator.solutions,
) -> Result:
    """The result of a query: rows, triples, or a truth.

    >>> run(Ask(Bgp(())), Dataset())
    True
    """
    chosen = choose(dataset, query.dataset)
    ready = reference_evaluator.ready(chosen, context)
    try:
        return _run(query, chosen, ready, solve)
    except RecursionError:
        raise LimitError("The query is nested too deeply to be evaluated. Try fewer levels of braces.") from None


def _run(query: SparqlQuery, dataset: Dataset, context: Context, solve: Solve) -> Result:
    found = solve(query.where or Bgp(()), dataset, context)
    match query:
        case Select():
            return SelectResult(columns(query), tuple(select_rows(query, found, context)))
        case Ask():
            return next(_sequence(query.where, query.modifiers, found, context), None) is not None
        case Construct():
            rows = _sequence(query.where, query.modifiers, found, context)
            return frozenset(chain.from_iterable(instance(query.template, row, context) for row in rows))
        case Describe():
            where = query.where or Bgp(())
            rows = _sequence(where, query.modifiers, found, context)
            return frozenset(_described(_targets(query, where, rows), context.graph))
        case _:
            assert_never(query)


def choose(dataset: Dataset, clause: DatasetClause) -> Dataset:
    """The dataset that FROM and FROM NAMED make of the caller's named graphs; without them, the caller's own."""
    if not clause.default and not clause.named:
        return dataset
    default = IndexedGraph(triple for name in clause.default for triple in _supplied(dataset, name))
    return Dataset(default, {name: _supplied(dataset, name) for name in clause.named})


def _supplied(dataset: Dataset, name: IRI) -> IndexedGraph:
    graph = dataset.named.get(name)
    if graph is None:
        known = ", ".join(str(name) for name in dataset.named) or "none"
        raise InputError(
            f"FROM names {name}, which is not among the graphs supplied ({known}). "
            "Try: supply a graph under this name; a query opens no file and no address itself"
        )
    return graph


def _sequence(where: Pattern, modifiers: Modifiers, found: Iterable[Solution], context: Context) -> Iterator[Solution]:
    """The solution sequence of a query that selects nothing."""
    projected = [Projection(name) for name in in_scope(where)]
    return sliced(modified(found, modifiers, projected, context), modifiers)


# CONSTRUCT (16.2)


def instance(template: Iterable[TriplePattern], row: Solution, context: Context) -> Iterator[Triple]:
    """The triples of a template for one row, its blank nodes fresh; those that are not RDF are left out."""
    nodes: dict[BlankNode, BlankNode] = {}
    for pattern in template:
        subject = _filled(pattern.subject, row, nodes, context)
        predicate = _filled(pattern.predicate, row, nodes, context)
        object_ = _filled(pattern.object, row, nodes, context)
        if isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and object_ is not None:
            yield Triple(subject, predicate, object_)


def _filled(slot: PatternTerm, row: Solution, nodes: dict[BlankNode, BlankNode], context: Context) -> Term | None:
    match slot:
        case Variable():
            return row.get(slot)
        case BlankNode():
            if slot not in nodes:
                nodes[slot] = context.fresh()
            return nodes[slot]
        case IRI() | Literal():
            return slot


# DESCRIBE (16.4)


def _targets(query: Describe, where: Pattern, rows: Iterable[Solution]) -> Iterator[Term]:
    targets = in_scope(where) if query.targets is None else query.targets
    yield from (target for target in targets if isinstance(target, IRI))
    names = [target for target in targets if isinstance(target, Variable)]
    for row in rows:
        yield from (row[name] for name in names if name in row)


def _described(targets: Iterable[Term], graph: IndexedGraph) -> Iterator[Triple]:
    """The triples about each target, and about the blank nodes that these lead to."""
    waiting = list(dict.fromkeys(targets))
    seen = set(waiting)
    while waiting:
        for triple in graph.match(waiting.pop()):
            yield triple
            if isinstance(triple.object, BlankNode) and triple.object not in seen:
                seen.add(triple.object)
                waiting.append(triple.object)
