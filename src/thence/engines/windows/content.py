"""A query's data at a time: the content of windows (Definition 3; RS-7 to RS-10), as cursors into one log per table,
in the order of ends; the graphs of a dataset, and the merge of a window's graphs (Definition 2; RS-1 to RS-5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from thence.algebra.rsep_ql import (
    IdentityWindow,
    IntervalWindow,
    LandmarkWindow,
    NowWindow,
    TimeWindow,
    WindowFunction,
    WindowQuery,
    read_graphs,
)
from thence.columns.arrays import Ids, Ints
from thence.columns.batches import EventBatch
from thence.columns.dictionary import Terms
from thence.columns.hashing import without_duplicates
from thence.columns.value_columns import term_ids
from thence.errors import InputError
from thence.interface.extracted import BindingTable
from thence.interface.tables import Table
from thence.io.background_data import BackgroundData, GraphVersion
from thence.match.background import Background, NamedGraphs
from thence.rdf.dataset import ChangingGraph, Dataset, GraphName, IndexedGraph
from thence.rdf.terms import IRI, Triple
from thence.rdf.times import MAX_TIME, MIN_TIME, Domain

# The content of a window at a time (Definition 3; RS-7 to RS-10).


class Bounds(NamedTuple):
    """The events of a window: `after` < end ≤ `upto`. Neither falls as time advances."""

    after: int
    upto: int


def last_multiple(time: int, length: int) -> int:
    """The last multiple that is not later; rounded down below 0 too.

    >>> last_multiple(7, 2), last_multiple(-1, 2)
    (6, -2)
    """
    return time // length * length


def first_multiple(time: int, length: int) -> int:
    """The first multiple that is not earlier.

    >>> first_multiple(7, 2), first_multiple(-1, 2)
    (8, 0)
    """
    return -(-time // length) * length


def bounds(function: WindowFunction, time: int) -> Bounds:
    """W(S, t), by the ends of events.

    >>> from thence.rdf.times import Domain, Span
    >>> bounds(TimeWindow(Span(5, Domain.TICKS), Span(2, Domain.TICKS)), -1)
    Bounds(after=-7, upto=-2)
    """
    match function:
        case TimeWindow():
            last = time if function.slide is None else last_multiple(time, function.slide.length)
            return Bounds(last - function.width.length, last)
        case LandmarkWindow():
            return Bounds(function.first.time - 1, time)
        case IntervalWindow():
            return Bounds(function.first.time - 1, min(function.last.time, time))
        case NowWindow():
            return Bounds(time - 1, time)
        case IdentityWindow():
            return Bounds(MIN_TIME - 1, time)
        case _:
            assert_never(function)


def is_bounded(function: WindowFunction) -> bool:
    """Whether its content cannot grow for ever."""
    return not isinstance(function, LandmarkWindow | IdentityWindow)


def latest_content(function: WindowFunction) -> int:
    """The latest end that an event can have which it ever holds."""
    return function.last.time if isinstance(function, IntervalWindow) else MAX_TIME


def next_change(function: WindowFunction, time: int, oldest: int | None, following: int | None) -> int | None:
    """The earliest later time at which the content may differ: `oldest` is the end of the first event that it holds,
    `following` that of the first event behind it, as far as there are any."""
    found = []
    match function:
        case TimeWindow():
            slide = 1 if function.slide is None else function.slide.length
            if oldest is not None:
                found.append(first_multiple(oldest + function.width.length, slide))
            if following is not None:
                found.append(first_multiple(following, slide))
        case NowWindow():
            if oldest is not None:
                found.append(time + 1)
            if following is not None:
                found.append(following)
        case LandmarkWindow() | IntervalWindow() | IdentityWindow():
            if following is not None:
                found.append(following)
        case _:
            assert_never(function)
    return max(min(found), time + 1) if found else None


_FAR = 2**61
"""Where sums of times may leave 64 bits."""


def lifetimes(function: WindowFunction, ends: Ints) -> tuple[Ints, Ints]:
    """The first and the last evaluation at which a window holds events that it holds at some time, by their ends, which
    are in order. Neither falls as the ends rise.

    >>> from thence.rdf.times import Domain, Span
    >>> window = TimeWindow(Span(5, Domain.TICKS), Span(2, Domain.TICKS))
    >>> [each.tolist() for each in lifetimes(window, np.array([2, 3]))]
    [[2, 4], [7, 7]]
    """
    match function:
        case TimeWindow():
            width, slide = function.width.length, 1 if function.slide is None else function.slide.length
            if max(width, slide) > _FAR or (len(ends) and (ends[0] < -_FAR or ends[-1] > _FAR)):
                return _far_lifetimes(width, slide, ends)
            return -(-ends // slide) * slide, -(-(ends + width) // slide) * slide - 1
        case NowWindow():
            return ends, ends
        case LandmarkWindow() | IntervalWindow() | IdentityWindow():
            return ends, np.full(len(ends), MAX_TIME)
        case _:
            assert_never(function)


def _far_lifetimes(width: int, slide: int, ends: Ints) -> tuple[Ints, Ints]:
    first, last = [], []
    for end in ends.tolist():
        first.append(min(first_multiple(end, slide), MAX_TIME))
        last.append(min(first_multiple(end + width, slide) - 1, MAX_TIME))
    return np.array(first, np.int64), np.array(last, np.int64)


# A table's rows in the order of their ends: one log for each table, into which windows are cursors.


@dataclass(slots=True)
class TableLog:
    """Rows by their ends. The arrays may be longer than the log, which ends at `length`."""

    start: Ints
    end: Ints
    ids: Ids  # a row for each variable
    refs: Ints
    length: int = 0
    dropped: int = 0  # rows before the first one here, since the log began: cursors that count all of them stay true

    @classmethod
    def of(cls, table: Table) -> TableLog:
        none = np.empty(16, np.int64)
        return cls(none, none.copy(), np.empty((len(table.variables), 16), np.int32), none.copy())

    def __len__(self) -> int:
        return self.length

    @property
    def ends(self) -> Ints:
        return self.end[: self.length]

    def append(self, found: BindingTable, table: Table, terms: Terms) -> None:
        """Append rows; no row may end before those that are here."""
        if not len(found):
            return
        order = np.argsort(found.end, kind="stable")
        ids = [term_ids(found.columns[name], terms)[order] for name in table.variables]
        self.add(found.start[order], found.end[order], ids, found.refs[order, 0])

    def add(self, start: Ints, end: Ints, ids: list[Ids] | Ids, refs: Ints) -> None:
        first, last = self.length, self.length + len(end)
        if last > len(self.end):
            self._grow(2 * last)
        self.start[first:last], self.end[first:last], self.refs[first:last] = start, end, refs
        for place, column in enumerate(ids):
            self.ids[place, first:last] = column
        self.length = last

    def _grow(self, capacity: int) -> None:
        start, end, refs = (np.empty(capacity, np.int64) for _ in range(3))
        ids = np.empty((len(self.ids), capacity), np.int32)
        used = self.length
        start[:used], end[:used], refs[:used] = self.start[:used], self.end[:used], self.refs[:used]
        ids[:, :used] = self.ids[:, :used]
        self.start, self.end, self.refs, self.ids = start, end, refs, ids

    def rows(self, inside: Bounds) -> tuple[int, int]:
        """The first row of a window, and the one behind its last."""
        ends = self.ends
        low = 0 if inside.after < MIN_TIME else int(np.searchsorted(ends, inside.after, side="right"))
        high = 0 if inside.upto < MIN_TIME else int(np.searchsorted(ends, inside.upto, side="right"))
        return low, max(low, high)

    def next_change(self, function: WindowFunction, time: int) -> int | None:
        """The earliest later time at which a window over it may hold something else."""
        low, high = self.rows(bounds(function, time))
        oldest = int(self.end[low]) if low < high else None
        following = int(self.end[high]) if high < self.length else None
        return next_change(function, time, oldest, following)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Forget the others."""
        kept = np.flatnonzero(rows)
        self.dropped += int(kept[0]) if len(kept) else self.length
        self.start, self.end, self.refs = self.start[kept], self.end[kept], self.refs[kept]
        self.ids = np.ascontiguousarray(self.ids[:, kept])
        self.length = len(kept)

    def used_ids(self) -> Ids:
        return self.ids[:, : self.length].ravel()

    def renumber(self, ids: Ids) -> None:
        """Ids have changed: `ids` has the new one of each, and at its end that of UNBOUND."""
        self.ids[:, : self.length] = ids[self.ids[:, : self.length]]


