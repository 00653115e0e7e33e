"""SASE+ and SPAseQ: sum and avg are exact in every clause, and rounded once at the end (C-31)."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import thence
from oracle import floating
from thence.algebra.sase import AggregateName
from thence.engines.automaton import conditions
from thence.local.match_table import python_cell
from thence.rdf.values import literal
from thence.relation.accumulators import sase_accumulator

LARGE = [1e16, 1.0, -1e16, 1.0]
CLOSURE = "PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity(a[], b) { a[1].n = 0 } "


def events(values: list[Any]) -> list[thence.Event]:
    listed = [thence.Event(n, {"type": "A", "n": n, "x": value}) for n, value in enumerate(values)]
    return [*listed, thence.Event(len(values), {"type": "B", "y": 2.0})]


def found(query: str, values: list[Any]) -> list[dict[str, Any]]:
    matches = thence.parse(query, language="sase+").match(events(values))
    return [{name: python_cell(cell) for name, cell in match.bindings.items()} for match in matches]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "query",
    [
        CLOSURE + "RETURN sum(a[].x) AS s, avg(a[].x) AS m",
        CLOSURE + "RETURN sum(a[].x) + 0 AS s, avg(a[].x) AS m",
        CLOSURE + "AGGREGATE sum(a[].x) AS s, avg(a[].x) AS m",
        CLOSURE + "HAVING sum(a[].x) = 2 AND avg(a[].x) = 0.5 RETURN sum(a[].x) AS s, avg(a[].x) AS m",
        CLOSURE.replace("}", "^ b.y = sum(a[].x) }") + "RETURN sum(a[].x) AS s, avg(a[].x) AS m",
        CLOSURE.replace("}", "^ sum(a[].x) = 2 ^ avg(a[].x) = 0.5 }") + "RETURN sum(a[].x) AS s, avg(a[].x) AS m",
    ],
)
def test_doubles_that_cancel_sum_exactly_in_every_clause(query: str) -> None:
    assert found(query, LARGE) == [{"s": 2.0, "m": 0.5}]


def test_the_sum_before_an_event_is_exact() -> None:
    query = CLOSURE.replace("}", "^ a[i].x >= sum(a[..i-1].x) - 1e17 ^ b.y = 2 }") + "RETURN a.LEN AS n"
    exact = query.replace("- 1e17", "- 1")  # 1, -1e16 after 1e16: 1e16 + 1 - 1
    assert found(query, LARGE) == [{"n": 4}]
    assert found(exact, [1e16, 1e16]) == [{"n": 2}]
    beyond = CLOSURE.replace("}", "^ a[i].x <= sum(a[..i-1].x) }") + "RETURN a.LEN AS n"
    assert found(beyond, [1e16, 1.0, -1e16, 1.0, 2.0]) == [{"n": 5}]  # 2.0 <= 2.0, where rounding on the way says 1.0


@pytest.mark.parametrize(
    ("values", "total", "mean"),
    [
        ([Decimal("0.1")] * 3, Decimal("0.3"), 0.1),  # 0.3 / 3 of doubles is 0.09999999999999999
        ([0.1, 0.2, 0.3], 0.6, 0.2),
        ([1e308, 1e308, -1e308], 1e308, 1e308 / 3),
        ([2**53 + 1, 0.5], float(2**53 + 2), (2**53 + 1.5) / 2),
        ([1, Decimal("0.5"), 0.25], 1.75, 1.75 / 3),
        ([math.inf, 1.0], math.inf, math.inf),
        ([-0.0], 0.0, 0.0),
        ([5e-324, 1.0], 1.0, 0.5),
    ],
)
def test_a_sum_and_an_average_are_rounded_once(values: list[Any], total: Any, mean: float) -> None:
    (row,) = found(CLOSURE + "RETURN sum(a[].x) AS s, avg(a[].x) AS m", values)
    (whole,) = found(CLOSURE + "AGGREGATE sum(a[].x) AS s, avg(a[].x) AS m", values)
    assert list(map(repr, row.values())) == list(map(repr, whole.values())) == [repr(total), repr(mean)]


@pytest.mark.parametrize("form", ["RETURN", "AGGREGATE"])
def test_a_sum_of_singles_is_a_single(form: str) -> None:
    document = "@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . [] a :{} ."
    singles = [document.format(f'A; :n {n}; :x "{x}"^^xsd:float') for n, x in enumerate([0.1, 0.2, 0.7])]
    listed = [thence.Event(n, text) for n, text in enumerate([*singles, document.format("B")])]
    (match,) = thence.parse(CLOSURE + f"{form} sum(a[].x) AS s, avg(a[].x) AS m", language="sase+").match(listed)
    texts = {name: str(cell) for name, cell in match.bindings.items()}  # type: ignore[union-attr]
    xsd = "http://www.w3.org/2001/XMLSchema#"
    assert texts == {"s": f'"1.0E0"^^<{xsd}float>', "m": f'"3.333333308498065E-1"^^<{xsd}double>'}


def test_a_sum_of_common_doubles_is_told_without_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices of some magnitudes: the sum and what its rounding drops fit two doubles."""

    def asked(*arguments: object) -> None:
        raise AssertionError("the history was asked")

    monkeypatch.setattr(conditions, "attributes_of_event", asked)
    values = [0.1 * n + 1e6 * (n % 3) for n in range(1, 40)]
    query = CLOSURE.replace("}", "^ a[i].x >= avg(a[..i-1].x) - 1e9 ^ sum(a[].x) > 1 }")
    (row,) = found(query + "RETURN sum(a[].x) AS s, avg(a[].x) AS m", values)
    assert row == {"s": math.fsum(values), "m": floating.total(values, "double", len(values))}


