"""TriG event files as N-Quads, in chunks. A bad graph is reported, and reading resumes at the next one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import pyoxigraph as ox

from thence.errors import LimitError, Place, RdfError
from thence.io.trig_splitter import (
    SHOWN,
    BrokenText,
    ConvertedLines,
    TrigItem,
    TrigOrigin,
    TrigPiece,
    TrigSplitter,
    next_opening,
    place_after,
    trig_items,
)
from thence.rdf.documents import GENERATED, BlankNodeLabels, LimitedBuffer, explain, rdf_11
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits, size
from thence.rdf.terms import PROV
from thence.rdf.turtle_outline import SPACE

_CHUNK = 1 << 18
_LIMITS = Limits()
_LONGEST_PROLOGUE = 1 << 20
_SHORT_PROLOGUE = 1 << 12
_MOST_TIMES = 8  # pieces that are held back because they tell a time
_LONGEST_TIMES = 1 << 12
_TIME = re.compile(  # a line that tells a graph's time
    rb"(<[^<>\s]*+>|_:\S++) <" + re.escape(PROV.encode()) + rb"(?:generated|started|ended)AtTime>"
    rb" \"[^\"\\\n]*+\"(?:\^\^<[^<>\n]*+>)?+ \.\n"
)
_GENERATED = re.compile(rb"(?<!\S)_:(" + GENERATED.encode() + rb")")


def trig_chunks(
    stream: BinaryIO,
    *,
    stream_name: str = "stream",
    limits: Limits = _LIMITS,
    base: str | None = None,
    chunk: int = _CHUNK,
) -> Iterator[ConvertedLines | BadEvent]:
    """The quads of a TriG document as N-Quads, in order, and the unreadable text between them, in constant memory. The
    times directly before or after a bad graph are dropped with it. Prefixes and base stay in force.

    >>> import io
    >>> document = b"PREFIX : <http://a/> :g1 { :s :p :o }\\n:g2 { :s :p , }\\n:g3 { :s :p :o }"
    >>> for part in trig_chunks(io.BytesIO(document)):
    ...     print(part)
    b'<http://a/s> <http://a/p> <http://a/o> <http://a/g1> .\\n'
    BadEvent(stream='stream', line=2, reason='line 2, column 13: , is not a valid RDF object', text=':g2 { :s :p , }')
    b'<http://a/s> <http://a/p> <http://a/o> <http://a/g3> .\\n'
    """
    converter = _Converter(stream_name, limits, base)
    held: list[
        ConvertedLines | _Bad
    ] = []  # what may tell the time of a bad graph, and a bad one that rubbish may follow on
    for part in converter.convert(TrigSplitter(stream, limits=limits, chunk=chunk)):
        match held[-1:], part:
            case [_Bad(_, graph)], ConvertedLines():
                part = _without_times_behind(part, graph)
            case [_Bad(event) as last], _Bad(more, opens=False):
                text = event.text.rstrip() + "\n" + more.text
                held[-1] = replace(last, event=replace(event, text=text))
                continue
            case [ConvertedLines()], _Bad(_, graph):
                _drop_times(held, graph)
        if part:
            if not (len(held) < _MOST_TIMES and _tells_one_time(part)):
                yield from map(_handed_out, held)
                held = []
            held.append(part)
    yield from map(_handed_out, held)


def _tells_one_time(part: ConvertedLines | _Bad) -> bool:
    """Whether there is nothing in it but the times of one graph, be they in several statements."""
    if isinstance(part, _Bad) or len(part) > _LONGEST_TIMES or not (found := _TIME.match(part)):
        return False
    return not _without_times_behind(part, found[1])


def _drop_times(held: list[ConvertedLines | _Bad], graph: bytes | None) -> None:
    """Leave out the lines at the end that give this graph's time."""
    while held and isinstance(last := held[-1], ConvertedLines):
        rest = _without_times_before(last, graph)
        if rest:
            held[-1] = rest
            return
        held.pop()


def _handed_out(part: ConvertedLines | _Bad) -> ConvertedLines | BadEvent:
    return part.event if isinstance(part, _Bad) else part


def _without_times_before(quads: ConvertedLines, graph: bytes | None) -> ConvertedLines:
    """N-Quads without the lines at their end that give this graph's time."""
    end = len(quads)
    while end and graph:
        start = quads.rfind(b"\n", 0, end - 1) + 1
        found = _TIME.fullmatch(quads, start, end)
        if not found or found[1] != graph:
            break
        end = start
    return quads.cut(0, end)


def _without_times_behind(quads: ConvertedLines, graph: bytes | None) -> ConvertedLines:
    """N-Quads without the lines at their beginning that give this graph's time."""
    start = 0
    while graph and (found := _TIME.match(quads, start)) and found[1] == graph:
        start = found.end()
    return quads.cut(start, len(quads))


@dataclass(frozen=True, slots=True)
class _Bad:
    event: BadEvent
    graph: bytes | None = None  # its name in N-Quads, if it is known
    opens: bool = False  # whether it begins with a line that opens a graph


