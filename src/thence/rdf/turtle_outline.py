"""The outline of a Turtle or TriG document: the ends of its statements and graphs, found by tokens without parsing.

It has two uses. A TriG stream is cut into whole graphs, so that a bad graph does not spoil the next one; and a document
is checked for deep nesting, which would exhaust the parser's stack. N-Triples and N-Quads have the same tokens. Every
pattern is possessive, so time is linear, whatever the input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

RDF_12 = "RDF 1.2 is not supported: write RDF 1.1, without triple terms and reifiers"

_IRI = rb"(?:[^\x00-\x20<>\"{}|^`\\]++|\\[uU])*+"
_TOKENS = (
    rb"<" + _IRI + rb">",
    rb"\"(?:[^\"\\\r\n]++|\\[^\r\n])++\"",
    rb"\"\"(?=[^\"])",
    rb"'(?:[^'\\\r\n]++|\\[^\r\n])++'",
    rb"''(?=[^'])",
    rb"#[^\r\n]*+[\r\n]",
    rb"\\[^\r\n]",  # in a local name: ex:it\'s
)
_IN_NAME = rb"\.++(?=[^\s<>\"'#\[\](){}~;,.])"  # a dot in a name or a number: more of it follows
_INSIDE = (rb"[^<\"'#\[\](){}\\~]++", *_TOKENS)
_OUTSIDE = (rb"[^<\"'#\[\](){}\\~.]++", *_TOKENS, _IN_NAME)  # where a dot ends a statement


def _some(*choices: bytes) -> bytes:
    return rb"(?:" + b"|".join(choices) + rb")*+"


def _brackets(inner: bytes) -> tuple[bytes, bytes]:
    return rb"\[" + inner + rb"\]", rb"\(" + inner + rb"\)"


_NESTED = re.compile(_some(*_INSIDE))
_TOP = re.compile(_some(*_OUTSIDE))
_ONE_DEEP = _some(*_INSIDE, *_brackets(_some(*_INSIDE)))
_TWO_DEEP = _some(*_INSIDE, *_brackets(_ONE_DEEP))
_STATEMENT = _some(*_OUTSIDE, *_brackets(_TWO_DEEP))
_GRAPH = rb"\{(?!\|)" + _some(*_INSIDE, *_brackets(_TWO_DEEP)) + rb"\}"
_SPACE = rb"(?:\s++|#[^\r\n]*+[\r\n])*+"
_SPARQL_DIRECTIVE = rb"(?i:prefix\s++[^\s<>\"'{}]*+\s*+|base\s*+)<" + _IRI + rb">"  # which ends without a dot
_WHOLE = re.compile(_some(_SPACE + _SPARQL_DIRECTIVE, _STATEMENT + rb"(?:\.(?=[\s<])|" + _GRAPH + rb")"))
SPACE = re.compile(_SPACE)
_DIRECTIVE = re.compile(_SPARQL_DIRECTIVE)
_DIRECTIVE_WORD = re.compile(rb"(?i:prefix|base)(?=[\s<])")
_LONGEST_DIRECTIVE = 16 << 10
_MOST_DOTS = 100  # in a row, in a name

_CLOSER = {ord("["): ord("]"), ord("("): ord(")"), ord("{"): ord("}")}


def whole_items(data: bytes, position: int, end: int) -> int:
    """The end of the last statement or graph in a row that begins here, as far as a quick scan can decide.

    The rest (brackets more than three deep, errors, incomplete text) is left to an `Outline`.
    """
    found = _WHOLE.match(data, position, end)
    return found.end() if found else position


class ScanStop(Enum):
    """The reason why the scan of a buffer stopped."""

    MORE = "the buffer's end"
    STATEMENT = "the end of a statement or directive at the top level"
    GRAPH = "the end of a graph's block"
    FAULT = "what can't be right: `Outline.fault` says why"


@dataclass(frozen=True, slots=True)
class ScanError:
    reason: str
    refused: bool = False
    """Whether the parser must not read it. If it may, the parser's reason is the better one."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A token that is longer than the buffer: how it continues, and how it ends."""

    body: re.Pattern[bytes]
    end: bytes
    name: str


