"""The state of a file of TEF-SPARQL: the machine, as it is built from the file, and the triples that the watermark has
not passed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from thence.algebra.expressions import Expression, Variable
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    ConstructStatement,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Replace,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
    TefStatement,
    Test,
    Times,
    Until,
    bound,
    with_private_names,
)
from thence.algebra.traversal import nodes
from thence.algebra.variables import mentioned
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.value_columns import shard_of_term
from thence.engines.facts.compiled_expressions import Attempt, Moment, attempted, compiled_head
from thence.engines.facts.event_instances import AbsentEvents
from thence.engines.facts.event_nodes import EventNode, forget
from thence.engines.facts.fact_nodes import FactBase, times_slots
from thence.engines.facts.fact_queries import FactQuery, Timers, fact_query, has_gaps
from thence.engines.facts.fact_store import FactStore
from thence.engines.facts.frames import Cell, CellTriple, Layout, column_cells, layout, term
from thence.engines.facts.kind_checks import Kinds, predicate_kinds
from thence.engines.facts.pattern_compiler import PatternCompiler, all_variables, is_simple
from thence.engines.facts.program import NOW, FactsProgram, endings, restarts, view_strata
from thence.engines.facts.statements import CompiledArm, CompiledStatement, Dispatch, FactSelect
from thence.engines.facts.steps import Machine, WaitingTriple
from thence.engines.facts.views import Continuity, UnnamedQuery, UnnamedView, View, Views, view_groups
from thence.errors import LimitError
from thence.interface.extracted import BindingTable, Extracted
from thence.interface.operator import NEVER, NO_LIMIT, Environment
from thence.interface.tables import OBJECT, PREDICATE, SUBJECT
from thence.rdf.dataset import IndexedGraph
from thence.rdf.terms import IRI
from thence.rdf.times import Domain

# File of statements → the machine that runs it.


def machine(file: TefFile, kinds: Kinds, facts: FactBase, environment: Environment) -> Machine:
    """A file ready to run, before any event."""
    file = with_private_names(file)
    unnamed = _unnamed_patterns(file)
    absent: list[tuple[EventNode, AbsentEvents]] = []
    statements, views, selects = [], [], []
    asked: list[FactQuery] = []
    for number, statement in enumerate(file.statements, 1):
        back = _restarts(statement, kinds.statements[number - 1], kinds)
        compiler = PatternCompiler(kinds, statement, layout(statement), unnamed, absent, back)
        compiled = _statement(file, number, compiler)
        statements.append(compiled)
        patterns = tuple(arm.pattern for arm in statement.arms if isinstance(arm, Plain))
        if patterns and _is_over_facts(kinds, number):
            if isinstance(statement, SelectStatement):
                selects.append(FactSelect(compiled, tuple(_unnamed_query(each, compiler) for each in patterns)))
                asked += (each.query for each in selects[-1].queries)
            else:
                assert compiled.head is not None
                queries = tuple(fact_query(each, compiler) for each in patterns)
                views.append(View(number, statement, patterns, compiled.head, queries))
                asked += queries
    unnamed_views = _unnamed_views(file, kinds, unnamed, absent)
    asked += [each.query.query for each in unnamed_views]
    return Machine(
        file=file,
        kinds=kinds,
        facts=facts,
        statements=tuple(statements),
        dispatch=Dispatch(statements, absent),
        views=Views(
            tuple(view_groups(stratum) for stratum in view_strata(tuple(views), kinds)), environment.max_rounds
        ),
        selects=tuple(selects),
        unnamed=unnamed_views,
        timers=Timers(tuple(each for each in asked if each.is_clocked)),
        absent=tuple(absent),
        has_starts=any(isinstance(node, OnStart) for node in nodes(file.statements)),
        has_continuities=any(query.continuity is not None for each in selects for query in each.queries),
        emits_facts=not file.selects,
        max_steps=environment.max_steps,
    )


def _restarts(statement: TefStatement, kind: Kind, kinds: Kinds) -> dict[Absent, int | None]:
    """The time back to which each `F WITHOUT E` is asked."""
    asked_back: dict[Absent, int | None] = {}
    for pattern, back in restarts(statement, kind, kinds):
        known = asked_back.get(pattern, NOW)
        asked_back[pattern] = None if back is None or known is None else max(back, known)
    return asked_back


def _is_over_facts(kinds: Kinds, number: int) -> bool:
    """Whether the arms of a statement that are patterns alone are over facts."""
    return kinds.statements[number - 1] is not Kind.EVENT


def _statement(file: TefFile, number: int, compiler: PatternCompiler) -> CompiledStatement:
    statement = file.statements[number - 1]
    own = compiler.layout
    arms, initial = [], []
    for place, arm in enumerate(statement.arms):
        if isinstance(arm, OnInit):
            initial.append(compiler.facts(arm.pattern))
        elif not (isinstance(arm, Plain) and _is_over_facts(compiler.kinds, number)):
            arms.append(_arm(place, arm, compiler))
    return CompiledStatement(
        number=number,
        statement=statement,
        layout=own,
        head=compiled_head(statement.head, own) if isinstance(statement, ConstructStatement) else None,
        once=_once(statement, own),
        query=sum(isinstance(each, SelectStatement) for each in file.statements[:number]),
        columns=tuple(own.slots[each] for each in statement.variables)
        if isinstance(statement, SelectStatement)
        else (),
        arms=tuple(arms),
        initial=tuple(initial),
    )


def _arm(place: int, arm: Plain | Since | Until | Replace, compiler: PatternCompiler) -> CompiledArm:
    match arm:
        case Replace():
            events, late = _without_late_tests(arm.events)
            node = compiler.events(events, bound(arm.facts))  # they see the variables of F (TEF-58)
            steps = tuple(compiler.waiting(variable, expression) for variable, expression in (*late, *arm.steps))
            own = bound(arm.facts)
            seen = None if all_variables(arm.facts) <= own else compiler.layout.slots_of(own)
            return CompiledArm(place, arm, node, compiler.facts(arm.facts), steps, seen)
        case Plain():
            return CompiledArm(place, arm, compiler.events(arm.pattern), None, ())
        case Since() | Until():
            return CompiledArm(place, arm, compiler.events(arm.events), None, ())


def _without_late_tests(pattern: TefPattern) -> tuple[TefPattern, list[tuple[Variable | None, Expression]]]:
    """The event pattern of REPLACE without the expressions at its end that wait for variables of F, and these: they are
    evaluated once F is known, so that nothing has to wait."""
    tests: list[Test | Assignment] = []
    while isinstance(pattern, Test | Assignment):
        tests.append(pattern)
        pattern = pattern.pattern
    late: list[tuple[Variable | None, Expression]] = []
    known = bound(pattern)
    for test in reversed(tests):
        variable = test.variable if isinstance(test, Assignment) else None
        expression = test.expression if isinstance(test, Assignment) else test.condition
        if not mentioned(expression) <= known:
            late.append((variable, expression))
        elif isinstance(test, Assignment):
            pattern, known = replace(test, pattern=pattern), known | {test.variable}
        else:
            pattern = replace(test, pattern=pattern)
    return pattern, late


def _once(statement: TefStatement, own: Layout) -> tuple[Attempt, ...] | None:
    if statement.once_per is None:
        return None
    parts: tuple[Variable | Expression, ...] = (*statement.once_per.variables, *statement.once_per.expressions)
    return tuple(attempted(each, own) for each in parts)


def _unnamed_patterns(file: TefFile) -> dict[TefPattern, tuple[int, Layout]]:
    """The composite patterns of ONSTART and ONEND, numbered (TEF-50)."""
    turns = [node.facts for node in nodes(file.statements) if isinstance(node, OnStart | OnEnd)]
    composite = dict.fromkeys(each for each in turns if not is_simple(each))
    return {pattern: (number, layout(pattern)) for number, pattern in enumerate(composite)}


def _unnamed_query(pattern: TefPattern, compiler: PatternCompiler) -> UnnamedQuery:
    if not has_gaps(pattern, compiler):
        return UnnamedQuery(fact_query(pattern, compiler), None)
    inner = pattern.pattern if isinstance(pattern, Times) else pattern
    times = times_slots(pattern, compiler.layout) if isinstance(pattern, Times) else None
    query = fact_query(inner, compiler)
    return UnnamedQuery(query, Continuity(query, times))


def _unnamed_views(
    file: TefFile,
    kinds: Kinds,
    unnamed: dict[TefPattern, tuple[int, Layout]],
    absent: list[tuple[EventNode, AbsentEvents]],
) -> tuple[UnnamedView, ...]:
    turns = [node for node in nodes(file.statements) if isinstance(node, OnStart | OnEnd)]
    started = {node.facts for node in turns if isinstance(node, OnStart)}
    ended = {node.facts for node in turns if isinstance(node, OnEnd)}
    every = zip(file.statements, kinds.statements, strict=True)
    asked = {key: back for statement, kind in every for key, back in _restarts(statement, kind, kinds).items()}
    return tuple(
        UnnamedView(
            number,
            _unnamed_query(pattern, PatternCompiler(kinds, pattern, own, unnamed, absent, asked)),
            has_starts=pattern in started,
            has_ends=pattern in ended,
        )
        for pattern, (number, own) in unnamed.items()
    )


@dataclass(slots=True)
class FactsState:
    """`machine` runs the statements. `kept_for` is how long facts that have ended are kept; None: for ever."""

    terms: Terms
    machine: Machine
    kept_for: int | None
    has_within: bool
    waiting: list[WaitingTriple] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # ends of events that are not taken, those without triples included
    placed: int = 0  # triples that came, of the events that wait

    @property
    def stored(self) -> int:
        return len(self.machine.store) + sum(map(len, self.machine.stores()))


def initial_state(program: FactsProgram, environment: Environment) -> FactsState:
    graph = environment.background.data.unnamed
    static = IndexedGraph([] if graph is None else graph.triples(0))
    predicates = frozenset(triple.predicate for triple in static if isinstance(triple.predicate, IRI))
    kinds = predicate_kinds(program.file, predicates)  # TEF-16
    moment = Moment(0, Domain.TICKS, environment.context)
    made = machine(program.file, kinds, FactBase(FactStore(), static, environment.context, moment), environment)
    if environment.shard[1] > 1:
        made.owns = lambda triple: _belongs(triple, program, environment)
    kept_for = None if environment.keeps_history else _kept_for(program, kinds)
    has_absence = any(isinstance(node, Absent) for node in nodes(program.file.statements))
    made.store.keeps_ended = kept_for != 0 or has_absence or any(each.has_ends for each in made.unnamed)
    has_within = any(each.within is not None for each in program.file.statements)
    return FactsState(Terms(), made, kept_for, has_within)


def _belongs(triple: CellTriple, program: FactsProgram, environment: Environment) -> bool:
    """Whether a fact of ON INIT, which every shard could make, is this one's by its key."""
    number, shards = environment.shard
    subject, predicate, target = triple
    is_subject = (term(predicate), SUBJECT) in program.key_positions
    return shard_of_term(term(subject if is_subject else target), shards) == number


