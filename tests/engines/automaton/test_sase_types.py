"""SASE+: the types of columns, and UNIONs whose columns do not agree in theirs (SA-41)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from thence.algebra.sase_column_types import column_types
from thence.columns.value_types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    Atom,
    Fields,
    Several,
    Type,
    Types,
    ValueKind,
    agreed,
)
from thence.lang.sase.parser import parse

TRY = "Try: another name in one of its queries, or values of one type"
TYPES: Types = {
    "n": INTEGER,
    "small": Atom(ValueKind.INTEGER, bits=16),
    "price": Atom(ValueKind.DECIMAL, digits=10, scale=2),
    "ratio": Atom(ValueKind.DECIMAL, digits=6, scale=4),
    "x": DOUBLE,
    "s": STRING,
    "ok": BOOLEAN,
    "at": TIMESTAMP,
    "day": DATE,
}


def decimal(scale: int, digits: int = 38) -> Atom:
    return Atom(ValueKind.DECIMAL, digits=digits, scale=scale)


COLUMNS: dict[str, tuple[Type, Type]] = {
    # what it is where the types of attributes are known, and where they are not
    "b.n": (INTEGER, UNKNOWN),
    "b.<http://example.org/n>": (INTEGER, UNKNOWN),
    "b.other": (UNKNOWN, UNKNOWN),
    "a[].small": (Several(TYPES["small"]), Several(UNKNOWN)),
    "b.(n, s)": (Fields((("n", INTEGER), ("s", STRING))), Fields((("n", UNKNOWN), ("s", UNKNOWN)))),
    "a[].(s)": (Several(Fields((("s", STRING),))), Several(Fields((("s", UNKNOWN),)))),
    "a.LEN": (INTEGER, INTEGER),
    "count(a[].s)": (INTEGER, INTEGER),
    "avg(a[].n)": (DOUBLE, DOUBLE),
    "sum(a[].small)": (INTEGER, UNKNOWN),
    "sum(a[].price)": (decimal(2), UNKNOWN),
    "max(a[].price)": (TYPES["price"], UNKNOWN),
    "1": (INTEGER, INTEGER),
    "80%": (DOUBLE, DOUBLE),
    "'u'": (STRING, STRING),
    "true": (BOOLEAN, BOOLEAN),
    "DATE '2024-05-06'": (DATE, DATE),
    "TIMESTAMP '2024-05-06T07:00:00Z'": (TIMESTAMP, TIMESTAMP),
    "b.n > 1 OR b.s = 'u'": (BOOLEAN, BOOLEAN),
    "b.n IS NULL": (BOOLEAN, BOOLEAN),
    "b.s LIKE 'u%'": (BOOLEAN, BOOLEAN),
    "lower(b.s)": (STRING, STRING),
    "length(b.s)": (INTEGER, INTEGER),
    "abs(b.price)": (TYPES["price"], UNKNOWN),
    "-b.x": (DOUBLE, UNKNOWN),
    "b.n / 2": (DOUBLE, UNKNOWN),  # of a duration, a duration
    "b.n + 1": (INTEGER, UNKNOWN),
    "b.n % 2": (INTEGER, UNKNOWN),
    "b.price % 2": (decimal(2), UNKNOWN),
    "b.price % b.ratio": (decimal(4), UNKNOWN),
    "b.x % b.n": (DOUBLE, UNKNOWN),
    "b.price * b.ratio": (decimal(6), UNKNOWN),
    "b.price - b.n": (decimal(2), UNKNOWN),
    "b.s + 1": (UNKNOWN, UNKNOWN),  # refused, where the type is known
}


@pytest.mark.parametrize("written", COLUMNS)
def test_the_type_of_a_column_follows_from_the_query_and_its_attributes(written: str) -> None:
    (block,) = parse(f"PATTERN SEQ(A+ a[], B b) WITHIN 5 RETURN {written} AS c").blocks
    assert (column_types(block, TYPES)["c"], column_types(block, None)["c"]) == COLUMNS[written]


def test_the_types_of_totals_and_of_what_they_are_by() -> None:
    (block,) = parse("""
        PATTERN SEQ(A+ a[], B b) WHERE [s] ^ PARTITION BY n % 2, price / 2, length(s) WITHIN 5
        AGGREGATE count(*) AS c, sum(a[].small) AS s1, sum(a[].price) AS s2, avg(a[].n) AS mean, min(b.at) AS least
        BY s, n % 2, price / 2, length(s)""").blocks
    by = {"s": STRING, "n%2": INTEGER, "price/2": DOUBLE, "length(s)": INTEGER}
    totals = {"c": decimal(0), "s1": decimal(0), "s2": decimal(2), "mean": DOUBLE, "least": TIMESTAMP}
    assert column_types(block, TYPES) == by | totals
    unknown = {"s": UNKNOWN, "n%2": UNKNOWN, "price/2": UNKNOWN, "length(s)": INTEGER}
    totals |= {"s1": UNKNOWN, "s2": UNKNOWN, "least": UNKNOWN}
    assert column_types(block, None) == unknown | totals


PARTLY = Fields((("a", INTEGER), ("b", UNKNOWN)))


@pytest.mark.parametrize(
    ("kinds", "together"),
    [
        ([TYPES["small"], INTEGER], INTEGER),
        ([Atom(ValueKind.DOUBLE, bits=32), DOUBLE], DOUBLE),
        ([INTEGER, decimal(0)], decimal(0)),
        ([TYPES["price"], TYPES["ratio"]], decimal(4, digits=12)),
        ([TYPES["small"], TYPES["ratio"]], decimal(4, digits=9)),
        ([decimal(2), decimal(4)], None),
        ([INTEGER, DOUBLE], None),
        ([INTEGER, STRING], None),
        ([TIMESTAMP, DATE], None),
        ([UNKNOWN, INTEGER, UNKNOWN], INTEGER),
        ([INTEGER, UNKNOWN, STRING], None),
        ([UNKNOWN, Several(UNKNOWN)], None),
        ([Several(UNKNOWN), Several(INTEGER), Several(TYPES["small"])], Several(INTEGER)),
        ([Several(INTEGER), Several(UNKNOWN), Several(STRING)], None),
        ([PARTLY, Fields((("a", UNKNOWN), ("b", STRING)))], Fields((("a", INTEGER), ("b", STRING)))),
        ([Fields((("a", INTEGER),)), Fields((("b", INTEGER),))], None),
    ],
)
def test_types_agree_where_one_holds_the_values_of_all(kinds: list[Type], together: Type | None) -> None:
    assert agreed(kinds) == together
    assert (agreed(kinds[::-1]) is None) == (together is None)


# What the text alone tells

CONFLICTS = {
    ("1", "'a'"): "integer and string",
    ("1", "1.5"): "double and integer",
    ("a.x > 1", "0"): "boolean and integer",
    ("length(a.s)", "upper(b.s)"): "integer and string",
    ("avg(a[].x)", "'a'"): "double and string",
    ("a.(x, y)", "b.x"): "a single value and struct<x,y>",
    ("a.(x, y)", "b.(x)"): "struct<x,y> and struct<x>",
}


@pytest.mark.parametrize("written", CONFLICTS)
def test_a_union_of_constants_of_two_types_is_refused_where_the_second_stands(written: tuple[str, str]) -> None:
    pattern = "A+ a[] WITHIN 5" if "[]" in written[0] else "A a"
    text = f"PATTERN {pattern} RETURN {written[0]} AS x\nUNION PATTERN B b RETURN b.y AS y, {written[1]} AS x"
    with pytest.raises(thence.QueryError) as caught:
        thence.parse(text, language="sase+")
    assert str(caught.value) == f'query:2:36: The column "x" of the UNION would be {CONFLICTS[written]}. {TRY}'


JUDGED = {
    # where it stands is marked
    "PATTERN A+ a[] WITHIN 5 RETURN a.LEN AS n UNION PATTERN B+ b[] WITHIN 5 RETURN »avg(b[].x) AS n": (
        "double and integer"
    ),
    "PATTERN A a RETURN 1 AS n UNION PATTERN A+ a[] WITHIN 5 RETURN »a[].x AS n": "array and integer",
    "PATTERN A a AGGREGATE count(*) AS n UNION PATTERN A a AGGREGATE »avg(a.x) AS n": "double and integer",
    """PATTERN A a AGGREGATE avg(a.x) AS `n>1`
    UNION PATTERN A a WHERE PARTITION BY n>1 AGGREGATE count(*) AS n BY »n>1""": "boolean and double",
    "PATTERN A a RETURN 1 AS n UNION PATTERN B b RETURN b.x AS n UNION PATTERN C c RETURN »'u' AS n": (
        "integer and string"
    ),
    # by what another query makes
    """PATTERN A+ a[] WITHIN 5 RETURN a.LEN AS n IN STREAM s;
    FROM s PATTERN s b RETURN b.n AS n UNION FROM s PATTERN s b RETURN »'u' AS n""": "integer and string",
    # of one stream
    """PATTERN A a RETURN 1 AS n IN STREAM s UNION PATTERN A a RETURN »'u' AS n IN STREAM s;
    FROM s PATTERN s b RETURN b.n AS n""": "integer and string",
}


@pytest.mark.parametrize("marked", JUDGED)
def test_what_follows_from_the_text_is_judged_before_there_is_data(marked: str) -> None:
    before, text = marked.partition("»")[0], marked.replace("»", "")
    place = f"{before.count(chr(10)) + 1}:{len(before.rpartition(chr(10))[2]) + 1}"
    with pytest.raises(thence.QueryError) as caught:
        thence.parse(text, language="sase+")
    column = "n>1" if "n>1" in text else "n"
    assert str(caught.value) == f'query:{place}: The column "{column}" of the UNION would be {JUDGED[marked]}. {TRY}'


def test_blocks_of_a_union_that_make_different_streams_need_not_agree() -> None:
    thence.parse("""
        PATTERN A a RETURN 1 AS n IN STREAM s UNION PATTERN A a RETURN 'u' AS n IN STREAM t;
        FROM s, t PATTERN s b RETURN b.n AS n""")


# What tables tell

NUMBER_AND_TEXT = "PATTERN A a RETURN a.n AS x UNION PATTERN B b RETURN b.s AS x"
ROWS = {"type": ["A", "B"], "time": [1, 2], "n": [7, 8], "s": ["u", "v"]}


def csv_file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def parquet_file(path: Path, rows: dict[str, Any], **kinds: pa.DataType) -> Path:
    table = pa.table({name: pa.array(values, kinds.get(name)) for name, values in rows.items()})
    parquet.write_table(table, path)
    return path


def refused(query: str, streams: Any) -> str:
    """At once, before a match is asked for."""
    read = thence.parse(query, language="sase+")
    with pytest.raises(thence.InputError) as caught:
        read.match(streams)
    return str(caught.value)


def test_a_union_of_a_number_and_a_text_of_a_csv_file_is_refused(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "events.csv", "type,time,n,s\nA,1,7,u\nB,2,8,v\n")
    message = f'The column "x" of the UNION would be integer and string. {TRY}'
    assert refused(NUMBER_AND_TEXT, path) == message
    packed = tmp_path / "events.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert refused(NUMBER_AND_TEXT, str(packed)) == message
    assert refused(NUMBER_AND_TEXT, [path, path]) == message


def test_a_union_of_a_number_and_a_text_of_a_parquet_file_is_refused(tmp_path: Path) -> None:
    message = f'The column "x" of the UNION would be integer and string. {TRY}'
    assert refused(NUMBER_AND_TEXT, parquet_file(tmp_path / "a.parquet", ROWS)) == message
    narrow = parquet_file(tmp_path / "b.parquet", ROWS, n=pa.int8(), s=pa.dictionary(pa.int32(), pa.string()))
    assert refused(NUMBER_AND_TEXT, narrow) == message
    doubles = parquet_file(tmp_path / "c.parquet", ROWS, n=pa.float32())
    assert refused("PATTERN A a RETURN a.n AS x UNION PATTERN B b RETURN 1 AS x", doubles) == (
        f'The column "x" of the UNION would be double and integer. {TRY}'
    )


def test_columns_of_csv_files_are_judged_by_all_of_their_values(tmp_path: Path) -> None:
    """The first hundred look like integers."""
    lines = [f"A,{time},{time},{time}" for time in range(100)]
    last = [f"B,{time},{time},x{time}" for time in range(100, 102)]
    late = csv_file(tmp_path / "late.csv", "\n".join(["type,time,n,s", *lines, *last, ""]))
    assert "integer and string" in refused(NUMBER_AND_TEXT, late)
    numbers = csv_file(tmp_path / "numbers.csv", "\n".join(["type,time,n,s", *lines, "B,1000,1000,1000", ""]))
    assert sum(1 for _ in thence.parse(NUMBER_AND_TEXT).match(numbers)) == 101


def test_whole_numbers_and_decimals_agree(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "events.csv", "type,time,n,s\nA,1,7,\nB,2,,2.50\nB,3,,100.5\n")
    found = [match.bindings["x"].python for match in thence.parse(NUMBER_AND_TEXT).match(path)]  # type: ignore[union-attr]
    assert [str(each) for each in found] == ["7", "2.5", "100.5"]


def test_numbers_of_more_digits_than_a_table_knows_are_numbers(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", f"type,time,n,s\nA,1,{'7' * 50},\nB,2,,{'8' * 30}.{'9' * 30}\n")
    assert sum(1 for _ in thence.parse(NUMBER_AND_TEXT).match(path)) == 2
    assert "integer and string" in refused(
        NUMBER_AND_TEXT, csv_file(tmp_path / "b.csv", f"type,time,n,s\nA,1,{'7' * 50},u\n")
    )


def test_a_column_without_values_agrees_with_any(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "events.csv", "type,time,n,s\nA,1,7,\nB,2,,\n")
    assert sum(1 for _ in thence.parse(NUMBER_AND_TEXT).match(path)) == 2
    nulls = parquet_file(tmp_path / "events.parquet", ROWS | {"s": [None, None]})
    assert sum(1 for _ in thence.parse(NUMBER_AND_TEXT).match(nulls)) == 2


def test_types_go_through_the_events_that_queries_make(tmp_path: Path) -> None:
    query = """
        PATTERN A a RETURN (a.n AS n, a.(n, s) AS both) AS M IN STREAM made;
        FROM made PATTERN M m RETURN m.`both.n` AS x UNION PATTERN B b RETURN b.{} AS x"""
    path = parquet_file(tmp_path / "events.parquet", ROWS)
    assert "integer and string" in refused(query.format("s"), path)
    assert sum(1 for _ in thence.parse(query.format("n")).match(path)) == 2


def test_streams_of_several_types_are_texts_together(tmp_path: Path) -> None:
    numbers = csv_file(tmp_path / "a.csv", "type,time,v\nA,1,7\n")
    texts = csv_file(tmp_path / "b.csv", "type,time,v\nA,2,u\n")
    query = "FROM S, T PATTERN A a RETURN a.v AS x UNION FROM S PATTERN A a RETURN {} AS x"
    assert "integer and string" in refused(query.format("a.v"), {"S": numbers, "T": texts})
    assert sum(1 for _ in thence.parse(query.format("'w'")).match({"S": numbers, "T": texts})) == 3


@pytest.mark.parametrize("kind", ["objects", "json lines", "a table and json lines", "pushed", "rdf"])
def test_where_types_are_not_known_a_union_is_a_bag_of_what_comes(kind: str, tmp_path: Path) -> None:
    events = [thence.Event(1, {"type": "A", "n": 7}), thence.Event(2, {"type": "B", "s": "u"})]
    lines = tmp_path / "events.jsonl"
    lines.write_text('{"type": "A", "time": 1, "n": 7}\n{"type": "B", "time": 2, "s": "u"}\n')
    query = thence.parse(NUMBER_AND_TEXT)
    match kind:
        case "objects":
            found = [*query.match(events)]
        case "json lines":
            found = [*query.match(lines)]
        case "a table and json lines":
            table = csv_file(tmp_path / "events.csv", "type,time,n,s\nA,1,7,\nC,2,,u\n")
            lines.write_text('{"type": "B", "time": 2, "s": "u"}\n')
            found = [*query.match([table, lines])]
        case "pushed":
            engine = query.engine()
            found = [match for event in events for match in engine.push(event)] + engine.close()
        case _:
            prefix = "@prefix : <http://example.org/> . [] a "
            found = [*query.match([thence.Event(1, f"{prefix}:A ; :n 7 ."), thence.Event(2, f"{prefix}:B ; :s 'u' .")])]
    assert [match.bindings["x"].python for match in found] == [7, "u"]  # type: ignore[union-attr]


def test_times_that_are_texts_are_no_texts(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "events.csv", "type,time,n,s\nA,2024-05-06T07:00:00Z,7,u\n")
    query = thence.parse(
        "PATTERN A a RETURN a.time AS x UNION PATTERN B b RETURN TIMESTAMP '2024-05-06T07:00:00Z' AS x"
    )
    assert sum(1 for _ in query.match(path)) == 1
