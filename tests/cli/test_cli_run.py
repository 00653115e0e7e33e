"""`thence run`, `check` and `explain`: formats, streams, problems, exit statuses."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import thence
from thence.cli import main
from thence.cli.run import NOTICE
from thence.io.event_files import read_events

pytestmark = pytest.mark.numba

SELECT = """PREFIX : <http://example.org/>
SELECT ?x ?last (COUNT(B) AS ?n) (COLLECT(?last) AS ?all) WITHIN 10 TICKS
FROM STREAM S1 <http://example.org/s1>
WHERE {
  SEQ (A ; B+)
  DEFINE GPM A ON S1 { ?x :is :a }
  DEFINE GPM B ON S1 { ?x :value ?last }
}
"""
CONSTRUCT = """PREFIX : <http://example.org/>
CONSTRUCT { ?x :became [ :value ?y ] . ?x :also ?other } WITHIN 10 TICKS
FROM STREAM S1 <http://example.org/s1>
FROM STREAM S2 <http://example.org/s2>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S1 { ?x :is :a OPTIONAL { ?x :other ?other } }
  DEFINE GPM B ON S2 { ?x :value ?y }
}
"""
EVENTS = """{"time": 1, "id": "e1", "graph": "@prefix : <http://example.org/> . :h :is :a ."}
{"time": 3, "graph": "@prefix : <http://example.org/> . :h :value 7 ."}
{"time": 4, "graph": "@prefix : <http://example.org/> . :h :value \\"a, b\\"@en ."}
"""
XSD = "http://www.w3.org/2001/XMLSchema#"
SEVEN = {"type": "literal", "value": "7", "datatype": XSD + "integer"}
TEXT = {"type": "literal", "value": "a, b", "xml:lang": "en"}
HOUSE = {"type": "uri", "value": "http://example.org/h"}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("select.spaseq").write_text(SELECT)
    Path("construct.spaseq").write_text(CONSTRUCT)
    Path("events.jsonl").write_text(EVENTS)
    return tmp_path


def thence_(*arguments: str) -> Result:
    """In one process; what runs on Spark is in test_cli_spark."""
    here = ("--engine", "local") if arguments[0] == "run" else ()
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, [*arguments, *here])


def said(result: Result) -> str:
    """What stood on stderr, but for the notice that the very first run compiles."""
    return result.stderr.replace(NOTICE + "\n", "")


def select(*arguments: str) -> Result:
    return thence_("run", "select.spaseq", "--stream", "events.jsonl", *arguments)


def construct(*arguments: str) -> Result:
    return thence_("run", "construct.spaseq", "--stream", "S1=events.jsonl", "--stream", "S2=events.jsonl", *arguments)


def test_jsonl_has_one_object_a_match() -> None:
    result = select("--format", "jsonl")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"start": 1, "end": 3, "bindings": {"x": HOUSE, "last": SEVEN, "n": _count(1), "all": [SEVEN]}},
        {"start": 1, "end": 4, "bindings": {"x": HOUSE, "last": TEXT, "n": _count(2), "all": [SEVEN, TEXT]}},
    ]
    assert result.exit_code == 0
    assert said(result) == "3 events, 2 matches, 0 bad, 0 late\n"


def _count(number: int) -> dict[str, str]:
    return {"type": "literal", "value": str(number), "datatype": XSD + "integer"}


def test_events_adds_their_ids_in_the_order_of_the_pattern() -> None:
    lines = select("--format", "jsonl", "--events").stdout.splitlines()
    assert [json.loads(line)["events"] for line in lines] == [["e1", "S1:2"], ["e1", "S1:2", "S1:3"]]


def test_csv_has_start_and_end_then_the_variables() -> None:
    rows = list(csv.reader(io.StringIO(select("--format", "csv", "--events").stdout)))
    assert rows == [
        ["start", "end", "x", "last", "n", "all", "events"],
        ["1", "3", "http://example.org/h", "7", "1", '["7"]', '["e1", "S1:2"]'],
        ["1", "4", "http://example.org/h", "a, b", "2", '["7", "a, b"]', '["e1", "S1:2", "S1:3"]'],
    ]


def test_tsv_writes_terms_with_their_types() -> None:
    lines = select("--format", "tsv").stdout.splitlines()
    assert lines[0].split("\t") == ["start", "end", "x", "last", "n", "all"]
    assert lines[2].split("\t")[:5] == ["1", "4", "<http://example.org/h>", '"a, b"@en', "2"]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "json"])
def test_the_ending_of_the_output_is_its_format(format: str) -> None:
    assert select("--output", f"out.{format.upper()}").exit_code == 0
    assert Path(f"out.{format.upper()}").read_text() == select("--format", format).stdout


def test_a_format_that_is_given_overrides_the_ending_of_the_output() -> None:
    assert select("--output", "out.csv", "--format", "jsonl").exit_code == 0
    assert Path("out.csv").read_text() == select("--format", "jsonl").stdout


def test_json_is_sparqls_results_with_start_and_end_as_variables() -> None:
    found = json.loads(select("--format", "json").stdout)
    assert found["head"]["vars"] == ["start", "end", "x", "last", "n", "all"]
    assert found["results"]["bindings"][0] == {
        "start": _count(1),
        "end": _count(3),
        "x": HOUSE,
        "last": SEVEN,
        "n": _count(1),
        "all": [SEVEN],
    }


def test_json_without_matches_is_json_all_the_same() -> None:
    Path("events.jsonl").write_text("")
    assert json.loads(select("--format", "json").stdout)["results"]["bindings"] == []


def test_a_table_has_prefixed_names() -> None:
    lines = [line for line in select().stdout.splitlines() if "│" in line]
    assert [cell.strip() for cell in lines[0].strip("│").split("│")] == ["1", "3", ":h", "7", "1", "7"]


def test_dates_are_written_in_iso_8601() -> None:
    Path("select.spaseq").write_text(SELECT.replace("10 TICKS", "10 SECONDS"))
    dated = EVENTS
    for tick in (1, 3, 4):
        dated = dated.replace(f'"time": {tick},', f'"time": "2024-05-06T09:00:0{tick}.50+02:00",')
    Path("events.jsonl").write_text(dated)
    assert json.loads(select("--format", "jsonl").stdout.splitlines()[0])["end"] == "2024-05-06T07:00:03.5Z"
    assert select("--format", "csv").stdout.splitlines()[1].startswith("2024-05-06T07:00:01.5Z,2024-05-06T07:00:03.5Z,")
    json_start = json.loads(select("--format", "json").stdout)["results"]["bindings"][0]["start"]
    assert json_start == {"type": "literal", "value": "2024-05-06T07:00:01.5Z", "datatype": XSD + "dateTime"}


def test_a_column_that_collides_with_ours_gets_an_underscore() -> None:
    Path("select.spaseq").write_text(SELECT.replace("?n)", "?End)"))
    assert select("--format", "csv").stdout.splitlines()[0] == "start,end,x,last,End_,all"


@pytest.mark.parametrize("format", ["jsonl", "trig"])
def test_constructed_events_are_an_event_file(format: str) -> None:
    result = construct("--format", format)
    Path(f"made.{format}").write_text(result.stdout)
    (event,) = (event for event in read_events(f"made.{format}") if isinstance(event, thence.Event))
    assert (event.start, event.end) == (3, 3)
    assert event.id is not None
    assert event.id.startswith("urn:uuid:")
    assert sorted(triple.predicate.value for triple in event.triples) == [
        "http://example.org/became",
        "http://example.org/value",
    ]  # ?other is unbound: that triple is left out
    warning, counts = said(result).splitlines()  # BAD-4: `:other` is optional, and nothing has it
    assert warning.endswith("construct.spaseq:7:48: No event has the attribute :other. There were: :is, :value.")
    assert counts == "6 events, 1 match, 0 bad, 0 late"


def test_ttl_drops_the_times() -> None:
    text = construct("--format", "ttl").stdout
    assert "generatedAtTime" not in text
    assert text.count("\n") == 2


def test_what_is_made_is_the_same_each_time() -> None:
    assert construct("--format", "trig").stdout == construct("--format", "trig").stdout


def test_an_event_without_triples_is_not_made() -> None:
    Path("construct.spaseq").write_text(CONSTRUCT.replace("?x :became [ :value ?y ] .", ""))
    result = construct("--format", "jsonl")
    assert result.stdout == ""
    assert "0 matches" in result.stderr


def test_output_goes_to_a_file() -> None:
    result = select("--format", "jsonl", "--output", "out.jsonl")
    assert result.stdout == ""
    assert len(Path("out.jsonl").read_text().splitlines()) == 2


def test_bad_events_are_counted_and_written_on_request() -> None:
    with Path("events.jsonl").open("a") as file:
        file.write('{"time": "x", "graph": ""}\n')
        file.write('{"time": "2024-05-06T07:00:00Z", "graph": "<x:s> <x:p> <x:o> .", "id": "odd"}\n')
    result = select("--format", "csv", "--problems", "problems.jsonl")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 3
    first = "thence: warning: 2 of 5 events are bad or late\n"
    first += """the first of them: S1, odd: its time is a date, the query's are ticks\n"""
    assert said(result) == "3 events, 2 matches, 2 bad, 0 late\n" + first
    found = [json.loads(line) for line in Path("problems.jsonl").read_text().splitlines()]
    assert sorted(found, key=lambda row: row["event"]) == [
        {
            "problem": "bad",
            "reason": "its time is a date, the query's are ticks",
            "event": "odd",
            "stream": "S1",
            "graph": "<x:s> <x:p> <x:o> .\n",
        },
        {
            "problem": "bad",
            "reason": '"x" is not a time. Try: "2024-05-06T07:00:00Z"',
            "event": '{"time": "x", "graph": ""}',
            "stream": "S1",
            "line": 4,
        },
    ]


