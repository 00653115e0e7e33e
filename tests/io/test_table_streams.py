"""Queries over tables find what they find over the same events as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import thence
from thence.cli import main

pytestmark = pytest.mark.numba

QUERY = """PREFIX : <http://example.org/>
SELECT ?c ?p1 ?p2 ?note WITHIN 10 TICKS
FROM STREAM S <http://example.org/s>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { ?c a :Tick ; :price ?p1 FILTER(?p1 > 1) }
  DEFINE GPM B ON S { ?c a :Tick ; :price ?p2 REST FILTER(?p2 < ?p1) }
}
"""
STAR, OPTIONAL = QUERY.replace("REST", "; :note ?note ."), QUERY.replace("REST", "OPTIONAL { ?c :note ?note }")
ROWS = [
    {"type": "Tick", "time": time, "subject": "ab"[time % 2], "price": price, "note": note}
    for time, (price, note) in enumerate(
        [(5, "x"), (4, None), (3, "y"), (7, "x"), (1, None), (2, "y"), (0, "x")], start=1
    )
]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    table = pa.Table.from_pylist(ROWS)
    paths = [tmp_path / f"s.{ending}" for ending in ("jsonl", "parquet", "csv")]
    paths[0].write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(table, paths[1])
    pacsv.write_csv(table, paths[2])
    return paths


def found(query: str, path: Path) -> list[Any]:
    return [(match.start, match.end, match.bindings) for match in thence.parse(query).match(path)]


@pytest.mark.parametrize("query", [STAR, OPTIONAL])
def test_the_same_events_give_the_same_matches_from_every_kind_of_file(query: str, files: list[Path]) -> None:
    from_json, from_parquet, from_csv = (found(query, path) for path in files)
    assert len(from_json) > 2
    assert from_json == from_parquet == from_csv


def test_a_match_has_the_events_of_its_table(files: list[Path]) -> None:
    match = next(iter(thence.parse(STAR).match(files[1])))
    assert isinstance(match, thence.Match)
    assert match.event_ids == ("S:1", "S:3")
    assert [event.id for event in match.events] == ["S:1", "S:3"]
    assert {triple.object.value for triple in match.events[1].triples} == {"http://example.org/Tick", "3", "y"}


def test_rows_need_not_be_in_the_order_of_time(files: list[Path]) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS[::-1]), files[1])
    assert found(OPTIONAL, files[1]) == found(OPTIONAL, files[0])


def test_the_command_reads_tables_and_tells_bad_rows(files: list[Path], tmp_path: Path) -> None:
    query = tmp_path / "q.spaseq"
    query.write_text(STAR)
    pq.write_table(pa.Table.from_pylist([*ROWS, {"type": "Tick", "time": None}]), files[1])
    problems = tmp_path / "problems.jsonl"
    call = [
        "run",
        str(query),
        "--engine",
        "local",
        "--stream",
        str(files[1]),
        "--format",
        "jsonl",
        "--problems",
        str(problems),
    ]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == len(found(STAR, files[0]))
    assert json.loads(problems.read_text())["reason"] == 'no time: "time" is empty'


def test_the_command_refuses_a_table_without_events(files: list[Path], tmp_path: Path) -> None:
    query = tmp_path / "q.spaseq"
    query.write_text(STAR)
    files[2].write_text("type,price\nA,2\n")
    result = CliRunner().invoke(main, ["run", str(query), "--engine", "local", "--stream", str(files[2])])
    assert result.exit_code == 2
    assert 's.csv: no column is called "time", and an event needs one.' in result.stderr
