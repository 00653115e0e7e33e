"""Text to algebra, by the tables and examples of SPARQL 1.1, 18.2."""

from __future__ import annotations

import pytest

from thence.algebra.expressions import (
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    Call,
    Cast,
    Compare,
    Comparison,
    Exists,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
from thence.algebra.patterns import (
    Alternative,
    Ask,
    Bgp,
    Construct,
    DatasetClause,
    Describe,
    Extend,
    Filter,
    Graph,
    GroupKey,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    Modifiers,
    NegatedSet,
    OneOrMore,
    OrderKey,
    PathPattern,
    PathSequence,
    Pattern,
    Projection,
    Select,
    SubSelect,
    TriplePattern,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.traversal import FEW, depth
from thence.algebra.variables import columns, in_scope
from thence.lang.sparql.parser import parse_expression, parse_pattern, parse_query
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal

S, O, X, Y = (Variable(name) for name in "soxy")  # noqa: E741
P1, P2, P3 = (IRI(f"http://example.org/p{number}") for number in "123")
EX = {"": "http://example.org/"}
EMPTY = Bgp(())
ONE, TWO = Literal("1", XSD + "integer"), Literal("2", XSD + "integer")


def pattern(text: str) -> Pattern:
    return parse_pattern(text, prefixes=EX)


def bgp(predicate: IRI, target: Variable | Literal = O) -> Bgp:
    return Bgp((TriplePattern(S, predicate, target),))


# Groups (18.2.3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ ?s :p1 ?o }", bgp(P1)),
        ("{ ?s :p1 ?o . ?s :p2 ?o }", Bgp(bgp(P1).triples + bgp(P2).triples)),
        ("{ { ?s :p1 ?o } UNION { ?s :p2 ?o } }", Union(bgp(P1), bgp(P2))),
        (
            "{ { ?s :p1 ?o } UNION { ?s :p2 ?o } UNION { ?s :p3 ?o } }",
            Union(Union(bgp(P1), bgp(P2)), bgp(P3)),
        ),
        ("{ ?s :p1 ?o OPTIONAL { ?s :p2 ?o } }", LeftJoin(bgp(P1), bgp(P2))),
        (
            "{ ?s :p1 ?o OPTIONAL { ?s :p2 ?o } OPTIONAL { ?s :p3 ?o } }",
            LeftJoin(LeftJoin(bgp(P1), bgp(P2)), bgp(P3)),
        ),
        ("{ ?s :p1 ?o OPTIONAL { ?s :p2 ?o FILTER(?x) } }", LeftJoin(bgp(P1), bgp(P2), X)),
        ("{ ?s :p1 ?o OPTIONAL { { ?s :p2 ?o FILTER(?x) } } }", LeftJoin(bgp(P1), Filter(X, bgp(P2)))),
        ("{ ?s :p1 ?o FILTER(?x) OPTIONAL { ?s :p2 ?o } }", Filter(X, LeftJoin(bgp(P1), bgp(P2)))),
        ("{ ?s :p1 ?o BIND(1 AS ?x) }", Extend(bgp(P1), X, ONE)),
        ("{ ?s :p1 ?o BIND(1 AS ?x) ?s :p2 ?o }", Join(Extend(bgp(P1), X, ONE), bgp(P2))),
        ("{ ?s :p1 ?o MINUS { ?s :p2 ?o } }", Minus(bgp(P1), bgp(P2))),
        ("{ ?s :p1 ?o { ?s :p2 ?o FILTER(?x) } }", Join(bgp(P1), Filter(X, bgp(P2)))),
        ("{ GRAPH ?x { ?s :p1 ?o } }", Graph(X, bgp(P1))),
        ("{ GRAPH :p1 { } }", Graph(P1, EMPTY)),
        ("{ VALUES (?x ?y) { (1 UNDEF) (:p1 2) } }", Values((X, Y), ((ONE, None), (P1, TWO)))),
        ("{ VALUES ?x { 1 2 } }", Values((X,), ((ONE,), (TWO,)))),
        ("{ VALUES () { () } }", Values((), ((),))),
        ("{ SELECT ?s { ?s :p1 ?o } }", SubSelect(Select((Projection(S),), bgp(P1)))),
    ],
)
def test_a_group_becomes_the_algebra_of_the_standard(text: str, expected: Pattern) -> None:
    assert pattern(text) == expected


