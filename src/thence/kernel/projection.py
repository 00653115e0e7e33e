"""From matches to rows: SELECT's columns, with aggregates over a closure's iterations (Definition 16's π)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Listed
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

from thence.algebra.closures import last_places, occurrences
from thence.algebra.components import ComponentQuery, Composite, Given, Index, Return, Sequence, Totals
from thence.algebra.expressions import Aggregate, AggregateFunction, Variable
from thence.algebra.sequences import IterationAggregate, IterationFunction, Quantifier, SelectRows, SequenceQuery
from thence.kernel.chosen import Chosen, Judge
from thence.kernel.components import chosen_in
from thence.kernel.sequence import Matches
from thence.kernel.summaries import UNKNOWN
from thence.kernel.totals import Totalled, cells
from thence.match.aggregates import aggregate
from thence.match.context import Context, Solution
from thence.match.expressions import attempt
from thence.program.sequence import Components, SequenceProgram
from thence.program.values import term_of
from thence.rdf.dictionary import Terms
from thence.rdf.terms import Literal, Term
from thence.rdf.values import literal

Cell = Term | tuple["Term | Struct | None", ...] | Mapping[str, Term | None]
"""What a row has for a column: a term; for COLLECT several; in SASE+ also a composite, or several, and among several
values there may be missing ones."""

Struct = Mapping[str, Term | None]

_PLAIN = {
    IterationFunction.SUM: AggregateFunction.SUM,
    IterationFunction.AVG: AggregateFunction.AVG,
    IterationFunction.MIN: AggregateFunction.MIN,
    IterationFunction.MAX: AggregateFunction.MAX,
    IterationFunction.COUNT: AggregateFunction.COUNT,
    IterationFunction.SAMPLE: AggregateFunction.SAMPLE,
    IterationFunction.GROUP_CONCAT: AggregateFunction.GROUP_CONCAT,
}


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Variables of some matches. The values are copies, and a dictionary only ever grows: what becomes of the state
    does not matter here."""

    variables: tuple[Variable, ...]
    tags: NDArray[np.int64]
    bits: NDArray[np.int64]
    terms: Terms

    def solution(self, number: int) -> Solution:
        found: Solution = {}
        cells = zip(self.variables, self.tags[number].tolist(), self.bits[number].tolist(), strict=True)
        for variable, tag, bits in cells:
            term = term_of(tag, bits, self.terms)
            if term is not None:
                found[variable] = term
        return found

    def row(self, number: int) -> dict[str, Term]:
        return {variable.name: term for variable, term in self.solution(number).items()}


@dataclass(slots=True)
class Row:
    """A row of SELECT; of CONSTRUCT, with all variables. `refs` are its events in the order of the pattern, iterations
    flat, and `places` says which occurrence of a GPM each fills."""

    certain: int
    start: int
    end: int
    refs: tuple[int, ...]
    places: tuple[int, ...]
    bound: Mapping[str, Cell] | None = None
    columns: _Columns | None = None  # of which it is made when it is asked for
    number: int = 0

    @property
    def bindings(self) -> Mapping[str, Cell]:
        """By name. Terms are made when they are first asked for: of most rows of a large answer they never are."""
        if self.bound is None:
            assert self.columns is not None
            self.bound = self.columns.row(self.number)
        return self.bound


def rows(program: SequenceProgram, matches: Matches, terms: Terms, context: Context) -> Iterator[Row]:
    """A row for each match, unbound columns left out."""
    form = program.query.form
    if program.components is not None:
        yield from _returned(program, program.components, matches, terms, context)
    elif not isinstance(form, SelectRows):
        yield from partial_rows(program, matches, terms)
    elif all(column.expression is None for column in form.columns):
        yield from _rows(matches, _columns(program, [column.variable for column in form.columns], matches, terms))
    else:
        columns = _columns(program, program.outputs, matches, terms)
        for row in _rows(matches, columns):
            row.bound = _computed(program, form, matches, columns, row.number, context)
            yield row


def _returned(
    program: SequenceProgram, components: Components, matches: Matches, terms: Terms, context: Context
) -> Iterator[Row]:
    """RETURN of SASE+: the matches that HAVING lets through."""
    query = program.query
    assert isinstance(query, ComponentQuery) and isinstance(query.form, Return)
    if program.shown is not None and not (matches.tags == UNKNOWN).any():
        slots = [program.outputs.index(variable) for variable in program.shown]
        names = tuple(Variable(item.name) for item in query.form.items)
        yield from _rows(matches, _Columns(names, matches.tags[:, slots], matches.bits[:, slots], terms))
        return
    judge = Judge(query, context)
    for row in _rows(matches, _columns(program, (), matches, terms)):
        chosen = chosen_in(components, matches, row.number, terms)
        if query.having is None or judge.holds(query.having, chosen):
            cells = ((item.name, _given(item.given, judge, chosen)) for item in query.form.items)
            row.bound = {name: cell for name, cell in cells if cell is not None}
            yield row