def test_the_first_bad_event_is_told_with_its_place_and_where_to_see_them_all() -> None:
    with Path("events.jsonl").open("a") as file:
        file.write('{"time": "x\\u001b[2J", "graph": ""}\n{"time": 1}\n')
    result = select("--format", "csv")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 3
    counts, many, first = said(result).splitlines()
    assert counts == "3 events, 2 matches, 2 bad, 0 late"
    assert many == "thence: warning: 2 of 5 events are bad or late"
    assert first.startswith('the first of them: S1, line 4: "x\\u001b[2J" is not a time.')
    assert first.endswith(". To see them all: --problems PATH")


def test_where_nothing_is_bad_the_file_of_problems_is_empty() -> None:
    assert "first of them" not in select("--problems", "problems.jsonl").stderr
    assert Path("problems.jsonl").read_text() == ""


def test_a_bad_event_before_a_wrong_file_leaves_no_half_output() -> None:
    Path("bad.jsonl").write_text("rubbish\n")
    Path("dates.jsonl").write_text('{"time": "2024-05-06T07:00:00Z", "graph": ""}\n')
    result = thence_("run", "select.spaseq", "--stream", "bad.jsonl", "--stream", "dates.jsonl", "--output", "out.csv")
    assert result.exit_code == 2
    assert not Path("out.csv").exists()


