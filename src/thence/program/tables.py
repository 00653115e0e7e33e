"""What a program asks to be extracted from each event: graph patterns, attributes, or triples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Pattern, TriplePattern
from thence.algebra.sase import Name
from thence.rdf.terms import IRI
from thence.rdf.typed_events import DEFAULT_NAMESPACE

KeyPositions: TypeAlias = tuple[tuple[IRI, Variable], ...]
"""By predicate where the shard key of its triples is: SUBJECT or OBJECT."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What an event must have to be taken for something: a type, keys that have a value, predicates that hold."""

    type: Name | None
    present: tuple[Variable, ...]
    predicates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attributes:
    """Attributes of typed events: their values, keys as equality compares them, and what each event can be taken for, a
    bit for each of `fits`. A key is an attribute, or the number of the predicate that computes it. `all_count`: events
    that fit nothing are extracted too. `predicates` are what is asked of an event alone, and `image` is their code."""

    names: tuple[Name, ...]
    keys: tuple[tuple[Variable, Name | int], ...]
    fits: tuple[Fit, ...]
    all_count: bool
    namespace: str = field(default=DEFAULT_NAMESPACE)
    predicates: tuple[Expression, ...] = ()
    image: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AllTriples:
    """The triples of each event themselves, in document order, as rows of SUBJECT, PREDICATE and OBJECT. An event with
    a predicate that is `rejected` is a bad one (TEF-10), unless it is `open` and the background has it, which makes it
    static (TEF-4). With `keys`, only triples of these predicates, and beside them
    KEY: the subject or the object, as their predicate says."""

    rejected: tuple[IRI, ...] = ()
    open: tuple[IRI, ...] = ()
    keys: KeyPositions = ()


@dataclass(frozen=True, slots=True)
class EntailedTriples:
    """The triples of each event, and those that they entail under the background's schema (EP-57), that match a
    pattern. A triple may come twice, if an event has it and entails it."""

    pattern: TriplePattern


SUBJECT, PREDICATE, OBJECT = Variable("subject"), Variable("predicate"), Variable("object")
KEY = Variable("key")
TRIPLE_COLUMNS = (SUBJECT, PREDICATE, OBJECT)
"""The columns of a table of triples."""


@dataclass(frozen=True, slots=True)
class Table:
    """What to extract from each event of a stream: the solutions of a graph pattern (SPAseQ, Definition 7), attributes
    of typed events, triples and what they entail, or the triples themselves; and the columns that are wanted. Patterns
    that differ in the names of their variables alone share one table."""

    stream: str
    pattern: Pattern | Attributes | AllTriples | EntailedTriples
    variables: tuple[Variable, ...]
