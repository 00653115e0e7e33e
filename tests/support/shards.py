"""The pipeline on Spark without Spark: what its workers run, called one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from thence.columns.batches import Batch, encode
from thence.engines.automaton.operator import AutomatonOperator
from thence.interface.dataflow import Stage
from thence.interface.operator import Environment, Operator, Program
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf.events import BadEvent, Event
from thence.rdf.times import Domain
from thence.runtime.watermark import TimeDomain
from thence.spark.sources.row_positions import SourcedBatch
from thence.spark.worker.output_rows import HIDDEN, RowWriter
from thence.spark.worker.stages import Answering, Packing

Given = Sequence[tuple[str, Event]]
"""Events, each with its stream."""


@dataclass(frozen=True)
class Numbered:
    """Decodes rows that are numbers of events; an event's number keeps its blank nodes apart. `positions` are where
    each event stood at the source; without, ids order events of one time."""

    stream: str
    events: tuple[Event, ...]
    positions: tuple[int, ...] | None = None

    def read(self, record: pa.RecordBatch) -> Iterator[Batch | SourcedBatch | BadEvent]:
        numbers = record.column("number").to_pylist()
        begins = [place for place, number in enumerate(numbers) if not place or number != numbers[place - 1] + 1]
        for first, last in pairwise([*begins, len(numbers)]):
            events = [self.events[number] for number in numbers[first:last]]
            batch = encode(events, stream=self.stream, first=numbers[first])
            if self.positions is None:
                yield batch
            else:
                yield SourcedBatch(batch, "", np.array(self.positions)[numbers[first:last]])


@dataclass(frozen=True)
class Pipeline:
    """A query over some events, in a number of shards."""

    program: Program
    events: Given
    shards: int
    background: Background = NO_BACKGROUND
    lateness: int = 0
    partial: bool = False
    operator: Operator[Any, Any] = field(default_factory=AutomatonOperator)
    positions: tuple[int, ...] | None = None
    max_steps: int = 10_000
    domain: Domain = Domain.TICKS
    saved: dict[int, bytes] = field(default_factory=dict)  # the shards' states, after the last micro-batch

    @property
    def count(self) -> int:
        return len(self.events)

    @property
    def stage(self) -> Stage:
        return Stage(self.program, self.operator)

    def answering(self, *, running: bool = True) -> Answering:
        streams = tuple(stream.name for stream in self.program.streams)
        return Answering(
            RowWriter(self.stage, self.domain, "struct", problems=True),
            streams,
            self.shards,
            Environment(self.background, keeps_expired=self.partial, running=running, max_steps=self.max_steps),
            lateness=self.lateness,
        )

    def batch(self) -> list[Mapping[str, object]]:
        """All events at once: nothing is late."""
        rows = self._packed(range(self.count), streaming=False)
        rows.sort(key=lambda row: (row["shard"], row["first"] is not None, row["first"]))
        return [row for record in self.answering(running=False)([_record(rows)]) for row in plain(record)]

    def micro_batches(
        self, cut: Iterable[Sequence[int]], *, kept: Callable[[bytes], bytes] = bytes
    ) -> list[Mapping[str, object]]:
        """Some events after the others; between them only bytes are left, as `kept` keeps them."""
        answering = self.answering()
        saved = self.saved
        found: list[Mapping[str, object]] = []
        for numbers in cut:
            rows = self._packed(numbers, streaming=True)
            for shard in range(self.shards):
                state = answering.shard(shard)
                if shard in saved:
                    state.load(kept(saved[shard]), self.shards)
                own = [row for row in rows if row["shard"] == shard]
                for record in answering.micro_batch(state, own):
                    found += plain(record)
                saved[shard] = state.save(self.shards)
        return found

    def _packed(self, numbers: Iterable[int], *, streaming: bool) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        wanted = list(numbers)
        for stream in self.program.streams:
            own = [number for number in wanted if self.events[number][0] == stream.name]
            decoder = Numbered(stream.name, tuple(event for _, event in self.events), self.positions)
            domain = TimeDomain(self.domain, "the test")
            packing = Packing(
                self.program, stream.name, decoder, domain, self.shards, streaming, False, self.background
            )
            record = pa.RecordBatch.from_pydict({"number": pa.array(own, pa.int64())})
            for each in packing([record]) if own else ():
                found += each.to_pylist()
        return found


def plain(record: pa.RecordBatch) -> list[dict[str, object]]:
    """Rows, by plain names: those of problems and of what answers are ordered by begin with `?`."""
    rows = record.to_pylist()
    return [{name.lstrip("?"): cell for name, cell in row.items() if name != HIDDEN[-1]} for row in rows]


def _record(rows: list[dict[str, object]]) -> pa.RecordBatch:
    from thence.spark.worker.stages import PACKED

    return pa.RecordBatch.from_pylist(rows, schema=PACKED)
