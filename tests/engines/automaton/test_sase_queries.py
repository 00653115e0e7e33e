"""Queries 1 to 5 of the SASE+ paper, as far as they can be had, on their example data: matches worked out by hand, from
typed events and from RDF, at once and pushed; and what the paper says of Figure 1 and of the longest rise."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pytest
from click.testing import CliRunner

import thence
from support.sase_files import EXAMPLES, MATCHES, Comparable, expected, stocks
from thence.cli import main
from thence.cli.text_tables import json_text
from thence.io.event_files import read_events
from thence.runtime.results import Match

pytestmark = pytest.mark.numba


DATA = [
    *(("badnews", "csv"), ("rise", "jsonl"), ("rise", "trig"), ("stocks", "csv"), ("stocks", "nq")),
    *(("detours", "jsonl"), ("detours", "trig"), ("couriers", "csv")),
]


def comparable(found: Iterable[Any]) -> list[Comparable]:
    return [(components(match), json.loads(json_text(match.bindings))) for match in found if isinstance(match, Match)]


def components(match: Match) -> str:
    """The ids of each component's events, without what stands before them in a file of RDF or a stream."""
    triples = [triple for event in match.events if (event.id or "").startswith("urn:") for triple in event.triples]
    objects = [triple.object.value for triple in triples if str(triple.predicate).endswith("object_id>")]
    chosen = zip(objects or match.event_ids, match.places, strict=True)
    by_place = groupby(chosen, key=lambda pair: pair[1])
    return ", ".join(" ".join(id.replace(":", "/").rpartition("/")[2] for id, _ in group) for _, group in by_place)


@pytest.mark.parametrize(("name", "ending"), DATA)
@pytest.mark.parametrize("optimise", [True, False])
def test_the_matches_are_those_worked_out_by_hand(name: str, ending: str, optimise: bool) -> None:
    query = thence.parse(EXAMPLES / f"{name}.sase")
    assert comparable(query.match(EXAMPLES / f"{name}.{ending}", optimise=optimise)) == MATCHES[name]


@pytest.mark.parametrize(("name", "ending"), DATA)
def test_pushing_the_events_one_by_one_gives_them_too(name: str, ending: str) -> None:
    engine = thence.parse(EXAMPLES / f"{name}.sase").engine()
    found: list[Any] = []
    for event in read_events(EXAMPLES / f"{name}.{ending}"):
        assert isinstance(event, thence.Event)
        found += engine.push(event)
    found += engine.close()
    assert engine.counts.late == 0
    assert comparable(found) == MATCHES[name]


@pytest.mark.parametrize("name", MATCHES)
def test_the_command_line_prints_them(name: str) -> None:
    ending = next(ending for known, ending in DATA if known == name)
    here = ["--format", "jsonl", "--events", "--engine", "local"]
    call = ["run", str(EXAMPLES / f"{name}.sase"), "--stream", str(EXAMPLES / f"{name}.{ending}"), *here]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == expected(name)
    assert "0 bad, 0 late" in result.stderr


def test_what_query_5_reads_is_query_4() -> None:
    detours, couriers = ((EXAMPLES / f"{name}.sase").read_text() for name in ("detours", "couriers"))
    listing = detours[detours.index("PATTERN") :].strip()
    assert f"{listing};" in couriers


def ids(query: str, events: list[thence.Event]) -> list[str]:
    return [components(match) for match in thence.parse(query).match(events) if isinstance(match, Match)]


# Figure 1 is lost but for its points. Prices of (a): 10 at Point 1, 20 at Point 2, and again 20 at Point 3.

RISE = """
    PATTERN SEQ(STOCK+ a[])
    WHERE skip_till_next_match(a[]{bang}) {{
        [symbol] ^ a[1].price = 10 ^ a[i].price {more} a[i-1].price ^ a[a.LEN].price = 20
    }}
    WITHIN 60
    RETURN a[].price"""
PRICES = [10, 13, 20, 17, 20]

# (b): the price rises on, and the volume plummets at Point 3 and at Point 4.
PLUMMET = """
    PATTERN SEQ(STOCK+ a[], STOCK b)
    WHERE skip_till_next_match(a[]{bang}, b) {{
        [symbol] ^ a[1].volume > 1000 ^ a[i].price > avg(a[..i-1].price) ^ b.volume < 80% * a[a.LEN].volume
    }}
    WITHIN 60
    RETURN a[].price, b.price"""
POINTS = stocks([10, 11, 12, 13, 14], [1200, 1000, 990, 700, 500])


def test_figure_1a_a_closure_that_may_end_at_point_2_goes_on_to_point_3() -> None:
    assert ids(RISE.format(bang="", more=">="), stocks(PRICES)) == ["1 2 3", "1 2 3 5"]


def test_figure_1a_with_a_bang_it_stops_at_point_2() -> None:
    assert ids(RISE.format(bang="!", more=">="), stocks(PRICES)) == ["1 2 3"]


def test_figure_1a_point_3_is_out_of_reach_where_each_price_must_exceed_the_last() -> None:
    # the paper's own condition: 20 is not above 20, so that "!" makes no difference
    assert ids(RISE.format(bang="", more=">"), stocks(PRICES)) == ["1 2 3"]


def test_figure_1b_a_closure_goes_on_after_the_next_component_matched() -> None:
    assert ids(PLUMMET.format(bang=""), POINTS) == [
        "1 2 3, 4",  # at Point 3 the volume falls from 990 to 700
        "1 2 3 4, 5",  # but its price rises as well; at Point 4 the volume falls to 500
    ]


def test_figure_1b_with_a_bang_it_stops_there() -> None:
    assert ids(PLUMMET.format(bang="!"), POINTS) == ["1 2 3, 4"]


LONGEST = """
    PATTERN SEQ(STOCK+ a[])
    WHERE {strategy}(a[]) {{ [symbol] ^ a[i].price > a[i-1].price ^ a.LEN >= 1 }}
    WITHIN 60
    RETURN a[].price"""


@pytest.mark.parametrize(
    ("strategy", "longest"),
    [("skip_till_any_match", [1, 2, 3, 4, 5, 6]), ("skip_till_next_match", [3, 4, 5, 6])],
)
def test_the_longest_rise_is_found_by_skipping_the_7_that_could_be_taken(strategy: str, longest: list[int]) -> None:
    found = thence.parse(LONGEST.format(strategy=strategy)).match(stocks([1, 2, 7, 3, 4, 5, 6]))
    rises = [cells["a[].price"] for _, cells in comparable(found)]
    assert max(rises, key=len) == longest
    assert ([1, 2, 7] in rises, [1, 2, 3, 4, 5, 6] in rises) == (True, strategy == "skip_till_any_match")
