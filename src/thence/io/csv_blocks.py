"""A CSV file in blocks of whole records that Arrow can parse; a record that it could not parse is a bad event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from thence.io.csv_records import find_records
from thence.io.gunzip import READ_FAILURES
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits, size
from thence.rdf.parser_guard import BOM

_BLOCK = 1 << 20
_SHOWN = 4 * BadEvent.LONGEST  # bytes that hold as many characters
_UNCLOSED = "a quote that nothing closes"
_LINE_END = re.compile(rb"\n|\r\n?")


@dataclass(frozen=True, slots=True, eq=False)
class CsvBlock:
    """Records of one length, as text that is UTF-8, and the line on which each begins."""

    text: bytes
    lines: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that can't be parsed: its line, the reason, and its text."""

    line: int
    reason: str
    text: str = ""


@dataclass(slots=True)
class CsvBlocks:
    """Reads a file: the first record, then the others. A stream that fails ends in a flaw with the reason.

    A record that is too long, or that a quote leaves without end, costs the line on which it begins: reading goes on at
    the next, because what follows a stray quote may be good.
    """

    stream: BinaryIO
    limits: Limits
    cells: int = 0  # of the first record, and so of all
    failure: str = ""  # why the stream could not be read to its end
    _torn: bytes = b""  # the line at which it failed
    _line: int = 1
    _rest: bytes = b""
    _ended: bool = False

    def header(self) -> bytes | None:
        """The first record, where there is one."""
        while len(self._rest) < len(BOM) and not self._ended:
            self._read()
        self._rest = self._rest.removeprefix(BOM)
        while True:
            records, _, _ = find_records(np.frombuffer(self._rest, np.uint8), final=self._ended)
            if len(records) and records[0, 1] <= self.limits.event_bytes:
                start, stop, line, self.cells = records[0].tolist()
                first = self._rest[start:stop]
                end = 2 if self._rest[stop : stop + 2] == b"\r\n" else 1
                self._rest = self._rest[stop + end :]
                self._line += line + first.count(b"\n") + 1
                return first
            if self._ended or self._too_long():
                return None
            self._read()

    def __iter__(self) -> Iterator[CsvBlock | BadRecord]:
        while True:
            data = self._rest
            records, taken, lines = find_records(np.frombuffer(data, np.uint8), final=self._ended)
            too_long = np.flatnonzero(records[:, 1] - records[:, 0] > self.limits.event_bytes)
            if len(too_long):
                taken, _, lines, _ = records[too_long[0]].tolist()
                records = records[: too_long[0]]
            if len(records):
                yield from self._judged(data, records)
            self._line += lines
            self._rest = data[taken:]
            if self._rest and (self._ended or self._too_long()):
                yield self._skipped()
            elif not self._ended:
                self._read()
            elif not self._rest:
                break
        if self.failure:
            yield BadRecord(self._line, self.failure, self._torn[:_SHOWN].decode("utf-8", "replace"))

    def _read(self) -> None:
        """Read a block more. Of a stream that fails then, the last line is torn."""
        try:
            block = self.stream.read(_BLOCK)
        except READ_FAILURES as error:
            whole = max(self._rest.rfind(b"\n"), self._rest.rfind(b"\r")) + 1
            self._rest, self._torn = self._rest[:whole], self._rest[whole:]
            self.failure, block = str(error) or type(error).__name__, b""
        self._ended = not block
        self._rest += block

    def _too_long(self) -> bool:
        """Whether the record is too long that begins what is not yet read; a line end is no part of it."""
        return len(self._rest) - self._rest.endswith(b"\r") > self.limits.event_bytes

    def _skipped(self) -> BadRecord:
        """Leave out the line on which a record begins that does not end, or is too long."""
        reason = f"a record longer than {size(self.limits.event_bytes)}" if self._too_long() else _UNCLOSED
        shown = b""
        while True:
            found = _LINE_END.search(self._rest)
            stop, behind = found.span() if found else (len(self._rest), len(self._rest))
            if self._ended or (found and (behind < len(self._rest) or found[0] != b"\r")):
                break
            shown = (shown + self._rest[:stop])[:_SHOWN]
            self._rest = self._rest[stop:]
            self._read()
        shown = (shown + self._rest[:stop])[:_SHOWN]
        self._rest = self._rest[behind:]
        self._line += 1
        return BadRecord(self._line - 1, reason, shown.decode("utf-8", "replace"))

    def _judged(self, data: bytes, records: NDArray[np.int64]) -> Iterator[CsvBlock | BadRecord]:
        flaws = [
            self._flaw(data, row, self._wrong_length(row[3])) for row in records[records[:, 3] != self.cells].tolist()
        ]
        good = records[records[:, 3] == self.cells]
        if not _is_utf8(data):
            wrong = np.array([not _is_utf8(data[start:stop]) for start, stop, _, _ in good.tolist()], np.bool_)
            flaws += [self._flaw(data, row, "no UTF-8") for row in good[wrong].tolist()]
            good = good[~wrong]
        if len(good):
            whole = len(good) == len(records)
            text = data[: int(records[-1, 1])] if whole else b"\n".join(data[a:b] for a, b in good[:, :2].tolist())
            yield CsvBlock(text, self._line + good[:, 2])
        yield from sorted(flaws, key=lambda flaw: flaw.line)

    def _wrong_length(self, cells: int) -> str:
        return f"{cells:,} cells, where the first line has {self.cells:,}"

    def _flaw(self, data: bytes, record: list[int], reason: str) -> BadRecord:
        start, stop, line, _ = record
        return BadRecord(self._line + line, reason, data[start : min(stop, start + _SHOWN)].decode("utf-8", "replace"))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
