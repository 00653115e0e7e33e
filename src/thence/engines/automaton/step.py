"""Binding rows as the machine's rows; the automaton's step, a pure function of its arguments except that it changes the
state in place; timed-out partial matches; pruning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.canonical_terms import NON_CANONICAL
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, term_of, write_values
from thence.columns.value_kinds import NONE, OTHER
from thence.engines.automaton import machine
from thence.engines.automaton.conditions import evaluate_on_history, without_negated
from thence.engines.automaton.contiguity import Contiguity
from thence.engines.automaton.image import EVENTS, FEED, TIME, clock_place, previous_place, row_width
from thence.engines.automaton.late_graphs import enriched
from thence.engines.automaton.match_aggregates import AggregateState, add_weights, prune_weights
from thence.engines.automaton.match_buffer import History, match_events, take_matches
from thence.engines.automaton.memory import (
    ABSORBED_TIME,
    ABSORBED_WORDS,
    ANSWER_CAPACITY,
    ANSWERS,
    AT_ANSWERS,
    AT_FRAMES,
    AT_MATCHES,
    AT_NODES,
    AT_RUNS,
    DEADLINE,
    FRAME,
    ITERATED,
    LAST,
    MATCH_CAPACITY,
    MATCHES,
    MOST_MATCHES,
    NODE,
    NODES,
    PENDING,
    PLACE,
    PREDICATE,
    REF,
    ROW,
    ROW_START,
    RUN_START,
    SLOTS,
    STATE,
    Memory,
    empty_memory,
    evict_runs,
    grown_memory,
    live_runs,
    memory_for_rows,
    region,
    take_expired,
)
from thence.engines.automaton.moments import Moments
from thence.engines.automaton.program import STRICT, Automaton, SequenceProgram
from thence.errors import LimitError
from thence.extraction.extract import conjunction
from thence.extraction.predicates import ERROR, FALSE, TRUE
from thence.interface.extracted import BindingTable, Extracted, concatenate_bindings
from thence.interface.operator import Environment
from thence.match.context import Context, ExpressionError, Solution
from thence.match.expression_evaluator import effective_boolean_value, evaluate

# Tables of bindings → the machine's rows, in the order of time.


def feed_rows(program: SequenceProgram, by_source: Sequence[BindingTable]) -> list[BindingTable]:
    """The rows of each feed: its sources joined, and only those not seen before."""
    found = []
    for number in program.feeds:
        rows = conjunction([by_source[source] for source in program.inputs[number].sources])
        found.append(rows if rows.fresh.all() else rows.take(np.flatnonzero(rows.fresh)))
    return found


def machine_rows(
    program: SequenceProgram,
    listed: Sequence[tuple[int, BindingTable]],
    previous: Sequence[Sequence[Ints]] | None = None,
    *,
    width: int | None = None,
    moments: Moments | None = None,
) -> NDArray[np.int64]:
    """Rows of several feeds as the machine reads them, in the order of time; `previous` are the previous times of each
    feed's rows. They are as wide as they need be, or `width`. If their ends are `moments`, these know their times."""
    if width is None:
        width = row_width(program.automaton) + any(rows.start is not rows.end for _, rows in listed)
    table = np.empty((sum(len(rows) for _, rows in listed), width), np.int64)
    first = 0
    for position, (number, rows) in enumerate(listed):
        before = [rows.end] * program.automaton.previous if previous is None else previous[position]
        clock = rows.end if moments is None else moments.clock(rows.end)
        _write(program, number, rows, before, clock, table[first : first + len(rows)])
        first += len(rows)
    times = listed[0][1].end if len(listed) == 1 else table[:, TIME]
    if (times[1:] >= times[:-1]).all():
        return table
    return np.ascontiguousarray(table[np.argsort(times, kind="stable")])


