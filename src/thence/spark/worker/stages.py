"""The two halves of the pipeline, as Spark's workers run them over Arrow batches. No Spark in here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field, replace
from itertools import groupby
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thence.columns.arrays import Ints
from thence.columns.batches import Batch, ColumnBatch
from thence.columns.dictionary import Terms
from thence.columns.texts import Texts
from thence.extraction.extract import extract, rejected_by
from thence.interface.extracted import ArrivedBatch
from thence.interface.operator import NEVER, Environment, Program
from thence.interface.tables import Table
from thence.match.background import NO_BACKGROUND, Background
from thence.match.context import Context
from thence.rdf.events import BadCell, BadEvent
from thence.rdf.times import Domain
from thence.runtime.watermark import TimeDomain, Watermark, late_reason
from thence.spark.sources.row_decoder import Decoder
from thence.spark.sources.row_positions import SourcedBatch
from thence.spark.worker.chunks import MOST, Chunk, pack_chunk, split_by_shard, unpack_chunk
from thence.spark.worker.output_rows import INNER, ProblemRow, RowWriter, problem_row, timed_out_rows
from thence.spark.worker.shard import Shard

# Derived events of one stage as another reads them: among their rows are the problems that were reported before.


@dataclass(frozen=True, slots=True)
class DerivedReader:
    """Reads the rows of a stage that makes events. Problems among them are passed on by the first reader of the stream
    alone."""

    events: Decoder
    reports: bool = True

    @property
    def domain(self) -> Domain | None:
        return self.events.domain

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        return self.events.names

    def read(self, record: Any) -> Iterator[Batch | SourcedBatch | ProblemRow]:
        is_event = pc.is_null(record.column(INNER[0]))
        for found in self.events.read(record.filter(is_event)):
            if isinstance(found, BadEvent):
                yield problem_row(found, self.events.stream)
            else:
                yield found
        if not self.reports:
            return
        names = [name for name in INNER if name in record.schema.names]
        for row in record.filter(pc.invert(is_event)).select(names).to_pylist():
            yield ProblemRow(*(row.get(name) for name in INNER))


# The two halves of the pipeline, as what Spark's workers run over Arrow batches. No Spark in here.
#
# `Packing` decodes events, extracts what the program asks for and packs it for each shard; `Answering` takes one
# shard's packed chunks, runs its host, and emits rows. They are pickled to the workers with the program.

TOGETHER = 131_072
"""Events that are decoded and sorted together. The more, the shorter the stretch of time of each chunk."""

FED = 65_536
"""Events that one step of the host takes at most."""

PACKED = pa.schema(
    [
        ("shard", pa.int32()),
        ("stream", pa.string()),
        ("first", pa.int64()),  # the earliest time in it
        ("since", pa.int64()),  # the earliest and the latest time of all events that were read with these, which all
        ("last", pa.int64()),  # for every shard: how far the stream has come
        ("events", pa.int64()),  # read, each counted once
        ("packed", pa.binary()),  # a chunk; null: only how far time has come
        ("problems", pa.string()),  # bad events, as JSON
    ]
)


class Decodes(Protocol):
    """Makes events of a DataFrame's rows."""

    def read(self, record: pa.RecordBatch) -> Iterator[Batch | SourcedBatch | BadEvent | ProblemRow]: ...


