"""Events whose graph is empty: a time alone, in every kind of file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from thence.columns.batches import EventBatch
from thence.io.event_files import read_events
from thence.io.nquads import read_nquads
from thence.rdf.events import BadEvent, Event

pytestmark = pytest.mark.numba

PROV = "http://www.w3.org/ns/prov#"
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
PREFIX = f"PREFIX prov: <{PROV}>\n"


def at(graph: str, time: int, within: str = "") -> str:
    return f'<x:{graph}> <{PROV}generatedAtTime> "{time}"{INTEGER} {within}.\n'


def full(number: int) -> str:
    return at(f"g{number}", number) + f"<x:s> <x:p> <x:o> <x:g{number}> .\n"


FILES = {
    "default.nq": full(1) + at("g2", 2) + full(3),
    "inside.nq": full(1) + at("g2", 2, "<x:g2> ") + full(3),
    "block.trig": PREFIX
    + "<x:g1> { <x:s> <x:p> <x:o> } <x:g1> prov:generatedAtTime 1 .\n"
    + "<x:g2> {} <x:g2> prov:generatedAtTime 2 .\n"
    + "<x:g3> { <x:s> <x:p> <x:o> } <x:g3> prov:generatedAtTime 3 .\n",
    "alone.trig": PREFIX
    + "<x:g1> { <x:s> <x:p> <x:o> . <x:g1> prov:generatedAtTime 1 }\n"
    + "<x:g2> prov:generatedAtTime 2 .\n"
    + "<x:g3> { <x:s> <x:p> <x:o> . <x:g3> prov:generatedAtTime 3 }\n",
    "inside.trig": PREFIX
    + "<x:g1> { <x:s> <x:p> <x:o> . <x:g1> prov:generatedAtTime 1 }\n"
    + "<x:g2> { <x:g2> prov:generatedAtTime 2 }\n"
    + "<x:g3> { <x:s> <x:p> <x:o> . <x:g3> prov:generatedAtTime 3 }\n",
    "empty.jsonl": '{"time": 1, "id": "x:g1", "graph": "<x:s> <x:p> <x:o> ."}\n'
    '{"time": 2, "id": "x:g2", "graph": ""}\n'
    '{"time": 3, "id": "x:g3", "graph": "<x:s> <x:p> <x:o> ."}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_a_time_alone_is_an_event_with_an_empty_graph(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    graph = "<x:s> <x:p> <x:o> ."
    expected = [Event(1, graph, id="x:g1"), Event(2, "", id="x:g2"), Event(3, graph, id="x:g3")]
    assert list(read_events(tmp_path / name)) == expected


@pytest.mark.parametrize("name", FILES)
def test_an_empty_event_breaks_strict_contiguity(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    text = "SELECT ?x WITHIN 9 TICKS FROM STREAM S <x:s> {{ SEQ (A{0} B) {1} }}"
    gpms = "DEFINE GPM A ON S { ?x <x:p> ?a } DEFINE GPM B ON S { ?x <x:p> ?b }"
    assert len(list(thence.parse(text.format(";", gpms)).match(tmp_path / name))) == 1
    assert len(list(thence.parse(text.format(",", gpms)).match(tmp_path / name))) == 0


def test_an_empty_event_may_have_an_interval(tmp_path: Path) -> None:
    (tmp_path / "e.trig").write_text(PREFIX + "<x:g> {} <x:g> prov:startedAtTime 1 ; prov:endedAtTime 5 .")
    assert list(read_events(tmp_path / "e.trig")) == [Event(1, "", 5, "x:g")]


def test_a_time_far_from_its_graph_leaves_that_without_one(tmp_path: Path) -> None:
    (tmp_path / "far.nq").write_text(at("g", 1) + full(2) + "<x:s> <x:p> <x:o> <x:g> .\n")
    events = list(read_events(tmp_path / "far.nq"))
    assert [event.id for event in events if isinstance(event, Event)] == ["x:g", "x:g2"]
    assert [(bad.line, bad.reason) for bad in events if isinstance(bad, BadEvent)] == [
        (4, "no time: prov:generatedAtTime is missing")
    ]


LOST = "a time without a graph, next to a line that can't be read"


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("behind.nq", full(1) + at("g", 1) + "rubbish\n" + full(2), [3, 4]),
        ("before.nq", full(1) + "rubbish\n# a comment\n" + at("g", 1) + full(2), [3, 5]),
        (
            "behind.trig",
            PREFIX + "<x:g> prov:generatedAtTime 1 .\nrubbish .\n<x:h> {<x:h> prov:generatedAtTime 1 ; <x:p> 1}",
            [2, 3],
        ),
        ("before.trig", PREFIX + "<x:g>\n{ , }\n<x:g> prov:generatedAtTime 1 .\n", [2, 4]),
    ],
)
def test_a_time_alone_beside_what_can_not_be_read_is_bad(
    name: str, text: str, lines: list[int], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    bad = [found for found in read_events(tmp_path / name) if isinstance(found, BadEvent)]
    assert sorted(problem.line for problem in bad) == lines
    assert [problem.reason for problem in bad if problem.reason == LOST] == [LOST]


@given(
    st.lists(st.sampled_from([at("g", 1), at("h", 2), "rubbish\n", "# x\n", full(1), "<x:s> <x:p> 'x' .\n"])), st.data()
)
def test_where_the_file_is_cut_changes_nothing(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts).encode()
    whole = read(text, 1 << 20)
    assert read(text, data.draw(st.integers(1, 200))) == whole


def read(text: bytes, chunk: int) -> tuple[list[Event], list[BadEvent]]:
    found = list(read_nquads(io.BytesIO(text), chunk=chunk))
    events = [event for batch in found if isinstance(batch, EventBatch) for event in batch]
    return events, sorted((bad for bad in found if isinstance(bad, BadEvent)), key=lambda bad: bad.line)
