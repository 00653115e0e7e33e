"""Reading RDF: N-Triples, N-Quads, Turtle, TriG and JSON-LD, as our terms, their lexical forms as written."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

import pyoxigraph as ox

from thence.errors import InputError, LimitError, Place, RdfError
from thence.rdf.formats import Format
from thence.rdf.guard import BOM, guarded, is_tame
from thence.rdf.gunzip import open_input
from thence.rdf.limits import Limits
from thence.rdf.oxigraph import OX_FORMATS, FromOx, Labels, rdf_11, to_ox_quad
from thence.rdf.terms import IRI, BlankNode, Literal, Quad, Term

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Format", "Written", "as_nquads", "explain", "from_store", "nquads_of", "open_input", "parse"]

_LIMITS = Limits()
_LONGEST_REASON = 300  # characters: a parser's message quotes what it met, however long
_PIECE = 50_000  # quads written out at a time
_PLACE = re.compile(
    r"^Parser error (?:at line \d+ (?:between columns \d+ and \d+|column \d+)"
    r"|between line \d+ column \d+ and line \d+ column \d+): "
)
_BLOCK = 4 << 20


def parse(
    data: bytes | str | BinaryIO,
    format: Format,
    *,
    base: str | None = None,
    source: str = "document",
    limits: Limits = _LIMITS,
) -> Iterator[Quad]:
    """The quads of a document, as they are read. Anonymous blank nodes are numbered.

    >>> for quad in parse("@prefix : <http://example.org/> . :house1 :watts 021.50 .", Format.TURTLE):
    ...     print(quad.object)
    "021.50"^^<http://www.w3.org/2001/XMLSchema#decimal>
    """
    # in formats of lines no label is generated, and a line may be read on its own
    labels = None if format in (Format.N_TRIPLES, Format.N_QUADS) else Labels()
    try:
        yield from FromOx(labels).quads(_parser(data, format, base, source, limits))
    except (SyntaxError, MemoryError) as error:
        raise explain(error, Place(1, 1, source)) from None


def as_nquads(document: bytes, format: Format, *, base: str | None = None, limits: Limits = _LIMITS) -> bytes:
    """A document as N-Quads, no larger than an event may be. Anonymous blank nodes are numbered.

    >>> as_nquads(b"@prefix : <http://example.org/> . :house1 :watts 021.50 .", Format.TURTLE)
    b'<http://example.org/house1> <http://example.org/watts> "021.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .\\n'
    """
    written = Written(limits)
    try:
        ox.serialize(_parser(document, format, base, "document", limits), written, format=ox.RdfFormat.N_QUADS)
    except (SyntaxError, MemoryError) as error:
        raise explain(error, Place(1, 1, "document")) from None
    return rdf_11(written.getvalue(), Labels())


class Written(io.BytesIO):
    """What is written out, up to the limit: a prefix can stand for megabytes."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def write(self, data: Buffer) -> int:
        if self.tell() > self._limits.event_bytes:
            raise LimitError(self._limits.describe_event())
        return super().write(data)


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
            labels = Labels()
            for piece in _written(_parser(file, format, None, name, limits)):
                yield rdf_11(piece, labels)
        except (SyntaxError, MemoryError) as error:
            raise explain(error, Place(1, 1, name)) from None


def _parser(
    data: bytes | str | BinaryIO, format: Format, base: str | None, source: str, limits: Limits
) -> Iterator[ox.Quad]:
    try:
        return ox.parse(_document(data, format, source, limits), OX_FORMATS[format], base_iri=base)
    except ValueError as error:
        raise InputError(f"{base!r:.100} is no base IRI: {error}") from None


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


def _document(data: bytes | str | BinaryIO, format: Format, source: str, limits: Limits) -> bytes | BinaryIO:
    if isinstance(data, str):
        data = _encode(data)
    if not isinstance(data, bytes):
        return guarded(data, format, limits, source)
    return data if is_tame(data, format, limits) else guarded(io.BytesIO(data), format, limits, source)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise RdfError(f"line {line} has a lone surrogate, which is no character") from None


def explain(error: SyntaxError | MemoryError, start: Place, *, before: int = 0) -> RdfError | LimitError:
    """The parser's error as one of ours. The text starts at a place, and with `before` lines that are not its own."""
    if isinstance(error, MemoryError):
        return LimitError("a term or statement longer than 16 MiB")
    reason = _PLACE.sub("", error.msg).partition("\n")[0]
    if "LoadDocumentCallback" in reason:
        return RdfError("a remote context: nothing is ever fetched. Try: write the context into the document")
    if len(reason) > _LONGEST_REASON:
        reason = reason[:_LONGEST_REASON] + "…"
    if error.lineno is None:
        return RdfError(reason)
    line, column = error.lineno - before, error.offset or 1
    return RdfError(reason, place=Place(start.line + line - 1, column + (start.column - 1) * (line == 1), start.source))


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
