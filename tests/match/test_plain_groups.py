"""GROUP BY, aggregates and HAVING (SPARQL 1.1, 11 and 18.5.1)."""

from __future__ import annotations

import pytest

from support.sparql_data import bag, rows

DATA = """
:a :team :red ; :score 1 . :b :team :red ; :score 2.5 . :c :team :blue ; :score 4 .
:d :team :blue ; :score 4 . :e :team :green ; :score 'none' . :f :team :green ; :score 7 .
"""


def test_groups_are_made_by_the_values_of_the_keys() -> None:
    query = "SELECT ?t (COUNT(?s) AS ?n) { ?x :team ?t ; :score ?s } GROUP BY ?t"
    assert bag(query, DATA) == ["blue 2", "green 2", "red 2"]


def test_a_key_may_be_an_expression_with_a_name_and_an_error_is_a_group_of_its_own() -> None:
    query = "SELECT ?twice (COUNT(*) AS ?n) { ?x :score ?s } GROUP BY (?s * 2 AS ?twice)"
    assert bag(query, DATA) == ["- 1", "14 1", "2 1", "5 1", "8 2"]


def test_keys_are_terms_and_not_values() -> None:
    assert bag("SELECT ?v (COUNT(*) AS ?n) { ?x :p ?v } GROUP BY ?v", ":a :p 1, 01, 1.0 .") == ["01 1", "1 1", "1.0 1"]


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("COUNT(*)", "2"),
        ("COUNT(?s)", "2"),
        ("COUNT(DISTINCT ?s)", "1"),
        ("SUM(?s)", "8"),
        ("SUM(DISTINCT ?s)", "4"),
        ("AVG(?s)", "4"),
        ("MIN(?s)", "4"),
        ("MAX(?s)", "4"),
        ("SAMPLE(?s)", "4"),
        ("GROUP_CONCAT(?s)", "4 4"),
        ("GROUP_CONCAT(?s ; SEPARATOR='|')", "4|4"),
        ("GROUP_CONCAT(DISTINCT ?s ; SEPARATOR='')", "4"),
        ("SUM(?s) * 2 + COUNT(*)", "18"),
        ("SUM(?s + 1)", "10"),
    ],
)
def test_an_aggregate_of_a_group(aggregate: str, expected: str) -> None:
    assert rows(f"SELECT ({aggregate} AS ?r) {{ ?x :team :blue ; :score ?s }}", DATA) == [expected]


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("COUNT(*)", "0"),
        ("COUNT(?s)", "0"),
        ("SUM(?s)", "0"),
        ("AVG(?s)", "0"),
        ("GROUP_CONCAT(?s)", ""),
        ("MIN(?s)", "-"),
        ("MAX(?s)", "-"),
        ("SAMPLE(?s)", "-"),
    ],
)
def test_an_aggregate_of_nothing_without_group_by_is_one_row(aggregate: str, expected: str) -> None:
    assert rows(f"SELECT ({aggregate} AS ?r) {{ ?x :nothing ?s }}", DATA) == [expected]


def test_an_aggregate_of_nothing_with_group_by_is_no_row() -> None:
    assert rows("SELECT (COUNT(*) AS ?r) { ?x :nothing ?s } GROUP BY ?x", DATA) == []


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("COUNT(?s * 2)", "1"),
        ("SUM(?s)", "-"),
        ("AVG(?s)", "-"),
        ("MIN(?s * 2)", "-"),
        ("SAMPLE(?s * 2)", "14"),
        ("SUM(COALESCE(?s * 1, 0))", "7"),
        ("COALESCE(AVG(?s), 'no average')", "no average"),
        ("MAX(?s)", "none"),
    ],
)
def test_an_error_in_a_member_is_an_error_of_the_aggregate_except_where_it_is_not_counted(
    aggregate: str, expected: str
) -> None:
    assert rows(f"SELECT ({aggregate} AS ?r) {{ ?x :team :green ; :score ?s }}", DATA) == [expected]


def test_sums_are_promoted_as_additions_are() -> None:
    assert rows("SELECT (SUM(?s) AS ?r) (DATATYPE(SUM(?s)) AS ?t) { ?x :team :red ; :score ?s }", DATA) == [
        "3.5 http://www.w3.org/2001/XMLSchema#decimal"
    ]
    huge = ":a :p 123456789012345678901234567890.5 . :b :p 0.00000000000000000000000000000001 ."
    assert rows("SELECT (SUM(?v) AS ?r) { ?x :p ?v }", huge) == [
        "123456789012345678901234567890.50000000000000000000000000000001"
    ]


def test_having_filters_groups() -> None:
    query = "SELECT ?t { ?x :team ?t ; :score ?s } GROUP BY ?t HAVING(SUM(?s) > 3) HAVING(SUM(?s) < 5)"
    assert rows(query.replace("HAVING(SUM(?s) < 5)", ""), DATA) != []
    assert bag("SELECT ?t { ?x :team ?t ; :score ?s } GROUP BY ?t HAVING(SUM(?s) > 3)(SUM(?s) < 5)", DATA) == ["red"]


def test_groups_can_be_ordered_by_an_aggregate() -> None:
    query = "SELECT ?t { ?x :team ?t ; :score ?s } GROUP BY ?t ORDER BY DESC(SUM(?s)) ?t"
    assert rows(query, DATA) == ["blue", "red", "green"]


def test_an_aggregate_in_a_select_expression_may_use_one_before_it() -> None:
    query = "SELECT ?t (SUM(?s) AS ?total) (?total * 2 AS ?double) { ?x :team ?t ; :score ?s } GROUP BY ?t"
    assert bag(query, DATA) == ["blue 8 16", "green - -", "red 3.5 7"]


def test_values_after_a_grouped_query_joins_with_its_groups() -> None:
    query = "SELECT ?t (COUNT(*) AS ?n) { ?x :team ?t } GROUP BY ?t VALUES ?t { :red }"
    assert rows(query, DATA) == ["red 2"]


def test_count_distinct_of_everything_counts_different_solutions() -> None:
    data = ":a :p 1, 2 ."
    query = "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT *) AS ?d) { { ?x :p ?v } UNION { ?x :p ?v } }"
    assert rows(query, data) == ["4 2"]


def test_exists_in_having_is_asked_of_the_group() -> None:
    query = "SELECT ?t { ?x :team ?t } GROUP BY ?t HAVING(EXISTS { ?y :team ?t ; :score 7 })"
    assert rows(query, DATA) == ["green"]
