"""TEF-SPARQL's rules one by one, on the smallest streams that show them: kinds, steps, operators, times."""

from __future__ import annotations

import pytest

from oracle.tef_sparql import TooManySteps, rows
from oracle.tef_sparql_notation import (
    all_constructed,
    all_facts,
    also,
    answers,
    at,
    before,
    during,
    event,
    fact,
    init,
    onend,
    onstart,
    pattern,
    program,
    replace,
    select,
    seq,
    since,
    stream,
    union,
    until,
    with_,
    without,
)
from oracle.tef_sparql_query import Declare, Kind, Program, Statement
from oracle.terms import Iri

LIGHT = fact("?x f ?y", since("?x on ?y"), until("?x off ?y"))


# Kinds of predicates


def test_tef_5_a_type_on_the_stream_is_static_and_ignored() -> None:
    assert answers(select("x", "?x p ?y"), "1: a rdf:type A . a p b\n2: a rdf:type A") == ["1 x=a"]
    assert answers(select("x", "?x rdf:type ?y , ?x p ?z"), "1: a rdf:type A . a p b") == []
    assert answers(select("x", "?x rdf:type ?y , ?x p ?z"), "1: a p b", "a rdf:type A") == ["1 x=a"]


def test_tef_4_a_predicate_of_the_background_is_static_under_during_too() -> None:
    query = select("x", during("?x p ?y", "?y s ?z"))
    assert answers(query, "1-3: a p b\n2: a p c\n3: c s d", "b s d") == ["1-3 x=a"]


def test_tef_9_static_triples_do_not_change_times() -> None:
    query = select("x y", seq("?x p ?y", "?x q ?z , ?z s ?u"))
    assert answers(query, "1: a p b\n5: a q c", "c s d") == ["1-5 x=a y=b"]


def test_tef_10_a_fact_predicate_on_the_stream_makes_the_graph_a_bad_event() -> None:
    assert answers([LIGHT, select("x", "?x p ?y")], "1: a p b . a f b\n2: b p a") == ["2 x=b"]


def test_tef_2_a_declared_predicate_keeps_its_kind() -> None:
    declared: list[Statement] = [Declare(Kind.EVENT, (Iri("rdf:type"),)), select("x", "?x rdf:type A")]
    assert answers(declared, "1: a rdf:type A") == ["1 x=a"]


def test_tef_8_a_variable_predicate_stands_for_those_of_its_kind() -> None:
    assert answers([LIGHT, select("u", during("?x p ?z", "?x ?u ?y"))], "1: a on b\n2: a p c") == ["2 u=f"]
    assert answers(select("u", seq("?x ?u b", "?x p c")), "1: a on b\n2: a p c") == ["1-2 u=on"]


# Order of processing and steps


def test_tef_18_two_triples_of_one_graph_are_two_events() -> None:
    assert answers(select("x y z", "?x p ?y , ?x q ?z"), "1: a p b . a q c", ids=True) == ["1 x=a y=b z=c | e1"]
    assert answers(select("x y", "?x p ?y , ?x p ?y"), "1: a p b") == []


def test_tef_19_equal_times_come_by_stream_and_then_by_position() -> None:
    count = fact("?x f ?y", since("?x p ?y"), replace("?x f ?z", "?x q ?y"))
    events = "5 T: a q d\n5 S: a p b\n5 T: a q c"
    assert all_facts(Program((count,), ("S", "T")), events) == ["a f c 5-"]
    assert all_facts(Program((count,), ("T", "S")), events) == ["a f b 5-"]


def test_tef_21_premises_are_read_before_the_step() -> None:
    """Two statements swap: each sees the other's old value."""
    swap = [
        fact("?x f ?y", since("?x p ?y"), replace("?x f ?old", during("?x swap ?_", "?x g ?y"))),
        fact("?x g ?y", since("?x q ?y"), replace("?x g ?old", during("?x swap ?_", "?x f ?y"))),
    ]
    assert all_facts(swap, "1: a p 1\n1: a q 2\n3: a swap x") == ["a f 1 1-3", "a g 2 1-3", "a f 2 3-", "a g 1 3-"]


