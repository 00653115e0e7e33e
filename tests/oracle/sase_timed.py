"""Random SASE+ cases of time arithmetic (SA-51): over dates and over ticks, with times and durations among the values
too."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

from hypothesis import strategies as st

from oracle.sase_cases import Case
from oracle.sase_conditions import LOOSE
from oracle.sase_kinds import one_of
from oracle.sase_legal import problems
from oracle.sase_query import (
    DAWN,
    Aggregate,
    Arithmetic,
    Attribute,
    Compare,
    Composite,
    Condition,
    Constant,
    Event,
    Expression,
    Given,
    Item,
    Length,
    PartitionBy,
    Query,
    Sequence,
    rewritten,
)
from oracle.sase_static import impossible, mended
from strategies.choices import Choices, seeded

MINUTE = timedelta(minutes=1)
LENGTHS = tuple(
    Constant(value, written)
    for value, written in (
        (MINUTE, "1 MINUTE"),
        (2 * MINUTE, "PT2M"),
        (2 * MINUTE, "120 s"),
        (3 * MINUTE, "3 minutes"),
        (0 * MINUTE, "0 DAYS"),
        (MINUTE / 2, "0.5 MIN"),
        (1.5 * MINUTE, "pt1m30.0S"),
        (timedelta(days=1), "P1D"),
    )
)
TICKS = (*(Constant(value, f"{value} TICKS") for value in (1, 2, 2, 3, 0)), Constant(1, "1 tick"), Constant(2))
TIMES: tuple[Given, ...] = (*(DAWN + number * MINUTE for number in (0, 1, 2, 3, 4, 2, 1)), DAWN - 1.5 * MINUTE)
SPANS: tuple[Given, ...] = (MINUTE, 2 * MINUTE, MINUTE, -MINUTE, 3 * MINUTE, MINUTE / 2, 0 * MINUTE)
NOON = Constant(DAWN + 2 * MINUTE, "TIMESTAMP '1970-01-01T00:02:00Z'")


def of_times(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """The cases, but of dates in two of three, whose x is a time and y a duration mostly; and asked about times."""

    def changed(case: Case, choices: Choices) -> Case:
        dated = choices.number(1, 3) > 1 and "time" not in repr(keys(case.query))
        query = mended(asked(choices, replace(case.query, dated=dated), dated=dated))
        assert not problems(query), problems(query)
        return Case(query, tuple(_event(choices, event, dated=dated) for event in case.events))

    return st.builds(changed, cases, seeded(lambda choices: choices))


def keys(query: Query) -> tuple[Condition, ...]:
    """What PARTITION BY computes: `time % 3` is of ticks."""
    return tuple(each for each in query.all_conditions() if isinstance(each, PartitionBy))


def _event(choices: Choices, event: Event, *, dated: bool) -> Event:
    given = dict(event.attributes)
    for name, values in (("x", TIMES), ("y", SPANS)):
        if name in given and dated and not one_of(choices, 12):
            given[name] = choices.pick(values)
    return replace(event, attributes=tuple(given.items()), dated=dated)


def asked(choices: Choices, query: Query, *, dated: bool) -> Query:
    """The query with other comparisons and other columns, of the same variables."""

    def change(part: Expression) -> Expression:
        return _comparison(choices, part, dated=dated) if isinstance(part, Compare) else part

    found = rewritten(query, change)
    shown = _total if query.aggregates else partial(_column, dated=dated)
    return replace(found, returns=tuple(shown(choices, item) for item in found.returns))


def _comparison(choices: Choices, old: Compare, *, dated: bool) -> Expression:
    """In place of a comparison another about the times of the same events."""
    left, right = _of_time(choices, old.left), _of_time(choices, old.right)
    if left is None or one_of(choices, 8):
        return old
    sign = choices.pick(LOOSE)
    length = choices.pick(LENGTHS if dated else TICKS)
    other = right or choices.pick([_named(left, "x"), NOON] if dated else [_named(left, "x")])
    apart, span = Arithmetic("-", left, other), _named(left, "y")
    found: list[Expression] = [
        *[Compare(sign, apart, length)] * 3,
        Compare(sign, Arithmetic("-", other, left), Arithmetic("-", length, apart)),
        Compare(sign, left, Arithmetic("+", other, length)),
        Compare(sign, Arithmetic("-", left, length), other),
        Compare(sign, Arithmetic("+", length, left), other),
        Compare(sign, Arithmetic("*", apart, Constant(choices.pick([2, Decimal("0.5"), 1.5]))), length),
        Compare(sign, Arithmetic("/", apart, Constant(2)), length),
        Compare(sign, Arithmetic("/", apart, length), Constant(choices.pick([1, 2, Decimal("0.5")]))),
        Compare(sign, apart, span),
        Compare(sign, Arithmetic("+", left, span), other),
        Compare(sign, Arithmetic("+", apart, span), length),
        Compare(sign, left, other),
    ]
    return choices.pick(found)


def _of_time(choices: Choices, part: Expression) -> Expression | None:
    """A value of the same events that is a time, or mostly one; None if that is not to be had."""
    match part:
        case Attribute(variable, index, _):
            return Attribute(variable, index, choices.pick(["time", "time", "end", "x"]))
        case Aggregate("sum" | "avg" | "count", variable, _, span):
            return Aggregate(choices.pick(["min", "max"]), variable, choices.pick(["time", "x"]), span)
        case Aggregate(function, variable, _, span, k):
            return Aggregate(function, variable, choices.pick(["time", "x"]), span, k)
        case Arithmetic(_, left, _):
            return _of_time(choices, left)
    return None


def _named(part: Expression, name: str) -> Expression:
    match part:
        case Attribute():
            return replace(part, attribute=name)
        case Aggregate(_, variable, _, span):
            return Aggregate("last", variable, name, span)
    raise TypeError(part)


def _column(choices: Choices, item: Item, *, dated: bool) -> Item:
    """Now and then a time, or what is computed of it."""
    if isinstance(item.what, Sequence | Composite | Length) or item.name is None or one_of(choices, 3):
        return item
    time = _of_time(choices, item.what)
    if time is None:
        return item
    length = choices.pick(LENGTHS if dated else TICKS)
    what = choices.pick(
        [
            time,
            Arithmetic("+", time, length),
            Arithmetic("-", time, _named(time, "x")),
            Arithmetic("/", Arithmetic("-", time, _named(time, "x")), length),
            Arithmetic("-", length, _named(time, "y")),
        ]
    )
    return item if impossible(what, dated=dated) else replace(item, what=what)


def _total(choices: Choices, item: Item) -> Item:
    """Least and greatest of times, now and then."""
    match item.what:
        case Aggregate("min" | "max" as function, str(variable), _, span):
            return replace(item, what=Aggregate(function, variable, choices.pick(["time", "x", "y", "end"]), span))
    return item
