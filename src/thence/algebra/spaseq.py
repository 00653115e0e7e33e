"""The algebra of SPAseQ: graph pattern matching expressions (GPMs) and the sequence of them (Definition
4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import product
from typing import TypeAlias, assert_never

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Graph, Join, Pattern, TriplePattern
from thence.algebra.streams import Stream, Window, window_text
from thence.algebra.variables import always_bound, in_scope
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.times import Domain


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
    """An operand with its unary operator, and the selection that is before it (None for the first part).

    `demands` are conditions of later parts that can be tested as soon as this part has joined: a run that fails them is
    dropped. They do not influence which events are chosen. Only a rule adds them; they have no syntax.
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

    Aggregates are in the expression as `AggregateVariable`s, which `aggregates` explains; through all columns of a
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
    """A SPAseQ query: Q = (V, ω, SeqExp). Warnings list likely mistakes with their places in a text, so queries that
    differ only in them are equal. `namespace` is the namespace of the bare names of typed events; the query's own names
    are already complete."""

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
        """The kind of time that WITHIN demands."""
        return None if self.window is None else (self.window.span.domain, window_text(self.window))


# Facts derived from a SPAseQ sequence: its arms, the local variables of closures, the variables of GPMs.

Arm: TypeAlias = tuple[SequencePart, ...]
"""A sequence without `?`. Its first part has no selection."""


def occurrences(operand: Operand) -> tuple[Occurrence, ...]:
    """The GPM names of an operand, in the order of the text.

    >>> [found.gpm for found in occurrences(Conjunction(Occurrence("A", 0), Occurrence("B", 1)))]
    ['A', 'B']
    """
    found: list[Occurrence] = []
    waiting = [operand]
    while waiting:
        node = waiting.pop()
        match node:
            case Occurrence():
                found.append(node)
            case Conjunction() | Disjunction():
                waiting += [node.right, node.left]
            case _:
                assert_never(node)
    return tuple(found)


def alternatives(operand: Operand) -> list[tuple[Occurrence, ...]]:
    """An operand as a disjunction of conjunctions (SPAseQ, Definitions 8, 9).

    >>> a, b, c = (Occurrence(name, place) for place, name in enumerate("ABC"))
    >>> [[found.gpm for found in each] for each in alternatives(Conjunction(Disjunction(a, b), c))]
    [['A', 'C'], ['B', 'C']]
    """
    match operand:
        case Occurrence():
            return [(operand,)]
        case Disjunction():
            return alternatives(operand.left) + alternatives(operand.right)
        case Conjunction():
            pairs = product(alternatives(operand.left), alternatives(operand.right))
            return [left + right for left, right in pairs]
        case _:
            assert_never(operand)


def last_places(operand: Operand) -> frozenset[int]:
    """The places whose event is the last of a match of the operand, in the order of the text: it ends an iteration.

    >>> sorted(last_places(Conjunction(Occurrence("A", 0), Disjunction(Occurrence("B", 1), Occurrence("A", 2)))))
    [1, 2]
    """
    match operand:
        case Occurrence():
            return frozenset({operand.place})
        case Conjunction():
            return last_places(operand.right)
        case Disjunction():
            return last_places(operand.left) | last_places(operand.right)
        case _:
            assert_never(operand)


def variables_of(gpm: Gpm) -> tuple[Variable, ...]:
    """The variables that a GPM may bind: those of its graph pattern, then those of its GRAPH blocks, each once. Filters
    bind nothing."""
    blocks = (variable for graph in gpm.graphs for variable in in_scope(graph))
    return tuple(dict.fromkeys((*in_scope(gpm.pattern), *blocks)))


def whole_pattern(gpm: Gpm) -> Pattern:
    """A GPM's graph pattern joined with its GRAPH blocks (Definition 15)."""
    pattern: Pattern = gpm.pattern
    for block in gpm.graphs:
        pattern = Join(pattern, block)
    return pattern


def certain_in(query: SequenceQuery, operand: Operand) -> frozenset[Variable]:
    """The variables that every match of an operand binds."""
    return frozenset[Variable].intersection(
        *(
            frozenset[Variable]().union(*(always_bound(whole_pattern(query.gpm(found.gpm))) for found in alternative))
            for alternative in alternatives(operand)
        )
    )


def arms(query: SequenceQuery) -> tuple[Arm, ...]:
    """`B?`: all combinations, with and without; a dropped part takes the operator to its left with it (to its right, if
    it is first). Arms without parts are left out. Occurrences keep their places.

    >>> from thence.lang.spaseq.parser import parse
    >>> query = parse('''SELECT * WITHIN 9 TICKS FROM STREAM S <x:s>
    ...     { SEQ (A? ; B , C?) DEFINE GPM A ON S { ?a <x:a> 1 } DEFINE GPM B ON S { ?b <x:b> 1 }
    ...       DEFINE GPM C ON S { ?c <x:c> 1 } }''')
    >>> [[part.operand.gpm for part in arm] for arm in arms(query)]
    [['A', 'B', 'C'], ['A', 'B'], ['B', 'C'], ['B']]
    """
    choices = [_choices(part) for part in query.sequence]
    combined = (tuple(part for chosen in choice for part in chosen) for choice in product(*choices))
    return tuple((replace(first, selection=None), *rest) for first, *rest in filter(None, combined))


def _choices(part: SequencePart) -> tuple[Arm, ...]:
    if part.quantifier is Quantifier.OPTIONAL:
        return ((replace(part, quantifier=Quantifier.ONE),), ())
    return ((part,),)


def locals_of(query: SequenceQuery, place: int) -> frozenset[Variable]:
    """The locals of the closure in which the occurrence of that place is; none, if it is in no closure.

    A variable is local to a closure if it is in the graph pattern or GRAPH block of no GPM outside its operand, in
    the query as written; each occurrence of a GPM's name counts, negated ones too. A run has one partition, so what it
    is partitioned by is local to nothing.
    """
    closure = next(part for part in query.sequence if any(found.place == place for found in occurrences(part.operand)))
    if closure.quantifier is not Quantifier.PLUS:
        return frozenset()
    inside = bound_by(query, [closure])
    return inside - bound_by(query, (part for part in query.sequence if part is not closure)) - {*query.partition}


def bound_by(query: SequenceQuery, parts: Iterable[SequencePart]) -> frozenset[Variable]:
    """The variables of all GPMs that are in these parts."""
    names = {found.gpm for part in parts for found in occurrences(part.operand)}
    return frozenset(variable for name in names for variable in variables_of(query.gpm(name)))
