"""Batches of events: `EventBatch` of RDF graphs as columns of term ids, `ColumnBatch` of typed events as columns of
values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thence.columns import value_kinds
from thence.columns.arrays import Ints
from thence.columns.canonical_terms import tagged_literal
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.shared_dictionary import Dictionaries, SharedTerms
from thence.columns.value_columns import Tagged, holds_term_id
from thence.columns.value_kinds import BLANK, KIND_MASK
from thence.rdf.events import RDF_TYPE, Event, name_term, subject_term
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain

if TYPE_CHECKING:
    from thence.columns.arrow_values import AttributeColumn


@dataclass(frozen=True, slots=True, eq=False)
class EventBatch:
    """Some events of one stream, in the source's order. The triples of event i are at `offsets[i]:offsets[i+1]` of the
    three id columns, each once. Blank nodes are local to their event: no two events share one, except equal rows, which
    are distinguished later (`spark.worker.equal_events`)."""

    terms: Terms
    offsets: NDArray[np.int64]
    subjects: NDArray[np.int32]
    predicates: NDArray[np.int32]
    objects: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    domains: NDArray[np.uint8]  # `Domain` of each event's times
    ids: NDArray[np.int32]  # an event's id, as a term: an IRI, else a plain literal
    positions: NDArray[np.int64]  # where it was at the source (line, ordinal): the order among equal times

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def event_of_triple(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))

    def id(self, index: int) -> str:
        """The id of the event at `index`."""
        return self.terms[int(self.ids[index])].value

    def event(self, index: int) -> Event:
        """The event at `index` as an object."""
        domain = Domain(int(self.domains[index]))
        start, end = int(self.starts[index]), int(self.ends[index])
        return Event.from_columns(start, end, domain, self.id(index), self.triples(index))

    def triples(self, index: int) -> tuple[Triple, ...]:
        span = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        rows = zip(
            self.subjects[span].tolist(), self.predicates[span].tolist(), self.objects[span].tolist(), strict=True
        )
        terms = self.terms
        return tuple(Triple(terms[s], terms[p], terms[o]) for s, p, o in rows)

    def take(self, events: NDArray[np.int64]) -> EventBatch:
        """Some of the events, in the given order."""
        lengths = np.diff(self.offsets)[events]
        offsets = np.zeros(len(events) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        rows = np.repeat(self.offsets[events] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return EventBatch(
            terms=self.terms,
            offsets=offsets,
            subjects=self.subjects[rows],
            predicates=self.predicates[rows],
            objects=self.objects[rows],
            starts=self.starts[events],
            ends=self.ends[events],
            domains=self.domains[events],
            ids=self.ids[events],
            positions=self.positions[events],
        )

    def as_events(self) -> EventBatch:
        """The batch itself: the form of every batch where triples are needed."""
        return self

    def __iter__(self) -> Iterator[Event]:
        return (self.event(index) for index in range(len(self)))


def encode(events: Sequence[Event], *, stream: str = "stream", first: int = 0, labelled: bool = False) -> EventBatch:
    """Events as columns. `first` is the number of the stream's events before these: positions, blank nodes and
    generated ids continue from there. `labelled`: blank nodes already have labels of their own."""
    terms = Terms()
    counts = [len(event.triples) for event in events]
    flat = [term for event in events for triple in event.triples for term in triple]
    ids = terms.add_all(flat).reshape(-1, 3)
    offsets = np.zeros(len(events) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    positions = np.arange(first, first + len(events), dtype=np.int64)
    subjects, predicates, objects = (np.ascontiguousarray(column) for column in ids.T)
    if not labelled:
        localise_blank_nodes(terms, offsets, subjects, objects, positions, stream)
    return EventBatch(
        terms=terms,
        offsets=offsets,
        subjects=subjects,
        predicates=predicates,
        objects=objects,
        starts=np.array([event.start for event in events], np.int64),
        ends=np.array([event.end for event in events], np.int64),
        domains=np.array([event.domain.value for event in events], np.uint8),
        ids=terms.add_all(
            Literal(f"{stream}:{position}" if event.id is None else event.id)
            for event, position in zip(events, positions.tolist(), strict=True)
        ),
        positions=positions,
    )


def localise_blank_nodes(
    terms: Terms,
    offsets: NDArray[np.int64],
    subjects: NDArray[np.int32],
    objects: NDArray[np.int32],
    positions: NDArray[np.int64],
    stream: str,
) -> None:
    """Renames the blank nodes of each event, in place: `_:b` of the event at position 7 of stream S1 becomes
    `_:S1_7_b`."""
    beginning = label_of(stream)

    def owners(events: NDArray[np.int64]) -> list[str]:
        return [f"{beginning}_{position}" for position in positions[events].tolist()]

    name_blank_nodes(terms, offsets, subjects, objects, owners)


def name_blank_nodes(
    terms: Terms,
    offsets: NDArray[np.int64],
    subjects: NDArray[np.int32],
    objects: NDArray[np.int32],
    owners: Callable[[NDArray[np.int64]], Sequence[str]],
) -> None:
    """Renames the blank nodes of each event, in place: `_:b` becomes `_:OWNER_b`. `owners` has the prefixes for some
    events."""
    blank = (terms.tags & KIND_MASK) == BLANK
    if not blank.any():
        return
    events = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    for column in (subjects, objects):
        rows = np.flatnonzero(blank[column])
        pairs = events[rows] * np.int64(len(blank)) + column[rows]
        distinct, where = np.unique(pairs, return_inverse=True)
        event, label = np.divmod(distinct, len(blank))
        local = [
            BlankNode(f"{owner}_{terms[index].value}")
            for owner, index in zip(owners(event), label.tolist(), strict=True)
        ]
        column[rows] = terms.add_all(local)[where]


def label_of(stream: str) -> str:
    """A stream's name as the prefix of a blank node's label."""
    # letters and digits stay, so that the label is one; anything else is spelt out, between two x that are not letters
    return "".join(c if c.isascii() and c.isalnum() and c != "x" else f"x{ord(c):x}x" for c in stream)


# `ColumnBatch`: typed events as columns of values, without a triple or an object an event.


@dataclass(frozen=True, slots=True, eq=False)
class RowPositions:
    """The positions of some rows in their table: `first` and those that follow, or at a fixed distance from each other.
    A row's line is the given one, or else its number from 1."""

    first: int
    count: int
    distances: Ints | None = None
    lines: Ints | None = None

    def __len__(self) -> int:
        return self.count

    @property
    def positions(self) -> Ints:
        return self.first + (np.arange(self.count) if self.distances is None else self.distances)

    def position(self, row: int) -> int:
        return self.first + (row if self.distances is None else int(self.distances[row]))

    def line(self, row: int) -> int:
        return self.position(row) + 1 if self.lines is None else int(self.lines[row])

    def take(self, rows: Ints) -> RowPositions:
        distances = rows if self.distances is None else self.distances[rows]
        return RowPositions(self.first, len(rows), distances, None if self.lines is None else self.lines[rows])


