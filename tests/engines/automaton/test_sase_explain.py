"""`explain` of SASE+: components, conditions as they were written, automaton, window and key."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import thence
from oracle.sase_cases import Case, cases
from oracle.sase_text import text
from thence.algebra.show_sase import condition_text
from thence.lang.sase.parser import parse

QUERY = """
PATTERN SEQ(Stock+ a[], ~Halt h, Stock b)
WHERE skip_till_next_match(a[]!, b) {
    [symbol] ^ a[1].volume > 1000 ^ a[i].price > avg(a[..i-1].price) ^ b.volume < 80% * a[a.LEN].volume
    ^ (b.note LIKE 'A_%' OR b.note IS NULL) ^ b.price > a[i].price ^ h.level != 'it''s'
}
WITHIN 90 MINUTES
RETURN a[1].symbol AS symbol
"""


def test_conditions_and_the_window_are_shown_as_the_query_writes_them() -> None:
    assert thence.parse(QUERY, language="sase+").explain().splitlines() == [
        "Components",
        "  Stock+ a[]: skip-till-next, stops where it first can (!)",
        "      a[1].volume > 1000: on the event alone, before any run is tried",
        "      a[i].price > avg(a[..i-1].price): with the run, in the machine",
        "  ~Halt h: must be absent; judged on complete matches",
        "      h.level != 'it''s': on complete matches",
        "  Stock b: skip-till-next",
        "      b.volume < 0.80 * a[a.LEN].volume: with the run, in the machine",
        "      b.note LIKE 'A_%' OR b.note IS NULL: on the event alone, before any run is tried",
        "      b.price > a[i].price: with the run, on its history",
        "",
        "Automaton",
        "  a run begins: begin a → state 1",
        "  state 1: in a[]; waits for a or b; skip-till-next",
        "      take a → state 1",
        "      stop, proceed and begin b → a match, if no h between a[] and b",
        "  no Halt h between a[] and b",
        "",
        "[symbol]: the same in all events of a match",
        "Window: WITHIN 90 MINUTES",
        "Key: symbol",
    ]


def test_json_has_the_same_facts_in_parts() -> None:
    found = json.loads(thence.parse(QUERY, language="sase+").explain("json"))
    assert found["streams"] == [{"name": "events", "iri": "http://example.org/events"}]
    assert (found["window"], found["equal"], found["key"]) == ("WITHIN 90 MINUTES", ["symbol"], ["symbol"])
    assert [component["text"] for component in found["components"]] == ["Stock+ a[]", "~Halt h", "Stock b"]
    assert found["components"][0]["conditions"][1] == {
        "text": "a[i].price > avg(a[..i-1].price)",
        "tested": "with the run, in the machine",
    }
    assert found["components"][1]["absence"] == "no Halt h between a[] and b"
    assert found["having"] is None
    assert found["states"] == [{"number": 1, "inside": "a", "selection": "skip-till-next", "match": None}]
    assert found["edges"][1] == {
        "source": 1,
        "role": "take",
        "over": "a",
        "target": None,
        "again": 1,
        "match": False,
        "conditions": ["a[i].price > avg(a[..i-1].price)"],
    }


def test_the_diagram_has_an_arrow_for_each_way_to_go() -> None:
    assert thence.parse(QUERY, language="sase+").explain("mermaid").splitlines() == [
        "stateDiagram-v2",
        "    direction LR",
        '    state "in a[], skip-till-next" as s1',
        "    [*] --> s1: begin a",
        "    s1 --> s1: take a",
        "    s1 --> [*]: stop, proceed and begin b, if no h between a[] and b",
    ]


@pytest.mark.parametrize(("by", "waits"), [("strict", "strict contiguity"), ("partition", "partition contiguity")])
def test_strict_and_partition_contiguity_are_told_apart(by: str, waits: str) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {by}_contiguity(a, b) {{ [k] }} RETURN a.x"
    assert f"  state 1: waits for b; {waits}" in thence.parse(query, language="sase+").explain()


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("a.x < b.x", "no attribute is equal in all events of a match"),
        ("strict_contiguity(a, b) { [k] }", "strict contiguity counts every event of all streams"),
    ],
)
def test_that_all_events_are_in_one_shard_is_shown_with_its_reason(condition: str, reason: str) -> None:
    query = thence.parse(f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 9 RETURN a.x", language="sase+")
    assert query.explain().splitlines()[-1] == f"Key: none: {reason}, so all events meet in one shard"


ENDING = "PATTERN SEQ(A a, B+ b[]) WHERE {by} {{ [k] ^ b[i].x > b[i-1].x }} {within} RETURN a.x"


@pytest.mark.parametrize(
    ("by", "within", "when"),
    [
        ("skip_till_next_match(b[])", "WITHIN 9", "at the window's end"),
        ("skip_till_any_match(b[])", "WITHIN 9", "at the window's end"),
        ("partition_contiguity(b[])", "WITHIN 9", "when it stops, at the latest at the window's end"),
        ("strict_contiguity(b[])", "", "when it stops, at the latest at the end of the input"),
        ("partition_contiguity(b[])", "", "when it stops, at the latest at the end of the input"),
    ],
)
def test_a_last_closure_that_no_condition_ends_leads_to_a_match_in_time(by: str, within: str, when: str) -> None:
    query = thence.parse(ENDING.format(by=by, within=within))
    (line,) = (line for line in query.explain().splitlines() if line.endswith("→ a match"))
    assert line == f"      {when} → a match"
    assert f"    s1 --> [*]: {when}" in query.explain("mermaid").splitlines()
    assert json.loads(query.explain("json"))["states"][0]["match"] == when


def test_one_that_a_condition_ends_leads_there_by_its_events_alone() -> None:
    query = thence.parse("PATTERN SEQ(A+ a[]) WHERE a.LEN = 2 WITHIN 9 RETURN a[1].x")
    assert "end →" not in query.explain()
    assert [state["match"] for state in json.loads(query.explain("json"))["states"]] == [None]


def test_an_absence_at_the_end_is_shown_where_a_run_becomes_a_match() -> None:
    query = thence.parse("PATTERN SEQ(A a, ~B b) WITHIN 9 RETURN a.x")
    assert "  a run begins: begin a → a match, if no b after a, up to the window's end" in query.explain().splitlines()


def test_all_absences_at_the_end_are_shown() -> None:
    query = thence.parse("PATTERN SEQ(A a, ~B n, ~(C+ m[])) WITHIN 5 RETURN a.x")
    absent = "if no n after a, up to the window's end, no m after a, up to the window's end"
    assert f"  a run begins: begin a → a match, {absent}" in query.explain().splitlines()


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("A a, ~B n", "[*] --> [*]: begin a, if no n after a, up to the window's end"),
        (
            "A a, ~B n, ~C m, D d, ~E e",
            "s1 --> [*]: begin d, if no n between a and d, no m between a and d, no e after d, up to the window's end",
        ),
        ("A a, ~`x:y;z` n, D+ d[]", "s1 --> [*]: at the window's end, if no n between a and d[]"),
        ("A a, D d", "s1 --> [*]: begin d"),
    ],
)
def test_the_diagram_shows_what_must_be_absent_where_a_match_is_made(pattern: str, line: str) -> None:
    lines = thence.parse(f"PATTERN SEQ({pattern}) WITHIN 5 RETURN a.x").explain("mermaid").splitlines()
    assert [each.strip() for each in lines if "--> [*]" in each] == [line]
    assert not any(" no " in each for each in lines if "--> [*]" not in each)


NEVER = "none: runs never expire"


@pytest.mark.parametrize(
    ("pattern", "window"),
    [
        ("SEQ(A a, B b)", NEVER),
        ("SEQ(A a, B b) WHERE strict_contiguity(a) { }", NEVER),
        ("SEQ(A+ a[], B b) WHERE strict_contiguity(b) { }", NEVER),
        ("SEQ(A+ a[], B b) WHERE strict_contiguity(a[]) { }", NEVER),
        ("SEQ(A a, B b) WHERE strict_contiguity(b) { }", "none: a run ends at the next event that it can't take"),
        (
            "SEQ(A+ a[], ~C c, B b) WHERE strict_contiguity(a[], b) { }",
            "none: a run ends at the next event that it can't take",
        ),
        (
            "SEQ(A+ a[], B b) WHERE partition_contiguity(a[], b) { [k] }",
            "none: a run ends at the next event of its partition that it can't take",
        ),
        ("A a", "none is needed, no run waits"),
    ],
)
def test_without_a_window_the_text_says_what_ends_a_run(pattern: str, window: str) -> None:
    assert f"Window: {window}" in thence.parse(f"PATTERN {pattern} RETURN 1 AS n").explain().splitlines()


def test_having_and_what_all_events_are_equal_in_are_shown() -> None:
    query = thence.parse("""
        PATTERN SEQ(A+ a[], B b)
        WHERE partition_contiguity(a[], b) { [`my key`, k] ^ PARTITION BY place ^ b.x > 1 }
        WITHIN 9
        HAVING count(a[]) > 2 AND sum(a[].x) < 9
        RETURN b.x""")
    lines = query.explain().splitlines()
    equal = lines.index("[`my key`, k]: the same in all events of a match")
    assert lines[equal + 1] == "PARTITION BY place: the same in all events of a match"
    assert "Having: count(a[]) > 2 AND sum(a[].x) < 9: on complete matches" in lines
    found = json.loads(query.explain("json"))
    assert (found["equal"], found["partition"]) == (["`my key`", "k"], ["place"])
    assert found["having"] == {"text": "count(a[]) > 2 AND sum(a[].x) < 9", "tested": "on complete matches"}


def test_an_unknown_format_is_rejected_with_those_there_are() -> None:
    for written in (QUERY, "PATTERN A a RETURN a.x AS x UNION PATTERN B b RETURN b.x AS x"):
        with pytest.raises(thence.InputError, match="Try: text, mermaid, svg, json"):
            thence.parse(written, language="sase+").explain("png")


@pytest.mark.parametrize(
    "condition",
    [
        "a.t > TIMESTAMP '2024-05-06T07:00:00Z'",
        "a.t = DATE '2024-05-06'",
        "a.x NOT LIKE '.%\\_it''s'",
        "abs(-a.x) - (1 - a.y) * 2 < 1e3",
        "a.`b c` = 2 OR a.`<x:y>` IS NULL OR a.<x:y> > 1 OR a.`2nd` LIKE 'A'",
        "lower(a.s) = 'u' OR NOT starts_with(a.s, 'v') OR a.b = true",
    ],
)
def test_every_kind_of_condition_is_shown_as_it_was_written(condition: str) -> None:
    (block,) = parse(f"PATTERN A a WHERE {condition} RETURN a.x").blocks
    assert [condition_text(each) for each in block.conditions] == [condition]


def test_names_in_backquotes_keep_them_wherever_they_stand() -> None:
    query = thence.parse(
        "PATTERN SEQ(`A b`+ a[], C c) WHERE c.`x y` > highest(3, a[].`x y`) ^ a[i].`x y` > a[1].`x y` RETURN c.x"
    )
    shown = query.explain()
    assert "  `A b`+ a[]: skip-till-next\n" in shown
    assert "c.`x y` > highest(3,a[].`x y`)" in shown
    assert "a[i].`x y` > a[1].`x y`" in shown


@given(cases())
def test_a_condition_written_and_read_is_the_same_condition(case: Case) -> None:
    pattern, *_, output = text(case.query).splitlines()
    (block,) = parse(text(case.query)).blocks
    for condition in block.conditions:
        (again,) = parse(f"{pattern} WHERE {condition_text(condition)} WITHIN 9 TICKS {output}").blocks
        assert again.conditions == (condition,)


def test_stages_that_feed_each_other_are_explained_one_after_the_other() -> None:
    query = thence.parse("PATTERN A a RETURN (a.x AS x) AS B IN STREAM S; FROM S PATTERN B b RETURN b.x AS x")
    first, second = query.explain().split("\n\nStage 2, which emits the answer\n\n")
    assert first.startswith("Stage 1, which feeds the stream S\n\nComponents\n  A a")
    assert second.startswith("Components\n  B b")
    assert [each["emits"] for each in json.loads(query.explain("json"))["stages"]] == [
        "events of the stream S",
        "the answer",
    ]
    assert query.explain("mermaid").splitlines() == [
        "stateDiagram-v2",
        "    direction LR",
        '    state "Stage 1, which feeds the stream S" as stage1 {',
        "        [*] --> [*]: begin a",
        "    }",
        '    state "Stage 2, which emits the answer" as stage2 {',
        "        [*] --> [*]: begin b",
        "    }",
    ]
