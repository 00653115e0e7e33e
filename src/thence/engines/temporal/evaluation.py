"""Evaluates a network: the statements in order, each node after its inputs; CONSTRUCT rules to their fixpoint (EP-46
to EP-54)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.patterns import PatternTerm
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_kinds import BLANK, IRI_, KIND_MASK
from thence.engines.temporal.conditions import ConditionState, ProjectState, Scope, either, makes_nodes
from thence.engines.temporal.joins import CombineState, OptionalState, WithoutState
from thence.engines.temporal.leaves import (
    LeafState,
    OccurrenceState,
    PathGraphs,
    TripleBatch,
    appended_triples,
    background_pairs,
    derived_triples,
    joined_triples,
    no_triples,
    not_among,
    path_solutions,
    scanned_triples,
    timeless_solutions,
)
from thence.engines.temporal.program import (
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
    no_rows,
)
from thence.engines.temporal.summaries import SummaryState
from thence.errors import LimitError
from thence.interface.operator import NEVER
from thence.match.rdfs_columns import SchemaColumns
from thence.rdf.terms import IRI, BlankNode
from thence.rdf.values import SortKey, total_key
from thence.relation.interval_table import (
    ABSENT,
    DERIVED,
    NO_END,
    NO_EVENT,
    UNBOUNDED,
    IntervalTable,
    concatenated,
    durations,
    empty,
    first_of_each,
)

# CONSTRUCT rules: the triples that a solution adds to the stream (Section 4.2, Q-closure; EP-46 – EP-49).


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """The triples of some solutions; `rows` says which solution each triple is of."""

    triples: TripleBatch
    rows: NDArray[np.int64]

    def take(self, places: NDArray[np.int64]) -> Derived:
        return Derived(self.triples.take(places), self.rows[places])


def by_position(rows: IntervalTable, made: Derived, variables: Sequence[Variable], terms: Terms) -> NDArray[np.int64]:
    """Derived triples in the order of their solutions: by start, then by the positions of the events that fill the
    pattern (EP-49). Solutions of the same events go by their mappings, and not by when they were found."""
    filled = [tuple(ref for ref in refs if ref != ABSENT) for refs in rows.refs.T.tolist()]
    places = list(zip(rows.start.tolist(), filled, strict=True))
    counts = Counter(places)
    shown = [(each.name, place) for place, each in enumerate(variables) if not each.name.startswith("_:")]
    columns = [place for _, place in sorted(shown)]

    def mapping(row: int) -> list[SortKey]:
        ids = rows.ids[columns, row].tolist()
        return [total_key(None if each == UNBOUND else terms[each]) for each in ids]

    of = made.rows.tolist()
    tied = {row: mapping(row) for row in set(of) if counts[places[row]] > 1}
    keys = [(*places[row], tied.get(row, []), row) for row in of]
    return np.array(sorted(range(len(of)), key=keys.__getitem__), np.int64)


def derive(statement: Statement, root: Node, rows: IntervalTable, scope: Scope) -> Derived:
    """The instances of a rule's template: triples with an unbound variable, and those that are not RDF, are left out
    (EP-47)."""
    assert statement.template is not None
    parts: list[TripleBatch] = []
    of: list[NDArray[np.int64]] = []
    nodes: dict[BlankNode, Ids] = {}
    if len(rows):
        for triple in statement.template:
            places = (triple.subject, triple.predicate, triple.object)
            subjects, predicates, objects = (_filled(place, statement, root, rows, nodes, scope) for place in places)
            fits = (objects != UNBOUND) & _is_kind(subjects, (IRI_, BLANK), scope.terms)
            fits &= _is_kind(predicates, (IRI_,), scope.terms)
            taken = np.flatnonzero(fits)
            parts.append(
                derived_triples(rows.start[taken], rows.end[taken], subjects[taken], predicates[taken], objects[taken])
            )
            of.append(taken)
    return Derived(joined_triples(parts) if parts else no_triples(), np.concatenate([np.empty(0, np.int64), *of]))


def _filled(
    place: PatternTerm,
    statement: Statement,
    root: Node,
    rows: IntervalTable,
    nodes: dict[BlankNode, Ids],
    scope: Scope,
) -> Ids:
    match place:
        case Variable():
            if place not in root.variables:
                return np.full(len(rows), UNBOUND, np.int32)
            found: Ids = rows.ids[root.variables.index(place)]
            return found
        case BlankNode():  # one node per rule and solution (EP-48)
            if place not in nodes:
                first = scope.solutions_of(statement.number, len(rows), fresh=not nodes)
                names = [BlankNode(f"rule{statement.number}x{first + row}x{place.value}") for row in range(len(rows))]
                nodes[place] = scope.terms.add_all(names)
            return nodes[place]
        case _:
            return np.full(len(rows), scope.terms.add(place), np.int32)


def _is_kind(ids: Ids, kinds: tuple[int, ...], terms: Terms) -> NDArray[np.bool_]:
    if not len(terms):
        return np.zeros(len(ids), np.bool_)
    own = terms.tags[ids] & KIND_MASK
    found: NDArray[np.bool_] = reduce(np.logical_or, [own == kind for kind in kinds]) & (ids != UNBOUND)
    return found


NodeState = (
    CombineState
    | OptionalState
    | WithoutState
    | ConditionState
    | ProjectState
    | SummaryState
    | LeafState
    | OccurrenceState
)


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
    subtree_nodes, waiting = {root}, [root]
    while waiting:
        node = nodes[waiting.pop()]
        below = (
            [*inputs_of(node), *(number for _, number in node.exists)]
            if isinstance(node, Summarise)
            else inputs_of(node)
        )
        waiting += [each for each in below if each not in subtree_nodes]
        subtree_nodes |= set(below)
    return sorted(subtree_nodes)


def state_of(
    number: int, nodes: Sequence[Node], bounds: Sequence[int], *, logged: bool = False, consumes: bool = False
) -> NodeState | None:
    """The state of a node before any solution; None for a node without state. `consumes`: a policy does."""
    node = nodes[number]
    above = None if consumes else _filter_above(number, nodes)
    judged = not consumes and number > 0 and _filter_above(number - 1, nodes) is node
    match node:
        case Scan() if consumes:
            return OccurrenceState.of(node)
        case Scan() | PathScan():
            return LeafState.of(node, logged=logged)
        case Combine():
            return CombineState.of(node, nodes, bounds, bounds[number], None if above is None else above.condition)
        case OptionalCombine():
            return OptionalState.of(node, nodes, bounds)
        case Without():
            return WithoutState.of(node, nodes[node.right])
        case Restrict() | Assign():
            return ConditionState.of(node, nodes, judged=judged)
        case Project():
            return ProjectState.of(node)
        case Summarise():
            return SummaryState.of(node, nodes)
        case Timeless() | Either():
            return None


def _filter_above(join: int, nodes: Sequence[Node]) -> Restrict | None:
    """The FILTER that is directly on a join and asks for nothing else, so that the join can judge it. Under a
    policy, what it does not let pass counts too."""
    above = nodes[join + 1] if join + 1 < len(nodes) else None
    if not isinstance(nodes[join], Combine) or not isinstance(above, Restrict) or above.input != join:
        return None
    condition = above.condition
    is_alone = not condition.exists and (condition.expression is None or not makes_nodes(condition.expression))
    return above if is_alone else None


def below_correlated(some: Sequence[Node], nodes: Sequence[Node]) -> frozenset[int]:
    """The nodes below an EXISTS that is evaluated for each solution: the occurrences of its leaves are
    logged."""
    below: set[int] = set()
    for node in some:
        roots: list[int] = []
        match node:
            case Restrict() | Assign() | OptionalCombine() if node.condition is not None:
                roots = [test.node for test in node.condition.exists if test.correlated]
            case Summarise():
                roots = [number for _, number in node.exists]
            case _:
                pass
        below.update(each for root in roots for each in subtree(nodes, root))
    return frozenset(below)


@dataclass(slots=True)
class Inbox:
    """The unread input of a statement: rows of its scans, and triples for all of its leaves. `first`: it has not run
    yet, so that its timeless leaves are new too."""

    rows: dict[int, IntervalTable] = field(default_factory=dict)
    triples: list[TripleBatch] = field(default_factory=list)
    first: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.first and not self.rows and not self.triples

    def ends(self) -> Iterator[Ints]:
        yield from (rows.end for rows in self.rows.values())
        yield from (batch.end for batch in self.triples)


class InboxByTime:
    """The content of an inbox, in the order of time."""

    def __init__(self, inbox: Inbox) -> None:
        self.rows = {place: rows.take(np.argsort(rows.end, kind="stable")) for place, rows in inbox.rows.items()}
        self.triples = [batch.take(np.argsort(batch.end, kind="stable")) for batch in inbox.triples]

    def instants(self) -> list[int]:
        ends = [rows.end for rows in self.rows.values()] + [batch.end for batch in self.triples]
        times: list[int] = np.unique(np.concatenate([np.empty(0, np.int64), *ends])).tolist()
        return times

    def move(self, inbox: Inbox, first: int, before: int, *, last: bool = False) -> None:
        """Put what ends from `first` on and before a time into an inbox; all that is left, if it is the `last`."""

        def piece(ends: Ints) -> Ints:
            low, high = np.searchsorted(ends, [first, before]).tolist()
            return np.arange(low, len(ends) if last else high)

        for place, rows in self.rows.items():
            if len(taken := piece(rows.end)):
                inbox.rows[place] = rows.take(taken)
        inbox.triples += [batch.take(taken) for batch in self.triples if len(taken := piece(batch.end))]


@dataclass(slots=True)
class NetworkRun:
    """A network with the states of its nodes, and what they are evaluated in."""

    network: Network
    states: list[NodeState | None]
    scope: Scope
    graphs: PathGraphs
    inboxes: list[Inbox]
    max_rounds: int
    schema: SchemaColumns | None = None
    known: IntervalTable = field(default_factory=lambda: empty(3, 0))
    """The occurrences of open instants, as subject, predicate and object: where a derived triple counts only if it is
    new, since it is emitted (EP-49) or an event of its own (EP-63)."""
    derived: int = 0  # triples that rules have derived, where they are counted
    now: int = NEVER  # the instant that is evaluated: what is left of SEQ is judged before it only (EP-53)
    widest: int = 0  # the most new solutions of a node at once, since it was reset

    @property
    def counts_new(self) -> bool:
        """Whether it matters if a derived triple is new, and in which order triples are derived."""
        rules = any(statement.is_rule for statement in self.network.statements)
        selects = any(not statement.is_rule for statement in self.network.statements)
        return rules and (not selects or any(isinstance(node, PathScan) for node in self.network.nodes))

    def entailed(self, triples: TripleBatch) -> TripleBatch:
        """Triples with all that they entail, at their own intervals (EP-57)."""
        if self.schema is None or not len(triples):
            return triples
        additions = self.schema.inferred(triples.subjects, triples.predicates, triples.objects)
        inferred = replace(
            triples.take(additions.rows),
            subjects=additions.subjects,
            predicates=additions.predicates,
            objects=additions.objects,
        )
        return appended_triples(triples, inferred)

    # One statement

    def run(self, number: int, closed: int) -> IntervalTable:
        """The new solutions of a statement, from what is in its inbox and from what is closed."""
        statement, inbox = self.network.statements[number], self.inboxes[number]
        if inbox.is_empty and not any(map(_waits, self.states[statement.first : statement.root + 1])):
            return no_rows(self.network.nodes[statement.root])
        self.inboxes[number] = Inbox()
        batch = joined_triples(inbox.triples) if inbox.triples else None
        return self._pass(range(statement.first, statement.root + 1), inbox, batch, closed)

    def _pass(self, numbers: Sequence[int], inbox: Inbox, batch: TripleBatch | None, closed: int) -> IntervalTable:
        return self.deltas(numbers, inbox, batch, closed)[numbers[-1]]

    def deltas(
        self,
        numbers: Sequence[int],
        inbox: Inbox,
        batch: TripleBatch | None,
        closed: int,
        known: Mapping[int, IntervalTable] | None = None,
    ) -> dict[int, IntervalTable]:
        """The new solutions of some nodes, each after its inputs; `known` are those of nodes below them."""
        nodes, deltas = self.network.nodes, dict(known or {})
        latest, before = closed, min(closed, self.now)
        for number in numbers:
            node, state = nodes[number], self.states[number]
            closed = before if number in self.network.earlier else latest
            below = [deltas[each] for each in inputs_of(node)]
            if below and not any(map(len, below)) and not _waits(state):
                deltas[number] = no_rows(node)
                continue
            match state:
                case None if isinstance(node, Either):
                    delta = either(node, nodes, below)
                case None:
                    assert isinstance(node, Timeless)
                    delta = timeless_solutions(node, self.scope) if inbox.first else no_rows(node)
                case LeafState() | OccurrenceState():
                    delta = state.step(self.leaf_rows(number, inbox, batch))
                case CombineState() | WithoutState() | ProjectState():
                    delta = state.step(below, closed, self.scope)
                case OptionalState():
                    delta = state.step(below, closed, before, self.scope, self)
                case _:
                    delta = state.step(below, closed, self.scope, self)
            self.widest = max(self.widest, state.pairs if isinstance(state, CombineState) else len(delta))
            deltas[number] = _useful(delta, self.network.bounds[number])
        return deltas

    def leaf_rows(self, number: int, inbox: Inbox, batch: TripleBatch | None) -> IntervalTable:
        """The rows of an inbox for a leaf."""
        node = self.network.nodes[number]
        assert isinstance(node, Scan | PathScan)
        parts = [inbox.rows.get(number, no_rows(node))]
        if isinstance(node, PathScan):
            state, is_timeless = self.states[number], inbox.first
            assert isinstance(state, LeafState)
            if batch is not None:
                is_timeless |= bool((batch.end == NO_END).any())  # before any event
                self.graphs.add(batch.take(batch.end == NO_END), self.scope.terms)
                timed = batch.take(batch.end != NO_END)
                parts.append(path_solutions(node, timed, self.graphs, self.scope))
            if is_timeless:
                timeless = background_pairs(node, self.graphs, self.scope, state.waiting)
                parts = [not_among(part, timeless) for part in parts]  # what EXISTS put in is timeless (EP-64, EP-65)
                parts.append(timeless)
        elif batch is not None:
            parts.append(scanned_triples(node.pattern, node.variables, batch, self.scope.terms))
        return concatenated(parts)

    # EXISTS

    def has_solution(self, node: int, outer: Mapping[Variable, int], until: int) -> bool:
        """Whether a pattern has a solution that ends by a time, with terms put in for its variables (18.6)."""
        nodes, bounds = self.network.nodes, self.network.bounds
        numbers = subtree(nodes, node)
        logged = below_correlated([nodes[each] for each in numbers], nodes)
        inner = replace(
            self,
            states=[
                state_of(each, nodes, bounds, logged=each in logged) if each in numbers else None
                for each in range(len(nodes))
            ],
            scope=replace(self.scope, outer=outer),
            inboxes=[],
            now=NEVER,
        )
        rows = {}
        for each in numbers:
            state = self.states[each]
            if isinstance(state, LeafState):
                assert state.log is not None, "the occurrences of such a leaf are logged"
                rows[each] = _restricted(state.log.take(state.log.end <= until), nodes[each].variables, outer)
        solutions = inner._pass(numbers, Inbox(rows, first=True), None, closed=NEVER)
        solutions = _restricted(solutions.take(solutions.end <= until), nodes[node].variables, outer)
        return bool(len(solutions))

    # All statements

    def bulk(self, closed: int) -> list[tuple[int, IntervalTable]]:
        """Each statement once, after the rules that it reads: the solutions of SELECTs, by statement."""
        answers = []
        for number, statement in enumerate(self.network.statements):
            rows = self.run(number, closed)
            if statement.is_rule:
                self._feed(self._derive(statement, rows).triples, first=number + 1)
            else:
                answers.append((number, rows))
        return answers

    def instant(self, time: int, closed: int) -> list[tuple[int, IntervalTable, Derived | None]]:
        """All statements at one time: strata in order, each to its fixpoint. What ends before `closed` is final."""
        self.now = time
        answers: list[tuple[int, IntervalTable, Derived | None]] = []
        strata = sorted({statement.stratum for statement in self.network.statements})
        rounds, again = 0, True
        while again:
            for stratum in strata:
                own = [n for n, each in enumerate(self.network.statements) if each.stratum == stratum]
                active = True
                while active:
                    rounds += 1
                    solved = [(number, self.run(number, closed)) for number in own]
                    derived = [(number, rows, self._derived(number, rows)) for number, rows in solved]
                    answers += [each for each in derived if len(each[1])]
                    for _, _, made in derived:
                        if made is not None:
                            self._feed(made.triples)
                    active = any(not self.inboxes[number].is_empty for number in own)
                    if active and rounds > self.max_rounds:
                        raise self._too_many(derived)
            again = any(not inbox.is_empty for inbox in self.inboxes)
        return answers

    def alone(self, closed: int) -> tuple[IntervalTable, Derived]:
        """The solutions of a single rule that does not read what it derives, and its new triples."""
        rows = self.run(0, closed)
        return rows, self._derive(self.network.statements[0], rows)

    def _derived(self, number: int, rows: IntervalTable) -> Derived | None:
        statement = self.network.statements[number]
        return self._derive(statement, rows) if statement.is_rule else None

    def _derive(self, statement: Statement, rows: IntervalTable) -> Derived:
        """The triples that a rule derives from some solutions; of triples that count only if they are new, the new
        ones, by start and position (EP-49)."""
        made = derive(statement, self.network.nodes[statement.root], rows, self.scope)
        if not self.counts_new or not len(made.triples):
            return made
        made = made.take(by_position(rows, made, self.network.nodes[statement.root].variables, self.scope.terms))
        triples = made.triples
        ids = np.stack([triples.subjects, triples.predicates, triples.objects])
        derived = IntervalTable(triples.start, triples.end, ids, np.empty((0, len(triples)), np.int64))
        is_new = first_of_each(derived, self.known)
        self.known = concatenated([self.known, derived.take(is_new)])
        made = made.take(np.flatnonzero(is_new))
        behind = DERIVED + self.derived + np.arange(len(made.triples))
        # what is derived from background alone is background, which is before all events (EP-37)
        refs = np.where(made.triples.end == NO_END, NO_EVENT, behind)
        self.derived += len(made.triples)
        return replace(made, triples=replace(made.triples, refs=refs))

    def _feed(self, triples: TripleBatch, first: int = 0) -> None:
        """Give derived triples to all statements that may read them, from the `first` on."""
        triples = self.entailed(triples)
        if not len(triples):
            return
        made = set(triples.predicates.tolist())
        for number, statement in enumerate(self.network.statements[first:], first):
            leaves = [node for node in self._nodes(statement) if isinstance(node, Scan | PathScan)]
            if any(self._may_read(leaf, made) for leaf in leaves):
                self.inboxes[number].triples.append(triples)

    def _may_read(self, leaf: Scan | PathScan, predicates: set[int]) -> bool:
        """Whether a leaf may match a triple with one of these predicates."""
        predicate = leaf.pattern.predicate if isinstance(leaf, Scan) else None
        return not isinstance(predicate, IRI) or self.scope.terms.find(predicate) in predicates

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
        self.known = self.known.take(self.known.end >= closed)


def _waits(state: NodeState | None) -> bool:
    """Whether a node has solutions that may leave it only because an instant is closed."""
    match state:
        case OptionalState():
            return len(state.mandatory) > 0
        case WithoutState() | ConditionState() | SummaryState():
            return len(state.waiting) > 0
        case _:
            return False


def _useful(rows: IntervalTable, longest: int) -> IntervalTable:
    """The solutions that do not last too long to be of use."""
    if longest == UNBOUNDED or not len(rows):
        return rows
    useful = (durations(rows.start, rows.end) <= longest) | (rows.end == NO_END)
    return rows if useful.all() else rows.take(useful)


def _restricted(rows: IntervalTable, variables: Sequence[Variable], outer: Mapping[Variable, int]) -> IntervalTable:
    """Rows that are compatible with what was put in."""
    mask = np.ones(len(rows), np.bool_)
    for place, name in enumerate(variables):
        if name in outer:
            mask &= (rows.ids[place] == outer[name]) | (rows.ids[place] == UNBOUND)
    return rows.take(mask)


# Input of instants that are not complete: where rules are output, nothing of an instant is evaluated before
# it is (EP-43, EP-49).

Held = dict[int, IntervalTable]
"""Rows by scan; whole triples, which all statements read, by -1."""

_TRIPLES = -1


def nothing_held(network: Network) -> Held:
    occurrences = {number: no_rows(node) for number, node in enumerate(network.nodes) if isinstance(node, Scan)}
    return {_TRIPLES: empty(3, 1), **occurrences}


def hold(held: Held, network: Network, inboxes: Sequence[Inbox], watermark: int) -> None:
    """Take from the inboxes what ends at the watermark or later, and give back what was taken before and is complete
    now."""
    for statement, inbox in zip(network.statements, inboxes, strict=True):
        for place in range(statement.first, statement.root + 1):
            if place in held:
                rows = _complete(held, place, [inbox.rows.pop(place)] if place in inbox.rows else [], watermark)
                if len(rows):
                    inbox.rows[place] = rows
    arrived = [_table(batch) for batch in inboxes[0].triples]  # all have the same
    rows = _complete(held, _TRIPLES, arrived, watermark)
    for inbox in inboxes:
        inbox.triples = [_triples(rows)] if len(rows) else []


def _complete(held: Held, place: int, arrived: Sequence[IntervalTable], watermark: int) -> IntervalTable:
    rows = concatenated([held[place], *arrived])
    is_open = rows.end >= watermark
    held[place] = rows.take(is_open)
    return rows.take(~is_open)


def _table(batch: TripleBatch) -> IntervalTable:
    ids = np.stack([batch.subjects, batch.predicates, batch.objects])
    return IntervalTable(batch.start, batch.end, ids, batch.refs[None])


def _triples(rows: IntervalTable) -> TripleBatch:
    """Triples of input events, of which each has its own ref."""
    (refs,) = rows.refs
    subjects, predicates, objects = rows.ids
    return TripleBatch(rows.start, rows.end, refs, subjects, predicates, objects, refs - refs.min())
