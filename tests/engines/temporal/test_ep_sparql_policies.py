"""EP-SPARQL under a policy: what SEQ selects, what rows consume, and which queries are rejected (EP-66 – EP-73)."""

from __future__ import annotations

import pytest

from support.ep_sparql_policies_support import _batch, rows
from thence.engines.temporal import state as temporal_state
from thence.engines.temporal.plan.ep_sparql import compile_query
from thence.errors import InputError, QueryError
from thence.lang.ep_sparql.parser import parse
from thence.local.flow import LocalFlow

pytestmark = pytest.mark.numba

PREFIX = "PREFIX : <http://example.org/> "
ONE_THEN_OTHER = PREFIX + "SELECT * WHERE { { ?x :p ?n } SEQ { ?y :q ?m } }"


# What is selected


def test_chronological_takes_the_first_partner_and_recent_the_last() -> None:
    events = "1: a p 1\n2: b p 2\n3: c q 3"
    assert rows(ONE_THEN_OTHER, events, "chronological") == ["1-3 m=3 n=1 x=a y=c | e1 e3"]
    assert rows(ONE_THEN_OTHER, events, "recent") == ["2-3 m=3 n=2 x=b y=c | e2 e3"]


def test_ties_are_all_kept() -> None:
    """RS-37, RS-40."""
    events = "1: a p 1\n1: b p 2\n3: c q 3"
    both = ["1-3 m=3 n=1 x=a y=c | e1 e3", "1-3 m=3 n=2 x=b y=c | e2 e3"]
    assert rows(ONE_THEN_OTHER, events, "chronological") == both
    assert rows(ONE_THEN_OTHER, events, "recent") == both


def test_filters_are_judged_on_the_whole_chain_before_a_seq_selects() -> None:
    """EP-69, its example."""
    query = PREFIX + "SELECT ?p1 ?p2 WHERE { { ?c :price ?p1 } SEQ { ?c :price ?p2 } FILTER(?p2 < ?p1 * 0.7) }"
    events = "1: a price 100\n2: a price 90\n3: a price 60"
    assert rows(query, events, "chronological") == ["1-3 p1=100 p2=60 | e1 e3"]
    assert rows(query, events, "recent") == ["2-3 p1=90 p2=60 | e2 e3"]


BRACES = (
    "{ ?x :p ?n } SEQ { ?y :q ?m } SEQ { ?z :r ?k } FILTER(?n = 2)",
    "{ { ?x :p ?n } SEQ { ?y :q ?m } } SEQ { ?z :r ?k } FILTER(?n = 2)",
)


@pytest.mark.parametrize("where", BRACES)
def test_braces_around_the_left_side_change_nothing(where: str) -> None:
    """EP-7, EP-69: all SEQs are those of one chain."""
    events = "1: a p 1\n2: b p 2\n3: c q 3\n4: d r 4"
    found = rows(f"{PREFIX} SELECT ?n WHERE {{ {where} }}", events, "chronological")
    assert found == ["2-4 n=2 | e2 e3 e4"]


NESTED_FILTERS = ("", "FILTER(true)", "FILTER(?n < 3)")


@pytest.mark.parametrize("own", NESTED_FILTERS)
def test_an_outer_filter_reaches_into_a_left_operand_with_a_filter_of_its_own(own: str) -> None:
    """EP-69: `FILTER(true)` in a group changes nothing."""
    left = f"{{ {{ ?x :p ?n }} SEQ {{ ?y :q ?m }} {own} }}"
    query = f"{PREFIX} SELECT ?n WHERE {{ {left} SEQ {{ ?z :r ?k }} FILTER(?n = 2) }}"
    events = "1: a p 1\n2: b p 2\n3: c q 3\n4: d r 4"
    assert rows(query, events, "chronological") == ["2-4 n=2 | e2 e3 e4"]
    assert rows(query, events, "recent") == ["2-4 n=2 | e2 e3 e4"]


@pytest.mark.parametrize("own", ["", "FILTER(true)", "FILTER(?y < 9)"])
def test_a_group_inside_a_group_has_the_filters_of_both(own: str) -> None:
    """EP-69: all of them are judged on the whole chain before its SEQ selects."""
    query = f"{PREFIX} SELECT * WHERE {{ {{ {{ :a :p ?x }} SEQ {{ :a :p ?y }} {own} }} FILTER(?y < ?x) }}"
    events = "1: a p 5\n2: a p 9\n3: a p 7\n4: a p 1"
    assert rows(query, events, "chronological") == ["2-3 x=9 y=7 | e2 e3", "1-4 x=5 y=1 | e1 e4"]
    assert rows(query, events, "recent") == ["2-3 x=9 y=7 | e2 e3", "1-4 x=5 y=1 | e1 e4"]


