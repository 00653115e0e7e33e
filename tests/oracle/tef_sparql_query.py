"""A TEF-SPARQL program as data: statements, graph patterns (Tables 4.1 and 4.2 of the paper) and expressions.

Terms are `oracle.terms`; an IRI whose name has a colon (`rdf:type`) is not in the one namespace `:`. `Var("_")` is
`?_`, a fresh variable each time (TEF-56). Parentheses are not part of the data: a node stands for what they group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TypeAlias, TypeVar, assert_never

from oracle.sparql_query import NAMESPACES as NAMESPACES
from oracle.sparql_query import And as And
from oracle.sparql_query import Arithmetic as Arithmetic
from oracle.sparql_query import Bound as Bound
from oracle.sparql_query import Coalesce as Coalesce
from oracle.sparql_query import Compare as Compare
from oracle.sparql_query import Not as Not
from oracle.sparql_query import Or as Or
from oracle.sparql_query import full as full
from oracle.terms import Iri, Literal, Var

TYPE = Iri("rdf:type")

# Expressions (section 4.2); `?n = …` binds a new `?n` (TEF-57)


@dataclass(frozen=True)
class Now:
    """`now()` (TEF-62)."""


@dataclass(frozen=True)
class Duration:
    """`duration(start, end)` (TEF-60)."""

    start: Expression
    end: Expression


Expression: TypeAlias = Var | Iri | Literal | Compare | Arithmetic | And | Or | Not | Now | Duration | Bound | Coalesce

# Patterns (section 4.3)

Slot: TypeAlias = Var | Iri | Literal


@dataclass(frozen=True)
class TriplePattern:
    """`subject predicate object`, of an event, a fact or a static predicate (TEF-1)."""

    subject: Slot
    predicate: Var | Iri
    object: Slot


class Forever(Enum):
    """`∞`: an open end (TEF-54)."""

    OPEN = "∞"


When: TypeAlias = Var | int | Forever


@dataclass(frozen=True)
class Timed:
    """`pattern[start, end]`: the times of the triple or parenthesis before it (TEF-53, TEF-54)."""

    pattern: Pattern
    start: When
    end: When


@dataclass(frozen=True)
class Conjunction:
    """`left, right`."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Condition:
    """`pattern, expression`: it binds or tests (TEF-57). It may also stand after an arm (TEF-68)."""

    pattern: Pattern
    expression: Expression


@dataclass(frozen=True)
class Union:
    """`left UNION right`."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Without:
    """`left WITHOUT right`: E1/E2, E/F, F1/F2 or F/E (TEF-32, TEF-36 to TEF-39)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Seq:
    """`left SEQ right` (TEF-33)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Before:
    """`left BEFORE right` (TEF-34)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class During:
    """`event DURING fact` or HAPPENSWHILE (TEF-30)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class With:
    """`event WITH fact` (TEF-31)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class OnStart:
    """`ONSTART fact`."""

    fact: Pattern


@dataclass(frozen=True)
class OnEnd:
    """`ONEND fact`."""

    fact: Pattern


# Arms of CONSTRUCT FACT (TEF-13)


@dataclass(frozen=True)
class Since:
    """`SINCE event`."""

    event: Pattern


@dataclass(frozen=True)
class Until:
    """`UNTIL event` or TILL."""

    event: Pattern


@dataclass(frozen=True)
class Replace:
    """`REPLACE fact ON event`."""

    fact: Pattern
    event: Pattern


@dataclass(frozen=True)
class OnInit:
    """`fact ON INIT`."""

    fact: Pattern


Arm: TypeAlias = Since | Until | Replace | OnInit
Pattern: TypeAlias = (
    TriplePattern
    | Timed
    | Conjunction
    | Condition
    | Union
    | Without
    | Seq
    | Before
    | During
    | With
    | OnStart
    | OnEnd
    | Since
    | Until
    | Replace
    | OnInit
)

# Statements (sections 4.4 and 4.5)


class Kind(Enum):
    """What a predicate or a pattern is (TEF-1)."""

    EVENT = "EVENT"
    FACT = "FACT"
    STATIC = "STATIC"


