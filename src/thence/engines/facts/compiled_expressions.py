"""Expressions and heads as functions of a frame, and tests that bound when a fact began. Integers are computed as they
are."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from thence.algebra.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Comparison,
    Expression,
    Not,
    Operation,
    Or,
    Variable,
)
from thence.algebra.tef_sparql import HeadTriple
from thence.algebra.traversal import conjuncts, nodes
from thence.algebra.variables import mentioned
from thence.engines.facts.frames import LIMIT, Cell, CellTriple, Frame, Layout, TimeCell, cell, term, time_cell
from thence.match.arithmetic import compute, written
from thence.match.context import Context, ExpressionError, Solution
from thence.match.expression_evaluator import compare, effective_boolean_value, evaluate, passes
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.numbers import divide
from thence.rdf.terms import IRI, BlankNode, Literal
from thence.rdf.times import MAX_TIME, MIN_TIME, Domain, time_literal
from thence.rdf.values import FALSE, TRUE
from thence.rdf.values import value as literal_value

# Expressions as functions of a frame. Integers are computed and compared as they are; everything else is left to the
# evaluator of SPARQL's expressions, so that the values are the same.


@dataclass(slots=True)
class Moment:
    """A time at which expressions are evaluated: what now() is (TEF-62)."""

    time: int
    domain: Domain
    base: Context
    _context: Context | None = field(default=None, compare=False)

    @property
    def now(self) -> Cell:
        return time_cell(self.time, self.domain)

    @property
    def context(self) -> Context:
        """The context for what is evaluated as SPARQL; made when first asked for."""
        if self._context is None:
            self._context = replace(self.base, now=time_literal(self.time, self.domain))
        return self._context


Value: TypeAlias = Callable[[Frame, Moment], Cell]
"""The value of an expression, or an ExpressionError."""
Attempt: TypeAlias = Callable[[Frame, Moment], Cell | None]
"""The value of an expression; None for an error."""
Truth: TypeAlias = Callable[[Frame, Moment], bool]

_ON_INTEGERS = {Operation.ADD: operator.add, Operation.SUBTRACT: operator.sub, Operation.MULTIPLY: operator.mul}
_OF_INTEGERS = {
    Comparison.EQUAL: operator.eq,
    Comparison.NOT_EQUAL: operator.ne,
    Comparison.LESS: operator.lt,
    Comparison.GREATER: operator.gt,
    Comparison.LESS_OR_EQUAL: operator.le,
    Comparison.GREATER_OR_EQUAL: operator.ge,
}


def attempted(expression: Expression, layout: Layout) -> Attempt:
    """An expression whose error is None (TEF-59)."""
    if isinstance(expression, Variable):
        return _slot(layout.slots[expression])
    value = _value(expression, layout) if _is_direct(expression) else _evaluated(expression, layout)

    def attempt(frame: Frame, moment: Moment) -> Cell | None:
        try:
            return value(frame, moment)
        except ExpressionError:
            return None

    return attempt


def _slot(slot: int) -> Attempt:
    return lambda frame, moment: frame[slot]


def truth_of(expression: Expression, layout: Layout) -> Truth:
    """Whether a condition is true; an error is as good as false."""
    if not _is_direct(expression):
        solution = _solution(expression, layout)
        return lambda frame, moment: passes(expression, solution(frame), moment.context)
    truth = _truth(expression, layout)

    def test(frame: Frame, moment: Moment) -> bool:
        try:
            return truth(frame, moment)
        except ExpressionError:
            return False

    return test


def _is_direct(expression: Expression) -> bool:
    """Whether it is made of what is compiled here."""
    return all(
        isinstance(node, Variable | IRI | Literal | Arithmetic | Compare | And | Or | Not) or node == Call("NOW", ())
        for node in nodes(expression)
    )


def _solution(expression: Expression, layout: Layout) -> Callable[[Frame], Solution]:
    named = {node for node in nodes(expression) if isinstance(node, Variable)}
    slots = [(variable, layout.slots[variable]) for variable in sorted(named, key=lambda each: each.name)]

    def solution(frame: Frame) -> Solution:
        return {variable: term(each) for variable, slot in slots if (each := frame[slot]) is not None}

    return solution


def _evaluated(expression: Expression, layout: Layout) -> Value:
    solution = _solution(expression, layout)
    return lambda frame, moment: cell(evaluate(expression, solution(frame), moment.context))


def _value(expression: Expression, layout: Layout) -> Value:
    match expression:
        case Variable():
            return _variable(expression, layout)
        case IRI() | Literal():
            constant = cell(expression)
            return lambda frame, moment: constant
        case Call():
            return lambda frame, moment: moment.now
        case Arithmetic():
            return _arithmetic(expression, layout)
        case _:
            truth = _truth(expression, layout)
            return lambda frame, moment: TRUE if truth(frame, moment) else FALSE


def _variable(variable: Variable, layout: Layout) -> Value:
    slot = layout.slots[variable]

    def value(frame: Frame, moment: Moment) -> Cell:
        found = frame[slot]
        if found is None:
            raise ExpressionError(f"{variable} is unbound")
        return found

    return value


def _arithmetic(expression: Arithmetic, layout: Layout) -> Value:
    left, right = _value(expression.left, layout), _value(expression.right, layout)
    operation = expression.operation
    direct = _ON_INTEGERS.get(operation)
    is_division = operation is Operation.DIVIDE

    def value(frame: Frame, moment: Moment) -> Cell:
        one, other = left(frame, moment), right(frame, moment)
        if direct is not None and type(one) is int and type(other) is int:
            found: int = direct(one, other)
            if -LIMIT < found < LIMIT:
                return found
        if is_division and type(one) is int and type(other) is int and other != 0:
            return cell(written(divide(one, other)))
        return cell(compute(operation, term(one), term(other)))

    return value


def _truth(expression: Expression, layout: Layout) -> Truth:
    match expression:
        case Compare():
            return _comparison(expression, layout)
        case And():
            return _and(_truth(expression.left, layout), _truth(expression.right, layout))
        case Or():
            return _or(_truth(expression.left, layout), _truth(expression.right, layout))
        case Not():
            negated = _truth(expression.operand, layout)
            return lambda frame, moment: not negated(frame, moment)
        case _:
            value = _value(expression, layout)
            return lambda frame, moment: effective_boolean_value(term(value(frame, moment)))


def _comparison(expression: Compare, layout: Layout) -> Truth:
    match expression:
        case Compare(comparison, Arithmetic(Operation.SUBTRACT) as between, Literal() as right):
            length = microseconds(right)
            if length is not None and comparison in _OF_INTEGERS:
                return _duration_comparison(expression, between, length, layout)
    return _any_comparison(expression, layout)


def _duration_comparison(expression: Compare, between: Arithmetic, length: int, layout: Layout) -> Truth:
    """`duration(a, b) op length`: times are compared by their microseconds, anything else as SPARQL does."""
    later, earlier = _value(between.left, layout), _value(between.right, layout)
    direct, otherwise = _OF_INTEGERS[expression.comparison], _any_comparison(expression, layout)

    def truth(frame: Frame, moment: Moment) -> bool:
        one, other = later(frame, moment), earlier(frame, moment)
        if isinstance(one, TimeCell) and isinstance(other, TimeCell):
            found: bool = direct(one.time - other.time, length)
            return found
        return otherwise(frame, moment)

    return truth


def microseconds(literal: Literal) -> int | None:
    """The length of an xsd:dayTimeDuration; None if it is not a whole number of microseconds."""
    found = literal_value(literal) if literal.datatype == XSD_DAY_TIME_DURATION else None
    exact = Fraction(found.seconds) * 1_000_000 if isinstance(found, Duration) else Fraction(1, 2)
    return exact.numerator if exact.denominator == 1 else None


def _any_comparison(expression: Compare, layout: Layout) -> Truth:
    left, right = _value(expression.left, layout), _value(expression.right, layout)
    comparison = expression.comparison
    direct = _OF_INTEGERS.get(comparison)

    def truth(frame: Frame, moment: Moment) -> bool:
        one, other = left(frame, moment), right(frame, moment)
        if direct is not None and type(one) is int and type(other) is int:
            found: bool = direct(one, other)
            return found
        return compare(comparison, term(one), term(other))

    return truth


def _and(left: Truth, right: Truth) -> Truth:
    """An error on one side yields to a false on the other (17.2)."""

    def truth(frame: Frame, moment: Moment) -> bool:
        try:
            if not left(frame, moment):
                return False
        except ExpressionError:
            if not right(frame, moment):
                return False
            raise
        return right(frame, moment)

    return truth


def _or(left: Truth, right: Truth) -> Truth:
    """An error on one side yields to a true on the other (17.2)."""

    def truth(frame: Frame, moment: Moment) -> bool:
        try:
            if left(frame, moment):
                return True
        except ExpressionError:
            if right(frame, moment):
                return True
            raise
        return right(frame, moment)

    return truth


# Tests that bound when a fact began by what an event binds: `duration(?t, ?now) > 10d`, `?t < ?now - 100`. They narrow
# which facts are looked at; each is still tested.

_FLIPPED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_OR_EQUAL: Comparison.GREATER_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: Comparison.LESS_OR_EQUAL,
    Comparison.EQUAL: Comparison.EQUAL,
}


class StartBound(NamedTuple):
    """The start is as `comparison` says, beside a time: that of an expression and so many ticks or microseconds; None:
    its value in that domain is not a time."""

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
    """The bounds that a condition sets for a variable that is the start of a fact."""
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
    """The bound of a start that is compared with `base`, or with a sum or difference of `base` and a length."""
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


# The heads of CONSTRUCT over a layout.


HeadPart: TypeAlias = tuple[Cell | None, int]


@dataclass(slots=True)
class CompiledTriple:
    """A triple of a head: `parts` has a constant or a slot for each, and neither for an object that is computed, by
    `target`."""

    target: Attempt
    parts: tuple[HeadPart, HeadPart, HeadPart]

    def known(self, frame: Frame) -> list[Cell | None]:
        """The terms of the triple that a frame settles."""
        return [frame[slot] if slot >= 0 else constant for constant, slot in self.parts]

    def frame_of(self, triple: CellTriple, slots: Sequence[int], empty: Frame) -> Frame | None:
        """The frame that a triple gives some slots; None if it does not match this head."""
        found = list(empty)
        for (constant, slot), each in zip(self.parts, triple, strict=True):
            if constant is not None and constant != each:
                return None
            if slot in slots:
                if found[slot] is not None and found[slot] != each:
                    return None
                found[slot] = each
        return tuple(found)


@dataclass(slots=True)
class Head:
    triples: tuple[CompiledTriple, ...]

    def of(self, frame: Frame, moment: Moment) -> list[CellTriple]:
        """The triples that it makes; one whose expression has an error is left out (TEF-59)."""
        found: list[CellTriple] = []
        for each in self.triples:
            (subject, first), (predicate, second), (target, third) = each.parts
            if first >= 0:
                subject = frame[first]
            if second >= 0:
                predicate = frame[second]
            if third >= 0:
                target = frame[third]
            elif target is None:
                target = each.target(frame, moment)
            if isinstance(predicate, str) and isinstance(subject, str | BlankNode) and target is not None:
                found.append((subject, predicate, target))
        return found


def compiled_head(head: Sequence[HeadTriple], layout: Layout) -> Head:
    return Head(tuple(_compiled(each, layout) for each in head))


def _compiled(triple: HeadTriple, layout: Layout) -> CompiledTriple:
    def part(found: object) -> HeadPart:
        if isinstance(found, Variable):
            return None, layout.slots[found]
        return (cell(found), -1) if isinstance(found, IRI | Literal) else (None, -1)

    parts = (part(triple.subject), part(triple.predicate), part(triple.object))
    return CompiledTriple(attempted(triple.object, layout), parts)
