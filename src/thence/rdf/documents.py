"""RDF documents: parsed and serialised by pyoxigraph, after a check has refused input that is dangerous for the
parser.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias, assert_never

import pyoxigraph as ox

from thence.errors import InputError, LimitError, Place, RdfError
from thence.rdf.limits import Limits, size
from thence.rdf.terms import IRI, BlankNode, Literal, Quad, Term, Triple
from thence.rdf.turtle_outline import RDF_12, Outline, ScanStop

if TYPE_CHECKING:
    from typing_extensions import Buffer


# The RDF formats that are read and written, and the endings of their files.


class Format(Enum):
    """An RDF format.

    >>> Format.of("power.trig.gz")
    <Format.TRIG: 'TriG'>
    """

    N_TRIPLES = "N-Triples"
    N_QUADS = "N-Quads"
    TURTLE = "Turtle"
    TRIG = "TriG"
    JSON_LD = "JSON-LD"

    @property
    def endings(self) -> tuple[str, ...]:
        return _ENDINGS[self]

    @property
    def has_graphs(self) -> bool:
        """Whether it can hold named graphs."""
        return self in (Format.N_QUADS, Format.TRIG, Format.JSON_LD)

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Format:
        """The format that a file's name implies, without `.gz`."""
        name = os.fspath(path).removesuffix(".gz").lower()
        for format, endings in _ENDINGS.items():
            if name.endswith(endings):
                return format
        known = ", ".join(ending for endings in _ENDINGS.values() for ending in endings)
        raise InputError(f"{os.fspath(path)}: the ending is not that of an RDF format. Try: {known}")


_ENDINGS = {
    Format.N_TRIPLES: (".nt",),
    Format.N_QUADS: (".nq",),
    Format.TURTLE: (".ttl", ".n3"),  # a .n3 file is nearly always Turtle; others are refused as bad Turtle
    Format.TRIG: (".trig",),
    Format.JSON_LD: (".jsonld",),
}


# Converts between our terms and pyoxigraph's.

OxTerm: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Literal

OX_FORMATS = {
    Format.N_TRIPLES: ox.RdfFormat.N_TRIPLES,
    Format.N_QUADS: ox.RdfFormat.N_QUADS,
    Format.TURTLE: ox.RdfFormat.TURTLE,
    Format.TRIG: ox.RdfFormat.TRIG,
    Format.JSON_LD: ox.RdfFormat.JSON_LD,
}

NO_DIRECTION = "RDF 1.2 is not supported: write RDF 1.1, without base directions"

GENERATED = "[a-f][0-9a-f]{19,31}"
"""A label that pyoxigraph generated: a 128-bit number in hexadecimal. (One in 10^14 is shorter.)"""

_CACHED = 50_000  # only short terms, so that a cache stays small whatever the input
_SHORT = 200


class BlankNodeLabels:
    """Labels for blank nodes. pyoxigraph labels anonymous ones at random; here they are numbered, so that a document
    always reads the same. A document's own labels of either form are renumbered too, so that no label is used twice.

    >>> labels = BlankNodeLabels()
    >>> labels.of("d684ec134b6e42bc190808778ab5dd7c"), labels.of("anon0"), labels.of("house1")
    ('anon0', 'anon1', 'house1')
    """

    _GENERATED = re.compile(GENERATED + r"|anon[0-9]+")
    _OWN = re.compile(rb"_:(" + GENERATED.encode() + rb"|anon[0-9]++)")

    def __init__(self, first: int = 0, text: bytes = b"") -> None:
        self.next = first
        self._numbered: dict[str, str] = {}
        # part of a document: its own labels stay, since other parts may use them too
        self._own = {label.decode() for label in self._OWN.findall(text)}

    def of(self, label: str) -> str:
        found = self._numbered.get(label)
        if found is None:
            if not self._GENERATED.fullmatch(label) or label in self._own:
                return label
            while f"anon{self.next}" in self._own:
                self.next += 1
            found = self._numbered[label] = f"anon{self.next}"
            self.next += 1
        return found


