"""Which component of SASE+ a condition acts at, and what it says of that component's events (2.2.3)."""

from __future__ import annotations

from thence.algebra.expressions import Expression
from thence.algebra.sase import Component, ComponentQuery, Reference
from thence.algebra.variables import mentioned


def acts_at(query: ComponentQuery, condition: Expression) -> Component:
    """The component at which a conjunct acts: the negated one that it names, else the last."""
    named = {query.references[variable].component for variable in mentioned(condition)}
    listed = [component for component in query.components if component.variable in named]
    return next((component for component in listed if component.negated), listed[-1])


def own_references(query: ComponentQuery, condition: Expression, component: Component) -> list[Reference]:
    """What a conjunct says of a component's own events."""
    references = (query.references[variable] for variable in mentioned(condition))
    return [reference for reference in references if reference.component == component.variable]
