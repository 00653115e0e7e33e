"""How events follow each other, and what `&` and `|` make of them."""

from __future__ import annotations

from oracle.spaseq import evaluate
from oracle.spaseq_cases import ask, event, found, gpm, line, table
from oracle.terms import Blank, Iri, decimal, integer


def test_events_at_one_time_never_follow_each_other() -> None:
    for sequence in ("A , B", "A ; B", "A : B"):
        assert found(ask(sequence), line("a1=b1")) == []


def test_events_at_one_time_stay_two_events() -> None:
    assert found(ask("A , B"), line("a1=a2 b1=b2")) == ["a1 b1", "a1 b2", "a2 b1", "a2 b2"]


def test_two_equal_graphs_at_one_time_are_two_matches() -> None:
    twin = event("a1", 1)
    assert len(evaluate(ask("A"), [twin, type(twin)("S1", 1, twin.graph, "other")])) == 2


def test_strict_contiguity_is_broken_by_an_event_that_matches_nothing() -> None:
    assert found(ask("A , B"), line("a1 x b1")) == []


def test_strict_contiguity_is_broken_by_an_event_of_another_stream() -> None:
    events = [event("a1", 1), event("x1", 2, stream="S2"), event("b1", 3)]
    assert found(ask("A , B", streams=("S1", "S2")), events) == []


def test_strict_contiguity_is_not_broken_by_a_stream_that_the_query_does_not_name() -> None:
    events = [event("a1", 1), event("x1", 2, stream="S2"), event("b1", 3)]
    assert found(ask("A , B", streams=("S1",)), events) == ["a1 b1"]


def test_strict_contiguity_is_not_broken_at_either_end() -> None:
    assert found(ask("A , B"), line("a1=x1 b1=x2")) == ["a1 b1"]


def test_contiguous_parts_may_be_on_two_streams() -> None:
    events = [event("a1", 1), event("b1", 2, stream="S2")]
    assert found(ask("A , B", gpm("B", on="S2")), events) == ["a1 b1"]


def test_a_gpm_sees_its_own_stream_only() -> None:
    assert found(ask("A", streams=("S1", "S2")), [event("a1", 1, stream="S2")]) == []


def test_skip_till_next_skips_what_does_not_match() -> None:
    assert found(ask("A ; B"), line("a1 x a2 b1 b2")) == ["a1 b1", "a2 b1"]


def test_skip_till_next_takes_all_at_the_earliest_time() -> None:
    assert found(ask("A ; B"), line("a1 b1=b2 b3")) == ["a1 b1", "a1 b2"]


def test_skip_till_next_is_not_blocked_by_what_does_not_join() -> None:
    events = [event("a1", 1, k=1), event("b1", 2, k=2), event("b2", 3, k=1)]
    assert found(ask("A ; B", gpm("A", k="?k"), gpm("B", k="?k")), events) == ["a1 b2"]


def test_skip_till_next_is_judged_for_each_mapping_of_an_event_alone() -> None:
    # one event with two mappings: the run of k = 1 ends at b1, that of k = 2 goes on to b2
    events = [event("a1", 1, k=(1, 2)), event("b1", 2, k=1), event("b2", 3, k=2), event("b3", 4, k=1)]
    assert found(ask("A ; B", gpm("A", k="?k"), gpm("B", k="?k")), events) == ["a1 b1", "a1 b2"]


def test_a_lone_b_does_not_block_the_whole_right_operand() -> None:
    assert found(ask("A ; (B & C)"), line("a1 b1 b2=c2")) == ["a1 b2 c2"]


def test_either_side_of_a_disjunction_blocks() -> None:
    assert found(ask("A ; (B | C)"), line("a1 c1 b1")) == ["a1 c1"]


def test_skip_till_any_takes_everything_later() -> None:
    assert found(ask("A : B"), line("a1 b1 x b2")) == ["a1 b1", "a1 b2"]


