"""Events of TriG files that are bad for their time: reported with the file's own line and text."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.columns.batches import EventBatch
from thence.io.nquads import events_of
from thence.io.trig import trig_chunks
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits

pytestmark = pytest.mark.numba

PROLOGUE = "@prefix : <http://e/> .\nPREFIX prov: <http://www.w3.org/ns/prov#>\n"
GOOD = ":good%d {\n  :s :p %d\n}\n:good%d prov:generatedAtTime 1 .\n"
AT = "prov:generatedAtTime"


def read(text: str, *, chunk: int = 1 << 18, limits: Limits | None = None) -> tuple[list[Event], list[BadEvent]]:
    limits = limits or Limits()
    pieces = trig_chunks(io.BytesIO(text.encode()), stream_name="s", chunk=chunk, limits=limits)
    events: list[Event] = []
    bad: list[BadEvent] = []
    for found in events_of(pieces, stream="s", limits=limits):
        if isinstance(found, EventBatch):
            events.extend(found)
        else:
            bad.append(found)
    return events, bad


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (":b { :s :p [ :q 1 , 2 ] }", "no time: prov:generatedAtTime is missing"),
        (":s :p 1 .", "a triple outside any graph that does not give a graph's time"),
        (f":b {{\n :s :p 1 .\n}} :b {AT} 1 . :b {AT} 2 .", "two different values of prov:generatedAtTime"),
        (f":b {AT} 1 , 2 .\n:b {{ :s :p 1 }}", "two different values of prov:generatedAtTime"),
        (":b prov:startedAtTime 2 ; prov:endedAtTime 1 .\n:b { :s :p 1 }", "it ends before it starts"),
        (f':b {{ :s :p """\n:x {{ \n""" . :b {AT} "now" }}', '"now" is not a time'),
        (":b { :b prov:startedAtTime 1 . :s :p 1 }", "an interval needs both prov:startedAtTime and prov:endedAtTime"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 30, 1 << 18])
def test_an_event_that_is_bad_for_its_time_has_the_files_own_line_and_text(text: str, reason: str, chunk: int) -> None:
    before = PROLOGUE + "".join(GOOD % (i, i, i) for i in range(3)) + "# a comment\n\n"
    after = "\nPREFIX x: <x:>\n" + GOOD % (3, 3, 3)
    events, bad = read(before + text + after, chunk=chunk)
    assert [event.id for event in events] == [f"http://e/good{i}" for i in range(4)]
    assert [(problem.line, problem.text.removesuffix("\nPREFIX x: <x:>")) for problem in bad] == [
        (before.count("\n") + 1, text)
    ]
    assert bad[0].reason.startswith(reason)


def test_statements_in_a_block_of_the_default_graph_have_their_own_lines() -> None:
    text = PROLOGUE + f'{{\n  :a {AT} "x" .\n  # the next\n  :s :p 1 .\n  :b {AT} "y"\n}}\n:b {{ :s :p 1 }}\n'
    _, bad = read(text)
    assert [(problem.line, problem.text) for problem in bad] == [
        (4, f':a {AT} "x" .'),
        (6, ":s :p 1 ."),
        (7, f':b {AT} "y"\n}}\n:b {{ :s :p 1 }}'),
    ]


def test_an_event_in_many_blocks_is_shown_from_its_first_one_on() -> None:
    blocks = "".join(f":b {{ :s :p {i} }}\n" for i in range(1000))
    for chunk in (100, 5000, 1 << 18):
        _, (bad,) = read(PROLOGUE + blocks, chunk=chunk)
        assert (bad.line, bad.text) == (3, blocks[: BadEvent.LONGEST] + "…")


def test_a_line_is_right_behind_a_bad_graph_and_the_times_that_go_with_it() -> None:
    text = PROLOGUE + f":a {{ :s :p , }}\n:a {AT} 1 .\n:a {AT} 2 .\n:b {{ :s :p 1 }}\n:c {{ :s :p 1 }}"
    _, bad = read(text)
    assert [(problem.line, problem.text) for problem in bad][1:] == [(6, ":b { :s :p 1 }"), (7, ":c { :s :p 1 }")]


def test_an_event_in_a_blank_graph_is_known_by_its_line_in_the_file() -> None:
    one = f"_:g {{\n  :s :p 1 , 2 , 3\n}}\n_:g {AT} 1 .\n"
    two = f"[] {{ :s :p 1 , 2 }}\n_:h {AT} 1 . _:h {{ :s :p 1 }} _:i {{ :s :p 1 . _:i {AT} 1 }}\n"
    for chunk in (1, 50, 1 << 18):
        events, bad = read(PROLOGUE + one + two, chunk=chunk)
        assert [event.id for event in events] == ["s:3", "s:8", "s:8:46"]
        assert [(problem.line, problem.reason.partition(":")[0]) for problem in bad] == [(7, "no time")]


BLOCKS = [
    *(
        ":g0 { :s :p 1 }\n",
        ":g1 { :s :p 1 , 2 }",
        "_:b { :s :p [] }\n",
        ":g0 {}\n",
        "{ :s :p 1 }\n",
        "# é\n",
        "\n",
        " ",
    ),
    *(f":g0 {AT} 1 .\n", f":g1 {AT} 2 .", f"_:b {AT} 1 .\n", f"{{ :g0 {AT} 1 . _:b {AT} 2 }}\n", ":s :p 'é' .\n"),
    *(":g0 { , }\n", "rubbish .\n", "PREFIX : <http://e/>\n", "@base <http://b/> .\n", ":g1 { <x> <y> '''\n''' }\n"),
]


@given(st.lists(st.sampled_from(BLOCKS), max_size=15), st.integers(1, 60))
def test_where_the_file_is_cut_changes_no_line_and_no_id(blocks: list[str], chunk: int) -> None:
    text = PROLOGUE + "".join(blocks)
    events, bad = read(text)
    cut_events, cut_bad = read(text, chunk=chunk)
    assert [event.id for event in cut_events] == [event.id for event in events]
    assert sorted((problem.line, problem.reason) for problem in cut_bad) == sorted(
        (problem.line, problem.reason) for problem in bad
    )
    for problem in bad + cut_bad:
        assert problem.text.splitlines()[0][:9] in text.splitlines()[problem.line - 1]


def test_ids_of_blank_graphs_are_each_anothers() -> None:
    text = PROLOGUE + f"_:a {{ :s :p 1 }} _:a {AT} 1 . _:b {{ :s :p 1 }} _:b {AT} 1 . " * 3
    events, _ = read(text)
    assert len({event.id for event in events}) == 6


def test_memory_stays_bounded_where_an_event_has_far_more_comment_than_triples() -> None:
    limits = Limits(event_bytes=1 << 20)
    comment = "#" + "x" * 100_000 + "\n"
    blocks = "".join(f":b {{ {comment} :s :p {i} }}\n" for i in range(50))
    _, (bad,) = read(PROLOGUE + blocks, limits=limits, chunk=1 << 10)
    assert (bad.line, len(bad.text)) == (3, BadEvent.LONGEST + 1)
