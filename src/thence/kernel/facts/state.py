"""The state of a file of TEF-SPARQL: the machine, and the triples that the watermark has not passed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import Absent, ConstructStatement, Kind, Related, TemporalRelation
from thence.algebra.traversal import nodes
from thence.columns.dictionary import Terms
from thence.columns.shard_codes import shard_of_term
from thence.columns.term_values import term_of
from thence.errors import LimitError
from thence.kernel.facts.fact_patterns import FactEvaluation
from thence.kernel.facts.fact_store import FactStore
from thence.kernel.facts.steps import Machine, all_stores, machine
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
    """`machine` runs the statements. `longest` is the longest that an event has lasted."""

    terms: Terms
    machine: Machine
    keeps_ended: bool
    waiting: list[WaitingTriple] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # ends of events that are not taken, those without triples included
    longest: int = 0
    placed: int = 0  # triples that came, of the events that wait

    @property
    def stored(self) -> int:
        return len(self.machine.store) + sum(1 for each in all_stores(self.machine) for _ in each.all())


def initial_state(program: FactsProgram, environment: Environment) -> FactsState:
    graph = environment.background.data.unnamed
    static = IndexedGraph([] if graph is None else graph.triples(0))
    predicates = frozenset(triple.predicate for triple in static if isinstance(triple.predicate, IRI))
    kinds = predicate_kinds(program.file, predicates)  # TEF-16
    facts = FactEvaluation(FactStore(), static, kinds, environment.context, lambda *_: [])
    made = machine(program.file, kinds, facts)
    made.max_steps = environment.max_steps
    if environment.shard[1] > 1:
        made.owns = lambda triple: _belongs(triple, program, environment)
    return FactsState(Terms(), made, environment.keeps_history or _keeps_ended(program, kinds))


def _belongs(triple: Triple, program: FactsProgram, environment: Environment) -> bool:
    """Whether a fact of ON INIT, which every shard could make, is this one's by its key."""
    number, shards = environment.shard
    is_subject = (triple.predicate, SUBJECT) in program.key_positions
    return shard_of_term(triple.subject if is_subject else triple.object, shards) == number


def _keeps_ended(program: FactsProgram, kinds: Kinds) -> bool:
    """Whether a pattern may ask for facts that ended long ago: WITHOUT, WITH over more than one event, and whatever is
    asked of constructed events, which may last (TEF-51)."""
    made = zip(program.file.statements, kinds.statements, strict=True)
    if any(isinstance(each, ConstructStatement) and kind is Kind.EVENT for each, kind in made):
        return True
    for node in nodes(program.file.statements):
        if isinstance(node, Absent):
            if kinds.of_pattern(node.right) is not Kind.EVENT and not isinstance(node.left, TriplePattern):
                return True
            if kinds.of_pattern(node.left) is Kind.FACT:
                return True
        is_with = isinstance(node, Related) and node.relation is TemporalRelation.WITH
        if isinstance(node, Related) and is_with and not isinstance(node.left, TriplePattern):
            return True
    return False


def take(program: FactsProgram, state: FactsState, extracted: Extracted, environment: Environment) -> None:
    """Enter event triples."""
    if extracted.events or len(extracted.times):
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
            state.longest = max(state.longest, end - start)
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
            made.idle_steps = 0  # of whichever shard the event is
        count = 0
        while count < len(state.waiting) and state.waiting[count].end <= now:
            count += 1
        if not count and made.is_begun and (made.timer is None or made.timer > now):
            made.facts.begin(now)  # events of other shards, or without event triples: nothing begins or ends
            continue
        some, state.waiting = state.waiting[:count], state.waiting[count:]
        made.instant(now, [(each.triple, each.start, each.ref) for each in some])
        if not state.keeps_ended:
            made.store.forget(now - state.longest)
        _forget(made, now)


def _forget(made: Machine, now: int) -> None:
    """Drop stored instances that WITHIN makes useless (TEF-76)."""
    for each in made.events:
        if each.statement.within is not None:
            waiting = [arm.node for arm in each.arms]
            while waiting:
                node = waiting.pop()
                for name in ("lefts", "rights", "seen"):
                    stored = getattr(node, name, None)
                    if stored is not None:
                        stored.forget(now - each.statement.within.length)
                waiting.extend(node.nodes())
