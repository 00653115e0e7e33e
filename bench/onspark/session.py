"""A Spark session as a user would make it, quiet."""

from __future__ import annotations

import os
import sys

from pyspark.sql import DataFrame, SparkSession

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.daemon.module": "thence.spark.daemon",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",  # of every micro-batch, to be looked at afterwards
}


def session(cores: int) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    made = SparkSession.builder.master(f"local[{cores}]").appName("bench")
    for name, value in _SETTINGS.items():
        made = made.config(name, value)
    # LEAD's too: with Spark's 200 partitions it would mostly be starting tasks
    made = made.config("spark.sql.shuffle.partitions", str(cores))
    spark: SparkSession = made.getOrCreate()
    return spark


def consumed(frame: DataFrame) -> None:
    """All rows are made, and thrown away."""
    frame.write.format("noop").mode("overwrite").save()
