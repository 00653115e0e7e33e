"""A compiled file of EP-SPARQL: a network of temporal joins (Section 4.2), and the chains of SEQs that policies act
on. Immutable."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Exists, Expression, Variable
from thence.algebra.patterns import Graph, GroupKey, PathPattern, Pattern, Select, TriplePattern, Values
from thence.algebra.streams import Stream
from thence.algebra.variables import mentioned
from thence.interface.operator import Feature, Order, ShardKey, TieOrder
from thence.interface.output import Output
from thence.interface.tables import Table
from thence.rdf.terms import Term
from thence.relation.interval_table import UNBOUNDED, IntervalTable, Relation, empty

# A network of temporal joins: the algebra of EP-SPARQL (Section 4.2), compiled. Immutable.
#
# A node emits solutions ⟨μ, tα, tω⟩. `variables` are the columns of μ; `places` are the triple patterns whose events a
# solution lists, in the order of the text. Nodes are numbered so that a node follows its inputs.


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """The shared variables of two inputs, as column numbers of each; the first `certain` are bound on both sides."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    certain: int


@dataclass(frozen=True, slots=True)
class Merge:
    """The columns of a combination from its two inputs: the left column, or where it is -1 or unbound, the right
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
    (EP-5). `hidden` are columns behind them that a statement's rows do not show and that distinguish them (EP-4)."""

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


def no_rows(node: Node) -> IntervalTable:
    """No solutions of a node."""
    return empty(len(node.variables), len(node.places))


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
    earlier: tuple[int, ...] = ()


DURATION, START_TIME, END_TIME = Variable("getDURATION()"), Variable("getSTARTTIME()"), Variable("getENDTIME()")
"""Variables that stand for the time functions: no query can write such a name."""


# Chains of SEQs, for the policies: which nodes of a network are a chain, and which are its operands (EP-67).


@dataclass(frozen=True, slots=True)
class SeqChain:
    """`E1 SEQ E2 SEQ …` with the filters of its group and those of the groups that are its left operands. `node` emits
    the combinations that pass them."""

    node: int
    operands: tuple[SeqOperand, ...]

    def all(self) -> Iterator[SeqChain]:
        """This chain and the chains inside its operands."""
        yield self
        for operand in self.operands:
            if operand.chain is not None:
                yield from operand.chain.all()


@dataclass(frozen=True, slots=True)
class SeqOperand:
    """One operand. `node` emits its solutions; `chain` is set where it is a chain of its own, which selects too."""

    node: int
    chain: SeqChain | None = None


# How long a group of GROUP BY can gain solutions: one whose key is a time gains none once that time is past (EP-58,
# EP-75).

_TIMES = frozenset({START_TIME, END_TIME})


@dataclass(frozen=True, slots=True)
class GroupLife:
    """How long groups live. `longest`: a group gains no solutions that end later than this after its first start; 0
    means within one instant. `times`: the keys depend on time, so new groups appear for ever."""

    longest: int
    times: bool

    @property
    def grows(self) -> bool:
        """Whether the number of groups grows without bound."""
        return self.times and self.longest == UNBOUNDED


def group_life(nodes: Sequence[Node], node: Summarise) -> GroupLife:
    keys = [_resolved(nodes, node.input, each.expression) for each in node.select.modifiers.group or ()]
    longest = _longest(nodes, node.input)
    asked: frozenset[Variable] = frozenset().union(*map(mentioned, keys))
    times = bool(asked & _TIMES) or (DURATION in asked and longest == UNBOUNDED)
    times |= any(isinstance(each, Variable) and _is_timed(nodes, node.input, each) for each in keys)
    if END_TIME in keys:
        return GroupLife(0, times)
    return GroupLife(longest if START_TIME in keys else UNBOUNDED, times)


def key_name(key: GroupKey) -> Variable | None:
    """The variable that a key of GROUP BY binds."""
    if key.variable is not None:
        return key.variable
    return key.expression if isinstance(key.expression, Variable) else None


def _resolved(nodes: Sequence[Node], number: int, expression: Expression) -> Expression:
    """The expression of a key in the solutions of a node: that of the BIND above them, or the key of a sub-select,
    whose rows start with their first solution and end with their last."""
    node = nodes[number]
    if isinstance(expression, Variable) and expression not in (*node.variables, *_TIMES):
        return expression
    match node:
        case Assign() if node.variable == expression and node.condition.expression is not None:
            return _resolved(nodes, node.input, node.condition.expression)
        case Restrict() | Assign() | Project():
            return _resolved(nodes, node.input, expression)
        case Summarise():
            for key in node.select.modifiers.group or ():
                if key_name(key) == expression:
                    found = _resolved(nodes, node.input, key.expression)
                    return found if found in _TIMES else expression
        case _:
            pass
    return expression


