"""The queries of the SASE+ paper on Spark: the matches worked out by hand, over tables and over RDF, in batch and in
streaming."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thence
from test_sase_queries import EXAMPLES, MATCHES, expected
from test_spark_goldens import END, _time, in_order, taken

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STOCK = "type string, time string, id string, symbol string, price int, volume int"
TABLES = {
    "badnews": ("csv", "type string, time string, id string, kind string, symbol string, volume int"),
    "rise": ("jsonl", STOCK),
    "stocks": ("csv", STOCK),
    "detours": (
        "jsonl",
        "type string, time string, id string, object_id string, location string, came_from string, courier_id string",
    ),
}
GRAPHS = {"rise": "trig", "stocks": "nq", "detours": "trig"}


def table(spark: SparkSession, name: str) -> DataFrame:
    ending, schema = TABLES[name]
    reader, path = spark.read.schema(schema), str(EXAMPLES / f"{name}.{ending}")
    return reader.json(path) if ending == "jsonl" else reader.csv(path, header=True)


def written(query: thence.Query, rows: list[Any]) -> list[str]:
    """Rows as `--format jsonl --events` writes matches, the ids of RDF events without what stands before them."""
    found = []
    for row in rows:
        told = row.asDict(recursive=True)
        cells = {name: _plain(told[name]) for name in query.columns if told[name] is not None}
        times = {name: _time(told[name]) for name in ("start", "end")}
        found.append(times | {"bindings": cells, "events": [id.rpartition("/")[2] for id in told["events"]]})
    return in_order(found)


def _plain(cell: Any) -> Any:
    """Of RDF, where attributes have no types, numbers are texts."""
    match cell:
        case list():
            return [_plain(each) for each in cell]
        case dict():
            return {name: _plain(each) for name, each in cell.items()}
    return int(cell) if isinstance(cell, str) and cell.isdigit() else cell


def test_batch_finds_the_matches_in_tables(spark: SparkSession) -> None:
    for name in TABLES:
        query = thence.parse(EXAMPLES / f"{name}.sase")
        found = query.dataframe(table(spark, name), shards=2).collect()
        assert written(query, found) == in_order(expected(name)), name
        assert len(found) == len(MATCHES[name])


def test_batch_finds_them_in_rdf(spark: SparkSession) -> None:
    for name, ending in GRAPHS.items():
        query = thence.parse(EXAMPLES / f"{name}.sase")
        events = spark.read.format("thence").load(str(EXAMPLES / f"{name}.{ending}"))
        assert written(query, query.dataframe(events).collect()) == in_order(expected(name)), name


def test_streaming_finds_them_in_rdf(spark: SparkSession, tmp_path: Path) -> None:
    """The file is followed by one with an event that is late enough for all to be certain."""
    for name, ending in GRAPHS.items():
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(EXAMPLES / f"{name}.{ending}", folder)
        os.utime(folder / f"{name}.{ending}", (1_600_000_000,) * 2)  # new files are taken in the order of time
        (folder / "end.jsonl").write_text(f"{END}\n")
        events = spark.readStream.format("thence").option("files_per_batch", 1).load(str(folder))
        query = thence.parse(EXAMPLES / f"{name}.sase")
        found = taken(query.dataframe(events, shards=2), tmp_path / f"{name}-checkpoint")
        assert written(query, found) == in_order(expected(name)), name


def test_a_text_is_compared_with_a_constant(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("A", 1, "bad"), ("A", 2, "good")], "type string, time long, x string")
    query = thence.parse("PATTERN A a WHERE a.x = 'good' RETURN a.x AS x")
    assert [row["x"] for row in query.dataframe(rows).collect()] == ["good"]
