"""`explain`: how a query is run, as text, as a diagram, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from thence.algebra.components import ComponentQuery, Return
from thence.algebra.sequences import Selection, SequenceQuery
from thence.algebra.show import show
from thence.algebra.show_sequences import window_text
from thence.errors import InputError
from thence.program.sequence import SequenceProgram
from thence.view.components import (
    ComponentsTold,
    components_diagram,
    components_json,
    components_text,
    describe_components,
)
from thence.view.description import Description, EdgeTold, FilterTold, GpmTold, StateTold, describe
from thence.view.mermaid import DIAGRAM, state_diagram
from thence.view.pictures import components_picture, sequence_picture
from thence.view.svg import drawing

FORMATS = ("text", "mermaid", "svg", "json")


def explain(program: SequenceProgram, format: str = "text") -> str:
    """How a program runs, in one of `FORMATS`."""
    _check_format(format)
    query = program.query
    if isinstance(query, ComponentQuery):
        return _explain_components(program, query, format)
    description = describe(program)
    match format:
        case "mermaid":
            return state_diagram(description)
        case "svg":
            notes = (f"Window: {_window_told(query)}", f"Key: {_key(description)}")
            return drawing(sequence_picture(description, notes))
        case "json":
            return _json(query, description)
        case _:
            return "\n".join(_text(query, description))


def _explain_components(program: SequenceProgram, query: ComponentQuery, format: str) -> str:
    told = describe_components(program, query)
    match format:
        case "mermaid":
            return "\n".join((*DIAGRAM, *components_diagram(told)))
        case "svg":
            return drawing(components_picture(told))
        case "json":
            return components_json(told, query)
        case _:
            return components_text(told)


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise InputError(f'There is no explanation in the format "{format}". Try: {", ".join(FORMATS)}')


def explain_several(programs: Sequence[SequenceProgram], format: str) -> str:
    """How blocks of SASE+ run that feed each other, or whose rows are united: one after the other, in one document."""
    _check_format(format)
    if format == "json":
        parts = [{"gives": _given(each), **json.loads(explain(each, format))} for each in programs]
        return json.dumps({"queries": parts}, ensure_ascii=False, indent=2)
    heads = [f"Query {number}, which gives {_given(each)}" for number, each in enumerate(programs, 1)]
    told = [describe_components(each, each.query) for each in programs if isinstance(each.query, ComponentQuery)]
    both = list(zip(heads, told, strict=True))
    match format:
        case "mermaid":
            nested = (_nested(number, head, each) for number, (head, each) in enumerate(both, 1))
            return "\n".join((*DIAGRAM, *(line for lines in nested for line in lines)))
        case "svg":
            return drawing(*(components_picture(each, (head,)) for head, each in both))
        case _:
            return "\n\n".join(f"{head}\n\n{components_text(each)}" for head, each in both)


def _nested(number: int, head: str, told: ComponentsTold) -> Iterator[str]:
    """A query's diagram as a state of one that has them all."""
    yield f'    state "{head}" as q{number} {{'
    yield from (f"    {line}" for line in components_diagram(told, prefix=f"q{number}s"))
    yield "    }"


def _given(program: SequenceProgram) -> str:
    form = program.query.form
    if isinstance(form, Return) and form.stream is not None:
        return f"events of the stream {form.stream}"
    return "the answer"


def _json(query: SequenceQuery, description: Description) -> str:
    streams = [{"name": stream.name, "iri": stream.iri.value} for stream in query.streams]
    head = {"algebra": show(query), "streams": streams, "window": _window(query), "partition": _partition(query)}
    return json.dumps({**head, **asdict(description)}, ensure_ascii=False, indent=2)


def _window(query: SequenceQuery) -> str | None:
    return None if query.window is None else window_text(query.window)


def _partition(query: SequenceQuery) -> list[str]:
    return [str(variable) for variable in query.partition]


def _text(query: SequenceQuery, description: Description) -> Iterator[str]:
    yield "Algebra"
    yield from (f"  {line}" for line in show(query).splitlines())
    yield from ("", "Graph patterns")
    for gpm in description.gpms:
        yield from _gpm(gpm)
    yield from ("", "Automaton")
    for edge in description.edges:
        if edge.source is None:
            yield from _edge("a run begins", edge)
    for state in description.states:
        yield f"  {_state(state)}"
        for edge in description.edges:
            if edge.source == state.number:
                yield from _edge("", edge)
    for edge in description.negations:
        yield f"  no {edge.over}{_with(edge)}"
        yield from _filters(edge.filters, 6)
    yield ""
    yield f"Key: {_key(description)}"
    yield f"Window: {_window_told(query)}"
    if any(state.sign == Selection.STRICT.value for state in description.states):
        yield f"Contiguity: judged among {_among(query)}"


def _gpm(gpm: GpmTold) -> Iterator[str]:
    how = "vectorised" if gpm.event_by_event is None else f"event by event, because of {gpm.event_by_event}"
    yield f"  {gpm.name} on {gpm.stream}: {how}; binds {' '.join(gpm.variables) or 'nothing'}"
    yield from (f"      GRAPH {graph.name}: joined {graph.joined}" for graph in gpm.graphs)
    yield from _filters(gpm.filters, 6)


def _filters(filters: tuple[FilterTold, ...], indent: int) -> Iterator[str]:
    return (f"{' ' * indent}FILTER {told.text}: tested {told.tested}" for told in filters)


def _state(state: StateTold) -> str:
    waits = " or ".join(state.waits_for)
    found = f"found by {' '.join(state.key)}" if state.key else "all are looked at"
    return f"state {state.number} waits for {waits} by {state.selection} ({state.sign}); {found}"


def _edge(begins: str, edge: EdgeTold) -> Iterator[str]:
    goes = [f"state {number}" for number in (edge.target, edge.again) if number is not None]
    if edge.match:
        absent = f", if no {' or '.join(edge.then_no)} comes until the window ends" if edge.then_no else ""
        goes.append(f"a match{absent}")
    guards = f", with no {' or '.join(edge.between_no)} in between" if edge.between_no else ""
    start = f"  {begins}: " if begins else "      "
    yield f"{start}{edge.over}{_with(edge)}{guards} → {' and '.join(goes)}"
    yield from _filters(edge.filters, 10)
    yield from (f"{' ' * 10}then dropped, unless {told.text}: tested {told.tested}" for told in edge.demands)


def _with(edge: EdgeTold) -> str:
    return f" with the same {' '.join(edge.equal)}" if edge.equal else ""


def _key(description: Description) -> str:
    if not description.states:
        return "none is needed, no run waits"
    if description.key:
        return f"{' '.join(description.key)}, which every part joins by equality"
    return "none: no variable is joined by equality in every part, so all events meet in one shard"


def _among(query: SequenceQuery) -> str:
    if query.partition:
        return f"the events of a partition by {' '.join(_partition(query))}"
    return "all events of all streams"


def _window_told(query: SequenceQuery) -> str:
    window = _window(query)
    return "none, so what is held grows with the stream" if window is None else window
