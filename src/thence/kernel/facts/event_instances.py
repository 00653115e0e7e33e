"""Matches of event patterns, what they wait for, and where they are stored (TEF-39, TEF-58, TEF-71)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from thence.kernel.facts.cells import Cell
from thence.kernel.facts.compiled_expressions import Attempt, Truth
from thence.kernel.facts.fact_nodes import FactBase, FactNode, assigned
from thence.kernel.facts.fact_store import Fact, FactStore
from thence.kernel.facts.frames import Frame, Layout, is_bound, merged, only, over


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
    """A fact pattern right of WITHOUT that can't be asked yet, with the facts that it may ask for, as they were; and
    the times of the event, of which the last one is asked for. `number` is its own among those of a statement."""

    number: int
    pattern: FactNode
    facts: tuple[Fact, ...]
    start: int
    last: int
    now: int

    def holds(self, frame: Frame, facts: FactBase) -> bool:
        """Whether the pattern has a match at a time of the event."""
        then = replace(facts, store=FactStore(), moment=facts.at(self.now), due=set())
        for fact in self.facts:
            then.store.add(fact)
        found = self.pattern.find(frame, self.start, then)
        return any(each.start <= self.last and (each.end is None or self.start < each.end) for each in found)


class Blocking(NamedTuple):
    """What stands right of WITHOUT, and was there, if it goes with variables that are bound further to the left
    (TEF-39): those in `slots`. `blocked` is what it is WITHOUT itself, if that is not decided either, `captured` a
    pattern that says whether it was there."""

    frame: Frame
    slots: tuple[int, ...]
    pending: tuple[Pending, ...] = ()
    blocked: tuple[Blocking, ...] = ()
    captured: Captured | None = None


class EventInstance(NamedTuple):
    """A match of an event pattern. `keys` are its events in pattern order, `refs` those from outside; `read` are the
    facts that DURING and WITH have read; `hidden` is what UNION has dropped, by slot, `arms` which arms they are of."""

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


def settled(instance: EventInstance, facts: FactBase, *, is_whole: bool = False) -> EventInstance | None:
    """With the expressions evaluated that waited for variables which are bound now; None: one does not hold. If it is
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
    waiting = EventInstance(together, 0, 0, (), (), other.pending, blocked=other.blocked)
    return settled(waiting, facts, is_whole=True) is not None


def is_met(other: EventInstance, frame: Frame, facts: FactBase) -> bool:
    """Whether an instance, right of WITHOUT, goes with what is bound to its left (TEF-39)."""
    together = merged(frame, other.frame)
    if together is None:
        return False
    return settled(other._replace(frame=together), facts, is_whole=True) is not None


_FEW = 64


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
    most: int = _FEW  # instances, before those that are no longer of use are dropped

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
        if self.size <= self.most:
            return
        for key in list(self.listed):
            kept = [each for each in self.listed[key] if (each.end if by_end else each.start) >= before]
            if kept:
                self.listed[key] = kept
            else:
                del self.listed[key]
        self.size = sum(map(len, self.listed.values()))
        self.most = max(_FEW, 2 * self.size)

    def _key(self, frame: Frame) -> Frame:
        return tuple([frame[slot] for slot in self.slots])


@dataclass(slots=True)
class AbsentEvents:
    """The events of a pattern right of `F WITHOUT E` that have been so far."""

    stored: Stored

    def times(self, frame: Frame, first: int, after: int, facts: FactBase) -> list[int]:
        """When those ended that go with what is bound: they are stored in the order of their ends."""
        found: list[int] = []
        for each in reversed(self.stored.of(frame)):
            if each.end <= first or (found and found[-1] <= after):
                break
            if is_met(each, frame, facts):
                found.append(each.end)
        return found
