"""Events that last, on Spark: a row starts with its first event (C-22), in batch, where workers read files themselves,
in streaming, and after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thence
from support.parquet_scans import reading
from support.spark_runs import taken

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SASE = thence.parse("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) {} WITHIN 10 RETURN a.x AS x, b.x AS y")
SPASEQ = thence.parse("""
    PREFIX : <http://example.org/>
    SELECT ?x ?y WITHIN 10 TICKS FROM STREAM events <http://example.org/s>
    WHERE { SEQ (A : B) DEFINE GPM A ON events { ?a a :A ; :x ?x } DEFINE GPM B ON events { ?b a :B ; :x ?y } }""")
SCHEMA = "type string, time long, end long, x long, note string"
ROWS = [("A", -3, 5, 1, "n"), ("A", 4, 4, 2, "n"), ("A", 6, None, 3, "n"), ("B", 2, 7, 4, "n"), ("B", 9, 9, 5, None)]
EXPECTED = [(-3, 7, 1, 4), (4, 7, 2, 4), (6, 7, 3, 4), (-3, 9, 1, 5), (4, 9, 2, 5), (6, 9, 3, 5)]


def comparable(rows: list[Any]) -> list[tuple[int, ...]]:
    return [(row.start, row.end, int(row.x), int(row.y)) for row in rows]


@pytest.mark.parametrize("query", [SASE, SPASEQ], ids=["SASE+", "SPAseQ"])
def test_a_rows_start_is_the_start_of_its_first_event_in_batch(
    spark: SparkSession, tmp_path: Path, query: thence.Query
) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA)
    frame.coalesce(1).write.parquet(str(tmp_path / "events"))
    stored = spark.read.parquet(str(tmp_path / "events"))
    assert reading(stored) is not None, "workers read the files themselves"
    for each in (frame, stored, frame.withColumnRenamed("end", "until")):
        columns = {"events": {"end": "until"}} if "until" in each.columns else None
        assert sorted(comparable(query.dataframe(each, columns=columns).collect())) == sorted(EXPECTED)


@pytest.mark.parametrize("query", [SASE, SPASEQ], ids=["SASE+", "SPAseQ"])
def test_a_rows_start_is_the_start_of_its_first_event_in_a_stream_that_is_stopped_and_goes_on(
    spark: SparkSession, tmp_path: Path, query: thence.Query
) -> None:
    found = list[Any]()
    for rows in (ROWS[:2], ROWS[2:4], ROWS[4:]):
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(str(tmp_path / "events"))
        stream = spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "events"))
        found += taken(query.dataframe(stream, shards=2), tmp_path / "checkpoint")
    assert sorted(comparable(found)) == sorted(EXPECTED)
