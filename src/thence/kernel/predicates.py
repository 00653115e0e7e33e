"""Executes predicates over a frame of slots, compiled: TRUE, FALSE, ERROR, or ASK where only the plain evaluator can
tell."""

from __future__ import annotations

import numpy as np

from thence.match import numbers
from thence.match.numbers import arithmetic, order, unary
from thence.program import opcodes
from thence.program.image import AT_CODES, AT_CONSTANTS, BEYOND, FIRST, RANGE_WIDTH
from thence.program.values import NON_CANONICAL
from thence.rdf import tags
from thence.rdf.compiled import inlined, inner

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
"""Of each comparison, four bits: whether it holds for less, equal, greater; and whether the opposite is meant, which
holds for what is not a number, too."""


@inner
def test(image, predicate, memory, frame, stack, term_tags, term_bits):
    """The effective boolean value of a predicate in the frame of slots that begins at `frame`; `stack` is where the
    memory has room for values."""
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
            if tag == numbers.SLOW:  # a running aggregate that only the history tells
                return ASK
            if tag == NON_CANONICAL:
                tag, bits = np.int64(term_tags[bits]), term_bits[bits]
            top += 2
            memory[top], memory[top + 1] = tag, bits
        elif operation == opcodes.BOUND:
            tag = memory[frame + 2 * argument]
            if tag == numbers.SLOW:
                return ASK
            top += 2
            memory[top], memory[top + 1] = tags.BOOLEAN, 1 if tag != tags.NONE else 0
        elif operation == opcodes.NOT:
            truth = _truth(memory[top], memory[top + 1])
            if truth == ASK:
                return ASK
            if truth == ERROR:
                memory[top] = tags.NONE
            else:
                memory[top], memory[top + 1] = tags.BOOLEAN, 1 - truth
        elif operation == opcodes.ASK:
            return ASK
        elif operation == opcodes.UNARY:
            tag, bits = _unary(argument, memory[top], memory[top + 1])
            if tag == numbers.SLOW:
                return ASK
            memory[top], memory[top + 1] = tag, bits
        else:
            top -= 2
            tag, bits = _binary(operation, argument, memory[top], memory[top + 1], memory[top + 2], memory[top + 3])
            if tag == numbers.SLOW:
                return ASK
            memory[top], memory[top + 1] = tag, bits
    return _truth(memory[top], memory[top + 1])


@inlined
def compared(comparison, left_tag, left_bits, right_tag, right_bits):
    """A comparison of two values that are told at a glance; ASK for any others."""
    left, right = left_tag & tags.KIND_MASK, right_tag & tags.KIND_MASK
    if left == tags.DOUBLE and right == tags.DOUBLE:
        return _holds(comparison, np.int64(left_bits).view(np.float64), np.int64(right_bits).view(np.float64))
    if left == tags.INTEGER and right == tags.INTEGER:
        return _holds(comparison, left_bits, right_bits)
    if tags.INTEGER <= left <= tags.DOUBLE and tags.INTEGER <= right <= tags.DOUBLE:
        return _compare(comparison, left_tag, left_bits, right_tag, right_bits)
    return ASK


@inlined
def _holds(comparison, left, right):
    """Which relation two numbers have is a bit, and so is each that a comparison holds for: no branch."""
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
        return np.int64(numbers.SLOW), np.int64(0)
    if truth == ERROR:
        return np.int64(tags.NONE), np.int64(0)
    return np.int64(tags.BOOLEAN), np.int64(truth)


@inner
def _truth(tag, bits):
    kind = tag & tags.KIND_MASK
    if kind == tags.BOOLEAN or kind == tags.INTEGER or kind == tags.DECIMAL:
        return TRUE if bits != 0 else FALSE
    if kind == tags.DOUBLE or kind == tags.FLOAT:
        value = np.int64(bits).view(np.float64)
        return TRUE if value != 0 and value == value else FALSE
    if kind == tags.STRING or kind == tags.LANG or kind == tags.OTHER:
        return ASK
    return ERROR


_UNCLEAR = 0


@inner
def _class(kind):
    """Which of the kinds that can be compared with each other; UNCLEAR where only the term itself tells."""
    if tags.INTEGER <= kind <= tags.DOUBLE:
        return tags.INTEGER
    if kind == tags.BLANK:
        return tags.IRI_
    return kind if kind == tags.STRING or kind == tags.BOOLEAN or kind == tags.IRI_ else _UNCLEAR


@inner
def _compare(comparison, left_tag, left_bits, right_tag, right_bits):
    if left_tag == tags.NONE or right_tag == tags.NONE:
        return ERROR
    if comparison >= opcodes.SAME:
        kinds = _class(left_tag & tags.KIND_MASK), _class(right_tag & tags.KIND_MASK)
        if kinds[0] == _UNCLEAR or kinds[1] == _UNCLEAR:
            return ASK
        if kinds[0] != kinds[1]:
            return ERROR
    relation = order(left_tag, left_bits, right_tag, right_bits)
    if relation == numbers.UNDECIDED:
        return ASK
    if comparison == opcodes.EQUAL or comparison == opcodes.SAME:
        return TRUE if relation == numbers.EQUAL else FALSE
    if comparison == opcodes.NOT_EQUAL or comparison == opcodes.DIFFERENT:
        return FALSE if relation == numbers.EQUAL else TRUE
    if (left_tag & tags.KIND_MASK) <= tags.OTHER or (right_tag & tags.KIND_MASK) <= tags.OTHER:
        return ASK  # strings have an order, but not here; other terms have none
    if comparison == opcodes.LESS:
        return TRUE if relation == numbers.LESS else FALSE
    if comparison == opcodes.GREATER:
        return TRUE if relation == numbers.GREATER else FALSE
    if comparison == opcodes.LESS_OR_EQUAL:
        return TRUE if relation == numbers.LESS or relation == numbers.EQUAL else FALSE
    return TRUE if relation == numbers.GREATER or relation == numbers.EQUAL else FALSE
