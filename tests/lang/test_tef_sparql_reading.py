"""What a TEF-SPARQL file is read as: the paper's listings, the rules about text (TEF-53 to TEF-70), hostile input."""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tef_sparql_listings import (
    AVERAGE,
    BACH,
    BINDS,
    CACHE,
    MAXIMUM,
    READ,
    SCHEDULE,
    SHOP,
    TEN_DAY,
    TEN_DAY_SECOND,
    VIEWERS,
    VOLATILE,
    WEIGHTED,
    WEIGHTED_MENDED,
)
from thence.algebra.expressions import (
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Comparison,
    Expression,
    If,
    Negate,
    Not,
    Operation,
    Variable,
)
from thence.algebra.patterns import TriplePattern
from thence.algebra.show import show
from thence.algebra.streams import Stream
from thence.algebra.tef_sparql import (
    UNNAMED,
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    HeadTriple,
    Kind,
    OncePer,
    OnEnd,
    OnInit,
    OnStart,
    Open,
    Plain,
    Related,
    Replace,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
    TemporalRelation,
    Test,
    Times,
    Until,
    bound,
    is_fresh,
)
from thence.algebra.traversal import DEPTH
from thence.errors import QueryError
from thence.lang.tef_sparql.parser import SYNTAX, WARNINGS, parse
from thence.lang.text import text as read_text
from thence.query.languages import recognised
from thence.rdf.terms import IRI, RDF, XSD, Literal
from thence.rdf.times import Domain, Instant, Span

Test.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's

SEQ, BEFORE, DURING, WITH = TemporalRelation
NAMESPACE = "http://example.org/"
X, Y, N, S, E = map(Variable, "xynse")


def name(local: str) -> IRI:
    return IRI(NAMESPACE + local)


def integer(value: int) -> Literal:
    return Literal(str(value), XSD + "integer")


def arms(text: str, **options: str) -> tuple[Arm, ...]:
    """The arms of `CONSTRUCT FACT ?x h ?y WHERE text`."""
    (statement,) = parse(f"CONSTRUCT FACT ?x h ?y WHERE {text}", **options).statements
    return statement.arms


def where(text: str, **options: str) -> TefPattern:
    (arm,) = arms(text, **options)
    assert isinstance(arm, Plain)
    return arm.pattern


def expression(text: str, **options: str) -> Expression:
    """The expression of `?n = text`."""
    found = where(f"?x p ?y[?s, ?e], ?n = {text}", **options)
    assert isinstance(found, Assignment)
    return found.expression


def triple(letter: str) -> TriplePattern:
    """`?x a ?y` for "a"."""
    return TriplePattern(X, name(letter), Y)


A, B, C, D = (triple(f"p{letter}") for letter in "abcd")
TA, TB, TC, TD = (f"?x p{letter} ?y" for letter in "abcd")
ABOVE = Compare(Comparison.GREATER, X, integer(1))
ZERO = integer(0)


# The listings


@pytest.mark.parametrize("listing", READ)
def test_the_listings_of_the_paper_are_read_and_shown(listing: str) -> None:
    file = parse(READ[listing])
    assert same(parse(show(file)), file)


@pytest.mark.parametrize("listing", [*READ.values(), CACHE, TEN_DAY_SECOND, WEIGHTED])
def test_the_listings_of_the_paper_are_recognised(listing: str) -> None:
    known = listing not in (BINDS, SCHEDULE)  # nothing in these two is TEF-SPARQL's alone
    assert recognised(listing).name == ("tef-sparql" if known else "ep-sparql")


def test_section_3_2_bach() -> None:
    file = parse(BACH)
    person, place, old = map(Variable, ("Person", "Place", "OldPlace"))
    lives = TriplePattern(person, name("liveIn"), place)
    different = Compare(Comparison.NOT_EQUAL, place, name("OldPlace"))
    assert file.statements == (
        ConstructStatement(
            None,
            (HeadTriple(person, name("liveIn"), place),),
            (
                Since(TriplePattern(person, name("bornIn"), place)),
                Replace(
                    TriplePattern(person, name("liveIn"), old),
                    Test(TriplePattern(person, name("relocatedTo"), place), different),
                ),
                Until(Related(DURING, TriplePattern(person, name("diedIn"), Variable("SomeWhere")), lives)),
            ),
        ),
    )
    assert file.warnings == (
        'query:7:15: "OldPlace" is a constant here, and ?OldPlace is a variable of the statement. Try: ?OldPlace',
    )


def test_section_3_2_the_shop() -> None:
    (statement,) = parse(SHOP).statements
    assert isinstance(statement, ConstructStatement)
    assert [str(each.predicate).strip("<>") for each in statement.head] == [
        NAMESPACE + "buys",
        NAMESPACE + "accountCharge",
    ]
    (arm,) = statement.arms
    assert isinstance(arm, Plain) and isinstance(arm.pattern, Related)
    assert arm.pattern.left == TriplePattern(Variable("Person"), name("presses"), Literal("BuyButton"))
    assert isinstance(arm.pattern.right, Conjunction) and isinstance(arm.pattern.right.left, Conjunction)


def test_section_4_3_a_bind_of_a_bound_variable_tests() -> None:
    file = parse(BINDS)
    assert all(isinstance(arm, Plain) and isinstance(arm.pattern, Test) for arm in file.statements[0].arms)
    assert len(file.statements[0].arms) == len(file.warnings) == 2
    assert "so this BIND tests whether the two are equal. Try: a new name" in file.warnings[0]


