"""The states and edges of SASE+ (Section 3) on the machine, and their conditions compiled; the slots of a run: values
of its events that conditions and RETURN need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from thence.algebra.expressions import Expression, Variable
from thence.algebra.sase import (
    AggregateName,
    Attribute,
    ClosureAggregate,
    Component,
    ComponentQuery,
    Computed,
    EventIndex,
    EventRange,
    Key,
    Length,
    Reference,
    Return,
    Strategy,
    acts_at,
    is_earlier,
    is_iterated,
    is_whole,
    own_references,
)
from thence.algebra.show_sase import name_text
from thence.algebra.streams import Name
from thence.algebra.traversal import replaced
from thence.algebra.variables import mentioned
from thence.engines.automaton.plan.assembly import AutomatonState, Code, Edge
from thence.engines.automaton.program import (
    ANEW,
    ANY,
    AT_STOP,
    AT_WINDOWS_END,
    AVERAGE,
    COUNT,
    CUT_OFF,
    EARLIEST,
    GREATEST,
    KEEP,
    LATEST,
    LEAST,
    NEXT,
    NOWHERE,
    OVER,
    PROCEED,
    RANKS,
    START,
    STRICT,
    SUM,
    TAKE,
    WAITS_ANY,
    WAITS_APART,
    WAITS_NEXT,
    Conjunct,
    Negation,
    as_compared,
)
from thence.errors import LimitError
from thence.interface.tables import Fit, attribute, of_event

# When a condition of SASE+ is tested (2.2.3), and the slots of a run.


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
        """The conditions on a component in a phase."""
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
    """Whether the current event alone decides it."""
    now = (EventIndex.ALONE, EventIndex.EACH, *((EventIndex.FIRST,) if phase is Phase.FIRST else ()))
    references = [query.references[variable] for variable in mentioned(condition)]
    return phase is not Phase.WHOLE and all(
        isinstance(each, Attribute) and each.component == component.variable and each.index in now
        for each in references
    )


_MOST_RANKED = 64
"""The most values that `highest` and `lowest` keep in slots: every run has them. For more, the history is asked."""

_CERTAIN = (KEEP, ANEW, COUNT, EARLIEST, LATEST)
"""Aggregates that always fit into 64 bits. For sums and extremes, the history may be needed."""

_SUMMARIES = {
    AggregateName.COUNT: COUNT,
    AggregateName.MIN: LEAST,
    AggregateName.MAX: GREATEST,
    AggregateName.FIRST: EARLIEST,
    AggregateName.LAST: LATEST,
}


@dataclass(frozen=True, slots=True)
class Slot:
    """The component whose events a slot is about, the attribute (None: the events themselves), and what each event
    does to it. `once`: only the first."""

    component: str
    name: Name | None
    how: int
    once: bool = False


class Slots:
    """The slots of a run: those that all events of a match are alike in, and what conditions and RETURN need besides.
    None is for what nothing binds alone. `shown` are those of the columns of RETURN, if each has one."""

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
        """The slots that a component's events change."""
        return [
            (variable, slot)
            for variable, slot in self.kept.items()
            if slot is not None and slot.component == component.variable
        ]

    def renamed(self, condition: Expression, component: Component, phase: Phase) -> Expression:
        """A conjunct over slots: those of the run, and those of the current event. Values that no slot holds stay."""
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
                    return part  # for every i: read from the history
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
        """Adjacent slots. An event changes all of them in the same way."""
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
    """Whether one slot holds the value of a reference, of a whole match."""
    match reference:
        case Attribute(index=index):
            return index not in (EventIndex.EACH, EventIndex.BEFORE)
        case Length():
            return True
        case ClosureAggregate(k=k):
            return k is None or k <= _MOST_RANKED


# Compiles the conditions of SASE+: on an event alone, a bit of its row; on an event and a run, a predicate over the
# run's slots; and negations.

_MOST_FITS = 62
"""Bits of a row."""


