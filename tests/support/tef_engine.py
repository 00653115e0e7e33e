"""The engine of TEF-SPARQL behind the interface of its oracle: programs, events and answers as the oracle has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from oracle.ep_sparql_text import turtle
from oracle.tef_sparql import Constructed, FactRow, GivenEvent, Row, triple_rank
from oracle.tef_sparql_query import Program
from oracle.tef_sparql_text import text
from oracle.terms import Blank, Iri, Literal, Term, Triple
from support.comparable_terms import NAMESPACE, store_of
from thence.algebra.tef_sparql import ConstructStatement
from thence.columns.batches import encode
from thence.engines.facts.event_instances import Emitted, EmittedEvent, EmittedRow
from thence.engines.facts.frames import triple_of
from thence.engines.facts.operator import FactsOperator
from thence.engines.facts.plan.tef_sparql import compile_query
from thence.engines.facts.program import FactsProgram
from thence.engines.facts.state import FactsState, run, take
from thence.extraction.extract import extract
from thence.interface.extracted import ArrivedBatch
from thence.interface.operator import NEVER, Environment
from thence.io.background_data import load_background
from thence.lang.tef_sparql.parser import parse
from thence.match.background import NO_BACKGROUND, Background
from thence.match.context import Context
from thence.rdf import terms as engine
from thence.rdf.events import Event
from thence.runtime import saved_state


def state_after(
    program: Program,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    until: int | None = None,
    limit: int = 10_000,
    cuts: Sequence[int] = (),
    history: bool = False,
) -> tuple[FactsState, list[Emitted], list[GivenEvent]]:
    """The state and all that was emitted, of all events at once or cut at some times, with a restart at each."""
    (stage,) = compile_query(parse(text(program))).stages
    compiled = stage.program
    assert isinstance(compiled, FactsProgram)
    known = list(background)
    data = Background(load_background(store_of(known))) if known else NO_BACKGROUND
    environment = Environment(data, max_steps=limit, keeps_history=history)
    operator = FactsOperator()
    state = operator.initial(compiled, environment)
    ordered = sorted(events, key=lambda each: each.end)
    names = [stream.name for stream in compiled.streams]
    emitted: list[Emitted] = []
    before = -(10**9)
    last = NEVER if until is None else until
    for bound in [*sorted({cut for cut in cuts if cut < last}), last]:
        operator.prune(compiled, state)
        arrived = []
        for number, each in enumerate(ordered):
            if before <= each.end < bound or (bound == NEVER and each.end >= before):
                event = Event(each.start, document(each.triples), end=each.end, id=each.id)
                stream = names[0] if each.stream is None else each.stream
                arrived.append(ArrivedBatch(stream, encode([event], stream=stream, first=number), number))
        refused: dict[int, str] = {}
        found = extract(compiled, arrived, state.terms, environment.background, Context(), refused)
        if refused:  # bad events are none
            kept = np.array([each.batch.ends[0] for each in arrived if each.first_ref not in refused], np.int64)
            found = type(found)(found.tables, kept, len(kept), domain=found.domain)
        take(compiled, state, found, environment)
        run(state, bound)
        emitted += state.machine.take()
        before = bound
        if bound != last:
            head, arrays = operator.snapshot(compiled, state)
            saved = saved_state.save({"head": head}, arrays, fingerprint="f", shards=1)
            again, reader = saved_state.restore(saved, fingerprint="f", shards=1)
            state = operator.restore(compiled, again["head"], reader, len(ordered), environment)
    return state, emitted, ordered


def document(triples: Iterable[Triple]) -> str:
    """Triples in their order."""
    return "\n".join(turtle((triple,)) for triple in triples)


def rows(
    program: Program,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    until: int | None = None,
    limit: int = 10_000,
    cuts: Sequence[int] = (),
) -> list[Row]:
    _, emitted, ordered = state_after(program, events, background, until=until, limit=limit, cuts=cuts)
    return [
        (
            each.query,
            each.start,
            each.end,
            tuple(sorted((name.name, oracle_term(term, ordered)) for name, term in each.bound.items())),
            frozenset(ordered[ref].id for ref in each.refs),
        )
        for each in emitted
        if isinstance(each, EmittedRow)
    ]


def facts(
    program: Program,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    until: int | None = None,
    limit: int = 10_000,
    cuts: Sequence[int] = (),
) -> list[FactRow]:
    state, _, ordered = state_after(program, events, background, until=until, limit=limit, cuts=cuts, history=True)
    store = state.machine.store
    every = [*store.holding(), *store.ended]
    found = {(fact.start, fact.end, _triple(triple_of(fact.triple), ordered)) for fact in every}
    return sorted(found, key=lambda fact: (fact[0], fact[1] is None, fact[1] or 0, triple_rank(fact[2])))


def constructed(
    program: Program,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    until: int | None = None,
    limit: int = 10_000,
    cuts: Sequence[int] = (),
) -> list[Constructed]:
    _, emitted, ordered = state_after(program, events, background, until=until, limit=limit, cuts=cuts)
    statements = parse(text(program)).statements
    numbers = [number for number, each in enumerate(statements, 1) if isinstance(each, ConstructStatement)]
    return [
        (
            numbers.index(each.statement) + 1,
            each.start,
            each.end,
            frozenset(_triple(triple, ordered) for triple in each.triples),
            frozenset(ordered[ref].id for ref in each.refs),
        )
        for each in emitted
        if isinstance(each, EmittedEvent)
    ]


def _triple(triple: engine.Triple, ordered: Sequence[GivenEvent]) -> Triple:
    subject, predicate, target = (oracle_term(term, ordered) for term in triple)
    return subject, predicate, target


def oracle_term(term: engine.Term, ordered: Sequence[GivenEvent]) -> Term:
    match term:
        case engine.IRI(value):
            if value == "http://www.w3.org/1999/02/22-rdf-syntax-ns#type":
                return Iri("rdf:type")
            return Iri(value.removeprefix(NAMESPACE))
        case engine.BlankNode(label):
            _, position, own = label.split("_", 2)
            return Blank(own, ordered[int(position)].id)
        case engine.Literal(lexical, datatype):
            return Literal(lexical, datatype.partition("#")[2])