def test_section_5_1_the_cache_is_read_by_the_grammar_and_refused() -> None:
    SYNTAX.parse(read_text(CACHE, "query"), "tef_file", nesting=200)
    with pytest.raises(QueryError) as raised:
        parse(CACHE)
    assert str(raised.value) == (
        "query:3:11: SINCE is not allowed beside DURING: it is an arm of CONSTRUCT FACT. Try: SINCE ( … DURING … )"
    )


def test_section_5_1_an_hour_before_the_start() -> None:
    (arm,) = parse(SCHEDULE).statements[0].arms
    assert isinstance(arm, Plain) and isinstance(arm.pattern, Test)
    an_hour_before = Arithmetic(Operation.SUBTRACT, Variable("DateTime"), Literal("PT1H"))
    assert arm.pattern.condition == Compare(Comparison.GREATER, Call("NOW", ()), an_hour_before)


def test_section_5_2_ten_day_average() -> None:
    file = parse(TEN_DAY)
    (statement,) = file.statements
    assert isinstance(statement, ConstructStatement)
    assert statement.head[3].object == Arithmetic(Operation.DIVIDE, Variable("NSum"), Variable("NCount"))
    (arm,) = statement.arms
    assert isinstance(arm, Replace)
    assert isinstance(arm.events, Assignment) and arm.events.variable == Variable("NCount")
    assert isinstance(arm.events.pattern, Assignment) and isinstance(arm.events.pattern.pattern, Absent)
    assert file.time_kind == (Domain.DATETIME, "duration() beside P10D")
    assert [warning.partition(": ")[2].partition(" is")[0] for warning in file.warnings] == ['"Sum"', '"Count"']


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("now() > 10", (Domain.TICKS, "now() beside 10")),
        ("?s + 10 < now()", (Domain.TICKS, "now() beside 10")),
        ("now() > ?s + 10d", (Domain.DATETIME, "now() beside P10D")),
        ('now() > ?s - "PT1H"', (Domain.DATETIME, "now() beside PT1H")),
        (
            'now() > "2024-05-06T07:00:00Z"^^xsd:dateTime',
            (Domain.DATETIME, "now() beside 2024-05-06T07:00:00Z"),
        ),
        ("now() > ?s", None),
    ],
)
def test_a_comparison_with_now_fixes_the_kind_of_time(condition: str, kind: tuple[Domain, str] | None) -> None:
    """C-32, TEF-63"""
    file = parse(f"CONSTRUCT FACT ?x m 1 FROM STREAM S <x:s> WHERE (?x n 1)[?s, ?e], {condition}")
    assert file.time_kind == kind


@pytest.mark.parametrize("listing", [TEN_DAY_SECOND, WEIGHTED])
def test_section_5_2_misprints_are_refused(listing: str) -> None:
    with pytest.raises(QueryError, match=r"is never closed|hold a start and an end"):
        parse(listing)


def test_section_5_2_viewers() -> None:
    channel, first, second = map(Variable, ("Channel", "N1", "N2"))
    count = Variable("N")
    viewers = [TriplePattern(channel, name("currentNoOfViewers"), each) for each in (first, second)]
    assert parse(VIEWERS).statements[0].arms == (
        Replace(
            viewers[0],
            TriplePattern(Variable("_ 1"), name("joins"), channel),
            ((count, Arithmetic(Operation.ADD, first, integer(1))),),
        ),
        Replace(
            viewers[1],
            TriplePattern(Variable("_ 2"), name("leaves"), channel),
            ((count, Arithmetic(Operation.SUBTRACT, second, integer(1))),),
        ),
        OnInit(Assignment(TriplePattern(channel, IRI(RDF + "type"), name("TV-Channel")), count, ZERO)),
    )


def test_section_5_2_maximum_and_average() -> None:
    (maximum,), (average,) = (parse(text).statements[0].arms for text in (MAXIMUM, AVERAGE))
    assert isinstance(maximum, Plain) and isinstance(maximum.pattern, Absent)
    assert isinstance(maximum.pattern.left, Related) and maximum.pattern.left.relation is WITH
    assert isinstance(maximum.pattern.right, Test) and isinstance(maximum.pattern.right.pattern, Related)
    assert isinstance(maximum.pattern.right.pattern.left, OnStart)
    assert isinstance(average, Plain) and isinstance(average.pattern, Assignment)
    assert isinstance(average.pattern.pattern, Times) and isinstance(average.pattern.pattern.pattern, Conjunction)


def test_section_5_2_weighted_sum() -> None:
    (changed, started) = parse(WEIGHTED_MENDED).statements[0].arms
    assert isinstance(changed, Replace) and isinstance(changed.events, Assignment)
    assert isinstance(changed.events.pattern, OnEnd) and isinstance(changed.events.pattern.facts, Times)
    assert isinstance(started, Since) and isinstance(started.events, Assignment)


def test_section_5_3_once_per() -> None:
    (statement,) = parse(VOLATILE).statements
    assert statement.once_per == OncePer((Variable("company"),), (Call("DAY", (Call("NOW", ()),)),))
    assert isinstance(statement, ConstructStatement) and statement.head[0].predicate == IRI(
        "http://www.w3.org/2002/07/owl#ISA"
    )


# Terms


