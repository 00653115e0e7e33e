"""The machine: steps runs of an automaton over rows in the order of time, compiled.

`step` works until all rows are done, or until it needs something that only Python can give: room, an answer of the
plain evaluator, or that matches be taken away. Its place is kept in the memory; called again, it goes on there.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from thence.kernel.memory import (
    ANSWERS,
    ASKED,
    AT_ANSWERS,
    AT_BORN,
    AT_FRAMES,
    AT_FREE,
    AT_HEADS,
    AT_MATCHES,
    AT_NODES,
    AT_PENDING,
    AT_RUNS,
    BEFORE,
    BEGIN,
    BORN,
    BUCKETS,
    CERTAIN,
    DEADLINE,
    EDGE,
    FINISHED,
    FIRST,
    FRAME,
    FRAME_WIDTH,
    FREE,
    ITERATED,
    KEEP_EXPIRED,
    LAST,
    MATCH_CAPACITY,
    MATCH_FIRST,
    MATCH_LAST,
    MATCH_NODE,
    MATCH_SLOTS,
    MATCH_WIDTH,
    MATCHES,
    NEVER,
    NEXT_RUN,
    NODE,
    NODE_CAPACITY,
    NODE_WIDTH,
    NODES,
    PARENT,
    PENDING,
    PLACE,
    PREDICATE,
    REF,
    ROW,
    RUN,
    RUN_CAPACITY,
    RUN_WIDTH,
    SLOTS,
    STATE,
    TAKEN,
    link,
    mixed,
)
from thence.kernel.predicates import ASK, TRUE, test
from thence.program.automaton import EVENTS, INPUT, NEXT, NOWHERE, PREVIOUS, SECTIONS, START, STRICT, TIME
from thence.rdf.tags import NONE

DONE, ROOM, FULL, ASKING, TOO_MANY = 0, 1, 2, 3, 4
"""Why `step` stopped."""

_SKIP, _DROP, _JOIN = 0, 1, 2
_NO = 0

_SELECTION = SECTIONS["selection"]
_WINDOW, _TUMBLING, _ORIGIN = SECTIONS["window"], SECTIONS["tumbling"], SECTIONS["origin"]
_SLOT_COUNT, _ITERATED_COUNT, _VALUES = SECTIONS["slots"], SECTIONS["iterated"], SECTIONS["row_values"]
_INPUT_FROM, _INPUT_EVENTS = SECTIONS["input_from"], SECTIONS["input_events"]
_EDGE_STATE, _EDGE_INPUT = SECTIONS["edge_state"], SECTIONS["edge_input"]
_EDGE_TARGET, _EDGE_LOOP, _EDGE_ACCEPT = SECTIONS["edge_target"], SECTIONS["edge_loop"], SECTIONS["edge_accept"]
_EDGE_ITERATED, _ITERATED_COLUMN = SECTIONS["edge_iterated"], SECTIONS["iterated_column"]
_EQUAL_FROM, _EQUAL_SLOT, _EQUAL_COLUMN = (SECTIONS["equal_" + name] for name in ("from", "slot", "column"))
_BIND_FROM, _BIND_SLOT, _BIND_COLUMN, _BIND_ANEW = (
    SECTIONS["bind_" + name] for name in ("from", "slot", "column", "anew")
)
_TEST_FROM, _TEST_PREDICATE = SECTIONS["test_from"], SECTIONS["test_predicate"]
_KEY_FROM, _KEY_COLUMN = SECTIONS["key_from"], SECTIONS["key_column"]
_STATE_KEY_FROM, _STATE_KEY_SLOT = SECTIONS["state_key_from"], SECTIONS["state_key_slot"]
_PLACE_FROM, _PLACE = SECTIONS["place_from"], SECTIONS["place"]
_GUARD_FROM, _GUARD = SECTIONS["guard_from"], SECTIONS["guard"]
_END_FROM, _END = SECTIONS["end_from"], SECTIONS["end"]
_GUARD_EDGE_FROM, _GUARD_EDGE = SECTIONS["guard_edge_from"], SECTIONS["guard_edge"]


@njit(cache=True)
def step(image, memory, rows, negated, term_tags, term_bits, most):
    """Take every row. `negated` are the rows that guards look at, `most` is how many runs there may be."""
    while memory[ROW] < len(rows):
        row = memory[ROW]
        edges = image[_INPUT_FROM] + rows[row, INPUT]
        if memory[EDGE] < 0:
            memory[EDGE] = image[edges]
        while memory[EDGE] < image[edges + 1]:
            code = _follow(image, memory, rows, negated, term_tags, term_bits, most, row, memory[EDGE])
            if code != DONE:
                return code
            memory[EDGE] += 1
            memory[RUN] = BEGIN
        for i in range(memory[BORN]):
            link(image, memory, memory[memory[AT_BORN] + i])
        memory[BORN] = 0
        memory[ROW] += 1
        memory[EDGE] = -1
    return DONE


@njit(cache=True)
def _follow(image, memory, rows, negated, term_tags, term_bits, most, row, edge):
    """One edge with one row: every run that waits for it."""
    if image[image[_EDGE_STATE] + edge] == START:
        return _join(image, memory, rows, negated, term_tags, term_bits, most, row, edge, np.int64(-1))
    head = memory[AT_HEADS] + _bucket(image, memory, rows, row, edge)
    if memory[RUN] == BEGIN:
        memory[RUN] = memory[head]
        memory[BEFORE] = -1
    while memory[RUN] != FINISHED:
        run = memory[RUN]
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        fate = _fate(image, memory, rows, row, edge, at)
        if fate == _DROP:
            following = memory[at + NEXT_RUN]
            if memory[BEFORE] < 0:
                memory[head] = following
            else:
                memory[memory[AT_RUNS] + memory[BEFORE] * memory[RUN_WIDTH] + NEXT_RUN] = following
            _free(memory, run)
            memory[RUN] = following
            continue
        if fate == _JOIN:
            code = _join(image, memory, rows, negated, term_tags, term_bits, most, row, edge, run)
            if code != DONE:
                return code
        memory[BEFORE] = run
        memory[RUN] = memory[at + NEXT_RUN]
    return DONE


@njit(cache=True)
def _bucket(image, memory, rows, row, edge):
    """The bucket of the runs that may join with this row."""
    code = np.uint64(image[image[_EDGE_STATE] + edge]) * np.uint64(0x9E3779B97F4A7C15)
    for k in range(image[image[_KEY_FROM] + edge], image[image[_KEY_FROM] + edge + 1]):
        column = image[_VALUES] + 2 * image[image[_KEY_COLUMN] + k]
        code = mixed(code, rows[row, column], rows[row, column + 1])
    return np.int64(code & np.uint64(memory[BUCKETS] - 1))


@njit(cache=True)
def _fate(image, memory, rows, row, edge, at):
    """What becomes of a run in this row's bucket: it stays as it is, is dropped, or may join."""
    state = image[image[_EDGE_STATE] + edge]
    time = rows[row, TIME]
    if memory[at + STATE] != state or memory[at + LAST] >= time:
        return _SKIP
    if time > memory[at + DEADLINE]:
        return _SKIP if memory[KEEP_EXPIRED] else _DROP
    selection = image[image[_SELECTION] + state]
    if selection == NEXT and memory[at + TAKEN] < time:
        return _DROP
    if selection == STRICT and memory[at + LAST] != rows[row, PREVIOUS]:
        passed = memory[at + LAST] < rows[row, PREVIOUS] and _same_key(image, memory, rows, row, edge, at)
        return _DROP if passed else _SKIP
    return _JOIN


