"""What becomes of a run that goes on: the event noted, successors born, or a match made; compiled.

What a run had bound is copied only where there is need: a run that ends with the row that it takes becomes its own
successor.
"""

from __future__ import annotations

import numpy as np

from thence.kernel.memory import (
    AT_BORN,
    AT_FREE,
    AT_MATCHES,
    AT_NODES,
    AT_PENDING,
    AT_RUNS,
    BORN,
    CERTAIN,
    DEADLINE,
    FIRST,
    FREE,
    ITERATED,
    LAST,
    LATEST,
    MATCH_FIRST,
    MATCH_LAST,
    MATCH_NODE,
    MATCH_SLOTS,
    MATCH_WIDTH,
    MATCHES,
    NEVER,
    NODE,
    NODE_WIDTH,
    NODES,
    PARENT,
    PENDING,
    PLACE,
    REF,
    RUN_WIDTH,
    SLOTS,
    STATE,
    TAKEN,
)
from thence.program import image as layout
from thence.program.image import EVENTS, TIME
from thence.rdf.compiled import inlined
from thence.rdf.tags import NONE


@inlined
def extend(image, memory, rows, row, edge, number, run, source, ends):
    """The run (-1: none yet) goes on: its successors are born, or its match is made. `source` is where the values stand
    that it has bound so far. If with this row it `ends`, the last of its successors takes its place."""
    time = rows[row + TIME]
    at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
    if run >= 0:
        first, deadline, node = memory[at + FIRST], memory[at + DEADLINE], memory[at + NODE]
    else:
        first, deadline, node = time, _deadline(image, time), np.int64(-1)
    places = image[edge + layout.PLACES]
    for k in range(image[edge + layout.PLACES_END] - places):
        node = _add_node(memory, node, image[places + k], rows[row + EVENTS + k])
    into = memory[AT_NODES] + node * memory[NODE_WIDTH] + ITERATED
    for k in range(image[edge + layout.ITERATED_OF], image[edge + layout.ITERATED_END]):
        if image[k] >= 0:
            memory[into] = rows[row + image[k]]
            memory[into + 1] = rows[row + image[k] + 1]
        into += 2
    if image[edge + layout.ACCEPT]:
        if image[edge + layout.ENDS] < image[edge + layout.ENDS_END]:
            waiting = _taken_from_free(memory)
            _write_run(image, memory, rows, row, edge, waiting, number, first, deadline, node, source)
            memory[memory[AT_PENDING] + memory[PENDING]] = waiting
            memory[PENDING] += 1
        else:
            slots = emit(memory, time, first, time, node)
            _copy(image, memory, slots, source)
            bind(image, memory, rows, row, edge, slots)
    last = image[edge + layout.SUCCESSORS_END]
    for k in range(image[edge + layout.SUCCESSORS], last):
        if ends and k == last - 1:
            born = run
            ends = False
        else:
            born = _taken_from_free(memory)
        _write_run(image, memory, rows, row, edge, born, image[k], first, deadline, node, source)
        memory[memory[AT_BORN] + memory[BORN]] = born
        memory[BORN] += 1
    if ends:
        free(memory, run)


@inlined
def bind(image, memory, rows, row, edge, slots):
    """What a row binds, into slots that begin there."""
    for k in range(image[edge + layout.BIND], image[edge + layout.BIND_END], 3):
        slot, column = slots + image[k], image[k + 1]
        if column < 0:  # a local that this alternative lacks: forgotten
            memory[slot] = NONE
        elif image[k + 2] or memory[slot] == NONE:
            memory[slot] = rows[row + column]
            memory[slot + 1] = rows[row + column + 1]


@inlined
def _deadline(image, first):
    """The latest time that an event of a match with this first event may have."""
    window = image[layout.WINDOW]
    if window < 0:
        return NEVER
    start = first
    if image[layout.TUMBLING]:
        start = image[layout.ORIGIN] + (first - image[layout.ORIGIN]) // window * window
    return start + window if start <= LATEST - window else LATEST


@inlined
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


@inlined
def _taken_from_free(memory):
    memory[FREE] -= 1
    return memory[memory[AT_FREE] + memory[FREE]]


@inlined
def _write_run(image, memory, rows, row, edge, run, state, first, deadline, node, source):
    at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
    memory[at + STATE] = state
    memory[at + FIRST] = first
    memory[at + LAST] = rows[row + TIME]
    memory[at + DEADLINE] = deadline
    memory[at + TAKEN] = NEVER
    memory[at + NODE] = node
    if at + SLOTS != source:
        _copy(image, memory, at + SLOTS, source)
    bind(image, memory, rows, row, edge, at + SLOTS)


@inlined
def _copy(image, memory, slots, source):
    for k in range(image[layout.SLOT_WORDS]):
        memory[slots + k] = memory[source + k]


@inlined
def free(memory, run):
    memory[memory[AT_RUNS] + run * memory[RUN_WIDTH] + STATE] = -1
    memory[memory[AT_FREE] + memory[FREE]] = run
    memory[FREE] += 1


@inlined
def emit(memory, certain, first, last, node):
    """A match, but for its values: where they are to stand."""
    at = memory[AT_MATCHES] + memory[MATCHES] * memory[MATCH_WIDTH]
    memory[at + CERTAIN] = certain
    memory[at + MATCH_FIRST] = first
    memory[at + MATCH_LAST] = last
    memory[at + MATCH_NODE] = node
    memory[MATCHES] += 1
    return at + MATCH_SLOTS
