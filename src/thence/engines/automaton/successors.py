"""Extends a run by an event: adds to its history, and creates successors or a match; compiled.

The bindings of a run are copied only if needed: a run that ends with the row that it takes becomes its own
successor.
"""

from __future__ import annotations

import numpy as np

from thence.columns.value_kinds import NONE
from thence.engines.automaton import image as layout
from thence.engines.automaton.image import EVENTS, TIME
from thence.engines.automaton.memory import (
    ABSORBED_NODE,
    ABSORBED_START,
    ABSORBED_TIME,
    AT_FRAMES,
    AT_FREE,
    AT_LINKS,
    AT_MATCHES,
    AT_NODES,
    AT_PENDING,
    AT_RUNS,
    BEGUN,
    CERTAIN,
    DEADLINE,
    EITHER,
    FREE,
    ITERATED,
    LAST,
    LATEST,
    LINKS,
    MATCH_END,
    MATCH_NODE,
    MATCH_SLOTS,
    MATCH_START,
    MATCH_WIDTH,
    MATCHES,
    NEVER,
    NEXT_RUN,
    NODE,
    NODE_WIDTH,
    NODES,
    OPTIONAL,
    PARENT,
    PENDING,
    PLACE,
    REF,
    ROW_START,
    RUN_START,
    RUN_WIDTH,
    SLOTS,
    STATE,
    STOPPED,
    TAKEN,
    code_of,
    head_of,
    link,
)
from thence.engines.automaton.program import ANEW, TAKE
from thence.engines.automaton.running_aggregates import summarise
from thence.jit.compiled import inlined, inner


@inlined
def extend(image, memory, rows, row, clock, code, edge, number, run, at, source, ends, closures):
    """The run (-1: none yet) goes on: its successors are born, or its match is made. `code` is that of the row's key,
    `source` where the values are that the run has bound so far. If with this row it `ends`, the last of its
    successors takes its place."""
    if run >= 0:
        start, deadline, node = memory[at + RUN_START], memory[at + DEADLINE], memory[at + NODE]
    else:
        start, deadline, node = rows[row + memory[ROW_START]], _deadline(image, clock), np.int64(-1)
    node = _noted(image, memory, rows, row, edge, node)
    if image[edge + layout.ACCEPT]:
        if image[edge + layout.ENDS] < image[edge + layout.ENDS_END]:
            waiting = _taken_from_free(memory)
            there = memory[AT_RUNS] + waiting * memory[RUN_WIDTH]
            _write(image, memory, rows, row, edge, there, number, start, deadline, node, source, closures)
            memory[memory[AT_PENDING] + memory[PENDING]] = waiting
            memory[PENDING] += 1
        else:
            slots = emit(memory, clock, start, rows[row + TIME], node)
            copy(image, memory, slots, source)
            if source != memory[AT_FRAMES]:  # where it is bound already
                bind(image, memory, rows, row, edge, slots, closures)
    k = image[edge + layout.SUCCESSORS]
    while image[k] != layout.END:
        if ends and image[k + 2] == layout.END:
            born, there = run, at
            ends = False
        else:
            born = _taken_from_free(memory)
            there = memory[AT_RUNS] + born * memory[RUN_WIDTH]
        _write(image, memory, rows, row, edge, there, image[k], start, deadline, node, source, closures)
        link(image, memory, born, there, code if image[k + 1] else code_of(image, memory, there))
        k += 2
    if ends:
        free(memory, run)