def test_a_file_that_is_no_gzip_file_is_refused_as_a_missing_one_is() -> None:
    Path("plain.nq.gz").write_text("<x:s> <x:p> <x:o> <x:g> .\n")
    result = thence_("run", "select.spaseq", "--stream", "plain.nq.gz")
    assert (result.exit_code, result.stdout) == (2, "")
    assert said(result) == (
        "thence: plain.nq.gz is not a gzip file, or a damaged one. Try: a name without .gz, if it is not packed\n"
    )


def test_a_gzip_file_that_breaks_off_is_told_of_beside_what_came_before() -> None:
    Path("cut.jsonl.gz").write_bytes(gzip.compress(EVENTS.encode())[:-9])
    result = thence_("run", "select.spaseq", "--stream", "cut.jsonl.gz", "--format", "csv")
    assert result.exit_code == 0
    assert "1 bad" in said(result)
    assert "ends in the middle of its gzipped data" in said(result)


def test_several_files_of_a_stream_are_merged() -> None:
    lines = EVENTS.splitlines(keepends=True)
    Path("one.jsonl").write_text(lines[2] + lines[0])
    with gzip.open("two.jsonl.gz", "wt") as packed:
        packed.write(lines[1])
    result = thence_(
        "run", "select.spaseq", "--stream", "one.jsonl", "--stream", "S1=two.jsonl.gz", "--format", "jsonl"
    )
    assert [json.loads(line)["end"] for line in result.stdout.splitlines()] == [3, 4]


