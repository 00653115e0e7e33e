"""The compiled automaton: NFA_scep (SPAseQ, Definition 17) as arrays that the kernel's machine reads.

A run waits in a *state*. An *input* is a table of rows that the graph matcher makes: the matches of one operand at one
time. An *edge* leads from a state, over a row of its input, to further states. Variables live in *slots*; a row's
columns are compared with slots, then bound to them, and predicates read slots only. Lists of different length for each
edge are flattened: the items of edge e stand at `x_from[e]:x_from[e+1]`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

STRICT, NEXT, ANY = 0, 1, 2
"""How a state waits: Definitions 12, 11 and 10."""

START = -1
"""The state of an edge that begins a run."""

NOWHERE = -1
"""The target of an edge that has none."""


class Automaton(NamedTuple):
    """States, edges and predicates. All arrays; nothing here changes while it runs."""

    selection: NDArray[np.uint8]  # of each state: STRICT, NEXT or ANY
    window: int  # microseconds or ticks; -1: none
    tumbling: bool
    origin: int  # where tumbling windows begin
    slots: int  # of a run
    frame: int  # slots, and those that only negated parts use
    iterated: int  # local variables whose value in each iteration is kept

    input_from: Int32s  # edges of input i: input_from[i]:input_from[i+1]
    input_columns: Int32s  # how many columns its rows have
    input_events: Int32s  # and how many events make a row

    edge_state: Int32s  # where the run waits; START
    edge_target: Int32s  # where it waits next; NOWHERE
    edge_loop: Int32s  # where it waits for another iteration; NOWHERE
    edge_accept: NDArray[np.bool_]  # whether the row completes a match
    edge_iterated: Int32s  # the first row of `iterated_column` for this edge; -1: it keeps none

    equal_from: Int32s
    equal_slot: Int32s
    equal_column: Int32s
    bind_from: Int32s
    bind_slot: Int32s
    bind_column: Int32s
    bind_anew: NDArray[np.bool_]  # forget the old value: a local in its next iteration
    test_from: Int32s
    test_predicate: Int32s
    key_from: Int32s  # the columns whose values find the runs that may join
    key_column: Int32s
    place_from: Int32s  # the part of the pattern that each event of the row fills
    place: Int32s
    iterated_column: Int32s  # column of each iterated variable, or -1

    state_key_from: Int32s  # the slots that `key_column` is compared with
    state_key_slot: Int32s

    guard_from: Int32s  # of an edge: the negations of the gap before it
    guard: Int32s
    end_from: Int32s  # of an accepting edge: the negations of the gap after it
    end: Int32s
    guard_edge_from: Int32s  # of a negation: edges without state, one for each alternative of its operand
    guard_edge: Int32s
    edge_input: Int32s
    row_values: int  # where in a row its columns begin

    code_from: Int32s  # of a predicate
    operation: Int32s
    argument: Int32s
    constant_tags: NDArray[np.uint16]
    constant_bits: Int64s


SECTIONS = {name: number for number, name in enumerate(Automaton._fields)}
"""Where in an image's head each field of an automaton is found."""


def image(automaton: Automaton) -> Int64s:
    """The automaton as one array, so that the machine compiles quickly and takes few arguments: a head with each
    number, or where each array begins, then the arrays."""
    head = np.zeros(len(SECTIONS), np.int64)
    parts: list[Int64s] = [head]
    end = len(head)
    fields: tuple[NDArray[np.generic] | int, ...] = tuple(automaton)
    for number, field in enumerate(fields):
        if isinstance(field, np.ndarray):
            head[number] = end
            parts.append(field.astype(np.int64))
            end += len(field)
        else:
            head[number] = field
    return np.concatenate(parts)


# A row of the machine's input, all 64-bit integers: its time, the latest strictly earlier time that breaks contiguity
# with it, its input, its events, and then tag and bits of each column. Rows are as wide as the widest input needs.
TIME, PREVIOUS, INPUT, EVENTS = 0, 1, 2, 3
