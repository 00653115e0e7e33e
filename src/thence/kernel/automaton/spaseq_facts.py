"""The facts that `explain` shows of a SPAseQ query: GPMs, states, edges and negations, read off the program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.show import show
from thence.algebra.spaseq import SequenceQuery
from thence.algebra.spaseq_analysis import variables_of
from thence.algebra.traversal import conjuncts
from thence.match.evaluator_choice import reason_for_plain
from thence.program.automaton.nfa import ANY, NEXT, NOWHERE, START, STRICT
from thence.program.automaton.opcodes import ASK
from thence.program.automaton.program import SequenceProgram, Source
from thence.program.description import FilterDescription
from thence.program.tables import Attributes

IN_THE_MATCH = "in the graph match"
_AT_THE_END = "with complete matches"
_IN_ITS_PLACE = "with every event"
_BY_THE_MACHINE = "by the machine"
_BY_THE_PLAIN_EVALUATOR = "by the plain evaluator"

_SELECTIONS = {STRICT: "strict contiguity", NEXT: "skip-till-next", ANY: "skip-till-any"}
_SIGNS = {STRICT: ",", NEXT: ";", ANY: ":"}


@dataclass(frozen=True, slots=True)
class GraphDescription:
    """A GRAPH block of a GPM, and what it is joined with."""

    name: str
    joined: str


@dataclass(frozen=True, slots=True)
class GpmDescription:
    """A GPM and how its graph pattern is evaluated. `event_by_event` is why it is not vectorised, if it is not."""

    name: str
    stream: str
    variables: tuple[str, ...]
    graphs: tuple[GraphDescription, ...]
    filters: tuple[FilterDescription, ...]
    event_by_event: str | None


@dataclass(frozen=True, slots=True)
class StateDescription:
    """Where runs wait: for what, by which selection, and the variables whose values find them there."""

    number: int
    waits_for: tuple[str, ...]
    selection: str
    sign: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EdgeDescription:
    """How a run continues. Without `source` it begins one. `again` is where a closure waits for another iteration.
    `match`: it completes one; `then_no` must be absent until the window ends, `between_no` since the run's last event.
    `demands` are filters of later parts: a run that fails them is dropped here."""

    source: int | None
    over: str
    target: int | None
    again: int | None
    match: bool
    equal: tuple[str, ...]
    filters: tuple[FilterDescription, ...]
    demands: tuple[FilterDescription, ...]
    between_no: tuple[str, ...]
    then_no: tuple[str, ...]

    @property
    def targets(self) -> tuple[int, ...]:
        return tuple(number for number in (self.target, self.again) if number is not None)


@dataclass(frozen=True, slots=True)
class SequenceFacts:
    """All of them, as JSON has them. A negation is an edge without source and target. Events that differ in `key` never
    meet."""

    gpms: tuple[GpmDescription, ...]
    states: tuple[StateDescription, ...]
    edges: tuple[EdgeDescription, ...]
    negations: tuple[EdgeDescription, ...]
    key: tuple[str, ...]


def sequence_facts(program: SequenceProgram) -> SequenceFacts:
    edges = tuple(_edge(program, edge) for edge in _walked(program))
    states = tuple(_state(program, state, edges) for state in range(len(program.automaton.selection)))
    return SequenceFacts(
        gpms=tuple(_gpm(program, source) for source in program.sources),
        states=states,
        edges=edges,
        negations=tuple(dict.fromkeys(_edge(program, edge) for edge in _negations(program))),
        key=tuple(f"?{name}" for name in program.shard_key.names),
    )


def _walked(program: SequenceProgram) -> list[int]:
    """The edges that runs take, those that begin one first."""
    found = [edge for edge, state in enumerate(program.automaton.edge_state.tolist()) if state >= START]
    return sorted(found, key=lambda edge: int(program.automaton.edge_state[edge]))


def _negations(program: SequenceProgram) -> list[int]:
    return [edge for edge, state in enumerate(program.automaton.edge_state.tolist()) if state < START]


def _gpm(program: SequenceProgram, source: Source) -> GpmDescription:
    assert isinstance(program.query, SequenceQuery) and isinstance(program.rewritten, SequenceQuery)
    assert not isinstance(source.pattern, Attributes)
    gpm = program.query.gpm(source.gpm)
    left = program.rewritten.gpm(source.gpm).filters  # to the machine
    late = [late.block for late in program.late]
    tests = [part for test in gpm.filters for part in ([test] if test in left else conjuncts(test))]
    return GpmDescription(
        name=gpm.name,
        stream=gpm.stream,
        variables=tuple(str(variable) for variable in variables_of(gpm)),
        graphs=tuple(
            GraphDescription(str(block.name), _AT_THE_END if block in late else _IN_ITS_PLACE) for block in gpm.graphs
        ),
        filters=tuple(
            FilterDescription(show(test), _tester(program, test) if test in left else IN_THE_MATCH) for test in tests
        ),
        event_by_event=reason_for_plain(source.pattern),
    )


def _tester(program: SequenceProgram, test: Expression) -> str:
    if test not in program.predicates:  # its GPM is never used
        return _BY_THE_MACHINE
    start = program.automaton.code_from[program.predicates.index(test)]
    return _BY_THE_PLAIN_EVALUATOR if program.automaton.operation[start] == ASK else _BY_THE_MACHINE


def _state(program: SequenceProgram, state: int, edges: tuple[EdgeDescription, ...]) -> StateDescription:
    automaton = program.automaton
    selection = int(automaton.selection[state])
    slots = _items(automaton.state_key_from, automaton.state_key_slot, state)
    return StateDescription(
        number=state + 1,
        waits_for=tuple(dict.fromkeys(edge.over for edge in edges if edge.source == state + 1)),
        selection=_SELECTIONS[selection],
        sign=_SIGNS[selection],
        key=tuple(str(program.slots[slot]) for slot in slots),
    )


def _edge(program: SequenceProgram, edge: int) -> EdgeDescription:
    automaton = program.automaton
    state, target, again = (
        int(column[edge]) for column in (automaton.edge_state, automaton.edge_target, automaton.edge_loop)
    )
    return EdgeDescription(
        source=None if state <= START else state + 1,
        over=_input(program, int(automaton.edge_input[edge])),
        target=None if target == NOWHERE else target + 1,
        again=None if again == NOWHERE else again + 1,
        match=bool(automaton.edge_accept[edge]),
        equal=tuple(str(variable) for variable in _equal(program, edge)) if state != START else (),
        filters=_filters(program, _items(automaton.test_from, automaton.test_predicate, edge)),
        demands=_filters(program, _items(automaton.prune_from, automaton.prune_predicate, edge)),
        between_no=_guards(program, _items(automaton.guard_from, automaton.guard, edge)),
        then_no=_guards(program, _items(automaton.end_from, automaton.end, edge)),
    )


def _filters(program: SequenceProgram, numbers: list[int]) -> tuple[FilterDescription, ...]:
    tests = (program.predicates[number] for number in numbers)
    return tuple(FilterDescription(show(test), _tester(program, test)) for test in tests)


def _equal(program: SequenceProgram, edge: int) -> list[Variable]:
    """The variables of an edge that another part of the query may have bound before."""
    automaton = program.automaton
    number = int(automaton.edge_input[edge])
    others = {v for other, each in enumerate(program.inputs) if other != number for v in each.variables}
    again = int(automaton.edge_state[edge]) in automaton.edge_loop  # an iteration, after others of the same part
    slots = _items(automaton.equal_from, automaton.equal_slot, edge)
    return [program.slots[slot] for slot in slots if again or program.slots[slot] in others]


def _guards(program: SequenceProgram, guards: list[int]) -> tuple[str, ...]:
    automaton = program.automaton
    edges = [edge for guard in guards for edge in _items(automaton.guard_edge_from, automaton.guard_edge, guard)]
    return tuple(dict.fromkeys(_input(program, int(automaton.edge_input[edge])) for edge in edges))


def _input(program: SequenceProgram, number: int) -> str:
    return " & ".join(program.sources[source].gpm for source in program.inputs[number].sources)


def _items(starts: NDArray[np.int32], items: NDArray[np.int32], number: int) -> list[int]:
    return [int(item) for item in items[starts[number] : starts[number + 1]]]
