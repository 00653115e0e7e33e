"""RSEP-QL on Spark: a stream in micro-batches, with a restart between them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import thence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SCHEMA = "time long, end long, id string, value string, format string"


def streamed(
    spark: SparkSession, query: thence.Query, cuts: list[list[Any]], folder: Path, **options: Any
) -> list[Any]:
    """The rows of several runs, each from the checkpoint of the one before."""
    found: list[Any] = []
    for rows in cuts:
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(str(folder / "in"))
        frame = spark.readStream.schema(SCHEMA).parquet(str(folder / "in"))
        writer = query.dataframe(frame, **options).writeStream
        writer = writer.foreachBatch(lambda some, _: found.extend(some.collect()))
        writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()
    return found
