"""How the command line tells of an error: one sentence on stderr, and the exit status that says whose fault it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner, Result

from thence import InputError, LimitError, QueryError, RdfError, ThenceError, __version__
from thence.cli import main
from thence.errors import Place


@pytest.fixture
def fails() -> Iterator[list[BaseException]]:
    """A command `fails` that raises what the test puts into the list."""
    errors: list[BaseException] = []

    @main.command()
    def fails() -> None:
        click.echo("before")
        raise errors[0]

    yield errors
    del main.commands["fails"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("There is no file power.trig."), 2),
        (QueryError("Nothing binds ?x."), 2),
        (RdfError("a background file is no Turtle"), 2),
        (LimitError("An event is larger than 16 MiB."), 1),
        (ThenceError("Something else."), 1),
    ],
)
def test_an_error_is_one_sentence_on_stderr_without_a_stack_trace(
    fails: list[BaseException], error: ThenceError, status: int
) -> None:
    fails.append(error)
    result = run("fails")
    assert result.exit_code == status
    assert result.stdout == "before\n"
    assert result.stderr == f"thence: {error}\n"


def test_an_error_in_a_query_shows_its_place_and_a_caret(fails: list[BaseException]) -> None:
    fails.append(
        QueryError('expected "}".', place=Place(1, 7, "q.rq"), line="{ ?s ?p ?o", hint='close the group with "}"')
    )
    assert run("fails").stderr == (
        'thence: q.rq:1:7: expected "}". Try: close the group with "}"\n{ ?s ?p ?o\n      ^\n'
    )


def test_debug_shows_the_stack_trace_and_keeps_the_exit_status(fails: list[BaseException]) -> None:
    fails.append(InputError("There is no file power.trig."))
    result = run("--debug", "fails")
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.endswith("thence: There is no file power.trig.\n")


def test_a_fault_of_our_own_is_told_without_a_stack_trace_too(fails: list[BaseException]) -> None:
    fails.append(KeyError("house"))
    result = run("fails")
    assert result.exit_code == 1
    assert result.stderr.startswith("thence: a bug in Thence, KeyError: 'house'.")
    assert "Traceback" not in result.stderr


def test_an_interrupt_ends_without_a_stack_trace(fails: list[BaseException]) -> None:
    fails.append(KeyboardInterrupt())
    result = run("fails")
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("call", [["no-such-command"], ["doctor", "--no-such-option"], ["demo", "no-such-demo"]])
def test_a_wrong_call_ends_with_status_2(call: list[str]) -> None:
    assert run(*call).exit_code == 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (["rn"], "No such command 'rn'. Did you mean 'run'?"),
        (["run", "q.sase"], "Missing option '--stream'. Try: --stream [NAME=]PATH"),
        (["run", "q.sase", "--formt", "csv"], "No such option: --formt. Try: --format or --report or --time-format"),
        (["check"], "Missing argument 'QUERY'. Try: thence check --help"),
        (
            ["run", "q.sase", "--stream", "x", "--engine", "lcal"],
            "Invalid value for '--engine': 'lcal' is not one of 'auto', 'spark', 'local'. Try: thence run --help",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence_with_a_cure(call: list[str], sentence: str) -> None:
    """BAD-9"""
    assert run(*call).stderr == f"thence: {sentence}\n"


def test_the_version_is_the_packages_own() -> None:
    assert run("--version").stdout == f"thence, version {__version__}\n"


def test_a_reader_that_closes_the_pipe_early_hears_no_complaint() -> None:
    ours = subprocess.Popen(
        [sys.executable, "-m", "thence", "demo", "--engine", "local"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert ours.stdout is not None
    assert ours.stderr is not None
    ours.stdout.close()
    complaint = ours.stderr.read()
    ours.stderr.close()
    ours.wait(timeout=60)
    assert b"Traceback" not in complaint
    assert b"thence:" not in complaint


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'pyspark', 'pandas', 'pyarrow', 'numpy', 'numba', 'pyoxigraph', 'lark', 'rich'}"
    code = f"import sys, thence.cli; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded == "[]\n"
