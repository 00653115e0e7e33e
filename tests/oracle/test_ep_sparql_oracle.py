"""Occurrences, operators, time functions and background of EP-SPARQL: the examples of EP-1 to EP-41."""

from __future__ import annotations

import pytest

from oracle.ep_sparql_data import UnknownGraph
from oracle.ep_sparql_notation import answers, chain, group, minus, optional, select, seq, where
from oracle.ep_sparql_query import (
    Bind,
    Coalesce,
    Column,
    Compare,
    Exists,
    Expression,
    InGraph,
    Not,
    Select,
    SubSelect,
    TimeFunction,
    Values,
)
from oracle.terms import Iri, Var, integer

DURATION, START, END, NOW = TimeFunction.DURATION, TimeFunction.START, TimeFunction.END, TimeFunction.NOW


def is_(function: TimeFunction, operator: str, ticks: int) -> Expression:
    return Compare(operator, function, integer(ticks))


def test_ep_1_the_triples_of_one_bgp_may_come_from_different_events() -> None:
    assert answers(select("*", "?x p ?y . ?y q ?z"), "1: a p b\n3: b q c") == ["1-3 x=a y=b z=c | e1 e2"]


def test_ep_3_the_same_triple_at_the_same_interval_is_one_occurrence() -> None:
    assert answers(select("*", "?x p b"), "3: a p b\n3: a p b") == ["3 x=a | e1"]
    assert answers(select("*", "?x p b"), "2-3: a p b\n3: a p b") == ["2-3 x=a | e1", "3 x=a | e2"]


def test_ep_3_in_the_background_and_in_an_event_it_is_two() -> None:
    found = answers(select("*", "?x p b . ?z q c"), "3: a p b\n4: d q c", "a p b")
    assert found == ["3-4 x=a z=d | e1 e2", "4 x=a z=d | e2"]


def test_ep_4_a_triple_at_two_times_gives_two_solutions_with_equal_mappings() -> None:
    assert answers(select("*", "?x p b"), "3: a p b\n4: a p b") == ["3 x=a | e1", "4 x=a | e2"]


def test_ep_4_one_occurrence_may_fill_two_patterns() -> None:
    assert answers(select("*", "?x p ?y . ?z p ?y"), "3: a p b") == ["3 x=a y=b z=a | e1 e1"]


def test_c_21_projection_merges_no_rows() -> None:
    assert answers(select("x", "?x p ?y"), "3: a p b . a p c") == ["3 x=a | e1", "3 x=a | e1"]


def test_ep_5_distinct_compares_the_projected_values_and_the_interval() -> None:
    found = answers(select("x", "?x p ?y", distinct=True), "3: a p b . a p c\n4: a p b\n3-4: a p c")
    assert found == ["3 x=a", "3-4 x=a", "4 x=a"]


def test_ep_7_operators_have_equal_precedence_and_associate_to_the_left() -> None:
    events = "1: a p b\n2: a q b\n0: a r b"
    flat = select("*", chain("a p ?x", "SEQ", "a q ?x", "UNION", "a r ?x"))
    assert answers(flat, events) == ["0 x=b | e3", "1-2 x=b | e1 e2"]
    right = select("*", seq("a p ?x", group(chain("a q ?x", "UNION", "a r ?x"))))
    assert answers(right, events) == ["1-2 x=b | e1 e2"]


def test_ep_8_a_chain_binds_tighter_than_juxtaposition() -> None:
    # C only has to follow B
    found = answers(select("*", group("a p ?x"), seq("a q ?x", "a r ?x")), "3: a p b\n1: a q b\n2: a r b")
    assert found == ["1-3 x=b | e1 e2 e3"]


def test_ep_10_optional_takes_all_that_precedes_it_as_its_left_side() -> None:
    left = group(group("a p ?x"), group("a q ?x"), optional("a r ?y"))
    events = "1: a p b\n2: a q b\n2: a r c\n3: a s b"
    assert answers(select("*", seq(left, "a s ?x")), events) == ["1-3 x=b y=c | e1 e2 e3 e4"]


def test_ep_17_an_optional_part_widens_the_interval_that_seq_compares() -> None:
    query = select("*", seq("a r ?z", group("a p ?x", optional("a q ?y"))))
    assert answers(query, "1: a q c\n5: a p b\n0: a r d") == ["0-5 x=b y=c z=d | e3 e2 e1"]
    assert answers(query, "1: a q c\n5: a p b\n1: a r d") == []
    assert answers(query, "1: a q c\n5: a p b\n3: a r d") == []


