"""Background data: graphs loaded once, evaluated once for each GRAPH block, and joined with the solutions of every
batch.

The background has a dictionary of its own, which may be far larger than a batch's. Only the ids that meet are
translated: the batch's join keys into the background's ids, and the rows found back into the batch's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from thence.algebra.patterns import Graph, Pattern
from thence.errors import InputError
from thence.match import table as tables
from thence.match.join import Index, join_rows
from thence.match.table import Ids, JoinKeys, Table, join_keys
from thence.rdf.columns import EventBatch
from thence.rdf.dataset import Graph as PlainGraph
from thence.rdf.dataset import GraphName
from thence.rdf.dictionary import UNBOUND, Terms
from thence.rdf.store import BackgroundData
from thence.rdf.terms import IRI, BlankNode

Evaluate = Callable[[Pattern, EventBatch], Table]

_ABSENT = -2  # an id that no row has, not even as unbound


@dataclass(frozen=True, slots=True, eq=False)
class Foreign:
    """Solutions in the ids of another dictionary, about no event."""

    table: Table
    terms: Terms
    indexes: dict[JoinKeys, Index] = field(default_factory=dict)

    def imported(self, terms: Terms) -> Table:
        """The same solutions in the ids of `terms`."""
        columns = {name: _translated(ids, self.terms, terms.add_texts) for name, ids in self.table.columns.items()}
        return Table(len(self.table), columns, None)

    def restricted(self, left: Table, terms: Terms) -> Table:
        """Those solutions that some row of `left` is compatible with, in the ids of `terms`."""
        keys = join_keys(left, self.table)
        if not keys.names:
            return self.imported(terms)
        if keys not in self.indexes:
            self.indexes[keys] = keys.index(self.table)
        columns = {name: _translated(left.columns[name], terms, self.terms.find_texts) for name in keys.names}
        _, rights = join_rows(keys.of(Table(len(left), columns, None)), self.indexes[keys])
        return Foreign(self.table.take(np.unique(rights)), self.terms).imported(terms)


def _translated(ids: Ids, source: Terms, target: Callable[[list[bytes]], Ids]) -> Ids:
    """Ids of one dictionary as ids of another; UNBOUND stays, and what the other lacks becomes an id that nothing
    has."""
    distinct, where = np.unique(ids, return_inverse=True)
    bound = distinct != UNBOUND
    translated = np.full(len(distinct), UNBOUND, np.int32)
    found = target(source.texts(distinct[bound]))
    translated[bound] = np.where(found == UNBOUND, _ABSENT, found)
    return translated[where]


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """The background of a query, and the solutions of its GRAPH blocks so far."""

    data: BackgroundData = field(default_factory=BackgroundData)
    cache: dict[Graph, Foreign] = field(default_factory=dict)

    def solutions(self, block: Graph, evaluate: Evaluate) -> Foreign:
        """`GRAPH name { pattern }` over the background; evaluated once."""
        if block not in self.cache:
            self.cache[block] = Foreign(self._solve(block, evaluate), self.data.terms)
        return self.cache[block]

    def _solve(self, block: Graph, evaluate: Evaluate) -> Table:
        if isinstance(block.name, IRI):
            return _timeless(evaluate(block.pattern, self.graph(block.name)))
        found = Table(0, {block.name: np.empty(0, np.int32)}, np.empty(0, np.int32))
        for name, graph in self.data.named.items():
            solutions = evaluate(block.pattern, graph)
            here = Table(1, {block.name: self.data.terms.add_all([name])}, None)
            found = tables.union(found, tables.join(solutions, here))
        return _timeless(found)

    def graph(self, name: IRI) -> EventBatch:
        """What `GRAPH <name>` reads. That nothing has this name is an error, and no empty answer."""
        graph = self.data.graph(name)
        if graph is None:
            known = ", ".join(sorted(str(name) for name in self.data.named)) or "none"
            raise InputError(
                f"The query reads GRAPH {name}, but no background data has that graph (it has: {known}). "
                f"Supply it with background={{{name.value!r}: PATH}} or --background {name.value}=PATH."
            )
        return graph


@dataclass(frozen=True, slots=True, eq=False)
class NamedGraphs(Mapping[GraphName, PlainGraph]):
    """The background's graphs as the plain evaluator reads them, each made when first asked for."""

    background: Background
    made: dict[GraphName, PlainGraph] = field(default_factory=dict)

    def __getitem__(self, name: GraphName) -> PlainGraph:
        if name not in self.made:
            batch = self.background.data.named[name] if isinstance(name, BlankNode) else self.background.graph(name)
            self.made[name] = PlainGraph(batch.triples(0))
        return self.made[name]

    def __iter__(self) -> Iterator[GraphName]:
        return iter(self.background.data.named)

    def __len__(self) -> int:
        return len(self.background.data.named)


def _timeless(table: Table) -> Table:
    return Table(len(table), table.columns, None)


NO_BACKGROUND = Background()
