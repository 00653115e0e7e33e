"""Temporal joins as an operator: files of EP-SPARQL are its programs; their states as a head and arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader
from thence.columns.arrays import Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.texts import Texts
from thence.columns.value_columns import ValueColumn, values_of_ids
from thence.columns.value_kinds import BLANK, INTEGER, NONE
from thence.engines.temporal.conditions import ConditionState, ProjectState
from thence.engines.temporal.joins import OptionalState, WithoutState
from thence.engines.temporal.leaves import LeafState
from thence.engines.temporal.program import PathScan, Project, Summarise, TemporalProgram
from thence.engines.temporal.state import (
    Emitted,
    TemporalState,
    begin,
    compacted,
    initial_state,
    node_tables,
    step_network,
)
from thence.engines.temporal.summaries import SummaryState
from thence.interface.extracted import Extracted
from thence.interface.operator import Environment
from thence.interface.output import is_numbered
from thence.interface.saved_arrays import check_array, check_terms, check_within, require
from thence.interface.solutions import Deferred, EventLists, Solutions
from thence.rdf.terms import Triple, triples_of
from thence.rdf.times import Domain
from thence.relation.interval_table import (
    ABSENT,
    DERIVED,
    NO_END,
    IntervalTable,
    chosen_columns,
    concatenated,
    is_event,
)

# The state of a network as a head and arrays, and back. Timeless solutions are not saved: the background gives them
# again. Under a policy only leaves are saved: their visible occurrences give the other solutions again. What could lead
# compiled code astray is refused: a saved state may come from anywhere.


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
    """The saved tables, in the order in which they are restored."""
    yield state.evaluation.known
    yield from state.held.values()
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
    require(domain in [each.value for each in Domain], "its head lacks the kind of time")
    require(isinstance(named, list) and all(map(_is_pair, named)), "the rules in its head are malformed")
    require(isinstance(instants, list) and all(type(each) is int for each in instants), "its head lacks the instants")
    assert isinstance(named, list) and isinstance(instants, list)
    texts = Texts(reader.next(), reader.next())
    check_terms(texts)
    terms = Terms()
    ids = terms.add_joined(texts)
    require((ids == np.arange(len(ids))).all(), "its terms are out of order")
    count = len(terms)
    state = initial_state(program, terms, environment)
    scope = state.evaluation.scope
    scope.domain, scope.named = Domain(domain), {int(rule): int(number) for rule, number in named}
    state.open = instants
    groups = head.get("groups")
    require(isinstance(groups, list), "its head lacks the groups")
    assert isinstance(groups, list)
    groups = list(groups)
    derived = head.get("derived")
    require(type(derived) is int and 0 <= derived < 2**61, "its head lacks the number of derived triples")
    assert isinstance(derived, int)
    state.evaluation.derived = derived

    def saved(like: IntervalTable) -> IntervalTable:
        table = IntervalTable(*(reader.next().copy() for _ in range(4)))
        rows = len(table.start)
        check_array(table.start, np.int64, rows)
        check_array(table.end, np.int64, rows)
        check_array(table.ids, np.int32, len(like.ids), rows)
        check_array(table.refs, np.int64, len(like.refs), rows)
        check_within(table.ids, UNBOUND, count, "the number of a term")
        check_within(table.refs[table.refs < DERIVED], ABSENT, next_ref, "the number of an event")
        require((table.start <= table.end).all(), "a solution ends before it starts")
        return table

    known = state.evaluation.known
    state.evaluation.known = concatenated([known, saved(known)])
    state.held = {place: saved(table) for place, table in state.held.items()}
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


def _is_pair(saved: object) -> bool:
    return isinstance(saved, list) and len(saved) == 2 and all(type(each) is int for each in saved)


@dataclass(frozen=True, slots=True)
class TemporalOperator:
    """Solutions ⟨μ, tα, tω⟩ wait in the nodes of a network of joins (EP-SPARQL, Section 4.2)."""

    holds: ClassVar[str] = "solutions held"

    def initial(self, program: TemporalProgram, environment: Environment) -> TemporalState:
        return initial_state(program, Terms(), environment)

    def prune(self, program: TemporalProgram, state: TemporalState) -> None:
        compacted(state)

    def step(
        self,
        program: TemporalProgram,
        state: TemporalState,
        extracted: Extracted,
        watermark: int,
        environment: Environment,
    ) -> Iterator[Solutions]:
        begin(program, state, extracted)
        rank = 0
        for emitted in step_network(program, state, watermark, environment):
            ends = emitted.rows.end
            rows = np.flatnonzero(ends != NO_END)  # EP-38
            if len(rows):
                if not program.waits_for_time and (ends[1:] < ends[:-1]).any():  # as of the arms of a UNION
                    rows = rows[np.argsort(ends[rows], kind="stable")]
                yield _solutions(program, emitted.take(rows), state.terms, rank)
                rank += len(rows)

    def size(self, state: TemporalState) -> int:
        return state.stored

    def held(self, program: TemporalProgram, state: TemporalState) -> Ints:
        return state.refs()

    def snapshot(self, program: TemporalProgram, state: TemporalState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot(state)

    def restore(
        self,
        program: TemporalProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> TemporalState:
        return restore(program, head, arrays, next_ref, environment)


def _solutions(program: TemporalProgram, emitted: Emitted, terms: Terms, rank: int) -> Solutions:
    """Rows as the host takes them: certain when they end (EP-42). `rank` counts the rows before them."""
    rows, output = emitted.rows, program.output
    ids = rows.ids if emitted.triples is not None else chosen_columns(rows.ids, _columns(program, emitted.query))
    columns = tuple(values_of_ids(each, terms) for each in ids)
    triples = None

    def identity() -> tuple[ValueColumn, ...]:
        nothing = values_of_ids(np.full(len(rows), UNBOUND), terms)
        if emitted.triples is not None:
            return columns + (nothing,) * (_most_variables(program) - len(columns))
        shown = len(program.network.nodes[_root(program, emitted.query)].variables)
        hidden = tuple(_without_blank_nodes(values_of_ids(each, terms)) for each in rows.ids[shown:])
        parts = hidden + _derived_parts(program, rows)
        return columns + parts + (nothing,) * (_most_parts(program) - len(parts))

    if emitted.triples is not None:
        listed = emitted.triples

        def triples(number: int) -> tuple[Triple, ...]:
            return triples_of(terms[each] for each in listed[number])

    return Solutions(
        certain=rows.end,
        start=rows.start,
        end=rows.end,
        names=output.columns,
        terms=terms,
        events=Deferred(lambda: _event_lists(rows.refs)),
        columns=columns if emitted.triples is None else None,
        triples=triples,
        identity=identity,
        rank=rank + np.arange(len(rows)) if _is_ordered(program) else None,
        queries=np.full(len(rows), emitted.query) if is_numbered(output) else None,
    )


def _columns(program: TemporalProgram, query: int) -> list[int]:
    """The column of a SELECT's rows for each column of the shared output; -1 for those of other SELECTs."""
    own = [name.name for name in program.network.nodes[_root(program, query)].variables]
    return [own.index(name) if name in own else -1 for name in program.output.columns]