def test_bare_names_are_of_the_namespace_of_the_colon() -> None:
    for text in ("?x p ?y", "?x :p ?y"):
        assert where(text) == TriplePattern(X, IRI("http://example.org/p"), Y)
        assert where(text, namespace="urn:n#") == TriplePattern(X, IRI("urn:n#p"), Y)
        assert where(text, base="urn:b#") == TriplePattern(X, IRI("urn:b#p"), Y)
    file = parse("PREFIX : <urn:p#> BASE <urn:b#> SELECT ?x WHERE ?x p :q")
    assert file.namespace == "urn:p#"
    assert file.statements[0].arms == (Plain(TriplePattern(X, IRI("urn:p#p"), IRI("urn:p#q"))),)
    assert parse("BASE <urn:b#> SELECT ?x WHERE ?x p ?y").namespace == "urn:b#"


@pytest.mark.parametrize("prefix", ["rdf:type", "rdfs:label", "xsd:integer", "fn:abs", "owl:sameAs"])
def test_five_prefixes_are_predefined(prefix: str) -> None:
    found = where(f"?x {prefix} ?y")
    assert isinstance(found, TriplePattern) and "w3.org" in str(found.predicate)
    redefined = parse(f"PREFIX {prefix.partition(':')[0]}: <urn:own#> SELECT ?x WHERE ?x {prefix} ?y")
    assert "urn:own#" in repr(redefined.statements)


def test_a_name_may_have_hyphens_and_a_variable_has_none() -> None:
    assert where("TV-Channel on-air from-a-place") == TriplePattern(
        name("TV-Channel"), name("on-air"), name("from-a-place")
    )
    assert expression("?x-1") == Arithmetic(Operation.SUBTRACT, X, integer(1))
    assert expression("Count -1") == Arithmetic(Operation.SUBTRACT, name("Count"), integer(1))


@pytest.mark.parametrize(
    "word", ["fact", "event", "static", "sum", "count", "type", "init", "per", "stream", "inf", "d"]
)
def test_words_of_other_places_are_names(word: str) -> None:
    assert where(f"?x {word} {word}") == TriplePattern(X, name(word), name(word))


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("5", integer(5)),
        ("-5", integer(-5)),
        ("- 5", integer(-5)),
        ("2.50", Literal("2.50", XSD + "decimal")),
        ("1e3", Literal("1e3", XSD + "double")),
        ("true", Literal("true", XSD + "boolean")),
        ('"a"@en', Literal("a", language="en")),
        ('"1"^^xsd:byte', Literal("1", XSD + "byte")),
        ("10d", Literal("P10D", XSD + "dayTimeDuration")),
    ],
)
def test_objects(text: str, term: Literal) -> None:
    assert where(f"?x p {text}") == TriplePattern(X, name("p"), term)
    assert expression(text) == term


def test_keywords_are_read_in_any_case() -> None:
    assert arms("since ?x pa ?y Union Till ?x pb ?y") == (Since(A), Until(B))
    assert where("?x pa ?y happensWhile ?x pb ?y") == Related(DURING, A, B)


def test_comments_and_white_space() -> None:
    assert where("# a comment\n?x pa ?y # another\n") == A
    assert where("?x <http://example.org/x#y> ?y") == TriplePattern(X, name("x#y"), Y)


# Statements


def test_clauses_stand_between_head_and_where_in_any_order() -> None:
    once, within, stream = "ONCE PER ?x ?y, day(?y)", "WITHIN 10 MINUTES", "FROM STREAM s <x:s>"
    files = [
        parse(f"CONSTRUCT ?x h ?y {clauses} WHERE {TA}")
        for clauses in (f"{once} {within} {stream}", f"{stream} {within} {once}")
    ]
    assert files[0] == files[1]
    (statement,) = files[0].statements
    assert statement.once_per == OncePer((X, Y), (Call("DAY", (Y,)),))
    assert statement.within == Span(600_000_000, Domain.DATETIME)
    assert files[0].streams == (Stream("s", IRI("x:s")),)
    assert files[0].time_kind == (Domain.DATETIME, "WITHIN 10 MINUTES")


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("50 TICKS", Span(50, Domain.TICKS)),
        ("50", Span(50, Domain.TICKS)),
        ("0", Span(0, Domain.TICKS)),  # all at one instant: the edge is included (TEF-76)
        ("10s", Span(10_000_000, Domain.DATETIME)),
        ("1.5 hours", Span(5_400_000_000, Domain.DATETIME)),
        ("PT1H", Span(3_600_000_000, Domain.DATETIME)),
        ('"PT1H"', Span(3_600_000_000, Domain.DATETIME)),
        ('"P1D"^^xsd:duration', Span(86_400_000_000, Domain.DATETIME)),
    ],
)
def test_within(text: str, span: Span) -> None:
    assert parse(f"SELECT ?x WITHIN {text} WHERE {TA}").statements[0].within == span


def test_streams_hold_for_the_whole_file() -> None:
    assert parse(f"SELECT ?x WHERE {TA}").streams == (Stream(UNNAMED, name(UNNAMED)),)
    file = parse(
        f"SELECT ?x FROM STREAM <x:a#S> WHERE {TA} SELECT ?x FROM STREAM b <x:b> FROM STREAM <x:a#S> WHERE {TB}"
    )
    assert file.streams == (Stream("S", IRI("x:a#S")), Stream("b", IRI("x:b")))
    shared = parse(f"SELECT ?x FROM STREAM <x:a#S> FROM STREAM <x:b#S> WHERE {TA}")
    assert [each.name for each in shared.streams] == ["x:a#S", "x:b#S"]


