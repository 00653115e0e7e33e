"""TEF-SPARQL's rules where two of them meet: names from further left, ends without a value, comparisons with now()."""

from __future__ import annotations

from oracle.tef_sparql_notation import (
    all_facts,
    also,
    answers,
    at,
    during,
    fact,
    init,
    onend,
    onstart,
    pattern,
    replace,
    select,
    seq,
    since,
    union,
    until,
    with_,
    without,
)
from oracle.tef_sparql_query import Bound, Compare, Condition, Not, Or, Timed
from oracle.terms import Var, integer

LIGHT = fact("?x f ?y", since("?x on ?y"), until("?x off ?y"))
LEVEL = fact("?x h ?n", since("?x set ?n"))


# Expressions


def test_tef_58_a_test_inside_during_sees_the_variables_further_to_the_left() -> None:
    query = select("n m", seq("?x e ?n", during("?x p ?y", "?x h ?m , ?m > ?n")))
    events = "1: a set 5\n2: a e 3\n2: a e 7\n4: a p b"
    assert answers([LEVEL, query], events) == ["2-4 m=5 n=3"]
    late = "1: a set 5\n2: a p b\n2: a e 3\n2: a e 7"  # the right side came first (TEF-35)
    assert answers([LEVEL, query], late) == ["2 m=5 n=3"]
    gone = fact("?x h ?n", since("?x set ?n"), until("?x off ?n"))
    assert answers([gone, query], "1: a set 5\n2: a p b\n2: a off 5\n2: a e 3") == ["2 m=5 n=3"]  # TEF-23


def test_tef_58_a_value_inside_during_is_computed_of_variables_further_to_the_left() -> None:
    query = select("k", seq("?x e ?n", during("?x p ?y", "?x h ?m , ?k = ?m + ?n")))
    assert answers([LEVEL, query], "1: a set 5\n2: a e 3\n4: a p b") == ["2-4 k=8"]
    twice = seq("?x e ?n", also(during("?x p ?y , ?k = ?n + 1", "?x h ?m , ?m > ?k"), "?k > 3"))
    assert answers([LEVEL, select("k", twice)], "1: a set 5\n2: a e 3\n2: a e 2\n2: a e 4\n4: a p b") == ["2-4 k=4"]


def test_tef_58_a_test_of_static_triples_sees_the_variables_further_to_the_left() -> None:
    query = select("n", seq("?x e ?n", also("?x p ?y", pattern("?x s ?m , ?m > ?n"))))
    assert answers(query, "2: a e 3\n2: a e 7\n4: a p b", "a s 5") == ["2-4 n=3"]


def test_tef_39_a_test_inside_without_sees_the_variables_further_to_the_left() -> None:
    events = "1: a set 5\n2: a e 3\n2: a e 7\n4: a p b"
    query = select("n", seq("?x e ?n", without("?x p ?y", "?x h ?m , ?m > ?n")))
    assert answers([LEVEL, query], events) == ["2-4 n=7"]
    static = select("n", seq("?x e ?n", without("?x p ?y", "?x s ?m , ?m > ?n")))
    assert answers(static, events, "a s 5") == ["2-4 n=7"]


def test_tef_39_without_inside_during_sees_the_variables_further_to_the_left() -> None:
    events = "1: a on b\n1: b up 3\n2: a e 3\n2: a e 7\n4: a p b"
    other = fact("?x g ?n", since("?x up ?n"))
    query = select("n", seq("?x e ?n", during("?x p ?y", without("?x f ?y", "?y g ?n"))))
    assert answers([LIGHT, other, query], events) == ["2-4 n=7"]
    lasts = select("n", seq("?x e ?n", with_("?x p ?y", without("?x f ?y", "?y g ?n"))))
    assert answers([LIGHT, other, lasts], "1: a on b\n1: a e 3\n3: b up 3\n2-4: a p b") == ["1-4 n=3"]
    test = select("n", seq("?x e ?n", during("?x p ?y", also(without("?x f ?y", "?y g ?m , ?m > ?n"), "?x f ?y"))))
    assert answers([LIGHT, other, test], events) == ["2-4 n=3", "2-4 n=7"]
    assert answers([LIGHT, other, test], events.replace("2: a e 3", "2: a e 2")) == ["2-4 n=7"]


