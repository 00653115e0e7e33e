"""The SPAseQ paper's numbered examples and Figure 1, as corrected, from text to matches."""

from __future__ import annotations

from typing import Any

import pytest

import thence
from thence.rdf.documents import Format, parse
from thence.rdf.terms import Triple
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

HEAD = """
PREFIX : <http://example.org/>
SELECT {select} {within}
FROM STREAM S1 <http://example.org/S1>
FROM STREAM S2 <http://example.org/S2>
WHERE {{
  SEQ ({sequence})
  DEFINE GPM P ON S1 {{ ?h :pow ?p . ?h :loc ?l {graph} }}
  DEFINE GPM W ON S2 {{ ?w :value ?v . ?w :loc ?l }}
}}
"""


def ask(sequence: str, *, within: str = "", select: str = "*", graph: str = "") -> thence.Query:
    return thence.parse(HEAD.format(sequence=sequence, within=within, select=select, graph=graph))


def power(time: int, house: str, source: str, place: str) -> thence.Event:
    return _event(time, f":{house} :pow :{source} ; :loc :{place} .")


def weather(time: int, station: str, value: str, place: str) -> thence.Event:
    return _event(time, f":{station} :value :{value} ; :loc :{place} .")


def _event(time: int, graph: str) -> thence.Event:
    return thence.Event(time, f"@prefix : <http://example.org/> . {graph}")


def rows(query: thence.Query, streams: dict[str, list[thence.Event]], **options: Any) -> list[tuple[object, str]]:
    """As the paper prints them: the time, then ?h ?p ?l ?w ?v, with `-` for what is unbound."""
    found = query.match(streams, **options)
    return [(match.end, " ".join(shown(match, name) for name in "hplwv")) for match in matches(found)]


def matches(found: Any) -> list[Match]:
    return [match for match in found if isinstance(match, Match)]


def shown(match: Match, name: str) -> str:
    cell = match.bindings.get(name)
    return "-" if cell is None or isinstance(cell, tuple) else cell.value.removeprefix("http://example.org/")


EXAMPLE_3 = {"S1": [power(10, "H1", "Pw1", "L1"), power(15, "H2", "Pw2", "L2"), power(25, "H3", "Pw3", "L3")], "S2": []}
EXAMPLE_4 = {
    "S1": [power(10, "H1", "Pw1", "L1"), power(25, "H2", "Pw2", "L2")],
    "S2": [weather(10, "W1", "Vl1", "L1"), weather(20, "W2", "Vl2", "L1")],
}
EXAMPLE_6 = {
    "S1": [power(10, "H1", "Pw1", "L1"), power(15, "H2", "Pw2", "L1")],
    "S2": [weather(15, "W1", "Vl1", "L2"), weather(20, "W1", "Vl1", "L1"), weather(25, "W2", "Vl2", "L1")],
}
EXAMPLE_9 = {
    "S1": [power(10, "H1", "Pw1", "L1"), power(25, "H2", "Pw2", "L2")],
    "S2": [weather(15, "W1", "Vl1", "L1"), weather(20, "W2", "Vl2", "L1")],
}
EXAMPLE_11 = {
    "S1": [power(10, "H1", "Pw1", "L1"), power(25, "H2", "Pw2", "L2")],
    "S2": [weather(15, "W1", "Vl1", "L1"), weather(40, "W2", "Vl2", "L2")],
}


def test_example_3_a_gpm_in_the_boundaries_5_to_15() -> None:
    # the event at 25 is in the window [15, 25], which follows; the example stops at 15
    found = rows(ask("P", within="WITHIN 10 TICKS TUMBLING FROM 5"), EXAMPLE_3)
    assert found == [(10, "H1 Pw1 L1 - -"), (15, "H2 Pw2 L2 - -"), (25, "H3 Pw3 L3 - -")]


def test_example_4_conjunction() -> None:
    assert rows(ask("P & W"), EXAMPLE_4) == [(10, "H1 Pw1 L1 W1 Vl1")]


def test_example_5_disjunction_gives_four_rows() -> None:
    assert rows(ask("P | W"), EXAMPLE_4) == [
        (10, "H1 Pw1 L1 - -"),
        (10, "- - L1 W1 Vl1"),
        (20, "- - L1 W2 Vl2"),
        (25, "H2 Pw2 L2 - -"),
    ]


