"""The order of rows by certainty, end and start, and gathering by index; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.jit.compiled import inlined, lazy_entry
from thence.jit.pointers import pointer

# Gathers numbers from a table by index, compiled: NumPy takes several times as long.


def gather(table: NDArray[np.int64], numbers: NDArray[Any]) -> tuple[NDArray[np.int64], bool]:
    """`table[numbers]`, and whether any of the results is negative.

    >>> gather(np.array([7, -1]), np.array([0, 0, 1], np.int32))
    (array([ 7,  7, -1]), True)
    """
    found = np.empty(len(numbers), np.int64)
    least = _translate(table, numbers, found)
    return found, bool(least < 0)


@lazy_entry(lambda table, numbers, found: len(numbers))
def _translate(table, numbers, found):
    least = 0
    for i in range(len(numbers)):
        number = numbers[i]
        if number < 0 or number >= len(table):
            raise IndexError("a number that the table does not have")  # a damaged file's
        value = table[number]
        found[i] = value
        least = min(least, value)
    return least


# The order of rows by certainty, end and start. One pass is enough where rows are nearly in order, which they mostly
# are.

CERTAIN, START, END = range(3)
"""The positions of the times in a row: its first three words."""

_FAR = 1000
"""The places that a row is moved at most; beyond them, all rows are sorted."""

UNSORTED, SORTED, ALIKE = 0, 1, 2
"""The verdict on an order: none was found, it is the only one, or some rows are equal in all three times."""


def sorted_by_times(certain: Ints, end: Ints, start: Ints) -> Ints:
    """The order of some rows by certainty, end and start.

    >>> sorted_by_times(np.array([4, 4, 7]), np.array([4, 4, 7]), np.array([3, 1, 2]))
    array([1, 0, 2])
    """
    order = np.arange(len(certain))
    times = np.empty((len(certain), 3), np.int64)
    times[:, CERTAIN], times[:, START], times[:, END] = certain, start, end
    return order if _in_order(times, order) != UNSORTED else np.lexsort((start, end, certain))


@lazy_entry(lambda times, order: len(order) * min(len(order), _FAR))
def _in_order(times, order):
    """Sorts `order` by the rows' times and returns the verdict on it."""
    verdict = SORTED
    for i in range(len(order)):
        found = placed(pointer(times), times.shape[1], pointer(order), i)
        if found == UNSORTED:
            return UNSORTED
        verdict = max(verdict, found)
    return verdict


@inlined
def placed(cells, width, order, i):
    """Moves row number i to its place among those before it. Rows are nearly in order, since rows that become certain
    first come first, so few moves are needed."""
    row = i * width
    if i > 0 and cells[row + CERTAIN] < cells[row - width + CERTAIN]:
        return UNSORTED
    place, found = i, SORTED
    while place > 0:
        other = order[place - 1] * width
        if cells[other + CERTAIN] < cells[row + CERTAIN] or cells[other + END] < cells[row + END]:
            break
        is_after = cells[other + END] > cells[row + END]
        if not is_after and cells[other + START] <= cells[row + START]:
            found = ALIKE if cells[other + START] == cells[row + START] else SORTED
            break
        order[place] = order[place - 1]
        place -= 1
        if i - place > _FAR:
            return UNSORTED
    order[place] = i
    return found
