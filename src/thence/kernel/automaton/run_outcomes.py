"""The outcome of a run that meets a row, as far as it is decided without a frame; compiled."""

from __future__ import annotations

from thence.columns.value_kinds import KIND_MASK, NONE
from thence.jit.compiled import inlined
from thence.kernel.automaton.memory import BOUND, BOUND_KIND, DEADLINE, KEEP_EXPIRED, LAST, SLOTS, STATE, TAKEN
from thence.kernel.automaton.predicates import ASK, FALSE, TRUE, compared
from thence.program.automaton import image as layout
from thence.program.automaton.image import TIME
from thence.program.automaton.nfa import NEXT, STRICT

DROPPED, ENDED, STAYS, SURE, PERHAPS, NONE_FROM_HERE, STOPS_HERE = -2, -1, 0, 1, 2, 3, 4
"""It is dropped, has become its successor, stays as it is, surely or perhaps joins; stays, and so do all behind it; or
its closure stops."""


@inlined
def outcome_of(image, memory, rows, row, edge, state, at, ends):
    """What becomes of a run in this row's bucket (SPAseQ, Definitions 10-12), as far as that is decided without a
    frame; `ends` is whether it ends if it takes the row."""
    time, last = rows[row + TIME], memory[at + LAST]
    if memory[at + STATE] != state or last >= time:
        return STAYS
    if time > memory[at + DEADLINE]:
        return STAYS if memory[KEEP_EXPIRED] else DROPPED
    selection = image[edge + layout.SELECTION_OF]
    if selection == NEXT and memory[at + TAKEN] < time:
        return DROPPED
    previous = rows[row + image[edge + layout.PREVIOUS_OF]]
    if selection == STRICT and last > previous:
        return STAYS
    k = image[edge + layout.KEY]
    while image[k] != layout.END:
        slot, column = at + SLOTS + image[k], row + image[k + 1]
        if memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]:
            return STAYS  # of another key, in the same bucket
        k += 2
    if selection == STRICT and last < previous:
        return DROPPED
    fate = quick_outcome_of(image, memory, rows, row, edge, at)
    return DROPPED if fate == STAYS and ends and selection == STRICT else fate


@inlined
def quick_outcome_of(image, memory, rows, row, edge, at):
    """Whether a run with the row's key joins, as far as that is told without a frame."""
    slots = at + SLOTS
    k = image[edge + layout.EQUAL]
    while image[k] != layout.END:
        slot, column = slots + image[k], row + image[k + 1]
        differs = memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]
        if differs and memory[slot] != NONE and rows[column] != NONE:
            return STAYS
        k += 2
    column = image[edge + layout.BOUND_COLUMN]
    if column >= 0 and memory[at + BOUND_KIND] != NONE and memory[at + BOUND_KIND] == rows[row + column] & KIND_MASK:
        bounded = compared(
            image[edge + layout.BOUND_COMPARISON],
            memory[at + BOUND_KIND],
            memory[at + BOUND],
            rows[row + column],
            rows[row + column + 1],
        )
        if bounded == FALSE:
            return NONE_FROM_HERE
    k = image[edge + layout.QUICK]
    while image[k] != layout.END:
        left, right = image[k + 2], image[k + 4]
        if left >= 0:
            left_tag, left_bits = rows[row + left], rows[row + left + 1]
        else:
            left = slots + image[k + 1]
            left_tag, left_bits = memory[left], memory[left + 1]
        if right >= 0:
            right_tag, right_bits = rows[row + right], rows[row + right + 1]
        else:
            right = slots + image[k + 3]
            right_tag, right_bits = memory[right], memory[right + 1]
        truth = compared(image[k], left_tag, left_bits, right_tag, right_bits)
        if truth == ASK:
            return PERHAPS
        if truth != TRUE:
            return STAYS
        k += 5
    return PERHAPS if image[edge + layout.TESTED] else SURE
