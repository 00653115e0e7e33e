"""`SolutionStore`: the stored solutions of one side of a join, hashed on the shared variables, compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND
from thence.errors import LimitError
from thence.jit.compiled import inner, lazy_entry
from thence.relation.interval_table import NO_END, UNBOUNDED, IntervalTable, Relation

MAX_PAIRS = 1 << 26
"""The most pairs of one join in one step: a gigabyte of row numbers."""

# as numbers, since compiled code knows no enumerations
_ANY, _SEQ, _EQUALS, _UNTIL, _SEQ_UNTIL = map(int, Relation)


@dataclass(slots=True, eq=False)
class SolutionStore:
    """Solutions that others are joined with. `keys` are the columns of the shared variables, the first `certain` of
    which are always bound, and hashed; `by_interval`: so is the interval, since both ends must be equal."""

    keys: tuple[int, ...]
    certain: int
    by_interval: bool
    variables: int
    places: int
    count: int = 0
    _start: Ints = field(init=False)
    _end: Ints = field(init=False)
    _ids: Ids = field(init=False)
    _refs: Ints = field(init=False)
    _shared: Ids = field(init=False)  # the key columns
    _heads: Ints = field(init=False)
    _following: Ints = field(init=False)
    _latest: Ints = field(init=False)  # the latest start in the rest of each row's chain

    def __post_init__(self) -> None:
        self._allocate(16)

    def __len__(self) -> int:
        return self.count

    @property
    def table(self) -> IntervalTable:
        """All rows, in the order in which they were added; a view."""
        count = self.count
        return IntervalTable(self._start[:count], self._end[:count], self._ids[:, :count], self._refs[:, :count])

    def add(self, rows: IntervalTable) -> None:
        if len(rows):
            first = self.count
            self._append(rows)
            self._index(first, self.count)

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Evict the rows for which `mask` is false."""
        if mask.all():
            return
        kept = self.table.take(np.flatnonzero(mask))
        self._allocate(max(16, len(kept)))
        self.count = 0
        self.add(kept)

    def _append(self, rows: IntervalTable) -> None:
        """Add rows that no chain has yet."""
        first, last = self.count, self.count + len(rows)
        if last > len(self._start):
            kept = self.table
            self._allocate(max(last, 2 * len(self._start)))
            self._write(kept, 0)
            self._index(0, first)
        self._write(rows, first)
        self.count = last

    def renumber(self, ids: Ids) -> None:
        """The terms have other ids now: `ids` has the new one of each; the last is that of UNBOUND."""
        kept = self.table
        moved = IntervalTable(kept.start.copy(), kept.end.copy(), ids[kept.ids], kept.refs.copy())
        self._allocate(max(16, len(moved)))
        self.count = 0
        self.add(moved)

    def pairs(
        self,
        rows: IntervalTable,
        keys: tuple[int, ...],
        relation: Relation,
        *,
        stored_left: bool,
        longest: int = UNBOUNDED,
    ) -> tuple[Ints, Ints]:
        """Which of some rows are compatible and related with which stored ones: numbers of the rows, then of the stored
        ones, by the row. `keys` are their columns of the shared variables. Pairs that last longer than `longest` are
        left out."""
        if not len(rows) or not self.count:
            return _no_pairs()
        return _limited(
            _pairs(
                np.ascontiguousarray(rows.ids[list(keys)]),
                np.ascontiguousarray(rows.start),
                np.ascontiguousarray(rows.end),
                self._shared,
                self._start,
                self._end,
                self._heads,
                self._following,
                self._latest,
                self.certain,
                self.by_interval,
                int(relation),
                stored_left,
                longest,
                MAX_PAIRS,
            )
        )

    def add_and_follow(
        self, added: IntervalTable, rows: IntervalTable, keys: tuple[int, ...], longest: int
    ) -> tuple[Ints, Ints]:
        """Add left solutions of a SEQ, and return the `pairs` of right ones. Both must be in time order, so that a
        row's chain has no left solution that ends too late for it."""
        added = _sorted(added, added.end)
        if not len(rows) or not self.count + len(added):
            self.add(added)
            return _no_pairs()
        first = self.count
        self._append(added)
        order = None if _is_sorted(rows.start) else np.argsort(rows.start, kind="stable")
        ordered = rows if order is None else rows.take(order)
        news, olds = _limited(
            _following_pairs(
                np.ascontiguousarray(ordered.ids[list(keys)]),
                np.ascontiguousarray(ordered.start),
                np.ascontiguousarray(ordered.end),
                self._shared,
                self._start,
                self._end,
                first,
                self.count,
                self._heads,
                self._following,
                self._latest,
                self.certain,
                longest,
                MAX_PAIRS,
            )
        )
        if order is None:
            return news, olds
        by_row = np.argsort(order[news], kind="stable")
        return order[news[by_row]], olds[by_row]

    def _allocate(self, capacity: int) -> None:
        size = 32
        while size < 2 * capacity:
            size *= 2
        self._start, self._end = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        self._ids = np.empty((self.variables, capacity), np.int32)
        self._refs = np.empty((self.places, capacity), np.int64)
        self._shared = np.empty((len(self.keys), capacity), np.int32)
        self._heads, self._following = np.full(size, -1, np.int64), np.empty(capacity, np.int64)
        self._latest = np.empty(capacity, np.int64)

    def _write(self, rows: IntervalTable, first: int) -> None:
        where = slice(first, first + len(rows))
        self._start[where], self._end[where] = rows.start, rows.end
        self._ids[:, where], self._refs[:, where] = rows.ids, rows.refs
        self._shared[:, where] = rows.ids[list(self.keys)]

    def _index(self, first: int, last: int) -> None:
        if last > first:
            _index_rows(
                self._shared,
                self._start,
                self._end,
                first,
                last,
                self.certain,
                self.by_interval,
                self._heads,
                self._following,
                self._latest,
            )


