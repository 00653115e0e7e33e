"""What SASE+ makes of values that are no small numbers: NaN, infinity, decimals, texts, booleans, times."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from oracle.sase import matches, rows
from oracle.sase_expressions import aggregate, calculate, call, compare, like, truth
from oracle.sase_notation import event, read
from oracle.sase_query import Value, conjunctive
from oracle.sase_text import text

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
NAN = math.nan


@pytest.mark.parametrize(
    ("left", "sign", "right", "found"),
    [
        (NAN, "=", NAN, False),
        (NAN, "!=", 1, True),
        (NAN, "<", math.inf, False),
        (-math.inf, "<", Decimal("-1e30"), True),
        (Decimal("0.1"), "=", 0.1, True),
        (Decimal("0.1"), "=", "0.1", None),
        (True, "=", 1, None),
        (False, "<", True, True),
        (NOON, "<", LATER, True),
        (NOON, "=", NOON.isoformat(), None),
        (None, "!=", 1, None),
    ],
)
def test_comparisons(left: Value, sign: str, right: Value, found: bool | None) -> None:
    assert compare(sign, left, right) is found


@pytest.mark.parametrize(
    ("left", "sign", "right", "found"),
    [
        (Decimal("0.1"), "+", Decimal("0.2"), Decimal("0.3")),
        (1, "/", 2, 0.5),
        (1.5, "/", 0, None),
        *[(7, "%", 3, 1), (-7, "%", 3, -1), (7, "%", -3, 1), (-7.5, "%", 2, -1.5), (7, "%", 0, None)],
        *[(Decimal("7.50"), "%", 2, Decimal("1.5")), (1.5, "%", 0.0, None), (2.0, "%", math.inf, 2.0)],
        ("u", "%", 2, None),
        (math.inf, "*", 2, math.inf),
        (LATER, "-", NOON, timedelta(hours=1)),
        (NOON, "+", timedelta(hours=1), LATER),
        (NOON, "+", 1, None),
        (NOON, "+", LATER, None),
        (True, "+", 1, None),
        ("u", "+", "v", None),
    ],
)
def test_arithmetic(left: Value, sign: str, right: Value, found: Value) -> None:
    assert calculate(sign, left, right) == found


@pytest.mark.parametrize(
    ("function", "values", "found"),
    [
        ("min", [NAN, 1, 3.0], 1),
        ("max", [NAN], None),
        ("highest", [NAN, 1], None),
        ("count", [NAN, None], 1),
        ("max", [1, Decimal("1.5"), -math.inf], Decimal("1.5")),
        ("sum", [Decimal("0.1"), Decimal("0.2"), None], Decimal("0.3")),
        ("sum", [1, True], None),
        ("min", [True, False], False),
        ("max", [NOON, LATER], LATER),
        ("max", [NOON, 1], None),
        ("sum", [NOON], None),
    ],
)
def test_aggregates(function: str, values: list[Value], found: Value) -> None:
    assert aggregate(function, values, 2 if function == "highest" else None) == found


def test_infinities_of_two_signs_have_no_sum() -> None:
    found = aggregate("sum", [math.inf, -math.inf])
    assert isinstance(found, float) and math.isnan(found)


@pytest.mark.parametrize(
    ("value", "found"),
    [(True, True), (0, False), (NAN, False), (-1, True), (Decimal(0), False), ("", False), ("0", True), (NOON, None)],
)
def test_what_is_no_comparison_is_true_or_not_as_in_sparql(value: Value, found: bool | None) -> None:
    assert truth(value) is found
    assert truth(None) is None


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("uv", "u%", True),
        ("uv", "u_", True),
        ("uv", "u", False),
        ("u.v", "u.v", True),
        ("uxv", "u.v", False),
        ("u\nv", "u_v", True),
        ("u\n", "u", False),
        ("", "%", True),
        ("U", "u", False),
    ],
)
def test_like(text: str, pattern: str, found: bool) -> None:
    assert like(text, pattern) is found


@pytest.mark.parametrize(
    ("function", "arguments", "found"),
    [
        ("round", [2.5], 3),
        ("round", [-2.5], -2),
        ("round", [Decimal("-0.5")], 0),
        ("ceil", [Decimal("1.01")], 2),
        ("floor", [-1.5], -2),
        ("floor", [-math.inf], -math.inf),
        ("abs", [Decimal("-0.1")], Decimal("0.1")),
        ("abs", [True], None),
        ("length", ["ü"], 1),
        ("upper", ["ü"], "Ü"),
        ("lower", [1], None),
        ("contains", ["uv", "v"], True),
        ("starts_with", ["uv", ""], True),
        ("ends_with", ["uv", "u"], False),
        ("contains", ["1", 1], None),
    ],
)
def test_functions(function: str, arguments: list[Value], found: Value) -> None:
    assert call(function, arguments) == found


def test_the_parts_of_not_in_act_apart() -> None:
    (condition,) = read("A+ a[], B b WHERE a[i].x NOT IN (a[1].x, 3)").conditions
    assert len(conjunctive(condition)) == 2  # type: ignore[arg-type]
    events = [event("a1", 1, x=3), event("a2", 2, x=4), event("b", 3)]
    assert [match.ids for match in matches(read("A+ a[], B b WHERE a[i].x NOT IN (a[1].x, 3)"), events)] == [
        (("a2",), ("b",))  # a1 is 3, although it is compared with no other
    ]
    assert len(matches(read("A+ a[], B b WHERE a[i].x IN (a[1].x, 9)"), events)) == 2  # from i = 2


def test_a_value_is_in_a_list_of_which_another_is_missing() -> None:
    assert len(matches(read("A a WHERE a.x IN (a.y, 1)"), [event("a", 1, x=1)])) == 1
    assert len(matches(read("A a WHERE a.x IN (a.y, 2)"), [event("a", 1, x=1)])) == 0
    assert len(matches(read("A a WHERE a.x NOT IN (a.y, 2)"), [event("a", 1, x=1)])) == 0


def test_keys_are_equal_by_value_and_nan_is_no_key() -> None:
    query = read("A a, B b WHERE [k]")
    for one, other, alike in [(1, Decimal("1.00"), 1), (1.0, 1, 1), (NAN, NAN, 0), (True, 1, 0), ("1", 1, 0)]:
        assert len(matches(query, [event("a", 1, k=one), event("b", 2, k=other)])) == alike
    assert len(matches(read("A a WHERE [k]"), [event("a", 1, k=NAN)])) == 0


def test_an_event_has_its_time_as_an_attribute_whatever_else_is_called_so() -> None:
    found = rows(read("A a, B b RETURN a.time AS t, b.time - a.time AS d"), [event("a", 3), event("b", 4, time=9)])
    assert [row.cells for row in found] == [(("t", 3), ("d", 1))]


def test_constants_are_written_as_what_they_are() -> None:
    written = "A a WHERE a.x IN (1, 1.5, 1.5e0, 'it''s', TRUE) AND a.`my price` NOT LIKE 'u%' RETURN lower(a.x) AS x"
    assert text(read(written)).removeprefix("PATTERN SEQ(").replace("\n", " ").replace("A a)", "A a") == written
