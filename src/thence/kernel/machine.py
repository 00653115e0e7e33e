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
    AT_FRAMES,
    AT_PENDING,
    AT_RUNS,
    AT_STACK,
    BEFORE,
    BEGIN,
    BEGUN,
    BOUND,
    BOUND_KIND,
    DEADLINE,
    EDGE,
    FIRST,
    FRAME,
    FRAME_WIDTH,
    FREE,
    GOES_ON,
    KEEP_EXPIRED,
    LAST,
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
    ROW,
    ROW_WIDTH,
    RUN,
    RUN_CAPACITY,
    RUN_WIDTH,
    SLOTS,
    STARTED,
    STATE,
    STOPPED,
    TAKEN,
    TOLD,
    head_of,
    mixed,
)
from thence.kernel.pointers import pointer
from thence.kernel.predicates import ASK, FALSE, TRUE, compared, test
from thence.kernel.successors import bind, copy, emit, extend, extend_merged, free
from thence.program import image as layout
from thence.program.automaton import (
    ANY,
    AT_STOP,
    AT_WINDOWS_END,
    CUT_OFF,
    NEXT,
    OVER,
    PLAIN,
    START,
    STRICT,
    TAKE,
    WAITS_ANY,
    WAITS_APART,
    WAITS_NEXT,
)
from thence.program.image import EVENTS, FEED, TIME
from thence.rdf.compiled import entry, inlined, inner, part
from thence.rdf.tags import KIND_MASK, NONE

DONE, ROOM, FULL, ASKING, TOO_MANY = 0, 1, 2, 3, 4
"""Why `step` stopped."""

_DROPPED, _ENDED, _STAYS, _SURE, _PERHAPS, _NONE_FROM_HERE, _STOPPED = -2, -1, 0, 1, 2, 3, 4
"""What becomes of a run that meets a row: it is dropped, has become its successor, stays as it is, surely or perhaps
joins; stays, and so do all behind it; or its closure stops."""

_UNKNOWN = np.int64(_PERHAPS)  # no literal, for each of which Numba compiles a function anew


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
        False,
    )


@entry
def step_in_closures(image, memory, rows, negated, term_tags, term_bits, most):
    """The same for automata of SASE+, where edges may have roles in closures. Compiled apart, since to ask of each edge
    whether it has one would cost the others a tenth of their time."""
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
        True,
    )