def test_tef_58_tests_inside_a_union_of_facts_see_the_variables_further_to_the_left() -> None:
    events = "1: a set 5\n2: a e 3\n2: a e 7\n3: c on b\n4: a p b\n4: c e 9\n5: c p b"
    either = union("?x h ?m , ?m > ?n", "?x f ?y")
    assert answers([LEVEL, LIGHT, select("n", seq("?x e ?n", during("?x p ?_", either)))], events) == [
        "2-4 n=3",
        "4-5 n=9",
    ]
    assert answers([LEVEL, LIGHT, select("n", seq("?x e ?n", without("?x p ?_", either)))], events) == ["2-4 n=7"]


def test_tef_39_and_58_tests_inside_on_see_the_variables_of_replace() -> None:
    top = fact("?x v ?n", since("?x init ?n"), replace("?x v ?o", without("?x e ?n", "?x h ?m , ?m > ?o")))
    events = "1: a set 5\n2: a init 3\n3: a e 4\n4: a init 9\n5: a e 6"
    assert all_facts([LEVEL, top], events, of="v") == ["a v 3 2-", "a v 9 4-5", "a v 6 5-"]
    below = fact("?x v ?n", since("?x init ?n"), replace("?x v ?o", during("?x e ?n", "?x h ?m , ?m > ?o")))
    assert all_facts([LEVEL, below], "1: a set 5\n2: a init 3\n3: a e 4", of="v") == ["a v 3 2-3", "a v 4 3-"]
    timed = fact(
        "?x v ?n", since("?x init ?n"), replace("?x v ?o", during("?x e ?n", "?x h ?m[?s,?_] , now() > ?s + ?o"))
    )
    assert all_facts([LEVEL, timed], "1: a set 5\n2: a init 3\n4: a e 4\n5: a e 6", of="v") == ["a v 3 2-5", "a v 6 5-"]


def test_tef_39_what_replace_matches_does_not_see_the_variables_of_on() -> None:
    lone = fact("?x h ?n", since("?x set ?n"), replace(without("?x h ?m", "?y g ?n"), "?x e ?n"))
    other = fact("?x g ?n", since("?x up ?n"))
    assert all_facts([lone, other], "1: a set 1\n2: b up 2\n3: a e 3", of="h") == ["a h 1 1-"]


def test_tef_38_a_fact_restarts_at_events_judged_with_its_variables() -> None:
    view = fact("?x v ?n", without("?x h ?n", during("?x p ?_", "?x f ?_[?s,?_] , ?s > ?n")))
    events = "1: a set 5\n4: a on b\n6: a p c\n7: a on c\n9: a p c"
    assert all_facts([LEVEL, LIGHT, view], events, of="v") == ["a v 5 1-9", "a v 5 9-"]


def test_tef_54_an_end_without_a_value_is_so_in_expressions() -> None:
    read = during("?x p ?_", "?x f ?y[?s,?e]")
    events = "1: a on b\n2: a p c"
    assert answers([LIGHT, select("y", Condition(read, Not(Bound(Var("e")))))], events) == ["2 y=b"]
    either = Or(Compare(">", Var("e"), integer(5)), Compare("=", Var("s"), integer(1)))
    assert answers([LIGHT, select("y", Condition(read, either))], events) == ["2 y=b"]
    assert answers([LIGHT, select("y", also(read, "?e > 0"))], events) == []


def test_tef_58_an_expression_does_not_see_what_is_bound_to_its_right() -> None:
    read = also(during("?x p ?_", "?x f ?y[?s,?e]"), "?e > 0")
    assert answers([LIGHT, select("y", seq(read, "?x q ?_[?e,?_]"))], "1: a on b\n2: a p c\n3: a q c") == []


# Comparisons with now()


COUNTER = fact("?x g ?y", since("?x up ?y"), until("?x down ?y"))


def test_tef_64_a_comparison_inside_a_group_is_due_by_names_further_to_the_left() -> None:
    started = "1: a set 5\n1: a up c"
    over = without("?x h ?n", "?x g ?_[?s,?_] , now() < ?s + ?n")
    assert answers([LEVEL, COUNTER, select("x", over)], started) == ["6 x=a"]
    view = fact("?x v ?n", without("?x h ?n", "?x g ?_[?s,?_] , now() > ?s + ?n"))
    assert answers([LEVEL, COUNTER, view, select("t", onend("?x v ?n[?_,?t]"))], started) == ["7 t=7"]
    both = also("?x h ?n", pattern("?x g ?_[?s,?_] , now() > ?s + ?n"))
    assert answers([LEVEL, COUNTER, select("x", both)], started) == ["7 x=a"]