def test_select_takes_commas_or_none() -> None:
    for columns in ("?x, ?y", "?x ?y", "?x , ?y"):
        (statement,) = parse(f"SELECT DISTINCT {columns} WHERE {{ {TA} }}").statements
        assert statement == SelectStatement((X, Y), (Plain(A),), distinct=True)


@pytest.mark.parametrize("head", ["?x h ?y, ?y h 1", "(?x h ?y. ?y h 1)", "{ ?x h ?y . ?y h 1 . }"])
def test_heads(head: str) -> None:
    (statement,) = parse(f"CONSTRUCT EVENT {head} WHERE {TA}").statements
    assert statement == ConstructStatement(
        Kind.EVENT, (HeadTriple(X, name("h"), Y), HeadTriple(Y, name("h"), integer(1))), (Plain(A),)
    )


def test_declare() -> None:
    file = parse(f"DECLARE FACT p q DECLARE static r:s DECLARE EVENT a SELECT ?x WHERE {TA}".replace("r:s", "<r:s>"))
    assert file.declared == (
        (name("p"), Kind.FACT),
        (name("q"), Kind.FACT),
        (IRI("r:s"), Kind.STATIC),
        (IRI(RDF + "type"), Kind.EVENT),
    )


def test_several_statements_follow_one_another() -> None:
    file = parse(
        f"PREFIX p: <urn:p#> SELECT ?x WHERE {TA}. PREFIX p: <urn:q#> CONSTRUCT ?x h ?y WHERE {TB} SELECT ?y WHERE {TC}"
    )
    assert [type(each) for each in file.statements] == [SelectStatement, ConstructStatement, SelectStatement]
    assert [each.variables for each in file.selects] == [(X,), (Y,)]


# Times


def test_tef_53_brackets_bind_the_times_of_what_stands_just_before() -> None:
    assert where(f"{TA}, {TB}[?s, ?e]") == Conjunction(A, Times(B, S, E))
    assert where(f"({TA}, {TB})[?s, ?e]") == Times(Conjunction(A, B), S, E)
    assert where(f"{TA} SEQ {TB}[?s, ?e]") == Related(SEQ, A, Times(B, S, E))
    assert where(f"ONEND {TA}[?s, ?e]") == OnEnd(Times(A, S, E))
    assert where(f"(ONEND {TA})[?s, ?e]") == Times(OnEnd(A), S, E)


def test_tef_54_constants_and_an_open_end() -> None:
    three = Instant(3, Domain.TICKS)
    assert where(f"{TA}[3, ∞]") == where(f"{TA}[3, INF]") == Times(A, three, Open.INFINITY)
    assert where(f"{TA}[-3, ?e]") == Times(A, Instant(-3, Domain.TICKS), E)
    date = Instant(1_000_000, Domain.DATETIME)
    assert where(f'{TA}[?s, "1970-01-01T00:00:01Z"]') == Times(A, S, date)
    assert where(f'{TA}[?s, "1970-01-01T00:00:01Z"^^xsd:dateTime]') == Times(A, S, date)
    assert parse(f"SELECT ?x WHERE {TA}[3, ?e]").time_kind == (Domain.TICKS, "[3, …]")


def test_tef_56_each_underscore_is_a_variable_of_its_own() -> None:
    file = parse("SELECT ?x WHERE ?x p ?_, ?_ q $_[?_, ?y] SELECT ?x WHERE ?x p ?_")
    names = [variable for variable in _variables(file.statements[0]) if is_fresh(variable)]
    assert len(names) == len(set(names)) == 4
    assert _variables(file.statements[1]) == {X, names[0]} or len(_variables(file.statements[1])) == 2


def _variables(node: Any) -> set[Variable]:
    from thence.algebra.traversal import nodes

    return {each for each in nodes(node) if isinstance(each, Variable)}


# Expressions that bind or test


def test_tef_57_an_equation_binds_a_new_variable_and_tests_one_in_scope() -> None:
    one = integer(1)
    assert where(f"{TA}, ?n = 1") == Assignment(A, N, one)
    assert where(f"{TA}, ?y = 1") == Test(A, Compare(Comparison.EQUAL, Y, one))
    assert where(f"{TA}, ?n = 1, ?n = ?y") == Test(Assignment(A, N, one), Compare(Comparison.EQUAL, N, Y))
    assert where(f"{TA}[?s, ?e], ?s = 1") == Test(Times(A, S, E), Compare(Comparison.EQUAL, S, one))
    assert where(f"{TA}, 1 = ?n") == Test(A, Compare(Comparison.EQUAL, one, N))


def test_tef_57_what_stands_inside_without_is_not_in_scope() -> None:
    inner = TriplePattern(X, name("q"), N)
    assert where(f"{TA} WITHOUT (?x q ?n), ?n = 1") == Assignment(Absent(A, inner), N, integer(1))
    assert where(f"{TA} DURING (?x q ?n), ?n = 1") == Test(
        Related(DURING, A, inner), Compare(Comparison.EQUAL, N, integer(1))
    )


def test_tef_57_only_variables_common_to_both_sides_of_union_are_in_scope_after_it() -> None:
    both = Either(TriplePattern(X, name("p"), N), TriplePattern(X, name("q"), Y))
    assert where("(?x p ?n UNION ?x q ?y), ?n = 1") == Assignment(both, N, integer(1))
    assert arms("?x p ?n, ?y = 1 UNION ?x q ?y, ?n = 1") == (
        Plain(Assignment(both.left, Y, integer(1))),
        Plain(Assignment(both.right, N, integer(1))),
    )


