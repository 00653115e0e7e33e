"""`query.match`: what streams may be, and what comes out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import thence
from thence.columns.batches import encode
from thence.rdf.events import BadEvent
from thence.rdf.terms import IRI, BlankNode
from thence.runtime.results import Match, Problem

pytestmark = pytest.mark.numba

QUERY = """
    PREFIX : <http://example.org/>
    {form} {within}
    FROM STREAM S1 <http://example.org/s1>
    {second}
    WHERE {{ SEQ ({sequence}) DEFINE GPM A ON S1 {{ ?x :is ?a }} DEFINE GPM B ON {on} {{ ?y :was ?b }} }}
"""


def one(sequence: str = "A ; B", form: str = "SELECT *", within: str = "WITHIN 10 TICKS") -> thence.Query:
    return thence.parse(QUERY.format(form=form, within=within, second="", sequence=sequence, on="S1"))


def two(sequence: str = "A ; B") -> thence.Query:
    second = "FROM STREAM S2 <http://example.org/s2>"
    return thence.parse(
        QUERY.format(form="SELECT *", within="WITHIN 10 TICKS", second=second, sequence=sequence, on="S2")
    )


def event(time: object, graph: str, **options: Any) -> thence.Event:
    return thence.Event(time, f"@prefix : <http://example.org/> . {graph}", **options)


A, B = event(1, ":h :is 1 ."), event(3, ":h :was 2 .")
FILE = """@prefix : <http://example.org/> .
@prefix prov: <http://www.w3.org/ns/prov#> .
:e1 { :h :is 1 . } :e1 prov:generatedAtTime 1 .
:e2 { :h :was 2 . } :e2 prov:generatedAtTime 3 .
"""


def times(found: Any) -> list[tuple[object, object]]:
    return [(match.start, match.end) for match in found]


def test_a_query_over_one_stream_takes_it_bare_by_name_or_by_iri(tmp_path: Path) -> None:
    path = tmp_path / "events.trig"
    path.write_text(FILE)
    given: list[Any] = [
        [A, B],
        iter([B, A]),
        encode([A, B]),
        [encode([A]), encode([B], first=1)],
        path,
        str(path),
        [path],
        {"S1": [A, B]},
        {"http://example.org/s1": [A, B]},
        {IRI("http://example.org/s1"): path},
    ]
    for streams in given:
        assert times(one().match(streams)) == [(1, 3)]


def test_files_and_events_can_be_mixed(tmp_path: Path) -> None:
    path = tmp_path / "events.trig"
    path.write_text(FILE)
    assert times(one().match([path, [event(5, ":k :was 1 .")]])) == [(1, 3)]
    assert times(one("A : B").match([path, [event(5, ":k :was 1 .")]])) == [(1, 3), (1, 5)]


def test_blank_nodes_of_two_files_are_never_the_same(tmp_path: Path) -> None:
    line = '{"time": 1, "graph": "_:x <http://example.org/is> 1 ."}\n'
    for name, time in (("a", 1), ("b", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.jsonl").write_text(line.replace("1,", f"{time},", 1))
    query = thence.parse(
        "PREFIX : <http://example.org/> SELECT * WITHIN 9 TICKS FROM STREAM S <x:s> "
        "{ SEQ (A ; B) DEFINE GPM A ON S { ?x :is ?a } DEFINE GPM B ON S { ?x :is ?a } }"
    )
    assert list(query.match([tmp_path / "a" / "events.jsonl", tmp_path / "b" / "events.jsonl"])) == []


WRONG: list[tuple[Any, str]] = [
    ([A], 'The query reads 2 streams, so each needs its name. Try: {"S1": …, "S2": …}'),
    ({"S1": [A]}, 'No input is given for the stream S2. Try: "S2": PATH'),
    ({"S1": [A], "S3": [B]}, 'The query has no stream "S3". Try: S1 or S2'),
    ({"S1": [A], "S22": [B]}, 'The query has no stream "S22". Did you mean S2?'),
    (
        {"S1": [A], "http://example.org/s1": [B]},
        "The stream S1 is given twice, by its name and by its IRI. Try: a list of both",
    ),
    ({"S1": [A], "S2": "missing.nq"}, "missing.nq: no such file"),
    (
        {"S1": [A], "S2": 7},
        "The stream S2 can't be read from int. Try: a path, a DataFrame of pandas, Polars or Arrow, or an iterable of "
        "dicts or of thence.Event",
    ),
    (
        {"S1": [A], "S2": {"time": 1}},
        "The stream S2 can't be read from dict. Try: a path, a DataFrame of pandas, Polars or Arrow, or an iterable of "
        "dicts or of thence.Event",
    ),
]


@pytest.mark.parametrize(("streams", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_streams_are_told_at_once(streams: Any, message: str) -> None:
    with pytest.raises(thence.InputError) as caught:
        two().match(streams)
    assert str(caught.value) == message


def test_what_is_no_event_is_told_when_it_is_read() -> None:
    with pytest.raises(thence.InputError, match="'x' in the stream S1 is not an event"):
        list(one().match(iter([A, "x"])))


def test_a_match_has_its_times_bindings_and_events() -> None:
    (match,) = one().match([A, B])
    assert isinstance(match, Match)
    assert (match.start, match.end, match.certain) == (1, 3, 3)
    assert match.bindings["x"] == IRI("http://example.org/h")
    assert {name: cell.python for name, cell in match.bindings.items() if not isinstance(cell, tuple)} == {
        "x": "http://example.org/h",
        "y": "http://example.org/h",
        "a": 1,
        "b": 2,
    }
    assert match.event_ids == ("S1:0", "S1:1")
    assert [found.triples for found in match.events] == [A.triples, B.triples]


def test_times_are_dates_where_events_have_dates() -> None:
    moments = [datetime(2024, 5, 6, 7, 0, second, tzinfo=UTC) for second in (0, 5)]
    events = [event(moments[0], ":h :is 1 ."), event(moments[1], ":h :was 2 .")]
    assert times(one(within="WITHIN 5 SECONDS").match(events)) == [tuple(moments)]
    assert times(one(within="WITHIN 4 SECONDS").match(events)) == []


def test_a_date_that_python_can_not_hold_is_told_and_stays_a_number() -> None:
    events = [event("12024-05-06T07:00:00Z", ":h :is 1 ."), event("12024-05-06T07:00:05Z", ":h :was 2 .")]
    (match,) = one(within="WITHIN 5 SECONDS").match(events)
    assert isinstance(match, Match)
    assert match.times[1] - match.times[0] == 5_000_000
    with pytest.raises(thence.InputError, match="12024-05-06T07:00:05Z"):
        match.end  # noqa: B018


def test_nothing_in_finite_streams_is_late() -> None:
    assert times(one().match([B, A], lateness=0)) == [(1, 3)]


def test_problems_come_among_the_matches_on_request() -> None:
    bad = BadEvent("S1", 7, "no time", "x")
    odd = event("2024-05-06T07:00:00Z", ":h :is 1 .")
    found = one().match([A, bad, odd, B], problems=True)
    problems = [each for each in found if isinstance(each, Problem)]
    assert problems == [
        Problem("bad", "no time", "S1", line=7, text="x"),
        Problem("bad", "its time is a date, the query's are ticks", "S1", event=odd),
    ]
    quiet = one().match([A, bad, odd, B])
    assert times(quiet) == [(1, 3)]
    assert (quiet.counts.events, quiet.counts.matches, quiet.counts.bad) == (2, 1, 2)


def test_a_constructed_event_has_the_time_at_which_its_row_was_certain() -> None:
    query = one("A ; B!", form="CONSTRUCT { ?x :alone [] }")
    (match,) = query.match([A])
    assert isinstance(match, Match)
    made = match.constructed
    assert made is not None
    assert (match.end, made.start, made.end) == (1, 11, 11)
    assert isinstance(made.triples[0].object, BlankNode)


def test_blank_nodes_of_constructed_events_are_fresh_in_each_and_the_same_each_time() -> None:
    query = one("A : B", form="CONSTRUCT { ?x :became [ :value ?b ] }")
    events = [A, B, event(4, ":h :was 2 .")]
    first, second = (made(match) for match in query.match(events))
    assert first != second
    assert [first, second] == [made(match) for match in query.match(events)]


def made(match: Match | Problem) -> tuple[Any, ...]:
    assert isinstance(match, Match)
    assert match.constructed is not None
    return match.constructed.triples


def test_what_is_constructed_can_be_the_stream_of_another_query() -> None:
    first = one("A ; B", form="CONSTRUCT { ?x :is ?b }")
    events = [match.constructed for match in first.match([A, B]) if isinstance(match, Match)]
    second = thence.parse(
        "PREFIX : <http://example.org/> SELECT * FROM STREAM S <x:s> { SEQ (A) DEFINE GPM A ON S { ?x :is ?a } }"
    )
    assert times(second.match(events)) == [(3, 3)]


def test_too_many_partial_matches_are_a_limit_error() -> None:
    with pytest.raises(thence.LimitError, match="more than 2 partial matches"):
        list(one().match([event(time, ":h :is 1 .") for time in range(5)], max_runs=2))
    with pytest.raises(thence.InputError, match="max_runs can't be 0"):
        one().match([A], max_runs=0)


def test_optimising_changes_no_answer() -> None:
    assert list(one().match([A, B], optimise=False)) == list(one().match([A, B]))


def test_a_query_can_be_matched_many_times() -> None:
    query = one()
    assert times(query.match([A, B])) == times(query.match([A, B])) == [(1, 3)]


def test_streams_without_events_give_nothing() -> None:
    assert list(two().match({"S1": [], "S2": iter(())})) == []


def test_matches_are_equal_if_their_events_places_and_bindings_are() -> None:
    query, events = one("A : B"), [A, B, event(4, ":h :was 2 .", id="other"), event(4, ":h :was 2 .", id="third")]
    assert len(set(query.match(events))) == 3
    assert set(query.match(events)) == set(query.match(events))


def test_an_absence_in_a_window_as_long_as_time_is_certain_at_the_end() -> None:
    query = one("A ; B!", form="SELECT ?a", within=f"WITHIN {2**63 - 1} TICKS")
    assert times(query.match([A])) == [(1, 1)]
    assert times(query.match([A, B])) == []
