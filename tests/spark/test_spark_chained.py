"""A query over what another one has made, both as DataFrames; and how many problems each of them had."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thence
from thence.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RISES = """
    PREFIX : <http://example.org/>
    CONSTRUCT { ?x :rose ?b } WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    { SEQ (A ; B) DEFINE GPM A ON S { ?x :is ?a } DEFINE GPM B ON S { ?x :is ?b FILTER(?b > ?a) } }
"""
TWICE = """
    PREFIX : <http://example.org/>
    SELECT ?x ?b ?c WITHIN 20 TICKS FROM STREAM R <http://example.org/r>
    { SEQ (A ; B) DEFINE GPM A ON R { ?x :rose ?b } DEFINE GPM B ON R { ?x :rose ?c } }
"""
SCHEMA = "time long, id string, value string"
ROWS = [
    (1, "e1", "<x:h> <http://example.org/is> 1 ."),
    (2, "e2", "this is no Turtle"),
    (3, "e3", "<x:h> <http://example.org/is> 2 ."),
    (5, "e4", "<x:h> <http://example.org/is> 3 ."),
]


def chained(frame: DataFrame, **options: Any) -> DataFrame:
    return thence.parse(TWICE).dataframe(thence.parse(RISES).dataframe(frame, **options))


def test_in_batch_a_query_reads_what_another_one_has_made_and_counts_are_observed(spark: SparkSession) -> None:
    from pyspark.sql import Observation

    counts, frame = Observation(), spark.createDataFrame(ROWS, SCHEMA)
    rows = chained(frame, counts=counts).collect()
    assert [(row.x, row.b, row.c) for row in rows] == [("x:h", "2", "3")]
    assert counts.get == {"matches": 2, "bad": 1, "late": 0, "timed_out": 0, "bad_cell": 0}
    both = thence.parse(RISES).dataframe(frame)
    assert both.union(thence.parse(RISES).dataframe(frame)).count() == 4


def test_in_streaming_each_has_metrics_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(str(tmp_path / "in"))
    found: list[tuple[str, ...]] = []
    writer = chained(spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))).writeStream.foreachBatch(
        lambda rows, _: found.extend((row.x, row.b, row.c) for row in rows.collect())
    )
    running = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start()
    running.awaitTermination()
    assert found == [("x:h", "2", "3")]
    counted = running.recentProgress[0].observedMetrics
    assert counted["thence.found"].asDict() == {"matches": 2, "bad": 1, "late": 0, "timed_out": 0, "bad_cell": 0}
    assert counted["thence2.found"].asDict() == {"matches": 1, "bad": 0, "late": 0, "timed_out": 0, "bad_cell": 0}


def test_what_counts_can_not_be(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import Observation

    query, stream = thence.parse(RISES), spark.readStream.schema(SCHEMA).parquet(str(tmp_path))
    with pytest.raises(InputError, match=r'is for batch queries\. Try: counts="alerts", and the query\'s progress'):
        query.dataframe(stream, counts=Observation())
    with pytest.raises(InputError, match=r"counts can't be 7\. Try"):
        query.dataframe(stream, counts=7)  # type: ignore[arg-type]


def test_a_query_that_reads_another_is_one_dataframe_with_the_ids_of_one_process(spark: SparkSession) -> None:
    query = thence.parse(TWICE).reading({"R": thence.parse(RISES)})
    rows = query.dataframe({"S": spark.createDataFrame(ROWS, SCHEMA)}, problems=True).collect()
    assert [(row.x, row.b, row.c) for row in rows if row.problem is None] == [("x:h", "2", "3")]
    assert [(row.problem, row.event is not None) for row in rows if row.problem is not None] == [("bad", True)]
    events = [thence.Event(time, graph, id=name) for time, name, graph in ROWS if graph.endswith(" .")]
    (match,) = query.match({"S": events})
    assert isinstance(match, thence.Match)
    assert [(row.match_id, tuple(row.events)) for row in rows if row.problem is None] == [(match.id, match.event_ids)]
