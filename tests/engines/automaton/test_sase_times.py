"""SASE+: times and durations as values (SA-26, SA-51), and what cannot be computed (BAD-3)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from thence import one, pattern

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def dated(*events: tuple[str, float, dict[str, Any]]) -> list[thence.Event]:
    """Events so many minutes after noon."""
    return [thence.Event(NOON + minutes * MINUTE, {"type": kind, **given}) for kind, minutes, given in events]


TWO = dated(
    ("A", 0, {"at": NOON, "day": date(2024, 5, 6), "lasts": 5 * MINUTE, "n": 2}),
    ("B", 25, {"at": NOON + 30 * MINUTE, "day": date(2024, 5, 8), "lasts": 25 * MINUTE, "n": 3}),
)


def rows(text: str, given: Any, **options: Any) -> list[dict[str, Any]]:
    found = thence.parse(text, language="sase+").match(given, **options)
    return [{name: term.python for name, term in match.bindings.items()} for match in found]  # type: ignore[union-attr]


CONDITIONS = {
    "b.time - a.time >= 20 MINUTES": 1,
    "b.time - a.time >= 26 min": 0,
    "b.time - a.time = PT25M": 1,
    "b.end - a.end != pt1500s": 0,
    "b.time > a.time + 0.4 HOURS": 1,
    "a.time < b.time - PT25M": 0,
    "(b.time - a.time) * 2 > 49 MINUTES": 1,
    "(b.time - a.time) / 5 = 5 MINUTES": 1,
    "(b.time - a.time) / 1 MINUTE = 25": 1,
    "-(a.time - b.time) = 25 MINUTES": 1,
    "b.at - a.at = 30 MINUTES": 1,
    "b.day - a.day = 2 DAYS": 1,
    "b.day = a.day + 2 DAYS": 1,
    "b.time - a.time = b.lasts": 1,
    "b.lasts - a.lasts > 1 WEEK": 0,
    "b.lasts + a.lasts IN (30 MINUTES, P1D)": 1,
    "b.time > TIMESTAMP '2024-05-06T12:24:00Z'": 1,
    "NOT (b.time - a.time < 20 MINUTES)": 1,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_times_and_durations_are_compared_and_computed(condition: str) -> None:
    """SA-51: by the machine, by the evaluator of the history, and in HAVING."""
    asked = f"WHERE ({condition} OR b.s LIKE 'x') WITHIN 1 HOUR"  # LIKE is beyond the machine
    for clause in (f"WHERE {condition}", asked, f"HAVING {condition}"):
        text = f"PATTERN SEQ(A a, B b) {clause} RETURN a.n AS n"
        assert len(rows(text, TWO)) == CONDITIONS[condition], text


def test_a_gap_ends_a_session() -> None:
    """SA-51: `a[i].time - a[i-1].time`, and the length of a session in HAVING and RETURN."""
    minutes = (0, 10, 35, 80, 85)
    events = dated(*(("E", each, {"user": "u"}) for each in minutes))
    found = rows(
        """
        PATTERN E+ a[]
        WHERE partition_contiguity(a[]) { [user] ^ a[i].time - a[i-1].time < 30 MINUTES }
        HAVING a[a.LEN].time - a[1].time > PT5M
        RETURN a.LEN AS n, a[a.LEN].time - a[1].time AS took, min(a[].time) AS first
        """,
        events,
    )
    assert found == [
        {"n": 3, "took": 35 * MINUTE, "first": NOON},
        {"n": 2, "took": 25 * MINUTE, "first": NOON + 10 * MINUTE},
    ]


def test_over_ticks_a_duration_is_an_integer() -> None:
    events = [thence.Event(time, {"type": kind}) for kind, time in (("A", 1), ("B", 60))]
    text = "PATTERN SEQ(A a, B b) WHERE b.time - a.time {} RETURN b.time - a.time AS d, a.time + 50 TICKS AS t"
    for condition, count in (("> 50 TICKS", 1), ("> 50", 1), ("> 60 ticks", 0), ("= 59", 1)):
        assert rows(text.format(condition), events) == [{"d": 59, "t": 51}] * count
    with pytest.raises(thence.InputError, match=r"are ticks, but b\.time - a\.time > PT1M is in dates"):
        rows(text.format("> 1 MINUTE").replace("50 TICKS", "1 MINUTE"), events)


REFUSED = {
    "WHERE b.time - a.time >= 20 WITHIN 1 HOUR": (
        "b.time - a.time is a duration and 20 is a number: they cannot be compared. Try: 20 SECONDS"
    ),
    "WHERE b.time - a.time >= 20 MINUTES WITHIN 50": (
        "b.time - a.time is a number and PT20M is a duration: they cannot be compared. Try: 50 TICKS"
    ),
    "WHERE b.time + 5 > a.time WITHIN 1 HOUR": (
        "b.time is a time and 5 is a number: they cannot be added. Try: 5 SECONDS"
    ),
    "WHERE b.x > 50 TICKS WITHIN 1 HOUR": "50 TICKS needs times that are ticks, but WITHIN 1 HOURS needs dates.",
    "WHERE b.time - a.time > 5 ^ b.end - a.end > PT5S": "b.end - a.end > PT5S needs times that are dates",
    "WHERE b.time > '2024-05-06'": "they cannot be compared. Try: TIMESTAMP '2024-05-06'",
    "WHERE b.x > 'u' * 2": "\"*\" is for numbers, and 'u' is a text.",
    "WHERE b.x = a.y + 'u'": "\"+\" is for numbers, and 'u' is a text.",
    "WHERE lower(b.time) = 'u'": "lower() takes a text, and b.time is a time.",
    "WHERE b.x + 1 DAY > 5": "",
    "WHERE 3 DAYS / b.x LIKE 'u'": "",
    "WHERE b.x * 1 DAY > 5 ^ a.x = 1": "b.x * P1D is a duration and 5 is a number",
    "WHERE b.time - 1 DAY WITHIN 1 HOUR": "b.time - P1D is a time, not a condition.",
    "WHERE b.time * 2 > a.time WITHIN 1 HOUR": "b.time is a time and 2 is a number: they cannot be multiplied.",
    "WHERE PARTITION BY time % 2 WITHIN 1 HOUR": "time is a time and 2 is a number: they cannot be divided.",
    "HAVING a.time = 5 MINUTES": "a.time is a time and PT5M is a duration: they cannot be compared.",
}


@pytest.mark.parametrize("clauses", REFUSED)
def test_what_cannot_be_computed_is_refused_when_the_query_is_read(clauses: str) -> None:
    """SA-51, BAD-3. What events alone decide is not."""
    text = f"PATTERN SEQ(A a, B b) {clauses} RETURN a.x AS x"
    if not REFUSED[clauses]:
        thence.parse(text, language="sase+")
        return
    with pytest.raises(thence.QueryError) as caught:
        thence.parse(text, language="sase+")
    assert REFUSED[clauses] in str(caught.value)
    assert str(caught.value).startswith("query:1:")


@pytest.fixture(params=["parquet", "csv"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    times = [NOON, NOON + 25 * MINUTE]
    path = tmp_path / f"events.{request.param}"
    if request.param == "csv":
        lines = [f"{kind},{time.isoformat()},{n},u" for kind, time, n in zip("AB", times, (2, 3), strict=True)]
        path.write_text("\n".join(["type,time,n,s", *lines, ""]))
    else:
        stamps = pa.array(times, pa.timestamp("us", "UTC"))
        parquet.write_table(pa.table({"type": ["A", "B"], "time": stamps, "n": [2, 3], "s": ["u", "u"]}), path)
    return path


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("b.s > 3", "query:1:39: b.s > 3 is never true: s is text (string), and 3 is a number."),
        ("b.n > 'high'", "query:1:39: b.n > 'high' is never true: n is a number (integer), and 'high' is text."),
        ("b.n - a.n > 1 MINUTE", "b.n - a.n is a number and PT1M is a duration: they cannot be compared."),
        ("b.s * a.s = 1", '"*" is for numbers, and b.s is a text.'),
        ("b.n LIKE 'A%'", "LIKE takes a text, and b.n is a number."),
        ("sum(c[].s) > 3", "sum(c[].s) adds numbers, and c[].s is a text."),
    ],
)
def test_what_a_schema_makes_impossible_is_refused_before_any_event(table: Path, condition: str, reason: str) -> None:
    """BAD-3"""
    query = thence.parse(f"PATTERN SEQ(A a, A+ c[], B b) WHERE {condition} WITHIN 1 HOUR RETURN a.n AS n")
    with pytest.raises(thence.ThenceError) as caught:
        query.match(table)
    assert str(caught.value).startswith(reason)


def test_files_of_one_stream_may_have_numbers_of_two_types(tmp_path: Path) -> None:
    for name, numbers in (("one", [2]), ("two", [2.5])):
        parquet.write_table(pa.table({"type": ["A"], "time": [1], "n": numbers}), tmp_path / f"{name}.parquet")
    files = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    assert rows("PATTERN A a WHERE a.n > 1 RETURN a.n AS n", files) == [{"n": 2}, {"n": 2.5}]


def test_a_table_has_durations_as_durations(table: Path) -> None:
    text = "PATTERN SEQ(A a, B b) RETURN b.time - a.time AS gap, (b.time - a.time) / 1 MINUTE AS minutes"
    found = thence.parse(text).match(table).table()
    assert found.schema.field("gap").type == pa.duration("us")
    assert found.select(["gap", "minutes"]).to_pylist() == [{"gap": 25 * MINUTE, "minutes": 25.0}]


def test_columns_of_durations_are_read(tmp_path: Path) -> None:
    lasting = pa.array([5 * MINUTE, None, -MINUTE], pa.duration("ms"))
    parquet.write_table(pa.table({"type": ["A"] * 3, "time": [1, 2, 3], "d": lasting}), tmp_path / "e.parquet")
    assert rows("PATTERN A a WHERE a.d > 1 MINUTE RETURN a.d AS d", tmp_path / "e.parquet") == [{"d": 5 * MINUTE}]
    totals = "PATTERN A a AGGREGATE count(a.d) AS n, min(a.d) AS low, max(a.d) AS high"
    assert rows(totals, tmp_path / "e.parquet") == [{"n": 2, "low": -MINUTE, "high": 5 * MINUTE}]
    too_fine = pa.table({"type": ["A"], "time": [1], "d": pa.array([1], pa.duration("ns"))})
    parquet.write_table(too_fine, tmp_path / "fine.parquet")
    with pytest.raises(thence.InputError, match="finer than a microsecond"):
        list(thence.parse("PATTERN A a RETURN a.d AS d").match(tmp_path / "fine.parquet"))


def test_durations_longer_than_64_bits_hold_are_exact_too() -> None:
    """292,000 years in microseconds: what the machine cannot hold, the evaluator computes."""
    long = "PATTERN SEQ(A a, B b) WHERE (b.time - a.time) * 20000000000 > 49 MINUTES RETURN a.n * 1 AS n"
    assert rows(long, TWO) == [{"n": 2}]
    assert rows(long.replace(" > 49 MINUTES", " < 49 MINUTES"), TWO) == []
    third = "PATTERN SEQ(A a, B b) WHERE (b.time - a.time) / 7 > a.lasts RETURN (b.time - a.time) / 2.5 AS d"
    assert rows(third, TWO) == []
    assert rows(third.replace("/ 7", "/ 4"), TWO) == [{"d": 10 * MINUTE}]


def test_a_column_of_a_derived_stream_called_time_is_hidden_with_a_warning() -> None:
    """SA-51"""
    query = thence.parse(
        "PATTERN SEQ(A a, B b) RETURN (a.time AS time, b.n AS n) AS C IN STREAM s;FROM s PATTERN C c RETURN c.time AS t"
    )
    assert [warning for warning in query.warnings if '"time"' in warning] == [
        'The column "time" of the stream s is hidden: "time" of an event is its own time. Try: another name after AS'
    ]
    assert [match.bindings["t"].python for match in query.match(TWO)] == [NOON + 25 * MINUTE]  # type: ignore[union-attr]


def test_durations_of_derived_events_are_known_to_be_durations() -> None:
    text = (
        "PATTERN SEQ(A a, B b) WHERE b.time - a.time > PT1S RETURN (b.time - a.time AS gap) AS G IN STREAM s;"
        "FROM s PATTERN G g WHERE g.gap > {} RETURN g.gap AS d"
    )
    assert rows(text.format("20 MINUTES"), TWO) == [{"d": 25 * MINUTE}]
    with pytest.raises(thence.QueryError, match="gap is a duration and 20 is a number"):
        thence.parse(text.format("20"))


def test_python_has_timedeltas_and_datetimes() -> None:
    a, b = one("A", "a"), one("B", "b")
    query = (
        pattern(a, b)
        .where(b.time - a.time >= 20 * MINUTE, b.time > NOON, b.day > date(2024, 5, 7), a.time - b.time < -MINUTE)
        .returns(gap=b.time - a.time, later=b.time + timedelta(hours=1))
    )
    (match,) = query.match(TWO)
    assert match.bindings["gap"].python == 25 * MINUTE  # type: ignore[union-attr]
    assert match.bindings["later"].python == NOON + 85 * MINUTE  # type: ignore[union-attr]
    wrong: list[Callable[[], object]] = [
        lambda: pattern(a, b).where(b.time - a.time >= 20).within("1 hour").returns(b.n),
        lambda: pattern(a, b).where(b.time - a.time >= MINUTE).within(50).returns(b.n),
    ]
    for build in wrong:
        with pytest.raises(thence.QueryError, match=r"^pattern, at b\.time - a\.time >= .*they cannot be compared"):
            build()


def test_decimals_of_a_duration_are_exact() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE (b.time - a.time) * 0.1 = 2.5 MINUTES RETURN (b.time - a.time) * a.f AS d"
    assert rows(text, [*dated(("A", 0, {"f": Decimal("0.2")})), *TWO[1:]]) == [{"d": 5 * MINUTE}]