@pytest.mark.parametrize(
    ("left", "right", "found"), [("1-3", "3-4", 0), ("1-3", "4-4", 1), ("1-3", "2-6", 0), ("4", "3", 0), ("3", "3", 0)]
)
def test_ep_18_seq_needs_the_left_to_end_strictly_before_the_right_starts(left: str, right: str, found: int) -> None:
    assert len(answers(select("*", seq("?x p ?y", "?x q ?z")), f"{left}: a p b\n{right}: a q c")) == found


def test_ep_18_three_in_a_row_follow_each_other() -> None:
    query = select("*", seq("a p ?x", "a p ?y", "a p ?z"))
    assert answers(query, "1: a p 1\n2: a p 2\n3: a p 3") == ["1-3 x=1 y=2 z=3 | e1 e2 e3"]


def test_ep_19_equals_needs_both_ends_equal() -> None:
    query = select("*", chain("?x p ?y", "EQUALS", "?x q ?z"))
    assert answers(query, "1-3: a p b\n1-3: a q c\n2-3: a q d\n3: a q e") == ["1-3 x=a y=b z=c | e1 e2"]


def test_ep_19_equals_compares_the_intervals_of_whole_groups() -> None:
    query = select("*", chain(group(seq("a p ?x", "a q ?x")), "EQUALS", "a r ?x"))
    assert answers(query, "1: a p b\n3: a q b\n1-3: a r b\n3: a r b") == ["1-3 x=b | e1 e2 e3"]


def test_ep_20_the_optional_part_is_the_left_side_of_optionalseq() -> None:
    query = select("*", chain("?x p ?y", "OPTIONALSEQ", "?x q ?z"))
    assert answers(query, "2: a q c\n2: a p b") == ["2 x=a z=c | e1"]
    assert answers(query, "2: a q c\n1: a p b") == ["1-2 x=a y=b z=c | e2 e1"]


def test_ep_20_the_optional_part_is_the_right_side_of_equalsoptional() -> None:
    query = select("*", chain("?x p ?y", "EQUALSOPTIONAL", "?x q ?z"))
    assert answers(query, "2: a q c\n2: a p b\n3: a p b") == ["2 x=a y=b z=c | e2 e1", "3 x=a y=b | e3"]


def test_ep_21_the_filter_of_an_optional_group_reads_the_combination() -> None:
    query = select("*", "?x p ?y", optional("?x q ?z", *where(is_(DURATION, "<", 3))))
    assert answers(query, "5: a p b\n1: a q c") == ["5 x=a y=b | e1"]
    assert answers(query, "5: a p b\n3: a q c") == ["3-5 x=a y=b z=c | e1 e2"]


def test_ep_22_an_unbraced_chain_left_of_optionalseq_has_no_filter_of_the_join() -> None:
    instant = where(is_(DURATION, "=", 0))
    chained = select("*", chain("a p ?x", "SEQ", group("a q ?y", *instant), "OPTIONALSEQ", "a r ?z"))
    assert answers(chained, "1: a p b\n2: a q c\n3: a r d") == ["1-3 x=b y=c z=d | e1 e2 e3"]
    alone = select("*", chain(group("a q ?y", *instant), "OPTIONALSEQ", "a r ?z"))
    assert answers(alone, "2: a q c\n3: a r d") == ["3 z=d | e2"]


def test_ep_23_a_mandatory_solution_stays_bare_only_if_no_combination_passes() -> None:
    query = select("*", chain("?x p ?y", "OPTIONALSEQ", "?x q ?z"))
    found = answers(query, "1: a p 1\n2: a p 2\n3: a q 3\n3: b q 3")
    assert found == ["1-3 x=a y=1 z=3 | e1 e3", "2-3 x=a y=2 z=3 | e2 e3", "3 x=b z=3 | e4"]


@pytest.mark.parametrize(("time", "found"), [(2, "2-3 x=a y=b z=c | e1 e2"), (3, "3 x=a y=b z=c | e1 e2"), (4, "")])
def test_ep_24_an_optional_part_ends_no_later_than_the_mandatory_one(time: int, found: str) -> None:
    query = select("*", "?x p ?y", optional("?x q ?z"))
    assert answers(query, f"3: a p b\n{time}: a q c") == [found or "3 x=a y=b | e1"]


