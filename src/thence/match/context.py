"""What an expression may ask for beyond the solution in hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Pattern
from thence.rdf.dataset import Dataset, Graph
from thence.rdf.terms import BlankNode, Literal, Term

Solution: TypeAlias = dict[Variable, Term]
"""A solution mapping μ (18.1.8): variables that are unbound are not in it."""

ExistsCheck: TypeAlias = Callable[[Pattern, Solution, "Context"], bool]


@dataclass(frozen=True, slots=True)
class Context:
    """The time (nothing here asks the clock), the base IRI, randomness, and the data that EXISTS is asked of."""

    now: Literal | None = None  # an xsd:dateTime
    base: str | None = None
    random: Random = field(default_factory=Random, compare=False)  # Random(seed) makes RAND, UUID and BNODE repeatable
    dataset: Dataset = field(default_factory=Dataset, compare=False)
    graph: Graph = field(default_factory=Graph, compare=False)  # the active graph (13)
    outer: Solution = field(default_factory=dict)  # what EXISTS has put in for variables (18.6, substitute)
    labels: dict[str, BlankNode] = field(default_factory=dict)  # BNODE("label"), for one solution
    exists: ExistsCheck | None = None

    def fresh(self) -> BlankNode:
        """A blank node that no graph has."""
        return BlankNode(f"fresh{self.random.getrandbits(96):024x}")
