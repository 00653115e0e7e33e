"""Ticks from one Parquet file, in batch: ours, Spark's own LEAD, the engine of one process; and what Spark itself
costs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

import thence
from onspark.session import consumed
from onspark.timing import CONSOLE, asked, measured, show
from stocks import queries, ticks
from thence.engines.automaton.plan.spaseq import plan
from thence.extraction.attributes import predicates_read
from thence.rdf.times import Domain
from thence.runtime.watermark import TimeDomain
from thence.spark.driver.column_selection import narrowed_decoder, selected_columns
from thence.spark.sources.parquet_scans import parquet_scan
from thence.spark.sources.row_decoder import decoder
from thence.spark.worker.stages import PACKED, Packing

STRICT = queries.strict(queries.V, 1_000_000)
NEXT = queries.skip_till_next(queries.V, 10_000)
FEW = 20_000
"""Ticks of which all rows are compared."""
COLUMNS = ("company", "start", "end", "p1", "p2", "p3")

_LEAD = """
    SELECT subject AS company, time AS start, t3 AS end, price AS p1, p2, p3
    FROM (
        SELECT subject, time, price, LEAD(price) OVER w AS p2, LEAD(price, 2) OVER w AS p3, LEAD(time, 2) OVER w AS t3
        FROM {ticks}
        WINDOW w AS (PARTITION BY subject ORDER BY time)
    )
    WHERE p2 < price AND p3 > p2"""


def lead(frame: DataFrame) -> DataFrame:
    return frame.sparkSession.sql(_LEAD, ticks=frame)


def ours(text: str, frame: DataFrame, **options: Any) -> DataFrame:
    return thence.parse(text).dataframe({"S": frame}, **options)


def local(text: str, path: Path) -> int:
    return len(thence.parse(text).match({"S": path}).table())


def check(spark: SparkSession, folder: Path) -> None:
    """The first ticks: all give the same rows."""
    path = folder / "few.parquet"
    ticks.write(path, FEW)
    frame = spark.read.parquet(str(path))
    for name, text in (("strict", STRICT), ("skip-till-next", NEXT)):
        table = thence.parse(text).match({"S": path}).table()
        expected = sorted(zip(*(table[column].to_pylist() for column in COLUMNS), strict=True))
        assert _rows(ours(text, frame)) == expected, name
        assert text != STRICT or _rows(lead(frame)) == expected, "LEAD"
        CONSOLE.print(f"{name}: the same {len(expected):,} rows of {FEW:,} ticks from all")


def _rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Prices are texts in our columns, and numbers in the others'."""
    found = frame.select(*COLUMNS).collect()
    return sorted((company, start, end, *map(float, prices)) for company, start, end, *prices in found)


def times(spark: SparkSession, path: Path, events: int, repeat: int, where: str) -> None:
    frame = spark.read.parquet(str(path))
    strict = {
        "ours, strict": lambda: consumed(ours(STRICT, frame)),
        "Spark SQL, LEAD": lambda: consumed(lead(frame)),
        "one process, strict": partial(local, STRICT, path),
        "ours, skip-till-next": lambda: consumed(ours(NEXT, frame)),
        "one process, skip-till-next": partial(local, NEXT, path),
    }
    counts = {ours(STRICT, frame).count(), lead(frame).count(), local(STRICT, path)}
    assert len(counts) == 1, f"strict: they differ: {counts}"
    counts_next = {ours(NEXT, frame).count(), local(NEXT, path)}
    assert len(counts_next) == 1, f"skip-till-next: they differ: {counts_next}"
    found = measured(strict, repeat)
    title = f"V pattern in batch, {events:,} ticks, {where}; {counts.pop():,} and {counts_next.pop():,} matches"
    show(title, found, events, beside="Spark SQL, LEAD")
    first, second = found["ours, strict"].wall, found["ours, skip-till-next"].wall
    asked("strict, throughput beside LEAD", found["Spark SQL, LEAD"].wall / first, 0.7)
    asked("skip-till-next beside strict", first / second, 0.5)


def overhead(spark: SparkSession, path: Path, events: int, repeat: int, where: str) -> None:
    """Where the time goes: the same way, with workers that do less."""
    frame = spark.read.parquet(str(path))
    program = plan(thence.parse(STRICT).algebra)
    reads = decoder("S", to_arrow_schema(frame.schema, timezone="UTC"), namespace="http://example.org/")
    narrow = narrowed_decoder(reads, predicates_read(thence.parse(STRICT).dataflow()).get("S"))
    sent = selected_columns(frame, reads, narrow)
    shards = spark.sparkContext.defaultParallelism
    domain = TimeDomain(Domain.TICKS, "ticks")
    packing = Packing(program, "S", narrow, domain, shards, False, True)
    scan = parquet_scan(frame, reads, narrow)
    assert scan is not None, "workers would not read the file themselves"
    numbers, reader = scan
    reading = Packing(program, "S", reader, domain, shards, False, True)

    # inside, since workers know no modules of the benchmark's
    def packed(records: Any) -> Any:
        return packing(records)

    def read_and_packed(records: Any) -> Any:
        return reading(records)

    def passed_on(records: Any) -> Any:
        yield from records

    chunks = numbers.mapInArrow(read_and_packed, from_arrow_schema(PACKED))
    found = measured(
        {
            "Spark alone: scan": lambda: consumed(sent),
            "Spark alone: scan, to Python and back": lambda: consumed(sent.mapInArrow(passed_on, sent.schema)),
            "sent by Spark, packed": lambda: consumed(sent.mapInArrow(packed, from_arrow_schema(PACKED))),
            "how a DataFrame is read: asked": lambda: parquet_scan(frame, reads, narrow),
            "read by workers, packed": lambda: consumed(chunks),
            "read by workers, packed and shuffled": lambda: consumed(
                chunks.repartitionById(shards, "shard").sortWithinPartitions("shard", "first")
            ),
            "ours, strict": lambda: consumed(ours(STRICT, frame)),
        },
        repeat,
    )
    show(f"Where the time goes, {events:,} ticks, {where}", found, events, beside="ours, strict")
