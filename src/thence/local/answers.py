"""From the kernel's rows to matches: events found again, constructed events made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from uuid import UUID

from thence.algebra.expressions import Variable
from thence.algebra.sequences import ConstructEvents
from thence.kernel.projection import Cell, Row
from thence.local.composed import ComposedRunner
from thence.local.results import Counts, Located, Match, Namesakes, Problem
from thence.local.sequences import SequenceRunner
from thence.match.context import Context
from thence.match.queries import instance
from thence.rdf.columns import EventBatch
from thence.rdf.events import Event, distinct
from thence.rdf.times import Domain, format_time

_FEW = 1024
"""Given objects that are kept without asking whether their batches still are."""


@dataclass(slots=True)
class Answers:
    """Makes matches of rows. Events that came as objects come out as the same objects."""

    runner: SequenceRunner | ComposedRunner
    counts: Counts = field(default_factory=Counts)
    given: dict[int, tuple[EventBatch, Sequence[Event]]] = field(default_factory=dict)  # by their dictionary's identity
    tidy_at: int = _FEW
    _latest: tuple[Located, ...] = field(default=(), repr=False)  # where the last match's events were

    def keep(self, batch: EventBatch, events: Sequence[Event]) -> None:
        """Remember what a batch was made of; pieces of it have its dictionary."""
        self.given[id(batch.terms)] = (batch, events)

    def of(self, rows: Iterable[Row], domain: Domain) -> Iterator[Match]:
        """A match for each row; for CONSTRUCT, for each row that makes an event."""
        form = self.runner.program.query.form
        counts, context, namesakes = self.counts, self.runner.context, Namesakes()
        for row in rows:
            match = Match(row, domain, self._located(row.refs))
            if isinstance(form, ConstructEvents):
                name = namesakes.told_apart(match.certain, match.uuid)
                made = constructed(form, match.bindings, name, match.certain, domain, context)
                if made is None:
                    continue
                match = replace(match, constructed=made)
            counts.matches += 1
            yield match
        self._let_go()

    def problems(self, domain: Domain) -> Iterator[Problem]:
        """Since the last call: events that asked too much of the matcher, which matched nothing, and are bad; and
        partial matches that timed out, where these are told."""
        for stream, batch, index, reason in self.runner.refused():
            self.counts.bad += 1
            yield Problem("bad", reason, stream, event=batch.event(index))
        expired, self.runner.expired = self.runner.expired, []
        for row, missing in expired:
            self.counts.timed_out += 1
            located = zip(self._located(row.refs), row.refs, strict=True)
            events = tuple(batch.held(ref).event() for batch, ref in located)
            stream, _, _ = self.runner.event(row.refs[-1])
            reason = f"{missing} had not come by {format_time(row.certain, domain)}, when its window ended"
            yield Problem("timed_out", reason, stream, events[-1], events=events, bindings=row.bindings)

    def _located(self, refs: Sequence[int]) -> tuple[Located, ...]:
        """The batch that each of some events is in: often the same for all, and as for those before."""
        found = []
        batch = self._latest[0] if self._latest else None
        for ref in refs:
            if batch is None or not batch.first <= ref < batch.stop:
                batch = self._looked_up(ref)
            found.append(batch)
        located = tuple(found)
        if located != self._latest:
            self._latest = located
        return self._latest

    def _looked_up(self, ref: int) -> Located:
        _, batch, index = self.runner.event(ref)
        first = ref - index
        if not isinstance(batch, EventBatch) or id(batch.terms) not in self.given:
            return Located(batch, first, first + len(batch))
        whole, events = self.given[id(batch.terms)]
        return Located(batch, first, first + len(batch), events, int(whole.positions[0]))

    def _let_go(self) -> None:
        """Forget the objects of batches that the runner has let go."""
        self._latest = ()
        if len(self.given) < self.tidy_at:
            return
        alive = {id(each.batch.terms) for each in self.runner.held}
        self.given = {key: value for key, value in self.given.items() if key in alive}
        self.tidy_at = max(_FEW, 2 * len(self.given))


def constructed(
    form: ConstructEvents, bindings: Mapping[str, Cell], name: UUID, certain: int, domain: Domain, context: Context
) -> Event | None:
    """The event that a match of that name makes, at the time at which it became certain; None without triples. Its
    blank nodes are its own, and the same whenever the match is found."""
    solution = {
        Variable(variable): cell for variable, cell in bindings.items() if not isinstance(cell, tuple | Mapping)
    }
    triples = distinct(instance(form.template, solution, replace(context, random=Random(name.int))))
    return Event.from_columns(certain, certain, domain, name.urn, triples) if triples else None
