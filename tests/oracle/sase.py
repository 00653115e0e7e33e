"""SASE+ by its definitions: Diao, Immerman, Gyllstrom, "SASE+: An Agile Language for Kleene Closure over Event
Streams", Section 3 and Appendix A, corrected. Runs are in `sase_runs`, expressions in `sase_expressions`; here are
negation, which is judged on finished matches, and what a query gives out. UNION, FROM and IN STREAM are in
`sase_composed`.

What the definitions leave open, and the reading taken.

Runs:
- Ties and auto-stop: a run steps with each alternative alone, so one alternative may stop a closure that another
  continues. Strict `A+ a[]` on `a1@1 a2@2 x@2 y@3` gives `a1`, `a1 a2` and `a2`.
- Ties and proceed: a run that proceeds by peeking at one alternative waits at the next component only if it may ignore
  all alternatives there.
- Proceed and skip-till-any: who proceeds because an event begins `b` may then ignore this event at `b`, if b's own
  strategy is skip-till-any; `!` on the closure before it does not prevent that.
- A last closure without end condition: the latest input event, at which a match is certain that the end of the input
  stops (SA-22), is the latest of all streams that are given to the text, or of those that queries make and this one
  reads, whichever is later. It need not be of the run's partition, nor of a stream that the query reads.
- An end condition is tested after the first event of the closure too, and proceed happens there only, not again after
  events that `a[i]` ignored. A closure with an end condition never proceeds by auto-stop.
- `!` with an end condition: the run stops where it first holds; under skip-till-any each run has its own first time.
- `!` asks of an event whether it begins the next component that is not negated: type, window, tests, conjuncts.
Predicates:
- `a[i]` in the conjunct of a later component or of a negation: for every i in its range, from 2 if `a[1]`, `a[i-1]` or
  `a[..i-1]` stands beside it. So for `a[i]` in an end condition of `a` itself. Each closure has an i of its own.
- `a[i-1]` or `a[..i-1]` without `a[i]`: tested at each i from 2. `a[1]` without `a[i]`: tested at the first event.
- A missing value, or two kinds of values, make a comparison neither true nor false (also `!=`), and NOT leaves it so;
  AND and OR are Kleene's. Booleans are a kind of their own, FALSE before TRUE; so are times, and what lies between two.
- NaN is a number, and a comparison with it is false, `!=` true. Beside a float, integers and decimals are floats.
- What is not a comparison is true or not as SPARQL's effective boolean value is: NaN, 0 and the empty text are false.
- `x IN (…)` is `x = … OR …`, NOT IN its negation. Conditions are brought into conjunctive form, NOT inwards, so that
  the parts of NOT IN act apart. LIKE, and functions, of what they are not for: a missing value.
- Arithmetic with something that is not a number, and division by 0 (also of floats), gives a missing value. `/` and
  avg give floats. `%` is exact, has the sign of the dividend, and is missing by 0.
  Times have a difference, which is added to times and taken from them.
- Aggregates over no values: count 0, else missing. sum and avg of what are not all numbers, min, max, highest and
  lowest of several kinds: missing. `first` and `last` skip nulls too. highest(k, …) is the k-th highest value, equal
  ones counted apart, missing if there are fewer than k. NaN has no place among these, but counts and adds.
- `[attr]` compares with the first event of the match; this event itself must have the attribute.
- PARTITION BY: chosen events must agree in these values, as in equivalence tests, and for partition contiguity they
  replace the equivalence tests. An event that lacks one, or for which it can't be computed, is in no partition, and
  breaks none.
Negation:
- Neighbours are the nearest components that are not negated; negations side by side guard the same gap.
- Equivalence tests and PARTITION BY hold for a negated event in relation to the match's first event.
- A series of `~(T+ b[])` may begin at any event of the gap, whatever b's strategy; each of its beginnings is a series,
  if the end conditions hold there. Only events of the gap can break it.
Output:
- A row is certain at its last event; with a negation at the end, at first + W; a last closure without end condition: at
  the event that stopped it, or at first + W if that is earlier; without both, at the latest input event.
- A sequence keeps missing values, at their places. HAVING must be true; `a[i]` in it: for every i.
- AGGREGATE: sum, min, max, avg and count(a[].x) are over all events of all matches, an event once for each match;
  HAVING filters first. Without matches there is no group and so no row. BY takes the value of the match's first
  event; equal values are one group, which is called by the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from oracle import sase_expressions
from oracle.id_order import id_order
from oracle.sase_expressions import Scope, holds, of_event
from oracle.sase_query import (
    Aggregate,
    Component,
    Composite,
    Event,
    Expression,
    Item,
    Query,
    Sequence,
    Value,
)
from oracle.sase_runs import EARLIEST, Automaton, Buffer, instants, meets_end_condition, selects, skips
from oracle.sase_text import column_name, key_name

Chosen: TypeAlias = dict[str, tuple[Event, ...]]
"""The events of each variable."""

Cell: TypeAlias = Value | tuple[Value, ...] | tuple[tuple[str, Value], ...] | tuple[tuple[tuple[str, Value], ...], ...]
"""An atom, a sequence, a composite, or a sequence of composites. A composite is a tuple of names and values."""


@dataclass(frozen=True)
class Match:
    """The events of each component that is not negated, and the time at which nothing can undo it."""

    events: Buffer
    certain: int

    @property
    def start(self) -> int:
        """Of its first event: shown, and of no account elsewhere."""
        return self.events[0][0].start

    @property
    def first(self) -> int:
        """The time of its first event."""
        return self.events[0][0].time

    @property
    def end(self) -> int:
        return self.events[-1][-1].time

    @property
    def ids(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(event.id for event in chosen) for chosen in self.events)


@dataclass(frozen=True)
class Row:
    start: int
    end: int
    certain: int
    events: Buffer
    cells: tuple[tuple[str, Cell], ...]

    @property
    def ids(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(event.id for event in chosen) for chosen in self.events)


def matches(query: Query, events: Iterable[Event], latest: int = EARLIEST) -> frozenset[Match]:
    """The runs that no negation undoes. `latest` is the time of the latest event of streams that are not read."""
    stream = tuple(events)
    return frozenset(
        Match(buffer, _certain(query, buffer, finished))
        for buffer, finished in Automaton(query, latest).runs(stream)
        if not any(present(query, component, buffer, stream) for component in query.components if component.negated)
    )


def _certain(query: Query, buffer: Buffer, finished: int) -> int:
    if not query.components[-1].negated:
        return finished
    assert query.within is not None, "a negation at the end needs WITHIN"
    return buffer[0][0].time + query.within


def present(query: Query, negated: Component, buffer: Buffer, stream: tuple[Event, ...]) -> bool:
    """Whether what must be absent is there, between its neighbours."""
    chosen = _by_variable(query, buffer)
    between = gap(query, negated, chosen, stream)
    if not negated.closure:
        return any(selects(query, negated, chosen, event) for event in between)
    return any(meets_end_condition(query, negated, each) for each in series(query, negated, chosen, between))


def gap(query: Query, negated: Component, chosen: Chosen, stream: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events strictly between the neighbours; at the end, up to first + W."""
    place = query.components.index(negated)
    before = [each for each in query.components[:place] if not each.negated]
    after = [each for each in query.components[place:] if not each.negated]
    opens = chosen[before[-1].variable][-1].moment
    if after:
        closes = chosen[after[0].variable][0].moment
        return tuple(event for event in stream if opens < event.moment < closes)
    assert query.within is not None
    last = chosen[query.positives[0].variable][0].time + query.within
    return tuple(event for event in stream if opens < event.moment and event.time <= last)


