"""Multisets of solution mappings, and when two of them go together (18.3, 18.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from thence.algebra.expressions import Variable
from thence.match.context import Solution
from thence.rdf.terms import Term


def compatible(left: Solution, right: Solution) -> bool:
    """Whether every variable that both bind has one value (18.3, Compatible Mappings; SPAseQ, Definition 5)."""
    if len(left) > len(right):
        left, right = right, left
    return all(right.get(variable, term) == term for variable, term in left.items())


def merge(left: Solution, right: Solution) -> Solution:
    """merge(μ1, μ2): μ1 set-union μ2 (18.3)."""
    return left | right


def distinct(solutions: Iterable[Solution]) -> Iterator[Solution]:
    """Distinct(Ω): each once, where it was first (18.5)."""
    seen: set[frozenset[tuple[Variable, Term]]] = set()
    for solution in solutions:
        key = frozenset(solution.items())
        if key not in seen:
            seen.add(key)
            yield solution


class Partners:
    """A multiset of solutions in which those compatible with a given one are found by hash.

    The hash is over the variables that all of these bind and the given one binds; solutions with other domains get a
    table of their own. What remains is compared.
    """

    def __init__(self, solutions: Iterable[Solution]) -> None:
        self._solutions = list(solutions)
        self._variables = frozenset(variable for solution in self._solutions for variable in solution)
        domains = (solution.keys() for solution in self._solutions)
        self._certain = tuple(reduce(lambda common, keys: common & keys, domains, self._variables))
        self._tables: dict[tuple[Variable, ...], dict[tuple[Term, ...], list[Solution]]] = {}

    def of(self, solution: Solution) -> Iterator[Solution]:
        """The mappings compatible with `solution`, in their order."""
        names = tuple(variable for variable in self._certain if variable in solution)
        found = self._table(names).get(tuple(solution[variable] for variable in names), ())
        if sum(variable in solution for variable in self._variables) == len(names):
            return iter(found)
        return (partner for partner in found if compatible(solution, partner))

    def _table(self, names: tuple[Variable, ...]) -> dict[tuple[Term, ...], list[Solution]]:
        table = self._tables.get(names)
        if table is None:
            table = self._tables[names] = {}
            for solution in self._solutions:
                table.setdefault(tuple(solution[variable] for variable in names), []).append(solution)
        return table


def minus(left: Iterable[Solution], right: Iterable[Solution]) -> Iterator[Solution]:
    """Minus(Ω1, Ω2): without those that have a compatible partner with which they share a variable (18.5)."""
    partners = Partners(distinct(right))
    for solution in left:
        if not any(not solution.keys().isdisjoint(partner) for partner in partners.of(solution)):
            yield solution
