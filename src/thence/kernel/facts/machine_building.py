"""File of statements → the machine that runs it."""

from __future__ import annotations

from collections.abc import Iterable

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
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
    Test,
    Until,
)
from thence.algebra.tef_variables import bound as bound_variables
from thence.algebra.traversal import nodes
from thence.kernel.facts.event_instances import Stored, is_met
from thence.kernel.facts.event_network import all_variables, event_node
from thence.kernel.facts.event_nodes import EventNode, is_simple
from thence.kernel.facts.fact_patterns import FactEvaluation
from thence.kernel.facts.statements import ArmNode, EventStatement, FactSelect
from thence.kernel.facts.steps import Machine
from thence.kernel.facts.views import View, Views
from thence.match.context import Solution
from thence.program.facts.kinds import Kinds, now_comparison
from thence.program.facts.strata import view_strata
from thence.rdf.terms import Term


def machine(file: TefFile, kinds: Kinds, facts: FactEvaluation) -> Machine:
    """A file ready to run, before any event."""
    events, views, selects = [], [], []
    for number, statement in enumerate(file.statements, 1):
        arms = tuple(
            ArmNode(arm, event_node(_pattern(arm), kinds, _left_of(arm)))
            for arm in statement.arms
            if not isinstance(arm, OnInit) and not _is_fact_arm(arm, kinds.statements[number - 1])
        )
        if arms:
            events.append(EventStatement(number, statement, arms))
        own = kinds.statements[number - 1]
        patterns = tuple(arm.pattern for arm in statement.arms if isinstance(arm, Plain) and _is_fact_arm(arm, own))
        if patterns and isinstance(statement, SelectStatement):
            common = frozenset.intersection(*map(bound_variables, patterns))
            selects.append(FactSelect(number, statement, patterns, common))
        elif patterns and isinstance(statement, ConstructStatement):
            views.append(View(number, statement, patterns))
    turns = [node for node in nodes(file.statements) if isinstance(node, OnStart | OnEnd)]
    composite = [each for each in turns if not is_simple(each.facts)]
    named = [*(pattern for each in views for pattern in each.patterns), *(p for each in selects for p in each.patterns)]
    unnamed = [each.facts for each in composite] + [pattern for each in selects for pattern in each.patterns]
    made = Machine(
        file=file,
        kinds=kinds,
        facts=facts,
        events=tuple(events),
        views=Views(view_strata(tuple(views), kinds)),
        selects=tuple(selects),
        start_patterns=tuple(dict.fromkeys(each.facts for each in composite if isinstance(each, OnStart))),
        end_patterns=tuple(dict.fromkeys(each.facts for each in composite if isinstance(each, OnEnd))),
        timed_patterns=tuple(dict.fromkeys(filter(_asks_now, [*named, *(each.facts for each in composite)]))),
        absent_events=_absent_events(file, kinds),
        has_starts=any(isinstance(each, OnStart) for each in turns),
        starts_of=_asked(each.facts for each in turns if isinstance(each, OnStart)),
        since={pattern: {} for pattern in unnamed if _may_restart(pattern, kinds)},
        ends_of=_asked(each.facts for each in turns if isinstance(each, OnEnd)),
    )
    facts.event_times = lambda pattern, bound: _event_times(made, pattern, bound)
    return made


def _asked(patterns: Iterable[TefPattern]) -> frozenset[Term] | None:
    """The predicates of simple patterns; None: any."""
    found = set()
    for pattern in filter(is_simple, patterns):
        (triple,) = (node for node in nodes(pattern) if isinstance(node, TriplePattern))
        if isinstance(triple.predicate, Variable):
            return None
        found.add(triple.predicate)
    return frozenset(found)


def _may_restart(pattern: TefPattern, kinds: Kinds) -> bool:
    """Whether it may be untrue for a step: what it is WITHOUT may start and end at one time (TEF-43, TEF-49)."""
    return any(isinstance(node, Absent) and kinds.of_pattern(node.right) is not Kind.EVENT for node in nodes(pattern))


def _asks_now(pattern: TefPattern) -> bool:
    return any(isinstance(node, Test) and now_comparison(node.condition) is not None for node in nodes(pattern))


def _left_of(arm: object) -> frozenset[Variable]:
    """What is bound to the left of an arm's event pattern: the variables of REPLACE's F (TEF-58)."""
    return bound_variables(arm.facts) if isinstance(arm, Replace) else frozenset()


def _pattern(arm: Plain | Since | Until | Replace) -> TefPattern:
    return arm.pattern if isinstance(arm, Plain) else arm.events


def _is_fact_arm(arm: object, kind: Kind) -> bool:
    return isinstance(arm, Plain) and kind is not Kind.EVENT


def _absent_events(file: TefFile, kinds: Kinds) -> dict[TefPattern, tuple[EventNode, Stored]]:
    found = {}
    for node in nodes(file.statements):
        over_facts = isinstance(node, Absent) and kinds.of_pattern(node.left, Kind.FACT) is not Kind.EVENT
        if isinstance(node, Absent) and over_facts and kinds.of_pattern(node.right) is Kind.EVENT:
            found[node.right] = (event_node(node.right, kinds, all_variables(file.statements)), Stored(()))
    return found


def _event_times(machine: Machine, pattern: TefPattern, bound: Solution) -> list[int]:
    _, stored = machine.absent_events[pattern]
    return [each.end for each in stored.all() if is_met(each, bound, machine.facts)]
