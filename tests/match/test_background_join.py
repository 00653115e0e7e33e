"""GRAPH: background data joined with the events, by both evaluators, wherever the data comes from."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given

from strategies import examples
from strategies.terms import typed
from support.agreement import CONTEXT, Case, answers, cases
from support.second_opinion import by_value, canonical_cases, pyoxigraph_answers
from support.smaller import agree, plain, vectorised
from thence.columns.batches import encode
from thence.errors import InputError
from thence.io.background_data import load_background
from thence.lang.sparql.parser import parse_pattern
from thence.match.background import Background
from thence.match.solve import solutions
from thence.rdf.events import Event
from thence.rdf.terms import IRI, Term

pytestmark = pytest.mark.numba

PREFIX = "@prefix : <http://example.org/> . "
HOUSES = PREFIX + ":h1 :street :s1 . :h2 :street :s1 . :h3 :street :s2 . _:b :street :s3 ."
READINGS = encode(
    [
        Event(0, PREFIX + ":h1 :watts 10 ."),
        Event(1, PREFIX + ":h3 :watts 30 . :h4 :watts 40 ."),
        Event(2, PREFIX + "_:b :watts 5 ."),
    ]
)


def both_ways(text: str, background: Background) -> list[dict[str, str]]:
    """The answers that both evaluators give, sorted, as local names."""
    pattern = parse_pattern(f"PREFIX : <http://example.org/> {text}")
    found = answers(pattern, READINGS, background, vectorise=True)
    assert found == answers(pattern, READINGS, background, vectorise=False)
    rows = [{"event": str(event)} | {n: short(t) for n, t in mapping} for event, mapping in found.elements()]
    return sorted(rows, key=lambda row: sorted(row.items()))


def short(term: Term) -> str:
    return term.value.rpartition("/")[2]


def in_memory(turtle: str, name: str | None = None) -> Background:
    graph = rdflib.Graph().parse(data=turtle, format="turtle")
    return Background(load_background(graph if name is None else {name: graph}))


@examples(3)
@given(cases(background=True))
def test_graph_blocks_give_both_evaluators_the_same_answers(case: Case) -> None:
    agree(case, vectorised, plain)


@examples(1)
@given(canonical_cases(background=True))
def test_pyoxigraph_gives_graph_blocks_the_same_answers(case: Case) -> None:
    agree(case, by_value, pyoxigraph_answers)


@examples(1)
@given(cases(background=True))
def test_a_background_answers_every_batch_alike(case: Case) -> None:
    background = case.background
    for event in case.events:
        batch = encode([event])
        found = [answers(case.pattern, batch, background, vectorise=vectorise) for vectorise in (True, False)]
        assert found == [answers(case.pattern, batch, case.background, vectorise=True)] * 2


# What joins


def test_only_what_the_background_knows_joins() -> None:
    rows = both_ways("{ ?h :watts ?w GRAPH :city { ?h :street ?s } }", in_memory(HOUSES))
    assert rows == [
        {"event": "0", "h": "h1", "w": "10", "s": "s1"},
        {"event": "1", "h": "h3", "w": "30", "s": "s2"},
    ]


def test_a_term_of_the_background_alone_is_still_an_answer() -> None:
    rows = both_ways("{ ?h :watts 10 GRAPH :city { ?other :street :s1 } }", in_memory(HOUSES))
    assert [row["other"] for row in rows] == ["h1", "h2"]


def test_blank_nodes_of_events_and_background_are_never_one() -> None:
    background = in_memory(PREFIX + "_:b :street :s3 .")
    assert both_ways("{ ?h :watts ?w GRAPH :city { ?h :street ?s } }", background) == []
    assert len(both_ways("{ ?h :watts 5 GRAPH :city { ?other :street ?s } FILTER(?h != ?other) }", background)) == 1


def test_blank_nodes_stay_apart_whatever_a_stream_is_called(tmp_path: Path) -> None:
    pattern = parse_pattern("PREFIX : <http://example.org/> { ?h :watts ?w GRAPH :city { ?h :street ?s } }")
    (tmp_path / "city.ttl").write_text(PREFIX + "_:7_b :street :s3 .")
    background = Background(load_background(tmp_path / "city.ttl"))
    for stream in ("bg0", "bg-0", "bg"):
        batch = encode([Event(0, PREFIX + "_:b :watts 1 .")], stream=stream, first=7)
        assert not answers(pattern, batch, background, vectorise=True)
        assert not answers(pattern, batch, background, vectorise=False)


def test_an_optional_block_leaves_the_unknown_houses() -> None:
    rows = both_ways(
        "{ ?h :watts ?w OPTIONAL { GRAPH :city { ?h :street ?s } } FILTER(!ISBLANK(?h)) }", in_memory(HOUSES)
    )
    assert [row.get("s") for row in rows] == ["s1", "s2", None]


def test_several_blocks_join_each_other() -> None:
    rows = both_ways(
        "{ ?h :watts 10 GRAPH :city { ?h :street ?s } GRAPH :city { ?neighbour :street ?s } FILTER(?h != ?neighbour) }",
        in_memory(HOUSES),
    )
    assert rows == [{"event": "0", "h": "h1", "s": "s1", "neighbour": "h2"}]


def test_a_block_alone_answers_in_every_event() -> None:
    assert [row["event"] for row in both_ways("{ GRAPH :city { :h1 :street ?s } }", in_memory(HOUSES))] == list("012")


def test_minus_a_block_takes_the_known_houses_away() -> None:
    rows = both_ways("{ ?h :watts ?w MINUS { GRAPH :city { ?h :street ?s } } FILTER(ISIRI(?h)) }", in_memory(HOUSES))
    assert [row["h"] for row in rows] == ["h4"]


# Names of graphs


TWO_GRAPHS = "GRAPH :a { :h1 :street :s1 } GRAPH :b { :h1 :street :s2 . :h3 :street :s2 }"


def test_a_variable_ranges_over_the_named_graphs() -> None:
    store = ox.Store()
    store.update(f"PREFIX : <http://example.org/> INSERT DATA {{ {TWO_GRAPHS} }}")
    rows = both_ways("{ ?h :watts ?w GRAPH ?g { ?h :street ?s } }", Background(load_background(store)))
    assert [(row["h"], row["g"], row["s"]) for row in rows] == [("h1", "a", "s1"), ("h1", "b", "s2"), ("h3", "b", "s2")]


def test_data_without_a_name_is_in_no_graph_that_has_one() -> None:
    """SP-55, EP-40"""
    store = ox.Store()
    store.update(f"PREFIX : <http://example.org/> INSERT DATA {{ :h4 :street :s4 . {TWO_GRAPHS} }}")
    background = Background(load_background(store))
    assert len(both_ways("{ ?h :watts ?w GRAPH :a { ?h :street ?s } }", background)) == 1
    rows = both_ways("{ ?h :watts ?w GRAPH ?g { ?h :street ?s } }", background)
    assert [row["h"] for row in rows] == ["h1", "h1", "h3"]


def test_the_variable_of_a_graph_is_unbound_within_its_group() -> None:
    store = ox.Store()
    store.update(f"PREFIX : <http://example.org/> INSERT DATA {{ {TWO_GRAPHS} }}")
    assert both_ways("{ GRAPH ?g { ?h :street ?s FILTER(BOUND(?g)) } }", Background(load_background(store))) == []


def test_a_graph_that_was_given_is_known_though_it_is_empty(tmp_path: Path) -> None:
    empty = tmp_path / "empty.ttl"
    empty.write_text("# nothing yet\n")
    named = Background(load_background({"http://example.org/city": empty}))
    assert both_ways("{ GRAPH :city { ?h :street ?s } }", named) == []
    assert len(both_ways("{ GRAPH ?g { } }", named)) == 3
    assert both_ways("{ GRAPH :any { ?h :street ?s } }", Background(load_background(empty))) == []


@pytest.mark.parametrize("vectorise", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "{ GRAPH :town { ?h :street ?s } }",
        "{ ?h :nothing ?w OPTIONAL { GRAPH :town { ?h :street ?s } } }",
        "{ ?h :watts ?w FILTER(true || EXISTS { GRAPH :town { ?h :street ?s } }) }",
        "{ GRAPH ?g { GRAPH :town { ?h :street ?s } } }",
    ],
)
def test_a_graph_that_no_background_has_is_an_error_even_where_no_event_asks(text: str, vectorise: bool) -> None:
    pattern = parse_pattern(f"PREFIX : <http://example.org/> {text}")
    background = in_memory(HOUSES, name="http://example.org/city")
    for batch in (READINGS, encode([])):
        with pytest.raises(InputError, match=r"the graph <http://example.org/town>.*it has: <http://example.org/city>"):
            solutions(pattern, batch, background=background, vectorise=vectorise)


def test_a_query_without_background_may_ask_for_any_graph_but_none_by_name() -> None:
    assert both_ways("{ GRAPH ?g { ?h :street ?s } }", Background()) == []
    with pytest.raises(InputError, match="it has: none"):
        both_ways("{ GRAPH :city { ?h :street ?s } }", Background())


# What is kept from one batch to the next


def test_now_in_a_block_is_the_time_of_each_batch() -> None:
    pattern = parse_pattern("PREFIX : <http://example.org/> { GRAPH :city { :h1 :street ?s BIND(NOW() AS ?now) } }")
    background = in_memory(HOUSES)
    for now in typed("dateTime", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"):
        table = solutions(pattern, READINGS, background=background, context=dataclasses.replace(CONTEXT, now=now))
        column = next(ids for name, ids in table.columns.items() if str(name) == "?now")
        assert {READINGS.terms[i] for i in column.tolist()} == {now}


# Where it comes from

AS_TURTLE = HOUSES.encode()
AS_LINES = (
    b"<http://example.org/h1> <http://example.org/street> <http://example.org/s1> .\n"
    b"<http://example.org/h3> <http://example.org/street> <http://example.org/s2> .\n"
    b"_:b <http://example.org/street> <http://example.org/s3> .\n"
)
JOINED = [{"event": "0", "h": "h1", "w": "10", "s": "s1"}, {"event": "1", "h": "h3", "w": "30", "s": "s2"}]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("city.ttl", AS_TURTLE),
        ("city.nt", AS_LINES),
        ("city.nq", AS_LINES.replace(b" .\n", b" <http://example.org/city> .\n")),
        (
            "city.trig",
            b"@prefix : <http://example.org/> . :city { :h1 :street :s1 . :h3 :street :s2 . [] :street :s3 }",
        ),
        ("city.ttl.gz", gzip.compress(AS_TURTLE, mtime=0)),
        ("city.nt.gz", gzip.compress(AS_LINES, mtime=0)),
    ],
)
def test_a_file_of_any_format_is_a_background(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    background = Background(load_background(tmp_path / name))
    assert both_ways("{ ?h :watts ?w GRAPH :city { ?h :street ?s } }", background) == JOINED


def rdflib_dataset() -> rdflib.Dataset:
    dataset = rdflib.Dataset()
    dataset.graph(rdflib.URIRef("http://example.org/city")).parse(data=HOUSES, format="turtle")
    return dataset


def pyoxigraph_dataset() -> ox.Dataset:
    name = ox.NamedNode("http://example.org/city")
    return ox.Dataset(ox.Quad(*quad.triple, name) for quad in ox.parse(AS_TURTLE, ox.RdfFormat.TURTLE))


def pyoxigraph_store() -> ox.Store:
    store = ox.Store()
    store.extend(pyoxigraph_dataset())
    return store


@pytest.mark.parametrize(
    "source",
    [
        lambda: rdflib.Graph().parse(data=HOUSES, format="turtle"),
        rdflib_dataset,
        pyoxigraph_store,
        pyoxigraph_dataset,
        lambda: {"http://example.org/city": rdflib.Graph().parse(data=HOUSES, format="turtle")},
        lambda: {IRI("http://example.org/city"): [rdflib.Graph().parse(data=HOUSES, format="turtle")]},
    ],
    ids=["rdflib graph", "rdflib dataset", "pyoxigraph store", "pyoxigraph dataset", "mapping", "mapping to a list"],
)
def test_a_store_of_either_library_is_a_background(source: Callable[[], object]) -> None:
    background = Background(load_background(source()))
    assert both_ways("{ ?h :watts ?w GRAPH :city { ?h :street ?s } }", background) == JOINED


def test_several_sources_are_one_background_and_their_blank_nodes_differ(tmp_path: Path) -> None:
    (tmp_path / "city.nt").write_bytes(AS_LINES)
    (tmp_path / "more.ttl").write_text(PREFIX + ":h4 :street :s4 . _:b :street :s5 .")
    background = Background(load_background([tmp_path / "city.nt", tmp_path / "more.ttl"]))
    assert len(both_ways("{ ?h :watts ?w GRAPH :city { ?h :street ?s } }", background)) == 3
    assert both_ways("{ GRAPH :city { ?b :street :s3, :s5 } }", background) == []
