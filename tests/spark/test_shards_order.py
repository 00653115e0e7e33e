"""The option `order` as the workers of Spark run it: the rows of the definitions, in any number of shards, at once or
in micro-batches with the state saved between them, however events of one time arrive (C-9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle import sase_cases, tef_sparql_cases
from oracle.sase import rows as sase_rows
from oracle.tef_sparql import GivenEvent, TooManySteps
from oracle.tef_sparql_text import text
from strategies import examples, spaseq
from strategies.event_order import sase_cases_in_order, spaseq_cases_in_order, tef_sparql_cases_in_order
from support.engine_cases import given_event, only_matches, query_of, summary, tell
from support.sase_runs import in_order, read, typed
from support.sase_shards import comparable, comparable_rows
from support.shard_runs import comparable as comparable_by_shards
from support.shards import Pipeline
from support.spaseq_runs import background
from support.tef_sparql_shards import comparable as comparable_facts
from support.tef_sparql_shards import has_blank_nodes, in_one_process, pushed, shown, tef_pipeline, with_ids
from thence.engines.automaton.plan.sase import plan
from thence.engines.automaton.plan.spaseq import plan as spaseq_plan

pytestmark = [pytest.mark.numba, pytest.mark.filterwarnings("ignore:No event of the stream")]

ENDS = st.lists(st.integers(0, 9), max_size=3)


def cut(ends: list[int], count: int) -> list[range]:
    return [range(low, high) for low, high in pairwise([0, *sorted(min(end, count) for end in ends), count])]


@examples(0.5)
@given(sase_cases_in_order(sase_cases.cases()), st.data(), ENDS)
def test_shards_give_the_rows_of_sase(
    drawn: tuple[sase_cases.Case, tuple[str, ...]], data: st.DataObject, ends: list[int]
) -> None:
    case, order = drawn
    expected = sase_rows(case.query, case.events)
    shuffled = data.draw(st.permutations(case.events))
    program = in_order(plan(read(case.query)), order)
    for shards in (1, 2, 7):
        pipeline = Pipeline(program, [("events", typed(event)) for event in shuffled], shards)
        assert Counter(comparable_rows(program, pipeline.batch())) == Counter(map(comparable, expected))
    events = [("events", typed(event)) for event in sorted(shuffled, key=lambda event: event.time)]
    now = max(event.time for event in case.events)
    for shards in (1, 3):
        found = Pipeline(program, events, shards).micro_batches(cut(ends, len(events)))
        assert Counter(comparable_rows(program, found)) == Counter(
            comparable(row) for row in expected if row.certain < now
        )


@examples(0.5)
@given(spaseq_cases_in_order(), st.data(), ENDS)
def test_shards_give_the_rows_of_spaseq(
    drawn: tuple[spaseq.Case, tuple[str, ...]], data: st.DataObject, ends: list[int]
) -> None:
    case, order = drawn
    query, known = query_of(case), background(case)
    shuffled = data.draw(st.permutations(case.events))
    streams = {s: [given_event(event) for event in case.events if event.stream == s] for s in case.query.streams}
    rows = only_matches(query.match(streams, background=known, order=order))
    program = in_order(spaseq_plan(query.algebra), order)
    given_events = [(event.stream, given_event(event)) for event in shuffled]
    for shards in (1, 2, 7):
        pipeline = Pipeline(program, given_events, shards, known)
        found = summary(case, comparable_by_shards(query, pipeline.batch()))
        assert found == summary(case, tell(rows))
    times = [event.time for event in case.events]
    lateness = data.draw(st.sampled_from([0, max(times, default=0) - min(times, default=0)]))
    pushed = shuffled if lateness else sorted(shuffled, key=lambda event: event.time)
    given_events = [(event.stream, given_event(event)) for event in pushed]
    engine = query.engine(background=known, lateness=lateness, order=order)
    certain = [row for event in given_events for row in only_matches(engine.push(*event))]
    assume(not case.query.distinct)  # of equal rows at one time any may be the first
    for shards in (1, 3):
        pipeline = Pipeline(program, given_events, shards, known, lateness=lateness)
        found = pipeline.micro_batches(cut(ends, len(given_events)))
        assert Counter(comparable_by_shards(query, found)) == Counter(tell(certain))


@examples(0.5)
@given(tef_sparql_cases_in_order(), st.data(), ENDS)
def test_shards_give_the_rows_of_tef_sparql(
    drawn: tuple[tef_sparql_cases.Case, tuple[str, ...]], data: st.DataObject, ends: list[int]
) -> None:
    """TEF-19."""
    case, order = drawn
    assume(case.program.selects)
    names = case.program.streams or (None,)
    lasts = [GivenEvent(f"e999{number}", 20, 20, (), name) for number, name in enumerate(names)]
    case = replace(case, events=(*case.events, *lasts))  # so that the watermark passes the others
    shuffled = data.draw(st.permutations(case.events))
    try:
        run, until = tef_sparql_cases.whole(case), tef_sparql_cases.whole(case, until=20)
        query, pipeline = tef_pipeline(case, shuffled, data.draw(st.integers(1, 3)), positions=True, order=order)
        rows = pipeline.batch()
        assert shown(rows, shuffled) == comparable_facts(run.rows), text(case.program)
        events = sorted(shuffled, key=lambda event: event.end)
        if not has_blank_nodes(case):
            assert with_ids(rows) == in_one_process(query, case, order)
            in_source_order = sorted(case.events, key=lambda event: event.end)
            assert with_ids(rows) == pushed(query, case, in_source_order, order)
        _, pipeline = tef_pipeline(case, events, data.draw(st.integers(1, 3)), positions=True, order=order)
        found = pipeline.micro_batches(cut(ends, len(events)))
        assert shown(found, events) == comparable_facts(until.rows), text(case.program)
    except TooManySteps:
        assume(False)
