"""A dataflow in one process: batches in the order of time go in; rows come out and become matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

from thence.columns.arrays import Ints
from thence.columns.batches import EventBatch, encode
from thence.columns.id_order import id_key
from thence.interface.dataflow import Dataflow
from thence.interface.extracted import ArrivedBatch
from thence.interface.operator import NEVER, Environment
from thence.interface.solutions import Row, Solutions
from thence.rdf.events import Event
from thence.rdf.times import MIN_TIME, Domain
from thence.runtime.event_log import BatchLog
from thence.runtime.host import Host, TimedOut
from thence.runtime.ordering import Ordered
from thence.runtime.results import Answered, Counts, LocatedBatch, Match, Problem
from thence.runtime.watermark import TimeDomain

if TYPE_CHECKING:
    from thence.columns.batches import Batch


# Finite streams in the order of time: sorted in memory, or checked if they are sorted already.

if TYPE_CHECKING:
    from thence.columns.batches import Batch

    Stretch = tuple[list[Batch], int | None]
    """Some events of a stream, each batch in the order of time; and a time that all of them are before, and none that
    comes later is. None: no event comes later."""

FEWEST, FIRST, MOST = 64, 4096, 65_536
"""Events of a stream that one step takes: at least, at first, and at most."""

LONG = 1.0
"""Seconds after which a step should have ended: matches come, and counts grow, between two steps."""


class OutOfOrderError(Exception):
    """An event is earlier than one before it: the rows so far may be wrong."""


def in_time_order(streams: Mapping[str, Sequence[Batch]]) -> Iterator[tuple[dict[str, list[Batch]], int]]:
    """Finite streams in the order of time, some thousand events at once, each time with the next time that may come;
    with the last of them that is NEVER."""
    return merge_streams({name: sort_stream(listed) for name, listed in streams.items()})


def merge_streams(streams: Mapping[str, Iterator[Stretch]]) -> Iterator[tuple[dict[str, list[Batch]], int]]:
    """The stretches of several streams as those of all. Of each stream, no more is waiting than it takes to know what
    comes next. The latest events come together with the end, which may complete matches at their time."""
    waiting: dict[str, list[Batch]] = {name: [] for name in streams}
    come_to = dict.fromkeys(streams, MIN_TIME)  # what more of a stream may come from; those that have ended are not in
    while come_to:
        behind = min(come_to, key=come_to.__getitem__)
        more, upto = next(streams[behind], ([], None))
        waiting[behind] += more
        if upto is None:
            del come_to[behind]
        else:
            come_to[behind] = upto
        now = min([*come_to.values(), NEVER - 1])
        ready = {name: _before(listed, now) for name, listed in waiting.items()} if come_to else {}
        if any(ready.values()):
            waiting = {name: _from(listed, now) for name, listed in waiting.items()}
            yield ready, now
    yield waiting, NEVER


def sort_stream(batches: Sequence[Batch]) -> Iterator[Stretch]:
    """All events of a stream, in whatever order they are; fewer at once where a step takes long."""
    ordered = [_by_time(batch) for batch in batches if len(batch)]
    if not ordered:
        return
    times = np.concatenate([batch.ends for batch in ordered])
    times = times if _ascends(times) else np.sort(times)
    size, at = min(FIRST, MOST), 0
    while at + size < len(times):
        low = int(times[at + size])
        if low == times[at]:  # events of one time stay together
            size = int(np.searchsorted(times, low, side="right")) - at
            continue
        begun = monotonic()
        yield _before(ordered, low), low
        ordered, at = _from(ordered, low), int(np.searchsorted(times, low))
        took = monotonic() - begun
        size = max(FEWEST, size // 2) if took > LONG else min(2 * size, MOST) if took < LONG / 4 else min(size, MOST)
    yield ordered, None


def check_order(batches: Iterable[Batch]) -> Iterator[Stretch]:
    """The events of a stream that are in the order of time already; an `OutOfOrderError` if they are not. No more than
    two batches are held, but for events of one time."""
    waiting: list[Batch] = []
    last = MIN_TIME
    for batch in batches:
        if not len(batch):
            continue
        first = int(batch.ends[0])
        if first < last or not _ascends(batch.ends):
            raise OutOfOrderError
        if ready := _before(waiting, first):  # so that events of one time stay together
            yield ready, first
            waiting = _from(waiting, first)
        waiting.append(batch)
        last = int(batch.ends[-1])
    if waiting:
        yield waiting, None


def _by_time(batch: Batch) -> Batch:
    return batch if _ascends(batch.ends) else batch.take(np.argsort(batch.ends, kind="stable"))


def _ascends(times: np.ndarray) -> bool:
    return bool((times[1:] >= times[:-1]).all())


def _before(batches: Iterable[Batch], time: int) -> list[Batch]:
    """The events before a time of some batches, each in the order of time."""
    counted = ((batch, int(np.searchsorted(batch.ends, time))) for batch in batches)
    return [batch if size == len(batch) else batch.take(np.arange(size)) for batch, size in counted if size]


def _from(batches: Iterable[Batch], time: int) -> list[Batch]:
    """The events from a time on."""
    counted = ((batch, int(np.searchsorted(batch.ends, time))) for batch in batches)
    return [
        batch if not size else batch.take(np.arange(size, len(batch))) for batch, size in counted if size < len(batch)
    ]


class Collects(Protocol):
    """Takes rows as columns, or one by one."""

    def add(self, solutions: Solutions, order: Ints | None) -> None: ...

    def add_rows(self, rows: Iterable[Row]) -> None: ...


@dataclass(slots=True)
class LocalFlow:
    """The hosts of a dataflow's stages, which know each event by one ref. `domain` is the kind of time, as far as it is
    fixed (C-32)."""

    dataflow: Dataflow
    environment: Environment = field(default_factory=Environment)
    domain: TimeDomain = field(default_factory=TimeDomain)
    log: BatchLog = field(init=False, default_factory=BatchLog)
    hosts: tuple[Host, ...] = field(init=False)
    timed_out: list[TimedOut] = field(init=False, default_factory=list)  # not yet reported
    derived: int = field(init=False, default=0)  # events that stages have made
    taken: int = field(init=False, default=0)  # events from outside that were fed
    latest: int | None = field(init=False, default=None)  # the time of the latest event from outside
    waiting: dict[tuple[int, str], list[ArrivedBatch]] = field(init=False, default_factory=dict)
    """By stage and stream: derived events beyond the stage's watermark."""

    def __post_init__(self) -> None:
        self.hosts = tuple(
            Host(stage, self.log, self.environment, number) for number, stage in self.dataflow.numbered()
        )

    def held(self) -> str:
        """What the states hold, in words; another thread may ask while events are fed."""
        return f"{sum(host.size for host in self.hosts):,} {self.hosts[-1].stage.operator.holds}"

    def fresh(self, domain: TimeDomain) -> LocalFlow:
        """The same dataflow, before any event."""
        return replace(self, domain=domain)

    @property
    def waits_for_time(self) -> bool:
        """Whether rows may become certain, or partial matches time out, without another event."""
        return self.environment.keeps_expired or any(host.stage.program.waits_for_time for host in self.hosts)

    def feed(
        self,
        batches: Mapping[str, Sequence[Batch]],
        watermark: int,
        *,
        advanced: int | None = None,
        heard: Mapping[str, int] | None = None,
    ) -> Iterator[Row]:
        """Rows of events by stream, as `feed_parts` takes them."""
        for found in self.feed_parts(batches, watermark, advanced=advanced, heard=heard):
            if isinstance(found, Row):
                yield found
            else:
                yield from found.solutions.rows(stage=found.stage)

    def feed_parts(
        self,
        batches: Mapping[str, Sequence[Batch]],
        watermark: int,
        *,
        advanced: int | None = None,
        heard: Mapping[str, int] | None = None,
    ) -> Iterator[Row | StageSolutions]:
        """Events by stream, none of them before any fed earlier; no event before `watermark` will come. `advanced` is
        the time that the user gave to `advance`, if any (RS-21). `heard` is the latest time of each stream, as far as
        events are still to be fed (RS-14)."""
        streams = self._added(batches)
        derived: dict[str, int] = {}  # the watermarks of derived streams
        found: list[Iterator[Row | StageSolutions]] = []
        reached = []
        for host in self.hosts:
            own = self._watermark(host, derived, watermark)
            rows = self._ordered(host, streams, own, advanced, heard or {})
            feeds = host.stage.feeds
            if feeds is not None:
                self._feed_stream(host, rows, streams)
                derived[feeds.stream] = min(derived.get(feeds.stream, own), self._derives_from(host, own))
            else:
                found.append(self._emitted(host, rows))
            reached.append(own)
        if len(found) == 1:
            yield from found[0]
        else:
            yield from merge(*map(_rows_of, found), key=self._place)
        self._after(reached)

    def collect(self, stretches: Iterable[tuple[Mapping[str, Sequence[Batch]], int]], into: Collects) -> None:
        """All rows of streams in the order of time, as columns, in the order of `feed`."""
        if len(self.hosts) > 1:
            into.add_rows(row for batches, watermark in stretches for row in self.feed(batches, watermark))
            return
        (host,) = self.hosts
        for batches, watermark in stretches:
            for solutions, order in self._ordered(host, self._added(batches), watermark):
                into.add(solutions, order)
            self._after([watermark])

    def run(self, streams: Mapping[str, Sequence[Batch]]) -> Iterator[Row]:
        """All rows of finite streams, whatever order their events are in."""
        for batches, watermark in in_time_order(streams):
            yield from self.feed(batches, watermark)

    def ids(self, row: Row) -> list[str]:
        """The ids of a row's events, in pattern order."""
        return [self.log.id(ref) for ref in row.refs]

    def warnings(self) -> list[str]:
        """What there is to say of a finite input at its end; each thing once."""
        return list(dict.fromkeys(text for host in self.hosts for text in host.ties.warnings()))

    def rejected(self) -> Iterator[tuple[ArrivedBatch, int, str]]:
        """The events since the last call that extraction refused: batch, number in it, and reason; each once, whichever
        stages refuse it."""
        found: dict[int, str] = {}
        for host in self.hosts:
            found = host.rejected | found
            host.rejected = {}
        for ref, reason in found.items():
            arrived = self.log.find(ref)
            yield arrived, ref - arrived.first_ref, reason

    def _added(self, batches: Mapping[str, Sequence[Batch]]) -> dict[str, list[ArrivedBatch]]:
        """Events from outside, as the log knows them."""
        found: dict[str, list[ArrivedBatch]] = {}
        for name, listed in batches.items():
            found[name] = [self.log.add(name, batch) for batch in listed if len(batch)]
            for arrived in found[name]:
                self.taken += len(arrived.batch)
                self.domain.domain = self.domain.domain or Domain(int(arrived.batch.domains[0]))
                last = int(arrived.batch.ends.max())
                self.latest = last if self.latest is None else max(self.latest, last)
        return found

    def _ordered(
        self,
        host: Host,
        streams: Mapping[str, list[ArrivedBatch]],
        watermark: int,
        advanced: int | None = None,
        heard: Mapping[str, int] = MappingProxyType({}),
    ) -> Iterator[Ordered]:
        read = [
            arrived
            for stream in host.stage.program.streams
            for arrived in self._upto(host, stream.name, streams.get(stream.name, ()), watermark)
        ]
        own = [heard[stream.name] for stream in host.stage.program.streams if stream.name in heard]
        return host.emit(
            host.extract(read),
            watermark,
            latest=self.latest,
            heard=max(own, default=None),
            domain=self.domain.domain,
            advanced=advanced,
        )

    def _watermark(self, host: Host, derived: Mapping[str, int], watermark: int) -> int:
        """The watermark of a stage: that of the stream, among those it reads, which is furthest behind."""
        streams = host.stage.program.streams
        return min(watermark, *(derived.get(stream.name, watermark) for stream in streams))

    def _derives_from(self, host: Host, watermark: int) -> int:
        """The earliest time that events may have which a stage has yet to make. The end of input may make some at the
        time of the latest event, however far the watermark has come."""
        if watermark == NEVER or self.latest is None or not host.stage.program.ends_with_input:
            return watermark
        return min(watermark, self.latest)

    def _upto(self, host: Host, stream: str, listed: Sequence[ArrivedBatch], time: int) -> list[ArrivedBatch]:
        """The events of a stream up to a time, those that waited for it first; later ones wait. Only derived events,
        which are in the order of time, are ever later than the watermark of a stage that reads them."""
        if stream not in self.dataflow.derived:
            return list(listed)
        every = [*self.waiting.pop((host.number, stream), ()), *listed]
        # in an order, all events of a time are taken at once (C-9)
        side: Literal["left", "right"] = "left" if host.stage.program.order else "right"
        cuts = [int(np.searchsorted(each.batch.ends, time, side=side)) for each in every]
        later = [_part(each, cut, len(each.batch)) for each, cut in zip(every, cuts, strict=True)]
        if any(len(each.batch) for each in later):
            self.waiting[host.number, stream] = [each for each in later if len(each.batch)]
        return [_part(each, 0, cut) for each, cut in zip(every, cuts, strict=True) if cut]

    def _emitted(self, host: Host, found: Iterator[Ordered]) -> Iterator[Row | StageSolutions]:
        if not host.stage.makes_events:
            for solutions, order in found:
                yield StageSolutions(solutions if order is None else solutions.take(order), host.number)
            return
        for solutions, number, _, event in host.derive(found, self.domain.known):
            (row,) = solutions.take(np.array([number], np.int64)).rows(stage=host.number)
            row.event = event
            yield row

    def _feed_stream(self, host: Host, found: Iterator[Ordered], streams: dict[str, list[ArrivedBatch]]) -> None:
        """Add the events that a stage makes to the stream that it feeds, in the order of time."""
        assert host.stage.feeds is not None
        name = host.stage.feeds.stream
        events = [event for _, _, _, event in host.derive(found, self.domain.known)]
        if events:
            batch = encode(events, stream=name, first=self.derived)
            self.derived += len(events)
            streams.setdefault(name, []).append(self.log.add(name, batch))

    def _place(self, row: Row) -> tuple[object, ...]:
        return row.certain, row.end, row.start, [*map(id_key, self.ids(row))], row.query or row.stage

    def _after(self, watermarks: Sequence[int]) -> None:
        """Report what timed out at the watermark of each stage, and evict batches that nothing needs."""
        for host, watermark in zip(self.hosts, watermarks, strict=True):
            self.timed_out += host.expire(watermark, self.domain.known)
        if self.log.is_large:
            others = [ref for each in self.timed_out for ref in each.row.refs]
            others += [each.first_ref for listed in self.waiting.values() for each in listed]
            self.log.retain(np.concatenate([*(host.held() for host in self.hosts), np.array(others, np.int64)]))


