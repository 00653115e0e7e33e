"""Expressions over columns: the value of an expression in every row of a table at once.

Comparison and arithmetic of numbers, dates and booleans run compiled (`tagged_arithmetic`); every other
function of terms calls the reference evaluator once for each distinct combination of arguments. Both give the same
answers: an error is a row without value, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Comparison,
    Exists,
    Expression,
    If,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
from thence.columns import value_kinds
from thence.columns.arrays import Ids
from thence.columns.canonical_terms import tagged_literal
from thence.columns.dictionary import UNBOUND, Terms
from thence.match import tagged_arithmetic
from thence.match.context import Context, ExpressionError
from thence.match.expression_evaluator import effective_boolean_value, evaluate
from thence.match.solution_table import SolutionTable
from thence.rdf.terms import IRI, Literal, Term

Truth = NDArray[np.int8]
"""Three-valued: TRUE, FALSE or ERROR in each row."""

TRUE, FALSE, ERROR = np.int8(1), np.int8(0), np.int8(-1)

_OPERATIONS = {
    Operation.ADD: tagged_arithmetic.ADD,
    Operation.SUBTRACT: tagged_arithmetic.SUBTRACT,
    Operation.MULTIPLY: tagged_arithmetic.MULTIPLY,
    Operation.DIVIDE: tagged_arithmetic.DIVIDE,
}
HOLDS = {
    Comparison.EQUAL: (tagged_arithmetic.EQUAL,),
    Comparison.NOT_EQUAL: (
        tagged_arithmetic.LESS,
        tagged_arithmetic.GREATER,
        tagged_arithmetic.UNORDERED,
        tagged_arithmetic.DIFFERENT,
    ),
    Comparison.LESS: (tagged_arithmetic.LESS,),
    Comparison.GREATER: (tagged_arithmetic.GREATER,),
    Comparison.LESS_OR_EQUAL: (tagged_arithmetic.LESS, tagged_arithmetic.EQUAL),
    Comparison.GREATER_OR_EQUAL: (tagged_arithmetic.GREATER, tagged_arithmetic.EQUAL),
}
"""The orders in which a comparison is true."""


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedColumn:
    """One value per row: tag and bits (`thence.columns.value_kinds`), and the term's id, UNBOUND if the value is
    computed and has no id yet."""

    tags: NDArray[np.uint16]
    bits: NDArray[np.int64]
    ids: Ids

    @property
    def kinds(self) -> NDArray[np.uint16]:
        kinds: NDArray[np.uint16] = self.tags & np.uint16(value_kinds.KIND_MASK)
        return kinds

    @property
    def is_error(self) -> NDArray[np.bool_]:
        error: NDArray[np.bool_] = self.tags == value_kinds.NONE
        return error

    def where(self, condition: NDArray[np.bool_], other: EvaluatedColumn) -> EvaluatedColumn:
        """This where the condition holds, the other elsewhere."""
        return EvaluatedColumn(
            np.where(condition, self.tags, other.tags),
            np.where(condition, self.bits, other.bits),
            np.where(condition, self.ids, other.ids),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ExpressionColumns:
    """The expressions of one table."""

    terms: Terms
    solutions: SolutionTable
    context: Context

    def holds(self, condition: Expression) -> NDArray[np.bool_]:
        """The rows that pass a FILTER."""
        passes: NDArray[np.bool_] = self._truth(condition) == TRUE
        return passes

    def ids(self, expression: Expression) -> Ids:
        """The term in each row, UNBOUND for an error; new terms enter the dictionary."""
        return self._with_ids(self.value(expression)).ids

    def value(self, expression: Expression) -> EvaluatedColumn:
        match expression:
            case Variable():
                return self._of_ids(self.solutions.columns.get(expression))
            case IRI() | Literal():
                return self._of_ids(np.full(len(self.solutions), self.terms.add(expression), np.int32))
            case And() | Or() | Not() | In() | Bound() | Compare():
                return _booleans(self._truth(expression))
            case If():
                return self._if(expression)
            case Coalesce():
                return self._coalesce(expression)
            case Arithmetic():
                return self._arithmetic(expression)
            case Negate():
                return self._apply(Negate, (expression.operand,))
            case Plus():
                return self._apply(Plus, (expression.operand,))
            case Call():
                return self._apply(lambda *names: Call(expression.function, names), expression.arguments)
            case Cast():
                return self._apply(lambda *names: Cast(expression.function, names), expression.arguments)
            case Exists() | Aggregate():
                raise AssertionError("EXISTS and aggregates are evaluated event by event")
            case _:
                assert_never(expression)

    def _truth(self, expression: Expression) -> Truth:
        """The effective boolean value (17.2.2) in each row."""
        match expression:
            case And():
                return _and(self._truth(expression.left), self._truth(expression.right))
            case Or():
                return _or(self._truth(expression.left), self._truth(expression.right))
            case Not():
                return _not(self._truth(expression.operand))
            case Bound():
                return self._bound(expression.variable)
            case Compare():
                return self._compare(expression.comparison, self.value(expression.left), self.value(expression.right))
            case In():
                return self._in(expression)
            case _:
                return self._effective(self.value(expression))

    # Terms and values

    def _of_ids(self, ids: Ids | None) -> EvaluatedColumn:
        if ids is None:
            ids = np.full(len(self.solutions), UNBOUND, np.int32)
        if not len(self.terms):
            return _errors(len(ids))
        found = EvaluatedColumn(self.terms.tags[ids], self.terms.bits[ids], ids)
        is_bound = ids != UNBOUND
        return found if is_bound.all() else found.where(is_bound, _errors(len(ids)))

    def _with_ids(self, column: EvaluatedColumn) -> EvaluatedColumn:
        """The same values, each with a term: computed ones become their canonical literals."""
        rows = np.flatnonzero((column.ids == UNBOUND) & ~column.is_error)
        if not len(rows):
            return column
        distinct, where = _distinct_values(column.tags[rows], column.bits[rows])
        literals = [tagged_literal(tag, bits) for tag, bits in distinct]
        ids = column.ids.copy()
        ids[rows] = self.terms.add_all(literals)[where]
        return EvaluatedColumn(column.tags, column.bits, ids)

    def _apply(self, build: Callable[..., Expression], arguments: tuple[Expression, ...]) -> EvaluatedColumn:
        """A function of terms: the reference evaluator is asked once for each distinct combination of arguments."""
        return self._plainly(build, [self.value(argument) for argument in arguments], None)

    def _plainly(
        self, build: Callable[..., Expression], arguments: list[EvaluatedColumn], rows: NDArray[np.int64] | None
    ) -> EvaluatedColumn:
        """`build(arguments)` by the reference evaluator, in some rows (None: all); errors in the others."""
        length = len(self.solutions)
        rows = np.arange(length) if rows is None else rows
        columns = [self._with_ids(_taken(argument, rows)).ids for argument in arguments]
        bound = np.flatnonzero(
            reduce(np.logical_and, [ids != UNBOUND for ids in columns], np.ones(len(rows), np.bool_))
        )
        names = [Variable(f"{place}") for place in range(len(arguments))]
        expression = build(*names)
        distinct, where = _distinct_rows([ids[bound] for ids in columns], len(bound))
        results: list[Term | None] = []
        for combination in distinct:
            mapping = {name: self.terms[index] for name, index in zip(names, combination, strict=True)}
            try:
                results.append(evaluate(expression, mapping, self.context))
            except ExpressionError:
                results.append(None)
        ids = np.full(length, UNBOUND, np.int32)
        ids[rows[bound]] = self.terms.add_all(results)[where]
        return self._of_ids(ids)

    # Conditions

    def _if(self, expression: If) -> EvaluatedColumn:
        condition = self._truth(expression.condition)
        chosen = self.value(expression.then).where(condition == TRUE, self.value(expression.otherwise))
        return chosen.where(condition != ERROR, _errors(len(condition)))

    def _coalesce(self, expression: Coalesce) -> EvaluatedColumn:
        chosen = _errors(len(self.solutions))
        for choice in expression.choices:
            chosen = chosen.where(~chosen.is_error, self.value(choice))
        return chosen

    def _bound(self, variable: Variable) -> Truth:
        ids = self.solutions.columns.get(variable)
        if ids is None:
            return np.full(len(self.solutions), FALSE)
        bound: Truth = (ids != UNBOUND).astype(np.int8)
        return bound

    def _in(self, expression: In) -> Truth:
        operand = self.value(expression.operand)
        found = [self._compare(Comparison.EQUAL, operand, self.value(choice)) for choice in expression.choices]
        return reduce(_or, found, np.full(len(self.solutions), FALSE))

    def _compare(self, comparison: Comparison, left: EvaluatedColumn, right: EvaluatedColumn) -> Truth:
        orders = np.empty(len(left.tags), np.int8)
        tagged_arithmetic.order_all(left.tags, left.bits, right.tags, right.bits, orders)
        truth: Truth = reduce(np.logical_or, [orders == each for each in HOLDS[comparison]]).astype(np.int8)
        undecided = orders == tagged_arithmetic.UNDECIDED
        if comparison not in (Comparison.EQUAL, Comparison.NOT_EQUAL):
            # terms without a number have no order here, though strings have one
            undecided |= (left.kinds <= value_kinds.OTHER) | (right.kinds <= value_kinds.OTHER)
        error = left.is_error | right.is_error
        truth[error] = ERROR
        rows = np.flatnonzero(undecided & ~error)
        if len(rows):
            asked = self._plainly(lambda a, b: Compare(comparison, a, b), [left, right], rows)
            truth[rows] = np.where(asked.is_error[rows], ERROR, asked.bits[rows].astype(np.int8))
        return truth

    def _effective(self, column: EvaluatedColumn) -> Truth:
        truth = np.full(len(column.tags), ERROR)
        kinds = column.kinds
        exact = (kinds == value_kinds.BOOLEAN) | (kinds == value_kinds.INTEGER) | (kinds == value_kinds.DECIMAL)
        truth[exact] = column.bits[exact] != 0
        floating = (kinds == value_kinds.DOUBLE) | (kinds == value_kinds.FLOAT)
        doubles = column.bits[floating].view(np.float64)
        truth[floating] = (doubles != 0) & ~np.isnan(doubles)
        rows = np.flatnonzero(
            (kinds == value_kinds.STRING) | (kinds == value_kinds.LANG) | (kinds == value_kinds.OTHER)
        )
        distinct, where = _distinct_rows([column.ids[rows]], len(rows))
        found = np.array([self._effective_term(self.terms[index]) for (index,) in distinct], np.int8)
        truth[rows] = found[where]
        return truth

    def _effective_term(self, term: Term) -> np.int8:
        try:
            return TRUE if effective_boolean_value(term) else FALSE
        except ExpressionError:
            return ERROR

    def _arithmetic(self, expression: Arithmetic) -> EvaluatedColumn:
        left, right = self.value(expression.left), self.value(expression.right)
        found = EvaluatedColumn(
            np.empty_like(left.tags), np.empty_like(left.bits), np.full(len(left.tags), UNBOUND, np.int32)
        )
        tagged_arithmetic.arithmetic_all(
            _OPERATIONS[expression.operation], left.tags, left.bits, right.tags, right.bits, found.tags, found.bits
        )
        slow = found.tags == tagged_arithmetic.SLOW
        if not slow.any():
            return found
        asked = self._plainly(lambda a, b: Arithmetic(expression.operation, a, b), [left, right], np.flatnonzero(slow))
        return asked.where(slow, found)


def _taken(column: EvaluatedColumn, rows: NDArray[np.int64]) -> EvaluatedColumn:
    return EvaluatedColumn(column.tags[rows], column.bits[rows], column.ids[rows])


def _errors(length: int) -> EvaluatedColumn:
    return EvaluatedColumn(np.zeros(length, np.uint16), np.zeros(length, np.int64), np.full(length, UNBOUND, np.int32))


def _booleans(truth: Truth) -> EvaluatedColumn:
    kind = np.where(truth == ERROR, value_kinds.NONE, value_kinds.BOOLEAN).astype(np.uint16)
    return EvaluatedColumn(kind, np.maximum(truth, 0).astype(np.int64), np.full(len(truth), UNBOUND, np.int32))


def _and(left: Truth, right: Truth) -> Truth:
    either = (left == FALSE) | (right == FALSE)
    return np.where(either, FALSE, np.minimum(left, right))


def _or(left: Truth, right: Truth) -> Truth:
    either = (left == TRUE) | (right == TRUE)
    return np.where(either, TRUE, np.minimum(left, right))


def _not(operand: Truth) -> Truth:
    return np.where(operand == ERROR, ERROR, TRUE - operand)


def _distinct_values(
    tag: NDArray[np.uint16], bits: NDArray[np.int64]
) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
    """The distinct (tag, bits), and which of them each row has."""
    pairs = np.rec.fromarrays([tag, bits])
    distinct, where = np.unique(pairs, return_inverse=True)
    return [(int(t), int(b)) for t, b in distinct.tolist()], where


def _distinct_rows(columns: list[Ids], length: int) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """The distinct combinations of some columns, and which of them each row has. No columns: one combination, the empty
    one."""
    codes = np.zeros(length, np.int64)
    for ids in columns:
        distinct, where = np.unique(ids, return_inverse=True)
        codes = np.unique(codes * (len(distinct) + 1) + where, return_inverse=True)[1]
    if not length:
        return [], codes
    first = np.unique(codes, return_index=True)[1]
    return list(zip(*(ids[first].tolist() for ids in columns), strict=True)) or [()], codes
