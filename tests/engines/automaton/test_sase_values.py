"""SASE+: what values mean, in their smallest cases: which triples are attributes, what is equal, and what adds up."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from support.flows import restart
from support.sase_values import found, rdf
from thence.engines.automaton import conditions
from thence.extraction import attributes
from thence.rdf.terms import XSD

ANY_SUMS = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) { } AGGREGATE "


def of(values: list[Any], kind: str = "A") -> list[thence.Event]:
    last = thence.Event(len(values), {"type": "B"})
    return [*(thence.Event(time, {"type": kind, "x": value}) for time, value in enumerate(values)), last]


def test_an_attribute_is_any_predicate_of_its_local_name() -> None:
    events = [rdf(1, "[] a ex:A; ex:x 1 ."), rdf(2, "[] a ex:A; fo:x 11 ."), rdf(3, "[] a ex:B .")]
    assert found("PATTERN SEQ(A a, B b) RETURN a.x AS x", events) == [{"x": 1}, {"x": 11}]


def test_an_event_with_two_values_for_an_attribute_is_bad() -> None:
    query = thence.parse("PATTERN A a RETURN a.x AS x", language="sase+")
    found = query.match([rdf(1, "[] a ex:A; ex:x 1; fo:x 2 ."), rdf(2, "[] a ex:B ; ex:x 1 .")], problems=True)
    (problem,) = found
    assert isinstance(problem, thence.Problem)
    assert problem.reason == "it has two values for x"


def test_attributes_are_of_the_first_subject_that_has_a_type() -> None:
    events = [
        rdf(1, "ex:n ex:x 9 . [] a ex:A; ex:p [ ex:x 5 ]; ex:y 1 ."),
        rdf(2, "[] a ex:Q; ex:p [ a ex:A ]; ex:y 2 ."),
    ]
    assert found("PATTERN A a RETURN a.x AS x, a.y AS y", events) == [{"y": 1}]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, 1.0, True),
        (Decimal("0.5"), 0.5, True),
        (Decimal("900719925474099.31"), Decimal("900719925474099.32"), False),
        (Decimal("9007199254740993.1"), 9007199254740994, False),
        (math.nan, math.nan, False),
        ("1", 1, False),
        (2**62, 2.0**62, True),
        (10**20, Decimal("100000000000000000000.0"), True),
        (10**20, 1e20, True),
        (10**20 + 1, Decimal(10**20 + 1), True),
        (Decimal("1234567890123456.5"), 1234567890123456.5, True),
        (Decimal("0.12345678901234567890123"), Decimal("0.123456789012345678901230"), True),
        (Decimal("0.12345678901234567890123"), Decimal("0.12345678901234567890124"), False),
        (Decimal("1E-400"), 0, False),
    ],
)
def test_equivalence_is_that_of_values(one: Any, other: Any, alike: bool) -> None:
    events = [thence.Event(1, {"type": "A", "x": one}), thence.Event(2, {"type": "B", "x": other})]
    assert len(found("PATTERN SEQ(A a, B b) WHERE [x] RETURN a.x", events)) == alike
    assert len(found("PATTERN SEQ(A a, B b) WHERE a.x = b.x RETURN a.x", events)) == alike


def test_equivalence_compares_numbers_exactly_by_value_whatever_their_types() -> None:
    """A key must be transitive, and `=` is not: as doubles, 2^53 and 2^53 + 1 are the same."""
    query = "PATTERN SEQ(A a, A b, A c) WHERE partition_contiguity(a, b, c) { [x] } RETURN a.x AS x"
    assert (
        len(found(query, [rdf(time, f"[] a ex:A; ex:x {one} .") for time, one in enumerate(["1", "1.0", "1e0"])])) == 1
    )
    events = [thence.Event(1, {"type": "A", "x": 2**53 + 1}), thence.Event(2, {"type": "A", "x": 2.0**53})]
    assert found("PATTERN SEQ(A a, A b) WHERE [x] RETURN a.x", events) == []
    digits = "0.1000000000000000055511151231257827"
    events_of = [rdf(1, f'[] a ex:A; ex:x "{digits}"^^<{XSD}double> .'), rdf(2, "[] a ex:A; ex:x 1e-1 .")]
    assert len(found("PATTERN SEQ(A a, A b) WHERE [x] RETURN a.x", events_of)) == 1
    assert len(found("PATTERN SEQ(A a, A b) WHERE a.x = b.x RETURN a.x", events)) == 1


def test_everyday_values_are_compared_without_looking_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "_of_many_digits", None)
    values = [Decimal("1.25"), Decimal("-0.01"), 7, 1.5, "u", True, datetime(2024, 5, 6, tzinfo=UTC)]
    assert len(found("PATTERN SEQ(A a, A b) WHERE [x] RETURN a.x", of([*values, *values]))) == len(values)


def test_sums_of_decimals_have_all_their_digits() -> None:
    (row,) = found(ANY_SUMS + "sum(a[].x) AS s", of([Decimal("0.1")] * 119))
    assert row["s"] == Decimal("3954453287460124721888826004334025113.6")


def test_infinity_adds_up_as_it_does_in_return() -> None:
    for values in ([math.inf, 1.0], [1e308, 1e308], [-math.inf, 2.0]):
        (counted,) = found(ANY_SUMS.replace("any", "next") + "sum(a[].x) AS s, avg(a[].x) AS m", of([values[0]]))
        returned = found("PATTERN SEQ(A a, B b) RETURN a.x AS s", of([values[0]]))
        assert counted["s"] == returned[0]["s"]
    (row,) = found(ANY_SUMS + "sum(a[].x) AS s", of([1e308, 1e308]))
    assert row["s"] == math.inf


@pytest.mark.parametrize("values", [[math.nan, 1.0, 3.0], [3.0, math.nan, 1.0], [1.0, 3.0, math.nan]])
def test_what_is_not_a_number_is_neither_least_nor_greatest(values: list[float]) -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[]!, b) { } "
    (*_, counted) = found(query + "AGGREGATE min(a[].x) AS low, max(a[].x) AS high", of(values))
    assert (counted["low"], counted["high"]) == (1.0, 3.0)
    first, *_ = found(query + "RETURN min(a[].x) AS low, max(a[].x) AS high", of(values))
    assert (first["low"], first["high"]) == (1.0, 3.0)


@pytest.mark.parametrize("values", [[math.nan, "u"], ["u", math.nan], [math.nan, 1.0, "u"]])
@pytest.mark.parametrize("function", ["min(", "max(", "lowest(1, ", "highest(1, "])
def test_texts_have_no_order_with_what_is_not_a_number(values: list[Any], function: str) -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[]!, b) { } "
    first, *_ = found(query + f"RETURN {function}a[].x) AS m, a.LEN AS n", of(values))
    assert (first.get("m"), first["n"]) == (None, len(values))


@pytest.mark.parametrize(
    ("values", "second"),
    [
        ([math.nan, 1.0, 3.0, math.nan], 1.0),
        ([3, Decimal("3.0"), 2], 3),
        ([Decimal("1.50"), Decimal("1.5"), 1], Decimal("1.5")),
        ([2**70, 2**71, 1], 2**70),
        (["b", "a", "c"], "b"),
        ([1, "a", 2], None),
        ([1], None),
    ],
)
def test_the_second_highest_is_that_of_values_equal_ones_apart(values: list[Any], second: Any) -> None:
    ends = f"a.LEN = {len(values)} ^ highest(2, a[].x) {'IS NULL' if second is None else 'IS NOT NULL'}"
    for condition in ("", ends):
        first, *_ = found(
            f"PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[]!, b) {{ {condition} }} "
            "RETURN highest(2, a[].x) AS high, a.LEN AS n",
            of(values),
        )
        assert (first.get("high"), first["n"]) == (second, len(values))


@pytest.mark.parametrize(
    ("condition", "values", "count"),
    [
        ("b.x > sum(a[].x)", ["u", 5, 1], 3),  # a sum with a text is none
        ("b.x > sum(a[].x)", [2**62, 2**62, 2**62, 1], 7),  # of two of them it is too large
        ("b.x > max(a[].x)", [*"zab"], 0),
        ("b.x > highest(2, a[].x)", [1, 2**63, 3], 4),
        ("b.s > max(a[].x)", [*"zab"], 3),
        ("b.s > first(a[].x)", [*"zab"], 3),
        ("b.s > a[1].x", [*"zab"], 3),
        ("b.s > a[a.LEN].x", [*"zab"], 6),
    ],
)
def test_what_is_counted_is_what_is_returned(condition: str, values: list[Any], count: int) -> None:
    """Texts, which have no order in 64 bits, and what does not fit there."""
    events = of(values)
    events[-1] = thence.Event(len(values), {"type": "B", "x": 2**63, "s": "c"})
    query = f"PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) {{ {condition} }} "
    assert len(found(query + "RETURN a.LEN AS n", events)) == count
    assert found(query + "AGGREGATE count(*) AS n", events) == [{"n": count}] * (count > 0)


def test_texts_of_events_further_back_are_compared_where_matches_are_counted() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) { c.s > a.s } AGGREGATE count(*) AS n"
    shown = [("A", "x"), ("B", "a"), ("C", "z"), ("C", "b")]
    assert found(query, [thence.Event(time, {"type": kind, "s": s}) for time, (kind, s) in enumerate(shown)]) == [
        {"n": 1}
    ]


def test_values_without_an_order_have_no_greatest() -> None:
    durations = [
        rdf(1, '[] a ex:A; ex:x "P1M"^^<http://www.w3.org/2001/XMLSchema#duration> .'),
        rdf(2, '[] a ex:A; ex:x "P30D"^^<http://www.w3.org/2001/XMLSchema#duration> .'),
        rdf(3, "[] a ex:B ."),
    ]
    (row,) = found(ANY_SUMS + "count(*) AS n, max(a[].x) AS high", durations)
    assert row == {"n": 3}


def test_a_long_series_that_must_be_absent_is_looked_for_without_recursion() -> None:
    query = "PATTERN SEQ(A a, ~(T+ t[]), B b) WHERE skip_till_next_match(t[]) { t[1].x = 1 ^ t.LEN > 2000 } RETURN a.x"
    events = [thence.Event(0, {"type": "A", "x": 1})]
    events += [thence.Event(time, {"type": "T", "x": time}) for time in range(1, 1100)]
    assert len(list(thence.parse(query, language="sase+").match([*events, thence.Event(1100, {"type": "B"})]))) == 1


def test_too_many_series_that_must_be_absent_are_an_error_with_a_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "_MOST_SERIES", 1000)
    query = "PATTERN SEQ(A a, ~(T+ t[]), B b) WHERE sum(t[].x) > 1000 RETURN a.x"
    events = [thence.Event(0, {"type": "A"}), *(thence.Event(t, {"type": "T", "x": 1}) for t in range(1, 30))]
    with pytest.raises(thence.LimitError, match=r"more than 1,000 series .* Try: skip_till_next_match\(t\[\]\)"):
        list(thence.parse(query, language="sase+").match([*events, thence.Event(30, {"type": "B"})]))


def test_a_pattern_of_too_many_kinds_is_refused_before_any_event() -> None:
    kinds = ", ".join(f"T{number} v{number}" for number in range(64))
    with pytest.raises(thence.LimitError, match=r"more than 62 different sets of conditions"):
        thence.parse(f"PATTERN SEQ({kinds}) RETURN v0.x", language="sase+").match([])


@pytest.mark.parametrize("window", ["", "WITHIN 5000"])
def test_all_sets_of_two_thousand_events_are_counted(window: str) -> None:
    """No machine could list them: each set of the first ones but the empty one, with the last."""
    (row,) = found(
        ANY_SUMS.replace("AGGREGATE", f"{window} AGGREGATE") + "count(*) AS n, sum(a[].x) AS s", of([1] * 1999)
    )
    assert row["n"] == 2**1999 - 1
    assert row["s"] == 1999 * 2**1998


def test_a_column_without_any_value_is_one_that_no_event_has(tmp_path: Path) -> None:
    rows = pa.table({"type": ["A"], "time": [1], "x": pa.array([None], pa.string())})
    parquet.write_table(rows, tmp_path / "events.parquet")
    read = thence.parse("PATTERN A a WHERE a.x = a.x RETURN a.x AS x", language="sase+")
    assert list(read.match(tmp_path / "events.parquet")) == []


def test_times_are_compared_with_times_and_not_with_texts() -> None:
    moments = ["2024-05-06T06:59:00Z", "2024-05-06T07:01:00Z"]
    events = [thence.Event(n, {"type": "A", "at": datetime.fromisoformat(at)}) for n, at in enumerate(moments)]
    late = "PATTERN A a WHERE a.at > {} RETURN a.at AS at"
    assert len(found(late.format("TIMESTAMP '2024-05-06T09:00:00+02:00'"), events)) == 1
    assert found(late.format("'2024-05-06T07:00:00Z'"), events) == []
    days = [thence.Event(n, {"type": "A", "at": date(2024, 5, n)}) for n in (6, 7)]
    assert found("PATTERN A a WHERE a.at = date '2024-05-07' RETURN a.at AS at", days) == [{"at": date(2024, 5, 7)}]
    with pytest.raises(thence.QueryError, match="'noon' is not a timestamp"):
        thence.parse(late.format("TIMESTAMP 'noon'"), language="sase+")
    named = "PATTERN SEQ(A date, A timestamp) WHERE date.x < timestamp.x RETURN date.x AS x, timestamp.x AS y"
    assert found(named, of([1, 2])[:2]) == [{"x": 1, "y": 2}]


NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def test_totals_by_a_time_and_of_times() -> None:
    in_rome = NOON.astimezone(timezone(timedelta(hours=2)))
    events = [
        thence.Event(time, {"type": kind, "k": key, "x": NOON + timedelta(days=time)})
        for time, (kind, key) in enumerate([("A", NOON), ("A", in_rome), ("B", NOON)])
    ]
    query = "PATTERN SEQ(A+ a[], B b) WHERE [k] AGGREGATE count(*) AS n, min(a[].x) AS low, max(a[].x) AS high BY k"
    assert found(query, events) == [{"k": NOON, "n": 2, "low": NOON, "high": NOON + timedelta(days=1)}]


@pytest.mark.parametrize("value", [":v", "'2024-02-30'^^xsd:date", "'a'@en", "0.5e0", "0.5", "true"])
def test_totals_are_saved_whatever_the_least_value_is(value: str) -> None:
    prefixes = "@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    events = [thence.Event(time, f"{prefixes} [] a :A ; :x {value} .") for time in (1, 2)]
    query = thence.parse("PATTERN A a AGGREGATE sum(a.x) AS s, min(a.x) AS low, max(a.x) AS high", language="sase+")
    whole, engine = query.engine(), query.engine()
    for event in events:
        pushed = [match.bindings for match in whole.push(event)]
        assert [match.bindings for match in engine.push(event)] == pushed
        restart(engine.answers.flow)
    assert [match.bindings for match in engine.close()] == [match.bindings for match in whole.close()]


def test_what_only_the_plain_evaluator_knows_is_asked_of_runs_that_are_counted_together() -> None:
    """Two ways to say the same, of which the machine can tell one."""
    events = [thence.Event(time, {"type": "B", "y": y}) for time, y in enumerate([2, 1, 2, 1.5])]
    query = "PATTERN SEQ(B a, B+ b[]) WHERE strict_contiguity(b[]) { CONDITION } WITHIN 3 AGGREGATE count(*) AS n"
    for condition in ("round(b[i].y) != a.y", "(b[i].y = 1 OR b[i].y = 'u') ^ a.y = 2"):
        read = thence.parse(query.replace("CONDITION", condition), language="sase+")
        counted, one_by_one = ([row.bindings["n"] for row in read.match(events, optimise=o)] for o in (True, False))  # type: ignore[union-attr]
        assert counted == one_by_one
    events = [thence.Event(time, {"type": "A", "x": 1, "y": y}) for time, y in enumerate([1, 1, "u"])]
    length = "PATTERN SEQ(A+ a[], A+ b[]) WHERE (b[i].x >= a.LEN OR b[i].y >= 2) WITHIN 6 AGGREGATE count(*) AS n"
    assert found(length, events) == [{"n": 2}]


@pytest.mark.parametrize(("aggregate", "lengths"), [("min", [2]), ("sum", [2, 1])])
def test_an_aggregate_of_a_number_and_a_text_is_null(aggregate: str, lengths: list[int]) -> None:
    query = f"PATTERN SEQ(A+ a[], B b) WHERE {aggregate}(a[].x) IS NULL RETURN a.LEN AS n"
    assert [row["n"] for row in found(query, of([0, "u"]))] == lengths


def test_a_greatest_of_what_is_no_number_is_asked_of_each_match() -> None:
    query = thence.parse(ANY_SUMS.replace("{ }", "{ b.x >= max(a[].x) }") + "count(*) AS n", language="sase+")
    events = [*of([1.0, math.nan])[:2], thence.Event(2, {"type": "B", "x": 2})]
    for optimise in (True, False):
        (row,) = query.match(events, optimise=optimise)
        assert row.bindings["n"].python == 2  # type: ignore[union-attr]


def test_made_events_are_in_the_namespace_of_the_query() -> None:
    query = """PREFIX : <http://foo/>
        PATTERN :A a RETURN (a.x AS x) AS Peak IN STREAM p;
        FROM p PATTERN :Peak q WHERE q.:x = 1 RETURN q.x AS x"""
    assert [match.bindings["x"].python for match in thence.parse(query).match(of([1, 2]))] == [1]  # type: ignore[union-attr]


def test_an_event_is_refused_once_whoever_reads_it() -> None:
    query = thence.parse("PATTERN A a RETURN a.x AS x UNION PATTERN A b RETURN b.x AS x", language="sase+")
    found = query.match([rdf(1, "[] a ex:A; ex:x 1, 2 ."), rdf(2, "[] a ex:A; ex:x 3 .")])
    assert (len(list(found)), found.counts.bad) == (2, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "PATTERN A a RETURN (a.x AS type) AS B IN STREAM s; FROM s PATTERN B b RETURN b.x",
            'has its own "type" already',
        ),
        ("PATTERN A a WITHIN 5 RETURN a.x AS x UNION PATTERN A a WITHIN 5 MINUTES RETURN a.x AS x", "is in ticks"),
        (
            "PATTERN A a RETURN a.x AS x UNION PATTERN A+ a[] WITHIN 5 AGGREGATE count(*) AS x",
            "or queries with AGGREGATE",
        ),
    ],
)
def test_queries_that_do_not_go_together_are_refused(text: str, reason: str) -> None:
    with pytest.raises(thence.QueryError, match=reason):
        thence.parse(text, language="sase+")


def test_a_quotient_of_what_no_double_holds_is_infinite() -> None:
    assert found("PATTERN A a RETURN a.x / 2 AS x, 2 / a.x AS y", of([10**400])) == [{"x": math.inf, "y": 0.0}]


@pytest.mark.parametrize(
    ("left", "right", "remainder"),
    [
        *[(7, 3, 1), (-7, 3, -1), (7, -3, 1), (10**30 + 5, 10**30, 5), (Decimal("7.50"), 2, Decimal("1.5"))],
        *[(5.5, 2, 1.5), (-5.5, 2, -1.5), (Decimal("5.5"), 2.0, 1.5), (2.0, math.inf, 2.0)],
        *[(7, 0, None), (7.5, 0.0, None), (Decimal("7.5"), Decimal("0.0"), None), ("u", 2, None), (2, "u", None)],
    ],
)
def test_a_remainder_is_exact_has_the_dividends_sign_and_is_missing_by_zero(
    left: Any, right: Any, remainder: Any
) -> None:
    """In a condition, where the machine computes it, and in RETURN, where the evaluator does."""
    events = [thence.Event(1, {"type": "A", "x": left}), thence.Event(2, {"type": "B", "x": right})]
    (row,) = found("PATTERN SEQ(A a, B b) RETURN a.x % b.x AS r", events)
    assert (row.get("r"), type(row.get("r"))) == (remainder, type(remainder))
    events.append(thence.Event(3, {"type": "C"} | ({} if remainder is None else {"x": remainder})))
    assert len(found("PATTERN SEQ(A a, B b, C c) WHERE a.x % b.x = c.x RETURN a.x", events)) == (remainder is not None)
    assert len(found("PATTERN SEQ(A a, B b) WHERE NOT a.x % b.x = 99 RETURN a.x", events)) == (remainder is not None)
