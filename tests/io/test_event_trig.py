"""TriG event files: whole graphs in document order, and what becomes of bad ones and of their neighbours."""

from __future__ import annotations

import io
import random

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.io.trig import trig_chunks
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits

pytestmark = pytest.mark.usefixtures("however_many")

PROLOGUE = "@prefix : <http://e/> .\nPREFIX prov: <http://www.w3.org/ns/prov#>\n"
EVENTS = {
    "after": ":{0} {{ :s :p {1} . }}\n:{0} prov:generatedAtTime 1 .\n",
    "before": ":{0} prov:generatedAtTime 1 .\n:{0} {{ :s :p {1} . }}\n",
    "inside": ":{0} {{\n  :{0} prov:generatedAtTime 1 .\n  :s :p {1} .\n}}\n",
    "GRAPH": "GRAPH :{0} {{ :s :p {1} }}\n:{0} prov:startedAtTime 1 ; prov:endedAtTime 2 .\n",
}


def read(text: str | bytes, *, chunk: int = 1 << 18, limits: Limits | None = None) -> list[bytes | BadEvent]:
    data = text.encode() if isinstance(text, str) else text
    return list(trig_chunks(io.BytesIO(data), stream_name="s", chunk=chunk, limits=limits or Limits()))


def quads(parts: list[bytes | BadEvent]) -> bytes:
    return b"".join(part for part in parts if isinstance(part, bytes))


def bad(parts: list[bytes | BadEvent]) -> list[BadEvent]:
    return [part for part in parts if isinstance(part, BadEvent)]


def graphs(nquads: bytes) -> list[str]:
    """The names of the graphs that have triples or a time, in order."""
    found: list[str] = []
    for quad in ox.parse(nquads, ox.RdfFormat.N_QUADS):
        owner = quad.subject if isinstance(quad.graph_name, ox.DefaultGraph) else quad.graph_name
        if not found or found[-1] != owner.value:
            found.append(owner.value)
    return found


def test_graphs_and_their_times_come_in_the_order_of_the_document() -> None:
    text = PROLOGUE + "".join(event.format(name, 1) for name, event in EVENTS.items())
    assert graphs(quads(read(text))) == [f"http://e/{name}" for name in EVENTS]
    assert quads(read(text)) == ox.serialize(ox.parse(text, ox.RdfFormat.TRIG), format=ox.RdfFormat.N_QUADS)


def test_lexical_forms_and_labels_are_those_of_the_document() -> None:
    text = "_:g { _:b <x:p> 007, 1.50, '''a\nb''' }"
    assert quads(read(text)).decode().splitlines() == [
        '_:b <x:p> "007"^^<http://www.w3.org/2001/XMLSchema#integer> _:g .',
        '_:b <x:p> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> _:g .',
        '_:b <x:p> "a\\nb" _:g .',
    ]


@pytest.mark.parametrize("label", ["_:anon0", "_:d684ec134b6e42bc190808778ab5dd7c", ":s"])
def test_anonymous_blank_nodes_are_numbered_through_the_document(label: str) -> None:
    text = PROLOGUE + "".join(f":g {{ {label} :p [ :p ( {i} ) ] , 'x' . }}\n" for i in range(3))
    first, second = quads(read(text, chunk=16)), quads(read(text, chunk=16))
    assert first == second
    assert ox.Dataset(ox.parse(first, ox.RdfFormat.N_QUADS)) != ox.Dataset()
    nodes = {str(quad.subject) for quad in ox.parse(first, ox.RdfFormat.N_QUADS)}
    assert len(nodes) == 7
    assert label == ":s" or label in nodes


@pytest.mark.parametrize("layout", EVENTS)
@pytest.mark.parametrize(
    "fault",
    [
        ", 1",
        "]",
        ")",
        "}",
        "{",
        "1 . .",
        '"x',
        "'x",
        '"x\n"',
        '"\\x"',
        '"""x',
        "'''x",
        "'''x''",
        "<http://e/ x>",
        "<http://e/\nx>",
        "<http://e/x",
        "<http://e/x>y>",
        "<relative>",
        "nope:x",
        "[ :p 1",
        "( 1",
        "[ :p ( 1 ] )",
        "<<( :s :p 1 )>>",
        "1 ~ :r",
        "1 {| :p 1 |}",
        '"x"@en--ltr',
        '"x"@',
        '"\\ud800"',
        "\\",
        "\x00",
        "@prefix x: <x:> .",
        ". prov:generatedAtTime 5",
    ],
)
def test_a_fault_makes_one_event_bad_and_all_others_are_read(fault: str, layout: str) -> None:
    for chunk in (1, 5, 64, 1 << 18):
        before, broken, after, last = (
            EVENTS[layout].format(name, value) for name, value in zip("abcd", [1, fault, "'a'", 1], strict=True)
        )
        parts = read(PROLOGUE + before + broken + after + last, chunk=chunk)
        assert graphs(quads(parts)) == ["http://e/a", "http://e/c", "http://e/d"]
        assert quads(parts) == quads(read(PROLOGUE + before + after + last))
        (problem,) = bad(parts)
        assert ":b" in problem.text
        assert ":c" not in problem.text
        assert problem.reason
        lines = (PROLOGUE + before).count("\n")
        assert lines < problem.line <= lines + broken.count("\n")


