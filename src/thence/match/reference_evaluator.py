"""Graph patterns as the standard evaluates them (18.6), one graph at a time: exact, complete, the judge of all else.

Each case of `_solutions` is one definition of eval(D(G), …); the operators on multisets are in `mappings`, those on
sequences in `modifiers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import assert_never

from thence.algebra import patterns as algebra
from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    Projection,
    Select,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.variables import columns, in_scope
from thence.errors import LimitError
from thence.match.bgp import BgpMatcher
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import passes
from thence.match.mappings import Partners, compatible, distinct, merge, minus
from thence.match.modifiers import extend, inline, modified, project, sliced
from thence.match.stream_data import StreamData, mark
from thence.rdf.dataset import Dataset, GraphName
from thence.rdf.terms import IRI, Term

DEFAULT_CONTEXT = Context()


def evaluate(pattern: Pattern, dataset: Dataset, context: Context = DEFAULT_CONTEXT) -> list[Solution]:
    """The solutions of a pattern, as often as the standard counts them.

    >>> from thence.algebra.patterns import TriplePattern
    >>> from thence.rdf.dataset import IndexedGraph
    >>> from thence.rdf.terms import IRI, Triple
    >>> a, p, b = (IRI("http://example.org/" + name) for name in "apb")
    >>> evaluate(Bgp((TriplePattern(Variable("x"), p, b),)), Dataset(IndexedGraph([Triple(a, p, b)])))
    [{Variable(name='x'): IRI(value='http://example.org/a')}]
    """
    return list(solutions(pattern, dataset, context))


def solutions(pattern: Pattern, dataset: Dataset, context: Context = DEFAULT_CONTEXT) -> Iterator[Solution]:
    """As `evaluate`, one by one, when asked for."""
    try:
        yield from _solutions(pattern, ready(dataset, context))
    except RecursionError:
        raise LimitError("The query is nested too deeply to be evaluated. Try fewer levels of braces.") from None


def ready(dataset: Dataset, context: Context) -> Context:
    """The context in which expressions of a query about this dataset are evaluated: EXISTS can be asked."""
    return replace(context, dataset=dataset, graph=dataset.default, exists=_exists)


def _solutions(pattern: Pattern, context: Context) -> Iterator[Solution]:
    """eval(D(G), pattern): D is the context's dataset, G its active graph."""
    known = _known(pattern, context)
    if known is not None:
        return iter(known)
    match pattern:
        case Bgp():
            return BgpMatcher(pattern, context.graph, context.outer).solutions({})
        case Join():
            pairs = _joined(_solutions(pattern.left, context), pattern.right, context)
            return (found for _, partners in pairs for found in partners)
        case LeftJoin():
            pairs = _joined(_solutions(pattern.left, context), pattern.right, context)
            return _left_join(pairs, pattern.condition, context)
        case Filter():
            inner = _solutions(pattern.pattern, context)
            return (solution for solution in inner if passes(pattern.condition, solution, context))
        case Union():
            return chain.from_iterable(_solutions(side, context) for side in (pattern.left, pattern.right))
        case algebra.Graph():
            return _graph(pattern, context)
        case Extend():
            return _extend(pattern, context)
        case Minus():
            return minus(_solutions(pattern.left, context), _solutions(pattern.right, context))
        case Values():
            return inline(pattern)
        case SubSelect():
            return _sub_select(pattern.select, context)
        case WindowPattern():
            return _solutions(pattern.pattern, replace(context, graph=_streams(context).graph(pattern.name)))
        case MatchPattern():
            answers = _streams(context).solutions(pattern.place)
            return (found for found in answers if compatible(found, context.outer))
        case TemporalJoin():
            raise AssertionError("one graph has no time")
        case _:
            assert_never(pattern)


def _joined(
    lefts: Iterable[Solution], right: Pattern, context: Context
) -> Iterator[tuple[Solution, Iterator[Solution]]]:
    """Each solution of the left, with its merges with all compatible ones of the right: Join(Ω1, Ω2), row by row.

    A basic graph pattern is asked again for each solution that shares a variable with it, so that the index answers;
    anything else is evaluated once, and hashed.
    """
    indexed = _indexed(right, context)
    names = frozenset(in_scope(right)) if indexed else frozenset()
    partners: Partners | None = None
    for left in lefts:
        if indexed and not names.isdisjoint(left):
            yield left, indexed.solutions(left)
        else:
            partners = partners or Partners(_solutions(right, context))
            yield left, _merged(left, partners)


