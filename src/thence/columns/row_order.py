"""The order of rows by certainty, end and start: found in one pass where rows are nearly in it, as they mostly are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thence.jit.compiled import inlined
from thence.jit.interpreted import lazy_entry
from thence.jit.pointers import pointer

Ints = NDArray[np.int64]

CERTAIN, START, END = range(3)
"""Where the times of a row stand: its first three words."""

_FAR = 1000
"""Places that a row is moved, before all are sorted instead."""

UNSORTED, SORTED, ALIKE = 0, 1, 2
"""The verdict on an order: there is none, it is the only one, or some rows are equal in all three times."""


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
    """Put `order` into the order of some rows' times, and return the verdict on it."""
    verdict = SORTED
    for i in range(len(order)):
        found = placed(pointer(times), times.shape[1], pointer(order), i)
        if found == UNSORTED:
            return UNSORTED
        verdict = max(verdict, found)
    return verdict


@inlined
def placed(cells, width, order, i):
    """Put row number i into its place among those before it. Rows come nearly in order: what is certain first comes
    first, and few are certain at once."""
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