def _write(
    program: SequenceProgram,
    feed: int,
    rows: BindingTable,
    previous: Sequence[Ints],
    clock: Ints,
    table: NDArray[np.int64],
) -> None:
    """The rows of one feed into a table."""
    columns: list[tuple[int, NDArray[Any]]] = [(TIME, rows.end)]
    columns += [(clock_place(program.automaton), clock)] if program.automaton.ordered else []
    start = start_place(program.automaton, table)
    columns += [(start, rows.start)] if start != TIME else []
    columns += [(previous_place(program.automaton, number), times) for number, times in enumerate(previous)]
    columns += [(EVENTS + event, refs) for event, refs in enumerate(rows.refs.T)]
    variables = program.inputs[program.feeds[feed]].variables
    values = [(program.automaton.row_values + 2 * n, rows.columns[variable]) for n, variable in enumerate(variables)]
    write_values(table, values, columns, [(FEED, feed)])


def start_place(automaton: Automaton, rows: NDArray[np.int64]) -> int:
    """The place in each of some rows of the start of its first event; for a point, of its time."""
    width = row_width(automaton)
    return width if rows.shape[1] > width else TIME


# Prunes a state's dictionary to the terms that runs have bound and guards may look at.

_FEW_TERMS = 1_000
"""Terms that are kept without asking."""


def prune_dictionary(program: SequenceProgram, state: SequenceState) -> None:
    """Once the dictionary has doubled, drop unused terms and renumber the others."""
    if len(state.terms) < max(_FEW_TERMS, 2 * state.terms_kept):
        return
    used = [bits[_is_id(tags)] for tags, bits in _held(program, state)]
    kept = np.unique(np.concatenate(used)) if used else np.empty(0, np.int64)
    terms = Terms()
    terms.add_all(program.constants)  # first, so that they keep their ids: predicates name them
    renumbered = np.full(len(state.terms), -1, np.int64)
    renumbered[kept] = terms.import_all(state.terms, kept.astype(np.int32))
    for tags, bits in _held(program, state):
        rows = _is_id(tags)
        if rows.any():  # else they may be a file's own numbers, which can't be written to
            bits[rows] = renumbered[bits[rows]]
    for contiguity in state.contiguities:
        contiguity.restore(*contiguity.known())  # known by other ids
    state.terms, state.terms_kept = terms, len(terms)


def _held(program: SequenceProgram, state: SequenceState) -> Iterator[tuple[NDArray[Any], Ints]]:
    """Tags and bits, as views, of all that is kept."""
    runs = region(state.memory, AT_RUNS)
    slots = runs[:, SLOTS : SLOTS + 2 * program.automaton.slots]
    slots[runs[:, STATE] < 0] = NONE  # what a free run had bound, nothing holds
    yield slots[:, 0::2], slots[:, 1::2]
    nodes = region(state.memory, AT_NODES)[: state.memory[NODES]]
    yield nodes[:, ITERATED::2], nodes[:, ITERATED + 1 :: 2]
    for contiguity in state.contiguities:
        keys, _ = contiguity.known()
        yield keys[:, 0::2], keys[:, 1::2]
    for rows in (*state.negated.values(), *state.recent):
        yield from ((values.tags, values.bits) for values in _columns(rows))


def _columns(rows: BindingTable) -> Iterator[ValueColumn]:
    return iter(rows.columns.values())


def _is_id(tags: NDArray[Any]) -> NDArray[np.bool_]:
    named: NDArray[np.bool_] = ((tags > NONE) & (tags <= OTHER)) | (tags == NON_CANONICAL)
    return named


# The automaton's step: a pure function of its arguments, except that it changes the state in place. No clock, no I/O;
# nothing is late here, and events come in the order of time.

Table = NDArray[np.int64]

