"""A description as a drawing: boxes in columns, as an SVG document or a Mermaid diagram."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import combining, east_asian_width
from xml.sax.saxutils import escape

from thence.explain.description import Arrow, Description

# Where the boxes of a diagram are: columns from left to right, and lines that cross none of them.
#
# The boxes of a column are as wide as its widest. A line to the next column is a curve in the gap between them; any
# other is a detour: down the gap behind its source, along a lane below all boxes, and up the gap before its target. In
# a gap, each detour has a track of its own; lines that have no gap in common may share a lane.

CHARACTER = 7.25  # the width of one in a 12 px monospaced font
LINE = 17
PADDING = 11
MARGIN = 20
_GAP = 64  # between columns, at least
_BETWEEN = 18  # between boxes of a column
_LANE = 12
_TRACK = 6  # between the detours of a gap
_BESIDE = 12  # between a box and the first of them
LONGEST = 48  # characters of a line in a box
_MOST = 3  # lines that a longer one is folded into


@dataclass(frozen=True, slots=True)
class TextBox:
    """Lines of text, in a column. `kind` says how it is drawn."""

    name: str
    kind: str
    column: int
    lines: tuple[str, ...]

    @property
    def drawn(self) -> tuple[tuple[str, bool], ...]:
        """The lines as there is room for them, each with whether it is part of the first."""
        return tuple((part, number == 0) for number, line in enumerate(self.lines) for part in folded(line, LONGEST))


@dataclass(frozen=True, slots=True)
class Placed:
    box: TextBox
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes in their places, the paths of the lines between them (as SVG writes paths), and the size of it all."""

    boxes: tuple[Placed, ...]
    paths: tuple[str, ...]
    width: float
    height: float


def layout(boxes: Iterable[TextBox], links: Iterable[tuple[str, str]], *, top: float = MARGIN) -> Layout:
    """Boxes in the order in which they come, each column centred.

    >>> placed = layout([TextBox("a", "", 0, ("first",)), TextBox("b", "", 1, ("second",))], [("a", "b")]).boxes
    >>> placed[0].x + placed[0].width < placed[1].x, placed[0].middle == placed[1].middle
    (True, True)
    """
    columns: dict[int, list[TextBox]] = {}
    for box in boxes:
        columns.setdefault(box.column, []).append(box)
    order = {column: position for position, column in enumerate(sorted(columns))}
    where = {box.name: order[box.column] for column in columns.values() for box in column}
    given = list(links)
    detours = _detours([(source, target) for source, target in given if where[target] != where[source] + 1], where)
    tallest = max((_height(column) for column in columns.values()), default=0)
    placed: dict[str, Placed] = {}
    x: float = MARGIN
    for number in sorted(columns):
        width = max(wide(line) for box in columns[number] for line, _ in box.drawn) * CHARACTER + 2 * PADDING
        y = top + (tallest - _height(columns[number])) / 2
        for box in columns[number]:
            placed[box.name] = Placed(box, x, y, width, _box_height(box))
            y += _box_height(box) + _BETWEEN
        x += width + _gap(detours, order[number])
    bottom = top + tallest
    paths = [
        _detour(placed[source], placed[target], detours[source, target], bottom)
        if (source, target) in detours
        else _curve(placed[source], placed[target])
        for source, target in given
    ]
    if detours:
        bottom += (max(each.lane for each in detours.values()) + 1) * _LANE
    return Layout(tuple(placed.values()), tuple(paths), x - _GAP + MARGIN, bottom + MARGIN)


def folded(line: str, longest: int) -> list[str]:
    """A line as several, where it is too long; the last of them ends in … where even these have no room for it.

    >>> folded("FILTER ?a < ?b && ?c > 1", 14)
    ['FILTER ?a < ?b', '  && ?c > 1']
    """
    if len(line) <= longest:
        return [line]
    beginning = line[: longest * (_MOST + 1)]  # of a hostile one
    return textwrap.wrap(beginning, longest, subsequent_indent="  ", max_lines=_MOST, placeholder="…")


