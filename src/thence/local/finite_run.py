"""A query over finite streams: all is taken in the order of time, so nothing is late."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from thence.errors import InputError, LimitError
from thence.extraction.attributes import predicates_read
from thence.local.flow import Answers, OutOfOrderError, check_order, merge_streams, sort_stream
from thence.local.inputs import StreamInput
from thence.local.match_table import MatchTable
from thence.rdf.events import BadEvent, Event
from thence.rdf.times import Domain
from thence.runtime.results import Counts, Match, Problem
from thence.runtime.watermark import TimeDomain

if TYPE_CHECKING:
    import pyarrow as pa

    from thence.columns.batches import Batch
    from thence.rdf.terms import IRI


@dataclass(slots=True)
class Matching(Iterator[Match | Problem]):
    """The answers of a query over finite streams, computed as they are read. `counts` says how far it has come."""

    answers: Answers
    streams: Mapping[str, Sequence[StreamInput]]
    problems: bool = False
    _made: Iterator[Match | Problem] | None = field(default=None, repr=False)

    def __next__(self) -> Match | Problem:
        if self._made is None:
            self._made = self._run()
        return next(self._made)

    @property
    def counts(self) -> Counts:
        return self.answers.counts

    @property
    def domain(self) -> TimeDomain:
        return self.answers.flow.domain

    def table(self) -> pa.Table:
        """All matches of a SELECT as an Arrow table: `start`, `end` and a column for each variable, numeric if all of
        its values are numbers. With several SELECTs, `query` is the number of each row's SELECT, and columns that it
        lacks are null. Problems are counted, but not included."""
        if self._made is not None:
            raise InputError("Some matches were already taken one by one. Call match() again for a table of all.")
        flow = self.answers.flow
        if flow.dataflow.makes_events:
            raise InputError("A table has the rows of a SELECT, and this query makes events. Take its matches instead.")
        self._made = iter(())
        # partial matches that timed out are shown with their events
        narrow = {} if flow.environment.keeps_expired else predicates_read(flow.dataflow)
        held: dict[str, list[Batch]] = {}
        for name, sources in self.streams.items():
            if not all(source.is_parquet for source in sources):
                held[name] = list(self._good(name, [], narrow.get(name)))
        so_far, domain = replace(self.counts), replace(self.domain)
        try:
            return self._collected(held, narrow)
        except (OutOfOrderError, LimitError):  # the limit may not be reached in the right order
            self.answers = Answers(self.answers.flow.fresh(domain), so_far, self.answers.objects)
        held |= {name: list(self._good(name, [], narrow.get(name))) for name in self.streams if name not in held}
        return self._collected(held, narrow)

    def _collected(self, held: Mapping[str, Sequence[Batch]], narrow: Mapping[str, Collection[IRI]]) -> pa.Table:
        dataflow = self.answers.flow.dataflow
        collected = MatchTable(dataflow.columns, plain=dataflow.is_plain, numbered=dataflow.numbers_queries)
        self.answers.flow.collect(self._stretches(held, [], narrow), collected)
        for _ in self.answers.problems(self.domain.known):  # counts them
            pass
        made = collected.table(self.domain.known)
        self.counts.matches += len(made)
        return made

    def _run(self) -> Iterator[Match | Problem]:
        held: dict[str, list[Batch]] = {}
        for name in self.streams:
            if not self._comes_in_order(name):
                held[name] = []
                for found in self._read(name):
                    if not isinstance(found, Problem):
                        held[name].append(found)
                    elif self.problems:
                        yield found
        problems: list[Problem] = []
        try:
            for some, watermark in self._stretches(held, problems):
                yield from problems
                problems.clear()
                yield from self.answers.of(self.answers.flow.feed_parts(some, watermark), self.domain.known)
                wrong = list(self.answers.problems(self.domain.known))
                yield from wrong if self.problems else ()
        except OutOfOrderError:
            raise InputError("A file has changed while it was read. Try: again, once it is complete") from None

    def _comes_in_order(self, name: str) -> bool:
        """Whether a stream can be read bit by bit: if it is of Parquet files, in the order of time from the first row
        of the first to the last of the last. To see that in other files would take as long as to read them."""
        sources = self.streams[name]
        if not all(source.is_parquet for source in sources):
            return False
        spans = [source.times() for source in sources]
        known = [span for span in spans if span is not None]
        return len(known) == len(spans) and all(one[1] <= next[0] for one, next in pairwise(known))

    def _stretches(
        self,
        held: Mapping[str, Sequence[Batch]],
        problems: list[Problem],
        narrow: Mapping[str, Collection[IRI]] | None = None,
    ) -> Iterator[tuple[dict[str, list[Batch]], int]]:
        """All streams in the order of time: those that are held, and the others as they are read. Problems are appended
        to `problems`."""
        streams = {name: sort_stream(batches) for name, batches in held.items()}
        for name in self.streams:
            if name not in held:
                streams[name] = check_order(self._good(name, problems, (narrow or {}).get(name)))
        return merge_streams(streams)

    def _good(self, name: str, problems: list[Problem], wanted: Collection[IRI] | None) -> Iterator[Batch]:
        """A stream's good events; the bad ones are appended to `problems`, if wanted."""
        for found in self._read(name, wanted):
            if not isinstance(found, Problem):
                yield found
            elif self.problems:
                problems.append(found)

    def _read(self, name: str, wanted: Collection[IRI] | None = None) -> Iterator[Batch | Problem]:
        """A stream's events, and what is wrong with others."""
        begun = False
        for source in self.streams[name]:
            kind = None if begun else source.time_kind()
            if kind is not None:
                self.domain.begin(name, kind)
                begun = True
            for found in source.read(wanted):
                if isinstance(found, BadEvent):
                    self.counts.add(found.problem)
                    yield Problem(found.problem, found.reason, name, line=found.line, text=found.text)
                    continue
                batch, given = found
                if not len(batch):
                    continue
                if not begun:
                    self.domain.begin(name, Domain(int(batch.domains[0])))
                    begun = True
                if given is not None:
                    self.answers.remember(batch.as_events(), given)
                yield from self._of_one_domain(name, batch, given)

    def _of_one_domain(self, name: str, batch: Batch, given: Sequence[Event] | None) -> Iterator[Batch | Problem]:
        """The events whose time is one of the query's; the others are bad."""
        fits = self.domain.fits(batch)
        for index in np.flatnonzero(~fits).tolist():
            self.counts.bad += 1
            event = batch.event(index) if given is None else given[index]
            yield Problem("bad", self.domain.objection(event) or "", name, event=event)
        self.counts.events += int(fits.sum())
        yield batch if fits.all() else batch.take(np.flatnonzero(fits))