@dataclass(slots=True)
class LoggedRows:
    """Rows of answers, as ids by column, with the events of each: those of row i are at `offsets[i]:offsets[i+1]`."""

    ids: Ids
    offsets: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    refs: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    places: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        return int(self.ids.shape[1])

    @classmethod
    def none(cls, columns: int) -> LoggedRows:
        return cls(np.empty((columns, 0), np.int32))

    def take(self, rows: Ints) -> LoggedRows:
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return LoggedRows(self.ids[:, rows], offsets, self.refs[places], self.places[places])

    def lists(self) -> Iterator[tuple[int, ...]]:
        """The events of each row."""
        refs, offsets = self.refs.tolist(), self.offsets.tolist()
        return (tuple(refs[low:high]) for low, high in pairwise(offsets))


# The graphs of a dataset at a time, with their versions (Definition 2; RS-1 to RS-5).


# `WindowGraph`: the merge of a window's graphs as the reference evaluator reads it, kept between evaluations.

Cursors = tuple[int, int]
"""The first row of a window in a log, and the one behind its last."""


@dataclass(slots=True, eq=False)
class WindowGraph:
    """A triple is there while its support is not 0: the rows of all logs that have it (RS-24). Cursors never fall."""

    graph: ChangingGraph = field(default_factory=ChangingGraph)
    cursors: list[Cursors] = field(default_factory=list)
    _support: dict[tuple[int, ...], int] = field(default_factory=dict)

    def advance(self, spans: Sequence[Cursors], parts: Sequence[Sequence[Ids]], terms: Terms) -> None:
        """Move to other cursors; `parts` are the subjects, predicates and objects of whole logs."""
        before = self.cursors or [(0, 0)] * len(spans)
        for (low, high), (old_low, old_high), columns in zip(spans, before, parts, strict=True):
            for ids in _rows(columns, max(low, old_high), high):
                self._support[ids] = self._support.get(ids, 0) + 1
                if self._support[ids] == 1:
                    self.graph.add(Triple(*(terms[each] for each in ids)))
            for ids in _rows(columns, old_low, min(low, old_high)):
                self._support[ids] -= 1
                if not self._support[ids]:
                    del self._support[ids]
                    self.graph.remove(Triple(*(terms[each] for each in ids)))
        self.cursors = list(spans)


