"""What a shard remembers, in one array of 64-bit integers: runs, the history of their events, and matches on their way
out.

One array, so that the machine compiles quickly, and so that saving a state is writing an array. A head says how much
there is of everything and where it stands. History is shared: a node is one event in one place of a match, with its
parent the node before it, so that a thousand runs that begin alike hold their beginning once.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from thence.program.automaton import SECTIONS, Automaton

Memory = NDArray[np.int64]

NEVER = np.int64(2**63 - 1)
"""A time that never comes."""

(
    # how many of each
    FREE,
    NODES,
    MATCHES,
    PENDING,
    BORN,
    # questions to the plain evaluator about the pair in hand
    ANSWERS,
    ASKED,
    PREDICATE,
    FRAME,
    # where the machine stopped
    ROW,
    EDGE,
    RUN,
    BEFORE,
    KEEP_EXPIRED,
    # how large and where everything is
    RUN_CAPACITY,
    RUN_WIDTH,
    NODE_CAPACITY,
    NODE_WIDTH,
    MATCH_CAPACITY,
    MATCH_WIDTH,
    ANSWER_CAPACITY,
    FRAMES,
    FRAME_WIDTH,
    BUCKETS,
    AT_RUNS,
    AT_FREE,
    AT_BORN,
    AT_PENDING,
    AT_NODES,
    AT_MATCHES,
    AT_ANSWERS,
    AT_FRAMES,
    AT_HEADS,
    HEAD,
) = range(34)

BEGIN, FINISHED = -2, -1
"""`memory[RUN]`: an edge not yet begun; an edge of which all runs were seen."""

# a run; then tag and bits of each slot
STATE, FIRST, LAST, DEADLINE, TAKEN, NODE, NEXT_RUN, SLOTS = range(8)
# a node; then tag and bits of each iterated variable
PARENT, PLACE, REF, ITERATED = range(4)
# a match; then tag and bits of each slot
CERTAIN, MATCH_FIRST, MATCH_LAST, MATCH_NODE, MATCH_SLOTS = range(5)

_REGIONS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (AT_RUNS, (RUN_CAPACITY, RUN_WIDTH)),
    (AT_FREE, (RUN_CAPACITY,)),
    (AT_BORN, (RUN_CAPACITY,)),
    (AT_PENDING, (RUN_CAPACITY,)),
    (AT_NODES, (NODE_CAPACITY, NODE_WIDTH)),
    (AT_MATCHES, (MATCH_CAPACITY, MATCH_WIDTH)),
    (AT_ANSWERS, (ANSWER_CAPACITY,)),
    (AT_FRAMES, (FRAMES, FRAME_WIDTH)),
    (AT_HEADS, (BUCKETS,)),
)
"""What stands where in the memory, in this order, and where its head says how large it is. The buckets come last, since
they are laid out anew most often."""

_SHAPES = dict(_REGIONS)


def empty_memory(automaton: Automaton, *, runs: int = 1024, matches: int = 8192) -> Memory:
    head = np.zeros(HEAD, np.int64)
    head[RUN_CAPACITY], head[RUN_WIDTH] = runs, SLOTS + 2 * automaton.slots
    head[NODE_CAPACITY], head[NODE_WIDTH] = 2 * runs, ITERATED + 2 * automaton.iterated
    head[MATCH_CAPACITY], head[MATCH_WIDTH] = matches, MATCH_SLOTS + 2 * automaton.slots
    head[FRAMES], head[FRAME_WIDTH] = 2, 2 * automaton.frame  # the run's with the row's, and a negated row's beside
    head[ANSWER_CAPACITY], head[BUCKETS] = 64, 1024
    memory = _laid_out(head)
    region(memory, AT_RUNS)[:, STATE] = -1
    region(memory, AT_FREE)[:] = np.arange(runs - 1, -1, -1)
    region(memory, AT_HEADS)[:] = -1
    memory[FREE], memory[EDGE], memory[RUN] = runs, -1, BEGIN
    return memory


def _laid_out(head: Memory) -> Memory:
    """An empty memory with a head that says how large everything is."""
    end = HEAD
    for at, shape in _REGIONS:
        head[at] = end
        end += int(np.prod(head[list(shape)]))
    memory = np.zeros(end, np.int64)
    memory[:HEAD] = head
    return memory


def region(memory: Memory, at: int) -> NDArray[np.int64]:
    """A part of the memory, as a view: a list, or a table with a row for each run, node, match or frame."""
    shape = memory[list(_SHAPES[at])]
    return memory[memory[at] : memory[at] + int(np.prod(shape))].reshape(shape)


def live(memory: Memory) -> int:
    """How many runs there are."""
    return int(memory[RUN_CAPACITY] - memory[FREE])


def with_room(memory: Memory) -> Memory:
    """The same memory with room for twice as many runs, events and answers."""
    head = memory[:HEAD].copy()
    runs = int(head[RUN_CAPACITY])
    for capacity in (RUN_CAPACITY, NODE_CAPACITY, ANSWER_CAPACITY):
        head[capacity] *= 2
    larger = _laid_out(head)
    for at, _ in _REGIONS:
        old = region(memory, at)
        region(larger, at)[: len(old)] = old
    region(larger, AT_RUNS)[runs:, STATE] = -1
    free = int(larger[FREE])
    region(larger, AT_FREE)[free : free + runs] = np.arange(2 * runs - 1, runs - 1, -1)
    larger[FREE] = free + runs
    return larger


_KEY_FROM = SECTIONS["state_key_from"]
_KEY_SLOT = SECTIONS["state_key_slot"]


@njit(cache=True)
def mixed(code, tag, bits):
    code = (code ^ np.uint64(tag)) * np.uint64(0xC2B2AE3D27D4EB4F)
    code = (code ^ np.uint64(bits)) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(29))


@njit(cache=True)
def link(image, memory, run):
    """Put a run into its bucket: by its state and the values of its key."""
    at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
    state = memory[at + STATE]
    code = np.uint64(state) * np.uint64(0x9E3779B97F4A7C15)
    for k in range(image[image[_KEY_FROM] + state], image[image[_KEY_FROM] + state + 1]):
        slot = at + SLOTS + 2 * image[image[_KEY_SLOT] + k]
        code = mixed(code, memory[slot], memory[slot + 1])
    head = memory[AT_HEADS] + np.int64(code & np.uint64(memory[BUCKETS] - 1))
    memory[at + NEXT_RUN] = memory[head]
    memory[head] = run


def tidy(image: NDArray[np.int64], memory: Memory, now: int) -> Memory:
    """Between batches: drop runs that no event from `now` on can continue, forget the history of the dropped, and give
    the buckets a size that fits."""
    _sweep(memory, now)
    _compact(memory)
    buckets = 1024
    while buckets < 2 * live(memory):
        buckets *= 2
    memory = np.concatenate([memory[: memory[AT_HEADS]], np.full(buckets, -1, np.int64)])
    memory[BUCKETS] = buckets
    _link_all(image, memory)
    return memory


@njit(cache=True)
def _marked(memory):
    """Which runs wait in a state: neither free nor pending."""
    waits = np.ones(memory[RUN_CAPACITY], np.bool_)
    for i in range(memory[FREE]):
        waits[memory[memory[AT_FREE] + i]] = False
    for i in range(memory[PENDING]):
        waits[memory[memory[AT_PENDING] + i]] = False
    return waits


@njit(cache=True)
def _sweep(memory, now):
    waits = _marked(memory)
    for run in range(memory[RUN_CAPACITY]):
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        if waits[run] and (memory[at + DEADLINE] < now or memory[at + TAKEN] < now):
            memory[memory[AT_FREE] + memory[FREE]] = run
            memory[FREE] += 1
            memory[at + STATE] = -1


@njit(cache=True)
def _link_all(image, memory):
    waits = _marked(memory)
    for run in range(memory[RUN_CAPACITY]):
        if waits[run]:
            link(image, memory, run)


@njit(cache=True)
def _compact(memory):
    """Keep only the history that some run has."""
    nodes, width, start = memory[NODES], memory[NODE_WIDTH], memory[AT_NODES]
    kept = np.zeros(nodes, np.bool_)
    for run in range(memory[RUN_CAPACITY]):
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        if memory[at + STATE] >= 0:
            node = memory[at + NODE]
            while node >= 0 and not kept[node]:
                kept[node] = True
                node = memory[start + node * width + PARENT]
    moved = np.full(nodes, -1, np.int64)
    count = 0
    for node in range(nodes):  # a parent stands before its children, so one pass does
        if kept[node]:
            moved[node] = count
            source, target = start + node * width, start + count * width
            parent = memory[source + PARENT]
            for k in range(width):
                memory[target + k] = memory[source + k]
            memory[target + PARENT] = moved[parent] if parent >= 0 else -1
            count += 1
    for run in range(memory[RUN_CAPACITY]):
        at = memory[AT_RUNS] + run * memory[RUN_WIDTH]
        if memory[at + STATE] >= 0 and memory[at + NODE] >= 0:
            memory[at + NODE] = moved[memory[at + NODE]]
    memory[NODES] = count
