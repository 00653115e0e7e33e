"""Events that last: a row's start is the start of its first event (C-22); order and windows go by ends (C-23)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from support.flows import flow_of, restart
from support.shards import Pipeline
from thence.cli import main
from thence.columns.batches import encode
from thence.engines.automaton.memory import NEVER
from thence.engines.automaton.plan.sase import plan as plan_components
from thence.engines.automaton.plan.spaseq import plan
from thence.interface.solutions import Row
from thence.lang.sase.parser import parse as parse_sase
from thence.rdf.values import literal
from thence.runtime.results import Match, Problem

pytestmark = pytest.mark.numba

QUERY = """
    PREFIX : <http://example.org/>
    {form} {within} FROM STREAM S <http://example.org/s>
    WHERE {{ SEQ ({sequence}) DEFINE GPM A ON S {{ ?x :is ?a }} DEFINE GPM B ON S {{ ?y :was ?b }} }}
"""


def text(sequence: str, form: str = "SELECT ?a ?b", within: str = "WITHIN 10 TICKS") -> str:
    return QUERY.format(form=form, within=within, sequence=sequence)


def a(start: int, end: int, value: int = 1) -> thence.Event:
    return thence.Event(start, f"<http://example.org/x> <http://example.org/is> {value} .", end, id=f"a{start}-{end}")


def b(start: int, end: int, value: int = 1) -> thence.Event:
    return thence.Event(start, f"<http://example.org/x> <http://example.org/was> {value} .", end, id=f"b{start}-{end}")


def times(found: Any) -> list[tuple[object, object]]:
    return [(match.start, match.end) for match in found if isinstance(match, Match)]


def test_a_rows_start_is_the_start_of_its_first_event() -> None:
    assert times(thence.parse(text("A ; B")).match([a(1, 5), b(4, 6)])) == [(1, 6)]


def test_a_rows_start_is_not_that_of_an_earlier_start_of_a_later_event() -> None:
    assert times(thence.parse(text("A ; B")).match([a(3, 5), b(1, 6)])) == [(3, 6)]


def test_windows_go_by_the_ends_of_events() -> None:
    query = thence.parse(text("A ; B", within="WITHIN 2 TICKS"))
    assert times(query.match([a(-20, 5), b(7, 7)])) == [(-20, 7)]
    assert times(query.match([a(-20, 5), b(6, 8)])) == []


def test_an_engine_gives_out_the_start_of_the_first_event() -> None:
    engine = thence.parse(text("A ; B")).engine()
    assert engine.push(a(1, 5)) == []
    assert times(engine.push(b(4, 6))) == [(1, 6)]


def test_a_conjunction_starts_with_the_event_that_fills_its_first_part() -> None:
    few_a, few_b = [a(2, 5), b(1, 5), b(3, 5)], [a(2, 5), a(3, 5), b(1, 5)]
    assert times(thence.parse(text("A & B")).match(few_a)) == [(2, 5), (2, 5)]
    assert times(thence.parse(text("B & A")).match(few_a)) == [(1, 5), (3, 5)]
    assert times(thence.parse(text("A & B")).match(few_b)) == [(2, 5), (3, 5)]
    assert times(thence.parse(text("B & A")).match(few_b)) == [(1, 5), (1, 5)]


def test_a_conjunction_starts_with_its_first_event_when_its_events_come_one_after_the_other() -> None:
    for first, second in ((a(2, 5), b(1, 5)), (b(1, 5), a(2, 5))):
        runner = flow_of(plan(thence.parse(text("A & B")).algebra))
        assert list(runner.feed({"S": [encode([first], stream="S")]}, 5)) == []
        restart(runner)
        (row,) = runner.feed({"S": [encode([second], stream="S", first=1)]}, 6)
        assert (row.start, row.end) == (2, 5)


def test_a_closure_starts_with_its_first_iteration() -> None:
    query = thence.parse(text("A+ ; B"))
    assert times(query.match([a(1, 2), a(0, 3), b(4, 4)])) == [(0, 4), (1, 4), (1, 4)]


def test_rows_are_in_the_order_of_their_ends_and_then_of_their_starts() -> None:
    query = thence.parse(text("A : B"))
    given = [a(3, 4, 1), a(1, 5, 2), a(2, 3, 3), b(6, 6)]
    assert times(query.match(given)) == [(1, 6), (2, 6), (3, 6)]
    table = query.match(given).table()
    assert table.column("start").to_pylist() == [1, 2, 3]
    assert table.column("a").to_pylist() == [2, 3, 1]


def test_a_table_of_many_rows_has_the_starts_of_their_first_events() -> None:
    query = thence.parse(text("A , B"))
    given = [each for n in range(3000) for each in (a(4 * n - n % 7, 4 * n + 1), b(4 * n + 2, 4 * n + 3))]
    table = query.match(given).table()
    assert table.column("start").to_pylist() == [4 * n - n % 7 for n in range(3000)]
    assert table.column("end").to_pylist() == [4 * n + 3 for n in range(3000)]


def test_a_row_that_waits_for_an_absence_starts_with_its_first_event() -> None:
    assert times(thence.parse(text("A ; B!", form="SELECT ?a")).match([a(1, 5), b(15, 16)])) == [(1, 5)]
    assert times(thence.parse(text("A ; B!", form="SELECT ?a")).match([a(1, 5), b(15, 15)])) == []


def test_matches_that_differ_in_the_start_of_their_first_event_alone_have_different_names() -> None:
    def names(start: int) -> list[object]:
        event = thence.Event(start, "<http://example.org/x> <http://example.org/is> 1 .", 5, id="e")
        return [match.id for match in thence.parse(text("A", form="SELECT ?a")).match([event])]  # type: ignore[union-attr]

    assert names(1) != names(2)


def test_a_constructed_event_is_a_point_in_time() -> None:
    query = thence.parse(text("A ; B", form="CONSTRUCT { ?x <http://example.org/c> ?b }"))
    (match,) = query.match([a(1, 5), b(4, 6)])
    assert isinstance(match, Match) and match.constructed is not None
    assert (match.start, match.end) == (1, 6)
    assert (match.constructed.start, match.constructed.end) == (6, 6)


def test_a_partial_match_times_out_by_the_end_of_its_first_event() -> None:
    (problem,) = thence.parse(text("A ; B")).match([a(-5, 3)], timed_out=True)
    assert isinstance(problem, Problem)
    assert problem.reason == "B did not arrive before the window ended (13)"


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "trig", "nq", "parquet"])
def test_files_of_all_formats_keep_the_starts_of_events(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"events.{suffix}"
    write(path)
    query = thence.parse("PATTERN SEQ(A a, B b) WITHIN 10 RETURN a.x AS x")
    assert times(query.match({"events": path})) == [(1, 6)]
    assert query.match({"events": path}).table().column("start").to_pylist() == [1]


def write(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rows = [{"type": "A", "time": 1, "end": 5, "x": 1}, {"type": "B", "time": 4, "end": 6, "x": 2}]
    x, prov = "http://example.org/", "http://www.w3.org/ns/prov#"
    quads = [
        quad
        for n, row in enumerate(rows)
        for quad in (
            f"<{x}s{n}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{x}{row['type']}> <{x}e{n}> .",
            f'<{x}s{n}> <{x}x> "{row["x"]}"^^<http://www.w3.org/2001/XMLSchema#integer> <{x}e{n}> .',
            f'<{x}e{n}> <{prov}startedAtTime> "{row["time"]}"^^<http://www.w3.org/2001/XMLSchema#integer> .',
            f'<{x}e{n}> <{prov}endedAtTime> "{row["end"]}"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        )
    ]
    match path.suffix:
        case ".csv":
            path.write_text("type,time,end,x\n" + "".join(f"{','.join(map(str, row.values()))}\n" for row in rows))
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".nq":
            path.write_text("\n".join(quads) + "\n")
        case ".trig":
            path.write_text("\n".join(_as_trig(quad) for quad in quads) + "\n")
        case _:
            parquet.write_table(pa.Table.from_pylist(rows), path)


def _as_trig(quad: str) -> str:
    *triple, graph, _ = quad.split(" ")
    return f"{graph} {{ {' '.join(triple)} }}" if len(triple) == 3 else quad


def test_the_command_line_writes_the_start_of_the_first_event(tmp_path: Path) -> None:
    query, stream = tmp_path / "q.sase", tmp_path / "events.csv"
    query.write_text("PATTERN SEQ(A a, B b) WITHIN 10 RETURN a.x AS x")
    write(stream)
    result = CliRunner().invoke(
        main, ["run", str(query), "--stream", str(stream), "--engine", "local", "--format", "jsonl"]
    )
    assert result.exit_code == 0, result.stderr
    row = json.loads(result.stdout)
    assert (row["start"], row["end"]) == (1, 6)


# SASE+


def sase(start: int, end: int, kind: str, **attributes: object) -> thence.Event:
    return thence.Event(start, {"type": kind, **attributes}, end)


def test_a_row_of_sase_starts_with_its_first_event() -> None:
    query = thence.parse("PATTERN SEQ(A+ a[], B b) WHERE a.LEN = 2 WITHIN 9 RETURN b.x AS x")
    given = [sase(1, 2, "A"), sase(0, 3, "A"), sase(4, 4, "B", x=1)]
    assert times(query.match({"events": given})) == [(1, 4)]


def test_an_absence_at_the_end_of_a_pattern_reaches_as_far_as_the_end_of_the_first_event_and_the_window() -> None:
    query = thence.parse("PATTERN SEQ(A a, ~B b) WITHIN 5 RETURN a.x AS x")
    first = sase(1, 5, "A", x=1)
    assert times(query.match({"events": [first, sase(10, 10, "B")]})) == []
    assert times(query.match({"events": [first, sase(10, 11, "B")]})) == [(1, 5)]


def aggregated(asked: str, *given: thence.Event) -> Row:
    """The row of AGGREGATE; the state is saved and restored after each time."""
    (block,) = parse_sase(asked).queries[-1].blocks
    runner, found = flow_of(plan_components(block)), list[Row]()
    for time in sorted({event.end for event in given}):
        batch = encode([event for event in given if event.end == time], stream="events")
        found += runner.feed({"events": [batch]}, time + 1)
        restart(runner)
    (row,) = [*found, *runner.feed({}, int(NEVER))]
    return row


COUNTED = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) {} AGGREGATE count(*) AS n"


def test_an_aggregate_starts_with_the_earliest_start_of_its_matches() -> None:
    row = aggregated(COUNTED, sase(3, 4, "A"), sase(1, 5, "A"), sase(6, 6, "B"))
    assert (row.start, row.end, row.bindings["n"]) == (1, 6, literal(3))


def test_an_aggregate_does_not_start_with_an_event_that_is_in_none_of_its_matches() -> None:
    """A run that begins at the time of a match's last event merges with a run that the match goes on from."""
    row = aggregated(COUNTED, sase(4, 4, "A"), sase(1, 5, "A"), sase(5, 5, "B"))
    assert (row.start, row.end) == (4, 5)


# As on Spark


@pytest.mark.parametrize("shards", [1, 3])
def test_starts_travel_to_shards_and_are_in_what_these_save(shards: int) -> None:
    events = [("S", each) for each in (a(1, 5), a(-2, 4), b(4, 6), a(2, 7), b(8, 8))]
    pipeline = Pipeline(plan(thence.parse(text("A : B")).algebra), events, shards)
    expected = {(-2, 6), (1, 6), (-2, 8), (1, 8), (2, 8)}
    assert {(row["start"], row["end"]) for row in pipeline.batch()} == expected
    found = pipeline.micro_batches([[1], [0], [2], [3], [4]])
    assert {(row["start"], row["end"]) for row in found} == expected