def _kept_for(program: FactsProgram, kinds: Kinds) -> int | None:
    """The time for which facts that have ended are kept; None: for ever."""
    every = zip(program.file.statements, kinds.statements, strict=True)
    asked = [each.back for statement, kind in every for each in endings(statement, kind, kinds)]
    return None if None in asked else max((back for back in asked if back is not None), default=0)


def take(program: FactsProgram, state: FactsState, extracted: Extracted, environment: Environment) -> None:
    """Enter event triples."""
    if extracted.domain is not None:
        state.machine.facts.domain = extracted.domain
    state.times = sorted({*state.times, *extracted.times.tolist()})
    arrived: list[WaitingTriple] = []
    order = extracted.order
    ranks = np.empty(0, np.int64) if order is None else order.ranks(state.terms)
    for stream, table in enumerate(extracted.tables):
        refs = table.refs[:, 0]
        arrived += _arrived(state, stream, table, np.zeros_like(refs) if order is None else order.of(refs, ranks))
    state.waiting = in_order([*state.waiting, *arrived])
    if environment.max_runs < NO_LIMIT and state.stored > environment.max_runs:
        raise LimitError(
            f"The state holds {state.stored:,} facts and partial matches, more than max_runs={environment.max_runs:,}. "
            "Try: WITHIN, or a larger max_runs"
        )


