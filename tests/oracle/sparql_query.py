"""The parts of SPARQL that the event languages share, as data: paths, triple patterns, expressions, elements of groups.

Terms are `oracle.terms`; an IRI whose name has a colon (`rdf:type`) is not in the one namespace `:`. What else an
expression, a group and a SELECT can hold, each language says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from oracle.terms import Iri, Term, Var

NAMESPACES = {
    "": "http://example.org/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
}


def full(iri: Iri) -> str:
    """The whole IRI.

    >>> full(Iri("a")), full(Iri("rdf:type"))
    ('http://example.org/a', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type')
    """
    prefix, _, local = iri.name.rpartition(":")
    return NAMESPACES[prefix] + local


# Paths


@dataclass(frozen=True)
class Inverse:
    """`^path`."""

    path: Path


@dataclass(frozen=True)
class Steps:
    """`left / right`."""

    left: Path
    right: Path


@dataclass(frozen=True)
class Either:
    """`left | right`."""

    left: Path
    right: Path


@dataclass(frozen=True)
class Repeat:
    """`path*`, `path+` or `path?`."""

    path: Path
    sign: str


Path: TypeAlias = Iri | Inverse | Steps | Either | Repeat
Slot: TypeAlias = Var | Term


@dataclass(frozen=True)
class Pattern:
    """A triple pattern, or a path pattern."""

    subject: Slot
    predicate: Var | Path
    object: Slot


@dataclass(frozen=True)
class Triples:
    """A triples block: a BGP."""

    patterns: tuple[Pattern, ...]


@dataclass(frozen=True)
class Values:
    """VALUES (?name …) { (value …) … }; None is UNDEF."""

    names: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]


def slots(pattern: Pattern) -> tuple[Var | Term | Path, ...]:
    return (pattern.subject, pattern.predicate, pattern.object)


# Expressions

Expression: TypeAlias = Any
"""Those below, terms, variables, and what a language adds."""


@dataclass(frozen=True)
class Compare:
    """`operator` is one of `= != < > <= >=`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Arithmetic:
    """`operator` is one of `+ - * /`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class And:
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Or:
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Not:
    operand: Expression


@dataclass(frozen=True)
class Bound:
    variable: Var


@dataclass(frozen=True)
class Coalesce:
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class If:
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True)
class Exists:
    """EXISTS { … }; NOT EXISTS is `Not(Exists(…))`."""

    group: Any


@dataclass(frozen=True)
class Aggregate:
    """`function` is COUNT, SUM, MIN, MAX or AVG. `operand=None` is the `*` of COUNT(*)."""

    function: str
    operand: Expression | None
    distinct: bool = False


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly in it; of EXISTS, and of what a language adds, none."""
    match expression:
        case Compare(_, left, right) | Arithmetic(_, left, right) | And(left, right) | Or(left, right):
            return (left, right)
        case Not(operand):
            return (operand,)
        case Coalesce(several):
            return several
        case If(condition, then, otherwise):
            return (condition, then, otherwise)
        case Aggregate(_, argument):
            return () if argument is None else (argument,)
        case _:
            return ()


def parts(expression: Expression) -> Iterator[Expression]:
    """It and all expressions in it; not those in the group of an EXISTS."""
    yield expression
    for operand in operands(expression):
        yield from parts(operand)


def has_aggregate(expression: Expression) -> bool:
    return any(isinstance(part, Aggregate) for part in parts(expression))


def exists_in(*expressions: Expression) -> list[Any]:
    """The groups of their EXISTS."""
    return [part.group for each in expressions for part in parts(each) if isinstance(part, Exists)]


def used(expression: Expression) -> list[str]:
    """The variables that it names; not those in the group of an EXISTS."""
    names = [part.name for part in parts(expression) if isinstance(part, Var)]
    return names + [part.variable.name for part in parts(expression) if isinstance(part, Bound)]


# Elements of groups, and columns


@dataclass(frozen=True)
class Optional:
    group: Any


@dataclass(frozen=True)
class Minus:
    group: Any


@dataclass(frozen=True)
class Filter:
    expression: Expression


@dataclass(frozen=True)
class Bind:
    """BIND(expression AS ?name)."""

    expression: Expression
    name: str


@dataclass(frozen=True)
class SubSelect:
    """`{ SELECT … }`."""

    select: Any


@dataclass(frozen=True)
class Column:
    """`?name`, or `(expression AS ?name)`."""

    name: str
    expression: Expression | None = None


@dataclass(frozen=True)
class Key:
    """A condition of GROUP BY: `?x`, `(expression)` or `(expression AS ?name)`."""

    expression: Expression
    name: str | None = None


@dataclass(frozen=True)
class Order:
    """A condition of ORDER BY."""

    expression: Expression
    descending: bool = False
