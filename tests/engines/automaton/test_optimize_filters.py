"""Filters: taken apart, pushed into graph patterns, and made demands of earlier parts."""

from __future__ import annotations

import pytest

import thence
from support.rewriting import after, query_of
from thence.algebra.show import show
from thence.engines.automaton.plan.rules import early_filters, place_exists, push_filters, split_filters
from thence.errors import QueryError

pytestmark = pytest.mark.numba

A = "?x :a ?a"
A_SHOWN = "DEFINE GPM A ON S { ?x <x:a> ?a . }"
B_SHOWN = "DEFINE GPM B ON S { ?x <x:b> ?b . }"


def test_conditions_joined_by_and_become_filters_of_their_own() -> None:
    query = query_of("A", A=f"{A} FILTER(?a > 1 && (?a < 5 || ?a = 9) && ?a != 3)")
    assert after(split_filters, query) == (
        "SEQ (A) DEFINE GPM A ON S { ?x <x:a> ?a . FILTER (?a > 1) FILTER (?a < 5 || ?a = 9) FILTER (?a != 3) }"
    )


def test_an_and_below_something_else_stays() -> None:
    query = query_of("A", A=f"{A} FILTER(!(?a > 1 && ?a < 5))")
    assert split_filters(query) == query


def test_a_filter_that_its_own_event_decides_goes_into_the_graph_pattern() -> None:
    query = query_of("A ; B", A=A, B="?x :b ?b FILTER(?b > 1) FILTER(?b > ?a)")
    assert after(push_filters, query) == (
        f"SEQ (A; B) {A_SHOWN} DEFINE GPM B ON S {{ {{ ?x <x:b> ?b . FILTER (?b > 1) }} FILTER (?b > ?a) }}"
    )


def test_a_filter_over_a_graph_block_takes_that_block_along() -> None:
    query = query_of("A", A=f"{A} GRAPH :g {{ ?x :k ?k }} GRAPH :h {{ ?x :l ?l }} FILTER(?k > ?a)")
    assert after(push_filters, query) == (
        "SEQ (A) DEFINE GPM A ON S { { ?x <x:a> ?a . GRAPH <x:g> { ?x <x:k> ?k . } FILTER (?k > ?a) }"
        " GRAPH <x:h> { ?x <x:l> ?l . } }"
    )


def test_a_variable_that_nothing_else_binds_may_be_unbound() -> None:
    query = query_of("A ; B", A="?x :a ?a OPTIONAL { ?x :o ?o } FILTER(!BOUND(?o))", B="?x :b ?b")
    assert push_filters(query).gpm("A").filters == ()


@pytest.mark.parametrize(
    ("sequence", "optional"),
    [("A ; B", "?o"), ("A ; A", "?p")],
    ids=["another GPM binds it", "its own GPM stands in two places"],
)
def test_a_filter_stays_where_another_event_may_bind_its_variable(sequence: str, optional: str) -> None:
    query = query_of(
        sequence, A=f"?x :a ?a OPTIONAL {{ ?x :o {optional} }} FILTER(!BOUND({optional}))", B="?x :b ?b ; :o ?o"
    )
    assert push_filters(query) == query


def test_exists_is_asked_of_its_own_event_whether_or_not_queries_are_optimised() -> None:
    query = query_of("A ; B", A=A, B="?x :b ?b FILTER(?b > ?a && EXISTS { ?x :c ?c })")
    assert after(place_exists, query) == (
        f"SEQ (A; B) {A_SHOWN} DEFINE GPM B ON S {{"
        " { ?x <x:b> ?b . FILTER (EXISTS { ?x <x:c> ?c . }) } FILTER (?b > ?a) }"
    )


@pytest.mark.parametrize("optimise", [True, False])
def test_exists_lets_through_the_events_that_have_it(optimise: bool) -> None:
    text = show(query_of("A ; B", A=A, B="?x :b ?b FILTER(?b > ?a && EXISTS { ?x :c ?c })"))
    graphs = ["<x:h> <x:a> 1 .", "<x:h> <x:b> 2 .", "<x:h> <x:b> 2 ; <x:c> 3 ."]
    events = [thence.Event(time, graph) for time, graph in enumerate(graphs)]
    assert [match.times for match in thence.parse(text).match(events, optimise=optimise)] == [(0, 2)]


