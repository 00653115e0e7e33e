"""The state of a file of TEF-SPARQL: the machine, and the triples that the watermark has not passed."""

from __future__ import annotations

from dataclasses import dataclass, field

from thence.algebra.tef_sparql import Absent, Kind
from thence.algebra.traversal import nodes
from thence.columns.dictionary import Terms
from thence.columns.shard_codes import shard_of_term
from thence.engines.facts.compiled_expressions import Moment
from thence.engines.facts.event_nodes import forget
from thence.engines.facts.fact_nodes import FactBase
from thence.engines.facts.fact_store import FactStore
from thence.engines.facts.frames import Cell, CellTriple, column_cells, term
from thence.engines.facts.kind_checks import Kinds, predicate_kinds
from thence.engines.facts.machine_building import machine
from thence.engines.facts.program import FactsProgram, endings
from thence.engines.facts.steps import Machine, WaitingTriple
from thence.errors import LimitError
from thence.interface.extracted import BindingTable, Extracted
from thence.interface.operator import NEVER, NO_LIMIT, Environment
from thence.interface.tables import OBJECT, PREDICATE, SUBJECT
from thence.rdf.dataset import IndexedGraph
from thence.rdf.terms import IRI
from thence.rdf.times import Domain


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
    """How long facts that have ended may be asked for; None: for ever."""
    every = zip(program.file.statements, kinds.statements, strict=True)
    asked = [each.back for statement, kind in every for each in endings(statement, kind, kinds)]
    return None if None in asked else max((back for back in asked if back is not None), default=0)


def take(program: FactsProgram, state: FactsState, extracted: Extracted, environment: Environment) -> None:
    """Enter event triples."""
    if extracted.domain is not None:
        state.machine.facts.domain = extracted.domain
    state.times = sorted({*state.times, *extracted.times.tolist()})
    arrived: list[WaitingTriple] = []
    for stream, table in enumerate(extracted.tables):
        arrived += _arrived(state, stream, table)
    state.waiting = in_order([*state.waiting, *arrived])
    if environment.max_runs < NO_LIMIT and state.stored > environment.max_runs:
        raise LimitError(
            f"The state holds {state.stored:,} facts and partial matches, more than max_runs={environment.max_runs:,}. "
            "Try: WITHIN, or a larger max_runs"
        )


def in_order(waiting: list[WaitingTriple]) -> list[WaitingTriple]:
    """Triples in the order in which they are taken: by end, stream, event, and place in the event (TEF-19, TEF-20)."""
    return sorted(waiting)  # no two have one place


def _arrived(state: FactsState, stream: int, table: BindingTable) -> list[WaitingTriple]:
    """The triples of a stream that some statement reads. Static triples on the stream are ignored (TEF-10)."""
    subjects, predicates, objects = (
        column_cells(table.columns[name], state.terms) for name in (SUBJECT, PREDICATE, OBJECT)
    )
    looks = {each: _is_looked_at(each, state.machine) for each in dict.fromkeys(predicates)}
    starts, ends, refs = table.start.tolist(), table.end.tolist(), table.refs[:, 0].tolist()
    places = range(state.placed + 1, state.placed + 1 + len(ends))
    state.placed += len(ends)
    return [
        WaitingTriple(end, stream, ref, place, start, (subject, predicate, target))
        for end, ref, place, start, subject, predicate, target in zip(
            ends, refs, places, starts, subjects, predicates, objects, strict=True
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
