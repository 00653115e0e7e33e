"""The order of rows: certainty, then end, start, the ids of the events, the statement's number, and what the
rows bind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from thence.columns.row_order import sorted_by_times
from thence.jit.strided_columns import read_columns
from thence.program.solutions import Cell, Solutions, as_one
from thence.runtime.event_log import EventLog
from thence.runtime.match_ids import match_ids

Ints = NDArray[np.int64]

Ordered = tuple[Solutions, Ints | None]
"""Solutions, and the order of their rows; None where they are in it already."""


def in_order(parts: Iterable[Solutions], log: EventLog, *, by_certainty: bool) -> Iterator[Ordered]:
    """The solutions of a step in order. `by_certainty`: the parts are in the order of certainty, so that each can be
    emitted as soon as no later one can have rows of its last time."""
    waiting: list[Solutions] = []
    for part in parts:
        if not len(part):
            continue
        if by_certainty and waiting:
            earlier = as_one(waiting)
            tail = int(np.searchsorted(earlier.certain, earlier.certain[-1]))
            if tail:
                head = earlier.take(np.arange(tail))
                yield head, order_of(head, log)
            waiting = [earlier.take(np.arange(tail, len(earlier)))]
        waiting.append(part)
    if waiting:
        together = as_one(waiting)
        yield together, order_of(together, log)


def order_of(solutions: Solutions, log: EventLog) -> Ints | None:
    """The order of some rows; None if it is the one they have."""
    if solutions.is_sorted or len(solutions) < 2:
        return None
    certain, end, start = solutions.certain, solutions.end, solutions.start
    if solutions.rank is not None:
        return np.lexsort((solutions.rank, end, certain))
    order = sorted_by_times(certain, end, start)
    is_new = bool((order[1:] < order[:-1]).any())
    if is_new:
        certain, end, start = read_columns([certain, end, start], order)
    ties = _ties(certain, end, start)
    names = _event_names(solutions, [order[first:last] for first, last in ties], log)
    for first, last in ties:
        order[first:last] = _by_events(solutions, order[first:last].tolist(), names, log)
        is_new = True
    return order if is_new else None


def _ties(certain: Ints, end: Ints, start: Ints) -> list[tuple[int, int]]:
    """Where rows in order have the same certainty, end and start: first and last, exclusive, of each such group."""
    same = (end[1:] == end[:-1]) & (start[1:] == start[:-1])
    if not same.any():
        return []
    same &= certain[1:] == certain[:-1]
    bounds = np.flatnonzero(np.diff(same, prepend=False, append=False))
    return [(first, last + 1) for first, last in zip(bounds[::2].tolist(), bounds[1::2].tolist(), strict=True)]


def _event_names(solutions: Solutions, tied: list[Ints], log: EventLog) -> dict[int, str]:
    """The ids of the events of tied rows, by ref: each is asked for once."""
    if not tied:
        return {}
    refs = np.unique(solutions.events.get().take(np.concatenate(tied)).refs)
    return dict(zip(refs.tolist(), log.ids(refs).to_list(), strict=True))


def _by_events(solutions: Solutions, rows: list[int], names: dict[int, str], log: EventLog) -> list[int]:
    """Rows of the same times by their events' ids; rows of the same events by the number of their statement, then by
    what they bind, then by match id, so that the order never depends on the order of arrival."""
    lists = solutions.events.get()
    bounds = [lists.offsets[row : row + 2].tolist() for row in rows]
    queries = [0] * len(rows) if solutions.queries is None else solutions.queries[rows].tolist()
    ids = {
        row: ([names[ref] for ref in lists.refs[low:high].tolist()], query)
        for row, (low, high), query in zip(rows, bounds, queries, strict=True)
    }
    found: list[int] = []
    for _, alike in groupby(sorted(rows, key=ids.__getitem__), key=ids.__getitem__):
        same = list(alike)
        found += same if len(same) == 1 else _by_bindings(solutions, same, log)
    return found


def _by_bindings(solutions: Solutions, rows: list[int], log: EventLog) -> list[int]:
    shown = {row: shown_text(solutions.bindings(row)) for row in rows}
    if len(set(shown.values())) == len(rows):
        return sorted(rows, key=shown.__getitem__)
    some = solutions.take(np.array(rows, np.int64))
    names = dict(zip(rows, match_ids(some, log.ids(some.events.get().refs)).to_list(), strict=True))
    return sorted(rows, key=lambda row: (shown[row], names[row]))


def shown_text(bindings: object) -> str:
    """What a row shows, as text: equal rows have equal texts."""
    assert hasattr(bindings, "items")
    items: list[tuple[str, Cell]] = sorted(bindings.items(), key=lambda item: item[0])
    return repr(items)
