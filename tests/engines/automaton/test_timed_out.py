"""Partial matches whose window ended while they waited, reported on request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given

import thence
from strategies.spaseq import Case, cases, text
from support.flows import flow_of
from support.spaseq_runs import background, batches_of
from thence.cli import main
from thence.engines.automaton.plan.spaseq import plan
from thence.lang.spaseq.parser import parse
from thence.runtime.host import TimedOut
from thence.runtime.results import Match, Problem

pytestmark = pytest.mark.numba

QUERY = """
    PREFIX : <http://example.org/>
    SELECT * WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    {{ SEQ ({sequence}) DEFINE GPM A ON S {{ ?x :is ?a }} DEFINE GPM B ON S {{ ?x :was ?b }}
       DEFINE GPM C ON S {{ ?x :will ?c }} }}
"""


def event(time: int, graph: str) -> thence.Event:
    return thence.Event(time, f"@prefix : <http://example.org/> . {graph}", id=f"e{time}")


def comparable(found: Any) -> list[tuple[list[str | None], str]]:
    return [([each.id for each in p.events], p.reason) for p in found if isinstance(p, Problem)]


def match(sequence: str, *events: thence.Event, **options: Any) -> list[Any]:
    return list(thence.parse(QUERY.format(sequence=sequence)).match(list(events), timed_out=True, **options))


def test_a_run_that_is_never_continued_is_told_with_what_it_waited_for() -> None:
    found = match("A ; B ; C", event(1, ":h :is 1 ."), event(3, ":h :was 2 ."), event(30, ":h :will 3 ."))
    assert comparable(found) == [(["e1", "e3"], "C did not arrive before the window ended (11)")]
    (problem,) = found
    assert (problem.problem, problem.stream, problem.event.id) == ("timed_out", "S", "e3")
    assert {name: str(term.value) for name, term in problem.bindings.items()} == {
        "x": "http://example.org/h",
        "a": "1",
        "b": "2",
    }


def test_what_it_had_is_told_whether_it_is_selected_or_not() -> None:
    query = thence.parse(QUERY.format(sequence="A ; B").replace("SELECT *", "SELECT ?x"))
    (problem,) = query.match([event(1, ":h :is 1 .")], timed_out=True)
    assert sorted(problem.bindings) == ["a", "x"]  # type: ignore[union-attr]


def test_a_run_that_is_continued_is_not_told() -> None:
    found = match("A ; B", event(1, ":h :is 1 ."), event(3, ":h :was 2 ."), event(30, ":h :is 9 ."))
    assert [type(each) for each in found] == [Match, Problem]
    assert comparable(found) == [(["e30"], "B did not arrive before the window ended (40)")]


def test_skip_till_any_that_found_something_is_not_told() -> None:
    found = match("A : B", event(1, ":h :is 1 ."), event(3, ":h :was 2 ."), event(4, ":g :was 2 ."))
    assert comparable(found) == []


def test_a_closure_that_could_go_on_misses_nothing() -> None:
    found = match("A , B+", event(1, ":h :is 1 ."), event(3, ":h :was 2 ."))
    assert comparable(found) == []


def test_strict_contiguity_is_broken_and_does_not_time_out() -> None:
    found = match("A , B", event(1, ":h :is 1 ."), event(3, ":h :will 2 ."), event(4, ":h :was 2 ."))
    assert comparable(found) == []


def test_the_engine_tells_them_when_time_has_passed() -> None:
    engine = thence.parse(QUERY.format(sequence="A ; B")).engine(timed_out=True)
    assert engine.push(event(1, ":h :is 1 .")) == []
    assert engine.advance(11) == []
    assert comparable(engine.advance(12)) == [(["e1"], "B did not arrive before the window ended (11)")]
    assert engine.counts.timed_out == 1
    assert engine.close() == []


def test_nothing_is_told_unless_it_is_asked_for() -> None:
    query = thence.parse(QUERY.format(sequence="A ; B"))
    assert list(query.match([event(1, ":h :is 1 .")], problems=True)) == []


def test_the_command_line_writes_them(tmp_path: Path) -> None:
    query, stream, problems = tmp_path / "q.spaseq", tmp_path / "s.jsonl", tmp_path / "p.jsonl"
    query.write_text(QUERY.format(sequence="A ; B"))
    stream.write_text('{"time": 1, "id": "e1", "graph": "<http://example.org/h> <http://example.org/is> 1 ."}\n')
    called = ["run", str(query), "--stream", str(stream), "--timed-out", "--problems", str(problems)]
    result = CliRunner().invoke(main, [*called, "--engine", "local"])
    assert result.exit_code == 0
    assert "1 timed out" in result.stderr
    line = json.loads(problems.read_text())
    assert (line["problem"], line["events"], line["bindings"]["a"]["value"]) == ("timed_out", ["e1"], "1")


@given(cases())
def test_what_times_out_does_not_depend_on_the_optimiser_and_changes_no_match(case: Case) -> None:
    query, streams, known = parse(text(case.query)), batches_of(case), background(case)
    plain = [(row.start, row.end, row.refs) for row in flow_of(plan(query), known).run(streams)]
    outcomes: list[tuple[list[Any], list[Any]]] = []
    for optimise in (True, False):
        runner = flow_of(plan(query, optimise=optimise, partial=True), known, keeps_expired=True)
        rows = [(row.start, row.end, row.refs) for row in runner.run(streams)]
        outcomes.append((sorted(rows), sorted(map(_shown, runner.timed_out))))
    assert outcomes[0][0] == outcomes[1][0] == sorted(plain)
    assert outcomes[0][1] == outcomes[1][1]


def _shown(found: TimedOut) -> tuple[int, int, int, tuple[int, ...], str, str]:
    row = found.row
    return row.certain, row.end, row.start, row.refs, found.reason, repr(sorted(row.bindings.items()))
