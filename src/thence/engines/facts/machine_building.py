"""File of statements → the machine that runs it."""

from __future__ import annotations

from dataclasses import replace

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
from thence.engines.facts.compiled_expressions import Attempt, attempted
from thence.engines.facts.event_instances import AbsentEvents
from thence.engines.facts.event_nodes import EventNode
from thence.engines.facts.fact_nodes import FactBase, times_slots
from thence.engines.facts.fact_queries import FactQuery, fact_query, has_gaps
from thence.engines.facts.frames import Layout, layout
from thence.engines.facts.heads import compiled_head
from thence.engines.facts.kind_checks import Kinds
from thence.engines.facts.pattern_compiler import PatternCompiler, all_variables, is_simple
from thence.engines.facts.program import NOW, restarts, view_strata
from thence.engines.facts.statements import CompiledArm, CompiledStatement, Dispatch, FactSelect
from thence.engines.facts.steps import Machine
from thence.engines.facts.timers import Timers
from thence.engines.facts.views import Continuity, UnnamedQuery, UnnamedView, View, Views, view_groups
from thence.interface.operator import Environment


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
    """How far back each `F WITHOUT E` is asked."""
    found: dict[Absent, int | None] = {}
    for pattern, back in restarts(statement, kind, kinds):
        known = found.get(pattern, NOW)
        found[pattern] = None if back is None or known is None else max(back, known)
    return found


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
