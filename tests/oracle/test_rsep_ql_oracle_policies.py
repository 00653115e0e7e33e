"""RSEP-QL's order, selection and consumption: RS-30, RS-33 to RS-47."""

from __future__ import annotations

import pytest

from oracle.rsep_ql_notation import answers, event, group, match, over, query, select, window
from oracle.rsep_ql_query import Element, Event, Exists, Filter, First, Last, Minus, Not, Optional, Policy, Query, Seq

ALL = window("w")
A, B, C = event("A", "w", "?x a ?n"), event("B", "w", "?x b ?m"), event("C", "w", "?x c ?l")


def matching(words: str, *beside: Element, names: str = "x") -> Query:
    return query(select(names, match(words), *beside), ALL, A, B, C)


def events(found: list[str]) -> list[str]:
    """Without the bindings: `3: e1 e2`."""
    return [row.partition(" ")[0] + row.partition("|")[2] for row in found]


def chosen(words: str, data: str, report: list[int]) -> list[str]:
    return events(answers(matching(words), data, report=report))


def test_rs_30_seq_is_left_associative_and_first_and_last_bind_tighter() -> None:
    a, b, c = map(Event, "ABC")
    assert match("A SEQ B SEQ RECENT C").pattern == Seq(Seq(a, b), c, Policy.RECENT)
    assert match("FIRST A SEQ LAST B").pattern == Seq(First(a), Last(b))


def test_rs_33_order_is_by_ends_then_by_starts() -> None:
    data = "1~8: x a 1\n4~6: x a 2\n2~6: x a 3"
    assert chosen("FIRST A", data, [8]) == ["8: e3"]
    assert chosen("FIRST A", "\n".join(data.splitlines()[:2]), [8]) == ["8: e2"]
    assert chosen("LAST A", data, [8]) == ["8: e1"]


def test_rs_34_events_below_0_precede_too() -> None:
    assert chosen("A SEQ B", "-5: x a 1\n-3: x b 1", [0]) == ["0: e1 e2"]


def test_c_6_an_event_that_overlaps_does_not_precede() -> None:
    data = "1~3: x a 1\n3~5: x b 1\n4~6: x b 1"
    assert chosen("A SEQ B", data, [6]) == ["6: e1 e3"]


def test_rs_35_last_picks_the_last_compatible_before_each_e2() -> None:
    data = "1: x a 1\n2: x b 1\n3: x a 1\n4: x b 1\n5: y a 1"
    assert chosen("(LAST A) SEQ B", data, [5]) == ["5: e1 e2", "5: e3 e4"]
    assert chosen("LAST (A SEQ B)", data, [5]) == ["5: e3 e4"]
    assert chosen("FIRST A SEQ B", data, [5]) == ["5: e1 e2", "5: e1 e4"]


def test_rs_35_policies_inside_e1_choose_among_what_ends_before_e2() -> None:
    data = "1: x a 1\n2: x b 1\n3: x b 1\n4: x c 1\n5: x b 1"
    assert chosen("(A SEQ RECENT B) SEQ C", data, [5]) == ["5: e1 e3 e4"]
    assert chosen("(LAST (A SEQ B)) SEQ C", data, [5]) == ["5: e1 e3 e4"]


def test_rs_36_first_inside_e2_chooses_without_regard_to_partners() -> None:
    assert chosen("A SEQ (FIRST B)", "1: x b 1\n2: x a 1\n3: x b 1", [3]) == []
    assert chosen("A SEQ (FIRST B)", "2: x a 1\n3: y b 1\n4: x b 1", [4]) == []


def test_rs_37_first_and_last_keep_all_ties() -> None:
    data = "1: x a 1\n1: x a 2\n3: x b 1\n3: y b 1"
    assert chosen("FIRST A", data, [3]) == ["3: e1", "3: e2"]
    assert chosen("LAST B", data, [3]) == ["3: e3", "3: e4"]


def test_rs_37_over_a_seq_they_compare_whole_intervals() -> None:
    data = "1: x a 1\n2: x a 1\n3: x b 1\n4: x b 1"
    assert chosen("FIRST (A SEQ B)", data, [4]) == ["4: e1 e3"]
    assert chosen("LAST (A SEQ B)", data, [4]) == ["4: e2 e4"]


def test_rs_38_substitute_means_join() -> None:
    unbound = event("A", "w", "?u a ?n", Optional(group("?u d ?x")))
    of = query(select("u x", match("A SEQ B")), ALL, unbound, B)
    data = "1: u a 1 . u d y\n2: v a 1\n3: x b 1"
    assert answers(of, data, report=[3]) == ["3: u=v x=x | e2 e3"]


def test_rs_40_chronological_keeps_the_first_e2_with_the_first_partners_and_recent_the_last() -> None:
    data = "1: x a 1\n2: x a 1\n3: x b 1\n4: x b 1"
    assert chosen("A SEQ CHRONOLOGICAL B", data, [4]) == ["4: e1 e3"]
    assert chosen("A SEQ RECENT B", data, [4]) == ["4: e2 e4"]


def test_rs_41_rivals_agree_on_the_shared_variables() -> None:
    data = "1: x a 1\n2: y a 1\n3: x b 1\n4: y b 1\n5: x b 2"
    assert chosen("A SEQ CHRONOLOGICAL B", data, [5]) == ["5: e1 e3", "5: e2 e4"]
    assert chosen("A SEQ RECENT B", data, [5]) == ["5: e1 e5", "5: e2 e4"]


