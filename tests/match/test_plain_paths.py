"""Property paths (SPARQL 1.1, 18.4)."""

from __future__ import annotations

from support.sparql_data import bag, rows

CHAIN = ":a :p :b . :b :p :c . :c :p :a . :c :q :d ."


def test_one_or_more_goes_round_a_cycle_once() -> None:
    assert bag("SELECT ?x { :a :p+ ?x }", CHAIN) == ["a", "b", "c"]
    assert bag("SELECT ?x { ?x :p+ :d }", CHAIN) == []
    assert bag("SELECT ?x { ?x :p+/:q :d }", CHAIN) == ["a", "b", "c"]


def test_zero_or_more_contains_its_start_even_where_the_graph_lacks_it() -> None:
    assert bag("SELECT ?x { :a :q* ?x }", CHAIN) == ["a"]
    assert rows("SELECT ?x { :nowhere :p* ?x }", CHAIN) == ["nowhere"]
    assert rows("SELECT ?x { ?x :p* 42 }", CHAIN) == ["42"]
    assert rows("SELECT * { :nowhere :p* :nowhere }", CHAIN) == [""]
    assert rows("SELECT ?x { :nowhere :p+ ?x }", CHAIN) == []


def test_a_variable_stands_for_nodes_of_the_graph_only() -> None:
    query = "SELECT ?x ?y { VALUES ?x { :a :nowhere } ?x :q* ?y }"
    assert bag(query, CHAIN) == ["a a"]
    assert bag("SELECT ?y { ?x :q* ?y FILTER(?x = :p) }", CHAIN) == []
    both = "SELECT ?x { VALUES ?x { :nowhere } ?x :q* :nowhere }"
    assert rows(both, CHAIN) == ["nowhere"]


def test_exists_puts_terms_in_so_that_a_path_of_length_zero_is_there() -> None:
    assert bag("SELECT ?x { VALUES ?x { :a :nowhere } FILTER EXISTS { ?x :q* ?y } }", CHAIN) == ["a", "nowhere"]


def test_a_graph_that_is_not_there_has_no_path_of_length_zero() -> None:
    assert bag("SELECT ?x { VALUES ?x { :a } GRAPH :unknown { ?x :p* :a } }", CHAIN) == []


def test_zero_or_one_gives_each_pair_once() -> None:
    assert bag("SELECT ?x { :a :p? ?x }", ":a :p :a, :b .") == ["a", "b"]
    assert bag("SELECT ?x { ?x :p? :b }", ":a :p :b .") == ["a", "b"]


def test_both_ends_open() -> None:
    data = ":a :p :b . :b :p :c ."
    assert bag("SELECT ?x ?y { ?x :p+ ?y }", data) == ["a b", "a c", "b c"]
    assert bag("SELECT ?x ?y { ?x :p* ?y }", data) == ["a a", "a b", "a c", "b b", "b c", "c c"]
    assert bag("SELECT ?x ?y { ?x :p? ?y }", data) == ["a a", "a b", "b b", "b c", "c c"]
    assert bag("SELECT ?x { ?x :p+ ?x }", CHAIN) == ["a", "b", "c"]


def test_sequences_and_alternatives_count_the_ways() -> None:
    data = ":a :p :b, :c . :b :q :d . :c :q :d . :a :r :d . :a :s :d ."
    assert bag("SELECT ?x { :a (:p/:q) ?x }", data) == ["d", "d"]
    assert bag("SELECT ?x { :a (:r|:s) ?x }", data) == ["d", "d"]
    assert bag("SELECT ?x { ?x (:r|:s) :d }", data) == ["a", "a"]
    assert bag("SELECT ?x { :a (:p/:q)? ?x }", data) == ["a", "d"]
    assert bag("SELECT ?x ?y { ?x ((:p/:q)|(:r|:s)) ?y }", data) == ["a d"] * 4
    assert bag("SELECT ?x { :d ^(:p/:q) ?x }", data) == ["a", "a"]


def test_inverse_paths_go_backward() -> None:
    assert bag("SELECT ?x { :b ^:p ?x }", CHAIN) == ["a"]
    assert bag("SELECT ?x { :c (^:p)+ ?x }", CHAIN) == ["a", "b", "c"]
    assert bag("SELECT ?x { ?x ^(:p/:q) ?y }", CHAIN) == ["d"]
    assert bag("SELECT ?x { :d (^:q/^:p)? ?x }", CHAIN) == ["b", "d"]


def test_negated_sets_take_any_other_predicate_in_either_direction() -> None:
    data = ":a :p :b . :a :q :c . :d :p :a . :e :r :a ."
    assert bag("SELECT ?x { :a !:p ?x }", data) == ["c"]
    assert bag("SELECT ?x { :a !(:p|:q) ?x }", data) == []
    assert bag("SELECT ?x { :a !^:p ?x }", data) == ["e"]
    assert bag("SELECT ?x { :a !(:q|^:r) ?x }", data) == ["b", "d"]
    assert bag("SELECT ?x { ?x !:p :a }", data) == ["e"]
    assert bag("SELECT ?x { ?x !(^:p) :a }", data) == ["c"]
    assert bag("SELECT ?x ?y { ?x !(:p|^:p) ?y }", data) == ["a c", "a e", "c a", "e a"]


def test_negated_sets_count_parallel_triples() -> None:
    assert bag("SELECT ?x { :a !:p ?x }", ":a :q :b ; :r :b .") == ["b", "b"]


def test_a_path_joins_with_triples_on_either_side() -> None:
    data = ":x :is :a . :a :sub :b . :b :sub :c . :c :name 'top' . :y :is :b ."
    assert bag("SELECT ?i ?n { ?i :is/:sub* ?class . ?class :name ?n }", data) == ["x top", "y top"]
    assert bag("SELECT ?i { ?i :is ?k . ?k :sub+ ?class . ?class :name 'top' }", data) == ["x", "y"]


def test_a_long_chain_needs_no_deep_stack() -> None:
    data = " ".join(f":n{i} :p :n{i + 1} ." for i in range(20_000))
    assert len(rows("SELECT ?x { :n0 :p+ ?x }", data)) == 20_000
    assert rows("SELECT (COUNT(*) AS ?n) { ?x :p* :n20000 }", data) == ["20001"]
