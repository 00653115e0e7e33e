"""GRAPH blocks moved to the end: where that is allowed, and what complete matches become there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import thence
from support.rewriting import after, query_of
from thence.engines.automaton.plan.rules import late_graph

pytestmark = pytest.mark.numba

OWNER = "GRAPH :kb { ?x :owner ?o }"
BLOCK = f"?x :a ?a {OWNER}"


def moved(sequence: str, **gpms: str) -> int:
    query = query_of(sequence, **{"A": BLOCK, "B": "?x :b ?b", "C": "?x :c ?c"} | gpms)
    return len(late_graph(query).late)


def test_a_block_of_the_first_gpm_is_joined_at_the_end() -> None:
    query = query_of("A ; B", A=BLOCK, B="?x :b ?b")
    assert after(late_graph, query) == (
        "SEQ (A; B) AT THE END A GRAPH <x:kb> { ?x <x:owner> ?o . }"
        " DEFINE GPM A ON S { ?x <x:a> ?a . } DEFINE GPM B ON S { ?x <x:b> ?b . }"
    )


@pytest.mark.parametrize("sequence", ["B , A", "B : A ; C", "A? , B", "(A | B) ; C", "B , (A & C)", "B : A?"])
def test_it_is_where_only_the_time_chooses(sequence: str) -> None:
    assert moved(sequence) == 1


@pytest.mark.parametrize("sequence", ["B ; A", "A+ ; B", "B , A! , C", "A , A", "B? ; A", "B ; (A | C)"])
def test_it_stays_where_a_choice_depends_on_it(sequence: str) -> None:
    assert moved(sequence) == 0


def test_it_stays_where_something_else_needs_its_variables() -> None:
    assert moved("A ; B", B="?x :b ?o") == 0
    assert moved("A ; B", B="?x :b ?b FILTER(?b > ?o)") == 0
    assert moved("A ; B", A="?x :a ?a OPTIONAL { ?x :p ?o } GRAPH :kb { ?x :owner ?o }") == 0


def test_it_stays_where_the_event_may_not_bind_what_they_share() -> None:
    assert moved("A ; B", A="?y :a ?a OPTIONAL { ?y :at ?x } GRAPH :kb { ?x :owner ?o }") == 0


def test_it_stays_where_it_is_evaluated_row_by_row_or_differs_with_time() -> None:
    assert moved("A ; B", A="?x :a ?a GRAPH :kb { ?x :owner+ ?o }") == 0
    assert moved("A ; B", A="?x :a ?a GRAPH :kb { ?x :owner ?o FILTER(?o > NOW()) }") == 0


def test_blocks_that_share_a_variable_move_together_or_not_at_all() -> None:
    second = "GRAPH :web { ?o :phone ?p }"
    assert moved("A ; B", A=f"{BLOCK} {second}") == 2
    assert moved("A ; B", A=f"{BLOCK} {second}", B="?x :b ?p") == 0
    assert moved("A ; B", A=f"{BLOCK} GRAPH :web {{ ?x :phone ?p }}", B="?x :b ?p") == 1


BACKGROUND = """
<x:h1> <x:owner> <x:ann> , <x:bob> ; <x:price> 1.50 , 2 .
<x:h2> <x:price> 2 .
<x:h3> <x:owner> _:someone .
<x:ann> <x:phone> "1" , "2" . <x:bob> <x:phone> "1" .
"""
GPMS = "DEFINE GPM A ON S {{ ?x :a ?a {block} }} DEFINE GPM B ON S {{ ?x :b ?b }} DEFINE GPM C ON S {{ ?x :c ?c }}"


@pytest.fixture
def background(tmp_path: Path) -> Path:
    path = tmp_path / "kb.ttl"
    path.write_text(BACKGROUND)
    return path


def events() -> list[thence.Event]:
    kinds = "aabacbabcbacabbcab"
    return [
        thence.Event(time, f"<x:h{time % 4}> <x:{kind}> {time % 3} . <x:h{time % 3}> <x:{kind}> 2 .", id=str(time))
        for time, kind in enumerate(kinds)
    ]


def rows(text: str, background: Path, *, optimise: bool) -> list[tuple[object, ...]]:
    query = thence.parse(text)
    found = query.match(events(), background=background, optimise=optimise)
    return [(*row.times, row.event_ids, sorted((k, str(v)) for k, v in row.bindings.items())) for row in found]


BLOCKS = [
    OWNER,
    "GRAPH :kb { ?x :owner [] }",
    "GRAPH :kb { ?x :price ?a }",
    "GRAPH :kb { ?x :price 2 }",
    "GRAPH :kb { ?x :price ?p OPTIONAL { ?x :owner ?o } }",
    "GRAPH :kb { { ?x :price ?p } UNION { ?x :owner ?o } UNION { ?x :price ?p } }",
    "GRAPH :kb { ?someone :owner ?o }",
    "GRAPH :kb { ?x :owner ?o . ?o :phone ?p FILTER(?p != '2') }",
    f"{OWNER} GRAPH :kb {{ ?o :phone ?p }}",
    "GRAPH :kb { ?x :price ?p OPTIONAL { ?x :owner ?o } } GRAPH :kb { ?o :phone ?q }",
    "GRAPH :kb { { ?x :owner ?o } UNION { ?s :owner ?o } }",
]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("sequence", ["A ; B", "B : A", "A? : B", "(A | C) ; B", "A ; B+ , C?", "A ; B ; C!"])
def test_the_rows_and_their_order_are_those_of_the_block_in_its_place(
    block: str, sequence: str, background: Path
) -> None:
    text = (
        f"PREFIX : <x:> SELECT * WITHIN 5 TICKS FROM STREAM S <x:s> {{ SEQ ({sequence}) {GPMS.format(block=block)} }}"
    )
    late, early = (rows(text, background, optimise=optimise) for optimise in (True, False))
    assert late_graph(thence.parse(text).algebra).late
    assert early
    assert Counter(map(str, late)) == Counter(map(str, early))
    assert [row[:3] for row in late] == [row[:3] for row in early]


CHOICES = {"B ; A": [(0, 2)], "B : A! : C": [(0, 3), (2, 3)], "B ; A+": [(0, 2)]}


@pytest.mark.parametrize("sequence", CHOICES)
def test_an_event_that_finds_nothing_in_the_background_is_passed_over(sequence: str, background: Path) -> None:
    kinds = [("h1", "b"), ("h2", "a"), ("h1", "a"), ("h1", "c")]
    if "!" in sequence:
        kinds[2] = ("h1", "b")
    happened = [thence.Event(time, f"<x:{house}> <x:{kind}> 1 .") for time, (house, kind) in enumerate(kinds)]
    gpms = GPMS.replace("?x", "?y").replace("?y :a ?a", "?x :a ?a").format(block=OWNER)
    text = f"PREFIX : <x:> SELECT * WITHIN 9 TICKS FROM STREAM S <x:s> {{ SEQ ({sequence}) {gpms} }}"
    found = {match.times for match in thence.parse(text).match(happened, background=background)}
    assert found == set(CHOICES[sequence])


def test_columns_made_of_what_the_background_binds_are_there(background: Path) -> None:
    text = (
        "PREFIX : <x:> SELECT DISTINCT (?p * 2 AS ?twice) (COUNT(B) AS ?n) WITHIN 5 TICKS FROM STREAM S <x:s>"
        f" {{ SEQ (A ; B+) {GPMS.format(block='GRAPH :kb { ?x :price ?p }')} }}"
    )
    late, early = (rows(text, background, optimise=optimise) for optimise in (True, False))
    assert late == early != []


def test_a_graph_that_no_background_has_is_an_error_before_any_event_is_read(tmp_path: Path) -> None:
    path = tmp_path / "other.trig"
    path.write_text("<x:other> { <x:h1> <x:owner> <x:ann> }")
    text = f"PREFIX : <x:> SELECT * FROM STREAM S <x:s> {{ SEQ (A ; B) {GPMS.format(block=OWNER)} }}"
    with pytest.raises(thence.InputError, match="The query reads the graph <x:kb>"):
        thence.parse(text).match(events(), background=path)
