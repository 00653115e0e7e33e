"""`explain` of SASE+: components, the automaton's states and edges, and where each condition acts."""

from __future__ import annotations

import json
from collections.abc import Iterator

from thence.algebra.components import Component, ComponentQuery, Strategy, is_whole
from thence.algebra.show import show
from thence.errors import InputError
from thence.plan.phases import acts_at, own_references
from thence.program.automaton import ANY, CUT_OFF, NEXT, PLAIN, PROCEED, START, STRICT, TAKE
from thence.program.opcodes import ASK
from thence.program.sequence import Components, SequenceProgram
from thence.rdf.times import Domain

_WAITS = {
    Strategy.STRICT: "strict contiguity",
    Strategy.PARTITION: "partition contiguity",
    Strategy.NEXT: "skip-till-next",
    Strategy.ANY: "skip-till-any",
}
_SELECTIONS = {STRICT: "contiguity", NEXT: "skip-till-next", ANY: "skip-till-any"}
_ROLES = {PLAIN: "begin", TAKE: "take", PROCEED: "proceed and begin", CUT_OFF: "stop, proceed and begin"}


def explain_components(program: SequenceProgram, query: ComponentQuery, format: str) -> str:
    """How a block is run, as text or as JSON; as a diagram it is drawn by Mermaid."""
    components = program.components
    assert components is not None
    match format:
        case "text":
            return "\n".join(_text(program, query, components))
        case "mermaid":
            return "\n".join(_diagram(program, components))
        case "json":
            return json.dumps({"lines": list(_text(program, query, components))}, ensure_ascii=False, indent=2)
        case _:
            raise InputError(f'SASE+ has no explanation in the format "{format}". Try: text, mermaid, json')


def _text(program: SequenceProgram, query: ComponentQuery, components: Components) -> Iterator[str]:
    yield "Components"
    for component in query.components:
        yield f"  {_written(component)}: {_told(component)}"
        for condition in query.conditions:
            if acts_at(query, condition) == component:
                yield f"    {show(condition)}: {_where(program, query, components, component, condition)}"
    yield from ("", "Automaton")
    for _, source, role, place, target in _edges(program, components):
        yield f"  {source} --{role} {place}--> {target}"
    yield from ("", f"Window: {_window(query)}", f"Key: {_key(program)}")


def _written(component: Component) -> str:
    type_ = "ANY" if component.type is None else str(component.type)
    text = f"{type_}+ {component.variable}[]" if component.closure else f"{type_} {component.variable}"
    return f"~({text})" if component.negated and component.closure else f"~{text}" if component.negated else text


def _told(component: Component) -> str:
    if component.negated:
        return "must be absent; judged on finished matches"
    return _WAITS[component.strategy] + (", stops where it first can (!)" if component.cut else "")


def _where(
    program: SequenceProgram, query: ComponentQuery, components: Components, component: Component, condition: object
) -> str:
    if component.negated:
        return "on finished matches"
    numbers = [n for n, each in enumerate(components.conjuncts) if each is not None and each.condition == condition]
    attributes = program.tables[0].pattern
    fits = getattr(attributes, "fits", ())
    if numbers and all(any(n in fit.predicates for fit in fits) for n in numbers):
        return "of the event alone, before any run is looked at"
    codes = program.automaton
    asked = any(codes.operation[codes.code_from[number]] == ASK for number in numbers)
    ends = component.closure and any(map(is_whole, own_references(query, condition, component)))  # type: ignore[arg-type]
    told = "end condition, after each event taken" if ends else "with the run"
    return f"{told}, of its history" if asked else f"{told}, in the machine"


def _edges(program: SequenceProgram, components: Components) -> Iterator[tuple[int, str, str, str, str]]:
    automaton = program.automaton
    first, last = int(automaton.feed_from[0]), int(automaton.feed_from[1])
    names = {START: "start"}
    for edge in range(first, last):
        place = components.positive[int(automaton.place[automaton.place_from[edge]])].variable
        source = int(automaton.edge_state[edge])
        if source != START:
            waits = _SELECTIONS[int(automaton.selection[source])]
            names.setdefault(source, f"state {source} ({waits})")
        if automaton.edge_loop[edge] >= 0:
            waits = _SELECTIONS[int(automaton.selection[automaton.edge_loop[edge]])]
            names[int(automaton.edge_loop[edge])] = f"state {automaton.edge_loop[edge]} (in {place}[], {waits})"
    for edge in range(first, last):
        place = components.positive[int(automaton.place[automaton.place_from[edge]])].variable
        targets = [int(automaton.edge_target[edge]), int(automaton.edge_loop[edge])]
        told = [names.get(state, f"state {state}") for state in targets if state >= 0]
        told += ["match"] * bool(automaton.edge_accept[edge])
        role = _ROLES[int(automaton.edge_role[edge])]
        yield edge, names[int(automaton.edge_state[edge])], role, place, ", ".join(told)


def _diagram(program: SequenceProgram, components: Components) -> Iterator[str]:
    yield "stateDiagram-v2"
    for _, source, role, place, target in _edges(program, components):
        for each in target.split(", "):
            yield f"    {_name(source)} --> {_name(each)}: {role} {place}"


def _name(state: str) -> str:
    return "[*]" if state in ("start", "match") else "s" + state.split()[1]


def _window(query: ComponentQuery) -> str:
    if query.window is None:
        return "none: what a run holds, it holds for ever"
    unit = "ticks" if query.window.domain is Domain.TICKS else "microseconds"
    return f"{query.window.length} {unit}"


def _key(program: SequenceProgram) -> str:
    return ", ".join(variable.name[1:] for variable in program.key) or "none: all events are in one shard"
