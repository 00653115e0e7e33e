"""TEF-SPARQL, rule by rule: what was worked out by hand for the definitions, the engine gives too."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType

import pytest

import thence
from oracle import (
    tef_sparql_notation,
    test_tef_sparql_oracle,
    test_tef_sparql_oracle_corners,
    test_tef_sparql_oracle_paper,
    test_tef_sparql_oracle_steps,
)
from oracle.tef_sparql_notation import fact, program, select, since, stream, until, with_, without
from support import tef_engine
from support.tef_sparql_cases import EX, HOMES
from support.tef_sparql_flows import flow_of, program_of
from thence.columns.batches import encode
from thence.engines.facts import operator
from thence.engines.facts.operator import FactsOperator
from thence.interface.operator import Environment
from thence.match.background import NO_BACKGROUND

pytestmark = pytest.mark.numba


def by_hand(module: ModuleType) -> list[Callable[[], None]]:
    found = (each for name, each in vars(module).items() if name.startswith("test_"))
    return [each for each in found if each.__code__.co_argcount == 0]


@pytest.mark.parametrize(
    "case",
    [
        *by_hand(test_tef_sparql_oracle),
        *by_hand(test_tef_sparql_oracle_corners),
        *by_hand(test_tef_sparql_oracle_paper),
        *by_hand(test_tef_sparql_oracle_steps),
    ],
    ids=lambda case: case.__name__,
)
def test_the_engine_gives_what_was_worked_out_by_hand(
    case: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rows", "facts", "constructed"):
        monkeypatch.setattr(tef_sparql_notation, name, getattr(tef_engine, name))
    case()


def test_rows_over_facts_differ_in_all_variables_of_their_arm() -> None:
    """TEF-50, TEF-72: ?place and ?other are of the second arm alone; each of their four mappings gives a row."""
    text = HOMES + "SELECT ?person WHERE (?person liveIn nowhere) UNION (?person liveIn ?place, ?person liveIn ?other)"
    events = [thence.Event(1, f"<{EX}b> <{EX}bornIn> <{EX}x> . <{EX}b> <{EX}bornIn> <{EX}y> .")]
    assert [each.end for each in thence.parse(text).match(events) if isinstance(each, thence.Match)] == [1] * 4


def test_a_constructed_event_that_lasts_meets_facts_that_have_ended() -> None:
    """TEF-31, TEF-51: the event lasts from 2 to 5, and the fact held at 2; input events are all points in time."""
    text = """
        CONSTRUCT FACT ?x f ?y WHERE SINCE ?x begins ?y UNION UNTIL ?x stops ?y
        CONSTRUCT EVENT ?x c ?y WHERE ?x a1 ?y SEQ ?x b1 ?y
        SELECT ?x WHERE ?x c ?y WITH ?x f ?y"""
    stream = [(1, "begins"), (2, "a1"), (3, "stops"), (5, "b1")]
    events = [thence.Event(time, f"<{EX}x> <{EX}{predicate}> <{EX}y> .") for time, predicate in stream]
    matches = [each for each in thence.parse(text).match(events) if isinstance(each, thence.Match)]
    assert [(each.start, each.end) for each in matches] == [(2, 5)]


def test_facts_that_have_ended_are_there_for_an_event_that_lasts() -> None:
    """TEF-31, TEF-32: also where the event comes in a later micro-batch than the end of the fact."""
    statements = [
        fact("?x f ?y", since("?x begins ?y"), until("?x stops ?y")),
        select("y", with_("?x p ?y", "?x f ?_")),
        select("y", without("?x p ?y", "?x f ?_")),
    ]
    events = stream("2: x begins y\n5: x stops y\n7: x q y\n9: x q y\n3-10: x p y\n6-11: x p z")
    for cuts in ([], [6, 8, 10]):
        found = tef_engine.rows(program(statements), events, cuts=cuts)
        assert [(query, start, end) for query, start, end, *_ in found] == [(1, 3, 10), (2, 6, 11)]


def intervals(text: str, listed: list[tuple[int, str]], predicate: str) -> list[tuple[int, int | None]]:
    """When the facts of a predicate held, of a file without SELECT."""
    events = [thence.Event(time, f"<{EX}x> <{EX}{event}> <{EX}y> .") for time, event in listed]
    found = [each for each in thence.parse(text).match(events) if f"/{predicate}>" in each.bindings["fact"].value]
    return [(each.start, each.end) for each in found]


LEVELS = """
    CONSTRUCT FACT ?x aa ?y WHERE SINCE ?x ea ?y UNION UNTIL ?x ua ?y
    CONSTRUCT FACT ?x bb ?y WHERE SINCE ?x eb ?y UNION UNTIL ?x ub ?y
    CONSTRUCT FACT ?x cc ?y WHERE ?x aa ?y, ?x bb ?y"""


def test_views_of_one_predicate_are_one_fact_whatever_they_are_without() -> None:
    """TEF-47, TEF-48: the second derivation is WITHOUT a view, the first is not; they overlap, so they are merged."""
    text = (
        LEVELS
        + """
        CONSTRUCT FACT ?x pp ?y WHERE ?x aa ?y
        CONSTRUCT FACT ?x pp ?y WHERE ?x bb ?y WITHOUT ?x cc ?y"""
    )
    assert intervals(text, [(1, "ea"), (4, "eb"), (6, "ua"), (8, "ub")], "pp") == [(1, 6), (6, 8)]
    text = (
        LEVELS
        + """
        CONSTRUCT FACT ?x pp ?y WHERE ?x aa ?y
        CONSTRUCT FACT ?x pp ?y WHERE ?x aa ?y WITHOUT ?x cc ?y"""
    )
    assert intervals(text, [(1, "ea"), (4, "eb"), (6, "ub"), (8, "ua")], "pp") == [(1, 8)]


def test_views_of_one_predicate_stand_in_one_stratum() -> None:
    """TEF-47: the last statement is WITHOUT qq, which reads rr, which is derived together with pp."""
    text = (
        LEVELS
        + """
        CONSTRUCT FACT ?x pp ?y, ?x rr ?y WHERE ?x aa ?y
        CONSTRUCT FACT ?x qq ?y WHERE ?x rr ?y
        CONSTRUCT FACT ?x pp ?y WHERE ?x bb ?y WITHOUT ?x qq ?y"""
    )
    with pytest.raises(thence.QueryError, match="depends on the absence"):
        intervals(text, [(1, "ea")], "pp")


def test_a_view_of_any_predicate_may_derive_a_fact_that_begins_now() -> None:
    """TEF-8, TEF-40: a fact of x about itself is its own inverse."""
    text = """CONSTRUCT FACT ?x aa ?y WHERE SINCE ?x ea ?y UNION UNTIL ?x ua ?y
        CONSTRUCT FACT ?y ?r ?x WHERE ?x ?r ?y"""
    events = [thence.Event(time, f"<{EX}x> <{EX}{event}> <{EX}x> .") for time, event in ((1, "ea"), (3, "ua"))]
    assert {(each.start, each.end) for each in thence.parse(text).match(events)} == {(1, 3)}


THREE = """
    CONSTRUCT FACT ?x f1 ?m WHERE SINCE ?x ef ?m
    CONSTRUCT FACT ?x f2 ?m WHERE SINCE ?x eg ?m
    CONSTRUCT FACT ?x f3 ?m WHERE SINCE ?x eh ?m"""


def rows_of(where: str, listed: list[tuple[str, int]], names: str = "?n") -> list[list[str]]:
    """The rows of a SELECT over facts and events, each event a tick after the one before; as many with a restart after
    each."""
    query = thence.parse(f"{THREE} SELECT {names} WHERE {where}", language="tef-sparql")
    events = [thence.Event(time, f"<{EX}x> <{EX}{name}> {value} .") for time, (name, value) in enumerate(listed)]
    answers = [tuple(each.value for each in row.bindings.values()) for row in query.match(events)]
    flow, found = flow_of(f"{THREE} SELECT {names} WHERE {where}"), 0
    for event in events:
        batch = encode([event], stream="events")
        found += len(list(flow.feed({"events": [batch]}, int(batch.ends[-1]) + 1)))
        head, _ = FactsOperator().snapshot(program_of(flow), flow.hosts[0].state)
        saved = json.loads(json.dumps(head))
        flow.hosts[0].state = operator.restore(program_of(flow), saved, 9, Environment(NO_BACKGROUND))
    assert found == len(answers)
    return sorted(map(list, set(answers)))


@pytest.mark.parametrize(("value", "found"), [(5, [["3"]]), (2, [])])
def test_without_inside_without_sees_what_is_bound_further_left(value: int, found: list[list[str]]) -> None:
    """TEF-36, TEF-58: gg breaks dd … ee, if it is more than ?n; then nothing stands between bb and cc."""
    where = "?x first ?n SEQ ((?x bb ?b SEQ ?x cc ?c) WITHOUT ((?x dd ?d SEQ ?x ee ?e) WITHOUT (?x gg ?m, ?m > ?n)))"
    assert rows_of(where, [("first", 3), ("bb", 1), ("dd", 1), ("gg", value), ("ee", 1), ("cc", 1)]) == found


@pytest.mark.parametrize(("value", "found"), [(5, []), (2, [["1"]])])
def test_an_expression_right_of_without_sees_both_its_left_side_and_what_is_further_left(
    value: int, found: list[list[str]]
) -> None:
    """TEF-58: ?k is bound by the left side of WITHOUT, ?n before it."""
    where = "?x first ?n SEQ ((?x bb ?k SEQ ?x cc ?c) WITHOUT (?x dd ?m, ?m > ?n + ?k))"
    assert rows_of(where, [("first", 1), ("bb", 1), ("dd", value), ("cc", 1)]) == found


STOPS = [("ef", 1), ("eg", 5), ("first", 3), ("stop", 0), ("first", 9), ("stop", 0)]


def test_a_union_beside_other_facts_sees_what_is_bound_further_left() -> None:
    """TEF-58, TEF-69: f2 is 5, which is more than 3 and not more than 9."""
    union = "(?x f1 ?k, ((?x f2 ?m, ?m > ?n) UNION (?x f3 ?m, ?m > ?n)))"
    assert rows_of(f"?x first ?n SEQ (?x stop ?z DURING {union})", STOPS, "?n ?m") == [["3", "5"]]
    assert rows_of(f"?x first ?n SEQ (?x stop ?z WITHOUT {union})", STOPS) == [["9"]]


def test_without_inside_without_over_facts_sees_what_is_bound_further_left() -> None:
    """TEF-32, TEF-37, TEF-58: f2, which is 5, hides f1 where ?n is 3, and not where it is 9."""
    where = "?x first ?n SEQ (?x stop ?z WITHOUT (?x f1 ?k WITHOUT (?x f2 ?m, ?m > ?n)))"
    assert rows_of(where, STOPS) == [["3"]]
    where = "?x first ?n SEQ (?x stop ?z DURING (?x f2 ?k WITHOUT (?x f1 ?l WITHOUT (?x f2 ?m, ?m > ?n))))"
    assert rows_of(where, STOPS) == [["3"]]
    where = "?x first ?n SEQ (?x stop ?z WITHOUT (?x f1 ?k WITHOUT ?x f2 ?n))"
    assert rows_of(where, [("ef", 1), ("eg", 5), ("first", 5), ("stop", 0), ("first", 9), ("stop", 0)]) == [["5"]]


def test_a_side_of_a_union_sees_what_is_bound_further_left() -> None:
    """TEF-58, TEF-69: the first side tests the ?n that is bound further left; ?m of the second is dropped."""
    events = [("ef", 5), ("first", 3), ("stop", 0), ("first", 9), ("stop", 0)]
    union = "((?x f1 ?k, ?k > ?n) UNION (?x f2 ?m))"
    assert rows_of(f"?x first ?n SEQ (?x stop ?z DURING {union})", events) == [["3"]]
    assert rows_of(f"?x first ?n SEQ (?x stop ?z WITH {union})", events) == [["3"]]
    assert rows_of(f"?x first ?n SEQ (?x stop ?z WITHOUT {union})", events) == [["9"]]
    assert rows_of(f"?x first ?n SEQ (?x stop ?z DURING {union})", [("eg", 7), *events]) == [["3"], ["9"]]


@pytest.mark.parametrize(("value", "absent", "there"), [(5, [], [["3"]]), (2, [["3"]], [])])
def test_a_fact_that_restarts_inside_without_sees_what_is_bound_further_left(
    value: int, absent: list[list[str]], there: list[list[str]]
) -> None:
    """TEF-38, TEF-39, TEF-58: gg, at 2, restarts f1 if it is more than ?n."""
    restarted = "((?x f1 ?k WITHOUT (?x gg ?m, ?m > ?n))[?s, ?_], ?s > 1)"
    events = [("ef", 1), ("first", 3), ("gg", value), ("stop", 0)]
    assert rows_of(f"?x first ?n SEQ (?x stop ?z WITHOUT {restarted})", events) == absent
    assert rows_of(f"?x first ?n SEQ (?x stop ?z DURING {restarted})", events) == there
    nested = f"?x first ?n SEQ (?x stop ?z WITHOUT (?x f1 ?l WITHOUT {restarted}))"
    assert rows_of(nested, events) == there


def test_what_restarts_a_fact_later_does_not_count() -> None:
    """TEF-23, TEF-38: gg comes after stop, which asked for f1."""
    where = "?x last ?n, (?x stop ?z WITHOUT ((?x f1 ?k WITHOUT (?x gg ?m, ?m > ?n))[?s, ?_], ?s > 0))"
    assert rows_of(where, [("ef", 1), ("stop", 0), ("gg", 5), ("last", 3)]) == [["3"]]