@inner
def extend_merged(image, memory, rows, row, code, edge, run, at, source):
    """`extend`, where runs that are alike become one: their histories are a graph, in which a node has several before
    it."""
    time = rows[row + TIME]
    clock = rows[row + image[layout.CLOCK]]
    start, deadline, before = rows[row + memory[ROW_START]], _deadline(image, clock), np.int64(-1)
    if run >= 0:
        start, deadline, before = memory[at + RUN_START], memory[at + DEADLINE], memory[at + NODE]
        absorbed = at + SLOTS + image[layout.SLOT_WORDS]
        if memory[absorbed + ABSORBED_TIME] == time:  # by another event of this time, which shares no match with this
            before, start = memory[absorbed + ABSORBED_NODE], memory[absorbed + ABSORBED_START]
        if image[edge + layout.ABSORBS] and image[edge + layout.ROLE] == TAKE:
            _absorb(image, memory, rows, row, edge, at, before)
            return
    if image[edge + layout.ACCEPT]:
        _count_in(image, memory, rows, row, edge, start, before, source)
    k = image[edge + layout.SUCCESSORS]
    while image[k] != layout.END:
        born = _taken_from_free(memory)
        there = memory[AT_RUNS] + born * memory[RUN_WIDTH]
        _write(image, memory, rows, row, edge, there, image[k], start, deadline, np.int64(-1), source, True)
        own = code if image[k + 1] else code_of(image, memory, there)
        like = _alike(image, memory, there, head_of(memory, image[k], own), rows[row + EVENTS], edge)
        if like < 0:
            node = _noted(image, memory, rows, row, edge, np.int64(-1))
            _link_nodes(memory, node, before)
            memory[there + NODE] = node
            memory[there + SLOTS + image[layout.SLOT_WORDS] + ABSORBED_TIME] = NEVER
            link(image, memory, born, there, own)
        else:
            free(memory, born)
            other = memory[AT_RUNS] + like * memory[RUN_WIDTH]
            if memory[memory[AT_NODES] + memory[other + NODE] * memory[NODE_WIDTH] + REF] == rows[row + EVENTS]:
                _link_nodes(memory, memory[other + NODE], before)
            else:
                _unite(image, memory, rows, row, edge, other, before)
            memory[other + RUN_START] = min(memory[other + RUN_START], start)
        k += 2


@inlined
def _link_nodes(memory, node, before):
    """One node comes after another (-1: a match begins with it)."""
    at = memory[AT_LINKS] + 2 * memory[LINKS]
    memory[at], memory[at + 1] = node, before
    memory[LINKS] += 1


@inlined
def _absorb(image, memory, rows, row, edge, at, before):
    """A run takes an event and is as it was, but that its history is now the old one, or that with the event: from the
    next time on."""
    absorbed = at + SLOTS + image[layout.SLOT_WORDS]
    if memory[absorbed + ABSORBED_TIME] == rows[row + TIME]:
        _unite(image, memory, rows, row, edge, at, before)
        return
    memory[absorbed + ABSORBED_TIME], memory[absorbed + ABSORBED_NODE] = rows[row + TIME], before
    memory[absorbed + ABSORBED_START] = memory[at + RUN_START]
    node = _noted(image, memory, rows, row, edge, np.int64(-1))
    there = memory[AT_NODES] + node * memory[NODE_WIDTH]
    memory[there + PLACE] = OPTIONAL - memory[there + PLACE]
    memory[there + REF] = -1  # no other way leads here
    _link_nodes(memory, node, before)
    memory[at + NODE] = node


@inlined
def _unite(image, memory, rows, row, edge, at, before):
    """A run's history is now what it was, or another one with an event at its end: from the next time on."""
    absorbed = at + SLOTS + image[layout.SLOT_WORDS]
    if memory[absorbed + ABSORBED_TIME] != rows[row + TIME] and memory[at + LAST] < rows[row + TIME]:
        memory[absorbed + ABSORBED_TIME], memory[absorbed + ABSORBED_NODE] = rows[row + TIME], memory[at + NODE]
        memory[absorbed + ABSORBED_START] = memory[at + RUN_START]
    node = _noted(image, memory, rows, row, edge, np.int64(-1))
    _link_nodes(memory, node, before)
    both = _add_node(memory, np.int64(-1), np.int64(EITHER), np.int64(-1))
    _link_nodes(memory, both, memory[at + NODE])
    _link_nodes(memory, both, node)
    memory[at + NODE] = both


@inlined
def _count_in(image, memory, rows, row, edge, start, before, source):
    """A match; or another way to the one that was just made of the same event, in the same group."""
    time, clock = rows[row + TIME], rows[row + image[layout.CLOCK]]
    if memory[MATCHES]:
        at = memory[AT_MATCHES] + (memory[MATCHES] - 1) * memory[MATCH_WIDTH]
        node = memory[at + MATCH_NODE]
        same = memory[at + CERTAIN] == clock
        same = same and memory[memory[AT_NODES] + node * memory[NODE_WIDTH] + REF] == rows[row + EVENTS]
        for k in range(image[layout.GROUPED]):
            same = same and memory[at + MATCH_SLOTS + k] == memory[source + k]
        if same:
            memory[at + MATCH_START] = min(memory[at + MATCH_START], start)
            _link_nodes(memory, node, before)
            return
    node = _noted(image, memory, rows, row, edge, np.int64(-1))
    _link_nodes(memory, node, before)
    slots = emit(memory, clock, start, time, node)
    copy(image, memory, slots, source)
    if source != memory[AT_FRAMES]:
        bind(image, memory, rows, row, edge, slots, True)