@dataclass(frozen=True, eq=False)
class TypedRows:
    """A range of a table's rows. Each column becomes values when it is first read."""

    stream: str
    namespace: str
    types: Any | None  # an Arrow array, as the next two
    subjects: Any | None
    ids: Any | None
    attributes: Mapping[IRI, AttributeColumn]
    places: RowPositions
    dictionaries: Dictionaries

    @cached_property
    def shared(self) -> SharedTerms:
        return self.dictionaries.current()  # chosen now, not when the rows were read: only now it grows

    @cached_property
    def _values(self) -> dict[IRI, Tagged]:
        return {}

    def column(self, predicate: IRI) -> Tagged | None:
        """The values of a predicate; None if no row has one."""
        if predicate not in self._values:
            if predicate == RDF_TYPE and self.types is not None:
                self._values[predicate] = self._named("type", self.types, lambda name: name_term(name, self.namespace))
            elif predicate in self.attributes:
                from thence.columns.arrow_values import tagged_column  # heavy, and only tables need it

                self._values[predicate] = tagged_column(self.attributes[predicate], self.shared)
            else:
                return None
        return self._values[predicate]

    @cached_property
    def subject(self) -> Tagged:
        """The subject of each row. A blank node is local to its event, whatever its label."""
        terms = self.shared.terms
        if self.subjects is None:
            nothing = np.zeros(len(self.places), np.int64)
            found = Tagged(nothing.astype(np.uint16), nothing)
        else:
            found = self._named("subject", self.subjects, lambda value: subject_term(value, self.namespace))
        if found.tag == value_kinds.IRI_:
            return found
        blank = np.flatnonzero(found.tags != value_kinds.IRI_)
        labels = [
            terms[index].value if tag == value_kinds.BLANK else "subject"
            for tag, index in zip(found.tags[blank].tolist(), found.bits[blank].tolist(), strict=True)
        ]
        local = [f"_:{owner}_{label}".encode() for owner, label in zip(self.owners(blank), labels, strict=True)]
        kinds, bits = np.array(found.tags), np.array(found.bits)
        kinds[blank], bits[blank] = value_kinds.BLANK, terms.add_texts(local)
        return Tagged(kinds, bits)

    def owners(self, rows: Ints) -> list[str]:
        """The prefixes of the labels of some rows' blank nodes: no two different rows share one."""
        owner = label_of(self.stream)
        return [f"{owner}_{position}" for position in self.places.positions[rows].tolist()]

    def _named(self, column: str, array: Any, make: Callable[[Any], Term]) -> Tagged:
        from thence.columns.arrow_values import name_column  # heavy, and only tables need it

        return name_column(column, array, make, self.shared)

    def id(self, row: int) -> str:
        given = None if self.ids is None else self.ids[row].as_py()
        return f"{self.stream}:{self.places.line(row)}" if given in (None, "") else str(given)


