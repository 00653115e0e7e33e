"""What a current event completes: instances of arms, each once, in order (TEF-21, TEF-71, TEF-73)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from oracle.ep_sparql_expressions import Rank
from oracle.tef_sparql_expressions import rank
from oracle.tef_sparql_names import written_name
from oracle.tef_sparql_patterns import Bindings, FactKey
from oracle.tef_sparql_query import Construct, Pattern
from oracle.terms import Term, Triple


@dataclass(frozen=True)
class Instance:
    """What a current event completes: one per events and mapping (TEF-71). `arm` is what it completes: an arm, or the
    whole pattern. `ends`: what REPLACE matched; `read`: what was read under DURING and WITH."""

    arm: Pattern
    start: int
    turns: tuple[int, ...]
    mapping: Bindings
    places: tuple[int, ...]
    ends: frozenset[FactKey] = frozenset()
    read: frozenset[FactKey] = frozenset()

    def order(self, names: Iterable[str]) -> tuple[object, ...]:
        """By start, then positions, then mapping (TEF-21, TEF-73)."""
        return (self.start, self.turns, mapping_rank(self.mapping, names), self.places)

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.places, self.turns, frozenset(self.mapping.items()))


class Change(NamedTuple):
    """An instance of a statement that makes facts. `is_first`: ONCE PER keeps it (TEF-42)."""

    number: int
    statement: Construct
    instance: Instance
    is_first: bool


def mapping_rank(mapping: Mapping[str, Term], names: Iterable[str]) -> tuple[Rank, ...]:
    """By variable name, each as ORDER BY orders, so that unbound comes first (TEF-73). The names are those of the text;
    `?_`, which nothing can show, comes last."""
    written = {written_name(name): found for name, found in mapping.items()}
    ordered = sorted(set(map(written_name, names)), key=lambda name: (name.startswith("_~"), name))
    return tuple(rank(written.get(name)) for name in ordered)


def triple_rank(triple: Triple) -> tuple[Rank, ...]:
    return tuple(map(rank, triple))


def once_each(found: Iterable[Instance]) -> list[Instance]:
    """Facts are not part of a match: instances that differ in facts alone are one, which read and ends them all."""
    merged: dict[tuple[object, ...], Instance] = {}
    for each in found:
        other = merged.get(each.identity)
        if other is not None:
            each = replace(each, ends=each.ends | other.ends, read=each.read | other.read)
        merged[each.identity] = each
    names = {name for each in merged.values() for name in each.mapping}
    return sorted(merged.values(), key=lambda each: each.order(names))
