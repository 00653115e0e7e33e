"""Running aggregates of a closure (SASE+, 2.2.4), each in a slot of its run, compiled: an event costs the same, however
many came before it.

What can't be told exactly in 64 bits is UNKNOWN from then on, and is asked of the history when a predicate needs it.
"""

from __future__ import annotations

import numpy as np

from thence.match import numbers
from thence.match.numbers import arithmetic, order
from thence.program.automaton import COUNT, EARLIEST, GREATEST, LATEST, RANKS, SUM
from thence.program.values import NON_CANONICAL
from thence.rdf import tags
from thence.rdf.compiled import inlined, inner

UNKNOWN = numbers.SLOW
"""The tag of a slot whose value only the history tells."""


@inner
def summarise(memory, rows, row, slot, column, how):
    """Let a slot know of one more event. What an event lacks is skipped."""
    if how == COUNT:
        if memory[slot] == tags.NONE:
            memory[slot], memory[slot + 1] = tags.INTEGER, 0
        if column < 0 or rows[row + column] != tags.NONE:
            memory[slot + 1] += 1
        return
    tag, bits = rows[row + column], rows[row + column + 1]
    if tag == tags.NONE:
        return
    if how == EARLIEST or how == LATEST:
        if how == LATEST or memory[slot] == tags.NONE:
            memory[slot], memory[slot + 1] = tag, bits
    elif how == SUM:
        _add(memory, slot, tag, bits)
    else:
        _rank(memory, slot, tag, bits, how)


@inlined
def _add(memory, slot, tag, bits):
    if memory[slot] == UNKNOWN or not _is_told(tag):
        memory[slot] = UNKNOWN
    elif memory[slot] == tags.NONE:
        memory[slot], memory[slot + 1] = tag, bits
    else:
        total, found = arithmetic(numbers.ADD, memory[slot], memory[slot + 1], tag, bits)
        memory[slot], memory[slot + 1] = np.int64(total), found


@inlined
def _rank(memory, slot, tag, bits, how):
    """Put a value in its place among the least or greatest, the first of which stands in `slot`: behind those that it
    equals. The last of them is what is asked for, and is UNKNOWN if they are."""
    last = slot + 2 * (how >> RANKS)
    if memory[last] == UNKNOWN or not _is_told(tag):
        memory[last] = UNKNOWN
        return
    if order(tag, bits, tag, bits) == numbers.UNORDERED:
        return  # what is not a number is neither
    before = numbers.GREATER if how & ((1 << RANKS) - 1) == GREATEST else numbers.LESS
    place = last + 2
    while place > slot and memory[place - 2] == tags.NONE:
        place -= 2
    while place > slot:
        relation = order(tag, bits, memory[place - 2], memory[place - 1])
        if relation == numbers.UNDECIDED:
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
    kind = tag & tags.KIND_MASK
    return tag != NON_CANONICAL and tags.INTEGER <= kind <= tags.DOUBLE
