"""The machine gives the same rows where Python runs it, for want of much to do, as it gives compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from oracle import sase_cases
from oracle.sase_kinds import of_all_kinds
from strategies import examples
from strategies.spaseq import Case, cases
from support import sase_runs as sase
from support import spaseq_runs as spaseq
from thence.engines.automaton import machine
from thence.jit import compiled as interpreted

pytestmark = pytest.mark.numba

QUERY = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) { } WITHIN 99 RETURN a.LEN AS n"
EVENTS = [thence.Event(time, {"type": "A"}) for time in range(9)] + [thence.Event(9, {"type": "B"})]

cuts = st.lists(st.integers(0, 12), max_size=3)


@pytest.fixture(autouse=True, scope="module")
def _little_to_do() -> Iterator[None]:
    """Nothing is compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreted, "LITTLE", 1 << 60)
        yield


@given(cases(), cuts)
def test_sequences_of_spaseq_are_those_of_the_definitions(case: Case, cuts: list[int]) -> None:
    assert spaseq.engine_answers(case, cuts=cuts) == spaseq.oracle_answers(case)


@given(of_all_kinds(sase_cases.cases()), cuts)
def test_components_of_sase_are_those_of_the_definitions(case: sase_cases.Case, cuts: list[int]) -> None:
    sase.agree(case, cuts)


@examples(0.5)
@given(sase_cases.aggregate_cases(plain=True), cuts)
def test_totals_of_merged_runs_are_those_of_the_definitions(case: sase_cases.Case, cuts: list[int]) -> None:
    sase.agree_in_total(case, cuts)


@examples(0.5)
@given(cases(), st.integers(0, 3_000))
def test_sequences_are_the_same_wherever_python_leaves_off(case: Case, little: int) -> None:
    with left_off_after(little, machine.step, machine.resolve):
        assert spaseq.engine_answers(case) == spaseq.oracle_answers(case)


@examples(0.5)
@given(sase_cases.cases(), st.integers(0, 3_000))
def test_components_are_the_same_wherever_python_leaves_off(case: sase_cases.Case, little: int) -> None:
    with left_off_after(little, machine.step_in_closures):
        sase.agree(case, [])


@contextmanager
def left_off_after(little: int, *functions: machine.Metered) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreted, "LITTLE", little)
        for function in functions:
            patch.setattr(function, "done", 0)
            patch.setattr(function, "kept", False)
        yield


WIDE = " || ".join(f"?y - ?x = {number}" for number in range(300))
COSTLY = {
    "partial matches": (QUERY, EVENTS),
    "a long condition": (
        f"SELECT * FROM STREAM S <x:s> {{ SEQ (A : B) DEFINE GPM A ON S {{ ?a <x:p> ?x }} "
        f"DEFINE GPM B ON S {{ ?b <x:q> ?y FILTER({WIDE}) }} }}",
        [*(thence.Event(time, "<x:s> <x:p> 2 .") for time in range(9)), thence.Event(9, "<x:s> <x:q> -1 .")],
    ),
    "what may not be there": (
        "SELECT * WITHIN 99 TICKS FROM STREAM S <x:s> { SEQ (A ; N! : C) DEFINE GPM A ON S { ?a <x:p> ?x } "
        "DEFINE GPM N ON S { ?n <x:n> ?z FILTER(?z > ?x) } DEFINE GPM C ON S { ?c <x:q> ?y } }",
        [
            thence.Event(0, "<x:s> <x:p> 2 ."),
            *(thence.Event(time, "<x:s> <x:n> 1 .") for time in range(1, 40)),
            *(thence.Event(time, "<x:s> <x:q> 1 .") for time in range(50, 55)),
        ],
    ),
}


@pytest.mark.parametrize("what", COSTLY)
def test_few_events_that_cost_much_are_taken_by_compiled_code(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    text, events = COSTLY[what]
    query, called = thence.parse(text), []
    step = machine.step_in_closures if what == "partial matches" else machine.step
    compiled = step.compiled
    expected = [
        match.times for match in query.match(events)
    ]  # Python's form is built of the compiled one, here at last
    monkeypatch.setattr(step, "compiled", lambda *given: called.append(1) or compiled(*given))
    assert [match.times for match in query.match(events)] == expected
    assert not called
    with left_off_after(5_000, step):
        assert [match.times for match in query.match(events)] == expected
    assert called


def test_more_partial_matches_than_allowed_are_refused_by_whoever_takes_the_rows() -> None:
    with pytest.raises(thence.LimitError, match="more than 100 partial matches"):
        list(thence.parse(QUERY).match(EVENTS, max_runs=100))
    assert len(list(thence.parse(QUERY).match(EVENTS, max_runs=1_000))) == 2**9 - 1
