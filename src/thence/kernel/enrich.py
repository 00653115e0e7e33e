"""Joins complete matches with the background: the GRAPH blocks on which no choice of an event depends (Definition 15).

What is done once for each match would else be done for each event and each run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.spaseq import LateGraph
from thence.algebra.variables import in_scope
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.term_values import term_of, values_of
from thence.columns.value_kinds import NONE
from thence.match import Background
from thence.match.background import ABSENT, ForeignSolutions
from thence.match.background_lookup import look_up
from thence.match.context import Context
from thence.match.solution_table import ColumnVariable, Ids, SolutionTable
from thence.match.solve import background_solutions
from thence.program.automaton.program import SequenceProgram

if TYPE_CHECKING:
    from thence.kernel.automaton.step import Matches

Rows = NDArray[np.int64]

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


def _having(matches: Matches, place: int) -> Rows:
    """The matches in which a place has an event. It has one at most: it stands in no closure."""
    found: Rows = np.searchsorted(matches.offsets, np.flatnonzero(matches.places == place), side="right") - 1
    return found


def _asked(matches: Matches, rows: Rows, columns: dict[Variable, int], terms: Terms, target: Terms) -> SolutionTable:
    """What some of the matches have bound of a block's variables, in the background's ids."""
    ids: dict[ColumnVariable, Ids] = {
        variable: _ids(matches.tags[rows, column], matches.bits[rows, column], terms, target)
        for variable, column in columns.items()
    }
    return SolutionTable(len(rows), ids, None)


def _ids(tags: Rows, bits: Rows, terms: Terms, target: Terms) -> Ids:
    """Values as ids of another dictionary."""
    distinct, where = np.unique(np.stack([tags, bits], axis=1), axis=0, return_inverse=True)
    listed = [term_of(tag, value, terms) for tag, value in distinct.tolist()]
    bound = np.array([term is not None for term in listed], np.bool_)
    ids = np.full(len(listed), UNBOUND, np.int32)
    found = target.find_all(term for term in listed if term is not None)
    ids[bound] = np.where(found == UNBOUND, ABSENT, found)
    return ids[where.reshape(-1)]


def _pieces(rows: Rows) -> Iterator[slice]:
    """Stretches of some thousand rows; those of one match stay together."""
    cuts = np.searchsorted(rows, rows[_TOGETHER::_TOGETHER])
    bounds = np.unique(np.concatenate([[0], cuts, [len(rows)]])).tolist()
    return (slice(low, high) for low, high in pairwise(bounds))


def _merged(
    matches: Matches, rows: Rows, solutions: Rows, columns: dict[Variable, int], terms: Terms, known: ForeignSolutions
) -> Matches:
    """μ ∪ μ' for each pair of a match and a solution (-1: none); a set of mappings, where SPARQL gives a bag."""
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


def _distinct(rows: Rows, matches: Matches, columns: list[int]) -> Rows:
    """The first of the rows that one match has several times."""
    keys = np.concatenate([rows[:, None], matches.tags[:, columns], matches.bits[:, columns]], axis=1)
    return np.sort(np.unique(keys, axis=0, return_index=True)[1])


def _widened(matches: Matches, width: int) -> Matches:
    """With room for what the background binds."""
    added = ((0, 0), (0, width - matches.tags.shape[1]))
    assert NONE == 0
    return replace(matches, tags=np.pad(matches.tags, added), bits=np.pad(matches.bits, added))
