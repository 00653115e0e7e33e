"""`thence schema`: what a file holds, as queries see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.both_engines import thence_

pytestmark = pytest.mark.numba


def shown(name: str, text: str, *options: str) -> tuple[list[str], list[list[str]]]:
    """The lines before the table, and its cells."""
    Path(name).write_text(text)
    result = thence_("schema", name, *options)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    return [line for line in lines if line[0] not in "┏┃┡│└"], cells


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_columns_of_a_csv_file_have_the_types_that_queries_see() -> None:
    rows = [f"TX,{row},{row * 2},{row}.50,1e-05,00{row},{row % 2 == 0}," for row in range(1, 200)]
    rows[4] = "TX,5,10,n/a,NaN,x,false,"
    facts, cells = shown("tx.csv", "\n".join(["type,time,end,amount,rate,code,ok,empty", *rows, "TX,7"]))
    assert facts == [
        "tx.csv: 199 events",
        "time: column time, ticks, 1 to 398",
        "type: column type, TX (199)",
        "end: column end, 199 intervals",
        "id: STREAM:LINE, as no column is called id",
        "1 bad event, the first: line 201, 2 cells, where the first line has 8",
        '1 bad cell, the first: line 6, column "amount": "n/a" is not a number, and is read as null',
    ]
    assert cells == [
        ["end", "integer", "0", "2, 4, 6"],
        ["amount", "decimal(5, 2)", "1", "1.5, 2.5, 3.5"],
        ["rate", "double", "0", "1e-05, NaN"],
        ["code", "text", "0", "001, 002, 003"],
        ["ok", "boolean", "0", "false, true"],
        ["empty", "null", "199", ""],
    ]


def test_the_parts_of_events_are_the_columns_that_the_options_say() -> None:
    Path("tx.csv").write_text("tx,ts,amount\n1,01/05/2018,5\n2,02/05/2018,1e1\n")
    options = ("--column", "time=ts", "--column", "id=tx", "--time-format", "%d/%m/%Y")
    facts, cells = shown("tx.csv", Path("tx.csv").read_text(), *options)
    assert facts[1:] == [
        "time: column ts, dates, 2018-05-01T00:00:00Z to 2018-05-02T00:00:00Z",
        "type: none",
        "id: column tx",
    ]
    assert [row[:2] for row in cells] == [["tx", "integer"], ["ts", "text"], ["amount", "double"]]


def test_json_lines_show_the_types_that_were_seen() -> None:
    lines = ['{"type": "A", "time": "2024-05-06", "x": 1}', '{"type": "B", "time": "2024-05-07 01:00:00Z", "x": "y"}']
    facts, cells = shown("a.jsonl", "\n".join(lines))
    assert facts[1:3] == ["time: dates, 2024-05-07T01:00:00Z to 2024-05-07T01:00:00Z", "type: B (1)"]
    assert facts[3].startswith('1 bad event, the first: line 1, "2024-05-06" is not a time')
    assert cells == [["x", "text", "0", "y"]]


def test_graphs_show_their_predicates() -> None:
    graph = '{"time": 3, "graph": "<u:a> a <u:T> ; <u:p> 1, \'x\'@en ."}'
    facts, cells = shown("g.jsonl", graph + "\n" + '{"time": 5, "graph": "<u:a> <u:q> <u:b> ."}')
    assert facts == ["g.jsonl: 2 events", "time: ticks, 3 to 5", "type: u:T (1)"]
    assert cells == [
        ["<u:p>", "text with a language, integer", "1", "1, x"],
        ["<u:q>", "IRI", "1", "u:b"],
    ]


def test_a_file_that_can_not_be_read_is_a_sentence() -> None:
    result = thence_("schema", "nosuch.csv")
    assert (result.exit_code, result.stderr) == (2, "thence: nosuch.csv: no such file\n")


def test_a_table_without_a_column_called_time_is_shown_with_the_likely_one() -> None:
    Path("cards.csv").write_text("TX_DATETIME,amount\n2018-04-01 00:00:31,7\n")
    result = thence_("schema", "cards.csv")
    assert result.exit_code == 0, result.output
    assert "time: column TX_DATETIME, dates, 2018-04-01T00:00:31Z" in result.stdout
    assert "No column is called time. Try: --column time=TX_DATETIME" in result.stdout
    Path("beats.csv").write_text("seen,amount\n03/02/2024 10:00:00,7\n")
    result = thence_("schema", "beats.csv")
    assert "time: none. No column is called time. Try: --column time=…" in result.stdout
    assert "amount" in result.stdout and "integer" in result.stdout


def test_columns_are_shown_though_no_time_can_be_read() -> None:
    Path("logs.csv").write_text("when,n\n03/09/2024 08:00:42 PM,7\n")
    result = thence_("schema", "logs.csv")
    assert result.exit_code == 0, result.output
    assert "integer" in result.stdout and "Try: time_format='%m/%d/%Y %I:%M:%S %p'" in result.stdout.replace("\n", "")


def test_a_file_with_semicolons_is_told_from_one_column() -> None:
    Path("semi.csv").write_text("time;n\n1;7\n")
    result = thence_("schema", "semi.csv")
    assert result.exit_code == 2
    assert (
        result.stderr
        == "thence: semi.csv:1: cells are separated by commas, and these are by ';'. Try: commas in the file\n"
    )
