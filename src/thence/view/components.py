"""`explain` of SASE+: components, the automaton's states and edges, and where each condition acts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest

from thence.algebra.components import Component, ComponentQuery, Strategy, is_whole
from thence.algebra.expressions import Expression
from thence.algebra.sequences import Window
from thence.algebra.show_components import component_text, condition_text, name_text
from thence.algebra.show_sequences import window_text
from thence.plan.phases import acts_at, own_references
from thence.program.automaton import ANY, AT_STOP, CUT_OFF, NEXT, NOWHERE, PLAIN, PROCEED, START, TAKE, Automaton
from thence.program.opcodes import ASK
from thence.program.sequence import Attributes, Components, SequenceProgram
from thence.view.description import FilterTold

_WAITS = {
    Strategy.STRICT: "strict contiguity",
    Strategy.PARTITION: "partition contiguity",
    Strategy.NEXT: "skip-till-next",
    Strategy.ANY: "skip-till-any",
}
AFTERWARDS = "on finished matches"
_ROLES = {PLAIN: "begin", TAKE: "take", PROCEED: "proceed and begin", CUT_OFF: "stop, proceed and begin"}


@dataclass(frozen=True, slots=True)
class ComponentTold:
    """A component as it was written, how a run waits for its events (None: it must be absent), and the conditions that
    act there. `absence` is what must not be, and where, of one that is negated."""

    text: str
    variable: str
    negated: bool
    absence: str | None
    selection: str | None
    stops_first: bool
    conditions: tuple[FilterTold, ...]


@dataclass(frozen=True, slots=True)
class StateTold:
    """Where runs wait, by which selection; `inside` is the closure that goes on there. `match`: when a run that waits
    there is one, without another event."""

    number: int
    inside: str | None
    selection: str
    match: str | None


@dataclass(frozen=True, slots=True)
class EdgeTold:
    """How a run goes on with an event of the component `over`. No `source`: it begins one. `again` is where a closure
    goes on; `match`: it completes one. `conditions` are those that must hold."""

    source: int | None
    role: str
    over: str
    target: int | None
    again: int | None
    match: bool
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComponentsTold:
    """What there is to say: the same facts that text, JSON and diagrams show."""

    window: str | None
    equal: tuple[str, ...]
    partition: tuple[str, ...]
    having: FilterTold | None
    components: tuple[ComponentTold, ...]
    states: tuple[StateTold, ...]
    edges: tuple[EdgeTold, ...]
    key: tuple[str, ...]

    @property
    def alike(self) -> tuple[str, ...]:
        """What all events of a match have the same."""
        return tuple(dict.fromkeys((*self.equal, *self.partition)))


def describe_components(program: SequenceProgram, query: ComponentQuery) -> ComponentsTold:
    """The facts about a block."""
    components = program.components
    assert components is not None
    edges = tuple(_edges(program, components))
    return ComponentsTold(
        window=None if query.window is None else window_text(Window(query.window)),
        equal=tuple(map(name_text, query.equal)),
        partition=tuple(map(name_text, query.partition)),
        having=None if query.having is None else FilterTold(condition_text(query.having), AFTERWARDS),
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
        absence=_absence(query, component) if component.negated else None,
        selection=None if component.negated and not component.closure else _WAITS[component.strategy],
        stops_first=component.cut,
        conditions=tuple(
            FilterTold(condition_text(condition), _tested(program, query, components, component, condition))
            for condition in query.conditions
            if acts_at(query, condition) == component
        ),
    )


def _absence(query: ComponentQuery, negated: Component) -> str:
    """What must not be, and where. Negations beside each other are about the same gap."""
    place = query.components.index(negated)
    before = [each for each in query.components[:place] if not each.negated][-1]
    after = next((each for each in query.components[place:] if not each.negated), None)
    what = component_text(replace(negated, negated=False))
    if after is None:
        return f"no {what} after {_variable(before)}, up to the window's end"
    return f"no {what} between {_variable(before)} and {_variable(after)}"


def _variable(component: Component) -> str:
    return f"{component.variable}[]" if component.closure else component.variable


def _tested(
    program: SequenceProgram, query: ComponentQuery, components: Components, component: Component, condition: Expression
) -> str:
    if component.negated:
        return AFTERWARDS
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
    selection = others.get(int(automaton.selection[number]), contiguous)
    return StateTold(number + 1, inside, selection, _ends(automaton, number, stops=selection == contiguous))


def _ends(automaton: Automaton, number: int, *, stops: bool) -> str | None:
    """When a run in a closure at the end, without an end condition, is a match. Where all may be ignored, nothing but
    the window stops it."""
    accepts = int(automaton.state_accepts[number])
    if accepts == AT_STOP and stops:
        return "when it stops" if automaton.window < 0 else "when it stops, at the latest at the window's end"
    return "at the window's end" if accepts else None


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
            conditions=tuple(_conditions(program, components, edge)),
        )


def _conditions(program: SequenceProgram, components: Components, edge: int) -> Iterator[str]:
    """What must hold for an edge: of the event alone, of it and the run, and of the closure with it."""
    automaton, pattern = program.automaton, program.tables[0].pattern
    assert isinstance(pattern, Attributes)
    fit = int(automaton.edge_fits[edge])
    numbers = [*(pattern.fits[fit].predicates if fit >= 0 else ())]
    for starts, tests in (
        (automaton.test_from, automaton.test_predicate),
        (automaton.prune_from, automaton.prune_predicate),
    ):
        numbers += tests[starts[edge] : starts[edge + 1]].tolist()
    asked = [components.conjuncts[number] for number in numbers]
    yield from dict.fromkeys(condition_text(each.condition) for each in asked if each is not None)


# As text, as JSON, and as a diagram


def components_text(told: ComponentsTold) -> str:
    return "\n".join(_text(told))


def components_json(told: ComponentsTold, query: ComponentQuery) -> str:
    streams = [{"name": stream.name, "iri": stream.iri.value} for stream in query.sources]
    return json.dumps({"streams": streams, **asdict(told)}, ensure_ascii=False, indent=2)


def _text(told: ComponentsTold) -> Iterator[str]:
    yield "Components"
    for component in told.components:
        yield f"  {component.text}: {_chosen(component)}"
        yield from (f"    {condition.text}: {condition.tested}" for condition in component.conditions)
    yield from (f"  {test}" for test in _equivalences(told))
    yield from ("", "Automaton")
    names = {state.number: _name(state) for state in told.states}
    match = _match(told)
    for edge in told.edges:
        goes = [names[number] for number in (edge.target, edge.again) if number is not None] + [match] * edge.match
        source = "start" if edge.source is None else names[edge.source]
        yield f"  {source} --{edge.role} {edge.over}--> {', '.join(goes)}"
    yield from (f"  {_name(state)} --{state.match}--> {match}" for state in told.states if state.match is not None)
    yield ""
    yield from _clauses(told)


def notes_of(told: ComponentsTold) -> tuple[str, ...]:
    """What stands above a drawing, whose boxes have the conditions."""
    return (*_equivalences(told), *_clauses(told))


def _equivalences(told: ComponentsTold) -> Iterator[str]:
    if told.equal:
        yield f"[{', '.join(told.equal)}]: the same in all events of a match"
    if told.partition:
        yield f"PARTITION BY {', '.join(told.partition)}: the same in all events of a match"


def _clauses(told: ComponentsTold) -> Iterator[str]:
    yield f"Window: {told.window or _unbounded(told)}"
    if told.having is not None:
        yield f"Having: {told.having.text}: {told.having.tested}"
    yield f"Key: {', '.join(told.key) or 'none: all events are in one shard'}"


def _unbounded(told: ComponentsTold) -> str:
    """What there is in place of a window. That a run waits by contiguity ends it, too."""
    if not told.states:
        return "none is needed, no run waits"
    first, *later = (component for component in told.components if not component.negated)
    goes_on = any(state.inside == first.variable for state in told.states)  # else nothing waits by its strategy
    waits = {component.selection for component in ([first] * goes_on + later)}
    if not waits <= {_WAITS[Strategy.STRICT], _WAITS[Strategy.PARTITION]}:
        return "none: what a run holds, it holds for ever"
    where = " of its partition" if _WAITS[Strategy.PARTITION] in waits else ""
    return f"none: a run ends at the next event{where} that it can't take"


def _chosen(component: ComponentTold) -> str:
    if component.negated:
        return "must be absent; judged on finished matches"
    return f"{component.selection}{', stops where it first can (!)' * component.stops_first}"


def _match(told: ComponentsTold) -> str:
    """What a run becomes in the end; an absence at the end is known once the window is over."""
    last = _gaps(told)[-1]
    return f"match, unless {' or '.join(last.absent)} came by the window's end" if last.absent else "match"


@dataclass(frozen=True, slots=True)
class _Gap:
    """What must be absent, by its variables, after one component that a match has, and before the next."""

    before: str
    absent: list[str]
    after: str | None


def _gaps(told: ComponentsTold) -> list[_Gap]:
    places = [number for number, component in enumerate(told.components) if not component.negated]
    names = [component.variable for component in told.components]
    return [
        _Gap(names[place], names[place + 1 : following], None if following is None else names[following])
        for place, following in zip_longest(places, places[1:])
    ]


def _name(state: StateTold) -> str:
    return f"state {state.number} ({_waits(state)})"


def _waits(state: StateTold) -> str:
    inside = "" if state.inside is None else f"in {state.inside}[], "
    return f"{inside}{state.selection}"


def components_diagram(told: ComponentsTold, *, prefix: str = "s") -> Iterator[str]:
    """The lines of a Mermaid state diagram. The names of states begin with the prefix, so that those of several queries
    are told apart. Types and conditions are left out: Mermaid's labels can't hold all that they may."""
    absent = "".join(_absent(told))
    for state in told.states:
        yield f'    state "{_waits(state)}" as {prefix}{state.number}'
    for edge in told.edges:
        source = "[*]" if edge.source is None else f"{prefix}{edge.source}"
        goes = [f"{prefix}{number}" for number in (edge.target, edge.again) if number is not None]
        yield from (f"    {source} --> {target}: {edge.role} {edge.over}" for target in goes)
        if edge.match:
            yield f"    {source} --> [*]: {edge.role} {edge.over}{absent}"
    for state in told.states:
        if state.match is not None:
            yield f"    {prefix}{state.number} --> [*]: {state.match}{absent}"


def _absent(told: ComponentsTold) -> Iterator[str]:
    for gap in _gaps(told):
        if gap.absent:
            where = f"after {gap.before}" if gap.after is None else f"between {gap.before} and {gap.after}"
            yield f", no {' or '.join(gap.absent)} {where}"
