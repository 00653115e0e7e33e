"""The ids of events that a shard remembers are found by ref, whatever came, went and was left out between; and equal
events are counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thence.columns.texts import Texts
from thence.runtime.event_log import IdLog
from thence.spark.worker.shard import Ordinals

steps = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.booleans(), st.booleans()), max_size=8)


@given(steps)
def test_every_event_that_is_remembered_has_its_id(steps: list[tuple[int, int, bool, bool]]) -> None:
    log, known, ref = IdLog(), dict[int, str](), 0
    for left_out, count, forgets, asks in steps:
        ref += left_out
        log.next_ref = ref
        log.add(Texts.of([f"event {number}" for number in range(ref, ref + count)]))
        known |= {number: f"event {number}" for number in range(ref, ref + count)}
        ref += count
        if forgets:
            held = sorted(known)[::2]
            log.retain(np.array(held, np.int64))
            known = {number: known[number] for number in held}
        if asks:
            asked = sorted(known, reverse=True)
            assert log.ids(np.array(asked, np.int64)).to_list() == [known[number] for number in asked]


def counted(ordinals: Ordinals, times: list[int], digests: list[str]) -> list[int]:
    found: list[int] = ordinals.count(np.array(times, np.int64), Texts.of(digests)).tolist()
    return found


def test_equal_events_are_counted_however_often_their_time_comes_again() -> None:
    ordinals = Ordinals()
    found = [counted(ordinals, [7] * len(digests), digests) for digests in (["r1", "r2"], ["r2"], ["r1", ""], [""])]
    assert found == [[1, 1], [2], [2, 1], [1]]


rows = st.lists(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["a", "b", ""])), max_size=6), max_size=5)


@given(rows)
def test_each_event_has_the_number_of_which_of_its_equals_it_is(batches: list[list[tuple[int, str]]]) -> None:
    ordinals, time, seen = Ordinals(), 0, Counter[str]()
    for batch in batches:
        times, digests, expected = [], [], []
        for later, letter in batch:
            time += later
            times.append(time)
            digests.append(letter and f"{time}{letter}")
            seen[digests[-1]] += 1
            expected.append(seen[digests[-1]] if letter else 1)
        if batch:
            assert counted(ordinals, times, digests) == expected
