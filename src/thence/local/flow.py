"""A dataflow in one process: batches in the order of time go in, rows come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from typing import TYPE_CHECKING

import numpy as np

from thence.local.tables import Collected
from thence.local.timeline import in_time
from thence.program.dataflow import Dataflow
from thence.program.operator import Environment
from thence.program.solutions import Row
from thence.rdf.columns import encode
from thence.rdf.times import Domain
from thence.runtime.event_log import BatchLog
from thence.runtime.host import Host, TimedOut
from thence.runtime.ordering import Ordered

if TYPE_CHECKING:
    from thence.kernel.rows import Arrived
    from thence.rdf.column_batch import Batch


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

    def feed(self, batches: Mapping[str, Sequence[Batch]], watermark: int) -> Iterator[Row]:
        """Events by stream, none of them before any fed earlier; no event before `watermark` will come."""
        streams = {name: [self._add(name, batch) for batch in listed if len(batch)] for name, listed in batches.items()}
        answers = [host for host in self.hosts if host.stage.feeds is None]
        for host in self.hosts:
            if host.stage.feeds is not None:
                self._feed_stream(host, streams, watermark)
        if len(answers) == 1:
            yield from self._emitted(answers[0], self._ordered(answers[0], streams, watermark))
        else:
            found = [list(self._emitted(host, self._ordered(host, streams, watermark))) for host in answers]
            yield from merge(*found, key=self._place)
        self._after(watermark)

    def collect(self, stretches: Iterable[tuple[Mapping[str, Sequence[Batch]], int]], into: Collected) -> None:
        """All rows of streams in the order of time, as columns, in the order of `feed`."""
        if len(self.hosts) > 1:
            into.add_rows(row for batches, watermark in stretches for row in self.feed(batches, watermark))
            return
        (host,) = self.hosts
        for batches, watermark in stretches:
            streams = {
                name: [self._add(name, batch) for batch in listed if len(batch)] for name, listed in batches.items()
            }
            for solutions, order in self._ordered(host, streams, watermark):
                into.add(solutions, order)
            self._after(watermark)

    def run(self, streams: Mapping[str, Sequence[Batch]]) -> Iterator[Row]:
        """All rows of finite streams, whatever order their events are in."""
        for batches, watermark in in_time(streams):
            yield from self.feed(batches, watermark)

    def ids(self, row: Row) -> list[str]:
        """The ids of a row's events, in pattern order."""
        return [self.log.id(ref) for ref in row.refs]

    def rejected(self) -> Iterator[tuple[Arrived, int, str]]:
        """The events since the last call that extraction refused: batch, number in it, and reason; each once, whichever
        stages refuse it."""
        found: dict[int, str] = {}
        for host in self.hosts:
            found = host.rejected | found
            host.rejected = {}
        for ref, reason in found.items():
            arrived = self.log.find(ref)
            yield arrived, ref - arrived.first_ref, reason

    def _add(self, stream: str, batch: Batch) -> Arrived:
        self.domain = Domain(int(batch.domains[0]))
        return self.log.add(stream, batch)

    def _ordered(self, host: Host, streams: Mapping[str, list[Arrived]], watermark: int) -> Iterator[Ordered]:
        read = (arrived for stream in host.stage.program.streams for arrived in streams.get(stream.name, ()))
        return host.emit(host.extract(list(read)), watermark)

    def _emitted(self, host: Host, found: Iterator[Ordered]) -> Iterator[Row]:
        if not host.stage.makes_events:
            for solutions, order in found:
                yield from solutions.rows(order, stage=host.number)
            return
        for solutions, number, _, event in host.derive(found, self.domain):
            (row,) = solutions.take(np.array([number], np.int64)).rows(stage=host.number)
            row.event = event
            yield row

    def _feed_stream(self, host: Host, streams: dict[str, list[Arrived]], watermark: int) -> None:
        """Add the events that a stage makes to the stream that it feeds, in the order of time."""
        assert host.stage.feeds is not None
        name = host.stage.feeds.stream
        found = host.derive(self._ordered(host, streams, watermark), self.domain)
        events = [event for _, _, _, event in found]
        if events:
            batch = encode(events, stream=name, first=self._derived)
            self._derived += len(events)
            streams.setdefault(name, []).append(self._add(name, batch))

    def _place(self, row: Row) -> tuple[int, int, int, list[str]]:
        return row.certain, row.end, row.start, self.ids(row)

    def _after(self, watermark: int) -> None:
        for host in self.hosts:
            self.timed_out += host.expire(watermark, self.domain)
        if self.log.is_large:
            reported = [ref for each in self.timed_out for ref in each.row.refs]
            self.log.retain(np.concatenate([*(host.held() for host in self.hosts), np.array(reported, np.int64)]))