@pytest.mark.parametrize("line", ["rubbish", "rubbish .", ":x :y .", "}", "]", '"""', "@prefix x <y> .", "<x:", "{|"])
def test_rubbish_between_events_is_one_bad_event(line: str) -> None:
    for layout, chunk in [("after", 1), ("after", 1 << 18), ("before", 7), ("before", 1 << 18)]:
        first, second = (EVENTS[layout].format(name, 1) for name in "ab")
        parts = read(f"{PROLOGUE}{first}{line}\n{second}", chunk=chunk)
        assert quads(parts) == quads(read(PROLOGUE + first + second))
        assert len(bad(parts)) == 1
        assert line in bad(parts)[0].text


def test_prefixes_and_base_stay_in_force_after_a_fault() -> None:
    text = "@base <http://b/> .\n@prefix : <p/> .\n:a { :s :p }\n@prefix q: <q/> .\n:b { <s> :p q:o }\n"
    parts = read(text)
    assert len(bad(parts)) == 1
    assert quads(parts) == b"<http://b/s> <http://b/p/p> <http://b/q/o> <http://b/p/b> .\n"


@pytest.mark.parametrize("fault", [":a { :s :p 1 .", ":a { :s :p , }", "rubbish", "rubbish .", ":a { :s :p '"])
@pytest.mark.parametrize("directive", ["@prefix q: <q/> .", "PREFIX q: <q/>", "  prefix q: <q/>"])
def test_a_prefix_that_is_declared_behind_a_fault_is_in_force(fault: str, directive: str) -> None:
    parts = read(f"BASE <http://e/>\nPREFIX : <>\n{fault}\n{directive}\nq:g {{ :s :p 1 }}\n")
    assert graphs(quads(parts)) == ["http://e/q/g"]
    assert len(bad(parts)) == 1


def test_a_thousand_prefixes_do_no_harm() -> None:
    prefixes = "".join(f"PREFIX p{i}: <http://e/{i}/>\n" for i in range(1000))
    text = prefixes + "p1:g{p2:s p3:p 1.p4:s p5:p.x p6:o .p7:s p8:p 'p9:x'@en.p10:s p11:p p12:o}p13:g{p14:s a p15:x}"
    for chunk in (50, 1 << 18):
        parts = read(text, chunk=chunk)
        assert bad(parts) == []
        assert quads(parts) == ox.serialize(ox.parse(text, ox.RdfFormat.TRIG), format=ox.RdfFormat.N_QUADS)


def test_a_prefix_may_be_declared_anew() -> None:
    text = "PREFIX : <http://a/> :g { :s :p :o } PREFIX : <http://b/> :g { :s :p :o }"
    assert quads(read(text, chunk=4)).splitlines() == [
        b"<http://a/s> <http://a/p> <http://a/o> <http://a/g> .",
        b"<http://b/s> <http://b/p> <http://b/o> <http://b/g> .",
    ]


def test_the_reason_tells_line_and_column_in_the_document() -> None:
    text = PROLOGUE + ":a { :s :p 1 } :b {\n :s :é , }\n:c { :s :p 1 }\n"
    for chunk in (3, 1 << 18):
        (problem,) = bad(read(text, chunk=chunk))
        assert problem == BadEvent("s", 3, "line 4, column 8: , is not a valid RDF object", ":b {\n :s :é , }")


def test_a_file_may_end_in_a_comment_or_in_nothing() -> None:
    for end in ("", "\n", "# the end", "  # the end\n", "\ufeff"[:0]):
        assert bad(read(":g { :s :p 1 }".replace(":", "x:").join(["PREFIX x: <x:> ", end]))) == []
    assert read("") == []
    assert read("# nothing\n\n#") == []


def test_a_file_that_ends_too_early_has_a_bad_event() -> None:
    (problem,) = bad(read(PROLOGUE + ":a { :s :p 1 }\n:b { :s :p"))
    assert problem == BadEvent("s", 4, "line 4, column 11: Unexpected end", ":b { :s :p")


