"""Hostile SPAseQ texts: read or refused, within bounded time and depth."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.show import show
from thence.algebra.traversal import DEPTH
from thence.errors import QueryError
from thence.lang.spaseq.parser import parse
from thence.lang.spaseq.reader import LONGEST, OPTIONALS

A = "DEFINE GPM A ON S { ?a <x:p> ?x }"
SECONDS = 20  # what takes a second on an idle machine


def whole(sequence: str, gpms: str = A, select: str = "*", clauses: str = "WITHIN 9 TICKS") -> str:
    return f"SELECT {select} {clauses} FROM STREAM S <x:s> {{ SEQ ({sequence}) {gpms} }}"


def refusal(text: str) -> str:
    with pytest.raises(QueryError) as refused:
        parse(text)
    return refused.value.reason


def test_the_longest_sequence_is_read_and_shown() -> None:
    for sign in (", ", "; ", " & ", " | "):
        query = parse(whole(sign.join(["A"] * LONGEST)))
        assert parse(show(query)) == query


def test_a_longer_sequence_is_refused() -> None:
    assert refusal(whole(", ".join(["A"] * 100_000))) == "SEQ names 100,000 GPMs; at most 200 are allowed."
    assert refusal(whole(" & ".join(["A"] * (LONGEST + 1)))) == "SEQ names 201 GPMs; at most 200 are allowed."


def test_too_many_optional_parts_are_refused() -> None:
    parse(whole("A; " + "; ".join(["A?"] * OPTIONALS)))
    message = 'SEQ has 11 parts with "?"; at most 10 are allowed.'
    assert refusal(whole("A; " + "; ".join(["A?"] * (OPTIONALS + 1)))) == message


def test_nesting_is_limited() -> None:
    assert refusal(whole("(" * 10_000 + "A" + ")" * 10_000)) == "Brackets are nested deeper than 200 levels."
    assert refusal(whole("A", f"DEFINE GPM A ON S {'{' * 10_000}")) == "Brackets are nested deeper than 200 levels."
    query = parse(whole("(" * 150 + "A & A" + ")" * 150))
    assert show(query) == show(parse(whole("A & A")))


def test_the_depth_of_an_expression_is_limited() -> None:
    deep = "!(" * 150 + "?x" + ")" * 150
    parse(whole("A", select=f"({deep} AS ?n)"))
    unary = " - ".join(["?x"] * (DEPTH - 1))
    assert "deep" in refusal(whole("A", select=f"(({unary}) * ({unary}) + 1 - 1 AS ?n)"))
    assert "deep" in refusal(whole("A", f"DEFINE GPM A ON S {{ ?a <x:p> ?x FILTER(1 + 1 - ({unary}) > 1) }}"))


def many(triple: str, count: int) -> str:
    """A GPM of so many triples, each with a number in it."""
    return f"DEFINE GPM A ON S {{ {'. '.join(triple.format(i) for i in range(count))} }}"


@pytest.mark.parametrize(
    "text",
    [
        whole("; ".join(["A"] * LONGEST), many("?v{0} ?w{0} ?u{0}", 5_000)),
        whole("A; " + "A; A!; " * 60 + "A", many("?v{0} ?w{0} 1", 3_000)),
        whole("A", "DEFINE GPM A ON S { ?a <x:p> ?x " + "FILTER EXISTS { ?a ?p ?q } " * 5_000 + "}"),
        whole("A", "DEFINE GPM A ON S { ?a <x:p> ?x " + "GRAPH <x:g> { FILTER(?x) } " * 5_000 + "}"),
        whole("A", select=" ".join(f"(?x AS ?n{i})" for i in range(5_000))),
        whole("A+", select=" ".join(f"(FIRST(?x) AS ?n{i})" for i in range(5_000))),
        whole("A", clauses="".join(f" FROM STREAM T{i} <x:t{i}>" for i in range(5_000))),
        whole("A; " + "A!; " * (LONGEST - 2) + "A"),
    ],
    ids=["variables", "shared", "EXISTS", "GRAPH", "columns", "aggregates", "streams", "negations"],
)
def test_a_large_query_takes_no_more_time_than_its_size_warrants(text: str) -> None:
    start = time.process_time()
    parse(text)
    assert time.process_time() - start < SECONDS


def test_too_many_gpms_are_refused() -> None:
    gpms = "".join(f" DEFINE GPM G{i} ON S {{ }}" for i in range(1_000))
    assert refusal(whole("A", A + gpms)) == "1,001 GPMs are defined; at most 200 are allowed."


def test_a_name_without_end_is_no_trouble() -> None:
    long = "x" * 300_000
    assert refusal(whole("A", select=f"?{long}y", gpms=f"DEFINE GPM A ON S {{ ?{long} <x:p> 1 }}")).endswith("binds.")
    assert refusal(whole(long)).startswith("There is no GPM")


WORDS = [
    *("SELECT", "CONSTRUCT", "WHERE", "WITHIN", "10", "TICKS", "PT1H", "TUMBLING", "FROM", "STREAM", "PARTITION", "BY"),
    *("SEQ", "DEFINE", "GPM", "ON", "FILTER", "GRAPH", "COUNT", "FIRST", "AS", "A", "B", "S", "*", "?a", "?x", "<x:p>"),
    *("{", "}", "(", ")", ",", ";", ":", "+", "?", "!", "&", "|", ".", ">", "1", '"a"', "#"),
]
QUERY = (
    "SELECT ?a ( COUNT(A) AS ?n ) WITHIN 9 TICKS TUMBLING FROM 3 PARTITION BY ( ?a ) FROM STREAM S <x:s> WHERE {"
    " SEQ ( A + ; ( B & A ) ! , B ? ) DEFINE GPM A ON S { ?a <x:p> ?x . FILTER ( ?x > 1 ) . } DEFINE GPM B ON S {"
    " ?a <x:q> ?y . GRAPH <x:g> { ?y <x:r> ?z } } }"
)


def read_or_refused(words: list[str]) -> None:
    with suppress(QueryError):
        parse(" ".join(words))


@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_any_words_are_read_or_refused(words: list[str]) -> None:
    read_or_refused(words)


@given(st.data())
def test_a_query_with_words_left_out_doubled_or_changed_is_read_or_refused(data: st.DataObject) -> None:
    words = QUERY.split()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words) - 1))
        other = data.draw(st.sampled_from(WORDS))
        words[place : place + 1] = data.draw(st.sampled_from([[], [words[place]] * 2, [other]]))
    read_or_refused(words)
