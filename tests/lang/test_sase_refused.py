"""SASE+: an event with two values for an attribute is refused, and reported once, however many queries refuse it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest

import thence
from support.shards import Numbered, plain
from thence.rdf.times import Domain
from thence.runtime.watermark import TimeDomain
from thence.spark.worker.output_rows import RowWriter
from thence.spark.worker.stages import Answering, Packing

pytestmark = pytest.mark.numba

UNION = """
    PATTERN A a WHERE a.x > 0 RETURN a.x AS n
    UNION PATTERN A a WHERE a.y > 0 RETURN a.y AS n
    UNION PATTERN SEQ(A a, A b) WHERE a.x > 0 ^ a.y > 0 WITHIN 9 RETURN b.x AS n
"""
FEEDING = """
    FROM S PATTERN A a WHERE a.x > 0 RETURN (a.x AS n) AS B IN STREAM Made;
    FROM S, Made PATTERN SEQ(A a, B b) WHERE a.x > b.n WITHIN 9 RETURN a.x AS n
"""


def event(time: int, triples: str, name: str | None = None) -> thence.Event:
    return thence.Event(time, f"@prefix : <http://example.org/> . :s a :A ; {triples} .", id=name)


@pytest.mark.parametrize("text", [UNION, FEEDING])
def test_events_of_one_id_are_told_each(text: str) -> None:
    events = [event(1, ":x 1, 2", "same"), event(2, ":x 3, 4", "same"), event(2, ":x 3, 4", "same")]
    events.append(event(3, ":z 1"))  # a good one: a stream of nothing but bad events is an error (BAD-8)
    query = thence.parse(text)
    found = list(query.match(events, problems=True))
    assert sorted(_comparable(found)) == [(1, "it has two values for x"), *[(2, "it has two values for x")] * 2]
    engine = query.engine(problems=True)
    pushed = [each for one in events for each in engine.push(one)] + engine.close()
    assert sorted(_comparable(pushed)) == sorted(_comparable(found))
    assert engine.counts.bad == 3


def test_a_table_counts_them_each_as_well() -> None:
    matching = thence.parse(UNION).match([*(event(time, ":x 1, 2", "same") for time in range(3)), event(3, ":z 1")])
    assert len(matching.table()) == 0
    assert matching.counts.bad == 3


def _comparable(found: Sequence[object]) -> list[tuple[int, str]]:
    problems = [each for each in found if isinstance(each, thence.Problem)]
    return [(each.event.end, each.reason) for each in problems if each.event is not None]


# On Spark, each query packs the events that it reads for itself

EVENTS = (
    event(1, ":x 1, 2 ; :y 3", "e1"),
    event(2, ":x 1 ; :y 2, 3", "e2"),
    event(3, ":x 1, 2 ; :y 3, 4", "e3"),
    event(4, ":z 1", "e4"),
)


@pytest.mark.parametrize("streaming", [False, True])
def test_the_first_query_that_reads_a_stream_tells_what_any_refuses(streaming: bool) -> None:
    dataflow = thence.parse(UNION).dataflow()
    shown, counted = [], 0
    for number, stage in dataflow.numbered():
        packing = Packing(
            stage.program,
            "events",
            Numbered("events", EVENTS),
            TimeDomain(Domain.TICKS, "the test"),
            1,
            streaming,
            False,
            reports=dataflow.reporter("events") == number,
            other_tables=dataflow.other_tables("events", number),
        )
        rows = [row for record in packing([_numbers(0, 1, 2, 3)]) for row in record.to_pylist()]
        answering = Answering(RowWriter(stage, Domain.TICKS, "struct", problems=True), ("events",), 1)
        shard = answering.shard()
        made = answering.micro_batch(shard, rows) if streaming else answering._all(shard, rows)
        shown += [_problem(row) for record in made for row in plain(record) if row["problem"] is not None]
        counted += sum(row["events"] for row in rows)
    in_one_process = thence.parse(UNION).match(EVENTS, problems=True)
    assert shown == [("bad", each.event.id, each.reason) for each in in_one_process if isinstance(each, thence.Problem)]  # type: ignore[union-attr]
    assert counted == len(EVENTS)


def test_one_that_is_refused_and_late_is_told_once() -> None:
    (stage,) = thence.parse("PATTERN A a WHERE a.x > 0 RETURN a.x AS n").dataflow().stages
    events = (event(9, ":x 1", "e1"), event(1, ":x 1, 2", "e2"), event(2, ":z 1", "e3"))
    packing = Packing(
        stage.program, "events", Numbered("events", events), TimeDomain(Domain.TICKS, "the test"), 1, True, False
    )
    answering = Answering(RowWriter(stage, Domain.TICKS, "struct", problems=True), ("events",), 1)
    shard, found = answering.shard(), list[tuple[object, ...]]()
    for numbers in ([0], [1, 2]):
        rows = [row for record in packing([_numbers(*numbers)]) for row in record.to_pylist()]
        made = [row for record in answering.micro_batch(shard, rows) for row in plain(record)]
        found += [_problem(row)[:2] for row in made if row["problem"] is not None]
    assert sorted(found, key=str) == [("bad", "e2"), ("late", "e3")]


def _numbers(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"number": pa.array(numbers, pa.int64())})


def _problem(row: Mapping[str, object]) -> tuple[object, object, object]:
    return row["problem"], row["event"], row["reason"]
