"""Queries that feed each other: names, kinds of time, namespaces; and what the end of input may still make."""

from __future__ import annotations

import pickle

import pytest

import thence
from support.shards import Pipeline
from thence.engines.automaton.operator import AutomatonOperator
from thence.engines.automaton.plan.spaseq import plan

pytestmark = pytest.mark.numba

TEXT = "FROM STREAM {0} <x:{0}> {{ SEQ (A) DEFINE GPM A ON {0} {{ ?s <x:p> ?v }} }}"


def constructs(stream: str) -> thence.Query:
    return thence.parse("CONSTRUCT { ?s <x:p> ?v . ?s <x:q> 2 } " + TEXT.format(stream))


def selects(stream: str) -> thence.Query:
    return thence.parse("SELECT ?v " + TEXT.format(stream))


def test_a_query_reads_what_another_constructs() -> None:
    query = selects("D").reading({"D": constructs("S")})
    assert query.streams == ("S",)
    events = [thence.Event(1, "<x:s> <x:p> 7 .")]
    assert [match.bindings["v"].value for match in query.match({"S": events})] == ["7"]  # type: ignore[union-attr]
    engine = query.engine()
    assert len(engine.push("S", events[0])) == 1


def test_a_name_that_would_mean_two_streams_is_rejected() -> None:
    with pytest.raises(thence.InputError, match="Both queries have a stream S, but mean different streams"):
        selects("S").reading({"S": constructs("S")})
    with pytest.raises(thence.InputError, match="Both queries have a stream D"):
        selects("D").reading({"D": constructs("D").reading({"D": constructs("S")})})
    with pytest.raises(thence.InputError, match='The query has no stream "S"'):
        selects("D").reading({"D": constructs("S")}).reading({"S": constructs("T")})
    with pytest.raises(thence.InputError, match="cannot be fed by a query that emits rows"):
        selects("D").reading({"D": selects("S")})


def test_queries_that_feed_each_other_have_one_kind_of_time() -> None:
    seconds = thence.parse("CONSTRUCT { ?s <x:p> ?v } WITHIN 10 SECONDS " + TEXT.format("S"))
    ticks = thence.parse("SELECT ?v WITHIN 10 TICKS " + TEXT.format("D"))
    with pytest.raises(thence.InputError, match="a query has one kind of time"):
        ticks.reading({"D": seconds})
    with pytest.raises(thence.InputError, match="one kind of time"):
        list(selects("D").reading({"D": seconds}).match({"S": [thence.Event(1, "<x:s> <x:p> 7 .")]}))


def test_a_stage_waits_for_what_the_end_makes_two_stages_before_it() -> None:
    """The end of input makes an event at the time of the latest one; a chain of stages passes the delay on."""
    query = thence.parse("""
        FROM S PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]) { } RETURN (a.LEN AS n) AS B IN STREAM D;
        FROM D PATTERN B b RETURN (b.n AS n) AS C IN STREAM E;
        FROM S, E PATTERN SEQ(X x, C c) WITHIN 5 RETURN c.n AS n""")
    events = [thence.Event(5, {"type": "X"}) for _ in range(300)] + [thence.Event(10, {"type": "A"})]
    assert sum(1 for _ in query.match({"S": events})) == 300


def test_a_match_with_blank_nodes_has_one_id_in_one_process_and_in_a_shard() -> None:
    query = thence.parse("SELECT ?s ?v " + TEXT.format("S"))
    events = [thence.Event(time, f"_:b <x:p> {time} . _:c <x:p> 9 .", id=f"e{time}") for time in (1, 2)]
    here = sorted(match.id for match in query.match(events) if isinstance(match, thence.Match))
    pipeline = Pipeline(plan(query.algebra), [("S", event) for event in events], 2)  # type: ignore[arg-type]
    assert isinstance(pipeline.stage.operator, AutomatonOperator)
    there = sorted(str(row["match_id"]) for row in pipeline.batch())
    assert here == there
    assert len(set(here)) == 4


def test_a_pickled_match_carries_its_own_events_alone() -> None:
    events = [thence.Event(time, f"<x:s> <x:p> {time} .") for time in range(5000)]
    match = next(iter(selects("S").match(events)))
    saved = pickle.dumps(match)
    assert len(saved) < 10_000
    read = pickle.loads(saved)
    assert (read.id, read.bindings, read.event_ids) == (match.id, match.bindings, match.event_ids)
