"""The machine: steps runs of an automaton over rows in the order of time, compiled.

`step` works until all rows are done, or until it needs something that only Python can give: room, an answer of the
plain evaluator, or that matches be taken away. Its place is kept in the memory; called again, it goes on there.
"""

from __future__ import annotations

import numpy as np

from thence.kernel.memory import (
    ANSWERS,
    ASKED,
    AT_ANSWERS,
    AT_BORN,
    AT_FRAMES,
    AT_HEADS,
    AT_PENDING,
    AT_RUNS,
    AT_STACK,
    BEFORE,
    BEGIN,
    BORN,
    BOUND,
    BOUND_KIND,
    BUCKETS,
    DEADLINE,
    EDGE,
    FIRST,
    FRAME,
    FRAME_WIDTH,
    FREE,
    GOES_ON,
    KEEP_EXPIRED,
    LAST,
    MATCH_CAPACITY,
    MATCHES,
    NEGATED,
    NEXT_RUN,
    NODE,
    NODE_CAPACITY,
    NODES,
    PENDING,
    PREDICATE,
    ROW,
    ROW_WIDTH,
    RUN,
    RUN_CAPACITY,
    RUN_WIDTH,
    SLOTS,
    STATE,
    TAKEN,
    link,
    mixed,
    of_state,
)
from thence.kernel.pointers import pointer
from thence.kernel.predicates import ASK, FALSE, TRUE, compared, test
from thence.kernel.successors import emit, extend, free
from thence.program import image as layout
from thence.program.automaton import ANY, NEXT, START, STRICT
from thence.program.image import FEED, PREVIOUS, TIME
from thence.rdf.compiled import entry, inlined, inner, part
from thence.rdf.tags import KIND_MASK, NONE

DONE, ROOM, FULL, ASKING, TOO_MANY = 0, 1, 2, 3, 4
"""Why `step` stopped."""

_STAYS, _DROPPED, _MAY_JOIN = 0, 1, 2
_NO, _NONE_FROM_HERE = 0, 3
_NO_RUN, _UNKNOWN = np.int64(-1), np.int64(ASK)  # not literals, for each of which Numba compiles a function anew


@entry
def step(image, memory, rows, negated, term_tags, term_bits, most):
    """Take every row. `negated` are the rows that guards look at, `most` is how many runs there may be."""
    memory[ROW_WIDTH], memory[NEGATED] = rows.shape[1], len(negated)
    return _step(
        pointer(image),
        pointer(memory),
        pointer(rows),
        pointer(negated),
        pointer(term_tags),
        pointer(term_bits),
        most,
        rows.size,
    )


@part
def _step(image, memory, rows, negated, term_tags, term_bits, most, end):
    at_runs, width, at_heads = memory[AT_RUNS], memory[RUN_WIDTH], memory[AT_HEADS]
    at_edges, at_feeds, mask = image[layout.AT_EDGES], image[layout.AT_FEEDS], np.uint64(memory[BUCKETS] - 1)
    row, number, run, before = memory[ROW], memory[EDGE], memory[RUN], memory[BEFORE]
    row_width = memory[ROW_WIDTH]
    code = DONE
    while row < end:
        feed = at_feeds + rows[row + FEED] * layout.FEED_WIDTH
        if number < 0:
            number = image[feed + layout.EDGE_FROM]
        while number < image[feed + layout.EDGE_TO]:
            edge = at_edges + number * layout.EDGE_WIDTH
            if image[edge + layout.STATE_OF] == START:
                code = _join(
                    image, memory, rows, negated, term_tags, term_bits, most, row, edge, number, _NO_RUN, _UNKNOWN
                )
            else:
                head = at_heads + np.int64(_code_of(image, rows, row, edge) & mask)
                if run == BEGIN:
                    run, before = memory[head], np.int64(-1)
                while run >= 0:
                    at = at_runs + run * width
                    following = memory[at + NEXT_RUN]
                    fate = _fate(image, memory, rows, row, edge, at)
                    if fate == _DROPPED:
                        if before < 0:
                            memory[head] = following
                        else:
                            memory[at_runs + before * width + NEXT_RUN] = following
                        free(memory, run)
                        run = following
                        continue
                    if fate == _MAY_JOIN:
                        told = _sifted(image, memory, rows, row, edge, at)
                        if told == _NONE_FROM_HERE:
                            break
                        if told != _NO:
                            code = _join(
                                image, memory, rows, negated, term_tags, term_bits, most, row, edge, number, run, told
                            )
                            if code != DONE:
                                break
                    before = run
                    run = following
            if code != DONE:
                memory[ROW], memory[EDGE], memory[RUN], memory[BEFORE] = row, number, run, before
                return code
            number += 1
            run = np.int64(BEGIN)
        for i in range(memory[BORN]):
            link(image, memory, memory[memory[AT_BORN] + i])
        memory[BORN] = 0
        row += row_width
        number = np.int64(-1)
    memory[ROW], memory[EDGE], memory[RUN] = row, -1, BEGIN
    return DONE


