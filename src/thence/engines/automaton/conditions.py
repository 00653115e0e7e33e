"""Conditions of SASE+ that the machine cannot decide: evaluated on a run's history, negations on finished matches
(2.2.3, 2.2.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.sase import (
    Attribute,
    ClosureAggregate,
    ComponentQuery,
    EventIndex,
    EventRange,
    Length,
    Reference,
    Strategy,
    is_earlier,
    is_iterated,
)
from thence.algebra.streams import Name
from thence.algebra.variables import mentioned
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.value_columns import term_of
from thence.engines.automaton.memory import AT_NODES, AT_RUNS, ITERATED, NODE, PARENT, PLACE, ROW, RUN, region
from thence.engines.automaton.program import Components, Conjunct, Negation, SequenceProgram
from thence.errors import LimitError
from thence.extraction.predicates import FALSE, TRUE
from thence.interface.tables import attribute
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import passes
from thence.rdf.terms import Term
from thence.rdf.values import literal
from thence.relation.accumulators import sase_accumulator

if TYPE_CHECKING:
    from thence.engines.automaton.step import Matches, SequenceState
    from thence.interface.extracted import BindingTable


# Evaluates SASE+ expressions over the events of a run, by component (2.2.3, 2.2.4): conditions that slots can't
# decide, negations, HAVING and RETURN.

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
        """The values of the variables in an expression without i, as a solution."""
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
                return sase_accumulator(reference.summary, reference.k).add_all(
                    event[name] for event in some if name in event
                )


def _number(index: EventIndex, i: int) -> int:
    """The number of the event, from 0; i is that of `a[i]`."""
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


# SASE+ conditions that the machine can't decide: they are evaluated on a run's history, and negations on finished
# matches (SASE+, 2.2.3).

ComponentEvents = dict[str, list[EventAttributes]]


def attributes_of_event(names: Sequence[Name], cells: Sequence[int], terms: Terms) -> EventAttributes:
    """An event's attributes, of tag and bits of each."""
    found = {}
    for position, name in enumerate(names):
        term = term_of(cells[2 * position], cells[2 * position + 1], terms)
        if term is not None:
            found[name] = term
    return found


def evaluate_on_history(
    program: SequenceProgram, conjunct: Conjunct, state: SequenceState, rows: NDArray[np.int64], context: Context
) -> int:
    """The truth of a condition that the machine could not decide: of the run's events and the next one."""
    memory, components = state.memory, program.components
    assert isinstance(program.query, ComponentQuery)
    chosen: ComponentEvents = {component.variable: [] for component in components.positive}
    run = int(memory[RUN])
    if run >= 0:
        nodes = region(memory, AT_NODES)
        node = int(region(memory, AT_RUNS)[run, NODE])
        while node >= 0:
            found = nodes[node].tolist()
            component = components.positive[found[PLACE]].variable
            chosen[component].append(attributes_of_event(components.names, found[ITERATED:], state.terms))
            node = found[PARENT]
    for events in chosen.values():
        events.reverse()
    row = rows.ravel()[int(memory[ROW]) : int(memory[ROW]) + rows.shape[1]].tolist()
    chosen[conjunct.component].append(
        attributes_of_event(components.names, row[program.automaton.row_values :], state.terms)
    )
    return (
        TRUE
        if ConditionEvaluator(program.query, context).holds(conjunct.condition, chosen, conjunct.component)
        else FALSE
    )


def events_by_component(components: Components, matches: Matches, position: int, terms: Terms) -> ComponentEvents:
    """The events of a match, by component."""
    chosen: ComponentEvents = {component.variable: [] for component in components.positive}
    first, last = int(matches.offsets[position]), int(matches.offsets[position + 1])
    for node in matches.history.events.nodes[first:last].tolist():
        component = components.positive[node[PLACE]].variable
        chosen[component].append(attributes_of_event(components.names, node[ITERATED:], terms))
    return chosen


# Negation


def without_negated(
    program: SequenceProgram, components: Components, state: SequenceState, matches: Matches, context: Context
) -> Matches:
    """The matches in which no negated component has an event (SASE+, 2.2.3)."""
    if not components.negations:
        return matches
    assert isinstance(program.query, ComponentQuery)
    judge = ConditionEvaluator(program.query, context)
    absent = [_Absent(program, components, negation, state, judge) for negation in components.negations]
    kept = [n for n in range(len(matches)) if not any(each.is_there(matches, n) for each in absent)]
    return matches.take(np.array(kept, np.int64))


_MOST_SERIES = 100_000
"""The most series that are tried in one gap: under skip-till-any, every set of events is one."""


@dataclass(frozen=True, slots=True)
class _Event:
    """One that may be what must be absent: whether it fits as the first, or as a later one of a series."""

    time: int
    first: bool
    later: bool
    values: EventAttributes


