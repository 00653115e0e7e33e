"""The automaton as an operator: SPAseQ's sequences and SASE+'s components are its programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.sase import MatchAggregates
from thence.algebra.spaseq import SequenceQuery, occurrences
from thence.columns.array_codec import ArrayReader
from thence.columns.arrays import Ints
from thence.engines.automaton import snapshot
from thence.engines.automaton.match_aggregates import add_matches
from thence.engines.automaton.memory import AT_NODES, KEEP_EXPIRED, NODES, REF, region
from thence.engines.automaton.program import SequenceProgram
from thence.engines.automaton.projection import all_bound, solutions, total_solutions
from thence.engines.automaton.step import Matches, SequenceState, begin, initial_state, take, timed_out, waited_for
from thence.interface.extracted import Extracted
from thence.interface.operator import NEVER, Environment, Expired
from thence.interface.solutions import Solutions


@dataclass(frozen=True, slots=True)
class AutomatonOperator:
    """Runs wait in the states of a compiled automaton (NFA_scep, SPAseQ, Definition 17; SASE+, Section 3)."""

    def initial(self, program: SequenceProgram, environment: Environment) -> SequenceState:
        return _keeping(initial_state(program), environment)

    def prune(self, program: SequenceProgram, state: SequenceState) -> None:
        begin(program, state)

    def step(
        self,
        program: SequenceProgram,
        state: SequenceState,
        extracted: Extracted,
        watermark: int,
        environment: Environment,
    ) -> Iterator[Solutions]:
        found = take(program, state, extracted, watermark, environment)
        form = program.query.form
        if isinstance(form, MatchAggregates):
            for matches in found:
                add_matches(program, program.components, state, state.totals, matches)
            if environment.running or watermark == NEVER:
                yield from total_solutions(form, program.output.columns, state.totals)
            return
        for matches in found:
            yield solutions(program, matches, state.terms, environment.context)

    def expire(self, program: SequenceProgram, state: SequenceState, watermark: int) -> Expired | None:
        found = timed_out(program, state, watermark)
        if not len(found.matches):
            return None
        missing = [waited_for(program, number) for number in found.states.tolist()]
        return Expired(all_bound(program, found.matches, state.terms), missing, _last_streams(program, found.matches))

    def held(self, program: SequenceProgram, state: SequenceState) -> Ints:
        memory = state.memory
        by_runs = region(memory, AT_NODES)[: memory[NODES], REF]
        refs = np.concatenate([by_runs, *(rows.refs.ravel() for rows in state.recent)])
        return refs[refs >= 0]  # where merged histories meet is not an event

    def snapshot(self, program: SequenceProgram, state: SequenceState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot.snapshot(program, state)

    def restore(
        self,
        program: SequenceProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> SequenceState:
        return _keeping(snapshot.restore(program, head, arrays, next_ref), environment)


def _keeping(state: SequenceState, environment: Environment) -> SequenceState:
    """Runs that time out are kept until they are reported, where they are."""
    state.memory[KEEP_EXPIRED] = environment.keeps_expired
    return state


def _last_streams(program: SequenceProgram, matches: Matches) -> list[str]:
    """The stream of each match's last event."""
    query = program.query
    assert isinstance(query, SequenceQuery), "only SPAseQ reports partial matches that time out"
    found = (each for part in query.sequence for each in occurrences(part.operand))
    streams = {each.place: query.gpm(each.gpm).stream for each in found}
    lasts = matches.places[matches.offsets[1:] - 1]
    return [streams[place] for place in lasts.tolist()]
