"""The state of a network as a head and arrays, and back. Timeless solutions are not saved: the background gives them
again. Under a policy only leaves are saved: their visible occurrences give the other solutions again. What could lead
compiled code astray is refused: a saved state may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.texts import Texts
from thence.kernel.array_checks import check_array, check_terms, check_within, require
from thence.kernel.temporal.filters import ConditionState, ProjectState
from thence.kernel.temporal.interval_table import ABSENT, DERIVED, NO_END, IntervalTable, concatenated
from thence.kernel.temporal.joins import OptionalState, WithoutState
from thence.kernel.temporal.leaves import LeafState
from thence.kernel.temporal.state import TemporalState, initial_state, node_tables
from thence.kernel.temporal.summaries import SummaryState
from thence.program.operator import Environment
from thence.program.temporal.program import TemporalProgram
from thence.rdf.times import Domain


def snapshot(state: TemporalState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A state as a head and arrays."""
    scope = state.evaluation.scope
    head = {
        "domain": scope.domain.value,
        "named": sorted(scope.named.items()),
        "open": state.open,
        "derived": state.evaluation.derived,
        "groups": [each.saved_groups() for each in state.evaluation.states if isinstance(each, SummaryState)],
    }
    tables = [_timed(table) for table in _saved_tables(state)]
    used = np.unique(np.concatenate([np.empty(0, np.int32), *(table.ids.ravel() for table in tables)]))
    used = used[used != UNBOUND]
    places = np.full(len(state.terms) + 1, UNBOUND, np.int32)  # at the end, that of UNBOUND
    places[used] = np.arange(len(used))
    texts = state.terms.joined.take(used.astype(np.int64))
    arrays: list[NDArray[Any]] = [np.array(texts.text), np.array(texts.ends)]
    for table in tables:
        arrays += [table.start, table.end, places[table.ids], table.refs]
    arrays += [
        each.matched[each.mandatory.table.end != NO_END]
        for each in state.evaluation.states
        if isinstance(each, OptionalState)
    ]
    return head, arrays


def _saved_tables(state: TemporalState) -> Iterator[IntervalTable]:
    """What is saved, in the order in which it is restored."""
    yield state.evaluation.known
    if state.selection is not None:
        for leaf in state.selection.leaves.values():
            yield from (leaf.visible(), leaf.waiting)
        return
    for each in state.evaluation.states:
        if each is not None:
            yield from node_tables(each)


def _timed(table: IntervalTable) -> IntervalTable:
    """Without timeless solutions, which the background gives again; nor are its terms saved, where nothing else uses
    them."""
    return table.take(table.end != NO_END)


def restore(
    program: TemporalProgram, head: dict[str, Any], reader: ArrayReader, next_ref: int, environment: Environment
) -> TemporalState:
    """The state of a snapshot for this program. InputError if it cannot be one."""
    domain, named, instants = head.get("domain"), head.get("named"), head.get("open")
    require(domain in [each.value for each in Domain], "its head has no kind of time")
    require(isinstance(named, list) and all(map(_is_pair, named)), "its head has something else than rules")
    require(isinstance(instants, list) and all(type(each) is int for each in instants), "its head has no instants")
    assert isinstance(named, list) and isinstance(instants, list)
    texts = Texts(reader.next(), reader.next())
    check_terms(texts)
    terms = Terms()
    ids = terms.add_joined(texts)
    require((ids == np.arange(len(ids))).all(), "its terms are not in their order")
    count = len(terms)
    state = initial_state(program, terms, environment)
    scope = state.evaluation.scope
    scope.domain, scope.named = Domain(domain), {int(rule): int(number) for rule, number in named}
    state.open = instants
    groups = head.get("groups")
    require(isinstance(groups, list), "its head has no groups")
    assert isinstance(groups, list)
    groups = list(groups)
    derived = head.get("derived")
    require(type(derived) is int and 0 <= derived < 2**61, "its head has no number of derived triples")
    assert isinstance(derived, int)
    state.evaluation.derived = derived

    def saved(like: IntervalTable) -> IntervalTable:
        table = IntervalTable(*(reader.next().copy() for _ in range(4)))
        rows = len(table.start)
        check_array(table.start, np.int64, rows)
        check_array(table.end, np.int64, rows)
        check_array(table.ids, np.int32, len(like.ids), rows)
        check_array(table.refs, np.int64, len(like.refs), rows)
        check_within(table.ids, UNBOUND, count, "a term")
        check_within(table.refs[table.refs < DERIVED], ABSENT, next_ref, "an event")
        require((table.start <= table.end).all(), "a solution ends before it starts")
        return table

    known = state.evaluation.known
    state.evaluation.known = concatenated([known, saved(known)])
    if state.selection is not None:
        visible = {}
        for number, leaf in state.selection.leaves.items():
            visible[number] = saved(leaf.waiting)
            leaf.wait(saved(leaf.waiting))
        state.selection.add(state.evaluation, visible)
        return state
    for each in state.evaluation.states:
        if each is None:
            continue
        for store in each.stores:
            store.add(saved(store.table))
        match each:
            case ConditionState() | WithoutState() | ProjectState():
                each.waiting = concatenated([each.waiting, saved(each.waiting)])
            case SummaryState():
                each.waiting = concatenated([each.waiting, saved(each.waiting)])
                each.groups.clear()
                each.restore_groups(groups.pop(0) if groups else None)
            case LeafState():
                each.waiting = concatenated([each.waiting, saved(each.waiting)])
                if each.log is not None:
                    each.log = concatenated([each.log, saved(each.log)])
            case _:
                pass
    for each in state.evaluation.states:
        if isinstance(each, OptionalState):
            matched = reader.next().copy()
            check_array(matched, np.bool_, len(each.mandatory) - len(each.matched))
            each.matched = np.concatenate([each.matched, matched])
    return state


def _is_pair(found: object) -> bool:
    return isinstance(found, list) and len(found) == 2 and all(type(each) is int for each in found)