_FEW = 256
"""Events after which it is worth pruning."""


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Matches as columns: when each became certain, the start of its first event and the end of its last one, its
    slots, and its events in the order of the pattern, which must be asked for before the next step. `is_sorted` tells
    that they are known to be in the order of certainty, end and start, and that no two have all three in common.
    Tags may be a view of one row, and so not to be written to."""

    certain: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tags: NDArray[np.int64]
    bits: NDArray[np.int64]
    history: History
    is_sorted: bool = False

    def __len__(self) -> int:
        return len(self.certain)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Events of match i: offsets[i]:offsets[i+1]."""
        return self.history.events.offsets

    @property
    def refs(self) -> NDArray[np.int64]:
        return self.history.events.nodes[:, REF]

    @property
    def places(self) -> NDArray[np.int64]:
        return self.history.events.nodes[:, PLACE]

    @property
    def iterated_tags(self) -> NDArray[np.int64]:
        """The values of the iterated variables at each event that ends an iteration."""
        return self.history.events.nodes[:, ITERATED::2]

    @property
    def iterated_bits(self) -> NDArray[np.int64]:
        return self.history.events.nodes[:, ITERATED + 1 :: 2]

    def take(self, rows: NDArray[np.int64]) -> Matches:
        """Some of the matches, in the given order, as often as given."""
        return Matches(
            certain=self.certain[rows],
            start=self.start[rows],
            end=self.end[rows],
            tags=self.tags[rows],
            bits=self.bits[rows],
            history=History(lambda: self.history.events.take(rows)),
        )


@dataclass(slots=True)
class SequenceState:
    """The state of a shard between steps."""

    terms: Terms
    memory: Memory
    contiguities: list[Contiguity]  # one for each previous time of a row
    negated: dict[int, BindingTable]
    recent: list[BindingTable]  # of each source, its rows at the latest time: more may come at that time
    latest: int | None = None  # the time of the latest event of all inputs
    questions: int = 0  # asked of the reference evaluator
    terms_kept: int = 0  # when the dictionary was last gone through
    untidy: int = 0  # events since what is no longer needed was last dropped
    now: int | None = None  # the last step's watermark
    totals: AggregateState = field(default_factory=AggregateState)  # of AGGREGATE
    moments: Moments | None = None  # under the option `order`; ends and last times are then moments


def initial_state(program: SequenceProgram) -> SequenceState:
    terms = Terms()
    terms.add_all(program.constants)
    return SequenceState(
        terms=terms,
        memory=empty_memory(program.automaton),
        contiguities=[Contiguity(by) for by in program.contiguous],
        negated={number: _none(program, number) for number in program.negated},
        recent=[concatenate_bindings([], source.variables) for source in program.sources],
        moments=Moments() if program.order else None,
    )


def _none(program: SequenceProgram, feed: int) -> BindingTable:
    made = program.inputs[program.feeds[feed]]
    return concatenate_bindings([], made.variables, len(made.sources))


def begin(program: SequenceProgram, state: SequenceState) -> None:
    """Before anything is entered into a state: drop what is no longer needed, if that is worth its cost."""
    if state.untidy >= max(
        _FEW, live_runs(state.memory)
    ):  # so that many small steps cost no more than a few large ones
        forget(program, state)


def take(
    program: SequenceProgram,
    state: SequenceState,
    found: Extracted,
    watermark: int,
    environment: Environment,
) -> Iterator[Matches]:
    """The matches that become certain with these events, and with the knowledge that none before `watermark` will
    come. The events' values name terms of the state's dictionary."""
    context = environment.context
    _note_latest(state, found)
    rows, negated = _rows(program, state, found)
    runner = _Runner(program, state, negated, context, environment.max_runs)
    for matches in chain(runner.take(rows), runner.resolve(watermark)):
        matches = without_negated(program, program.components, state, matches, context)
        yield from enriched(program, matches, state.terms, environment.background, context)
    state.untidy += found.events
    state.now = watermark


def _note_latest(state: SequenceState, found: Extracted) -> None:
    """Matches that the end of input completes are certain at the latest event of all inputs (SA-22)."""
    own = int(found.times.max()) if len(found.times) else None
    state.latest = max((time for time in (state.latest, own, found.latest) if time is not None), default=None)