class _Converter:
    """Pieces of TriG → N-Quads. It holds the document's prefixes and base so far."""

    def __init__(self, stream: str, limits: Limits, base: str | None) -> None:
        self._stream = stream
        self._limits = limits
        self._base = base
        self._prologue = _Prologue()
        self._anonymous = 0  # blank nodes without a label, so far
        self._skipping: _Skipping | None = None

    def convert(self, splitter: TrigSplitter) -> Iterator[ConvertedLines | _Bad]:
        while part := splitter.next():
            match part:
                case TrigPiece(text, start) if self._skipping:
                    yield from self._group([TrigItem(text, start, -1)])
                case TrigPiece(text, start, inner) if inner >= 0:
                    try:
                        yield self._quads(text, start)
                    except (RdfError, LimitError) as error:
                        yield from self._bad_item(TrigItem(text[:inner], start, 0), error)
                        splitter.resume_inside(part)
                case TrigPiece(text, start):
                    try:
                        yield self._quads(text, start)
                    except (RdfError, LimitError):
                        yield from self._halves([*trig_items(text, start, self._limits.nesting)])
                case BrokenText():
                    yield from self._end_skipping()
                    yield from self._broken(part)
        yield from self._end_skipping()

    def _group(self, group: list[TrigItem]) -> Iterator[ConvertedLines | _Bad]:
        """Some items together, if that goes well; else in halves, down to the bad one."""
        if self._skipping:
            rest = self._skipping.pass_over(b"".join(item.text for item in group), group[0].start)
            if not rest:
                return
            yield from self._end_skipping()
            group = [*trig_items(rest.text, rest.start, self._limits.nesting)]
        try:
            yield self._quads(b"".join(item.text for item in group), group[0].start)
        except (RdfError, LimitError) as error:
            if len(group) == 1:
                yield from self._bad_item(group[0], error)
            else:
                yield from self._halves(group)

    def _halves(self, group: list[TrigItem]) -> Iterator[ConvertedLines | _Bad]:
        half = (len(group) + 1) // 2
        for part in (group[:half], group[half:]):
            if part:
                yield from self._group(part)

    def _bad_item(self, item: TrigItem, error: RdfError | LimitError) -> Iterator[ConvertedLines | _Bad]:
        if item.brace < 0:  # who knows what is bad about it: go on at the next graph
            # what is too large is so with the next prefix, too
            directives = not isinstance(error, LimitError)
            _, item = item.cut(item.first_token)
            self._skipping = _Skipping(self._bad_event(item.text, item.start, error), item, directives=directives)
            return
        own = next_opening(item.text, item.first_token)
        if own < 0 or own > item.brace:
            name = item.graph_name
            yield _Bad(self._bad_event(item.text, item.start, error), self._resolve(name), name is not None)
            return
        junk, graph = item.cut(own)
        yield _Bad(self._bad_event(junk.text, junk.start, error))
        yield from self._group([graph])

    def _broken(self, part: BrokenText) -> Iterator[ConvertedLines | _Bad]:
        error: RdfError | LimitError = LimitError(part.fault.reason)
        if part.place:
            error = RdfError(part.fault.reason, place=part.place)
        if part.whole and not part.fault.refused:
            try:
                yield self._quads(part.text, part.start)  # the parser knows better
                return
            except RdfError as its_own:
                error = its_own
            except LimitError:
                pass  # with what stands behind it
        name = TrigItem(part.text, part.start, -1).graph_name
        yield _Bad(self._bad_event(part.text, part.start, error), self._resolve(name), name is not None)

    def _end_skipping(self) -> Iterator[_Bad]:
        if self._skipping:
            yield _Bad(self._skipping.event())
            self._skipping = None

    def _bad_event(self, text: bytes, start: Place, error: RdfError | LimitError) -> BadEvent:
        begin = _space_before(text)
        place = error.place if isinstance(error, RdfError) else None
        where = f"line {place.line}, column {place.column}: " if place else ""
        reason = error.reason if isinstance(error, RdfError) else str(error)
        return BadEvent(self._stream, place_after(start, text[:begin]).line, where + reason, _shown(text[begin:]))

    def _resolve(self, name: bytes | None) -> bytes | None:
        """A graph's name, as written, in N-Quads."""
        if name is None or name.startswith(b"["):
            return None
        try:
            statement = name + b" <x:x> <x:x> ."
            quads = ox.parse(self._prologue.of(statement) + statement, ox.RdfFormat.TRIG, base_iri=self._base)
            return str(next(quads).subject).encode()
        except SyntaxError:
            return None

    def _quads(self, text: bytes, start: Place) -> ConvertedLines:
        """N-Quads of a piece, which is all right; else an error with its place, and nothing has happened. A piece
        that is larger than an event may be is an error, too: one of its events may be."""
        if len(text) > self._limits.event_bytes and len(text) - _space_before(text) > self._limits.event_bytes:
            raise LimitError(self._limits.describe_event())
        origin = TrigOrigin(text, start, self._prologue.of(text), self._base, self._limits.nesting)
        parser = ox.parse(origin.prologue + text, ox.RdfFormat.TRIG, base_iri=self._base)
        written = LimitedBuffer(self._limits)
        may_be_odd = b"--" in text or (_has_anonymous(text) and (b"_:" in text or b"\\" in text))
        labels = BlankNodeLabels(self._anonymous, text)
        try:
            ox.serialize(parser, written, format=ox.RdfFormat.N_QUADS)
        except (SyntaxError, MemoryError) as error:
            raise explain(error, start, before=1) from None
        quads = written.getvalue()
        if quads.count(b"\n") > self._limits.event_triples:
            raise LimitError(self._limits.describe_event())
        if may_be_odd:
            quads = rdf_11(quads, labels)
        elif _has_anonymous(text):  # then all labels are generated, and none stands in a literal
            quads = _GENERATED.sub(lambda found: b"_:" + labels.of(found[1].decode()).encode(), quads)
        if len(quads) > self._limits.event_bytes:
            raise LimitError(self._limits.describe_event())
        self._prologue.declare(parser.prefixes)
        self._base, self._anonymous = parser.base_iri, labels.next
        return ConvertedLines(quads, origin)


