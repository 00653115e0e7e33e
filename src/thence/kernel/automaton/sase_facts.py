"""The facts that `explain` shows of a SASE+ block: components, states and edges, and where each condition acts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from thence.algebra.expressions import Expression
from thence.algebra.sase import Component, ComponentQuery, Strategy, is_whole
from thence.algebra.sase_conditions import acts_at, own_references
from thence.algebra.show_sase import component_text, condition_text, key_text, name_text
from thence.algebra.show_spaseq import window_text
from thence.algebra.streams import Window
from thence.program.automaton.nfa import ANY, AT_STOP, CUT_OFF, NEXT, NOWHERE, PLAIN, PROCEED, START, TAKE, Automaton
from thence.program.automaton.opcodes import ASK
from thence.program.automaton.program import SequenceProgram
from thence.program.description import FilterDescription
from thence.program.tables import Attributes

SELECTIONS = {
    Strategy.STRICT: "strict contiguity",
    Strategy.PARTITION: "partition contiguity",
    Strategy.NEXT: "skip-till-next",
    Strategy.ANY: "skip-till-any",
}
_ON_COMPLETE_MATCHES = "on complete matches"
_ROLES = {PLAIN: "begin", TAKE: "take", PROCEED: "proceed and begin", CUT_OFF: "stop, proceed and begin"}


@dataclass(frozen=True, slots=True)
class ComponentDescription:
    """A component as it was written, how a run selects its events (None: it must be absent), and the conditions that
    act there. `absence`, of a negated one, is what must not occur, and where."""

    text: str
    variable: str
    negated: bool
    absence: str | None
    selection: str | None
    stops_first: bool
    conditions: tuple[FilterDescription, ...]


@dataclass(frozen=True, slots=True)
class ComponentStateDescription:
    """Where runs wait, by which selection; `inside` is the closure that continues there. `match`: when a run that waits
    there is one, without another event."""

    number: int
    inside: str | None
    selection: str
    match: str | None


@dataclass(frozen=True, slots=True)
class ComponentEdgeDescription:
    """How a run continues with an event of the component `over`. Without `source` it begins one. `again` is where a
    closure continues; `match`: it completes one. `conditions` are those that must hold."""

    source: int | None
    role: str
    over: str
    target: int | None
    again: int | None
    match: bool
    conditions: tuple[str, ...]

    @property
    def targets(self) -> tuple[int, ...]:
        return tuple(number for number in (self.target, self.again) if number is not None)


@dataclass(frozen=True, slots=True)
class ComponentFacts:
    """All of them, as JSON has them."""

    window: str | None
    equal: tuple[str, ...]
    partition: tuple[str, ...]
    having: FilterDescription | None
    components: tuple[ComponentDescription, ...]
    states: tuple[ComponentStateDescription, ...]
    edges: tuple[ComponentEdgeDescription, ...]
    key: tuple[str, ...]

    @property
    def tested(self) -> tuple[str, ...]:
        """The attributes that are equal in all events of a match."""
        return tuple(dict.fromkeys((*self.equal, *self.partition)))


def component_facts(program: SequenceProgram, query: ComponentQuery) -> ComponentFacts:
    edges = tuple(_edges(program))
    return ComponentFacts(
        window=None if query.window is None else window_text(Window(query.window)),
        equal=tuple(map(name_text, query.equal)),
        partition=tuple(map(key_text, query.partition)),
        having=None if query.having is None else FilterDescription(condition_text(query.having), _ON_COMPLETE_MATCHES),
        components=tuple(_component(program, query, component) for component in query.components),
        states=tuple(_state(program, number, edges) for number in range(len(program.automaton.selection))),
        edges=edges,
        key=program.shard_key.names,
    )


def _component(program: SequenceProgram, query: ComponentQuery, component: Component) -> ComponentDescription:
    return ComponentDescription(
        text=component_text(component),
        variable=component.variable,
        negated=component.negated,
        absence=_absence(query, component) if component.negated else None,
        selection=None if component.negated and not component.closure else SELECTIONS[component.strategy],
        stops_first=component.cut,
        conditions=tuple(
            FilterDescription(condition_text(condition), _tested(program, query, component, condition))
            for condition in query.conditions
            if acts_at(query, condition) == component
        ),
    )


def _absence(query: ComponentQuery, negated: Component) -> str:
    """What must not occur, and where. Negations beside each other are about the same gap."""
    place = query.components.index(negated)
    before = [each for each in query.components[:place] if not each.negated][-1]
    after = next((each for each in query.components[place:] if not each.negated), None)
    what = component_text(replace(negated, negated=False))
    if after is None:
        return f"no {what} after {_variable(before)}, up to the window's end"
    return f"no {what} between {_variable(before)} and {_variable(after)}"


def _variable(component: Component) -> str:
    return f"{component.variable}[]" if component.closure else component.variable


def _tested(program: SequenceProgram, query: ComponentQuery, component: Component, condition: Expression) -> str:
    if component.negated:
        return _ON_COMPLETE_MATCHES
    conjuncts = enumerate(program.components.conjuncts)
    numbers = [number for number, each in conjuncts if each is not None and each.condition == condition]
    fits = _attributes(program).fits
    if numbers and all(any(number in fit.predicates for fit in fits) for number in numbers):
        return "on the event alone, before any run is tried"
    codes = program.automaton
    asked = any(codes.operation[codes.code_from[number]] == ASK for number in numbers)
    ends = component.closure and any(map(is_whole, own_references(query, condition, component)))
    when = "end condition, after each event taken" if ends else "with the run"
    return f"{when}, on its history" if asked else f"{when}, in the machine"


def _attributes(program: SequenceProgram) -> Attributes:
    """What is extracted of the first stream: of all the same."""
    pattern = program.tables[0].pattern
    assert isinstance(pattern, Attributes)
    return pattern


def _state(
    program: SequenceProgram, number: int, edges: tuple[ComponentEdgeDescription, ...]
) -> ComponentStateDescription:
    automaton = program.automaton
    by = program.contiguous[automaton.state_previous[number]]
    contiguous = SELECTIONS[Strategy.PARTITION if by else Strategy.STRICT]
    others = {NEXT: SELECTIONS[Strategy.NEXT], ANY: SELECTIONS[Strategy.ANY]}
    inside = next((edge.over for edge in edges if edge.again == number + 1), None)
    selection = others.get(int(automaton.selection[number]), contiguous)
    match = _match(automaton, number, stops=selection == contiguous)
    return ComponentStateDescription(number + 1, inside, selection, match)


def _match(automaton: Automaton, number: int, *, stops: bool) -> str | None:
    """When a run in a closure at the end, without an end condition, is a match. Where it may ignore all events, only
    the window stops it."""
    accepts = int(automaton.state_accepts[number])
    if accepts == AT_STOP and stops:
        latest = "the end of the input" if automaton.window < 0 else "the window's end"
        return f"when it stops, at the latest at {latest}"
    return "at the window's end" if accepts else None


def _edges(program: SequenceProgram) -> Iterator[ComponentEdgeDescription]:
    """Those of the first stream: all have the same."""
    automaton = program.automaton
    for edge in range(int(automaton.feed_from[0]), int(automaton.feed_from[1])):
        source, target, again = (
            int(column[edge]) for column in (automaton.edge_state, automaton.edge_target, automaton.edge_loop)
        )
        yield ComponentEdgeDescription(
            source=None if source == START else source + 1,
            role=_ROLES[int(automaton.edge_role[edge])],
            over=program.components.positive[int(automaton.place[automaton.place_from[edge]])].variable,
            target=None if target == NOWHERE else target + 1,
            again=None if again == NOWHERE else again + 1,
            match=bool(automaton.edge_accept[edge]),
            conditions=tuple(_conditions(program, edge)),
        )


def _conditions(program: SequenceProgram, edge: int) -> Iterator[str]:
    """What must hold for an edge: of the event alone, of it and the run, and of the closure with it."""
    automaton = program.automaton
    fit = int(automaton.edge_fits[edge])
    numbers = [*(_attributes(program).fits[fit].predicates if fit >= 0 else ())]
    for starts, tests in (
        (automaton.test_from, automaton.test_predicate),
        (automaton.prune_from, automaton.prune_predicate),
    ):
        numbers += tests[starts[edge] : starts[edge + 1]].tolist()
    asked = [program.components.conjunct(number) for number in numbers]
    yield from dict.fromkeys(condition_text(each.condition) for each in asked if each is not None)
