"""Pushing events: watermark, lateness, idle streams, problems, and what an engine lets go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import thence
from thence.runtime.results import Match, Problem

pytestmark = pytest.mark.numba

PAIR = """
    PREFIX : <http://example.org/>
    SELECT ?x ?y WITHIN {within}
    FROM STREAM S1 <http://example.org/s1>
    FROM STREAM S2 <http://example.org/s2>
    WHERE {{ SEQ (A ; B) DEFINE GPM A ON S1 {{ ?x :is :a }} DEFINE GPM B ON S2 {{ ?y :is :b }} }}
"""
ALONE = """
    PREFIX : <http://example.org/>
    SELECT ?x ?y WITHIN {within}
    FROM STREAM S1 <http://example.org/s1>
    WHERE {{ SEQ ({sequence}) DEFINE GPM A ON S1 {{ ?x :is :a }} DEFINE GPM B ON S1 {{ ?y :is :b }} }}
"""


def pair(within: str = "10 TICKS") -> thence.Query:
    return thence.parse(PAIR.format(within=within))


def alone(sequence: str = "A ; B", within: str = "10 TICKS", select: str = "?x ?y") -> thence.Query:
    return thence.parse(ALONE.format(within=within, sequence=sequence).replace("?x ?y", select))


def happened(time: object, kind: str, id: str | None = None) -> thence.Event:
    return thence.Event(
        time, f"<http://example.org/{kind}{time}> <http://example.org/is> <http://example.org/{kind}> .", id=id
    )


def comparable(found: list[Match | Problem]) -> list[tuple[object, ...]]:
    return [
        (each.start, each.end) if isinstance(each, Match) else (each.problem, each.stream, each.reason)
        for each in found
    ]


def test_a_row_comes_with_the_event_that_completes_it() -> None:
    engine = alone().engine()
    assert engine.push("S1", happened(1, "a")) == []
    assert comparable(engine.push("S1", happened(4, "b"))) == [(1, 4)]
    assert engine.close() == []


def test_a_query_over_one_stream_takes_an_event_without_its_streams_name() -> None:
    engine = alone().engine()
    assert engine.push(happened(1, "a")) == []
    assert comparable(engine.push(happened(4, "b"))) == [(1, 4)]


def test_a_stream_is_called_by_its_name_or_its_iri() -> None:
    engine = pair().engine()
    engine.push("S1", happened(1, "a"))
    engine.push("http://example.org/s2", happened(3, "b"))
    assert comparable(engine.close()) == [(1, 3)]


def test_events_wait_for_a_silent_stream() -> None:
    engine = pair().engine()
    engine.push("S2", happened(3, "b"))
    engine.push("S2", happened(5, "b"))
    assert comparable(engine.push("S1", happened(4, "a"))) == []
    assert comparable(engine.push("S1", happened(6, "x"))) == [(4, 5)]


def test_a_stream_that_idle_names_holds_nobody_back() -> None:
    engine = pair().engine(idle=["S2"])
    engine.push("S2", happened(3, "b"))
    assert comparable(engine.push("S1", happened(1, "a"))) == []
    assert comparable(engine.push("S1", happened(3, "x"))) == [(1, 3)]


def test_a_stream_that_is_silent_for_longer_than_idle_is_left_out() -> None:
    engine = pair().engine(idle="5 TICKS", problems=True)
    engine.push("S2", happened(2, "b"))
    engine.push("S1", happened(1, "a"))
    assert engine.watermark.now == 1
    assert comparable(engine.push("S1", happened(7, "x"))) == [(1, 2)]
    assert engine.watermark.now == 2
    engine.push("S1", happened(8, "x"))
    assert engine.watermark.now == 8
    assert comparable(engine.push("S2", happened(7, "b"))) == [
        ("late", "S2", "event time 7 is behind the watermark (8)")
    ]


@pytest.mark.parametrize(
    ("idle", "message"),
    [
        ("Power", 'The query has no stream "Power". Try: S1 or S2'),
        (["S3"], 'The query has no stream "S3". Try: S1 or S2'),
        (object, "idle can't be <class 'object'>. Try: idle=['S2'], or idle='10 MINUTES'"),
        ("10 MINUTES", "idle is in dates, but WITHIN 10 TICKS is in ticks. A query has one kind of time."),
        (timedelta(seconds=-1), "idle can't be negative"),
    ],
)
def test_a_wrong_idle_is_told(idle: object, message: str) -> None:
    with pytest.raises(thence.InputError) as caught:
        pair().engine(idle=idle)
    assert str(caught.value) == message


def test_idle_can_not_name_every_stream() -> None:
    with pytest.raises(thence.InputError, match="idle names every stream"):
        pair().engine(idle=["S1", "S2"])


def test_within_the_lateness_events_come_in_any_order() -> None:
    engine = alone().engine(lateness=3)
    assert engine.push(happened(4, "b")) == []
    assert engine.push(happened(1, "a")) == []
    assert comparable(engine.push(happened(7, "x"))) == [(1, 4)]
    assert engine.counts.late == 0


def test_an_event_behind_the_watermark_is_late_counted_and_told_on_request() -> None:
    engine = alone().engine(problems=True)
    engine.push(happened(5, "b"))
    event = happened(4, "a")
    (problem,) = engine.push(event)
    assert problem == Problem("late", "event time 4 is behind the watermark (5)", "S1", event=event)
    assert (engine.counts.events, engine.counts.late) == (1, 1)
    quiet = alone().engine()
    quiet.push(happened(5, "b"))
    assert quiet.push(happened(4, "a")) == []
    assert quiet.counts.late == 1


def test_an_event_at_the_watermarks_own_time_is_in_time() -> None:
    engine = alone("A & B").engine()
    assert engine.push(happened(5, "a")) == []
    assert comparable(engine.push(happened(5, "b"))) == [(5, 5)]
    assert engine.counts.late == 0


def test_advance_moves_time_where_no_event_does() -> None:
    engine = alone("A ; B!", select="?x").engine()
    engine.push(happened(1, "a"))
    assert engine.advance(11) == []  # a b at 11 would still be in the window
    assert comparable(engine.advance(12)) == [(1, 1)]
    assert engine.push(happened(3, "b")) == []
    assert engine.counts.late == 1


def test_time_does_not_go_back() -> None:
    engine = alone().engine()
    engine.advance(9)
    engine.advance(3)
    assert engine.watermark.now == 9


def test_close_ends_every_wait() -> None:
    engine = alone("A ; B!", select="?x").engine()
    engine.push(happened(1, "a"))
    assert comparable(engine.close()) == [(1, 1)]
    assert engine.close() == []
    with pytest.raises(thence.InputError, match="closed"):
        engine.push(happened(2, "a"))


def test_times_are_dates_where_the_events_have_dates() -> None:
    engine = alone(within="10 SECONDS").engine(lateness=timedelta(seconds=1))
    engine.push(happened("2024-05-06T07:00:00Z", "a"))
    engine.push(happened("2024-05-06T09:00:05+02:00", "b"))
    (match,) = engine.advance(datetime(2024, 5, 6, 7, 0, 6, tzinfo=UTC))
    assert isinstance(match, Match)
    assert match.start == datetime(2024, 5, 6, 7, 0, 0, tzinfo=UTC)
    assert match.end == datetime(2024, 5, 6, 7, 0, 5, tzinfo=UTC)


def test_an_event_with_a_time_of_another_kind_is_bad_and_the_engine_goes_on() -> None:
    engine = alone().engine(problems=True)
    engine.push(happened(1, "a"))
    event = thence.Event("2024-05-06T07:00:00Z", "")
    (problem,) = engine.push(event)
    assert problem == Problem("bad", "its time is a date, the query's are ticks", "S1", event=event)
    assert comparable(engine.push(happened(2, "b"))) == [(1, 2)]
    assert engine.counts.bad == 1


def test_a_window_of_another_kind_of_time_than_the_first_event_is_an_error() -> None:
    with pytest.raises(thence.InputError) as caught:
        alone(within="10 MINUTES").engine().push(happened(1, "a"))
    assert str(caught.value) == (
        "The times of stream S1 are ticks, but WITHIN 10 MINUTES is in dates: a query has one kind of time. "
        "Try: time_unit='s', if they count from 1970; or WITHIN … TICKS, for times that are plain integers"
    )


def test_a_lateness_of_another_kind_of_time_than_the_window_is_an_error() -> None:
    with pytest.raises(thence.InputError, match="lateness is in dates, but WITHIN 10 TICKS is in ticks"):
        alone().engine(lateness="10s")


def test_an_unknown_stream_is_told_with_the_one_that_was_meant() -> None:
    engine = pair().engine()
    with pytest.raises(thence.InputError) as caught:
        engine.push("s2", happened(1, "a"))
    assert str(caught.value) == 'The query has no stream "s2". Did you mean S2?'
    with pytest.raises(thence.InputError, match="name the event's"):
        engine.push(happened(1, "a"))
    with pytest.raises(thence.InputError, match=r"push\(\) needs an event"):
        engine.push("S1", "no event")  # type: ignore[arg-type]


def test_more_partial_matches_than_allowed_stop_the_engine_with_a_reason() -> None:
    engine = alone().engine(max_runs=3)
    for time in range(1, 4):
        engine.push(happened(time, "a"))
    with pytest.raises(thence.LimitError, match="more than 3 partial matches"):
        engine.push(happened(4, "a"))
    with pytest.raises(thence.InputError, match="this one has stopped"):
        engine.push(happened(9, "b"))


def test_the_events_of_a_match_are_the_objects_that_were_pushed() -> None:
    engine = alone().engine()
    first, last = thence.Event(1, {"type": "Reading"}, id="r1"), happened(3, "b")
    typed = thence.parse(
        "PREFIX : <http://example.org/> SELECT * FROM STREAM S <x:s> { SEQ (A) DEFINE GPM A ON S { ?x a :Reading } }"
    ).engine()
    (match,) = typed.push(first)
    assert isinstance(match, Match)
    assert match.events[0] is first
    engine.push(happened(1, "a"))
    (match,) = engine.push(last)
    assert isinstance(match, Match)
    assert [event.id for event in match.events] == ["S1:0", "S1:1"]
    assert match.events[1].triples == last.triples


def test_an_engine_lets_go_of_what_no_run_holds() -> None:
    engine = alone().engine()
    for time in range(1, 2000):
        found = engine.push(happened(time, "a" if time % 3 else "b", id=f"e{time}"))
        if time > 3 and time % 3 == 0:
            assert [match.event_ids for match in found if isinstance(match, Match)] == [
                (f"e{time - 2}", f"e{time}"),
                (f"e{time - 1}", f"e{time}"),
            ]
    assert len(engine.answers.flow.log.batches) < 600
    assert len(engine.answers.objects) < 2048


def test_an_event_that_asks_too_much_of_the_matcher_is_bad_and_the_engine_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("thence.match.hash_join.MAX_ROWS", 1000)
    pattern = "{ ?x <x:p> ?y . ?z <x:q> ?w . }"
    query = thence.parse(f"SELECT ?x WITHIN 9 TICKS FROM STREAM S <x:s> {{ SEQ (A) DEFINE GPM A ON S {pattern} }}")
    small = "<x:a> <x:p> 1 ; <x:q> 2 ."
    large = "".join(f"<x:a> <x:p> {i} ; <x:q> {i} ." for i in range(50))
    engine = query.engine(problems=True)
    found = [engine.push(thence.Event(time, graph)) for time, graph in enumerate([small, large, small])]
    assert [[type(each).__name__ for each in pushed] for pushed in found] == [["Match"], ["Problem"], ["Match"]]
    assert engine.counts.bad == 1
    matching = query.match([thence.Event(time, graph) for time, graph in enumerate([small, large, small])])
    assert len(list(matching)) == 2
    assert matching.counts.bad == 1
