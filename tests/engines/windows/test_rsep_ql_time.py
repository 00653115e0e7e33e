"""RSEP-QL: the kind of time before the first event, what is due in push, quiet gaps, and what the state keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest
from click.testing import CliRunner

import thence
from support.rsep_ql_figure import PREFIX, count, counted, event, happened
from thence.cli import main
from thence.engines.windows import state
from thence.engines.windows.evaluation import Evaluation
from thence.errors import InputError

pytestmark = pytest.mark.numba

SECONDS = "FROM NAMED :S WIN [RANGE 10s] AS :w"
SEVEN = "2024-05-06T07:00:00Z"
OPTIONAL_WINDOW = "WHERE { OPTIONAL { WINDOW :w { ?x :p ?y } } }"


def values(found: Any, name: str) -> list[str]:
    return [match.bindings[name].value for match in found]


# The kind of time before the first event (C-32)


def test_c_32_now_is_a_date_without_any_event_if_a_length_is_in_seconds() -> None:
    query = thence.parse(f"{PREFIX} SELECT (NOW() AS ?t) {SECONDS} REPORT AT {SEVEN} {OPTIONAL_WINDOW}")
    assert values(query.match([]), "t") == [SEVEN]
    assert values(query.engine().close(), "t") == [SEVEN]


def test_c_32_a_versioned_background_is_read_before_the_first_event() -> None:
    limits = ox.Store()
    versions = f""":v {{ :hall :limit 19 }} :v prov:generatedAtTime "{SEVEN}"^^xsd:dateTime ."""
    prefixes = "PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
    limits.load(f"{PREFIX}{prefixes}{versions}".encode(), format=ox.RdfFormat.TRIG)
    text = f"SELECT ?l FROM :limits {SECONDS} REPORT AT {SEVEN} WHERE {{ :hall :limit ?l }}"
    found = thence.parse(PREFIX + text).match([], background={"http://example.org/limits": limits})
    assert values(found, "l") == ["19"]


def test_c_32_a_timestamp_column_fixes_the_kind_of_time_without_a_row(tmp_path: Path) -> None:
    types = {"type": pa.string(), "time": pa.timestamp("us", "UTC"), "v": pa.int64()}
    pq.write_table(pa.table({name: pa.array([], kind) for name, kind in types.items()}), tmp_path / "s.parquet")
    query = thence.parse(f"{PREFIX} SELECT ?v FROM NAMED :S WIN [] AS :w WHERE {{ WINDOW :w {{ ?x :v ?v }} }}")
    assert query.match(tmp_path / "s.parquet").table().schema.field("start").type == pa.timestamp("us", "UTC")


def test_c_32_advance_fixes_the_kind_of_time() -> None:
    query = thence.parse(
        f"{PREFIX} SELECT (NOW() AS ?t) FROM NAMED :S WIN [] AS :w REPORT ON CONTENT {OPTIONAL_WINDOW}"
    )
    engine = query.engine()
    assert engine.advance(SEVEN) == []
    with pytest.raises(InputError, match="The times of stream S are ticks, but advance is in dates"):
        engine.push(event(3, ":a :p 1"))
    with pytest.raises(InputError, match="The engine can't advance to 3: its time is a tick, the query's are dates"):
        engine.advance(3)


LENGTHS = {
    "spaseq": """SELECT ?x WITHIN 10 MINUTES FROM STREAM S <http://example.org/S>
        WHERE { SEQ (A) DEFINE GPM A ON S { ?x :p ?y } }""",
    "sase+": "PATTERN SEQ(A a, B b) WITHIN 10 minutes RETURN a.x",
    "ep-sparql": """SELECT ?x WHERE { ?x :p ?y } SEQ { ?x :q ?z }
        FILTER(getDURATION() < "PT10M"^^<http://www.w3.org/2001/XMLSchema#duration>)""",
    "rsep-ql": "SELECT ?x FROM NAMED :S WIN [RANGE 10m] AS :w WHERE { WINDOW :w { ?x :p ?y } }",
    "tef-sparql": "SELECT ?x WITHIN 10 MINUTES WHERE ?x :p ?y SEQ ?x :q ?z",
}


@pytest.mark.parametrize("language", LENGTHS)
def test_c_32_a_length_fixes_the_kind_of_time_in_every_language(language: str) -> None:
    text = LENGTHS[language]
    engine = thence.parse(text if language == "sase+" else PREFIX + text, language=language).engine()
    with pytest.raises(InputError, match="The engine can't advance to 3: its time is a tick, the query's are dates"):
        engine.advance(3)


# What is due in push (RS-14)


