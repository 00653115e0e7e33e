"""What the parts of a SPAseQ query are read as."""

from __future__ import annotations

import pytest

from thence.algebra.expressions import Arithmetic, Operation, Variable
from thence.algebra.patterns import Bgp, Graph, Join, LeftJoin, SubSelect, TriplePattern
from thence.algebra.spaseq import (
    AggregateVariable,
    Conjunction,
    ConstructEvents,
    Disjunction,
    IterationAggregate,
    IterationFunction,
    Occurrence,
    Quantifier,
    SelectColumn,
    Selection,
    SelectRows,
    SequencePart,
    SequenceQuery,
    arms,
    locals_of,
    occurrences,
    variables_of,
)
from thence.algebra.streams import Stream, Window
from thence.lang.sparql.parser import parse_expression, parse_pattern
from thence.lang.spaseq.parser import parse
from thence.rdf.terms import IRI, BlankNode
from thence.rdf.times import Domain, Span

A, B, C, X, Y = (Variable(name) for name in "abcxy")


def query(
    sequence: str = "A", *, select: str = "SELECT *", clauses: str = "WITHIN 9 TICKS", **gpms: str
) -> SequenceQuery:
    bodies = {name: f"?{name.lower()} <x:is> ?x" for name in "ABCD" if name in sequence} | gpms
    definitions = " ".join(f"DEFINE GPM {name} ON S {{ {body} }}" for name, body in bodies.items())
    return parse(f"PREFIX : <x:> {select} {clauses} FROM STREAM S <x:s> {{ SEQ ({sequence}) {definitions} }}")


# SEQ


def test_sequence_operators_bind_loosest_then_or_then_and_then_the_unary_ones() -> None:
    a, b, c, d = (Occurrence(name, place) for place, name in enumerate("ABCD"))
    assert query("A, B; C: D").sequence == (
        SequencePart(None, a),
        SequencePart(Selection.STRICT, b),
        SequencePart(Selection.NEXT, c),
        SequencePart(Selection.ANY, d),
    )
    assert query("A | B & C; D+").sequence == (
        SequencePart(None, Disjunction(a, Conjunction(b, c))), SequencePart(Selection.NEXT, d, Quantifier.PLUS),
    )  # fmt: skip
    assert query("(A | B) & C").sequence == (SequencePart(None, Conjunction(Disjunction(a, b), c)),)
    assert query("A | B | C").sequence == (SequencePart(None, Disjunction(Disjunction(a, b), c)),)


def test_unary_operators_are_about_a_gpm_or_a_group_in_parentheses() -> None:
    a, b, c = (Occurrence(name, place) for place, name in enumerate("ABC"))
    assert query("(A & B)+; C?").sequence == (
        SequencePart(None, Conjunction(a, b), Quantifier.PLUS), SequencePart(Selection.NEXT, c, Quantifier.OPTIONAL),
    )  # fmt: skip
    assert query("A; ((B))!").sequence[1] == SequencePart(Selection.NEXT, b, Quantifier.NOT)


@pytest.mark.parametrize("written", ["A:B", "A : B", "A\n:\nB # comment\n", "(A):(B)"])
def test_blanks_do_not_matter(written: str) -> None:
    assert query(written).sequence == query("A: B").sequence


@pytest.mark.parametrize(
    "name", ["A", "a", "SELECT", "Filter", "on", "GPM", "SEQ", "count", "P1", "PT5M", "Straße", "_x"]
)
def test_a_name_is_any_word(name: str) -> None:
    text = (
        f"SELECT (COUNT({name}) AS ?n) FROM STREAM {name} <x:s> {{ SEQ ({name}+) DEFINE GPM {name} ON {name} {{ }} }}"
    )
    read = parse(text)
    assert read.sequence == (SequencePart(None, Occurrence(name, 0), Quantifier.PLUS),)
    assert (read.gpms[0].name, read.gpms[0].stream, read.streams[0].name) == (name, name, name)


def test_a_gpm_may_stand_in_several_places() -> None:
    assert [part.operand for part in query("A; A").sequence] == [Occurrence("A", 0), Occurrence("A", 1)]


