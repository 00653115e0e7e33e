"""Nodes of fact patterns: when they hold, and with which bindings (Table 4.1; TEF-37 to TEF-39, TEF-53 to TEF-65).

`find` gives the matches that are compatible with a frame. Facts that ended at `after` or earlier are left out: after
FOREVER all that ended, after ALWAYS none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import NamedTuple, Protocol, TypeAlias

from thence.algebra.expressions import Comparison, Expression, Variable
from thence.algebra.tef_sparql import Open, Times, When
from thence.engines.facts.compiled_expressions import Attempt, Moment, StartBound, Truth, start_bounds
from thence.engines.facts.fact_store import FOREVER, Fact, FactStore
from thence.engines.facts.frames import (
    LIMIT,
    Cell,
    CellTriple,
    Frame,
    Layout,
    cell,
    cleared,
    term,
    time_cell,
    with_cell,
)
from thence.match.context import Context
from thence.rdf.dataset import IndexedGraph
from thence.rdf.dates import DateTime
from thence.rdf.terms import IRI, Literal
from thence.rdf.times import MAX_TIME, MIN_TIME, Domain, Instant
from thence.rdf.values import is_number, value

ALWAYS = MIN_TIME
"""Since when static triples hold: they are older than everything (TEF-9)."""


class FactMatch(NamedTuple):
    """A match of a fact pattern: it holds from `start` on, until `end`, None being open. `facts` are those it is made
    of, `hidden` is what UNION has dropped, by slot, `arms` which arms they are of."""

    frame: Frame
    start: int
    end: int | None
    facts: tuple[Fact, ...]
    hidden: frozenset[tuple[int, Cell]] = frozenset()
    arms: tuple[int, ...] = ()

    def holds_at(self, time: int) -> bool:
        return self.start <= time and (self.end is None or time < self.end)


@dataclass(slots=True)
class FactBase:
    """The facts and the background, at a moment. `first` is the end of the first event; `due` has when comparisons with
    now() will be true or false next, of the patterns that were asked, and what is bound there (TEF-64). `before`: the
    events that count were taken before the one of that number; None: all do."""

    store: FactStore
    static: IndexedGraph
    context: Context
    moment: Moment
    first: int = 0
    domain: Domain = Domain.TICKS
    due: set[tuple[int, Frame]] = field(default_factory=set)
    before: int | None = None
    _static: dict[Cell, FactStore] = field(default_factory=dict)

    def begin(self, now: int) -> None:
        """A step at a time begins."""
        self.moment = Moment(now, self.domain, self.context)
        if self.due:
            self.due = set()

    @property
    def now(self) -> int:
        return self.moment.time

    def at(self, time: int) -> Moment:
        """The moment of a time."""
        return self.moment if time == self.moment.time else Moment(time, self.domain, self.context)

    def static_facts(self, predicate: Cell) -> FactStore:
        """The static triples of a predicate, as facts that always hold."""
        store = self._static.get(predicate)
        if store is None:
            store = self._static[predicate] = FactStore()
            assert isinstance(predicate, str)
            for number, triple in enumerate(self.static.match(None, IRI(predicate), None)):
                store.add(Fact(number, (cell(triple[0]), predicate, cell(triple[2])), ALWAYS, None, 0))
        return store


class FactNode(Protocol):
    """A compiled fact pattern."""

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]: ...


class Position(NamedTuple):
    """The source of a term of a triple: a constant, or the slot of a variable."""

    constant: Cell | None
    slot: int


TriplePositions: TypeAlias = tuple[Position, Position, Position]


@dataclass(slots=True)
class TripleSlots:
    """A triple pattern over a layout."""

    positions: TriplePositions

    def unified(self, triple: CellTriple, frame: Frame) -> Frame | None:
        """The frame with which the pattern is the triple; None if it cannot be."""
        (subject, subject_slot), (predicate, predicate_slot), (target, target_slot) = self.positions
        made: list[Cell | None] | None = None
        if predicate is None:
            predicate = frame[predicate_slot]
            if predicate is None:
                made = [*frame]
                made[predicate_slot] = predicate = triple[1]
        if predicate != triple[1]:
            return None
        if subject is None:
            subject = (made or frame)[subject_slot]
            if subject is None:
                made = made or [*frame]
                made[subject_slot] = subject = triple[0]
        if subject != triple[0]:
            return None
        if target is None:
            target = (made or frame)[target_slot]
            if target is None:
                made = made or [*frame]
                made[target_slot] = target = triple[2]
        if target != triple[2]:
            return None
        return frame if made is None else tuple(made)


@dataclass(slots=True)
class TripleFactNode:
    """A triple, of facts or of the background; with its times, if they are written just behind it, and what tests
    further behind say about its start."""

    slots: TripleSlots
    static: Cell | None  # the predicate, if it is static
    times: TimesSlots | None = None
    bounds: tuple[StartBound, ...] = ()

    def bounded(self, condition: Expression, layout: Layout) -> TripleFactNode:
        """The node, of which a condition is tested behind it."""
        if self.static is not None or self.times is None or not isinstance(self.times.start, Variable):
            return self
        return replace(self, bounds=(*self.bounds, *start_bounds(condition, self.times.start, layout)))

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        (subject, subject_slot), (predicate, predicate_slot), (target, target_slot) = self.slots.positions
        if subject is None:
            subject = frame[subject_slot]
        if predicate is None:
            predicate = frame[predicate_slot]
        if target is None:
            target = frame[target_slot]
        if self.static is not None:
            listed = facts.static_facts(self.static).matching(subject, predicate, target, FOREVER)
        elif self.bounds and predicate is not None:
            low, high = MIN_TIME, MAX_TIME
            for bound in self.bounds:
                first, last = bound.limits(frame, facts.moment)
                low, high = max(low, first), min(high, last)
            listed = facts.store.began_between(subject, predicate, target, low, high, after)
        else:
            listed = facts.store.matching(subject, predicate, target, after)
        if not listed:
            return []
        # the store has looked at subject and predicate, if it knows both
        is_known = subject is not None and predicate is not None
        is_settled = is_known and target is None
        before, behind = (frame[:target_slot], frame[target_slot + 1 :]) if is_settled else ((), ())
        unified, times, is_fact = self.slots.unified, self.times, self.static is None
        matches = []
        for fact in listed:
            made: Frame | None
            if is_settled:
                made = (*before, fact.triple[2], *behind)
            elif is_known:
                made = frame if fact.triple[2] == target else None
            else:
                made = unified(fact.triple, frame)
            if made is not None and times is not None:
                made = times.timed(made, fact.start, fact.end, facts)
            if made is not None:
                matches.append(FactMatch(made, fact.start, fact.end, (fact,) if is_fact else ()))
        return matches


@dataclass(slots=True)
class TimesFactNode:
    """`F[start, end]` (TEF-53, TEF-54)."""

    child: FactNode
    times: TimesSlots

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        times = self.times
        return [
            FactMatch(timed, *each[1:])
            for each in self.child.find(frame, after, facts)
            if (timed := times.timed(each.frame, each.start, each.end, facts)) is not None
        ]


@dataclass(slots=True)
class TimesSlots:
    """`[start, end]` over a layout: the slot of each variable, or -1."""

    start: When
    end: When
    start_slot: int
    end_slot: int

    def timed(self, frame: Frame, start: int, end: int | None, facts: FactBase) -> Frame | None:
        """The frame that it binds, or None if it does not fit."""
        first = facts.first if start == ALWAYS else start
        bound: Frame | None
        if self.start_slot >= 0:
            bound = _bound_time(frame, self.start_slot, first, facts.domain)
        else:
            bound = frame if isinstance(self.start, Instant) and self.start.time == first else None
        if bound is None:
            return None
        if self.end_slot >= 0:  # the end of an open fact is unbound, which is compatible with everything
            return bound if end is None else _bound_time(bound, self.end_slot, end, facts.domain)
        if isinstance(self.end, Open):
            return bound if end is None else None
        return bound if isinstance(self.end, Instant) and self.end.time == end else None


def times_slots(times: Times, layout: Layout) -> TimesSlots:
    def slot(when: When) -> int:
        return layout.slots[when] if isinstance(when, Variable) else -1

    return TimesSlots(times.start, times.end, slot(times.start), slot(times.end))


def _bound_time(frame: Frame, slot: int, time: int, domain: Domain) -> Frame | None:
    made = time if domain is Domain.TICKS and -LIMIT < time < LIMIT else time_cell(time, domain)
    known = frame[slot]
    if known is None:
        return (*frame[:slot], made, *frame[slot + 1 :])
    return frame if known == made else None


@dataclass(slots=True)
class BothFactsNode:
    """`F1, F2`."""

    left: FactNode
    right: FactNode

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        matches = []
        for one in self.left.find(frame, after, facts):
            for other in self.right.find(one.frame, after, facts):
                start = other.start if other.start > one.start else one.start
                end = earlier(one.end, other.end)
                if end is None or start < end:
                    hidden, arms = one.hidden | other.hidden, one.arms + other.arms
                    matches.append(FactMatch(other.frame, start, end, one.facts + other.facts, hidden, arms))
        return matches


@dataclass(slots=True)
class EitherFactNode:
    """`F1 UNION F2`: variables of one side alone, which no other part names, are dropped (TEF-69)."""

    sides: tuple[tuple[FactNode, tuple[int, ...]], ...]  # each with the slots that it alone binds

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        matches = []
        for arm, (side, private) in enumerate(self.sides):
            for match in side.find(frame, after, facts):
                kept, hidden, arms = match.frame, match.hidden, (arm, *match.arms)
                if private:
                    dropped = ((slot, each) for slot in private if (each := match.frame[slot]) is not None)
                    kept, hidden = cleared(kept, private), hidden.union(dropped)
                matches.append(FactMatch(kept, match.start, match.end, match.facts, hidden, arms))
        return matches


@dataclass(slots=True)
class TestFactNode:
    """`F, condition`."""

    child: FactNode
    truth: Truth

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        truth, moment = self.truth, facts.moment
        return [each for each in self.child.find(frame, after, facts) if truth(each.frame, moment)]


@dataclass(slots=True)
class ClockNode:
    """`F, now() op c`: clips the interval, as far as it is known now (TEF-63). When it will be true or false next is
    added to the base's `due` (TEF-64)."""

    child: FactNode
    comparison: Comparison
    limit: Attempt
    truth: Truth

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        matches = []
        now = facts.now
        for match in self.child.find(frame, after, facts):
            limit = limit_of(self.limit(match.frame, facts.moment), facts.domain)
            if limit is None:  # at all times, or never
                if self.truth(match.frame, facts.moment):
                    matches.append(match)
                continue
            for low, high in true_when(self.comparison, limit):
                if match.end is None or match.end > now:
                    facts.due.update((time, match.frame) for time in (low, high) if time is not None and time > now)
                start, end = max(match.start, low), earlier(match.end, high)
                if match.start == ALWAYS < low:  # there is no time before the first event (TEF-45)
                    start = max(low, facts.first)
                if start <= now and (end is None or start < end):
                    matches.append(match._replace(start=start, end=None if end is None or end > now else end))
        return matches