@pytest.mark.parametrize("text", ["{ }", "{ { } }", "{ { { } } { } }"])
def test_what_is_joined_with_the_empty_pattern_is_itself(text: str) -> None:
    assert pattern(text) == EMPTY
    assert pattern(f"{{ {text} ?s :p1 ?o {text} }}") == bgp(P1)


def test_a_filter_does_not_part_a_basic_graph_pattern_and_any_other_element_does() -> None:
    both = Bgp(bgp(P1).triples + bgp(P2).triples)
    assert pattern("{ ?s :p1 ?o FILTER(?x) ?s :p2 ?o }") == Filter(X, both)
    assert pattern("{ ?s :p1 ?o . {} ?s :p2 ?o }") == Join(bgp(P1), bgp(P2))


def test_the_filters_of_a_group_are_one_conjunction_in_the_order_of_the_text() -> None:
    assert pattern("{ FILTER(?x) ?s :p1 ?o FILTER(?y) FILTER(?s) }") == Filter(And(And(X, Y), S), bgp(P1))


def test_a_long_chain_is_balanced_and_a_short_one_leans_left() -> None:
    short = pattern("{" + " UNION ".join(["{ ?s :p1 ?o }"] * FEW) + "}")
    assert depth(short) == FEW + 2
    assert isinstance(short, Union)
    assert short.right == bgp(P1)
    assert depth(pattern("{" + " UNION ".join(["{ ?s :p1 ?o }"] * 4000) + "}")) < 20


# Triples (4.2, 18.2.2.1)


def test_semicolons_commas_and_a_abbreviate_triples() -> None:
    expected = Bgp(
        (
            TriplePattern(S, IRI(RDF + "type"), P1),
            TriplePattern(S, P2, X),
            TriplePattern(S, P2, Y),
            TriplePattern(S, O, ONE),
        )
    )
    assert pattern("{ ?s a :p1 ; :p2 ?x , ?y ; ; ?o 1 ; }") == expected


def test_brackets_stand_for_blank_nodes_with_labels_of_our_own() -> None:
    nodes = [BlankNode(f"b{number}") for number in range(3)]
    assert pattern("{ [] :p1 [ :p2 ?x ] . [ :p3 ?y ] }") == Bgp(
        (
            TriplePattern(nodes[0], P1, nodes[1]),
            TriplePattern(nodes[1], P2, X),
            TriplePattern(nodes[2], P3, Y),
        )
    )


def test_labels_of_our_own_avoid_those_of_the_text() -> None:
    assert pattern("{ _:b0 :p1 [] . [] :p1 _:b2 }") == Bgp(
        (
            TriplePattern(BlankNode("b0"), P1, BlankNode("b1")),
            TriplePattern(BlankNode("b3"), P1, BlankNode("b2")),
        )
    )


def test_a_collection_is_a_list_of_cells() -> None:
    first, rest, nil = IRI(RDF + "first"), IRI(RDF + "rest"), IRI(RDF + "nil")
    cells = [BlankNode("b0"), BlankNode("b1")]
    assert pattern("{ (1 ?x) :p1 () }") == Bgp(
        (
            TriplePattern(cells[0], first, ONE),
            TriplePattern(cells[0], rest, cells[1]),
            TriplePattern(cells[1], first, X),
            TriplePattern(cells[1], rest, nil),
            TriplePattern(cells[0], P1, nil),
        )
    )


