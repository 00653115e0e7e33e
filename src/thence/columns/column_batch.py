"""`ColumnBatch`: typed events as columns of values, without a triple or an object an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thence.columns import value_kinds
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.event_batch import EventBatch, label_of
from thence.columns.shared_dictionary import Dictionaries, SharedTerms
from thence.columns.tagged_values import tagged_literal
from thence.columns.value_columns import Rows, Tagged, holds_term_id
from thence.rdf.events import Event
from thence.rdf.terms import IRI, Literal, Term, Triple
from thence.rdf.times import Domain
from thence.rdf.typed_events import RDF_TYPE, name_term, subject_term

if TYPE_CHECKING:
    from thence.columns.arrow_values import AttributeColumn


@dataclass(frozen=True, slots=True, eq=False)
class RowPositions:
    """Where some rows stood in their table: `first` and those that follow, or at some distance from it. A row's line is
    told, or else its number from 1."""

    first: int
    count: int
    distances: Rows | None = None
    lines: Rows | None = None

    def __len__(self) -> int:
        return self.count

    @property
    def positions(self) -> Rows:
        return self.first + (np.arange(self.count) if self.distances is None else self.distances)

    def position(self, row: int) -> int:
        return self.first + (row if self.distances is None else int(self.distances[row]))

    def line(self, row: int) -> int:
        return self.position(row) + 1 if self.lines is None else int(self.lines[row])

    def take(self, rows: Rows) -> RowPositions:
        distances = rows if self.distances is None else self.distances[rows]
        return RowPositions(self.first, len(rows), distances, None if self.lines is None else self.lines[rows])


@dataclass(frozen=True, eq=False)
class TypedRows:
    """A stretch of a table: its columns become values when they are first asked for, each once."""

    stream: str
    namespace: str
    types: Any  # an Arrow array, as the next two
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
            if predicate == RDF_TYPE:
                self._values[predicate] = self._named("type", self.types, lambda name: name_term(name, self.namespace))
            elif predicate in self.attributes:
                from thence.columns.arrow_values import tagged_column  # heavy, and only tables need it

                self._values[predicate] = tagged_column(self.attributes[predicate], self.shared)
            else:
                return None
        return self._values[predicate]

    @cached_property
    def subject(self) -> Tagged:
        """What each row speaks of. A blank node is local to its event, whatever its label."""
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

    def owners(self, rows: Rows) -> list[str]:
        """What the labels of some rows' blank nodes begin with: no two rows that differ share it."""
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
    """Some typed events of one stream, in the source's order: a value or none for each predicate, all of one
    subject."""

    table: TypedRows
    rows: slice | Rows  # of the table, one for each event
    starts: Rows
    ends: Rows
    domains: NDArray[np.uint8]  # `Domain` of each event's times

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def positions(self) -> Rows:
        """Where each event stood at the source: the order among equal times."""
        return self.table.places.positions[self.rows]

    @property
    def shared(self) -> SharedTerms:
        """The dictionary that the values' ids are of, which other batches use too."""
        return self.table.shared

    @property
    def terms(self) -> Terms:
        return self.table.shared.terms

    @property
    def predicates(self) -> tuple[IRI, ...]:
        """In the order of an event's triples."""
        return (RDF_TYPE, *self.table.attributes)

    def column(self, predicate: IRI) -> Tagged | None:
        """The object that each event has for a predicate, as `canonical_terms.as_values` has it; None if none has
        one."""
        found = self.table.column(predicate)
        return None if found is None else found.take(self.rows)

    @property
    def subjects(self) -> Tagged:
        """What each event speaks of: an IRI or a blank node."""
        return self.table.subject.take(self.rows)

    def id(self, index: int) -> str:
        """The id of event number `index`."""
        return self.table.id(self._row(index))

    def event(self, index: int) -> Event:
        """Event number `index` as an object."""
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

    def take(self, events: Rows) -> ColumnBatch:
        """Some of the events, in the order given."""
        chosen: slice | Rows = events
        if len(events) and np.array_equal(events, np.arange(events[0], events[0] + len(events))):
            chosen = slice(int(events[0]), int(events[0]) + len(events))  # a view: nothing is copied
        ends = self.ends[chosen]
        starts = ends if self.starts is self.ends else self.starts[chosen]
        return ColumnBatch(self.table, self._rows_of(chosen), starts, ends, self.domains[chosen])

    def _rows_of(self, chosen: slice | Rows) -> slice | Rows:
        if not isinstance(self.rows, slice):
            found: Rows = self.rows[chosen]
            return found
        first = self.rows.start or 0
        return slice(first + chosen.start, first + chosen.stop) if isinstance(chosen, slice) else chosen + first

    def __iter__(self) -> Iterator[Event]:
        return (self.event(index) for index in range(len(self)))

    def as_events(self) -> EventBatch:
        """The same events as triples, for patterns that need them; made once."""
        return self._events

    @cached_property
    def _events(self) -> EventBatch:
        terms = Terms()  # of its own: with a blank node and an id for each event, a shared one would grow for ever
        columns = [self.column(predicate) for predicate in self.predicates]
        objects = np.column_stack([_entered(values, self.terms, terms) for values in columns if values is not None])
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
    """The terms that values are, entered into another dictionary; UNBOUND for none."""
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
