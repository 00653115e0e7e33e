"""TEF-SPARQL: the engine gives the rows, facts and events that the definitions give, on random programs and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracle.tef_sparql as definitions
from oracle.tef_sparql import Constructed, Row, TooManySteps
from oracle.tef_sparql_cases import LIMIT, Case, Options, cases, programs, whole
from oracle.tef_sparql_legal import Meaningless, check
from oracle.tef_sparql_query import Program
from oracle.tef_sparql_text import text
from support import tef_engine
from thence.engines.facts import event_instances, fact_queries, views
from thence.engines.facts.fact_store import FactStore
from thence.engines.facts.plan.tef_sparql import compile_query
from thence.errors import QueryError
from thence.lang.tef_sparql.parser import parse


@pytest.fixture(scope="module", autouse=True)
def _dropped_at_once() -> Iterator[None]:
    """What is no longer of use is dropped after each instant, and views are found by their derivations, not only once
    they are many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_instances, "FEW", 0)
        patch.setattr(fact_queries, "_FEW", 0)
        patch.setattr(views, "_FEW", -1)
        yield


CUTS = st.lists(st.integers(0, 9), max_size=3)


@settings(max_examples=max(500, settings().max_examples))
@given(cases(), CUTS)
def test_all_of_it_is_as_the_definitions_have_it(case: Case, cuts: list[int]) -> None:
    """TEF-1 – TEF-77: at once, and cut with a restart at each cut."""
    assume(case.program.statements)
    agrees(case, cuts)


@settings(max_examples=max(300, settings().max_examples))
@given(cases(Options(nested=100, most_events=10)), CUTS)
def test_names_are_seen_as_the_definitions_have_it(case: Case, cuts: list[int]) -> None:
    """TEF-39, TEF-57, TEF-58, TEF-69: WITHOUT in WITHOUT, and UNION, right of what binds their names."""
    agrees(case, cuts)


@given(cases(Options(replacing=100, most_events=10)), CUTS)
def test_facts_that_replace_each_other_are_as_the_definitions_have_it(case: Case, cuts: list[int]) -> None:
    """TEF-26, TEF-42, TEF-50, TEF-72, TEF-73: ONCE PER with REPLACE, turns of replaced facts and of composites,
    and UNION in a SELECT over facts."""
    agrees(case, cuts)


@settings(max_examples=max(200, settings().max_examples))
@given(cases(Options(bounded=100, most_events=12)), CUTS)
def test_facts_by_their_starts_are_as_the_definitions_have_it(case: Case, cuts: list[int]) -> None:
    """TEF-30, TEF-31, TEF-41: tests of when a fact began narrow which facts are looked at, and no answers."""
    assume(case.program.statements)
    agrees(case, cuts)
    given_case = (case.program, case.events, case.background)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FactStore, "began_between", lambda self, *asked: self.matching(*asked[:3], asked[-1]))
        every = tef_engine.rows(*given_case, limit=4 * LIMIT)
    assert every == tef_engine.rows(*given_case, limit=4 * LIMIT)


@settings(max_examples=max(200, settings().max_examples))
@given(programs(Options(nested=80)))
def test_variables_of_some_arms_are_rejected_where_the_definitions_reject_them(program: Program) -> None:
    """TEF-69."""
    rejected = False
    try:
        check(program)
    except Meaningless as reason:
        assume("outside it" in str(reason))
        rejected = True
    with pytest.raises(QueryError, match="UNION") if rejected else nullcontext():
        compile_query(parse(text(program)))


def agrees(case: Case, cuts: list[int]) -> None:
    try:
        answers = whole(case)
    except TooManySteps:
        assume(False)
    for each in ([], cuts):
        given_case = (case.program, case.events, case.background)
        rows = tef_engine.rows(*given_case, limit=4 * LIMIT, cuts=each)
        assert rows_of(rows) == rows_of(answers.rows), text(case.program)
        made = tef_engine.constructed(*given_case, limit=4 * LIMIT, cuts=each)
        assert rows_of(made) == rows_of(answers.constructed), text(case.program)
    facts = tef_engine.facts(case.program, case.events, case.background, limit=4 * LIMIT)
    assert facts == definitions.facts(case.program, case.events, case.background, limit=LIMIT), text(case.program)


def rows_of(found: Iterable[Row] | Iterable[Constructed]) -> Counter[tuple[object, ...]]:
    return Counter(each[:4] for each in found)
