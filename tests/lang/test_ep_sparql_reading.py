"""What an EP-SPARQL file is read as: rules EP-7 to EP-16 and the listings of the paper's Section 4.1."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import given

from support.rule_files import rule_files, temporal_patterns
from thence.algebra.ep_sparql import DURATION, END_TIME, START_TIME, RuleFile
from thence.algebra.expressions import And, Arithmetic, Call, Compare, Comparison, Expression, Not, Operation, Variable
from thence.algebra.patterns import (
    Bgp,
    ChainOperator,
    Construct,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Projection,
    Select,
    SubSelect,
    TemporalJoin,
    TriplePattern,
    Union,
    Values,
)
from thence.algebra.show import show
from thence.algebra.traversal import FEW
from thence.errors import QueryError
from thence.lang.ep_sparql.parser import SYNTAX, parse
from thence.lang.sparql.parser import parse_pattern, parse_query
from thence.rdf.terms import IRI, BlankNode, Literal
from thence.rdf.times import Domain

SEQ, EQUALS, OPTIONALSEQ, EQUALSOPTIONAL = ChainOperator
NAMESPACE = "http://example.org/"
P = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"


def where(text: str, **options: str) -> Pattern:
    """The pattern of `SELECT * WHERE text`."""
    (statement,) = parse(f"{P} SELECT * WHERE {text}", **options).statements
    return statement.where


def expression(text: str) -> Expression:
    found = where(f"{{ :s :p ?x, ?y, ?z FILTER({text}) }}")
    assert isinstance(found, Filter)
    return found.condition


def bgp(name: str, *more: str) -> Bgp:
    """`?a :a ?x` for "a"."""
    return Bgp(tuple(TriplePattern(Variable(each), IRI(NAMESPACE + each), Variable("x")) for each in (name, *more)))


A, B, C, D = (bgp(name) for name in "abcd")
X, Y = Variable("x"), Variable("y")
GA, GB, GC, GD = (f"{{ ?{name} :{name} ?x }}" for name in "abcd")
TA, TB, TC = (f"?{name} :{name} ?x" for name in "abc")


# EP-7


@pytest.mark.parametrize("operator", ChainOperator)
def test_ep_7_each_operator_stands_between_two_groups(operator: ChainOperator) -> None:
    assert where(f"{{ {GA} {operator.value} {GB} }}") == TemporalJoin(operator, A, B)
    assert where(f"{{ {GA} {operator.value.lower()} {GB} }}") == TemporalJoin(operator, A, B)


def test_ep_7_operators_have_equal_precedence_and_associate_to_the_left() -> None:
    assert where(f"{{ {GA} SEQ {GB} UNION {GC} }}") == Union(TemporalJoin(SEQ, A, B), C)
    assert where(f"{{ {GA} SEQ {GB} UNION {GC} }}") == where(f"{{ {{ {GA} SEQ {GB} }} UNION {GC} }}")
    assert where(f"{{ {GA} UNION {GB} SEQ {GC} }}") == TemporalJoin(SEQ, Union(A, B), C)
    assert where(f"{{ {GA} EQUALS {GB} SEQ {GC} OPTIONALSEQ {GD} }}") == TemporalJoin(
        OPTIONALSEQ, TemporalJoin(SEQ, TemporalJoin(EQUALS, A, B), C), D
    )
    assert where(f"{{ {GA} SEQ {{ {GB} SEQ {GC} }} }}") == TemporalJoin(SEQ, A, TemporalJoin(SEQ, B, C))


def test_ep_7_a_chain_of_unions_alone_is_sparqls() -> None:
    for arms in (2, FEW, FEW + 1, 500):
        text = f"{{ {' UNION '.join(f'{{ ?x <x:p{i}> ?y }}' for i in range(arms))} }}"
        assert where(text) == parse_pattern(text)


# EP-8


def test_ep_8_a_chain_binds_tighter_than_juxtaposition() -> None:
    assert where(f"{{ {GA} {GB} SEQ {GC} }}") == Join(A, TemporalJoin(SEQ, B, C))
    assert where(f"{{ {GA} SEQ {GB} {GC} }}") == Join(TemporalJoin(SEQ, A, B), C)
    assert where(f"{{ {GA} SEQ {GB} {GC} EQUALS {GD} }}") == Join(TemporalJoin(SEQ, A, B), TemporalJoin(EQUALS, C, D))


# EP-9


def test_ep_9_a_triples_block_without_braces_counts_as_a_group() -> None:
    assert where(f"{{ {TA} SEQ {TB} }}") == TemporalJoin(SEQ, A, B)
    assert where(f"{{ {TA} . SEQ {TB} . }}") == TemporalJoin(SEQ, A, B)
    assert where(f"{{ {TA} SEQ {GB} EQUALS {TC} }}") == TemporalJoin(EQUALS, TemporalJoin(SEQ, A, B), C)


def test_ep_9_the_operand_is_the_whole_unbroken_block() -> None:
    assert where(f"{{ {TA} . {TB} SEQ {GC} }}") == TemporalJoin(SEQ, bgp("a", "b"), C)
    assert where(f"{{ {GC} SEQ {TA} . {TB} }}") == TemporalJoin(SEQ, C, bgp("a", "b"))
    assert where(f"{{ {TA} FILTER(?x) {TB} SEQ {GC} }}") == Filter(X, Join(A, TemporalJoin(SEQ, B, C)))
    assert where(f"{{ {GC} SEQ {TA} FILTER(?x) {TB} }}") == Filter(X, Join(TemporalJoin(SEQ, C, A), B))


# EP-10


def test_ep_10_optional_and_an_operator_after_it_take_all_that_precedes() -> None:
    assert where(f"{{ {GA} SEQ {GB} OPTIONAL {GC} }}") == LeftJoin(TemporalJoin(SEQ, A, B), C)
    assert where(f"{{ {GA} {GB} OPTIONAL {GC} SEQ {GD} }}") == TemporalJoin(SEQ, LeftJoin(Join(A, B), C), D)
    assert where(f"{{ {GA} {GB} OPTIONAL {GC} SEQ {GD} }}") == where(f"{{ {{ {GA} {GB} OPTIONAL {GC} }} SEQ {GD} }}")
    assert where(f"{{ {TA} OPTIONAL {GB} OPTIONAL {GC} SEQ {TB} }}") == TemporalJoin(
        SEQ, LeftJoin(LeftJoin(A, B), C), B
    )
    assert where(f"{{ {GA} OPTIONAL {GB} SEQ {GC} OPTIONAL {GD} EQUALS {GA} }}") == TemporalJoin(
        EQUALS, LeftJoin(TemporalJoin(SEQ, LeftJoin(A, B), C), D), A
    )


def test_ep_10_a_filter_before_optional_stays_the_groups() -> None:
    assert where(f"{{ {GA} FILTER(?x) OPTIONAL {GB} SEQ {GC} }}") == Filter(X, TemporalJoin(SEQ, LeftJoin(A, B), C))


# EP-11 stands among the errors


# EP-12


def test_ep_12_where_may_omit_its_braces() -> None:
    condition = Compare(Comparison.LESS, Call(DURATION, ()), Literal("5", "http://www.w3.org/2001/XMLSchema#integer"))
    chained = Filter(condition, TemporalJoin(SEQ, A, B))
    assert where(f"{GA} SEQ {GB} FILTER(getDURATION() < 5)") == chained
    assert where(f"{{ {GA} SEQ {GB} FILTER(getDURATION() < 5) }}") == chained
    assert where(f"{TA} . SEQ {TB} . FILTER(getDURATION() < 5)") == chained
    assert where(f"{GA} {TB}") == Join(A, B)
    assert where(f"{TA} OPTIONAL {GB} MINUS {GC} BIND(1 AS ?n) GRAPH :g {GD}") == parse_pattern(
        f"{P} {{ {TA} OPTIONAL {GB} MINUS {GC} BIND(1 AS ?n) GRAPH :g {GD} }}"
    )
    (select,) = parse(f"{P} SELECT * {GA} SEQ {GB}").selects
    assert select.where == TemporalJoin(SEQ, A, B)


def test_ep_12_the_group_extends_to_the_next_clause_or_statement() -> None:
    file = parse(
        f"{P} SELECT ?x WHERE {GA} SEQ {GB} ORDER BY ?x LIMIT 3"
        f" CONSTRUCT {{ ?x :y ?a }} WHERE {TA} SEQ {TB} PREFIX e: <urn:e#> SELECT ?y WHERE ?y e:p ?x VALUES ?x {{ 1 }}"
    )
    first, rule, last = file.statements
    assert isinstance(first, Select) and isinstance(rule, Construct) and isinstance(last, Select)
    assert (first.where, first.modifiers.limit) == (TemporalJoin(SEQ, A, B), 3)
    assert rule.where == TemporalJoin(SEQ, A, B)
    assert last.where == Bgp((TriplePattern(Y, IRI("urn:e#p"), X),))
    assert last.modifiers.values is not None
    assert file.selects == (first, last)
    assert file.rules == (rule,)


def test_ep_12_plain_sparql_is_read_as_sparql() -> None:
    for text in (
        "SELECT DISTINCT ?x { ?x <x:p> ?y FILTER(?y > 1) { ?y <x:q> ?z } UNION { ?z <x:r> ?y } OPTIONAL { ?x a ?t } }",
        "SELECT ?x (COUNT(*) AS ?n) WHERE { ?x <x:p> ?y } GROUP BY ?x HAVING (COUNT(*) > 1) ORDER BY DESC(?n) LIMIT 5",
        "CONSTRUCT { ?x <x:q> [] } WHERE { ?x <x:p>/<x:q>* ?y MINUS { ?x a <x:T> } VALUES ?y { 1 UNDEF } }",
        "CONSTRUCT WHERE { ?x <x:q> 1 }",
        "SELECT * { { SELECT ?x (MAX(?y) AS ?m) { ?x <x:p> ?y } GROUP BY ?x } FILTER NOT EXISTS { ?x <x:q> ?m } }",
        "SELECT REDUCED * WHERE { BIND(IRI('x:a') AS ?x) } OFFSET 2 VALUES (?x ?y) { (1 2) }",
    ):
        assert parse(text).statements == (parse_query(text),)


# EP-13 stands among the errors; a label may come again in another statement


def test_ep_13_a_blank_node_label_belongs_to_its_statement() -> None:
    rule = f"CONSTRUCT _:n :p ?x WHERE {{ _:n :a ?x }} SEQ {GB}"
    first, second = parse(f"{P} {rule} {rule}").rules
    assert first == second


# EP-14


@pytest.mark.parametrize(
    "column",
    ["(?x + 1 AS ?v)", "?x + 1 AS ?v", "?v AS ?x + 1", "(?v AS ?x + 1)", "(?x + 1) AS ?v", "?v AS (?x + 1)"],
)
def test_ep_14_as_stands_either_way_round(column: str) -> None:
    one = Literal("1", "http://www.w3.org/2001/XMLSchema#integer")
    for form in (f"SELECT {column}", f"SELECT ?a {column} ?x", f"SELECT ?a {column} (?x AS ?w)"):
        (select,) = parse(f"{P} {form} WHERE {GA}").selects
        assert select.columns is not None
        assert Projection(Variable("v"), Arithmetic(Operation.ADD, X, one)) in select.columns


def test_ep_14_the_defined_variable_is_the_one_that_where_does_not_bind() -> None:
    def columns(text: str) -> tuple[Projection, ...] | None:
        return parse(f"{P} SELECT {text}").selects[0].columns

    defined = (Projection(Variable("v"), X),)
    assert columns(f"?x AS ?v {GA}") == columns(f"?v AS ?x {GA}") == columns(f"(?v AS ?x) {GA}") == defined
    assert columns(f"(?x + 1 AS ?v) (?v AS ?w) {GA}")[1:] == (Projection(Variable("w"), Variable("v")),)  # type: ignore[index]
    assert columns(f"?w AS ?k {GA} GROUP BY (?x AS ?k)") == (Projection(Variable("w"), Variable("k")),)


# EP-15


def test_ep_15_a_bare_name_is_a_term_of_the_default_namespace() -> None:
    assert where("{ company hasStockPrice acme }") == where("{ :company :hasStockPrice :acme }")
    assert where("{ ?x a Company FILTER(?x != acme) }") == where("{ ?x a :Company FILTER(?x != :acme) }")
    assert where("GRAPH places { ?x in_city/part_of* zürich }") == where(
        "GRAPH :places { ?x :in_city/:part_of* :zürich }"
    )
    (select,) = parse("SELECT ?x WHERE { ?x price 1 }").selects
    assert select == parse("PREFIX : <http://example.org/> SELECT ?x WHERE { ?x :price 1 }").selects[0]


@pytest.mark.parametrize(
    ("prologue", "namespace", "bare", "whole"),
    [
        ("", None, "http://example.org/p", "http://example.org/"),
        ("PREFIX : <urn:c#>", None, "urn:c#p", "urn:c#"),
        ("BASE <urn:b#>", None, "urn:b#p", "urn:b#"),
        ("BASE <urn:b#> PREFIX : <urn:c#>", None, "urn:c#p", "urn:c#"),
        ("", "urn:o#", "urn:o#p", "urn:o#"),
        ("BASE <urn:b#>", "urn:o#", "urn:o#p", "urn:o#"),
        ("PREFIX : <urn:c#>", "urn:o#", "urn:c#p", "urn:o#"),  # in the text, a bare name is a name with a colon
    ],
)
def test_ep_15_the_namespace_is_the_callers_or_the_texts(
    prologue: str, namespace: str | None, bare: str, whole: str
) -> None:
    file = parse(f"{prologue} SELECT ?x WHERE {{ ?x p ?y }}", namespace=namespace)
    assert file.selects[0].where == Bgp((TriplePattern(X, IRI(bare), Y),))
    assert file.namespace == whole
    assert file.streams[0].iri == IRI(whole + "events")


def test_ep_15_every_keyword_stays_a_keyword() -> None:
    words = {*SYNTAX._words.keywords(SYNTAX._words.spellings), "ASK", "DESCRIBE", "SEQOPTIONAL"}
    assert {"SEQ", "GETDURATION", "FILTER", "COUNT", "STRLEN", "TRUE", "NAMED", "a"} <= words
    for word in sorted(words):
        for spelled in {word, word.lower()} - {"a"}:
            with pytest.raises(QueryError):
                parse(f"SELECT ?x WHERE {{ ?x {spelled} ?y }}")
        if word not in ("TRUE", "FALSE"):  # which are terms
            with pytest.raises(QueryError):
                parse(f"SELECT ?x WHERE {{ {word} ?p ?y }}")
        assert where(f"{{ ?x {word}_1 ?y }}") == where(f"{{ ?x :{word}_1 ?y }}")


# Rules


def test_a_template_may_stand_without_braces() -> None:
    braced = parse(f"{P} CONSTRUCT {{ ?a :p ?x . ?x :q _:n }} WHERE {GA}").rules
    assert parse(f"{P} CONSTRUCT ?a :p ?x . ?x :q _:n WHERE {GA}").rules == braced
    assert parse(f"{P} CONSTRUCT ?a :p ?x . ?x :q _:n . {GA}").rules == braced


def test_a_sub_select_may_follow_a_template_directly() -> None:
    (rule,) = parse(f"{P} CONSTRUCT ?a :p ?n {{ SELECT ?a (COUNT(*) AS ?n) WHERE {GA} GROUP BY ?a }}").rules
    assert isinstance(rule.where, SubSelect)
    assert rule.where.select == parse(f"{P} SELECT ?a (COUNT(*) AS ?n) WHERE {GA} GROUP BY ?a").selects[0]


def test_several_prologues_hold_from_where_they_stand() -> None:
    text = "PREFIX e: <x:> SELECT * { ?x e:p ?y } PREFIX e: <y:> PREFIX : <z:> SELECT * { ?x e:p ?y . ?y p 1 }"
    first, second = parse(text).selects
    assert first.where == Bgp((TriplePattern(X, IRI("x:p"), Y),))
    assert isinstance(second.where, Bgp)
    assert [triple.predicate for triple in second.where.triples if isinstance(triple, TriplePattern)] == [
        IRI("y:p"), IRI("z:p"),
    ]  # fmt: skip


# EP-21, EP-22: the condition of an optional join


def test_ep_21_filters_directly_in_the_optional_group_are_the_condition() -> None:
    filtered = "{ ?a :a ?x FILTER(?x) }"
    assert where(f"{filtered} OPTIONALSEQ {GB}") == TemporalJoin(OPTIONALSEQ, A, B, X)
    assert where(f"{GB} EQUALSOPTIONAL {filtered}") == TemporalJoin(EQUALSOPTIONAL, B, A, X)
    assert where(f"{GB} EQUALSOPTIONAL {{ ?a :a ?x FILTER(?x) FILTER(?y) }}") == TemporalJoin(
        EQUALSOPTIONAL, B, A, And(X, Y)
    )
    assert where(f"{GB} EQUALSOPTIONAL {{ {GA} SEQ {GC} FILTER(?x) }}") == TemporalJoin(
        EQUALSOPTIONAL, B, TemporalJoin(SEQ, A, C), X
    )


def test_ep_21_other_filters_stay_filters() -> None:
    filtered = "{ ?a :a ?x FILTER(?x) }"
    whole = Filter(X, A)
    assert where(f"{GB} OPTIONALSEQ {filtered}") == TemporalJoin(OPTIONALSEQ, B, whole)
    assert where(f"{filtered} EQUALSOPTIONAL {GB}") == TemporalJoin(EQUALSOPTIONAL, whole, B)
    assert where(f"{filtered} SEQ {filtered}") == TemporalJoin(SEQ, whole, whole)
    assert where(f"{{ {filtered} }} OPTIONALSEQ {GB}") == TemporalJoin(OPTIONALSEQ, whole, B)
    assert where(f"{GB} EQUALSOPTIONAL {{ {filtered} }}") == TemporalJoin(EQUALSOPTIONAL, B, whole)


def test_ep_22_an_unbraced_chain_left_of_optionalseq_has_no_condition() -> None:
    assert where(f"{GA} SEQ {{ ?b :b ?x FILTER(?x) }} OPTIONALSEQ {GC}") == TemporalJoin(
        OPTIONALSEQ, TemporalJoin(SEQ, A, Filter(X, B)), C
    )
    assert where(f"{{ {GA} SEQ {GB} FILTER(?x) }} OPTIONALSEQ {GC}") == TemporalJoin(
        OPTIONALSEQ, TemporalJoin(SEQ, A, B), C, X
    )
    assert where(f"{GA} OPTIONAL {{ ?b :b ?x FILTER(?x) }} OPTIONALSEQ {GC}") == TemporalJoin(
        OPTIONALSEQ, LeftJoin(A, B, X), C
    )


def test_operators_stand_wherever_a_group_may() -> None:
    chained = TemporalJoin(SEQ, A, B)
    assert where(f"OPTIONAL {{ {GA} SEQ {GB} }}") == LeftJoin(Bgp(()), chained)
    assert where(f"{GC} MINUS {{ {GA} SEQ {GB} }}") == Minus(C, chained)
    assert where(f"GRAPH :g {{ {GA} SEQ {GB} }}") == Graph(IRI(NAMESPACE + "g"), chained)
    exists = where(f"{GC} FILTER NOT EXISTS {{ {GA} SEQ {GB} }}")
    assert isinstance(exists, Filter) and isinstance(exists.condition, Not)
    assert exists.condition.operand.pattern == chained  # type: ignore[union-attr]
    (select,) = parse(f"{P} SELECT * {{ {{ SELECT ?x WHERE {GA} SEQ {GB} }} SEQ {GC} }}").selects
    assert isinstance(select.where, TemporalJoin) and isinstance(select.where.left, SubSelect)
    assert select.where.left.select.where == chained
    assert where(f"{{ VALUES ?x {{ 1 }} }} SEQ {GA}") == TemporalJoin(
        SEQ, Values((X,), ((Literal("1", "http://www.w3.org/2001/XMLSchema#integer"),),)), A
    )


# Time functions


def test_time_functions_are_calls_without_arguments() -> None:
    assert expression("getDURATION() < ?x") == Compare(Comparison.LESS, Call(DURATION, ()), X)
    assert expression("getstarttime() = GETENDTIME()") == Compare(
        Comparison.EQUAL, Call(START_TIME, ()), Call(END_TIME, ())
    )


def test_ep_34_now_is_the_end() -> None:
    assert expression("NOW() > ?x") == expression("getENDTIME() > ?x")


@pytest.mark.parametrize(
    ("condition", "domain", "words"),
    [
        ('getDURATION() < "P30D"^^xsd:duration', Domain.DATETIME, 'getDURATION() < "P30D"'),
        ('"PT1H"^^xsd:dayTimeDuration >= getDURATION()', Domain.DATETIME, '"PT1H" >= getDURATION()'),
        ("getDURATION() < 5", Domain.TICKS, "getDURATION() < 5"),
        ("?x && 5.5 < getSTARTTIME() && !(getDURATION() + 1 > 2)", Domain.TICKS, "5.5 < getSTARTTIME()"),
        ("?x && !(getDURATION() + 1 > 2)", Domain.TICKS, "getDURATION() + 1"),
        ("getENDTIME() - getSTARTTIME() >= 20", Domain.TICKS, "getENDTIME() - getSTARTTIME() >= 20"),
        (
            'getDURATION() * 2 > "PT20M"^^xsd:dayTimeDuration',
            Domain.DATETIME,
            'getDURATION() * 2 > "PT20M"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>',
        ),
        ("getSTARTTIME() + 5 < getENDTIME()", Domain.TICKS, "getSTARTTIME() + 5"),
        (
            'NOW() > "2024-05-06T07:00:00Z"^^xsd:dateTime',
            Domain.DATETIME,
            'getENDTIME() > "2024-05-06T07:00:00Z"',
        ),
        ("getENDTIME() IN (?x, 7)", Domain.TICKS, "getENDTIME() = 7"),
    ],
)
def test_a_comparison_demands_a_kind_of_time(condition: str, domain: Domain, words: str) -> None:
    assert parse(f"{P} SELECT ?x {{ :s :p ?x FILTER({condition}) }}").time_kind == (domain, words)


def test_without_such_a_comparison_no_kind_of_time_is_demanded() -> None:
    assert parse(f"{P} SELECT ?x {{ :s :p ?x FILTER(getDURATION() < ?x && getENDTIME() > NOW()) }}").time_kind is None


# The paper's listings


FIRST = """
SELECT ?company WHERE
  { ?company hasStockPrice ?price1 }
  SEQ { ?company hasStockPrice ?price2 }
  SEQ { ?company hasStockPrice ?price3 }
  FILTER ( ?price2 < ?price1 * 0.7 && ?price3 > ?price1 * 1.05
    && getDURATION() < "P30D"^^xsd:duration )
