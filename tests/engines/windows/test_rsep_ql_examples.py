"""RSEP-QL's examples: Example 4 of the paper on the stream of Figure 1, under each policy, a city, and the social
network of Section 5. Rows worked out by hand, at once, pushed one by one, and on the command line.

`EXAMPLES` is the list; the tests on Spark may run it too.
"""

from __future__ import annotations

import csv
import heapq
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from support.rsep_ql_files import EXAMPLES, Example
from thence.algebra.rsep_ql import IdentityWindow, LandmarkWindow
from thence.cli import main
from thence.cli.result_formats import writer
from thence.io.event_files import read_events
from thence.runtime.results import Match

pytestmark = pytest.mark.numba


@pytest.fixture(params=EXAMPLES)
def given(request: pytest.FixtureRequest) -> Example:
    return EXAMPLES[request.param]


def written(query: thence.Query, found: Iterable[object]) -> list[Any]:
    """Matches as `--format jsonl --events` writes them."""
    file = io.StringIO()
    lines = writer("jsonl", file, query, events=True)
    for match in found:
        assert isinstance(match, Match)
        lines.write(match)
    lines.end()
    return [json.loads(line) for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("optimise", [True, False])
def test_the_rows_are_those_worked_out_by_hand(given: Example, optimise: bool) -> None:
    query = thence.parse(given.query)
    assert query.language.name == "rsep-ql"
    unbounded = [
        each for each in query.algebra.queries[0].windows if isinstance(each.function, LandmarkWindow | IdentityWindow)
    ]
    assert len(query.warnings) == len(unbounded) and all("for ever" in each for each in query.warnings)
    found = query.match(dict(given.streams), optimise=optimise, **given.options)
    assert written(query, found) == given.expected


def in_order(streams: Mapping[str, Path]) -> Iterator[tuple[str, thence.Event]]:
    """The events of all streams, by their ends."""

    def events(name: str) -> Iterator[tuple[int, str, thence.Event]]:
        for event in read_events(streams[name]):
            assert isinstance(event, thence.Event)
            yield event.end, name, event

    merged = heapq.merge(*map(events, streams), key=lambda each: each[0])
    return ((name, event) for _, name, event in merged)


def test_pushing_the_events_one_by_one_gives_them_too(given: Example) -> None:
    query = thence.parse(given.query)
    engine = query.engine(**given.options)
    found: list[Any] = []
    for name, event in in_order(given.streams):
        found += engine.push(name, event)
    found += engine.close()
    assert engine.counts.late == 0
    assert written(query, found) == given.expected


def test_the_command_line_prints_them(given: Example) -> None:
    call = ["run", str(given.query), "--format", "jsonl", "--events", "--engine", "local"]
    for name, path in given.streams.items():
        call += ["--stream", f"{name}={path}"]
    for graph, path in given.background.items():
        call += ["--background", f"{graph}={path}"]
    call += [] if given.policy is None else ["--policy", given.policy]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.stderr
    assert [json.loads(line) for line in result.stdout.splitlines()] == given.expected
    assert "0 bad, 0 late" in result.stderr


def test_example_4_without_a_preset_is_unrestricted() -> None:
    """RS-39."""
    example = EXAMPLES["example4-unrestricted"]
    query = thence.parse(example.query)
    assert written(query, query.match(dict(example.streams))) == example.expected


def test_c_sparql_is_the_preset_too() -> None:
    """RS-57: a bare SEQ is NAIVE under it."""
    example = EXAMPLES["example4-c-sparql"]
    bare = thence.parse(example.query.read_text(encoding="utf-8").replace("SEQ NAIVE", "SEQ"))
    assert written(bare, bare.match(dict(example.streams), policy="c-sparql")) == example.expected
    assert written(bare, bare.match(dict(example.streams))) != example.expected


def test_the_speeds_are_those_that_arithmetic_gives() -> None:
    """The average of (t - 15, t], every five minutes, where it has changed: without the engine."""
    example = EXAMPLES["city-speed"]
    readings: dict[str, list[tuple[int, int]]] = {}
    with example.streams["traffic"].open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            minutes = int(row["time"][11:13]) * 60 + int(row["time"][14:16])
            readings.setdefault(row["sensor"], []).append((minutes, int(row["speed"])))
    districts = {"T1": "Harbour", "T2": "Centre", "T3": "Station"}
    expected, previous = set(), dict[str, int]()
    for now in range(7 * 60, 8 * 60 + 1, 5):
        current = {}
        for sensor, listed in readings.items():
            window = [speed for minutes, speed in listed if now - 15 < minutes <= now]
            if window:  # ROUND rounds a half up
                current[districts[sensor]] = int(Fraction(sum(window), len(window)) / 10 + Fraction(1, 2)) * 10
        new = current.items() - previous.items()
        expected |= {(f"{now // 60:02}:{now % 60:02}", district, about) for district, about in new}
        previous = current
    rows = {
        (row["end"][11:16], row["bindings"]["district"]["value"], int(row["bindings"]["about"]["value"]))
        for row in example.expected
    }
    assert rows == expected
