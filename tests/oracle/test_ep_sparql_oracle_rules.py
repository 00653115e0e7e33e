"""Rules and reasoning of EP-SPARQL: EP-37, EP-46 to EP-57; and which files are refused."""

from __future__ import annotations

import pytest

from oracle.ep_sparql import TooManyRounds, derived
from oracle.ep_sparql_legal import is_legal
from oracle.ep_sparql_notation import (
    answers,
    chain,
    construct,
    group,
    minus,
    optional,
    select,
    seq,
    stream,
    triples,
    where,
)
from oracle.ep_sparql_query import Aggregate, Arithmetic, Bind, Column, Exists, Key, Not, Select, SubSelect
from oracle.ep_sparql_rdfs import closed_background
from oracle.ep_sparql_strata import NotStratified, strata, stratified
from oracle.terms import Var, integer

TRANSITIVE = construct("?x q ?z", "?x q ?y . ?y q ?z")


def test_ep_46_rules_feed_the_stream_recursion_included() -> None:
    events = "1: a q b\n2: b q c\n3: c q d"
    # at 3, the solution that starts at 1 comes before the one that starts at 2
    assert answers(TRANSITIVE, events) == ["1-2 a q c | e1 e2", "1-3 a q d | e3", "2-3 b q d | e2 e3"]
    assert answers([TRANSITIVE, select("x", "?x q d")], events) == ["1-3 x=a", "2-3 x=b", "3 x=c | e3"]


def test_ep_46_recursion_at_one_time_goes_on_to_the_fixpoint() -> None:
    found = answers([TRANSITIVE, select("x y", "?x q ?y")], "4: a q b . b q c\n4: c q d . d q a")
    assert len(found) == 16


def test_ep_46_recursion_through_seq_counts_across_times() -> None:
    following = construct("?x s ?k", seq("?x s ?m", "?x p ?n"), Bind(Arithmetic("+", Var("m"), integer(1)), "k"))
    rules = [construct("?x s 1", "?x p ?n"), following]
    found = answers([*rules, select("k", "a s ?k")], "1: a p 1\n2: a p 1\n3: a p 1")
    assert found == ["1 k=1", "1-2 k=2", "1-3 k=2", "1-3 k=3", "2 k=1", "2-3 k=2", "3 k=1"]


def test_ep_37_rules_over_background_alone_derive_background() -> None:
    rule = construct("?x s ?y", "?x q ?y")
    assert answers([rule, select("*", "?x s ?y . ?x p ?z")], "2: a p 1", "a q b") == ["2 x=a y=b z=1 | e1"]
    assert answers(rule, "2: a p 1", "a q b") == []
    minused = construct("?x t ?y", "?x q ?y", minus("?x s ?y"))
    assert answers([minused, rule, select("*", "?x t ?y . ?x p ?z")], "2: a p 1", "a q b") == []


def test_ep_47_a_template_triple_with_an_unbound_variable_is_left_out() -> None:
    rule = construct("?x s ?y . ?x t ?z", "?x p ?y", optional("?x q ?z"))
    assert answers(rule, "1: a p 1\n2: b p 2 . b q 3") == ["1 a s 1 | e1", "2 b s 2 . b t 3 | e2 e2"]


def test_ep_47_what_is_no_triple_is_left_out() -> None:
    assert answers(construct("?y s ?x . ?x s ?y", "?x p ?y"), "1: a p 1") == ["1 a s 1 | e1"]


def test_ep_48_a_template_blank_node_is_one_node_per_rule_and_solution() -> None:
    rule = construct("_:x sum ?n . _:x of ?a", "?a p ?n")
    events = "1: a p 1 . a p 2"
    assert answers(rule, events) == ["1 _:x of a . _:x sum 1 | e1", "1 _:x of a . _:x sum 2 | e1"]
    assert answers([rule, select("n", "?x sum ?n . ?x of ?a")], events) == ["1 n=1", "1 n=2"]


def test_ep_48_a_solution_that_passed_distinct_makes_one_node() -> None:
    rule = construct("_:x of ?a", SubSelect(select("a", "?a p ?n", distinct=True)))
    assert answers(rule, "1: a p 1 . a p 2\n2: a p 1") == ["1 _:x of a", "2 _:x of a"]


def test_ep_49_a_solution_emits_only_what_is_new() -> None:
    rules = [construct("?x s ?y . ?x t ?y", "?x p ?y"), construct("?x s ?y . ?x u ?y", "?x p ?y")]
    assert answers(rules, "1: a p 1 . a t 1") == ["1 a s 1 | e1", "1 a u 1 | e1"]
    assert answers(construct("?x p ?y", "?x p ?y"), "1: a p 1") == []


def test_ep_50_what_must_be_absent_at_the_same_time_is_finished_first() -> None:
    without = construct("?x t 1", "?x q ?n", minus("?x s 1"))
    rules = [without, construct("?x s 1", "?x p ?n")]
    assert strata(tuple(rules)) == [[1], [0]]
    assert answers([*rules, select("x", "?x t 1")], "1: a p 1 . a q 1 . b q 1\n2: b p 1") == ["1 x=b"]


def test_ep_50_an_aggregate_reads_finished_rules() -> None:
    count = Select((Column("x"), Column("n", Aggregate("COUNT", None))), group("?x q ?y"), group_by=(Key(Var("x")),))
    rule = construct("?x s ?n", SubSelect(count))
    assert answers([rule, TRANSITIVE, select("n", "a s ?n")], "1: a q b . b q c . c q d") == ["1 n=3"]


