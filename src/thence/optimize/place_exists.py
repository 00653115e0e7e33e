"""`FILTER EXISTS { … }` → the graph pattern of its GPM: a run has no graph that it could be asked of."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.expressions import Exists, Expression, Variable
from thence.algebra.show import show
from thence.algebra.spaseq import Gpm, SequenceQuery
from thence.algebra.traversal import conjuncts
from thence.algebra.variables import mentioned, parts
from thence.errors import QueryError
from thence.optimize.push_filters import decided_by, push


def place_exists(query: SequenceQuery) -> SequenceQuery:
    """EXISTS looks at its GPM's event alone. Not a rule that is left out at will: it is what EXISTS means. QueryError
    where other events have a say in the same condition."""
    return replace(query, gpms=tuple(_placed(query, gpm) for gpm in query.gpms))


def _placed(query: SequenceQuery, gpm: Gpm) -> Gpm:
    conditions = [c for test in gpm.filters for c in (conjuncts(test) if _asks(test) else [test])]
    decided = decided_by(query, gpm)
    placed = replace(gpm, filters=tuple(condition for condition in conditions if not _asks(condition)))
    for condition in filter(_asks, conditions):
        foreign = mentioned(condition) - decided
        if foreign:
            raise _mixed(gpm, condition, foreign)
        placed = push(placed, condition)
    return placed


def _asks(expression: Expression) -> bool:
    return any(isinstance(part, Exists) for part in parts(expression))


def _mixed(gpm: Gpm, condition: Expression, foreign: frozenset[Variable]) -> QueryError:
    named = ", ".join(sorted(map(str, foreign)))
    return QueryError(
        f"A FILTER of GPM {gpm.name} joins EXISTS, which looks at its own event, with {named}, which another event may"
        f" bind: {show(condition)}.",
        hint="a FILTER of its own for each",
    )
