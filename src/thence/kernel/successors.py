"""What becomes of a run that goes on: the event noted, successors born, or a match made; compiled.

What it has bound stands in the first frame by then.
"""

from __future__ import annotations

import numpy as np

from thence.kernel.memory import (
    AT_BORN,
    AT_FRAMES,
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
from thence.program.automaton import NOWHERE
from thence.program.image import EVENTS, TIME
from thence.rdf.compiled import inlined
from thence.rdf.tags import NONE


@inlined
def extend(image, memory, rows, row, edge, number, run):
    """The run goes on: its successors are born, or its match is made."""
    time = rows[row + TIME]
    if run >= 0:
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
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
    for target in (image[edge + layout.TARGET], image[edge + layout.LOOP]):
        if target != NOWHERE:
            born = _new_run(image, memory, target, first, time, deadline, node)
            memory[memory[AT_BORN] + memory[BORN]] = born
            memory[BORN] += 1
    if image[edge + layout.ACCEPT]:
        if image[edge + layout.ENDS] < image[edge + layout.ENDS_END]:
            waiting = _new_run(image, memory, number, first, time, deadline, node)
            memory[memory[AT_PENDING] + memory[PENDING]] = waiting
            memory[PENDING] += 1
        else:
            emit(image, memory, time, first, time, node)


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
    frame = memory[AT_FRAMES]
    for k in range(image[layout.SLOT_WORDS]):
        memory[at + SLOTS + k] = memory[frame + k]
    return run


@inlined
def free(memory, run):
    memory[memory[AT_RUNS] + run * memory[RUN_WIDTH] + STATE] = -1
    memory[memory[AT_FREE] + memory[FREE]] = run
    memory[FREE] += 1


@inlined
def emit(image, memory, certain, first, last, node):
    at = memory[AT_MATCHES] + memory[MATCHES] * memory[MATCH_WIDTH]
    memory[at + CERTAIN] = certain
    memory[at + MATCH_FIRST] = first
    memory[at + MATCH_LAST] = last
    memory[at + MATCH_NODE] = node
    frame = memory[AT_FRAMES]
    for k in range(image[layout.SLOT_WORDS]):
        memory[at + MATCH_SLOTS + k] = memory[frame + k]
    memory[MATCHES] += 1
