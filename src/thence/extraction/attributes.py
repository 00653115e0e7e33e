"""Extracts types and attributes of events, from the columns of typed events or the triples of RDF events, and tests
which `Fit`s of a table each event passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from sys import float_info
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.streams import Name
from thence.algebra.variables import mentioned
from thence.columns import value_kinds
from thence.columns.arrays import Mask
from thence.columns.batches import Batch, ColumnBatch, EventBatch
from thence.columns.canonical_terms import NON_CANONICAL, untag
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_columns import ValueColumn, term_of, values_of, write_values
from thence.extraction.opcodes import AT_CODES, BEYOND, DEPTH, FIRST, RANGE_WIDTH
from thence.extraction.predicates import ASK, TRUE, test
from thence.interface.dataflow import Dataflow
from thence.interface.extracted import ArrivedBatch, BindingTable, concatenate_bindings, times_of
from thence.interface.tables import AllTriples, Attributes, EntailedTriples, Fit, Table, attribute, of_event
from thence.jit.compiled import lazy_entry
from thence.jit.pointers import pointer
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt, passes
from thence.match.star_patterns import imported, star_predicates
from thence.rdf.events import RDF_TYPE, predicate_term
from thence.rdf.numbers import canonical, to_double
from thence.rdf.terms import IRI, XSD, Literal, Term
from thence.rdf.times import Domain
from thence.rdf.values import is_number
from thence.rdf.values import value as term_value


def attribute_bindings(
    table: Table,
    arrived: Sequence[ArrivedBatch],
    terms: Terms,
    context: Context,
    refused: dict[int, str],
) -> BindingTable:
    """The events of a table's stream, one row each. Events that pass no fit are left out, unless the table counts them.
    An event with two values for one attribute is left out and noted in `refused`."""
    parts = [_rows_of(table, each, terms, context, refused) for each in arrived if each.stream == table.stream]
    return concatenate_bindings(parts, table.variables)


def _rows_of(
    table: Table,
    arrived: ArrivedBatch,
    terms: Terms,
    context: Context,
    refused: dict[int, str],
) -> BindingTable:
    pattern, batch = table.pattern, arrived.batch
    assert isinstance(pattern, Attributes)
    namespace = pattern.namespace
    if isinstance(batch, ColumnBatch):
        found, types, repeated = _of_columns(pattern, batch, terms, namespace)
    else:
        found, types, repeated = _of_triples(pattern, batch, terms, namespace)
    refused.update((arrived.first_ref + event, reason) for event, reason in repeated.items())
    own = _times(batch)
    found = {name: own if name in OWN_TIMES else found[name] for name in pattern.names}
    for name, read in ((TYPE, _types_of), (SUBJECT, _subjects_of)):
        if name in found and (found[name].tags == value_kinds.NONE).any():
            found[name] = _or_else(found[name], _names(read(batch), batch.terms, terms, namespace))
    compared = {}
    for column, key in pattern.keys:
        values = found[key] if isinstance(key, Name) else _computed(pattern, key, found, len(batch), terms, context)
        compared[column] = normalised_for_equality(values, terms)
    fits = np.zeros(len(batch), np.int64)
    good = np.ones(len(batch), np.bool_)
    good[list(repeated)] = False
    for bit, fit in enumerate(pattern.fits):
        fits |= _fitting(pattern, fit, found, compared, types, good, terms, context).astype(np.int64) << bit
    columns = compared | {attribute(name): values for name, values in found.items()}
    columns[Variable("fits")] = ValueColumn(np.full(len(fits), value_kinds.INTEGER, np.uint16), fits)
    columns[Variable("time")] = ValueColumn(np.full(len(fits), value_kinds.INTEGER, np.uint16), batch.ends)
    rows = BindingTable(
        *times_of(batch),
        (arrived.first_ref + np.arange(len(batch))).reshape(-1, 1),
        {variable: columns[variable] for variable in table.variables},
        np.ones(len(batch), np.bool_),
    )
    return rows if pattern.all_count or (fits != 0).all() else rows.take(np.flatnonzero(fits))


# The values of events

OWN_TIMES = frozenset({Name("time"), Name("end")})
"""The attributes that mean when an event is, whatever else is called so (SA-51)."""
TYPE, SUBJECT = Name("type"), Name("subject")
"""The attributes that mean the names of an event's type and its subject where it has no attribute of that name."""