def _root(program: TemporalProgram, query: int) -> int:
    (root,) = (each.root for each in program.network.statements if not each.is_rule and each.number == query)
    return root


def _is_ordered(program: TemporalProgram) -> bool:
    """Whether rows of one end have an order of their own: rules' (EP-49), or that of ORDER BY (EP-62). The root emits
    them so."""
    network = program.network
    if not program.query:
        return True
    roots = [network.nodes[each.root] for each in network.statements if not each.is_rule]
    return any(isinstance(root, Summarise) and root.select.modifiers.order for root in roots)


def _without_blank_nodes(column: ValueColumn) -> ValueColumn:
    """Hidden blank nodes do not distinguish rows, because the names of those without a label depend on how the file is
    read."""
    return ValueColumn(np.where(column.tags == BLANK, np.uint16(NONE), column.tags), column.bits)


def _derived_parts(program: TemporalProgram, rows: IntervalTable) -> tuple[ValueColumn, ...]:
    """For each place of the pattern, which derived triple fills it. Where these are numbered, it is left out: the
    numbers depend on what else is derived."""
    statements = program.network.statements
    numbered = any(isinstance(node, PathScan) for node in program.network.nodes)
    if numbered or not any(each.is_rule for each in statements):
        return ()
    tags = np.full(len(rows), INTEGER, np.uint16)
    return tuple(ValueColumn(tags, np.where(refs >= DERIVED, refs, 0)) for refs in rows.refs)


def _most_parts(program: TemporalProgram) -> int:
    """The largest number of hidden columns and places that distinguish a SELECT's rows: rows of several SELECTs share a
    table."""
    nodes = program.network.nodes
    roots = [nodes[each.root] for each in program.network.statements if not each.is_rule]
    return max(len(each.places) + (len(each.hidden) if isinstance(each, Project) else 0) for each in roots)


def _most_variables(program: TemporalProgram) -> int:
    """The largest number of variables of a statement: rows of different rules share a table, so they have equally many
    columns."""
    network = program.network
    return max(len(network.nodes[each.root].variables) for each in network.statements)


def _event_lists(refs: Ints) -> EventLists:
    """The events of each row in pattern order, each once: an event may fill several triple patterns."""
    is_first = is_event(refs)
    for place in range(1, len(refs)):
        for earlier in range(place):
            is_first[place] &= refs[place] != refs[earlier]
    lengths = is_first.sum(axis=0) if len(refs) else np.zeros(refs.shape[1], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows, places = np.nonzero(is_first.T)
    return EventLists(offsets, refs.T[rows, places], places.astype(np.int64))
