"""Events from N-Quads: what makes one, what its time is, and what becomes of the rest."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.blocks import in_blocks
from thence.columns.batches import EventBatch, encode
from thence.io.nquads import read_nquads
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.terms import BlankNode
from thence.rdf.times import Domain

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("however_many")]

AT = "<http://www.w3.org/ns/prov#generatedAtTime>"
FROM = "<http://www.w3.org/ns/prov#startedAtTime>"
TO = "<http://www.w3.org/ns/prov#endedAtTime>"
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
DATE = "^^<http://www.w3.org/2001/XMLSchema#dateTime>"


def read(
    text: str | bytes, *, chunk: int = 1 << 20, limits: Limits | None = None
) -> tuple[list[Event], list[BadEvent]]:
    data = text.encode() if isinstance(text, str) else text
    events: list[Event] = []
    bad: list[BadEvent] = []
    for found in read_nquads(io.BytesIO(data), stream="s", chunk=chunk, limits=limits):
        if isinstance(found, EventBatch):
            events.extend(found)
        else:
            bad.append(found)
    return events, bad


def tick(graph: str, time: int) -> str:
    return f'<{graph}> {AT} "{time}"{INTEGER} .\n'


@pytest.mark.parametrize(
    "text",
    [
        tick("x:g", 7) + "<x:a> <x:b> <x:c> <x:g> .\n",
        "<x:a> <x:b> <x:c> <x:g> .\n" + tick("x:g", 7),
        f'<x:g> {AT} "7"{INTEGER} <x:g> .\n<x:a> <x:b> <x:c> <x:g> .\n',
        f'# a comment\n\n<x:a> <x:b> <x:c> <x:g> .\n   \n<x:g> {AT} "7"{INTEGER} <x:g> .',
    ],
)
def test_a_time_stands_before_after_or_in_its_graph(text: str) -> None:
    events, bad = read(text)
    assert not bad
    (event,) = events
    assert (event.start, event.end, event.domain, event.id) == (7, 7, Domain.TICKS, "x:g")
    assert [" ".join(map(str, triple)) for triple in event.triples] == ["<x:a> <x:b> <x:c>"]


def test_an_interval_has_a_start_and_an_end() -> None:
    times = f'<x:g> {FROM} "2024-01-01T00:00:00Z"{DATE} .\n<x:g> {TO} "2024-01-01T02:00:00+01:00"{DATE} .\n'
    (event,), bad = read(times + "<x:a> <x:b> <x:c> <x:g> .\n")
    assert not bad
    assert event.domain is Domain.DATETIME
    assert (event.start, event.end) == (1_704_067_200_000_000, 1_704_070_800_000_000)


def test_a_time_without_a_zone_or_with_a_space_is_utc() -> None:
    first = f'<x:g> {AT} "2024-01-01T00:00:00"{DATE} .\n<x:a> <x:b> <x:c> <x:g> .\n'
    second = f'<x:h> {AT} "2024-01-01 00:00:00" .\n<x:a> <x:b> <x:c> <x:h> .\n'
    events, bad = read(first + second)
    assert not bad
    assert [event.start for event in events] == [1_704_067_200_000_000] * 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<x:a> <x:b> <x:c> <x:g> .\n", "no time: prov:generatedAtTime is missing"),
        ("<x:a> <x:b> <x:c> .\n", "a triple outside any graph that does not give a graph's time"),
        (
            tick("x:g", 1) + tick("x:g", 2) + "<x:a> <x:b> <x:c> <x:g> .\n",
            "two different values of prov:generatedAtTime",
        ),
        (
            f'<x:g> {FROM} "1"{INTEGER} .\n<x:a> <x:b> <x:c> <x:g> .\n',
            "an interval needs both prov:startedAtTime and prov:endedAtTime",
        ),
        (
            f'<x:g> {FROM} "2"{INTEGER} .\n<x:g> {TO} "1"{INTEGER} .\n<x:a> <x:b> <x:c> <x:g> .\n',
            "it ends before it starts",
        ),
        (
            f'<x:g> {FROM} "2"{INTEGER} .\n<x:g> {TO} "2024-01-01T00:00:00Z"{DATE} .\n<x:a> <x:b> <x:c> <x:g> .\n',
            "its start and its end are of different kinds: a tick and a date",
        ),
    ],
)
def test_what_has_no_clear_time_is_a_bad_event_with_its_reason(text: str, reason: str) -> None:
    events, bad = read("\n" + text)
    assert not events
    assert [(problem.stream, problem.line, problem.reason) for problem in bad] == [("s", 2, reason)]
    assert bad[0].text == text


def test_a_time_that_is_none_is_a_bad_event() -> None:
    events, (bad,) = read(f'<x:g> {AT} "yesterday" .\n<x:a> <x:b> <x:c> <x:g> .\n')
    assert not events
    assert '"yesterday" is not a time' in bad.reason


def test_a_bad_line_takes_its_event_with_it_and_no_other() -> None:
    text = "".join(tick(f"x:g{i}", i) + f"<x:a> <x:b> <x:c{i}> <x:g{i}> .\n" for i in range(3))
    broken = text.replace("<x:c1>", "<x: c1>")
    events, (bad,) = read(broken)
    assert [event.id for event in events] == ["x:g0", "x:g2"]
    assert bad.line == 4
    assert bad.text == tick("x:g1", 1) + "<x:a> <x:b> <x: c1> <x:g1> .\n"


def test_a_bad_line_whose_graph_is_lost_belongs_to_the_event_around_it() -> None:
    text = tick("x:g", 1) + "<x:a> <x:b> rubbish\n" + "<x:a> <x:b> <x:c> <x:g> .\n"
    events, (bad,) = read(text)
    assert (events, bad.line) == ([], 2)


def test_a_bad_line_between_events_harms_neither() -> None:
    text = tick("x:g", 1) + "<x:a> <x:b> <x:c> <x:g> .\nrubbish\n" + tick("x:h", 1) + "<x:a> <x:b> <x:c> <x:h> .\n"
    events, (bad,) = read(text)
    assert [event.id for event in events] == ["x:g", "x:h"]
    assert (bad.line, bad.text) == (3, "rubbish\n")


def test_blank_nodes_are_local_to_their_event() -> None:
    text = "".join(tick(f"x:g{i}", 1) + f"_:b <x:p> _:b <x:g{i}> .\n_:b <x:p> _:c <x:g{i}> .\n" for i in range(2))
    (first, second), bad = read(text)
    assert not bad
    nodes = [
        {term for triple in event.triples for term in triple if isinstance(term, BlankNode)}
        for event in (first, second)
    ]
    assert [len(labels) for labels in nodes] == [2, 2]
    assert not nodes[0] & nodes[1]


def test_a_graph_is_a_set_of_triples() -> None:
    text = tick("x:g", 1) + "<x:a> <x:b> <x:c> <x:g> .\n" * 3 + "<x:a> <x:b> <x:d> <x:g> .\n"
    (event,), _ = read(text)
    assert len(event.triples) == 2


def test_a_large_graph_is_a_set_of_triples_too() -> None:
    text = tick("x:g", 1) + "".join(f"<x:a> <x:b> <x:c{i % 50}> <x:g> .\n" for i in range(100))
    (event,), _ = read(text)
    assert [str(triple.object) for triple in event.triples] == [f"<x:c{i}>" for i in range(50)]


def test_a_graph_that_comes_again_later_needs_its_time_again() -> None:
    one = tick("x:g", 1) + "<x:a> <x:b> <x:c> <x:g> .\n"
    events, bad = read(one + tick("x:h", 2) + "<x:a> <x:b> <x:c> <x:h> .\n" + "<x:a> <x:b> <x:d> <x:g> .\n")
    assert [event.id for event in events] == ["x:g", "x:h"]
    assert [problem.reason for problem in bad] == ["no time: prov:generatedAtTime is missing"]


def test_a_blank_graph_is_known_by_its_place() -> None:
    (event,), _ = read(f'_:g {AT} "1"{INTEGER} .\n<x:a> <x:b> <x:c> _:g .\n')
    assert event.id == "s:1"


@st.composite
def files(draw: st.DrawFn) -> str:
    blocks = []
    for number in range(draw(st.integers(0, 6))):
        graph = f"x:g{draw(st.integers(0, 3))}"
        quads = [
            f'<x:a> <x:b> "{"é" * draw(st.integers(0, 40))}{i}" <{graph}> .\n' for i in range(draw(st.integers(0, 4)))
        ]
        time = tick(graph, number) if draw(st.booleans()) else ""
        rubbish = draw(st.sampled_from(["", "", "rubbish\n", "<x:a> <x:b> <bad iri> <x:g1> .\n", "\n", "# c\n"]))
        blocks.append(time + "".join(quads) + rubbish)
    return "".join(blocks)


@given(files(), st.integers(1, 200))
def test_where_the_file_is_cut_into_chunks_changes_nothing(text: str, chunk: int) -> None:
    assert sorted_problems(read(text, chunk=chunk)) == sorted_problems(read(text))


@given(files(), st.integers(1, 200))
def test_where_the_file_is_cut_changes_nothing_about_events_that_are_too_large(text: str, chunk: int) -> None:
    limits = Limits(event_bytes=400, event_triples=3)
    (events, bad), (others, same) = (read(text, chunk=size, limits=limits) for size in (chunk, 1 << 20))
    assert events == others
    assert sorted((each.line, each.reason) for each in bad) == sorted((each.line, each.reason) for each in same)


def sorted_problems(found: tuple[list[Event], list[BadEvent]]) -> tuple[list[Event], list[BadEvent]]:
    return found[0], sorted(found[1], key=lambda bad: bad.line)


def test_an_event_that_is_too_large_is_reported_once_and_passed_over() -> None:
    limits = Limits(event_triples=100)
    large = tick("x:large", 1) + "".join(f"<x:a> <x:b> <x:c{i}> <x:large> .\n" for i in range(1000))
    text = tick("x:g", 1) + "<x:a> <x:b> <x:c> <x:g> .\n" + large + tick("x:h", 1) + "<x:a> <x:b> <x:c> <x:h> .\n"
    for chunk in (100, 1000, 10_000, 1 << 20):
        events, bad = read(text, chunk=chunk, limits=limits)
        assert [event.id for event in events] == ["x:g", "x:h"], chunk
        assert [(problem.line, problem.reason) for problem in bad] == [(3, limits.describe_event())], chunk


def test_a_line_that_is_too_long_takes_its_event_with_it() -> None:
    limits = Limits(event_bytes=1000)
    text = tick("x:g", 1) + f'<x:a> <x:b> "{"x" * 5000}" <x:g> .\n' + tick("x:h", 1) + "<x:a> <x:b> <x:c> <x:h> .\n"
    for chunk in (10, 500, 1 << 20):
        events, (bad,) = read(text, chunk=chunk, limits=limits)
        assert [event.id for event in events] == ["x:h"], chunk
        assert len(bad.text) <= BadEvent.LONGEST + 1


def test_a_line_that_is_too_long_is_reported_alike_wherever_the_file_is_cut() -> None:
    limits = Limits(event_bytes=4000)
    text = tick("x:g", 1) + f'<x:a> <x:b> "{"x" * 4000}" <x:g> .\n' + tick("x:h", 1) + "<x:a> <x:b> <x:c> <x:h> .\n"
    for chunk in (10, 4000, 1 << 20):
        (event,), (bad,) = read(text, chunk=chunk, limits=limits)
        assert (event.id, bad.line, bad.reason) == ("x:h", 2, "a line longer than 4,000 bytes"), chunk


def test_events_behind_a_line_that_is_too_long_are_read_though_the_stream_fails_then() -> None:
    later = "".join(tick(f"x:{name}", 1) for name in "ghi").encode()
    stream = in_blocks(b"x" * 1000, b"\n" + later, failure=OSError("the disk is gone"))
    found = list(read_nquads(stream, stream="s", chunk=1000, limits=Limits(event_bytes=300)))
    ids = [event.id for batch in found if isinstance(batch, EventBatch) for event in batch]
    assert ids == ["x:h"]  # g is a time alone beside something unreadable, i is torn
    assert [(problem.line, problem.reason) for problem in found if isinstance(problem, BadEvent)] == [
        (1, Limits(event_bytes=300).describe_event()),
        (2, "a time without a graph, next to a line that can't be read"),
        (4, "the disk is gone"),
    ]


def test_an_event_of_one_triple_too_many_is_never_cut_short() -> None:
    text = tick("x:g", 1) + "<x:a> <x:b> <x:c> <x:g> .\n<x:a> <x:b> <x:d> <x:g> .\n"
    for chunk in range(1, len(text) + 1):
        events, bad = read(text, chunk=chunk, limits=Limits(event_triples=1))
        assert (events, [problem.line for problem in bad]) == ([], [1]), chunk


@pytest.mark.parametrize("between", ["# a comment\n", "\n" * 20, "rubbish\n"])
def test_an_event_that_is_too_large_is_reported_once_whatever_stands_in_it(between: str) -> None:
    quads = "".join(f"<x:a> <x:b> <x:c{i}> <x:g> .\n" for i in range(5))
    text = tick("x:g", 1) + quads + between + quads + tick("x:h", 1)
    for chunk in range(1, len(text) + 1):
        events, bad = read(text, chunk=chunk, limits=Limits(event_triples=3))
        assert [event.id for event in events] == ["x:h"], chunk
        assert [problem.line for problem in bad] == [1], chunk


def test_an_event_that_lines_without_quads_make_too_large_is_never_cut_short() -> None:
    text = tick("x:g", 1) + "<x:a> <x:b> <x:c> <x:g> .\nrubbish\n" + "<x:a> <x:b> <x:d> <x:g> .\n"
    for chunk in range(1, len(text) + 1):
        events, bad = read(text, chunk=chunk, limits=Limits(event_bytes=len(text) - 30))
        assert (events, [problem.line for problem in bad]) == ([], [1]), chunk


@pytest.mark.parametrize("between", ["# a comment\n", "rubbish\n"])
def test_what_follows_on_an_event_from_far_behind_is_reported(between: str) -> None:
    text = tick("x:g", 1) + "<x:a> <x:b> <x:c> <x:g> .\n" + between * 100
    limits = Limits(event_bytes=500)
    for chunk in (10, 100, 200, 700):
        events, _ = read(text + tick("x:h", 1) + "<x:a> <x:b> <x:c> <x:h> .\n", chunk=chunk, limits=limits)
        assert [event.id for event in events] == ["x:g", "x:h"], chunk
        _, bad = read(text + "<x:a> <x:b> <x:d> <x:g> .\n", chunk=chunk, limits=limits)
        assert bad[-1].reason == limits.describe_event(), chunk
        assert "<x:d>" in bad[-1].text, chunk


def test_encoding_events_and_reading_them_back_changes_nothing_but_blank_labels() -> None:
    events, _ = read("".join(tick(f"x:g{i}", i) + f"<x:a> <x:b> <x:c{i}> <x:g{i}> .\n" for i in range(4)))
    batch = encode(events, stream="s")
    assert list(batch) == events
    assert batch.event_of_triple.tolist() == [0, 1, 2, 3]
    assert np.array_equal(batch.starts, batch.ends)