def test_tef_21_constructed_events_come_before_the_onends_of_the_same_step() -> None:
    """`c` adds 1, then the ONEND doubles."""
    count = [
        LIGHT,
        event("?x c ?y", "?x off ?y"),
        fact(
            "?x n ?n",
            since("?x set ?n"),
            replace("?x n ?m", "?x c ?_ , ?n = ?m + 1"),
            replace("?x n ?m", also(onend("?x f ?_"), "?n = ?m * 2")),
        ),
    ]
    assert all_facts(count, "1: a on b . a set 3\n2: a off b", of="n") == ["a n 3 1-2", "a n 8 2-"]


def test_tef_22_queued_steps_run_before_the_next_input_triple() -> None:
    program = [
        event("?x c ?y", "?x p ?y"),
        fact("?x f ?y", since("?x c ?y")),
        select("x", during("?x q ?y", "?x f ?y")),
    ]
    assert answers(program, "1: a p b . a q b") == ["1 x=a"]
    assert answers(program, "1: a q b . a p b") == []


def test_tef_22_onstart_runs_after_all_steps_of_the_instant_for_facts_that_still_hold() -> None:
    program = [LIGHT, select("y", onstart("?x f ?y"))]
    assert answers(program, "1: a on b\n1: a off b\n1: a on c") == ["1 y=c"]
    assert answers([*program, select("y", "?x on ?y")], "1: a on b . a on c") == [
        *("2: 1 y=b", "2: 1 y=c", "1: 1 y=b", "1: 1 y=c"),
    ]


def test_tef_23_a_part_is_judged_when_it_completes() -> None:
    program = [LIGHT, select("x z", seq(during("?x p ?y", "?x f ?y"), "?x q ?z"))]
    assert answers(program, "1: a on b\n2: a p b\n3: a off b\n4: a q c") == ["2-4 x=a z=c"]
    assert answers(program, "1: a p b\n2: a on b\n4: a q c") == []


def test_tef_24_new_facts_do_not_fire_a_statement_again() -> None:
    count = fact("?x n ?n", since("?x set ?n"), replace("?x n ?m", "?x p ?_ , ?n = ?m + 1"))
    assert all_facts(count, "1: a set 0\n2: a p b\n2: a p b") == ["a n 0 1-2", "a n 2 2-"]


def test_tef_25_each_instance_that_replaces_a_fact_starts_its_own() -> None:
    program = [LIGHT, fact("?x g ?y", since("?x p ?y"), replace("?x g ?z", during("?x q ?_", "?x f ?y")))]
    assert all_facts(program, "1: a on b . a on c . a p d\n2: a q x", of="g") == ["a g d 1-2", "a g b 2-", "a g c 2-"]


def test_tef_26_a_fact_that_ends_at_once_after_its_onstart_has_no_onend() -> None:
    program = [
        fact("?x f ?y", since("?x on ?y"), until(during(onstart("?x f ?y"), "?x g ?_"))),
        fact("?x g ?y", since("?x p ?y")),
        select("y", onstart("?x f ?y")),
        select("y", onend("?x f ?y")),
    ]
    assert answers(program, "1: a p c\n2: a on b") == ["1: 2 y=b"]
    assert all_facts(program, "1: a p c\n2: a on b", of="f") == []


def test_tef_27_too_many_steps_are_an_error() -> None:
    loop = program([event("?x c ?y", union("?x p ?y", "?x c ?y"))])
    with pytest.raises(TooManySteps):
        rows(loop, stream("1: a p b"), limit=50)
    timer = program(
        [
            fact("?x f ?y", since("?x p ?y"), replace("?x f ?y", onstart("?x g ?y"))),
            fact("?x g ?y", "?x f ?y[?s,?_] , now() > ?s + 1"),
        ]
    )
    with pytest.raises(TooManySteps):
        rows(timer, stream("1: a p b"), limit=50)
    assert rows(timer, stream("1: a p b"), until=40, limit=50) == []