def test_ep_51_templates_and_patterns_unify_position_by_position() -> None:
    absent = where(Not(Exists(group("?x s 1"))))
    assert not stratified((construct("?x s 1", "?x p ?n", *absent),))
    assert not stratified((construct("?x s ?n", "?x p ?n", *absent),))
    assert stratified((construct("?x s 2", "?x p ?n", *absent),))
    assert not stratified((construct("?x ?w 1", "?x ?w ?n", *absent),))
    assert stratified((construct("?x s _:b", "?x p ?n", *absent),))


def test_ep_51_under_rdfs_a_pattern_on_a_type_or_a_super_property_depends_on_more() -> None:
    schema = closed_background(frozenset(triples("s rdfs:subPropertyOf t")))
    for pattern in ("?x rdf:type c", "?x ?w c", "?x t ?y"):
        rule = (construct("?x s 1", "?x p ?n", minus(pattern)),)
        assert stratified(rule)
        assert not stratified(rule, schema, background=True)


def test_ep_52_what_stands_left_of_seq_is_earlier_unless_the_right_side_can_match_background() -> None:
    absent = where(Not(Exists(group(seq("?x s ?m", "?x p ?k")))))
    rule = (construct("?x s 1", "?x p ?n", *absent),)
    assert stratified(rule)
    assert not stratified(rule, background=True)
    values = where(Not(Exists(group(seq("?x s ?m", group())))))
    assert not stratified((construct("?x s 1", "?x p ?n", *values),))


def test_ep_52_the_left_side_of_optionalseq_needs_strata_only_beside_background() -> None:
    rule = (construct("?x s ?m", chain("?x s ?m", "OPTIONALSEQ", "?x p ?n")),)
    assert stratified(rule)
    assert not stratified(rule, background=True)


def test_ep_50_the_filter_of_optionalseqs_left_side_reads_at_the_end_of_the_combination() -> None:
    """EP-21, EP-27: it is F, so that what its EXISTS reads is not earlier."""
    optional = group("?x p ?m", *where(Exists(group("?x s ?k"))))
    assert not stratified((construct("?x s 1", chain(optional, "OPTIONALSEQ", "?x p ?n")),))
    assert stratified((construct("?x s 1", chain(optional, "OPTIONALSEQ", "?x p ?n", "SEQ", "?x p ?w")),))


def test_ep_53_rules_that_cannot_be_stratified_are_refused() -> None:
    rules = construct("?x s 1", "?x p ?n", minus("?x t 1")), construct("?x t 1", "?x p ?n", minus("?x s 1"))
    assert not is_legal(rules)
    with pytest.raises(NotStratified):
        answers(rules, "1: a p 1")
    optional_rule = construct("?x s ?y", "?x p ?n", optional("?x s ?y"))
    assert not is_legal((optional_rule,))


def test_ep_54_too_many_rounds_are_an_error() -> None:
    rule = construct("?x s ?k", "?x s ?m", Bind(Arithmetic("+", Var("m"), integer(1)), "k"))
    with pytest.raises(TooManyRounds):
        derived((rule,), stream("1: a s 1"), rounds=20)
    assert len(derived((TRANSITIVE,), stream("1: a q b . b q c . c q d . d q e"), rounds=2)) == 6


def test_ep_55_a_sub_property_with_a_domain_and_a_sub_class() -> None:
    schema = (
        "p rdfs:subPropertyOf q . q rdfs:subPropertyOf r . r rdfs:domain C . C rdfs:subClassOf D . D rdfs:subClassOf E"
    )
    events = "3: a p b"
    assert answers(select("*", "?x r ?y"), events, schema, reasoning=True) == ["3 x=a y=b | e1"]
    found = answers(select("c", "a rdf:type ?c"), events, schema, reasoning=True)
    assert found == ["3 c=C | e1", "3 c=D | e1", "3 c=E | e1"]
    assert answers(select("*", "?x r ?y"), events, schema) == []


def test_ep_55_a_range_gives_no_literal_a_type() -> None:
    query = select("x", "?x rdf:type C")
    assert answers(query, "3: a p b . a p 1", "p rdfs:range C", reasoning=True) == ["3 x=b | e1"]


def test_ep_56_the_schema_comes_from_the_background_only() -> None:
    query = select("x", "?x q ?y")
    assert answers(query, "3: a p b . p rdfs:subPropertyOf q", reasoning=True) == []
    rule = construct("?x rdfs:subClassOf ?y", "?x p ?y")
    assert is_legal((rule,))
    assert not is_legal((rule,), schema=frozenset())


def test_ep_57_what_follows_from_background_is_timeless_and_what_follows_from_the_stream_is_not() -> None:
    query = select("x z", "?x q ?y . ?z r ?w")
    schema = "p rdfs:subPropertyOf q . a p b"
    assert answers(query, "2: c r d\n1: e p b", schema, reasoning=True) == ["1-2 x=e z=c | e2 e1", "2 x=a z=c | e1"]


def test_ep_57_what_follows_from_a_derived_triple_has_its_interval() -> None:
    rule = construct("?x s ?y", seq("?x p ?z", "?x q ?y"))
    found = answers([rule, select("x", "?x t ?y")], "1: a p 1\n2: a q 2", "s rdfs:subPropertyOf t", reasoning=True)
    assert found == ["1-2 x=a"]
