"""FILTER across events, and SELECT."""

from __future__ import annotations

import pytest

from oracle.expressions import And, Arithmetic, Bound, Coalesce, Compare, Expression, Not, Or, truth
from oracle.spaseq import evaluate
from oracle.spaseq_cases import ask, event, found, gpm, line, table
from oracle.spaseq_query import Column
from oracle.spaseq_rows import rows
from oracle.terms import Iri, Var, decimal, integer, string

X, Y = Var("x"), Var("y")


def test_a_filter_may_name_variables_of_earlier_gpms() -> None:
    query = ask("A ; B", gpm("A", v="?x"), gpm("B", Compare(">", Y, X), v="?y"))
    assert found(query, [event("a1", 1, v=5), event("b1", 2, v=4), event("b2", 3, v=6)]) == ["a1 b2"]


def test_a_filter_is_part_of_what_joins_and_blocks_nothing_where_it_fails() -> None:
    query = ask("A ; B", gpm("A", v="?x"), gpm("B", Compare(">", Y, X), v="?y"))
    events = [event("a1", 1, v=5), event("a2", 2, v=1), event("b1", 3, v=4), event("b2", 4, v=6)]
    assert found(query, events) == ["a1 b2", "a2 b1"]


def test_a_filter_may_name_variables_of_its_conjunction_on_either_side() -> None:
    for sequence in ("A & B", "B & A"):
        query = ask(sequence, gpm("A", v="?x"), gpm("B", Compare(">", Y, X), v="?y"))
        assert found(query, [event("a1", 1, v=5), event("b1", 1, v=4)]) == []
        assert len(found(query, [event("a1", 1, v=5), event("b1", 1, v=6)])) == 1


def test_in_an_arm_that_does_not_bind_it_a_name_makes_the_filter_false() -> None:
    query = ask("(A | B) ; C", gpm("A", v="?x"), gpm("C", Compare(">", X, integer(0))))
    assert found(query, [event("a1", 1, v=5), event("c1", 2)]) == ["a1 c1"]
    assert found(query, [event("b1", 1), event("c1", 2)]) == []


def test_bound_and_coalesce_say_otherwise() -> None:
    events = [event("b1", 1), event("c1", 2)]
    for filter_ in (Not(Bound(X)), Compare("=", Coalesce((X, integer(0))), integer(0))):
        query = ask("(A | B) ; C", gpm("A", v="?x"), gpm("C", filter_))
        assert found(query, events) == ["b1 c1"]
        assert found(query, [event("a1", 1, v=5), event("c1", 2)]) == []


def test_in_the_arm_without_an_optional_part_its_variables_are_unbound() -> None:
    query = ask("A? ; C", gpm("A", v="?x"), gpm("C", Compare(">", X, integer(0))))
    assert found(query, [event("a1", 1, v=5), event("c1", 2)]) == ["a1 c1"]
    either = ask("A? ; C", gpm("A", v="?x"), gpm("C", Or(Not(Bound(X)), Compare(">", X, integer(7)))))
    assert found(either, [event("a1", 1, v=5), event("c1", 2)]) == ["c1"]


def test_a_filter_acts_in_its_own_arm_only() -> None:
    query = ask("A | B", gpm("A", Compare(">", X, integer(3)), v="?x"), gpm("B", v="?x"))
    assert found(query, [event("a1", 1, v=1), event("b1", 2, v=1)]) == ["b1"]


def test_a_filter_compares_values_and_not_terms() -> None:
    query = ask("A , B", gpm("A", v="?x"), gpm("B", Compare("=", X, Y), v="?y"))
    assert found(query, [event("a1", 1, v=1), event("b1", 2, v=decimal("1.0"))]) == ["a1 b1"]


ERROR = Compare("<", X, Iri("a"))
TRUE, FALSE = Compare("=", integer(1), integer(1)), Compare("=", integer(1), integer(2))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (ERROR, None),
        (Not(ERROR), None),
        (And(ERROR, FALSE), False),
        (And(ERROR, TRUE), None),
        (Or(ERROR, TRUE), True),
        (Or(FALSE, ERROR), None),
        (Coalesce((X, integer(0))), False),
        (Coalesce((X, Y)), None),
        (Compare("<", string("a"), string("b")), True),
        (Compare("<", integer(2), string("b")), None),
        (Compare("=", integer(2), string("2")), False),
        (Compare("!=", Iri("a"), Iri("b")), True),
        (Compare("<", Iri("a"), Iri("b")), None),
        (Compare("=", Arithmetic("/", integer(1), integer(2)), decimal("0.50")), True),
        (Arithmetic("/", integer(1), integer(0)), None),
        (Arithmetic("+", integer(1), string("1")), None),
        (string(""), False),
        (decimal("0.0"), False),
        (Iri("a"), None),
    ],
)
def test_expressions_know_three_values(expression: Expression, value: bool | None) -> None:
    assert truth(expression, {}) is value


def test_select_star_shows_what_is_not_negated_in_the_order_of_the_text() -> None:
    query = ask("C ; N! ; A", gpm("A", v="?x"), gpm("N", v="?n1"), gpm("C", v="?y"))
    (row,) = rows(query, evaluate(query, [event("c1", 1, v=1), event("a1", 2, v=2)]))
    assert [name for name, _ in row.cells] == ["a", "x", "c", "y"]


def test_projection_merges_nothing() -> None:
    query = ask("A", gpm("A", v="?x"), select=(Column("x"),))
    assert table(query, [event("a1", 1, v=5), event("a2", 2, v=5)]) == [(1, {"x": integer(5)}), (2, {"x": integer(5)})]


def test_distinct_keeps_the_first_row_of_equal_values() -> None:
    query = ask("A", gpm("A", v="?x"), select=(Column("x"),), distinct=True)
    events = [event("a1", 1, v=5), event("a2", 2, v=6), event("a3", 3, v=5)]
    assert table(query, events) == [(1, {"x": integer(5)}), (2, {"x": integer(6)})]


def test_a_selected_expression_that_fails_is_unbound() -> None:
    query = ask("A", gpm("A", v="?x"), select=(Column("z", Arithmetic("+", X, integer(1))), Column("a")))
    assert table(query, [event("a1", 1, v=string("s"))]) == [(1, {"a": Iri("a1")})]


def test_start_and_end_are_those_of_the_first_and_last_event() -> None:
    query = ask("A ; N!", within=7)
    (row,) = rows(query, evaluate(query, line("x a1")))
    assert (row.start, row.end, row.certain, row.events) == (2, 2, 9, ("a1",))


def test_rows_come_in_order_of_certainty() -> None:
    query = ask("(A | B) ; N! ; C?", within=3)
    found_rows = rows(query, evaluate(query, line("a1 b1 c1")))
    assert [row.events for row in found_rows] == [("a1", "c1"), ("b1", "c1"), ("a1",), ("b1",)]