@dataclass(frozen=True, slots=True)
class Packing:
    """Events of one stream → packed chunks. In streaming, all shards learn how far the stream has come, and late events
    are counted; of finite input they learn it where its end completes rows. `reports`: this stage counts the stream's
    events and reports its bad and late ones; it reports those, too, that extraction refuses for `other_tables`.
    `time_only`: forward this stream's watermark, not its events."""

    program: Program
    stream: str
    decoder: Decodes
    domain: TimeDomain
    shards: int
    streaming: bool
    numbered: bool
    background: Background = NO_BACKGROUND
    reports: bool = True
    derived: bool = False  # a stage made the events, and whoever made them counted what they were made of
    time_only: bool = False
    other_tables: tuple[Table, ...] = ()

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for some in _together(records, TOGETHER):
            yield from map(_record, self._packed(some))

    def _packed(self, record: pa.RecordBatch) -> Iterator[dict[str, object]]:
        problems: list[ProblemRow] = []
        for found in self.decoder.read(record):
            if isinstance(found, BadEvent):
                problems += [problem_row(found, self.stream)] if self.reports else []
            elif isinstance(found, ProblemRow):
                problems.append(found)
            elif isinstance(found, SourcedBatch):
                ordered = self.program.tie_order.by_source
                yield from self._rows(found.batch, problems, found.lines if ordered else None, found.file)
            else:
                yield from self._rows(found, problems)
        if problems:
            listed = json.dumps([astuple(problem) for problem in problems])
            count = sum(problem.problem != BadCell.problem for problem in problems) if self._counts else 0
            yield {"shard": 0, "stream": self.stream, "events": count, "problems": listed}

    @property
    def _counts(self) -> bool:
        return self.reports and not self.derived

    def _rows(
        self, batch: Batch, problems: list[ProblemRow], lines: Ints | None = None, file: str = ""
    ) -> Iterator[dict[str, object]]:
        chosen = self._of_the_domain(batch, problems)
        if chosen is not None:
            batch, lines = batch.take(chosen), None if lines is None else lines[chosen]
        yield from self._packed_events(batch, problems, lines, file) if len(batch) else ()

    def _packed_events(
        self, events: Batch, problems: list[ProblemRow], lines: Ints | None, file: str
    ) -> Iterator[dict[str, object]]:
        if self.time_only:
            since, last = int(events.ends[0]), int(events.ends[-1])
            common = {"stream": self.stream, "first": since, "since": since, "last": last, "events": 0}
            yield from (common | {"shard": shard} for shard in range(self.shards))
            return
        terms, refused = Terms(), dict[int, str]()
        terms.add_all(self.program.constants)  # first, so that they have their ids: predicates name them
        arrived = [ArrivedBatch(self.stream, events, 0)]
        found = extract(self.program, arrived, terms, self.background, Context(), refused)
        bad = tuple(refused)
        refused = self._reported(events, refused)
        problems += [ProblemRow("bad", why, events.id(number), self.stream) for number, why in refused.items()]
        common = {"stream": self.stream, "since": int(events.ends[0]), "last": int(events.ends[-1])}
        count = len(events) - len(refused) if self._counts else 0  # these are counted among the bad
        heard = set()
        chunks = split_by_shard(
            self.program,
            self.stream,
            found,
            terms,
            events.starts,
            _ids(events),
            shards=self.shards,
            numbered=self.numbered,
            # in an order, events that match nothing may come between others
            homes=self.streaming or bool(self.program.order and not self.program.shard_key.names),
            reported=tuple(refused),
            bad=bad,
            lines=lines,
            file=file,
        )
        for shard, whole in chunks:
            heard.add(shard)
            for chunk in whole.pieces(MOST):
                yield common | {"shard": shard, "first": chunk.first, "events": count, "packed": pack_chunk(chunk)}
                count = 0
        every = self.streaming or self.program.ends_with_input
        silent = set(range(self.shards if every else 1)) - heard
        for shard in sorted(silent):
            yield common | {"shard": shard, "first": int(events.ends[0]), "events": count}
            count = 0

    def _reported(self, events: Batch, refused: dict[int, str]) -> dict[int, str]:
        """The refused events that this stage reports, with the first reason: those that later stages refuse, too."""
        if not self.reports:
            return {}
        return rejected_by(self.other_tables, events, self.background) | refused

    def _of_the_domain(self, batch: Batch, problems: list[ProblemRow]) -> Ints | None:
        """The events whose time is one of the query's, in the order of time; None: all, as they are."""
        fits = self.domain.fits(batch)
        for number in np.flatnonzero(~fits).tolist() if self.reports else ():
            reason = self.domain.objection(batch.event(number)) or ""
            problems.append(ProblemRow("bad", reason, batch.id(number), self.stream))
        in_order = fits.all() and (batch.ends[1:] >= batch.ends[:-1]).all()
        if in_order:
            return None
        chosen = np.flatnonzero(fits)
        found: Ints = chosen[np.argsort(batch.ends[chosen], kind="stable")]
        return found


def _record(row: dict[str, object]) -> pa.RecordBatch:
    """One row, alone: a chunk is large, and copied into no other batch."""
    columns = [pa.array([row.get(field.name)], field.type) for field in PACKED if field.name != "packed"]
    content = row.get("packed")
    chunk = pa.nulls(1, pa.binary())
    if isinstance(content, bytes):
        ends = pa.py_buffer(np.array([0, len(content)], np.int32))
        chunk = pa.Array.from_buffers(pa.binary(), 1, [None, ends, pa.py_buffer(content)])
    columns.insert(PACKED.get_field_index("packed"), chunk)
    return pa.RecordBatch.from_arrays(columns, schema=PACKED)


