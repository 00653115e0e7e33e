"""The automaton as an operator: SPAseQ's sequences and SASE+'s components are its programs; its state as a head and
arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.sase import MatchAggregates
from thence.algebra.spaseq import SequenceQuery, occurrences
from thence.columns.array_codec import ArrayReader
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.texts import Texts
from thence.columns.value_columns import ValueColumn
from thence.engines.automaton import memory as layout
from thence.engines.automaton.contiguity import Contiguity
from thence.engines.automaton.match_aggregates import (
    AggregateState,
    add_matches,
    measures_of,
    restored_aggregates,
    saved_aggregates,
)
from thence.engines.automaton.memory import (
    AT_NODES,
    ITERATED,
    KEEP_EXPIRED,
    NODES,
    REF,
    Contents,
    live_runs,
    memory_contents,
    region,
    restored_memory,
)
from thence.engines.automaton.moments import Moments
from thence.engines.automaton.program import SequenceProgram
from thence.engines.automaton.projection import all_bound, solutions, total_solutions
from thence.engines.automaton.step import (
    Matches,
    SequenceState,
    begin,
    forget,
    initial_state,
    take,
    timed_out,
    waited_for,
)
from thence.errors import InputError
from thence.interface.extracted import BindingTable, Extracted
from thence.interface.operator import NEVER, Environment, Expired
from thence.interface.saved_arrays import (
    check_array,
    check_column,
    check_intervals,
    check_terms,
    check_values,
    check_within,
    require,
)
from thence.interface.solutions import Solutions

# Checks that a saved state is safe for compiled code, which checks no bounds: a state may be damaged, or forged with a
# valid digest.
#
# Sizes, places, links, term ids and tags are checked; times and numbers may be any.


def check_matched(rows: BindingTable, width: int, terms: int, next_ref: int, moments: Moments | None = None) -> None:
    count = len(rows.end) if rows.end.ndim else 0
    check_array(rows.end, np.int64, count)
    check_array(rows.start, np.int64, count)
    if moments is None:
        check_intervals(rows.start, rows.end)
    check_array(rows.refs, np.int64, count, width)
    check_array(rows.fresh, np.bool_, count)
    check_within(rows.refs, 0, next_ref, "the number of an event")
    for values in rows.columns.values():
        check_column(values, count)
        check_values(values.tags, values.bits, terms)


def check_partitions(keys: NDArray[Any], times: NDArray[Any], by: int, terms: int) -> None:
    """Check the kept times of contiguity for partitions by this many variables."""
    check_array(times, np.int64, -1, 2)
    check_array(keys, np.int64, len(times), 2 * by)
    require(by or len(times) <= 1, "it has several partitions, but the query has one")
    check_values(keys[:, 0::2], keys[:, 1::2], terms)


def check_moments(moments: Moments) -> None:
    check_array(moments.numbers, np.int64, -1)
    check_array(moments.times, np.int64, len(moments.numbers))
    require((np.diff(moments.numbers) > 0).all(), "its moments are out of order")
    check_within(moments.numbers, 0, moments.next, "a moment")


def check_contents(program: SequenceProgram, found: Contents, terms: int, next_ref: int) -> None:
    """Check the content of a memory."""
    automaton = program.automaton
    _check_nodes(program, found.nodes, terms, next_ref)
    check_array(found.waiting, np.int64, -1, layout.run_width(automaton))
    check_array(found.pending, np.int64, -1, layout.run_width(automaton))
    check_within(found.waiting[:, layout.STATE], 0, len(automaton.selection), "the number of a state")
    ending = np.flatnonzero(np.diff(automaton.end_from) > 0)
    require(np.isin(found.pending[:, layout.STATE], ending).all(), "a pending match is not in an end state")
    for runs in (found.waiting, found.pending):
        check_within(runs[:, layout.NODE], 0, len(found.nodes), "the number of a run's last event")
        slots = runs[:, layout.SLOTS : layout.SLOTS + 2 * automaton.slots]
        check_values(slots[:, 0::2], slots[:, 1::2], terms)
        if automaton.merges:
            absorbed = runs[:, -layout.ABSORBED_WORDS :]
            earlier = absorbed[absorbed[:, layout.ABSORBED_TIME] != layout.NEVER, layout.ABSORBED_NODE]
            check_within(earlier, 0, len(found.nodes), "the number of a run's earlier event")


def _check_nodes(program: SequenceProgram, nodes: Ints, terms: int, next_ref: int) -> None:
    check_array(nodes, np.int64, -1, layout.node_width(program.automaton))
    parents = nodes[:, layout.PARENT]
    require((parents >= -1).all() and (parents < np.arange(len(nodes))).all(), "an event precedes its predecessor")
    places, least = program.automaton.place, 0
    if program.automaton.merges:  # where histories meet is not an event
        places, least = np.concatenate([places, [layout.EITHER], layout.OPTIONAL - places]), -1
    require(np.isin(nodes[:, layout.PLACE], places).all(), "an event is at an unknown place of the pattern")
    check_within(nodes[:, layout.REF], least, next_ref, "the number of an event")
    check_values(nodes[:, layout.ITERATED :: 2], nodes[:, layout.ITERATED + 1 :: 2], terms)


# The automaton's state as a head and arrays, and back. What could lead compiled code astray is refused: a saved state
# may come from anywhere.


def snapshot(program: SequenceProgram, state: SequenceState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A state as a head and arrays, without what no later event can need."""
    forget(program, state)
    head = {
        "latest": state.latest,
        "moment": None if state.moments is None else state.moments.next,
        "kept": [state.terms_kept, *(contiguity.kept for contiguity in state.contiguities)],
        "totals": saved_aggregates(state.totals) if isinstance(program.query.form, MatchAggregates) else None,
    }
    return head, list(_arrays(state))


