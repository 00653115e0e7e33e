"""Streams in the order of time: made of anything and cut anywhere, every event comes once, and none too early."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.columns.batches import EventBatch, encode
from thence.local import flow as time_order
from thence.local.flow import OutOfOrderError, check_order, in_time_order, merge_streams, sort_stream
from thence.rdf.events import Event
from thence.rdf.times import MAX_TIME, MIN_TIME

Streams = dict[str, list[list[int]]]

times = st.integers(0, 8) | st.sampled_from([MIN_TIME, MAX_TIME])
streams = st.dictionaries(st.sampled_from("ABC"), st.lists(st.lists(times, max_size=5), max_size=4))


def batches(listed: list[list[int]]) -> list[EventBatch]:
    return [encode([Event(time, "") for time in some]) for some in listed]


def in_order(listed: list[list[int]]) -> list[list[int]]:
    """The same times in as many batches of as many events, in order."""
    ordered = iter(sorted(time for some in listed for time in some))
    return [[next(ordered) for _ in some] for some in listed]


def check(given: Streams, found: list[tuple[dict[str, list[EventBatch]], int]]) -> None:
    come: dict[str, list[int]] = {name: [] for name in given}
    before = MIN_TIME
    for some, upto in found:
        for name, listed in some.items():
            for batch in listed:
                assert len(batch) and batch.ends.tolist() == sorted(batch.ends.tolist())
                assert int(batch.ends[0]) >= before and (int(batch.ends[-1]) < upto or upto == MAX_TIME)
                come[name] += batch.ends.tolist()
        before = upto
    assert [upto == MAX_TIME for _, upto in found] == [False] * (len(found) - 1) + [True]
    latest = max((time for listed in come.values() for time in listed), default=None)
    assert latest in (None, *(int(batch.ends[-1]) for listed in found[-1][0].values() for batch in listed))
    assert {name: sorted(listed) for name, listed in come.items()} == {
        name: sorted(time for some in listed for time in some) for name, listed in given.items()
    }


@given(streams, st.integers(1, 4))
def test_streams_in_any_order_come_in_the_order_of_time(given: Streams, together: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_order, "MOST", together)
        check(given, list(in_time_order({name: batches(listed) for name, listed in given.items()})))


@given(streams, st.sets(st.sampled_from("ABC")))
def test_streams_that_are_in_order_come_so_beside_others_that_are_held(given: Streams, ordered: set[str]) -> None:
    given = {name: in_order(listed) if name in ordered else listed for name, listed in given.items()}
    read = {
        name: check_order(batches(listed)) if name in ordered else sort_stream(batches(listed))
        for name, listed in given.items()
    }
    check(given, list(merge_streams(read)))


@given(st.lists(st.lists(times, max_size=5), max_size=4))
def test_an_event_out_of_order_is_told_and_no_other_is(listed: list[list[int]]) -> None:
    flat = [time for some in listed for time in some]
    if flat == sorted(flat):
        list(check_order(batches(listed)))
        return
    with pytest.raises(OutOfOrderError):
        list(check_order(batches(listed)))


def test_no_more_is_read_than_it_takes_to_know_what_comes_next() -> None:
    read = []

    def reading() -> object:
        for first in range(0, 100, 10):
            read.append(first)
            yield from batches([list(range(first, first + 10))])

    stretches = merge_streams({"A": check_order(reading()), "B": sort_stream(batches([[35]]))})  # type: ignore[arg-type]
    seen = []
    for _ in range(3):
        some, upto = next(stretches)
        seen.append((upto, max(read), [len(batch) for batch in some["A"]]))
    assert seen == [(10, 10, [10]), (20, 20, [10]), (30, 30, [10])]
