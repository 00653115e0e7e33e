"""SPAseQ: the engine gives the rows that the definitions give, on random queries and streams."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.spaseq import evaluate
from oracle.spaseq_rows import rows
from strategies.spaseq import Case, cases, tell, text
from support.flows import flow_of, program_of
from support.spaseq_runs import _comparable_rows, _in_pieces, background, batches_of, comparable_row
from thence.columns.batches import encode
from thence.engines.automaton.plan.spaseq import plan
from thence.lang.spaseq.parser import parse
from thence.rdf.events import Event
from thence.rdf.terms import Literal

pytestmark = pytest.mark.numba


@settings(max_examples=5 * settings.default.max_examples)  # of all random cases the ones that matter most
@given(cases(), st.lists(st.integers(0, 12), min_size=1, max_size=4))
def test_rows_are_those_of_the_definitions_optimised_or_not_at_once_or_cut(case: Case, cuts: list[int]) -> None:
    matches = evaluate(case.query, case.events, case.background)
    tell(case.query, matches)
    expected = rows(case.query, matches)
    query, streams, known = parse(text(case.query)), batches_of(case), background(case)

    runner = flow_of(plan(query), known)
    found = [comparable_row(row, runner) for row in runner.run(streams)]
    assert Counter(found) == _comparable_rows(expected)
    in_order = [(row.certain, row.end, row.start, row.events) for row in expected]
    assert [(certain, end, start, events) for start, end, certain, events, _ in found] == in_order

    unoptimised = flow_of(plan(query, optimise=False), known)
    assert Counter(comparable_row(row, unoptimised) for row in unoptimised.run(streams)) == Counter(found)

    interrupted = flow_of(program_of(runner), known)
    assert Counter(
        comparable_row(row, interrupted) for row in _in_pieces(interrupted, streams, sorted(cuts))
    ) == Counter(found)


def test_count_counts_iterations_and_not_the_events_of_a_conjunction() -> None:
    query = "SELECT (COUNT(A) AS ?n) FROM STREAM S <x:s> { SEQ ((A & A)+) DEFINE GPM A ON S { ?s <x:p> 1 } }"
    runner = flow_of(plan(parse(query)))
    events = [Event(time, "<x:a> <x:p> 1 .") for time in (0, 1)]
    counts = [row.bindings["n"] for row in runner.run({"S": [encode(events)]})]
    assert [count.python for count in counts if isinstance(count, Literal)] == [1, 2, 1]


def test_a_filter_does_not_see_what_another_iteration_bound_in_another_arm() -> None:
    query = """SELECT * FROM STREAM S <x:s> { SEQ (((A | B) & C)+) DEFINE GPM A ON S { ?s <x:q> ?a }
        DEFINE GPM B ON S { ?s <x:q> ?b } DEFINE GPM C ON S { ?s <x:q> ?c FILTER(?c <= ?a) } }"""
    runner = flow_of(plan(parse(query)))
    events = [Event(time, "<x:n> <x:q> 1 .") for time in (0, 1)]
    found = [(row.start, row.end, "b" in row.bindings) for row in runner.run({"S": [encode(events)]})]
    assert found == [(0, 0, False), (0, 1, False), (1, 1, False)]
