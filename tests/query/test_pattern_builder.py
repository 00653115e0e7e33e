"""`thence.pattern`: SASE+ in Python is the query that the text is, and mistakes are reported as in the text."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest

import thence
from thence import attribute, count, many, one, pattern
from thence.builder import value
from thence.query import Query
from thence.rdf.terms import IRI, XSD

a, b, c = many("A", "a"), one("B", "b"), one("C", "c")
n, s = one("N", "n"), many("S", "s")

SAME: dict[str, Callable[[], Query]] = {
    "PATTERN B b RETURN b.x": lambda: pattern(b).returns(b.x),
    "PATTERN SEQ(ANY+ e[], `odd type` o) RETURN e[1].x, o.`LEN`, o.`odd name` AS odd": lambda: pattern(
        e := many("ANY", "e"), o := one("odd type", "o")
    ).returns(e.first.x, o["LEN"], odd=o["odd name"]),
    "PATTERN SEQ(<x:B> b) WHERE [<x:k>] RETURN b.<x:y> AS y": lambda: (
        pattern(i := one(IRI("x:B"), "b")).same(IRI("x:k")).returns(y=i[IRI("x:y")])
    ),
    # what a condition can name
    """PATTERN SEQ(A+ a[], B b) WHERE a[1].x = 1 ^ a[i].x > a[i-1].x ^ a[i].y > avg(a[..i-1].y) ^ a.LEN < 5
       ^ b.x > a[a.LEN].x ^ b.y > highest(2, a[].y) ^ b.y > lowest(3, a[..i-1].y) ^ b.z = count(a[])
       ^ a[i].n > count(a[..i-1]) ^ b.z <= count(a[].z) RETURN a[].x""": lambda: (
        pattern(a, b)
        .where(a.first.x == 1, a.each.x > a.previous.x, a.each.y > a.earlier.y.avg(), a.length < 5)
        .where(b.x > a.last.x, b.y > a.all.y.highest(2), b.y > a.earlier.y.lowest(3), b.z == a.all.count())
        .where(a.each.n > a.earlier.count(), b.z <= a.all.z.count())
        .returns(a.all.x)
    ),
    # strategies, cuts, end conditions
    """PATTERN SEQ(A+ a[], B b, C c, ~(S+ s[]), D d)
       WHERE strict_contiguity(a[]!) { a[i].x > 1 } ^ skip_till_any_match(c, s[]) { } ^ b.x = 2 ^ a.LEN >= 3
       RETURN c.x""": lambda: (
        pattern(a, b, c, ~s, one("D", "d"))
        .strict_contiguity(a.cut)
        .where(a.each.x > 1)
        .skip_till_any_match(c, s)
        .where(b.x == 2, a.length >= 3)
        .returns(c.x)
    ),
    """PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[]!, b) { [k, l] ^ a[i].x > 1 } WITHIN 1 hour
       RETURN b.x""": lambda: (
        pattern(a, b)
        .same("k", "l")
        .where(a.each.x > 1)
        .skip_till_next_match(a.cut, b)
        .within(timedelta(hours=1))
        .returns(b.x)
    ),
    "PATTERN A+ a[] WHERE partition_contiguity(a[]) { PARTITION BY(k) } WITHIN 5 TICKS RETURN a[].x": lambda: (
        pattern(a).partition_by("k").partition_contiguity(a).within(5).returns(a.all.x)
    ),
    "PATTERN A+ a[] WHERE partition_contiguity(a[]) { PARTITION BY(k, (k + 1) % 10) } WITHIN 5 TICKS RETURN a[].x": (
        lambda: (
            pattern(a).partition_by("k", (attribute("k") + 1) % 10).partition_contiguity(a).within(5).returns(a.all.x)
        )
    ),
    "PATTERN B b WHERE PARTITION BY lower(`odd name`), (k > 1 AND NOT <x:y> IS NULL) RETURN b.x": lambda: (
        pattern(b)
        .partition_by(attribute("odd name").lower(), (attribute("k") > 1) & ~attribute(IRI("x:y")).is_null())
        .returns(b.x)
    ),
    "PATTERN A+ a[] WHERE [y] ^ PARTITION BY k % 2 WITHIN 5 AGGREGATE count(*) BY y, k % 2": lambda: (
        pattern(a).same("y").partition_by(attribute("k") % 2).within(5).aggregate(count(), by=("y", attribute("k") % 2))
    ),
    # negation
    """PATTERN SEQ(A+ a[], ~N n, B b, ~(S+ s[])) WHERE n.x > a[a.LEN].x ^ s[i].x > s[i-1].x ^ sum(s[].x) > 10
       WITHIN PT10M RETURN b.x""": lambda: (
        pattern(a, ~n, b, ~s)
        .where(n.x > a.last.x, (~s).each.x > s.previous.x, s.all.x.sum() > 10)
        .within("10 minutes")
        .returns(b.x)
    ),
    # operators and functions
    """PATTERN SEQ(B b, C c) WHERE (c.x + 1) * 2 - c.y / 3 != 0.8 * -b.x OR NOT (c.z >= 2.5 AND c.w <= 'it''s')
       RETURN c.x""": lambda: (
        pattern(b, c)
        .where(((c.x + 1) * 2 - c.y / 3 != Decimal("0.8") * -b.x) | ~((c.z >= 2.5) & (c.w <= "it's")))
        .returns(c.x)
    ),
    "PATTERN B b WHERE b.x % 2 = 50 % b.y ^ (b.x + 1) % 3 = b.x % (2 * b.y) RETURN b.x % 0.5": lambda: (
        pattern(b).where(b.x % 2 == 50 % b.y, (b.x + 1) % 3 == b.x % (2 * b.y)).returns(b.x % 0.5)
    ),
    """PATTERN B b WHERE 1 + b.x = 2 - b.x ^ 3 * b.x = 4 / b.x ^ b.t = true ^ b.x > -1 ^ b.x < 1e-09 ^ b.x > 0.25 * b.y
       RETURN b.x""": lambda: (
        pattern(b)
        .where(1 + b.x == 2 - b.x, 3 * b.x == 4 / b.x, b.t == True, b.x > -1, b.x < 1e-9)  # noqa: E712
        .where(b.x > np.float64(0.25) * b.y)
        .returns(b.x)
    ),
    """PATTERN B b WHERE abs(b.x) = round(b.y) ^ floor(b.x) < ceil(b.y) ^ lower(b.s) = upper(b.t) ^ length(b.s) > 2
       ^ contains(b.s, 'x') ^ starts_with(b.s, b.t) ^ ends_with(b.s, 'z') ^ b.s LIKE 'a%' ^ b.s NOT LIKE '_b'
       ^ b.x IN (1, 2) ^ b.x NOT IN (3) ^ b.x IS NULL ^ b.y IS NOT NULL RETURN b.x""": lambda: (
        pattern(b)
        .where(abs(b.x) == round(b.y), math.floor(b.x) < math.ceil(b.y), b.s.lower() == b.t.upper(), b.s.length() > 2)
        .where(b.s.contains("x"), b.s.starts_with(b.t), b.s.ends_with("z"), b.s.like("a%"), ~b.s.like("_b"))
        .where(b.x.is_in(1, 2), ~b.x.is_in(3), b.x.is_null(), b.y.is_not_null())
        .returns(b.x)
    ),
    # output
    """PATTERN SEQ(A+ a[], B b) HAVING a.LEN > 2 ^ sum(a[].x) > b.x ^ b.y IS NOT NULL
       RETURN a[1].x, b.(x, y), a[a.LEN].(x), b.x + 1, avg(a[].x), highest(2, a[].x), a.LEN, first(a[].x),
       a[].x AS xs, a[].(x, y) AS both, (a[1].x - b.x) / 2 AS half, 'rise' AS kind""": lambda: (
        pattern(a, b)
        .having(a.length > 2)
        .having(a.all.x.sum() > b.x, b.y.is_not_null())
        .returns(
            *(a.first.x, b["x", "y"], a.last[("x",)], b.x + 1),
            *(a.all.x.avg(), a.all.x.highest(2), a.length, a.all.x.first()),
            xs=a.all.x,
            both=a.all["x", "y"],
            half=(a.first.x - b.x) / 2,
            kind="rise",
        )
    ),
    "FROM trades, quotes PATTERN B b RETURN b.x": lambda: pattern(b, streams=["trades", "quotes"]).returns(b.x),
    "PATTERN A+ a[] WHERE [k, l] WITHIN 5 TICKS AGGREGATE count(*), sum(a[].x), max(a[1].y) AS top BY k, l": lambda: (
        pattern(a)
        .same("k", "l")
        .within("5 ticks")
        .aggregate(count(), a.all.x.sum(), top=a.first.y.max(), by=["k", "l"])
    ),
    "PATTERN B b WHERE [k] AGGREGATE min(b.x), avg(b.x), count(b.x) BY k": lambda: (
        pattern(b).same("k").aggregate(b.x.min(), b.x.avg(), b.x.count(), by="k")
    ),
}


@pytest.mark.parametrize("text", SAME)
def test_python_makes_the_algebra_of_the_text(text: str) -> None:
    made, read = SAME[text](), thence.parse(text, language="sase+")
    assert made == read
    assert (made.columns, made.streams, made.language) == (read.columns, read.streams, read.language)


def test_a_value_shows_as_a_text_that_reads_the_same() -> None:
    shown = ((c.x + 1) * (2 - c.y) / -c.z > b.x.length()) & ~(c.x.is_in("it's", 2) | (c.y.like("a%") & (c.x == -0.5)))
    text = f"PATTERN SEQ(B b, C c) WHERE {shown} RETURN c.x"
    assert thence.parse(text, language="sase+") == pattern(b, c).where(shown).returns(c.x)


@pytest.mark.numba
def test_a_pattern_in_python_runs() -> None:
    up, down = many("Stock", "up"), one("Stock", "down")
    query = (
        pattern(up, down)
        .same("symbol")
        .where(up.each.price > up.previous.price, down.price < 0.9 * up.last.price)
        .strict_contiguity(up)
        .within(10)
        .returns(up.all.price, fell=down.price)
    )
    prices = [10, 11, 12, 10]
    events = [thence.Event(t, {"type": "Stock", "symbol": "X", "price": p}) for t, p in enumerate(prices)]
    found = [match for match in query.match(events) if isinstance(match, thence.Match)]
    assert [(match.start, match.end, str(match.bindings["fell"])) for match in found] == [
        (start, 3, f'"10"^^<{XSD}integer>') for start in (0, 1, 2)
    ]


def test_what_is_added_leaves_the_pattern_as_it_was() -> None:
    begun = pattern(b, namespace="x:")
    assert begun.where(b.x == 1).returns(b.x) != begun.returns(b.x)
    assert begun.returns(b.x).algebra.namespace == "x:"


def test_components_can_be_copied() -> None:
    assert copy.deepcopy(a) == a and copy.deepcopy(b) == b


REFUSED: dict[str, Callable[[], object]] = {
    'pattern: "a" is a closure: which of its events is meant? Try: a.each.x, a.last.x or a.all.x': (
        lambda: a.x  # type: ignore[attr-defined]
    ),
    'pattern: "b" is not a closure and has no LEN. Try: b["LEN"] for an attribute, many("T", "b") for a closure': (
        lambda: b.LEN
    ),
    'pattern: Two components are called "a". Try: another name': lambda: pattern(a, one("B", "a")),
    'pattern: PATTERN has no variable "a". Try: b or c': lambda: pattern(b, c).where(a.each.x > 1),
    'pattern, at b.x: "b" is not the component of that name in PATTERN. Try: one object for each component': (
        lambda: pattern(one("Other", "b")).returns(b.x)
    ),
    'pattern, at strict_contiguity: "!" stops a closure, but "b" is not a closure. Try: no "!"': (
        lambda: pattern(b).strict_contiguity(b.cut).returns(b.x)
    ),
    'pattern, at strict_contiguity: "!" has no condition to stop "a[]" at. Try: a condition on a[a.LEN]': (
        lambda: pattern(a).strict_contiguity(a.cut).returns(a.first.x)
    ),
    'pattern: "a[]" has no end: nothing says where it stops. Try: WITHIN 10 MINUTES, or a condition on a[a.LEN]': (
        lambda: pattern(a).returns(a.first.x)
    ),
    'pattern: "~" is not allowed first: nothing bounds the time before "b". Try: a component before it': (
        lambda: pattern(~n, b).returns(b.x)
    ),
    'pattern, at b.x = 1 OR c.y = 2: Each part that OR joins must be about "c", the last event that the condition '
    'names. Try: conditions with AND, or with "c" in each part': (
        lambda: pattern(b, c).where(b.y == 1, (b.x == 1) | (c.y == 2)).returns(b.x)
    ),
    'pattern, at strict_contiguity: "b" has two strategies. Try: one of them': (
        lambda: pattern(b).skip_till_any_match(b).strict_contiguity(b).returns(b.x)
    ),
    "pattern, at partition_contiguity: partition_contiguity needs a partition. "
    "Try: [symbol] or PARTITION BY(symbol)": lambda: pattern(b).partition_contiguity(b).returns(b.x),
    "pattern: These are several values. Try: a[i].x or sum(a[].x)": lambda: a.all.x > 1,
    "pattern, at a[].x: These are several values. Try: a[i].x or sum(a[].x)": lambda: pattern(a, b).where(a.all.x),
    "pattern: These are several values. Try: avg(a[..i-1].x)": lambda: a.each.x > a.earlier.x,
    "pattern, at each: The index i is not allowed in RETURN. Try: a[] or a[1]": (
        lambda: pattern(a, b).returns(each=a.each.x)
    ),
    'pattern, at n.x: "n" is negated, so RETURN cannot use its event. Try: b or c': (
        lambda: pattern(b, ~n, c).returns(n.x)
    ),
    'pattern, at b.x: Two columns are called "b.x". Try: b.x AS another': lambda: pattern(b).returns(b.x, b.x),
    "pattern: sum() needs a closure. Try: sum(a[].price) or sum(a[..i-1].price)": (
        lambda: pattern(b).returns(b.x.sum())
    ),
    "pattern: highest needs a number from 1 to 1000 first. Try: highest(3, a[].price)": lambda: a.all.x.highest(0),
    'pattern: "k" may differ within a match. Try: [k] in WHERE': (lambda: pattern(b).aggregate(count(), by="k")),
    "pattern, at partition_by: PARTITION BY takes each event's own attributes, without a component, and b.k % 2 is of "
    'one. Try: attribute("k") in place of b.…': lambda: pattern(b).partition_by(b.k % 2).returns(b.x),
    "pattern, at partition_by: The expression names no attribute. Try: PARTITION BY symbol": (
        lambda: pattern(b).partition_by(attribute("k") % 2, value(1)).returns(b.x)
    ),
    'pattern, at b.x > k: attribute("k") names no component: which event is meant? '
    "Try: b.k; attribute(…) is for partition_by": lambda: pattern(b).where(b.x > attribute("k")).returns(b.x),
    'pattern: "k%2" may differ within a match. Try: PARTITION BY k % 2 in WHERE': (
        lambda: pattern(b).aggregate(count(), by=attribute("k") % 2)
    ),
    "pattern: PARTITION BY is about one event at a time, but sum covers several. Try: PARTITION BY x": (
        lambda: pattern(b).partition_by(attribute("x").sum())
    ),
    "pattern: PARTITION BY is given twice. Try: one PARTITION BY": (
        lambda: pattern(b).partition_by("k").partition_by("l").returns(b.x)
    ),
    "pattern: A window must be longer than 0. Try: WITHIN 10 MINUTES": lambda: pattern(b).within(0),
    "pattern: The index i is not allowed in RETURN. Try: a[].(x, y)": lambda: a.each["x", "y"],
}


@pytest.mark.parametrize("complaint", REFUSED)
def test_what_means_nothing_is_refused_as_in_the_text(complaint: str) -> None:
    with pytest.raises(thence.QueryError) as caught:
        REFUSED[complaint]()
    assert str(caught.value) == complaint


NO_TRUTH = (
    "b.x > 1 is a condition, which is neither True nor False by itself. "
    "Try: &, | and ~ for and, or and not, each part in brackets; (x < y) & (y < z) for x < y < z"
)
MISUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: b.x > 1 and b.y > 2, NO_TRUTH),
    (lambda: b.x > 1 or b.y > 2, NO_TRUTH),
    (lambda: not b.x > 1, NO_TRUTH),
    (lambda: 1 < b.x < 2, NO_TRUTH),
    (lambda: b.x == 1 & b.y == 2, NO_TRUTH.replace("b.x > 1", "b.x = (1 AND b.y)")),
    (lambda: b.x == None, "A missing value equals nothing. Try: b.price.is_null()"),  # noqa: E711
    (
        lambda: b.x == math.nan,
        "nan is not a value. Try: an attribute (b.price), a number, text, a timedelta, True or False",
    ),
    (lambda: b.x == c, "c is not a value. Try: an attribute (b.price), a number, text, a timedelta, True or False"),
    (lambda: b[1], '1 is not a name of a type or an attribute. Try: "price"'),  # type: ignore[index]
    (lambda: b[()], "'' is not a name of a type or an attribute. Try: \"price\""),
    (lambda: b.x.is_in(), "is_in needs something to choose from. Try: is_in('A', 'B')"),
    (lambda: b.x.like(1), "like takes text, not int. Try: like('A%')"),  # type: ignore[arg-type]
    (lambda: one("B", "b 1"), "'b 1' can't be a component's name. Try: one(\"Stock\", \"a\")"),
    (lambda: pattern(), 'A pattern needs components. Try: pattern(many("Stock", "a"), one("Stock", "b"))'),
    (lambda: pattern(b).where(b == 1), "False is not a condition. Try: where(a.first.price > 10)"),  # type: ignore[arg-type, comparison-overlap]
    (lambda: pattern(b).returns("x"), "'x' is not a condition. Try: returns(b.price, first=a.first.price)"),  # type: ignore[arg-type]
    (lambda: pattern(b).returns(), "A value is required. Try: returns(b.price, first=a.first.price)"),
    (lambda: pattern(b).same(), 'same needs an attribute. Try: same("symbol")'),
    (lambda: pattern(b).strict_contiguity(), "strict_contiguity needs components. Try: strict_contiguity(a, b)"),
    (lambda: pattern(b).within(1).within(2), "within is given twice. Try: one of them"),
    (lambda: pattern(b, namespace="x"), "The namespace 'x' is not an absolute IRI. Try: http://example.org/"),
]


@pytest.mark.parametrize(("misuse", "complaint"), MISUSED, ids=[complaint for _, complaint in MISUSED])
def test_what_python_would_take_otherwise_is_refused(misuse: Callable[[], object], complaint: str) -> None:
    with pytest.raises(thence.InputError) as caught:
        misuse()
    assert str(caught.value) == complaint