class Conditions:
    """Predicates as they are compiled, and `fits`: what events are asked alone, bit by bit."""

    def __init__(self, query: ComponentQuery, asked: PhasedConjuncts, slots: Slots, names: tuple[Name, ...]) -> None:
        self.query = query
        self.asked = asked
        self.slots = slots
        self.names = names
        self.fits: list[Fit] = []
        self._conjuncts: dict[int, Conjunct] = {}
        places: dict[Variable, int] = {variable: number for number, variable in enumerate(slots.kept)}
        for number, name in enumerate(names):
            places[attribute(name)] = len(slots) + number  # of the event beside the run
            places[of_event(name)] = number
        self.code = Code(places)

    @property
    def conjuncts(self) -> tuple[Conjunct | None, ...]:
        """The conjunct that each predicate stands for."""
        return tuple(self._conjuncts.get(number) for number in range(len(self.code.predicates)))

    def fit(self, component: Component, phase: Phase) -> int:
        """The bit for the conditions on a component's first event, or on a later one, that concern the event alone."""
        conditions = [each for each in self.asked.of(component, phase) if self._is_alone(each, component, phase)]
        about = [replaced(each, self._of_event_alone) for each in conditions]
        predicates = tuple(
            self._predicate(each, original, component) for each, original in zip(about, conditions, strict=True)
        )
        found = Fit(component.type, tuple(map(as_compared, self.query.tested)), predicates)
        if found not in self.fits:
            if len(self.fits) == _MOST_FITS:
                raise LimitError(
                    f"The components have more than {_MOST_FITS} different sets of conditions on single events. "
                    "Try: fewer components, or ANY"
                )
            self.fits.append(found)
        return self.fits.index(found)

    def computed(self, key: Computed) -> int:
        """The number of what computes a key: it is asked of each event alone, as a predicate is."""
        own: dict[Expression, Expression] = {Variable(name_text(name)): of_event(name) for name in key.names}
        return self.code.compile_predicate(replaced(key.expression, own.get))

    def tests(self, component: Component, phase: Phase) -> list[int]:
        """The predicates that need the run."""
        return [
            self._predicate(self.slots.renamed(condition, component, phase), condition, component)
            for condition in self.asked.of(component, phase)
            if not self._is_alone(condition, component, phase)
        ]

    def quick(self, test: int, place: dict[Variable, int]) -> tuple[int, int, int, int, int] | None:
        """A test that does nothing but compare two values, each of the current event or of the run as it was; `place`
        is that of each column."""
        compared = self.code.comparison(test)
        if compared is None:
            return None
        comparison, *variables = compared
        (left, left_column), (right, right_column) = (
            (self.code.slots[variable], place.get(variable, -1) if variable not in self.slots.kept else -1)
            for variable in variables
        )
        return comparison, left, left_column, right, right_column

    def negation(self, place: int) -> Negation:
        """The negated component at a place, with its neighbours and tests."""
        component = self.query.components[place]
        before = sum(not each.negated for each in self.query.components[:place]) - 1
        return Negation(
            component,
            before,
            before + 1 if before + 1 < len(self.query.positive) else -1,
            self.fit(component, Phase.FIRST),
            self.fit(component, Phase.LATER) if component.closure else -1,
            *(self.asked.of(component, phase) for phase in Phase),
        )

    def _is_alone(self, condition: Expression, component: Component, phase: Phase) -> bool:
        return is_stateless(self.query, condition, component, phase)

    def _of_event_alone(self, part: Expression) -> Expression | None:
        reference = self.query.references.get(part) if isinstance(part, Variable) else None
        return of_event(reference.name) if isinstance(reference, Attribute) else None

    def _predicate(self, condition: Expression, original: Expression, component: Component) -> int:
        conjunct = Conjunct(original, component.variable)
        number = self.code.compile_predicate(condition, conjunct)
        self._conjuncts[number] = conjunct
        return number


