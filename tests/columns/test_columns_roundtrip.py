"""Events reach the columns by two ways, N-Quads and Python objects: what a pattern finds in them is the same."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import examples
from strategies.choices import Drawn
from strategies.graphs import some_events
from strategies.terms import World, a_world, literals
from support.agreement import Case, answers_over, cases, relabelled
from thence.columns.batches import EventBatch, encode
from thence.io.nquads import read_nquads
from thence.rdf.documents import Format, serialize
from thence.rdf.events import Event
from thence.rdf.terms import IRI, PROV, XSD, BlankNode, Literal, Quad, Term, Triple

pytestmark = pytest.mark.numba

AT = IRI(PROV + "generatedAtTime")


def quads_of(event: Event) -> list[Quad]:
    """An event as it stands in a file: its time, then its graph."""
    assert event.id is not None
    graph = IRI(event.id)
    time = Quad(graph, AT, Literal(str(event.start), XSD + "integer"), None)
    return [time, *(Quad(*triple, graph) for triple in event.triples)]


def read(data: bytes, *, chunk: int = 1 << 20) -> list[EventBatch]:
    found = list(read_nquads(io.BytesIO(data), chunk=chunk))
    assert all(isinstance(batch, EventBatch) for batch in found), found
    return found  # type: ignore[return-value]


def written(term: Term, draw: st.DrawFn) -> str:
    """One of the ways in which N-Quads may write a term."""
    text = str(term)
    if isinstance(term, Literal) and draw(st.booleans()):
        escaped = "".join(c if c.isascii() and c.isalnum() else f"\\U{ord(c):08X}" for c in term.value)
        text = f'"{escaped}"' + text[text.rindex('"') + 1 :]
        if term.language and draw(st.booleans()):
            text = text[: text.rindex("@")] + text[text.rindex("@") :].upper()
        elif term.datatype == XSD + "string" and draw(st.booleans()):
            text += f"^^<{term.datatype}>"
    elif isinstance(term, IRI) and draw(st.booleans()):
        text = text.replace("e", "\\u0065", 1)
    return text


@st.composite
def oddly_written(draw: st.DrawFn, events: Sequence[Event]) -> bytes:
    """The events as N-Quads in any spelling, with comments, empty lines and repeated quads between."""
    space = st.sampled_from([" ", "\t", "  ", " \t "])
    lines: list[str] = []
    for event in events:
        time, *content = quads_of(event)
        for quad in draw(st.permutations([time, *content, *content[: draw(st.integers(0, 2))]])):
            terms = [written(term, draw) for term in quad if term is not None]
            lines.append(
                "".join(text + draw(space) for text in terms) + "." + draw(st.sampled_from(["", " ", " # end"]))
            )
            lines += draw(st.sampled_from([[], [], [], [""], ["# a comment"]]))
    return (draw(st.sampled_from(["\n", "\r\n"])).join(lines)).encode() + draw(st.sampled_from([b"", b"\n"]))


def with_triples(case: Case) -> tuple[Event, ...]:
    """A graph without triples is not an event of a file."""
    filler = Triple(IRI("http://example.org/a"), IRI("http://example.org/filler"), Literal(""))
    return tuple(event if event.triples else Event(event.start, [filler], id=event.id) for event in case.events)


@examples(1.5)
@given(cases())
def test_events_from_nquads_have_the_answers_of_events_from_objects(case: Case) -> None:
    events = with_triples(case)
    data = serialize([quad for event in events for quad in quads_of(event)], Format.N_QUADS)
    expected = answers_over(case.pattern, [encode(events)], vectorise=True)
    assert answers_over(case.pattern, read(data), vectorise=True) == expected
    assert answers_over(case.pattern, read(data), vectorise=False) == expected


@examples(1)
@given(cases(), st.integers(1, 400))
def test_the_answers_do_not_depend_on_how_a_file_is_cut(case: Case, chunk: int) -> None:
    events = with_triples(case)
    data = serialize([quad for event in events for quad in quads_of(event)], Format.N_QUADS)
    batches = [encode([event], first=number) for number, event in enumerate(events)]
    expected = answers_over(case.pattern, [encode(events)], vectorise=True)
    assert answers_over(case.pattern, read(data, chunk=chunk), vectorise=True) == expected
    assert answers_over(case.pattern, batches, vectorise=True) == expected


@st.composite
def odd_files(draw: st.DrawFn) -> tuple[list[Event], bytes]:
    choices = Drawn(draw)
    events = [event for event in some_events(choices, a_world(choices)) if event.triples]
    return events, draw(oddly_written(events))


@examples(0.8)
@given(odd_files())
def test_a_term_is_the_same_however_it_is_written(file: tuple[list[Event], bytes]) -> None:
    events, data = file
    found = [event for batch in read(data) for event in batch]
    assert [event.id for event in found] == [event.id for event in events]
    for event, original in zip(found, events, strict=True):
        assert {Triple(*map(relabelled, triple)) for triple in event.triples} == set(original.triples)


@given(st.lists(literals, max_size=8))
def test_events_come_out_of_the_columns_as_they_went_in(objects: list[Literal]) -> None:
    world = World((IRI("http://example.org/a"), BlankNode("b")), (IRI("http://example.org/p"),), tuple(objects))
    triples = [Triple(node, world.predicates[0], term) for node in world.nodes for term in world.objects]
    events = [Event(time, triples, id=f"http://example.org/{time}") for time in (3, 5)]
    found = list(encode(events))
    for event, original in zip(found, events, strict=True):
        assert (event.start, event.end, event.domain, event.id) == (original.start,) * 2 + (
            original.domain,
            original.id,
        )
        assert tuple(Triple(*map(relabelled, triple)) for triple in event.triples) == original.triples
    labels = [{term for triple in event.triples for term in triple if isinstance(term, BlankNode)} for event in found]
    assert labels[0].isdisjoint(labels[1])


@pytest.mark.parametrize(
    ("left", "right"), [("a-", "ax2d"), ("a-", "ax2dx"), ("S_1", "S"), ("é", "xe9x"), ("x", "x78x")]
)
def test_streams_of_two_names_share_no_blank_node(left: str, right: str) -> None:
    event = Event(0, "_:b <http://example.org/p> _:7_b, _:b .")
    labels = [
        {term for triple in encode([event], stream=stream).triples(0) for term in triple if isinstance(term, BlankNode)}
        for stream in (left, right)
    ]
    assert labels[0].isdisjoint(labels[1])
