"""One shard of a running query: chunks in, answers out; between two calls it can be saved. No Spark in here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.errors import InputError
from thence.kernel import codec
from thence.kernel.arrays import read, written
from thence.kernel.memory import AT_NODES, KEEP_EXPIRED, NEVER, NODES, REF, region
from thence.kernel.sequence import Matches, SequenceState, begin, initial_state, take
from thence.kernel.soundness import check_array, check_texts, sure
from thence.kernel.timeouts import TimedOut, keep_timed_out, timed_out
from thence.local.watermarks import Watermark
from thence.match import NO_BACKGROUND, Background
from thence.match.context import Context
from thence.program.sequence import SequenceProgram
from thence.rdf.texts import Texts, joined
from thence.spark.chunks import Chunk, brought_together, packed, unpacked
from thence.spark.equal_events import Ordinals
from thence.spark.names import Names

Ints = NDArray[np.int64]

VERSION = 5
"""Of what `save` writes around the kernel's state, which has a version of its own."""


@dataclass(slots=True)
class Shard:
    """What a shard remembers: runs, the ids of their events, and chunks of events whose time has not come."""

    program: SequenceProgram
    watermark: Watermark
    background: Background = NO_BACKGROUND
    context: Context = field(default_factory=Context)
    max_runs: int = 2**31 - 2
    partial: bool = False  # whether partial matches that time out are told
    state: SequenceState = field(init=False)
    names: Names = field(default_factory=Names)
    ordinals: Ordinals = field(default_factory=Ordinals)
    waiting: list[Chunk] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)  # rows of DISTINCT, for ever

    def __post_init__(self) -> None:
        self.state = initial_state(self.program)
        if self.partial:
            keep_timed_out(self.state)

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

    def feed(self, before: int, watermark: int) -> Iterator[Matches]:
        """The matches that are certain once all events before a time were taken, and none before the watermark will
        come. What they hold is known until the next step."""
        ready, rest = [], []
        for chunk in self.waiting:
            first, last = (chunk, None) if before == NEVER else chunk.before(before)
            ready += [first] if len(first) or len(first.others) else []
            rest += [last] if last is not None and (len(last) or len(last.others)) else []
        self.waiting = rest
        begin(self.program, self.state)
        ready = self.ordinals.told_apart(ready)
        found = brought_together(self.program, ready, self.state.terms, self.state.next_ref)
        self._name(ready)
        yield from take(
            self.program,
            self.state,
            found,
            watermark,
            background=self.background,
            context=self.context,
            max_runs=self.max_runs,
        )

    def _name(self, chunks: Sequence[Chunk]) -> None:
        ids = joined([chunk.ids for chunk in chunks])
        self.names.add(self.state.next_ref, ids)
        self.state.next_ref += len(ids)

    def timed_out(self, watermark: int) -> TimedOut | None:
        """The partial matches whose window ended before the watermark, where they are told."""
        return timed_out(self.program, self.state, watermark) if self.partial else None

    def let_go(self) -> None:
        """Forget the names that nothing holds."""
        if self.names.are_many:
            self.names.keep(self._held())

    def _held(self) -> Ints:
        memory = self.state.memory
        by_runs = region(memory, AT_NODES)[: memory[NODES], REF]
        held = np.concatenate([by_runs, *(rows.refs.ravel() for rows in self.state.recent)])
        return held[held >= 0]  # where histories meet is no event

    # Saved between two steps

    def save(self, shards: int) -> bytes:
        """All of it as bytes, for a query of so many shards."""
        state = codec.save(self.program, self.state)  # first, since it forgets
        self.names.keep(self._held())
        now, last = self.watermark.now, self.ordinals.time
        if now is not None and last is not None and last < now:
            self.ordinals = Ordinals()  # more of its time would be late
        head = {
            "version": VERSION,
            "query": codec.fingerprint(self.program),
            "shards": shards,
            "latest": self.watermark.latest,
            "now": self.watermark.now,
            "began": self.watermark.began,
            "equal": [self.ordinals.time, self.ordinals.seen],
            "seen": sorted(self.seen),
            "waiting": len(self.waiting),
        }
        parts = [state, *(packed(chunk) for chunk in self.waiting)]
        arrays: list[NDArray[Any]] = [self.names.refs, self.names.texts.text, self.names.texts.ends]
        arrays += [np.frombuffer(part, np.uint8) for part in parts]
        return codec.sealed(written(head, arrays))

    def load(self, saved: bytes, shards: int) -> None:
        """Go on from what was saved. InputError if that was by another version, for another query, or for another
        number of shards; or if it is damaged."""
        head, reader = read(codec.unsealed(saved))
        _check(head, self.program, shards)
        _check_types(head, self.watermark.streams)
        self.watermark.latest, self.watermark.now, self.watermark.began = head["latest"], head["now"], head["began"]
        time, seen = head["equal"]
        self.ordinals, self.seen = Ordinals(time, Counter(seen)), set(head["seen"])
        refs, names = reader.next(), Texts(reader.next(), reader.next())
        self.names = Names(refs, names, kept=len(refs))
        self.state = codec.load(self.program, reader.next().tobytes())
        self.state.memory[KEEP_EXPIRED] = self.partial
        self._check_names()
        self.waiting = [unpacked(self.program, reader.next().tobytes()) for _ in range(head["waiting"])]

    def _check_names(self) -> None:
        """That all events which are held have one."""
        refs, names = self.names.refs, self.names.texts
        check_texts(names)
        check_array(refs, np.int64, len(names))
        sure((refs[1:] > refs[:-1]).all(), "names are not in order")
        sure(np.isin(self._held(), refs).all(), "an event has no name")


def _check_types(head: dict[str, Any], streams: Sequence[str]) -> None:
    """That a head has what `save` writes into it."""

    def is_time(found: object) -> bool:
        return found is None or (type(found) is int and -(2**63) <= found < 2**63)

    def are_counts(found: object) -> bool:
        return isinstance(found, dict) and all(type(count) is int for count in found.values())

    latest, equal, seen = head.get("latest"), head.get("equal"), head.get("seen")
    heard = isinstance(latest, dict) and all(
        name in streams and time is not None and is_time(time) for name, time in latest.items()
    )
    sure(heard and is_time(head.get("now")) and is_time(head.get("began")), "its head has something else than times")
    told_apart = isinstance(equal, list) and len(equal) == 2 and is_time(equal[0]) and are_counts(equal[1])
    listed = isinstance(seen, list) and all(isinstance(row, str) for row in seen)
    sure(told_apart and listed and type(head.get("waiting")) is int, "its head has something else than it should")


def _check(head: dict[str, Any], program: SequenceProgram, shards: int) -> None:
    if head.get("version") != VERSION:
        raise InputError(
            f"The checkpoint was written by version {head.get('version')} of the state's format, and this is version "
            f"{VERSION}. Go on with the release that wrote it, or begin anew with an empty checkpoint."
        )
    if head.get("query") != codec.fingerprint(program):
        raise InputError("The checkpoint belongs to another query. Give each query a checkpoint of its own.")
    if head.get("shards") != shards:
        raise InputError(
            f"The checkpoint was written with {head.get('shards')} shards, and now there are {shards}. "
            f"Go on with shards={head.get('shards')}, or begin anew with an empty checkpoint."
        )
