"""The V pattern over directly following ticks in SQL and in data frames, one thread each."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"  # read when Polars is first imported

import duckdb
import polars
import pyarrow as pa

_FOLLOWING = """
    SELECT subject AS company, time AS start, t3 AS "end", price AS p1, p2, p3
    FROM (
        SELECT subject, time, price, LEAD(price) OVER w AS p2, LEAD(price, 2) OVER w AS p3, LEAD(time, 2) OVER w AS t3
        FROM read_parquet($path)
        WINDOW w AS (PARTITION BY subject ORDER BY time)
    )
    WHERE p2 < p1 AND p3 > p2"""


def duckdb_strict(path: Path) -> pa.Table:
    with duckdb.connect(config={"threads": 1}) as connection:
        return connection.sql(_FOLLOWING, params={"path": str(path)}).to_arrow_table()


def polars_strict(path: Path) -> polars.DataFrame:
    price, time = polars.col("price"), polars.col("time")
    following = {"p2": price.shift(-1), "p3": price.shift(-2), "end": time.shift(-2)}
    return (
        polars.scan_parquet(path)
        .select("subject", "time", "price", **{name: column.over("subject") for name, column in following.items()})
        .filter((polars.col("p2") < price) & (polars.col("p3") > polars.col("p2")))
        .select(company="subject", start="time", end="end", p1="price", p2="p2", p3="p3")
        .collect()
    )
