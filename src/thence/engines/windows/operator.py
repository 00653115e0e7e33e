"""Windows as an operator: RSEP-QL's queries are its programs; their states as a head and arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from thence.algebra.patterns import Construct
from thence.algebra.rsep_ql import StreamOperator, WindowFunction
from thence.columns.array_codec import ArrayReader
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND
from thence.columns.texts import Texts
from thence.columns.value_columns import values_of_ids
from thence.engines.windows.content import LoggedRows, bounds
from thence.engines.windows.evaluation import Evaluation, constructed
from thence.engines.windows.program import WindowProgram
from thence.engines.windows.state import Instants, WindowState, compacted, drop_consumed, forget, initial_state, take
from thence.errors import ThenceWarning
from thence.interface.extracted import Extracted
from thence.interface.operator import NEVER, Environment
from thence.interface.saved_arrays import check_array, check_intervals, check_terms, check_within, require
from thence.interface.solutions import Deferred, EventLists, Solutions
from thence.rdf.terms import Term, triples_of
from thence.rdf.times import Domain

# The state of a query over windows as a head and arrays, and back. What could lead compiled code astray is refused: a
# saved state may come from anywhere.


def snapshot(state: WindowState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A state as a head and arrays."""
    instants, previous = state.instants, state.last_answer
    head = {
        "domain": state.domain.value,
        "instants": [instants.first, instants.last, instants.done],
        "is_settled": state.is_settled,
    }
    used = np.unique(np.concatenate([previous.ids.ravel(), *(log.used_ids() for log in state.logs)]))
    used = used[used != UNBOUND]
    places = np.full(len(state.terms) + 1, UNBOUND, np.int32)  # at the end, that of UNBOUND
    places[used] = np.arange(len(used))
    texts = state.terms.joined.take(used.astype(np.int64))
    arrays: list[NDArray[Any]] = [np.array(texts.text), np.array(texts.ends), instants.waiting, *state.consumed]
    arrays += [places[previous.ids], previous.offsets, previous.refs, previous.places]
    for log in state.logs:
        some = slice(len(log))
        arrays += [log.start[some], log.end[some], places[log.ids[:, some]], log.refs[some]]
    return head, arrays


def restore(
    program: WindowProgram, head: dict[str, Any], reader: ArrayReader, next_ref: int, environment: Environment
) -> WindowState:
    """The state of a snapshot for this program. InputError if it cannot be one."""
    domain, instants, is_settled = head.get("domain"), head.get("instants"), head.get("is_settled")
    require(domain in [each.value for each in Domain], "its head lacks the kind of time")
    require(isinstance(instants, list) and len(instants) == 3, "its head lacks the instants")
    require(all(each is None or type(each) is int for each in instants or ()), "its head lacks the instants")
    require(type(is_settled) is bool, "its head lacks the result of the last evaluation")
    state = initial_state(program, environment)
    texts = Texts(reader.next(), reader.next())
    check_terms(texts)
    state.terms.add_joined(texts)
    count = len(texts)
    require(len(state.terms) == count, "a term occurs twice")
    state.domain, state.is_settled = Domain(domain), bool(is_settled)
    waiting = reader.next().copy()
    check_array(waiting, np.int64, -1)
    require((waiting[1:] > waiting[:-1]).all(), "the instants are out of order")
    assert isinstance(instants, list)
    first, last, done = instants
    state.instants = Instants(first, last, done, waiting)

    def refs(length: int = -1) -> NDArray[np.int64]:
        found = reader.next().copy()
        check_array(found, np.int64, length)
        check_within(found, 0, next_ref, "the number of an event")
        return found

    def ids(width: int, length: int = -1) -> Ids:
        found = reader.next().copy()
        check_array(found, np.int32, width, length)
        check_within(found, UNBOUND, count, "the number of a term")
        return found

    state.consumed = [refs() for _ in program.matches]
    rows = ids(len(program.variables))
    offsets = reader.next().copy()
    check_array(offsets, np.int64, rows.shape[1] + 1)
    events = refs()
    require(offsets[0] == 0 and offsets[-1] == len(events), "the lists of events have the wrong length")
    require((offsets[1:] >= offsets[:-1]).all(), "a list of events ends before it begins")
    places = reader.next().copy()
    check_array(places, np.int64, len(events))
    state.previous = LoggedRows(rows, offsets, events, places)
    for log, table in zip(state.logs, program.tables, strict=True):
        start, end = reader.next().copy(), reader.next().copy()
        check_array(end, np.int64, -1)
        check_array(start, np.int64, len(end))
        check_intervals(start, end)
        require((end[1:] >= end[:-1]).all(), "a log is out of order")
        columns = ids(len(table.variables), len(end))
        log.add(start, end, columns, refs(len(end)))
    return state


Readers: TypeAlias = Sequence[Sequence[WindowFunction]]
"""For each table, the windows that read it."""