def _types_of(batch: Batch) -> ValueColumn:
    """The first type of each event."""
    if isinstance(batch, ColumnBatch):
        found = batch.column(RDF_TYPE)
        none = np.zeros(len(batch), np.int64)
        return ValueColumn(none.astype(np.uint16), none) if found is None else ValueColumn(*found)
    rows = np.flatnonzero(batch.predicates == batch.terms.find(RDF_TYPE))
    return _firsts(batch, rows, batch.objects)


def _subjects_of(batch: Batch) -> ValueColumn:
    """The subject of each event."""
    if isinstance(batch, ColumnBatch):
        return ValueColumn(*batch.subjects)
    rows = np.flatnonzero(_of_subject(batch, batch.predicates == batch.terms.find(RDF_TYPE)))
    return _firsts(batch, rows, batch.subjects)


def _firsts(batch: EventBatch, rows: NDArray[np.int64], column: NDArray[np.int32]) -> ValueColumn:
    """The term in the first of some rows of each event."""
    ids = np.full(len(batch), UNBOUND, np.int64)
    ids[batch.event_of_triple[rows[::-1]]] = column[rows[::-1]]  # the first one is written last
    tags = np.full(len(batch), value_kinds.NONE, np.uint16)
    named = np.flatnonzero(ids != UNBOUND)
    tags[named] = batch.terms.tags[ids[named]]
    return ValueColumn(tags, ids)


def _names(found: ValueColumn, own: Terms, terms: Terms, namespace: str) -> ValueColumn:
    """IRIs as texts, as a table has them: those of the namespace without it. Other terms have no name."""
    rows = np.flatnonzero(found.tags == value_kinds.IRI_)
    distinct, where = np.unique(found.bits[rows], return_inverse=True)
    iris = (own[int(each)].value for each in distinct.tolist())
    made = Terms()
    ids = np.full(len(found.tags), UNBOUND, np.int32)
    ids[rows] = made.add_all(Literal(unquote(iri.removeprefix(namespace))) for iri in iris)[where]
    return values_of(ids, made, terms)


def _or_else(values: ValueColumn, others: ValueColumn) -> ValueColumn:
    """Values, with others in place of missing ones."""
    none = values.tags == value_kinds.NONE
    return ValueColumn(np.where(none, others.tags, values.tags), np.where(none, others.bits, values.bits))


def _times(batch: Batch) -> ValueColumn:
    """When events are, by which they are ordered (C-23): integers, or dates."""
    ticks = not len(batch) or Domain(int(batch.domains[0])) is Domain.TICKS
    kind = value_kinds.INTEGER if ticks else value_kinds.DATETIME
    return ValueColumn(np.full(len(batch), kind, np.uint16), batch.ends)


_Read = tuple[dict[Name, ValueColumn], dict[Name, Mask], dict[int, str]]


def _of_columns(pattern: Attributes, batch: ColumnBatch, terms: Terms, namespace: str) -> _Read:
    found = {}
    for name in _read_names(pattern):
        column = batch.column(_own_predicate(name, namespace))
        found[name] = imported(column, len(batch), batch, terms)
    types = {}
    for name in _types(pattern):
        of = batch.column(RDF_TYPE)
        if of is None:
            types[name] = np.zeros(len(batch), np.bool_)
        else:
            types[name] = _is_of_type(name, of.bits, of.tags != value_kinds.NONE, batch.terms, namespace)
    return found, types, {}


def _of_triples(pattern: Attributes, batch: EventBatch, terms: Terms, namespace: str) -> _Read:
    kinds, numbers = np.unique(batch.predicates, return_inverse=True)
    predicates = [term if isinstance(term := batch.terms[int(kind)], IRI) else IRI("") for kind in kinds.tolist()]
    events, of_subject = batch.event_of_triple, _of_subject(batch, numbers == _index(predicates, RDF_TYPE))
    found: dict[Name, ValueColumn] = {}
    repeated: dict[int, str] = {}
    for name in _read_names(pattern):
        named = [number for number, each in enumerate(predicates) if is_named(each, name, namespace)]
        rows = np.flatnonzero(np.isin(numbers, named) & of_subject)
        ids = np.full(len(batch), UNBOUND, np.int32)
        ids[events[rows]] = batch.objects[rows]
        for event in events[rows[ids[events[rows]] != batch.objects[rows]]].tolist():
            repeated[event] = f"it has two values for {name}"
        found[name] = values_of(ids, batch.terms, terms)
    rows = np.flatnonzero((numbers == _index(predicates, RDF_TYPE)) & of_subject)
    types = {}
    for name in _types(pattern):
        of_type = np.zeros(len(batch), np.bool_)
        fits = _is_of_type(name, batch.objects[rows], np.ones(len(rows), np.bool_), batch.terms, namespace)
        of_type[events[rows[fits]]] = True
        types[name] = of_type
    return found, types, repeated


