"""The current event of a step (TEF-21); matches of event patterns, what they wait for, and where they are stored
(TEF-39, TEF-58, TEF-71)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from thence.engines.facts.compiled_expressions import Attempt, Truth
from thence.engines.facts.fact_nodes import ALWAYS, FactBase, FactMatch, FactNode, TripleSlots, assigned
from thence.engines.facts.fact_store import Fact, FactStore
from thence.engines.facts.frames import Cell, CellTriple, Frame, Layout, is_bound, merged, only, over
from thence.match.context import Solution
from thence.rdf.terms import Triple

# The event in hand of a step (TEF-21): an event triple, or a fact or an unnamed view that began or ended.


class CurrentTriple(NamedTuple):
    """An event triple, from outside (`ref`) or constructed. `key` numbers events in the order in which they are
    taken."""

    key: int
    triple: CellTriple
    start: int
    end: int
    refs: tuple[int, ...]


class CurrentFact(NamedTuple):
    """A fact that began (ONSTART) or ended (ONEND)."""

    key: int
    fact: Fact
    starts: bool
    time: int


class CurrentMatch(NamedTuple):
    """A match of a composite fact pattern that began or ended: of the unnamed view of that number (TEF-50)."""

    key: int
    view: int
    match: FactMatch
    starts: bool
    time: int


CurrentEvent: TypeAlias = CurrentTriple | CurrentFact | CurrentMatch


class EmittedRow(NamedTuple):
    """A row of a SELECT: `query` numbers the SELECTs from 1."""

    query: int
    certain: int
    start: int
    end: int
    bound: Solution
    refs: tuple[int, ...]


class EmittedEvent(NamedTuple):
    """A constructed event."""

    statement: int
    start: int
    end: int
    triples: tuple[Triple, ...]
    refs: tuple[int, ...]


class EmittedFact(NamedTuple):
    """A fact that ended."""

    certain: int
    start: int
    end: int | None
    triple: Triple
    number: int


Emitted: TypeAlias = EmittedRow | EmittedEvent | EmittedFact


@dataclass(frozen=True, slots=True, eq=False)
class WaitingExpression:
    """A test, or the value of a variable (its slot). `slots` are those of the variables that it waits for: they are
    bound further to the left. `number` is its own among those of a statement."""

    number: int
    slots: tuple[int, ...]
    slot: int  # -1 of a test
    truth: Truth
    value: Attempt


class Pending(NamedTuple):
    """An expression that waits for variables to its left (TEF-58). `frame` is what its part binds, `now` when its part
    was completed (TEF-62)."""

    expression: WaitingExpression
    frame: Frame
    now: int


class Captured(NamedTuple):
    """A fact pattern that cannot be evaluated yet, with the facts that it may match, each with its end as it was
    (TEF-23). It also has the times of the event, the last of which is the time to evaluate at, and its key. `number` is
    unique in a statement."""

    number: int
    pattern: FactNode
    facts: tuple[tuple[Fact, int | None], ...]
    start: int
    last: int
    now: int
    before: int

    def find(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        """The matches that end after the event's start, of the facts as they are."""
        store = FactStore()
        known: dict[int, Fact] = {}
        for fact, end in self.facts:
            store.add(replace(fact, end=end))
            known[fact.number] = fact
        then = replace(facts, store=store, moment=facts.at(self.now), due=set(), before=self.before)
        found = self.pattern.find(frame, self.start, then)
        return [each._replace(facts=tuple([known[fact.number] for fact in each.facts])) for each in found]

    def holds(self, frame: Frame, facts: FactBase) -> bool:
        """Whether the pattern has a match at a time of the event (TEF-32)."""
        found = self.find(frame, facts)
        return any(each.start <= self.last and (each.end is None or self.start < each.end) for each in found)


class Asked(NamedTuple):
    """Facts right of DURING or WITH, or static ones, that can't be asked yet: they go with variables that are bound
    further to the left, those in `slots`. `frame` is what was bound; `bound` are the slots that they bind."""

    frame: Frame
    slots: tuple[int, ...]
    bound: tuple[int, ...]
    captured: Captured

    def answers(self, instance: EventInstance, facts: FactBase) -> Iterator[EventInstance]:
        """An instance with each of the matches that hold as long as they should (TEF-30, TEF-31)."""
        start, last = self.captured.start, self.captured.last
        for each in self.captured.find(over(self.frame, only(instance.frame, self.slots)), facts):
            frame = merged(only(each.frame, self.bound), instance.frame)
            if frame is not None and each.start <= start and (each.end is None or last < each.end):
                yield instance._replace(
                    frame=frame, read=instance.read + each.facts, hidden=instance.hidden | each.hidden
                )


