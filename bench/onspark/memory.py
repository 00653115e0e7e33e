"""What the Python workers hold: five million events through one shard, and two hundred micro-batches."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession
from rich.table import Table

from onspark import processes
from onspark.batch import NEXT, STRICT, ours
from onspark.session import consumed
from onspark.streaming import started
from onspark.timing import CONSOLE
from stocks import queries, ticks

MOST = 2_048
"""MB that a worker may hold in batch."""
MARKS = (20, 100, 200)
"""Micro-batches after which is looked."""
SMALL = 2_000
"""Events of each of them."""
WINDOW = 1_000


def in_batch(spark: SparkSession, folder: Path, events: int, where: str) -> None:
    """All events through one shard, in the order of time and in none."""
    ordered, mixed = folder / "ordered.parquet", folder / "mixed.parquet"
    ticks.write(ordered, events, together=ticks.TOGETHER)
    table = parquet.read_table(ordered)
    order = np.random.default_rng(7).permutation(events)
    parquet.write_table(table.take(pa.array(order)), mixed, row_group_size=ticks.TOGETHER)
    del table, order
    shown = Table(title=f"Memory in batch, {events:,} ticks, one shard, {where}", title_justify="left")
    for heading in ("", "largest worker so far, MB", "matches"):
        shown.add_column(heading, justify="right" if heading else "left")
    for name, text, path in (
        ("strict", STRICT, ordered),
        ("skip-till-next", NEXT, ordered),
        ("in no order", NEXT, mixed),
    ):
        consumed(ours(text, spark.read.parquet(str(path)), shards=1))
        peak = max(most for _, most in processes.workers().values())
        found = ours(text, spark.read.parquet(str(path)), shards=1).count()
        shown.add_row(name, f"{peak:,.0f}", f"{found:,}")
        assert peak < MOST, f"{name}: a worker held {peak:,.0f} MB"
    CONSOLE.print(shown)


def in_streaming(spark: SparkSession, folder: Path, where: str) -> None:
    """Micro-batches of a sliding window: state and workers must not grow."""
    pieces = folder / "small"
    ticks.write_pieces(pieces, MARKS[-1] * SMALL, SMALL, 1)
    schema = spark.read.parquet(str(pieces / "00000.parquet")).schema
    frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(pieces))
    text = queries.skip_till_next(queries.V, WINDOW)
    with tempfile.TemporaryDirectory() as checkpoint:
        seen = _watched(started(ours(text, frame, shards=1), checkpoint))
    title = f"Memory in streaming, micro-batches of {SMALL:,}, within {WINDOW:,} ticks, one shard, {where}"
    shown = Table(title=title, title_justify="left")
    for heading in ("micro-batches", "state, bytes", "state store, bytes", "all workers, MB", "largest worker, MB"):
        shown.add_column(heading, justify="right")
    for mark in MARKS:
        progress, held = seen[mark]
        state, store = progress.observedMetrics["thence.state"].bytes, progress.stateOperators[0].memoryUsedBytes
        shown.add_row(f"{mark}", f"{state:,}", f"{store:,}", f"{sum(held):,.0f}", f"{max(held):,.0f}")
    CONSOLE.print(shown)


def _watched(query: Any) -> dict[int, tuple[Any, list[float]]]:
    """By number of micro-batches, the progress after them and what each worker held then, in MB."""
    seen: dict[int, tuple[Any, list[float]]] = {}
    while query.isActive:
        progress = query.lastProgress
        if progress is not None and progress.batchId + 1 in MARKS and progress.batchId + 1 not in seen:
            seen[progress.batchId + 1] = progress, [now for now, _ in processes.workers().values()]
        time.sleep(0.02)
    query.awaitTermination()
    last = query.lastProgress
    seen.setdefault(last.batchId + 1, (last, [now for now, _ in processes.workers().values()]))
    return seen
