"""A program that runs a streaming query until it has taken all files that are there: what test_spark_faults kills.

    python streaming_driver.py FOLDER [NAME=VALUE …]

It reads FOLDER/S1 and FOLDER/S2, a file of each a micro-batch, keeps FOLDER/checkpoint, and writes the matches of each
micro-batch to FOLDER/out, named by its number. One that is done again must find the same, or the program fails.
Each NAME is a setting of Spark's.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import thence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERY = """
    PREFIX : <http://example.org/>
    SELECT ?house ?before ?after WITHIN 40 TICKS
    FROM STREAM S1 <http://example.org/power>
    FROM STREAM S2 <http://example.org/alarms>
    WHERE {
      SEQ (A ; B ; N!)
      DEFINE GPM A ON S1 { ?m :house ?house ; :watts ?before }
      DEFINE GPM B ON S1 { ?n :house ?house ; :watts ?after FILTER(?after > 2 * ?before) }
      DEFINE GPM N ON S2 { ?o :house ?house }
    }
"""
SCHEMA = "time long, id string, type string, house long, watts long"


def session(settings: Iterable[str]) -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = (
        builder.config("spark.log.level", "ERROR")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
    )
    for setting in settings:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    return builder.config("spark.python.daemon.module", "thence.spark.session.daemon").getOrCreate()


def main(folder: Path, settings: Iterable[str]) -> None:
    spark = session(settings)
    streams = {
        name: spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / name))
        for name in ("S1", "S2")
    }

    def write(rows: DataFrame, number: int) -> None:
        found = sorted(json.dumps(row.asDict()) for row in rows.collect())
        path = folder / "out" / f"{number:04}.jsonl"
        content = "".join(f"{line}\n" for line in found)
        if path.exists() and path.read_text() != content:
            raise ValueError(f"micro-batch {number} has found something else than before")
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(content)
        unfinished.replace(path)

    made = thence.parse(QUERY).dataframe(streams, shards=2)
    writer = made.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