def test_a_line_in_a_long_string_opens_no_graph() -> None:
    text = PROLOGUE + ':a { :s :p """\n:x { :s :p 1 }\n""" }\n:b { :s :p 1 }\n'
    assert bad(read(text)) == []
    assert graphs(quads(read(text))) == ["http://e/a", "http://e/b"]


def test_every_graph_is_found_again_where_long_strings_are_not_closed() -> None:
    events = [EVENTS["after"].format(f"g{i}", '"" """' if i % 10 == 5 else 1) for i in range(100)]
    parts = read(PROLOGUE + "".join(events), chunk=512)
    assert graphs(quads(parts)) == [f"http://e/g{i}" for i in range(100) if i % 10 != 5]
    assert len(bad(parts)) == 10


def test_times_before_the_next_graph_are_not_lost_with_a_graph_that_is_not_closed() -> None:
    text = PROLOGUE + ":a { :s :p 1 .\n:b prov:startedAtTime 1 .\n:b prov:endedAtTime 2 .\n:b { :s :p 1 }\n"
    parts = read(text)
    assert len(quads(parts).splitlines()) == 3
    assert [problem.text for problem in bad(parts)] == [":a { :s :p 1 .\n"]


def test_a_graph_that_is_too_large_is_passed_over() -> None:
    large = ":large {\n" + "".join(f" :s :p {i} .\n" for i in range(1000)) + "}\n:large prov:generatedAtTime 1 .\n"
    first, last = EVENTS["before"].format("a", 1), EVENTS["before"].format("b", 1)
    for limits in (Limits(event_bytes=2000), Limits(event_triples=100)):
        for chunk in (100, 1 << 18):
            parts = read(PROLOGUE + first + large + last, limits=limits, chunk=chunk)
            assert quads(parts) == quads(read(PROLOGUE + first + last))
            assert [problem.reason.partition(": ")[2] or problem.reason for problem in bad(parts)]
            assert limits.describe_event() in bad(parts)[0].reason
            assert len(bad(parts)) == 1


def test_a_short_prefix_for_a_long_iri_makes_a_graph_too_large() -> None:
    text = f"PREFIX x: <x:{'y' * 1000}>\n:g {{ x:a x:b x:c , x:d , x:e }}\nx:g {{ <x:s> <x:p> <x:o> }}\n"
    parts = read("PREFIX : <x:>\n" + text, limits=Limits(event_bytes=6000))
    assert len(quads(parts).splitlines()) == 1
    assert len(bad(parts)) == 1


def test_nesting_is_limited() -> None:
    deep = "[ :p " * 30 + "1" + " ]" * 30
    text = PROLOGUE + EVENTS["after"].format("a", deep) + EVENTS["after"].format("b", 1)
    assert bad(read(text)) == []
    parts = read(text, limits=Limits(nesting=20))
    assert graphs(quads(parts)) == ["http://e/b"]
    assert "brackets nested more than 20 deep" in bad(parts)[0].reason


def test_a_stream_that_fails_ends_in_a_bad_event() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size) or self.fail()

        def fail(self) -> bytes:
            raise OSError("the disk is gone")

    parts = list(trig_chunks(Failing((PROLOGUE + ":a { :s :p 1 }\n:b { :s").encode()), stream_name="s"))
    assert graphs(quads(parts)) == ["http://e/a"]
    assert [(problem.reason.partition(": ")[2], problem.text) for problem in bad(parts)] == [
        ("the disk is gone", ":b { :s")
    ]


TOKENS = [
    *(
        ":a",
        ":g{",
        " { ",
        "}",
        "}\n",
        ".",
        " . ",
        "1.5",
        "[",
        "]",
        "(",
        ")",
        ";",
        ",",
        " ",
        "\n",
        "#",
        '"',
        '"""',
        "'",
        "'''",
    ),
    *(
        "\\",
        "<",
        ">",
        "<x:y>",
        "<<",
        "{|",
        "~",
        "x",
        "@en",
        "^^",
        "_:b",
        "\n:g { :a :a :a }\n",
        "\nGRAPH <x:g> {",
        "é",
        "\x00",
    ),
    *("PREFIX : <x:> ", "@prefix : <x:> .", "BASE <x:>", ":a :a :a .", "'''x'''", '"x"'),
]


@given(st.lists(st.sampled_from(TOKENS), max_size=30), st.integers(1, 40))
def test_whatever_comes_in_a_good_document_of_it_is_read_and_a_bad_one_is_reported(
    tokens: list[str], chunk: int
) -> None:
    text = "PREFIX : <x:>\n" + "".join(tokens)
    parts = read(text, chunk=chunk)
    try:
        expected = ox.serialize(ox.parse(text, ox.RdfFormat.TRIG), format=ox.RdfFormat.N_QUADS)
    except SyntaxError:
        assert bad(parts)
        return
    if bad(parts):
        assert all("RDF 1.2" in problem.reason for problem in bad(parts))
        return
    assert canonical(quads(parts)) == canonical(expected or b"")


