"""Tsunami detection by examples/tsunami: the formula of Section 6 of the EP-SPARQL paper, computed without the engine,
on the project's own readings and, where they are present, on those of 11 March 2011."""

from __future__ import annotations

import importlib.util
import os
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

import thence
from thence.io.event_files import read_events
from thence.rdf.terms import Literal
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

ROOT = Path(__file__).parents[2]
TSUNAMI = ROOT / "examples" / "tsunami"
WEIGHTS = tuple(map(Fraction, ("1.16818457031250", "-0.28197558593750", "0.14689746093750", "-0.03310644531250")))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR, TEN_MINUTES = timedelta(hours=1), timedelta(minutes=10)

Reading = tuple[str, datetime]


def detected_by_formula(heights: dict[Reading, int]) -> set[Reading]:
    """The readings that differ by more than 30 mm from what four averages, an hour apart, predict."""
    averages: dict[Reading, Fraction] = {}
    for station, time in heights:
        window = [
            heights[other, earlier]
            for other, earlier in heights
            if other == station and timedelta(0) < time - earlier <= TEN_MINUTES
        ]
        if window:
            averages[station, time] = Fraction(sum(window), len(window))
    found = set()
    for (station, time), height in heights.items():
        four = [averages.get((station, time - number * HOUR)) for number in range(4)]
        terms = [weight * average for weight, average in zip(WEIGHTS, four, strict=True) if average is not None]
        if len(terms) == 4 and abs(height - sum(terms)) > 30:
            found.add((station, time))
    return found


def detected_by_query(events: list[thence.Event]) -> set[Reading]:
    found = set()
    for match in thence.parse(TSUNAMI / "tsunami.epsparql").match(events):
        assert isinstance(match, Match)
        assert isinstance(match.end, datetime)
        station = match.bindings["station"]
        assert isinstance(station, Literal)
        found.add((station.value, match.end))
    return found


def heights_of(events: list[thence.Event]) -> dict[Reading, int]:
    found = {}
    for event in events:
        values = {str(triple.predicate).rpartition("/")[2].rstrip(">"): triple.object.value for triple in event.triples}
        found[values["station"], EPOCH + timedelta(microseconds=event.end)] = int(values["height"])
    return found


def test_the_query_detects_what_the_formula_does() -> None:
    events = [event for event in read_events(TSUNAMI / "readings.csv") if isinstance(event, thence.Event)]
    found = detected_by_query(events)
    assert found == detected_by_formula(heights_of(events))
    assert len(found) == 4


def gauges() -> Path | None:
    folder = os.environ.get("THENCE_DATA")
    path = Path(folder) / "dart_tohoku2011" if folder else None
    return path if path and path.is_dir() else None


def script() -> ModuleType:
    """bench/tsunami.py, which reads the gauges' files and draws."""
    spec = importlib.util.spec_from_file_location("bench_tsunami", ROOT / "bench" / "tsunami.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(gauges() is None, reason="the gauges are not here: THENCE_DATA must name their folder")
def test_the_tsunami_of_2011_is_detected_and_nothing_before_the_earthquake() -> None:
    folder, bench = gauges(), script()
    assert folder is not None
    events = bench.readings(folder / "21413.txt")
    found = detected_by_query(events)
    assert found == detected_by_formula(heights_of(events))
    assert min(time for _, time in found) == bench.MIDNIGHT + timedelta(hours=5, minutes=53)


def test_the_plot_is_a_drawing_with_a_dot_for_each_detection() -> None:
    bench = script()
    record = bench.Record("g", (200, 201, 202), (5.0, 40.0, -31.0), frozenset({201, 202}))
    drawn = ElementTree.fromstring(bench.plot([record]))
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}circle"))) == 2


def test_the_plot_in_the_documents_is_a_drawing() -> None:
    ElementTree.parse(ROOT / "docs" / "tsunami.svg")
