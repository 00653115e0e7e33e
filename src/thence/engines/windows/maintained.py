"""Solutions of WINDOW patterns kept from one evaluation to the next, and the rows of them that hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.arrays import Ids
from thence.columns.batches import EventBatch
from thence.columns.dictionary import UNBOUND
from thence.engines.windows import program as maintenance
from thence.engines.windows.content import TableLog, bounds, lifetimes
from thence.engines.windows.latest_triples import LatestTriples
from thence.engines.windows.program import (
    ROWS,
    Columns,
    KeptEvents,
    KeptJoin,
    KeptMatch,
    KeptRows,
    KeptSeq,
    KeptTriple,
    KeptUnion,
)
from thence.errors import LimitError
from thence.match import vectorised_evaluator
from thence.match.background import Background
from thence.match.context import Context
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.match.stream_data import StreamData
from thence.rdf.terms import IRI
from thence.rdf.times import MIN_TIME
from thence.relation.interval_table import IntervalTable, Relation, chosen_columns, concatenated, empty
from thence.relation.solution_store import MAX_PAIRS, SolutionStore

# Solutions of WINDOW patterns that are kept from one evaluation to the next.
#
# A *lifetime* is the first and the last evaluation at which something holds: a triple is in a window from when its
# event enters until it leaves, and a solution holds while all of its triples do. So a solution is found once, when the
# last of its triples comes, and is not looked for again when one of them leaves. Lifetimes of equal triples do not
# overlap (RS-24), so that those of one solution do not either.

_FEW = 1000
"""A store that small is not cleared of rows that have left."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An evaluation: its time, the logs, and what patterns outside WINDOW read, which never changes. `windows` has each
    window without a triple: what is in WINDOW may not ask for any."""

    time: int
    logs: Sequence[TableLog]
    default: EventBatch
    windows: dict[IRI, EventBatch]
    background: Background
    context: Context


class MaintainedPart(ABC):
    """The solutions of a pattern. A row's interval is its lifetime."""

    columns: Columns
    places: int = 0  # how many events a row has, and numbers about them

    @abstractmethod
    def changes(self, step: Step) -> IntervalTable:
        """The solutions that hold at this evaluation or a later one, without those of earlier calls."""

    @property
    @abstractmethod
    def stored(self) -> int:
        """The number of stored rows."""


def maintained_part(kept: maintenance.KeptPart | maintenance.KeptEventPart) -> MaintainedPart:
    """A part without any rows yet."""
    match kept:
        case KeptEvents():
            return MaintainedEvents(kept)
        case KeptSeq():
            return MaintainedSeq(maintained_part(kept.left), maintained_part(kept.right))
        case KeptMatch():
            return MaintainedMatch(maintained_part(kept.events))
        case KeptTriple():
            return MaintainedTriple(kept)
        case KeptJoin():
            return MaintainedJoin(maintained_part(kept.left), maintained_part(kept.right))
        case KeptUnion():
            return MaintainedUnion(kept, maintained_part(kept.left), maintained_part(kept.right))
        case KeptRows():
            return MaintainedRows(kept, maintained_part(kept.part))
        case _:
            assert_never(kept)


@dataclass(slots=True, eq=False)
class _Cursor:
    """The upper cursor of a window in a log."""

    kept: KeptTriple | KeptEvents
    seen: int = MIN_TIME - 1  # the last end that it has passed

    def advance(self, step: Step) -> slice:
        """The rows that the window holds now and that it has not passed before."""
        inside = bounds(self.kept.function, step.time)
        low, high = step.logs[self.kept.table].rows(inside._replace(after=max(inside.after, self.seen)))
        self.seen = max(self.seen, inside.upto)
        return slice(low, high)


class MaintainedTriple(MaintainedPart):
    """The triples of a window that match a triple pattern. New ones are those that the upper cursor has passed."""

    def __init__(self, kept: KeptTriple) -> None:
        self.columns = kept.columns
        self._kept = kept
        self._cursor = _Cursor(kept)
        self._latest = LatestTriples(len(kept.places))

    def changes(self, step: Step) -> IntervalTable:
        rows = self._cursor.advance(step)
        first, last = lifetimes(self._kept.function, step.logs[self._kept.table].end[rows].copy())
        ids = step.logs[self._kept.table].ids[list(self._kept.places), rows]
        self._latest.split(ids, first, last, step.time)
        return _holding(IntervalTable(first, last, ids, np.empty((0, len(first)), np.int64)), step.time)

    @property
    def stored(self) -> int:
        return self._latest.count


