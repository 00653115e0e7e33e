"""One evaluation of a query: [[SE]] at t (Definition 6; RS-24 to RS-56)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import assert_never

import numpy as np

from thence.algebra.expressions import Exists, Variable
from thence.algebra.patterns import Construct, Pattern, Projection, Select
from thence.algebra.rsep_ql import StreamOperator
from thence.algebra.traversal import nodes
from thence.algebra.variables import columns
from thence.columns.arrays import Ids, Ints
from thence.columns.batches import EventBatch
from thence.columns.dictionary import UNBOUND
from thence.engines.windows.content import GraphsAt, LoggedRows, VersionKey, WindowGraph, bounds, merged_graph
from thence.engines.windows.event_patterns import EventMapping, EventMatcher, Mappings
from thence.engines.windows.kept_answer import KeptAnswer, surplus
from thence.engines.windows.maintained import Step
from thence.engines.windows.program import EventPatternTable, TriplePart, WindowProgram
from thence.engines.windows.state import WindowState
from thence.interface.operator import Environment
from thence.match import reference_evaluator, vectorised_evaluator
from thence.match.context import Context, Solution
from thence.match.group_columns import GroupedColumns
from thence.match.mappings import distinct
from thence.match.modifiers import Grouping, modified, ordered, project, sliced
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.match.sparql_queries import instance
from thence.match.stream_data import StreamData, mark, plain_solutions
from thence.rdf.dataset import ChangingGraph, IndexedGraph
from thence.rdf.terms import IRI, Term, Triple
from thence.rdf.times import time_literal
from thence.rdf.values import tie_key


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """An evaluation at a time."""

    program: WindowProgram
    state: WindowState
    time: int
    context: Context

    @classmethod
    def at(cls, program: WindowProgram, state: WindowState, time: int, environment: Environment) -> Evaluation:
        return cls(program, state, time, replace(environment.context, now=time_literal(time, state.domain)))

    def emitted(self) -> tuple[LoggedRows, bool]:
        """The rows to emit, and whether the answer is empty. Sets the previous answer."""
        program, state = self.program, self.state
        kept = self._kept()
        if kept is None or not program.maintenance.makes_deltas:
            answer = self.answer()
            rows = emitted(program.emits, answer, state.previous)
            if program.emits is not StreamOperator.RSTREAM:
                state.previous = answer
            return rows, not len(answer)
        was_fresh = kept.is_fresh
        came, went = kept.deltas(self._step(), self._selected_groups)
        if program.emits is StreamOperator.RSTREAM:
            answer = kept.rows()
            return answer, not len(answer)
        if was_fresh:
            came, went, state.previous = kept.rows(), state.previous, LoggedRows.none(len(program.variables))
        return emitted(program.emits, came, went), kept.is_empty

    def _kept(self) -> KeptAnswer | None:
        """The maintained part, if the graphs that it reads do not change."""
        program, state = self.program, self.state
        patterns = program.maintenance.patterns
        if not patterns or (state.graphs.varies and any(each.reads_graphs for each in patterns)):
            return None
        if state.kept is None:
            state.kept = KeptAnswer(program, state.terms)
        return state.kept

    def _step(self) -> Step:
        key = self.state.graphs.key(self.time, self.state.domain)
        graphs = self.state.graphs.at(key)
        cached = ("windows", len(self.program.windows))
        if cached not in self.state.cache:
            nothing = merged_graph(self.state.terms, ())
            self.state.cache[cached] = {each.name: nothing for each in self.program.query.windows}
        windows: dict[IRI, EventBatch] = self.state.cache[cached]  # type: ignore[assignment]
        default = self._static_default(key, graphs)
        return Step(self.time, self.state.logs, default, windows, graphs.background, self.context)

    def _selected_groups(self, grouping: Grouping, names: Sequence[Variable]) -> Iterator[Solution]:
        return _selected(self.program.query.form, (), names, self.context, grouping)

    def answer(self) -> LoggedRows:
        """The rows of the answer, in their order; of CONSTRUCT, over the variables of its template (RS-54)."""
        depends_on = self.read()
        known = self.state.cache.get("answer")
        if isinstance(known, tuple) and known[0] == depends_on and not self.program.asks_for_time:
            rows: LoggedRows = known[1]
            return rows
        made = self._made(self.state.graphs.key(self.time, self.state.domain))
        if not any(each.consumes for each in self.program.matches):
            self.state.cache["answer"] = (depends_on, made)
        return made

    def read(self) -> tuple[object, ...]:
        """The input: the versions of graphs, and the content of every window."""
        return (self.state.graphs.key(self.time, self.state.domain), *self._cursors())

    def _cursors(self) -> Iterator[tuple[int, int]]:
        """The content of every window, as row numbers since the logs began."""
        for log, functions in zip(self.state.logs, self.program.readers, strict=True):
            for function in functions:
                low, high = log.rows(bounds(function, self.time))
                yield low + log.dropped, high + log.dropped

    def _made(self, key: VersionKey) -> LoggedRows:
        graphs = self.state.graphs.at(key)
        kept = self._kept()
        known: dict[Pattern, SolutionTable] = {}
        if kept is not None and kept.groups is None:
            known = kept.known(self._step())
        matched = [self._matched(number, key, graphs) for number in range(len(self.program.matches))]
        windows = _Windows(self)
        answers = [self._answers(number, each) for number, each in enumerate(matched)]
        graphs_of = self._window_graph if self.program.maintenance.keeps_graphs else None
        streams = StreamData(self.state.terms, windows, answers, known, graphs_of)
        context = replace(self.context, streams=streams)
        return self._rows(self._default(key, graphs), graphs, context, matched, kept)

    # The dataset

    def _window(self, place: int) -> EventBatch:
        """The merge of a window's graphs (RS-24)."""
        window = self.program.windows[place]
        inside = bounds(self.program.query.window(window.name).function, self.time)
        logs = [self.state.logs[part.table] for part in window.parts]
        spans = [log.rows(inside) for log in logs]
        key = ("window", place)
        cursors = [(low + log.dropped, high + log.dropped) for log, (low, high) in zip(logs, spans, strict=True)]
        known = self.state.cache.get(key)
        if isinstance(known, tuple) and known[0] == cursors:
            batch: EventBatch = known[1]
            return batch
        parts = [self._triples(part, *span) for part, span in zip(window.parts, spans, strict=True)]
        made = merged_graph(self.state.terms, parts)
        self.state.cache[key] = (cursors, made)
        return made

    def _window_graph(self, name: IRI) -> ChangingGraph:
        """The merge of a window's graphs as the reference evaluator reads it."""
        window = next(found for found in self.program.windows if found.name == name)
        inside = bounds(self.program.query.window(name).function, self.time)
        kept = self.state.cache.setdefault(("graph", name), WindowGraph())
        assert isinstance(kept, WindowGraph)
        logs = [self.state.logs[part.table] for part in window.parts]
        parts = [self._triples(part, 0, len(log)) for part, log in zip(window.parts, logs, strict=True)]
        kept.advance([log.rows(inside) for log in logs], parts, self.state.terms)
        return kept.graph

    def _triples(self, part: TriplePart, low: int, high: int) -> list[Ids]:
        """Rows of a table as subjects, predicates and objects."""
        log, names = self.state.logs[part.table], self.program.tables[part.table].variables
        return [
            log.ids[names.index(slot), low:high]
            if isinstance(slot, Variable)
            else np.full(high - low, self.state.constant(slot), np.int32)
            for slot in part.slots
        ]

    def _static_default(self, key: VersionKey, graphs: GraphsAt) -> EventBatch:
        """The default graph of FROM."""
        cached = ("default", key)
        if cached not in self.state.cache:
            self.state.cache[cached] = graphs.default_in(self.state.terms)
        merge = self.state.cache[cached]
        assert isinstance(merge, EventBatch)
        return merge

    def _default(self, key: VersionKey, graphs: GraphsAt) -> EventBatch:
        """The default graph: that of FROM, and the windows that are merged into it."""
        static = self._static_default(key, graphs)
        merged = [self._window(place) for place in range(len(self.program.query.merged))]
        if not merged:
            return static
        graphs_of = [(each.subjects, each.predicates, each.objects) for each in (static, *merged)]
        return merged_graph(self.state.terms, graphs_of)

    # MATCH

    def _matched(self, number: int, key: VersionKey, graphs: GraphsAt) -> list[EventMapping]:
        """The event mappings of a MATCH, whose events it consumes (Definitions 8-10, Appendix A; RS-44, RS-47)."""
        wanted = self.program.matches[number]
        query = self.program.query
        mappings = {
            each.name: Mappings(self._mappings(place, self.state.consumed[number], key, graphs))
            for place, each in enumerate(self.program.events)
            if each.name in wanted.names
        }
        scopes = {each.name: frozenset(each.variables) for each in query.events}
        matched = EventMatcher(mappings, scopes).match(wanted.events)
        if wanted.consumes and matched:
            refs = np.array([ref for each in matched for ref in each.refs], np.int64)
            self.state.consumed[number] = np.union1d(self.state.consumed[number], refs)
        return matched

    def _mappings(self, place: int, consumed: Ints, key: VersionKey, graphs: GraphsAt) -> Iterator[EventMapping]:
        """⟨EVENT w P⟩ (4), without events that are consumed."""
        table, event = self.program.events[place], self.program.query.events[place]
        log = self.state.logs[table.table]
        low, high = log.rows(bounds(self.program.query.window(event.window).function, self.time))
        visible = low + np.flatnonzero(~np.isin(log.refs[low:high], consumed))
        times = zip(log.start[visible].tolist(), log.end[visible].tolist(), log.refs[visible].tolist(), strict=True)
        names = self.program.tables[table.table].variables
        for (start, end, ref), ids in zip(times, log.ids[:, visible].T.tolist(), strict=True):
            bound = {name: found for name, found in zip(names, ids, strict=True) if found != UNBOUND}
            late = [{}] if table.triples is None else self._late_mappings(table, event.pattern, ref, key, graphs)
            for found in late:
                yield EventMapping({**bound, **found}, start, end, (ref,))

    def _late_mappings(
        self, table: EventPatternTable, pattern: Pattern, ref: int, key: VersionKey, graphs: GraphsAt
    ) -> list[dict[Variable, int]]:
        """The matches of an event at this time, for patterns that depend on the time (RS-31)."""
        cached = ("event", table.name)
        depends_on = (key, self.time if self.program.asks_for_time else None)
        kept = self.state.cache.get(cached)
        known: dict[int, list[dict[Variable, int]]] = {}
        if isinstance(kept, tuple) and kept[0] == depends_on:
            known = kept[1]
        else:  # what was found for another time is of no use again
            self.state.cache[cached] = (depends_on, known)
        if ref not in known:
            terms = self.state.terms
            dataset = graphs.dataset(self._event_graph(table, ref))
            solutions = distinct(reference_evaluator.solutions(pattern, dataset, self.context))
            known[ref] = [{name: terms.add(term) for name, term in found.items()} for found in solutions]
        return known[ref]

    def _event_graph(self, table: EventPatternTable, ref: int) -> IndexedGraph:
        """The triples of an event. Their rows are found by the event's place among all of the log, which stays the same
        until the cache is cleared."""
        assert table.triples is not None
        log, terms = self.state.logs[table.triples], self.state.terms
        cached = ("rows of events", table.triples)
        kept = self.state.cache.get(cached)
        rows: dict[int, list[int]]
        rows, count = kept if isinstance(kept, tuple) else ({}, 0)
        for row, row_ref in enumerate(log.refs[count : len(log)].tolist(), count):
            rows.setdefault(row_ref, []).append(row)
        self.state.cache[cached] = (rows, len(log))
        triples = (Triple(*(terms[each] for each in log.ids[:, row].tolist())) for row in rows.get(ref, ()))
        return IndexedGraph(triples)

    def _answers(self, number: int, matched: Sequence[EventMapping]) -> SolutionTable:
        """[[MATCH E]] (8): the times are dropped, different events stay different (RS-27)."""
        wanted = self.program.matches[number]
        table: dict[ColumnVariable, Ids] = {
            name: np.array([each.bound.get(name, UNBOUND) for each in matched], np.int32) for name in wanted.variables
        }
        if wanted.is_shown:
            table[mark(number)] = np.arange(len(matched), dtype=np.int32)
        return SolutionTable(len(matched), table, None)

    # WHERE and what follows it

    def _rows(
        self,
        default: EventBatch,
        graphs: GraphsAt,
        context: Context,
        matched: Sequence[Matched],
        kept: KeptAnswer | None,
    ) -> LoggedRows:
        program, form = self.program, self.program.query.form
        marks = {number: mark(number) for number, each in enumerate(program.matches) if each.is_shown}
        groups = kept if kept is not None and kept.groups is not None else None
        if program.vectorised and groups is None:
            table = vectorised_evaluator.evaluate(program.where, default, graphs.background, context)
            if program.is_projection:
                numbers = {number: table.columns[name] for number, name in marks.items() if name in table.columns}
                return self._listed(_columns(table, program.variables), numbers, matched)
        is_asked = not program.vectorised or _asks_dataset(form)
        dataset = graphs.dataset(self._plain_graph(default) if is_asked else IndexedGraph(()))
        context = reference_evaluator.ready(dataset, context)
        solutions: Iterable[Solution] = ()
        grouping = None
        if groups is not None:
            groups.update_groups(self._step())
            grouping = groups.all_groups()
        elif program.groups_columns:
            grouping = GroupedColumns(table, self.state.terms).grouped
        elif program.vectorised:
            solutions = plain_solutions(table, self.state.terms)
        else:
            solutions = reference_evaluator.solutions(form.where, dataset, context)
        rows = list(_selected(form, solutions, [*program.variables, *marks.values()], context, grouping))
        terms = self.state.terms
        ids = [terms.add_all(row.get(name) for row in rows) for name in program.variables]
        numbers = {
            number: np.array([_number(row.get(name)) for row in rows], np.int32) for number, name in marks.items()
        }
        return self._listed(np.array(ids, np.int32).reshape(len(program.variables), len(rows)), numbers, matched)

    def _plain_graph(self, default: EventBatch) -> IndexedGraph:
        known = self.state.cache.get("plain")
        if isinstance(known, tuple) and known[0] is default:
            graph: IndexedGraph = known[1]
            return graph
        made = IndexedGraph(default.triples(0))
        self.state.cache["plain"] = (default, made)
        return made

    def _listed(self, ids: Ids, numbers: Mapping[int, Ids], matched: Sequence[Matched]) -> LoggedRows:
        """Rows with the events of their MATCHes, in the order of the text (RS-56)."""
        count = ids.shape[1]
        if not numbers:
            return LoggedRows(ids, np.zeros(count + 1, np.int64))
        refs: list[int] = []
        places: list[int] = []
        offsets = np.zeros(count + 1, np.int64)
        first = {number: sum(each.width for each in self.program.matches[:number]) for number in numbers}
        columns = [(first[number], matched[number], each.tolist()) for number, each in sorted(numbers.items())]
        for row in range(count):
            for before, mappings, listed in columns:
                if listed[row] != UNBOUND:
                    own = mappings[listed[row]].refs
                    refs += own
                    places += range(before, before + len(own))
            offsets[row + 1] = len(refs)
        return LoggedRows(ids, offsets, np.array(refs, np.int64), np.array(places, np.int64))


