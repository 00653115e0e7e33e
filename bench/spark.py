"""Queries on Spark, in batch and in streaming, beside Spark's own SQL and the engine of one process.

Usage: python bench/spark.py [--events 1000000 5000000] [--rdf 1000000] [--cores 1 2] [--repeat 3]
                             [--together 100000] [--only check batch overhead streaming rdf memory]

Each number of cores is a process of its own, with a Spark of local[cores]. Contenders take turns, and each one's best
time counts; all must find as many matches, and the same rows in the first ticks. Rows are made and thrown away (Spark's
noop sink). Times are by the clock, since Java, its compiler and the workers run beside each other; "CPU" is that of all
their processes together, and disturbed less by other work on the machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import thence
from onspark import batch, cards, memory, streaming
from onspark.session import consumed, session
from onspark.timing import CONSOLE, measured, show
from stocks import ticks

SECTIONS = ("check", "batch", "overhead", "streaming", "rdf", "memory")
TICKS = {"strict": batch.STRICT, "skip-till-next": batch.NEXT}


def with_ticks(spark: SparkSession, folder: Path, events: int, options: argparse.Namespace, where: str) -> None:
    path = folder / f"{events}.parquet"
    ticks.write(path, events, together=ticks.TOGETHER)
    if "batch" in options.only:
        batch.times(spark, path, events, options.repeat, where)
    if "overhead" in options.only:
        batch.overhead(spark, path, events, options.repeat, where)
    for together in options.together if "streaming" in options.only else ():
        pieces, shards = folder / f"{events}-{together}", spark.sparkContext.defaultParallelism
        ticks.write_pieces(pieces, events, together, shards)
        frame = spark.read.parquet(str(path))
        stream = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", shards).parquet(str(pieces))
        streaming.compare(
            f"Ticks, {events:,}, micro-batches of {together:,}, {where}",
            {name: partial(batch.ours, text, frame) for name, text in TICKS.items()},
            {name: partial(batch.ours, text, stream, shards=shards) for name, text in TICKS.items()},
            events,
            together,
            options.repeat,
            partial(streaming.alone, stream, shards),
            shards,
        )


def with_rdf(spark: SparkSession, folder: Path, options: argparse.Namespace, where: str) -> None:
    """Query 2 of the examples over events in N-Quads."""
    path, pieces, known = folder / "cards.nq", folder / "cards", folder / "cards.nt"
    cards.write(path, options.rdf)
    together = options.together[0]
    cards.write_pieces(pieces, options.rdf, together)
    cards.write_background(known)
    query, background = thence.parse(cards.QUERY.read_text()), {cards.BACKGROUND: known}
    shards = spark.sparkContext.defaultParallelism

    def answers(frame: DataFrame) -> DataFrame:
        return query.dataframe({cards.STREAM: frame}, background=background, shards=shards)

    def local() -> int:
        return len(query.match({cards.STREAM: path}, background=background).table())

    frame = spark.read.format("thence").load(str(path))
    stream = spark.readStream.format("thence").option("time", "datetime").option("files_per_batch", 1).load(str(pieces))
    found, expected = answers(frame).count(), local()
    assert found == expected, f"Query 2: {found:,} rows on Spark, {expected:,} in one process"
    contenders = {
        "ours": lambda: consumed(answers(frame)),
        "one process": local,
        "only reading, on Spark": lambda: consumed(frame),
    }
    title = f"Query 2, {options.rdf:,} events, {path.stat().st_size / 1e6:,.0f} MB of N-Quads, {where}; {found:,} rows"
    show(title, measured(contenders, options.repeat), options.rdf, beside="one process")
    streaming.compare(
        f"Query 2, micro-batches of {together:,}, {where}",
        {"Query 2": lambda: answers(frame)},
        {"Query 2": lambda: answers(stream)},
        options.rdf,
        together,
        options.repeat,
    )


def run(cores: int, options: argparse.Namespace) -> None:
    """All of it on one Spark."""
    spark, where = session(cores), f"local[{cores}]"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "memory" in options.only:  # first, before others have made the workers large
            memory.in_batch(spark, folder, max(options.events), where)
            memory.in_streaming(spark, folder, where)
        if "check" in options.only:
            batch.check(spark, folder)
        for events in options.events:
            with_ticks(spark, folder, events, options, where)
        if "rdf" in options.only:
            with_rdf(spark, folder, options, where)
    spark.stop()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, nargs="+", default=[1_000_000, 5_000_000])
    arguments.add_argument("--rdf", type=int, default=1_000_000)
    arguments.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--together", type=int, nargs="+", default=[100_000])
    arguments.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    options = arguments.parse_args()
    if len(options.cores) == 1:
        run(options.cores[0], options)
        return
    for cores in options.cores:
        CONSOLE.print(f"local[{cores}]")
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--cores", str(cores)], check=True)


if __name__ == "__main__":
    main()
