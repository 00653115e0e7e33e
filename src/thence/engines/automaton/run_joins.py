"""Joins one run with one row, in a frame that holds the bindings of both; compiled."""

from __future__ import annotations

import numpy as np

from thence.columns.value_kinds import NONE
from thence.engines.automaton import image as layout
from thence.engines.automaton.closures import PERHAPS, STAYS, SURE, take
from thence.engines.automaton.image import FEED, TIME
from thence.engines.automaton.memory import (
    ANSWERS,
    ASKED,
    AT_ANSWERS,
    AT_FRAMES,
    AT_STACK,
    FRAME,
    FRAME_WIDTH,
    LAST,
    LEFT,
    NEGATED,
    PREDICATE,
    ROW_WIDTH,
    SLOTS,
)
from thence.engines.automaton.successors import bind
from thence.extraction import opcodes
from thence.extraction.predicates import ASK, FALSE, TRUE, test
from thence.jit.compiled import inlined, inner

_A_ROW = 50
"""Rounds of a small loop that it takes Python to look at a row that may not be there."""

_UNKNOWN = np.int64(PERHAPS)  # no literal, for each of which Numba compiles a function anew


@inner
def join(image, memory, rows, negated, term_tags, term_bits, row, edge, run, source, sifted, closures):
    """One run (-1: none yet) with one row, in a frame: whether they are compatible and the filters of what joins hold,
    if that is not sure by now; and whether no guard objects."""
    memory[ASKED] = 0
    frame = memory[AT_FRAMES]
    known = image[layout.SLOT_WORDS]
    for k in range(known):
        memory[frame + k] = memory[source + k]
    for k in range(known, memory[FRAME_WIDTH]):
        memory[frame + k] = NONE
    verdict = _merge(image, memory, rows, term_tags, term_bits, row, edge, np.int64(0), sifted, closures)
    if verdict == TRUE:
        time = rows[row + TIME]
        after = time
        if run >= 0:
            after = memory[source - SLOTS + LAST]
            if image[edge + layout.LATE] < 0:
                take(image, memory, rows, row, edge, source - SLOTS, None)
        first, last = image[edge + layout.GUARDS], image[edge + layout.GUARDS_END]
        if first < last:
            objection = objection_of(image, memory, negated, term_tags, term_bits, first, last, after, time)
            verdict = ASK if objection == ASK else TRUE - objection
        first, last = image[edge + layout.PRUNE], image[edge + layout.PRUNE_END]
        if verdict == TRUE and first < last:
            verdict = _hold(image, memory, term_tags, term_bits, first, last, np.int64(0))
    if verdict == ASK:
        return PERHAPS
    memory[ANSWERS] = 0
    return SURE if verdict == TRUE else STAYS


@inlined
def _merge(image, memory, rows, term_tags, term_bits, row, edge, which, sifted, closures):
    """Bring a row into a frame: TRUE if it is compatible and the edge's predicates hold, else FALSE; or ASK."""
    frame = memory[AT_FRAMES] + which * memory[FRAME_WIDTH]
    if sifted != SURE:
        k = image[edge + layout.EQUAL]
        while image[k] != layout.END:
            slot, column = frame + image[k], row + image[k + 1]
            both = memory[slot] != NONE and rows[column] != NONE
            if both and (memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]):
                return FALSE
            k += 2
    late = image[edge + layout.LATE]
    if late < 0:
        bind(image, memory, rows, row, edge, frame, closures)
        if sifted == SURE:
            return TRUE
    else:
        while image[late] != layout.END:
            slot, column = frame + image[late], row + image[late + 1]
            memory[slot], memory[slot + 1] = rows[column], rows[column + 1]
            late += 2
    verdict = np.int64(TRUE)
    if sifted != SURE:
        first, last = image[edge + layout.TEST], image[edge + layout.TEST_END]
        verdict = _hold(image, memory, term_tags, term_bits, first, last, which)
    if verdict == TRUE and image[edge + layout.LATE] >= 0:
        bind(image, memory, rows, row, edge, frame, closures)
    return verdict


@inner
def _hold(image, memory, term_tags, term_bits, first, last, which):
    """Whether some predicates hold in a frame; or ASK."""
    frame = memory[AT_FRAMES] + which * memory[FRAME_WIDTH]
    for k in range(first, last):
        predicate = image[k]
        code = image[opcodes.AT_CODES] + predicate * opcodes.RANGE_WIDTH
        memory[LEFT] -= 2 * (image[code + opcodes.BEYOND] - image[code + opcodes.FIRST])
        truth = test(image, predicate, memory, frame, memory[AT_STACK], term_tags, term_bits)
        if truth == ASK:
            truth = _answer(memory, predicate, which)
            if truth == ASK:
                return ASK
        if truth != TRUE:
            return FALSE
    return TRUE


@inner
def _answer(memory, predicate, which):
    """The reference evaluator's answer for this predicate in this frame, or ASK, with the question noted."""
    asked = memory[ASKED]
    memory[ASKED] += 1
    if asked < memory[ANSWERS]:
        return memory[memory[AT_ANSWERS] + asked]
    memory[PREDICATE] = predicate
    memory[FRAME] = which
    return ASK


@inner
def objection_of(image, memory, negated, term_tags, term_bits, first, last, after, before):
    """Whether an event strictly between two times satisfies one of some negations, together with the first frame."""
    width = memory[ROW_WIDTH]
    for g in range(first, last):
        guard = image[layout.AT_GUARDS] + image[g] * opcodes.RANGE_WIDTH
        low, high = 0, memory[NEGATED]
        while low < high:  # the first row later than `after`
            middle = (low + high) // 2
            if negated[middle * width + TIME] <= after:
                low = middle + 1
            else:
                high = middle
        while low < memory[NEGATED] and negated[low * width + TIME] < before:
            for k in range(image[guard + opcodes.FIRST], image[guard + opcodes.BEYOND]):
                edge = image[layout.AT_EDGES] + image[k] * layout.EDGE_WIDTH
                if image[edge + layout.FEED_OF] == negated[low * width + FEED]:
                    frame = memory[AT_FRAMES]
                    memory[LEFT] -= _A_ROW
                    for j in range(memory[FRAME_WIDTH]):
                        memory[frame + memory[FRAME_WIDTH] + j] = memory[frame + j]
                    verdict = _merge(
                        image, memory, negated, term_tags, term_bits, low * width, edge, np.int64(1), _UNKNOWN, None
                    )
                    if verdict != FALSE:
                        return verdict
            low += 1
    return FALSE
