"""Times at the edges of 64 bits (C-2): the first and the last that an event can have are times as any other, and an
event with a time beyond them is a bad one (BAD-6)."""

from __future__ import annotations

from itertools import product

import pytest

import thence
from thence.rdf.times import FIRST_TIME, LAST_TIME

pytestmark = pytest.mark.numba

Found = list[tuple[int, int, int | None, dict[str, str]]]
"""After how many pushes, and the rows' times since the first event, with their values."""

SPASEQ = """PREFIX : <http://example.org/> SELECT ?v WITHIN {} TICKS {} FROM STREAM S <http://example.org/S>
    WHERE {{ SEQ({}) DEFINE GPM A ON S {{ ?a :p ?v }} DEFINE GPM B ON S {{ ?b :q ?v }} }}"""
RSEP = """PREFIX : <http://example.org/> SELECT (COUNT(?v) AS ?n) FROM NAMED WINDOW :w ON :events {}
    WHERE {{ WINDOW :w {{ ?a :p|:q ?v }} }}"""
WIDTHS = (1, 2, 10, 2**62, 2**63 - 1)
QUERIES = [
    *(("spaseq", SPASEQ.format(width, "", "A ; B")) for width in WIDTHS),
    *(("spaseq", SPASEQ.format(width, "", "A , B+")) for width in WIDTHS),
    *(("spaseq", SPASEQ.format(width, "", "A ; B!")) for width in WIDTHS),
    *(
        ("sase+", f"PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) {{ [x] }} WITHIN {width} RETURN a.x")
        for width in WIDTHS
    ),
    *(
        ("sase+", f"PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) {{ [x] }} WITHIN {width} RETURN a.x")
        for width in WIDTHS
    ),
    *(
        ("sase+", f"PATTERN SEQ(A a, ~(B b), A c) WHERE skip_till_any_match(a, c) {{ [x] }} WITHIN {w} RETURN a.x")
        for w in WIDTHS
    ),
    ("sase+", "PATTERN SEQ(A a, B+ b[]) WHERE partition_contiguity(a, b[]) { [x] } RETURN b.LEN AS n"),
    *(("ep-sparql", f"SELECT ?v {{ {{ ?a p ?v }} SEQ {{ ?b q ?v }} FILTER(getDURATION() <= {w}) }}") for w in WIDTHS),
    ("ep-sparql", "SELECT ?v (getDURATION() AS ?d) { ?a p ?v . ?b q ?v }"),
    ("ep-sparql", "SELECT ?v { { ?a p ?v } EQUALS { ?a p ?w } }"),
    ("ep-sparql", "SELECT ?v ?b { ?a p ?v OPTIONAL { ?b q ?v } }"),
    ("ep-sparql", "SELECT ?v ?a { { ?a p ?v } OPTIONALSEQ { ?b q ?v } }"),
    ("ep-sparql", "SELECT ?v ?b { { ?a p ?v } EQUALSOPTIONAL { ?b q ?v } }"),
    ("ep-sparql", "SELECT ?v { ?b p ?v MINUS { ?a q ?v } }"),
    ("ep-sparql", "SELECT ?v { ?b q ?v FILTER EXISTS { ?a p ?v } }"),
    ("ep-sparql", "SELECT (COUNT(?v) AS ?n) { ?b q ?v }"),
    ("ep-sparql", "CONSTRUCT { ?a r ?b } { { ?a p ?v } SEQ { ?b q ?v } } SELECT ?a { ?a r ?b }"),
    ("ep-sparql", "SELECT ?a ?v { ?a p* ?v }"),
    *(("rsep-ql", RSEP.format(f"[RANGE {width} SLIDE 2]")) for width in WIDTHS),
    *(("rsep-ql", RSEP.format(f"[RANGE {width}]")) for width in WIDTHS),
    ("rsep-ql", RSEP.format("[]")),
    *(
        ("tef-sparql", f"PREFIX : <http://example.org/> SELECT ?v WITHIN {width} WHERE ?a :p ?v SEQ ?b :q ?v")
        for width in WIDTHS
    ),
    (
        "tef-sparql",
        "PREFIX : <http://example.org/> CONSTRUCT FACT { :f :is ?v } WHERE { SINCE ?a :p ?v UNION UNTIL ?b :q ?v }",
    ),
]
SHIFTS = [FIRST_TIME, FIRST_TIME + 1, LAST_TIME - 4, LAST_TIME - 3]


