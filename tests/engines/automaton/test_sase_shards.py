"""SASE+: what the workers of Spark run gives the rows of the definitions, in any number of shards, at once or in
micro-batches with the state saved between them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.sase import rows, totals
from oracle.sase_cases import Case, aggregate_cases, cases, unended_cases
from oracle.sase_kinds import of_all_kinds
from strategies import examples
from support.sase_runs import read, typed
from support.sase_shards import _plain, comparable, comparable_rows
from support.shards import Pipeline
from thence.engines.automaton.plan.sase import plan

pytestmark = pytest.mark.numba


@given(cases(), st.data())
def test_finite_input_gives_the_rows_of_the_definitions_in_any_number_of_shards(
    case: Case, data: st.DataObject
) -> None:
    agree(case, data)


@examples(0.5)
@given(unended_cases(), st.data())
def test_what_the_end_of_the_input_completes_is_certain_at_the_latest_event_of_all_shards(
    case: Case, data: st.DataObject
) -> None:
    agree(case, data)


@examples(0.2)
@given(of_all_kinds(cases()), st.data())
def test_keys_that_are_equal_are_of_one_shard_whatever_their_type(case: Case, data: st.DataObject) -> None:
    agree(case, data)


def agree(case: Case, data: st.DataObject) -> None:
    expected = Counter(comparable(row) for row in rows(case.query, case.events))
    shuffled = [("events", typed(event)) for event in data.draw(st.permutations(case.events))]
    for shards in (1, 2, 7):
        pipeline = Pipeline(plan(read(case.query)), shuffled, shards)
        assert Counter(comparable_rows(pipeline.program, pipeline.batch())) == expected


@given(cases(), st.lists(st.integers(0, 7), max_size=3))
def test_micro_batches_give_the_rows_that_are_certain(case: Case, ends: list[int]) -> None:
    expected = rows(case.query, case.events)
    events = [("events", typed(event)) for event in sorted(case.events, key=lambda event: event.time)]
    now = max(event.time for event in case.events)
    bounds = [0, *sorted(min(end, len(events)) for end in ends), len(events)]
    cuts = [range(low, high) for low, high in pairwise(bounds)]
    for shards in (1, 3):
        pipeline = Pipeline(plan(read(case.query)), events, shards)
        found = Counter(comparable_rows(pipeline.program, pipeline.micro_batches(cuts)))
        must = Counter(comparable(row) for row in expected if row.certain < now)
        assert must <= found <= Counter(comparable(row) for row in expected if row.certain <= now)


@given(aggregate_cases(plain=True))
def test_totals_are_those_of_the_definitions_in_any_number_of_shards(case: Case) -> None:
    expected = Counter(
        (start, end, tuple(_plain(cell) for _, cell in row)) for start, end, row in totals(case.query, case.events)
    )
    events = [("events", typed(event)) for event in case.events]
    for shards in (1, 3):
        pipeline = Pipeline(plan(read(case.query)), events, shards)
        found = comparable_rows(pipeline.program, pipeline.batch())
        assert Counter((start, end, cells) for start, end, *_, cells in found) == expected
