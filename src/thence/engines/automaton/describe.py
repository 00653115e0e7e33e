"""Describes an automaton for `explain`: its patterns (SPAseQ) or components (SASE+), states, edges and negations, and
where each condition acts. It is read off the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression
from thence.algebra.sase import Component, ComponentQuery, Strategy, acts_at, is_whole, own_references
from thence.algebra.show import show
from thence.algebra.show_sase import component_text, condition_text, name_text
from thence.algebra.show_sase import key_text as partition_text
from thence.algebra.spaseq import SequenceQuery, variables_of
from thence.algebra.streams import Window, window_text
from thence.algebra.traversal import conjuncts
from thence.engines.automaton.program import (
    ANY,
    AT_STOP,
    CUT_OFF,
    NEXT,
    PLAIN,
    PROCEED,
    START,
    STRICT,
    TAKE,
    SequenceProgram,
    Source,
)
from thence.explain.description import Arrow, Description, Node, Tested, key_text, order_clauses
from thence.extraction.opcodes import ASK
from thence.interface.tables import Attributes
from thence.match.solve import reason_for_reference

_SELECTIONS = {STRICT: "strict contiguity", NEXT: "skip-till-next", ANY: "skip-till-any"}
_SIGNS = {STRICT: ",", NEXT: ";", ANY: ":"}
_STRATEGIES = {
    Strategy.STRICT: _SELECTIONS[STRICT],
    Strategy.PARTITION: "partition contiguity",
    Strategy.NEXT: _SELECTIONS[NEXT],
    Strategy.ANY: _SELECTIONS[ANY],
}
_ROLES = {PLAIN: "begin", TAKE: "take", PROCEED: "proceed and begin", CUT_OFF: "stop, proceed and begin"}
_IN_THE_MATCH, _ON_COMPLETE_MATCHES = "in the graph match", "on complete matches"
_NO_RUN_WAITS = "none is needed, no run waits"
_SAME_IN_ALL = ": the same in all events of a match"
_AS_AUTOMATON: Final = {"flow": "Automaton", "start": "a run begins", "end": "match"}


def describe(program: SequenceProgram) -> Description:
    """A compiled query of SPAseQ, or a block of SASE+."""
    if isinstance(program.query, SequenceQuery):
        return _sequence(program, program.query)
    return _block(program, program.query)


# Of both languages


def _arrow(program: SequenceProgram, edge: int, over: str, title: str, *, unless: str = "", **others: Any) -> Arrow:
    """An edge: how a run continues over an event, from the input where it begins. In JSON `again` is where a closure
    waits for another iteration, and `match`: the edge completes one."""
    automaton = program.automaton
    columns = automaton.edge_state, automaton.edge_target, automaton.edge_loop
    source, target, again = (None if (number := int(column[edge])) < 0 else number + 1 for column in columns)
    match = bool(automaton.edge_accept[edge])
    json = {"source": source, "over": over, "target": target, "again": again, "match": match, **others.pop("json")}
    targets = tuple(number for number in (target, again) if number is not None)
    return Arrow(source, targets, title, emits=match, unless=unless if match else "", json=json, **others)


def _waits_for(edges: Sequence[Arrow], state: int) -> list[str]:
    """The events for which runs wait in a state."""
    return list(dict.fromkeys(str(edge.json["over"]) for edge in edges if edge.source == state))


def _items(starts: NDArray[np.int32], items: NDArray[np.int32], number: int) -> list[int]:
    return [int(item) for item in items[starts[number] : starts[number + 1]]]


def _is_asked(program: SequenceProgram, predicate: int) -> bool:
    """Whether the machine asks the reference evaluator."""
    return bool(program.automaton.operation[program.automaton.code_from[predicate]] == ASK)


# SPAseQ


def _sequence(program: SequenceProgram, query: SequenceQuery) -> Description:
    automaton = program.automaton
    gpms = {source.gpm: _gpm(program, query, source) for source in program.sources}
    edges = list(enumerate(automaton.edge_state.tolist()))
    # those that begin a run first
    arrows = tuple(_edge(program, edge, gpms) for edge, state in sorted(edges, key=lambda e: e[1]) if state >= START)
    negations: list[Arrow] = []
    for negation in (_edge(program, edge, gpms, "no ") for edge, state in edges if state < START):
        negations += [negation] * (negation not in negations)
    states = tuple(_state(program, state, arrows) for state in range(len(automaton.selection)))
    window = None if query.window is None else window_text(query.window)
    partition = [str(variable) for variable in query.partition]
    clauses = [f"Key: {key_text(program.shard_key) if states else _NO_RUN_WAITS}"]
    clauses += [f"Window: {window or 'none, so state grows with the stream'}"]
    if STRICT in automaton.selection:
        among = f"the events of a partition by {' '.join(partition)}" if partition else "all events of all streams"
        clauses += [f"Contiguity: judged among {among}"]
    clauses += order_clauses(program.order)
    return Description(
        algebra=show(query),
        json={
            "window": window,
            "partition": partition,
            "gpms": tuple(gpms.values()),
            "states": states,
            "edges": arrows,
            "negations": negations,
            "key": [f"?{name}" for name in program.shard_key.names],
        },
        sections={"Graph patterns": tuple(gpms.values())},
        clauses=tuple(clauses),
        boxes=states,
        arrows=arrows,
        absent=tuple(negations),
        **_AS_AUTOMATON,
    )


def _gpm(program: SequenceProgram, query: SequenceQuery, source: Source) -> Node:
    """A GPM, and how its graph pattern is evaluated."""
    assert isinstance(program.rewritten, SequenceQuery) and not isinstance(source.pattern, Attributes)
    gpm = query.gpm(source.gpm)
    left = program.rewritten.gpm(source.gpm).filters  # to the machine
    late = [late.block for late in program.late]
    tests = [part for test in gpm.filters for part in ([test] if test in left else conjuncts(test))]
    filters = [_filter(program, test) if test in left else Tested(show(test), _IN_THE_MATCH) for test in tests]
    graphs = [
        {"name": str(each.name), "joined": "with complete matches" if each in late else "with every event"}
        for each in gpm.graphs
    ]
    variables = [str(variable) for variable in variables_of(gpm)]
    reason = reason_for_reference(source.pattern)
    how = "vectorised" if reason is None else f"event by event, because of {reason}"
    return Node(
        f"{gpm.name} on {gpm.stream}",
        (how, f"binds {' '.join(variables) or 'nothing'}"),
        (*(f"GRAPH {each['name']}: joined {each['joined']}" for each in graphs), *map(_filter_line, filters)),
        json={
            "name": gpm.name,
            "stream": gpm.stream,
            "variables": variables,
            "graphs": graphs,
            "filters": filters,
            "event_by_event": reason,
        },
    )


def _filter(program: SequenceProgram, test: Expression) -> Tested:
    """A condition that the machine tests."""
    is_used = test in program.predicates  # else its GPM is not
    is_asked = is_used and _is_asked(program, program.predicates.index(test))
    return Tested(show(test), "by the reference evaluator" if is_asked else "by the machine")


def _filter_line(test: Tested, begins: str = "FILTER ") -> str:
    return f"{begins}{test.text}: tested {test.tested}"


def _state(program: SequenceProgram, state: int, edges: Sequence[Arrow]) -> Node:
    """A state in which runs wait: for what, by which selection, and the variables by which they are found."""
    automaton, number = program.automaton, state + 1
    selection = int(automaton.selection[state])
    words, sign = _SELECTIONS[selection], _SIGNS[selection]
    waits_for = _waits_for(edges, number)
    key = [str(program.slots[slot]) for slot in _items(automaton.state_key_from, automaton.state_key_slot, state)]
    waits = f"waits for {' or '.join(waits_for)}"
    return Node(
        f"state {number}",
        (waits, f"{words} ({sign})", f"found by {' '.join(key)}" if key else "all runs are tried"),
        json={"number": number, "waits_for": waits_for, "selection": words, "sign": sign, "key": key},
        number=number,
        label=f"{waits} by {words}",
    )


def _edge(program: SequenceProgram, edge: int, gpms: Mapping[str, Node], no: str = "") -> Arrow:
    """`then_no` must be absent until the window ends, `between_no` since the run's last event. `demands` are filters of
    later parts: a run that fails them is dropped here."""
    automaton = program.automaton
    over = _input(program, int(automaton.edge_input[edge]))
    equal = _equal(program, edge) if automaton.edge_state[edge] != START else []
    filters, demands = (
        [_filter(program, program.predicates[number]) for number in _items(starts, tests, edge)]
        for starts, tests in (
            (automaton.test_from, automaton.test_predicate),
            (automaton.prune_from, automaton.prune_predicate),
        )
    )
    between_no = _guards(program, _items(automaton.guard_from, automaton.guard, edge))
    then_no = _guards(program, _items(automaton.end_from, automaton.end, edge))
    same = f" with the same {' '.join(equal)}" if equal else ""
    between = f", no {' or '.join(between_no)} in between" if between_no else ""
    return _arrow(
        program,
        edge,
        over,
        f"{no}{over}{same}{between.replace(', ', ', with ', 1)}",
        label=over + between,
        unless=f"if no {' or '.join(then_no)} comes until the window ends" if then_no else "",
        details=(
            *map(_filter_line, filters),
            *(_filter_line(each, "then dropped, unless ") for each in demands),
        ),
        drawn=tuple(_drawn([gpms[name] for name in over.split(" & ")])),
        json={
            "equal": equal,
            "filters": filters,
            "demands": demands,
            "between_no": between_no,
            "then_no": then_no,
        },
    )


def _drawn(gpms: list[Node]) -> Iterator[str]:
    """The definitions of GPMs, as in the query's text."""
    yield f"on {' and '.join(dict.fromkeys(str(gpm.json['stream']) for gpm in gpms))}"
    for gpm in gpms:
        yield from (line for line in gpm.details if line.startswith("GRAPH ") or line.endswith(_IN_THE_MATCH))


