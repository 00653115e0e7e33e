"""The predicates' stack machine: the layout of its code, which plans write, and its operations."""

from __future__ import annotations

# an image begins with where the records and the constants of predicates begin; a record is a range of instructions
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
ASK = 8  # the whole predicate must be asked of the reference evaluator
UNARY = 9  # pop one, push what `argument` makes of it

EQUAL, NOT_EQUAL, LESS, GREATER, LESS_OR_EQUAL, GREATER_OR_EQUAL, SAME, DIFFERENT = range(8)
"""The last two are errors where the two values are of different kinds."""

DEPTH = 32
"""Values that a predicate may hold on its stack; a deeper one is asked of the reference evaluator."""
