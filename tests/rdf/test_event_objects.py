"""Events from Python objects: graphs as text, as triples, as typed attributes; and what is refused."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from thence.errors import InputError, LimitError, RdfError
from thence.rdf.events import BadEvent, Event, typed_triples
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Triple
from thence.rdf.times import Domain

A, B, C = (IRI(f"http://example.org/{name}") for name in "abc")
TYPE = IRI(RDF + "type")
ABC = Triple(A, B, C)


def test_a_point_in_time_starts_and_ends_at_once() -> None:
    event = Event(7, [ABC])
    assert (event.start, event.end, event.domain, event.id) == (7, 7, Domain.TICKS, None)
    assert (event.triples, event.attributes) == ((ABC,), None)


def test_an_interval_has_an_end_and_an_event_an_id() -> None:
    event = Event("1970-01-01T00:00:01Z", "", end=datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC), id="e1")
    assert (event.start, event.end, event.domain, event.id) == (1_000_000, 2_000_000, Domain.DATETIME, "e1")


def test_turtle_and_n_triples_are_read() -> None:
    turtle = "@prefix : <http://example.org/> . :a :b :c ; :b 01 ."
    assert Event(1, turtle).triples == (ABC, Triple(A, B, Literal("01", XSD + "integer")))
    assert Event(1, f"{A} {B} {C} .").triples == (ABC,)


def test_a_graph_is_a_set_in_the_order_of_its_document() -> None:
    other = Triple(A, B, BlankNode("x"))
    assert Event(1, [ABC, other, (A, B, C), other]).triples == (ABC, other)


def test_anonymous_blank_nodes_are_named_the_same_each_time() -> None:
    text = "<http://example.org/a> <http://example.org/b> [ <http://example.org/b> ( 1 ) ] , _:b0 ."
    assert Event(1, text) == Event(1, text)
    assert {term.value for triple in Event(1, text).triples for term in triple if isinstance(term, BlankNode)} == {
        "anon0",
        "anon1",
        "b0",
    }


def test_events_are_compared_hashed_and_sent_to_workers_by_value() -> None:
    for event in (Event(1, [ABC]), Event(1, {"type": "Reading", "watts": 3})):
        assert pickle.loads(pickle.dumps(event)) == event
        assert hash(pickle.loads(pickle.dumps(event))) == hash(event)
    assert Event(1, [ABC]) != Event(2, [ABC])


def test_an_event_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        Event(1, [ABC]).start = 2  # type: ignore[misc]


def test_a_typed_event_is_rdf_too() -> None:
    attributes = {
        "type": "Reading",
        "subject": "http://example.org/house1",
        "watts": 2150,
        "price": Decimal("0.30"),
        "ratio": 0.5,
        "on": True,
        "note": 'say "hi"',
        "missing": None,
        "at": datetime(2024, 5, 6, tzinfo=UTC),
        "day": date(2024, 5, 6),
        "next": C,
        "per unit": np.int64(3),
    }
    event = Event(7, attributes)
    house = IRI("http://example.org/house1")
    expected = {
        TYPE: IRI("http://example.org/Reading"),
        IRI("http://example.org/watts"): Literal("2150", XSD + "integer"),
        IRI("http://example.org/price"): Literal("0.3", XSD + "decimal"),
        IRI("http://example.org/ratio"): Literal("0.5", XSD + "double"),
        IRI("http://example.org/on"): Literal("true", XSD + "boolean"),
        IRI("http://example.org/note"): Literal('say "hi"'),
        IRI("http://example.org/at"): Literal("2024-05-06T00:00:00Z", XSD + "dateTime"),
        IRI("http://example.org/day"): Literal("2024-05-06", XSD + "date"),
        IRI("http://example.org/next"): C,
        IRI("http://example.org/per%20unit"): Literal("3", XSD + "integer"),
    }
    assert event.triples == tuple(Triple(house, predicate, value) for predicate, value in expected.items())
    assert event.attributes == attributes


@pytest.mark.parametrize(
    ("subject", "term"),
    [
        (None, BlankNode("subject")),
        ("house1", IRI("urn:ns:house1")),
        ("house 1", IRI("urn:ns:house%201")),
        ("_:h", BlankNode("h")),
        ("http://example.org/h", IRI("http://example.org/h")),
        (17, IRI("urn:ns:17")),
        (A, A),
    ],
)
def test_the_subject_is_an_iri_or_a_name_or_else_a_blank_node(subject: object, term: object) -> None:
    triples = typed_triples({"type": "T", "subject": subject, "x": 1}, namespace="urn:ns:")
    assert {triple.subject for triple in triples} == {term}
    assert triples[0].object == IRI("urn:ns:T")


@pytest.mark.parametrize(
    ("number", "form"),
    [
        (float("nan"), Literal("NaN", XSD + "double")),
        (float("-inf"), Literal("-INF", XSD + "double")),
        (1e300, Literal("1e+300", XSD + "double")),
        (np.float32(0.5), Literal("0.5", XSD + "double")),
        (Decimal(3), Literal("3", XSD + "decimal")),
        (Decimal("1E+2"), Literal("100", XSD + "decimal")),
        (10**30, Literal("1" + "0" * 30, XSD + "integer")),
    ],
)
def test_numbers_keep_their_value(number: object, form: Literal) -> None:
    assert typed_triples({"type": "T", "x": number})[1].object == form


@pytest.mark.parametrize(
    ("time", "graph", "options", "reason"),
    [
        (2, "", {"end": 1}, "it ends before it starts"),
        (2, "", {"end": "2024-05-06T00:00:00Z"}, "of different kinds: a tick and a date"),
        ("soon", "", {}, "is not a time"),
        (1, "", {"id": 5}, "an id is text"),
        (1, "<a> <b> <c> .", {}, "graph:1:1: No scheme found in an absolute IRI"),
        (1, "<http://a> <http://b> \n ] .", {}, "graph:2:2: ] is not a valid RDF object"),
        (1, "<http://g> { <http://a> <http://b> <http://c> }", {}, "graph:1:12"),
        (1, '<http://a> <http://b> "\ud800" .', {}, "lone surrogate"),
        (1, [(A, B)], {}, "is not a triple. Try"),
        (1, [(Literal("a"), B, C)], {}, "is not a triple"),
        (1, [("http://a", "http://b", "c")], {}, "is not a triple"),
        (1, [(A, B, Literal("\ud800"))], {}, "lone surrogate"),
        (1, {"watts": 3}, {}, 'a typed event needs a "type"'),
        (1, {"type": 3}, {}, 'a typed event needs a "type"'),
        (1, {"type": "T", "x": [1]}, {}, "attribute 'x' is neither a number"),
        (1, {"type": "T", "x": "\udcff"}, {}, "lone surrogate"),
        (1, {"type": "T", "x": Decimal("NaN")}, {}, "not a finite number"),
        (1, {"type": "T", "x": Decimal("1E+999999")}, {}, "not a finite number"),
        (1, {"type": "T", "x": 10**5000}, {}, "more than 3,000 digits"),
        (1, {"type": "T", 5: 1}, {}, "is not an attribute's name"),
        (1, {"type": "T", "subject": 1.5}, {}, "is not a subject"),
    ],
)
def test_what_is_no_event_is_refused_with_the_reason(
    time: object, graph: Any, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises((InputError, RdfError)) as refused:
        Event(time, graph, **options)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "graph",
    [
        "<http://a> <http://b> 1, 2, 3, 4 .",
        [Triple(A, B, Literal(str(i))) for i in range(4)],
        {"type": "T", "a": 1, "b": 2, "c": 3},
        "#" + "x" * 1000,
        [Triple(A, B, Literal("x" * 1000))],
        f"PREFIX : <http://{'x' * 300}/> :a :b :c .",
    ],
)
def test_an_event_larger_than_the_limits_is_refused(graph: Any) -> None:
    with pytest.raises(LimitError, match="larger than an event may be: 500 bytes or 3 triples"):
        Event(1, graph, limits=Limits(event_bytes=500, event_triples=3))


def test_a_bad_event_keeps_the_beginning_of_its_text() -> None:
    assert BadEvent("s", 1, "no time", "short").text == "short"
    long = BadEvent("s", 1, "no time", "x" * 5000).text
    assert (len(long), long[-1]) == (BadEvent.LONGEST + 1, "…")