class StageSolutions(NamedTuple):
    """Solutions that a stage emits, in their order."""

    solutions: Solutions
    stage: int


def _rows_of(found: Iterable[Row | StageSolutions]) -> list[Row]:
    """The rows, all of them."""
    rows: list[Row] = []
    for each in found:
        rows += [each] if isinstance(each, Row) else each.solutions.rows(stage=each.stage)
    return rows


def _part(arrived: ArrivedBatch, first: int, last: int) -> ArrivedBatch:
    """Some events of a batch that is in the order of time."""
    if first == 0 and last == len(arrived.batch):
        return arrived
    return ArrivedBatch(arrived.stream, arrived.batch.take(np.arange(first, last)), arrived.first_ref + first)


# From rows to matches: events found again in their batches, and problems.

_FEW = 1024
"""Input objects that are retained without asking whether their batches still are."""


@dataclass(slots=True)
class Answers:
    """Builds matches of rows. Events that came as objects come out as the same objects."""

    flow: LocalFlow
    counts: Counts = field(default_factory=Counts)
    objects: dict[int, tuple[EventBatch, Sequence[Event]]] = field(default_factory=dict)  # by identity of the terms
    _look_at: int = _FEW
    _latest: tuple[LocatedBatch, ...] = field(default=(), repr=False)  # of the last match

    def remember(self, batch: EventBatch, events: Sequence[Event]) -> None:
        """Note which objects a batch was encoded from; its parts have the same dictionary."""
        self.objects[id(batch.terms)] = (batch, events)

    def of(self, found: Iterable[Row | StageSolutions], domain: Domain) -> Iterator[Match]:
        """A match for each row."""
        counts = self.counts
        for each in found:
            if isinstance(each, Row):
                counts.matches += 1
                yield Match.of(each, domain, self._located(each.refs))
                continue
            solutions, stage = each
            answered = Answered(solutions, domain, self._batches(solutions.events.get().refs), stage)
            for number in range(len(solutions)):
                counts.matches += 1
                yield Match(answered, number)
        self._evict()

    def _batches(self, refs: Ints) -> tuple[LocatedBatch, ...]:
        """The batches that some events are in, in the order of their refs."""
        found: list[LocatedBatch] = []
        remaining = np.unique(refs)
        while len(remaining):
            found.append(self._find(int(remaining[0])))
            remaining = remaining[np.searchsorted(remaining, found[-1].stop) :]
        return tuple(found)

    def problems(self, domain: Domain) -> Iterator[Problem]:
        """Since the last call: events that extraction refused, which are bad, and partial matches that timed out."""
        for arrived, number, reason in self.flow.rejected():
            self.counts.bad += 1
            self.counts.events -= arrived.stream not in self.flow.dataflow.derived  # it was counted as it arrived
            yield Problem("bad", reason, arrived.stream, event=arrived.batch.event(number))
        timed_out, self.flow.timed_out = self.flow.timed_out, []
        for each in timed_out:
            self.counts.timed_out += 1
            located = zip(self._located(each.row.refs), each.row.refs, strict=True)
            events = tuple(batch.held(ref).event() for batch, ref in located)
            yield Problem("timed_out", each.reason, each.stream, events[-1], events=events, bindings=each.row.bindings)

    def _located(self, refs: Sequence[int]) -> tuple[LocatedBatch, ...]:
        """The batch that each of some events is in: often the same for all, and the same as for the last match."""
        found = []
        batch = self._latest[0] if self._latest else None
        for ref in refs:
            if batch is None or not batch.first <= ref < batch.stop:
                batch = self._find(ref)
            found.append(batch)
        located = tuple(found)
        if located != self._latest:
            self._latest = located
        return self._latest

    def _find(self, ref: int) -> LocatedBatch:
        arrived = self.flow.log.find(ref)
        batch, first = arrived.batch, arrived.first_ref
        if not isinstance(batch, EventBatch) or id(batch.terms) not in self.objects:
            return LocatedBatch(batch, first, first + len(batch))
        whole, events = self.objects[id(batch.terms)]
        return LocatedBatch(batch, first, first + len(batch), events, int(whole.positions[0]))

    def _evict(self) -> None:
        """Drop the objects of batches that the flow has evicted."""
        self._latest = ()
        if len(self.objects) < self._look_at:
            return
        alive = {id(each.batch.terms) for each in self.flow.log.batches}
        self.objects = {key: value for key, value in self.objects.items() if key in alive}
        self._look_at = max(_FEW, 2 * len(self.objects))
