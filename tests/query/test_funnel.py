"""A funnel: how far partial matches come, counted step by step."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings

import thence
from oracle.sase_cases import Case as SaseCase
from oracle.sase_cases import cases as sase_cases
from oracle.sase_text import text as sase_text
from strategies.spaseq import Case as SpaseqCase
from strategies.spaseq import cases as spaseq_cases
from strategies.spaseq import text as spaseq_text
from support.sase_runs import typed
from support.spaseq_runs import background, batches_of
from thence.errors import InputError
from thence.local import funnel as funnels

pytestmark = pytest.mark.numba

FEW = settings(max_examples=max(10, settings.default.max_examples // 4))

PREFIX = "PREFIX : <http://example.org/> "
STRATEGIES = ("skip_till_next_match", "skip_till_any_match", "partition_contiguity", "strict_contiguity")


def some(count: int, seed: int) -> list[thence.Event]:
    draw = random.Random(seed)
    return [
        thence.Event(time, {"type": draw.choice("ABC"), "x": draw.randrange(10), "user": draw.randrange(3)})
        for time in range(count)
    ]


def rows(query: str, events: list[thence.Event]) -> list[tuple[str, int | None]]:
    return [(row.step, row.count) for row in thence.parse(query).match(events).funnel().rows]


def test_each_step_counts_the_events_that_begin_a_match_of_it() -> None:
    """By hand: pairs are of all events, later ones being later in time."""
    events = some(60, 1)
    typed = [(event.start, dict(event.attributes or {})) for event in events]
    begin = [(time, a) for time, a in typed if a["type"] == "A"]
    pairs = [(one, other) for one in begin for other in typed if other[1]["type"] == "B" and other[0] > one[0]]
    found = [("could begin a", len(begin)), ("passed a.x > 2", sum(a["x"] > 2 for _, a in begin))]
    pairs = [each for each in pairs if each[0][1]["x"] > 2]
    for step, passes in (
        ("met a b", lambda one, other: True),
        ("had the same user", lambda one, other: one[1]["user"] == other[1]["user"]),
        ("met it WITHIN 9 TICKS", lambda one, other: other[0] - one[0] <= 9),
        ("passed b.x > a.x + 3", lambda one, other: other[1]["x"] > one[1]["x"] + 3),
        ("passed b.x > 8", lambda one, other: other[1]["x"] > 8),
    ):
        pairs = [each for each in pairs if passes(*each)]
        found.append((step, len({one[0] for one, _ in pairs})))
    query = "PATTERN SEQ(A a, B b) WHERE [user] ^ a.x > 2 ^ b.x > a.x + 3 ^ b.x > 8 WITHIN 9 RETURN a.x"
    assert rows(query, events) == found
    assert [count for _, count in found if count] == [count for _, count in found]  # each step is told apart by some


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A {a}, B {b}, C {c}) WHERE {strategy}({a}, {b}, {c}) {{ [user] ^ b.x > a.x ^ c.x > 2 }}",
        "SEQ(A a, ~B n, C c) WHERE {strategy}(a, c) {{ [user] ^ n.x > c.x ^ c.x > a.x }}",
        "SEQ(A+ a[], C c) WHERE {strategy}(a[], c) {{ [user] ^ a[i].x >= a[i-1].x ^ a.LEN > 1 ^ c.x > 2 }}",
        "SEQ(A a, B b, ~C n) WHERE {strategy}(a, b) {{ [user] ^ n.x > b.x }}",
        "SEQ(A a, B+ b[]) WHERE {strategy}(a, b[]) {{ [user] ^ b[i].x > a.x ^ b.LEN = 2 }}",
    ],
)
def test_the_last_step_counts_the_events_that_begin_the_matches(strategy: str, pattern: str) -> None:
    """Whatever the strategy: the last step is the query itself."""
    text = f"PATTERN {pattern.format(strategy=strategy, a='a', b='b', c='c')} WITHIN 12 RETURN 1 AS one"
    for seed in range(3):
        events = some(120, seed)
        matching = thence.parse(text).match(events)
        begin = {match.events[0].start for match in matching}
        counts = [row.count for row in matching.funnel().rows]
        assert counts[-1] == len(begin)
        assert counts == sorted(counts, reverse=True, key=lambda count: count or 0)


@FEW
@given(sase_cases())
def test_no_step_of_a_random_query_of_sase_has_more_than_the_one_before(case: SaseCase) -> None:
    """And the last has as many as begin the matches."""
    matching = thence.parse(sase_text(case.query)).match([typed(event) for event in case.events])
    begin = {match.event_ids[0] for match in matching}
    counts = [row.count or 0 for row in matching.funnel().rows]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == len(begin)


@FEW
@given(spaseq_cases())
def test_no_step_of_a_random_query_of_spaseq_has_more_than_the_one_before(case: SpaseqCase) -> None:
    """And the last has as many as begin the matches, but for optional parts at the start."""
    text = spaseq_text(case.query)
    matching = thence.parse(text).match(batches_of(case), background=background(case))
    begin = {match.event_ids[0] for match in matching}
    counts = [row.count or 0 for row in matching.funnel().rows]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == len(begin) or "?" in "".join(part.unary.value for part in case.query.parts)


def test_sequences_of_spaseq_have_a_funnel_too() -> None:
    text = (
        PREFIX
        + """SELECT ?a WITHIN 12 FROM STREAM S <x:S> WHERE { SEQ (A ; B+ ; C! : D)
        DEFINE GPM A ON S { ?a a :A ; :x ?v ; :user ?u FILTER(?v > 1) }
        DEFINE GPM B ON S { ?b a :B ; :x ?w FILTER(?w > ?v) }
        DEFINE GPM C ON S { ?c a :C ; :user ?u }
        DEFINE GPM D ON S { ?d :x ?y ; :user ?u FILTER(?y > ?v) } }"""
    )
    events = some(120, 4)
    matching = thence.parse(text).match(events)
    begin = {match.events[0].start for match in matching}
    found = matching.funnel()
    assert [row.step for row in found.rows] == [
        "could begin A",
        "passed ?v > 1",
        "met a B",
        "met it WITHIN 12 TICKS",
        "passed ?w > ?v",
        "met a D",
        "passed ?y > ?v",
        "had no C in between",
    ]
    counts = [row.count or 0 for row in found.rows]
    assert counts[-1] == len(begin) > 0
    assert counts == sorted(counts, reverse=True)


def test_the_sentence_ends_where_nothing_gets_further() -> None:
    query = thence.parse("PATTERN SEQ(A a, B b, C c) WHERE b.x > a.x + 100 WITHIN 9 RETURN a.x")
    events = [thence.Event(time, {"type": kind, "x": 1}) for time, kind in enumerate("AABC")]
    found = query.match(events).funnel()
    assert found.sentence == (
        "2 events could begin a, 2 of these met a b, 2 met it WITHIN 9 TICKS, none passed b.x > a.x + 100"
    )
    assert repr(found).splitlines()[:2] == ["2  could begin a", "2  met a b"]
    assert repr(found).splitlines()[-1] == "0  met a c"
    assert query.match([]).funnel().sentence == "no event could begin a"


def test_blocks_of_a_composed_query_have_funnels_of_their_own() -> None:
    text = "PATTERN A a RETURN (a.x AS x) AS Fast IN STREAM fast; FROM fast PATTERN Fast f WHERE f.x > 1 RETURN f.x"
    events = [thence.Event(time, {"type": "A", "x": time}) for time in range(5)]
    assert rows(text, events) == [
        ("could begin a (events)", 5),
        ("could begin f (fast)", 5),
        ("passed f.x > 1 (fast)", 3),
    ]


def test_large_input_is_counted_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(funnels, "MOST_EVENTS", 10)
    found = thence.parse("PATTERN A a RETURN a.x").match([thence.Event(t, {"type": "A"}) for t in range(30)]).funnel()
    assert found.partial
    assert found.sentence == "10 events could begin a (of the first 10 events of each stream)"
    assert repr(found).splitlines()[-1] == "of the first 10 events of each stream"


def test_a_step_that_takes_too_long_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [thence.Event(time, {"type": "A"}) for time in range(30)]
    query = thence.parse("PATTERN SEQ(A a, B b) WITHIN 9 RETURN a.x")
    monkeypatch.setattr(funnels, "MOST_RUNS", 10)
    found = query.match(events).funnel()
    assert [row.count for row in found.rows] == [30, None, None]
    assert found.sentence.endswith("it would take too long to count how many met a b")
    assert query.match(events).funnel(seconds=-1).rows[0].count is None


def test_a_funnel_needs_input_that_can_be_read_again(tmp_path: Path) -> None:
    query = thence.parse("PATTERN A a RETURN a.x")
    with pytest.raises(InputError, match=r"funnel\(\) reads the stream events once more.* Try: a list of it"):
        query.match(iter([thence.Event(1, {"type": "A"})])).funnel()


def test_other_languages_have_none() -> None:
    with pytest.raises(InputError, match=r"funnel\(\) is for SASE\+ and SPAseQ\. Try: query\.explain\(\)"):
        thence.parse(PREFIX + "SELECT ?a { ?a :x ?b }").match([]).funnel()