def _equal(program: SequenceProgram, edge: int) -> list[str]:
    """The variables of an edge that another part of the query may have bound before."""
    automaton = program.automaton
    number = int(automaton.edge_input[edge])
    others = {v for other, each in enumerate(program.inputs) if other != number for v in each.variables}
    again = int(automaton.edge_state[edge]) in automaton.edge_loop  # an iteration, after others of the same part
    slots = _items(automaton.equal_from, automaton.equal_slot, edge)
    return [str(program.slots[slot]) for slot in slots if again or program.slots[slot] in others]


def _guards(program: SequenceProgram, guards: list[int]) -> list[str]:
    automaton = program.automaton
    edges = [edge for guard in guards for edge in _items(automaton.guard_edge_from, automaton.guard_edge, guard)]
    return list(dict.fromkeys(_input(program, int(automaton.edge_input[edge])) for edge in edges))


def _input(program: SequenceProgram, number: int) -> str:
    return " & ".join(program.sources[source].gpm for source in program.inputs[number].sources)


# SASE+


def _block(program: SequenceProgram, query: ComponentQuery) -> Description:
    # the edges of the first stream: all streams have the same
    feed_from = program.automaton.feed_from
    edges = tuple(_component_edge(program, query, edge) for edge in range(int(feed_from[0]), int(feed_from[1])))
    states = tuple(_component_state(program, number, edges) for number in range(len(program.automaton.selection)))
    unless = _unless(query)
    endings = (
        Arrow(state.number, (), str(state.json["match"]), emits=True, unless=unless)
        for state in states
        if state.json["match"]
    )
    components = tuple(_component(program, query, component) for component in query.components)
    having = None if query.having is None else Tested(condition_text(query.having), _ON_COMPLETE_MATCHES)
    equal, partition = list(map(name_text, query.equal)), list(map(partition_text, query.partition))
    window = None if query.window is None else window_text(Window(query.window))
    names = program.shard_key.names
    clauses = [f"[{', '.join(equal)}]{_SAME_IN_ALL}"] * bool(equal)
    clauses += [f"PARTITION BY {', '.join(partition)}{_SAME_IN_ALL}"] * bool(partition)
    clauses += [f"Window: {window or _unbounded(query, states)}", *([] if having is None else [f"Having: {having}"])]
    return Description(
        json={
            "window": window,
            "equal": equal,
            "partition": partition,
            "having": having,
            "components": components,
            "states": states,
            "edges": edges,
            "key": names,
        },
        sections={"Components": components},
        clauses=(*clauses, *order_clauses(program.order), f"Key: {key_text(program.shard_key, ', '.join(names))}"),
        boxes=states,
        arrows=(*edges, *endings),
        absent=tuple(_absent(query, component) for component in query.components if component.negated),
        **_AS_AUTOMATON,
    )


