"""SASE+: partitions by what is computed of each event, `PARTITION BY k % 10` (SA-13, SA-14, SA-15)."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

import thence
from support.sase_values import found, rdf
from support.shards import Pipeline
from thence.engines.automaton.plan.sase import plan
from thence.extraction import attributes
from thence.lang.sase.parser import parse

pytestmark = pytest.mark.numba

PAIRS = "PATTERN SEQ(A a, A b) WHERE {}(a, b) {{ PARTITION BY {} }} RETURN a.n AS a, b.n AS b"
CONTIGUOUS = PAIRS.replace("{}(", "partition_contiguity(", 1)


def numbered(*attributes: dict[str, Any], kind: str = "A") -> list[thence.Event]:
    """Events at the times 1, 2, …, which are their `n`; `type` may be another."""
    return [thence.Event(n, {"type": kind, "n": n, **each}) for n, each in enumerate(attributes, start=1)]


def keyed(*keys: Any) -> list[thence.Event]:
    """Events with a `k`; None is for one without."""
    return numbered(*({} if key is None else {"k": key} for key in keys))


def pairs(query: str, events: list[thence.Event]) -> list[tuple[int, int]]:
    """The matches, which are the same optimised or not, and in shards."""
    rows = sorted((row["a"], row["b"]) for row in found(query, events))
    read = thence.parse(query, language="sase+")
    plainly = [match.bindings for match in read.match(events, optimise=False)]  # type: ignore[union-attr]
    assert sorted((row["a"].python, row["b"].python) for row in plainly) == rows  # type: ignore[union-attr]
    (block,) = parse(query).blocks
    for shards in (2, 7):
        pipeline = Pipeline(plan(block), [("events", event) for event in events], shards)
        assert sorted((_number(row["a"]), _number(row["b"])) for row in pipeline.batch()) == rows
    return rows


def _number(cell: Any) -> int:
    return int(cell["value"])


@pytest.mark.parametrize(
    ("strategy", "matches"),
    [
        ("partition_contiguity", [(1, 3), (2, 4), (3, 5)]),
        ("skip_till_next_match", [(1, 3), (2, 4), (3, 5)]),
        ("skip_till_any_match", [(1, 3), (1, 5), (2, 4), (3, 5)]),
        ("strict_contiguity", []),
    ],
)
def test_events_are_in_one_partition_if_what_is_computed_of_them_is_equal(
    strategy: str, matches: list[tuple[int, int]]
) -> None:
    assert pairs(PAIRS.format(strategy, "k % 2"), keyed(1, 2, 3, 4, 5)) == matches


def test_values_are_equal_whatever_their_types() -> None:
    assert pairs(CONTIGUOUS.format("k - 1"), keyed(2, Decimal("2.00"), 2.0, 3)) == [(1, 2), (2, 3)]
    assert pairs(CONTIGUOUS.format("k / 2"), keyed(2, Decimal("2.00"), 2.0, 3)) == [(1, 2), (2, 3)]
    halves = numbered({"k": 1, "m": 0.5}, {"k": Decimal("0.5"), "m": 1}, {"k": 2, "m": Decimal("0.250")})
    assert pairs(CONTIGUOUS.format("k * m"), halves) == [(1, 2), (2, 3)]


def test_values_of_many_digits_are_equal_whatever_they_were_computed_of() -> None:
    """Some of them the machine computes, others only the evaluator, and either writes them in its own way."""
    large = numbered(
        {"k": 2**61, "m": 2},
        {"k": 2**62, "m": 1},
        {"k": 2.0**61, "m": 2},
        {"k": Decimal(2**63), "m": Decimal("0.5")},
        {"k": 2**62 + 1, "m": 1},
    )
    assert pairs(CONTIGUOUS.format("k * m"), large) == [(1, 2), (2, 3), (3, 4)]
    larger = numbered({"k": 10**20, "m": 10**20}, {"k": Decimal(10**39), "m": 10}, {"k": 10**40, "m": 1})
    assert pairs(CONTIGUOUS.format("k * m"), larger) == [(1, 2), (2, 3)]
    small = numbered({"k": Decimal("0.1") ** 12, "m": Decimal("0.3") ** 12}, {"k": Decimal("0.03") ** 12, "m": 1})
    assert pairs(CONTIGUOUS.format("k * m"), small) == [(1, 2)]


def test_an_event_of_the_partition_that_cannot_be_selected_breaks_contiguity() -> None:
    """SA-15: of any type. An event of another partition does not."""
    broken = numbered({"k": 1}, {"k": 3, "type": "X"}, {"k": 5})
    assert pairs(CONTIGUOUS.format("k % 2"), broken) == []
    beside = numbered({"k": 1}, {"k": 2, "type": "X"}, {"k": 5})
    assert pairs(CONTIGUOUS.format("k % 2"), beside) == [(1, 3)]


@pytest.mark.parametrize("none", [None, "u", float("nan"), True])
def test_an_event_for_which_nothing_can_be_computed_is_in_no_partition_and_breaks_none(none: Any) -> None:
    assert pairs(CONTIGUOUS.format("k % 2"), keyed(1, none, 3, none, none)) == [(1, 3)]
    assert pairs(PAIRS.format("skip_till_any_match", "k % 2"), keyed(none, none, 1)) == []


def test_a_remainder_by_zero_is_in_no_partition() -> None:
    events = numbered({"k": 1, "m": 0}, {"k": 1, "m": 0}, {"k": 5, "m": 2}, {"k": 7, "m": 3})
    assert pairs(CONTIGUOUS.format("k % m"), events) == [(3, 4)]


def test_with_an_equivalence_test_partition_by_alone_makes_the_partitions() -> None:
    """SA-14: events of a match agree in both; what breaks contiguity is decided by PARTITION BY."""
    query = CONTIGUOUS.format("k % 2 ^ [y]")
    events = numbered({"k": 1, "y": 1}, {"k": 2, "y": 1}, {"k": 3, "y": 1}, {"k": 4, "y": 2}, {"k": 6, "y": 1})
    assert pairs(query, events) == [(1, 3)]
    assert pairs(query.replace("partition_contiguity", "skip_till_next_match"), events) == [(1, 3), (2, 5)]


def test_a_negated_event_counts_in_its_partition_alone() -> None:
    """SA-34."""
    query = "PATTERN SEQ(A a, ~X x, A b) WHERE PARTITION BY k % 2 RETURN a.n AS a, b.n AS b"
    assert pairs(query, numbered({"k": 1}, {"k": 2, "type": "X"}, {"k": 3})) == [(1, 3)]
    assert pairs(query, numbered({"k": 1}, {"k": 5, "type": "X"}, {"k": 3})) == []
    assert pairs(query, numbered({"k": 1}, {"type": "X"}, {"k": 3})) == [(1, 3)]


def test_a_contiguous_series_that_must_be_absent_is_of_one_partition() -> None:
    query = """PATTERN SEQ(A a, ~(X+ x[]), A b)
        WHERE PARTITION BY k % 2 ^ partition_contiguity(x[]) { x.LEN = 2 } RETURN a.n AS a, b.n AS b"""
    there = numbered({"k": 1}, {"k": 3, "type": "X"}, {"k": 2, "type": "Y"}, {"k": 5, "type": "X"}, {"k": 7})
    assert pairs(query, there) == []
    broken = numbered({"k": 1}, {"k": 3, "type": "X"}, {"k": 9, "type": "Y"}, {"k": 5, "type": "X"}, {"k": 7})
    assert pairs(query, broken) == [(1, 5)]


def test_functions_and_comparisons_are_keys_too() -> None:
    texts = numbered({"s": "Ada"}, {"s": "Ben"}, {"s": "ADA"}, {"s": 1}, {"s": "BEN"})
    assert pairs(CONTIGUOUS.format("lower(s)"), texts) == [(1, 3), (2, 5)]
    assert pairs(CONTIGUOUS.format("length(s), lower(s)"), texts) == [(1, 3), (2, 5)]
    assert pairs(CONTIGUOUS.format("k > 2"), keyed(1, 3, 2, 4)) == [(1, 3), (2, 4)]
    assert pairs(CONTIGUOUS.format("k IS NULL"), keyed(1, None, 2, None)) == [(1, 3), (2, 4)]
    assert pairs(CONTIGUOUS.format("(k = 1 OR k = 2)"), keyed(1, 3, 2, 4)) == [(1, 3), (2, 4)]


def test_times_are_keys_too() -> None:
    assert pairs(CONTIGUOUS.format("time % 2"), keyed(0, 0, 0, 0)) == [(1, 3), (2, 4)]
    spans = [(7, 8), (7, 9), (9, 10), (10, 12)]
    hours = [datetime(2024, 5, 6, hour, tzinfo=UTC) for hour in range(24)]
    stays = numbered(*({"since": hours[since], "until": hours[until]} for since, until in spans))
    assert pairs(CONTIGUOUS.format("until - since"), stays) == [(1, 3), (2, 4)]


def test_an_attribute_that_is_called_as_an_expression_is_written_is_another_key() -> None:
    events = numbered({"k": 1, "k + 1": 7}, {"k": 1, "k + 1": 8}, {"k": 2, "k + 1": 7}, {"k": 1, "k + 1": 7})
    assert pairs(CONTIGUOUS.format("k + 1"), events) == [(1, 2), (2, 4)]
    assert pairs(CONTIGUOUS.format("`k + 1`"), events) == [(1, 3), (3, 4)]
    assert pairs(CONTIGUOUS.format("`k + 1`, k + 1"), events) == [(1, 4)]


def test_totals_are_by_what_is_computed() -> None:
    query = """PATTERN SEQ(A a, A b) WHERE skip_till_any_match(a, b) { PARTITION BY k % 2, m }
        AGGREGATE count(*) AS n, sum(b.k) AS s BY k % 2"""
    events = numbered(*({"k": k, "m": 1} for k in (1, 2, Decimal("3.0"), 4, 5.0)))
    rows = found(query, events)
    assert sorted((row["k%2"], row["n"], row["s"]) for row in rows) == [(0, 1, 4), (1, 3, 13.0)]
    (block,) = parse(query).blocks
    pipeline = Pipeline(plan(block), [("events", event) for event in events], 3)
    shown = sorted((_number(row["k%2"]), _number(row["n"])) for row in pipeline.batch())
    assert shown == [(0, 1), (1, 3)]


def test_rdf_events_have_partitions_by_their_attributes() -> None:
    events = [
        rdf(n, f"[] a ex:A; ex:n {n} ; ex:k {k} .") for n, k in enumerate(["1", "2", "3.0", "4e0", "5.00"], start=1)
    ]
    assert pairs(CONTIGUOUS.format("<http://example.org/k> % 2"), events) == [(1, 3), (2, 4), (3, 5)]


def test_shards_go_by_what_is_computed() -> None:
    def key(text: str) -> list[str]:
        return list(plan(parse(text).blocks[0]).shard_key.names)

    assert key("PATTERN SEQ(A a, A b) WHERE PARTITION BY k % 2 ^ [y] WITHIN 5 RETURN a.n") == ["y", "k % 2"]
    contiguous = "PATTERN SEQ(A a, A b) WHERE partition_contiguity(a, b) { PARTITION BY k % 2 ^ [y] } RETURN a.n"
    assert key(contiguous) == ["k % 2"]
    totals = "PATTERN SEQ(A a, A b) WHERE PARTITION BY k % 2, k WITHIN 5 AGGREGATE count(*) BY k % 2"
    assert key(totals) == ["k % 2"]


def test_explain_tells_what_is_computed() -> None:
    query = thence.parse("PATTERN SEQ(A a, A b) WHERE PARTITION BY (k+1)%2, lower(`my s`) WITHIN 5 RETURN a.n")
    shown = query.explain()
    assert "PARTITION BY (k + 1) % 2, lower(`my s`): the same in all events of a match\n" in shown
    assert shown.endswith("Key: (k + 1) % 2, lower(`my s`)")
    assert '"partition": [\n    "(k + 1) % 2",' in query.explain("json")


@pytest.mark.parametrize("key", ["k % 10", "floor(k / 10)", "-round(abs(k)) + 1", "(k > 10 AND k < 20)"])
def test_keys_of_numbers_are_computed_without_the_evaluator(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be asked for each value, and there may be one for each event."""
    monkeypatch.setattr(attributes, "attempt", None)
    events = keyed(*range(40), 2.5, Decimal("7.25"), -3)
    assert found(PAIRS.format("skip_till_next_match", key), events)