def test_a_path_may_have_an_equals_sign() -> None:
    Path("a=b.jsonl").write_text(EVENTS)
    result = thence_("run", "select.spaseq", "--stream", "a=b.jsonl", "--format", "csv")
    assert len(result.stdout.splitlines()) == 3


def test_a_stream_may_be_given_by_its_iri() -> None:
    result = thence_("run", "select.spaseq", "--stream", "http://example.org/s1=events.jsonl", "--format", "csv")
    assert len(result.stdout.splitlines()) == 3


BACKGROUND = """PREFIX : <http://example.org/>
SELECT ?x ?owner FROM STREAM S1 <http://example.org/s1>
WHERE { SEQ (A) DEFINE GPM A ON S1 { ?x :is :a GRAPH :kb { ?x :owner ?owner } } }
"""


@pytest.mark.parametrize("background", ["kb.ttl", "http://example.org/kb=kb.ttl", "<http://example.org/kb>=k=b.ttl"])
def test_background_is_named_or_answers_for_every_graph(background: str) -> None:
    Path("select.spaseq").write_text(BACKGROUND)
    for name in ("kb.ttl", "k=b.ttl"):
        Path(name).write_text("@prefix : <http://example.org/> . :h :owner :ann .")
    assert select("--format", "csv", "--background", background).stdout == (
        "start,end,x,owner\n1,1,http://example.org/h,http://example.org/ann\n"
    )


# Nothing ends in a silent zero

PAYMENTS = "type,time,CUSTOMER_ID,TX_AMOUNT\nTX,1,7,10\nTX,2,7,20\nTX,3,8,5\n"


def payments(query: str, *arguments: str) -> Result:
    Path("payments.csv").write_text(PAYMENTS)
    Path("query.sase").write_text(query)
    chosen = ("--stream", "payments.csv", "--engine", "local", "--format", "csv")
    return thence_("run", "query.sase", *chosen, *arguments)


def test_a_name_that_the_schema_lacks_is_shown_with_its_place_and_the_nearest_name() -> None:
    """BAD-2."""
    result = payments("PATTERN SEQ(TX a, TX b)\nWHERE b.TX_AMOUNTT > 3 WITHIN 10 RETURN a.time")
    assert (result.exit_code, result.stdout) == (2, "")
    assert said(result).splitlines() == [
        "thence: query.sase:2:9: No stream has the attribute TX_AMOUNTT. Did you mean TX_AMOUNT? "
        "There are: CUSTOMER_ID, TX_AMOUNT.",
        "WHERE b.TX_AMOUNTT > 3 WITHIN 10 RETURN a.time",
        "        ^",
    ]


def test_a_run_without_a_match_says_how_far_partial_matches_came() -> None:
    query = "PATTERN SEQ(TX a, TX b) WHERE [CUSTOMER_ID] ^ b.TX_AMOUNT > a.TX_AMOUNT + 50 WITHIN 10 RETURN a.time"
    result = payments(query)
    assert result.exit_code == 0
    assert said(result).splitlines() == [
        "3 events, 0 matches, 0 bad, 0 late",
        "0 matches; 3 events could begin a, 2 of these met a b, 1 had the same CUSTOMER_ID, "
        "1 met it WITHIN 10 TICKS, none passed b.TX_AMOUNT > a.TX_AMOUNT + 50",
    ]
    assert said(payments(query.replace("+ 50", ""))) == "3 events, 1 match, 0 bad, 0 late\n"


def test_the_whole_funnel_is_shown_on_request() -> None:
    result = payments("PATTERN SEQ(TX a, TX b) WITHIN 10 RETURN a.time", "--funnel")
    counts = ["3  could begin a", "2  met a b", "2  met it WITHIN 10 TICKS"]
    assert said(result).splitlines() == ["3 events, 2 matches, 0 bad, 0 late", *counts]
    assert len(result.stdout.splitlines()) == 3


def test_a_type_that_no_event_has_is_named_with_those_there_were() -> None:
    """BAD-5."""
    warning, *_, last = said(payments("PATTERN SEQ(tx a, TX b) WITHIN 10 RETURN a.time")).splitlines()
    expected = "query.sase:1:13: No event has the type tx. Did you mean TX? There were: TX (3)."
    assert warning == f"thence: warning: {expected}"
    assert last == "0 matches; no event could begin a"


