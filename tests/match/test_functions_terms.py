"""Functions on terms (17.4.2), functional forms (17.4.1) and the effective boolean value (17.2.2)."""

from __future__ import annotations

from random import Random

import pytest

from support.sparql_terms import CONTEXT, evaluate, refused
from thence.algebra.expressions import Variable
from thence.algebra.show import show
from thence.lang.sparql.parser import parse_expression
from thence.match.context import Context, ExpressionError
from thence.match.expression_evaluator import effective_boolean_value
from thence.match.expression_evaluator import evaluate as evaluate_expression
from thence.match.functions import CONTEXTUAL, FUNCTIONS, call
from thence.rdf.terms import IRI, XSD, BlankNode, Literal


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("STR(<http://example.org/a>)", '"http://example.org/a"'),
        ("STR(01)", '"01"'),
        ('STR("chat"@fr)', '"chat"'),
        ('LANG("chat"@FR)', '"fr"'),
        ('LANG("chat")', '""'),
        ("LANG(1)", '""'),
        ("DATATYPE(1.0)", "xsd:decimal"),
        ('DATATYPE("a")', "xsd:string"),
        ('DATATYPE("a"@en)', "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"),
        ('IRI("http://example.org/x")', "<http://example.org/x>"),
        ('URI("x")', "<http://example.org/base/x>"),
        ("IRI(<http://example.org/x>)", "<http://example.org/x>"),
        ('STRDT("123", xsd:integer)', "123"),
        ('STRDT("iiii", <http://example/romanNumeral>)', '"iiii"^^<http://example/romanNumeral>'),
        ('STRLANG("chat", "en")', '"chat"@en'),
        ("SAMETERM(1, 01)", "false"),
        ("SAMETERM(1, 1)", "true"),
        ("ISIRI(<http://example.org/a>)", "true"),
        ('ISURI("http://example.org/a")', "false"),
        ("ISLITERAL(1)", "true"),
        ("ISBLANK(1)", "false"),
        ("ISBLANK(BNODE())", "true"),
        ("ISNUMERIC(12)", "true"),
        ('ISNUMERIC("12")', "false"),
        ('ISNUMERIC("12"^^xsd:nonNegativeInteger)', "true"),
        ('ISNUMERIC("1200"^^xsd:byte)', "false"),
        ("ISNUMERIC(<http://example/>)", "false"),
        ('ISNUMERIC("NaN"^^xsd:double)', "true"),
        ("NOW()", '"2024-02-29T12:00:00Z"^^xsd:dateTime'),
        ("DATATYPE(RAND())", "xsd:double"),
        # functional forms
        ("2 IN (1, 2, 3)", "true"),
        ("2 IN ()", "false"),
        ("2 IN (<http://example/iri>, \"str\", 2.0)", "true"),
        ("2 IN (1/0, 2)", "true"),
        ("2 IN (2, 1/0)", "true"),
        ("2 NOT IN ()", "true"),
        ("2 NOT IN (<http://example/iri>, \"str\", 2.0)", "false"),
        ("2 NOT IN (1/0, 2)", "false"),
        ("IF(2 > 1, \"then\", 1/0)", '"then"'),
        ("COALESCE(?unbound, 1/0, 3)", "3"),
        ("BOUND(?unbound)", "false"),
        ("1/0 || true", "true"),
        ("false && 1/0", "false"),
        ("1/0 && false", "false"),
        ("!(1 = 2)", "true"),
    ],
)  # fmt: skip
def test_a_function_of_terms_gives(expression: str, expected: str) -> None:
    assert evaluate(expression) == evaluate(expected)