def test_ep_25_a_timeless_mandatory_side_joins_timeless_optional_parts_only() -> None:
    query = select("*", chain("?x p ?y", "OPTIONALSEQ", "?x q ?z"), "?x r ?w")
    assert answers(query, "1: a p 2\n3: a r 3", "a q 1") == ["3 w=3 x=a z=1 | e2"]
    assert answers(query, "1: a p 2\n3: a r 3", "a q 1 . a p 4") == ["3 w=3 x=a y=4 z=1 | e2"]


@pytest.mark.parametrize(("time", "kept"), [(2, False), (3, False), (4, True)])
def test_ep_26_minus_and_exists_see_only_what_ends_no_later(time: int, kept: bool) -> None:
    events = f"3: a p b\n{time}: a q c"
    expected = ["3 x=a y=b | e1"] if kept else []
    assert answers(select("*", "?x p ?y", minus("?x q ?z")), events) == expected
    absent = where(Not(Exists(group("?x q ?z"))))
    assert answers(select("*", "?x p ?y", *absent), events) == expected


def test_ep_26_minus_needs_a_shared_variable() -> None:
    assert answers(select("*", "?x p ?y", minus("?v q ?w")), "3: a p b . a q c") == ["3 x=a y=b | e1"]


def test_ep_27_optional_reads_the_solution_so_far() -> None:
    events = "1: a p b\n2: a q c\n3: a r d"
    early = select("*", "?x p ?y", optional("?x q ?z"), "?x r ?w")
    late = select("*", "?x p ?y", "?x r ?w", optional("?x q ?z"))
    assert answers(early, events) == ["1-3 w=d x=a y=b | e1 e3"]
    assert answers(late, events) == ["1-3 w=d x=a y=b z=c | e1 e3 e2"]


def test_ep_27_exists_reads_the_finished_group_in_a_filter_and_the_solution_so_far_in_bind() -> None:
    events = "1: a p b\n2: a q c\n3: a r d"
    known = Exists(group("?x q ?z"))
    assert len(answers(select("*", "?x p ?y", *where(known), "?x r ?w"), events)) == 1
    found = answers(select("e", "?x p ?y", Bind(known, "e"), "?x r ?w"), events)
    assert found == ["1-3 e=false | e1 e3"]


def test_ep_27_exists_in_select_reads_the_row() -> None:
    query = Select((Column("e", Exists(group("?x q ?z"))),), group("?x p ?y"))
    assert answers(query, "2: a p b\n1: a q c\n3: b p b\n4: b q c") == ["2 e=true | e1", "3 e=false | e3"]


def test_ep_28_union_arms_and_sub_select_rows_keep_their_own_interval() -> None:
    found = answers(select("*", chain("?x p ?y", "UNION", group(seq("?x p ?y", "?x q ?z")))), "1: a p b\n2: a q c")
    assert found == ["1 x=a y=b | e1", "1-2 x=a y=b z=c | e1 e2"]
    inner = SubSelect(select("x", seq("?x p ?y", "?x q ?z")))
    assert answers(select("*", inner, "?x r ?w"), "1: a p b\n2: a q c\n2: a r d") == ["1-2 w=d x=a | e1 e2 e3"]


def test_c_19_two_arms_with_the_same_pattern_give_two_solutions() -> None:
    assert answers(select("*", chain("?x p ?y", "UNION", "?x p ?y")), "1: a p b") == ["1 x=a y=b | e1"] * 2


def test_ep_29_time_functions_read_the_finished_group_in_a_filter_and_the_solution_so_far_in_bind() -> None:
    query = select("d n", "?x p ?y", Bind(DURATION, "d"), "?x q ?z", *where(is_(DURATION, "=", 3)), Bind(NOW, "n"))
    assert answers(query, "1-2: a p b\n4: a q c") == ["1-4 d=1 n=4 | e1 e2"]


def test_ep_29_time_functions_in_select_read_the_whole_row() -> None:
    query = Select((Column("s", START), Column("e", END), Column("d", DURATION)), group(seq("?x p ?y", "?x q ?z")))
    assert answers(query, "1-2: a p b\n4-5: a q c") == ["1-5 d=4 e=5 s=1 | e1 e2"]


def test_ep_33_a_time_function_of_a_timeless_solution_is_an_error() -> None:
    guarded = group("?x p ?y", *where(is_(DURATION, ">=", 0)))
    assert answers(select("*", guarded, "?x q ?z"), "2: a q c", "a p b") == []
    either = Bind(Coalesce((NOW, integer(7))), "t")
    assert answers(select("t", "?x p ?y", either, "?x q ?z"), "2: a q c", "a p b") == ["2 t=7 | e1"]