def test_rs_14_an_event_that_still_waits_has_been_seen() -> None:
    engine = count("[RANGE 10 SLIDE 2]", lateness=3)
    assert counted(engine.push(happened(2))) == []
    assert counted(engine.push(happened(11))) == ["2 1", "4 1", "6 1"]
    assert counted(engine.close()) == ["8 1", "10 1", "12 1"]


def test_rs_14_a_waiting_event_of_a_stream_that_is_not_declared_asks_for_nothing() -> None:
    """Of two queries, the second reads what the first constructs: its windows close by these events alone."""
    made = thence.parse(
        f"{PREFIX} CONSTRUCT {{ ?x :n ?y }} FROM NAMED :S WIN [NOW] AS :w WHERE {{ WINDOW :w {{ ?x :m ?y }} }}"
    )
    query = thence.parse(
        PREFIX + "SELECT (COUNT(*) AS ?n) FROM NAMED :D WIN [RANGE 4 SLIDE 2] AS :w WHERE { WINDOW :w { ?x :n ?y } }"
    )
    pushed = query.reading({"D": made}).engine(lateness=3)
    found = [each for time, text in ((2, ":s :m 1"), (11, ":s :o 1")) for each in pushed.push(event(time, text))]
    assert counted(found + pushed.close()) == ["2 1"]


# Quiet gaps (RS-23)

COUNTED = (
    "SELECT ISTREAM (COUNT(*) AS ?n) FROM NAMED :S WIN [RANGE {} SLIDE 1] AS :w WHERE {{ WINDOW :w {{ ?x :p ?y }} }}"
)
FAR = 1_000_000_000


def gap(query: str, **options: Any) -> list[str]:
    return counted(thence.parse(PREFIX + query).match([event(1, ":a :p 1"), event(FAR, ":b :p 1")], **options))


def test_rs_23_istream_skips_a_quiet_gap_in_which_the_answer_has_rows() -> None:
    """0 is an answer, too: it is new when the window becomes empty."""
    assert gap(COUNTED.format(3)) == ["1 1", "4 0", f"{FAR} 1"]


def test_rs_23_dstream_skips_a_quiet_gap_too() -> None:
    assert gap(COUNTED.format(3).replace("ISTREAM", "DSTREAM")) == ["4 1", f"{FAR} 0"]


def test_rs_23_rstream_skips_a_gap_in_which_the_answer_is_empty() -> None:
    text = COUNTED.format(3).replace("ISTREAM (COUNT(*) AS ?n)", "(?y AS ?n)")
    assert gap(text) == ["1 1", "2 1", "3 1", f"{FAR} 1"]


def test_rs_23_an_event_in_a_window_for_long_is_no_change() -> None:
    assert gap(COUNTED.format(FAR)) == ["1 1", f"{FAR} 2"]


@pytest.mark.parametrize(
    "where",
    [
        "WINDOW :w { ?x :p ?n FILTER(?n < NOW()) }",
        "WINDOW :w { ?x :p ?n OPTIONAL { ?x :q ?z } } FILTER(NOW() > 0)",
        "{ SELECT ?n { MATCH { E } } } BIND(NOW() AS ?now) FILTER(?now > 0)",
        "{ WINDOW :w { ?x :p ?n } } UNION { WINDOW :w { ?x :q ?n } FILTER(NOW() < 0) }",
    ],
)
def test_rs_23_a_quiet_gap_without_events_is_skipped_whatever_the_time_is(where: str) -> None:
    """No NOW() gives an empty window a row; where it holds an event, NOW() may."""
    read = "FROM NAMED :S WIN [RANGE 3 SLIDE 1] AS :w EVENT ON :w { ?x :p ?n } AS E"
    assert gap(f"SELECT DISTINCT ?n {read} WHERE {{ {where} }}")[-1:] == [f"{FAR} 1"]


def test_rs_23_an_answer_that_only_time_brings_is_not_skipped() -> None:
    read = "FROM NAMED :S WIN [RANGE 3 SLIDE 1] AS :w"
    events = [event(1, ":a :p 1"), event(30, ":a :p 1")]
    for where in (
        "{ WINDOW :w { ?x :p 2 } } UNION { FILTER(NOW() = 20) }",
        "OPTIONAL { WINDOW :w { ?x :p 2 } } FILTER(NOW() = 20)",
        "WINDOW :w { :a :none* :a } FILTER(NOW() = 20)",
        "{ SELECT (COUNT(*) AS ?m) { WINDOW :w { ?x :p 2 } } } FILTER(NOW() = 20)",
    ):
        query = thence.parse(f"{PREFIX} SELECT ISTREAM (NOW() AS ?n) {read} WHERE {{ {where} }}")
        assert counted(query.match(events)) == ["20 20"], where


