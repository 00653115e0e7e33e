"""SPAseQ in one process: batches in the order of time go through the kernel, and their events are kept for as long as a
run holds them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thence.algebra.components import ComponentQuery, Totals
from thence.algebra.sequences import SelectRows
from thence.kernel.drain import sorted_by_times
from thence.kernel.history import joined
from thence.kernel.memory import AT_NODES, NEVER, NODES, REF, region
from thence.kernel.projection import Cell, Row, partial_rows, rows, total_rows
from thence.kernel.rows import Arrived
from thence.kernel.sequence import Matches, SequenceState, initial_state, step
from thence.kernel.strided import read_columns
from thence.kernel.timeouts import keep_timed_out, timed_out, waited_for
from thence.kernel.totals import add_matches
from thence.local.tables import Collected, is_plain, places_of
from thence.local.timeline import in_time
from thence.match import NO_BACKGROUND, Background
from thence.match.context import Context
from thence.program.sequence import SequenceProgram
from thence.program.values import term_of
from thence.rdf.dictionary import Terms
from thence.rdf.terms import Term

if TYPE_CHECKING:
    from thence.rdf.column_batch import Batch

_times = attrgetter("certain", "end", "start")
"""Of a row."""

_FEW = 16
"""Batches that are held without asking whether a run still needs them."""


@dataclass(slots=True)
class SequenceRunner:
    """A running query: batches in the order of time go in, rows come out."""

    program: SequenceProgram
    background: Background = NO_BACKGROUND
    context: Context = field(default_factory=Context)
    max_runs: int = 2**31 - 2
    partial: bool = False  # whether partial matches that time out are told
    running: bool = False  # whether totals are told as they grow, and not once at the end
    state: SequenceState = field(init=False)
    held: list[Arrived] = field(init=False, default_factory=list)  # batches whose events a run may still hold, by ref
    tidy_at: int = field(init=False, default=_FEW)  # batches held from which it is worth looking for ones to drop
    expired: list[tuple[Row, str]] = field(init=False, default_factory=list)  # timed out, and not yet told
    seen: set[frozenset[tuple[str, Cell]]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.state = initial_state(self.program)
        if self.partial:
            keep_timed_out(self.state)

    def anew(self) -> SequenceRunner:
        """The same query, before any event."""
        return replace(self)

    @property
    def programs(self) -> tuple[SequenceProgram, ...]:
        """Of all queries that are run."""
        return (self.program,)

    @property
    def waits_for_time(self) -> bool:
        """Whether a row may become certain, or a partial match be told, with no other event than that time passes."""
        automaton = self.program.automaton
        return self.partial or bool(automaton.end.size) or bool(automaton.state_accepts.any())

    def feed(self, batches: Mapping[str, Sequence[Batch]], watermark: int) -> Iterator[Row]:
        """Events by stream, none of them before any fed earlier; and no event before `watermark` will come."""
        found = self._step(batches, watermark)
        if self._is_totalled():
            yield from self._totals(found, watermark)
        else:
            made = (row for matches in found for row in self._rows(matches))
            ordered = self._in_order(made)
            yield from self._distinct(ordered) if self._is_distinct() else ordered
        if self.partial:
            self.expired += self._timed_out(watermark)
        self._let_go()

    def _is_totalled(self) -> bool:
        return isinstance(self.program.query.form, Totals)

    def _totals(self, found: Iterator[Matches], watermark: int) -> Iterator[Row]:
        """AGGREGATE: a row for each group, at the end; with `running`, whenever there are new matches in it."""
        form, components, known = self.program.query.form, self.program.components, self.state.totals
        assert isinstance(form, Totals) and components is not None
        for matches in found:
            add_matches(self.program, components, self.state, known, matches)
        if not self.running and watermark < NEVER:
            return
        yield from total_rows(form, known)

    def _timed_out(self, watermark: int) -> list[tuple[Row, str]]:
        """The partial matches whose window has ended, each with what it waited for, in order."""
        found = timed_out(self.program, self.state, watermark)
        made = partial_rows(self.program, found.matches, self.state.terms)
        told = [(row, waited_for(self.program, state)) for row, state in zip(made, found.states.tolist(), strict=True)]
        return sorted(told, key=lambda pair: (*self._order(pair[0]), pair[1]))

    def _step(self, batches: Mapping[str, Sequence[Batch]], watermark: int) -> Iterator[Matches]:
        arrived = []
        for stream, listed in batches.items():
            for batch in listed:
                if len(batch):
                    arrived.append(Arrived(stream, batch, self.state.next_ref))
                    self.state.next_ref += len(batch)
        self.held += arrived
        return step(
            self.program,
            self.state,
            arrived,
            watermark,
            background=self.background,
            context=self.context,
            max_runs=self.max_runs,
        )

    def _rows(self, matches: Matches) -> Iterator[Row]:
        return rows(self.program, matches, self.state.terms, self.context)

    def collect(self, stretches: Iterable[tuple[Mapping[str, Sequence[Batch]], int]], into: Collected) -> None:
        """All matches of streams in the order of time, as columns, in the order of `feed`."""
        if self.program.shown is None:
            into.add_rows(row for batches, watermark in stretches for row in self.feed(batches, watermark))
            return
        for batches, watermark in stretches:
            self._collect(batches, watermark, into)

    def _collect(self, batches: Mapping[str, Sequence[Batch]], watermark: int, into: Collected) -> None:
        found = list(self._step(batches, watermark))
        if found:
            matches, terms = as_one(found), self.state.terms
            if is_plain(self.program, matches):
                into.add_matches(matches, self._order_of(matches, terms), terms)
            else:
                into.add_rows(self._in_order(self._rows(matches)))
        if self.partial:
            self.expired += self._timed_out(watermark)
        self._let_go()

    def _order_of(self, matches: Matches, terms: Terms) -> NDArray[np.int64] | None:
        """The order of some matches, as `_in_order` has it; None if it is the one that they have."""
        if matches.is_sorted:
            return None
        certain, end, start = matches.certain, matches.last, matches.first
        order = sorted_by_times(certain, end, start)
        is_new = bool((order[1:] < order[:-1]).any())
        if is_new:
            certain, end, start = read_columns([certain, end, start], order)
        for first, last in _alike(certain, end, start):
            order[first:last] = self._by_ids(matches, order[first:last].tolist(), terms)
            is_new = True
        return order if is_new else None

    def _by_ids(self, matches: Matches, rows: list[int], terms: Terms) -> list[int]:
        """Matches of the same times, by their ids, and those of the same events by what they bind."""
        bounds = [matches.offsets[row : row + 2].tolist() for row in rows]
        ids = {row: self._ids(matches.refs[low:high].tolist()) for row, (low, high) in zip(rows, bounds, strict=True)}
        found: list[int] = []
        for _, alike in groupby(sorted(rows, key=ids.__getitem__), key=ids.__getitem__):
            same = list(alike)
            found += same if len(same) == 1 else sorted(same, key=lambda row: self._bound(matches, row, terms))
        return found

    def _bound(self, matches: Matches, row: int, terms: Terms) -> str:
        slots = zip(self.columns, places_of(self.program), strict=True)
        cells = ((name, term_of(int(matches.tags[row, n]), int(matches.bits[row, n]), terms)) for name, n in slots)
        return _shown({name: term for name, term in cells if term is not None})

    @property
    def columns(self) -> tuple[str, ...]:
        """Of rows, by name."""
        query = self.program.query
        if isinstance(query, ComponentQuery):
            return query.columns
        form = query.form
        return tuple(column.variable.name for column in form.columns) if isinstance(form, SelectRows) else ()

    def refused(self) -> Iterator[tuple[str, Batch, int, str]]:
        """The events since the last call that asked too much of the matcher: stream, batch, number and why."""
        for ref, reason in self.state.refused.items():
            yield *self.event(ref), reason
        self.state.refused = {}

    def _let_go(self) -> None:
        """Drop the batches of which nothing holds an event. Looked for only once there are twice as many as the last
        time, so that many small batches cost no more than a few large ones."""
        if len(self.held) < self.tidy_at:
            return
        memory = self.state.memory
        by_runs = region(memory, AT_NODES)[: memory[NODES], REF]
        untold = [ref for row, _ in self.expired for ref in row.refs]
        by_conjunctions = [rows.refs.ravel() for rows in self.state.recent]  # they may yet join at the latest time
        told = np.array([*self.state.refused, *untold], np.int64)
        refs = np.unique(np.concatenate([by_runs, *by_conjunctions, told]))
        bounds = np.array([(each.first_ref, each.first_ref + len(each.batch)) for each in self.held])
        first, last = np.searchsorted(refs, bounds[:, 0]), np.searchsorted(refs, bounds[:, 1])
        self.held = [each for each, needed in zip(self.held, (first < last).tolist(), strict=True) if needed]
        self.tidy_at = max(_FEW, 2 * len(self.held))

    def _in_order(self, made: Iterator[Row]) -> Iterator[Row]:
        """Rows in order of certainty, then end, start, ids. The machine gives them in order of certainty already, but
        for those that waited for an absence."""
        waited = bool(self.program.automaton.end.size) or bool(self.program.automaton.state_accepts.any())
        for _, group in [(0, made)] if waited else groupby(made, key=attrgetter("certain")):
            together = sorted(group, key=_times)
            if len(together) == 1:
                yield together[0]
                continue
            for _, alike in groupby(together, key=_times):
                tied = list(alike)
                yield from sorted(tied, key=self._order) if len(tied) > 1 else tied

    def _order(self, row: Row) -> tuple[int, int, int, list[str], str]:
        return row.certain, row.end, row.start, self.ids(row), _shown(row.bindings)

    def ids(self, row: Row) -> list[str]:
        """The ids of a row's events, in the order of the pattern."""
        return self._ids(row.refs)

    def _ids(self, refs: Sequence[int]) -> list[str]:
        located = (self.event(ref) for ref in refs)
        return [batch.id(index) for _, batch, index in located]

    def _is_distinct(self) -> bool:
        form = self.program.query.form
        return isinstance(form, SelectRows) and form.distinct

    def _distinct(self, ordered: Iterator[Row]) -> Iterator[Row]:
        """SELECT DISTINCT: the first of rows with equal bindings stays, for ever."""
        for row in ordered:
            bindings = frozenset(row.bindings.items())
            if bindings not in self.seen:
                self.seen.add(bindings)
                yield row

    def event(self, ref: int) -> tuple[str, Batch, int]:
        """The stream, batch and number of an event."""
        each = self.held[bisect_right(self.held, ref, key=lambda arrived: arrived.first_ref) - 1]
        return each.stream, each.batch, ref - each.first_ref

    def run(self, streams: Mapping[str, Sequence[Batch]]) -> Iterator[Row]:
        """All rows of finite streams, in whatever order their events stand."""
        for batches, watermark in in_time(streams):
            yield from self.feed(batches, watermark)


def as_one(listed: Sequence[Matches]) -> Matches:
    """Some matches as one; nearly always they are."""
    if len(listed) == 1:
        return listed[0]
    columns = ("certain", "first", "last", "tags", "bits")
    certain, first, last, tags, bits = (
        np.concatenate([getattr(matches, name) for matches in listed]) for name in columns
    )
    return Matches(certain, first, last, tags, bits, history=joined([matches.history for matches in listed]))


def _alike(certain: NDArray[np.int64], end: NDArray[np.int64], start: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Where matches in order have the same certainty, end and start: first and last, exclusive, of each such group."""
    same = (end[1:] == end[:-1]) & (start[1:] == start[:-1])
    if not same.any():
        return []
    same &= certain[1:] == certain[:-1]
    bounds = np.flatnonzero(np.diff(same, prepend=False, append=False))
    return [(first, last + 1) for first, last in zip(bounds[::2].tolist(), bounds[1::2].tolist(), strict=True)]


def _shown(bindings: Mapping[str, Cell] | Mapping[str, Term]) -> str:
    """So that rows of the same events have an order too."""
    return repr(sorted(bindings.items(), key=lambda item: item[0]))