def repeated_attributes(batch: Batch, pattern: Attributes) -> dict[int, str]:
    """The events of a batch that cannot be read as typed events, by number, with the reason."""
    return {} if isinstance(batch, ColumnBatch) else _of_triples(pattern, batch, Terms(), pattern.namespace)[2]


def needed_predicates(table: Table) -> frozenset[IRI] | None:
    """The predicates that a table reads of typed events; None if it may read all."""
    if isinstance(table.pattern, AllTriples | EntailedTriples):
        return None
    if not isinstance(table.pattern, Attributes):
        return star_predicates(table.pattern)
    named = {_own_predicate(name, table.pattern.namespace) for name in _read_names(table.pattern)}
    needs_types = TYPE in table.pattern.names or any(True for _ in _types(table.pattern))
    return frozenset(named | {RDF_TYPE} if needs_types else named)


def _read_names(pattern: Attributes) -> Iterator[Name]:
    """The attributes that events are read for."""
    return (name for name in pattern.names if name not in OWN_TIMES)


def _own_predicate(name: Name, namespace: str) -> IRI:
    return name.iri if name.iri is not None else predicate_term(name.local, namespace)


def _types(pattern: Attributes) -> Iterator[Name]:
    return iter(dict.fromkeys(fit.type for fit in pattern.fits if fit.type is not None))


def _index(predicates: Sequence[IRI], wanted: IRI) -> int:
    return predicates.index(wanted) if wanted in predicates else -1


def _of_subject(batch: EventBatch, types: Mask) -> Mask:
    """The triples of each event's own subject: the first that has a type, else the first."""
    events = batch.event_of_triple
    subjects = np.full(len(batch), UNBOUND, np.int64)
    for rows in (np.arange(len(events)), np.flatnonzero(types)):
        subjects[events[rows[::-1]]] = batch.subjects[rows[::-1]]  # the first triple of an event is written last
    found: Mask = batch.subjects == subjects[events]
    return found


def is_named(predicate: IRI, name: Name, namespace: str) -> bool:
    """Whether a predicate is an attribute: of the query's namespace, or of another by its local name."""
    if predicate == RDF_TYPE or name.iri is not None:
        return predicate == name.iri
    return predicate == _own_predicate(name, namespace) or local_name(predicate) == name.local


def local_name(iri: IRI) -> str:
    """The part of an IRI after its last `#`, `/` or `:`.

    >>> local_name(IRI("http://example.org/stock#price"))
    'price'
    """
    found = next((sign for sign in "#/:" if sign in iri.value), "")
    return iri.value.rpartition(found)[2] if found else iri.value


def _is_of_type(name: Name, ids: NDArray[np.generic], there: Mask, terms: Terms, namespace: str) -> Mask:
    kinds, where = np.unique(ids, return_inverse=True)
    own = _own_predicate(name, namespace)

    def fits(term: Term) -> bool:
        return term == own or (name.iri is None and isinstance(term, IRI) and local_name(term) == name.local)

    of_type = np.array([fits(terms[int(kind)]) for kind in kinds.tolist()], np.bool_)
    found: Mask = of_type[where] & there if len(kinds) else np.zeros(len(ids), np.bool_)
    return found


_FEW_DIGITS = 10**15
"""Decimals with fewer digits than this are all different as doubles."""


