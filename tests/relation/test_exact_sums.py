"""SUM and AVG of floats and doubles: the exact sum of the members, in the widest type among them,
rounded once at the end; so they do not depend on the order of members (C-31)."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import floating
from support.sparql_data import rows
from thence.columns.dictionary import Terms
from thence.rdf import numbers
from thence.rdf.numbers import Float, Number
from thence.rdf.terms import IRI, XSD, Literal, Term
from thence.rdf.values import TRUE
from thence.rdf.values import literal as canonical
from thence.relation import group_sums
from thence.relation.exact_sums import ExactSum
from thence.relation.group_sums import GroupSums, Members

INF, NAN = math.inf, math.nan
TINY = 5e-324
CASES: list[tuple[list[Number], Number]] = [
    ([0.1, 0.2, 0.3], 0.6),
    ([1e308, 1e308, -1e308], 1e308),
    ([1e308, 1e308], INF),
    ([-1e308, -1e308], -INF),
    ([1e16, 1.0, -1e16], 1.0),
    ([1.0, NAN], NAN),
    ([INF, 1.0], INF),
    ([-INF, 1e308, 1e308], -INF),
    ([INF, -INF], NAN),
    ([-0.0], 0.0),
    ([-0.0, -0.0], 0.0),
    ([TINY, TINY, -TINY], TINY),
    ([2.0**-1022, -TINY], 2.0**-1022 - TINY),
    ([Float(0.1), Float(0.2), Float(0.3)], Float(0.6)),
    ([Float(2.0**24), Float(1), Float(2.0**-20)], Float(2.0**24 + 2)),  # through a double it is a tie no longer
    ([Float(3e38), Float(3e38)], Float(INF)),
    ([Float(3e38), Float(3e38), Float(-3e38)], Float(3e38)),
    ([Float(0.1), 0.1], 0.2 + 1.4901161138336505e-09),
    ([Float(0.1), Decimal("0.1")], Float(0.2)),
    ([0.5, 2**53 + 1], float(2**53 + 2)),  # the integer is no double, and is not rounded to one
    ([Float(0), 2**24 + 1, 1], Float(2**24 + 2)),
    ([1e0, 10**400], INF),
    ([Float(1), 10**40], Float(INF)),
    ([0.1, 1, Decimal("0.1")], 1.2),
    ([1, Decimal("0.1")], Decimal("1.1")),
    ([10**30, -1], 10**30 - 1),
    ([Decimal("0." + "1" * 30), 2], Decimal("2." + "1" * 30)),
    ([Decimal("9007199254740993.1"), Decimal("-0.1")], Decimal("9007199254740993.0")),
]


def same(found: Number | None, expected: Number) -> bool:
    return found is not None and canonical(found) == canonical(expected)


def literal(number: Number) -> Literal:
    text = f"{number:f}" if isinstance(number, Decimal) else canonical(number).value  # with zeros at its end
    return Literal(text, canonical(number).datatype)


def sum_of(members: list[Number]) -> ExactSum:
    total = ExactSum()
    for each in members:
        total.add(each)
    return total


def column_sums(groups: list[list[Number]]) -> list[ExactSum]:
    terms = Terms()
    ids = terms.add_all(literal(each) for group in groups for each in group)
    numbered = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    sums = GroupSums.of(len(groups))
    sums.add(numbered, Members.of(ids, terms), np.ones(len(ids), np.int64))
    return [found for group in range(len(groups)) if (found := sums.sum_of(group)) is not None]


@pytest.mark.parametrize(("members", "expected"), CASES)
def test_a_sum_does_not_depend_on_the_order(members: list[Number], expected: Number) -> None:
    orders = list(map(list, permutations(members)))
    for each in orders:
        assert same(sum_of(each).value(), expected)
    assert all(same(each.value(), expected) for each in column_sums(orders))


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([1e308, 1e308], 1e308),  # the sum alone would be too large
        ([0.1, 0.2, 0.3], 0.2),  # of the rounded sum, 0.19999999999999998
        ([Float(0.1), Float(0.7), Float(0.1)], Float(0.3)),
        ([1, 2], Decimal("1.5")),
        ([Decimal("0.1"), 1e16, -1e16, Decimal("0.2")], 0.075),
        ([INF, 1.0], INF),
    ],
)
def test_an_average_is_rounded_once(members: list[Number], expected: Number) -> None:
    count = len(members)
    for found in (sum_of(members), *column_sums([members])):
        assert same(found.average(count), expected)
        assert same(found.average(count), exactly(members, count))


def test_a_sum_in_a_query() -> None:
    data = ":a :p 0.1e0, 0.2e0, 0.3e0 ."
    assert rows("SELECT (SUM(?v) AS ?s) (AVG(?v) AS ?m) { ?x :p ?v }", data) == ["6.0E-1 2.0E-1"]


SINGLES = st.floats(width=32).map(Float)
NUMBERS = st.one_of(
    st.floats(),
    st.sampled_from([0.1, 1e16, 1e-3, -1e16, 1e300, -0.0]),
    SINGLES,
    st.integers(-(2**70), 2**70),
    st.integers(-5, 5),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6),
)


def exactly(members: list[Number], count: int | None = None) -> Number:
    """The definition, in fractions: the sum, or the average of so many."""
    wide: type = next((kind for kind in (float, Float, Decimal, int) if any(type(m) is kind for m in members)), int)
    if wide in (int, Decimal):
        total = _folded(members)
        return total if count is None else numbers.divide(total, count)
    given = [each if isinstance(each, float) else Fraction(each) for each in members]
    return wide(floating.total(given, "double" if wide is float else "float", count or 1))  # type: ignore[no-any-return]


def _folded(members: list[Number]) -> Number:
    total: Number = 0
    for each in members:
        total = numbers.add(total, each)
    return total


@given(st.lists(NUMBERS, max_size=8))
def test_a_sum_is_that_of_fractions_rounded_once(members: list[Number]) -> None:
    expected = exactly(members)
    for found in (sum_of(members), *column_sums([members])):
        assert same(found.value(), expected)
        if members:
            assert same(found.average(len(members)), exactly(members, len(members)))


@given(st.lists(st.tuples(st.integers(0, 2), NUMBERS), max_size=30), st.randoms(use_true_random=False), st.booleans())
def test_members_that_leave_take_their_kind_along(
    rows: list[tuple[int, Number]], random: Random, carries: bool
) -> None:
    """Added and subtracted in any order; the last double that leaves makes the sum a decimal again."""
    terms = Terms()
    sums = GroupSums.of(3)
    held: list[tuple[int, Number]] = []
    with pytest.MonkeyPatch.context() as patch:
        if carries:
            patch.setattr(group_sums, "_UNCARRIED", 2)
        while rows or held:
            came = [rows.pop() for _ in range(min(len(rows), random.randrange(4)))]
            held += came
            random.shuffle(held)
            went = [held.pop() for _ in range(min(len(held), random.randrange(4)))]
            both = came + went
            ids = terms.add_all(literal(each) for _, each in both)
            groups = np.array([group for group, _ in both], np.int64)
            sums.add(groups, Members.of(ids, terms), np.repeat(np.array([1, -1]), [len(came), len(went)]))
            for group in range(3):
                found = sums.sum_of(group)
                assert found is not None
                assert same(found.value(), exactly([each for own, each in held if own == group]))


@pytest.mark.parametrize("other", [Literal("x"), IRI("x:y"), Literal("y", XSD + "double"), TRUE])
def test_a_member_that_is_no_number_is_an_error_until_it_leaves(other: Term) -> None:
    terms = Terms()
    ids = terms.add_all([literal(0.5), other])
    sums = GroupSums.of(1)
    sums.add(np.zeros(2, np.int64), Members.of(ids, terms), np.ones(2, np.int64))
    assert sums.sum_of(0) is None
    sums.add(np.zeros(1, np.int64), Members.of(ids[1:], terms), -np.ones(1, np.int64))
    found = sums.sum_of(0)
    assert found is not None
    assert found.value() == 0.5


def test_many_integers_then_a_double() -> None:
    """The total of integers before has more digits than a double."""
    terms = Terms()
    ids = terms.add_all([literal(2**24), literal(1), literal(0.5)])
    many = np.repeat(ids[:2], [2**20, 1])
    sums = GroupSums.of(1)
    sums.add(np.zeros(len(many), np.int64), Members.of(many, terms), np.ones(len(many), np.int64))
    sums.add(np.zeros(1, np.int64), Members.of(ids[2:], terms), np.ones(1, np.int64))
    found = sums.sum_of(0)
    assert found is not None
    assert found.value() == float(Fraction(2**44 + 1) + Fraction(1, 2))


@given(st.lists(NUMBERS, max_size=8), st.lists(NUMBERS, max_size=3))
def test_a_sum_that_was_saved_goes_on(before: list[Number], after: list[Number]) -> None:
    total = sum_of(before)
    restored = ExactSum.restored(json.loads(json.dumps(total.saved())))
    assert restored == total or math.isnan(float(restored.value()))
    for each in after:
        restored.add(each)
    assert same(restored.value(), exactly([*before, *after]))


@pytest.mark.parametrize(
    "forged",
    [
        None,
        [],
        ["1", -1, ["0", 0, 0, 0], False],
        ["x", -1, ["0", 0, 0, 0], False, False],
        [1, -1, ["0", 0, 0, 0], False, False],
        ["1", 10**9, ["0", 0, 0, 0], False, False],
        ["1", -1, ["0", -1, 0, 0], False, False],
        ["1", -1, ["0", 0, 0], False, False],
        ["1", -1, ["f" * 10**6, 0, 0, 0], False, False],
        ["1", -1, ["0", 0, 0, 0], 1, False],
    ],
)
def test_a_saved_sum_that_is_none_is_refused(forged: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        ExactSum.restored(forged)