@pytest.mark.parametrize("own", ["", "FILTER(true)", "FILTER(?m < 4)"])
def test_a_right_operand_may_be_a_group_inside_a_group(own: str) -> None:
    """EP-69: the filters of both are the operand's own."""
    right = f"{{ {{ {{ ?x :p ?n }} SEQ {{ ?y :q ?m }} {own} }} FILTER(?n = 2) }}"
    query = f"{PREFIX} SELECT ?n WHERE {{ {{ ?z :r ?k }} SEQ {right} }}"
    events = "0: d r 4\n1: a p 1\n2: b p 2\n3: c q 3"
    assert rows(query, events, "chronological") == ["0-3 n=2 | e1 e3 e4"]


@pytest.mark.parametrize("own", NESTED_FILTERS)
def test_an_outer_filter_does_not_reach_into_a_right_operand(own: str) -> None:
    """EP-69, RS-36: chronological chooses :p 1 there, which the outer filter then refuses."""
    right = f"{{ {{ ?x :p ?n }} SEQ {{ ?y :q ?m }} {own} }}"
    query = f"{PREFIX} SELECT ?n WHERE {{ {{ ?z :r ?k }} SEQ {right} FILTER(?n = 2) }}"
    events = "0: d r 4\n1: a p 1\n2: b p 2\n3: c q 3"
    assert rows(query, events, "chronological") == []
    assert rows(query, events, "recent") == ["0-3 n=2 | e1 e3 e4"]


def test_a_filter_in_the_left_operand_of_a_right_operand_reaches_no_further() -> None:
    """EP-69: the filter on ?n stands in the whole right operand, and so reaches into its left one."""
    inner = "{ { { ?x :p ?n } SEQ { ?y :q ?m } FILTER(true) } SEQ { ?v :s ?w } FILTER(?n = 2) }"
    query = f"{PREFIX} SELECT ?n WHERE {{ {{ ?z :r ?k }} SEQ {inner} }}"
    events = "0: d r 4\n1: a p 1\n2: b p 2\n3: c q 3\n4: e s 5"
    assert rows(query, events, "chronological") == ["0-4 n=2 | e1 e3 e4 e5"]


def test_a_chain_on_the_left_selects_among_what_the_right_side_leaves() -> None:
    """RS-35: compatible with μ2, and ending before t3."""
    inner = "{ { ?x :p ?n } SEQ { ?y :q ?m } FILTER(?m > 0) }"
    query = f"{PREFIX} SELECT ?x ?y WHERE {{ {inner} SEQ {{ ?y :r ?k }} }}"
    events = "1: a p 1\n2: b q 2\n3: c q 3\n4: c r 4"
    assert rows(query, events, "chronological") == ["1-4 x=a y=c | e1 e3 e4"]


def test_a_chain_on_the_right_selects_without_regard_to_partners() -> None:
    """RS-36."""
    query = PREFIX + "SELECT ?x ?z WHERE { { ?x :p ?n } SEQ { { ?y :q ?m } SEQ { ?z :r ?k } } }"
    events = "1: b q 1\n2: a p 2\n3: c q 3\n4: d r 4"
    assert rows(query, events, "chronological") == []  # b is first, and nothing precedes it
    assert rows(query, events, "recent") == ["2-4 x=a z=d | e2 e3 e4"]


def test_a_rival_that_ended_earlier_can_beat_a_row() -> None:
    """EP-70: what ended at 3 was not a row then, and is none at 5."""
    events = "0: a p 0\n1: b p 1\n2-3: c q 2\n3: d q 3\n5: e q 5"
    assert rows(ONE_THEN_OTHER, events, "chronological") == ["0-3 m=2 n=0 x=a y=c | e1 e3"]
    assert rows(ONE_THEN_OTHER, events, "recent") == [
        "1-3 m=3 n=1 x=b y=d | e2 e4",
        "0-5 m=5 n=0 x=a y=e | e1 e5",
    ]


def test_rivals_agree_in_the_shared_variables() -> None:
    """RS-41."""
    query = PREFIX + "SELECT ?x ?m WHERE { { ?x :p ?n } SEQ { ?x :q ?m } }"
    events = "1: a p 1\n1: b p 1\n2-3: a q 2\n3: b q 3"
    assert rows(query, events, "chronological") == ["1-3 m=2 x=a | e1 e3", "1-3 m=3 x=b | e2 e4"]


# What is consumed


def test_an_emitted_row_consumes_whole_events() -> None:
    """EP-71: the triples of e1 that are not in the row are consumed too."""
    events = "1: a p 1 . b p 2\n2: c q 3\n3: d q 4\n4: f p 5\n5: e q 6"
    assert rows(ONE_THEN_OTHER, events, "chronological") == [
        "1-2 m=3 n=1 x=a y=c | e1 e2",
        "1-2 m=3 n=2 x=b y=c | e1 e2",
        "4-5 m=6 n=5 x=f y=e | e4 e5",
    ]


