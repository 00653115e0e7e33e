"""Typed events as RDF: `S a ns:TYPE ; ns:column value`, S being the attribute `subject`, else a blank node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

from thence.errors import InputError
from thence.rdf import numbers
from thence.rdf.numbers import shortest_text
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Term, Triple
from thence.rdf.times import format_time, parse_time

DEFAULT_NAMESPACE = "http://example.org/"

_MOST_DIGITS = 3000  # Python itself refuses to write out much longer integers
_SHORT = 100  # characters of a name that is kept
RDF_TYPE = IRI(RDF + "type")
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\%]')  # in an IRI; and the sign that the others are written with
_ABSOLUTE = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*')
_LABEL = re.compile(r"_:([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)")


def typed_triples(attributes: Mapping[str, Any], *, namespace: str = DEFAULT_NAMESPACE) -> tuple[Triple, ...]:
    """The triples of a typed event; what is None gives none.

    >>> for triple in typed_triples({"type": "Reading", "subject": "house1", "watts": 2150, "note": None}):
    ...     print(*triple)
    <http://example.org/house1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Reading>
    <http://example.org/house1> <http://example.org/watts> "2150"^^<http://www.w3.org/2001/XMLSchema#integer>
    """
    kind = attributes.get("type")
    if not isinstance(kind, str | IRI) or not kind:
        raise InputError('a typed event needs a "type", which is text')
    subject = subject_term(attributes.get("subject"), namespace)
    triples = [Triple(subject, RDF_TYPE, name_term(kind, namespace))]
    for column, value in attributes.items():
        if not isinstance(column, str):
            raise InputError(f"{column!r:.80} is no attribute's name")
        if value is not None and column not in ("type", "subject"):
            triples.append(Triple(subject, predicate_term(column, namespace), value_term(column, value)))
    return tuple(triples)


def subject_term(value: object, namespace: str) -> IRI | BlankNode:
    """What an event speaks of; a blank node where nothing is given."""
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
            raise InputError(f"{value!r:.80} is no subject. Try: an IRI or a name")


def name_term(name: str | IRI, namespace: str) -> IRI:
    """An IRI as it is; anything else is a name in the namespace."""
    if isinstance(name, IRI):
        return name
    return IRI(name) if _ABSOLUTE.fullmatch(name) else _in_namespace(name, namespace)


def _in_namespace(name: str, namespace: str) -> IRI:
    """What an IRI can't hold is percent-encoded: column names have spaces."""
    return IRI(namespace + _FORBIDDEN.sub(lambda found: f"%{ord(found[0]):02X}", encodable(name)))


_known = lru_cache(maxsize=1000)(_in_namespace)


def predicate_term(column: str, namespace: str) -> IRI:
    """The predicate that an attribute's name is."""
    return _known(column, namespace) if len(column) <= _SHORT else _in_namespace(column, namespace)


def encodable(text: str) -> str:
    """The text, if it is one: a lone surrogate is no character."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{text[:80]!a} has a lone surrogate, which is no character") from None
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
        case _:
            raise InputError(f"attribute {column!r:.80} is neither a number, text, a boolean, a date nor an RDF term")


def _digits(value: int) -> str:
    if value.bit_length() > 10_000:
        raise InputError(f"an integer of more than {_MOST_DIGITS:,} digits")
    return str(value)


def _plain(column: str, value: Decimal) -> str:
    """Canonical, so that a decimal is its value wherever it comes from: a file's column of two digits after the point,
    or `2` and `2.0` in JSON."""
    if value.is_finite() and abs(value.adjusted()) <= _MOST_DIGITS:
        with suppress(OverflowError):
            return numbers.canonical(value)
    raise InputError(f"attribute {column!r:.80} is no finite number of at most {_MOST_DIGITS:,} digits")
