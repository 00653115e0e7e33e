"""RSEP-QL: ASK, COMPUTED EVERY, NON_EMPTY_CONTENT, several queries in a file, and the times of EVENTs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from support.rsep_ql_figure import PREFIX, comparable, event
from thence.algebra.show import show
from thence.cli import main
from thence.lang.rsep_ql.parser import parse_file
from thence.query.languages import recognised

pytestmark = pytest.mark.numba

READ = "FROM NAMED :S WIN [RANGE 4 SLIDE 2] AS :w"
EVENTS = [event(1, ":a :p 1"), event(2, ":b :p 2"), event(9, ":a :p 3")]


def rows(text: str, events: list[thence.Event] = EVENTS, **options: Any) -> list[str]:
    return list(comparable(thence.parse(PREFIX + text).match(events, **options)))


def pushed(text: str, events: list[thence.Event] = EVENTS, **options: Any) -> list[str]:
    engine = thence.parse(PREFIX + text).engine(**options)
    return list(comparable([match for each in events for match in engine.push(each)] + engine.close()))


# ASK (RS-68)

ASK = f"ASK {READ} WHERE {{ WINDOW :w {{ :a :p ?o }} }}"


def test_rs_68_ask_is_one_row_for_each_evaluation() -> None:
    expected = ["2 ask=true", "4 ask=true", "6 ask=false", "8 ask=false", "10 ask=true"]
    assert rows(ASK) == pushed(ASK) == rows(ASK, optimise=False) == expected
    assert thence.parse(PREFIX + ASK).columns == ("ask",)


def test_rs_68_under_istream_only_when_it_changes() -> None:
    assert rows(ASK.replace("ASK", "ASK ISTREAM")) == ["2 ask=true", "6 ask=false", "10 ask=true"]
    assert rows(f"REGISTER ISTREAM :q AS {ASK}") == ["2 ask=true", "6 ask=false", "10 ask=true"]
    assert rows(ASK.replace("ASK", "ASK DSTREAM")) == ["6 ask=true", "10 ask=false"]


def test_rs_68_ask_of_a_match() -> None:
    text = f"""ASK {READ} EVENT ON :w {{ :a :p ?x }} AS A EVENT ON :w {{ :b :p ?y }} AS B
        WHERE {{ MATCH {{ A SEQ B }} FILTER(?x < ?y) VALUES ?x {{ 1 2 }} }}"""
    assert rows(text)[:3] == ["2 ask=true", "4 ask=true", "6 ask=false"]


def test_rs_68_ask_after_the_windows_of_c_sparql() -> None:
    assert rows("REGISTER QUERY q AS ASK FROM STREAM :S [RANGE 4 STEP 2] { :a :p 3 }")[-1] == "10 ask=true"


@pytest.mark.parametrize(("format", "shown"), [("json", '"value": "true"'), ("csv", "10,10,true"), ("table", "true")])
def test_ask_in_output_formats(format: str, shown: str, tmp_path: Path) -> None:
    query, stream = tmp_path / "q.rsepql", tmp_path / "s.jsonl"
    query.write_text(f"PREFIX : <http://example.org/>\n{ASK.replace(':a :p ?o', '?e :v 3')}")
    stream.write_text('{"type": "T", "time": 9, "v": 3}\n')
    arguments = ["run", str(query), "--stream", f"S={stream}", "--engine", "local", "--format", format]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    assert shown in found.stdout


# COMPUTED EVERY (RS-69)


def test_rs_69_computed_every_is_report_every() -> None:
    count = "SELECT (COUNT(*) AS ?n) FROM STREAM :S [RANGE 4 STEP 2] {} {{ ?x :p ?y }}"
    computed = "REGISTER QUERY q COMPUTED EVERY 3 AS " + count.format("")
    assert rows(computed) == rows("REGISTER QUERY q AS " + count.format("REPORT EVERY 3"))
    assert rows(computed) == ["3 n=2", "6 n=0", "9 n=0"]
    assert rows("REGISTER STREAM <s> COMPUTED EVERY 3 TICKS AS " + count.format("")) == rows(computed)


# NON_EMPTY_CONTENT (RS-70)

COUNT = f"SELECT (COUNT(?o) AS ?n) {READ} {{}} WHERE {{{{ WINDOW :w {{{{ :a :p ?o }}}} }}}}"


def test_rs_70_evaluations_are_those_of_close_where_a_window_holds_an_event() -> None:
    clause = COUNT.format("REPORT ON NON_EMPTY_CONTENT")
    expected = ["2 n=1", "4 n=1", "10 n=1"]
    assert rows(clause) == pushed(clause) == rows(clause, optimise=False) == expected
    assert rows(COUNT.format(""), report="non_empty_content") == expected
    bracket = "SELECT (COUNT(?o) AS ?n) FROM NAMED WINDOW :w ON :S [RANGE 4 SLIDE 2 REPORT NON_EMPTY_CONTENT]"
    assert rows(bracket + " WHERE { WINDOW :w { :a :p ?o } }") == expected


def test_rs_70_any_event_of_any_declared_window_counts() -> None:
    """The window :v holds what ends at 9 and no pattern matches."""
    text = f"SELECT (COUNT(?o) AS ?n) {READ} FROM NAMED :S WIN [RANGE 20 SLIDE 10] AS :v REPORT ON NON_EMPTY_CONTENT "
    found = rows(text + "WHERE { WINDOW :w { :a :p ?o } }", [event(1, ":a :p 1"), event(9, ":c :q 1")])
    assert found == ["2 n=1", "4 n=1", "10 n=0"]


def test_rs_70_an_evaluation_that_is_left_out_is_no_previous_one() -> None:
    text = COUNT.format("REPORT ON NON_EMPTY_CONTENT").replace("SELECT", "SELECT ISTREAM")
    assert rows(text) == ["2 n=1"]  # 1 at 10 is what it was at 4


def test_rs_70_long_gaps_cost_nothing() -> None:
    text = COUNT.format("REPORT ON NON_EMPTY_CONTENT")
    assert rows(text, [event(1, ":a :p 1"), event(10**12, ":a :p 1")]) == [
        "2 n=1",
        "4 n=1",
        f"{10**12} n=1",
    ]


# The times of EVENTs (RS-72)

GAP = """SELECT ?x ?s ?t FROM NAMED :S WIN [RANGE 100] AS :w REPORT AT {}
    EVENT ON :w {{ ?x :p 1 }} AS A END ?s
    EVENT ON :w {{ ?x :p 2 }} AS B START ?t
    WHERE {{ MATCH {{ A SEQ{} B }} FILTER(?t - ?s <= {}) }}"""
HOURS = '"PT1H"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>'


def test_rs_72_the_gap_between_two_events_is_bounded_by_their_times() -> None:
    events = [event(1, ":a :p 1"), event((2, 4), ":a :p 1"), event((6, 8), ":a :p 2"), event(9, ":a :p 2")]
    expected = ["20 s=1 t=6 x=a", "20 s=4 t=6 x=a", "20 s=4 t=9 x=a"]
    for options in ({}, {"optimise": False}):
        assert rows(GAP.format(20, "", 5), events, **options) == expected
    assert pushed(GAP.format(20, "", 5), events) == expected
    assert rows(GAP.format(20, " RECENT", 5), events) == ["20 s=4 t=9 x=a"]


def test_rs_72_times_of_dates_are_dates_and_their_difference_a_duration() -> None:
    day = "2024-05-06T0{}:00:00Z"
    events = [event(day.format(1), ":a :p 1"), event(day.format(5), ":a :p 1"), event(day.format(6), ":a :p 2")]
    text = GAP.format(day.format(7), "", HOURS).replace("[RANGE 100]", "[RANGE 1d]")
    (match,) = thence.parse(PREFIX + text).match(events)
    assert [match.bindings[name].value for name in "st"] == [day.format(5), day.format(6)]
    assert match.bindings["t"].datatype.endswith("#dateTime")


def test_a_time_that_two_events_share_joins_them() -> None:
    text = """SELECT ?x ?y ?t FROM NAMED :S WIN [] AS :w REPORT AT 9 EVENT ON :w { ?x :p 1 } AS A END ?t
        EVENT ON :w { ?y :q 1 } AS B END ?t WHERE { MATCH { A } MATCH { B } }"""
    events = [event(1, ":a :p 1"), event(2, ":b :p 1"), event(2, ":c :q 1"), event(3, ":d :q 1")]
    assert rows(text, events) == ["9 t=2 x=b y=c"]


def test_an_event_that_reads_a_graph_has_times_too() -> None:
    text = """SELECT ?x ?s ?t FROM NAMED :S WIN [] AS :w REPORT AT 9 EVENT ON :w { ?x :p ?n FILTER(?n < NOW()) } AS A
        START ?s END ?t WHERE { MATCH { A } }"""
    assert rows(text, [event((1, 3), ":a :p 1")]) == ["9 s=1 t=3 x=a"]


# Several queries in a file (RS-71, EP-82)

TWO = f"""PREFIX : <http://example.org/>
SELECT ?o {READ} WHERE {{ WINDOW :w {{ :a :p ?o }} }}
PREFIX ex: <http://example.org/>
REGISTER ISTREAM ex:q AS
ASK FROM NAMED ex:T WIN [RANGE 4] AS ex:w REPORT EVERY 4 WHERE {{ WINDOW ex:w {{ ?x ex:p ?o }} }}
"""
STREAMS = {"S": EVENTS, "T": [event(3, ":x :p 1"), event(13, ":x :p 1")]}


def numbered(found: Any) -> list[tuple[int, int, str]]:
    listed = ((match.query, match.end, next(iter(match.bindings.values())).value) for match in found)
    return sorted(listed)


ROWS = [(1, 2, "1"), (1, 4, "1"), (1, 10, "3"), (2, 4, "true"), (2, 8, "false"), (2, 16, "true")]


def test_rs_71_each_row_has_the_number_of_its_query() -> None:
    query = thence.parse(TWO)
    assert query.streams == ("S", "T") and query.columns == ("o", "ask")
    assert numbered(query.match(STREAMS)) == ROWS
    engine = query.engine()
    found = [match for name, listed in STREAMS.items() for each in listed for match in engine.push(name, each)]
    assert numbered(found + engine.close()) == ROWS
    table = query.match(STREAMS).table()
    assert table.column_names == ["start", "end", "query", "o", "ask"]
    assert len({match.id for match in query.match(STREAMS)}) == len(ROWS)


def test_rs_71_equal_queries_are_two() -> None:
    one = f"SELECT ?o {READ} WHERE {{ WINDOW :w {{ :a :p ?o }} }}\n"
    found = list(thence.parse(PREFIX + one + one).match(EVENTS))
    assert [match.query for match in found] == [1, 2] * 3
    assert len({match.id for match in found}) == 6


def test_rs_71_constructs_are_output_where_there_is_no_select() -> None:
    made = f"CONSTRUCT {{ [] :saw ?o }} {READ} WHERE {{ WINDOW :w {{ :a :p ?o }} }}\n"
    found = list(thence.parse(PREFIX + made + made).match(EVENTS))
    assert [match.query for match in found] == [1, 2] * 3
    query = thence.parse(PREFIX + made + ASK)
    assert all(match.query is None and "ask" in match.bindings for match in query.match(EVENTS))
    assert "not those of its CONSTRUCTs" in query.warnings[-1]


def test_rs_71_one_kind_of_time_in_all_queries() -> None:
    with pytest.raises(thence.QueryError, match="needs times that are dates, and RANGE 4 TICKS at 2:"):
        thence.parse(PREFIX + ASK + "\n" + ASK.replace("RANGE 4 SLIDE 2", "RANGE 4s"))


@pytest.mark.parametrize("format", ["text", "json", "mermaid"])
def test_rs_71_explain_shows_each_query(format: str) -> None:
    shown = thence.parse(TWO).explain(format)
    assert shown.count("ISTREAM") >= 1 and shown.count("RANGE 4") + shown.count("last 4") >= 2
    if format == "json":
        assert len(json.loads(shown)["stages"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        TWO,
        PREFIX + ASK,
        PREFIX + GAP.format(20, "", 5),
        PREFIX + ASK.replace("ASK", "ASK ISTREAM").replace("WHERE", "REPORT ON NON_EMPTY_CONTENT WHERE"),
        PREFIX + "REGISTER QUERY q COMPUTED EVERY 3s AS ASK FROM STREAM :S [RANGE 4s] { ?x :p ?y } VALUES ?x { :a }",
        f"{PREFIX}{ASK} BASE <http://e/> ASK {READ} {{ WINDOW :w {{ ?x :p ?y FILTER(IRI('q') = ?x) }} }}",
    ],
)
def test_reading_undoes_show(text: str) -> None:
    query = parse_file(text)
    assert parse_file(show(query)) == query


@pytest.mark.parametrize(
    "text", ["SELECT ?x FROM <x:g> { ?x :p ?y }", "ASK FROM NAMED <x:g> { GRAPH <x:g> { ?x :p 1 } }"]
)
def test_from_without_a_window_is_no_ep_sparql(text: str) -> None:
    assert recognised(PREFIX + text).name == "rsep-ql"
    with pytest.raises(thence.QueryError, match="The query has no window, so it reads no stream"):
        thence.parse(PREFIX + text)
