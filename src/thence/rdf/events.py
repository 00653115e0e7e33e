"""`Event`: a graph with a time; `BadEvent`: input that could not be read as one; typed events as RDF."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, ClassVar

from thence.errors import InputError, LimitError
from thence.rdf import numbers
from thence.rdf.documents import Format, parse
from thence.rdf.limits import Limits
from thence.rdf.numbers import shortest_text
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain, Instant, duration_literal, format_time, parse_time

# Typed events as RDF: `S a ns:TYPE ; ns:column value`, S being the attribute `subject`, else a blank node.

DEFAULT_NAMESPACE = "http://example.org/"

_MOST_DIGITS = 3000  # Python itself refuses to write out much longer integers
_SHORT = 100  # characters of a name that an error shows
RDF_TYPE = IRI(RDF + "type")
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\%]')  # in an IRI; and the sign that the others are written with
_ABSOLUTE = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*')
_LABEL = re.compile(r"_:([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)")


def typed_triples(attributes: Mapping[str, Any], *, namespace: str = DEFAULT_NAMESPACE) -> tuple[Triple, ...]:
    """The triples of a typed event; an attribute that is None has no triple.

    >>> for triple in typed_triples({"type": "Reading", "subject": "house1", "watts": 2150, "note": None}):
    ...     print(*triple)
    <http://example.org/house1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Reading>
    <http://example.org/house1> <http://example.org/watts> "2150"^^<http://www.w3.org/2001/XMLSchema#integer>
    """
    others = {name: value for name, value in attributes.items() if name not in ("type", "subject")}
    return row_triples(checked_type(attributes.get("type")), attributes.get("subject"), others, namespace)


def checked_type(given: object) -> str | IRI:
    """The type of a typed event. InputError if it is none."""
    if not isinstance(given, str | IRI) or not given:
        raise InputError('a typed event needs a "type", which is text')
    return given


def row_triples(
    kind: str | IRI | None, subject: object, attributes: Mapping[str, Any], namespace: str
) -> tuple[Triple, ...]:
    """The triples of a row of a table, which need not have a type."""
    owner = subject_term(subject, namespace)
    triples = [] if kind is None else [Triple(owner, RDF_TYPE, name_term(kind, namespace))]
    for column, value in attributes.items():
        if not isinstance(column, str):
            raise InputError(f"{column!r:.80} is not an attribute's name")
        if value is not None:
            triples.append(Triple(owner, predicate_term(column, namespace), value_term(column, value)))
    return tuple(triples)


def subject_term(value: object, namespace: str) -> IRI | BlankNode:
    """The subject of a typed event; a blank node if none is given."""
    match value:
        case None:
            return BlankNode("subject")
        case IRI() | BlankNode():
            return value
        case str():
            label = _LABEL.fullmatch(encodable(value))
            return BlankNode(label[1]) if label else name_term(value, namespace)
        case Integral():
            return name_term(str(int(value)), namespace)
        case _:
            raise InputError(f"{value!r:.80} is not a subject. Try: an IRI or a name")


def name_term(name: str | IRI, namespace: str) -> IRI:
    """The term of a name: an IRI unchanged; anything else is a name in the namespace."""
    if isinstance(name, IRI):
        return name
    return IRI(name) if _ABSOLUTE.fullmatch(name) else _in_namespace(name, namespace)


def _in_namespace(name: str, namespace: str) -> IRI:
    """The IRI of a name in a namespace, percent-encoded where needed: column names have spaces."""
    return IRI(namespace + _FORBIDDEN.sub(lambda found: f"%{ord(found[0]):02X}", encodable(name)))


_known = lru_cache(maxsize=1000)(_in_namespace)


def predicate_term(column: str, namespace: str) -> IRI:
    """The predicate of an attribute's name."""
    return _known(column, namespace) if len(column) <= _SHORT else _in_namespace(column, namespace)


