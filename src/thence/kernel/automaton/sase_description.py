"""A SASE+ block as `explain` shows it: the facts in words, in JSON, and as a diagram."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import zip_longest

from thence.algebra.sase import ComponentQuery, Strategy
from thence.kernel.automaton.sase_facts import (
    SELECTIONS,
    ComponentDescription,
    ComponentEdgeDescription,
    ComponentFacts,
    ComponentStateDescription,
    component_facts,
)
from thence.program.automaton.program import SequenceProgram
from thence.program.description import Arrow, Box, Description, single_shard_text, streams_data
from thence.program.operator import ShardKey


def component_description(program: SequenceProgram, query: ComponentQuery) -> Description:
    facts = component_facts(program, query)
    clauses = tuple(_clauses(facts, program.shard_key))
    return Description(
        text=(*_text(facts), "", *clauses),
        data={"streams": streams_data(program.streams), **asdict(facts)},
        boxes=tuple(Box(state.number, _waits(state), tuple(_state_lines(facts, state))) for state in facts.states),
        arrows=tuple(_arrows(facts)),
        notes=(*_equivalences(facts), *clauses),
        absent=tuple(tuple(_absent_lines(facts, component)) for component in facts.components if component.negated),
        start="a run begins",
        end="match",
    )


# As text


def _text(facts: ComponentFacts) -> Iterator[str]:
    yield "Components"
    for component in facts.components:
        yield f"  {component.text}: {_selection(component)}"
        yield from (f"    {condition.text}: {condition.tested}" for condition in component.conditions)
    yield from (f"  {test}" for test in _equivalences(facts))
    yield from ("", "Automaton")
    names = {state.number: f"state {state.number} ({_waits(state)})" for state in facts.states}
    match = _match(facts)
    for edge in facts.edges:
        targets = [names[number] for number in edge.targets] + [match] * edge.match
        source = "start" if edge.source is None else names[edge.source]
        yield f"  {source} --{edge.role} {edge.over}--> {', '.join(targets)}"
    for state in facts.states:
        if state.match is not None:
            yield f"  {names[state.number]} --{state.match}--> {match}"


def _selection(component: ComponentDescription) -> str:
    if component.negated:
        return "must be absent; judged on complete matches"
    return f"{component.selection}{', stops where it first can (!)' * component.stops_first}"


def _equivalences(facts: ComponentFacts) -> Iterator[str]:
    if facts.equal:
        yield f"[{', '.join(facts.equal)}]: the same in all events of a match"
    if facts.partition:
        yield f"PARTITION BY {', '.join(facts.partition)}: the same in all events of a match"


def _clauses(facts: ComponentFacts, key: ShardKey) -> Iterator[str]:
    yield f"Window: {facts.window or _unbounded(facts)}"
    if facts.having is not None:
        yield f"Having: {facts.having.text}: {facts.having.tested}"
    yield f"Key: {', '.join(facts.key) or single_shard_text(key)}"


def _unbounded(facts: ComponentFacts) -> str:
    """What ends a run where no window does: that it waits by contiguity, or nothing."""
    if not facts.states:
        return "none is needed, no run waits"
    first, *later = (component for component in facts.components if not component.negated)
    continues = any(state.inside == first.variable for state in facts.states)  # else nothing waits by its strategy
    waits = {component.selection for component in ([first] * continues + later)}
    if not waits <= {SELECTIONS[Strategy.STRICT], SELECTIONS[Strategy.PARTITION]}:
        return "none: runs never expire"
    where = " of its partition" if SELECTIONS[Strategy.PARTITION] in waits else ""
    return f"none: a run ends at the next event{where} that it can't take"


def _match(facts: ComponentFacts) -> str:
    """What a run becomes in the end; an absence at the end is certain once the window is over."""
    last = _gaps(facts)[-1]
    return f"match, unless {' or '.join(last.absent)} came by the window's end" if last.absent else "match"


@dataclass(frozen=True, slots=True)
class _Gap:
    """What must be absent, by its variables, after one component that a match has, and before the next."""

    before: str
    absent: list[str]
    after: str | None


def _gaps(facts: ComponentFacts) -> list[_Gap]:
    places = [number for number, component in enumerate(facts.components) if not component.negated]
    names = [component.variable for component in facts.components]
    return [
        _Gap(names[place], names[place + 1 : following], None if following is None else names[following])
        for place, following in zip_longest(places, places[1:])
    ]


def _waits(state: ComponentStateDescription) -> str:
    inside = "" if state.inside is None else f"in {state.inside}[], "
    return f"{inside}{state.selection}"


# As a diagram


def _state_lines(facts: ComponentFacts, state: ComponentStateDescription) -> Iterator[str]:
    yield f"state {state.number}"
    if state.inside is not None:
        yield f"in {state.inside}[]"
    waited = dict.fromkeys(edge.over for edge in facts.edges if edge.source == state.number)
    yield f"waits for {' or '.join(waited)}"
    yield state.selection


def _arrows(facts: ComponentFacts) -> Iterator[Arrow]:
    """Labels leave out types and conditions, which may be long; lines have them."""
    absent = "".join(_absent(facts))
    for edge in facts.edges:
        label = f"{edge.role} {edge.over}"
        labels = (label,) * len(edge.targets) + (f"{label}{absent}",) * edge.match
        yield Arrow(edge.source, edge.targets, labels, edge.match, tuple(_edge_lines(facts, edge)))
    for state in facts.states:
        if state.match is not None:
            yield Arrow(state.number, (), (f"{state.match}{absent}",), emits=True, lines=(state.match,))


def _absent(facts: ComponentFacts) -> Iterator[str]:
    for gap in _gaps(facts):
        if gap.absent:
            where = f"after {gap.before}" if gap.after is None else f"between {gap.before} and {gap.after}"
            yield f", no {' or '.join(gap.absent)} {where}"


def _edge_lines(facts: ComponentFacts, edge: ComponentEdgeDescription) -> Iterator[str]:
    component = next(each for each in facts.components if each.variable == edge.over)
    yield f"{edge.role} {edge.over}"
    yield component.text
    if edge.source is not None and facts.tested:
        yield f"with the same {', '.join(facts.tested)}"
    yield from edge.conditions


def _absent_lines(facts: ComponentFacts, component: ComponentDescription) -> Iterator[str]:
    assert component.absence is not None
    yield component.absence
    if facts.tested:
        yield f"with the same {', '.join(facts.tested)}"
    yield from (condition.text for condition in component.conditions)