def test_a_funnel_is_for_what_has_one() -> None:
    Path("query.epsparql").write_text("SELECT ?a { ?a <x:p> ?b }")
    result = thence_("run", "query.epsparql", "--stream", "events.jsonl", "--engine", "local", "--funnel")
    assert result.exit_code == 2
    expected = "thence: --funnel is for SASE+ and SPAseQ, not for EP-SPARQL. Try: thence explain"
    assert said(result).splitlines()[-1] == expected


def test_a_file_of_nothing_but_bad_events_fails_with_the_first_reason() -> None:
    """BAD-8."""
    Path("bad.jsonl").write_text('{"time": "x", "graph": ""}\n' * 2)
    result = thence_(
        "run", "select.spaseq", "--stream", "bad.jsonl", "--engine", "local", "--problems", "problems.jsonl"
    )
    assert (result.exit_code, result.stdout) == (1, "")
    counts, reason = said(result).splitlines()
    assert counts == "0 events, 0 matches, 2 bad, 0 late"
    assert reason.startswith('thence: All 2 events of the stream S1 are bad. The first, S1, line 1: "x" is not a time.')
    assert len(Path("problems.jsonl").read_text().splitlines()) == 2


def test_a_background_under_another_name_than_the_querys_is_refused_with_both() -> None:
    """BAD-11: `--background kb=F`, and the query reads <http://example.org/kb>."""
    Path("select.spaseq").write_text(BACKGROUND)
    Path("kb.ttl").write_text("@prefix : <http://example.org/> . :h :owner :ann .")
    result = select("--background", "kb=kb.ttl")
    assert result.exit_code == 2
    assert "The query reads the graph <http://example.org/kb>, but no background data has it (it has: <kb>). " in said(
        result
    )
    assert "Did you mean it by <kb>? Supply it with" in said(result)
    Path("select.spaseq").write_text(SELECT)
    found = said(select("--background", "kb=kb.ttl", "--format", "csv"))
    assert found.startswith(
        "thence: warning: Nothing reads the graph <kb> of the background: the query reads no graph."
    )


def test_check_says_what_the_query_is() -> None:
    result = thence_("check", "select.spaseq")
    assert result.stdout == "select.spaseq: SPAseQ, reads S1, gives ?x ?last ?n ?all\n"
    assert thence_("check", "construct.spaseq").stdout.endswith("reads S1, S2, makes events\n")


@pytest.mark.parametrize("format", ["text", "mermaid", "svg", "json"])
def test_explain_prints_what_the_query_itself_says(format: str) -> None:
    result = thence_("explain", "select.spaseq", "--format", format)
    assert result.stdout == thence.parse(SELECT).explain(format) + "\n"
    assert result.exit_code == 0


def test_explain_takes_the_options_that_the_answers_depend_on() -> None:
    """RS-16, RS-57: a preset and a report policy change when a query is evaluated, and what it consumes."""
    events = "EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?x :q ?y } AS B"
    text = f"PREFIX : <http://example.org/> SELECT * FROM NAMED :s WIN AS :w {events} WHERE {{ MATCH {{ A SEQ B }} }}"
    Path("windows.rsepql").write_text(text)
    said = thence_("explain", "windows.rsepql", "--policy", "ep-sparql-recent", "--report", "times=5,10").stdout
    assert said == thence.parse(text).explain(policy="ep-sparql-recent", report=[5, 10]) + "\n"
    assert said != thence_("explain", "windows.rsepql").stdout


def test_order_names_columns_of_each_stream_by_which_events_of_one_time_follow_each_other() -> None:
    """C-9: without it 200 events are ties, and the command says so."""
    Path("next.sase").write_text(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.seq = 1 } WITHIN 9 RETURN b.seq AS n"
    )
    rows = [f"{kind},5,{number}" for number, kind in enumerate("BA" + 49 * "BBAB")]
    Path("ties.csv").write_text("\n".join(["type,time,seq", *rows]))
    call = ("run", "next.sase", "--stream", "ties.csv", "--format", "csv")
    for order in ("seq", "seq,line", "events.seq", "events.seq,line"):
        assert thence_(*call, "--order", order).stdout == "start,end,n\n5,5,2\n"
    result = thence_(*call)
    assert result.stdout == "start,end,n\n"
    assert said(result) == (
        "thence: warning: 198 of 198 events share their time with another, and of two such neither follows the other. "
        'Try: order="COLUMN", which orders events of one time\n198 events, 0 matches, 0 bad, 0 late\n'
        "0 matches; 50 events could begin a, 1 of these passed a.seq = 1, none met a b\n"
    )
    shown = thence_("explain", "next.sase", "--order", "seq").stdout
    assert "Order: events of one time in events follow each other by <http://example.org/seq>" in shown