def wide(text: str) -> int:
    """The width of a text, in characters.

    >>> wide("abc"), wide("価格")
    (3, 4)
    """
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _height(column: list[TextBox]) -> float:
    return sum(map(_box_height, column)) + _BETWEEN * (len(column) - 1)


def _box_height(box: TextBox) -> float:
    return len(box.drawn) * LINE + 2 * PADDING


@dataclass(frozen=True, slots=True)
class _Detour:
    """A line that skips columns or leads back. It runs from the gap `behind` its source column, along a `lane`, to the
    gap `before` its target column. `leaves` and `arrives` are its tracks in these gaps, counted from the boxes; lanes
    count from 1, at the top."""

    behind: int
    before: int
    lane: int
    leaves: int = 0
    arrives: int = 0

    @property
    def leads_back(self) -> bool:
        return self.before < self.behind


def _detours(links: Sequence[tuple[str, str]], where: Mapping[str, int]) -> dict[tuple[str, str], _Detour]:
    """Short detours have the upper lanes, and tracks are such that few of them cross."""
    found: dict[tuple[str, str], _Detour] = {}
    lanes: list[list[tuple[int, int]]] = []
    for link in sorted(dict.fromkeys(links), key=lambda link: abs(where[link[1]] - where[link[0]])):
        behind, before = where[link[0]], where[link[1]] - 1
        first, last = min(behind, before), max(behind, before)
        free = (n for n, taken in enumerate(lanes) if all(last < start or end < first for start, end in taken))
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((first, last))
        found[link] = _Detour(behind, before, lane + 1)
    return _with_tracks(found)


def _with_tracks(detours: Mapping[tuple[str, str], _Detour]) -> dict[tuple[str, str], _Detour]:
    """Detours with their tracks in a gap: of those that lead on, the lowest is nearest to the boxes; of those that lead
    back, it is farthest."""

    def nearness(link: tuple[str, str]) -> tuple[bool, int]:
        each = detours[link]
        return each.leads_back, each.lane if each.leads_back else -each.lane

    leaving, arriving = Counter[int](), Counter[int]()
    found = {}
    for link in sorted(detours, key=nearness):
        each = detours[link]
        found[link] = replace(each, leaves=leaving[each.behind], arrives=arriving[each.before])
        leaving[each.behind] += 1
        arriving[each.before] += 1
    return found


def _gap(detours: Mapping[tuple[str, str], _Detour], position: int) -> float:
    """The width of the gap after a column."""
    tracks = sum((each.behind == position) + (each.before == position) for each in detours.values())
    return _GAP + max(0, tracks - 2) * _TRACK


def _curve(source: Placed, target: Placed) -> str:
    x, end = source.x + source.width, target.x
    half = (x + end) / 2
    return (
        f"M{x:.1f} {source.middle:.1f} "
        f"C{half:.1f} {source.middle:.1f} {half:.1f} {target.middle:.1f} {end:.1f} {target.middle:.1f}"
    )


def _detour(source: Placed, target: Placed, detour: _Detour, bottom: float) -> str:
    x, end = source.x + source.width, target.x
    leaves, arrives = source.middle + source.height / 4, target.middle + target.height / 4
    down, up = x + _BESIDE + detour.leaves * _TRACK, end - _BESIDE - detour.arrives * _TRACK
    lane = bottom + detour.lane * _LANE
    return f"M{x:.1f} {leaves:.1f} H{down:.1f} V{lane:.1f} H{up:.1f} V{arrives:.1f} H{end:.1f}"


# A description as a Mermaid state diagram, as Markdown on many sites draws it.

_HEAD = ("stateDiagram-v2", "    direction LR")
_OUTSIDE = "[*]"  # where a diagram begins and ends
_SPECIAL = re.compile('[":;#<>\\x00-\\x1f\\x7f]')


