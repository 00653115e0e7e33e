"""Terms as they are written: SPARQL 1.1, 4.1 and 19.2."""

from __future__ import annotations

import pytest

from thence.algebra.patterns import Bgp, Construct, TriplePattern
from thence.errors import QueryError
from thence.lang.sparql.parser import parse_expression, parse_pattern, parse_query
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term


def term(written: str, **options: str) -> Term:
    """The term that stands so in a pattern."""
    found = parse_pattern(f"PREFIX ex: <http://example.org/> {{ ?s ?p {written} }}", **options)
    assert isinstance(found, Bgp)
    target = found.triples[0].object
    assert isinstance(target, IRI | BlankNode | Literal)
    return target


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1", Literal("1", XSD + "integer")),
        ("+007", Literal("+007", XSD + "integer")),
        ("-1.50", Literal("-1.50", XSD + "decimal")),
        (".5", Literal(".5", XSD + "decimal")),
        ("1e6", Literal("1e6", XSD + "double")),
        ("1.E-6", Literal("1.E-6", XSD + "double")),
        ("TRUE", Literal("true", XSD + "boolean")),
        ("false", Literal("false", XSD + "boolean")),
        ("'it'", Literal("it")),
        ('"say \\"hi\\" \\t\\n\\\\"', Literal('say "hi" \t\n\\')),
        ("'''a 'long' ''one''\nof two lines'''", Literal("a 'long' ''one''\nof two lines")),
        ('"""a "long" one"""', Literal('a "long" one')),
        ("'chat'@FR-be", Literal("chat", language="fr-be")),
        ("'1'^^ex:int", Literal("1", "http://example.org/int")),
        ("'1'^^<urn:int>", Literal("1", "urn:int")),
        ("ex:a.b-c", IRI("http://example.org/a.b-c")),
        ("ex:a%20b", IRI("http://example.org/a%20b")),
        (r"ex:a\,b\/c\~", IRI("http://example.org/a,b/c~")),
        ("ex:", IRI("http://example.org/")),
        ("ex:a:b", IRI("http://example.org/a:b")),
        ("ex:123", IRI("http://example.org/123")),
        ("_:a.1", BlankNode("a.1")),
        ("_:1", BlankNode("1")),
        ("[ ]", BlankNode("b0")),
        ("( )", IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#nil")),
    ],
)
def test_a_term_is_read_as_written(written: str, expected: Term) -> None:
    assert term(written) == expected


def test_a_dot_is_part_of_a_name_only_where_the_name_goes_on() -> None:
    found = parse_pattern("PREFIX ex: <http://example.org/> { ex:a ex:b ex:c.d. ex:e ex:f 1. }")
    assert isinstance(found, Bgp)
    assert [triple.object for triple in found.triples] == [IRI("http://example.org/c.d"), Literal("1", XSD + "integer")]


def test_keywords_have_any_case_except_a() -> None:
    assert parse_query("select*where{?s a?o}") == parse_query("SELECT * WHERE { ?s a ?o }")
    with pytest.raises(QueryError):
        parse_query("SELECT * { ?s A ?o }")


def test_a_prefix_may_be_called_like_a_keyword() -> None:
    text = "PREFIX filter: <x:> PREFIX a: <y:> PREFIX true: <z:> { filter:x a:y true:z . a:b a a:c }"
    assert parse_pattern(text) == Bgp(
        (TriplePattern(IRI("x:x"), IRI("y:y"), IRI("z:z")), TriplePattern(IRI("y:b"), _a(), IRI("y:c")))
    )


def _a() -> IRI:
    return IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def test_comments_end_with_their_line_and_do_not_begin_in_a_term() -> None:
    assert term("<x:#a> # 'b'\n") == IRI("x:#a")
    assert term("'#a' #}\r") == Literal("#a")


# Codepoint escapes


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"'caf\u00E9'", Literal("café")),
        (r"'\U0001F46A'", Literal("\U0001f46a")),
        (r"'\\u00E9'", Literal(r"\u00E9")),
        (r"<x:\u00E9>", IRI("x:é")),
        (r"ex:\u00e9", IRI("http://example.org/é")),
        (r"\u0031", Literal("1", XSD + "integer")),
    ],
)
def test_a_codepoint_escape_is_a_character_anywhere(written: str, expected: Term) -> None:
    assert term(written) == expected


def test_a_place_is_told_in_the_text_as_written() -> None:
    with pytest.raises(QueryError) as refused:
        parse_query('SELECT ?caf\\u00e9\nWHERE { ?caf\\u00e9 <x:p> "\\u0041" FILTR(1) }')
    assert str(refused.value.place) == "query:2:35"
    assert refused.value.caret.splitlines()[0] == 'WHERE { ?caf\\u00e9 <x:p> "\\u0041" FILTR(1) }'


@pytest.mark.parametrize("written", [r"'\uD800'", r"'\U00110000'", "'\ud800'", r"'\u12'"])
def test_what_is_no_character_is_refused(written: str) -> None:
    with pytest.raises(QueryError):
        term(written)


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert parse_query("\ufeffASK {}") == parse_query("ASK {}")
    with pytest.raises(QueryError) as refused:
        parse_query("\ufeffASK")
    assert str(refused.value.place) == "query:1:5"


# IRIs


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ("<g>", "http://a/b/c/g"),
        ("<../g?y#s>", "http://a/b/g?y#s"),
        ("<?y>", "http://a/b/c/d;p?y"),
        ("<#s>", "http://a/b/c/d;p?q#s"),
        ("<>", "http://a/b/c/d;p?q"),
        ("<//g>", "http://g"),
        ("</../g/.>", "http://a/g/"),
        ("<urn:x/../y>", "urn:x/../y"),
    ],
)
def test_a_relative_iri_is_resolved_against_the_base(written: str, resolved: str) -> None:
    assert term(written, base="http://a/b/c/d;p?q") == IRI(resolved)


def test_base_and_prefix_hold_from_their_place_on() -> None:
    query = parse_query(
        "BASE <http://a/b/> PREFIX p: <c#> BASE <d/> CONSTRUCT { p:x <y> <z> } WHERE {}", base="http://ignored/"
    )
    assert isinstance(query, Construct)
    assert query.template == (TriplePattern(IRI("http://a/b/c#x"), IRI("http://a/b/d/y"), IRI("http://a/b/d/z")),)


def test_a_relative_iri_without_a_base_is_refused() -> None:
    with pytest.raises(QueryError) as refused:
        parse_query("ASK { ?s <p> ?o }")
    assert str(refused.value) == (
        "query:1:10: The IRI <p> is relative, and there is no base to resolve it against. Try: BASE <http://example.org/>"
    )


def test_prefixes_of_the_caller_yield_to_those_of_the_text() -> None:
    assert parse_expression("p:x", prefixes={"p": "u:"}) == IRI("u:x")
    assert parse_expression("PREFIX p: <v:> p:x", prefixes={"p": "u:"}) == IRI("v:x")
