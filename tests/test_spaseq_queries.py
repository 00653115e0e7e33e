"""Queries 1 to 6 of the SPAseQ paper, corrected, on their example data: matches worked out by hand, on every path."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from thence.cli import main
from thence.cli.result_formats import writer
from thence.io.event_files import read_events
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

EXAMPLES = Path(__file__).parent.parent / "examples"

# the events of each match, in the order of the pattern
MATCHES = {
    "smartgrid": ["p1 w2 w3 s1", "p1 w2 w3 s1", "p5 w6 s3", "p10 w13 s8", "p12 w15 s10"],
    "fraud": ["t1 t2", "t1 t2 t3", "t14 t15", "t17 t19", "t17 t19 t20", "t24 t25", "t24 t25 t26", "t24 t25 t26 t27"],
    "shoulders": ["h1 h2 h3 h4 h5 h6 h7", "h23 h24 h25 h26 h27 h28 h29"],
    "vshape": [
        *("e1 e2 e3", "e7 e8 e9", "e10 e11 e12", "e15 e16 e17"),
        *("e19 e20 e22", "e19 e21 e22", "e23 e24 e25", "e25 e26 e27"),
    ],
    "traffic": ["a1 b3 c3", "a4 b6 c6", "a4 b6 c6b", "a5 b8 c8", "a6 b9 c9", "a6 b11 c11"],
    "vessels": ["b1 b2 b3 b4", "b20 b21 b22 b23", "b25 b26 b27 b28", "b26 b27 b28"],
}


def files(name: str) -> dict[str, Path]:
    """The events of each of a query's streams."""
    streams = thence.parse(EXAMPLES / f"{name}.spaseq").streams
    if len(streams) > 1:
        return {stream: EXAMPLES / f"{name}-{stream}.trig" for stream in streams}
    (path,) = (path for ending in ("trig", "nq") if (path := EXAMPLES / f"{name}.{ending}").exists())
    return {streams[0]: path}


def background(name: str) -> Path | None:
    path = EXAMPLES / f"{name}.ttl"
    return path if path.exists() else None


def expected(name: str) -> list[Any]:
    return [json.loads(line) for line in (EXAMPLES / f"{name}.expected.jsonl").read_text().splitlines()]


def written(query: thence.Query, found: Any) -> list[Any]:
    """Matches as `--format jsonl --events` writes them."""
    file = io.StringIO()
    lines = writer("jsonl", file, query, events=True)
    for match in found:
        assert isinstance(match, Match)
        lines.write(match)
    return [json.loads(line) for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("name", MATCHES)
def test_the_matches_are_those_worked_out_by_hand(name: str) -> None:
    query = thence.parse(EXAMPLES / f"{name}.spaseq")
    found = [match for match in query.match(files(name), background=background(name)) if isinstance(match, Match)]
    assert [" ".join(id.rpartition("/")[2] for id in match.event_ids) for match in found] == MATCHES[name]
    assert written(query, found) == expected(name)


@pytest.mark.parametrize("name", MATCHES)
def test_the_matches_are_the_same_without_optimisation(name: str) -> None:
    query = thence.parse(EXAMPLES / f"{name}.spaseq")
    found = query.match(files(name), background=background(name), optimise=False)
    assert written(query, found) == expected(name)


@pytest.mark.parametrize("name", MATCHES)
def test_the_command_line_prints_them(name: str) -> None:
    streams = [part for stream, path in files(name).items() for part in ("--stream", f"{stream}={path}")]
    known = [] if (path := background(name)) is None else ["--background", str(path)]
    here = ["--format", "jsonl", "--events", "--engine", "local"]
    call = ["run", str(EXAMPLES / f"{name}.spaseq"), *streams, *known, *here]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == expected(name)
    assert "0 bad, 0 late" in result.stderr


@pytest.mark.parametrize("name", MATCHES)
def test_pushing_the_events_one_by_one_gives_them_too(name: str) -> None:
    query = thence.parse(EXAMPLES / f"{name}.spaseq")
    events = [
        (stream, event)
        for stream, path in files(name).items()
        for event in read_events(path)
        if isinstance(event, thence.Event)
    ]
    engine = query.engine(background=background(name))
    found: list[Any] = []
    for stream, event in sorted(events, key=lambda pushed: pushed[1].end):
        found += engine.push(stream, event)
    found += engine.close()
    assert engine.counts.late == 0
    assert written(query, found) == expected(name)
