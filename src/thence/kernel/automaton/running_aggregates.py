"""Running aggregates of a closure (SASE+, 2.2.4), each in a slot of its run, compiled: an event costs the same, however
many came before it.

What can't be told exactly in 64 bits is UNKNOWN from then on, and is asked of the history when a predicate needs it.
"""

from __future__ import annotations

import numpy as np

from thence.columns import value_kinds
from thence.columns.tagged_values import NON_CANONICAL
from thence.jit.compiled import inlined, inner
from thence.match import tagged_arithmetic
from thence.match.tagged_arithmetic import arithmetic, order
from thence.program.automaton.nfa import COUNT, EARLIEST, GREATEST, LATEST, RANKS, SUM

UNKNOWN = tagged_arithmetic.SLOW
"""The tag of a slot whose value only the history tells."""


@inner
def summarise(memory, rows, row, slot, column, how):
    """Let a slot know of one more event. What an event lacks is skipped."""
    if how == COUNT:
        if memory[slot] == value_kinds.NONE:
            memory[slot], memory[slot + 1] = value_kinds.INTEGER, 0
        if column < 0 or rows[row + column] != value_kinds.NONE:
            memory[slot + 1] += 1
        return
    tag, bits = rows[row + column], rows[row + column + 1]
    if tag == value_kinds.NONE:
        return
    if how == EARLIEST or how == LATEST:
        if how == LATEST or memory[slot] == value_kinds.NONE:
            memory[slot], memory[slot + 1] = tag, bits
    elif how == SUM:
        _add(memory, slot, tag, bits)
    else:
        _rank(memory, slot, tag, bits, how)


@inlined
def _add(memory, slot, tag, bits):
    if memory[slot] == UNKNOWN or not _is_told(tag):
        memory[slot] = UNKNOWN
    elif memory[slot] == value_kinds.NONE:
        memory[slot], memory[slot + 1] = tag, bits
    else:
        total, found = arithmetic(tagged_arithmetic.ADD, memory[slot], memory[slot + 1], tag, bits)
        memory[slot], memory[slot + 1] = np.int64(total), found


@inlined
def _rank(memory, slot, tag, bits, how):
    """Put a value in its place among the least or greatest, the first of which stands in `slot`: behind those that it
    equals. The last of them is what is asked for, and is UNKNOWN if they are."""
    last = slot + 2 * (how >> RANKS)
    if memory[last] == UNKNOWN or not _is_told(tag):
        memory[last] = UNKNOWN
        return
    if order(tag, bits, tag, bits) == tagged_arithmetic.UNORDERED:
        return  # what is not a number is neither
    before = tagged_arithmetic.GREATER if how & ((1 << RANKS) - 1) == GREATEST else tagged_arithmetic.LESS
    place = last + 2
    while place > slot and memory[place - 2] == value_kinds.NONE:
        place -= 2
    while place > slot:
        relation = order(tag, bits, memory[place - 2], memory[place - 1])
        if relation == tagged_arithmetic.UNDECIDED:
            memory[last] = UNKNOWN
            return
        if relation != before:
            break
        if place <= last:
            memory[place], memory[place + 1] = memory[place - 2], memory[place - 1]
        place -= 2
    if place <= last:
        memory[place], memory[place + 1] = tag, bits


@inlined
def _is_told(tag):
    """Whether tag and bits tell all of a value, and it is a number."""
    kind = tag & value_kinds.KIND_MASK
    return tag != NON_CANONICAL and value_kinds.INTEGER <= kind <= value_kinds.DOUBLE
