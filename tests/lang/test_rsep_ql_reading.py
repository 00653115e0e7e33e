"""What an RSEP-QL query is read as: rules RS-1 to RS-67 as far as they are about text, the paper's Example 4, and the
forms of RSP-QL, C-SPARQL, CQELS and SPARQLstream."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.window_queries import window_queries
from thence.algebra.expressions import Aggregate, AggregateFunction, Exists, Variable
from thence.algebra.patterns import (
    BasicEvent,
    Bgp,
    Construct,
    DatasetClause,
    EventExpression,
    EventSeq,
    Extend,
    Filter,
    First,
    Graph,
    Join,
    Last,
    LeftJoin,
    MatchPattern,
    Pattern,
    Projection,
    Select,
    SeqPolicy,
    SubSelect,
    TriplePattern,
    Union,
    WindowPattern,
)
from thence.algebra.rsep_ql import (
    EventPattern,
    IdentityWindow,
    IntervalWindow,
    LandmarkWindow,
    NamedWindow,
    NowWindow,
    StreamOperator,
    TimeWindow,
    WindowFunction,
    WindowQuery,
    block_window,
    clause_window,
    is_written,
)
from thence.algebra.show import show
from thence.algebra.streams import At, Every, OnClose, OnContent, Stream
from thence.errors import QueryError
from thence.lang.rsep_ql.parser import parse
from thence.lang.sparql.parser import parse_pattern
from thence.local.inputs import stream_name
from thence.query.languages import recognised
from thence.rdf.terms import IRI, XSD
from thence.rdf.times import Domain, Instant, Span, parse_duration, parse_time

NAMESPACE = "http://example.org/"
P = f"PREFIX : <{NAMESPACE}> PREFIX xsd: <{XSD}>\n"
RSTREAM, ISTREAM, DSTREAM = StreamOperator
CHRONOLOGICAL, RECENT, NAIVE = SeqPolicy
X, Y, Z = Variable("x"), Variable("y"), Variable("z")
E1, E2, E3 = (BasicEvent(name) for name in ("E1", "E2", "E3"))


def iri(name: str) -> IRI:
    return IRI(NAMESPACE + name)


def bgp(predicate: str, subject: Variable = X, target: Variable = Y) -> Bgp:
    return Bgp((TriplePattern(subject, iri(predicate), target),))


def ticks(length: int) -> Span:
    return Span(length, Domain.TICKS)


def tick(time: int) -> Instant:
    return Instant(time, Domain.TICKS)


def seconds(length: float) -> Span:
    return Span(int(length * 1_000_000), Domain.DATETIME)


def window(text: str, after: str = "") -> WindowFunction:
    """The function of `FROM NAMED :S WIN text AS :w`."""
    query = parse(f"{P} SELECT * FROM NAMED :S WIN {text} AS :w {after} {{ WINDOW :w {{ ?x :p ?y }} }}")
    return query.windows[0].function


def events(text: str) -> EventExpression:
    """The expression of `MATCH { text }`."""
    clauses = " ".join(f"EVENT ON :w {{ ?x :{name} ?y }} AS {name}" for name in ("E1", "E2", "E3"))
    found = parse(f"{P} SELECT * FROM NAMED :S WIN [RANGE 5] AS :w {clauses} {{ MATCH {{ {text} }} }}").form.where
    assert isinstance(found, MatchPattern)
    return found.events


def where(text: str) -> Pattern:
    head = "FROM NAMED :S WIN [RANGE 5] AS :w FROM NAMED :T WIN [LND 1] AS :v EVENT ON :w { ?x :p ?y } AS E1"
    return parse(f"{P} SELECT * {head} WHERE {{ {text} }}").form.where


def report(text: str) -> Any:
    head = f"SELECT * FROM NAMED :S WIN [RANGE 5 SLIDE 2] AS :w {text}"
    return parse(f"{P} {head} {{ WINDOW :w {{ ?x :p ?y }} }}").report


# The paper


def test_example_4_is_read() -> None:
    query = parse(
        f"PREFIX : <{NAMESPACE}> SELECT ?x ?z FROM NAMED :S WIN [LND 9] AS :w_1 FROM NAMED :S WIN [RANGE 5] AS :w_2"
        " EVENT ON :w_1 { ?x :p ?y. } AS E_1 EVENT ON :w_2 { ?y :q ?z. } AS E_2 WHERE { MATCH { E_1 SEQ E_2 } }"
    )
    sequence = EventSeq(BasicEvent("E_1"), BasicEvent("E_2"))
    assert query == WindowQuery(
        form=Select((Projection(X), Projection(Z)), MatchPattern(sequence, 0, (X, Y, Z))),
        streams=(Stream("S", iri("S")),),
        windows=(
            NamedWindow(iri("w_1"), "S", LandmarkWindow(tick(9))),
            NamedWindow(iri("w_2"), "S", TimeWindow(ticks(5))),
        ),
        events=(
            EventPattern("E_1", iri("w_1"), bgp("p")),
            EventPattern("E_2", iri("w_2"), bgp("q", Y, Z)),
        ),
        time_kind=(Domain.TICKS, "LND 9"),
    )
    assert pickle.loads(pickle.dumps(query)) == query


# Dataset


def test_rs_1_a_dataset_has_graphs_and_windows_in_any_order() -> None:
    query = parse(
        f"{P} SELECT * FROM NAMED :S WIN [RANGE 5] AS :w FROM :a FROM NAMED :g FROM NAMED :T WIN [LND 1] AS :v FROM :b"
        " FROM NAMED :h { WINDOW :w { ?x :p ?y } WINDOW :v { ?x :p ?y } }"
    )
    assert query.form.dataset == DatasetClause((iri("a"), iri("b")), (iri("g"), iri("h")))
    assert [(each.name, each.stream) for each in query.windows] == [(iri("w"), "S"), (iri("v"), "T")]
    assert query.window(iri("v")) == query.windows[1]


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("[RANGE 5]", TimeWindow(ticks(5))),
        ("[RANGE 5 SLIDE 2]", TimeWindow(ticks(5), ticks(2))),
        ("[range 10s slide PT2.5S]", TimeWindow(seconds(10), seconds(2.5))),
        ("[SLIDE 2 RANGE 5]", TimeWindow(ticks(5), ticks(2))),
        ("[LND 1]", LandmarkWindow(tick(1))),
        ("[FROM 1 TO 5]", IntervalWindow(tick(1), tick(5))),
        ("[FROM 5 TO 5]", IntervalWindow(tick(5), tick(5))),
        ("[]", IdentityWindow()),
        ("", IdentityWindow()),
        ("[NOW]", NowWindow()),
    ],
)
def test_rs_2_the_window_functions(text: str, function: WindowFunction) -> None:
    assert window(text) == function


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("10s", "10s"), ("10 s", "10s"), ("3000ms", "3s"), ("10 MINUTES", "PT10M"), ("1h", "1h"), ("5m", "5m"),
        ("1.5 HOURS", "90m"), ("PT10M", "600s"), ("P1D", "1d"), ("pt10s", "10s"), ("50 TICKS", "50"), ("50", "50"),
        ('"PT10M"', "PT10M"), ('"PT10M"^^xsd:duration', "PT10M"), ('"P1D"^^xsd:dayTimeDuration', "P1D"),
    ],
)  # fmt: skip
def test_lengths_are_written_in_all_ways(text: str, length: str) -> None:
    assert window(f"[RANGE {text}]") == TimeWindow(parse_duration(length))
    assert report(f"REPORT EVERY {text}" if "50" in text else "REPORT EVERY 50") == Every(ticks(50))


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("-3", tick(-3)), ("+3", tick(3)), ('"7"^^xsd:integer', tick(7)),
        ("2024-05-06T07:00:00Z", parse_time("2024-05-06T07:00:00Z")),
        ("2024-05-06T07:00:00.5+01:00", parse_time("2024-05-06T06:00:00.5Z")),
        ('"2024-05-06T07:00:00Z"^^xsd:dateTime', parse_time("2024-05-06T07:00:00Z")),
        ('"2024-05-06 07:00"', parse_time("2024-05-06T07:00:00Z")),
    ],
)  # fmt: skip
def test_rs_6_instants_are_integers_or_dates(text: str, instant: Instant) -> None:
    assert window(f"[LND {text}]") == LandmarkWindow(instant)
    assert window(f"[FROM {text} TO {text}]") == IntervalWindow(instant, instant)
    assert window("[]", f"REPORT AT {text}") == IdentityWindow()


def test_rs_11_windows_over_one_stream_are_independent() -> None:
    query = parse(
        f"{P} SELECT * FROM NAMED :S WIN [RANGE 5] AS :w FROM NAMED :S WIN [RANGE 5] AS :v"
        " { WINDOW :w { ?x :p ?y } }"
    )
    assert len(query.windows) == 2
    assert query.streams == (Stream("S", iri("S")),)


def test_rs_12_slide_longer_than_range_is_a_warning() -> None:
    query = parse(f"{P}SELECT * FROM NAMED :S WIN [RANGE 5 SLIDE 6] AS :w {{ WINDOW :w {{ ?x :p ?y }} }}")
    assert query.warnings == ("query:2:37: SLIDE 6 is longer than RANGE 5: no window holds the events between.",)


# Report policies


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("", None),
        ("REPORT ON CONTENT", OnContent()),
        ("REPORT ON CLOSE", OnClose()),
        ("report on close", OnClose()),
        ("REPORT EVERY 10", Every(ticks(10))),
        ("REPORT AT 1, 5, 3", At((tick(1), tick(5), tick(3)))),
    ],
)
def test_rs_16_the_report_clause(text: str, policy: Any) -> None:
    assert report(text) == policy


def test_rs_16_report_stands_anywhere_before_where() -> None:
    for head in (
        "REPORT ON CONTENT FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS E1",
        "FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS E1 REPORT ON CONTENT",
    ):
        assert parse(f"{P} SELECT * {head} {{ MATCH {{ E1 }} }}").report == OnContent()


# Patterns


def test_rs_24_window_stands_wherever_a_group_may() -> None:
    read = WindowPattern(iri("w"), bgp("p"))
    block = "WINDOW :w { ?x :p ?y }"
    assert where(block) == read
    assert where(f"{block} WINDOW :v {{ ?x :p ?y }}") == Join(read, WindowPattern(iri("v"), bgp("p")))
    assert where(f"OPTIONAL {{ {block} }}") == LeftJoin(Bgp(()), read)
    assert where(f"{{ {block} }} UNION {{ {block} }}") == Union(read, read)
    assert where(f"GRAPH :g {{ {block} }}") == Graph(iri("g"), read)
    assert where(f"WINDOW :v {{ {block} }}") == WindowPattern(iri("v"), read)
    assert where(f"?x :q ?y {block}") == Join(bgp("q"), read)
    assert where(f"FILTER EXISTS {{ {block} }}") == Filter(Exists(read), Bgp(()))
    assert where(f"BIND(EXISTS {{ {block} }} AS ?b)") == Extend(Bgp(()), Variable("b"), Exists(read))
    found = where(f"{{ SELECT ?x {{ {block} }} }}")
    assert isinstance(found, SubSelect) and found.select.where == read


def test_rs_26_an_event_has_any_graph_pattern() -> None:
    group = "{ ?x :p/:q* ?y OPTIONAL { ?y :r ?z FILTER(?z > 1) } GRAPH :g { ?x a ?t } FILTER NOT EXISTS { ?x :s ?u } }"
    query = parse(f"{P} SELECT * FROM NAMED :S WIN AS :w EVENT ON :w {group} AS E1 {{ MATCH {{ E1 }} }}")
    assert query.events == (EventPattern("E1", iri("w"), parse_pattern(f"{P} {group}")),)
    assert query.event(E1) == query.events[0]


def test_rs_28_an_event_is_named_as_often_as_one_likes() -> None:
    assert events("E1 SEQ E1") == EventSeq(E1, E1)


def test_rs_29_the_variables_of_a_match_are_those_of_its_events_in_the_order_of_the_text() -> None:
    query = parse(
        f"{P} SELECT * FROM NAMED :S WIN AS :w EVENT ON :w {{ ?x :p ?y }} AS E1 EVENT ON :w {{ ?z :p ?y }} AS E2"
        " { MATCH { E2 SEQ E1 } OPTIONAL { MATCH { E1 } } FILTER EXISTS { MATCH { E2 } } }"
    )
    found = query.form.where
    assert isinstance(found, Filter) and isinstance(found.pattern, LeftJoin) and isinstance(found.condition, Exists)
    assert found.pattern.left == MatchPattern(EventSeq(E2, E1), 0, (Z, Y, X))
    assert found.pattern.right == MatchPattern(E1, 1, (X, Y))
    assert found.condition.pattern == MatchPattern(E2, 2, (Z, Y))


def test_a_match_in_select_comes_first_and_knows_the_events() -> None:
    query = parse(
        f"{P} SELECT (EXISTS {{ MATCH {{ E1 }} }} AS ?b) FROM NAMED :S WIN AS :w EVENT ON :w {{ ?x :p ?y }} AS E1"
        " { MATCH { E1 } }"
    )
    assert isinstance(query.form, Select)
    assert query.form.columns == (Projection(Variable("b"), Exists(MatchPattern(E1, 0, (X, Y)))),)
    assert query.form.where == MatchPattern(E1, 1, (X, Y))


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("E1 SEQ E2 SEQ E3", EventSeq(EventSeq(E1, E2), E3)),
        ("E1 SEQ (E2 SEQ E3)", EventSeq(E1, EventSeq(E2, E3))),
        ("FIRST E1 SEQ E2", EventSeq(First(E1), E2)),
        ("FIRST (E1 SEQ E2)", First(EventSeq(E1, E2))),
        ("E1 SEQ LAST E2", EventSeq(E1, Last(E2))),
        ("first last E1", First(Last(E1))),
        ("((E1))", E1),
    ],
)
def test_rs_30_seq_is_left_associative_and_first_and_last_bind_tighter(text: str, expression: EventExpression) -> None:
    assert events(text) == expression


def test_rs_39_the_policies_of_seq() -> None:
    assert events("E1 SEQ CHRONOLOGICAL E2") == EventSeq(E1, E2, CHRONOLOGICAL)
    assert events("E1 seq recent E2") == EventSeq(E1, E2, RECENT)
    assert events("E1 SEQ NAIVE E2") == EventSeq(E1, E2, NAIVE)
    assert events("E1 SEQ RECENT E2 SEQ E3") == EventSeq(EventSeq(E1, E2, RECENT), E3)
    assert events("E1 SEQ RECENT (E2 SEQ NAIVE E3)") == EventSeq(E1, EventSeq(E2, E3, NAIVE), RECENT)


def test_blank_nodes_belong_to_one_group() -> None:
    found = where("WINDOW :w { _:a :p _:a } WINDOW :w { _:b :p _:b . [] :q [] }")
    assert isinstance(found, Join)
    with pytest.raises(QueryError, match="is in two basic graph patterns"):
        where("WINDOW :w { _:a :p _:a } _:a :p _:a")
    with pytest.raises(QueryError, match="is in two basic graph patterns"):
        parse(f"{P} SELECT * FROM NAMED :S WIN AS :w EVENT ON :w {{ _:a :p ?x }} AS E1 {{ MATCH {{ E1 }} _:a :p ?x }}")


# Output


@pytest.mark.parametrize(
    ("head", "operator", "label"),
    [
        ("SELECT *", None, ""),
        ("REGISTER RSTREAM :q AS SELECT *", RSTREAM, "q"),
        ("REGISTER ISTREAM <http://out/stream> AS SELECT *", ISTREAM, "http://out/stream"),
        ("register dstream q-1 as select *", DSTREAM, "q-1"),
        ("REGISTER STREAM ex:q AS SELECT *", RSTREAM, "ex:q"),
        ("REGISTER QUERY <q10> AS SELECT *", RSTREAM, "q10"),
        ("REGISTER QUERY query AS SELECT ISTREAM *", ISTREAM, "query"),
        ("REGISTER ISTREAM q AS SELECT ISTREAM DISTINCT *", ISTREAM, "q"),
        ("SELECT DSTREAM *", DSTREAM, ""),
    ],
)
def test_rs_50_and_rs_55_what_is_emitted_and_the_label(head: str, operator: StreamOperator | None, label: str) -> None:
    query = parse(f"{P} {head} FROM NAMED :S WIN AS :w {{ WINDOW :w {{ ?x :p ?y }} }}")
    assert (query.output, query.label) == (operator, label)


def test_construct_is_read_in_both_forms() -> None:
    whole = parse(f"{P} CONSTRUCT {{ ?x :q ?y }} FROM NAMED :S WIN AS :w {{ WINDOW :w {{ ?x :p ?y }} }}")
    assert isinstance(whole.form, Construct) and whole.form.where == WindowPattern(iri("w"), bgp("p"))
    short = parse(f"{P} CONSTRUCT ISTREAM FROM STREAM :S [RANGE 5] WHERE {{ ?x :p ?y }}")
    assert isinstance(short.form, Construct) and short.form.where == bgp("p")
    assert short.output is ISTREAM


# The kind of time


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("FROM NAMED :S WIN AS :w", None),
        ("FROM NAMED :S WIN [NOW] AS :w", None),
        ("FROM NAMED :S WIN [RANGE 5] AS :w", (Domain.TICKS, "RANGE 5 TICKS")),
        ("FROM NAMED :S WIN [RANGE PT10M] AS :w", (Domain.DATETIME, "RANGE 10 MINUTES")),
        ("FROM NAMED :S WIN [LND 2024-05-06T07:00:00Z] AS :w", (Domain.DATETIME, "LND 2024-05-06T07:00:00Z")),
        ("FROM NAMED :S WIN AS :w REPORT EVERY 5s", (Domain.DATETIME, "EVERY 5 SECONDS")),
        ("FROM NAMED :S WIN AS :w REPORT AT 3", (Domain.TICKS, "AT 3")),
    ],
)
def test_c_2_the_kind_of_time_that_lengths_and_instants_demand(head: str, kind: tuple[Domain, str] | None) -> None:
    assert parse(f"{P} SELECT * {head} {{ WINDOW :w {{ ?x :p ?y }} }}").time_kind == kind


# Streams


def test_a_stream_is_called_by_the_last_part_of_its_iri() -> None:
    query = parse(
        "PREFIX : <http://example.org/ns_> PREFIX e: <http://e/a#> SELECT * FROM NAMED :S WIN AS :a"
        " FROM NAMED e:T WIN AS :b FROM NAMED <http://e/U> WIN AS :c { WINDOW :a { ?x :p ?y } }"
    )
    assert [stream.name for stream in query.streams] == ["S", "T", "U"]
    for called in (":S", "S", "http://example.org/ns_S", IRI("http://example.org/ns_S")):
        assert stream_name(called, query.streams) == "S"


def test_streams_whose_last_parts_are_equal_are_called_by_their_iris() -> None:
    query = parse("SELECT * { STREAM <http://a/S> [NOW] { ?x ?y ?z } STREAM <http://b/S> [NOW] { ?x ?y ?z } }")
    assert [stream.name for stream in query.streams] == ["http://a/S", "http://b/S"]


@pytest.mark.parametrize(
    ("prologue", "namespace", "stream", "whole"),
    [
        ("", None, "http://example.org/Sensors", "http://example.org/"),
        ("PREFIX : <urn:c#>", None, "urn:c#Sensors", "urn:c#"),
        ("BASE <http://b/>", None, "http://b/Sensors", "http://b/"),
        ("", "urn:o#", "urn:o#Sensors", "urn:o#"),
        ("PREFIX : <urn:c#>", "urn:o#", "urn:c#Sensors", "urn:o#"),
    ],
)
def test_bare_names_of_streams_are_of_the_default_namespace(
    prologue: str, namespace: str | None, stream: str, whole: str
) -> None:
    query = parse(f"{prologue} SELECT * {{ STREAM Sensors [NOW] {{ ?x ?y ?z }} }}", namespace=namespace)
    assert query.streams == (Stream("Sensors", IRI(stream)),)
    assert query.namespace == whole


# The forms that people write today, a row each


def test_form_rsp_ql_with_iso_lengths() -> None:
    rest = "FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S] WHERE { WINDOW :w { ?x :p ?y } }"
    prefix = f"PREFIX : <{NAMESPACE}>"
    before = parse(f"{prefix} REGISTER RSTREAM <http://out/stream> AS SELECT * {rest}")
    after = parse(f"REGISTER RSTREAM <http://out/stream> AS {prefix} SELECT * {rest}")
    assert before == after
    assert before.windows == (NamedWindow(iri("w"), "s", TimeWindow(seconds(10), seconds(5))),)
    assert before.form.where == WindowPattern(iri("w"), bgp("p"))
    assert (before.output, before.label) == (RSTREAM, "http://out/stream")
    assert not before.warnings


def test_form_on_stream_in_any_case_with_bare_numbers() -> None:
    query = parse(
        f"{P} REGISTER RStream <output> AS SELECT * FROM NAMED WINDOW :w1 ON STREAM :stream1 [RANGE 10000 STEP 2000]"
        " WHERE { WINDOW :w1 { ?x :p ?y } }"
    )
    assert query.windows == (NamedWindow(iri("w1"), "stream1", TimeWindow(ticks(10000), ticks(2000))),)
    assert (query.output, query.label) == (RSTREAM, "output")


def test_form_rsp_ql_with_the_brackets_before_on() -> None:
    text = "SELECT * FROM NAMED WINDOW :w {} {{ WINDOW :w {{ ?x :p ?y }} }}"
    assert parse(P + text.format("[RANGE 5] ON STREAM :s")) == parse(P + text.format("ON :s [RANGE 5]"))


def test_form_register_stream_and_register_query() -> None:
    rest = "SELECT * FROM STREAM :s [RANGE 10s STEP 4s] WHERE { ?x :p ?y }"
    assert (parse(f"{P} REGISTER STREAM :query4 AS {rest}").label) == "query4"
    query = parse(f"REGISTER QUERY q4 AS {P} {rest}")
    assert (query.output, query.label) == (RSTREAM, "q4")


def test_form_relative_iris_without_base() -> None:
    query = parse(
        "REGISTER RSTREAM <q10> AS SELECT * FROM <SensorRepository.rdf> FROM NAMED WINDOW <w1> ON <traffic#S1>"
        " [RANGE PT3S STEP PT1S] WHERE { WINDOW <w1> { ?x <p> ?y } }"
    )
    assert query.label == "q10"
    assert query.form.dataset.default == (iri("SensorRepository.rdf"),)
    assert query.windows[0].name == iri("w1")
    assert query.streams == (Stream("S1", iri("traffic#S1")),)
    assert query.form.where == WindowPattern(iri("w1"), bgp("p"))
    other = parse("PREFIX : <http://o/> SELECT * FROM NAMED WINDOW <w1> ON <s> [] { WINDOW <w1> { ?x <p> ?y } }")
    assert other.windows[0].name == IRI("http://o/w1")


def test_form_static_data_by_from_and_bare_triples_beside_window() -> None:
    query = parse(
        f"{P} SELECT * FROM <http://e/SensorRepository.rdf> FROM NAMED WINDOW <w1> ON :s [RANGE PT3S STEP PT1S]"
        " WHERE { ?x :q ?y . WINDOW <w1> { ?x :p ?y } }"
    )
    assert query.form.where == Join(bgp("q"), WindowPattern(iri("w1"), bgp("p")))
    assert query.merged == () and not query.warnings


def test_form_an_aggregate_without_brackets_is_read_with_a_warning() -> None:
    head = "FROM NAMED WINDOW :w ON :s [RANGE 5 STEP 2] WHERE { WINDOW :w { ?x :p ?v } }"
    query = parse(f"{P}SELECT AVG(?v) as ?avgTemp {head}")
    assert isinstance(query.form, Select)
    assert query.form.columns == (Projection(Variable("avgTemp"), Aggregate(AggregateFunction.AVG, Variable("v"))),)
    assert query.warnings == (
        "query:2:8: SPARQL requires brackets around an aggregate and its name; this is read as if it had them."
        " Try: (AVG(?v) as ?avgTemp)",
    )
    whole = parse(f"{P}SELECT (AVG(?v) as ?avgTemp) {head}")
    assert not whole.warnings and whole.form == query.form


def test_form_c_sparql() -> None:
    query = parse(
        f"REGISTER QUERY q AS PREFIX : <{NAMESPACE}> SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] FROM :static"
        " FROM STREAM :t [RANGE 5s TUMBLING] WHERE { ?x :p ?y }"
    )
    assert query.windows == (
        NamedWindow(clause_window(0), "s", TimeWindow(seconds(10), seconds(4))),
        NamedWindow(clause_window(1), "t", TimeWindow(seconds(5), seconds(5))),
    )
    assert query.merged == (clause_window(0), clause_window(1))
    assert query.form.dataset.default == (iri("static"),)
    assert query.form.where == bgp("p")
    assert (query.report, query.output, query.is_cqels, query.warnings) == (None, RSTREAM, False, ())


def test_form_cqels() -> None:
    query = parse(
        f"{P} SELECT * FROM NAMED :g WHERE {{ GRAPH :g {{ ?x :r ?y }} STREAM <s> [RANGE 15s SLIDE 5s] {{ ?x :p ?y }}"
        " STREAM <s> [NOW] { ?x :p ?y } FILTER NOT EXISTS { stream :t [range 3s] { ?x :q ?y } } }"
    )
    assert query.windows == (
        NamedWindow(block_window(0), "s", TimeWindow(seconds(15), seconds(5))),
        NamedWindow(block_window(1), "s", NowWindow()),
        NamedWindow(block_window(2), "t", TimeWindow(seconds(3))),
    )
    assert not any(is_written(each.name) for each in query.windows)
    assert [each.name for each in query.streams] == ["s", "t"]
    assert query.is_cqels
    assert (query.report, query.output, query.label, query.merged) == (None, None, "", ())
    assert isinstance(query.form.where, Filter)
    assert query.form.where.pattern == Join(
        Join(Graph(iri("g"), bgp("r")), WindowPattern(block_window(0), bgp("p"))),
        WindowPattern(block_window(1), bgp("p")),
    )


def test_form_cqels_2() -> None:
    query = parse(
        f"{P} SELECT * FROM STREAM Sensors [RANGE 1h STEP 5m] FROM STREAM :T [NOW]"
        " WHERE { STREAM Sensors { ?x :p ?y } STREAM :Sensors { ?x :q ?y } STREAM T { ?x :r ?y }"
        " STREAM T [RANGE 1h] { ?x :r ?y } }"
    )
    hour = TimeWindow(seconds(3600), seconds(300))
    assert [(each.name, each.stream, each.function) for each in query.windows] == [
        (block_window(0), "Sensors", hour),
        (block_window(1), "Sensors", hour),
        (block_window(2), "T", NowWindow()),
        (block_window(3), "T", TimeWindow(seconds(3600))),
    ]
    assert query.is_cqels and query.merged == () and not query.warnings


def test_form_cqels_2_keeps_a_window_that_no_block_names() -> None:
    query = parse("SELECT * FROM STREAM <s> [RANGE 5] WHERE { STREAM <s> [RANGE 3] { ?x <p> ?y } }")
    assert [each.function for each in query.windows] == [TimeWindow(ticks(5)), TimeWindow(ticks(3))]
    assert query.merged == ()
    assert query.warnings == (
        "query:1:15: No STREAM block reads the window of FROM STREAM <http://example.org/s>."
        " Try: STREAM <http://example.org/s> { … }",
    )


@pytest.mark.parametrize(
    "text", ["[NOW - 300 S]", "[NOW -300 S]", "[now - 5 minutes]", "[FROM NOW - 300 S TO NOW]", "[NOW - PT5M TO NOW]"]
)
def test_form_sparqlstream(text: str) -> None:
    query = parse(f"{P} SELECT ISTREAM ?x FROM NAMED STREAM <s> {text} WHERE {{ ?x :p ?y }}")
    assert query.windows == (NamedWindow(clause_window(0), "s", TimeWindow(seconds(300))),)
    assert (query.merged, query.output) == ((clause_window(0),), ISTREAM)
    rule = parse(f"{P} CONSTRUCT ISTREAM {{ ?x :q ?y }} FROM NAMED STREAM <s> {text} WHERE {{ ?x :p ?y }}")
    assert isinstance(rule.form, Construct) and rule.output is ISTREAM


def test_form_sparqlstream_slides_too() -> None:
    query = parse("SELECT * FROM NAMED STREAM <s> [FROM NOW - 10 MINUTES TO NOW STEP 1 MINUTE] { ?x <p> ?y }")
    assert query.windows[0].function == TimeWindow(seconds(600), seconds(60))


def test_form_report_in_the_brackets() -> None:
    def read(first: str, second: str = "") -> WindowQuery:
        windows = (
            f"FROM NAMED WINDOW :w ON :s [RANGE 60 SLIDE 10 {first}] FROM NAMED WINDOW :v ON :s [RANGE 60 {second}]"
        )
        return parse(f"{P} SELECT * {windows} {{ WINDOW :w {{ ?x :p ?y }} WINDOW :v {{ ?x :p ?y }} }}")

    close = "REPORT ON_WINDOW_CLOSE TICK TIME_DRIVEN"
    assert read(close).report == read(close, close).report == read("", close).report == OnClose()
    assert read("REPORT ON_CONTENT_CHANGE").report == OnContent()
    assert read("TICK TIME_DRIVEN").report is None
    assert read(close).windows[0].function == TimeWindow(ticks(60), ticks(10))


def test_form_history() -> None:
    assert window("[START 3 END 9]") == IntervalWindow(tick(3), tick(9))


def test_form_one_window_and_no_window_block_is_a_hint() -> None:
    query = parse("SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5] WHERE { ?x ?y ?z }")
    assert query.form.where == Bgp((TriplePattern(X, Y, Z),))
    assert query.warnings == (
        "query:1:28: No WINDOW block reads <http://example.org/w>: triples outside are the default graph's, as in"
        " SPARQL. Try: WHERE { WINDOW <http://example.org/w> { … } }",
    )


# Back to text


@given(window_queries())
def test_a_query_written_and_read_is_the_same_query(drawn: WindowQuery) -> None:
    read = parse(show(drawn))
    assert unnumbered(read.form) == unnumbered(drawn.form)
    assert replace(plain(read), form=drawn.form, windows=drawn.windows, streams=drawn.streams) == drawn
    assert plain(parse(show(read))) == plain(read)


def plain(query: WindowQuery) -> WindowQuery:
    """Without what the text alone has, and no algebra that was drawn."""
    return replace(query, warnings=(), time_kind=None)


def unnumbered(node: Any) -> Any:
    """Without the numbers of MATCHes and STREAM blocks, which are the order of the text."""
    match node:
        case MatchPattern():
            return replace(node, place=0)
        case WindowPattern(name, pattern) if not is_written(name):
            return WindowPattern(block_window(0), unnumbered(pattern))
        case tuple():
            return node if hasattr(node, "_fields") else tuple(map(unnumbered, node))
    fields = getattr(node, "__dataclass_fields__", None)
    return node if fields is None else type(node)(**{name: unnumbered(getattr(node, name)) for name in fields})


def test_filters_are_written_where_their_matches_keep_their_numbers() -> None:
    exists = "FILTER EXISTS { MATCH { E1 } }"
    for text in (
        f"{exists} MATCH {{ E1 }}",
        f"MATCH {{ E1 }} {exists}",
        f"MATCH {{ E1 }} FILTER(?x > 1) {exists} MATCH {{ E1 }} {exists} WINDOW :w {{ {exists} MATCH {{ E1 }} }}",
        f"STREAM :s [] {{ }} {exists} STREAM :s [] {{ }} FILTER EXISTS {{ STREAM :s [NOW] {{ }} }} MATCH {{ E1 }}",
    ):
        query = parse(f"{P} SELECT * FROM NAMED :S WIN AS :w EVENT ON :w {{ ?x :p ?y }} AS E1 {{ {text} }}")
        assert plain(parse(show(query))) == plain(query)


def test_a_query_is_shown_in_the_papers_form() -> None:
    text = """\
