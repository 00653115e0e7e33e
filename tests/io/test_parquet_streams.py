"""Parquet files are read as far as a query asks for them: column by column, and in the order of time bit by bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import thence
from support.tables import tables
from thence.columns.batches import ColumnBatch
from thence.errors import InputError, LimitError
from thence.extraction.attributes import predicates_read
from thence.io import event_tables
from thence.io import event_tables as parquet
from thence.io.event_files import read_batches
from thence.io.event_tables import times_between
from thence.local import inputs as given_streams
from thence.rdf.events import RDF_TYPE, BadEvent, predicate_term
from thence.rdf.terms import IRI
from thence.runtime.results import Problem

pytestmark = pytest.mark.numba

QUERY = """PREFIX : <http://example.org/>
SELECT ?c ?p ?q WITHIN 10 TICKS
FROM STREAM S <http://example.org/s>
WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?c :price ?p } DEFINE GPM B ON S { ?c :price ?q FILTER(?q < ?p) } }
"""
TWO = """PREFIX : <http://example.org/>
SELECT ?c ?p ?q WITHIN 10 TICKS
FROM STREAM S <http://example.org/s> FROM STREAM T <http://example.org/t>
WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?c :price ?p } DEFINE GPM B ON T { ?c :price ?q FILTER(?q < ?p) } }
"""


def ticks(count: int, *, first: int = 0, seed: int = 0) -> list[dict[str, Any]]:
    """Rows in the order of time, some of one time."""
    draw = Random(seed)
    return [
        {"type": "Tick", "time": first + number * 2 // 3, "subject": draw.choice("ab"), "price": draw.randrange(9)}
        | {"volume": draw.randrange(9), "note": draw.choice(["x", None])}
        for number in range(count)
    ]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def rows_of(query: str, streams: Any) -> tuple[list[tuple[Any, ...]], thence.runtime.results.Counts]:  # type: ignore[name-defined]
    found = thence.parse(query).match(streams)
    made = [(m.start, m.end, *(m.bindings[n].value for n in "cpq")) for m in found if isinstance(m, thence.Match)]
    return made, found.counts


def table_of(query: str, streams: Any) -> tuple[list[tuple[Any, ...]], thence.runtime.results.Counts]:  # type: ignore[name-defined]
    found = thence.parse(query).match(streams)
    table = found.table()
    assert table.column_names == ["start", "end", "c", "p", "q"]
    columns = [column.to_pylist() for column in table.columns]
    return [(s, e, c, str(p), str(q)) for s, e, c, p, q in zip(*columns, strict=True)], found.counts


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_TOGETHER", 16)


@given(tables(), st.sets(st.sampled_from(["a", "with space"])))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_columns_that_nobody_asks_for_change_no_other(tmp_path: Path, table: pa.Table, names: set[str]) -> None:
    path = tmp_path / "s.parquet"
    pq.write_table(table, path)
    wanted = {predicate_term(name, "http://example.org/") for name in names}
    wide, narrow = (list(read_batches(path, stream="s", wanted=each)) for each in (None, wanted))
    for one, other in zip(wide, narrow, strict=True):
        assert isinstance(one, ColumnBatch) and isinstance(other, ColumnBatch)
        assert [one.id(index) for index in range(len(one))] == [other.id(index) for index in range(len(other))]
        for left, right in zip(one, other, strict=True):
            assert (left.start, left.end) == (right.start, right.end)
            asked = [each for each in left.triples if each.predicate in {*wanted, RDF_TYPE}]
            assert [each for each in right.triples if each.predicate in {*wanted, RDF_TYPE}] == asked


BAD = {
    "type": ["T", None, "", "T", "T", "T", "T"],
    "time": [1, 2, 3, None, 5, 6, 7],
    "fine": pa.array([None, None, None, None, 1, None, None], pa.timestamp("ns")),
    "text": pa.array([b"x", b"", b"", b"", b"", b"\xff", b""], pa.binary()).view(pa.string()),
    "number": [1, 2, 3, 4, 5, 6, 7],
}


def test_the_same_rows_are_bad_for_the_same_reasons_whatever_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    pq.write_table(pa.table(BAD), path)
    wide, narrow = (list(read_batches(path, stream="s", wanted=each)) for each in (None, ()))
    shown = [[(each.line, each.reason) for each in found if isinstance(each, BadEvent)] for found in (wide, narrow)]
    assert shown[0] == shown[1] and [line for line, _ in shown[0]] == [2, 3, 4, 5, 6]


def test_a_type_that_is_the_same_in_all_rows_shows_where_it_stands(tmp_path: Path) -> None:
    pq.write_table(pa.table({"time": [1, None], "type": ["T", "T"], "x": [1, 2]}), tmp_path / "s.parquet")
    good, bad = read_batches(tmp_path / "s.parquet")
    assert isinstance(good, ColumnBatch) and isinstance(bad, BadEvent)
    assert [triple.object.value for triple in good.event(0).triples] == ["http://example.org/T", "1"]
    assert bad.text == '{"type": "T", "x": 2}'


@pytest.mark.parametrize("types", [[b"\xff", b"\xff"], [b"", b""]])
def test_a_type_that_is_the_same_in_all_rows_can_be_bad(tmp_path: Path, types: list[bytes]) -> None:
    pq.write_table(pa.table({"time": [1, 2], "type": pa.array(types).view(pa.string())}), tmp_path / "s.parquet")
    found = list(read_batches(tmp_path / "s.parquet"))
    assert [(type(each), getattr(each, "line", 0)) for each in found] == [(BadEvent, 1), (BadEvent, 2)]


def test_only_patterns_of_one_subject_and_known_predicates_are_asked_for_some_columns() -> None:
    def asked(pattern: str) -> Any:
        text = QUERY.replace("?c :price ?p }", f"?c :price ?p . {pattern} }}")
        return predicates_read(thence.parse(text).dataflow()).get("S")

    price = IRI("http://example.org/price")
    assert asked("") == {price}
    assert asked("?c a :Tick") == {price, RDF_TYPE}
    for pattern in ("?c ?any ?thing", "?other :price ?p", "OPTIONAL { ?c :note ?n }", "?c :a/:b ?n"):
        assert asked(pattern) is None


def test_a_table_reads_only_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[str, ...]] = []
    whole = event_tables.EventTable.read

    def reading(self: Any, parts: Any, attributes: Any, *rest: Any) -> Iterator[Any]:
        read.append((*parts, *attributes))
        yield from whole(self, parts, attributes, *rest)

    monkeypatch.setattr(event_tables.EventTable, "read", reading)
    path = written(tmp_path / "s.parquet", ticks(20))
    thence.parse(QUERY).match(path).table()
    assert set(read) == {("type", "time", "subject", "price", "note")}
    read.clear()
    thence.parse(QUERY).match(path, timed_out=True).table()
    assert set(read) == {("type", "time", "subject", "price", "volume", "note")}


@pytest.mark.parametrize("seed", range(3))
def test_files_in_order_and_in_disorder_give_the_same_answers(tmp_path: Path, seed: int) -> None:
    rows = ticks(100, seed=seed)
    shuffled = Random(seed).sample(rows, len(rows))
    late = [*rows[:90], rows[95], *rows[90:95], *rows[96:]]
    paths = [written(tmp_path / f"{number}.parquet", each) for number, each in enumerate((rows, shuffled, late))]
    expected, counts = rows_of(QUERY, [thence.Event(r["time"], {k: r[k] for k in r if k != "time"}) for r in rows])
    assert len(expected) > 10
    for streams in (*paths, [written(tmp_path / "a.parquet", rows[:40]), written(tmp_path / "b.parquet", rows[40:])]):
        for found, shown in (rows_of(QUERY, streams), table_of(QUERY, streams)):
            assert sorted(found) == sorted(expected)
            assert (shown.events, shown.matches, shown.bad) == (100, counts.matches, 0)
    assert rows_of(QUERY, paths[0])[0] == table_of(QUERY, paths[0])[0]
    assert rows_of(QUERY, paths[1])[0] == table_of(QUERY, paths[1])[0]


def test_streams_are_merged_by_time_whether_they_are_read_bit_by_bit_or_held(tmp_path: Path) -> None:
    rows, others = ticks(100), ticks(30, seed=1)
    s, t = written(tmp_path / "s.parquet", rows), written(tmp_path / "t.parquet", others)
    disordered = written(tmp_path / "u.parquet", others[::-1])
    objects = [thence.Event(r["time"], {k: r[k] for k in r if k != "time"}) for r in others]
    expected = sorted(rows_of(TWO, {"S": s, "T": t})[0])
    assert len(expected) > 5
    for second in (t, disordered, objects, iter(objects)):
        again = iter(objects) if isinstance(second, Iterator) else second
        assert (
            sorted(rows_of(TWO, {"S": s, "T": second})[0]) == expected == sorted(table_of(TWO, {"S": s, "T": again})[0])
        )
    mixed = written(tmp_path / "v.parquet", rows[::-1])
    assert sorted(table_of(TWO, {"S": mixed, "T": iter(objects)})[0]) == expected


def test_of_a_file_in_order_no_more_is_kept_however_long_it_is(tmp_path: Path) -> None:
    def kept(batches: int) -> int:
        found = thence.parse(QUERY).match(written(tmp_path / "s.parquet", ticks(16 * batches)))
        log = found.answers.flow.log
        return max(sum(len(each.batch) for each in log.batches) for _ in found)

    assert max(kept(100), kept(400)) < 16 * 50


def test_bad_rows_of_a_file_in_order_come_among_the_matches(tmp_path: Path) -> None:
    rows = ticks(100)
    rows[5]["time"] = rows[70]["time"] = None
    path = written(tmp_path / "s.parquet", rows)
    found = list(thence.parse(QUERY).match(path, problems=True))
    problems = [(number, each.line) for number, each in enumerate(found) if isinstance(each, Problem)]
    assert [line for _, line in problems] == [6, 71]
    assert problems[1][0] > 1
    matching = thence.parse(QUERY).match(path)
    matching.table()
    assert (matching.counts.bad, matching.counts.events) == (2, 98)


def test_a_file_that_changes_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "s.parquet", ticks(100)[::-1])
    monkeypatch.setattr(given_streams.StreamInput, "times", lambda self: (0, 100))
    with pytest.raises(InputError, match="has changed while it was read"):
        list(thence.parse(QUERY).match(path))


def test_too_many_partial_matches_are_told_in_order_and_in_disorder(tmp_path: Path) -> None:
    for rows in (ticks(100), ticks(100)[::-1]):
        path = written(tmp_path / "s.parquet", rows)
        with pytest.raises(LimitError, match="more than 3 partial matches"):
            thence.parse(QUERY).match(path, max_runs=3).table()


def test_streams_of_different_kinds_of_time_are_told_before_any_match(tmp_path: Path) -> None:
    rows = ticks(100)
    dated = [row | {"time": f"2026-01-01T00:00:{row['time']:02}Z"} for row in ticks(40)]
    s, t = written(tmp_path / "s.parquet", rows), written(tmp_path / "t.parquet", dated)
    with pytest.raises(InputError, match="The times of stream T are dates"):
        next(iter(thence.parse(TWO).match({"S": s, "T": t})))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"time": [1, 1, 3]}, (1, 3)),
        ({"time": [1, None, 3]}, (1, 3)),
        ({"time": [1, 3, 2]}, None),
        ({"time": [1, 2], "end": [9, None]}, None),
        ({"time": [1, 2], "end": [9, 10]}, (9, 10)),
        ({"time": ["1970-01-01", "1970-01-01T00:00:01Z"]}, (1_000_000, 1_000_000)),
        ({"time": pa.array([0, 1000], pa.timestamp("ns"))}, (0, 1)),
        ({"time": pa.array([], pa.int64())}, None),
        ({"time": [1.5]}, None),
        ({"other": [1]}, None),
    ],
)
def test_times_tell_whether_a_file_is_in_order(tmp_path: Path, columns: dict[str, Any], expected: Any) -> None:
    pq.write_table(pa.table(columns), tmp_path / "s.parquet")
    assert times_between(tmp_path / "s.parquet") == expected


def test_the_times_of_what_is_no_file_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "s.parquet").write_bytes(b"nothing")
    assert times_between(tmp_path / "s.parquet") is None
