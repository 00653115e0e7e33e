"""`Event`: a graph with a time, built from Python objects; `BadEvent`: input that is no event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from thence.errors import InputError, LimitError
from thence.rdf.document_parser import parse
from thence.rdf.formats import Format
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain, Instant, parse_time
from thence.rdf.typed_events import DEFAULT_NAMESPACE, encodable, typed_triples

_LIMITS = Limits()


@dataclass(frozen=True, slots=True, init=False)
class Event:
    """Something that happened: a graph, from `start` to `end`, which are equal for a point in time (SPAseQ, Definition
    1).

    `graph` is Turtle or N-Triples text, an iterable of triples, or for a typed event a mapping with a `type`. Blank
    nodes mean something in their own event only. The names of a typed event are in `namespace`, or in that of the query
    that it is given to.

    >>> Event(7, "<http://example.org/house1> <http://example.org/watts> 2150 .").triples[0].object
    Literal(value='2150', datatype='http://www.w3.org/2001/XMLSchema#integer', language=None)
    >>> event = Event("2024-05-06T07:00:00Z", {"type": "Reading", "watts": 2150}, id="r1")
    >>> event.attributes["watts"], [str(triple.predicate) for triple in event.triples]
    (2150, ['<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>', '<http://example.org/watts>'])
    """

    start: int
    end: int
    domain: Domain
    id: str | None
    triples: tuple[Triple, ...]
    attributes: Mapping[str, Any] | None = field(hash=False)
    namespace: str | None = field(compare=False, repr=False)  # as it was given for a typed event

    def __init__(
        self,
        time: object,
        graph: str | Iterable[Triple | tuple[Term, Term, Term]] | Mapping[str, Any],
        end: object = None,
        id: str | None = None,
        *,
        namespace: str | None = None,
        limits: Limits = _LIMITS,
    ) -> None:
        start, stop, domain = interval(parse_time(time), end)
        attributes = None
        if isinstance(graph, Mapping):
            attributes = dict(graph)
            triples = _typed(attributes, DEFAULT_NAMESPACE if namespace is None else namespace, limits)
        else:
            triples = distinct(_text(graph, limits) if isinstance(graph, str) else map(_checked, graph), limits)
        self._set(start, stop, domain, _id(id), triples, attributes, namespace)

    @classmethod
    def from_columns(
        cls,
        start: int,
        end: int,
        domain: Domain,
        id: str | None,
        triples: tuple[Triple, ...],
        attributes: Mapping[str, Any] | None = None,
        namespace: str | None = None,
    ) -> Event:
        """An event from what is known to be right already: triples each once, times of one domain, in order."""
        event = cls.__new__(cls)
        event._set(start, end, domain, id, triples, attributes, namespace)
        return event

    def in_namespace(self, namespace: str, limits: Limits = _LIMITS) -> Event:
        """A typed event with its names in a namespace, if it was made without one; any other is as it is.

        >>> Event(7, {"type": "Reading", "watts": 2150}).in_namespace("urn:x:").triples[1].predicate
        IRI(value='urn:x:watts')
        """
        if self.attributes is None or self.namespace is not None or namespace == DEFAULT_NAMESPACE:
            return self
        triples = _typed(self.attributes, namespace, limits)
        return self.from_columns(self.start, self.end, self.domain, self.id, triples, self.attributes, namespace)

    def _set(self, *values: object) -> None:
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class BadEvent:
    """Input that is no event: its stream, its first line (from 1; 0: unknown), the reason, and its text.

    >>> BadEvent("power", 7, "no time", "x" * 10_000).text[-7:]
    'xxxxxx…'
    """

    LONGEST: ClassVar[int] = 1000
    """Characters of text that are kept."""

    stream: str
    line: int
    reason: str
    text: str

    def __post_init__(self) -> None:
        if len(self.text) > self.LONGEST:
            object.__setattr__(self, "text", self.text[: self.LONGEST] + "…")


def distinct(triples: Iterable[Triple], limits: Limits = _LIMITS) -> tuple[Triple, ...]:
    """Each triple once, in their first order; more of them, or longer ones, than an event may hold are a LimitError."""
    kept: dict[Triple, None] = {}
    size = 0
    for triple in triples:
        if triple in kept:
            continue
        kept[triple] = None
        size += len(triple.subject.value) + len(triple.predicate.value) + len(triple.object.value)
        if len(kept) > limits.event_triples or size > limits.event_bytes:
            raise LimitError(limits.describe_event())
    return tuple(kept)


def _typed(attributes: Mapping[str, Any], namespace: str, limits: Limits) -> tuple[Triple, ...]:
    """A typed event's triples, which hold the namespace once for each attribute: so its length counts before it is
    written out."""
    told = sum(value is not None for name, value in attributes.items() if name not in ("type", "subject"))
    if len(attributes) > limits.event_triples or told * len(namespace) > limits.event_bytes:
        raise LimitError(limits.describe_event())
    triples = typed_triples(attributes, namespace=namespace)
    if sum(len(triple.predicate.value) + len(triple.object.value) for triple in triples) > limits.event_bytes:
        raise LimitError(limits.describe_event())
    return triples


def _text(text: str, limits: Limits) -> Iterable[Triple]:
    if len(text) > limits.event_bytes:
        raise LimitError(limits.describe_event())
    return (Triple(*quad[:3]) for quad in parse(text, Format.TURTLE, source="graph", limits=limits))


def _checked(triple: Triple | tuple[Term, Term, Term]) -> Triple:
    match triple:
        case (IRI() | BlankNode(), IRI(), IRI() | BlankNode() | Literal()):
            for term in triple:
                encodable(term.value)
            return triple if isinstance(triple, Triple) else Triple(*triple)
        case _:
            raise InputError(f"{triple!r:.200} is no triple. Try: Triple(IRI(…), IRI(…), Literal(…))")


def interval(start: Instant, end: object = None) -> tuple[int, int, Domain]:
    """Start, end and domain of an event; without an end it is a point in time."""
    stop = start if end is None else end if isinstance(end, Instant) else parse_time(end)
    if stop.domain is not start.domain:
        raise InputError("its start and its end are not of one kind: a tick and a date")
    if stop.time < start.time:
        raise InputError("it ends before it starts")
    return start.time, stop.time, start.domain


def _id(id: object) -> str | None:
    if id is None or isinstance(id, str):
        return id
    raise InputError(f"{id!r:.80} is no event's id: an id is text")
