"""Components and conditions of SASE+ as its text has them."""

from __future__ import annotations

from enum import IntEnum

from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Compare,
    Comparison,
    Expression,
    Negate,
    Not,
    Operation,
    Or,
    Variable,
)
from thence.algebra.sase import FUNCTIONS, Component, Key
from thence.algebra.show_sparql import term_text
from thence.algebra.streams import Name
from thence.rdf.dates import XSD_DAY_TIME_DURATION
from thence.rdf.terms import XSD, Literal

_COMPARISONS = {Comparison.SAME: "=", Comparison.DIFFERENT: "!="}
_QUOTED = {XSD + "string": "", XSD + "dateTime": "TIMESTAMP ", XSD + "date": "DATE "}
_CALLED = {called: word for word, (called, _) in FUNCTIONS.items()}


class _ConditionPrecedence(IntEnum):
    """The precedence of a condition: brackets are needed where it is lower than its place requires."""

    OR = 1
    AND = 2
    NOT = 3
    RELATION = 4
    SUM = 5
    PRODUCT = 6
    NEGATIVE = 7
    PRIMARY = 8


def component_text(component: Component) -> str:
    """
    >>> component_text(Component(Name("Stock"), "a", closure=True, negated=True)), component_text(Component(None, "b"))
    ('~(Stock+ a[])', 'ANY b')
    """
    type_ = "ANY" if component.type is None else name_text(component.type)
    text = f"{type_}+ {component.variable}[]" if component.closure else f"{type_} {component.variable}"
    if not component.negated:
        return text
    return f"~({text})" if component.closure else f"~{text}"


def name_text(name: Name) -> str:
    """
    >>> name_text(Name("price")), name_text(Name("my price")), name_text(Name("LEN"))  # `a.LEN` is a length
    ('price', '`my price`', '`LEN`')
    """
    plain = name.local.isidentifier() and name.local != "LEN"
    return str(name) if name.iri is not None or plain else f"`{name.local}`"


def key_text(key: Key) -> str:
    """
    >>> from thence.lang.sase.parser import parse
    >>> text = "PATTERN A a WHERE PARTITION BY k, (`my k`+1)%2, (k > 1 ^ k < 5) RETURN a.x"
    >>> [key_text(key) for key in parse(text).blocks[0].partition]
    ['k', '(`my k` + 1) % 2', '(k > 1 AND k < 5)']
    """
    return name_text(key) if isinstance(key, Name) else _at(key.expression, _ConditionPrecedence.RELATION)


def condition_text(condition: Expression) -> str:
    """A condition, with as few brackets as it needs. Recursive: for trees within the limit of depth.

    >>> from thence.lang.sase.parser import parse
    >>> text = "PATTERN SEQ(A+ a[], B b) WHERE NOT b.x LIKE 'A%' ^ (b.x = 'it''s' OR b.y > 80% * avg(a[].y)) RETURN b.x"
    >>> [condition_text(each) for each in parse(text).blocks[0].conditions]
    ["b.x NOT LIKE 'A%'", "b.x = 'it''s' OR b.y > 0.80 * avg(a[].y)"]
    """
    return _at(condition, _ConditionPrecedence.OR)


def _at(expression: Expression, place: int) -> str:
    binding, text = _written(expression)
    return f"({text})" if binding < place else text


def _written(expression: Expression) -> tuple[_ConditionPrecedence, str]:
    match expression:
        case Variable(name):
            return _ConditionPrecedence.PRIMARY, name
        case Literal():
            return _ConditionPrecedence.PRIMARY, _constant(expression)
        case Or(left, right):
            return (
                _ConditionPrecedence.OR,
                f"{_at(left, _ConditionPrecedence.OR)} OR {_at(right, _ConditionPrecedence.AND)}",
            )
        case And(left, right):
            return (
                _ConditionPrecedence.AND,
                f"{_at(left, _ConditionPrecedence.AND)} AND {_at(right, _ConditionPrecedence.NOT)}",
            )
        case Not(Bound(variable)):
            return _ConditionPrecedence.RELATION, f"{variable.name} IS NULL"
        case Bound(variable):
            return _ConditionPrecedence.RELATION, f"{variable.name} IS NOT NULL"
        case Not(Call("REGEX", (operand, Literal(pattern), *_))):
            return _ConditionPrecedence.RELATION, f"{_at(operand, _ConditionPrecedence.SUM)} NOT LIKE {_like(pattern)}"
        case Call("REGEX", (operand, Literal(pattern), *_)):
            return _ConditionPrecedence.RELATION, f"{_at(operand, _ConditionPrecedence.SUM)} LIKE {_like(pattern)}"
        case Not(operand):
            return _ConditionPrecedence.NOT, f"NOT {_at(operand, _ConditionPrecedence.NOT)}"
        case Compare(comparison, left, right):
            sign = _COMPARISONS.get(comparison, comparison.value)
            return (
                _ConditionPrecedence.RELATION,
                f"{_at(left, _ConditionPrecedence.SUM)} {sign} {_at(right, _ConditionPrecedence.SUM)}",
            )
        case Arithmetic(operation, left, right):
            binding = (
                _ConditionPrecedence.SUM
                if operation in (Operation.ADD, Operation.SUBTRACT)
                else _ConditionPrecedence.PRODUCT
            )
            sign = "/" if operation is Operation.QUOTIENT else operation.value
            return binding, f"{_at(left, binding)} {sign} {_at(right, binding + 1)}"
        case Negate(operand):
            return _ConditionPrecedence.NEGATIVE, f"-{_at(operand, _ConditionPrecedence.NEGATIVE)}"
        case Call(function, arguments):
            listed = ", ".join(_at(argument, _ConditionPrecedence.SUM) for argument in arguments)
            return _ConditionPrecedence.PRIMARY, f"{_CALLED[function]}({listed})"
        case _:
            raise TypeError(f"SASE+ has no {type(expression).__name__}")


def _constant(literal: Literal) -> str:
    if literal.datatype == XSD_DAY_TIME_DURATION:
        return literal.value
    if literal.datatype not in _QUOTED:
        return term_text(literal)
    return _QUOTED[literal.datatype] + _quoted(literal.value)


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _like(pattern: str) -> str:
    """The text of LIKE, from the regular expression that it became."""
    found, letters = "", iter(pattern[1:-1].replace(".*", "%"))
    for letter in letters:
        found += next(letters) if letter == "\\" else "_" if letter == "." else letter
    return _quoted(found)
