"""RSEP-QL: the engine gives the rows that the definitions give, on random queries and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import thence
from oracle.rsep_ql import canonical
from oracle.rsep_ql import rows as rows_of
from oracle.rsep_ql_cases import (
    KINDS,
    Case,
    Options,
    answer,
    emitted,
    is_construct,
    is_ordered,
    settles_events,
    varied_cases,
)
from oracle.rsep_ql_legal import is_legal
from oracle.rsep_ql_text import text
from oracle.terms import Blank, Iri, Literal, Term, Triple
from support.comparable_terms import NAMESPACE, comparable_term, engine_term, restart
from support.rsep_ql_runs import (
    SECOND,
    background_of,
    background_stores,
    comparable_bindings,
    comparable_time,
    given_event,
    given_events,
    given_length,
    given_report,
    given_time,
    spark_row,
)
from support.shards import Pipeline
from thence.columns.batches import encode
from thence.engines.windows.plan.rsep_ql import compile_query
from thence.interface.operator import NEVER, Environment
from thence.interface.solutions import Row as EngineRow
from thence.lang.rsep_ql.parser import parse
from thence.local.flow import LocalFlow
from thence.query.options import report_policy
from thence.rdf import terms as engine
from thence.rdf.times import Domain
from thence.runtime.watermark import TimeDomain

pytestmark = pytest.mark.numba

MATCHES, WINDOWS, GROUPED, ALL = (replace(each, dates=25) for each in (*KINDS, Options()))
CUTS = st.lists(st.integers(-2, 10) | st.integers(11, 50), max_size=4)


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
@given(varied_cases(ALL), CUTS)
def test_all_of_it_together_is_as_the_definitions_have_it(case: Case, cuts: list[int]) -> None:
    """RS-1 – RS-62"""
    agree(case, cuts)


@given(varied_cases(ALL), st.integers(1, 4), st.data())
def test_shards_give_the_rows_of_the_definitions(case: Case, shards: int, data: st.DataObject) -> None:
    """RS-63: what Spark's workers run: finite input in any order, and micro-batches with the state saved between
    them."""
    assume(not is_construct(case) and case.events)
    answers = [(time, comparable_bindings(bindings)) for time, bindings, _ in answer(case)]
    dates = case.query.dates
    program = compile_query(parse(text(case.query)), policy=case.preset or "", report=report_policy(given_report(case)))
    (stage,) = program.stages
    shards = shards if stage.program.shard_key.names else 1  # as on Spark
    shuffled = data.draw(st.permutations(case.events))
    order = sorted(case.events, key=lambda each: each[3])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=3)))
    batches = [range(low, high) for low, high in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    domain = Domain.DATETIME if dates else Domain.TICKS
    pipeline = partial(
        Pipeline, stage.program, shards=shards, background=background_of(case), operator=stage.operator, domain=domain
    )
    whole = pipeline(given_events(shuffled, dates=dates))
    assert Counter(spark_row(row, shuffled) for row in whole.batch()) == Counter(answers), text(case.query)
    if len(case.query.streams) == len({each[0] for each in case.events}):
        lateness = data.draw(st.integers(0, 3))
        stream = pipeline(given_events(order, dates=dates), lateness=lateness * (SECOND if dates else 1))
        last = min(max(each[3] for each in order if each[0] == name) for name in case.query.streams) - lateness
        streamed = Counter(spark_row(row, order) for row in stream.micro_batches(batches))
        certain = Counter(row for row in answers if row[0] < last)
        assert streamed == certain, text(case.query)


@given(varied_cases(replace(ALL, blanks=False)), st.integers(0, 4), st.data())
def test_push_emits_what_is_certain(case: Case, lateness: int, data: st.DataObject) -> None:
    """RS-14, RS-15, RS-21: after each event all evaluations before the watermark, and no others, by all events seen."""
    assume(not is_construct(case) and case.events)
    query = thence.parse(text(case.query), language="rsep-ql")
    dates = case.query.dates
    options = {
        "background": background_stores(case),
        "policy": case.preset,
        "report": given_report(case),
        "lateness": given_length(lateness, dates=dates),
    }
    engine = query.engine(**options)
    latest: dict[str, int] = {}
    pushed: list[tuple[Any, ...]] = []
    emitted: Counter[object] = Counter()
    left = sorted(case.events, key=lambda each: each[3])
    now: float = float("-inf")
    advanced: list[int] = []
    while left:
        near = [each for each in left if each[3] <= left[0][3] + lateness]
        event = data.draw(st.sampled_from(near))
        left.remove(event)
        pushed.append(event)
        latest[event[0]] = max(event[3], latest.get(event[0], event[3]))
        emitted.update(pushed_row(match, case) for match in engine.push(event[0], given_event(event, dates=dates)))
        if data.draw(st.integers(0, 3)) == 3:
            engine = query.engine(**options).restore(engine.save())
        if latest.keys() == case.query.streams:
            now = max(now, min(latest.values()) - lateness)
        if data.draw(st.integers(0, 9)) == 9:
            time = data.draw(st.integers(event[3] - lateness, event[3] + 6))
            if time >= now:
                emitted.update(pushed_row(match, case) for match in engine.advance(given_time(time, dates=dates)))
                advanced.append(time)
                now = time
                left = [each for each in left if each[3] >= now]
        assert emitted == Counter(certain_rows(case, pushed, advanced, now)), (text(case.query), pushed, lateness)
    assert engine.counts.late == 0
    emitted.update(pushed_row(match, case) for match in engine.close())
    assert emitted == Counter(certain_rows(case, pushed, advanced, float("inf"))), (text(case.query), pushed)


def certain_rows(
    case: Case, events: Sequence[tuple[Any, ...]], advanced: Sequence[int], before: float
) -> Iterable[object]:
    """Those of evaluations before a time, of some events and times given to `advance` (RS-21)."""
    listed = sorted(events, key=lambda each: each[3])
    found = rows_of(case.query, tuple(listed), case.background, advance=advanced, **case.inputs)
    return [(time, comparable_bindings(bindings)) for time, bindings, _ in found if time < before]


def pushed_row(match: Any, case: Case) -> object:
    cells = sorted((name, term_of(cell, numbered(case))) for name, cell in match.bindings.items())
    return comparable_time(match.end, dates=False), tuple(cells)


SEVERAL = replace(ALL, graphs=False, background=False, presets=False)


@given(varied_cases(SEVERAL), varied_cases(SEVERAL))
def test_several_queries_are_each_as_the_definitions_have_it(one: Case, other: Case) -> None:
    """RS-71, EP-82: SELECTs and ASKs, else CONSTRUCTs, numbered from 1."""
    dates = one.query.dates
    assume(other.query.dates == dates)
    events = tuple((*each[:1], f"x{number}", *each[2:]) for number, each in enumerate((*one.events, *other.events)))
    every = [replace(each, events=events, report=None) for each in (one, other)]
    assume(all(is_legal(each.query) for each in every))
    output = [each for each in every if not is_construct(each)] or every
    parsed = thence.parse("\n".join(text(each.query) for each in every), language="rsep-ql")
    listed = [(name, event) for name, event in given_events(events, dates=dates) if name in parsed.streams]
    streams = {name: [event for stream, event in listed if stream == name] for name in parsed.streams}
    matches = list(parsed.match(streams))
    if is_construct(output[0]):
        expected = Counter((number, time) for number, each in enumerate(output, 1) for time, _ in emitted(each))
        assert Counter((match.query or 1, comparable_time(match.end, dates=False)) for match in matches) == expected
        return
    answers = Counter(
        (number, time, without_blanks(comparable_bindings(bindings)))
        for number, each in enumerate(output, 1)
        for time, bindings, _ in answer(each)
    )
    found = Counter(
        (
            match.query or 1,
            comparable_time(match.end, dates=False),
            tuple((name, plain_cell(cell)) for name, cell in sorted(match.bindings.items())),
        )
        for match in matches
    )
    assert found == answers, "\n".join(text(each.query) for each in every)


def without_blanks(cells: Iterable[tuple[str, object]]) -> tuple[tuple[str, object], ...]:
    return tuple((name, "blank" if isinstance(cell, tuple) and cell[0] == "blank" else cell) for name, cell in cells)


def plain_cell(cell: Any) -> object:
    return "blank" if isinstance(cell, engine.BlankNode) else term_of(cell, ())


def agree(case: Case, cuts: list[int]) -> None:
    if is_construct(case):
        expected: Any = [(time, comparable_graph(graph)) for time, graph in emitted(case)]
        assert constructed(case, [], optimise=False) == expected, text(case.query)
        assert constructed(case, cuts) == expected, text(case.query)
        return
    with_events = settles_events(case)
    answers = [
        (time, comparable_bindings(bindings), events if with_events else ()) for time, bindings, events in answer(case)
    ]
    for rows in (found(case, [], optimise=False), found(case, cuts)):
        listed = [(time, cells, events if with_events else ()) for time, cells, events in rows]
        assert Counter(listed) == Counter(answers), text(case.query)
        if is_ordered(case):
            assert [row[:2] for row in listed] == [row[:2] for row in answers], text(case.query)


Shown = tuple[int, tuple[tuple[str, object], ...], tuple[str, ...]]
"""A row as both sides show it: the time of the evaluation, cells, events."""


def found(case: Case, cuts: list[int], *, optimise: bool = True) -> list[Shown]:
    events = numbered(case)
    return [
        (
            comparable_time(row.end, dates=case.query.dates),
            tuple(sorted((name, term_of(cell, events)) for name, cell in row.bindings.items())),
            ids,
        )
        for row, ids in engine_rows(case, cuts, optimise=optimise)
    ]


def constructed(case: Case, cuts: list[int], *, optimise: bool = True) -> list[tuple[int, object]]:
    events = numbered(case)
    rows = []
    for row, _ in engine_rows(case, cuts, optimise=optimise):
        assert row.event is not None and row.start == row.end == row.event.end
        graph = frozenset(tuple(oracle_term(term, events) for term in triple) for triple in row.event.triples)
        rows.append((comparable_time(row.end, dates=case.query.dates), comparable_graph(canonical(graph))))  # type: ignore[arg-type]
    return rows


def comparable_graph(graph: Iterable[Triple]) -> frozenset[tuple[object, ...]]:
    return frozenset(tuple(map(comparable_term, triple)) for triple in graph)


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
    report = report_policy(given_report(case))
    dataflow = compile_query(query, optimise=optimise, policy=case.preset or "", report=report)
    dates = case.query.dates
    domain = TimeDomain(Domain.DATETIME if dates else Domain.TICKS, "the test")
    flow = LocalFlow(dataflow, Environment(background_of(case)), domain)
    rows: list[tuple[EngineRow, tuple[str, ...]]] = []
    before = -(10**6)
    for bound in [*sorted(set(cuts)), NEVER]:
        batches = {}
        for stream in {each[0] for each in case.events}:
            some = [
                (number, each) for _, number, each in numbered(case) if each[0] == stream and before <= each[3] < bound
            ]
            if some:
                batches[stream] = [encoded(stream, number, each, dates=dates) for number, each in some]
        watermark = bound * SECOND if dates and bound != NEVER else bound
        for row in flow.feed(batches, watermark):
            row.bindings  # noqa: B018 - terms are those of this step
            rows.append((row, tuple(flow.ids(row))))
        if bound != NEVER:
            restart(flow)
        before = bound
    return rows


def encoded(stream: str, number: int, event: tuple[Any, ...], *, dates: bool) -> Any:
    return encode([given_event(event, dates=dates)], stream=stream, first=number)
