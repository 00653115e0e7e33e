"""Queries that mean nothing."""

from __future__ import annotations

import pytest

from oracle.expressions import Compare
from oracle.notation import read
from oracle.spaseq_cases import ask, gpm, pattern
from oracle.spaseq_legal import Meaningless
from oracle.spaseq_query import Aggregate, Column, GraphBlock
from oracle.terms import Var, integer

NAMES_X = Compare(">", Var("x"), integer(0))


@pytest.mark.parametrize(
    "sequence", ["N! ; A", "A? ; N! ; C", "A? ; B? ; N! ; C", "A ; N!", "A ; N! ; C?", "A ; N! ; M!", "N!"]
)
def test_negation_has_something_before_it_and_something_after_or_a_window(sequence: str) -> None:
    with pytest.raises(Meaningless):
        ask(sequence)


@pytest.mark.parametrize("sequence", ["N! ; A", "A? ; N! ; C"])
def test_a_window_does_not_help_a_first_negation(sequence: str) -> None:
    with pytest.raises(Meaningless):
        ask(sequence, within=5)


@pytest.mark.parametrize(
    "sequence",
    [
        "A ; B",  # only a later part binds ?x
        "A | B",  # the other arm
        "A ; (B | C)",
        "A , C",  # nothing
        "A ; B!",  # a negated part binds nothing for others
        "C ; A! ; D ; B",  # after C
    ],
)
def test_a_filter_may_not_name_what_is_out_of_sight(sequence: str) -> None:
    with pytest.raises(Meaningless):
        ask(sequence, gpm("A", NAMES_X), gpm("B", v="?x"), within=5)


@pytest.mark.parametrize("sequence", ["B ; A", "A & B", "(A | C) & B", "B? ; A", "C ; A! ; B", "B ; A!", "(A & B)!"])
def test_a_filter_may_name_what_is_in_sight(sequence: str) -> None:
    if sequence == "(A & B)!":
        sequence = "C ; " + sequence
    ask(sequence, gpm("A", NAMES_X), gpm("B", v="?x"), within=5)


def test_a_negation_may_not_share_a_variable_only_with_parts_after_the_next() -> None:
    shared = (gpm("N", v="?x"), gpm("D", v="?x"))
    with pytest.raises(Meaningless):
        ask("A ; N! ; C ; D", *shared)
    with pytest.raises(Meaningless):
        ask("A ; N! ; C? ; D", *shared)  # the arm with C
    ask("A ; N! ; D ; C", *shared)
    ask("A ; N! ; C ; D", *shared, gpm("C", v="?x"))


def test_what_partitions_is_bound_by_every_event_that_takes_part() -> None:
    with pytest.raises(Meaningless):
        ask("A , B", gpm("A", c="?c"), partition=("c",))
    with pytest.raises(Meaningless):
        ask("A", gpm("A", graphs=(GraphBlock("db", pattern("?a in ?c")),)), partition=("c",))
    ask("A , N! , B", gpm("A", c="?c"), gpm("B", c="?c"), partition=("c",))


@pytest.mark.parametrize(
    "column",
    [
        Column("nothing"),
        Column("n"),  # the negation's own
        Column("a", Aggregate("COUNT", "B")),  # a name that is taken
        Column("k", Aggregate("COUNT", "A")),  # no closure
        Column("k", Aggregate("SUM", "x")),  # no local
        Column("k", Compare("=", Var("n"), integer(1))),
    ],
)
def test_select_names_what_is_there(column: Column) -> None:
    with pytest.raises(Meaningless):
        ask("A , B+ ; N! ; C", gpm("A", v="?x"), select=(column,))


@pytest.mark.parametrize("text", ["(A ; B)+", "(A+)+", "A+?", "A & B+", "(A | B+) , C", "A , B! | C"])
def test_operators_stand_where_they_may(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
