"""Random SASE+ cases with values of all kinds, and with what may be asked of them: cases of small numbers, in which
values, constants and comparisons are exchanged for others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

from hypothesis import strategies as st

from oracle.sase_cases import Case
from oracle.sase_conditions import ATTRIBUTES, LOOSE
from oracle.sase_legal import problems
from oracle.sase_query import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Compare,
    Composite,
    Constant,
    Event,
    Expression,
    Given,
    In,
    IsNull,
    Item,
    Length,
    Like,
    Query,
    Sequence,
    Value,
    rewritten,
)
from oracle.sase_static import mended
from strategies.choices import Choices, seeded

LATE = datetime(2024, 2, 29, 23, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Kind:
    """Values that are often seen together, constants to compare them with, and what only they can be asked."""

    values: tuple[Given, ...]
    constants: tuple[int | float | Decimal | str | bool, ...]
    functions: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    differences: bool = False


NUMBERS = Kind(
    (1, 2, 0, -1, 1.0, 1.5, -2.5, -0.0, math.nan, math.inf, -math.inf, Decimal("0.1"), Decimal("0.3"), Decimal("1.50")),
    (0, 1, 2, 1.5, Decimal("0.1"), Decimal("0.3"), Decimal("1.5")),
    functions=("abs", "ceil", "floor", "round"),
)
TEXTS = Kind(
    ("u", "U", "uv", "u.v", "u'v", "", "ü", "1", "u\nv"),
    ("u", "U", "uv", "u'v", "", "ü", "1", 1),
    functions=("lower", "upper", "length"),
    tests=("contains", "starts_with", "ends_with"),
    patterns=("u%", "%v", "_", "u_v", "%", "", "u.v", "U", "%u%", "__"),
)
TRUTHS = Kind((True, False), (True, False, 1))
TIMES = Kind(
    (
        LATE,
        LATE.astimezone(timezone(timedelta(hours=2))),
        LATE + timedelta(microseconds=1),
        LATE + timedelta(days=1),
        LATE - timedelta(hours=24),
    ),
    ("2024-02-29T23:30:00Z", 0),
    differences=True,
)
KINDS = (NUMBERS, TEXTS, TRUTHS, TIMES)
KEYS: tuple[Value, ...] = (*(1, 1.0, Decimal("1.00")) * 4, 2, True, "1", math.nan, None, LATE)
"""Equal ones mostly, in different types."""


def of_all_kinds(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """The cases, but with values of one kind mostly, and asked what this kind can be asked."""

    def changed_case(case: Case, choices: Choices) -> Case:
        kind = a_kind(choices)
        return Case(asked(choices, case.query, kind), tuple(changed(choices, event, kind) for event in case.events))

    return st.builds(changed_case, cases, seeded(lambda choices: choices))


def a_kind(choices: Choices) -> Kind:
    """A few values of a kind, so that some are equal."""
    kind = choices.pick([NUMBERS, NUMBERS, TEXTS, TEXTS, TRUTHS, TIMES])
    return replace(kind, values=tuple(choices.some(kind.values, 2, 5)))


def changed(choices: Choices, event: Event, kind: Kind) -> Event:
    """The event with other values; now and then as it was, or with a value of another kind."""
    given: dict[str, Value] = {**dict(event.attributes)}
    for name in ATTRIBUTES:
        if name in given and not one_of(choices, 16):
            given[name] = choices.pick(choices.pick(KINDS).values if one_of(choices, 12) else kind.values)
    given["k"] = choices.pick(KEYS)
    return replace(event, attributes=tuple((name, value) for name, value in given.items() if value is not None))


def one_of(choices: Choices, number: int) -> bool:
    return choices.number(1, number) == 1


def asked(choices: Choices, query: Query, kind: Kind) -> Query:
    """The query with other comparisons, of the same variables."""

    def change(part: Expression) -> Expression:
        return predicate(choices, part, kind) if isinstance(part, Compare) else part

    found = rewritten(query, change)
    if not query.aggregates:
        found = replace(found, returns=tuple(shown(choices, item, kind) for item in query.returns))
    found = mended(found)
    assert not problems(found), problems(found)
    return found


def predicate(choices: Choices, old: Compare, kind: Kind) -> Expression:
    """In place of a comparison something else about what stood on its left."""
    sign, left, right = old.operator, old.left, old.right
    negated = choices.pick([False, True])
    if _counts(left):
        return In(left, (right, Constant(2)), negated) if one_of(choices, 4) else old
    if isinstance(right, Constant):
        right = Constant(choices.pick(kind.constants))
    others = tuple(map(Constant, choices.some(kind.constants, 1, 2)))
    found: list[Expression] = [
        *[Compare(sign, left, right)] * 4,
        *[In(left, (right, *others), negated), In(left, (*others, right), negated)],
        left,
    ]
    if isinstance(left, Attribute | Aggregate):  # NULL is asked of nothing else
        found += [IsNull(left, negated)]
    if kind.functions:
        found += [Compare(sign, Call(choices.pick(kind.functions), (left,)), right)] * 2
    if kind.tests:
        found += [Call(choices.pick(kind.tests), (left, right))] * 2
    if kind.patterns:
        found += [Like(left, choices.pick(kind.patterns), negated)] * 2
    if kind.differences and isinstance(right, Constant):  # which is not a time
        found += [IsNull(left, negated=True)] * 6 if isinstance(left, Attribute | Aggregate) else []
    elif kind.differences:
        between = Arithmetic("-", left, right)
        found += [Compare(sign, between, Arithmetic("-", right, left))]
        found += [Compare(sign, left, Arithmetic("+", right, between))]
    return choices.pick(found)


def _counts(part: Expression) -> bool:
    return isinstance(part, Length) or (isinstance(part, Aggregate) and part.function == "count")


def shown(choices: Choices, item: Item, kind: Kind) -> Item:
    """Now and then what a function makes of a column, or whether a comparison holds."""
    what = item.what
    if isinstance(what, Sequence | Composite) or item.name is None or not one_of(choices, 3):
        return item
    if kind.functions and choices.pick([False, True]):
        return replace(item, what=Call(choices.pick(kind.functions), (what,)))
    compared = Compare(choices.pick(LOOSE), what, Constant(choices.pick(kind.constants)))
    return replace(item, what=predicate(choices, compared, kind))