@part
def _step(image, memory, rows, negated, term_tags, term_bits, most, end, closures):
    at_runs, width = memory[AT_RUNS], memory[RUN_WIDTH]
    at_edges, at_feeds = image[layout.AT_EDGES], image[layout.AT_FEEDS]
    nothing = memory[AT_FRAMES] + 2 * memory[FRAME_WIDTH]
    row, number, run, before = memory[ROW], memory[EDGE], memory[RUN], memory[BEFORE]
    row_width = memory[ROW_WIDTH]
    code = DONE
    while row < end:
        next_row = row + row_width
        is_last = next_row < end and rows[next_row + TIME] > rows[row + TIME]  # of its time, for certain
        feed = at_feeds + rows[row + FEED] * layout.FEED_WIDTH
        row_key = _code_of(image, rows, row, image[feed + layout.ROW_KEY], 0)
        first = image[feed + layout.EDGE_FROM]
        if number < 0:
            number = image[feed + layout.EDGE_TO] - 1
        while number >= first:  # the last first, so that none meets the runs that an edge before it leads to
            edge = at_edges + number * layout.EDGE_WIDTH
            state = image[edge + layout.STATE_OF]
            fits = True
            if closures:
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
                at = at_runs + run * width
                following, source = np.int64(-1), nothing
                if state == START:
                    fate = _SURE if image[edge + layout.TESTED] == 0 else _PERHAPS
                    if closures and image[edge + layout.CUT] and memory[STARTED] == row:
                        fate = _STAYS
                else:
                    following, source = memory[at + NEXT_RUN], at + SLOTS
                    if not closures or image[edge + layout.ROLE] == PLAIN:
                        fate = _fate(image, memory, rows, row, edge, state, at, ends)
                        if fate == _NONE_FROM_HERE:
                            break
                    else:
                        fate = fate_in_closure(image, memory, rows, row, edge, state, at, fits)
                    cut = closures and image[edge + layout.CUT] != 0
                    if cut and fate >= _SURE and memory[at + BEGUN] == rows[row + EVENTS]:
                        fate = _STOPPED if image[edge + layout.STOPS] else _STAYS
                if fate >= _SURE:
                    code = _room(image, memory, most)
                    if code != DONE:
                        break
                    if closures and fate == _STOPPED:
                        stop(image, memory, rows, row, state, at)
                    elif fate == _PERHAPS or image[edge + layout.LOOKS_ROUND]:
                        fate = _join(image, memory, rows, negated, term_tags, term_bits, row, edge, run, source, fate)
                        if fate == _PERHAPS:
                            code = ASKING
                            break
                        source = memory[AT_FRAMES]
                        if closures and fate == _STAYS and image[edge + layout.STOPS]:
                            stop(image, memory, rows, row, state, at)
                    if fate == _SURE:
                        if closures and image[edge + layout.CUTS] and run < 0:
                            memory[STARTED] = row
                        if ends:
                            fate = _ENDED
                            _unlink(memory, head, before, following)
                        elif run >= 0:
                            _take(image, memory, rows, row, edge, at, closures)
                        if closures and image[layout.MERGES]:
                            extend_merged(image, memory, rows, row, row_key, edge, run, at, source)
                        else:
                            extend(image, memory, rows, row, row_key, edge, number, run, at, source, ends, closures)
                if state == START:
                    break
                if fate >= _STAYS:
                    before = run
                elif fate == _DROPPED:
                    _unlink(memory, head, before, following)
                    free(memory, run)
                elif before < 0:
                    before = _in_front_of(memory, head, following)
                run = following
            if code != DONE:
                memory[ROW], memory[EDGE], memory[RUN], memory[BEFORE] = row, number, run, before
                return code
            number -= 1
            run = np.int64(BEGIN)
        row = next_row
        number = np.int64(-1)
    memory[ROW], memory[EDGE], memory[RUN], memory[STARTED] = row, -1, BEGIN, -1
    return DONE


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


@inlined
def _fate(image, memory, rows, row, edge, state, at, ends):
    """What becomes of a run in this row's bucket, as far as that is told without a frame; `ends` is whether it does if
    it takes the row."""
    time, last = rows[row + TIME], memory[at + LAST]
    if memory[at + STATE] != state or last >= time:
        return _STAYS
    if time > memory[at + DEADLINE]:
        return _STAYS if memory[KEEP_EXPIRED] else _DROPPED
    selection = image[edge + layout.SELECTION_OF]
    if selection == NEXT and memory[at + TAKEN] < time:
        return _DROPPED
    previous = rows[row + image[edge + layout.PREVIOUS_OF]]
    if selection == STRICT and last > previous:
        return _STAYS
    k = image[edge + layout.KEY]
    while image[k] != layout.END:
        slot, column = at + SLOTS + image[k], row + image[k + 1]
        if memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]:
            return _STAYS  # of another key, in the same bucket
        k += 2
    if selection == STRICT and last < previous:
        return _DROPPED
    fate = _sifted(image, memory, rows, row, edge, at)
    return _DROPPED if fate == _STAYS and ends and selection == STRICT else fate


@inlined
def _sifted(image, memory, rows, row, edge, at):
    """Whether a run with the row's key joins, as far as that is told without a frame."""
    slots = at + SLOTS
    k = image[edge + layout.EQUAL]
    while image[k] != layout.END:
        slot, column = slots + image[k], row + image[k + 1]
        differs = memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]
        if differs and memory[slot] != NONE and rows[column] != NONE:
            return _STAYS
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
            return _NONE_FROM_HERE
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
            return _PERHAPS
        if truth != TRUE:
            return _STAYS
        k += 5
    return _PERHAPS if image[edge + layout.TESTED] else _SURE


@inlined
def _take(image, memory, rows, row, edge, at, closures):
    """Note that a row took a run, which other rows at its time may take as well."""
    if closures and image[edge + layout.CUTS]:
        memory[at + BEGUN] = rows[row + EVENTS]
    if not closures or image[edge + layout.ROLE] == PLAIN:
        memory[at + TAKEN] = rows[row + TIME] if image[edge + layout.SELECTION_OF] != ANY else GOES_ON
    else:
        take_in_closure(image, memory, rows, row, edge, at)


