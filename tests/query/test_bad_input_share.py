"""Many bad events are a warning, a stream of nothing but bad ones is an error (BAD-8)."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from thence.errors import AllBadError, ThenceWarning
from thence.rdf.events import BadEvent
from thence.runtime.results import Problem

pytestmark = pytest.mark.numba

QUERY = thence.parse("FROM S PATTERN T a RETURN a.x")
TWO = thence.parse("FROM S, R PATTERN SEQ(T a, T b) WITHIN 10 RETURN a.x")


def events(good: int, bad: int) -> list[thence.Event | BadEvent]:
    found: list[thence.Event | BadEvent] = [thence.Event(time, {"type": "T", "x": time}) for time in range(good)]
    return found + [BadEvent("S", line, "it is rubbish.", "rubbish") for line in range(bad)]


@pytest.mark.parametrize("table", [False, True])
def test_more_than_a_hundredth_of_bad_events_is_a_warning_with_the_first_reason(table: bool) -> None:
    matching = QUERY.match(events(98, 1))
    with pytest.warns(ThenceWarning, match=r"1 of 99 events are bad or late\. The first, S, line 0: it is rubbish\.$"):
        assert len(matching.table() if table else list(matching)) == 98


def test_a_hundredth_of_bad_events_is_none() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(QUERY.match(events(99, 1)))) == 99
        assert len(list(QUERY.match(events(9, 1), problems=True))) == 10  # who asks for all of them has seen them


@pytest.mark.parametrize("table", [False, True])
def test_a_stream_of_bad_events_alone_is_an_error_with_the_first_reason(table: bool) -> None:
    for query, given in ((QUERY, events(0, 2)), (TWO, {"S": events(0, 2), "R": events(3, 0)})):
        matching = query.match(given)
        with pytest.raises(AllBadError, match=r"^All 2 events of the stream S are bad\. The first, S, line 0: it is"):
            matching.table() if table else list(matching)
    assert issubclass(AllBadError, thence.InputError)


def test_the_problems_come_before_the_error() -> None:
    matching = QUERY.match(events(0, 1), problems=True)
    found = iter(matching)
    assert isinstance(next(found), Problem)
    with pytest.raises(AllBadError, match="The only event of the stream S is bad"):
        next(found)


def test_a_stream_without_events_is_no_error() -> None:
    assert len(list(TWO.match({"S": [], "R": events(3, 0)}))) == 2


def test_events_that_extraction_refuses_are_bad_too() -> None:
    """Two values of one attribute."""
    twice = thence.Event(1, "@prefix : <http://example.org/> . :s a :T ; :x 1, 2 .")
    with pytest.raises(AllBadError, match="it has two values for x"):
        list(QUERY.match([twice]))


def test_parquet_in_the_order_of_time_is_judged_too(tmp_path: Path) -> None:
    """It is not held, but read as it is needed."""
    columns = {"type": pa.array([None, None], pa.string()), "time": [1, 2], "x": [1, 2]}
    parquet.write_table(pa.table(columns), tmp_path / "bad.parquet")
    matching = QUERY.match(tmp_path / "bad.parquet")
    with pytest.raises(AllBadError, match='a typed event needs a "type"'):
        list(matching)
