"""When a condition of SASE+ is tested (2.2.3), and the slots of a run: values of its events that conditions and RETURN
need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from thence.algebra.expressions import Expression, Variable
from thence.algebra.sase import (
    AggregateName,
    Attribute,
    ClosureAggregate,
    Component,
    ComponentQuery,
    EventIndex,
    EventRange,
    Length,
    Reference,
    Return,
    acts_at,
    is_earlier,
    is_iterated,
    is_whole,
    own_references,
)
from thence.algebra.streams import Name
from thence.algebra.traversal import replaced
from thence.algebra.variables import mentioned
from thence.engines.automaton.program import (
    ANEW,
    AVERAGE,
    COUNT,
    EARLIEST,
    GREATEST,
    KEEP,
    LATEST,
    LEAST,
    RANKS,
    SUM,
    as_compared,
)
from thence.interface.tables import attribute

# When a condition of SASE+ is tested (2.2.3): at which component, and on which of its events.


class Phase(Enum):
    """The moment at which a component is tested."""

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
    """Whether the current event alone tells."""
    now = (EventIndex.ALONE, EventIndex.EACH, *((EventIndex.FIRST,) if phase is Phase.FIRST else ()))
    references = [query.references[variable] for variable in mentioned(condition)]
    return phase is not Phase.WHOLE and all(
        isinstance(each, Attribute) and each.component == component.variable and each.index in now
        for each in references
    )


_MOST_RANKED = 64
"""The most values that `highest` and `lowest` keep in slots: every run has them. For more, the history is asked."""

_CERTAIN = (KEEP, ANEW, COUNT, EARLIEST, LATEST)
"""What is never beyond 64 bits: sums, and what is least or greatest, may be such that only the history tells."""

_SUMMARIES = {
    AggregateName.COUNT: COUNT,
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
        """Whether the slots suffice for all conditions, whatever the values are, so that no history is read."""
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
        """A conjunct over slots: those of the run, and those of the current event. What no slot tells stays."""
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
        if not all(isinstance(each, Variable) and _is_exact(self.query.references[each]) for each in given):
            return None
        found = [self._place(each, nobody, Phase.WHOLE) for each in given if isinstance(each, Variable)]
        return tuple(each for each in found if isinstance(each, Variable))

    def _place(self, part: Expression, component: Component, phase: Phase) -> Expression | None:
        """The place of a variable's value; None if it has no place of its own."""
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
            case ClosureAggregate(summary=AggregateName.SUM):
                return self._slots(["sum", "rest of sum"], SUM, reference)[0]
            case ClosureAggregate(summary=AggregateName.AVG):
                return self._slots(["avg", "sum of avg", "rest of avg", "count of avg"], AVERAGE, reference)[0]
            case ClosureAggregate(summary=AggregateName.HIGHEST | AggregateName.LOWEST, k=k) if k is not None:
                return self._ranked(reference, k) if k <= _MOST_RANKED else part
            case ClosureAggregate(summary=summary, name=name):
                return self._slot(summary.value, name, _SUMMARIES[summary], reference)

    def _ranked(self, reference: ClosureAggregate, k: int) -> Variable:
        """The last of so many slots."""
        what, how = ("max", GREATEST) if reference.summary is AggregateName.HIGHEST else ("min", LEAST)
        if k == 1:
            return self._slot(what, reference.name, how, reference)
        whats = [f"{what} {number} of {k}" for number in range(1, k + 1)]
        return self._slots(whats, how | (k - 1) << RANKS, reference)[-1]

    def _slots(self, whats: Sequence[str], how: int, reference: ClosureAggregate) -> list[Variable]:
        """Slots one behind the other. What an event does to the first of them, it does to all."""
        self._slot(whats[0], reference.name, how, reference)
        found: list[Variable] = [_called(what, reference.name, reference) for what in whats]
        for each in found:
            self.kept.setdefault(each, None)
        return found

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


def _is_exact(reference: Reference) -> bool:
    """Whether one slot tells what a reference is, of a whole match."""
    match reference:
        case Attribute(index=index):
            return index not in (EventIndex.EACH, EventIndex.BEFORE)
        case Length():
            return True
        case ClosureAggregate(k=k):
            return k is None or k <= _MOST_RANKED
