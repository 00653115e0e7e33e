"""The algebra of SASE+: components of a pattern, conditions on their events, RETURN and AGGREGATE (Section
2.2, Appendix A.1).

What a predicate says of an event is in it as a variable, so that SASE+ has the expressions of all languages: the
query's `references` tell what each of them means. They have names that no other language's text can give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from thence.algebra.expressions import Expression, Variable
from thence.algebra.streams import Name, Stream, Window, window_text
from thence.algebra.variables import mentioned
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Span


class Strategy(Enum):
    """Event selection strategies (2.2.1): which events a run may ignore."""

    STRICT = "strict_contiguity"  # none
    PARTITION = "partition_contiguity"  # those of other partitions
    NEXT = "skip_till_next_match"  # those that can't be selected
    ANY = "skip_till_any_match"  # all


class EventIndex(Enum):
    """The event of a component that a reference means."""

    ALONE = ""  # a: the component has but one
    FIRST = "1"  # a[1]
    EACH = "i"  # a[i]
    BEFORE = "i-1"  # a[i-1]
    LAST = "LEN"  # a[a.LEN]


class EventRange(Enum):
    """The events of a closure that an aggregate or a sequence is over."""

    ALL = ""  # a[]
    BEFORE = "..i-1"  # a[..i-1]


class AggregateName(Enum):
    """Aggregates (2.2.4). They skip missing values."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    HIGHEST = "highest"
    LOWEST = "lowest"
    FIRST = "first"
    LAST = "last"


FUNCTIONS = {
    "abs": ("ABS", 1),
    "ceil": ("CEIL", 1),
    "floor": ("FLOOR", 1),
    "round": ("ROUND", 1),
    "lower": ("LCASE", 1),
    "upper": ("UCASE", 1),
    "length": ("STRLEN", 1),
    "contains": ("CONTAINS", 2),
    "starts_with": ("STRSTARTS", 2),
    "ends_with": ("STRENDS", 2),
}
"""Functions of a single value or two: what the algebra calls them, and how many values they take."""


@dataclass(frozen=True, slots=True)
class Computed:
    """`k % 10`: what PARTITION BY computes of each event alone. `names` are the attributes in it; a variable stands for
    each, called as `name_text` writes it. `text` is the expression as it was written, without spaces."""

    expression: Expression
    names: tuple[Name, ...]
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text


Key: TypeAlias = Name | Computed
"""The values that events of a partition share."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """`a.x`, `a[1].x`, `a[i].x`, `a[i-1].x`, `a[a.LEN].x`."""

    component: str
    index: EventIndex
    name: Name


@dataclass(frozen=True, slots=True)
class Length:
    """`a.LEN`: how many events a closure has."""

    component: str


@dataclass(frozen=True, slots=True)
class ClosureAggregate:
    """`sum(a[].x)`, `avg(a[..i-1].x)`, `highest(3, a[].x)`, `count(a[])`."""

    summary: AggregateName
    component: str
    range: EventRange
    name: Name | None  # None: of count, the events themselves
    k: int | None = None


Reference: TypeAlias = Attribute | Length | ClosureAggregate


def is_iterated(reference: Reference) -> bool:
    """Whether it has an `i`, and so another value at each event of its closure."""
    match reference:
        case Attribute(index=index):
            return index in (EventIndex.EACH, EventIndex.BEFORE)
        case ClosureAggregate(range=range):
            return range is EventRange.BEFORE
        case Length():
            return False


def is_earlier(reference: Reference) -> bool:
    """Whether it is about events before that at `i`: a condition that names both is tested from the second event on."""
    match reference:
        case Attribute(index=index):
            return index in (EventIndex.FIRST, EventIndex.BEFORE)
        case ClosureAggregate(range=range):
            return range is EventRange.BEFORE
        case Length():
            return False


def is_whole(reference: Reference) -> bool:
    """Whether it is about a whole closure, and so is known once that has ended."""
    match reference:
        case Attribute(index=index):
            return index is EventIndex.LAST
        case ClosureAggregate(range=range):
            return range is EventRange.ALL
        case Length():
            return True


@dataclass(frozen=True, slots=True)
class Component:
    """A part of SEQ: `T a`, `T+ a[]`, negated `~T a`, `~(T+ a[])`. The type None is ANY, which every event has."""

    type: Name | None
    variable: str
    closure: bool = False
    negated: bool = False
    strategy: Strategy = Strategy.NEXT
    cut: bool = False  # `!`: the closure stops where it first can


@dataclass(frozen=True, slots=True)
class ValueSequence:
    """`a[].x`: the values of a closure's events, in order."""

    component: str
    name: Name


@dataclass(frozen=True, slots=True)
class Composite:
    """`b.(x, y)`, or of each event of a closure, `a[].(x, y)`."""

    component: str
    index: EventIndex | None  # None: of each
    names: tuple[Name, ...]


ReturnedValue: TypeAlias = Expression | ValueSequence | Composite


@dataclass(frozen=True, slots=True)
class ReturnItem:
    """A value of RETURN and its name."""

    name: str
    given: ReturnedValue