# Paths (18.2.2.3, 18.2.2.4)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (":p1*", ZeroOrMore(P1)),
        (":p1+", OneOrMore(P1)),
        (":p1?", ZeroOrOne(P1)),
        ("(:p1/:p2)*", ZeroOrMore(PathSequence(P1, P2))),
        (":p1|:p2|:p3", Alternative(Alternative(P1, P2), P3)),
        ("^(:p1/:p2)", Inverse(PathSequence(P1, P2))),
        ("^:p1*", Inverse(ZeroOrMore(P1))),
        ("(^:p1)*", ZeroOrMore(Inverse(P1))),
        ("!:p1", NegatedSet((P1,), ())),
        ("!(:p1|^:p2|a)", NegatedSet((P1, IRI(RDF + "type")), (P2,))),
        ("!^:p1", NegatedSet((), (P1,))),
        ("!()", NegatedSet((), ())),
    ],
)
def test_a_path_that_no_triple_can_say_stays_a_path(path: str, expected: ZeroOrMore) -> None:
    assert pattern(f"{{ ?s {path} ?o }}") == Bgp((PathPattern(S, expected, O),))


@pytest.mark.parametrize("path", [":p1", "(:p1)", "((:p1))"])
def test_a_path_of_one_step_is_a_triple(path: str) -> None:
    assert pattern(f"{{ ?s {path} ?o }}") == bgp(P1)
    assert pattern(f"{{ ?o ^{path} ?s }}") == bgp(P1)


@pytest.mark.parametrize("path", [":p1/^:p2/:p3*", "(:p1/^:p2)/:p3*", ":p1/(^:p2/:p3*)"])
def test_a_sequence_is_triples_through_nodes_that_nobody_can_name(path: str) -> None:
    between = [BlankNode("b0"), BlankNode("b1")]
    assert pattern(f"{{ ?s {path} ?o }}") == Bgp(
        (
            TriplePattern(S, P1, between[0]),
            TriplePattern(between[1], P2, between[0]),
            PathPattern(between[1], ZeroOrMore(P3), O),
        )
    )


def test_each_object_of_a_path_has_its_own_way() -> None:
    found = pattern("{ ?s :p1/:p2 ?x , ?y }")
    assert isinstance(found, Bgp)
    assert len({triple.object for triple in found.triples} - {X, Y}) == 2


# Expressions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x + 1 * 2", Arithmetic(Operation.ADD, X, Arithmetic(Operation.MULTIPLY, ONE, TWO))),
        ("?x+1*2", Arithmetic(Operation.ADD, X, Arithmetic(Operation.MULTIPLY, ONE, TWO))),
        ("?x -1 -2", Arithmetic(Operation.SUBTRACT, Arithmetic(Operation.SUBTRACT, X, ONE), TWO)),
        ("?x - -1", Arithmetic(Operation.SUBTRACT, X, Literal("-1", XSD + "integer"))),
        ("?x / ?y * 2", Arithmetic(Operation.MULTIPLY, Arithmetic(Operation.DIVIDE, X, Y), TWO)),
        ("- ?x", Negate(X)),
        ("-1", Literal("-1", XSD + "integer")),
        ("-(1)", Negate(ONE)),
        ("+?x", Plus(X)),
        ("?x || ?y && !?s", Or(X, And(Y, Not(S)))),
        ("?x <= ?y", Compare(Comparison.LESS_OR_EQUAL, X, Y)),
        ("?x<?y", Compare(Comparison.LESS, X, Y)),
        ("?x IN (1, ?y)", In(X, (ONE, Y))),
        ("?x NOT IN ()", Not(In(X, ()))),
        ("strlen(?x)", Call("STRLEN", (X,))),
        ("isURI(URI(?x))", Call("ISIRI", (Call("IRI", (X,)),))),
        ("sameTerm(?x, ?y)", Call("SAMETERM", (X, Y))),
        ("now()", Call("NOW", ())),
        ("BNODE()", Call("BNODE", ())),
        ("CONCAT()", Call("CONCAT", ())),
        ("regex(?x, 'a', 'i')", Call("REGEX", (X, Literal("a"), Literal("i")))),
        (":p1(?x)", Cast(P1, (X,))),
        (":p1(DISTINCT ?x)", Cast(P1, (X,), distinct=True)),
        (":p1", P1),
        ("EXISTS { ?s :p1 ?o }", Exists(bgp(P1))),
        ("NOT EXISTS { ?s :p1 ?o }", Not(Exists(bgp(P1)))),
    ],
)
def test_an_expression_binds_as_the_grammar_says(text: str, expected: Variable) -> None:
    assert parse_expression(text, prefixes=EX) == expected


