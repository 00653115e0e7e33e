"""Hostile TriG: bounded time and memory, a reason for what is bad, and the next good event."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest

from hostile.made import MiB, made
from thence.io.event_files import read_events
from thence.io.trig import trig_chunks
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits

pytestmark = pytest.mark.usefixtures("bounded")

PROLOGUE = b"@prefix : <http://e/> .\n@prefix prov: <http://www.w3.org/ns/prov#> .\n"
TOO_LARGE = Limits().describe_event()


def event(name: bytes) -> bytes:
    return b":%b prov:generatedAtTime 1 .\n:%b { :s :p 1 }\n" % (name, name)


def read(*parts: bytes | Iterable[bytes]) -> tuple[bytes, list[BadEvent]]:
    quads, bad = [], []
    for part in trig_chunks(made(PROLOGUE, *parts), stream_name="s"):
        if isinstance(part, bytes):
            quads.append(part)
        else:
            bad.append(part)
            assert len(part.text) <= BadEvent.LONGEST + 1
            assert len(part.reason) < 500
    return b"".join(quads), bad


GOOD, _ = read(event(b"a"), event(b"b"))


def reason(*parts: bytes | Iterable[bytes]) -> str:
    """Why what stands between two good events is bad."""
    quads, bad = read(event(b"a"), *parts, b"\n", event(b"b"))
    assert quads == GOOD
    (problem,) = bad
    return problem.reason.partition(": ")[2] if problem.reason.startswith("line ") else problem.reason


def graph(*parts: bytes | Iterable[bytes]) -> list[bytes | Iterable[bytes]]:
    return [b":bad {\n:s :p ", *parts, b"\n}\n:bad prov:generatedAtTime 1 ."]


@pytest.mark.parametrize("quote", [b'"', b"'", b'"""', b"'''"])
def test_a_literal_of_50_mb(quote: bytes) -> None:
    assert reason(*graph(quote, [b"x" * MiB] * 50, quote)) == TOO_LARGE


def test_an_iri_of_50_mb() -> None:
    assert reason(*graph(b"<http://e/", [b"x" * MiB] * 50, b">")) == TOO_LARGE


@pytest.mark.parametrize("word", [b"x", b":", b".", b"1"])
def test_a_line_without_end(word: bytes) -> None:
    quads, bad = read(event(b"a"), event(b"b"), [word * MiB] * 50)
    assert quads == GOOD
    assert len(bad) == 1


