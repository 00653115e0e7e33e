"""The queries of the SASE+ paper on Spark: the matches worked out by hand, over tables and over RDF, in batch and in
streaming."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thence
from support.sase_files import EXAMPLES, MATCHES, expected
from support.spark_runs import END, _time, at_once, in_order, taken

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
        shown = row.asDict(recursive=True)
        cells = {name: _plain(shown[name]) for name in query.columns if shown[name] is not None}
        times = {name: _time(shown[name]) for name in ("start", "end")}
        found.append(times | {"bindings": cells, "events": [id.rpartition("/")[2] for id in shown["events"]]})
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
    def found(name: str) -> list[str]:
        query = thence.parse(EXAMPLES / f"{name}.sase")
        return written(query, query.dataframe(table(spark, name), shards=2).collect())

    for name, rows in at_once(found, TABLES):
        assert rows == in_order(expected(name)), name
        assert len(rows) == len(MATCHES[name])


def test_batch_finds_them_in_rdf(spark: SparkSession) -> None:
    def found(name: str) -> list[str]:
        query = thence.parse(EXAMPLES / f"{name}.sase")
        events = spark.read.format("thence").load(str(EXAMPLES / f"{name}.{GRAPHS[name]}"))
        return written(query, query.dataframe(events).collect())

    for name, rows in at_once(found, GRAPHS):
        assert rows == in_order(expected(name)), name


def test_streaming_finds_them(spark: SparkSession, tmp_path: Path) -> None:
    """The file, of RDF where there is one, and one with an event that is late enough for all to be certain."""

    def found(name: str) -> list[str]:
        file = f"{name}.{GRAPHS.get(name, 'csv')}"
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(EXAMPLES / file, folder)
        os.utime(folder / file, (1_600_000_000,) * 2)  # new files are taken in the order of time
        if name in GRAPHS:
            (folder / "end.jsonl").write_text(f"{END}\n")
            events = spark.readStream.format("thence").option("files_per_batch", 1).load(str(folder))
        else:
            (folder / "end.csv").write_text("type,time,id,kind,symbol,volume\nEND,2099-01-01T00:00:00Z,end,,,\n")
            reader = spark.readStream.schema(TABLES[name][1]).option("maxFilesPerTrigger", 1)
            events = reader.csv(str(folder), header=True)
        query = thence.parse(EXAMPLES / f"{name}.sase")
        return written(query, taken(query.dataframe(events, shards=2), tmp_path / f"{name}-checkpoint"))

    for name in ["badnews", *GRAPHS]:  # one by one, as in test_spark_goldens
        assert found(name) == in_order(expected(name)), name


def test_queries_feed_each_other_in_batch_and_in_streaming(spark: SparkSession, tmp_path: Path) -> None:
    """Query 5, which reads what Query 4 makes: a line of the table in each file, taken three files at a time."""
    query = thence.parse(EXAMPLES / "couriers.sase")
    head, *lines = (EXAMPLES / "couriers.csv").read_text().splitlines()
    schema = "type string, time string, object_id string, location string, came_from string, courier_id string"
    (tmp_path / "in").mkdir()
    for number, line in enumerate([*lines, "END,2099-01-01T00:00:00Z,,,,"]):
        path = tmp_path / "in" / f"{number}.csv"
        path.write_text(f"{head}\n{line}\n")
        os.utime(path, (1_600_000_000 + number,) * 2)
    wanted = sorted((row["bindings"]["courier_id"], row["bindings"]["objects"]) for row in expected("couriers"))
    batch = query.dataframe(spark.read.schema(schema).csv(str(tmp_path / "in"), header=True), shards=2).collect()
    assert sorted((row["courier_id"], row["objects"]) for row in batch) == wanted
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", len(lines) // 3)
    rows = query.dataframe(reader.csv(str(tmp_path / "in"), header=True), shards=2)
    found = taken(rows, tmp_path / "checkpoint")
    assert sorted((row["courier_id"], row["objects"]) for row in found) == wanted
    assert sorted(row["match_id"] for row in found) == sorted(row["match_id"] for row in batch)


BOTH = """
FROM S PATTERN A a WHERE a.x > 1 RETURN (a.x AS x) AS Large IN STREAM Made;
FROM Made, S, T PATTERN SEQ(Large a, A b) WHERE b.x = 1 WITHIN 9 RETURN a.x AS x, b.x AS y
UNION
FROM Made, T PATTERN SEQ(Large a, B b) WITHIN 9 RETURN a.x AS x, b.y AS y
"""
GROWING = {
    "S": [[(1, 3), ("no time", 2), (4, 1)], [(9, 2), (8, 1)], [(3, 7), (6, 7), (9, 1)], [(30, 0)]],
    "T": [[(2, 20)], [(5, 50), ("x", 60)], [(9, 90), (1, 10)], [(30, 0)]],
}
"""Micro-batches, of times and values. Before the third, time has come to 5: T's 1 and S's 3 are late, S's 6 is not, for
whoever reads them, though S itself had come to 9."""


def test_each_event_is_bad_or_late_once_whoever_reads_it(spark: SparkSession, tmp_path: Path) -> None:
    kinds, good = {"S": ("A", "x"), "T": ("B", "y")}, dict[str, list[thence.Event]]()
    frames = {}
    for name, (kind, attribute) in kinds.items():
        (tmp_path / name).mkdir()
        for number, rows in enumerate(GROWING[name]):
            path = tmp_path / name / f"{number}.csv"
            path.write_text("\n".join([f"type,time,{attribute}", *(f"{kind},{time},{x}" for time, x in rows), ""]))
            os.utime(path, (1_600_000_000 + number,) * 2)
        reader = spark.readStream.schema(f"type string, time string, {attribute} int").option("maxFilesPerTrigger", 1)
        frames[name] = reader.csv(str(tmp_path / name), header=True)
        every = [row for rows in GROWING[name] for row in rows]
        kept = [(time, x) for time, x in every if isinstance(time, int) and (name, time) not in (("S", 3), ("T", 1))]
        good[name] = [thence.Event(time, {"type": kind, attribute: x}) for time, x in sorted(kept)]
    query = thence.parse(BOTH)
    found = taken(query.dataframe(frames, problems=True), tmp_path / "checkpoint")
    matches = [(row["start"], row["end"], row["x"], row["y"]) for row in found if row["problem"] is None]
    wanted = [(each.start, each.end, *(each.bindings[n].python for n in "xy")) for each in query.match(good)]
    assert sorted(matches) == sorted(wanted) and len(wanted) == 4
    shown = sorted((row["problem"], row["stream"]) for row in found if row["problem"] is not None)
    assert shown == [("bad", "S"), ("bad", "T"), ("late", "S"), ("late", "T")]


def test_an_event_that_several_queries_refuse_is_told_once(spark: SparkSession, tmp_path: Path) -> None:
    query = thence.parse("""
        FROM S PATTERN A a WHERE a.x > 0 RETURN (a.x AS x) AS Large IN STREAM Made;
        FROM S, Made PATTERN SEQ(Large a, A b) WHERE b.x > 0 ^ b.y > 0 WITHIN 9 RETURN a.x AS x
        UNION FROM S PATTERN A a WHERE a.y > 0 RETURN a.y AS x""")
    head = "@prefix : <http://example.org/> . :s a :A"
    values = [":x 1, 2 ; :y 1", ":x 1 ; :y 2, 3", ":x 3, 4 ; :y 5, 6", ":x 7 ; :y 8"]
    rows = [(number, f"e{number}", f"{head} ; {each} .") for number, each in enumerate(values)]
    events = spark.createDataFrame(rows, "time long, id string, value string")
    events.coalesce(1).write.parquet(str(tmp_path / "in"))
    growing = spark.readStream.schema(events.schema).parquet(str(tmp_path / "in"))
    wanted = [(f"e{number}", f"it has two values for {name}") for number, name in enumerate("xyx")]
    batch = query.dataframe(events, problems=True).collect()
    for found in (batch, taken(query.dataframe(growing, problems=True), tmp_path / "checkpoint")):
        assert sorted((row["event"], row["reason"]) for row in found if row["problem"] == "bad") == wanted


def test_a_text_is_compared_with_a_constant(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("A", 1, "bad"), ("A", 2, "good")], "type string, time long, x string")
    query = thence.parse("PATTERN A a WHERE a.x = 'good' RETURN a.x AS x")
    assert [row["x"] for row in query.dataframe(rows).collect()] == ["good"]
