"""Event files of JSON lines: graphs in Turtle, JSON-LD objects, typed events, and lines that are none of these."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any

import pytest

from support.blocks import in_blocks
from thence.io.jsonl import read_jsonl
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, PROV, XSD, BlankNode, Literal, Triple
from thence.rdf.times import Domain, parse_time

NS = "http://example.org/"
S, P, X = (IRI(NS + name) for name in "spo")
REMOTE = "a remote context, which is never fetched. Try: write the context into the document"
CONTEXT = {"@vocab": NS, "prov": PROV}


def read(*lines: str | bytes | dict[str, Any], **options: Any) -> list[Event | BadEvent]:
    encoded = [json.dumps(line).encode() if isinstance(line, dict) else line for line in lines]
    data = b"\n".join(line.encode() if isinstance(line, str) else line for line in encoded)
    return list(read_jsonl(io.BytesIO(data), stream_name="s", **options))


def read_one(line: str | bytes | dict[str, Any], **options: Any) -> Event:
    (event,) = read(line, **options)
    assert isinstance(event, Event), event
    return event


def test_a_graph_in_turtle_has_its_time_end_and_id_beside() -> None:
    event = read_one({"time": 1, "end": 2, "id": "e1", "graph": "PREFIX : <http://example.org/> :s :p :o ."})
    assert event == Event(1, [Triple(S, P, X)], end=2, id="e1")


def test_times_are_integers_or_iso_8601() -> None:
    events = read({"time": 7, "graph": ""}, {"time": "2024-05-06 07:00:00", "graph": "", "end": None})
    assert [(event.start, event.domain) for event in events if isinstance(event, Event)] == [
        (7, Domain.TICKS),
        (parse_time("2024-05-06T07:00:00Z").time, Domain.DATETIME),
    ]


def test_an_event_without_an_id_is_known_by_its_stream_and_line() -> None:
    events = read({"time": 1, "graph": ""}, "", {"time": 1, "type": "T"}, {"time": 1, "graph": "", "id": 17})
    assert [event.id for event in events if isinstance(event, Event)] == ["s:1", "s:3", "17"]


def test_a_typed_event_keeps_its_attributes() -> None:
    event = read_one(
        '{"type": "Reading", "time": 1, "subject": "h1", "watts": 2150, "price": 0.30, "k": 1e3, "x": null}'
    )
    assert event.attributes == {
        "type": "Reading",
        "time": 1,
        "subject": "h1",
        "watts": 2150,
        "price": Decimal("0.30"),
        "k": 1000.0,
        "x": None,
    }
    assert Triple(IRI(NS + "h1"), IRI(NS + "price"), Literal("0.3", XSD + "decimal")) in event.triples
    assert len(event.triples) == 4


def test_names_are_in_the_namespace_that_is_given() -> None:
    event = read_one({"type": "Reading", "time": 1, "watts": 1}, namespace="urn:ns:")
    assert event.triples[1].predicate == IRI("urn:ns:watts")


def test_blank_nodes_with_one_label_stay_blank_nodes_of_their_event() -> None:
    events = read(*({"time": time, "graph": "_:b <http://example.org/p> [] ."} for time in (1, 2)))
    assert [event.triples for event in events if isinstance(event, Event)] == [
        (Triple(BlankNode("b"), P, BlankNode("anon0")),)
    ] * 2


def test_a_named_graph_in_json_ld_tells_its_time_and_its_id() -> None:
    event = read_one(
        {
            "@context": CONTEXT,
            "@id": "http://example.org/g",
            "prov:generatedAtTime": {"@value": "1970-01-01T00:00:01Z", "@type": XSD + "dateTime"},
            "@graph": [{"@id": "http://example.org/s", "p": {"@id": "http://example.org/o"}}],
        }
    )
    assert event == Event("1970-01-01T00:00:01Z", [Triple(S, P, X)], id="http://example.org/g")


def test_an_object_in_json_ld_tells_its_interval_and_its_id() -> None:
    event = read_one(
        {"@context": CONTEXT, "@id": NS + "s", "prov:startedAtTime": 3, "prov:endedAtTime": 5, "p": {"@id": NS + "o"}}
    )
    assert event == Event(3, [Triple(S, P, X)], end=5, id=NS + "s")


def test_an_object_without_an_id_is_a_blank_node_and_has_its_time_all_the_same() -> None:
    event = read_one({"@context": CONTEXT, "prov:generatedAtTime": 3, "p": {"@id": NS + "o"}})
    assert event == Event(3, [Triple(BlankNode("anon0"), P, X)], id="s:1")


def test_time_end_and_id_may_stand_beside_json_ld() -> None:
    event = read_one({"@context": CONTEXT, "time": 3, "end": 4, "id": "e1", "@id": NS + "s", "p": {"@id": NS + "o"}})
    assert event == Event(3, [Triple(S, P, X)], end=4, id="e1")


def test_a_key_that_the_context_defines_means_what_it_says_there() -> None:
    context = {
        "id": "@id",
        "time": {"@id": PROV + "generatedAtTime", "@type": XSD + "dateTime"},
        "end": NS + "p",
    }
    event = read_one({"@context": context, "id": NS + "s", "time": "1970-01-01T00:00:01Z", "end": {"id": NS + "o"}})
    assert event == Event("1970-01-01T00:00:01Z", [Triple(S, P, X)], id=NS + "s")


def test_an_end_without_a_time_beside_it_is_an_ordinary_key() -> None:
    event = read_one({"@context": CONTEXT, "@id": NS + "s", "prov:generatedAtTime": 3, "end": "station"})
    assert event.triples == (Triple(S, IRI(NS + "end"), Literal("station")),)


def test_a_list_of_nodes_has_the_time_of_the_one_that_tells_it() -> None:
    nodes = [{"@id": NS + "s", "prov:generatedAtTime": 3}, {"@id": NS + "s", "p": {"@id": NS + "o"}}]
    event = read_one({"@context": CONTEXT, "@graph": nodes})
    assert event == Event(3, [Triple(S, P, X)], id="s:1")


def test_expanded_json_ld_needs_no_context() -> None:
    event = read_one({"http://example.org/p": [{"@id": NS + "o"}], "time": 3})
    assert event == Event(3, [Triple(BlankNode("anon0"), P, X)], id="s:1")


def test_relative_iris_are_names_in_the_namespace() -> None:
    event = read_one({"@context": CONTEXT, "time": 3, "@id": "s", "p": {"@id": "o"}})
    assert event == Event(3, [Triple(S, P, X)], id=NS + "s")


def test_times_of_other_things_are_part_of_the_graph() -> None:
    nodes = [{"@id": NS + "s", "prov:generatedAtTime": 3}]
    event = read_one({"@context": CONTEXT, "@id": NS + "g", "prov:generatedAtTime": 5, "@graph": nodes})
    assert event.start == 5
    assert event.triples == (Triple(S, IRI(PROV + "generatedAtTime"), Literal("3", XSD + "integer")),)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes, column 2"),
        ("[1]", "an event is a JSON object"),
        ("{} {}", "not JSON: Extra data, column 4"),
        ('{"time": 1, "graph": "a\tb"}', "not JSON: Invalid control character at, column 24"),
        ({"a": 1}, 'expected "graph", "type" or JSON-LD'),
        ({"graph": ""}, 'no time: "time" is missing'),
        ({"type": "T"}, 'no time: "time" is missing'),
        ({"time": None, "graph": ""}, '"None" is not a time. Try: an integer, or "2024-05-06T07:00:00Z"'),
        ({"time": 1.5, "graph": ""}, '"1.5" is not a time. Try: an integer, or "2024-05-06T07:00:00Z"'),
        ({"time": "5", "graph": ""}, '"5" is not a time. Try: "2024-05-06T07:00:00Z"'),
        ({"time": 2, "end": 1, "graph": ""}, "it ends before it starts"),
        ({"time": 1, "graph": ["x"]}, '"graph" must be Turtle, in a string'),
        ({"time": 1, "graph": "", "ID": 5}, '"ID" is not one of time, end, id, graph'),
        ({"time": 1, "graph": "", "id": {}}, '"id" is {}, but an id is text'),
        ({"time": 1, "graph": "<s> <p> <o> ."}, "graph:1:1: No scheme found in an absolute IRI"),
        (
            {"time": 1, "type": "T", "x": [1]},
            "attribute 'x' is neither a number, text, a boolean, a date, a duration nor an RDF term",
        ),
        ('{"time": 1, "type": "T", "x": 1, "x": 2}', '"x" occurs twice in one object'),
        ('{"time": 1, "type": "T", "x": NaN}', "NaN is not JSON"),
        ('{"time": 1, "type": "T", "x": -Infinity}', "-Infinity is not JSON"),
        ('{"time": 1, "type": "T", "x": 1e999}', "1e999 is out of range"),
        ('{"time": 1, "type": "T", "x": "\\ud800"}', "a lone surrogate, which is not a character"),
        (b'{"time": 1, "type": "T", "x": "\xff"}', "byte 32 of the line is not UTF-8"),
        (
            {"@context": CONTEXT, "p": 1},
            'no time: neither prov:generatedAtTime of its graph or of itself, nor "time" beside',
        ),
        (
            {"@context": CONTEXT, "prov:startedAtTime": 1, "p": 1},
            "an interval needs both prov:startedAtTime and prov:endedAtTime",
        ),
        ({"@context": CONTEXT, "prov:generatedAtTime": [1, 2], "p": 1}, "two different values of prov:generatedAtTime"),
        (
            {"@context": CONTEXT, "@graph": [{"@id": n, "prov:generatedAtTime": 1} for n in "ab"]},
            "several times, none of them of the graph or of the object itself",
        ),
        (
            {"@context": CONTEXT, "time": 1, "@graph": [{"@id": n, "@graph": {"p": 1}} for n in "ab"]},
            "more than one graph: an event has one",
        ),
        ({"@context": "http://a.example/c", "time": 1}, REMOTE),
        ({"@context": {"@import": "http://a.example/c"}, "time": 1}, REMOTE),
        (
            {"@context": CONTEXT, "time": 1, "p": {"@value": "x", "@language": "ar", "@direction": "rtl"}},
            "RDF 1.2 is not supported: write RDF 1.1, without base directions",
        ),
    ],
)
def test_a_bad_line_has_its_place_reason_and_text_and_the_next_is_read(line: Any, reason: str) -> None:
    good = {"time": 1, "graph": ""}
    before, bad, after = read(good, line, good)
    text = (
        line
        if isinstance(line, str)
        else json.dumps(line)
        if isinstance(line, dict)
        else line.decode("utf-8", "replace")
    )
    assert bad == BadEvent("s", 2, reason, text)
    assert (before, after) == (Event(1, "", id="s:1"), Event(1, "", id="s:3"))


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    line = b'{"time": 1, "graph": ""}'
    data = b"\xef\xbb\xbf" + line + b"\r\n\r\n" + line + b"\r\n"
    assert [event.id for event in read_jsonl(io.BytesIO(data), stream_name="s") if isinstance(event, Event)] == [
        "s:1",
        "s:3",
    ]


def test_a_character_beyond_the_first_plane_may_be_written_as_two_surrogates() -> None:
    event = read_one('{"time": 1, "type": "T", "x": "\\ud83d\\ude00"}')
    assert event.attributes is not None
    assert event.attributes["x"] == "\U0001f600"


def test_a_nul_in_a_literal_is_an_ordinary_character() -> None:
    event = read_one('{"time": 1, "type": "T", "x": "a\\u0000b"}')
    assert event.triples[1].object == Literal("a\x00b")


def test_the_limits_are_options() -> None:
    limits = Limits(event_bytes=60, event_triples=1, nesting=2)
    lines = [
        '{"time": 1, "graph": "' + "x" * 60 + '"}',
        '{"time": 1, "type": "T", "x": 1}',
        '{"time": 1, "type": "T", "x": [[1]]}',
        '{"time": 1, "graph": "<x:s> <x:p> [<x:p> 1]."}',
    ]
    reasons = [event.reason for event in read(*lines, limits=limits) if isinstance(event, BadEvent)]
    too_large = "larger than an event may be: 60 bytes or 1 triples"
    assert reasons == ["a line longer than 60 bytes", too_large, "brackets nested more than 2 deep", too_large]


def read_blocks(*blocks: bytes, failure: Exception | None = None) -> list[str | tuple[int, str]]:
    """The ids of events, and the lines and reasons of bad ones."""
    found = read_jsonl(in_blocks(*blocks, failure=failure), stream_name="s", limits=Limits(event_bytes=30))
    return [(each.line, each.reason) if isinstance(each, BadEvent) else each.id or "" for each in found]


GOOD = b'{"time": 1, "graph": ""}\n'
TOO_LONG = b"x" * 31


def test_events_behind_a_line_that_is_too_long_in_the_last_block_are_read() -> None:
    found = read_blocks(TOO_LONG, b"\n" + GOOD + GOOD)
    assert found == [(1, "a line longer than 30 bytes"), "s:2", "s:3"]


def test_events_behind_a_line_that_is_too_long_are_read_though_the_stream_fails_then() -> None:
    found = read_blocks(TOO_LONG, b"\n" + GOOD + GOOD, failure=OSError("the disk is gone"))
    assert found == [(1, "a line longer than 30 bytes"), "s:2", "s:3", (4, "the disk is gone")]
