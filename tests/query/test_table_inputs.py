"""Tables as people hold them: what their columns are called, their type, how times are read, and what holds them."""

from __future__ import annotations

import gzip
import json
import warnings
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import thence
from thence.cli.command import main
from thence.errors import ThenceWarning
from thence.runtime.results import Problem

RISE = thence.parse("""
    PATTERN SEQ(STOCK a, STOCK b) WHERE [symbol] AND b.price > a.price WITHIN 10 MINUTES
    RETURN a.price AS before, b.price AS after, b.ts AS ts, b.id AS id, b.type AS kind
""")
TWO = thence.parse("PATTERN SEQ(STOCK a, NEWS b) WITHIN 10 TICKS RETURN a.price")
ROWS = [
    {"ts": 1525132881, "symbol": "X", "price": 1, "id": 7},
    {"ts": 1525132941, "symbol": "X", "price": 2, "id": 8},
]
OPTIONS: dict[str, Any] = {"columns": {"time": "ts"}, "time_unit": "s"}


class OnlyAStream:
    """As Polars and DuckDB offer a table, and no more."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def found(query: thence.Query, rows: Any, **options: Any) -> list[Any]:
    return [
        each if isinstance(each, Problem) else {name: term.python for name, term in each.bindings.items()}
        for each in query.match(rows, problems=True, **options)
    ]


def csv_of(rows: list[dict[str, Any]]) -> str:
    return pd.DataFrame(rows).to_csv(index=False)


def written(folder: Path, name: str) -> Path:
    path = folder / name
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    match name.partition(".")[2]:
        case "csv":
            path.write_text(csv_of(ROWS))
        case "parquet":
            pq.write_table(pa.Table.from_pylist(ROWS), path)
        case "jsonl" | "ndjson":
            path.write_text(lines)
        case "json":
            path.write_text(json.dumps(ROWS, indent=1))
        case "json.gz":
            path.write_bytes(gzip.compress(lines.encode()))
    return path


EXPECTED = [{"before": 1, "after": 2, "ts": 1525132941, "id": 8, "kind": "STOCK"}]


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.jsonl", "s.ndjson", "s.json", "s.json.gz"])
def test_a_file_of_any_kind_needs_no_type_and_its_columns_have_any_name(tmp_path: Path, name: str) -> None:
    """SA-1; `id`, `type` and the column that is the time are attributes under their own names."""
    path = written(tmp_path, name)
    assert found(RISE, path, **OPTIONS) == EXPECTED
    assert found(RISE, tmp_path, **OPTIONS) == found(RISE, f"{tmp_path}/s*", **OPTIONS) == EXPECTED


@pytest.mark.parametrize("made", [pd.DataFrame.from_records, pa.Table.from_pylist, list, iter])
def test_a_table_in_memory_gives_what_its_file_gives(made: Any) -> None:
    assert found(RISE, made(ROWS), **OPTIONS) == EXPECTED


def test_whatever_has_a_stream_of_arrow_is_a_table_and_texts_may_be_views() -> None:
    table = pa.Table.from_pylist(ROWS)
    table = table.set_column(1, "symbol", table.column("symbol").cast(pa.string_view()))
    assert found(RISE, OnlyAStream(table), **OPTIONS) == EXPECTED
    assert found(RISE, [table.slice(0, 1), OnlyAStream(table.slice(1))], **OPTIONS) == EXPECTED
    assert found(RISE, table.to_reader(), **OPTIONS) == EXPECTED


def test_a_frame_without_columns_of_events_is_refused_at_the_start() -> None:
    with pytest.raises(thence.InputError, match=r'no column is called "time".* Try: columns=\{"time": "ts"\}'):
        RISE.match(pd.DataFrame(ROWS))
    with pytest.raises(thence.InputError, match=r'no column is called "tss"\. Did you mean ts\?'):
        RISE.match(pd.DataFrame(ROWS), columns={"time": "tss"})
    with pytest.raises(thence.InputError, match='"tiem" is not part of an event'):
        RISE.match(pd.DataFrame(ROWS), columns={"tiem": "ts"})


def test_a_dict_is_pushed_as_a_row() -> None:
    engine = RISE.engine(problems=True, **OPTIONS)
    assert engine.push(ROWS[0]) == []
    assert [match.bindings["after"].python for match in engine.push(ROWS[1])] == [2]
    (bad,) = engine.push({"price": 3})
    assert isinstance(bad, Problem) and bad.reason == 'no time: "ts" is missing'


# The type of rows


def test_rows_without_a_type_need_to_be_told_where_the_query_names_several() -> None:
    rows = [{"time": 1, "price": 3}, {"time": 2, "price": 4}]
    reason = 'names several: STOCK, NEWS. Try: types={"events": "STOCK"}, or columns={"type": …}'
    with pytest.raises(thence.InputError) as caught:
        TWO.match(pd.DataFrame(rows))
    assert str(caught.value).endswith(reason)
    with pytest.raises(thence.InputError) as caught:
        found(TWO, rows)
    assert f': no "type", and the query {reason}' in str(caught.value)
    typed = [rows[0] | {"kind": "STOCK"}, rows[1] | {"kind": "NEWS"}]
    assert found(TWO, pd.DataFrame(typed), columns={"type": "kind"}) == [{"a.price": 3}]
    with pytest.raises(thence.InputError, match="from the column kind and from types="):
        TWO.match(pd.DataFrame(typed), columns={"type": "kind"}, types="STOCK")


def test_a_type_that_is_told_leaves_a_column_called_type_to_the_attributes() -> None:
    query = thence.parse("PATTERN SEQ(TX a) RETURN a.type AS type")
    assert found(query, pd.DataFrame({"time": [1], "type": ["transfer"]}), types="TX") == [{"type": "transfer"}]


def test_any_fits_rows_without_a_type_and_so_do_patterns_that_name_none() -> None:
    rows = pd.DataFrame({"time": [1, 2], "price": [3, 4]})
    assert found(thence.parse("PATTERN SEQ(ANY a, ANY b) WITHIN 5 TICKS RETURN b.price"), rows) == [{"b.price": 4}]
    pattern = "PREFIX : <http://e/> SELECT ?p WITHIN 5 TICKS FROM STREAM s <http://e/s> WHERE { SEQ (A) %s }"
    for graph in ("?x :price ?p", "?x a :Tick ; :price ?p"):
        query = thence.parse(pattern % f"DEFINE GPM A ON s {{ {graph} }}")
        assert found(query, rows) == [{"p": 3}, {"p": 4}]


def test_a_table_of_documents_is_rdf_and_one_of_numbers_called_value_is_not() -> None:
    query = thence.parse(
        "PREFIX : <http://e/> SELECT ?v WITHIN 5 TICKS FROM STREAM s <http://e/s> "
        "WHERE { SEQ (A) DEFINE GPM A ON s { ?x :value ?v } }"
    )
    documents = pa.table({"time": [1], "value": ["<http://e/x> <http://e/value> 7 ."]})
    assert found(query, documents) == found(query, pa.table({"time": [1], "value": [7]})) == [{"v": 7}]


def test_columns_that_nobody_names_may_be_of_any_type() -> None:
    rows = pd.DataFrame({"time": [1], "price": [3], "tags": [["a"]], "raw": [b"x"]})
    assert found(thence.parse("PATTERN SEQ(STOCK a) RETURN a.price"), rows) == [{"a.price": 3}]
    with pytest.raises(thence.InputError, match='column "tags" is of type list'):
        thence.parse("PATTERN SEQ(STOCK a) RETURN a.tags").match(rows)


def test_the_time_of_an_event_hides_a_column_of_that_name() -> None:
    """SA-51"""
    rows = pd.DataFrame({"time": ["noon"], "ts": [5]})
    query = thence.parse("PATTERN SEQ(A a) RETURN a.time AS time, a.ts AS ts")
    with pytest.warns(ThenceWarning, match='the column "time" is hidden'):
        assert found(query, rows, columns={"time": "ts"}) == [{"time": 5, "ts": 5}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found(thence.parse("PATTERN SEQ(A a) RETURN a.ts AS ts"), rows, columns={"time": "ts"}) == [{"ts": 5}]


# Times

MOMENT = datetime(2018, 5, 1, 0, 1, 21, tzinfo=UTC)
ONE = thence.parse("PATTERN SEQ(A a) RETURN a.time AS time")


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        (1525132881, {"time_unit": "s"}),
        ("1525132881000", {"time_unit": "ms"}),
        (1525132881000000000, {"time_unit": "ns"}),
        ("01/05/2018 00:01:21", {"time_format": "%d/%m/%Y %H:%M:%S"}),
        ("1/5/2018 0:1:21", {"time_format": "%d/%m/%Y %H:%M:%S"}),
        ("01.05.2018 00:01:21.000", {"time_format": "%d.%m.%Y %H:%M:%S.%f"}),
        ("30/04/2018 20:01:21", {"time_format": "%d/%m/%Y %H:%M:%S", "time_zone": "America/New_York"}),
        ("01/05/2018 02:01:21 +0200", {"time_format": "%d/%m/%Y %H:%M:%S %z", "time_zone": "America/New_York"}),
        ("2018-04-30 20:01:21", {"time_zone": "America/New_York"}),
        ("2018-05-01T00:01:21Z", {"time_zone": "America/New_York"}),
        (datetime(2018, 4, 30, 20, 1, 21), {"time_zone": "America/New_York"}),
    ],
)
def test_a_time_is_read_alike_from_a_table_and_from_a_row(cell: object, options: dict[str, str]) -> None:
    for rows in (pa.table({"time": [cell]}), [{"time": cell}]):
        assert [match.start for match in ONE.match(rows, **options)] == [MOMENT]


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("01/05/2018 00:01:21", {}, "is not a time. Try: time_format='%d/%m/%Y %H:%M:%S'"),
        ("05/13/2018 00:01:21", {}, "is not a time. Try: time_format='%m/%d/%Y %H:%M:%S'"),
        ("1525132881000", {}, "is not a time. Try: time_unit='ms'"),
        ("31/02/2018", {"time_format": "%d/%m/%Y"}, "does not fit time_format='%d/%m/%Y'"),
        ("soon", {"time_unit": "s"}, 'is not a time. Try: "2024-05-06T07:00:00Z"'),
        ("2024-11-03 01:30:00", {"time_zone": "America/New_York"}, "is two times in America/New_York, where clocks"),
        ("2024-03-10 02:30:00", {"time_zone": "America/New_York"}, "is not a time in America/New_York, where clocks"),
        ("2054-11-01 01:30:00", {"time_zone": "America/New_York"}, "is two times in America/New_York, where clocks"),
    ],
)
def test_a_time_of_another_form_is_bad_and_says_what_would_read_it(
    text: str, options: dict[str, str], reason: str
) -> None:
    """All events are bad: the error has the reason of the first (BAD-8)."""
    for rows in (pa.table({"time": [text]}), [{"time": text}]):
        with pytest.raises(thence.InputError) as caught:
            found(ONE, rows, **options)
        assert f'"{text}" {reason}' in str(caught.value)


def test_integers_that_may_be_instants_name_their_unit() -> None:
    with pytest.raises(thence.InputError, match="Try: time_unit='ms', if they count from 1970"):
        found(RISE, [{"time": 1525132881000, "symbol": "X"}])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"time_zone": "America/New_Yorc"}, "Did you mean America/New_York?"),
        ({"time_unit": "min"}, "Try: time_unit='s', 'ms', 'us' or 'ns'"),
        ({"time_format": "%H:%M"}, "has no year"),
        ({"time_format": "%s"}, "Try: time_unit='s'"),
        ({"time_format": "%Y", "time_unit": "s"}, "Try: one of them"),
    ],
)
def test_a_wrong_option_of_times_is_refused_at_the_start(options: dict[str, str], reason: str) -> None:
    """BAD-9"""
    with pytest.raises(thence.InputError, match=reason.replace("?", r"\?")):
        ONE.match([], **options)


# Types of the answer


def test_decimals_dates_and_timestamps_keep_their_types_and_numbers_of_two_kinds_are_doubles() -> None:
    query = thence.parse("PATTERN SEQ(A a) RETURN a.d AS d, a.day AS day, a.at AS at, a.n AS n")
    one = {"time": 1, "d": Decimal("1.50"), "day": date(2024, 5, 6), "at": MOMENT, "n": 1}
    table = query.match([pa.Table.from_pylist([one]), pa.table({"time": [2], "n": [2.5]})]).table()
    types = {name: table.schema.field(name).type for name in ("day", "at", "n")}
    assert types == {"day": pa.date32(), "at": pa.timestamp("us", "UTC"), "n": pa.float64()}
    assert table.column("d").to_pylist() == [Decimal("1.5"), None]
    assert table.column("n").to_pylist() == [1.0, 2.5]


# The command


def run(*call: str, input: str | None = None) -> Any:
    return CliRunner().invoke(main, ["run", *call, "--engine", "local", "--format", "csv"], input=input)


QUERY = "PATTERN SEQ(STOCK a, STOCK b) WHERE [symbol] WITHIN 10 MINUTES RETURN b.price"


def test_the_command_takes_a_query_as_text_a_pattern_of_paths_and_standard_input(tmp_path: Path) -> None:
    written(tmp_path, "s.csv")
    options = ("-q", QUERY, "--column", "time=ts", "--time-unit", "s")
    results = [run(*options, "--stream", f"{tmp_path}/*.csv"), run(*options, "--stream", "-", input=csv_of(ROWS))]
    results.append(run(*options, "--stream", "-", "--type", "events=STOCK", input=json.dumps(ROWS)))
    for result in results:
        assert result.stdout.splitlines()[1:] == ["2018-05-01T00:01:21Z,2018-05-01T00:02:21Z,2"], result.stderr


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ((), "Try: --column time=ts"),
        (("--column", "time=ts"), "Try: --time-unit 's', if they count from 1970"),
        (("--column", "ts"), "--column can't be ts. Try: --column time=ts"),
    ],
)
def test_the_command_s_errors_name_its_own_options(tmp_path: Path, call: tuple[str, ...], reason: str) -> None:
    result = run("-q", QUERY, "--stream", str(written(tmp_path, "s.csv")), *call)
    assert result.exit_code == 2
    assert reason in result.stderr
    result = run("-q", QUERY.replace("STOCK b", "NEWS b"), "--stream", str(tmp_path), "--column", "time=ts")
    assert "Try: --type events=STOCK, or --column type=…" in result.stderr


# What a newcomer stumbled over


@pytest.mark.parametrize(
    ("format", "cure"),
    [("%m/%d/%Y %H:%M:%S %p", "%m/%d/%Y %I:%M:%S %p"), ("%m/%d/%Y %I:%M:%S", "%m/%d/%Y %H:%M:%S")],
)
def test_hours_of_a_clock_and_its_half_days_go_together(format: str, cure: str) -> None:
    """Python reads `08:00 PM` by `%H:%M %p` as eight in the morning."""
    with pytest.raises(thence.InputError, match="Try: ") as caught:
        ONE.match([{"time": "03/09/2024 08:00:42 PM"}], time_format=format)
    assert str(caught.value).endswith(f"Try: {cure!r}")


def test_a_format_with_half_days_is_guessed_with_the_month_first() -> None:
    with pytest.raises(thence.InputError, match="Try: time_format='%m/%d/%Y %I:%M:%S %p', or"):
        found(ONE, [{"time": "03/09/2024 08:00:42 PM"}])


def test_lists_in_dicts_and_json_lines_are_left_out_unless_the_query_names_them(tmp_path: Path) -> None:
    rows = [{"time": 1, "price": 3, "tags": ["x"], "device": {"id": 7}}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    price = thence.parse("PATTERN STOCK a RETURN a.price AS price")
    for given in (rows, path):
        assert found(price, given) == [{"price": 3}]
        with pytest.raises(thence.InputError, match="attribute 'tags' is neither a number"):
            found(thence.parse("PATTERN STOCK a RETURN a.tags AS tags"), given)
