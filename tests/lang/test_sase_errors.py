"""Mistakes in SASE+ queries are reported in one sentence, with their place and a cure."""

from __future__ import annotations

from contextlib import suppress

import pytest

from thence.errors import QueryError
from thence.lang.sase.parser import parse


def complaint(text: str) -> str:
    with pytest.raises(QueryError) as raised:
        parse(text)
    return str(raised.value).removeprefix("query:")


REFUSED = {
    "PATTERN A a RETURN a.LEN": (
        '1:20: "a" is not a closure and has no LEN. Try: a.`LEN` for an attribute, STOCK+ a[] for a closure'
    ),
    "PATTERN A+ a[] WITHIN 5 RETURN a.`LEN`": (
        '1:32: "a" is a closure: which of its events is meant? Try: a[i].`LEN`, or a[].`LEN` in RETURN'
    ),
    "PATTERN A a WHERE abs(*) > 1 RETURN a.x": "1:19: abs takes values. Try: abs(a.price)",
    "PATTERN SEQ(A a, ~B b, C c) AGGREGATE sum(b.x)": (
        '1:39: "b" is negated, so AGGREGATE cannot use its event. Try: a or c'
    ),
    "PATTERN SEQ(A+ a[], C c) AGGREGATE sum(a[i].x)": (
        "1:36: The index i is not allowed in AGGREGATE. Try: a[] or a[1]"
    ),
    "PATTERN A a WHERE c.x = 1 RETURN a.x": '1:19: PATTERN has no variable "c". Try: a',
    "PATTERN SEQ(A a, B a) RETURN a.x": '1:20: Two components are called "a". Try: another name',
    "PATTERN A+ a RETURN 1": '1:12: A closure\'s variable is written with "[]". Try: a[]',
    "PATTERN A a[] RETURN 1": '1:11: "a[]" is a closure, which needs "+" after the type. Try: A+ a[]',
    "PATTERN A a WHERE a[1].x = 2 RETURN a.x": '1:19: "a" is not a closure, so it has only one event. Try: a.…',
    "PATTERN SEQ(A+ a[], B b) WHERE a.x = 2 RETURN b.x": (
        '1:32: "a" is a closure: which of its events is meant? Try: a[i].x, or a[].x in RETURN'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[2].x = 2 RETURN b.x": (
        '1:34: "2" is not an index. Try: a[1], a[i], a[i-1] or a[a.LEN]'
    ),
    "PATTERN SEQ(A a, B b) WHERE a.x = 1 OR b.y = 2 RETURN a.x": (
        '1:29: Each part that OR joins must be about "b", the last event that the condition names. Try: '
        'conditions with AND, or with "b" in each part'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[i].x = a[a.LEN].x RETURN b.x": (
        '1:32: "a[i]" is about each event, "a[a.LEN]" and aggregates about all. Try: two conditions'
    ),
    "PATTERN SEQ(A+ a[]) RETURN a[1].x": (
        '1:13: "a[]" has no end: nothing says where it stops. Try: WITHIN 10 MINUTES, or a condition on a[a.LEN]'
    ),
    "PATTERN A a WHERE partition_contiguity(a) { a.x = 1 } RETURN a.x": (
        "1:40: partition_contiguity needs a partition. Try: [symbol] or PARTITION BY(symbol)"
    ),
    "PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]!) { a[i].x > 1 } RETURN a[1].x": (
        '1:45: "!" has no condition to stop "a[]" at. Try: a condition on a[a.LEN]'
    ),
    "PATTERN SEQ(A a, B b) WHERE strict_contiguity(a!, b) { a.x > 1 } RETURN a.x": (
        '1:47: "!" stops a closure, but "a" is not a closure. Try: no "!"'
    ),
    "PATTERN SEQ(~B b, A a) RETURN a.x": (
        '1:13: "~" is not allowed first: nothing bounds the time before "a". Try: a component before it'
    ),
    "PATTERN SEQ(A a, ~B b) RETURN a.x": ('1:18: "~" at the end needs a time limit. Try: WITHIN 10 MINUTES'),
    "PATTERN SEQ(A a, ~B b, ~C c, D d) WHERE b.x = c.x RETURN a.x": (
        '1:41: A condition can\'t name two negated variables, "b" and "c". Try: a condition for each'
    ),
    "PATTERN SEQ(A a, ~B b, C c) RETURN b.x": ('1:36: "b" is negated, so RETURN cannot use its event. Try: a or c'),
    "PATTERN SEQ(A+ a[], B b) RETURN a[i].x": "1:33: The index i is not allowed in RETURN. Try: a[] or a[1]",
    "PATTERN A a RETURN a.x, a.x": '1:25: Two columns are called "a.x". Try: a.x AS another',
    "PATTERN A a RETURN avg(a.x)": ("1:20: avg() needs a closure. Try: avg(a[].price) or avg(a[..i-1].price)"),
    "PATTERN A a RETURN highest(2, a.x)": (
        "1:20: highest() needs a closure. Try: highest(2, a[].price) or highest(2, a[..i-1].price)"
    ),
    "PATTERN A a RETURN count(*)": (
        "1:20: count(*) is for AGGREGATE: RETURN gives one row for each match. Try: AGGREGATE count(*)"
    ),
    "PATTERN A a WHERE a.x > 80 % * a.y RETURN a.x": "1:28: A percentage is written without a space. Try: 80%",
    "PATTERN A a WHERE a.x > 80 % RETURN a.x": "1:28: A percentage is written without a space. Try: 80%",
    "PATTERN A a RETURN 1.5 % AS x": "1:24: A percentage is written without a space. Try: 1.5%",
    "PATTERN A a WHERE a.x % = 0 RETURN a.x": "1:25: A value is missing, found \"=\". Try: a.price, 10 or 'text'",
    "PATTERN A a WHER a.x = 2 RETURN a.x": '1:13: "WHER" is not known here. Try: WHERE',
    "PATTERN SEQ(A a WHERE a.x = 2 RETURN a.x": '1:17: The "(" at 1:12 is not closed before WHERE. Try: )',
    "PATTERN A a WHERE a.x = NULL RETURN a.x": "1:25: A missing value equals nothing. Try: IS NULL",
    "PATTERN A a WITHIN 10 fortnights RETURN a.x": (
        '1:23: "fortnights" is not a unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS'
    ),
    "PATTERN A a WHERE skip_till_all(a) { a.x = 1 } RETURN a.x": (
        '1:19: There is no strategy "skip_till_all". Try: strict_contiguity, partition_contiguity, '
        "skip_till_next_match, skip_till_any_match"
    ),
    "PATTERN A a WHERE skip_till_any(a) { a.x = 1 } RETURN a.x": (
        '1:19: There is no strategy "skip_till_any". Try: skip_till_any_match'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[].x RETURN b.x": "1:32: These are several values. Try: a[i].x or sum(a[].x)",
    "PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity(b) { a[] } RETURN b.x": (
        "1:55: Events are not a value. Try: count(a[])"
    ),
    "PATTERN A a WHERE count(*) RETURN a.x": (
        "1:19: count(*) is for AGGREGATE: RETURN gives one row for each match. Try: AGGREGATE count(*)"
    ),
    "PATTERN A a WITHIN 0 TICKS RETURN a.x": "1:13: A window must be longer than 0. Try: WITHIN 10 MINUTES",
    "PATTERN A a RETURN a.x WITHIN 10 TICKS": (
        "1:24: WITHIN is not allowed after RETURN. Try: PATTERN … WHERE … WITHIN … HAVING … RETURN"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_mistake_is_told_with_place_reason_and_cure(text: str) -> None:
    assert complaint(text) == REFUSED[text]


COMPOSED = {
    "PATTERN A a RETURN (a.x AS x) AS B IN STREAM events; FROM events PATTERN B b RETURN b.x AS x": (
        '1:46: The stream "events" would feed itself. Try: another name after IN STREAM'
    ),
    "PATTERN A a RETURN a.x AS x IN STREAM s UNION PATTERN B b RETURN b.x AS x; FROM s PATTERN s c RETURN c.x": (
        "1:59: Some of the events of query 1 are never read. Try: IN STREAM name in each block of the UNION"
    ),
    "FROM s PATTERN A a RETURN a.x AS x IN STREAM s": (
        '1:46: The stream "s" would feed itself. Try: another name after IN STREAM'
    ),
    "FROM u PATTERN u a RETURN a.x IN STREAM t;\nFROM t PATTERN t b RETURN b.x IN STREAM u": (
        '1:41: The stream "t" would feed itself by way of "u". Try: another name after IN STREAM'
    ),
    "PATTERN A a RETURN a.x;\nPATTERN B b RETURN b.x": (
        "1:13: No other query reads query 1. Try: IN STREAM name, and FROM name in another"
    ),
    "PATTERN A a AGGREGATE count(*);\nPATTERN B b RETURN b.x": (
        "1:13: AGGREGATE makes no events, so no other query can read query 1. "
        "Try: RETURN … IN STREAM name, or AGGREGATE in the last query"
    ),
    "PATTERN A a RETURN a.x AS x IN STREAM rises;\nFROM falls PATTERN rises b RETURN b.x": (
        '1:39: No other query reads the stream "rises", which query 1 makes. Try: FROM rises in another query'
    ),
    "PATTERN A a RETURN a.x AS x IN STREAM rises;\nFROM rise PATTERN rises b RETURN b.x": (
        '2:6: No query makes the stream "rise". Try: FROM rises'
    ),
    "FROM s PATTERN s b RETURN b.x;\nPATTERN A a RETURN a.x AS x IN STREAM s": (
        '2:39: The last query is the answer, but query 1 reads its "s". Try: the query that reads it after this one'
    ),
    "PATTERN A a RETURN a.x AS type IN STREAM s;\nFROM s PATTERN s b RETURN b.x": (
        '1:20: A derived event has its own "type" already. Try: another name after AS'
    ),
    "PATTERN A+ a[] WITHIN 5 RETURN a[].x AS xs IN STREAM r; FROM r PATTERN r q RETURN q.xs": (
        '1:32: "xs" has several values, but an attribute of an event has one. Try: a[1].…, a[a.LEN].… or an aggregate'
    ),
    "PATTERN A a RETURN a.x\nUNION PATTERN B b AGGREGATE count(*)": (
        "2:19: UNION joins queries with RETURN, or queries with AGGREGATE. Try: RETURN in all"
    ),
    "PATTERN A a WITHIN 5 TICKS RETURN a.x UNION\nPATTERN B b WITHIN 5 MINUTES RETURN b.x": (
        "2:13: One WITHIN is in ticks and another in units of time; a text has one kind of time. Try: WITHIN "
        "… SECONDS in all, or WITHIN … TICKS"
    ),
}


@pytest.mark.parametrize("text", COMPOSED)
def test_a_mistake_between_queries_is_told_at_the_name_in_question(text: str) -> None:
    assert complaint(text) == COMPOSED[text]


CONSTANTS = {
    "PATTERN A a WHERE a.x = DATE '20240506' RETURN a.x": "1:30: '20240506' is not a date. Try: DATE '2024-05-06'",
    "PATTERN A a WHERE a.x = DATE '2024-W19-1' RETURN a.x": "1:30: '2024-W19-1' is not a date. Try: DATE '2024-05-06'",
    "PATTERN A a WHERE a.x = DATE '2024-02-30' RETURN a.x": "1:30: '2024-02-30' is not a date. Try: DATE '2024-05-06'",
    "PATTERN A a WHERE a.x = DATE '2024-05-06T07:00:00Z' RETURN a.x": (
        "1:30: '2024-05-06T07:00:00Z' is not a date. Try: DATE '2024-05-06'"
    ),
    "PATTERN A a WHERE a.x = TIMESTAMP '2024-05-06' RETURN a.x": (
        "1:35: '2024-05-06' is not a timestamp. Try: TIMESTAMP '2024-05-06T07:00:00Z'"
    ),
    "PATTERN A a WHERE a.x = TIMESTAMP '20240506T070000Z' RETURN a.x": (
        "1:35: '20240506T070000Z' is not a timestamp. Try: TIMESTAMP '2024-05-06T07:00:00Z'"
    ),
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_a_constant_that_is_none_is_told_with_one_that_is(text: str) -> None:
    assert complaint(text) == CONSTANTS[text]


QUOTES = {
    "PATTERN A a WHERE a.x LIKE 5 RETURN a.x": "1:28: LIKE needs a text in quotes, found \"5\". Try: LIKE 'A%'",
    "PATTERN A a WHERE a.x LIKE a.y RETURN a.x": "1:28: LIKE needs a text in quotes, found \"a\". Try: LIKE 'A%'",
    "PATTERN A a WHERE a.x = 'abc RETURN a.x": "1:25: The quote that opens here is not closed on its line. Try: '",
    'PATTERN A a WHERE a.y = 1 ^\n  a.x = "abc RETURN a.x': (
        '2:9: The quote that opens here is not closed on its line. Try: "'
    ),
    "PATTERN A a WHERE a.x LIKE 'abc RETURN a.x": "1:28: The quote that opens here is not closed on its line. Try: '",
    "PATTERN A a WHERE a.x = 'it's' RETURN a.x": "1:28: A quote within a text is written twice. Try: ''",
    "PATTERN A a WHERE a.`x = 1 RETURN a.x": "1:21: The backquote that opens here is not closed on its line. Try: `",
    "PATTERN A a WHERE a.x = “abc” RETURN a.x": "1:25: A text is written in straight quotes, found \"“\". Try: 'text'",
    "PATTERN A a WHERE a.my price > 1 RETURN a.x": (
        "1:21: A name with a space in it is written in backquotes. Try: `my price`"
    ),
    "PATTERN A a WHERE a.x = DATE 5 RETURN a.x": (
        "1:30: DATE needs a text in quotes, found \"5\". Try: DATE '2024-05-06'"
    ),
    "PATTERN A a RETURN a.x AS 'y'": (
        "1:27: The name after AS is one word, or in backquotes, found \"'y'\". Try: AS price"
    ),
}


@pytest.mark.parametrize("text", QUOTES)
def test_a_mistake_with_quotes_is_told_where_the_quote_stands(text: str) -> None:
    assert complaint(text) == QUOTES[text]


CONDITIONS = {
    "PATTERN A a WHERE a.x = 1 a.y = 2 RETURN a.x": '1:27: Conditions are joined by "^" or AND, found "a". Try: ^ a',
    "PATTERN A a WHERE a.x = 1 [id] RETURN a.x": '1:27: Conditions are joined by "^" or AND, found "[". Try: ^ [',
    "PATTERN A a WHERE [id] a.y = 2 RETURN a.x": '1:24: Conditions are joined by "^" or AND, found "a". Try: ^ a',
    "PATTERN A a WHERE strict_contiguity(a) { a.x = 1 } a.y = 2 RETURN a.x": (
        '1:52: Conditions are joined by "^" or AND, found "a". Try: ^ a'
    ),
    "PATTERN A a WHERE strict_contiguity(a) { a.x = 1, a.y = 2 } RETURN a.x": (
        '1:49: Conditions are joined by "^" or AND, found ",". Try: ^'
    ),
    "PATTERN A a WHERE a.x = 1 & a.y = 2 RETURN a.x": '1:27: Conditions are joined by "^" or AND, found "&". Try: ^',
    "PATTERN A a WHERE a.x = 1 | a.y = 2 RETURN a.x": '1:27: Alternatives are joined by OR or "∨", found "|". Try: OR',
    "PATTERN A a WHERE a.x = 1 AN a.y = 2 RETURN a.x": '1:27: "AN" is not known here. Try: AND',
    "PATTERN A a WHERE a.x => 1 RETURN a.x": '1:23: "=>" is not a comparison. Try: >=',
    "PATTERN A a WHERE a.x == 1 RETURN a.x": '1:24: Equality is written with one "=". Try: =',
    "PATTERN A a WHERE !(a.x = 1) RETURN a.x": '1:19: A condition is negated by NOT, found "!". Try: NOT',
    "PATTERN A a WHERE 1 < a.x < 5 RETURN a.x": (
        '1:27: A comparison has two sides, found another "<". Try: two, joined by "^" or AND'
    ),
    "PATTERN A a WHERE a.x BETWEEN 1 AND 2 RETURN a.x": (
        "1:23: BETWEEN is not supported. Try: a.price >= 10 ^ a.price <= 20"
    ),
    "PATTERN A a WHERE a.x CONTAINS 'b' RETURN a.x": (
        '1:23: "CONTAINS" is not an operator. Try: =, !=, <, <=, >, >=, LIKE, IN or IS NULL'
    ),
    "PATTERN A a WHERE a.x IN [1, 2] RETURN a.x": '1:26: IN needs a list in parentheses, found "[". Try: IN (1, 2)',
    "PATTERN A a WHERE a.x IS 1 RETURN a.x": (
        '1:26: IS asks whether something is missing, found "1". Try: IS NULL or IS NOT NULL; = for a value'
    ),
    "PATTERN A a WHERE a.x = a.y MINUTES RETURN a.x": (
        '1:29: A unit of time follows a number, found "MINUTES". Try: 10 MINUTES'
    ),
    "PATTERN A a WHERE a.x = 5 MINUTS RETURN a.x": '1:27: "MINUTS" is not known here. Try: MINUTES',
    "PATTERN A a WHERE a.x = 5 FORTNIGHTS RETURN a.x": (
        '1:27: "FORTNIGHTS" is not a unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS'
    ),
    "PATTERN A a WHERE a.x > P1M RETURN a.x": ('1:25: "P1M" has no fixed length: years and months differ. Try: days'),
    "PATTERN A a WHERE a.x = ACME RETURN a.x": (
        "1:25: \"ACME\" alone is not a value. Try: a.ACME for an attribute, 'ACME' for a text"
    ),
    "PATTERN A a WHERE a.x = 1 AND RETURN a.x": "1:31: A condition is missing before RETURN. Try: a.price > 10",
    "PATTERN A a WHERE a.x > RETURN a.x": "1:25: A value is missing before RETURN. Try: a.price or 10",
    "PATTERN A a WHERE a.x + > 1 RETURN a.x": "1:25: A value is missing, found \">\". Try: a.price, 10 or 'text'",
    "PATTERN A a WHERE a. > 1 RETURN a.x": '1:22: An attribute is missing, found ">". Try: a.price',
    "PATTERN A a WHERE a->x = 1 RETURN a.x": '1:20: An attribute follows ".", found "->". Try: a.…',
    "PATTERN A a WHERE a.x = 1 // or two\nRETURN a.x": '1:27: A comment begins with "#". Try: # …',
    "PATTERN A a WHERE a.x = 1 -- or two\nRETURN a.x": '1:27: A comment begins with "#". Try: # …',
    "PATTERN A a WHERE a.x = 1 -- a.y = 2\nRETURN a.x": '1:27: A comment begins with "#". Try: # …',
    "PATTERN A a WHERE a.x = 1 --\nRETURN a.x": '1:27: A comment begins with "#". Try: # …',
    "PATTERN A a WHERE a.x NOT NULL RETURN a.x": "1:23: IS is missing before NOT NULL. Try: IS NOT NULL",
    "PATTERN A a WHERE a.x NOTNULL RETURN a.x": '1:23: "NOTNULL" is not an operator. Try: IS NOT NULL',
    "PATTERN A a WHERE a.k.x = 1 RETURN a.x": ('1:21: A name with a "." in it is written in backquotes. Try: a.`k.x`'),
    "PATTERN SEQ(A+ a[], B b) WHERE b.x > avg(a[..i-1].k.x) RETURN b.x": (
        '1:51: A name with a "." in it is written in backquotes. Try: a[..i-1].`k.x`'
    ),
    "PATTERN A a WHERE [a.x] RETURN a.x": (
        "1:20: An equivalence test names attributes alone, for all variables. Try: [x]"
    ),
    "PATTERN A a WHERE PARTITION BY a.x RETURN a.x": (
        "1:32: PARTITION BY takes each event's own attributes, without a variable. Try: PARTITION BY x"
    ),
    "PATTERN A+ a[] WHERE PARTITION BY k % (2 + a[i].x) RETURN a[].x": (
        "1:44: PARTITION BY takes each event's own attributes, without a variable. Try: PARTITION BY k % (2 + x"
    ),
    "PATTERN A+ a[] WHERE PARTITION BY k, a[].x RETURN a[].x": (
        "1:38: PARTITION BY takes each event's own attributes, without a variable. Try: PARTITION BY k, x"
    ),
    "PATTERN A+ a[] WHERE PARTITION BY a.LEN RETURN a[].x": (
        "1:35: PARTITION BY takes each event's own attributes, without a variable. Try: PARTITION BY symbol"
    ),
    "PATTERN A+ a[] WHERE PARTITION BY sum(a[].x) RETURN a[].x": (
        "1:35: PARTITION BY is about one event at a time, but sum covers several. Try: PARTITION BY symbol"
    ),
    "PATTERN A a WHERE PARTITION BY k + avg(x) RETURN a.x": (
        "1:36: PARTITION BY is about one event at a time, but avg covers several. Try: PARTITION BY x"
    ),
    "PATTERN A a WHERE PARTITION BY count(*) RETURN a.x": (
        "1:32: PARTITION BY is about one event at a time, but count covers several. Try: PARTITION BY symbol"
    ),
    "PATTERN A a WHERE PARTITION BY k, 1 + 2 RETURN a.x": (
        "1:35: The expression names no attribute. Try: PARTITION BY symbol"
    ),
    "PATTERN A a WHERE PARTITION BY WITHIN 5 RETURN a.x": (
        "1:32: An attribute is missing before WITHIN. Try: PARTITION BY symbol"
    ),
    "PATTERN A a WHERE PARTITION BY k % RETURN a.x": (
        "1:36: An attribute is missing before RETURN. Try: PARTITION BY symbol"
    ),
    "PATTERN A a WHERE PARTITION BY length(k, 2) RETURN a.x": "1:32: length takes 1 value, not 2. Try: length(price)",
    "PATTERN A a WHERE PARTITION BY averge(k) RETURN a.x": (
        '1:32: There is no function "averge". Try: abs, ceil, contains, ends_with, floor or another'
    ),
    "PATTERN A a WHERE NOT PARTITION BY k % 2 RETURN a.x": (
        '1:23: PARTITION BY must be a condition of its own in WHERE. Try: "^" or AND between them'
    ),
    "PATTERN A a WHERE 1 = 1 RETURN a.x": "1:19: The condition names no event. Try: a.price > 10",
    "PATTERN A a WHERE contains(a.x) RETURN a.x": "1:19: contains takes 2 values, not 1. Try: contains(a.name, 'x')",
    "PATTERN A a WHERE contains(a.x 'b') RETURN a.x": "1:32: A \",\" is missing before \"'b'\". Try: , 'b'",
    "PATTERN A a WHERE averge(a.x) > 1 RETURN a.x": '1:19: There is no function "averge". Try: avg',
    "PATTERN A a WHERE sqrt(a.x) > 1 RETURN a.x": (
        '1:19: There is no function "sqrt". Try: abs, avg, ceil, contains, count or another'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[0].x = 1 RETURN b.x": (
        '1:34: "0" is not an index. Try: a[1], a[i], a[i-1] or a[a.LEN]'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[i+1].x > a[i].x RETURN b.x": (
        '1:34: "i+1" is not an index. Try: a[1], a[i], a[i-1] or a[a.LEN]'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[-1].x > 1 RETURN b.x": (
        '1:34: "-1" is not an index. Try: a[1], a[i], a[i-1] or a[a.LEN]'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[a.LEN-1].x > 1 RETURN b.x": (
        '1:34: "a.LEN-1" is not an index. Try: a[1], a[i], a[i-1] or a[a.LEN]'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE avg(a[1..i-1].x) > 1 RETURN b.x": (
        '1:38: "1..i-1" is not a range. Try: a[..i-1] or a[]'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[1] = 1 RETURN b.x": '1:37: An attribute is missing, found "=". Try: a[1].price',
    "PATTERN SEQ(A+ a[], B b) WHERE a[i.x > 1 RETURN b.x": '1:38: The "[" at 1:33 is not closed. Try: ]',
    "PATTERN SEQ(A+ a[], B b) WHERE a.LENGTH > 1 RETURN b.x": (
        '1:32: "a" is a closure: which of its events is meant? Try: a.LEN'
    ),
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_mistake_in_a_condition_is_told_with_what_was_probably_meant(text: str) -> None:
    assert complaint(text) == CONDITIONS[text]


STRATEGIES = {
    "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a.x, b) { } RETURN a.x": (
        '1:51: A strategy names variables alone, found ".". Try: a'
    ),
    "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) a.x = b.x RETURN a.x": (
        '1:56: A strategy needs its conditions in braces, found "a". Try: { … }'
    ),
    "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) RETURN a.x": (
        '1:56: A strategy needs its conditions in braces, found "RETURN". Try: { … }'
    ),
    "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { a.x = b.x } RETURN a.x": (
        '1:50: A strategy names its variables, found "{". Try: skip_till_next_match(a, b[]) { … }'
    ),
    "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a b) { a.x = 1 } RETURN a.x": (
        '1:52: A "," is missing before "b". Try: , b'
    ),
    "PATTERN SEQ(A a, B b) WHERE skip-till-next-match(a, b) { a.x = 1 } RETURN a.x": (
        '1:29: There is no strategy "skip-till-next-match". Try: skip_till_next_match'
    ),
    "PATTERN SEQ(A a, B b) WHERE skip till next match(a, b) { a.x = 1 } RETURN a.x": (
        '1:29: There is no strategy "skip till next match". Try: skip_till_next_match'
    ),
    "PATTERN SEQ(A a, B b) WHERE stam(a, b) { a.x = 1 } RETURN a.x": (
        '1:29: There is no strategy "stam". Try: strict_contiguity, partition_contiguity, '
        "skip_till_next_match, skip_till_any_match"
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a, b) { b.x = 1 } RETURN b.x": (
        '1:53: The variable is written "a[]". Try: a[]'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[1], b) { b.x = 1 } RETURN b.x": (
        '1:54: A strategy names a closure whole, found "[". Try: a[]'
    ),
    "PATTERN SEQ(A a, B b) WHERE strict_contiguity(a) { a.x = 1 } OR a.y = 1 RETURN a.x": (
        '1:29: A strategy must be a condition of its own in WHERE. Try: "^" or AND between them'
    ),
}


@pytest.mark.parametrize("text", STRATEGIES)
def test_a_mistake_in_a_strategy_is_told_with_its_form(text: str) -> None:
    assert complaint(text) == STRATEGIES[text]


PATTERNS = {
    "PATTERN A.b a RETURN a.x": '1:9: A name with a "." in it is written in backquotes. Try: `A.b`',
    "PATTERN SEQ A a, B b) RETURN a.x": "1:9: The components of SEQ are written in parentheses. Try: SEQ(…)",
    "PATTERN SEQ A+ a[], B b RETURN b.x": "1:9: The components of SEQ are written in parentheses. Try: SEQ(…)",
    "PATTERN A a, B b RETURN a.x": "1:12: Several components need SEQ. Try: PATTERN SEQ(…)",
    "PATTERN (A a, B b) RETURN a.x": "1:9: Several components need SEQ. Try: PATTERN SEQ(…)",
    "PATTERN SEQ(A, B b) RETURN b.x": '1:14: A component needs a variable after its type, found ",". Try: A a',
    "PATTERN SEQ(A a; B b) RETURN b.x": '1:16: Components are separated by commas, found ";". Try: ,',
    "PATTERN SEQ(A a B b) RETURN b.x": '1:17: Components are separated by commas, found "B". Try: ,',
    "PATTERN SEQ(A a, B b,) RETURN b.x": '1:22: A component is missing, found ")". Try: STOCK a',
    "PATTERN SEQ(A a, !B b, C c) RETURN a.x": '1:18: Absence is written with "~", found "!". Try: ~',
    "PATTERN SEQ(A a, NOT B b, C c) RETURN a.x": '1:18: Absence is written with "~", found "NOT". Try: ~',
    "PATTERN SEQ(A a, ~(B b, D d), C c) RETURN a.x": '1:23: "~" negates one component, found ",". Try: a ~ for each',
    "PATTERN SEQ(A a, B* b[]) RETURN a.x": '1:19: A closure is written with "+": one event or more. Try: B+',
    "PATTERN SEQ(A a, B? b) RETURN a.x": (
        "1:19: Optional components are not supported. Try: query UNION query, with it and without"
    ),
    "PATTERN SEQ(A a+, C c) RETURN c.x": '1:16: The "+" follows the type. Try: A+ a[]',
    "PATTERN SEQ(A a, B b|C c) RETURN a.x": "1:21: Alternatives in SEQ are not supported. Try: query UNION query",
    "PATTERN SEQ(A a, OR(B b, C c)) RETURN a.x": "1:20: Alternatives in SEQ are not supported. Try: query UNION query",
}


@pytest.mark.parametrize("text", PATTERNS)
def test_a_mistake_in_a_pattern_is_told_with_its_form(text: str) -> None:
    assert complaint(text) == PATTERNS[text]


CLAUSES = {
    "-- of trades\nPATTERN A a RETURN a.x": '1:1: A comment begins with "#". Try: # …',
    "FROM s -- of trades\nPATTERN A a RETURN a.x": '1:8: A comment begins with "#". Try: # …',
    "PATTERN A a -- of trades\nRETURN a.x": '1:13: A comment begins with "#". Try: # …',
    "PATTERN A a /* of trades */ RETURN a.x": '1:13: A comment begins with "#". Try: # …',
    "PATTERN A a WITHIN 5 --ticks\nRETURN a.x": '1:22: A comment begins with "#". Try: # …',
    "PATTERN A a RETURN a.x AS x -- it's odd": '1:29: A comment begins with "#". Try: # …',
    "PATTERN A a RETURN a.k.x": '1:22: A name with a "." in it is written in backquotes. Try: a.`k.x`',
    "PATTERN A a RETURN a.(k.x, y)": '1:23: A name with a "." in it is written in backquotes. Try: `k.x`',
    "PATTERN A a AGGREGATE count(*) BY a.x": (
        "1:35: BY takes each event's own attributes, without a variable. Try: BY x"
    ),
    "PATTERN A a AGGREGATE count(*) BY k, k % a.x": (
        "1:42: BY takes each event's own attributes, without a variable. Try: BY k, k % x"
    ),
    "PATTERN A a WHERE [k] AGGREGATE count(*) BY (k+1) % 2": (
        '1:45: "(k+1)%2" may differ within a match. Try: PARTITION BY (k + 1) % 2 in WHERE'
    ),
    "PATTERN A a AGGREGATE count(*) AS n, sum(a.x) AS n": (
        '1:38: Two columns are called "n". Try: another name after AS'
    ),
    "PATTERN A a RETURN a.x, a.x": '1:25: Two columns are called "a.x". Try: a.x AS another',
    "FROM s PATTERN A a AGGREGATE count(*) IN STREAM t; FROM t PATTERN t b RETURN b.x": (
        "1:39: AGGREGATE makes no events, so IN STREAM is not allowed. Try: RETURN … IN STREAM name"
    ),
    "PATTERN SEQ(A a, B b) WHERE a.x = b.x WITHIN 10 MINUTES": (
        "1:56: RETURN is missing: every query needs it. Try: RETURN a.price"
    ),
    "PATTERN A a;\nPATTERN B b RETURN b.x": ("1:12: RETURN is missing: every query needs it. Try: RETURN a.price"),
    "PATTERN A a RETURN": "1:19: A value is missing, found the end of the text. Try: a.price, 10 or 'text'",
    "PATTERN A a RETURN *": '1:20: "*" is not supported: RETURN names its columns. Try: a.price',
    "PATTERN A a RETURN a": '1:20: "a" is a variable of PATTERN: which of its attributes is meant? Try: a.price',
    "PATTERN SEQ(A+ a[], B b) RETURN a": (
        '1:33: "a" is a variable of PATTERN: which of its attributes is meant? Try: a[].price'
    ),
    "PATTERN A a RETURN a.x y": '1:24: A column\'s name follows AS, found "y". Try: AS y',
    "PATTERN A a RETURN a.x a.y": '1:24: A "," is missing before "a". Try: , a',
    "PATTERN A a RETURN a.x GROUP BY a.y": (
        "1:24: There is no GROUP BY: AGGREGATE makes groups. Try: AGGREGATE count(*) BY symbol"
    ),
    "PATTERN A a RETURN a.x LIMIT 5": (
        "1:24: LIMIT is not supported: matches are emitted as they are found. Try: the query without it"
    ),
    "PATTERN A a RETURN a.x AS x IN STEAM q": '1:29: "IN STEAM" is not known here. Try: IN STREAM',
    "PATTERN A a RETURN a.x IN STEAM q": '1:24: "IN STEAM" is not known here. Try: IN STREAM',
    "PATTERN A a RETURN a.x INSTREAM q": '1:24: "INSTREAM" is not known here. Try: IN STREAM',
    "PATTERN A a RETURN a.x STREAM q": '1:24: "STREAM" is not known here. Try: IN STREAM',
    "PATTERN A a RETURN a.x IN q": '1:24: A stream is named after IN STREAM, found "IN q". Try: IN STREAM name',
    "PATTERN A a RETURN a.x IN STREAM": (
        "1:33: IN STREAM needs a name, one word, found the end of the text. Try: IN STREAM rises"
    ),
    "SELECT a.x PATTERN A a": (
        '1:1: A query begins with PATTERN, found "SELECT". Try: PATTERN SEQ(STOCK a, STOCK b) … RETURN a.price'
    ),
    "SEQ(A a, B b) RETURN a.x": '1:1: A query begins with PATTERN, found "SEQ". Try: PATTERN SEQ(…)',
    "": (
        "1:1: A query begins with PATTERN, found the end of the text. Try: PATTERN SEQ(STOCK a, STOCK b) … "
        "RETURN a.price"
    ),
    "FROM STREAM s PATTERN A a RETURN a.x": '1:6: FROM takes names of streams alone, found "STREAM". Try: FROM s',
    "FROM 's.csv' PATTERN A a RETURN a.x": (
        "1:6: A stream's name is one word, without quotes, found \"'s.csv'\". Try: FROM stocks PATTERN …"
    ),
    "PATTERN A a WITHIN RETURN a.x": '1:20: WITHIN needs a duration, found "RETURN". Try: WITHIN 10 MINUTES',
    "PATTERN A a WITHIN ten MINUTES RETURN a.x": '1:20: WITHIN needs a duration, found "ten". Try: WITHIN 10 MINUTES',
    "PATTERN A a WITHIN 10 WHERE a.x = 1 RETURN a.x": (
        "1:23: WHERE is not allowed after WITHIN. Try: PATTERN … WHERE … WITHIN … HAVING … RETURN"
    ),
    "PATTERN A a WHERE a.x = 1 WHERE a.y = 1 RETURN a.x": "1:27: WHERE is given twice. Try: one WHERE",
    "PATTERN A a AGGREGATE count(*) BY x": '1:35: "x" may differ within a match. Try: [x] in WHERE',
    "PATTERN SEQ(A a, ~B b, C c) HAVING b.x = 1 RETURN a.x": (
        '1:36: "b" is negated, so HAVING cannot use its event. Try: a or c'
    ),
    "FORM s PATTERN A a RETURN a.x": '1:1: "FORM" is not known here. Try: FROM',
    "PATTERNSEQ(A a, B b) RETURN a.x": '1:1: "PATTERNSEQ" is not known here. Try: PATTERN',
    "PATTERN ~A a HAVING a.x = 1 RETURN 1": (
        '1:21: "a" is negated, so HAVING cannot use its event. Try: a component without "~"'
    ),
    "PATTERN A a WITHIN 10 a.x AS x": '1:23: RETURN is missing before "a". Try: RETURN a…',
    "PATTERN A a AGGREGATE count(*) AS n sum(a.x) AS s": '1:37: A "," is missing before "sum". Try: , sum',
    "PATTERN A a RETURN (a.x a.y) AS B IN STREAM s": '1:25: A "," is missing before "a". Try: , a',
}


@pytest.mark.parametrize("text", CLAUSES)
def test_a_clause_that_is_missing_or_misplaced_is_told(text: str) -> None:
    assert complaint(text) == CLAUSES[text]


WHOLE = """FROM s, t PATTERN SEQ ( STOCK+ a[], ~B b, ~ ( C+ c[] ), ANY d )
    WHERE skip_till_next_match ( a[]!, d ) { [ symbol ] ^ a[i] . price > avg ( a[ .. i-1 ] . price )
    ^ NOT d.x LIKE 'A%' }
    AND PARTITION BY x WITHIN 1 hour HAVING a . LEN > 2 OR d.x IN ( 1 , 2 )
    RETURN a[ 1 ] . symbol , a[] . ( price , `my v` ) , 80% * d.x AS low IN STREAM q ;
    FROM q PATTERN q z AGGREGATE count ( * ) AS n BY k"""


@pytest.mark.parametrize("instead", ["", "'", "[", ")", "AS", "a", "5"])
def test_a_damaged_text_is_read_or_refused(instead: str) -> None:
    """Nothing that tells of a mistake makes another one."""
    words = WHOLE.split()
    for number in range(len(words)):
        with suppress(QueryError):
            parse(" ".join([*words[:number], instead, *words[number + 1 :]]))
