"""Looking up what is asked of the background gives what evaluating the whole block gives."""

from __future__ import annotations

from collections import Counter

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Graph
from thence.engines.automaton.late_graphs import look_up
from thence.io.background_data import load_background
from thence.lang.sparql.parser import parse_pattern
from thence.match.background import Background, ForeignSolutions
from thence.match.context import Context
from thence.match.solution_table import SolutionTable
from thence.match.solve import background_solutions
from thence.rdf.terms import IRI

pytestmark = pytest.mark.numba

NODES = [f"<x:n{number}>" for number in range(4)]
PREDICATES = ["<x:p>", "<x:q>"]
SLOTS = ["?a", "?b", "?c", "_:d", NODES[0]]

graphs = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from(NODES)), max_size=12)
patterns = st.lists(
    st.tuples(st.sampled_from(SLOTS), st.sampled_from(PREDICATES), st.sampled_from(SLOTS)), min_size=1, max_size=3
)
conditions = st.sampled_from(["", "FILTER(?a != ?b)", "FILTER(!BOUND(?c))"])


def background_of(triples: list[tuple[str, str, str]]) -> Background:
    store = pyoxigraph.Store()
    store.load(input="".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode(), format=pyoxigraph.RdfFormat.TURTLE)
    return Background(load_background(store))


def block_of(triples: list[tuple[str, str, str]], condition: str = "") -> Graph:
    body = " . ".join(" ".join(triple) for triple in triples)
    return Graph(IRI("x:g"), parse_pattern(f"{{ {body} {condition} }}"))


def asked_of(background: Background, block: Graph, rows: list[list[str]]) -> SolutionTable:
    """What is asked: rows of values for some of the block's variables."""
    names = [name for name in background_solutions(block, background, Context()).table.columns if str(name) != "?c"]
    texts = [[row[place].encode() for row in rows] for place in range(len(names))]
    columns = {name: background.data.terms.add_texts(text) for name, text in zip(names, texts, strict=True)}
    return SolutionTable(len(rows), columns, None)


def joined(known: ForeignSolutions, asked: SolutionTable) -> Counter[tuple[object, ...]]:
    """Each question with each of its answers."""
    lefts, rights = known.pairs(asked)
    names = sorted(known.table.columns, key=str)
    answers = zip(*(known.table.columns[name][rights].tolist() for name in names), strict=True)
    return Counter(zip(lefts.tolist(), answers if names else [()] * len(lefts), strict=True))


@given(graphs, patterns, conditions, st.lists(st.lists(st.sampled_from(NODES), min_size=3, max_size=3), max_size=4))
def test_the_answers_are_those_of_the_whole_block(
    graph: list[tuple[str, str, str]], pattern: list[tuple[str, str, str]], condition: str, rows: list[list[str]]
) -> None:
    background, block = background_of(graph), block_of(pattern, condition)
    asked = asked_of(background, block, rows)
    found = look_up(block, asked, background, Context())
    if found is not None:
        assert joined(found, asked) == joined(background_solutions(block, background, Context()), asked)


@pytest.mark.parametrize(
    ("pattern", "can_be"),
    [
        ("?a <x:p> ?b", True),
        ("?a <x:p> ?b . ?b <x:q> ?c", True),
        ("?c <x:p> ?a", True),
        ("?c <x:p> <x:n0> . ?c <x:q> ?a", True),
        ("?a ?b ?c", False),
        ("?c <x:p> ?d", False),
        ("?a <x:p> ?b . ?c <x:p> ?d", False),
        ("?a <x:p> ?b OPTIONAL { ?a <x:q> ?c }", False),
    ],
)
def test_what_can_be_looked_up_hangs_together_with_what_is_asked(pattern: str, can_be: bool) -> None:
    background = background_of([("<x:n0>", "<x:p>", "<x:n1>")])
    block = Graph(IRI("x:g"), parse_pattern(f"{{ {pattern} }}"))
    ids = background.data.terms.add_texts([b"<x:n0>"])
    asked = SolutionTable(1, {Variable("a"): ids}, None)
    assert (look_up(block, asked, background, Context()) is not None) == can_be
