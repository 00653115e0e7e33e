"""When a condition of SASE+ is tested (2.2.3): at which component, and on which of its events."""

from __future__ import annotations

from enum import Enum

from thence.algebra.expressions import Expression
from thence.algebra.sase import Attribute, Component, ComponentQuery, EventIndex, is_earlier, is_iterated, is_whole
from thence.algebra.sase_conditions import acts_at, own_references
from thence.algebra.variables import mentioned


class Phase(Enum):
    """What a component is asked about."""

    FIRST = "first"  # its first event
    LATER = "later"  # a later one
    WHOLE = "whole"  # all of them, once another is in


class PhasedConjuncts:
    """The conjuncts of a query, by where they act and when."""

    def __init__(self, query: ComponentQuery) -> None:
        self._conditions: dict[tuple[str, Phase], list[Expression]] = {}
        for condition in query.conditions:
            component = acts_at(query, condition)
            for phase in _phases(query, condition, component):
                self._conditions.setdefault((component.variable, phase), []).append(condition)

    def of(self, component: Component, phase: Phase) -> tuple[Expression, ...]:
        """Those that a component is asked in a phase."""
        return tuple(self._conditions.get((component.variable, phase), ()))

    def ends(self, component: Component) -> bool:
        """Whether a closure has an end condition."""
        return (component.variable, Phase.WHOLE) in self._conditions


def _phases(query: ComponentQuery, condition: Expression, component: Component) -> tuple[Phase, ...]:
    own = own_references(query, condition, component)
    if not component.closure:
        return (Phase.FIRST,)
    if any(map(is_whole, own)):
        return (Phase.WHOLE,)
    if any(map(is_iterated, own)):
        return (Phase.LATER,) if any(map(is_earlier, own)) else (Phase.FIRST, Phase.LATER)
    return (Phase.FIRST,)


def is_stateless(query: ComponentQuery, condition: Expression, component: Component, phase: Phase) -> bool:
    """Whether the event in hand alone tells."""
    now = (EventIndex.ALONE, EventIndex.EACH, *((EventIndex.FIRST,) if phase is Phase.FIRST else ()))
    references = [query.references[variable] for variable in mentioned(condition)]
    return phase is not Phase.WHOLE and all(
        isinstance(each, Attribute) and each.component == component.variable and each.index in now
        for each in references
    )
