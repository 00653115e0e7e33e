"""The data that WINDOW and MATCH read at one evaluation of an RSEP-QL query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Pattern
from thence.columns.batches import EventBatch
from thence.columns.dictionary import UNBOUND, Terms
from thence.match.context import Solution
from thence.match.solution_table import SolutionTable
from thence.rdf.dataset import IndexedGraph
from thence.rdf.terms import IRI, Literal
from thence.rdf.times import XSD_INTEGER


def mark(place: int) -> Variable:
    """The variable that links a solution to the MATCH answer that it comes from. No query can write a name with a
    space."""
    return Variable(f"match {place}")


def is_mark(variable: Variable) -> bool:
    return " " in variable.name


@dataclass(frozen=True, slots=True, eq=False)
class StreamData:
    """The merge of each window's graphs, as a batch of one event, and the answers of each MATCH. A column named by a
    mark has the numbers of these answers, not terms. `known` has patterns whose solutions need no evaluation,
    `graphs` the graphs of windows as the reference evaluator reads them, if they are kept."""

    terms: Terms
    windows: Mapping[IRI, EventBatch]
    matches: Sequence[SolutionTable]
    known: Mapping[Pattern, SolutionTable] = field(default_factory=dict)
    graphs: Callable[[IRI], IndexedGraph] | None = None
    _graphs: dict[IRI, IndexedGraph] = field(default_factory=dict)
    _solutions: dict[int, list[Solution]] = field(default_factory=dict)
    _known_solutions: dict[Pattern, list[Solution]] = field(default_factory=dict)

    def graph(self, window: IRI) -> IndexedGraph:
        """A window's graph as the reference evaluator reads it."""
        if self.graphs is not None:
            return self.graphs(window)
        if window not in self._graphs:
            self._graphs[window] = IndexedGraph(self.windows[window].triples(0))
        return self._graphs[window]

    def known_solutions(self, pattern: Pattern) -> list[Solution] | None:
        """The solutions of a pattern that needs no evaluation, as the reference evaluator reads them."""
        if pattern not in self.known:
            return None
        if pattern not in self._known_solutions:
            self._known_solutions[pattern] = plain_solutions(self.known[pattern], self.terms)
        return self._known_solutions[pattern]

    def solutions(self, place: int) -> list[Solution]:
        """The answers of a MATCH as the reference evaluator reads them."""
        if place not in self._solutions:
            self._solutions[place] = plain_solutions(self.matches[place], self.terms)
        return self._solutions[place]


def plain_solutions(table: SolutionTable, terms: Terms) -> list[Solution]:
    """The rows of a table as mappings."""
    found: list[Solution] = [{} for _ in range(len(table))]
    for name, ids in table.columns.items():
        if not isinstance(name, Variable):
            continue
        if is_mark(name):
            for solution, number in zip(found, ids.tolist(), strict=True):
                if number != UNBOUND:
                    solution[name] = Literal(str(number), XSD_INTEGER)
            continue
        for solution, number in zip(found, ids.tolist(), strict=True):
            if number != UNBOUND:
                solution[name] = terms[number]
    return found
