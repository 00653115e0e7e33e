"""RDF files and stores (pyoxigraph, rdflib) as N-Quads, in chunks of whole lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

import pyoxigraph as ox

from thence.errors import InputError, Place
from thence.io.gunzip import open_input
from thence.rdf.document_parser import explain, ox_quads
from thence.rdf.formats import Format
from thence.rdf.limits import Limits
from thence.rdf.oxigraph import BlankNodeLabels, FromOx, rdf_11, to_ox_quad
from thence.rdf.parser_guard import BOM
from thence.rdf.terms import IRI, BlankNode, Literal, Quad, Term

_LIMITS = Limits()
_PIECE = 50_000  # quads written out at a time
_BLOCK = 4 << 20


def nquads_of(source: object, *, limits: Limits = _LIMITS) -> Iterator[bytes]:
    """A file's or a store's quads as N-Quads, in pieces of whole lines; files that are N-Quads already as they are."""
    if not isinstance(source, str | os.PathLike):
        yield from _written(map(to_ox_quad, from_store(source)))
        return
    format, name = Format.of(source), os.fspath(source)
    with open_input(source, limits=limits) as file:
        if format in (Format.N_TRIPLES, Format.N_QUADS):
            yield from _lines(file)
            return
        try:
            labels = BlankNodeLabels()
            for piece in _written(ox_quads(file, format, None, name, limits)):
                yield rdf_11(piece, labels)
        except (SyntaxError, MemoryError) as error:
            raise explain(error, Place(1, 1, name)) from None


def _written(quads: Iterator[ox.Quad]) -> Iterator[bytes]:
    while piece := ox.serialize(islice(quads, _PIECE), format=ox.RdfFormat.N_QUADS):
        yield piece


def _lines(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    first = True
    while block := file.read(_BLOCK):
        data = rest + (block.removeprefix(BOM) if first else block)
        first = False
        cut = data.rfind(b"\n") + 1
        rest = data[cut:]
        if cut:
            yield data[:cut]
    if rest:
        yield rest + b"\n"


def from_store(store: object) -> Iterator[Quad]:
    """The quads of a pyoxigraph Store or Dataset, or of an rdflib Graph or Dataset."""
    if isinstance(store, ox.Store | ox.Dataset):
        return FromOx().quads(store)
    rdflib = sys.modules.get("rdflib")  # whoever has one of its graphs has imported it
    if rdflib and isinstance(store, rdflib.Graph):
        return _from_rdflib(store, rdflib)
    raise InputError(f"{type(store).__name__} is no store. Try: an rdflib Graph or Dataset, or a pyoxigraph Store")


def _from_rdflib(graph: Any, rdflib: Any) -> Iterator[Quad]:
    if not isinstance(graph, rdflib.ConjunctiveGraph):
        for s, p, o in graph:
            yield Quad(_rdflib_term(s, rdflib), _rdflib_term(p, rdflib), _rdflib_term(o, rdflib), None)
        return
    # a Dataset has both, the second of them deprecated; a graph without triples counts as false
    default_graph = getattr(graph, "default_graph", None)
    default = (graph.default_context if default_graph is None else default_graph).identifier
    for s, p, o, context in graph.quads():
        name = getattr(context, "identifier", context)
        in_default = name is None or name == default
        subject, predicate, object = (_rdflib_term(term, rdflib) for term in (s, p, o))
        yield Quad(subject, predicate, object, None if in_default else _rdflib_term(name, rdflib))


def _rdflib_term(term: Any, rdflib: Any) -> Term:
    if isinstance(term, rdflib.URIRef):
        return IRI(str(term))
    if isinstance(term, rdflib.BNode):
        return BlankNode(str(term))
    if isinstance(term, rdflib.Literal):
        if term.language:
            return Literal(str(term), language=term.language)
        return Literal(str(term), str(term.datatype)) if term.datatype else Literal(str(term))
    raise InputError(f"{term!r:.100} is no RDF 1.1 term")
