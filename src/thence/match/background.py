"""Background data: graphs loaded once, evaluated once for each GRAPH block, and joined with the solutions of every
batch.

The background has a dictionary of its own, which may be far larger than a batch's. Only the ids that meet are
translated: the batch's join keys into the background's ids, and the rows found back into the batch's.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thence.algebra.expressions import Call
from thence.algebra.patterns import Graph, Pattern
from thence.algebra.traversal import nodes
from thence.columns.arrays import Ids, Ints
from thence.columns.batches import EventBatch
from thence.columns.dictionary import UNBOUND, Terms
from thence.errors import InputError
from thence.io.background_data import BackgroundData
from thence.match import solution_table as tables
from thence.match.context import Context
from thence.match.hash_join import JoinIndex, join_rows
from thence.match.solution_table import ColumnVariable, JoinKeys, SolutionTable
from thence.rdf.dataset import GraphName
from thence.rdf.dataset import IndexedGraph as PlainGraph
from thence.rdf.terms import IRI

Evaluate = Callable[[Pattern, EventBatch], SolutionTable]

ABSENT = -2  # an id that no row has, not even as unbound


@dataclass(frozen=True, slots=True, eq=False)
class ForeignSolutions:
    """Solutions in the ids of another dictionary, about no event."""

    table: SolutionTable
    terms: Terms
    indexes: dict[JoinKeys, JoinIndex] = field(default_factory=dict)
    always: dict[ColumnVariable, bool] = field(default_factory=dict)  # which columns are bound in every row

    def imported(self, terms: Terms) -> SolutionTable:
        """The same solutions in the ids of `terms`."""
        columns = {name: _translated(ids, self.terms, terms.add_texts) for name, ids in self.table.columns.items()}
        return SolutionTable(len(self.table), columns, None)

    def restricted(self, left: SolutionTable, terms: Terms) -> SolutionTable:
        """The solutions that are compatible with some row of `left`, in the ids of `terms`."""
        shared = [name for name in left.columns if name in self.table.columns]
        if not shared:
            return self.imported(terms)
        columns = {name: _translated(left.columns[name], terms, self.terms.find_texts) for name in shared}
        _, rights = self.pairs(SolutionTable(len(left), columns, None))
        return ForeignSolutions(self.table.take(np.unique(rights)), self.terms).imported(terms)

    def pairs(self, left: SolutionTable) -> tuple[Ints, Ints]:
        """Which rows of a table in these ids, about no event, go with which solutions: by the left row. What does not
        depend on `left` is found out once, since there may be far more solutions than rows."""
        shared = [name for name in left.columns if name in self.table.columns]
        certain = [name for name in shared if left.binds_always(name) and self._binds_always(name)]
        others = [name for name in shared if name not in certain]
        keys = JoinKeys((*certain, *others), len(certain), by_event=False)
        if keys not in self.indexes:
            self.indexes[keys] = keys.index(self.table)
        return join_rows(keys.of(left), self.indexes[keys])

    def _binds_always(self, name: ColumnVariable) -> bool:
        if name not in self.always:
            self.always[name] = self.table.binds_always(name)
        return self.always[name]


def _translated(ids: Ids, source: Terms, target: Callable[[list[bytes]], Ids]) -> Ids:
    """Ids of one dictionary as ids of another. UNBOUND stays; a term that the other lacks gets an id that no term
    has."""
    distinct, where = np.unique(ids, return_inverse=True)
    bound = distinct != UNBOUND
    translated = np.full(len(distinct), UNBOUND, np.int32)
    found = target(source.texts(distinct[bound]))
    translated[bound] = np.where(found == UNBOUND, ABSENT, found)
    return translated[where]


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """The background of a query, and what was derived from it so far: the solutions of GRAPH blocks (by the base IRI
    too, which IRI() asks for), and its graphs as the reference evaluator reads them."""

    data: BackgroundData = field(default_factory=BackgroundData)
    cache: dict[tuple[Graph, str | None], ForeignSolutions] = field(default_factory=dict)
    plain: dict[GraphName, PlainGraph] = field(default_factory=dict)
    lookups: dict[GraphName, object] = field(default_factory=dict)
    derived: dict[str, Any] = field(default_factory=dict)  # derived by operators

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without derived data, which each process builds once: see `_unpickled`."""
        pickled = pickle.dumps(self.data, pickle.HIGHEST_PROTOCOL)
        return _unpickled, (hashlib.sha256(pickled).digest(), pickled)

    def check(self, pattern: Pattern) -> None:
        """InputError if a GRAPH of the pattern names what the background lacks, be it evaluated or not."""
        for node in nodes(pattern):
            if isinstance(node, Graph) and isinstance(node.name, IRI) and not self.data.has(node.name):
                known = ", ".join(sorted(str(name) for name in self.data.named)) or "none"
                near = self._meant(node.name)
                raise InputError(
                    f"The query reads the graph {node.name}, but no background data has it (it has: {known}).{near} "
                    f"Supply it with background={{{node.name.value!r}: PATH}} or --background {node.name.value}=PATH."
                )

    def _meant(self, name: IRI) -> str:
        """A graph whose name is the end of the one that a query reads, as a file's name often is."""
        found = (each for each in self.data.named if isinstance(each, IRI))
        near = next((each for each in found if re.search(rf"[/#:]{re.escape(each.value)}$", name.value)), None)
        return "" if near is None else f" Did you mean it by {near}?"

    def solutions(self, block: Graph, context: Context, evaluate: Evaluate) -> ForeignSolutions:
        """`GRAPH name { pattern }` over the background; evaluated once, unless it reads the time."""
        key = (block, context.base)
        found = self.cache.get(key)
        if found is None:
            found = ForeignSolutions(self._solve(block, evaluate), self.data.terms)
            if not any(isinstance(node, Call) and node.function == "NOW" for node in nodes(block)):
                self.cache[key] = found
        return found

    def _solve(self, block: Graph, evaluate: Evaluate) -> SolutionTable:
        if isinstance(block.name, IRI):
            solutions = evaluate(block.pattern, self.graph(block.name))
            if not self.data.has(block.name):  # not even `GRAPH <name> { }` has a solution
                solutions = solutions.take(np.empty(0, np.int64))
            return _timeless(solutions)
        found = SolutionTable(0, {block.name: np.empty(0, np.int32)}, np.empty(0, np.int32))
        for name in self.data.named:
            solutions = evaluate(block.pattern, self.graph(name))
            here = SolutionTable(1, {block.name: self.data.terms.add_all([name])}, None)
            found = tables.union(found, tables.join(solutions, here))
        return _timeless(found)

    def graph(self, name: GraphName) -> EventBatch:
        """The graph that `GRAPH name` reads; empty if the dataset has no such graph (FROM NAMED names others)."""
        graph = self.data.graph(name)
        return self.data.merged([]) if graph is None else graph


