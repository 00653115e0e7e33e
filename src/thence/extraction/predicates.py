"""Executes predicates over a frame of slots, compiled: TRUE, FALSE, ERROR, or ASK where only the reference
evaluator can decide.
"""

from __future__ import annotations

import numpy as np

from thence.columns import value_kinds
from thence.columns.canonical_terms import NON_CANONICAL
from thence.extraction import opcodes
from thence.extraction.opcodes import AT_CODES, AT_CONSTANTS, BEYOND, FIRST, RANGE_WIDTH
from thence.jit.compiled import inlined, inner
from thence.match import tagged_arithmetic
from thence.match.tagged_arithmetic import arithmetic, moved, order, unary

TRUE, FALSE, ERROR, ASK = 1, 0, -1, 2

_HELD_FOR = sum(
    relations << 4 * comparison
    for comparison, relations in {
        opcodes.EQUAL: 2,
        opcodes.NOT_EQUAL: 2 | 8,
        opcodes.LESS: 1,
        opcodes.GREATER: 4,
        opcodes.LESS_OR_EQUAL: 1 | 2,
        opcodes.GREATER_OR_EQUAL: 2 | 4,
        opcodes.SAME: 2,
        opcodes.DIFFERENT: 2 | 8,
    }.items()
)
"""Four bits for each comparison: whether it holds for less, equal and greater, and whether it is a negation, which also
holds for values that are not numbers.
"""


@inner
def test(image, predicate, memory, frame, stack, term_tags, term_bits):
    """The effective boolean value of a predicate over the frame of slots that begins at `frame`; `stack` is the part of
    the memory that holds its values."""
    top = stack - 2
    record = image[AT_CODES] + predicate * RANGE_WIDTH
    for i in range(image[record + FIRST], image[record + BEYOND], 2):
        operation, argument = image[i], image[i + 1]
        if operation <= opcodes.CONSTANT:
            if operation == opcodes.SLOT:
                tag, bits = memory[frame + 2 * argument], memory[frame + 2 * argument + 1]
            else:
                constant = image[AT_CONSTANTS] + 2 * argument
                tag, bits = image[constant], image[constant + 1]
            if tag == tagged_arithmetic.SLOW:  # a running aggregate that must be read from the run's history
                return ASK
            if tag == NON_CANONICAL:
                tag, bits = np.int64(term_tags[bits]), term_bits[bits]
            top += 2
            memory[top], memory[top + 1] = tag, bits
        elif operation == opcodes.BOUND:
            tag = memory[frame + 2 * argument]
            if tag == tagged_arithmetic.SLOW:
                return ASK
            top += 2
            memory[top], memory[top + 1] = value_kinds.BOOLEAN, 1 if tag != value_kinds.NONE else 0
        elif operation == opcodes.NOT:
            truth = _truth(memory[top], memory[top + 1])
            if truth == ASK:
                return ASK
            if truth == ERROR:
                memory[top] = value_kinds.NONE
            else:
                memory[top], memory[top + 1] = value_kinds.BOOLEAN, 1 - truth
        elif operation == opcodes.ASK:
            return ASK
        elif operation == opcodes.UNARY:
            tag, bits = _unary(argument, memory[top], memory[top + 1])
            if tag == tagged_arithmetic.SLOW:
                return ASK
            memory[top], memory[top + 1] = tag, bits
        else:
            top -= 2
            tag, bits = _binary(operation, argument, memory[top], memory[top + 1], memory[top + 2], memory[top + 3])
            if tag == tagged_arithmetic.SLOW:
                return ASK
            memory[top], memory[top + 1] = tag, bits
    return _truth(memory[top], memory[top + 1])


@inlined
def compared(comparison, left_tag, left_bits, right_tag, right_bits):
    """The result of comparing two values whose bits decide their order; ASK for other values."""
    left, right = left_tag & value_kinds.KIND_MASK, right_tag & value_kinds.KIND_MASK
    if left == value_kinds.DOUBLE and right == value_kinds.DOUBLE:
        return _holds(comparison, np.int64(left_bits).view(np.float64), np.int64(right_bits).view(np.float64))
    if left == value_kinds.INTEGER and right == value_kinds.INTEGER:
        return _holds(comparison, left_bits, right_bits)
    if value_kinds.INTEGER <= left <= value_kinds.DOUBLE and value_kinds.INTEGER <= right <= value_kinds.DOUBLE:
        return _compare(comparison, left_tag, left_bits, right_tag, right_bits)
    return ASK


