"""A store of solutions gives the pairs that the definitions give, whatever was added, in whichever order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.columns.dictionary import UNBOUND
from thence.relation import solution_store
from thence.relation.interval_table import NO_END, NO_START, UNBOUNDED, IntervalTable, Relation
from thence.relation.solution_store import SolutionStore

pytestmark = pytest.mark.numba

Solution = tuple[int, int, tuple[int, int]]

moments = st.integers(-9, 9)
intervals = st.one_of(st.tuples(moments, moments).map(lambda each: (min(each), max(each))), st.just((NO_START, NO_END)))
solutions = st.builds(
    lambda interval, first, second: (*interval, (first, second)),
    intervals,
    st.integers(0, 2),
    st.sampled_from([UNBOUND, 0, 1]),
)
steps = st.lists(st.tuples(st.lists(solutions, max_size=6), st.lists(solutions, max_size=6)), max_size=5)
longests = st.sampled_from([0, 1, 3, 7, 2**62, UNBOUNDED])


def table(rows: list[Solution]) -> IntervalTable:
    columns = np.array([each[2] for each in rows], np.int32).reshape(len(rows), 2).T
    times = np.array([each[:2] for each in rows], np.int64).reshape(len(rows), 2).T
    return IntervalTable(times[0], times[1], columns, np.empty((0, len(rows)), np.int64))


def rows_of(found: IntervalTable) -> list[Solution]:
    listed = zip(found.start.tolist(), found.end.tolist(), found.ids.T.tolist(), strict=True)
    return [(start, end, (ids[0], ids[1])) for start, end, ids in listed]


def are_compatible(one: Solution, other: Solution) -> bool:
    return all(a == b or UNBOUND in (a, b) for a, b in zip(one[2], other[2], strict=True))


def is_short(one: Solution, other: Solution, longest: int) -> bool:
    first, last = min(one[0], other[0]), max(one[1], other[1])
    return last == NO_END or last - first <= longest


@given(steps, longests, st.integers(-9, 9))
def test_right_solutions_of_a_seq_meet_all_that_end_before_them(
    fed: list[tuple[list[Solution], list[Solution]]], longest: int, evicted: int
) -> None:
    """EP-17, EP-18, EP-36, EP-74"""
    store = SolutionStore((0, 1), 1, False, 2, 0)
    for number, (left, right) in enumerate(fed):
        if number == 2:
            store.keep(store.table.start >= evicted)
        stored = rows_of(store.table) + left
        news, olds = store.add_and_follow(table(left), table(right), (0, 1), longest)
        kept = rows_of(store.table)
        assert sorted(kept) == sorted(stored)
        assert news.tolist() == sorted(news.tolist())
        assert sorted((new, kept[old]) for new, old in zip(news.tolist(), olds.tolist(), strict=True)) == sorted(
            (new, each)
            for new, row in enumerate(right)
            for each in kept
            if each[1] < row[0] and are_compatible(each, row) and is_short(each, row, longest)
        )


@given(st.lists(solutions, max_size=9), st.lists(solutions, max_size=9), longests)
def test_a_join_leaves_out_only_what_lasts_too_long(left: list[Solution], right: list[Solution], longest: int) -> None:
    store = SolutionStore((0, 1), 1, False, 2, 0)
    store.add(table(left))
    news, olds = store.pairs(table(right), (0, 1), Relation.ANY, stored_left=True, longest=longest)
    assert sorted(zip(news.tolist(), olds.tolist(), strict=True)) == [
        (new, old)
        for new, row in enumerate(right)
        for old, each in enumerate(left)
        if are_compatible(each, row) and is_short(each, row, longest)
    ]


def test_a_seq_of_too_many_pairs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solution_store, "MAX_PAIRS", 8)
    store = SolutionStore((0, 1), 1, False, 2, 0)
    left: list[Solution] = [(0, 0, (1, 1))] * 3
    assert len(store.add_and_follow(table(left), table([(1, 1, (1, 1))] * 2), (0, 1), UNBOUNDED)[0]) == 6
    with pytest.raises(solution_store.LimitError, match="more than 8 rows"):
        store.add_and_follow(table([]), table([(1, 1, (1, 1))] * 3), (0, 1), UNBOUNDED)