def test_rs_23_push_skips_a_quiet_gap() -> None:
    engine = thence.parse(PREFIX + COUNTED.format(3)).engine()
    assert counted(engine.push(event(1, ":a :p 1"))) == []
    assert counted(engine.push(event(FAR, ":b :p 1"))) == ["1 1", "4 0"]
    assert counted(engine.close()) == [f"{FAR} 1"]


def test_rs_23_rows_that_repeat_are_a_warning_once() -> None:
    query = thence.parse(PREFIX + COUNTED.format(3).replace("ISTREAM ", ""))
    events = [event(time, ":a :p 1") for time in (1, 20, 40)]
    with pytest.warns(UserWarning, match="More than max_steps=5 evaluations in a row have emitted rows") as warned:
        assert len(list(query.match(events, max_steps=5))) == 40
    assert len(warned) == 1
    assert len(list(query.match(events, max_steps=30))) == 40  # no 30 in a row


def test_rs_23_the_command_prints_the_warning_as_one_line(tmp_path: Path) -> None:
    query, stream = tmp_path / "q.rsepql", tmp_path / "s.jsonl"
    query.write_text(PREFIX + COUNTED.format(3).replace("ISTREAM ", ""))
    stream.write_text('{"type": "T", "time": 1}\n{"type": "T", "time": 40}\n')
    arguments = ["run", str(query), "--stream", f"S={stream}", "--engine", "local", "--max-steps", "5"]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    (line,) = [line for line in found.stderr.splitlines() if "max_steps" in line]
    assert line.startswith("thence: warning: More than max_steps=5 evaluations in a row have emitted rows")


# What the state keeps


@pytest.mark.parametrize("policy", ["RECENT", "CHRONOLOGICAL"])
@pytest.mark.parametrize("window", ["[]", "[RANGE 4]"])
def test_consumed_events_are_dropped_in_push(monkeypatch: pytest.MonkeyPatch, policy: str, window: str) -> None:
    """RS-46: no MATCH sees them any more, so the state stays flat, even where the window holds them for ever."""
    monkeypatch.setattr(state, "_FEW_ROWS", 8)
    text = f"""SELECT ?x ?z FROM NAMED :S WIN {window} AS :w EVENT ON :w {{ :a :p ?x }} AS A
        EVENT ON :w {{ :a :q ?z }} AS B WHERE {{ MATCH {{ A SEQ {policy} B }} }}"""
    engine = thence.parse(PREFIX + text).engine()
    (host,) = engine.answers.flow.hosts
    found = []
    for time in range(200):
        found += engine.push(event(time, f":a :{'pq'[time % 2]} {time}"))
        assert sum(map(len, host.state.logs)) + sum(map(len, host.state.consumed)) < 50
    assert len(found + engine.close()) == 100


@pytest.mark.parametrize("policy", ["RECENT", "CHRONOLOGICAL"])
def test_consumed_events_are_dropped_within_a_batch(monkeypatch: pytest.MonkeyPatch, policy: str) -> None:
    """RS-46: all events come at once, and no evaluation still reads more than a few that were consumed."""
    monkeypatch.setattr(state, "_FEW_ROWS", 8)
    consumed, emitted = [], Evaluation.emitted

    def watched(evaluation: Evaluation) -> Any:
        consumed.append(sum(map(len, evaluation.state.consumed)))
        return emitted(evaluation)

    monkeypatch.setattr(Evaluation, "emitted", watched)
    text = f"""SELECT ?x ?z FROM NAMED :S WIN [] AS :w EVENT ON :w {{ :a :p ?x }} AS A
        EVENT ON :w {{ :a :q ?z }} AS B WHERE {{ MATCH {{ A SEQ {policy} B }} }}"""
    events = [event(time, f":a :{'pq'[time % 2]} {time}") for time in range(200)]
    found = list(thence.parse(PREFIX + text).match(events))
    assert values(found, "x") == [str(time) for time in range(0, 200, 2)]
    assert values(found, "z") == [str(time) for time in range(1, 200, 2)]
    assert len(consumed) == 200 and max(consumed) < 10


def test_an_event_that_another_match_still_sees_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_FEW_ROWS", 2)
    text = """SELECT ?x ?z ?u FROM NAMED :S WIN [] AS :w REPORT AT 3, 6, 20 EVENT ON :w { :a :p ?x } AS A
        EVENT ON :w { :a :q ?z } AS B WHERE { MATCH { A SEQ B } OPTIONAL { MATCH { A SEQ RECENT B } BIND(1 AS ?u) } }"""
    engine = thence.parse(PREFIX + text).engine()
    pushed = [each for time in range(8) for each in engine.push(event(time, f":a :{'pq'[time % 2]} {time}"))]
    assert len([each for each in pushed + engine.close() if each.end == 20]) == 10  # A at 0, 2, 4, 6 before B later
