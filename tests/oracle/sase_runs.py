"""The automaton of Section 3 and its runs (Appendix A.2): every edge with its condition, every run written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from oracle.sase_expressions import Scope, compare, holds, of_event
from oracle.sase_query import ANY, Component, Event, Expression, Key, Query, Strategy, ends, first_index, iterates

Instant: TypeAlias = tuple[Event, ...]
"""The events of one moment (of one time, without the option `order`): alternatives."""

Buffer: TypeAlias = tuple[tuple[Event, ...], ...]
"""The events chosen for each component that is not negated, in the order of the pattern."""


EARLIEST = -(2**63)
"""A time before all others."""


@dataclass(frozen=True)
class Run:
    """A state and the match buffer. The state is that of the component `place`: `a[i]` if `more`, else `a[1]` or `b`.

    The place after the last component is the final state F.
    """

    place: int
    more: bool
    buffer: Buffer

    @property
    def first(self) -> int:
        return self.buffer[0][0].time

    @property
    def end(self) -> int:
        return max(event.time for chosen in self.buffer for event in chosen)


def instants(events: Iterable[Event]) -> tuple[Instant, ...]:
    in_order = sorted(events, key=lambda event: event.moment)
    return tuple(tuple(group) for _, group in groupby(in_order, key=lambda event: event.moment))


def selects(query: Query, component: Component, events: dict[str, tuple[Event, ...]], event: Event) -> bool:
    """θ_select: whether the event can be the component's next. `events` are those chosen so far, by variable."""
    chosen = (*events.get(component.variable, ()), event)
    first = next((earlier[0] for earlier in events.values() if earlier), event)
    scope = Scope({**events, component.variable: chosen}, {component.variable: len(chosen)})
    return (
        component.type in (ANY, event.type)
        and (query.within is None or event.time - first.time <= query.within)
        and agree(query.tested(), event, first)
        and all(holds(conjunct, scope) for conjunct in _tested_at(query, component, len(chosen)))
    )


def agree(keys: Iterable[Key], event: Event, first: Event) -> bool:
    """The equivalence tests, and PARTITION BY. A single event agrees with itself only if it has all values."""
    return all(compare("=", of_event(key, event), of_event(key, first)) is True for key in keys)


def _tested_at(query: Query, component: Component, index: int) -> Iterator[Expression]:
    """The conjuncts that an event has to meet as the component's event number `index`."""
    for conjunct in query.conjuncts(component):
        if not component.closure:
            yield conjunct
        elif ends(conjunct, component.variable):
            continue
        elif iterates(conjunct, component.variable):
            if index >= first_index(conjunct, component.variable):
                yield conjunct
        elif index == 1:
            yield conjunct


def skips(query: Query, component: Component, events: dict[str, tuple[Event, ...]], event: Event) -> bool:
    """θ_skip (Table 1): whether the component's strategy lets a run that waits there pass over the event."""
    match query.strategy(component):
        case Strategy.STRICT:
            return False
        case Strategy.PARTITION:
            first = next(earlier[0] for earlier in events.values() if earlier)
            return not agree(query.partition(), event, first)
        case Strategy.NEXT:
            return not selects(query, component, events, event)
        case Strategy.ANY:
            return True


def has_end_condition(query: Query, component: Component) -> bool:
    return component.closure and any(ends(each, component.variable) for each in query.conjuncts(component))


def meets_end_condition(query: Query, component: Component, events: dict[str, tuple[Event, ...]]) -> bool:
    """Whether all end conditions hold on what is chosen; also where there are none."""
    conditions = [each for each in query.conjuncts(component) if ends(each, component.variable)]
    return all(holds(each, Scope(events, {})) for each in conditions)