@inlined
def _code_of(image, rows, row, edge):
    """What the bucket of the runs that may join with this row is found by."""
    code = of_state(image[edge + layout.STATE_OF])
    for k in range(image[edge + layout.KEY], image[edge + layout.KEY_END]):
        column = image[k]
        code = mixed(code, rows[row + column], rows[row + column + 1])
    return code


@inlined
def _fate(image, memory, rows, row, edge, at):
    """What becomes of a run in this row's bucket: it stays as it is, is dropped, or may join."""
    time, last = rows[row + TIME], memory[at + LAST]
    if memory[at + STATE] != image[edge + layout.STATE_OF] or last >= time:
        return _STAYS
    if time > memory[at + DEADLINE]:
        return _STAYS if memory[KEEP_EXPIRED] else _DROPPED
    selection = image[edge + layout.SELECTION_OF]
    if selection == NEXT and memory[at + TAKEN] < time:
        return _DROPPED
    if selection == STRICT and last != rows[row + PREVIOUS]:
        passed = last < rows[row + PREVIOUS] and _same_key(image, memory, rows, row, edge, at)
        return _DROPPED if passed else _STAYS
    return _MAY_JOIN


@inner
def _same_key(image, memory, rows, row, edge, at):
    """Whether run and row have the same key, and not just the same bucket."""
    slots = image[image[layout.AT_STATES] + image[edge + layout.STATE_OF] * layout.STATE_WIDTH + layout.STATE_KEY]
    first = image[edge + layout.KEY]
    for k in range(image[edge + layout.KEY_END] - first):
        column, slot = image[first + k], at + SLOTS + image[slots + k]
        if memory[slot] != rows[row + column] or memory[slot + 1] != rows[row + column + 1]:
            return False
    return True


@inlined
def _sifted(image, memory, rows, row, edge, at):
    """Whether a run joins, as far as that is told without a frame: not, TRUE, or ASK for a closer look; or that neither
    it nor any run behind it in its bucket does."""
    slots = at + SLOTS
    for k in range(image[edge + layout.EQUAL], image[edge + layout.EQUAL_END], 2):
        slot, column = slots + image[k], image[k + 1]
        differs = memory[slot + 1] != rows[row + column + 1] or memory[slot] != rows[row + column]
        if differs and memory[slot] != NONE and rows[row + column] != NONE:
            return _NO
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
            return _NONE_FROM_HERE
    first, last = image[edge + layout.QUICK], image[edge + layout.QUICK_END]
    for k in range(first, last, 5):
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
            return ASK
        if truth != TRUE:
            return _NO
    all_told = last - first == 5 * (image[edge + layout.TEST_END] - image[edge + layout.TEST])
    return TRUE if all_told else ASK


@inner
def _join(image, memory, rows, negated, term_tags, term_bits, most, row, edge, number, run, sifted):
    """One run (-1: none yet) with one row: compatible, and the filters of what joins hold (as `_sifted` told: TRUE, or
    ASK); then no guard may object."""
    memory[ASKED] = 0
    events = image[image[layout.AT_FEEDS] + rows[row + FEED] * layout.FEED_WIDTH + layout.ROW_EVENTS]
    if memory[FREE] < 4 or memory[NODE_CAPACITY] - memory[NODES] <= events:
        return ROOM
    if memory[MATCHES] == memory[MATCH_CAPACITY]:
        return FULL
    if memory[RUN_CAPACITY] - memory[FREE] >= most:
        return TOO_MANY
    at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
    frame = memory[AT_FRAMES]
    known = 0
    if run >= 0:
        known = image[layout.SLOT_WORDS]
        for k in range(known):
            memory[frame + k] = memory[at + SLOTS + k]
    for k in range(known, memory[FRAME_WIDTH]):
        memory[frame + k] = NONE
    verdict = _merge(image, memory, rows, term_tags, term_bits, row, edge, np.int64(0), sifted)
    if verdict == ASK:
        return ASKING
    if verdict == TRUE:
        time = rows[row + TIME]
        after = time
        if run >= 0:
            after = memory[at + LAST]
            memory[at + TAKEN] = time if image[edge + layout.SELECTION_OF] != ANY else GOES_ON
        first, last = image[edge + layout.GUARDS], image[edge + layout.GUARDS_END]
        if first < last:
            verdict = _objection(image, memory, negated, term_tags, term_bits, first, last, after, time)
            if verdict == ASK:
                return ASKING
        else:
            verdict = _NO
        if verdict == _NO:
            first, last = image[edge + layout.PRUNE], image[edge + layout.PRUNE_END]
            hopeful = TRUE
            if first < last:
                hopeful = _hold(image, memory, term_tags, term_bits, first, last, np.int64(0))
            if hopeful == ASK:
                return ASKING
            if hopeful == TRUE:
                extend(image, memory, rows, row, edge, number, run)
    memory[ANSWERS] = 0
    return DONE


