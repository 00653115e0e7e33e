"""SASE+ on Spark: typed columns in and out, and the rows of the definitions in batch and in streaming."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import thence
from oracle.sase import rows
from oracle.sase_cases import Case, cases
from oracle.sase_text import text
from support.sase_shards import comparable, comparable_rows
from support.spark_runs import taken
from support.spark_sase import table_of, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = settings(
    max_examples=min(100, int(os.environ["THENCE_CASES"])) if "THENCE_CASES" in os.environ else 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
RISE = """
PATTERN SEQ(Stock+ a[], Stock b)
WHERE skip_till_next_match(a[]!, b) { [symbol] ^ a[i].price > a[i-1].price ^ b.price < a[a.LEN].price }
WITHIN 10
RETURN a[1].symbol AS symbol, a[].price AS rise, b.(price, volume) AS fall, avg(a[].price) AS mean, a.LEN AS n
"""
TICKS = [(1, "A", 10.0, 5), (2, "A", 11.0, 6), (3, "B", 5.0, 1), (4, "A", 9.0, 7), (5, "B", 4.0, 2)]


def test_columns_have_the_types_of_the_dataframe(spark: SparkSession) -> None:
    frame = spark.createDataFrame(TICKS, "time long, symbol string, price double, volume int")
    made = thence.parse(RISE).dataframe(frame.selectExpr("'Stock' AS type", "*")).drop("match_id", "events")
    assert made.schema.simpleString() == (
        "struct<start:bigint,end:bigint,symbol:string,rise:array<double>,fall:struct<price:double,volume:int>,"
        "mean:double,n:bigint>"
    )
    assert sorted(map(tuple, made.collect())) == [
        (1, 4, "A", [10.0, 11.0], (9.0, 7), 10.5, 2),
        (2, 4, "A", [11.0], (9.0, 7), 11.0, 1),
        (3, 5, "B", [5.0], (4.0, 2), 5.0, 1),
    ]


def test_values_of_every_kind_keep_their_types(spark: SparkSession) -> None:
    numbers, unit = range(1, 5), Decimal("1.10")
    rows = [("A", n, n % 2 == 1, n * unit, datetime(2024, 1, 1, n), date(2024, 1, n), n) for n in numbers]
    schema = "type string, time long, odd boolean, cost decimal(10,2), at timestamp, day date, short short"
    query = thence.parse("""
        PATTERN SEQ(A a, A+ b[])
        WHERE skip_till_next_match(a, b[]) { a.odd = true ^ b[i].cost > a.cost ^ b[i].at > a.at }
            ^ a.at > TIMESTAMP '2024-01-01T01:30:00Z'
        WITHIN 2
        RETURN a.odd AS odd, a.at AS at, a.day AS day, a.short AS short, b[].cost AS costs, sum(b[].cost) AS total,
            max(b[].at) AS latest, b[1].(odd, cost) AS first, b[1].at - a.at AS gap, b[1].day + 1 DAY AS next""")
    made = query.dataframe(spark.createDataFrame(rows, schema)).drop("match_id", "events")
    assert made.schema.simpleString() == (
        "struct<start:bigint,end:bigint,odd:boolean,at:timestamp,day:date,short:smallint,costs:array<decimal(10,2)>,"
        "total:decimal(38,2),latest:timestamp,first:struct<odd:boolean,cost:decimal(10,2)>,"
        "gap:interval day to second,next:date>"
    )
    at, cost, apart = datetime(2024, 1, 1, 3), 4 * unit, (timedelta(hours=1), date(2024, 1, 5))
    assert list(map(tuple, made.collect())) == [
        (3, 4, True, at, date(2024, 1, 3), 3, [cost], cost, datetime(2024, 1, 1, 4), (False, cost), *apart)
    ]
    impossible = thence.parse("PATTERN SEQ(A a, A b) WHERE b.at - a.at > 20 RETURN a.at")
    with pytest.raises(thence.InputError, match=r"^b\.at - a\.at is a duration and 20 is a number"):  # BAD-3
        impossible.dataframe(spark.createDataFrame(rows, schema))


def test_constants_have_the_types_of_their_values(spark: SparkSession) -> None:
    query = thence.parse("""
        PATTERN A a
        RETURN TIMESTAMP '2024-05-06T09:00:00+02:00' AS t, DATE '2024-05-06' AS d, 1 AS i, 50% AS half, true AS b,
            'x' AS s""")
    made = query.dataframe(spark.sql("SELECT 'A' AS type, 1 AS time")).drop("match_id", "events", "start", "end")
    assert made.schema.simpleString() == "struct<t:timestamp,d:date,i:bigint,half:double,b:boolean,s:string>"
    assert list(map(tuple, made.collect())) == [(datetime(2024, 5, 6, 7), date(2024, 5, 6), 1, 0.5, True, "x")]
    (match,) = query.match([thence.Event(1, {"type": "A"})])
    assert match.bindings["t"].python == datetime(2024, 5, 6, 7, tzinfo=UTC)  # type: ignore[union-attr]


def test_totals_are_exact_decimals_on_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame(TICKS, "time long, symbol string, price double, volume int")
    query = thence.parse(
        "PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_any_match(a[], b) { [symbol] } "
        "AGGREGATE count(*) AS n, sum(a[].volume) AS s, avg(a[].price) AS mean BY symbol"
    )
    made = query.dataframe(frame.selectExpr("'Stock' AS type", "*")).drop("match_id", "events", "start", "end")
    assert made.schema.simpleString() == ("struct<symbol:string,n:decimal(38,0),s:decimal(38,0),mean:double>")
    # A: {1} 2, {1} 4, {2} 4, {1, 2} 4; B: {3} 5
    assert sorted(map(tuple, made.collect())) == [("A", 4, 27, 10.4), ("B", 1, 1, 5.0)]


def test_totals_are_by_decimals_as_they_were(spark: SparkSession) -> None:
    """As equality sees them, these are doubles."""
    rows = [("A", 1, Decimal("1.10")), ("A", 2, Decimal("2.00")), ("A", 3, Decimal("1.10"))]
    frame = spark.createDataFrame(rows, "type string, time long, cost decimal(10,2)")
    made = thence.parse("PATTERN A a WHERE [cost] AGGREGATE count(*) AS n BY cost").dataframe(frame)
    assert dict(made.dtypes)["cost"] == "decimal(10,2)"
    assert sorted((row["cost"], row["n"]) for row in made.collect()) == [(Decimal("1.10"), 2), (Decimal("2.00"), 1)]


def test_what_is_asked_of_an_event_alone_is_a_filter_that_parquet_knows(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(TICKS, "time long, symbol string, price double, volume int")
    frame.selectExpr("'Stock' AS type", "*").write.parquet(str(tmp_path / "ticks"))
    query = thence.parse(
        "PATTERN SEQ(Stock a, Stock b) WHERE a.volume > 4 ^ b.price < 10 ^ b.symbol = 'A' WITHIN 9 RETURN a.volume AS v"
    )
    made = query.dataframe(spark.read.parquet(str(tmp_path / "ticks")))
    (plan,) = spark.sql("EXPLAIN EXTENDED SELECT * FROM {frame}", frame=made).first()  # type: ignore[misc]
    assert "GreaterThan(volume,4)" in plan and "LessThan(price,10.0)" in plan
    assert sorted(row["v"] for row in made.collect()) == [5, 6]


COMPOSED = """
PATTERN SEQ(Stock+ a[], Stock b)
WHERE skip_till_next_match(a[]!, b) { [symbol] ^ b.price < a[a.LEN].price }
RETURN (b.symbol AS symbol, a.LEN AS n, b.(price, volume) AS fall) AS Fall IN STREAM falls;