@dataclass(slots=True)
class _Absent:
    """A negated component, and the events among which it is looked for."""

    program: SequenceProgram
    components: Components
    negation: Negation
    state: SequenceState
    judge: ConditionEvaluator

    def is_there(self, matches: Matches, position: int) -> bool:
        after, before = self._gap(matches, position)
        events = self._between(after, before, matches, position)
        if not events:
            return False
        chosen = events_by_component(self.components, matches, position, self.state.terms)
        chosen[self.negation.component.variable] = []
        if not self.negation.component.closure:
            return any(event.first and self._selects(chosen, event) for event in events)
        instants = [list(group) for _, group in groupby(events, key=lambda event: event.time)]
        return any(
            self._takes(chosen, event, instants[place + 1 :])
            for place, instant in enumerate(instants)
            for event in instant
        )

    def _gap(self, matches: Matches, position: int) -> tuple[int, int]:
        """The times between which it must not be, both exclusive. Under the option `order` they are moments, but for
        the end of a gap behind the match."""
        nodes = matches.history.events.nodes[matches.offsets[position] : matches.offsets[position + 1]]
        times = nodes[:, ITERATED + 2 * len(self.components.names) + 1]
        after = int(times[nodes[:, PLACE] == self.negation.before].max())
        if self.negation.after < 0:
            return after, int(self._clock(times[:1])[0]) + self.program.automaton.window + 1
        return after, int(times[nodes[:, PLACE] == self.negation.after].min())

    def _clock(self, ends: Ints) -> Ints:
        return ends if self.state.moments is None else self.state.moments.clock(ends)

    def _between(self, after: int, before: int, matches: Matches, position: int) -> list[_Event]:
        """The events of a gap that may count, in the order of time: those that can be taken, and those that break a
        contiguous series."""
        found = []
        for rows in self.state.negated.values():
            ends = self._clock(rows.end) if self.negation.after < 0 else rows.end
            inside = np.flatnonzero((rows.end > after) & (ends < before))
            fits = rows.columns[Variable("fits")].bits[inside]
            fits[~self._alike(rows, inside, self.components.tested, matches, position)] = 0
            counts = fits & (1 << self.negation.fits | 1 << max(self.negation.fits_later, 0)) != 0
            if self.negation.component.strategy is Strategy.STRICT:
                counts[:] = True
            elif self.negation.component.strategy is Strategy.PARTITION:
                counts |= self._alike(rows, inside, self.components.parted, matches, position)
            found += [
                self._event(rows, row, can)
                for row, can in zip(inside[counts].tolist(), fits[counts].tolist(), strict=True)
            ]
        return sorted(found, key=lambda event: event.time)

    def _alike(
        self, rows: BindingTable, chosen: NDArray[np.int64], by: Sequence[Variable], matches: Matches, position: int
    ) -> NDArray[np.bool_]:
        """A mask of the events that have the values shared by all events of a match."""
        alike = np.ones(len(chosen), np.bool_)
        for variable in by:
            values, slot = rows.columns[variable], self.program.outputs.index(variable)
            alike &= values.tags[chosen] == matches.tags[position, slot]
            alike &= values.bits[chosen] == matches.bits[position, slot]
        return alike

    def _event(self, rows: BindingTable, row: int, fits: int) -> _Event:
        columns = [rows.columns[attribute(name)] for name in self.components.names]
        cells = [int(cell) for values in columns for cell in (values.tags[row], values.bits[row])]
        later = self.negation.fits_later >= 0 and bool(fits >> self.negation.fits_later & 1)
        values = attributes_of_event(self.components.names, cells, self.state.terms)
        return _Event(int(rows.end[row]), bool(fits >> self.negation.fits & 1), later, values)

    def _selects(self, chosen: ComponentEvents, event: _Event) -> bool:
        """θ_select, of the negated component."""
        variable = self.negation.component.variable
        earlier = chosen[variable]
        if not (event.later if earlier else event.first):
            return False
        longer = {**chosen, variable: [*earlier, event.values]}
        asked = self.negation.later if earlier else self.negation.conditions
        return all(self.judge.holds(condition, longer, variable) for condition in asked)

    def _takes(self, chosen: ComponentEvents, event: _Event, rest: list[list[_Event]]) -> bool:
        """Whether some series that begins with an event satisfies all that is asked of it."""
        waiting = [(chosen, event, 0)]
        tried = 0
        while waiting:
            so_far, taken, place = waiting.pop()
            if not self._selects(so_far, taken):
                continue
            variable = self.negation.component.variable
            longer = {**so_far, variable: [*so_far[variable], taken.values]}
            if all(self.judge.holds(condition, longer) for condition in self.negation.ends):
                return True
            tried += 1
            if tried > _MOST_SERIES:
                raise LimitError(
                    f"There are more than {_MOST_SERIES:,} series that ~({variable}[]) may mean in one gap. "
                    f"Try: skip_till_next_match({variable}[]), or a shorter WITHIN"
                )
            waiting += self._later(longer, rest, place)
        return False

    def _later(
        self, chosen: ComponentEvents, rest: list[list[_Event]], place: int
    ) -> list[tuple[ComponentEvents, _Event, int]]:
        """Each event that may continue a series, with the position to continue from."""
        found = []
        for position in range(place, len(rest)):
            found += [(chosen, event, position + 1) for event in rest[position]]
            if not all(self._skips(chosen, event) for event in rest[position]):
                break
        return found

    def _skips(self, chosen: ComponentEvents, event: _Event) -> bool:
        match self.negation.component.strategy:
            case Strategy.STRICT | Strategy.PARTITION:
                return False
            case Strategy.NEXT:
                return not self._selects(chosen, event)
            case Strategy.ANY:
                return True
