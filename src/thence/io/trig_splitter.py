"""Splits a TriG stream into whole statements and graphs, and traces converted quads back to their lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO
from uuid import uuid4

import pyoxigraph as ox

from thence.errors import Place
from thence.io.gunzip import READ_FAILURES
from thence.rdf.documents import BOM
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.turtle_outline import SPACE, Outline, ScanError, ScanStop, whole_items

# Splits a TriG stream into pieces of whole statements and graphs, and broken text between them.
#
# After a fault, reading continues behind its graph if the graph's end is known; else at the next line that opens a
# graph or declares a prefix.

_NAME = rb"<[^\x00-\x20<>\"{}|^`]*+>|_:[^\s<>\"'{}#]++|[^\s<>\"'{}#:@\[\]()]*+:[^\s<>\"'{}#]*+|\[[ \t]*+\]"
OPENING = re.compile(rb"^[ \t]*+(?:(?i:graph)[ \t]++)?+(" + _NAME + rb")[ \t]*+\{", re.MULTILINE)
"""A line that opens a graph."""
_DIRECTIVE = rb"(?i:@?+prefix[ \t]++[^\s<>\"'{}:]*+:[ \t]*+<|@?+base[ \t]*+<)"
_RESUME = re.compile(OPENING.pattern + rb"|^[ \t]*+" + _DIRECTIVE, re.MULTILINE)

_SPACE_AT_END = re.compile(rb"(?:\s++|#[^\r\n]*+)*+\Z")
_WINDOW = 1 << 10
_HEAD = 16 << 10  # bytes kept of what is too large or too broken to be kept
_TAIL = 16 << 10  # bytes in which a line that opens a graph must fit


@dataclass(frozen=True, slots=True)
class TrigPiece:
    """Whole statements and graphs, as far as their tokens can tell."""

    text: bytes
    start: Place
    inner: int = -1
    """Where in this one graph, in a long string, a line seems to open a graph. If the piece can't be read, then most
    likely because that string was never closed, and reading should go on there."""


@dataclass(frozen=True, slots=True)
class BrokenText:
    """Text that can't be right, up to where reading goes on."""

    text: bytes
    start: Place
    fault: ScanError
    place: Place | None  # of the fault; None: all of the text is too large
    whole: bool  # whether all of it is here: of what is very long only the head is


@dataclass(frozen=True, slots=True)
class TrigItem:
    """A statement or a graph, with the space before it."""

    text: bytes
    start: Place
    brace: int  # where its graph opens; -1: it has none

    @property
    def first_token(self) -> int:
        found = SPACE.match(self.text)
        return found.end() if found else 0

    @property
    def graph_name(self) -> bytes | None:
        """As written, if it begins with a line that opens a graph."""
        found = OPENING.match(self.text[self.first_token :])
        return found[1] if found else None

    def cut(self, position: int) -> tuple[TrigItem, TrigItem]:
        before, rest = self.text[:position], self.text[position:]
        return TrigItem(before, self.start, -1), TrigItem(rest, place_after(self.start, before), self.brace - position)


def trig_items(text: bytes, start: Place, nesting: int) -> Iterator[TrigItem]:
    """The statements and graphs of a piece."""
    outline, begin = Outline(nesting), 0
    while True:
        stop, end = outline.scan(text, begin, final=True)
        if stop is ScanStop.MORE and _SPACE_AT_END.match(text, begin):
            return
        end = len(text) if stop is ScanStop.FAULT else end
        yield TrigItem(text[begin:end], start, outline.opened - begin if stop is ScanStop.GRAPH else -1)
        if end == len(text):
            return
        start = place_after(start, text[begin:end])
        begin = end


def place_after(start: Place, text: bytes) -> Place:
    """The place behind a text that starts at a place.

    >>> print(place_after(Place(3, 5), b"ab"), place_after(Place(3, 5), "a\\nbé".encode()))
    query:3:7 query:4:3
    """
    lines, last = text.count(b"\n"), text.rfind(b"\n") + 1
    column = len(text[last:].decode("utf-8", "replace"))
    return Place(start.line + lines, column + (1 if lines else start.column), start.source)


