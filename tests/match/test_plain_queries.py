"""Whole queries: order, slices, duplicates, CONSTRUCT, DESCRIBE, FROM (SPARQL 1.1, 13, 15, 16)."""

from __future__ import annotations

import pytest

from support.sparql_data import answer, bag, dataset, graph, rows
from thence.errors import InputError
from thence.rdf.terms import BlankNode, Triple

MIXED = ":a :v 10 . :b :v 9.5 . :c :v 'x' . :d :v :iri . :e :w 1 . :f :v _:n . :g :v '2020-01-01'^^xsd:date ."


def test_order_by_puts_kinds_of_terms_in_order() -> None:
    query = "SELECT ?s { ?s ?p ?o OPTIONAL { ?s :v ?v } } ORDER BY ?v"
    assert rows(query, MIXED) == ["e", "f", "d", "b", "a", "c", "g"]
    assert rows(query.replace("BY ?v", "BY DESC(?v)"), MIXED) == ["g", "c", "a", "b", "d", "f", "e"]


def test_the_next_condition_decides_among_equal_values() -> None:
    data = ":a :v 1 ; :w 2 . :b :v 01.0 ; :w 1 . :c :v 0 ; :w 3 ."
    assert rows("SELECT ?s { ?s :v ?v ; :w ?w } ORDER BY ?v DESC(?w)", data) == ["c", "a", "b"]
    assert rows("SELECT ?s { ?s :v ?v ; :w ?w } ORDER BY DESC(?v) ?w", data) == ["b", "a", "c"]


def test_rows_that_the_conditions_leave_equal_have_one_order_all_the_same() -> None:
    data = " ".join(f":s{i} :v {i % 3} ." for i in (5, 3, 1, 4, 2, 0))
    query = "SELECT ?s { ?s :v ?v } ORDER BY ?v LIMIT 4"
    assert rows(query, data) == ["s0", "s3", "s1", "s4"]


def test_order_by_may_use_what_is_not_selected_and_what_is_computed() -> None:
    data = ":a :v 3 . :b :v 1 . :c :v 2 ."
    assert rows("SELECT ?s { ?s :v ?v } ORDER BY ?v", data) == ["b", "c", "a"]
    assert rows("SELECT ?s (-?v AS ?m) { ?s :v ?v } ORDER BY ?m", data) == ["a -3", "c -2", "b -1"]
    assert rows("SELECT ?s { ?s :v ?v } ORDER BY (1 / (?v - 1))", data) == ["b", "a", "c"]  # an error comes first


def test_offset_and_limit_cut_after_distinct() -> None:
    data = ":a :v 1, 2 . :b :v 1, 2 . :c :v 1, 2 ."
    assert rows("SELECT DISTINCT ?v { ?s :v ?v } ORDER BY ?v OFFSET 1 LIMIT 5", data) == ["2"]
    assert len(rows("SELECT ?v { ?s :v ?v } LIMIT 4", data)) == 4
    assert rows("SELECT ?v { ?s :v ?v } LIMIT 0", data) == []
    assert rows("SELECT ?v { ?s :v ?v } OFFSET 6", data) == []


def test_distinct_compares_terms_and_unbound_variables() -> None:
    data = ":a :v 1 . :b :v 01 . :c :v 1 . :d :w 1 . :e :w 1 ."
    query = "SELECT DISTINCT ?v { ?s ?p ?o OPTIONAL { ?s :v ?v } }"
    assert bag(query, data) == ["-", "01", "1"]
    assert bag(query.replace("DISTINCT", ""), data) == ["-", "-", "01", "1", "1"]


def test_select_star_gives_all_variables_in_scope() -> None:
    query = "SELECT * { ?b :p ?a OPTIONAL { ?a :q ?c } BIND(1 AS ?d) MINUS { ?e :r ?f } FILTER(!BOUND(?g)) }"
    assert rows(query, ":x :p :y .") == ["x y - 1"]


def test_construct_fills_its_template_for_each_solution_with_fresh_blank_nodes() -> None:
    data = dataset(":a :v 1 . :b :v 2 .")
    found = answer("CONSTRUCT { ?s :has [ :value ?v ] } { ?s :v ?v }", data)
    assert isinstance(found, frozenset)
    assert len(found) == 4
    assert len({triple.subject for triple in found if isinstance(triple.subject, BlankNode)}) == 2


def test_construct_leaves_out_what_is_no_triple() -> None:
    data = dataset(":a :v 1 . :b :v :c . :d :v 2 ; :w 3 .")
    found = answer("CONSTRUCT { ?v :of ?s . ?s ?v ?s . ?s :w ?w } { ?s :v ?v OPTIONAL { ?s :w ?w } }", data)
    assert found == frozenset(graph(":c :of :b . :b :c :b . :d :w 3 ."))


def test_construct_keeps_blank_nodes_of_the_data() -> None:
    data = dataset(":a :v [ :w 1 ] .")
    (triple,) = answer("CONSTRUCT { ?n :seen true } { :a :v ?n }", data)  # type: ignore[misc]
    (node,) = {triple.object for triple in data.default if isinstance(triple.object, BlankNode)}
    assert triple.subject == node


def test_construct_obeys_order_and_limit() -> None:
    data = dataset(":a :v 1 . :b :v 2 . :c :v 3 .")
    found = answer("CONSTRUCT WHERE { ?s :v ?v } ORDER BY DESC(?v) LIMIT 2", data)
    assert found == frozenset(graph(":b :v 2 . :c :v 3 ."))


def test_describe_gives_the_targets_triples_and_those_of_blank_nodes_below() -> None:
    data = dataset(":a :v [ :w [ :x 1 ] ] ; :p :b . :b :q 2 . :c :v 3 .")
    found = answer("DESCRIBE :a", data)
    assert isinstance(found, frozenset)
    assert {triple.predicate.value[-1] for triple in found} == {"v", "w", "x", "p"}
    assert answer("DESCRIBE ?s { ?s :q 2 }", data) == frozenset(graph(":b :q 2 ."))
    assert answer("DESCRIBE :c ?s { ?s :q 2 }", data) == frozenset(graph(":b :q 2 . :c :v 3 ."))
    assert len(answer("DESCRIBE * { :a :p ?x }", data)) == 1  # type: ignore[arg-type]


def test_from_builds_the_default_graph_of_what_the_caller_supplied() -> None:
    data = dataset(":a :p 0 .", g=":a :p 1 .", h=":a :p 2 .")
    assert bag("SELECT ?v FROM :g FROM :h { ?s :p ?v }", data) == ["1", "2"]
    assert bag("SELECT ?g ?v FROM :g FROM NAMED :h { ?s :p ?v OPTIONAL { GRAPH ?g { ?s :p ?w } } }", data) == ["h 1"]
    assert bag("SELECT ?v FROM NAMED :h { ?s :p ?v }", data) == []


def test_from_with_a_graph_that_nobody_supplied_is_an_error_with_its_cure() -> None:
    with pytest.raises(InputError, match=r"not among the graphs supplied .*Try: supply a graph under this name"):
        answer("SELECT * FROM :unknown { ?s ?p ?o }", dataset("", g=""))


def test_a_graph_is_a_set_in_the_order_given() -> None:
    one = graph(":a :p 1 . :b :p 2 . :a :p 1 .")
    assert len(one) == 2
    assert one == graph(":b :p 2 . :a :p 1 .")
    first = next(iter(one))
    assert first in one
    assert Triple(first.object, first.predicate, first.subject) not in one
