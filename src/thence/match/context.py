"""The context of an expression (time, base IRI, randomness, the data of EXISTS), and errors in expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Pattern
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.terms import BlankNode, Literal, Term
from thence.rdf.values import MAX_TEXT

if TYPE_CHECKING:
    from thence.match.stream_data import StreamData


# Errors in expressions, which SPARQL gives a meaning: FILTER is false, BIND binds nothing.


class ExpressionError(Exception):
    """SPARQL's "error": a type error, an unbound variable, a division by zero. No user ever sees it raised."""


def check_length(length: int) -> None:
    """ExpressionError if a text that is about to be built would be too long."""
    if length > MAX_TEXT:
        raise ExpressionError(f"the text would have more than {MAX_TEXT:,} characters")


Solution: TypeAlias = dict[Variable, Term]
"""A solution mapping μ (18.1.8): variables that are unbound are not in it."""


class SolutionLabels:
    """The blank nodes that BNODE("label") makes in one solution: `with labels:` a new one is looked at."""

    __slots__ = ("_known", "_outside")

    def __init__(self) -> None:
        self._known: dict[str, BlankNode] = {}
        self._outside: list[dict[str, BlankNode]] = []  # solutions that wait for an EXISTS inside them

    def __enter__(self) -> None:
        self._outside.append(self._known)
        self._known = {}

    def __exit__(self, *_: object) -> None:
        self._known = self._outside.pop()

    def node(self, label: str, fresh: Callable[[], BlankNode]) -> BlankNode:
        """The node of a label; outside of any solution each call gives a new node."""
        if label in self._known:
            return self._known[label]
        made = fresh()
        if self._outside:
            self._known[label] = made
        return made


ExistsCheck: TypeAlias = Callable[[Pattern, Solution, "Context"], bool]


@dataclass(frozen=True, slots=True)
class Context:
    """The time (nothing here asks the clock), the base IRI, randomness, and the data that EXISTS is asked of."""

    now: Literal | None = None  # an xsd:dateTime
    base: str | None = None
    random: Random = field(default_factory=Random, compare=False)  # Random(seed) makes RAND, UUID and BNODE repeatable
    dataset: Dataset = field(default_factory=Dataset, compare=False)
    graph: IndexedGraph = field(default_factory=IndexedGraph, compare=False)  # the active graph (13)
    outer: Solution = field(default_factory=dict)  # what EXISTS has put in for variables (18.6, substitute)
    streams: StreamData | None = field(default=None, compare=False)  # what WINDOW and MATCH read
    labels: SolutionLabels = field(default_factory=SolutionLabels, compare=False)
    exists: ExistsCheck | None = None

    def fresh(self) -> BlankNode:
        """A blank node that no graph has."""
        return BlankNode(f"fresh{self.random.getrandbits(96):024x}")
