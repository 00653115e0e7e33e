"""Prunes a state's dictionary to the terms that runs have bound and guards may look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import Terms
from thence.columns.tagged_values import NON_CANONICAL
from thence.columns.term_values import ValueColumn
from thence.columns.value_kinds import NONE, OTHER
from thence.kernel.automaton.memory import AT_NODES, AT_RUNS, ITERATED, NODES, SLOTS, STATE, region
from thence.program.automaton.program import SequenceProgram
from thence.program.extracted import BindingTable

if TYPE_CHECKING:
    from thence.kernel.automaton.step import SequenceState

_FEW = 1_000
"""Terms that are kept without asking."""

Ids = NDArray[np.int64]


def prune_dictionary(program: SequenceProgram, state: SequenceState) -> None:
    """Once the dictionary has doubled, drop the terms that nothing holds, and number the others anew."""
    if len(state.terms) < max(_FEW, 2 * state.terms_kept):
        return
    used = [bits[_is_id(tags)] for tags, bits in _held(program, state)]
    kept = np.unique(np.concatenate(used)) if used else np.empty(0, np.int64)
    terms = Terms()
    terms.add_all(program.constants)  # first, so that they keep their ids: predicates name them
    renumbered = np.full(len(state.terms), -1, np.int64)
    renumbered[kept] = terms.import_all(state.terms, kept.astype(np.int32))
    for tags, bits in _held(program, state):
        rows = _is_id(tags)
        if rows.any():  # else they may be a file's own numbers, which can't be written to
            bits[rows] = renumbered[bits[rows]]
    for contiguity in state.contiguities:
        contiguity.restore(*contiguity.known())  # known by other ids
    state.terms, state.terms_kept = terms, len(terms)


def _held(program: SequenceProgram, state: SequenceState) -> Iterator[tuple[NDArray[Any], Ids]]:
    """Tags and bits, as views, of all that is remembered."""
    runs = region(state.memory, AT_RUNS)
    slots = runs[:, SLOTS : SLOTS + 2 * program.automaton.slots]
    slots[runs[:, STATE] < 0] = NONE  # what a free run had bound, nothing holds
    yield slots[:, 0::2], slots[:, 1::2]
    nodes = region(state.memory, AT_NODES)[: state.memory[NODES]]
    yield nodes[:, ITERATED::2], nodes[:, ITERATED + 1 :: 2]
    for contiguity in state.contiguities:
        keys, _ = contiguity.known()
        yield keys[:, 0::2], keys[:, 1::2]
    for rows in (*state.negated.values(), *state.recent):
        yield from ((values.tags, values.bits) for values in _columns(rows))


def _columns(rows: BindingTable) -> Iterator[ValueColumn]:
    return iter(rows.columns.values())


def _is_id(tags: NDArray[Any]) -> NDArray[np.bool_]:
    named: NDArray[np.bool_] = ((tags > NONE) & (tags <= OTHER)) | (tags == NON_CANONICAL)
    return named
