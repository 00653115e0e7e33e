"""A SPAseQ query as `explain` shows it: the facts in words, in JSON, and as a diagram."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from thence.algebra.show import show
from thence.algebra.show_spaseq import window_text
from thence.algebra.spaseq import Selection, SequenceQuery
from thence.kernel.automaton.spaseq_facts import (
    IN_THE_MATCH,
    EdgeDescription,
    GpmDescription,
    SequenceFacts,
    StateDescription,
    sequence_facts,
)
from thence.program.automaton.program import SequenceProgram
from thence.program.description import Arrow, Box, Description, FilterDescription, single_shard_text, streams_data
from thence.program.operator import ShardKey


def sequence_description(program: SequenceProgram, query: SequenceQuery) -> Description:
    facts = sequence_facts(program)
    key, window = f"Key: {_key(facts, program.shard_key)}", f"Window: {_window(query) or _UNBOUNDED}"
    return Description(
        text=tuple(_text(query, facts, key, window)),
        data=_data(program, query, facts),
        boxes=tuple(Box(state.number, _state_label(state), tuple(_state_lines(state))) for state in facts.states),
        arrows=tuple(_arrow(facts, edge) for edge in facts.edges),
        notes=(window, key),
        absent=tuple((f"no {edge.over}", *list(_edge_lines(facts, edge))[1:]) for edge in facts.negations),
        start="a run begins",
        end="match",
    )


_UNBOUNDED = "none, so state grows with the stream"


def _data(program: SequenceProgram, query: SequenceQuery, facts: SequenceFacts) -> dict[str, object]:
    return {
        "algebra": show(query),
        "streams": streams_data(program.streams),
        "window": _window(query),
        "partition": [str(variable) for variable in query.partition],
        **asdict(facts),
    }


def _window(query: SequenceQuery) -> str | None:
    return None if query.window is None else window_text(query.window)


def _key(facts: SequenceFacts, key: ShardKey) -> str:
    if not facts.states:
        return "none is needed, no run waits"
    return f"{' '.join(facts.key)}, which every part joins by equality" if facts.key else single_shard_text(key)


# As text


def _text(query: SequenceQuery, facts: SequenceFacts, key: str, window: str) -> Iterator[str]:
    yield "Algebra"
    yield from (f"  {line}" for line in show(query).splitlines())
    yield from ("", "Graph patterns")
    for gpm in facts.gpms:
        yield from _gpm_text(gpm)
    yield from ("", "Automaton")
    for edge in facts.edges:
        if edge.source is None:
            yield from _edge_text("a run begins", edge)
    for state in facts.states:
        yield f"  state {state.number} {_state_label(state)} ({state.sign}); {_found_by(state)}"
        for edge in facts.edges:
            if edge.source == state.number:
                yield from _edge_text("", edge)
    for edge in facts.negations:
        yield f"  no {edge.over}{_with(edge)}"
        yield from _filters_text(edge.filters, 6)
    yield from ("", key, window)
    if any(state.sign == Selection.STRICT.value for state in facts.states):
        yield f"Contiguity: judged among {_among(query)}"


def _gpm_text(gpm: GpmDescription) -> Iterator[str]:
    how = "vectorised" if gpm.event_by_event is None else f"event by event, because of {gpm.event_by_event}"
    yield f"  {gpm.name} on {gpm.stream}: {how}; binds {' '.join(gpm.variables) or 'nothing'}"
    yield from (f"      GRAPH {graph.name}: joined {graph.joined}" for graph in gpm.graphs)
    yield from _filters_text(gpm.filters, 6)


def _filters_text(filters: tuple[FilterDescription, ...], indent: int) -> Iterator[str]:
    return (f"{' ' * indent}FILTER {each.text}: tested {each.tested}" for each in filters)


def _edge_text(begins: str, edge: EdgeDescription) -> Iterator[str]:
    targets = [f"state {number}" for number in edge.targets]
    if edge.match:
        absent = f", if no {' or '.join(edge.then_no)} comes until the window ends" if edge.then_no else ""
        targets.append(f"a match{absent}")
    guards = f", with no {' or '.join(edge.between_no)} in between" if edge.between_no else ""
    start = f"  {begins}: " if begins else "      "
    yield f"{start}{edge.over}{_with(edge)}{guards} → {' and '.join(targets)}"
    yield from _filters_text(edge.filters, 10)
    yield from (f"{' ' * 10}then dropped, unless {each.text}: tested {each.tested}" for each in edge.demands)


def _with(edge: EdgeDescription) -> str:
    return f" with the same {' '.join(edge.equal)}" if edge.equal else ""


def _found_by(state: StateDescription) -> str:
    return f"found by {' '.join(state.key)}" if state.key else "all runs are tried"


def _among(query: SequenceQuery) -> str:
    if query.partition:
        return f"the events of a partition by {' '.join(map(str, query.partition))}"
    return "all events of all streams"


# As a diagram


def _state_label(state: StateDescription) -> str:
    return f"waits for {' or '.join(state.waits_for)} by {state.selection}"


def _state_lines(state: StateDescription) -> Iterator[str]:
    yield f"state {state.number}"
    yield f"waits for {' or '.join(state.waits_for)}"
    yield f"{state.selection} ({state.sign})"
    yield _found_by(state)


def _arrow(facts: SequenceFacts, edge: EdgeDescription) -> Arrow:
    guards = f", no {' or '.join(edge.between_no)} in between" if edge.between_no else ""
    absent = f", then no {' or '.join(edge.then_no)}" if edge.then_no else ""
    label = f"{edge.over}{guards}"
    labels = (label,) * len(edge.targets) + (f"{label}{absent}",) * edge.match
    return Arrow(edge.source, edge.targets, labels, edge.match, tuple(_edge_lines(facts, edge)))


def _edge_lines(facts: SequenceFacts, edge: EdgeDescription) -> Iterator[str]:
    names = edge.over.split(" & ")
    gpms = [gpm for gpm in facts.gpms if gpm.name in names]
    yield edge.over
    yield f"on {' and '.join(dict.fromkeys(gpm.stream for gpm in gpms))}"
    if edge.equal:
        yield f"with the same {' '.join(edge.equal)}"
    for gpm in gpms:
        yield from (f"GRAPH {graph.name}" for graph in gpm.graphs)
        yield from (f"FILTER {each.text}" for each in gpm.filters if each.tested == IN_THE_MATCH)
    yield from (f"FILTER {each.text}, {each.tested}" for each in edge.filters)
    yield from (f"FILTER {each.text}, for later parts" for each in edge.demands)
    if edge.between_no:
        yield f"with no {' or '.join(edge.between_no)} in between"
    if edge.then_no:
        yield f"and no {' or '.join(edge.then_no)} until the window ends"
