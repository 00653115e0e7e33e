"""The results of a query: matches, problems and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from thence.columns.event_batch import encode
from thence.columns.texts import Texts
from thence.errors import InputError
from thence.program.output import OPEN_END
from thence.program.solutions import Cell, Row
from thence.rdf.events import Event
from thence.rdf.terms import Literal
from thence.rdf.times import Domain, format_time
from thence.runtime.match_ids import match_ids

if TYPE_CHECKING:
    from thence.columns.column_batch import Batch

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class HeldEvent:
    """An event of a match: where it stands in columns, and the object that it was given as, if it was one."""

    batch: Batch
    index: int
    given: Event | None = None

    @property
    def id(self) -> str:
        return self.batch.id(self.index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HeldEvent) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def event(self) -> Event:
        return self.batch.event(self.index) if self.given is None else with_id(self.given, self.id)


@dataclass(frozen=True, slots=True, eq=False)
class LocatedBatch:
    """A batch in which events of matches are: those that a run knows as `first` to `stop`; and what it was made of, if
    that was objects, `position` being the first one's."""

    batch: Batch
    first: int
    stop: int
    given: Sequence[Event] | None = None
    position: int = 0

    def held(self, ref: int) -> HeldEvent:
        index = ref - self.first
        if self.given is None:
            return HeldEvent(self.batch, index)
        return HeldEvent(self.batch, index, self.given[int(self.batch.positions[index]) - self.position])


def with_id(event: Event, name: str) -> Event:
    """An event with an id: its own, or else that one."""
    if event.id is not None:
        return event
    return Event.from_columns(
        event.start, event.end, event.domain, name, event.triples, event.attributes, event.namespace
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Match:
    """A row of the answer.

    `start` is the start of its first event, `end` the end of its last one: integers where the streams count ticks, else
    `datetime` in UTC. `bindings` has a term for each variable that is bound, by name without `?`; for COLLECT a tuple
    of terms. `events` are its events in the order of the pattern, a closure's iterations flat. For CONSTRUCT,
    `constructed` is the event that the row makes, and `bindings` has all variables. `query` is the number of its
    SELECT, from 1, where the query has several; of its CONSTRUCT, if there is no SELECT.
    """

    row: Row
    domain: Domain
    located: tuple[LocatedBatch, ...] = ()
    """The batch that each of its events is in."""
    _events: tuple[Event, ...] | None = None  # once they are built
    _id: str | None = None

    def __repr__(self) -> str:
        names = ("bindings", "times", "certain", "domain", "constructed", *(["query"] if self.query else []))
        shown = {name: getattr(self, name) for name in names}
        return f"Match({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Match) and self._identity() == other._identity() and self.bindings == other.bindings

    def __hash__(self) -> int:
        return hash((self.times, self.places, self.held))

    def _identity(self) -> tuple[object, ...]:
        return self.times, self.certain, self.domain, self.constructed, self.query, self.places, self.held

    @property
    def bindings(self) -> Mapping[str, Cell]:
        return self.row.bindings

    @property
    def constructed(self) -> Event | None:
        """The event that a CONSTRUCT makes of the row."""
        return self.row.event

    @property
    def query(self) -> int | None:
        """The number of the statement that the row is of; None where the query has only one."""
        return self.row.query

    @property
    def times(self) -> tuple[int, int]:
        """Start and end as 64-bit numbers: ticks, or microseconds since 1970."""
        return self.row.start, self.row.end

    @property
    def certain(self) -> int:
        """When the row became certain, likewise."""
        return self.row.certain

    @property
    def places(self) -> tuple[int, ...]:
        """Which occurrence of a GPM each event fills."""
        return self.row.places

    @property
    def held(self) -> tuple[HeldEvent, ...]:
        return tuple(batch.held(ref) for batch, ref in zip(self.located, self.row.refs, strict=True))

    @property
    def start(self) -> int | datetime:
        return python_time(self.times[0], self.domain)

    @property
    def end(self) -> int | datetime | None:
        """None: a fact that still holds."""
        return None if self.times[1] == OPEN_END else python_time(self.times[1], self.domain)

    @property
    def fact(self) -> str | None:
        """The fact that the row is, as Turtle; None for other rows."""
        found = self.bindings.get("fact")
        return found.value if isinstance(found, Literal) else None

    @property
    def events(self) -> tuple[Event, ...]:
        if self._events is None:
            object.__setattr__(self, "_events", tuple(held.event() for held in self.held))
        assert self._events is not None
        return self._events

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The ids of `events`: a graph's IRI, the `id` that an event was given, or else `STREAM:LINE`."""
        return tuple(held.id for held in self.held)

    @property
    def id(self) -> str:
        """The match's id, the same whenever and wherever it is found; Spark's `match_id`."""
        if self._id is None:
            assert self.row.solutions is not None
            one = self.row.solutions.take(np.array([self.row.number], np.int64))
            (found,) = match_ids(one, Texts.of(self.event_ids), stage=self.row.stage).to_list()
            object.__setattr__(self, "_id", found)
        assert self._id is not None
        return self._id

    def __getstate__(self) -> tuple[object, ...]:
        """For pickle: values, without the columns that they are built from."""
        row = self.row
        cells = dict(row.bindings)
        plain = replace(row, solutions=None, number=0, bound=cells)
        alone = zip(self.events, row.refs, strict=True)  # each event without its batch
        located = tuple(LocatedBatch(encode([event]), ref, ref + 1) for event, ref in alone)
        return plain, self.domain, located, self.events, self.id

    def __setstate__(self, state: tuple[object, ...]) -> None:
        for name, value in zip(("row", "domain", "located", "_events", "_id"), state, strict=True):
            object.__setattr__(self, name, value)


def python_time(time: int, domain: Domain) -> int | datetime:
    """A time as Python has it.

    >>> python_time(7, Domain.TICKS), str(python_time(0, Domain.DATETIME))
    (7, '1970-01-01 00:00:00+00:00')
    """
    if domain is Domain.TICKS:
        return time
    try:
        return _EPOCH + timedelta(microseconds=time)
    except OverflowError:
        shown = format_time(time, domain)
        raise InputError(f"Python's datetime can't hold {shown}. Try: match.times, in microseconds") from None


@dataclass(frozen=True, slots=True)
class Problem:
    """What became of an event that took no part: `bad`, or `late`; or of a partial match that `timed_out`.

    `event` is the event, if it is one; else `text` is what stood in its place, at `line` of its file. Of a partial
    match it is the last one, `events` are all of them, and `bindings` is what they bind.
    """

    problem: str
    reason: str
    stream: str
    event: Event | None = None
    line: int | None = None
    text: str | None = None
    events: tuple[Event, ...] = ()
    bindings: Mapping[str, Cell] = field(default_factory=dict, hash=False)


@dataclass(slots=True)
class Counts:
    """How many there have been so far."""

    events: int = 0
    matches: int = 0
    bad: int = 0
    late: int = 0
    timed_out: int = 0  # partial matches; 0 where they are not asked for
