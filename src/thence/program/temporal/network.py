"""A network of temporal joins: the algebra of EP-SPARQL (Section 4.2), compiled. Immutable.

A node emits solutions ⟨μ, tα, tω⟩. `variables` are the columns of μ; `places` are the triple patterns whose events a
solution lists, in the order of the text. Nodes are numbered so that a node follows its inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from thence.algebra.expressions import Exists, Expression, Variable
from thence.algebra.patterns import Graph, PathPattern, Select, TriplePattern, Values

UNBOUNDED: Final = 2**63 - 1
"""How long solutions may last where nothing bounds it."""


class Relation(IntEnum):
    """How the intervals of two joined solutions must relate, by the rule that says so."""

    ANY = 0  # Join
    SEQ = 1  # tω < t'α (EP-18)
    EQUALS = 2  # both ends equal (EP-19)
    UNTIL = 3  # t'ω ≤ tω: the right one ends no later than the left one (EP-24, EP-26)
    SEQ_UNTIL = 4  # of OPTIONALSEQ: SEQ, and t'ω ≤ tω where the mandatory side is timeless (EP-25)


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """The shared variables of two inputs, as column numbers of each; the first `certain` are bound on both sides."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    certain: int


@dataclass(frozen=True, slots=True)
class Merge:
    """How the columns of a combination come from two inputs: the left column, or where it is -1 or unbound, the right
    one."""

    left: tuple[int, ...]
    right: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExistsTest:
    """An EXISTS inside an expression. `flag` stands for it there. `node` emits the solutions of its pattern; a
    `correlated` pattern is evaluated for each solution under test, whose terms replace its variables."""

    flag: Variable
    node: int
    keys: JoinKeys
    correlated: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression over a node's solutions; None is true. Its time functions and EXISTS are variables (DURATION and
    the like, `flag`). What a FILTER says of getDURATION() alone is `shortest` and `longest`, both inclusive: a solution
    must have a time, and last so long (EP-74)."""

    expression: Expression | None
    exists: tuple[ExistsTest, ...] = ()
    shortest: int | None = None
    longest: int | None = None

    @property
    def bounds_duration(self) -> bool:
        return self.shortest is not None or self.longest is not None


@dataclass(frozen=True, slots=True)
class Scan:
    """The occurrences of a triple pattern (EP-2), each once. `table` is the number of the program's table that extracts
    them; `columns` are those of the table that the variables are in."""

    pattern: TriplePattern
    variables: tuple[Variable, ...]
    places: tuple[int, ...]
    table: int
    columns: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class PathScan:
    """A path with `*`, `+` or `?`: its pairs within one event and the background (EP-63)."""

    pattern: PathPattern
    variables: tuple[Variable, ...]
    places: tuple[int, ...]
    table: int


@dataclass(frozen=True, slots=True)
class Timeless:
    """Solutions without a time: GRAPH, VALUES, the empty group (EP-35)."""

    pattern: Graph | Values
    variables: tuple[Variable, ...]
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Combine:
    """Join, SeqJoin and EqJoin: compatible pairs whose intervals are related."""

    relation: Relation
    left: int
    right: int
    keys: JoinKeys
    merge: Merge
    variables: tuple[Variable, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OptionalCombine:
    """LeftJoin, SeqRightJoin and EqLeftJoin: pairs that pass the condition F, and mandatory solutions that have none,
    bare (EP-20 – EP-25). `keys` and `merge` are of the mandatory side and the optional side, in this order, except that
    `optional_first` lists the optional side's events first."""

    relation: Relation
    mandatory: int
    optional: int
    keys: JoinKeys
    merge: Merge
    condition: Condition | None
    optional_first: bool
    variables: tuple[Variable, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """MINUS: left solutions that no compatible right one with a shared variable ends no later than (EP-26)."""

    left: int
    right: int
    keys: JoinKeys
    variables: tuple[Variable, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Restrict:
    """FILTER."""

    input: int
    condition: Condition
    variables: tuple[Variable, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """BIND: an error leaves the variable unbound."""

    input: int
    variable: Variable
    condition: Condition
    variables: tuple[Variable, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """UNION: each arm keeps its own interval (EP-28). `columns` has, for each arm, the column of each variable, or
    -1."""

    left: int
    right: int
    columns: tuple[tuple[int, ...], tuple[int, ...]]
    variables: tuple[Variable, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """SELECT without groups and slices: columns, -1 for one that is never bound, and DISTINCT over values and interval
    (EP-5). `hidden` are columns behind them that a statement's rows do not show and that tell them apart (EP-4)."""

    input: int
    columns: tuple[int, ...]
    distinct: bool
    variables: tuple[Variable, ...]
    places: tuple[int, ...]
    hidden: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Summarise:
    """SELECT with groups, ORDER BY, OFFSET or LIMIT: rows of each instant, once it is closed (EP-58, EP-62). `exists`
    has the node of each EXISTS in its expressions; `aggregates`: it has groups."""

    input: int
    select: Select
    exists: tuple[tuple[Exists, int], ...]
    aggregates: bool
    variables: tuple[Variable, ...]
    places: tuple[int, ...]


Node: TypeAlias = (
    Scan | PathScan | Timeless | Combine | OptionalCombine | Without | Restrict | Assign | Either | Project | Summarise
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A SELECT, or a CONSTRUCT with its `template`: the nodes from `first` to `root`, which is the last. `number` is
    its place among the SELECTs or among the rules, from 1. `known` are scans of the template, where only new triples
    are emitted (EP-49); `stratum` is when it is evaluated at each instant (EP-50)."""

    number: int
    first: int
    root: int
    template: tuple[TriplePattern, ...] | None = None
    known: tuple[int, ...] = ()
    stratum: int = 0

    @property
    def is_rule(self) -> bool:
        return self.template is not None


@dataclass(frozen=True, slots=True)
class Network:
    """`statements` are in the order of evaluation. `by_instant`: a rule may read what it derives, or it matters in
    which round a triple is derived; instants are then evaluated one by one, each to its fixpoint."""

    nodes: tuple[Node, ...]
    statements: tuple[Statement, ...]
    by_instant: bool
    bounds: tuple[int, ...] = ()  # of each node: solutions that last longer are of no use (EP-74 – EP-77)
    triples_table: int = -1  # the number of the table of whole triples; -1: there is none
    reasoning: bool = False


DURATION, START_TIME, END_TIME = Variable("getDURATION()"), Variable("getSTARTTIME()"), Variable("getENDTIME()")
"""Variables that stand for the time functions: no query can write such a name."""