@dataclass(slots=True)
class AssignFactNode:
    """`F, ?v = expression`."""

    child: FactNode
    slot: int
    value: Attempt

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        return [
            FactMatch(made, *each[1:])
            for each in self.child.find(frame, after, facts)
            if (made := assigned(each.frame, self.slot, self.value(each.frame, facts.moment))) is not None
        ]


@dataclass(slots=True)
class WithoutFactNode:
    """`F1 WITHOUT F2` holds in the gaps (TEF-37)."""

    left: FactNode
    right: FactNode

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        matches = []
        for match in self.left.find(frame, after, facts):
            others = [(other.start, other.end) for other in self.right.find(match.frame, match.start, facts)]
            for start, end in gaps(match.start, match.end, others):
                matches.append(match._replace(start=start, end=end))
        return matches


class EventTimes(Protocol):
    """When an event pattern, right of WITHOUT, has matched so far, given what is bound: the ends that are later than
    `first`, latest first, down to the first one that is not later than `after`."""

    def times(self, frame: Frame, first: int, after: int, facts: FactBase) -> list[int]: ...


@dataclass(slots=True)
class RestartNode:
    """`F WITHOUT E` restarts at each E (TEF-38)."""

    left: FactNode
    events: EventTimes

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        matches = []
        for match in self.left.find(frame, after, facts):
            cuts = sorted(set(self.events.times(match.frame, match.start, after, facts)))
            bounds = [match.start, *(time for time in cuts if match.end is None or time < match.end)]
            ends: list[int | None] = [*bounds[1:], match.end]
            for low, high in zip(bounds, ends, strict=True):
                if high is None or high > after:
                    matches.append(match._replace(start=low, end=high))
        return matches


