"""CONSTRUCT rules: the triples that a solution adds to the stream (Section 4.2, Q-closure; EP-46 – EP-49)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.patterns import PatternTerm
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_kinds import BLANK, IRI_, KIND_MASK
from thence.kernel.temporal.conditions import Scope
from thence.kernel.temporal.interval_table import ABSENT, Ids, IntervalTable
from thence.kernel.temporal.leaves import TripleBatch, derived_triples, joined_triples, no_triples
from thence.program.temporal.network import Node, Statement
from thence.rdf.terms import BlankNode


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """The triples of some solutions; `rows` says which solution each triple is of."""

    triples: TripleBatch
    rows: NDArray[np.int64]

    def take(self, places: NDArray[np.int64]) -> Derived:
        return Derived(self.triples.take(places), self.rows[places])


def by_position(rows: IntervalTable, made: Derived) -> NDArray[np.int64]:
    """Derived triples in the order of their solutions: by start, then by the positions of the events that fill the
    pattern (EP-49)."""
    of, starts = made.rows.tolist(), made.triples.start.tolist()
    filled = [tuple(ref for ref in refs if ref != ABSENT) for refs in rows.refs.T.tolist()]
    return np.array(sorted(range(len(of)), key=lambda each: (starts[each], filled[of[each]], of[each])), np.int64)


def derive(statement: Statement, root: Node, rows: IntervalTable, scope: Scope) -> Derived:
    """The instances of a rule's template: triples with an unbound variable, and those that are no RDF, are left out
    (EP-47)."""
    assert statement.template is not None
    parts: list[TripleBatch] = []
    of: list[NDArray[np.int64]] = []
    nodes: dict[BlankNode, Ids] = {}
    if len(rows):
        for triple in statement.template:
            places = (triple.subject, triple.predicate, triple.object)
            subjects, predicates, objects = (_filled(place, statement, root, rows, nodes, scope) for place in places)
            fits = (objects != UNBOUND) & _is_kind(subjects, (IRI_, BLANK), scope.terms)
            fits &= _is_kind(predicates, (IRI_,), scope.terms)
            taken = np.flatnonzero(fits)
            parts.append(
                derived_triples(rows.start[taken], rows.end[taken], subjects[taken], predicates[taken], objects[taken])
            )
            of.append(taken)
    return Derived(joined_triples(parts) if parts else no_triples(), np.concatenate([np.empty(0, np.int64), *of]))


def _filled(
    place: PatternTerm,
    statement: Statement,
    root: Node,
    rows: IntervalTable,
    nodes: dict[BlankNode, Ids],
    scope: Scope,
) -> Ids:
    match place:
        case Variable():
            if place not in root.variables:
                return np.full(len(rows), UNBOUND, np.int32)
            found: Ids = rows.ids[root.variables.index(place)]
            return found
        case BlankNode():  # one node per rule and solution (EP-48)
            if place not in nodes:
                first = scope.solutions_of(statement.number, len(rows), fresh=not nodes)
                names = [BlankNode(f"rule{statement.number}x{first + row}x{place.value}") for row in range(len(rows))]
                nodes[place] = scope.terms.add_all(names)
            return nodes[place]
        case _:
            return np.full(len(rows), scope.terms.add(place), np.int32)


def _is_kind(ids: Ids, kinds: tuple[int, ...], terms: Terms) -> NDArray[np.bool_]:
    if not len(terms):
        return np.zeros(len(ids), np.bool_)
    own = terms.tags[ids] & KIND_MASK
    found: NDArray[np.bool_] = reduce(np.logical_or, [own == kind for kind in kinds]) & (ids != UNBOUND)
    return found
