"""EP-SPARQL: the engine gives the rows that the definitions give, on random files and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pyoxigraph as ox
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.ep_sparql import MADE, Row, TooManyRounds
from oracle.ep_sparql_cases import CORE, Case, answer, any_sliced, cases, policy_cases
from oracle.ep_sparql_data import GivenEvent
from oracle.ep_sparql_query import Chain, Group, Statement, selects
from oracle.ep_sparql_text import text, turtle
from oracle.terms import Blank, Iri, Literal, Term, Triple
from thence.columns.column_batch import Batch
from thence.columns.event_batch import encode
from thence.io.background_data import load_background
from thence.lang.ep_sparql.parser import parse
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.plan.temporal.ep_sparql import compile_query
from thence.program.operator import NEVER, Environment
from thence.program.solutions import Row as EngineRow
from thence.rdf import terms as engine
from thence.rdf.events import Event
from thence.runtime import saved_state

pytestmark = pytest.mark.numba

NAMESPACE = "http://example.org/"
ROUNDS = 12


@given(cases(CORE), st.lists(st.integers(0, 7), max_size=4))
def test_rows_are_those_of_the_definitions_at_once_or_cut(case: Case, cuts: list[int]) -> None:
    """EP-1 – EP-45: all operators, filters in every group, time functions, background."""
    agree(case, cuts)


@given(policy_cases(), st.lists(st.integers(0, 7), max_size=4), st.integers(0, 2))
def test_policies_select_and_consume_as_defined(case: Case, cuts: list[int], lag: int) -> None:
    """EP-66 – EP-72: at once, and cut with restarts; events may arrive before the watermark reaches them."""
    told = answer(replace(case, file=tuple(map(flat, case.file))))
    expected = Counter(shown(row, sliced=False) for row in told)
    assert found(case, []) == expected, text(case.file)
    assert found(case, cuts, lag=lag) == expected, text(case.file)


def flat(statement: Statement) -> Statement:
    """A SELECT over a chain as EP-7 reads it: `{{A} SEQ {B}} SEQ {C}` is `{A} SEQ {B} SEQ {C}`, a chain whose filters
    are judged before any of its SEQs selects (EP-69)."""
    return replace(statement, where=_flat(statement.where))


def _flat(group: Group) -> Group:
    return Group(tuple(_flat_chain(each) if isinstance(each, Chain) else each for each in group.elements))


def _flat_chain(chain: Chain) -> Chain:
    first, rest = _flat(chain.first), tuple((operator, _flat(right)) for operator, right in chain.rest)
    match first.elements:
        case (Chain() as inner,):
            return Chain(inner.first, (*inner.rest, *rest))
        case _:
            return Chain(first, rest)


def agree(case: Case, cuts: list[int]) -> None:
    assume(selects(case.file))
    try:
        told = answer(case, rounds=ROUNDS)
    except TooManyRounds:
        assume(False)
    expected = Counter(shown(row, sliced=any_sliced(case.file)) for row in told)
    assert found(case, []) == expected, text(case.file)
    assert found(case, cuts) == expected, text(case.file)


def found(case: Case, cuts: list[int], *, lag: int = 0) -> Counter[object]:
    """The engine's rows: all events at once, or cut at some times, with a restart at each. The watermark may lag behind
    the events."""
    dataflow = compile_query(parse(text(case.file)), reasoning=case.reasoning, policy=case.policy)
    flow = LocalFlow(dataflow, Environment(background_of(case), max_rounds=4 * ROUNDS))
    rows: list[tuple[int, EngineRow, tuple[str, ...]]] = []
    sliced, bounds = any_sliced(case.file), sorted(set(cuts))
    ordered = sorted(case.events, key=lambda each: each[2])
    events = list(enumerate(ordered))
    before = -(10**6)
    for bound in [*bounds, NEVER]:
        some = [each for each in events if before <= each[1][2] < bound]
        batches = {"events": [encoded(some)]} if some else {}
        for row in flow.feed(batches, bound if bound == NEVER else bound - lag):
            ids = () if sliced else tuple(ordered[int(name.split(":")[1])][0] for name in flow.ids(row))
            rows.append((row.stage, row, ids))
        if bound != NEVER:
            restart(flow)
        before = bound
    return Counter((stage, row.start, row.end, cells(row, ordered), ids) for stage, row, ids in rows)


def encoded(events: list[tuple[int, tuple[str, int, int, tuple[Triple, ...]]]]) -> Batch:
    made = [
        Event(start, turtle(triples), end=end, id=f"events:{number}") for number, (_, start, end, triples) in events
    ]
    return encode(made, stream="events", first=events[0][0])


def restart(flow: LocalFlow) -> None:
    for host in flow.hosts:
        head, arrays = host.snapshot()
        fingerprint = host.stage.program.fingerprint()
        state = saved_state.save(head, arrays, fingerprint=fingerprint, shards=1)
        host.restore(*saved_state.restore(state, fingerprint=fingerprint, shards=1))


def background_of(case: Case) -> Background:
    stores: dict[str | None, list[ox.Store]] = {}
    if case.background:
        stores[None] = [_store(case.background)]
    for name, triples in case.named or ():
        stores[NAMESPACE + name] = [_store(triples)]
    return Background(load_background(stores)) if stores else NO_BACKGROUND


def _store(triples: tuple[Triple, ...]) -> ox.Store:
    store = ox.Store()
    store.load(turtle(triples).encode(), format=ox.RdfFormat.TURTLE)
    return store


def shown(row: Row, *, sliced: bool) -> object:
    """A row of the oracle. Of equal rows a LIMIT may take any, so that their events may differ (EP-62). An event that
    fills several patterns is listed once."""
    number, start, end, bindings, events = row
    named = () if sliced else tuple(dict.fromkeys(events))
    return number, start, end, tuple((name, told_term(term)) for name, term in bindings), named


def told_term(term: Term) -> object:
    match term:
        case Iri(name):
            return "iri", name
        case Blank():
            return ("blank", "made") if term == MADE else ("blank", term.label, term.event)
        case Literal(lexical, datatype):
            return datatype, (Fraction(lexical) if datatype in ("integer", "decimal") else lexical)


def cells(row: EngineRow, events: Sequence[GivenEvent]) -> tuple[tuple[str, object], ...]:
    return tuple(sorted((name, engine_term(cell, events)) for name, cell in row.bindings.items()))  # type: ignore[arg-type]


def engine_term(term: engine.Term, events: Sequence[GivenEvent]) -> object:
    match term:
        case engine.IRI(value):
            return "iri", value.removeprefix(NAMESPACE)
        case engine.BlankNode(label):
            if label.startswith("rule"):
                return "blank", "made"
            _, position, own = label.split("_", 2)
            return "blank", own, events[int(position)][0]
        case engine.Literal(lexical, datatype):
            kind = datatype.partition("#")[2]
            return kind, (Fraction(Decimal(lexical)) if kind in ("integer", "decimal") else lexical)
