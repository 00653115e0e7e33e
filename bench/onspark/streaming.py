"""The same queries over files that come one by one, and what they take in batch beside it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from rich.table import Table

from onspark.session import consumed
from onspark.timing import CONSOLE, asked, measured

FIRST = 2
"""Micro-batches that compile and start workers."""
_FOUND = "found"


@dataclass(frozen=True, slots=True)
class Streamed:
    """What a streaming query did: seconds from its start to its end, its progress by micro-batch, rows."""

    wall: float
    progress: list[Any]

    @property
    def found(self) -> int:
        return sum(each.observedMetrics[_FOUND].rows for each in self.progress if _FOUND in each.observedMetrics)

    @property
    def settled(self) -> tuple[int, float]:
        """Micro-batches after the first ones, and their seconds."""
        later = self.progress[FIRST:]
        return len(later), sum(each.durationMs["triggerExecution"] for each in later) / 1000


def started(frame: DataFrame, checkpoint: str) -> Any:
    """A query that takes what is there, and ends; rows are counted and thrown away."""
    counted = frame.observe(_FOUND, F.count(F.lit(1)).alias("rows"))
    return (
        counted.writeStream.format("noop").option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    )


def streamed(frame: DataFrame) -> Streamed:
    with tempfile.TemporaryDirectory() as checkpoint:
        begun = time.perf_counter()
        query = started(frame, checkpoint)
        query.awaitTermination()
        wall = time.perf_counter() - begun
        return Streamed(wall, [each for each in query.recentProgress if each.numInputRows])


def compare(
    title: str,
    batch: dict[str, Callable[[], DataFrame]],
    streams: dict[str, Callable[[], DataFrame]],
    events: int,
    together: int,
    repeat: int,
) -> None:
    """Each query in batch and in streaming, and as many rows from both."""
    table = Table(title=title, title_justify="left")
    for heading in (
        "",
        "batch, events/s",
        "streaming, all",
        "after the first two",
        "times batch, all",
        "after",
        "rows",
    ):
        table.add_column(heading, justify="right" if heading else "left")
    ratios = {}
    for name, make in batch.items():
        expected = make().count()
        in_batch = events / measured({name: lambda make=make: consumed(make())}, repeat)[name].wall
        over_all, settled = 0.0, 0.0
        for _ in range(repeat):
            run = streamed(streams[name]())
            assert run.found == expected, f"{name}: {run.found:,} rows in streaming, {expected:,} in batch"
            count, seconds = run.settled
            over_all = max(over_all, events / run.wall)
            settled = max(settled, count * together / seconds) if count else settled
        ratios[name] = settled / in_batch
        rates = (f"{each:,.0f}" for each in (in_batch, over_all, settled))
        table.add_row(name, *rates, f"{over_all / in_batch:.2f}", f"{ratios[name]:.2f}", f"{expected:,}")
    CONSOLE.print(table)
    for name, ratio in ratios.items():
        asked(f"{name}, streaming after the first two micro-batches, beside batch", ratio, 0.4)
