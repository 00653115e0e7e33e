"""Tsunami detection (examples/tsunami) on the gauges that recorded the tsunami of 11 March 2011, with a plot.

Usage: THENCE_DATA=… python bench/tsunami.py [--plot docs/tsunami.svg]

Reads $THENCE_DATA/dart_tohoku2011: the height of the sea above four gauges of the NDBC off Japan. A gauge sends one
reading in 15 minutes, and one a minute once it has noticed an earthquake. The query needs a regular series, so that the
minutes in between are interpolated. (A gauge itself averages readings of every 15 seconds, which it does not send.)
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import thence

ROOT = Path(__file__).parent.parent
QUERY = ROOT / "examples" / "tsunami" / "tsunami.epsparql"
THRESHOLD = 30  # mm, as the query says
STATIONS = ("21418", "21401", "21413", "21419")
MIDNIGHT = datetime(2011, 3, 11, tzinfo=UTC)
FIRST, LAST = 0, 720  # minutes since midnight; the first predictions come 3 hours and 10 minutes later
QUAKE = 5 * 60 + 46  # 05:46 UTC


@dataclass(frozen=True, slots=True)
class Record:
    """A station: of each minute the reading minus its prediction, in mm, and the minutes at which the query detects."""

    station: str
    minutes: Sequence[int]
    differences: Sequence[float]
    detected: frozenset[int]


def readings(path: Path) -> list[thence.Event]:
    """A reading for each minute, in mm, of a file whose lines are in any order."""
    known: dict[int, float] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        *when, _, height = line.split()
        at = datetime(*map(int, when), tzinfo=UTC)  # type: ignore[arg-type, misc]
        if at.second == 0 and float(height) < 9999:  # 9999 is "no reading"
            known[round((at - MIDNIGHT) / timedelta(minutes=1))] = float(height)
    minutes = np.arange(max(FIRST, min(known)), min(LAST, max(known)) + 1)
    heights = np.interp(minutes, sorted(known), [known[minute] for minute in sorted(known)])
    return [
        thence.Event(
            MIDNIGHT + timedelta(minutes=int(minute)),
            {"type": "Reading", "station": path.stem, "height": round(height * 1000)},
        )
        for minute, height in zip(minutes, heights, strict=True)
    ]


def record(path: Path) -> Record:
    """The query as it is, and again with a threshold of 0, for the curve."""
    events, text = readings(path), QUERY.read_text(encoding="utf-8")
    assert f"> {THRESHOLD})" in text
    before = time.perf_counter()
    detected = frozenset(minute for minute, _ in differences(text, events))
    took = time.perf_counter() - before
    curve = sorted(differences(text.replace(f"> {THRESHOLD})", ">= 0)"), events))
    first = min(detected, default=0)
    print(f"{path.stem}: {len(events)} readings, {len(detected)} detections, the first at {clock(first)}, {took:.1f} s")
    return Record(path.stem, *zip(*curve, strict=True), detected)  # type: ignore[arg-type]


def differences(text: str, events: list[thence.Event]) -> Iterator[tuple[int, float]]:
    """The minute and the difference of each row."""
    for match in thence.parse(text).match(events):
        assert isinstance(match, thence.Match)
        assert isinstance(match.end, datetime)
        height, predicted = (float(match.bindings[name].value) for name in ("height", "predicted"))  # type: ignore[union-attr]
        yield round((match.end - MIDNIGHT) / timedelta(minutes=1)), height - predicted


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


WIDTH, HEIGHT, LEFT, TOP, GAP = 900, 120, 70, 40, 34
STYLE = """\
text { font: 12px sans-serif; fill: #1f2328; } .page { fill: #ffffff; } .frame { fill: none; stroke: #d0d7de; }
.curve { fill: none; stroke: #0969da; } .limit { stroke: #8c959f; stroke-dasharray: 3 3; } .quake { stroke: #8250df; }
.hit { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .page { fill: #0d1117; } .frame { stroke: #30363d; } .curve { stroke: #58a6ff; }
  .quake { stroke: #d2a8ff; } .hit { fill: #f85149; }
}"""


def plot(records: Sequence[Record]) -> str:
    """An SVG document: a panel for each station, detections as dots."""
    height = TOP + len(records) * (HEIGHT + GAP) + 20
    size = f'width="{WIDTH + LEFT + 20}" height="{height}" viewBox="0 0 {WIDTH + LEFT + 20} {height}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{STYLE}</style>"]
    lines += ['<rect class="page" width="100%" height="100%"/>']
    lines += [f'<text x="{LEFT}" y="20">Height of the sea minus its prediction, in mm, on 11 March 2011 (UTC)</text>']
    for number, each in enumerate(records):
        lines += panel(each, TOP + number * (HEIGHT + GAP))
    return "\n".join([*lines, "</svg>", ""])


def panel(each: Record, top: float) -> Iterator[str]:
    begin, end = FIRST + 190, LAST
    largest = max(map(abs, each.differences))

    def x(minute: float) -> float:
        return LEFT + (minute - begin) / (end - begin) * WIDTH

    def y(difference: float) -> float:
        return top + HEIGHT / 2 * (1 - difference / largest)

    yield f'<rect class="frame" x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}"/>'
    for limit in (THRESHOLD, -THRESHOLD):
        yield f'<line class="limit" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(limit):.1f}" y2="{y(limit):.1f}"/>'
    yield f'<line class="quake" x1="{x(QUAKE):.1f}" x2="{x(QUAKE):.1f}" y1="{top}" y2="{top + HEIGHT}"/>'
    points = " ".join(f"{x(m):.1f},{y(d):.1f}" for m, d in zip(each.minutes, each.differences, strict=True))
    yield f'<polyline class="curve" points="{points}"/>'
    for minute, difference in zip(each.minutes, each.differences, strict=True):
        if minute in each.detected:
            yield f'<circle class="hit" r="1.6" cx="{x(minute):.1f}" cy="{y(difference):.1f}"/>'
    first = min(each.detected, default=0)
    yield f'<text x="{LEFT + 6}" y="{top + 15}">gauge {each.station}: first detection {clock(first)}</text>'
    for difference in (largest, -largest):
        yield f'<text x="{LEFT - 6}" y="{y(difference) + 4:.1f}" text-anchor="end">{difference:+.0f}</text>'
    for hour in range(begin // 60 + 1, end // 60 + 1):
        yield f'<text x="{x(hour * 60):.1f}" y="{top + HEIGHT + 15}" text-anchor="middle">{clock(hour * 60)}</text>'
    yield f'<text x="{x(QUAKE) + 4:.1f}" y="{top + HEIGHT - 6}">earthquake</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="write the plot there")
    options = parser.parse_args()
    folder = Path(os.environ.get("THENCE_DATA", "")) / "dart_tohoku2011"
    if not folder.is_dir():
        print("The gauges' readings are not here: THENCE_DATA must name the folder that holds dart_tohoku2011.")
        return
    records = [record(folder / f"{station}.txt") for station in STATIONS]
    if options.plot:
        options.plot.write_text(plot(records), encoding="utf-8")


if __name__ == "__main__":
    main()