def state_diagram(description: Description) -> str:
    """The text of a diagram."""
    return "\n".join((*_HEAD, *_lines(description, prefix="s")))


def nested_diagram(titled: Iterable[tuple[str, Description]]) -> str:
    """The text of one diagram that has each description as a state, under its title."""
    return "\n".join((*_HEAD, *(line for number, each in enumerate(titled, 1) for line in _nested(number, *each))))


def _nested(number: int, title: str, description: Description) -> Iterator[str]:
    yield f'    state "{_escaped(title)}" as stage{number} {{'
    yield from (f"    {line}" for line in _lines(description, prefix=f"stage{number}s"))
    yield "    }"


def _lines(description: Description, *, prefix: str) -> Iterator[str]:
    """Boxes are named by their numbers after a prefix, which distinguishes the boxes of several diagrams."""
    for box in description.boxes:
        yield f'    state "{_escaped(box.label or box.title)}" as {prefix}{box.number}'
    for arrow in description.arrows:
        source = _OUTSIDE if arrow.source is None else f"{prefix}{arrow.source}"
        label = arrow.label or arrow.title
        labels = [(f"{prefix}{number}", label) for number in arrow.targets]
        labels += [(_OUTSIDE, ", ".join(filter(None, (label, arrow.unless))))] * arrow.emits
        yield from (f"    {source} --> {target}{f': {_escaped(each)}' * bool(each)}" for target, each in labels)


def _escaped(text: str) -> str:
    """A text inside a label: characters that would end it become Mermaid's entity codes.

    >>> _escaped('no "a;b"')
    'no #34;a#59;b#34;'
    """
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", text)


# A description as a drawing: an SVG document that stands alone, for light and dark pages, without a script.
#
# Read it from left to right: the input, boxes and the arrows between them, and at the right what is emitted. The
# query's text is untrusted: it is folded, cut to a fixed length and escaped; the tooltip has the whole of what is cut.

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
    """The SVG document, in which descriptions are below each other."""
    parts: list[_Part] = []
    for description in descriptions:
        parts.append(_part(description, parts[-1].bottom + MARGIN if parts else 0))
    return "\n".join(_document(parts))


def _part(description: Description, top: float) -> _Part:
    notes = tuple(line for note in description.clauses for line in folded(note, _LONGEST_NOTE))
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
    yield "<title>" + _escaped_xml("\n".join(box.lines)) + "</title>"
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
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}>{_escaped_xml(text)}</text>'


def _escaped_xml(text: str) -> str:
    """A text inside XML; characters that XML can't hold are replaced."""
    return escape(_NOT_XML.sub("\ufffd", text), {'"': "&quot;", "'": "&apos;"})


def _boxes(description: Description) -> Iterator[TextBox]:
    layers = _layers(description)
    step = 2 if any(arrow.title for arrow in description.arrows) else 1  # the boxes of arrows are in between
    yield TextBox(_START, _START, 0, (description.start,))
    for box in description.boxes:
        yield TextBox(_box_name(box.number), "state", step * layers[box.number], box.lines)
    # what only leads back is below the others: its line goes along the bottom, and so crosses none of theirs
    for number, arrow in sorted(enumerate(description.arrows), key=lambda each: _leads_back(each[1], layers)):
        if arrow.title:
            yield TextBox(f"edge {number}", "edge", step * layers[arrow.source] + 1, arrow.lines)
    yield TextBox(_END, _END, step * max(layers.values()) + step, (description.end,))


def _leads_back(arrow: Arrow, layers: Mapping[int | None, int]) -> bool:
    return not arrow.emits and all(layers[target] <= layers[arrow.source] for target in arrow.targets)


def _links(description: Description) -> Iterator[tuple[str, str]]:
    for number, arrow in enumerate(description.arrows):
        source = _START if arrow.source is None else _box_name(arrow.source)
        if arrow.title:
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
    """Negations, in a row below all."""
    return [TextBox(f"no {number}", "negation", number, each.lines) for number, each in enumerate(description.absent)]
