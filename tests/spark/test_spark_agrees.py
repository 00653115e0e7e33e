"""On Spark the answers are those of one process: in batch with any number of shards, in streaming however the input is
cut, with the query stopped and started from its checkpoint between any two pieces, and shuffled within the lateness."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import thence
from oracle import spaseq_query
from strategies.spaseq import Case, cases, turtle
from support.engine_cases import Comparable, matched_rows, query_of, summary, tell
from support.shard_runs import comparable
from support.spark_runs import taken
from support.spaseq_runs import background

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEW = settings(
    max_examples=min(300, int(os.environ["THENCE_CASES"])) if "THENCE_CASES" in os.environ else 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SCHEMA = pa.schema({"time": pa.int64(), "end": pa.int64(), "id": pa.string(), "value": pa.string()})
Events = Sequence[spaseq_query.Event]


@FEW
@given(st.data(), cases())
def test_batch_gives_the_rows_of_one_process(spark: SparkSession, data: st.DataObject, case: Case) -> None:
    query = query_of(case)
    expected = summary(case, plainly(tell(matched_rows(case))))
    shuffled = data.draw(st.permutations(case.events))
    streams = {name: spark.createDataFrame(table_of(case, shuffled, name)) for name in query.streams}

    def found(shards: int) -> list[Comparable]:
        made = query.dataframe(streams, background=background(case), shards=shards, terms="struct")
        return comparable_rows(query, made, case)

    with ThreadPoolExecutor(3) as pool:
        for rows in pool.map(found, (1, 2, 7)):
            assert summary(case, rows) == expected


@FEW
@given(st.data(), cases())
def test_streaming_gives_the_rows_of_one_process(spark: SparkSession, data: st.DataObject, case: Case) -> None:
    query = query_of(case)
    shuffled = data.draw(st.permutations(case.events))
    times = [event.time for event in case.events]
    lateness = data.draw(st.sampled_from([0, max(times, default=0) - min(times, default=0)]))
    order = shuffled if lateness else sorted(shuffled, key=lambda event: event.time)
    middle = data.draw(st.integers(0, len(order)))
    cuts = ([order], [order[:middle], order[middle:]], [[event] for event in order] or [[]])
    stopped = [data.draw(st.booleans()) and len(pieces) == 2 for pieces in cuts]

    def found(pieces: Sequence[Events], stopped: bool) -> list[Comparable]:
        with TemporaryDirectory() as folder:
            return streamed(spark, query, case, pieces, Path(folder), lateness=lateness, stopped=stopped)

    expected = certain_rows(case, order, lateness)
    with ThreadPoolExecutor(len(cuts)) as pool:  # a streaming query spends most of its time waiting
        for rows in pool.map(found, cuts, stopped):
            assert expected[0] <= summary(case, rows) <= expected[1]


def certain_rows(case: Case, order: Events, lateness: int) -> tuple[Counter[Comparable], Counter[Comparable]]:
    """The rows that must have come once some events have, and those that may."""
    query = query_of(case)
    engine = query.engine(background=background(case), lateness=lateness)
    for event in order:
        engine.push(event.stream, thence.Event(event.start, turtle(event.graph), event.time, id=event.id))
    now = engine.watermark.now
    waits = engine.answers.flow.waits_for_time
    rows = [] if now is None else [row for row in matched_rows(case) if row.certain <= now]
    must = [row for row in rows if now is not None and (row.certain < now or not waits)]
    return summary(case, plainly(tell(must))), summary(case, plainly(tell(rows)))


def table_of(case: Case, events: Iterable[spaseq_query.Event], stream: str) -> pa.Table:
    rows = [
        {"time": event.start, "end": event.time if event.lasts else None, "id": event.id, "value": turtle(event.graph)}
        for event in events
        if event.stream == stream
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def streamed(
    spark: SparkSession,
    query: thence.Query,
    case: Case,
    pieces: Sequence[Events],
    folder: Path,
    *,
    lateness: int,
    stopped: bool = False,
) -> list[Comparable]:
    """What is found in a micro-batch for each piece; stopped, the query is started anew for each."""
    rows: list[Any] = []
    for number, piece in enumerate(pieces):
        for stream in query.streams:
            path = folder / stream / f"{number:03}.parquet"
            path.parent.mkdir(exist_ok=True)
            parquet.write_table(table_of(case, piece, stream), path)
            os.utime(path, (1_600_000_000 + number,) * 2)  # the order in which Spark takes them
        if stopped or number == len(pieces) - 1:
            rows += _run(spark, query, case, folder, lateness)
    assert [row for row in rows if row["problem"] is not None] == []
    return comparable(query, (row.asDict(recursive=True) | {"certain": None} for row in rows))


def _run(spark: SparkSession, query: thence.Query, case: Case, folder: Path, lateness: int) -> list[Any]:
    """What comes of all files that are there and new, one of each stream a micro-batch."""
    streams = {
        name: spark.readStream.schema("time long, end long, id string, value string")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / name))
        for name in query.streams
    }
    made = query.dataframe(
        streams, background=background(case), lateness=lateness, shards=2, terms="struct", problems=True
    )
    return taken(made, folder / "checkpoint")


def comparable_rows(query: thence.Query, made: DataFrame, case: Case) -> list[Comparable]:
    return comparable(query, (row.asDict(recursive=True) | {"certain": None} for row in made.collect()))


def plainly(rows: Iterable[Comparable]) -> list[Comparable]:
    """Rows without the time at which they were certain, which Spark does not tell."""
    return [(start, end, None, events, cells) for start, end, _, events, cells in rows]