class Blocking(NamedTuple):
    """What is right of WITHOUT, and was there, if it goes with variables that are bound further to the left
    (TEF-39): those in `slots`. `blocked` is what it is WITHOUT itself, if that is not decided either, `captured` a
    pattern that says whether it was there, `asked` are facts that it goes with."""

    frame: Frame
    slots: tuple[int, ...]
    pending: tuple[Pending, ...] = ()
    blocked: tuple[Blocking, ...] = ()
    captured: Captured | None = None
    asked: tuple[Asked, ...] = ()


class EventInstance(NamedTuple):
    """A match of an event pattern. `keys` are its events in pattern order, `refs` those from outside; `read` are the
    facts that DURING and WITH have read; `hidden` is what UNION has dropped, by slot, `arms` which arms they are of.
    The rest waits for variables further to the left."""

    frame: Frame
    start: int
    end: int
    keys: tuple[int, ...]
    refs: tuple[int, ...]
    pending: tuple[Pending, ...] = ()
    read: tuple[Fact, ...] = ()
    hidden: frozenset[tuple[int, Cell]] = frozenset()
    arms: tuple[int, ...] = ()
    blocked: tuple[Blocking, ...] = ()
    asked: tuple[Asked, ...] = ()

    @property
    def waits(self) -> bool:
        return bool(self.pending or self.blocked or self.asked)


def wholes(instance: EventInstance, facts: FactBase) -> Iterator[EventInstance]:
    """The complete instances once nothing further to the left is to come: a variable without a value stays unbound."""
    if not instance.asked:
        whole = settled(instance, facts, is_whole=True)
        if whole is not None:
            yield whole
        return
    first, *rest = instance.asked
    for each in first.answers(instance._replace(asked=tuple(rest)), facts):
        known = settled(each, facts)
        if known is not None:
            yield from wholes(known, facts)


def _is_there(instance: EventInstance, facts: FactBase) -> bool:
    return next(wholes(instance, facts), None) is not None


def settled(instance: EventInstance, facts: FactBase, *, is_whole: bool = False) -> EventInstance | None:
    """The instance with all expressions evaluated whose variables are bound now; None if a condition fails. If it is
    whole, nothing further to the left is to come: a variable without a value stays so."""
    if not instance.pending and not instance.blocked:
        return instance
    frame, rest = instance.frame, []
    for each in instance.pending:
        waiting = each.expression
        known = over(each.frame, only(frame, waiting.slots))
        if not is_whole and not is_bound(known, waiting.slots):
            rest.append(each)
        elif waiting.slot < 0:
            if not waiting.truth(known, facts.at(each.now)):
                return None
        else:
            found = assigned(known, waiting.slot, waiting.value(known, facts.at(each.now)))
            made = None if found is None else merged(only(found, (waiting.slot,)), frame)
            if made is None:
                return None
            frame = made
    undecided = []
    for other in instance.blocked:
        if merged(only(frame, other.slots), other.frame) is None:
            continue  # it is about something else
        if not is_whole and not is_bound(frame, other.slots):
            undecided.append(other)
        elif _still_blocks(other, frame, facts):
            return None
    return instance._replace(frame=frame, pending=tuple(rest), blocked=tuple(undecided))


def _still_blocks(other: Blocking, frame: Frame, facts: FactBase) -> bool:
    together = over(other.frame, only(frame, other.slots))
    if other.captured is not None:
        return other.captured.holds(together, facts)
    waiting = EventInstance(together, 0, 0, (), (), other.pending, blocked=other.blocked, asked=other.asked)
    return _is_there(waiting, facts)


def is_met(other: EventInstance, frame: Frame, facts: FactBase) -> bool:
    """Whether an instance, right of WITHOUT, goes with what is bound to its left (TEF-39)."""
    together = merged(frame, other.frame)
    return together is not None and _is_there(other._replace(frame=together), facts)


