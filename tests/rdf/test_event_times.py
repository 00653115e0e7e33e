"""The two time domains: what is a time, what is not, and how times and durations are written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.errors import InputError
from thence.rdf.terms import IRI, XSD, Literal
from thence.rdf.times import (
    MAX_TIME,
    MIN_TIME,
    Domain,
    Instant,
    Span,
    format_time,
    parse_duration,
    parse_time,
    time_literal,
)

SECOND = 1_000_000
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
NOON_TEXT = "2024-05-06T12:00:00Z"
NOON_TIME = int(NOON.timestamp()) * SECOND


@pytest.mark.parametrize("value", [7, -3, 0, MAX_TIME, MIN_TIME, np.int64(7), np.int32(7)])
def test_an_integer_is_a_tick(value: int) -> None:
    assert parse_time(value) == Instant(int(value), Domain.TICKS)


@pytest.mark.parametrize(
    "value",
    [
        NOON,
        NOON.replace(tzinfo=None),
        NOON.astimezone(timezone(timedelta(hours=5, minutes=30))),
        pd.Timestamp(NOON),
        "2024-05-06T12:00:00Z",
        "2024-05-06T12:00:00",
        "2024-05-06 12:00:00",
        "2024-05-06T12:00",
        "2024-05-06T14:00:00+02:00",
        "2024-05-06T14:00:00+0200",
        "2024-05-06T14:00:00+02",
        "2024-05-06 06:30:00-05:30",
        "2024-05-06T12:00:00.000000000Z",
        "2024-05-06T12:00:00,0Z",
        Literal(NOON_TEXT, XSD + "dateTime"),
        Literal(NOON_TEXT, XSD + "dateTimeStamp"),
        Literal(NOON_TEXT),
        Literal(f" {NOON_TEXT}\n", XSD + "dateTime"),
    ],
)
def test_one_moment_has_many_forms_and_without_a_zone_it_is_utc(value: object) -> None:
    assert parse_time(value) == Instant(NOON_TIME, Domain.DATETIME)


@pytest.mark.parametrize("datatype", ["integer", "long", "int", "nonNegativeInteger", "unsignedByte"])
def test_integer_literals_are_ticks(datatype: str) -> None:
    assert parse_time(Literal("+007", XSD + datatype)) == Instant(7, Domain.TICKS)


def test_the_last_moment_of_a_day_can_be_written_as_24_hours() -> None:
    assert parse_time("2024-12-31T24:00:00Z") == parse_time("2025-01-01T00:00:00Z")


def test_years_go_as_far_as_64_bits_do() -> None:
    assert format_time(MAX_TIME, Domain.DATETIME) == "294247-01-10T04:00:54.775807Z"
    assert format_time(MIN_TIME, Domain.DATETIME) == "-290308-12-21T19:59:05.224192Z"
    for time in (MIN_TIME, MAX_TIME):
        assert parse_time(format_time(time, Domain.DATETIME)).time == time
    with pytest.raises(InputError, match="out of range: times have 64 bits"):
        parse_time("294247-01-10T04:00:54.775808Z")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (True, "True is not a time"),
        (1.5, "is not a time. Try: an integer"),
        (None, "is not a time"),
        (date(2024, 5, 6), "is not a time"),
        (IRI("http://example.org/now"), "is not a time"),
        ("", "is not a time. Try"),
        ("7", "is not a time. Try"),
        ("2024-05-06", "is not a time. Try"),
        ("yesterday", "is not a time. Try"),
        ("2024-05-06T12:00:00Z ", "is not a time. Try"),
        ("20240506T120000Z", "is not a time. Try"),
        ("2024-02-30T00:00:00Z", "no such day"),
        ("2024-13-01T00:00:00Z", "no such day"),
        ("2024-01-01T24:00:01Z", "no such time of day"),
        ("2024-01-01T12:60:00Z", "no such time of day"),
        ("2024-01-01T12:00:60Z", "no such time of day"),
        ("2024-01-01T12:00:00+14:01", "no zone"),
        ("2024-01-01T12:00:00.0000001Z", "finer than a microsecond"),
        (pd.Timestamp(1), "finer than a microsecond"),
        (2**63, "64 bits"),
        (Literal("9" * 5000, XSD + "integer"), "64 bits"),
        (Literal("1.5", XSD + "integer"), "is not an integer"),
        (Literal("٣", XSD + "integer"), "is not an integer"),
        (Literal("1.5", XSD + "decimal"), "an xsd:integer or an xsd:dateTime"),
        (Literal("2024-05-06", XSD + "date"), "an xsd:integer or an xsd:dateTime"),
        (Literal("7"), "is not a time"),
        ("2" * 100_000, "is not a time"),
    ],
)
def test_anything_else_is_no_time(value: object, reason: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_time(value)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 200


@given(st.integers(MIN_TIME, MAX_TIME), st.sampled_from(Domain))
def test_a_time_that_is_written_is_read_as_the_same(time: int, domain: Domain) -> None:
    assert parse_time(time_literal(time, domain)) == Instant(time, domain)


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))
def test_python_writes_the_same_moments_the_same(moment: datetime) -> None:
    ours = format_time(*parse_time(moment))
    assert datetime.fromisoformat(ours) == moment.replace(tzinfo=UTC)
    assert parse_time(moment.isoformat()) == parse_time(moment)


def test_a_fraction_is_written_only_if_there_is_one() -> None:
    assert format_time(NOON_TIME, Domain.DATETIME) == NOON_TEXT
    assert format_time(NOON_TIME + 120_000, Domain.DATETIME) == "2024-05-06T12:00:00.12Z"
    assert format_time(-7, Domain.TICKS) == "-7"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("50", Span(50, Domain.TICKS)),
        ("50 TICKS", Span(50, Domain.TICKS)),
        ("1 tick", Span(1, Domain.TICKS)),
        ("0", Span(0, Domain.TICKS)),
        ("10 MINUTES", Span(600 * SECOND, Domain.DATETIME)),
        ("10 min", Span(600 * SECOND, Domain.DATETIME)),
        ("10m", Span(600 * SECOND, Domain.DATETIME)),
        ("10s", Span(10 * SECOND, Domain.DATETIME)),
        ("1.5 hours", Span(5400 * SECOND, Domain.DATETIME)),
        ("250ms", Span(250_000, Domain.DATETIME)),
        ("10d", Span(864_000 * SECOND, Domain.DATETIME)),
        (" 2 weeks ", Span(14 * 86_400 * SECOND, Domain.DATETIME)),
        ("PT10M", Span(600 * SECOND, Domain.DATETIME)),
        ("P1DT0.5S", Span(86_400 * SECOND + 500_000, Domain.DATETIME)),
        ("P2W", Span(14 * 86_400 * SECOND, Domain.DATETIME)),
        ("pt1h", Span(3600 * SECOND, Domain.DATETIME)),
    ],
)
def test_durations_are_read_in_every_form(text: str, span: Span) -> None:
    assert parse_duration(text) == span


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not a duration. Try: 10 MINUTES, 10s, PT10M, 50 TICKS"),
        ("ten", "is not a duration"),
        ("10 moons", "there is no unit moons"),
        ("-10s", "is not a duration"),
        ("-PT10M", "is not a duration"),
        ("P", "is not a duration"),
        ("P1M", "no fixed length"),
        ("P1Y", "no fixed length"),
        ("1.5 TICKS", "finer than a tick"),
        ("0.0000001s", "finer than a microsecond"),
        ("9999999999999 DAYS", "64 bits"),
        ("1" * 10_000, "is not a duration"),
        ("P" + "1" * 10_000 + "D", "is not a duration"),
    ],
)
def test_what_is_no_duration_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_duration(text)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 250
