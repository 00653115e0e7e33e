"""The option `order`: the engine gives the rows that the definitions give with (time, order) in place of time, on
random queries and streams with several events of one time (C-8 to C-11)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import sase_cases
from oracle.sase import rows as sase_rows
from oracle.spaseq import evaluate
from oracle.spaseq_rows import rows
from strategies import examples
from strategies.event_order import sase_cases_in_order, spaseq_cases_in_order
from strategies.spaseq import Case, text
from support.engine_cases import given_event, only_matches, query_of, summary, tell
from support.flows import flow_of, program_of
from support.sase_runs import agree, agree_in_total, in_order
from support.spaseq_runs import _comparable_rows, _in_pieces, background, batches_of, comparable_row
from thence.engines.automaton.plan.spaseq import plan
from thence.lang.spaseq.parser import parse

pytestmark = [pytest.mark.numba, pytest.mark.filterwarnings("ignore:No event of the stream")]

SaseCase = tuple[sase_cases.Case, tuple[str, ...]]
CUTS = st.lists(st.integers(0, 7), max_size=3)


@given(sase_cases_in_order(sase_cases.cases()), CUTS)
def test_rows_of_sase_are_those_of_the_definitions(drawn: SaseCase, cuts: list[int]) -> None:
    case, order = drawn
    agree(case, cuts, order)


@examples(0.5)
@given(sase_cases_in_order(sase_cases.tied_cases().map(lambda cases: cases[0])), CUTS)
def test_strategies_and_stops_of_sase_are_those_of_the_definitions(drawn: SaseCase, cuts: list[int]) -> None:
    case, order = drawn
    agree(case, cuts, order)


@examples(0.5)
@given(sase_cases_in_order(sase_cases.unended_cases()), CUTS)
def test_what_the_end_of_input_completes_is_that_of_the_definitions(drawn: SaseCase, cuts: list[int]) -> None:
    """SA-21, SA-22."""
    case, order = drawn
    agree(case, cuts, order)


@examples(0.5)
@given(sase_cases_in_order(sase_cases.aggregate_cases(plain=True)), CUTS)
def test_totals_of_sase_are_those_of_the_matches_one_by_one(drawn: SaseCase, cuts: list[int]) -> None:
    case, order = drawn
    agree_in_total(case, cuts, order)


@given(spaseq_cases_in_order(), st.lists(st.integers(0, 12), max_size=4))
def test_rows_of_spaseq_are_those_of_the_definitions(drawn: tuple[Case, tuple[str, ...]], cuts: list[int]) -> None:
    case, order = drawn
    expected = _comparable_rows(rows(case.query, evaluate(case.query, case.events, case.background)))
    query, streams, known = parse(text(case.query)), batches_of(case), background(case)
    for optimise in (True, False):
        runner = flow_of(in_order(plan(query, optimise=optimise), order), known)
        assert Counter(comparable_row(row, runner) for row in runner.run(streams)) == expected
    interrupted = flow_of(program_of(runner), known)
    assert (
        Counter(comparable_row(row, interrupted) for row in _in_pieces(interrupted, streams, sorted(cuts))) == expected
    )


@examples(0.3)
@given(st.data(), spaseq_cases_in_order())
def test_events_pushed_and_shuffled_within_the_lateness_give_the_rows_of_match(
    data: st.DataObject, drawn: tuple[Case, tuple[str, ...]]
) -> None:
    """C-9: those of a time are taken once the watermark has passed it; the engine is saved and restored in between."""
    case, order = drawn
    events = data.draw(st.permutations(case.events))
    times = [event.time for event in events]
    lateness = data.draw(st.sampled_from([0, max(times, default=0) - min(times, default=0)]))
    events = events if lateness else sorted(events, key=lambda event: event.time)
    cut = data.draw(st.integers(0, len(events)))
    query, known = query_of(case), background(case)
    engine = query.engine(background=known, lateness=lateness, order=order)
    found = [row for event in events[:cut] for row in engine.push(event.stream, given_event(event))]
    engine = query.engine(background=known, lateness=lateness, order=order).restore(engine.save())
    found += [row for event in events[cut:] for row in engine.push(event.stream, given_event(event))]
    now = engine.watermark.now
    assert all(now is not None and row.certain < now for row in only_matches(found))
    found += engine.close()
    assert engine.counts.late == 0
    streams = {
        stream: [given_event(event) for event in case.events if event.stream == stream] for stream in case.query.streams
    }
    matched = only_matches(query.match(streams, background=known, order=order))
    assert summary(case, tell(only_matches(found))) == summary(case, tell(matched))


def test_random_cases_tell_an_order_from_none() -> None:
    """A share of the cases has other rows without `order`."""
    drawn: list[bool] = []

    @examples(0.5)
    @given(sase_cases_in_order(sase_cases.cases()))
    def collect(each: SaseCase) -> None:
        case, _ = each
        from dataclasses import replace

        tied = [replace(event, order=()) for event in case.events]
        with_order = sase_rows(case.query, case.events)
        drawn.append(Counter(map(repr, with_order)) != Counter(map(repr, sase_rows(case.query, tied))))

    collect()
    assert sum(drawn) >= len(drawn) / 20
