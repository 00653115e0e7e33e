from __future__ import annotations

import pytest
from hypothesis import given

from support.algebras import expressions, patterns, queries
from thence.algebra.expressions import And, Expression, Not, Or, Variable
from thence.algebra.patterns import (
    Alternative,
    Bgp,
    Filter,
    Inverse,
    Join,
    LeftJoin,
    NegatedSet,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    SparqlQuery,
    TriplePattern,
    Union,
    ZeroOrMore,
)
from thence.algebra.show import show
from thence.algebra.traversal import FEW, chain
from thence.lang.sparql.parser import parse_expression, parse_pattern, parse_query
from thence.rdf.terms import IRI, XSD, BlankNode, Literal

X, Y = Variable("x"), Variable("y")
A, B = IRI("x:a"), IRI("x:b")


@given(queries())
def test_a_query_written_and_read_is_the_same_query(query: SparqlQuery) -> None:
    assert parse_query(show(query)) == query


@given(patterns())
def test_a_pattern_written_and_read_is_the_same_pattern(pattern: Pattern) -> None:
    assert parse_pattern(show(pattern)) == pattern


@given(expressions())
def test_an_expression_written_and_read_is_the_same_expression(expression: Expression) -> None:
    assert parse_expression(show(expression)) == expression


@pytest.mark.parametrize(
    "text",
    [
        "?a + ?b * ?c",
        "(?a + ?b) * ?c",
        "?a - (?b - ?c)",
        "?a - ?b - ?c",
        "-(1)",
        "-?x",
        "?a || ?b && ?c",
        "(?a || ?b) && !?c",
        "!(?a && ?b)",
        "?a NOT IN (1, ?b)",
        "!(?a = ?b)",
        "(?a = ?b) = ?c",
        'CONCAT("a", STR(?x), "b"@en)',
        "IF(BOUND(?x), 1.5, 1e0)",
        '"2020-01-01"^^<http://www.w3.org/2001/XMLSchema#date>',
        "<x:f>(DISTINCT ?x, 2)",
        "?x < ?y",
    ],
)
def test_an_expression_has_no_more_brackets_than_it_needs(text: str) -> None:
    assert show(parse_expression(text)) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (ZeroOrMore(A), "<x:a>*"),
        (ZeroOrMore(ZeroOrMore(A)), "(<x:a>*)*"),
        (Inverse(ZeroOrMore(A)), "^<x:a>*"),
        (ZeroOrMore(Inverse(A)), "(^<x:a>)*"),
        (Inverse(Inverse(A)), "^(^<x:a>)"),
        (Alternative(A, PathSequence(A, B)), "<x:a>|<x:a>/<x:b>"),
        (PathSequence(Alternative(A, B), A), "(<x:a>|<x:b>)/<x:a>"),
        (PathSequence(A, PathSequence(A, B)), "<x:a>/(<x:a>/<x:b>)"),
        (NegatedSet((A,), (B,)), "!(<x:a>|^<x:b>)"),
        (NegatedSet((), ()), "!()"),
    ],
)
def test_a_path_has_no_more_brackets_than_it_needs(path: Path, text: str) -> None:
    assert show(path) == text


def test_triples_and_terms_are_shown_as_they_are_written() -> None:
    assert show(TriplePattern(X, A, Literal("-1", XSD + "integer"))) == "?x <x:a> -1"
    assert show(PathPattern(BlankNode("b0"), ZeroOrMore(A), Y)) == "_:b0 <x:a>* ?y"
    assert show(BlankNode("b0")) == "_:b0"


def test_two_joined_basic_graph_patterns_stay_two() -> None:
    pattern = Join(Bgp((TriplePattern(X, A, Y),)), Bgp((TriplePattern(Y, B, X),)))
    assert show(pattern) == "{\n  ?x <x:a> ?y .\n  {\n    ?y <x:b> ?x .\n  }\n}"
    assert parse_pattern(show(pattern)) == pattern


def test_an_optional_parts_own_filter_is_not_its_condition() -> None:
    part = Bgp((TriplePattern(X, A, Y),))
    condition, filtered = LeftJoin(Bgp(()), part, X), LeftJoin(Bgp(()), Filter(X, part))
    assert parse_pattern(show(condition)) == condition
    assert parse_pattern(show(filtered)) == filtered
    assert show(condition) != show(filtered)


@pytest.mark.parametrize("operands", [2, FEW, FEW + 1, 2 * FEW, 1000])
def test_a_long_chain_reads_back_however_it_was_built(operands: int) -> None:
    leaves: list[Expression] = [Variable(f"v{i}") for i in range(operands)]
    patterns: list[Pattern] = [Bgp((TriplePattern(X, A, Variable(f"v{i}")),)) for i in range(operands)]
    for operator in (And, Or):
        built = chain(operator, leaves)
        assert parse_expression(show(built)) == built
    for combine in (Join, Union):
        pattern = chain(combine, patterns)
        assert parse_pattern(show(pattern)) == pattern


@pytest.mark.parametrize("operands", [FEW + 1, 3 * FEW])
def test_a_chain_longer_than_the_parser_would_lean_left_is_shown_with_brackets(operands: int) -> None:
    leaning: Expression = X
    joined: Pattern = Bgp((TriplePattern(X, A, Y),))
    path: Path = A
    for _ in range(operands):
        leaning, joined, path = Or(leaning, Y), Join(joined, Bgp((TriplePattern(X, B, Y),))), Alternative(path, B)
    assert parse_expression(show(leaning)) == leaning
    assert parse_pattern(show(joined)) == joined
    assert parse_pattern(f"{{ ?x {show(path)} ?y }}") == Bgp((PathPattern(X, path, Y),))


def test_no_tree_is_too_deep_to_be_shown() -> None:
    deep: Expression = X
    for _ in range(100_000):
        deep = Not(deep)
    assert show(deep).startswith("!(!(!(")
