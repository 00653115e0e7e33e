"""The option `order` (C-8 to C-12) by examples: what it compares, who rejects it, what is said of ties without it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import thence
from thence.errors import ThenceWarning
from thence.rdf.terms import IRI

pytestmark = pytest.mark.numba

NEXT = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) {} WITHIN 10 RETURN 1 AS x"


def event(name: str, time: int, *, kind: str = "", **values: Any) -> thence.Event:
    return thence.Event(time, {"type": name[0].upper(), **values}, id=name)


def ids(found: Any) -> list[str]:
    return sorted(" ".join(match.event_ids) for match in found)


def test_an_event_follows_another_of_its_time_by_the_values_of_order() -> None:
    """C-9: ordered by seq, an event at 5 with seq 2 follows one at 5 with seq 1; and windows go by time alone."""
    query = thence.parse(NEXT)
    events = [event("b1", 5, seq=2), event("a1", 5, seq=1), event("b2", 5, seq=0), event("b3", 6, seq=0)]
    assert ids(query.match(events)) == ["a1 b3"]
    assert ids(query.match(events, order="seq")) == ["a1 b1"]
    within = thence.parse(NEXT.replace("10", "1"))
    assert ids(within.match([event("b1", 6, seq=9), *events[1:2]], order="seq")) == ["a1 b1"]
    assert ids(within.match([event("b1", 7, seq=0), *events[1:2]], order="seq")) == []


@pytest.mark.parametrize(
    ("first", "second", "follows"),
    [
        (1, 2, True),
        (9, 10, True),
        (1.5, 2, True),
        (2, 2.0, False),
        (None, 0, True),
        (None, None, False),
        ("9", "10", False),
        (10, "1", True),
        (float("nan"), -1.0, True),
        (-1.5, -1.25, True),
        (IRI("http://x.org/z"), 1, True),
    ],
)
def test_values_of_order_compare_as_order_by_compares_terms(first: Any, second: Any, follows: bool) -> None:
    """C-8, C-11: missing values come first, then IRIs, then literals, numbers by value; equal values stay ties."""
    events = [
        event(name, 5, **({} if value is None else {"seq": value})) for name, value in (("a1", first), ("b1", second))
    ]
    found = thence.parse(NEXT).match(events, order="seq")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThenceWarning)
        assert ids(found) == ["a1 b1"] * follows


def test_the_second_name_decides_where_the_first_is_equal() -> None:
    events = [event("a1", 5, seq=1, line=1), event("b1", 5, seq=1, line=2), event("b2", 5, seq=0, line=3)]
    assert ids(thence.parse(NEXT).match(events, order=("seq", "line"))) == ["a1 b1"]
    assert ids(thence.parse(NEXT).match(events, order="seq")) == []


def test_strict_contiguity_is_broken_by_an_event_of_the_same_time_in_between() -> None:
    """C-9, SA-12; without `order` neither breaks the other's contiguity (SA-8)."""
    query = thence.parse(NEXT.replace("skip_till_next_match", "strict_contiguity"))
    events = [event("a1", 5, seq=1), event("x1", 5, seq=2), event("b1", 6, seq=1)]
    assert ids(query.match(events)) == ["a1 b1"]
    assert ids(query.match(events, order="seq")) == []
    assert ids(query.match([*events, event("b2", 5, seq=1.5)], order="seq")) == ["a1 b2"]


def test_a_gap_begins_after_the_order_of_an_event_and_ends_with_the_time_of_the_window() -> None:
    """C-9: `b@5` with a smaller seq is before the gap; any event of the window's last time is in it."""
    query = thence.parse("PATTERN SEQ(A a, ~B b) WITHIN 3 RETURN 1 AS x")
    first = event("a1", 5, seq=2)
    assert ids(query.match([first, event("b1", 5, seq=1)], order="seq")) == ["a1"]
    assert ids(query.match([first, event("b1", 5, seq=3)], order="seq")) == []
    assert ids(query.match([first, event("b1", 8, seq=9)], order="seq")) == []
    assert ids(query.match([first, event("b1", 9, seq=0)], order="seq")) == ["a1"]


def test_a_state_keeps_what_must_be_absent_at_the_time_of_a_first_event() -> None:
    """SA-34: saved between the gap and its end."""
    query = thence.parse("PATTERN SEQ(A a, ~N n, B b) WITHIN 9 RETURN 1 AS x")
    engine = query.engine(order="seq")
    for each in (event("a1", 5, seq=1), event("n1", 5, seq=2), event("x1", 6)):
        assert engine.push(each) == []
    engine = query.engine(order="seq").restore(engine.save())
    assert ids([*engine.push(event("b1", 7)), *engine.close()]) == []