def next_opening(data: bytes, position: int, *, directives: bool = True, since: int | None = None) -> int:
    """The start of the next line behind `position` that opens a graph, or is a directive for a prefix or base; or -1.

    Lines directly before it, behind `since`, that begin with the graph's name belong to it: they give its time.
    """
    since = position if since is None else since
    found = (_RESUME if directives else OPENING).search(data, position + 1)
    if not found:
        return -1
    start, name = found.start(), found[1]
    while name and start > since + 1:
        before = data.rfind(b"\n", 0, start - 1) + 1
        line = data[before:start].lstrip(b" \t")
        if before <= since or not line.startswith(name) or not line[len(name) :][:1].isspace():
            break
        start = before
    return start


class TrigSplitter:
    """Reads a stream, and holds no more of any long or broken part than the limits allow."""

    def __init__(self, stream: BinaryIO, *, limits: Limits, chunk: int) -> None:
        self._stream = stream
        self._limits = limits
        self._chunk = chunk
        self._large = ScanError(limits.describe_event(), refused=True)
        self._outline = Outline(limits.nesting)
        self._data = b""
        self._at = 0  # what is before it in `_data` was handed out
        self._start = Place(1, 1)  # of what is at `_at`
        self._scanned = 0  # how far the outline has come in `_data`
        self._window = chunk  # how far to look at a time: not far where much of it may have to be read anew
        self._final = False
        self._failure: str | None = None  # why the stream could not be read to its end
        while len(self._data) < len(BOM) and not self._final:
            self._read()
        self._at = self._scanned = len(BOM) if self._data.startswith(BOM) else 0

    def next(self) -> TrigPiece | BrokenText | None:
        """The next part of the document; None at its end."""
        while True:
            stop, done = self._scan()
            if done > self._at:
                return self._piece(done)
            begin = self._first_token()
            if stop is ScanStop.FAULT:
                far = self._scanned - begin > self._limits.event_bytes
                return self._break(begin, self._large if far else self._outline.fault or ScanError(""))
            if self._final:
                return None if self._is_done(begin) else self._break(begin, self._why_it_ends())
            if self._outline.in_comment_between:
                self._drop(begin)
                self._data, self._at, self._scanned = b"#", 0, 1  # what it says does not matter, however long it is
            elif begin == len(self._data):
                self._drop(max(self._at, begin - 1))  # all but the last of however many spaces
            elif len(self._data) - begin > self._limits.event_bytes:
                return self._too_large(begin)
            self._read()

    def resume_inside(self, piece: TrigPiece) -> None:
        """Go on inside the piece that was given out last, at its `inner` line."""
        self._window = _WINDOW
        rest = len(piece.text) - piece.inner
        self._at = self._scanned = self._at - rest
        self._start = place_after(piece.start, piece.text[: piece.inner])
        self._outline.reset()

    def _scan(self) -> tuple[ScanStop, int]:
        """To where the outline stops, and behind the last whole item before that."""
        done, end = self._at, self._at + self._window
        if self._outline.at_start:
            done = whole_items(self._data, self._at, end)
            self._scanned = max(self._scanned, done)
        while done < end:
            stop, self._scanned = self._outline.scan(self._data, self._scanned, final=self._final)
            if stop is ScanStop.MORE or stop is ScanStop.FAULT:
                return stop, done
            done = self._scanned = whole_items(self._data, self._scanned, max(self._scanned, end))
        return ScanStop.STATEMENT, done

    def _piece(self, done: int) -> TrigPiece:
        text = self._data[self._at : done]
        piece = TrigPiece(text, self._start)
        self._window = min(2 * self._window, self._chunk)
        if b'"""' in text or b"'''" in text:
            piece = _up_to_doubtful(piece, self._limits.nesting)
            if len(piece.text) < len(text):
                self._outline.reset()
                self._scanned = self._at + len(piece.text)
                self._window = _WINDOW
        self._drop(self._at + len(piece.text))
        return piece

    def _is_done(self, begin: int) -> bool:
        return self._failure is None and _SPACE_AT_END.match(self._data, begin) is not None

    def _why_it_ends(self) -> ScanError:
        reason, self._failure = self._failure, None
        return ScanError(reason, refused=True) if reason else ScanError("the file ends in the middle of it")

    def _read(self) -> None:
        try:
            block = self._stream.read(self._chunk)
        except READ_FAILURES as error:
            block, self._failure = b"", str(error) or type(error).__name__
        self._final = not block
        self._data = self._data[self._at :] + block
        self._scanned -= self._at
        self._at = 0

    def _drop(self, position: int) -> None:
        self._start = self._place(position)
        self._at = position

    def _restart(self, position: int) -> None:
        self._drop(position)
        self._outline.reset()
        self._scanned = position

    def _place(self, position: int) -> Place:
        return place_after(self._start, self._data[self._at : position])

    def _first_token(self) -> int:
        found = SPACE.match(self._data, self._at)
        return found.end() if found else self._at

    def _break(self, begin: int, fault: ScanError) -> BrokenText:
        """Everything from `begin` up to the next line that opens a graph."""
        start, place = self._place(begin), None if fault is self._large else self._place(self._scanned)
        self._drop(begin)
        resume = next_opening(self._data, begin)
        while resume < 0 and not self._final and len(self._data) - self._at < _HEAD:
            self._read()
            resume = next_opening(self._data, self._at)
        begin = self._at
        if resume < 0 and self._final:
            resume = len(self._data)
        whole = resume >= 0
        text = self._data[begin : resume if whole else begin + _HEAD]
        self._restart(resume if whole else self._seek_opening())
        return BrokenText(text, start, fault, place, whole)

    def _seek_opening(self) -> int:
        """Read on to the next line that opens a graph, and forget what is before it."""
        while not self._final:
            # a byte more than is searched, so that a cut line does not look like a new one
            self._drop(max(self._at, len(self._data) - _TAIL))
            self._read()
            resume = next_opening(self._data, 0)
            if resume >= 0:
                return resume
        return len(self._data)

    def _too_large(self, begin: int) -> BrokenText:
        """Pass over a statement or graph that is too large, holding no more of it than its head."""
        opens = next_opening(self._data, max(begin, self._data.find(b"{", begin)))
        if self._outline.in_long_string or opens >= 0:  # more likely a string that was not closed, here or before
            return self._break(begin, self._large)
        start, text = self._place(begin), self._data[begin : begin + _HEAD]
        passed = 0  # of a long string
        stop = ScanStop.MORE
        while stop is ScanStop.MORE and not self._final and passed <= self._limits.event_bytes:
            self._drop(max(self._at, self._scanned - _TAIL))
            self._read()
            before = self._scanned
            stop, self._scanned = self._outline.scan(self._data, before, final=self._final)
            passed = passed + self._scanned - before if self._outline.in_long_string else 0
        if stop is ScanStop.STATEMENT or stop is ScanStop.GRAPH:
            self._restart(self._scanned)
        else:
            line = self._line_start()
            resume = next_opening(self._data, line, since=self._at)
            if resume < 0:
                self._drop(line)
            self._restart(resume if resume >= 0 else self._seek_opening())
        return BrokenText(text, start, self._large, None, whole=False)

    def _line_start(self) -> int:
        """The line break before what was scanned last, or where the data begins."""
        return max(self._at, self._data.rfind(b"\n", self._at, self._scanned))


