"""WITHIN, PARTITION BY and GRAPH."""

from __future__ import annotations

import pytest

from oracle.expressions import Compare
from oracle.spaseq import Background
from oracle.spaseq_cases import ask, event, found, gpm, graph, line, pattern, table
from oracle.spaseq_query import GraphBlock, Within
from oracle.terms import Iri, Var, integer


def test_a_sliding_window_includes_its_edge() -> None:
    query = ask("A : B", within=2)
    assert found(query, line("a1 x b1 b2")) == ["a1 b1"]


def test_a_window_is_measured_from_the_first_event_to_the_last() -> None:
    assert found(ask("A ; B ; C", within=3), line("a1 b1 x c1")) == ["a1 b1 c1"]
    assert found(ask("A ; B ; C", within=2), line("a1 b1 x c1")) == []


def test_a_window_ends_a_closure_but_not_its_prefixes() -> None:
    assert found(ask("B+", within=1), line("b1 b2 b3")) == ["b1", "b1 b2", "b2", "b2 b3", "b3"]


def test_a_window_does_not_change_what_is_next() -> None:
    assert found(ask("A ; B ; C", within=3), line("a1 b1 x x c1 b2 c2")) == []


@pytest.mark.parametrize(
    ("window", "matches"),
    [
        (Within(2, tumbling=True), ["a2 b2", "a4 b4"]),  # [0, 2], [2, 4], [4, 6]
        (Within(2, tumbling=True, start=1), ["a1 b1", "a3 b3"]),  # [1, 3], [3, 5]
        (Within(2, tumbling=True, start=3), ["a3 b3"]),
    ],
)
def test_a_tumbling_window_is_closed_at_both_ends(window: Within, matches: list[str]) -> None:
    # a1 at 1 and b1 at 3; a2 at 2 and b2 at 4; a3 at 3 and b3 at 5; a4 at 4 and b4 at 6
    query = ask("A ; B", gpm("A", k="?k"), gpm("B", k="?k"), within=window)
    events = [event(f"a{k}", k, k=k) for k in (1, 2, 3, 4)] + [event(f"b{k}", k + 2, k=k) for k in (1, 2, 3, 4)]
    assert found(query, events) == matches


def test_a_match_in_two_tumbling_windows_is_given_once() -> None:
    assert found(ask("A", within=Within(2, tumbling=True)), [event("a1", 4)]) == ["a1"]


def test_events_before_the_first_tumbling_window_are_ignored() -> None:
    assert found(ask("A", within=Within(2, tumbling=True, start=2)), line("a1 a2 a3")) == ["a2", "a3"]


def test_without_a_window_a_match_may_take_for_ever() -> None:
    assert found(ask("A ; B"), [event("a1", 1), event("b1", 10**15)]) == ["a1 b1"]


COMPANIES = (gpm("A", c="?c"), gpm("B", c="?c"))


def test_only_events_of_the_runs_partition_break_contiguity() -> None:
    query = ask("A , B", *COMPANIES, partition=("c",))
    assert found(query, [event("a1", 1, c=1), event("a2", 2, c=2), event("b1", 3, c=1)]) == ["a1 b1"]
    assert found(query, [event("a1", 1, c=1), event("a2", 2, c=1), event("b1", 3, c=1)]) == ["a2 b1"]


def test_an_event_that_no_gpm_maps_is_in_no_partition() -> None:
    query = ask("A , B", *COMPANIES, partition=("c",))
    assert found(query, [event("a1", 1, c=1), event("x1", 2, c=1), event("b1", 3, c=1)]) == ["a1 b1"]


def test_partitions_are_judged_without_filters() -> None:
    high = gpm("B", Compare(">", Var("v"), integer(5)), c="?c", v="?v")
    query = ask("A , B", gpm("A", c="?c"), high, partition=("c",))
    events = [event("a1", 1, c=1), event("b1", 2, c=1, v=3), event("b2", 3, c=1, v=9)]
    assert found(query, events) == []
    assert found(query, [events[0], event("b1", 2, c=2, v=3), events[2]]) == ["a1 b2"]


def test_partitions_are_judged_without_graph() -> None:
    known = gpm("B", c="?c", graphs=(GraphBlock("db", pattern("?b known yes")),))
    query = ask("A , B", gpm("A", c="?c"), known, partition=("c",))
    events = [event("a1", 1, c=1), event("b1", 2, c=1), event("b2", 3, c=1)]
    assert found(query, events, {"db": graph("b2 known yes")}) == []


def test_only_gpms_on_an_events_own_stream_put_it_in_a_partition() -> None:
    query = ask("A , B", gpm("A", c="?c"), gpm("B", c="?c", on="S2"), partition=("c",))
    events = [event("a1", 1, c=1), event("a2", 2, c=1, stream="S2"), event("b1", 3, c=1, stream="S2")]
    assert found(query, events) == ["a1 b1"]