FROM falls PATTERN Fall f WHERE f.n > 1 RETURN f.symbol AS symbol, f.n AS n, f.`fall.volume` AS volume
UNION FROM falls PATTERN Fall g WHERE g.n = 1 RETURN g.symbol AS symbol, g.`fall.price` AS price
"""


def test_queries_that_feed_each_other_give_on_spark_what_they_give_in_one_process(spark: SparkSession) -> None:
    frame = spark.createDataFrame(TICKS, "time long, symbol string, price double, volume int")
    query = thence.parse(COMPOSED)
    made = query.dataframe({"events": frame.selectExpr("'Stock' AS type", "*")})
    assert made.columns == ["start", "end", "symbol", "n", "volume", "price", "match_id", "events"]
    events = [
        thence.Event(time, {"type": "Stock", "symbol": symbol, "price": price, "volume": volume})
        for time, symbol, price, volume in TICKS
    ]
    names = ("start", "end", "symbol", "n", "volume", "price")
    table = query.match(events).table()
    rows = Counter(zip(*(map(str, table[name].to_pylist()) for name in names), strict=True))
    assert rows.total() == 3
    assert Counter(tuple(str(row[name]) for name in names) for row in made.collect()) == rows


ENDED = """
FROM S PATTERN SEQ(A+ a[]) WHERE partition_contiguity(a[]) { [k] } RETURN (a[1].k AS k, a.LEN AS n) AS R IN STREAM made;

