"""The states and edges of SASE+ (Section 3) on the machine, and their conditions compiled."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.expressions import Expression, Variable
from thence.algebra.sase import Attribute, Component, ComponentQuery, Computed, Key, Strategy
from thence.algebra.show_sase import name_text
from thence.algebra.streams import Name
from thence.algebra.traversal import replaced
from thence.engines.automaton.plan.assembly import AutomatonState, Code, Edge
from thence.engines.automaton.plan.sase_slots import Phase, PhasedConjuncts, Slots, is_stateless
from thence.engines.automaton.program import (
    ANY,
    AT_STOP,
    AT_WINDOWS_END,
    CUT_OFF,
    KEEP,
    NEXT,
    NOWHERE,
    OVER,
    PROCEED,
    START,
    STRICT,
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
        """The bit of what an event must have to be a component's first, or a later one of it."""
        conditions = [each for each in self.asked.of(component, phase) if self._is_alone(each, component, phase)]
        about = [replaced(each, self._of_event_alone) for each in conditions]
        predicates = tuple(
            self._predicate(each, original, component) for each, original in zip(about, conditions, strict=True)
        )
        found = Fit(component.type, tuple(map(as_compared, self.query.tested)), predicates)
        if found not in self.fits:
            if len(self.fits) == _MOST_FITS:
                raise LimitError(
                    f"The components test single events in more than {_MOST_FITS} ways. Try: fewer components, or ANY"
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
"""The strategies by which an event that is not taken ends what waits."""

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
        """How a run waits for the component after a closure once that has stopped."""
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
        """The edges by which an event becomes one of a component. Where a closure has an end condition, there are two:
        the second is for where it holds, and with `!` the first one is for where it does not."""
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
