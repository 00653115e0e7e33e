"""Aggregates, modifiers, sub-selects and paths of EP-SPARQL: EP-58 to EP-65."""

from __future__ import annotations

from oracle.ep_sparql_notation import answers, group, path, select, seq, where
from oracle.ep_sparql_query import (
    Aggregate,
    Column,
    Compare,
    Either,
    Exists,
    Expression,
    Inverse,
    Key,
    Order,
    Repeat,
    Select,
    Steps,
    SubSelect,
    TimeFunction,
)
from oracle.terms import Iri, Var, integer

COUNT = Aggregate("COUNT", None)
P, Q = Iri("p"), Iri("q")


def aggregated(*columns: Expression, by: str = "", having: tuple[Expression, ...] = ()) -> Select:
    """Columns n, n2, … over `?x p ?y`, by some variables."""
    names = by.split()
    named = [Column("n" if not number else f"n{number + 1}", each) for number, each in enumerate(columns)]
    keys = tuple(Key(Var(name)) for name in names)
    return Select((*map(Column, names), *named), group("?x p ?y"), group_by=keys, having=having)


def test_ep_58_an_aggregate_gives_a_row_whenever_a_group_gains_a_solution() -> None:
    assert answers(aggregated(COUNT), "3: a p 1\n5: a p 2") == ["3 n=1", "3-5 n=2"]


def test_ep_58_solutions_of_one_time_give_one_row() -> None:
    assert answers(aggregated(COUNT), "3: a p 1 . b p 1\n1-5: a p 2\n5: c p 3") == ["1-5 n=4", "3 n=2"]


def test_ep_58_groups_gain_solutions_on_their_own() -> None:
    found = answers(aggregated(COUNT, by="x"), "3: a p 1\n4: b p 1\n5: a p 2")
    assert found == ["3 n=1 x=a", "3-5 n=2 x=a", "4 n=1 x=b"]


def test_ep_58_the_functions() -> None:
    y = Var("y")
    functions = [Aggregate(name, y) for name in ("SUM", "MIN", "MAX", "AVG", "COUNT")]
    columns = (*functions, Aggregate("SUM", y, distinct=True), Aggregate("COUNT", y, distinct=True))
    assert answers(aggregated(*columns), "1: a p 1\n2: b p 1\n3: a p 2") == [
        "1 n=1 n2=1 n3=1 n4=1 n5=1 n6=1 n7=1",
        "1-2 n=2 n2=1 n3=1 n4=1 n5=2 n6=1 n7=1",
        "1-3 n=4 n2=1 n3=2 n4=4/3 n5=3 n6=3 n7=2",
    ]


def test_c_28_a_sum_of_what_is_no_number_is_an_error_and_count_leaves_errors_out() -> None:
    columns = (Aggregate("SUM", Var("y")), Aggregate("COUNT", Var("unbound")), Aggregate("MAX", Var("y")))
    assert answers(aggregated(*columns), "1: a p 1 . a p b") == ["1 n2=0 n3=1"]


def test_ep_59_a_group_gains_timeless_solutions_first_and_keeps_them() -> None:
    assert answers(aggregated(COUNT), "3: a p 2", "a p 1") == ["3 n=2"]
    both = select("*", SubSelect(aggregated(COUNT)), "?y q ?z")
    assert answers(both, "3: a p 2\n4: b q c", "a p 1") == ["3-4 n=2 y=b z=c | e2", "4 n=1 y=b z=c | e2"]


def test_ep_60_a_join_pairs_with_every_running_version() -> None:
    query = select("*", seq(group(SubSelect(aggregated(COUNT))), "?y q ?z"))
    assert answers(query, "1: a p 1\n2: a p 2\n3: b q c") == ["1-3 n=1 y=b z=c | e3", "1-3 n=2 y=b z=c | e3"]


def test_ep_61_an_empty_ungrouped_aggregate_gives_no_row() -> None:
    assert answers(aggregated(COUNT), "3: a q 1") == []
    assert answers(select("*", SubSelect(aggregated(COUNT)), "?y q ?z"), "3: a q 1") == []


def test_ep_29_having_reads_the_row_and_an_aggregate_its_members() -> None:
    long = (Compare(">=", TimeFunction.DURATION, integer(2)),)
    assert answers(aggregated(COUNT, having=long), "3: a p 1\n4: a p 2\n5: a p 3") == ["3-5 n=3"]
    columns = (Aggregate("MAX", TimeFunction.START), Aggregate("SUM", TimeFunction.DURATION), TimeFunction.DURATION)
    assert answers(aggregated(*columns), "1-3: a p 1\n2-4: a p 2") == ["1-3 n=1 n2=2 n3=2", "1-4 n=2 n2=4 n3=3"]


