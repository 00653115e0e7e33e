"""The background under RDFS reasoning: closed once, and then what patterns see of it (EP-39, EP-55, EP-56)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thence.algebra.patterns import TriplePattern
from thence.columns.dictionary import Terms
from thence.match.background import Background
from thence.match.rdfs_columns import Ids, SchemaArrays
from thence.rdf.rdfs import Schema


@dataclass(frozen=True, slots=True, eq=False)
class GraphColumns:
    """The triples of a graph, in the ids of a dictionary."""

    terms: Terms
    subjects: Ids
    predicates: Ids
    objects: Ids


@dataclass(frozen=True, slots=True, eq=False)
class ClosedBackground:
    """The unnamed background with all that it entails, and its schema."""

    schema: Schema
    arrays: SchemaArrays
    graph: GraphColumns
    _seen: dict[frozenset[TriplePattern], SchemaArrays] = field(default_factory=dict)

    def seen_by(self, patterns: frozenset[TriplePattern]) -> SchemaArrays:
        """The part of the schema whose inferred triples some pattern may match."""
        if patterns not in self._seen:
            self._seen[patterns] = self.arrays.seen_by(patterns)
        return self._seen[patterns]


def closed_background(background: Background) -> ClosedBackground:
    """Computed once for a background, however many states and batches there are."""
    if "rdfs" not in background.derived:
        graph = background.data.unnamed
        triples = [] if graph is None else list(graph.triples(0))
        schema = Schema.of(triples)
        # in an order that is the same in every process: blank nodes of rules are numbered by it
        texts = sorted(tuple(map(str, triple)) for triple in schema.closed(triples))
        terms = Terms()
        columns = [terms.add_texts([triple[place].encode() for triple in texts]) for place in range(3)]
        background.derived["rdfs"] = ClosedBackground(schema, SchemaArrays.of(schema), GraphColumns(terms, *columns))
    found: ClosedBackground = background.derived["rdfs"]
    return found


def closed_graphs(background: Background) -> Background:
    """The background that GRAPH reads under reasoning: the unnamed graph, which answers for every IRI, has all that it
    entails (EP-40)."""
    if "rdfs graphs" not in background.derived:
        graph = background.data.unnamed
        closed = background
        if graph is not None:
            triples = closed_background(background).schema.closed(graph.triples(0))
            closed = Background(background.data.with_unnamed(sorted(triples, key=lambda each: tuple(map(str, each)))))
        background.derived["rdfs graphs"] = closed
    found: Background = background.derived["rdfs graphs"]
    return found


def unnamed_graph(background: Background) -> GraphColumns:
    """The background that plain patterns read (EP-39), without reasoning."""
    graph = background.data.unnamed
    if graph is None:
        none = np.empty(0, np.int32)
        return GraphColumns(Terms(), none, none, none)
    return GraphColumns(graph.terms, graph.subjects, graph.predicates, graph.objects)
