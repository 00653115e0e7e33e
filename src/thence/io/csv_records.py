"""Finds the records of a CSV file (RFC 4180), compiled: a quoted cell may hold line ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thence.jit.compiled import inner, lazy_entry

_QUOTE, _COMMA, _LF, _CR = 34, 44, 10, 13

CsvRecords = tuple[NDArray[np.int64], int, int]


def find_records(data: NDArray[np.uint8], *, final: bool) -> CsvRecords:
    """The whole records of a block that begins with one: a row for each, with where it starts and stops, how many lines
    are before it, and how many cells it has. Then the bytes and the lines that they take, blank lines included. What is
    left is the beginning of a record; in the `final` block, one with a quote that is never closed.

    >>> find_records(np.frombuffer(b'a,b\\n\\n"x\\n,y",z\\nrest', np.uint8), final=False)
    (array([[ 0,  3,  0,  2],
           [ 5, 13,  2,  2]]), 14, 4)
    """
    most = np.count_nonzero((data == _LF) | (data == _CR)) + 1
    records = np.empty((most, 4), np.int64)
    count, taken, lines = _find_records(data, final, records)
    return records[:count], int(taken), int(lines)


@lazy_entry(lambda data, final, records: len(data))
def _find_records(data, final, records):
    count = 0
    taken = 0
    lines = 0
    while taken < len(data):
        stop, behind, cells, ends = _one_record(data, taken, final)
        if stop < 0:
            break
        if stop > taken:
            records[count, 0] = taken
            records[count, 1] = stop
            records[count, 2] = lines
            records[count, 3] = cells
            count += 1
        taken = behind
        lines += ends
    return count, taken, lines


@inner
def _one_record(data, start, final):
    """(where it stops or -1, where the next begins, its cells, its line ends)."""
    cells = 1
    ends = 0
    quoted = False
    at_start = True  # of a cell: only there a quote means something
    i = start
    while i < len(data):
        byte = data[i]
        if quoted:
            if byte == _QUOTE:
                if i + 1 < len(data) and data[i + 1] == _QUOTE:
                    i += 1  # two stand for one
                else:
                    quoted = False
            elif byte == _LF:
                ends += 1
        elif byte == _QUOTE and at_start:
            quoted = True
            at_start = False
        elif byte == _COMMA:
            cells += 1
            at_start = True
        elif byte == _LF:
            return i, i + 1, cells, ends + 1
        elif byte == _CR:
            if i + 1 < len(data):
                return i, (i + 2 if data[i + 1] == _LF else i + 1), cells, ends + 1
            break
        else:
            at_start = False
        i += 1
    if final and not quoted:
        return i, len(data), cells, ends + 1
    return -1, start, cells, ends