def test_warnings_go_to_stderr_and_fail_nothing() -> None:
    Path("select.spaseq").write_text(SELECT.replace("WITHIN 10 TICKS", ""))
    result = thence_("check", "select.spaseq")
    assert result.exit_code == 0
    assert said(result) == (
        "thence: warning: select.spaseq:2:1: WITHIN is missing: the state grows with the stream. "
        "Try: WITHIN 10 MINUTES\n"
    )


def test_a_query_can_come_from_standard_input() -> None:
    result = CliRunner().invoke(main, ["check", "-"], input=SELECT)
    assert result.stdout == "-: SPAseQ, reads S1, gives ?x ?last ?n ?all\n"


WRONG = [
    (
        ["run", "select.spaseq", "--stream", "missing.jsonl"],
        "missing.jsonl: no such file",
    ),
    (["run", "missing.spaseq", "--stream", "events.jsonl"], "missing.spaseq: no such file"),
    (
        ["run", "construct.spaseq", "--stream", "S1=events.jsonl"],
        "No input is given for the stream S2. Try: --stream S2=PATH",
    ),
    (
        ["run", "construct.spaseq", "--stream", "SS1=events.jsonl"],
        'The query has no stream "SS1". Did you mean S1?',
    ),
    (
        ["run", "construct.spaseq", "--stream", "events.jsonl"],
        "The query reads 2 streams, so events.jsonl needs the name of one. Try: --stream S1=PATH --stream S2=PATH",
    ),
    (
        ["run", "select.spaseq", "--stream", "select.spaseq"],
        "select.spaseq: the ending is not that of an event file. Try: .nq, .trig, .jsonl, .ndjson, .json or .csv, "
        "or these with .gz, or .parquet",
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--format", "trig"],
        "SELECT gives rows, which trig can't hold. Try: --format jsonl, csv, tsv, json or table",
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--output", "out.xlsx"],
        "--output out.xlsx: the ending does not name a format. Try: .jsonl, .csv, .tsv, .json, .trig, .ttl or .txt; "
        "or --format table, jsonl, csv, tsv, json, trig or ttl",
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--watch"],
        "--watch is for Spark, not for one process. Try: --engine spark",
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--lateness", "soon"],
        '"soon" is not a duration. Try: 10 MINUTES, 10s, PT10M, 50 TICKS',
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--lateness", "10s"],
        "lateness is in dates, but WITHIN 10 TICKS is in ticks. A query has one kind of time.",
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--max-runs", "0"],
        "max_runs can't be 0. Try: max_runs=1_000_000",
    ),
    (
        ["run", "construct.spaseq", "--stream", "S1=a", "--stream", "S2=b", "--order", "S1.seq", "--order", "seq"],
        "The order of the stream S1 is given twice. Try: --order S1.COLUMN,COLUMN",
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--order", "seq,"],
        "order can't be {'S1': ['seq', '']}. "
        'Try: order="seq", order=("seq", "line"), or order={"trades": ("seq",)}',
    ),
    (
        ["run", "select.spaseq", "--stream", "events.jsonl", "--output", "no/such/folder"],
        "no/such/folder can't be written: No such file or directory",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=lambda value: str(value)[:60])
def test_a_wrong_call_is_one_sentence_and_status_2(call: list[str], message: str) -> None:
    result = thence_(*call)
    assert result.stderr == f"thence: {message}\n"
    assert result.stdout == ""
    assert result.exit_code == 2


def test_too_many_partial_matches_fail_while_running() -> None:
    Path("events.jsonl").write_text(EVENTS * 5)
    result = select("--max-runs", "3")
    assert result.exit_code == 1
    counts, error = said(result).splitlines()
    assert counts == "15 events, 0 matches, 0 bad, 0 late"
    assert error.startswith("thence: There are more than 3 partial matches at once.")
