"""A description as a drawing: an SVG document that stands alone, for light and dark pages, without a script.

Read it from left to right: the input, boxes and the arrows between them, and at the right what is emitted. The query's
text is untrusted: it is folded, cut to a fixed length and escaped; the tooltip has the whole of what is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

from thence.program.description import Arrow, Description
from thence.view.layout import CHARACTER, LINE, MARGIN, PADDING, Layout, Placed, TextBox, folded, layout, wide

_START, _END = "start", "match"
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


@dataclass(frozen=True, slots=True)
class _Part:
    """A description in its place on the page."""

    notes: tuple[str, ...]
    top: float
    plan: Layout
    below: Layout

    @property
    def width(self) -> float:
        longest = max(map(wide, self.notes), default=0) * CHARACTER + 2 * MARGIN
        return max(self.plan.width, self.below.width, longest)

    @property
    def bottom(self) -> float:
        return self.below.height if self.below.boxes else self.plan.height


def drawing(*descriptions: Description) -> str:
    """The SVG document, in which descriptions stand below each other."""
    parts: list[_Part] = []
    for description in descriptions:
        parts.append(_part(description, parts[-1].bottom + MARGIN if parts else 0))
    return "\n".join(_document(parts))


def _part(description: Description, top: float) -> _Part:
    notes = tuple(line for note in description.notes for line in folded(note, _LONGEST_NOTE))
    under = top + MARGIN + LINE * len(notes) + (MARGIN if notes else 0)
    plan = layout(_boxes(description), _links(description), top=under)
    return _Part(notes, top, plan, layout(_absent(description), (), top=plan.height))


def _document(parts: list[_Part]) -> Iterator[str]:
    width, height = max(part.width for part in parts), parts[-1].bottom
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    yield "<title>How the query is run</title>"
    yield f"<style>\n{_STYLE}\n</style>"
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
    )
    yield f'<rect class="page" width="{width:.0f}" height="{height:.0f}"/>'
    for part in parts:
        yield from _content(part)
    yield "</svg>"


def _content(part: _Part) -> Iterator[str]:
    for number, note in enumerate(part.notes):
        yield _text(note, MARGIN, part.top + MARGIN + LINE * number + 12)
    yield from (f'<path class="line" marker-end="url(#tip)" d="{path}"/>' for path in part.plan.paths)
    for placed in (*part.plan.boxes, *part.below.boxes):
        yield from _drawn(placed)


def _drawn(placed: Placed) -> Iterator[str]:
    box = placed.box
    corner = placed.height / 2 if box.kind in (_START, _END) else 6
    yield "<g>"
    yield "<title>" + _escaped("\n".join(box.lines)) + "</title>"
    yield (
        f'<rect class="{box.kind}" x="{placed.x:.1f}" y="{placed.y:.1f}" width="{placed.width:.1f}" '
        f'height="{placed.height:.1f}" rx="{corner:.1f}"/>'
    )
    for number, (line, is_first) in enumerate(box.drawn):
        y = placed.y + PADDING + LINE * number + 12
        yield _text(line, placed.x + PADDING, y, "first" if is_first else "")
    yield "</g>"


def _text(text: str, x: float, y: float, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """As XML holds it; what XML can't hold at all is shown as lost."""
    return escape(_NOT_XML.sub("\ufffd", text), {'"': "&quot;", "'": "&apos;"})


def _boxes(description: Description) -> Iterator[TextBox]:
    layers = _layers(description)
    step = 2 if any(arrow.lines for arrow in description.arrows) else 1  # the boxes of arrows stand in between
    yield TextBox(_START, _START, 0, (description.start,))
    for box in description.boxes:
        yield TextBox(_box_name(box.number), "state", step * layers[box.number], box.lines or (box.label,))
    # what only leads back stands below the others: its line goes along the bottom, and so crosses none of theirs
    for number, arrow in sorted(enumerate(description.arrows), key=lambda each: _leads_back(each[1], layers)):
        if arrow.lines:
            yield TextBox(f"edge {number}", "edge", step * layers[arrow.source] + 1, arrow.lines)
    yield TextBox(_END, _END, step * max(layers.values()) + step, (description.end,))


def _leads_back(arrow: Arrow, layers: Mapping[int | None, int]) -> bool:
    return not arrow.emits and all(layers[target] <= layers[arrow.source] for target in arrow.targets)


def _links(description: Description) -> Iterator[tuple[str, str]]:
    for number, arrow in enumerate(description.arrows):
        source = _START if arrow.source is None else _box_name(arrow.source)
        if arrow.lines:
            name = f"edge {number}"
            yield source, name
            source = name
        yield from ((source, _box_name(target)) for target in dict.fromkeys(arrow.targets))
        if arrow.emits:
            yield source, _END


def _box_name(number: int) -> str:
    return f"state {number}"


def _layers(description: Description) -> dict[int | None, int]:
    """The layers that boxes have, else how many arrows lead to a box at least; None is the start."""
    layers: dict[int | None, int] = {None: 0}
    layers |= {box.number: box.layer for box in description.boxes if box.layer is not None}
    reached: list[int | None] = [None]
    for source in reached:
        for target in (target for arrow in description.arrows if arrow.source == source for target in arrow.targets):
            if target not in layers:
                layers[target] = layers[source] + 1
                reached.append(target)
    for box in description.boxes:
        layers.setdefault(box.number, 1)  # one that nothing leads to is shown, too
    return layers


def _absent(description: Description) -> list[TextBox]:
    """What must be absent, in a row below all."""
    return [TextBox(f"no {number}", "negation", number, lines) for number, lines in enumerate(description.absent)]
