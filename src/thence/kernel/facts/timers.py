"""When time alone drives a step: when comparisons with now() over facts will be true or false next (TEF-64)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from thence.kernel.facts.fact_nodes import FactBase
from thence.kernel.facts.fact_queries import Change, FactQuery
from thence.kernel.facts.fact_store import FOREVER, Fact
from thence.kernel.facts.frames import Frame

_FEW = 64


class Due(NamedTuple):
    """A time to come: that of the matches of a query with a frame."""

    time: int
    entered: int
    query: int
    frame: Frame


@dataclass(slots=True)
class Timers:
    """The times to come, as a heap. What is due follows from the facts that began, for as long as they hold: an entry
    is looked at again when its turn comes. Queries with WITHOUT are asked anew when facts have changed: `others`."""

    queries: tuple[FactQuery, ...]
    heap: list[Due] = field(default_factory=list)
    known: set[tuple[int, int, Frame]] = field(default_factory=set)  # what the heap has
    entered: int = 0
    others: set[int] = field(default_factory=set)
    most: int = _FEW  # entries of the heap, before those that are no longer due are dropped

    def recall(self, facts: FactBase) -> None:
        """All of them, from the facts that hold."""
        self.heap, self.known, self.others = [], set(), set()
        for number, query in enumerate(self.queries):
            if query.has_absence:
                self.others |= _due(query, query.empty, facts)
            else:
                frames = query.frames(facts.store.holding())
                self._enter(number, frames if query.needs_facts else [query.empty, *frames], facts)
        self.most = max(_FEW, 2 * len(self.heap))

    def next(self, facts: FactBase, stopped: Iterable[Fact], change: Change) -> int | None:
        """After an instant: the next time."""
        begun = [fact for fact in facts.store.begun if fact.end is None]
        changed = [*begun, *stopped]
        if any(each.has_absence and each.is_touched(changed, change) for each in self.queries):
            self.others = set()
            for query in self.queries:
                if query.has_absence:
                    self.others |= _due(query, query.empty, facts)
        for number, query in enumerate(self.queries):
            if begun and not query.has_absence:
                self._enter(number, query.frames(begun), facts)
        if len(self.heap) > self.most:
            self.recall(facts)
        self._look_again(facts)
        times = [time for time in self.others if time > facts.now]
        if self.heap:
            times.append(self.heap[0].time)
        return min(times, default=None)

    def _enter(self, number: int, frames: Iterable[Frame], facts: FactBase) -> None:
        for frame in frames:
            for time in _due(self.queries[number], frame, facts):
                if (time, number, frame) not in self.known:
                    self.known.add((time, number, frame))
                    self.entered += 1
                    heapq.heappush(self.heap, Due(time, self.entered, number, frame))

    def _look_again(self, facts: FactBase) -> None:
        """Drop entries that have passed, or are no longer due; what is due after them instead is entered."""
        while self.heap:
            time, _, number, frame = self.heap[0]
            due = _due(self.queries[number], frame, facts)
            if time in due:
                break
            heapq.heappop(self.heap)
            self.known.discard((time, number, frame))
            self._enter(number, [frame], facts)


def _due(query: FactQuery, frame: Frame, facts: FactBase) -> set[int]:
    """When comparisons of a query will be true or false next, of the matches with a frame."""
    facts.due = set()
    query.node.find(frame, FOREVER, facts)
    return facts.due