@dataclass(frozen=True)
class Declare:
    """`DECLARE kind iri …` (TEF-2)."""

    kind: Kind
    iris: tuple[Iri, ...]


@dataclass(frozen=True)
class HeadTriple:
    """A triple of a head. Its object may be an expression."""

    subject: Slot
    predicate: Var | Iri
    object: Expression


@dataclass(frozen=True)
class Once:
    """`ONCE PER ?name …, expression, …` (TEF-73)."""

    names: tuple[str, ...]
    expressions: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Construct:
    """CONSTRUCT [kind] head WHERE where. `kind=None`: that of its WHERE (TEF-2)."""

    kind: Kind | None
    head: tuple[HeadTriple, ...]
    where: Pattern
    once: Once | None = None
    within: int | None = None


@dataclass(frozen=True)
class Select:
    names: tuple[str, ...]
    where: Pattern
    distinct: bool = False
    once: Once | None = None
    within: int | None = None


Statement: TypeAlias = Declare | Construct | Select


@dataclass(frozen=True)
class Program:
    """A file. `streams` are its FROM STREAMs in their order; of none, there is one stream."""

    statements: tuple[Statement, ...]
    streams: tuple[str, ...] = ()

    @property
    def constructs(self) -> tuple[Construct, ...]:
        return tuple(each for each in self.statements if isinstance(each, Construct))

    @property
    def selects(self) -> tuple[Select, ...]:
        return tuple(each for each in self.statements if isinstance(each, Select))

    @property
    def declares(self) -> tuple[Declare, ...]:
        return tuple(each for each in self.statements if isinstance(each, Declare))


# What stands in them

Node = TypeVar("Node")


def every(kind: type[Node], root: object) -> Iterator[Node]:
    """All nodes of a kind in a program or a part of it, in the order of the text."""
    if isinstance(root, kind):
        yield root
    for part in parts_of(root):
        yield from every(kind, part)


def edges(root: object) -> list[OnStart | OnEnd]:
    """Its ONSTARTs and ONENDs, in the order of the text."""
    return [node for node in every(object, root) if isinstance(node, OnStart | OnEnd)]


def parts_of(node: object) -> list[object]:
    """What stands directly in a node."""
    if isinstance(node, tuple):
        return list(node)
    if is_dataclass(node) and not isinstance(node, type):
        return [getattr(node, field.name) for field in fields(node)]
    return []


def used(expression: object) -> list[str]:
    """The variables that an expression names."""
    return [variable.name for variable in every(Var, expression)]


def bound(pattern: Pattern, scope: frozenset[str] = frozenset()) -> frozenset[str]:
    """The variables that a pattern binds, where `scope` is in scope to its left: the last column of the tables.

    >>> x = TriplePattern(Var("x"), Iri("p"), Var("y"))
    >>> sorted(bound(Union(Condition(x, Compare("=", Var("n"), Var("y"))), x)))
    ['x', 'y']
    """
    match pattern:
        case TriplePattern(subject, predicate, object):
            return frozenset(slot.name for slot in (subject, predicate, object) if isinstance(slot, Var))
        case Timed(inner, start, end):
            return bound(inner, scope) | {when.name for when in (start, end) if isinstance(when, Var)}
        case Condition(inner, expression):
            names = bound(inner, scope)
            name = new_name(expression, scope | names)
            return names if name is None else names | {name}
        case Union(left, right):
            return bound(left, scope) & bound(right, scope)
        case Without(left, _):
            return bound(left, scope)
        case (
            Conjunction(left, right) | Seq(left, right) | Before(left, right) | During(left, right) | With(left, right)
        ):
            names = bound(left, scope)
            return names | bound(right, scope | names)
        case Replace(fact, event):
            names = bound(fact, scope)
            return names | bound(event, scope | names)
        case OnStart(inner) | OnEnd(inner) | Since(inner) | Until(inner) | OnInit(inner):
            return bound(inner, scope)
        case _:
            assert_never(pattern)


def new_name(expression: Expression, scope: frozenset[str]) -> str | None:
    """The variable that `?n = …` binds, if it is new (TEF-57)."""
    match expression:
        case Compare("=", Var(name), _) if name not in scope:
            return name
        case _:
            return None
