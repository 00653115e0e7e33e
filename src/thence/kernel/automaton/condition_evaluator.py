"""Evaluates SASE+ expressions over the events of a run, by component (2.2.3, 2.2.4): conditions that slots can't
decide, negations, HAVING and RETURN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from thence.algebra.expressions import Comparison, Expression, Operation, Variable
from thence.algebra.sase import (
    AggregateName,
    Attribute,
    ClosureAggregate,
    ComponentQuery,
    EventIndex,
    EventRange,
    Length,
    Name,
    Reference,
    is_earlier,
    is_iterated,
)
from thence.algebra.variables import mentioned
from thence.match.arithmetic import compute
from thence.match.context import Context, Solution
from thence.match.expression_errors import ExpressionError
from thence.match.expression_evaluator import compare, passes
from thence.rdf.terms import XSD, Literal, Term
from thence.rdf.values import literal

_ROUNDED = (XSD + "double", XSD + "float")

EventAttributes = Mapping[Name, Term]
"""The attributes of an event; one that it lacks is not in it."""

ChosenEvents = Mapping[str, Sequence[EventAttributes]]
"""The events of each component, by its variable."""


@dataclass(frozen=True, slots=True)
class ConditionEvaluator:
    """Evaluates a query's conditions over chosen events."""

    query: ComponentQuery
    context: Context

    def holds(self, condition: Expression, chosen: ChosenEvents, at: str | None = None) -> bool:
        """Whether a conjunct is true: of `at`, whose last event is the one at i; and for every i of all others."""
        references = {variable: self.query.references[variable] for variable in mentioned(condition)}
        ranges = dict(_ranges(references.values(), chosen, at))
        return all(
            passes(condition, self._solution(references, chosen, dict(zip(ranges, indices, strict=True))), self.context)
            for indices in product(*ranges.values())
        )

    def solution(self, expression: Expression, chosen: ChosenEvents) -> Solution:
        """What an expression without i names, as a solution."""
        references = {variable: self.query.references[variable] for variable in mentioned(expression)}
        return self._solution(references, chosen, {})

    def _solution(
        self, references: Mapping[Variable, Reference], chosen: ChosenEvents, indices: Mapping[str, int]
    ) -> Solution:
        found = {variable: self._value(each, chosen, indices) for variable, each in references.items()}
        return {variable: term for variable, term in found.items() if term is not None}

    def _value(self, reference: Reference, chosen: ChosenEvents, indices: Mapping[str, int]) -> Term | None:
        events = chosen[reference.component]
        match reference:
            case Attribute(index=index, name=name):
                return events[_number(index, indices.get(reference.component, 0))].get(name)
            case Length():
                return literal(len(events))
            case ClosureAggregate(range=range_, name=name):
                some = events[: indices[reference.component]] if range_ is EventRange.BEFORE else events
                if name is None:
                    return literal(len(some))
                return aggregate_values(
                    reference.summary, [event[name] for event in some if name in event], reference.k
                )


def _number(index: EventIndex, i: int) -> int:
    """Which event is meant, counted from 0, i being that of `a[i]`."""
    return {
        EventIndex.ALONE: 0,
        EventIndex.FIRST: 0,
        EventIndex.EACH: i,
        EventIndex.BEFORE: i - 1,
        EventIndex.LAST: -1,
    }[index]


def _ranges(references: Iterable[Reference], chosen: ChosenEvents, at: str | None) -> Iterator[tuple[str, range]]:
    """For each closure of which an i is named, what that may be: from the second event on, where one before it is named
    beside it."""
    listed = list(references)
    for component in dict.fromkeys(each.component for each in listed if is_iterated(each)):
        count = len(chosen[component])
        if component == at:
            yield component, range(count - 1, count)
        else:
            yield component, range(int(any(is_earlier(each) for each in listed if each.component == component)), count)


def aggregate_values(summary: AggregateName, values: Sequence[Term], k: int | None = None) -> Term | None:
    """An aggregate over what is not missing; None where there is none, or values have no order or no sum."""
    match summary:
        case AggregateName.COUNT:
            return literal(len(values))
        case AggregateName.FIRST:
            return values[0] if values else None
        case AggregateName.LAST:
            return values[-1] if values else None
        case AggregateName.SUM | AggregateName.AVG:
            return _total(values, average=summary is AggregateName.AVG)
        case AggregateName.MIN | AggregateName.LOWEST:
            return _ranked(values, Comparison.LESS, k or 1)
        case AggregateName.MAX | AggregateName.HIGHEST:
            return _ranked(values, Comparison.GREATER, k or 1)


def _total(values: Sequence[Term], *, average: bool) -> Term | None:
    try:
        total: Term = literal(0)
        for value in values:
            total = compute(Operation.ADD, total, value)
        if not values:
            return None
        return compute(Operation.QUOTIENT, total, literal(len(values))) if average else total
    except ExpressionError:
        return None


def _ranked(values: Sequence[Term], first: Comparison, k: int) -> Term | None:
    """The k-th, in an order; equal ones count apart."""
    ordered: list[Term] = []
    try:
        for value in values:
            compare(first, value, values[0])  # an error, if they are of two kinds
            if isinstance(value, Literal) and value.datatype in _ROUNDED and value.value == "NaN":
                continue  # neither less nor greater than anything
            place = len(ordered)
            while place and compare(first, value, ordered[place - 1]):
                place -= 1
            ordered.insert(place, value)
            del ordered[k:]
        return ordered[k - 1] if len(ordered) >= k else None
    except ExpressionError:
        return None
