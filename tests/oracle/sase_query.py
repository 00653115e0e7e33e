"""A SASE+ query (Section 2.2, Appendix A.1) and its events, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import reduce
from itertools import product
from typing import TypeAlias

from oracle.event_order import Moment, Ordinal

Given: TypeAlias = int | float | Decimal | str | bool | datetime | timedelta
"""What an attribute may be. Times have a zone; a duration is what lies between two of them."""

Value: TypeAlias = Given | None
"""None: the attribute is missing, or nothing can be computed."""

DAWN = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Event:
    """An event of Section 2.1. An attribute that it lacks is not among `attributes`; its own time is the attribute
    `time`, and `end`, whatever else is called so (SA-51). That is when it ends; it `lasts` as long before that. Where
    it is `dated`, its time is so many minutes after 1970 began."""

    type: str
    time: int
    attributes: tuple[tuple[str, Given], ...]
    id: str
    lasts: int = 0
    order: tuple[Ordinal, ...] = ()  # the values of the option `order`
    dated: bool = False

    @property
    def start(self) -> int:
        return self.time - self.lasts

    @property
    def moment(self) -> Moment:
        """What *follows*, contiguity and ties are judged by (C-9)."""
        return self.time, self.order

    def __getitem__(self, name: str) -> Value:
        if name in ("time", "end"):
            return DAWN + timedelta(minutes=self.time) if self.dated else self.time
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
    """In a text, a float has an exponent and a decimal has none. A length of time is as it is `written`, and so is a
    time."""

    value: int | float | Decimal | str | bool | datetime | timedelta
    written: str = ""


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
class In:
    """`operand IN (choice, …)`, or `operand NOT IN (choice, …)`."""

    operand: Expression
    choices: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True)
class Like:
    """`operand LIKE 'pattern'`, or `operand NOT LIKE 'pattern'`."""

    operand: Expression
    pattern: str
    negated: bool = False


@dataclass(frozen=True)
class Call:
    """`lower(a.x)`, `contains(a.x, 'u')`."""

    function: str
    arguments: tuple[Expression, ...]


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
    Constant | Attribute | Length | Aggregate | Arithmetic | Compare | IsNull | In | Like | Call | And | Or | Not
)  # fmt: skip


OWN = ""
"""The variable of an attribute that has none: of each event, in PARTITION BY."""

Key: TypeAlias = str | Expression
"""An attribute, or what is computed of an event's own attributes."""


@dataclass(frozen=True)
class Equivalence:
    """`[attribute, …]`."""

    attributes: tuple[str, ...]


@dataclass(frozen=True)
class PartitionBy:
    """`PARTITION BY(key, …)`."""

    keys: tuple[Key, ...]


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
class Made:
    """`RETURN (…) AS type IN STREAM stream`: rows that are events, for others to read."""

    stream: str
    type: str | None = None


@dataclass(frozen=True)
class Query:
    """A block. `returns` are the columns of RETURN, or of AGGREGATE … BY `by` where `aggregates` is set; `streams` are
    those of FROM."""

    components: tuple[Component, ...]
    groups: tuple[Group, ...] = ()
    conditions: tuple[Condition, ...] = ()
    within: int | None = None
    having: Expression | None = None
    returns: tuple[Item, ...] = ()
    aggregates: bool = False
    by: tuple[Key, ...] = ()
    streams: tuple[str, ...] = ()
    made: Made | None = None
    dated: bool = False  # times are dates, and the window is in minutes
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
        for condition in self.all_conditions():
            if not isinstance(condition, Equivalence | PartitionBy):
                yield from (each for each in conjunctive(condition) if self.acts_at(each) == component)

    def acts_at(self, conjunct: Expression) -> Component:
        named = {variable for variable, _ in references(conjunct)}
        inside = [component for component in self.components if component.variable in named]
        return next((component for component in inside if component.negated), inside[-1])

    def tested(self) -> tuple[Key, ...]:
        """What all events of a match agree in: equivalence tests, and PARTITION BY."""
        found: list[Key] = []
        for condition in self.all_conditions():
            if isinstance(condition, Equivalence):
                found += condition.attributes
            elif isinstance(condition, PartitionBy):
                found += condition.keys
        return tuple(dict.fromkeys(found))

    def partition(self) -> tuple[Key, ...]:
        """What makes a partition: the keys of PARTITION BY, without it the attributes of the equivalence tests."""
        by = [key for each in self.all_conditions() if isinstance(each, PartitionBy) for key in each.keys]
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
        case IsNull(operand, _) | Like(operand) | Not(operand):
            return references(operand)
        case In(operand, choices):
            return [each for part in (operand, *choices) for each in references(part)]
        case Call(_, arguments):
            return [each for part in arguments for each in references(part)]
    return []