def test_example_6_skip_till_any() -> None:
    assert rows(ask("P : W"), EXAMPLE_6) == [
        (20, "H1 Pw1 L1 W1 Vl1"),
        (20, "H2 Pw2 L1 W1 Vl1"),
        (25, "H1 Pw1 L1 W2 Vl2"),
        (25, "H2 Pw2 L1 W2 Vl2"),
    ]


def test_example_7_skip_till_next() -> None:
    assert rows(ask("P ; W"), EXAMPLE_6) == [(20, "H1 Pw1 L1 W1 Vl1"), (20, "H2 Pw2 L1 W1 Vl1")]


def test_example_8_strict_contiguity() -> None:
    assert rows(ask("P , W"), EXAMPLE_6) == [(20, "H2 Pw2 L1 W1 Vl1")]


def test_example_9_kleene_shows_the_last_iteration() -> None:
    assert rows(ask("P ; W+"), EXAMPLE_9) == [(15, "H1 Pw1 L1 W1 Vl1"), (20, "H1 Pw1 L1 W2 Vl2")]


def test_example_10_graph_joins_the_background() -> None:
    text = "@prefix : <http://example.org/> . :H1 :owner :john ; :address :paris . :H2 :owner :smith ; :address :lyon ."
    store = _rdflib(list(parse(text, Format.TURTLE)))
    query = ask("P", graph="GRAPH :db { ?h :owner ?n . ?h :address ?a }")
    first, second = matches(query.match(EXAMPLE_9, background={"http://example.org/db": store}))
    assert [shown(first, name) for name in "hplna"] == ["H1", "Pw1", "L1", "john", "paris"]
    assert [shown(second, name) for name in "hplna"] == ["H2", "Pw2", "L2", "smith", "lyon"]


def _rdflib(quads: list[Any]) -> Any:
    import rdflib

    graph = rdflib.Graph()
    for quad in quads:
        graph.add(tuple(rdflib.URIRef(term.value) for term in Triple(*quad[:3])))
    return graph


@pytest.mark.parametrize(
    ("issued", "found"),
    [(20, [(40, "H2 Pw2 - - Vl2")]), (10, [(15, "H1 Pw1 - - Vl1"), (40, "H2 Pw2 - - Vl2")])],
)
def test_example_11_a_query_issued_at_a_time(issued: int, found: list[tuple[int, str]]) -> None:
    query = ask("P ; W", within=f"WITHIN 50 TICKS TUMBLING FROM {issued}", select="?h ?p ?v")
    assert rows(query, EXAMPLE_11) == found


LINE = """
PREFIX : <http://example.org/>
SELECT * FROM STREAM S <http://example.org/S>
WHERE {{
  SEQ ({sequence})
  DEFINE GPM A ON S {{ ?a :is :a }}
  DEFINE GPM B ON S {{ ?b :is :b }}
  DEFINE GPM C ON S {{ ?c :is :c }}
}}
"""


def chosen(sequence: str, stream: str) -> list[str]:
    """The events of each match of a query over a line such as `a1 b1 c1`: one event at each tick."""
    events = [
        thence.Event(time, f"@prefix : <http://example.org/> . :{name} :is :{name[0]} .", id=name)
        for time, name in enumerate(stream.split())
    ]
    found = thence.parse(LINE.format(sequence=sequence)).match(events)
    return sorted(" ".join(match.event_ids) for match in matches(found))


@pytest.mark.parametrize(
    ("sequence", "found"),
    [
        ("A , B , C", ["a1 b1 c1"]),
        ("A ; B ; C", ["a1 b1 c1", "a2 b2 c2", "a3 b2 c2"]),
        ("A : B : C", ["a1 b1 c1", "a1 b1 c2", "a1 b2 c2", "a2 b2 c2", "a3 b2 c2"]),
    ],
)
def test_figure_1(sequence: str, found: list[str]) -> None:
    assert chosen(sequence, "a1 b1 c1 a2 a3 x b2 c2") == found


def test_example_14_kleene_in_a_sequence_is_contiguous() -> None:
    assert chosen("A , B+ , C", "a1 b2 c3 b4 c5") == ["a1 b2 c3"]


def test_algorithm_7_optional_arms_are_separate() -> None:
    assert chosen("A , B? , C", "a1 b2 c3") == ["a1 b2 c3"]
    assert chosen("A ; B? ; C", "a1 b2 c3") == ["a1 b2 c3", "a1 c3"]


def test_appendix_b_strict_contiguity_leaves_no_gap_for_a_negation() -> None:
    assert chosen("A , B! , C", "a1 x2 c3 a4 c5") == ["a4 c5"]
