"""The V pattern by hand, from the columns of a Parquet file: plain Python, and compiled.

Skip-till-next comes twice. `runs` is the automaton written out: of each company the runs that wait for B and those
that wait for C, and a tick meets them all. `stacks` serves this pattern alone: prices that wait stay in order, so that
a tick meets only the runs that it takes on, and one more.
"""

from __future__ import annotations

from collections import defaultdict
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from pyarrow import parquet

Found = list[tuple[str, int, int, float, float, float]]
"""Company, start, end, p1, p2, p3 of each match."""


def _lists(path: Path) -> list[list[Any]]:
    table = parquet.read_table(path, columns=["time", "subject", "price"], use_threads=False)
    return [column.to_pylist() for column in table.columns]


def python_strict(path: Path) -> Found:
    found = []
    none = (0, nan, 0, nan)  # nan is neither above nor below
    last: dict[str, tuple[int, float, int, float]] = {}  # of each company, its last two ticks
    for time, company, price in zip(*_lists(path), strict=True):
        start, p1, middle, p2 = last.get(company, none)
        if p2 < p1 and price > p2:
            found.append((company, start, time, p1, p2, price))
        last[company] = middle, p2, time, price
    return found


def python_runs(path: Path, window: int) -> Found:
    found = []
    for_b: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for_c: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for time, company, price in zip(*_lists(path), strict=True):
        oldest = time - window
        waiting = []
        for run in for_c[company]:
            start, p1, p2 = run
            if start >= oldest:
                if price > p2:
                    found.append((company, start, time, p1, p2, price))
                else:
                    waiting.append(run)
        beginning = []
        for begun in for_b[company]:
            start, p1 = begun
            if start >= oldest:
                if price < p1:
                    waiting.append((start, p1, price))
                else:
                    beginning.append(begun)
        beginning.append((time, price))
        for_b[company], for_c[company] = beginning, waiting
    return found


def python_stacks(path: Path, window: int) -> Found:
    found = []
    for_b: dict[str, list[tuple[int, float]]] = defaultdict(list)  # lowest price first
    for_c: dict[str, list[tuple[int, float, float]]] = defaultdict(list)  # highest price first
    for time, company, price in zip(*_lists(path), strict=True):
        oldest = time - window
        waiting, beginning = for_c[company], for_b[company]
        while waiting and waiting[-1][2] < price:
            start, p1, p2 = waiting.pop()
            if start >= oldest:
                found.append((company, start, time, p1, p2, price))
        while beginning and beginning[-1][1] > price:
            start, p1 = beginning.pop()
            if start >= oldest:
                waiting.append((start, p1, price))
        beginning.append((time, price))
    return found


def numba_strict(path: Path) -> pa.Table:
    return _compiled(path, _strict)


def numba_runs(path: Path, window: int) -> pa.Table:
    return _compiled(path, _runs, window)


def numba_stacks(path: Path, window: int) -> pa.Table:
    return _compiled(path, _stacks, window)


def _compiled(path: Path, loop: Any, *window: int) -> pa.Table:
    """A loop's matches as a table. It is given columns and room for as many matches as there are ticks, and tells of
    each match the numbers of its three ticks."""
    columns = ["time", "subject", "price"]
    table = parquet.read_table(path, columns=columns, read_dictionary=["subject"], use_threads=False)
    times, companies, prices = (column.combine_chunks() for column in table.unify_dictionaries().columns)
    codes, names = companies.indices.to_numpy(), companies.dictionary
    places = np.empty((3, len(times)), np.int64)
    count = loop(times.to_numpy(), codes, prices.to_numpy(), len(names), *window, places)
    a, b, c = (pa.array(row[:count]) for row in places)
    return pa.table(
        [companies.take(a), times.take(a), times.take(c), prices.take(a), prices.take(b), prices.take(c)],
        names=["company", "start", "end", "p1", "p2", "p3"],
    )


@njit(cache=True)
def _strict(times, codes, prices, companies, places):
    count = 0
    last = np.full((companies, 2), -1, np.int64)
    for tick in range(len(times)):
        company = codes[tick]
        first, second = last[company]
        if first >= 0 and prices[second] < prices[first] and prices[tick] > prices[second]:
            places[0, count], places[1, count], places[2, count] = first, second, tick
            count += 1
        last[company, 0], last[company, 1] = second, tick
    return count


@njit(cache=True)
def _runs(times, codes, prices, companies, window, places):
    """A run is known by its first tick, and is one link of one list of its company."""
    count = 0
    for_b, for_c = np.full(companies, -1, np.int64), np.full(companies, -1, np.int64)
    following, second = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
    for tick in range(len(times)):
        company, price, oldest = codes[tick], prices[tick], times[tick] - window
        run, for_c[company] = for_c[company], -1
        while run >= 0:
            after = following[run]
            if times[run] >= oldest:
                if price > prices[second[run]]:
                    places[0, count], places[1, count], places[2, count] = run, second[run], tick
                    count += 1
                else:
                    following[run], for_c[company] = for_c[company], run
            run = after
        run, for_b[company] = for_b[company], -1
        while run >= 0:
            after = following[run]
            if times[run] >= oldest:
                if price < prices[run]:
                    second[run] = tick
                    following[run], for_c[company] = for_c[company], run
                else:
                    following[run], for_b[company] = for_b[company], run
            run = after
        following[tick], for_b[company] = for_b[company], tick
    return count


@njit(cache=True)
def _stacks(times, codes, prices, companies, window, places):
    """The same with lists whose nearest run always is the next to be taken on."""
    count = 0
    for_b, for_c = np.full(companies, -1, np.int64), np.full(companies, -1, np.int64)
    following, second = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
    for tick in range(len(times)):
        company, price, oldest = codes[tick], prices[tick], times[tick] - window
        run = for_c[company]
        while run >= 0 and prices[second[run]] < price:
            if times[run] >= oldest:
                places[0, count], places[1, count], places[2, count] = run, second[run], tick
                count += 1
            run = following[run]
        for_c[company] = run
        run = for_b[company]
        while run >= 0 and prices[run] > price:
            after = following[run]
            if times[run] >= oldest:
                second[run] = tick
                following[run], for_c[company] = for_c[company], run
            run = after
        following[tick], for_b[company] = run, tick
    return count
