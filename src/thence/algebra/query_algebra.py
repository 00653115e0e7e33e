"""What every language's algebra of a whole query offers to those who run it."""

from __future__ import annotations

from typing import Protocol

from thence.rdf.times import Domain


class QueryAlgebra(Protocol):
    """The root of a query's algebra."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is legal, but hardly meant."""
        ...

    @property
    def namespace(self) -> str:
        """The namespace of the bare names of typed events."""
        ...

    @property
    def time_kind(self) -> tuple[Domain, str] | None:
        """The kind of time that the query's text demands, and the words that do (`WITHIN 10 MINUTES`)."""
        ...
