"""`query.explain`: what it says of automaton, keys, filters and patterns."""

from __future__ import annotations

import json

import pytest

import thence
from thence.explain.description import Arrow, Description, Node
from thence.explain.drawing import state_diagram

QUERY = """
PREFIX : <http://example.org/>
SELECT ?house (COUNT(B) AS ?n) WITHIN 10 MINUTES
FROM STREAM S1 <http://example.org/s1>
FROM STREAM S2 <http://example.org/s2>
WHERE {
  SEQ (A ; B+ ; X! ; C , N!)
  DEFINE GPM A ON S1 { ?house :watts ?w FILTER(?w > 10) }
  DEFINE GPM B ON S1 { ?house :watts ?v FILTER(?v > ?w) FILTER(STRLEN(STR(?v)) > STRLEN(STR(?w))) }
  DEFINE GPM C ON S2 { ?house :in/:near* ?city GRAPH :kb { ?house :owner ?o } }
  DEFINE GPM X ON S2 { ?house :off ?z }
  DEFINE GPM N ON S2 { ?house :on ?y }
}
"""


def section(text: str, title: str) -> list[str]:
    lines = text.splitlines()
    start = lines.index(title) + 1
    end = lines.index("", start) if "" in lines[start:] else len(lines)
    return [line.strip() for line in lines[start:end]]


def test_the_text_says_how_each_pattern_is_evaluated_and_where_each_filter_acts() -> None:
    assert section(thence.parse(QUERY).explain(), "Graph patterns") == [
        "A on S1: vectorised; binds ?house ?w",
        "FILTER ?w > 10: tested in the graph match",
        "B on S1: vectorised; binds ?house ?v",
        "FILTER ?v > ?w: tested by the machine",
        "FILTER STRLEN(STR(?v)) > STRLEN(STR(?w)): tested by the reference evaluator",
        "C on S2: event by event, because of a property path; binds ?house ?city ?o",
        "GRAPH <http://example.org/kb>: joined with every event",
        "X on S2: vectorised; binds ?house ?z",
        "N on S2: vectorised; binds ?house ?y",
    ]


def test_the_text_says_what_is_joined_at_the_end_and_what_drops_a_run_early() -> None:
    text = alone("A ; B ; C").explain()
    assert "GRAPH <http://example.org/kb>: joined with complete matches" in text
    assert "then dropped, unless ?b > ?a: tested by the machine" in section(text, "Automaton")


def test_the_text_has_states_and_edges_in_words() -> None:
    found = section(thence.parse(QUERY).explain(), "Automaton")
    assert [line for line in found if not line.startswith("FILTER")] == [
        "a run begins: A → state 1",
        "state 1: waits for B; skip-till-next (;); found by ?house",
        "B with the same ?house → state 2 and state 3",
        "state 2: waits for C; skip-till-next (;); found by ?house",
        "C with the same ?house, with no X in between → a match, if no N comes until the window ends",
        "state 3: waits for B; strict contiguity (,); found by ?house",
        "B with the same ?house → state 2 and state 3",
        "no N with the same ?house",
        "no X with the same ?house",
    ]


def test_the_text_ends_with_key_window_and_contiguity() -> None:
    assert thence.parse(QUERY).explain().splitlines()[-3:] == [
        "Key: ?house, which every part joins by equality",
        "Window: WITHIN 10 MINUTES",
        "Contiguity: judged among all events of all streams",
    ]


def test_the_algebra_is_shown_as_a_query_that_means_the_same() -> None:
    query = thence.parse(QUERY)
    assert thence.parse("\n".join(section(query.explain(), "Algebra"))) == query


def test_without_optimisation_the_machine_tests_all_and_finds_nothing_by_its_key() -> None:
    text = thence.parse(QUERY).explain(optimise=False)
    assert "FILTER ?w > 10: tested by the machine" in text
    assert "found by" not in text
    assert "all runs are tried" in text
    assert "Key: none" in text


ALONE = """
PREFIX : <http://example.org/>
SELECT * {within} {partition}
FROM STREAM S <http://example.org/s>
WHERE {{
  SEQ ({sequence})
  DEFINE GPM A ON S {{ ?x :is ?a GRAPH :kb {{ ?x :owner ?o }} }}
  DEFINE GPM B ON S {{ ?x :was ?b }}
  DEFINE GPM C ON S {{ ?x :had ?c FILTER(?b > ?a) }}
}}
"""


