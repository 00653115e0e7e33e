"""Problems are reported once, in any number of shards: late events, those that match nothing among them, rows that
are not events, partial matches that time out. And what waits for time to pass needs no event of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thence
from strategies.spaseq import Case, cases
from support.engine_cases import given_event, query_of
from support.shards import Given, Pipeline, plain
from support.spaseq_runs import background
from thence.engines.automaton.plan.spaseq import plan
from thence.rdf.times import Domain
from thence.runtime.watermark import TimeDomain, Watermark
from thence.spark.sources.row_decoder import decoder
from thence.spark.worker.output_rows import RowWriter
from thence.spark.worker.stages import Packing

pytestmark = pytest.mark.numba

SHARDS = (1, 2, 7)
QUERY = """
    PREFIX : <http://example.org/>
    SELECT ?x WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    {{ SEQ ({sequence}) DEFINE GPM A ON S {{ ?x :is ?a }} DEFINE GPM B ON S {{ ?x :was ?b }} }}
"""
Rows = list[Mapping[str, object]]


def pipeline(sequence: str, events: Given, shards: int, *, partial: bool = False, lateness: int = 0) -> Pipeline:
    program = plan(thence.parse(QUERY.format(sequence=sequence)).algebra, partial=partial)
    return Pipeline(program, events, shards, partial=partial, lateness=lateness)


def event(time: int, graph: str, name: str) -> tuple[str, thence.Event]:
    return "S", thence.Event(time, f"@prefix : <http://example.org/> . {graph}", id=name)


def comparable(rows: Rows) -> list[tuple[object, object]]:
    return sorted((row["problem"], row["event"]) for row in rows if row["problem"] is not None)  # type: ignore[type-var]


@settings(max_examples=max(1, settings.default.max_examples // 4))  # each of them runs many pipelines
@given(st.data(), cases())
def test_late_events_are_told_once_and_change_nothing(data: st.DataObject, case: Case) -> None:
    query = query_of(case)
    if query.constructs:
        return
    order = data.draw(st.permutations(case.events))
    lateness = data.draw(st.sampled_from([0, 2]))
    ends = sorted(data.draw(st.lists(st.integers(0, len(order)), min_size=1, max_size=4)))
    cut = [range(low, high) for low, high in zip([0, *ends], [*ends, len(order)], strict=True)]
    events = [(each.stream, given_event(each)) for each in order]
    late = _late(query.streams, events, cut, lateness)
    for shards in SHARDS:
        whole, other = (
            Pipeline(plan(query.algebra), events, shards, background(case), lateness=lateness) for _ in range(2)
        )
        rows = whole.micro_batches(cut)
        assert Counter(comparable(rows)) == Counter(("late", events[number][1].id) for number in late)
        without = other.micro_batches([[number for number in piece if number not in late] for piece in cut])
        assert _matches(rows) == _matches(without)


def _late(streams: Sequence[str], events: Given, cut: Sequence[Sequence[int]], lateness: int) -> set[int]:
    """The numbers of the events that are behind the time to where it had come before their micro-batch."""
    watermark, found = Watermark(tuple(streams), lateness), set()
    for piece in cut:
        now = watermark.now
        found |= {number for number in piece if now is not None and events[number][1].end < now}
        for number in piece:
            watermark.see(events[number][0], events[number][1].end)
    return found


def _matches(rows: Rows) -> Counter[object]:
    return Counter(row["match_id"] for row in rows if row["problem"] is None)


@pytest.mark.parametrize("shards", SHARDS)
def test_an_absence_is_certain_once_time_has_passed_whoever_moved_it(shards: int) -> None:
    events = [
        event(1, ":h1 :is 1 .", "e1"),
        event(2, ":h2 :is 1 .", "e2"),
        event(5, ":h2 :was 1 .", "e3"),
        event(11, ":h3 :odd 1 .", "e4"),
        event(12, ":h3 :odd 1 .", "e5"),
    ]
    found = [
        pipeline("A ; B!", events, shards).micro_batches([[0, 1], [2], *([number] for number in range(3, last))])
        for last in (3, 4, 5)
    ]
    assert [[row["events"] for row in rows] for rows in found] == [[], [], [["e1"]]]


@pytest.mark.parametrize("shards", SHARDS)
def test_a_partial_match_times_out_once_time_has_passed_whoever_moved_it(shards: int) -> None:
    events = [event(1, ":h1 :is 1 .", "e1"), event(11, ":h3 :odd 1 .", "e2"), event(12, ":h3 :odd 1 .", "e3")]
    assert comparable(pipeline("A ; B", events, shards, partial=True).micro_batches([[0], [1]])) == []
    rows = pipeline("A ; B", events, shards, partial=True).micro_batches([[0], [1], [2]])
    assert comparable(rows) == [("timed_out", "e1")]
    (row,) = (row for row in rows if row["problem"] == "timed_out")
    assert row["reason"] == "B did not arrive before the window ended (11)"


SCHEMA = pa.schema({"time": pa.int64(), "id": pa.string(), "value": pa.string()})


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("streaming", [False, True])
def test_rows_that_are_no_events_are_told_once(shards: int, streaming: bool) -> None:
    rows = [
        {"time": 1, "id": "e1", "value": "<x:h> <http://example.org/is> 1 ."},
        {"time": 2, "id": "e2", "value": "this is no Turtle"},
        {"time": None, "id": "e3", "value": "<x:h> <http://example.org/was> 1 ."},
        {"time": 4, "id": "e4", "value": None},
        {"time": 5, "id": "e5", "value": "<x:h> <http://example.org/was> 1 ."},
    ]
    whole = pipeline("A ; B", [], shards)
    reads = decoder("S", SCHEMA, namespace="http://example.org/")
    packing = Packing(whole.program, "S", reads, TimeDomain(Domain.TICKS, "the test"), shards, streaming, False)
    packed = [
        row for record in packing([pa.RecordBatch.from_pylist(rows, schema=SCHEMA)]) for row in record.to_pylist()
    ]
    assert sum(row["events"] for row in packed) == len(rows)
    made: Rows = []
    for shard in range(shards):
        own = [row for row in packed if row["shard"] == shard]
        answering = whole.answering(running=streaming)
        state = answering.shard()
        records = answering.micro_batch(state, own) if streaming else answering._all(state, own)
        made += [row for record in records for row in plain(record)]
    assert [row["events"] for row in made if row["problem"] is None] == [["e1", "e5"]]
    assert [(row["problem"], row["stream"]) for row in made if row["problem"] is not None] == [("bad", "S")] * 3
    assert all(row["reason"] for row in made if row["problem"] is not None)


def test_a_variable_may_be_named_like_a_column_that_is_not_shown() -> None:
    text = """
        PREFIX : <http://example.org/>
        SELECT ?first ?stream ?Problem ?end FROM STREAM S <http://example.org/s>
        WHERE { SEQ (A) DEFINE GPM A ON S { ?first :a ?stream ; :b ?Problem ; :c ?end } }"""
    (stage,) = thence.parse(text).dataflow().stages
    assert list(RowWriter(stage, Domain.TICKS).columns) == ["first", "stream", "Problem", "end_"]
    assert list(RowWriter(stage, Domain.TICKS, problems=True).columns) == ["first", "stream_", "Problem_", "end_"]
