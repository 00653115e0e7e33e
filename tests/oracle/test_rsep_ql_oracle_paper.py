"""Examples 1 to 11 and Figure 1 of RSEP-QL's paper, as corrected."""

from __future__ import annotations

import pytest

from oracle.ep_sparql_notation import shown
from oracle.rsep_ql import Dataset, settle, stream_events
from oracle.rsep_ql_events import EventEvaluation, contents
from oracle.rsep_ql_notation import answers, event, match, over, query, select, stream, window
from oracle.rsep_ql_query import At, NamedWindow, Output, Query, Range
from oracle.rsep_ql_text import text

FIGURE_1 = """
2: a1 p b1
4: a2 p b2
6: b1 q c1 . b2 q c2
8: b2 q c2 . a3 p b3
10: b1 q c1
"""
E1, E2 = event("E1", "w1", "?x p ?y"), event("E2", "w2", "?y q ?z")
W1, W2 = window("w1", "LND 1"), window("w2", "RANGE 5 SLIDE 1")


def example(words: str, *windows: NamedWindow, names: str = "x z", distinct: bool = False) -> Query:
    """The query of Example 4 with another event pattern."""
    return query(select(names, match(words), distinct=distinct), *(windows or (W1, W2)), E1, E2)


def held(declared: NamedWindow, t: int) -> list[str]:
    of = query(select("*", over(declared.name)), declared)
    return [each.id for each in contents(of, stream_events(of, stream(FIGURE_1)), t)[declared.name]]


def event_mappings(words: str, t: int) -> list[str]:
    """⟨⟨E⟩⟩ at t, as `a1 b1 c1; 2,6`."""
    of = settle(example(words))
    windows = contents(of, stream_events(of, stream(FIGURE_1)), t)
    evaluation = EventEvaluation(of, Dataset(of, frozenset(), {}).at(t), windows)
    lines = []
    for each in evaluation.pattern(match(words).pattern):
        values = [shown(term) for _, term in sorted(each.mapping, key=lambda pair: pair[0])]
        lines.append(f"{' '.join(values)}; {each.start},{each.end}")
    return sorted(lines)


def test_example_1_the_stream_of_figure_1() -> None:
    assert [(id, end) for _, id, _, end, _ in stream(FIGURE_1)] == [
        ("e1", 2),
        ("e2", 4),
        ("e3", 6),
        ("e4", 8),
        ("e5", 10),
    ]


def test_example_2_windows_at_8() -> None:
    assert held(W1, 8) == ["e1", "e2", "e3", "e4"]
    assert held(W2, 8) == ["e2", "e3", "e4"]
    assert held(window("w3", "FROM 0 TO 5"), 8) == ["e1", "e2"]


def test_example_3_and_4_the_query_reads_s_through_two_windows() -> None:
    assert answers(example("E1 SEQ E2", W1, window("w2", "RANGE 5")), FIGURE_1, report=[8]) == [
        "8: x=a1 z=c1 | e1 e3",
        "8: x=a2 z=c2 | e2 e3",
        "8: x=a2 z=c2 | e2 e4",
    ]
    assert text(example("E1 SEQ E2", W1, window("w2", "RANGE 5"))) == (
        "PREFIX : <http://example.org/>\n"
        "SELECT ?x ?z\n"
        "FROM NAMED :S WIN [LND 1] AS :w1\n"
        "FROM NAMED :S WIN [RANGE 5] AS :w2\n"
        "EVENT ON :w1 { ?x :p ?y . } AS E1\n"
        "EVENT ON :w2 { ?y :q ?z . } AS E2\n"
        "WHERE { MATCH { E1 SEQ E2 } }"
    )


def test_example_5_the_snapshot_of_w2_at_12() -> None:
    found = query(select("*", over("w2", "?s ?p ?o")), W2, report=At((12,)))
    assert answers(found, FIGURE_1) == ["12: o=b3 p=p s=a3", "12: o=c1 p=q s=b1", "12: o=c2 p=q s=b2"]


def test_example_6_a_window_graph_pattern() -> None:
    assert answers(query(select("*", over("w2", "?x p ?y")), W2, report=At((12,))), FIGURE_1) == ["12: x=a3 y=b3"]


