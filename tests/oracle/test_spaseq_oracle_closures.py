"""Kleene's `+`: which iterations follow each other, and what its variables mean inside and outside."""

from __future__ import annotations

from fractions import Fraction

from oracle.expressions import Arithmetic, Bound, Compare, Number
from oracle.spaseq import evaluate
from oracle.spaseq_cases import ask, event, found, gpm, line, table
from oracle.spaseq_query import Aggregate, Column
from oracle.spaseq_rows import Cell
from oracle.terms import Iri, Var, decimal, integer, string


def test_every_prefix_is_a_match() -> None:
    assert found(ask("A , B+"), line("a1 b1 b2 b3")) == ["a1 b1", "a1 b1 b2", "a1 b1 b2 b3"]


def test_in_a_sequence_iterations_are_contiguous_whatever_stands_before() -> None:
    for operator in ",;:":
        assert found(ask(f"A {operator} B+"), line("a1 b1 x b2"))[:1] == ["a1 b1"]
    assert found(ask("A , B+"), line("a1 b1 x b2")) == ["a1 b1"]
    assert found(ask("A ; B+"), line("a1 b1 x b2")) == ["a1 b1"]
    assert found(ask("A : B+"), line("a1 b1 x b2")) == ["a1 b1", "a1 b2"]


def test_a_closure_alone_in_seq_skips_till_next() -> None:
    assert found(ask("B+"), line("b1 x b2 b3")) == ["b1", "b1 b2", "b1 b2 b3", "b2", "b2 b3", "b3"]


def test_a_closure_first_in_a_longer_sequence_is_contiguous() -> None:
    assert found(ask("B+ ; C"), line("b1 x b2 c1")) == ["b1 c1", "b2 c1"]


def test_a_closure_before_a_last_negation_is_not_alone() -> None:
    assert found(ask("B+ ; N!", within=9), line("b1 x b2")) == ["b1", "b2"]


def test_a_closure_that_an_optional_leaves_alone_skips_till_next() -> None:
    assert found(ask("A? ; B+"), line("b1 x b2")) == ["b1", "b1 b2", "b2"]


def test_the_part_after_a_closure_is_judged_from_its_last_iteration() -> None:
    assert found(ask("B+ , C"), line("b1 b2 c1")) == ["b1 b2 c1", "b2 c1"]
    assert found(ask("B+ ; C"), line("b1 c1 b2 c2")) == ["b1 c1", "b2 c2"]


def test_different_splits_of_the_same_events_are_different_matches() -> None:
    query = ask("A+ , B+", gpm("A", type="T"), gpm("B", type="T"))
    events = [event("a1", 1, type="B"), event("a2", 2, type="B")]
    assert found(query, events) == []
    either = [event(f"e{time}", time, type=("A", "B", "T")) for time in (1, 2, 3)]
    matches = evaluate(query, either)
    assert sorted(match.events for match in matches if len(match.events) == 3) == [("e1", "e2", "e3")] * 2
    assert len({match.places for match in matches if len(match.events) == 3}) == 2


def test_simultaneous_events_are_alternatives_for_an_iteration() -> None:
    assert found(ask("A , B+"), line("a1 b1=b2 b3")) == ["a1 b1", "a1 b1 b3", "a1 b2", "a1 b2 b3"]


def test_a_closure_of_a_conjunction_lists_both_for_each_iteration() -> None:
    assert found(ask("A , (B & C)+"), line("a1 b1=c1 b2=c2 b3")) == ["a1 b1 c1", "a1 b1 c1 b2 c2"]


def test_a_closure_of_a_disjunction_chooses_anew_in_each_iteration() -> None:
    assert found(ask("A , (B | C)+"), line("a1 b1 c2 b3")) == ["a1 b1", "a1 b1 c2", "a1 b1 c2 b3"]


def test_a_local_changes_from_iteration_to_iteration() -> None:
    events = [event("a1", 1), event("b1", 2, v=5), event("b2", 3, v=6)]
    assert found(ask("A , B+", gpm("B", v="?v")), events) == ["a1 b1", "a1 b1 b2"]


