"""Graph patterns in the reference evaluator (SPARQL 1.1, 18.3 - 18.6): what each operator means, and how often."""

from __future__ import annotations

from support.sparql_data import answer, bag, dataset, rows
from thence.algebra.expressions import Variable
from thence.algebra.patterns import Bgp, TriplePattern
from thence.match.reference_evaluator import evaluate
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.terms import IRI, BlankNode, Literal, Triple

HOUSES = ":h1 :watts 10 ; :in :street . :h2 :watts 20 ; :in :street . :h3 :watts 30 . :street :name 'Elm' ."


def test_a_basic_graph_pattern_joins_its_triples() -> None:
    assert bag("SELECT ?h ?w { ?h :watts ?w . ?h :in ?s . ?s :name 'Elm' }", HOUSES) == ["h1 10", "h2 20"]


def test_an_empty_group_has_one_empty_solution() -> None:
    assert rows("SELECT * {}") == [""]


def test_a_variable_twice_in_a_triple_needs_the_same_term_twice() -> None:
    assert rows("SELECT ?x { ?x :p ?x }", ":a :p :a, :b .") == ["a"]
    assert rows("SELECT ?x { ?x ?x ?x }", ":a :a :a . :a :p :a .") == ["a"]


def test_a_blank_node_in_a_pattern_is_a_variable_that_counts_but_is_not_seen() -> None:
    assert rows("SELECT * { ?h :watts [] }", ":h :watts 1, 2 .") == ["h", "h"]
    assert rows("SELECT * { _:a :p _:b . _:b :q ?x }", ":a :p :b . :b :q 1 . :c :q 2 .") == ["1"]


def test_a_blank_node_of_the_data_is_bound_and_joined_as_itself() -> None:
    assert bag("SELECT ?x ?y { ?a :p ?b . ?b :x ?x ; :y ?y }", ":a :p [ :x 1 ; :y 2 ], [ :x 3 ] .") == ["1 2"]


def test_terms_are_joined_as_terms_and_never_by_value() -> None:
    assert rows("SELECT ?x { ?a :p ?x . ?b :q ?x }", ":a :p 1 . :b :q 01, 1.0 .") == []
    assert rows("SELECT ?a { ?a :p 1 }", ":a :p 01 . :b :p 1 .") == ["b"]
    assert rows("SELECT ?a { ?a :p 'x'@EN }", ":a :p 'x'@en .") == ["a"]


def test_huge_numbers_and_odd_forms_come_back_as_they_were_written() -> None:
    data = ":a :p 0123456789012345678901234567890, 1.50, +1 ."
    assert bag("SELECT ?x { ?a :p ?x }", data) == ["+1", "0123456789012345678901234567890", "1.50"]


def test_optional_keeps_what_has_no_partner() -> None:
    assert bag("SELECT ?h ?s { ?h :watts ?w OPTIONAL { ?h :in ?s } }", HOUSES) == ["h1 street", "h2 street", "h3 -"]


def test_a_filter_in_optional_sees_both_sides_and_an_error_there_means_no_partner() -> None:
    data = ":a :v 1 . :b :v 2 . :a :max 0 . :b :max 5 ."
    assert bag("SELECT ?x ?m { ?x :v ?v OPTIONAL { ?x :max ?m FILTER(?m > ?v) } }", data) == ["a -", "b 5"]
    assert bag("SELECT ?x ?m { ?x :v ?v OPTIONAL { ?x :max ?m FILTER(?nothing) } }", data) == ["a -", "b -"]


def test_optional_after_optional_joins_with_what_the_first_left_unbound() -> None:
    data = ":a :p 1 . :b :q 2 . :c :p 3 ; :q 3 ."
    query = "SELECT ?x ?v { ?x ?any ?o OPTIONAL { ?x :p ?v } OPTIONAL { ?x :q ?v } }"
    assert bag(query, data) == ["a 1", "b 2", "c 3", "c 3"]


def test_union_adds_and_keeps_duplicates() -> None:
    query = "SELECT ?h { { ?h :watts 10 } UNION { ?h :in :street } UNION { ?h :watts 10 } }"
    assert bag(query, HOUSES) == ["h1", "h1", "h1", "h2"]


def test_solutions_that_bind_different_variables_are_joined_where_they_agree() -> None:
    data = ":a :p 1 . :b :q 1, 2 ."
    query = "SELECT ?x ?y { { { ?a :p ?x } UNION { ?b :q ?y } } { { ?a :p ?x } UNION { ?b :q ?y } } }"
    assert bag(query, data) == ["- 1", "- 2", "1 -", "1 1", "1 1", "1 2", "1 2"]


