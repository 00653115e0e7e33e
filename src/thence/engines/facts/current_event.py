"""The current event of a step (TEF-21), and what the machine emits: rows, constructed events, facts that ended."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from thence.engines.facts.fact_nodes import FactMatch
from thence.engines.facts.fact_store import Fact
from thence.engines.facts.frames import CellTriple
from thence.match.context import Solution
from thence.rdf.terms import Triple

# What a step has in hand (TEF-21): an event triple, or a fact or an unnamed view that began or ended.


class CurrentTriple(NamedTuple):
    """An event triple, from outside (`ref`) or constructed. `key` numbers events in the order in which they are
    taken."""

    key: int
    triple: CellTriple
    start: int
    end: int
    refs: tuple[int, ...]


class CurrentFact(NamedTuple):
    """A fact that began (ONSTART) or ended (ONEND)."""

    key: int
    fact: Fact
    starts: bool
    time: int


class CurrentMatch(NamedTuple):
    """A match of a composite fact pattern that began or ended: of the unnamed view of that number (TEF-50)."""

    key: int
    view: int
    match: FactMatch
    starts: bool
    time: int


CurrentEvent: TypeAlias = CurrentTriple | CurrentFact | CurrentMatch


class EmittedRow(NamedTuple):
    """A row of a SELECT: `query` numbers the SELECTs from 1."""

    query: int
    certain: int
    start: int
    end: int
    bound: Solution
    refs: tuple[int, ...]


class EmittedEvent(NamedTuple):
    """A constructed event."""

    statement: int
    start: int
    end: int
    triples: tuple[Triple, ...]
    refs: tuple[int, ...]


class EmittedFact(NamedTuple):
    """A fact that ended."""

    certain: int
    start: int
    end: int | None
    triple: Triple
    number: int


Emitted: TypeAlias = EmittedRow | EmittedEvent | EmittedFact
