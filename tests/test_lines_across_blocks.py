"""Where a file is cut into blocks changes nothing (BAD-6): every good event is read once, and every bad one is reported
once, with its line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks import cut, in_blocks
from thence.rdf import jsonl
from thence.rdf.events import BadEvent, Event
from thence.rdf.files import read_events
from thence.rdf.jsonl import read_jsonl
from thence.rdf.limits import Limits
from thence.spark import parts

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
    """What each line holds by itself."""
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
    """As columns hold them: what is bad comes after what is good, and blank nodes have labels of their own."""
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
        patch.setattr(parts, "_WINDOW", size)
        for part in parts.parts_of(str(path), stream="s", split=split):
            for each in parts.read_part(part, namespace=X, limits=LIMITS):
                found += [each] if isinstance(each, BadEvent) else list(each)
    assert without_labels(list(map(summary, found))) == without_labels(line_by_line(data))
