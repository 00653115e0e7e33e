"""Mappings as tuples: each variable of a statement has its slot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from thence.algebra.expressions import Variable
from thence.algebra.tef_variables import is_fresh
from thence.algebra.traversal import nodes
from thence.kernel.facts.cells import Cell, cell, rank, term
from thence.match.context import Solution

Frame: TypeAlias = tuple[Cell | None, ...]
"""The cell of each variable; None: unbound."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The variables of a statement or a pattern, each in its slot: by name, those written `?_` last."""

    variables: tuple[Variable, ...]
    slots: dict[Variable, int]

    @property
    def empty(self) -> Frame:
        return (None,) * len(self.variables)

    def slots_of(self, variables: Iterable[Variable]) -> tuple[int, ...]:
        return tuple(sorted(self.slots[variable] for variable in variables))

    def solution(self, frame: Frame) -> Solution:
        """A frame as a solution."""
        return {variable: term(each) for variable, each in zip(self.variables, frame, strict=True) if each is not None}

    def frame(self, solution: Solution) -> Frame:
        """A solution as a frame. KeyError for a variable that is not here."""
        found: list[Cell | None] = [None] * len(self.variables)
        for variable, each in solution.items():
            found[self.slots[variable]] = cell(each)
        return tuple(found)


def layout(*parts: object) -> Layout:
    """The layout of all variables that some statements, patterns or expressions name."""
    variables = {node for part in parts for node in nodes(part) if isinstance(node, Variable)}
    ordered = tuple(sorted(variables, key=lambda each: (is_fresh(each), each.name)))
    return Layout(ordered, {variable: slot for slot, variable in enumerate(ordered)})


def with_cell(frame: Frame, slot: int, cell: Cell) -> Frame:
    return (*frame[:slot], cell, *frame[slot + 1 :])


def merged(left: Frame, right: Frame) -> Frame | None:
    """Both mappings as one; None if they are not compatible."""
    found = []
    for one, other in zip(left, right, strict=True):
        if one is None:
            found.append(other)
        elif other is None or one == other:
            found.append(one)
        else:
            return None
    return tuple(found)


def over(upper: Frame, lower: Frame) -> Frame:
    """What `upper` binds, and `lower` where it does not."""
    return tuple([other if one is None else one for one, other in zip(upper, lower, strict=True)])


def only(frame: Frame, slots: Iterable[int]) -> Frame:
    """What a frame has in some slots."""
    found: list[Cell | None] = [None] * len(frame)
    for slot in slots:
        found[slot] = frame[slot]
    return tuple(found)


def cleared(frame: Frame, slots: Iterable[int]) -> Frame:
    """A frame without what it has in some slots."""
    found = [*frame]
    for slot in slots:
        found[slot] = None
    return tuple(found)


def is_bound(frame: Frame, slots: Iterable[int]) -> bool:
    """Whether all of some slots are bound."""
    for slot in slots:  # a loop: `all` costs more than what it asks
        if frame[slot] is None:
            return False
    return True


def frame_rank(frame: Frame) -> tuple[tuple[object, ...], ...]:
    """By which mappings are ordered: the variables' names, then their terms; what was written `?_` comes last."""
    return tuple((slot, *rank(each)) for slot, each in enumerate(frame) if each is not None)
