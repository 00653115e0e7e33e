"""Algebra → algebra: one rule, one file. A rule changes how a query is answered, and none of its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from thence.algebra.spaseq import SequenceQuery
from thence.optimize.early_filters import early_filters
from thence.optimize.late_graph import late_graph
from thence.optimize.place_exists import place_exists
from thence.optimize.push_filters import push_filters
from thence.optimize.split_filters import split_filters

Rule: TypeAlias = Callable[[SequenceQuery], SequenceQuery]

RULES: tuple[Rule, ...] = (
    split_filters,  # first: of two conditions that && joins, one may be decided long before the other
    early_filters,  # before filters are pushed: what one GPM can decide, an earlier one that shares its variables can
    push_filters,  # before GRAPH blocks are moved: a filter over a block's variables keeps the block where it is
    late_graph,
)
"""In this order."""


NOT_OF_PARTS = frozenset({early_filters, late_graph})
"""Rules that keep all answers, and not which partial matches there are."""


def rewritten(query: SequenceQuery, *, optimise: bool = True, partial: bool = False) -> SequenceQuery:
    """The query as the planner takes it. Without `optimise` it has only been made such that it can be planned; where
    partial matches are asked for too (`partial`), no rule may change them."""
    query = place_exists(query)
    for rule in RULES if optimise else ():
        if not (partial and rule in NOT_OF_PARTS):
            query = rule(query)
    return query
