"""`B?` and `B!`: with and without, and nothing in between."""

from __future__ import annotations

import pytest

from oracle.expressions import Compare
from oracle.spaseq_cases import ask, certain, event, found, gpm, line
from oracle.spaseq_query import Within
from oracle.terms import Var


@pytest.mark.parametrize(
    ("sequence", "events", "matches"),
    [
        ("A , B? , C", "a1 b1 c1", ["a1 b1 c1"]),  # a1 and c1 are not contiguous
        ("A , B? , C", "a1 c1", ["a1 c1"]),
        ("A ; B? ; C", "a1 b1 c1", ["a1 b1 c1", "a1 c1"]),
        ("A ; B? , C", "a1 x c1", []),  # without B the operator is `,`
        ("A , B? ; C", "a1 x c1", ["a1 c1"]),  # and here `;`
        ("A? ; B , C", "b1 c1", ["b1 c1"]),
        ("A? , B ; C", "b1 x c1", ["b1 c1"]),  # the first takes the operator to its right with it
        ("A? ; B? , C", "c1", ["c1"]),
        ("A? ; B?", "x1 b1", ["b1"]),  # the arm without parts gives nothing
        ("A?", "a1 x", ["a1"]),
        ("A ; (B & C)?", "a1 b2=c2", ["a1", "a1 b2 c2"]),
        ("A , (B | C)?", "a1 c1", ["a1", "a1 c1"]),
    ],
)
def test_optional_parts_are_there_or_not(sequence: str, events: str, matches: list[str]) -> None:
    assert found(ask(sequence), line(events)) == matches


def test_all_combinations_of_optional_parts_are_arms() -> None:
    assert found(ask("A ; B? ; C?"), line("a1 b1 c1")) == ["a1", "a1 b1", "a1 b1 c1", "a1 c1"]


@pytest.mark.parametrize(
    ("sequence", "events", "matches"),
    [
        ("A ; N! ; C", "a1 n1 c1", []),
        ("A ; N! ; C", "a1 x c1", ["a1 c1"]),
        ("A ; N! ; C", "n1=a1 c1=n2", ["a1 c1"]),  # strictly between
        ("A ; N! ; C", "a1 n1 c1 c2", []),  # c1 is the next C, and blocks c2
        ("A : N! : C", "a1 c1 n1 c2", ["a1 c1"]),
        ("A , N! ; C", "a1 x c1", ["a1 c1"]),  # the operator before N! has no effect
        ("A : N! ; C", "a1 c1 c2", ["a1 c1"]),
        ("A ; N! , C", "a1 x c1", []),  # the one before C has: the gap is empty
        ("A , N! , C", "a1 c1", ["a1 c1"]),
        ("A ; N! : M! ; C", "a1 n1 c1", []),  # neighbours guard the same gap
        ("A ; N! : M! ; C", "a1 m1 c1", []),
        ("A ; N! : M! ; C", "a1 x c1", ["a1 c1"]),
        ("A ; (N & M)! ; C", "a1 n1 m1 c1", ["a1 c1"]),
        ("A ; (N & M)! ; C", "a1 n1=m1 c1", []),
        ("A ; (N | M)! ; C", "a1 m1 c1", []),
        ("A ; B ; N! ; C", "a1 n1 b1 c1", ["a1 b1 c1"]),  # the gap is after the last of σ
        ("A ; N! ; C+", "a1 c1 n1 c2", ["a1 c1"]),
        ("A ; N! ; C+", "a1 c1 c2 n1", ["a1 c1", "a1 c1 c2"]),  # and before the first of C
        ("B+ ; N! ; C", "b1 b2 n1 c1", []),
        ("B+ ; N! ; C", "b1 n1 b2 c1", ["b2 c1"]),
        ("A ; N! ; B? ; C", "a1 b1 n1 c1", ["a1 b1 c1"]),  # without B, N is between A and C
    ],
)
def test_nothing_that_is_negated_lies_in_the_gap(sequence: str, events: str, matches: list[str]) -> None:
    assert found(ask(sequence), line(events)) == matches


def test_a_negation_is_compatible_with_what_came_before() -> None:
    query = ask("A ; N! ; C", gpm("A", k="?k"), gpm("N", k="?k"))
    assert found(query, [event("a1", 1, k=1), event("n1", 2, k=2), event("c1", 3)]) == ["a1 c1"]
    assert found(query, [event("a1", 1, k=1), event("n1", 2, k=1), event("c1", 3)]) == []


def test_a_negation_is_compatible_with_what_comes_after() -> None:
    query = ask("A ; N! ; C", gpm("N", k="?k"), gpm("C", k="?k"))
    assert found(query, [event("a1", 1), event("n1", 2, k=2), event("c1", 3, k=1)]) == ["a1 c1"]
    assert found(query, [event("a1", 1), event("n1", 2, k=1), event("c1", 3, k=1)]) == []


