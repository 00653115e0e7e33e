"""Parquet files that workers read themselves: what they make of them is what Spark would have sent of their rows, and
where that is not certain, Spark sends them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from support.parquet_scans import NAMESPACE, reading
from thence.errors import InputError
from thence.spark.driver import pipeline
from thence.spark.driver.column_selection import narrowed_decoder, selected_columns
from thence.spark.sources.parquet_scans import parquet_scan, task_splits
from thence.spark.sources.parquet_splits import RowGroups, coalesced_batches
from thence.spark.sources.row_decoder import HIGH, LOW, decoder
from thence.spark.sources.row_hashes import row_hashes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVENTS = pa.table({"type": ["A", "B", None, ""], "time": [1, 2, 3, 4], "watts": [5, None, 7, 8], "note": list("abcd")})
TEXT, EPOCH = pa.string(), dt.datetime(1970, 1, 1)


# The same rows


def drawn(count: int, times: pa.DataType, ids: pa.DataType | None) -> pa.Table:
    """Rows with values of all kinds, and such that are easily taken for others."""
    draw = Random(7)

    def column(kind: pa.DataType, make: Callable[[], Any], *, nulls: float = 0.2) -> pa.Array:
        return pa.array([None if draw.random() < nulls else make() for _ in range(count)], kind)

    def text() -> str:
        return "".join(draw.choices("aé🦔\x00 '\"\\", k=draw.choice((0, 1, 3, 4, 8, 31, 32, 70))))

    def moment() -> dt.datetime:
        return EPOCH + dt.timedelta(microseconds=draw.randrange(-(10**15), 4 * 10**15))

    def double() -> float:
        return draw.choice((0.0, -0.0, 1.5, float("nan"), float("inf"), -1e-300, draw.random()))

    columns = {
        "type": column(TEXT, lambda: draw.choice(("A", "B", ""))),
        "time": column(times, text if times == TEXT else moment if times != pa.int64() else lambda: draw.randrange(99)),
        "text": column(pa.large_string(), text),
        "long": column(pa.int64(), lambda: draw.randrange(-(2**63), 2**63)),
        "int": column(pa.int32(), lambda: draw.randrange(-(2**31), 2**31)),
        "short": column(pa.int16(), lambda: draw.randrange(-(2**15), 2**15)),
        "byte": column(pa.int8(), lambda: draw.randrange(-(2**7), 2**7)),
        "double": column(pa.float64(), double),
        "float": column(pa.float32(), double),
        "bool": column(pa.bool_(), lambda: draw.random() < 0.5),
        "money": column(pa.decimal128(9, 2), lambda: Decimal(draw.randrange(-(10**9) + 1, 10**9)).scaleb(-2)),
        "much": column(pa.decimal128(18, 0), lambda: Decimal(draw.randrange(-(10**18) + 1, 10**18))),
        "day": column(pa.date32(), lambda: moment().date()),
        "moment": column(pa.timestamp("us", "Europe/Paris"), moment),
        "local": column(pa.timestamp("us"), moment),
        "all": column(TEXT, text, nulls=0),
    }
    if ids is not None:
        columns["id"] = column(ids, text if ids == TEXT else lambda: draw.randrange(99), nulls=0.5)
    return pa.table(columns)


@pytest.mark.parametrize(
    ("times", "ids"),
    [(pa.int64(), None), (pa.timestamp("us", "UTC"), None), (TEXT, None), (pa.int64(), TEXT), (pa.int64(), pa.int32())],
    ids=["ticks", "timestamps", "times as text", "with ids", "with numbers for ids"],
)
def test_workers_read_what_spark_would_send(spark: SparkSession, tmp_path: Path, times: Any, ids: Any) -> None:
    table = drawn(500, times, ids)
    parquet.write_table(table.slice(0, 300), tmp_path / "a b%20.parquet", row_group_size=70, compression="gzip")
    parquet.write_table(table.slice(300), tmp_path / "b#?.parquet", use_dictionary=False, store_schema=False)
    whole = decoder("S", table.schema, namespace=NAMESPACE)
    for asked in (None, frozenset[Any]()):
        frame, narrow = spark.read.parquet(str(tmp_path)), narrowed_decoder(whole, asked)
        found = parquet_scan(frame, whole, narrow)
        assert found is not None
        numbers, reader = found
        assert numbers.count() == len(reader.parts) == 1
        read = [reader.sent(some) for part in reader.parts for some in coalesced_batches(part, reader.schema)]
        assert [each.num_rows for each in read] == [500]
        sent = selected_columns(frame, whole, narrow).toArrow()
        assert in_order(pa.Table.from_batches(read), sent.schema) == in_order(sent, sent.schema)
        assert (HIGH in sent.column_names) == (ids is None)
        assert (LOW in sent.column_names) == (times == TEXT)


@pytest.mark.numba
def test_rows_have_the_hashes_that_spark_gave_them() -> None:
    kinds = (pa.int32(), pa.bool_(), pa.int64(), pa.float64(), TEXT)
    rows = [(1, True, -2, 1.5, "0123456789abcdef0123456789abcdef0123456789ab"), (None,) * 5, (2, False, 3, -0.0, "")]
    columns = [pa.array(cells, kind) for cells, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    found = row_hashes(2, "S1", columns, len(rows)).view(np.int64)
    assert found.tolist() == [6151743401267920381, 1124729032570374642, -7235844575391263171]


def in_order(table: pa.Table, schema: pa.Schema) -> list[str]:
    """A table's rows, shown as they are: -0.0 is not 0.0, and NaN is itself."""
    rows = table.select(schema.names).cast(schema).to_pylist()
    return sorted(repr(sorted(row.items())) for row in rows)