def test_tef_58_an_expression_sees_what_is_bound_to_its_left() -> None:
    equal = Compare(Comparison.EQUAL, N, integer(1))
    left = TriplePattern(X, name("p"), N)
    assert where(f"?x p ?n SEQ ({TA}, ?n = 1)") == Related(SEQ, left, Test(A, equal))
    assert where(f"({TA}, ?n = 1) SEQ ?x p ?n") == Related(SEQ, Assignment(A, N, integer(1)), left)
    assert where(f"?x p ?n WITHOUT ({TA}, ?n = 1)") == Absent(left, Test(A, equal))


def test_tef_58_inside_on_the_variables_of_replaced_facts_are_seen() -> None:
    old = TriplePattern(X, name("p"), N)
    assert arms(f"REPLACE ?x p ?n ON {TA}, ?n = 1") == (
        Replace(old, Test(A, Compare(Comparison.EQUAL, N, integer(1)))),
    )
    assert not parse(f"CONSTRUCT ?x h ?y WHERE REPLACE ?x p ?n ON {TA}, ?y != ?n").warnings


def test_an_expression_that_names_what_nothing_binds_is_warned_of() -> None:
    file = parse(f"SELECT ?x WHERE {TA}, ?m > 1, ?n = ?n + 1")
    assert file.warnings == (
        "query:1:27: ?m is not bound to the left of this expression: there it has no value.",
        "query:1:35: ?n is not bound to the left of this expression: there it has no value.",
    )


def test_bind_and_filter_are_commas() -> None:
    assert where(f"{TA} BIND ?n = 1") == where(f"{TA} BIND (1 AS ?n)") == where(f"{TA}, ?n = 1")
    assert where(f"{TA} BIND (?n = 1)") == where(f"{TA}, ?n = 1")
    assert where(f"{TA} FILTER (?x > 1)") == where(f"{TA}, ?x > 1") == where(f"{TA}. FILTER (?x > 1)") == Test(A, ABOVE)
    assert where(f"{TA}, FILTER (?x > 1), {TB}") == Conjunction(Test(A, ABOVE), B)
    assert where(f"{TA} FILTER (?x)") == Test(A, X)


@pytest.mark.parametrize(
    ("sign", "comparison"),
    [
        *(("=", Comparison.EQUAL), ("!=", Comparison.NOT_EQUAL), ("≠", Comparison.NOT_EQUAL)),
        *(("<", Comparison.LESS), ("<=", Comparison.LESS_OR_EQUAL), ("≤", Comparison.LESS_OR_EQUAL)),
        *((">", Comparison.GREATER), (">=", Comparison.GREATER_OR_EQUAL), ("≥", Comparison.GREATER_OR_EQUAL)),
    ],
)
def test_comparisons(sign: str, comparison: Comparison) -> None:
    assert where(f"{TA}, ?x {sign} 1") == Test(A, Compare(comparison, X, integer(1)))


def test_numbers_have_no_sign_of_their_own_after_an_operand() -> None:
    added = Arithmetic(Operation.ADD, X, integer(1))
    assert expression("?x+1") == expression("?x +1") == expression("?x + 1") == added
    assert expression("?x - -1") == Arithmetic(Operation.SUBTRACT, X, integer(-1))
    assert expression("-(1)") == Negate(integer(1))
    assert expression("!?x") == Not(X)
    assert expression("2*?x+1") == Arithmetic(Operation.ADD, Arithmetic(Operation.MULTIPLY, integer(2), X), integer(1))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("now()", Call("NOW", ())),
        ("duration(?s, ?e)", Call("DURATION", (S, E))),
        ("STRLEN(?x)", Call("STRLEN", (X,))),
        ("strLen(?x)", Call("STRLEN", (X,))),
        ("uri(?x)", Call("IRI", (X,))),
        ("if(?x, 1, 0)", If(X, integer(1), ZERO)),
        ("bound(?x)", Bound(X)),
        ("coalesce(?x, 0)", Coalesce((X, ZERO))),
        ("concat()", Call("CONCAT", ())),
        ("substr(?x, 1, 2)", Call("SUBSTR", (X, integer(1), integer(2)))),
        ("xsd:integer(?x)", Cast(IRI(XSD + "integer"), (X,))),
        ("<x:own>(?x)", Cast(IRI("x:own"), (X,))),
    ],
)
def test_functions(text: str, found: Expression) -> None:
    assert expression(text) == found


@pytest.mark.parametrize(
    ("local", "keyword", "arguments"),
    [
        *(
            (f"{part}-from-dateTime", part.upper(), 1)
            for part in ("year", "month", "day", "hours", "minutes", "seconds")
        ),
        *(("abs", "ABS", 1), ("round", "ROUND", 1), ("ceiling", "CEIL", 1), ("floor", "FLOOR", 1)),
        *(("concat", "CONCAT", 3), ("contains", "CONTAINS", 2), ("starts-with", "STRSTARTS", 2)),
        *(("ends-with", "STRENDS", 2), ("string-length", "STRLEN", 1), ("substring", "SUBSTR", 2)),
        *(("upper-case", "UCASE", 1), ("lower-case", "LCASE", 1)),
    ],
)
def test_functions_of_xpath_that_sparql_has(local: str, keyword: str, arguments: int) -> None:
    assert expression(f"fn:{local}({', '.join(['?x'] * arguments)})") == Call(keyword, (X,) * arguments)


