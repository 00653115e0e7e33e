"""The columns' typed values are the plain ones, or none at all."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thence.columns import value_kinds
from thence.columns.canonical_terms import tagged_literal, untag
from thence.columns.dictionary import Terms
from thence.rdf.dates import DateTime, seconds_between
from thence.rdf.numbers import Float
from thence.rdf.terms import IRI, XSD, BlankNode, Literal
from thence.rdf.values import INTEGER_RANGES, value

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("however_many")]

EPOCH = DateTime(1970, 1, 1, 0, 0, Decimal(0), 0)

digits = st.text("0123456789", max_size=21)
sign = st.sampled_from(["", "+", "-"])
numeral = st.builds(lambda s, a, dot, b: s + a + dot + b, sign, digits, st.sampled_from(["", ".", ".."]), digits)
scientific = st.builds(
    lambda n, e, s, d: n + e + s + d,
    numeral,
    st.sampled_from(["", "e", "E", "e0"]),
    sign,
    st.text("0123456789", max_size=4),
)
special = st.sampled_from(
    ["NaN", "INF", "-INF", "+INF", "inf", "", "-", ".", "true", "false", "0", "1", "tru", "-0", "-0.0", " 1", "1e"]
)
number_types = st.sampled_from([*INTEGER_RANGES, *(XSD + name for name in ("decimal", "double", "float", "boolean"))])
moments = st.from_regex(
    r"(-)?[0-9]{4,5}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,8})?(Z|[+-][01][0-9]:[0-6][0-9])?",
    fullmatch=True,
)


def classified(literal: Literal) -> tuple[int, int]:
    terms = Terms()
    index = terms.add(literal)
    return int(terms.tags[index]), int(terms.bits[index])


@given(st.one_of(numeral, scientific, special, st.integers().map(str), st.floats().map(repr)), number_types)
@example("9223372036854775808", XSD + "integer")
@example("0.1", XSD + "float")
@example("16777217", XSD + "float")
@example("5e-324", XSD + "double")
@example("000000000000000000000000012.50", XSD + "decimal")
def test_a_number_in_columns_is_the_plain_number_or_left_to_the_slow_way(text: str, datatype: str) -> None:
    tag, bits = classified(Literal(text, datatype))
    plain = value(Literal(text, datatype))
    if tag == value_kinds.OTHER:
        return
    found = untag(tag, bits)
    assert plain is not None
    assert type(found) is type(plain)
    assert repr(found) == repr(plain) if isinstance(plain, float) else found == plain


@given(moments)
@example("2024-02-29T23:59:59.999999+14:00")
@example("2023-02-29T00:00:00Z")
@example("0001-01-01T00:00:00Z")
@example("2024-01-01T24:00:00")
def test_a_date_in_columns_is_the_plain_instant_or_left_to_the_slow_way(text: str) -> None:
    literal = Literal(text, XSD + "dateTime")
    tag, bits = classified(literal)
    if tag == value_kinds.OTHER:
        return
    assert tag == value_kinds.DATETIME
    plain = value(literal)
    assert isinstance(plain, DateTime)
    assert Decimal(bits) == seconds_between(plain, EPOCH).seconds * 1_000_000


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("12", "integer"),
        ("-7", "byte"),
        ("19.990", "decimal"),
        ("1.5e3", "double"),
        ("0.25", "float"),
        ("true", "boolean"),
    ],
)
def test_ordinary_numbers_are_held_in_columns(text: str, datatype: str) -> None:
    tag, bits = classified(Literal(text, XSD + datatype))
    assert tag != value_kinds.OTHER
    assert value(tagged_literal(tag, bits)) == value(Literal(text, XSD + datatype))


def test_an_ordinary_date_is_held_in_columns() -> None:
    assert classified(Literal("1970-01-02T01:00:00.5+01:00", XSD + "dateTime")) == (
        value_kinds.DATETIME,
        86_400_500_000,
    )


def test_terms_without_a_value_have_their_own_kinds() -> None:
    terms = Terms()
    ids = terms.add_all([IRI("x:a"), BlankNode("b"), Literal("c"), Literal("d", language="en"), Literal("e", "x:type")])
    assert terms.tags[ids].tolist() == [
        value_kinds.IRI_,
        value_kinds.BLANK,
        value_kinds.STRING,
        value_kinds.LANG,
        value_kinds.OTHER,
    ]
    assert terms.bits[ids].tolist() == ids.tolist()


@given(
    st.lists(
        st.one_of(
            st.text().map(Literal),
            st.text().map(lambda t: Literal(t, language="en")),
            st.text("abc", min_size=1).map(IRI),
        )
    )
)
def test_a_dictionary_gives_back_what_was_put_in(listed: list[Literal | IRI]) -> None:
    terms = Terms()
    ids = terms.add_all(listed)
    assert [terms[int(i)] for i in ids] == listed
    assert len(terms) == len(set(listed))
    assert terms.find_all(listed).tolist() == ids.tolist()


def test_a_float_keeps_its_single_precision() -> None:
    tag, bits = classified(Literal("0.1", XSD + "float"))
    assert untag(tag, bits) == Float(0.1)
