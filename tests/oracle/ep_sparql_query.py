"""An EP-SPARQL file as data: SELECTs and CONSTRUCTs, their groups and expressions (section 4.1 of the paper).

Terms are `oracle.terms`; an IRI whose name has a colon (`rdf:type`) is not in the one namespace `:`. A `Blank` in a
pattern is a blank-node label, which stands for a variable that nothing else sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from oracle.sparql_query import NAMESPACES as NAMESPACES
from oracle.sparql_query import Aggregate as Aggregate
from oracle.sparql_query import And as And
from oracle.sparql_query import Arithmetic as Arithmetic
from oracle.sparql_query import Bind as Bind
from oracle.sparql_query import Bound as Bound
from oracle.sparql_query import Coalesce as Coalesce
from oracle.sparql_query import Column as Column
from oracle.sparql_query import Compare as Compare
from oracle.sparql_query import Either as Either
from oracle.sparql_query import Exists as Exists
from oracle.sparql_query import Filter as Filter
from oracle.sparql_query import If as If
from oracle.sparql_query import Inverse as Inverse
from oracle.sparql_query import Key as Key
from oracle.sparql_query import Minus as Minus
from oracle.sparql_query import Not as Not
from oracle.sparql_query import Optional as Optional
from oracle.sparql_query import Or as Or
from oracle.sparql_query import Order as Order
from oracle.sparql_query import Path as Path
from oracle.sparql_query import Pattern as Pattern
from oracle.sparql_query import Repeat as Repeat
from oracle.sparql_query import Slot as Slot
from oracle.sparql_query import Steps as Steps
from oracle.sparql_query import SubSelect as SubSelect
from oracle.sparql_query import Triples as Triples
from oracle.sparql_query import Values as Values
from oracle.sparql_query import exists_in as exists_in
from oracle.sparql_query import full as full
from oracle.sparql_query import has_aggregate as has_aggregate
from oracle.sparql_query import operands as operands
from oracle.sparql_query import parts as parts
from oracle.sparql_query import slots as slots
from oracle.sparql_query import used as used
from oracle.terms import Blank, Iri, Literal, Var

# Expressions


class TimeFunction(Enum):
    """They read the interval of what they stand in (EP-29, EP-34)."""

    DURATION = "getDURATION"
    START = "getSTARTTIME"
    END = "getENDTIME"
    NOW = "NOW"


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
class Chain:
    """`{first} op {G} op {G} …`, which associates to the left (EP-7). `rest` is not empty."""

    first: Group
    rest: tuple[tuple[Operator, Group], ...]


@dataclass(frozen=True)
class InGraph:
    """GRAPH :iri { … }."""

    iri: str
    group: Group


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


def shown(select: Select) -> list[str]:
    """The names of its columns; of `*` all variables in scope."""
    return in_scope(select.where) if select.columns is None else [column.name for column in select.columns]
