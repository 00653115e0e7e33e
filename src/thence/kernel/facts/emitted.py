"""What the machine emits: rows, constructed events, facts that ended."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from thence.match.context import Solution
from thence.rdf.terms import Triple


class EmittedRow(NamedTuple):
    """A row of a SELECT: `query` numbers the SELECTs from 1."""

    query: int
    certain: int
    start: int
    end: int
    bound: Solution
    refs: tuple[int, ...]


class EmittedEvent(NamedTuple):
    """A constructed event."""

    statement: int
    start: int
    end: int
    triples: tuple[Triple, ...]
    refs: tuple[int, ...]


class EmittedFact(NamedTuple):
    """A fact that ended."""

    certain: int
    start: int
    end: int | None
    triple: Triple
    number: int


Emitted: TypeAlias = EmittedRow | EmittedEvent | EmittedFact