REGISTER ISTREAM <q> AS
SELECT ?x
FROM <http://example.org/g>
FROM NAMED <http://example.org/S> WIN [RANGE 90 SECONDS SLIDE 1 MINUTES] AS <http://example.org/w>
REPORT EVERY 5 SECONDS
EVENT ON <http://example.org/w> {
  ?x <http://example.org/p> ?y .
} AS E1
WHERE {
  MATCH { E1 SEQ RECENT (FIRST E1 SEQ E1) }
  STREAM <http://example.org/T> [NOW] {
    ?x <http://example.org/q> ?y .
  }
}
LIMIT 5"""
    assert show(parse(text)) == text


def test_a_pattern_alone_is_shown_too() -> None:
    assert show(where("WINDOW :w { MATCH { E1 } }")) == (
        "{\n  WINDOW <http://example.org/w> {\n    MATCH { E1 }\n  }\n}"
    )


# Limits


def test_hostile_texts_are_read_or_refused_in_a_sentence() -> None:
    head = f"{P} SELECT * FROM NAMED :S WIN AS :w EVENT ON :w {{ ?x :p ?y }} AS E"
    too_many = "A MATCH may hold at most 249 of SEQ, FIRST and LAST"
    refused = {
        f"{head} {{ MATCH {{ {' SEQ '.join(['E'] * 10_000)} }} }}": too_many,
        f"{head} {{ MATCH {{ {'FIRST ' * 100_000} E }} }}": too_many,
        f"{head} {{ MATCH {{ {'(' * 10_000} E }} }}": "Brackets are nested deeper than 200 levels",
        f"{head} {{ {'WINDOW :w { ' * 10_000} }}": "Brackets are nested deeper than 200 levels",
        f"{head} {'{' * 10_000}": "Brackets are nested deeper than 200 levels",
        f"{head} {{ MATCH {{ {' SEQ '.join(['E'] * 249)} }} }}": "levels deep; at most 250 are allowed",
        f"{head} {{ MATCH {{ {'E' * 100_000} }} }}": "There is no EVENT",
        f"{P} SELECT * FROM NAMED :S WIN [RANGE {'5' * 100_000}] AS :w {{ }}": "is not a duration",
    }
    for text, reason in refused.items():
        with pytest.raises(QueryError, match=reason) as caught:
            parse(text)
        assert len(str(caught.value).splitlines()[0]) < 300
    read = parse(f"{head} {{ MATCH {{ {' SEQ '.join(['E'] * 240)} }} }}")
    assert plain(parse(show(read))) == plain(read)
    many = "".join(f" STREAM :s{number} [NOW] {{ ?x :p ?y }}" for number in range(1000))
    assert len(parse(f"{P} SELECT * {{ {many} }}").windows) == 1000


# Real queries


def _citybench() -> Path | None:
    folder = os.environ.get("THENCE_DATA")
    found = Path(folder) / "citybench" if folder else None
    return found if found is not None and found.is_dir() else None


@pytest.mark.skipif(
    _citybench() is None, reason="CityBench is not here: THENCE_DATA must name the folder that holds it"
)
def test_the_queries_of_citybench_are_read() -> None:
    folder = _citybench()
    assert folder is not None
    read = {"csparql_query": 0, "cqels_query": 0}
    for kind in read:
        for path in sorted((folder / kind).glob("*.txt")):
            text = path.read_text(encoding="utf-8")
            assert recognised(text).name == "rsep-ql", path
            query = parse(text)
            assert query.is_cqels == (kind == "cqels_query"), path
            assert len(query.merged) == (0 if query.is_cqels else len(query.windows)), path
            assert not query.warnings, path
            assert parse(show(query)) == query, path
            read[kind] += 1
    assert read == {"csparql_query": 19, "cqels_query": 18}