def _merged(left: Solution, partners: Partners) -> Iterator[Solution]:
    return (merge(left, partner) for partner in partners.of(left))


def _indexed(pattern: Pattern, context: Context) -> BgpMatcher | None:
    """The matcher of a basic graph pattern, if the pattern is no more than that, in the active or a named graph."""
    if _known(pattern, context) is not None:
        return None
    match pattern:
        case Bgp():
            return BgpMatcher(pattern, context.graph, context.outer)
        case algebra.Graph(IRI() as name, Bgp() as bgp) if name in context.dataset.named:
            return BgpMatcher(bgp, context.dataset.named[name], context.outer)
        case WindowPattern(name, Bgp() as bgp):
            return BgpMatcher(bgp, _streams(context).graph(name), context.outer)
        case _:
            return None


def _known(pattern: Pattern, context: Context) -> list[Solution] | None:
    """The solutions of a pattern that are known before; not inside EXISTS, which puts terms in for variables."""
    streams = context.streams
    return None if streams is None or not streams.known or context.outer else streams.known_solutions(pattern)


def _streams(context: Context) -> StreamData:
    assert context.streams is not None, "only RSEP-QL has WINDOW and MATCH"
    return context.streams


def _left_join(
    pairs: Iterable[tuple[Solution, Iterator[Solution]]], condition: Expression | None, context: Context
) -> Iterator[Solution]:
    """LeftJoin(Ω1, Ω2, expr): the merges for which expr holds, or the left solution itself if there are none."""
    for left, partners in pairs:
        alone = True
        for found in partners:
            if condition is None or passes(condition, found, context):
                alone = False
                yield found
        if alone:
            yield left


def _graph(pattern: algebra.Graph, context: Context) -> Iterator[Solution]:
    """eval(D(G), Graph(IRI, P)) and eval(D(G), Graph(var, P)): in one named graph, or in each of them in turn."""
    named = context.dataset.named
    if isinstance(pattern.name, Variable):
        name: Term | Variable = context.outer.get(pattern.name, pattern.name)
        found = next((graph for known, graph in named.items() if known == name), None)
    else:
        name, found = pattern.name, named.get(pattern.name)
    if not isinstance(name, Variable):
        return iter(()) if found is None else _solutions(pattern.pattern, replace(context, graph=found))
    return chain.from_iterable(
        _in_named_graph(pattern.pattern, name, known, replace(context, graph=graph)) for known, graph in named.items()
    )


def _in_named_graph(pattern: Pattern, variable: Variable, name: GraphName, context: Context) -> Iterator[Solution]:
    """Join(eval(D(D[name]), P), {variable → name})."""
    this: Solution = {variable: name}
    return (merge(found, this) for found in _solutions(pattern, context) if compatible(found, this))


def _extend(pattern: Extend, context: Context) -> Iterator[Solution]:
    """Directly nested Extends belong to one solution: BNODE("x") is one node in all of them."""
    expressions: list[tuple[Variable, Expression]] = []
    inner: Pattern = pattern
    while isinstance(inner, Extend):
        expressions.append((inner.variable, inner.expression))
        inner = inner.pattern
    return extend(_solutions(inner, context), expressions[::-1], context)


def _sub_select(select: Select, context: Context) -> Iterator[Solution]:
    """ToMultiSet(…): a SELECT of its own, in the active graph. Only what it projects is visible from outside."""
    visible = {name: term for name, term in context.outer.items() if name in columns(select)}
    inside = replace(context, outer=visible)
    marks = () if context.streams is None else tuple(map(mark, range(len(context.streams.matches))))
    return select_rows(select, _solutions(select.where, inside), inside, marks)


def select_rows(
    select: Select, found: Iterable[Solution], context: Context, marks: tuple[Variable, ...] = ()
) -> Iterator[Solution]:
    """The rows of a SELECT from the solutions of its WHERE (18.2.4, 18.2.5). `marks` stay, whatever it projects."""
    names = columns(select)
    projected = select.columns or tuple(Projection(name) for name in names)
    rows = project(modified(found, select.modifiers, projected, context), (*names, *marks))
    return sliced(distinct(rows) if select.distinct else rows, select.modifiers)


def _exists(pattern: Pattern, solution: Solution, context: Context) -> bool:
    """eval(D(G), exists(P)): whether substitute(P, μ) has a solution."""
    outer = context.outer | solution
    return any(compatible(found, outer) for found in _solutions(pattern, replace(context, outer=outer)))
