"""A JSON-LD object as an event: its time is the `prov:` time of its graph or of itself, or stands beside as `time`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thence.errors import InputError, LimitError
from thence.rdf.document_parser import as_nquads, parse
from thence.rdf.events import Event, distinct, interval
from thence.rdf.formats import Format
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, PROV, Quad, Term, Triple
from thence.rdf.times import Instant, parse_time

_ROOT = "urn:x-thence:root"  # a property that is added, to learn which node the object itself is
_ENVELOPE: tuple[str, ...] = ("time", "end", "id")
_TIMES = {IRI(PROV + name): name for name in ("generatedAtTime", "startedAtTime", "endedAtTime")}

# The library copies an object once for each that it is in, a context for each object that has one of its own, and a
# prefix for each name that uses it. These limits are far above what events are, and below what hurts.
_LISTS = ("@list", "@set")
_MOST_COPIES = 2_500_000
_MOST_DEFINITIONS = 10_000_000
_MOST_CHARACTERS = 512 << 20


def jsonld_event(value: dict[str, Any], *, default_id: str, namespace: str, limits: Limits) -> Event:
    """The event that a JSON-LD object is; `value` is used up. Relative IRIs are names in the namespace."""
    defined = _defined(value.get("@context"))
    envelope = {key: value.pop(key) for key in _ENVELOPE if key in value and key not in defined}
    if "time" not in envelope and "end" in envelope:
        value["end"] = envelope.pop("end")
    has_root = any(key != "@context" and key != "@graph" and defined.get(key) != "@graph" for key in value)
    if has_root:
        value[_ROOT] = True
    check_cost(value, limits)
    quads = list(_bounded(json.dumps(value, default=float), namespace, limits))
    root = next((quad.subject for quad in quads if quad.predicate == IRI(_ROOT)), None)
    if has_root and root is None:
        raise InputError("it says nothing: none of its keys is an IRI or defined in its context")
    content = [quad for quad in quads if quad.predicate != IRI(_ROOT)]
    return _event(content, root, envelope, default_id, limits)


def jsonld_as_nquads(value: dict[str, Any], *, namespace: str, limits: Limits) -> bytes:
    """A JSON-LD object as N-Quads, no larger than an event may be. Relative IRIs are names in the namespace."""
    check_cost(value, limits)
    return as_nquads(json.dumps(value, default=float).encode(), Format.JSON_LD, base=namespace, limits=limits)


def _event(quads: list[Quad], root: Term | None, envelope: Mapping[str, Any], default_id: str, limits: Limits) -> Event:
    names = {quad.graph for quad in quads if quad.graph is not None}
    if len(names) > 1:
        raise InputError("more than one graph: an event has one")
    graph = next(iter(names), None)
    if "time" in envelope:
        start, end, domain = interval(parse_time(envelope["time"]), envelope.get("end"))
    else:
        subjects = {graph, root} - {None} or _timed(quads)
        told = _told(quads, subjects)
        start, end, domain = interval(*_span(told))
        quads = [quad for quad in quads if quad.subject not in subjects or quad.predicate not in _TIMES]
    name = next((term.value for term in (graph, root) if isinstance(term, IRI)), default_id)
    triples = distinct((Triple(*quad[:3]) for quad in quads), limits)
    return Event.from_columns(start, end, domain, event_id(envelope.get("id")) or name, triples)


def event_id(value: object) -> str | None:
    """An id as JSON has it: text, or a number."""
    match value:
        case None | str():
            return value or None
        case int() if not isinstance(value, bool):
            return str(value)
        case _:
            raise InputError(f'"id" is {json.dumps(value, default=str):.80}, but an id is text')


def _timed(quads: list[Quad]) -> set[Term | None]:
    """Whose time is told, where neither the graph nor the object has a name."""
    subjects: set[Term | None] = {quad.subject for quad in quads if quad.predicate in _TIMES}
    if len(subjects) > 1:
        raise InputError("the times of several things, and neither a graph's nor the object's own")
    return subjects


def _told(quads: list[Quad], subjects: set[Term | None]) -> dict[str, Instant]:
    told: dict[str, Instant] = {}
    for quad in quads:
        name = _TIMES.get(quad.predicate) if isinstance(quad.predicate, IRI) else None
        if name and quad.subject in subjects:
            time = parse_time(quad.object)
            if told.setdefault(name, time) != time:
                raise InputError(f"two different values of prov:{name}")
    return told


def _span(told: Mapping[str, Instant]) -> tuple[Instant, Instant | None]:
    if "startedAtTime" in told or "endedAtTime" in told:
        if len(told.keys() & {"startedAtTime", "endedAtTime"}) < 2:
            raise InputError("an interval needs both prov:startedAtTime and prov:endedAtTime")
        return told["startedAtTime"], told["endedAtTime"]
    if not told:
        raise InputError('no time: neither prov:generatedAtTime of its graph or of itself, nor "time" beside')
    return told["generatedAtTime"], None


def _bounded(document: str, namespace: str, limits: Limits) -> Iterator[Quad]:
    """The document's quads, no more than an event may hold."""
    for count, quad in enumerate(parse(document, Format.JSON_LD, base=namespace, source="event", limits=limits)):
        if count > limits.event_triples + len(_TIMES) + 1:
            raise LimitError(limits.describe_event())
        yield quad


def _defined(context: object) -> dict[str, object]:
    """The terms that the object's own context defines."""
    contexts = context if isinstance(context, list) else [context]
    return {term: meaning for each in contexts if isinstance(each, dict) for term, meaning in each.items()}


@dataclass(slots=True)
class _Cost:
    values: int = 0
    copies: int = 0
    objects: int = 0
    names: int = 0
    contexts: int = 0
    definitions: int = 0
    characters: int = 0


def check_cost(value: object, limits: Limits) -> None:
    """Refuse what would take the library too long or too much memory to expand, however short it is."""
    cost = _Cost()
    waiting: list[tuple[object, str, int, bool]] = [(value, "@graph", 1, False)]
    while waiting:
        node, place, depth, in_context = waiting.pop()
        cost.copies += depth
        if not isinstance(node, list) and not in_context:
            cost.values += place in _LISTS or not place.startswith("@")
        match node:
            case dict():
                cost.objects += 1
                cost.names += len(node)
                cost.definitions += len(node) if in_context else 0
                for key, child in node.items():
                    cost.contexts += key == "@context"
                    cost.characters += len(key) if in_context else 0
                    waiting.append((child, key, depth + 1, in_context or key == "@context"))
            case list():
                waiting.extend((child, place, depth, in_context) for child in node)
            case str():
                cost.names += 1
                cost.characters += len(node) if in_context else 0
    if cost.values > limits.event_triples + len(_TIMES) + 1:
        raise LimitError(limits.describe_event())
    if cost.copies > _MOST_COPIES:
        raise LimitError("JSON-LD that is too large for how deep it is nested")
    if cost.contexts > 1 and cost.objects * cost.definitions > _MOST_DEFINITIONS:
        raise LimitError("JSON-LD with contexts that are too large for how many objects it has")
    if cost.names * cost.characters > _MOST_CHARACTERS:
        raise LimitError("JSON-LD with contexts that are too long for how many names use them")
