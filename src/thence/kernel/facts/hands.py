"""What a step has in hand (TEF-21): an event triple, or a fact or an unnamed view that began or ended."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from thence.algebra.tef_sparql import TefPattern
from thence.kernel.facts.fact_patterns import FactInstance
from thence.kernel.facts.fact_store import Fact
from thence.rdf.terms import Triple


class TripleHand(NamedTuple):
    """An event triple, from outside (`ref`) or constructed. `key` numbers events in the order in which they are
    taken."""

    key: int
    triple: Triple
    start: int
    end: int
    refs: tuple[int, ...]


class FactHand(NamedTuple):
    """A fact that began (ONSTART) or ended (ONEND)."""

    key: int
    fact: Fact
    starts: bool
    time: int


class InstanceHand(NamedTuple):
    """A match of a composite fact pattern that began or ended: an unnamed view (TEF-50)."""

    key: int
    pattern: TefPattern
    instance: FactInstance
    starts: bool
    time: int


Hand: TypeAlias = TripleHand | FactHand | InstanceHand