@dataclass(frozen=True, slots=True, eq=False)
class NamedGraphs(Mapping[GraphName, PlainGraph]):
    """The background's graphs as the reference evaluator reads them, each built when first read. A name may be asked
    for that is not among the keys: where no graph has a name, data without one answers for every IRI."""

    background: Background

    def __getitem__(self, name: GraphName) -> PlainGraph:
        made = self.background.plain
        if name not in made:
            if not self.background.data.has(name):
                raise KeyError(name)
            made[name] = PlainGraph(self.background.graph(name).triples(0))
        return made[name]

    def __iter__(self) -> Iterator[GraphName]:
        return iter(self.background.data.named)

    def __len__(self) -> int:
        return len(self.background.data.named)


_MOST_UNPICKLED = 4
_unpickled_before: dict[bytes, Background] = {}
"""The latest backgrounds that came to this process, by the digest of their data."""


def _unpickled(digest: bytes, pickled: bytes) -> Background:
    """A background that comes to a worker, micro-batch after micro-batch: the same data is the same background, with
    all that was made of it here."""
    found = _unpickled_before.pop(digest, None) or Background(pickle.loads(pickled))
    _unpickled_before[digest] = found  # the latest is last
    for oldest in list(_unpickled_before)[:-_MOST_UNPICKLED]:
        del _unpickled_before[oldest]
    return found


def _timeless(table: SolutionTable) -> SolutionTable:
    return SolutionTable(len(table), table.columns, None)


NO_BACKGROUND = Background()
