"""The state of a file of TEF-SPARQL: the machine, and the triples that the watermark has not passed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from thence.algebra.tef_sparql import Absent, Kind, Related, TemporalRelation
from thence.algebra.traversal import nodes
from thence.columns.dictionary import Terms
from thence.columns.term_values import term_of
from thence.errors import LimitError
from thence.kernel.facts.event_nodes import forget
from thence.kernel.facts.fact_patterns import FactEvaluation
from thence.kernel.facts.fact_store import FactStore
from thence.kernel.facts.machine_building import machine
from thence.kernel.facts.steps import Machine
from thence.program.extracted import Extracted
from thence.program.facts.kinds import Kinds, predicate_kinds
from thence.program.facts.program import FactsProgram
from thence.program.operator import NEVER, Environment
from thence.program.tables import OBJECT, PREDICATE, SUBJECT
from thence.rdf.dataset import IndexedGraph
from thence.rdf.terms import IRI, BlankNode, Triple
from thence.rdf.times import Domain


class WaitingTriple(NamedTuple):
    """An event triple, in the order in which it is taken: time, stream, event, place in the event (TEF-19, TEF-20)."""

    end: int
    stream: int
    ref: int
    place: int
    start: int
    triple: Triple


@dataclass(slots=True)
class FactsState:
    """`machine` runs the statements. `kept_for` is how long facts that have ended are kept; None: for ever."""

    terms: Terms
    machine: Machine
    kept_for: int | None
    waiting: list[WaitingTriple] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # ends of events that are not taken, those without triples included
    placed: int = 0  # triples that came, of the events that wait

    @property
    def stored(self) -> int:
        return len(self.machine.store) + sum(1 for each in self.machine.stores() for _ in each.all())


def initial_state(program: FactsProgram, environment: Environment) -> FactsState:
    graph = environment.background.data.unnamed
    static = IndexedGraph([] if graph is None else graph.triples(0))
    predicates = frozenset(triple.predicate for triple in static if isinstance(triple.predicate, IRI))
    kinds = predicate_kinds(program.file, predicates)  # TEF-16
    facts = FactEvaluation(FactStore(), static, kinds, environment.context, lambda *_: [])
    made = machine(program.file, kinds, facts)
    made.max_steps, made.views.max_rounds = environment.max_steps, environment.max_rounds
    return FactsState(Terms(), made, None if environment.keeps_history else _kept_for(program, kinds))


def _kept_for(program: FactsProgram, kinds: Kinds) -> int | None:
    """How long facts that have ended may be asked for; None: for ever. An event that lasts meets those of its time,
    under WITH and WITHOUT (TEF-31, TEF-32); DURING asks for facts that hold. WITHIN bounds it (TEF-76)."""
    longest = 0
    for statement in program.file.statements:
        for node in nodes(statement):
            if isinstance(node, Absent):
                over_facts = kinds.of_pattern(node.left, Kind.FACT) is not Kind.EVENT
                asks = kinds.of_pattern(node.right) is not Kind.EVENT
            else:
                over_facts = False
                asks = isinstance(node, Related) and node.relation is TemporalRelation.WITH
            if asks and (over_facts or statement.within is None):
                return None
            if asks and statement.within is not None:
                longest = max(longest, statement.within.length)
    return longest


def take(program: FactsProgram, state: FactsState, extracted: Extracted, environment: Environment) -> None:
    """Enter event triples."""
    if extracted.events:
        state.machine.facts.domain = Domain(extracted.domain)
    state.times = sorted({*state.times, *extracted.times.tolist()})
    kinds = state.machine.kinds
    for stream, table in enumerate(extracted.tables):
        columns = [table.columns[name] for name in (SUBJECT, PREDICATE, OBJECT)]
        for row in range(len(table)):
            terms = [term_of(int(each.tags[row]), int(each.bits[row]), state.terms) for each in columns]
            subject, predicate, target = terms
            assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and target is not None
            if kinds.of(predicate) is not Kind.EVENT:  # static triples on the stream are ignored (TEF-10)
                continue
            start, end = int(table.start[row]), int(table.end[row])
            triple = Triple(subject, predicate, target)
            state.placed += 1
            state.waiting.append(WaitingTriple(end, stream, int(table.refs[row, 0]), state.placed, start, triple))
    state.waiting.sort(key=lambda each: each[:4])
    if environment.max_runs < 2**31 - 2 and state.stored > environment.max_runs:
        raise LimitError(
            f"The state holds {state.stored:,} facts and partial matches, more than max_runs={environment.max_runs:,}. "
            "Try: WITHIN, or a larger max_runs"
        )


def run(state: FactsState, watermark: int) -> None:
    """All instants before the watermark."""
    made = state.machine
    while True:
        times = [time for time in (state.times[0] if state.times else None, made.timer) if time is not None]
        now = min(times, default=None)
        if now is None or (now >= watermark and watermark != NEVER):
            break
        if state.times and state.times[0] == now:
            state.times.pop(0)
        count = 0
        while count < len(state.waiting) and state.waiting[count].end <= now:
            count += 1
        some, state.waiting = state.waiting[:count], state.waiting[count:]
        made.instant(now, [(each.triple, each.start, each.ref) for each in some])
        if state.kept_for is not None:
            made.store.forget(now - state.kept_for)
        _forget(made, now)


def _forget(made: Machine, now: int) -> None:
    """Drop stored instances that WITHIN makes useless (TEF-76)."""
    for each in made.events:
        if each.statement.within is not None:
            for arm in each.arms:
                forget(arm.node, now - each.statement.within.length)