def _no_pairs() -> tuple[Ints, Ints]:
    none = np.empty(0, np.int64)
    return none, none


def _is_sorted(times: Ints) -> bool:
    return not (times[1:] < times[:-1]).any()


def _sorted(rows: IntervalTable, times: Ints) -> IntervalTable:
    return rows if _is_sorted(times) else rows.take(np.argsort(times, kind="stable"))


def _limited(pairs: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    if len(pairs[0]) > MAX_PAIRS:
        raise LimitError(
            f"A join gives more than {MAX_PAIRS:,} rows at once. "
            "Try: patterns that share a variable, or a FILTER on getDURATION()"
        )
    return pairs


@inner
def _hash(keys, start, end, certain, by_interval, row):
    code = np.uint64(1469598103934665603)
    for k in range(certain):
        code = (code ^ np.uint64(keys[k, row])) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    if by_interval:
        code = (code ^ np.uint64(start[row])) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
        code = (code ^ np.uint64(end[row])) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return code


@inner
def _are_compatible(left, i, right, j, certain):
    for k in range(certain):
        if left[k, i] != right[k, j]:
            return False
    for k in range(certain, left.shape[0]):
        if left[k, i] != right[k, j] and left[k, i] != UNBOUND and right[k, j] != UNBOUND:
            return False
    return True


@inner
def _are_related(relation, left_start, left_end, right_start, right_end):
    if relation == _SEQ:
        return left_end < right_start
    if relation == _EQUALS:
        return left_start == right_start and left_end == right_end
    if relation == _UNTIL:
        return right_end <= left_end
    if relation == _SEQ_UNTIL:
        return right_end < left_start and (left_end != NO_END or right_end == NO_END)
    return True


@inner
def _enter(keys, start, end, row, certain, by_interval, heads, following, latest):
    """Add rows to the chains of the hash index: the latest row of each chain, and for each row the one before."""
    slot = np.int64(_hash(keys, start, end, certain, by_interval, row) & np.uint64(len(heads) - 1))
    before = heads[slot]
    following[row] = before
    latest[row] = start[row] if before < 0 else max(start[row], latest[before])
    heads[slot] = row


@lazy_entry(lambda keys, start, end, first, last, certain, *_: (last - first) * (certain + 1))
def _index_rows(keys, start, end, first, last, certain, by_interval, heads, following, latest):
    for row in range(first, last):
        _enter(keys, start, end, row, certain, by_interval, heads, following, latest)


@inner
def _earliest(end, longest):
    """The earliest start of what a row that ends so can be joined with."""
    return NO_END if longest == UNBOUNDED or end < NO_END + longest else end - longest


@inner
def _is_short(start, end, other_start, other_end, longest):
    last = max(end, other_end)
    return longest == UNBOUNDED or last == NO_END or 0 <= last - min(start, other_start) <= longest  # in 64 bits


@lazy_entry(lambda keys, start, end, shared, stored, *_: (len(start) + 1) * (keys.shape[0] + 4) * 4)
def _pairs(
    keys,
    start,
    end,
    shared,
    stored_start,
    stored_end,
    heads,
    following,
    latest,
    certain,
    by_interval,
    relation,
    stored_left,
    longest,
    most,
):
    """Stops one pair beyond `most`."""
    mask = np.uint64(len(heads) - 1)
    capacity = len(start) + 16
    news = np.empty(capacity, np.int64)
    olds = np.empty(capacity, np.int64)
    count = 0
    for i in range(len(start)):
        least = _earliest(end[i], longest)
        j = heads[np.int64(_hash(keys, start, end, certain, by_interval, i) & mask)]
        while j >= 0 and latest[j] >= least:
            if stored_left:
                related = _are_related(relation, stored_start[j], stored_end[j], start[i], end[i])
            else:
                related = _are_related(relation, start[i], end[i], stored_start[j], stored_end[j])
            if (
                related
                and _is_short(start[i], end[i], stored_start[j], stored_end[j], longest)
                and _are_compatible(keys, i, shared, j, certain)
            ):
                if count == capacity:
                    capacity *= 2
                    news = _grown(news, capacity)
                    olds = _grown(olds, capacity)
                news[count] = i
                olds[count] = j
                count += 1
                if count > most:
                    return news[:count], olds[:count]
            j = following[j]
    return news[:count].copy(), olds[:count].copy()


@lazy_entry(
    lambda keys, start, end, shared, stored_start, stored_end, first, last, *_: (
        (len(start) + last - first + 1) * (keys.shape[0] + 4) * 4
    )
)
def _following_pairs(
    keys,
    start,
    end,
    shared,
    stored_start,
    stored_end,
    first,
    last,
    heads,
    following,
    latest,
    certain,
    longest,
    most,
):
    """The pairs of a SEQ. Stored rows from `first` to `last` (exclusive) are in no chain yet, and in the order of their
    ends; the others are in that of their starts. Stops one pair beyond `most`."""
    mask = np.uint64(len(heads) - 1)
    capacity = len(start) + 16
    news = np.empty(capacity, np.int64)
    olds = np.empty(capacity, np.int64)
    count = 0
    for i in range(len(start)):
        while first < last and stored_end[first] < start[i]:
            _enter(shared, stored_start, stored_end, first, certain, False, heads, following, latest)
            first += 1
        least = _earliest(end[i], longest)
        j = heads[np.int64(_hash(keys, start, end, certain, False, i) & mask)]
        while j >= 0 and latest[j] >= least:
            if (
                stored_end[j] < start[i]
                and _is_short(start[i], end[i], stored_start[j], stored_end[j], longest)
                and _are_compatible(keys, i, shared, j, certain)
            ):
                if count == capacity:
                    capacity *= 2
                    news = _grown(news, capacity)
                    olds = _grown(olds, capacity)
                news[count] = i
                olds[count] = j
                count += 1
                if count > most:
                    return news[:count], olds[:count]
            j = following[j]
    for row in range(first, last):
        _enter(shared, stored_start, stored_end, row, certain, False, heads, following, latest)
    return news[:count].copy(), olds[:count].copy()


@inner
def _grown(array, capacity):
    larger = np.empty(capacity, array.dtype)
    for i in range(len(array)):
        larger[i] = array[i]
    return larger
