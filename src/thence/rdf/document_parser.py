"""Parses RDF documents: N-Triples, N-Quads, Turtle, TriG and JSON-LD, as our terms, their lexical forms as written."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import pyoxigraph as ox

from thence.errors import InputError, LimitError, Place, RdfError
from thence.rdf.formats import Format
from thence.rdf.limits import Limits
from thence.rdf.oxigraph import OX_FORMATS, BlankNodeLabels, FromOx, rdf_11
from thence.rdf.parser_guard import guarded, is_tame
from thence.rdf.terms import Quad

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Format", "LimitedBuffer", "as_nquads", "explain", "parse"]

_LIMITS = Limits()
_LONGEST_REASON = 300  # characters: a parser's message quotes what it met, however long

_PLACE = re.compile(
    r"^Parser error (?:at line \d+ (?:between columns \d+ and \d+|column \d+)"
    r"|between line \d+ column \d+ and line \d+ column \d+): "
)


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
    labels = None if format in (Format.N_TRIPLES, Format.N_QUADS) else BlankNodeLabels()
    try:
        yield from FromOx(labels).quads(ox_quads(data, format, base, source, limits))
    except (SyntaxError, MemoryError) as error:
        raise explain(error, Place(1, 1, source)) from None


def as_nquads(document: bytes, format: Format, *, base: str | None = None, limits: Limits = _LIMITS) -> bytes:
    """A document as N-Quads, no larger than an event may be. Anonymous blank nodes are numbered.

    >>> as_nquads(b"@prefix : <http://example.org/> . :house1 :watts 021.50 .", Format.TURTLE)
    b'<http://example.org/house1> <http://example.org/watts> "021.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .\\n'
    """
    written = LimitedBuffer(limits)
    try:
        ox.serialize(ox_quads(document, format, base, "document", limits), written, format=ox.RdfFormat.N_QUADS)
    except (SyntaxError, MemoryError) as error:
        raise explain(error, Place(1, 1, "document")) from None
    return rdf_11(written.getvalue(), BlankNodeLabels())


class LimitedBuffer(io.BytesIO):
    """A buffer with a limit: a prefix can expand to megabytes."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def write(self, data: Buffer) -> int:
        if self.tell() > self._limits.event_bytes:
            raise LimitError(self._limits.describe_event())
        return super().write(data)


def ox_quads(
    data: bytes | str | BinaryIO, format: Format, base: str | None, source: str, limits: Limits
) -> Iterator[ox.Quad]:
    try:
        return ox.parse(_document(data, format, source, limits), OX_FORMATS[format], base_iri=base)
    except ValueError as error:
        raise InputError(f"{base!r:.100} is no base IRI: {error}") from None


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
