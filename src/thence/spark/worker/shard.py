"""One shard of a stage: chunks of extracted events in, rows out, saved between two micro-batches. No Spark in here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.id_order import id_ranks
from thence.columns.texts import Texts, concatenate_texts
from thence.interface.dataflow import Stage
from thence.interface.operator import NEVER, Environment, Program, TieOrder
from thence.interface.saved_arrays import check_array, check_texts, require
from thence.rdf.times import Domain
from thence.runtime import saved_state
from thence.runtime.event_log import IdLog
from thence.runtime.host import Host
from thence.runtime.ordering import Ordered
from thence.runtime.watermark import Watermark
from thence.spark.worker.chunks import Chunk, merge_chunks, pack_chunk, unpack_chunk
from thence.spark.worker.equal_events import Ordinals

# The order in which a shard takes events of one time (C-5, TEF-19): by stream, then by position at the source, then by
# id. Chunks come in any order; what decides is only what stands in them.


def source_order(program: Program, chunks: Sequence[Chunk], ids: Texts) -> Ints | None:
    """The order of the events of some chunks, which have these ids: by end, and where ends are equal by source; None if
    it is the one that they have."""
    if not len(ids):
        return None
    ends = np.concatenate([chunk.ends for chunk in chunks])
    order = np.argsort(ends, kind="stable")
    same = ends[order][1:] == ends[order][:-1]
    if same.any():
        tied = np.append(False, same) | np.append(same, False)
        order[tied] = _by_source(program, chunks, ids, ends, order[tied])
    return None if (order[1:] > order[:-1]).all() else order


def _by_source(program: Program, chunks: Sequence[Chunk], ids: Texts, ends: Ints, events: Ints) -> Ints:
    """Some events in order."""
    streams = [stream.name for stream in program.streams]
    sizes = [len(chunk) for chunk in chunks]
    chunk_of = np.repeat(np.arange(len(chunks)), sizes)[events]
    stream = np.array([streams.index(chunk.stream) for chunk in chunks])[chunk_of]
    file = _ranks(pa.array([chunk.file for chunk in chunks], pa.string()))[chunk_of]
    lines = [chunk.lines if len(chunk.lines) else np.zeros(len(chunk), np.int64) for chunk in chunks]
    line, called = np.concatenate(lines)[events], id_ranks(ids.take(events))
    found: Ints = events[np.lexsort((called, line, file, stream, ends[events]))]
    return found


def _ranks(texts: pa.Array) -> Ints:
    """The place of each text among them, by its bytes; equal ones have one."""
    return np.asarray(pc.rank(texts.cast(pa.binary()), tiebreaker="dense")).astype(np.int64)


@dataclass(slots=True)
class Shard:
    """A host, the ids of its events, and chunks of events that the watermark has not reached."""

    stage: Stage
    watermark: Watermark
    environment: Environment = field(default_factory=Environment)
    number: int = 1  # the stage's position
    log: IdLog = field(init=False, default_factory=IdLog)
    host: Host = field(init=False)
    ordinals: Ordinals = field(init=False, default_factory=Ordinals)
    waiting: list[Chunk] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.host = Host(self.stage, self.log, self.environment, self.number)

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Events that are not late."""
        self.waiting += chunks

    def without_late(self, chunks: Iterable[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
        """The events of some chunks that are not late, and those that are."""
        now = self.watermark.now
        if now is None:
            return list(chunks), []
        cut = [chunk.before(now) for chunk in chunks]
        return [later for _, later in cut], [late for late, _ in cut if len(late)]

    def emit(
        self,
        before: int,
        watermark: int,
        *,
        times_before: int | None = None,
        latest: int | None = None,
        domain: Domain | None = None,
    ) -> Iterator[Ordered]:
        """The rows that are certain once all events before a time are taken, and none before the watermark will come.
        Their events' ids are known until the next step. The times of all events are known before `times_before`,
        if that is another time. `latest` is the time of the latest event of all shards, `domain` the kind of time."""
        ready, rest = [], []
        for chunk in self.waiting:
            first, last = (chunk, None) if before == NEVER else chunk.before(before, heard=times_before)
            ready += [first] if len(first) or len(first.others) else []
            rest += [last] if last is not None and (len(last) or len(last.others)) else []
        self.waiting = rest
        terms = self.host.prepare()
        ready = self.ordinals.distinguished(ready)
        program, ids = self.stage.program, concatenate_texts([chunk.ids for chunk in ready])
        order = None if program.tie_order is TieOrder.ANY else source_order(program, ready, ids)
        extracted = merge_chunks(program, ready, terms, self.log.next_ref, order)
        self.log.add(ids if order is None else ids.take(order))
        own = [self.watermark.latest.get(stream.name) for stream in program.streams]
        heard = max((time for time in own if time is not None), default=None)
        return self.host.emit(extracted, watermark, latest=latest, heard=heard, domain=domain, ordered=False)

    def evict(self) -> None:
        """Drop the ids that nothing needs."""
        if self.log.is_large:
            self.log.retain(self.host.held())

    # Saved between two micro-batches

    def save(self, shards: int) -> bytes:
        """The shard as bytes, for a query of so many shards."""
        head, arrays = self.host.snapshot()  # first, since it evicts
        self.log.retain(self.host.held())
        now, last = self.watermark.now, self.ordinals.time
        if now is not None and last is not None and last < now:
            self.ordinals = Ordinals()  # more events of its time would be late
        head |= {
            "latest": self.watermark.latest,
            "now": self.watermark.now,
            "began": self.watermark.began,
            "equal": [self.ordinals.time, self.ordinals.seen],
            "waiting": len(self.waiting),
        }
        ids: list[NDArray[Any]] = [self.log.refs, self.log.texts.text, self.log.texts.ends]
        chunks = [np.frombuffer(pack_chunk(chunk), np.uint8) for chunk in self.waiting]
        fingerprint = self.stage.program.fingerprint()
        return saved_state.save(head, [*ids, *chunks, *arrays], fingerprint=fingerprint, shards=shards)

    def load(self, saved: bytes, shards: int) -> None:
        """Continue from what was saved. InputError if that was by another version, for another query, or for another
        number of shards; or if it is damaged."""
        program = self.stage.program
        head, arrays = saved_state.restore(saved, fingerprint=program.fingerprint(), shards=shards)
        _check_types(head, self.watermark.streams)
        self.watermark.latest, self.watermark.now, self.watermark.began = head["latest"], head["now"], head["began"]
        time, seen = head["equal"]
        self.ordinals = Ordinals(time, Counter(seen))
        refs, ids = arrays.next(), Texts(arrays.next(), arrays.next())
        self.log = self.host.log = IdLog(0, refs, ids, retained=len(refs))
        self.waiting = [unpack_chunk(program, arrays.next().tobytes()) for _ in range(head["waiting"])]
        self.host.restore(head, arrays)
        self._check_ids()

    def _check_ids(self) -> None:
        """That all events which are held have one."""
        refs, ids = self.log.refs, self.log.texts
        check_texts(ids)
        check_array(refs, np.int64, len(ids))
        require((refs[1:] > refs[:-1]).all(), "the events' ids are out of order")
        require(np.isin(self.host.held(), refs).all(), "an event lacks its id")


def _check_types(head: dict[str, Any], streams: Sequence[str]) -> None:
    """That a head has what `save` writes into it."""

    def is_time(found: object) -> bool:
        return found is None or (type(found) is int and -(2**63) <= found < 2**63)

    def are_counts(found: object) -> bool:
        return isinstance(found, dict) and all(type(count) is int for count in found.values())

    latest, equal = head.get("latest"), head.get("equal")
    heard = isinstance(latest, dict) and all(
        name in streams and time is not None and is_time(time) for name, time in latest.items()
    )
    require(heard and is_time(head.get("now")) and is_time(head.get("began")), "the times in its head are malformed")
    counted = isinstance(equal, list) and len(equal) == 2 and is_time(equal[0]) and are_counts(equal[1])
    require(counted and type(head.get("waiting")) is int, "the counts in its head are malformed")
