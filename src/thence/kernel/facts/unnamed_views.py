"""Unnamed views: composite fact patterns under ONSTART and ONEND, each match of which has its turn (TEF-50)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.kernel.facts.cells import Cell
from thence.kernel.facts.fact_nodes import ALWAYS, FactBase, FactMatch, TimesSlots
from thence.kernel.facts.fact_queries import Change, FactQuery
from thence.kernel.facts.fact_store import Fact
from thence.kernel.facts.frames import Frame, frame_rank

Identity: TypeAlias = tuple[Frame, int]
"""A mapping and a start (TEF-50); the ends of open facts are not bound."""


class Turn(NamedTuple):
    """A match that began, with its place in the order of creation."""

    order: tuple[object, ...]
    view: int
    match: FactMatch


Origin: TypeAlias = tuple[Frame, frozenset[tuple[int, Cell]], tuple[int, ...], int]
"""What a match is, whatever interrupts it: its mapping, what UNION has dropped, the arms, and the start."""


@dataclass(slots=True)
class Continuity:
    """Since when each match of a pattern with WITHOUT holds without a break: what it is without may start and end at
    one time, and then it starts anew (TEF-43, TEF-49). `query` is the pattern without `[?s, ?e]` around it."""

    query: FactQuery
    times: TimesSlots | None
    since: dict[Origin, int] = field(default_factory=dict)

    def note(self, facts: FactBase) -> None:
        """After a step that may have changed it."""
        earlier = self.since
        self.since = {origin: earlier.get(origin, facts.now) for origin in map(_origin, self._holding(facts))}

    def open(self, facts: FactBase) -> list[FactMatch]:
        found = []
        for each in self._holding(facts):
            start, frame = self.since.get(_origin(each), facts.now), each.frame
            timed = frame if self.times is None else self.times.timed(frame, start, None, facts)
            if timed is not None:
                found.append(each._replace(frame=timed, start=start))
        return found

    def ended(self, match: FactMatch, facts: FactBase) -> FactMatch:
        """The match as it is now that it has ended."""
        for each in self.query.every(ALWAYS, facts):
            if _agree(match.frame, each.frame) and each.end == facts.now:
                timed = each.frame
                if self.times is not None:
                    timed = self.times.timed(each.frame, match.start, facts.now, facts) or match.frame
                return each._replace(frame=timed)
        return match._replace(end=facts.now)

    def _holding(self, facts: FactBase) -> list[FactMatch]:
        return [each for each in self.query.every(facts.now, facts) if each.holds_at(facts.now)]


def _origin(match: FactMatch) -> Origin:
    return match.frame, match.hidden, match.arms, match.start


def _agree(one: Frame, other: Frame) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


@dataclass(slots=True)
class UnnamedQuery:
    """A composite fact pattern of ONSTART, ONEND or SELECT, each match of which starts and ends for itself."""

    query: FactQuery
    continuity: Continuity | None

    def open(self, facts: FactBase) -> list[FactMatch]:
        """The matches that hold."""
        if self.continuity is not None:
            return self.continuity.open(facts)
        return [each for each in self.query.every(facts.now, facts) if each.holds_at(facts.now)]

    def began(self, facts: FactBase) -> list[FactMatch]:
        """Those of them that began at this instant."""
        if self.continuity is not None:
            return [each for each in self.continuity.open(facts) if each.start == facts.now]
        return self.query.began(facts.now, facts)

    def ended(self, match: FactMatch, facts: FactBase) -> FactMatch:
        """A match as it is now that it has ended: its times are bound."""
        if self.continuity is not None:
            return self.continuity.ended(match, facts)
        for each in self.query.every(ALWAYS, facts):
            if _agree(match.frame, each.frame) and each.start == match.start and each.end == facts.now:
                return each
        return match._replace(end=facts.now)


@dataclass(slots=True)
class UnnamedView:
    """The view of that number: the matches that began at this instant, if ONSTART asks for them; those that hold, if
    ONEND does."""

    number: int
    query: UnnamedQuery
    has_starts: bool
    has_ends: bool
    begun: dict[Identity, Turn] = field(default_factory=dict)
    held: dict[Identity, FactMatch] = field(default_factory=dict)

    def begin(self) -> None:
        """An instant begins."""
        if self.begun:
            self.begun = {}

    def recall(self, facts: FactBase) -> None:
        """What holds follows from the facts."""
        if self.has_ends:
            self.held = self._open(facts)

    def note_begun(self, facts: FactBase, step: int) -> None:
        """After a step that may have changed it: what began at this instant and holds, after all facts of the step."""
        still: dict[Identity, Turn] = {}
        for each in self.query.began(facts):
            identity = (each.frame, each.start)
            order = (facts.store.created, 1, step, self.number, frame_rank(each.frame))
            known = self.begun.get(identity)
            still.setdefault(identity, Turn(order if known is None else known.order, self.number, each))
        self.begun = still

    def ended(self, facts: FactBase) -> list[FactMatch]:
        """After a step that may have changed it: what held and no longer does, in order."""
        earlier, self.held = self.held, self._open(facts)
        gone = [each for identity, each in earlier.items() if identity not in self.held and each.start < facts.now]
        gone.sort(key=lambda each: (each.start, frame_rank(each.frame)))
        return [self.query.ended(each, facts) for each in gone]

    def _open(self, facts: FactBase) -> dict[Identity, FactMatch]:
        return {(each.frame, each.start): each for each in self.query.open(facts)}


def touched(views: Sequence[UnnamedView], facts: FactBase, change: Change) -> Iterator[UnnamedView]:
    """The views that a step may have changed."""
    changed: list[Fact] = facts.store.started + facts.store.stopped
    return (view for view in views if view.query.query.is_touched(changed, change))