def test_rs_41_unbound_agrees_with_unbound_only() -> None:
    maybe = event("B", "w", "?u b ?m", Optional(group("?u d ?x")))
    of = query(select("*", match("A SEQ CHRONOLOGICAL B")), ALL, A, maybe)
    data = "1: x a 1\n2: u b 1\n3: u b 1 . u d x\n4: u b 1"
    assert events(answers(of, data, report=[4])) == ["4: e1 e2", "4: e1 e3"]


def test_rs_42_the_partners_of_a_rival_end_before_the_rivals_own_start() -> None:
    data = "2~6: x b 1\n3: x a 1\n5~7: x b 1"
    assert chosen("A SEQ CHRONOLOGICAL B", data, [7]) == ["7: e2 e3"]


def test_rs_43_naive_takes_the_last_of_both() -> None:
    data = "1: x a 1\n2: x b 1\n3: x a 1"
    assert chosen("A SEQ NAIVE B", data, [2, 3]) == ["2: e1 e2"]
    assert chosen("A SEQ NAIVE B", "1: x a 1\n2: x b 1\n3: y a 1", [3]) == ["3: e1 e2"]
    assert chosen("A SEQ NAIVE B", "1: x a 1\n2: x b 1\n3: y b 1", [3]) == []
    assert chosen("A SEQ NAIVE B", "1~4: x a 1\n2~4: x b 1", [4]) == ["4: e1 e2"]


def test_rs_43_naive_obeys_the_seq_around_it() -> None:
    data = "1: x a 1\n2: x b 1\n3: x c 1\n4: x a 1\n5: x b 1"
    assert chosen("(A SEQ NAIVE B) SEQ C", data, [5]) == ["5: e1 e2 e3"]


# Consumption


@pytest.mark.parametrize("policy", ["CHRONOLOGICAL", "RECENT"])
def test_rs_44_all_events_are_consumed_those_under_a_plain_seq_too(policy: str) -> None:
    words = f"A SEQ B SEQ {policy} C"
    assert chosen(words, "1: x a 1\n2: x b 1\n3: x c 1\n4: x b 1\n5: x c 1", [3, 5]) == ["3: e1 e2 e3"]
    assert chosen("A SEQ B SEQ C", "1: x a 1\n2: x b 1\n3: x c 1\n5: x c 1", [3, 5]) == [
        "3: e1 e2 e3",
        "5: e1 e2 e3",
        "5: e1 e2 e4",
    ]


def test_rs_44_what_where_drops_is_consumed_too() -> None:
    dropped = matching("A SEQ RECENT B", over("w", "?x ok 1"))
    data = "1: x a 1\n2: x b 1\n3: x ok 1 . x b 1"
    assert answers(dropped, data) == []
    assert events(answers(dropped, data, report=[3])) == ["3: e1 e3"]


def test_rs_45_consumption_takes_whole_events() -> None:
    data = "1: x a 1 . y a 1\n2: x b 1\n3: y b 1"
    assert chosen("A SEQ CHRONOLOGICAL B", data, [2, 3]) == ["2: e1 e2"]
    assert chosen("A SEQ CHRONOLOGICAL B", data, [3]) == ["3: e1 e2", "3: e1 e3"]


def test_rs_45_events_with_equal_graphs_are_consumed_one_by_one() -> None:
    assert chosen("A SEQ CHRONOLOGICAL B", "1: x a 1\n2: x b 1\n1: x a 1\n3: x b 1", [2, 3]) == ["2: e1 e2", "2: e3 e2"]
    assert chosen("A SEQ CHRONOLOGICAL B", "1: x a 1\n2: x b 1\n2: x a 1\n3: x b 1", [2, 3]) == ["2: e1 e2", "3: e3 e4"]


def test_rs_46_a_consumed_event_is_invisible_to_all_events_of_that_match_only() -> None:
    words = "A SEQ RECENT B"
    both = query(select("x", match(words), over("w", "?x a ?k")), ALL, A, B)
    assert events(answers(both, "1: x a 1\n2: x b 1\n3: x b 1\n4: x a 2\n5: x b 1")) == [
        "2: e1 e2",
        "5: e4 e5",
        "5: e4 e5",
    ]
    other = query(select("*", match(words), Optional(group(match("C")))), ALL, A, B, event("C", "w", "?y a ?k"))
    assert answers(other, "1: x a 1\n2: x b 1\n3: x a 2\n4: x b 1")[1:] == [
        "4: k=1 m=1 n=2 x=x y=x | e3 e4 e1",
        "4: k=2 m=1 n=2 x=x y=x | e3 e4 e3",
    ]


@pytest.mark.parametrize(
    "beside",
    [
        Optional(group(match("A SEQ RECENT B"), over("w", "?x no ?k"))),
        Minus(group(match("A SEQ RECENT B"), over("w", "?x no ?k"))),
        Filter(Not(Exists(group(match("A SEQ RECENT B"), over("w", "?x no ?k"))))),
    ],
)
def test_rs_47_a_match_consumes_wherever_it_stands(beside: Element) -> None:
    """The MATCH consumes at 2, although its answer joins with nothing there; so there is none at 3."""
    of = query(select("x", over("w", "?x a ?n"), beside), ALL, A, B)
    assert len(answers(of, "1: x a 1\n2: x b 1\n3: x no 1", report=[3])) == (1 if isinstance(beside, Optional) else 0)
    assert answers(of, "1: x a 1\n2: x b 1\n3: x no 1", report=[2, 3]) == ["2: x=x", "3: x=x"]


def test_rs_47_two_equal_matches_consume_apart() -> None:
    of = query(select("x", match("A SEQ RECENT B"), match("A SEQ RECENT B")), ALL, A, B)
    assert events(answers(of, "1: x a 1\n2: x b 1\n3: x b 1")) == ["2: e1 e2 e1 e2"]
