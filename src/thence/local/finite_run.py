"""A query over finite streams: all is taken in the order of time, so nothing is late."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np

from thence.errors import InputError, LimitError, ThenceWarning, needs_library
from thence.extraction.attributes import predicates_read
from thence.local.expected_names import Expected, ExpectedName
from thence.local.flow import Answers, OutOfOrderError, check_order, merge_streams, sort_stream
from thence.local.funnel import MOST_SECONDS, CompiledStep, Funnel, check_readable, count_funnel
from thence.local.inputs import StreamInput
from thence.local.match_table import MatchTable
from thence.rdf.events import BadEvent, Event
from thence.rdf.times import Domain
from thence.runtime.input_tally import InputTally
from thence.runtime.results import Counts, Match, Problem
from thence.runtime.watermark import TimeDomain

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from thence.columns.batches import Batch
    from thence.rdf.terms import IRI


@dataclass(slots=True, repr=False)
class Matching(Iterable[Match | Problem]):
    """The answers of a query over finite streams, computed as they are read. Nothing is kept: each iteration, and each
    table, runs the query again from the first event. `counts` are those of the latest run, and say how far it has come.

    >>> from thence import Event, parse
    >>> query = parse("PATTERN SEQ(Bid a, Bid b) WHERE b.price > a.price WITHIN 5 TICKS RETURN a.price, b.price")
    >>> found = query.match([Event(time, {"type": "Bid", "price": price}) for time, price in [(1, 7), (2, 9)]])
    >>> found
    <Matching: SASE+ over events; columns a.price, b.price; not yet run>
    >>> [match.bindings["b.price"].python for match in found], found.table().to_pylist()
    ([9], [{'start': 1, 'end': 2, 'a.price': 7, 'b.price': 9}])
    >>> found
    <Matching: SASE+ over events; columns a.price, b.price; 2 events, 1 match, 0 bad, 0 late>
    """

    answers: Answers  # of the latest run
    streams: Mapping[str, Sequence[StreamInput]]
    problems: bool = False
    expected: Expected = field(default_factory=Expected)
    tally: InputTally = field(default_factory=InputTally)
    steps: Callable[[], Iterable[CompiledStep]] | None = None
    """The steps of the query, where it has a funnel."""
    about: str = "a query"
    """The query in some words, for `repr`."""
    _start: TimeDomain = field(init=False)
    """The kind of time before any event."""
    _sought: tuple[ExpectedName, ...] = field(init=False)
    """The names to look for in the events of a run."""
    _has_run: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._start, self._sought = replace(self.domain), tuple(self.expected.missing)

    def __iter__(self) -> Iterator[Match | Problem]:
        return self._next_run()._run()

    def __repr__(self) -> str:
        return f"<Matching: {self.about}; {self.counts if self._has_run else 'not yet run'}>"

    @property
    def counts(self) -> Counts:
        return self.answers.counts

    @property
    def domain(self) -> TimeDomain:
        return self.answers.flow.domain

    def funnel(self, *, seconds: float = MOST_SECONDS) -> Funnel:
        """How many events begin a match of the query's first component, of its first two, and so on, condition by
        condition: how far partial matches come (SASE+ and SPAseQ). The input is read once more: of each stream the
        first 100,000 events. Steps for which there is no time are not counted."""
        if self.steps is None:
            raise InputError("funnel() is for SASE+ and SPAseQ. Try: query.explain()")
        for name, sources in self.streams.items():
            for source in sources:
                check_readable(name, source.value)
        flow = self.answers.flow
        again = Matching(Answers(flow.fresh(TimeDomain(self.domain.domain, self.domain.settled_by))), self.streams)
        streams = {name: again._good(name, [], None) for name in self.streams}
        return count_funnel(self.steps(), streams, lambda: again.domain, flow.environment, seconds=seconds)

    def table(self) -> pa.Table:
        """All matches of a SELECT as an Arrow table: `start`, `end` and a column for each variable, numeric if all of
        its values are numbers. With several SELECTs, `query` is the number of each row's SELECT, and columns that it
        lacks are null. Problems are counted, but not included."""
        if self.answers.flow.dataflow.makes_events:
            raise InputError("A table has the rows of a SELECT, and this query makes events. Take its matches instead.")
        run = self._next_run()
        try:
            return run._table()
        finally:
            self.answers = run.answers

    def to_pandas(self) -> pd.DataFrame:
        """`table()` as a DataFrame of pandas."""
        with needs_library("to_pandas()", "pandas", install="pandas"):
            import pandas  # noqa: F401 - Arrow imports it
        return self.table().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """`table()` as a DataFrame of Polars."""
        with needs_library("to_polars()", "polars", install="polars"):
            import polars
        return polars.from_arrow(self.table())

    def _next_run(self) -> Matching:
        """A run from the first event, with answers of its own."""
        if self._has_run:
            for name, sources in self.streams.items():
                for source in sources:
                    if source.is_read_once:
                        raise InputError(
                            f"The stream {name} can be read only once, as it comes from {source.kind}, and it has been "
                            "read. Try: match(list(events)), or keep the matches: found = list(query.match(events))"
                        )
            self.answers = Answers(self.answers.flow.fresh(replace(self._start)))
        self._has_run = True
        self.expected, self.tally = Expected([*self._sought]), InputTally()
        return copy(self)

    def _table(self) -> pa.Table:
        flow = self.answers.flow
        # partial matches that timed out are shown with their events
        narrow = {} if flow.environment.keeps_expired else predicates_read(flow.dataflow)
        held: dict[str, list[Batch]] = {}
        for name, sources in self.streams.items():
            if not all(source.is_parquet for source in sources):
                held[name] = list(self._good(name, [], narrow.get(name)))
        self.tally.check(held)
        so_far, domain, tally = replace(self.counts), replace(self.domain), deepcopy(self.tally)
        try:
            return self._collected(held, narrow)
        except (OutOfOrderError, LimitError):  # the limit may not be reached in the right order
            self.answers = Answers(self.answers.flow.fresh(domain), so_far, self.answers.objects)
            self.tally = tally
        for name in self.streams:
            if name not in held:
                self.expected.again(name)
                held[name] = list(self._good(name, [], narrow.get(name)))
        return self._collected(held, narrow)

    def _collected(self, held: Mapping[str, Sequence[Batch]], narrow: Mapping[str, Collection[IRI]]) -> pa.Table:
        dataflow = self.answers.flow.dataflow
        collected = MatchTable(dataflow.columns, plain=dataflow.is_plain, numbered=dataflow.numbers_queries)
        self.answers.flow.collect(self._stretches(held, [], narrow), collected)
        for _ in self._refused():  # counts them
            pass
        self._end()
        made = collected.table(self.domain.known)
        self.counts.matches += len(made)
        self._warn()
        return made

    def _warn(self) -> None:
        for text in self.answers.flow.warnings():
            warn(text, ThenceWarning, stacklevel=2)

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
        self.tally.check(held)
        problems: list[Problem] = []
        try:
            for some, watermark in self._stretches(held, problems):
                yield from problems
                problems.clear()
                yield from self.answers.of(self.answers.flow.feed_parts(some, watermark), self.domain.known)
                wrong = list(self._refused())
                yield from wrong if self.problems else ()
            self._warn()
        except OutOfOrderError:
            raise InputError("A file has changed while it was read. Try: again, once it is complete") from None
        self._end()

    def _refused(self) -> Iterator[Problem]:
        """What extraction refused, and partial matches that timed out, since the last call."""
        for problem in self.answers.problems(self.domain.known):
            self.tally.note(problem)
            yield problem

    def _end(self) -> None:
        """All is read: what was hardly meant is a warning (BAD-4, BAD-5, BAD-8). Who gets the problems one by one needs
        none of them."""
        self.tally.check(self.streams)
        share = None if self.problems else self.tally.warning()
        for text in (*self.expected.warnings(), *([] if share is None else [share])):
            warn(text, ThenceWarning, stacklevel=2)

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
        """A stream's events, and the problems of bad ones."""
        begun = False
        for source in self.streams[name]:
            kind = None if begun else source.time_kind()
            if kind is not None:
                self.domain.begin(name, kind)
                begun = True
            for found in source.read(wanted):
                if isinstance(found, BadEvent):
                    yield self._bad(Problem(found.problem, found.reason, name, line=found.line, text=found.text))
                    continue
                batch, given = found
                if not len(batch):
                    continue
                if not begun:
                    self.domain.begin(name, Domain(int(batch.domains[0])), int(batch.starts[0]))
                    begun = True
                if given is not None:
                    self.answers.remember(batch.as_events(), given)
                yield from self._of_one_domain(name, batch, given)

    def _of_one_domain(self, name: str, batch: Batch, given: Sequence[Event] | None) -> Iterator[Batch | Problem]:
        """The events whose time is one of the query's; the others are bad."""
        fits = self.domain.fits(batch)
        for index in np.flatnonzero(~fits).tolist():
            event = batch.event(index) if given is None else given[index]
            yield self._bad(Problem("bad", self.domain.objection(event) or "", name, event=event))
        good = int(fits.sum())
        self.counts.events += good
        self.tally.read[name] += good
        batch = batch if good == len(batch) else batch.take(np.flatnonzero(fits))
        self.expected.see(name, batch)
        yield batch

    def _bad(self, problem: Problem) -> Problem:
        """Count a bad event, or a bad cell, whose event is none (BAD-10)."""
        self.counts.add(problem.problem)
        if problem.problem == "bad":
            self.tally.read[problem.stream] += 1
        self.tally.note(problem)
        return problem
