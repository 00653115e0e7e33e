"""A Spark session as a user would make it, quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    # these three as docs/spark.md says
    "spark.python.daemon.module": "thence.spark.session.daemon",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
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
    with _silent():
        spark: SparkSession = made.getOrCreate()
    return spark


@contextmanager
def _silent() -> Iterator[None]:
    """What is started meanwhile has nobody to talk to: Java, and workers that tell of each micro-batch."""
    ours = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(ours, 2)
            os.close(ours)


def consumed(frame: DataFrame) -> None:
    """All rows are made, and thrown away."""
    frame.write.format("noop").mode("overwrite").save()
