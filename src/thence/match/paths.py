"""Property paths (18.4): where they lead. `*`, `+`, `?` give each pair once, the others as often as there are ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import assert_never

from thence.algebra.patterns import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    Path,
    PathSequence,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.rdf.dataset import IndexedGraph
from thence.rdf.terms import IRI, Term


def ends(path: Path, start: Term, graph: IndexedGraph, *, backward: bool = False) -> Iterable[Term]:
    """Where a path from `start` ends; `backward`: where one that ends there starts. The graph may lack `start`."""
    match path:
        case IRI():
            if backward:
                return [triple.subject for triple in graph.match(None, path, start)]
            return [triple.object for triple in graph.match(start, path)]
        case Inverse():
            return ends(path.path, start, graph, backward=not backward)
        case PathSequence():
            first, second = (path.right, path.left) if backward else (path.left, path.right)
            middles = ends(first, start, graph, backward=backward)
            return (end for middle in middles for end in ends(second, middle, graph, backward=backward))
        case Alternative():
            return chain.from_iterable(ends(side, start, graph, backward=backward) for side in (path.left, path.right))
        case ZeroOrMore():
            return reachable(path.path, [start], graph, backward=backward)
        case OneOrMore():
            return reachable(path.path, ends(path.path, start, graph, backward=backward), graph, backward=backward)
        case ZeroOrOne():
            return dict.fromkeys([start, *ends(path.path, start, graph, backward=backward)])
        case NegatedSet():
            return _negated_ends(path, start, graph, backward=backward)
        case _:
            assert_never(path)


def reachable(path: Path, starts: Iterable[Term], graph: IndexedGraph, *, backward: bool) -> Iterable[Term]:
    """ALP (18.4): the starts and all that the path, taken again and again, leads to."""
    visited = dict.fromkeys(starts)
    waiting = list(visited)
    while waiting:
        for end in ends(path, waiting.pop(), graph, backward=backward):
            if end not in visited:
                visited[end] = None
                waiting.append(end)
    return visited


def pairs(path: Path, graph: IndexedGraph) -> Iterator[tuple[Term, Term]]:
    """All starts and ends of a path in the graph, neither being known."""
    match path:
        case IRI():
            return ((triple.subject, triple.object) for triple in graph.match(None, path))
        case Inverse():
            return ((end, start) for start, end in pairs(path.path, graph))
        case PathSequence():
            return (
                (start, end) for start, middle in pairs(path.left, graph) for end in ends(path.right, middle, graph)
            )
        case Alternative():
            return chain.from_iterable(pairs(side, graph) for side in (path.left, path.right))
        case ZeroOrMore() | OneOrMore() | ZeroOrOne():
            return ((node, end) for node in graph.nodes for end in ends(path, node, graph))
        case NegatedSet():
            return _negated_pairs(path, graph)
        case _:
            assert_never(path)


def _negated_ends(path: NegatedSet, start: Term, graph: IndexedGraph, *, backward: bool) -> Iterator[Term]:
    """NPS (18.4): one triple with none of these predicates; `^` looks at triples the other way round."""
    for excluded, against in _directions(path):
        if backward != against:
            yield from (t.subject for t in graph.match(object=start) if t.predicate not in excluded)
        else:
            yield from (t.object for t in graph.match(start) if t.predicate not in excluded)


def _negated_pairs(path: NegatedSet, graph: IndexedGraph) -> Iterator[tuple[Term, Term]]:
    for excluded, against in _directions(path):
        for subject, predicate, object_ in graph:
            if predicate not in excluded:
                yield (object_, subject) if against else (subject, object_)


def _directions(path: NegatedSet) -> Iterator[tuple[frozenset[IRI], bool]]:
    if path.forward or not path.backward:  # `!()` is any triple, forward
        yield frozenset(path.forward), False
    if path.backward:
        yield frozenset(path.backward), True
