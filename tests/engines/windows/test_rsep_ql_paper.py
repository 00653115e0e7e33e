"""RSEP-QL as the paper has it: its examples and Figure 1 as corrected, Table 1, and the examples of section 5 of the
semantics, all through `parse`, `match` and `engine`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import thence
from support.rsep_ql_figure import COUNT, PREFIX, comparable, count, counted, event, happened, short, values
from thence.errors import InputError, QueryError
from thence.runtime.results import Match

pytestmark = pytest.mark.numba


FIGURE = {
    2: ":a1 :p :b1",
    4: ":a2 :p :b2",
    6: ":b1 :q :c1 . :b2 :q :c2",
    8: ":b2 :q :c2 . :a3 :p :b3",
    10: ":b1 :q :c1",
}
"""Example 1: the stream S of Figure 1, (G1, 2) to (G5, 10)."""

E1_E2 = "EVENT ON :w1 { ?x :p ?y } AS E1\nEVENT ON :w2 { ?y :q ?z } AS E2\n"


def events(given: Mapping[int, str] | Iterable[tuple[Any, str]]) -> list[thence.Event]:
    """Events of triples at times, their ids G1, G2, …; a pair of times is an interval."""
    listed = given.items() if isinstance(given, Mapping) else given
    return [event(time, triples, f"G{number}") for number, (time, triples) in enumerate(listed, 1)]


STREAM = events(FIGURE)


def rows(query: str, streams: Any = STREAM, **options: Any) -> list[str]:
    """The rows in words, in order of time, then of text: `8 x=a1 z=c1`."""
    return list(comparable(thence.parse(PREFIX + query).match(streams, **options)))


def justified(query: str, streams: Any = STREAM, **options: Any) -> list[str]:
    """The rows with the events of their MATCHes, which give the interval that justifies them: `8 G1 G3 x=a1 …`."""
    matches = [each for each in thence.parse(PREFIX + query).match(streams, **options) if isinstance(each, Match)]
    listed = [
        " ".join([str(each.end), *(str(event.id) for event in each.events), *(short(term) for _, term in values(each))])
        for each in matches
    ]
    return sorted(listed, key=lambda text: (int(text.split()[0]), text))


def dataset(first: str = "[LND 1]", second: str = "[RANGE 5 SLIDE 1]", at: str = "8") -> str:
    """SDS of Example 3, and ET."""
    windows = f"FROM NAMED :S WIN {first} AS :w1\nFROM NAMED :S WIN {second} AS :w2\n"
    return f"{windows}REPORT AT {at}\n" if at else windows


def sequence(pattern: str, *, select: str = "*", at: str = "8") -> str:
    return f"SELECT {select}\n{dataset(at=at)}{E1_E2}WHERE {{ MATCH {{ {pattern} }} }}"


# The examples of the paper, as corrected


def content(window: str, time: int) -> list[str]:
    """The events that a window over S holds at a time."""
    query = (
        f"SELECT ?s FROM NAMED :S WIN {window} AS :w REPORT AT {time}\n"
        "EVENT ON :w { ?s ?p ?o } AS E WHERE { MATCH { E } }"
    )
    matches = thence.parse(PREFIX + query).match(STREAM)
    return sorted({str(event.id) for each in matches if isinstance(each, Match) for event in each.events})


def test_example_2_windows_of_the_stream() -> None:
    assert content("[LND 1]", 8) == ["G1", "G2", "G3", "G4"]
    assert content("[RANGE 5 SLIDE 1]", 8) == ["G2", "G3", "G4"]
    assert content("[RANGE 5]", 8) == ["G2", "G3", "G4"]
    assert content("[FROM 0 TO 5]", 8) == ["G1", "G2"]
    assert content("[]", 8) == ["G1", "G2", "G3", "G4"]  # no window sees what ends after t (RS-10)
    assert content("", 10) == ["G1", "G2", "G3", "G4", "G5"]


def test_example_2_an_interval_window_inside_a_landmark_window() -> None:
    """`W⊔[0, 5] • Wλ[1](S, 8)` is what a SEQ looks through for partners of an event at 6."""
    query = (
        f"SELECT ?x {dataset()} EVENT ON :w1 {{ ?x ?p ?o }} AS E1 EVENT ON :w2 {{ :b1 :q :c1 }} AS E2 "
        "WHERE { MATCH { E1 SEQ E2 } }"
    )
    assert justified(query) == ["8 G1 G3 a1", "8 G2 G3 a2"]


def test_example_4_the_query_as_printed_and_as_corrected() -> None:
    printed = f"SELECT ?x ?z\n{dataset('[LND 9]', '[RANGE 5]', '')}{E1_E2}WHERE {{ MATCH {{ E1 SEQ E2 }} }}"
    corrected = printed.replace("LND 9", "LND 1")
    query = thence.parse(PREFIX + corrected)
    assert query.streams == ("S",) and query.columns == ("x", "z")
    assert "MATCH" in query.explain()
    assert rows(printed, report=[8, 10]) == []
    assert rows(corrected, report=[8]) == ["8 x=a1 z=c1", "8 x=a2 z=c2", "8 x=a2 z=c2"]
    assert rows(corrected)[:2] == ["6 x=a1 z=c1", "6 x=a2 z=c2"]  # a window without SLIDE: content (RS-17)


def test_example_5_a_snapshot_is_the_merge_of_its_graphs() -> None:
    query = f"SELECT * {dataset(at='12')} WHERE {{ WINDOW :w2 {{ ?s ?p ?o }} }}"
    assert rows(query) == ["12 o=b3 p=p s=a3", "12 o=c1 p=q s=b1", "12 o=c2 p=q s=b2"]


def test_example_6_a_window_graph_pattern() -> None:
    assert rows(f"SELECT * {dataset(at='12')} WHERE {{ WINDOW :w2 {{ ?x :p ?y }} }}") == ["12 x=a3 y=b3"]


def test_example_7_a_basic_event_pattern() -> None:
    assert justified(sequence("E2")) == ["8 G3 b1 c1", "8 G3 b2 c2", "8 G4 b2 c2"]


def test_example_8_seq_gives_2_6_and_4_6_and_4_8() -> None:
    assert justified(sequence("E1 SEQ E2")) == ["8 G1 G3 a1 b1 c1", "8 G2 G3 a2 b2 c2", "8 G2 G4 a2 b2 c2"]


def test_example_9_match_gives_a_bag() -> None:
    a1, a2 = "8 x=a1 y=b1 z=c1", "8 x=a2 y=b2 z=c2"
    assert rows(sequence("E1 SEQ E2")) == [a1, a2, a2]
    assert rows(sequence("E1 SEQ E2", select="DISTINCT *")) == [a1, a2]


SELECTED = {
    "NAIVE": ["8 G2 G4 a2 b2 c2"],
    "CHRONOLOGICAL": ["8 G1 G3 a1 b1 c1", "8 G2 G3 a2 b2 c2"],
    "RECENT": ["8 G1 G3 a1 b1 c1", "8 G2 G4 a2 b2 c2"],
}


@pytest.mark.parametrize("policy", SELECTED)
def test_example_10_selection_policies(policy: str) -> None:
    assert justified(sequence(f"E1 SEQ {policy} E2")) == SELECTED[policy]


@pytest.mark.parametrize("policy", ["CHRONOLOGICAL", "RECENT"])
def test_example_11_what_is_consumed_at_8_gives_nothing_at_10(policy: str) -> None:
    both = justified(sequence(f"E1 SEQ {policy} E2", at="8, 10"))
    assert both == SELECTED[policy]
    alone = justified(sequence(f"E1 SEQ {policy} E2", at="10"))  # without the evaluation at 8, all is there
    assert (
        alone
        == {
            "CHRONOLOGICAL": ["10 G1 G3 a1 b1 c1", "10 G2 G3 a2 b2 c2"],
            "RECENT": ["10 G1 G5 a1 b1 c1", "10 G2 G4 a2 b2 c2"],
        }[policy]
    )


def test_example_11_chronological_consumes_g1_g2_and_g3() -> None:
    """G4 is left, and with it `b2 q c2`: another `p` of b2 before it would find it."""
    late = [*STREAM[:3], event(7, ":a4 :p :b2 . :a5 :p :b1", "G0"), *STREAM[3:]]
    found = justified(sequence("E1 SEQ CHRONOLOGICAL E2", at="6, 8, 10"), late)
    assert found == [
        "6 G1 G3 a1 b1 c1",
        "6 G2 G3 a2 b2 c2",
        "8 G0 G4 a4 b2 c2",
    ]  # at 10 G0 is consumed, as a whole


# Figure 1 and Table 1

e1, e2, e3, e4 = "x=a2 y=b2 z=c2", "x=a1 y=b1 z=c1", "x=a2 y=b2 z=c2", "x=a1 y=b1 z=c1"

FIGURE_1 = {
    "ep-sparql-unrestricted": [f"8 {e2}", f"8 {e1}", f"8 {e3}", f"10 {e4}"],
    "ep-sparql-chronological": [f"8 {e2}", f"8 {e1}"],
    "ep-sparql-recent": [f"8 {e2}", f"8 {e3}"],
    "c-sparql": [f"8 {e3}"],
}
OPEN = "SELECT * FROM NAMED :S WIN AS :w1 FROM NAMED :S WIN AS :w2\n" + E1_E2 + "WHERE { MATCH { E1 SEQ E2 } }"
SLIDING = OPEN.replace("WIN AS", "WIN [RANGE 7 SLIDE 1] AS")


@pytest.mark.parametrize("policy", FIGURE_1)
def test_figure_1_evaluated_at_8_and_10(policy: str) -> None:
    query = SLIDING if policy == "c-sparql" else OPEN
    assert rows(query, policy=policy, report=[8, 10]) == FIGURE_1[policy]


JUSTIFIED = {
    "ep-sparql-chronological": ["8 G1 G3 a1 b1 c1", "8 G2 G3 a2 b2 c2"],
    "ep-sparql-recent": ["8 G1 G3 a1 b1 c1", "8 G2 G4 a2 b2 c2"],
    "c-sparql": ["8 G2 G4 a2 b2 c2"],
}


@pytest.mark.parametrize("policy", JUSTIFIED)
def test_figure_1_intervals(policy: str) -> None:
    """e1 = (a2; 4,6), e2 = (a1; 2,6), e3 = (a2; 4,8)."""
    query = SLIDING if policy == "c-sparql" else OPEN
    assert justified(query, policy=policy, report=[8, 10]) == JUSTIFIED[policy]


def written_out(seq: str, report: str, output: str, window: str) -> str:
    """The open query with everything in it that a preset fills (RS-57)."""
    return (
        f"REGISTER {output} :out AS SELECT *\nFROM NAMED :S WIN {window} AS :w1\nFROM NAMED :S WIN {window} AS :w2\n"
        f"REPORT ON {report}\n{E1_E2}WHERE {{ MATCH {{ E1 {seq} E2 }} }}"
    )


TABLE_1 = {
    "ep-sparql-unrestricted": written_out("SEQ", "CONTENT", "ISTREAM", "[LND -1000]"),
    "ep-sparql-chronological": written_out("SEQ CHRONOLOGICAL", "CONTENT", "RSTREAM", "[LND -1000]"),
    "ep-sparql-recent": written_out("SEQ RECENT", "CONTENT", "RSTREAM", "[LND -1000]"),
    "c-sparql": written_out("SEQ NAIVE", "CLOSE", "RSTREAM", "[RANGE 7 SLIDE 1]"),
}
ON_CONTENT = {
    "ep-sparql-unrestricted": [f"6 {e2}", f"6 {e1}", f"8 {e3}", f"10 {e4}"],
    "ep-sparql-chronological": [f"6 {e2}", f"6 {e1}"],
    "ep-sparql-recent": [f"6 {e2}", f"6 {e1}"],
    "c-sparql": [f"6 {e2}", f"6 {e1}", f"7 {e2}", f"7 {e1}", f"8 {e3}", f"9 {e3}"],
}


@pytest.mark.parametrize("policy", TABLE_1)
def test_table_1_a_preset_is_what_it_stands_for(policy: str) -> None:
    """RS-57, RS-58."""
    query = SLIDING if policy == "c-sparql" else OPEN
    assert rows(query, policy=policy) == ON_CONTENT[policy]
    assert rows(TABLE_1[policy]) == ON_CONTENT[policy]


@pytest.mark.parametrize("policy", ["ep-sparql-chronological", "ep-sparql-recent"])
def test_a_second_answer_with_equal_values_is_emitted(policy: str) -> None:
    """RS-59."""
    again = {**FIGURE, 12: ":a1 :p :b1", 14: ":b1 :q :c1"}
    assert f"14 {e2}" in rows(OPEN, events(again), policy=policy)


def test_a_preset_fills_only_what_is_left_open() -> None:
    """RS-60; the clause overrides the option, the option the preset (RS-17)."""
    naive = OPEN.replace("SEQ", "SEQ NAIVE")
    assert rows(naive, policy="ep-sparql-chronological", report=[8]) == [f"8 {e3}"]
    given = SLIDING.replace("EVENT ON :w1", "REPORT AT 8\nEVENT ON :w1")
    assert rows(given, policy="c-sparql", report="content") == [f"8 {e3}"]
    output = "REGISTER RSTREAM :out AS " + OPEN
    assert rows(output, policy="ep-sparql-unrestricted", report=[8, 10])[3:] == [
        f"10 {e2}",
        f"10 {e4}",
        f"10 {e1}",
        f"10 {e3}",
    ]


# The rules' examples, by number


def held(window: str, time: int, ends: Iterable[int]) -> list[int]:
    query = f"SELECT ?n FROM NAMED :S WIN {window} AS :w REPORT AT {time} WHERE {{ WINDOW :w {{ ?s :n ?n }} }}"
    matches = thence.parse(PREFIX + query).match(events((end, f":s :n {end}") for end in ends))
    return sorted(int(short(each.bindings["n"])) for each in matches if isinstance(each, Match))


def test_rs_7_a_window_slides_by_whole_multiples() -> None:
    ends = range(-12, 12)
    assert held("[RANGE 5 SLIDE 2]", 7, ends) == [2, 3, 4, 5, 6]
    assert held("[RANGE 5 SLIDE 2]", -1, ends) == [-6, -5, -4, -3, -2]
    assert held("[RANGE 5]", 7, ends) == [3, 4, 5, 6, 7]


def instants(windows: str, given: Iterable[int], clause: str = "", **options: Any) -> list[int]:
    """When a query is evaluated: an aggregate has a row each time (RS-23)."""
    query = f"SELECT (COUNT(*) AS ?n) {windows} {clause} WHERE {{ WINDOW :w {{ ?s :n ?n0 }} }}"
    matches = thence.parse(PREFIX + query).match(events((end, f":s :n {end}") for end in given), **options)
    return [int(each.end) for each in matches if isinstance(each, Match)]


TWO_SLIDES = "FROM NAMED :S WIN [RANGE 4 SLIDE 2] AS :w FROM NAMED :S WIN [RANGE 5 SLIDE 5] AS :unused"


def test_rs_20_each_slide_has_its_own_first_and_last_multiple() -> None:
    assert instants(TWO_SLIDES, [3, 7]) == [4, 5, 6, 8, 10]
    assert instants(TWO_SLIDES, [3, 7], "REPORT EVERY 3") == [3, 6, 9]
    assert instants(TWO_SLIDES, [3, 7], "REPORT ON CONTENT") == [3, 7]
    assert instants(TWO_SLIDES, [3, 7], "REPORT AT 20, 1, 7, 1") == [1, 7, 20]  # RS-22
    assert instants(TWO_SLIDES, [3, 7], report=[20, 1]) == [1, 20]
    assert instants(TWO_SLIDES, [3, 7], report=5) == [5, 10]
    assert instants(TWO_SLIDES, [-3, -1]) == [-2, 0]


def test_rs_24_a_triple_of_two_events_is_in_the_merge_once() -> None:
    twice = events({1: ":a :p :b", 2: ":a :p :b"})
    query = "SELECT ?x FROM NAMED :S WIN AS :w REPORT AT 2 {} WHERE {{ {} }}"
    assert rows(query.format("", "WINDOW :w { ?x :p ?y }"), twice) == ["2 x=a"]
    assert rows(query.format("EVENT ON :w { ?x :p ?y } AS E", "MATCH { E }"), twice) == ["2 x=a", "2 x=a"]


def test_rs_27_equal_mappings_of_one_event_are_one_and_of_two_events_two() -> None:
    query = "SELECT * FROM NAMED :S WIN AS :w REPORT AT 9 EVENT ON :w { ?x :p [] } AS E WHERE { MATCH { E } }"
    assert rows(query, events({1: ":a :p 1, 2"})) == ["9 x=a"]
    assert rows(query, events({1: ":a :p 1", 2: ":a :p 2"})) == ["9 x=a", "9 x=a"]
    assert rows(query, events([(1, ":a :p 1"), (1, ":a :p 1")])) == ["9 x=a", "9 x=a"]


def test_rs_28_a_name_used_twice_binds_alike() -> None:
    query = "SELECT * FROM NAMED :S WIN AS :w REPORT AT 9 EVENT ON :w { ?x :p ?y } AS E1 WHERE { MATCH { E1 SEQ E1 } }"
    given = events({1: ":a :p :b", 2: ":a :p :c", 3: ":a :p :b", 4: ":d :p :b"})
    assert justified(query, given) == ["9 G1 G3 a b"]


def test_rs_33_intervals_are_ordered_by_their_ends_then_by_their_starts() -> None:
    intervals = [(2, 6), (4, 6), (1, 8)]
    query = "SELECT * FROM NAMED :S WIN AS :w REPORT AT 9 EVENT ON :w {{ ?x :p ?y }} AS E WHERE {{ MATCH {{ {} E }} }}"
    for earlier, later in pairwise(intervals):
        given = events([(later, ":late :p 1"), (earlier, ":early :p 1")])
        assert justified(query.format("FIRST"), given) == ["9 G2 early 1"]
        assert justified(query.format("LAST"), given) == ["9 G1 late 1"]


def test_rs_35_last_picks_the_last_compatible_before_each_partner() -> None:
    given = events({1: ":a :p :b", 2: ":c :p :b", 3: ":b :q 1", 4: ":d :p :b", 5: ":e :p :f", 6: ":b :q 2"})
    assert justified(OPEN.replace("E1 SEQ", "(LAST E1) SEQ"), given, report=[9]) == ["9 G2 G3 c b 1", "9 G4 G6 d b 2"]


@pytest.mark.parametrize(("policy", "chosen"), [("CHRONOLOGICAL", "G1 G3 a b 1"), ("RECENT", "G1 G5 a b 3")])
def test_rs_41_rivals_have_equal_shared_variables(policy: str, chosen: str) -> None:
    given = events({1: ":a :p :b", 2: ":c :p :d", 3: ":b :q 1", 4: ":d :q 2", 5: ":b :q 3"})
    found = justified(OPEN.replace("SEQ", f"SEQ {policy}"), given, report=[9])
    assert found == sorted([f"9 {chosen}", "9 G2 G4 c d 2"])


def test_rs_43_naive_compares_the_last_of_both() -> None:
    given = events({1: ":x :is :a", 2: ":x :is :b", 3: ":x :is :a"})
    query = (
        "SELECT * FROM NAMED :S WIN AS :w REPORT AT {} EVENT ON :w {{ ?x :is :a }} AS A EVENT ON :w {{ ?x :is :b }} "
        "AS B WHERE {{ MATCH {{ A SEQ NAIVE B }} }}"
    )
    assert rows(query.format(2), given) == ["2 x=x"]
    assert rows(query.format(3), given) == []


def test_rs_47_a_match_inside_optional_consumes_where_it_joins_with_nothing() -> None:
    query = """SELECT * FROM NAMED :S WIN [RANGE 10] AS :w REPORT AT 2, 3
        EVENT ON :w { ?x :p 1 } AS E1 EVENT ON :w { ?x :p 2 } AS E2
        WHERE { WINDOW :w { ?key :is ?x } OPTIONAL { MATCH { E1 SEQ CHRONOLOGICAL E2 } } }"""
    early = events([(1, ":a :p 1 . :k :is :b"), (2, ":a :p 2"), (3, ":k2 :is :a")])
    assert rows(query, early) == ["2 key=k x=b", "3 key=k x=b", "3 key=k2 x=a"]
    kept = query.replace("SELECT *", "SELECT ?key ?x ?n").replace("{ ?x :p 2 }", "{ ?x :p 2 BIND(1 AS ?n) }")
    assert rows(kept, early) == ["2 key=k x=b", "3 key=k x=b", "3 key=k2 x=a"]
    assert rows(kept.replace("AT 2, 3", "AT 3"), early) == ["3 key=k x=b", "3 key=k2 n=1 x=a"]


def test_rs_52_istream_and_dstream_are_differences_of_bags() -> None:
    """Answers {r}, {r, r}, {}, {r}."""
    query = "REGISTER {} :out AS SELECT ?x FROM NAMED :S WIN [RANGE 1] AS :w REPORT AT 1, 2, 3, 4 {}"
    pattern = "EVENT ON :w { ?x :p ?y } AS E WHERE { MATCH { E } }"
    given = events([(1, ":r :p 1"), (2, ":r :p 1"), (2, ":r :p 2"), (4, ":r :p 1")])
    assert rows(query.format("RSTREAM", pattern), given) == ["1 x=r", "2 x=r", "2 x=r", "4 x=r"]
    assert rows(query.format("ISTREAM", pattern), given) == ["1 x=r", "2 x=r", "4 x=r"]
    assert rows(query.format("DSTREAM", pattern), given) == ["3 x=r", "3 x=r"]


def test_rs_53_construct_makes_one_event_of_an_evaluation() -> None:
    query = """CONSTRUCT { ?x :then ?z } FROM NAMED :S WIN AS :w1 FROM NAMED :S WIN AS :w2 REPORT AT 4, 8
        EVENT ON :w1 { ?x :p ?y } AS E1 EVENT ON :w2 { ?y :q ?z } AS E2 WHERE { MATCH { E1 SEQ E2 } }"""
    (found,) = thence.parse(PREFIX + query).match(STREAM)
    assert isinstance(found, Match) and found.constructed is not None and found.end == 8
    triples = {" ".join(map(short, each)) for each in found.constructed.triples}
    assert triples == {"a1 then c1", "a2 then c2"}


# Evaluations of what is pushed

TWO_STREAMS = """SELECT (COUNT(*) AS ?n) FROM NAMED :S WIN [RANGE 10] AS :w FROM NAMED :T WIN [RANGE 10] AS :v
    WHERE { WINDOW :w { ?s :n ?o } }"""


def test_rs_14_an_evaluation_waits_until_the_watermark_is_past_it() -> None:
    engine = count("[RANGE 10]")
    assert counted(engine.push(happened(5))) == []
    assert counted(engine.push(event(5, ":s :n 0"))) == []  # of the same time: part of the same evaluation
    assert counted(engine.push(happened(6))) == ["5 2"]
    assert counted(engine.advance(6)) == []
    assert counted(engine.advance(7)) == ["6 3"]
    assert counted(engine.push(happened(8))) == []
    assert counted(engine.close()) == ["8 4"]
    assert counted(engine.close()) == []


def test_rs_14_within_the_lateness_order_does_not_matter() -> None:
    engine = count("[RANGE 10]", lateness=2)
    assert counted(engine.push(happened(5))) == []
    assert counted(engine.push(happened(4))) == []
    assert counted(engine.push(happened(7))) == ["4 1"]
    assert counted(engine.push(happened(3))) == []  # late: no evaluation (RS-18), and no window holds it
    assert engine.counts.late == 1
    assert counted(engine.close()) == ["5 2", "7 3"]


def test_rs_14_close_is_evaluated_once_the_watermark_is_past_the_multiple() -> None:
    engine = count("[RANGE 4 SLIDE 2]")
    assert counted(engine.push(happened(1))) == []
    assert counted(engine.push(happened(2))) == []
    assert counted(engine.push(happened(7))) == ["2 2", "4 2", "6 0"]
    assert counted(engine.close()) == ["8 1"]


def test_rs_14_given_times_wait_for_the_watermark_too() -> None:
    engine = count("[RANGE 10]", "REPORT AT 3, 5, 20")
    assert counted(engine.push(happened(5))) == ["3 0"]
    assert counted(engine.push(happened(6))) == ["5 1"]
    assert counted(engine.close()) == ["20 0"]


def test_rs_15_a_silent_stream_holds_evaluations_back() -> None:
    engine = thence.parse(PREFIX + TWO_STREAMS).engine()
    assert counted(engine.push("S", happened(1))) == []
    assert counted(engine.push("S", happened(5))) == []
    assert counted(engine.push("T", happened(3))) == ["1 1"]  # though no WINDOW reads T
    assert counted(engine.push("S", happened(9))) == []
    assert counted(engine.advance(6)) == ["3 1", "5 2"]
    assert counted(engine.close()) == ["9 3"]


def test_rs_15_unless_it_is_idle() -> None:
    engine = thence.parse(PREFIX + TWO_STREAMS).engine(idle=["T"])
    assert counted(engine.push("S", happened(1))) == []
    assert counted(engine.push("S", happened(5))) == ["1 1"]
    engine = thence.parse(PREFIX + TWO_STREAMS).engine(idle=3)
    assert counted(engine.push("S", happened(1))) == []
    assert counted(engine.push("S", happened(4))) == []
    assert counted(engine.push("S", happened(5))) == ["1 1", "4 2"]


def test_rs_21_advance_counts_like_an_event_for_close() -> None:
    engine = count("[RANGE 4 SLIDE 2]")
    assert counted(engine.push(happened(1))) == []
    assert counted(engine.advance(7)) == ["2 1", "4 1", "6 0"]
    assert counted(engine.close()) == ["8 0"]  # the first multiple that is not before 7


def test_rs_21_advance_before_any_event_begins_the_evaluations() -> None:
    engine = count("[RANGE 4 SLIDE 2]")
    assert counted(engine.advance(3)) == []
    assert counted(engine.advance(7)) == ["4 0", "6 0"]
    assert counted(engine.push(happened(7))) == []
    assert counted(engine.close()) == ["8 1"]


def test_rs_21_advance_counts_for_periodic() -> None:
    engine = count("[RANGE 4]", "REPORT EVERY 5")
    assert counted(engine.push(happened(4))) == []
    assert counted(engine.advance(11)) == ["5 1", "10 0"]
    assert counted(engine.close()) == ["15 0"]


def test_rs_21_advance_causes_no_content_evaluation() -> None:
    engine = count("[RANGE 4]")
    assert counted(engine.push(happened(1))) == []
    assert counted(engine.advance(7)) == ["1 1"]
    assert counted(engine.advance(9)) == []
    assert counted(engine.close()) == []


def test_rs_21_an_advance_within_the_lateness_counts_where_an_event_would() -> None:
    """The event at 10 waits until the watermark has come to it; 8 is a time like that of an event."""
    engine = count("[RANGE 4 SLIDE 2]", lateness=2)
    assert counted(engine.push(happened(10))) == []
    assert counted(engine.advance(8)) == []
    assert counted(engine.advance(9)) == ["8 0"]
    assert counted(engine.close()) == ["10 1"]


def test_rs_21_an_advance_behind_the_watermark_changes_nothing() -> None:
    engine = count("[RANGE 4 SLIDE 2]")
    assert counted(engine.push(happened(9))) == []
    assert counted(engine.advance(3)) == []
    assert counted(engine.close()) == ["10 1"]


def test_what_is_pushed_has_the_answers_of_match() -> None:
    for window, clause in [("[RANGE 4 SLIDE 2]", ""), ("[RANGE 3]", ""), ("[LND 4]", "REPORT EVERY 3")]:
        engine = count(window, clause)
        times = [1, 2, 2, 5, 9, 14]
        pushed = [each for time in times for each in engine.push(happened(time))] + engine.close()
        whole = thence.parse(PREFIX + COUNT.format(window, clause)).match([happened(time) for time in times])
        assert counted(pushed) == counted(whole)


# Graphs that vary

VERSIONS = """
    @prefix prov: <http://www.w3.org/ns/prov#> .
    @prefix : <http://example.org/> .
    :v1 prov:generatedAtTime {} . :v1 {{ :x :is :old }}
    :v2 prov:generatedAtTime {} . :v2 {{ :x :is :new }}