class _Prologue:
    """The prefixes in force, to be put before each piece, on one line."""

    _DELIMITERS = b"\t\n\r<>\"'{}()[];,#@^|~\\"
    _TO_SPACES = bytes.maketrans(_DELIMITERS, b" " * len(_DELIMITERS))
    _LONGEST = 800  # bytes of a prefix's name

    def __init__(self) -> None:
        self._prefixes: dict[str, str] = {}
        self._directives: dict[bytes, bytes] = {}
        self._size = 0

    def declare(self, prefixes: dict[str, str]) -> None:
        new = {name: iri for name, iri in prefixes.items() if self._prefixes.get(name) != iri}
        if any(len(name) > self._LONGEST // 4 for name in new):  # in characters of up to 4 bytes
            raise LimitError(f"a prefix with a name of more than {self._LONGEST // 4} characters")
        self._size += sum(len(name) + len(iri) for name, iri in new.items())
        if self._size > _LONGEST_PROLOGUE:
            self._size = sum(len(name) + len(iri) for name, iri in (self._prefixes | new).items())
        if self._size > _LONGEST_PROLOGUE:
            self._size = sum(len(name) + len(iri) for name, iri in self._prefixes.items())
            raise LimitError(f"prefixes of more than {size(_LONGEST_PROLOGUE)}")
        self._prefixes |= new
        self._directives |= {name.encode(): f"PREFIX {name}: <{iri}> ".encode() for name, iri in new.items()}

    def of(self, text: bytes) -> bytes:
        """All of them, if they are few; else those that a text may use, so that many short texts cost little."""
        if self._size <= _SHORT_PROLOGUE:
            return b"".join(self._directives.values()) + b"\n"
        before_colons = text.translate(self._TO_SPACES).split(b":")[:-1]
        names = {part[-self._LONGEST :].rpartition(b" ")[2] for part in before_colons}
        # a name may follow on the dot of a statement, or of a number, without any space
        names |= {name.split(b".", dots)[-1] for name in names for dots in range(1, name.count(b".") + 1)}
        return b"".join(self._directives[name] for name in names & self._directives.keys()) + b"\n"


class _Skipping:
    """A bad statement and all that is passed over behind it, up to the next line that opens a graph, or a directive."""

    def __init__(self, event: BadEvent, item: TrigItem, *, directives: bool) -> None:
        self._event = event
        self._directives = directives
        self._shown = b""  # of what is passed over
        self._tail, self._start = item.text, item.start  # its last lines, which may tell the next graph's time

    def pass_over(self, text: bytes, start: Place) -> TrigPiece | None:
        """Skip the text that follows, up to the next graph or the lines that give its time."""
        lost = start.line - place_after(self._start, self._tail).line  # lines of nothing but space were not kept
        if lost <= SHOWN:
            text = self._tail + b"\n" * lost + text
        else:
            self._shown, self._start = self._shown + self._tail, start
        resume = next_opening(text, 0, directives=self._directives)
        cut = resume if resume >= 0 else max(0, text.rfind(b"\n", 0, max(0, len(text) - SHOWN)))
        self._shown = (self._shown + text[:cut]).lstrip()[:SHOWN]
        self._tail, self._start = text[cut:], place_after(self._start, text[:cut])
        if resume < 0:
            return None
        rest, self._tail = self._tail, b""
        return TrigPiece(rest, self._start)

    def event(self) -> BadEvent:
        return replace(self._event, text=_shown((self._shown + self._tail).lstrip()))


def _space_before(text: bytes) -> int:
    """The bytes of space and comments at the beginning."""
    found = SPACE.match(text)
    return found.end() if found else 0


def _has_anonymous(text: bytes) -> bool:
    """Whether there may be blank nodes without a label."""
    return b"[" in text or b"(" in text


def _shown(text: bytes) -> str:
    return text[:SHOWN].decode("utf-8", "replace")
