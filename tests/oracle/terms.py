"""RDF terms, as small as an oracle needs them. They are equal as terms: `integer(1)` is not `decimal("1.0")`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias


@dataclass(frozen=True)
class Iri:
    """`:name`, in the one namespace that there is."""

    name: str


@dataclass(frozen=True)
class Blank:
    """A blank node. `event` is the id of the event that it is local to."""

    label: str
    event: str = ""


@dataclass(frozen=True)
class Literal:
    """`datatype` is integer, decimal, float, double, boolean, string or dateTime."""

    lexical: str
    datatype: str


@dataclass(frozen=True)
class Var:
    name: str


Term: TypeAlias = Iri | Blank | Literal
Triple: TypeAlias = tuple[Term, Term, Term]
Graph: TypeAlias = frozenset[Triple]
TriplePattern: TypeAlias = tuple[Var | Term, Var | Term, Var | Term]


def integer(value: int) -> Literal:
    return Literal(str(value), "integer")


def boolean(value: bool) -> Literal:
    return Literal(str(value).lower(), "boolean")


def decimal(lexical: str) -> Literal:
    return Literal(lexical, "decimal")


def string(text: str) -> Literal:
    return Literal(text, "string")


def double(lexical: str) -> Literal:
    """In canonical form."""
    return Literal(lexical, "double")


def single(lexical: str) -> Literal:
    """An xsd:float, in canonical form."""
    return Literal(lexical, "float")


def moment(seconds: int) -> Literal:
    """An xsd:dateTime, so many seconds after 1970 began.

    >>> moment(-2).lexical
    '1969-12-31T23:59:58Z'
    """
    return Literal(f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}", "dateTime")
