"""Terms, expressions and paths as SPARQL text. Brackets only where the grammar needs them to rebuild the same tree."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import partial
from typing import Final, assert_never

from thence.algebra.chains import FEW
from thence.algebra.ep_sparql import DURATION, END_TIME, START_TIME
from thence.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
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
from thence.algebra.patterns import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    Path,
    PathSequence,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.text_writer import BracedGroup, TextItem, separated
from thence.rdf.terms import IRI, RDF, XSD, Literal, Term

_BARE: Final = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile("true|false"),
}


_TIME_FUNCTIONS: Final = {DURATION: "getDURATION", START_TIME: "getSTARTTIME", END_TIME: "getENDTIME"}


class Precedence(IntEnum):
    """How tightly an expression binds; an operand that binds less tightly than its place needs brackets."""

    OR = 1
    AND = 2
    RELATION = 3
    SUM = 4
    PRODUCT = 5
    UNARY = 6
    PRIMARY = 7


def term_text(term: Term | Variable) -> str:
    """A term as short as SPARQL allows without prefixes.

    >>> print(term_text(Literal("42", XSD + "integer")), term_text(Literal("a\\nb", language="en")))
    42 "a\\nb"@en
    """
    if isinstance(term, Literal) and (bare := _BARE.get(term.datatype)) and bare.fullmatch(term.value):
        return term.value
    return str(term)


def verb_text(verb: Variable | IRI) -> str:
    return "a" if verb == IRI(RDF + "type") else str(verb)


def expression_items(expression: Expression, place: int = Precedence.OR) -> list[TextItem]:
    """An expression, in brackets if it binds less tightly than its place needs."""
    binding = _binding(expression)
    items = _expression(expression)
    return ["(", *items, ")"] if binding < place else items


def _binding(expression: Expression) -> Precedence:
    match expression:
        case Or():
            return Precedence.OR
        case And():
            return Precedence.AND
        case Compare() | In() | Not(In()):
            return Precedence.RELATION
        case Arithmetic(Operation.ADD | Operation.SUBTRACT):
            return Precedence.SUM
        case Arithmetic():
            return Precedence.PRODUCT
        case Not(Exists()):
            return Precedence.PRIMARY
        case Not() | Negate() | Plus():
            return Precedence.UNARY
        case _:
            return Precedence.PRIMARY


def _expression(expression: Expression) -> list[TextItem]:
    match expression:
        case Variable() | IRI() | Literal():
            return [term_text(expression)]
        case Or() | And() | Arithmetic():
            return _chain(expression)
        case Compare():
            return [_at(expression.left, 4), f" {expression.comparison.value} ", _at(expression.right, 4)]
        case In():
            return [_at(expression.operand, 4), " IN ", *_arguments(expression.choices)]
        case Not(In() as found):
            return [_at(found.operand, 4), " NOT IN ", *_arguments(found.choices)]
        case Not(Exists() as exists):
            return ["NOT EXISTS ", BracedGroup(exists.pattern)]
        case Not():
            return ["!", _at(expression.operand, 7)]
        case Negate():
            return ["-", _unsigned(expression.operand)]
        case Plus():
            return ["+", _unsigned(expression.operand)]
        case _:
            return _built_in(expression)


def _built_in(
    expression: Bound | If | Coalesce | Exists | Call | Cast | Aggregate,
) -> list[TextItem]:
    match expression:
        case Bound():
            return [f"BOUND({expression.variable})"]
        case If():
            return ["IF", *_arguments((expression.condition, expression.then, expression.otherwise))]
        case Coalesce():
            return ["COALESCE", *_arguments(expression.choices)]
        case Exists():
            return ["EXISTS ", BracedGroup(expression.pattern)]
        case Call():
            written = expression.arguments[:1] if expression.function == "IRI" else expression.arguments
            return [_TIME_FUNCTIONS.get(expression.function, expression.function), *_arguments(written)]
        case Cast():
            return [str(expression.function), *_arguments(expression.arguments, distinct=expression.distinct)]
        case Aggregate():
            return _aggregate(expression)
        case _:
            assert_never(expression)


def _aggregate(aggregate: Aggregate) -> list[TextItem]:
    operand: TextItem = "*" if aggregate.operand is None else _at(aggregate.operand, 1)
    separator = "" if aggregate.separator is None else f"; SEPARATOR = {Literal(aggregate.separator)}"
    return [aggregate.function.value, "(", "DISTINCT " if aggregate.distinct else "", operand, separator, ")"]


def _chain(expression: Or | And | Arithmetic) -> list[TextItem]:
    """A left-leaning chain without brackets, as far as the parser would build it so."""
    binding = _binding(expression)
    few = FEW if isinstance(expression, Or | And) else None  # a chain of sums is never balanced
    items: list[TextItem] = []
    first: Expression = expression
    operands = 1
    while isinstance(first, Or | And | Arithmetic) and _binding(first) == binding and operands != few:
        items[:0] = [f" {_sign(first)} ", _at(first.right, binding + 1)]
        first = first.left
        operands += 1
    return [_at(first, binding + 1), *items]


def _sign(expression: Or | And | Arithmetic) -> str:
    match expression:
        case Or():
            return "||"
        case And():
            return "&&"
        case Arithmetic():
            return expression.operation.value
        case _:
            assert_never(expression)


def _at(expression: Expression, place: int) -> TextItem:
    return partial(expression_items, expression, place)


def _unsigned(operand: Expression) -> TextItem:
    """A sign before a bare number would be read as part of it."""
    return f"({term_text(operand)})" if isinstance(operand, Literal) else _at(operand, Precedence.PRIMARY)


def _arguments(arguments: tuple[Expression, ...], *, distinct: bool = False) -> list[TextItem]:
    listed = separated(", ", [_at(argument, Precedence.OR) for argument in arguments])
    return ["(", "DISTINCT " if distinct else "", *listed, ")"]


# Paths


class PathPrecedence(IntEnum):
    ALTERNATIVE = 1
    SEQUENCE = 2
    ELEMENT = 3
    PRIMARY = 4


def path_items(path: Path, place: int = PathPrecedence.ALTERNATIVE) -> list[TextItem]:
    """A path, in brackets if it binds less tightly than its place needs."""
    match path:
        case IRI():
            return [verb_text(path)]
        case Alternative():
            items = _path_chain(path)
            return ["(", *items, ")"] if place > PathPrecedence.ALTERNATIVE else items
        case PathSequence():
            items = _path_chain(path)
            return ["(", *items, ")"] if place > PathPrecedence.SEQUENCE else items
        case Inverse():
            # `^` takes an element with its `*`, so what it stands before may be one; as an operand it may not be itself
            inner = path.path
            below = 3 if isinstance(inner, ZeroOrMore | OneOrMore | ZeroOrOne) else 4
            items = ["^", partial(path_items, inner, below)]
            return ["(", *items, ")"] if place > PathPrecedence.ELEMENT else items
        case ZeroOrMore() | OneOrMore() | ZeroOrOne():
            sign = {ZeroOrMore: "*", OneOrMore: "+", ZeroOrOne: "?"}[type(path)]
            items = [partial(path_items, path.path, PathPrecedence.PRIMARY), sign]
            return ["(", *items, ")"] if place > PathPrecedence.ELEMENT else items
        case NegatedSet():
            members = [*map(verb_text, path.forward), *(f"^{verb_text(iri)}" for iri in path.backward)]
            return ["!(", "|".join(members), ")"]
        case _:
            assert_never(path)


def _path_chain(path: Alternative | PathSequence) -> list[TextItem]:
    sign, below = ("|", 2) if isinstance(path, Alternative) else ("/", 3)
    items: list[TextItem] = []
    first: Path = path
    operands = 1
    while isinstance(first, Alternative | PathSequence) and type(first) is type(path) and operands < FEW:
        items[:0] = [sign, partial(path_items, first.right, below)]
        first = first.left
        operands += 1
    return [partial(path_items, first, below), *items]
