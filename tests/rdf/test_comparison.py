"""Comparing terms by value, and the order of ORDER BY."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.values import equal, less, order_key, tie_key


def typed(text: str, name: str) -> Literal:
    return Literal(text, XSD + name)


def test_numbers_are_equal_across_their_types() -> None:
    one = [typed("1", "integer"), typed("01.0", "decimal"), typed("1e0", "double"), typed("1", "byte")]
    assert all(equal(a, b) for a in one for b in one)
    assert equal(typed("0.1", "decimal"), typed("0.1", "double"))
    assert equal(typed("0", "double"), typed("-0.0", "double"))


def test_huge_numbers_are_compared_exactly() -> None:
    assert equal(typed(str(2**63), "integer"), typed(str(2**63 + 1), "integer")) is False
    assert less(typed("1" + "0" * 39 + ".1", "decimal"), typed("1" + "0" * 39 + ".2", "decimal"))
    assert equal(typed(str(2**53 + 1), "integer"), typed(str(2**53), "double"))  # promoted to double


def test_nan_is_neither_equal_nor_less() -> None:
    nan = typed("NaN", "double")
    assert equal(nan, nan) is False
    assert less(nan, typed("1", "integer")) is False
    assert less(typed("1", "integer"), nan) is False


def test_terms_of_different_kinds_are_different() -> None:
    assert equal(IRI("http://example.org/a"), Literal("http://example.org/a")) is False
    assert equal(BlankNode("a"), BlankNode("a")) is True
    assert equal(Literal("a"), Literal("a", language="en")) is False
    assert equal(typed("1", "integer"), Literal("1")) is False
    assert equal(typed("2020-01-01", "date"), typed("2020-01-01T00:00:00", "dateTime")) is False


def test_nothing_is_known_of_a_literal_without_a_value_but_that_it_is_itself() -> None:
    unknown = Literal("1", "http://example.org/inch")
    assert equal(unknown, unknown) is True
    assert equal(unknown, Literal("2", unknown.datatype)) is None
    assert equal(typed("abc", "integer"), typed("1", "integer")) is None
    assert equal(unknown, Literal("x", language="en")) is False
    assert less(unknown, unknown) is None


def test_language_tags_are_compared_without_case() -> None:
    assert equal(Literal("a", language="en-GB"), Literal("a", language="EN-gb")) is True
    assert equal(Literal("a", language="en"), Literal("a", language="fr")) is False
    assert less(Literal("a", language="en"), Literal("b", language="en")) is None


def test_date_times_without_a_zone_are_taken_in_utc() -> None:
    utc, none = typed("2020-01-01T12:00:00Z", "dateTime"), typed("2020-01-01T12:00:00", "dateTime")
    assert equal(utc, none) is True
    assert equal(utc, typed("2020-01-01T14:00:00+02:00", "dateTime")) is True
    assert less(typed("2019-12-31T23:00:00-05:00", "dateTime"), none) is True
    assert equal(none, typed("2020-01-01T12:00:00.0000", "dateTime")) is True


def test_dates_with_and_without_a_zone_are_compared_only_when_far_enough_apart() -> None:
    utc, none = typed("2020-01-02Z", "date"), typed("2020-01-02", "date")
    assert equal(utc, none) is None
    assert less(typed("2020-01-01", "date"), utc) is True
    assert equal(typed("2020-01-01", "date"), utc) is False
    assert less(typed("12:00:00", "time"), typed("13:00:00Z", "time")) is None
    assert less(typed("12:00:00", "time"), typed("13:00:00", "time")) is True


def test_durations_are_equal_by_length_and_ordered_within_their_type() -> None:
    assert equal(typed("P1Y", "duration"), typed("P12M", "yearMonthDuration")) is True
    assert equal(typed("PT24H", "dayTimeDuration"), typed("P1D", "dayTimeDuration")) is True
    assert less(typed("PT23H", "dayTimeDuration"), typed("P1D", "dayTimeDuration")) is True
    assert less(typed("P1M", "duration"), typed("P40D", "duration")) is None


def test_parts_of_dates_are_compared_within_their_type() -> None:
    assert less(typed("2019", "gYear"), typed("2020", "gYear")) is True
    assert equal(typed("2019", "gYear"), typed("2019-01", "gYearMonth")) is False


@pytest.mark.parametrize("name", ["string", "boolean"])
def test_strings_and_booleans_have_an_order(name: str) -> None:
    low, high = ("a", "b") if name == "string" else ("false", "true")
    assert less(typed(low, name), typed(high, name)) is True
    assert less(typed(high, name), typed(low, name)) is False


SORTED: list[Term | None] = [
    None,
    BlankNode("a"),
    IRI("http://example.org/a"),
    IRI("http://example.org/b"),
    typed("NaN", "double"),
    typed("-INF", "double"),
    typed("-1", "integer"),
    typed("0.5", "decimal"),
    typed("1e30", "double"),
    typed("1" + "0" * 40, "integer"),
    typed("false", "boolean"),
    typed("true", "boolean"),
    Literal("10"),
    Literal("9"),
    Literal("a", language="en"),
    typed("2020-01-01T00:00:00+01:00", "dateTime"),
    typed("2020-01-01T00:00:00Z", "dateTime"),
    typed("abc", "integer"),
]


def test_order_by_puts_unbound_first_then_blank_nodes_then_iris_then_literals_by_value() -> None:
    for low, high in pairwise(SORTED):
        assert order_key(low) < order_key(high), (low, high)
    backwards = list(reversed(SORTED))
    assert sorted(backwards, key=order_key) == SORTED


def test_terms_of_one_value_leave_the_order_to_the_next_condition() -> None:
    assert order_key(typed("1", "integer")) == order_key(typed("01.0", "decimal"))
    assert order_key(typed("2020-01-01T12:00:00Z", "dateTime")) == order_key(typed("2020-01-01T12:00:00", "dateTime"))


TERMS = st.one_of(
    st.sampled_from([term for term in SORTED if term is not None]),
    st.builds(lambda n: typed(str(n), "integer"), st.integers(-(2**70), 2**70)),
    st.builds(lambda n: typed(repr(n), "double"), st.floats(allow_infinity=False, allow_nan=False)),
    st.builds(lambda d: typed(format(d, "f"), "decimal"), st.decimals(-100, 100, places=3)),
    st.builds(lambda n: typed(str(n).zfill(4), "gYear"), st.integers(0, 9999)),
    st.builds(lambda d, z: typed(d.isoformat() + z, "date"), st.dates(), st.sampled_from(["", "Z", "+05:00"])),
    st.builds(lambda n: typed(f"P{n}M", "yearMonthDuration"), st.integers(0, 100)),
    st.builds(lambda n: typed(f"PT{n}S", "dayTimeDuration"), st.integers(0, 10**7)),
)


@given(TERMS, TERMS, TERMS)
def test_the_order_is_total_and_no_two_terms_tie_in_the_end(a: Term, b: Term, c: Term) -> None:
    for x, y, z in permutations((a, b, c)):
        if order_key(x) <= order_key(y) <= order_key(z):
            assert order_key(x) <= order_key(z)
    assert (tie_key(a) == tie_key(b)) == (a == b)


@given(TERMS, TERMS)
def test_the_order_agrees_with_less_than(a: Term, b: Term) -> None:
    if less(a, b):
        assert order_key(a) <= order_key(b)
    if less(a, b) and not any(isinstance(t, Literal) and t.datatype.endswith("double") for t in (a, b)):
        assert order_key(a) < order_key(b)