def _rows(program: SequenceProgram, state: SequenceState, found: Extracted) -> tuple[Table, Table]:
    """The machine's rows of these events, and those that guards test."""
    moments, of_events = state.moments, found.times
    if moments is not None:
        found, of_events = moments.placed(found, state.terms)
    by_source = [found.tables[source.table].renamed(source.variables) for source in program.sources]
    fed = feed_rows(program, _with_recent(program, state, found, by_source))
    fed = [_from_origin(program, moments, rows) for rows in fed]
    for feed in program.negated:
        made = program.inputs[program.feeds[feed]]
        state.negated[feed] = concatenate_bindings([state.negated[feed], fed[feed]], made.variables, len(made.sources))
    automaton = program.automaton
    walked = [f for f in range(len(fed)) if automaton.feed_from[f] < automaton.feed_from[f + 1]]
    previous = _previous(program, state, found, of_events, [fed[f] for f in walked])
    rows = machine_rows(program, [(f, fed[f]) for f in walked], list(zip(*previous, strict=True)), moments=moments)
    if not automaton.guard_edge.size:  # negations, if any, are judged on finished matches
        return rows, rows[:0]
    return rows, machine_rows(program, list(state.negated.items()), width=rows.shape[1], moments=moments)


def _previous(
    program: SequenceProgram, state: SequenceState, found: Extracted, of_events: Ints, listed: Sequence[BindingTable]
) -> list[list[NDArray[np.int64]]]:
    """For each contiguity, of each row of each feed, the time with which it would be contiguous (Definition 12); only
    where strict contiguity matters. `of_events` are the times, or moments, of all events."""
    if not (program.automaton.selection == STRICT).any():
        return [[rows.end for rows in listed] for _ in program.contiguous]
    if program.automaton.tumbling:
        of_events = of_events[_clock(state.moments, of_events) >= program.automaton.origin]
    partitions = [found.tables[each.table].renamed(each.variables) for each in program.partitions]
    return [
        contiguity.previous(of_events, partitions if contiguity.by else [], listed) for contiguity in state.contiguities
    ]


def _with_recent(
    program: SequenceProgram, state: SequenceState, found: Extracted, by_source: list[BindingTable]
) -> list[BindingTable]:
    """Rows at the latest time stay, not fresh, for conjunctions with what comes at that time (SPAseQ, Definition 8)."""
    if all(len(each.sources) == 1 for each in program.inputs):
        return by_source
    joined = []
    for number, (source, rows) in enumerate(zip(program.sources, by_source, strict=True)):
        together = concatenate_bindings([state.recent[number], rows], source.variables)
        joined.append(together)
        if state.moments is not None:  # no more of its moments will come
            continue
        kept = together.take(np.flatnonzero(together.end == state.latest)) if state.latest is not None else together
        state.recent[number] = replace(kept, fresh=np.zeros(len(kept), np.bool_))
    return joined


def _clock(moments: Moments | None, ends: Ints) -> Ints:
    """The times of ends, which may be moments."""
    return ends if moments is None else moments.clock(ends)


def _from_origin(program: SequenceProgram, moments: Moments | None, rows: BindingTable) -> BindingTable:
    """Events before the first tumbling window are ignored (SPAseQ, Definition 16)."""
    if not program.automaton.tumbling:
        return rows
    return rows.take(np.flatnonzero(_clock(moments, rows.end) >= program.automaton.origin))