def restore(program: SequenceProgram, head: dict[str, Any], reader: ArrayReader, next_ref: int) -> SequenceState:
    """The state of a snapshot for this program. InputError if it cannot be one."""
    latest = head.get("latest")
    kept = head.get("kept")
    require(isinstance(kept, list) and len(kept) == 1 + len(program.contiguous), "its head lacks numbers")
    assert isinstance(kept, list)
    terms_kept, *partitions_kept = (_number(each, least=0) for each in kept)
    terms = _terms(program, Texts(reader.next(), reader.next()))
    found = Contents(reader.next(), reader.next(), reader.next())
    check_contents(program, found, len(terms), next_ref)
    memory = restored_memory(program.image, program.automaton, found)
    contiguities = [
        _contiguity(by, reader, known, len(terms))
        for by, known in zip(program.contiguous, partitions_kept, strict=True)
    ]
    state = SequenceState(
        terms=terms,
        memory=memory,
        contiguities=contiguities,
        negated={feed: _matched(reader, program.inputs[program.feeds[feed]].variables) for feed in program.negated},
        recent=[_matched(reader, source.variables) for source in program.sources],
        latest=None if latest is None else _number(latest),
        terms_kept=terms_kept,
    )
    if isinstance(program.query.form, MatchAggregates):
        state.totals = _totals(head.get("totals"), program, found.nodes)
    if program.order:
        state.moments = Moments(_number(head.get("moment"), least=0), reader.next().copy(), reader.next().copy())
        check_moments(state.moments)
    for feed, rows in state.negated.items():
        check_matched(rows, len(program.inputs[program.feeds[feed]].sources), len(terms), next_ref, state.moments)
    for rows in state.recent:
        check_matched(rows, 1, len(terms), next_ref, state.moments)
    return state


def _contiguity(by: tuple[Variable, ...], reader: ArrayReader, kept: int, terms: int) -> Contiguity:
    keys, times = reader.next().copy(), reader.next().copy()
    check_partitions(keys, times, len(by), terms)
    return Contiguity(by, keys, times, kept=kept)


def _totals(found: object, program: SequenceProgram, nodes: NDArray[np.int64]) -> AggregateState:
    form = program.query.form
    assert isinstance(form, MatchAggregates)
    try:
        totals = restored_aggregates(found, len(measures_of(form)))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        raise InputError("The saved state is damaged: the totals are malformed. Run the query again.") from None
    if program.automaton.merges:
        own = nodes[:, ITERATED + 2 * program.automaton.iterated - 1]
        require(totals.weighed == len(nodes) and (own == np.arange(len(nodes))).all(), "an event lacks its weight")
    return totals


