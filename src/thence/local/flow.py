"""A dataflow in one process: batches in the order of time go in, rows come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from typing import TYPE_CHECKING

import numpy as np

from thence.columns.event_batch import encode
from thence.local.match_table import MatchTable
from thence.local.time_order import in_time_order
from thence.program.dataflow import Dataflow
from thence.program.extracted import ArrivedBatch
from thence.program.operator import NEVER, Environment
from thence.program.solutions import Row
from thence.rdf.times import Domain
from thence.runtime.event_log import BatchLog
from thence.runtime.host import Host, TimedOut
from thence.runtime.ordering import Ordered

if TYPE_CHECKING:
    from thence.columns.column_batch import Batch


@dataclass(slots=True)
class LocalFlow:
    """The hosts of a dataflow's stages, which know each event by one ref."""

    dataflow: Dataflow
    environment: Environment = field(default_factory=Environment)
    log: BatchLog = field(init=False, default_factory=BatchLog)
    hosts: tuple[Host, ...] = field(init=False)
    timed_out: list[TimedOut] = field(init=False, default_factory=list)  # not yet reported
    domain: Domain = field(init=False, default=Domain.TICKS)
    _derived: int = field(init=False, default=0)  # events that stages have made
    _latest: int | None = field(init=False, default=None)  # the time of the latest event from outside
    _waiting: dict[tuple[int, str], list[ArrivedBatch]] = field(init=False, default_factory=dict)
    """By stage and stream: derived events beyond the stage's watermark."""

    def __post_init__(self) -> None:
        self.hosts = tuple(
            Host(stage, self.log, self.environment, number) for number, stage in self.dataflow.numbered()
        )

    def fresh(self) -> LocalFlow:
        """The same dataflow, before any event."""
        return replace(self)

    @property
    def waits_for_time(self) -> bool:
        """Whether rows may become certain, or partial matches time out, without another event."""
        return self.environment.keeps_expired or any(host.stage.program.waits_for_time for host in self.hosts)

    def feed(
        self, batches: Mapping[str, Sequence[Batch]], watermark: int, *, advanced: int | None = None
    ) -> Iterator[Row]:
        """Events by stream, none of them before any fed earlier; no event before `watermark` will come. `advanced` is
        the time that the user said so of, if it was said (RS-21)."""
        streams = self._added(batches)
        derived: dict[str, int] = {}  # the watermarks of derived streams
        found, reached = [], []
        for host in self.hosts:
            own = self._watermark(host, derived, watermark)
            rows = self._ordered(host, streams, own, advanced)
            feeds = host.stage.feeds
            if feeds is not None:
                self._feed_stream(host, rows, streams)
                derived[feeds.stream] = min(derived.get(feeds.stream, own), self._derives_from(host, own))
            else:
                found.append(self._emitted(host, rows))
            reached.append(own)
        yield from found[0] if len(found) == 1 else merge(*map(list, found), key=self._place)
        self._after(reached)

    def collect(self, stretches: Iterable[tuple[Mapping[str, Sequence[Batch]], int]], into: MatchTable) -> None:
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
                self.domain = Domain(int(arrived.batch.domains[0]))
                last = int(arrived.batch.ends.max())
                self._latest = last if self._latest is None else max(self._latest, last)
        return found

    def _ordered(
        self, host: Host, streams: Mapping[str, list[ArrivedBatch]], watermark: int, advanced: int | None = None
    ) -> Iterator[Ordered]:
        read = [
            arrived
            for stream in host.stage.program.streams
            for arrived in self._upto(host, stream.name, streams.get(stream.name, ()), watermark)
        ]
        return host.emit(host.extract(read), watermark, latest=self._latest, advanced=advanced)

    def _watermark(self, host: Host, derived: Mapping[str, int], watermark: int) -> int:
        """That of a stage: of the streams it reads, the one that is furthest behind."""
        streams = host.stage.program.streams
        return min(watermark, *(derived.get(stream.name, watermark) for stream in streams))

    def _derives_from(self, host: Host, watermark: int) -> int:
        """The earliest time that events may have which a stage has yet to make. The end of input may make some at the
        time of the latest event, however far the watermark has come."""
        if watermark == NEVER or self._latest is None or not host.stage.program.ends_with_input:
            return watermark
        return min(watermark, self._latest)

    def _upto(self, host: Host, stream: str, listed: Sequence[ArrivedBatch], time: int) -> list[ArrivedBatch]:
        """The events of a stream up to a time, those that waited for it first; later ones wait. Only derived events,
        which are in the order of time, are ever later than the watermark of a stage that reads them."""
        if stream not in self.dataflow.derived:
            return list(listed)
        every = [*self._waiting.pop((host.number, stream), ()), *listed]
        cuts = [int(np.searchsorted(each.batch.ends, time, side="right")) for each in every]
        later = [_part(each, cut, len(each.batch)) for each, cut in zip(every, cuts, strict=True)]
        if any(len(each.batch) for each in later):
            self._waiting[host.number, stream] = [each for each in later if len(each.batch)]
        return [_part(each, 0, cut) for each, cut in zip(every, cuts, strict=True) if cut]

    def _emitted(self, host: Host, found: Iterator[Ordered]) -> Iterator[Row]:
        if not host.stage.makes_events:
            for solutions, order in found:
                yield from solutions.rows(order, stage=host.number)
            return
        for solutions, number, _, event in host.derive(found, self.domain):
            (row,) = solutions.take(np.array([number], np.int64)).rows(stage=host.number)
            row.event = event
            yield row

    def _feed_stream(self, host: Host, found: Iterator[Ordered], streams: dict[str, list[ArrivedBatch]]) -> None:
        """Add the events that a stage makes to the stream that it feeds, in the order of time."""
        assert host.stage.feeds is not None
        name = host.stage.feeds.stream
        events = [event for _, _, _, event in host.derive(found, self.domain)]
        if events:
            batch = encode(events, stream=name, first=self._derived)
            self._derived += len(events)
            streams.setdefault(name, []).append(self.log.add(name, batch))

    def _place(self, row: Row) -> tuple[int, int, int, list[str], int]:
        return row.certain, row.end, row.start, self.ids(row), row.query or row.stage

    def _after(self, watermarks: Sequence[int]) -> None:
        """Report what timed out at the watermark of each stage, and evict batches that nothing needs."""
        for host, watermark in zip(self.hosts, watermarks, strict=True):
            self.timed_out += host.expire(watermark, self.domain)
        if self.log.is_large:
            others = [ref for each in self.timed_out for ref in each.row.refs]
            others += [each.first_ref for listed in self._waiting.values() for each in listed]
            self.log.retain(np.concatenate([*(host.held() for host in self.hosts), np.array(others, np.int64)]))


def _part(arrived: ArrivedBatch, first: int, last: int) -> ArrivedBatch:
    """Some events of a batch that is in the order of time."""
    if first == 0 and last == len(arrived.batch):
        return arrived
    return ArrivedBatch(arrived.stream, arrived.batch.take(np.arange(first, last)), arrived.first_ref + first)
