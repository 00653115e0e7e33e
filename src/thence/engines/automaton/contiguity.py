"""Contiguity: strict over a whole streamset (SPAseQ, Definition 12), strict or by partition (SASE+, 2.2.1).

`previous` of a row is the latest strictly earlier time that counts. Two events are contiguous if no other lies strictly
between them in time: if the first one's time is the row's `previous`. What counts is every event of the query's
streams, or those of the row's partition (SPAseQ: PARTITION BY; SASE+: partition contiguity). Since an event at the
latest time may still be followed by others at that time, the last two times are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.arrays import Ints
from thence.columns.value_columns import write_values
from thence.engines.automaton.memory import mixed
from thence.interface.extracted import BindingTable
from thence.jit.compiled import inlined, lazy_entry

# Partitions and their last two times, found by their keys, compiled.


BEFORE_ALL = np.int64(-(2**63))
"""The previous time of what nothing comes before."""

EVENT, ROW = 1, 2
"""The role of a row: an event of its partition; a row that asks for its previous time; or both."""


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


Keys = NDArray[np.int64]

_FEW = 1000
"""Partitions that are kept without asking."""


@dataclass(slots=True)
class Contiguity:
    """The last two times of each partition. `keys` has a tag and bits for each variable, and no columns without
    PARTITION BY, where all events are one partition. `places` is a hash table from keys to rows."""

    by: tuple[Variable, ...]  # the variables of PARTITION BY
    keys: Keys = field(default_factory=lambda: np.empty((0, 0), np.int64))
    times: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))
    kept: int = 0  # partitions, when they were last gone through
    places: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    count: int = 0

    def __post_init__(self) -> None:
        self.restore(self.keys.reshape(len(self.times), 2 * len(self.by)), self.times)

    def restore(self, keys: Keys, times: Ints) -> None:
        """Replace all partitions by these."""
        self.keys, self.times, self.count = keys, times, len(times)
        self._make_room(0)

    def previous(self, events: Ints, partitions: Sequence[BindingTable], listed: Sequence[BindingTable]) -> list[Ints]:
        """The previous times of the rows of each listed table; records `events` afterwards."""
        parts = [(events, np.empty((len(events), 0), np.int64), EVENT)] if not self.by else []
        for number, rows in enumerate(partitions):
            if not any(_same(rows, other, self.by) for other in (*partitions[:number], *listed)):
                parts.append((rows.end, self._keys(rows), EVENT))
        for rows in listed:
            is_event = any(_same(rows, other, self.by) for other in partitions)
            parts.append((rows.end, self._keys(rows), ROW | EVENT if is_event else ROW))
        found = self._noted(parts)
        return found[len(parts) - len(listed) :]

    def _noted(self, parts: list[tuple[Ints, Keys, int]]) -> list[Ints]:
        """The previous times of the rows of all parts, taken together in the order of time."""
        if not parts:
            return []
        times = np.concatenate([time for time, _, _ in parts])
        keys = parts[0][1] if len(parts) == 1 else np.concatenate([keys for _, keys, _ in parts])
        roles = np.concatenate([np.full(len(time), role, np.uint8) for time, _, role in parts])
        self._make_room(len(times))
        order = np.argsort(times, kind="stable") if (times[1:] < times[:-1]).any() else np.arange(len(times))
        found = np.empty(len(times), np.int64)
        self.count = note(self.places, self.keys, self.times, self.count, times, keys, roles, order, found)
        return np.split(found, np.cumsum([len(time) for time, _, _ in parts])[:-1])

    def _keys(self, rows: BindingTable) -> Keys:
        keys = np.empty((len(rows), 2 * len(self.by)), np.int64)
        write_values(keys, [(2 * place, rows.columns[variable]) for place, variable in enumerate(self.by)])
        return keys

    def _make_room(self, more: int) -> None:
        """For that many new partitions."""
        wanted = self.count + (more if self.by else 1)
        if len(self.times) < wanted:
            room = max(wanted, 2 * len(self.times)) - len(self.times)
            self.keys = np.concatenate([self.keys, np.empty((room, 2 * len(self.by)), np.int64)])
            self.times = np.concatenate([self.times, np.empty((room, 2), np.int64)])
        if len(self.places) < 2 * wanted or not more:
            self.places = np.full(1 << (2 * wanted).bit_length(), -1, np.int64)
            place_all(self.places, self.keys, self.count)

    def known(self) -> tuple[Keys, Ints]:
        """The last two times of each partition."""
        return self.keys[: self.count], self.times[: self.count]

    def forget(self, watermark: int, lasts: Ints) -> None:
        """Once the partitions have doubled, drop those whose times no run can be contiguous with: to have no previous
        time is then as good as to have this one."""
        if not self.by or self.count < max(_FEW, 2 * self.kept):
            return
        keys, times = self.known()
        wanted = (times[:, 1] >= watermark) | np.isin(times[:, 1], lasts)
        self.restore(keys[wanted], times[wanted])
        self.kept = self.count


def _same(rows: BindingTable, other: BindingTable, by: tuple[Variable, ...]) -> bool:
    """Whether two tables are the same rows in what partitions go by."""
    return rows.end is other.end and all(rows.columns[v] is other.columns[v] for v in by)
