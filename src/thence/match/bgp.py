"""Basic graph patterns (18.3.1), the most selective triple first, and property paths (18.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TypeAlias, assert_never, cast

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Alternative,
    Bgp,
    Inverse,
    NegatedSet,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    PatternTerm,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.match.context import Solution
from thence.rdf.dataset import IndexedGraph
from thence.rdf.terms import IRI, BlankNode, Term

# Property paths (18.4): where they lead. `*`, `+`, `?` give each pair once, the others as often as there are ways.


def ends(path: Path, start: Term, graph: IndexedGraph, *, backward: bool = False) -> Iterable[Term]:
    """The ends of a path from `start`; with `backward`, the starts of the paths that end there. The graph may lack
    `start`."""
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
    """NPS (18.4): one triple with none of these predicates; `^` reads triples the other way round."""
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


Unknown: TypeAlias = Variable | BlankNode
"""The open variables of a pattern; a blank node is open too, but not part of the solution (18.3.1)."""

PatternStep: TypeAlias = TriplePattern | PathPattern

Instance: TypeAlias = dict[Unknown, Term]
"""μ and σ together: the values of variables and of blank nodes."""


class BgpMatcher:
    """A basic graph pattern over one graph. `outer` has been put in for variables before (18.6, substitute): it acts
    as terms in the pattern do."""

    def __init__(self, bgp: Bgp, graph: IndexedGraph, outer: Solution) -> None:
        self._patterns = bgp.triples
        self._has_blank_nodes = any(isinstance(u, BlankNode) for triple in bgp.triples for u in _unknowns(triple))
        self._graph = graph
        self._outer = outer
        self._orders: dict[frozenset[Variable], list[PatternStep]] = {}

    def solutions(self, given: Solution) -> Iterator[Solution]:
        """Join({given}, eval(D(G), bgp)): each as often as there are ways to place the blank nodes."""
        domain = frozenset(given)
        if domain not in self._orders:
            self._orders[domain] = _ordered(self._patterns, self._graph, domain, self._outer)
        start: Instance = {variable: term for variable, term in given.items()}  # noqa: C416 - a wider type of key
        found = _instances(self._orders[domain], self._graph, start, self._outer)
        if not self._has_blank_nodes:
            return cast(Iterator[Solution], found)
        return ({name: term for name, term in one.items() if isinstance(name, Variable)} for one in found)


def _instances(steps: list[PatternStep], graph: IndexedGraph, start: Instance, outer: Solution) -> Iterator[Instance]:
    """Depth first, with a stack of our own: a pattern may have thousands of triples."""
    if not steps:
        yield start
        return
    stack = [_step(steps[0], graph, start, outer)]
    while stack:
        instance = next(stack[-1], None)
        if instance is None:
            stack.pop()
        elif len(stack) == len(steps):
            yield instance
        else:
            stack.append(_step(steps[len(stack)], graph, instance, outer))


def _step(pattern: PatternStep, graph: IndexedGraph, instance: Instance, outer: Solution) -> Iterator[Instance]:
    if isinstance(pattern, PathPattern):
        return _path_step(pattern, graph, instance, outer)
    return _triple_step(pattern, graph, instance, outer)


def _known(slot: PatternTerm, instance: Instance, outer: Solution) -> Term | None:
    """The term in a place of the pattern, if it is known by now."""
    if isinstance(slot, Variable):
        return instance.get(slot) or outer.get(slot)
    return instance.get(slot) if isinstance(slot, BlankNode) else slot


def _triple_step(
    pattern: TriplePattern, graph: IndexedGraph, instance: Instance, outer: Solution
) -> Iterator[Instance]:
    slots = (pattern.subject, pattern.predicate, pattern.object)
    terms = [_known(slot, instance, outer) for slot in slots]
    open_ = [(place, slot) for place, slot in enumerate(slots) if terms[place] is None]
    for triple in graph.match(*terms):
        found = dict(instance)
        for place, slot in open_:
            assert isinstance(slot, Variable | BlankNode)
            if found.setdefault(slot, triple[place]) != triple[place]:
                break
        else:
            yield found


def _path_step(pattern: PathPattern, graph: IndexedGraph, instance: Instance, outer: Solution) -> Iterator[Instance]:
    for start, end in _path_pairs(pattern, graph, instance, outer):
        found = dict(instance)
        if _place(found, pattern.subject, start) and _place(found, pattern.object, end):
            yield found


def _place(instance: Instance, slot: PatternTerm, term: Term) -> bool:
    """Put a term in its place; False where another is there."""
    if isinstance(slot, Variable | BlankNode):
        return instance.setdefault(slot, term) == term
    return slot == term


def _path_pairs(
    pattern: PathPattern, graph: IndexedGraph, instance: Instance, outer: Solution
) -> Iterator[tuple[Term, Term]]:
    """Starts and ends that may fit. From a term of the pattern a path may have length zero even where the graph lacks
    the term; a variable stands for nodes of the graph alone."""
    subject, object_ = _known(pattern.subject, {}, outer), _known(pattern.object, {}, outer)
    if subject is not None:
        found = ends(pattern.path, subject, graph)
        return ((subject, end) for end in found if object_ is None or end == object_)
    if object_ is not None:
        return ((start, object_) for start in ends(pattern.path, object_, graph, backward=True))
    subject, object_ = _known(pattern.subject, instance, outer), _known(pattern.object, instance, outer)
    if subject is not None:
        return ((subject, end) for end in ends(pattern.path, subject, graph)) if subject in graph.nodes else iter(())
    if object_ is not None:
        starts = ends(pattern.path, object_, graph, backward=True) if object_ in graph.nodes else ()
        return ((start, object_) for start in starts)
    return pairs(pattern.path, graph)


# The order of the steps


def _ordered(
    patterns: Sequence[PatternStep], graph: IndexedGraph, domain: Iterable[Unknown], outer: Solution
) -> list[PatternStep]:
    """The patterns in a greedy order: next is the one with the fewest expected triples, given the bound variables."""
    if len(patterns) < 2:
        return list(patterns)
    sizes = [_size(pattern, graph, outer) for pattern in patterns]
    users: dict[Unknown, list[int]] = {}
    for place, pattern in enumerate(patterns):
        for unknown in _unknowns(pattern):
            users.setdefault(unknown, []).append(place)
    bound, ordered = set(domain), dict[int, PatternStep]()
    heap = [(_cost(pattern, sizes[place], bound), place) for place, pattern in enumerate(patterns)]
    heapify(heap)
    while heap:
        _, place = heappop(heap)  # a pattern's least cost comes first: what is in the heap from before is passed over
        if place in ordered:
            continue
        ordered[place] = patterns[place]
        new = _unknowns(patterns[place]) - bound
        bound |= new
        for other in {user for unknown in new for user in users[unknown] if user not in ordered}:
            heappush(heap, (_cost(patterns[other], sizes[other], bound), other))
    return list(ordered.values())


def _size(pattern: PatternStep, graph: IndexedGraph, outer: Solution) -> float:
    """The number of triples with the pattern's own terms; a path may lead anywhere."""
    if isinstance(pattern, PathPattern):
        known = _known(pattern.subject, {}, outer) or _known(pattern.object, {}, outer)
        return float(len(graph)) if known else float(len(graph)) ** 2
    slots = (pattern.subject, pattern.predicate, pattern.object)
    return float(graph.count(*(_known(slot, {}, outer) for slot in slots)))


def _cost(pattern: PatternStep, size: float, bound: set[Unknown]) -> float:
    """The estimated matches of a triple pattern; a bound but unknown value assumes √n matches."""
    for unknown in _unknowns(pattern):
        if unknown in bound:
            size = size**0.5
    return size


def _unknowns(pattern: PatternStep) -> set[Unknown]:
    verb = pattern.predicate if isinstance(pattern, TriplePattern) else None
    return {slot for slot in (pattern.subject, verb, pattern.object) if isinstance(slot, Variable | BlankNode)}