"""
SECOND = """
SELECT ?company ?ratingagency WHERE
  { ?company downratedby ?ratingagency }
  OPTIONALSEQ
  { ?company hasStockPrice ?price1 }
  SEQ { ?company hasStockPrice ?price2 }
  FILTER (?price2 < ?price1 * 0.5)
"""
THIRD = """
SELECT ?company WHERE
  { ?company hasStockprice ?price1 }
  SEQ { { ?company hasAcquired ?othercompany }
        OPTIONALSEQ
        { ?company hasStockPrice ?price2 } }
  FILTER ( ?price2 < ?price1 * 1.5 && !BOUND(?othercompany) &&
          getDURATION() < "P15D"^^xsd:duration )
"""
THIRD_CORRECTED = """
SELECT ?company WHERE
  { { ?company hasStockPrice ?price1 } SEQ { ?company hasStockPrice ?price2 } }
  EQUALSOPTIONAL
  { { ?company hasStockPrice ?price1 } SEQ { ?company hasAcquired ?othercompany }
    SEQ { ?company hasStockPrice ?price2 } }
  FILTER ( ?price2 > ?price1 * 1.5 && !BOUND(?othercompany) &&
          getDURATION() < "P15D"^^xsd:duration )
"""
FOURTH = """
CONSTRUCT ?company downratedby ?ratingagency
WHERE { ?rating1 rater ?ratingagency ;
        rated ?company ; score ?score1 }
        SEQ { ?rating2 rater ?ratingagency ;
              rated ?company ; score ?score2 }
  FILTER ( ?score2 < ?score1 )
