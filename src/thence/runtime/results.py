"""The results of a query: matches, problems and counts, and the names of their columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from thence.columns.batches import encode
from thence.columns.texts import Texts
from thence.errors import InputError
from thence.interface.output import OPEN_END
from thence.interface.solutions import AnswerValue, Row, Solutions, fact_text
from thence.rdf.events import Event
from thence.rdf.terms import Triple
from thence.rdf.times import Domain, format_time
from thence.runtime.match_ids import match_ids

if TYPE_CHECKING:
    from thence.columns.batches import Batch


# Names of the columns of an answer.

RESERVED_COLUMNS = ("start", "end", "match_id", "events", "query")


def column_names(variables: Sequence[str], *, taken: Sequence[str] = RESERVED_COLUMNS) -> list[str]:
    """Column names that do not collide with Thence's own: one that collides, in any case, gets a trailing `_`.

    >>> column_names(["house", "End", "HOUSE"])
    ['house', 'End_', 'HOUSE_']
    """
    known = {name.casefold() for name in taken}
    found = []
    for variable in variables:
        name = variable
        while name.casefold() in known:
            name += "_"
        known.add(name.casefold())
        found.append(name)
    return found


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class HeldEvent:
    """An event of a match: its position in the columns, and the object that the caller passed, if any."""

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
    """A batch with events of matches: those with the run's numbers `first` to `stop`. If the caller passed objects, it
    has these too, from `position` on."""

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
    """The event, with this id if it has no id of its own."""
    if event.id is not None:
        return event
    return Event.from_columns(
        event.start, event.end, event.domain, name, event.triples, event.attributes, event.namespace
    )


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """Solutions of one step, and the batches of their events in the order of the run's numbers."""

    solutions: Solutions
    domain: Domain
    batches: tuple[LocatedBatch, ...]
    stage: int = 1

    def row(self, number: int) -> Row:
        return self.solutions.row(number, stage=self.stage)

    def times(self, number: int) -> tuple[int, int]:
        return int(self.solutions.start[number]), int(self.solutions.end[number])

    def bindings(self, number: int) -> Mapping[str, AnswerValue]:
        return self.solutions.bindings(number)

    def located(self, refs: Sequence[int]) -> tuple[LocatedBatch, ...]:
        """The batch of each of some events."""
        batches = self.batches
        return tuple(batches[bisect_right(batches, ref, key=lambda each: each.first) - 1] for ref in refs)


@dataclass(frozen=True, slots=True, eq=False)
class AnsweredRow:
    """A row alone, and the batch of each of its events."""

    alone: Row
    domain: Domain
    batches: tuple[LocatedBatch, ...] = ()

    def row(self, _: int) -> Row:
        return self.alone

    def times(self, _: int) -> tuple[int, int]:
        return self.alone.start, self.alone.end

    def bindings(self, _: int) -> Mapping[str, AnswerValue]:
        return self.alone.bindings

    def located(self, _: Sequence[int]) -> tuple[LocatedBatch, ...]:
        return self.batches


