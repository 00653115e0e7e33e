"""The fate of a run that meets a row, in closures of SASE+ too (Section 3): it stays, takes, proceeds, stops or is
dropped; compiled."""

from __future__ import annotations

from thence.columns.value_kinds import KIND_MASK, NONE
from thence.engines.automaton import image as layout
from thence.engines.automaton.image import EVENTS, TIME
from thence.engines.automaton.memory import (
    BEGUN,
    BOUND,
    BOUND_KIND,
    DEADLINE,
    GOES_ON,
    KEEP_EXPIRED,
    LAST,
    NEVER,
    NODE,
    RUN_START,
    SLOTS,
    STATE,
    STOPPED,
    TAKEN,
)
from thence.engines.automaton.program import (
    ANY,
    AT_STOP,
    AT_WINDOWS_END,
    CUT_OFF,
    NEXT,
    OVER,
    PLAIN,
    STRICT,
    TAKE,
    WAITS_ANY,
    WAITS_APART,
    WAITS_NEXT,
)
from thence.engines.automaton.successors import copy, emit
from thence.extraction.predicates import ASK, FALSE, TRUE, compared
from thence.jit.compiled import inlined, inner

# The outcome of a run that meets a row, as far as it is decided without a frame; compiled.

DROPPED, ENDED, STAYS, SURE, PERHAPS, NONE_FROM_HERE, STOPS_HERE = -2, -1, 0, 1, 2, 3, 4
"""It is dropped, has become its successor, stays as it is, surely or perhaps joins; stays, and so do all behind it; or
its closure stops."""


@inlined
def outcome_of(image, memory, rows, row, clock, edge, state, at, ends):
    """The fate of a run in this row's bucket (SPAseQ, Definitions 10-12), as far as it is decided without a frame;
    `clock` is the row's time, `ends` whether it ends if it takes the row."""
    time, last = rows[row + TIME], memory[at + LAST]
    if memory[at + STATE] != state or last >= time:
        return STAYS
    if clock > memory[at + DEADLINE]:
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
    """Whether a run with the row's key joins, as far as it is decided without a frame."""
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


# Runs in closures of SASE+ (Section 3): what take edges and the edges after them do, and where closures stop.


@inlined
def accepts(image, state):
    return image[image[layout.AT_STATES] + state * layout.STATE_WIDTH + layout.ACCEPTS]


@inner
def outcome_in_closure(image, memory, rows, row, clock, edge, state, at, fits):
    """`outcome_of` a run in a closure of SASE+: over the take edge, or over that of the component after it."""
    time, last = rows[row + TIME], memory[at + LAST]
    if memory[at + STATE] != state or last >= time:
        return STAYS
    if clock > memory[at + DEADLINE]:
        return STAYS if accepts(image, state) or memory[KEEP_EXPIRED] else DROPPED
    if memory[at + TAKEN] < time:
        return DROPPED
    k = image[edge + layout.KEY]
    while image[k] != layout.END:
        slot, column = at + SLOTS + image[k], row + image[k + 1]
        if memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]:
            return STAYS
        k += 2
    strict = image[edge + layout.SELECTION_OF] == STRICT
    goes_on = memory[at + STOPPED] >= time
    if strict:
        goes_on = last == rows[row + image[edge + layout.PREVIOUS_OF]]
    if not goes_on:
        fate = _after_stop(image, memory, rows, row, edge, at, strict)
        if fate != PERHAPS:
            return fate
    elif not fits:  # an edge that stops
        return STOPS_HERE
    fate = quick_outcome_of(image, memory, rows, row, edge, at)
    return STOPS_HERE if fate == STAYS and goes_on and image[edge + layout.STOPS] else fate


@inlined
def _after_stop(image, memory, rows, row, edge, at, strict):
    """Whether a run whose closure has stopped may wait for the component after it: PERHAPS, or what becomes of it."""
    then, stopped = image[edge + layout.THEN], strict and memory[at + STOPPED] != NEVER
    waits = stopped and then != OVER
    if then == WAITS_ANY:
        waits = waits or memory[at + BEGUN] >= 0
    if image[edge + layout.ROLE] == TAKE:  # nothing for this edge; or it waits for its window's end
        return STAYS if waits or accepts(image, memory[at + STATE]) else DROPPED
    if then == WAITS_APART:
        return PERHAPS if waits and memory[at + LAST] == rows[row + image[layout.APART]] else STAYS
    return PERHAPS if waits else DROPPED


@inlined
def take(image, memory, rows, row, edge, at, closures):
    """Note that a row took a run, which other rows at its time may take as well (SPAseQ, Definition 11). By
    skip-till-any the run goes on (Definition 10)."""
    if closures is not None:
        if image[edge + layout.CUTS]:
            memory[at + BEGUN] = rows[row + EVENTS]
        if image[edge + layout.ROLE] != PLAIN:
            _take_in_closure(image, memory, rows, row, edge, at)
            return
    memory[at + TAKEN] = rows[row + TIME] if image[edge + layout.SELECTION_OF] != ANY else GOES_ON


@inner
def _take_in_closure(image, memory, rows, row, edge, at):
    """Note that a row took a run in a closure, or began what comes after it."""
    time, selection, then = rows[row + TIME], image[edge + layout.SELECTION_OF], image[edge + layout.THEN]
    if image[edge + layout.ROLE] == TAKE:
        if selection == NEXT:
            memory[at + STOPPED] = time
            if then != WAITS_ANY:
                memory[at + TAKEN] = time
        elif selection == STRICT and memory[at + STOPPED] == NEVER and accepts(image, memory[at + STATE]):
            memory[at + TAKEN] = time
        return
    memory[at + BEGUN] = rows[row + EVENTS]
    if selection == STRICT:
        if then == WAITS_NEXT:
            memory[at + TAKEN] = time
    elif image[edge + layout.ROLE] == CUT_OFF:
        memory[at + STOPPED] = min(memory[at + STOPPED], time)  # it may wait on since it was cut off before
        if then != WAITS_ANY:
            memory[at + TAKEN] = time


@inner
def stop(image, memory, rows, row, state, at):
    """Auto-stop: an event that counts, and can't be taken. The last closure of a pattern is then a match; unless it has
    to wait for its window's end, since something must be absent until then."""
    if memory[at + STOPPED] != NEVER:
        return
    memory[at + STOPPED] = rows[row + TIME]
    kind = accepts(image, state)
    if kind == AT_WINDOWS_END:
        memory[at + TAKEN] = NEVER
    elif kind == AT_STOP:
        emit_run(image, memory, at, rows[row + image[layout.CLOCK]])
        memory[at + TAKEN] = rows[row + TIME]


@inlined
def emit_run(image, memory, at, certain):
    last = memory[at + LAST]
    if image[layout.MERGES] and memory[at + SLOTS + image[layout.SLOT_WORDS]] != NEVER:
        last = memory[at + SLOTS + image[layout.SLOT_WORDS]]  # it has absorbed an event since
    slots = emit(memory, certain, memory[at + RUN_START], last, memory[at + NODE])
    copy(image, memory, slots, at + SLOTS)