def _unbounded(query: ComponentQuery, states: tuple[Node, ...]) -> str:
    """The end of a run without a window: broken contiguity, or nothing."""
    if not states:
        return _NO_RUN_WAITS
    first, *later = (component for component in query.components if not component.negated)
    continues = any(state.json["inside"] == first.variable for state in states)  # else nothing waits by its strategy
    waits = {component.strategy for component in ([first] * continues + later)}
    if not waits <= {Strategy.STRICT, Strategy.PARTITION}:
        return "none: runs never expire"
    where = " of its partition" if Strategy.PARTITION in waits else ""
    return f"none: a run ends at the next event{where} that it can't take"


def _component(program: SequenceProgram, query: ComponentQuery, component: Component) -> Node:
    """A component as it was written, how a run selects its events (None: it must be absent), and the conditions that
    act there. `absence`, of a negated one, is what must not occur, and where."""
    text, selection, is_absent = component_text(component), _STRATEGIES[component.strategy], component.negated
    how = f"{selection}{', stops where it first can (!)' * component.cut}"
    conditions = [
        Tested(condition_text(condition), _tested(program, query, component, condition))
        for condition in query.conditions
        if acts_at(query, condition) == component
    ]
    return Node(
        text,
        ("must be absent; judged on complete matches" if is_absent else how,),
        tuple(map(str, conditions)),
        json={
            "text": text,
            "variable": component.variable,
            "negated": is_absent,
            "absence": _absence(query, component) if is_absent else None,
            "selection": None if is_absent and not component.closure else selection,
            "stops_first": component.cut,
            "conditions": conditions,
        },
    )


