"""The six queries of the SPAseQ paper on Spark, their files read by Spark: the matches worked out by hand, in batch and
in streaming."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thence
from support.spark_runs import END, _time, at_once, in_order, taken
from support.spaseq_files import EXAMPLES, MATCHES, background, expected, files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"


def test_batch_finds_the_matches_worked_out_by_hand(spark: SparkSession) -> None:
    def found(name: str) -> list[str]:
        streams = {stream: spark.read.format("thence").load(str(path)) for stream, path in files(name).items()}
        query = thence.parse(EXAMPLES / f"{name}.spaseq")
        return written(query, query.dataframe(streams, background=background(name), terms="struct").collect())

    for name, rows in at_once(found, MATCHES):
        assert rows == in_order(expected(name)), name


def test_streaming_finds_the_matches_worked_out_by_hand(spark: SparkSession, tmp_path: Path) -> None:
    """A file of each stream is followed by one with an event that is late enough for all to be certain."""

    def found(name: str) -> list[str]:
        streams = {}
        for stream, path in files(name).items():
            folder = tmp_path / name / stream
            folder.mkdir(parents=True)
            shutil.copy(path, folder)
            os.utime(folder / path.name, (1_600_000_000,) * 2)  # new files are taken in the order of time
            (folder / "end.jsonl").write_text(f"{END}\n")
            streams[stream] = spark.readStream.format("thence").option("files_per_batch", 1).load(str(folder))
        query = thence.parse(EXAMPLES / f"{name}.spaseq")
        made = query.dataframe(streams, background=background(name), terms="struct", shards=2)
        return written(query, taken(made, tmp_path / name / "checkpoint"))

    for name in MATCHES:  # one by one: while another one of our source began, Spark could not send a task, once
        assert found(name) == in_order(expected(name)), name


def written(query: thence.Query, rows: list[Any]) -> list[str]:
    """Rows as `--format jsonl --events` writes matches."""
    found = []
    for row in rows:
        cells = {name: row[name].asDict() for name in query.columns if row[name] is not None}
        bindings = {name: _binding(**cell) for name, cell in cells.items()}
        times = {name: _time(row[name]) for name in ("start", "end")}
        found.append(times | {"bindings": bindings, "events": row["events"]})
    return in_order(found)


def _binding(type: str, value: str, datatype: str | None, language: str | None) -> dict[str, str]:
    found = {"type": type, "value": value}
    if datatype not in (None, XSD_STRING):
        found["datatype"] = str(datatype)
    return found | ({"xml:lang": language} if language else {})
