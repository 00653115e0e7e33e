"""Where the boxes of a diagram stand: columns from left to right, and lines that cross none of them.

The boxes of a column are as wide as its widest. A line to the next column is a curve in the gap between them; any other
goes down the gap, along a lane of its own below all boxes, and up the gap before its target.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

CHARACTER = 7.25  # the width of one in a 12 px monospaced font
LINE = 17
PADDING = 11
MARGIN = 20
_GAP = 64  # between columns
_BETWEEN = 18  # between boxes of a column
_LANE = 12
LONGEST = 48  # characters of a line in a box
_SPREAD = 5  # so many lines stand side by side in a gap before they share a place


@dataclass(frozen=True, slots=True)
class TextBox:
    """Lines of text, in a column. `kind` says how it is drawn."""

    name: str
    kind: str
    column: int
    lines: tuple[str, ...]


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
    tallest = max((_height(column) for column in columns.values()), default=0)
    placed: dict[str, Placed] = {}
    x: float = MARGIN
    for number in sorted(columns):
        width = max(wide(shown(line)) for box in columns[number] for line in box.lines) * CHARACTER + 2 * PADDING
        y = top + (tallest - _height(columns[number])) / 2
        for box in columns[number]:
            placed[box.name] = Placed(box, x, y, width, _box_height(box))
            y += _box_height(box) + _BETWEEN
        x += width + _GAP
    paths, lanes = _paths(placed, list(links), top + tallest)
    bottom = top + tallest + (lanes + 1) * _LANE if lanes else top + tallest
    return Layout(tuple(placed.values()), tuple(paths), x - _GAP + MARGIN, bottom + MARGIN)


def shown(line: str, longest: int = LONGEST) -> str:
    """As much of a line as a drawing has room for."""
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def wide(text: str) -> int:
    """How many characters' places a text takes.

    >>> wide("abc"), wide("価格")
    (3, 4)
    """
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _height(column: list[TextBox]) -> float:
    return sum(map(_box_height, column)) + _BETWEEN * (len(column) - 1)


def _box_height(box: TextBox) -> float:
    return len(box.lines) * LINE + 2 * PADDING


def _paths(placed: dict[str, Placed], links: list[tuple[str, str]], bottom: float) -> tuple[list[str], int]:
    paths = []
    lanes = 0
    for name, other in links:
        source, target = placed[name], placed[other]
        if target.box.column == source.box.column + 1:
            paths.append(_curve(source, target))
        else:
            lanes += 1
            paths.append(_detour(source, target, bottom + lanes * _LANE, aside=10 + lanes % _SPREAD * 5))
    return paths, lanes


def _curve(source: Placed, target: Placed) -> str:
    x, end = source.x + source.width, target.x
    half = (x + end) / 2
    return (
        f"M{x:.1f} {source.middle:.1f} "
        f"C{half:.1f} {source.middle:.1f} {half:.1f} {target.middle:.1f} {end:.1f} {target.middle:.1f}"
    )


def _detour(source: Placed, target: Placed, lane: float, *, aside: float) -> str:
    x, end = source.x + source.width, target.x
    leaves, arrives = source.middle + source.height / 4, target.middle + target.height / 4
    return f"M{x:.1f} {leaves:.1f} H{x + aside:.1f} V{lane:.1f} H{end - aside:.1f} V{arrives:.1f} H{end:.1f}"
