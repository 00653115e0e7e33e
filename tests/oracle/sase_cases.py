"""Random SASE+ cases: a legal query and a stream of at most seven events over small domains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from hypothesis import strategies as st

from oracle.sase_conditions import ATTRIBUTES, conjuncts, having, items, one_in
from oracle.sase_legal import problems
from oracle.sase_query import (
    ANY,
    OWN,
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Chosen,
    Compare,
    Component,
    Condition,
    Constant,
    Equivalence,
    Event,
    Expression,
    Group,
    Index,
    IsNull,
    Item,
    Length,
    PartitionBy,
    Query,
    Span,
    Strategy,
)
from oracle.sase_runs import has_end_condition
from oracle.sase_static import mended
from strategies.choices import seeded

TYPES = "ABC"
VARIABLES = "abcdefgh"
LENGTHS = ((0,), (0,), (0,), (0, 1, 3), (4, 2, 1, 0), (1, 0, 0, 5, 2))
"""How long the events of a stream last, one after the other and again from the beginning."""

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Case:
    query: Query
    events: tuple[Event, ...]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A query with RETURN, and a stream."""
    query = draw(queries())
    return Case(query, draw(streams(query)))


@st.composite
def tied_cases(draw: st.DrawFn, *, totals: bool = False) -> list[Case]:
    """A query with a strategy for each variable, and streams with many events of one time, in either order."""
    mixed = mixed_queries()
    query = draw(aggregate_queries(mixed, plain=True) if totals else mixed)
    given = [draw(tied_streams(query)) for _ in range(3)]
    turned = [tuple(sorted(events, key=lambda event: -event.time)[::-1]) for events in given]
    return [Case(query, events) for events in (*given, *turned)]


@st.composite
def unended_cases(draw: st.DrawFn, *, totals: bool = False) -> Case:
    """A query whose last closure an event stops, or the end of the input; and a stream with several keys."""
    unended = unended_queries()
    query = draw(aggregate_queries(unended, plain=True) if totals else unended)
    choices = draw(seeded(lambda choices: choices))
    events = [
        replace(event, attributes=(*(each for each in event.attributes if each[0] != "k"), ("k", choices.number(1, 3))))
        for event in draw(streams(query))
    ]
    return Case(query, tuple(events))


@st.composite
def aggregate_cases(draw: st.DrawFn, *, plain: bool = False) -> Case:
    """A query with AGGREGATE, and a stream. `plain`: variables that are no closures are aggregated too."""
    query = draw(aggregate_queries(queries(), plain=plain))
    return Case(query, draw(streams(query)))