def test_what_stands_in_another_gpm_keeps_one_value() -> None:
    events = [event("a1", 1, l=1), event("b1", 2, l=1), event("b2", 3, l=2)]
    assert found(ask("A , B+", gpm("A", l="?l"), gpm("B", l="?l")), events) == ["a1 b1"]


def test_what_a_later_gpm_names_keeps_one_value_too() -> None:
    events = [event("b1", 1, l=1), event("b2", 2, l=2), event("c1", 3, l=2)]
    assert found(ask("B+ , C", gpm("B", l="?l"), gpm("C", l="?l")), events) == ["b2 c1"]


def test_what_a_negated_gpm_names_is_not_local() -> None:
    events = [event("b1", 1, l=1), event("b2", 2, l=2)]
    assert found(ask("B+ ; N!", gpm("B", l="?l"), gpm("N", l="?l"), within=5), events) == ["b1", "b2"]
    assert found(ask("B+ ; N!", gpm("B", l="?l"), gpm("N", l="?other"), within=5), events) == ["b1", "b1 b2", "b2"]


def test_the_same_gpm_elsewhere_makes_all_its_variables_common() -> None:
    # ?b stands in the second B as well: one subject throughout, and no two events here have that
    assert found(ask("B+ , B"), line("b1 b2 b3")) == []


def test_localness_is_judged_on_the_query_as_written() -> None:
    events = [event("b1", 1, l=1), event("b2", 2, l=2), event("c1", 3)]
    with_optional = ask("A? , B+ , C", gpm("A", l="?l"), gpm("B", l="?l"))
    assert found(with_optional, events) == ["b2 c1"]
    assert found(ask("B+ , C", gpm("B", l="?l")), events) == ["b1 b2 c1", "b2 c1"]


def test_a_filter_alone_does_not_make_a_variable_common() -> None:
    later = gpm("C", Compare(">", Var("v"), integer(5)))
    events = [event("b1", 1, v=5), event("b2", 2, v=6), event("c1", 3)]
    assert found(ask("B+ , C", gpm("B", v="?v"), later), events) == ["b1 b2 c1", "b2 c1"]


def test_in_later_filters_a_local_means_its_last_value() -> None:
    later = gpm("C", Compare("=", Var("v"), integer(5)))
    events = [event("b1", 1, v=5), event("b2", 2, v=6), event("c1", 3)]
    assert found(ask("B+ , C", gpm("B", v="?v"), later), events) == []


def test_a_closures_own_filter_sees_the_iteration_at_hand() -> None:
    rising = gpm("B", Compare(">", Var("v"), Var("p")), v="?v")
    events = [event("a1", 1, v=5), event("b1", 2, v=6), event("b2", 3, v=7), event("b3", 4, v=5)]
    assert found(ask("A , B+", gpm("A", v="?p"), rising), events) == ["a1 b1", "a1 b1 b2"]


def test_a_new_iteration_forgets_the_old_locals() -> None:
    # v of the second iteration, by C, is unbound: not the one that B left
    last = gpm("D", Bound(Var("v")))
    events = [event("b1", 1, v=5), event("c1", 2), event("d1", 3)]
    assert found(ask("(B | C)+ , D", gpm("B", v="?v"), last), events) == []
    assert found(ask("(B | C)+ , D", gpm("B", v="?v"), last), [event("c1", 1), event("b1", 2, v=5), events[2]]) == [
        "b1 d1",
        "c1 b1 d1",
    ]


AGGREGATES = tuple(
    Column(function.lower(), Aggregate(function, "v"))
    for function in ("SUM", "AVG", "MIN", "MAX", "FIRST", "LAST", "COLLECT")
)


def longest(rows: list[tuple[int, dict[str, Cell]]]) -> dict[str, Cell]:
    return rows[-1][1]