def encodable(text: str) -> str:
    """The text. InputError if it has a lone surrogate, which is not a character."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{text[:80]!a} has a lone surrogate, which is not a character") from None
    return text


def value_term(column: str, value: object) -> Term:
    """An attribute's value as a term."""
    match value:
        case IRI() | BlankNode() | Literal():
            return value
        case bool():
            return Literal("true" if value else "false", XSD + "boolean")
        case str():
            return Literal(encodable(value))
        case int() | Integral():
            return Literal(_digits(int(value)), XSD + "integer")
        case Decimal():
            return Literal(_plain(column, value), XSD + "decimal")
        case Real():
            return Literal(shortest_text(float(value)), XSD + "double")
        case datetime():
            return Literal(format_time(*parse_time(value)), XSD + "dateTime")
        case date():
            return Literal(value.isoformat(), XSD + "date")
        case timedelta():
            return duration_literal(value // timedelta(microseconds=1))
        case _:
            reason = "neither a number, text, a boolean, a date, a duration nor an RDF term"
            raise InputError(f"attribute {column!r:.80} is {reason}")


def _digits(value: int) -> str:
    if value.bit_length() > 10_000:
        raise InputError(f"an integer of more than {_MOST_DIGITS:,} digits")
    return str(value)


def _plain(column: str, value: Decimal) -> str:
    """The canonical form of a decimal, independent of its source: a column with two digits after the point, or `2` and
    `2.0` in JSON."""
    if value.is_finite() and abs(value.adjusted()) <= _MOST_DIGITS:
        with suppress(OverflowError):
            return numbers.canonical(value)
    raise InputError(f"attribute {column!r:.80} is not a finite number of at most {_MOST_DIGITS:,} digits")


# `Event`: a graph with a time, built from Python objects; `BadEvent`: input that is not an event.

_LIMITS = Limits()


@dataclass(frozen=True, slots=True, init=False)
class Event:
    """An event: a graph with a start and an end, which are equal for a point in time (SPAseQ, Definition 1).

    `graph` is Turtle or N-Triples text, an iterable of triples, or for a typed event a mapping with a `type`. Blank
    nodes are local to their event. The names of a typed event are in `namespace`, by default in that of the query that
    reads it.

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
        """An event of checked columns: triples without duplicates, times of one domain and in order."""
        event = cls.__new__(cls)
        event._set(start, end, domain, id, triples, attributes, namespace)
        return event

    def in_namespace(self, namespace: str, limits: Limits = _LIMITS) -> Event:
        """The event with its names in a namespace; unchanged if it already has one, or is not typed.

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
    """Input that could not be read as an event: its stream, its first line (from 1; 0 if unknown), the reason, and its
    text.

    >>> BadEvent("power", 7, "no time", "x" * 10_000).text[-7:]
    'xxxxxx…'
    """

    problem: ClassVar[str] = "bad"
    """The kind of the problem that is reported."""

    LONGEST: ClassVar[int] = 1000
    """The number of characters of the text that are stored."""

    stream: str
    line: int
    reason: str
    text: str

    def __post_init__(self) -> None:
        if len(self.text) > self.LONGEST:
            object.__setattr__(self, "text", self.text[: self.LONGEST] + "…")


class BadCell(BadEvent):
    """A cell of a table that is not a value of its column, and is read as null (BAD-10). Its event is not bad."""

    __slots__ = ()
    problem: ClassVar[str] = "bad_cell"


def distinct(triples: Iterable[Triple], limits: Limits = _LIMITS) -> tuple[Triple, ...]:
    """The triples without duplicates, in their first order. LimitError if they exceed the limits of an event."""
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
    return within_limits(attributes, namespace, limits, lambda: typed_triples(attributes, namespace=namespace))


def within_limits(
    attributes: Mapping[str, Any], namespace: str, limits: Limits, made: Callable[[], tuple[Triple, ...]]
) -> tuple[Triple, ...]:
    """The triples of a typed event. Every attribute's IRI contains the namespace, so the length is checked before they
    are built."""
    given_values = sum(value is not None for name, value in attributes.items() if name not in ("type", "subject"))
    if len(attributes) > limits.event_triples or given_values * len(namespace) > limits.event_bytes:
        raise LimitError(limits.describe_event())
    triples = made()
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
            raise InputError(f"{triple!r:.200} is not a triple. Try: Triple(IRI(…), IRI(…), Literal(…))")


def interval(start: Instant, end: object = None) -> tuple[int, int, Domain]:
    """Start, end and time domain of an event; without an end it is a point in time."""
    stop = start if end is None else end if isinstance(end, Instant) else parse_time(end)
    if stop.domain is not start.domain:
        raise InputError("its start and its end are of different kinds: a tick and a date")
    if stop.time < start.time:
        raise InputError("it ends before it starts")
    return start.time, stop.time, start.domain


def _id(id: object) -> str | None:
    if id is None or isinstance(id, str):
        return id
    raise InputError(f"{id!r:.80} is not an event's id: an id is text")
