"""Every exception a user can meet.

ThenceError
├── QueryError      the query can't be read, or means nothing
├── RdfError        a document is no RDF, or RDF that we refuse
├── InputError      a file, a stream's name or an option is wrong
└── LimitError      something is larger or deeper than the limits allow
"""

from __future__ import annotations

from dataclasses import dataclass


class ThenceError(Exception):
    """The base of all errors that Thence raises on purpose: one sentence with place, reason and cure."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text: `source:line:column`, both counted from 1."""

    line: int
    column: int
    source: str = "query"

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


class QueryError(ThenceError):
    """A query that can't be read or means nothing.

    >>> place = Place(7, 12, "traffic.spaseq")
    >>> print(QueryError('WITHIN needs a duration, found "ten".', place=place, hint="WITHIN 10 MINUTES"))
    traffic.spaseq:7:12: WITHIN needs a duration, found "ten". Try: WITHIN 10 MINUTES
    """

    def __init__(self, reason: str, *, place: Place | None = None, line: str = "", hint: str = "") -> None:
        self.reason = reason
        self.place = place
        self.line = line  # the line of the query's text, for `caret`
        self.hint = hint
        super().__init__(reason)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        cure = f" Try: {self.hint}" if self.hint else ""
        return f"{where}{self.reason}{cure}"

    @property
    def caret(self) -> str:
        """The faulty line with a caret below the faulty column, or nothing."""
        if not self.place or not self.line:
            return ""
        before = "".join("\t" if c == "\t" else " " for c in self.line[: self.place.column - 1])
        return f"{self.line}\n{before}^"


class RdfError(ThenceError):
    """A document that is no RDF, or RDF that we refuse (what RDF 1.2 adds, a remote context).

    >>> print(RdfError("Invalid IRI code point ' '", place=Place(2, 12, "power.nq")))
    power.nq:2:12: Invalid IRI code point ' '
    """

    def __init__(self, reason: str, *, place: Place | None = None) -> None:
        self.reason = reason
        self.place = place
        super().__init__(reason)

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.place else self.reason

    @property
    def line(self) -> int | None:
        return self.place.line if self.place else None

    @property
    def column(self) -> int | None:
        return self.place.column if self.place else None


class InputError(ThenceError):
    """A missing file, an unknown stream name, a wrong option."""


class LimitError(ThenceError):
    """Something is larger or deeper than the limits allow; the message names the limit."""