@inlined
def _merge(image, memory, rows, term_tags, term_bits, row, edge, which, sifted):
    """Bring a row into a frame: TRUE if it is compatible and the edge's predicates hold, else not; or ASK."""
    frame = memory[AT_FRAMES] + which * memory[FRAME_WIDTH]
    if sifted != TRUE:
        for k in range(image[edge + layout.EQUAL], image[edge + layout.EQUAL_END], 2):
            slot, column = frame + image[k], image[k + 1]
            both = memory[slot] != NONE and rows[row + column] != NONE
            if both and (memory[slot + 1] != rows[row + column + 1] or memory[slot] != rows[row + column]):
                return _NO
    for k in range(image[edge + layout.BIND], image[edge + layout.BIND_END], 3):
        slot, column = frame + image[k], image[k + 1]
        if column < 0:  # a local that this alternative lacks: forgotten
            memory[slot] = NONE
        elif image[k + 2] or memory[slot] == NONE:
            memory[slot] = rows[row + column]
            memory[slot + 1] = rows[row + column + 1]
    if sifted == TRUE:
        return TRUE
    return _hold(image, memory, term_tags, term_bits, image[edge + layout.TEST], image[edge + layout.TEST_END], which)


@inner
def _hold(image, memory, term_tags, term_bits, first, last, which):
    """Whether some predicates hold in a frame; or ASK."""
    frame = memory[AT_FRAMES] + which * memory[FRAME_WIDTH]
    for k in range(first, last):
        predicate = image[k]
        truth = test(image, predicate, memory, frame, memory[AT_STACK], term_tags, term_bits)
        if truth == ASK:
            truth = _answer(memory, predicate, which)
            if truth == ASK:
                return ASK
        if truth != TRUE:
            return _NO
    return TRUE


@inner
def _answer(memory, predicate, which):
    """What the plain evaluator said of this predicate in this frame, or ASK, with the question noted."""
    asked = memory[ASKED]
    memory[ASKED] += 1
    if asked < memory[ANSWERS]:
        return memory[memory[AT_ANSWERS] + asked]
    memory[PREDICATE] = predicate
    memory[FRAME] = which
    return ASK


@inner
def _objection(image, memory, negated, term_tags, term_bits, first, last, after, before):
    """Whether an event strictly between two times satisfies one of some negations, together with the first frame."""
    width = memory[ROW_WIDTH]
    for g in range(first, last):
        guard = image[layout.AT_GUARDS] + image[g] * layout.RANGE_WIDTH
        low, high = 0, memory[NEGATED]
        while low < high:  # the first row later than `after`
            middle = (low + high) // 2
            if negated[middle * width + TIME] <= after:
                low = middle + 1
            else:
                high = middle
        while low < memory[NEGATED] and negated[low * width + TIME] < before:
            for k in range(image[guard + layout.FIRST], image[guard + layout.BEYOND]):
                edge = image[layout.AT_EDGES] + image[k] * layout.EDGE_WIDTH
                if image[edge + layout.FEED_OF] == negated[low * width + FEED]:
                    frame = memory[AT_FRAMES]
                    for j in range(memory[FRAME_WIDTH]):
                        memory[frame + memory[FRAME_WIDTH] + j] = memory[frame + j]
                    verdict = _merge(
                        image, memory, negated, term_tags, term_bits, low * width, edge, np.int64(1), _UNKNOWN
                    )
                    if verdict != _NO:
                        return verdict
            low += 1
    return _NO


@entry
def resolve(image, memory, negated, term_tags, term_bits, watermark):
    """Complete runs that waited for an absence, and need wait no longer: a match, if nothing came that may not."""
    memory[ROW_WIDTH], memory[NEGATED] = negated.shape[1], len(negated)
    return _resolve(
        pointer(image), pointer(memory), pointer(negated), pointer(term_tags), pointer(term_bits), watermark
    )


@part
def _resolve(image, memory, negated, term_tags, term_bits, watermark):
    while memory[ROW] < memory[PENDING]:
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
        verdict = _objection(image, memory, negated, term_tags, term_bits, first, last, memory[at + LAST], before)
        if verdict == ASK:
            return ASKING
        if verdict == _NO:
            emit(image, memory, memory[at + DEADLINE], memory[at + FIRST], memory[at + LAST], memory[at + NODE])
        memory[ANSWERS] = 0
        free(memory, run)
        memory[PENDING] -= 1
        memory[memory[AT_PENDING] + memory[ROW]] = memory[memory[AT_PENDING] + memory[PENDING]]
    memory[ROW] = 0
    return DONE