@dataclass(slots=True, eq=False)
class _Side:
    """One side of a join, hashed on the shared variables."""

    store: SolutionStore
    kept: int = 0  # how many rows stayed, when it was last cleared

    @classmethod
    def of(cls, part: MaintainedPart, shared: Sequence[ColumnVariable]) -> _Side:
        keys = tuple(part.columns.index(name) for name in shared)
        return cls(SolutionStore(keys, len(keys), False, len(part.columns), part.places))

    def add(self, rows: IntervalTable, time: int) -> None:
        if len(self.store) > 2 * self.kept + _FEW:
            self.store.keep(self.store.table.end >= time)
            self.kept = len(self.store)
        self.store.add(rows)

    def partners(self, rows: IntervalTable, other: _Side) -> tuple[IntervalTable, IntervalTable]:
        """Rows of the other side, and what is stored here for them: pair by pair."""
        try:
            news, olds = self.store.pairs(rows, other.store.keys, Relation.ANY, stored_left=False)
        except LimitError:
            raise LimitError(
                f"A join gives more than {MAX_PAIRS:,} rows at once. "
                "Try: patterns that share a variable, or a shorter RANGE"
            ) from None
        return rows.take(news), self.store.table.take(olds)


class MaintainedJoin(MaintainedPart):
    """A join: what is new on one side meets all of the other."""

    def __init__(self, left: MaintainedPart, right: MaintainedPart) -> None:
        shared = [name for name in left.columns if name in right.columns]
        self._others = [place for place, name in enumerate(right.columns) if name not in left.columns]
        self.columns = (*left.columns, *(right.columns[place] for place in self._others))
        self.places = left.places + right.places
        self._left, self._right = left, right
        self._lefts, self._rights = _Side.of(left, shared), _Side.of(right, shared)

    def changes(self, step: Step) -> IntervalTable:
        lefts, rights = self._left.changes(step), self._right.changes(step)
        new, known = self._rights.partners(lefts, self._lefts)
        found = [self._joined(new, known)]
        self._lefts.add(lefts, step.time)
        new, known = self._lefts.partners(rights, self._rights)
        found.append(self._joined(known, new))
        self._rights.add(rights, step.time)
        return _holding(concatenated(found), step.time)

    def _joined(self, left: IntervalTable, right: IntervalTable) -> IntervalTable:
        ids = np.concatenate([left.ids, right.ids[self._others]])
        refs = np.concatenate([left.refs, right.refs])
        return IntervalTable(np.maximum(left.start, right.start), np.minimum(left.end, right.end), ids, refs)

    @property
    def stored(self) -> int:
        return len(self._lefts.store) + len(self._rights.store) + self._left.stored + self._right.stored


class MaintainedEvents(MaintainedPart):
    """The mappings of an EVENT. Before its event, a row has the times at which the mapping starts and ends."""

    places = 3

    def __init__(self, kept: KeptEvents) -> None:
        self.columns = kept.columns
        self._kept = kept
        self._cursor = _Cursor(kept)

    def changes(self, step: Step) -> IntervalTable:
        rows, log = self._cursor.advance(step), step.logs[self._kept.table]
        first, last = lifetimes(self._kept.function, log.end[rows].copy())
        refs = np.array([log.start[rows], log.end[rows], log.refs[rows]])
        return _holding(IntervalTable(first, last, log.ids[list(self._kept.places), rows], refs), step.time)

    @property
    def stored(self) -> int:
        return 0  # but what the log has


class MaintainedSeq(MaintainedJoin):
    """`E1 SEQ E2`: all events of E1 end before E2 starts (7)."""

    def __init__(self, left: MaintainedPart, right: MaintainedPart) -> None:
        super().__init__(left, right)
        self.places = left.places + right.places - 2

    def _joined(self, left: IntervalTable, right: IntervalTable) -> IntervalTable:
        follows = left.refs[1] < right.refs[0]
        left, right = left.take(follows), right.take(follows)
        refs = np.concatenate([left.refs[:1], right.refs[1:2], left.refs[2:], right.refs[2:]])
        return replace(super()._joined(left, right), refs=refs)


class MaintainedMatch(MaintainedPart):
    """Event mappings without their times (8)."""

    def __init__(self, inner: MaintainedPart) -> None:
        self.columns, self.places = inner.columns, inner.places - 2
        self._inner = inner

    def changes(self, step: Step) -> IntervalTable:
        rows = self._inner.changes(step)
        return replace(rows, refs=rows.refs[2:])

    @property
    def stored(self) -> int:
        return self._inner.stored


class MaintainedUnion(MaintainedPart):
    """The solutions of both sides."""

    def __init__(self, kept: KeptUnion, left: MaintainedPart, right: MaintainedPart) -> None:
        self.columns = kept.columns
        self._sides = (left, right)

    def changes(self, step: Step) -> IntervalTable:
        return concatenated([_chosen(side, side.changes(step), self.columns) for side in self._sides])

    @property
    def stored(self) -> int:
        return sum(side.stored for side in self._sides)


_NUMBER = Variable("row of a part")


