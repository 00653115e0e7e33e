"""Graphs and datasets in memory (RDF 1.1 Concepts, sections 3 and 4), in the form that patterns are matched against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

from thence.rdf.terms import IRI, BlankNode, Term, Triple

GraphName: TypeAlias = IRI | BlankNode

Key: TypeAlias = int | tuple[int, int]

_SMALL = 12  # the size of an event's graph: a scan of all triples is faster than building an index


class IndexedGraph:
    """A set of triples, in the given order, that never changes. Indexes are built when they are first needed.

    >>> a, b, p = IRI("http://example.org/a"), IRI("http://example.org/b"), IRI("http://example.org/p")
    >>> graph = IndexedGraph([Triple(a, p, b), Triple(b, p, a)])
    >>> [str(triple.subject) for triple in graph.match(object=a)]
    ['<http://example.org/b>']
    """

    __slots__ = ("_codes", "_indexes", "_nodes", "_numbers", "_triples")

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self._triples = dict.fromkeys(triples)
        self._indexes: dict[tuple[int, ...], dict[Key, list[Triple]]] = {}
        self._numbers: dict[Term, int] = {}  # terms as numbers, once there is an index: numbers are hashed faster
        self._codes: list[tuple[int, int, int]] = []
        self._nodes: dict[Term, None] | None = None

    def __len__(self) -> int:
        return len(self._triples)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._triples)

    def __contains__(self, triple: object) -> bool:
        return triple in self._triples

    def __eq__(self, other: object) -> bool:
        """Whether both have the same triples, in any order."""
        return isinstance(other, IndexedGraph) and self._triples.keys() == other._triples.keys()

    __hash__ = None  # type: ignore[assignment]  # as large as it may be, it makes a poor key

    def __repr__(self) -> str:
        return f"<Graph of {len(self)} triples>"

    @property
    def nodes(self) -> KeysView[Term]:
        """All subjects and objects: `nodes(G)` of 18.1.7."""
        if self._nodes is None:
            self._nodes = dict.fromkeys(term for triple in self._triples for term in (triple[0], triple[2]))
        return self._nodes.keys()

    def match(
        self, subject: Term | None = None, predicate: Term | None = None, object: Term | None = None
    ) -> Sequence[Triple]:
        """The triples with these terms; None matches any term."""
        if subject is not None and predicate is not None and object is not None:
            triple = Triple(subject, predicate, object)
            return (triple,) if triple in self._triples else ()
        if len(self._triples) <= _SMALL:
            return [
                triple
                for triple in self._triples
                if (subject is None or triple[0] == subject)
                and (predicate is None or triple[1] == predicate)
                and (object is None or triple[2] == object)
            ]
        found = [(place, term) for place, term in enumerate((subject, predicate, object)) if term is not None]
        if not found:
            return tuple(self._triples)
        index = self._index(tuple(place for place, _ in found))
        numbers = [self._numbers.get(term, -1) for _, term in found]
        return index.get(numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1]), ())

    def count(self, subject: Term | None = None, predicate: Term | None = None, object: Term | None = None) -> int:
        """The number of triples that `match` returns."""
        if subject is None and predicate is None and object is None:
            return len(self._triples)
        return len(self.match(subject, predicate, object))

    def _index(self, places: tuple[int, ...]) -> Mapping[Key, list[Triple]]:
        """The triples by one or two of their positions."""
        index = self._indexes.get(places)
        if index is None:
            if not self._codes:
                self._encode()
            index = {}
            key = itemgetter(*places)
            for triple, codes in zip(self._triples, self._codes, strict=True):
                index.setdefault(key(codes), []).append(triple)
            self._indexes[places] = index
        return index

    def _encode(self) -> None:
        numbers = self._numbers
        for s, p, o in self._triples:
            codes = tuple(numbers.setdefault(term, len(numbers)) for term in (s, p, o))
            self._codes.append((codes[0], codes[1], codes[2]))


class ChangingGraph(IndexedGraph):
    """A graph to which triples are added and from which they are removed; its indexes are maintained.

    >>> a, b, p = IRI("http://example.org/a"), IRI("http://example.org/b"), IRI("http://example.org/p")
    >>> graph = ChangingGraph()
    >>> graph.add(Triple(a, p, b)), graph.add(Triple(b, p, a)), graph.remove(Triple(a, p, b))
    (None, None, None)
    >>> [str(node) for node in graph.nodes], len(graph.match(predicate=p))
    (['<http://example.org/a>', '<http://example.org/b>'], 1)
    """

    __slots__ = ("_buckets", "_degrees")

    def __init__(self) -> None:
        super().__init__()
        self._buckets: dict[tuple[int, ...], dict[tuple[Term, ...], dict[Triple, None]]] = {}
        self._degrees: dict[Term, int] = {}  # how often each node is subject or object

    @property
    def nodes(self) -> KeysView[Term]:
        return self._degrees.keys()

    def add(self, triple: Triple) -> None:
        """Add a triple that the graph does not have."""
        self._triples[triple] = None
        for places, buckets in self._buckets.items():
            buckets.setdefault(tuple(triple[place] for place in places), {})[triple] = None
        for term in (triple.subject, triple.object):
            self._degrees[term] = self._degrees.get(term, 0) + 1

    def remove(self, triple: Triple) -> None:
        """Remove a triple that the graph has."""
        del self._triples[triple]
        for places, buckets in self._buckets.items():
            key = tuple(triple[place] for place in places)
            del buckets[key][triple]
            if not buckets[key]:
                del buckets[key]
        for term in (triple.subject, triple.object):
            self._degrees[term] -= 1
            if not self._degrees[term]:
                del self._degrees[term]

    def match(
        self, subject: Term | None = None, predicate: Term | None = None, object: Term | None = None
    ) -> Sequence[Triple]:
        found = [(place, term) for place, term in enumerate((subject, predicate, object)) if term is not None]
        if len(found) in (0, 3):
            return super().match(subject, predicate, object)
        return tuple(self._bucket(found))

    def count(self, subject: Term | None = None, predicate: Term | None = None, object: Term | None = None) -> int:
        found = [(place, term) for place, term in enumerate((subject, predicate, object)) if term is not None]
        if len(found) in (0, 3):
            return super().count(subject, predicate, object)
        return len(self._bucket(found))

    def _bucket(self, found: Sequence[tuple[int, Term]]) -> Mapping[Triple, None]:
        places = tuple(place for place, _ in found)
        if places not in self._buckets:
            buckets: dict[tuple[Term, ...], dict[Triple, None]] = {}
            for triple in self._triples:
                buckets.setdefault(tuple(triple[place] for place in places), {})[triple] = None
            self._buckets[places] = buckets
        return self._buckets[places].get(tuple(term for _, term in found), {})


@dataclass(frozen=True, slots=True)
class Dataset:
    """A default graph, and named ones (SPARQL 1.1, 13.1)."""

    default: IndexedGraph = field(default_factory=IndexedGraph)
    named: Mapping[GraphName, IndexedGraph] = field(default_factory=dict)
