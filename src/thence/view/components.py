"""`explain` of SASE+: components, the automaton's states and edges, and where each condition acts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from thence.algebra.components import Component, ComponentQuery, Strategy, is_whole
from thence.algebra.expressions import Expression
from thence.algebra.sequences import Window
from thence.algebra.show_components import component_text, condition_text
from thence.algebra.show_sequences import window_text
from thence.errors import InputError
from thence.plan.phases import acts_at, own_references
from thence.program.automaton import ANY, CUT_OFF, NEXT, NOWHERE, PLAIN, PROCEED, START, TAKE
from thence.program.opcodes import ASK
from thence.program.sequence import Attributes, Components, SequenceProgram
from thence.view.description import FilterTold

_WAITS = {
    Strategy.STRICT: "strict contiguity",
    Strategy.PARTITION: "partition contiguity",
    Strategy.NEXT: "skip-till-next",
    Strategy.ANY: "skip-till-any",
}
_ROLES = {PLAIN: "begin", TAKE: "take", PROCEED: "proceed and begin", CUT_OFF: "stop, proceed and begin"}


@dataclass(frozen=True, slots=True)
class ComponentTold:
    """A component as it was written, how a run waits for its events (None: it must be absent), and the conditions that
    act there."""

    text: str
    variable: str
    negated: bool
    selection: str | None
    stops_first: bool
    conditions: tuple[FilterTold, ...]


@dataclass(frozen=True, slots=True)
class StateTold:
    """Where runs wait, by which selection; `inside` is the closure that goes on there."""

    number: int
    inside: str | None
    selection: str


@dataclass(frozen=True, slots=True)
class EdgeTold:
    """How a run goes on with an event of the component `over`. No `source`: it begins one. `again` is where a closure
    goes on; `match`: it completes one."""

    source: int | None
    role: str
    over: str
    target: int | None
    again: int | None
    match: bool


@dataclass(frozen=True, slots=True)
class ComponentsTold:
    """What there is to say: the same facts that text, JSON and diagrams show."""

    window: str | None
    equal: tuple[str, ...]
    partition: tuple[str, ...]
    components: tuple[ComponentTold, ...]
    states: tuple[StateTold, ...]
    edges: tuple[EdgeTold, ...]
    key: tuple[str, ...]


def explain_components(program: SequenceProgram, query: ComponentQuery, format: str) -> str:
    """How a block is run, as text or as JSON; as a diagram it is drawn by Mermaid."""
    assert program.components is not None
    told = _told(program, query, program.components)
    match format:
        case "text":
            return "\n".join(_text(told))
        case "mermaid":
            return "\n".join(_diagram(told))
        case "json":
            streams = [{"name": stream.name, "iri": stream.iri.value} for stream in query.sources]
            return json.dumps({"streams": streams, **asdict(told)}, ensure_ascii=False, indent=2)
        case _:
            raise InputError(f'SASE+ has no explanation in the format "{format}". Try: text, mermaid, json')


# The facts


def _told(program: SequenceProgram, query: ComponentQuery, components: Components) -> ComponentsTold:
    edges = tuple(_edges(program, components))
    return ComponentsTold(
        window=None if query.window is None else window_text(Window(query.window)),
        equal=tuple(map(str, query.equal)),
        partition=tuple(map(str, query.partition)),
        components=tuple(_component(program, query, components, component) for component in query.components),
        states=tuple(_state(program, number, edges) for number in range(len(program.automaton.selection))),
        edges=edges,
        key=tuple(variable.name[1:] for variable in program.key),
    )


def _component(
    program: SequenceProgram, query: ComponentQuery, components: Components, component: Component
) -> ComponentTold:
    return ComponentTold(
        text=component_text(component),
        variable=component.variable,
        negated=component.negated,
        selection=None if component.negated and not component.closure else _WAITS[component.strategy],
        stops_first=component.cut,
        conditions=tuple(
            FilterTold(condition_text(condition), _tested(program, query, components, component, condition))
            for condition in query.conditions
            if acts_at(query, condition) == component
        ),
    )


def _tested(
    program: SequenceProgram, query: ComponentQuery, components: Components, component: Component, condition: Expression
) -> str:
    if component.negated:
        return "on finished matches"
    numbers = [n for n, each in enumerate(components.conjuncts) if each is not None and each.condition == condition]
    pattern = program.tables[0].pattern
    assert isinstance(pattern, Attributes)
    if numbers and all(any(n in fit.predicates for fit in pattern.fits) for n in numbers):
        return "of the event alone, before any run is looked at"
    codes = program.automaton
    asked = any(codes.operation[codes.code_from[number]] == ASK for number in numbers)
    ends = component.closure and any(map(is_whole, own_references(query, condition, component)))
    when = "end condition, after each event taken" if ends else "with the run"
    return f"{when}, of its history" if asked else f"{when}, in the machine"


def _state(program: SequenceProgram, number: int, edges: tuple[EdgeTold, ...]) -> StateTold:
    automaton = program.automaton
    by = program.contiguous[automaton.state_previous[number]]
    contiguous = _WAITS[Strategy.PARTITION if by else Strategy.STRICT]
    others = {NEXT: _WAITS[Strategy.NEXT], ANY: _WAITS[Strategy.ANY]}
    inside = next((edge.over for edge in edges if edge.again == number + 1), None)
    return StateTold(number + 1, inside, others.get(int(automaton.selection[number]), contiguous))


def _edges(program: SequenceProgram, components: Components) -> Iterator[EdgeTold]:
    """Those of the first stream: all have the same."""
    automaton = program.automaton
    for edge in range(int(automaton.feed_from[0]), int(automaton.feed_from[1])):
        source, target, again = (
            int(column[edge]) for column in (automaton.edge_state, automaton.edge_target, automaton.edge_loop)
        )
        yield EdgeTold(
            source=None if source == START else source + 1,
            role=_ROLES[int(automaton.edge_role[edge])],
            over=components.positive[int(automaton.place[automaton.place_from[edge]])].variable,
            target=None if target == NOWHERE else target + 1,
            again=None if again == NOWHERE else again + 1,
            match=bool(automaton.edge_accept[edge]),
        )


# As text, and as a diagram


def _text(told: ComponentsTold) -> Iterator[str]:
    yield "Components"
    for component in told.components:
        yield f"  {component.text}: {_chosen(component)}"
        yield from (f"    {condition.text}: {condition.tested}" for condition in component.conditions)
    yield from ("", "Automaton")
    names = {state.number: _name(state) for state in told.states}
    for edge in told.edges:
        goes = [names[number] for number in (edge.target, edge.again) if number is not None] + ["match"] * edge.match
        source = "start" if edge.source is None else names[edge.source]
        yield f"  {source} --{edge.role} {edge.over}--> {', '.join(goes)}"
    yield ""
    yield f"Window: {told.window or 'none: what a run holds, it holds for ever'}"
    yield f"Key: {', '.join(told.key) or 'none: all events are in one shard'}"


def _chosen(component: ComponentTold) -> str:
    if component.negated:
        return "must be absent; judged on finished matches"
    return f"{component.selection}{', stops where it first can (!)' * component.stops_first}"


def _name(state: StateTold) -> str:
    inside = "" if state.inside is None else f"in {state.inside}[], "
    return f"state {state.number} ({inside}{state.selection})"


def _diagram(told: ComponentsTold) -> Iterator[str]:
    yield "stateDiagram-v2"
    for edge in told.edges:
        source = "[*]" if edge.source is None else f"s{edge.source}"
        goes = [f"s{number}" for number in (edge.target, edge.again) if number is not None] + ["[*]"] * edge.match
        yield from (f"    {source} --> {target}: {edge.role} {edge.over}" for target in goes)
