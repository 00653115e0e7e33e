"""What an expression of SPARQL does with the times of events, and which kind of time goes with it (C-2, C-28): adding a
number needs ticks, adding a duration needs dates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

from thence.algebra.expressions import Arithmetic, Compare, Expression, Negate, Operation
from thence.rdf.dates import XSD_DAY_TIME_DURATION, DateTime, Duration
from thence.rdf.terms import Literal
from thence.rdf.times import Domain
from thence.rdf.values import is_number, value


class TimeKind(Enum):
    """The kind of a value, as far as the text tells."""

    TIME = "the time of an event"  # a tick or a date
    LAPSE = "what lies between two"  # ticks or a duration
    NUMBER = "a number"
    INSTANT = "a date"
    DURATION = "a duration"
    UNKNOWN = "any other"


_ADDED = (Operation.ADD, Operation.SUBTRACT)
_OPEN = {TimeKind.TIME, TimeKind.LAPSE}
_SETTLED = {TimeKind.NUMBER: Domain.TICKS, TimeKind.INSTANT: Domain.DATETIME, TimeKind.DURATION: Domain.DATETIME}

Times = Callable[[Expression], TimeKind | None]
"""TIME or LAPSE of what is one, in a language; None of all else."""


def time_demands(compared: Compare, times: Times) -> Iterator[tuple[Domain, Expression]]:
    """The kinds of time that a comparison and its operands go with, and the part that does.

    >>> from thence.algebra.expressions import Comparison, Variable
    >>> twenty = Literal("20", "http://www.w3.org/2001/XMLSchema#integer")
    >>> start, end = Variable("s"), Variable("e")
    >>> late = Compare(Comparison.GREATER, Arithmetic(Operation.SUBTRACT, end, start), twenty)
    >>> [domain.name for domain, _ in time_demands(late, {start: TimeKind.TIME, end: TimeKind.TIME}.get)]
    ['TICKS']
    """
    found: list[tuple[Domain, Expression]] = []
    left, right = (_kind(side, times, found) for side in (compared.left, compared.right))
    yield from found
    yield from _settled(left, right, compared)
    yield from _settled(right, left, compared)


def _settled(one: TimeKind, other: TimeKind, asked: Expression) -> Iterator[tuple[Domain, Expression]]:
    fits = {TimeKind.TIME: (TimeKind.NUMBER, TimeKind.INSTANT), TimeKind.LAPSE: (TimeKind.NUMBER, TimeKind.DURATION)}
    if other in fits.get(one, ()):
        yield _SETTLED[other], asked


def _kind(expression: Expression, times: Times, found: list[tuple[Domain, Expression]]) -> TimeKind:
    given = times(expression)
    if given is not None:
        return given
    match expression:
        case Literal():
            return _of_constant(expression)
        case Negate(operand=operand):
            kind = _kind(operand, times, found)
            return TimeKind.UNKNOWN if kind in (TimeKind.TIME, TimeKind.INSTANT) else kind
        case Arithmetic(operation=operation, left=left, right=right):
            kinds = _kind(left, times, found), _kind(right, times, found)
            return _computed(expression, operation, kinds, found)
    return TimeKind.UNKNOWN


def _of_constant(literal: Literal) -> TimeKind:
    known = value(literal)
    if is_number(known):
        return TimeKind.NUMBER
    if isinstance(known, DateTime):
        return TimeKind.INSTANT
    is_comparable = isinstance(known, Duration) and known.datatype == XSD_DAY_TIME_DURATION
    return TimeKind.DURATION if is_comparable else TimeKind.UNKNOWN


def _computed(
    asked: Expression,
    operation: Operation,
    kinds: tuple[TimeKind, TimeKind],
    found: list[tuple[Domain, Expression]],
) -> TimeKind:
    time, lapse, number, duration = TimeKind.TIME, TimeKind.LAPSE, TimeKind.NUMBER, TimeKind.DURATION
    if TimeKind.UNKNOWN in kinds:
        return TimeKind.UNKNOWN
    match operation, kinds:
        case Operation.SUBTRACT, (TimeKind.TIME, TimeKind.TIME):
            return lapse
        case _, (one, other) if operation in _ADDED and {one, other} & _OPEN:
            settled = ({one, other} - _OPEN) & {number, duration}
            if settled:
                found.append((_SETTLED[settled.pop()], asked))
            if TimeKind.INSTANT in kinds:
                return TimeKind.UNKNOWN
            return time if time in kinds else lapse
        case _, (one, other) if operation in _ADDED and one is other and one in (number, duration):
            return one
        case Operation.MULTIPLY, (one, other) if number in kinds and {one, other} <= {number, lapse, duration}:
            return next((each for each in kinds if each is not number), number)
        case Operation.DIVIDE, (one, TimeKind.NUMBER) if one in (number, lapse, duration):
            return one
        case Operation.DIVIDE, (one, other) if {one, other} <= {lapse, duration}:
            if duration in kinds and lapse in kinds:
                found.append((Domain.DATETIME, asked))
            return number
    return TimeKind.UNKNOWN
