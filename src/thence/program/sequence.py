"""A compiled SPAseQ query: what the matcher is asked, what the machine runs, and what its slots mean. Immutable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.algebra.components import Component, ComponentQuery, Name
from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Pattern
from thence.algebra.sequences import LateGraph, SequenceQuery, Stream
from thence.program.automaton import Automaton
from thence.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class Fit:
    """What an event must have to be taken for something: a type, attributes that are there, predicates that hold."""

    type: Name | None
    present: tuple[Name, ...]
    predicates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attributes:
    """What SASE+ asks of an event: its attributes as they are (`.x`), some as equality sees them (`=x`), and what it
    can be taken for (`fits`), a bit for each of `fits`. `all_count`: those that fit nothing are told too."""

    names: tuple[Name, ...]
    fits: tuple[Fit, ...]
    all_count: bool


@dataclass(frozen=True, slots=True)
class Table:
    """What the graph matcher is asked of a stream, event by event (Definition 7), and which variables of the answer
    are wanted. GPMs that differ in the names of their variables alone share one."""

    stream: str
    pattern: Pattern | Attributes
    variables: tuple[Variable, ...]


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
    """A GPM that tells which partition an event is in: the table of its matches without FILTER and GRAPH, and what
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
    """What matches of SASE+ are judged and shown by. An event's place is the number of its component in `positive`."""

    positive: tuple[Component, ...]
    names: tuple[Name, ...]  # of the attributes, in the order of a node's values
    conjuncts: tuple[Conjunct | None, ...]  # what each predicate is about
    negations: tuple[Negation, ...]
    tested: tuple[Variable, ...]  # what all events of a match are alike in
    parted: tuple[Variable, ...]  # and those of a partition


@dataclass(frozen=True, slots=True, eq=False)
class SequenceProgram:
    """`query` is as it was written; all the rest is made of what the optimiser has `rewritten` it to."""

    query: SequenceQuery | ComponentQuery
    rewritten: SequenceQuery | ComponentQuery
    streams: tuple[Stream, ...]
    tables: tuple[Table, ...]
    sources: tuple[Source, ...]
    inputs: tuple[Input, ...]
    feeds: tuple[int, ...]  # of each feed, an input
    negated: tuple[int, ...]  # feeds that guards look at
    partitions: tuple[Partition, ...]  # empty: contiguity is over all events
    contiguous: tuple[tuple[Variable, ...], ...]  # what each of a row's previous times is by; by nothing: of all events
    slots: tuple[Variable, ...]  # those of a run, then those that negated parts use
    outputs: tuple[Variable, ...]  # of a complete match: a run's slots, then what late GRAPH blocks add
    key: tuple[Variable, ...]  # events that differ in these never meet, and may be in different shards; empty: all may
    routes: tuple[tuple[int, ...] | None, ...]  # of each table, which columns the key is; None: nothing reads it
    iterated: tuple[Variable, ...]
    predicates: tuple[Expression, ...]
    constants: tuple[Term, ...]  # the first entries of every state's dictionary, in this order
    automaton: Automaton
    image: NDArray[np.int64]  # the same, as the machine reads it
    shown: tuple[Variable, ...] | None = None  # the outputs that are a row's columns; None, if these are computed
    late: tuple[LateGraph, ...] = ()
    components: Components | None = None  # of SASE+
