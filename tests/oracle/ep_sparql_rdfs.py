"""RDFS rules 2, 3, 5, 7, 9 and 11 (EP-55). The schema is the background's (EP-56)."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.terms import Graph, Iri, Literal, Triple

TYPE = Iri("rdf:type")
SUB_CLASS = Iri("rdfs:subClassOf")
SUB_PROPERTY = Iri("rdfs:subPropertyOf")
DOMAIN = Iri("rdfs:domain")
RANGE = Iri("rdfs:range")
SCHEMA = (SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE)


def closed_background(background: Graph) -> Graph:
    """The background with all that follows from it."""
    found = background
    while True:
        more = found | {new for triple in found for new in (*steps(triple, found), *transitive(triple, found))}
        if more == found:
            return found
        found = more


def closed(triples: Graph, schema: Graph) -> Graph:
    """Stream triples with all that follows from each of them by a closed background's schema (EP-57)."""
    found = triples
    while True:
        more = found | {new for triple in found for new in steps(triple, schema)}
        if more == found:
            return found
        found = more


def steps(triple: Triple, schema: Graph) -> Iterator[Triple]:
    """What follows from a triple by one use of rule 2, 3, 7 or 9. No literal becomes a subject."""
    s, p, o = triple
    for subject, predicate, other in schema:
        if predicate == DOMAIN and subject == p:
            yield (s, TYPE, other)
        if predicate == RANGE and subject == p and not isinstance(o, Literal):
            yield (o, TYPE, other)
        if predicate == SUB_PROPERTY and subject == p and isinstance(other, Iri):
            yield (s, other, o)
        if predicate == SUB_CLASS and p == TYPE and subject == o:
            yield (s, TYPE, other)


def transitive(triple: Triple, schema: Graph) -> Iterator[Triple]:
    """Rules 5 and 11."""
    s, p, o = triple
    if p in (SUB_CLASS, SUB_PROPERTY):
        yield from ((s, p, other) for subject, predicate, other in schema if predicate == p and subject == o)
