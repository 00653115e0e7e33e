"""`thence demo`: the shipped example, read, matched and drawn by the same code that a user calls."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest
from click.testing import CliRunner

from thence.cli import main
from thence.cli.demo import DEMOS, EXAMPLES
from thence.cli.run import NOTICE, compile_notice
from thence.query.languages import LANGUAGES

CHECKED_OUT = Path(__file__).parents[2] / "examples"


def test_the_demo_shows_houses_fares_and_owners() -> None:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["demo", "--engine", "local"])
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.stdout.splitlines() if "│" in line]
    assert rows == [
        ["2024-05-06T07:00:00Z", "2024-05-06T07:08:00Z", "h:H1", "24", "18", "h:H2", '"Lyon"', '"Ada"'],
        ["2024-05-06T07:00:00Z", "2024-05-06T07:08:00Z", "h:H1", "24", "18", "h:H5", '"Lyon"', '"Ada"'],
        ["2024-05-06T07:25:00Z", "2024-05-06T07:29:00Z", "h:H3", "28", "26.5", "h:H4", '"Paris"', '"Ben"'],
        ["2024-05-06T08:40:00Z", "2024-05-06T09:10:00Z", "h:H3", "27.5", "27.0", "h:H4", '"Paris"', '"Ben"'],
        ["2024-05-06T09:30:00Z", "2024-05-06T09:32:00Z", "h:H3", "26", "11", "h:H4", '"Paris"', '"Ben"'],
    ]
    assert "37 events, 5 matches, 0 bad, 0 late\n" in result.stderr


def test_the_demo_of_stocks_shows_rises_and_falls() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "stocks", "--engine", "local"])
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines() if "│" in line]
    morning, later = "2024-05-06T09:{}:00Z", "2024-05-06T{}:00Z"
    assert rows == [
        [morning.format(30), morning.format(40), "ACME", "price=100 volume=1200", "price=104 volume=700"],
        ["", "", "", "price=102 volume=1000", ""],
        ["", "", "", "price=103 volume=985", ""],
        [morning.format(41), later.format("10:41"), "BETA", "price=50 volume=2500", "price=40 volume=100"],
        ["", "", "", "price=51 volume=2450", ""],
        [morning.format(45), later.format("10:41"), "BETA", "price=51 volume=2450", "price=40 volume=100"],
        [later.format("11:10"), later.format("11:20"), "GAMA", "price=22 volume=1500", "price=23 volume=1100"],
    ]
    assert "15 events, 4 matches, 0 bad, 0 late\n" in result.stderr


def test_the_demo_of_a_tsunami_shows_the_readings_that_differ_from_the_prediction() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "tsunami", "--engine", "local"])
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines() if "│" in line]
    assert rows == [
        [f"2024-05-06T{start}:00Z", f"2024-05-06T{end}:00Z", '"North"', height, predicted]
        for start, end, height, predicted in (
            ("07:55", "11:05", "5825300", "5825239"),
            ("08:00", "11:10", "5825318", "5825269"),
            ("08:10", "11:20", "5825211", "5825304"),
            ("08:15", "11:25", "5825202", "5825242"),
        )
    ]
    assert "134 events, 4 matches, 0 bad, 0 late\n" in result.stderr


def test_the_demo_of_a_city_shows_garages_with_places_where_cars_hardly_move() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "city", "--engine", "local"])
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines() if "│" in line]
    assert rows == [
        [*[f"2024-05-06T{time}:00Z"] * 2, f'"{district}"', garage, free]
        for time, district, garage, free in (
            ("07:30", "Centre", ":townhall", "22"),
            ("07:30", "Centre", ":cinema", "52"),
            ("07:30", "Station", ":north", "12"),
            ("07:40", "Centre", ":cinema", "33"),
        )
    ]
    assert "61 events, 4 matches, 0 bad, 0 late\n" in result.stderr


def test_the_demo_of_viewers_shows_how_many_watched_each_show() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "viewers", "--engine", "local"])
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines() if "│" in line]
    assert rows == [
        [*[f"2024-05-06T{time}:00Z"] * 2, show, maximum, average]
        for time, show, maximum, average in (
            ("20:20", ":Heidi", "3", "2.5"),
            ("20:32", ":News", "2", "1.5"),
            ("20:42", ":Tatort", "3", f"1.4{'3' * 33}"),
        )
    ]
    assert "16 events, 3 matches, 0 bad, 0 late\n" in result.stderr


def test_in_eighty_columns_the_common_date_stands_above_the_table() -> None:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["demo", "--engine", "local"])
    date, _, headings, _, first, *_ = result.stdout.splitlines()
    assert date.strip() == "2024-05-06"
    assert headings.startswith("┃ start     ┃ end       ┃ ?house ┃")
    assert first.startswith("│ 07:00:00Z │ 07:08:00Z │ h:H1   │")
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_list_has_a_demo_for_each_language() -> None:
    result = CliRunner().invoke(main, ["demo", "--list"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(DEMOS)
    assert all(any(language.title in line for line in lines) for language in LANGUAGES)
    assert all(line.endswith("?") for line in lines)


def test_the_query_of_a_demo_can_be_read() -> None:
    result = CliRunner().invoke(main, ["demo", "stocks", "--query"])
    assert result.stdout == (CHECKED_OUT / "stocks.sase").read_text(encoding="utf-8")


def test_a_demo_says_what_it_asks_and_what_to_try_next() -> None:
    result = CliRunner().invoke(main, ["demo", "stocks", "--engine", "local"])
    first, *_, query, others = result.stderr.splitlines()
    asks = "Where did a price rise until the volume plummeted?"
    assert first == f"{asks} A query in SASE+ over a table, in one process."
    assert query.endswith("demo stocks --query")
    assert others.endswith("demo --list")


@pytest.mark.parametrize(
    ("name", "cure"), [("smartgird", "thence demo smartgrid"), ("Viewer", "thence demo viewers"), ("x", "--list")]
)
def test_an_unknown_demo_is_an_error_with_the_nearest_name(name: str, cure: str) -> None:
    result = CliRunner().invoke(main, ["demo", name])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"There is no demo {name}: it is smartgrid, stocks, tsunami, city or viewers. Try: " in result.stderr
    assert result.stderr.endswith(f"{cure}\n")


def test_without_java_a_demo_runs_in_one_process_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    result = CliRunner().invoke(main, ["demo", "stocks"])
    assert result.exit_code == 0
    assert "BETA" in result.stdout
    assert result.stderr.startswith("Spark needs Java: JAVA_HOME is /nowhere, where there is no bin/java. So this runs")
    assert "in one process.\n" in result.stderr


SHIPPED = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_what_stands_in_the_examples(name: str) -> None:
    assert (EXAMPLES / name).read_bytes() == (CHECKED_OUT / name).read_bytes()


def test_the_user_is_told_once_that_code_is_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    with compile_notice():
        numba.njit(cache=False)(lambda number: number + 1)(1)
        numba.njit(cache=False)(lambda number: number + 2)(1)
    numba.njit(cache=False)(lambda number: number + 3)(1)
    assert capsys.readouterr().err == f"{NOTICE}\n"
