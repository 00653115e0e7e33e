"""The predicates' stack machine: the layout of its code, which plans write, and its operations."""

from __future__ import annotations

# an image begins with the positions of the predicates' records and constants; a record is a range of instructions
AT_CODES, AT_CONSTANTS = range(2)
FIRST, BEYOND, RANGE_WIDTH = range(3)

SLOT = 0  # push the value of slot `argument`
CONSTANT = 1  # push constant `argument`
COMPARE = 2  # pop two, push a boolean; `argument` is the comparison
ARITHMETIC = 3  # pop two, push the result; `argument` is the operation
AND = 4
OR = 5
NOT = 6
BOUND = 7  # push whether slot `argument` is bound
ASK = 8  # the reference evaluator must evaluate the whole predicate
UNARY = 9  # pop one, push the result of function `argument`

EQUAL, NOT_EQUAL, LESS, GREATER, LESS_OR_EQUAL, GREATER_OR_EQUAL, SAME, DIFFERENT = range(8)
"""SAME and DIFFERENT are errors where the two values are of different kinds."""

DEPTH = 32
"""The most values on a predicate's stack. The reference evaluator evaluates deeper predicates."""
