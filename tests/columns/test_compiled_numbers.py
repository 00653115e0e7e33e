"""Compiled comparison and arithmetic give the plain result, or leave it to the plain functions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from thence.columns import value_kinds
from thence.columns.canonical_terms import untag
from thence.columns.dictionary import Terms
from thence.match import tagged_arithmetic as compiled
from thence.rdf import numbers
from thence.rdf import values as comparison
from thence.rdf.terms import XSD, Literal
from thence.rdf.values import Value, value

pytestmark = pytest.mark.numba

integers = st.one_of(st.integers(-20, 20), st.integers(-(2**63), 2**63 - 1)).map(
    lambda n: Literal(str(n), XSD + "integer")
)
decimals = st.decimals(allow_nan=False, allow_infinity=False, places=6).map(
    lambda d: Literal(f"{d:f}", XSD + "decimal")
)
small = st.sampled_from(["0.1", "0.25", "-1.5", "3.0", "0", "1000000", "0.000000000000000001"]).map(
    lambda text: Literal(text, XSD + "decimal")
)
doubles = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 0.1, 1.0, 2.0**53])).map(
    lambda x: Literal(numbers.canonical(x), XSD + "double")
)
singles = st.floats(width=32).map(lambda x: Literal(numbers.canonical(numbers.Float(x)), XSD + "float"))
literals = st.one_of(integers, decimals, small, doubles, singles)

PLAIN = {
    compiled.ADD: numbers.add,
    compiled.SUBTRACT: numbers.subtract,
    compiled.MULTIPLY: numbers.multiply,
    compiled.DIVIDE: numbers.divide,
    compiled.REMAINDER: numbers.remainder,
}


@njit
def arithmetic(operation, left_tag, left_bits, right_tag, right_bits):  # type: ignore[no-untyped-def]
    return compiled.arithmetic(operation, left_tag, left_bits, right_tag, right_bits)


@njit
def unary(function, tag, bits):  # type: ignore[no-untyped-def]
    return compiled.unary(function, tag, bits)


@njit
def order(left_tag, left_bits, right_tag, right_bits):  # type: ignore[no-untyped-def]
    return compiled.order(left_tag, left_bits, right_tag, right_bits)


def tagged(left: Literal, right: Literal) -> tuple[int, int, int, int]:
    terms = Terms()
    i, j = terms.add(left), terms.add(right)
    return int(terms.tags[i]), int(terms.bits[i]), int(terms.tags[j]), int(terms.bits[j])


def same(left: Value, right: Value) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return type(left) is type(right) and repr(left) == repr(right)
    return type(left) is type(right) and left == right


@given(literals, literals, st.sampled_from(list(PLAIN)))
def test_arithmetic_is_the_plain_arithmetic_or_left_to_it(left: Literal, right: Literal, operation: int) -> None:
    tag, bits = arithmetic(operation, *tagged(left, right))
    if tag == compiled.SLOW:
        return
    a, b = value(left), value(right)
    try:
        plain = PLAIN[operation](a, b)
    except ZeroDivisionError:
        assert tag == value_kinds.NONE
        return
    assert same(untag(tag, bits), plain)


UNARY = {
    compiled.NEGATE: numbers.negate,
    compiled.ABSOLUTE: numbers.absolute,
    compiled.CEILING: numbers.ceiling,
    compiled.FLOOR: numbers.floor,
    compiled.ROUND: numbers.round_half_up,
}
halves = st.sampled_from(["0.5", "-0.5", "2.5", "-2.5", "0.49999999999999994", "-0.49999999999999994", "-1E-20", "-0"])


@given(st.one_of(literals, halves.map(lambda text: Literal(text, XSD + "double"))), st.sampled_from(list(UNARY)))
def test_functions_of_one_number_are_the_plain_ones_or_left_to_them(literal: Literal, function: int) -> None:
    tag, bits, _, _ = tagged(literal, literal)
    found, made = unary(function, tag, bits)
    if tag == value_kinds.OTHER:
        assert found == compiled.SLOW
    if found != compiled.SLOW:
        assert same(untag(found, made), UNARY[function](value(literal)))  # type: ignore[operator]


@pytest.mark.parametrize(("text", "rounded"), [("2.5", "3"), ("-2.5", "-2"), ("0.499", "0"), ("-7", "-7")])
def test_everyday_decimals_are_rounded_without_the_slow_way(text: str, rounded: str) -> None:
    tag, bits, _, _ = tagged(*[Literal(text, XSD + "decimal")] * 2)
    assert untag(*unary(compiled.ROUND, tag, bits)) == value(Literal(rounded, XSD + "decimal"))


@given(literals, literals)
def test_the_order_is_the_plain_order_or_left_to_it(left: Literal, right: Literal) -> None:
    found = order(*tagged(left, right))
    if found == compiled.UNDECIDED:
        return
    assert comparison.equal(left, right) == (found == compiled.EQUAL)
    assert comparison.less(left, right) == (found == compiled.LESS)
    assert comparison.less(right, left) == (found == compiled.GREATER)
    values = [value(left), value(right)]
    assert (found == compiled.UNORDERED) == any(isinstance(v, float) and math.isnan(v) for v in values)


@pytest.mark.parametrize(
    ("left", "right", "operation", "expected"),
    [
        ("0.1", "0.2", compiled.ADD, "0.3"),
        ("1", "8", compiled.DIVIDE, "0.125"),
        ("1.50", "2", compiled.MULTIPLY, "3"),
        ("-7.5", "2", compiled.REMAINDER, "-1.5"),
    ],
)
def test_everyday_decimals_do_not_take_the_slow_way(left: str, right: str, operation: int, expected: str) -> None:
    tag, bits = arithmetic(operation, *tagged(Literal(left, XSD + "decimal"), Literal(right, XSD + "decimal")))
    assert untag(tag, bits) == value(Literal(expected, XSD + "decimal"))


def test_an_overflow_takes_the_slow_way() -> None:
    largest = Literal("999999999999999999", XSD + "integer")
    tag, _ = arithmetic(compiled.MULTIPLY, *tagged(largest, largest))
    assert tag == compiled.SLOW
