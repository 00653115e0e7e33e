"""What is said of a query that can't be read: where, why, and what may cure it."""

from __future__ import annotations

import pytest

from thence.errors import QueryError
from thence.lang.sparql.parser import parse_query


def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as refused:
        parse_query(text)
    return refused.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # words
        ("SELEC ?x {}", 'query:1:1: "SELEC" is not known here. Try: SELECT'),
        (
            "PREFIX : http://example.org/ SELECT * {}",
            'query:1:10: A namespace is written in angle brackets, found "http:". Try: <http://example.org/>',
        ),
        ("SELECT * { ?s ?p ?o OPTINAL {} }", 'query:1:21: "OPTINAL" is not known here. Try: OPTIONAL'),
        ("SELECT * { FILTER(STRLN(?x) > 3) }", 'query:1:19: "STRLN" is not known here. Try: STRLEN'),
        ("SELECT * { ?s ?p ?o } ODER BY ?s", 'query:1:23: "ODER" is not known here. Try: ORDER'),
        ("SELECT * { ?s ?p ?o } ORDERBY ?s", "query:1:23: A space is missing after ORDER. Try: ORDER BY"),
        ("SELECT * { ?s ?p ?o } LIMIT10", "query:1:23: A space is missing after LIMIT. Try: LIMIT 10"),
        (
            "SELECT * { FILTER(hypot(?x)) }",
            'query:1:19: "hypot" is not a known function. Try: an IRI for one of your own, as in ex:hypot(…)',
        ),
        ("SELECT * { ?s name ?o }", 'query:1:15: "name" is neither a keyword nor a term. Try: ?name or :name'),
        # brackets
        ("SELECT * { ?s ?p ?o", 'query:1:20: The "{" at 1:10 is never closed. Try: }'),
        ("SELECT * { ?s ?p ?o }}", 'query:1:22: This "}" has no opening bracket.'),
        ("SELECT * { FILTER(?x > 3 }", 'query:1:26: Found "}", but the "(" at 1:18 is still open. Try: )'),
        ("SELECT * { FILTER(?x > 3)) }", 'query:1:26: This ")" has no opening bracket.'),
        ("SELECT * WHERE ?s ?p ?o", 'query:1:16: Expected "{", found "?s". Try: {'),
        # triples
        (
            "SELECT * { ?s ?p ?o ?x ?y ?z }",
            'query:1:21: A "." is missing between two triple patterns, before "?x". Try: . ?x',
        ),
        ("SELECT * { ?s ?p }", 'query:1:18: Expected a term, found "}".'),
        ("SELECT * { ?s }", 'query:1:15: Expected a property, found "}".'),
        ("SELECT * { ?s ?p ?o . . }", 'query:1:23: Expected a triple pattern or "}", found ".".'),
        ("SELECT * { ?s ?p ?o UNION {} }", "query:1:21: UNION belongs between two groups. Try: { … } UNION { … }"),
        # prefixes and IRIs
        (
            "SELECT * { ?s prov:p ?o }",
            'query:1:15: The prefix "prov:" is not defined. Try: PREFIX prov: <http://www.w3.org/ns/prov#>',
        ),
        ("SELECT * { ?s :p ?o }", 'query:1:15: The prefix ":" is not defined. Try: PREFIX : <http://example.org/>'),
        ("PREFIX ex <http://example.org/> ASK {}", 'query:1:8: A prefix ends with ":". Try: ex:'),
        ("SELECT * { ?s <x:p q> ?o }", "query:1:15: An IRI can't have a space in it."),
        # strings
        (
            'SELECT * { ?s ?p "abc }',
            'query:1:18: The string that begins here is not closed on its line. Try: """ around several lines',
        ),
        ("SELECT * { ?s ?p '''abc }", "query:1:18: The string that begins here is never closed. Try: '''"),
        ('SELECT * { ?s ?p "\\d" }', 'query:1:18: A string can\'t have "\\d" in it. Try: \\\\d for a backslash'),
        # SELECT
        (
            "SELECT ?x, ?y {}",
            "query:1:10: The columns of SELECT are separated by spaces, without commas. Try: SELECT ?a ?b",
        ),
        (
            "SELECT COUNT(?x) {}",
            "query:1:8: An expression in SELECT needs parentheses and a name. Try: (COUNT(…) AS ?name)",
        ),
        ("SELECT (COUNT(?x)) {}", "query:1:18: An expression needs a name here. Try: AS ?name)"),
        ("SELECT * { } LIMIT ten", 'query:1:20: Expected a number, found "ten".'),
        ("SELECT * { } GROUP ?x", 'query:1:20: Expected BY, found "?x". Try: BY'),
        # expressions
        (
            "SELECT * { FILTER ?x > 3 }",
            'query:1:19: FILTER needs parentheses around its condition, found "?x". Try: FILTER(?x …)',
        ),
        ("SELECT * { FILTER(?x == 3) }", 'query:1:23: Equality is written with one "=". Try: ='),
        ("SELECT * { FILTER(?x <> 3) }", 'query:1:22: "<>" is not an operator. Try: !='),
        ("SELECT * { FILTER(?x AND ?y) }", 'query:1:22: "AND" is not an operator. Try: &&'),
        ("SELECT * { FILTER(?x<?y&&?z>1) }", 'query:1:21: "<?y&&?z>" reads as an IRI. Try: spaces around "<"'),
        ("SELECT * { FILTER(?x > ) }", 'query:1:24: Expected an expression, found ")".'),
        ("SELECT * { BIND(1 ?x) }", 'query:1:19: Expected an operator or AS, found "?x".'),
        # nothing, and what is no query
        ("", "query:1:1: Expected SELECT, CONSTRUCT, ASK or DESCRIBE, found the end of the text."),
        (
            "LOAD <http://example.org/>",
            "query:1:1: LOAD changes data; a query only reads it. Try: SELECT, CONSTRUCT, ASK or DESCRIBE",
        ),
        (
            "PREFIX : <x:> INSERT DATA { :a :b :c }",
            "query:1:15: INSERT changes data; a query only reads it. Try: SELECT, CONSTRUCT, ASK or DESCRIBE",
        ),
        (
            "SELECT * { SERVICE <http://example.org/> {} }",
            "query:1:12: SERVICE would ask another server; a query reads only the data it is given.",
        ),
    ],
)
def test_a_frequent_mistake_is_told_with_its_cure(text: str, message: str) -> None:
    assert str(refusal(text)) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SELECT * { ?s ?p ?o BIND(1 AS ?o) }",
            "query:1:21: BIND gives ?o a value, but the group has used ?o before. Try: a new name",
        ),
        (
            "SELECT (1 AS ?s) { ?s ?p ?o }",
            "query:1:8: SELECT gives ?s a value, but WHERE has used ?s already. Try: a new name",
        ),
        ("SELECT (1 AS ?x) ?x {}", "query:1:18: SELECT gives ?x a value twice. Try: a new name"),
        (
            "SELECT (1 AS ?x) {} VALUES ?x { 2 }",
            "query:1:8: SELECT gives ?x a value, but WHERE has used ?x already. Try: a new name",
        ),
        (
            "SELECT * { ?s ?p ?o } GROUP BY ?s",
            "query:1:1: SELECT * can't be combined with groups. Try: naming the columns",
        ),
        (
            "SELECT ?o { ?s ?p ?o } GROUP BY ?s",
            "query:1:8: ?o is not a key of GROUP BY, so a group has many values of it. "
            "Try: GROUP BY ?o, or an aggregate such as SAMPLE(?o)",
        ),
        (
            "SELECT (?o + COUNT(*) AS ?x) { ?s ?p ?o }",
            "query:1:8: ?o is not a key of GROUP BY, so a group has many values of it. "
            "Try: GROUP BY ?o, or an aggregate such as SAMPLE(?o)",
        ),
        (
            "SELECT ?o { ?s ?p ?o } GROUP BY (?s AS ?o)",
            "query:1:1: GROUP BY gives ?o a value, but ?o has one already. Try: a new name",
        ),
        (
            "SELECT * { FILTER(SUM(?x) > 1) }",
            "query:1:12: An aggregate is not allowed in FILTER, only in SELECT, HAVING and ORDER BY.",
        ),
        (
            "SELECT (SUM(COUNT(?x)) AS ?y) {}",
            "query:1:9: SUM contains another aggregate; a group is aggregated once.",
        ),
        (
            "SELECT * { _:a ?p ?o OPTIONAL { _:a ?q ?r } }",
            "query:1:33: The blank node _:a is in two basic graph patterns; a label belongs to one. Try: a variable",
        ),
        (
            "SELECT * { VALUES (?x ?y) { (1 2) (3) } }",
            "query:1:35: VALUES names 2 variables, and this row has 1 value.",
        ),
        ("SELECT * { VALUES (?x ?x) { } }", "query:1:19: VALUES names a variable twice."),
        ("ASK {} LIMIT 9223372036854775808", "query:1:14: LIMIT and OFFSET can be at most 9223372036854775807."),
    ],
)
def test_a_query_that_means_nothing_is_told_why(text: str, message: str) -> None:
    assert str(refusal(text)) == message


def test_the_faulty_line_is_shown_with_a_caret() -> None:
    error = refusal("SELECT *\r\nWHERE {\r\n\t?s ?p ?o .\r\n\tFILTR(?x)\r\n}")
    assert str(error.place) == "query:4:2"
    assert error.caret == "\tFILTR(?x)\n\t^"


def test_the_source_is_named() -> None:
    with pytest.raises(QueryError) as refused:
        parse_query("ASK", source="traffic.rq")
    assert str(refused.value) == 'traffic.rq:1:4: Expected "{", FROM or WHERE, found the end of the text.'


@pytest.mark.parametrize("text", ["SELECT * { ?s ?p \x00 }", "SELECT * { ?s ?p £5 }", "SELECT * { ?s ?p \u2028", "\\"])
def test_what_is_no_token_is_refused(text: str) -> None:
    assert refusal(text).place is not None