@dataclass(frozen=True, slots=True)
class Return:
    """`RETURN items`; as an event of the type `type`, in the stream `stream`, where others read it."""

    items: tuple[ReturnItem, ...]
    type: str | None = None
    stream: str | None = None


@dataclass(frozen=True, slots=True)
class MatchAggregate:
    """`count(*)`, or an aggregate over an attribute of all matches' events."""

    name: str
    summary: AggregateName
    of: Attribute | ValueSequence | None


@dataclass(frozen=True, slots=True)
class MatchAggregates:
    """`AGGREGATE totals BY keys`: over all matches, without giving them one by one."""

    totals: tuple[MatchAggregate, ...]
    by: tuple[Key, ...] = ()


UNNAMED = "events"
"""The stream that a block without FROM reads."""


@dataclass(frozen=True, slots=True)
class ComponentQuery:
    """A block of a SASE+ query. `conditions` are in conjunctive form: each acts at the last component that it names.
    `equal` are the equivalence tests, `partition` is what PARTITION BY names."""

    components: tuple[Component, ...]
    form: Return | MatchAggregates
    streams: tuple[str, ...] = ()
    conditions: tuple[Expression, ...] = ()
    equal: tuple[Name, ...] = ()
    partition: tuple[Key, ...] = ()
    window: Span | None = None
    having: Expression | None = None
    references: Mapping[Variable, Reference] = field(default_factory=dict)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    namespace: str = field(default=DEFAULT_NAMESPACE, compare=False)
    domain: Domain | None = field(default=None, compare=False)  # the kind of time, where the text decides it

    @property
    def sources(self) -> tuple[Stream, ...]:
        """The streams that it reads: one that needs no name, where FROM names none."""
        return tuple(Stream(name, IRI(self.namespace + name)) for name in self.streams or (UNNAMED,))

    @property
    def positive(self) -> tuple[Component, ...]:
        """The components whose events a match has."""
        return tuple(component for component in self.components if not component.negated)

    @property
    def tested(self) -> tuple[Key, ...]:
        """The attributes that are equal in all events of a match."""
        return tuple(dict.fromkeys((*self.equal, *self.partition)))

    @property
    def parted(self) -> tuple[Key, ...]:
        """The attributes that are equal in all events of a partition."""
        return self.partition or self.equal

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of RETURN or AGGREGATE, by name."""
        if isinstance(self.form, Return):
            return tuple(item.name for item in self.form.items)
        return (*map(str, self.form.by), *(total.name for total in self.form.totals))

    def component(self, variable: str) -> Component:
        """The component of that variable."""
        return next(each for each in self.components if each.variable == variable)

    def place(self, variable: str) -> int:
        """The number of a variable's component in SEQ, from 0."""
        return next(number for number, each in enumerate(self.components) if each.variable == variable)


@dataclass(frozen=True, slots=True)
class UnionQuery:
    """`block UNION block …`: all their rows, columns by name."""

    blocks: tuple[ComponentQuery, ...]


@dataclass(frozen=True, slots=True)
class ComposedQuery:
    """The queries of a text, each after those whose streams it reads; the last one's rows are the answer."""

    queries: tuple[UnionQuery, ...]
    demand: tuple[Domain, str] | None = field(default=None, compare=False)
    """The kind of time that its first condition or value with one needs, and the words that do."""

    @property
    def blocks(self) -> tuple[ComponentQuery, ...]:
        return tuple(block for query in self.queries for block in query.blocks)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that it reads, and does not make itself."""
        forms = (block.form for block in self.blocks)
        made = {form.stream for form in forms if isinstance(form, Return)}
        found = dict.fromkeys(stream for block in self.blocks for stream in block.sources)
        return tuple(stream for stream in found if stream.name not in made)

    @property
    def time_kind(self) -> tuple[Domain, str] | None:
        """That of the first block with WITHIN, else what values demand."""
        window = next((Window(block.window) for block in self.blocks if block.window is not None), None)
        return self.demand if window is None else (window.span.domain, window_text(window))

    @property
    def namespace(self) -> str:
        return self.queries[-1].blocks[0].namespace

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(warning for block in self.blocks for warning in block.warnings))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the answer's rows, by name."""
        return tuple(dict.fromkeys(name for block in self.queries[-1].blocks for name in block.columns))


# Which component of SASE+ a condition acts at, and what it says of that component's events (2.2.3).


def acts_at(query: ComponentQuery, condition: Expression) -> Component:
    """The component at which a conjunct acts: the negated one that it names, else the last."""
    named = {query.references[variable].component for variable in mentioned(condition)}
    listed = [component for component in query.components if component.variable in named]
    return next((component for component in listed if component.negated), listed[-1])


def own_references(query: ComponentQuery, condition: Expression, component: Component) -> list[Reference]:
    """The references of a conjunct to a component's own events."""
    references = (query.references[variable] for variable in mentioned(condition))
    return [reference for reference in references if reference.component == component.variable]