def events(language: str, times: list[int]) -> list[thence.Event]:
    if language == "sase+":
        return [thence.Event(time, {"type": kind, "x": 1}) for time, kind in zip(times, "ABBA", strict=True)]
    triples = [":a :p 1 .", ":b :q 1 .", ":c :q 1 .", ":d :p 2 ."]
    return [
        thence.Event(time, f"@prefix : <http://example.org/> . {triple}")
        for time, triple in zip(times, triples, strict=True)
    ]


def found(language: str, text: str, times: list[int], *, pushed: bool) -> Found:
    query, given = thence.parse(text, language=language), events(language, times)
    rows: list[tuple[int, thence.Match]] = []
    if pushed:
        engine = query.engine()
        for number, event in enumerate(given):
            rows += [(number, row) for row in engine.push(event) if isinstance(row, thence.Match)]
        rows += [(len(given), row) for row in engine.close() if isinstance(row, thence.Match)]
    else:
        rows = [(0, row) for row in query.match(given)]
    return [
        (number, row.start - times[0], None if row.end is None else row.end - times[0], _values(row))
        for number, row in rows
    ]


def _values(row: thence.Match) -> dict[str, str]:
    return {name: str(value) for name, value in (row.bindings or {}).items()}


@pytest.mark.parametrize(("language", "text"), QUERIES)
def test_the_edges_are_times_as_any_other(language: str, text: str) -> None:
    """C-2: the same events, shifted, have the same answers, shifted. The windows of RSEP-QL count from 0 (RS-8)."""
    for first, pushed in product(SHIFTS, (False, True)):
        plain = 100 + first % 2
        expected = found(language, text, [plain + number for number in range(4)], pushed=pushed)
        assert found(language, text, [first + number for number in range(4)], pushed=pushed) == expected, first


@pytest.mark.parametrize(
    ("language", "text"), [each for each in QUERIES if any(each[1].count(f"{name} 10") for name in ("WITHIN", "<="))]
)
def test_what_is_too_far_apart_to_be_subtracted_in_64_bits_is_in_no_window(language: str, text: str) -> None:
    """The first two events at one edge, the others at the other: they are far apart, and not close."""
    expected = found(language, text, [0, 1, 2**60, 2**60 + 1], pushed=False)
    edges = found(language, text, [FIRST_TIME, FIRST_TIME + 1, LAST_TIME - 1, LAST_TIME], pushed=False)
    assert [row[1:3] for row in edges if row[1] < 100] == [row[1:3] for row in expected if row[1] < 100]
    assert len(edges) == len(expected)


@pytest.mark.parametrize("time", [FIRST_TIME - 1, LAST_TIME + 1, LAST_TIME + 2])
@pytest.mark.parametrize(("language", "text"), QUERIES[::6])
def test_an_event_beyond_the_edges_is_bad(language: str, text: str, time: int) -> None:
    """BAD-6: it stops nothing, is reported, and moves no watermark."""
    query = thence.parse(text, language=language)
    first, *others = events(language, [5, 6, 7, 8])
    wrong = events(language, [time] * 4)[0]
    matching = query.match([wrong, first, *others], problems=True)
    rows = [each for each in matching if isinstance(each, thence.Problem)]
    assert [(each.problem, "out of range" in each.reason) for each in rows] == [("bad", True)]
    assert matching.counts.bad == 1 and matching.counts.events == 4
    engine = query.engine(problems=True)
    engine.push(first)
    (problem,) = engine.push(wrong)
    assert isinstance(problem, thence.Problem) and "out of range" in problem.reason
    assert engine.push(others[0]) is not None and engine.counts.late == 0


def test_the_latest_time_that_is_named_does_not_end_the_input() -> None:
    """C-14: that is what close() does."""
    query = thence.parse("PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity(a[], b) { } RETURN a.LEN AS n")
    closure = thence.parse("PATTERN SEQ(A+ a[]) WHERE partition_contiguity(a[]) { [x] } RETURN a.LEN AS n")
    for each in (query, closure):
        engine = each.engine()
        engine.push(thence.Event(1, {"type": "A", "x": 1}))
        assert engine.advance(2**63 - 1) == []
    assert len(engine.close()) == 1


def test_windows_that_tumble_may_begin_as_far_away_as_times_reach() -> None:
    """SP-45, SP-46"""
    text = SPASEQ.format(10, f"TUMBLING FROM {FIRST_TIME}", "A ; B")
    query = thence.parse(text, language="spaseq")
    for width_before in (0, 5):
        start = FIRST_TIME + (LAST_TIME - FIRST_TIME - 9 - width_before) // 10 * 10
        given = events("spaseq", [start, start + 9, start + 10, start + 11])[:2]
        assert len(list(query.match(given))) == 1
    across = events("spaseq", [start + 9, start + 11, start + 12, start + 13])[:2]
    assert not list(query.match(across))
