"""The windows and EVENTs without whose events WHERE has no solution, whatever the time is and the graphs are."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.patterns import (
    BasicEvent,
    Bgp,
    Construct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    Select,
    SubSelect,
    TriplePattern,
    Union,
    WindowPattern,
)
from thence.algebra.traversal import nodes
from thence.algebra.variables import has_aggregate
from thence.rdf.terms import IRI

Needed = frozenset[IRI | str]
"""Windows, by IRI, and EVENTs, by name."""

NOTHING: Needed = frozenset()


def needed_of(form: Select | Construct) -> Needed:
    """None if an aggregate makes a row of no solutions."""
    modifiers = form.modifiers
    listed = form.columns or () if isinstance(form, Select) else ()
    expressions = [column.expression for column in listed if column.expression is not None]
    expressions += [*modifiers.having, *(key.expression for key in modifiers.order)]
    if modifiers.group is None and any(map(has_aggregate, expressions)):
        return NOTHING
    return needed(form.where, None)


def needed(pattern: Pattern, window: IRI | None) -> Needed:
    """Those of a pattern that is matched in a window, or outside of all."""
    match pattern:
        case Bgp():
            is_asked = any(isinstance(each, TriplePattern) for each in pattern.triples)  # a path may have no length
            return frozenset({window}) if window is not None and is_asked else NOTHING
        case MatchPattern():
            return frozenset(_event_names(pattern))
        case WindowPattern():
            return needed(pattern.pattern, pattern.name)
        case Join():
            return needed(pattern.left, window) | needed(pattern.right, window)
        case Union():
            return needed(pattern.left, window) & needed(pattern.right, window)
        case LeftJoin() | Minus():
            return needed(pattern.left, window)
        case Filter() | Extend():
            return needed(pattern.pattern, window)
        case SubSelect():
            return needed_of(pattern.select) if window is None else NOTHING
        case _:
            return NOTHING


def _event_names(match: MatchPattern) -> Iterator[str]:
    for node in nodes(match.events):
        if isinstance(node, BasicEvent):
            yield node.name
