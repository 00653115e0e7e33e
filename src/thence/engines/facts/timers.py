"""When time alone drives a step: when comparisons with now() over facts will be true or false next (TEF-64)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from thence.engines.facts.fact_nodes import FactBase
from thence.engines.facts.fact_queries import Changes, FactQuery
from thence.engines.facts.fact_store import FOREVER
from thence.engines.facts.frames import Frame, only

_FEW = 64


class Due(NamedTuple):
    """A time to come: that of the matches of a query that agree with a frame."""

    time: int
    entered: int
    query: int
    frame: Frame


@dataclass(slots=True)
class Timers:
    """The times to come, as a heap. They follow from the matches that changes concern, for as long as these hold: an
    entry is looked at again when its turn comes."""

    queries: tuple[FactQuery, ...]
    heap: list[Due] = field(default_factory=list)
    known: set[tuple[int, int, Frame]] = field(default_factory=set)  # what the heap has
    entered: int = 0
    most: int = _FEW  # entries of the heap, before those that are no longer due are dropped

    def recall(self, facts: FactBase) -> None:
        """All of them, from the facts that hold."""
        self.heap, self.known = [], set()
        for number, query in enumerate(self.queries):
            self._enter(number, [query.empty], facts)
        self.most = max(_FEW, 2 * len(self.heap))

    def due(self, now: int) -> dict[FactQuery, list[Frame]]:
        """Remove what is due at a time: by query what is bound in the matches that it concerns."""
        found: dict[FactQuery, list[Frame]] = {}
        while self.heap and self.heap[0].time <= now:
            time, _, number, frame = heapq.heappop(self.heap)
            self.known.discard((time, number, frame))
            found.setdefault(self.queries[number], []).append(frame)
        return found

    def next(self, changes: Changes, facts: FactBase) -> int | None:
        """After an instant: the next time."""
        for number, query in enumerate(self.queries):
            self._enter(number, query.gained(changes), facts)
        if len(self.heap) > self.most:
            self.recall(facts)
        while self.heap:
            time, _, number, frame = self.heap[0]
            if (time, frame) in _due(self.queries[number], frame, facts):
                return time
            heapq.heappop(self.heap)
            self.known.discard((time, number, frame))
        return None

    def _enter(self, number: int, frames: Iterable[Frame], facts: FactBase) -> None:
        for frame in frames:
            for time, own in _due(self.queries[number], frame, facts):
                if (time, number, own) not in self.known:
                    self.known.add((time, number, own))
                    self.entered += 1
                    heapq.heappush(self.heap, Due(time, self.entered, number, own))


def _due(query: FactQuery, frame: Frame, facts: FactBase) -> set[tuple[int, Frame]]:
    """When comparisons of a query will be true or false next, of the matches that agree with a frame; and what is bound
    in each."""
    facts.due = set()
    query.node.find(frame, FOREVER, facts)
    return {(time, only(each, query.fixed)) for time, each in facts.due}
