"""Unnamed views: composite fact patterns under ONSTART and ONEND, each match of which has its turn (TEF-50)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.kernel.facts.fact_nodes import ALWAYS, FactBase, FactMatch
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


@dataclass(slots=True)
class UnnamedView:
    """The view of that number: the matches that began at this instant, if ONSTART asks for them; those that hold, if
    ONEND does."""

    number: int
    query: FactQuery
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
        for each in self.query.began(facts.now, facts):
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
        return [self._as_ended(each, facts) for each in gone]

    def _open(self, facts: FactBase) -> dict[Identity, FactMatch]:
        now = facts.now
        return {(each.frame, each.start): each for each in self.query.every(now, facts) if each.holds_at(now)}

    def _as_ended(self, match: FactMatch, facts: FactBase) -> FactMatch:
        """The match as it is now that it has ended: its times are bound."""
        for each in self.query.every(ALWAYS, facts):
            same = all(one is None or one == other for one, other in zip(match.frame, each.frame, strict=True))
            if same and each.start == match.start and each.end == facts.now:
                return each
        return match._replace(end=facts.now)


def touched(views: Sequence[UnnamedView], facts: FactBase, change: Change) -> Iterator[UnnamedView]:
    """The views that a step may have changed."""
    changed: list[Fact] = facts.store.started + facts.store.stopped
    return (view for view in views if view.query.is_touched(changed, change))