def test_ep_35_the_empty_group_values_and_bind_are_timeless() -> None:
    empty = select("*", seq(group(), "?x p ?y"))
    assert answers(empty, "2: a p b") == ["2 x=a y=b | e1"]
    values = select("*", seq("?x p ?y", group(Values(("y",), ((Iri("b"),), (Iri("c"),), (None,))))))
    assert answers(values, "2: a p b") == ["2 x=a y=b | e1", "2 x=a y=b | e1"]
    equal = select("*", chain("?x p ?y", "EQUALS", group(Bind(integer(1), "z"))))
    assert answers(equal, "2: a p b") == []


def test_ep_36_seq_passes_if_either_side_is_timeless_and_equals_if_both_are() -> None:
    assert answers(select("*", seq("?x p ?y", "?x q ?z")), "2: a p b", "a q c") == ["2 x=a y=b z=c | e1"]
    assert answers(select("*", seq("?x q ?z", "?x p ?y")), "2: a p b", "a q c") == ["2 x=a y=b z=c | e1"]
    assert answers(select("*", chain("?x p ?y", "EQUALS", "?x q ?z")), "2: a p b", "a q c") == []
    both = select("*", chain("?x r ?y", "EQUALS", "?x q ?z"), "?x p ?w")
    assert answers(both, "2: a p b", "a q c . a r d") == ["2 w=b x=a y=d z=c | e1"]


def test_ep_36_what_is_left_of_a_timeless_middle_still_precedes_what_is_right_of_it() -> None:
    query = select("*", seq("?x p ?y", "?x q ?z", "?x r ?w"))
    assert answers(query, "3: a p b\n2: a r d", "a q c") == []
    assert answers(query, "1: a p b\n2: a r d", "a q c") == ["1-2 w=d x=a y=b z=c | e1 e2"]


def test_ep_38_rows_of_background_alone_are_not_emitted() -> None:
    assert answers(select("*", "?x p ?y"), "2: a q b", "a p b") == []
    assert answers(select("*", optional("?x q ?y")), "2: a q b", "a p b") == []


def test_ep_40_graph_reads_the_background_that_it_names() -> None:
    query = select("*", "?x p ?y", InGraph("g", group("?y q ?z")))
    assert answers(query, "2: a p b . b q d", named={"g": "b q c"}) == ["2 x=a y=b z=c | e1"]
    assert answers(query, "2: a p b . b q d", "b q c") == ["2 x=a y=b z=c | e1"]
    with pytest.raises(UnknownGraph):
        answers(query, "2: a p b", named={"h": "b q c"})


def test_ep_41_plain_queries_over_triples_of_one_time_have_the_answers_of_sparql() -> None:
    graph = "7: a knows b . b knows c . a age 1 . c age 3"
    known = answers(select("x y n", "?x knows ?y", optional("?y age ?n")), graph)
    assert known == ["7 n=3 x=b y=c | e1 e1", "7 x=a y=b | e1"]
    assert answers(select("*", "?x knows ?y", minus("?x age ?n")), graph) == ["7 x=b y=c | e1"]
    assert len(answers(select("*", chain("?x age ?n", "UNION", "?x knows ?y")), graph)) == 4
    inner = SubSelect(select("x", "?x knows ?y", *where(Exists(group("?y age ?n")))))
    assert answers(select("x z", inner, "?z knows ?x"), graph) == ["7 x=b z=a | e1 e1"]


def test_c_29_joins_compare_terms() -> None:
    assert answers(select("*", "?x p ?y . ?z q ?y"), "2: a p 1 . b q 1.0") == []
    found = answers(select("*", "?x p ?y . ?z q ?w", *where(Compare("=", Var("y"), Var("w")))), "2: a p 1 . b q 1.0")
    assert found == ["2 w=1.0 x=a y=1 z=b | e1 e1"]


def test_c_4_blank_nodes_are_local_to_their_event() -> None:
    assert answers(select("*", "?x p ?y . ?x q ?z"), "1: _:n p b\n2: _:n q c") == []
    assert answers(select("*", "?x p ?y . ?x q ?z"), "1: _:n p b . _:n q c") == ["1 x=_:n y=b z=c | e1 e1"]


def test_ep_13_a_blank_node_label_is_a_variable_that_is_not_shown() -> None:
    assert answers(select("*", "_:n p ?y . _:n q ?z"), "1: a p b\n2: a q c\n3: d q c") == ["1-2 y=b z=c | e1 e2"]
