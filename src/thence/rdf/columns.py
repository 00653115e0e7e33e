"""`EventBatch`: events as columns, the form in which everything later reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from thence.rdf.dictionary import Terms
from thence.rdf.events import Event
from thence.rdf.tags import BLANK, KIND_MASK
from thence.rdf.terms import BlankNode, Literal, Triple
from thence.rdf.times import Domain


@dataclass(frozen=True, slots=True, eq=False)
class EventBatch:
    """Some events of one stream, in the source's order. The triples of event i stand at `offsets[i]:offsets[i+1]` of the
    three id columns, each once; blank nodes are local to their event: no two events share one."""

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

    def event(self, index: int) -> Event:
        """Event number `index` as an object."""
        triples = self.triples(index)
        domain = Domain(int(self.domains[index]))
        return Event.from_columns(
            int(self.starts[index]), int(self.ends[index]), domain, self.terms[int(self.ids[index])].value, triples
        )

    def triples(self, index: int) -> tuple[Triple, ...]:
        span = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        rows = zip(
            self.subjects[span].tolist(), self.predicates[span].tolist(), self.objects[span].tolist(), strict=True
        )
        terms = self.terms
        return tuple(Triple(terms[s], terms[p], terms[o]) for s, p, o in rows)

    def __iter__(self) -> Iterator[Event]:
        return (self.event(index) for index in range(len(self)))


def encode(events: Sequence[Event], *, stream: str = "stream", first: int = 0) -> EventBatch:
    """Events as columns. `first` counts the events of the stream before these: positions, blank nodes and the ids of events
    that have none go on from there."""
    terms = Terms()
    counts = [len(event.triples) for event in events]
    flat = [term for event in events for triple in event.triples for term in triple]
    ids = terms.add_all(flat).reshape(-1, 3)
    offsets = np.zeros(len(events) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    positions = np.arange(first, first + len(events), dtype=np.int64)
    subjects, predicates, objects = (np.ascontiguousarray(column) for column in ids.T)
    localise_blank_nodes(terms, offsets, subjects, objects, positions)
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
) -> None:
    """Give the blank nodes of each event labels of their own, in place: `_:b` of the event at position 7 becomes `_:e7_b`."""
    blank = (terms.tags & KIND_MASK) == BLANK
    if not blank.any():
        return
    events = np.repeat(np.arange(len(positions)), np.diff(offsets))
    for column in (subjects, objects):
        rows = np.flatnonzero(blank[column])
        pairs = events[rows] * np.int64(len(blank)) + column[rows]
        distinct, where = np.unique(pairs, return_inverse=True)
        event, label = np.divmod(distinct, len(blank))
        local = [
            BlankNode(f"e{position}_{terms[index].value}")
            for position, index in zip(positions[event].tolist(), label.tolist(), strict=True)
        ]
        column[rows] = terms.add_all(local)[where]


def without_duplicates(
    offsets: NDArray[np.int64], subjects: NDArray[np.int32], predicates: NDArray[np.int32], objects: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Which triples to keep so that each event is a set; the first occurrences stay."""
    keep = np.ones(len(subjects), np.bool_)
    _mark_duplicates(offsets, subjects, predicates, objects, keep)
    return keep


@njit(cache=True)
def _mark_duplicates(offsets, subjects, predicates, objects, keep):  # type: ignore[no-untyped-def]
    for event in range(len(offsets) - 1):
        first, last = offsets[event], offsets[event + 1]
        if last - first > 32:
            _mark_by_hash(first, last, subjects, predicates, objects, keep)
        else:
            for i in range(first + 1, last):
                for j in range(first, i):
                    if objects[j] == objects[i] and predicates[j] == predicates[i] and subjects[j] == subjects[i]:
                        keep[i] = False
                        break


@njit(cache=True)
def _mark_by_hash(first, last, subjects, predicates, objects, keep):  # type: ignore[no-untyped-def]
    size = 64
    while size < 2 * (last - first):
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, np.int64)
    for i in range(first, last):
        code = np.uint64(objects[i]) * np.uint64(0x9E3779B97F4A7C15)
        code = (code ^ np.uint64(predicates[i])) * np.uint64(0xC2B2AE3D27D4EB4F)
        code = (code ^ np.uint64(subjects[i])) * np.uint64(0x165667B19E3779F9)
        slot = np.int64((code >> np.uint64(20)) & mask)
        while slots[slot] >= 0:
            j = slots[slot]
            if objects[j] == objects[i] and predicates[j] == predicates[i] and subjects[j] == subjects[i]:
                keep[i] = False
                break
            slot = (slot + 1) & np.int64(mask)
        if keep[i]:
            slots[slot] = i