def series(query: Query, negated: Component, chosen: Chosen, between: tuple[Event, ...]) -> Iterator[Chosen]:
    """What the runs of `T+ b[]` have taken, after each take."""

    def onward(taken: Chosen, rest: tuple[tuple[Event, ...], ...]) -> Iterator[Chosen]:
        if not rest:
            return
        for event in rest[0]:
            yield from take(taken, event, rest[1:])
        if all(skips(query, negated, taken, event) for event in rest[0]):
            yield from onward(taken, rest[1:])

    def take(taken: Chosen, event: Event, rest: tuple[tuple[Event, ...], ...]) -> Iterator[Chosen]:
        if selects(query, negated, taken, event):
            longer = {**taken, negated.variable: (*taken.get(negated.variable, ()), event)}
            yield longer
            yield from onward(longer, rest)

    groups = instants(between)
    for number, instant in enumerate(groups):
        for event in instant:
            yield from take(chosen, event, groups[number + 1 :])


def _by_variable(query: Query, buffer: Buffer) -> Chosen:
    return {component.variable: found for component, found in zip(query.positives, buffer, strict=True)}


def passed(query: Query, events: Iterable[Event], latest: int = EARLIEST) -> list[Match]:
    """The matches that HAVING lets through, in order of certainty, then end, start, ids."""
    found = [
        match
        for match in matches(query, events, latest)
        if query.having is None or holds(query.having, Scope(_by_variable(query, match.events), {}))
    ]

    def place(match: Match) -> tuple[object, ...]:
        return match.certain, match.end, match.start, [[*map(id_order, ids)] for ids in match.ids]

    return sorted(found, key=place)