def test_iri_has_the_base_that_it_needs() -> None:
    assert expression("iri(?x)", base="urn:b#") == Call("IRI", (X, IRI("urn:b#")))


@pytest.mark.parametrize(
    ("text", "value"), [("10d", "P10D"), ("90m", "PT1H30M"), ("2h", "PT2H"), ("3s", "PT3S"), ("10ms", "PT0.01S")]
)
def test_tef_61_short_durations(text: str, value: str) -> None:
    assert expression(text) == Literal(value, XSD + "dayTimeDuration")
    assert expression('"PT1H"') == Literal("PT1H")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("duration(?s, ?e) > 10d", Domain.DATETIME),
        ('"PT1H" < duration(?s, ?e)', Domain.DATETIME),
        ("duration(?s, ?e) > 10", Domain.TICKS),
    ],
)
def test_tef_60_a_constant_beside_duration_says_what_times_are(text: str, kind: Domain) -> None:
    time_kind = parse(f"SELECT ?x WHERE {TA}[?s, ?e], {text}").time_kind
    assert time_kind is not None and time_kind[0] is kind


# Precedence


def test_tef_66_infix_operators_associate_to_the_left() -> None:
    for operator in TemporalRelation:
        assert where(f"{TA} {operator.value} {TB} SEQ {TC}") == Related(SEQ, Related(operator, A, B), C)
    assert where(f"{TA} DURING {TB} WITHOUT {TC}") == Absent(Related(DURING, A, B), C)
    assert where(f"{TA} WITHOUT {TB} DURING {TC}") == Related(DURING, Absent(A, B), C)
    assert where(f"{TA} SEQ ({TB} SEQ {TC})") == Related(SEQ, A, Related(SEQ, B, C))


def test_tef_66_onstart_binds_tighter_than_infix_and_infix_tighter_than_comma() -> None:
    assert where(f"ONSTART {TA} SEQ {TB}") == Related(SEQ, OnStart(A), B)
    assert where(f"{TA} SEQ ONEND {TB}") == Related(SEQ, A, OnEnd(B))
    assert where(f"{TA}, {TB} SEQ {TC}") == Conjunction(A, Related(SEQ, B, C))
    assert where(f"{TA} DURING {TB}, ?x > 1") == Test(Related(DURING, A, B), ABOVE)


def test_tef_66_comma_binds_tighter_than_arms_and_arms_tighter_than_union() -> None:
    assert arms(f"SINCE {TA}, {TB} UNION UNTIL {TC}, {TD}") == (Since(Conjunction(A, B)), Until(Conjunction(C, D)))
    assert arms(f"REPLACE {TA}, {TB} ON {TC}, {TD}") == (Replace(Conjunction(A, B), Conjunction(C, D)),)
    assert arms(f"{TA}, {TB} UNION {TC}") == arms(f"{TA}, {TB} ; {TC}") == (Plain(Conjunction(A, B)), Plain(C))


def test_tef_67_on_init_takes_the_list_before_it() -> None:
    assert arms(f"{TA}, {TB} ON INIT") == arms(f"({TA}, {TB}) ON   INIT") == (OnInit(Conjunction(A, B)),)
    assert arms(f"({TA} UNION {TB}) ON INIT") == (OnInit(Either(A, B)),)


def test_tef_67_without_after_a_comma_takes_all_before_it() -> None:
    assert where(f"{TA}, {TB}, WITHOUT {TC}") == Absent(Conjunction(A, B), C)
    assert where(f"{TA}, {TB} WITHOUT {TC}") == Conjunction(A, Absent(B, C))
    assert where(f"{TA}, WITHOUT {TB}, {TC}") == Conjunction(Absent(A, B), C)


def test_tef_68_a_bare_expression_belongs_to_its_arm() -> None:
    one = (N, integer(1))
    replaced = Replace(A, B)
    assert arms(f"(REPLACE {TA} ON {TB}), ?n = 1 UNION {TC}") == (replace(replaced, steps=(one,)), Plain(C))
    assert arms(f"(REPLACE {TA} ON {TB}), ?n = 1, ?n > ?y") == (
        replace(replaced, steps=(one, (None, Compare(Comparison.GREATER, N, Y)))),
    )
    assert arms(f"(SINCE {TA}), ?n = 1") == arms(f"SINCE ({TA}, ?n = 1)") == (Since(Assignment(A, *one)),)
    assert arms(f"(UNTIL {TA}), ?x > 1") == (Until(Test(A, ABOVE)),)
    assert arms(f"({TA} ON INIT), ?n = 1") == (OnInit(Assignment(A, *one)),)
    assert arms(f"(SINCE {TA} UNION UNTIL {TB}), ?x > 1") == (Since(Test(A, ABOVE)), Until(Test(B, ABOVE)))


def test_a_group_that_is_an_arm_gives_its_own_arms() -> None:
    assert arms(f"{{ {TA} UNION {TB} }}") == arms(f"(({TA}) UNION ({TB}))") == (Plain(A), Plain(B))
    assert arms(f"({TA} UNION {TB}), ?x > 1") == (Plain(Test(Either(A, B), ABOVE)),)
    assert where(f"({TA} UNION {TB} UNION {TC}) SEQ {TD}") == Related(SEQ, Either(Either(A, B), C), D)


def test_a_dot_may_stand_for_a_comma_and_at_the_end() -> None:
    assert where(f"{TA}. {TB}, {TC}.") == where(f"{{ {TA} . {TB} . {TC} . }}") == where(f"{TA}, {TB}, {TC}")
    assert arms(f"({TA}.) UNION {TB}.") == (Plain(A), Plain(B))


