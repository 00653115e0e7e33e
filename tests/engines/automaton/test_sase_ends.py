"""SASE+: the end of finite input and `close()` stop every run of a last closure (SA-21); its match is certain at the
latest input event (SA-22), whichever stream or shard that is in."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import thence
from support.flows import flow_of, restart
from support.shards import Pipeline
from thence.columns.batches import encode
from thence.engines.automaton.plan.sase import plan
from thence.engines.automaton.program import SequenceProgram
from thence.lang.sase.parser import parse
from thence.rdf.times import LAST_TIME
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

STRICT = "PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]) { } RETURN a.LEN AS n"
PARTED = "PATTERN SEQ(A+ a[]) WHERE partition_contiguity(a[]) { [k] } RETURN a[1].k AS k, a.LEN AS n"

Comparable = tuple[str, int]
"""The ids of a match's events, and when it was certain."""


def event(id: str, time: int, **attributes: int) -> thence.Event:
    return thence.Event(time, {"type": id[0].upper(), **attributes}, id=id)


def comparable(found: Iterable[object]) -> list[Comparable]:
    return [(" ".join(match.event_ids), match.certain) for match in found if isinstance(match, Match)]


def program_of(text: str) -> SequenceProgram:
    (block,) = parse(text).blocks
    return plan(block)


def test_the_end_of_finite_input_stops_a_last_closure() -> None:
    events = [event("a1", 1), event("a2", 2)]
    query = thence.parse(STRICT)
    assert comparable(query.match(events)) == [("a1 a2", 2), ("a2", 2)]
    assert comparable(query.match(events, optimise=False)) == [("a1 a2", 2), ("a2", 2)]
    assert query.match(events).table()["n"].to_pylist() == [2, 1]
    assert comparable(query.match([*events, event("b1", 4)])) == [("a1 a2", 4), ("a2", 4)]  # which stops it
    assert comparable(query.match([])) == []


def test_so_does_close() -> None:
    engine = thence.parse(STRICT).engine()
    assert engine.push(event("a1", 1)) == engine.push(event("a2", 2)) == []
    assert comparable(engine.close()) == [("a1 a2", 2), ("a2", 2)]
    assert engine.close() == []


def test_a_match_is_certain_at_the_latest_event_however_far_the_watermark_has_come() -> None:
    engine = thence.parse(STRICT).engine(lateness=1)
    assert engine.push(event("a2", 2)) == engine.push(event("a1", 1)) == engine.advance(50) == []
    engine.push(event("a3", 9))
    assert engine.counts.late == 1  # an event that is late takes no part
    assert comparable(engine.close()) == [("a1 a2", 2), ("a2", 2)]


def test_with_a_window_it_is_certain_at_the_windows_end() -> None:
    events = [event("a1", 1), event("a2", 2)]
    query = thence.parse(STRICT.replace("RETURN", "WITHIN 5 RETURN"))
    assert comparable(query.match(events)) == [("a1 a2", 6), ("a2", 7)]


def test_a_run_that_an_event_has_stopped_is_not_given_again() -> None:
    events = [event("a1", 1), event("b1", 2), event("a2", 3)]
    assert comparable(thence.parse(STRICT).match(events)) == [("a1", 2), ("a2", 3)]


def test_the_latest_time_that_an_event_can_have_is_one_as_any_other() -> None:
    last = LAST_TIME
    query = thence.parse(STRICT)
    assert comparable(query.match([event("a1", 1), event("a2", last)])) == [("a1 a2", last), ("a2", last)]
    assert comparable(query.match([event("a1", 1), event("b1", last)])) == [("a1", last)]


def test_rows_of_finite_input_are_in_order_though_the_end_completes_some() -> None:
    """Those that an event completes, and those that the end does, are certain at the same time."""
    events = [event("a1", 1, k=1), event("a2", 2, k=2), event("b1", 3, k=2)]
    assert comparable(thence.parse(PARTED).match(events)) == [("a1", 3), ("a2", 3)]


def test_a_closure_that_is_not_the_last_gives_nothing_at_the_end() -> None:
    query = thence.parse("PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity(a[], b) { } RETURN a.LEN AS n")
    assert comparable(query.match([event("a1", 1), event("a2", 2)])) == []


def test_the_latest_event_may_be_in_another_stream() -> None:
    query = thence.parse("FROM S, T " + PARTED)
    streams = {"S": [event("a1", 1, k=1), event("a2", 2, k=1)], "T": [event("b1", 5, k=2), event("x", 7)]}
    expected = [("a1 a2", 7), ("a2", 7)]
    assert comparable(query.match(streams)) == expected
    engine = query.engine()
    for name, events in streams.items():
        for each in events:
            assert engine.push(name, each) == []
    assert comparable(engine.close()) == expected


@pytest.mark.parametrize("shards", [1, 2, 7])
def test_the_latest_event_may_be_in_another_shard(shards: int) -> None:
    given = [*(event(f"a{k}", k, k=k) for k in range(1, 9)), event("b1", 20, k=1), event("x", 30)]
    expected = {("a1", 20), *((f"a{k}", 30) for k in range(2, 9))}
    events = [("events", each) for each in given]
    pipeline = Pipeline(program_of(PARTED), events, shards)
    assert {(" ".join(row["events"]), row["certain"]) for row in pipeline.batch()} == expected  # type: ignore[call-overload]
    # a stream has no end: nothing is given, and nothing lost
    found = pipeline.micro_batches([range(5), range(5, 10)])
    assert {(" ".join(row["events"]), row["certain"]) for row in found} == {("a1", 20)}  # type: ignore[call-overload]


