"""Expressions written as SPARQL text, evaluated on their own."""

from __future__ import annotations

from thence.algebra.expressions import Variable
from thence.lang.sparql.parser import parse_expression
from thence.match.context import Context, ExpressionError
from thence.match.expression_evaluator import evaluate as evaluate_expression
from thence.rdf.terms import XSD, Literal, Term

PREFIXES = {"xsd": XSD, "": "http://example.org/"}
CONTEXT = Context(now=Literal("2024-02-29T12:00:00Z", XSD + "dateTime"), base="http://example.org/base/")


def evaluate(text: str, /, *, context: Context = CONTEXT, **bindings: Term) -> Term:
    """The term that an expression is."""
    expression = parse_expression(text, prefixes=PREFIXES)
    return evaluate_expression(expression, {Variable(name): term for name, term in bindings.items()}, context)


def refused(text: str, /, *, context: Context = CONTEXT, **bindings: Term) -> str:
    """Why an expression is an error; nothing if it is none."""
    try:
        evaluate(text, context=context, **bindings)
    except ExpressionError as error:
        return str(error)
    return ""