@njit(cache=True)
def _same_key(image, memory, rows, row, edge, at):
    """Whether run and row have the same key, and not just the same bucket."""
    first = image[image[_KEY_FROM] + edge]
    slots = image[_STATE_KEY_SLOT] + image[image[_STATE_KEY_FROM] + image[image[_EDGE_STATE] + edge]]
    for k in range(image[image[_KEY_FROM] + edge + 1] - first):
        column = image[_VALUES] + 2 * image[image[_KEY_COLUMN] + first + k]
        slot = at + SLOTS + 2 * image[slots + k]
        if memory[slot] != rows[row, column] or memory[slot + 1] != rows[row, column + 1]:
            return False
    return True


@njit(cache=True)
def _join(image, memory, rows, negated, term_tags, term_bits, most, row, edge, run):
    """One run (-1: none yet) with one row: compatible, and the filters of what joins hold; then no guard may object."""
    memory[ASKED] = 0
    events = image[image[_INPUT_EVENTS] + rows[row, INPUT]]
    if memory[FREE] < 4 or memory[NODE_CAPACITY] - memory[NODES] <= events:
        return ROOM
    if memory[MATCHES] == memory[MATCH_CAPACITY]:
        return FULL
    if memory[RUN_CAPACITY] - memory[FREE] >= most:
        return TOO_MANY
    at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
    frame = memory[AT_FRAMES]
    for k in range(memory[FRAME_WIDTH]):
        memory[frame + k] = NONE
    if run >= 0:
        for k in range(2 * image[_SLOT_COUNT]):
            memory[frame + k] = memory[at + SLOTS + k]
    verdict = _merge(image, memory, rows, term_tags, term_bits, row, edge, np.int64(0))
    if verdict == ASK:
        return ASKING
    if verdict == TRUE:
        time = rows[row, TIME]
        after = time
        if run >= 0:
            after = memory[at + LAST]
            if image[image[_SELECTION] + memory[at + STATE]] == NEXT:
                memory[at + TAKEN] = time
        first, last = image[image[_GUARD_FROM] + edge], image[image[_GUARD_FROM] + edge + 1]
        verdict = _objection(image, memory, negated, term_tags, term_bits, image[_GUARD], first, last, after, time)
        if verdict == ASK:
            return ASKING
        if verdict == _NO:
            _extend(image, memory, rows, row, edge, run)
    memory[ANSWERS] = 0
    return DONE


