"""Executes predicates over a frame of slots, compiled: TRUE, FALSE, ERROR, or ASK where only the plain evaluator can
tell."""

from __future__ import annotations

import numpy as np
from numba import njit

from thence.match import numbers
from thence.program import opcodes
from thence.program.automaton import SECTIONS
from thence.program.values import NON_CANONICAL
from thence.rdf import tags

TRUE, FALSE, ERROR, ASK = 1, 0, -1, 2

_CODE_FROM = SECTIONS["code_from"]
_OPERATION = SECTIONS["operation"]
_ARGUMENT = SECTIONS["argument"]
_CONSTANT_TAGS = SECTIONS["constant_tags"]
_CONSTANT_BITS = SECTIONS["constant_bits"]


@njit(cache=True)
def test(image, predicate, memory, frame, term_tags, term_bits):
    """The effective boolean value of a predicate in the frame of slots that begins at `frame`."""
    stack_tags = np.empty(opcodes.DEPTH, np.int64)
    stack_bits = np.empty(opcodes.DEPTH, np.int64)
    top = -1
    first = image[image[_CODE_FROM] + predicate]
    last = image[image[_CODE_FROM] + predicate + 1]
    for i in range(first, last):
        operation, argument = image[image[_OPERATION] + i], image[image[_ARGUMENT] + i]
        if operation <= opcodes.CONSTANT:
            if operation == opcodes.SLOT:
                tag, bits = memory[frame + 2 * argument], memory[frame + 2 * argument + 1]
            else:
                tag, bits = image[image[_CONSTANT_TAGS] + argument], image[image[_CONSTANT_BITS] + argument]
            if tag == NON_CANONICAL:
                tag, bits = np.int64(term_tags[bits]), term_bits[bits]
            top += 1
            stack_tags[top], stack_bits[top] = tag, bits
        elif operation == opcodes.BOUND:
            top += 1
            stack_tags[top] = tags.BOOLEAN
            stack_bits[top] = 1 if memory[frame + 2 * argument] != tags.NONE else 0
        elif operation == opcodes.NOT:
            truth = _truth(stack_tags[top], stack_bits[top])
            if truth == ASK:
                return ASK
            if truth == ERROR:
                stack_tags[top] = tags.NONE
            else:
                stack_tags[top], stack_bits[top] = tags.BOOLEAN, 1 - truth
        elif operation == opcodes.ASK:
            return ASK
        else:
            top -= 1
            tag, bits = _binary(
                operation, argument, stack_tags[top], stack_bits[top], stack_tags[top + 1], stack_bits[top + 1]
            )
            if tag == numbers.SLOW:
                return ASK
            stack_tags[top], stack_bits[top] = tag, bits
    return _truth(stack_tags[top], stack_bits[top])


@njit(cache=True)
def _binary(operation, argument, left_tag, left_bits, right_tag, right_bits):
    """(tag, bits) of an operation on two values; SLOW for ASK."""
    if operation == opcodes.ARITHMETIC:
        tag, bits = numbers.arithmetic(argument, left_tag, left_bits, right_tag, right_bits)
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


@njit(cache=True)
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


@njit(cache=True)
def _compare(comparison, left_tag, left_bits, right_tag, right_bits):
    if left_tag == tags.NONE or right_tag == tags.NONE:
        return ERROR
    order = numbers.order(left_tag, left_bits, right_tag, right_bits)
    if order == numbers.UNDECIDED:
        return ASK
    if comparison == opcodes.EQUAL:
        return TRUE if order == numbers.EQUAL else FALSE
    if comparison == opcodes.NOT_EQUAL:
        return FALSE if order == numbers.EQUAL else TRUE
    if (left_tag & tags.KIND_MASK) <= tags.OTHER or (right_tag & tags.KIND_MASK) <= tags.OTHER:
        return ASK  # strings have an order, but not here; other terms have none
    if comparison == opcodes.LESS:
        return TRUE if order == numbers.LESS else FALSE
    if comparison == opcodes.GREATER:
        return TRUE if order == numbers.GREATER else FALSE
    if comparison == opcodes.LESS_OR_EQUAL:
        return TRUE if order == numbers.LESS or order == numbers.EQUAL else FALSE
    return TRUE if order == numbers.GREATER or order == numbers.EQUAL else FALSE