@dataclass(slots=True)
class _Runner:
    """Drives the compiled step function; grows memory, answers predicates and drains matches when it stops."""

    program: SequenceProgram
    state: SequenceState
    negated: Table
    context: Context
    max_runs: int
    rows: Table = field(default_factory=lambda: np.empty((0, 0), np.int64))

    def take(self, rows: Table) -> Iterator[Matches]:
        image, negated, terms = self.program.image, self.negated, self.state.terms
        self.rows = rows
        self.state.memory = memory_for_rows(self.state.memory, len(rows))
        self.state.memory[ROW_START] = start_place(self.program.automaton, rows)
        step = machine.step if self.program.automaton.fits < 0 else machine.step_in_closures
        yield from self._until_done(
            lambda memory: step(image, memory, rows, negated, terms.tags, terms.bits, self.max_runs)
        )

    def resolve(self, watermark: int) -> Iterator[Matches]:
        latest = self.state.latest
        if self.program.automaton.state_accepts.any() and latest is not None:
            image = self.program.image
            yield from self._until_done(lambda memory: machine.end_closures(image, memory, watermark, latest))
        if not self.state.memory[PENDING]:
            return
        terms = self.state.terms
        yield from self._until_done(
            lambda memory: machine.resolve(self.program.image, memory, self.negated, terms.tags, terms.bits, watermark)
        )

    def _until_done(self, call: Callable[[Memory], int]) -> Iterator[Matches]:
        self.state.memory[ROW] = 0
        while (code := call(self.state.memory)) != machine.DONE:
            yield from self._help(code)
        if self.program.automaton.merges:
            add_weights(self.program, self.program.components, self.state, self.state.totals)
        yield from self._drained()

    def _help(self, code: int) -> Iterator[Matches]:
        """Do what the machine stopped for; if it is TIRED, it only needs another call."""
        if code == machine.ROOM:
            self.state.memory = grown_memory(self.state.memory)
        elif code == machine.FULL:
            if self.program.automaton.merges or self.state.memory[MATCH_CAPACITY] < MOST_MATCHES:
                self.state.memory = grown_memory(self.state.memory)
            else:
                yield from self._drained()
        elif code == machine.ASKING:
            self._answer()
        elif code == machine.TOO_MANY:
            raise LimitError(
                f"There are more than {self.max_runs:,} partial matches at once. "
                "Try a shorter WITHIN, `;` in place of `:`, or a larger max_runs."
            )

    def _answer(self) -> None:
        """The reference evaluator's answer for the predicate that the machine could not decide."""
        memory = self.state.memory
        conjunct = self.program.components.conjunct(int(memory[PREDICATE]))
        if conjunct is None or self.program.automaton.merges:  # merged runs have no single history
            truth = self._asked_of_frame()
        else:
            truth = evaluate_on_history(self.program, conjunct, self.state, self.rows, self.context)
        if memory[ANSWERS] == memory[ANSWER_CAPACITY]:
            self.state.memory = memory = grown_memory(memory)
        region(memory, AT_ANSWERS)[memory[ANSWERS]] = truth
        memory[ANSWERS] += 1
        self.state.questions += 1

    def _asked_of_frame(self) -> int:
        """The truth of a predicate in the frame in which it was asked."""
        memory, terms = self.state.memory, self.state.terms
        frame = region(memory, AT_FRAMES)[memory[FRAME]].reshape(-1, 2).tolist()
        solution: Solution = {}
        for variable, (tag, bits) in zip(self.program.slots, frame, strict=False):
            term = term_of(tag, bits, terms)
            if term is not None:
                solution[variable] = term
        condition = self.program.predicates[int(memory[PREDICATE])]
        try:
            return TRUE if effective_boolean_value(evaluate(condition, solution, self.context)) else FALSE
        except ExpressionError:
            return ERROR

    def _drained(self) -> Iterator[Matches]:
        memory = self.state.memory
        count = int(memory[MATCHES])
        if not count:
            return
        memory[MATCHES] = 0
        nodes = region(memory, AT_NODES)
        shown, (certain, last_node), tags, is_sorted = take_matches(region(memory, AT_MATCHES)[:count])
        yield Matches(
            certain=certain,
            start=shown[0],
            end=_clock(self.state.moments, shown[1]),
            tags=tags,
            bits=shown[2:].T,
            history=History(lambda: match_events(nodes, last_node)),
            is_sorted=is_sorted and self.state.moments is None,  # several moments may be of one time
        )