def test_after_a_comma_one_word_more_tells_a_pattern_from_an_expression() -> None:
    assert where(f"{TA}, (?x > 1), ({TB})") == Conjunction(Test(A, ABOVE), B)
    assert where(f"{TA}, ((?x > 1)), (({TB}))") == Conjunction(Test(A, ABOVE), B)
    assert where(f"{TA}, x p ?y, x != ?y") == Test(
        Conjunction(A, TriplePattern(name("x"), name("p"), Y)), Compare(Comparison.NOT_EQUAL, name("x"), Y)
    )


# Warnings


def test_tef_70_a_bare_name_in_an_expression_that_is_a_variables_name() -> None:
    def warned(text: str) -> int:
        return len(parse(text).warnings)

    assert warned("SELECT ?x WHERE ?x p ?Sum, ?n = Sum + 1") == 1
    assert warned("CONSTRUCT ?x h Sum + 1 WHERE ?x p ?Sum") == 1
    assert warned("CONSTRUCT ?x h Sum WHERE ?x p ?Sum") == 0  # a term
    assert warned("SELECT ?x WHERE ?x p Sum, Sum p ?Sum") == 0
    assert warned("SELECT ?x WHERE ?x p ?sum, ?n = Sum + 1") == 0
    assert warned("SELECT ?x WHERE ?x p ?Sum SELECT ?x WHERE ?x p ?y, ?n = Sum + 1") == 0


def test_no_more_warnings_than_anybody_reads() -> None:
    assert len(parse("SELECT ?x WHERE ?x p ?y" + ", ?n > 1" * 100).warnings) == WARNINGS


# show


def same(one: TefFile, other: TefFile) -> bool:
    """Equal but for warnings, which have places."""
    return replace(one, warnings=()) == replace(other, warnings=())


@pytest.mark.parametrize(
    "text",
    [
        "PREFIX : <urn:n#> DECLARE FACT p q DECLARE EVENT r DECLARE FACT s SELECT DISTINCT ?x ?y WHERE ?x p ?y",
        "BASE <urn:b#> SELECT ?x WHERE ?x p ?y, ?n = iri(?y) BASE <urn:c#> SELECT ?x WHERE ?x p ?y, ?n = iri(?y)",
        "SELECT ?x FROM STREAM a <x:s> FROM STREAM <x:7> FROM STREAM <x:on> WHERE ?x p ?y SELECT ?x WHERE ?x q ?y",
        "CONSTRUCT EVENT ?x h (?y > 1), ?x a -1, ?x h +1.5 WITHIN 1.5s ONCE PER ?x, ?y > 1 || ?y < 0, 3 WHERE ?x p ?y",
        "SELECT ?x WHERE ((?x p ?y)[?s, 3])[-4, ∞]",
        'SELECT ?x WHERE ONSTART (ONEND ?x p ?y)["2024-05-06T07:00:00Z", ?_]',
        "SELECT ?x WHERE (?x p ?y, ?y p ?x) WITHOUT (?x ?_ ?_ UNION (?x r ?y UNION ?x s ?y)) FILTER (?x) FILTER (true)",
        "SELECT ?x WHERE ?x p ?y, ?n = (?y = 1 && !(?x + 1 > 2)), -?n < -(3), ?m = - - ?n, ?k = ?y - (?n - 1) / 2 * 3",
        'SELECT ?x WHERE ?x p "+5"^^xsd:integer, ?n = "+5"^^xsd:integer + +5, ?x p "a\\nb"@en, ?x p 10d',
        "CONSTRUCT ?x h ?n WHERE (REPLACE (?x h ?y UNION ?x g ?y) ON ONEND ?x p ?y), ?n = 1 FILTER (?y)"
        " UNION (?x q ?n ON INIT)",
        "SELECT ?x WHERE ?x p ?y, ?n = if(bound(?y), coalesce(?y, 0), duration(?x, now())), xsd:boolean(?y)",
    ],
)
def test_what_show_writes_is_read_as_the_same_algebra(text: str) -> None:
    file = parse(text)
    assert same(parse(show(file)), file)
    for statement in file.statements:
        for arm in statement.arms:
            assert show(arm)


def test_show_writes_parts_of_a_file() -> None:
    file = parse("CONSTRUCT FACT ?x h ?y WHERE (REPLACE ?x h ?z ON ?x p ?y SEQ ?x q ?_), ?z > 1")
    assert (
        show(file)
        == show(file.statements[0])
        == (
            "CONSTRUCT FACT ?x <http://example.org/h> ?y\n"
            "WHERE\n"
            "  (REPLACE ?x <http://example.org/h> ?z"
            " ON ?x <http://example.org/p> ?y SEQ ?x <http://example.org/q> ?_), ?z > 1"
        )
    )
    (arm,) = file.statements[0].arms
    assert isinstance(arm, Replace)
    assert show(arm.events) == "?x <http://example.org/p> ?y SEQ ?x <http://example.org/q> ?_"


