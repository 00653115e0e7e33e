"""`thence demo`: the shipped example, read, matched and drawn by the same code that a user calls."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest
from click.testing import CliRunner

from thence.cli import main
from thence.cli.compiling import NOTICE, compilation_told
from thence.cli.demo import EXAMPLES, read


def test_the_demo_shows_every_event_and_the_answers_among_them() -> None:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["demo"])
    assert result.exit_code == 0
    events, _, answers = result.stdout.partition("Answers of power.rq")
    assert all(f"e:{number} " in events for number in range(1, 13))
    assert [line.split("│")[2].strip() for line in answers.splitlines() if "│" in line] == [
        "e:2",
        "e:5",
        "e:6",
        "e:9",
        "e:11",
    ]


def test_the_shipped_events_are_all_good() -> None:
    assert sum(len(batch) for batch in read(EXAMPLES / "power.trig")) == 12


def test_a_bad_event_is_told_on_stderr_and_the_others_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "power.trig"
    path.write_text(
        "@prefix : <http://example.org/> . @prefix prov: <http://www.w3.org/ns/prov#> .\n"
        ":e1 { :a :b :c . }\n"
        ":e2 { :a :b 1 . } :e2 prov:generatedAtTime 7 .\n"
    )
    assert sum(len(batch) for batch in read(path)) == 1
    told = capsys.readouterr().err
    assert told.startswith("power.trig:")
    assert "time" in told


def test_the_user_is_told_once_that_code_is_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    with compilation_told():
        numba.njit(cache=False)(lambda number: number + 1)(1)
        numba.njit(cache=False)(lambda number: number + 2)(1)
    numba.njit(cache=False)(lambda number: number + 3)(1)
    assert capsys.readouterr().err == f"{NOTICE}\n"
