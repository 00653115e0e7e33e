"""Compiles the conditions of SASE+: on an event alone, a bit of its row; on an event and a run, a predicate over the
run's slots; and negations."""

from __future__ import annotations

from thence.algebra.expressions import Expression, Variable
from thence.algebra.sase import Attribute, Component, ComponentQuery, Computed, Name
from thence.algebra.show_sase import name_text
from thence.algebra.traversal import replaced
from thence.errors import LimitError
from thence.plan.automaton.predicate_code import Code
from thence.plan.automaton.sase_phases import Phase, PhasedConjuncts, is_stateless
from thence.plan.automaton.sase_slots import Slots
from thence.program.automaton.program import Conjunct, Negation
from thence.program.event_columns import as_compared, attribute, of_event
from thence.program.tables import Fit

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
        """What each predicate is about."""
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
                    f"The pattern asks events in more than {_MOST_FITS} ways alone. Try: fewer components, or ANY"
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
        """A test that does nothing but compare two values, each of the event in hand or of the run as it was; `place`
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
        """What must be absent, of the component at a place."""
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