@njit(cache=True)
def _merge(image, memory, rows, term_tags, term_bits, row, edge, which):
    """Bring a row into a frame: TRUE if it is compatible and the edge's predicates hold, else not; or ASK."""
    frame = memory[AT_FRAMES] + which * memory[FRAME_WIDTH]
    for k in range(image[image[_EQUAL_FROM] + edge], image[image[_EQUAL_FROM] + edge + 1]):
        slot = frame + 2 * image[image[_EQUAL_SLOT] + k]
        column = image[_VALUES] + 2 * image[image[_EQUAL_COLUMN] + k]
        both = memory[slot] != NONE and rows[row, column] != NONE
        if both and (memory[slot + 1] != rows[row, column + 1] or memory[slot] != rows[row, column]):
            return _NO
    for k in range(image[image[_BIND_FROM] + edge], image[image[_BIND_FROM] + edge + 1]):
        slot = frame + 2 * image[image[_BIND_SLOT] + k]
        if image[image[_BIND_COLUMN] + k] < 0:  # a local that this alternative lacks: forgotten
            memory[slot] = NONE
        elif image[image[_BIND_ANEW] + k] or memory[slot] == NONE:
            column = image[_VALUES] + 2 * image[image[_BIND_COLUMN] + k]
            memory[slot] = rows[row, column]
            memory[slot + 1] = rows[row, column + 1]
    for k in range(image[image[_TEST_FROM] + edge], image[image[_TEST_FROM] + edge + 1]):
        predicate = image[image[_TEST_PREDICATE] + k]
        truth = test(image, predicate, memory, frame, term_tags, term_bits)
        if truth == ASK:
            truth = _answer(memory, predicate, which)
            if truth == ASK:
                return ASK
        if truth != TRUE:
            return _NO
    return TRUE


@njit(cache=True)
def _answer(memory, predicate, which):
    """What the plain evaluator said of this predicate in this frame, or ASK, with the question noted."""
    asked = memory[ASKED]
    memory[ASKED] += 1
    if asked < memory[ANSWERS]:
        return memory[memory[AT_ANSWERS] + asked]
    memory[PREDICATE] = predicate
    memory[FRAME] = which
    return ASK


@njit(cache=True)
def _objection(image, memory, negated, term_tags, term_bits, guards, first, last, after, before):
    """Whether an event strictly between two times satisfies one of some negations, together with the first frame."""
    for g in range(first, last):
        guard = image[guards + g]
        low, high = 0, len(negated)
        while low < high:  # the first row later than `after`
            middle = (low + high) // 2
            if negated[middle, TIME] <= after:
                low = middle + 1
            else:
                high = middle
        while low < len(negated) and negated[low, TIME] < before:
            for k in range(image[image[_GUARD_EDGE_FROM] + guard], image[image[_GUARD_EDGE_FROM] + guard + 1]):
                edge = image[image[_GUARD_EDGE] + k]
                if image[image[_EDGE_INPUT] + edge] == negated[low, INPUT]:
                    frame = memory[AT_FRAMES]
                    for j in range(memory[FRAME_WIDTH]):
                        memory[frame + memory[FRAME_WIDTH] + j] = memory[frame + j]
                    verdict = _merge(image, memory, negated, term_tags, term_bits, low, edge, np.int64(1))
                    if verdict != _NO:
                        return verdict
            low += 1
    return _NO


