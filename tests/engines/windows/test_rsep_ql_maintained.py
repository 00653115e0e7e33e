"""RSEP-QL: what is maintained from evaluation to evaluation gives the rows of recomputation (RS-24, RS-48 – RS-52)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from support.comparable_terms import restart
from thence.columns.batches import encode
from thence.engines.windows import maintained, state
from thence.engines.windows.plan.rsep_ql import compile_query
from thence.engines.windows.program import Maintenance
from thence.interface.dataflow import Dataflow
from thence.interface.operator import NEVER, Environment
from thence.io.background_data import load_background
from thence.lang.rsep_ql.parser import parse
from thence.local.flow import LocalFlow
from thence.match.background import Background
from thence.rdf.events import Event

pytestmark = pytest.mark.numba

PREFIX = "PREFIX : <http://example.org/>\n"
TURTLE = "@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . "
WINDOWS = (
    "[RANGE 5 SLIDE 2]",
    "[RANGE 7]",
    "[RANGE 2 SLIDE 5]",
    "[RANGE 4 SLIDE 4]",
    "[LND 3]",
    "[FROM 3 TO 12]",
    "[]",
    "[RANGE 20 SLIDE 1]",
)
REPORTS = ("", "REPORT ON CONTENT", "REPORT EVERY 3", "REPORT AT 5, 6, 11, 30")
EVENTS = """EVENT ON :w { ?o :by ?s } AS E1 EVENT ON :u { ?p :by ?s ; :value ?v } AS E2
EVENT ON :u { ?q :by ?s } AS E3 EVENT ON :w { :o1 :by :s1 } AS E4
"""
EMITTED = ("RSTREAM", "ISTREAM", "DSTREAM")
SELECTS = {
    "rows": "SELECT ?s ?v WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } }",
    "hidden": "SELECT ?s WHERE { WINDOW :w { ?o :by ?s ; :value ?v FILTER(?v > 1) } }",
    "blank": "SELECT ?s ?v WHERE { WINDOW :w { [] :by ?s ; :value ?v } }",
    "one": "SELECT * WHERE { WINDOW :w { ?a :by ?b } }",
    "constant": "SELECT ?s WHERE { WINDOW :w { :o1 :by :s1 . ?o :by ?s } }",
    "same": "SELECT * WHERE { WINDOW :w { ?a ?p ?a . ?b :by ?s } }",
    "two": "SELECT * WHERE { WINDOW :w { ?o :by ?s } WINDOW :u { ?q :by ?s . ?q :value ?n } }",
    "product": "SELECT * WHERE { WINDOW :w { ?o :value 1 } WINDOW :u { ?q :value 2 } }",
    "stars": """SELECT * WHERE { WINDOW :w { ?o :by ?s . ?p :by ?s . ?o :value ?v . ?p :value ?u
        FILTER(?v < ?u && ?o != ?p) } }""",
    "bind": "SELECT * WHERE { WINDOW :w { ?o :value ?v BIND(?v * 2 AS ?d) BIND(1 / (?v - 1) AS ?e) FILTER(?d != 4) } }",
    "union": """SELECT * WHERE { { WINDOW :w { ?o :by ?s } } UNION { WINDOW :u { ?o :value ?v } }
        FILTER(BOUND(?s) || ?v > 1) }""",
    "background": "SELECT * WHERE { ?s :room ?r . WINDOW :w { ?o :by ?s . ?o :value ?v } }",
    "graph": "SELECT * WHERE { WINDOW :w { ?o :by ?s OPTIONAL { GRAPH :g { ?s :room ?r } } } }",
    "minus": "SELECT * WHERE { WINDOW :w { ?o :by ?s } MINUS { ?s :room :r1 } }",
    "optional": "SELECT * WHERE { WINDOW :w { ?o :by ?s } OPTIONAL { WINDOW :u { ?o :value ?v } } }",
    "exists": """SELECT * WHERE { WINDOW :w { ?o :by ?s }
        FILTER NOT EXISTS { WINDOW :u { ?o :value ?v FILTER(?v > 1) } } }""",
    "path": "SELECT * WHERE { WINDOW :w { ?o :by/:room? ?s } WINDOW :u { ?o :value ?v } }",
    "unbound": "SELECT * WHERE { WINDOW :w { ?o :by ?s FILTER(?nothing > 1 || ?o = :o1) } }",
    "distinct": "SELECT DISTINCT ?s WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } }",
    "ordered": "SELECT ?s ?v WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } } ORDER BY DESC(?v) ?s LIMIT 3",
    "count": "SELECT ?s (COUNT(*) AS ?n) WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } } GROUP BY ?s",
    "sums": """SELECT ?s (SUM(?v) AS ?sum) (AVG(?v) AS ?mean) (COUNT(?v) AS ?n)
        WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } } GROUP BY ?s""",
    "extremes": """SELECT ?s (MIN(?v) AS ?least) (MAX(?v) AS ?most)
        WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } } GROUP BY ?s""",
    "all": "SELECT (SUM(?v) AS ?sum) (COUNT(*) AS ?n) (MIN(?v) AS ?m) WHERE { WINDOW :w { ?o :value ?v } }",
    "different": """SELECT ?s (SUM(DISTINCT ?v) AS ?sum) (AVG(DISTINCT ?v) AS ?mean) (MIN(DISTINCT ?v) AS ?least)
        (MAX(DISTINCT ?v) AS ?most) (MAX(?v) AS ?same) WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } } GROUP BY ?s""",
    "beside optional": """SELECT ?s (SUM(?v) AS ?sum) (AVG(?v) AS ?mean)
        WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } OPTIONAL { WINDOW :u { ?s :by ?n } } } GROUP BY ?s""",
    "several": """SELECT (COUNT(DISTINCT ?v) AS ?n) (SUM(DISTINCT ?v) AS ?sum) (?s AS ?who)
        WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } } GROUP BY ?s""",
    "errors": """SELECT ?s (SUM(?e) AS ?sum) (COUNT(?e) AS ?n) (MAX(?e) AS ?m) (COUNT(DISTINCT ?e) AS ?d)
        WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v BIND(6 / (?v - 1) AS ?e) } } GROUP BY ?s""",
    "having": """SELECT ?s (AVG(?v) * 2 AS ?x) WHERE { WINDOW :w { ?o :by ?s . ?o :value ?v } }
        GROUP BY ?s HAVING(COUNT(*) > 1)""",
    "computed": """SELECT ?k (COUNT(*) AS ?n) WHERE { WINDOW :w { ?o :value ?v } }
        GROUP BY (?v > 1 AS ?k) ORDER BY ?n LIMIT 1""",
    "joined": """SELECT ?r (SUM(?v) AS ?sum) WHERE { ?s :room ?r . WINDOW :w { ?o :by ?s } WINDOW :u { ?o :value ?v } }
        GROUP BY ?r""",
    "seq": "SELECT * WHERE { MATCH { E1 SEQ E2 } }",
    "three": "SELECT ?s ?v WHERE { MATCH { E1 SEQ (E2 SEQ E3) } FILTER(?v > 0) }",
    "alone": "SELECT ?s WHERE { MATCH { E1 } }",
    "twice": "SELECT * WHERE { MATCH { E1 SEQ E1 SEQ E3 } BIND(?s AS ?x) ?s :room ?r }",
    "products": "SELECT * WHERE { MATCH { E4 } MATCH { E4 SEQ E2 } }",
    "matched": "SELECT ?s (COUNT(*) AS ?n) (SUM(?v) AS ?sum) WHERE { MATCH { E1 SEQ E2 } } GROUP BY ?s",
    "last": "SELECT * WHERE { MATCH { (LAST E1) SEQ E2 } }",
    "beside": "SELECT * WHERE { MATCH { E1 SEQ E2 } WINDOW :u { ?o :value ?n } }",
    "texts": "SELECT ?s (MIN(?o) AS ?x) (SUM(?o) AS ?y) WHERE { WINDOW :w { ?o :by ?s } } GROUP BY ?s",
}
VALUES = ("0", "1", "2", "3", "2.50", "0.25", "1e0", '"x"', "01", "9223372036854775807")
DOUBLES = ("0.1e0", "0.2e0", "1e16", "-1e16", "1e-3", "0.1", "1", "-0.0e0")
SINGLES = ('"0.1"^^xsd:float', '"1e10"^^xsd:float', '"16777217"^^xsd:float', "16777217", "0.1", "1")
SPECIALS = ('"INF"^^xsd:double', '"-INF"^^xsd:float', '"NaN"^^xsd:double', "1e308", "99999999999999999999.1")
KINDS = (*(VALUES[:few] for few in (4, 4, 6, 7, 10)), DOUBLES, SINGLES, DOUBLES + SINGLES, DOUBLES + SINGLES + SPECIALS)
BACKGROUND = ":s1 :room :r1 . :s2 :room :r1 . :s3 :room :r2 . :s3 :room :r1 ."


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    """Events that share subjects and often repeat triples, at times that are sometimes equal."""
    random = Random(draw(st.integers(0, 10**9)))
    few = random.choice(KINDS)
    events, time = [], 0
    for number in range(random.randrange(4, 40)):
        time += random.choice((0, 1, 1, 2, 7 if random.random() < 0.1 else 1))
        triples = []
        for _ in range(random.randrange(1, 4)):
            node = f":o{random.randrange(4)}" if random.random() < 0.9 else "_:b"
            triples.append(f"{node} :by :s{random.randrange(1, 4)} .")
            triples.append(f"{node} :value {random.choice(few)} .")
        chosen = random.sample(triples, random.randrange(1, len(triples) + 1))
        events.append(Event(time, f"{TURTLE}{' '.join(chosen)}", id=f"e{number}"))
    return events


@pytest.fixture(autouse=True, scope="module")
def evict_early() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintained, "_FEW", 3)
        patch.setattr(state, "_FEW_ROWS", 20)
        patch.setattr(state, "_FEW_TERMS", 40)
        yield


def text(select: str, first: str, second: str, report: str, emits: str) -> str:
    where = select.index("WHERE")
    named = f"FROM NAMED WINDOW :w ON :S {first} FROM NAMED WINDOW :u ON :S {second} {report}\n"
    if "MATCH" in select:
        named += EVENTS
    return f"{PREFIX}REGISTER {emits} :out AS {select[:where]}{named}{select[where:]}"


Shown = tuple[int, tuple[tuple[str, str], ...], tuple[str, ...]]


def rows(dataflow: Dataflow, events: list[Event], cuts: list[int], *, with_events: bool = False) -> list[Shown]:
    """What is emitted when, with which events; the state is saved and restored at each cut."""
    flow = LocalFlow(dataflow, Environment(background()))
    found, before = [], 0
    for bound in [*sorted({each for each in cuts if each > 0}), NEVER]:
        some = [(number, each) for number, each in enumerate(events) if before <= each.end < bound]
        batches = {"S": [encode([each], stream="S", first=number) for number, each in some]} if some else {}
        for row in flow.feed(batches, bound):
            cells = tuple(sorted((name, str(term)) for name, term in row.bindings.items()))
            found.append((row.end, cells, tuple(flow.ids(row)) if with_events else ()))
        if bound != NEVER:
            restart(flow)
        before = bound
    return found


def background() -> Background:
    turtle = f"@prefix : <http://example.org/> . {BACKGROUND}".encode()
    store = ox.Store()
    store.load(turtle, format=ox.RdfFormat.TURTLE)
    return Background(load_background({None: [store], "http://example.org/g": [store]}))


@given(
    st.sampled_from(sorted(SELECTS)),
    st.tuples(st.sampled_from(WINDOWS), st.sampled_from(WINDOWS), st.sampled_from(REPORTS), st.sampled_from(EMITTED)),
    streams(),
    st.one_of(st.lists(st.integers(0, 40), max_size=3), st.just(list(range(1, 40)))),
)
def test_maintained_rows_are_those_of_recomputation(
    name: str, clauses: tuple[str, str, str, str], events: list[Event], cuts: list[int]
) -> None:
    """Several evaluations, equal triples of different events, every window and report, restored at any time."""
    query = parse(text(SELECTS[name], *clauses))
    shown = clauses[-1] == "RSTREAM"  # else it is open which of equal rows is emitted
    expected = Counter(rows(compile_query(query, optimise=False), events, [], with_events=shown))
    assert Counter(rows(compile_query(query), events, [], with_events=shown)) == expected
    assert Counter(rows(compile_query(query), events, cuts, with_events=shown)) == expected


def maintenance(select: str) -> Maintenance:
    dataflow = compile_query(parse(text(select, "[RANGE 5 SLIDE 2]", "[RANGE 7]", "", "RSTREAM")))
    found = dataflow.stages[0].program.maintenance  # type: ignore[attr-defined]
    assert isinstance(found, Maintenance)
    return found


@pytest.mark.parametrize(
    "name", ["rows", "stars", "two", "union", "bind", "background", "graph", "minus", "seq", "three", "twice"]
)
def test_joins_and_what_acts_on_single_rows_make_deltas(name: str) -> None:
    assert maintenance(SELECTS[name]).is_answer


GROUPED = ["count", "sums", "extremes", "all", "several", "different", "errors", "having", "joined"]


@pytest.mark.parametrize("name", GROUPED)
def test_groups_make_deltas(name: str) -> None:
    assert maintenance(SELECTS[name]).makes_deltas and maintenance(SELECTS[name]).groups


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("optional", "OPTIONAL"),
        ("exists", "EXISTS"),
        ("path", "a property path"),
        ("distinct", "DISTINCT over all rows"),
    ],
)
def test_what_is_recomputed_says_why(name: str, reason: str) -> None:
    found = maintenance(SELECTS[name])
    assert reason in found.reasons and found.patterns and not found.makes_deltas


def test_a_triple_of_two_events_enters_and_leaves_once() -> None:
    """RS-24, RS-51: the second event keeps the triple in the window; IStream and DStream see it once."""
    events = [Event(time, "@prefix : <http://example.org/> . :o1 :by :s1 .") for time in (1, 3)]
    select = "SELECT ?s WHERE { WINDOW :w { :o1 :by ?s } }"
    for emits, expected in (("ISTREAM", [1]), ("DSTREAM", [7])):
        query = parse(text(select, "[RANGE 4]", "[RANGE 4]", "REPORT AT 1, 2, 3, 4, 5, 6, 7, 8", emits))
        assert [time for time, _, _ in rows(compile_query(query), events, [])] == expected


def test_an_evaluation_that_a_later_event_asks_for_finds_its_events() -> None:
    """RS-20: at watermark 28 no event has asked for the evaluation at 27; that at 31 does, and the window at 27 holds
    the event at 8 still."""
    events = [Event(time, "@prefix : <http://example.org/> . :o1 :by :s1 .") for time in (*[8] * 25, 31)]
    select = "SELECT ?s WHERE { WINDOW :w { :o1 :by ?s } }"
    query = parse(text(select, "[RANGE 20]", "[RANGE 20]", "REPORT EVERY 3", "RSTREAM"))
    assert [time for time, _, _ in rows(compile_query(query), events, [28])] == [9, 12, 15, 18, 21, 24, 27, 33]


@pytest.mark.parametrize("optimise", [True, False])
def test_an_evaluation_waits_for_an_earlier_one_that_a_later_event_may_ask_for(optimise: bool) -> None:
    """RS-20: at watermark 9, the event at 6 has asked for the evaluation at 8, of SLIDE 4. That at 7, of SLIDE 1, comes
    first, and is there only if an event follows."""
    select = "SELECT ?s WHERE { WINDOW :w { :o1 :by ?s } }"
    query = parse(text(select, "[RANGE 8 SLIDE 4]", "[RANGE 8 SLIDE 1]", "", "RSTREAM"))
    dataflow = compile_query(query, optimise=optimise)
    for times, expected in (((3, 6, 11), [4, 5, 6, 7, 8, 9, 10, 11, 12]), ((3, 6), [4, 5, 6, 8])):
        events = [Event(time, "@prefix : <http://example.org/> . :o1 :by :s1 .") for time in times]
        assert [time for time, _, _ in rows(dataflow, events, [9])] == expected


@pytest.mark.parametrize("optimise", [True, False])
def test_no_evaluation_is_later_than_all_times(optimise: bool) -> None:
    """C-2, RS-19: the next multiple of 1,000 has more than 64 bits."""
    events = [Event(2**63 - 4, "@prefix : <http://example.org/> . :o1 :by :s1 .")]
    for report in ("", "REPORT EVERY 1000"):
        query = parse(text(SELECTS["one"], "[RANGE 1000 SLIDE 1000]", "[RANGE 5 SLIDE 1000]", report, "RSTREAM"))
        assert rows(compile_query(query, optimise=optimise), events, []) == []


def test_a_row_of_the_last_evaluation_has_an_end() -> None:
    """C-2, RS-48: 2^63 - 1 is a multiple of 7, and stands for the end of a fact that still holds: no row is of then."""
    triple = "@prefix : <http://example.org/> . :o1 :by :s1 ."
    select = (
        "PREFIX : <http://example.org/> SELECT ?x FROM NAMED :S WIN [RANGE 9 SLIDE {}] AS :w"
        " WHERE {{ WINDOW :w {{ ?x :by ?y }} }}"
    )
    for slide, expected in ((7, []), (2, [2**63 - 2])):
        found = thence.parse(select.format(slide)).match([Event(2**63 - 3, triple)])
        assert [row.end for row in found] == expected
    query = thence.parse(select.format(2))
    assert [row.end for row in query.match([Event(2**63 - 3, triple)], report=[2**63 - 2])] == [2**63 - 2]
    with pytest.raises(thence.InputError, match="no evaluation is later than 9223372036854775806"):
        query.match([Event(5, triple)], report=[2**63 - 1])


@pytest.mark.parametrize("function", ["[LND 3]", "[]"])
def test_a_window_that_keeps_all_events_is_warned_of(function: str) -> None:
    """The events of a window that nothing leaves are state that grows for ever."""
    (warning,) = thence.parse(text(SELECTS["rows"], function, "[RANGE 7]", "", "RSTREAM")).warnings[1:]
    assert "keeps the events of S for ever" in warning


@pytest.mark.parametrize("function", ["[RANGE 7]", "[FROM 3 TO 12]"])
def test_a_window_that_ends_is_not(function: str) -> None:
    warnings = thence.parse(text(SELECTS["rows"], function, "[]", "", "RSTREAM")).warnings
    assert not any("for ever" in each for each in warnings), "an identity window that nothing reads keeps nothing"


STAR = "{ ?o :room ?r ; :temp ?t }"


def test_a_star_over_a_window_has_no_shard_key_but_its_subject() -> None:
    """RS-24, RS-63: the room may come with one event and the temperature with another."""
    select = f"SELECT ?r ?t WHERE {{ WINDOW :w {STAR} }}"
    key = compile_query(parse(text(select, "[RANGE 5]", "[RANGE 5]", "", "RSTREAM"))).stages[0].program.shard_key
    assert not key.names and key.reason.startswith("?r is not in the triple ?o <http://example.org/temp> ?t, and")
    select = f"SELECT ?o ?t WHERE {{ WINDOW :w {STAR} }}"
    key = compile_query(parse(text(select, "[RANGE 5]", "[RANGE 5]", "", "RSTREAM"))).stages[0].program.shard_key
    assert key.names == ("o",)


def test_a_star_in_an_event_has_any_variable_as_shard_key() -> None:
    """RS-26, RS-63: an EVENT matches one event alone."""
    query = f"""{PREFIX}SELECT ?r ?t ?u FROM NAMED :S WIN [RANGE 5 SLIDE 2] AS :w EVENT ON :w {STAR} AS E1
        EVENT ON :w {{ ?p :room ?r ; :light ?u }} AS E2 WHERE {{ MATCH {{ E1 SEQ E2 }} }}"""
    assert compile_query(parse(query)).stages[0].program.shard_key.names == ("r",)


def test_rows_that_order_by_orders_come_from_one_shard() -> None:
    """RS-49, RS-63: the order is that of all rows of an evaluation, whichever keys they have."""
    select = "SELECT ?o ?v WHERE { WINDOW :w { ?o :value ?v } } ORDER BY ?v"
    key = compile_query(parse(text(select, "[RANGE 5]", "[RANGE 5]", "", "RSTREAM"))).stages[0].program.shard_key
    assert not key.names and key.reason == "ORDER BY orders all rows of an evaluation"


def test_the_reason_for_one_shard_names_ask() -> None:
    """RS-68: it is kept as an aggregate, which the query does not have."""
    query = f"{PREFIX}ASK FROM NAMED :S WIN [RANGE 5] AS :w WHERE {{ WINDOW :w {{ ?x :value ?y }} }}"
    assert compile_query(parse(query)).stages[0].program.shard_key.reason == "ASK is about all rows of an evaluation"


def test_a_pattern_beside_a_path_over_its_window_adds_no_table() -> None:
    """RS-63: the path reads all triples of the window, and each table that there is has a route to its shards."""
    select = "SELECT * WHERE { WINDOW :w { ?o :by* ?s } WINDOW :w { ?o :value ?v } }"
    program = compile_query(parse(text(select, "[RANGE 5]", "[RANGE 5]", "", "RSTREAM"))).stages[0].program
    assert len(program.tables) == len(program.shard_key.routes) == 1
