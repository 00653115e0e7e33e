"""Rows that are equal are different events on Spark, whichever tasks and micro-batches read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thence
from support.spark_runs import taken

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = """PREFIX : <http://example.org/> SELECT ?x ?y WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    { SEQ ((A & B) ; C) DEFINE GPM A ON S { ?x :watts ?a } DEFINE GPM B ON S { ?x :watts ?b }
    DEFINE GPM C ON S { ?y :volts ?c } }"""
TYPED = [("Reading", 1, 7, None), ("Reading", 1, 7, None), ("Alarm", 3, None, 9)]
GRAPHS = [f"_:b <http://example.org/{name}> 7 ." for name in ("watts", "watts", "volts")]
KINDS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "typed": ("type string, time long, watts int, volts int", TYPED),
    "documents": ("time long, value string", [(row[1], graph) for row, graph in zip(TYPED, GRAPHS, strict=True)]),
}
IDS = {"without ids": [], "without some": [None, "", "c"], "of one id": ["a", "a", "c"]}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize(("schema", "rows"), KINDS.values(), ids=KINDS)
def test_equal_rows_share_no_blank_node_and_no_match(
    spark: SparkSession, tmp_path: Path, schema: str, rows: list[tuple[Any, ...]], ids: list[str | None]
) -> None:
    if ids:
        schema += ", id string"
        rows = [(*row, id) for row, id in zip(rows, ids, strict=True)]
    query = thence.parse(QUERY)
    frame = spark.createDataFrame(spark.sparkContext.parallelize(rows, 3), schema)
    found = query.dataframe(frame, shards=2).collect()
    check(found, are_distinct=ids != ["a", "a", "c"])
    if ids:
        return  # in streaming nothing of ids is done otherwise
    for row in rows:
        spark.createDataFrame([row], schema).coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    came = taken(query.dataframe(stream, shards=2), tmp_path / "checkpoint")
    check(came, are_distinct=True)
    assert sorted(row.match_id for row in came) == sorted(row.match_id for row in found)


def check(found: list[Any], *, are_distinct: bool) -> None:
    assert len(found) == len({row.x for row in found}) == len({row.match_id for row in found}) == 2
    assert {row.events[0] == row.events[1] for row in found} == {True}
    assert len({row.events[0] for row in found}) == 1 + are_distinct
