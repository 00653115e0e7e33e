"""Strict contiguity over a whole streamset (Definition 12): for each row, the latest strictly earlier time that counts.

Two events are contiguous if no other lies strictly between them in time: if the first one's time is the row's
`previous`. What counts is every event of the query's streams, or with PARTITION BY those of the row's partition. Since
an event at the latest time may still be followed by others at that time, the last two times are remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.kernel.rows import Matched

Times = NDArray[np.int64]
Key = tuple[tuple[int, int], ...]

BEFORE_ALL = np.int64(-(2**63))
EVERYTHING: Key = ()

_FEW = 1000
"""Partitions that are kept without asking."""


@dataclass(slots=True)
class Contiguity:
    by: tuple[Variable, ...]  # the variables of PARTITION BY
    known: dict[Key, Times] = field(default_factory=dict)  # the last two times, by partition
    kept: int = 0  # partitions, when they were last gone through

    def previous(self, events: Times, partitions: Sequence[Matched], listed: Sequence[Matched]) -> list[Times]:
        """For each of some tables the previous times of its rows; then `events` are known."""
        if not self.by:
            times = np.unique(np.concatenate([self.known.get(EVERYTHING, events[:0]), events]))
            self.known[EVERYTHING] = times[-2:]
            return [_latest_before(times, rows.time) for rows in listed]
        groups = _Groups(self.by, [*partitions, *listed])
        members = groups.codes[: len(partitions)]
        times = np.concatenate(
            [rows.time for rows in partitions] + [self.known.get(k, events[:0]) for k in groups.keys]
        )
        known = [np.full(len(self.known.get(k, ())), code) for code, k in enumerate(groups.keys)]
        codes = np.concatenate([*members, *known]).astype(np.int64)
        order = np.lexsort((times, codes))
        codes, times = codes[order], times[order]
        found = [
            _latest_before_in(codes, times, of, rows.time)
            for rows, of in zip(listed, groups.codes[len(partitions) :], strict=True)
        ]
        bounds = np.searchsorted(codes, np.arange(len(groups.keys) + 1))
        for code, key in enumerate(groups.keys):
            mine = times[bounds[code] : bounds[code + 1]]
            if len(mine):
                self.known[key] = np.unique(mine)[-2:]
        return found

    def forget(self, watermark: int, lasts: Times) -> None:
        """Once the partitions have doubled, drop those whose times no run can be contiguous with: to have no previous
        time is then as good as to have this one."""
        if not self.by or len(self.known) < max(_FEW, 2 * self.kept):
            return
        wanted = set(lasts.tolist())
        self.known = {
            key: times for key, times in self.known.items() if times[-1] >= watermark or int(times[-1]) in wanted
        }
        self.kept = len(self.known)


class _Groups:
    """The partitions of some rows: a number for each row, and the key behind each number."""

    def __init__(self, by: tuple[Variable, ...], tables: Sequence[Matched]) -> None:
        codes = np.zeros(sum(len(rows) for rows in tables), np.int64)
        tags = [np.concatenate([rows.columns[v].tags for rows in tables]) for v in by]
        bits = [np.concatenate([rows.columns[v].bits for rows in tables]) for v in by]
        for column in [*tags, *bits]:
            distinct, where = np.unique(column, return_inverse=True)
            codes = np.unique(codes * len(distinct) + where, return_inverse=True)[1]
        first = np.unique(codes, return_index=True)[1]
        self.keys: list[Key] = [
            tuple((int(tag[i]), int(bit[i])) for tag, bit in zip(tags, bits, strict=True)) for i in first.tolist()
        ]
        ends = np.cumsum([len(rows) for rows in tables])
        self.codes = np.split(codes, ends[:-1])


def _latest_before(times: Times, wanted: Times) -> Times:
    where = np.searchsorted(times, wanted) - 1
    return np.where(where >= 0, times[np.maximum(where, 0)] if len(times) else BEFORE_ALL, BEFORE_ALL)


def _latest_before_in(codes: Times, times: Times, of: Times, wanted: Times) -> Times:
    """As `_latest_before`, among the times of the same partition. `codes` and `times` are ordered together."""
    if not len(times) or not len(wanted):
        return np.full(len(wanted), BEFORE_ALL)
    ranked, rank = np.unique(times, return_inverse=True)
    width = np.int64(len(ranked) + 1)
    where = np.searchsorted(codes * width + rank, of * width + np.searchsorted(ranked, wanted)) - 1
    inside = (where >= 0) & (codes[np.maximum(where, 0)] == of)
    return np.where(inside, times[np.maximum(where, 0)], BEFORE_ALL)