FROM made PATTERN R r RETURN r.k AS k, r.n AS n
"""


def test_the_end_of_finite_input_completes_matches_at_the_latest_event_of_all_shards(spark: SparkSession) -> None:
    """SA-21, SA-22: what is made has the time at which its row was certain."""
    events = [*(("A", k, k) for k in range(1, 9)), ("A", 9, 1), ("B", 20, 2), ("B", 30, None)]
    frame = spark.createDataFrame(events, "type string, time long, k int")
    query = thence.parse(ENDED)
    expected = {(30, 1, 2), (30, 1, 1), (20, 2, 1), *((30, k, 1) for k in range(3, 9))}
    for shards in (1, 3):
        found = query.dataframe({"S": frame}, shards=shards).collect()
        assert {(row["start"], row["k"], row["n"]) for row in found} == expected
    totals = ENDED.partition("RETURN")[0].removeprefix("\nFROM S ") + "AGGREGATE count(*) AS n BY k"
    found = thence.parse(totals).dataframe(frame, shards=3).collect()
    assert {(row["k"], int(row["n"])) for row in found} == {(1, 2), *((k, 1) for k in range(2, 9))}


def test_the_latest_event_may_be_of_a_stream_that_another_query_reads(spark: SparkSession) -> None:
    query = thence.parse(ENDED + "UNION FROM T PATTERN B b RETURN b.k AS k")
    schema = "type string, time long, k int"
    frames = {"S": spark.createDataFrame([("A", 1, 1)], schema), "T": spark.createDataFrame([("B", 7, 5)], schema)}
    found = query.dataframe(frames, shards=2).collect()
    assert {(row["start"], row["k"], row["n"]) for row in found} == {(7, 1, 1), (7, 5, None)}


@FEW
@given(cases(), st.data())
def test_batch_gives_the_rows_of_the_definitions(spark: SparkSession, case: Case, data: st.DataObject) -> None:
    query = thence.parse(text(case.query), language="sase+")
    frame = spark.createDataFrame(table_of(data.draw(st.permutations(case.events))))
    expected = uncertain(comparable(row) for row in rows(case.query, case.events))

    def found(shards: int) -> object:
        made = query.dataframe(frame, shards=shards, terms="struct", problems=True).collect()
        listed = (row.asDict(recursive=True) | {"certain": None} for row in made)
        return uncertain(comparable_rows(query.dataflow().stages[0].program, listed))

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(found, (1, 2))) == [expected, expected]


@FEW
@given(cases(), st.integers(0, 7))
def test_streaming_gives_the_rows_that_are_certain(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, case: Case, middle: int
) -> None:
    query = thence.parse(text(case.query), language="sase+")
    order = sorted(case.events, key=lambda event: event.time)
    folder = tmp_path_factory.mktemp("sase")
    found: list[object] = []
    for number, piece in enumerate((order[:middle], order[middle:])):  # stopped between the two
        write(folder / "events" / f"{number}.parquet", table_of(piece), number)
        streams = spark.readStream.schema("time long, end long, id string, value string").parquet(
            str(folder / "events")
        )
        made = query.dataframe(streams, shards=2, terms="struct", problems=True)
        found += [row.asDict(recursive=True) | {"certain": None} for row in taken(made, folder / "checkpoint")]
    now = max(event.time for event in case.events)
    expected = rows(case.query, case.events)
    must = uncertain(comparable(row) for row in expected if row.certain < now)
    may = uncertain(comparable(row) for row in expected if row.certain <= now)
    assert must <= uncertain(comparable_rows(query.dataflow().stages[0].program, found)) <= may  # type: ignore[arg-type]


def uncertain(found: object) -> Counter[object]:
    """Rows without the time at which they were certain, which Spark does not tell."""
    return Counter((*row[:2], *row[3:]) for row in found)  # type: ignore[attr-defined]


def test_columns_of_a_union_go_by_name(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("A", 1, 7, "p"), ("B", 2, 8, "q")], "type string, time long, x int, y string")
    query = thence.parse("PATTERN A a RETURN a.x AS x, a.y AS y UNION PATTERN ANY b RETURN b.x AS x, b.y AS X")
    rows = query.dataframe(frame)
    assert rows.columns == ["start", "end", "x", "y", "X_", "match_id", "events"]
    found = {(row["x"], row["y"], row["X_"]) for row in rows.collect()}
    assert found == {(7, "p", None), (7, None, "p"), (8, None, "q")}
    twice = thence.parse("PATTERN A a RETURN a.x AS x UNION PATTERN A b RETURN b.x AS x").dataframe(frame).collect()
    assert len({row["match_id"] for row in twice}) == 2  # UNION keeps both


@pytest.mark.parametrize("terms", ["text", "struct"])
def test_a_union_of_a_number_and_a_text_is_refused_as_it_is_in_one_process(
    spark: SparkSession, tmp_path: Path, terms: str
) -> None:
    frame = spark.createDataFrame([("A", 1, 7, "p"), ("B", 2, 8, "q")], "type string, time long, x int, y string")
    query = thence.parse("PATTERN A a RETURN a.x AS x UNION PATTERN A b RETURN b.y AS x")
    path = tmp_path / "events.parquet"
    parquet.write_table(pa.table({"type": ["A", "B"], "time": [1, 2], "x": [7, 8], "y": ["p", "q"]}), path)
    with pytest.raises(thence.InputError) as in_one_process:
        query.match(path)
    with pytest.raises(thence.InputError) as on_spark:
        query.dataframe(frame, terms=terms)
    assert str(on_spark.value) == str(in_one_process.value)
    assert str(on_spark.value).startswith('The column "x" of the UNION would be integer and string. Try: ')


def test_columns_of_a_union_have_the_type_that_holds_all_of_its_values(spark: SparkSession) -> None:
    schema = "type string, time long, n int, m long, price decimal(5,2), f float, d double"
    frame = spark.createDataFrame(
        [("A", 1, 7, 8, Decimal("1.25"), 0.5, 0.25), ("B", 2, 9, 10, None, 1.5, None)], schema
    )
    query = thence.parse("""
        PATTERN A a RETURN a.n AS x, a.price AS y, a.f AS z, a.(n, f) AS p
        UNION PATTERN B b RETURN b.m AS x, b.n AS y, b.d AS z, b.(n, f) AS p""")
    made = query.dataframe(frame).drop("match_id", "events", "start", "end")
    assert made.schema.simpleString() == "struct<x:bigint,y:decimal(12,2),z:double,p:struct<n:int,f:float>>"
    assert sorted(map(tuple, made.collect()), key=str) == [
        (10, Decimal("9.00"), None, (9, 1.5)),
        (7, Decimal("1.25"), 0.5, (7, 0.5)),
    ]
    totals = thence.parse("PATTERN A a AGGREGATE count(*) AS n UNION PATTERN B b AGGREGATE max(b.m) AS n")
    assert sorted(row["n"] for row in totals.dataframe(frame).collect()) == [1, 10]


def test_a_union_of_a_table_and_of_rdf_is_of_texts(spark: SparkSession) -> None:
    """What the values of RDF are is not known before they come."""
    table = spark.createDataFrame([("A", 1, 7, 0.5)], "type string, time long, x int, y double")
    graph = "@prefix : <http://example.org/> . [] a :B ; :x 'u' ."
    rdf = spark.createDataFrame([(2, "e2", graph)], "time long, id string, value string")
    query = thence.parse(
        "FROM S PATTERN A a RETURN a.x AS x, a.y AS y UNION FROM T PATTERN B b RETURN b.x AS x, b.y AS z"
    )
    made = query.dataframe({"S": table, "T": rdf}).drop("match_id", "events", "start", "end")
    assert made.schema.simpleString() == "struct<x:string,y:double,z:string>"
    assert sorted(map(tuple, made.collect()), key=str) == [("7", 0.5, None), ("u", None, None)]


def test_partitions_are_by_what_is_computed_of_typed_columns(spark: SparkSession) -> None:
    rows = [("A", n, k, k + 0.5, Decimal(k) / 4) for n, k in enumerate([1, 2, 3, 4, 5, 7], start=1)]
    frame = spark.createDataFrame(rows, "type string, time long, k int, x double, cost decimal(10,2)")
    query = thence.parse("""
        PATTERN SEQ(A a, A b) WHERE partition_contiguity(a, b) { PARTITION BY k % 2 }
        RETURN a.k AS a, b.k AS b, b.x % a.k AS r, b.cost % 0.5 AS c, b.k % 2 AS p, b.cost % b.k AS q""")
    made = query.dataframe(frame, shards=3).drop("match_id", "events", "start", "end")
    assert made.schema.simpleString() == "struct<a:int,b:int,r:double,c:double,p:bigint,q:decimal(38,2)>"
    assert sorted((row["a"], row["b"], row["r"], row["p"]) for row in made.collect()) == [
        (1, 3, 0.5, 1),
        (2, 4, 0.5, 0),
        (3, 5, 2.5, 1),
        (5, 7, 2.5, 1),
    ]
    totals = thence.parse("""
        PATTERN SEQ(A a, A b) WHERE skip_till_any_match(a, b) { PARTITION BY cost % 1 }
        AGGREGATE count(*) AS n BY cost % 1""")
    made = totals.dataframe(frame, shards=3).drop("match_id", "events", "start", "end")
    assert made.schema.simpleString() == "struct<cost%1:decimal(38,2),n:decimal(38,0)>"
    found = sorted(map(tuple, made.collect()))
    assert found == [(Decimal("0.25"), 1), (Decimal("0.75"), 1)]


def test_a_column_that_nobody_asks_for_may_be_called_anything(spark: SparkSession) -> None:
    frame = spark.createDataFrame(TICKS, "time long, symbol string, price double, `a``b.c` int")
    query = thence.parse("PATTERN SEQ(Stock a) WHERE skip_till_any_match(a) { a.price > 9.5 } WITHIN 5 RETURN a.price")
    made = query.dataframe(frame.selectExpr("'Stock' AS type", "*"), lateness=None)
    assert sorted(row[2] for row in made.collect()) == [10.0, 11.0]