# The states and edges of SASE+ (Section 3) on the compiled machine.
#
# A run waits for a component, or is in a closure that goes on. A *take* edge stays in the closure; without an end
# condition, another edge begins the component after it from there, which is the paper's *proceed*. What an event is
# asked alone is a bit of its row (`fits`); what is asked of it together with the run's events is a test of the edge,
# over slots that the run keeps up to date; and what is asked of a whole closure (an end condition) is tested once the
# event is in.

CONTIGUOUS = (Strategy.STRICT, Strategy.PARTITION)
"""The strategies by which an event that is not taken ends a waiting run."""

_SELECTIONS = {Strategy.STRICT: STRICT, Strategy.PARTITION: STRICT, Strategy.NEXT: NEXT, Strategy.ANY: ANY}


class EdgeBuilder:
    """States and edges, as they are drawn; those of one feed, whose rows have these `columns`. `kept` are the columns
    that the history keeps of each event, `merges` is whether runs that are alike become one."""

    def __init__(
        self,
        query: ComponentQuery,
        conditions: Conditions,
        columns: tuple[Variable, ...],
        kept: tuple[Variable, ...],
        *,
        optimise: bool,
        merges: bool,
    ) -> None:
        self.query = query
        self.conditions = conditions
        self.optimise = optimise
        self.merges = merges
        self.states: list[AutomatonState] = []
        self.edges: list[Edge] = []
        self._positive = query.positive
        self._columns = {variable: number for number, variable in enumerate(columns)}
        self._kept = [columns.index(variable) for variable in kept]
        self._draw()

    def _draw(self) -> None:
        """Each component after the one before it: of the edges of a feed the last is tried first, so that what begins
        the next component is known before an event is taken."""
        waiting = [START] + [NOWHERE] * len(self._positive[1:])
        inside = [NOWHERE] * len(self._positive)
        for number, component in enumerate(self._positive):
            if component.closure:
                inside[number] = self._closure_state(number)
            if number and not self._proceeds(number - 1):
                waiting[number] = self._waiting_state(component)
        for number, component in enumerate(self._positive):
            after = waiting[number + 1] if number + 1 < len(self._positive) else None
            if number and self._proceeds(number - 1):
                role = CUT_OFF if self._positive[number - 1].cut else PROCEED
                shape = Edge(-1, inside[number - 1], role=role, then=self._then(number - 1))
            else:
                shape = Edge(-1, waiting[number])
            self._lead(number, shape, Phase.FIRST, inside[number], after)
            if component.closure:
                shape = Edge(-1, inside[number], role=TAKE, then=self._then(number), stops=self._stops(number))
                shape.cut = component.cut and self._proceeds(number)
                self._lead(number, shape, Phase.LATER, inside[number], after)

    # Closures

    def _absorbs(self, number: int) -> bool:
        """Whether a closure that takes an event is as it was: it ignores any, and nothing looks back at it."""
        component = self._positive[number]
        changing = any(not slot.once for _, slot in self.conditions.slots.of(component))
        cut = component.cut and self._proceeds(number)
        return component.strategy is Strategy.ANY and not changing and not cut and not self._has_end(component)

    def _proceeds(self, number: int) -> bool:
        """Whether it is a closure without end condition, which something follows."""
        component = self._positive[number]
        return component.closure and number + 1 < len(self._positive) and not self._has_end(component)

    def _has_end(self, component: Component) -> bool:
        return self.conditions.asked.ends(component)

    def _is_last(self, number: int) -> bool:
        """Whether it is a closure that is a match when it stops."""
        component = self._positive[number]
        return component.closure and number + 1 == len(self._positive) and not self._has_end(component)

    def _then(self, number: int) -> int:
        """The state of a run that waits for the component after a closure which has stopped."""
        if not self._proceeds(number):
            return OVER
        here, after = self._positive[number].strategy, self._positive[number + 1].strategy
        match after:
            case Strategy.ANY:
                return WAITS_ANY
            case Strategy.NEXT:
                return WAITS_NEXT if here in CONTIGUOUS else OVER
            case Strategy.PARTITION:
                return WAITS_APART if here is Strategy.STRICT else OVER
            case Strategy.STRICT:
                return OVER

    def _stops(self, number: int) -> bool:
        """Whether it matters that an event stops a closure."""
        contiguous = self._positive[number].strategy in CONTIGUOUS
        return contiguous and (self._is_last(number) or self._then(number) != OVER)

    # States

    def _waiting_state(self, component: Component) -> int:
        if self.optimise:
            return self._state(component, self.query.tested)
        return self._state(component, self.query.parted if component.strategy is Strategy.PARTITION else ())

    def _closure_state(self, number: int) -> int:
        component = self._positive[number]
        by = self.query.tested if self.optimise else ()
        if component.strategy is Strategy.PARTITION:
            by = self.query.parted  # an event that differs in something else stops it
        elif component.strategy is Strategy.STRICT and self._stops(number):
            by = ()  # every event does
        state = self._state(component, by)
        if self._is_last(number):
            waits = self.query.components[-1].negated
            self.states[state].accepts = AT_WINDOWS_END if waits else AT_STOP
        return state

    def _state(self, component: Component, by: tuple[Key, ...]) -> int:
        key = [self.conditions.code.slots[as_compared(each)] for each in by]
        previous = len(contiguities(self.query)) - 1 if component.strategy is Strategy.PARTITION else 0
        self.states.append(AutomatonState(_SELECTIONS[component.strategy], key, previous))
        return len(self.states) - 1

    # Edges

    def _lead(self, number: int, shape: Edge, phase: Phase, inside: int, after: int | None) -> None:
        """Adds the edges that take an event into a component. A closure with an end condition has two: the second
        applies if the condition holds, the first if the closure continues (with `!`, only if it does not hold)."""
        component = self._positive[number]
        self._bind(shape, component, phase)
        shape.places = [number]
        shape.iterated = self._kept
        onward = replace(shape, target=NOWHERE if after is None else after, accept=after is None)
        if not component.closure:
            through = onward
        elif not self._has_end(component):
            through = replace(shape, loop=inside, absorbs=self.merges and self._absorbs(number))
        else:
            self.edges.append(replace(shape, loop=inside, cut=shape.cut or component.cut))
            ends = self.conditions.tests(component, Phase.WHOLE)
            through = replace(onward, prunes=ends, cuts=component.cut, stops=False)
        if through.accept and self.query.components[-1].negated:
            through.ends = [0]
        self.edges.append(through)

    def _bind(self, edge: Edge, component: Component, phase: Phase) -> None:
        place, slots = self._columns, self.conditions.code.slots
        compared = [(slots[as_compared(key)], place[as_compared(key)]) for key in self.query.tested]
        if edge.state == START:
            edge.bind = [(slot, column, KEEP) for slot, column in compared]
        else:
            edge.equal = compared
            key = self.states[edge.state].key
            edge.key = [column for slot, column in compared if slot in key]
        for variable, slot in self.conditions.slots.of(component):
            if phase is Phase.FIRST or not slot.once:
                column = -1 if slot.name is None else place[attribute(slot.name)]
                edge.bind.append((slots[variable], column, slot.how))
        names = self.conditions.names
        edge.late = [(slots[attribute(name)], place[attribute(name)]) for name in names]
        edge.tests = self.conditions.tests(component, phase)
        if self.optimise:
            found = (self.conditions.quick(test, place) for test in edge.tests)
            edge.quick = [quick for quick in found if quick is not None]
        edge.fits = self.conditions.fit(component, phase)


def contiguities(query: ComponentQuery) -> tuple[tuple[Variable, ...], ...]:
    """The basis of each of a row's previous times: all events, or the events of its partition."""
    used = {component.strategy for component in query.positive}
    of_parts = tuple(map(as_compared, query.parted))
    found = [()] * (Strategy.STRICT in used) + [of_parts] * (Strategy.PARTITION in used)
    return tuple(found) or ((),)
