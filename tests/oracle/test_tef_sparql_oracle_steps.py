"""TEF-SPARQL's rules about one step or one instant: which facts end, what starts again, which row is the first."""

from __future__ import annotations

from oracle.tef_sparql_notation import (
    all_constructed,
    all_facts,
    also,
    answers,
    event,
    fact,
    onend,
    onstart,
    replace,
    select,
    since,
    union,
    until,
    with_,
    without,
)

LIGHT = fact("?x f ?y", since("?x on ?y"), until("?x off ?y"))
COUNTER = fact("?x g ?y", since("?x up ?y"), until("?x down ?y"))


def test_tef_42_all_matched_facts_end_where_instances_share_one_mapping() -> None:
    """Two facts of one triple: the same mapping, whatever ONCE PER says."""
    for per in (None, "?y"):
        changed = fact("?x h ?y", replace("?x f ?z", "?x set ?y"), per=per)
        assert all_facts([LIGHT, changed], "1: a on b\n2: a on b\n3: a set c") == ["a f b 1-3", "a f b 2-3", "a h c 3-"]


def test_tef_42_all_matched_facts_end_under_once_per_which_keeps_one_new_fact() -> None:
    changed = fact("?x h ?z", replace("?x f ?z", "?x set ?y"), per="?y")
    assert all_facts([LIGHT, changed], "1: a on c . a on b\n3: a set k") == ["a f b 1-3", "a f c 1-3", "a h b 3-"]


def test_tef_42_an_instance_that_once_per_drops_because_of_an_earlier_step_does_nothing() -> None:
    changed = fact("?x h ?z", replace("?x f ?z", "?x set ?y"), per="?y")
    assert all_facts([LIGHT, changed], "1: a on b\n3: a set k\n4: a on c\n5: a set k\n6: a set m") == [
        *("a f b 1-3", "a h b 3-", "a f c 4-6", "a h c 6-")
    ]


def test_tef_26_onstart_runs_once_for_each_triple_and_start() -> None:
    """The fact that REPLACE starts again is the one that had its ONSTART."""
    again = fact("?x f ?y", since("?x on ?y"), replace("?x f ?y", onstart("?x f ?y")))
    seen = [event("?x c ?y", onstart("?x f ?y")), event("?x d ?y", onend("?x f ?y"))]
    assert all_facts(again, "1: a on b\n4: a on b") == ["a f b 1-4", "a f b 4-"]
    assert all_constructed([again, *seen], "1: a on b") == ["1 a c b"]
    assert all_constructed([again, *seen], "1: a on b\n4: a on b") == ["1 a c b", "4 a c b", "4 a d b"]


def test_tef_26_a_composite_that_begins_again_at_one_time_has_one_onstart() -> None:
    """The first ONSTART starts g, whose ONSTART ends it: what is without g holds again."""
    counted = [
        fact("?x g ?y", since("?x c ?y"), until("?x back ?y")),
        event("?x back ?y", onstart("?x g ?y")),
        event("?x c ?y", onstart(without("?x f ?y", "?x g ?_"))),
    ]
    assert all_constructed([LIGHT, *counted], "1: a on b") == ["1 a c b", "1 a back b"]


def test_tef_72_each_arm_of_a_union_and_each_mapping_of_its_own_variables_gives_a_row() -> None:
    either = select("x", union("?x f ?y", "?x g ?z"))
    assert answers([LIGHT, COUNTER, either], "1: a on b . a on c . a up b") == ["1 x=a", "1 x=a", "1 x=a"]
    nested = select("x", also(union("?x f ?y", "?x g ?z"), "?x f ?k"))
    assert answers([LIGHT, COUNTER, nested], "1: a on b . a up b . a up c") == ["1 x=a", "1 x=a", "1 x=a"]
    assert answers([LIGHT, COUNTER, select("x", union("?x f ?_", "?x g ?_"), distinct=True)], "1: a on b . a on c") == [
        "1 x=a"
    ]


def test_tef_71_facts_are_no_part_of_a_row() -> None:
    """A view of the arm's own variables: two derivations that begin together give one row."""
    both = fact("?x v ?y", "?x f ?y", "?x g ?y")
    assert answers([LIGHT, COUNTER, both, select("x", union("?x v ?y", "?x g b"))], "1: a on b . a up b") == [
        *("1 x=a", "1 x=a")
    ]


def test_tef_49_what_is_without_a_fact_of_one_instant_starts_anew_and_its_onend_stays() -> None:
    view = [LIGHT, COUNTER, fact("?x v ?y", without("?x f ?y", "?x g ?_"))]
    turns = [event("?x begun ?y", onstart("?x v ?y")), event("?x gone ?y", onend("?x v ?y"))]
    events = "1: a on b\n5: a up c\n5: a down c\n8: a off b"
    assert all_facts(view, events, of="v") == ["a v b 1-5", "a v b 5-8"]
    assert all_constructed([*view, *turns], events) == ["1 a begun b", "5 a gone b", "5 a begun b", "8 a gone b"]


def test_tef_49_a_view_of_such_a_view_starts_anew_too() -> None:
    views = [
        *(LIGHT, COUNTER),
        fact("?x w ?y", "?x v ?y"),
        fact("?x v ?y", without("?x f ?y", "?x g ?_")),
    ]
    assert all_facts(views, "1: a on b\n5: a up c\n5: a down c", of="w") == ["a w b 1-5", "a w b 5-"]


def test_tef_73_an_unbound_variable_comes_first() -> None:
    """The end of an open fact has no value (TEF-54): as in ORDER BY, that is before any value."""
    first = select("x y", with_("?x p ?_", "?y f ?_[?_,?a]"), per="?x")
    assert answers([LIGHT, first], "1: c on b . m on b\n4: c off b\n1-5: a p k") == ["1-5 x=a y=m"]


def test_tef_73_the_mapping_is_compared_by_name_as_before_union_drops_variables() -> None:
    """?a, which the second arm lacks, is the first by name."""
    replaced = fact(
        "?x h ?y",
        replace("?x f ?a", also("?x set ?_", "?y = 9 - ?a")),
        replace("?x g ?b", also("?x never ?_", "?y = ?b")),
        per="?x",
    )
    assert all_facts([LIGHT, COUNTER, replaced], "1: a on 2 . a on 1\n3: a set k", of="h") == ["a h 8 3-"]


def test_tef_22_unnamed_views_of_one_step_have_their_turns_in_the_order_of_the_text() -> None:
    """The first ONSTART ends f, so that the second has no turn."""
    program = [
        fact("?x f ?y", since("?x on ?y"), until(onstart("?x f ?y , ?y f ?x"))),
        event("?x c ?y", onstart("?y f ?x , ?x f ?y")),
    ]
    assert all_constructed(program, "1: a on a") == []


def test_tef_73_views_of_one_step_go_by_statement() -> None:
    """The first view is WITHOUT the second, so that it is derived later."""
    back = fact("?y g ?x", since("?x on ?y"), until("?x off ?y"))
    views = [fact("?x w ?y", without("?x f ?y", "?x v ?y")), fact("?x v ?y", "?x g ?y")]
    ends = [event("?x c ?y", onend("?x w ?y")), event("?x c ?y", onend("?x v ?y"))]
    starts = [event("?x c ?y", onstart("?x w ?y")), event("?x c ?y", onstart("?x v ?y"))]
    events = "1: a on b\n3: a off b"
    assert all_constructed([LIGHT, back, *views, *ends], events) == ["3 a c b", "3 b c a"]
    assert all_constructed([LIGHT, back, *views, *starts], events) == ["1 a c b", "1 b c a"]
