"""Temporal joins as an operator: files of EP-SPARQL are its programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.term_ids import values_of_ids
from thence.columns.term_values import ValueColumn
from thence.columns.value_kinds import BLANK, INTEGER, NONE
from thence.kernel.temporal import snapshot
from thence.kernel.temporal.interval_table import DERIVED, NO_END, IntervalTable, chosen_columns, is_event
from thence.kernel.temporal.state import Emitted, TemporalState, begin, compacted, initial_state, step_network
from thence.program.description import Description
from thence.program.extracted import Extracted
from thence.program.operator import Environment, Expired
from thence.program.output import is_numbered
from thence.program.solutions import Cell, Deferred, EventLists, Solutions
from thence.program.temporal.network import PathScan, Project, Summarise
from thence.program.temporal.program import TemporalProgram

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TemporalOperator:
    """Solutions ⟨μ, tα, tω⟩ wait in the nodes of a network of joins (EP-SPARQL, Section 4.2)."""

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

    def expire(self, program: TemporalProgram, state: TemporalState, watermark: int) -> Expired | None:
        return None

    def facts(self, program: TemporalProgram, state: TemporalState, time: int | None) -> None:
        return None

    def held(self, program: TemporalProgram, state: TemporalState) -> Ints:
        return state.refs()

    def snapshot(self, program: TemporalProgram, state: TemporalState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot.snapshot(state)

    def restore(
        self,
        program: TemporalProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> TemporalState:
        return snapshot.restore(program, head, arrays, next_ref, environment)

    def describe(self, program: TemporalProgram) -> Description:
        from thence.kernel.temporal.description import describe  # only `explain` needs it

        return describe(program)


def _solutions(program: TemporalProgram, emitted: Emitted, terms: Terms, rank: int) -> Solutions:
    """Rows as the host takes them: certain when they end (EP-42). `rank` counts the rows before them."""
    rows, output = emitted.rows, program.output
    ids = rows.ids if emitted.triples is not None else chosen_columns(rows.ids, _columns(program, emitted.query))
    columns = tuple(values_of_ids(each, terms) for each in ids)
    compute = None

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

        def compute(number: int) -> Mapping[str, Cell]:
            return {"triples": tuple(terms[each] for each in listed[number])}

    return Solutions(
        certain=rows.end,
        start=rows.start,
        end=rows.end,
        names=output.columns,
        terms=terms,
        events=Deferred(lambda: _event_lists(rows.refs)),
        columns=columns if emitted.triples is None else None,
        compute=compute,
        identity=identity,
        rank=rank + np.arange(len(rows)) if _is_ordered(program) else None,
        queries=np.full(len(rows), emitted.query) if is_numbered(output) else None,
    )


def _columns(program: TemporalProgram, query: int) -> list[int]:
    """Which column of a SELECT's rows is each of the output's, which several may share; -1 for those of others."""
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
    """Hidden blank nodes tell no rows apart: those without a label are named by how the file is read."""
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
    """Of any SELECT, how many hidden columns and places tell its rows apart: rows of several come together."""
    nodes = program.network.nodes
    roots = [nodes[each.root] for each in program.network.statements if not each.is_rule]
    return max(len(each.places) + (len(each.hidden) if isinstance(each, Project) else 0) for each in roots)


def _most_variables(program: TemporalProgram) -> int:
    """Of any statement: rows of different rules, which come together, have as many columns each."""
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