Matched = Sequence[EventMapping]


class _Windows(Mapping[IRI, EventBatch]):
    """The merge of each window's graphs, made when it is asked for."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._places = {each.name: place for place, each in enumerate(evaluation.program.windows)}

    def __getitem__(self, name: IRI) -> EventBatch:
        return self._evaluation._window(self._places[name])

    def __iter__(self) -> Iterator[IRI]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _columns(table: SolutionTable, variables: Sequence[Variable]) -> Ids:
    ids = np.full((len(variables), len(table)), UNBOUND, np.int32)
    for place, name in enumerate(variables):
        if name in table.columns:
            ids[place] = table.columns[name]
    return ids


def _asks_dataset(form: Select | Construct) -> bool:
    """Whether EXISTS is in what follows WHERE."""
    listed = form.columns if isinstance(form, Select) else None
    return any(isinstance(node, Exists) for node in nodes((listed or (), form.modifiers)))


def _number(term: Term | None) -> int:
    return UNBOUND if term is None else int(term.value)


def _selected(
    form: Select | Construct,
    solutions: Iterable[Solution],
    names: Sequence[Variable],
    context: Context,
    grouping: Grouping | None,
) -> Iterator[Solution]:
    """The rows of SELECT, or those that fill a template; within one evaluation (RS-49). What LIMIT cuts off does not
    depend on the order of arrival."""
    projected: Sequence[Projection] = ()
    if isinstance(form, Select):
        projected = form.columns or tuple(map(Projection, columns(form)))
    modifiers = form.modifiers
    rows: Iterable[Solution] = modified(solutions, modifiers, projected, context, grouping)
    if not modifiers.order and (modifiers.limit is not None or modifiers.offset is not None):
        rows = ordered(rows, (), names, context)
    rows = project(rows, names)
    return sliced(distinct(rows) if isinstance(form, Select) and form.distinct else rows, modifiers)


# The rows of an answer to emit (RS-50 to RS-52)


def emitted(operator: StreamOperator, answer: LoggedRows, previous: LoggedRows) -> LoggedRows:
    """RStream, IStream or DStream: the whole answer, what it has more than the previous one, or the reverse."""
    match operator:
        case StreamOperator.RSTREAM:
            return answer
        case StreamOperator.ISTREAM:
            return difference(answer, previous)
        case StreamOperator.DSTREAM:
            return difference(previous, answer)
        case _:
            assert_never(operator)


def difference(rows: LoggedRows, others: LoggedRows) -> LoggedRows:
    """The bag difference. Of equal rows those stay whose events the others do not have, as far as that is possible."""
    if not len(rows.refs) and not len(others.refs):
        return rows.take(surplus(rows.ids, others.ids))
    left = Counter(map(tuple, others.ids.T.tolist()))
    known = Counter(zip(map(tuple, others.ids.T.tolist()), others.lists(), strict=True))
    kept, doubtful = [], []
    for number, (row, events) in enumerate(zip(map(tuple, rows.ids.T.tolist()), rows.lists(), strict=True)):
        if known[row, events] and left[row]:
            known[row, events] -= 1
            left[row] -= 1
        elif left[row]:
            doubtful.append((number, row))
        else:
            kept.append(number)
    for number, row in doubtful:
        if left[row]:
            left[row] -= 1
        else:
            kept.append(number)
    return rows.take(np.array(sorted(kept), np.int64))


def constructed(
    program: WindowProgram, rows: LoggedRows, state: WindowState, time: int, context: Context
) -> list[Triple]:
    """The union of the triples that some rows make of the template (RS-53). Blank nodes of the template are fresh for
    each row, and the same whenever the query is run."""
    form = program.query.form
    assert isinstance(form, Construct)
    own = replace(context, random=Random(f"{program.fingerprint()} {time}"))
    listed = []
    for ids in rows.ids.T.tolist():
        named = zip(program.variables, ids, strict=True)
        listed.append({name: state.terms[each] for name, each in named if each != UNBOUND})
    listed.sort(key=lambda row: [tie_key(row.get(name)) for name in program.variables])
    return list(dict.fromkeys(triple for row in listed for triple in instance(form.template, row, own)))
