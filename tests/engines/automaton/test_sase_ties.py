"""SASE+: events of one time are alternatives (SA-7, SA-8), in whatever order they stand at their source: every small
stream, for every two strategies of a closure and what follows it."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

import thence
from oracle.sase import rows
from oracle.sase_notation import read as notation
from oracle.sase_query import Event
from support.flows import flow_of
from support.sase_runs import encoded, read
from thence.engines.automaton.plan.sase import plan

pytestmark = pytest.mark.numba

STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
INSTANTS = ("A", "B", "X", "AB", "BA", "AX", "XB")

CUT_BEFORE_ANY = """
    PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[]!) { } ^ skip_till_any_match(b) { } RETURN 1 AS x
"""


@pytest.mark.parametrize("tied", ["b2 a2", "a2 b2"])
def test_a_closure_that_was_cut_off_takes_no_event_at_the_time_of_another_that_follows_it(tied: str) -> None:
    """SA-18, SA-19: a closure stopped once has stopped."""
    listed = [("a1", 1), ("b1", 2), *((name, 3) for name in tied.split()), ("b3", 4)]
    events = [thence.Event(time, {"type": name[0].upper()}, id=name) for name, time in listed]
    found = {" ".join(match.event_ids) for match in thence.parse(CUT_BEFORE_ANY).match(events)}
    assert found == {"a1 b1", "a1 b2", "a1 b3", "a2 b3"}


@pytest.mark.parametrize("after", STRATEGIES)
@pytest.mark.parametrize("closure", STRATEGIES)
@pytest.mark.parametrize("bang", ["", "!"])
def test_every_small_stream_gives_the_matches_of_the_definitions(closure: str, bang: str, after: str) -> None:
    """Streams of four instants that begin with A, each with a key of its own, one after the other: so the engine takes
    them all at once. The event between two of them has no key."""
    query = notation(f"A+ a[], B b WHERE {closure}(a[]{bang}) {{ [k] }} AND {after}(b) {{ }} RETURN b.k AS k")
    given, expected = list[Event](), Counter[tuple[str, ...]]()
    for key, instants in enumerate(product("A", *[INSTANTS] * 3)):
        begin = 5 * key
        events = [
            Event(kind, begin + time, (("k", key),), f"{key} {time} {place}")
            for time, kinds in enumerate(instants)
            for place, kind in enumerate(kinds)
        ]
        events.append(Event("X", begin + 4, (), f"{key} end"))
        expected.update(sum(row.ids, ()) for row in rows(query, events))
        given += events
    for optimise in (True, False):
        runner = flow_of(plan(read(query), optimise=optimise))
        assert Counter(tuple(runner.ids(row)) for row in runner.run({"events": [encoded(given)]})) == expected
