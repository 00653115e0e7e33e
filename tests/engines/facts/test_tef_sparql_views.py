"""TEF-SPARQL: views, turns and rows over facts follow what changes, and are what the definitions say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracle.tef_sparql as definitions
import thence
from oracle.tef_sparql import Constructed, GivenEvent, Row, TooManySteps
from oracle.tef_sparql_cases import Case, whole
from oracle.tef_sparql_query import (
    Compare,
    Condition,
    Construct,
    HeadTriple,
    Kind,
    Now,
    OnEnd,
    OnStart,
    Program,
    Select,
    TriplePattern,
)
from oracle.tef_sparql_text import text
from oracle.tef_sparql_view_cases import LIMIT, view_cases
from oracle.tef_sparql_views import TooManyRounds
from oracle.terms import Iri, Var, integer
from support import tef_engine
from support.tef_recomputed import recomputed
from support.tef_sparql_cases import EX
from support.tef_sparql_flows import flow_of
from thence.columns.batches import encode
from thence.engines.facts.fact_store import Fact, FactStore
from thence.errors import LimitError
from thence.local.flow import LocalFlow
from thence.rdf.times import MAX_TIME

pytestmark = pytest.mark.numba

CUTS = st.lists(st.integers(0, 10), max_size=2)


@settings(max_examples=max(150, settings().max_examples))
@given(view_cases(), CUTS)
def test_views_are_as_the_definitions_have_them(case: Case, cuts: list[int]) -> None:
    """TEF-37 – TEF-50, TEF-63, TEF-64, TEF-72: at once, and cut with a restart at each cut."""
    try:
        answers = whole(case, limit=LIMIT)
    except (TooManySteps, TooManyRounds):
        assume(False)
    for each in ([], cuts):
        parts = (case.program, case.events, case.background)
        rows = tef_engine.rows(*parts, limit=4 * LIMIT, cuts=each)
        assert rows_of(rows) == rows_of(answers.rows), text(case.program)
        made = tef_engine.constructed(*parts, limit=4 * LIMIT, cuts=each)
        assert rows_of(made) == rows_of(answers.constructed), text(case.program)
    facts = tef_engine.facts(case.program, case.events, case.background, limit=4 * LIMIT)
    assert facts == definitions.facts(case.program, case.events, case.background, limit=LIMIT), text(case.program)


@settings(max_examples=max(150, settings().max_examples))
@given(view_cases(), CUTS)
def test_what_follows_changes_is_what_a_whole_recomputation_gives(case: Case, cuts: list[int]) -> None:
    """After every step: named and unnamed views, since when they hold, rows, and the next time-driven step."""
    with recomputed():
        try:
            tef_engine.rows(case.program, case.events, case.background, limit=4 * LIMIT, cuts=cuts)
        except LimitError:
            assume(False)


def rows_of(found: Iterable[Row] | Iterable[Constructed]) -> Counter[tuple[object, ...]]:
    return Counter(each[:4] for each in found)


# Rule by rule

MADE = """
    CONSTRUCT FACT ?x f ?y WHERE (SINCE ?x sf ?y) UNION (UNTIL ?x uf ?y)
    CONSTRUCT FACT ?x h ?n WHERE (SINCE ?x sh ?n) UNION (UNTIL ?x uh ?n)"""
REACHABLE = MADE + "\nCONSTRUCT FACT ?x v ?y WHERE (?x f ?y) UNION (?x f ?z, ?z v ?y)"


def event(time: int, subject: str, predicate: str, target: str) -> thence.Event:
    shown = target if target.isdigit() else f"<{EX}{target}>"
    return thence.Event(time, f"<{EX}{subject}> <{EX}{predicate}> {shown} .")


def rows(query: str, *listed: tuple[int, str, str, str]) -> list[tuple[object, ...]]:
    found = thence.parse(query, language="tef-sparql").match([event(*each) for each in listed])
    return [(row.end, *(str(each.value).removeprefix(EX) for each in row.bindings.values())) for row in found]


@pytest.mark.parametrize("where", ["SELECT ?x ?n WHERE {}", "CONSTRUCT FACT ?x w ?n WHERE {} SELECT ?x WHERE ?x w ?n"])
def test_an_expression_over_facts_sees_nothing_to_its_right(where: str) -> None:
    """TEF-58: ?m has no value where it is compared, whichever fact came last."""
    query = MADE + "\n" + where.format("(?x h ?n, ?n <= ?m), ?y h ?m")
    assert rows(query, (1, "a", "sh", "1"), (2, "b", "sh", "2")) == []


def test_a_cycle_that_loses_its_way_in_ends() -> None:
    """TEF-47: b and c reach d by each other alone, once c has no edge to it: a least fixpoint has neither."""
    listed = [(1, "b", "sf", "c"), (1, "c", "sf", "b"), (2, "c", "sf", "d"), (5, "c", "uf", "d"), (9, "x", "sf", "x")]
    query = REACHABLE + "\nCONSTRUCT EVENT ?x lost ?y WHERE ONEND ?x v ?y SELECT ?x ?y WHERE ?x lost ?y"
    assert sorted(rows(query, *listed)) == [(5, "b", "d"), (5, "c", "d")]


def test_a_view_with_another_derivation_goes_on() -> None:
    """TEF-48: a reaches c by b and by d, both since before; so the end of one way ends nothing."""
    listed = [(1, "a", "sf", "b"), (1, "b", "sf", "c"), (2, "a", "sf", "d"), (2, "d", "sf", "c"), (5, "b", "uf", "c")]
    query = REACHABLE + "\nCONSTRUCT EVENT ?x lost ?y WHERE ONEND ?x v ?y SELECT ?x ?y WHERE ?x lost ?y"
    assert rows(query, *listed) == [(5, "b", "c")]


def test_a_view_whose_other_derivation_begins_now_starts_again() -> None:
    """TEF-48, TEF-49: the ways by b and by d touch at 5, and so do the two facts."""
    listed = [(1, "a", "sf", "b"), (1, "b", "sf", "c"), (2, "a", "sf", "d"), (5, "d", "sf", "c"), (5, "b", "uf", "c")]
    query = REACHABLE + "\nSELECT ?x ?s WHERE ?x v c[?s, ?_]"
    assert sorted(rows(query, *listed)) == [(1, "a", "1"), (1, "b", "1"), (5, "a", "5"), (5, "d", "5")]


def test_views_of_one_predicate_begin_in_the_order_of_their_triples() -> None:
    """TEF-22: whichever statement derives them; both begin in one step."""
    query = """
        CONSTRUCT FACT ?x f ?y WHERE SINCE ?x sf ?y
        CONSTRUCT FACT ?y v ?x WHERE ?x f ?y, ?y != a
        CONSTRUCT FACT ?x v ?y WHERE ?x f ?y
        CONSTRUCT EVENT ?x begun ?y WHERE ONSTART ?x v ?y
        SELECT ?x WHERE ?x begun ?y"""
    assert rows(query, (1, "a", "sf", "b")) == [(1, "a"), (1, "b")]


X, Y = Var("x"), Var("y")
STATIC = TriplePattern(X, Iri("s"), Y)


@pytest.mark.parametrize("limit", [1, 3, 5])
@pytest.mark.parametrize("operator", [">", ">=", "<", "<=", "=", "!="])
def test_static_triples_hold_from_the_first_event_on(operator: str, limit: int) -> None:
    """TEF-45, TEF-63: whenever a comparison with now() became true before it."""
    events = [GivenEvent(f"e{time}", time, time, ((Iri("a"), Iri("p"), Iri("b")),)) for time in (3, 9)]
    background = [(Iri("a"), Iri("s"), Iri("b"))]
    clipped = Condition(STATIC, Compare(operator, Now(), integer(limit)))
    view = Construct(Kind.FACT, (HeadTriple(X, Iri("v"), Y),), clipped)
    for program in (
        Program((Select(("x",), clipped),)),
        Program((view,)),
        Program((Construct(Kind.EVENT, (HeadTriple(X, Iri("c"), Y),), OnStart(clipped)),)),
        Program((Construct(Kind.EVENT, (HeadTriple(X, Iri("c"), Y),), OnEnd(clipped)),)),
    ):
        parts = (program, events, background)
        assert rows_of(tef_engine.rows(*parts)) == rows_of(definitions.rows(*parts))
        assert rows_of(tef_engine.constructed(*parts)) == rows_of(definitions.constructed(*parts))
        assert tef_engine.facts(*parts) == definitions.facts(*parts)


MIDNIGHT = 1_704_067_200_000_000  # 2024-01-01T00:00:00Z


@pytest.mark.parametrize(
    ("comparison", "spans"),
    [
        (">", [(1, None)]),
        (">=", [(1, None)]),
        ("<", [(0, 1)]),
        ("<=", [(0, 1)]),
        ("=", []),
        ("!=", [(0, None)]),
    ],
)
@pytest.mark.parametrize("limit", ["?y", '?s + "PT0.0000005S"'])
def test_a_date_may_lie_between_two_microseconds(
    comparison: str, spans: list[tuple[int, int | None]], limit: str
) -> None:
    """TEF-63: `now() < c` ends, and `now() >= c` begins, at the first microsecond behind c."""
    where = f"?x f ?y[?s, ?_], now() {comparison} {limit}"
    found = clipped_facts(where, '"2024-01-01T00:00:00.0000005Z"^^xsd:dateTime')
    assert [(low - MIDNIGHT, None if high == MAX_TIME else high - MIDNIGHT) for low, high in found] == spans


@pytest.mark.parametrize(
    "limit", ['"2023-01-01T00:00:00Z"', '"2023-01-01 00:00:00Z"^^xsd:dateTime', '"2023-01-01"^^xsd:date']
)
def test_now_over_facts_compares_with_dates_alone(limit: str) -> None:
    """C-28, TEF-59: as over events, a comparison with a text, a wrong form or a day is an error."""
    assert clipped_facts("?x f ?y, now() >= ?y", limit) == []
    assert clipped_facts(f"?x f ?y, now() >= {limit}", "1") == []


def clipped_facts(where: str, value: str) -> list[tuple[int, int]]:
    """When the view `v` holds, if the fact `f` of a value does from midnight on."""
    query = thence.parse(
        f"CONSTRUCT FACT ?x f ?y WHERE SINCE ?x sf ?y CONSTRUCT FACT ?x v 1 WHERE {where}", language="tef-sparql"
    )
    prefixes = f"@prefix : <{EX}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    found = query.match([thence.Event("2024-01-01T00:00:00Z", f"{prefixes} :a :sf {value} .")])
    views = (each for each in found if isinstance(each, thence.Match) and f"<{EX}v>" in str(each.fact))
    return [each.times for each in views]


# What an event costs


@pytest.mark.parametrize(
    "where",
    [
        "CONSTRUCT FACT ?x old ?y WHERE ?x f ?y[?s, ?_], now() > ?s + 100000",
        "CONSTRUCT FACT ?x old ?y WHERE ?x f ?y WITHOUT (?x h ?n[?s, ?_], now() > ?s + 5)",
        "SELECT ?x WHERE ?x f ?y[?s, ?_], now() > ?s + 100000",
        "SELECT ?x WHERE (?x f ?y, ?x f ?z) WITHOUT ?x h ?n",
        "CONSTRUCT EVENT ?x c ?y WHERE ONEND (?x f ?y WITHOUT ?x h ?_)",
        "CONSTRUCT FACT ?x v ?y WHERE (?x f ?y) UNION (?x v ?z, ?z v ?y)",
    ],
)
def test_an_event_costs_what_it_concerns(where: str) -> None:
    """The facts that are looked at, for an event that starts or ends one, are no more if there are ten times as many
    others."""
    assert facts_read(where, 30) == facts_read(where, 300)


def facts_read(where: str, count: int) -> int:
    """How many facts the last three events look at, behind so many others."""
    flow = flow_of(f"{MADE}\n{where}")
    feed(flow, [event(number, f"a{number}", "sf", f"b{number}") for number in range(count)])
    read, matching = 0, FactStore.matching

    def counted(self: FactStore, *asked: Any) -> list[Fact]:
        nonlocal read
        found = matching(self, *asked)
        read += len(found)
        return found

    last = [event(400, "x", "sf", "y"), event(401, "x", "sh", "1"), event(402, "x", "uf", "y")]
    with patch.object(FactStore, "matching", counted):
        feed(flow, last)
    return read


def feed(flow: LocalFlow, events: list[thence.Event]) -> None:
    batch = encode(events, stream="events")
    list(flow.feed({"events": [batch]}, int(batch.ends[-1]) + 1))
