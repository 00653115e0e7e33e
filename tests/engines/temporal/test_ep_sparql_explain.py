"""`explain` of EP-SPARQL: the join tree, what each node keeps, by which key and for how long."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from oracle.ep_sparql_cases import Case, Options, cases
from oracle.ep_sparql_text import text
from support.ep_sparql_runs import background_of, encoded
from thence.engines.temporal.conditions import ConditionState, ExistsStores, ProjectState
from thence.engines.temporal.describe import Lifetime, describe
from thence.engines.temporal.evaluation import NodeState
from thence.engines.temporal.joins import OptionalState, WithoutState
from thence.engines.temporal.leaves import LeafState
from thence.engines.temporal.plan.ep_sparql import compile_query
from thence.engines.temporal.program import PathScan
from thence.engines.temporal.state import node_tables
from thence.engines.temporal.summaries import SummaryState
from thence.explain.explain import explain
from thence.interface.operator import Environment
from thence.lang.ep_sparql.parser import parse
from thence.local.flow import LocalFlow
from thence.relation.interval_table import NO_END, IntervalTable

QUERY_1 = """
SELECT ?company WHERE
  { ?company hasStockPrice ?price1 }
  SEQ { ?company hasStockPrice ?price2 }
  SEQ { ?company hasStockPrice ?price3 }
  FILTER ( ?price2 < ?price1 * 0.7 && ?price3 > ?price1 * 1.05
    && getDURATION() < "P30D"^^<http://www.w3.org/2001/XMLSchema#duration> )
"""
REACHES = """
CONSTRUCT { ?x reaches ?y } WHERE { ?x link ?y }
CONSTRUCT { ?x reaches ?z } WHERE { ?x reaches ?y . ?y link ?z }
SELECT ?x ?z WHERE { ?x reaches ?z } EQUALSOPTIONAL { ?z closed ?t FILTER(?t > 1) }
"""
ALL_KINDS = """
SELECT ?x (COUNT(?y) AS ?n) WHERE {
  { ?x a Thing } OPTIONALSEQ { { ?x p ?y } EQUALS { ?x q _:b } }
  OPTIONAL { ?x near* ?z }
  MINUS { ?x gone true }
  { ?x r 1 } UNION { ?x r 2 }
  { SELECT DISTINCT ?x WHERE { ?x s ?t } }
  { SELECT ?x WHERE { ?x s ?t } LIMIT 1 }
  GRAPH kb { ?x owner ?o }
  VALUES ?o { 1 2 }
  BIND(getSTARTTIME() AS ?b)
  FILTER NOT EXISTS { ?x closed ?w }
  FILTER EXISTS { ?x open ?u FILTER(?u > ?y) }
} GROUP BY ?x HAVING(COUNT(?y) > 1)
"""


def explained(query: str, format: str = "text") -> str:
    return thence.parse(query, language="ep-sparql").explain(format)


def facts(query: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(explained(query, "json"))
    return found


def tree(query: str, number: int = 1, kind: str = "SELECT") -> list[str]:
    """The lines of a statement's join tree."""
    lines = explained(query).splitlines()
    start = lines.index(f"Join tree of {kind} {number}") + 1
    return lines[start : lines.index("", start)]


def node(query: str, operator: str) -> dict[str, Any]:
    """The only node of an operator."""
    (found,) = (each for each in facts(query)["nodes"] if each["operator"] == operator)
    return dict(found)


def kept(query: str, operator: str) -> dict[str, str]:
    return {each["what"]: each["how_long"] for each in node(query, operator)["keeps"]}


CLOSED, STARTED = "until their instant is closed (watermark > tω)", "until their start is closed (watermark ≥ tα)"


def test_the_text_of_query_1_has_its_two_joins_with_what_they_keep() -> None:
    assert explained(QUERY_1).splitlines() == [
        "Algebra",
        "  SELECT ?company WHERE {",
        "    {",
        "      ?company <http://example.org/hasStockPrice> ?price1 .",
        "    } SEQ {",
        "      ?company <http://example.org/hasStockPrice> ?price2 .",
        "    } SEQ {",
        "      ?company <http://example.org/hasStockPrice> ?price3 .",
        "    }",
        "    FILTER (?price2 < ?price1 * 0.7 && ?price3 > ?price1 * 1.05 && getDURATION() < "
        '"P30D"^^<http://www.w3.org/2001/XMLSchema#duration>)',
        "  }",
        "",
        "Join tree of SELECT 1",
        "  8 SELECT ?company",
        "    7 FILTER ?price3 > ?price1 * 1.05 && getDURATION() < P30D",
        "      6 SEQ (SeqJoin) by ?company",
        "          keeps solutions of the left side while getDURATION() can stay within its bound",
        "          keeps solutions of the right side until their start is closed (watermark ≥ tα)",
        "        left: 4 FILTER ?price2 < ?price1 * 0.7",
        "          3 SEQ (SeqJoin) by ?company",
        "              keeps solutions of the left side while getDURATION() can stay within its bound",
        "              keeps solutions of the right side until their start is closed (watermark ≥ tα)",
        "            left: 1 triple pattern (BGP) ?company :hasStockPrice ?price1",
        "            right: 2 triple pattern (BGP) ?company :hasStockPrice ?price2",
        "        right: 5 triple pattern (BGP) ?company :hasStockPrice ?price3",
        "",
        "Engine: temporal joins",
        "Output: ?company; a row at its tω",
        "Key: ?company, which every part joins by equality",
        "State: bounded: nothing of the stream is kept for ever",
        "Occurrences: each counts once; a triple pattern keeps its own until their instant is closed",
    ]


def test_the_text_of_a_recursive_file_has_statements_strata_and_what_they_read() -> None:
    lines = explained(REACHES).splitlines()
    assert lines[lines.index("Statements") :] == [
        "Statements",
        "  CONSTRUCT 1, stratum 1: derives ?x :reaches ?y",
        "  CONSTRUCT 2, stratum 1: derives ?x :reaches ?z",
        "      reads what CONSTRUCT 1 derives, also at the same instant",
        "      reads what CONSTRUCT 2 derives, also at the same instant",
        "  SELECT 1, stratum 2: emits ?x ?z",
        "      reads what CONSTRUCT 1 derives, also at the same instant",
        "      reads what CONSTRUCT 2 derives, also at the same instant",
        "",
        "Join tree of CONSTRUCT 1",
        "  1 triple pattern (BGP) ?x :link ?y",
        "",
        "Join tree of CONSTRUCT 2",
        "  4 join by ?y",
        "      keeps solutions of the left side for ever",
        "      keeps solutions of the right side for ever",
        "    left: 2 triple pattern (BGP) ?x :reaches ?y",
        "    right: 3 triple pattern (BGP) ?y :link ?z",
        "",
        "Join tree of SELECT 1",
        "  8 SELECT ?x ?z",
        "    7 EQUALSOPTIONAL (EqLeftJoin) F: ?t > 1 by ?z and the interval",
        "        keeps solutions of the mandatory side until their instant is closed (watermark > tω)",
        "        keeps solutions of the optional side until their instant is closed (watermark > tω)",
        "        bare rows wait until their instant is closed (watermark > tω)",
        "      mandatory: 5 triple pattern (BGP) ?x :reaches ?z",
        "      optional: 6 triple pattern (BGP) ?z :closed ?t",
        "",
        "Engine: temporal joins; instants one by one, strata in order, each to its fixpoint",
        "Output: ?x ?z; a row at its tω, or when node 7 lets it pass",
        "Key: none: rules feed the stream, so all events meet in one shard",
        "State: unbounded: node 4 keeps solutions of the left side for ever and "
        "node 4 keeps solutions of the right side for ever",
        "Occurrences: each counts once; a triple pattern keeps its own until their instant is closed",
    ]


def test_the_diagram_leads_from_triple_patterns_over_joins_to_rows() -> None:
    assert explained(QUERY_1, "mermaid").splitlines() == [
        "stateDiagram-v2",
        "    direction LR",
        '    state "3 SEQ (SeqJoin) by ?company" as s3',
        '    state "6 SEQ (SeqJoin) by ?company" as s6',
        "    [*] --> s3: ?company #58;hasStockPrice ?price1, left",
        "    [*] --> s3: ?company #58;hasStockPrice ?price2, right",
        "    s3 --> s6: FILTER, left",
        "    [*] --> s6: ?company #58;hasStockPrice ?price3, right",
        "    s6 --> [*]: FILTER, SELECT",
    ]


def test_rules_lead_back_to_the_closure_which_feeds_what_they_may_match() -> None:
    assert explained(REACHES, "mermaid").splitlines()[2:] == [
        '    state "Q-closure" as s0',
        '    state "4 join by ?y" as s4',
        '    state "7 EQUALSOPTIONAL (EqLeftJoin) by ?z and the interval" as s7',
        "    [*] --> s0: triples",
        "    [*] --> s0: ?x #58;link ?y, CONSTRUCT 1",
        "    s0 --> s4: ?x #58;reaches ?y, left",
        "    [*] --> s4: ?y #58;link ?z, right",
        "    s4 --> s0: CONSTRUCT 2",
        "    s0 --> s7: ?x #58;reaches ?z, mandatory",
        "    [*] --> s7: ?z #58;closed ?t, optional",
        "    s7 --> [*]: SELECT",
    ]


SVG = "{http://www.w3.org/2000/svg}"


def drawn(query: str, kind: str) -> list[list[str]]:
    """The lines of the boxes of a kind, from left to right."""
    root = ElementTree.fromstring(explained(query, "svg"))
    found = []
    for group in root.iter(f"{SVG}g"):
        rect, title = group.find(f"{SVG}rect"), group.find(f"{SVG}title")
        assert rect is not None and title is not None
        if rect.attrib["class"] == kind:
            found.append((float(rect.attrib["x"]), (title.text or "").split("\n")))
    return [lines for _, lines in sorted(found, key=lambda each: each[0])]


def test_the_drawing_has_a_join_right_of_those_that_lead_to_it() -> None:
    left = f"keeps solutions of the left side {Lifetime.WHILE_SHORT}"
    right = f"keeps solutions of the right side {Lifetime.TO_THE_START}"
    assert drawn(QUERY_1, "state") == [[f"{join} SEQ (SeqJoin) by ?company", left, right] for join in (3, 6)]
    assert ["?company :hasStockPrice ?price3", "right side of 6"] in drawn(QUERY_1, "edge")


def test_the_drawing_of_rules_has_the_closure_and_what_they_derive() -> None:
    assert drawn(REACHES, "state")[0] == ["Q-closure", "the stream with what rules derive"]
    assert ["CONSTRUCT 2", "derives ?x :reaches ?z"] in drawn(REACHES, "edge")
    assert ["?x :link ?y", "CONSTRUCT 1", "derives ?x :reaches ?y"] in drawn(REACHES, "edge")


def test_json_has_the_facts_in_parts() -> None:
    found = facts(QUERY_1)
    assert found["streams"] == [{"name": "events", "iri": "http://example.org/events"}]
    assert (found["engine"], found["key"], found["one_shard"]) == ("temporal joins", ["?company"], None)
    assert (found["output"], found["policy"], found["reasoning"]) == (["?company"], None, None)
    assert found["nodes"][5] == {
        "number": 6,
        "operator": "SEQ",
        "definition": "SeqJoin",
        "text": "",
        "inputs": [{"role": "left", "node": 4}, {"role": "right", "node": 5}],
        "key": ["?company"],
        "possible_key": [],
        "by_interval": False,
        "keeps": [
            {"what": "solutions of the left side", "how_long": Lifetime.WHILE_SHORT, "unbounded": False},
            {"what": "solutions of the right side", "how_long": STARTED, "unbounded": False},
        ],
        "waits": None,
        "detail": None,
    }
    assert found["unbounded"] == []
    assert facts("SELECT * { ?x p ?y } SEQ { ?x p ?z }")["unbounded"] == [
        {"node": 3, "keeps": "solutions of the left side"}
    ]
    assert thence.parse(found["algebra"], language="ep-sparql") == thence.parse(QUERY_1, language="ep-sparql")


def test_json_has_rules_with_what_they_derive_and_read() -> None:
    _, second, select = facts(REACHES)["statements"]
    assert second == {
        "name": "CONSTRUCT 2",
        "stratum": 1,
        "root": 4,
        "is_rule": True,
        "derives": ["?x :reaches ?z"],
        "emits": [],
        "reads": [
            {"rule": 1, "when": "also at the same instant"},
            {"rule": 2, "when": "also at the same instant"},
        ],
        "is_read": True,
    }
    assert (select["stratum"], select["emits"]) == (2, ["?x", "?z"])


@pytest.mark.parametrize(
    ("where", "operator", "definition", "keeps"),
    [
        ("?x p ?a . ?x q ?b", "join", "Join", {"left": "for ever", "right": "for ever"}),
        ("{ ?x p ?a } SEQ { ?x q ?b }", "SEQ", "SeqJoin", {"left": "for ever", "right": STARTED}),
        ("{ ?x p ?a } EQUALS { ?x q ?b }", "EQUALS", "EqJoin", {"left": CLOSED, "right": CLOSED}),
        ("?x p ?a OPTIONAL { ?x q ?b }", "OPTIONAL", "LeftJoin", {"mandatory": CLOSED, "optional": "for ever"}),
        (
            "{ ?x q ?b } OPTIONALSEQ { ?x p ?a }",
            "OPTIONALSEQ",
            "SeqRightJoin",
            {"mandatory": STARTED, "optional": "for ever"},
        ),
        (
            "{ ?x p ?a } EQUALSOPTIONAL { ?x q ?b }",
            "EQUALSOPTIONAL",
            "EqLeftJoin",
            {"mandatory": CLOSED, "optional": CLOSED},
        ),
    ],
)
def test_every_join_has_the_papers_name_and_says_how_long_it_keeps_each_side(
    where: str, operator: str, definition: str, keeps: dict[str, str]
) -> None:
    query = f"SELECT ?x WHERE {{ {where} }}"
    found = node(query, operator)
    assert (found["definition"], found["key"]) == (definition, ["?x"])
    assert found["by_interval"] == operator.startswith("EQUALS")
    assert kept(query, operator) == {f"solutions of the {side} side": how_long for side, how_long in keeps.items()}


@pytest.mark.parametrize(
    ("where", "operator", "waits"),
    [
        ("?x p ?a OPTIONAL { ?x q ?b }", "OPTIONAL", f"bare rows wait {CLOSED}"),  # EP-43
        ("{ ?x p ?a } EQUALSOPTIONAL { ?x q ?b }", "EQUALSOPTIONAL", f"bare rows wait {CLOSED}"),
        ("{ ?x q ?b } OPTIONALSEQ { ?x p ?a }", "OPTIONALSEQ", f"bare rows wait {STARTED}"),  # EP-44
        ("?x p ?a OPTIONAL { ?x q ?b FILTER EXISTS { ?x r ?c } }", "OPTIONAL", f"all rows wait {CLOSED}"),
        ("{ ?x q ?b FILTER EXISTS { ?x r ?c } } OPTIONALSEQ { ?x p ?a }", "OPTIONALSEQ", f"all rows wait {CLOSED}"),
        ("?x p ?a MINUS { ?x q ?b }", "MINUS", f"all rows wait {CLOSED}"),
        ("?x p ?a FILTER EXISTS { ?x q ?b }", "FILTER", f"all rows wait {CLOSED}"),
        ("?x p ?a FILTER (?a > 1)", "FILTER", None),
        ("?x p ?a MINUS { ?y q ?b }", "MINUS", f"all rows wait {CLOSED}"),
    ],
)
def test_rows_that_wait_for_the_watermark_are_named(where: str, operator: str, waits: str | None) -> None:
    query = f"SELECT ?x WHERE {{ {where} }}"
    found = node(query, operator)["waits"]
    assert (found and f"{found['what']} wait {found['how_long']}") == waits
    assert ((waits or " wait ") in "\n".join(tree(query))) == (waits is not None)
    output = next(line for line in explained(query).splitlines() if line.startswith("Output"))
    assert ("lets it pass" in output) == (waits is not None)


def test_minus_and_exists_keep_the_earliest_solution_of_each_shared_mapping() -> None:
    """EP-78."""
    minus, exists = "SELECT ?x { ?x p ?a MINUS { ?x q ?b } }", "SELECT ?x { ?x p ?a FILTER EXISTS { ?x q ?b } }"
    assert kept(minus, "MINUS")["the earliest solution for each ?x of the right side"] == "for ever"
    assert kept(exists, "FILTER")["the earliest solution for each ?x of EXISTS (node 2)"] == "for ever"
    lone = "SELECT ?x { ?x p ?a FILTER EXISTS { ?y q ?b } }"
    assert kept(lone, "FILTER")["the earliest solution of EXISTS (node 2)"] == "for ever"
    assert facts(lone)["unbounded"] == []


def test_minus_without_a_shared_variable_keeps_only_rows_that_wait() -> None:
    """EP-43"""
    query = "SELECT ?x { ?x p ?a MINUS { ?y q ?b } }"
    assert kept(query, "MINUS") == {"solutions of the left side": CLOSED}
    assert node(query, "MINUS")["detail"] == "removes nothing: the sides share no variable"


def test_an_exists_that_is_evaluated_for_each_row_makes_its_triple_patterns_keep_all() -> None:
    query = "SELECT ?x { ?x p ?a FILTER EXISTS { ?x q ?b FILTER(?b > ?a) } }"
    lines = tree(query)
    place = next(number for number, line in enumerate(lines) if "?x :q ?b" in line)
    assert lines[place + 1].strip() == (
        "keeps all of its occurrences, for an EXISTS that is evaluated for each row, for ever"
    )
    assert '    state "2 triple pattern (BGP)" as s2' in explained(query, "mermaid").splitlines()


def test_what_is_timeless_does_not_grow() -> None:
    query = "SELECT ?x { { VALUES ?x { 1 2 } } EQUALS { VALUES ?x { 2 } } { ?x p ?y } SEQ { VALUES ?x { 1 } } }"
    assert kept(query, "SEQ") == {
        "solutions of the left side": "for ever",
        "solutions of the right side, which are timeless,": "for ever",
    }
    (seq,) = (each for each in facts(query)["nodes"] if each["operator"] == "SEQ")
    assert [each["unbounded"] for each in seq["keeps"]] == [True, False]


def test_a_file_whose_joins_all_close_says_that_it_is_bounded() -> None:
    query = "SELECT ?x { { ?x p ?a } EQUALS { ?x q ?b } }"
    assert "State: bounded: nothing of the stream is kept for ever" in explained(query).splitlines()
    assert facts(query)["unbounded"] == []


def test_variables_that_may_be_unbound_are_compared_where_they_are_bound() -> None:
    query = "SELECT ?x { { ?x p ?a OPTIONAL { ?x q ?b } } SEQ { ?x r ?b } }"
    found = node(query, "SEQ")
    assert (found["key"], found["possible_key"]) == (["?x"], ["?b"])
    assert any("SEQ (SeqJoin) by ?x and ?b where bound" in line for line in tree(query))
    assert any("SEQ (SeqJoin) without a key" in line for line in tree("SELECT * { { ?x p ?a } SEQ { ?y q ?b } }"))


def test_every_kind_of_node_is_named_and_shown_as_it_was_written() -> None:
    lines = "\n".join(tree(ALL_KINDS))
    for part in (
        "aggregate SELECT ?x (COUNT(?y) AS ?n) GROUP BY ?x HAVING (COUNT(?y) > 1)",
        "OPTIONALSEQ (SeqRightJoin)",
        "EQUALS (EqJoin)",
        "OPTIONAL (LeftJoin)",
        "MINUS",
        "UNION",
        "sub-select DISTINCT ?x",
        "slice of each instant in a sub-select SELECT ?x LIMIT 1",
        "GRAPH :kb { ?x :owner ?o . }",
        "VALUES (?o), 2 rows",
        "BIND (getSTARTTIME() AS ?b)",
        "path ?x :near* ?z",
        "reads whole events",
        "triple pattern (BGP) ?x :q _:b",
        "keeps the aggregates of its groups for ever",
        "keeps the rows that it emitted until their instant is closed",
    ):
        assert part in lines, part
    assert "!EXISTS(node " in lines
    assert "?_:" not in lines and "?EXISTS" not in lines and "?get" not in lines
    reason = "a path reads whole events"
    assert f"Key: none: {reason}, so all events meet in one shard" in explained(ALL_KINDS).splitlines()
    assert drawn(ALL_KINDS, "start") == [["events and background"]]


def test_strings_are_shown_as_they_are() -> None:
    written = r'"?EXISTS 0 <http://example.org/p> \"?getDURATION()"'
    assert any(f"FILTER ?a != {written}" in line for line in tree(f"SELECT ?x {{ ?x p ?a FILTER(?a != {written}) }}"))


def test_names_outside_of_the_namespace_are_whole() -> None:
    query = "PREFIX : <http://a.org/x#> SELECT ?x { ?x :p <http://a.org/x#2/3> . ?x <http://example.org/p> 1 }"
    lines = "\n".join(tree(query))
    assert "?x :p <http://a.org/x#2/3>" in lines and "?x <http://example.org/p> 1" in lines


def test_rules_alone_emit_derived_events() -> None:
    query = "CONSTRUCT { ?x q ?y } { ?x p ?y } CONSTRUCT { ?x r ?y } { ?x q ?y }"
    output = (
        "Output: an event with the new triples of a solution at its tω; "
        "events wait until their instant is closed (watermark > tω)"
    )
    assert output in explained(query).splitlines()
    assert facts(query)["output"] == "derived events"
    assert explained(query, "mermaid").splitlines()[2:] == [
        '    state "Q-closure" as s0',
        "    [*] --> s0: triples",
        "    [*] --> s0: ?x #58;p ?y, CONSTRUCT 1",
        "    [*] --> [*]: ?x #58;p ?y, CONSTRUCT 1",
        "    s0 --> [*]: ?x #58;q ?y, CONSTRUCT 2",
    ]
    assert drawn(query, "match") == [["derived events"]]


def test_a_select_has_the_rules_that_it_reads_and_no_others() -> None:
    query = """
        CONSTRUCT { ?x q ?y } { ?x p ?y }
        CONSTRUCT { ?x r ?y } { ?x p ?y }
        SELECT ?x { ?x r ?y }
        SELECT ?y { ?x p ?y }"""
    first, second = json.loads(explained(query, "json"))["stages"]
    assert [each["name"] for each in first["statements"]] == ["CONSTRUCT 2", "SELECT 1"]
    assert [each["name"] for each in second["statements"]] == ["SELECT 2"]
    assert "q>" not in first["algebra"] and "CONSTRUCT" not in second["algebra"]
    assert "Join tree of SELECT 2" in explained(query).splitlines()


def test_selects_that_read_rules_are_one_stage() -> None:
    query = """
        CONSTRUCT { ?x q ?y } { ?x p ?y }
        SELECT ?y { ?x p ?y }
        SELECT ?x { ?x q ?y }
        SELECT ?z ?x { ?x q ?z } ORDER BY ?z
        SELECT ?w ?x { ?x q ?w }"""
    stages = json.loads(explained(query, "json"))["stages"]
    assert [[each["name"] for each in stage["statements"]] for stage in stages] == [
        ["SELECT 1"],
        ["CONSTRUCT 1", "SELECT 2", "SELECT 4"],
        ["CONSTRUCT 1", "SELECT 3"],
    ]
    assert stages[1]["output"] == ["?x", "?w"]


def test_reasoning_and_a_policy_are_shown() -> None:
    reasoned = explain(compile_query(parse("SELECT ?x { ?x p ?y }"), reasoning=True)).splitlines()
    assert "Reasoning: RDFS" in reasoned
    assert "      reads what the triples of events entail, too" in "\n".join(reasoned)
    chosen = explain(compile_query(parse("SELECT ?x { { ?x p ?y } SEQ { ?x q ?z } }"), policy="recent")).splitlines()
    assert f"Policy: recent; rows wait {CLOSED}" in chosen
    assert "Key: none: a policy chooses among all events, so all events meet in one shard" in chosen


def test_rows_that_order_by_orders_come_from_one_shard() -> None:
    """EP-62: the order is that of all rows of one end, whichever keys they have."""
    lines = explain(compile_query(parse("SELECT ?x ?y { ?x p ?y } ORDER BY ?y"))).splitlines()
    assert "Key: none: ORDER BY orders all rows of one end, so all events meet in one shard" in lines


@pytest.mark.parametrize("joined", [" . ", " } SEQ { ", " } UNION { ", " } OPTIONAL { "])
def test_hundreds_of_nodes_are_shown_in_proportion(joined: str) -> None:
    def large(count: int) -> thence.Query:
        where = joined.join(f"?x p{number} ?y{number}" for number in range(count))
        return thence.parse(f"SELECT ?x {{ {{ {where} }} }}", language="ep-sparql")

    small, big = large(50), large(200)
    for format in ("text", "mermaid", "svg", "json"):
        assert len(big.explain(format)) < 5 * len(small.explain(format)), format


@given(cases())
def test_every_file_is_explained_in_every_format(case: Case) -> None:
    dataflow = compile_query(parse(text(case.file)), reasoning=case.reasoning)
    for format in ("text", "mermaid", "json"):
        assert "?EXISTS" not in explain(dataflow, format)
    ElementTree.fromstring(explain(dataflow, "svg"))


@pytest.mark.numba
@given(cases(Options(rules=False, reasoning=False)), st.lists(st.integers(-3, 7), max_size=3))
def test_what_is_said_to_be_kept_for_a_time_is_gone_when_all_is_closed(case: Case, cuts: list[int]) -> None:
    """The facts are those of the engine. Behind the watermark a store is empty, unless it is said to grow, or to keep
    one solution for ever: the earliest of an EXISTS without a shared variable (EP-78)."""
    dataflow = compile_query(parse(text(case.file)))
    events = list(enumerate(sorted(case.events, key=lambda each: each[2])))
    flow = LocalFlow(dataflow, Environment(background_of(case)))
    bounds = [-(10**6), *sorted(set(cuts)), 10**6]
    for low, high in pairwise(bounds):
        some = [(number, each) for number, each in events if low <= each[2] < high]
        list(flow.feed({"events": [encoded(some)]} if some else {}, high))
    for host in flow.hosts:
        nodes: Any = describe(host.stage.program).json["nodes"]
        for shown in nodes:
            state = host.state.evaluation.states[shown["number"] - 1]
            for kept, table in stored(shown["keeps"], state):
                left = int(np.count_nonzero(table.end != NO_END))
                most = 1 if kept["what"].startswith("the earliest solution of") else 0
                assert kept["unbounded"] or left <= most, (shown["operator"], kept)


def stored(keeps: list[dict[str, Any]], state: NodeState | None) -> list[tuple[dict[str, Any], IntervalTable]]:
    """What a node is said to keep, each with the table that has it."""
    if state is None:
        return []
    tables = list(node_tables(state))
    match state:
        case OptionalState():
            tables = [state.mandatory.table, state.optional.table, *exists_tables(state.exists)]
        case ConditionState():
            tables = [] if state.exists.is_empty else [state.waiting, *exists_tables(state.exists)]
        case WithoutState():
            tables = [state.waiting, *([state.right.table] if state.node.keys.left else [])]
        case ProjectState() if not state.node.distinct:
            tables = []
        case LeafState() if isinstance(state.node, PathScan):
            tables = tables[1:]  # timeless pairs
        case SummaryState():
            keeps = keeps[:1]  # groups are no table
        case _:
            pass
    return list(zip(keeps, tables, strict=True))


def exists_tables(exists: ExistsStores) -> list[IntervalTable]:
    """The solutions of each EXISTS. One that is evaluated for each solution under test stores none here."""
    found = list(zip(exists.tests, exists.stores, strict=True))
    assert not any(len(store) for test, store in found if test.correlated)
    return [store.table for test, store in found if not test.correlated]
