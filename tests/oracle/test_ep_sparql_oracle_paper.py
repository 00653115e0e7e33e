"""The queries of EP-SPARQL's paper, as corrected, on streams whose answers are worked out by hand."""

from __future__ import annotations

from oracle.ep_sparql_notation import answers, chain, construct, group, select, seq, where
from oracle.ep_sparql_query import (
    And,
    Arithmetic,
    Bound,
    Column,
    Compare,
    Construct,
    Expression,
    Group,
    Not,
    Select,
    SubSelect,
    TimeFunction,
)
from oracle.terms import Var, decimal, integer


def all_of(first: Expression, *rest: Expression) -> Expression:
    for each in rest:
        first = And(first, each)
    return first


def times(name: str, factor: str) -> Expression:
    return Arithmetic("*", Var(name), decimal(factor))


def lasting(operator: str, ticks: int) -> Expression:
    return Compare(operator, TimeFunction.DURATION, integer(ticks))


VOLATILE = all_of(
    Compare("<", Var("price2"), times("price1", "0.7")),
    Compare(">", Var("price3"), times("price1", "1.05")),
    lasting("<", 30),
)
PRICES = seq("?company price ?price1", "?company price ?price2", "?company price ?price3")


def test_query_1_a_drop_and_a_rise_within_30_days() -> None:
    query = select("company", PRICES, *where(VOLATILE))
    events = "1: acme price 100\n5: acme price 60\n9: acme price 106\n10: ibm price 106\n40: acme price 200"
    assert answers(query, events) == ["1-9 company=acme | e1 e2 e3"]


def test_volatile_share_has_1000_rows_100_distinct_and_100_derived_occurrences() -> None:
    cents = [*range(100, 90, -1), *range(50, 60), *range(120, 130)]
    events = "\n".join(f"{day}: ibm price {price}" for day, price in enumerate(cents, start=1))
    assert len(answers(select("company", PRICES, *where(VOLATILE)), events)) == 1000
    assert len(answers(select("company", PRICES, *where(VOLATILE), distinct=True), events)) == 100
    derived = answers(construct("?company isa volatile", PRICES, *where(VOLATILE)), events)
    assert len(derived) == 100
    assert {line.partition(" ")[0] for line in derived} == {f"{s}-{e}" for s in range(1, 11) for e in range(21, 31)}


def test_query_2_a_drop_with_the_agency_that_downrated_before_if_there_is_one() -> None:
    query = select(
        "company ratingagency",
        chain(
            "?company downratedby ?ratingagency",
            "OPTIONALSEQ",
            "?company price ?price1",
            "SEQ",
            "?company price ?price2",
        ),
        *where(Compare("<", Var("price2"), times("price1", "0.5"))),
    )
    events = """
        1: acme downratedby moody
        2: acme price 100 . ibm price 10
        3: acme price 40 . ibm price 4
        3: ibm downratedby x"""
    assert answers(query, events) == ["1-3 company=acme ratingagency=moody | e1 e2 e3", "2-3 company=ibm | e2 e3"]


def test_query_3_a_rise_without_an_acquisition_meanwhile() -> None:
    query = select(
        "company price1",
        chain(
            group(seq("?company price ?price1", "?company price ?price2")),
            "EQUALSOPTIONAL",
            group(seq("?company price ?price1", "?company acquired ?other", "?company price ?price2")),
        ),
        *where(
            all_of(
                Compare(">", Var("price2"), times("price1", "1.5")),
                Not(Bound(Var("other"))),
                lasting("<", 15),
            )
        ),
    )
    events = "1: acme price 10\n2: acme acquired x\n3: acme price 11\n4: acme price 20\n30: acme price 90"
    # an acquisition before the first price suppresses nothing
    assert answers(query, events) == ["3-4 company=acme price1=11 | e3 e4"]


def test_query_4_ratings_that_fall_make_a_downrating() -> None:
    rule = construct(
        "?company downratedby ?agency",
        seq(
            "?r1 rater ?agency . ?r1 rated ?company . ?r1 score ?score1",
            "?r2 rater ?agency . ?r2 rated ?company . ?r2 score ?score2",
        ),
        *where(Compare("<", Var("score2"), Var("score1"))),
    )
    events = """
        1: r1 rater moody . r1 rated acme . r1 score 9
        3: r2 rater moody . r2 rated acme . r2 score 5
        4: r3 rater moody . r3 rated acme . r3 score 7"""
    ratings = "e1 e1 e1 {0} {0} {0}"
    assert answers(rule, events) == [
        f"1-3 acme downratedby moody | {ratings.format('e2')}",
        f"1-4 acme downratedby moody | {ratings.format('e3')}",
    ]
    assert answers([rule, select("*", "?c downratedby ?a")], events) == ["1-3 a=moody c=acme", "1-4 a=moody c=acme"]


def test_queries_5_and_6_the_average_of_a_sliding_window() -> None:
    start = construct("_:point count 1 . _:point sum ?price", "acme price ?price")
    point = "?point count ?prevcount . ?point sum ?prevsum"
    following = Select(
        (
            Column("count", Arithmetic("+", Var("prevcount"), integer(1))),
            Column("sum", Arithmetic("+", Var("prevsum"), Var("price"))),
        ),
        group(
            chain(
                group(seq(point, "acme price ?price")),
                "EQUALSOPTIONAL",
                group(seq(point, "acme price ?inbetween", "acme price ?price")),
            ),
            *where(all_of(Not(Bound(Var("inbetween"))), lasting("<", 3))),
        ),
    )
    rule = Construct(construct("_:aaa count ?count . _:aaa sum ?sum").template, Group((SubSelect(following),)))
    points = select("prevcount prevsum", point)
    events = "1: acme price 10\n2: acme price 20\n3: acme price 30\n4: acme price 40"
    assert answers([start, rule, points], events) == [
        "1 prevcount=1 prevsum=10",
        "1-2 prevcount=2 prevsum=30",
        "1-3 prevcount=3 prevsum=60",
        "2 prevcount=1 prevsum=20",
        "2-3 prevcount=2 prevsum=50",
        "2-4 prevcount=3 prevsum=90",
        "3 prevcount=1 prevsum=30",
        "3-4 prevcount=2 prevsum=70",
        "4 prevcount=1 prevsum=40",
    ]
    average = Select(
        (Column("average", Arithmetic("/", Var("prevsum"), Var("prevcount"))),),
        group(
            chain(
                group(seq("acme price ?price", point)),
                "EQUALSOPTIONAL",
                group(seq("acme price ?price", "acme price ?inbetween", point)),
            ),
            *where(all_of(Not(Bound(Var("inbetween"))), lasting(">", 2))),
        ),
    )
    # the window [2, 4] and the price before it: the only ones that are longer than 2 together
    assert answers([start, rule, average], events) == ["1-4 average=30 | e1"]


def test_query_7_optionalseq_is_monotone_where_its_inverse_would_not_be() -> None:
    query = select("*", chain("?y p ?y", "OPTIONALSEQ", "?x q ?x"))
    assert answers(query, "0: a q a") == ["0 x=a | e1"]
    assert answers(query, "0: a q a\n1: b p b") == ["0 x=a | e1"]
