"""Paths with `*`, `+` or `?`: within one event plus the background (EP-63 to EP-65)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from oracle.ep_sparql_data import Data, Source
from oracle.ep_sparql_query import Either, Inverse, Path, Repeat, Steps
from oracle.terms import Graph, Iri, Term

Pair: TypeAlias = tuple[Term, Term]
Pairs: TypeAlias = frozenset[Pair]


def repeated(data: Data, path: Repeat, written: frozenset[Term]) -> Iterator[tuple[Pair, Source | None]]:
    """The pairs of a repeated path, each with the event that it belongs to; None: timeless.

    `written` are the pattern's ends that are terms. Their zero-length pairs are timeless (EP-65), and so are pairs from
    background alone. Events do not repeat timeless pairs (EP-64).
    """
    timeless = pairs(path, data.background)
    if path.sign != "+":
        timeless |= {(term, term) for term in written}
    yield from ((pair, None) for pair in sorted(timeless, key=repr))
    for source in data.sources:
        found = pairs(path, source.triples | data.background) - timeless
        yield from ((pair, source) for pair in sorted(found, key=repr))


def pairs(path: Path, graph: Graph) -> Pairs:
    """The pairs of nodes that a path joins in one graph."""
    match path:
        case Iri():
            return frozenset((s, o) for s, p, o in graph if p == path)
        case Inverse(inner):
            return frozenset((y, x) for x, y in pairs(inner, graph))
        case Steps(left, right):
            return compose(pairs(left, graph), pairs(right, graph))
        case Either(left, right):
            return pairs(left, graph) | pairs(right, graph)
        case Repeat(inner, "?"):
            return pairs(inner, graph) | same(graph)
        case Repeat(inner, "+"):
            return several(pairs(inner, graph))
        case Repeat(inner, "*"):
            return several(pairs(inner, graph)) | same(graph)
        case Repeat():
            raise ValueError(path.sign)
        case _:
            assert_never(path)


def compose(left: Pairs, right: Pairs) -> Pairs:
    return frozenset((x, z) for x, y in left for y2, z in right if y == y2)


def several(once: Pairs) -> Pairs:
    found = once
    while True:
        more = found | compose(found, once)
        if more == found:
            return found
        found = more


def same(graph: Graph) -> Pairs:
    """The zero-length pairs: of every subject and object."""
    return frozenset((node, node) for s, _, o in graph for node in (s, o))
