"""N-Quads event files as columns: chunks of lines → quads (`nquads_lines`) → events (`event_grouping`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

import numpy as np

from thence.columns.batches import EventBatch
from thence.io.event_grouping import Skipped, group_events
from thence.io.gunzip import READ_FAILURES
from thence.io.nquads_lines import GRAPH_WITHIN, scan_quads
from thence.io.trig_splitter import ConvertedLines, LineOrigins
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits, size

CHUNK = 2 << 20
"""Bytes scanned at a time: large enough to make Python's share small, small enough to stay near the caches."""

_HEAD = 200
"""Bytes kept of the beginning of a line that is too long."""


def read_nquads(
    source: BinaryIO, *, stream: str = "stream", limits: Limits | None = None, chunk: int = CHUNK, first_line: int = 1
) -> Iterator[EventBatch | BadEvent]:
    """The events of an N-Quads file, in batches, with what could not be read between them; constant memory.
    `first_line` is the number of its first line, if it is a part of a file."""
    limits = limits or Limits()
    pieces = _pieces(source, chunk, limits.event_bytes)
    yield from events_of(pieces, stream=stream, limits=limits, first_line=first_line)


def events_of(
    pieces: Iterable[bytes | BadEvent], *, stream: str, limits: Limits, first_line: int = 1
) -> Iterator[EventBatch | BadEvent]:
    """The events in some pieces of N-Quads, each of whole lines; earlier bad events pass through. `ConvertedLines` come
    from another syntax and replace the file's own lines."""
    rest = b""
    origins: LineOrigins | None = None
    skipping: Skipped | None = None
    too_long: set[int] = set()  # lines that were cut short
    gaps: set[int] = set()  # lines before which something stood that can't be read
    for piece in chain(pieces, [b""]):
        if isinstance(piece, BadEvent):
            gaps.add(first_line + rest.count(b"\n"))
            yield piece
            continue
        if isinstance(piece, ConvertedLines):
            origins = origins or LineOrigins()
            origins.add(piece, first_line + rest.count(b"\n"))
        if isinstance(piece, _CutLine):
            too_long.add(first_line + rest.count(b"\n"))
        data = rest + piece
        refused = {line - first_line: f"a line longer than {size(limits.event_bytes)}" for line in too_long}
        grouped = group_events(
            scan_quads(data, refused=refused),
            data,
            stream=stream,
            limits=limits,
            first_line=first_line,
            last=not piece,
            skipping=skipping,
            gaps=gaps,
            torn=piece.reason if isinstance(piece, _Torn) else None,
            origins=origins,
        )
        if len(grouped.batch):
            yield grouped.batch
        yield from grouped.bad
        skipping = grouped.skipping
        rest = data[grouped.rest :]
        first_line += grouped.lines
        if origins:
            origins.forget(first_line)
        too_long = {line for line in too_long if line >= first_line}
        gaps = {line for line in gaps if line >= first_line} | ({first_line} if grouped.gap else set())


class _Torn(bytes):
    """No more lines, and why."""

    reason: str

    def __new__(cls, reason: str) -> _Torn:
        torn = super().__new__(cls)
        torn.reason = reason
        return torn


class _CutLine(bytes):
    """The kept part of a line that is too long: its beginning, and its end, which names the graph."""

    @classmethod
    def of(cls, head: bytes, tail: bytes) -> _CutLine:
        return cls(head + b" ... " + tail + b"\n")


def _pieces(source: BinaryIO, chunk: int, longest: int) -> Iterator[bytes]:
    """Whole lines, some `chunk` bytes at a time; a line that is too long is cut short. Where the source breaks off (a
    damaged archive, a bomb, a lost disk), the current event is torn, and there is no more."""
    try:
        yield from _whole_lines(source, chunk, longest)
    except READ_FAILURES as error:
        yield _Torn(str(error) or type(error).__name__)


def _whole_lines(source: BinaryIO, chunk: int, longest: int) -> Iterator[bytes]:
    head = b""  # of the line that goes on in the next block
    tail: bytes | None = None  # the last bytes of that line, if it is too long
    for block in _blocks(source, chunk):
        if tail is not None:
            line, newline, block = block.partition(b"\n")
            tail = (tail + line)[-GRAPH_WITHIN:]
            if not newline:
                continue
            yield _CutLine.of(head, tail)
            head, tail = b"", None
        data = head + block
        end = data.rfind(b"\n") + 1
        if end:
            yield from _with_long_lines_cut(data[:end], longest)
            data = data[end:]
        head = data
        if len(data) > longest:
            head, tail = data[:_HEAD], data[-GRAPH_WITHIN:]
    if tail is not None:
        yield _CutLine.of(head, tail)
    elif head:
        yield head + b"\n"


def _with_long_lines_cut(data: bytes, longest: int) -> Iterator[bytes]:
    """Whole lines; those that are too long are cut short, each a piece of its own."""
    begin = 0
    if len(data) > longest:
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        starts = np.concatenate([[0], ends[:-1] + 1])
        for line in np.flatnonzero(ends - starts > longest).tolist():
            start, end = int(starts[line]), int(ends[line])
            if begin < start:
                yield data[begin:start]
            yield _CutLine.of(data[start : start + _HEAD], data[max(start, end - GRAPH_WITHIN) : end])
            begin = end + 1
    if begin < len(data):
        yield data[begin:]


def _blocks(source: BinaryIO, chunk: int) -> Iterator[bytes]:
    """The source in blocks of a size, though it may give less at a time: an archive gives what it has unpacked, and an
    event in many small pieces would be scanned again for each."""
    parts: list[bytes] = []
    missing = chunk
    try:
        while part := source.read(missing):
            parts.append(part)
            missing -= len(part)
            if missing <= 0:
                yield b"".join(parts)
                parts, missing = [], chunk
    except READ_FAILURES:
        yield b"".join(parts)  # what came before counts
        raise
    yield b"".join(parts)