@inlined
def _alike(image, memory, born, head, ref, edge):
    """A run in a bucket that differs from a new one in its history alone, or -1: one that came with the same event, or
    any, where the last event decides nothing."""
    any_event = image[edge + layout.ABSORBS] != 0
    run = memory[head]
    while run >= 0:
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        if not any_event and memory[at + LAST] != memory[born + LAST]:
            return np.int64(-1)  # older ones are behind
        same = memory[at + STATE] == memory[born + STATE] and memory[at + DEADLINE] == memory[born + DEADLINE]
        if same and not any_event:
            same = memory[memory[AT_NODES] + memory[at + NODE] * memory[NODE_WIDTH] + REF] == ref
        if same:
            for k in range(SLOTS, SLOTS + image[layout.SLOT_WORDS]):
                if memory[at + k] != memory[born + k]:
                    same = False
                    break
        if same:
            return run
        run = memory[at + NEXT_RUN]
    return np.int64(-1)


@inlined
def _noted(image, memory, rows, row, edge, node):
    """The node of the last of a row's events, behind the one before them."""
    k, event = image[edge + layout.PLACES], row + EVENTS
    while image[k] != layout.END:
        node = _add_node(memory, node, image[k], rows[event])
        k += 1
        event += 1
    k = image[edge + layout.ITERATED_OF]
    while image[k] != layout.END:
        into = memory[AT_NODES] + node * memory[NODE_WIDTH] + ITERATED + image[k]
        column = row + image[k + 1]
        memory[into], memory[into + 1] = rows[column], rows[column + 1]
        k += 2
    return node


@inlined
def bind(image, memory, rows, row, edge, slots, closures):
    """Write the bindings of a row into the slots from there on."""
    k = image[edge + layout.BIND]
    while image[k] != layout.END:
        slot, column = slots + image[k], image[k + 1]
        if closures is not None and image[k + 2] > ANEW:
            summarise(memory, rows, row, slot, column, image[k + 2])
        elif column < 0:  # a local that this alternative lacks: forgotten
            memory[slot] = NONE
        elif image[k + 2] or memory[slot] == NONE:
            memory[slot] = rows[row + column]
            memory[slot + 1] = rows[row + column + 1]
        k += 3


@inlined
def _deadline(image, first):
    """The latest time that an event of a match with this first event may have (Definition 16; sliding: Algorithm 2)."""
    window = image[layout.WINDOW]
    if window < 0:
        return NEVER
    start = first
    if image[layout.TUMBLING]:
        since = first % window - image[layout.ORIGIN] % window  # since the window began; first - origin may overflow
        start = first - (since if since >= 0 else since + window)
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
def _write(image, memory, rows, row, edge, at, state, start, deadline, node, source, closures):
    memory[at + STATE] = state
    memory[at + LAST] = rows[row + TIME]
    memory[at + TAKEN] = NEVER
    memory[at + NODE] = node
    if at + SLOTS != source:  # else it is the run itself
        memory[at + RUN_START] = start
        memory[at + DEADLINE] = deadline
        copy(image, memory, at + SLOTS, source)
    if closures is not None:
        memory[at + STOPPED] = NEVER
        memory[at + BEGUN] = -1
    if source != memory[AT_FRAMES]:
        bind(image, memory, rows, row, edge, at + SLOTS, closures)


@inlined
def copy(image, memory, slots, source):
    for k in range(image[layout.SLOT_WORDS]):
        memory[slots + k] = memory[source + k]


@inlined
def free(memory, run):
    memory[memory[AT_RUNS] + run * memory[RUN_WIDTH] + STATE] = -1
    memory[memory[AT_FREE] + memory[FREE]] = run
    memory[FREE] += 1


@inlined
def emit(memory, certain, start, end, node):
    """A match, but for its values: where they are to stand. `certain` and `start` are times, `end` is a moment."""
    at = memory[AT_MATCHES] + memory[MATCHES] * memory[MATCH_WIDTH]
    memory[at + CERTAIN] = certain
    memory[at + MATCH_START] = start
    memory[at + MATCH_END] = end
    memory[at + MATCH_NODE] = node
    memory[MATCHES] += 1
    return at + MATCH_SLOTS
