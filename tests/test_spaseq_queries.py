"""The six queries of the SPAseQ paper, as corrected, on the data that ships with them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import thence
from thence.algebra.show import show
from thence.lang.spaseq import parse
from thence.rdf.terms import IRI, XSD_STRING, Literal
from thence.rdf.times import format_time

pytestmark = pytest.mark.numba

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.spaseq"))


def expected(name: str) -> list[dict[str, Any]]:
    """The matches that were worked out by hand."""
    return [json.loads(line) for line in (EXAMPLES / f"{name}.expected.jsonl").read_text(encoding="utf-8").splitlines()]


def streams(name: str) -> dict[str, Path]:
    paths = [path for ending in ("trig", "nq") for path in EXAMPLES.glob(f"{name}*.{ending}")]
    return {path.stem.partition("-")[2] or "S1": path for path in paths}


def found(name: str, *, optimise: bool = True) -> list[dict[str, Any]]:
    query = thence.parse(EXAMPLES / f"{name}.spaseq")
    background = EXAMPLES / f"{name}.ttl"
    rows = []
    for match in query.match(
        streams(name), background=background if background.exists() else None, problems=True, optimise=optimise
    ):
        assert isinstance(match, thence.Match), match
        start, end = (format_time(time, match.domain) for time in match.times)
        bindings = {variable: as_json(term) for variable, term in match.bindings.items()}
        events = [str(event.id) for event in match.events]
        rows.append({"start": start, "end": end, "bindings": bindings, "events": events})
    return rows


def as_json(term: object) -> dict[str, str]:
    match term:
        case IRI():
            return {"type": "uri", "value": term.value}
        case Literal():
            typed = {} if term.datatype == XSD_STRING else {"datatype": term.datatype}
            return {"type": "literal", "value": term.value} | typed
        case _:
            raise AssertionError(term)


def test_there_are_six() -> None:
    assert NAMES == ["fraud", "shoulders", "smartgrid", "traffic", "vessels", "vshape"]


@pytest.mark.parametrize("name", NAMES)
def test_a_query_gives_what_was_worked_out_by_hand(name: str) -> None:
    rows = found(name)
    assert [order(row) for row in rows] == [order(row) for row in expected(name)]
    assert bag(rows) == bag(expected(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_query_gives_the_same_without_optimisation(name: str) -> None:
    assert bag(found(name, optimise=False)) == bag(expected(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_query_has_no_warnings_and_reads_back(name: str) -> None:
    query = parse((EXAMPLES / f"{name}.spaseq").read_text(encoding="utf-8"), source=name)
    assert query.warnings == ()
    assert parse(show(query)) == query


def order(row: dict[str, Any]) -> tuple[str, str, list[str]]:
    """By this rows are ordered; the rows of one match come in any order."""
    return row["end"], row["start"], row["events"]


def bag(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)