# Temporal operators


def test_tef_29_the_event_that_ends_a_fact_sees_it_and_the_one_that_starts_it_does_not() -> None:
    program = [LIGHT, select("y", during("?x ?u ?y", "?x f ?y"))]
    assert answers(program, "1: a on b\n9: a off b\n9: a p b") == ["9 y=b"]


def test_tef_30_and_31_during_asks_for_the_whole_event_and_with_for_its_start() -> None:
    events = "2: a on b\n5: a off b\n3-4: a p b\n3-5: a p c\n1-3: a p d\n2-8: a p e"
    assert answers([LIGHT, select("y", during("?x p ?y", "?x f ?z"))], events) == ["3-4 y=b"]
    assert answers([LIGHT, select("y", with_("?x p ?y", "?x f ?z"))], events) == ["3-4 y=b", "3-5 y=c", "2-8 y=e"]


def test_tef_30_a_fact_that_the_event_ends_is_seen_by_during() -> None:
    assert answers([LIGHT, select("y", during("?x off ?y", "?x f ?z"))], "2: a on b\n5: a off b") == ["5 y=b"]


def test_tef_32_an_event_without_a_fact() -> None:
    query = [LIGHT, select("y", without("?x p ?y", "?x f ?z"))]
    events = "2: a on b\n5: a off b\n{}: a p b"
    for times, holds in (("1", True), ("2", False), ("4", False), ("5", True), ("1-2", False), ("3-7", False)):
        assert bool(answers(query, events.format(times))) is holds, times
    assert answers(query, "2: a p b\n2: a on b") == ["2 y=b"]


def test_tef_33_and_34_seq_asks_for_the_start_and_before_for_the_end() -> None:
    events = "1-3: a p b\n3-4: a q b\n2-5: a q c\n1-3: a q d"
    assert answers(select("y", seq("?x p ?_", "?x q ?y")), events) == ["1-4 y=b"]
    assert answers(select("y", before("?x p ?_", "?x q ?y")), events) == ["1-3 y=d", "1-4 y=b", "1-5 y=c"]
    assert answers(select("y", before("?x p ?_", "?x q ?y")), "2-3: a p b\n1-4: a q b") == ["1-4 y=b"]


def test_tef_35_seq_matches_equal_times_whichever_side_came_first() -> None:
    query = select("x y", seq("?x p ?_", "?y q ?_"))
    assert answers(query, "5: a q b\n5: c p d") == ["5 x=c y=a"]
    assert answers(select("x", seq("?x p ?_", "?_ p ?_")), "5: a p b") == []


def test_tef_36_an_event_without_another_inside() -> None:
    query = select("z", without(seq("?x p ?_", "?x q ?z"), "?x r ?_"))
    for time, holds in ((0, True), (1, False), (3, False), (5, True), (6, True)):
        assert bool(answers(query, f"1: a p b\n5: a q c\n{time}: a r b")) is holds, time
    assert answers(query, "1: a p b\n3: b r b\n5: a q c") == ["1-5 z=c"]


def test_tef_36_what_is_all_in_the_event_does_not_count() -> None:
    query = select("z", without(seq("?x p ?_", "?x q ?z"), "?x p ?_"))
    assert answers(query, "1: a p b\n5: a q c") == ["1-5 z=c"]
    assert answers(query, "1: a p b\n2: a p b\n5: a q c") == ["2-5 z=c"]


def test_tef_36_is_always_true_for_a_point_event() -> None:
    assert answers(select("x", without("?x p ?_", "?x q ?_")), "1: a q b\n1: a p b") == ["1 x=a"]


F1F2 = [
    fact("?x f ?y", since("?x on ?y"), until("?x off ?y")),
    fact("?x g ?y", since("?x up ?y"), until("?x down ?y")),
]


