"""A compiled SPAseQ query: what the matcher is asked, what the machine runs, and what its slots mean. Immutable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Pattern
from thence.algebra.sequences import SequenceQuery
from thence.program.automaton import Automaton
from thence.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class Source:
    """A GPM as the graph matcher is asked it, event by event (Definition 7)."""

    gpm: str
    stream: str
    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """The rows of one alternative of an operand: matches of its sources at one time, joined (Definition 8)."""

    sources: tuple[int, ...]
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SequenceProgram:
    query: SequenceQuery
    sources: tuple[Source, ...]
    inputs: tuple[Input, ...]
    negated: tuple[int, ...]  # inputs that guards look at
    partitions: tuple[Source, ...]  # what says which partitions an event is in; empty: contiguity is over all events
    slots: tuple[Variable, ...]  # those of a run, then those that negated parts use
    iterated: tuple[Variable, ...]
    predicates: tuple[Expression, ...]
    constants: tuple[Term, ...]  # the first entries of every state's dictionary, in this order
    automaton: Automaton
    image: NDArray[np.int64]  # the same, as the machine reads it