@inlined
def _accepts(image, state):
    return image[image[layout.AT_STATES] + state * layout.STATE_WIDTH + layout.ACCEPTS]


@inner
def fate_in_closure(image, memory, rows, row, edge, state, at, fits):
    """`_fate` of a run in a closure of SASE+: over the take edge, or over that of the component after it."""
    time, last = rows[row + TIME], memory[at + LAST]
    if memory[at + STATE] != state or last >= time:
        return _STAYS
    if time > memory[at + DEADLINE]:
        return _STAYS if _accepts(image, state) or memory[KEEP_EXPIRED] else _DROPPED
    if memory[at + TAKEN] < time:
        return _DROPPED
    k = image[edge + layout.KEY]
    while image[k] != layout.END:
        slot, column = at + SLOTS + image[k], row + image[k + 1]
        if memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]:
            return _STAYS
        k += 2
    strict = image[edge + layout.SELECTION_OF] == STRICT
    goes_on = memory[at + STOPPED] >= time
    if strict:
        goes_on = last == rows[row + image[edge + layout.PREVIOUS_OF]]
    if not goes_on:
        fate = _after_stop(image, memory, rows, row, edge, at, strict)
        if fate != _PERHAPS:
            return fate
    elif not fits:  # an edge that stops
        return _STOPPED
    fate = _sifted(image, memory, rows, row, edge, at)
    return _STOPPED if fate == _STAYS and goes_on and image[edge + layout.STOPS] else fate


@inlined
def _after_stop(image, memory, rows, row, edge, at, strict):
    """Whether a run whose closure has stopped may wait for the component after it: PERHAPS, or what becomes of it."""
    then, stopped = image[edge + layout.THEN], strict and memory[at + STOPPED] != NEVER
    waits = stopped and then != OVER
    if then == WAITS_ANY:
        waits = waits or memory[at + BEGUN] >= 0
    if image[edge + layout.ROLE] == TAKE:  # nothing for this edge; or it waits for its window's end
        return _STAYS if waits or _accepts(image, memory[at + STATE]) else _DROPPED
    if then == WAITS_APART:
        return _PERHAPS if waits and memory[at + LAST] == rows[row + image[layout.APART]] else _STAYS
    return _PERHAPS if waits else _DROPPED


@inner
def take_in_closure(image, memory, rows, row, edge, at):
    """Note that a row took a run in a closure, or began what comes after it."""
    time, selection, then = rows[row + TIME], image[edge + layout.SELECTION_OF], image[edge + layout.THEN]
    if image[edge + layout.ROLE] == TAKE:
        if selection == NEXT:
            memory[at + STOPPED] = time
            if then != WAITS_ANY:
                memory[at + TAKEN] = time
        elif selection == STRICT and memory[at + STOPPED] == NEVER and _accepts(image, memory[at + STATE]):
            memory[at + TAKEN] = time
        return
    memory[at + BEGUN] = rows[row + EVENTS]
    if selection == STRICT:
        if then == WAITS_NEXT:
            memory[at + TAKEN] = time
    elif image[edge + layout.ROLE] == CUT_OFF:
        memory[at + STOPPED] = time
        if then != WAITS_ANY:
            memory[at + TAKEN] = time


@inner
def stop(image, memory, rows, row, state, at):
    """Auto-stop: an event that counts, and can't be taken. The last closure of a pattern is then a match; unless it has
    to wait for its window's end, since something must be absent until then."""
    if memory[at + STOPPED] != NEVER:
        return
    memory[at + STOPPED] = rows[row + TIME]
    accepts = _accepts(image, state)
    if accepts == AT_WINDOWS_END:
        memory[at + TAKEN] = NEVER
    elif accepts == AT_STOP:
        _emit_run(image, memory, at, rows[row + TIME])
        memory[at + TAKEN] = rows[row + TIME]


@inlined
def _emit_run(image, memory, at, certain):
    last = memory[at + LAST]
    if image[layout.MERGES] and memory[at + SLOTS + image[layout.SLOT_WORDS]] != NEVER:
        last = memory[at + SLOTS + image[layout.SLOT_WORDS]]  # it has absorbed an event since
    slots = emit(memory, certain, memory[at + FIRST], last, memory[at + NODE])
    copy(image, memory, slots, at + SLOTS)