def test_tef_37_a_fact_without_another_holds_again_from_its_end() -> None:
    view = [*F1F2, fact("?x v ?y", without("?x f ?y", "?x g ?_"))]
    events = "10: a on b\n20: a up c\n25: a down c\n40: a off b"
    assert all_facts(view, events, of="v") == ["a v b 10-20", "a v b 25-40"]
    assert all_facts(view, "10: a on b\n20: a up c\n20: a up d\n25: a down c\n30: a down d", of="v") == [
        "a v b 10-20",
        "a v b 30-",
    ]


def test_tef_38_a_fact_without_an_event_restarts_at_each() -> None:
    view = [LIGHT, fact("?x v ?y", without("?x f ?y", "?x p ?_"))]
    assert all_facts(view, "10: a on b\n30: a p c\n40: a off b", of="v") == ["a v b 10-30", "a v b 30-40"]
    turns = [*view, select("y", onend("?x v ?y")), select("y", onstart("?x v ?y"))]
    assert answers(turns, "10: a on b\n30: a p c\n30: a p c") == ["2: 10 y=b", "1: 30 y=b", "2: 30 y=b"]


def test_tef_39_without_sees_the_variables_to_its_left_and_those_of_replace() -> None:
    query = select("y z", without(seq("?x p ?y", "?x q ?z"), also("?x r ?n", "?n > ?y")))
    assert answers(query, "1: a p 3\n2: a r 2\n3: a q 4") == ["1-3 y=3 z=4"]
    assert answers(query, "1: a p 1\n2: a r 2\n3: a q 4") == []
    top = fact("?x f ?n", since("?x p ?n"), replace("?x f ?m", without("?x q ?n", "?n below ?m")))
    assert all_facts(top, "1: a p b\n2: a q c\n3: a q d", "c below b") == ["a f b 1-3", "a f d 3-"]


# Facts


def test_tef_40_since_at_a_later_time_starts_a_second_fact() -> None:
    assert all_facts(LIGHT, "3: a on b\n5: a on b\n5: a on b") == ["a f b 3-", "a f b 5-"]
    assert all_facts(LIGHT, "3: a on b\n3: a on b") == ["a f b 3-"]


def test_tef_41_until_ends_all_open_facts_of_its_triple_or_exactly_those_read() -> None:
    assert all_facts(LIGHT, "3: a on b\n5: a on b\n7: a off b") == ["a f b 3-7", "a f b 5-7"]
    old = until(also(during("?x off ?_[?_,?n]", "?x f ?y[?s,?_]"), "duration(?s,?n) > 3"))
    assert all_facts(fact("?x f ?y", since("?x on ?y"), old), "3: a on b\n5: a on b\n7: a off c") == [
        "a f b 3-7",
        "a f b 5-",
    ]
    read_before = until(seq(during("?x mark ?_", "?x f ?y"), "?x off ?_"))
    events = "1: a on b\n2: a mark c\n3: a on b\n4: a off c"
    assert all_facts(fact("?x f ?y", since("?x on ?y"), read_before), events) == ["a f b 1-4", "a f b 3-"]
    assert all_facts(LIGHT, "7: a off b") == []


def test_tef_42_replace_ends_what_it_matches_and_restarts_an_equal_value() -> None:
    both = [
        fact("?x f ?y", since("?x on ?y")),
        fact("?x g ?y", since("?x up ?y")),
        fact("?x h ?y", replace("?x f ?a , ?x g ?b", "?x set ?y")),
    ]
    assert all_facts(both, "1: a on b . a up c\n2: a set d") == ["a f b 1-2", "a g c 1-2", "a h d 2-"]
    assert all_facts(both, "1: a on b\n2: a set d") == ["a f b 1-"]
    same = fact("?x f ?y", since("?x on ?y"), replace("?x f ?_", "?x set ?y"))
    assert all_facts(same, "1: a on b\n2: a set b") == ["a f b 1-2", "a f b 2-"]


def test_tef_43_a_fact_of_one_instant_never_held() -> None:
    program = [LIGHT, select("y", onend("?x f ?y")), select("y", "?x f ?y")]
    assert answers(program, "1: a on b\n1: a off b") == []
    assert all_facts(program, "1: a on b\n1: a off b") == []