def test_sequence_operators_are_left_associative_and_equal() -> None:
    # A ; (B , C) would find a1 b2 c1: the whole of B , C is next only there
    assert found(ask("A ; B , C"), line("a1 b1 x b2 c1")) == []
    assert found(ask("A : B , C"), line("a1 b1 x b2 c1")) == ["a1 b2 c1"]


def test_conjunction_needs_equal_times() -> None:
    assert found(ask("A & B"), line("a1 b1=a2 b2")) == ["a2 b1"]


def test_conjunction_joins_mappings() -> None:
    events = [event("a1", 1, k=1), event("b1", 1, k=2), event("b2", 1, k=1)]
    assert found(ask("A & B", gpm("A", k="?k"), gpm("B", k="?k")), events) == ["a1 b2"]


def test_one_event_may_fill_both_sides_of_a_conjunction_and_is_listed_twice() -> None:
    assert found(ask("A & B", gpm("A", subject="s"), gpm("B", subject="t")), line("a1")) == []
    assert found(ask("A & A"), line("a1")) == ["a1 a1"]


def test_the_arms_of_a_disjunction_are_different_matches_of_the_same_event() -> None:
    matches = evaluate(ask("A | A"), line("a1"))
    assert sorted(sorted(match.places) for match in matches) == [[(0, 1, "a1")], [(1, 1, "a1")]]


def test_in_a_disjunction_the_other_sides_variables_stay_unbound() -> None:
    assert table(ask("A | B"), line("b1")) == [(1, {"b": Iri("b1")})]


def test_conjunction_binds_tighter_than_disjunction() -> None:
    assert found(ask("A | B & C"), line("a1 b1 b2=c2")) == ["a1", "b2 c2"]
    assert found(ask("(A | B) & C"), line("a1 b1 b2=c2")) == ["b2 c2"]


def test_nested_groups() -> None:
    assert found(ask("A , (B & (C | D))"), line("a1 b1=c1=d1")) == ["a1 b1 c1", "a1 b1 d1"]


def test_a_gpm_named_twice_is_the_same_variables_twice() -> None:
    # ?a is one subject in both places, so nothing but a1 itself could follow a1
    assert found(ask("A : A"), line("a1 a2")) == []
    again = type(line("a1")[0])("S1", 3, line("a1")[0].graph, "a1 again")
    assert found(ask("A : A"), [*line("a1 a2"), again]) == ["a1 a1 again"]


def test_events_with_several_mappings_give_a_row_for_each() -> None:
    events = [event("a1", 1, k=(1, 2)), event("b1", 2, v=(5, 6))]
    rows = table(ask("A , B", gpm("A", k="?k"), gpm("B", v="?v")), events)
    assert sorted(str((cells["k"], cells["v"])) for _, cells in rows) == sorted(
        str((integer(k), integer(v))) for k in (1, 2) for v in (5, 6)
    )
    assert found(ask("A , B", gpm("A", k="?k"), gpm("B", v="?v")), events) == ["a1 b1"] * 4


def test_joins_compare_terms_and_not_values() -> None:
    events = [event("a1", 1, k=1), event("b1", 2, k=decimal("1.0")), event("b2", 3, k=1)]
    assert found(ask("A ; B", gpm("A", k="?k"), gpm("B", k="?k")), events) == ["a1 b2"]


def test_blank_nodes_are_local_to_their_event() -> None:
    events = [event("a1", 1, k=Blank("n")), event("b1", 2, k=Blank("n"))]
    assert found(ask("A , B", gpm("A", k="?k"), gpm("B", k="?k")), events) == []
    assert found(ask("A , B", gpm("A", k="?k"), gpm("B", k="?j")), events) == ["a1 b1"]


def test_the_order_in_which_events_come_means_nothing() -> None:
    events = line("a1 b1 x a2 b2")
    for sequence in ("A , B", "A ; B", "A : B"):
        assert found(ask(sequence), events[::-1]) == found(ask(sequence), events)
