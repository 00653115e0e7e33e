"""What is wrong with a SASE+ query is told in one sentence, with its place and a cure."""

from __future__ import annotations

import pytest

from thence.errors import QueryError
from thence.lang.sase import parse


def complaint(text: str) -> str:
    with pytest.raises(QueryError) as raised:
        parse(text)
    return str(raised.value).removeprefix("query:")


REFUSED = {
    "PATTERN A a WHERE abs(*) > 1 RETURN a.x": "1:19: abs takes values. Try: abs(a.price)",
    "PATTERN SEQ(A a, ~B b, C c) AGGREGATE sum(b.x)": (
        '1:39: "b" is negated: there is no such event to tell of in AGGREGATE. Try: a or c'
    ),
    "PATTERN SEQ(A+ a[], C c) AGGREGATE sum(a[i].x)": (
        "1:36: AGGREGATE is about a whole match and has no i. Try: a[] or a[1]"
    ),
    "PATTERN A a WHERE c.x = 1 RETURN a.x": '1:19: PATTERN has no variable "c". Try: a',
    "PATTERN SEQ(A a, B a) RETURN a.x": '1:20: Two components are called "a". Try: another name',
    "PATTERN A+ a RETURN 1": '1:12: A closure\'s variable is written with "[]". Try: a[]',
    "PATTERN A a[] RETURN 1": '1:11: "a[]" is of a closure, and there is no "+" after the type. Try: A+ a[]',
    "PATTERN A a WHERE a[1].x = 2 RETURN a.x": '1:19: "a" is no closure and has but one event. Try: a.…',
    "PATTERN SEQ(A+ a[], B b) WHERE a.x = 2 RETURN b.x": (
        '1:32: "a" is a closure: which of its events is meant? Try: a[i].x, or a[].x in RETURN'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[2].x = 2 RETURN b.x": (
        '1:34: "2" is no index. Try: a[1], a[i], a[i-1] or a[a.LEN]'
    ),
    "PATTERN SEQ(A a, B b) WHERE a.x = 1 OR b.y = 2 RETURN a.x": (
        '1:29: Of what OR joins, each part must be about "b", the last event that the condition names. Try: '
        'conditions with AND, or with "b" in each part'
    ),
    "PATTERN SEQ(A+ a[], B b) WHERE a[i].x = a[a.LEN].x RETURN b.x": (
        '1:32: "a[i]" is about each event, "a[a.LEN]" and aggregates about all. Try: two conditions'
    ),
    "PATTERN SEQ(A+ a[]) RETURN a[1].x": (
        '1:13: "a[]" has no end: nothing says where it stops. Try: WITHIN 10 MINUTES, or a condition on a[a.LEN]'
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
    "PATTERN SEQ(~B b, A a) RETURN a.x": (
        '1:13: "~" can\'t stand first: what was absent before "a" is not bounded. Try: a component before it'
    ),
    "PATTERN SEQ(A a, ~B b) RETURN a.x": (
        '1:18: "~" at the end needs a time up to which nothing may come. Try: WITHIN 10 MINUTES'
    ),
    "PATTERN SEQ(A a, ~B b, ~C c, D d) WHERE b.x = c.x RETURN a.x": (
        '1:41: A condition can\'t name two negated variables, "b" and "c". Try: a condition for each'
    ),
    "PATTERN SEQ(A a, ~B b, C c) RETURN b.x": (
        '1:36: "b" is negated: there is no such event to tell of in RETURN. Try: a or c'
    ),
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
        '1:23: "%" makes a percentage of a number, as in 80%; there is no remainder. Try: x - n * floor(x / n) for it'
    ),
    "PATTERN A a WHER a.x = 2 RETURN a.x": '1:13: "WHER" is not known here. Try: WHERE',
    "PATTERN SEQ(A a WHERE a.x = 2 RETURN a.x": '1:17: The "(" at 1:12 is not closed before WHERE. Try: )',
    "PATTERN A a WHERE a.x = NULL RETURN a.x": "1:25: What is missing is equal to nothing. Try: IS NULL",
    "PATTERN A a WITHIN 10 fortnights RETURN a.x": (
        '1:23: "fortnights" is no unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS'
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
        "1:55: Events are no value. Try: count(a[])"
    ),
    "PATTERN A a WHERE count(*) RETURN a.x": (
        "1:19: count(*) is for AGGREGATE: RETURN gives a row a match. Try: AGGREGATE count(*)"
    ),
    "PATTERN A a WITHIN 0 TICKS RETURN a.x": "1:13: A window can't be without length. Try: WITHIN 10 MINUTES",
    "PATTERN A a RETURN a.x WITHIN 10 TICKS": (
        '1:24: WITHIN can\'t stand here: expected the end, ",", ";", AS or UNION. Try: PATTERN … WHERE … WITHIN '
        "… HAVING … RETURN"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_mistake_is_told_with_place_reason_and_cure(text: str) -> None:
    assert complaint(text) == REFUSED[text]


COMPOSED = {
    "PATTERN A a RETURN a.x AS x IN STREAM s UNION PATTERN B b RETURN b.x AS x; FROM s PATTERN s c RETURN c.x": (
        "1:59: Of what query 1 gives, a part goes nowhere. Try: IN STREAM name in each block of the UNION"
    ),
    "FROM s PATTERN A a RETURN a.x AS x IN STREAM s": (
        '1:46: The stream "s" would feed itself. Try: another name after IN STREAM'
    ),
    "FROM u PATTERN u a RETURN a.x IN STREAM t;\nFROM t PATTERN t b RETURN b.x IN STREAM u": (
        '1:41: The stream "t" would feed itself. Try: another name after IN STREAM'
    ),
    "PATTERN A a RETURN a.x;\nPATTERN B b RETURN b.x": (
        "1:13: What query 1 gives, no other reads. Try: IN STREAM name, and FROM name in another"
    ),
    "PATTERN A a AGGREGATE count(*);\nPATTERN B b RETURN b.x": (
        "1:13: What query 1 gives, no other reads. Try: IN STREAM name, and FROM name in another"
    ),
    "PATTERN A a RETURN a.x AS x IN STREAM rises;\nFROM falls PATTERN rises b RETURN b.x": (
        '1:39: No other query reads the stream "rises", which query 1 makes. Try: FROM rises in another query'
    ),
    "PATTERN A a RETURN a.x AS x IN STREAM rises;\nFROM rise PATTERN rises b RETURN b.x": (
        '2:6: No query makes the stream "rise". Try: FROM rises'
    ),
    "FROM s PATTERN s b RETURN b.x;\nPATTERN A a RETURN a.x AS x IN STREAM s": (
        '2:39: The last query is the answer, and query 1 reads its "s". Try: the query that reads it after this one'
    ),
    "PATTERN A a RETURN a.x AS type IN STREAM s;\nFROM s PATTERN s b RETURN b.x": (
        '1:20: An event that is made has its "type" already. Try: another name after AS'
    ),
    "PATTERN A+ a[] WITHIN 5 RETURN a[].x AS xs IN STREAM r; FROM r PATTERN r q RETURN q.xs": (
        '1:32: "xs" has several values, and is to be an attribute of an event. Try: a[1].…, a[a.LEN].… or an aggregate'
    ),
    "PATTERN A a RETURN a.x\nUNION PATTERN B b AGGREGATE count(*)": (
        "2:19: UNION joins queries with RETURN, or queries with AGGREGATE. Try: RETURN in all"
    ),
    "PATTERN A a WITHIN 5 TICKS RETURN a.x UNION\nPATTERN B b WITHIN 5 MINUTES RETURN b.x": (
        "2:13: One WITHIN is in ticks, and another in units of time; a text has one kind of time. Try: WITHIN "
        "… SECONDS in all, or WITHIN … TICKS"
    ),
}


@pytest.mark.parametrize("text", COMPOSED)
def test_a_mistake_between_queries_is_told_at_the_name_in_question(text: str) -> None:
    assert complaint(text) == COMPOSED[text]


CONSTANTS = {
    "PATTERN A a WHERE a.x = DATE '20240506' RETURN a.x": "1:30: '20240506' is no date. Try: DATE '2024-05-06'",
    "PATTERN A a WHERE a.x = DATE '2024-W19-1' RETURN a.x": "1:30: '2024-W19-1' is no date. Try: DATE '2024-05-06'",
    "PATTERN A a WHERE a.x = DATE '2024-02-30' RETURN a.x": "1:30: '2024-02-30' is no date. Try: DATE '2024-05-06'",
    "PATTERN A a WHERE a.x = DATE '2024-05-06T07:00:00Z' RETURN a.x": (
        "1:30: '2024-05-06T07:00:00Z' is no date. Try: DATE '2024-05-06'"
    ),
    "PATTERN A a WHERE a.x = TIMESTAMP '2024-05-06' RETURN a.x": (
        "1:35: '2024-05-06' is no timestamp. Try: TIMESTAMP '2024-05-06T07:00:00Z'"
    ),
    "PATTERN A a WHERE a.x = TIMESTAMP '20240506T070000Z' RETURN a.x": (
        "1:35: '20240506T070000Z' is no timestamp. Try: TIMESTAMP '2024-05-06T07:00:00Z'"
    ),
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_a_constant_that_is_none_is_told_with_one_that_is(text: str) -> None:
    assert complaint(text) == CONSTANTS[text]
