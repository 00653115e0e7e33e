"""Every code block of the documents runs, and prints what stands below it."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from thence.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WIDTH = "100"  # of the tables that the documents show


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str
    place: str


def blocks(document: Path) -> Iterator[Block]:
    text = document.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start()) + 2
        yield Block(fence[1], fence[2], f"{document.relative_to(ROOT)}:{line}")


def assert_printed(wanted: str, printed: str, place: str) -> None:
    checker = doctest.OutputChecker()
    assert checker.check_output(wanted, printed, LOOSELY), f"{place}: wanted\n{wanted}\nbut it printed\n{printed}"


def run_console(block: Block) -> None:
    """Run each line `$ thence …` and compare what it prints with the lines up to the next one."""
    calls = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    assert calls, f"{block.place}: a console block needs a line that begins with `$ `"
    for call in calls:
        line, _, wanted = call.partition("\n")
        command, *arguments = shlex.split(line)
        assert command == "thence", f"{block.place}: only `thence` is run here; install and make lines are `sh`"
        result = CliRunner(env={"COLUMNS": WIDTH}).invoke(main, arguments)
        assert_printed(wanted, result.stdout, block.place)


def run_python(block: Block, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, block.place, "exec"), names)
    return printed.getvalue()


def check_sh(block: Block) -> None:
    for line in block.text.splitlines():
        assert {"make", "pip", "git", "cd"} & set(line.split()), f"{block.place}: {line!r} is never run"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_every_block_of_the_document_runs(
    document: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(ROOT)
    if "SparkSession" in document.read_text(encoding="utf-8"):
        request.getfixturevalue("spark")
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(document):
        match block.language:
            case "python":
                printed = run_python(block, names)
            case "output":
                assert_printed(block.text, printed, block.place)
            case "console":
                run_console(block)
            case "sh":
                check_sh(block)
            case "text" | "mermaid":
                pass  # a drawing
            case language:
                pytest.fail(f"{block.place}: no way to run a block of {language!r}")


def test_the_readme_shows_the_two_commands() -> None:
    commands = [line.split("#")[0].strip() for block in blocks(ROOT / "README.md") for line in block.text.splitlines()]
    assert "make demo" in commands
    assert "make test" in commands


def test_a_block_that_prints_something_else_is_found() -> None:
    with pytest.raises(AssertionError, match=re.escape("here:1: wanted")):
        assert_printed("3 events\n", "4 events\n", "here:1")
