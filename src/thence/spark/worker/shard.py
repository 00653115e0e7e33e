"""One shard of a stage: chunks of extracted events in, rows out, saved between two micro-batches. No Spark in here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.batches import label_of
from thence.columns.id_order import id_ranks
from thence.columns.texts import Texts, concatenate_texts
from thence.columns.value_columns import ValueColumn
from thence.columns.value_kinds import BLANK
from thence.interface.dataflow import Stage
from thence.interface.extracted import BindingTable
from thence.interface.operator import NEVER, Environment, Program
from thence.interface.saved_arrays import check_array, check_texts, require
from thence.io.row_ids import id_prefix
from thence.rdf.times import Domain
from thence.runtime import saved_state
from thence.runtime.event_log import IdLog
from thence.runtime.host import Host
from thence.runtime.ordering import Ordered
from thence.runtime.watermark import Watermark
from thence.spark.worker.chunks import Chunk, merge_chunks, pack_chunk, unpack_chunk

# Distinguishes equal events. Tasks know nothing of each other's rows, so events of equal rows come with one id, if they
# were given none, and their blank nodes with the same labels, which hold digests of the rows (`row_ids`). Equal rows
# have the same matches, so that a shard that has one of them has all: there each gets an ordinal, which goes into the
# id and into the labels.


Truths = NDArray[np.bool_]

_DIGITS = 32
_IS_DIGIT = np.zeros(256, np.bool_)
_IS_DIGIT[np.frombuffer(b"0123456789abcdef", np.uint8)] = True


@dataclass(slots=True)
class Ordinals:
    """Counts equal events. They come in the order of time, and equal ones have one time, so that only the digests of
    the latest time are kept."""

    time: int | None = None
    seen: Counter[str] = field(default_factory=Counter)

    def distinguished(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """The same events with ids and blank nodes of their own. Events must come in time order."""
        found = [_Digests.of(chunk) for chunk in chunks]
        counted = [each for each in found if each.matter]
        if not counted:
            return list(chunks)
        times = np.concatenate([each.chunk.ends for each in counted])
        ordinals = self.count(times, concatenate_texts([each.digests for each in counted]))
        of_each = iter(np.split(ordinals, np.cumsum([len(each.chunk) for each in counted[:-1]])))
        return [each.with_ordinals(next(of_each)) if each.matter else each.chunk for each in found]

    def count(self, times: Ints, digests: Texts) -> Ints:
        """The number of each event among its equals, from 1. Events with an empty digest have no equals."""
        order = np.argsort(times, kind="stable")
        known = self.seen if self.time == times[order[0]] else Counter[str]()
        found = np.ones(len(times), np.int64)
        for place, digest in self._repeated(times[order], order, digests, known):
            known[digest] += 1
            found[place] = known[digest]
        self._remember(times, digests, known)
        return found

    def _repeated(self, times: Ints, order: Ints, digests: Texts, known: Counter[str]) -> Iterator[tuple[int, str]]:
        """The events that perhaps have equals: nearly always none. Their `times` ascend."""
        same = times[1:] == times[:-1]
        tied = np.append(False, same) | np.append(same, False)
        if known:
            tied |= times == times[0]
        places = order[tied]
        if not len(places):
            return
        texts = digests.take(places).to_arrow().dictionary_encode()
        numbers = texts.indices.to_numpy()
        many = np.bincount(numbers) > 1
        if known:
            many |= np.array([digest in known for digest in texts.dictionary.to_pylist()])
        many &= pc.not_equal(texts.dictionary, "").to_numpy(zero_copy_only=False)
        for number in np.flatnonzero(many[numbers]).tolist():
            yield int(places[number]), texts[number].as_py()

    def _remember(self, times: Ints, digests: Texts, known: Counter[str]) -> None:
        """The digests of the latest time, and how many have each."""
        last = int(times.max())
        latest = digests.take(np.flatnonzero(times == last)).to_list()
        self.seen = Counter(
            {text: max(1, known[text]) for text in latest if text} | (known if last == self.time else {})
        )
        self.time = last


@dataclass(frozen=True, slots=True, eq=False)
class _Digests:
    """The digests of a chunk's rows."""

    chunk: Chunk
    digests: Texts  # of each event; empty where nothing depends on it
    made: Truths  # whether an event was given no id
    local: Truths  # whether a term is a blank node whose label has its event's digest

    @classmethod
    def of(cls, chunk: Chunk) -> _Digests:
        nodes = _blank_nodes(chunk)
        local, of_labels = _found(chunk.terms, nodes, _beginning(chunk), followed=True)
        if chunk.numbered:
            return cls(chunk, chunk.ids, np.ones(len(chunk), np.bool_), local)
        made, of_ids = _found(chunk.ids, np.arange(len(chunk)), id_prefix(chunk.stream), followed=False)
        digits = np.zeros((len(chunk), _DIGITS), np.uint8)
        digits[made] = of_ids
        known, places = made.copy(), np.cumsum(local) - 1
        for rows in chunk.tables if local.any() else ():
            for values in rows.columns.values():
                blank = _chosen(values, local)
                events = rows.refs[blank, 0]
                digits[events], known[events] = of_labels[places[values.bits[blank]]], True
        return cls(chunk, Texts(digits[known].reshape(-1), np.cumsum(_DIGITS * known)), made, local)

    @property
    def matter(self) -> bool:
        return len(self.digests.text) > 0

    def with_ordinals(self, ordinals: Ints) -> Chunk:
        """The same events, of which the second of equal ones is called `ID-2`, if it was given no id, and so on; and in
        the labels of its blank nodes, x2 follows the digest."""
        if (ordinals == 1).all():
            return self.chunk
        return self._relabelled(replace(self.chunk, ids=self._renamed(ordinals)), ordinals)

    def _renamed(self, ordinals: Ints) -> Texts:
        ids = self.chunk.ids.to_list()
        for event in np.flatnonzero(self.made & (ordinals > 1)).tolist():
            ids[event] += f"-{ordinals[event]}"
        return Texts.of(ids)

    def _relabelled(self, chunk: Chunk, ordinals: Ints) -> Chunk:
        if not self.local.any():
            return chunk
        known: dict[tuple[int, int], int] = {}
        tables = tuple(_with_places(rows, self.local, ordinals, known) for rows in chunk.tables)
        size, labels = len(_beginning(chunk)) + _DIGITS, chunk.terms.to_list()
        added = [f"{labels[term][:size]}x{ordinal}{labels[term][size:]}" for term, ordinal in known]
        return replace(chunk, tables=tables, terms=concatenate_texts([chunk.terms, Texts.of(added)]))


