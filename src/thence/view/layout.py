"""Where the boxes of a diagram stand: columns from left to right, and lines that cross none of them.

The boxes of a column are as wide as its widest. A line to the next column is a curve in the gap between them; any other
is a detour: down the gap behind its source, along a lane below all boxes, and up the gap before its target. In a gap,
each detour has a track of its own; lines that have no gap in common may share a lane.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import combining, east_asian_width

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
    """How many characters' places a text takes.

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
    """A line that does not lead to the next column: from the gap behind its source, along a lane, to the gap before its
    target. `leaves` and `arrives` are its tracks there, from the boxes on; lanes count from 1, at the top."""

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
    """Of the detours in a gap that lead on, the lowest is nearest to the boxes; of those that lead back, it is
    farthest."""

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
    """How wide the gap behind a column is."""
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