"""
WITH_GRAPH = """SELECT ?x ?kind FROM NAMED :S WIN [RANGE 1] AS :w FROM NAMED :g
    WHERE { WINDOW :w { ?x :p ?y } GRAPH :g { ?x :is ?kind } }"""
EACH_SECOND = {1: ":x :p 1", 3: ":x :p 1", 4: ":x :p 1", 5: ":x :p 1", 6: ":x :p 1"}


def test_rs_5_an_evaluation_reads_the_newest_version_not_after_it(tmp_path: Path) -> None:
    file = tmp_path / "g.trig"
    file.write_text(VERSIONS.format(3, 5))
    background = {"http://example.org/g": file}
    assert rows(WITH_GRAPH, events(EACH_SECOND), background=background) == [
        "3 kind=old x=x",
        "4 kind=old x=x",
        "5 kind=new x=x",
        "6 kind=new x=x",
    ]
    default = WITH_GRAPH.replace("FROM NAMED :g", "FROM :g").replace("GRAPH :g { ?x :is ?kind }", "?x :is ?kind")
    assert len(rows(default, events(EACH_SECOND), background=background)) == 4


def test_rs_5_two_versions_of_one_time_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "g.trig"
    file.write_text(VERSIONS.format(3, 3))
    with pytest.raises(InputError) as caught:
        rows(WITH_GRAPH, events(EACH_SECOND), background={"http://example.org/g": file})
    reason = "The background has two versions of <http://example.org/g> at 3. Try: one for each time"
    assert str(caught.value) == reason


def test_rs_5_a_graph_without_a_time_among_versions_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "g.trig"
    file.write_text(VERSIONS.format(3, 5) + ":v3 { :x :is :timeless }")
    with pytest.raises(InputError) as caught:
        rows(WITH_GRAPH, events(EACH_SECOND), background={"http://example.org/g": file})
    assert str(caught.value) == (
        "The graph <http://example.org/v3> of the background for <http://example.org/g> has no time, and others there "
        "have. Try: prov:generatedAtTime in the default graph"
    )


@pytest.mark.parametrize("optimise", [True, False])
def test_rs_27_two_arms_of_a_union_that_give_one_mapping_are_one(optimise: bool) -> None:
    query = """SELECT ?x FROM NAMED :S WIN [] AS :w REPORT AT 9 EVENT ON :w { { ?x :p 1 } UNION { ?x :q 1 } } AS A
        EVENT ON :w { ?x :r 1 } AS B WHERE { MATCH { A SEQ B } }"""
    given = [(1, ":a :p 1 ; :q 1"), (2, ":a :p 1 ; :q 1"), (3, ":a :r 1")]
    assert rows(query, events(given), optimise=optimise) == ["9 x=a", "9 x=a"]


def test_rs_31_a_graph_inside_event_is_that_of_the_evaluation(tmp_path: Path) -> None:
    file = tmp_path / "g.trig"
    file.write_text(VERSIONS.format(1, 5))
    query = """SELECT ?kind FROM NAMED :S WIN AS :w FROM NAMED :g REPORT AT 3, 5
        EVENT ON :w { ?x :p ?y GRAPH :g { ?x :is ?kind } } AS E WHERE { MATCH { FIRST E } }"""
    assert rows(query, events(EACH_SECOND), background={"http://example.org/g": file}) == ["3 kind=old", "5 kind=new"]


@pytest.mark.parametrize("optimise", [True, False])
def test_a_graph_that_from_named_leaves_out_has_no_solutions(tmp_path: Path, optimise: bool) -> None:
    """RS-32, and SPARQL's own rule (C-28): what is not part of the dataset is not read, even if background has it."""
    file = tmp_path / "g.ttl"
    file.write_text(f"{PREFIX} :x :is :known .")
    background = {"http://example.org/g": file, "http://example.org/other": file}
    for pattern in (":other { ?x :is ?kind }", ":other { BIND(1 AS ?kind) }", ":unknown { ?x :is ?kind }"):
        query = WITH_GRAPH.replace("GRAPH :g { ?x :is ?kind }", f"OPTIONAL {{ GRAPH {pattern} }}")
        found = rows(query, events({1: ":x :p 1"}), background=background, optimise=optimise)
        assert found == ["1 x=x"]