def test_a_condition_of_which_exists_is_only_a_part_must_be_about_one_event() -> None:
    query = query_of("A ; B", A=A, B="?x :b ?b FILTER(?b > ?a || EXISTS { ?x :c ?c })")
    with pytest.raises(QueryError) as caught:
        place_exists(query)
    assert " ".join(str(caught.value).split()) == (
        "A FILTER of GPM B combines EXISTS, which reads its own event, with ?a, which another event may bind:"
        " ?b > ?a || EXISTS { ?x <x:c> ?c . }. Try: a FILTER of its own for each"
    )


C = "?x :c ?c FILTER(?b > ?a)"
C_SHOWN = "DEFINE GPM C ON S { ?x <x:c> ?c . FILTER (?b > ?a) }"


def demanded(sequence: str, **gpms: str) -> str:
    """The demands that early_filters finds."""
    query = query_of(sequence, **{"A": A, "B": "?x :b ?b", "C": C, "D": "?x :d ?d"} | gpms)
    found = early_filters(query)
    listed = [(part.operand, part.demands) for part in found.sequence]
    return "; ".join(f"{operand.gpm}: {len(demands)}" for operand, demands in listed if demands)


def test_a_later_filter_becomes_a_demand_of_the_part_that_decides_it_and_stays() -> None:
    query = query_of("A ; B ; C", A=A, B="?x :b ?b", C=C)
    assert after(early_filters, query) == f"SEQ (A; B; C) AFTER B FILTER (?b > ?a) {A_SHOWN} {B_SHOWN} {C_SHOWN}"


def test_a_filter_over_the_first_part_alone_is_decided_there() -> None:
    assert demanded("A ; B ; C", C="?x :c ?c FILTER(?a > 3)") == "A: 1"


def test_a_closure_decides_nothing_about_its_locals_before_it_has_ended() -> None:
    assert demanded("A ; B+ ; C") == ""
    assert demanded("A ; B+ ; D ; C") == "D: 1"


def test_a_closure_whose_first_iteration_fails_a_later_filter_goes_on() -> None:
    text = show(query_of("A ; B+ , C", A=A, B="?x :b ?b", C=C))
    graphs = ["<x:h> <x:a> 2 .", "<x:h> <x:b> 1 .", "<x:h> <x:b> 3 .", "<x:h> <x:c> 0 ."]
    events = [thence.Event(time, graph) for time, graph in enumerate(graphs)]
    assert [match.times for match in thence.parse(text).match(events)] == [(0, 3)]


def test_a_closure_decides_what_keeps_one_value_through_its_iterations() -> None:
    assert demanded("A ; B+ ; D ; C", D="?x :d ?b") == "B: 1"


def test_an_optional_part_decides_only_where_it_is_there() -> None:
    assert demanded("A ; B? ; C") == "B: 1"
    assert demanded("A ; B? ; D ; C", D="?x :d ?b") == "B: 1; D: 1"


@pytest.mark.parametrize("sequence", ["A ; B ; C?", "A ; B ; C! ; D", "A ; B ; (C | D)"])
def test_what_not_every_match_must_pass_is_no_demand(sequence: str) -> None:
    query = query_of(sequence, A=A, B="?x :b ?b", C=C, D="?x :d ?d")
    assert early_filters(query) == query


def test_what_every_alternative_asks_is_a_demand() -> None:
    assert demanded("A ; B ; (C | D)", D="?x :d ?d FILTER(?b > ?a)") == "B: 1"


def test_a_negation_decides_nothing() -> None:
    assert demanded("A ; N! ; B ; C", N="?x :n ?n") == "B: 1"


@pytest.mark.parametrize("condition", ["RAND() < ?a", "NOW() > ?a", "EXISTS { ?x :z ?z } = ?a"])
def test_what_may_be_otherwise_later_is_no_demand(condition: str) -> None:
    assert demanded("A ; B ; C", C=f"?x :c ?c FILTER({condition})") == ""


def test_a_variable_that_may_be_unbound_decides_nothing() -> None:
    assert demanded("A ; B ; C", B="?x :z ?z OPTIONAL { ?x :b ?b }") == ""