def _longest(nodes: Sequence[Node], number: int) -> int:
    """The longest duration of a node's solutions."""
    found = UNBOUNDED
    while isinstance(node := nodes[number], Restrict | Assign | Project):
        if isinstance(node, Restrict) and node.condition.longest is not None:
            found = min(found, node.condition.longest)
        number = node.input
    return found


def _is_timed(nodes: Sequence[Node], root: int, variable: Variable) -> bool:
    """Whether a BIND or a sub-select somewhere below gives the variable a time."""
    for node in nodes[: root + 1]:
        match node:
            case Assign() if node.variable == variable and node.condition.expression is not None:
                if mentioned(node.condition.expression) & _TIMES:
                    return True
            case Summarise():
                keys = node.select.modifiers.group or ()
                if any(key_name(each) == variable and mentioned(each.expression) & _TIMES for each in keys):
                    return True
            case _:
                pass
    return False


# A compiled file of EP-SPARQL: a `Program` of `thence.interface.operator`.


@dataclass(frozen=True, slots=True, eq=False)
class TemporalProgram:
    """SELECTs of a file with the rules that feed them, or the rules alone."""

    file: RuleFile
    queries: tuple[int, ...]  # the numbers of the SELECTs, from 1; none: the rules are the output
    network: Network
    tables: tuple[Table, ...]
    shard_key: ShardKey
    output: Output
    features: frozenset[Feature]
    streams: tuple[Stream, ...]
    policy: str = "unrestricted"
    chain: SeqChain | None = None  # what the policy selects from; None: it is unrestricted
    rules: Network | None = None  # all rules of the file, where the network has only some: they are checked (EP-53)

    @property
    def query(self) -> int:
        """The number of its first SELECT; 0: the rules are the output."""
        return self.queries[0] if self.queries else 0

    @property
    def namespace(self) -> str:
        return self.file.namespace

    @property
    def constants(self) -> tuple[Term, ...]:
        return ()

    @property
    def waits_for_time(self) -> bool:
        """Bare rows, MINUS, EXISTS, groups, slices, policies and rules that are output wait until their instant is
        closed (EP-43, EP-44). Rows of several SELECTs are not emitted in the order of time."""
        several = len(self.queries) > 1
        return several or self.takes_instants or self.network.by_instant or any(map(_waits, self.network.nodes))

    @property
    def takes_instants(self) -> bool:
        """Whether nothing of an instant is evaluated before it is complete: under a policy, and where it matters which
        triples that rules derive are new: if rules are output (EP-43), or if each new one is an event of its own, in
        which a path may match (EP-63)."""
        return self.chain is not None or not self.queries or self._has_paths_beside_rules

    @property
    def _has_paths_beside_rules(self) -> bool:
        rules = any(statement.is_rule for statement in self.network.statements)
        return rules and any(isinstance(node, PathScan) for node in self.network.nodes)

    @property
    def ends_with_input(self) -> bool:
        return False

    @property
    def broadcasts_times(self) -> bool:
        return False

    @property
    def tie_order(self) -> TieOrder:
        """SOURCE: an occurrence lists (EP-81) and consumes (EP-72) its first event. Other rows do not wait for events
        that may come before those that are there."""
        return TieOrder.COMPLETE if self.takes_instants else TieOrder.SOURCE

    @property
    def order(self) -> Order:
        """Its definitions compare intervals, which have an order of their own (C-12)."""
        return ()

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        return tuple(
            node.pattern
            for node in self.network.nodes
            if isinstance(node, Timeless) and isinstance(node.pattern, Graph)
        )

    def fingerprint(self) -> str:
        return _fingerprint(self)


def _waits(node: object) -> bool:
    match node:
        case OptionalCombine() | Without() | Summarise():
            return True
        case Restrict() | Assign():
            return bool(node.condition.exists)
        case _:
            return False


@lru_cache(maxsize=16)
def _fingerprint(program: TemporalProgram) -> str:
    described = (program.file.statements, program.queries, program.network, program.tables, program.policy)
    return hashlib.sha256(repr((described, program.shard_key)).encode()).hexdigest()
