"""Filters that a GPM's own event decides → its graph pattern, where they are tested once for each event."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.expressions import Expression, Variable
from thence.algebra.guarantees import always_bound
from thence.algebra.patterns import Filter, Join, Pattern
from thence.algebra.spaseq import Gpm, SequenceQuery
from thence.algebra.spaseq_analysis import occurrences, variables_of, whole_pattern
from thence.algebra.traversal import nodes
from thence.algebra.variables import in_scope, mentioned


def push_filters(query: SequenceQuery) -> SequenceQuery:
    """Filters are checked on the merged mapping of a run and what joins it. Where the GPM alone says what that has for
    each variable of the filter, the GPM alone is asked. PARTITION BY, which judges GPMs without their filters, must be
    read from the query as it was before.
    """
    return replace(query, gpms=tuple(_pushed(query, gpm) for gpm in query.gpms))


def _pushed(query: SequenceQuery, gpm: Gpm) -> Gpm:
    decided = decided_by(query, gpm)
    for test in gpm.filters:
        if mentioned(test) <= decided:
            gpm = push(gpm, test)
    return gpm


def decided_by(query: SequenceQuery, gpm: Gpm) -> frozenset[Variable]:
    """The variables of which a match of the GPM says alone what a run has for them. What it always binds, the run has
    bound to the same or binds now; what no other place in the sequence binds, is unbound if it is unbound here."""
    return always_bound(whole_pattern(gpm)) | _private(query, gpm)


def push(gpm: Gpm, condition: Expression) -> Gpm:
    """The GPM with a condition, one of its filters or not, in its graph pattern: together with those GRAPH blocks that
    the condition is about."""
    named = {node for node in nodes(condition) if isinstance(node, Variable)}
    asked = named - always_bound(gpm.pattern)
    joined: Pattern = gpm.pattern
    apart = []
    for block in gpm.graphs:
        if asked.isdisjoint(in_scope(block)):
            apart.append(block)
        else:
            joined = Join(joined, block)
    filters = tuple(test for test in gpm.filters if test is not condition)
    return replace(gpm, pattern=Filter(condition, joined), graphs=tuple(apart), filters=filters)


def _private(query: SequenceQuery, gpm: Gpm) -> frozenset[Variable]:
    """The variables that nothing but this GPM binds, and only in one place."""
    places = [found for part in query.sequence for found in occurrences(part.operand)]
    if sum(found.gpm == gpm.name for found in places) != 1:
        return frozenset()
    others = {found.gpm for found in places if found.gpm != gpm.name}
    elsewhere = (variable for name in others for variable in variables_of(query.gpm(name)))
    return frozenset(variables_of(gpm)).difference(elsewhere)