def in_order(waiting: list[WaitingTriple]) -> list[WaitingTriple]:
    """Triples in the order in which they are taken: by end, rank, stream, event and place in it (TEF-19, TEF-20)."""
    return sorted(waiting)  # no two have one place


def _arrived(state: FactsState, stream: int, table: BindingTable, ranks: Ints) -> list[WaitingTriple]:
    """The triples of a stream that some statement reads. Static triples on the stream are ignored (TEF-10)."""
    subjects, predicates, objects = (
        column_cells(table.columns[name], state.terms) for name in (SUBJECT, PREDICATE, OBJECT)
    )
    looks = {each: _is_looked_at(each, state.machine) for each in dict.fromkeys(predicates)}
    starts, ends, refs = table.start.tolist(), table.end.tolist(), table.refs[:, 0].tolist()
    places = range(state.placed + 1, state.placed + 1 + len(ends))
    state.placed += len(ends)
    return [
        WaitingTriple(end, rank, stream, ref, place, start, (subject, predicate, target))
        for end, rank, ref, place, start, subject, predicate, target in zip(
            ends, ranks.tolist(), refs, places, starts, subjects, predicates, objects, strict=True
        )
        if looks[predicate]
    ]


def _is_looked_at(predicate: Cell, machine: Machine) -> bool:
    assert isinstance(predicate, str)
    concerned = machine.dispatch.events.get(predicate) or machine.dispatch.events[None]
    return any(concerned) and machine.kinds.of(IRI(predicate)) is Kind.EVENT


def run(state: FactsState, watermark: int) -> None:
    """All instants before the watermark."""
    made, waiting, times = state.machine, state.waiting, state.times
    taken = passed = 0
    while True:
        is_event = passed < len(times) and (made.timer is None or times[passed] <= made.timer)
        now = times[passed] if is_event else made.timer
        if now is None or (now >= watermark and watermark != NEVER):
            break
        passed += is_event
        first = taken
        while taken < len(waiting) and waiting[taken].end <= now:
            taken += 1
        if first == taken and made.is_begun and (made.timer is None or made.timer > now):
            made.idle_steps = 0  # an event of another shard, or without event triples: nothing begins or ends
            made.facts.begin(now)
            continue
        made.instant(now, waiting[first:taken], is_event=is_event)
        if state.kept_for is not None:
            made.store.forget(now - state.kept_for)
        if state.has_within:
            _forget(made, now)
        for _, known in made.absent:
            known.forget(now, made.store)
    state.waiting, state.times = waiting[taken:], times[passed:]


def _forget(made: Machine, now: int) -> None:
    """Drop stored instances that WITHIN makes useless (TEF-76)."""
    for each in made.statements:
        if each.statement.within is not None:
            for arm in each.arms:
                forget(arm.node, now - each.statement.within.length)
