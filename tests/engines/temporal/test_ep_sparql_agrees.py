"""EP-SPARQL: the engine gives the rows that the definitions give, on random files and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.ep_sparql import TooManyRounds
from oracle.ep_sparql_cases import CORE, Case, Options, answer, any_sliced, cases, emitted, policy_cases
from oracle.ep_sparql_data import GivenEvent
from oracle.ep_sparql_query import Construct, File, selects
from oracle.ep_sparql_text import text
from oracle.terms import Triple
from support.comparable_terms import comparable_term, engine_term, restart
from support.ep_sparql_runs import Shown, background_of, cells, encoded, given_events, shown, spark_row
from support.shards import Pipeline
from thence.engines.temporal import policies, summaries
from thence.engines.temporal import state as temporal_state
from thence.engines.temporal.plan.ep_sparql import compile_query
from thence.engines.temporal.program import TemporalProgram
from thence.interface.operator import NEVER, Environment
from thence.interface.solutions import Row as EngineRow
from thence.lang.ep_sparql.parser import parse
from thence.local.flow import LocalFlow

pytestmark = pytest.mark.numba

ROUNDS = 12


Cuts = list[int] | None
"""The times at which the stream is cut; None: each event is pushed alone, so that those of one time are cut, too."""

CUTS = st.one_of(st.lists(st.integers(-3, 7), max_size=4), st.none())
GROUPED = Options(rules=False, paths=False, reasoning=False)
BY_TIME = replace(GROUPED, by_time=80)
RULED = Options(aggregates=False, sub_selects=False, modifiers=False, paths=False, reasoning=False)
RECURSIVE = replace(RULED, aggregates=True, recursive=75, ruled=100, selecting=100, patterns=3)
DERIVED = replace(RULED, aggregates=True, recursive=25, ruled=100, selecting=0)
PATHS = Options(rules=False, aggregates=False, sub_selects=False, modifiers=False, reasoning=False)
KEYED = replace(CORE, most_events=9)
REASONED = replace(CORE, reasoning=True, reasoned=100)
REASONED_RULES = replace(RULED, reasoning=True, reasoned=100)
GRAPH_OF_RULES = replace(RULED, reasoning=True, graph_of_rules=True)


@given(cases(CORE), CUTS)
def test_rows_are_those_of_the_definitions_at_once_or_cut(case: Case, cuts: Cuts) -> None:
    """EP-1 – EP-45: all operators, filters in every group, time functions, background."""
    agree(case, cuts)


@given(st.one_of(cases(GROUPED), cases(BY_TIME)), CUTS)
def test_aggregates_sub_selects_and_slices_are_those_of_the_definitions(case: Case, cuts: Cuts) -> None:
    """EP-5, EP-6, EP-58 – EP-62"""
    agree(case, cuts)


@given(cases(PATHS), CUTS)
def test_paths_are_those_of_the_definitions(case: Case, cuts: Cuts) -> None:
    """EP-63 – EP-65"""
    agree(case, cuts)


@given(cases(RULED), CUTS, st.integers(0, 2))
def test_selects_read_the_closure_of_the_rules(case: Case, cuts: Cuts, lag: int) -> None:
    """EP-46 – EP-54: also where events arrive before the watermark reaches them."""
    agree(case, cuts, lag=lag)


@given(cases(RECURSIVE), CUTS, st.integers(0, 2))
def test_absence_left_of_seq_is_that_of_the_closure(case: Case, cuts: Cuts, lag: int) -> None:
    """EP-50, EP-52, EP-53: rules that derive what they read as absent."""
    agree(case, cuts, lag=lag)


@given(cases(GRAPH_OF_RULES), CUTS)
def test_graph_reads_what_rules_derive_from_background(case: Case, cuts: Cuts) -> None:
    """EP-37, EP-39, EP-40"""
    agree(case, cuts)


@given(cases(), CUTS)
def test_all_of_it_together_is_as_the_definitions_have_it(case: Case, cuts: Cuts) -> None:
    """With reasoning (EP-55 – EP-57) and all of the above in one file."""
    agree(case, cuts)


@given(st.one_of(cases(REASONED), cases(REASONED_RULES)), CUTS)
def test_inferred_triples_are_those_of_the_definitions(case: Case, cuts: Cuts) -> None:
    """EP-55 – EP-57: of events, and of what rules derive."""
    agree(case, cuts)


@given(st.one_of(cases(RULED), cases(DERIVED)), CUTS, st.integers(0, 2))
def test_rules_without_select_emit_what_is_new(case: Case, cuts: Cuts, lag: int) -> None:
    """EP-43, EP-47 – EP-49, EP-82"""
    file = tuple(each for each in case.file if isinstance(each, Construct))
    assume(file)
    rules = replace(case, file=file, events=tuple(ordered(case)))  # positions are those in the stream (C-5)
    try:
        answers = emitted(rules, rounds=ROUNDS)
    except TooManyRounds:
        assume(False)
    # which of several solutions derives a triple first, and so lists its events, is told apart for one rule alone
    alone = len(file) == 1 and not is_recursive(file)
    expected = Counter(
        (start, end, tuple(map(comparable_term, triple)), tuple(dict.fromkeys(events)) if alone else ())
        for _, start, end, graph, events in answers
        for triple in graph
    )
    rows = [(row, event_graph(row, ordered(rules)), ids) for _, row, ids in engine_rows(rules, [])]
    made = Counter((row.start, row.end, triple, ids if alone else ()) for row, graph, ids in rows for triple in graph)
    assert made == expected, text(file)
    listed = [(row.query or 1, row.start, row.end, graph) for row, graph, _ in rows]
    in_order = [(number, start, end, comparable_graph(graph)) for number, start, end, graph, _ in answers]
    assert listed == in_order, text(file)
    pushed = [row for _, row, _ in engine_rows(rules, cuts, lag=lag)]
    assert listed == [(row.query or 1, row.start, row.end, event_graph(row, ordered(rules))) for row in pushed], text(
        file
    )


def comparable_graph(graph: Iterable[Triple]) -> frozenset[tuple[object, ...]]:
    return frozenset(tuple(map(comparable_term, triple)) for triple in graph)


@given(st.one_of(cases(KEYED), cases(REASONED)), st.integers(1, 4), st.data())
def test_shards_give_the_rows_of_the_definitions(case: Case, shards: int, data: st.DataObject) -> None:
    """What Spark's workers run: finite input in any order, and micro-batches with the state saved between them."""
    assume(selects(case.file))
    answers = answer(case, rounds=ROUNDS)
    twice = brought_twice(case)  # in a stream, the first is the one that came first
    expected = Counter(shown(row, sliced=False) for row in answers)
    shuffled = data.draw(st.permutations(case.events))
    order = sorted(case.events, key=lambda each: each[2])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=3)))
    batches = [range(low, high) for low, high in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    for stage in compile_query(parse(text(case.file)), reasoning=case.reasoning).stages:
        program = stage.program
        assert isinstance(program, TemporalProgram)
        own = Counter({row: count for row, count in expected.items() if row[0] in program.queries})
        whole = Pipeline(
            program,
            given_events(shuffled),
            shards,
            background_of(case),
            operator=stage.operator,
            positions=tuple(map(case.events.index, shuffled)),
        )
        assert Counter(spark_row(row, shuffled, False) for row in whole.batch()) == own, text(case.file)
        own = Counter(shown(row, sliced=twice) for row in answers if row[0] in program.queries)
        stream = Pipeline(program, given_events(order), shards, background_of(case), operator=stage.operator)
        last = order[-1][2] if order else 0
        certain = Counter({row: count for row, count in own.items() if row[2] < last})
        streamed = Counter(spark_row(row, order, twice) for row in stream.micro_batches(batches))
        assert certain <= streamed <= own, text(case.file)


def is_recursive(file: File) -> bool:
    program = compile_query(parse(text(file))).stages[0].program
    assert isinstance(program, TemporalProgram)
    return program.network.by_instant


def brought_twice(case: Case) -> bool:
    """Whether two events bring the same occurrence (EP-3)."""
    brought = [(start, end, triple) for _, start, end, triples in case.events for triple in set(triples)]
    return len(set(brought)) < len(brought)


@given(policy_cases(), CUTS, st.integers(0, 2))
def test_policies_select_and_consume_as_defined(case: Case, cuts: Cuts, lag: int) -> None:
    """EP-66 – EP-72: at once, and cut with restarts; events may arrive before the watermark reaches them."""
    expected = Counter(shown(row, sliced=False) for row in answer(case))
    assert found(case, []) == expected, text(case.file)
    assert found(case, cuts, lag=lag) == expected, text(case.file)


@given(policy_cases(), st.data())
def test_policies_on_spark_consume_in_source_order(case: Case, data: st.DataObject) -> None:
    """C-7, EP-72: however events of one time arrive, in batch and in micro-batches."""
    answers = answer(case)
    shuffled = data.draw(st.permutations(case.events))
    order = sorted(shuffled, key=lambda each: each[2])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=3)))
    batches = [range(low, high) for low, high in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    for stage in compile_query(parse(text(case.file)), policy=case.policy).stages:
        number = stage.program.query  # type: ignore[attr-defined]
        own = Counter(shown(row, sliced=False) for row in answers if row[0] == number)
        for events, cut in ((shuffled, None), (order, batches)):
            pipeline = Pipeline(
                stage.program,
                given_events(events),
                1,
                background_of(case),
                operator=stage.operator,
                positions=tuple(map(case.events.index, events)),
            )
            rows = pipeline.batch() if cut is None else pipeline.micro_batches(cut)
            last = order[-1][2] if cut is not None and order else 10**6
            certain = Counter({row: count for row, count in own.items() if row[2] < last})
            assert Counter(spark_row(row, events, False) for row in rows) == certain, text(case.file)


def agree(case: Case, cuts: Cuts, *, lag: int = 0) -> None:
    assume(selects(case.file))
    try:
        answers = answer(case, rounds=ROUNDS)
    except TooManyRounds:
        assume(False)
    expected = Counter(shown(row, sliced=any_sliced(case.file)) for row in answers)
    assert found(case, [], optimise=False) == expected, text(case.file)
    made = found(case, cuts, lag=lag)
    if cuts is None and len(selects(case.file)) < len(case.file):
        # a row does not wait for an event of its instant that brings what a rule has derived (EP-42, EP-81)
        made, expected = without_events(made), without_events(expected)
    assert made == expected, text(case.file)


def without_events(rows: Counter[Shown]) -> Counter[Shown]:
    found = Counter[Shown]()
    for (*row, _), count in rows.items():
        found[(*row, ())] += count
    return found


def found(case: Case, cuts: Cuts, *, optimise: bool = True, lag: int = 0) -> Counter[Shown]:
    """The engine's rows: all events at once, or cut at some times, with a restart at each. The watermark may lag behind
    the events."""
    sliced, events = any_sliced(case.file), ordered(case)
    return Counter(
        (row.query or 1, row.start, row.end, cells(row, events), () if sliced else ids)
        for _, row, ids in engine_rows(case, cuts, optimise=optimise, lag=lag)
    )


def ordered(case: Case) -> list[GivenEvent]:
    return sorted(case.events, key=lambda each: each[2])


def engine_rows(
    case: Case, cuts: Cuts, *, optimise: bool = True, lag: int = 0
) -> list[tuple[int, EngineRow, tuple[str, ...]]]:
    """Rows with the number of their stage and the ids of their events."""
    file = parse(text(case.file))
    dataflow = compile_query(file, optimise=optimise, reasoning=case.reasoning, policy=case.policy)
    flow = LocalFlow(dataflow, Environment(background_of(case), max_rounds=4 * ROUNDS))
    rows: list[tuple[int, EngineRow, tuple[str, ...]]] = []
    events = ordered(case)
    for some, watermark in steps(events, cuts, lag):
        last = -NEVER
        with little(optimise):
            for row in flow.feed({"events": [encoded(some)]} if some else {}, watermark):
                row.bindings  # noqa: B018 - terms are those of this step
                assert row.certain >= last
                last = row.certain
                ids = tuple(events[int(name.split(":")[1])][0] for name in flow.ids(row))
                rows.append((row.stage, row, ids))
        if watermark != NEVER:
            restart(flow)
    return rows


@contextmanager
def little(optimise: bool) -> Iterator[None]:
    """Else only large batches are cut, only many solutions are aggregated at once, and only large states are pruned."""
    with ExitStack() as patches:
        patches.enter_context(patch.object(temporal_state, "_PIECE", 2 if optimise else 4096))
        patches.enter_context(patch.object(summaries, "_MANY", 1 if optimise else 16))
        patches.enter_context(patch.object(summaries, "_FEW_GROUPS", -100 if optimise else 64))
        patches.enter_context(patch.object(policies, "_FEW", -100 if optimise else 64))
        yield


def steps(events: list[GivenEvent], cuts: Cuts, lag: int) -> Iterator[tuple[list[tuple[int, GivenEvent]], int]]:
    """The events of each step, with their numbers, and the watermark after it."""
    listed = list(enumerate(events))
    if cuts is None:
        yield from (([each], each[1][2] - lag) for each in listed)
        yield [], NEVER
        return
    before = -(10**6)
    for bound in [*sorted(set(cuts)), NEVER]:
        yield [each for each in listed if before <= each[1][2] < bound], bound if bound == NEVER else bound - lag
        before = bound


def event_graph(row: EngineRow, events: Sequence[GivenEvent]) -> frozenset[tuple[object, ...]]:
    assert row.event is not None and (row.event.start, row.event.end) == (row.start, row.end)
    return frozenset(tuple(engine_term(term, events) for term in triple) for triple in row.event.triples)