# Clauses


@pytest.mark.parametrize(
    ("written", "window"),
    [
        ("WITHIN 10 MINUTES", Window(Span(600_000_000, Domain.DATETIME))),
        ("within 1 minute", Window(Span(60_000_000, Domain.DATETIME))),
        ("WITHIN 1.5 HOURS", Window(Span(5_400_000_000, Domain.DATETIME))),
        ("WITHIN 10s", Window(Span(10_000_000, Domain.DATETIME))),
        ("WITHIN 2 DAYS", Window(Span(172_800_000_000, Domain.DATETIME))),
        ("WITHIN 30 SECONDS", Window(Span(30_000_000, Domain.DATETIME))),
        ("WITHIN PT10M", Window(Span(600_000_000, Domain.DATETIME))),
        ('WITHIN "PT10M"', Window(Span(600_000_000, Domain.DATETIME))),
        ('WITHIN "10 MINUTES"', Window(Span(600_000_000, Domain.DATETIME))),
        ('WITHIN "PT0.25S"^^<http://www.w3.org/2001/XMLSchema#duration>', Window(Span(250_000, Domain.DATETIME))),
        (
            "WITHIN 'P1D'^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>",
            Window(Span(86_400_000_000, Domain.DATETIME)),
        ),
        ("WITHIN 50 TICKS", Window(Span(50, Domain.TICKS))),
        ("WITHIN 1 TICK", Window(Span(1, Domain.TICKS))),
        ("WITHIN 50", Window(Span(50, Domain.TICKS))),
        ("WITHIN 50 TUMBLING", Window(Span(50, Domain.TICKS), tumbling=True)),
        ("WITHIN 50 TICKS TUMBLING FROM 20", Window(Span(50, Domain.TICKS), tumbling=True, origin=20)),
        ("WITHIN 50 TICKS TUMBLING FROM -20", Window(Span(50, Domain.TICKS), tumbling=True, origin=-20)),
        (
            "WITHIN 1 DAY TUMBLING FROM 1970-01-02T00:00:00Z",
            Window(Span(86_400_000_000, Domain.DATETIME), tumbling=True, origin=86_400_000_000),
        ),
        (
            'WITHIN 1 DAY TUMBLING FROM "1970-01-01T01:00:00.5+01:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
            Window(Span(86_400_000_000, Domain.DATETIME), tumbling=True, origin=500_000),
        ),
        ("", None),
    ],
)
def test_a_window_is_a_length_of_time_or_of_ticks(written: str, window: Window | None) -> None:
    assert query(clauses=written).window == window


def test_clauses_may_come_in_any_order_and_where_is_optional() -> None:
    clauses = ["WITHIN 9 TICKS TUMBLING FROM 1", "PARTITION BY (?a)", "FROM STREAM S <x:s>", "FROM STREAM T :t"]
    orders = [clauses, clauses[::-1], [*clauses[2:], *clauses[:2]]]
    body = "SEQ (A) DEFINE GPM A ON S { ?a <x:p> 1 }"
    read = [parse(f"PREFIX : <x:> SELECT * {' '.join(order)} {{ {body} }}") for order in orders]
    read.append(parse(f"PREFIX : <x:> SELECT * {' '.join(clauses)} WHERE {{ {body} }}"))
    assert {each.window for each in read} == {Window(Span(9, Domain.TICKS), tumbling=True, origin=1)}
    assert {each.partition for each in read} == {(A,)}
    assert {frozenset(each.streams) for each in read} == {frozenset({Stream("S", IRI("x:s")), Stream("T", IRI("x:t"))})}
    assert read[0] == read[-1]


def test_several_variables_may_partition_with_or_without_parentheses() -> None:
    assert query(clauses="PARTITION BY (?a ?x)").partition == (A, X)
    assert query(clauses="PARTITION BY ?a ?x").partition == (A, X)