def test_example_7_a_basic_event_pattern() -> None:
    assert held(W2, 8) == ["e2", "e3", "e4"]
    assert event_mappings("E2", 8) == ["b1 c1; 6,6", "b2 c2; 6,6", "b2 c2; 8,8"]


def test_example_8_unrestricted_seq() -> None:
    assert event_mappings("E1 SEQ E2", 8) == ["a1 b1 c1; 2,6", "a2 b2 c2; 4,6", "a2 b2 c2; 4,8"]


def test_example_9_match_returns_a_bag() -> None:
    rows = ["8: x=a1 y=b1 z=c1", "8: x=a2 y=b2 z=c2", "8: x=a2 y=b2 z=c2"]
    found = answers(example("E1 SEQ E2", names="*"), FIGURE_1, report=[8])
    assert [row.partition(" |")[0] for row in found] == rows
    assert answers(example("E1 SEQ E2", names="*", distinct=True), FIGURE_1, report=[8]) == rows[:2]


def test_example_10_selection_policies() -> None:
    assert event_mappings("E1 SEQ NAIVE E2", 8) == ["a2 b2 c2; 4,8"]
    assert event_mappings("E1 SEQ CHRONOLOGICAL E2", 8) == ["a1 b1 c1; 2,6", "a2 b2 c2; 4,6"]
    assert event_mappings("E1 SEQ RECENT E2", 8) == ["a1 b1 c1; 2,6", "a2 b2 c2; 4,8"]


@pytest.mark.parametrize("policy", ["CHRONOLOGICAL", "RECENT"])
def test_example_11_what_was_used_at_8_is_consumed_at_10(policy: str) -> None:
    found = answers(example(f"E1 SEQ {policy} E2"), FIGURE_1, report=[8, 10])
    assert [row for row in found if row.startswith("10")] == []
    assert answers(example(f"E1 SEQ {policy} E2", W1, window("w2", "LND 1")), FIGURE_1, report=[10])


ONE, TWO, THREE, FOUR = (
    "8: x=a2 z=c2 | e2 e3",
    "8: x=a1 z=c1 | e1 e3",
    "8: x=a2 z=c2 | e2 e4",
    "10: x=a1 z=c1 | e1 e5",
)
"""e1 to e4 of Figure 1."""


@pytest.mark.parametrize(
    ("policy", "function", "rows"),
    [
        ("", "LND 1", [ONE, TWO, THREE, FOUR]),
        ("CHRONOLOGICAL", "LND 1", [ONE, TWO]),
        ("RECENT", "LND 1", [TWO, THREE]),
        ("NAIVE", "RANGE 7 SLIDE 1", [THREE]),
    ],
)
def test_the_table_of_figure_1(policy: str, function: str, rows: list[str]) -> None:
    found = example(f"E1 SEQ {policy} E2", window("w1", function), window("w2", function))
    table = Query(found.form, found.windows, found.events, report=At((8, 10)), output=Output.ISTREAM)
    assert sorted(answers(table, FIGURE_1)) == sorted(rows)


@pytest.mark.parametrize(
    ("preset", "rows"),
    [
        ("ep-sparql-unrestricted", ["6: x=a1", "6: x=a2", "8: x=a2", "10: x=a1"]),
        ("ep-sparql-chronological", ["6: x=a1", "6: x=a2"]),
        ("ep-sparql-recent", ["6: x=a1", "6: x=a2"]),
    ],
)
def test_table_1_each_preset_at_every_event(preset: str, rows: list[str]) -> None:
    open_windows = (NamedWindow(name, "S", window("w").function) for name in ("w1", "w2"))
    found = answers(example("E1 SEQ E2", *open_windows, names="x"), FIGURE_1, preset=preset)
    assert [row.partition(" |")[0] for row in found] == rows


def test_table_1_c_sparql_closes_windows() -> None:
    slide = (NamedWindow(name, "S", Range(7, 1)) for name in ("w1", "w2"))
    found = answers(example("E1 SEQ E2", *slide), FIGURE_1, preset="c-sparql")
    assert [row for row in found if row.startswith(("8:", "10:"))] == [THREE]