"""
FIFTH = """
CONSTRUCT _:aaa :hasCount ?count . _:aaa :hasSum ?sum .
{ SELECT ?count AS ?prevcount + 1
         ?sum AS ?prevsum + ?price
  WHERE {{ ?point :hasCount ?prevcount .
           ?point :hasSum ?prevsum . }
         SEQ { :ACME :hasStockPrice ?price . }
  EQUALSOPTIONAL
  {{ ?point :hasCount ?prevcount .
    ?point :hasSum ?prevsum . }
  SEQ { :ACME :hasStockPrice ?inbetween . }
  SEQ { :ACME :hasStockPrice ?price . }
  FILTER ( !BOUND(?inbetween) &&
          getDURATION() < "P10D"^^xsd:duration )}
"""
FIFTH_CORRECTED = """
CONSTRUCT { _:aaa :hasCount 1 . _:aaa :hasSum ?price } WHERE { :ACME :hasStockPrice ?price }
CONSTRUCT _:aaa :hasCount ?count . _:aaa :hasSum ?sum .
{ SELECT ?count AS ?prevcount + 1
         ?sum AS ?prevsum + ?price
  WHERE {{ ?point :hasCount ?prevcount .
           ?point :hasSum ?prevsum . }
         SEQ { :ACME :hasStockPrice ?price . }
  EQUALSOPTIONAL
  {{ ?point :hasCount ?prevcount .
    ?point :hasSum ?prevsum . }
  SEQ { :ACME :hasStockPrice ?inbetween . }
  SEQ { :ACME :hasStockPrice ?price . } }
  FILTER ( !BOUND(?inbetween) &&
          getDURATION() < "P10D"^^xsd:duration )} }
"""
SIXTH = """
SELECT ?sum / ?count AS ?average
WHERE {{ :ACME :hasStockPrice ?price . }
  SEQ { ?point :hasCount ?prevcount .
        ?point :hasSum ?prevsum . }
  EQUALSOPTIONAL
  {{ :ACME :hasStockPrice ?price . }
  SEQ { :ACME :hasStockPrice ?inbetween . }
  SEQ { ?point :hasCount ?prevcount .
        ?point :hasSum ?prevsum . }
  FILTER ( !BOUND(?inbetween) &&
          getDURATION() > "P10D"^^xsd:duration )
"""
SIXTH_CORRECTED = """
SELECT ?prevsum / ?prevcount AS ?average
WHERE {{ :ACME :hasStockPrice ?price . }
  SEQ { ?point :hasCount ?prevcount .
        ?point :hasSum ?prevsum . }
  EQUALSOPTIONAL
  {{ :ACME :hasStockPrice ?price . }
  SEQ { :ACME :hasStockPrice ?inbetween . }
  SEQ { ?point :hasCount ?prevcount .
        ?point :hasSum ?prevsum . } }
  FILTER ( !BOUND(?inbetween) &&
          getDURATION() > "P10D"^^xsd:duration ) }
"""


def test_listing_1_is_read_as_printed() -> None:
    file = parse(P + FIRST)
    (select,) = file.selects
    price1, price2, price3 = (
        Bgp((TriplePattern(Variable("company"), IRI(NAMESPACE + "hasStockPrice"), Variable(f"price{n}")),))
        for n in (1, 2, 3)
    )
    assert isinstance(select.where, Filter)
    assert select.where.pattern == TemporalJoin(SEQ, TemporalJoin(SEQ, price1, price2), price3)
    assert select.columns == (Projection(Variable("company")),)
    assert file.time_kind == (Domain.DATETIME, 'getDURATION() < "P30D"')
    assert file.warnings == ()


def test_listing_2_is_read_as_printed_from_left_to_right() -> None:
    (select,) = parse(P + SECOND).selects
    assert isinstance(select.where, Filter)
    outer = select.where.pattern
    assert isinstance(outer, TemporalJoin) and isinstance(outer.left, TemporalJoin)
    assert (outer.operator, outer.left.operator, outer.left.condition) == (SEQ, OPTIONALSEQ, None)


def test_listing_3_is_read_as_printed_and_corrected() -> None:
    (printed,) = parse(P + THIRD).selects
    assert isinstance(printed.where, Filter) and isinstance(printed.where.pattern, TemporalJoin)
    assert isinstance(printed.where.pattern.right, TemporalJoin)
    assert (printed.where.pattern.operator, printed.where.pattern.right.operator) == (SEQ, OPTIONALSEQ)
    (corrected,) = parse(P + THIRD_CORRECTED).selects
    assert isinstance(corrected.where, Filter) and isinstance(corrected.where.pattern, TemporalJoin)
    assert (corrected.where.pattern.operator, corrected.where.pattern.condition) == (EQUALSOPTIONAL, None)


def test_listing_4_is_read_as_printed() -> None:
    (rule,) = parse(P + FOURTH).rules
    assert rule.template == (
        TriplePattern(Variable("company"), IRI(NAMESPACE + "downratedby"), Variable("ratingagency")),
    )
    assert isinstance(rule.where, Filter) and isinstance(rule.where.pattern, TemporalJoin)
    assert isinstance(rule.where.pattern.left, Bgp) and len(rule.where.pattern.left.triples) == 3


@pytest.mark.parametrize("printed", [FIFTH, SIXTH])
def test_listings_5_and_6_as_printed_lack_braces(printed: str) -> None:
    with pytest.raises(QueryError, match=r'The "{" at \d+:\d+ is never closed\. Try: }'):
        parse(P + printed)
    assert parse(f"{P} {printed} }}}}").statements


def test_listing_5_corrected_is_two_rules() -> None:
    start, rule = parse(P + FIFTH_CORRECTED).rules
    assert start.where == Bgp(
        (TriplePattern(IRI(NAMESPACE + "ACME"), IRI(NAMESPACE + "hasStockPrice"), Variable("price")),)
    )
    assert [triple.subject for triple in rule.template] == [BlankNode("aaa")] * 2
    assert isinstance(rule.where, SubSelect)
    select = rule.where.select
    one = Literal("1", "http://www.w3.org/2001/XMLSchema#integer")
    assert select.columns == (
        Projection(Variable("count"), Arithmetic(Operation.ADD, Variable("prevcount"), one)),
        Projection(Variable("sum"), Arithmetic(Operation.ADD, Variable("prevsum"), Variable("price"))),
    )
    assert isinstance(select.where, Filter) and isinstance(select.where.pattern, TemporalJoin)
    assert (select.where.pattern.operator, select.where.pattern.condition) == (EQUALSOPTIONAL, None)


def test_listing_6_corrected_divides_what_where_binds() -> None:
    file = parse(P + SIXTH_CORRECTED)
    quotient = Arithmetic(Operation.DIVIDE, Variable("prevsum"), Variable("prevcount"))
    assert file.selects[0].columns == (Projection(Variable("average"), quotient),)
    assert file.warnings == ()


def test_listing_6_as_printed_names_what_nothing_binds() -> None:
    warned = parse(f"{P} {SIXTH} }}}}").warnings
    assert [text.partition(": ")[2] for text in warned] == [
        "SELECT names ?sum, which nothing binds.",
        "SELECT names ?count, which nothing binds. Try: ?prevcount",
    ]


# show


def plain(file: RuleFile) -> RuleFile:
    """Without what stands in the text alone."""
    return replace(file, warnings=(), time_kind=None)


@given(rule_files())
def test_a_file_written_and_read_is_the_same_file(file: RuleFile) -> None:
    assert plain(parse(show(file))) == file


@given(temporal_patterns())
def test_a_pattern_written_and_read_is_the_same_pattern(pattern: Pattern) -> None:
    assert parse(f"SELECT * WHERE {show(pattern)}").selects[0].where == pattern


@pytest.mark.parametrize("text", [FIRST, SECOND, THIRD, THIRD_CORRECTED, FOURTH, FIFTH_CORRECTED, SIXTH_CORRECTED])
def test_the_listings_written_and_read_are_the_same(text: str) -> None:
    file = parse(P + text)
    again = parse(show(file))
    assert again.statements == file.statements
    assert again.time_kind == file.time_kind


def test_a_file_is_laid_out_as_in_the_paper() -> None:
    text = f"PREFIX : <urn:n#> CONSTRUCT {{ ?x :p 1 }} WHERE {GA} SELECT ?x WHERE {GA} SEQ {{ ?b :b ?x FILTER(?x) }} "
    assert show(parse(text + "EQUALSOPTIONAL { ?c :c ?x FILTER(getDURATION() < 5) } LIMIT 2")) == (
        "PREFIX : <urn:n#>\n"
        "\n"
        "CONSTRUCT {\n"
        "  ?x <urn:n#p> 1 .\n"
        "} WHERE {\n"
        "  ?a <urn:n#a> ?x .\n"
        "}\n"
        "\n"
        "SELECT ?x WHERE {\n"
        "  {\n"
        "    ?a <urn:n#a> ?x .\n"
        "  } SEQ {\n"
        "    ?b <urn:n#b> ?x .\n"
        "    FILTER (?x)\n"
        "  } EQUALSOPTIONAL {\n"
        "    ?c <urn:n#c> ?x .\n"
        "    FILTER (getDURATION() < 5)\n"
        "  }\n"
        "}\n"
        "LIMIT 2"
    )


def test_a_base_is_declared_where_a_statement_needs_it() -> None:
    declared = "BASE <urn:a> SELECT * { BIND(IRI('b') AS ?x) } BASE <urn:b> SELECT (IRI(?x) AS ?y) { ?x p 2 }"
    file = parse(f"SELECT * {{ ?x p 1 }} {declared}")
    assert show(file).count("BASE") == 2
    assert plain(parse(show(file))) == plain(file)


# Limits


def groups(operator: str, number: int) -> str:
    return f" {operator} ".join(["{ ?x <x:p> ?y }"] * number)


@pytest.mark.parametrize("operator", ChainOperator)
def test_chains_are_allowed_up_to_a_limit(operator: ChainOperator) -> None:
    file = parse(f"SELECT ?x WHERE {groups(operator.value, 240)}")
    assert pickle.loads(pickle.dumps(file)) == file
    assert plain(parse(show(file))) == file
    for too_many in (251, 10_000):
        for text in (groups(operator.value, too_many), f"{{ {groups(operator.value, too_many)} }}"):
            with pytest.raises(QueryError, match="A group may hold at most 249 of SEQ"):
                parse(f"SELECT ?x WHERE {text}")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x WHERE " + groups("SEQ", 1) + " UNION { ?x <x:p> ?y } SEQ { ?x <x:q> ?y }" * 200,
        "SELECT ?x " + "{" * 1_000_000,
        "SELECT ?x " + "{ { ?x <x:p> ?y } SEQ " * 300 + "{ }" + "}" * 300,
        "SELECT ?x WHERE " + "SEQ " * 200_000,
        "SELECT ?x WHERE { ?x <x:p> ?y }" + " OPTIONAL { ?x <x:p> ?z }" * 10_000,
        "SELECT " + "(" * 10_000,
        "SELECT " + "1 + " * 10_000 + "1 AS ?x { }",
        "SELECT ?x WHERE { " + "foo " * 200_000,
        "CONSTRUCT " * 100_000,
    ],
)
def test_hostile_texts_are_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert len(str(caught.value)) < 300


def test_many_statements_are_no_deep_tree() -> None:
    assert len(parse("SELECT ?x WHERE { ?x p ?y } SEQ { ?y q ?x } " * 300).statements) == 300
