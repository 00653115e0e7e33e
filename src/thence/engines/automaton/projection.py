"""Makes rows from matches: SELECT's columns, with aggregates over a closure's iterations (Definition 16's π)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Listed
from functools import cache

import numpy as np

from thence.algebra.expressions import Aggregate, AggregateFunction, Variable
from thence.algebra.sase import (
    ComponentQuery,
    Composite,
    EventIndex,
    MatchAggregates,
    Return,
    ReturnedValue,
    ValueSequence,
)
from thence.algebra.spaseq import (
    IterationAggregate,
    IterationFunction,
    Quantifier,
    SelectRows,
    SequenceQuery,
    last_places,
    occurrences,
)
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, term_of, values_of
from thence.columns.value_kinds import NONE
from thence.engines.automaton.conditions import ChosenEvents, ConditionEvaluator, events_by_component
from thence.engines.automaton.match_aggregates import AggregateState, aggregate_cells
from thence.engines.automaton.program import SequenceProgram
from thence.engines.automaton.running_aggregates import UNKNOWN
from thence.engines.automaton.step import Matches
from thence.interface.solutions import AnswerValue, Deferred, EventLists, Solutions
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt
from thence.rdf.terms import Literal, Term
from thence.rdf.values import literal
from thence.relation.accumulators import First, Last, sparql_accumulator


def solutions(program: SequenceProgram, matches: Matches, terms: Terms, context: Context) -> Solutions:
    """The rows of some matches: SELECT's or RETURN's columns; of CONSTRUCT, all variables."""
    form = program.query.form
    match form:
        case SelectRows(columns=columns) if any(column.expression is not None for column in columns):
            made = _Computed(program, form, matches, terms, context)
            return _solutions(program, matches, terms, program.output.columns, compute=made.cells)
        case SelectRows(columns=columns):
            variables = [column.variable for column in columns]
            return _solutions(program, matches, terms, program.output.columns, variables)
        case Return():
            return _returned(program, form, matches, terms, context)
        case _:
            return all_bound(program, matches, terms)


def all_bound(program: SequenceProgram, matches: Matches, terms: Terms) -> Solutions:
    """The bindings of matches or partial matches, without computed values."""
    names = tuple(variable.name for variable in program.outputs)
    return _solutions(program, matches, terms, names, program.outputs)


def _solutions(
    program: SequenceProgram,
    matches: Matches,
    terms: Terms,
    names: tuple[str, ...],
    variables: Listed[Variable] | None = None,
    compute: Callable[[int], Mapping[str, AnswerValue]] | None = None,
) -> Solutions:
    columns = None
    if variables is not None:
        columns = tuple(_column(program, matches, variable) for variable in variables)
    return Solutions(
        certain=matches.certain,
        start=matches.start,
        end=matches.end,
        names=names,
        terms=terms,
        events=Deferred(lambda: _event_lists(program, matches)),
        columns=columns,
        compute=compute,
        identity=lambda: tuple(_values_at(matches, slot) for slot in range(matches.bits.shape[1])),
        is_sorted=matches.is_sorted,
        is_compact=columns is not None and len(columns) == matches.bits.shape[1],
    )


def _column(program: SequenceProgram, matches: Matches, variable: Variable) -> ValueColumn:
    if variable not in program.outputs:  # nothing binds it
        return ValueColumn(np.full(len(matches), NONE, np.uint16), np.zeros(len(matches), np.int64))
    return _values_at(matches, program.outputs.index(variable))


def _values_at(matches: Matches, slot: int) -> ValueColumn:
    return ValueColumn(matches.tags[:, slot], matches.bits[:, slot])


def _event_lists(program: SequenceProgram, matches: Matches) -> EventLists:
    """The events of matches. What an iteration binds distinguishes matches, unless its event alone decides it."""
    values: tuple[ValueColumn, ...] = ()
    if not program.components.positive:
        tags, bits = matches.iterated_tags, matches.iterated_bits
        values = tuple(ValueColumn(tags[:, number], bits[:, number]) for number in range(tags.shape[1]))
    return EventLists(matches.offsets, matches.refs, matches.places, values)


def _returned(program: SequenceProgram, form: Return, matches: Matches, terms: Terms, context: Context) -> Solutions:
    """RETURN of SASE+: the matches that HAVING lets through."""
    query, names = program.query, program.output.columns
    assert isinstance(query, ComponentQuery)
    if program.shown is not None and not _has_unknown(program, matches):
        return _solutions(program, matches, terms, names, program.shown)
    judge = ConditionEvaluator(query, context)
    if query.having is not None:
        kept = [n for n in range(len(matches)) if judge.holds(query.having, _chosen(program, matches, n, terms))]
        matches = matches.take(np.array(kept, np.int64))

    @cache
    def cells(number: int) -> Mapping[str, AnswerValue]:
        chosen = _chosen(program, matches, number, terms)
        found = ((item.name, _given(item.given, judge, chosen)) for item in form.items)
        return {name: cell for name, cell in found if cell is not None}

    return _solutions(program, matches, terms, names, compute=cells)


def _has_unknown(program: SequenceProgram, matches: Matches) -> bool:
    """Whether a running aggregate must be read from the history."""
    assert program.shown is not None
    if not program.has_running_aggregates:
        return False
    slots = [program.outputs.index(variable) for variable in program.shown]
    return bool((matches.tags[:, slots] == UNKNOWN).any())


def _chosen(program: SequenceProgram, matches: Matches, number: int, terms: Terms) -> ChosenEvents:
    return events_by_component(program.components, matches, number, terms)


def _given(given: ReturnedValue, judge: ConditionEvaluator, chosen: ChosenEvents) -> AnswerValue | None:
    match given:
        case ValueSequence(component=component, name=name):
            return tuple(event.get(name) for event in chosen[component])
        case Composite(component=component, index=index, names=names):
            found = [{str(name): event.get(name) for name in names} for event in chosen[component]]
            return tuple(found) if index is None else found[-1 if index is EventIndex.LAST else 0]
        case expression:
            return attempt(expression, judge.solution(expression, chosen), judge.context)


class _Computed:
    """SELECT's columns, where some are computed: the cells of each match, once."""

    def __init__(
        self, program: SequenceProgram, form: SelectRows, matches: Matches, terms: Terms, context: Context
    ) -> None:
        self.program, self.form, self.matches, self.terms, self.context = program, form, matches, terms, context
        self._known: dict[int, dict[str, AnswerValue]] = {}

    def cells(self, number: int) -> Mapping[str, AnswerValue]:
        if number not in self._known:
            self._known[number] = self._cells(number)
        return self._known[number]

    def _cells(self, number: int) -> dict[str, AnswerValue]:
        program, matches, terms, context = self.program, self.matches, self.terms, self.context
        span = slice(int(matches.offsets[number]), int(matches.offsets[number + 1]))
        solution = self._solution(number)
        found: dict[str, AnswerValue] = {}
        for column in self.form.columns:
            if column.expression is None:
                if column.variable in solution:
                    found[column.variable.name] = solution[column.variable]
                continue
            collected = False
            for name, asked in column.aggregates:
                value = _aggregate(program, matches, span, asked, terms)
                if isinstance(value, tuple):
                    found[column.variable.name] = value
                    collected = True
                elif value is not None:
                    assert not isinstance(value, Mapping)
                    solution[name] = value
            value = None if collected else attempt(column.expression, solution, context)
            if value is not None:
                found[column.variable.name] = value
                solution[column.variable] = value
        return found

    def _solution(self, number: int) -> Solution:
        tags, bits = self.matches.tags[number].tolist(), self.matches.bits[number].tolist()
        cells = zip(self.program.outputs, tags, bits, strict=True)
        terms = ((variable, term_of(tag, value, self.terms)) for variable, tag, value in cells)
        return {variable: term for variable, term in terms if term is not None}


