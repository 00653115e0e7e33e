"""Graphs and datasets in memory (RDF 1.1 Concepts, sections 3 and 4), as patterns are matched against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.rdf.terms import IRI, BlankNode, Term, Triple

GraphName: TypeAlias = IRI | BlankNode

_SMALL = 12  # an event's graph: looking at every triple is faster than building an index


class Graph:
    """A set of triples, in the order given, that never changes. Indexes are made when first asked for.

    >>> a, b, p = IRI("http://example.org/a"), IRI("http://example.org/b"), IRI("http://example.org/p")
    >>> graph = Graph([Triple(a, p, b), Triple(b, p, a)])
    >>> [str(triple.subject) for triple in graph.match(object=a)]
    ['<http://example.org/b>']
    """

    __slots__ = ("_indexes", "_nodes", "_triples")

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self._triples = dict.fromkeys(triples)
        self._indexes: dict[tuple[bool, bool, bool], dict[tuple[Term, ...], list[Triple]]] = {}
        self._nodes: dict[Term, None] | None = None

    def __len__(self) -> int:
        return len(self._triples)

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._triples)

    def __contains__(self, triple: object) -> bool:
        return triple in self._triples

    def __eq__(self, other: object) -> bool:
        """The same triples, whatever their order."""
        return isinstance(other, Graph) and self._triples.keys() == other._triples.keys()

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
        """The triples with these terms, None standing for any."""
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
        shape = (subject is not None, predicate is not None, object is not None)
        key = tuple(term for term in (subject, predicate, object) if term is not None)
        return self._index(shape).get(key, ())

    def count(self, subject: Term | None = None, predicate: Term | None = None, object: Term | None = None) -> int:
        """How many triples `match` would give."""
        if subject is None and predicate is None and object is None:
            return len(self._triples)
        return len(self.match(subject, predicate, object))

    def _index(self, shape: tuple[bool, bool, bool]) -> Mapping[tuple[Term, ...], list[Triple]]:
        """The triples by those of their terms that `shape` names."""
        index = self._indexes.get(shape)
        if index is None:
            index = {}
            by_subject, by_predicate, by_object = shape
            for triple in self._triples:
                key = (triple[0],) * by_subject + (triple[1],) * by_predicate + (triple[2],) * by_object
                index.setdefault(key, []).append(triple)
            self._indexes[shape] = index
        return index


@dataclass(frozen=True, slots=True)
class Dataset:
    """A default graph, and named ones (SPARQL 1.1, 13.1)."""

    default: Graph = field(default_factory=Graph)
    named: Mapping[GraphName, Graph] = field(default_factory=dict)