def test_an_occurrence_of_two_events_is_consumed_twice() -> None:
    """EP-72: it stays visible while one of its events is; the first visible one is listed and consumed."""
    events = "1: a p 1\n1: a p 1\n2: b q 2\n3: c q 3\n4: d q 4"
    expected = ["1-2 m=2 n=1 x=a y=b | e1 e3", "1-3 m=3 n=1 x=a y=c | e2 e4"]
    assert rows(ONE_THEN_OTHER, events, "chronological") == expected
    assert rows(ONE_THEN_OTHER, events, "recent", watermarks=(1, 2, 3)) == expected


def test_a_policy_consumes_for_its_own_statement() -> None:
    """EP-71."""
    second = "SELECT ?y WHERE { { ?x :p ?n } SEQ { ?y :q ?m } }"
    assert rows(ONE_THEN_OTHER + second, "1: a p 1\n2: b q 2", "chronological") == [
        "1: 1-2 m=2 n=1 x=a y=b | e1 e2",
        "2: 1-2 y=b | e1 e2",
    ]


def test_unrestricted_selects_and_consumes_nothing() -> None:
    """EP-66."""
    events = "1: a p 1\n2: b p 2\n3: c q 3\n4: d q 4"
    assert len(rows(ONE_THEN_OTHER, events, "unrestricted")) == 4
    assert len(rows(ONE_THEN_OTHER, events, "")) == 4


def test_background_is_never_consumed() -> None:
    """EP-71; a timeless solution precedes all others (RS-33, EP-35)."""
    found = rows(ONE_THEN_OTHER, "1: b q 1\n2: c q 2", "chronological", background="a p 0")
    assert found == ["1-1 m=1 n=0 x=a y=b | e1", "2-2 m=2 n=0 x=a y=c | e2"]
    found = rows(ONE_THEN_OTHER, "1: a p 1\n2: b p 2\n3: c p 3", "chronological", background="d q 0")
    assert found == ["1-1 m=0 n=1 x=a y=d | e1", "2-2 m=0 n=2 x=b y=d | e2", "3-3 m=0 n=3 x=c y=d | e3"]


# State


def test_rows_wait_until_their_instant_is_closed() -> None:
    """EP-43."""
    flow = LocalFlow(compile_query(parse(ONE_THEN_OTHER), policy="recent"))
    assert list(flow.feed({"events": [_batch("1: a p 1\n2: b q 2")]}, 2)) == []
    assert len(list(flow.feed({}, 3))) == 1


