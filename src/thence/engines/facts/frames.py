"""Mappings as tuples: each variable of a statement has its slot, each term the form that Python hashes and compares
fastest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from thence.algebra.expressions import Variable
from thence.algebra.tef_sparql import is_fresh
from thence.algebra.traversal import nodes
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, term_of
from thence.columns.value_kinds import INTEGER
from thence.errors import InputError
from thence.match.context import Solution
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain, format_time, parse_time, time_literal
from thence.rdf.values import XSD_DATE_TIME, XSD_INTEGER, SortKey, order_key, tie_key

# Terms as the machine holds them: in the form that Python hashes and compares fastest.
#
# An IRI is its text, an xsd:integer in canonical form (of at most 18 digits) an int, an xsd:dateTime in the form in
# which times are written a TimeCell; any other term is itself. So equal cells are equal terms, and the reverse.


class TimeCell(NamedTuple):
    """An xsd:dateTime, as microseconds."""

    time: int


Cell: TypeAlias = str | int | TimeCell | BlankNode | Literal
CellTriple: TypeAlias = tuple[Cell, Cell, Cell]

LIMIT = 10**18
"""The bound on the integers of cells, on both sides of 0."""

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
    """The sort key of cells: as ORDER BY orders their terms."""
    if isinstance(cell, str):
        return (2, cell), ()
    if isinstance(cell, int):
        return (3, 0, 1, cell), (3, str(cell), XSD_INTEGER, "")
    own = term(cell)
    return order_key(own), tie_key(own)


def triple_rank(cells: CellTriple) -> list[tuple[SortKey, SortKey]]:
    return [rank(each) for each in cells]


Frame: TypeAlias = tuple[Cell | None, ...]
"""The cell of each variable; None: unbound."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The variables of a statement or a pattern, each in its slot: by name, those written `?_` last."""

    variables: tuple[Variable, ...]
    slots: dict[Variable, int]

    @property
    def empty(self) -> Frame:
        return (None,) * len(self.variables)

    def slots_of(self, variables: Iterable[Variable]) -> tuple[int, ...]:
        return tuple(sorted(self.slots[variable] for variable in variables))

    def solution(self, frame: Frame) -> Solution:
        """A frame as a solution."""
        return {variable: term(each) for variable, each in zip(self.variables, frame, strict=True) if each is not None}

    def frame(self, solution: Solution) -> Frame:
        """A solution as a frame. KeyError for a variable that is not here."""
        found: list[Cell | None] = [None] * len(self.variables)
        for variable, each in solution.items():
            found[self.slots[variable]] = cell(each)
        return tuple(found)


def layout(*parts: object) -> Layout:
    """The layout of all variables that some statements, patterns or expressions name."""
    variables = {node for part in parts for node in nodes(part) if isinstance(node, Variable)}
    ordered = tuple(sorted(variables, key=lambda each: (is_fresh(each), each.name)))
    return Layout(ordered, {variable: slot for slot, variable in enumerate(ordered)})


def with_cell(frame: Frame, slot: int, cell: Cell) -> Frame:
    return (*frame[:slot], cell, *frame[slot + 1 :])


def merged(left: Frame, right: Frame) -> Frame | None:
    """Both mappings as one; None if they are not compatible."""
    found = []
    for one, other in zip(left, right, strict=True):
        if one is None:
            found.append(other)
        elif other is None or one == other:
            found.append(one)
        else:
            return None
    return tuple(found)


def over(upper: Frame, lower: Frame) -> Frame:
    """The bindings of `upper`, then those of `lower` for unbound slots."""
    return tuple([other if one is None else one for one, other in zip(upper, lower, strict=True)])


def only(frame: Frame, slots: Iterable[int]) -> Frame:
    """A frame with some slots only."""
    found: list[Cell | None] = [None] * len(frame)
    for slot in slots:
        found[slot] = frame[slot]
    return tuple(found)


def cleared(frame: Frame, slots: Iterable[int]) -> Frame:
    """A frame without what it has in some slots."""
    found = [*frame]
    for slot in slots:
        found[slot] = None
    return tuple(found)


def is_bound(frame: Frame, slots: Iterable[int]) -> bool:
    """Whether all of some slots are bound."""
    for slot in slots:  # a loop: `all` costs more than what it asks
        if frame[slot] is None:
            return False
    return True


def frame_rank(frame: Frame, hidden: Iterable[tuple[int, Cell]] = ()) -> tuple[tuple[object, ...], ...]:
    """The sort key of mappings: the names of variables, including those that UNION has dropped, each as ORDER BY
    orders, so that unbound comes first; a variable written `?_` comes last (TEF-73)."""
    cells = [*frame]
    for slot, each in hidden:
        cells[slot] = each
    return tuple([() if each is None else rank(each) for each in cells])
