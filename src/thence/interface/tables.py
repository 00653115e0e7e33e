"""Tables to extract from each event: graph patterns, attributes or triples; and the names of their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Pattern, TriplePattern
from thence.algebra.streams import Name
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI

# Tables, which a program extracts from each event: graph patterns, attributes, or triples.

KeyPositions: TypeAlias = tuple[tuple[IRI, Variable], ...]
"""The position of the shard key in triples of each predicate: SUBJECT or OBJECT."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One test of a typed event: it must have the type, a value for each key in `present`, and pass the predicates."""

    type: Name | None
    present: tuple[Variable, ...]
    predicates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attributes:
    """Attributes of typed events: their values, keys as equality compares them, and which of `fits` each event passes,
    a bit for each. A key is an attribute, or the number of the predicate that computes it. `all_count`: events that
    pass none of `fits` are extracted too. `predicates` read one event alone; `image` is their compiled form."""

    names: tuple[Name, ...]
    keys: tuple[tuple[Variable, Name | int], ...]
    fits: tuple[Fit, ...]
    all_count: bool
    namespace: str = field(default=DEFAULT_NAMESPACE)
    predicates: tuple[Expression, ...] = ()
    image: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AllTriples:
    """The triples of each event, in document order, as rows of SUBJECT, PREDICATE and OBJECT. An event with a predicate
    in `rejected` is bad, unless the predicate is in `open` too and the background has it (TEF-4, TEF-10). With `keys`,
    only triples of these predicates are extracted, with a further column KEY: the subject or the object, as `keys` says
    for the predicate."""

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
    """The values to extract from each event of a stream: the solutions of a graph pattern, attributes of typed events,
    triples, or triples with what they entail; and the columns that are wanted. Patterns that differ only in the names
    of their variables share one table. The last columns may be the times of the event, `start` and `end`."""

    stream: str
    pattern: Pattern | Attributes | AllTriples | EntailedTriples
    variables: tuple[Variable, ...]
    start: Variable | None = None
    end: Variable | None = None


# Columns of extracted typed events, and slots that hold their values: variables that no query's text can name,
# distinguished by their classes.


@dataclass(frozen=True, slots=True)
class AttributeVariable(Variable):
    """The column of an attribute in a predicate that may also read a state's slots."""

    attribute: Name


@dataclass(frozen=True, slots=True)
class EventVariable(Variable):
    """An attribute of an event in a predicate that reads this event alone."""

    attribute: Name


def attribute(name: Name) -> AttributeVariable:
    return AttributeVariable(str(name), name)


def of_event(name: Name) -> EventVariable:
    return EventVariable(str(name), name)
