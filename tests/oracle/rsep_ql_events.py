"""Windows and event patterns at one evaluation: Definitions 3 and 7, equations (4)–(7) and (9)–(11) as corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import TypeAlias, assert_never

from oracle.graphs import EMPTY, Mappings, compatible, only
from oracle.graphs import Mapping as Mu
from oracle.rsep_ql_query import (
    Event,
    EventDefinition,
    EventPattern,
    First,
    Identity,
    Interval,
    Landmark,
    Last,
    Policy,
    Query,
    Range,
    Seq,
    WindowFunction,
    event_scope,
    every,
)
from oracle.rsep_ql_sparql import Evaluation, Snapshot
from oracle.terms import Graph

Time: TypeAlias = int | float
"""A tick, or +∞ where `W*` has no upper bound."""


@dataclass(frozen=True)
class StreamEvent:
    """(G_k, t_k) with the interval of C-1. `position` is its place at the source."""

    stream: str
    position: int
    id: str
    start: int
    end: int
    graph: Graph


# Windows


def in_window(function: WindowFunction, end: int, t: int) -> bool:
    """Is an event with this end in W(S, t)? No window sees an event that ends after t (RS-7 to RS-10)."""
    match function:
        case Range(width, slide):
            last = t if slide is None else t // slide * slide
            return last - width < end <= last
        case Landmark(start):
            return start <= end <= t
        case Interval(first, last):
            return first <= end <= last and end <= t
        case Identity():
            return end <= t
        case _:
            assert_never(function)


def contents(query: Query, events: tuple[StreamEvent, ...], t: int) -> dict[str, tuple[StreamEvent, ...]]:
    """W_j(S_ℓ, t) for every named window."""
    return {
        window.name: tuple(e for e in events if e.stream == window.stream and in_window(window.function, e.end, t))
        for window in query.windows
    }


# Event patterns


@dataclass(frozen=True)
class EventMapping:
    """(μ, t1, t2), and the events that fill the EVENTs, in pattern order. The events are part of what it is (RS-27)."""

    mapping: Mu
    start: int
    end: int
    events: tuple[StreamEvent, ...]

    @property
    def place(self) -> tuple[int, int]:
        """What ≺ compares: ends, then starts (RS-33)."""
        return (self.end, self.start)


def precedes(left: EventMapping, right: EventMapping) -> bool:
    """≺ (RS-33)."""
    return left.place < right.place


def first(mappings: list[EventMapping]) -> list[EventMapping]:
    """(5), with all ties (RS-37)."""
    return [each for each in mappings if not any(precedes(other, each) for other in mappings)]


def last(mappings: list[EventMapping]) -> list[EventMapping]:
    """(6), with all ties (RS-37)."""
    return [each for each in mappings if not any(precedes(each, other) for other in mappings)]


class EventEvaluation:
    """⟨⟨·⟩⟩ at one evaluation. `windows` holds what is visible: window contents without consumed events (RS-46)."""

    def __init__(self, query: Query, snapshot: Snapshot, windows: Mapping[str, tuple[StreamEvent, ...]]) -> None:
        self.query = query
        self.snapshot = snapshot
        self.windows = windows
        self.found: dict[tuple[str, StreamEvent], Mappings] = {}

    def pattern(self, pattern: EventPattern, given: Mu = EMPTY, before: Time = inf) -> list[EventMapping]:
        """⟨⟨given(E)⟩⟩ in `W*`, each event mapping once. `given` is the μ2 that reaches inside (RS-35), and `W*` holds
        what ends before `before`; it has no lower bound (RS-34)."""
        match pattern:
            case Event(name):
                found = self.basic(self.query.definition(name), given, before)
            case First(inner):
                found = first(self.pattern(inner, given, before))
            case Last(inner):
                found = last(self.pattern(inner, given, before))
            case Seq(left, right, policy):
                found = self.seq(left, right, policy, given, before)
            case _:
                assert_never(pattern)
        return list(dict.fromkeys(found))

    def basic(self, definition: EventDefinition, given: Mu, before: Time) -> list[EventMapping]:
        """(4): P on each event alone (RS-26), then joined with what is given (RS-38)."""
        return [
            EventMapping(mapping | given, event.start, event.end, (event,))
            for event in self.windows[definition.window]
            if event.end < before
            for found in sorted(self.mappings(definition, event), key=repr)
            for mapping in [found | times(self.query, definition, event)]
            if compatible(mapping, given)
        ]

    def mappings(self, definition: EventDefinition, event: StreamEvent) -> Mappings:
        """⟦P⟧ over one event's graph: a set (RS-26). GRAPH reads the graph at the evaluation's time (RS-31)."""
        key = (definition.name, event)
        if key not in self.found:
            solutions = Evaluation(self.snapshot, event.graph).group(definition.group)
            self.found[key] = frozenset(solution.mapping for solution in solutions)
        return self.found[key]

    def seq(
        self, left: EventPattern, right: EventPattern, policy: Policy | None, given: Mu, before: Time
    ) -> list[EventMapping]:
        """(7), (9), (10) or (11), as corrected (RS-39 to RS-43)."""
        seconds = self.pattern(right, given, before)  # it knows nothing of E1 (RS-36)
        if policy is Policy.NAIVE:
            pairs = [
                (e1, e2)
                for e2 in last(seconds)
                for e1 in last(self.pattern(left, e2.mapping, before))
                if precedes(e1, e2)
            ]
            return [sequence(e1, e2) for e1, e2 in pairs]

        partners = {e2: self.pattern(left, e2.mapping, min(before, e2.start)) for e2 in seconds}
        candidates = [e2 for e2 in seconds if partners[e2]]
        shared = frozenset(event_scope(left, self.query.events)) & frozenset(event_scope(right, self.query.events))

        def rivals(e2: EventMapping) -> list[EventMapping]:
            """They agree on the shared variables: same value, or both unbound (RS-41, RS-42)."""
            return [other for other in candidates if only(other.mapping, shared) == only(e2.mapping, shared)]

        match policy:
            case None:
                chosen = [(e1, e2) for e2 in candidates for e1 in partners[e2]]
            case Policy.CHRONOLOGICAL:
                kept = [e2 for e2 in candidates if not any(precedes(other, e2) for other in rivals(e2))]
                chosen = [(e1, e2) for e2 in kept for e1 in first(partners[e2])]
            case Policy.RECENT:
                kept = [e2 for e2 in candidates if not any(precedes(e2, other) for other in rivals(e2))]
                chosen = [(e1, e2) for e2 in kept for e1 in last(partners[e2])]
            case _:
                assert_never(policy)
        return [sequence(e1, e2) for e1, e2 in chosen]


def times(query: Query, definition: EventDefinition, event: StreamEvent) -> Mu:
    """What START and END bind."""
    bound = ((definition.start, event.start), (definition.end, event.end))
    return frozenset((name, query.time_term(time)) for name, time in bound if name is not None)


def sequence(e1: EventMapping, e2: EventMapping) -> EventMapping:
    """(μ1 ∪ μ2, t1, t4)."""
    return EventMapping(e1.mapping | e2.mapping, e1.start, e2.end, e1.events + e2.events)


def consumes(pattern: EventPattern) -> bool:
    """Does a MATCH of it consume (RS-44)?"""
    return any(seq.policy in (Policy.CHRONOLOGICAL, Policy.RECENT) for seq in every(Seq, pattern))