@given(st.lists(st.sampled_from(TOKENS), max_size=12), st.integers(0, 2**32))
def test_rubbish_costs_no_event_that_starts_on_a_line_of_its_own_behind_it(tokens: list[str], seed: int) -> None:
    good = "".join(EVENTS["after"].format(f"g{i}", random.Random(seed + i).randrange(9)) for i in range(3))
    parts = read("PREFIX prov: <http://www.w3.org/ns/prov#>\nPREFIX : <http://e/>\n" + "".join(tokens) + "\n" + good)
    names = graphs(quads(parts))
    assert names[-2:] == ["http://e/g1", "http://e/g2"] or _redefined(tokens) or "'''" in tokens or '"""' in tokens


def canonical(nquads: bytes) -> ox.Dataset:
    dataset = ox.Dataset(ox.parse(nquads, ox.RdfFormat.N_QUADS))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def _redefined(tokens: list[str]) -> bool:
    return "PREFIX : <x:> " in tokens or "@prefix : <x:> ." in tokens


@given(st.lists(st.sampled_from(TOKENS), max_size=30), st.integers(1, 40))
def test_the_size_of_the_pieces_changes_nothing(tokens: list[str], chunk: int) -> None:
    text = "PREFIX : <x:>\n" + "".join(tokens)
    small, large = read(text, chunk=chunk), read(text)
    assert canonical(quads(small)) == canonical(quads(large))
    assert [(problem.line, problem.reason) for problem in bad(small)] == [
        (problem.line, problem.reason) for problem in bad(large)
    ]


CHUNKS = (1, 7, 100, 1 << 18)
LARGE = Limits(event_bytes=400)


def read_large(text: str, chunk: int) -> tuple[list[str], list[tuple[int, str]]]:
    """The graphs that are read, and the lines and reasons of bad ones."""
    parts = read(text, chunk=chunk, limits=LARGE)
    return graphs(quads(parts)), [(problem.line, problem.reason) for problem in bad(parts)]


@pytest.mark.parametrize("layout", EVENTS)
def test_a_graph_that_is_too_large_is_reported_alike_wherever_the_document_is_cut(layout: str) -> None:
    text = PROLOGUE + EVENTS[layout].format("a", "'" + "x" * 500 + "'") + EVENTS[layout].format("b", 1)
    line = 4 if layout == "before" else 3
    for chunk in CHUNKS:
        assert read_large(text, chunk) == (["http://e/b"], [(line, LARGE.describe_event())]), chunk


def test_a_graph_is_too_large_by_its_text_or_by_its_quads() -> None:
    for length, good in ((400, True), (401, False)):  # of space, too
        graph = ":a { :s :p 1 ."
        text = PROLOGUE + "#" + "x" * 500 + "\n" + graph + " " * (length - len(graph) - 1) + "}\n"
        for chunk in CHUNKS:
            names, problems = read_large(text, chunk)
            assert (names, problems) == (["http://e/a"], []) if good else ([], [(4, LARGE.describe_event())]), chunk
    text = PROLOGUE + ":a { :s :p " + ",".join(map(str, range(10))) + " }\n"  # ten quads
    for chunk in CHUNKS:
        assert read_large(text, chunk) == ([], [(3, LARGE.describe_event())]), chunk


def test_a_graph_keeps_its_time_behind_one_that_is_too_large_and_not_closed() -> None:
    text = PROLOGUE + ":a { :s :p 1 .\n#" + "x" * 500 + "\n" + EVENTS["before"].format("b", 1)
    for chunk in CHUNKS:
        assert read_large(text, chunk) == (["http://e/b"], [(3, LARGE.describe_event())]), chunk
        assert quads(read(text, chunk=chunk, limits=LARGE)).count(b"\n") == 2, chunk


def test_a_graph_is_read_behind_a_string_that_only_the_next_one_closes() -> None:
    text = PROLOGUE + ":a { :s :p '''x }\n" + EVENTS["after"].format("b", 1)
    text += ":c { :s :p '''" + "x " * 300 + "''' }\n" + EVENTS["after"].format("d", 1)
    for chunk in CHUNKS:
        names, problems = read_large(text, chunk)
        assert names == ["http://e/b", "http://e/d"], chunk
        assert [line for line, _ in problems] == [3, 6], chunk


def test_a_byte_order_mark_is_passed_over_wherever_the_document_is_cut() -> None:
    text = "\ufeff" + PROLOGUE + EVENTS["after"].format("a", 1)
    for chunk in CHUNKS:
        assert read_large(text, chunk) == (["http://e/a"], []), chunk
