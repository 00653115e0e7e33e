"""SASE+ queries are read, or refused with a place, a reason and a cure."""

from __future__ import annotations

import pytest

from thence.algebra.expressions import Call, Compare, Comparison, Not, Or, Variable
from thence.algebra.sase import (
    AggregateName,
    Attribute,
    ClosureAggregate,
    ComponentQuery,
    Composite,
    EventIndex,
    EventRange,
    Length,
    MatchAggregates,
    Return,
    Strategy,
    ValueSequence,
)
from thence.algebra.show_sase import condition_text, key_text
from thence.algebra.streams import Name
from thence.errors import QueryError
from thence.lang.sase.parser import parse
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


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        *[("a.x % 2", "a.x % 2"), ("a.x %2", "a.x % 2"), ("a.x%2", "a.x % 2"), ("a.x\n%\n2", "a.x % 2")],
        *[("50 % 3", "50 % 3"), ("50%3", "50 % 3"), ("50% 3", "50 % 3"), ("50 %3", "50 % 3")],
        *[("50 % a.x", "50 % a.x"), ("50% a.x", "50 % a.x"), ("5.5%(a.x)", "5.5 % a.x"), ("50%.5", "50 % .5")],
        *[("50% * a.x", "0.50 * a.x"), ("a.x * 50%", "a.x * 0.50"), ("50% - 1", "0.50 - 1"), ("(50%)", "0.50")],
        *[("50 % -3", "50 % -3"), ("50% % 3", "0.50 % 3"), ("50%%3", "0.50 % 3"), ("a.x % 50%", "a.x % 0.50")],
        *[("a.x + a.y % 2", "a.x + a.y % 2"), ("(a.x + a.y) % 2", "(a.x + a.y) % 2"), ("-a.x % 2", "-a.x % 2")],
        *[("a.x % 2 * 3", "a.x % 2 * 3"), ("a.x % (2 * 3)", "a.x % (2 * 3)"), ("a.x * 3 % 2", "a.x * 3 % 2")],
        *[("a.`x y`%2", "a.`x y` % 2"), ("2%/* */a.x", None), ("50 %", None), ("50 % * a.x", None)],
    ],
)
def test_a_percent_sign_is_a_remainder_where_an_operand_follows(written: str, shown: str | None) -> None:
    text = f"PATTERN A a WHERE a.z > {written} RETURN a.x"
    if shown is None:
        with pytest.raises(QueryError):
            parse(text)
        return
    (condition,) = block(text).conditions
    assert condition_text(condition) == f"a.z > {shown}"
    assert block(f"PATTERN A a WHERE a.z > {shown} RETURN a.x").conditions == (condition,)


def test_what_a_condition_names() -> None:
    found = block(
        "PATTERN SEQ(A+ a[], B b) WHERE a[1].x = 1 ^ a[i].x > a[i-1].x ^ a[i].y > avg(a[..i-1].y) ^ a.LEN < 5 "
        "^ b.x > a[a.LEN].x ^ b.y > highest(2, a[].y) ^ b.z = count(a[]) RETURN a[].x"
    )
    x, y = Name("x"), Name("y")
    assert set(found.references.values()) == {
        Attribute("a", EventIndex.FIRST, x),
        Attribute("a", EventIndex.EACH, x),
        Attribute("a", EventIndex.BEFORE, x),
        Attribute("a", EventIndex.EACH, y),
        ClosureAggregate(AggregateName.AVG, "a", EventRange.BEFORE, y),
        Length("a"),
        Attribute("b", EventIndex.ALONE, x),
        Attribute("a", EventIndex.LAST, x),
        Attribute("b", EventIndex.ALONE, y),
        ClosureAggregate(AggregateName.HIGHEST, "a", EventRange.ALL, y, 2),
        Attribute("b", EventIndex.ALONE, Name("z")),
        ClosureAggregate(AggregateName.COUNT, "a", EventRange.ALL, None),
    }


