"""What `explain` shows of a SPAseQ query: GPMs, states, edges and negations, read off the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression
from thence.algebra.show import show
from thence.algebra.spaseq import SequenceQuery, variables_of
from thence.algebra.streams import window_text
from thence.algebra.traversal import conjuncts
from thence.engines.automaton.program import ANY, NEXT, NOWHERE, START, STRICT, SequenceProgram, Source
from thence.explain.description import Arrow, Description, Node, single_shard_text
from thence.extraction.opcodes import ASK
from thence.interface.tables import Attributes
from thence.match.solve import reason_for_reference

_IN_THE_MATCH = "in the graph match"
_SELECTIONS = {STRICT: "strict contiguity", NEXT: "skip-till-next", ANY: "skip-till-any"}
_SIGNS = {STRICT: ",", NEXT: ";", ANY: ":"}


def describe(program: SequenceProgram) -> Description:
    """A compiled query."""
    query = program.query
    assert isinstance(query, SequenceQuery)
    gpms = {source.gpm: _gpm(program, source) for source in program.sources}
    edges = list(enumerate(program.automaton.edge_state.tolist()))
    # those that begin a run first
    arrows = tuple(_edge(program, edge, gpms) for edge, state in sorted(edges, key=lambda e: e[1]) if state >= START)
    negations: list[Arrow] = []
    for negation in (_edge(program, edge, gpms) for edge, state in edges if state < START):
        negations += [negation] * (negation not in negations)
    states = tuple(_state(program, state, arrows) for state in range(len(program.automaton.selection)))
    return Description(
        algebra=show(query),
        facts={
            "window": None if query.window is None else window_text(query.window),
            "partition": [str(variable) for variable in query.partition],
            "gpms": tuple(gpms.values()),
            "states": states,
            "edges": arrows,
            "negations": negations,
            "key": [f"?{name}" for name in program.shard_key.names],
        },
        sections={"Graph patterns": tuple(gpms.values())},
        clauses=tuple(_clauses(program, query)),
        boxes=states,
        arrows=arrows,
        absent=tuple(negations),
        flow="Automaton",
        start="a run begins",
        end="match",
    )


def _clauses(program: SequenceProgram, query: SequenceQuery) -> Iterator[str]:
    names = " ".join(f"?{name}" for name in program.shard_key.names)
    if not len(program.automaton.selection):
        yield "Key: none is needed, no run waits"
    elif names:
        yield f"Key: {names}, which every part joins by equality"
    else:
        yield f"Key: {single_shard_text(program.shard_key)}"
    yield f"Window: {'none, so state grows with the stream' if query.window is None else window_text(query.window)}"
    if STRICT in program.automaton.selection:
        by = " ".join(map(str, query.partition))
        yield f"Contiguity: judged among {f'the events of a partition by {by}' if by else 'all events of all streams'}"


def _gpm(program: SequenceProgram, source: Source) -> Node:
    """A GPM, and how its graph pattern is evaluated."""
    assert isinstance(program.query, SequenceQuery) and isinstance(program.rewritten, SequenceQuery)
    assert not isinstance(source.pattern, Attributes)
    gpm = program.query.gpm(source.gpm)
    left = program.rewritten.gpm(source.gpm).filters  # to the machine
    late = [late.block for late in program.late]
    tests = [part for test in gpm.filters for part in ([test] if test in left else conjuncts(test))]
    filters = [_filter(test, _tester(program, test) if test in left else _IN_THE_MATCH) for test in tests]
    graphs = [
        {"name": str(each.name), "joined": "with complete matches" if each in late else "with every event"}
        for each in gpm.graphs
    ]
    variables = [str(variable) for variable in variables_of(gpm)]
    reason = reason_for_reference(source.pattern)
    return Node(
        f"{gpm.name} on {gpm.stream}",
        (
            "vectorised" if reason is None else f"event by event, because of {reason}",
            f"binds {' '.join(variables) or 'nothing'}",
        ),
        (*(f"GRAPH {each['name']}: joined {each['joined']}" for each in graphs), *map(_filter_line, filters)),
        facts={
            "name": gpm.name,
            "stream": gpm.stream,
            "variables": variables,
            "graphs": graphs,
            "filters": filters,
            "event_by_event": reason,
        },
    )


def _filter(test: Expression, tested: str) -> dict[str, str]:
    """A condition as the query writes it, and where it is tested."""
    return {"text": show(test), "tested": tested}


def _filter_line(test: dict[str, str], begins: str = "FILTER ") -> str:
    return f"{begins}{test['text']}: tested {test['tested']}"


def _tester(program: SequenceProgram, test: Expression) -> str:
    by_the_machine = "by the machine"
    if test not in program.predicates:  # its GPM is never used
        return by_the_machine
    start = program.automaton.code_from[program.predicates.index(test)]
    return "by the reference evaluator" if program.automaton.operation[start] == ASK else by_the_machine


def _state(program: SequenceProgram, state: int, edges: tuple[Arrow, ...]) -> Node:
    """Where runs wait: for what, by which selection, and the variables whose values find them there."""
    automaton = program.automaton
    selection = int(automaton.selection[state])
    waits_for = list(dict.fromkeys(str(edge.facts["over"]) for edge in edges if edge.source == state + 1))
    key = [str(program.slots[slot]) for slot in _items(automaton.state_key_from, automaton.state_key_slot, state)]
    waits = f"waits for {' or '.join(waits_for)}"
    found_by = f"found by {' '.join(key)}" if key else "all runs are tried"
    facts = {
        "number": state + 1,
        "waits_for": waits_for,
        "selection": _SELECTIONS[selection],
        "sign": _SIGNS[selection],
    }
    return Node(
        f"state {state + 1}",
        (waits, f"{_SELECTIONS[selection]} ({_SIGNS[selection]})", found_by),
        facts={**facts, "key": key},
        number=state + 1,
        label=f"{waits} by {_SELECTIONS[selection]}",
    )


def _edge(program: SequenceProgram, edge: int, gpms: Mapping[str, Node]) -> Arrow:
    """How a run continues; one that begins it has no source. In JSON `again` is where a closure waits for another
    iteration. `match`: it completes one; `then_no` must be absent until the window ends, `between_no` since the run's
    last event. `demands` are filters of later parts: a run that fails them is dropped here."""
    automaton = program.automaton
    state, target, again = (
        int(column[edge]) for column in (automaton.edge_state, automaton.edge_target, automaton.edge_loop)
    )
    over = _input(program, int(automaton.edge_input[edge]))
    equal = _equal(program, edge) if state != START else []
    filters = _filters(program, _items(automaton.test_from, automaton.test_predicate, edge))
    demands = _filters(program, _items(automaton.prune_from, automaton.prune_predicate, edge))
    between_no = _guards(program, _items(automaton.guard_from, automaton.guard, edge))
    then_no = _guards(program, _items(automaton.end_from, automaton.end, edge))
    same = f" with the same {' '.join(equal)}" if equal else ""
    between = f"no {' or '.join(between_no)} in between" if between_no else ""
    facts = {
        "source": None if state <= START else state + 1,
        "over": over,
        "target": None if target == NOWHERE else target + 1,
        "again": None if again == NOWHERE else again + 1,
        "match": bool(automaton.edge_accept[edge]),
    }
    return Arrow(
        None if state <= START else state + 1,
        tuple(number + 1 for number in (target, again) if number != NOWHERE),
        f"{'no ' * (state < START)}{over}{same}{f', with {between}' * bool(between)}",
        ", ".join(filter(None, (over, between))),
        emits=bool(automaton.edge_accept[edge]),
        unless=f"if no {' or '.join(then_no)} comes until the window ends" if then_no else "",
        details=(
            *map(_filter_line, filters),
            *(_filter_line(each, "then dropped, unless ") for each in demands),
        ),
        drawn=tuple(_drawn([gpms[name] for name in over.split(" & ")])),
        facts={
            **facts,
            "equal": equal,
            "filters": filters,
            "demands": demands,
            "between_no": between_no,
            "then_no": then_no,
        },
    )


def _drawn(gpms: list[Node]) -> Iterator[str]:
    """What the text has of GPMs in their own place."""
    yield f"on {' and '.join(dict.fromkeys(str(gpm.facts['stream']) for gpm in gpms))}"
    for gpm in gpms:
        yield from (line for line in gpm.details if line.startswith("GRAPH ") or line.endswith(_IN_THE_MATCH))


def _filters(program: SequenceProgram, numbers: list[int]) -> list[dict[str, str]]:
    return [_filter(program.predicates[number], _tester(program, program.predicates[number])) for number in numbers]


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


def _items(starts: NDArray[np.int32], items: NDArray[np.int32], number: int) -> list[int]:
    return [int(item) for item in items[starts[number] : starts[number + 1]]]
