"""SASE+ queries are read, or refused with a place, a reason and a cure."""

from __future__ import annotations

import pytest

from thence.algebra.components import (
    Attribute,
    ComponentQuery,
    Composite,
    Index,
    Length,
    Name,
    Range,
    Return,
    Sequence,
    Strategy,
    Summarised,
    Summary,
    Totals,
)
from thence.algebra.expressions import Call, Compare, Comparison, Not, Or, Variable
from thence.errors import QueryError
from thence.lang.sase import parse
from thence.rdf.terms import IRI, XSD, Literal


def block(text: str) -> ComponentQuery:
    (only,) = parse(text).queries[-1].blocks
    return only


def test_components_have_types_closures_and_negations() -> None:
    found = block("PATTERN SEQ(A a, ~B b, ANY+ c[], ~(D+ d[]), `odd type` e) RETURN a.x")
    assert [(str(each.type), each.variable, each.closure, each.negated) for each in found.components] == [
        ("A", "a", False, False),
        ("B", "b", False, True),
        ("None", "c", True, False),
        ("D", "d", True, True),
        ("odd type", "e", False, False),
    ]


def test_a_single_component_needs_no_seq() -> None:
    assert block("PATTERN A a RETURN a.x") == block("PATTERN SEQ(A a) RETURN a.x")


def test_strategies_are_of_variables_and_by_default_skip_till_next() -> None:
    found = block(
        "PATTERN SEQ(A+ a[], B b, C c, ~(D+ d[]), ~(E+ e[]), F f) "
        "WHERE strict_contiguity(a[]!) { a[i].x > 1 } ^ skip_till_any_match(c, d[]) { } ^ b.x = 2 RETURN f.x"
    )
    assert [(each.variable, each.strategy, each.cut) for each in found.components] == [
        ("a", Strategy.STRICT, True),
        ("b", Strategy.NEXT, False),
        ("c", Strategy.ANY, False),
        ("d", Strategy.ANY, False),
        ("e", Strategy.ANY, False),  # a negated closure, as if by skip-till-any
        ("f", Strategy.NEXT, False),
    ]
    assert len(found.conditions) == 2


@pytest.mark.parametrize("sign", ["AND", "and", "^", "∧", "&&"])
def test_conjuncts_are_written_as_in_the_paper_or_in_words(sign: str) -> None:
    assert len(block(f"PATTERN A a WHERE a.x = 1 {sign} a.y = 2 {sign} [k] RETURN a.x").conditions) == 2


@pytest.mark.parametrize("sign", ["!=", "<>", "≠"])
def test_different_is_written_in_three_ways(sign: str) -> None:
    (condition,) = block(f"PATTERN A a WHERE a.x {sign} 1 RETURN a.x").conditions
    assert condition == Compare(Comparison.DIFFERENT, Variable("a.x"), Literal("1", XSD + "integer"))


@pytest.mark.parametrize(("written", "value"), [("80%", "0.80"), ("5%", "0.05"), ("12.5%", "0.125"), ("250%", "2.50")])
def test_a_percentage_is_a_decimal(written: str, value: str) -> None:
    (condition,) = block(f"PATTERN A a WHERE a.x < {written} * a.y RETURN a.x").conditions
    assert isinstance(condition, Compare)
    assert condition.right.left == Literal(value, XSD + "decimal")  # type: ignore[union-attr]


def test_what_a_condition_names() -> None:
    found = block(
        "PATTERN SEQ(A+ a[], B b) WHERE a[1].x = 1 ^ a[i].x > a[i-1].x ^ a[i].y > avg(a[..i-1].y) ^ a.LEN < 5 "
        "^ b.x > a[a.LEN].x ^ b.y > highest(2, a[].y) ^ b.z = count(a[]) RETURN a[].x"
    )
    x, y = Name("x"), Name("y")
    assert set(found.references.values()) == {
        Attribute("a", Index.FIRST, x),
        Attribute("a", Index.EACH, x),
        Attribute("a", Index.BEFORE, x),
        Attribute("a", Index.EACH, y),
        Summarised(Summary.AVG, "a", Range.BEFORE, y),
        Length("a"),
        Attribute("b", Index.ALONE, x),
        Attribute("a", Index.LAST, x),
        Attribute("b", Index.ALONE, y),
        Summarised(Summary.HIGHEST, "a", Range.ALL, y, 2),
        Attribute("b", Index.ALONE, Name("z")),
        Summarised(Summary.COUNT, "a", Range.ALL, None),
    }


