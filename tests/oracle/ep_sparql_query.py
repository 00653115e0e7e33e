"""An EP-SPARQL file as data: SELECTs and CONSTRUCTs, their groups and expressions (section 4.1 of the paper).

Terms are `oracle.terms`; an IRI whose name has a colon (`rdf:type`) is not in the one namespace `:`. A `Blank` in a
pattern is a blank-node label, which stands for a variable that nothing else sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from oracle.terms import Blank, Iri, Literal, Term, Var

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


# Expressions


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


class TimeFunction(Enum):
    """They read the interval of what they stand in (EP-29, EP-34)."""

    DURATION = "getDURATION"
    START = "getSTARTTIME"
    END = "getENDTIME"
    NOW = "NOW"


@dataclass(frozen=True)
class Exists:
    """EXISTS { … }; NOT EXISTS is `Not(Exists(…))`."""

    group: Group


@dataclass(frozen=True)
class Aggregate:
    """`function` is COUNT, SUM, MIN, MAX or AVG. `operand=None` is the `*` of COUNT(*)."""

    function: str
    operand: Expression | None
    distinct: bool = False


Expression: TypeAlias = (
    Var
    | Iri
    | Blank
    | Literal
    | Compare
    | Arithmetic
    | And
    | Or
    | Not
    | Bound
    | Coalesce
    | If
    | TimeFunction
    | Exists
    | Aggregate
)


# Groups


class Operator(Enum):
    SEQ = "SEQ"
    EQUALS = "EQUALS"
    OPTIONALSEQ = "OPTIONALSEQ"
    EQUALSOPTIONAL = "EQUALSOPTIONAL"
    UNION = "UNION"


@dataclass(frozen=True)
class Triples:
    """A triples block: a BGP."""

    patterns: tuple[Pattern, ...]


@dataclass(frozen=True)
class Chain:
    """`{first} op {G} op {G} …`, which associates to the left (EP-7). `rest` is not empty."""

    first: Group
    rest: tuple[tuple[Operator, Group], ...]


@dataclass(frozen=True)
class Optional:
    group: Group


@dataclass(frozen=True)
class Minus:
    group: Group


@dataclass(frozen=True)
class Filter:
    expression: Expression


@dataclass(frozen=True)
class Bind:
    """BIND(expression AS ?name)."""

    expression: Expression
    name: str


@dataclass(frozen=True)
class Values:
    """VALUES (?name …) { (value …) … }; None is UNDEF."""

    names: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True)
class InGraph:
    """GRAPH :iri { … }."""

    iri: str
    group: Group


@dataclass(frozen=True)
class SubSelect:
    """`{ SELECT … }`."""

    select: Select


@dataclass(frozen=True)
class Group:
    """`{ … }`, also as an element of a group."""

    elements: tuple[Element, ...]

    @property
    def filters(self) -> tuple[Expression, ...]:
        """Those that stand directly in it."""
        return tuple(element.expression for element in self.elements if isinstance(element, Filter))


Element: TypeAlias = Triples | Group | Chain | Optional | Minus | Filter | Bind | Values | InGraph | SubSelect


# Statements


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


@dataclass(frozen=True)
class Select:
    """`columns=None` is `SELECT *`."""

    columns: tuple[Column, ...] | None
    where: Group
    distinct: bool = False
    group_by: tuple[Key, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def aggregated(self) -> bool:
        shown = [column.expression for column in self.columns or () if column.expression is not None]
        expressions = [*shown, *self.having, *(order.expression for order in self.order_by)]
        return bool(self.group_by) or any(has_aggregate(expression) for expression in expressions)

    @property
    def sliced(self) -> bool:
        return self.limit is not None or self.offset > 0


@dataclass(frozen=True)
class Construct:
    """CONSTRUCT { template } WHERE { … }. A `Blank` of the template is one node per solution (EP-48)."""

    template: tuple[Pattern, ...]
    where: Group


Statement: TypeAlias = Select | Construct
File: TypeAlias = tuple[Statement, ...]


def selects(file: File) -> list[Select]:
    return [statement for statement in file if isinstance(statement, Select)]


def constructs(file: File) -> list[Construct]:
    return [statement for statement in file if isinstance(statement, Construct)]


# What stands in them


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly in it; of EXISTS none."""
    match expression:
        case Var() | Iri() | Blank() | Literal() | TimeFunction() | Exists() | Bound():
            return ()
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
            assert_never(expression)


def parts(expression: Expression) -> Iterator[Expression]:
    """It and all expressions in it; not those in the group of an EXISTS."""
    yield expression
    for operand in operands(expression):
        yield from parts(operand)


def has_aggregate(expression: Expression) -> bool:
    return any(isinstance(part, Aggregate) for part in parts(expression))


def exists_in(*expressions: Expression) -> list[Group]:
    """The groups of their EXISTS."""
    return [part.group for each in expressions for part in parts(each) if isinstance(part, Exists)]


def used(expression: Expression) -> list[str]:
    """The variables that it names; not those in the group of an EXISTS."""
    names = [part.name for part in parts(expression) if isinstance(part, Var)]
    return names + [part.variable.name for part in parts(expression) if isinstance(part, Bound)]


def in_scope(group: Group) -> list[str]:
    """The variables in scope after the group, in the order of the text (SPARQL 1.1, 18.2.1)."""
    return list(dict.fromkeys(name for element in group.elements for name in _in_scope(element)))


def _in_scope(element: Element) -> list[str]:
    match element:
        case Triples(patterns):
            return [slot.name for pattern in patterns for slot in slots(pattern) if isinstance(slot, Var)]
        case Group():
            return in_scope(element)
        case Chain(first, rest):
            return [name for group in (first, *(right for _, right in rest)) for name in in_scope(group)]
        case Optional(group) | InGraph(_, group):
            return in_scope(group)
        case Minus() | Filter():
            return []
        case Bind(_, name):
            return [name]
        case Values(names):
            return list(names)
        case SubSelect(select):
            return shown(select)
        case _:
            assert_never(element)


def slots(pattern: Pattern) -> tuple[Var | Term | Path, ...]:
    return (pattern.subject, pattern.predicate, pattern.object)


def shown(select: Select) -> list[str]:
    """The names of its columns; of `*` all variables in scope."""
    return in_scope(select.where) if select.columns is None else [column.name for column in select.columns]
