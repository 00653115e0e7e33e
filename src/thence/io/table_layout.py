"""`TableLayout`: how the columns of a table become events, on every path."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from warnings import warn

from thence.columns.time_reading import PLAINLY, TimeReading
from thence.errors import InputError, ThenceWarning
from thence.rdf.terms import IRI


class RowKind(Enum):
    """The kind of a table's rows: typed events, or graphs as documents or as arrays of triples."""

    TYPED = "type"
    DOCUMENT = "value"
    TRIPLES = "graph"

    @property
    def parts(self) -> tuple[str, ...]:
        """Our names for the columns that mean something."""
        match self:
            case RowKind.TYPED:
                return ("type", "time", "end", "id", "subject")
            case RowKind.DOCUMENT:
                return ("time", "end", "id", "value", "format", "bad")
            case RowKind.TRIPLES:
                return ("time", "end", "id", "graph", "bad")


NAMES = tuple(dict.fromkeys(name for kind in RowKind for name in kind.parts if name != "bad"))
"""All of them, as `columns` takes them."""


ID = "thence_id"
"""A column of our own with the ids of rows, which is no attribute."""


@dataclass(frozen=True, slots=True)
class EventColumns:
    """What the columns of a table are: `parts` of its events, by our names for them, and attributes. `type` is that of
    all rows, where no column has it; None if that does not matter."""

    kind: RowKind
    parts: Mapping[str, str]
    attributes: tuple[str, ...] = ()
    type: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys((*self.parts.values(), *self.attributes)))

    @property
    def has_types(self) -> bool:
        return "type" in self.parts


@dataclass(frozen=True)
class TableLayout:
    """How the columns of a stream's tables become events: what they are called, the type of rows without one, and how
    times are read. `columns` has their names for ours. Rows without a column of types are of the `type` that the caller
    said, else of the only one that the query names; `named_types` are these, None if they are not known. `predicates`
    are those that the query names; `reads_time`: it reads the time of events as an attribute. It is sent to workers.

    >>> TableLayout("trades", columns={"time": "ts"}, named_types=("STOCK",)).type_of_rows("trades.csv")
    'STOCK'
    """

    stream: str = "stream"
    columns: Mapping[str, str] = field(default_factory=dict)
    type: str | None = None
    named_types: tuple[str, ...] | None = None
    times: TimeReading = PLAINLY
    predicates: frozenset[IRI] = frozenset()
    namespace: str = ""
    reads_time: bool = False

    @cached_property
    def in_text(self) -> TimeReading:
        """How times are read where all is text."""
        times = self.times
        return TimeReading(times.unit, times.format, times.zone, integers_in_text=True)

    def type_of_rows(self, place: str = "") -> str | None:
        """The type of rows that say none, of a table in some place, or of a single one. InputError if the query names
        several."""
        if self.type is not None or self.named_types is None or not self.named_types:
            return self.type
        if len(self.named_types) > 1:
            lacking = f"{place}: no column has the type of an event" if place else 'no "type"'
            raise InputError(
                f"{lacking}, and the query names several: "
                f'{", ".join(self.named_types)}. Try: types={{"{self.stream}": "{self.named_types[0]}"}}, or '
                'columns={"type": …}'
            )
        return self.named_types[0]

    def warn_of_hidden(self, place: str, names: Collection[str]) -> None:
        """A ThenceWarning if the query asks for the time of events where a column has that name, too (SA-51)."""
        column = self.columns.get("time", "time")
        if self.reads_time and column != "time" and "time" in names:
            warn(
                f'{place}: the column "time" is hidden: the attribute "time" is the event\'s time, from "{column}"',
                ThenceWarning,
                stacklevel=2,
            )

    def as_json(self) -> str:
        """All but the predicates, for an option of Spark."""
        times = [self.times.unit, self.times.format, self.times.zone]
        return json.dumps([self.stream, dict(self.columns), self.type, self.named_types, times])

    @classmethod
    def from_json(cls, text: str) -> TableLayout:
        stream, columns, kind, named, times = json.loads(text)
        return cls(stream, columns, kind, None if named is None else tuple(named), TimeReading(*times))


def check_columns(given: Mapping[str, str], names: Iterable[str] = NAMES) -> None:
    """InputError for a mapping of columns with a name of ours that there is not."""
    known = tuple(names)
    for ours, theirs in given.items():
        if ours not in known:
            raise InputError(f'"{ours!s:.80}" is not part of an event. Try: {", ".join(known)}')
        if not isinstance(theirs, str):
            raise InputError(f'columns can\'t be {theirs!r:.80}. Try: columns={{"{ours}": "ts"}}')
