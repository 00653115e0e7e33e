"""The expressions of FILTER and SELECT that the oracles know, with SPARQL's errors (SPARQL 1.1, 17.2 and 17.3).

None is an error, also that of a variable without a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias, assert_never

from oracle import floating
from oracle.floating import calculated, rounded
from oracle.sparql_query import And as And
from oracle.sparql_query import Arithmetic as Arithmetic
from oracle.sparql_query import Bound as Bound
from oracle.sparql_query import Coalesce as Coalesce
from oracle.sparql_query import Compare as Compare
from oracle.sparql_query import Not as Not
from oracle.sparql_query import Or as Or
from oracle.terms import Blank, Iri, Literal, Term, Var

Expression: TypeAlias = Var | Term | Compare | Arithmetic | And | Or | Not | Bound | Coalesce


@dataclass(frozen=True)
class Number:
    """A number that was computed, or a literal's: exact, xsd:integer or xsd:decimal; or `binary`: float or double."""

    value: Fraction | float
    integer: bool
    binary: str = ""


Value: TypeAlias = Term | Number | bool


def holds(expression: Expression, mapping: Mapping[str, Term]) -> bool:
    """Does a FILTER let the mapping through? An error does not."""
    return truth(expression, mapping) is True


def truth(expression: Expression, mapping: Mapping[str, Term]) -> bool | None:
    """The effective boolean value; `&&`, `||` and `!` in SPARQL's logic of three values."""
    match expression:
        case And(left, right):
            sides = {truth(left, mapping), truth(right, mapping)}
            return False if False in sides else None if None in sides else True
        case Or(left, right):
            sides = {truth(left, mapping), truth(right, mapping)}
            return True if True in sides else None if None in sides else False
        case Not(operand):
            found = truth(operand, mapping)
            return None if found is None else not found
        case _:
            return effective(evaluate(expression, mapping))


def effective(value: Value | None) -> bool | None:
    """17.2.2: of numbers, strings and booleans; of all else an error."""
    match value:
        case bool():
            return value
        case Literal(lexical, "string"):
            return lexical != ""
        case _:
            found = number(value)
            return None if found is None else found.value != 0 and found.value == found.value  # NaN is false


def evaluate(expression: Expression, mapping: Mapping[str, Term]) -> Value | None:
    match expression:
        case Iri() | Blank() | Literal():
            return expression
        case Var(name):
            return mapping.get(name)
        case And() | Or() | Not():
            return truth(expression, mapping)
        case Bound(variable):
            return variable.name in mapping
        case Coalesce(operands):
            found = (evaluate(operand, mapping) for operand in operands)
            return next((value for value in found if value is not None), None)
        case Compare(operator, left, right):
            return compare(operator, evaluate(left, mapping), evaluate(right, mapping))
        case Arithmetic(operator, left, right):
            return calculate(operator, number(evaluate(left, mapping)), number(evaluate(right, mapping)))
        case _:
            assert_never(expression)


def number(value: Value | None) -> Number | None:
    match value:
        case Number():
            return value
        case Literal(lexical, "integer" | "decimal" as datatype):
            return Number(Fraction(lexical), datatype == "integer")
        case Literal("INF" | "-INF" | "NaN" as lexical, "float" | "double" as datatype):
            return Number(float(lexical), False, datatype)
        case Literal(lexical, "float" | "double" as datatype):
            negative_zero = lexical.startswith("-") and Fraction(lexical) == 0
            return Number(-0.0 if negative_zero else rounded(Fraction(lexical), datatype), False, datatype)
        case _:
            return None


def compare(operator: str, left: Value | None, right: Value | None) -> bool | None:
    """Literals of two known types are different, and have no order; IRIs and blank nodes are equal or not."""
    if left is None or right is None:
        return None
    if (x := number(left)) is not None and (y := number(right)) is not None:
        left, right = promoted(x, y)
    (kind, a), (other, b) = _comparable(left), _comparable(right)
    if operator in _EQUALITY:
        return bool(_EQUALITY[operator]((kind, a), (other, b)))
    return bool(_ORDER[operator](a, b)) if kind == other != "node" else None


_EQUALITY: dict[str, Callable[[Any, Any], Any]] = {"=": eq, "!=": ne}
_ORDER: dict[str, Callable[[Any, Any], Any]] = {"<": lt, ">": gt, "<=": le, ">=": ge}


def _comparable(value: Value) -> tuple[str, object]:
    """What kind of value it is, and what of it is compared with others of that kind."""
    match value:
        case bool():
            return "boolean", value
        case Iri() | Blank():
            return "node", value
        case Literal(lexical, "string" | "dateTime" as datatype):  # dates in UTC, of years with four digits
            return datatype, lexical
        case _:
            found = number(value)
            assert found is not None
            return "number", found.value


def calculate(operator: str, left: Number | None, right: Number | None) -> Number | None:
    """Exact, unless one is a float or double. Division gives an xsd:decimal; by zero, an error."""
    if left is None or right is None:
        return None
    left, right = promoted(left, right)
    a, b, integers = left.value, right.value, left.integer and right.integer
    if isinstance(a, float) and isinstance(b, float):
        return Number(calculated(operator, a, b, left.binary), False, left.binary)
    match operator:
        case "+":
            return Number(a + b, integers)
        case "-":
            return Number(a - b, integers)
        case "*":
            return Number(a * b, integers)
        case "/":
            return None if b == 0 else Number(a / b, integer=False)
    raise ValueError(operator)


def promoted(*numbers: Number) -> tuple[Number, ...]:
    """All in the widest type among them: integer, decimal, float, double (17.3)."""
    kinds = {each.binary for each in numbers}
    wide = "double" if "double" in kinds else "float" if "float" in kinds else ""
    return tuple(Number(rounded(each.value, wide), False, wide) for each in numbers) if wide else numbers


def total(terms: Sequence[Term], *, average: bool = False) -> Number | None:
    """SUM or AVG (C-31): the exact sum of the members, in the widest type among them, rounded once; 0 of none. An error
    if one is not a number."""
    members = [found for found in map(number, terms) if found is not None]
    if len(members) < len(terms):
        return None
    count = len(members) if average and members else 1
    kinds = {each.binary for each in members}
    wide = "double" if "double" in kinds else "float" if "float" in kinds else ""
    if wide:
        return Number(floating.total([each.value for each in members], wide, count), False, wide)
    exact = sum((Fraction(each.value) for each in members), Fraction(0)) / count
    return Number(exact, integer=all(each.integer for each in members) and (not average or not members))


def variables(expression: Expression) -> frozenset[str]:
    """The names that an expression uses."""
    match expression:
        case Var(name):
            return frozenset({name})
        case Iri() | Blank() | Literal():
            return frozenset()
        case Not(operand):
            return variables(operand)
        case Bound(variable):
            return frozenset({variable.name})
        case Coalesce(operands):
            return frozenset().union(*map(variables, operands))
        case Compare(_, left, right) | Arithmetic(_, left, right) | And(left, right) | Or(left, right):
            return variables(left) | variables(right)
        case _:
            assert_never(expression)
