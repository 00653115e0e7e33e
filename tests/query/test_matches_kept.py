"""A match says the same whenever it is asked: its terms and events are made late, and the query has gone on by then."""

from __future__ import annotations

import pickle

import pytest

import thence
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

QUERY = thence.parse(
    """PREFIX : <http://example.org/>
    SELECT ?house ?first ?second WITHIN 20 TICKS FROM STREAM S <http://example.org/s> {
      SEQ (A ; B)
      DEFINE GPM A ON S { ?house :power ?first }
      DEFINE GPM B ON S { ?house :power ?second FILTER(?second > ?first) }
    }"""
)
EVENTS = [thence.Event(i, {"type": "T", "subject": f"house{i // 3}", "power": i % 3}) for i in range(300)]


def comparable(match: object) -> tuple[object, ...]:
    assert isinstance(match, Match)
    return match.start, match.end, dict(match.bindings), match.events, match.event_ids, match.id


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms that nothing holds any more are dropped, and others numbered anew, after every few events."""
    monkeypatch.setattr("thence.engines.automaton.step._FEW", 2)
    monkeypatch.setattr("thence.engines.automaton.step._FEW_TERMS", 2)


@pytest.mark.usefixtures("forgetful")
def test_a_match_that_is_read_late_says_what_it_said_at_once() -> None:
    soon, late = QUERY.engine(), QUERY.engine()
    first_terms = late.answers.flow.hosts[0].state.terms
    at_once = [comparable(match) for event in EVENTS for match in soon.push(event)]
    kept = [match for event in EVENTS for match in late.push(event)]
    assert late.answers.flow.hosts[0].state.terms is not first_terms
    assert [comparable(match) for match in kept] == at_once
    assert len(kept) == 200


def test_matches_are_equal_where_they_say_the_same() -> None:
    one, other = (list(QUERY.match({"S": EVENTS})) for _ in range(2))
    assert one == other
    assert len(set(one) | set(other)) == len(one)
    assert one[0] != one[1]


def test_a_match_shows_what_it_binds() -> None:
    match = next(iter(QUERY.match({"S": EVENTS})))
    assert repr(match).startswith("Match(bindings={'house': IRI(value='http://example.org/house0'), 'first': ")


def test_the_objects_that_events_came_as_are_those_of_the_match() -> None:
    events = [thence.Event(i, {"type": "T", "subject": "h", "power": i}, id=f"x:{i}") for i in range(2)]
    (match,) = QUERY.match({"S": events})
    assert isinstance(match, Match)
    assert [each is given for each, given in zip(match.events, events, strict=True)] == [True, True]
    assert match.events is match.events


def test_a_match_can_be_sent_elsewhere() -> None:
    match = next(iter(QUERY.match({"S": EVENTS})))
    assert comparable(pickle.loads(pickle.dumps(match))) == comparable(match)
