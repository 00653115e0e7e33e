"""The streams that a query reads, and the window within which a match must lie: the same in every language."""

from __future__ import annotations

from dataclasses import dataclass

from thence.rdf.terms import IRI
from thence.rdf.times import Span


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