def test_answers_ids_and_problems_are_those_of_rows_that_spark_sends(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = thence.parse("""
        PREFIX : <http://example.org/>
        SELECT ?h ?a ?b WITHIN 9 TICKS FROM STREAM S <http://example.org/s>
        WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?h :watts ?a } DEFINE GPM B ON S { ?h :watts ?b FILTER(?b > ?a) } }""")
    kinds, draw = ["Reading", "Alarm", None, ""], Random(7)
    rows = [
        {"type": draw.choice(kinds), "time": draw.choice([None, *range(9)]), "subject": draw.choice("xy")}
        for _ in range(60)
    ]
    table = pa.Table.from_pylist([row | {"watts": draw.randrange(9)} for row in rows] * 2)  # each row twice
    parquet.write_table(table, tmp_path / "events.parquet", row_group_size=50)
    frame = spark.read.parquet(str(tmp_path))
    assert reading(frame) is not None
    found = sorted(query.dataframe({"S": frame}, problems=True, shards=2).collect(), key=repr)
    monkeypatch.setattr(pipeline, "parquet_scan", lambda *_: None)
    sent = sorted(query.dataframe({"S": frame}, problems=True, shards=2).collect(), key=repr)
    assert found == sent
    assert {row.problem for row in found} == {None, "bad"} and len(found) > 100


# Whether there is any doubt


@pytest.mark.parametrize(
    ("kind", "certain"),
    {
        "a folder": True,
        "a file": True,
        "fewer columns, in another order": True,
        "what changes nothing": True,
        "rows that are chosen": False,
        "some rows": False,
        "a sample": False,
        "rows in order": False,
        "a column with another name": False,
        "a column that is computed": False,
        "a column that tells the file": False,
        "a column of Spark's about files": False,
        "two DataFrames": False,
        "two paths": False,
        "a file twice": False,
        "rows that are kept in memory": False,
        "a table": False,
        "no file": False,
        "a file of another format": False,
        "columns by their own types": False,
    }.items(),
)
def test_a_dataframe_is_read_by_workers_only_where_it_is_files_as_they_are(
    spark: SparkSession, tmp_path: Path, kind: str, certain: bool
) -> None:
    folder, other = tmp_path / "events", tmp_path / "more.parquet"
    folder.mkdir()
    path = folder / "events.parquet"
    for each in (path, other):
        parquet.write_table(EVENTS, each)
    frame = made(spark, kind, folder, path, other)
    assert (reading(frame) is not None) == certain
    spark.catalog.clearCache()
    spark.sql("DROP TABLE IF EXISTS scanned")


def made(spark: SparkSession, kind: str, folder: Path, path: Path, other: Path) -> DataFrame:
    frame = spark.read.parquet(str(folder))
    match kind:
        case "a folder":
            return frame
        case "a file":
            return spark.read.option("mergeSchema", "true").parquet(path.as_uri())
        case "fewer columns, in another order":
            return frame.select("watts", "time", "type")
        case "what changes nothing":
            return frame.filter("true").alias("events").hint("broadcast")
        case "rows that are chosen":
            return frame.filter("time > 0")
        case "some rows":
            return frame.limit(3)
        case "a sample":
            return frame.sample(0.9)
        case "rows in order":
            return frame.orderBy("time")
        case "a column with another name":
            return frame.withColumnRenamed("note", "watt")
        case "a column that is computed":
            return frame.selectExpr("type", "time", "watts + 1 AS watts")
        case "a column that tells the file":
            return frame.selectExpr("*", "input_file_name() AS file")
        case "a column of Spark's about files":
            return frame.select("*", "_metadata.file_name")
        case "two DataFrames":
            return frame.union(spark.read.parquet(str(other)))
        case "two paths":
            return spark.read.parquet(str(path), str(other))
        case "a file twice":
            return spark.read.parquet(str(path), str(path))
        case "rows that are kept in memory":
            return frame.cache()
        case "a table":
            spark.sql(f"CREATE TABLE scanned USING parquet LOCATION '{folder.as_uri()}'")
            return spark.table("scanned")
        case "no file":
            return spark.createDataFrame([("A", 1)], "type string, time long")
        case "a file of another format":
            frame.write.json(str(folder.parent / "json"))
            return spark.read.json(str(folder.parent / "json"))
        case _:
            return spark.read.schema("type string, time long, watts decimal(20, 0)").parquet(str(folder))


def _with(**columns: Any) -> dict[str, Any]:
    return {"table": EVENTS.append_column(next(iter(columns)), next(iter(columns.values())))}


LONG_AGO = [dt.datetime(1899, 12, 31)] * 4
FILES: dict[str, dict[str, Any]] = {
    "moments of nanoseconds, as Spark 2 had them": _with(moment=pa.array(LONG_AGO))
    | {"use_deprecated_int96_timestamps": True},
    "moments of milliseconds": _with(moment=pa.array([dt.datetime(2026, 1, 1)] * 4, pa.timestamp("ms"))),
    "moments of long ago": _with(moment=pa.array(LONG_AGO, pa.timestamp("us"))),
    "moments of which nobody says from when": _with(moment=pa.array([None] * 4, pa.timestamp("us"))),
    "days of long ago": _with(day=pa.array([dt.date(1899, 12, 31)] * 4)),
    "numbers without a sign": _with(count=pa.array([1] * 4, pa.uint32())),
    "large decimals": _with(much=pa.array([Decimal(1)] * 4, pa.decimal128(19, 0))),
    "lengths of time": _with(long=pa.array([1] * 4, pa.duration("us"))),
    "bytes in an unusual packing": {"table": EVENTS, "compression": "brotli"},
}


@pytest.mark.parametrize("kind", FILES)
def test_files_that_arrow_might_read_otherwise_are_read_by_spark(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    parquet.write_table(where=tmp_path / "events.parquet", **FILES[kind])
    frame = spark.read.parquet(str(tmp_path))
    assert reading(frame) is None
    assert reading(frame.select("type", "time")) is not None or kind == "bytes in an unusual packing"


def test_files_whose_columns_differ_are_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    parquet.write_table(EVENTS, tmp_path / "a.parquet")
    for changed in (
        EVENTS.drop_columns("note"),
        EVENTS.rename_columns(["type", "time", "watts", "Note"]),
        EVENTS.append_column("NOTE", EVENTS["note"]),
        EVENTS.set_column(2, "watts", EVENTS["watts"].cast(pa.int32())),
    ):
        parquet.write_table(changed, tmp_path / "b.parquet")
        assert (
            reading(spark.read.schema("type string, time long, watts long, note string").parquet(str(tmp_path))) is None
        )
    parquet.write_table(EVENTS.append_column("more", EVENTS["note"]), tmp_path / "b.parquet")
    assert (
        reading(spark.read.schema("type string, time long, watts long, note string").parquet(str(tmp_path))) is not None
    )


def test_columns_that_folders_are_named_by_are_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "Note=z").mkdir()
    parquet.write_table(EVENTS, tmp_path / "Note=z" / "a.parquet")  # which has the column, too
    frame = spark.read.parquet(str(tmp_path))
    assert {row.note for row in frame.select("note").collect()} == {"z"}
    assert reading(frame) is None
    assert reading(frame.drop("note")) is not None


def test_a_file_that_has_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    parquet.write_table(EVENTS, path)
    status = path.stat()
    part = RowGroups(str(path), status.st_size, status.st_mtime_ns, (0,))
    assert sum(record.num_rows for record in coalesced_batches([part], EVENTS.schema)) == len(EVENTS)
    parquet.write_table(pa.concat_tables([EVENTS, EVENTS]), path)
    with pytest.raises(InputError, match=r"events\.parquet has changed since the query was planned"):
        list(coalesced_batches([part], EVENTS.schema))


def test_parts_have_all_row_groups_and_are_as_many_as_cores() -> None:
    size = 10 << 20
    stretches = [(size, RowGroups(f"{number // 5}.parquet", 1, 1, (number % 5,))) for number in range(10)]
    cut = list(task_splits(stretches, 2))
    assert [[(each.path, each.groups) for each in part] for part in cut] == [
        [("0.parquet", (0, 1, 2, 3, 4))],
        [("1.parquet", (0, 1, 2, 3, 4))],
    ]
    assert len(list(task_splits(stretches, 4))) == 4
    assert len(list(task_splits([(1, each) for _, each in stretches], 4))) == 1  # which are small
    assert len(list(task_splits([(300 << 20, each) for _, each in stretches], 1))) == 10  # which are large