def _aggregate(
    program: SequenceProgram, matches: Matches, span: slice, asked: IterationAggregate, terms: Terms
) -> AnswerValue | None:
    if isinstance(asked.of, str):
        assert isinstance(program.query, SequenceQuery)
        return _count(program.query, matches, span, asked.of)
    values = _values(program, matches, span, asked.of, terms)
    match asked.function:
        case IterationFunction.COLLECT:
            return tuple(dict.fromkeys(values)) if asked.distinct else tuple(values)
        case IterationFunction.FIRST:
            return First().add_all(values)
        case IterationFunction.LAST:
            return Last().add_all(values)
        case _:
            function = AggregateFunction(asked.function.value)
            return sparql_accumulator(Aggregate(function, asked.of, asked.distinct, asked.separator)).add_all(values)


def _count(query: SequenceQuery, matches: Matches, span: slice, gpm: str) -> Literal:
    """The number of iterations that a GPM under `+` filled."""
    closures = [part.operand for part in query.sequence if part.quantifier is Quantifier.PLUS]
    filled_by = {found.place for operand in closures for found in occurrences(operand) if found.gpm == gpm}
    ends = frozenset().union(*(last_places(operand) for operand in closures))
    count, filled = 0, False
    for place in matches.places[span].tolist():
        filled = filled or place in filled_by
        if place in ends:
            count, filled = count + filled, False
    return literal(count)


def _values(program: SequenceProgram, matches: Matches, span: slice, variable: Variable, terms: Terms) -> list[Term]:
    """A local's value in each iteration that binds it, in order."""
    column = program.iterated.index(variable)
    tags, bits = matches.iterated_tags[span, column].tolist(), matches.iterated_bits[span, column].tolist()
    found = (term_of(tag, value, terms) for tag, value in zip(tags, bits, strict=True))
    return [term for term in found if term is not None]


def total_solutions(form: MatchAggregates, names: tuple[str, ...], known: AggregateState) -> Iterator[Solutions]:
    """A row for each group that has changed since the last time, in the order of certainty, end and start."""
    found = ((group, *known.groups[group]) for group in known.changed)
    groups = sorted(found, key=lambda each: each[:1:-1])  # by certainty, end and start
    known.changed = {}
    if not groups:
        return
    rows = [dict(aggregate_cells(form, group, weight)) for group, weight, _, _, _ in groups]
    terms, columns = Terms(), []
    for name in names:
        own = Terms()
        columns.append(values_of(own.add_all(row.get(name) for row in rows), own, terms))
    start, end, certain = (np.array(column, np.int64) for column in list(zip(*groups, strict=True))[2:])
    yield Solutions(
        certain,
        start,
        end,
        names,
        terms,
        Deferred(lambda: EventLists.none(len(rows))),
        tuple(columns),
        identity=lambda: tuple(columns),
    )
