"""SELECT of SPAseQ: one row for each mapping of a match (Definition 16's π), aggregates over a closure's iterations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from oracle.expressions import Number, Value, compare, evaluate, total
from oracle.id_order import id_order
from oracle.spaseq import Match
from oracle.spaseq_query import Aggregate, Column, Query, Unary, uses
from oracle.terms import Term

Cell: TypeAlias = Value | tuple[Term, ...] | None
"""What a row has for a column; None: unbound. COLLECT gives a tuple."""


@dataclass(frozen=True)
class Row:
    start: int
    end: int
    certain: int
    events: tuple[str, ...]
    cells: tuple[tuple[str, Cell], ...]


def rows(query: Query, matches: Iterable[Match]) -> list[Row]:
    """In order of certainty, then end, start, ids. Projection merges nothing; DISTINCT keeps the first of equals."""
    found = sorted((row(query, match) for match in matches), key=_place)
    if not query.distinct:
        return found
    first: dict[tuple[tuple[str, Cell], ...], Row] = {}
    for each in found:
        first.setdefault(each.cells, each)
    return list(first.values())


def _place(row: Row) -> tuple[object, ...]:
    return row.certain, row.end, row.start, [*map(id_order, row.events)]


def row(query: Query, match: Match) -> Row:
    run = match.run
    cells = tuple((column.name, cell(query, match, column)) for column in columns(query))
    return Row(run.start, run.end, match.certain, match.events, cells)


def columns(query: Query) -> tuple[Column, ...]:
    """`SELECT *`: all variables of the GPMs that are not negated, in the order of the text."""
    if query.select is not None:
        return query.select
    positive = {name for part in query.parts if part.unary is not Unary.NOT for name in uses(part.group)}
    names = [variable for gpm in query.gpms if gpm.name in positive for variable in gpm.variables()]
    return tuple(map(Column, dict.fromkeys(names)))


def cell(query: Query, match: Match, column: Column) -> Cell:
    """A local shows its value in the last iteration: the one that the run's mapping has."""
    mapping = dict(match.run.mapping)
    match column.expression:
        case None:
            return mapping.get(column.name)
        case Aggregate("COUNT", gpm):
            iterations = {filled.iteration for filled in match.run.filled if filled.gpm == gpm}
            return Number(Fraction(len(iterations)), integer=True)
        case Aggregate(function, variable):
            return aggregate(function, values(match, variable))
        case expression:
            return evaluate(expression, mapping)


def values(match: Match, variable: str) -> tuple[Term, ...]:
    """A local's value in each iteration, in order; an iteration that does not bind it has none to give."""
    return tuple(term for iteration in match.run.iterations for name, term in iteration.locals if name == variable)


def aggregate(function: str, terms: tuple[Term, ...]) -> Cell:
    match function:
        case "COLLECT":
            return terms
        case "FIRST":
            return terms[0] if terms else None
        case "LAST":
            return terms[-1] if terms else None
        case "MIN":
            return _extreme("<", terms)
        case "MAX":
            return _extreme(">", terms)
        case "SUM":
            return total(terms)
        case "AVG":
            return total(terms, average=True)
    raise ValueError(function)


def _extreme(operator: str, terms: tuple[Term, ...]) -> Term | None:
    """The first of the terms that none is beyond. Terms without an order among them are not asked for."""
    return next((term for term in terms if not any(compare(operator, other, term) for other in terms)), None)
