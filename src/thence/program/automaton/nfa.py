"""The compiled automaton: NFA_scep (SPAseQ, Definition 17) as arrays that the kernel's machine reads.

A run waits in a *state*. An *input* is what the graph matcher makes of one operand: its matches at one time. Inputs
that differ in the names of their variables alone are one *feed* of rows. An *edge* leads from a state, over a row of
its feed, to further states. Variables live in *slots*; a row's columns are compared with slots, then bound to them, and
predicates read slots only. Lists of different length for each edge are flattened: the items of edge e stand at
`x_from[e]:x_from[e+1]`.
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

PLAIN, TAKE, PROCEED, CUT_OFF = 0, 1, 2, 3
"""What an edge is to the closure of SASE+ that a run is in: nothing; its take edge; or, for want of an end condition,
one that begins the component after it, while the closure goes on and after it stopped. CUT_OFF ends the closure."""

OVER, WAITS_NEXT, WAITS_ANY, WAITS_APART = 0, 1, 2, 3
"""How a run waits for the component after a closure once that has stopped: not at all, by skip-till-next, by
skip-till-any; or by partition contiguity, where strict contiguity stopped it."""

AT_STOP, AT_WINDOWS_END = 1, 2
"""When a run that waits in a state is a match: once its closure stops, at the latest when its window ends; or only
then."""

KEEP, ANEW, COUNT, SUM, LEAST, GREATEST, EARLIEST, LATEST = range(8)
"""What a row does to a slot: binds it if nothing has; anew; or is counted, added, compared, or taken if it is there."""

RANKS = 4
"""Behind a slot of the LEAST or GREATEST may stand those of the next ones in order: `bind_how` has so many bits higher
how many."""


class Automaton(NamedTuple):
    """States, edges and predicates. All arrays; nothing here changes while it runs."""

    selection: NDArray[np.uint8]  # of each state: STRICT, NEXT or ANY
    window: int  # microseconds or ticks; -1: none
    tumbling: bool
    origin: int  # where tumbling windows begin
    slots: int  # of a run
    frame: int  # slots, and those that only negated parts use
    iterated: int  # local variables whose value in each iteration is kept
    fits: int  # the column of rows that says, bit by bit, what their events can be taken for; -1: none
    merges: bool  # runs that are alike become one: AGGREGATE of SASE+
    grouped: int  # and matches, by the first so many slots
    previous: int  # how many previous times a row has: of all events, or of its partition

    feed_from: Int32s  # edges of feed f: feed_from[f]:feed_from[f+1]
    feed_columns: Int32s  # how many columns its rows have
    feed_events: Int32s  # and how many events make a row

    edge_state: Int32s  # where the run waits; START
    edge_target: Int32s  # where it waits next; NOWHERE
    edge_loop: Int32s  # where it waits for another iteration; NOWHERE
    edge_accept: NDArray[np.bool_]  # whether the row completes a match
    edge_input: Int32s  # the operand that it is about
    edge_feed: Int32s  # and where its rows are found
    edge_role: Int32s  # PLAIN, TAKE, PROCEED, CUT_OFF
    edge_then: Int32s  # how the run waits once its closure has stopped
    edge_fits: Int32s  # the bit that an event must have to be taken; -1: none
    edge_cut: NDArray[np.bool_]  # not for an event by which the run has just gone over an edge that `cuts`
    edge_cuts: NDArray[np.bool_]
    edge_absorbs: NDArray[np.bool_]  # a run that takes an event is as it was, but for its history
    edge_stops: NDArray[np.bool_]  # an event that counts for contiguity, and can't be taken, stops the closure

    equal_from: Int32s
    equal_slot: Int32s
    equal_column: Int32s
    bind_from: Int32s
    bind_slot: Int32s
    bind_column: Int32s
    bind_how: Int32s  # KEEP, ANEW, …; and above RANKS, how many slots more
    edge_late: NDArray[np.bool_]  # tests come before binding; what they need of the row is in slots of the frame alone:
    late_from: Int32s
    late_slot: Int32s
    late_column: Int32s
    test_from: Int32s
    test_predicate: Int32s
    quick_from: Int32s  # the tests that are mere comparisons of two variables, once more:
    quick: Int32s  # comparison, slot, column or -1, slot, column or -1
    prune_from: Int32s  # tests of later parts that can be judged once this edge is taken
    prune_predicate: Int32s
    key_from: Int32s  # the columns whose values find the runs that may join
    key_column: Int32s
    place_from: Int32s  # the part of the pattern that each event of the row fills
    place: Int32s
    iterated_from: Int32s
    iterated_column: Int32s  # column of each iterated variable, or -1; none where no iteration ends

    state_key_from: Int32s  # the slots that `key_column` is compared with
    state_key_slot: Int32s
    state_previous: Int32s  # which of a row's previous times its contiguity goes by
    state_accepts: Int32s  # 0, AT_STOP or AT_WINDOWS_END
    state_order: Int32s  # the slot that every edge of a state compares with a column, or -1; whether greater is easier
    edge_order: Int32s  # how it is compared, and with which column, or -1

    guard_from: Int32s  # of an edge: the negations of the gap before it
    guard: Int32s
    end_from: Int32s  # of an accepting edge: the negations of the gap after it
    end: Int32s
    guard_edge_from: Int32s  # of a negation: edges without state, one for each alternative of its operand
    guard_edge: Int32s
    row_values: int  # where in a row its columns begin

    code_from: Int32s  # of a predicate
    operation: Int32s
    argument: Int32s
    constant_tags: NDArray[np.uint16]
    constant_bits: Int64s
