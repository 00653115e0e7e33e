"""Graph patterns: Definitions 5, 6 and 15 of SPAseQ. A mapping is a partial function, and so a set of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TypeAlias

from oracle.terms import Graph, Term, Triple, TriplePattern, Var

Mapping: TypeAlias = frozenset[tuple[str, Term]]
"""μ, as the pairs of a variable's name and its value."""

Mappings: TypeAlias = frozenset[Mapping]
"""Ω."""

EMPTY: Mapping = frozenset()


def compatible(left: Mapping, right: Mapping) -> bool:
    """They agree on all variables that they share."""
    return all(x != y or v == w for x, v in left for y, w in right)


def join(left: Mappings, right: Mappings) -> Mappings:
    """Ω₁ ⋈ Ω₂ (Definition 5)."""
    return frozenset(a | b for a, b in product(left, right) if compatible(a, b))


def triple_pattern(pattern: TriplePattern, graph: Graph) -> Mappings:
    """⟦t⟧_G = {μ | dom(μ) = vars(t) and μ(t) ∈ G} (Definition 6)."""
    return frozenset(found for triple in graph if (found := _instance(pattern, triple)) is not None)


def _instance(pattern: TriplePattern, triple: Triple) -> Mapping | None:
    """The μ with μ(pattern) = triple."""
    pairs = {(slot.name, term) for slot, term in zip(pattern, triple, strict=True) if isinstance(slot, Var)}
    constants = all(slot == term for slot, term in zip(pattern, triple, strict=True) if not isinstance(slot, Var))
    is_function = len({name for name, _ in pairs}) == len(pairs)
    return frozenset(pairs) if constants and is_function else None


def graph_pattern(patterns: Iterable[TriplePattern], graph: Graph) -> Mappings:
    """⟦P₁ AND P₂ AND …⟧_G (Definition 6)."""
    found: Mappings = frozenset({EMPTY})
    for pattern in patterns:
        found = join(found, triple_pattern(pattern, graph))
    return found


def without(mapping: Mapping, names: frozenset[str]) -> Mapping:
    return frozenset((name, term) for name, term in mapping if name not in names)


def only(mapping: Mapping, names: frozenset[str]) -> Mapping:
    return frozenset((name, term) for name, term in mapping if name in names)
