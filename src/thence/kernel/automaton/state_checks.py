"""Checks that a saved state is safe for compiled code, which checks no bounds: a state may be damaged, or forged with a
valid digest.

Sizes, places, links, term ids and tags are checked; times and numbers may be any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.kernel.array_checks import check_array, check_column, check_intervals, check_values, check_within, require
from thence.kernel.automaton import memory as layout
from thence.kernel.automaton.memory import Contents
from thence.program.automaton.program import SequenceProgram

if TYPE_CHECKING:
    from thence.program.extracted import BindingTable

Ints = NDArray[np.int64]


def check_matched(rows: BindingTable, width: int, terms: int, next_ref: int) -> None:
    count = len(rows.end) if rows.end.ndim else 0
    check_array(rows.end, np.int64, count)
    check_array(rows.start, np.int64, count)
    check_intervals(rows.start, rows.end)
    check_array(rows.refs, np.int64, count, width)
    check_array(rows.fresh, np.bool_, count)
    check_within(rows.refs, 0, next_ref, "an event")
    for values in rows.columns.values():
        check_column(values, count)
        check_values(values.tags, values.bits, terms)


def check_partitions(keys: NDArray[Any], times: NDArray[Any], by: int, terms: int) -> None:
    """What contiguity remembers, where partitions go by so many variables."""
    check_array(times, np.int64, -1, 2)
    check_array(keys, np.int64, len(times), 2 * by)
    require(by or len(times) <= 1, "there are several partitions of everything")
    check_values(keys[:, 0::2], keys[:, 1::2], terms)


def check_contents(program: SequenceProgram, found: Contents, terms: int, next_ref: int) -> None:
    """What a memory is to remember."""
    automaton = program.automaton
    _check_nodes(program, found.nodes, terms, next_ref)
    check_array(found.waiting, np.int64, -1, layout.run_width(automaton))
    check_array(found.pending, np.int64, -1, layout.run_width(automaton))
    check_within(found.waiting[:, layout.STATE], 0, len(automaton.selection), "a state")
    ending = np.flatnonzero(np.diff(automaton.end_from) > 0)
    require(np.isin(found.pending[:, layout.STATE], ending).all(), "a match waits for nothing")
    for runs in (found.waiting, found.pending):
        check_within(runs[:, layout.NODE], 0, len(found.nodes), "a run's last event")
        slots = runs[:, layout.SLOTS : layout.SLOTS + 2 * automaton.slots]
        check_values(slots[:, 0::2], slots[:, 1::2], terms)
        if automaton.merges:
            absorbed = runs[:, -layout.ABSORBED_WORDS :]
            earlier = absorbed[absorbed[:, layout.ABSORBED_TIME] != layout.NEVER, layout.ABSORBED_NODE]
            check_within(earlier, 0, len(found.nodes), "a run's earlier history")


def _check_nodes(program: SequenceProgram, nodes: Ints, terms: int, next_ref: int) -> None:
    check_array(nodes, np.int64, -1, layout.node_width(program.automaton))
    parents = nodes[:, layout.PARENT]
    require((parents >= -1).all() and (parents < np.arange(len(nodes))).all(), "an event comes before its own past")
    places, least = program.automaton.place, 0
    if program.automaton.merges:  # where histories meet is no event
        places, least = np.concatenate([places, [layout.EITHER], layout.OPTIONAL - places]), -1
    require(np.isin(nodes[:, layout.PLACE], places).all(), "an event has no place in the pattern")
    check_within(nodes[:, layout.REF], least, next_ref, "an event")
    check_values(nodes[:, layout.ITERATED :: 2], nodes[:, layout.ITERATED + 1 :: 2], terms)
