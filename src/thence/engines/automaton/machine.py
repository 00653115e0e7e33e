"""The machine: steps runs of an automaton over rows in the order of time, compiled.

`step` works until all rows are done, or until it needs something that only Python can give: room, an answer of the
reference evaluator, or that matches be taken away. Its place is kept in the memory; called again, it goes on there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thence.columns.value_kinds import NONE
from thence.engines.automaton import image as layout
from thence.engines.automaton.closures import (
    DROPPED,
    ENDED,
    NONE_FROM_HERE,
    PERHAPS,
    STAYS,
    STOPS_HERE,
    SURE,
    accepts,
    emit_run,
    outcome_in_closure,
    outcome_of,
    stop,
    take,
)
from thence.engines.automaton.image import EVENTS, FEED, TIME
from thence.engines.automaton.memory import (
    ANSWERS,
    ASKED,
    AT_ANSWERS,
    AT_FRAMES,
    AT_PENDING,
    AT_RUNS,
    AT_STACK,
    BEFORE,
    BEGIN,
    BEGUN,
    DEADLINE,
    EDGE,
    FRAME,
    FRAME_WIDTH,
    FREE,
    LAST,
    LEFT,
    LINK_CAPACITY,
    LINKS,
    MATCH_CAPACITY,
    MATCHES,
    NEGATED,
    NEVER,
    NEXT_RUN,
    NODE,
    NODE_CAPACITY,
    NODES,
    PENDING,
    PREDICATE,
    REPORTED,
    ROW,
    ROW_WIDTH,
    RUN,
    RUN_CAPACITY,
    RUN_START,
    RUN_WIDTH,
    SLOTS,
    STARTED,
    STATE,
    TAKEN,
    Memory,
    head_of,
    mixed,
)
from thence.engines.automaton.program import PLAIN, START
from thence.engines.automaton.successors import bind, copy, emit, extend, extend_merged, free
from thence.extraction import opcodes
from thence.extraction.predicates import ASK, FALSE, TRUE, test
from thence.jit.compiled import CALL, Interpretable, entry, inlined, inner, lazy_entry, part
from thence.jit.pointers import pointer

# Joins one run with one row, in a frame that holds the bindings of both.


_A_ROW = 50
"""Rounds of a small loop that Python needs to examine a row that may be absent."""

_UNKNOWN = np.int64(PERHAPS)  # not a literal: Numba would compile a function for each


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
            place = np.int64(TIME)
            objection = objection_of(image, memory, negated, term_tags, term_bits, first, last, after, time, place)
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
def objection_of(image, memory, negated, term_tags, term_bits, first, last, after, before, place):
    """Whether an event strictly between two times satisfies one of some negations, together with the first frame. The
    second one is of the kind that a row has at `place`."""
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
        while low < memory[NEGATED] and negated[low * width + place] < before:
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


DONE, ROOM, FULL, ASKING, TOO_MANY, TIRED = 0, 1, 2, 3, 4, 5
"""Why `step` stopped; TIRED: it has gone as many rounds as it might."""

A_TURN = 1 << 28
"""Rounds after which compiled code returns, a second at most: until then no other thread of Python can run, which shows
how far it has come, or handles Ctrl-C.
"""

A_MEETING, A_JOIN = 20, 100
"""Rounds of a small loop that it takes Python to let a run meet a row, and to let it go on."""


class Metered(Interpretable):
    """A part of the machine that Python runs while there is little to do. It counts its rounds itself, and stops where
    compiled code has to go on: the cost of a few rows is not known before."""

    def __call__(self, image: Memory, memory: Memory, *others: Any) -> Any:
        given = self.left
        if given < 0:
            memory[LEFT] = A_TURN
            return self.called(image, memory, *others)
        memory[LEFT] = given
        code = self.interpreted(image, memory, *others)
        self.done += CALL + given - int(memory[LEFT])
        return code


def metered(function: Any) -> Metered:
    return Metered(entry(function))


@metered
def step(image, memory, rows, negated, term_tags, term_bits, most):
    """Take every row. `negated` are the rows that guards test; `most` is the limit of runs."""
    memory[ROW_WIDTH], memory[NEGATED] = rows.shape[1], len(negated)
    tags, bits = pointer(term_tags), pointer(term_bits)
    return _step(pointer(image), pointer(memory), pointer(rows), pointer(negated), tags, bits, most, rows.size, None)


@metered
def step_in_closures(image, memory, rows, negated, term_tags, term_bits, most):
    """The same for automata of SASE+, where edges may have roles in closures."""
    memory[ROW_WIDTH], memory[NEGATED] = rows.shape[1], len(negated)
    tags, bits = pointer(term_tags), pointer(term_bits)
    return _step(pointer(image), pointer(memory), pointer(rows), pointer(negated), tags, bits, most, rows.size, True)


@part
def _step(image, memory, rows, negated, term_tags, term_bits, most, end, closures):
    """Take every row, compiled. `closures` is None in a query without closures: Numba then leaves out their code, here
    and in the functions called. It would take a tenth of the time, and a third of the compilation."""
    at_runs, width = memory[AT_RUNS], memory[RUN_WIDTH]
    at_edges, at_feeds = image[layout.AT_EDGES], image[layout.AT_FEEDS]
    nothing = memory[AT_FRAMES] + 2 * memory[FRAME_WIDTH]
    row, number, run, before = memory[ROW], memory[EDGE], memory[RUN], memory[BEFORE]
    row_width = memory[ROW_WIDTH]
    left, memory[LEFT] = memory[LEFT], 0
    code = DONE
    while row < end:
        if left < 0:
            code = TIRED
            break
        next_row = row + row_width
        is_last = next_row < end and rows[next_row + TIME] > rows[row + TIME]  # of its time, for certain
        clock = rows[row + image[layout.CLOCK]]
        feed = at_feeds + rows[row + FEED] * layout.FEED_WIDTH
        row_key = _code_of(image, rows, row, image[feed + layout.ROW_KEY], 0)
        first = image[feed + layout.EDGE_FROM]
        if number < 0:
            number = image[feed + layout.EDGE_TO] - 1
        while number >= first:  # the last first, so that none meets the runs that an edge before it leads to
            left -= A_MEETING
            edge = at_edges + number * layout.EDGE_WIDTH
            state = image[edge + layout.STATE_OF]
            fits = True
            if closures is not None:
                fit = image[edge + layout.FIT]
                fits = fit == 0 or rows[row + image[layout.FITS]] & fit != 0
                if not fits and not image[edge + layout.STOPS]:
                    number -= 1
                    continue
            ends = is_last and image[edge + layout.CLOSES] != 0
            head = np.int64(-1)
            if state == START:
                run = np.int64(-1)
            else:
                key = row_key
                if not image[edge + layout.BY_ROW_KEY]:
                    key = _code_of(image, rows, row, image[edge + layout.KEY], 1)
                head = head_of(memory, state, key)
                if run == BEGIN:
                    run, before = memory[head], np.int64(-1)
            while run >= 0 or state == START:
                if left < 0:
                    code = TIRED
                    break
                left -= A_MEETING
                at = at_runs + run * width
                following, source = np.int64(-1), nothing
                if state == START:
                    fate = SURE if image[edge + layout.TESTED] == 0 else PERHAPS
                    if closures is not None and image[edge + layout.CUT] and memory[STARTED] == row:
                        fate = STAYS
                else:
                    following, source = memory[at + NEXT_RUN], at + SLOTS
                    if closures is None or image[edge + layout.ROLE] == PLAIN:
                        fate = outcome_of(image, memory, rows, row, clock, edge, state, at, ends)
                        if fate == NONE_FROM_HERE:
                            break
                    else:
                        fate = outcome_in_closure(image, memory, rows, row, clock, edge, state, at, fits)
                    if closures is not None and fate >= SURE and _is_cut(image, memory, rows, row, edge, at):
                        fate = STOPS_HERE if image[edge + layout.STOPS] else STAYS
                if fate >= SURE:
                    code = _room(image, memory, most)
                    if code != DONE:
                        break
                    left -= A_JOIN
                    if closures is not None and fate == STOPS_HERE:
                        stop(image, memory, rows, row, state, at)
                    elif fate == PERHAPS or image[edge + layout.LOOKS_ROUND]:
                        fate = join(
                            image, memory, rows, negated, term_tags, term_bits, row, edge, run, source, fate, closures
                        )
                        left, memory[LEFT] = left + memory[LEFT], 0  # what predicates and guards took
                        if fate == PERHAPS:
                            code = ASKING
                            break
                        source = memory[AT_FRAMES]
                        if closures is not None and fate == STAYS and image[edge + layout.STOPS]:
                            stop(image, memory, rows, row, state, at)
                    if fate == SURE:
                        if closures is not None and image[edge + layout.CUTS] and run < 0:
                            memory[STARTED] = row
                        if ends:
                            fate = ENDED
                            _unlink(memory, head, before, following)
                        elif run >= 0:
                            take(image, memory, rows, row, edge, at, closures)
                        if closures is not None and image[layout.MERGES]:
                            extend_merged(image, memory, rows, row, row_key, edge, run, at, source)
                        else:
                            extend(
                                image, memory, rows, row, clock, row_key, edge, number, run, at, source, ends, closures
                            )
                if state == START:
                    break
                if fate >= STAYS:
                    before = run
                elif fate == DROPPED:
                    _unlink(memory, head, before, following)
                    free(memory, run)
                elif before < 0:
                    before = _in_front_of(memory, head, following)
                run = following
            if code != DONE:
                break
            number -= 1
            run = np.int64(BEGIN)
        if code != DONE:
            break
        row = next_row
        number = np.int64(-1)
    memory[LEFT] = left
    if code != DONE:
        memory[ROW], memory[EDGE], memory[RUN], memory[BEFORE] = row, number, run, before
        return code
    memory[ROW], memory[EDGE], memory[RUN], memory[STARTED] = row, -1, BEGIN, -1
    return DONE


@inlined
def _is_cut(image, memory, rows, row, edge, at):
    """Whether the row's event has begun another component of this run, so that it is not for this edge."""
    return image[edge + layout.CUT] != 0 and memory[at + BEGUN] == rows[row + EVENTS]