def test_the_empty_prefix_is_the_namespace_where_the_text_declares_none() -> None:
    body = "SELECT * FROM STREAM S :s { SEQ (A) DEFINE GPM A ON S { ?a :p 1 } }"
    assert parse(body, namespace="urn:n:").streams == (Stream("S", IRI("urn:n:s")),)
    assert parse(f"PREFIX : <urn:m:> {body}", namespace="urn:n:").streams == (Stream("S", IRI("urn:m:s")),)
    assert (
        parse(body.replace(":s", "<s>"), namespace="x:", base="http://a.org/b").streams[0].iri.value == "http://a.org/s"
    )


# GPMs


def test_graph_blocks_and_filters_at_the_top_level_stand_apart() -> None:
    (gpm,) = query(A="?a :p ?x . FILTER(?x > 1). GRAPH :g { ?a :q ?y } . ?a :r ?b FILTER(?y != ?x)").gpms
    assert gpm.pattern == parse_pattern("{ ?a <x:p> ?x . ?a <x:r> ?b }")
    assert gpm.graphs == (Graph(IRI("x:g"), parse_pattern("{ ?a <x:q> ?y }")),)
    assert gpm.filters == (parse_expression("?x > 1"), parse_expression("?y != ?x"))
    assert variables_of(gpm) == (A, X, B, Y)


def test_graph_blocks_and_filters_further_inside_stay_there() -> None:
    body = "?a :p ?x OPTIONAL { GRAPH :g { ?a :q ?y } FILTER(?y > 1) } { ?a :r ?b FILTER(?b > 2) }"
    (gpm,) = query(A=body).gpms
    assert gpm.pattern == parse_pattern(f"PREFIX : <x:> {{ {body} }}")
    assert gpm.graphs == gpm.filters == ()


def test_graph_blocks_alone_in_a_group_are_the_gpms_own() -> None:
    (gpm,) = query(A="?a :p ?x { GRAPH :g { ?a :q ?y } ?a :s ?b GRAPH ?c { } }").gpms
    assert [graph.name for graph in gpm.graphs] == [IRI("x:g"), C]
    assert isinstance(gpm.pattern, Join)
    assert variables_of(gpm) == (A, X, B, Y, C)


def test_an_optional_part_after_a_graph_block_sees_the_event_alone() -> None:
    (gpm,) = query(A="GRAPH :g { ?a :q ?y } OPTIONAL { ?a :p ?y }").gpms
    assert gpm.pattern == LeftJoin(Bgp(()), Bgp((TriplePattern(A, IRI("x:p"), Y),)))
    assert len(gpm.graphs) == 1


def test_a_gpm_may_be_empty_or_a_sub_select() -> None:
    empty, select = query("A; B", A="", B="SELECT ?a { ?a :p ?x } LIMIT 1").gpms
    assert empty.pattern == Bgp(())
    assert isinstance(select.pattern, SubSelect)
    assert variables_of(select) == (A,)


# SELECT and CONSTRUCT


def columns(select: str, sequence: str = "A, B+", **gpms: str) -> tuple[SelectColumn, ...]:
    form = query(sequence, select=select, **(gpms or {"B": "?b :v ?y"})).form
    assert isinstance(form, SelectRows)
    return form.columns


def test_a_star_is_all_variables_that_are_not_negated_in_the_order_of_the_text() -> None:
    found = columns("SELECT *", "B; C!; A", A="GRAPH :g { ?y :q ?a } ?a :p ?x", C="?c :p ?n", B="?b :r ?a")
    assert found == tuple(map(SelectColumn, (Y, A, X, B)))


def test_a_column_that_stands_twice_is_one() -> None:
    assert columns("SELECT ?a ?x ?a") == (SelectColumn(A), SelectColumn(X))


def test_distinct_is_read() -> None:
    assert query(select="SELECT DISTINCT ?a").form == SelectRows((SelectColumn(A),), distinct=True)


def test_an_expression_may_name_the_columns_to_its_left() -> None:
    _, second = columns("SELECT (?x + 1 AS ?n) (?n * 2 AS ?m)")
    assert second == SelectColumn(Variable("m"), parse_expression("?n * 2"))