# Queries (18.2.4, 18.2.5)


def test_a_select_keeps_all_its_clauses() -> None:
    query = parse_query(
        """
        PREFIX : <http://example.org/>
        SELECT DISTINCT ?s (COUNT(DISTINCT ?o) AS ?x) (GROUP_CONCAT(?o ; SEPARATOR = ", ") AS ?y)
        FROM :p1 FROM NAMED :p2 FROM :p3
        WHERE { ?s :p1 ?o }
        GROUP BY ?s (STR(?o) AS ?key) LCASE(?s)
        HAVING (COUNT(*) > 1) (?s)
        ORDER BY DESC(?x) ?s
        OFFSET 2 LIMIT 1
        VALUES ?s { 1 }
        """
    )
    assert query == Select(
        columns=(
            Projection(S),
            Projection(X, Aggregate(AggregateFunction.COUNT, O, distinct=True)),
            Projection(Y, Aggregate(AggregateFunction.GROUP_CONCAT, O, separator=", ")),
        ),
        where=bgp(P1),
        modifiers=Modifiers(
            group=(GroupKey(S), GroupKey(Call("STR", (O,)), Variable("key")), GroupKey(Call("LCASE", (S,)))),
            having=(Compare(Comparison.GREATER, Aggregate(AggregateFunction.COUNT, None), ONE), S),
            order=(OrderKey(X, descending=True), OrderKey(S)),
            offset=2,
            limit=1,
            values=Values((S,), ((ONE,),)),
        ),
        distinct=True,
        dataset=DatasetClause((P1, P3), (P2,)),
    )


def test_the_other_forms_keep_theirs() -> None:
    template = (TriplePattern(S, P1, O),)
    assert parse_query("PREFIX : <http://example.org/> CONSTRUCT { ?s :p1 ?o } { ?s :p2 ?o } LIMIT 0") == Construct(
        template, bgp(P2), Modifiers(limit=0)
    )
    assert parse_query("PREFIX : <http://example.org/> CONSTRUCT FROM :p2 WHERE { ?s :p1 ?o }") == Construct(
        template, Bgp(template), dataset=DatasetClause((P2,))
    )
    assert parse_query("CONSTRUCT {} {}") == parse_query("CONSTRUCT WHERE {}") == Construct((), EMPTY)
    assert parse_query("ASK { ?s ?x ?o }") == Ask(Bgp((TriplePattern(S, X, O),)))
    assert parse_query("DESCRIBE *") == Describe(None, None)
    assert parse_query("DESCRIBE ?s <x:y> { ?s ?x ?o }") == Describe((S, IRI("x:y")), Bgp((TriplePattern(S, X, O),)))


def test_a_blank_node_of_a_template_may_have_the_label_of_one_in_the_pattern() -> None:
    query = parse_query("CONSTRUCT { _:a <x:p> ?x } WHERE { _:a <x:q> ?x }")
    assert isinstance(query, Construct)
    assert query.template[0].subject == BlankNode("a")


def test_a_column_named_twice_is_one_column() -> None:
    query = parse_query("SELECT ?x ?y ?x { ?x <x:p> ?y }")
    assert isinstance(query, Select)
    assert query.columns == (Projection(X), Projection(Y))


# Scope (18.2.1)


def test_variables_in_scope_come_in_the_order_of_the_text() -> None:
    found = pattern(
        """{ ?a :p1 [ :p2 ?b ] FILTER(?no) MINUS { ?no :p1 1 } OPTIONAL { GRAPH ?c { ?d :p1/:p2* ?a } }
             BIND(?no AS ?e) VALUES ?f { 1 } { SELECT (?no AS ?g) { ?no ?no ?no } } }"""
    )
    assert in_scope(found) == tuple(Variable(name) for name in "abcdefg")


def test_a_star_selects_what_is_in_scope_and_the_values_after_the_query() -> None:
    query = parse_query("SELECT * { ?x <x:p>/<x:q> ?y } VALUES (?s ?x) { (1 2) }")
    assert isinstance(query, Select)
    assert columns(query) == (X, Y, S)
