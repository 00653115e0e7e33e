"""RSEP-QL: the engine gives the rows that the definitions give, on random queries and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracle.ep_sparql_text import turtle
from oracle.rsep_ql import canonical
from oracle.rsep_ql_cases import (
    GROUPED,
    MATCHES,
    WINDOWS,
    Case,
    answer,
    emitted,
    is_construct,
    is_ordered,
    settles_events,
    varied_cases,
)
from oracle.rsep_ql_text import text
from oracle.terms import Blank, Iri, Literal, Term, Triple
from shards import Pipeline
from test_ep_sparql_agrees import spark_term
from thence.columns.event_batch import encode
from thence.io.background_data import load_background
from thence.lang.rsep_ql.parser import parse
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.plan.windows.rsep_ql import compile_query
from thence.program.operator import NEVER, Environment
from thence.program.solutions import Row as EngineRow
from thence.query.options import report_policy
from thence.rdf import terms as engine
from thence.rdf.events import Event
from told_terms import NAMESPACE, engine_term, restart, store_of, told_term

pytestmark = pytest.mark.numba

CUTS = st.lists(st.integers(-2, 10), max_size=4)
GENERATED = ox.NamedNode("http://www.w3.org/ns/prov#generatedAtTime")


@given(varied_cases(MATCHES), CUTS)
def test_matches_select_and_consume_as_defined(case: Case, cuts: list[int]) -> None:
    """RS-26 – RS-47: FIRST, LAST, SEQ and its policies, over several evaluations."""
    agree(case, cuts)


@given(varied_cases(WINDOWS), CUTS)
def test_windows_are_evaluated_as_defined(case: Case, cuts: list[int]) -> None:
    """RS-1 – RS-25, RS-48 – RS-55: all of SPARQL over windows and graphs that vary."""
    agree(case, cuts)


@given(varied_cases(GROUPED), CUTS)
def test_aggregates_are_those_of_the_definitions_from_slide_to_slide(case: Case, cuts: list[int]) -> None:
    """RS-48 – RS-52: rows come and go, of all numeric types; DISTINCT, MIN and MAX."""
    agree(case, cuts)


@settings(max_examples=2 * settings().max_examples)
@given(varied_cases(), CUTS)
def test_all_of_it_together_is_as_the_definitions_have_it(case: Case, cuts: list[int]) -> None:
    """RS-1 – RS-62"""
    agree(case, cuts)


@given(varied_cases(), st.integers(1, 4), st.data())
def test_shards_give_the_rows_of_the_definitions(case: Case, shards: int, data: st.DataObject) -> None:
    """RS-63: what Spark's workers run: finite input in any order, and micro-batches with the state saved between
    them."""
    assume(not is_construct(case) and case.events)
    told = [(time, told_bindings(bindings)) for time, bindings, _ in answer(case)]
    program = compile_query(parse(text(case.query)), policy=case.preset or "", report=report_policy(case.report))
    (stage,) = program.stages
    shards = shards if stage.program.shard_key.names else 1  # as on Spark
    shuffled = data.draw(st.permutations(case.events))
    order = sorted(case.events, key=lambda each: each[3])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=3)))
    batches = [range(low, high) for low, high in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    whole = Pipeline(stage.program, given_events(shuffled), shards, background_of(case), operator=stage.operator)
    assert Counter(spark_row(row, shuffled) for row in whole.batch()) == Counter(told), text(case.query)
    if len(case.query.streams) == len({each[0] for each in case.events}):
        stream = Pipeline(stage.program, given_events(order), shards, background_of(case), operator=stage.operator)
        last = min(max(each[3] for each in order if each[0] == name) for name in case.query.streams)
        streamed = Counter(spark_row(row, order) for row in stream.micro_batches(batches))
        certain = Counter(row for row in told if row[0] < last)
        assert streamed == certain, text(case.query)


def given_events(events: Iterable[tuple[Any, ...]]) -> list[tuple[str, Event]]:
    return [(stream, Event(start, turtle(triples), end=end, id=name)) for stream, name, start, end, triples in events]


def spark_row(row: Mapping[str, Any], events: Sequence[tuple[Any, ...]]) -> tuple[int, tuple[tuple[str, object], ...]]:
    reserved = ("start", "end", "match_id", "events", "certain", "problem", "reason", "event", "stream", "query")
    cells = {name.rstrip("_"): cell for name, cell in row.items() if name not in reserved and cell is not None}
    assert row["problem"] is None and row["start"] == row["end"]
    named = [(each[1],) for each in events]
    return row["end"], tuple((name, spark_term(cell, named)) for name, cell in sorted(cells.items()))


def agree(case: Case, cuts: list[int]) -> None:
    if is_construct(case):
        expected: Any = [(time, told_graph(graph)) for time, graph in emitted(case)]
        assert constructed(case, [], optimise=False) == expected, text(case.query)
        assert constructed(case, cuts) == expected, text(case.query)
        return
    with_events = settles_events(case)
    told = [(time, told_bindings(bindings), events if with_events else ()) for time, bindings, events in answer(case)]
    for rows in (found(case, [], optimise=False), found(case, cuts)):
        listed = [(time, cells, events if with_events else ()) for time, cells, events in rows]
        assert Counter(listed) == Counter(told), text(case.query)
        if is_ordered(case):
            assert [row[:2] for row in listed] == [row[:2] for row in told], text(case.query)


Shown = tuple[int, tuple[tuple[str, object], ...], tuple[str, ...]]
"""A row as both sides show it: the time of the evaluation, cells, events."""


def told_bindings(bindings: Iterable[tuple[str, Term]]) -> tuple[tuple[str, object], ...]:
    return tuple((name, told_term(term)) for name, term in bindings)


def found(case: Case, cuts: list[int], *, optimise: bool = True) -> list[Shown]:
    events = numbered(case)
    return [
        (row.end, tuple(sorted((name, term_of(cell, events)) for name, cell in row.bindings.items())), ids)
        for row, ids in engine_rows(case, cuts, optimise=optimise)
    ]


def constructed(case: Case, cuts: list[int], *, optimise: bool = True) -> list[tuple[int, object]]:
    events = numbered(case)
    rows = []
    for row, _ in engine_rows(case, cuts, optimise=optimise):
        assert row.event is not None and row.start == row.end == row.event.end
        graph = frozenset(tuple(oracle_term(term, events) for term in triple) for triple in row.event.triples)
        rows.append((row.end, told_graph(canonical(graph))))  # type: ignore[arg-type]
    return rows


def told_graph(graph: Iterable[Triple]) -> frozenset[tuple[object, ...]]:
    return frozenset(tuple(map(told_term, triple)) for triple in graph)


def oracle_term(term: engine.Term, events: Sequence[Sequence[Any]]) -> Term:
    """A term of the engine as the oracle writes it: blank nodes keep a name each."""
    match term:
        case engine.IRI(value):
            return Iri(value.removeprefix(NAMESPACE))
        case engine.BlankNode(label):
            return Blank(label)
        case engine.Literal(lexical, datatype):
            return Literal(lexical, datatype.partition("#")[2])


def term_of(cell: Any, events: Sequence[Sequence[Any]]) -> object:
    return engine_term(cell, events)


def numbered(case: Case) -> list[tuple[str, int, tuple[Any, ...]]]:
    """The events with their ids, in the order of time: as the engine numbers them within their streams."""
    return [(each[1], number, each) for number, each in enumerate(sorted(case.events, key=lambda each: each[3]))]


def engine_rows(case: Case, cuts: list[int], *, optimise: bool = True) -> list[tuple[EngineRow, tuple[str, ...]]]:
    """Rows with the ids of their events: of all events at once, or cut at some times, with a restart at each."""
    query = parse(text(case.query))
    dataflow = compile_query(query, optimise=optimise, policy=case.preset or "", report=report_policy(case.report))
    flow = LocalFlow(dataflow, Environment(background_of(case)))
    rows: list[tuple[EngineRow, tuple[str, ...]]] = []
    before = -(10**6)
    for bound in [*sorted(set(cuts)), NEVER]:
        batches = {}
        for stream in {each[0] for each in case.events}:
            some = [
                (number, each) for _, number, each in numbered(case) if each[0] == stream and before <= each[3] < bound
            ]
            if some:
                batches[stream] = [batch for number, each in some for batch in [encoded(stream, number, each)]]
        for row in flow.feed(batches, bound):
            row.bindings  # noqa: B018 - terms are those of this step
            rows.append((row, tuple(flow.ids(row))))
        if bound != NEVER:
            restart(flow)
        before = bound
    return rows


def encoded(stream: str, number: int, event: tuple[Any, ...]) -> Any:
    _, name, start, end, triples = event
    return encode([Event(start, turtle(triples), end=end, id=name)], stream=stream, first=number)


def background_of(case: Case) -> Background:
    stores = background_stores(case)
    return Background(load_background(stores)) if stores else NO_BACKGROUND


def background_stores(case: Case) -> dict[str | None, list[ox.Dataset]] | None:
    stores: dict[str | None, list[ox.Dataset]] = {}
    if case.background:
        stores[None] = [store_of(case.background)]
    for name, graph in (case.named or {}).items():
        listed = list(graph)
        if listed and len(listed[0]) == 2:
            stores[NAMESPACE + name] = [versions(name, listed)]  # type: ignore[arg-type]
        else:
            stores[NAMESPACE + name] = [store_of(listed)]  # type: ignore[arg-type]
    return stores or None


def versions(name: str, listed: Sequence[tuple[int, Sequence[Triple]]]) -> ox.Dataset:
    """Each version a graph of its own, with its time (RS-5)."""
    made = ox.Dataset()
    for time, graph in listed:
        own = ox.NamedNode(f"{NAMESPACE}{name}/{time}")
        for quad in (*store_of(graph, own), ox.Quad(own, GENERATED, ox.Literal(time), ox.DefaultGraph())):
            made.add(quad)
    return made