SPASEQ = """PREFIX : <http://example.org/> SELECT ?a ?b WITHIN 9 TICKS FROM STREAM S <http://example.org/s>
    {{ SEQ (A {} B) DEFINE GPM A ON S {{ ?a :is :A }} DEFINE GPM B ON S {{ ?b :is :B }} }}"""


def graph(time: int, name: str, *seq: int) -> thence.Event:
    values = "".join(f" <http://example.org/{name}> <http://example.org/seq> {each} ." for each in seq)
    is_a = f"<http://example.org/{name}> <http://example.org/is> <http://example.org/{name[0].upper()}> ."
    return thence.Event(time, is_a + values, id=name)


def test_a_conjunction_is_of_events_that_are_ties() -> None:
    """SP-19: `A & B` holds where neither follows the other (C-9)."""
    query = thence.parse(SPASEQ.format("&"))
    events = [graph(5, "a1", 1), graph(5, "b1", 2), graph(5, "b2", 1)]
    assert ids(query.match(events)) == ["a1 b1", "a1 b2"]
    assert ids(query.match(events, order="seq")) == ["a1 b2"]


@pytest.mark.parametrize("name", ["seq", ":seq", "http://example.org/seq", "<http://example.org/seq>"])
def test_order_names_a_predicate_of_graphs_by_its_name_or_iri(name: str) -> None:
    events = [graph(5, "b1", 2), graph(5, "a1", 1)]
    for order in (name, (name,), {"S": name}, {"http://example.org/s": [name]}):
        assert ids(thence.parse(SPASEQ.format(";")).match(events, order=order)) == ["a1 b1"]


def test_an_event_with_two_values_to_order_by_is_bad() -> None:
    """C-8: predicates of one value."""
    events = [graph(5, "a1", 1, 7), graph(5, "a2", 1), graph(6, "b1", 2)]
    found = list(thence.parse(SPASEQ.format(",")).match(events, order="seq", problems=True))
    (problem,) = [each for each in found if isinstance(each, thence.Problem)]
    assert problem.reason == (
        "it has several values of <http://example.org/seq>, and order needs one. Try: another predicate in order"
    )
    assert ids(each for each in found if isinstance(each, thence.Match)) == ["a2 b1"]


TEF = """PREFIX : <http://example.org/> CONSTRUCT FACT ?x :on ?y WHERE
    (SINCE ?x :begins ?y) UNION (UNTIL ?x :ends ?y) SELECT ?x ?s ?e WHERE ?x :sees ?y DURING ?x :on ?z[?s, ?e]"""


def test_order_orders_the_steps_of_tef_sparql() -> None:
    """C-10, TEF-19, TEF-29: an event that is taken after the end of a fact does not see it."""
    query = thence.parse(TEF.replace("[?s, ?e]", "").replace(" ?s ?e", ""), language="tef-sparql")

    def told(time: int, what: str, seq: int) -> thence.Event:
        place = "http://example.org/"
        return thence.Event(time, f"<{place}m> <{place}{what}> <{place}z> . <{place}m> <{place}seq> {seq} .")

    events = [told(1, "begins", 0), told(9, "sees", 2), told(9, "ends", 1)]
    assert len(list(query.match(events))) == 1
    assert len(list(query.match(events, order="seq"))) == 0
    assert len(list(query.match([*events, told(9, "sees", 0)], order="seq"))) == 1
    engine = query.engine(order="seq")
    found = [row for each in (events[0], events[2], told(9, "sees", 0)) for row in engine.push(each)]
    assert len(found + engine.close()) == 1


REJECTED = {
    "ep-sparql": "PREFIX : <http://example.org/> SELECT ?x WHERE { ?x :p 1 } SEQ { ?x :q 1 }",
    "rsep-ql": """PREFIX : <http://example.org/> REGISTER RSTREAM <x:o> AS SELECT ?x
        FROM NAMED WINDOW :w ON :S [RANGE PT10S STEP PT5S] WHERE { WINDOW :w { ?x :p 1 } }""",
}


@pytest.mark.parametrize(("language", "title"), [("ep-sparql", "EP-SPARQL"), ("rsep-ql", "RSEP-QL")])
def test_languages_that_compare_intervals_reject_order_with_one_sentence(language: str, title: str) -> None:
    """C-12."""
    query = thence.parse(REJECTED[language], language=language)
    for method in (lambda: query.engine(order="seq"), lambda: query.explain(order="seq")):
        with pytest.raises(thence.InputError) as refused:
            method()
        assert str(refused.value) == f"order= is not supported for {title}. Try: remove it"