def _rows(columns: Sequence[Ids], low: int, high: int) -> Iterator[tuple[int, ...]]:
    return zip(*(column[low:high].tolist() for column in columns), strict=True)


# The graphs of a query's dataset at a time: FROM, FROM NAMED and their versions (Definition 2; RS-1 to RS-5).

VersionKey: TypeAlias = tuple[int, ...]
"""For each graph of the dataset, how many of its versions are not after t."""


@dataclass(frozen=True, slots=True, eq=False)
class GraphsAt:
    """The dataset at a time, without windows: `background` holds the named graphs, `default` is the default graph, in
    the background's ids."""

    background: Background
    default: EventBatch

    def dataset(self, default: IndexedGraph) -> Dataset:
        return Dataset(default, NamedGraphs(self.background))

    def default_in(self, terms: Terms) -> EventBatch:
        """The default graph in the ids of another dictionary."""
        graph = self.default
        columns = [terms.import_all(graph.terms, ids) for ids in (graph.subjects, graph.predicates, graph.objects)]
        return one_graph(terms, columns)


def one_graph(terms: Terms, columns: Sequence[Ids]) -> EventBatch:
    """Triples, each once, as a batch of one event that has no time."""
    subjects, predicates, objects = columns
    no_time = np.zeros(1, np.int64)
    return EventBatch(
        terms=terms,
        offsets=np.array([0, len(subjects)], np.int64),
        subjects=subjects,
        predicates=predicates,
        objects=objects,
        starts=no_time,
        ends=no_time,
        domains=np.zeros(1, np.uint8),
        ids=np.zeros(1, np.int32),
        positions=no_time,
    )


def merged_graph(terms: Terms, parts: Sequence[Sequence[Ids]]) -> EventBatch:
    """Triples that may be there several times, as a batch of one event."""
    none = np.empty(0, np.int32)
    columns = [np.concatenate([none, *(part[place] for part in parts)]) for place in range(3)]
    keep = without_duplicates(np.array([0, len(columns[0])], np.int64), *columns)
    return one_graph(terms, [column[keep] for column in columns])


class DatasetGraphs:
    """All versions of the graphs that a query reads."""

    def __init__(self, query: WindowQuery, background: Background) -> None:
        self._data = background.data
        self._default = query.form.dataset.default
        self._has_from = bool(query.form.dataset.default)
        self._named = read_graphs(query)
        self._versions = {name: self._data.versions(name) for name in (*self._default, *self._named)}
        self._made: dict[VersionKey, GraphsAt] = {}

    @property
    def varies(self) -> bool:
        return any(self._versions.values())

    def key(self, time: int, domain: Domain) -> VersionKey:
        """The versions that hold at a time (RS-5)."""
        return tuple(_count(name, listed, time, domain) for name, listed in self._versions.items())

    def next_change(self, time: int) -> int | None:
        """The time of the next version of any graph."""
        later = [each.time.time for listed in self._versions.values() for each in listed if each.time.time > time]
        return min(later) if later else None

    def at(self, key: VersionKey) -> GraphsAt:
        if key not in self._made:
            counts = dict(zip(self._versions, key, strict=True))
            named: dict[GraphName, EventBatch] = {name: self._graph(name, counts[name]) for name in self._named}
            if self._has_from:
                default = self._data.merged([self._graph(name, counts[name]) for name in self._default])
            else:
                default = self._data.merged([] if self._data.unnamed is None else [self._data.unnamed])
            data = BackgroundData(self._data.terms, named)
            self._made[key] = GraphsAt(Background(data), default)
        return self._made[key]

    def _graph(self, name: IRI, count: int) -> EventBatch:
        versions = self._versions[name]
        if versions:
            return versions[count - 1].graph if count else self._data.merged([])
        found = self._data.graph(name)
        return self._data.merged([]) if found is None else found


def _count(name: IRI, versions: Sequence[GraphVersion], time: int, domain: Domain) -> int:
    if not versions:
        return 0
    if versions[0].time.domain is not domain:
        raise InputError(
            f"The versions of {name} have times of another kind than the streams. Try: prov:generatedAtTime with "
            f"{'integers' if domain is Domain.TICKS else 'xsd:dateTime'}"
        )
    return bisect_right([each.time.time for each in versions], time)