def _given(given: Given, judge: Judge, chosen: Chosen) -> Cell | None:
    match given:
        case Sequence(component=component, name=name):
            return tuple(event.get(name) for event in chosen[component])
        case Composite(component=component, index=index, names=names):
            found = [{str(name): event.get(name) for name in names} for event in chosen[component]]
            return tuple(found) if index is None else found[-1 if index is Index.LAST else 0]
        case expression:
            return attempt(expression, judge.solution(expression, chosen), judge.context)


def partial_rows(program: SequenceProgram, matches: Matches, terms: Terms) -> Iterator[Row]:
    """A row for each partial match: what it has bound so far, and nothing computed."""
    return _rows(matches, _columns(program, program.outputs, matches, terms))


def _columns(program: SequenceProgram, variables: Listed[Variable], matches: Matches, terms: Terms) -> _Columns:
    known = tuple(variable for variable in variables if variable in program.outputs)
    slots = [program.outputs.index(variable) for variable in known]
    return _Columns(known, matches.tags[:, slots], matches.bits[:, slots], terms)


def _rows(matches: Matches, columns: _Columns) -> Iterator[Row]:
    times = (matches.certain.tolist(), matches.first.tolist(), matches.last.tolist())
    refs, places = _cut(matches.refs, matches.offsets), _cut(matches.places, matches.offsets)
    known: dict[tuple[int, ...], tuple[int, ...]] = {}
    for certain, start, end, events, filled, number in zip(*times, refs, places, count(), strict=False):
        yield Row(certain, start, end, events, known.setdefault(filled, filled), None, columns, number)


_TOGETHER = 1000
"""Matches whose events are made Python's at a time: they may be many, and take four times the room then."""


def _cut(values: NDArray[np.int64], offsets: NDArray[np.int64]) -> Iterator[tuple[int, ...]]:
    """The values of each match."""
    for start in range(0, len(offsets) - 1, _TOGETHER):
        bounds = offsets[start : start + _TOGETHER + 1]
        listed = values[bounds[0] : bounds[-1]].tolist()
        for first, last in pairwise((bounds - bounds[0]).tolist()):
            yield tuple(listed[first:last])


def _computed(
    program: SequenceProgram, form: SelectRows, matches: Matches, columns: _Columns, number: int, context: Context
) -> dict[str, Cell]:
    span = slice(int(matches.offsets[number]), int(matches.offsets[number + 1]))
    solution, terms = columns.solution(number), columns.terms
    found: dict[str, Cell] = {}
    for column in form.columns:
        if column.expression is None:
            if column.variable in solution:
                found[column.variable.name] = solution[column.variable]
            continue
        collected = False
        for name, asked in column.aggregates:
            value = _aggregate(program, matches, span, asked, terms, context)
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


def _aggregate(
    program: SequenceProgram, matches: Matches, span: slice, asked: IterationAggregate, terms: Terms, context: Context
) -> Cell | None:
    if isinstance(asked.of, str):
        assert isinstance(program.query, SequenceQuery)
        return _count(program.query, matches, span, asked.of)
    values = _values(program, matches, span, asked.of, terms)
    match asked.function:
        case IterationFunction.COLLECT:
            return tuple(dict.fromkeys(values)) if asked.distinct else tuple(values)
        case IterationFunction.FIRST:
            return values[0] if values else None
        case IterationFunction.LAST:
            return values[-1] if values else None
        case _:
            function = Aggregate(_PLAIN[asked.function], asked.of, asked.distinct, asked.separator)
            return aggregate(function, [{asked.of: term} for term in values], context)


def _count(query: SequenceQuery, matches: Matches, span: slice, gpm: str) -> Literal:
    """How many iterations a GPM under `+` filled."""
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


def total_rows(form: Totals, known: Totalled) -> list[Row]:
    """A row for each group that has changed since the last time, in the order of certainty, end and start."""
    rows = []
    for group in known.changed:
        weight, start, end, certain = known.groups[group]
        bound = {name: cell for name, cell in cells(form, group, weight) if cell is not None}
        rows.append(Row(certain, start, end, (), (), bound))
    known.changed = {}
    return sorted(rows, key=lambda row: (row.certain, row.end, row.start))