@dataclass(slots=True)
class Capture:
    """A fact pattern of which something names variables that are bound further to the left, those in `outer`: it is
    asked once they are, of the facts as they were (TEF-23, TEF-58)."""

    pattern: FactNode
    number: int
    leaves: tuple[TripleSlots, ...]
    outer: tuple[int, ...]

    def of(self, instance: EventInstance, last: int, key: int, facts: FactBase) -> Captured:
        """The captured pattern at the step of that key, which completes an instance."""
        known = self._facts(instance.frame, facts)
        return Captured(self.number, self.pattern, known, instance.start, last, facts.now, key)

    def _facts(self, frame: Frame, facts: FactBase) -> tuple[tuple[Fact, int | None], ...]:
        """The facts that it may ask for, in the order of a store."""
        found: dict[int, Fact] = {}
        for leaf in self.leaves:
            subject, predicate, target = (
                frame[slot] if constant is None else constant for constant, slot in leaf.positions
            )
            found.update((fact.number, fact) for fact in facts.store.matching(subject, predicate, target, ALWAYS))
        ordered = sorted(found.values(), key=lambda fact: (0 if fact.end is None else fact.end, fact.number))
        return tuple((fact, fact.end) for fact in ordered)


FEW = 64
"""So many instances are stored before any is dropped."""


@dataclass(slots=True)
class Stored:
    """Instances that were completed earlier, by the variables that the other side always binds too: their slots in the
    statement's layout. Pending expressions are among those of the statement."""

    layout: Layout
    expressions: list[WaitingExpression]
    patterns: list[FactNode]  # that are captured, of the statement
    slots: tuple[int, ...]
    listed: dict[Frame, list[EventInstance]] = field(default_factory=dict)
    size: int = 0
    most: int = field(default_factory=lambda: FEW)  # instances, before those that are no longer of use are dropped

    def add(self, instance: EventInstance) -> None:
        self.listed.setdefault(self._key(instance.frame), []).append(instance)
        self.size += 1

    def of(self, frame: Frame) -> list[EventInstance]:
        return self.listed.get(self._key(frame), [])

    def all(self) -> Iterator[EventInstance]:
        return (each for same in self.listed.values() for each in same)

    def __len__(self) -> int:
        return self.size

    def forget(self, before: int, *, by_end: bool = False) -> None:
        """Drop instances that start before a time, or end before it, once there are twice as many as were left."""
        self.filter(lambda _, listed: [each for each in listed if (each.end if by_end else each.start) >= before])

    def filter(self, wanted: Callable[[Frame, list[EventInstance]], list[EventInstance]]) -> None:
        """Drop what is no longer of use, once there are twice as many as were left."""
        if self.size <= self.most:
            return
        for key in list(self.listed):
            kept = wanted(key, self.listed[key])
            if kept:
                self.listed[key] = kept
            else:
                del self.listed[key]
        self.size = sum(map(len, self.listed.values()))
        self.most = max(FEW, 2 * self.size)

    def _key(self, frame: Frame) -> Frame:
        return tuple([frame[slot] for slot in self.slots])


Beginning: TypeAlias = Callable[[Frame, FactStore], int]
"""Since when a fact pattern may match, given the values that events are stored by; FOREVER: it does not yet."""


@dataclass(slots=True)
class AbsentEvents:
    """The events of a pattern right of `F WITHOUT E` that have been so far. `since` is of F. `back` is how far before
    now they are asked for, if the latest before that stands for all others; None: those at any time are."""

    stored: Stored
    since: Beginning
    back: int | None
    is_captured: bool = False  # they may be asked for with facts as they were

    def forget(self, now: int, store: FactStore) -> None:
        """Drop those that no fact can ask for any more, once there are twice as many as were left: they ended before
        every match of F, or others stand for them (TEF-38, TEF-77)."""
        if not self.is_captured:
            self.stored.filter(lambda key, listed: self._asked_for(key, listed, now, store))

    def _asked_for(self, key: Frame, listed: list[EventInstance], now: int, store: FactStore) -> list[EventInstance]:
        since = self.since(key, store)
        first = 0
        for place, each in enumerate(listed):
            if each.end <= since or (self.back is not None and each.end <= now - self.back):
                first = place + (each.end <= since)
        return listed[first:]

    def times(self, frame: Frame, first: int, after: int, facts: FactBase) -> list[int]:
        """When those ended that go with what is bound: they are stored in the order of their ends."""
        found: list[int] = []
        before = facts.before
        for each in reversed(self.stored.of(frame)):
            if each.end <= first or (found and found[-1] <= after):
                break
            if before is not None and max(each.keys) >= before:
                continue
            if is_met(each, frame, facts):
                found.append(each.end)
        return found
