"""What a drawing shows of an automaton: the lines in its boxes, and the notes above it."""

from __future__ import annotations

from collections.abc import Iterator

from thence.view.components import ComponentsTold, ComponentTold, notes_of
from thence.view.components import EdgeTold as ComponentEdge
from thence.view.components import StateTold as ComponentState
from thence.view.description import IN_THE_MATCH, Description, EdgeTold, FilterTold, StateTold
from thence.view.svg import Picture, Step

# SPAseQ


def sequence_picture(description: Description, notes: tuple[str, ...]) -> Picture:
    return Picture(
        notes=notes,
        states={state.number: tuple(_state_lines(state)) for state in description.states},
        steps=tuple(_step(description, edge) for edge in description.edges),
        absent=tuple((f"no {edge.over}", *list(_edge_lines(description, edge))[1:]) for edge in description.negations),
    )


def _step(description: Description, edge: EdgeTold) -> Step:
    targets = tuple(number for number in (edge.target, edge.again) if number is not None)
    return Step(edge.source, targets, edge.match, tuple(_edge_lines(description, edge)))


def _state_lines(state: StateTold) -> Iterator[str]:
    yield f"state {state.number}"
    yield f"waits for {' or '.join(state.waits_for)}"
    yield f"{state.selection} ({state.sign})"
    yield f"found by {' '.join(state.key)}" if state.key else "all are looked at"


def _edge_lines(description: Description, edge: EdgeTold) -> Iterator[str]:
    names = edge.over.split(" & ")
    gpms = [gpm for gpm in description.gpms if gpm.name in names]
    yield edge.over
    yield f"on {' and '.join(dict.fromkeys(gpm.stream for gpm in gpms))}"
    if edge.equal:
        yield f"with the same {' '.join(edge.equal)}"
    for gpm in gpms:
        yield from (f"GRAPH {graph.name}" for graph in gpm.graphs)
        yield from (_filter(told) for told in gpm.filters if told.tested == IN_THE_MATCH)
    yield from (f"{_filter(told)}, {told.tested}" for told in edge.filters)
    yield from (f"{_filter(told)}, for later parts" for told in edge.demands)
    if edge.between_no:
        yield f"with no {' or '.join(edge.between_no)} in between"
    if edge.then_no:
        yield f"and no {' or '.join(edge.then_no)} until the window ends"


def _filter(told: FilterTold) -> str:
    return f"FILTER {told.text}"


# SASE+


def components_picture(told: ComponentsTold, head: tuple[str, ...] = ()) -> Picture:
    """`head` stands above all: which query it is, where there are several."""
    moves = (_move(told, edge) for edge in told.edges)
    ends = (Step(state.number, (), True, (state.match,)) for state in told.states if state.match is not None)
    return Picture(
        notes=(*head, *notes_of(told)),
        states={state.number: tuple(_component_state_lines(told, state)) for state in told.states},
        steps=(*moves, *ends),
        absent=tuple(tuple(_absent_lines(told, component)) for component in told.components if component.negated),
    )


def _move(told: ComponentsTold, edge: ComponentEdge) -> Step:
    targets = tuple(number for number in (edge.target, edge.again) if number is not None)
    return Step(edge.source, targets, edge.match, tuple(_move_lines(told, edge)))


def _component_state_lines(told: ComponentsTold, state: ComponentState) -> Iterator[str]:
    yield f"state {state.number}"
    if state.inside is not None:
        yield f"in {state.inside}[]"
    waited = dict.fromkeys(edge.over for edge in told.edges if edge.source == state.number)
    yield f"waits for {' or '.join(waited)}"
    yield state.selection


def _move_lines(told: ComponentsTold, edge: ComponentEdge) -> Iterator[str]:
    component = next(each for each in told.components if each.variable == edge.over)
    yield f"{edge.role} {edge.over}"
    yield component.text
    if edge.source is not None and told.alike:
        yield f"with the same {', '.join(told.alike)}"
    yield from edge.conditions


def _absent_lines(told: ComponentsTold, component: ComponentTold) -> Iterator[str]:
    assert component.absence is not None
    yield component.absence
    if told.alike:
        yield f"with the same {', '.join(told.alike)}"
    yield from (condition.text for condition in component.conditions)
