"""What a window holds at a time (Definition 3; RS-7 to RS-10)."""

from __future__ import annotations

from typing import NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from thence.algebra.rsep_ql import (
    IdentityWindow,
    IntervalWindow,
    LandmarkWindow,
    NowWindow,
    TimeWindow,
    WindowFunction,
)
from thence.rdf.times import MAX_TIME, MIN_TIME

Ints = NDArray[np.int64]


class Bounds(NamedTuple):
    """The events of a window: `after` < end ≤ `upto`. Neither falls as time advances."""

    after: int
    upto: int


def last_multiple(time: int, length: int) -> int:
    """The last multiple that is not later; rounded down below 0 too.

    >>> last_multiple(7, 2), last_multiple(-1, 2)
    (6, -2)
    """
    return time // length * length


def first_multiple(time: int, length: int) -> int:
    """The first multiple that is not earlier.

    >>> first_multiple(7, 2), first_multiple(-1, 2)
    (8, 0)
    """
    return -(-time // length) * length


def bounds(function: WindowFunction, time: int) -> Bounds:
    """W(S, t), by the ends of events.

    >>> from thence.rdf.times import Domain, Span
    >>> bounds(TimeWindow(Span(5, Domain.TICKS), Span(2, Domain.TICKS)), -1)
    Bounds(after=-7, upto=-2)
    """
    match function:
        case TimeWindow():
            last = time if function.slide is None else last_multiple(time, function.slide.length)
            return Bounds(last - function.width.length, last)
        case LandmarkWindow():
            return Bounds(function.first.time - 1, time)
        case IntervalWindow():
            return Bounds(function.first.time - 1, min(function.last.time, time))
        case NowWindow():
            return Bounds(time - 1, time)
        case IdentityWindow():
            return Bounds(MIN_TIME - 1, time)
        case _:
            assert_never(function)


def is_bounded(function: WindowFunction) -> bool:
    """Whether its content cannot grow for ever."""
    return not isinstance(function, LandmarkWindow | IdentityWindow)


def latest_content(function: WindowFunction) -> int:
    """The latest end that an event can have which it ever holds."""
    return function.last.time if isinstance(function, IntervalWindow) else MAX_TIME


def next_change(function: WindowFunction, time: int, oldest: int | None, following: int | None) -> int | None:
    """The earliest later time at which the content may differ: `oldest` is the end of the first event that it holds,
    `following` that of the first event behind it, as far as there are any."""
    found = []
    match function:
        case TimeWindow():
            slide = 1 if function.slide is None else function.slide.length
            if oldest is not None:
                found.append(first_multiple(oldest + function.width.length, slide))
            if following is not None:
                found.append(first_multiple(following, slide))
        case NowWindow():
            if oldest is not None:
                found.append(time + 1)
            if following is not None:
                found.append(following)
        case LandmarkWindow() | IntervalWindow() | IdentityWindow():
            if following is not None:
                found.append(following)
        case _:
            assert_never(function)
    return max(min(found), time + 1) if found else None


_FAR = 2**61
"""Where sums of times may leave 64 bits."""


def lifetimes(function: WindowFunction, ends: Ints) -> tuple[Ints, Ints]:
    """The first and the last evaluation at which a window holds events that it holds at some time, by their ends, which
    are in order. Neither falls as the ends rise.

    >>> from thence.rdf.times import Domain, Span
    >>> window = TimeWindow(Span(5, Domain.TICKS), Span(2, Domain.TICKS))
    >>> [each.tolist() for each in lifetimes(window, np.array([2, 3]))]
    [[2, 4], [7, 7]]
    """
    match function:
        case TimeWindow():
            width, slide = function.width.length, 1 if function.slide is None else function.slide.length
            if max(width, slide) > _FAR or (len(ends) and (ends[0] < -_FAR or ends[-1] > _FAR)):
                return _far_lifetimes(width, slide, ends)
            return -(-ends // slide) * slide, -(-(ends + width) // slide) * slide - 1
        case NowWindow():
            return ends, ends
        case LandmarkWindow() | IntervalWindow() | IdentityWindow():
            return ends, np.full(len(ends), MAX_TIME)
        case _:
            assert_never(function)


def _far_lifetimes(width: int, slide: int, ends: Ints) -> tuple[Ints, Ints]:
    first, last = [], []
    for end in ends.tolist():
        first.append(min(first_multiple(end, slide), MAX_TIME))
        last.append(min(first_multiple(end + width, slide) - 1, MAX_TIME))
    return np.array(first, np.int64), np.array(last, np.int64)
