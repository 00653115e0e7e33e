"""Finite streams in the order of time: sorted in memory, or checked if they are sorted already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thence.program.operator import NEVER
from thence.rdf.times import MIN_TIME

if TYPE_CHECKING:
    from thence.columns.column_batch import Batch

    Stretch = tuple[list[Batch], int | None]
    """Some events of a stream, each batch in the order of time; and a time that all of them are before, and none that
    comes later is. None: no event comes later."""

_TOGETHER = 65_536
"""Events that the kernel is given at a time."""


class OutOfOrderError(Exception):
    """An event is earlier than one before it: the rows so far may be wrong."""


def in_time_order(streams: Mapping[str, Sequence[Batch]]) -> Iterator[tuple[dict[str, list[Batch]], int]]:
    """Finite streams in the order of time, some thousand events at once, each time with the next time that may come;
    with the last of them that is NEVER."""
    return merge_streams({name: sort_stream(listed) for name, listed in streams.items()})


def merge_streams(streams: Mapping[str, Iterator[Stretch]]) -> Iterator[tuple[dict[str, list[Batch]], int]]:
    """The stretches of several streams as those of all. Of each stream, no more is waiting than it takes to know what
    comes next. The latest events come together with the end, which may complete matches at their time."""
    waiting: dict[str, list[Batch]] = {name: [] for name in streams}
    come_to = dict.fromkeys(streams, MIN_TIME)  # what more of a stream may come from; those that have ended are not in
    while come_to:
        behind = min(come_to, key=come_to.__getitem__)
        more, upto = next(streams[behind], ([], None))
        waiting[behind] += more
        if upto is None:
            del come_to[behind]
        else:
            come_to[behind] = upto
        now = min([*come_to.values(), NEVER - 1])
        ready = {name: _before(listed, now) for name, listed in waiting.items()} if come_to else {}
        if any(ready.values()):
            waiting = {name: _from(listed, now) for name, listed in waiting.items()}
            yield ready, now
    yield waiting, NEVER


def sort_stream(batches: Sequence[Batch]) -> Iterator[Stretch]:
    """All events of a stream, in whatever order they stand."""
    ordered = [_by_time(batch) for batch in batches if len(batch)]
    if not ordered:
        return
    times = np.concatenate([batch.ends for batch in ordered])
    times = times if _ascends(times) else np.sort(times)
    for low in np.unique(times[::_TOGETHER]).tolist()[1:]:
        yield _before(ordered, low), low
        ordered = _from(ordered, low)
    yield ordered, None


def check_order(batches: Iterable[Batch]) -> Iterator[Stretch]:
    """The events of a stream that are in the order of time already; an `OutOfOrderError` if they are not. No more than
    two batches are held, but for events of one time."""
    waiting: list[Batch] = []
    last = MIN_TIME
    for batch in batches:
        if not len(batch):
            continue
        first = int(batch.ends[0])
        if first < last or not _ascends(batch.ends):
            raise OutOfOrderError
        if ready := _before(waiting, first):  # so that events of one time stay together
            yield ready, first
            waiting = _from(waiting, first)
        waiting.append(batch)
        last = int(batch.ends[-1])
    if waiting:
        yield waiting, None


def _by_time(batch: Batch) -> Batch:
    return batch if _ascends(batch.ends) else batch.take(np.argsort(batch.ends, kind="stable"))


def _ascends(times: np.ndarray) -> bool:
    return bool((times[1:] >= times[:-1]).all())


def _before(batches: Iterable[Batch], time: int) -> list[Batch]:
    """The events before a time of some batches, each in the order of time."""
    counted = ((batch, int(np.searchsorted(batch.ends, time))) for batch in batches)
    return [batch if size == len(batch) else batch.take(np.arange(size)) for batch, size in counted if size]


def _from(batches: Iterable[Batch], time: int) -> list[Batch]:
    """The events from a time on."""
    counted = ((batch, int(np.searchsorted(batch.ends, time))) for batch in batches)
    return [
        batch if not size else batch.take(np.arange(size, len(batch))) for batch, size in counted if size < len(batch)
    ]