@inlined
def _holds(comparison, left, right):
    """Whether a comparison holds for two numbers. Their relation is a bit, and so is each relation that the comparison
    accepts, so no branch is needed."""
    relation = np.int64(left < right) | np.int64(left == right) << 1 | np.int64(left > right) << 2
    held_for = _HELD_FOR >> (comparison << 2)
    return np.int64(held_for & relation != 0) ^ (held_for >> 3 & 1)


@inner
def _unary(function, tag, bits):
    tag, bits = unary(function, tag, bits)
    return np.int64(tag), bits


@inner
def _binary(operation, argument, left_tag, left_bits, right_tag, right_bits):
    """(tag, bits) of an operation on two values; SLOW for ASK."""
    if operation == opcodes.ARITHMETIC:
        tag, bits = arithmetic(argument, left_tag, left_bits, right_tag, right_bits)
        if tag == tagged_arithmetic.SLOW:
            tag, bits = moved(argument, left_tag, left_bits, right_tag, right_bits)
        return np.int64(tag), bits
    if operation == opcodes.COMPARE:
        truth = _compare(argument, left_tag, left_bits, right_tag, right_bits)
    else:
        left, right = _truth(left_tag, left_bits), _truth(right_tag, right_bits)
        decided = FALSE if operation == opcodes.AND else TRUE
        if left == ASK or right == ASK:
            truth = ASK
        else:
            truth = decided if left == decided or right == decided else min(left, right)
    if truth == ASK:
        return np.int64(tagged_arithmetic.SLOW), np.int64(0)
    if truth == ERROR:
        return np.int64(value_kinds.NONE), np.int64(0)
    return np.int64(value_kinds.BOOLEAN), np.int64(truth)


@inner
def _truth(tag, bits):
    kind = tag & value_kinds.KIND_MASK
    if kind == value_kinds.BOOLEAN or kind == value_kinds.INTEGER or kind == value_kinds.DECIMAL:
        return TRUE if bits != 0 else FALSE
    if kind == value_kinds.DOUBLE or kind == value_kinds.FLOAT:
        value = np.int64(bits).view(np.float64)
        return TRUE if value != 0 and value == value else FALSE
    if kind == value_kinds.STRING or kind == value_kinds.LANG or kind == value_kinds.OTHER:
        return ASK
    return ERROR


_UNCLEAR = 0


@inner
def _class(kind):
    """The kind of a value, among kinds that compare with each other; UNCLEAR where only the term itself decides."""
    if value_kinds.INTEGER <= kind <= value_kinds.DOUBLE:
        return value_kinds.INTEGER
    if kind == value_kinds.BLANK:
        return value_kinds.IRI_
    if kind >= value_kinds.BOOLEAN:  # and times and durations
        return kind
    return kind if kind == value_kinds.STRING or kind == value_kinds.IRI_ else _UNCLEAR


@inner
def _compare(comparison, left_tag, left_bits, right_tag, right_bits):
    if left_tag == value_kinds.NONE or right_tag == value_kinds.NONE:
        return ERROR
    if comparison >= opcodes.SAME:
        kinds = _class(left_tag & value_kinds.KIND_MASK), _class(right_tag & value_kinds.KIND_MASK)
        if kinds[0] == _UNCLEAR or kinds[1] == _UNCLEAR:
            return ASK
        if kinds[0] != kinds[1]:
            return ERROR
    relation = order(left_tag, left_bits, right_tag, right_bits)
    if relation == tagged_arithmetic.UNDECIDED:
        return ASK
    if comparison == opcodes.EQUAL or comparison == opcodes.SAME:
        return TRUE if relation == tagged_arithmetic.EQUAL else FALSE
    if comparison == opcodes.NOT_EQUAL or comparison == opcodes.DIFFERENT:
        return FALSE if relation == tagged_arithmetic.EQUAL else TRUE
    if (left_tag & value_kinds.KIND_MASK) <= value_kinds.OTHER or (
        right_tag & value_kinds.KIND_MASK
    ) <= value_kinds.OTHER:
        return ASK  # strings have an order, but not here; other terms have none
    if comparison == opcodes.LESS:
        return TRUE if relation == tagged_arithmetic.LESS else FALSE
    if comparison == opcodes.GREATER:
        return TRUE if relation == tagged_arithmetic.GREATER else FALSE
    if comparison == opcodes.LESS_OR_EQUAL:
        return TRUE if relation == tagged_arithmetic.LESS or relation == tagged_arithmetic.EQUAL else FALSE
    return TRUE if relation == tagged_arithmetic.GREATER or relation == tagged_arithmetic.EQUAL else FALSE
