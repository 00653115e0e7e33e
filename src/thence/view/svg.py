"""An automaton as a drawing: an SVG document that stands alone, for light and dark pages, without a script.

Reading from left to right: where runs wait, what takes them on, where they wait then, and at the right the match. The
query's text is anybody's: it is cut to a sensible length, and escaped; what is cut stands whole in the tooltip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

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


@dataclass(frozen=True, slots=True)
class Step:
    """An edge: the state that it leaves (None: it begins a run), those that it leads to, whether it completes a match,
    and the lines of its box."""

    source: int | None
    targets: tuple[int, ...]
    match: bool
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """An automaton to be drawn: notes above it, one a line; the lines of each state's box, by its number; and those of
    what must be absent, below."""

    notes: tuple[str, ...]
    states: Mapping[int, tuple[str, ...]]
    steps: tuple[Step, ...]
    absent: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A picture in its place on the page."""

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


def drawing(*pictures: Picture) -> str:
    """The SVG document, in which pictures stand below each other."""
    parts: list[_Part] = []
    for picture in pictures:
        parts.append(_part(picture, parts[-1].bottom + MARGIN if parts else 0))
    return "\n".join(_document(parts))


def _part(picture: Picture, top: float) -> _Part:
    notes = tuple(shown(note, _LONGEST_NOTE) for note in picture.notes)
    under = top + MARGIN + LINE * len(notes) + (MARGIN if notes else 0)
    plan = layout(_boxes(picture), _links(picture), top=under)
    return _Part(notes, top, plan, layout(_absent(picture), (), top=plan.height))


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


def _boxes(picture: Picture) -> Iterator[Box]:
    layers = _layers(picture)
    last = 2 * max(layers.values()) + 2
    yield Box(_START, _START, 0, ("a run begins",))
    for number, lines in picture.states.items():
        yield Box(_state_name(number), "state", 2 * layers[number], lines)
    # what only leads back stands below the others: its line goes along the bottom, and so crosses none of theirs
    for number, step in sorted(enumerate(picture.steps), key=lambda each: _leads_back(each[1], layers)):
        yield Box(f"edge {number}", "edge", 2 * layers[step.source] + 1, step.lines)
    yield Box(_MATCH, _MATCH, last, ("match",))


def _leads_back(step: Step, layers: Mapping[int | None, int]) -> bool:
    return not step.match and all(layers[target] <= layers[step.source] for target in step.targets)


def _links(picture: Picture) -> Iterator[tuple[str, str]]:
    for number, step in enumerate(picture.steps):
        name = f"edge {number}"
        yield (_START if step.source is None else _state_name(step.source)), name
        yield from ((name, _state_name(target)) for target in dict.fromkeys(step.targets))
        if step.match:
            yield name, _MATCH


def _state_name(number: int) -> str:
    return f"state {number}"


def _layers(picture: Picture) -> dict[int | None, int]:
    """How many steps it takes at least to come to a state; None is the start."""
    layers: dict[int | None, int] = {None: 0}
    reached: list[int | None] = [None]
    for source in reached:
        for target in (target for step in picture.steps if step.source == source for target in step.targets):
            if target not in layers:
                layers[target] = layers[source] + 1
                reached.append(target)
    for number in picture.states:
        layers.setdefault(number, 1)  # one that nothing leads to is shown, too
    return layers


def _absent(picture: Picture) -> list[Box]:
    """What must be absent, in a row below all."""
    return [Box(f"no {number}", "negation", number, lines) for number, lines in enumerate(picture.absent)]
