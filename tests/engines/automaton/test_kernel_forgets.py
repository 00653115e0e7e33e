"""What no run can need any more is forgotten: terms, partitions, history."""

from __future__ import annotations

import pytest
from hypothesis import given

import thence.engines.automaton.contiguity
import thence.engines.automaton.step
from strategies.spaseq import Case, cases
from support.flows import flow_of
from support.spaseq_runs import engine_answers, oracle_answers
from thence.columns.batches import encode
from thence.engines.automaton.memory import RUN_CAPACITY
from thence.engines.automaton.plan.spaseq import plan
from thence.lang.spaseq.parser import parse
from thence.rdf.events import Event

pytestmark = pytest.mark.numba

QUERY = """
    PREFIX : <http://example.org/>
    SELECT ?who ?a ?b WITHIN 20 TICKS PARTITION BY (?who) FROM STREAM S <http://example.org/s> {
        SEQ (A, B; C!) DEFINE GPM A ON S { ?who :is ?a } DEFINE GPM B ON S { ?who :is ?b FILTER(STRLEN(?b) > 0) }
        DEFINE GPM C ON S { ?who :ends ?c }
    }"""


def test_a_long_stream_of_ever_new_terms_leaves_little_behind() -> None:
    runner = flow_of(plan(parse(QUERY)))
    matches = 0
    sizes = []
    for start in range(0, 60_000, 3000):
        texts = [f'@prefix : <http://example.org/> . :w{t // 2} :is "v{t}" .' for t in range(start, start + 3000)]
        events = [Event(start + i, text) for i, text in enumerate(texts)]
        matches += sum(1 for _ in runner.feed({"S": [encode(events, first=start)]}, start + 3000))
        sizes.append(len(runner.hosts[0].state.memory))
    assert matches > 29_000
    assert len(runner.hosts[0].state.terms) < 25_000
    assert runner.hosts[0].state.contiguities[0].count < 10_000
    assert sizes[-1] <= 2 * sizes[3]
    assert runner.hosts[0].state.memory[RUN_CAPACITY] < 40_000


@given(case=cases())
def test_forgetting_as_often_as_possible_changes_nothing(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thence.engines.automaton.step, "_FEW_TERMS", 0)
        patch.setattr(thence.engines.automaton.contiguity, "_FEW", 0)
        assert engine_answers(case, cuts=list(range(12))) == oracle_answers(case)
