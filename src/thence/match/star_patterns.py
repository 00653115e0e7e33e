"""Star patterns (one subject) over typed events: their bindings straight from columns, without triples or terms.

A typed event has one subject and at most one object for each predicate. So a basic graph pattern whose triples share
their subject, and whose predicates are known, has at most one solution in each event, and that is read off its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import And, Compare, Comparison, Expression, Variable
from thence.algebra.patterns import Bgp, Filter, Pattern, PatternTerm, TriplePattern
from thence.columns import value_kinds
from thence.columns.arrays import Mask
from thence.columns.batches import ColumnBatch
from thence.columns.canonical_terms import NON_CANONICAL
from thence.columns.dictionary import Terms
from thence.columns.value_columns import Tagged, ValueColumn, holds_term_id
from thence.match import tagged_arithmetic
from thence.match.expression_columns import HOLDS
from thence.rdf.terms import IRI, BlankNode, Literal

EventNumbers = NDArray[np.int64]

_REVERSED = {
    Comparison.EQUAL: Comparison.EQUAL,
    Comparison.NOT_EQUAL: Comparison.NOT_EQUAL,
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_OR_EQUAL: Comparison.GREATER_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: Comparison.LESS_OR_EQUAL,
}


@dataclass(frozen=True, slots=True)
class _Condition:
    variable: Variable
    comparison: Comparison
    constant: IRI | Literal


@dataclass(frozen=True, slots=True)
class _Star:
    subject: PatternTerm
    arms: tuple[tuple[IRI, PatternTerm], ...]  # predicate and object
    conditions: tuple[_Condition, ...] = ()


def star_values(
    pattern: Pattern, batch: ColumnBatch, variables: Sequence[Variable], state: Terms
) -> tuple[EventNumbers, dict[Variable, ValueColumn]] | None:
    """The events in which a pattern has a solution, ascending, and the value of each variable there, ids being of the
    state's dictionary. None: it is no such pattern, or a filter needs the evaluator; `batch.as_events()` has what that
    needs. Events, tags, and numbers of which all are values, may be arrays that can't be written to: a file's own."""
    star = _star(pattern)
    if star is None:
        return None
    found = _columns(star, batch, variables)
    if found is None:
        nothing = np.empty(0, np.int64)
        return nothing, {variable: ValueColumn(nothing.astype(np.uint16), nothing) for variable in variables}
    events, columns = found
    for condition in star.conditions:
        holds = _holds(condition, columns[condition.variable], batch)
        if holds is None:
            return None
        if not holds.all():
            kept = np.flatnonzero(holds)
            events, columns = events[kept], {slot: column.take(kept) for slot, column in columns.items()}
    return events, {variable: imported(columns.get(variable), len(events), batch, state) for variable in variables}


def star_predicates(pattern: Pattern) -> frozenset[IRI] | None:
    """The predicates of a pattern of one subject; None if the pattern has another form."""
    star = _star(pattern)
    return None if star is None else frozenset(predicate for predicate, _ in star.arms)


@lru_cache(maxsize=256)
def _star(pattern: Pattern) -> _Star | None:
    match pattern:
        case Filter():
            star, conditions = _star(pattern.pattern), _conditions(pattern.condition)
            if star is None or conditions is None:
                return None
            bound = {star.subject, *(slot for _, slot in star.arms)}
            if any(condition.variable not in bound for condition in conditions):
                return None
            return replace(star, conditions=(*star.conditions, *conditions))
        case Bgp(triples=(TriplePattern() as first, *_)):
            arms = tuple(
                (triple.predicate, triple.object)
                for triple in pattern.triples
                if isinstance(triple, TriplePattern)
                and isinstance(triple.predicate, IRI)
                and triple.subject == first.subject
            )
            return _Star(first.subject, arms) if len(arms) == len(pattern.triples) else None
        case _:
            return None


def _conditions(expression: Expression) -> tuple[_Condition, ...] | None:
    """A conjunction of comparisons of a variable with a constant: it is true where all of them are."""
    match expression:
        case And():
            left, right = _conditions(expression.left), _conditions(expression.right)
            return None if left is None or right is None else (*left, *right)
        case Compare(comparison, Variable() as variable, (IRI() | Literal()) as constant):
            return (_Condition(variable, comparison, constant),)
        case Compare(comparison, (IRI() | Literal()) as constant, Variable() as variable):
            return (_Condition(variable, _REVERSED[comparison], constant),)
        case _:
            return None


def _columns(
    star: _Star, batch: ColumnBatch, variables: Sequence[Variable]
) -> tuple[EventNumbers, dict[PatternTerm, Tagged]] | None:
    """The events that have all the triples, with the value of each variable; None if there are no such events."""
    columns: dict[PatternTerm, Tagged] = {}
    masks: list[Mask] = []
    places = [(slot, batch.column(predicate)) for predicate, slot in star.arms]
    if _needs_subject(star, variables):
        places.append((star.subject, batch.subjects))
    for slot, column in places:
        if column is None:
            return None
        if isinstance(slot, Variable | BlankNode):
            known = columns.setdefault(slot, column)
            masks += [] if known is column else [_equal(known, column)]
            masks += [column.tags != value_kinds.NONE] if column.tag in (None, value_kinds.NONE) else []
        else:
            tag, bits = batch.shared.value(slot)
            masks += [column.bits == bits] + ([] if column.tag == tag else [column.tags == tag])
    rejecting = [mask for mask in masks if not mask.all()]
    if not rejecting:
        return _all_events(len(batch)), columns
    events = np.flatnonzero(np.logical_and.reduce(rejecting))
    return events, {slot: column.take(events) for slot, column in columns.items()}


@lru_cache(maxsize=8)
def _all_events(count: int) -> EventNumbers:
    """Kept, since most batches are of one size, and making it costs as much as a column."""
    events = np.arange(count)
    events.flags.writeable = False
    return events


def _equal(left: Tagged, right: Tagged) -> Mask:
    equal: Mask = (left.tags == right.tags) & (left.bits == right.bits)
    return equal


def _needs_subject(star: _Star, variables: Sequence[Variable]) -> bool:
    """Whether it matters what the subject is: it always is something, and one and the same."""
    named = {*variables, *(slot for _, slot in star.arms), *(each.variable for each in star.conditions)}
    return star.subject in named or not isinstance(star.subject, Variable | BlankNode)


def _holds(condition: _Condition, column: Tagged, batch: ColumnBatch) -> Mask | None:
    """The rows where a condition is true; None if only the evaluator can decide. The variable is bound in all rows."""
    tag, bits = batch.shared.value(condition.constant)
    constant = _by_value(Tagged(np.array([tag], np.uint16), np.array([bits], np.int64)), batch.terms)
    column = _by_value(column, batch.terms)
    orders = np.empty(len(column.tags), np.int8)
    repeated = [np.repeat(part, len(orders)) for part in constant]
    tagged_arithmetic.order_all(column.tags, column.bits, repeated[0], repeated[1], orders)
    if condition.comparison not in (Comparison.EQUAL, Comparison.NOT_EQUAL):
        # strings have an order, but not by their ids
        kinds = np.concatenate([column.tags, constant.tags]) & np.uint16(value_kinds.KIND_MASK)
        if (kinds <= value_kinds.OTHER).any():
            return None
    if (orders == tagged_arithmetic.UNDECIDED).any():
        return None
    return np.isin(orders, HOLDS[condition.comparison])


def _by_value(column: Tagged, terms: Terms) -> Tagged:
    """A column that may be written to, with the values of numbers that are terms."""
    kinds, bits = np.array(column.tags), np.array(column.bits)
    rows = np.flatnonzero(kinds == NON_CANONICAL)
    ids = bits[rows]
    kinds[rows], bits[rows] = terms.tags[ids], terms.bits[ids]
    return Tagged(kinds, bits)


def imported(column: Tagged | None, length: int, batch: ColumnBatch, state: Terms) -> ValueColumn:
    """A column of a batch as values of a state; none at all where it has no such column."""
    if column is None:
        return ValueColumn(np.full(length, value_kinds.NONE, np.uint16), np.zeros(length, np.int64))
    named = holds_term_id(column.tags if column.tag is None else np.array([column.tag]))
    if not named.any():
        return ValueColumn(column.tags, column.bits)
    if named.all():
        return ValueColumn(column.tags, batch.shared.import_into(state, column.bits))
    bits = np.array(column.bits)
    bits[named] = batch.shared.import_into(state, bits[named])
    return ValueColumn(column.tags, bits)
