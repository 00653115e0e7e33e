"""A step over many rows is evaluated in pieces: the same rows, in the order of time."""

from __future__ import annotations

import pytest

import thence
from thence.columns.batches import encode
from thence.engines.temporal import state as temporal_state
from thence.engines.temporal.evaluation import NetworkRun
from thence.interface.operator import NEVER
from thence.local.flow import LocalFlow
from thence.query.languages import CompileOptions
from thence.rdf.events import Event

pytestmark = pytest.mark.numba

EX = "http://example.org/"


def rows(text: str, events: list[Event]) -> list[tuple[int, int]]:
    """The starts and ends of a query's rows, from one step."""
    flow = LocalFlow(thence.parse(f"PREFIX : <{EX}> {text}", language="ep-sparql").dataflow(CompileOptions()))
    (stream,) = flow.dataflow.streams
    return [(row.start, row.end) for row in flow.feed({stream.name: [encode(events)]}, NEVER)]


def test_rows_of_a_union_come_in_the_order_of_time_over_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """EP-28, EP-42: each arm has its rows of a piece, the first one's before the second one's."""
    monkeypatch.setattr(temporal_state, "_PIECE", 8)
    events = [Event(0, f"<{EX}a> <{EX}p> 1 .")]
    events += [Event(time, f"<{EX}a> <{EX}p> 1 ; <{EX}q> 1 .") for time in range(1, 20)]
    found = rows("SELECT * WHERE { { :a :p ?x } UNION { :a :q ?x } }", events)
    assert found == [(0, 0), *((time, time) for time in range(1, 20) for _ in range(2))]


def test_pieces_of_any_size_give_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """They grow while solutions are few, and shrink where they are many."""
    text = "SELECT * WHERE { ?s :p ?x } SEQ { ?s :p ?y } SEQ { ?s :p ?z } FILTER(getDURATION() < 7 && ?x < ?z)"
    events = [Event(time // 2, f"<{EX}{time % 3}> <{EX}p> {time * 7 % 11} .") for time in range(60)]
    expected = rows(text, events)
    assert len(expected) > 50
    monkeypatch.setattr(temporal_state, "_PIECE", 6)
    monkeypatch.setattr(temporal_state, "_LARGEST_PIECE", 24)
    pieces: list[int] = []
    evict = NetworkRun.evict
    monkeypatch.setattr(NetworkRun, "evict", lambda self, closed: (pieces.append(closed), evict(self, closed)))
    counts = []
    for few, many in ((0, 0), (20, 30), (1000, 1000)):
        monkeypatch.setattr(temporal_state, "_FEW_SOLUTIONS", few)
        monkeypatch.setattr(temporal_state, "_MANY_SOLUTIONS", many)
        pieces.clear()
        assert rows(text, events) == expected
        counts.append(len(pieces))
    assert counts == sorted(counts, reverse=True) and len(set(counts)) == 3