def normalised_for_equality(values: ValueColumn, terms: Terms) -> ValueColumn:
    """Values in a form in which equal ones are identical: `1` and `1.0` are one number. NaN equals nothing, so it
    becomes NONE."""
    kinds, bits = np.array(values.tags, np.uint16), np.array(values.bits)
    named = np.flatnonzero(kinds == NON_CANONICAL)
    if len(named):
        kinds[named], bits[named] = terms.tags[bits[named]], terms.bits[bits[named]]
    kinds[kinds == value_kinds.DECIMAL] = value_kinds.INTEGER  # one without places
    of = kinds & np.uint16(value_kinds.KIND_MASK)
    rounded = np.flatnonzero((of == value_kinds.DOUBLE) | (of == value_kinds.FLOAT))
    few = np.abs(bits) < _FEW_DIGITS
    decimal = np.flatnonzero((of == value_kinds.DECIMAL) & few)
    large = np.flatnonzero((of == value_kinds.OTHER) | ((of == value_kinds.DECIMAL) & ~few))
    numbers = bits.view(np.float64)[rounded]
    fractions = bits[decimal] / np.power(10.0, kinds[decimal] >> value_kinds.SCALE_SHIFT)
    for rows, found in ((rounded, numbers), (decimal, fractions)):
        whole = (np.floor(found) == found) & (np.abs(found) < 2.0**63)
        kinds[rows] = np.where(
            np.isnan(found), value_kinds.NONE, np.where(whole, value_kinds.INTEGER, value_kinds.DOUBLE)
        )
        bits[rows] = np.where(whole, np.where(whole, found, 0).astype(np.int64), found.view(np.int64))
    if len(large):
        pairs = np.stack([kinds[large].astype(np.int64), bits[large]], axis=1)
        distinct, where = np.unique(pairs, axis=0, return_inverse=True)
        alike = np.array([_of_many_digits(tag, value, terms) for tag, value in distinct.tolist()], np.int64)
        kinds[large], bits[large] = alike[where.reshape(-1)].T
    return ValueColumn(kinds, bits)


def _of_many_digits(tag: int, bits: int, terms: Terms) -> tuple[int, int]:
    """The canonical form of a number with more digits than the fast path reads, so that equal numbers are identical
    whatever their types. Other terms are unchanged."""
    if tag == value_kinds.OTHER:
        term = terms[bits]
        number = term_value(term) if isinstance(term, Literal) else None
    else:
        number = untag(tag, bits)
    if not is_number(number):
        return tag, bits
    if isinstance(number, float):
        if isnan(number):
            return value_kinds.NONE, 0
        is_whole = number.is_integer() and abs(number) < 2.0**63
        return (value_kinds.INTEGER, int(number)) if is_whole else (value_kinds.DOUBLE, _bits_of(number))
    text = canonical(number)
    whole, _, fraction = text.partition(".")
    digits, scale = int(whole + fraction), len(fraction)
    if not scale and -(2**63) <= digits < 2**63:
        return value_kinds.INTEGER, digits
    double = to_double(number)
    if (scale and abs(digits) < _FEW_DIGITS and abs(double) >= float_info.min) or double == number:
        return value_kinds.DOUBLE, _bits_of(double)
    if scale <= value_kinds.MAX_SCALE and -(2**63) <= digits < 2**63:
        return value_kinds.DECIMAL | scale << value_kinds.SCALE_SHIFT, digits
    return value_kinds.OTHER, terms.add(Literal(text, XSD + "decimal"))


def _bits_of(double: float) -> int:
    return int(np.float64(double).view(np.int64))


def _fitting(
    pattern: Attributes,
    fit: Fit,
    found: Mapping[Name, ValueColumn],
    compared: Mapping[Variable, ValueColumn],
    types: Mapping[Name, Mask],
    good: Mask,
    terms: Terms,
    context: Context,
) -> Mask:
    fits = good if fit.type is None else good & types[fit.type]
    for key in fit.present:
        fits = fits & (compared[key].tags != value_kinds.NONE)
    rows = np.flatnonzero(fits)
    if not fit.predicates or not len(rows):
        return fits
    taken = {name: values.take(rows) for name, values in found.items()}
    kept = np.ones(len(rows), np.bool_)
    for predicate in fit.predicates:
        kept &= _holding(pattern, predicate, taken, len(rows), terms, context)
    chosen = np.zeros(len(fits), np.bool_)
    chosen[rows[kept]] = True
    return chosen