def test_ep_29_group_by_reads_the_member() -> None:
    query = Select((Column("t"), Column("n", COUNT)), group("?x p ?y"), group_by=(Key(TimeFunction.START, "t"),))
    assert answers(query, "1: a p 1\n1-3: a p 2\n2-3: a p 3") == ["1 n=1 t=1", "1-3 n=2 t=1", "2-3 n=1 t=2"]


def limited(limit: int | None, offset: int = 0, *order: Order) -> Select:
    return Select(None, group("?x p ?y"), order_by=order, limit=limit, offset=offset)


def test_ep_62_limit_acts_among_rows_of_equal_end() -> None:
    events = "1: a p 3 . b p 1\n2: c p 2"
    assert answers(limited(1, 0, Order(Var("y"))), events) == ["1 x=b y=1 | e1", "2 x=c y=2 | e2"]
    assert answers(limited(1, 0, Order(Var("y"), descending=True)), events) == ["1 x=a y=3 | e1", "2 x=c y=2 | e2"]
    assert answers(limited(None, 1, Order(Var("y"))), events) == ["1 x=a y=3 | e1"]


def test_ep_62_ties_go_by_start_and_then_by_terms() -> None:
    events = "2: a p 1\n1-2: c p 1\n1-2: b p 2 . b p 1"
    assert answers(limited(1), events) == ["1-2 x=b y=1 | e3"]
    assert answers(limited(2), events) == ["1-2 x=b y=1 | e3", "1-2 x=b y=2 | e3"]
    assert answers(limited(2, 2), events) == ["1-2 x=c y=1 | e2", "2 x=a y=1 | e1"]


def test_ep_62_distinct_comes_before_limit() -> None:
    query = Select((Column("x"),), group("?x p ?y"), distinct=True, limit=2)
    assert answers(query, "1: a p 1 . a p 2 . b p 1 . c p 1") == ["1 x=a", "1 x=b"]


def test_ep_63_a_repeated_path_stays_within_one_event() -> None:
    once = select("*", path("?x", Steps(P, Q), "?y"))
    assert answers(once, "1: a p b\n2: b q c") == ["1-2 x=a y=c | e1 e2"]
    repeated = select("*", path("?x", Repeat(Steps(P, Q), "+"), "?y"))
    assert answers(repeated, "1: a p b\n2: b q c") == []
    assert answers(repeated, "1: a p b . b q c . c p d . d q e") == [
        "1 x=a y=c | e1",
        "1 x=a y=e | e1",
        "1 x=c y=e | e1",
    ]


def test_ep_63_alternatives_and_inverses_are_unions_and_swaps() -> None:
    query = select("*", path("?x", Either(P, Inverse(Q)), "?y"))
    assert answers(query, "1: a p b\n2: b q a") == ["1 x=a y=b | e1", "2 x=a y=b | e2"]


def test_ep_64_pairs_from_background_alone_are_timeless_and_events_do_not_repeat_them() -> None:
    query = select("*", path("?x", Repeat(Q, "+"), "?y"))
    assert answers(query, "1: a q b . b q c", "b q c") == ["1 x=a y=b | e1", "1 x=a y=c | e1"]


def test_ep_65_a_zero_length_pair_belongs_to_the_event_that_holds_its_term() -> None:
    query = select("*", path("?x", Repeat(Q, "*"), "?y"))
    assert answers(query, "1: a q b", "b r c") == ["1 x=a y=a | e1", "1 x=a y=b | e1"]


def test_ep_65_a_zero_length_pair_is_timeless_where_its_term_is_written() -> None:
    query = select("*", path("a", Repeat(Q, "?"), "?y"), "?z p ?w")
    assert answers(query, "1: a q b\n2: c p d") == ["1-2 w=d y=b z=c | e1 e2", "2 w=d y=a z=c | e2"]


def test_ep_65_exists_substitutes_the_term() -> None:
    query = select("*", "?x p ?y", *where(Exists(group(path("?x", Repeat(Q, "*"), "?y")))))
    assert answers(query, "1: a p a . a p b") == ["1 x=a y=a | e1"]
