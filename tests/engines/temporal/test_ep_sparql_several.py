"""A file of several statements: the field `query` says which of them a row is of (EP-82)."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import thence
from support.ep_sparql_several import EVENTS, GRAPHS, PREFIX, RULES, SELECTS, TURTLE, matches, parsed
from thence.cli import main
from thence.io.event_files import read_events
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def shown(match: Match) -> tuple[int | None, object, object, dict[str, str]]:
    cells = {name: getattr(cell, "value", "").removeprefix("http://example.org/") for name, cell in _terms(match)}
    return match.query, match.start, match.end, cells


def _terms(match: Match) -> list[tuple[str, object]]:
    return [(name, cell) for name, cell in match.bindings.items() if not isinstance(cell, tuple)]


ROWS = [
    (1, 1, 1, {"house": "h1", "watts": "400"}),
    (2, 1, 3, {"house": "h1", "query": "400", "more": "700"}),
    (1, 3, 3, {"house": "h1", "watts": "700"}),
    (1, 3, 3, {"house": "h2", "watts": "100"}),
]


def test_each_match_has_the_number_of_its_select() -> None:
    assert [shown(match) for match in matches(SELECTS)] == ROWS


def test_events_that_are_pushed_give_the_same_rows() -> None:
    engine = parsed(SELECTS).engine()
    found = [match for event in EVENTS for match in engine.push(event)] + engine.close()
    assert sorted(map(str, (shown(match) for match in found if isinstance(match, Match)))) == sorted(map(str, ROWS))


def test_a_table_has_the_union_of_columns_and_null_elsewhere() -> None:
    table = parsed(SELECTS).match(EVENTS).table()
    assert table.column_names == ["start", "end", "query", "house", "watts", "query_", "more"]
    assert table.schema.field("query").type == pa.int32()
    assert table["query"].to_pylist() == [1, 2, 1, 1]
    assert table["watts"].to_pylist() == [400, None, 700, 100]
    assert table["query_"].to_pylist() == [None, 400, None, None]
    assert table["more"].to_pylist() == [None, 700, None, None]
    none = parsed(SELECTS).match([]).table()
    assert none.column_names == table.column_names and not len(none)


def test_rules_are_numbered_where_there_is_no_select() -> None:
    found = matches(RULES)
    assert [(match.query, match.times) for match in found] == [
        (1, (1, 1)),
        (2, (1, 1)),
        (1, (3, 3)),
        (1, (3, 3)),
        (3, (1, 3)),
    ]  # of one end, by rule before start (EP-49)
    assert [(match.constructed.start, match.constructed.end) for match in found if match.constructed] == [
        match.times for match in found
    ]
    assert len({match.id for match in found}) == 5


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?house WHERE { ?house :watts 400 }",
        "CONSTRUCT { ?house :on true } WHERE { ?house :watts ?watts }",
        "CONSTRUCT { ?house :on true } WHERE { ?house :watts ?watts }\n"
        "CONSTRUCT { ?house :off false } WHERE { ?house :watts ?watts }\n"
        "SELECT ?house WHERE { ?house :on true ; :off false FILTER(?house = :h2) }",
    ],
)
def test_one_statement_that_is_output_has_no_number(text: str) -> None:
    query = parsed(text)
    assert not query.dataflow().numbers_queries
    assert all(match.query is None and "query" not in repr(match) for match in matches(text))
    if not query.constructs:
        assert "query" not in query.match(EVENTS).table().column_names


def test_rules_beside_several_selects_do_not_count() -> None:
    text = "CONSTRUCT { ?house :on true } WHERE { ?house :watts 400 }\nSELECT ?a WHERE { ?a :on true }\n"
    found = matches(text + "SELECT ?b WHERE { ?b :on true }")
    assert [shown(match) for match in found] == [(1, 1, 1, {"a": "h1"}), (2, 1, 1, {"b": "h1"})]


def test_rows_alike_in_all_else_come_in_the_order_of_their_statements() -> None:
    same = "SELECT ?house WHERE { ?house :watts 400 }\n"
    found = matches(same * 3)
    assert [match.query for match in found] == [1, 2, 3]
    assert len({match.id for match in found}) == len(set(found)) == 3
    rules = matches("CONSTRUCT { ?h :z 1 } WHERE { ?h :watts 400 }\nCONSTRUCT { ?h :a 1 } WHERE { ?h :watts 400 }")
    assert [match.query for match in rules] == [1, 2], "before what they bind"


def test_the_number_survives_pickle() -> None:
    for found in (matches(SELECTS), matches(RULES)):
        again = pickle.loads(pickle.dumps(found))
        assert again == found
        assert [match.query for match in again] == [match.query for match in found]
        assert [match.id for match in again] == [match.id for match in found]


def test_several_rules_can_feed_another_query() -> None:
    reader = thence.parse(
        PREFIX + "SELECT ?more FROM STREAM D <x:d> { SEQ (A) DEFINE GPM A ON D { ?house :rose ?more } }"
    ).reading({"D": parsed(RULES)})
    (found,) = (each for each in reader.match(EVENTS) if isinstance(each, Match))
    assert (found.query, found.start, found.end) == (None, 1, 3)


# On the command line


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("selects.epsparql").write_text(PREFIX + SELECTS)
    Path("rules.epsparql").write_text(PREFIX + RULES)
    lines = [
        {"time": time, "id": f"e{number}", "graph": f"{TURTLE}{graph} ."} for number, (time, graph) in enumerate(GRAPHS)
    ]
    Path("events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def run(query: str, format: str) -> str:
    arguments = ["run", f"{query}.epsparql", "--stream", "events.jsonl", "--engine", "local", "--format", format]
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.usefixtures("files")
def test_jsonl_has_a_field_query_and_the_bindings_of_its_select() -> None:
    rows = [json.loads(line) for line in run("selects", "jsonl").splitlines()]
    assert [list(row) for row in rows] == [["start", "end", "query", "bindings"]] * 4
    assert [(row["query"], list(row["bindings"])) for row in rows] == [
        (1, ["house", "watts"]),
        (2, ["house", "query", "more"]),
        (1, ["house", "watts"]),
        (1, ["house", "watts"]),
    ]


@pytest.mark.usefixtures("files")
def test_csv_and_tsv_have_a_column_query_after_end() -> None:
    assert run("selects", "csv").splitlines() == [
        "start,end,query,house,watts,query_,more",
        "1,1,1,http://example.org/h1,400,,",
        "1,3,2,http://example.org/h1,,400,700",
        "3,3,1,http://example.org/h1,700,,",
        "3,3,1,http://example.org/h2,100,,",
    ]
    head, first, *_ = run("selects", "tsv").splitlines()
    assert head.split("\t") == ["start", "end", "query", "house", "watts", "query_", "more"]
    assert first.split("\t") == ["1", "1", "1", "<http://example.org/h1>", "400", "", ""]


@pytest.mark.usefixtures("files")
def test_json_and_the_table_have_it_too() -> None:
    found = json.loads(run("selects", "json"))
    assert found["head"]["vars"] == ["start", "end", "query", "house", "watts", "query_", "more"]
    second = found["results"]["bindings"][1]
    assert second["query"] == {"type": "literal", "value": "2", "datatype": XSD_INTEGER}
    assert second["query_"] == {"type": "literal", "value": "400", "datatype": XSD_INTEGER}
    _, head, _, first, second, *_ = run("selects", "table").splitlines()
    assert " ".join(head.split()) == "┃ start ┃ end ┃ query ┃ ?house ┃ ?watts ┃ ?query_ ┃ ?more ┃"
    assert " ".join(first.split()) == "│ 1 │ 1 │ 1 │ :h1 │ 400 │ │ │"
    assert " ".join(second.split()) == "│ 1 │ 3 │ 2 │ :h1 │ │ 400 │ 700 │"


@pytest.mark.usefixtures("files")
def test_constructed_events_have_their_interval_and_the_number_of_their_rule() -> None:
    lines = [json.loads(line) for line in run("rules", "jsonl").splitlines()]
    assert [list(line) for line in lines] == [["time", "end", "query", "id", "graph"]] * 5
    assert [(line["time"], line["end"], line["query"]) for line in lines] == [
        (1, 1, 1),
        (1, 1, 2),
        (3, 3, 1),
        (3, 3, 1),
        (1, 3, 3),
    ]
    _, head, _, *rows = run("rules", "table").splitlines()
    assert " ".join(head.split()) == "┃ start ┃ end ┃ query ┃ graph ┃"
    assert " ".join(rows[4].split()) == "│ 1 │ 3 │ 3 │ :h1 :rose 700 │"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("format", ["jsonl", "trig"])
def test_constructed_events_can_be_read_as_an_event_file(format: str) -> None:
    Path(f"made.{format}").write_text(run("rules", format))
    again = [each for each in read_events(f"made.{format}") if isinstance(each, thence.Event)]
    made = [match.constructed for match in matches(RULES) if match.constructed is not None]
    assert [(each.id, each.start, each.end, set(each.triples)) for each in again] == [
        (each.id, each.start, each.end, set(each.triples)) for each in made
    ]


SHARING = """
CONSTRUCT { ?house :rose ?more } WHERE {
  { ?house :watts ?less } SEQ { ?house :watts ?more } FILTER(?more > ?less)
}
SELECT ?house ?to WHERE { ?house :rose ?to }
SELECT ?watts WHERE { :h2 :watts ?watts }
SELECT (COUNT(?to) AS ?rises) ?house WHERE { ?house :rose ?to } GROUP BY ?house
"""


def test_selects_that_share_rules_have_their_own_columns_and_numbers() -> None:
    """EP-82: one stage evaluates them, and its rows are distinguished."""
    query = parsed(SHARING)
    assert [stage.program.output.columns for stage in query.dataflow().stages] == [
        ("house", "to", "rises"),
        ("watts",),
    ]
    rows = [
        (1, 1, 3, {"house": "h1", "to": "700"}),
        (3, 1, 3, {"house": "h1", "rises": "1"}),
        (2, 3, 3, {"watts": "100"}),
    ]
    found = matches(SHARING)
    assert sorted(map(str, map(shown, found))) == sorted(map(str, rows))
    assert len({match.id for match in found}) == 3
    engine = query.engine()
    pushed = [match for event in EVENTS for match in engine.push(event)] + engine.close()
    assert {match.id for match in pushed} == {match.id for match in found}
