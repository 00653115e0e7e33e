"""SPAseQ cases: a query, events and background data. `text` writes a query down, `turtle` a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import event as note
from hypothesis import strategies as st

from oracle.spaseq import Background, Match, World
from oracle.spaseq_query import Aggregate, Event, Group, Query, Unary, Use, arms
from oracle.spaseq_text import text, turtle
from strategies.spaseq_queries import Options, chance, queries
from strategies.spaseq_streams import backgrounds, streams

__all__ = ["Case", "Options", "backgrounds", "cases", "features", "queries", "streams", "tell", "text", "turtle"]

_MOST_FITS = 20
"""How many matches of a single part a case may have: they multiply along the sequence."""


@dataclass(frozen=True)
class Case:
    """A query and what it is asked of."""

    query: Query
    events: tuple[Event, ...]
    background: Background


@st.composite
def cases(draw: st.DrawFn, options: Options = Options()) -> Case:  # noqa: B008  (frozen)
    if chance(draw, 25):
        options = replace(options, blank_nodes=True)
    if chance(draw, 20):
        options = replace(options, doubles=True)
    query = draw(queries(options))
    case = Case(query, draw(streams(query, options)), draw(backgrounds(query, options)))
    assume(all(len(fits) <= _MOST_FITS for fits in World(query, case.events, case.background).fits))
    return case


def tell(query: Query, matches: frozenset[Match]) -> None:
    """Show in Hypothesis' statistics whether there were matches, and for which operators."""
    note(f"matches: {'none' if not matches else 'one' if len(matches) == 1 else 'several'}")
    for feature in sorted(features(query)) if matches else ():
        note(f"with matches: {feature}")


def features(query: Query) -> set[str]:
    """The operators and clauses that a query uses."""
    groups = {type(group).__name__ for part in query.parts for group in _groups(part.group)}
    found = {part.unary.value for part in query.parts if part.unary is not Unary.ONCE}
    found |= {selection.value for selection in query.selections}
    found |= {"&"} if "Conjunction" in groups else set()
    found |= {"|"} if "Disjunction" in groups else set()
    found |= {"FILTER"} if any(gpm.filters for gpm in query.gpms) else set()
    found |= {"GRAPH"} if any(gpm.graphs for gpm in query.gpms) else set()
    found |= {"PARTITION BY"} if query.partition else set()
    found |= {"no window" if query.within is None else "TUMBLING" if query.within.tumbling else "WITHIN"}
    found |= {"! at the end"} if any(arm[-1].negated for arm in arms(query)) else set()
    found |= {"aggregate"} if any(isinstance(c.expression, Aggregate) for c in query.select or ()) else set()
    return found


def _groups(group: Group) -> list[Group]:
    return [group] if isinstance(group, Use) else [group, *_groups(group.left), *_groups(group.right)]
