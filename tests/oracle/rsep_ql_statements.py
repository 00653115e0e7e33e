"""Random RSEP-QL queries, of few terms, so that joins happen.

`:p` has numbers as objects, `:q` has IRIs, `:r` has both. Of the variables, x, y, z are things, n, m and k… numbers, b…
booleans, g a named graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from oracle.ep_sparql_query import Either, Inverse, Path, Repeat, Slot, Steps
from oracle.rsep_ql_query import (
    Aggregate,
    And,
    Apart,
    Arithmetic,
    Ask,
    At,
    Bind,
    Bound,
    Coalesce,
    Column,
    Compare,
    Construct,
    Element,
    Event,
    EventDefinition,
    EventPattern,
    Every,
    Exists,
    Expression,
    Filter,
    First,
    Form,
    Group,
    Identity,
    If,
    InGraph,
    Interval,
    InWindow,
    Key,
    Landmark,
    Last,
    Match,
    Minus,
    NamedWindow,
    Not,
    Now,
    OnClose,
    OnContent,
    OnNonEmpty,
    Optional,
    Or,
    Order,
    Output,
    Pattern,
    Policy,
    Query,
    Range,
    Report,
    Select,
    Seq,
    SubSelect,
    Triples,
    Union,
    Values,
    WindowFunction,
    in_scope,
)
from oracle.terms import Blank, Iri, Literal, Var, decimal, double, integer, moment, single

P, Q, R, OUT = (Iri(name) for name in ("p", "q", "r", "o"))
THINGS = tuple(Iri(name) for name in "abc")
NUMBERS = tuple(integer(value) for value in (1, 2, 3))
DOUBLES = (double("1.0E-1"), double("1.0E16"), double("2.0E-1"), double("1.0E-3"), integer(1), decimal("0.1"))
SINGLES = (single("1.0E-1"), single("1.0E10"), integer(16777217), decimal("0.1"), integer(2))
MIXED = (*NUMBERS, double("1.0E-1"), single("1.0E-1"), decimal("0.1"), double("-1.0E16"), double("1.0E0"))
THING_NAMES = ("x", "y", "z")
NUMBER_NAMES = ("n", "m")
FIRST_TIME, LAST_TIME = -2, 9


@dataclass(frozen=True)
class Options:
    """What cases may have. `patterns` bounds the triple patterns of a query outside EXISTS."""

    matches: bool = True
    windows: bool = True
    policies: tuple[Policy | None, ...] = (None, None, *Policy, *Policy, Policy.CHRONOLOGICAL, Policy.RECENT)
    outputs: tuple[Output | None, ...] = (None, None, None, *Output, *Output, Output.ISTREAM)
    constructs: bool = True
    asks: bool = True
    aggregates: bool = True
    aggregated: int = 25  # of a hundred queries
    modifiers: bool = True
    sub_selects: bool = True
    exists: bool = True
    paths: bool = True
    graphs: bool = True
    background: bool = True
    blanks: bool = True
    intervals: bool = True
    several_streams: bool = True
    reports: bool = True
    presets: bool = True
    doubles: int = 25  # of a hundred cases
    dates: int = 0  # of a hundred cases
    patterns: int = 6
    most_events: int = 9


Item = TypeVar("Item")


class Maker:
    """Draws a query. `number(least, most)` draws an integer; all else is drawn by it, and 0 is the simplest choice.

    `left` counts the triple patterns that it may still have, `exists` the EXISTS.
    """

    def __init__(self, number: Callable[[int, int], int], options: Options) -> None:
        self.number = number
        self.options = options
        self.left = options.patterns
        self.made = 0
        self.numbers: tuple[Literal, ...] = NUMBERS
        if options.doubles and self.chance(options.doubles):
            self.numbers = self.pick((DOUBLES, MIXED, SINGLES))
        self.dates = bool(options.dates) and self.chance(options.dates)
        self.labels = 0
        self.exists = 2 if options.exists else 0
        self.windows: tuple[NamedWindow, ...] = ()
        self.events: tuple[EventDefinition, ...] = ()
        self.named_graphs: tuple[str, ...] = ()
        self.default = False

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in items]

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def fresh(self, letter: str = "k") -> str:
        self.made += 1
        return f"{letter}{self.made}"

    def scope(self, elements: Sequence[Element]) -> list[str]:
        return in_scope(Group(tuple(elements)), self.events)

    # Dataset

    def window_function(self) -> WindowFunction:
        choice = self.number(0, 10)
        if choice <= 2:
            return Range(self.pick((6, 4, 3, 8, 5, 2, 1)), self.pick((1, 2, 2, 3)))
        if choice <= 4:
            return Range(self.pick((6, 4, 3, 8, 5, 2, 1)))
        if choice <= 6:
            return Landmark(self.pick((-2, 0, 1, 3)))
        if choice in (7, 10):
            first = self.pick((-2, 0, 2))
            return Interval(first, first + self.pick((8, 4, 2, 0)))
        return Identity(brackets=choice == 8)

    def dataset(self) -> None:
        streams = ("S", "S", "T") if self.options.several_streams and self.chance(40) else ("S",)
        count = self.pick((1, 2, 2, 3))
        self.windows = tuple(
            NamedWindow(f"w{number}", self.pick(streams), self.window_function()) for number in range(1, count + 1)
        )
        if self.chance(20):  # so that the default report policy is close
            self.windows = tuple(
                replace(window, function=Range(self.pick((6, 4, 3)), self.pick((1, 2, 3)))) for window in self.windows
            )
        if self.options.graphs and self.chance(35):
            self.named_graphs = self.pick((("g",), ("g", "h")))
        self.default = self.options.background and self.chance(40)

    def report(self) -> Report:
        """A clause."""
        found: Report = self.pick((OnContent(), self.close(), Every(self.number(1, 4)), At(self.times())))
        return found

    def close(self) -> Report:
        has_slide = any(isinstance(each.function, Range) and each.function.slide for each in self.windows)
        return self.pick((OnClose(), OnNonEmpty())) if has_slide else Every(self.number(1, 3))

    def times(self) -> tuple[int, ...]:
        late = (self.number(4, LAST_TIME + 1),)
        return tuple(self.number(FIRST_TIME - 1, LAST_TIME + 3) for _ in range(self.pick((1, 2, 3, 4)))) + late

    def option(self) -> str | int | list[int]:
        match self.report():
            case OnContent():
                return "content"
            case OnClose():
                return "close"
            case OnNonEmpty():
                return "non_empty_content"
            case Every(period):
                return period
            case At(times):
                return list(times)

    # Patterns

    def thing(self) -> Slot:
        if self.chance(4):
            self.labels += 1
            return Blank(f"l{self.labels}")
        return self.pick(THINGS) if self.chance(8) else Var(self.pick(("x", "x", "y", "y", "z")))

    def quantity(self) -> Slot:
        return self.pick(self.numbers) if self.chance(10) else Var(self.pick(("n", "n", "m")))

    def pattern(self) -> Pattern:
        self.left -= 1
        subject = self.thing()
        if self.options.paths and self.chance(6):
            return Pattern(subject, self.path(), self.thing())
        if self.chance(4):
            return Pattern(subject, Var("w"), self.thing())
        predicate = self.pick((P, P, Q, Q, R))
        numeric = predicate == P or (predicate == R and self.chance(50))
        found = self.quantity() if numeric else self.thing()
        if found == subject and self.chance(80):
            found = Var("z" if subject == Var("y") else "y")
        return Pattern(subject, predicate, found)

    def path(self) -> Path:
        step, other = self.pick((Q, Q, R)), self.pick((Q, R, P))
        simple = self.pick((Inverse(step), Steps(step, other), Either(step, other), Steps(step, Inverse(other))))
        repeated = Repeat(self.pick((step, simple)), self.pick(("+", "*", "?")))
        found: Path = self.pick((simple, repeated, repeated, Steps(repeated, other), Either(step, repeated)))
        return found

    def triples(self) -> Triples:
        count = self.pick((1, 1, 2)) if self.left > 1 else 1
        return Triples(tuple(self.pattern() for _ in range(count)))

    # Expressions

    def numeric(self, names: Sequence[str], depth: int = 1) -> Expression:
        known = [name for name in names if name[0] in "nmk"]
        choice = self.number(0, 9)
        if choice <= 4 and known:
            return Var(self.pick(known))
        if choice <= 6:
            return integer(self.pick((1, 2, 3, 0)))
        if choice == 7 and not self.dates:
            return Now()
        if depth and choice == 8:
            return Arithmetic(self.pick(("+", "-", "*")), self.numeric(names, 0), self.numeric(names, 0))
        plain = [name for name in names if name[0] not in "bt"]
        if choice == 9 and plain:
            return Coalesce((Var(self.pick(plain)), self.numeric(names, 0)))
        return integer(self.number(1, 3))

    def condition(self, names: Sequence[str], depth: int = 1) -> Expression:
        """`names` is not empty."""
        choice = self.pick((0, 0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 6, 6, 7, 8))
        if choice == 1 or (self.dates and choice == 0):
            return self.time_condition(names)
        if choice == 2:
            name = self.pick(names)
            others = [*THINGS, *(Var(other) for other in names if other != name)]
            return Compare(self.pick(("!=", "!=", "!=", "=")), Var(name), self.pick(others))
        if choice == 3 and self.chance(50):
            return Not(Bound(Var(self.pick(names))))
        if choice == 4:
            return Bound(Var(self.pick(names)))
        if depth and choice == 5:
            sides = (self.condition(names, 0), self.condition(names, 0))
            return And(*sides) if self.chance(50) else Or(*sides)
        if depth and choice == 6 and self.exists:
            self.exists -= 1
            found = Exists(self.exists_group(names))
            return Not(found) if self.chance(50) else found
        if depth and choice == 7:
            return If(self.condition(names, 0), self.condition(names, 0), self.condition(names, 0))
        if choice == 8:
            product = Arithmetic(self.pick(("*", "/")), self.numeric(names), self.pick((decimal("1.5"), integer(2))))
            return Compare(self.pick(("<", ">", "<=")), product, self.numeric(names))
        left, right = self.numeric(names), self.numeric(names)
        return Compare(self.pick(("<=", "<", ">", "!=", ">=")), left, integer(2) if left == right else right)

    def time_condition(self, names: Sequence[str]) -> Expression:
        """NOW() and, of dates, what START and END bind, against a time, another of these, or a length of time."""
        times: list[Var | Now] = [Now(), *(Var(name) for name in names if name[0] == "t")]
        operator, one = self.pick(("<=", ">=", "<", "=")), self.pick(times[-2:])
        if self.dates and self.chance(50):
            return Apart(operator, one, self.pick(times), self.number(0, 4))
        if self.dates and self.chance(20):
            return Compare(operator, one, self.pick((*times, integer(1))))
        time = self.number(0, LAST_TIME)
        return Compare(operator, one, moment(time) if self.dates else integer(time))

    def exists_group(self, names: Sequence[str]) -> Group:
        """No MINUS, BIND, VALUES or sub-select, of which SPARQL leaves open how EXISTS substitutes in them."""
        left = self.left
        elements: list[Element] = [self.triples()]
        if self.chance(20):
            elements = [Union((Group((self.triples(),)), Group((self.triples(),))))]
        if self.chance(15):
            elements.append(Optional(Group((self.triples(),))))
        seen = [*dict.fromkeys([*self.scope(elements), *names])]
        if seen and self.chance(30):
            elements.append(Filter(self.condition(seen, 0)))
        self.left = left
        return Group(tuple(elements))

    # Groups of SPARQL over one graph

    def group(self, depth: int, extras: Sequence[int] = (0, 0, 1, 1, 2)) -> Group:
        elements: list[Element] = [self.triples() if self.left > 0 else self.values()]
        for _ in range(self.pick(extras)):
            elements.append(self.extra(elements, depth))
        names = self.scope(elements)
        if names and self.chance(16):
            elements.insert(self.number(0, len(elements)), Filter(self.condition(names)))
        return Group(tuple(elements))

    def extra(self, before: list[Element], depth: int) -> Element:
        names = self.scope(before)
        choice = self.number(0, 12)
        if depth == 0 or self.left <= 0:
            choice = self.pick((0, 1, 11))
        if choice <= 0:
            return self.bind(names)
        if choice <= 1:
            return self.values()
        if choice <= 4:
            return Optional(self.group(depth - 1, (0, 0, 1)))
        if choice <= 6:
            return Minus(self.group(depth - 1, (0,)))
        if choice <= 8:
            return Union((self.group(depth - 1, (0,)), self.group(depth - 1, (0,))))
        if choice == 9 and self.options.sub_selects:
            return SubSelect(self.select(self.group(depth - 1, (0,)), inner=True))
        if choice == 10 and self.named_graphs:
            return self.in_graph(depth)
        return self.triples() if self.left > 0 else self.bind(names)

    def in_graph(self, depth: int) -> InGraph:
        graph = Var("g") if self.chance(40) else Iri(self.pick(self.named_graphs))
        return InGraph(graph, self.group(max(0, depth - 1), (0, 0, 0, 1)))

    def bind(self, names: Sequence[str]) -> Bind:
        if names and self.chance(15):
            return Bind(self.condition(names), self.fresh("b"))
        free = [name for name in NUMBER_NAMES if name not in names]
        return Bind(self.numeric(names), self.pick(free) if free and self.chance(30) else self.fresh())

    def values(self) -> Values:
        name, terms = self.pick((("x", THINGS), ("n", self.numbers), ("y", THINGS)))
        return Values((name,), tuple((self.pick((*terms, *terms, None)),) for _ in range(self.number(1, 2))))

    # Event patterns

    def define_events(self) -> None:
        for number in range(1, self.pick((2, 2, 1, 2, 3)) + 1):
            window = self.pick(self.windows).name
            group = self.event_group()
            self.events += (EventDefinition(f"E{number}", window, group, *self.event_times(group)),)

    def event_times(self, group: Group) -> tuple[str | None, str | None]:
        """The variables of START and END; seldom ones that other patterns have, too. Those of dates are t…"""
        if not self.chance(60 if self.dates else 30):
            return None, None
        shared = ("t",) if self.dates else NUMBER_NAMES
        letter = "t" if self.dates else "k"
        free = [name for name in shared if name not in in_scope(group)]
        names = [self.pick(free) if free and self.chance(15) else self.fresh(letter), self.fresh(letter)]
        start, end = self.pick(((None, names[0]), (names[1], names[0]), (names[0], None)))
        return start, end

    def event_group(self) -> Group:
        """One triple pattern most of the time."""
        elements: list[Element] = [Triples((self.pattern(),)) if self.chance(75) else self.triples()]
        if self.chance(15):
            inner = Group((self.triples(),))
            elements.append(self.pick((Optional(inner), Optional(inner), Minus(inner))))
        if self.named_graphs and self.left > 0 and self.chance(30):
            elements.append(self.in_graph(0))
        if self.chance(6):
            elements.append(self.bind(self.scope(elements)))
        if self.chance(9) and self.left > 0:
            elements.append(Union((Group((self.triples(),)), Group((self.triples(),)))))
        names = self.scope(elements)
        if names and self.chance(7):
            elements.append(Filter(self.condition(names)))
        return Group(tuple(elements))

    def match(self) -> Match:
        count = self.pick((1, 2, 2, 2, 2, 3))
        pattern = self.event_operand(0, nested=False)
        for number in range(1, count):
            pattern = Seq(pattern, self.event_operand(number, nested=number == 1 and count == 2), self.policy())
        if count > 1 and self.chance(15):
            pattern = self.pick((First, Last))(pattern)
        return Match(pattern)

    def policy(self) -> Policy | None:
        found: Policy | None = self.pick(self.options.policies)
        return found

    def event(self, number: int) -> Event:
        """The definitions in their order, most of the time."""
        return Event(self.pick(self.events).name if self.chance(25) else self.events[number % len(self.events)].name)

    def event_operand(self, number: int, *, nested: bool) -> EventPattern:
        found: EventPattern = self.event(number)
        if nested and self.chance(20):
            found = Seq(found, self.event(number + 1), self.policy())
        kinds = (Last, First, Last) if number else (First, Last)  # the first E2 has no partner most of the time
        return self.pick(kinds)(found) if self.chance(22) else found

    # WHERE

    def where(self) -> Group:
        elements = [self.source()]
        for _ in range(self.pick((0, 0, 1, 0, 1, 2))):
            elements.append(self.beside(elements))
        names = self.scope(elements)
        if names and self.chance(8):
            elements.insert(self.number(0, len(elements)), Filter(self.condition(names)))
        return Group(tuple(elements))

    def source(self) -> Element:
        """MATCH or WINDOW; seldom what the default graph or a named graph answers."""
        choice = self.number(0, 99)
        if self.events and (choice < 65 or not self.options.windows):
            return self.match()
        if choice < 90 or not (self.default or self.named_graphs):
            return self.in_window(1)
        return self.triples() if self.default and self.left > 0 else self.in_graph(1) if self.named_graphs else (
            self.in_window(1)
        )  # fmt: skip

    def in_window(self, depth: int) -> InWindow:
        return InWindow(self.pick(self.windows).name, self.group(depth))

    def beside(self, before: list[Element]) -> Element:
        choice = self.number(0, 13)
        if choice <= 1:
            return self.source()
        if choice <= 5:
            return Optional(Group((self.source(),)))
        if choice == 6:
            return Minus(Group((self.source(),)))
        if choice == 7:
            return Union((Group((self.source(),)), Group((self.source(),))))
        if choice == 8 and self.exists:
            self.exists -= 1
            found = Exists(Group((self.source_of_exists(),)))
            return Filter(Not(found) if self.chance(50) else found)
        if choice == 9 and self.options.sub_selects:
            return SubSelect(self.select(Group((self.source(),)), inner=True))
        if choice == 10 and self.default and self.left > 0:
            return self.triples()
        if choice == 11 and self.named_graphs:
            return self.in_graph(1)
        if self.chance(50):
            return self.source()
        return self.values() if self.chance(20) else self.bind(self.scope(before))

    def source_of_exists(self) -> Element:
        if self.events and self.chance(40):
            return self.match()
        return InWindow(self.pick(self.windows).name, self.exists_group(()))

    # Query forms

    def select(self, where: Group, *, inner: bool) -> Select:
        if self.options.aggregates and self.chance(40 if inner else self.options.aggregated):
            return self.aggregated(where, inner=inner)
        names = in_scope(where, self.events)
        columns: tuple[Column, ...] | None = None
        if names and self.chance(60):
            columns = tuple(Column(name) for name in names if self.chance(60)) or (Column(names[0]),)
            if self.chance(20):
                columns += (Column(self.fresh(), self.numeric(names)),)
            elif self.chance(12):
                columns += (Column(self.fresh("b"), self.condition(names)),)
        shown = names if columns is None else [column.name for column in columns]
        order, limit, offset = self.modifiers(shown)
        return Select(columns, where, self.chance(18), order_by=order, limit=limit, offset=offset)

    def modifiers(self, names: Sequence[str]) -> tuple[tuple[Order, ...], int | None, int]:
        """ORDER BY all columns, so that the order is settled; and, with it, LIMIT and OFFSET."""
        if not names or not self.options.modifiers or not self.chance(18):
            return (), None, 0
        order = tuple(Order(Var(name), self.chance(40)) for name in self.shuffled(names))
        return (order, self.pick((1, 2, 3)), self.pick((0, 0, 1))) if self.chance(60) else (order, None, 0)

    def aggregated(self, where: Group, *, inner: bool) -> Select:
        """AVG stands outside only: what is rounded joins with nothing."""
        names = in_scope(where, self.events)
        keys: tuple[Key, ...] = ()
        columns: tuple[Column, ...] = ()
        if names and self.chance(50):
            name = self.pick(names)
            keys, columns = (Key(Var(name)),), (Column(name),)
        elif names and self.chance(10):
            name = self.fresh()
            keys, columns = (Key(self.numeric(names), name),), (Column(name),)
        free = [name for name in NUMBER_NAMES if name not in names]
        for _ in range(self.pick((1, 1, 2))):
            usable = [name for name in free if name not in {column.name for column in columns}]
            name = self.pick(usable) if inner and usable and self.chance(50) else self.fresh()
            columns += (Column(name, self.aggregate(names, inner=inner)),)
        having: tuple[Expression, ...] = ()
        if self.chance(20):
            limits = self.aggregate(names, inner=inner), integer(self.number(0, 2))
            having = (Compare(self.pick((">", "<=", "!=")), *limits),)
        order, limit, offset = self.modifiers([column.name for column in columns])
        return Select(columns, where, self.chance(10), keys, having, order, limit, offset)

    def aggregate(self, names: Sequence[str], *, inner: bool) -> Aggregate:
        known = [name for name in names if name[0] in "nmk"] or list(names)
        if not known or self.chance(20):
            return Aggregate("COUNT", None)
        function = self.pick(("SUM", "MIN", "MAX", "SUM", "COUNT", *(() if inner else ("AVG", "AVG"))))
        return Aggregate(function, Var(self.pick(names if self.chance(20) else known)), self.chance(30))

    def construct(self, where: Group) -> Construct:
        names = in_scope(where, self.events)
        things = [Var(name) for name in names if name[0] in "xyz"]
        values = [*map(Var, names), *map(Var, names), *THINGS, self.numbers[0]]
        label = Blank("made") if self.chance(30) else None
        template = []
        for _ in range(self.pick((1, 1, 2))):
            subject = label if label and self.chance(70) else self.pick((*things, *things, *THINGS[:1]))
            template.append(Pattern(subject, self.pick((OUT, OUT, P)), self.pick(values)))
        return Construct(tuple(template), where)

    def query(self) -> Query:
        self.dataset()
        if self.options.matches and (self.chance(85) or not self.options.windows):
            self.define_events()
        self.left = max(self.left, 3)
        where = self.where()
        construct = self.options.constructs and self.chance(12)
        form: Form = self.construct(where) if construct else self.select(where, inner=False)
        if self.options.asks and self.chance(8):
            form = Ask(where)
        graphs = (self.pick(("g", "f")),) if self.options.graphs and self.chance(8) else ()
        report = self.report() if self.options.reports and self.chance(45) else None
        return Query(
            form,
            self.windows,
            self.events,
            graphs,
            self.named_graphs,
            report,
            self.pick(self.options.outputs),
            self.dates,
        )
