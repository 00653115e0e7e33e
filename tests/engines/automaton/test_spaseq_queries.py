"""Queries 1 to 6 of the SPAseQ paper, corrected, on their example data: matches worked out by hand, on every path."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from support.spaseq_files import EXAMPLES, MATCHES, background, expected, files
from thence.cli import main
from thence.cli.result_formats import writer
from thence.io.event_files import read_events
from thence.runtime.results import Match

pytestmark = pytest.mark.numba


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
