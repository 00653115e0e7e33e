"""The rules of RSEP-QL that settle what its paper leaves open: dataset, windows, instants, patterns and output."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracle.rsep_ql import instants, settle, stream_events
from oracle.rsep_ql_events import in_window
from oracle.rsep_ql_legal import Meaningless, check
from oracle.rsep_ql_notation import (
    answers,
    construct,
    event,
    group,
    match,
    over,
    query,
    select,
    stream,
    window,
    window_function,
)
from oracle.rsep_ql_query import (
    Aggregate,
    At,
    Bind,
    Column,
    Compare,
    Every,
    Exists,
    Filter,
    Identity,
    InGraph,
    Key,
    NamedWindow,
    Not,
    Now,
    OnClose,
    OnContent,
    Optional,
    Order,
    Output,
    Query,
    Report,
    SubSelect,
)
from oracle.terms import Iri, Var, integer

ALL = window("w")
FORM = select("*", over("w", "?x p ?y"))
PAIRS = query(FORM, ALL)


def counted(*elements: str, windows: tuple[NamedWindow, ...] = (ALL,)) -> Query:
    """SELECT (COUNT(*) AS ?k) over the window w."""
    form = select("*", over("w", *elements))
    return query(replace(form, columns=(Column("k", Aggregate("COUNT", None)),)), *windows)


# Dataset


def test_rs_4_the_default_graph_is_the_unnamed_background_if_there_is_no_from() -> None:
    form = select("*", "?x p ?y", over("w", "?x q ?z"))
    data = "1: a q c"
    assert answers(query(form, ALL), data, "a p b", named={"g": "a p d"}) == ["1: x=a y=b z=c"]
    assert answers(query(form, ALL, named="g"), data, "a p b", named={"g": "a p d"}) == ["1: x=a y=b z=c"]
    assert answers(query(form, ALL, graphs="g"), data, "a p b", named={"g": "a p d"}) == ["1: x=a y=d z=c"]
    both = {"g": "a p d", "h": "a p e"}
    assert answers(query(form, ALL, graphs="g h"), data, named=both) == ["1: x=a y=d z=c", "1: x=a y=e z=c"]


def test_rs_5_an_evaluation_reads_the_newest_version_not_after_t() -> None:
    of = query(select("y", InGraph(Iri("g"), group("a p ?y"))), ALL, named="g", report=At((1, 2, 4, 5, 9)))
    versions = {"g": {5: "a p c", 2: "a p b", 8: ""}}
    assert answers(of, "", named=versions) == ["2: y=b", "4: y=b", "5: y=c"]


# Windows


def test_rs_7_the_example_of_range_5_slide_2() -> None:
    held = [end for end in range(-9, 12) if in_window(window_function("RANGE 5 SLIDE 2"), end, 7)]
    assert held == [2, 3, 4, 5, 6]
    assert [end for end in range(-9, 12) if in_window(window_function("RANGE 5 SLIDE 2"), end, -1)] == list(
        range(-6, -1)
    )
    assert [end for end in range(12) if in_window(window_function("RANGE 5"), end, 7)] == [3, 4, 5, 6, 7]


def test_rs_8_each_window_uses_its_own_slide() -> None:
    of = query(select("x y", over("w1", "?x p 1"), over("w2", "?y p 2")), window("w1", "RANGE 9 SLIDE 2"),
               window("w2", "RANGE 9 SLIDE 5"), report=At((4, 5)))  # fmt: skip
    assert answers(of, "4: a p 1\n5: b p 2") == ["5: x=a y=b"]


@pytest.mark.parametrize(
    ("words", "held"),
    [("LND 3", [3, 4, 5]), ("FROM 2 TO 4", [2, 3, 4]), ("FROM 4 TO 9", [4, 5]), ("", [0, 1, 2, 3, 4, 5])],
)
def test_rs_9_and_10_no_window_sees_an_event_that_ends_after_t(words: str, held: list[int]) -> None:
    assert [end for end in range(9) if in_window(window_function(words), end, 5)] == held


def test_rs_10_the_end_alone_decides() -> None:
    assert answers(query(select("x", over("w", "?x p 1")), window("w", "RANGE 2")), "1~7: a p 1\n6~8: b p 1") == [
        "7: x=a",
        "8: x=a",
        "8: x=b",
    ]


# Evaluation instants


def at(of: Query, events: str, advance: tuple[int, ...] = (), **options: str | int | list[int] | None) -> list[int]:
    report, preset = options.get("report"), options.get("preset")
    assert preset is None or isinstance(preset, str)
    settled = settle(of, report=report, preset=preset)
    return instants(settled, stream_events(settled, stream(events)), advance)


EVENTS = "3: a p b\n7: a p c"


def test_rs_11_a_declared_but_unused_window_counts_for_the_report_policies() -> None:
    slide, other = window("w", "RANGE 4 SLIDE 4"), window("v", "RANGE 4 SLIDE 3", "T")
    form = select("*", over("w", "?x p ?y"))
    assert at(query(form, slide), EVENTS) == [4, 8]
    assert at(query(form, slide, other), EVENTS) == [3, 4, 6, 8, 9]
    assert at(query(form, ALL, window("v", "", "T")), EVENTS + "\n5 T: a p b") == [3, 5, 7]
    assert at(query(form, ALL), EVENTS + "\n5 T: a p b") == [3, 7]


def test_rs_17_clause_option_preset_default() -> None:
    slide = window("w", "RANGE 4 SLIDE 4")
    form = select("*", over("w", "?x p ?y"))
    by_default = query(form, slide)
    assert at(by_default, EVENTS) == [4, 8]
    assert at(query(form, slide, window("v", "RANGE 4")), EVENTS) == [3, 7]
    assert at(by_default, EVENTS, preset="ep-sparql-recent") == [3, 7]
    assert at(by_default, EVENTS, preset="ep-sparql-recent", report="close") == [4, 8]
    clause = query(form, slide, report=Every(5))
    assert at(clause, EVENTS, preset="ep-sparql-recent", report="close") == [5, 10]
    assert at(by_default, EVENTS, report=[9, 1]) == [1, 9]


def test_rs_18_content_evaluates_once_an_instant_even_if_no_window_holds_the_event() -> None:
    assert at(query(select("*"), window("w", "LND 99")), EVENTS + "\n1~3: a p d", report="content") == [3, 7]


def test_rs_20_the_example_of_two_slides() -> None:
    of = query(select("*"), window("w", "RANGE 2 SLIDE 2"), window("v", "RANGE 5 SLIDE 5"))
    assert at(of, EVENTS) == [4, 5, 6, 8, 10]
    assert at(of, "") == []
    assert at(of, "-3: a p b") == [-2, 0]


def test_rs_21_advance_counts_for_close_and_periodic_only() -> None:
    of = query(select("*"), window("w", "RANGE 2 SLIDE 2"))
    assert at(of, EVENTS, (1, 11)) == [2, 4, 6, 8, 10, 12]
    assert at(of, EVENTS, (1, 11), report=3) == [3, 6, 9, 12]
    assert at(of, EVENTS, (1, 11), report="content") == [3, 7]


def test_rs_22_given_times_once_and_ascending() -> None:
    assert at(query(select("*"), ALL, report=At((12, 0, 7, 0))), EVENTS) == [0, 7, 12]


def test_rs_23_an_ungrouped_aggregate_over_empty_windows_emits_its_row() -> None:
    of = replace(counted("?x p ?y"), report=At((1, 3)))
    assert answers(of, EVENTS) == ["1: k=0", "3: k=1"]
    sums = [Column(name, Aggregate(name, Var("x"))) for name in ("SUM", "AVG", "MIN", "MAX")]
    assert answers(query(replace(FORM, columns=tuple(sums)), ALL), EVENTS, report=[0]) == ["0: AVG=0 SUM=0"]


# Patterns


def test_rs_24_a_triple_that_two_events_carry_is_in_the_merge_once() -> None:
    assert answers(PAIRS, "1: a p b\n2: a p b", report=[2]) == ["2: x=a y=b"]


def test_rs_24_window_returns_a_bag() -> None:
    assert answers(query(select("x", over("w", "?x p ?y")), ALL), "1: a p b . a p c") == ["1: x=a", "1: x=a"]
    assert answers(query(select("*", over("w", "_:l p ?y")), ALL), "1: a p b . c p b") == ["1: y=b", "1: y=b"]


def test_rs_25_blank_nodes_of_different_events_stay_distinct() -> None:
    assert answers(counted("?x p ?y"), "1: _:x p b\n2: _:x p b") == ["1: k=1", "2: k=2"]
    joined = query(select("*", over("w", "?x p b"), over("v", "?x p ?z")), ALL, window("v"))
    assert answers(joined, "1: _:x p b\n2: _:x p b", report=[2]) == ["2: x=_:x z=b", "2: x=_:x z=b"]


def test_rs_26_the_triples_of_an_event_pattern_come_from_one_event() -> None:
    of = query(select("x", match("E")), ALL, event("E", "w", "?x p ?y . ?y q ?z"))
    assert answers(of, "1: a p b\n2: b q c\n3: d p e . e q f") == ["3: x=d | e3"]


def test_rs_27_two_equal_mappings_from_one_event_are_one_from_two_events_two() -> None:
    of = query(select("x", match("E")), ALL, event("E", "w", "?x p _:l"))
    assert answers(of, "1: a p b . a p c") == ["1: x=a | e1"]
    assert answers(of, "1: a p b\n1: a p c") == ["1: x=a | e1", "1: x=a | e2"]


def test_rs_28_an_event_name_used_twice_has_the_same_variables() -> None:
    of = query(select("x y", match("E1 SEQ E1")), ALL, event("E1", "w", "?x p ?y"))
    assert answers(of, "1: a p b\n2: a p c\n3: a p b", report=[3]) == ["3: x=a y=b | e1 e3"]


def test_rs_29_the_parts_of_a_pattern_may_read_different_streams() -> None:
    of = query(select("*", match("A SEQ B")), window("w"), window("v", "", "T"), event("A", "w", "?x p ?y"),
               event("B", "v", "?y q ?z"))  # fmt: skip
    assert answers(of, "1: a p b\n2: b q c\n3 T: b q d") == ["3: x=a y=b z=d | e1 e3"]


def test_rs_31_graph_inside_event_reads_the_graph_at_the_time_of_the_evaluation() -> None:
    of = query(select("y", match("E")), ALL, event("E", "w", "?x p 1", InGraph(Iri("g"), group("?x q ?y"))), named="g")
    versions = {"g": {1: "a q old", 4: "a q new"}}
    assert answers(of, "2: a p 1", named=versions, report=[0, 2, 3, 4]) == [
        "2: y=old | e1",
        "3: y=old | e1",
        "4: y=new | e1",
    ]


def test_rs_32_graph_with_a_variable_ranges_over_the_named_graphs_only() -> None:
    of = query(select("g y", InGraph(Var("g"), group("a p ?y")), over("w", "a p ?z")), ALL, named="g h")
    graphs = {"g": "a p b", "h": "a p c", "f": "a p d"}
    assert answers(of, "1: a p z", "a p e", named=graphs) == ["1: g=g y=b", "1: g=h y=c"]


def test_window_inside_graph_and_graph_inside_window_change_the_active_graph() -> None:
    of = query(select("*", over("w", "?x p ?y", InGraph(Iri("g"), group("?y q ?z", over("v", "?z r ?u"))))), ALL,
               window("v", "", "T"), named="g")  # fmt: skip
    assert answers(of, "1: a p b\n1 T: c r d", named={"g": "b q c"}) == ["1: u=d x=a y=b z=c"]


# Output


def test_rs_48_the_next_evaluation_may_emit_an_equal_row() -> None:
    assert answers(PAIRS, "1: a p b\n2: c q d") == ["1: x=a y=b", "2: x=a y=b"]


def test_rs_49_distinct_order_limit_and_aggregates_act_within_one_evaluation() -> None:
    ordered = replace(FORM, order_by=(Order(Var("y"), descending=True),), limit=1, offset=0)
    assert answers(query(ordered, ALL), "1: a p 1\n2: a p 3\n3: a p 2") == ["1: x=a y=1", "2: x=a y=3", "3: x=a y=3"]
    assert answers(query(select("x", over("w", "?x p ?y"), distinct=True), ALL), "1: a p 1\n2: a p 2") == [
        "1: x=a",
        "2: x=a",
    ]
    grouped = replace(
        select("*", over("w", "?x p ?y")),
        columns=(Column("x"), Column("k", Aggregate("SUM", Var("y")))),
        group_by=(Key(Var("x")),),
        having=(Compare(">", Aggregate("SUM", Var("y")), integer(1)),),
    )
    assert answers(query(grouped, ALL), "1: a p 1\n2: a p 2 . b p 2") == ["2: k=2 x=b", "2: k=3 x=a"]


@pytest.mark.parametrize(("output", "times"), [(Output.ISTREAM, [1, 2, 4]), (Output.DSTREAM, [3, 3])])
def test_rs_52_the_example_of_istream_and_its_dstream(output: Output, times: list[int]) -> None:
    """Answers {r}, {r, r}, {}, {r}."""
    of = query(select("*", match("E")), window("w", "RANGE 2 SLIDE 2"), event("E", "w", "?x p b"), output=output)
    events = "2: a p b\n3: a p b\n4: a p b\n8: a p b"
    assert [int(row.partition(":")[0]) for row in answers(of, events)] == [time * 2 for time in times]


def test_rs_53_construct_emits_one_event_per_evaluation_and_none_if_it_is_empty() -> None:
    of = query(construct("?x o ?y . ?x o _:l", over("w", "?x p ?y")), window("w", "RANGE 1"))
    assert answers(of, "1: a p b . a p c\n2: a q b\n3: a p b") == [
        "1: a o _:c0 . a o _:c1 . a o b . a o c",
        "3: a o _:c0 . a o b",
    ]


def test_rs_53_a_template_triple_that_is_none_is_left_out() -> None:
    of = query(construct("?y o ?x . ?x o ?z", over("w", "?x p ?y", Optional(group("?x q ?z")))), ALL)
    assert answers(of, "1: a p 1") == []
    assert answers(of, "1: a p b") == ["1: b o a"]


def test_rs_54_istream_and_dstream_act_on_rows_over_the_variables_of_the_template() -> None:
    of = query(construct("?x o 1 . _:l o ?x", over("w", "?x p ?y")), ALL, output=Output.ISTREAM)
    events = "1: a p b\n2: a p b\n3: a p c"
    assert answers(of, events) == ["1: _:c0 o a . a o 1", "3: _:c0 o a . a o 1"]
    last = replace(of, windows=(window("w", "RANGE 1"),), output=Output.DSTREAM)
    assert answers(last, events) == []
    assert answers(last, "1: a p b\n2: b p b\n3: b q b") == ["2: _:c0 o a . a o 1", "3: _:c0 o b . b o 1"]


def test_rs_55_now_is_the_time_of_the_evaluation_also_inside_event() -> None:
    of = query(select("*", match("E"), Bind(Now(), "b")), ALL, event("E", "w", "?x p 1", Bind(Now(), "a")))
    assert answers(of, "1: a p 1", report=[4, 9]) == ["4: a=4 b=4 x=a | e1", "9: a=9 b=9 x=a | e1"]


def test_rs_56_events_stand_in_the_order_of_the_matches_and_of_their_patterns() -> None:
    definitions = event("A", "w", "?x p 1"), event("B", "w", "?x p 2"), event("C", "w", "?x p 3")
    data = "1: a p 1\n2: a p 2\n3: a p 3"
    of = query(select("x", match("A SEQ C"), match("B")), ALL, *definitions)
    assert answers(of, data, report=[3]) == ["3: x=a | e1 e3 e2"]
    nested = query(select("x", SubSelect(select("x", match("A SEQ C"))), match("B")), ALL, *definitions)
    assert answers(nested, data, report=[3]) == ["3: x=a | e1 e3 e2"]
    merged = query(select("x", SubSelect(select("x", match("A SEQ C"), distinct=True)), match("B")), ALL, *definitions)
    assert answers(merged, data, report=[3]) == ["3: x=a | e2"]
    assert answers(query(select("x", match("A"), distinct=True), ALL, *definitions), data, report=[3]) == ["3: x=a"]
    tested = query(select("x", match("A"), Filter(Exists(group(match("B"))))), ALL, *definitions)
    assert answers(tested, data, report=[3]) == ["3: x=a | e1"]
    missing = query(select("x", match("A"), Filter(Not(Exists(group(match("B")))))), ALL, *definitions)
    assert answers(missing, data, report=[3]) == []


# Presets and what is refused


def test_rs_60_a_preset_fills_only_what_is_left_open() -> None:
    open_window = NamedWindow("w", "S", Identity(brackets=False))
    definitions = event("A", "w", "?x p 1"), event("B", "w", "?x p 2")
    data = "1: a p 1\n2: a p 1\n3: a p 2\n4: a p 2"

    def found(words: str, preset: str, output: Output | None = None, report: Report | None = None) -> list[str]:
        of = query(select("x", match(words)), open_window, *definitions, output=output, report=report)
        return answers(of, data, preset=preset)

    assert found("A SEQ B", "ep-sparql-chronological") == ["3: x=a | e1 e3", "4: x=a | e2 e4"]
    assert found("A SEQ B", "ep-sparql-recent") == ["3: x=a | e2 e3", "4: x=a | e1 e4"]
    assert found("A SEQ CHRONOLOGICAL B", "ep-sparql-recent") == ["3: x=a | e1 e3", "4: x=a | e2 e4"]
    assert len(found("A SEQ B", "ep-sparql-unrestricted")) == 4
    assert len(found("A SEQ B", "ep-sparql-unrestricted", Output.RSTREAM)) == 6
    assert found("A SEQ B", "ep-sparql-recent", report=At((9,))) == ["9: x=a | e2 e4"]
    narrow = query(select("x", match("A SEQ B")), window("w", "RANGE 2"), *definitions)
    assert answers(narrow, data, preset="ep-sparql-chronological") == ["3: x=a | e2 e3"]


REFUSED = [
    ("RS-65", query(select("*"), window("w", "RANGE 0")), None),
    ("RS-65", query(select("*"), window("w", "RANGE 1 SLIDE 0")), None),
    ("RS-65", query(select("*"), ALL, report=Every(0)), None),
    ("RS-65", query(select("*"), window("w", "FROM 3 TO 2")), None),
    ("RS-66", query(select("*"), ALL, report=OnClose()), None),
    ("RS-61", query(select("*"), ALL, report=OnContent()), "c-sparql"),
    ("RS-67", query(select("*", over("v")), ALL), None),
    ("RS-67", query(select("*", match("E")), ALL), None),
    ("RS-67", query(select("*"), ALL, ALL), None),
    ("RS-67", query(select("*"), ALL, event("E", "w", "?x p ?y"), event("E", "w", "?x p ?y")), None),
    ("RS-67", query(select("*"), ALL, event("E", "w", over("w", "?x p ?y"))), None),
]


@pytest.mark.parametrize(("rule", "of", "preset"), REFUSED)
def test_what_is_refused(rule: str, of: Query, preset: str | None) -> None:
    with pytest.raises(Meaningless, match=rule):
        check(of, preset=preset)
