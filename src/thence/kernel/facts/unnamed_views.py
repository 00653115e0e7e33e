"""Unnamed views: composite fact patterns under ONSTART and ONEND, each match of which has its turn (TEF-50).

Each change comes as frames: what is known of the matches that agree with them is derived again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.kernel.facts.cells import Cell
from thence.kernel.facts.fact_nodes import FactBase, FactMatch, TimesSlots
from thence.kernel.facts.fact_queries import FactQuery
from thence.kernel.facts.frame_index import FrameIndex
from thence.kernel.facts.frames import Frame, frame_rank, only

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
    one time, and then it starts again (TEF-43, TEF-49). `times` are those around the pattern, `[?s, ?e]`, if it has
    any: they are not part of the query."""

    query: FactQuery
    times: TimesSlots | None
    since: FrameIndex[Origin, int] = field(default_factory=FrameIndex)

    def note(self, frames: Iterable[Frame], facts: FactBase) -> None:
        """After a step that may have changed the matches that agree with some frames."""
        for frame in frames:
            earlier = self.since.take(frame)
            for origin in map(_origin, self.query.holding(frame, facts)):
                self.since.put(origin, earlier.get(origin, facts.now))

    def open(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        found = []
        for each in self.query.holding(frame, facts):
            start = self.since.entries.get(_origin(each), facts.now)
            timed = each.frame if self.times is None else self.times.timed(each.frame, start, None, facts)
            if timed is not None:
                found.append(each._replace(frame=timed, start=start))
        return found

    def timed(self, ended: FactMatch, match: FactMatch, facts: FactBase) -> FactMatch:
        """A match that has ended, with the times that it has held."""
        if self.times is None:
            return ended
        return ended._replace(frame=self.times.timed(ended.frame, match.start, facts.now, facts) or match.frame)


def _origin(match: FactMatch) -> Origin:
    return match.frame, match.hidden, match.arms, match.start


def _agree(one: Frame, other: Frame) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


@dataclass(slots=True)
class UnnamedQuery:
    """A composite fact pattern of ONSTART, ONEND or SELECT, each match of which starts and ends for itself."""

    query: FactQuery
    continuity: Continuity | None  # of the query

    def open(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        """The matches that hold and agree with a frame."""
        return self.query.holding(frame, facts) if self.continuity is None else self.continuity.open(frame, facts)

    def began(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        """Those of them that began at this instant."""
        return [each for each in self.open(frame, facts) if each.start == facts.now]

    def ended(self, match: FactMatch, facts: FactBase) -> FactMatch:
        """A match as it is now that it has ended: its times are bound."""
        now = facts.now
        for each in self.query.found(only(match.frame, self.query.fixed), now - 1, facts):
            if each.end == now and _agree(match.frame, each.frame):
                if self.continuity is not None:
                    return self.continuity.timed(each, match, facts)
                if each.start == match.start:
                    return each
        return match._replace(end=now)


@dataclass(slots=True)
class UnnamedView:
    """The view of that number: the matches that began at this instant, if ONSTART asks for them; those that hold, if
    ONEND does."""

    number: int
    query: UnnamedQuery
    has_starts: bool
    has_ends: bool
    begun: FrameIndex[Identity, Turn] = field(default_factory=FrameIndex)
    held: FrameIndex[Identity, FactMatch] = field(default_factory=FrameIndex)

    def begin(self) -> None:
        """An instant begins."""
        if self.begun:
            self.begun = FrameIndex()

    def recall(self, facts: FactBase) -> None:
        """What holds follows from the facts."""
        if self.has_ends:
            self.ended([self.query.query.empty], facts)

    def note_begun(self, frames: Iterable[Frame], facts: FactBase, step: int) -> None:
        """After a step: what began at this instant and holds, of the matches that agree with some frames; it comes
        after all facts of the step."""
        for frame in frames:
            earlier = self.begun.take(frame)
            for each in self.query.began(frame, facts):
                identity = (each.frame, each.start)
                order = (facts.store.created, 1, step, self.number, frame_rank(each.frame))
                known = earlier.get(identity)
                self.begun.put(identity, Turn(order if known is None else known.order, self.number, each))

    def ended(self, frames: Iterable[Frame], facts: FactBase) -> list[FactMatch]:
        """After a step: what held and no longer does, in order, of the matches that agree with some frames."""
        gone: list[FactMatch] = []
        for frame in frames:
            earlier = self.held.take(frame)
            for each in self.query.open(frame, facts):
                self.held.put((each.frame, each.start), each)
            gone += (each for identity, each in earlier.items() if identity not in self.held)
        gone = [each for each in gone if each.start < facts.now]
        gone.sort(key=lambda each: (each.start, frame_rank(each.frame)))
        return [self.query.ended(each, facts) for each in gone]
