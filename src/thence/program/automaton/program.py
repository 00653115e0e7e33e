"""A compiled automaton: what is extracted, what the machine runs, and what its slots mean. Immutable."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Pattern
from thence.algebra.sase import Component, ComponentQuery, Name
from thence.algebra.show import show
from thence.algebra.spaseq import LateGraph, SequenceQuery
from thence.algebra.streams import Stream
from thence.program.automaton.nfa import ANEW, STRICT, Automaton
from thence.program.operator import Feature, ShardKey, TieOrder
from thence.program.output import Output
from thence.program.tables import Attributes, Table
from thence.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class Source:
    """A GPM: the table of its matches, and what the table's variables are called here."""

    gpm: str
    stream: str
    pattern: Pattern | Attributes
    variables: tuple[Variable, ...]
    table: int


@dataclass(frozen=True, slots=True)
class Partition:
    """A GPM that decides which partition an event is in: the table of its matches without FILTER and GRAPH, and what
    the table's variables are called here."""

    table: int
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """The rows of one alternative of an operand: matches of its sources at one time, joined (Definition 8). Inputs of
    the same single table are one feed of the machine."""

    sources: tuple[int, ...]
    variables: tuple[Variable, ...]
    feed: int


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A condition of SASE+ on the events of a run: with the one that it is about to take for `component`, or has just
    taken."""

    condition: Expression
    component: str


@dataclass(frozen=True, slots=True)
class Negation:
    """A negated component of SASE+: the places of its neighbours (-1: it is the last), the bits that its events have as
    the first and as a later one of a series, and what each of these is asked together with the match, and the whole
    series."""

    component: Component
    before: int
    after: int
    fits: int
    fits_later: int
    conditions: tuple[Expression, ...]
    later: tuple[Expression, ...]
    ends: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Components:
    """What matches of SASE+ are judged and shown by; without components, nothing is. An event's place is the number of
    its component in `positive`."""

    positive: tuple[Component, ...] = ()
    names: tuple[Name, ...] = ()  # of the attributes, in the order of a node's values
    conjuncts: tuple[Conjunct | None, ...] = ()  # of each predicate: the condition on a run's events that it stands for
    negations: tuple[Negation, ...] = ()
    tested: tuple[Variable, ...] = ()  # what all events of a match are alike in
    parted: tuple[Variable, ...] = ()  # and those of a partition

    def conjunct(self, predicate: int) -> Conjunct | None:
        return self.conjuncts[predicate] if predicate < len(self.conjuncts) else None


@dataclass(frozen=True, slots=True, eq=False)
class SequenceProgram:
    """A compiled automaton (SPAseQ, SASE+): a `Program` of `thence.program.operator`. `query` is as it was written; all
    the rest is compiled from what the optimiser has `rewritten` it to."""

    query: SequenceQuery | ComponentQuery
    rewritten: SequenceQuery | ComponentQuery
    streams: tuple[Stream, ...]
    tables: tuple[Table, ...]
    sources: tuple[Source, ...]
    inputs: tuple[Input, ...]
    feeds: tuple[int, ...]  # of each feed, an input
    negated: tuple[int, ...]  # feeds that guards read
    partitions: tuple[Partition, ...]  # empty: contiguity is over all events
    contiguous: tuple[tuple[Variable, ...], ...]  # what each of a row's previous times is by; by nothing: of all events
    slots: tuple[Variable, ...]  # those of a run, then those that negated parts use
    outputs: tuple[Variable, ...]  # of a complete match: a run's slots, then what late GRAPH blocks add
    shard_key: ShardKey
    output: Output
    features: frozenset[Feature]
    iterated: tuple[Variable, ...]
    predicates: tuple[Expression, ...]
    constants: tuple[Term, ...]  # the first entries of every state's dictionary, in this order
    automaton: Automaton
    image: NDArray[np.int64]  # the same, as the machine reads it
    shown: tuple[Variable, ...] | None = None  # the outputs that are a row's columns; None, if these are computed
    late: tuple[LateGraph, ...] = ()
    components: Components = field(default_factory=Components)

    @property
    def namespace(self) -> str:
        return self.query.namespace

    @property
    def waits_for_time(self) -> bool:
        return bool(self.automaton.end.size) or bool(self.automaton.state_accepts.any())

    @property
    def ends_with_input(self) -> bool:
        """A last closure without end condition and window is complete where the input ends (SA-21)."""
        return self.automaton.window < 0 and bool(self.automaton.state_accepts.any())

    @property
    def broadcasts_times(self) -> bool:
        """Under strict contiguity without partitions any event of any stream may break a run."""
        return () in self.contiguous and bool((self.automaton.selection == STRICT).any())

    @property
    def tie_order(self) -> TieOrder:
        """Events of one time never follow each other (C-6)."""
        return TieOrder.ANY

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        return tuple(late.block for late in self.late)

    @property
    def has_running_aggregates(self) -> bool:
        """Whether a slot may be UNKNOWN: a running aggregate that only the history has."""
        return bool((self.automaton.bind_how > ANEW).any())

    def fingerprint(self) -> str:
        return _fingerprint(self)


@lru_cache(maxsize=16)
def _fingerprint(program: SequenceProgram) -> str:
    """Of the query, the automaton that it was compiled to, and what the arrays of a state are, which depends on how it
    was compiled."""
    query = program.query
    digest = hashlib.sha256((show(query) if isinstance(query, SequenceQuery) else repr(query)).encode())
    digest.update(program.image.tobytes())
    tables = [(table.stream, table.variables) for table in program.tables]
    sources = [(source.table, source.variables) for source in program.sources]
    arrays = (tables, sources, program.inputs, program.feeds, program.negated, program.slots, program.iterated)
    digest.update(repr((arrays, program.shard_key.routes, program.constants)).encode())
    return digest.hexdigest()
