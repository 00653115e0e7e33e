"""The value of an expression in a solution (17): terms in, a term out, or an ExpressionError."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import assert_never

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
    Or,
    Plus,
    Variable,
)
from thence.match.arithmetic import cast, compute, negated, number, written
from thence.match.context import Context, ExpressionError, Solution
from thence.match.functions import call
from thence.rdf.terms import IRI, RDF_LANG_STRING, XSD_STRING, Literal, Term
from thence.rdf.values import FALSE, NUMERIC, TRUE, XSD_BOOLEAN, equal, less, value


def evaluate(expression: Expression, solution: Solution, context: Context) -> Term:
    """The term that an expression is in a solution.

    >>> from thence.rdf.terms import XSD
    >>> x, two = Variable("x"), Literal("2", XSD + "integer")
    >>> print(evaluate(Compare(Comparison.LESS, x, two), {x: Literal("1.5", XSD + "decimal")}, Context()))
    "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
    """
    match expression:
        case Variable():
            return _variable(expression, solution, context)
        case IRI() | Literal():
            return expression
        case Compare():
            left = evaluate(expression.left, solution, context)
            right = evaluate(expression.right, solution, context)
            return _boolean(compare(expression.comparison, left, right))
        case And():
            return _boolean(_and(expression, solution, context))
        case Or():
            return _boolean(_or(expression, solution, context))
        case Not():
            return _boolean(not holds(expression.operand, solution, context))
        case Arithmetic():
            left = evaluate(expression.left, solution, context)
            return compute(expression.operation, left, evaluate(expression.right, solution, context))
        case Call():
            arguments = [evaluate(argument, solution, context) for argument in expression.arguments]
            return call(expression.function, arguments, context)
        case Cast():
            return _cast(expression, solution, context)
        case Bound():
            bound = expression.variable in solution or expression.variable in context.outer
            return _boolean(bound)
        case In():
            return _boolean(_in(expression, solution, context))
        case If():
            chosen = expression.then if holds(expression.condition, solution, context) else expression.otherwise
            return evaluate(chosen, solution, context)
        case Coalesce():
            return _coalesce(expression, solution, context)
        case Negate():
            return negated(evaluate(expression.operand, solution, context))
        case Plus():
            return written(number(evaluate(expression.operand, solution, context)))
        case Exists():
            if context.exists is None:
                raise ExpressionError("EXISTS was asked where there is no graph")
            return _boolean(context.exists(expression.pattern, solution, context))
        case Aggregate():
            raise ExpressionError("an aggregate was asked of one solution")
        case _:
            assert_never(expression)


def attempt(expression: Expression, solution: Solution, context: Context) -> Term | None:
    """The term that an expression is in a solution; None for an error."""
    try:
        return evaluate(expression, solution, context)
    except ExpressionError:
        return None


def holds(condition: Expression, solution: Solution, context: Context) -> bool:
    """The effective boolean value of an expression."""
    return effective_boolean_value(evaluate(condition, solution, context))


def passes(condition: Expression, solution: Solution, context: Context) -> bool:
    """Whether a FILTER lets a solution through: an error is as good as false."""
    try:
        with context.labels:
            return holds(condition, solution, context)
    except ExpressionError:
        return False


def effective_boolean_value(term: Term) -> bool:
    """17.2.2: a boolean's value; a string that is not empty; a number other than 0 and NaN. Ill-typed: false."""
    if isinstance(term, Literal):
        if term.datatype in (XSD_STRING, RDF_LANG_STRING):
            return term.value != ""
        if term.datatype == XSD_BOOLEAN or term.datatype in NUMERIC:
            found = value(term)
            if isinstance(found, float):
                return found != 0 and not math.isnan(found)
            return bool(found) if isinstance(found, bool | int | Decimal) else False
    raise ExpressionError(f"{term} is neither true nor false")


def compare(comparison: Comparison, left: Term, right: Term) -> bool:
    """`left comparison right` (17.3)."""
    match comparison:
        case Comparison.EQUAL:
            return _decided(equal(left, right))
        case Comparison.NOT_EQUAL:
            return not _decided(equal(left, right))
        case Comparison.SAME:
            return _decided(equal(left, right) if _kind(left) == _kind(right) else None)
        case Comparison.DIFFERENT:
            return not compare(Comparison.SAME, left, right)
        case Comparison.LESS:
            return _decided(less(left, right))
        case Comparison.GREATER:
            return _decided(less(right, left))
        case Comparison.LESS_OR_EQUAL:
            return _decided(less(left, right)) or _decided(equal(left, right))
        case Comparison.GREATER_OR_EQUAL:
            return _decided(less(right, left)) or _decided(equal(left, right))
        case _:
            assert_never(comparison)


def _kind(term: Term) -> object:
    """The kind of a term for comparisons: a number, a text, …"""
    if not isinstance(term, Literal):
        return "name"
    return "number" if term.datatype in NUMERIC else term.datatype


def _decided(truth: bool | None) -> bool:
    if truth is None:
        raise ExpressionError("these two can't be compared")
    return truth


def _boolean(truth: bool) -> Literal:
    return TRUE if truth else FALSE


def _variable(variable: Variable, solution: Solution, context: Context) -> Term:
    term = solution.get(variable)
    if term is None:
        term = context.outer.get(variable)
    if term is None:
        raise ExpressionError(f"{variable} is unbound")
    return term


def _and(expression: And, solution: Solution, context: Context) -> bool:
    """An error on one side yields to a false on the other (17.2)."""
    try:
        if not holds(expression.left, solution, context):
            return False
    except ExpressionError:
        if not holds(expression.right, solution, context):
            return False
        raise
    return holds(expression.right, solution, context)


def _or(expression: Or, solution: Solution, context: Context) -> bool:
    """An error on one side yields to a true on the other (17.2)."""
    try:
        if holds(expression.left, solution, context):
            return True
    except ExpressionError:
        if holds(expression.right, solution, context):
            return True
        raise
    return holds(expression.right, solution, context)


def _in(expression: In, solution: Solution, context: Context) -> bool:
    """`operand = a || operand = b || …` (17.4.1.9)."""
    failed: ExpressionError | None = None
    for choice in expression.choices:
        try:
            operand = evaluate(expression.operand, solution, context)
            if _decided(equal(operand, evaluate(choice, solution, context))):
                return True
        except ExpressionError as error:
            failed = error
    if failed is not None:
        raise failed
    return False


def _coalesce(expression: Coalesce, solution: Solution, context: Context) -> Term:
    for choice in expression.choices:
        term = attempt(choice, solution, context)
        if term is not None:
            return term
    raise ExpressionError("COALESCE found no value")


def _cast(expression: Cast, solution: Solution, context: Context) -> Literal:
    if len(expression.arguments) != 1:
        raise ExpressionError(f"{expression.function} takes one argument")
    return cast(expression.function.value, evaluate(expression.arguments[0], solution, context))


__all__ = [
    "Context",
    "ExpressionError",
    "Solution",
    "attempt",
    "compare",
    "effective_boolean_value",
    "evaluate",
    "holds",
    "passes",
]
