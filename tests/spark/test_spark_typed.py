"""Typed rows on Spark: only what is asked for is sent, and yet the answers are those of one process, rows that are no
events are reported, and every row has an id of its own."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import thence

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

QUERY = """
    PREFIX : <http://example.org/>
    SELECT ?h ?a ?b WITHIN 9 TICKS FROM STREAM S <http://example.org/s>
    WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?h %s :watts ?a } DEFINE GPM B ON S { ?h :watts ?b FILTER(?b > ?a) } }"""
ROWS = [
    # type, time, subject, watts, note
    ("Reading", 1, "h1", 5, "x"),
    ("Reading", 2, "h2", 7, None),
    (None, 3, "h1", 6, "no type"),
    ("", 3, "h1", 6, "no type either"),
    ("Alarm", 4, "h2", 1, "x"),
    ("Reading", 5, "h1", 9, "twice"),
    ("Reading", 5, "h1", 9, "twice"),
    ("Reading", 6, "h2", 8, "x"),
]
SCHEMA = "type string, time long, subject string, watts int, note string"


@pytest.mark.parametrize("asked", ["", "a :Reading ;"], ids=["no type is asked for", "a type is"])
@pytest.mark.parametrize("times", ["long", "string"])
def test_rows_without_ids(spark: SparkSession, asked: str, times: str) -> None:
    query = thence.parse(QUERY % asked)
    frame = spark.createDataFrame(ROWS, SCHEMA).withColumn("time", _as(times))
    rows = query.dataframe({"S": frame}, problems=True, shards=2).collect()
    expected = [(match.start, match.end, *(cell.value for cell in match.bindings.values())) for match in local(query)]
    found = [(row.start, row.end, row.h, row.a, row.b) for row in rows if row.problem is None]
    assert sorted(found) == sorted(expected)
    assert len({row.match_id for row in rows if row.problem is None}) == len(expected) > 2
    assert [row.problem for row in rows if row.problem is not None] == ["bad", "bad"]
    assert {len(set(row.events)) for row in rows if row.problem is None} == {2}
    again = query.dataframe({"S": frame.orderBy("watts")}, shards=1).collect()
    assert {row.match_id for row in again} == {row.match_id for row in rows} - {None}


def test_rows_that_differ_in_the_sign_of_zero_have_different_ids(spark: SparkSession) -> None:
    query = thence.parse("""PREFIX : <http://example.org/> SELECT ?a FROM STREAM S <http://example.org/s>
        { SEQ (A) DEFINE GPM A ON S { ?h :watts ?a } }""")
    frame = spark.createDataFrame(
        [("R", 1, 0.0), ("R", 1, -0.0), ("R", 1, None)], "type string, time long, watts double"
    )
    found = query.dataframe(frame, shards=1).collect()
    assert sorted(row.a for row in found) == ["-0.0", "0.0"]
    assert {"-" in row.events[0] for row in found} == {False} and len({row.events[0] for row in found}) == 2


def local(query: thence.Query) -> list[thence.Match]:
    names = ("type", "subject", "watts", "note")
    events = [thence.Event(time, dict(zip(names, (kind, *rest), strict=True))) for kind, time, *rest in ROWS if kind]
    return list(query.match({"S": events}))


def _as(kind: str) -> Column:
    from pyspark.sql import functions as F

    return F.col("time").cast(kind)


def test_a_dataframe_is_checked_before_there_is_a_job(spark: SparkSession) -> None:
    """BAD-2, BAD-3: its schema is known, whatever its columns are called."""
    frame = spark.createDataFrame([("TX", 1, 1, 1.0)], "kind string, ts long, CUSTOMER_ID long, TX_AMOUNT double")
    text = "PATTERN SEQ(TX a, TX b) WHERE {} WITHIN 10 RETURN a.TX_AMOUNT"
    for where, expected in (
        ("b.TX_AMOUNTT > 1", r"query:1:33: .* TX_AMOUNTT\. Did you mean TX_AMOUNT\?"),
        ("[CUSTOMER]", r"Did you mean CUSTOMER_ID\?"),
        ("a.CUSTOMER_ID = '1'", "is never true: CUSTOMER_ID is a number"),
    ):
        with pytest.raises(thence.QueryError, match=expected):
            thence.parse(text.format(where)).dataframe(frame, columns={"time": "ts", "type": "kind"})


def test_columns_types_and_times_are_read_as_in_one_process(spark: SparkSession, tmp_path: Path) -> None:
    """A table without a type, whose time is a text of its own format in a zone; the workers read it themselves, and
    Spark sends it."""
    query = thence.parse("""PATTERN SEQ(STOCK a, STOCK b) WHERE [symbol] AND b.price > 1 WITHIN 10 MINUTES
        RETURN a.id AS id, b.type AS kind, b.at AS at, b.time AS time""")
    path = str(tmp_path / "s.parquet")
    times = ["01/05/2018 00:01:21", "01/05/2018 00:02:21", "1.5.2018"]
    rows = pa.table({"at": times, "symbol": ["X"] * 3, "price": [1, 2, 3], "id": [7, None, 9]})
    pq.write_table(rows, path)
    options = {"columns": {"time": "at"}, "time_format": "%d/%m/%Y %H:%M:%S", "time_zone": "America/New_York"}
    (expected,) = query.match(path, **options)
    frame = spark.read.parquet(path)
    for given in (frame, frame.repartition(2)):
        *matches, bad = query.dataframe(given, problems=True, **options).orderBy(F.col("problem").isNotNull()).collect()
        (match,) = matches
        found = [str(match[name]) for name in ("id", "kind", "at")]
        assert found == [expected.bindings[name].value for name in ("id", "kind", "at")] == ["7", "STOCK", times[1]]
        assert match.time.replace(tzinfo=UTC) == match.end.replace(tzinfo=UTC) == expected.end
        assert bad.reason.startswith('"1.5.2018" does not fit time_format=')