def test_in_backquotes_len_is_an_attribute() -> None:
    found = block("PATTERN SEQ(A+ a[], B b) WHERE b.`LEN` = a.LEN ^ b.len = 1 RETURN b.x")
    assert [*found.references.values()][:3] == [
        Attribute("b", EventIndex.ALONE, Name("LEN")),
        Length("a"),
        Attribute("b", EventIndex.ALONE, Name("len")),
    ]
    assert condition_text(found.conditions[0]) == "b.`LEN` = a.LEN"


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
    assert given["xs"] == ValueSequence("a", x)
    assert given["b.(x,y)"] == Composite("b", EventIndex.ALONE, (x, y))
    assert given["both"] == Composite("a", None, (x, y))
    assert given["a[a.LEN].(x)"] == Composite("a", EventIndex.LAST, (x,))


def test_a_column_without_as_is_called_by_its_text_without_spaces_but_those_in_quotes() -> None:
    found = block(
        """PATTERN SEQ(A+ a[], B b) RETURN b . `my price`, a[].( x , `y z` ), b.x = 'A  B', b.x = "it''s  C",
        b.x # of the day
        + 1, b.<http://example.org/#x>"""
    )
    assert [item.name for item in found.form.items] == [  # type: ignore[union-attr]
        "b.`my price`",
        "a[].(x,`y z`)",
        "b.x='A  B'",
        "b.x=\"it''s  C\"",
        "b.x+1",
        "b.<http://example.org/#x>",
    ]


def test_a_name_after_as_may_stand_in_backquotes() -> None:
    found = parse(
        "PATTERN A a RETURN (a.x AS `n/x`) AS `odd type` IN STREAM s; "
        "FROM s PATTERN `odd type` b RETURN b.`n/x` AS `k.x`"
    )
    first, last = (query.blocks[0].form for query in found.queries)
    assert isinstance(first, Return) and isinstance(last, Return)
    assert (first.type, first.items[0].name, last.items[0].name) == ("odd type", "n/x", "k.x")


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
    assert isinstance(found.form, MatchAggregates)
    assert [(total.name, total.summary, total.of) for total in found.form.totals] == [
        ("n", AggregateName.COUNT, None),
        ("sum(a[].x)", AggregateName.SUM, ValueSequence("a", Name("x"))),
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


PARTITIONS = {
    "k": "k",
    "(k)": "k",
    "((k))": "k",
    "(k, `my y`)": "k, `my y`",
    "k + 1": "k + 1",
    "(k+1)": "k + 1",
    "(k + 1) * 2, y": "(k + 1) * 2, y",
    "(k % 2, y)": "k % 2, y",
    "-k, k - -1": "-k, k - -1",
    "50%k, 50% * k": "50 % k, 0.50 * k",
    "lower(name), contains(name, 'a b')": "lower(name), contains(name, 'a b')",
    "<x:k> / 2, floor(`k`)": "<x:k> / 2, floor(k)",
    "k > 1, k IS NULL, k NOT LIKE 'A%'": "k > 1, k IS NULL, k NOT LIKE 'A%'",
    "(k > 1 AND (y = 2 OR NOT z = 3))": "(k > 1 AND (y = 2 OR NOT z = 3))",
    "k IN (1, 2)": "(k = 1 OR k = 2)",
    "time % 60": "time % 60",
    "k + 1, k  +  1, (k + 1)": "k + 1",
}


@pytest.mark.parametrize("written", PARTITIONS)
def test_partitions_are_by_expressions_over_attributes_of_one_event(written: str) -> None:
    found = block(f"PATTERN A a WHERE PARTITION BY {written} ^ a.z = 1 RETURN a.x").partition
    assert ", ".join(map(key_text, found)) == PARTITIONS[written]
    again = block(f"PATTERN A a WHERE a.z = 1 AND PARTITION BY {PARTITIONS[written]} RETURN a.x")
    assert again.partition == found


def test_a_group_of_aggregate_may_be_what_partition_by_computes() -> None:
    found = block("PATTERN A a WHERE [y] ^ PARTITION BY (k+1) % 2, k AGGREGATE count(*) AS n BY (k + 1)%2, y")
    assert isinstance(found.form, MatchAggregates)
    assert found.form.by == (found.partition[0], Name("y"))
    assert found.columns == ("(k+1)%2", "y", "n")


def test_partitions_need_no_brackets() -> None:
    assert block("PATTERN A a WHERE PARTITION BY x, y AND a.z = 1 RETURN a.x").partition == (Name("x"), Name("y"))


def test_conditions_may_be_returned() -> None:
    block("PATTERN A a RETURN (a.x = 1 AND a.y = 2) AS both, a.x = 1 OR a.y = 2 AS either")


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
