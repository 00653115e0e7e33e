"""Hostile queries: refused in bounded time, with a QueryError, and never with a RecursionError."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable

import pytest

from thence.algebra.show import show
from thence.algebra.traversal import DEPTH, depth
from thence.errors import QueryError
from thence.lang.sparql.parser import parse_expression, parse_pattern, parse_query

NESTED: list[Callable[[int], object]] = [
    lambda n: parse_query("ASK" + "{" * n + "}" * n),
    lambda n: parse_query("ASK" + "{" * n),
    lambda n: parse_query("ASK {" + "OPTIONAL{" * n + "}" * n + "}"),
    lambda n: parse_query("SELECT * {" * n + "}" * n),
    lambda n: parse_expression("(" * n + "1" + ")" * n),
    lambda n: parse_expression("(" * n),
    lambda n: parse_expression("STR(" * n + "1" + ")" * n),
    lambda n: parse_expression("!(" * n + "1" + ")" * n),
    lambda n: parse_expression("!" * n + "?x"),
    lambda n: parse_expression("-" * n + "?x"),
    lambda n: parse_expression("NOT EXISTS { FILTER" * n + "(1)" + "}" * n),
    lambda n: parse_pattern("{" + "[<x:p> " * n + "1" + "]" * n + "}"),
    lambda n: parse_pattern("{ ?s ?p " + "(" * n + "1" + ")" * n + "}"),
    lambda n: parse_pattern("{ ?s " + "(" * n + "<x:p>" + ")*" * n + " ?o }"),
]


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("levels", [201, 10_000, 1_000_000])
def test_deep_nesting_is_refused(nested: Callable[[int], object], levels: int) -> None:
    with pytest.raises(QueryError):
        nested(levels)


def test_nesting_is_allowed_up_to_the_limit() -> None:
    text = "(" * 200 + "1" + ")" * 200
    assert parse_expression(text) == parse_expression("1")
    with pytest.raises(QueryError, match="Brackets are nested deeper than 200 levels"):
        parse_expression(f"({text})")
    assert parse_expression(f"({text})", nesting=201) == parse_expression("1")
    with pytest.raises(QueryError, match="deeper than 3 levels"):
        parse_query("ASK { FILTER((((1)))) }", nesting=3)


@pytest.mark.parametrize("operands", [1000, 5000])
def test_flat_chains_of_thousands_are_no_deep_trees(operands: int) -> None:
    for sign in ("||", "&&"):
        assert depth(parse_expression(sign.join(["?x"] * operands))) < 20
    for word in (" UNION ", " "):
        assert depth(parse_pattern("{" + word.join(["{ ?x ?y ?z }"] * operands) + "}")) < 20
    for sign in ("/", "|"):
        assert depth(parse_pattern("{ ?s (" + sign.join(["<x:p>"] * operands) + ")* ?o }")) < 20
    assert depth(parse_pattern("{" + "FILTER(?x)" * operands + "}")) < 20
    assert depth(parse_pattern("{" + "?x ?y ?z." * operands + "}")) == 3


@pytest.mark.parametrize(
    "chain",
    [
        lambda n: parse_expression("+".join(["?x"] * n)),
        lambda n: parse_expression("*".join(["?x"] * n)),
        lambda n: parse_expression("?x" + "-1" * n),
        lambda n: parse_pattern("{" + "OPTIONAL { ?x ?y ?z }" * n + "}"),
        lambda n: parse_pattern("{" + "MINUS { ?x ?y ?z }" * n + "}"),
        lambda n: parse_pattern("{" + "".join(f"BIND({i} AS ?v{i})" for i in range(n)) + "}"),
    ],
)
def test_chains_that_make_deep_trees_are_allowed_up_to_a_limit(chain: Callable[[int], object]) -> None:
    node = chain(DEPTH - 10)
    assert depth(node) <= DEPTH
    assert pickle.loads(pickle.dumps(node)) == node
    assert hash(node) == hash(pickle.loads(pickle.dumps(node)))
    for too_many in (DEPTH + 1, 5000):
        with pytest.raises(QueryError, match=r"in a row; at most 249|may hold at most 249"):
            chain(too_many)


@pytest.mark.parametrize(
    ("chain", "place", "reason"),
    [
        (lambda: parse_expression(" + ".join(["?x"] * 100_000)), (1, 1), "250 operations in a row; at most 249"),
        (lambda: parse_expression("1 < 1" + "+1" * 100_000), (1, 5), "250 operations in a row; at most 249"),
        (lambda: parse_expression("1" + "-1*2" * 100_000), (1, 1), "250 operations in a row; at most 249"),
        (lambda: parse_expression("(2" + "*?x" * 100_000 + ")"), (1, 2), "250 operations in a row; at most 249"),
        (lambda: parse_expression("3 -1" + "/?x" * 100_000), (1, 3), "250 operations in a row; at most 249"),
        (lambda: parse_pattern("{ {" + "OPTIONAL {}" * 90_000 + "}}"), (1, 4), "A group may hold at most 249"),
        (lambda: parse_pattern("{ ?s ?p ?o " + "BIND(1 AS ?x)" * 50_000 + "}"), (1, 3), "A group may hold at most 249"),
        (lambda: parse_pattern("{ " + "MINUS { ?s ?p ?o }" * 50_000), (1, 3), "A group may hold at most 249"),
    ],
)
def test_a_chain_without_end_is_refused_before_it_is_read(
    chain: Callable[[], object], place: tuple[int, int], reason: str
) -> None:
    parse_pattern("{}"), parse_expression("1")  # the parser itself is made when first needed
    start = time.process_time()
    with pytest.raises(QueryError) as refused:
        chain()
    assert time.process_time() - start < 1
    assert refused.value.reason.startswith(reason)
    assert refused.value.place is not None
    assert (refused.value.place.line, refused.value.place.column) == place


def test_signs_that_are_no_operations_make_no_chain() -> None:
    numbers = " -1 +2" * 5000
    parse_pattern(f"{{ VALUES ?x {{ {numbers} }} ?s ?p ({numbers}) }}")
    parse_pattern("{ ?s <x:p>" + "/<x:p>*|<x:p>+" * 2000 + " ?o }")
    parse_expression("?x IN (" + ", ".join(["1 + 1 * 2 - 3"] * 1000) + ")")
    parse_expression(" && ".join(["1 -1 +2 > 3 * 4"] * 1000))
    parse_pattern("{" + "{ OPTIONAL {} OPTIONAL {} }" * 500 + "}")
    parse_pattern("{" + "OPTIONAL {} " * (DEPTH - 9) + "{ " + "OPTIONAL {} " * (DEPTH - 9) + "} }")


def test_nesting_and_chains_together_are_limited_too() -> None:
    deep = "(" * 40 + "?x" + ("+ ?x" * 200 + ")") * 40
    for text in (f"SELECT (SUM({deep}) AS ?y) {{}}", f"ASK {{ FILTER({deep}) BIND({deep} AS ?z) }}"):
        with pytest.raises(QueryError, match=r"levels deep; at most 250 are allowed"):
            parse_query(text)


def test_a_very_long_text_is_refused_before_it_is_read() -> None:
    with pytest.raises(QueryError, match=r"has 50,000,007 characters; a query may have 1,048,576"):
        parse_query('ASK { "' + "a" * 50_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?s ?p '" + "a" * 1_000_000,
        "ASK { ?s ?p '''" + "'a" * 500_000,
        "ASK { ?s ?p <" + "a" * 1_000_000,
        "ASK { ?s ?p " + "a." * 500_000,
        "ASK { ?s ?p _:" + "a." * 500_000,
        "ASK { ?s ?p " + "<" * 1_000_000,
        "ASK { ?s ?p :" + "." * 1_000_000,
        "ASK { ?s ?p :" + "%2" * 500_000,
        "ASK { ?s ?p " + "1" * 1_000_000 + "e",
        "ASK { ?s ?p @" + "a-" * 500_000,
        "ASK { ?s ?p " + "\\u005c" * 170_000,
        "#" * 1_000_000,
        " " * 1_000_000,
    ],
)
def test_a_long_token_is_refused_in_time_linear_in_its_length(text: str) -> None:
    with pytest.raises(QueryError):
        parse_query(text)


def test_a_large_query_round_trips() -> None:
    rows = "\n".join(f"(<x:{i}> {i} 'name {i}'@en)" for i in range(5000))
    query = parse_query(f"SELECT * {{ VALUES (?a ?b ?c) {{ {rows} }} }}")
    assert parse_query(show(query)) == query
