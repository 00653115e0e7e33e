"""Windows as an operator: RSEP-QL's queries are its programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.patterns import Construct
from thence.columns.array_codec import ArrayReader
from thence.columns.term_ids import values_of_ids
from thence.kernel.windows import snapshot
from thence.kernel.windows.evaluation import Evaluation, constructed
from thence.kernel.windows.state import WindowState, compacted, forget, initial_state, take
from thence.kernel.windows.table_log import Rows
from thence.program.description import Description
from thence.program.extracted import Extracted
from thence.program.operator import NEVER, Environment, Expired
from thence.program.solutions import Cell, Deferred, EventLists, Solutions
from thence.program.windows.program import WindowProgram
from thence.rdf.terms import Term

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WindowOperator:
    """Evaluates a query over the windows of its streams, at each instant of its report policy."""

    def initial(self, program: WindowProgram, environment: Environment) -> WindowState:
        return initial_state(program, environment)

    def prune(self, program: WindowProgram, state: WindowState) -> None:
        compacted(state)

    def step(
        self, program: WindowProgram, state: WindowState, extracted: Extracted, watermark: int, environment: Environment
    ) -> Iterator[Solutions]:
        take(program, state, extracted, environment)
        instants = state.instants
        while (time := instants.next(program, watermark)) is not None:
            rows = self._evaluate(program, state, time, environment)
            instants.finish(time)
            if rows is not None:
                yield rows
            if state.is_settled:
                _skip(program, state, time, watermark)
        forget(program, state, instants.earliest(program, watermark))

    def _evaluate(
        self, program: WindowProgram, state: WindowState, time: int, environment: Environment
    ) -> Solutions | None:
        evaluation = Evaluation.at(program, state, time, environment)
        consumed = sum(map(len, state.consumed))
        rows, is_empty = evaluation.emitted()
        state.is_settled = is_empty and consumed == sum(map(len, state.consumed))
        if not len(rows):
            return None
        if isinstance(program.query.form, Construct):
            triples = constructed(program, rows, state, time, evaluation.context)
            return _event(rows, [each for triple in triples for each in triple], state, time) if triples else None
        return _solutions(program, rows, state, time)

    def expire(self, program: WindowProgram, state: WindowState, watermark: int) -> Expired | None:
        return None

    def facts(self, program: WindowProgram, state: WindowState, time: int | None) -> None:
        return None

    def held(self, program: WindowProgram, state: WindowState) -> Ints:
        logs = (state.logs[each.table] for each in program.events)
        return np.unique(np.concatenate([state.last_answer.refs, *(log.refs[: len(log)] for log in logs)]))

    def snapshot(self, program: WindowProgram, state: WindowState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot.snapshot(state)

    def restore(
        self,
        program: WindowProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> WindowState:
        return snapshot.restore(program, head, arrays, next_ref, environment)

    def describe(self, program: WindowProgram) -> Description:
        from thence.kernel.windows.description import describe  # only `explain` needs it

        return describe(program)


def _skip(program: WindowProgram, state: WindowState, time: int, watermark: int) -> None:
    """After an empty answer, evaluations are skipped until something changes: all would be empty."""
    if program.asks_for_time:
        return
    changes = [state.graphs.next_change(time)]
    for table, functions in enumerate(program.readers):
        log = state.logs[table]
        for function in functions:
            changes.append(log.next_change(function, time))
    known = [each for each in changes if each is not None]
    end = watermark if watermark != NEVER else (state.instants.last or time)
    until = min([*known, end])
    if until > time + 1:
        state.instants.skip(until)


def _solutions(program: WindowProgram, rows: Rows, state: WindowState, time: int) -> Solutions:
    """Rows as the host takes them: all at t (RS-48)."""
    at = np.full(len(rows), time, np.int64)
    columns = tuple(values_of_ids(ids, state.terms) for ids in rows.ids)
    lists = EventLists(rows.offsets, rows.refs, rows.places)
    return Solutions(
        certain=at,
        start=at,
        end=at,
        names=program.output.columns,
        terms=state.terms,
        events=Deferred(lambda: lists),
        columns=columns,
        identity=lambda: columns,
        rank=np.arange(len(rows)) if program.query.form.modifiers.order else None,
    )


def _event(rows: Rows, terms: list[Term], state: WindowState, time: int) -> Solutions:
    """The one event of an evaluation (RS-53)."""
    at = np.array([time], np.int64)
    refs = np.array(list(dict.fromkeys(rows.refs.tolist())), np.int64)
    lists = EventLists(np.array([0, len(refs)], np.int64), refs, np.arange(len(refs), dtype=np.int64))

    def compute(number: int) -> Mapping[str, Cell]:
        return {"triples": tuple(terms)}

    return Solutions(at, at, at, (), state.terms, Deferred(lambda: lists), compute=compute)
