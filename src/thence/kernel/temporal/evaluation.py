"""Evaluates a network: the statements in order, each node after its inputs; rules to their fixpoint (EP-46 – EP-54)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from thence.algebra.expressions import Variable
from thence.columns.dictionary import UNBOUND
from thence.errors import LimitError
from thence.kernel.temporal.conditions import Scope
from thence.kernel.temporal.filters import ConditionState, ProjectState, either
from thence.kernel.temporal.interval_table import NO_END, IntervalTable, Ints, concatenated, no_rows
from thence.kernel.temporal.joins import CombineState, OptionalState, WithoutState
from thence.kernel.temporal.leaves import (
    LeafState,
    PathGraphs,
    TripleBatch,
    appended_triples,
    background_pairs,
    joined_triples,
    path_solutions,
    scanned_triples,
    timeless_solutions,
)
from thence.kernel.temporal.rules import Derived, derive
from thence.kernel.temporal.summaries import SummaryState
from thence.match.rdfs_columns import SchemaColumns
from thence.program.temporal.network import (
    Assign,
    Combine,
    Either,
    Network,
    Node,
    OptionalCombine,
    PathScan,
    Project,
    Restrict,
    Scan,
    Statement,
    Summarise,
    Timeless,
    Without,
)

NodeState = CombineState | OptionalState | WithoutState | ConditionState | ProjectState | SummaryState | LeafState

MAX_ROUNDS = 1000
"""Of rules at one time (EP-54)."""


def inputs_of(node: Node) -> tuple[int, ...]:
    """The nodes whose solutions a node reads, in the order of its deltas."""
    match node:
        case Scan() | PathScan() | Timeless():
            return ()
        case Combine() | Either() | Without():
            return (node.left, node.right)
        case OptionalCombine():
            tests = () if node.condition is None else node.condition.exists
            return (node.mandatory, node.optional, *(test.node for test in tests))
        case Restrict() | Assign():
            return (node.input, *(test.node for test in node.condition.exists))
        case Project() | Summarise():
            return (node.input,)


def subtree(nodes: Sequence[Node], root: int) -> list[int]:
    """A node and all below it, ascending."""
    found, waiting = {root}, [root]
    while waiting:
        node = nodes[waiting.pop()]
        below = (
            [*inputs_of(node), *(number for _, number in node.exists)]
            if isinstance(node, Summarise)
            else inputs_of(node)
        )
        waiting += [each for each in below if each not in found]
        found |= set(below)
    return sorted(found)


def state_of(number: int, nodes: Sequence[Node], *, logged: bool = False) -> NodeState | None:
    """The state of a node before any solution; None for a node without state."""
    node = nodes[number]
    match node:
        case Scan() | PathScan():
            return LeafState.of(node, logged=logged)
        case Combine():
            return CombineState.of(node, nodes[node.left], nodes[node.right])
        case OptionalCombine():
            return OptionalState.of(node, nodes)
        case Without():
            return WithoutState.of(node, nodes[node.right])
        case Restrict() | Assign():
            return ConditionState.of(node, nodes)
        case Project():
            return ProjectState.of(node)
        case Summarise():
            return SummaryState.of(node, nodes[node.input])
        case Timeless() | Either():
            return None


def evaluated_anew(nodes: Sequence[Node]) -> frozenset[int]:
    """The leaves below an EXISTS that is evaluated anew for each solution: their occurrences are logged."""
    found: set[int] = set()
    for node in nodes:
        roots: list[int] = []
        match node:
            case Restrict() | Assign() | OptionalCombine() if node.condition is not None:
                roots = [test.node for test in node.condition.exists if test.correlated]
            case Summarise():
                roots = [number for _, number in node.exists]
            case _:
                pass
        found.update(each for root in roots for each in subtree(nodes, root))
    return frozenset(found)


@dataclass(slots=True)
class Inbox:
    """What a statement has yet to read: rows of its scans, and triples for all of its leaves. `first`: it has not run
    yet, so that its timeless leaves are new too."""

    rows: dict[int, IntervalTable] = field(default_factory=dict)
    triples: list[TripleBatch] = field(default_factory=list)
    first: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.first and not self.rows and not self.triples


@dataclass(slots=True)
class Evaluation:
    """A network with the states of its nodes, and what they are evaluated in."""

    network: Network
    states: list[NodeState | None]
    scope: Scope
    graphs: PathGraphs
    inboxes: list[Inbox]
    max_rounds: int = MAX_ROUNDS
    schema: SchemaColumns | None = None

    def entailed(self, triples: TripleBatch) -> TripleBatch:
        """Triples with all that they entail, at their own intervals (EP-57)."""
        if self.schema is None or not len(triples):
            return triples
        found = self.schema.inferred(triples.subjects, triples.predicates, triples.objects)
        inferred = replace(
            triples.take(found.rows), subjects=found.subjects, predicates=found.predicates, objects=found.objects
        )
        return appended_triples(triples, inferred)

    # One statement

    def run(self, number: int, closed: int) -> IntervalTable:
        """The new solutions of a statement, from what is in its inbox and from what is closed."""
        statement, inbox = self.network.statements[number], self.inboxes[number]
        self.inboxes[number] = Inbox()
        batch = joined_triples(inbox.triples) if inbox.triples else None
        return self._pass(range(statement.first, statement.root + 1), inbox, batch, closed)

    def _pass(self, numbers: Sequence[int], inbox: Inbox, batch: TripleBatch | None, closed: int) -> IntervalTable:
        nodes, deltas = self.network.nodes, dict[int, IntervalTable]()
        for number in numbers:
            node, state = nodes[number], self.states[number]
            below = [deltas[each] for each in inputs_of(node)]
            match state:
                case None if isinstance(node, Either):
                    found = either(node, nodes, below)
                case None:
                    assert isinstance(node, Timeless)
                    found = timeless_solutions(node, self.scope) if inbox.first else no_rows(node)
                case LeafState():
                    found = state.step(self._leaf(number, inbox, batch))
                case CombineState() | WithoutState() | ProjectState():
                    found = state.step(below, closed, self.scope)
                case _:
                    found = state.step(below, closed, self.scope, self)
            deltas[number] = found
        return deltas[numbers[-1]]

    def _leaf(self, number: int, inbox: Inbox, batch: TripleBatch | None) -> IntervalTable:
        node = self.network.nodes[number]
        assert isinstance(node, Scan | PathScan)
        parts = [inbox.rows.get(number, no_rows(node))]
        if isinstance(node, PathScan):
            if inbox.first:
                parts.append(background_pairs(node, self.graphs, self.scope))
            if batch is not None:
                timed = batch.take(batch.end != NO_END)
                parts.append(path_solutions(node, timed, self.graphs, self.scope))
        elif batch is not None:
            parts.append(scanned_triples(node.pattern, node.variables, batch, self.scope.terms))
        return concatenated(parts)

    # EXISTS

    def has_solution(self, node: int, outer: Mapping[Variable, int], until: int) -> bool:
        """Whether a pattern has a solution that ends by a time, with terms put in for its variables (18.6)."""
        nodes = self.network.nodes
        numbers = subtree(nodes, node)
        inner = replace(
            self,
            states=[state_of(each, nodes) if each in numbers else None for each in range(len(nodes))],
            scope=replace(self.scope, outer=outer),
            inboxes=[],
        )
        rows = {}
        for each in numbers:
            state = self.states[each]
            if isinstance(state, LeafState):
                assert state.log is not None, "the occurrences of such a leaf are logged"
                rows[each] = _restricted(state.log.take(state.log.end <= until), nodes[each].variables, outer)
        found = inner._pass(numbers, Inbox(rows, first=True), None, closed=2**63 - 1)
        found = _restricted(found.take(found.end <= until), nodes[node].variables, outer)
        return bool(len(found))

    # All statements

    def bulk(self, closed: int) -> list[tuple[int, IntervalTable]]:
        """Each statement once, after the rules that it reads: the solutions of SELECTs, by statement."""
        found = []
        for number, statement in enumerate(self.network.statements):
            rows = self.run(number, closed)
            if statement.is_rule:
                self._feed(derive(statement, self.network.nodes[statement.root], rows, self.scope).triples)
            else:
                found.append((number, rows))
        return found

    def instant(self, time: int, closed: int) -> list[tuple[int, IntervalTable, Derived | None]]:
        """All statements at one time: strata in order, each to its fixpoint. What ends before `closed` is final."""
        found: list[tuple[int, IntervalTable, Derived | None]] = []
        strata = sorted({statement.stratum for statement in self.network.statements})
        rounds, again = 0, True
        while again:
            for stratum in strata:
                own = [n for n, each in enumerate(self.network.statements) if each.stratum == stratum]
                active = True
                while active:
                    rounds += 1
                    derived = [self._evaluated(number, closed) for number in own]
                    found += [each for each in derived if len(each[1])]
                    for _, _, made in derived:
                        if made is not None:
                            self._feed(made.triples)
                    active = any(not self.inboxes[number].is_empty for number in own)
                    if active and rounds > self.max_rounds:
                        raise self._too_many(derived)
            again = any(not inbox.is_empty for inbox in self.inboxes)
        return found

    def _evaluated(self, number: int, closed: int) -> tuple[int, IntervalTable, Derived | None]:
        statement = self.network.statements[number]
        rows = self.run(number, closed)
        if not statement.is_rule:
            return number, rows, None
        return number, rows, derive(statement, self.network.nodes[statement.root], rows, self.scope)

    def _feed(self, triples: TripleBatch) -> None:
        """Give derived triples to all statements that may read them."""
        triples = self.entailed(triples)
        if len(triples):
            for number, statement in enumerate(self.network.statements):
                if any(isinstance(node, Scan | PathScan) for node in self._nodes(statement)):
                    self.inboxes[number].triples.append(triples)

    def _nodes(self, statement: Statement) -> Sequence[Node]:
        return self.network.nodes[statement.first : statement.root + 1]

    def _too_many(self, derived: Sequence[tuple[int, IntervalTable, Derived | None]]) -> LimitError:
        number = next(n for n, _, made in derived if made is not None and len(made.triples))
        rule = self.network.statements[number].number
        return LimitError(
            f"CONSTRUCT {rule} of the file still derives new triples after {self.max_rounds:,} rounds at one time. "
            "Try: a rule that ends, or a larger max_rounds="
        )

    def evict(self, closed: int) -> None:
        for state in self.states:
            if state is not None:
                state.evict(closed)


def _restricted(rows: IntervalTable, variables: Sequence[Variable], outer: Mapping[Variable, int]) -> IntervalTable:
    """Rows that are compatible with what was put in."""
    mask = np.ones(len(rows), np.bool_)
    for place, name in enumerate(variables):
        if name in outer:
            mask &= (rows.ids[place] == outer[name]) | (rows.ids[place] == UNBOUND)
    return rows.take(mask)


def instants_of(tables: Sequence[Ints]) -> list[int]:
    return sorted(set().union(*(np.unique(ends).tolist() for ends in tables)))