def _up_to_doubtful(piece: TrigPiece, nesting: int) -> TrigPiece:
    """The piece up to the first graph that has a line in it which seems to open a graph; or that graph alone."""
    length = 0
    for item in trig_items(piece.text, piece.start, nesting):
        inner = next_opening(item.text, item.brace) if item.brace >= 0 else -1
        if inner >= 0:
            return TrigPiece(piece.text[:length], piece.start) if length else TrigPiece(item.text, item.start, inner)
        length += len(item.text)
    return piece


# Traces N-Quads that were converted from TriG back to the lines of their document.
#
# To trace a piece it is parsed a second time, with a mark before each statement and graph. So it is done only for what
# is asked for: the events that are bad, and those that are known by their place alone.

SHOWN = 4 * BadEvent.LONGEST
"""Bytes that hold as many characters as are shown of a bad event."""


@dataclass(frozen=True, slots=True)
class TrigOrigin:
    """The TriG that a piece of N-Quads was made of, and what was in force there."""

    text: bytes
    start: Place
    prologue: bytes  # the prefixes, on a line of their own
    base: str | None
    nesting: int
    skipped: int = 0  # lines of N-Quads at the beginning that were left out


class ConvertedLines(bytes):
    """Lines of N-Quads, and where they come from."""

    origin: TrigOrigin

    def __new__(cls, quads: bytes, origin: TrigOrigin) -> ConvertedLines:
        made = super().__new__(cls, quads)
        made.origin = origin
        return made

    def cut(self, begin: int, end: int) -> ConvertedLines:
        """The lines between two positions."""
        skipped = self.origin.skipped + self[:begin].count(b"\n")
        return ConvertedLines(self[begin:end], replace(self.origin, skipped=skipped))


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement or a graph of a document, without the space before it."""

    begin: int  # in the piece's text
    end: int
    place: Place


@dataclass(slots=True)
class _Traced:
    """The statements and graphs of a piece, and the first of the lines that each became."""

    parts: list[_Statement]
    lines: list[int]

    def part(self, line: int) -> _Statement:
        return self.parts[bisect_right(self.lines, line) - 1]


def _trace(origin: TrigOrigin) -> _Traced:
    parts = list(_parts(origin))
    mark = f" <{uuid4().urn}>".encode() * 3 + b" .\n"
    marked, position = [origin.prologue], 0
    for part in parts:
        marked += [origin.text[position : part.begin], mark]
        position = part.begin
    marked.append(origin.text[position:])
    try:
        parser = ox.parse(b"".join(marked), ox.RdfFormat.TRIG, base_iri=origin.base)
        quads = ox.serialize(parser, format=ox.RdfFormat.N_QUADS) or b""
    except (SyntaxError, MemoryError):
        quads = b""
    before, *found = quads.split(mark[1:])
    if before or not found or len(found) != len(parts):  # its tokens misled us: then all of it is one
        return _Traced([_Statement(0, len(origin.text), origin.start)], [0])
    lines = [0]
    for lines_of_part in found[:-1]:
        lines.append(lines[-1] + lines_of_part.count(b"\n"))
    return _Traced(parts, lines)


def _parts(origin: TrigOrigin) -> Iterator[_Statement]:
    position = 0
    for item in trig_items(origin.text, origin.start, origin.nesting):
        first = item.first_token
        if item.brace == first:  # the default graph's block: each of its statements for itself
            inner = item.text[first + 1 : -1]
            at = position + first + 1
            for statement in trig_items(inner, place_after(item.start, item.text[: first + 1]), origin.nesting):
                yield _part(statement, at)
                at += len(statement.text)
        else:
            yield _part(item, position)
        position += len(item.text)


def _part(item: TrigItem, position: int) -> _Statement:
    space = item.first_token
    return _Statement(position + space, position + len(item.text), place_after(item.start, item.text[:space]))


@dataclass(slots=True)
class _Held:
    """A piece of which lines may still be asked for: the first of them, and the first that is another piece's."""

    origin: TrigOrigin
    first: int
    end: int
    inside: bool = False  # an event that began before it has all of its lines, and only its head is kept
    traced: _Traced | None = None

    def part(self, line: int) -> _Statement:
        self.traced = self.traced or _trace(self.origin)
        return self.traced.part(line - self.first + self.origin.skipped)


