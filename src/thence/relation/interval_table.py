"""`IntervalTable`: solutions ⟨μ, tα, tω⟩ as columns (EP-SPARQL, Section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND

NO_START: Final = 2**63 - 1
NO_END: Final = -(2**63)
"""The interval of a timeless solution: tα = +∞, tω = −∞ (EP-35)."""

ABSENT: Final = -2
NO_EVENT: Final = -1
DERIVED: Final = 2**62
"""In place of an event's ref: a part that is bare, or another arm of a UNION; background, which is before all events; a
derived triple, which is behind all events, in the order of derivation (EP-49): DERIVED and above."""


def is_event(refs: Ints) -> NDArray[np.bool_]:
    """A mask of the refs of input events."""
    found: NDArray[np.bool_] = (refs >= 0) & (refs < DERIVED)
    return found


UNBOUNDED: Final = 2**63 - 1
"""How long solutions may last where nothing bounds it."""


class Relation(IntEnum):
    """The required relation of the intervals of two joined solutions, with its rule."""

    ANY = 0  # Join
    SEQ = 1  # tω < t'α (EP-18)
    EQUALS = 2  # both ends equal (EP-19)
    UNTIL = 3  # t'ω ≤ tω: the right one ends no later than the left one (EP-24, EP-26)
    SEQ_UNTIL = 4  # of OPTIONALSEQ: SEQ, and t'ω ≤ tω where the mandatory side is timeless (EP-25)


@dataclass(frozen=True, slots=True, eq=False)
class IntervalTable:
    """A row for each solution: tα and tω, the terms of its variables (ids of the state's dictionary), and for each
    place of the pattern the ref of the event that fills it."""

    start: Ints
    end: Ints
    ids: Ids  # a row for each variable, a column for each solution
    refs: Ints  # a row for each place

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: NDArray[Any] | slice) -> IntervalTable:
        """Some rows, by number or by mask; or a view of rows that follow each other."""
        return IntervalTable(self.start[rows], self.end[rows], self.ids[:, rows], self.refs[:, rows])


def durations(start: Ints, end: Ints) -> NDArray[np.uint64]:
    """The lengths of intervals: up to 64 bits, like times (C-2)."""
    return (end - start).view(np.uint64)


@lru_cache(maxsize=256)
def empty(variables: int, places: int) -> IntervalTable:
    """A table without solutions: the same object each time, since every step of every node asks for it."""
    none = np.empty(0, np.int64)
    return IntervalTable(none, none, np.empty((variables, 0), np.int32), np.empty((places, 0), np.int64))


def timeless(ids: Ids, places: int) -> IntervalTable:
    """Solutions without a time and without events."""
    count = ids.shape[1]
    return IntervalTable(
        np.full(count, NO_START), np.full(count, NO_END), ids, np.full((places, count), NO_EVENT, np.int64)
    )


def concatenated(parts: Sequence[IntervalTable]) -> IntervalTable:
    if len(parts) == 1:
        return parts[0]
    filled = [part for part in parts if len(part)] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]
    return IntervalTable(
        np.concatenate([part.start for part in filled]),
        np.concatenate([part.end for part in filled]),
        np.concatenate([part.ids for part in filled], axis=1),
        np.concatenate([part.refs for part in filled], axis=1),
    )


def chosen_columns(ids: Ids, columns: Sequence[int]) -> Ids:
    """Some columns, by number; -1 is one that is never bound."""
    found = np.full((len(columns), ids.shape[1]), UNBOUND, np.int32)
    for place, column in enumerate(columns):
        if column >= 0:
            found[place] = ids[column]
    return found


def first_of_each(table: IntervalTable, known: IntervalTable | None = None) -> NDArray[np.bool_]:
    """A mask of the rows whose μ and interval no earlier row has, nor any row of `known`."""
    whole = table if known is None or not len(known) else concatenated([known, table])
    if (whole.end[1:] > whole.end[:-1]).all():  # as in a stream of which no two events end together
        return np.ones(len(table), np.bool_)
    before = len(whole) - len(table)
    keys = (whole.end, whole.start, *whole.ids)
    order = np.lexsort(keys[::-1])  # stable: of equal rows the first comes first
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for key in keys:
        ordered = key[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    is_first = np.zeros(len(order), np.bool_)
    is_first[order[differs]] = True
    found: NDArray[np.bool_] = is_first[before:]
    return found