def _together(records: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """The same rows in fewer batches."""
    waiting: list[pa.RecordBatch] = []
    for record in records:
        if waiting and sum(each.num_rows for each in waiting) + record.num_rows > most:
            yield _one(waiting)
            waiting = []
        waiting.append(record)
    if waiting:
        yield _one(waiting)


def _one(records: list[pa.RecordBatch]) -> pa.RecordBatch:
    return records[0] if len(records) == 1 else pa.concat_batches(records)


def _ids(batch: Batch) -> Texts:
    """The ids of a batch's events."""
    if isinstance(batch, ColumnBatch):
        assert batch.table.ids is not None, "the decoder names every row"
        rows = batch.rows if isinstance(batch.rows, slice) else pa.array(batch.rows)
        chosen = batch.table.ids[rows] if isinstance(rows, slice) else batch.table.ids.take(rows)
        return Texts.of_arrow(chosen)
    return Texts.of([batch.id(number) for number in range(len(batch))])


@dataclass(frozen=True, slots=True)
class Answering:
    """A shard's packed chunks → rows."""

    writer: RowWriter
    streams: tuple[str, ...]  # whose times the watermark goes by
    shards: int
    environment: Environment = field(default_factory=Environment)
    number: int = 1  # the stage's position
    reports: frozenset[str] | None = None  # streams whose late events this stage reports; None: all
    lateness: int = 0
    idle: frozenset[str] = frozenset()
    idle_after: int | None = None

    def shard(self, number: int = 0) -> Shard:
        watermark = Watermark(self.streams, self.lateness, self.idle, self.idle_after)
        environment = replace(self.environment, shard=(number, self.shards))
        return Shard(self.writer.stage, watermark, environment, self.number)

    # Finite input: chunks come in the order of their first times

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows in groupby(_rows(records), key=lambda row: int(row["shard"])):
            yield from self._all(self.shard(number), rows)

    def _all(self, shard: Shard, rows: Iterable[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
        latest: int | None = None
        for row in rows:
            yield from self._problems(row)
            if row["last"] is not None:
                latest = row["last"] if latest is None else max(latest, row["last"])
            if row["packed"] is None:
                continue
            chunk = unpack_chunk(self.writer.stage.program, row["packed"])
            if sum(len(each) for each in shard.waiting) >= FED:
                yield from self._emitted(shard, chunk.first, chunk.first)
            shard.add([chunk])
        yield from self._emitted(shard, NEVER, NEVER, latest)

    def _emitted(
        self, shard: Shard, before: int, watermark: int, latest: int | None = None, times_before: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        writer, domain = self.writer, self.writer.domain
        found = shard.emit(before, watermark, times_before=times_before, latest=latest, domain=domain)
        if writer.stage.makes_events:
            yield from writer.events(shard.host.derive(found, domain), shard.host)
        else:
            yield from (writer.rows(solutions, shard.host) for solutions, _ in found)
        timed_out = shard.host.expire(watermark, domain)
        if timed_out:
            yield writer.problem_rows(timed_out_rows(timed_out))
        shard.evict()

    def _problems(self, row: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        if row["problems"] is not None:
            yield self.writer.problem_rows(ProblemRow(*found) for found in json.loads(row["problems"]))

    # A stream: what came in one micro-batch, in any order

    def micro_batch(self, shard: Shard, rows: Iterable[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
        """The rows that are certain after some more chunks. Lateness is judged by what came before them."""
        heard: dict[str, tuple[int, int]] = {}
        for row in rows:
            yield from self._problems(row)
            if row["last"] is None:
                continue
            stream, first, last = row["stream"], row["since"], row["last"]
            if stream in self.streams:  # derived streams say nothing of time
                known = heard.get(stream, (first, last))
                heard[stream] = min(known[0], first), max(known[1], last)
            if row["packed"] is not None:
                good, late = shard.without_late([unpack_chunk(self.writer.stage.program, row["packed"])])
                shard.add(good)
                if self.reports is None or stream in self.reports:
                    yield from (self._late(shard, chunk) for chunk in late)
        if heard:
            shard.watermark.see_all(heard)  # at once: no stream may be left out because others are seen first
        now = shard.watermark.now
        if now is not None:  # where ties are taken in order, more of this time may come
            whole = self.writer.stage.program.tie_order.is_whole
            yield from self._emitted(shard, now if whole else now + 1, now, times_before=now + 1)

    def _late(self, shard: Shard, chunk: Chunk) -> pa.RecordBatch:
        now, domain = shard.watermark.now, self.writer.domain
        assert now is not None
        home = np.flatnonzero(chunk.home)
        found = zip(chunk.ends[home].tolist(), chunk.ids.take(home).to_list(), strict=True)
        return self.writer.problem_rows(
            ProblemRow("late", late_reason(time, now, domain), name, chunk.stream) for time, name in found
        )


def _rows(records: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for record in records:
        columns = dict(zip(record.schema.names, record.columns, strict=True))
        content = columns.pop("packed")
        others = pa.RecordBatch.from_arrays(list(columns.values()), list(columns)).to_pylist()
        for number, row in enumerate(others):
            yield row | {"packed": content[number].as_py()}  # one at a time: a copy, so that the rest can go
