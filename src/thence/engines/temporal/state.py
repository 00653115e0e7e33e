"""The state of a network: what its nodes store between two steps, and how a step runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.engines.temporal.conditions import ConditionState, ProjectState, Scope
from thence.engines.temporal.evaluation import (
    Derived,
    Held,
    Inbox,
    InboxByTime,
    NetworkRun,
    NodeState,
    below_correlated,
    hold,
    nothing_held,
    state_of,
)
from thence.engines.temporal.joins import WithoutState
from thence.engines.temporal.leaves import (
    LeafState,
    PathGraphs,
    TripleBatch,
    background_triples,
    extracted_triples,
    scanned_table,
)
from thence.engines.temporal.policies import PolicyState
from thence.engines.temporal.program import Network, PathScan, Scan, TemporalProgram
from thence.engines.temporal.strata import check_templates, stratified
from thence.engines.temporal.summaries import SummaryState
from thence.errors import LimitError
from thence.interface.extracted import Extracted
from thence.interface.operator import NEVER, Environment
from thence.match.background import Background
from thence.match.rdfs_columns import SchemaColumns, closed_background, matching
from thence.rdf.terms import IRI, BlankNode, Triple
from thence.relation.interval_table import NO_END, IntervalTable, concatenated, is_event

_PIECE, _LARGEST_PIECE = 4096, 65536
"""How many rows are evaluated at once: fewer at first, and more where they do not multiply."""
_FEW_SOLUTIONS, _MANY_SOLUTIONS = 1 << 18, 1 << 20
"""Counts of the node with the most of them: up to the first number the next piece is larger, above the second
smaller."""
_EVICTED = 256
"""After how many instants what is useless is evicted, where they are evaluated one by one."""

_FEW_TERMS = 10_000
"""A dictionary that small is not compacted."""


@dataclass(slots=True)
class TemporalState:
    """`evaluation` holds the nodes' states. `open` are the instants that are not closed, where instants are evaluated
    one by one. Under a policy, `selection` selects and consumes. `held` waits for complete instants, where rules are
    output."""

    evaluation: NetworkRun
    selection: PolicyState | None = None
    held: Held = field(default_factory=dict)
    open: list[int] = field(default_factory=list)
    compacted_at: int = 0  # how many terms the dictionary had, when it was last compacted

    @property
    def terms(self) -> Terms:
        return self.evaluation.scope.terms

    def tables(self) -> Iterator[IntervalTable]:
        """All solutions that are stored."""
        yield self.evaluation.known
        yield from self.held.values()
        for state in self.evaluation.states:
            if state is not None:
                yield from node_tables(state)
        if self.selection is not None:
            yield from self.selection.tables()

    @property
    def stored(self) -> int:
        """How many solutions, and groups of running aggregates."""
        groups = sum(len(each.groups) for each in self.evaluation.states if isinstance(each, SummaryState))
        return sum(map(len, self.tables())) + groups

    def refs(self) -> Ints:
        """The events that a later row may list."""
        if self.selection is not None:
            return self.selection.refs()
        refs = np.concatenate([np.empty(0, np.int64), *(table.refs.ravel() for table in self.tables())])
        return np.unique(refs[is_event(refs)])


@dataclass(frozen=True, slots=True, eq=False)
class Emitted:
    """Rows that a step emits, with the number of their statement; for rules, the new triples of each."""

    query: int
    rows: IntervalTable
    triples: list[tuple[int, ...]] | None = None

    def take(self, rows: Ints) -> Emitted:
        triples = None if self.triples is None else [self.triples[row] for row in rows.tolist()]
        return Emitted(self.query, self.rows.take(rows), triples)


def node_tables(state: NodeState) -> Iterator[IntervalTable]:
    """The tables that a node stores, in the order of snapshots."""
    yield from (store.table for store in state.stores)
    match state:
        case ConditionState() | WithoutState() | ProjectState():
            yield state.waiting
        case SummaryState():
            yield state.waiting
        case LeafState():
            yield state.waiting
            if state.log is not None:
                yield state.log
        case _:
            pass


# Before any event


def initial_state(program: TemporalProgram, terms: Terms, environment: Environment) -> TemporalState:
    """The state before any event, with the solutions of the background alone (EP-35, EP-37)."""
    network = program.network
    evaluation = _evaluation(program, terms, environment, _graphs(program, environment))
    state = TemporalState(evaluation)
    closed = NO_END + 1
    if program.chain is not None:
        state.selection = PolicyState.of(program.chain, program.policy, evaluation)
        state.selection.arrive(evaluation)
        state.selection.step(evaluation, closed)  # a timeless solution is not a row (EP-38)
        return state
    if program.takes_instants:
        state.held = nothing_held(network)
    if network.by_instant:
        evaluation.instant(NO_END, closed)
    else:
        evaluation.bulk(closed)
    evaluation.evict(closed)
    return state


def _evaluation(
    program: TemporalProgram, terms: Terms, environment: Environment, read_by_graph: Background
) -> NetworkRun:
    """The network before anything is evaluated, with the background in its inboxes."""
    network = program.network
    background = environment.background
    closed_graph = closed_background(background) if network.reasoning else None
    schema = None
    if closed_graph is not None:
        background = closed_graph.background
        check_templates(program.file, network, closed_graph.schema)
        seen = closed_graph.arrays if _has_paths(network) else closed_graph.seen_by(_patterns(network))
        schema = SchemaColumns(seen, terms)
    scope = Scope(terms, read_by_graph, environment.context)
    triples = _read_background(network, background, terms)
    graphs = PathGraphs(dict.fromkeys(_plain_triples(triples, terms)) if _has_paths(network) else {}, {})
    logged = below_correlated(network.nodes, network.nodes)
    own_schema = closed_graph.schema if closed_graph else None
    if program.rules is not None:
        stratified(program.file, program.rules, _read_background(program.rules, background, terms), own_schema, scope)
    return NetworkRun(
        network=stratified(program.file, network, triples, own_schema, scope),
        states=[
            state_of(
                number,
                network.nodes,
                network.bounds,
                logged=number in logged,
                consumes=program.chain is not None,
            )
            for number in range(len(network.nodes))
        ],
        scope=scope,
        graphs=graphs,
        inboxes=[Inbox(triples=[triples] if len(triples) else [], first=True) for _ in network.statements],
        max_rounds=environment.max_rounds,
        schema=schema,
    )


def _graphs(program: TemporalProgram, environment: Environment) -> Background:
    """The triples that GRAPH reads. The unnamed background includes what rules derive from it (EP-37, EP-39,
    EP-40): computed once for a background."""
    network, background = program.network, environment.background
    if network.reasoning:
        background = closed_background(background).background
    has_rules = any(statement.is_rule for statement in network.statements)
    if not background.data.answers_for_all or not has_rules or not program.background_patterns:
        return background
    key = f"graphs {program.fingerprint()}"
    if key not in background.derived:
        background.derived[key] = _with_derived(program, environment, background)
    found: Background = background.derived[key]
    return found


def _with_derived(program: TemporalProgram, environment: Environment, background: Background) -> Background:
    """A background with what rules derive from it: stratum by stratum, each evaluated until it has no more."""
    assert background.data.unnamed is not None
    given = dict.fromkeys(background.data.unnamed.triples(0))
    schema = closed_background(environment.background).schema if program.network.reasoning else None
    found, known, stratum = background, set[Triple](), 0
    for _ in range(environment.max_rounds):
        evaluation = _evaluation(program, Terms(), environment, found)
        made: dict[int, list[TripleBatch]] = {}
        for number, _, derived in evaluation.instant(NO_END, NO_END + 1):
            if derived is not None:
                level = evaluation.network.statements[number].stratum
                made.setdefault(level, []).append(derived.triples)
        own = {
            triple
            for level, batches in made.items()
            if level <= stratum
            for batch in batches
            for triple in _plain_triples(batch, evaluation.scope.terms)
        }
        own = {*(own if schema is None else schema.closed(own))} - given.keys()
        if own == known:  # this stratum is complete
            if stratum >= max(each.stratum for each in evaluation.network.statements if each.is_rule):
                return found
            stratum += 1
        else:
            known = own
            found = Background(background.data.with_unnamed([*given, *sorted(known, key=str)]))
    raise LimitError(
        f"The rules of the file still derive new triples for GRAPH after {environment.max_rounds:,} rounds. "
        "Try: rules that end, or a larger max_rounds="
    )


def _patterns(network: Network) -> frozenset[TriplePattern]:
    """The triple patterns of all leaves."""
    return frozenset(node.pattern for node in network.nodes if isinstance(node, Scan))


def _read_background(network: Network, background: Background, terms: Terms) -> TripleBatch:
    """The timeless triples that some leaf reads (EP-39)."""
    graph = background.data.unnamed
    if graph is None:
        none = np.empty(0, np.int32)
        return background_triples(none, none, none)
    columns = (graph.subjects, graph.predicates, graph.objects)
    if not _has_paths(network):
        read = np.zeros(len(graph.subjects), np.bool_)
        for pattern in _patterns(network):
            read[matching(pattern, *columns, graph.terms)[0]] = True
        columns = (graph.subjects[read], graph.predicates[read], graph.objects[read])
    subjects, predicates, objects = (terms.import_all(graph.terms, ids) for ids in columns)
    return background_triples(subjects, predicates, objects)


def _plain_triples(batch: TripleBatch, terms: Terms) -> Iterator[Triple]:
    for ids in zip(batch.subjects.tolist(), batch.predicates.tolist(), batch.objects.tolist(), strict=True):
        subject, predicate, target = (terms[each] for each in ids)
        assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
        yield Triple(subject, predicate, target)


def _has_paths(network: Network) -> bool:
    return any(isinstance(node, PathScan) for node in network.nodes)


# A step


def begin(program: TemporalProgram, state: TemporalState, extracted: Extracted) -> None:
    """Give each statement what was extracted from new events."""
    evaluation, network = state.evaluation, program.network
    if extracted.domain is not None:
        evaluation.scope.domain = extracted.domain
    terms = state.terms
    triples = None
    if network.triples_table >= 0:
        triples = evaluation.entailed(extracted_triples(extracted.tables[network.triples_table], terms))
    scanned: dict[tuple[int, tuple[Variable, ...]], IntervalTable] = {}  # scans that differ in their names only
    for number, statement in enumerate(network.statements):
        inbox = evaluation.inboxes[number]
        for place in range(statement.first, statement.root + 1):
            node = network.nodes[place]
            if isinstance(node, Scan) and node.table != network.triples_table:
                source = node.table, node.columns
                if source not in scanned:
                    scanned[source] = scanned_table(node, extracted.tables[node.table], terms)
                rows = scanned[source]
                if len(rows):
                    inbox.rows[place] = rows
        if triples is not None and len(triples):
            inbox.triples.append(triples)
    if triples is not None and evaluation.counts_new:
        ids = np.stack([triples.subjects, triples.predicates, triples.objects])
        brought = IntervalTable(triples.start, triples.end, ids, np.empty((0, len(triples)), np.int64))
        evaluation.known = concatenated([evaluation.known, brought])
        return
    for statement in network.statements:
        for place in statement.known:
            node = network.nodes[place]
            assert isinstance(node, Scan) and statement.template is not None
            _know(state, node, scanned_table(node, extracted.tables[node.table], terms))


def _know(state: TemporalState, scan: Scan, rows: IntervalTable) -> None:
    """Input triples that a template may derive too: they are not new (EP-49)."""
    if not len(rows):
        return
    ids = np.empty((3, len(rows)), np.int32)
    pattern = scan.pattern
    for place, slot in enumerate((pattern.subject, pattern.predicate, pattern.object)):
        if isinstance(slot, Variable):
            ids[place] = rows.ids[scan.variables.index(slot)]
        else:
            ids[place] = state.terms.add(slot)
    found = IntervalTable(rows.start, rows.end, ids, np.empty((0, len(rows)), np.int64))
    state.evaluation.known = concatenated([state.evaluation.known, found])


def step_network(
    program: TemporalProgram, state: TemporalState, watermark: int, environment: Environment
) -> Iterator[Emitted]:
    """The rows that become certain. What ends before the watermark is closed."""
    evaluation = state.evaluation
    if state.held:
        hold(state.held, program.network, evaluation.inboxes, watermark)
    if state.selection is not None:
        state.selection.arrive(evaluation)
        yield Emitted(program.query, state.selection.step(evaluation, watermark))
    elif program.network.by_instant:
        yield from _by_instant(program, state, watermark)
    else:
        for closed in _pieces(evaluation, watermark):
            if program.query:
                statements = evaluation.network.statements
                yield from (Emitted(statements[number].number, rows) for number, rows in evaluation.bulk(closed))
            else:  # one rule, which does not read what it derives
                yield from _with_triples(evaluation.network.statements[0].number, *evaluation.alone(closed))
            evaluation.evict(closed)
    stored = state.stored
    if stored > environment.max_runs:
        raise LimitError(
            f"The state holds {stored:,} solutions, more than max_runs={environment.max_runs:,}. "
            "Try: a FILTER on getDURATION(), or a larger max_runs"
        )


def _empty(evaluation: NetworkRun) -> list[Inbox]:
    return [Inbox() for _ in evaluation.inboxes]


def _pieces(evaluation: NetworkRun, watermark: int) -> Iterator[int]:
    """Feed the inboxes piece by piece in the order of time, so that what a bound makes useless is evicted between them:
    the time before which each piece is closed."""
    listed = [ends for inbox in evaluation.inboxes for ends in inbox.ends()]
    ends = np.sort(np.concatenate([np.empty(0, np.int64), *listed]))
    if len(ends) <= _PIECE:
        yield watermark
        return
    inboxes, evaluation.inboxes = [InboxByTime(each) for each in evaluation.inboxes], _empty(evaluation)
    before, bound, size, first = NO_END, NO_END, _PIECE, 0
    while bound < NEVER:
        first += size
        bound = int(ends[first]) if first < len(ends) else NEVER
        if bound == before:  # as many end at one time
            continue
        for inbox, own in zip(inboxes, evaluation.inboxes, strict=True):
            inbox.move(own, before, bound, last=bound == NEVER)
        evaluation.widest = 0
        yield min(bound, watermark)
        before = bound
        if evaluation.widest <= _FEW_SOLUTIONS:
            size = min(2 * size, _LARGEST_PIECE)
        elif evaluation.widest > _MANY_SOLUTIONS:
            size = max(size // 2, _PIECE)


def _by_instant(program: TemporalProgram, state: TemporalState, watermark: int) -> Iterator[Emitted]:
    evaluation = state.evaluation
    inboxes, evaluation.inboxes = [InboxByTime(each) for each in evaluation.inboxes], _empty(evaluation)
    settled = {watermark} - {NEVER}  # what is left of SEQ is judged up to the watermark, whether something ends then
    instants = sorted(settled.union(state.open, *(each.instants() for each in inboxes)))
    for count, time in enumerate(instants, 1):
        for inbox, own in zip(inboxes, evaluation.inboxes, strict=True):
            inbox.move(own, time, time + 1)
        closed = time + 1 if time < watermark else watermark
        for number, rows, derived in evaluation.instant(time, closed):
            if derived is None:
                yield Emitted(evaluation.network.statements[number].number, rows)
            elif not program.query:
                yield from _with_triples(evaluation.network.statements[number].number, rows, derived)
        if not count % _EVICTED:
            evaluation.evict(min(time, closed))
    evaluation.evict(watermark)
    state.open = [time for time in instants if time >= watermark]


def _with_triples(rule: int, rows: IntervalTable, derived: Derived) -> Iterator[Emitted]:
    """The solutions of a rule that derive something new, with their new triples (EP-49)."""
    triples = derived.triples
    by_row: dict[int, list[int]] = {}
    for place, row in enumerate(derived.rows.tolist()):
        ids = (triples.subjects[place], triples.predicates[place], triples.objects[place])
        by_row.setdefault(row, []).extend(map(int, ids))
    if by_row:
        yield Emitted(rule, rows.take(np.array(list(by_row), np.int64)), [tuple(each) for each in by_row.values()])


# Terms


def compacted(state: TemporalState) -> None:
    """Renumber the terms, if most are no longer used by what is stored."""
    terms = state.terms
    if len(terms) < _FEW_TERMS or len(terms) < 2 * state.compacted_at:
        return
    used = np.zeros(len(terms) + 1, np.bool_)
    for table in state.tables():
        used[table.ids.ravel()] = True  # UNBOUND marks the last
    kept = np.flatnonzero(used[:-1]).astype(np.int32)
    fresh = Terms()
    renumbered = np.full(len(terms) + 1, UNBOUND, np.int32)
    renumbered[kept] = fresh.import_all(terms, kept)
    evaluation = state.evaluation
    evaluation.scope.terms = fresh
    if evaluation.schema is not None:
        evaluation.schema = evaluation.schema.over(fresh)
    state.compacted_at = len(fresh)
    evaluation.graphs.alone.clear()
    renumber(state, renumbered)


def renumber(state: TemporalState, ids: Ids) -> None:
    """Ids have changed: `ids` has the new one of each, and at its end that of UNBOUND."""

    def moved(table: IntervalTable) -> IntervalTable:
        return IntervalTable(table.start, table.end, ids[table.ids], table.refs)

    state.evaluation.known = moved(state.evaluation.known)
    state.held = {place: moved(table) for place, table in state.held.items()}
    if state.selection is not None:
        state.selection.renumber(ids)
    for each in state.evaluation.states:
        if each is None:
            continue
        for store in each.stores:
            store.renumber(ids)
        match each:
            case ConditionState() | WithoutState() | ProjectState():
                each.waiting = moved(each.waiting)
            case SummaryState():
                each.waiting = moved(each.waiting)
            case LeafState():
                each.waiting = moved(each.waiting)
                each.log = None if each.log is None else moved(each.log)
            case _:
                pass
