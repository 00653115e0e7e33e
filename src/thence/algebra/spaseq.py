"""The algebra of SPAseQ: graph pattern matching expressions (GPMs) and the sequence of them (Definition
4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Graph, Pattern, TriplePattern
from thence.algebra.streams import Stream, Window
from thence.rdf.times import Domain
from thence.rdf.typed_events import DEFAULT_NAMESPACE


class Selection(Enum):
    """How the next event is chosen: the event selection strategies (Definitions 10-12)."""

    STRICT = ","  # strict contiguity: nothing in between, on any stream
    NEXT = ";"  # skip-till-next: the earliest that joins
    ANY = ":"  # skip-till-any: every one that joins


class Quantifier(Enum):
    """The unary operators of a part of the sequence."""

    ONE = ""
    PLUS = "+"  # Kleene closure (Definitions 13, 14)
    OPTIONAL = "?"
    NOT = "!"  # negation: no such event in the gap


@dataclass(frozen=True, slots=True)
class Gpm:
    """`DEFINE GPM name ON stream { … }`: (u, P), with the filters and GRAPH blocks of its top level apart (Definitions
    7, 15).

    `pattern` sees one event alone; `graphs` join with it; `filters` are checked when the GPM joins a run, and may name
    variables of earlier parts.
    """

    name: str
    stream: str
    pattern: Pattern
    graphs: tuple[Graph, ...] = ()
    filters: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A GPM's name in the sequence. `place` numbers the occurrences in the order of the text, from 0."""

    gpm: str
    place: int


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`left & right`: both at the same time (Definition 8)."""

    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Disjunction:
    """`left | right`: either (Definition 9)."""

    left: Operand
    right: Operand


Operand: TypeAlias = Occurrence | Conjunction | Disjunction


@dataclass(frozen=True, slots=True)
class SequencePart:
    """An operand with its unary operator, and the selection that stands before it (None for the first part).

    `demands` are what a later part will ask of a run and what is known as soon as this one has joined: a run that fails
    them is dropped then. They say nothing about which events are chosen. No text has them; a rule adds them.
    """

    selection: Selection | None
    operand: Operand
    quantifier: Quantifier = Quantifier.ONE
    demands: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class LateGraph:
    """A GRAPH block that is joined with the complete matches in which the occurrence at `place` has an event
    (Definition 15). No text has it; a rule moves it here from its GPM."""

    place: int
    block: Graph


class IterationFunction(Enum):
    """Aggregates over the iterations of a Kleene closure."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"
    FIRST = "FIRST"
    LAST = "LAST"
    COLLECT = "COLLECT"
    SAMPLE = "SAMPLE"
    GROUP_CONCAT = "GROUP_CONCAT"


@dataclass(frozen=True, slots=True)
class IterationAggregate:
    """`COUNT(B)`, where B is a GPM under `+`, or an aggregate of a closure's local variable over its iterations, in
    order."""

    function: IterationFunction
    of: Variable | str  # a local variable, or (COUNT only) a GPM's name
    distinct: bool = False
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class AggregateVariable(Variable):
    """Stands for an aggregate in an expression. No text can name it."""


@dataclass(frozen=True, slots=True)
class SelectColumn:
    """A column of SELECT: `?v`, `(expression AS ?v)`. An expression may name the columns to its left.

    Aggregates stand in the expression as `AggregateVariable`s, which `aggregates` explains; through all columns of a
    query one variable is one aggregate.
    """

    variable: Variable
    expression: Expression | None = None
    aggregates: tuple[tuple[Variable, IterationAggregate], ...] = ()


@dataclass(frozen=True, slots=True)
class SelectRows:
    """`SELECT`; `*` is resolved when the query is read, and without variables there may be no columns at all."""

    columns: tuple[SelectColumn, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class ConstructEvents:
    """`CONSTRUCT { … }`: one event a row."""

    template: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class SequenceQuery:
    """A SPAseQ query: Q = (V, ω, SeqExp). Warnings say what is legal and hardly meant; they name places in a text, and
    the same query may stand in another one. `namespace` is that of the bare names of typed events; the query's own
    names are whole already."""

    form: SelectRows | ConstructEvents
    streams: tuple[Stream, ...]
    sequence: tuple[SequencePart, ...]
    gpms: tuple[Gpm, ...]
    window: Window | None = None
    partition: tuple[Variable, ...] = ()
    late: tuple[LateGraph, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)
    namespace: str = field(default=DEFAULT_NAMESPACE, compare=False)

    def gpm(self, name: str) -> Gpm:
        """The GPM of that name."""
        return next(gpm for gpm in self.gpms if gpm.name == name)

    @property
    def time_kind(self) -> tuple[Domain, str] | None:
        """As `algebra.query_algebra` has it."""
        from thence.algebra.show_spaseq import window_text  # which shows what is defined here

        return None if self.window is None else (self.window.span.domain, window_text(self.window))
