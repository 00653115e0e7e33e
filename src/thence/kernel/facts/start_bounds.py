"""Tests that bound when a fact began by what an event binds: `duration(?t, ?now) > 10d`, `?t < ?now - 100`. They narrow
which facts are looked at; each is still tested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from thence.algebra.expressions import Arithmetic, Compare, Comparison, Expression, Operation, Variable
from thence.algebra.traversal import conjuncts
from thence.algebra.variables import mentioned
from thence.kernel.facts.cells import TimeCell, cell
from thence.kernel.facts.compiled_expressions import Attempt, Moment, attempted, microseconds
from thence.kernel.facts.frames import Frame, Layout
from thence.rdf.terms import Literal
from thence.rdf.times import MAX_TIME, MIN_TIME, Domain

_FLIPPED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_OR_EQUAL: Comparison.GREATER_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: Comparison.LESS_OR_EQUAL,
    Comparison.EQUAL: Comparison.EQUAL,
}


class StartBound(NamedTuple):
    """The start is as `comparison` says, beside a time: that of an expression and so many ticks or microseconds; None:
    its value in that domain is no time."""

    comparison: Comparison
    base: Attempt
    ticks: int | None
    microseconds: int | None

    def limits(self, frame: Frame, moment: Moment) -> tuple[int, int]:
        """The first and the last start that pass the test."""
        found = self.base(frame, moment)
        if moment.domain is Domain.TICKS:
            if type(found) is not int or self.ticks is None:
                return MIN_TIME, MAX_TIME
            time = found + self.ticks
        else:
            if not isinstance(found, TimeCell) or self.microseconds is None:
                return MIN_TIME, MAX_TIME
            time = found.time + self.microseconds
        match self.comparison:
            case Comparison.LESS:
                return MIN_TIME, time - 1
            case Comparison.LESS_OR_EQUAL:
                return MIN_TIME, time
            case Comparison.GREATER:
                return time + 1, MAX_TIME
            case Comparison.GREATER_OR_EQUAL:
                return time, MAX_TIME
            case _:
                return time, time


def start_bounds(condition: Expression, start: Variable, layout: Layout) -> tuple[StartBound, ...]:
    """What a condition says about a variable, which is the start of a fact."""
    return tuple(_bounds(condition, start, layout))


def _bounds(condition: Expression, start: Variable, layout: Layout) -> Iterator[StartBound]:
    for part in conjuncts(condition):
        if isinstance(part, Compare) and part.comparison in _FLIPPED:
            comparison, left, right = part.comparison, part.left, part.right
            if start in mentioned(right):
                comparison, left, right = _FLIPPED[comparison], right, left
            if start in mentioned(right):
                continue
            match left:
                case Variable() if left == start:
                    yield _bound(comparison, right, None, layout)
                case Arithmetic(Operation.SUBTRACT, Variable() as first, second) if first == start:
                    if start not in mentioned(second):  # ?t - x < y: ?t < y + x
                        yield _bound(comparison, second, (right, Operation.ADD), layout)
                case Arithmetic(Operation.SUBTRACT, first, Variable() as second) if second == start:
                    if start not in mentioned(first):  # x - ?t < y: ?t > x - y
                        yield _bound(_FLIPPED[comparison], first, (right, Operation.SUBTRACT), layout)


def _bound(
    comparison: Comparison, base: Expression, other: tuple[Expression, Operation] | None, layout: Layout
) -> StartBound:
    """Beside `base`, or a sum or difference of it and another."""
    if other is None:
        return StartBound(comparison, attempted(base, layout), 0, 0)
    length, operation = other
    if not isinstance(length, Literal):
        return StartBound(comparison, attempted(Arithmetic(operation, base, length), layout), 0, 0)
    ticks, whole = cell(length), microseconds(length)
    sign = 1 if operation is Operation.ADD else -1
    return StartBound(
        comparison,
        attempted(base, layout),
        sign * ticks if type(ticks) is int else None,
        None if whole is None else sign * whole,
    )
