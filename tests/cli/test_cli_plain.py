"""SASE+ gives plain values, sequences and composites: every format tells them so that they can be read back."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from thence.cli.result_formats import ROWS, writer
from thence.interface.solutions import AnswerValue, Row
from thence.rdf.terms import XSD, Literal
from thence.rdf.times import Domain
from thence.runtime.results import Match

QUERY = thence.parse(
    "PATTERN SEQ(A+ a[], B b) WITHIN 9 RETURN a[].x, b.(x, y) AS pair, a[].(x, y) AS pairs, b.x AS end"
)

texts = st.builds(Literal, st.text(st.characters(exclude_categories=["Cs"]), max_size=9))
integers = st.builds(lambda number: Literal(str(number), XSD + "integer"), st.integers())
decimals = st.builds(
    lambda text: Literal(text, XSD + "decimal"),
    st.from_regex(r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]+)", fullmatch=True),
)
booleans = st.builds(lambda text: Literal(text, XSD + "boolean"), st.sampled_from(["true", "false", "1", "0"]))
values = st.none() | texts | integers | decimals | booleans
pairs = st.fixed_dictionaries({"x": values, "y": values})
rows = st.fixed_dictionaries(
    {
        "a[].x": st.lists(values, min_size=1, max_size=3).map(tuple),
        "pair": pairs,
        "pairs": st.lists(pairs, min_size=1, max_size=3).map(tuple),
    },
    optional={"end": texts | integers},
)


def written(format: str, bound: dict[str, Any]) -> str:
    file = io.StringIO(newline="")
    lines = writer(format, file, QUERY)
    lines.begin()
    lines.write(Match.of(Row(9, 1, 2, (), (), None, 0, bound=bound), Domain.TICKS))
    lines.end()
    return file.getvalue()


def plain(cell: AnswerValue | None) -> Any:
    """What JSON, read with decimals, gives for a cell."""
    match cell:
        case tuple():
            return [plain(each) for each in cell]
        case dict():
            return {name: plain(each) for name, each in cell.items()}
        case Literal(datatype=datatype, value=value):
            number = datatype.removeprefix(XSD) in ("integer", "decimal")
            return Decimal(value) if number else value in ("true", "1") if datatype == XSD + "boolean" else value
    return None


def read(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


@given(rows)
def test_a_line_of_json_has_the_values_exactly(bound: dict[str, Any]) -> None:
    shown = read(written("jsonl", bound))
    assert shown == {"start": 1, "end": 2, "bindings": {name: plain(cell) for name, cell in bound.items()}}


@given(rows)
def test_csv_has_sequences_and_composites_as_json(bound: dict[str, Any]) -> None:
    names, row = csv.reader(io.StringIO(written("csv", bound), newline=""))
    assert names == ["start", "end", "a[].x", "pair", "pairs", "end_"]
    assert [read(cell) for cell in row[2:5]] == [plain(bound[name]) for name in ("a[].x", "pair", "pairs")]
    assert row[5] == (bound["end"].value if "end" in bound else "")


@given(rows)
def test_tsv_has_them_too_each_in_a_field_of_its_own(bound: dict[str, Any]) -> None:
    _, line, rest = written("tsv", bound).split("\n")
    fields = line.split("\t")
    assert [read(cell) for cell in fields[2:5]] == [plain(bound[name]) for name in ("a[].x", "pair", "pairs")]
    assert (len(fields), rest) == (6, "")


@pytest.mark.parametrize("format", sorted(ROWS))
@given(rows)
def test_no_format_fails_on_what_is_missing_or_strange(format: str, bound: dict[str, Any]) -> None:
    assert written(format, bound)


def test_json_has_no_infinity_so_it_is_text() -> None:
    bound = {"end": Literal("INF", XSD + "double")}
    assert read(written("jsonl", bound))["bindings"] == {"end": "INF"}


def test_a_table_has_names_as_written_and_a_line_for_each_composite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    one, two = (Literal(digit, XSD + "integer") for digit in "12")
    pair = {"x": one, "y": None}
    bound = {
        "a[].x": (one, two),
        "pair": pair,
        "pairs": (pair, {"x": two, "y": Literal("so so")}),
        "end": Literal("ACME"),
    }
    lines = [line.replace("┃", "│") for line in written("table", bound).splitlines() if "│" in line or "┃" in line]
    assert [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines] == [
        ["start", "end", "a[].x", "pair", "pairs", "end_"],
        ["1", "2", "1, 2", "x=1 y=", "x=1 y=", "ACME"],
        ["", "", "", "", "x=2 y=so so", ""],
    ]
