"""Terms as the machine holds them: in the form that Python hashes and compares fastest.

An IRI is its text, an xsd:integer in canonical form (of at most 18 digits) an int, an xsd:dateTime in the form in which
times are written a TimeCell; any other term is itself. So equal cells are equal terms, and the reverse.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

import numpy as np

from thence.columns.dictionary import Terms
from thence.columns.term_values import ValueColumn, term_of
from thence.columns.value_kinds import INTEGER
from thence.errors import InputError
from thence.rdf.comparison import SortKey, order_key, tie_key
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain, format_time, parse_time, time_literal
from thence.rdf.values import XSD_DATE_TIME, XSD_INTEGER


class TimeCell(NamedTuple):
    """An xsd:dateTime, as microseconds."""

    time: int


Cell: TypeAlias = str | int | TimeCell | BlankNode | Literal
CellTriple: TypeAlias = tuple[Cell, Cell, Cell]

LIMIT = 10**18
"""What the integers of cells are below, on both sides of 0."""

_SMALL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


def cell(term: Term) -> Cell:
    """The cell of a term.

    >>> cell(Literal("7", XSD_INTEGER)), cell(IRI("x:a")), cell(Literal("07", XSD_INTEGER)).value
    (7, 'x:a', '07')
    """
    if isinstance(term, IRI):
        return term.value
    if isinstance(term, Literal) and term.datatype == XSD_INTEGER and _SMALL_INTEGER.fullmatch(term.value):
        return int(term.value)
    if isinstance(term, Literal) and term.datatype == XSD_DATE_TIME:
        return _time(term) or term
    return term


def _time(literal: Literal) -> TimeCell | None:
    try:
        time = parse_time(literal).time
    except InputError:
        return None
    return TimeCell(time) if format_time(time, Domain.DATETIME) == literal.value else None


def term(cell: Cell) -> Term:
    """The term of a cell."""
    if isinstance(cell, str):
        return IRI(cell)
    if isinstance(cell, int):
        return Literal(str(cell), XSD_INTEGER)
    return time_literal(cell.time, Domain.DATETIME) if isinstance(cell, TimeCell) else cell


def triple_of(cells: CellTriple) -> Triple:
    subject, predicate, target = cells
    return Triple(term(subject), term(predicate), term(target))


def cells_of(triple: Triple) -> CellTriple:
    subject, predicate, target = triple
    return cell(subject), cell(predicate), cell(target)


def column_cells(column: ValueColumn, terms: Terms) -> list[Cell]:
    """The cells of a column in which nothing is unbound: each distinct term is decoded once."""
    tags, bits = column.tags, column.bits
    found = np.empty(len(bits), object)
    for tag in np.unique(tags).tolist():
        rows = np.flatnonzero(tags == tag)
        distinct, where = np.unique(bits[rows], return_inverse=True)
        if tag == INTEGER and distinct[0] > -LIMIT and distinct[-1] < LIMIT:
            found[rows] = bits[rows].tolist()
            continue
        decoded = [term_of(tag, each, terms) for each in distinct.tolist()]
        cells = np.empty(len(distinct), object)
        cells[:] = [cell(each) for each in decoded if each is not None]
        found[rows] = cells[where]
    made: list[Cell] = found.tolist()
    return made


def time_cell(time: int, domain: Domain) -> Cell:
    """A time as a cell (TEF-55)."""
    if domain is Domain.TICKS:
        return time if -LIMIT < time < LIMIT else time_literal(time, domain)
    return TimeCell(time)


def rank(cell: Cell) -> tuple[SortKey, SortKey]:
    """By which cells are ordered: as ORDER BY orders their terms."""
    if isinstance(cell, str):
        return (2, cell), ()
    if isinstance(cell, int):
        return (3, 0, 1, cell), (3, str(cell), XSD_INTEGER, "")
    own = term(cell)
    return order_key(own), tie_key(own)


def triple_rank(cells: CellTriple) -> list[tuple[SortKey, SortKey]]:
    return [rank(each) for each in cells]
