"""RETURN, HAVING and AGGREGATE of SASE+, and which queries are refused."""

from __future__ import annotations

import pytest

from oracle.sase import aggregate, rows
from oracle.sase_legal import problems
from oracle.sase_notation import event, line, read


def table(query: str, text: str) -> list[tuple[int, int, int, dict[str, object]]]:
    return [(row.start, row.end, row.certain, dict(row.cells)) for row in rows(read(query), line(text))]


def test_a_row_has_atoms_sequences_composites_and_aggregates() -> None:
    query = """A+ a[], B b RETURN a[1].x AS first, a[].x, b.(x, y) AS both, a[].(x, y) AS all,
        sum(a[].x) AS total, a.LEN AS n, b.x"""
    assert table(query, "x a1:1 a2 b1:3")[:1] == [
        (
            2,
            4,
            4,
            {
                "first": 1,
                "a[].x": (1, None),
                "both": (("x", 3), ("y", None)),
                "all": ((("x", 1), ("y", None)), (("x", None), ("y", None))),
                "total": 1,
                "n": 2,
                "b.x": 3,
            },
        )
    ]


def test_having_filters_finished_matches() -> None:
    assert len(table("A+ a[], B b HAVING count(a[]) >= 2", "a1 a2 b1")) == 1
    assert table("A+ a[], B b HAVING a[1].x > 0", "a1 b1") == []


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [
        ("count(a[])", 5),
        ("count(a[].x)", 4),
        ("sum(a[].x)", 9),
        ("avg(a[].x)", 2.25),
        ("min(a[].x)", 1),
        ("max(a[].x)", 4),
        ("highest(2, a[].x)", 2),
        ("lowest(2, a[].x)", 2),
        ("highest(5, a[].x)", None),
        ("first(a[].x)", 2),
        ("last(a[].x)", 1),
        ("sum(a[].y)", None),
        ("count(a[].y)", 0),
    ],
)
def test_aggregates_skip_what_is_missing(aggregate: str, value: object) -> None:
    query = f"B b, A+ a[] WHERE a.LEN = 5 RETURN {aggregate} AS n"
    assert [row[3] for row in table(query, "b a1 a2:2 a3:4 a4:2 a5:1")] == [{"n": value}]


def test_aggregate_is_over_all_matches() -> None:
    query = read("A+ a[], B b AGGREGATE count(*) AS n, sum(a[].x) AS s, avg(a[].x) AS m, count(a[].x) AS c")
    # a1 a2 b1, a1 a2 b2, a2 b1, a2 b2
    expected = (("n", 4), ("s", 10), ("m", 10 / 6), ("c", 6))
    assert aggregate(query, line("a1:1 a2:2 b1 b2")) == [expected]
    assert aggregate(query, line("a1:1")) == []


def test_aggregate_by_an_attribute() -> None:
    query = read("A a, B b WHERE [k] AGGREGATE count(*) AS n BY k")
    events = [event("a1", 1, k=1), event("a2", 2, k="u"), event("b1", 3, k=1), event("b2", 4, k="u"), event("a3", 5)]
    assert aggregate(query, events) == [(("k", 1), ("n", 1)), (("k", "u"), ("n", 1))]


@pytest.mark.parametrize(
    "query",
    [
        "~N n, A a",
        "A a, ~N n",
        "A+ a[]",
        "A+ a[] WHERE skip_till_any_match(a[]) { }",
        "A+ a[], B b WHERE partition_contiguity(a[]) { }",
        "A a, B b WHERE skip_till_next_match(a!) { }",
        "A+ a[] WHERE skip_till_next_match(a[]!) { } WITHIN 3",
        "A a, ~N n, ~N m, B b WHERE n.x = m.x",
        "A a, B b WHERE (a.x = 1 OR b.x = 1)",
        "A a, ~N n, B b RETURN n.x",
        "A+ a[], B b WHERE a.x = 1",
        "A a, B a",
        "A a, B b AGGREGATE count(*) BY k",
    ],
)
def test_a_query_that_means_nothing_is_refused(query: str) -> None:
    assert len(problems(read(query))) == 1


@pytest.mark.parametrize(
    "query",
    [
        "A+ a[] WHERE strict_contiguity(a[]) { }",
        "A+ a[] WHERE a.LEN = 2",
        "A+ a[] WHERE skip_till_any_match(a[]!) { a.LEN = 2 }",
        "A+ a[], ~N n, B b WHERE skip_till_any_match(a[]!, b) { n.x = b.x }",
        "A+ a[], B b WHERE partition_contiguity(a[]) { PARTITION BY(k) }",
    ],
)
def test_a_query_that_means_something_is_not(query: str) -> None:
    assert problems(read(query)) == []
