"""Exceptions for users, and the hints that end their messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

# Every exception a user can meet.
#
# ThenceError
# ├── QueryError      the query can't be read, or means nothing
# ├── RdfError        a document is not RDF, or RDF that we refuse
# ├── InputError      a file, a stream's name or an option is wrong
# │   └── AllBadError all events of a stream are bad
# └── LimitError      something is larger or deeper than the limits allow


class ThenceError(Exception):
    """The base of all errors that Thence raises on purpose: one sentence with place, reason and cure."""


class ThenceWarning(UserWarning):
    """A likely mistake in a legal query, found while it runs."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text: `source:line:column`, both counted from 1."""

    line: int
    column: int
    source: str = "query"

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


class QueryError(ThenceError):
    """A query with wrong syntax or without a meaning.

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
    """A document that is not RDF, or RDF that we refuse (what RDF 1.2 adds, a remote context).

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


class AllBadError(InputError):
    """All events of a stream of finite input are bad: found while it is read."""


class LimitError(ThenceError):
    """A limit was exceeded; the message names it."""


# Libraries that only some of Thence needs.


@contextmanager
def needs_library(what: str, *names: str, install: str) -> Iterator[None]:
    """Inside, a library that is not installed is an InputError with the command that installs it.

    >>> with needs_library("to_frame()", "no_such_library", install="no-such-library"):
    ...     import no_such_library
    Traceback (most recent call last):
    thence.errors.InputError: to_frame() needs no_such_library, which is not installed. Try: pip install no-such-library
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = next((name for name in names if error.name in (name, name.partition(".")[0])), None)
        if missing is None:
            raise
        raise InputError(f"{what} needs {missing}, which is not installed. Try: pip install {install}") from None


# Hints for error messages: the closest known name, a list of choices.

_MANY = 1000  # names among which a close one is sought, and
_LONG = 60  # their length: comparing takes time


def closest(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, or an empty text. Case differences count little.

    >>> closest("prize", ["volume", "price"]), closest("s1", ["S1", "S2"]), closest("house", ["volume"])
    ('price', 'S1', '')
    """
    if len(name) > _LONG:
        return ""
    by_folded = {each.casefold(): each for each in sorted(known)[:_MANY] if len(each) <= _LONG}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.7)
    return by_folded[found[0]] if found else ""


def listed(names: Iterable[str]) -> str:
    """Names as a list of choices, shortened after the first few.

    >>> listed(["S1"]), listed(["S1", "S2", "S3"])
    ('S1', 'S1, S2 or S3')
    """
    found = list(names)
    shown = found[:5]
    if len(found) > len(shown):
        return f"{', '.join(shown)} or another"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
