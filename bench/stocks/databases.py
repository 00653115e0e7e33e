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

_NUMBERED = """
    WITH names AS MATERIALIZED (
        SELECT subject, CAST(row_number() OVER () AS INTEGER) AS code
        FROM (SELECT DISTINCT subject FROM read_parquet($path))
    ), following AS (
        SELECT code, time, price, LEAD(price) OVER w AS p2, LEAD(price, 2) OVER w AS p3, LEAD(time, 2) OVER w AS t3
        FROM read_parquet($path) JOIN names USING (subject)
        WINDOW w AS (PARTITION BY code ORDER BY time)
    )
    SELECT subject AS company, time AS start, t3 AS "end", price AS p1, p2, p3
    FROM following JOIN names USING (code)
    WHERE p2 < p1 AND p3 > p2"""


def duckdb_strict(path: Path) -> pa.Table:
    """As one writes it first."""
    return _asked(_FOLLOWING, path)


def duckdb_numbered(path: Path) -> pa.Table:
    """As one writes it on finding that nearly all time goes into sorting by long texts with the same beginning."""
    return _asked(_NUMBERED, path)


def _asked(query: str, path: Path) -> pa.Table:
    with duckdb.connect(config={"threads": 1}) as connection:
        return connection.sql(query, params={"path": str(path)}).to_arrow_table()


def polars_strict(path: Path) -> polars.DataFrame:
    """Companies become numbers first, which is faster here, too."""
    price, time, company = polars.col("price"), polars.col("time"), polars.col("subject")
    following = {"p2": price.shift(-1), "p3": price.shift(-2), "end": time.shift(-2)}
    return (
        polars.scan_parquet(path)
        .select(company.cast(polars.Categorical), "time", "price")
        .with_columns(**{name: column.over("subject") for name, column in following.items()})
        .filter((polars.col("p2") < price) & (polars.col("p3") > polars.col("p2")))
        .select(company=company.cast(polars.String), start="time", end="end", p1="price", p2="p2", p3="p3")
        .collect()
    )