def _beginning(chunk: Chunk) -> str:
    """The prefix of a blank node's label, if its event's digest follows."""
    return f"_:{label_of(chunk.stream)}_"


def _blank_nodes(chunk: Chunk) -> Ints:
    """The places of a chunk's terms that are blank nodes."""
    found = np.zeros(len(chunk.terms), np.bool_)
    for rows in chunk.tables:
        for values in rows.columns.values():
            found[values.bits[values.tags == BLANK]] = True
    return np.flatnonzero(found)


def _found(texts: Texts, places: Ints, beginning: str, *, followed: bool) -> tuple[Truths, NDArray[np.uint8]]:
    """Which texts, of those at some places, are a beginning and a digest, either alone or followed by `_` and more; and
    the digits of these."""
    head, found = np.frombuffer(beginning.encode(), np.uint8), np.zeros(len(texts), np.bool_)
    starts, size = texts.starts[places], len(head) + _DIGITS
    lengths = texts.ends[places] - starts
    fits = lengths > size if followed else lengths == size
    places, starts = places[fits], starts[fits]
    cells = texts.text[starts[:, None] + np.arange(size + followed)]
    right = (cells[:, : len(head)] == head).all(axis=1) & _IS_DIGIT[cells[:, len(head) : size]].all(axis=1)
    if followed:
        right &= cells[:, size] == ord("_")
    found[places[right]] = True
    return found, cells[right, len(head) : size]


def _chosen(values: ValueColumn, terms: Truths) -> Ints:
    """The rows whose value is one of some blank nodes."""
    found = np.flatnonzero(values.tags == BLANK)
    return found[terms[values.bits[found]]]


def _with_places(rows: BindingTable, local: Truths, ordinals: Ints, known: dict[tuple[int, int], int]) -> BindingTable:
    """The same rows, whose blank nodes have the places of labels with ordinals, which `known` counts from behind all
    that there are."""
    columns = {}
    for variable, values in rows.columns.items():
        bits = values.bits
        chosen = _chosen(values, local)
        chosen = chosen[ordinals[rows.refs[chosen, 0]] > 1]
        if len(chosen):
            bits = bits.copy()
            pairs = zip(bits[chosen].tolist(), ordinals[rows.refs[chosen, 0]].tolist(), strict=True)
            bits[chosen] = [known.setdefault(pair, len(local) + len(known)) for pair in pairs]
        columns[variable] = ValueColumn(values.tags, bits)
    return replace(rows, columns=columns)


# The order in which a shard takes events of one time (C-5, TEF-19): by stream, then by position at the source, then by
# id. Chunks come in any order; what decides is only what is in them.


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
        order = source_order(program, ready, ids) if program.tie_order.by_source else None
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
        """The shard as bytes, for a query of so many shards.

        The layers: `Operator.snapshot` of the engine, `Host.snapshot`, this, and the envelope of
        `runtime/saved_state.py`, whose VERSION is raised whenever one of them changes what it saves.
        """
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
        """Checks that every stored event has one."""
        refs, ids = self.log.refs, self.log.texts
        check_texts(ids)
        check_array(refs, np.int64, len(ids))
        require((refs[1:] > refs[:-1]).all(), "the events' ids are out of order")
        require(np.isin(self.host.held(), refs).all(), "an event lacks its id")


def _check_types(head: dict[str, Any], streams: Sequence[str]) -> None:
    """Checks that a head has the fields that `save` writes."""

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