@pytest.mark.parametrize("policy", ["chronological", "recent"])
def test_renumbered_terms_are_the_same_terms(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events = "0: a p 0\n1: b p 1\n2-3: c q 2\n3: d q 3\n5: e q 5\n6: f p 6\n7: a q 7"
    expected = rows(ONE_THEN_OTHER, events, policy)
    monkeypatch.setattr(temporal_state, "_FEW_TERMS", 0)
    assert rows(ONE_THEN_OTHER, events, policy, watermarks=(1, 3, 4, 6), restart=False) == expected


@pytest.mark.parametrize("policy", ["chronological", "recent"])
def test_only_events_that_a_row_may_list_are_held(policy: str) -> None:
    flow = LocalFlow(compile_query(parse(ONE_THEN_OTHER), policy=policy))
    assert len(list(flow.feed({"events": [_batch("1: a p 1\n2: b q 2\n3: c p 3\n4: d r 4")]}, 4))) == 1
    assert flow.hosts[0].held().tolist() == [2]


# What is rejected


CHAIN = "{ ?x :p ?n } SEQ { ?y :q ?m }"
REJECTED = {
    f"CONSTRUCT {{ ?x :r ?y }} WHERE {{ {CHAIN} }} SELECT * WHERE {{ {CHAIN} }}": "this file has CONSTRUCT",
    f"SELECT DISTINCT * WHERE {{ {CHAIN} }}": "DISTINCT",
    f"SELECT REDUCED * WHERE {{ {CHAIN} }}": "REDUCED",
    f"SELECT (COUNT(*) AS ?c) WHERE {{ {CHAIN} }}": "an aggregate",
    f"SELECT (EXISTS {{ ?x :r ?y }} AS ?c) WHERE {{ {CHAIN} }}": "EXISTS",
    f"SELECT ?x WHERE {{ {CHAIN} }} GROUP BY ?x": "GROUP BY",
    f"SELECT ?x WHERE {{ {CHAIN} }} ORDER BY ?x": "ORDER BY",
    f"SELECT ?x WHERE {{ {CHAIN} }} LIMIT 1": "LIMIT",
    f"SELECT ?x WHERE {{ {CHAIN} }} OFFSET 1": "OFFSET",
    f"SELECT ?x WHERE {{ {CHAIN} }} VALUES ?x {{ :a }}": "VALUES",
    "SELECT * WHERE { ?x :p ?n }": "no SEQ",
    "SELECT * WHERE { }": "no SEQ",
    "SELECT * WHERE { { ?x :p ?n } EQUALS { ?y :q ?m } }": "EQUALS",
    f"SELECT * WHERE {{ {CHAIN} OPTIONALSEQ {{ ?z :r ?k }} }}": "OPTIONALSEQ",
    f"SELECT * WHERE {{ {CHAIN} EQUALSOPTIONAL {{ ?z :r ?k }} }}": "EQUALSOPTIONAL",
    f"SELECT * WHERE {{ {CHAIN} UNION {{ ?z :r ?k }} }}": "UNION",
    "SELECT * WHERE { { { ?x :p ?n } UNION { ?x :r ?n } } SEQ { ?y :q ?m } }": "UNION",
    f"SELECT * WHERE {{ {CHAIN} OPTIONAL {{ ?z :r ?k }} }}": "OPTIONAL",
    f"SELECT * WHERE {{ {CHAIN} MINUS {{ ?x :r ?k }} }}": "MINUS",
    f"SELECT * WHERE {{ {CHAIN} BIND(1 AS ?k) }}": "BIND",
    f"SELECT * WHERE {{ {CHAIN} FILTER EXISTS {{ ?x :r ?k }} }}": "EXISTS",
    f"SELECT * WHERE {{ {CHAIN} VALUES ?x {{ :a }} }}": "VALUES",
    f"SELECT * WHERE {{ {CHAIN} GRAPH :g {{ ?x :r ?k }} }}": "GRAPH",
    "SELECT * WHERE { { ?x :p ?n } SEQ { GRAPH :g { ?y :q ?m } } }": "GRAPH",
    f"SELECT * WHERE {{ {CHAIN} {{ ?x :r ?k }} }}": "elements beside the chain",
    "SELECT * WHERE { { ?x :p ?n } SEQ { ?y :q ?m { ?y :r ?k } } }": "elements beside the chain",
    "SELECT * WHERE { { ?x :p ?n } SEQ { } }": "an empty group",
    "SELECT * WHERE { { ?x :p ?n } SEQ { SELECT ?y WHERE { ?y :q ?m } } }": "a sub-select",
    "SELECT * WHERE { { ?x :p* ?n } SEQ { ?y :q ?m } }": "a path with *, + or ?",
    "SELECT * WHERE { { ?x :p/:q+ ?n } SEQ { ?y :q ?m } }": "a path with *, + or ?",
    "SELECT * WHERE { { ?x ^(:p|:q?) ?n } SEQ { ?y :q ?m } }": "a path with *, + or ?",
}


@pytest.mark.parametrize(("query", "reason"), REJECTED.items())
def test_a_query_that_no_policy_applies_to_is_rejected_by_name(query: str, reason: str) -> None:
    """EP-67."""
    file = parse(PREFIX + query)
    compile_query(file)
    with pytest.raises(QueryError) as caught:
        compile_query(file, policy="chronological")
    named = reason if reason.startswith("this file") else f"this one has {reason}"
    assert str(caught.value).startswith(f"policy= needs a SELECT over a chain of SEQs and filters; {named}. Try: ")


def test_the_error_has_a_cure_and_the_number_of_the_select() -> None:
    file = parse(f"{PREFIX} SELECT * WHERE {{ {CHAIN} }} SELECT DISTINCT * WHERE {{ {CHAIN} }}")
    with pytest.raises(QueryError) as caught:
        compile_query(file, policy="recent")
    reason = "policy= needs a SELECT over a chain of SEQs and filters; SELECT 2 has DISTINCT. Try: remove DISTINCT"
    assert str(caught.value) == reason


def test_an_unknown_policy_is_rejected() -> None:
    with pytest.raises(InputError) as caught:
        compile_query(parse(ONE_THEN_OTHER), policy="newest")
    assert str(caught.value) == 'policy="newest" is not supported. Try: unrestricted, chronological or recent'


ADMITTED = (
    "{ ?x :p/:q ?n } SEQ { ?y :q ?m }",
    "{ ?x :p|^:q ?n } SEQ { ?y !(:q|^:p) ?m }",
    "?x :p ?n ; :q ?k SEQ { ?y :q [] FILTER(?y != :a) } FILTER(getDURATION() < 3)",
)


@pytest.mark.parametrize("where", ADMITTED)
def test_triples_of_an_operand_may_be_several_and_have_paths(where: str) -> None:
    program = compile_query(parse(f"{PREFIX} SELECT * WHERE {{ {where} }}"), policy="recent").stages[0].program
    assert program.waits_for_time
    assert program.shard_key.reason == "a policy chooses among all events"