@pytest.mark.parametrize("order", [5, (), ("",), {"events": 5}, ("seq", None), b"seq"])
def test_an_order_that_names_nothing_is_refused(order: object) -> None:
    with pytest.raises(thence.InputError) as refused:
        thence.parse(NEXT).engine(order=order)
    assert str(refused.value) == (
        f'order can\'t be {order!r}. Try: order="seq", order=("seq", "line"), or order={{"trades": ("seq",)}}'
    )


def test_an_order_of_a_stream_that_the_query_lacks_is_refused() -> None:
    with pytest.raises(thence.InputError, match=r'The query has no stream "trades"\. Try: events'):
        thence.parse(NEXT).match([], order={"trades": "seq"})


def test_explain_says_how_events_of_one_time_are_ordered_and_why_there_is_one_shard() -> None:
    query = thence.parse(
        """PREFIX : <http://example.org/> SELECT * WITHIN 9 TICKS FROM STREAM S <x:s>
        { SEQ (A , B) DEFINE GPM A ON S { ?s :p ?a } DEFINE GPM B ON S { ?s :q ?b } }"""
    )
    assert "Key: ?s" in query.explain()
    shown = query.explain(order="seq")
    assert "Order: events of one time in S follow each other by <http://example.org/seq>" in shown
    assert "Key: none: with order, strict contiguity counts every event of all streams" in shown
    assert "Key: ?s" in thence.parse(SPASEQ.format(";").replace("?a", "?s").replace("?b", "?s")).explain(order="seq")


def test_ties_without_order_are_warned_of_where_neighbours_matter() -> None:
    """C-9: a third of real trades share a millisecond."""
    events = [event(f"a{number}", number - (number % 3 == 0), seq=number) for number in range(2, 302)]
    said = (
        "200 of 300 events share their time with another, and of two such neither follows the other. "
        'Try: order="COLUMN", which orders events of one time'
    )
    with pytest.warns(ThenceWarning) as warned:
        list(thence.parse(NEXT).match(events))
    assert said in [str(each.message) for each in warned]
    with pytest.warns(ThenceWarning, match="200 of 300 events"):
        thence.parse(NEXT).match(events).table()
    list(thence.parse(NEXT).match(events, order="seq"))
    list(thence.parse(NEXT.replace("skip_till_next_match", "skip_till_any_match")).match(events))
    list(thence.parse(NEXT).match(events[:90]))


def test_an_order_of_which_no_event_has_a_value_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("type,time,seq\nA,1,1\nB,1,2\n")
    query = thence.parse(NEXT)
    assert ids(query.match(tmp_path / "events.csv", order="seq")) == ["events:2 events:3"]
    with pytest.warns(ThenceWarning) as warned:
        assert ids(query.match(tmp_path / "events.csv", order="sequ")) == []
    assert [str(each.message) for each in warned] == [
        "No event of the stream events has a value of <http://example.org/sequ>, which order names"
    ]


def test_a_state_forgets_the_times_of_moments_that_no_run_names() -> None:
    """Saved after every few events, it stays small."""
    query = thence.parse(NEXT)
    engine = query.engine(order="seq")
    sizes = []
    for time in range(400):
        for seq, name in enumerate("ab"):
            engine.push(event(f"{name}{time}", time, seq=seq))
        if time % 10 == 9:
            saved = engine.save()
            sizes.append(len(saved))
            engine = query.engine(order="seq").restore(saved)
    assert max(sizes[20:]) <= 1.1 * max(sizes[:20])


def test_a_saved_engine_continues_only_with_the_same_order() -> None:
    query = thence.parse(NEXT)
    saved = query.engine(order="seq").save()
    with pytest.raises(thence.InputError, match="belongs to another query"):
        query.engine(order="line").restore(saved)
    with pytest.raises(thence.InputError, match="belongs to another query"):
        query.engine().restore(saved)


def test_events_of_one_time_that_never_meet_are_no_ties() -> None:
    """C-9: those of different partitions do not compete."""
    text = NEXT.replace("{}", "{ [user] }")
    events = [event(f"a{number}", number // 2, seq=number, user=number % 2) for number in range(300)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="(?s).*No event")
        list(thence.parse(text).match(events))
    with pytest.warns(ThenceWarning, match="300 of 300 events share their time"):
        list(thence.parse(text).match([event(f"a{number}", number // 2, seq=number, user=1) for number in range(300)]))
