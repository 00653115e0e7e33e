"""SPARQL expressions (SPARQL 1.1, section 17), as the parser builds them and both evaluators read them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from thence.rdf.terms import IRI, Literal

if TYPE_CHECKING:
    from thence.algebra.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Variable:
    """`?name`, without the question mark."""

    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


class Comparison(Enum):
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    GREATER = ">"
    LESS_OR_EQUAL = "<="
    GREATER_OR_EQUAL = ">="
    SAME = "=="  # `=` and `!=` of SASE+: an error where the two are of different kinds
    DIFFERENT = "<>"


COMPARISONS = tuple(Comparison)[:6]
"""Those of SPARQL."""


class Operation(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    QUOTIENT = "÷"  # `/` of SASE+: a double, and an error where the divisor is 0
    REMAINDER = "%"  # of SASE+: its sign is the dividend's, and it is an error where the divisor is 0


OPERATIONS = tuple(Operation)[:4]
"""Those of SPARQL."""


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right` (17.3): by value."""

    comparison: Comparison
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right` (17.3), left-associative, with numeric promotion."""

    operation: Operation
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negate:
    """`-operand`; a unary plus is kept as `Plus`, since it too fails on what is not a number."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Plus:
    """`+operand`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Not:
    """`!operand`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class And:
    """`left && right` (17.4.1.6): an error on one side yields to a false on the other."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Or:
    """`left || right` (17.4.1.5): an error on one side yields to a true on the other."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class In:
    """`operand IN (choices)` (17.4.1.9); `NOT IN` is `Not(In(…))`."""

    operand: Expression
    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """`BOUND(?v)` (17.4.1.1)."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class If:
    """`IF(condition, then, otherwise)` (17.4.1.2)."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Coalesce:
    """`COALESCE(a, b, …)` (17.4.1.3): the first that is not an error."""

    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS { pattern }` (17.4.1.4); `NOT EXISTS` is `Not(Exists(…))`."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function by its keyword in upper case (`STRLEN`, `SAMETERM`, `NOW`), with terms in and a term out.

    `IRI` has the query's base IRI, if there is one, as a second argument.
    """

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """A function named by an IRI (17.5): the XSD constructors are known, any other is an error in evaluation."""

    function: IRI
    arguments: tuple[Expression, ...]
    distinct: bool = False  # the grammar allows DISTINCT in any iriOrFunction's argument list


class AggregateFunction(Enum):
    COUNT = "COUNT"
    SUM = "SUM"
    MIN = "MIN"
    MAX = "MAX"
    AVG = "AVG"
    SAMPLE = "SAMPLE"
    GROUP_CONCAT = "GROUP_CONCAT"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate in SELECT, HAVING or ORDER BY (18.5.1). `COUNT(*)` has no operand."""

    function: AggregateFunction
    operand: Expression | None
    distinct: bool = False
    separator: str | None = None  # of GROUP_CONCAT; None: as written without SEPARATOR, a space


Expression: TypeAlias = (
    Variable
    | IRI
    | Literal
    | Compare
    | Arithmetic
    | Negate
    | Plus
    | Not
    | And
    | Or
    | In
    | Bound
    | If
    | Coalesce
    | Exists
    | Call
    | Cast
    | Aggregate
)
