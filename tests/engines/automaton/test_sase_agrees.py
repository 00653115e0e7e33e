"""SASE+: the engine gives the rows that the definitions give, on random queries and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.sase import rows
from oracle.sase_cases import Case, aggregate_cases, cases, tied_cases, unended_cases
from oracle.sase_kinds import of_all_kinds
from oracle.sase_notation import read as notation
from oracle.sase_query import Event as OracleEvent
from oracle.sase_timed import of_times
from strategies import examples
from support.flows import flow_of, restart
from support.sase_runs import _ints, agree, agree_in_total, comparable, comparable_row, encoded, programs_of, unit
from thence.columns.batches import EventBatch, encode
from thence.engines.automaton.memory import NEVER
from thence.engines.automaton.plan.sase import plan
from thence.interface.solutions import Row
from thence.lang.sase.parser import parse
from thence.local.flow import LocalFlow
from thence.rdf.events import Event
from thence.rdf.terms import Literal

pytestmark = pytest.mark.numba


@settings(max_examples=5 * settings.default.max_examples)  # of all random cases the ones that matter most
@given(cases(), st.lists(st.integers(0, 7), min_size=1, max_size=4))
def test_rows_are_those_of_the_definitions_optimised_or_not_at_once_or_cut(case: Case, cuts: list[int]) -> None:
    agree(case, cuts)


@given(unended_cases(), st.lists(st.integers(0, 7), max_size=3))
def test_the_end_of_the_input_completes_the_matches_of_the_definitions(case: Case, cuts: list[int]) -> None:
    """SA-21, SA-22"""
    agree(case, cuts)


@settings(max_examples=2 * settings.default.max_examples)
@given(tied_cases(), st.lists(st.integers(0, 7), max_size=2))
def test_in_which_order_events_of_one_time_stand_makes_no_difference(cases: list[Case], cuts: list[int]) -> None:
    """SA-7, SA-8; with `!`, and with another strategy for each variable (SA-11, SA-19). Nor does it make a difference
    that they come one by one, as they are pushed."""
    for case in cases:
        agree(case, cuts)
        runner, batch = flow_of(programs_of(case.query)[0]), encoded(case.events)
        found = Counter(comparable_row(row, runner) for row in one_by_one(runner, batch))
        assert found == Counter(map(comparable, rows(case.query, case.events)))


@st.composite
def ranked(draw: st.DrawFn) -> Case:
    """A query that asks for the k-th highest or lowest value of a closure, in each place where it may be asked for."""
    strategy = draw(st.sampled_from(["skip_till_next_match", "skip_till_any_match", "strict_contiguity"]))
    function, k = draw(st.sampled_from(["highest", "lowest"])), draw(st.integers(2, 3))
    sign = draw(st.sampled_from([">", "<", ">=", "=", "!="]))
    earlier, whole = f"{function}({k}, a[..i-1].x)", f"{function}({k}, a[].x)"
    asked = draw(
        st.sampled_from(
            [
                f"{strategy}(a[], b) {{ (a[i].x {sign} {earlier} OR a[i].y = 1) }}",
                f"{strategy}(a[], b) {{ ({earlier} IS NULL OR a[i].x {sign} {earlier}) }}",
                f"{strategy}(a[], b) {{ b.x {sign} {whole} }}",
                f"{strategy}(a[]!, b) {{ {whole} {sign} 1 }}",
            ]
        )
    )
    query = notation(f"A+ a[], B b WHERE {asked} WITHIN 9 RETURN a.LEN AS n, {whole} AS v")
    values = st.sampled_from([2, 1, 3, 0, 2, -1, 1, 1.5, 2.5, 4] * 2 + [None, "u"])
    events = []
    for time, kind in enumerate(["A"] * draw(st.integers(3, 6)) + ["B"]):
        given = (("x", draw(values)), ("y", draw(values)))
        events.append(OracleEvent(kind, time, tuple(each for each in given if each[1] is not None), f"e{time}"))
    return Case(query, tuple(events))


@settings(max_examples=2 * settings.default.max_examples)
@given(ranked(), st.lists(st.integers(0, 7), min_size=1, max_size=3))
def test_the_kth_highest_and_lowest_are_those_of_the_definitions(case: Case, cuts: list[int]) -> None:
    agree(case, cuts)


@examples(0.8)
@given(of_all_kinds(cases()), st.lists(st.integers(0, 7), min_size=1, max_size=4))
def test_rows_are_those_of_the_definitions_for_values_and_questions_of_all_kinds(case: Case, cuts: list[int]) -> None:
    agree(case, cuts)


@examples(1.5)
@given(of_times(cases()), st.lists(st.integers(0, 7), min_size=1, max_size=3))
def test_times_and_durations_are_those_of_the_definitions(case: Case, cuts: list[int]) -> None:
    """SA-26, SA-51: over dates and ticks, in conditions, HAVING and RETURN, one by one too."""
    agree(case, cuts)
    runner = flow_of(programs_of(case.query)[0])
    found = Counter(comparable_row(row, runner) for row in one_by_one(runner, encoded(case.events)))
    assert found == Counter(comparable(row, unit(case.query)) for row in rows(case.query, case.events))


@examples(0.3)
@given(of_times(aggregate_cases(plain=True)), st.lists(st.integers(0, 7), max_size=3))
def test_totals_of_times_are_those_of_the_matches_one_by_one(case: Case, cuts: list[int]) -> None:
    agree_in_total(case, cuts)


def one_by_one(runner: LocalFlow, batch: EventBatch) -> Iterator[Row]:
    """Fed event by event; others may come at the time of each."""
    for number, time in enumerate(batch.ends.tolist()):
        yield from runner.feed({"events": [batch.take(_ints([number]))]}, time)
        restart(runner)
    yield from runner.feed({}, int(NEVER))


@settings(max_examples=2 * settings.default.max_examples)
@given(aggregate_cases(plain=True), st.lists(st.integers(0, 7), max_size=3))
def test_totals_are_those_of_the_matches_one_by_one(case: Case, cuts: list[int]) -> None:
    agree_in_total(case, cuts)


@examples(0.3)
@given(of_all_kinds(aggregate_cases(plain=True)), st.lists(st.integers(0, 7), max_size=3))
def test_totals_are_those_of_the_matches_one_by_one_for_values_of_all_kinds(case: Case, cuts: list[int]) -> None:
    agree_in_total(case, cuts)


@examples(0.5)
@given(unended_cases(totals=True), st.lists(st.integers(0, 7), max_size=3))
def test_totals_have_what_the_end_of_the_input_completes(case: Case, cuts: list[int]) -> None:
    agree_in_total(case, cuts)


@given(tied_cases(totals=True), st.lists(st.integers(0, 7), max_size=2))
def test_in_which_order_events_of_one_time_stand_makes_no_difference_to_totals(
    cases: list[Case], cuts: list[int]
) -> None:
    for case in cases:
        agree_in_total(case, cuts)


@st.composite
def merged(draw: st.DrawFn) -> Case:
    """AGGREGATE whose runs merge, over a stream with many ties of events that last."""
    patterns = [("A+ a[], B b", "a[], b"), ("A a, B b", "a, b"), ("A a, A+ b[], B c", "a, b[], c")]
    pattern, chosen = draw(st.sampled_from(patterns))
    within = draw(st.sampled_from(["", "WITHIN 3 "]))
    query = notation(f"{pattern} WHERE skip_till_any_match({chosen}) {{ }} {within}AGGREGATE count(*) AS n")
    kinds = draw(st.lists(st.sampled_from("AAAB"), min_size=2, max_size=6))
    events, time = [], 0
    for number, kind in enumerate(kinds):
        events.append(OracleEvent(kind, time, (), f"e{number}", draw(st.sampled_from([0, 1, 3, 5]))))
        time += draw(st.sampled_from([1, 0]))
    return Case(query, tuple(events))


@settings(max_examples=2 * settings.default.max_examples)
@given(merged(), st.lists(st.integers(0, 7), max_size=3))
def test_a_total_starts_and_ends_with_its_matches(case: Case, cuts: list[int]) -> None:
    agree_in_total(case, cuts)


def test_an_event_has_its_time_as_an_attribute() -> None:
    query = parse("PATTERN SEQ(A a, A b) WHERE b.time - a.time > 1 WITHIN 9 RETURN a.time AS t").queries[-1].blocks[0]
    runner = flow_of(plan(query))
    events = [Event(time, {"type": "A"}) for time in (1, 2, 4)]
    found = [row.bindings["t"] for row in runner.run({"events": [encode(events, stream="events")]})]
    assert [time.python for time in found if isinstance(time, Literal)] == [1, 2]
