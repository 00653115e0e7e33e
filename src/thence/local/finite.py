"""A query over finite streams: all is read, ordered by time, and nothing is late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from thence.algebra.sequences import SelectRows
from thence.errors import InputError
from thence.local.answers import Answers
from thence.local.domains import TimeDomain
from thence.local.given import Source
from thence.local.results import Counts, Match, Problem
from thence.local.sequences import in_time
from thence.local.tables import Collected
from thence.rdf.events import BadEvent, Event
from thence.rdf.times import Domain

if TYPE_CHECKING:
    import pyarrow as pa

    from thence.rdf.column_batch import Batch


@dataclass(slots=True)
class Matching(Iterator[Match | Problem]):
    """The answers of a query over finite streams, made as they are asked for. `counts` tells how far it has come."""

    answers: Answers
    streams: Mapping[str, Sequence[Source]]
    domain: TimeDomain
    problems: bool = False
    _made: Iterator[Match | Problem] | None = field(default=None, repr=False)

    def __next__(self) -> Match | Problem:
        if self._made is None:
            self._made = self._run()
        return next(self._made)

    @property
    def counts(self) -> Counts:
        return self.answers.counts

    def table(self) -> pa.Table:
        """All matches of a SELECT as an Arrow table: `start`, `end` and a column for each variable, in which numbers
        are numbers where all of them are. Problems are counted, as ever, and are no rows of it."""
        if self._made is not None:
            raise InputError("Some matches were already taken one by one. Call match() again for a table of all.")
        program = self.answers.runner.program
        if not isinstance(program.query.form, SelectRows):
            raise InputError("A table has the rows of a SELECT, and this query makes events. Take its matches instead.")
        self._made = iter(())
        batches: dict[str, list[Batch]] = {}
        for _ in self._all_read(batches):
            pass
        collected = Collected(program, self.domain.known)
        self.answers.runner.collect(batches, collected)
        for _ in self.answers.problems(self.domain.known):  # counts them
            pass
        made = collected.table()
        self.counts.matches += len(made)
        return made

    def _all_read(self, batches: dict[str, list[Batch]]) -> Iterator[Problem]:
        """Read all streams into `batches`; what is wrong comes out."""
        for name, sources in self.streams.items():
            batches[name] = []
            for found in self._read(name, sources):
                if isinstance(found, Problem):
                    yield found
                else:
                    batches[name].append(found)

    def _run(self) -> Iterator[Match | Problem]:
        batches: dict[str, list[Batch]] = {}
        for problem in self._all_read(batches):
            if self.problems:
                yield problem
        for some, watermark in in_time(batches):
            yield from self.answers.of(self.answers.runner.feed(some, watermark), self.domain.known)
            wrong = list(self.answers.problems(self.domain.known))
            yield from wrong if self.problems else ()

    def _read(self, name: str, sources: Sequence[Source]) -> Iterator[Batch | Problem]:
        """A stream's events, and what is wrong with others."""
        begun = False
        for source in sources:
            for found in source.read():
                if isinstance(found, BadEvent):
                    self.counts.bad += 1
                    yield Problem("bad", found.reason, name, line=found.line, text=found.text)
                    continue
                batch, given = found
                if not len(batch):
                    continue
                if not begun:
                    self.domain.begin(name, Domain(int(batch.domains[0])))
                    begun = True
                if given is not None:
                    self.answers.keep(batch.as_events(), given)
                yield from self._of_one_domain(name, batch, given)

    def _of_one_domain(self, name: str, batch: Batch, given: Sequence[Event] | None) -> Iterator[Batch | Problem]:
        """The events whose time is of the query's kind; the others are bad."""
        fits = self.domain.fits(batch.domains)
        for index in np.flatnonzero(~fits).tolist():
            self.counts.bad += 1
            event = batch.event(index) if given is None else given[index]
            yield Problem("bad", self.domain.reason(event.domain), name, event=event)
        self.counts.events += int(fits.sum())
        yield batch if fits.all() else batch.take(np.flatnonzero(fits))