_SHORT = {
    quote: _Token(re.compile(rb"(?:[^" + quote + rb"\\\r\n]++|\\[^\r\n])*+"), quote, "string") for quote in (b'"', b"'")
}
_LONG = {
    quote: _Token(
        re.compile(rb"(?:[^" + quote + rb"\\]++|\\.|" + quote + rb"{1,2}(?=[^" + quote + rb"]))*+", re.DOTALL),
        quote * 3,
        "long string",
    )
    for quote in (b'"', b"'")
}
_OPEN_IRI = _Token(re.compile(_IRI), b">", "IRI")
_COMMENT = _Token(re.compile(rb"[^\r\n]*+"), b"", "comment")


@dataclass(slots=True)
class Outline:
    """A scan that continues from buffer to buffer. The unscanned rest must be at the start of the next buffer.

    >>> outline, text = Outline(nesting=200), b"@prefix : <http://a.b/> . :g { :s :p '}' . } :g :time 1.5 ."
    >>> position = 0
    >>> while position < len(text):
    ...     stop, position = outline.scan(text, position, final=True)
    ...     print(stop.name, position)
    STATEMENT 25
    GRAPH 44
    STATEMENT 59
    """

    nesting: int
    statements: bool = True  # whether to stop after each statement and directive
    fault: ScanError | None = None
    opened: int = -1  # the position of the last graph's brace in its buffer
    _closers: bytearray = field(default_factory=bytearray)
    _inside: _Token | None = None
    _begun: bool = False  # whether the statement's first token was seen

    @property
    def at_start(self) -> bool:
        """Whether the scan is before a statement: neither a token of it nor a comment before it was read."""
        return not (self._begun or self._inside or self._closers)

    @property
    def in_comment_between(self) -> bool:
        """Whether the scan is in a comment between statements."""
        return self._inside is _COMMENT and not self._begun and not self._closers

    @property
    def in_token(self) -> bool:
        """Whether the scan is in a string, an IRI or a comment."""
        return self._inside is not None

    @property
    def in_long_string(self) -> bool:
        return self._inside is not None and self._inside.name == "long string"

    def reset(self) -> None:
        """Start again at the top level."""
        self.fault, self._inside, self._begun = None, None, False
        self._closers.clear()

    def scan(self, data: bytes, position: int, *, final: bool) -> tuple[ScanStop, int]:
        """Scans from `position` to the next stop and returns its place: after the end of an item, or at an error."""
        while not self.fault:
            if self._inside is not None:
                stop, position = self._finish(self._inside, data, position, final)
                if stop is not None:
                    return stop, position
            if self.statements and not self._begun:
                stop, position = self._begin(data, position, final)
                if stop is not None:
                    return stop, position
            run = _TOP if self.statements and not self._closers else _NESTED
            found = run.match(data, position)
            position = found.end() if found else position
            if position == len(data):
                return ScanStop.MORE, position
            stop, position = self._step(data, position, final)
            if stop is not None:
                return stop, position
        return ScanStop.FAULT, position

    def _begin(self, data: bytes, position: int, final: bool) -> tuple[ScanStop | None, int]:
        """Skips space and comments. A directive of SPARQL's kind ends without a dot."""
        space = SPACE.match(data, position)
        position = space.end() if space else position
        if position == len(data):
            return ScanStop.MORE, position
        if data.startswith(b"#", position):
            self._inside = _COMMENT
            return None, position
        if _DIRECTIVE_WORD.match(data, position):
            directive = _DIRECTIVE.match(data, position)
            if directive:
                return ScanStop.STATEMENT, directive.end()
            if not final and len(data) - position < _LONGEST_DIRECTIVE:
                return ScanStop.MORE, position
        elif not final and len(data) - position < 8:
            return ScanStop.MORE, position
        self._begun = True
        return None, position

    def _step(self, data: bytes, position: int, final: bool) -> tuple[ScanStop | None, int]:
        """Reads one token that the patterns leave: a bracket, a dot that ends a statement, or the start of a long
        token."""
        byte = data[position : position + 1]
        two = data[position : position + 2]
        match byte:
            case b"[" | b"(" | b"{":
                return self._open(data, position, final)
            case b"]" | b")" | b"}":
                return self._close(byte[0], position)
            case b".":
                return self._dot(data, position, final)
            case b"#":
                self._inside = _COMMENT
                return None, position
            case _ if len(two) < 2 and not final:
                return ScanStop.MORE, position
            case b"<" if two == b"<<":
                return self._fail(RDF_12, position, refused=True)
            case b"<":
                self._inside = _OPEN_IRI
                return None, position + 1
            case b'"' | b"'":
                return self._quote(byte, data, position, final)
            case b"~":
                return self._fail(RDF_12, position, refused=True)
            case _:
                return self._fail("a backslash that escapes nothing", position)

    def _open(self, data: bytes, position: int, final: bool) -> tuple[ScanStop | None, int]:
        byte = data[position]
        if byte == ord("{"):
            if len(data) == position + 1 and not final:
                return ScanStop.MORE, position
            if data.startswith(b"{|", position):
                return self._fail(RDF_12, position, refused=True)
            if self._closers:
                return self._fail("a brace inside a graph or a bracket: is one before it not closed?", position)
            self.opened = position
        self._closers.append(_CLOSER[byte])
        if len(self._closers) > self.nesting:
            return self._fail(f"brackets nested more than {self.nesting} deep", position, refused=True)
        return None, position + 1

    def _close(self, byte: int, position: int) -> tuple[ScanStop | None, int]:
        if not self._closers or self._closers[-1] != byte:
            return self._fail(f"{chr(byte)} closes nothing", position)
        self._closers.pop()
        if byte == ord("}"):
            self._begun = False
            return ScanStop.GRAPH, position + 1
        return None, position + 1

    def _dot(self, data: bytes, position: int, final: bool) -> tuple[ScanStop | None, int]:
        if position + 1 == len(data) and not final:
            return ScanStop.MORE, position
        if data.startswith(b"..", position):
            if not final and len(data) - position < _MOST_DOTS and not data[position:].strip(b"."):
                return ScanStop.MORE, position  # a name may continue after them
            return self._fail("two dots", position)
        self._begun = False
        return ScanStop.STATEMENT, position + 1

    def _quote(self, quote: bytes, data: bytes, position: int, final: bool) -> tuple[ScanStop | None, int]:
        if data.startswith(quote * 3, position):
            self._inside = _LONG[quote]
            return None, position + 3
        if len(data) - position < 3 and not final:
            return ScanStop.MORE, position
        self._inside = _SHORT[quote]
        return None, position + 1

    def _finish(self, token: _Token, data: bytes, position: int, final: bool) -> tuple[ScanStop | None, int]:
        """Finds the end of the current token."""
        body = token.body.match(data, position)
        position = body.end() if body else position
        if data.startswith(token.end, position) and (token.end or position < len(data) or final):
            self._inside = None
            return None, position + len(token.end)
        # text here that may still continue: nothing, a backslash, one or two of three quotes
        if not final and len(data) - position < max(2, len(token.end)):
            return ScanStop.MORE, position
        reason = "an IRI with a character that no IRI has" if token is _OPEN_IRI else f"a {token.name} without end"
        return self._fail(reason, position)

    def _fail(self, reason: str, position: int, *, refused: bool = False) -> tuple[ScanStop, int]:
        self.fault = ScanError(reason, refused)
        return ScanStop.FAULT, position