def _number(found: object, *, least: int = -(2**63)) -> int:
    """A number that fits into 64 bits."""
    require(type(found) is int and least <= found < 2**63, "expected an integer in its head")
    assert isinstance(found, int)
    return found


def _terms(program: SequenceProgram, texts: Texts) -> Terms:
    """The dictionary: every term once, and first the constants of the program, whose predicates name them."""
    check_terms(texts)
    terms = Terms()
    constants = terms.add_all(program.constants)
    ids = terms.add_joined(texts)
    require((ids == np.arange(len(ids))).all() and len(ids) >= len(constants), "its terms are out of order")
    return terms


def _arrays(state: SequenceState) -> Iterator[NDArray[Any]]:
    yield state.terms.joined.text
    yield state.terms.joined.ends
    yield from memory_contents(state.memory)
    for contiguity in state.contiguities:
        yield from contiguity.known()
    for rows in (*state.negated.values(), *state.recent):
        yield rows.end
        yield rows.end[:0] if rows.start is rows.end else rows.start
        yield rows.refs
        yield rows.fresh
        for values in rows.columns.values():
            yield values.tags
            yield values.bits
    if state.moments is not None:
        yield state.moments.numbers
        yield state.moments.times


def _matched(reader: ArrayReader, variables: tuple[Variable, ...]) -> BindingTable:
    end, start, refs, fresh = (reader.next().copy() for _ in range(4))
    columns = {variable: ValueColumn(reader.next().copy(), reader.next().copy()) for variable in variables}
    return BindingTable(start if start.size else end, end, refs, columns, fresh)


@dataclass(frozen=True, slots=True)
class AutomatonOperator:
    """Runs wait in the states of a compiled automaton (NFA_scep, SPAseQ, Definition 17; SASE+, Section 3)."""

    holds: ClassVar[str] = "open partial matches"

    def initial(self, program: SequenceProgram, environment: Environment) -> SequenceState:
        return _keeping(initial_state(program), environment)

    def prune(self, program: SequenceProgram, state: SequenceState) -> None:
        begin(program, state)

    def step(
        self,
        program: SequenceProgram,
        state: SequenceState,
        extracted: Extracted,
        watermark: int,
        environment: Environment,
    ) -> Iterator[Solutions]:
        found = take(program, state, extracted, watermark, environment)
        form = program.query.form
        if isinstance(form, MatchAggregates):
            for matches in found:
                add_matches(program, program.components, state, state.totals, matches)
            if environment.running or watermark == NEVER:
                yield from total_solutions(form, program.output.columns, state.totals)
            return
        for matches in found:
            yield solutions(program, matches, state.terms, environment.context)

    def expire(self, program: SequenceProgram, state: SequenceState, watermark: int) -> Expired | None:
        found = timed_out(program, state, watermark)
        if not len(found.matches):
            return None
        missing = [waited_for(program, number) for number in found.states.tolist()]
        return Expired(all_bound(program, found.matches, state.terms), missing, _last_streams(program, found.matches))

    def size(self, state: SequenceState) -> int:
        return live_runs(state.memory)

    def held(self, program: SequenceProgram, state: SequenceState) -> Ints:
        memory = state.memory
        by_runs = region(memory, AT_NODES)[: memory[NODES], REF]
        refs = np.concatenate([by_runs, *(rows.refs.ravel() for rows in state.recent)])
        return refs[refs >= 0]  # where merged histories meet is not an event

    def snapshot(self, program: SequenceProgram, state: SequenceState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot(program, state)

    def restore(
        self,
        program: SequenceProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> SequenceState:
        return _keeping(restore(program, head, arrays, next_ref), environment)


def _keeping(state: SequenceState, environment: Environment) -> SequenceState:
    """Runs that time out are kept until they are reported, where they are."""
    state.memory[KEEP_EXPIRED] = environment.keeps_expired
    return state


def _last_streams(program: SequenceProgram, matches: Matches) -> list[str]:
    """The stream of each match's last event."""
    query = program.query
    assert isinstance(query, SequenceQuery), "only SPAseQ reports partial matches that time out"
    found = (each for part in query.sequence for each in occurrences(part.operand))
    streams = {each.place: query.gpm(each.gpm).stream for each in found}
    lasts = matches.places[matches.offsets[1:] - 1]
    return [streams[place] for place in lasts.tolist()]