class MaintainedRows(MaintainedPart):
    """The result of a pattern for each row alone."""

    def __init__(self, kept: KeptRows, inner: MaintainedPart) -> None:
        self.columns = kept.columns
        self.places = inner.places
        self._pattern, self._inner = kept.pattern, inner

    def changes(self, step: Step) -> IntervalTable:
        rows = self._inner.changes(step)
        if self._pattern == ROWS or not len(rows):
            return _chosen(self._inner, rows, self.columns)
        table = solution_table(self._inner.columns, rows).with_column(_NUMBER, np.arange(len(rows), dtype=np.int32))
        streams = StreamData(step.default.terms, step.windows, (), {ROWS: table})
        context = replace(step.context, streams=streams)
        made = vectorised_evaluator.evaluate(self._pattern, step.default, step.background, context)
        kept = made.columns[_NUMBER]
        ids = np.full((len(self.columns), len(made)), UNBOUND, np.int32)
        for place, name in enumerate(self.columns):
            if name in made.columns:
                ids[place] = made.columns[name]
        return IntervalTable(rows.start[kept], rows.end[kept], ids, rows.refs[:, kept])

    @property
    def stored(self) -> int:
        return self._inner.stored


def solution_table(columns: Columns, rows: IntervalTable) -> SolutionTable:
    """Rows as solutions of the one graph of a window."""
    found: dict[ColumnVariable, Ids] = dict(zip(columns, rows.ids, strict=True))
    return SolutionTable(len(rows), found, np.zeros(len(rows), np.int32))


def _holding(rows: IntervalTable, time: int) -> IntervalTable:
    """The rows that hold at this time or later."""
    holds = (rows.end >= time) & (rows.start <= rows.end)
    return rows if holds.all() else rows.take(holds)


def _chosen(part: MaintainedPart, rows: IntervalTable, columns: Columns) -> IntervalTable:
    if part.columns == columns:
        return rows
    places = [part.columns.index(name) if name in part.columns else -1 for name in columns]
    return replace(rows, ids=chosen_columns(rows.ids, places))


# `LiveRows`: the rows of a part that hold at an evaluation, and how they change.

"""So few rows are not cleared of those that have left."""


@dataclass(slots=True, eq=False)
class LiveRows:
    """Rows of a part, and those that will hold later: `width` columns and `places` events, which `shape` makes of the
    part's."""

    part: MaintainedPart
    width: int
    places: int
    shape: Callable[[IntervalTable, Step], IntervalTable]
    time: int = MIN_TIME - 1  # of the last evaluation
    count: int = 0
    holds_any: bool = False
    _table: IntervalTable = field(init=False)  # longer than there are rows
    _kept: int = 0  # how many rows stayed, when it was last cleared

    def __post_init__(self) -> None:
        self._table = empty(self.width, self.places)

    def advance(self, step: Step) -> tuple[IntervalTable, IntervalTable]:
        """Go on to an evaluation: the rows that hold now and did not before, and the reverse. A row that is replaced by
        an equal one is in both."""
        before, time = self.time, step.time
        changes = self.part.changes(step)
        if len(changes):
            self._add(self.shape(changes, step))
        rows = self._rows
        holds = self._holding(time)
        self.time, self.holds_any = time, bool(holds.any())
        if before < MIN_TIME:
            return rows.take(holds), rows.take(slice(0))
        found = rows.take(holds & (rows.start > before)), rows.take(self._holding(before) & (rows.end < time))
        if self.count > 2 * self._kept + _FEW:
            self._clear(rows.end >= time)
        return found

    def rows(self) -> IntervalTable:
        """The rows that hold."""
        return self._rows.take(self._holding(self.time))

    @property
    def _rows(self) -> IntervalTable:
        return self._table.take(slice(self.count))

    def _holding(self, time: int) -> NDArray[np.bool_]:
        rows = self._rows
        found: NDArray[np.bool_] = (rows.start <= time) & (rows.end >= time)
        return found

    def _add(self, rows: IntervalTable) -> None:
        low, high = self.count, self.count + len(rows)
        if high > len(self._table):
            self._allocate(2 * high)
        table = self._table
        table.start[low:high], table.end[low:high] = rows.start, rows.end
        table.ids[:, low:high], table.refs[:, low:high] = rows.ids, rows.refs
        self.count = high

    def _clear(self, stays: NDArray[np.bool_]) -> None:
        kept = self._rows.take(stays)
        self.count = 0
        self._add(kept)
        self._kept = self.count

    def _allocate(self, capacity: int) -> None:
        old, self._table = (
            self._rows,
            IntervalTable(
                np.empty(capacity, np.int64),
                np.empty(capacity, np.int64),
                np.empty((self.width, capacity), np.int32),
                np.empty((self.places, capacity), np.int64),
            ),
        )
        self.count = 0
        self._add(old)

    @property
    def stored(self) -> int:
        return self.count + self.part.stored