_TERMS = st.sampled_from(["?x", "?y", "?_", "b", "1", "-2.5", '"t"', "10d"])
_SUBJECTS = st.sampled_from(["?x", "?y", "?_", "b"])
_VERBS = st.sampled_from(["p", "q", "a", "?v", "on-air"])
_EXPRESSIONS = st.recursive(
    st.sampled_from(["?x", "?y", "1", "-1", "b", "now()", "duration(?x, ?y)", '"PT1H"', "3s", "true"]),
    lambda below: st.one_of(
        st.builds("({} {} {})".format, below, st.sampled_from(["+", "-", "*", "/", "=", "<", "&&", "||"]), below),
        st.builds("{}({})".format, st.sampled_from(["!", "-", "abs", "xsd:integer", "coalesce"]), below),
    ),
    max_leaves=5,
)
_STEPS = st.one_of(
    st.builds(", ({} > {})".format, _EXPRESSIONS, _EXPRESSIONS),
    st.builds(", ?{} = {}".format, st.sampled_from("nmx"), _EXPRESSIONS),
    st.builds(" FILTER ({})".format, _EXPRESSIONS),
)
_OPERATORS = st.sampled_from(["SEQ", "BEFORE", "DURING", "WITH", "WITHOUT", ",", ", WITHOUT", "UNION", "."])
_PATTERNS = st.recursive(
    st.builds("{} {} {}".format, _SUBJECTS, _VERBS, _TERMS),
    lambda below: st.one_of(
        st.builds("({}) {} ({})".format, below, _OPERATORS, below),
        st.builds("({}){}".format, below, _STEPS),
        st.builds("{} ({})".format, st.sampled_from(["ONSTART", "ONEND"]), below),
        st.builds("({})[{}, {}]".format, below, st.sampled_from(["?s", "?_", "3"]), st.sampled_from(["?e", "?_", "∞"])),
    ),
    max_leaves=6,
)
_ARMS = st.one_of(
    _PATTERNS,
    st.builds("(SINCE {})".format, _PATTERNS),
    st.builds("(UNTIL ({}))".format, _PATTERNS),
    st.builds("(({}) ON INIT){}".format, _PATTERNS, _STEPS),
    st.builds("(REPLACE ({}) ON ({})){}{}".format, _PATTERNS, _PATTERNS, _STEPS, _STEPS),
)


@settings(deadline=None)
@given(st.lists(_ARMS, min_size=1, max_size=3), _EXPRESSIONS)
def test_random_statements_are_shown_and_read_again(written: list[str], computed: str) -> None:
    file = parse(f"CONSTRUCT ?x h {computed} ONCE PER ?x, {computed} WHERE {' UNION '.join(written)}")
    assert same(parse(show(file)), file)
    assert pickle.loads(pickle.dumps(file)) == file
    for arm in file.statements[0].arms:
        if isinstance(arm, Plain):
            assert bound(arm.pattern) <= _variables(arm)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            f"SELECT ?x WHERE CONSTRUCT FACT SINCE ON INIT REPLACE UNION , . ; ( ) [ ] {{ }} ?y p 1 = > {TA}".split()
        ),
        max_size=12,
    )
)
def test_whatever_is_wrong_is_a_query_error(words: list[str]) -> None:
    with suppress(QueryError):
        parse("SELECT ?x WHERE ?x p ?y " + " ".join(words))


# Hostile input

_MANY = 20_000
HOSTILE = {
    f"SELECT ?x WHERE {TA}" + f", {TA}" * _MANY: f"A list may hold at most {DEPTH - 1} patterns and expressions.",
    f"SELECT ?x WHERE {TA}" + f" SEQ {TA}" * _MANY: (
        f"At most {DEPTH - 1} of SEQ, BEFORE, DURING, WITH and WITHOUT may follow one another."
    ),
    f"SELECT ?x WHERE ({TA}" + f" UNION {TA}" * DEPTH + "), ?x > 1": (
        f"UNION in a group may join at most {DEPTH - 1} patterns."
    ),
    f"SELECT ?x WHERE {TA}, ?n = 1" + "+1" * _MANY: f"{DEPTH} operations in a row; at most {DEPTH - 1} are allowed.",
    f"SELECT ?x WHERE {TA}, ?n = " + "-" * _MANY + "1": (
        f"The query is {_MANY + 3:,} levels deep; at most {DEPTH} are allowed."
    ),
    "SELECT ?x WHERE " + "(" * _MANY: "Brackets are nested deeper than 200 levels.",
    "SELECT ?x WHERE " + "(" * 150 + TA + f", ?x > 1, {TA})" * 150: (
        f"The query is 304 levels deep; at most {DEPTH} are allowed."
    ),
    f"CONSTRUCT ?x h ?y WHERE (REPLACE {TA} ON {TB})" + ", ?x > 1" * DEPTH: (
        f"A list may hold at most {DEPTH - 1} patterns and expressions."
    ),
    f"SELECT ?x WHERE {TA}[" + "9" * _MANY + ", ?e]": f'"{"9" * 60}…" is out of range: times have 64 bits.',
    f"SELECT ?x WHERE {TA}, ?n = " + "9" * _MANY + "d": f'"{"9" * 60}…" is not a duration.',
}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_that_are_too_deep_or_too_long_are_refused(text: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse(text)
    assert raised.value.reason == HOSTILE[text]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200 + TA + ")" * 200,
        f"({TA}, " * 199 + TA + ")" * 199,
        "(" * 199 + TA + f" UNION {TA})" * 199 + ", ?x > 1",
        f"{TA}" + f", {TA}" * (DEPTH - 4),
        f"{TA}" + f" UNION {TA}" * 1000,
    ],
    ids=range(5),
)
def test_deep_and_long_texts_within_the_limits_are_read_and_shown(text: str) -> None:
    file = parse(f"SELECT ?x WHERE {text}")
    assert same(parse(show(file)), file)