def test_an_event_may_be_in_several_partitions() -> None:
    query = ask("A , B", *COMPANIES, partition=("c",))
    events = [event("a1", 1, c=1), event("a2", 2, c=2), event("b0", 3, c=(1, 2)), event("b1", 4, c=1)]
    assert found(query, events) == ["a1 b0", "a2 b0"]


def test_a_partition_of_two_variables_is_both_together() -> None:
    pair = (gpm("A", c="?c", d="?d"), gpm("B", c="?c", d="?d"))
    query = ask("A , B", *pair, partition=("c", "d"))
    events = [event("a1", 1, c=1, d=1), event("a2", 2, c=1, d=2), event("b1", 3, c=1, d=1)]
    assert found(query, events) == ["a1 b1"]


def test_a_closures_iterations_are_contiguous_within_the_partition() -> None:
    query = ask("A , B+", *COMPANIES, partition=("c",))
    events = [event("a1", 1, c=1), event("b1", 2, c=1), event("a2", 3, c=2), event("b2", 4, c=1)]
    assert found(query, events) == ["a1 b1", "a1 b1 b2"]


def test_a_run_has_one_partition_even_where_a_closure_is_alone() -> None:
    query = ask("B+", gpm("B", c="?c"), partition=("c",))
    assert found(query, [event("b1", 1, c=1), event("b2", 2, c=2), event("b3", 3, c=1)]) == ["b1", "b1 b3", "b2", "b3"]


def test_a_negated_gpm_need_not_know_the_partition() -> None:
    query = ask("A , N! , B", *COMPANIES, partition=("c",))
    # with PARTITION BY the gap before `,` is not empty: n1 is in no partition, and so breaks the negation alone
    assert found(query, [event("a1", 1, c=1), event("n1", 2), event("b1", 3, c=1)]) == []
    assert found(query, [event("a1", 1, c=1), event("x1", 2), event("b1", 3, c=1)]) == ["a1 b1"]


OWNED = gpm("B", graphs=(GraphBlock("db", pattern("?b owner ?o")),))


def test_each_solution_of_graph_gives_a_mapping() -> None:
    known = graph("b1 owner x", "b1 owner y")
    owners = {cells["o"] for _, cells in table(ask("B", OWNED), line("b1"), {"db": known})}
    assert owners == {Iri("x"), Iri("y")}


def test_several_graph_blocks_join() -> None:
    blocks = (GraphBlock("db", pattern("?b owner ?o")), GraphBlock("web", pattern("?o in ?city")))
    background: Background = {"db": graph("b1 owner x", "b1 owner y"), "web": graph("x in Lyon")}
    rows = table(ask("B", gpm("B", graphs=blocks)), line("b1"), background)
    assert rows == [(1, {"b": Iri("b1"), "o": Iri("x"), "city": Iri("Lyon")})]


def test_an_event_that_graph_knows_nothing_of_blocks_no_next() -> None:
    assert found(ask("A ; B", OWNED), line("a1 b1 b2"), {"db": graph("b2 owner x")}) == ["a1 b2"]


def test_an_event_that_graph_knows_nothing_of_breaks_no_negation() -> None:
    assert found(ask("A ; B! ; C", OWNED), line("a1 b1 c1"), {"db": graph("b2 owner x")}) == ["a1 c1"]
    assert found(ask("A ; B! ; C", OWNED), line("a1 b1 c1"), {"db": graph("b1 owner x")}) == []


def test_an_event_that_graph_knows_nothing_of_is_no_iteration() -> None:
    assert found(ask("A , B+", OWNED), line("a1 b1 b2"), {"db": graph("b1 owner x")}) == ["a1 b1"]


def test_what_graph_binds_is_local_to_a_closure_or_not_like_all_else() -> None:
    known = graph("b1 owner x", "b2 owner y")
    assert found(ask("A , B+", OWNED), line("a1 b1 b2"), {"db": known}) == ["a1 b1", "a1 b1 b2"]
    same = gpm("A", graphs=(GraphBlock("db", pattern("?a owner ?o")),))
    known |= graph("a1 owner x")
    assert found(ask("A , B+", same, OWNED), line("a1 b1 b2"), {"db": known}) == ["a1 b1"]


def test_a_background_without_names_answers_for_every_iri() -> None:
    assert found(ask("B", OWNED), line("b1"), {None: graph("b1 owner x")}) == ["b1"]


def test_an_iri_that_no_background_has_is_an_error() -> None:
    with pytest.raises(KeyError):
        found(ask("B", OWNED), line("b1"), {"web": graph("b1 owner x")})