def test_prefixed_names_are_whole() -> None:
    found = block("PREFIX ex: <http://example.org/> PATTERN SEQ(ex:A a) WHERE a.ex:x = 1 ^ [ex:k] RETURN a.<x:y>")
    assert found.components[0].type == Name("http://example.org/A", IRI("http://example.org/A"))
    assert found.equal == (Name("http://example.org/k", IRI("http://example.org/k")),)


def test_a_condition_becomes_conjunctive() -> None:
    found = block("PATTERN A a WHERE NOT (a.x = 1 OR a.y = 2) ^ (a.x = 3 OR a.y = 4 AND a.z = 5) RETURN a.x")
    assert [type(each) for each in found.conditions] == [Not, Not, Or, Or]


def test_what_is_given() -> None:
    found = block(
        "PATTERN SEQ(A+ a[], B b) RETURN a[1].x, a[].x AS xs, b.(x, y), a[].(x, y) AS both, b.x + 1, a[a.LEN].(x)"
    )
    x, y = Name("x"), Name("y")
    assert isinstance(found.form, Return)
    given = {item.name: item.given for item in found.form.items}
    assert list(given) == ["a[1].x", "xs", "b.(x,y)", "both", "b.x+1", "a[a.LEN].(x)"]
    assert given["xs"] == Sequence("a", x)
    assert given["b.(x,y)"] == Composite("b", Index.ALONE, (x, y))
    assert given["both"] == Composite("a", None, (x, y))
    assert given["a[a.LEN].(x)"] == Composite("a", Index.LAST, (x,))


def test_a_result_has_a_type_and_a_stream_that_feeds_another_query() -> None:
    found = parse(
        "FROM odd PATTERN SEQ(Odd+ a[]) WITHIN 7 DAYS RETURN count(a[]) AS n UNION PATTERN A a RETURN a.n AS n".replace(
            "FROM odd", "PATTERN A a RETURN (a.x AS x) AS Odd IN STREAM odd; FROM odd"
        )
    )
    first, last = found.queries
    assert first.blocks[0].form == Return(first.blocks[0].form.items, "Odd", "odd")  # type: ignore[union-attr]
    assert [each.streams for each in last.blocks] == [("odd",), ()]


def test_totals() -> None:
    found = block("PATTERN SEQ(A+ a[]) WHERE [k] WITHIN 5 TICKS AGGREGATE count(*) AS n, sum(a[].x) BY k")
    assert isinstance(found.form, Totals)
    assert [(total.name, total.summary, total.of) for total in found.form.totals] == [
        ("n", Summary.COUNT, None),
        ("sum(a[].x)", Summary.SUM, Sequence("a", Name("x"))),
    ]
    assert found.form.by == (Name("k"),)


@pytest.mark.parametrize("item", ["a.x", "a.(x, y)", "a.x, sum(b[].x)", "(a.x, a.y)", "a.x AS y"])
def test_a_stream_may_follow_any_item(item: str) -> None:
    first = parse(f"PATTERN SEQ(A a, B+ b[]) WITHIN 9 TICKS RETURN {item} IN STREAM s; FROM s PATTERN s c RETURN c.x")
    assert first.queries[0].blocks[0].form.stream == "s"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "rest", ["RETURN a.x", "AND a.y = 1 RETURN a.x", "\nWITHIN 5 TICKS RETURN a.x", "OR a.x = 1 RETURN 1"]
)
def test_a_keyword_may_follow_a_percentage(rest: str) -> None:
    parse(f"PATTERN A a WHERE a.x > .5% {rest}")


def test_like_takes_all_other_characters_as_they_are() -> None:
    (condition,) = block("PATTERN A a WHERE a.x LIKE 'a/b:c.d%_''\\' RETURN a.x").conditions
    assert condition == Call("REGEX", (Variable("a.x"), Literal("^a/b:c\\.d.*.'\\\\$"), Literal("s")))


def test_partitions_need_no_brackets() -> None:
    assert block("PATTERN A a WHERE PARTITION BY x, y AND a.z = 1 RETURN a.x").partition == (Name("x"), Name("y"))


