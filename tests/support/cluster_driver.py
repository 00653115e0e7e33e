"""A program that runs queries on a small cluster, to whose executors the package is sent: for test_spark_cluster.

    python cluster_driver.py FOLDER CACHE

It prints what it has found as JSON. Executors keep what they unpack and compile in CACHE.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
import pyarrow as pa

import thence
from thence.spark.session.ship import ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERY = """
    PREFIX : <http://example.org/>
    SELECT ?x ?a ?b WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    { SEQ (A ; B) DEFINE GPM A ON S { ?x :is ?a } DEFINE GPM B ON S { ?x :was ?b FILTER(?b > ?a) } }
"""


def session(folder: Path, cache: str) -> SparkSession:
    """Two executors, whose Python has the libraries, and nothing of what is installed beside them by a path file. Where
    the driver is, Spark calls the same Python, and that has all."""
    import pyspark
    from pyspark.sql import SparkSession

    home = folder / "spark"  # links alone: executors write their logs there
    home.mkdir()
    for each in Path(pyspark.__file__).parent.iterdir():
        (home / each.name).symlink_to(each)
    os.environ["SPARK_HOME"] = str(home)
    libraries = Path(numpy.__file__).parent.parent
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\ncase "$PWD" in */app-*/[0-9]*) PYTHONPATH="{libraries}" exec "{sys.executable}" -S "$@";; esac\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    os.environ["PYSPARK_PYTHON"] = str(python)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.executor.memory", "1g").config("spark.sql.session.timeZone", "UTC")
    return builder.config("spark.executorEnv.XDG_CACHE_HOME", cache).getOrCreate()


def where(spark: SparkSession) -> list[str]:
    """Where the executors have the package from. Something is compiled there, as it would be for more events than
    these."""

    def look(records: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            import thence
            from thence.columns.row_order import _translate

            _translate.compiled(*(numpy.zeros(1, numpy.int64) for _ in range(3)))
            found = thence.__file__
        except ModuleNotFoundError:
            found = "nowhere"
        for _ in records:
            yield pa.RecordBatch.from_pydict({"found": [found]})

    return sorted({row[0] for row in spark.range(0, 8, 1, 4).mapInArrow(look, "found string").collect()})


def rows_of(made: DataFrame) -> list[list[Any]]:
    return sorted([row["x"], row["a"], row["b"], row["events"]] for row in made.collect())


def streamed(made: DataFrame, folder: Path) -> list[list[Any]]:
    found: list[list[Any]] = []
    writer = made.writeStream.foreachBatch(lambda rows, _: found.extend(rows_of(rows)))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()
    return sorted(found)


def main(folder: Path, cache: str) -> None:
    spark = session(folder, cache)
    query, events = thence.parse(QUERY), str(folder / "events")
    before = where(spark)
    ship(spark)
    batch = query.dataframe(spark.read.format("thence").load(events), shards=4)
    options = {"files_per_batch": 1}
    streaming = query.dataframe(spark.readStream.format("thence").options(**options).load(events), shards=2)
    lines = spark.readStream.schema("time long, id string, graph string").option("maxFilesPerTrigger", 2).json(events)
    of_lines = query.dataframe(lines.withColumnRenamed("graph", "value"), shards=2)
    found = {
        "before": before,
        "after": where(spark),
        "batch": rows_of(batch),
        "lines": streamed(of_lines, folder / "lines"),
        "streaming": streamed(streaming, folder / "files"),
    }
    print(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