@inner
def _join(image, memory, rows, negated, term_tags, term_bits, row, edge, run, source, sifted):
    """One run (-1: none yet) with one row, in a frame: whether they are compatible and the filters of what joins hold,
    if that is not sure by now; and whether no guard objects."""
    memory[ASKED] = 0
    frame = memory[AT_FRAMES]
    known = image[layout.SLOT_WORDS]
    for k in range(known):
        memory[frame + k] = memory[source + k]
    for k in range(known, memory[FRAME_WIDTH]):
        memory[frame + k] = NONE
    verdict = _merge(image, memory, rows, term_tags, term_bits, row, edge, np.int64(0), sifted)
    if verdict == TRUE:
        time = rows[row + TIME]
        after = time
        if run >= 0:
            after = memory[source - SLOTS + LAST]
            if image[edge + layout.LATE] < 0:
                _take(image, memory, rows, row, edge, source - SLOTS, False)
        first, last = image[edge + layout.GUARDS], image[edge + layout.GUARDS_END]
        if first < last:
            objection = _objection(image, memory, negated, term_tags, term_bits, first, last, after, time)
            verdict = ASK if objection == ASK else TRUE - objection
        first, last = image[edge + layout.PRUNE], image[edge + layout.PRUNE_END]
        if verdict == TRUE and first < last:
            verdict = _hold(image, memory, term_tags, term_bits, first, last, np.int64(0))
    if verdict == ASK:
        return _PERHAPS
    memory[ANSWERS] = 0
    return _SURE if verdict == TRUE else _STAYS


@inlined
def _merge(image, memory, rows, term_tags, term_bits, row, edge, which, sifted):
    """Bring a row into a frame: TRUE if it is compatible and the edge's predicates hold, else FALSE; or ASK."""
    frame = memory[AT_FRAMES] + which * memory[FRAME_WIDTH]
    if sifted != _SURE:
        k = image[edge + layout.EQUAL]
        while image[k] != layout.END:
            slot, column = frame + image[k], row + image[k + 1]
            both = memory[slot] != NONE and rows[column] != NONE
            if both and (memory[slot + 1] != rows[column + 1] or memory[slot] != rows[column]):
                return FALSE
            k += 2
    late = image[edge + layout.LATE]
    if late < 0:
        bind(image, memory, rows, row, edge, frame)
        if sifted == _SURE:
            return TRUE
    else:
        while image[late] != layout.END:
            slot, column = frame + image[late], row + image[late + 1]
            memory[slot], memory[slot + 1] = rows[column], rows[column + 1]
            late += 2
    verdict = np.int64(TRUE)
    if sifted != _SURE:
        first, last = image[edge + layout.TEST], image[edge + layout.TEST_END]
        verdict = _hold(image, memory, term_tags, term_bits, first, last, which)
    if verdict == TRUE and image[edge + layout.LATE] >= 0:
        bind(image, memory, rows, row, edge, frame)
    return verdict


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
            return FALSE
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
                    if verdict != FALSE:
                        return verdict
            low += 1
    return FALSE


@entry
def end_closures(image, memory, watermark):
    """Runs in the last closure of a pattern whose window has ended are matches."""
    return _end_closures(pointer(image), pointer(memory), watermark)


@part
def _end_closures(image, memory, watermark):
    while memory[ROW] < memory[RUN_CAPACITY]:
        at = memory[AT_RUNS] + memory[ROW] * memory[RUN_WIDTH]
        state = memory[at + STATE]
        waits = state >= 0 and memory[at + TAKEN] == NEVER and memory[at + DEADLINE] < watermark
        if waits and _accepts(image, state):
            if memory[MATCHES] == memory[MATCH_CAPACITY]:
                return FULL
            _emit_run(image, memory, at, memory[at + DEADLINE])
            memory[at + TAKEN] = TOLD
        memory[ROW] += 1
    memory[ROW] = 0
    return DONE


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
        if verdict == FALSE:
            slots = emit(memory, memory[at + DEADLINE], memory[at + FIRST], memory[at + LAST], memory[at + NODE])
            copy(image, memory, slots, at + SLOTS)
        memory[ANSWERS] = 0
        free(memory, run)
        memory[PENDING] -= 1
        memory[memory[AT_PENDING] + memory[ROW]] = memory[memory[AT_PENDING] + memory[PENDING]]
    memory[ROW] = 0
    return DONE