def test_totals_have_the_matches_that_the_end_completes() -> None:
    total = "AGGREGATE count(*) AS n, sum(a[].x) AS sum BY k"
    text = PARTED.partition("RETURN")[0] + total
    given = [event("a1", 1, k=1, x=1), event("a2", 2, k=1, x=2), event("a3", 2, k=2, x=4), event("b1", 9, k=2)]
    expected = {(1, 2, 1 + 2 + 2), (2, 1, 4)}  # a1 a2, a2; a3

    def cells(found: Iterable[Match | thence.Problem]) -> set[tuple[object, ...]]:
        return {
            tuple(match.bindings[name].python for name in ("k", "n", "sum"))  # type: ignore[union-attr]
            for match in found
            if isinstance(match, Match)
        }

    query = thence.parse(text)
    assert cells(query.match(given)) == cells(query.match(given, optimise=False)) == expected
    for shards in (1, 3):
        rows = Pipeline(query.dataflow().stages[0].program, [("events", each) for each in given], shards).batch()
        found = {tuple(int(row[name]["value"]) for name in ("k", "n", "sum")) for row in rows}  # type: ignore[index]
        assert found == expected


MADE = """
    PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]) { } RETURN (a.LEN AS n) AS R IN STREAM made;
    FROM made PATTERN R r RETURN r.n AS n, r.time AS time
"""


def test_what_the_end_makes_has_the_time_of_the_latest_event() -> None:
    found = thence.parse(MADE).match([event("a1", 1), event("a2", 4)])
    assert sorted((m.bindings["n"].python, m.start) for m in found) == [(1, 4), (2, 4)]  # type: ignore[union-attr]


def test_of_all_streams_of_the_text_the_latest_event_counts() -> None:
    """So that what the end makes is not before what others have read."""
    query = thence.parse("""
        FROM S PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]) { } RETURN (a.LEN AS n) AS R IN STREAM made;
        FROM made, T PATTERN SEQ(B b, R r) WHERE strict_contiguity(b, r) { } RETURN r.time AS time""")
    streams = {"S": [event("a1", 1)], "T": [event("b1", 5), event("b2", 6), event("x", 7)]}
    assert [(match.start, match.end) for match in query.match(streams)] == [(6, 7)]  # type: ignore[union-attr]
    streams["T"].pop()
    assert [(match.start, match.end) for match in query.match(streams)] == [(5, 6)]  # type: ignore[union-attr]


@pytest.mark.parametrize("pushed", [False, True])
def test_a_query_waits_for_what_the_end_may_make(pushed: bool) -> None:
    """However far the watermark has come, the end may make an event at the time of the latest one."""
    query = thence.parse("""
        PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]) { } RETURN (a.LEN AS n) AS R IN STREAM made;
        FROM events, made PATTERN SEQ(A a, ~R r) WITHIN 1 RETURN a.time AS time""")
    events = [event("a1", 1), event("a2", 2), event("a3", 3)]
    if pushed:
        engine, found = query.engine(), list[object]()
        for each in events:
            found += engine.push(each)
        found += engine.advance(50)
        found += engine.close()
    else:
        found = [*query.match(events)]
    assert comparable(found) == [("a1", 2), ("a3", 4)]


def test_a_state_saved_and_loaded_knows_the_latest_event() -> None:
    runner = flow_of(program_of(PARTED))
    batch = encode([event("a1", 1, k=1), event("b1", 8, k=2)], stream="events")
    assert list(runner.feed({"events": [batch]}, 9)) == []
    restart(runner)
    assert [row.certain for row in runner.feed({}, 2**63 - 1)] == [8]


def test_what_others_make_meanwhile_waits_for_it_too() -> None:
    """The window's end makes W at 4 once the watermark is there; the end of the input then makes R at 3."""
    query = thence.parse("""
        PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]) { } RETURN (a.LEN AS n) AS R IN STREAM ended;
        PATTERN SEQ(A a, ~C c) WITHIN 1 RETURN (a.time AS n) AS W IN STREAM passed;
        FROM ended, passed PATTERN SEQ(R r, W w) WHERE strict_contiguity(r, w) { } RETURN r.n AS r, w.n AS w""")
    events = [event("a1", 2), event("a2", 3)]
    expected = [(3, 4, 1, 3), (3, 4, 2, 3)]

    def rows(found: Iterable[object]) -> list[tuple[object, ...]]:
        matches = [match for match in found if isinstance(match, Match)]
        return sorted((m.start, m.end, *(m.bindings[name].python for name in "rw")) for m in matches)  # type: ignore[union-attr]

    assert rows(query.match(events)) == expected
    engine = query.engine()
    assert [engine.push(each) for each in events] == [[], []]
    assert engine.advance(50) == []
    assert rows(engine.close()) == expected
