"""The state of a query over windows: logs of events, when it was evaluated, what is consumed, and the last answer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thence.algebra.expressions import Variable
from thence.algebra.patterns import PatternTerm
from thence.columns.dictionary import UNBOUND, Terms
from thence.errors import LimitError
from thence.kernel.windows.content import bounds, latest_content
from thence.kernel.windows.graphs import DatasetGraphs
from thence.kernel.windows.instants import Instants
from thence.kernel.windows.kept_answer import KeptAnswer
from thence.kernel.windows.table_log import Ints, Rows, TableLog
from thence.program.extracted import Extracted
from thence.program.operator import Environment
from thence.program.windows.program import WindowProgram
from thence.rdf.times import MIN_TIME, Domain

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
    previous: Rows
    instants: Instants = field(default_factory=Instants)
    domain: Domain = Domain.TICKS
    is_settled: bool = False  # whether the last evaluation had no answer and consumed nothing
    compacted_at: int = 0  # how many terms the dictionary had, when it was last compacted
    cleared_at: dict[int, int] = field(default_factory=dict)  # how many rows each log had, when it was last cleared
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
    def last_answer(self) -> Rows:
        """What IStream or DStream compares the next answer with."""
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
        previous=Rows.none(len(program.variables)),
    )


def take(program: WindowProgram, state: WindowState, extracted: Extracted, environment: Environment) -> None:
    """Enter events into the logs."""
    if extracted.events:
        state.domain = extracted.domain
    for table, log, found in zip(program.tables, state.logs, extracted.tables, strict=True):
        log.append(found, table, state.terms)
    state.instants.see(program, extracted.times, extracted.advanced)
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
        if not useful.all():
            log.keep(useful)
            state.clear()
        state.cleared_at[number] = len(log)
    if any(map(len, state.consumed)):
        held = np.concatenate([log.refs[: len(log)] for log in state.logs])
        state.consumed = [refs[np.isin(refs, held)] for refs in state.consumed]


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
