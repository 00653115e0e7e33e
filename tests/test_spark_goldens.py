"""The six queries of the SPAseQ paper on Spark, their files read by Spark: the matches worked out by hand, in batch and
in streaming."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thence
from test_spaseq_queries import EXAMPLES, MATCHES, background, expected, files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
END = '{"time": "2099-01-01T00:00:00Z", "id": "end", "graph": "<x:all> <x:is> <x:over> ."}'


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


def at_once(found: Callable[[str], list[str]], names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """What is found for each name, three at a time: small queries spend most of their time waiting."""
    listed = list(names)
    with ThreadPoolExecutor(3) as pool:
        return list(zip(listed, pool.map(found, listed), strict=True))


def taken(made: DataFrame, checkpoint: Path) -> list[Any]:
    """The rows that a streaming DataFrame has, once all that is there was taken."""
    found: list[Any] = []
    writer = made.writeStream.foreachBatch(lambda rows, _: found.extend(rows.collect()))
    writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start().awaitTermination()
    return found


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


def _time(found: datetime) -> str:
    return found.astimezone(UTC).isoformat().replace("+00:00", "Z")


def in_order(found: list[Any]) -> list[str]:
    """Shards give rows in no order among each other."""
    return sorted(json.dumps(each, sort_keys=True) for each in found)