def test_tef_63_the_other_side_of_a_comparison_is_any_number() -> None:
    expected = {
        "now() > ?s + 2.5": ["a v b 4-"],
        "now() >= ?s + 2.0": ["a v b 3-"],
        "now() < ?s + 2.5": ["a v b 1-4"],
        "now() <= ?s + 2.5": ["a v b 1-4"],
        "now() = ?s + 2.0": ["a v b 3-4"],
        "now() = ?s + 2.5": [],
        "now() != ?s + 2.5": ["a v b 1-"],
        "now() != ?y": ["a v b 1-"],
        "now() > ?y": [],
    }
    for comparison, found in expected.items():
        view = fact("?x v ?y", f"?x f ?y[?s,?_] , {comparison}")
        assert all_facts([LIGHT, view], "1: a on b", of="v") == found, comparison


def test_tef_63_a_comparison_clips_static_triples() -> None:
    soon = fact("?x soon ?t", "?x scheduled ?t , now() >= ?t - 3")
    assert all_facts(soon, "1: q p b", "a scheduled 10") == ["a soon 10 7-"]
    assert all_facts(soon, "8: q p b", "a scheduled 10") == ["a soon 10 8-"]
    assert answers(select("x", "?x scheduled ?t , now() >= ?t - 3"), "1: q p b", "a scheduled 10") == ["7 x=a"]


def test_tef_54_the_end_of_what_will_be_clipped_has_no_value_yet() -> None:
    clipped = at("?x f ?y[?s,?_] , now() < ?s + 5", "?_", "?e")
    assert answers([LIGHT, select("e", during("?x p ?_", clipped))], "1: a on b\n3: a p c") == ["3"]
    assert answers([LIGHT, select("e", onend(clipped))], "1: a on b") == ["6 e=6"]


def test_tef_42_replace_matches_what_holds_at_the_time() -> None:
    late = fact("?x v ?z", replace("?x f ?y[?s,?_] , now() > ?s + 5", "?x p ?z"))
    assert all_facts([LIGHT, late], "1: a on b\n3: a p c\n7: a p d") == ["a f b 1-7", "a v d 7-"]
    early = fact("?x v ?z", replace("?x f ?y[?s,?_] , now() < ?s + 5", "?x p ?z"))
    assert all_facts([LIGHT, early], "1: a on b\n7: a p d") == ["a f b 1-"]
    assert all_facts([LIGHT, early], "1: a on b\n3: a p d") == ["a f b 1-3", "a v d 3-"]
    lone = fact("?x v ?z", replace(without("?x f ?y", "?x g ?_"), "?x p ?z"))
    events = "1: a on b\n2: a up c\n3: a p d\n4: a down c\n5: a p e"
    assert all_facts([LIGHT, COUNTER, lone], events, of="f v") == ["a f b 1-5", "a v e 5-"]


# Views


def test_tef_49_a_view_that_was_not_true_for_a_step_starts_anew() -> None:
    """`g` starts and ends at 5, and never held (TEF-43)."""
    view = [LIGHT, COUNTER, fact("?x v ?y", without("?x f ?y", "?x g ?_"))]
    events = "1: a on b\n5: a up c\n5: a down c\n8: a off b"
    assert all_facts(view, events, of="v") == ["a v b 1-5", "a v b 5-8"]
    turns = [select("y s e", onend("?x v ?y[?s,?e]")), select("y", onstart("?x v ?y")), select("y", "?x v ?y")]
    assert answers([*view, *turns], events) == [
        *("2: 1 y=b", "3: 1 y=b"),
        *("1: 5 e=5 s=1 y=b", "2: 5 y=b", "3: 5 y=b"),
        "1: 8 e=8 s=5 y=b",
    ]
    second = [*view, fact("?x w ?y", "?x v ?y")]
    assert all_facts(second, events, of="w") == ["a w b 1-5", "a w b 5-8"]


