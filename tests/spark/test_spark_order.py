"""The option `order` on Spark: batch and streaming give the matches of one process, sharded by key and in one shard."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import thence
from support.spark_runs import taken
from support.spark_sase import write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RISE = """PATTERN SEQ(Trade a, Trade b) WHERE {} {{ [symbol] ^ b.price > a.price }} WITHIN 3 RETURN a.price AS low"""
BY_KEY, ALONE = RISE.format("skip_till_next_match(a, b)"), RISE.format("strict_contiguity(a, b)")
LAST = 20


def trades(seed: int) -> list[dict[str, object]]:
    """Twenty times of six trades each, and one trade at the end."""
    random = Random(seed)
    found = [
        {"type": "Trade", "time": time, "symbol": random.choice("ABC"), "price": random.randint(1, 9), "seq": seq}
        for time in range(LAST)
        for seq in random.choices(range(4), k=6)
    ]
    return [*found, {"type": "Trade", "time": LAST, "symbol": "A", "price": 0, "seq": 0}]


def matched(query: thence.Query, rows: list[dict[str, object]], **options: object) -> list[tuple[object, ...]]:
    events = [thence.Event(row["time"], {k: v for k, v in row.items() if k != "time"}) for row in rows]  # type: ignore[arg-type]
    found = query.match(events, **options)  # type: ignore[arg-type]
    return sorted((match.start, match.end, match.bindings["low"].python) for match in found)  # type: ignore[union-attr]


def test_batch_and_streaming_give_the_matches_of_one_process(spark: SparkSession, tmp_path: Path) -> None:
    """C-9: a micro-batch may end in the midst of a time. Under strict contiguity all events meet in one shard."""
    rows = trades(7)
    frame = spark.createDataFrame(pa.Table.from_pylist(Random(1).sample(rows, len(rows))).to_pandas())
    for text in (BY_KEY, ALONE):
        query = thence.parse(text)
        expected = matched(query, rows, order="seq")
        assert expected != matched(query, rows)
        made = query.dataframe(frame, order="seq", shards=3).select("start", "end", "low")
        assert sorted(map(tuple, made.collect())) == expected
    for number, first in enumerate(range(0, len(rows), 63)):
        write(tmp_path / "trades" / f"{number}.parquet", pa.Table.from_pylist(rows[first : first + 63]), number)
    stream = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "trades"))
    query = thence.parse(BY_KEY)
    streamed = query.dataframe(stream, order={"events": ("seq",)}, shards=2).select("start", "end", "low")
    found = sorted(map(tuple, taken(streamed, tmp_path / "checkpoint")))
    assert found == [each for each in matched(query, rows, order="seq") if each[1] < LAST]


def test_a_column_that_the_dataframe_lacks_is_refused_before_the_job(spark: SparkSession) -> None:
    schema = "type string, time long, symbol string, price int, seq int"
    frame = spark.createDataFrame([("Trade", 1, "A", 2, 3)], schema)
    with pytest.raises(thence.InputError) as refused:
        thence.parse(BY_KEY).dataframe(frame, order="sequ")
    assert str(refused.value) == (
        "The stream events has no column for <http://example.org/sequ>, which order names. "
        "Try: one of symbol, price or seq"
    )
