"""The ids of events that a shard remembers are found by ref, whatever came, went and was left out between."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thence.rdf.texts import Texts
from thence.spark.names import Names, Ordinals

steps = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.booleans(), st.booleans()), max_size=8)


@given(steps)
def test_every_event_that_is_remembered_has_its_id(steps: list[tuple[int, int, bool, bool]]) -> None:
    names, known, ref = Names(), dict[int, str](), 0
    for left_out, count, forgets, asks in steps:
        ref += left_out
        names.add(ref, Texts.of([f"event {number}" for number in range(ref, ref + count)]))
        known |= {number: f"event {number}" for number in range(ref, ref + count)}
        ref += count
        if forgets:
            held = sorted(known)[::2]
            names.keep(np.array(held, np.int64))
            known = {number: known[number] for number in held}
        if asks:
            asked = sorted(known, reverse=True)
            assert names.of(np.array(asked, np.int64)).to_list() == [known[number] for number in asked]


def test_equal_ids_are_told_apart_however_often_their_time_comes_again() -> None:
    ordinals = Ordinals()
    told = [
        ordinals.told_apart(np.full(len(ids), 7), Texts.of(ids)).to_list() for ids in (["r1", "r2"], ["r2"], ["r1"])
    ]
    assert told == [["r1", "r2"], ["r2-2"], ["r1-2"]]


rows = st.lists(st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab")), max_size=6), max_size=5)


@given(rows)
def test_each_event_is_called_by_which_of_its_equals_it_is(batches: list[list[tuple[int, str]]]) -> None:
    ordinals, time, seen = Ordinals(), 0, Counter[str]()
    for batch in batches:
        times, ids, expected = [], [], []
        for later, letter in batch:
            time += later
            times.append(time)
            ids.append(f"{time}{letter}")
            seen[ids[-1]] += 1
            expected.append(ids[-1] if seen[ids[-1]] == 1 else f"{ids[-1]}-{seen[ids[-1]]}")
        assert ordinals.told_apart(np.array(times, np.int64), Texts.of(ids)).to_list() == expected