@st.composite
def aggregate_queries(draw: st.DrawFn, of: st.SearchStrategy[Query], *, plain: bool = False) -> Query:
    query = draw(of)
    over = [component for component in query.positives if component.closure or plain]
    whats = [Aggregate("count")]
    for component in draw(st.lists(st.sampled_from(over), max_size=3)) if over else []:
        function = draw(st.sampled_from(["sum", "min", "max", "avg", "count"]))
        span = Span.ALL if component.closure else Span.PLAIN
        whats.append(Aggregate(function, component.variable, draw(st.sampled_from(ATTRIBUTES)), span))
    columns = tuple(Item(what, f"n{number}") for number, what in enumerate(whats))
    by = query.tested()[:1] if draw(st.booleans()) else ()
    return replace(query, having=None, returns=columns, aggregates=True, by=by)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Whatever needs a window, a test or an end condition is given one."""
    components = draw(patterns())
    groups = draw(strategies(components))
    tests = draw(equivalences(needed=any(group.strategy is Strategy.PARTITION for group in groups)))
    conditions: list[Condition] = [*tests, *draw(conjuncts(components))]
    groups, outside = _placed(draw, groups, conditions)
    query = mended(Query(components, groups, outside, draw(st.sampled_from([None, None, 6, 5, 4, 3, 2, 1]))))
    query = draw(stops(query))
    if problems(query):  # only a window can be what is missing
        query = replace(query, within=draw(st.sampled_from([6, 5, 4, 3, 2])))
    query = mended(replace(query, having=draw(having(query)), returns=draw(items(query))))
    assert not problems(query), problems(query)
    return query


@st.composite
def unended_queries(draw: st.DrawFn) -> Query:
    """A last closure under contiguity, without end condition and window."""
    choices = draw(seeded(lambda choices: choices))
    kinds = choices.pick([(True,), (True,), (False, True), (True, True), (False, False, True)])
    components = tuple(
        Component(choices.pick([*TYPES, *TYPES, ANY]), variable, closure)
        for variable, closure in zip(VARIABLES, kinds, strict=False)
    )
    last = choices.pick([Strategy.STRICT, Strategy.PARTITION, Strategy.PARTITION])
    ways = [*(choices.pick([*Strategy]) for _ in components[1:]), last]
    groups = tuple(Group(way, (Chosen(each.variable),)) for way, each in zip(ways, components, strict=True))
    tests = draw(equivalences(needed=Strategy.PARTITION in ways))
    query = Query(components, groups, tuple(tests), None)
    asked = mended(replace(query, conditions=(*tests, *draw(conjuncts(components)))))
    query = query if has_end_condition(asked, components[-1]) else asked
    query = mended(replace(query, returns=draw(items(query))))
    assert not problems(query), problems(query)
    return query


@st.composite
def mixed_queries(draw: st.DrawFn) -> Query:
    """A closure and what follows it, each variable with its own strategy, `!` more often than not; few conditions."""
    choices = draw(seeded(lambda choices: choices))
    shapes = [(True, False)] * 6 + [(True, True), (True, False, False), (False, True, False), (True,), (False, True)]
    components = tuple(
        Component(choices.pick([kind] * 9 + ["A", "B", ANY]), variable, closure)
        for variable, kind, closure in zip(VARIABLES, "ABA", choices.pick(shapes), strict=False)
    )
    ways = [Strategy.ANY, Strategy.NEXT, Strategy.ANY, Strategy.STRICT, Strategy.NEXT, Strategy.PARTITION]
    groups = tuple(Group(choices.pick(ways), (Chosen(each.variable),)) for each in components)
    needed = any(group.strategy is Strategy.PARTITION for group in groups)
    tests = draw(equivalences(needed=needed)) if needed or choices.number(1, 6) == 1 else []
    asked = draw(conjuncts(components)) if choices.number(1, 6) == 1 else []
    query = mended(Query(components, groups, (*tests, *asked), choices.pick([None, None, None, None, 5, 3])))
    query = draw(stops(query, always=True)) if choices.number(1, 4) > 1 else query
    if problems(query):  # only a window can be what is missing
        query = replace(query, within=choices.pick([5, 3]))
    query = replace(query, returns=(Item(Length(next(c.variable for c in components if c.closure)), "n"),))
    assert not problems(query), problems(query)
    return query


@st.composite
def patterns(draw: st.DrawFn) -> tuple[Component, ...]:
    """One to three components, up to two of them closures, and now and then negations after them."""
    count = draw(st.sampled_from([1, 2, 2, 2, 3]))
    closures = draw(st.sets(st.integers(0, count - 1), max_size=2))
    kinds = [(place in closures, False) for place in range(count)]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        kinds.insert(draw(st.integers(1, len(kinds))), (draw(one_in(2)), True))
    return tuple(
        Component(ANY if draw(one_in(10)) else draw(st.sampled_from(TYPES)), variable, closure, negated)
        for variable, (closure, negated) in zip(VARIABLES, kinds, strict=False)
    )


@st.composite
def strategies(draw: st.DrawFn, components: tuple[Component, ...]) -> tuple[Group, ...]:
    """None, one for all, or one for each variable; those of equal strategy stand in one group."""
    able = [component.variable for component in components if component.closure or not component.negated]
    positive = [component.variable for component in components if not component.negated]
    if draw(one_in(4)):
        return ()
    if draw(st.booleans()):
        return (Group(draw(st.sampled_from(Strategy)), tuple(map(Chosen, positive))),)
    given = {variable: draw(st.sampled_from([None, *Strategy])) for variable in able}
    return tuple(
        Group(strategy, tuple(Chosen(variable) for variable in able if given[variable] is strategy))
        for strategy in dict.fromkeys(given.values())
        if strategy is not None
    )


def own(name: str) -> Attribute:
    """An attribute of each event."""
    return Attribute(OWN, Index.PLAIN, name)


COMPUTED: tuple[Expression, ...] = (
    Arithmetic("%", own("x"), Constant(2)),
    Arithmetic("%", own("k"), Constant(2)),
    Arithmetic("+", own("k"), Constant(1)),
    Arithmetic("-", own("y"), own("x")),
    Arithmetic("/", own("k"), Constant(2)),
    Arithmetic("*", Constant(Decimal("0.5")), own("k")),
    Arithmetic("%", own("time"), Constant(3)),
    Call("lower", (own("k"),)),
    Call("floor", (own("x"),)),
    Compare(">", own("x"), Constant(1)),
    IsNull(own("y")),
)
"""What PARTITION BY may compute."""


@st.composite
def equivalences(draw: st.DrawFn, *, needed: bool) -> list[Condition]:
    choices: list[list[Condition]] = [
        [Equivalence(("k",))],
        [Equivalence(("k",))],
        [PartitionBy(("k",))],
        [Equivalence(("k", "y"))],
        [Equivalence(("y",)), PartitionBy(("k",))],
    ]
    computed = draw(st.sampled_from(COMPUTED))
    choices += [
        [PartitionBy((computed,))],
        [PartitionBy((computed,))],
        [PartitionBy(("k", computed))],
        [Equivalence(("k",)), PartitionBy((computed,))],
    ]
    return draw(st.sampled_from(choices if needed else [*[[]] * 8, *choices]))


@st.composite
def stops(draw: st.DrawFn, query: Query, *, always: bool = False) -> Query:
    """`!`, where there is something to stop at, on some of the closures that have a strategy, or on all of them."""
    able = {
        component.variable
        for component in query.positives
        if component.closure and (component != query.positives[-1] or has_end_condition(query, component))
    }

    def cut(chosen: Chosen) -> Chosen:
        return replace(chosen, stop=chosen.variable in able and (always or not draw(one_in(3))))

    groups = [replace(group, chosen=tuple(map(cut, group.chosen))) for group in query.groups]
    return replace(query, groups=tuple(groups))


def _placed(
    draw: st.DrawFn, groups: tuple[Group, ...], conditions: list[Condition]
) -> tuple[tuple[Group, ...], tuple[Condition, ...]]:
    """Conditions put into groups and outside of them, at random."""
    places = [draw(st.integers(0, len(groups))) if draw(one_in(4)) else 0 for _ in conditions]

    def at(place: int) -> tuple[Condition, ...]:
        return tuple(condition for condition, where in zip(conditions, places, strict=True) if where == place)

    placed = tuple(replace(group, conditions=at(number)) for number, group in enumerate(groups))
    return placed, at(len(groups))


@st.composite
def streams(draw: st.DrawFn, query: Query) -> tuple[Event, ...]:
    """Types as the pattern asks for them, with others in between; times from 0 to 6, with ties; in half of the streams
    some events last longer than a moment."""
    kinds = []
    for component in query.positives:
        count = draw(st.sampled_from([1, 2, 2, 3])) if component.closure else 1
        kinds += [draw(st.sampled_from(TYPES)) if component.type == ANY else component.type for _ in range(count)]
    for _ in range(draw(st.integers(0, 4))):
        kinds.insert(draw(st.integers(0, len(kinds))), draw(st.sampled_from([*kinds, *TYPES])))
    time, events = draw(st.sampled_from([0, 0, 1])), []
    usual = draw(st.sampled_from([USUAL, ROUGH])) if _adds(query) else USUAL
    lengths = draw(st.sampled_from(LENGTHS))
    for number, kind in enumerate(kinds[:7], start=1):
        events.append(
            Event(kind, min(time, 6), tuple(_attributes(draw, usual)), f"e{number}", lengths[number % len(lengths)])
        )
        time += draw(st.sampled_from([1, 1, 1, 1, 0, 2]))
    return tuple(events)


@st.composite
def tied_streams(draw: st.DrawFn, query: Query) -> tuple[Event, ...]:
    """Five or six instants of one to three events each, in every order at the source; nine events at most."""
    choices = draw(seeded(lambda choices: choices))
    asked = any(any(query.conjuncts(component)) for component in query.components)
    events: list[Event] = []
    for time in range(choices.number(5, 6)):
        for _ in range(choices.pick([1, 2, 1, 2, 3])):
            values = tuple(_attributes(draw)) if asked else (("k", choices.pick([1, 1, 1, 2])),)
            events.append(Event(choices.pick("ABBABABC"), time, values, f"e{len(events) + 1}"))
    return tuple(events[:9])


def _adds(query: Query) -> bool:
    """Whether a sum or an average is asked for anywhere."""
    return any(f"Aggregate(function={name!r}" in repr(query) for name in ("sum", "avg"))


USUAL: list[int | float] = [1, 2, 0, 2, 1, 3] * 5
ROUGH: list[int | float] = [1e16, 0.1, -1e16, 1.0, 0.2, 1, 0.3, 1e16, 1.0, -1e16] * 3
"""Numbers whose sums depend on what is rounded when (C-31)."""


def _attributes(draw: st.DrawFn, usual: list[int | float] = USUAL) -> Iterator[tuple[str, int | float | str | bool]]:
    """Integers mostly; now and then a float between two of them, a string, or nothing."""
    for name in ATTRIBUTES:
        value = draw(st.sampled_from([*usual, 1.5, "u", None]))
        if value is not None:
            yield name, value
    key = draw(st.sampled_from([1] * 16 + [2, 2, "u", None]))
    if key is not None:
        yield "k", key
