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
from thence.program.output import Events
from thence.program.solutions import Cell
from thence.rdf.events import Event, distinct
from thence.rdf.terms import Term
from thence.rdf.times import Domain
from thence.rdf.typed_events import typed_triples


def derived_event(
    stage: Stage, bindings: Mapping[str, Cell], name: UUID, certain: int, domain: Domain, context: Context
) -> Event | None:
    """The event that a row makes: a point at the time at which the row became certain (C-26). None without triples.
    Its blank nodes are its own, and the same whenever it is made."""
    output = stage.program.output
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


def _flat(cells: Mapping[str, Cell]) -> Iterator[tuple[str, Term]]:
    """The attributes of a row as an event: those of a composite are `name.attribute`."""
    for name, cell in cells.items():
        if isinstance(cell, Mapping):
            yield from ((f"{name}.{inner}", term) for inner, term in cell.items() if term is not None)
        elif not isinstance(cell, tuple):  # sequences are rejected when the query is read
            yield name, cell