def rows(query: Query, events: Iterable[Event], latest: int = EARLIEST) -> list[Row]:
    """RETURN: one row for each match."""
    return [
        Row(match.start, match.end, match.certain, match.events, tuple(_cells(query, match)))
        for match in passed(query, events, latest)
    ]


def _cells(query: Query, match: Match) -> Iterator[tuple[str, Cell]]:
    chosen = _by_variable(query, match.events)
    for item in query.returns:
        yield column_name(item), cell(item.what, chosen)


def cell(what: Expression | Sequence | Composite, chosen: Chosen) -> Cell:
    match what:
        case Sequence(variable, attribute):
            return tuple(event[attribute] for event in chosen[variable])
        case Composite(variable, attributes, closure):
            composites = tuple(tuple((name, event[name]) for name in attributes) for event in chosen[variable])
            return composites if closure else composites[0]
        case expression:
            return sase_expressions.evaluate(expression, Scope(chosen, {}))


def aggregate(query: Query, events: Iterable[Event], latest: int = EARLIEST) -> list[tuple[tuple[str, Cell], ...]]:
    """AGGREGATE … BY …: one row for each group of matches, the attributes of BY first."""
    return [cells for _, _, cells in totals(query, events, latest)]


def totals(
    query: Query, events: Iterable[Event], latest: int = EARLIEST
) -> list[tuple[int, int, tuple[tuple[str, Cell], ...]]]:
    """The rows of AGGREGATE, each with the earliest start and the latest end of its group's matches."""
    groups: dict[object, list[Match]] = {}
    for match in passed(query, events, latest):
        values = [of_event(key, match.events[0][0]) for key in query.by]
        groups.setdefault(tuple((isinstance(value, bool), value) for value in values), []).append(match)
    return [
        (
            min(match.start for match in group),
            max(match.end for match in group),
            (
                *((key_name(key), of_event(key, group[0].events[0][0])) for key in query.by),
                *((column_name(item), _over_matches(query, item, group)) for item in query.returns),
            ),
        )
        for group in groups.values()
    ]


def _over_matches(query: Query, item: Item, group: list[Match]) -> Value:
    assert isinstance(item.what, Aggregate)
    function, variable, attribute = item.what.function, item.what.variable, item.what.attribute
    if variable is None:
        return len(group)
    counted = [event for match in group for event in _by_variable(query, match.events)[variable]]
    values = [1 if attribute is None else event[attribute] for event in counted]
    return sase_expressions.aggregate(function, values)
