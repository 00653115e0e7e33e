"""The machine's memory, one array of 64-bit integers: runs, the history of their events, and the match buffer.

One array, so that the machine compiles quickly, and so that saving a state is writing an array. A head says how much
there is of everything and where it is. History is shared: a node is one event in one place of a match, with its
parent the node before it, so that a thousand runs that begin alike hold their beginning once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.columns import row_order
from thence.columns.value_kinds import DOUBLE, INTEGER, KIND_MASK, NONE
from thence.engines.automaton.image import AT_STATES, END, GREATEST, MERGES, ORDERED, STATE_KEY, STATE_WIDTH
from thence.engines.automaton.program import Automaton
from thence.extraction.opcodes import DEPTH
from thence.interface import operator
from thence.jit.compiled import inlined, lazy_entry
from thence.jit.pointers import pointer
from thence.rdf.times import LAST_TIME

Memory = NDArray[np.int64]

NEVER = np.int64(operator.NEVER)
"""A time that never comes; as a watermark, the end of input."""

LATEST = np.int64(LAST_TIME)
"""The latest time at which a window may end: it ends with the stream."""

GOES_ON = np.int64(LAST_TIME + 1)
"""When a run was taken that goes on nevertheless: with skip-till-any."""

REPORTED = np.int64(-(2**63))
"""Marks a reported timeout, in place of the time when a run was taken."""

(
    # how many of each
    FREE,
    NODES,
    MATCHES,
    PENDING,
    LINKS,
    # questions to the reference evaluator about the current pair
    ANSWERS,
    ASKED,
    PREDICATE,
    FRAME,
    # where the machine stopped
    ROW,
    EDGE,
    RUN,
    BEFORE,
    STARTED,  # the row that began a run over an edge that cuts
    KEEP_EXPIRED,
    LEFT,  # rounds that it may go before it stops
    # of the current rows
    ROW_WIDTH,
    ROW_START,  # where in a row the start of its first event is
    NEGATED,
    # how large and where everything is
    RUN_CAPACITY,
    RUN_WIDTH,
    NODE_CAPACITY,
    NODE_WIDTH,
    MATCH_CAPACITY,
    MATCH_WIDTH,
    ANSWER_CAPACITY,
    LINK_CAPACITY,
    LINK_WIDTH,
    FRAMES,
    FRAME_WIDTH,
    STACK,
    BUCKETS,
    AT_RUNS,
    AT_FREE,
    AT_PENDING,
    AT_NODES,
    AT_MATCHES,
    AT_ANSWERS,
    AT_LINKS,
    AT_FRAMES,
    AT_STACK,
    AT_HEADS,
    HEAD,
) = range(43)

BEGIN = -2
"""`memory[RUN]`: an edge not yet begun."""

# a run; then tag and bits of each slot. LAST is the end of its last event, RUN_START the start of its first one; where
# runs have merged, the earliest of their starts.
STATE, LAST, NEXT_RUN, DEADLINE, TAKEN, BOUND_KIND, BOUND, NODE, RUN_START, SLOTS = range(10)
# In a closure of SASE+, which has no order: when the closure stopped, was taken on or cut off (NEVER, if not yet); and
# the event by which the run last went over an edge that cuts (-1: none).
STOPPED, BEGUN = BOUND_KIND, BOUND
ABSORBED_TIME, ABSORBED_NODE, ABSORBED_START, ABSORBED_WORDS = range(4)
"""Behind the slots of a run that others merge with."""
# a node; then tag and bits of each iterated variable
PARENT, PLACE, REF, ITERATED = range(4)
EITHER, OPTIONAL = -1, -2
"""Places of nodes, where histories are a graph: several ones meet; or the event is in some of them and not in others,
that is, at a place p, OPTIONAL - p."""
# a match; then tag and bits of each slot
CERTAIN, MATCH_START, MATCH_END = row_order.CERTAIN, row_order.START, row_order.END
MATCH_NODE, MATCH_SLOTS = 3, 4

REGIONS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (AT_RUNS, (RUN_CAPACITY, RUN_WIDTH)),
    (AT_FREE, (RUN_CAPACITY,)),
    (AT_PENDING, (RUN_CAPACITY,)),
    (AT_NODES, (NODE_CAPACITY, NODE_WIDTH)),
    (AT_MATCHES, (MATCH_CAPACITY, MATCH_WIDTH)),
    (AT_ANSWERS, (ANSWER_CAPACITY,)),
    (AT_LINKS, (LINK_CAPACITY, LINK_WIDTH)),
    (AT_FRAMES, (FRAMES, FRAME_WIDTH)),
    (AT_STACK, (STACK,)),
    (AT_HEADS, (BUCKETS,)),
)
"""The parts of the memory, in this order, each with the place of its size in the head. The buckets come last, since
they are laid out again most often."""

_SHAPES = dict(REGIONS)

FEWEST_BUCKETS = 4096
"""So many that the runs of some hundred keys hardly ever meet in one; they fit into the processor's nearest cache."""

