"""Values of literals: exact, of any size, and back to their canonical forms."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.rdf import numbers
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Date, DateTime, Duration, date_time_at, parse_date_time
from thence.rdf.numbers import MAX_DIGITS, Float, Number
from thence.rdf.terms import IRI, XSD, BlankNode, Literal
from thence.rdf.values import LangString, literal, python, value


def typed(text: str, name: str) -> Literal:
    return Literal(text, XSD + name)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("01", "integer", 1),
        ("-0", "integer", 0),
        ("+7", "int", 7),
        (str(2**63), "integer", 2**63),
        ("9" * 40, "integer", int("9" * 40)),
        ("127", "byte", 127),
        (str(2**64 - 1), "unsignedLong", 2**64 - 1),
        ("21.50", "decimal", Decimal("21.50")),
        (".5", "decimal", Decimal("0.5")),
        ("5.", "decimal", Decimal(5)),
        ("1234567890123456789012345678901234567890.0000000001", "decimal",
         Decimal("1234567890123456789012345678901234567890.0000000001")),
        ("1e3", "double", 1000.0),
        ("INF", "double", math.inf),
        ("-INF", "float", -math.inf),
        ("1", "boolean", True),
        ("false", "boolean", False),
    ],
)  # fmt: skip
def test_a_literal_has_the_value_its_datatype_gives_it(text: str, name: str, expected: object) -> None:
    found = value(typed(text, name))
    assert found == expected
    assert isinstance(found, type(expected))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("abc", "integer"),
        ("1.0", "integer"),
        (" 1", "integer"),
        ("", "integer"),
        ("١", "integer"),
        ("128", "byte"),
        ("-1", "nonNegativeInteger"),
        ("0", "positiveInteger"),
        (str(2**63), "long"),
        ("1e3", "decimal"),
        (".", "decimal"),
        ("inf", "double"),
        ("nan", "double"),
        ("1e", "double"),
        ("0x10", "double"),
        ("1_000", "double"),
        ("TRUE", "boolean"),
        ("2023-02-29T00:00:00", "dateTime"),
        ("2000-01-01T24:00:01", "dateTime"),
        ("2000-01-01T00:00:60", "dateTime"),
        ("2000-01-01T00:00:00+14:01", "dateTime"),
        ("2000-1-1", "date"),
        ("2000-01-01 00:00:00", "dateTime"),
        ("00001-01-01", "date"),
        ("P", "duration"),
        ("P1DT", "duration"),
        ("P1Y", "dayTimeDuration"),
        ("P1D", "yearMonthDuration"),
        ("P-1D", "duration"),
        ("--02-30", "gMonthDay"),
        ("a7", "hexBinary"),
    ],
)
def test_an_ill_typed_literal_has_no_value(text: str, name: str) -> None:
    assert value(typed(text, name)) is None


def test_a_literal_of_an_unknown_datatype_has_no_value() -> None:
    assert value(Literal("1", "http://example.org/inch")) is None


def test_a_number_of_too_many_digits_has_no_value_and_costs_no_time() -> None:
    assert value(typed("9" * MAX_DIGITS, "integer")) is not None
    for name in ("integer", "decimal", "double", "float", "dateTime", "duration"):
        assert value(typed("9" * 5_000_000, name)) is None


def test_strings_and_texts_in_a_language_are_different_values() -> None:
    assert value(Literal("chat")) == "chat"
    assert value(Literal("chat", language="FR-be")) == LangString("chat", "fr-be")


def test_nan_is_a_double_that_equals_nothing() -> None:
    found = value(typed("NaN", "double"))
    assert isinstance(found, float)
    assert math.isnan(found)


def test_a_float_is_the_nearest_single_even_where_rounding_twice_would_miss_it() -> None:
    # just above the middle between two singles; the nearest double is the middle itself
    text = "1.000000059604644775390625000000000000000001"
    assert value(typed(text, "float")) == Float(1.0000001192092896)
    assert value(typed("1.000000059604644775390625", "float")) == Float(1.0)
    assert value(typed("16777217", "float")) == 16777216.0
    assert value(typed("3.4028236e38", "float")) == math.inf
    assert value(typed("1e-999999999999", "float")) == 0.0


@pytest.mark.parametrize(
    ("given_value", "text"),
    [
        (2**70, str(2**70)),
        (Decimal("2.500"), "2.5"),
        (Decimal("2.0"), "2"),
        (Decimal("-0.0"), "0"),
        (Decimal("1E+3"), "1000"),
        (1e6, "1.0E6"),
        (0.1, "1.0E-1"),
        (-0.0, "-0.0E0"),
        (math.nan, "NaN"),
        (-math.inf, "-INF"),
        (Float(0.1), "1.0E-1"),
        (Float(16777216.0), "1.6777216E7"),
        (True, "true"),
        (DateTime(2000, 1, 1, second=Decimal("1.50"), zone=-300), "2000-01-01T00:00:01.5-05:00"),
        (DateTime(-44, 3, 15, zone=0), "-0044-03-15T00:00:00Z"),
        (Date(12345, 1, 2), "12345-01-02"),
        (Duration(0, Decimal("93784.5"), XSD_DAY_TIME_DURATION), "P1DT2H3M4.5S"),
        (Duration(-14, Decimal(0)), "-P1Y2M"),
    ],
)
def test_a_value_is_written_in_its_canonical_form(given_value: object, text: str) -> None:
    assert literal(given_value).value == text  # type: ignore[arg-type]


def test_a_number_beyond_the_limit_of_digits_is_not_written() -> None:
    assert len(literal(10**MAX_DIGITS - 1).value) == MAX_DIGITS
    with pytest.raises(OverflowError, match="4000 digits"):
        literal(10**MAX_DIGITS)


# Arithmetic


def test_decimals_are_never_rounded() -> None:
    large, small = Decimal("9" * 40), Decimal("0." + "0" * 40 + "1")
    assert numbers.add(large, small) == Decimal("9" * 40 + "." + "0" * 40 + "1")
    assert numbers.multiply(large, large) == Decimal(int("9" * 40) ** 2)
    assert numbers.negate(Decimal("1." + "1" * 60)) == Decimal("-1." + "1" * 60)
    assert numbers.round_half_up(Decimal("9" * 40 + ".5")) == Decimal(10**40)


def test_division_of_integers_is_exact_where_it_ends_and_long_where_it_does_not() -> None:
    assert Fraction(Decimal(numbers.divide(1, 2**70))) == Fraction(1, 2**70)
    assert str(numbers.divide(2, 3)) == "0." + "6" * 33 + "7"
    tiny = numbers.divide(1, 3 * 10**50)
    assert isinstance(tiny, Decimal)
    assert len(tiny.as_tuple().digits) >= 34
    assert numbers.divide(-7, 2) == Decimal("-3.5")


def test_division_by_zero_is_an_error_for_exact_numbers_and_infinite_for_others() -> None:
    with pytest.raises(ZeroDivisionError):
        numbers.divide(1, 0)
    with pytest.raises(ZeroDivisionError):
        numbers.divide(Decimal(1), 0)
    assert numbers.divide(-1.0, 0) == -math.inf
    assert numbers.divide(1, -0.0) == -math.inf
    assert math.isnan(numbers.divide(0.0, 0))


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        *[(7, 3, 1), (-7, 3, -1), (7, -3, 1), (-7, -3, -1), (6, 3, 0)],
        *[(10**40 + 1, 10**20, 1), (5, 10**40, 5), (-(2**63), -1, 0)],
        (Decimal("7.50"), 2, Decimal("1.5")),
        (-7, Decimal("2.5"), Decimal(-2)),
        (Decimal("0." + "0" * 40 + "3"), Decimal("0." + "0" * 40 + "2"), Decimal("0." + "0" * 40 + "1")),
        *[(5.5, 2, 1.5), (-5.5, 2, -1.5), (5.5, -2.0, 1.5), (1e308, 3, math.fmod(1e308, 3)), (2.0, math.inf, 2.0)],
        *[(math.inf, 2, math.nan), (2.0, math.nan, math.nan), (Float(5.5), 2, Float(1.5))],
    ],
)
def test_a_remainder_is_exact_and_has_the_sign_of_the_dividend(left: Number, right: Number, found: Number) -> None:
    remainder = numbers.remainder(left, right)
    assert type(remainder) is type(found)
    assert remainder == found or (math.isnan(remainder) and math.isnan(found))


@pytest.mark.parametrize("left", [1, Decimal("1.5"), 1.5, Float(1.5), math.nan, math.inf])
@pytest.mark.parametrize("zero", [0, Decimal("0.0"), 0.0, -0.0, Float(0)])
def test_a_remainder_by_zero_is_an_error_in_every_type(left: Number, zero: Number) -> None:
    with pytest.raises(ZeroDivisionError):
        numbers.remainder(left, zero)


def test_numbers_are_promoted_to_the_wider_type() -> None:
    assert isinstance(numbers.add(1, Decimal(1)), Decimal)
    assert isinstance(numbers.add(Decimal(1), Float(1)), Float)
    assert type(numbers.add(Float(1), 1.0)) is float
    assert numbers.add(Float(0.1), Float(0.2)) == Float(0.30000001192092896)
    assert numbers.multiply(10**400, 1.0) == math.inf


def test_rounding_keeps_the_sign_of_zero_and_takes_halves_up() -> None:
    assert [numbers.round_half_up(x) for x in (2.5, -2.5, 0.49999999999999994, 2**53 + 1.0)] == [3, -2, 0, 2**53]
    assert math.copysign(1, numbers.round_half_up(-0.4)) == -1
    assert math.copysign(1, numbers.ceiling(-0.4)) == -1
    assert (numbers.ceiling(Decimal("-1.5")), numbers.floor(Decimal("-1.5"))) == (-1, -2)
    assert math.isnan(numbers.round_half_up(math.nan))


@given(st.integers(-(10**60), 10**60), st.integers(1, 10**40))
def test_a_quotient_is_right_to_its_last_digit(a: int, b: int) -> None:
    found = numbers.divide(a, b)
    assert isinstance(found, Decimal)
    _, _, exponent = found.as_tuple()
    assert isinstance(exponent, int)
    exact = Fraction(a, b)
    error = abs(Fraction(found) - exact)
    assert error == 0 or (error <= Fraction(1, 2) / 10**-exponent and -exponent >= 34)


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=30), st.decimals(allow_nan=False, allow_infinity=False)
)
def test_sums_and_products_of_decimals_are_those_of_fractions(a: Decimal, b: Decimal) -> None:
    assert Fraction(Decimal(numbers.add(a, b))) == Fraction(a) + Fraction(b)
    assert Fraction(Decimal(numbers.multiply(a, b))) == Fraction(a) * Fraction(b)


@given(st.floats(width=32, allow_nan=False))
def test_a_float_written_and_read_again_is_itself(number: float) -> None:
    assert value(literal(Float(number))) == Float(number)


@given(st.floats(allow_nan=False))
def test_a_double_written_and_read_again_is_itself(number: float) -> None:
    assert value(literal(number)) == number
    assert value(Literal(numbers.cast_to_string(number), XSD + "double")) == number


# Dates


def test_midnight_at_the_end_of_a_day_is_the_next_days_beginning() -> None:
    assert str(parse_date_time("1999-12-31T24:00:00Z")) == "2000-01-01T00:00:00Z"


def test_years_go_beyond_9999_and_below_zero() -> None:
    assert str(parse_date_time("-0001-12-31T24:00:00")) == "0000-01-01T00:00:00"
    far = parse_date_time("123456789-02-28T23:59:59.999999999999Z")
    assert far is not None
    assert str(far) == "123456789-02-28T23:59:59.999999999999Z"
    assert date_time_at(far.instant, 0) == far


@given(st.datetimes(timezones=st.just(datetime.UTC)), st.integers(-840, 840))
def test_an_instant_is_that_of_pythons_calendar(moment: datetime.datetime, zone: int) -> None:
    ours = parse_date_time(moment.strftime("%Y").zfill(4) + moment.strftime("-%m-%dT%H:%M:%S.%fZ"))
    assert ours is not None
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert ours.instant * 10**6 == (moment - epoch) // datetime.timedelta(microseconds=1)
    assert date_time_at(ours.instant, zone).instant == ours.instant


# Python's own types


def test_python_gives_pythons_own_types_where_they_hold_the_value() -> None:
    cases = {
        typed("2.50", "decimal"): Decimal("2.50"),
        typed("1", "boolean"): True,
        typed("2020-02-29T12:00:00.5Z", "dateTime"): datetime.datetime(2020, 2, 29, 12, 0, 0, 500_000, datetime.UTC),
        typed("2020-02-29", "date"): datetime.date(2020, 2, 29),
        typed("12:30:00", "time"): datetime.time(12, 30),
        typed("PT1.5S", "dayTimeDuration"): datetime.timedelta(seconds=1.5),
        Literal("chat", language="fr"): "chat",
        typed("abc", "integer"): "abc",
        IRI("http://example.org/a"): "http://example.org/a",
        BlankNode("b0"): "b0",
    }
    for term, expected in cases.items():
        assert python(term) == expected
        assert term.python == expected


def test_python_keeps_what_its_types_would_spoil() -> None:
    assert python(typed("10000-01-01T00:00:00", "dateTime")) == DateTime(10000, 1, 1)
    assert isinstance(python(typed("2020-01-01T00:00:00.0000001Z", "dateTime")), DateTime)
    assert python(typed("2020-01-01Z", "date")) == Date(2020, 1, 1, 0)
    assert python(typed("P1M", "yearMonthDuration")) == Duration(1, Decimal(0), XSD + "yearMonthDuration")
