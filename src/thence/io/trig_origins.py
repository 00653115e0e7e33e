"""Traces N-Quads that were converted from TriG back to the lines of their document.

To trace a piece it is parsed a second time, with a mark before each statement and graph. So it is done only for what is
asked for: the events that are bad, and those that are known by their place alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from uuid import uuid4

import pyoxigraph as ox

from thence.errors import Place
from thence.io.trig_splitter import TrigItem, place_after, trig_items
from thence.rdf.events import BadEvent

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
    """Where the lines at hand come from. Lines are counted from 1, through all pieces."""

    _held: list[_Held] = field(default_factory=list)
    _named: int = 0  # the line of the document that gave an event its name last

    def add(self, piece: ConvertedLines, first: int) -> None:
        """A piece whose first line is number `first`."""
        self._held.append(_Held(piece.origin, first, first + piece.count(b"\n")))

    def place(self, line: int) -> Place:
        """Where the statement or graph begins that a line was made of."""
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
