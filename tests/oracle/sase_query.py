"""A SASE+ query (Section 2.2, Appendix A.1) and its events, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

Value: TypeAlias = int | float | str | bool | None
"""None: the attribute is missing, or nothing can be computed."""


@dataclass(frozen=True)
class Event:
    """An event of Section 2.1. An attribute that it lacks is not among `attributes`."""

    type: str
    time: int
    attributes: tuple[tuple[str, int | float | str | bool], ...]
    id: str

    def __getitem__(self, name: str) -> Value:
        return dict(self.attributes).get(name)

    def __hash__(self) -> int:
        return hash(self.id)


ANY = "ANY"
"""In place of a type: every event."""


@dataclass(frozen=True)
class Component:
    """`TYPE a`, `TYPE+ a[]`, `~TYPE a` or `~(TYPE+ a[])`."""

    type: str
    variable: str
    closure: bool = False
    negated: bool = False


class Strategy(Enum):
    STRICT = "strict_contiguity"
    PARTITION = "partition_contiguity"
    NEXT = "skip_till_next_match"
    ANY = "skip_till_any_match"


class Index(Enum):
    """Which event of a variable: `a`, `a[1]`, `a[i]`, `a[i-1]`, `a[a.LEN]`."""

    PLAIN = ""
    FIRST = "[1]"
    CURRENT = "[i]"
    PREVIOUS = "[i-1]"
    LAST = "[a.LEN]"


class Span(Enum):
    """Which events of a variable an aggregate is over: `a[]`, `a[..i-1]`; in AGGREGATE also `a`."""

    ALL = "[]"
    BEFORE = "[..i-1]"
    PLAIN = ""


@dataclass(frozen=True)
class Constant:
    value: int | float | str | bool


@dataclass(frozen=True)
class Attribute:
    variable: str
    index: Index
    attribute: str


@dataclass(frozen=True)
class Length:
    """`a.LEN`."""

    variable: str


@dataclass(frozen=True)
class Aggregate:
    """`function(a[].x)`, `count(a[])` without attribute, `highest(k, a[].x)`; `count(*)` without variable."""

    function: str
    variable: str | None = None
    attribute: str | None = None
    span: Span = Span.ALL
    k: int | None = None


@dataclass(frozen=True)
class Arithmetic:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Compare:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class IsNull:
    """`operand IS NULL`, or `operand IS NOT NULL`."""

    operand: Expression
    negated: bool = False


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


Expression: TypeAlias = (
    Constant | Attribute | Length | Aggregate | Arithmetic | Compare | IsNull | And | Or | Not
)  # fmt: skip


@dataclass(frozen=True)
class Equivalence:
    """`[attribute, …]`."""

    attributes: tuple[str, ...]


@dataclass(frozen=True)
class PartitionBy:
    """`PARTITION BY(attribute, …)`."""

    attributes: tuple[str, ...]


Condition: TypeAlias = Equivalence | PartitionBy | Expression
"""What AND joins in WHERE."""


@dataclass(frozen=True)
class Chosen:
    """A variable under a strategy; `stop`: with `!`."""

    variable: str
    stop: bool = False


@dataclass(frozen=True)
class Group:
    """`strategy(variable, …) { condition AND … }`. A condition means the same in every group and outside of all."""

    strategy: Strategy
    chosen: tuple[Chosen, ...]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Sequence:
    """`a[].x` of RETURN."""

    variable: str
    attribute: str


@dataclass(frozen=True)
class Composite:
    """`b.(x, y)` of RETURN, or `a[].(x, y)` where the variable is a closure's."""

    variable: str
    attributes: tuple[str, ...]
    closure: bool = False


@dataclass(frozen=True)
class Item:
    """A column of RETURN or AGGREGATE, with AS or without."""

    what: Expression | Sequence | Composite
    name: str | None = None


@dataclass(frozen=True)
class Query:
    """`returns` are the columns of RETURN, or of AGGREGATE … BY `by` where `aggregates` is set."""

    components: tuple[Component, ...]
    groups: tuple[Group, ...] = ()
    conditions: tuple[Condition, ...] = ()
    within: int | None = None
    having: Expression | None = None
    returns: tuple[Item, ...] = ()
    aggregates: bool = False
    by: tuple[str, ...] = ()
    stream: str | None = None
    positives: tuple[Component, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positives", tuple(c for c in self.components if not c.negated))

    def strategy(self, component: Component) -> Strategy:
        """Skip-till-next by default; a series that must be absent is chosen as by skip-till-any."""
        found = (g.strategy for g in self.groups for c in g.chosen if c.variable == component.variable)
        return next(found, Strategy.ANY if component.negated else Strategy.NEXT)

    def stops(self, component: Component) -> bool:
        """Whether its variable has `!`."""
        return any(c.stop for g in self.groups for c in g.chosen if c.variable == component.variable)

    def all_conditions(self) -> Iterator[Condition]:
        for group in self.groups:
            yield from group.conditions
        yield from self.conditions

    def conjuncts(self, component: Component) -> Iterator[Expression]:
        """Those that act at this component: the negated one that they name, else the last that they name."""
        for each in self.all_conditions():
            if not isinstance(each, Equivalence | PartitionBy) and self.acts_at(each) == component:
                yield each

    def acts_at(self, conjunct: Expression) -> Component:
        named = {variable for variable, _ in references(conjunct)}
        inside = [component for component in self.components if component.variable in named]
        return next((component for component in inside if component.negated), inside[-1])

    def tested(self) -> tuple[str, ...]:
        """The attributes in which all events of a match agree: equivalence tests, and PARTITION BY."""
        found = [a for c in self.all_conditions() if isinstance(c, Equivalence | PartitionBy) for a in c.attributes]
        return tuple(dict.fromkeys(found))

    def partition(self) -> tuple[str, ...]:
        """The attributes that make a partition: those of PARTITION BY, without it those of the equivalence tests."""
        by = [a for c in self.all_conditions() if isinstance(c, PartitionBy) for a in c.attributes]
        return tuple(dict.fromkeys(by)) or self.tested()


Reference: TypeAlias = Index | Span | None
"""How a variable is named; None: `a.LEN`."""


def references(expression: Expression) -> list[tuple[str, Reference]]:
    """Each variable in the expression, and how it is named."""
    match expression:
        case Attribute(variable, index, _):
            return [(variable, index)]
        case Length(variable):
            return [(variable, None)]
        case Aggregate(variable=str(variable), span=span):
            return [(variable, span)]
        case Arithmetic(_, left, right) | Compare(_, left, right) | And(left, right) | Or(left, right):
            return references(left) + references(right)
        case IsNull(operand, _) | Not(operand):
            return references(operand)
    return []


def ends(conjunct: Expression, variable: str) -> bool:
    """Whether it names `a[a.LEN]`, `a.LEN` or an aggregate over `a[]`."""
    return any(name == variable and how in (Index.LAST, None, Span.ALL) for name, how in references(conjunct))


def iterates(conjunct: Expression, variable: str) -> bool:
    """Whether it names `a[i]`, `a[i-1]` or `a[..i-1]`."""
    moving = (Index.CURRENT, Index.PREVIOUS, Span.BEFORE)
    return any(name == variable and how in moving for name, how in references(conjunct))


def first_index(conjunct: Expression, variable: str) -> int:
    """The i from which it holds: 2 if `a[1]`, `a[i-1]` or `a[..i-1]` stands in it, else 1."""
    earlier = (Index.FIRST, Index.PREVIOUS, Span.BEFORE)
    return 2 if any(name == variable and how in earlier for name, how in references(conjunct)) else 1