def test_aggregates_take_a_locals_value_in_each_iteration() -> None:
    query = ask("A , B+", gpm("B", v="?v"), select=(Column("n", Aggregate("COUNT", "B")), *AGGREGATES, Column("v")))
    events = [event("a1", 1), event("b1", 2, v=6), event("b2", 3, v=1), event("b3", 4, v=2)]
    assert longest(table(query, events)) == {
        "n": Number(Fraction(3), integer=True),
        "sum": Number(Fraction(9), integer=True),
        "avg": Number(Fraction(3), integer=False),
        "min": integer(1),
        "max": integer(6),
        "first": integer(6),
        "last": integer(2),
        "collect": (integer(6), integer(1), integer(2)),
        "v": integer(2),
    }


def test_sums_are_exact_and_decimal_with_a_decimal() -> None:
    query = ask("A , B+", gpm("B", v="?v"), select=AGGREGATES[:2])
    events = [event("a1", 1), event("b1", 2, v=1), event("b2", 3, v=decimal("0.5")), event("b3", 4, v=2)]
    assert longest(table(query, events)) == {
        "sum": Number(Fraction("3.5"), integer=False),
        "avg": Number(Fraction(7, 6), integer=False),
    }


def test_a_sum_with_what_is_no_number_is_unbound() -> None:
    query = ask("A , B+", gpm("B", v="?v"), select=AGGREGATES[:2])
    events = [event("a1", 1), event("b1", 2, v=1), event("b2", 3, v=string("x"))]
    assert longest(table(query, events)) == {}


def test_an_iteration_without_a_value_gives_none_to_an_aggregate() -> None:
    query = ask("A , (B | C)+", gpm("B", v="?v"), select=(Column("n", Aggregate("COUNT", "B")), *AGGREGATES))
    only_c = [event("a1", 1), event("c1", 2)]
    zero = Number(Fraction(0), integer=True)
    assert longest(table(query, only_c)) == {"n": zero, "sum": zero, "avg": zero, "collect": ()}
    mixed = [*only_c, event("b2", 3, v=4), event("c3", 4)]
    assert longest(table(query, mixed))["collect"] == (integer(4),)
    assert longest(table(query, mixed))["n"] == Number(Fraction(1), integer=True)


def test_mappings_that_differ_in_an_earlier_iteration_are_two_rows() -> None:
    query = ask("A , B+", gpm("B", v="?v"), select=(Column("sum", Aggregate("SUM", "v")),))
    events = [event("a1", 1), event("b1", 2, v=(1, 2)), event("b2", 3, v=5)]
    sums = [cells["sum"] for end, cells in table(query, events) if end == 3]
    assert sorted(str(each) for each in sums) == [
        str(Number(Fraction(6), integer=True)),
        str(Number(Fraction(7), integer=True)),
    ]
    plain = ask("A , B+", gpm("B", v="?v"), select=(Column("v"),))
    assert [row for row in table(plain, events) if row[0] == 3] == [(3, {"v": integer(5)})] * 2


def test_the_places_of_a_closure_are_its_iterations() -> None:
    matches = evaluate(ask("A , B+"), line("a1 b1 b2"))
    assert {frozenset({(0, 1, "a1"), (1, 1, "b1")}), frozenset({(0, 1, "a1"), (1, 1, "b1"), (1, 2, "b2")})} == {
        match.places for match in matches
    }


def test_two_closures_each_have_their_own_locals() -> None:
    falling = gpm("C", Compare("<", Var("w"), Arithmetic("-", Var("v"), integer(1))), w="?w")
    events = [event("b1", 1, v=5), event("b2", 2, v=4), event("c1", 3, w=3), event("c2", 4, w=2)]
    # the last v is 4, so w < 3: c1 is no iteration, and c2 is not contiguous
    assert found(ask("B+ , C+", gpm("B", v="?v"), falling), events) == []
    assert found(ask("B+ , C+", gpm("B", v="?v"), falling), [*events[:2], event("c1", 3, w=2), events[3]]) == [
        "b1 b2 c1",
        "b1 b2 c1 c2",
        "b2 c1",
        "b2 c1 c2",
    ]


def test_a_local_is_shown_as_in_the_last_iteration() -> None:
    assert table(ask("B+ , C", select=(Column("b"),)), line("b1 b2 c1")) == [
        (3, {"b": Iri("b2")}),
        (3, {"b": Iri("b2")}),
    ]
