"""Saved states: one sealed envelope around the state of a host and its operator; and saved events."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader, pack_arrays, unpack_arrays
from thence.columns.dictionary import Terms
from thence.columns.texts import Texts
from thence.errors import InputError
from thence.interface.saved_arrays import check_array, check_texts, check_within, is_text, require, saved_term
from thence.rdf.events import Event
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain

# Events in a saved state: terms as a dictionary of texts, triples as ids, all else in the head for JSON.
#
# An event comes back equal to the object that was given: its attributes keep their types in Python.


def saved_events(events: Sequence[Event]) -> tuple[list[Any], list[NDArray[Any]]]:
    """Events as a list for JSON, and arrays."""
    terms = Terms()
    ids = terms.add_all(term for event in events for triple in event.triples for term in triple)
    listed = [
        [event.start, event.end, event.domain.value, event.id, len(event.triples), _attributes(event), event.namespace]
        for event in events
    ]
    return listed, [terms.joined.text, terms.joined.ends, ids]


def restored_events(listed: Any, arrays: ArrayReader) -> list[Event]:
    """The events of a snapshot. InputError if they are malformed."""
    texts, ids = Texts(arrays.next(), arrays.next()), arrays.next()
    check_texts(texts)
    check_array(ids, np.int32, -1)
    check_within(ids, 0, len(texts), "the number of a term")
    try:
        terms = [saved_term(text) for text in texts.to_list()]
    except UnicodeDecodeError:
        require(False, "a term is malformed")
    require(isinstance(listed, list), "its events are not a list")
    named, events = iter(ids.tolist()), []
    for start, end, domain, name, count, attributes, namespace in listed:
        require(
            type(start) is type(end) is type(count) is int and start <= end, "an event has something else than times"
        )
        require(is_text(name) and (namespace is None or is_text(namespace)), "an event lacks its name")
        require(count >= 0 and 3 * count <= len(ids), "an event refers to missing triples")
        triples = tuple(_triple(*(terms[next(named)] for _ in range(3))) for _ in range(count))
        given = None if attributes is None else {str(column): _restored(value) for column, value in attributes}
        events.append(Event.from_columns(start, end, Domain(domain), name, triples, given, namespace))
    return events


def _triple(subject: Term, predicate: Term, target: Term) -> Triple:
    require(isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI), "a triple is malformed")
    assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
    return Triple(subject, predicate, target)


def _attributes(event: Event) -> list[Any] | None:
    return None if event.attributes is None else [[name, _saved(value)] for name, value in event.attributes.items()]


def _saved(value: object) -> Any:
    """An attribute's value for JSON: null, booleans and texts unchanged, everything else with its type."""
    match value:
        case IRI() | BlankNode() | Literal():
            return ["term", str(value)]
        case None | bool():
            return value
        case str():
            return str(value)
        case Integral():
            return ["integer", hex(int(value))]
        case Decimal():
            return ["decimal", str(value)]
        case Real():
            return ["double", float(value).hex()]
        case datetime():
            return ["datetime", value.isoformat()]
        case date():
            return ["date", value.isoformat()]
        case _:
            raise TypeError(f"{value!r:.80} is not an attribute's value")


def _restored(found: Any) -> object:
    if found is None or isinstance(found, bool | str):
        return found
    kind, text = found
    require(isinstance(text, str), "an attribute lacks its value")
    match kind:
        case "term":
            return saved_term(text)
        case "integer":
            return int(text, 16)
        case "decimal":
            return Decimal(text)
        case "double":
            return float.fromhex(text)
        case "datetime":
            return datetime.fromisoformat(text)
        case "date":
            return date.fromisoformat(text)
    raise ValueError("an attribute of another type")


# Saved states: one sealed envelope around what a host and its operator keep between two steps.
#
# A state is arrays behind a head that names the version, the query and the number of shards. A digest shows whether it
# is whole; what compiled code will walk over is checked by its operator, since a digest can be forged.

VERSION = 10
"""The version of the format and of the meaning of its arrays, those of operators included. Every change of either
raises it.
"""

_MAGIC = b"thence-state\n"
_DIGEST = 32


class Source(NamedTuple):
    """The place where a state was saved, for error messages."""

    name: str
    anew: str  # how to start again
    own: str  # the cure if the state is another query's


CHECKPOINT = Source(
    "The checkpoint", "start again with an empty checkpoint", "Give each query a checkpoint of its own."
)
ENGINE = Source(
    "The saved engine",
    "push the events into a new engine",
    "Try: restore it with the query and the options that it was saved with.",
)


def save(head: dict[str, Any], arrays: list[NDArray[Any]], *, fingerprint: str, shards: int) -> bytes:
    """The state of a query with this number of shards, as bytes."""
    return sealed(pack_arrays({"version": VERSION, "query": fingerprint, "shards": shards, **head}, arrays))


def restore(
    saved: bytes, *, fingerprint: str, shards: int, source: Source = CHECKPOINT
) -> tuple[dict[str, Any], ArrayReader]:
    """The head and arrays of saved bytes. InputError if they are damaged, or were saved by another version, query or
    number of shards."""
    head, arrays = unpack_arrays(unsealed(saved))
    if head.get("version") != VERSION:
        raise InputError(
            f"{source.name} was written by version {head.get('version')} of the state's format, and this is version "
            f"{VERSION}. Continue with the release that wrote it, or {source.anew}."
        )
    if head.get("query") != fingerprint:
        raise InputError(f"{source.name} belongs to another query. {source.own}")
    if head.get("shards") != shards:
        raise InputError(
            f"{source.name} was written with {head.get('shards')} shards, and now there are {shards}. "
            f"Continue with shards={head.get('shards')}, or {source.anew}."
        )
    return head, arrays


def sealed(content: bytes) -> bytes:
    """The bytes behind a digest that detects damage."""
    return _MAGIC + hashlib.sha256(content).digest() + content


def unsealed(saved: bytes) -> bytes:
    """The bytes without their digest. InputError if they are damaged."""
    start = len(_MAGIC) + _DIGEST
    content = saved[start:]
    if not saved.startswith(_MAGIC) or hashlib.sha256(content).digest() != saved[len(_MAGIC) : start]:
        raise InputError("The saved state is cut off, or not a saved state. Run the query again from the beginning.")
    return content
