"""EP-SPARQL: many solutions of one time are aggregated as columns, with the values that one by one has (EP-58)."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from thence.engines.temporal import summaries

pytestmark = pytest.mark.numba

NUMBERS = ("1", "2", "-7", "01", "0.5", "1.50", "9007199254740993", "99999999999999999999.1")
DOUBLES = ("1e0", "0.1e0", "0.2e0", "1e16", "1e-3", "1e300", '"NaN"^^xsd:double', '"0.1"^^xsd:float')
SINGLES = ("0.1", "1", "16777217", '"0.1"^^xsd:float', '"1e10"^^xsd:float')
OTHERS = ('"text"', '"1"', ":a", '"1"^^xsd:date', "true")
PREFIXES = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
QUERY = f"""{PREFIXES}
SELECT ?k ?half (COUNT(*) AS ?all) (COUNT(?v) AS ?count) (SUM(?v) AS ?sum) (AVG(?v) AS ?average) (MIN(?v) AS ?min)
  (MAX(?v) AS ?max) (SAMPLE(?v) AS ?sample) (COUNT(DISTINCT ?v) AS ?different) (SUM(DISTINCT ?v) AS ?once)
  (SUM(?v + 1) AS ?more) (MIN(DISTINCT ?v) AS ?least)
WHERE {{ ?k :of ?part OPTIONAL {{ ?part :value ?v }} }}
GROUP BY ?k (FLOOR(?v / 2) AS ?half)"""


@st.composite
def event_lists(draw: st.DrawFn) -> list[thence.Event]:
    kinds = draw(st.sampled_from([NUMBERS, NUMBERS[:4], NUMBERS + DOUBLES, SINGLES, NUMBERS + DOUBLES + OTHERS]))
    events = []
    for time in range(draw(st.integers(1, 3))):
        parts = []
        for number in range(draw(st.integers(0, 9))):
            key, value = draw(st.sampled_from("abc")), draw(st.sampled_from([*kinds, None]))
            parts.append(f":{key} :of :p{time}_{number} .")
            parts += [] if value is None else [f":p{time}_{number} :value {value} ."]
        header = "@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
        events.append(thence.Event(time - draw(st.integers(0, 1)), "\n".join([header, *parts]), end=time))
    return events


def rows(events: list[thence.Event], many: int) -> list[tuple[object, ...]]:
    with patch.object(summaries, "_MANY", many):
        found = thence.parse(QUERY, language="ep-sparql").match(events)
        return sorted((m.start, m.end, *sorted((n, str(t)) for n, t in m.bindings.items())) for m in found)


@given(event_lists())
def test_columns_have_the_values_of_one_by_one(events: list[thence.Event]) -> None:
    assert rows(events, 1) == rows(events, 10**9)