def _holding(
    pattern: Attributes, predicate: int, values: Mapping[Name, ValueColumn], count: int, terms: Terms, context: Context
) -> Mask:
    """The events for which a predicate is true."""
    cells, width = _cells(values, count)
    truths = np.empty(count, np.int64)
    _test_all(pattern.image, predicate, cells, width, terms.tags, terms.bits, truths)
    held: Mask = truths == TRUE
    condition = pattern.predicates[predicate]
    for row in np.flatnonzero(truths == ASK).tolist():
        held[row] = passes(condition, _solution(values, row, terms), context)
    return held


def _cells(values: Mapping[Name, ValueColumn], count: int) -> tuple[NDArray[np.int64], int]:
    """A frame for each event, with room for a stack behind it; and the width of a frame."""
    width = max(2 * len(values), 1)
    cells = np.zeros(count * width + 2 * DEPTH, np.int64)
    write_values(
        cells[: count * width].reshape(count, width), [(2 * n, each) for n, each in enumerate(values.values())]
    )
    return cells, width


def _solution(values: Mapping[Name, ValueColumn], row: int, terms: Terms) -> Solution:
    found: Solution = {}
    for name, each in values.items():
        term = term_of(int(each.tags[row]), int(each.bits[row]), terms)
        if term is not None:
            found[of_event(name)] = term
    return found


def _computed(
    pattern: Attributes, number: int, found: Mapping[Name, ValueColumn], count: int, terms: Terms, context: Context
) -> ValueColumn:
    """The value of an expression for each event; NONE for an error. Where the machine cannot decide, the reference
    evaluator computes it, once for all events with the same values."""
    cells, width = _cells(found, count)
    truths = np.empty(count, np.int64)
    made = ValueColumn(np.empty(count, np.uint16), np.empty(count, np.int64))
    _compute_all(pattern.image, number, cells, width, terms.tags, terms.bits, truths, made.tags, made.bits)
    rows = np.flatnonzero(truths == ASK)
    if not len(rows):
        return made
    expression = pattern.predicates[number]
    named = {name: each for name, each in found.items() if of_event(name) in mentioned(expression)}
    parts = [part[rows].astype(np.int64) for each in named.values() for part in (each.tags, each.bits)]
    _, first, where = np.unique(np.stack(parts, axis=1), axis=0, return_index=True, return_inverse=True)
    own = Terms()
    results = (attempt(expression, _solution(named, row, terms), context) for row in rows[first].tolist())
    asked = values_of(own.add_all(results)[where.reshape(-1)], own, terms)
    made.tags[rows], made.bits[rows] = asked.tags, asked.bits
    return made


def _tests(image, predicate, cells, width, term_tags, term_bits, truths, *made):
    """The number of loop rounds: each event executes the words of the predicate."""
    code = image[AT_CODES] + predicate * RANGE_WIDTH
    return len(truths) * (20 + 2 * (image[code + BEYOND] - image[code + FIRST]))


@lazy_entry(_tests)
def _compute_all(image, predicate, cells, width, term_tags, term_bits, truths, value_tags, value_bits):
    """Evaluates `test` for all rows and copies the value that it leaves at the bottom of its stack: a number, a
    boolean, or NONE for an error."""
    stack = len(truths) * width
    for row in range(len(truths)):
        truths[row] = test(
            pointer(image), predicate, pointer(cells), row * width, stack, pointer(term_tags), pointer(term_bits)
        )
        value_tags[row], value_bits[row] = cells[stack], cells[stack + 1]


@lazy_entry(_tests)
def _test_all(image, predicate, cells, width, term_tags, term_bits, truths):
    stack = len(truths) * width
    for row in range(len(truths)):
        truths[row] = test(
            pointer(image), predicate, pointer(cells), row * width, stack, pointer(term_tags), pointer(term_bits)
        )


def predicates_read(dataflow: Dataflow) -> dict[str, frozenset[IRI]]:
    """The predicates that a dataflow reads, for each stream of which it does not read all predicates."""
    found: dict[str, frozenset[IRI]] = {}
    for stream in dataflow.streams:
        tables = [table for stage in dataflow.stages for table in stage.program.tables if table.stream == stream.name]
        known = [predicates for table in tables if (predicates := needed_predicates(table)) is not None]
        if len(known) == len(tables):
            found[stream.name] = frozenset().union(*known, dataflow.order_of(stream.name))
    return found
