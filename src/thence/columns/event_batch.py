"""`EventBatch`: RDF events as columns of term ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import Terms
from thence.columns.value_kinds import BLANK, KIND_MASK
from thence.rdf.events import Event
from thence.rdf.terms import BlankNode, Literal, Triple
from thence.rdf.times import Domain


@dataclass(frozen=True, slots=True, eq=False)
class EventBatch:
    """Some events of one stream, in the source's order. The triples of event i stand at `offsets[i]:offsets[i+1]` of
    the three id columns, each once; blank nodes are local to their event: no two events share one, unless they are of
    equal rows, which are told apart later (`spark.worker.equal_events`)."""

    terms: Terms
    offsets: NDArray[np.int64]
    subjects: NDArray[np.int32]
    predicates: NDArray[np.int32]
    objects: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    domains: NDArray[np.uint8]  # `Domain` of each event's times
    ids: NDArray[np.int32]  # an event's id, as a term: an IRI, else a plain literal
    positions: NDArray[np.int64]  # where it stood at the source (line, ordinal): the order among equal times

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def event_of_triple(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))

    def id(self, index: int) -> str:
        """The id of event number `index`."""
        return self.terms[int(self.ids[index])].value

    def event(self, index: int) -> Event:
        """Event number `index` as an object."""
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
        """Some of the events, in the order given."""
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
        """Itself: what a batch of other columns becomes, where triples are needed."""
        return self

    def __iter__(self) -> Iterator[Event]:
        return (self.event(index) for index in range(len(self)))


def encode(events: Sequence[Event], *, stream: str = "stream", first: int = 0) -> EventBatch:
    """Events as columns. `first` counts the events of the stream before these: positions, blank nodes and the ids of
    events that have none go on from there."""
    terms = Terms()
    counts = [len(event.triples) for event in events]
    flat = [term for event in events for triple in event.triples for term in triple]
    ids = terms.add_all(flat).reshape(-1, 3)
    offsets = np.zeros(len(events) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    positions = np.arange(first, first + len(events), dtype=np.int64)
    subjects, predicates, objects = (np.ascontiguousarray(column) for column in ids.T)
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
    """Give the blank nodes of each event labels of their own, in place: `_:b` of the event at position 7 of stream S1
    becomes `_:S1_7_b`."""
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
    """Give the blank nodes of each event labels of their own, in place: `_:b` becomes `_:OWNER_b`. `owners` has the
    beginnings for some events."""
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
    """A stream's name as the beginning of a blank node's label."""
    # letters and digits stay, so that the label is one; anything else is spelt out, between two x that are no letters
    return "".join(c if c.isascii() and c.isalnum() and c != "x" else f"x{ord(c):x}x" for c in stream)
