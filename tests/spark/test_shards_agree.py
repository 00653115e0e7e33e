"""What the workers of Spark run gives the rows of one process: in any number of shards, cut into any micro-batches, the
state saved between them, shuffled within the lateness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from strategies.spaseq import Case, cases
from support.engine_cases import given_event, matched_rows, query_of, summary, tell
from support.shard_runs import comparable
from support.shards import Pipeline
from support.spaseq_runs import background
from thence.engines.automaton import step
from thence.engines.automaton.plan.spaseq import plan
from thence.runtime.watermark import Watermark

pytestmark = pytest.mark.numba


@given(st.data(), cases())
def test_finite_input_gives_the_rows_of_one_process_in_any_number_of_shards(data: st.DataObject, case: Case) -> None:
    expected = summary(case, tell(matched_rows(case)))
    shuffled = data.draw(st.permutations(case.events))
    events = [(event.stream, given_event(event)) for event in shuffled]
    query = query_of(case)
    if query.constructs:
        return
    for shards in (1, 2, 7):
        pipeline = Pipeline(plan(query.algebra), events, shards, background(case))
        assert summary(case, comparable(query, pipeline.batch())) == expected


@given(st.data(), cases())
def test_micro_batches_give_the_rows_of_one_process(data: st.DataObject, case: Case) -> None:
    query = query_of(case)
    if query.constructs:
        return
    rows = matched_rows(case)
    shuffled = data.draw(st.permutations(case.events))
    spread = max((event.time for event in case.events), default=0) - min((e.time for e in case.events), default=0)
    lateness = data.draw(st.sampled_from([0, spread]))
    order = shuffled if lateness else sorted(shuffled, key=lambda event: event.time)
    events = [(event.stream, given_event(event)) for event in order]
    ends = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=3)))
    cuts = [range(low, high) for low, high in zip([0, *ends], [*ends, len(events)], strict=True)]
    engine = query.engine(background=background(case), lateness=lateness)
    for stream, event in events:
        engine.push(stream, event)
    now = engine.watermark.now
    waits = engine.answers.flow.waits_for_time
    for shards in (1, 3):
        pipeline = Pipeline(plan(query.algebra), events, shards, background(case), lateness=lateness)
        found = pipeline.micro_batches(cuts)
        assert [row for row in found if row["problem"] is not None] == []
        if case.query.distinct:
            continue  # of equal rows at one time any may be the first
        certain = [row for row in rows if now is not None and row.certain < now + (not waits)]
        may = [row for row in rows if now is not None and row.certain <= now]
        must = Counter(tell(certain))
        assert must <= Counter(comparable(query, found)) <= Counter(tell(may))


CONSTRUCTED = """PREFIX : <http://example.org/>
    CONSTRUCT { ?house :rose [ :from ?before ; :to ?after ] } WITHIN 10 TICKS FROM STREAM power <http://example.org/power>
    WHERE { SEQ (A ; B) DEFINE GPM A ON power { ?house :watts ?before }
            DEFINE GPM B ON power { ?house :watts ?after FILTER(?after > 2 * ?before) } }"""


def test_constructed_events_are_those_of_one_process() -> None:
    query = thence.parse(CONSTRUCTED)
    readings = [(1, "h1", 400), (3, "h2", 5), (3, "h1", 700), (8, "h1", 1500), (9, "h2", 11)]
    graphs = [f"<http://example.org/{h}> <http://example.org/watts> {w} ." for _, h, w in readings]
    events = [
        thence.Event(time, graph, id=f"e{time}{graph[20:22]}")
        for (time, _, _), graph in zip(readings, graphs, strict=True)
    ]
    made = [match.constructed for match in query.match(events)]
    expected = sorted((event.end, event.id, len(event.triples)) for event in made if isinstance(event, thence.Event))
    assert len(expected) == 3
    for shards in (1, 3):
        found = Pipeline(plan(query.algebra), [("power", event) for event in events], shards).batch()
        assert sorted((row["time"], row["id"], row["value"].count("\n")) for row in found) == expected


def test_matches_that_show_the_same_make_an_event_each() -> None:
    query = thence.parse("""PREFIX : <http://example.org/> CONSTRUCT { ?s :rose [] } WITHIN 10 TICKS
        FROM STREAM S <http://example.org/s> { SEQ (A+) DEFINE GPM A ON S { ?s :p ?v } }""")
    graphs = ["<x:n> <http://example.org/p> 1, 2 .", "<x:n> <http://example.org/p> 1 ."]
    events = [thence.Event(time, graph, id=f"e{time}") for time, graph in enumerate(graphs)]
    made = [match.constructed for match in query.match(events)]
    nodes = {triple.object for event in made if event is not None for triple in event.triples}
    assert len(made) == len({event.id for event in made if event is not None}) == len(nodes) == 5
    engine = query.engine()
    pushed = [match.constructed for event in events for match in engine.push("S", event)]
    assert pushed + [match.constructed for match in engine.close()] == made
    given = [("S", event) for event in events]
    for found in (
        Pipeline(plan(query.algebra), given, 1).batch(),
        Pipeline(plan(query.algebra), given, 1).micro_batches([[0], [1]]),
    ):
        assert {row["id"] for row in found} == {event.id for event in made if event is not None}
        assert len({row["value"] for row in found}) == 5


