"""Where a file is cut into blocks changes nothing (BAD-6): every good event is read once, and every bad one is reported
once, with its line."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.blocks import cut, in_blocks
from thence.io import csv_files, jsonl
from thence.io.event_files import read_batches, read_events
from thence.io.jsonl import read_jsonl
from thence.io.nquads import events_of, read_nquads
from thence.io.trig import trig_chunks
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.spark.sources import file_splits

pytestmark = pytest.mark.numba

# JSON lines

LIMIT = 60
LIMITS = Limits(event_bytes=LIMIT)
X = "http://example.org/"


def json_line(size: int) -> bytes:
    """A good event of a size, in bytes."""
    line = b'{"time": 1, "type": "T", "x": ""}'
    return line[:-2] + b"x" * (size - len(line)) + line[-2:]


JSON_LINES = st.one_of(
    st.integers(33, LIMIT).map(json_line),  # good
    st.just(json_line(LIMIT)),
    st.just(json_line(LIMIT + 1)),
    st.integers(LIMIT + 1, 4 * LIMIT).map(json_line),  # too large
    st.integers(1, 3 * LIMIT).map(lambda size: b"\xff" * size),
    st.sampled_from(
        [
            b"",
            b" \r",
            json_line(40) + b"\r",
            json_line(30) + b"\r" + json_line(30),
            json_line(40)[:-3] + "é€".encode() + b'"}',
            json_line(40)[:-3] + b'\xc3"}',
            json_line(40)[:-3] + b'\x00"}',
            json_line(40)[:-1],
            b"\x00" * 5,
            b"{",
            b"\xef\xbb\xbf" + json_line(40),
        ]
    ),
)


@st.composite
def json_files(draw: st.DrawFn) -> bytes:
    return b"\n".join(draw(st.lists(JSON_LINES, max_size=8))) + draw(st.sampled_from([b"", b"\n"]))


Summary = tuple[int, str, Any]


def summary(found: Event | BadEvent) -> Summary:
    if isinstance(found, BadEvent):
        return found.line, found.reason, found.text
    return int((found.id or "").rpartition(":")[2]), "", found.triples


def line_by_line(data: bytes) -> list[Summary]:
    """The event or bad event of each line, read alone."""
    found: list[Summary] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if len(line) > LIMIT:
            text = BadEvent("s", number, "", line.decode("utf-8", "replace")).text
            found.append((number, f"a line longer than {LIMIT} bytes", text))
        else:
            alone = read_jsonl(io.BytesIO(line), stream_name="s", limits=LIMITS, first_line=number)
            found += map(summary, alone)
    return found


@given(json_files(), st.integers(1, 200))
def test_json_lines_are_read_as_each_line_by_itself(data: bytes, size: int) -> None:
    stream = in_blocks(*cut(data, size))
    assert list(map(summary, read_jsonl(stream, stream_name="s", limits=LIMITS))) == line_by_line(data)


@given(json_files(), st.integers(1, 200))
def test_json_lines_before_a_failure_are_read_as_each_line_by_itself(data: bytes, size: int) -> None:
    stream = in_blocks(*cut(data, size), failure=OSError("the disk is gone"))
    *found, last = map(summary, read_jsonl(stream, stream_name="s", limits=LIMITS))
    whole = data[: data.rfind(b"\n") + 1]
    assert found == line_by_line(whole)
    assert last[:2] == (whole.count(b"\n") + 1, "the disk is gone")


def without_labels(found: list[Summary]) -> list[Summary]:
    """In the order of lines, without the triples of good events: batches relabel their blank nodes."""
    return sorted((line, reason, "" if not reason else text) for line, reason, text in found)


@given(json_files(), st.integers(1, 200))
def test_gzipped_json_lines_are_read_as_each_line_by_itself(tmp_path_factory: Any, data: bytes, size: int) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "any.jsonl.gz"
    path.write_bytes(b"".join(map(gzip.compress, cut(data, size))))  # a member is a block
    found = map(summary, read_events(path, stream="s", limits=LIMITS))
    assert without_labels(list(found)) == without_labels(line_by_line(data))


@given(json_files(), st.integers(1, 200), st.integers(1, 200))
def test_parts_of_json_lines_are_read_as_each_line_by_itself(
    tmp_path_factory: Any, data: bytes, split: int, size: int
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    found: list[Event | BadEvent] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_BLOCK", size)
        patch.setattr(file_splits, "_WINDOW", size)
        for part in file_splits.split_file(str(path), stream="s", split=split):
            for each in file_splits.read_split(part, namespace=X, limits=LIMITS):
                found += [each] if isinstance(each, BadEvent) else list(each)
    assert without_labels(list(map(summary, found))) == without_labels(line_by_line(data))


# N-Quads

# so large that what is kept of a long line is less; and the files are as repetitive as an archive can be
LARGE = Limits(event_bytes=3000, event_triples=5, gunzip_ratio=10**6)
TOO_LONG = "a line longer than 3,000 bytes"
AT = b"<http://www.w3.org/ns/prov#generatedAtTime>"
TICK = b'"1"^^<http://www.w3.org/2001/XMLSchema#integer>'


@dataclass(frozen=True)
class Section:
    """Lines that hold one event at most, whatever stands before and after them."""

    text: bytes
    bad: dict[int, str] = field(default_factory=dict)  # why, by line, counted from 0
    good: bool = False


def quad(graph: bytes, size: int = 0) -> bytes:
    """A line with one quad, of `size` bytes or of the least possible."""
    line = b'<x:a> <x:b> "" %b .' % graph
    return line.replace(b'""', b'"' + b"x" * (size - len(line)) + b'"')


def of_event(draw: st.DrawFn, graph: bytes, quads: list[bytes], reason: str = "", at: int = 0) -> Section:
    """An event with its time before or after its quads. It is bad if there is a `reason`, reported at quad number `at`,
    or at its first line (-1)."""
    time = b"%b %b %b ." % (graph, AT, TICK)
    before = draw(st.booleans())
    text = b"".join(line + b"\n" for line in ([time, *quads] if before else [*quads, time]))
    return Section(text, {at + (before and at >= 0) + (at < 0): reason} if reason else {}, not reason)


@st.composite
def sections(draw: st.DrawFn, number: int) -> Section:
    graph = b"<x:g%d>" % number
    small = [quad(graph, 40 + i) for i in range(draw(st.integers(0, 3)))]
    time_line = len(b"%b %b %b ." % (graph, AT, TICK)) + 1
    match draw(st.integers(0, 9)):
        case 0:
            long = draw(st.sampled_from([3001, 3002]) | st.integers(3001, 9000))
            return of_event(draw, graph, [*small, quad(graph, long)], TOO_LONG, len(small))
        case 1:  # as large as an event may be, and a byte more
            return of_event(draw, graph, [quad(graph, 2999 - time_line)])
        case 2:
            return of_event(draw, graph, [quad(graph, 3000 - time_line)], LARGE.describe_event(), -1)
        case 3:
            return of_event(draw, graph, [quad(graph, 40 + i) for i in range(5)])
        case 4:
            many = draw(st.integers(6, 30))
            return of_event(draw, graph, [quad(graph, 40 + i) for i in range(many)], LARGE.describe_event(), -1)
        case 5:
            text = draw(st.sampled_from([b"rubbish", b"# comment ", b"\xff", b"\x00", b"\r"]))
            return Section((text * 6000)[: draw(st.integers(3001, 6000))] + b"\n", {0: TOO_LONG})
        case 6:
            return Section(draw(st.sampled_from([b"\n", b"# comment\n", b"\r\n", b"\n" * 3500])))
        case 7:
            text = draw(st.sampled_from([b"rubbish", b"\xff\xc3", b"\x00", b"<x:a> <x:b> <x:c> .", b"{\r\r"]))
            return Section(text + b"\n", {0: "?"})
        case 8:
            wrong = [
                b"<x:a> <x:b> <x: c>",
                b'<x:a> <x:b> "\xc3"',
                b"<x:a> <x:b> <x:\x00>",
                b"<x:a>",
                quad(graph) + b"\r<x:a>",
            ]
            line = draw(st.sampled_from(wrong)) + b" " + graph + b" ."
            return of_event(draw, graph, [*small, line], "?", len(small))
        case _:
            end = draw(st.sampled_from([b"", b"\r", b" "]))
            odd = [b'<x:a> <x:b> "\x00" %b .' % graph, '<x:a> <x:b> "é€" <x:g%d> .'.replace("%d", str(number)).encode()]
            return of_event(draw, graph, [line + end for line in [*small, *odd]])


@st.composite
def quad_files(draw: st.DrawFn) -> tuple[bytes, list[str], dict[int, str]]:
    """A file, the ids of its good events, and why others are bad, by their lines."""
    found = [draw(sections(number)) for number in range(draw(st.integers(0, 8)))]
    data, good, bad = b"", [], {}
    for number, section in enumerate(found):
        bad.update({data.count(b"\n") + 1 + line: reason for line, reason in section.bad.items()})
        good += [f"x:g{number}"] * section.good
        data += section.text
    return data if draw(st.booleans()) else data.removesuffix(b"\n"), good, bad


def check(found: Iterable[Any], good: list[str], bad: dict[int, str]) -> list[Event]:
    events: list[Event] = []
    problems: list[tuple[int, str]] = []
    for each in found:
        if isinstance(each, BadEvent):
            problems.append((each.line, each.reason if bad.get(each.line) != "?" else "?"))
        else:
            events += each
    assert sorted(event.id or "" for event in events) == sorted(good)
    assert sorted(problems) == sorted(bad.items())
    return events


CHUNKS = st.integers(1, 200) | st.integers(1, 7000) | st.just(1 << 20)


@given(quad_files(), CHUNKS)
def test_good_quads_are_read_and_bad_ones_reported_once_wherever_the_file_is_cut(
    file: tuple[bytes, list[str], dict[int, str]], chunk: int
) -> None:
    data, good, bad = file
    whole, cut = (
        check(read_nquads(io.BytesIO(data), stream="s", chunk=size, limits=LARGE), good, bad)
        for size in (1 << 20, chunk)
    )
    assert whole == cut


@given(quad_files(), CHUNKS, st.integers(20, 2000))
def test_parts_of_quads_have_each_good_event_and_each_bad_one_once(
    tmp_path_factory: Any, file: tuple[bytes, list[str], dict[int, str]], split: int, window: int
) -> None:
    data, good, bad = file
    path: Path = tmp_path_factory.getbasetemp() / "any.nq"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_splits, "_WINDOW", window)
        found = file_splits.split_file(str(path), stream="s", split=split)
    check((each for part in found for each in file_splits.read_split(part, namespace=X, limits=LARGE)), good, bad)


@given(quad_files(), CHUNKS)
def test_gzipped_quads_are_read_as_plain_ones(
    tmp_path_factory: Any, file: tuple[bytes, list[str], dict[int, str]], size: int
) -> None:
    data, good, bad = file
    path: Path = tmp_path_factory.getbasetemp() / "any.nq.gz"
    path.write_bytes(b"".join(map(gzip.compress, cut(data, size))))
    check(read_batches(path, stream="s", limits=LARGE), good, bad)


# CSV

TABLE = Limits(event_bytes=300, gunzip_ratio=10**6)
TOO_LONG_RECORD = "a record longer than 300 bytes"


@st.composite
def tables(draw: st.DrawFn) -> tuple[bytes, list[str], dict[int, str]]:
    """A file, the ids of its good events, and why others are bad, by their lines."""
    good = st.sampled_from([b"T,1,x", b"T,1,", "T,1,é€".encode(), b"T,1,\x00"])
    longest = b'T,1,"' + b'""' * 147 + b'"'  # as long as an event may be, and written out it is shorter
    long = st.integers(297, 900).map(lambda size: b"T,1," + b"x" * size)
    wrong = st.sampled_from([b"T,1", b"T,1,2,3", b"T,,x", b"T,1,\xff", b"T,1,\xc3", b"\x00", b",1,x"])
    kinds = st.one_of(
        good.map(lambda record: (record, "")),
        st.just((longest, "")),
        long.map(lambda record: (record, TOO_LONG_RECORD)),
        wrong.map(lambda record: (record, "?")),
        st.just((b"", "blank")),
    )
    records = draw(st.lists(kinds, max_size=8))
    if draw(st.booleans()):  # no quote may close it
        records = [record for record in records if b'"' not in record[0]]
        records.insert(draw(st.integers(0, len(records))), (b'T,1,"', "?"))
    end = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    data = end.join([b"type,time,x", *(record for record, _ in records)]) + draw(st.sampled_from([b"", end]))
    lines = {line: reason for line, (_, reason) in enumerate(records, 2) if reason != "blank"}
    bad = {line: reason for line, reason in lines.items() if reason}
    return data, [f"s:{line}" for line, reason in lines.items() if not reason], bad


@given(tables(), st.integers(1, 700) | st.just(1 << 20), st.booleans())
def test_good_records_are_read_and_bad_ones_reported_once_wherever_the_file_is_cut(
    tmp_path_factory: Any, file: tuple[bytes, list[str], dict[int, str]], size: int, gzipped: bool
) -> None:
    data, good, bad = file
    path: Path = tmp_path_factory.getbasetemp() / ("any.csv.gz" if gzipped else "any.csv")
    path.write_bytes(b"".join(map(gzip.compress, cut(data, size))) if gzipped else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", size)
        check(read_batches(path, stream="s", limits=TABLE), good, bad)


# TriG

GRAPHS = Limits(event_bytes=800, gunzip_ratio=10**6)
PROLOGUE = b"@prefix : <http://e/> .\nPREFIX prov: <http://www.w3.org/ns/prov#>\n"
SIZES = st.integers(801, 2500)


@st.composite
def graphs(draw: st.DrawFn, number: int) -> Section:
    name = b":g%d" % number
    time = name + b" prov:generatedAtTime 1 .\n"
    body, reason = b":s :p %d , '%b'" % (number, b"x" * draw(st.integers(0, 60))), ""
    match draw(st.integers(0, 9)):
        case 0:
            quote = draw(st.sampled_from([b"'", b'"', b"'''", b'"""']))
            body, reason = b":s :p %b%b%b" % (quote, b"x" * draw(SIZES), quote), GRAPHS.describe_event()
        case 1:
            lines = b"".join(b":s :p %d .\n" % i for i in range(draw(SIZES) // 10))
            body, reason = lines, GRAPHS.describe_event()
        case 2:
            body, reason = b":s :p <http://e/" + b"x" * draw(SIZES) + b">", GRAPHS.describe_event()
        case 3:
            body, reason = b":s :p 1 . #" + b"x" * draw(SIZES), GRAPHS.describe_event()
        case 4:
            wrong = [
                b", 1",
                b"'\xff'",
                b"\xc3",
                b"\x00",
                b"<http://e/ x>",
                b"'x",
                b"<<( :s :p 1 )>>",
                b"nope:x",
                b"1\r\r]",
            ]
            body, reason = b":s :p " + draw(st.sampled_from(wrong)), "?"
        case 5:
            return Section(draw(st.sampled_from([b"#" + b"x" * draw(SIZES) + b"\n", b"\n" * draw(SIZES), b"\r\n"])))
        case 6:
            return Section(name + b" { :s :p 1 .\n", {0: "?"})
    graph = name + b" {\n" + body + b"\n}\n"
    before = draw(st.booleans())
    return Section(time + graph if before else graph + time, {int(before): reason} if reason else {}, not reason)


@given(
    st.integers(0, 8).flatmap(lambda count: st.tuples(*map(graphs, range(count)))),
    st.integers(1, 100) | st.integers(1, 3000) | st.just(1 << 18),
    st.sampled_from(["", "newline", "gzipped"]),
)
def test_good_graphs_are_read_and_bad_ones_reported_once_wherever_the_file_is_cut(
    tmp_path_factory: Any, found: tuple[Section, ...], size: int, way: str
) -> None:
    data, good, bad = PROLOGUE, [], {}
    for number, graph in enumerate(found):
        bad.update({data.count(b"\n") + 1 + line: reason for line, reason in graph.bad.items()})
        good += [f"http://e/g{number}"] * graph.good
        data += graph.text
    data = data if way == "newline" else data.removesuffix(b"\n")
    if way != "gzipped":
        pieces = trig_chunks(io.BytesIO(data), stream_name="s", limits=GRAPHS, chunk=size)
        check(events_of(pieces, stream="s", limits=GRAPHS), good, bad)
        return
    path: Path = tmp_path_factory.getbasetemp() / "any.trig.gz"
    path.write_bytes(b"".join(map(gzip.compress, cut(data, size))))
    check(read_batches(path, stream="s", limits=GRAPHS), good, bad)
