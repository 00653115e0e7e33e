"""Hostile JSON lines: bounded time and memory, a reason for what is bad, and the next good event."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from hostile.made import MiB, made
from thence.io.event_files import read_events
from thence.io.jsonl import read_jsonl
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits

pytestmark = pytest.mark.usefixtures("bounded")

GOOD = b'{"time": 1, "graph": "<x:s> <x:p> 1 ."}\n'


def read(*parts: bytes | Iterable[bytes]) -> list[Event | BadEvent]:
    return list(read_jsonl(made(*parts), stream_name="s"))


def reason(*parts: bytes | Iterable[bytes]) -> str:
    """Why the line between two good ones is bad."""
    before, bad, after = read(GOOD, *parts, b"\n", GOOD)
    assert isinstance(before, Event)
    assert isinstance(bad, BadEvent)
    assert isinstance(after, Event)
    assert (before.id, bad.line, after.id) == ("s:1", 2, "s:3")
    assert len(bad.text) <= BadEvent.LONGEST + 1
    assert len(bad.reason) < 500
    return bad.reason


def turtle(text: str) -> bytes:
    return json.dumps({"time": 1, "graph": text}).encode()


def test_a_literal_of_50_mb() -> None:
    line = [b'{"time": 1, "type": "T", "x": "', *([b"x" * MiB] * 50), b'"}']
    assert reason(line) == "a line longer than 16 MiB"


def test_a_line_without_end() -> None:
    events = read(GOOD, [b"x" * MiB] * 100)
    assert [type(event) for event in events] == [Event, BadEvent]


def test_an_event_of_a_million_triples() -> None:
    assert reason(turtle("<x:s> <x:p> " + ",".join(map(str, range(10**6))) + " .")) == Limits().describe_event()


def test_a_typed_event_of_a_million_attributes() -> None:
    attributes = (b"".join(b', "%x": 1' % i for i in range(k, k + 1000)) for k in range(0, 10**6, 1000))
    assert reason([b'{"time": 1, "type": "T"', *attributes, b"}"]) == Limits().describe_event()


def test_json_ld_of_a_million_triples() -> None:
    assert reason([b'{"time": 1, "http://e/p": [0', b",1" * 10**6, b"]}"]) == Limits().describe_event()


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"@graph":'])
@pytest.mark.parametrize("depth", [1000, 10**6])
def test_json_nested_without_end(opening: bytes, depth: int) -> None:
    assert reason(b'{"time": 1, "@graph": ', opening * depth) == "brackets nested more than 200 deep"


@pytest.mark.parametrize("opening", ["[ <x:p> ", "( ", "<<( <x:s> <x:p> ", "{ ", "[ <x:p> ( "])
@pytest.mark.parametrize("depth", [1000, 200_000])
def test_turtle_nested_without_end(opening: str, depth: int) -> None:
    found = reason(turtle("<x:s> <x:p> " + opening * depth))
    assert "brackets nested more than 200 deep" in found or "RDF 1.2" in found or "is not a valid RDF object" in found


def test_json_ld_that_is_copied_at_each_level() -> None:
    line = b'{"time":1,"http://e/p":' + b'{"http://e/p":' * 190 + json.dumps(list(range(90_000))).encode() + b"}" * 191
    assert reason(line) == "JSON-LD that is too large for its depth"


def test_json_ld_whose_context_is_copied_for_each_object() -> None:
    context = {f"t{i}": f"http://e/{i}" for i in range(10_000)} | {"p": {"@id": "http://e/p", "@context": {}}}
    line = json.dumps({"time": 1, "@context": context, "p": [{"t0": 1}] * 10_000}).encode()
    assert reason(line) == "JSON-LD with contexts too large for its number of objects"


def test_json_ld_with_a_short_name_for_a_long_iri() -> None:
    line = {"time": 1, "@context": {"a": "http://e/" + "x" * MiB}, **{f"a:{i}": 1 for i in range(10_000)}}
    assert reason(json.dumps(line).encode()) == "JSON-LD with contexts too long for the number of names that use them"


def test_turtle_with_a_short_name_for_a_long_iri() -> None:
    text = "PREFIX a: <http://e/" + "x" * MiB + "> a:s a:p " + ",".join(f"a:{i}" for i in range(10_000)) + " ."
    assert reason(turtle(text)) == Limits().describe_event()


@pytest.mark.parametrize("context", ["http://e.invalid/c", ["http://e.invalid/c"], {"@import": "http://e.invalid/c"}])
def test_json_ld_with_a_remote_context(context: object) -> None:
    assert "a remote context, which is never fetched" in reason(
        json.dumps({"@context": context, "time": 1, "p": 1}).encode()
    )


def test_json_ld_with_a_remote_context_further_in() -> None:
    line = {"time": 1, "http://e/p": {"@context": "http://e.invalid/c", "p": 1}}
    assert "a remote context, which is never fetched" in reason(json.dumps(line).encode())


@pytest.mark.parametrize(
    "line",
    [
        b'{"time": 1, "graph": "\x00"}',
        b'{"time": 1, "graph": "\xff\xfe"}',
        b'{"time": 1, "graph": "\xed\xa0\x80"}',
        b"\x00" * 1000,
        b'{"time": 1, "graph": "<x:s> <x:p> \\"\\ud800\\" ."}',
        b'{"time": 1, "graph": "<x:s> <x:p> \\"\\\\ud800\\" ."}',
        b'{"time": 1, "type": "\\udfff"}',
        b'{"time": 1, "type": "T", "\\ud800": 1}',
        b'{"time": 1, "id": "\\ud800", "graph": ""}',
        b'{"time": 1, "@id": "http://e/\\ud800", "http://e/p": 1}',
        b'{"time": 1, "graph": "<x:s> <x:p> <x:o>y> ."}',
        b'{"time": 1, "graph": "<x:s> <x:p> <x:o\\ny> ."}',
        b'{"time": 1, "graph": "<x:s> <x:p> <x:o y> ."}',
        b'{"time": 1, "graph": "<x:s> <x:p> <x:o\\u0000y> ."}',
        b'{"time": 1, "graph": "<x:s> <x:p> <<( <x:s> <x:p> 1 )>> ."}',
        b'{"time": 1, "type": "T", "x": 1' + b"0" * 10_000 + b"}",
        b'{"time": 1' + b"0" * 10_000 + b', "graph": ""}',
        b'{"time": 1e400, "graph": ""}',
        b'{"time": NaN, "graph": ""}',
        b'{"time": 1, "time": 2, "graph": ""}',
        b"\xef\xbb\xbf{}",
        b"\xff\xfe{\x00}\x00",
        b"x" * 100_000,
    ],
)
def test_what_is_no_json_or_no_rdf(line: bytes) -> None:
    assert reason(line)


def test_a_nul_in_a_literal_is_an_ordinary_character() -> None:
    (event,) = read(b'{"time": 1, "graph": "<x:s> <x:p> \\"a\\u0000b\\" ."}')
    assert isinstance(event, Event)
    assert event.triples[0].object.value == "a\x00b"


def test_a_gzip_bomb_ends_its_file(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(GOOD) + gzip.compress(b" " * (100 * MiB)))
    *good, last = read_events(path)
    assert [event.id for event in good if isinstance(event, Event)] == ["bomb.jsonl.gz:1"]
    assert isinstance(last, BadEvent)
    assert "unpacks to more than 200 times its size" in last.reason or last.reason == "a line longer than 16 MiB"


def test_a_truncated_file_gives_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    lines = b"".join(b'{"time": %d, "type": "T", "x": "%d"}\n' % (i, i * 7919 % 1009) for i in range(10_000))
    path.write_bytes(gzip.compress(lines)[:20_000])
    *good, last = read_events(path)
    assert len(good) > 1000
    assert isinstance(last, BadEvent)
    assert "ends in the middle of its gzipped data" in last.reason
    assert last.line == len(good) + 1


def test_memory_does_not_grow_with_the_file() -> None:
    line = b'{"time": 1, "type": "T", "x": "' + b"y" * 1000 + b'"}\n'
    events = read_jsonl(made(line * 100 for _ in range(300)), stream_name="s")
    assert sum(isinstance(event, Event) for event in events) == 30_000
