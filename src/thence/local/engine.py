"""A query that events are pushed into, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, TypeAlias, overload

from thence.algebra.streams import Stream
from thence.columns.batches import EventBatch, encode
from thence.errors import InputError, LimitError, ThenceError
from thence.interface.operator import NEVER
from thence.io.jsonl import ObjectReader
from thence.io.table_layout import TableLayout
from thence.local.flow import Answers
from thence.local.inputs import stream_name
from thence.local.saved_engine import restore_engine, save_engine, unsealed_engine
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, Triple
from thence.rdf.times import parse_time
from thence.runtime.results import Counts, Match, Problem, python_time, with_id
from thence.runtime.watermark import TimeDomain, Watermark, late_reason

Pushed: TypeAlias = Event | BadEvent | Mapping[str, Any]
_CLOSED = "is closed. Try: query.engine(…)"


@dataclass(slots=True, repr=False)
class Engine:
    """A running query. `push` takes an event and returns the rows that became certain with it; `advance` declares that
    no event before a time will come; `close` that no event will come at all.

    The watermark is judged before each push: an event behind it is late, and takes no part. An event waits until the
    watermark has come to its time, so within the lateness events may be pushed in any order.
    """

    answers: Answers
    streams: tuple[Stream, ...]
    watermark: Watermark
    problems: bool = False
    namespace_of: Callable[[str], str] = lambda _: DEFAULT_NAMESPACE
    layouts: Mapping[str, TableLayout] = field(default_factory=dict, repr=False)
    waiting: list[tuple[int, int, str, Event]] = field(default_factory=list, repr=False)  # a heap by time
    order: int = 0  # of the next event
    pushed: dict[str, int] = field(default_factory=dict, repr=False)  # by stream
    fed: dict[str, int] = field(default_factory=dict, repr=False)
    come_to: int | None = None  # the watermark of the last step
    about: str = "a query"
    """The query in some words, for `repr`."""
    _ended: str = ""

    def __repr__(self) -> str:
        return f"<Engine: {self.about}; {self.counts}>"

    @property
    def counts(self) -> Counts:
        """The numbers of events, matches, bad and late events so far."""
        return self.answers.counts

    @property
    def domain(self) -> TimeDomain:
        return self.answers.flow.domain

    @overload
    def push(self, stream: str | IRI, event: Pushed, /) -> list[Match | Problem]: ...

    @overload
    def push(self, event: Pushed, /) -> list[Match | Problem]: ...

    def push(self, *call: object) -> list[Match | Problem]:
        """Push an event: `push(stream, event)`, or `push(event)` for a query over one stream. A dict is an event as a
        row of a table is. Returns the rows that became certain."""
        self._check_running("push()")
        name, given = self._called(call)
        event = self._of_row(name, given) if isinstance(given, Mapping) else given
        if isinstance(event, BadEvent):
            return self._bad(Problem(event.problem, event.reason, name, line=event.line, text=event.text))
        if self.domain.domain is None or (not self.counts.events and event.domain is not self.domain.domain):
            self.domain.begin(name, event.domain, event.start)
        objection = self.domain.objection(event)
        if objection is not None:
            return self._bad(Problem("bad", objection, name, event=event))
        try:
            event = event.in_namespace(self.namespace_of(name))
        except LimitError as error:
            return self._bad(Problem("bad", str(error), name, event=event))
        ordinal = self.pushed[name] = self.pushed.get(name, -1) + 1
        if self.watermark.now is not None and event.end < self.watermark.now:
            return self._late(name, event)
        self.counts.events += 1
        heappush(self.waiting, (event.end, self.order, name, with_id(event, f"{name}:{ordinal}")))
        self.order += 1
        self.watermark.see(name, event.end)
        return self._go_on()

    def advance(self, time: object) -> list[Match | Problem]:
        """Declare that no event before a time will come on any stream. Returns the rows that became certain."""
        self._check_running("advance()")
        instant = parse_time(time)
        if self.domain.domain is None:
            self.domain.domain, self.domain.settled_by = instant.domain, "advance"
        elif instant.domain is not self.domain.domain:
            raise InputError(f"The engine can't advance to {time}: {self.domain.reason(instant.domain)}")
        now = min(instant.time, NEVER - 1)  # NEVER is the end of input
        is_late = self.watermark.now is not None and now < self.watermark.now
        self.watermark.advance(now)
        if is_late or not self.answers.flow.waits_for_time:
            return self._go_on()
        assert self.watermark.now is not None
        return self._feed(self.watermark.now, advanced=now)

    def facts(self, at: object = None) -> list[tuple[int | datetime, int | datetime | None, Triple]]:
        """The facts that hold at a time, by default now: start, end and triple of each, by start (TEF-SPARQL). The end
        of a fact that still holds is None."""
        if self._ended != _CLOSED:
            self._check_running("facts()")
        instant = None if at is None else parse_time(at)
        if instant is not None and self.domain.domain not in (None, instant.domain):
            raise InputError(f"facts() can't be asked at {at}: {self.domain.reason(instant.domain)}")
        time = None if instant is None else instant.time
        found = []
        for host in self.answers.flow.hosts:
            for start, end, triple in host.facts(time):
                last = None if end is None else python_time(end, self.domain.known)
                found.append((python_time(start, self.domain.known), last, triple))
        return found

    def close(self) -> list[Match | Problem]:
        """Declare that no event will come any more. Returns the last rows."""
        if self._ended:
            return []
        found = self._feed(NEVER)
        self._ended = _CLOSED
        return found

    def save(self) -> bytes:
        """The state of the engine as bytes: `query.engine(…).restore(saved)` continues from here."""
        self._check_running("save()")
        return save_engine(self)

    def restore(self, saved: bytes) -> Engine:
        """Restore a saved state into this engine, which continues from there. The engine must be new, and of the same
        query and options. InputError if the bytes are damaged, or were saved by another query or version."""
        self._check_running("restore()")
        if self.counts != Counts() or self.watermark.now is not None:
            raise InputError(
                "Only a new engine can be restored, and this one has run. Try: query.engine(…).restore(saved)"
            )
        head, arrays = unsealed_engine(self, saved)
        try:
            restore_engine(self, head, arrays)
        except InputError:
            self._ended = "could not be restored. Try: query.engine(…)"
            raise
        return self

    def _check_running(self, call: str) -> None:
        if self._ended:
            raise InputError(f"{call} needs an engine that runs, and this one {self._ended}")

    def _of_row(self, name: str, row: Mapping[str, Any]) -> Event | BadEvent:
        layout = self.layouts.get(name) or TableLayout(name)
        try:
            return ObjectReader(name, Limits(), self.namespace_of(name), layout).event(dict(row), None)
        except ThenceError as error:
            return BadEvent(name, 0, str(error), repr(row))

    def _called(self, call: tuple[object, ...]) -> tuple[str, Pushed]:
        match call:
            case (stream, (Event() | BadEvent() | Mapping()) as event):
                return stream_name(stream, self.streams), event
            case ((Event() | BadEvent() | Mapping()) as event,) if len(self.streams) == 1:
                return self.streams[0].name, event
            case (Event() | BadEvent() | Mapping(),):
                names = " or ".join(f'push("{stream.name}", event)' for stream in self.streams)
                raise InputError(f"The query reads {len(self.streams)} streams, so name the event's. Try: {names}")
            case _:
                raise InputError(
                    'push() needs an event. Try: push(stream, thence.Event(time, graph)), or a dict with "time"'
                )

    def _bad(self, problem: Problem) -> list[Match | Problem]:
        self.counts.add(problem.problem)
        return [problem] if self.problems else []

    def _late(self, name: str, event: Event) -> list[Match | Problem]:
        self.counts.late += 1
        if not self.problems:
            return []
        assert self.watermark.now is not None
        reason = late_reason(event.end, self.watermark.now, self.domain.known)
        return [Problem("late", reason, name, event=event)]

    def _go_on(self) -> list[Match | Problem]:
        now = self.watermark.now
        if now is None:
            return []
        ready = self._is_due(now)
        waits = self.answers.flow.waits_for_time and now != self.come_to
        return self._feed(now) if ready or waits else []

    def _is_due(self, watermark: int) -> bool:
        """Whether the next event can be taken: with `order`, once all events of its time are there (C-9)."""
        if not self.waiting:
            return False
        time = self.waiting[0][0]
        return time < watermark or (time == watermark and not self.answers.flow.dataflow.is_ordered)

    def _feed(self, watermark: int, *, advanced: int | None = None) -> list[Match | Problem]:
        ready: dict[str, list[Event]] = {}
        while self._is_due(watermark):
            _, _, name, event = heappop(self.waiting)
            ready.setdefault(name, []).append(event)
        batches = {name: [self._batch(name, events)] for name, events in ready.items()}
        self.come_to = watermark
        try:
            rows = self.answers.flow.feed_parts(batches, watermark, advanced=advanced, heard=self.watermark.latest)
            found: list[Match | Problem] = list(self.answers.of(rows, self.domain.known))
            wrong = list(self.answers.problems(self.domain.known))
            return [*found, *wrong] if self.problems else found
        except BaseException as error:  # an interrupt, too: its state is no longer whole
            self._ended = f"has stopped: {str(error) or type(error).__name__}"
            raise

    def _batch(self, name: str, events: list[Event]) -> EventBatch:
        first = self.fed.get(name, 0)
        self.fed[name] = first + len(events)
        batch = encode(events, stream=name, first=first)
        self.answers.remember(batch, events)
        return batch
