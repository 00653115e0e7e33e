"""Expressions (SPARQL 1.1, section 17)."""

from __future__ import annotations

from typing import Any

from lark import Token

from thence.algebra.chains import DEPTH, chain
from thence.algebra.expressions import (
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Comparison,
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
from thence.algebra.variables import has_aggregate
from thence.lang.long_chains import LONG_CHAIN
from thence.lang.sparql.triple_reader import TripleReader
from thence.rdf.terms import IRI, Literal

_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}


class ExpressionReader(TripleReader):
    """Expressions; brackets leave no trace beyond the shape of the tree."""

    def conditional_or_expression(self, *operands: Expression) -> Expression:
        return chain(Or, operands)

    def conditional_and_expression(self, *operands: Expression) -> Expression:
        return chain(And, operands)

    def comparison(self, left: Expression, sign: Token, right: Expression) -> Expression:
        return Compare(Comparison(sign), left, right)

    def membership(self, operand: Expression, *rest: Any) -> Expression:
        found = In(operand, rest[-1])
        return Not(found) if len(rest) > 1 else found

    def additive_expression(self, first: Expression, *rest: Any) -> Expression:
        parts = iter(rest)
        pairs = [part if isinstance(part, tuple) else (Operation(part), next(parts)) for part in parts]
        return self._fold(first, pairs)

    def multiplicative_expression(self, first: Expression, *rest: Any) -> Expression:
        return self._fold(
            first, [(Operation(sign), operand) for sign, operand in zip(rest[::2], rest[1::2], strict=True)]
        )

    def signed_term(self, number: Literal, *rest: Any) -> tuple[Operation, Expression]:
        """`?a -1 * 2`, where the sign was taken for the number's own, is `?a - (1 * 2)`."""
        unsigned = Literal(number.value[1:], number.datatype)
        return Operation(number.value[0]), self.multiplicative_expression(unsigned, *rest)

    def negation(self, operand: Expression) -> Expression:
        return Not(operand)

    def signed(self, sign: Token, operand: Expression) -> Expression:
        return Negate(operand) if sign == "-" else Plus(operand)

    def bound(self, variable: Variable) -> Expression:
        return Bound(variable)

    def conditional(self, condition: Expression, then: Expression, otherwise: Expression) -> Expression:
        return If(condition, then, otherwise)

    def coalesce(self, choices: tuple[Expression, ...]) -> Expression:
        return Coalesce(choices)

    def call(self, function: Token, *arguments: Any) -> Expression:
        keyword = function.upper()
        name = _SYNONYMS.get(keyword, keyword)
        given = arguments[0] if arguments and isinstance(arguments[0], tuple) else arguments
        if name == "IRI" and self.base is not None:
            given = (*given, IRI(self.base))  # what a relative IRI is resolved against, once it is known
        return Call(name, given)

    def expression_list(self, *expressions: Expression) -> tuple[Expression, ...]:
        return expressions

    def arg_list(self, *arguments: Any) -> tuple[bool, tuple[Expression, ...]]:
        distinct = bool(arguments) and isinstance(arguments[0], Token)
        return distinct, arguments[1:] if distinct else arguments

    def function_call(self, function: IRI, arguments: tuple[bool, tuple[Expression, ...]]) -> Expression:
        return Cast(function, arguments[1], arguments[0])

    def iri_or_function(self, iri: IRI, *arguments: tuple[bool, tuple[Expression, ...]]) -> Expression:
        return self.function_call(iri, *arguments) if arguments else iri

    def aggregate(self, function: Token, *rest: Any) -> Expression:
        distinct = isinstance(rest[0], Token) and rest[0].upper() == "DISTINCT"
        operand, *separator = rest[1:] if distinct else rest
        if isinstance(operand, Token):  # COUNT(*)
            operand = None
        elif has_aggregate(operand):
            raise self.error(f"{function.upper()} stands around another aggregate; a group is aggregated once.")
        return Aggregate(AggregateFunction(function.upper()), operand, distinct, *separator)

    def _fold(self, first: Expression, rest: list[tuple[Operation, Expression]]) -> Expression:
        if len(rest) >= DEPTH:
            raise self.error(LONG_CHAIN.format(len(rest)))
        for operation, operand in rest:
            first = Arithmetic(operation, first, operand)
        return first