@dataclass(frozen=True, eq=False)
class ColumnBatch:
    """Some typed events of one stream, in the source's order. Each has one subject and at most one value per
    predicate."""

    table: TypedRows
    rows: slice | Ints  # of the table, one for each event
    starts: Ints
    ends: Ints
    domains: NDArray[np.uint8]  # `Domain` of each event's times

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def positions(self) -> Ints:
        """The position of each event at the source: the order among equal times."""
        return self.table.places.positions[self.rows]

    @property
    def shared(self) -> SharedTerms:
        """The dictionary of the values' ids, shared with other batches."""
        return self.table.shared

    @property
    def terms(self) -> Terms:
        return self.table.shared.terms

    @property
    def predicates(self) -> tuple[IRI, ...]:
        """The predicates, in the order of an event's triples."""
        return (*(() if self.table.types is None else (RDF_TYPE,)), *self.table.attributes)

    def column(self, predicate: IRI) -> Tagged | None:
        """The object of each event for a predicate, in the form of `canonical_terms.as_values`; None if no event has
        one."""
        found = self.table.column(predicate)
        return None if found is None else found.take(self.rows)

    @property
    def subjects(self) -> Tagged:
        """The subject of each event: an IRI or a blank node."""
        return self.table.subject.take(self.rows)

    def id(self, index: int) -> str:
        """The id of the event at `index`."""
        return self.table.id(self._row(index))

    def event(self, index: int) -> Event:
        """The event at `index` as an object."""
        domain = Domain(int(self.domains[index]))
        start, end = int(self.starts[index]), int(self.ends[index])
        return Event.from_columns(start, end, domain, self.id(index), self.triples(index))

    def triples(self, index: int) -> tuple[Triple, ...]:
        row = self._row(index)
        subject = self._term(self.table.subject, row)
        assert subject is not None
        objects = ((each, self.table.column(each)) for each in self.predicates)
        found = ((predicate, self._term(values, row)) for predicate, values in objects if values is not None)
        return tuple(Triple(subject, predicate, value) for predicate, value in found if value is not None)

    def _row(self, index: int) -> int:
        return index + (self.rows.start or 0) if isinstance(self.rows, slice) else int(self.rows[index])

    def _term(self, values: Tagged, row: int) -> Term | None:
        tag, bits = int(values.tags[row]), int(values.bits[row])
        if tag == value_kinds.NONE:
            return None
        return self.terms[bits] if holds_term_id(tag) else tagged_literal(tag, bits)

    def take(self, events: Ints) -> ColumnBatch:
        """Some of the events, in the given order."""
        chosen: slice | Ints = events
        if len(events) and np.array_equal(events, np.arange(events[0], events[0] + len(events))):
            chosen = slice(int(events[0]), int(events[0]) + len(events))  # a view: nothing is copied
        ends = self.ends[chosen]
        starts = ends if self.starts is self.ends else self.starts[chosen]
        return ColumnBatch(self.table, self._rows_of(chosen), starts, ends, self.domains[chosen])

    def _rows_of(self, chosen: slice | Ints) -> slice | Ints:
        if not isinstance(self.rows, slice):
            found: Ints = self.rows[chosen]
            return found
        first = self.rows.start or 0
        return slice(first + chosen.start, first + chosen.stop) if isinstance(chosen, slice) else chosen + first

    def __iter__(self) -> Iterator[Event]:
        return (self.event(index) for index in range(len(self)))

    def as_events(self) -> EventBatch:
        """The same events as triples, for patterns that need them; built once."""
        return self._events

    @cached_property
    def _events(self) -> EventBatch:
        terms = Terms()  # of its own: with a blank node and an id for each event, a shared one would grow for ever
        columns = [self.column(predicate) for predicate in self.predicates]
        entered = [_entered(values, self.terms, terms) for values in columns if values is not None]
        objects = np.column_stack(entered) if entered else np.empty((len(self), 0), np.int32)
        has = objects != UNBOUND
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(has.sum(axis=1), out=offsets[1:])
        predicates = np.broadcast_to(terms.add_all(self.predicates), objects.shape)
        return EventBatch(
            terms=terms,
            offsets=offsets,
            subjects=np.repeat(_entered(self.subjects, self.terms, terms), np.diff(offsets)),
            predicates=predicates[has],
            objects=objects[has],
            starts=self.starts,
            ends=self.ends,
            domains=self.domains,
            ids=terms.add_all(Literal(self.id(index)) for index in range(len(self))),
            positions=self.positions,
        )


Batch: TypeAlias = EventBatch | ColumnBatch
"""Events as columns: of triples, or of values."""


def _entered(values: Tagged, source: Terms, terms: Terms) -> NDArray[np.int32]:
    """The terms of values, entered into another dictionary; UNBOUND for unbound values."""
    ids = np.full(len(values.tags), UNBOUND, np.int32)
    named = holds_term_id(values.tags)
    rows = np.flatnonzero(named)
    distinct, where = np.unique(values.bits[rows], return_inverse=True)
    ids[rows] = terms.import_all(source, distinct.astype(np.int32))[where]
    rows = np.flatnonzero(~named & (values.tags != value_kinds.NONE))
    for tag in np.unique(values.tags[rows]).tolist():
        some = rows[values.tags[rows] == tag]
        numbers, where = np.unique(values.bits[some], return_inverse=True)
        texts = [str(tagged_literal(tag, bits)).encode() for bits in numbers.tolist()]
        ids[some] = terms.add_texts(texts)[where]
    return ids