def test_tef_44_and_45_on_init_runs_before_the_first_event_and_starts_at_its_end() -> None:
    program = [
        fact("?x f ?n", init("?x s ?_ , ?n = 0"), replace("?x f ?m", "?x p ?_ , ?n = ?m + 1")),
        select("n", during("?x q ?_", "?x f ?n")),
        select("n", onstart("?x f ?n")),
    ]
    events = "5: a q b\n5: a p b\n7: a q b"
    assert answers(program, events, "a s b") == ["1: 5 n=0", "2: 5 n=1", "1: 7 n=1"]
    assert all_facts(program, events, "a s b") == ["a f 1 5-"]
    assert all_facts(program, "", "a s b") == []


# Views


def test_tef_47_views_are_a_least_fixpoint() -> None:
    reach = [LIGHT, fact("?x v ?y", "?x f ?y", "?x f ?z , ?z v ?y")]
    assert all_facts(reach, "1: a on b\n2: b on c\n4: c on a\n6: b off c", of="v") == [
        *("a v b 1-", "a v c 2-6", "b v c 2-6", "a v a 4-6", "b v a 4-6", "b v b 4-6", "c v c 4-6", "c v a 4-"),
        "c v b 4-",
    ]


def test_tef_48_derivations_that_overlap_are_one_fact_and_those_that_touch_are_two() -> None:
    view = [*F1F2, fact("?x v ?x", "?x f ?y", "?x g ?y")]
    assert all_facts(view, "1: a on b\n3: a up b\n4: a off b\n7: a down b", of="v") == ["a v a 1-7"]
    assert all_facts(view, "1: a on b\n4: a off b\n4: a up b\n7: a down b", of="v") == ["a v a 1-4", "a v a 4-7"]


def test_tef_49_a_view_that_ended_and_is_true_again_starts_anew() -> None:
    view = [LIGHT, fact("?x v ?x", "?x f ?y"), select("x", onend("?x v ?x")), select("x", onstart("?x v ?x"))]
    assert answers(view, "1: a on b\n4: a off b\n4: a on c") == ["2: 1 x=a", "1: 4 x=a", "2: 4 x=a"]


def test_tef_50_composites_give_one_turn_for_each_mapping_and_start() -> None:
    program = [*F1F2, select("x y z", onstart("?x f ?y , ?x g ?z")), select("x y", onend("?x f ?y , ?x g ?_"))]
    events = "1: a on b\n2: a up c\n3: a on d\n4: a off b . a down c"
    assert answers(program, events) == ["1: 2 x=a y=b z=c", "1: 3 x=a y=d z=c", "2: 4 x=a y=b", "2: 4 x=a y=d"]


# Constructed events


def test_tef_51_a_constructed_event_keeps_its_interval_and_feeds_others() -> None:
    chain = [event("?x c ?z", seq("?x p ?y", "?y p ?z")), select("x z", seq("?x c ?y", "?y p ?z"))]
    assert all_constructed(chain, "1: a p b\n2: b p c\n3: c p d") == ["1-2 a c c", "2-3 b c d"]
    assert answers(chain, "1: a p b\n2: b p c\n3: c p d") == ["1-3 x=a z=d"]


def test_tef_52_equal_events_of_one_step_are_not_merged() -> None:
    program = [event("?x c ?x", seq("?x p ?_", "?x q ?_")), select("x", "?x c ?x")]
    assert answers(program, "1: a p b\n1: a p c\n2: a q d") == ["1-2 x=a", "1-2 x=a"]
    two = [event("?x c ?y , ?y c ?x", "?x p ?y"), select("x", "?x c ?_")]
    assert all_constructed(two, "1: a p b") == ["1 a c b . b c a"]
    assert answers(two, "1: a p b") == ["1 x=a", "1 x=b"]


# Times, variables and expressions