@dataclass(frozen=True, slots=True)
class WindowOperator:
    """Evaluates a query over the windows of its streams, at each instant of its report policy."""

    holds: ClassVar[str] = "rows held"

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
            if program.contents and not _holds_any(program, state, time):
                instants.finish(time)
                _skip(state, time, watermark, _contents(program))
                continue
            rows = self._evaluate(program, state, time, environment)
            instants.finish(time)
            if rows is not None:
                yield rows
            if state.is_settled and (not program.asks_for_time or _is_empty_anyway(program, state, time)):
                _skip(state, time, watermark, program.readers)
            drop_consumed(program, state)
        forget(program, state, instants.earliest(program, watermark))

    def _evaluate(
        self, program: WindowProgram, state: WindowState, time: int, environment: Environment
    ) -> Solutions | None:
        evaluation = Evaluation.at(program, state, time, environment)
        consumed = sum(map(len, state.consumed))
        rows, is_empty = evaluation.emitted()
        emits_again = program.emits is StreamOperator.RSTREAM and not is_empty
        state.is_settled = not emits_again and consumed == sum(map(len, state.consumed))
        _count_repeated(state, evaluation.read() if len(rows) else None, environment.max_steps)
        if not len(rows):
            return None
        if isinstance(program.query.form, Construct):
            triples = constructed(program, rows, state, time, evaluation.context)
            terms = [each for triple in triples for each in triple]
            return _event(program, rows, terms, state, time) if triples else None
        return _solutions(program, rows, state, time)

    def size(self, state: WindowState) -> int:
        return state.stored

    def held(self, program: WindowProgram, state: WindowState) -> Ints:
        logs = (state.logs[each.table] for each in program.events)
        return np.unique(np.concatenate([state.last_answer.refs, *(log.refs[: len(log)] for log in logs)]))

    def snapshot(self, program: WindowProgram, state: WindowState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot(state)

    def restore(
        self,
        program: WindowProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> WindowState:
        return restore(program, head, arrays, next_ref, environment)


def _count_repeated(state: WindowState, read: object, most: int) -> None:
    """Warn, once, of many evaluations in a row that emit rows though nothing has changed (RS-23). `read` is what the
    evaluation read; None: it emitted no row."""
    state.repeated = state.repeated + 1 if read is not None and read == state.seen else 0
    state.seen = read
    if state.repeated == most + 1 and not state.has_warned:
        state.has_warned = True
        warn(
            f"More than max_steps={most:,} evaluations in a row have emitted rows though nothing had changed. "
            "Try: ISTREAM, or a longer SLIDE or EVERY",
            ThenceWarning,
            stacklevel=2,
        )


def _contents(program: WindowProgram) -> Readers:
    """The windows, by the tables that hold all of their events."""
    found: list[list[WindowFunction]] = [[] for _ in program.tables]
    for table, window in zip(program.contents, program.query.windows, strict=True):
        found[table].append(window.function)
    return found


def _holds_any(program: WindowProgram, state: WindowState, time: int) -> bool:
    """Whether a window holds an event (RS-70)."""
    spans = (
        state.logs[table].rows(bounds(window.function, time))
        for table, window in zip(program.contents, program.query.windows, strict=True)
    )
    return any(low < high for low, high in spans)


def _is_empty_anyway(program: WindowProgram, state: WindowState, time: int) -> bool:
    """Whether the answer stays empty until a window changes, whatever NOW() is, and nothing is consumed meanwhile."""
    if any(each.consumes for each in program.matches):
        return False
    for each in program.needed:
        spans = (state.logs[table].rows(bounds(each.function, time)) for table in each.tables)
        if all(low >= high for low, high in spans):
            return True
    return False


def _skip(state: WindowState, time: int, watermark: int, readers: Readers) -> None:
    """Skip evaluations that would emit nothing until something changes (RS-23)."""
    changes = [state.graphs.next_change(time)]
    for log, functions in zip(state.logs, readers, strict=True):
        changes += [log.next_change(function, time) for function in functions]
    known = [each for each in changes if each is not None]
    end = watermark if watermark != NEVER else (state.instants.last or time)
    until = min([*known, end])
    if until > time + 1:
        state.instants.skip(until)


def _solutions(program: WindowProgram, rows: LoggedRows, state: WindowState, time: int) -> Solutions:
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
        queries=None if program.number is None else np.full(len(rows), program.number, np.int64),
        rank=np.arange(len(rows)) if program.query.form.modifiers.order else None,
    )


def _event(program: WindowProgram, rows: LoggedRows, terms: list[Term], state: WindowState, time: int) -> Solutions:
    """The one event of an evaluation (RS-53)."""
    at = np.array([time], np.int64)
    refs = np.array(list(dict.fromkeys(rows.refs.tolist())), np.int64)
    lists = EventLists(np.array([0, len(refs)], np.int64), refs, np.arange(len(refs), dtype=np.int64))

    queries = None if program.number is None else np.array([program.number], np.int64)
    lists_of = Deferred(lambda: lists)
    return Solutions(at, at, at, (), state.terms, lists_of, triples=lambda _: triples_of(terms), queries=queries)
