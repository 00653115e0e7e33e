"""The background under RDFS reasoning: closed once, and then what patterns see of it (EP-39, EP-55, EP-56)."""

from __future__ import annotations

from dataclasses import dataclass, field

from thence.algebra.patterns import TriplePattern
from thence.match.background import Background
from thence.match.rdfs_columns import SchemaArrays
from thence.rdf.rdfs import Schema
from thence.rdf.terms import Triple


@dataclass(frozen=True, slots=True, eq=False)
class ClosedBackground:
    """A background whose unnamed graph has all that it entails, and its schema. GRAPH reads it too, where the unnamed
    graph answers for every IRI (EP-40)."""

    schema: Schema
    arrays: SchemaArrays
    background: Background
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
        closed = sorted(schema.closed(triples), key=_texts)
        read = background if graph is None else Background(background.data.with_unnamed(closed))
        background.derived["rdfs"] = ClosedBackground(schema, SchemaArrays.of(schema), read)
    found: ClosedBackground = background.derived["rdfs"]
    return found


def _texts(triple: Triple) -> tuple[str, ...]:
    """An order that is the same in every process: blank nodes of rules are numbered by it."""
    return tuple(map(str, triple))
