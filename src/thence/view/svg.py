"""An automaton as a drawing: an SVG document that stands alone, for light and dark pages, without a script.

Reading from left to right: where runs wait, what takes them on, where they wait then, and at the right the match. The
query's text is anybody's: it is cut to a sensible length, and escaped; what is cut stands whole in the tooltip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape

from thence.view.description import IN_THE_MATCH, Description, EdgeTold, FilterTold, StateTold
from thence.view.layout import CHARACTER, LINE, MARGIN, PADDING, Box, Layout, Placed, layout, shown, wide

_START, _MATCH = "start", "match"
_LONGEST_NOTE = 120
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE = """\
svg { color-scheme: light dark; }
.page { fill: #ffffff; } text { fill: #1f2328; font: 12px ui-monospace, Menlo, Consolas, monospace; white-space: pre; }
rect { stroke-width: 1.2; } .state { fill: #ddf4ff; stroke: #0969da; } .edge { fill: #f6f8fa; stroke: #8c959f; }
.start, .match { fill: #dafbe1; stroke: #1a7f37; } .negation { fill: #ffebe9; stroke: #cf222e; }
.line { fill: none; stroke: #57606a; stroke-width: 1.3; } .tip { fill: #57606a; } .first { font-weight: bold; }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117; } text { fill: #e6edf3; } .state { fill: #0c2d4d; stroke: #58a6ff; }
  .edge { fill: #161b22; stroke: #6e7681; } .start, .match { fill: #0f2f1a; stroke: #3fb950; }
  .negation { fill: #3c1618; stroke: #f85149; } .line { stroke: #9198a1; } .tip { fill: #9198a1; }
}"""


def drawing(description: Description, *, notes: tuple[str, ...] = ()) -> str:
    """The SVG document; the notes stand above the automaton, one a line."""
    top = MARGIN + LINE * len(notes) + (MARGIN if notes else 0)
    plan = layout(_boxes(description), _links(description), top=top)
    below = layout(_negations(description), (), top=plan.height)
    return "\n".join(_document(plan, below, notes))


def _document(plan: Layout, below: Layout, notes: tuple[str, ...]) -> Iterator[str]:
    notes = tuple(shown(note, _LONGEST_NOTE) for note in notes)
    longest = max(map(wide, notes), default=0) * CHARACTER + 2 * MARGIN
    width, height = max(plan.width, below.width, longest), below.height if below.boxes else plan.height
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    yield "<title>How the query is run</title>"
    yield f"<style>\n{_STYLE}\n</style>"
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
    )
    yield f'<rect class="page" width="{width:.0f}" height="{height:.0f}"/>'
    for number, note in enumerate(notes):
        yield _text(note, MARGIN, MARGIN + LINE * number + 12)
    yield from (f'<path class="line" marker-end="url(#tip)" d="{path}"/>' for path in plan.paths)
    for placed in (*plan.boxes, *below.boxes):
        yield from _drawn(placed)
    yield "</svg>"


def _drawn(placed: Placed) -> Iterator[str]:
    box = placed.box
    corner = placed.height / 2 if box.kind in (_START, _MATCH) else 6
    yield "<g>"
    yield "<title>" + _escaped("\n".join(box.lines)) + "</title>"
    yield (
        f'<rect class="{box.kind}" x="{placed.x:.1f}" y="{placed.y:.1f}" width="{placed.width:.1f}" '
        f'height="{placed.height:.1f}" rx="{corner:.1f}"/>'
    )
    for number, line in enumerate(box.lines):
        y = placed.y + PADDING + LINE * number + 12
        yield _text(shown(line), placed.x + PADDING, y, "first" if number == 0 else "")
    yield "</g>"


def _text(text: str, x: float, y: float, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """As XML holds it; what XML can't hold at all is shown as lost."""
    return escape(_NOT_XML.sub("\ufffd", text), {'"': "&quot;", "'": "&apos;"})


def _boxes(description: Description) -> Iterator[Box]:
    layers = _layers(description)
    last = 2 * max(layers.values()) + 2
    yield Box(_START, _START, 0, ("a run begins",))
    for state in description.states:
        yield Box(_state_name(state.number), "state", 2 * layers[state.number], tuple(_state_lines(state)))
    for number, edge in enumerate(description.edges):
        column = 2 * layers[edge.source] + 1
        yield Box(f"edge {number}", "edge", column, tuple(_edge_lines(description, edge)))
    yield Box(_MATCH, _MATCH, last, ("match",))


def _links(description: Description) -> Iterator[tuple[str, str]]:
    for number, edge in enumerate(description.edges):
        name = f"edge {number}"
        yield (_START if edge.source is None else _state_name(edge.source)), name
        for target in dict.fromkeys((edge.target, edge.again)):
            if target is not None:
                yield name, _state_name(target)
        if edge.match:
            yield name, _MATCH


def _state_name(number: int) -> str:
    return f"state {number}"


def _layers(description: Description) -> dict[int | None, int]:
    """How many steps it takes at least to come to a state; None is the start."""
    layers: dict[int | None, int] = {None: 0}
    reached: list[int | None] = [None]
    for source in reached:
        for edge in description.edges:
            for target in (edge.target, edge.again) if edge.source == source else ():
                if target is not None and target not in layers:
                    layers[target] = layers[source] + 1
                    reached.append(target)
    for state in description.states:
        layers.setdefault(state.number, 1)  # one that nothing leads to is shown, too
    return layers


def _state_lines(state: StateTold) -> Iterator[str]:
    yield _state_name(state.number)
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


def _negations(description: Description) -> list[Box]:
    """What must be absent, in a row below all."""
    return [
        Box(f"no {number}", "negation", number, (f"no {edge.over}", *list(_edge_lines(description, edge))[1:]))
        for number, edge in enumerate(description.negations)
    ]
