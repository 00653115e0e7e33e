"""`--engine auto`: small finite files run in one process, all else on Spark, and a line says which and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.both_engines import thence_
from thence.cli import engine_choice
from thence.cli.engine_choice import choose_engine, text_size
from thence.cli.run import NOTICE

EXAMPLES = Path(__file__).parents[2] / "examples"
STOCKS = EXAMPLES / "stocks.csv"


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of 1,000 bytes are large."""
    monkeypatch.setattr(engine_choice, "SMALL", 1000)


@pytest.mark.parametrize("named", ["", "events=", "http://example.org/events="])
def test_small_files_run_in_one_process(named: str) -> None:
    choice = choose_engine("auto", [f"{named}{STOCKS}", f"{named}{EXAMPLES / 'badnews.csv'}"])
    assert (choice.spark, choice.line) == (False, "in one process: 2 files, 2 kB; --engine spark for Spark")


def test_the_command_says_which_and_prints_the_same() -> None:
    call = ("run", str(EXAMPLES / "stocks.sase"), "--stream", str(STOCKS), "--format", "csv")
    auto, local = thence_(*call), thence_(*call, "--engine", "local")
    assert (auto.exit_code, auto.stdout) == (0, local.stdout)
    line, counts = auto.stderr.replace(NOTICE + "\n", "").splitlines()
    assert line == "in one process: 1 file, 1 kB; --engine spark for Spark"
    assert local.stderr.splitlines()[-1] == counts


def test_an_error_of_the_call_stands_alone() -> None:
    told = thence_("run", str(EXAMPLES / "stocks.sase"), "--stream", "missing.csv")
    assert (told.exit_code, told.stderr) == (2, "thence: missing.csv: no such file\n")


@pytest.mark.usefixtures("limit")
def test_large_files_run_on_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_choice, "spark_lacks", lambda: None)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(b"x" * 600)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.csv").write_bytes(b"x" * 600)
    for given, line in ((tmp_path, "3 files, 2 kB"), (tmp_path / "*.csv", "2 files, 2 kB")):
        choice = choose_engine("auto", [f"S={given}"])
        assert (choice.spark, choice.line) == (True, f"on Spark: {line}; --engine local for one process")
    assert not choose_engine("auto", [f"S={tmp_path / 'a.csv'}"]).spark


def test_packed_files_count_as_what_they_unpack_to(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "a.parquet", "a.csv"):
        (tmp_path / name).write_bytes(b"x" * 100)
    sizes = [text_size([str(tmp_path / name)]) for name in ("a.csv.gz", "a.parquet", "a.csv", "none.csv")]
    assert sizes == [800, 400, 100, 0]


@pytest.mark.parametrize("option", ["--watch", "--checkpoint", "--shards"])
def test_what_only_spark_can_do_runs_there(option: str) -> None:
    assert choose_engine("auto", [str(STOCKS)], option) == engine_choice.Choice(True, f"on Spark: {option}")


def test_files_of_another_machine_are_for_spark() -> None:
    for given in ("s3a://bucket/day=1/x.parquet", "S=hdfs://host/x.parquet"):
        choice = choose_engine("auto", [given])
        assert choice.spark and choice.line.endswith("x.parquet is not on this machine")


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("library", ["pyspark", None])
def test_without_spark_large_files_run_in_one_process_and_it_says_why(
    library: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library is None:
        monkeypatch.setenv("JAVA_HOME", "/nowhere")
    else:
        monkeypatch.setattr(engine_choice, "missing_libraries", lambda: [library])
    choice = choose_engine("auto", [str(STOCKS)] * 2)
    why = (
        "Spark needs Java: JAVA_HOME is /nowhere, where there is no bin/java. For Spark: unset JAVA_HOME"
        if library is None
        else 'Spark needs pyspark: not installed. For Spark: pip install "thence[spark]"'
    )
    assert not choice.spark
    assert choice.line.startswith(f"in one process: 2 files, 2 kB. {why}")
    assert "\n" not in choice.line


@pytest.mark.parametrize("engine", ["spark", "local"])
def test_an_engine_that_was_asked_for_needs_no_line(engine: str) -> None:
    assert choose_engine(engine, [str(STOCKS)]) == engine_choice.Choice(engine == "spark")
