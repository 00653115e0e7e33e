"""The graphs of a dataset at a time, with their versions (Definition 2; RS-1 to RS-5), and the merge of a window's
graphs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from thence.algebra.rsep_ql import WindowQuery, read_graphs
from thence.columns.arrays import Ids
from thence.columns.batches import EventBatch
from thence.columns.dictionary import Terms
from thence.columns.hashing import without_duplicates
from thence.errors import InputError
from thence.io.background_data import BackgroundData, GraphVersion
from thence.match.background import Background, NamedGraphs
from thence.rdf.dataset import ChangingGraph, Dataset, GraphName, IndexedGraph
from thence.rdf.terms import IRI, Triple
from thence.rdf.times import Domain

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
        """Which versions hold at a time (RS-5)."""
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
