"""From matches to rows: SELECT's columns, with aggregates over a closure's iterations (Definition 16's π)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thence.algebra.closures import last_places, occurrences
from thence.algebra.expressions import Aggregate, AggregateFunction, Variable
from thence.algebra.sequences import IterationAggregate, IterationFunction, Quantifier, SelectRows, SequenceQuery
from thence.kernel.sequence import Matches
from thence.match.aggregates import aggregate
from thence.match.context import Context, Solution
from thence.match.expressions import attempt
from thence.program.sequence import SequenceProgram
from thence.program.values import term_of
from thence.rdf.dictionary import Terms
from thence.rdf.terms import Literal, Term
from thence.rdf.values import literal

Cell = Term | tuple[Term, ...]
"""What a row has for a column: a term, or for COLLECT several."""

_PLAIN = {
    IterationFunction.SUM: AggregateFunction.SUM,
    IterationFunction.AVG: AggregateFunction.AVG,
    IterationFunction.MIN: AggregateFunction.MIN,
    IterationFunction.MAX: AggregateFunction.MAX,
    IterationFunction.COUNT: AggregateFunction.COUNT,
    IterationFunction.SAMPLE: AggregateFunction.SAMPLE,
    IterationFunction.GROUP_CONCAT: AggregateFunction.GROUP_CONCAT,
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of SELECT; of CONSTRUCT, with all variables. `refs` are its events in the order of the pattern, iterations
    flat, and `places` says which occurrence of a GPM each fills."""

    certain: int
    start: int
    end: int
    refs: tuple[int, ...]
    places: tuple[int, ...]
    bindings: dict[str, Cell]


def rows(program: SequenceProgram, matches: Matches, terms: Terms, context: Context) -> Iterator[Row]:
    """A row for each match, unbound columns left out."""
    for number in range(len(matches)):
        solution = _solution(program, matches, number, terms)
        span = slice(int(matches.offsets[number]), int(matches.offsets[number + 1]))
        yield Row(
            certain=int(matches.certain[number]),
            start=int(matches.first[number]),
            end=int(matches.last[number]),
            refs=tuple(matches.refs[span].tolist()),
            places=tuple(matches.places[span].tolist()),
            bindings=_bindings(program, matches, span, solution, terms, context),
        )


def partial_rows(program: SequenceProgram, matches: Matches, terms: Terms) -> Iterator[Row]:
    """A row for each partial match: what it has bound so far, and nothing computed."""
    for number in range(len(matches)):
        span = slice(int(matches.offsets[number]), int(matches.offsets[number + 1]))
        bound = _solution(program, matches, number, terms)
        yield Row(
            certain=int(matches.certain[number]),
            start=int(matches.first[number]),
            end=int(matches.last[number]),
            refs=tuple(matches.refs[span].tolist()),
            places=tuple(matches.places[span].tolist()),
            bindings={variable.name: term for variable, term in bound.items()},
        )


def _solution(program: SequenceProgram, matches: Matches, number: int, terms: Terms) -> Solution:
    solution: Solution = {}
    for slot, variable in enumerate(program.outputs):
        term = term_of(int(matches.tags[number, slot]), int(matches.bits[number, slot]), terms)
        if term is not None:
            solution[variable] = term
    return solution


def _bindings(
    program: SequenceProgram, matches: Matches, span: slice, solution: Solution, terms: Terms, context: Context
) -> dict[str, Cell]:
    form = program.query.form
    if not isinstance(form, SelectRows):
        return {variable.name: term for variable, term in solution.items()}
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
