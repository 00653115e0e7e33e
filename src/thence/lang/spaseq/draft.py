"""A SPAseQ query as it was read, before it is known to mean something: its parts, and where each is in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.spaseq import Gpm, IterationAggregate, SequencePart, occurrences
from thence.algebra.streams import Stream, Window
from thence.errors import QueryError
from thence.lang.text import Text


@dataclass(frozen=True, slots=True)
class NamedStream:
    """`FROM STREAM`, with the place of the name."""

    stream: Stream
    at: int


@dataclass(frozen=True, slots=True)
class DraftGpm:
    """`DEFINE GPM`, with the places of its name, its stream's and its filters. `written` has the variables that it
    binds in the order of the text."""

    gpm: Gpm
    at: int
    stream_at: int
    filters_at: tuple[int, ...]
    written: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """A column of SELECT; aggregates are still in its expression as they were read."""

    variable: Variable
    expression: Expression | None
    at: int


@dataclass(frozen=True, slots=True)
class DraftRows:
    """`SELECT`; no columns: `*`."""

    columns: tuple[DraftColumn, ...] | None
    distinct: bool
    at: int


@dataclass(frozen=True, slots=True)
class DraftEvents:
    """`CONSTRUCT`."""

    template: tuple[TriplePattern, ...]
    at: int


@dataclass(frozen=True, slots=True)
class DraftAggregate:
    """An aggregate that SPARQL does not have, and its place; the variable that it is filed under stands for it."""

    aggregate: IterationAggregate
    at: int


Form: TypeAlias = DraftRows | DraftEvents


@dataclass(frozen=True, slots=True)
class Draft:
    text: Text
    form: Form
    streams: tuple[NamedStream, ...]
    sequence: tuple[SequencePart, ...]
    gpms: tuple[DraftGpm, ...]
    window: Window | None
    partition: tuple[Variable, ...]
    partition_at: int
    aggregates: Mapping[Variable, DraftAggregate]
    places: tuple[int, ...]  # where the occurrence of each place is
    named: Mapping[Variable, list[int]]  # where each variable is, in order

    def error(self, reason: str, at: int, *, hint: str = "") -> QueryError:
        return self.text.error(reason, at, hint=hint)

    def at(self, part: SequencePart) -> int:
        """The place where a part of the sequence begins."""
        return self.places[occurrences(part.operand)[0].place]

    def after(self, variable: Variable, at: int) -> int:
        """The first place of the variable from that place on; that place itself if the variable does not follow."""
        return next((place for place in self.named.get(variable, ()) if place >= at), at)

    def line(self, at: int) -> str:
        """Line and column, for a text that speaks of a second place."""
        place = self.text.place(at)
        return f"{place.line}:{place.column}"
