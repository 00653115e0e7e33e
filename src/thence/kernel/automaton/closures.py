"""Runs in closures of SASE+ (Section 3): what take edges and the edges after them do, and where closures stop."""

from __future__ import annotations

from thence.jit.compiled import inlined, inner
from thence.kernel.automaton.memory import (
    BEGUN,
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
from thence.kernel.automaton.run_outcomes import DROPPED, PERHAPS, STAYS, STOPS_HERE, quick_outcome_of
from thence.kernel.automaton.successors import copy, emit
from thence.program.automaton import image as layout
from thence.program.automaton.image import EVENTS, TIME
from thence.program.automaton.nfa import (
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


@inlined
def accepts(image, state):
    return image[image[layout.AT_STATES] + state * layout.STATE_WIDTH + layout.ACCEPTS]


@inner
def outcome_in_closure(image, memory, rows, row, edge, state, at, fits):
    """`outcome_of` a run in a closure of SASE+: over the take edge, or over that of the component after it."""
    time, last = rows[row + TIME], memory[at + LAST]
    if memory[at + STATE] != state or last >= time:
        return STAYS
    if time > memory[at + DEADLINE]:
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
        emit_run(image, memory, at, rows[row + TIME])
        memory[at + TAKEN] = rows[row + TIME]


@inlined
def emit_run(image, memory, at, certain):
    last = memory[at + LAST]
    if image[layout.MERGES] and memory[at + SLOTS + image[layout.SLOT_WORDS]] != NEVER:
        last = memory[at + SLOTS + image[layout.SLOT_WORDS]]  # it has absorbed an event since
    slots = emit(memory, certain, memory[at + RUN_START], last, memory[at + NODE])
    copy(image, memory, slots, at + SLOTS)
