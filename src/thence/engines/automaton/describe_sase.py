"""A SASE+ block as `explain` shows it: components, states and edges, and where each condition acts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from thence.algebra.expressions import Expression
from thence.algebra.sase import Component, ComponentQuery, Strategy, acts_at, is_whole, own_references
from thence.algebra.show_sase import component_text, condition_text, key_text, name_text
from thence.algebra.streams import Window, window_text
from thence.engines.automaton.program import (
    ANY,
    AT_STOP,
    CUT_OFF,
    NEXT,
    NOWHERE,
    PLAIN,
    PROCEED,
    START,
    TAKE,
    Automaton,
    SequenceProgram,
)
from thence.explain.description import Arrow, Description, Node, single_shard_text
from thence.extraction.opcodes import ASK
from thence.interface.tables import Attributes

_SELECTIONS = {
    Strategy.STRICT: "strict contiguity",
    Strategy.PARTITION: "partition contiguity",
    Strategy.NEXT: "skip-till-next",
    Strategy.ANY: "skip-till-any",
}
_ON_COMPLETE_MATCHES = "on complete matches"
_ROLES = {PLAIN: "begin", TAKE: "take", PROCEED: "proceed and begin", CUT_OFF: "stop, proceed and begin"}


def describe(program: SequenceProgram) -> Description:
    """A compiled block."""
    query = program.query
    assert isinstance(query, ComponentQuery)
    edges = tuple(_edges(program, query))
    states = tuple(_state(program, number, edges) for number in range(len(program.automaton.selection)))
    endings = (
        Arrow(state.number, (), str(state.facts["match"]), emits=True, unless=_unless(query))
        for state in states
        if state.facts["match"]
    )
    components = tuple(_component(program, query, component) for component in query.components)
    having = None if query.having is None else _condition(query.having, _ON_COMPLETE_MATCHES)
    return Description(
        facts={
            "window": None if query.window is None else window_text(Window(query.window)),
            "equal": list(map(name_text, query.equal)),
            "partition": list(map(key_text, query.partition)),
            "having": having,
            "components": components,
            "states": states,
            "edges": edges,
            "key": program.shard_key.names,
        },
        sections={"Components": components},
        clauses=tuple(_clauses(program, query, states, having)),
        boxes=states,
        arrows=(*edges, *endings),
        absent=tuple(_absent(query, component) for component in query.components if component.negated),
        flow="Automaton",
        start="a run begins",
        end="match",
    )


def _condition(condition: Expression, tested: str) -> dict[str, str]:
    """A condition as the query writes it, and where it is tested."""
    return {"text": condition_text(condition), "tested": tested}


def _clauses(
    program: SequenceProgram, query: ComponentQuery, states: tuple[Node, ...], having: dict[str, str] | None
) -> Iterator[str]:
    if query.equal:
        yield f"[{', '.join(map(name_text, query.equal))}]: the same in all events of a match"
    if query.partition:
        yield f"PARTITION BY {', '.join(map(key_text, query.partition))}: the same in all events of a match"
    yield f"Window: {_unbounded(query, states) if query.window is None else window_text(Window(query.window))}"
    if having is not None:
        yield f"Having: {having['text']}: {having['tested']}"
    yield f"Key: {', '.join(program.shard_key.names) or single_shard_text(program.shard_key)}"


def _unbounded(query: ComponentQuery, states: tuple[Node, ...]) -> str:
    """What ends a run where no window does: that it waits by contiguity, or nothing."""
    if not states:
        return "none is needed, no run waits"
    first, *later = (component for component in query.components if not component.negated)
    continues = any(state.facts["inside"] == first.variable for state in states)  # else nothing waits by its strategy
    waits = {component.strategy for component in ([first] * continues + later)}
    if not waits <= {Strategy.STRICT, Strategy.PARTITION}:
        return "none: runs never expire"
    where = " of its partition" if Strategy.PARTITION in waits else ""
    return f"none: a run ends at the next event{where} that it can't take"


def _component(program: SequenceProgram, query: ComponentQuery, component: Component) -> Node:
    """A component as it was written, how a run selects its events (None: it must be absent), and the conditions that
    act there. `absence`, of a negated one, is what must not occur, and where."""
    selection = _SELECTIONS[component.strategy]
    words = f"{selection}{', stops where it first can (!)' * component.cut}"
    conditions = [
        _condition(condition, _tested(program, query, component, condition))
        for condition in query.conditions
        if acts_at(query, condition) == component
    ]
    return Node(
        component_text(component),
        ("must be absent; judged on complete matches" if component.negated else words,),
        tuple(f"{each['text']}: {each['tested']}" for each in conditions),
        facts={
            "text": component_text(component),
            "variable": component.variable,
            "negated": component.negated,
            "absence": _absence(query, component) if component.negated else None,
            "selection": None if component.negated and not component.closure else selection,
            "stops_first": component.cut,
            "conditions": conditions,
        },
    )


def _same(query: ComponentQuery) -> tuple[str, ...]:
    """The attributes that are equal in all events of a match, as a line of a drawing."""
    tested = dict.fromkeys((*map(name_text, query.equal), *map(key_text, query.partition)))
    return (f"with the same {', '.join(tested)}",) if tested else ()


def _absent(query: ComponentQuery, component: Component) -> Arrow:
    conditions = (condition for condition in query.conditions if acts_at(query, condition) == component)
    return Arrow(None, (), _absence(query, component), drawn=(*_same(query), *map(condition_text, conditions)))


def _unless(query: ComponentQuery) -> str:
    """What must not occur in a match, without types: labels have little room."""
    absences = [_absence(query, each, each.variable) for each in query.components if each.negated]
    return f"if {', '.join(absences)}" if absences else ""


def _absence(query: ComponentQuery, negated: Component, what: str = "") -> str:
    """What must not occur, and where. Negations beside each other are about the same gap."""
    what = what or component_text(replace(negated, negated=False))
    place = query.components.index(negated)
    before = [each for each in query.components[:place] if not each.negated][-1]
    after = next((each for each in query.components[place:] if not each.negated), None)
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


def _state(program: SequenceProgram, number: int, edges: tuple[Arrow, ...]) -> Node:
    """Where runs wait, by which selection; `inside` is the closure that continues there. `match`: when a run that waits
    there is one, without another event."""
    automaton = program.automaton
    by = program.contiguous[automaton.state_previous[number]]
    contiguous = _SELECTIONS[Strategy.PARTITION if by else Strategy.STRICT]
    others = {NEXT: _SELECTIONS[Strategy.NEXT], ANY: _SELECTIONS[Strategy.ANY]}
    selection = others.get(int(automaton.selection[number]), contiguous)
    inside = next((str(edge.facts["over"]) for edge in edges if edge.facts["again"] == number + 1), None)
    waited = dict.fromkeys(str(edge.facts["over"]) for edge in edges if edge.source == number + 1)
    words = (*([] if inside is None else [f"in {inside}[]"]), f"waits for {' or '.join(waited)}", selection)
    match = _match(automaton, number, stops=selection == contiguous)
    return Node(
        f"state {number + 1}",
        words,
        facts={"number": number + 1, "inside": inside, "selection": selection, "match": match},
        number=number + 1,
        label=", ".join(word for word in words if not word.startswith("waits ")),
    )


def _match(automaton: Automaton, number: int, *, stops: bool) -> str | None:
    """When a run in a closure at the end, without an end condition, is a match. Where it may ignore all events, only
    the window stops it."""
    accepts = int(automaton.state_accepts[number])
    if accepts == AT_STOP and stops:
        latest = "the end of the input" if automaton.window < 0 else "the window's end"
        return f"when it stops, at the latest at {latest}"
    return "at the window's end" if accepts else None


def _edges(program: SequenceProgram, query: ComponentQuery) -> Iterator[Arrow]:
    """How a run continues with an event of a component; one that begins it has no source. In JSON `again` is where a
    closure continues, and `match`: it completes one. They are those of the first stream: all have the same."""
    automaton = program.automaton
    for edge in range(int(automaton.feed_from[0]), int(automaton.feed_from[1])):
        state, target, again = (
            int(column[edge]) for column in (automaton.edge_state, automaton.edge_target, automaton.edge_loop)
        )
        source = None if state == START else state + 1
        component = program.components.positive[int(automaton.place[automaton.place_from[edge]])]
        role = _ROLES[int(automaton.edge_role[edge])]
        match = bool(automaton.edge_accept[edge])
        conditions = tuple(_conditions(program, edge))
        same = () if source is None else _same(query)
        yield Arrow(
            source,
            tuple(number + 1 for number in (target, again) if number != NOWHERE),
            f"{role} {component.variable}",
            emits=match,
            unless=_unless(query) if match else "",
            drawn=(component_text(component), *same, *conditions),
            facts={
                "source": source,
                "role": role,
                "over": component.variable,
                "target": None if target == NOWHERE else target + 1,
                "again": None if again == NOWHERE else again + 1,
                "match": match,
                "conditions": conditions,
            },
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
