"""Typed events as RDF: `S a ns:TYPE ; ns:column value`, S being the attribute `subject`, else a blank node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from math import isinf, isnan
from numbers import Integral, Real
from typing import Any

from thence.errors import InputError
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Term, Triple
from thence.rdf.times import format_time, parse_time

DEFAULT_NAMESPACE = "http://example.org/"

_SHORT = 100  # characters of a name that is kept
_TYPE = IRI(RDF + "type")
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
    subject = _subject(attributes.get("subject"), namespace)
    triples = [Triple(subject, _TYPE, _name(kind, namespace))]
    for column, value in attributes.items():
        if not isinstance(column, str):
            raise InputError(f"{column!r:.80} is no attribute's name")
        if value is not None and column not in ("type", "subject"):
            predicate = _known(column, namespace) if len(column) <= _SHORT else _in_namespace(column, namespace)
            triples.append(Triple(subject, predicate, _value(column, value)))
    return tuple(triples)


def _subject(value: object, namespace: str) -> Term:
    match value:
        case None:
            return BlankNode("subject")
        case IRI() | BlankNode():
            return value
        case str():
            label = _LABEL.fullmatch(encodable(value))
            return BlankNode(label[1]) if label else _name(value, namespace)
        case Integral():
            return _name(str(int(value)), namespace)
        case _:
            raise InputError(f"{value!r:.80} is no subject. Try: an IRI or a name")


def _name(name: str | IRI, namespace: str) -> IRI:
    """An IRI as it is; anything else is a name in the namespace."""
    if isinstance(name, IRI):
        return name
    return IRI(name) if _ABSOLUTE.fullmatch(name) else _in_namespace(name, namespace)


def _in_namespace(name: str, namespace: str) -> IRI:
    """What an IRI can't hold is percent-encoded: column names have spaces."""
    return IRI(namespace + _FORBIDDEN.sub(lambda found: f"%{ord(found[0]):02X}", encodable(name)))


_known = lru_cache(maxsize=1000)(_in_namespace)


def encodable(text: str) -> str:
    """The text, if it is one: a lone surrogate is no character."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{text[:80]!a} has a lone surrogate, which is no character") from None
    return text


def _value(column: str, value: object) -> Term:
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
            return Literal(_double(float(value)), XSD + "double")
        case datetime():
            return Literal(format_time(*parse_time(value)), XSD + "dateTime")
        case _:
            raise InputError(f"attribute {column!r:.80} is neither a number, text, a boolean, a date nor an RDF term")


def _digits(value: int) -> str:
    if value.bit_length() > 10_000:  # Python itself refuses to write out much longer ones
        raise InputError("an integer of more than 3,000 digits")
    return str(value)


def _plain(column: str, value: Decimal) -> str:
    if not value.is_finite() or abs(value.adjusted()) > 3000:
        raise InputError(f"attribute {column!r:.80} is no finite number of at most 3,000 digits")
    text = format(value, "f")
    return text if "." in text else text + ".0"


def _double(value: float) -> str:
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "INF" if value > 0 else "-INF"
    return repr(value)