# Times and expressions


def assigned(frame: Frame, slot: int, value: Cell | None) -> Frame | None:
    """The frame with a variable bound to a value; None for an error, or if it has another value (TEF-57, TEF-59)."""
    if value is None:
        return None
    known = frame[slot]
    if known is None:
        return with_cell(frame, slot, value)
    return frame if known == value else None


def limit_of(given: Cell | None, domain: Domain) -> Fraction | None:
    """The time of a value, perhaps between two ticks or microseconds; None if no such time can come."""
    own = None if given is None else term(given)
    known = value(own) if isinstance(own, Literal) else None
    if domain is Domain.TICKS:
        time = Fraction(known) if is_number(known) and isfinite(known) else None
    else:
        time = Fraction(known.instant) * 1_000_000 if isinstance(known, DateTime) else None
    return time if time is not None and MIN_TIME < time < MAX_TIME else None


def earlier(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


def gaps(start: int, end: int | None, others: list[tuple[int, int | None]]) -> Iterator[tuple[int, int | None]]:
    """The parts of an interval in which none of some others holds.

    >>> list(gaps(10, 40, [(20, 25)]))
    [(10, 20), (25, 40)]
    """
    low = start
    for first, last in sorted(others, key=lambda each: each[0]):
        if end is not None and first >= end:
            break
        if first > low:
            yield low, first
        if last is None:
            return
        low = max(low, last)
    if end is None or low < end:
        yield low, end


def true_when(comparison: Comparison, limit: Fraction) -> list[tuple[int, int | None]]:
    """The intervals in which `now() op limit` is true.

    >>> true_when(Comparison.GREATER, Fraction(7, 2)), true_when(Comparison.EQUAL, Fraction(7, 2))
    ([(4, None)], [])
    """
    below, above = ceil(limit), floor(limit) + 1  # the first instant not below it, and the first above it
    match comparison:
        case Comparison.GREATER:
            return [(above, None)]
        case Comparison.GREATER_OR_EQUAL:
            return [(below, None)]
        case Comparison.LESS:
            return [(ALWAYS, below)]
        case Comparison.LESS_OR_EQUAL:
            return [(ALWAYS, above)]
        case Comparison.EQUAL:
            return [(below, above)] if below < above else []
        case Comparison.NOT_EQUAL:
            return [(ALWAYS, below), (above, None)] if below < above else [(ALWAYS, None)]
        case _:
            raise AssertionError("the language has no such comparison")
