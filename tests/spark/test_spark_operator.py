"""An operator that is written against the interface alone runs on Spark, in batch and in streaming."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thence
from support.operator_cases import GRAPHS, ROWS, TIMED_OUT, document, events, query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "time long, id string, value string"
FRAME = [(time, f"e{time}", document(graph)) for time, graph in GRAPHS]


@pytest.fixture(autouse=True)
def _known_to_workers(spark: SparkSession) -> None:
    spark.sparkContext.addPyFile(str(Path(__file__).parents[1] / "three_events.py"))


def comparable(rows: list[Any]) -> list[tuple[object, ...]]:
    return sorted((row.start, row.end, row.k, tuple(row.events)) for row in rows if row.match_id is not None)


def test_batch_gives_the_rows_ids_and_problems_of_one_process(spark: SparkSession) -> None:
    frame = spark.createDataFrame(FRAME, SCHEMA).repartition(3)
    rows = query().dataframe(frame, shards=2, timed_out=True).collect()
    assert comparable(rows) == ROWS
    matches = [each for each in query().match(events()) if isinstance(each, thence.Match)]
    assert sorted(row.match_id for row in rows if row.match_id) == sorted(match.id for match in matches)
    problems = sorted((row.problem, row.event) for row in rows if row.problem is not None)
    assert [kind for kind, _ in problems] == ["bad", "timed_out", "timed_out"]
    assert [event for kind, event in problems if kind == "timed_out"] == [TIMED_OUT[0][0], "e30"]
    distinct = query("DISTINCT THREE").dataframe(frame, shards=2).collect()
    assert comparable(distinct) == ROWS[:1]


def test_streaming_goes_on_from_its_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    found: list[Any] = []

    def run(rows: list[tuple[int, str, str]]) -> None:
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
        frame = spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))
        writer = query().dataframe(frame, problems=True).writeStream
        writer = writer.foreachBatch(lambda rows, _: found.extend(rows.collect()))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()

    for rows in (FRAME[:3], FRAME[3:6], FRAME[6:], FRAME[:1]):
        run(rows)
    assert comparable(found) == ROWS
    assert sorted(row.problem for row in found if row.problem is not None) == ["bad", "late"]
