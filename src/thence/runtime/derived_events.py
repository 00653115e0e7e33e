"""Derived events: rows as events of a stream (CONSTRUCT, RETURN … IN STREAM)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from uuid import UUID

from thence.algebra.expressions import Variable
from thence.match.context import Context
from thence.match.sparql_queries import instance
from thence.program.dataflow import Stage
from thence.program.output import DerivedTriples, Events
from thence.program.solutions import Cell
from thence.rdf.events import Event, distinct
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain
from thence.rdf.typed_events import typed_triples


def derived_event(
    stage: Stage,
    bindings: Mapping[str, Cell],
    name: UUID,
    certain: int,
    domain: Domain,
    context: Context,
    *,
    start: int | None = None,
) -> Event | None:
    """The event that a row makes: a point at the time at which the row became certain (C-26), or, where the operator
    builds the triples, its interval from `start` on (C-27). None without triples. Its blank nodes are its own, and the
    same whenever it is made."""
    output = stage.program.output
    if isinstance(output, DerivedTriples):
        first = certain if start is None else start
        return Event.from_columns(first, certain, domain, name.urn, tuple(_triples(bindings["triples"])))
    if isinstance(output, Events):
        solution = {
            Variable(variable): cell for variable, cell in bindings.items() if not isinstance(cell, tuple | Mapping)
        }
        own = replace(context, random=Random(name.int))
        triples = distinct(instance(output.template, solution, own))
        return Event.from_columns(certain, certain, domain, name.urn, triples) if triples else None
    assert stage.feeds is not None
    attributes = {"type": stage.feeds.type or stage.feeds.stream, **dict(_flat(bindings))}
    triples = typed_triples(attributes, namespace=stage.program.namespace)
    return Event.from_columns(certain, certain, domain, name.urn, triples, attributes, namespace=None)


def _triples(cell: Cell) -> Iterator[Triple]:
    """Subjects, predicates and objects in turn, as triples."""
    assert isinstance(cell, tuple)
    for place in range(0, len(cell), 3):
        subject, predicate, target = cell[place : place + 3]
        assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
        assert isinstance(target, IRI | BlankNode | Literal)
        yield Triple(subject, predicate, target)


def _flat(cells: Mapping[str, Cell]) -> Iterator[tuple[str, Term]]:
    """The attributes of a row as an event: those of a composite are `name.attribute`."""
    for name, cell in cells.items():
        if isinstance(cell, Mapping):
            yield from ((f"{name}.{inner}", term) for inner, term in cell.items() if term is not None)
        elif not isinstance(cell, tuple):  # sequences are rejected when the query is read
            yield name, cell