def test_a_negation_is_judged_for_each_run_alone() -> None:
    query = ask("A ; N! ; C", gpm("A", k="?k"), gpm("N", k="?k"), gpm("C", k="?k"))
    events = [event("a1", 1, k=(1, 2)), event("n1", 2, k=1), event("c1", 3, k=(1, 2))]
    assert found(query, events) == ["a1 c1"]


def test_a_negations_filter_may_name_what_comes_after() -> None:
    between = gpm("N", Compare(">", Var("n1"), Var("v")), Compare("<", Var("n1"), Var("w")), v="?n1")
    query = ask("A ; N! ; C", gpm("A", v="?v"), between, gpm("C", v="?w"))
    for value, matches in ((1, ["a1 c1"]), (3, []), (5, ["a1 c1"])):
        assert found(query, [event("a1", 1, v=1), event("n1", 2, v=value), event("c1", 3, v=5)]) == matches


def test_a_negations_filter_sees_the_first_iteration_of_a_closure_after_it() -> None:
    query = ask("A ; N! ; C+", gpm("N", Compare("=", Var("n1"), Var("w")), v="?n1"), gpm("C", v="?w"))
    events = [event("a1", 1), event("n1", 2, v=5), event("c1", 3, v=4), event("c2", 4, v=5)]
    assert found(query, events) == ["a1 c1", "a1 c1 c2"]


def test_a_negations_filter_sees_the_last_iteration_of_a_closure_before_it() -> None:
    query = ask("B+ ; N! ; C", gpm("B", v="?w"), gpm("N", Compare("=", Var("n1"), Var("w")), v="?n1"))
    events = [event("b1", 1, v=5), event("b2", 2, v=4), event("n1", 3, v=5), event("c1", 4)]
    assert found(query, events) == ["b1 b2 c1", "b2 c1"]


def test_a_negations_own_variables_are_its_own_in_each_event() -> None:
    query = ask("A ; N! ; C", gpm("N", v="?n1"))
    assert found(query, [event("a1", 1), event("n1", 2, v=1), event("c1", 3)]) == []
    assert found(query, [event("a1", 1), event("n1", 2), event("c1", 3)]) == ["a1 c1"]


@pytest.mark.parametrize(
    ("events", "matches"),
    [
        ("a1", [("a1", 4)]),
        ("a1 x n1", []),
        ("a1 x x n1", []),  # a1 + 3, inclusive
        ("a1 x x x n1", [("a1", 4)]),
        ("a1=n1", [("a1", 4)]),  # after the last of σ
    ],
)
def test_a_last_negation_holds_up_to_the_end_of_the_window(events: str, matches: list[tuple[str, int]]) -> None:
    assert certain(ask("A ; N!", within=3), line(events)) == matches


def test_the_last_gap_begins_at_the_last_event_and_ends_by_the_first() -> None:
    query = ask("A ; B ; N!", within=3)
    assert certain(query, line("a1 n1 b1 x n2")) == [("a1 b1", 4)]
    assert certain(query, line("a1 n1 b1 n2")) == []


def test_a_last_negation_in_a_tumbling_window() -> None:
    query = ask("A ; N!", within=Within(5, tumbling=True))
    assert certain(query, [event("a1", 3), event("n1", 6)]) == [("a1", 5)]
    assert certain(query, [event("a1", 3), event("n1", 5)]) == []
    # at 5 the match is in [0, 5] and in [5, 10]: the latest counts
    assert certain(query, [event("a1", 5), event("n1", 10)]) == []
    assert certain(query, [event("a1", 5), event("n1", 11)]) == [("a1", 10)]


def test_last_negations_guard_the_same_gap() -> None:
    query = ask("A ; N! , M!", within=3)
    assert found(query, line("a1 n1")) == []
    assert found(query, line("a1 m1")) == []
    assert found(query, line("a1 x")) == ["a1"]


def test_a_last_negation_after_a_closure_is_judged_for_each_prefix() -> None:
    assert certain(ask("A , B+ ; N!", within=4), line("a1 b1 n1 b2")) == []
    assert certain(ask("A , B+ ; N!", within=4), line("a1 b1 b2 x x n1")) == [("a1 b1", 5), ("a1 b1 b2", 5)]


def test_a_negation_that_an_optional_leaves_last_waits_for_the_window() -> None:
    query = ask("A ; N! ; C?", within=5)
    assert certain(query, line("a1 c1 n1")) == [("a1 c1", 2)]
    assert certain(query, line("a1 c1")) == [("a1", 6), ("a1 c1", 2)]


def test_a_match_without_a_last_negation_is_certain_at_its_last_event() -> None:
    assert certain(ask("A ; N! ; C", within=9), line("a1 x c1")) == [("a1 c1", 3)]
