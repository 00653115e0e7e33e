"""Running aggregates of a closure (SASE+, 2.2.4), each in a slot of its run, compiled: an event costs the same, however
many came before it.

What can't be told exactly in 64 bits is UNKNOWN from then on, and is asked of the history when a predicate needs it.
"""

from __future__ import annotations

import numpy as np

from thence.match import numbers
from thence.program.automaton import COUNT, EARLIEST, GREATEST, LATEST, SUM
from thence.program.values import NON_CANONICAL
from thence.rdf import tags
from thence.rdf.compiled import inner

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
    if tag == tags.NONE or memory[slot] == UNKNOWN:
        return
    kind = tag & tags.KIND_MASK
    if how >= EARLIEST:
        if how == LATEST or memory[slot] == tags.NONE:
            memory[slot], memory[slot + 1] = tag, bits
    elif tag == NON_CANONICAL or kind < tags.INTEGER or kind > tags.DOUBLE:
        memory[slot] = UNKNOWN
    elif memory[slot] == tags.NONE:
        memory[slot], memory[slot + 1] = tag, bits
        if how != SUM and numbers.order(tag, bits, tag, bits) == numbers.UNORDERED:
            memory[slot] = UNKNOWN
    elif how == SUM:
        total, found = numbers.arithmetic(numbers.ADD, memory[slot], memory[slot + 1], tag, bits)
        memory[slot], memory[slot + 1] = np.int64(total), found
    else:
        order = numbers.order(tag, bits, memory[slot], memory[slot + 1])
        if order == numbers.UNDECIDED or order == numbers.UNORDERED:
            memory[slot] = UNKNOWN
        elif order == (numbers.GREATER if how == GREATEST else numbers.LESS):
            memory[slot], memory[slot + 1] = tag, bits
