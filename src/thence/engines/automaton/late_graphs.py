"""Late GRAPH blocks: joins complete matches with the background (Definition 15), by index where it is far larger than
the bindings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Bgp, Filter, Graph, PathPattern, Pattern, PatternTerm, TriplePattern
from thence.algebra.spaseq import LateGraph
from thence.algebra.variables import in_scope
from thence.columns.arrays import Ids, Ints
from thence.columns.batches import EventBatch
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_columns import term_of, values_of
from thence.columns.value_kinds import NONE
from thence.engines.automaton.program import SequenceProgram
from thence.match import solution_table as tables
from thence.match.background import ABSENT, Background, ForeignSolutions
from thence.match.context import Context
from thence.match.expression_columns import ExpressionColumns
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.match.solve import background_solutions
from thence.match.vectorised_evaluator import matching
from thence.rdf.terms import IRI

if TYPE_CHECKING:
    from thence.engines.automaton.step import Matches


# Evaluates a GRAPH block by index lookups, if the background is far larger than the bindings that are joined with
# it.


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """A graph's triples by predicate and subject, and by predicate and object; each put in order when first asked."""

    graph: EventBatch
    ordered: dict[tuple[int, bool], tuple[Ids, Ints]] = field(default_factory=dict)

    def rows(self, predicate: int, by_subject: bool, wanted: Ids) -> Ints:
        """The triples of a predicate that have one of these subjects, or objects."""
        ids, rows = self._by(predicate, by_subject)
        low, high = np.searchsorted(ids, wanted, side="left"), np.searchsorted(ids, wanted, side="right")
        counts = high - low
        starts = np.repeat(low - np.cumsum(counts) + counts, counts)
        found: Ints = rows[starts + np.arange(len(starts))]
        return found

    def _by(self, predicate: int, by_subject: bool) -> tuple[Ids, Ints]:
        key = (predicate, by_subject)
        if key not in self.ordered:
            rows = np.flatnonzero(self.graph.predicates == predicate)
            ids = (self.graph.subjects if by_subject else self.graph.objects)[rows]
            order = np.argsort(ids, kind="stable")
            self.ordered[key] = ids[order], rows[order]
        return self.ordered[key]


def look_up(block: Graph, asked: SolutionTable, background: Background, context: Context) -> ForeignSolutions | None:
    """The solutions of a block that some row of `asked`, in the background's ids, is compatible with. None where it
    can't be looked up: it is no basic graph pattern with constant predicates, each of whose triples shares a variable
    with what was asked or looked up before."""
    conditions, pattern = _apart(block)
    if not isinstance(pattern, Bgp) or not isinstance(block.name, IRI):
        return None
    names = {slot for triple in pattern.triples for slot in (triple.subject, triple.object)}
    known: dict[ColumnVariable, Ids] = {
        v: ids for v, ids in asked.columns.items() if v in names and asked.binds_always(v)
    }
    steps = _steps(pattern, set(known))
    if not known or steps is None:
        return None
    found = _looked_up(_lookup(background, block.name), _distinct_bindings(known), steps)
    for condition in conditions:
        found = found.keep(ExpressionColumns(background.data.terms, found, context).holds(condition))
    return ForeignSolutions(found, background.data.terms)


def _distinct_bindings(columns: dict[ColumnVariable, Ids]) -> SolutionTable:
    """Each question once, or each would be answered as often as it is asked."""
    rows = np.unique(np.stack(list(columns.values())), axis=1)
    return SolutionTable(rows.shape[1], dict(zip(columns, rows, strict=True)), None)


def _apart(block: Graph) -> tuple[list[Expression], Pattern]:
    pattern = block.pattern
    conditions = []
    while isinstance(pattern, Filter):
        conditions.append(pattern.condition)
        pattern = pattern.pattern
    return conditions, pattern


def _steps(pattern: Bgp, known: set[ColumnVariable]) -> list[tuple[TriplePattern, bool]] | None:
    """The triples in an order in which each has its subject (True) or its object (False) known."""
    waiting = list(pattern.triples)
    steps: list[tuple[TriplePattern, bool]] = []
    while waiting:
        step = next(_possible(waiting, known), None)
        if step is None:
            return None
        steps.append(step)
        waiting.remove(step[0])
        known = known | {slot for slot in (step[0].subject, step[0].object) if isinstance(slot, ColumnVariable)}
    return steps


def _possible(
    waiting: Sequence[TriplePattern | PathPattern], known: set[ColumnVariable]
) -> Iterator[tuple[TriplePattern, bool]]:
    for triple in waiting:
        if isinstance(triple, TriplePattern) and isinstance(triple.predicate, IRI):
            for slot, by_subject in ((triple.subject, True), (triple.object, False)):
                if slot in known:
                    yield triple, by_subject


def _looked_up(lookup: Lookup, joined: SolutionTable, steps: list[tuple[TriplePattern, bool]]) -> SolutionTable:
    graph = lookup.graph
    for triple, by_subject in steps:
        slot: PatternTerm = triple.subject if by_subject else triple.object
        assert isinstance(slot, ColumnVariable) and isinstance(triple.predicate, IRI)
        wanted = np.unique(joined.columns[slot])
        rows = lookup.rows(graph.terms.find(triple.predicate), by_subject, wanted)
        columns = matching(triple, graph, rows)[0]
        joined = tables.join(joined, SolutionTable(len(columns[slot]), columns, None))
    return joined.without_blank_nodes()


