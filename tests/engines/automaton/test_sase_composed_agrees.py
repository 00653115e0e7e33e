"""SASE+ with UNION, FROM and IN STREAM: random texts of several queries give the rows of the definitions, in finite
streams, optimised or not, and pushed one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given

import thence
from oracle.sase import Row
from oracle.sase_composed import answers, columns, totals, written
from oracle.sase_composed_cases import Text, texts
from oracle.sase_query import Event
from strategies import examples
from strategies.event_order import sase_texts_in_order
from support.sase_composed import in_time, possible
from support.sase_runs import of_engine, plain, typed
from thence.rdf.events import DEFAULT_NAMESPACE, RDF_TYPE
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

Comparable = tuple[int, int, tuple[object, ...], tuple[object, ...]]
"""A row as both sides tell it: start, end, the events of each component, cells."""


@examples(0.4)  # each case is several queries, planned three times
@given(texts())
def test_rows_are_those_of_the_definitions_optimised_or_not_at_once_or_pushed(text: Text) -> None:
    query, names = possible(written(text.queries)), columns(text.queries)
    expected = answers(text.queries, text.given)
    assert set(query.columns) == set(names)
    found = [*query.match(inputs(text))]
    in_order([comparable_match(match, names) for match in found], expected, names)
    in_order([comparable_match(match, names) for match in query.match(inputs(text), optimise=False)], expected, names)
    pushed = push(query, text, expected, names)
    assert Counter(map(ids, pushed)) == Counter(map(ids, found))  # made events are called the same everywhere


def in_order(found: list[Comparable], expected: list[Row], names: Sequence[str]) -> None:
    """By certainty, then end and start."""
    assert Counter(found) == Counter(comparable(row, names) for row in expected)
    for _, group in groupby(expected, key=lambda row: (row.certain, row.end, row.start)):
        together = Counter(comparable(row, names) for row in group)
        assert Counter(found[: together.total()]) == together
        found = found[together.total() :]


def push(query: thence.Query, text: Text, expected: list[Row], names: Sequence[str]) -> list[object]:
    """All rows, of which each comes when it is certain."""
    engine, found = query.engine(), list[object]()
    latest = dict.fromkeys(text.given, -1)
    for time, stream, event in in_time(text):
        found += engine.push(stream, typed(event))
        latest[stream] = time
        so_far = Counter(comparable_match(match, names) for match in found)
        must = Counter(comparable(row, names) for row in expected if row.certain < min(latest.values()))
        assert must <= so_far <= Counter(comparable(row, names) for row in expected if row.certain <= time)
    found += engine.close()
    assert engine.counts.late == 0
    assert Counter(comparable_match(match, names) for match in found) == Counter(
        comparable(row, names) for row in expected
    )
    return found


@examples(0.15)
@given(texts(totals=True))
def test_totals_are_those_of_the_matches_one_by_one(text: Text) -> None:
    query, names = possible(written(text.queries)), columns(text.queries)
    expected = Counter(tuple(plain(dict(row).get(name)) for name in names) for row in totals(text.queries, text.given))
    found = query.match(inputs(text), optimise=False)
    assert Counter(comparable_match(match, names)[-1] for match in found) == expected
    found = query.match(inputs(text))
    assert Counter(comparable_match(match, names)[-1] for match in found) == expected


@pytest.mark.filterwarnings("ignore:No event of the stream")
@examples(0.3)
@given(sase_texts_in_order())
def test_queries_that_feed_each_other_give_the_rows_of_the_definitions(drawn: tuple[Text, tuple[str, ...]]) -> None:
    """Events that queries make have no values: they come first at their time."""
    text, order = drawn
    query, names = possible(written(text.queries)), columns(text.queries)
    expected = Counter(comparable(row, names) for row in answers(text.queries, text.given))
    assert Counter(comparable_match(match, names) for match in query.match(inputs(text), order=order)) == expected
    engine = query.engine(order=order)
    found = [row for _, stream, event in in_time(text) for row in engine.push(stream, typed(event))]
    assert Counter(comparable_match(match, names) for match in [*found, *engine.close()]) == expected


def inputs(text: Text) -> dict[str, list[thence.Event]]:
    return {name: [typed(event) for event in events] for name, events in text.given.items()}


def comparable(row: Row, names: Sequence[str]) -> Comparable:
    cells = dict(row.cells)
    events = tuple(tuple(map(_comparable_event, chosen)) for chosen in row.events)
    return row.start, row.end, events, tuple(plain(cells.get(name)) for name in names)


def _comparable_event(event: Event) -> object:
    """By its id, if it was given; an event that was made by all that it is."""
    if event.id.startswith(GIVEN):
        return event.id
    return event.time, event.type, frozenset((name, plain(value)) for name, value in event.attributes)


GIVEN = ("events ", "other ")


def comparable_match(match: object, names: Sequence[str]) -> Comparable:
    assert isinstance(match, Match)
    chosen = groupby(zip(match.places, match.events, strict=True), key=lambda pair: pair[0])
    events = tuple(tuple(_comparable_typed(event) for _, event in group) for _, group in chosen)
    cells = tuple(of_engine(match.bindings.get(name)) for name in names)
    return match.times[0], match.times[1], events, cells


def _comparable_typed(event: thence.Event) -> object:
    if event.id is not None and event.id.startswith(GIVEN):
        return event.id
    (kind,) = (_local(triple.object.value) for triple in event.triples if triple.predicate == RDF_TYPE)
    comparable = [triple for triple in event.triples if triple.predicate != RDF_TYPE]
    return event.end, kind, frozenset((_local(each.predicate.value), of_engine(each.object)) for each in comparable)


def _local(iri: str) -> str:
    return iri.removeprefix(DEFAULT_NAMESPACE)


def ids(match: object) -> tuple[object, ...]:
    assert isinstance(match, Match)
    return match.event_ids


def test_what_is_made_under_the_name_of_the_unnamed_stream_is_read_without_from() -> None:
    query = thence.parse("FROM T PATTERN A a RETURN (a.x AS x) AS B IN STREAM events; PATTERN B b RETURN b.x AS y")
    assert query.streams == ("T",)
    (match,) = query.match({"T": [thence.Event(1, {"type": "A", "x": 3})]})
    assert isinstance(match, Match) and match.bindings["y"].python == 3