def test_aggregates_stand_apart_each_under_one_name() -> None:
    count, both, again = columns("SELECT (COUNT(B) AS ?n) (SUM(?y) / COUNT(B) AS ?m) (SUM(?y) AS ?s)")
    one, two = AggregateVariable("0"), AggregateVariable("1")
    counted = IterationAggregate(IterationFunction.COUNT, "B")
    summed = IterationAggregate(IterationFunction.SUM, Y)
    assert count == SelectColumn(Variable("n"), one, ((one, counted),))
    assert both == SelectColumn(Variable("m"), Arithmetic(Operation.DIVIDE, two, one), ((two, summed), (one, counted)))
    assert again == SelectColumn(Variable("s"), two, ((two, summed),))


@pytest.mark.parametrize(
    ("written", "aggregate"),
    [
        ("AVG(?y)", IterationAggregate(IterationFunction.AVG, Y)),
        ("min(DISTINCT ?y)", IterationAggregate(IterationFunction.MIN, Y, distinct=True)),
        ("First(?y)", IterationAggregate(IterationFunction.FIRST, Y)),
        ("LAST(?y)", IterationAggregate(IterationFunction.LAST, Y)),
        ("COLLECT(?y)", IterationAggregate(IterationFunction.COLLECT, Y)),
        ("COLLECT(DISTINCT ?y)", IterationAggregate(IterationFunction.COLLECT, Y, distinct=True)),
        ("COUNT(?y)", IterationAggregate(IterationFunction.COUNT, Y)),
        ("SAMPLE(?y)", IterationAggregate(IterationFunction.SAMPLE, Y)),
        ("GROUP_CONCAT(?y; SEPARATOR=', ')", IterationAggregate(IterationFunction.GROUP_CONCAT, Y, separator=", ")),
    ],
)
def test_every_aggregate_is_read(written: str, aggregate: IterationAggregate) -> None:
    (column,) = columns(f"SELECT ({written} AS ?n)")
    assert column.aggregates == ((AggregateVariable("0"), aggregate),)


def test_construct_has_a_template() -> None:
    form = query(select="CONSTRUCT { ?a :alert [ :level ?x ] }").form
    node = BlankNode("b0")
    assert form == ConstructEvents((TriplePattern(A, IRI("x:alert"), node), TriplePattern(node, IRI("x:level"), X)))


# Arms and locals


def test_a_dropped_part_takes_the_operator_to_its_left_or_if_first_to_its_right() -> None:
    found = [[(part.selection, part.operand) for part in arm] for arm in arms(query("A?, B; C?"))]
    a, b, c = (Occurrence(name, place) for place, name in enumerate("ABC"))
    assert found == [
        [(None, a), (Selection.STRICT, b), (Selection.NEXT, c)],
        [(None, a), (Selection.STRICT, b)],
        [(None, b), (Selection.NEXT, c)],
        [(None, b)],
    ]


def test_an_arm_without_parts_is_none() -> None:
    assert [len(arm) for arm in arms(query("A?; B?"))] == [2, 1, 1]


def test_arms_have_no_optional_parts() -> None:
    assert {part.quantifier for arm in arms(query("A+; B?; C!; D")) for part in arm} == {
        Quantifier.ONE, Quantifier.PLUS, Quantifier.NOT,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sequence", "clauses", "expected"),
    [
        ("A, B+", "", {B, Y}),
        ("A, B+, B", "", set()),  # each occurrence counts
        ("B+; C!", "WITHIN 9", {B, X}),  # a negated one too: ?y is C's
        ("B+, C?", "", {B, X}),  # as written
        ("(B & C)+, A", "", {B, Y, C}),
        ("B+", "PARTITION BY (?b)", {X, Y}),
        ("B, A", "", set()),
    ],
)
def test_a_local_stands_in_no_gpm_outside_its_closure(sequence: str, clauses: str, expected: set[Variable]) -> None:
    read = query(sequence, clauses=clauses, B="?b :p ?x ; :q ?y", C="?c :r ?y")
    place = next(found.place for part in read.sequence for found in occurrences(part.operand) if found.gpm == "B")
    assert locals_of(read, place) == expected