def _lookup(background: Background, name: IRI) -> Lookup:
    made = background.lookups.get(name)
    if not isinstance(made, Lookup):
        made = background.lookups[name] = Lookup(background.graph(name))
    return made


# Joins complete matches with the background: the GRAPH blocks on which no choice of an event depends (Definition 15).
#
# Done once for each match, not for each event and each run.

_TOGETHER = 1 << 16
"""Rows that are made at a time; more, if one match alone has more."""


def enriched(
    program: SequenceProgram, matches: Matches, terms: Terms, background: Background, context: Context
) -> Iterator[Matches]:
    """The matches with what the query's late GRAPH blocks bind, in the same order: n solutions give n of them, and none
    gives none. `terms` is the dictionary of the matches' values; what the background adds enters it."""
    if not program.late:
        yield matches
        return
    found: Iterator[Matches] = iter([_widened(matches, len(program.outputs))])
    for late in program.late:
        found = _joined(program, late, found, terms, background, context)
    yield from found


def _joined(
    program: SequenceProgram,
    late: LateGraph,
    listed: Iterator[Matches],
    terms: Terms,
    background: Background,
    context: Context,
) -> Iterator[Matches]:
    names = in_scope(late.block)
    columns = {variable: program.outputs.index(variable) for variable in names}
    for matches in listed:
        asked = _having(matches, late.place)
        left = _asked(matches, asked, columns, terms, background.data.terms)
        known = look_up(late.block, left, background, context)
        if known is None:
            known = background_solutions(late.block, background, context)
        lefts, rights = known.pairs(left)
        missed = np.delete(np.arange(len(matches)), asked)  # arms without the GPM have nothing to look up
        rows = np.concatenate([asked[lefts], missed])
        solutions = np.concatenate([rights, np.full(len(missed), -1)])
        order = np.argsort(rows, kind="stable")
        for piece in _pieces(rows[order]):
            chosen = order[piece]
            yield _merged(matches, rows[chosen], solutions[chosen], columns, terms, known)


def _having(matches: Matches, place: int) -> Ints:
    """The matches in which a place has an event. It has one at most: it is in no closure."""
    found: Ints = np.searchsorted(matches.offsets, np.flatnonzero(matches.places == place), side="right") - 1
    return found


def _asked(matches: Matches, rows: Ints, columns: dict[Variable, int], terms: Terms, target: Terms) -> SolutionTable:
    """The bindings of some matches for a block's variables, in the background's ids."""
    ids: dict[ColumnVariable, Ids] = {
        variable: _ids(matches.tags[rows, column], matches.bits[rows, column], terms, target)
        for variable, column in columns.items()
    }
    return SolutionTable(len(rows), ids, None)


def _ids(tags: Ints, bits: Ints, terms: Terms, target: Terms) -> Ids:
    """Values as ids of another dictionary."""
    distinct, where = np.unique(np.stack([tags, bits], axis=1), axis=0, return_inverse=True)
    listed = [term_of(tag, value, terms) for tag, value in distinct.tolist()]
    bound = np.array([term is not None for term in listed], np.bool_)
    ids = np.full(len(listed), UNBOUND, np.int32)
    found = target.find_all(term for term in listed if term is not None)
    ids[bound] = np.where(found == UNBOUND, ABSENT, found)
    return ids[where.reshape(-1)]


def _pieces(rows: Ints) -> Iterator[slice]:
    """Stretches of some thousand rows; those of one match stay together."""
    cuts = np.searchsorted(rows, rows[_TOGETHER::_TOGETHER])
    bounds = np.unique(np.concatenate([[0], cuts, [len(rows)]])).tolist()
    return (slice(low, high) for low, high in pairwise(bounds))


def _merged(
    matches: Matches, rows: Ints, solutions: Ints, columns: dict[Variable, int], terms: Terms, known: ForeignSolutions
) -> Matches:
    """μ ∪ μ' for each pair of a match and a solution (-1: no solution); a set of mappings, while SPARQL gives a bag."""
    taken = matches.take(rows)
    found = np.flatnonzero(solutions >= 0)
    for variable, column in columns.items():
        if variable not in known.table.columns:  # no graph was there to bind it
            continue
        ids = np.full(len(rows), UNBOUND, np.int32)
        ids[found] = known.table.columns[variable][solutions[found]]
        values = values_of(ids, known.terms, terms)
        free = taken.tags[:, column] == NONE
        taken.tags[free, column] = values.tags[free]
        taken.bits[free, column] = values.bits[free]
    if len(rows) == len(np.unique(rows)):
        return taken
    return taken.take(_distinct(rows, taken, list(columns.values())))


def _distinct(rows: Ints, matches: Matches, columns: list[int]) -> Ints:
    """The first of the rows that one match has several times."""
    keys = np.concatenate([rows[:, None], matches.tags[:, columns], matches.bits[:, columns]], axis=1)
    return np.sort(np.unique(keys, axis=0, return_index=True)[1])


def _widened(matches: Matches, width: int) -> Matches:
    """The matches with room for the bindings of the background."""
    added = ((0, 0), (0, width - matches.tags.shape[1]))
    assert NONE == 0
    return replace(matches, tags=np.pad(matches.tags, added), bits=np.pad(matches.bits, added))
