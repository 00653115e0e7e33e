"""Refuses input that the RDF parser must not get: RDF 1.2, and nesting deep enough to overflow its stack."""

from __future__ import annotations

import io
import re
from typing import BinaryIO, Protocol

from thence.errors import LimitError, Place, RdfError
from thence.rdf.formats import Format
from thence.rdf.limits import Limits, size
from thence.rdf.turtle_outline import Outline, ScanStop

_BLOCK = 1 << 16
_LONGEST_WORD = 1 << 20
_DELIMITER = re.compile(rb"[\s<>\"'{}()\[\];,#]")
BOM = b"\xef\xbb\xbf"


class DocumentCheck(Protocol):
    """A check of a document that comes in blocks."""

    def feed(self, block: bytes) -> None:
        """Raise an error at what must not be passed on."""


class _Guarded(io.RawIOBase):
    """A binary stream whose every block is checked before it is handed on."""

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
    """The stream with the check that its format needs, without its byte order mark."""
    check: DocumentCheck = JsonNesting(limits) if format is Format.JSON_LD else _Syntax(limits, source)
    return io.BufferedReader(_Guarded(stream, check), _BLOCK)


def is_tame(data: bytes, format: Format, limits: Limits) -> bool:
    """Whether a document surely holds nothing that a check would refuse: so most of them need no check."""
    if data.startswith(BOM):
        return False
    brackets = data.count(b"[") + data.count(b"{") + data.count(b"(")
    if format is Format.JSON_LD:
        return brackets <= limits.nesting
    return brackets <= limits.nesting and b"<<" not in data and b"~" not in data and b"{|" not in data


class _Syntax:
    """For the formats of Turtle's family."""

    def __init__(self, limits: Limits, source: str) -> None:
        self._outline = Outline(limits.nesting, statements=False)
        self._source = source
        self._rest = b""
        self._lines = 0  # before `_rest`
        self._column = 0  # characters of `_rest`'s line before it
        self._place: Place | None = None  # of the fault, if there is one
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
        # The parser stops at a fault, and its reason is the better one; but what is dangerous must not rely on that.
        if fault.refused or b"<<" in data[position:]:
            raise RdfError(fault.reason, place=self._place)
        self._rest = data[-1:]

    def _check_word(self, block: bytes) -> None:
        """A name without end: the parser begins it again with every block."""
        self._word = 0 if self._outline.in_token or _DELIMITER.search(block) else self._word + len(block)
        if self._word > _LONGEST_WORD:
            raise LimitError(f"a name longer than {size(_LONGEST_WORD)}")

    def _pass(self, text: bytes) -> None:
        lines, last = text.count(b"\n"), text.rfind(b"\n") + 1
        here = len(text[last:].decode("utf-8", "replace"))
        self._column = here if lines else self._column + here
        self._lines += lines


class JsonNesting:
    """For JSON: arrays and objects no deeper than the limit.

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
