"""An RSEP-QL query as data: dataset, report clause, event patterns and query form (section 3 of the paper).

Terms are `oracle.terms`; triple patterns and paths are those of `oracle.sparql_query`. A `Blank` in a pattern is a
blank-node label, which stands for a variable that nothing else sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from itertools import count
from typing import Any, TypeAlias, TypeVar, assert_never

from oracle.sparql_query import NAMESPACES as NAMESPACES
from oracle.sparql_query import Aggregate as Aggregate
from oracle.sparql_query import And as And
from oracle.sparql_query import Arithmetic as Arithmetic
from oracle.sparql_query import Bind as Bind
from oracle.sparql_query import Bound as Bound
from oracle.sparql_query import Coalesce as Coalesce
from oracle.sparql_query import Column as Column
from oracle.sparql_query import Compare as Compare
from oracle.sparql_query import Exists as Exists
from oracle.sparql_query import Filter as Filter
from oracle.sparql_query import If as If
from oracle.sparql_query import Key as Key
from oracle.sparql_query import Minus as Minus
from oracle.sparql_query import Not as Not
from oracle.sparql_query import Optional as Optional
from oracle.sparql_query import Or as Or
from oracle.sparql_query import Order as Order
from oracle.sparql_query import Pattern as Pattern
from oracle.sparql_query import SubSelect as SubSelect
from oracle.sparql_query import Triples as Triples
from oracle.sparql_query import Values as Values
from oracle.sparql_query import full as full
from oracle.sparql_query import has_aggregate as has_aggregate
from oracle.sparql_query import operands as operands
from oracle.sparql_query import parts as parts
from oracle.sparql_query import slots as slots
from oracle.sparql_query import used as used
from oracle.terms import Blank, Iri, Literal, Var, integer, moment

# Windows (section 3.2)


@dataclass(frozen=True)
class Range:
    """`[RANGE width SLIDE slide]`: Wτ; `slide=None` leaves SLIDE out (RS-7)."""

    width: int
    slide: int | None = None


@dataclass(frozen=True)
class Landmark:
    """`[LND start]`: Wλ."""

    start: int


@dataclass(frozen=True)
class Interval:
    """`[FROM first TO last]`: W⊔."""

    first: int
    last: int


@dataclass(frozen=True)
class Identity:
    """`[]`: Wid; without brackets, `WIN AS :w`, it is what a preset fills (RS-2, RS-60)."""

    brackets: bool = True


WindowFunction: TypeAlias = Range | Landmark | Interval | Identity


@dataclass(frozen=True)
class NamedWindow:
    """`FROM NAMED :stream WIN […] AS :name`."""

    name: str
    stream: str
    function: WindowFunction


# Report policies (RS-16)


@dataclass(frozen=True)
class OnContent:
    """ON CONTENT."""


@dataclass(frozen=True)
class OnClose:
    """ON CLOSE."""


@dataclass(frozen=True)
class OnNonEmpty:
    """ON NON_EMPTY_CONTENT (RS-70)."""


@dataclass(frozen=True)
class Every:
    """EVERY period."""

    period: int


@dataclass(frozen=True)
class At:
    """AT t, …."""

    times: tuple[int, ...]


Report: TypeAlias = OnContent | OnClose | OnNonEmpty | Every | At


class Output(Enum):
    """RStream, IStream or DStream (RS-50, RS-51)."""

    RSTREAM = "RSTREAM"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"


# Event patterns (section 3.3)


@dataclass(frozen=True)
class EventDefinition:
    """`EVENT ON :window { … } AS name START ?start END ?end`: a basic event pattern. `start` and `end` are variables of
    each mapping whose values are the times of its event."""

    name: str
    window: str
    group: Group
    start: str | None = None
    end: str | None = None

    @property
    def times(self) -> tuple[str, ...]:
        return tuple(name for name in (self.start, self.end) if name is not None)


class Policy(Enum):
    """What follows SEQ: (10), (11) or (9)."""

    CHRONOLOGICAL = "CHRONOLOGICAL"
    RECENT = "RECENT"
    NAIVE = "NAIVE"


@dataclass(frozen=True)
class Event:
    """The name of an EVENT."""

    name: str


@dataclass(frozen=True)
class First:
    """FIRST E."""

    pattern: EventPattern


@dataclass(frozen=True)
class Last:
    """LAST E."""

    pattern: EventPattern


@dataclass(frozen=True)
class Seq:
    """`E1 SEQ E2`; `policy=None` is the bare SEQ: (7), or what a preset fills (RS-39, RS-60)."""

    left: EventPattern
    right: EventPattern
    policy: Policy | None = None


EventPattern: TypeAlias = Event | First | Last | Seq


# Expressions


@dataclass(frozen=True)
class Now:
    """NOW(): the time of the evaluation (RS-55)."""


@dataclass(frozen=True)
class Apart:
    """`later - earlier <= seconds`, of two dates, or with another operator. The seconds are written as a duration."""

    operator: str
    later: Var | Now
    earlier: Var | Now
    seconds: int


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
    | Now
    | Apart
    | Exists
    | Aggregate
)


# Groups


@dataclass(frozen=True)
class Union:
    """`{…} UNION {…} …`."""

    arms: tuple[Group, ...]


@dataclass(frozen=True)
class InGraph:
    """GRAPH :iri { … } or GRAPH ?g { … }."""

    graph: Iri | Var
    group: Group


@dataclass(frozen=True)
class InWindow:
    """WINDOW :name { … }: the window graph pattern."""

    name: str
    group: Group


@dataclass(frozen=True)
class Match:
    """MATCH { E }: the event graph pattern. `number` tells the MATCHes of a query apart (`numbered`)."""

    pattern: EventPattern
    number: int = 0


@dataclass(frozen=True)
class Group:
    """`{ … }`, also as an element of a group."""

    elements: tuple[Element, ...]

    @property
    def filters(self) -> tuple[Expression, ...]:
        """Those that stand directly in it."""
        return tuple(element.expression for element in self.elements if isinstance(element, Filter))


Element: TypeAlias = (
    Triples | Group | Union | Optional | Minus | Filter | Bind | Values | InGraph | SubSelect | InWindow | Match
)


# Query forms


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
        expressions = [column.expression for column in self.columns or () if column.expression is not None]
        expressions += [*self.having, *(order.expression for order in self.order_by)]
        return bool(self.group_by) or any(map(has_aggregate, expressions))

    @property
    def sliced(self) -> bool:
        return self.limit is not None or self.offset > 0


@dataclass(frozen=True)
class Construct:
    """CONSTRUCT { template } WHERE { … }. A `Blank` of the template is one node per row."""

    template: tuple[Pattern, ...]
    where: Group


@dataclass(frozen=True)
class Ask:
    """ASK WHERE { … } (RS-68)."""

    where: Group


Form: TypeAlias = Select | Construct | Ask


@dataclass(frozen=True)
class Query:
    """(SE, SDS, ET, QF) of Definition 5. ET is what `report` makes of the input.

    All times and lengths here are integers: ticks, or with `dates` seconds since 1970, which the text and the terms
    write as dates (RS-6, C-2)."""

    form: Form
    windows: tuple[NamedWindow, ...]
    events: tuple[EventDefinition, ...] = ()
    graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    report: Report | None = None
    output: Output | None = None
    dates: bool = False

    def time_term(self, time: int) -> Literal:
        """What NOW(), START and END have (RS-55)."""
        return moment(time) if self.dates else integer(time)

    def definition(self, name: str) -> EventDefinition:
        return next(event for event in self.events if event.name == name)

    def window(self, name: str) -> NamedWindow:
        return next(window for window in self.windows if window.name == name)

    @property
    def streams(self) -> frozenset[str]:
        """The declared streams, those of unused windows included (RS-11)."""
        return frozenset(window.stream for window in self.windows)

    @property
    def slides(self) -> tuple[int, ...]:
        functions = [window.function for window in self.windows]
        return tuple(each.slide for each in functions if isinstance(each, Range) and each.slide is not None)


# What stands in them


def leaves(pattern: EventPattern) -> list[str]:
    """The names of its EVENTs, in pattern order."""
    match pattern:
        case Event(name):
            return [name]
        case First(inner) | Last(inner):
            return leaves(inner)
        case Seq(left, right):
            return leaves(left) + leaves(right)
        case _:
            assert_never(pattern)


def event_scope(pattern: EventPattern, events: tuple[EventDefinition, ...]) -> list[str]:
    """The variables in scope in an event pattern (RS-41)."""
    known = {event.name: event for event in events}
    named = [known[leaf] for leaf in leaves(pattern)]
    return list(dict.fromkeys(name for each in named for name in (*in_scope(each.group, events), *each.times)))


def in_scope(group: Group, events: tuple[EventDefinition, ...] = ()) -> list[str]:
    """The variables in scope after the group, in the order of the text (SPARQL 1.1, 18.2.1)."""
    return list(dict.fromkeys(name for element in group.elements for name in _in_scope(element, events)))


def _in_scope(element: Element, events: tuple[EventDefinition, ...]) -> list[str]:
    match element:
        case Triples(patterns):
            return [slot.name for pattern in patterns for slot in slots(pattern) if isinstance(slot, Var)]
        case Group():
            return in_scope(element, events)
        case Union(arms):
            return [name for arm in arms for name in in_scope(arm, events)]
        case Optional(group) | InWindow(_, group):
            return in_scope(group, events)
        case InGraph(graph, group):
            return [*([graph.name] if isinstance(graph, Var) else []), *in_scope(group, events)]
        case Minus() | Filter():
            return []
        case Bind(_, name):
            return [name]
        case Values(names):
            return list(names)
        case SubSelect(select):
            return shown(select, events)
        case Match(pattern):
            return event_scope(pattern, events)
        case _:
            assert_never(element)


def shown(select: Select, events: tuple[EventDefinition, ...] = ()) -> list[str]:
    """The names of its columns; of `*` all variables in scope."""
    return in_scope(select.where, events) if select.columns is None else [column.name for column in select.columns]


def template_names(template: tuple[Pattern, ...]) -> list[str]:
    found = (slot.name for pattern in template for slot in slots(pattern) if isinstance(slot, Var))
    return list(dict.fromkeys(found))


Node = TypeVar("Node")


def every(kind: type[Node], root: object) -> Iterator[Node]:
    """All nodes of a kind in a query or a part of it, in the order of the text."""
    if isinstance(root, kind):
        yield root
    for part in _fields(root):
        yield from every(kind, part)


def _fields(node: object) -> list[object]:
    if isinstance(node, tuple):
        return list(node)
    if is_dataclass(node) and not isinstance(node, type):
        return [getattr(node, field.name) for field in fields(node)]
    return []


def numbered(query: Query) -> Query:
    """The query with its MATCHes numbered from 1 in the order of the text."""
    numbers = count(1)

    def number(node: Any) -> Any:
        if isinstance(node, Match):
            return replace(node, number=next(numbers))
        if isinstance(node, tuple):
            return tuple(map(number, node))
        if is_dataclass(node) and not isinstance(node, type):
            return replace(node, **{field.name: number(getattr(node, field.name)) for field in fields(node)})
        return node

    return replace(query, form=number(query.form))
