"""Partitions and their last two times, found by their keys, compiled."""

from __future__ import annotations

import numpy as np

from thence.engines.automaton.memory import mixed
from thence.jit.compiled import inlined, lazy_entry

BEFORE_ALL = np.int64(-(2**63))
"""The previous time of what nothing comes before."""

EVENT, ROW = 1, 2
"""What a row is: an event of its partition; a row that asks for its previous time; or both."""


def _keys_noted(places, keys, times, count, row_times, row_keys, roles, order, previous):
    return len(order) * (row_keys.shape[1] + 8)


@lazy_entry(_keys_noted)
def note(places, keys, times, count, row_times, row_keys, roles, order, previous):
    """Take rows in the order of time: events become known, and rows learn the latest time before their own. Returns how
    many partitions there are now."""
    mask = len(places) - 1
    width = row_keys.shape[1]
    for i in range(len(order)):
        row = order[i]
        place = np.int64(_code(row_keys, row, width) & np.uint64(mask))
        while places[place] >= 0 and not _equal(keys, places[place], row_keys, row, width):
            place = (place + 1) & mask
        time, entry = row_times[row], places[place]
        if roles[row] & EVENT:
            if entry < 0:
                entry = count
                count += 1
                places[place] = entry
                for k in range(width):
                    keys[entry, k] = row_keys[row, k]
                times[entry, 0], times[entry, 1] = BEFORE_ALL, time
            elif times[entry, 1] < time:
                times[entry, 0], times[entry, 1] = times[entry, 1], time
        if entry < 0:
            previous[row] = BEFORE_ALL
        elif times[entry, 1] < time:
            previous[row] = times[entry, 1]
        else:
            previous[row] = times[entry, 0]
    return count


@lazy_entry(lambda places, keys, count: count * (keys.shape[1] + 4))
def place_all(places, keys, count):
    """Make the first `count` keys findable."""
    mask = len(places) - 1
    for number in range(count):
        place = np.int64(_code(keys, number, keys.shape[1]) & np.uint64(mask))
        while places[place] >= 0:
            place = (place + 1) & mask
        places[place] = number


@inlined
def _code(keys, row, width):
    code = np.uint64(0)
    for k in range(0, width, 2):
        code = mixed(code, keys[row, k], keys[row, k + 1])
    return code


@inlined
def _equal(left, i, right, j, width):
    for k in range(width):
        if left[i, k] != right[j, k]:
            return False
    return True