# Warnings and errors


def test_rs_12_a_slide_longer_than_its_range_causes_a_warning() -> None:
    query = thence.parse(PREFIX + COUNT.format("[RANGE 2 SLIDE 5]", ""))
    (warning,) = query.warnings
    assert warning.startswith("query:2:") and "SLIDE 5 is longer than RANGE 2" in warning
    assert thence.parse(PREFIX + COUNT.format("[RANGE 5 SLIDE 5]", "")).warnings == ()
    assert rows(COUNT.format("[RANGE 2 SLIDE 5]", ""), [happened(2), happened(4)]) == ["5 n=1"]


def test_rs_61_c_sparql_needs_a_slide() -> None:
    with pytest.raises(QueryError) as caught:
        rows(OPEN, policy="c-sparql")
    assert str(caught.value) == (
        "The preset c-sparql evaluates whenever a window slides, but no window has SLIDE. Try: [RANGE 10 SLIDE 5]"
    )
    assert rows(OPEN.replace("WIN AS :w2", "WIN [RANGE 7 SLIDE 1] AS :w2"), policy="c-sparql")


def test_rs_66_on_close_needs_a_slide() -> None:
    with pytest.raises(QueryError) as caught:
        thence.parse(PREFIX + COUNT.format("[RANGE 5]", "REPORT ON CLOSE"))
    assert str(caught.value) == (
        "query:2:59: REPORT ON CLOSE needs a window with SLIDE: no other window closes. "
        "Try: [RANGE 10s SLIDE 5s], or REPORT ON CONTENT"
    )
    with pytest.raises(QueryError) as caught:
        rows(COUNT.format("[RANGE 5]", ""), report="close")
    assert str(caught.value) == (
        "ON CLOSE evaluates whenever a window slides, but no window has SLIDE. Try: [RANGE 10 SLIDE 5]"
    )