def test_tef_49_and_50_an_unnamed_view_that_was_not_true_for_a_step_starts_anew() -> None:
    lone = without("?x f ?y", "?x g ?_")
    events = "1: a on b\n5: a up c\n5: a down c\n8: a off b"
    turns = [
        select("y s e", onend(Timed(lone, Var("s"), Var("e")))),
        select("y s", onstart(Timed(lone, Var("s"), Var("e")))),
        select("y", lone),
    ]
    assert answers([LIGHT, COUNTER, *turns], events) == [
        *("2: 1 s=1 y=b", "3: 1 y=b"),
        *("1: 5 e=5 s=1 y=b", "2: 5 s=5 y=b", "3: 5 y=b"),
        "1: 8 e=8 s=5 y=b",
    ]


# Rows


def test_tef_71_the_mapping_of_facts_is_theirs_before_union_drops_variables() -> None:
    events = "1: a on b . a on c . a up b\n2: a p k"
    private = select("x", during("?x p ?_", union("?x f ?y", "?x g ?z")))
    assert answers([LIGHT, COUNTER, private], events) == ["2 x=a"] * 3
    common = select("x y", during("?x p ?_", union("?x f ?y", "?x g ?y")))
    assert answers([LIGHT, COUNTER, common], events) == ["2 x=a y=b", "2 x=a y=c"]
    static = select("x z", also("?x p ?y", union("?y s ?z", "?y r ?z")))
    assert answers(static, "1: a p b", "b s c . b r c . b r d") == ["1 x=a z=c", "1 x=a z=d"]


def test_tef_72_two_arms_give_two_rows_in_a_group_too() -> None:
    inside = also(union("?x f ?y", "?x g ?y"), "?x h ?n")
    assert answers([LIGHT, COUNTER, LEVEL, select("x", inside)], "1: a on b . a up b . a set 3") == ["1 x=a", "1 x=a"]


def test_tef_73_among_rows_of_one_step_the_mapping_decides_before_the_arm() -> None:
    over_facts = select("x y", union("?x f ?y", "?x g ?y"), per="?x")
    assert answers([LIGHT, COUNTER, over_facts], "1: a on c . a up b") == ["1 x=a y=b"]
    at_first = fact("?x v ?y", init("?x s ?y"), init("?x r ?y"), per="?x")
    assert all_facts(at_first, "1: a p b", "a s c . a r b") == ["a v b 1-"]


def test_tef_73_a_fresh_variable_decides_last() -> None:
    events = "1: a on b . a on c . b up z . c up a\n2: a p k"
    assert answers([LIGHT, COUNTER, select("x y", "?x f ?y , ?y g ?_", per="?x")], events) == ["1 x=a y=b"]
    later = during("?x p ?_", "?x f ?y , ?y g ?_")
    assert answers([LIGHT, COUNTER, select("x y", later, per="?x")], events) == ["2 x=a y=b"]


def test_tef_72_static_triples_begin_with_the_first_event() -> None:
    """TEF-45: the paper's 0 is this time."""
    assert answers(select("x", "?x s ?y"), "3: q p b\n5: a p b", "a s b") == ["3 x=a"]
    assert all_facts(fact("?x f ?y", "?x s ?y"), "3: q p b\n5: a p b", "a s b") == ["a f b 3-"]


def test_tef_75_two_selects_that_are_equal_are_two() -> None:
    twice = [select("x", "?x p ?y"), select("x", "?x p ?y")]
    assert answers(twice, "1: a p b") == ["1: 1 x=a", "2: 1 x=a"]


# Windows


def test_tef_76_within_bounds_the_event_and_not_what_it_is_without() -> None:
    long = select("z", without(seq("?x p ?_", "?x q ?z"), "?x r ?_"), within=2)
    assert answers(long, "3: a p b\n0-4: a r b\n5: a q c") == []
    several = select("z", without(seq("?x p ?_", "?x q ?z"), seq("?x r ?_", "?x t ?_")), within=2)
    assert answers(several, "0: a r b\n3: a p b\n4: a t b\n5: a q c") == []


def test_tef_76_within_bounds_the_facts_that_are_asked_for() -> None:
    query = select("z", with_(seq("?x p ?_", "?x q ?z"), "?x f ?_"), within=2)
    assert answers([LIGHT, query], "0: a on b\n1: a p b\n2: a off b\n3: a q c\n4: a p b\n5: a q d") == ["1-3 z=c"]
