"""An automaton as a Mermaid state diagram."""

from __future__ import annotations

from collections.abc import Iterator

from thence.view.description import Description, EdgeTold

DIAGRAM = ("stateDiagram-v2", "    direction LR")
"""How every diagram of states begins."""


def state_diagram(description: Description) -> str:
    """The text of a diagram, as Markdown on many sites draws it."""
    return "\n".join(_lines(description))


def _lines(description: Description) -> Iterator[str]:
    yield from DIAGRAM
    for state in description.states:
        yield f'    state "waits for {" or ".join(state.waits_for)} by {state.selection}" as s{state.number}'
    for edge in description.edges:
        source = "[*]" if edge.source is None else f"s{edge.source}"
        for target in _targets(edge):
            yield f"    {source} --> {target}: {_label(edge, target)}"


def _targets(edge: EdgeTold) -> Iterator[str]:
    yield from (f"s{number}" for number in (edge.target, edge.again) if number is not None)
    if edge.match:
        yield "[*]"


def _label(edge: EdgeTold, target: str) -> str:
    guards = f", no {' or '.join(edge.between_no)} in between" if edge.between_no else ""
    absent = f", then no {' or '.join(edge.then_no)}" if edge.then_no and target == "[*]" else ""
    return f"{edge.over}{guards}{absent}"