@pytest.mark.parametrize("space", [b" ", b"\n", b"#x\n", b"#"])
def test_space_without_end_is_nothing(space: bytes) -> None:
    quads, bad = read(event(b"a"), [space * (MiB // len(space))] * 20, b"\n", event(b"b"))
    assert (quads, bad) == (GOOD, [])


def test_an_event_of_a_million_triples() -> None:
    triples = (b"".join(b":s :p %d .\n" % i for i in range(k, k + 1000)) for k in range(0, 10**6, 1000))
    assert reason(*graph(b"1 .\n", triples)) == TOO_LARGE
    assert reason(*graph(b"1", b",1" * 100, b"".join(b",%d" % i for i in range(10**6)))) == TOO_LARGE


def test_an_event_of_many_small_blocks_does_not_stay_in_memory() -> None:
    quads, bad = 0, 0
    for part in trig_chunks(made(PROLOGUE, (b":g { :s :p 1 }\n" * 1000 for _ in range(200))), stream_name="s"):
        quads, bad = (quads + part.count(b"\n"), bad) if isinstance(part, bytes) else (quads, bad + 1)
    assert (quads, bad) == (200_000, 0)


@pytest.mark.parametrize("opening", [b"[ :p ", b"( ", b"<<( :s :p ", b"{ ", b"[ :p ( ", b"1 {| :p "])
@pytest.mark.parametrize("depth", [1000, 10**6])
def test_nesting_without_end(opening: bytes, depth: int) -> None:
    found = reason(*graph(opening * depth))
    reasons = ("brackets nested more than 200 deep", "RDF 1.2", "is not a valid RDF object", "a brace inside a graph")
    assert any(reason in found for reason in reasons)


def test_nesting_that_is_closed_again_is_too_deep_all_the_same() -> None:
    assert reason(*graph(b"[ :p " * 100_000, b"1", b" ]" * 100_000)) == "brackets nested more than 200 deep"


@pytest.mark.parametrize("opening", [b"{", b"}", b"[", b"]", b"(", b":g {", b":g { :s :p '''\n", b"<<", b"'", b'"""'])
def test_brackets_and_quotes_without_end_between_events(opening: bytes) -> None:
    quads, bad = read(event(b"a"), opening * 20_000, b"\n", event(b"b"))
    assert quads.startswith(read(event(b"a"))[0])
    assert bad


def test_graphs_that_are_all_bad() -> None:
    quads, bad = read(event(b"a"), b":g { :s :p , }\n" * 5000, event(b"b"))
    assert quads == GOOD
    assert len(bad) == 5000


def test_rubbish_without_end() -> None:
    rubbish = (b"".join(b"rubbish %d .\n" % i for i in range(k, k + 1000)) for k in range(0, 500_000, 1000))
    assert "rubbish" in reason(rubbish)


def test_graphs_that_open_in_strings_that_are_not_closed() -> None:
    lines = b":a { bad ''' \n:b { ''' }\n" * 5000
    quads, bad = read(event(b"a"), b':bad { bad """\n', lines, b'""" }\n', event(b"b"))
    assert quads.startswith(read(event(b"a"))[0])
    assert len(bad) > 5000


def test_a_short_prefix_for_a_long_iri() -> None:
    prefix = b"PREFIX x: <http://e/" + b"x" * 100_000 + b">\n"
    quads, bad = read(prefix, event(b"a"), *graph(b",".join(b"x:%d" % i for i in range(10_000))), b"\n", event(b"b"))
    assert quads == GOOD
    assert [problem.reason for problem in bad] == [TOO_LARGE]


def test_prefixes_without_end() -> None:
    prefixes = (b"PREFIX x%d: <http://e/%b>\n" % (i, b"x" * 1000) for i in range(10_000))
    quads, bad = read(event(b"a"), prefixes, event(b"b"))
    assert quads == GOOD
    assert [problem.reason for problem in bad] == ["prefixes of more than 1 MiB"]


@pytest.mark.parametrize(
    "text",
    [
        b'"\xff\xfe"',
        b'"\xed\xa0\x80"',
        b'"\\ud800"',
        b"<http://e/\xff>",
        b"<http://e/x>y>",
        b"<http://e/x\ny>",
        b"<http://e/x y>",
        b"<http://e/x\x00y>",
        b"<http://e/x\\u0020y>",
        b"\x00",
        b"<<( :s :p 1 )>>",
        b'"x"@en--ltr',
    ],
)
def test_what_is_no_rdf(text: bytes) -> None:
    assert reason(*graph(text))


def test_a_nul_in_a_literal_is_an_ordinary_character() -> None:
    quads, bad = read(b":g { :s :p 'a\x00b' }")
    assert bad == []
    assert b'"a\x00b"' in quads or b'"a\\u0000b"' in quads


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    document = b"\xef\xbb\xbf" + (PROLOGUE + event(b"a") + b":x { , }\n" + event(b"b")).replace(b"\n", b"\r\n")
    parts = list(trig_chunks(made(document), stream_name="s"))
    assert b"".join(part for part in parts if isinstance(part, bytes)) == GOOD
    assert [part.line for part in parts if isinstance(part, BadEvent)] == [5]


def test_a_gzip_bomb_ends_its_file(tmp_path: Path) -> None:
    path = tmp_path / "bomb.trig.gz"
    path.write_bytes(gzip.compress(PROLOGUE + event(b"a")) + gzip.compress(b" " * (100 * MiB)))
    found = list(read_events(path))
    assert [event.id for event in found if isinstance(event, Event)] == ["http://e/a"]
    (problem,) = (event for event in found if isinstance(event, BadEvent))
    assert "unpacks to more than 200 times its size" in problem.reason


def test_a_truncated_file_gives_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "cut.trig.gz"
    lines = b"".join(event(b"g%d" % (i * 7919 % 10_007)) for i in range(10_000))
    path.write_bytes(gzip.compress(PROLOGUE + lines)[:20_000])
    found = list(read_events(path))
    assert sum(isinstance(event, Event) for event in found) > 500
    reasons = [event.reason for event in found if isinstance(event, BadEvent)]
    assert any("ends in the middle of its gzipped data" in reason for reason in reasons)


def test_memory_does_not_grow_with_the_file() -> None:
    block = b":g { :s :p '" + b"y" * 1000 + b"' }\n"
    parts = trig_chunks(made(PROLOGUE, (block * 100 for _ in range(300))), stream_name="s")
    assert sum(part.count(b"\n") for part in parts if isinstance(part, bytes)) == 30_000
