"""From rows to matches: events found again in their batches, and problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from thence.columns.event_batch import EventBatch
from thence.local.flow import LocalFlow
from thence.program.solutions import Row
from thence.rdf.events import Event
from thence.rdf.times import Domain
from thence.runtime.results import Counts, LocatedBatch, Match, Problem

_FEW = 1024
"""Input objects that are retained without asking whether their batches still are."""


@dataclass(slots=True)
class Answers:
    """Builds matches of rows. Events that came as objects come out as the same objects."""

    flow: LocalFlow
    counts: Counts = field(default_factory=Counts)
    objects: dict[int, tuple[EventBatch, Sequence[Event]]] = field(default_factory=dict)  # by identity of the terms
    _look_at: int = _FEW
    _latest: tuple[LocatedBatch, ...] = field(default=(), repr=False)  # of the last match

    def remember(self, batch: EventBatch, events: Sequence[Event]) -> None:
        """Note which objects a batch was encoded from; its parts have the same dictionary."""
        self.objects[id(batch.terms)] = (batch, events)

    def of(self, rows: Iterable[Row], domain: Domain) -> Iterator[Match]:
        """A match for each row."""
        counts = self.counts
        for row in rows:
            counts.matches += 1
            yield Match(row, domain, self._located(row.refs))
        self._evict()

    def problems(self, domain: Domain) -> Iterator[Problem]:
        """Since the last call: events that extraction refused, which are bad, and partial matches that timed out."""
        for arrived, number, reason in self.flow.rejected():
            self.counts.bad += 1
            self.counts.events -= arrived.stream not in self.flow.dataflow.derived  # it was counted as it arrived
            yield Problem("bad", reason, arrived.stream, event=arrived.batch.event(number))
        timed_out, self.flow.timed_out = self.flow.timed_out, []
        for each in timed_out:
            self.counts.timed_out += 1
            located = zip(self._located(each.row.refs), each.row.refs, strict=True)
            events = tuple(batch.held(ref).event() for batch, ref in located)
            yield Problem("timed_out", each.reason, each.stream, events[-1], events=events, bindings=each.row.bindings)

    def _located(self, refs: Sequence[int]) -> tuple[LocatedBatch, ...]:
        """The batch that each of some events is in: often the same for all, and the same as for the last match."""
        found = []
        batch = self._latest[0] if self._latest else None
        for ref in refs:
            if batch is None or not batch.first <= ref < batch.stop:
                batch = self._find(ref)
            found.append(batch)
        located = tuple(found)
        if located != self._latest:
            self._latest = located
        return self._latest

    def _find(self, ref: int) -> LocatedBatch:
        arrived = self.flow.log.find(ref)
        batch, first = arrived.batch, arrived.first_ref
        if not isinstance(batch, EventBatch) or id(batch.terms) not in self.objects:
            return LocatedBatch(batch, first, first + len(batch))
        whole, events = self.objects[id(batch.terms)]
        return LocatedBatch(batch, first, first + len(batch), events, int(whole.positions[0]))

    def _evict(self) -> None:
        """Drop the objects of batches that the flow has evicted."""
        self._latest = ()
        if len(self.objects) < self._look_at:
            return
        alive = {id(each.batch.terms) for each in self.flow.log.batches}
        self.objects = {key: value for key, value in self.objects.items() if key in alive}
        self._look_at = max(_FEW, 2 * len(self.objects))
