"""Several statements on Spark: a column `query`, the union of their columns, and the output of one process (EP-82)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from support.ep_sparql_several import GRAPHS, PREFIX, RULES, SELECTS, TURTLE, matches, parsed
from thence.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAME = [(time, f"e{number}", f"{TURTLE}{graph} .") for number, (time, graph) in enumerate(GRAPHS)]
CASES = "SELECT ?x WHERE { ?x :watts 400 }\nSELECT ?X ?x WHERE { ?X :watts ?x }"
"""Names that differ in their case alone, which Spark takes for one."""


def test_the_rows_of_several_statements_are_numbered_as_in_one_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = spark.createDataFrame([*FRAME, (9, "bad", "no Turtle")], "time long, id string, value string")
    rows = parsed(SELECTS).dataframe(frame, shards=2, problems=True)
    own = ["start", "end", "query", "house", "watts", "query_", "more", "match_id", "events"]
    assert rows.columns == [*own, "problem", "reason", "event", "stream"]
    assert dict(rows.dtypes)["query"] == "int"
    found = rows.collect()
    assert [row.query for row in found if row.problem is not None] == [None]
    good = {row.match_id: row for row in found if row.problem is None}
    for match in matches(SELECTS):
        row = good.pop(match.id)
        assert (row.query, row.start, row.end) == (match.query, match.start, match.end)
        cells = {name: row[name] for name in ("house", "watts", "query_", "more") if row[name] is not None}
        assert cells == {f"{name}_" if name == "query" else name: term.value for name, term in match.bindings.items()}
    assert not good

    made = {row.id: row for row in parsed(RULES).dataframe(frame).collect()}
    events = {match.constructed.id: match for match in matches(RULES) if match.constructed is not None}
    assert {name: (row.query, row.time, row.end) for name, row in made.items()} == {
        name: (match.query, *match.times) for name, match in events.items()
    }

    several = parsed(CASES).dataframe(frame).orderBy("end", "query", "X_")
    assert several.columns == ["start", "end", "query", "x", "X_", "match_id", "events"]
    assert [row[3:5] for row in several.collect()][:2] == [
        ("http://example.org/h1", None),
        ("400", "http://example.org/h1"),
    ]

    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"time": time, "id": name, "graph": graph}) + "\n" for time, name, graph in FRAME]
    Path("events.jsonl").write_text("".join(lines))
    for text, format in ((SELECTS, "csv"), (RULES, "jsonl")):
        Path("several.epsparql").write_text(PREFIX + text)
        call = ["run", "several.epsparql", "--stream", "events.jsonl", "--format", format]
        on_spark, here = (CliRunner().invoke(main, [*call, "--engine", engine]) for engine in ("spark", "local"))
        assert (on_spark.exit_code, on_spark.stdout) == (0, here.stdout), on_spark.stderr