def test_minus_removes_what_agrees_and_shares_a_variable() -> None:
    assert bag("SELECT ?h { ?h :watts ?w MINUS { ?h :in ?s } }", HOUSES) == ["h3"]
    assert bag("SELECT ?h { ?h :watts ?w MINUS { ?x :in ?s } }", HOUSES) == ["h1", "h2", "h3"]
    assert bag("SELECT ?h { ?h :watts ?w MINUS { :h1 :watts 10 } }", HOUSES) == ["h1", "h2", "h3"]


def test_minus_looks_at_each_solution_for_a_shared_variable() -> None:
    data = ":a :p 1 . :b :p 2 ; :q 2 . :z :r :b ."
    query = "SELECT ?x { ?x :p ?v MINUS { { ?y :r ?z } UNION { ?x :q ?w } } }"
    assert bag(query, data) == ["a"]


def test_a_filter_drops_errors_and_unbound_variables() -> None:
    assert bag("SELECT ?h { ?h :watts ?w FILTER(?w > 15) }", HOUSES) == ["h2", "h3"]
    assert rows("SELECT ?h { ?h :watts ?w FILTER(?nothing > 15) }", HOUSES) == []
    assert bag("SELECT ?x { ?h ?p ?x FILTER(?x > 15) }", HOUSES) == ["20", "30"]


def test_a_filter_sees_its_own_group_only() -> None:
    assert rows("SELECT ?h { ?h :watts ?w { ?h :in ?s FILTER(BOUND(?w)) } }", HOUSES) == []
    assert bag("SELECT ?h { FILTER(?w > 15) ?h :watts ?w }", HOUSES) == ["h2", "h3"]


def test_bind_leaves_an_error_unbound() -> None:
    assert bag("SELECT ?h ?k { ?h :watts ?w BIND(?w / (?w - 10) AS ?k) }", HOUSES) == ["h1 -", "h2 2", "h3 1.5"]


def test_bnode_with_a_label_is_one_node_in_a_solution() -> None:
    query = "SELECT ?h (?a = ?b AS ?same) { ?h :watts ?w BIND(BNODE('x') AS ?a) BIND(BNODE('x') AS ?b) }"
    assert bag(query, HOUSES) == ["h1 true", "h2 true", "h3 true"]
    distinct = "SELECT (COUNT(DISTINCT ?a) AS ?n) { ?h :watts ?w BIND(BNODE('x') AS ?a) }"
    assert rows(distinct, HOUSES) == ["3"]


def test_bnode_with_a_label_is_one_node_in_a_filter_too() -> None:
    assert len(rows("SELECT ?h { ?h :watts ?w FILTER(BNODE('x') = BNODE('x') && BNODE() != BNODE()) }", HOUSES)) == 3


def test_values_binds_rows_and_undef_binds_nothing() -> None:
    assert bag("SELECT ?h ?w { VALUES (?h ?w) { (:h1 UNDEF) (UNDEF 20) } ?h :watts ?w }", HOUSES) == ["h1 10", "h2 20"]
    assert bag("SELECT ?h ?w { ?h :watts ?w } VALUES ?h { :h3 :h3 }", HOUSES) == ["h3 30", "h3 30"]
    assert rows("SELECT ?x { VALUES ?x {} }") == []


def test_exists_substitutes_the_solution_in_hand() -> None:
    assert bag("SELECT ?h { ?h :watts ?w FILTER EXISTS { ?h :in ?s } }", HOUSES) == ["h1", "h2"]
    assert bag("SELECT ?h { ?h :watts ?w FILTER NOT EXISTS { ?x :watts ?y FILTER(?y > ?w) } }", HOUSES) == ["h3"]
    nested = "SELECT ?h { ?h :watts ?w FILTER EXISTS { ?h :in ?s FILTER EXISTS { ?s :name ?n . ?h :watts 20 } } }"
    assert rows(nested, HOUSES) == ["h2"]


def test_exists_is_asked_of_the_active_graph() -> None:
    data = dataset(":a :p 1 .", g=":a :p 2 ; :q 3 .")
    assert rows("SELECT ?v { GRAPH :g { ?x :p ?v FILTER EXISTS { ?x :q 3 } } }", data) == ["2"]
    assert rows("SELECT ?v { ?x :p ?v FILTER EXISTS { ?x :q 3 } }", data) == []
    assert rows("SELECT ?v { ?x :p ?v FILTER EXISTS { GRAPH :g { ?x :q 3 } } }", data) == ["1"]


