"""`thence demo`: the shipped example, read, matched and drawn by the same code that a user calls."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest
from click.testing import CliRunner

from thence.cli import main
from thence.cli.compile_notice import NOTICE, compile_notice
from thence.cli.demo import EXAMPLES

CHECKED_OUT = Path(__file__).parent.parent / "examples"


def test_the_demo_shows_houses_fares_and_owners() -> None:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["demo"])
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.stdout.splitlines() if "│" in line]
    assert rows == [
        ["2024-05-06T07:00:00Z", "2024-05-06T07:08:00Z", "h:H1", "24", "18", "h:H2", '"Lyon"', '"Ada"'],
        ["2024-05-06T07:00:00Z", "2024-05-06T07:08:00Z", "h:H1", "24", "18", "h:H5", '"Lyon"', '"Ada"'],
        ["2024-05-06T07:25:00Z", "2024-05-06T07:29:00Z", "h:H3", "28", "26.5", "h:H4", '"Paris"', '"Ben"'],
        ["2024-05-06T08:40:00Z", "2024-05-06T09:10:00Z", "h:H3", "27.5", "27.0", "h:H4", '"Paris"', '"Ben"'],
        ["2024-05-06T09:30:00Z", "2024-05-06T09:32:00Z", "h:H3", "26", "11", "h:H4", '"Paris"', '"Ben"'],
    ]
    assert result.stdout.endswith("37 events, 5 matches, 0 bad, 0 late\n")


def test_the_demo_of_stocks_shows_rises_and_falls() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "stocks"])
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
    assert result.stdout.endswith("15 events, 4 matches, 0 bad, 0 late\n")


def test_the_demo_of_a_tsunami_shows_the_readings_that_differ_from_the_prediction() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "tsunami"])
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
    assert result.stdout.endswith("134 events, 4 matches, 0 bad, 0 late\n")


def test_the_demo_of_a_city_shows_garages_with_places_where_cars_hardly_move() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "city"])
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
    assert result.stdout.endswith("61 events, 4 matches, 0 bad, 0 late\n")


def test_the_demo_of_viewers_shows_how_many_watched_each_show() -> None:
    result = CliRunner(env={"COLUMNS": "110"}).invoke(main, ["demo", "viewers"])
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
    assert result.stdout.endswith("16 events, 3 matches, 0 bad, 0 late\n")


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