@inlined
def _room(image, memory, most):
    """DONE, if there is room for what becomes of one more join."""
    if memory[FREE] < 4 or memory[NODE_CAPACITY] - memory[NODES] <= image[layout.MOST_EVENTS]:
        return ROOM
    if memory[LINK_CAPACITY] - memory[LINKS] < 4:
        return ROOM
    if memory[MATCHES] == memory[MATCH_CAPACITY]:
        return FULL
    return TOO_MANY if memory[RUN_CAPACITY] - memory[FREE] >= most else DONE


@inlined
def _unlink(memory, head, before, following):
    """Take a run out of its bucket."""
    if before < 0:
        memory[head] = following
    else:
        memory[memory[AT_RUNS] + before * memory[RUN_WIDTH] + NEXT_RUN] = following


@inlined
def _in_front_of(memory, head, following):
    """The run before another in its bucket, if successors came in front of it meanwhile; -1: it is the first."""
    before, run = np.int64(-1), memory[head]
    while run != following:
        before, run = run, memory[memory[AT_RUNS] + run * memory[RUN_WIDTH] + NEXT_RUN]
    return before


@inlined
def _code_of(image, rows, row, k, before):
    """The code of a row's key: of the columns in a list, whose items have so many numbers before the column."""
    code = np.uint64(0)
    while image[k] != layout.END:
        column = row + image[k + before]
        code = mixed(code, rows[column], rows[column + 1])
        k += before + 1
    return code


