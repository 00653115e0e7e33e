"""The state of a query over windows: logs of events, when it is evaluated (Definition 5; RS-14 to RS-23), what is
consumed, and the last answer."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.patterns import PatternTerm
from thence.algebra.rsep_ql import TimeWindow
from thence.algebra.streams import At, Every, OnClose, OnContent, OnNonEmpty
from thence.columns.arrays import Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.engines.windows.content import DatasetGraphs, LoggedRows, TableLog, bounds, first_multiple, latest_content
from thence.engines.windows.kept_answer import KeptAnswer
from thence.engines.windows.program import WindowProgram
from thence.errors import LimitError
from thence.interface.extracted import Extracted
from thence.interface.operator import NEVER, Environment
from thence.rdf.times import MAX_TIME, MIN_TIME, Domain

# When a query is evaluated: ET of Definition 5, by the report policy (RS-14 to RS-23).


@dataclass(slots=True)
class Instants:
    """`first` and `last` are the ends of the first and the last event of all streams, times given to `advance`
    included (RS-20, RS-21); `done` is the last evaluation; `waiting` are the ends of events that are still to cause
    one, where events do."""

    first: int | None = None
    last: int | None = None
    done: int | None = None
    waiting: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def see(self, program: WindowProgram, times: Ints, advanced: int | None, heard: int | None = None) -> None:
        """Events have come, and `advance` has been called. `heard` is the latest end of an event, including events that
        still wait: evaluations before it are due (RS-14)."""
        seen = [] if advanced is None else [advanced]
        if len(times):
            seen += [int(times.min()), int(times.max())]
            if isinstance(program.report, OnContent):
                self.waiting = np.union1d(self.waiting, times)
        if seen:
            self.first = min(seen) if self.first is None else min(self.first, *seen)
            self.last = max(seen) if self.last is None else max(self.last, *seen)
        if heard is not None and self.last is not None:
            self.last = max(self.last, heard)

    def next(self, program: WindowProgram, watermark: int, earliest: int | None = None) -> int | None:
        """The next evaluation before the watermark and not before `earliest`, or None."""
        after = self.done if earliest is None else max(earliest - 1, self.done if self.done is not None else earliest)
        found = self._next(program, after)
        if found is None or watermark == NEVER:
            return found
        return found if found < watermark and not self._may_precede(program, after, found) else None

    def earliest(self, program: WindowProgram, watermark: int) -> int:
        """The earliest time of a future evaluation. A later event may still ask for multiples that the watermark has
        passed (RS-20)."""
        report = program.report
        match report:
            case OnContent():
                return watermark
            case OnClose() | OnNonEmpty() | Every():
                if self.first is None:
                    return watermark
                time = self.first if self.done is None else max(self.first, self.done + 1)
                return min(watermark, *(first_multiple(time, each) for each in _lengths(program)))
            case At():
                times = (each.time for each in report.times)
                return min((each for each in times if self.done is None or each > self.done), default=NEVER)
            case _:
                assert_never(report)

    def finish(self, time: int) -> None:
        """An evaluation is done."""
        self.done = time
        if len(self.waiting):
            self.waiting = self.waiting[np.searchsorted(self.waiting, time, side="right") :]

    def skip(self, time: int) -> None:
        """Evaluations before that time need not be done."""
        self.finish(time - 1 if self.done is None else max(self.done, time - 1))

    def _next(self, program: WindowProgram, after: int | None) -> int | None:
        report = program.report
        match report:
            case OnContent():
                place = 0 if after is None else int(np.searchsorted(self.waiting, after, side="right"))
                return int(self.waiting[place]) if place < len(self.waiting) else None
            case OnClose() | OnNonEmpty() | Every():
                return min(self._multiples(program, after), default=None)
            case At():
                times = sorted({each.time for each in report.times})
                place = 0 if after is None else bisect_right(times, after)
                return times[place] if place < len(times) else None
            case _:
                assert_never(report)

    def _may_precede(self, program: WindowProgram, after: int | None, found: int) -> bool:
        """Whether a later event may cause an evaluation at an earlier multiple of another length (RS-20)."""
        if not isinstance(program.report, OnClose | OnNonEmpty | Every) or self.first is None:
            return False
        time = self.first if after is None else max(self.first, after + 1)
        return any(first_multiple(time, each) < found for each in _lengths(program))

    def _multiples(self, program: WindowProgram, after: int | None) -> list[int]:
        return [time for each in _lengths(program) if (time := self._multiple(each, after)) is not None]

    def _multiple(self, length: int, after: int | None) -> int | None:
        """The next multiple, from the first event's to the last event's (RS-20). Beyond 64 bits is not a time (C-2).
        The last time stands for the end of what still holds."""
        if self.first is None or self.last is None:
            return None
        found = first_multiple(self.first if after is None else max(self.first, after + 1), length)
        return found if found <= min(first_multiple(self.last, length), MAX_TIME - 1) else None


def _lengths(program: WindowProgram) -> set[int]:
    """The lengths whose multiples are evaluations (RS-19)."""
    if isinstance(program.report, Every):
        return {program.report.period.length}
    functions = (each.function for each in program.query.windows)
    return {each.slide.length for each in functions if isinstance(each, TimeWindow) and each.slide is not None}


_FEW_TERMS, _FEW_ROWS = 10_000, 1_000
"""A dictionary or a log that small is not cleared of what is useless."""


@dataclass(slots=True)
class WindowState:
    """`logs` has a log for each of the program's tables, `consumed` for each MATCH the refs of the events that it no
    longer sees (RS-46), `previous` the answer of the last evaluation, where IStream or DStream compares with it and
    `kept` does not have it."""

    terms: Terms
    logs: list[TableLog]
    graphs: DatasetGraphs
    consumed: list[Ints]
    previous: LoggedRows
    instants: Instants = field(default_factory=Instants)
    domain: Domain = Domain.TICKS
    is_settled: bool = False  # whether evaluations emit nothing as long as nothing changes
    seen: object = None  # what the last evaluation read
    repeated: int = 0  # how many evaluations in a row have emitted rows though nothing had changed
    has_warned: bool = False
    compacted_at: int = 0  # how many terms the dictionary had, when it was last compacted
    cleared_at: dict[int, int] = field(default_factory=dict)  # how many rows each log had, when it was last cleared
    consumed_at: int = 0  # how many events were consumed, when the logs were last cleared of them
    kept: KeptAnswer | None = None  # what is maintained; made of the logs, and never saved
    cache: dict[object, object] = field(default_factory=dict)  # what evaluations have made; never saved

    def constant(self, term: PatternTerm) -> int:
        """The id of a term of the query."""
        assert not isinstance(term, Variable)
        key = ("constant", term)
        if key not in self.cache:
            self.cache[key] = self.terms.add(term)
        found = self.cache[key]
        assert isinstance(found, int)
        return found

    @property
    def last_answer(self) -> LoggedRows:
        """The answer that IStream or DStream compares the next one with."""
        kept = self.kept
        if kept is None or kept.is_fresh or not kept.has_previous:
            return self.previous
        return kept.rows()

    @property
    def stored(self) -> int:
        return sum(map(len, self.logs)) + len(self.previous) + (0 if self.kept is None else self.kept.stored)

    def clear(self) -> None:
        """Drop what evaluations have made."""
        self.previous = self.last_answer
        self.kept = None
        self.cache.clear()


def initial_state(program: WindowProgram, environment: Environment) -> WindowState:
    background = environment.background
    key = f"rsep-ql {program.fingerprint()}"
    if key not in background.derived:
        background.derived[key] = DatasetGraphs(program.query, background)
    none = np.empty(0, np.int64)
    return WindowState(
        terms=Terms(),
        logs=[TableLog.of(table) for table in program.tables],
        graphs=background.derived[key],
        consumed=[none] * len(program.matches),
        previous=LoggedRows.none(len(program.variables)),
    )


def take(program: WindowProgram, state: WindowState, extracted: Extracted, environment: Environment) -> None:
    """Enter events into the logs."""
    if extracted.domain is not None:
        state.domain = extracted.domain
    for table, log, found in zip(program.tables, state.logs, extracted.tables, strict=True):
        log.append(found, table, state.terms)
    state.instants.see(program, extracted.times, extracted.advanced, extracted.heard)
    if state.stored > environment.max_runs:
        raise LimitError(
            f"The windows hold {state.stored:,} rows, more than max_runs={environment.max_runs:,}. "
            "Try: a shorter RANGE, or a larger max_runs"
        )


def forget(program: WindowProgram, state: WindowState, earliest: int) -> None:
    """Drop rows that no evaluation from a time on can need, if there are many."""
    readers = program.readers
    for number, log in enumerate(state.logs):
        if len(log) < max(_FEW_ROWS, 2 * state.cleared_at.get(number, 0)):
            continue
        useful = np.zeros(len(log), np.bool_)
        for function in readers[number]:
            after = max(bounds(function, earliest).after, MIN_TIME - 1)
            last = latest_content(function)
            useful |= (log.ends <= last) & ((log.ends > after) if after >= MIN_TIME else True)
        useful &= _visible(program, state, number)
        if not useful.all():
            log.keep(useful)
            state.clear()
        state.cleared_at[number] = len(log)
    _forget_consumed(state)


def drop_consumed(program: WindowProgram, state: WindowState) -> None:
    """Drop rows that no MATCH sees any more (RS-46), if many are consumed: within a batch, too."""
    if sum(map(len, state.consumed)) < max(_FEW_ROWS, 2 * state.consumed_at):
        return
    for number, log in enumerate(state.logs):
        visible = _visible(program, state, number)
        if not visible.all():
            log.keep(visible)
            state.clear()
    _forget_consumed(state)


def _visible(program: WindowProgram, state: WindowState, number: int) -> NDArray[np.bool_]:
    """Rows of a log that some MATCH or WINDOW sees."""
    log, consumers = state.logs[number], program.consumers[number]
    if not consumers:
        return np.ones(len(log), np.bool_)
    refs = log.refs[: len(log)]
    visible: NDArray[np.bool_] = np.any([~np.isin(refs, state.consumed[each]) for each in consumers], axis=0)
    return visible


def _forget_consumed(state: WindowState) -> None:
    """Drop consumed events that no log has."""
    if any(map(len, state.consumed)):
        held = np.concatenate([log.refs[: len(log)] for log in state.logs])
        state.consumed = [refs[np.isin(refs, held)] for refs in state.consumed]
    state.consumed_at = sum(map(len, state.consumed))


def compacted(state: WindowState) -> None:
    """Renumber the terms, if most are no longer used."""
    terms = state.terms
    if len(terms) < max(_FEW_TERMS, 2 * state.compacted_at):
        return
    state.clear()
    used = np.zeros(len(terms) + 1, np.bool_)
    for ids in (*(log.used_ids() for log in state.logs), state.previous.ids.ravel()):
        used[ids] = True  # UNBOUND marks the last
    kept = np.flatnonzero(used[:-1]).astype(np.int32)
    fresh = Terms()
    renumbered = np.full(len(terms) + 1, UNBOUND, np.int32)
    renumbered[kept] = fresh.import_all(terms, kept)
    for log in state.logs:
        log.renumber(renumbered)
    state.previous.ids = renumbered[state.previous.ids]
    state.terms, state.compacted_at = fresh, len(fresh)
