"""Graphs, events and background data made of a world's terms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from strategies.choices import Choices
from strategies.terms import EX, World
from thence.rdf.events import Event
from thence.rdf.terms import IRI, Quad, Triple

GRAPHS = (IRI(EX + "g1"), IRI(EX + "g2"))


def all_triples(world: World) -> list[Triple]:
    """All that can be made of the world's terms."""
    return [Triple(*terms) for terms in product(world.nodes, world.predicates, world.objects)]


def some_events(choices: Choices, world: World, *, most: int = 6) -> list[Event]:
    """One to four events of up to so many triples, with times that tell them apart."""
    triples = all_triples(world)
    least = choices.pick((2, 1, 3, 0))
    graphs = [choices.some(triples, least, most) for _ in range(choices.number(1, 4))]
    return [Event(time, graph, id=f"{EX}event{time}") for time, graph in enumerate(graphs)]


def a_background(choices: Choices, world: World) -> list[Quad]:
    """Quads of both of `GRAPHS`, neither empty, and at times some of no graph."""
    triples = all_triples(world)
    names = (*GRAPHS, *choices.pick(((), (None,))))
    return [Quad(*triple, name) for name in names for triple in choices.some(triples, 1, 5)]


def as_nquads(quads: Sequence[Quad]) -> bytes:
    """N-Quads, written without the project's own writer."""
    return b"".join(" ".join(str(term) for term in quad if term is not None).encode() + b" .\n" for quad in quads)