def spelt_out(expression: In) -> Expression:
    """IN says that one of the comparisons is true."""
    tests: list[Expression] = [Compare("=", expression.operand, choice) for choice in expression.choices]
    either = reduce(Or, tests)
    return Not(either) if expression.negated else either


def conjunctive(condition: Expression) -> list[Expression]:
    """The conjuncts of a condition, each of them predicates and their negations with OR between."""
    return [reduce(Or, clause) for clause in _clauses(condition, negated=False)]


def _clauses(formula: Expression, *, negated: bool) -> list[tuple[Expression, ...]]:
    match formula:
        case In():
            return _clauses(spelt_out(formula), negated=negated)
        case Not(operand):
            return _clauses(operand, negated=not negated)
        case And(left, right) | Or(left, right):
            sides = _clauses(left, negated=negated), _clauses(right, negated=negated)
            if isinstance(formula, And) != negated:
                return [*sides[0], *sides[1]]
            return [(*one, *other) for one, other in product(*sides)]
        case predicate:
            return [(Not(predicate) if negated else predicate,)]


def mapped(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with every part changed, from within."""

    def inside(part: Expression) -> Expression:
        return mapped(part, change)

    match expression:
        case Arithmetic(sign, left, right):
            return change(Arithmetic(sign, inside(left), inside(right)))
        case Compare(sign, left, right):
            return change(Compare(sign, inside(left), inside(right)))
        case IsNull(operand, negated):
            return change(IsNull(inside(operand), negated))
        case In(operand, choices, negated):
            return change(In(inside(operand), tuple(map(inside, choices)), negated))
        case Like(operand, pattern, negated):
            return change(Like(inside(operand), pattern, negated))
        case Call(function, arguments):
            return change(Call(function, tuple(map(inside, arguments))))
        case And(left, right):
            return change(And(inside(left), inside(right)))
        case Or(left, right):
            return change(Or(inside(left), inside(right)))
        case Not(operand):
            return change(Not(inside(operand)))
        case Constant() | Attribute() | Length() | Aggregate():
            return change(expression)


def parts(expression: Expression) -> list[Expression]:
    """The expression and all that it is made of."""
    found: list[Expression] = []

    def keep(part: Expression) -> Expression:
        found.append(part)
        return part

    mapped(expression, keep)
    return found


def rewritten(query: Query, change: Callable[[Expression], Expression]) -> Query:
    """The query with every part of its conditions and of what it gives changed."""

    def condition(each: Condition) -> Condition:
        return each if isinstance(each, Equivalence | PartitionBy) else mapped(each, change)

    def item(each: Item) -> Item:
        return each if isinstance(each.what, Sequence | Composite) else Item(mapped(each.what, change), each.name)

    return replace(
        query,
        groups=tuple(replace(each, conditions=tuple(map(condition, each.conditions))) for each in query.groups),
        conditions=tuple(map(condition, query.conditions)),
        having=None if query.having is None else mapped(query.having, change),
        returns=tuple(map(item, query.returns)),
    )


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
