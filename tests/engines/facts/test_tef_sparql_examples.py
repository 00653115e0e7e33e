"""TEF-SPARQL's examples: the programs of Sections 3.2 and 5.1 to 5.3 of the paper, as corrected. Rows at once, pushed
one by one, and on the command line; those of prices and viewers also by plain arithmetic.

`EXAMPLES` is the list; the tests on Spark may run it too.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from support.tef_sparql_files import EXAMPLES, Example
from support.tef_sparql_listings import CACHE
from thence.cli import main
from thence.cli.result_formats import writer
from thence.io.event_files import read_events
from thence.runtime.results import Match

pytestmark = pytest.mark.numba


@pytest.fixture(params=EXAMPLES)
def given(request: pytest.FixtureRequest) -> Example:
    return EXAMPLES[request.param]


def written(query: thence.Query, found: Iterable[object]) -> list[Any]:
    """Matches as `--format jsonl --events` writes them."""
    file = io.StringIO()
    lines = writer("jsonl", file, query, events=True)
    for match in found:
        assert isinstance(match, Match)
        lines.write(match)
    lines.end()
    return [json.loads(line) for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("optimise", [True, False])
def test_the_rows_are_those_expected(given: Example, optimise: bool) -> None:
    query = thence.parse(given.query)
    assert query.language.name == "tef-sparql"
    assert [each for each in query.warnings if "for ever" not in each] == []  # TEF-77
    found = query.match(given.events, optimise=optimise, background=given.background)
    assert written(query, found) == given.expected


def test_pushing_the_events_one_by_one_gives_them_too(given: Example) -> None:
    query = thence.parse(given.query)
    engine = query.engine(background=given.background)
    found: list[Any] = []
    for event in read_events(given.events):
        assert isinstance(event, thence.Event)
        found += engine.push(event)
    found += engine.close()
    assert engine.counts.late == 0
    assert written(query, found) == given.expected


def test_the_command_line_prints_them(given: Example) -> None:
    call = [
        "run",
        str(given.query),
        "--format",
        "jsonl",
        "--events",
        "--engine",
        "local",
        "--stream",
        str(given.events),
    ]
    call += [] if given.background is None else ["--background", str(given.background)]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.stderr
    assert [json.loads(line) for line in result.stdout.splitlines()] == given.expected
    assert "0 bad, 0 late" in result.stderr


def test_a_home_that_is_not_left_has_no_end() -> None:
    """TEF-74: before Bach's death his last home is open."""
    given = EXAMPLES["bach"]
    query = thence.parse(given.query)
    *living, _ = read_events(given.events)
    expected = [*given.expected[:-1], given.expected[-1] | {"end": None}]
    assert written(query, query.match(living)) == expected


def test_the_cache_as_printed_has_a_fact_during_a_fact_and_is_refused() -> None:
    """Section 5.1: TEF-13 admits SINCE and TILL as arms alone."""
    with pytest.raises(thence.QueryError, match="SINCE is not allowed beside DURING"):
        thence.parse(CACHE, language="tef-sparql")


def test_viewers_are_averaged_from_the_start_of_the_show_to_its_end() -> None:
    """Two viewers from 0, a show from 10 to 20, a third viewer at 15: at most 3, on average 2.5."""
    given = EXAMPLES["viewers"]
    triples = [(0, "Ann joins SRF"), (0, "Bob joins SRF"), (10, "SRF starts Heidi"), (15, "Dan joins SRF")]
    triples += [(20, "SRF finishes Heidi")]
    happened = []
    for minute, words in triples:
        graph = " ".join(f"<http://example.org/{word}>" for word in words.split()) + " ."
        happened.append(thence.Event(f"2024-05-06T20:{minute:02}:00Z", graph))
    (row,) = written(thence.parse(given.query), thence.parse(given.query).match(happened, background=given.background))
    bound = values(row)
    assert (row["end"], int(bound["Maximum"]), Fraction(bound["Average"])) == (
        "2024-05-06T20:20:00Z",
        3,
        Fraction(5, 2),
    )


def test_volatile_share_without_once_per_has_a_thousand_rows() -> None:
    """TEF-71, TEF-73."""
    given = EXAMPLES["volatile"]
    query = thence.parse(
        given.query.read_text(encoding="utf-8").replace("ONCE PER ?company", ""), language="tef-sparql"
    )
    assert sum(1 for _ in query.match(given.events)) == 1000


def test_the_averages_are_those_that_arithmetic_gives() -> None:
    """The mean of the prices that are at most ten days old, without the engine."""
    given = EXAMPLES["average"]
    prices: dict[str, list[tuple[int, int]]] = {}
    expected = []
    with given.events.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            today = int(row["time"][8:10])
            prices.setdefault(row["subject"], []).append((today, int(row["hasStockPrice"])))
            recent = [price for day, price in prices[row["subject"]] if today - day <= 10]
            expected.append((row["time"], row["subject"], Fraction(sum(recent), len(recent))))
    rows = [
        (row["end"], bound["Ticker"].rsplit("/")[-1], Fraction(bound["Average"]))
        for row, bound in ((row, values(row)) for row in given.expected)
    ]
    assert rows == expected


def test_the_numbers_of_viewers_are_those_that_counting_gives() -> None:
    """The greatest and the mean number over the minutes of each show, without the engine."""
    given = EXAMPLES["viewers"]
    happened = []
    for event in read_events(given.events):
        assert isinstance(event, thence.Event)
        ((subject, verb, object_),) = (
            tuple(term.value.rsplit("/")[-1] for term in (triple.subject, triple.predicate, triple.object))
            for triple in event.triples
        )
        happened.append((event.end, subject, verb, object_))
    expected = []
    for finished, channel, verb, show in happened:
        if verb != "finishes":
            continue
        started = next(time for time, *rest in happened if rest == [channel, "starts", show])
        minutes = range(started, finished, 60_000_000)
        counts = [
            sum(
                {"joins": 1, "leaves": -1}.get(what, 0)
                for time, _, what, where in happened
                if where == channel and time <= now
            )
            for now in minutes
        ]
        expected.append((show, max(counts), Fraction(sum(counts), len(counts))))
    rows = [values(row) for row in given.expected]
    assert [(row["Show"].rsplit("/")[-1], int(row["Maximum"])) for row in rows] == [each[:2] for each in expected]
    for row, (_, _, average) in zip(rows, expected, strict=True):
        assert abs(Fraction(Decimal(row["Average"])) - average) < Fraction(1, 10**30)


def values(row: Any) -> dict[str, str]:
    return {name: term["value"] for name, term in row["bindings"].items()}
