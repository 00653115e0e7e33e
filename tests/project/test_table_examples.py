"""The jobs of examples/tables give the matches worked out by hand, in one process and from the command line."""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

import thence
from support.table_files import TABLES, TableJob, table_jobs
from thence.cli import main

JOBS = table_jobs()


@pytest.mark.parametrize("job", JOBS.values(), ids=list(JOBS))
def test_the_command_of_a_job_prints_its_matches(job: TableJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TABLES)
    done = CliRunner().invoke(main, [*job.command, "--engine", "local", "--format", "jsonl", "--events"])
    assert done.exit_code == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == job.expected


@pytest.mark.parametrize("job", JOBS.values(), ids=list(JOBS))
def test_a_job_gives_the_same_from_pandas_frames(job: TableJob) -> None:
    """Of a frame, ids are numbers of its rows; the values are the same."""
    pandas = pytest.importorskip("pandas")

    def frame(path: os.PathLike[str]) -> object:
        if str(path).endswith(".jsonl"):
            return pandas.read_json(path, lines=True, convert_dates=False)
        return pandas.read_csv(path)

    frames = {name: frame(path) for name, path in job.files.items()}
    found = thence.parse(job.query).match(frames if len(frames) > 1 else frames[""], **job.options)
    assert [_shown(each) for each in found] == [_numbers(each["bindings"]) for each in job.expected]


def _shown(match: thence.Match | thence.Problem) -> dict[str, object]:
    assert isinstance(match, thence.Match)
    return {name: _number(value.value) for name, value in match.bindings.items()}


def _numbers(cells: dict[str, object]) -> dict[str, object]:
    return {name: _number(cell) for name, cell in cells.items()}


def _number(cell: object) -> object:
    try:
        return float(str(cell))
    except ValueError:
        return cell