def forget(program: SequenceProgram, state: SequenceState) -> None:
    """Drop what no event from the last step's watermark on can need."""
    watermark = state.now
    if watermark is None:
        return
    prune_dictionary(program, state)  # before the runs are put into buckets, which go by their terms
    moments = state.moments
    moment = watermark if moments is None else moments.next
    state.memory = evict_runs(program.image, state.memory, watermark, moment)
    if program.automaton.merges:
        prune_weights(program, state, state.totals)
    runs = region(state.memory, AT_RUNS)
    runs = runs[runs[:, STATE] >= 0]
    lasts = runs[:, LAST]
    for contiguity in state.contiguities:
        contiguity.forget(moment, lasts)
    # negations that are judged on finished matches look at every event since a run began
    by_time = bool(program.components.negations)
    oldest, bound = (_firsts(program, runs), watermark) if by_time else (lasts, moment)
    least = int(oldest.min(initial=bound))
    least -= by_time and moments is not None  # of one time, later moments may count
    for number, rows in state.negated.items():
        ends = _clock(moments, rows.end) if by_time else rows.end
        state.negated[number] = rows.take(np.flatnonzero(ends > min(least, bound - 1)))
    if moments is not None:
        moments.keep(_named_moments(program, state, runs))
    state.untidy = 0


def _named_moments(program: SequenceProgram, state: SequenceState, runs: Table) -> Iterator[Ints]:
    """The moments whose times may be asked for."""
    yield runs[:, LAST]
    if program.automaton.merges:
        yield runs[:, -ABSORBED_WORDS + ABSORBED_TIME]
    if program.components.negations:
        yield region(state.memory, AT_NODES)[: state.memory[NODES], ITERATED + 2 * len(program.components.names) + 1]
    for rows in state.negated.values():
        yield rows.end


def _firsts(program: SequenceProgram, runs: Table) -> NDArray[np.int64]:
    """Lower bounds of when the first events of some runs of SASE+ ended: by their windows, or else by their starts."""
    window = program.automaton.window
    return runs[:, RUN_START] if window < 0 else runs[:, DEADLINE] - window


# Timed-out partial matches: runs whose window ended before they were complete.


@dataclass(frozen=True, slots=True, eq=False)
class TimedOutRuns:
    """Partial matches, each certain once its window had ended, and the state in which each of them waited."""

    matches: Matches
    states: NDArray[np.int64]


def timed_out(program: SequenceProgram, state: SequenceState, watermark: int) -> TimedOutRuns:
    """The runs whose window ended before the watermark, since the last call. Excludes a run that waits for a further
    iteration of a closure, which misses nothing, and a run under `,`, which the very next event continues or breaks."""
    memory = state.memory
    found = take_expired(memory, watermark)
    states = region(memory, AT_RUNS)[found, STATE]
    patient = program.automaton.selection[states] != STRICT
    found = found[patient & ~np.isin(states, program.automaton.edge_loop)]
    runs, nodes = region(memory, AT_RUNS)[found], region(memory, AT_NODES)
    slots = runs[:, SLOTS : SLOTS + 2 * program.automaton.slots]
    matches = Matches(
        certain=runs[:, DEADLINE],
        start=runs[:, RUN_START],
        end=_clock(state.moments, runs[:, LAST]),
        tags=slots[:, 0::2],
        bits=slots[:, 1::2],
        history=History(lambda: match_events(nodes, runs[:, NODE])),
    )
    return TimedOutRuns(matches, runs[:, STATE])


def waited_for(program: SequenceProgram, state: int) -> str:
    """The operands that a run in a state waits for: `B`, or `B & C`, or alternatives."""
    automaton = program.automaton
    edges = np.flatnonzero(automaton.edge_state == state).tolist()
    edges.sort(key=lambda edge: int(automaton.place[automaton.place_from[edge]]))  # as the pattern has them
    inputs = dict.fromkeys(int(automaton.edge_input[edge]) for edge in edges)
    names = (" & ".join(program.sources[s].gpm for s in program.inputs[number].sources) for number in inputs)
    return " | ".join(names)