class Match:
    """A row of the answer.

    `start` is the start of its first event, `end` the end of its last one: integers where the streams count ticks, else
    `datetime` in UTC. `bindings` has a term for each variable that is bound, by name without `?`; for COLLECT a tuple
    of terms. `events` are its events in the order of the pattern, a closure's iterations flat. For CONSTRUCT,
    `constructed` is the event that the row makes, and `bindings` has all variables of SPAseQ. `triples` are those of
    this event, or of a fact of TEF-SPARQL; `fact` has them as text, and so have the `bindings` of rows that are no
    solution of one pattern: facts, and CONSTRUCT of EP-SPARQL, RSEP-QL and TEF-SPARQL. `query` is the number of its
    SELECT, from 1, where the query has several; of its CONSTRUCT, if there is no SELECT.
    """

    # as little as can be is done for a match before somebody asks: large answers are mostly looked through
    __slots__ = ("_answered", "_bindings", "_events", "_id", "_number", "_row")

    _answered: Answered | AnsweredRow
    _number: int
    _row: Row
    _bindings: Mapping[str, AnswerValue]
    _events: tuple[Event, ...]
    _id: str

    def __init__(self, answered: Answered | AnsweredRow, number: int = 0) -> None:
        self._answered = answered
        self._number = number

    @classmethod
    def of(cls, row: Row, domain: Domain, located: tuple[LocatedBatch, ...] = ()) -> Match:
        """The match of a row, with the batch of each of its events."""
        return cls(AnsweredRow(row, domain, located))

    @property
    def row(self) -> Row:
        try:
            return self._row
        except AttributeError:  # nobody has asked yet
            self._row = self._answered.row(self._number)
            return self._row

    @property
    def domain(self) -> Domain:
        return self._answered.domain

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
    def bindings(self) -> Mapping[str, AnswerValue]:
        try:
            return self._bindings
        except AttributeError:
            self._bindings = self._answered.bindings(self._number)
            return self._bindings

    @property
    def constructed(self) -> Event | None:
        """The event that CONSTRUCT makes from the row."""
        return self.row.event

    @property
    def query(self) -> int | None:
        """The number of the statement that emitted the row; None if the query has only one."""
        return self.row.query

    @property
    def times(self) -> tuple[int, int]:
        """Start and end as 64-bit numbers: ticks, or microseconds since 1970."""
        return self._answered.times(self._number)

    @property
    def certain(self) -> int:
        """The time when the row became certain, in the same units."""
        return self.row.certain

    @property
    def places(self) -> tuple[int, ...]:
        """The occurrence of a GPM that each event matches."""
        return self.row.places

    @property
    def held(self) -> tuple[HeldEvent, ...]:
        refs = self.row.refs
        return tuple(batch.held(ref) for batch, ref in zip(self._answered.located(refs), refs, strict=True))

    @property
    def start(self) -> int | datetime:
        return python_time(self.times[0], self.domain)

    @property
    def end(self) -> int | datetime | None:
        """The end; None for a fact that still holds."""
        return None if self.times[1] == OPEN_END else python_time(self.times[1], self.domain)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples of the row's constructed event or of its fact; none for SELECT."""
        return self.row.triples

    @property
    def fact(self) -> str | None:
        """`triples` as N-Triples; None for SELECT."""
        return fact_text(self.triples) or None

    @property
    def events(self) -> tuple[Event, ...]:
        try:
            return self._events
        except AttributeError:
            self._events = tuple(held.event() for held in self.held)
            return self._events

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The ids of `events`: a graph's IRI, the `id` that an event was given, or else `STREAM:LINE`."""
        return tuple(held.id for held in self.held)

    @property
    def id(self) -> str:
        """The match's id, the same on every path; the column `match_id` on Spark."""
        try:
            return self._id
        except AttributeError:
            assert self.row.solutions is not None
            one = self.row.solutions.take(np.array([self.row.number], np.int64))
            (self._id,) = match_ids(one, Texts.of(self.event_ids), stage=self.row.stage).to_list()
            return self._id

    def __getstate__(self) -> tuple[object, ...]:
        """The state for pickle: values, without the columns that they are built from."""
        row = self.row
        cells = dict(self.bindings)
        plain = replace(row, solutions=None, number=0, bound=cells, fact=row.triples)
        alone = zip(self.events, row.refs, strict=True)  # each event without its batch
        located = tuple(LocatedBatch(encode([event]), ref, ref + 1) for event, ref in alone)
        return AnsweredRow(plain, self.domain, located), self.events, self.id

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._answered, self._events, self._id = state
        self._number = 0


def python_time(time: int, domain: Domain) -> int | datetime:
    """A time as a Python value.

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
    """A bad or late event, a timed-out partial match, or a CSV cell that was read as null: `problem` is `bad`,
    `late`, `timed_out` or `bad_cell`.

    `event` is the event, if it could be read; otherwise `text` is the unreadable text, at `line` of its file. For a
    partial match, `event` is its last event, `events` are all of them, and `bindings` is what they bind.
    """

    problem: str
    reason: str
    stream: str
    event: Event | None = None
    line: int | None = None
    text: str | None = None
    events: tuple[Event, ...] = ()
    bindings: Mapping[str, AnswerValue] = field(default_factory=dict, hash=False)


@dataclass(slots=True)
class Counts:
    """The numbers of events, matches and problems so far. A bad cell's event counts as any other."""

    events: int = 0
    matches: int = 0
    bad: int = 0
    late: int = 0
    timed_out: int = 0  # partial matches; 0 unless they are asked for
    bad_cells: int = 0  # of CSV files

    def __str__(self) -> str:
        """
        >>> print(Counts(events=12, matches=1, bad=2))
        12 events, 1 match, 2 bad, 0 late
        """
        events, matches = counted_noun(self.events, "event", "events"), counted_noun(self.matches, "match", "matches")
        timed_out = f", {self.timed_out:,} timed out" if self.timed_out else ""
        cells = f", {counted_noun(self.bad_cells, 'bad cell', 'bad cells')}" if self.bad_cells else ""
        return f"{events}, {matches}, {self.bad:,} bad, {self.late:,} late{timed_out}{cells}"

    def add(self, problem: str) -> None:
        """Count a problem of a kind."""
        name = "bad_cells" if problem == "bad_cell" else problem
        setattr(self, name, getattr(self, name) + 1)


def counted_noun(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