@metered
def resolve(image, memory, negated, term_tags, term_bits, watermark):
    """Complete runs that waited for an absence, and need wait no longer: a match, if nothing came that may not."""
    memory[ROW_WIDTH], memory[NEGATED] = negated.shape[1], len(negated)
    return _resolve(
        pointer(image), pointer(memory), pointer(negated), pointer(term_tags), pointer(term_bits), watermark
    )


@part
def _resolve(image, memory, negated, term_tags, term_bits, watermark):
    while memory[ROW] < memory[PENDING]:
        if memory[LEFT] < 0:
            return TIRED
        memory[LEFT] -= A_JOIN
        run = memory[memory[AT_PENDING] + memory[ROW]]
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        if memory[at + DEADLINE] >= watermark:
            memory[ROW] += 1
            continue
        if memory[MATCHES] == memory[MATCH_CAPACITY]:
            return FULL
        memory[ASKED] = 0
        for k in range(memory[FRAME_WIDTH]):
            memory[memory[AT_FRAMES] + k] = NONE
        for k in range(image[layout.SLOT_WORDS]):
            memory[memory[AT_FRAMES] + k] = memory[at + SLOTS + k]
        edge = image[layout.AT_EDGES] + memory[at + STATE] * layout.EDGE_WIDTH
        first, last = image[edge + layout.ENDS], image[edge + layout.ENDS_END]
        before = memory[at + DEADLINE] + 1  # the gap after a match is closed at its end
        after, place = memory[at + LAST], image[layout.CLOCK]
        verdict = objection_of(image, memory, negated, term_tags, term_bits, first, last, after, before, place)
        if verdict == ASK:
            return ASKING
        if verdict == FALSE:
            slots = emit(memory, memory[at + DEADLINE], memory[at + RUN_START], memory[at + LAST], memory[at + NODE])
            copy(image, memory, slots, at + SLOTS)
        memory[ANSWERS] = 0
        free(memory, run)
        memory[PENDING] -= 1
        memory[memory[AT_PENDING] + memory[ROW]] = memory[memory[AT_PENDING] + memory[PENDING]]
    memory[ROW] = 0
    return DONE


@lazy_entry(lambda image, memory, watermark, latest: 4 * memory[RUN_CAPACITY])
def end_closures(image, memory, watermark, latest):
    """Runs in the last closure of a pattern whose window has ended are matches. At the end of the input, so are those
    without a window, certain at the time of the latest event."""
    return _end_closures(pointer(image), pointer(memory), watermark, latest)


@part
def _end_closures(image, memory, watermark, latest):
    while memory[ROW] < memory[RUN_CAPACITY]:
        at = memory[AT_RUNS] + memory[ROW] * memory[RUN_WIDTH]
        state, deadline = memory[at + STATE], memory[at + DEADLINE]
        waits = state >= 0 and memory[at + TAKEN] == NEVER and (deadline < watermark or watermark == NEVER)
        if waits and accepts(image, state):
            if memory[MATCHES] == memory[MATCH_CAPACITY]:
                return FULL
            emit_run(image, memory, at, latest if deadline == NEVER else deadline)
            memory[at + TAKEN] = REPORTED
        memory[ROW] += 1
    memory[ROW] = 0
    return DONE