def test_a_state_that_is_saved_after_every_few_events_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "_FEW_TERMS", 100)
    query = thence.parse("""PREFIX : <http://example.org/> SELECT ?h ?w WITHIN 50 TICKS FROM STREAM S <http://example.org/s>
        { SEQ (A ; B) DEFINE GPM A ON S { ?h :watts ?w } DEFINE GPM B ON S { ?h :watts 0 } }""")
    graph = "<http://example.org/h{0}> <http://example.org/watts> {0} ."
    events = [("S", thence.Event(time, graph.format(time + 1), id=f"e{time}")) for time in range(900)]
    pipeline = Pipeline(plan(query.algebra), events, 1)
    pipeline.micro_batches([range(first, first + 3) for first in range(0, 450, 3)])
    middle = len(pipeline.saved[0])
    pipeline.micro_batches([range(first, first + 3) for first in range(450, 900, 3)])
    assert len(pipeline.saved[0]) <= 1.5 * middle < 30_000


def comparable_events(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return sorted(tuple(row["events"]) for row in rows)


def test_a_partition_is_in_one_shard_where_a_closure_is_contiguous() -> None:
    query = thence.parse("""PREFIX : <http://example.org/> SELECT ?a WITHIN 9 TICKS PARTITION BY (?p)
        FROM STREAM S <http://example.org/s> { SEQ (A ; B+) DEFINE GPM A ON S { ?q :p ?p ; :a ?a }
        DEFINE GPM B ON S { ?q :p ?p ; :b ?b } }""")
    graph = "@prefix : <http://example.org/> . :{} :p 1 ; :{} {} ."
    told_of = [("q1", "a", 1), ("q1", "b", 2), ("q2", "b", 3), ("q3", "b", 3), ("q1", "b", 4)]
    events = [thence.Event(time, graph.format(q, what, time), id=f"{q}{time}") for q, what, time in told_of]
    expected = sorted(match.event_ids for match in query.match(events))
    for shards in (1, 2, 3, 7):
        found = Pipeline(plan(query.algebra), [("S", event) for event in events], shards).batch()
        assert comparable_events(found) == expected


def test_what_a_state_has_seen_and_needs_no_more_is_forgotten_between_micro_batches() -> None:
    query = thence.parse("""PREFIX : <http://example.org/> SELECT ?h WITHIN 9 TICKS PARTITION BY (?h)
        FROM STREAM S <http://example.org/s>
        { SEQ (A , B) DEFINE GPM A ON S { ?h :is 1 } DEFINE GPM B ON S { ?h :is 2 } }""")
    graph = "<http://example.org/h{}> <http://example.org/is> 1 ."
    events = [("S", thence.Event(time, graph.format(time), id=f"e{time}")) for time in range(24_000)]
    pipeline = Pipeline(plan(query.algebra), events, 1)
    sizes = []
    for first in range(0, 24_000, 2_000):
        pipeline.micro_batches([range(first, first + 2_000)])
        sizes.append(len(pipeline.saved[0]))
    assert max(sizes[6:]) <= 1.5 * max(sizes[:6])


def test_streams_of_one_micro_batch_are_heard_at_once() -> None:
    apart = Watermark(("S1", "S2"), idle_after=50)
    apart.see_all({"S1": (0, 100), "S2": (0, 60)})
    assert apart.now == 60
