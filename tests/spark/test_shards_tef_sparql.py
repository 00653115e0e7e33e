"""TEF-SPARQL as the workers of Spark run it: the rows and facts of the definitions and of one process, in any number of
shards, cut into any micro-batches with the state saved between them, however events of one time arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from random import Random

import pytest

import thence
from oracle.tef_sparql import GivenEvent, TooManySteps
from oracle.tef_sparql_cases import Case, whole
from oracle.tef_sparql_text import text
from support.comparable_terms import NAMESPACE
from support.shards import Pipeline
from support.tef_sparql_shards import (
    by_id,
    cases_with_a_key,
    comparable,
    has_blank_nodes,
    in_one_process,
    seeded_cases,
    shown,
    with_ids,
)
from support.tef_sparql_shards import tef_pipeline as pipeline

pytestmark = pytest.mark.numba


@cache
def ten_cases(seed: int) -> tuple[Case, ...]:
    return tuple(seeded_cases(seed, telling=4, others=6))


@pytest.mark.parametrize("seed", range(10))
def test_finite_input_gives_the_rows_of_the_definitions_and_of_one_process(seed: int) -> None:
    """C-5, TEF-19, TEF-20: by position, or by the event's id where there is none."""
    random = Random(seed)
    for case in ten_cases(seed):
        positions = random.choice((True, False))
        case = case if positions else by_id(case, random)
        shuffled = random.sample(case.events, len(case.events))
        query, made = pipeline(case, shuffled, random.randint(1, 4), positions=positions)
        if query.constructs:
            continue
        try:
            run, rows = whole(case), made.batch()
        except TooManySteps:
            continue
        if case.program.selects:
            assert shown(rows, shuffled) == comparable(run.rows), text(case.program)
        if not has_blank_nodes(case):
            assert with_ids(rows) == in_one_process(query, case), text(case.program)


@pytest.mark.parametrize("seed", range(10))
def test_shards_by_the_inferred_key_give_what_one_shard_gives(seed: int) -> None:
    random = Random(seed)
    for case in cases_with_a_key(seed, 6):
        shuffled = random.sample(case.events, len(case.events))
        try:
            run = whole(case)
        except TooManySteps:
            continue
        query, one = pipeline(case, shuffled, 1, positions=True)
        if query.constructs:
            continue
        alone = one.batch()
        for shards in (2, 3, 7):
            _, several = pipeline(case, shuffled, shards, positions=True)
            rows = several.batch()
            assert with_ids(rows) == with_ids(alone), text(case.program)
            if case.program.selects:
                assert shown(rows, shuffled) == comparable(run.rows), text(case.program)
        cuts = sorted(random.choices(range(len(case.events) + 1), k=3))
        batches = [range(low, high) for low, high in pairwise([0, *cuts, len(case.events)])]
        streamed = [
            with_ids(pipeline(case, in_time(shuffled), shards, positions=True)[1].micro_batches(batches))
            for shards in (1, 2, 4)
        ]
        assert streamed[0] == streamed[1] == streamed[2], text(case.program)


def in_time(events: Sequence[GivenEvent]) -> list[GivenEvent]:
    return sorted(events, key=lambda each: each.end)


@pytest.mark.parametrize("seed", range(10))
def test_micro_batches_give_the_rows_of_the_definitions(seed: int) -> None:
    """TEF-17: events of one time may come in several micro-batches, with a restart between them."""
    random = Random(seed)
    for case in ten_cases(seed):
        positions, lateness = random.choice((True, False)), random.choice((0, 9))
        case = case if positions else by_id(case, random)
        last = GivenEvent("e9999", 20, 20, ())  # so that the watermark passes the others
        names = case.program.streams or (None,)
        shuffled = random.sample(case.events, len(case.events))
        shuffled = shuffled if lateness else sorted(shuffled, key=lambda each: each.end)
        ends = [last._replace(stream=name) for name in names]
        case, order = replace(case, events=(*case.events, *ends)), [*shuffled, *ends]
        _, made = pipeline(case, order, random.randint(1, 4), positions=positions, lateness=lateness)
        if not case.program.selects:
            continue
        try:
            run = whole(case, until=20 - lateness)
        except TooManySteps:
            continue
        cuts = sorted(random.choices(range(len(order) + 1), k=random.randint(0, 6)))
        batches = [range(low, high) for low, high in pairwise([0, *cuts, len(order)])]
        assert shown(made.micro_batches(batches), order) == comparable(run.rows), text(case.program)


TICKING = """
CONSTRUCT FACT ?x g ?y WHERE ?x f ?y[?s, ?_], now() > ?s + 1
CONSTRUCT FACT ?x f ?y WHERE (SINCE ?x p ?y) UNION (UNTIL ?x q ?y) UNION (REPLACE ?x f ?y ON (ONSTART ?x g ?y))
SELECT ?x WHERE ?x r ?y
"""


def ticking(ticks: Sequence[int], shards: int) -> Pipeline:
    """A fact of `a` that time restarts at every other tick, from 0 to 100; at some ticks an event of another key."""
    others = [(tick, f"b{tick % 7}", "r") for tick in ticks]
    listed = sorted([(0, "a", "p"), (100, "a", "q"), *others])
    events = [thence.Event(tick, f"<{NAMESPACE}{name}> <{NAMESPACE}{what}> 1 .") for tick, name, what in listed]
    query = thence.parse(f"PREFIX : <{NAMESPACE}>\n{TICKING}", language="tef-sparql")
    (stage,) = query.dataflow().stages
    assert stage.program.shard_key.names
    given = [("events", event) for event in events]
    return Pipeline(stage.program, given, shards, operator=stage.operator, max_steps=20)


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("first", [5, 10])
def test_an_event_of_another_shard_is_an_event(first: int, shards: int) -> None:
    """TEF-27: the limit of time-driven steps without an event is about the query, and not about one shard; whether the
    event comes at the time of a step (10) or between two (5)."""
    ticks = range(first, 100, 10)
    assert len([row for row in ticking(ticks, shards).batch() if row["problem"] is None]) == len(ticks)
    batches = [range(low, min(low + 3, len(ticks) + 2)) for low in range(0, len(ticks) + 2, 3)]
    assert len([row for row in ticking(ticks, shards).micro_batches(batches) if row["problem"] is None]) == len(ticks)
    with pytest.raises(thence.LimitError, match="time-driven steps without an event"):
        ticking([], shards).batch()