class Automaton:
    """The automaton of a query, its negated components left out. `latest` is the time of the latest event of streams
    that it does not read."""

    def __init__(self, query: Query, latest: int = EARLIEST) -> None:
        self.query = query
        self.latest = latest
        self.states = query.positives
        self.final = len(self.states)

    def component(self, run: Run) -> Component:
        return self.states[run.place]

    def events(self, run: Run) -> dict[str, tuple[Event, ...]]:
        return {each.variable: chosen for each, chosen in zip(self.states, run.buffer, strict=True) if chosen}

    def selects(self, run: Run, event: Event) -> bool:
        return run.place < self.final and selects(self.query, self.component(run), self.events(run), event)

    def ends_by_condition(self, run: Run) -> bool:
        return has_end_condition(self.query, self.component(run))

    def next_state(self, run: Run) -> Run:
        return Run(run.place + 1, False, run.buffer)

    def forced_stop(self, run: Run, event: Event) -> bool:
        """The window, and with `!` an event that begins the next component. An end condition stops in `consume`."""
        if not run.more:
            return False
        outside = self.query.within is not None and event.time - run.first > self.query.within
        cut = self.query.stops(self.component(run)) and not self.ends_by_condition(run)
        return outside or (cut and self.selects(self.next_state(run), event))

    def takes(self, run: Run, event: Event) -> bool:
        """θ_begin of a state that selects its first event, θ_take of one that selects more."""
        return not self.forced_stop(run, event) and self.selects(run, event)

    def ignores(self, run: Run, event: Event) -> bool:
        """θ_ignore. The start state has no such edge: a run has an event when it first waits."""
        return not self.forced_stop(run, event) and skips(self.query, self.component(run), self.events(run), event)

    def auto_stop(self, run: Run, event: Event) -> bool:
        return not self.takes(run, event) and not self.ignores(run, event)

    def proceeds(self, run: Run, event: Event) -> bool:
        """θ_proceed of a closure without end condition, which peeks at the event. With one, `consume` proceeds."""
        if not run.more or self.ends_by_condition(run):
            return False
        return self.selects(self.next_state(run), event) or self.auto_stop(run, event)

    def consume(self, run: Run, event: Event) -> Iterator[Run]:
        """The states that the run is in once it has taken the event."""
        if not self.takes(run, event):
            return
        buffer = tuple((*chosen, event) if place == run.place else chosen for place, chosen in enumerate(run.buffer))
        if not self.component(run).closure:
            yield Run(run.place + 1, False, buffer)
            return
        more = Run(run.place, True, buffer)
        met = self.ends_by_condition(more) and meets_end_condition(self.query, self.component(run), self.events(more))
        if met:
            yield self.next_state(more)
        if not (met and self.query.stops(self.component(run))):
            yield more

    def accepted(self, run: Run, rest: tuple[Instant, ...]) -> frozenset[tuple[Buffer, int]]:
        """What the run can end with on the instants to come, each with the time at which it does so."""
        if run.place == self.final:
            return frozenset({(run.buffer, run.end)})
        if not rest:
            return self.at_the_end(run)
        instant, later = rest[0], rest[1:]
        moved = self.next_state(run)
        peeked = [event for event in instant if self.proceeds(run, event)]
        found = self.stopped(run, instant[0].time) if peeked and moved.place == self.final else frozenset()
        after = {reached for event in instant for reached in self.consume(run, event)}
        after |= {reached for event in peeked for reached in self.consume(moved, event)}
        # whoever waits on passes over all alternatives
        waiting = {run, moved} if peeked and moved.place < self.final else {run}
        after |= {each for each in waiting if all(self.ignores(each, event) for event in instant)}
        return found.union(*(self.accepted(each, later) for each in after))

    def at_the_end(self, run: Run) -> frozenset[tuple[Buffer, int]]:
        """The end of the input stops a last closure that has no end condition (SA-21): at the window's end, or without
        a window at the latest input event (SA-22)."""
        if not run.more or run.place + 1 < self.final or self.ends_by_condition(run):
            return frozenset()
        within = self.query.within
        return frozenset({(run.buffer, self.latest if within is None else run.first + within)})

    def stopped(self, run: Run, time: int) -> frozenset[tuple[Buffer, int]]:
        """A last closure that stops at this time, or earlier at its window's end."""
        window = [] if self.query.within is None else [run.first + self.query.within]
        return frozenset({(run.buffer, min([*window, time]))})

    def runs(self, events: Iterable[Event]) -> frozenset[tuple[Buffer, int]]:
        """Every event that can begin a run does."""
        all_instants = instants(events)
        self.latest = max([self.latest, *(instant[0].time for instant in all_instants)])
        empty = Run(0, False, ((),) * self.final)
        return frozenset(
            found
            for number, instant in enumerate(all_instants)
            for event in instant
            for run in self.consume(empty, event)
            for found in self.accepted(run, all_instants[number + 1 :])
        )