_LONG_AGO = np.int64(-(2**63))


def empty_memory(automaton: Automaton, *, runs: int = 1024, nodes: int = 2048, buckets: int = FEWEST_BUCKETS) -> Memory:
    """A memory with room for so many runs and nodes, and so many buckets, a power of two."""
    head = np.zeros(HEAD, np.int64)
    head[RUN_CAPACITY], head[RUN_WIDTH] = runs, run_width(automaton)
    head[NODE_CAPACITY], head[NODE_WIDTH] = nodes, node_width(automaton)
    head[MATCH_CAPACITY], head[MATCH_WIDTH] = 256, MATCH_SLOTS + 2 * automaton.slots
    head[FRAMES], head[FRAME_WIDTH] = 3, 2 * automaton.frame  # the run's with the row's, a negated row's beside, none's
    head[ANSWER_CAPACITY], head[STACK], head[BUCKETS] = 64, 2 * DEPTH, buckets
    head[LINK_CAPACITY], head[LINK_WIDTH] = 1024 if automaton.merges else 8, 2  # a node, and one before it
    memory = _laid_out(head)
    region(memory, AT_RUNS)[:, STATE] = -1
    region(memory, AT_FREE)[:] = np.arange(runs - 1, -1, -1)
    region(memory, AT_HEADS)[:] = -1
    memory[FREE], memory[EDGE], memory[RUN], memory[STARTED] = runs, -1, BEGIN, -1
    return memory


def run_width(automaton: Automaton) -> int:
    """Behind the slots of a run that others merge with are the time at which it last absorbed an event, and its
    history and RUN_START before that."""
    return int(SLOTS + 2 * automaton.slots + ABSORBED_WORDS * automaton.merges)


def node_width(automaton: Automaton) -> int:
    return int(ITERATED + 2 * automaton.iterated)


def _laid_out(head: Memory) -> Memory:
    """An empty memory with a head that says how large everything is."""
    end = HEAD
    for at, shape in REGIONS:
        head[at] = end
        end += int(np.prod(head[list(shape)]))
    memory = np.zeros(end, np.int64)
    memory[:HEAD] = head
    return memory


def region(memory: Memory, at: int) -> NDArray[np.int64]:
    """A part of the memory, as a view: a list, or a table with a row for each run, node, match or frame."""
    shape = memory[list(_SHAPES[at])]
    return memory[memory[at] : memory[at] + int(np.prod(shape))].reshape(shape)


def live_runs(memory: Memory) -> int:
    """The number of live runs."""
    return int(memory[RUN_CAPACITY] - memory[FREE])


MOST_MATCHES = 131_072
"""Matches that wait in the memory to be taken away."""


def grown_memory(memory: Memory) -> Memory:
    """The same memory, with more room for what is scarce: runs, events or answers; or, where there are many of them,
    matches."""
    head = memory[:HEAD].copy()
    if head[MATCHES] == head[MATCH_CAPACITY]:
        head[MATCH_CAPACITY] *= 4
    for capacity, used in (
        (RUN_CAPACITY, live_runs(memory)),
        (NODE_CAPACITY, head[NODES]),
        (ANSWER_CAPACITY, head[ANSWERS]),
        (LINK_CAPACITY, head[LINKS]),
    ):
        if 2 * used >= head[capacity]:
            head[capacity] *= 2
    return _enlarged(memory, head)