def alone(sequence: str, *, within: str = "", partition: str = "") -> thence.Query:
    return thence.parse(ALONE.format(sequence=sequence, within=within, partition=partition))


def test_a_query_of_one_part_needs_no_key() -> None:
    text = alone("A | B").explain()
    assert "Key: none is needed, no run waits" in text
    assert "Window: none, so state grows with the stream" in text


def test_that_all_events_are_in_one_shard_is_shown_with_its_reason() -> None:
    query = thence.parse("""
        PREFIX : <http://example.org/>
        SELECT * FROM STREAM S <http://example.org/s>
        WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :is 1 } DEFINE GPM B ON S { ?y :is 2 } }""")
    reason = "no variable is joined by equality in every part"
    assert f"Key: none: {reason}, so all events meet in one shard" in query.explain().splitlines()


def test_contiguity_is_judged_within_a_partition() -> None:
    text = alone("A , B", partition="PARTITION BY (?x)").explain()
    assert text.endswith("Contiguity: judged among the events of a partition by ?x")


def test_the_diagram_has_a_state_for_each_wait_and_an_arrow_for_each_edge() -> None:
    assert thence.parse(QUERY).explain("mermaid").splitlines() == [
        "stateDiagram-v2",
        "    direction LR",
        '    state "waits for B by skip-till-next" as s1',
        '    state "waits for C by skip-till-next" as s2',
        '    state "waits for B by strict contiguity" as s3',
        "    [*] --> s1: A",
        "    s1 --> s2: B",
        "    s1 --> s3: B",
        "    s2 --> [*]: C, no X in between, if no N comes until the window ends",
        "    s3 --> s2: B",
        "    s3 --> s3: B",
    ]


def test_json_has_the_same_facts() -> None:
    found = json.loads(thence.parse(QUERY).explain("json"))
    assert found["streams"][0] == {"name": "S1", "iri": "http://example.org/s1"}
    assert (found["window"], found["partition"], found["key"]) == ("WITHIN 10 MINUTES", [], ["?house"])
    assert [state["waits_for"] for state in found["states"]] == [["B"], ["C"], ["B"]]
    assert found["gpms"][0]["filters"] == [{"text": "?w > 10", "tested": "in the graph match"}]
    assert found["edges"][0]["over"] == "A"


def test_an_unknown_format_is_rejected() -> None:
    with pytest.raises(thence.InputError, match="Try: text, mermaid, svg, json"):
        alone("A").explain("pdf")


def test_a_query_that_reads_the_events_of_another_has_a_stage_for_each() -> None:
    text = "FROM STREAM {0} <x:{0}> {{ SEQ (A) DEFINE GPM A ON {0} {{ ?s <x:p> ?v }} }}"
    source = thence.parse("CONSTRUCT { ?s <x:p> ?v } " + text.format("S"))
    query = thence.parse("SELECT ?v " + text.format("D")).reading({"D": source})
    first, second = query.explain().split("\n\nStage 2, which emits the answer\n\n")
    assert first == "Stage 1, which feeds the stream D\n\n" + source.explain()
    assert second.startswith("Algebra\n  SELECT ?v")
    stages = json.loads(query.explain("json"))["stages"]
    assert [stage["emits"] for stage in stages] == ["events of the stream D", "the answer"]
    assert [stage["streams"][0]["name"] for stage in stages] == ["S", "D"]
    assert {"emits": stages[0]["emits"], **json.loads(source.explain("json"))} == stages[0]


def test_labels_of_a_diagram_escape_what_would_end_them() -> None:
    label = 'GRAPH <x:y> ; "z"'
    window = Description(
        {}, boxes=(Node(label, number=1),), arrows=(Arrow(None, (1,)), Arrow(1, (), label=label, emits=True))
    )
    escaped = "GRAPH #60;x#58;y#62; #59; #34;z#34;"
    assert state_diagram(window).splitlines()[2:] == [
        f'    state "{escaped}" as s1',
        "    [*] --> s1",
        f"    s1 --> [*]: {escaped}",
    ]
