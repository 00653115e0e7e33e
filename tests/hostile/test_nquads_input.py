"""Hostile N-Quads: bounded time and memory, a reason for what is bad, and the next good event."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from thence.columns.batches import EventBatch
from thence.io.event_files import read_batches
from thence.io.nquads import read_nquads
from thence.jit import compiled
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits

pytestmark = pytest.mark.usefixtures("however_many")

MiB = 1 << 20
AT = b"<http://www.w3.org/ns/prov#generatedAtTime>"


class Endless(io.RawIOBase):
    """A file that is made while it is read, so that a test does not hold what the reader must not hold."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = iter(parts)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = next(self._parts, b"")
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def event(name: str, *quads: bytes) -> bytes:
    graph = f"<x:{name}>".encode()
    time = graph + b" " + AT + b' "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    return time + b"".join(quad + b" " + graph + b" .\n" for quad in quads or (b"<x:a> <x:b> <x:c>",))


def read(parts: Iterable[bytes]) -> tuple[list[str], list[BadEvent]]:
    ids: list[str] = []
    bad: list[BadEvent] = []
    for found in read_nquads(io.BufferedReader(Endless(parts), MiB), stream="s"):
        if isinstance(found, EventBatch):
            ids.extend(found.event(i).id or "" for i in range(len(found)))
        else:
            bad.append(found)
    return ids, bad


@pytest.fixture
def memory() -> Iterator[None]:
    """At most 150 MiB more than before, whatever comes in."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150 * MiB


@pytest.fixture
def much(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is much is never taken for little, as which it would take minutes."""
    monkeypatch.setattr(compiled, "LITTLE", -1)


@pytest.mark.usefixtures("memory")
def test_a_literal_of_50_mb_is_a_bad_event() -> None:
    start = event("large").removesuffix(b"<x:a> <x:b> <x:c> <x:large> .\n") + b'<x:a> <x:b> "'
    ids, bad = read([event("g"), start, *([b"x" * MiB] * 50), b'" <x:large> .\n', event("h")])
    assert ids == ["x:g", "x:h"]
    assert [(problem.line, problem.reason) for problem in bad] == [(4, "a line longer than 16 MiB")]


@pytest.mark.usefixtures("memory")
def test_a_line_without_end_is_passed_over() -> None:
    ids, bad = read([event("g"), *([b"x" * MiB] * 100)])
    assert ids == ["x:g"]
    assert len(bad) == 1


@pytest.mark.usefixtures("memory", "much")
def test_an_event_of_a_million_triples_is_a_bad_event() -> None:
    quads = (
        b"".join(b"<x:a> <x:b> <x:c%d> <x:large> .\n" % i for i in range(k, k + 1000)) for k in range(0, 10**6, 1000)
    )
    ids, bad = read([event("g"), event("large"), *quads, event("h")])
    assert ids == ["x:g", "x:h"]
    assert [problem.reason for problem in bad] == [Limits().describe_event()]


@pytest.mark.usefixtures("memory")
def test_rubbish_without_end_is_reported_line_by_line() -> None:
    ids, bad = read([event("g"), *([b"rubbish\n" * 100] * 100), event("h")])
    assert ids == ["x:g", "x:h"]
    assert len(bad) == 10_000


@pytest.mark.parametrize(
    "quad",
    [
        b'<x:a> <x:b> "\xff\xfe"',
        b'<x:a> <x:b> "\xed\xa0\x80"',
        rb'<x:a> <x:b> "\ud800"',
        rb'<x:a> <x:b> "\uD83D\uDE00"',
        b"<x:a> <x:b> <x:c>d>",
        b"<x:a> <x:b> <x: c>",
        b"<x:a> <x:b> <x:c\x00>",
        b"<x:a> <x:b> <x:c",
        b'<x:a> <x:b> "c',
        b'<x:a> "b" <x:c>',
        b'"a" <x:b> <x:c>',
        b"<x:a> <x:b> <c>",
        b"<x:a> <x:b> << <x:a> <x:b> <x:c> >>",
        b'<x:a> <x:b> "c"@en--ltr',
        b"<x:a> <x:b> <x:c> <x:d>",
    ],
)
def test_a_line_that_is_no_rdf_makes_its_event_bad_and_the_next_is_read(quad: bytes) -> None:
    ids, bad = read([event("g"), event("bad", quad), event("h")])
    assert ids == ["x:g", "x:h"]
    assert [problem.line for problem in bad] == [4]
    assert bad[0].reason


def test_a_newline_in_an_iri_ends_its_line() -> None:
    ids, bad = read([event("g"), event("bad", b"<x:a> <x:b> <x:c\nd>"), event("h")])
    assert ids == ["x:g", "x:h"]
    assert bad


def test_a_nul_in_a_literal_is_an_ordinary_character() -> None:
    ids, bad = read([event("g", b'<x:a> <x:b> "a\x00b"'), event("h")])
    assert (ids, bad) == (["x:g", "x:h"], [])


@pytest.mark.usefixtures("much")
def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.nq.gz"
    bomb.write_bytes(gzip.compress(b"\n" * (64 * MiB)))
    found = list(read_batches(bomb))
    assert [type(each) for each in found] == [BadEvent]
    assert "200" in found[0].reason


@pytest.mark.usefixtures("much")
def test_a_torn_archive_makes_its_last_event_bad(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(event(f"g{i}") for i in range(5000)))
    torn = tmp_path / "torn.nq.gz"
    torn.write_bytes(whole[: len(whole) // 2])
    *batches, bad = read_batches(torn)
    assert isinstance(bad, BadEvent)
    assert "ends in the middle" in bad.reason
    good = sum(len(batch) for batch in batches if isinstance(batch, EventBatch))
    assert 0 < good < 5000


def test_a_file_that_can_not_be_read_on_gives_what_came_before() -> None:
    def parts() -> Iterator[bytes]:
        yield event("g") + event("h")
        raise OSError("the disk is gone")

    batch, torn = read_nquads(Endless(parts()), stream="s")  # type: ignore[arg-type]
    assert isinstance(batch, EventBatch)
    assert [found.id for found in batch] == ["x:g"]
    assert isinstance(torn, BadEvent)
    assert torn.reason == "the disk is gone"


@pytest.mark.usefixtures("much")
def test_a_file_that_is_read_holds_no_more_than_a_few_chunks() -> None:
    tracemalloc.start()
    peaks = []
    for thousands in (10, 30):
        source = io.BufferedReader(Endless(b"".join(event(f"g{k}_{i}") for i in range(1000)) for k in range(thousands)))
        tracemalloc.reset_peak()
        found = sum(len(batch) for batch in read_nquads(source, chunk=MiB // 8) if isinstance(batch, EventBatch))
        assert found == thousands * 1000
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
