"""The leaves of a network: triple patterns (EP-1 to EP-4), paths (EP-63 to EP-65), timeless solutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Bgp, Graph, PathPattern, PatternTerm, TriplePattern, Values
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import Terms
from thence.columns.value_columns import term_ids
from thence.engines.temporal.conditions import Scope
from thence.engines.temporal.program import PathScan, Scan, Timeless, no_rows
from thence.interface.extracted import BindingTable
from thence.interface.tables import OBJECT, PREDICATE, SUBJECT
from thence.match import reference_evaluator
from thence.match.background import NamedGraphs
from thence.match.context import Solution
from thence.match.rdfs_columns import matching
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.terms import IRI, BlankNode, Triple
from thence.relation.interval_table import (
    DERIVED,
    NO_END,
    NO_EVENT,
    NO_START,
    IntervalTable,
    concatenated,
    first_of_each,
    is_event,
    timeless,
)
from thence.relation.solution_store import SolutionStore

# `OccurrenceState`: the occurrences of a scan that a policy still sees, each with all events that brought it (EP-72).
#
# Under a policy, solutions name the occurrence that fills each place by its number, in the rows where they otherwise
# name the event: whose occurrence it is changes when events are consumed.

_EVENT, _NUMBER = 0, 1
"""The rows of `brought.refs`."""


@dataclass(slots=True)
class OccurrenceState:
    """`brought` has a row for each visible event of each occurrence, by number and then in source order; its refs are
    the event and the number. `waiting` are the rows of instants that are not closed."""

    node: Scan
    brought: SolutionStore
    waiting: IntervalTable
    count: int = 0

    @classmethod
    def of(cls, node: Scan) -> OccurrenceState:
        return cls(node, SolutionStore((), 0, False, len(node.variables), 2), no_rows(node))

    def step(self, rows: IntervalTable) -> IntervalTable:
        """The occurrences of some rows, all of an instant or of several: each once, with its number."""
        if not len(rows):
            return rows
        (events,) = rows.refs
        keys = (rows.end, rows.start, *rows.ids)
        order = np.lexsort((events.view(np.uint64), *keys[::-1]))  # NO_EVENT is last
        is_first = np.zeros(len(order), np.bool_)
        is_first[0] = True
        for key in keys:
            ordered = key[order]
            is_first[1:] |= ordered[1:] != ordered[:-1]
        numbers = self.count + np.cumsum(is_first) - 1
        self.count = int(numbers[-1]) + 1
        rows = rows.take(order)
        self.brought.add(IntervalTable(rows.start, rows.end, rows.ids, np.stack([rows.refs[0], numbers])))
        first = rows.take(is_first)
        return IntervalTable(first.start, first.end, first.ids, numbers[is_first][None])

    def intervals(self, numbers: Ints) -> tuple[Ints, Ints]:
        """The starts and ends of visible occurrences."""
        table = self.brought.table
        rows = np.searchsorted(table.refs[_NUMBER], numbers)
        return table.start[rows], table.end[rows]

    def events(self, numbers: Ints) -> Ints:
        """The first visible event of each (EP-72); NO_EVENT for background."""
        table = self.brought.table
        found: Ints = table.refs[_EVENT, np.searchsorted(table.refs[_NUMBER], numbers)]
        return found

    def consume(self, events: Ints) -> Ints:
        """Hide some events. The numbers of the occurrences that no visible event brought any more."""
        table = self.brought.table
        hidden = np.isin(table.refs[_EVENT], events)
        touched: Ints = table.refs[_NUMBER, hidden]
        if not len(touched):
            return touched
        self.brought.keep(~hidden)
        found: Ints = np.setdiff1d(touched, self.brought.table.refs[_NUMBER])
        return found

    def forget(self, used: Ints) -> None:
        """Drop the occurrences that no solution has, be they visible: their numbers are not among those in use."""
        table = self.brought.table
        self.brought.keep(np.isin(table.refs[_NUMBER], used) | (table.end == NO_END))

    def visible(self) -> IntervalTable:
        """All visible occurrences, a row for each event that brought them."""
        table = self.brought.table
        return IntervalTable(table.start, table.end, table.ids, table.refs[:1])

    def wait(self, rows: IntervalTable) -> None:
        """Add rows of instants that are not closed; in the order of their ends."""
        if len(rows):
            waiting = concatenated([self.waiting, rows])
            self.waiting = waiting.take(np.argsort(waiting.end, kind="stable"))

    def leave(self, watermark: int) -> IntervalTable:
        """The rows of closed instants, in the order of their ends: they wait no longer."""
        closed = int(np.searchsorted(self.waiting.end, watermark))
        found, self.waiting = self.waiting.take(slice(closed)), self.waiting.take(slice(closed, None))
        return found

    def refs(self) -> Ints:
        """The events that a later row may list."""
        refs = np.concatenate([self.brought.table.refs[_EVENT], self.waiting.refs[0]])
        found: Ints = refs[is_event(refs)]
        return found

    def evict(self, closed: int) -> None:
        """Nothing: `forget` evicts occurrences, once it is known that no solution has them."""

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield self.brought


_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class TripleBatch:
    """Triples with the intervals and refs of their events; NO_EVENT for background, DERIVED for derived ones. `events`
    numbers the events that they are of, for paths: a derived triple is an event of its own (EP-63)."""

    start: Ints
    end: Ints
    refs: Ints
    subjects: Ids
    predicates: Ids
    objects: Ids
    events: Ints

    def __len__(self) -> int:
        return len(self.end)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> TripleBatch:
        return TripleBatch(
            self.start[rows],
            self.end[rows],
            self.refs[rows],
            self.subjects[rows],
            self.predicates[rows],
            self.objects[rows],
            self.events[rows],
        )


def no_triples() -> TripleBatch:
    none, ids = np.empty(0, np.int64), np.empty(0, np.int32)
    return TripleBatch(none, none, none, ids, ids, ids, none)


def joined_triples(parts: Sequence[TripleBatch]) -> TripleBatch:
    """Several batches as one; events of different batches stay different."""
    filled = [part for part in parts if len(part)]
    if len(filled) < 2:
        return filled[0] if filled else no_triples()
    first, events = 0, []
    for part in filled:
        events.append(part.events + first)
        first += int(part.events.max()) + 1
    return _together(filled, np.concatenate(events))


def appended_triples(triples: TripleBatch, inferred: TripleBatch) -> TripleBatch:
    """The triples, followed by the triples of the same events that they entail."""
    return _together([triples, inferred], np.concatenate([triples.events, inferred.events]))


def _together(parts: Sequence[TripleBatch], events: Ints) -> TripleBatch:
    return TripleBatch(
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.end for part in parts]),
        np.concatenate([part.refs for part in parts]),
        np.concatenate([part.subjects for part in parts]),
        np.concatenate([part.predicates for part in parts]),
        np.concatenate([part.objects for part in parts]),
        events,
    )


def derived_triples(start: Ints, end: Ints, subjects: Ids, predicates: Ids, objects: Ids) -> TripleBatch:
    """The triples that rules derive, each an event of its own. Intervals that differ have different refs, to
    distinguish rows that list no event for them (EP-4)."""
    mixed = (start.view(np.uint64) * _ODD ^ end.view(np.uint64)) * _ODD >> np.uint64(2)
    refs = DERIVED + mixed.astype(np.int64)
    return TripleBatch(start, end, refs, subjects, predicates, objects, np.arange(len(end), dtype=np.int64))


def background_triples(subjects: Ids, predicates: Ids, objects: Ids) -> TripleBatch:
    """Timeless triples, all of one graph."""
    count = len(subjects)
    return TripleBatch(
        np.full(count, NO_START),
        np.full(count, NO_END),
        np.full(count, NO_EVENT, np.int64),
        subjects,
        predicates,
        objects,
        np.zeros(count, np.int64),
    )


def extracted_triples(found: BindingTable, terms: Terms) -> TripleBatch:
    """A table of whole triples."""
    refs = found.refs[:, 0]
    return TripleBatch(
        found.start,
        found.end,
        refs,
        term_ids(found.columns[SUBJECT], terms),
        term_ids(found.columns[PREDICATE], terms),
        term_ids(found.columns[OBJECT], terms),
        refs - (refs.min() if len(refs) else 0),
    )


def scanned_table(scan: Scan, found: BindingTable, terms: Terms) -> IntervalTable:
    """The rows of the table that a scan reads."""
    ids = np.empty((len(scan.variables), len(found)), np.int32)
    for place, name in enumerate(scan.columns):
        ids[place] = term_ids(found.columns[name], terms)
    return IntervalTable(found.start, found.end, ids, found.refs.T)


def scanned_triples(
    pattern: TriplePattern, variables: Sequence[Variable], batch: TripleBatch, terms: Terms
) -> IntervalTable:
    """The triples that match a pattern."""
    rows, columns = matching(pattern, batch.subjects, batch.predicates, batch.objects, terms)
    found = np.empty((len(variables), len(rows)), np.int32)
    for place, name in enumerate(variables):
        found[place] = columns[name]
    return IntervalTable(batch.start[rows], batch.end[rows], found, batch.refs[rows][None])


@dataclass(slots=True)
class LeafState:
    """The rows that a scan has emitted for instants that are not closed: the same occurrence is emitted once, whichever
    input brings it (EP-3). `log` has all occurrences, for an EXISTS that evaluates its pattern for each row."""

    node: Scan | PathScan
    waiting: IntervalTable
    log: IntervalTable | None = None

    @classmethod
    def of(cls, node: Scan | PathScan, *, logged: bool) -> LeafState:
        none = no_rows(node)
        return cls(node, none, none if logged else None)

    def step(self, rows: IntervalTable) -> IntervalTable:
        """The rows that are new. Of equal ones the first event stays: refs are in source order."""
        if not len(rows):
            return rows
        if isinstance(self.node, Scan):
            (refs,) = rows.refs
            if (refs[1:] < refs[:-1]).any():
                rows = rows.take(np.argsort(refs, kind="stable"))
            rows = rows.take(first_of_each(rows, self.waiting))
            self.waiting = concatenated([self.waiting, rows])
        else:  # of paths, only timeless pairs are emitted once
            self.waiting = concatenated([self.waiting, rows.take(rows.end == NO_END)])
        if self.log is not None:
            self.log = concatenated([self.log, rows])
        return rows

    def evict(self, closed: int) -> None:
        if len(self.waiting):
            self.waiting = self.waiting.take(self.waiting.end >= closed)

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield from ()


# Timeless solutions (EP-35, EP-40)


def timeless_solutions(node: Timeless, scope: Scope) -> IntervalTable:
    """The solutions of GRAPH over the background, or of VALUES."""
    if isinstance(node.pattern, Values):
        found: Sequence[Solution] = [
            {name: term for name, term in zip(node.pattern.variables, row, strict=True) if term is not None}
            for row in node.pattern.rows
        ]
    else:
        found = _graph_solutions(node.pattern, scope)
    ids = np.empty((len(node.variables), len(found)), np.int32)
    for place, name in enumerate(node.variables):
        ids[place] = scope.terms.add_all(solution.get(name) for solution in found)
    return timeless(ids, 0)


def _graph_solutions(pattern: Graph, scope: Scope) -> list[Solution]:
    scope.background.check(pattern)
    outer = {name: scope.terms[number] for name, number in scope.outer.items()}
    dataset = Dataset(IndexedGraph(()), NamedGraphs(scope.background))
    return reference_evaluator.evaluate(pattern, dataset, replace(scope.context, outer=outer))


# Paths with *, + or ?


@dataclass(slots=True)
class PathGraphs:
    """The background of paths: its triples, those that rules derive from it included (EP-39), and the solutions of each
    path over them alone."""

    triples: dict[Triple, None]
    alone: dict[PathPattern, frozenset[tuple[int, ...]]]

    def add(self, batch: TripleBatch, terms: Terms) -> None:
        """Timeless triples that rules derive."""
        before = len(self.triples)
        self.triples |= dict.fromkeys(_triples(batch, np.arange(len(batch)), terms))
        if len(self.triples) > before:
            self.alone.clear()


def path_solutions(node: PathScan, batch: TripleBatch, graphs: PathGraphs, scope: Scope) -> IntervalTable:
    """The pairs of a path in each event with the background, without those of the background alone (EP-63, EP-64)."""
    pattern = _substituted(node.pattern, scope)
    alone = _alone(pattern, node, graphs, scope)
    parts = [no_rows(node)]
    for event in np.unique(batch.events).tolist():
        rows = np.flatnonzero(batch.events == event)
        triples = [*graphs.triples, *_triples(batch, rows, scope.terms)]
        found = _pairs(pattern, node.variables, triples, scope) - alone
        if found:
            first = rows[0]
            ids = np.array(sorted(found), np.int32).reshape(len(found), len(node.variables)).T
            count = len(found)
            parts.append(
                IntervalTable(
                    np.full(count, batch.start[first]),
                    np.full(count, batch.end[first]),
                    ids,
                    np.full((1, count), batch.refs[first]),
                )
            )
    return concatenated(parts)


def background_pairs(node: PathScan, graphs: PathGraphs, scope: Scope, emitted: IntervalTable) -> IntervalTable:
    """The pairs of a path over the background alone, without those that were emitted: timeless."""
    known = set(map(tuple, emitted.ids[:, emitted.end == NO_END].T.tolist()))
    found = sorted(_alone(_substituted(node.pattern, scope), node, graphs, scope) - known)
    ids = np.array(found, np.int32).reshape(len(found), len(node.variables)).T
    return timeless(np.ascontiguousarray(ids), 1)


def not_among(rows: IntervalTable, others: IntervalTable) -> IntervalTable:
    """The rows whose terms no other row has, whatever the intervals."""
    if not len(rows) or not len(others):
        return rows
    known = set(map(tuple, others.ids.T.tolist()))
    return rows.take(np.array([each not in known for each in map(tuple, rows.ids.T.tolist())], np.bool_))


def _alone(pattern: PathPattern, node: PathScan, graphs: PathGraphs, scope: Scope) -> frozenset[tuple[int, ...]]:
    if scope.outer:  # of one solution under test: not asked again
        return _pairs(pattern, node.variables, list(graphs.triples), scope)
    if pattern not in graphs.alone:
        graphs.alone[pattern] = _pairs(pattern, node.variables, list(graphs.triples), scope)
    return graphs.alone[pattern]


def _pairs(
    pattern: PathPattern, variables: Sequence[Variable], triples: Sequence[Triple], scope: Scope
) -> frozenset[tuple[int, ...]]:
    dataset = Dataset(IndexedGraph(triples))
    outer: Mapping[Variable, int] = scope.outer
    found = reference_evaluator.evaluate(Bgp((pattern,)), dataset, scope.context)
    return frozenset(
        tuple(int(scope.terms.add(solution[name])) if name in solution else outer[name] for name in variables)
        for solution in found
    )


def _substituted(pattern: PathPattern, scope: Scope) -> PathPattern:
    """The path with the terms that EXISTS has put in: their zero-length pairs are timeless (EP-65)."""

    def slot(found: PatternTerm) -> PatternTerm:
        return scope.terms[scope.outer[found]] if isinstance(found, Variable) and found in scope.outer else found

    return replace(pattern, subject=slot(pattern.subject), object=slot(pattern.object))


def _triples(batch: TripleBatch, rows: Ints, terms: Terms) -> Iterator[Triple]:
    for row in rows.tolist():
        subject, predicate = terms[int(batch.subjects[row])], terms[int(batch.predicates[row])]
        assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
        yield Triple(subject, predicate, terms[int(batch.objects[row])])