class FromOx:
    """Converts pyoxigraph's quads into ours; each frequent IRI becomes one object."""

    def __init__(self, labels: BlankNodeLabels | None = None) -> None:
        self._labels = labels
        self._iris: dict[str, IRI] = {}

    def quads(self, quads: Iterable[ox.Quad]) -> Iterator[Quad]:
        term = self.term
        for quad in quads:
            graph = quad.graph_name
            name = None if type(graph) is ox.DefaultGraph else term(graph)
            yield Quad(term(quad.subject), term(quad.predicate), term(quad.object), name)

    def term(self, term: object) -> Term:
        if type(term) is ox.NamedNode:
            return self._iri(term.value)
        if type(term) is ox.Literal:
            return self._literal(term)
        if type(term) is ox.BlankNode:
            return self._blank_node(term.value)
        raise RdfError(RDF_12)

    def _iri(self, value: str) -> IRI:
        found = self._iris.get(value)
        if found is None:
            found = IRI(value)
            if len(value) <= _SHORT:
                if len(self._iris) >= _CACHED:
                    self._iris.clear()
                self._iris[value] = found
        return found

    def _literal(self, term: ox.Literal) -> Literal:
        language = term.language
        if language is None:
            return Literal(term.value, self._iri(term.datatype.value).value)
        if term.direction is not None:
            raise RdfError(NO_DIRECTION)
        return Literal(term.value, language=language)

    def _blank_node(self, label: str) -> BlankNode:
        return BlankNode(self._labels.of(label) if self._labels else label)


_STRING = rb'"(?:[^"\\\n]++|\\.)*+"'
_OURS = rb"(" + GENERATED.encode() + rb"|anon[0-9]++)(?= "
# a subject begins its line; a later position is outside a string if no quote follows
_LABEL = re.compile(rb"_:(?:(?<=\n_:)" + _OURS + rb")|(?<= _:)" + _OURS + rb"[^\"\n]*+\n))")
_TRIPLE_TERM = re.compile(rb"^\S++ \S++ <<", re.MULTILINE)
_DIRECTION = re.compile(rb"^\S++ \S++ " + _STRING + rb"@[A-Za-z0-9-]*?--", re.MULTILINE)


def rdf_11(quads: bytes, labels: BlankNodeLabels) -> bytes:
    """N-Quads written by pyoxigraph, with stable labels. Features of RDF 1.2 alone are refused.

    >>> rdf_11(b'_:d684ec134b6e42bc1908 <x:p> "_:d684ec134b6e42bc1908 " .\\n', BlankNodeLabels())
    b'_:anon0 <x:p> "_:d684ec134b6e42bc1908 " .\\n'
    """
    # few documents have these bytes at all, and searching for them is cheap
    if b" <<" in quads and _TRIPLE_TERM.search(quads):
        raise RdfError(RDF_12)
    if b"--" in quads and _DIRECTION.search(quads):
        raise RdfError(NO_DIRECTION)
    if b"_:" not in quads:
        return quads

    def steady(found: re.Match[bytes]) -> bytes:
        return b"_:" + labels.of((found[1] or found[2]).decode()).encode()

    return _LABEL.sub(steady, b"\n" + quads)[1:]


def to_ox(term: Term) -> OxTerm:
    """One of our terms as one of pyoxigraph's. RdfError if it is not RDF (an IRI with a space)."""
    try:
        match term:
            case IRI(value):
                return ox.NamedNode(value)
            case BlankNode(value):
                return ox.BlankNode(value)
            case Literal(value, _, str(language)):
                return ox.Literal(value, language=language)
            case Literal(value, datatype):
                return ox.Literal(value, datatype=ox.NamedNode(datatype))
            case _:
                assert_never(term)
    except ValueError as error:  # also what UTF-8 can't encode
        raise RdfError(f"{str(term)[:100]!a} is not an RDF term: {error}") from None


