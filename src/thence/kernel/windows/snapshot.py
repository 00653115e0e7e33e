"""The state of a query over windows as a head and arrays, and back. What could lead compiled code astray is refused: a
saved state may come from anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader
from thence.columns.dictionary import UNBOUND
from thence.columns.term_ids import Ids
from thence.columns.texts import Texts
from thence.kernel.array_checks import check_array, check_intervals, check_terms, check_within, require
from thence.kernel.windows.instants import Instants
from thence.kernel.windows.state import WindowState, initial_state
from thence.kernel.windows.table_log import Rows
from thence.program.operator import Environment
from thence.program.windows.program import WindowProgram
from thence.rdf.times import Domain


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
    require(domain in [each.value for each in Domain], "its head has no kind of time")
    require(isinstance(instants, list) and len(instants) == 3, "its head has no instants")
    require(all(each is None or type(each) is int for each in instants or ()), "its head has no instants")
    require(type(is_settled) is bool, "its head does not say how the last evaluation ended")
    state = initial_state(program, environment)
    texts = Texts(reader.next(), reader.next())
    check_terms(texts)
    state.terms.add_joined(texts)
    count = len(texts)
    require(len(state.terms) == count, "a term is there twice")
    state.domain, state.is_settled = Domain(domain), bool(is_settled)
    waiting = reader.next().copy()
    check_array(waiting, np.int64, -1)
    require((waiting[1:] > waiting[:-1]).all(), "instants are in no order")
    assert isinstance(instants, list)
    first, last, done = instants
    state.instants = Instants(first, last, done, waiting)

    def refs(length: int = -1) -> NDArray[np.int64]:
        found = reader.next().copy()
        check_array(found, np.int64, length)
        check_within(found, 0, next_ref, "an event")
        return found

    def ids(width: int, length: int = -1) -> Ids:
        found = reader.next().copy()
        check_array(found, np.int32, width, length)
        check_within(found, UNBOUND, count, "a term")
        return found

    state.consumed = [refs() for _ in program.matches]
    rows = ids(len(program.variables))
    offsets = reader.next().copy()
    check_array(offsets, np.int64, rows.shape[1] + 1)
    events = refs()
    require(offsets[0] == 0 and offsets[-1] == len(events), "lists of events end elsewhere")
    require((offsets[1:] >= offsets[:-1]).all(), "a list of events ends before it begins")
    places = reader.next().copy()
    check_array(places, np.int64, len(events))
    state.previous = Rows(rows, offsets, events, places)
    for log, table in zip(state.logs, program.tables, strict=True):
        start, end = reader.next().copy(), reader.next().copy()
        check_array(end, np.int64, -1)
        check_array(start, np.int64, len(end))
        check_intervals(start, end)
        require((end[1:] >= end[:-1]).all(), "a log is in no order")
        columns = ids(len(table.variables), len(end))
        log.add(start, end, columns, refs(len(end)))
    return state
