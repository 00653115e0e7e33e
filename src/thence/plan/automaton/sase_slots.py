"""The slots of a SASE+ run: values of its events that conditions and RETURN need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thence.algebra.expressions import Arithmetic, Expression, Operation, Variable
from thence.algebra.sase import (
    AggregateName,
    Attribute,
    ClosureAggregate,
    Component,
    ComponentQuery,
    EventIndex,
    EventRange,
    Length,
    Name,
    Reference,
    Return,
)
from thence.algebra.traversal import replaced
from thence.algebra.variables import mentioned
from thence.plan.automaton.sase_phases import Phase, PhasedConjuncts
from thence.program.automaton.nfa import ANEW, COUNT, EARLIEST, GREATEST, KEEP, LATEST, LEAST, RANKS, SUM
from thence.program.event_columns import as_compared, attribute

_MOST_RANKED = 64
"""The most values that `highest` and `lowest` keep in slots: every run has them. For more, the history is asked."""

_CERTAIN = (KEEP, ANEW, COUNT, EARLIEST, LATEST)
"""What is never beyond 64 bits: sums, and what is least or greatest, may be such that only the history tells."""

_SUMMARIES = {
    AggregateName.COUNT: COUNT,
    AggregateName.SUM: SUM,
    AggregateName.MIN: LEAST,
    AggregateName.MAX: GREATEST,
    AggregateName.FIRST: EARLIEST,
    AggregateName.LAST: LATEST,
}


@dataclass(frozen=True, slots=True)
class Slot:
    """Which component's events a slot tells of, of which attribute (None: the events themselves), and what each event
    does to it. `once`: only the first."""

    component: str
    name: Name | None
    how: int
    once: bool = False


class Slots:
    """The slots of a run: those that all events of a match are alike in, and what conditions and RETURN need besides.
    None is for what nothing binds alone. `shown` are those that are the columns of RETURN, if one tells each."""

    def __init__(self, query: ComponentQuery, asked: PhasedConjuncts) -> None:
        self.query = query
        self.kept: dict[Variable, Slot | None] = {as_compared(key): None for key in query.tested}
        self._written = list(
            self._conditions(asked)
        )  # so that all slots are known before the first predicate is compiled
        self.shown = self._shown()

    def __len__(self) -> int:
        return len(self.kept)

    def tell_all(self) -> bool:
        """Whether they tell all that conditions ask, whatever the values are, so that none looks back."""
        references = self.query.references.keys()
        certain = all(slot is None or slot.how in _CERTAIN for slot in self.kept.values())
        return certain and all(references.isdisjoint(mentioned(condition)) for condition in self._written)

    def of(self, component: Component) -> list[tuple[Variable, Slot]]:
        """Those that a component's events change."""
        return [
            (variable, slot)
            for variable, slot in self.kept.items()
            if slot is not None and slot.component == component.variable
        ]

    def renamed(self, condition: Expression, component: Component, phase: Phase) -> Expression:
        """A conjunct over slots: those of the run, and those of the event in hand. What no slot tells stays."""
        return replaced(condition, lambda part: self._place(part, component, phase))

    def _conditions(self, asked: PhasedConjuncts) -> Iterator[Expression]:
        for component in self.query.positive:
            for phase in Phase:
                for condition in asked.of(component, phase):
                    yield self.renamed(condition, component, phase)

    def _shown(self) -> tuple[Variable, ...] | None:
        form = self.query.form
        if not isinstance(form, Return) or self.query.having is not None:
            return None
        given = [item.given for item in form.items]
        nobody = Component(None, "")
        if not all(isinstance(each, Variable) and _is_told(self.query.references[each]) for each in given):
            return None
        found = [self._place(each, nobody, Phase.WHOLE) for each in given if isinstance(each, Variable)]
        return tuple(each for each in found if isinstance(each, Variable))

    def _place(self, part: Expression, component: Component, phase: Phase) -> Expression | None:
        """Where that stands which a variable means; None, if it means nothing of its own."""
        reference = self.query.references.get(part) if isinstance(part, Variable) else None
        if reference is None:
            return None
        own = reference.component == component.variable
        match reference:
            case Attribute(index=index, name=name):
                if own and _is_in_hand(index, phase):
                    return attribute(name)
                if not own and index in (EventIndex.EACH, EventIndex.BEFORE):
                    return part  # for every i: the history tells
                once = index in (EventIndex.ALONE, EventIndex.FIRST)
                what = "[1]" if once else "[LEN]"
                return self._slot(what, name, KEEP if once else ANEW, reference, once)
            case Length():
                return self._slot("LEN", None, COUNT, reference)
            case ClosureAggregate(range=range_) if not own and range_ is EventRange.BEFORE:
                return part
            case ClosureAggregate(summary=AggregateName.AVG, name=name):
                total = self._slot("sum", name, SUM, reference)
                return Arithmetic(Operation.QUOTIENT, total, self._slot("count", name, COUNT, reference))
            case ClosureAggregate(summary=AggregateName.HIGHEST | AggregateName.LOWEST, k=k) if k is not None:
                return self._ranked(reference, k) if k <= _MOST_RANKED else part
            case ClosureAggregate(summary=summary, name=name):
                return self._slot(summary.value, name, _SUMMARIES[summary], reference)

    def _ranked(self, reference: ClosureAggregate, k: int) -> Variable:
        """The last of so many slots, one behind the other. What binds the first of them binds all."""
        what, how = ("max", GREATEST) if reference.summary is AggregateName.HIGHEST else ("min", LEAST)
        if k == 1:
            return self._slot(what, reference.name, how, reference)
        self._slot(f"{what} 1 of {k}", reference.name, how | (k - 1) << RANKS, reference)
        found = [_called(f"{what} {number} of {k}", reference.name, reference) for number in range(1, k + 1)]
        for each in found:
            self.kept.setdefault(each, None)
        return found[-1]

    def _slot(self, what: str, name: Name | None, how: int, reference: Reference, once: bool = False) -> Variable:
        variable = _called(what, name, reference)
        self.kept.setdefault(variable, Slot(reference.component, name, how, once))
        return variable


@dataclass(frozen=True, slots=True)
class SlotVariable(Variable):
    """A run's slot: `name` says what of the component's events it holds, of which attribute (None: of the events)."""

    component: str
    attribute: Name | None


def _called(what: str, name: Name | None, reference: Reference) -> SlotVariable:
    return SlotVariable(what, reference.component, name)


def _is_in_hand(index: EventIndex, phase: Phase) -> bool:
    """Whether an event of the component in question is the one that is asked."""
    if phase is Phase.WHOLE:
        return False
    return index in (EventIndex.ALONE, EventIndex.EACH) or (index is EventIndex.FIRST and phase is Phase.FIRST)


def _is_told(reference: Reference) -> bool:
    """Whether one slot tells what a reference is, of a whole match."""
    match reference:
        case Attribute(index=index):
            return index not in (EventIndex.EACH, EventIndex.BEFORE)
        case Length():
            return True
        case ClosureAggregate(summary=summary, k=k):
            return summary is not AggregateName.AVG and (k is None or k <= _MOST_RANKED)
