"""Compiles filters to the code of the stack machine."""

from __future__ import annotations

from dataclasses import dataclass, field

from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Compare,
    Comparison,
    Expression,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Variable,
)
from thence.columns.dictionary import Terms
from thence.columns.value_columns import value_of
from thence.extraction import opcodes
from thence.match import tagged_arithmetic
from thence.rdf.terms import IRI, Literal, Term

_COMPARISONS = {
    Comparison.EQUAL: opcodes.EQUAL,
    Comparison.NOT_EQUAL: opcodes.NOT_EQUAL,
    Comparison.SAME: opcodes.SAME,
    Comparison.DIFFERENT: opcodes.DIFFERENT,
    Comparison.LESS: opcodes.LESS,
    Comparison.GREATER: opcodes.GREATER,
    Comparison.LESS_OR_EQUAL: opcodes.LESS_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: opcodes.GREATER_OR_EQUAL,
}
_OPERATIONS = {
    Operation.ADD: tagged_arithmetic.ADD,
    Operation.SUBTRACT: tagged_arithmetic.SUBTRACT,
    Operation.MULTIPLY: tagged_arithmetic.MULTIPLY,
    Operation.DIVIDE: tagged_arithmetic.DIVIDE,
    Operation.QUOTIENT: tagged_arithmetic.QUOTIENT,
    Operation.REMAINDER: tagged_arithmetic.REMAINDER,
}

_FUNCTIONS = {
    "ABS": tagged_arithmetic.ABSOLUTE,
    "CEIL": tagged_arithmetic.CEILING,
    "FLOOR": tagged_arithmetic.FLOOR,
    "ROUND": tagged_arithmetic.ROUND,
}


@dataclass(slots=True)
class Code:
    """Predicates and constants as they are written; `compile_predicate` gives a predicate's number."""

    slots: dict[Variable, int]
    predicates: list[Expression] = field(default_factory=list)
    constants: list[Term] = field(default_factory=list)
    values: list[tuple[int, int]] = field(default_factory=list)
    terms: Terms = field(default_factory=Terms)
    starts: list[int] = field(default_factory=lambda: [0])
    operations: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    known: dict[tuple[Expression, object], int] = field(default_factory=dict)

    def compile_predicate(self, condition: Expression, about: object = None) -> int:
        """The number of a predicate; those `about` different things are different ones."""
        if (condition, about) in self.known:
            return self.known[condition, about]
        written = _Writer(self)
        if not written.write(condition) or written.deepest > opcodes.DEPTH:
            written.code = [(opcodes.ASK, 0)]
        self.operations += [operation for operation, _ in written.code]
        self.arguments += [argument for _, argument in written.code]
        self.starts.append(len(self.operations))
        self.predicates.append(condition)
        self.known[condition, about] = len(self.predicates) - 1
        return len(self.predicates) - 1

    def comparison(self, predicate: int) -> tuple[int, Variable, Variable] | None:
        """The comparison and its two variables, if a predicate is nothing more."""
        match self.predicates[predicate]:
            case Compare(comparison, Variable() as left, Variable() as right) if {left, right} <= self.slots.keys():
                return _COMPARISONS[comparison], left, right
            case _:
                return None

    def constant(self, term: Term) -> int:
        if term not in self.constants:
            self.constants.append(term)
            self.terms.add(term)
            self.values.append(value_of(term, self.terms))
        return self.constants.index(term)


def asks(code: Code, predicate: int) -> bool:
    """Whether a predicate is beyond the stack machine."""
    return code.operations[code.starts[predicate]] == opcodes.ASK


@dataclass(slots=True)
class _Writer:
    """Writes one predicate, in postfix order. `write` is False if the machine has no code for it."""

    owner: Code
    code: list[tuple[int, int]] = field(default_factory=list)
    depth: int = 0
    deepest: int = 0

    def write(self, expression: Expression) -> bool:
        match expression:
            case Variable():
                if expression not in self.owner.slots:
                    return False
                return self._push(opcodes.SLOT, self.owner.slots[expression])
            case IRI() | Literal():
                return self._push(opcodes.CONSTANT, self.owner.constant(expression))
            case Bound():
                if expression.variable not in self.owner.slots:
                    return False
                return self._push(opcodes.BOUND, self.owner.slots[expression.variable])
            case Compare():
                return self._binary(
                    expression.left, expression.right, opcodes.COMPARE, _COMPARISONS[expression.comparison]
                )
            case Arithmetic():
                operation = _OPERATIONS[expression.operation]
                return self._binary(expression.left, expression.right, opcodes.ARITHMETIC, operation)
            case And():
                return self._binary(expression.left, expression.right, opcodes.AND, 0)
            case Or():
                return self._binary(expression.left, expression.right, opcodes.OR, 0)
            case Negate():
                return self.write(expression.operand) and self._add(opcodes.UNARY, tagged_arithmetic.NEGATE)
            case Call(function=function, arguments=(operand,)) if function in _FUNCTIONS:
                return self.write(operand) and self._add(opcodes.UNARY, _FUNCTIONS[function])
            case Not():
                return self.write(expression.operand) and self._add(opcodes.NOT, 0)
            case In() if expression.choices:
                tests = [Compare(Comparison.EQUAL, expression.operand, choice) for choice in expression.choices]
                joined: Expression = tests[0]
                for following in tests[1:]:
                    joined = Or(joined, following)
                return self.write(joined)
            case _:
                return False

    def _binary(self, left: Expression, right: Expression, operation: int, argument: int) -> bool:
        done = self.write(left) and self.write(right) and self._add(operation, argument)
        self.depth -= 1
        return done

    def _push(self, operation: int, argument: int) -> bool:
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        return self._add(operation, argument)

    def _add(self, operation: int, argument: int) -> bool:
        self.code.append((operation, argument))
        return True
