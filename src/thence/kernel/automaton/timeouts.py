"""Timed-out partial matches: runs whose window ended before they were complete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.kernel.automaton.history import History, match_events
from thence.kernel.automaton.memory import (
    AT_NODES,
    AT_RUNS,
    DEADLINE,
    LAST,
    NODE,
    RUN_START,
    SLOTS,
    STATE,
    region,
    take_expired,
)
from thence.kernel.automaton.step import Matches, SequenceState
from thence.program.automaton.nfa import STRICT
from thence.program.automaton.program import SequenceProgram


@dataclass(frozen=True, slots=True, eq=False)
class TimedOutRuns:
    """Partial matches, each certain once its window had ended, and the state in which each of them waited."""

    matches: Matches
    states: NDArray[np.int64]


def timed_out(program: SequenceProgram, state: SequenceState, watermark: int) -> TimedOutRuns:
    """The runs whose window ended before the watermark, since the last call. One that waits for a further iteration of
    a closure misses nothing, and is none of them; nor is one under `,`: the very next event continues or breaks it."""
    memory = state.memory
    found = take_expired(memory, watermark)
    states = region(memory, AT_RUNS)[found, STATE]
    patient = program.automaton.selection[states] != STRICT
    found = found[patient & ~np.isin(states, program.automaton.edge_loop)]
    runs, nodes = region(memory, AT_RUNS)[found], region(memory, AT_NODES)
    slots = runs[:, SLOTS : SLOTS + 2 * program.automaton.slots]
    matches = Matches(
        certain=runs[:, DEADLINE],
        start=runs[:, RUN_START],
        end=runs[:, LAST],
        tags=slots[:, 0::2],
        bits=slots[:, 1::2],
        history=History(lambda: match_events(nodes, runs[:, NODE])),
    )
    return TimedOutRuns(matches, runs[:, STATE])


def waited_for(program: SequenceProgram, state: int) -> str:
    """What a run in a state waits for: `B`, or `B & C`, or either of several."""
    automaton = program.automaton
    edges = np.flatnonzero(automaton.edge_state == state).tolist()
    edges.sort(key=lambda edge: int(automaton.place[automaton.place_from[edge]]))  # as the pattern has them
    inputs = dict.fromkeys(int(automaton.edge_input[edge]) for edge in edges)
    names = (" & ".join(program.sources[s].gpm for s in program.inputs[number].sources) for number in inputs)
    return " | ".join(names)