def memory_for_rows(memory: Memory, rows: int) -> Memory:
    """The same memory, in which so many rows are likely to have room: it grows once, and not again and again."""
    head = memory[:HEAD].copy()
    likely = ((MATCH_CAPACITY, min(rows, MOST_MATCHES)), (NODE_CAPACITY, 4 * rows), (RUN_CAPACITY, rows // 16))
    for capacity, wanted in likely:
        while head[capacity] < wanted:
            head[capacity] *= 2
    return memory if (head == memory[:HEAD]).all() else _enlarged(memory, head)


def _enlarged(memory: Memory, head: Memory) -> Memory:
    """The same memory, as large as another head says."""
    larger = _laid_out(head)
    for at, _ in REGIONS:
        old = region(memory, at)
        region(larger, at)[: len(old)] = old
    runs = int(memory[RUN_CAPACITY])
    added = int(head[RUN_CAPACITY]) - runs
    region(larger, AT_RUNS)[runs:, STATE] = -1
    free = int(larger[FREE])
    region(larger, AT_FREE)[free : free + added] = np.arange(runs + added - 1, runs - 1, -1)
    larger[FREE] = free + added
    return larger


@inlined
def mixed(code, tag, bits):
    """The code of a key with one value more; an empty key has the code 0."""
    code = (code ^ np.uint64(tag)) * np.uint64(0xC2B2AE3D27D4EB4F)
    code = (code ^ np.uint64(bits)) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(29))


@inlined
def head_of(memory, state, code):
    """The place of the bucket of the runs of one state, with keys of one code."""
    code ^= np.uint64(state) * np.uint64(0x9E3779B97F4A7C15)
    return memory[AT_HEADS] + np.int64(code & np.uint64(memory[BUCKETS] - 1))


@inlined
def code_of(image, memory, at):
    """The code of the key of a run, as its slots have it."""
    code = np.uint64(0)
    k = image[image[AT_STATES] + memory[at + STATE] * STATE_WIDTH + STATE_KEY]
    while image[k] != END:
        slot = at + SLOTS + image[k]
        code = mixed(code, memory[slot], memory[slot + 1])
        k += 1
    return code


@inlined
def link(image, memory, run, at, code):
    """Put a run into its bucket, in front: by its state and the code of its key."""
    state = memory[at + STATE]
    record = image[AT_STATES] + state * STATE_WIDTH
    head = head_of(memory, state, code)
    following = memory[head]
    memory[at + NEXT_RUN] = following
    memory[head] = run
    if image[record + ORDERED] >= 0:
        memory[at + BOUND_KIND] = NONE
        _set_bound(image, memory, record, at, following)


@inlined
def _set_bound(image, memory, record, at, following):
    """The greatest value (the least, if the state says so) of the slot that all filters of a state compare, of this run
    and of all behind it in its bucket: where that does not do, none of them joins. Unknown, unless all are alike."""
    slot = at + SLOTS + image[record + ORDERED]
    kind, bits = memory[slot] & KIND_MASK, memory[slot + 1]
    if kind != INTEGER and kind != DOUBLE:
        return
    value = np.int64(bits).view(np.float64)
    if kind == DOUBLE and value != value:
        return
    if following >= 0:
        other = memory[AT_RUNS] + following * memory[RUN_WIDTH]
        if memory[other + BOUND_KIND] != kind or memory[other + STATE] != memory[at + STATE]:
            return
        k = image[record + STATE_KEY]
        while image[k] != END:
            place = SLOTS + image[k]
            if memory[other + place] != memory[at + place] or memory[other + place + 1] != memory[at + place + 1]:
                return
            k += 1
        bound = memory[other + BOUND]
        greater = bound > bits if kind == INTEGER else np.int64(bound).view(np.float64) > value
        if greater == (image[record + GREATEST] != 0):
            bits = bound
    memory[at + BOUND_KIND] = kind
    memory[at + BOUND] = bits


def evict_runs(image: NDArray[np.int64], memory: Memory, now: int, moment: int) -> Memory:
    """Between batches: drop runs that no event from `now` on can continue, forget the history of the dropped, and give
    the buckets a size that fits. `moment` is the first that may come from `now` on: without the option `order`, `now`
    itself."""
    waiting = _swept(memory, now, moment)
    _compact(memory, bool(image[MERGES]))
    buckets = _fitting(len(waiting))
    if buckets <= memory[BUCKETS] <= 4 * buckets:  # not back and forth
        region(memory, AT_HEADS)[:] = -1
    else:
        memory = np.concatenate([memory[: memory[AT_HEADS]], np.full(buckets, -1, np.int64)])
        memory[BUCKETS] = buckets
    _link_all(image, memory, waiting)
    return memory


def _fitting(runs: int) -> int:
    """The number of buckets for so many runs."""
    return max(FEWEST_BUCKETS, _power_of_two(2 * runs))


def _power_of_two(least: int) -> int:
    return 1 << max(0, least - 1).bit_length()


class Contents(NamedTuple):
    """The content of a memory between two steps, as tables: runs that wait, in an order in which they may be put
    into their buckets again; complete ones that wait for an absence; the history of both."""

    waiting: NDArray[np.int64]
    pending: NDArray[np.int64]
    nodes: NDArray[np.int64]


def memory_contents(memory: Memory) -> Contents:
    runs, pending = region(memory, AT_RUNS), region(memory, AT_PENDING)[: memory[PENDING]]
    return Contents(
        runs[_swept(memory, _LONG_AGO, _LONG_AGO)], runs[pending], region(memory, AT_NODES)[: memory[NODES]]
    )


def restored_memory(image: NDArray[np.int64], automaton: Automaton, found: Contents) -> Memory:
    """The memory of these tables."""
    waiting, used = len(found.waiting), len(found.waiting) + len(found.pending)
    memory = empty_memory(
        automaton,
        runs=max(1024, _power_of_two(2 * used)),
        nodes=max(2048, _power_of_two(2 * len(found.nodes))),
        buckets=_fitting(waiting),
    )
    runs = region(memory, AT_RUNS)
    runs[:waiting], runs[waiting:used] = found.waiting, found.pending
    region(memory, AT_PENDING)[: len(found.pending)] = np.arange(waiting, used)
    region(memory, AT_NODES)[: len(found.nodes)] = found.nodes
    memory[FREE], memory[PENDING], memory[NODES] = len(runs) - used, len(found.pending), len(found.nodes)
    _link_all(image, memory, np.arange(waiting))
    return memory


def take_expired(memory: Memory, now: int) -> NDArray[np.int64]:
    """Mark the runs whose window ended before `now` as reported, and return them."""
    runs = region(memory, AT_RUNS)
    waits = (runs[:, STATE] >= 0) & (runs[:, DEADLINE] < now) & (runs[:, TAKEN] == NEVER)
    waits[region(memory, AT_PENDING)[: memory[PENDING]]] = False
    found = np.flatnonzero(waits)
    runs[found, TAKEN] = REPORTED
    return found


@lazy_entry(lambda memory, now, moment: memory[BUCKETS] + memory[RUN_CAPACITY])
def _swept(memory, now, moment):
    """The runs that wait on, those in front last, so that they come in front again; the others are free."""
    waiting = np.empty(memory[RUN_CAPACITY] - memory[FREE], np.int64)
    count = len(waiting)
    for bucket in range(memory[BUCKETS]):
        run = memory[memory[AT_HEADS] + bucket]
        while run >= 0:
            at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
            untold = memory[KEEP_EXPIRED] != 0 and memory[at + TAKEN] == NEVER
            if memory[at + TAKEN] < moment or (memory[at + DEADLINE] < now and not untold):
                memory[memory[AT_FREE] + memory[FREE]] = run
                memory[FREE] += 1
                memory[at + STATE] = -1
            else:
                count -= 1
                waiting[count] = run
            run = memory[at + NEXT_RUN]
    return waiting[count:]


@lazy_entry(lambda image, memory, runs: 50 * len(runs))
def _link_all(image, memory, runs):
    for run in runs:
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        code = code_of(pointer(image), pointer(memory), at)
        link(pointer(image), pointer(memory), run, at, code)


@lazy_entry(lambda memory, merges: 4 * memory[RUN_CAPACITY] + 16 * memory[NODES])
def _compact(memory, merges):
    """Keep only the history that some run has; where runs merge, also what one had before it absorbed an event."""
    nodes, width, start = memory[NODES], memory[NODE_WIDTH], memory[AT_NODES]
    kept = np.zeros((nodes + 7) // 8 * 8, np.uint8)
    for run in range(memory[RUN_CAPACITY]):
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        if memory[at + STATE] >= 0:
            node = memory[at + NODE]
            while node >= 0 and not kept[node]:
                kept[node] = 1
                node = memory[start + node * width + PARENT]
            absorbed = at + memory[RUN_WIDTH] - ABSORBED_WORDS
            if merges and memory[absorbed + ABSORBED_TIME] != NEVER:
                kept[memory[absorbed + ABSORBED_NODE]] = 1
    moved = np.empty(nodes, np.int64)
    count = 0
    eights = kept.view(np.int64)
    for eight in range(len(eights)):
        if eights[eight]:  # most nodes are dropped, and so are nearly always eight in a row
            for node in range(8 * eight, 8 * eight + 8):  # a parent is before its children, so one pass does
                if kept[node]:
                    _move(memory, moved, node, count)
                    count += 1
    for run in range(memory[RUN_CAPACITY]):
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        if memory[at + STATE] >= 0 and memory[at + NODE] >= 0:
            memory[at + NODE] = moved[memory[at + NODE]]
            absorbed = at + memory[RUN_WIDTH] - ABSORBED_WORDS
            if merges and memory[absorbed + ABSORBED_TIME] != NEVER:
                memory[absorbed + ABSORBED_NODE] = moved[memory[absorbed + ABSORBED_NODE]]
    memory[NODES] = count


@inlined
def _move(memory, moved, node, to):
    """Move a node to another place and update its parent's place, as the parent has moved before."""
    width, start = memory[NODE_WIDTH], memory[AT_NODES]
    moved[node] = to
    source, target = start + node * width, start + to * width
    parent = memory[source + PARENT]
    for k in range(width):
        memory[target + k] = memory[source + k]
    memory[target + PARENT] = moved[parent] if parent >= 0 else -1
