"""Gathers numbers from a table by index, compiled: NumPy takes several times as long."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.jit.interpreted import lazy_entry


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