def to_ox_quad(quad: Quad) -> ox.Quad:
    """One of our quads as one of pyoxigraph's."""
    subject, predicate, object = to_ox(quad.subject), to_ox(quad.predicate), to_ox(quad.object)
    graph = ox.DefaultGraph() if quad.graph is None else to_ox(quad.graph)
    if isinstance(subject, ox.Literal) or not isinstance(predicate, ox.NamedNode) or isinstance(graph, ox.Literal):
        shown = " ".join(map(str, quad[:3]))
        raise RdfError(f"{shown:.200} is not a triple: only its object may be a literal, its predicate must be an IRI")
    return ox.Quad(subject, predicate, object, graph)


# Refuses input that the RDF parser must not get: RDF 1.2, and nesting deep enough to overflow its stack.

_BLOCK = 1 << 16
_LONGEST_WORD = 1 << 20
_DELIMITER = re.compile(rb"[\s<>\"'{}()\[\];,#]")
BOM = b"\xef\xbb\xbf"


class DocumentCheck(Protocol):
    """A check of a document that is read in blocks."""

    def feed(self, block: bytes) -> None:
        """Raises an error if the block must not reach the parser."""


class _Guarded(io.RawIOBase):
    """A binary stream of which every block is checked before it is passed on."""

    def __init__(self, stream: BinaryIO, check: DocumentCheck) -> None:
        self._stream = stream
        self._check = check
        self._block = b""
        self._at = 0
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._at >= len(self._block):
            self._block, self._at = self._next(), 0
        piece = self._block[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _next(self) -> bytes:
        block = self._stream.read(_BLOCK)
        if not self._begun:
            self._begun = True
            block = block.removeprefix(BOM) or (self._stream.read(_BLOCK) if block else b"")
        self._check.feed(block)
        return block


def guarded(stream: BinaryIO, format: Format, limits: Limits, source: str) -> BinaryIO:
    """The stream without its byte order mark, with the check that its format needs."""
    check: DocumentCheck = JsonNesting(limits) if format is Format.JSON_LD else _Syntax(limits, source)
    return io.BufferedReader(_Guarded(stream, check), _BLOCK)


def is_tame(data: bytes, format: Format, limits: Limits) -> bool:
    """Whether a document certainly contains nothing that a check would refuse. Most documents are, and need no
    check."""
    if data.startswith(BOM):
        return False
    brackets = data.count(b"[") + data.count(b"{") + data.count(b"(")
    if format is Format.JSON_LD:
        return brackets <= limits.nesting
    return brackets <= limits.nesting and b"<<" not in data and b"~" not in data and b"{|" not in data


class _Syntax:
    """The check for the formats of Turtle's family."""

    def __init__(self, limits: Limits, source: str) -> None:
        self._outline = Outline(limits.nesting, statements=False)
        self._source = source
        self._rest = b""
        self._lines = 0  # before `_rest`
        self._column = 0  # characters of `_rest`'s line before it
        self._place: Place | None = None  # of the error, if there is one
        self._word = 0  # bytes without anything that ends a name

    def feed(self, block: bytes) -> None:
        data, position, stop = self._rest + block, 0, ScanStop.STATEMENT
        while stop is not ScanStop.MORE and stop is not ScanStop.FAULT:
            stop, position = self._outline.scan(data, position, final=not block)
        fault = self._outline.fault
        if fault is None:
            self._pass(data[:position])
            self._rest = data[position:]
            self._check_word(block)
            return
        if self._place is None:
            self._pass(data[:position])
            self._place = Place(self._lines + 1, self._column + 1, self._source)
        # The parser stops at an error, and its reason is more precise; but safety must not rely on that.
        if fault.refused or b"<<" in data[position:]:
            raise RdfError(fault.reason, place=self._place)
        self._rest = data[-1:]

    def _check_word(self, block: bytes) -> None:
        """Refuses a name without end, which the parser would read again with every block."""
        self._word = 0 if self._outline.in_token or _DELIMITER.search(block) else self._word + len(block)
        if self._word > _LONGEST_WORD:
            raise LimitError(f"a name longer than {size(_LONGEST_WORD)}")

    def _pass(self, text: bytes) -> None:
        lines, last = text.count(b"\n"), text.rfind(b"\n") + 1
        here = len(text[last:].decode("utf-8", "replace"))
        self._column = here if lines else self._column + here
        self._lines += lines


class JsonNesting:
    """The check for JSON: arrays and objects no deeper than the limit.

    >>> JsonNesting(Limits(nesting=2)).feed(b'{"a": [1, 2, {"b": 3}]}')
    Traceback (most recent call last):
        ...
    thence.errors.LimitError: brackets nested more than 2 deep
    """

    _OUTSIDE = re.compile(rb"(?:[^\"\[\]{}]++|\"(?:[^\"\\]++|\\.)*+\")*+", re.DOTALL)
    _INSIDE = re.compile(rb"(?:[^\"\\]++|\\.)*+", re.DOTALL)

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._depth = 0
        self._in_string = False
        self._rest = b""

    def feed(self, block: bytes) -> None:
        data, position = self._rest + block, 0
        while True:
            found = (self._INSIDE if self._in_string else self._OUTSIDE).match(data, position)
            position = found.end() if found else position
            byte = data[position : position + 1]
            if byte in (b"", b"\\"):
                self._rest = data[position:]
                return
            if byte == b'"':
                self._in_string = not self._in_string
            else:
                self._depth += 1 if byte in b"[{" else -1
                if self._depth > self._limits.nesting:
                    raise LimitError(self._limits.describe_nesting())
            position += 1


# Parses RDF documents: N-Triples, N-Quads, Turtle, TriG and JSON-LD, as our terms, their lexical forms as written.

__all__ = ["Format", "LimitedBuffer", "as_nquads", "explain", "parse"]

_LIMITS = Limits()
_LONGEST_REASON = 300  # characters: a parser's message quotes its input, however long

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
    """The quads of a document, while it is read. Anonymous blank nodes are numbered.

    >>> for quad in parse("@prefix : <http://example.org/> . :house1 :watts 021.50 .", Format.TURTLE):
    ...     print(quad.object)
    "021.50"^^<http://www.w3.org/2001/XMLSchema#decimal>
    """
    # line-based formats generate no label, and a line may be read alone
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
    """A buffer with a limit, since a prefix can expand to megabytes."""

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
        raise InputError(f"{base!r:.100} is not a base IRI: {error}") from None


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
        raise RdfError(f"line {line} has a lone surrogate, which is not a character") from None


def explain(error: SyntaxError | MemoryError, start: Place, *, before: int = 0) -> RdfError | LimitError:
    """The parser's error as one of ours. The text starts at `place`; its first `before` lines were added by us."""
    if isinstance(error, MemoryError):
        return LimitError("a term or statement longer than 16 MiB")
    reason = _PLACE.sub("", error.msg).partition("\n")[0]
    if "LoadDocumentCallback" in reason:
        return RdfError("a remote context, which is never fetched. Try: write the context into the document")
    if len(reason) > _LONGEST_REASON:
        reason = reason[:_LONGEST_REASON] + "…"
    if error.lineno is None:
        return RdfError(reason)
    line, column = error.lineno - before, error.offset or 1
    return RdfError(reason, place=Place(start.line + line - 1, column + (start.column - 1) * (line == 1), start.source))


# Serialises quads as RDF documents.


def serialize(quads: Iterable[Quad | Triple], format: Format, *, prefixes: Mapping[str, str] | None = None) -> bytes:
    """A document of these quads. InputError if the format cannot hold named graphs and there is one.

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
    assert written is not None  # the default where no output is given
    return written


def _quads(quads: Iterable[Quad | Triple]) -> Iterator[Quad]:
    return (quad if isinstance(quad, Quad) else Quad(*quad, None) for quad in quads)


def _triple(quad: ox.Quad) -> ox.Triple:
    if not isinstance(quad.graph_name, ox.DefaultGraph):
        raise InputError(f"graph {quad.graph_name} can't be written in a format without graphs. Try: TriG")
    return quad.triple
