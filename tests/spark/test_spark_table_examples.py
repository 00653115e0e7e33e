"""The jobs of examples/tables on Spark: batch and streaming give the matches worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thence
from support.table_files import TableJob, table_jobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOBS = table_jobs()

OPEN = {"heartbeats": 2, "unpaid": 1}
"""Matches that wait for an event that has not come: a stream has no end."""


@pytest.mark.parametrize("job", JOBS.values(), ids=list(JOBS))
def test_a_job_in_batch_and_in_streaming_gives_its_matches(job: TableJob, spark: SparkSession, tmp_path: Path) -> None:
    query = thence.parse(job.query)
    tables = {name: _table(spark, path) for name, path in job.files.items()}
    batch = query.dataframe(tables if len(tables) > 1 else tables[""], shards=2, **job.options)
    assert _rows(batch) == sorted(_text(each["bindings"]) for each in job.expected)

    streams = {}
    for name, table in tables.items():
        folder = str(tmp_path / f"in{name}")
        table.coalesce(1).write.parquet(folder)
        streams[name] = spark.readStream.schema(table.schema).parquet(folder)
    found = query.dataframe(streams if len(streams) > 1 else streams[""], shards=2, **job.options)
    called = f"table_{job.name}"
    started = found.writeStream.format("memory").queryName(called).trigger(availableNow=True)
    running = started.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    running.awaitTermination()
    certain = _rows(spark.table(called))
    assert set(certain) <= set(_rows(batch))
    assert len(certain) == len(job.expected) - OPEN.get(job.name, 0)


def _table(spark: SparkSession, path: Path) -> DataFrame:
    if path.suffix == ".jsonl":
        return spark.read.json(str(path))
    return spark.read.option("header", True).option("inferSchema", path.stem != "heartbeats").csv(str(path))


def _rows(found: DataFrame) -> list[str]:
    own = [name for name in found.columns if name not in ("start", "end", "match_id", "events")]
    return sorted(_text(row.asDict()) for row in found.select(*own).collect())


def _text(cells: dict[str, Any]) -> str:
    return json.dumps({name: _plain(cell) for name, cell in sorted(cells.items())}, ensure_ascii=False)


def _plain(cell: Any) -> Any:
    if hasattr(cell, "total_seconds"):
        return f"PT{int(cell.total_seconds()) // 60}M"
    try:
        return float(cell)
    except ValueError:
        return cell