DOUBLES = st.one_of(st.sampled_from([1e16, -1e16, 0.1, 1.0, 3.0, -0.0, 1e308, 5e-324]), st.floats())
NUMBERS = st.one_of(DOUBLES, st.integers(-(2**60), 2**60), st.decimals(-1000, 1000, places=2))


@given(st.lists(NUMBERS, min_size=1, max_size=6))
@example([1e16, 1.0, -1e16, 1.0])
@example([4503599627370497.5, 1e-30, 3.0])
def test_sums_are_those_of_fractions(values: list[Any]) -> None:
    (row,) = found(CLOSURE + "RETURN sum(a[].x) AS s, avg(a[].x) AS m", values)
    members = [value if isinstance(value, float) else Fraction(value) for value in values]
    assert repr(row["m"]) == repr(floating.total(members, "double", len(values)))
    if any(isinstance(value, float) for value in values):
        assert repr(row["s"]) == repr(floating.total(members, "double"))
    else:
        assert row["s"] == sum(members, Fraction(0))


SUMMARIES = [*((each, None) for each in AggregateName if each.value not in ("highest", "lowest"))]
RANKED = [(AggregateName.HIGHEST, 2), (AggregateName.LOWEST, 2), (AggregateName.HIGHEST, 3)]


@given(
    st.lists(st.none() | NUMBERS | st.integers(-2, 2), min_size=1, max_size=6) | st.lists(NUMBERS | st.text(max_size=1))
)
def test_slots_of_a_run_hold_what_accumulators_say(values: list[Any]) -> None:
    """The compiled machine's slots (`running_aggregates`), or the history behind them, and SA-27's definition."""
    asked = [f"{name.value}(a[].x)" for name, _ in SUMMARIES] + [f"{name.value}({k}, a[].x)" for name, k in RANKED]
    columns = ", ".join(f"{text} AS c{n}" for n, text in enumerate(asked))
    listed = [thence.Event(n, {"type": "A", "n": n, "x": value}) for n, value in enumerate(values)]
    listed.append(thence.Event(len(values), {"type": "B"}))
    matches = list(thence.parse(CLOSURE + f"RETURN {columns}", language="sase+").match(listed))
    expected = [
        sase_accumulator(name, k).add_all(literal(value) for value in values if value is not None)
        for name, k in (*SUMMARIES, *RANKED)
    ]
    for match in matches:
        cells = [match.bindings.get(f"c{n}") for n in range(len(asked))]
        assert [repr(python_cell(cell)) for cell in cells] == [repr(python_cell(cell)) for cell in expected]
    assert len(matches) == bool(values)


def test_spaseq_sums_exactly_over_a_closure() -> None:
    query = thence.parse(
        "PREFIX : <http://example.org/> SELECT (SUM(?x) AS ?s) (AVG(?x) AS ?m) FROM STREAM S <x:S> "
        "WHERE { SEQ (A+, B) DEFINE GPM A ON S { ?a :x ?x } DEFINE GPM B ON S { ?b :y ?y } }",
        language="spaseq",
    )
    listed = [thence.Event(n, f"@prefix : <http://example.org/> . :a :x {x:e} .") for n, x in enumerate(LARGE)]
    listed.append(thence.Event(4, "@prefix : <http://example.org/> . :b :y 1 ."))
    matches = [each for each in query.match({"S": listed}) if len(each.events) == 5]  # type: ignore[union-attr]
    assert [{name: python_cell(cell) for name, cell in match.bindings.items()} for match in matches] == [  # type: ignore[union-attr]
        {"s": 2.0, "m": 0.5}
    ]
