"""The queries of the EP-SPARQL paper, as corrected, and its two applications, on their example data: rows worked out by
hand, at once, pushed one by one, and on the command line.

`EXAMPLES` is the list; the tests on Spark run it too.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from support.ep_sparql_files import EXAMPLES, FOLDER, Example
from thence.cli import main
from thence.cli.result_formats import writer
from thence.io.event_files import read_events
from thence.runtime.results import Match

pytestmark = pytest.mark.numba


SHARES = FOLDER / "ep_sparql" / "shares.epsparql"
SHARE_PRICES = FOLDER / "ep_sparql" / "shares.csv"
SHARES_RULE = "CONSTRUCT ?company owl:isA VolatileShare"


@pytest.fixture(params=EXAMPLES)
def given(request: pytest.FixtureRequest) -> Example:
    return EXAMPLES[request.param]


def written(query: thence.Query, found: Any) -> list[Any]:
    """Matches as `--format jsonl --events` writes them."""
    file = io.StringIO()
    lines = writer("jsonl", file, query, events=not query.constructs)
    for match in found:
        assert isinstance(match, Match)
        lines.write(match)
    lines.end()
    return [json.loads(line) for line in file.getvalue().splitlines()]


def ids(match: object) -> str:
    assert isinstance(match, Match)
    return " ".join(id.rpartition("/")[2] for id in match.event_ids)


@pytest.mark.parametrize("optimise", [True, False])
def test_the_rows_are_those_worked_out_by_hand(given: Example, optimise: bool) -> None:
    query = thence.parse(given.query)
    found = list(query.match(given.stream, background=given.background, optimise=optimise))
    assert tuple(map(ids, found)) == given.rows
    assert written(query, found) == given.expected


def test_pushing_the_events_one_by_one_gives_them_too(given: Example) -> None:
    query = thence.parse(given.query)
    engine = query.engine(background=given.background)
    found: list[Any] = []
    for event in read_events(given.stream):
        assert isinstance(event, thence.Event)
        found += engine.push(event)
    found += engine.close()
    assert engine.counts.late == 0
    assert written(query, found) == given.expected


def test_the_command_line_prints_them(given: Example) -> None:
    call = ["run", str(given.query), "--stream", str(given.stream), "--format", "jsonl", "--engine", "local"]
    call += [] if thence.parse(given.query).constructs else ["--events"]
    call += [] if given.background is None else ["--background", str(given.background)]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == given.expected
    assert "0 bad, 0 late" in result.stderr


def test_what_downrated_reads_may_be_what_ratings_derives() -> None:
    """EP-46: one text with the rule (4) and the query (2)."""
    rule, query = (EXAMPLES[name].query.read_text(encoding="utf-8") for name in ("ratings", "downrated"))
    both = thence.parse(rule + query[query.index("SELECT") :])
    fall = [("2024-05-05T16:00:00Z", 100), ("2024-05-06T16:00:00Z", 40)]
    prices = [thence.Event(time, {"type": "Price", "subject": "ACME", "hasStockPrice": price}) for time, price in fall]
    found = written(both, both.match([EXAMPLES["ratings"].stream, prices]))
    assert [(row["start"], row["bindings"]["ratingagency"]["value"]) for row in found] == [
        (f"2024-05-0{day}T09:00:00Z", "http://example.org/Fitch") for day in (1, 1, 3)
    ]


@pytest.mark.parametrize(
    ("form", "each_day"), [("SELECT ?company", 100), ("SELECT DISTINCT ?company", 10), (SHARES_RULE, 10)]
)
def test_volatile_shares_are_derived_as_often_as_section_5_3_counts(form: str, each_day: int) -> None:
    """1000 rows, 100 distinct ones (EP-5), 100 occurrences (EP-3): as many on each of the days 21 to 30."""
    text = SHARES.read_text(encoding="utf-8")
    assert SHARES_RULE in text
    found = list(thence.parse(text.replace(SHARES_RULE, form)).match(SHARE_PRICES))
    days = Counter(match.end.day for match in found if isinstance(match, Match) and not isinstance(match.end, int))
    assert days == dict.fromkeys(range(21, 31), each_day)
