"""What a step has in hand (TEF-21): an event triple, or a fact or an unnamed view that began or ended."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from thence.kernel.facts.cells import CellTriple
from thence.kernel.facts.fact_nodes import FactMatch
from thence.kernel.facts.fact_store import Fact


class TripleHand(NamedTuple):
    """An event triple, from outside (`ref`) or constructed. `key` numbers events in the order in which they are
    taken."""

    key: int
    triple: CellTriple
    start: int
    end: int
    refs: tuple[int, ...]


class FactHand(NamedTuple):
    """A fact that began (ONSTART) or ended (ONEND)."""

    key: int
    fact: Fact
    starts: bool
    time: int


class MatchHand(NamedTuple):
    """A match of a composite fact pattern that began or ended: of the unnamed view of that number (TEF-50)."""

    key: int
    view: int
    match: FactMatch
    starts: bool
    time: int


Hand: TypeAlias = TripleHand | FactHand | MatchHand
