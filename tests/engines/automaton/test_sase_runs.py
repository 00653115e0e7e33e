"""SASE+: what becomes of runs that nothing can continue, and what events of other keys do to a series."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from support.flows import flow_of, restart
from support.shards import Pipeline
from thence.columns.batches import encode
from thence.engines.automaton.memory import live_runs
from thence.engines.automaton.plan.sase import plan
from thence.engines.automaton.program import SequenceProgram
from thence.lang.sase.parser import parse
from thence.rdf.events import Event
from thence.rdf.terms import Literal

pytestmark = pytest.mark.numba


def program_of(text: str) -> SequenceProgram:
    (block,) = parse(text).queries[-1].blocks
    return plan(block)


@pytest.mark.parametrize(
    ("closure", "after"),
    [
        ("partition_contiguity(a[])", "skip_till_next_match(b)"),
        ("partition_contiguity(a[])", "skip_till_any_match(b)"),
        ("strict_contiguity(a[])", "skip_till_next_match(b)"),
        ("strict_contiguity(a[])", "partition_contiguity(b)"),
        ("skip_till_next_match(a[])", "skip_till_any_match(b)"),
        ("skip_till_next_match(a[]!)", "skip_till_any_match(b)"),
    ],
)
def test_a_closure_that_was_taken_on_is_dropped_by_the_next_event(closure: str, after: str) -> None:
    program = program_of(f"PATTERN SEQ(A+ a[], B b) WHERE {closure} {{ [k] }} ^ {after} {{ }} RETURN a.LEN")
    runner = flow_of(program)
    events = [Event(time, {"type": "A", "k": 1}) for time in range(2000)]
    assert list(runner.run({"events": [encode(events, stream="events")]})) == []
    assert live_runs(runner.hosts[0].state.memory) <= 2 * len(
        events
    )  # each event begins a run, and each of these goes on
    with_one = [Event(0, {"type": "A", "k": 1}), *(Event(t, {"type": "A", "k": 1, "x": t}) for t in range(1, 500))]
    alone = flow_of(
        program_of(f"PATTERN SEQ(A+ a[], B b) WHERE {closure} {{ [k] ^ a[1].x IS NULL }} ^ {after} {{ }} RETURN a.LEN")
    )
    list(alone.run({"events": [encode(with_one, stream="events")]}))
    assert live_runs(alone.hosts[0].state.memory) <= 2


@pytest.mark.parametrize("strategy", ["strict_contiguity", "partition_contiguity"])
def test_a_contiguous_series_that_must_be_absent_is_broken_by_events_of_other_keys(strategy: str) -> None:
    """In shards too: they must not go by what the series is not alike in."""
    query = f"""
        PATTERN SEQ(A a, ~(T+ b[]), C c)
        WHERE [x] ^ PARTITION BY (k) ^ {strategy}(b[]) {{ b.LEN = 2 }} RETURN a.x AS x
    """
    shown = [("A", 1), ("T", 1), ("T", 2), ("T", 1), ("C", 1)]
    events = [("events", Event(time, {"type": kind, "k": 1, "x": x})) for time, (kind, x) in enumerate(shown)]
    for shards in (1, 2, 3, 7):
        rows = Pipeline(program_of(query), events, shards).batch()
        assert len(rows) == 1, shards


@pytest.mark.parametrize(("k", "looks_back"), [(2, False), (64, False), (65, True)])
def test_the_kth_highest_of_numbers_is_known_without_looking_back_at_them(k: int, looks_back: bool) -> None:
    query = f"""
        PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[]!, b) {{ b.x >= highest({k}, a[].x) }}
        RETURN a.LEN AS n, highest({k}, a[].x) AS high, lowest({k}, a[].x) AS low
    """
    values = [7 * number % 100 for number in range(100)]
    events = [Event(time, {"type": "A", "x": x}) for time, x in enumerate([*values, 1000])]
    events[-1] = Event(100, {"type": "B", "x": 1000})
    runner = flow_of(program_of(query))
    found = [row.bindings for row in runner.run({"events": [encode(events, stream="events")]})]
    assert (runner.hosts[0].state.questions > 0) == looks_back
    shown = {name: cell.python for name, cell in found[0].items() if isinstance(cell, Literal)}
    assert shown == {"n": 100, "high": 100 - k, "low": k - 1}
    assert len(found) == 101 - k  # runs of fewer events have none


def test_the_time_of_an_event_hides_an_attribute_of_that_name() -> None:
    """SA-51: a whole IRI still names it."""
    events = [Event(1, {"type": "A", "k": 1}), Event(2, '[] a <http://example.org/A> ; <x:time> "noon" .')]
    runner = flow_of(program_of("PATTERN A a RETURN a.time AS t, a.end AS e, a.<x:time> AS x"))
    found = runner.run({"events": [encode(events, stream="events")]})
    told = [{name: term.value for name, term in row.bindings.items()} for row in found]  # type: ignore[union-attr]
    assert told == [{"t": "1", "e": "1"}, {"t": "2", "e": "2", "x": "noon"}]


@pytest.mark.parametrize("strategy", ["skip_till_next_match", "partition_contiguity"])
def test_a_state_with_times_among_its_keys_is_saved_and_loaded(strategy: str) -> None:
    program = program_of(f"PATTERN SEQ(A a, B b, ~C c) WHERE {strategy}(a, b) {{ [k] }} WITHIN 5 RETURN a.k AS k")
    runner = flow_of(program)
    noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
    rows: list[Any] = []
    for time, kind in enumerate("ABX"):
        batch = encode([Event(time, {"type": kind, "k": noon})], stream="events")
        rows += runner.feed({"events": [batch]}, time + 1)
        restart(runner)
    rows += runner.feed({}, 100)
    assert [row.bindings["k"].python for row in rows] == [noon]