def test_exists_agrees_with_what_is_bound_inside_by_values_bind_or_a_sub_select() -> None:
    data = ":a :p 1 . :b :p 2 ."
    assert rows("SELECT ?x { ?x :p ?v FILTER EXISTS { VALUES ?v { 2 3 } } }", data) == ["b"]
    assert rows("SELECT ?x { ?x :p ?v FILTER EXISTS { BIND(1 AS ?v) } }", data) == ["a"]
    assert rows("SELECT ?x { ?x :p ?v FILTER EXISTS { SELECT ?v { :b :p ?v } } }", data) == ["b"]
    hidden = "SELECT ?x { ?x :p ?v FILTER EXISTS { SELECT ?y { ?y :q ?v } } }"
    assert bag(hidden, data + ":z :q 99 .") == ["a", "b"]  # the sub-select's ?v is another


def test_exists_with_a_blank_node_of_the_data_means_that_node() -> None:
    data = ":a :p [ :q 1 ], [ :r 2 ] ."
    assert rows("SELECT ?n { ?a :p ?n FILTER EXISTS { ?n :q ?v } }", data) != []
    assert len(rows("SELECT ?n { ?a :p ?n FILTER EXISTS { ?n :q ?v } }", data)) == 1


def test_graph_looks_into_one_named_graph_or_into_each() -> None:
    data = dataset(":a :p 0 .", g=":a :p 1 .", h=":a :p 2 . :b :p 1 .", empty="")
    assert rows("SELECT ?v { GRAPH :g { :a :p ?v } }", data) == ["1"]
    assert bag("SELECT ?g ?v { GRAPH ?g { :a :p ?v } }", data) == ["g 1", "h 2"]
    assert bag("SELECT ?g { GRAPH ?g {} }", data) == ["empty", "g", "h"]
    assert rows("SELECT ?v { GRAPH :unknown { ?x :p ?v } }", data) == []
    assert rows("SELECT ?v { GRAPH :unknown {} }", data) == []
    assert bag("SELECT ?g ?x { :a :p ?v GRAPH ?g { ?x :p ?w } FILTER(?w > ?v + 1) }", data) == ["h a"]


def test_graph_joins_its_variable_with_what_stands_inside() -> None:
    data = dataset(":g :title 'one' .", g=":x :source :g . :y :source :h .", h=":x :source :g .")
    assert bag("SELECT ?g ?x { GRAPH ?g { ?x :source ?g } }", data) == ["g x"]
    assert bag("SELECT ?t ?x { ?g :title ?t GRAPH ?g { ?x :source ?s } }", data) == ["one x", "one y"]


def test_a_sub_select_is_evaluated_on_its_own_and_then_joined() -> None:
    query = "SELECT ?h ?max { ?h :watts ?w { SELECT (MAX(?x) AS ?max) { ?y :watts ?x } } FILTER(?w = ?max) }"
    assert rows(query, HOUSES) == ["h3 30"]
    limited = "SELECT ?h ?s { { SELECT ?h { ?h :watts ?w } ORDER BY DESC(?w) LIMIT 2 } OPTIONAL { ?h :in ?s } }"
    assert bag(limited, HOUSES) == ["h2 street", "h3 -"]


def test_a_sub_select_shows_only_what_it_projects() -> None:
    assert bag("SELECT ?h ?w { ?h :in ?s { SELECT ?h { ?h :watts ?w } } }", HOUSES) == ["h1 -", "h2 -"]


def test_ask_is_whether_there_is_a_solution() -> None:
    data = dataset(HOUSES)
    assert answer("ASK { ?h :watts 30 }", data) is True
    assert answer("ASK { ?h :watts 31 }", data) is False


def test_the_algebra_can_be_evaluated_without_any_text() -> None:
    a, p = IRI("http://example.org/a"), IRI("http://example.org/p")
    triples = [Triple(a, p, Literal("x")), Triple(a, p, BlankNode("n"))]
    pattern = Bgp((TriplePattern(a, Variable("p"), Variable("o")),))
    found = evaluate(pattern, Dataset(IndexedGraph(triples)))
    assert [solution[Variable("o")] for solution in found] == [Literal("x"), BlankNode("n")]
