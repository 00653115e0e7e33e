"""The id of a match, the same on every path; and derived events, which draw their ids from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.dictionary import Terms
from thence.columns.hashing import Words, as_hexadecimal, hash_events, hash_texts, hash_values
from thence.columns.texts import Texts
from thence.columns.value_columns import ValueColumn, holds_term_id
from thence.columns.value_kinds import BLANK
from thence.interface.dataflow import Stage
from thence.interface.output import DerivedTriples, Events
from thence.interface.solutions import AnswerValue, Solutions
from thence.match.context import Context
from thence.match.sparql_queries import instance
from thence.rdf.events import Event, distinct, typed_triples
from thence.rdf.terms import Term, Triple
from thence.rdf.times import Domain

# The id of a match: the same whenever and wherever the match is found, in one process and on Spark.

_ODD = np.uint64(0x9E3779B97F4A7C15)


def match_ids(solutions: Solutions, event_ids: Texts, *, stage: int = 1) -> Texts:
    """An id for each solution, 32 hexadecimal digits. It is a hash of the match's times, the ids of its events and the
    places they fill, its bindings, the number of its statement, and the position of the stage that emits it.
    `event_ids` are those of all events, solution after solution."""
    lists = solutions.events.get()
    hashed = np.empty((len(event_ids), 2), np.uint64)
    hash_texts(np.array(event_ids.text), np.array(event_ids.ends), hashed)
    _add_values(lists.values, solutions.terms, hashed)
    found = np.empty((len(solutions), 2), np.uint64)
    columns = (lists.offsets, lists.places, solutions.start, solutions.end)
    hash_events(hashed, *map(np.array, columns), found)
    _add_values(solutions.identity(), solutions.terms, found)
    if solutions.queries is not None:
        found = (found ^ solutions.queries.astype(np.uint64)[:, np.newaxis]) * _ODD
    if stage > 1:
        found = (found ^ np.uint64(stage)) * _ODD  # so that the ids of equal rows of two stages differ
    return as_hexadecimal(found)


def _add_values(columns: Sequence[ValueColumn], terms: Terms, found: Words) -> None:
    for column in columns:
        kinds, values = np.array(column.tags), np.array(column.bits)
        hashes = terms.hashes
        nodes = np.unique(values[kinds == BLANK])
        if len(nodes):
            hashes = hashes.copy()
            hashes[nodes] = _hashes_of_nodes(terms.joined.take(nodes))
        hash_values(kinds, values, holds_term_id(kinds), hashes, found)


def _hashes_of_nodes(labels: Texts) -> NDArray[np.uint64]:
    """Hashes of blank nodes, by their labels within their events. The prefix (`_:STREAM_POSITION_`) names the event and
    depends on where events are read, so it is left out; the ordinal among equal events with one id stays
    (`_:STREAM_DIGESTx2_`)."""
    own = Texts.of([_label_within(text) for text in labels.to_list()])
    hashed = np.empty((len(own), 2), np.uint64)
    hash_texts(np.array(own.text), np.array(own.ends), hashed)
    found: NDArray[np.uint64] = hashed[:, 0]
    return found


def _label_within(label: str) -> str:
    """
    >>> [_label_within(label) for label in ("_:S_12_b", "_:S_0f0fx2_b", "_:fresh0f")]
    ['b', '2_b', ':fresh0f']
    """
    _, _, *rest = label.split("_", 3) if label.count("_") > 2 else ("", "", label[1:])
    ordinal = rest[0].partition("x")[2] if len(rest) > 1 else ""
    return f"{ordinal}_{rest[-1]}" if ordinal else rest[-1]


@dataclass(slots=True)
class DerivedNames:
    """Names for derived events, drawn from the ids of their matches. Different matches with equal ids differ only in
    hidden variables, such as those of an earlier iteration; each makes an event of its own. They become certain at one
    time, so only the ids of the latest time are stored.

    >>> names = DerivedNames()
    >>> len({names.next(7, "0f") for _ in range(3)})
    3
    """

    certain: int | None = None
    seen: Counter[str] = field(default_factory=Counter)

    def next(self, certain: int, match_id: str) -> UUID:
        """The name of the next event, in the order of certainty."""
        if certain != self.certain:
            self.certain, self.seen = certain, Counter()
        self.seen[match_id] += 1
        count = self.seen[match_id]
        return uuid5(NAMESPACE_URL, match_id if count == 1 else f"{match_id}/{count}")


# Derived events: rows as events of a stream (CONSTRUCT, RETURN … IN STREAM).


def derived_event(
    stage: Stage,
    bindings: Mapping[str, AnswerValue],
    name: UUID,
    certain: int,
    domain: Domain,
    context: Context,
    *,
    start: int | None = None,
    triples: tuple[Triple, ...] = (),
) -> Event | None:
    """The event that a row makes: a point at the time at which the row became certain (C-26), or, where the operator
    builds the triples, the row's interval (C-27). None without triples. Its blank nodes are its own, and the same
    whenever it is made."""
    output = stage.program.output
    if isinstance(output, DerivedTriples):
        first = certain if start is None else start
        return Event.from_columns(first, certain, domain, name.urn, triples)
    if isinstance(output, Events):
        solution = {
            Variable(variable): cell for variable, cell in bindings.items() if not isinstance(cell, tuple | Mapping)
        }
        own = replace(context, random=Random(name.int))
        made = distinct(instance(output.template, solution, own))
        return Event.from_columns(certain, certain, domain, name.urn, made) if made else None
    assert stage.feeds is not None
    attributes = {"type": stage.feeds.type or stage.feeds.stream, **dict(_flat(bindings))}
    typed = typed_triples(attributes, namespace=stage.program.namespace)
    return Event.from_columns(certain, certain, domain, name.urn, typed, attributes, namespace=None)


def _flat(cells: Mapping[str, AnswerValue]) -> Iterator[tuple[str, Term]]:
    """The attributes of a row as an event: those of a composite are `name.attribute`."""
    for name, cell in cells.items():
        if isinstance(cell, Mapping):
            yield from ((f"{name}.{inner}", term) for inner, term in cell.items() if term is not None)
        elif not isinstance(cell, tuple):  # sequences are rejected when the query is read
            yield name, cell