@njit(cache=True)
def _extend(image, memory, rows, row, edge, run):
    """The run goes on: its successors are born, or its match is made."""
    time = rows[row, TIME]
    if run >= 0:
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        first, deadline, node = memory[at + FIRST], memory[at + DEADLINE], memory[at + NODE]
    else:
        first, deadline, node = time, _deadline(image, time), np.int64(-1)
    places = image[image[_PLACE_FROM] + edge]
    for k in range(image[image[_PLACE_FROM] + edge + 1] - places):
        node = _add_node(memory, node, image[image[_PLACE] + places + k], rows[row, EVENTS + k])
    iterated = image[image[_EDGE_ITERATED] + edge]
    if iterated >= 0:
        into = memory[AT_NODES] + node * memory[NODE_WIDTH] + ITERATED
        for j in range(image[_ITERATED_COUNT]):
            if image[image[_ITERATED_COLUMN] + iterated + j] >= 0:
                column = image[_VALUES] + 2 * image[image[_ITERATED_COLUMN] + iterated + j]
                memory[into + 2 * j] = rows[row, column]
                memory[into + 2 * j + 1] = rows[row, column + 1]
    for target in (image[image[_EDGE_TARGET] + edge], image[image[_EDGE_LOOP] + edge]):
        if target != NOWHERE:
            born = _new_run(image, memory, target, first, time, deadline, node)
            memory[memory[AT_BORN] + memory[BORN]] = born
            memory[BORN] += 1
    if image[image[_EDGE_ACCEPT] + edge]:
        if image[image[_END_FROM] + edge] < image[image[_END_FROM] + edge + 1]:
            waiting = _new_run(image, memory, edge, first, time, deadline, node)
            memory[memory[AT_PENDING] + memory[PENDING]] = waiting
            memory[PENDING] += 1
        else:
            _emit(image, memory, time, first, time, node)


@njit(cache=True)
def _deadline(image, first):
    """The latest time that an event of a match with this first event may have."""
    window = image[_WINDOW]
    if window < 0:
        return NEVER
    start = first
    if image[_TUMBLING]:
        start = image[_ORIGIN] + (first - image[_ORIGIN]) // window * window
    return start + window if start <= NEVER - window else NEVER


@njit(cache=True)
def _add_node(memory, parent, place, ref):
    node = memory[NODES]
    at = memory[AT_NODES] + node * memory[NODE_WIDTH]
    memory[at + PARENT] = parent
    memory[at + PLACE] = place
    memory[at + REF] = ref
    for k in range(ITERATED, memory[NODE_WIDTH]):
        memory[at + k] = NONE
    memory[NODES] = node + 1
    return node


@njit(cache=True)
def _new_run(image, memory, state, first, last, deadline, node):
    memory[FREE] -= 1
    run = memory[memory[AT_FREE] + memory[FREE]]
    at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
    memory[at + STATE] = state
    memory[at + FIRST] = first
    memory[at + LAST] = last
    memory[at + DEADLINE] = deadline
    memory[at + TAKEN] = NEVER
    memory[at + NODE] = node
    for k in range(2 * image[_SLOT_COUNT]):
        memory[at + SLOTS + k] = memory[memory[AT_FRAMES] + k]
    return run


@njit(cache=True)
def _free(memory, run):
    memory[memory[AT_RUNS] + run * memory[RUN_WIDTH] + STATE] = -1
    memory[memory[AT_FREE] + memory[FREE]] = run
    memory[FREE] += 1


@njit(cache=True)
def _emit(image, memory, certain, first, last, node):
    at = memory[AT_MATCHES] + memory[MATCHES] * memory[MATCH_WIDTH]
    memory[at + CERTAIN] = certain
    memory[at + MATCH_FIRST] = first
    memory[at + MATCH_LAST] = last
    memory[at + MATCH_NODE] = node
    for k in range(2 * image[_SLOT_COUNT]):
        memory[at + MATCH_SLOTS + k] = memory[memory[AT_FRAMES] + k]
    memory[MATCHES] += 1


@njit(cache=True)
def resolve(image, memory, negated, term_tags, term_bits, watermark):
    """Complete runs that waited for an absence, and need wait no longer: a match, if nothing came that may not."""
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
        for k in range(2 * image[_SLOT_COUNT]):
            memory[memory[AT_FRAMES] + k] = memory[at + SLOTS + k]
        edge = memory[at + STATE]
        first, last = image[image[_END_FROM] + edge], image[image[_END_FROM] + edge + 1]
        before = memory[at + DEADLINE] + 1  # the gap after a match is closed at its end
        verdict = _objection(
            image, memory, negated, term_tags, term_bits, image[_END], first, last, memory[at + LAST], before
        )
        if verdict == ASK:
            return ASKING
        if verdict == _NO:
            _emit(image, memory, memory[at + DEADLINE], memory[at + FIRST], memory[at + LAST], memory[at + NODE])
        memory[ANSWERS] = 0
        _free(memory, run)
        memory[PENDING] -= 1
        memory[memory[AT_PENDING] + memory[ROW]] = memory[memory[AT_PENDING] + memory[PENDING]]
    memory[ROW] = 0
    return DONE