def test_tef_53_times_are_those_of_the_triple_or_parenthesis_before() -> None:
    assert answers(select("s e", at(seq("?x p ?_", "?x q ?_"), "?s", "?e")), "1-2: a p b\n3-5: a q b") == [
        "1-5 e=5 s=1"
    ]
    assert answers([LIGHT, select("s e", onend("?x f ?y[?s,?e]"))], "1: a on b\n4: a off b") == ["4 e=4 s=1"]
    assert answers([LIGHT, select("s e", at(onend("?x f ?y"), "?s", "?e"))], "1: a on b\n4: a off b") == ["4 e=4 s=4"]


def test_tef_54_constants_ask_for_equality_and_infinity_for_an_open_end() -> None:
    assert answers(select("y", "?x p ?y[1,3]"), "1-3: a p b\n1-4: a p c\n2-3: a p d") == ["1-3 y=b"]
    events = "1: a on b\n2: a on c\n3: a off b\n1-4: a p d\n2-5: a p e"
    assert answers([LIGHT, select("y z", with_("?x p ?y", "?x f ?z[?_,∞]"))], events) == ["2-5 y=e z=c"]
    assert answers([LIGHT, select("y e", with_("?x p ?y", "?x f ?z[1,?e]"))], events) == ["1-4 e=3 y=d", "2-5 e=3 y=e"]
    assert answers([LIGHT, select("y e", during("?x p ?y", "?x f c[?s,?e]"))], "2: a on c\n3: a p d") == ["3 y=d"]


def test_tef_57_an_equation_binds_a_new_variable_and_tests_one_in_scope() -> None:
    assert answers(select("n k", "?x p ?n , ?k = ?n + 1"), "1: a p 2") == ["1 k=3 n=2"]
    assert answers(select("n", "?x p ?n , ?n = 1 + 1"), "1: a p 2\n2: a p 3") == ["1 n=2"]


def test_tef_58_an_expression_sees_everything_to_its_left() -> None:
    query = select("n m", seq("?x p ?n", "?x q ?m , ?m > ?n"))
    assert answers(query, "1: a p 2\n2: a q 1\n3: a q 3") == ["1-3 m=3 n=2"]
    fresh = fact("?x f ?n", since("?x p ?n"), replace("?x f ?m", "?x q ?n , ?n > ?m"))
    assert all_facts(fresh, "1: a p 2\n2: a q 1\n3: a q 3") == ["a f 2 1-3", "a f 3 3-"]


def test_tef_59_an_error_drops_the_instance_and_in_a_head_one_triple() -> None:
    assert answers(select("x", "?x p ?n , ?n > 1"), "1: a p b\n2: a p 2") == ["2 x=a"]
    two = event("?x c ?n / ?m , ?x d ?n", "?x p ?n , ?x q ?m")
    assert all_constructed(two, "1: a p 4 . a q 0\n2: b p 4 . b q 2") == ["1 a d 4", "2 b c 2 . b d 4"]


def test_tef_62_now_is_the_time_of_the_event_in_hand() -> None:
    assert answers(select("k", "?x p ?_ , ?k = now() + 1"), "2-4: a p b") == ["2-4 k=5"]
    assert all_facts(fact("?x f now()", since("?x p ?_")), "3: a p b") == ["a f 3 3-"]
    assert answers(select("x", seq("?x p ?_ , now() < 3", "?x q ?_")), "2: a p b\n5: a q b") == ["2-5 x=a"]


@pytest.mark.parametrize(
    ("comparison", "found"),
    [
        ("now() > ?s + 10", ["a v b 31-"]),
        ("now() >= ?s + 10", ["a v b 30-"]),
        ("now() < ?s + 10", ["a v b 20-30"]),
        ("now() <= ?s + 10", ["a v b 20-31"]),
        ("now() = ?s + 10", ["a v b 30-31"]),
        ("now() != ?s + 10", ["a v b 20-30", "a v b 31-"]),
        ("?s + 10 < now()", ["a v b 31-"]),
    ],
)
def test_tef_63_a_comparison_with_now_clips_the_interval(comparison: str, found: list[str]) -> None:
    assert all_facts([LIGHT, fact("?x v ?y", f"?x f ?y[?s,?_] , {comparison}")], "20: a on b", of="v") == found


