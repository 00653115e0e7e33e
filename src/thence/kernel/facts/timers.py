"""When time alone drives a step: the limits of `now() op c` over facts (TEF-63, TEF-64)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from thence.algebra.expressions import Comparison
from thence.kernel.facts.compiled_expressions import Attempt
from thence.kernel.facts.fact_nodes import FactBase, FactMatch, instant, true_when
from thence.kernel.facts.fact_queries import Change, FactQuery
from thence.kernel.facts.fact_store import FOREVER, Fact

_FEW = 64  # entries, of which no heap is cleaned


@dataclass(slots=True)
class Timer:
    """A comparison with now(): what stands before it, and its limit."""

    query: FactQuery
    comparison: Comparison
    limit: Attempt

    def times(self, matches: Iterable[FactMatch], facts: FactBase) -> Iterator[tuple[int, tuple[Fact, ...]]]:
        """When the comparison changes for some matches, from now on, each with the facts of the match."""
        for each in matches:
            limit = instant(self.limit(each.frame, facts.moment), facts.domain)
            for bounds in () if limit is None else true_when(self.comparison, limit):
                for time in bounds:
                    if time is not None and time > facts.now:
                        yield time, each.facts


@dataclass(slots=True)
class Timers:
    """Times to come, as a heap. An entry stands for as long as all its facts hold. Patterns that are not monotone are
    looked at anew when facts change: `others`."""

    timers: tuple[Timer, ...]
    heap: list[tuple[int, int, tuple[Fact, ...]]] = field(default_factory=list)
    entered: int = 0
    others: list[int] = field(default_factory=list)
    clean: int = _FEW  # entries that are too many, unless they all stand

    def recall(self, facts: FactBase) -> None:
        """All of them, from the facts that hold."""
        self.heap, self.others = [], []
        for timer in self.timers:
            self._enter(timer, timer.query.every(FOREVER, facts), facts)

    def note(self, facts: FactBase, stopped: Iterable[Fact], change: Change) -> None:
        """After an instant: what its facts bring."""
        store = facts.store
        begun = [fact for fact in store.begun if fact.end is None]
        changed = [*begun, *stopped]
        again = any(not each.query.is_monotone and each.query.is_touched(changed, change) for each in self.timers)
        if again:
            self.others = []
        for timer in self.timers:
            if timer.query.is_monotone:
                self._enter(timer, timer.query.held_with(begun, facts), facts)
            elif again:
                self._enter(timer, timer.query.every(FOREVER, facts), facts)

    def _enter(self, timer: Timer, matches: Iterable[FactMatch], facts: FactBase) -> None:
        for time, made_of in timer.times(matches, facts):
            if timer.query.is_monotone:
                self.entered += 1
                heapq.heappush(self.heap, (time, self.entered, made_of))
            else:
                self.others.append(time)

    def next(self, now: int) -> int | None:
        """The next time after now."""
        heap = self.heap
        if len(heap) > self.clean:
            self.heap = heap = [each for each in heap if each[0] > now and _stands(each)]
            heapq.heapify(heap)
            self.clean = max(_FEW, 2 * len(heap))
        while heap and (heap[0][0] <= now or not _stands(heap[0])):
            heapq.heappop(heap)
        times = [time for time in self.others if time > now]
        if heap:
            times.append(heap[0][0])
        return min(times, default=None)


def _stands(entry: tuple[int, int, tuple[Fact, ...]]) -> bool:
    return all(fact.end is None for fact in entry[2])
