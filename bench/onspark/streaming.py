"""The same queries over files that come one by one, and what they take in batch beside it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from rich.table import Table

from onspark import processes
from onspark.session import consumed
from onspark.timing import CONSOLE, asked, measured
from thence.spark.driver.pipeline import shard_keys

FIRST = 2
"""Micro-batches that compile and start workers."""
_FOUND = "found"
_SPARK = "Spark itself, with workers that do nothing"


@dataclass(frozen=True, slots=True)
class Streamed:
    """What a streaming query did: seconds from its start to its end, its progress by micro-batch, rows; and the seconds
    of all processes' CPU between two micro-batches, the later one the last."""

    wall: float
    progress: list[Any]
    cpu: float
    over: int  # micro-batches

    @property
    def found(self) -> int:
        return sum(each.observedMetrics[_FOUND].rows for each in self.progress if _FOUND in each.observedMetrics)

    @property
    def settled(self) -> tuple[int, float]:
        """Micro-batches after the first ones, and their seconds."""
        later = self.progress[FIRST:]
        return len(later), sum(each.durationMs["triggerExecution"] for each in later) / 1000

    @property
    def cpu_each(self) -> float:
        """Of a micro-batch."""
        return self.cpu / self.over if self.over else float("inf")


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
        while query.isActive and (query.lastProgress is None or query.lastProgress.batchId < FIRST - 1):
            time.sleep(0.05)
        first, before = query.lastProgress, processes.cpu()
        query.awaitTermination()
        wall, after = time.perf_counter() - begun, processes.cpu()
        progress = [each for each in query.recentProgress if each.numInputRows]
        over = progress[-1].batchId - first.batchId if progress and first is not None else 0
        return Streamed(wall, progress, after - before, over)


def alone(stream: DataFrame, shards: int) -> DataFrame:
    """Spark itself: the same rows go to workers that do nothing, a row for each shard goes on, and each shard reads and
    writes a state of the size that ours has."""

    keys = shard_keys(shards)

    # inside, since workers know no modules of the benchmark's
    def one_for_each(records: Any) -> Any:
        for _ in records:
            pass
        yield pa.RecordBatch.from_pydict({"shard": pa.array(keys, pa.int64())})

    class Keeps(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.kept = handle.getValueState("kept", "state binary")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
            self.kept.get()
            self.kept.update((bytes(40_000),))
            yield Row(shard=key[0])

        def close(self) -> None:
            pass

    sent = stream.select("time", "subject", "price", "volume").mapInArrow(one_for_each, "shard long")
    return sent.groupBy("shard").transformWithState(Keeps(), "shard long", "Append", "None")


def compare(
    title: str,
    batch: dict[str, Callable[[], DataFrame]],
    streams: dict[str, Callable[[], DataFrame]],
    events: int,
    together: int,
    repeat: int,
    spark_itself: Callable[[], DataFrame] | None = None,
    cores: int = 1,
) -> None:
    """Each query in batch and in streaming, and as many rows from both; in turns, since Java compiles for minutes."""
    expected = {name: make().count() for name, make in batch.items()}
    in_batch = measured({name: lambda make=make: consumed(make()) for name, make in batch.items()}, repeat)
    contenders = streams | ({_SPARK: spark_itself} if spark_itself is not None else {})
    over_all, settled = dict.fromkeys(contenders, 0.0), dict.fromkeys(contenders, 0.0)
    cpu = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeat):
        for name, make in contenders.items():
            run = streamed(make())
            wrong = f"{name}: {run.found:,} rows in streaming, {expected.get(name)} in batch"
            assert name not in expected or run.found == expected[name], wrong
            count, seconds = run.settled
            over_all[name] = max(over_all[name], events / run.wall)
            cpu[name] = min(cpu[name], run.cpu_each)
            settled[name] = max(settled[name], count * together / seconds) if count else settled[name]
    rates = {name: events / best.wall for name, best in in_batch.items()}
    ratios = {name: settled[name] / rate for name, rate in rates.items()}
    table = Table(title=title, title_justify="left")
    for heading in (
        "",
        "batch, events/s",
        "streaming, all",
        "after the first two",
        "times batch, all",
        "after",
        "CPU s each",
        "in batch",
        "rows",
    ):
        table.add_column(heading, justify="right" if heading else "left")
    for name, rate in rates.items():
        told = (f"{each:,.0f}" for each in (rate, over_all[name], settled[name]))
        ratio = f"{over_all[name] / rate:.2f}", f"{ratios[name]:.2f}"
        each = f"{cpu[name]:.2f}", f"{in_batch[name].cpu * together / events:.2f}"
        table.add_row(name, *told, *ratio, *each, f"{expected[name]:,}")
    CONSOLE.print(table)
    if spark_itself is not None:
        rate = settled[_SPARK]
        most = ", ".join(f"{rate / each:.2f} times {name} in batch" for name, each in rates.items())
        CONSOLE.print(f"  {_SPARK}: {together / rate:.2f} s a micro-batch, {rate:,.0f} events/s: {most}")
        for name, best in in_batch.items():
            least = cpu[_SPARK] + best.cpu * together / events
            limit = cores * together / least / rates[name]
            CONSOLE.print(
                f"  {name}: Spark itself and what batch does are {least:.2f} s of CPU a micro-batch; "
                f"with {cores} cores busy all the time, {limit:.2f} times batch"
            )
    for name, ratio in ratios.items():
        asked(f"{name}, streaming after the first two micro-batches, beside batch", ratio, 0.4)