def test_tef_64_time_driven_steps_come_before_the_events_of_their_instant_and_after_the_last_event() -> None:
    view = [LIGHT, fact("?x v ?y", "?x f ?y[?s,?_] , now() >= ?s + 10"), select("y", during("?x p ?_", "?x v ?y"))]
    assert answers(view, "20: a on b\n30: a p c") == ["30 y=b"]
    assert answers(view, "20: a on b\n29: a p c") == []
    late = [*view[:2], select("y", "?x v ?y"), select("y", onstart("?x v ?y"))]
    assert answers(late, "20: a on b") == ["2: 30 y=b", "1: 30 y=b"]
    assert answers(late, "20: a on b", until=30) == []
    assert answers(late, "20: a on b\n25: a off b") == []


# Precedence and names


def test_tef_68_an_expression_after_an_arm_belongs_to_it() -> None:
    arm = also(replace("?x f ?m", "?x q ?_"), "?n = ?m + 1")
    assert all_facts(fact("?x f ?n", arm, since("?x p ?n")), "1: a p 1\n2: a q b") == ["a f 1 1-2", "a f 2 2-"]


def test_tef_69_union_drops_what_is_not_common() -> None:
    query = select("x", seq(union("?x p ?y", "?x q ?z"), "?x r ?k"))
    assert answers(query, "1: a p b\n2: a q b\n3: a r c") == ["1-3 x=a", "2-3 x=a"]


# Output


def test_tef_71_a_row_is_its_events_and_its_mapping() -> None:
    program = [LIGHT, select("x", during("?x p ?_", "?x f ?y")), select("x", during("?x p ?_", "?x f b"))]
    assert answers(program, "1: a on b . a on c\n2: a on b\n3: a p d") == ["1: 3 x=a", "1: 3 x=a", "2: 3 x=a"]
    union_rows = select("x", union("?x p ?y , ?x q ?z", "?x r ?y"))
    assert answers(union_rows, "1: a p b\n1: a p c\n2: a q d") == ["1-2 x=a", "1-2 x=a"]


def test_tef_72_a_select_over_facts_emits_when_the_fact_starts() -> None:
    program = [*F1F2, select("x y z", pattern("?x f ?y , ?x g ?z"))]
    assert answers(program, "1: a on b\n3: a up c\n5: a off b\n6: a on b") == ["3 x=a y=b z=c", "6 x=a y=b z=c"]
    arms = [*F1F2, select("x y", union("?x f ?y", "?x g ?y"))]
    assert answers(arms, "1: a on b . a up b") == ["1 x=a y=b", "1 x=a y=b"]


def test_tef_73_once_per_keeps_the_first_row_for_ever() -> None:
    query = select("x y", seq("?x p ?y", "?x q ?_"), per="?x")
    assert answers(query, "2: a p c\n1: a p b\n3: a q d\n4: a p e\n5: a q f") == ["1-3 x=a y=b"]
    by_time = select("x y", seq("?x p ?y", "?x q ?_"), per="?x , now()")
    assert answers(by_time, "1: a p b\n3: a q d\n5: a q f\n5: a q f") == ["1-3 x=a y=b", "1-5 x=a y=b"]
    once = fact("?x f ?y", since("?x p ?y"), per="?x")
    assert all_facts(once, "1: a p b\n2: a p c\n3: b p c") == ["a f b 1-", "b f c 3-"]


def test_tef_74_facts_have_a_start_and_an_end() -> None:
    assert all_facts(LIGHT, "1: a on b\n2: a on c\n4: a off b") == ["a f b 1-4", "a f c 2-"]


# Windows


def test_tef_76_within_has_its_edge() -> None:
    query = select("x", seq("?x p ?_", "?x q ?_"), within=4)
    assert answers(query, "1: a p b\n5: a q c") == ["1-5 x=a"]
    assert answers(query, "1: a p b\n6: a q c") == []
    arm = fact("?x f ?z", since(seq("?x p ?_", "?x q ?z")), within=4)
    assert all_facts(arm, "1: a p b\n5: a q c\n6: a q d") == ["a f c 5-"]