def test_conditions_may_be_returned() -> None:
    block("PATTERN A a RETURN (a.x = 1 AND a.y = 2) AS both, a.x = 1 OR a.y = 2 AS either")


REFUSED = {
    "PATTERN A a WHERE abs(*) > 1 RETURN a.x": "1:19: abs takes values. Try: abs(a.price)",
    "PATTERN SEQ(A a, ~B b, C c) AGGREGATE sum(b.x)": (
        '1:39: "b" is negated: there is no such event to tell of in AGGREGATE.'
    ),
    "PATTERN SEQ(A+ a[], C c) AGGREGATE sum(a[i].x)": (
        "1:36: AGGREGATE is about a whole match and has no i. Try: a[] or a[1]"
    ),
    "PATTERN A a RETURN a.x AS x IN STREAM s UNION PATTERN B b RETURN b.x AS x; FROM s PATTERN s c RETURN c.x": (
        "1:1: Of what query 1 gives, a part goes nowhere. Try: IN STREAM name in each block of the UNION"
    ),
    "PATTERN A a WHERE c.x = 1 RETURN a.x": '1:19: PATTERN has no variable "c". Try: a',
    "PATTERN SEQ(A a, B a) RETURN a.x": '1:20: Two components are called "a". Try: another name',
    "PATTERN A+ a RETURN 1": '1:12: A closure\'s variable is written with "[]". Try: a[]',
    "PATTERN A a[] RETURN 1": '1:11: "a[]" is of a closure, and there is no "+" after the type. Try: A+ a[]',
    "PATTERN A a WHERE a[1].x = 2 RETURN a.x": '1:19: "a" is no closure and has but one event. Try: a.…',
    "PATTERN SEQ(A+ a[], B b) WHERE a.x = 2 RETURN b.x": (
        '1:32: "a" is a closure: which of its events is meant? Try: a[i].x'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[2].x = 2 RETURN b.x": (
        '1:34: "2" is no index. Try: a[1], a[i], a[i-1] or a[a.LEN]'
    ),
    "PATTERN SEQ(A a, B b) WHERE a.x = 1 OR b.y = 2 RETURN a.x": (
        '1:23: Of what OR joins, each part must be about "b", the last event that the condition names. '
        'Try: conditions with AND, or with "b" in each part'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[i].x = a[a.LEN].x RETURN b.x": (
        '1:26: "a[i]" is about each event, "a[a.LEN]" and aggregates about all. Try: two conditions'
    ),
    "PATTERN SEQ(A+ a[]) RETURN a[1].x": (
        '1:1: "a[]" has no end: nothing says where it stops. Try: WITHIN 10 MINUTES, or a condition on a[a.LEN]'
    ),
    "PATTERN A a WHERE partition_contiguity(a) { a.x = 1 } RETURN a.x": (
        "1:40: partition_contiguity needs to know what the partitions are. Try: [symbol] or PARTITION BY(symbol)"
    ),
    "PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]!) { a[i].x > 1 } RETURN a[1].x": (
        '1:45: "!" has nothing to stop "a[]" at. Try: a condition on a[a.LEN]'
    ),
    "PATTERN SEQ(A a, B b) WHERE strict_contiguity(a!, b) { a.x > 1 } RETURN a.x": (
        '1:47: "!" stops a closure, and "a" is none. Try: no "!"'
    ),
    "PATTERN SEQ(~B b, A a) RETURN a.x": ('1:1: "~" can\'t stand first: what was absent before "a" is not bounded.'),
    "PATTERN SEQ(A a, ~B b) RETURN a.x": (
        '1:1: "~" at the end needs a time up to which nothing may come. Try: WITHIN 10 MINUTES'
    ),
    "PATTERN SEQ(A a, ~B b, ~C c, D d) WHERE b.x = c.x RETURN a.x": (
        '1:35: A condition can\'t name two negated variables, "b" and "c".'
    ),
    "PATTERN SEQ(A a, ~B b, C c) RETURN b.x": ('1:36: "b" is negated: there is no such event to tell of in RETURN.'),
    "PATTERN SEQ(A+ a[], B b) RETURN a[i].x": "1:33: RETURN is about a whole match and has no i. Try: a[] or a[1]",
    "PATTERN A a RETURN a.x, a.x": '1:25: Two columns are called "a.x". Try: a.x AS another',
    "PATTERN A a RETURN avg(a.x)": (
        "1:20: avg is over the events of a closure. Try: avg(a[].price) or avg(a[..i-1].price)"
    ),
    "PATTERN A a RETURN highest(2, a.x)": (
        "1:20: highest is over the events of a closure. Try: highest(2, a[].price) or highest(2, a[..i-1].price)"
    ),
    "PATTERN A a RETURN count(*)": (
        "1:20: count(*) is for AGGREGATE: RETURN gives a row a match. Try: AGGREGATE count(*)"
    ),
    "PATTERN A a WHERE a.x % 2 = 0 RETURN a.x": (
        '1:23: "%" makes a percentage of a number, as in 80%; there is no remainder.'
    ),
    "FROM s PATTERN A a RETURN a.x AS x IN STREAM s": (
        '1:1: The stream "s" would feed itself. Try: another name after IN STREAM'
    ),
    "PATTERN A a WHER a.x = 2 RETURN a.x": '1:13: "WHER" is not known here. Try: WHERE',
    "PATTERN SEQ(A a WHERE a.x = 2 RETURN a.x": '1:17: The "(" at 1:12 is not closed before WHERE. Try: )',
    "PATTERN A a WHERE a.x = NULL RETURN a.x": "1:25: What is missing is equal to nothing. Try: IS NULL",
    "PATTERN A a WITHIN 10 fortnights RETURN a.x": (
        '1:23: "fortnights" is no unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS'
    ),
    "PATTERN A a WHERE skip_till_all(a) { a.x = 1 } RETURN a.x": (
        '1:19: There is no strategy "skip_till_all". '
        "Try: strict_contiguity, partition_contiguity, skip_till_next_match, skip_till_any_match"
    ),
    "PATTERN A a WHERE skip_till_any(a) { a.x = 1 } RETURN a.x": (
        '1:19: There is no strategy "skip_till_any". Try: skip_till_any_match'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[].x RETURN b.x": ("1:26: These are several values. Try: a[i].x or sum(a[].x)"),
    "PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity(b) { a[] } RETURN b.x": (
        "1:55: Events are no value. Try: count(a[])"
    ),
    "PATTERN A a WHERE count(*) RETURN a.x": (
        "1:19: count(*) is for AGGREGATE: RETURN gives a row a match. Try: AGGREGATE count(*)"
    ),
    "PATTERN A a WITHIN 0 TICKS RETURN a.x": "1:13: A window can't be without length. Try: WITHIN 10 MINUTES",
    "PATTERN A a RETURN a.x WITHIN 10 TICKS": (
        '1:24: WITHIN can\'t stand here: expected the end, ",", ";", AS or UNION. '
        "Try: PATTERN … WHERE … WITHIN … HAVING … RETURN"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_mistakes_are_told_with_place_reason_and_cure(text: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse(text)
    assert str(raised.value) == f"query:{REFUSED[text]}"


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN A a WHERE " + "(" * 300 + "a.x = 1" + ")" * 300 + " RETURN a.x",
        "PATTERN A a WHERE " + "NOT " * 5000 + "a.x = 1 RETURN a.x",
        "PATTERN A a WHERE a.x = " + "1 + " * 100_000 + "1 RETURN a.x",
        "PATTERN A a WHERE "
        + " AND ".join(f"(a.x = {n} OR a.y = {n})" for n in range(9)).join(["NOT (", ")"])
        + " RETURN a.x",
        "PATTERN A a RETURN " + "-" * 5000 + "a.x AS k",
        "PATTERN A a HAVING " + "NOT " * 5000 + "a.x = 1 RETURN a.x",
        "PATTERN SEQ(" + ", ".join(f"A a{n}" for n in range(500)) + ") RETURN a1.x",
    ],
    ids=["brackets", "negations", "sum", "conjunctive form", "returned", "having", "components"],
)
def test_what_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parse(text)


def test_what_another_query_reads_has_one_value_for_each_attribute() -> None:
    query = "PATTERN A+ a[] WITHIN 5 RETURN a[].x AS xs IN STREAM r; FROM r PATTERN r q RETURN q.xs"
    with pytest.raises(QueryError) as caught:
        parse(query)
    assert str(caught.value) == (
        'query:1:1: "xs" has several values, and is to be an attribute of an event. '
        "Try: a[1].…, a[a.LEN].… or an aggregate"
    )