@pytest.mark.parametrize(
    "expression",
    [
        "STR(?blank)",
        "LANG(<http://example.org/a>)",
        "DATATYPE(<http://example.org/a>)",
        "IRI(1)",
        'IRI("http://example.org/a b")',
        'STRDT("chat"@en, xsd:string)',
        'STRDT(1, xsd:string)',
        'STRDT("a", <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>)',
        'STRLANG("chat"@en, "en")',
        'STRLANG("chat", "")',
        'STRLANG("chat", "a b")',
        "2 IN (1/0, 3)",
        "2 NOT IN (1/0, 3)",
        "IF(1/0, 1, 2)",
        "IF(?unbound, 1, 2)",
        "COALESCE()",
        "COALESCE(?unbound)",
        "?unbound",
        "1/0 || false",
        "true && 1/0",
        "!(1/0)",
        "!<http://example.org/a>",
        "EXISTS { ?s ?p ?o }",
        ":f(1)",
    ],
)  # fmt: skip
def test_what_means_nothing_is_an_error(expression: str) -> None:
    assert refused(expression, blank=BlankNode("b"))


def test_a_relative_iri_is_resolved_against_the_base_that_the_query_declares() -> None:
    expression = parse_expression("BASE <http://example.org/deep/down/> IRI(?x)")
    found = evaluate_expression(expression, {Variable("x"): Literal("../up")}, Context())
    assert found == IRI("http://example.org/deep/up")
    assert parse_expression(show(expression)) == expression


def test_a_relative_iri_without_a_base_is_an_error() -> None:
    assert "no base" in refused('IRI("x")', context=Context())


def test_now_without_a_time_is_an_error_since_nothing_asks_the_clock() -> None:
    assert "needs the time of the run" in refused("NOW()", context=Context())


def test_a_label_makes_one_blank_node_within_a_solution_and_another_in_the_next() -> None:
    with CONTEXT.labels:
        assert evaluate('SAMETERM(BNODE("a"), BNODE("a"))') == evaluate("true")
        assert evaluate('SAMETERM(BNODE("a"), BNODE("b"))') == evaluate("false")
        node = evaluate('BNODE("a")')
        with CONTEXT.labels:
            assert evaluate('BNODE("a")') != node
        assert evaluate('BNODE("a")') == node
    assert evaluate('BNODE("a")') != node
    assert evaluate("BNODE()") != evaluate("BNODE()")


def test_randomness_can_be_repeated() -> None:
    first, again = (Context(random=Random(7)) for _ in range(2))
    for expression in ("UUID()", "STRUUID()", "RAND()", "BNODE()"):
        assert evaluate(expression, context=first) == evaluate(expression, context=again)
    identifier = evaluate("UUID()", context=first)
    assert isinstance(identifier, IRI)
    assert identifier.value.startswith("urn:uuid:")


def test_every_keyword_is_either_a_pure_function_or_one_of_the_context() -> None:
    assert not FUNCTIONS.keys() & CONTEXTUAL.keys()
    assert call("STRLEN", [Literal("abc")], Context()) == evaluate("3")


@pytest.mark.parametrize(
    ("term", "truth"),
    [
        (Literal("true", XSD + "boolean"), True),
        (Literal("0", XSD + "boolean"), False),
        (Literal("yes", XSD + "boolean"), False),
        (Literal("a"), True),
        (Literal(""), False),
        (Literal("", language="en"), False),
        (Literal("0", XSD + "integer"), False),
        (Literal("0.0", XSD + "decimal"), False),
        (Literal("-0.0", XSD + "double"), False),
        (Literal("NaN", XSD + "double"), False),
        (Literal("NaN", XSD + "float"), False),
        (Literal("INF", XSD + "float"), True),
        (Literal("abc", XSD + "integer"), False),
        (Literal("1" + "0" * 50, XSD + "integer"), True),
    ],
)
def test_the_effective_boolean_value_of_a_literal(term: Literal, truth: bool) -> None:
    assert effective_boolean_value(term) is truth


@pytest.mark.parametrize(
    "term",
    [
        IRI("http://example.org/a"),
        BlankNode("b"),
        Literal("a", "http://example.org/t"),
        Literal("2020-01-01", XSD + "date"),
    ],
)
def test_other_terms_are_neither_true_nor_false(term: IRI | BlankNode | Literal) -> None:
    with pytest.raises(ExpressionError):
        effective_boolean_value(term)
