"""The algebra that all languages share: streams, names of types and attributes, windows, report policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from thence.errors import QueryError
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Instant, Span, time_literal

# The streams that a query reads, and the window within which a match must lie: the same in every language.


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream by the name that the query gives it (SPAseQ, Definitions 2, 3: `FROM STREAM name <iri>`)."""

    name: str
    iri: IRI


@dataclass(frozen=True, slots=True)
class Window:
    """`WITHIN span`: sliding (SPAseQ, Algorithm 2), or `TUMBLING FROM origin` (Definition 16)."""

    span: Span
    tumbling: bool = False
    origin: int = 0


@dataclass(frozen=True, slots=True)
class Name:
    """An attribute or a type: a column's or a local name, or whole as an IRI (PREFIXed or in angle brackets)."""

    local: str
    iri: IRI | None = None

    def __str__(self) -> str:
        return self.local if self.iri is None else str(self.iri)


# Report policies: when a query over windows is evaluated (RSEP-QL; RS-16 to RS-22).


@dataclass(frozen=True, slots=True)
class OnContent:
    """`ON CONTENT`: whenever an event ends."""


@dataclass(frozen=True, slots=True)
class OnClose:
    """`ON CLOSE`: at every multiple of any window's slide."""


@dataclass(frozen=True, slots=True)
class OnNonEmpty:
    """`ON NON_EMPTY_CONTENT`: as on close, but only where a window holds an event (RS-70)."""


@dataclass(frozen=True, slots=True)
class Every:
    """`EVERY period`: at every multiple of it."""

    period: Span


@dataclass(frozen=True, slots=True)
class At:
    """`AT t, …`: at these times."""

    times: tuple[Instant, ...]


Report: TypeAlias = OnContent | OnClose | OnNonEmpty | Every | At


# The text of a query, for errors that are found only when it has been read: with a background, say.


class PlacedText(Protocol):
    """A text that makes errors with their places."""

    def error(self, reason: str, offset: int, *, hint: str = "") -> QueryError: ...


# The interface of every language's algebra of a whole query.


class QueryAlgebra(Protocol):
    """The root of a query's algebra."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Likely mistakes in a legal query."""
        ...

    @property
    def namespace(self) -> str:
        """The namespace of the bare names of typed events."""
        ...

    @property
    def time_kind(self) -> tuple[Domain, str] | None:
        """The kind of time that the query's text demands, and the words that do (`WITHIN 10 MINUTES`)."""
        ...


_UNITS = (("DAYS", 86_400_000_000), ("HOURS", 3_600_000_000), ("MINUTES", 60_000_000), ("SECONDS", 1_000_000))


def window_text(window: Window) -> str:
    """WITHIN as text, in the largest unit that divides the length.

    >>> window_text(Window(Span(90_000_000, Domain.DATETIME), tumbling=True))
    'WITHIN 90 SECONDS TUMBLING'
    """
    tumbling = " TUMBLING" if window.tumbling else ""
    origin = f" FROM {_origin_text(window)}" if window.origin else ""
    return f"WITHIN {span_text(window.span)}{tumbling}{origin}"


def _origin_text(window: Window) -> str:
    return (
        str(window.origin) if window.span.domain is Domain.TICKS else str(time_literal(window.origin, Domain.DATETIME))
    )


def span_text(span: Span) -> str:
    """A length of time, as WITHIN takes it.

    >>> span_text(Span(50, Domain.TICKS)), span_text(Span(1_500_000, Domain.DATETIME))
    ('50 TICKS', '1.500000 SECONDS')
    """
    if span.domain is Domain.TICKS:
        return f"{span.length} TICKS"
    for name, length in _UNITS:
        if span.length % length == 0:
            return f"{span.length // length} {name}"
    return f"{span.length // 1_000_000}.{span.length % 1_000_000:06} SECONDS"
