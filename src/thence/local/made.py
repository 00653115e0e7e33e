"""Rows of SASE+ as events (RETURN … IN STREAM), for the queries that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from uuid import uuid5

from thence.algebra.components import Return
from thence.kernel.projection import Cell, Row
from thence.local.results import match_uuid
from thence.rdf.events import Event
from thence.rdf.terms import Term
from thence.rdf.times import Domain
from thence.rdf.typed import typed_triples


def made_event(form: Return, row: Row, ids: Sequence[str], domain: Domain, namespace: str, *, block: int) -> Event:
    """A row as an event: of its AS name's type, else of its stream's, at the time at which it became certain. Its id is
    the same whenever and wherever it is made; the number of the text's block, from 1, tells it from an event that
    another makes of the same row."""
    attributes = {"type": form.type or form.stream, **dict(_flat(row.bindings))}
    of_row = match_uuid((row.start, row.end), ids, row.places, row.bindings)
    name = of_row if block == 1 else uuid5(of_row, str(block))
    return Event.from_columns(
        row.certain,
        row.certain,
        domain,
        name.urn,
        typed_triples(attributes, namespace=namespace),
        attributes,
        namespace=None,
    )


def _flat(cells: Mapping[str, Cell]) -> Iterator[tuple[str, Term]]:
    """The attributes that a row has as an event: a composite's are `name.attribute`."""
    for name, cell in cells.items():
        if isinstance(cell, Mapping):
            yield from ((f"{name}.{inner}", term) for inner, term in cell.items() if term is not None)
        elif not isinstance(cell, tuple):  # which is refused when a query is read
            yield name, cell
