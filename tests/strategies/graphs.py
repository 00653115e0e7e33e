"""Graphs, events and background data made of a world's terms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hypothesis import strategies as st

from strategies.terms import EX, World
from thence.rdf.events import Event
from thence.rdf.terms import IRI, Quad, Triple

GRAPHS = (IRI(EX + "g1"), IRI(EX + "g2"))


def triples(world: World) -> st.SearchStrategy[Triple]:
    """All that can be made of the world's terms, one choice a triple: each choice costs time."""
    return st.sampled_from([Triple(*terms) for terms in product(world.nodes, world.predicates, world.objects)])


def graphs(world: World, *, least: int = 0, most: int = 6) -> st.SearchStrategy[list[Triple]]:
    return st.lists(triples(world), min_size=least, max_size=most, unique=True)


@st.composite
def event_lists(draw: st.DrawFn, world: World, *, least: int = 0, most: int = 6) -> list[Event]:
    """One to four events, with times that tell them apart."""
    found = draw(st.lists(graphs(world, least=least, most=most), min_size=1, max_size=4))
    return [Event(time, graph, id=f"{EX}event{time}") for time, graph in enumerate(found)]


@st.composite
def backgrounds(draw: st.DrawFn, world: World, *, unnamed: bool = True) -> list[Quad]:
    """Quads of both of `GRAPHS`, neither empty, and at times some of no graph."""
    quads: list[Quad] = []
    for name in (*GRAPHS, *([None] if unnamed and draw(st.booleans()) else [])):
        quads += [Quad(*triple, name) for triple in draw(graphs(world, least=1, most=5))]
    return quads


def as_nquads(quads: Sequence[Quad]) -> bytes:
    """N-Quads, written without the project's own writer."""
    return b"".join(" ".join(str(term) for term in quad if term is not None).encode() + b" .\n" for quad in quads)
