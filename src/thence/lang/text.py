"""A query's text: its codepoint escapes (SPARQL 1.1, 19.2), and where in it a thing stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from thence.errors import Place, QueryError

LENGTH = 1024 * 1024
"""The most characters a query may have."""

# A pair of backslashes is one escaped backslash, so in "\\u0041" there is no codepoint escape.
_ESCAPE = re.compile(r"\\(?:\\|u(?P<short>[0-9A-Fa-f]{4})|U(?P<long>[0-9A-Fa-f]{8}))")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Text:
    """What the parser reads (`read`, escapes resolved) and what the user wrote (`written`)."""

    read: str
    written: str
    source: str
    _moved: tuple[tuple[int, int], ...]  # from this offset in `read` on, `written` is so much ahead

    def error(self, reason: str, offset: int, *, hint: str = "") -> QueryError:
        """An error at an offset of `read`."""
        at = self._offset(offset)
        breaks = [0, *(found.end() for found in _BREAK.finditer(self.written, 0, at))]
        end = _BREAK.search(self.written, at)
        line = self.written[breaks[-1] : end.start() if end else None]
        place = Place(len(breaks), at - breaks[-1] + 1, self.source)
        return QueryError(reason, place=place, line=_SURROGATE.sub("\ufffd", line), hint=hint)

    def place(self, offset: int) -> Place:
        """The line and column of an offset of `read`."""
        place = self.error("", offset).place
        assert place is not None
        return place

    def _offset(self, offset: int) -> int:
        found = bisect_right(self._moved, (offset, len(self.written))) - 1
        return offset + self._moved[found][1] if found >= 0 else offset


def text(written: str, source: str) -> Text:
    r"""A query's text, ready to be parsed.

    >>> text(r'SELECT ?caf\u00e9 { ?s ?p "\\u00e9" }', "query").read
    'SELECT ?café { ?s ?p "\\\\u00e9" }'
    """
    if len(written) > LENGTH:
        raise QueryError(f"{source} has {len(written):,} characters; a query may have {LENGTH:,}.")
    pieces: list[str] = []
    moved: list[tuple[int, int]] = []
    done = length = 0
    if written.startswith("\ufeff"):  # some editors put a byte order mark first
        done, moved = 1, [(0, 1)]
    for found in _ESCAPE.finditer(written, done):
        digits = found["short"] or found["long"]
        if digits is None:
            continue
        character = _character(int(digits, 16), Text(written, written, source, ()), found.start())
        pieces += [written[done : found.start()], character]
        length += found.start() - done + 1
        done = found.end()
        moved.append((length, done - length))
    whole = Text("".join((*pieces, written[done:])), written, source, tuple(moved))
    if bad := _SURROGATE.search(whole.read):
        raise whole.error("Half a surrogate pair is no character.", bad.start())
    return whole


def _character(number: int, written: Text, offset: int) -> str:
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise written.error(f"U+{number:04X} is no character.", offset)
    return chr(number)
