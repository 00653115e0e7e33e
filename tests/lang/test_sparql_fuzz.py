"""Any text at all is read or refused: no other error, whatever stands where."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.show import show
from thence.errors import QueryError
from thence.lang.sparql.parser import parse_query

LINES = (
    "SELECT CONSTRUCT ASK DESCRIBE WHERE FROM NAMED DISTINCT REDUCED PREFIX BASE GROUP BY HAVING ORDER ASC DESC LIMIT",
    "OFFSET OPTIONAL GRAPH UNION MINUS FILTER BIND AS VALUES UNDEF SERVICE SILENT EXISTS NOT IN COUNT SUM GROUP_CONCAT",
    "SEPARATOR STR BOUND IF COALESCE REGEX CONCAT NOW BNODE IRI LOAD INSERT selec filtr name * ( ) { } [ ] . ; ,",
    "?x ?y ?z $x _:a _:b a <x:p> <p> <> < > <= >= = != ! + - / | ^ ^^ || && ? : :p ex:p ex: xsd:integer # @en @",
    "1 -1 +1 1.5 .5 1e3 1. true FALSE",
    '"a" \'b\' """c""" \'\'\' " \' "\\n" "\\q" \\u0041 \\uD800 \\ £ \x00 \ufeff',
)
PIECES = [piece for line in LINES for piece in line.split(" ")]
SEEDS = (
    "SELECT ?x ( COUNT ( ?y ) AS ?z ) { ?x <x:p> / <x:q> * ?y . FILTER ( ?y > 1 && BOUND ( ?x ) ) } GROUP BY ?x",
    "SELECT * { ?x a [ <x:p> ( 1 _:a ) ] ; <x:q> ?y OPTIONAL { FILTER NOT EXISTS { ?x ?x ?x } } } VALUES ?w { }",
    "CONSTRUCT { ?x a ?y } WHERE { { ?x ?y ?z } UNION { GRAPH ?z { } } MINUS { SELECT ?x { } } BIND ( 1 + 1 AS ?v ) }",
)


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.sampled_from(["", " ", "\n"]))
def test_any_heap_of_pieces_is_read_or_refused(pieces: list[str], separator: str) -> None:
    read_or_refuse(separator.join(pieces))


@given(st.sampled_from(SEEDS), st.data())
def test_any_query_with_a_piece_changed_is_read_or_refused(seed: str, data: st.DataObject) -> None:
    pieces = seed.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(pieces) - 1))
        pieces[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(PIECES), max_size=2))
    read_or_refuse(" ".join(pieces))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refuse(text)


def read_or_refuse(text: str) -> None:
    try:
        query = parse_query(text, base="http://example.org/")
    except QueryError as refused:
        check(refused, lines=text.count("\n") + text.count("\r") + 1)
    else:
        assert parse_query(show(query)) == query


def check(refused: QueryError, *, lines: int) -> None:
    assert refused.place is not None
    assert 1 <= refused.place.line <= lines
    assert 1 <= refused.place.column <= len(refused.line) + 1
