"""The variable by which the runs of a state can be skipped: one that every edge compares with the row.

Where each edge asks, say, that `?p1` of the run be greater than a column of the row, the greatest `?p1` of some runs
tells whether any of them can join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thence.program.automaton.opcodes import GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL

_TURNED = {
    LESS: GREATER,
    GREATER: LESS,
    LESS_OR_EQUAL: GREATER_OR_EQUAL,
    GREATER_OR_EQUAL: LESS_OR_EQUAL,
}

SlotComparison = tuple[int, int, int, int, int]
"""Comparison; slot and column of its left side, of its right side; -1 where the row has no such column."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    states: list[tuple[int, int]]  # slot or -1; whether greater is easier
    edges: list[tuple[int, int]]  # comparison; column or -1


def order_of(edge_states: Sequence[int], quick: Sequence[Sequence[SlotComparison]], states: int) -> RunOrder:
    order = RunOrder([(-1, 0)] * states, [(-1, -1)] * len(edge_states))
    for state in range(states):
        edges = [edge for edge, of in enumerate(edge_states) if of == state]
        choices = [_comparisons(quick[edge]) for edge in edges]
        common = [key for key in choices[0] if all(key in others for others in choices)] if choices else []
        if common:
            slot, greatest = common[0]
            order.states[state] = (slot, int(greatest))
            for edge, found in zip(edges, choices, strict=True):
                order.edges[edge] = found[common[0]]
    return order


def _comparisons(quick: Sequence[SlotComparison]) -> dict[tuple[int, bool], tuple[int, int]]:
    """By slot and direction: how the run's slot is compared with a column of the row."""
    found: dict[tuple[int, bool], tuple[int, int]] = {}
    for comparison, left, left_column, right, right_column in quick:
        if comparison not in _TURNED or (left_column < 0) == (right_column < 0):
            continue
        slot, column, told = (left, right_column, comparison)
        if left_column >= 0:
            slot, column, told = (right, left_column, _TURNED[comparison])
        found.setdefault((slot, told in (GREATER, GREATER_OR_EQUAL)), (told, column))
    return found