def _same(query: ComponentQuery) -> tuple[str, ...]:
    """The attributes that are equal in all events of a match, as a line of a drawing."""
    tested = dict.fromkeys((*map(name_text, query.equal), *map(partition_text, query.partition)))
    return (f"with the same {', '.join(tested)}",) if tested else ()


def _absent(query: ComponentQuery, component: Component) -> Arrow:
    conditions = (condition for condition in query.conditions if acts_at(query, condition) == component)
    return Arrow(None, (), _absence(query, component), drawn=(*_same(query), *map(condition_text, conditions)))


def _unless(query: ComponentQuery) -> str:
    """The negations of a match, without types, since labels have little room."""
    absences = [_absence(query, each, each.variable) for each in query.components if each.negated]
    return f"if {', '.join(absences)}" if absences else ""


def _absence(query: ComponentQuery, negated: Component, what: str = "") -> str:
    """The negations, and the gap of each. Adjacent negations share a gap."""
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
    ends = component.closure and any(map(is_whole, own_references(query, condition, component)))
    where = "on its history" if any(_is_asked(program, number) for number in numbers) else "in the machine"
    return f"{'end condition, after each event taken' if ends else 'with the run'}, {where}"


def _attributes(program: SequenceProgram) -> Attributes:
    """The values extracted from the first stream; all streams have the same."""
    pattern = program.tables[0].pattern
    assert isinstance(pattern, Attributes)
    return pattern


def _component_state(program: SequenceProgram, state: int, edges: Sequence[Arrow]) -> Node:
    """A state in which runs wait, by which selection; `inside` is the closure that continues there. `match`: when a run
    that waits there is one, without another event."""
    automaton, number = program.automaton, state + 1
    selection = _SELECTIONS[int(automaton.selection[state])]
    stops = int(automaton.selection[state]) == STRICT
    if stops and program.contiguous[automaton.state_previous[state]]:
        selection = _STRATEGIES[Strategy.PARTITION]
    inside = next((str(edge.json["over"]) for edge in edges if edge.json["again"] == number), None)
    # where a closure at the end may ignore all events, only the window stops it
    match = "at the window's end" if automaton.state_accepts[state] else None
    if stops and automaton.state_accepts[state] == AT_STOP:
        latest = "the end of the input" if automaton.window < 0 else "the window's end"
        match = f"when it stops, at the latest at {latest}"
    where = () if inside is None else (f"in {inside}[]",)
    return Node(
        f"state {number}",
        (*where, f"waits for {' or '.join(_waits_for(edges, number))}", selection),
        json={"number": number, "inside": inside, "selection": selection, "match": match},
        number=number,
        label=", ".join((*where, selection)),
    )


def _component_edge(program: SequenceProgram, query: ComponentQuery, edge: int) -> Arrow:
    """The edge by which a run continues with an event of a component."""
    automaton = program.automaton
    component = program.components.positive[int(automaton.place[automaton.place_from[edge]])]
    role = _ROLES[int(automaton.edge_role[edge])]
    conditions = tuple(_conditions(program, edge))
    same = () if automaton.edge_state[edge] == START else _same(query)
    return _arrow(
        program,
        edge,
        component.variable,
        f"{role} {component.variable}",
        unless=_unless(query),
        drawn=(component_text(component), *same, *conditions),
        json={"role": role, "conditions": conditions},
    )


def _conditions(program: SequenceProgram, edge: int) -> Iterator[str]:
    """The conditions of an edge: on the event alone, on it and the run, and on the closure with it."""
    automaton = program.automaton
    fit = int(automaton.edge_fits[edge])
    numbers = [
        *(_attributes(program).fits[fit].predicates if fit >= 0 else ()),
        *_items(automaton.test_from, automaton.test_predicate, edge),
        *_items(automaton.prune_from, automaton.prune_predicate, edge),
    ]
    asked = [program.components.conjunct(number) for number in numbers]
    yield from dict.fromkeys(condition_text(each.condition) for each in asked if each is not None)
