"""Matches leave the memory in the order of their times, whatever they hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from thence.columns.row_order import sorted_by_times
from thence.engines.automaton import match_buffer
from thence.engines.automaton.match_buffer import take_matches
from thence.engines.automaton.memory import CERTAIN, MATCH_END, MATCH_NODE, MATCH_SLOTS, MATCH_START

pytestmark = pytest.mark.numba

_TIMES = (CERTAIN, MATCH_END, MATCH_START)


@st.composite
def matches(draw: st.DrawFn) -> NDArray[np.int64]:
    """Matches as the machine writes them: by certainty, or nearly, or not at all; of one tag a slot, or of several."""
    length, slots = draw(st.integers(1, 300)), draw(st.integers(0, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    found = random.integers(0, 1000, (length, MATCH_SLOTS + 2 * slots))
    together = draw(st.sampled_from([1, 3, 400]))
    found[:, CERTAIN] = np.arange(length) // together
    found[:, MATCH_END] = found[:, CERTAIN] - random.integers(0, draw(st.sampled_from([1, 3])), length)
    found[:, MATCH_START] = found[:, MATCH_END] - random.integers(1, draw(st.sampled_from([2, 5, 1000])), length)
    if draw(st.booleans()):
        found[random.integers(length), CERTAIN] += draw(st.sampled_from([-1, 1]))
    if draw(st.booleans()):
        found[:, MATCH_SLOTS::2] = 5
    return found


@pytest.mark.parametrize("many", [1, 1000])
def test_matches_are_drained_whole_and_in_order_where_that_is_known(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_buffer, "_MANY", many)

    @given(matches())
    def check(found: NDArray[np.int64]) -> None:
        got = take_matches(found)
        columns = [None] * found.shape[1]
        columns[CERTAIN], columns[MATCH_NODE] = got.rest.tolist()
        columns[MATCH_START], columns[MATCH_END], *columns[MATCH_SLOTS + 1 :: 2] = got.shown.tolist()
        columns[MATCH_SLOTS::2] = got.tags.T.tolist()
        rows = list(zip(*columns, strict=True))
        given_rows = [tuple(row) for row in found.tolist()]
        if many == 1 and (np.diff(found[:, CERTAIN]) >= 0).all():
            assert rows == sorted(given_rows, key=by_times)  # stable, as Python's is
            assert got.is_sorted == (len(set(map(by_times, rows))) == len(rows))
        else:
            assert rows == given_rows and not got.is_sorted

    check()


@given(matches())
def test_the_order_of_times_is_found_however_far_matches_are_from_it(found: NDArray[np.int64]) -> None:
    certain, end, start = (found[:, place] for place in _TIMES)
    assert sorted_by_times(certain, end, start).tolist() == np.lexsort((start, end, certain)).tolist()


def test_what_is_far_from_its_place_is_sorted_all_the_same() -> None:
    start = np.arange(5000)[::-1]
    same = np.full(5000, 7)
    assert sorted_by_times(same, same, start).tolist() == start.tolist()


def by_times(row: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(row[place] for place in _TIMES)
