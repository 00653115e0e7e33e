"""The machine gives the same rows where Python runs it, for want of much to do, as it gives compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import test_sase_agrees as sase
import test_spaseq_agrees as spaseq
import thence
from oracle import sase_cases
from oracle.sase_kinds import of_all_kinds
from strategies import examples
from strategies.spaseq import Case, cases
from thence.kernel import machine, sequence
from thence.rdf import interpreted

pytestmark = pytest.mark.numba

cuts = st.lists(st.integers(0, 12), max_size=3)


@pytest.fixture(autouse=True, scope="module")
def _little_to_do() -> Iterator[None]:
    """Nothing is compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreted, "LITTLE", 1 << 60)
        yield


@given(cases(), cuts)
def test_sequences_of_spaseq_are_those_of_the_definitions(case: Case, cuts: list[int]) -> None:
    assert spaseq.told_by_the_engine(case, cuts=cuts) == spaseq.told_by_the_oracle(case)


@given(of_all_kinds(sase_cases.cases()), cuts)
def test_components_of_sase_are_those_of_the_definitions(case: sase_cases.Case, cuts: list[int]) -> None:
    sase.agree(case, cuts)


@examples(0.5)
@given(sase_cases.aggregate_cases(plain=True), cuts)
def test_totals_of_merged_runs_are_those_of_the_definitions(case: sase_cases.Case, cuts: list[int]) -> None:
    sase.agree_in_total(case, cuts)


QUERY = thence.parse("PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) { } WITHIN 99 RETURN a.LEN AS n")
EVENTS = [thence.Event(time, {"type": "A"}) for time in range(9)] + [thence.Event(9, {"type": "B"})]


def test_partial_matches_that_become_many_are_taken_by_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    monkeypatch.setattr(sequence, "A_FEW", 8)
    monkeypatch.setattr(interpreted, "LITTLE", 4_000)
    monkeypatch.setattr(machine.step_in_closures, "done", 0)
    monkeypatch.setattr(machine.step_in_closures, "kept", False)
    compiled = machine.step_in_closures.compiled
    monkeypatch.setattr(machine.step_in_closures, "compiled", lambda *given: taken.append(1) or compiled(*given))
    assert len(list(QUERY.match(EVENTS))) == 2**9 - 1
    assert taken


def test_more_partial_matches_than_allowed_are_refused_by_whoever_takes_the_rows() -> None:
    with pytest.raises(thence.LimitError, match="more than 100 partial matches"):
        list(QUERY.match(EVENTS, max_runs=100))
    assert len(list(QUERY.match(EVENTS, max_runs=1_000))) == 2**9 - 1
