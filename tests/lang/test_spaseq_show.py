"""A SPAseQ query written and read again."""

from __future__ import annotations

import pytest
from hypothesis import given

from support.sequences import sequence_queries
from thence.algebra.patterns import Graph, LeftJoin
from thence.algebra.show import show
from thence.algebra.spaseq import SequenceQuery
from thence.lang.spaseq.parser import parse


@given(sequence_queries())
def test_a_query_written_and_read_is_the_same_query(query: SequenceQuery) -> None:
    assert parse(show(query)) == query


def whole(sequence: str, body: str = "?s <x:p> ?o", select: str = "*", clauses: str = "WITHIN 9 TICKS") -> str:
    names = sorted({name for name in "ABCD" if name in sequence})
    gpms = " ".join(f"DEFINE GPM {name} ON S {{ {body} }}" for name in names)
    return f"SELECT {select} {clauses} FROM STREAM S <x:s> {{ SEQ ({sequence}) {gpms} }}"


@pytest.mark.parametrize(
    "sequence",
    [
        "A",
        "A+",
        "A; B+, C: D",
        "A | B & C",
        "(A | B) & C",
        "A & B & C",
        "A & (B & C)",
        "A | (B | C)",
        "(A & B)+, C",
        "(A | B)?; C",
        "A; (B & C)!; D",
    ],
)
def test_a_sequence_has_no_more_brackets_than_it_needs(sequence: str) -> None:
    assert f"SEQ ({sequence})" in show(parse(whole(sequence)))


def test_a_query_is_laid_out_as_in_the_paper() -> None:
    written = whole("A; B+", "?s <x:p> ?o . GRAPH <x:g> { ?s <x:q> 1 } FILTER(?o > 3)", "?s (COUNT(B)+1 AS ?n)")
    assert show(parse(written)) == (
        "SELECT ?s (COUNT(B) + 1 AS ?n)\n"
        "WITHIN 9 TICKS\n"
        "FROM STREAM S <x:s>\n"
        "WHERE {\n"
        "  SEQ (A; B+)\n"
        "  DEFINE GPM A ON S {\n"
        "    ?s <x:p> ?o .\n"
        "    GRAPH <x:g> {\n"
        "      ?s <x:q> 1 .\n"
        "    }\n"
        "    FILTER (?o > 3)\n"
        "  }\n"
        "  DEFINE GPM B ON S {\n"
        "    ?s <x:p> ?o .\n"
        "    GRAPH <x:g> {\n"
        "      ?s <x:q> 1 .\n"
        "    }\n"
        "    FILTER (?o > 3)\n"
        "  }\n"
        "}"
    )


@pytest.mark.parametrize(
    ("clauses", "shown"),
    [
        ("WITHIN 10 MINUTES", "WITHIN 10 MINUTES"),
        ("WITHIN 600 SECONDS", "WITHIN 10 MINUTES"),
        ("WITHIN 1500 MS", "WITHIN 1.500000 SECONDS"),
        ("WITHIN 3 WEEKS TUMBLING", "WITHIN 21 DAYS TUMBLING"),
        ("WITHIN 50 TUMBLING FROM -5", "WITHIN 50 TICKS TUMBLING FROM -5"),
        (
            "WITHIN PT1H TUMBLING FROM 2024-05-06T07:00:00Z",
            'WITHIN 1 HOURS TUMBLING FROM "2024-05-06T07:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
        ),
    ],
)
def test_a_window_is_shown_in_the_largest_unit(clauses: str, shown: str) -> None:
    query = parse(whole("A", clauses=clauses))
    assert shown in show(query).splitlines()
    assert parse(show(query)) == query


def test_graph_inside_a_group_of_its_own_stays_there() -> None:
    query = parse(whole("A", "{ GRAPH <x:g> { ?s <x:p> ?o } OPTIONAL { ?o <x:q> ?r } }"))
    (gpm,) = query.gpms
    assert isinstance(gpm.pattern, LeftJoin)
    assert isinstance(gpm.pattern.left, Graph)
    assert not gpm.graphs
    assert parse(show(query)) == query


def test_a_base_that_a_function_needs_is_shown() -> None:
    query = parse("BASE <http://example.org/> " + whole("A", select='(IRI("a") AS ?i)'))
    assert show(query).startswith("BASE <http://example.org/>\n")
    assert parse(show(query)) == query


def test_a_query_without_variables_has_no_columns() -> None:
    query = parse(whole("A", "<x:a> <x:b> <x:c>"))
    assert show(query).startswith("SELECT *\n")
    assert parse(show(query)) == query
