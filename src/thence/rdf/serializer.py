"""Serialises quads as RDF documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyoxigraph as ox

from thence.errors import InputError
from thence.rdf.formats import Format
from thence.rdf.oxigraph import OX_FORMATS, to_ox_quad
from thence.rdf.terms import Quad, Triple


def serialize(quads: Iterable[Quad | Triple], format: Format, *, prefixes: Mapping[str, str] | None = None) -> bytes:
    """A document of these quads. A format without named graphs takes none.

    >>> from thence.rdf.terms import IRI, Literal
    >>> serialize([Triple(IRI("http://example.org/s"), IRI("http://example.org/p"), Literal("1"))], Format.N_TRIPLES)
    b'<http://example.org/s> <http://example.org/p> "1" .\\n'
    """
    converted = map(to_ox_quad, _quads(quads))
    statements: Iterator[ox.Quad] | Iterator[ox.Triple]
    statements = converted if format.has_graphs else map(_triple, converted)
    try:
        written = ox.serialize(statements, format=OX_FORMATS[format], prefixes=dict(prefixes) if prefixes else None)
    except ValueError as error:  # of a prefix
        raise InputError(f"the prefixes can't be written: {error}") from None
    assert written is not None  # it is where no output is given
    return written


def _quads(quads: Iterable[Quad | Triple]) -> Iterator[Quad]:
    return (quad if isinstance(quad, Quad) else Quad(*quad, None) for quad in quads)


def _triple(quad: ox.Quad) -> ox.Triple:
    if not isinstance(quad.graph_name, ox.DefaultGraph):
        raise InputError(f"graph {quad.graph_name} can't be written in a format without graphs. Try: TriG")
    return quad.triple