@dataclass(slots=True)
class LineOrigins:
    """The places that the current lines come from. Lines are counted from 1, through all pieces."""

    _held: list[_Held] = field(default_factory=list)
    _named: int = 0  # the line of the document that gave an event its name last

    def add(self, piece: ConvertedLines, first: int) -> None:
        """A piece whose first line is number `first`."""
        self._held.append(_Held(piece.origin, first, first + piece.count(b"\n")))

    def place(self, line: int) -> Place:
        """The place where the statement or graph of a line begins."""
        return self._of(line).part(line).place

    def name(self, line: int) -> str:
        """A name for the event that begins with a line: its line in the document, and for a second one there its column
        too. Events are named in their order."""
        place = self.place(line)
        if place.line == self._named:
            return f"{place.line}:{place.column}"
        self._named = place.line
        return str(place.line)

    def text(self, first: int, last: int) -> str:
        """The document's own text for some lines, as much as is shown."""
        shown = b""
        for held in self._held:
            if held.end > first and held.first <= last and len(shown) < SHOWN:
                begin = held.part(first).begin if held.first <= first else 0
                end = len(held.origin.text) if held.inside or held.end <= last else held.part(last).end
                shown += held.origin.text[begin : min(end, begin + SHOWN)]
        return shown.decode("utf-8", "replace")

    def forget(self, before: int) -> None:
        """No line before this one will be asked for, and all from here on are one event's. So of all pieces but the
        first no more is kept than is shown."""
        kept = [held for held in self._held if held.end > before]
        self._held = kept[:1]
        missing = SHOWN
        for held in kept[1:]:
            if missing > 0:
                text = held.origin.text[:missing]
                missing -= len(text)
                self._held.append(replace(held, origin=replace(held.origin, text=text, prologue=b""), inside=True))

    def _of(self, line: int) -> _Held:
        return next(held for held in reversed(self._held) if held.first <= line)
