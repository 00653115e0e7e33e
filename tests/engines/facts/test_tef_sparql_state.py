"""TEF-SPARQL's state: what is stored follows from what holds, and not from how many events came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import thence
from support.tef_sparql_flows import flow_of, program_of
from thence.columns.batches import encode
from thence.engines.facts import event_instances, operator
from thence.engines.facts.event_instances import is_met
from thence.engines.facts.fact_nodes import FactBase, FactMatch, FactNode
from thence.engines.facts.fact_store import FOREVER, Fact, FactStore
from thence.engines.facts.frames import Frame
from thence.engines.facts.operator import FactsOperator
from thence.engines.facts.state import FactsState
from thence.interface.operator import Environment
from thence.io.background_data import load_background
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf.times import MAX_TIME, MIN_TIME

pytestmark = pytest.mark.numba

EX = "http://example.org/"
AVERAGE = Path(__file__).parents[3] / "examples" / "tef_sparql" / "average.tefsparql"


def stored_after_each(flow: LocalFlow, events: list[thence.Event]) -> list[int]:
    found = []
    for event in events:
        batch = encode([event], stream="events")
        list(flow.feed({"events": [batch]}, int(batch.ends[-1]) + 1))
        state = flow.hosts[0].state
        assert isinstance(state, FactsState)
        found.append(state.stored)
    return found


@pytest.mark.parametrize("members", [3, 10, 25])
def test_the_average_of_ten_days_stores_its_members_and_a_constant(members: int) -> None:
    """Section 5.2: N + 7 triples at most. Here the sum, the count and the average."""
    tickers = ox.Store()
    tickers.load(f"<{EX}ACME> a <{EX}Ticker> .".encode(), format=ox.RdfFormat.TURTLE)
    begun, apart = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=10) / (members - 0.5)
    events = [
        thence.Event(begun + apart * number, {"type": "Price", "subject": "ACME", "hasStockPrice": number})
        for number in range(3 * members)
    ]
    flow = flow_of(AVERAGE.read_text(encoding="utf-8"), Background(load_background(tickers)))
    assert stored_after_each(flow, events) == [min(number, members) + 3 for number in range(1, 3 * members + 1)]


def test_counters_store_one_fact_each() -> None:
    """TEF-42: what REPLACE ends is not kept, since no pattern may ask for it."""
    text = """CONSTRUCT FACT ?channel viewers ?n
      WHERE (SINCE ?channel opens ?_, ?n = 0) UNION (REPLACE ?channel viewers ?m ON ?_ joins ?channel, ?n = ?m + 1)
    SELECT ?channel WHERE ?channel viewers 40"""
    events = [thence.Event(tick, f"<{EX}c{tick}> <{EX}opens> <{EX}x> .") for tick in range(3)]
    events += [thence.Event(tick, f"<{EX}v> <{EX}joins> <{EX}c{tick % 3}> .") for tick in range(3, 60)]
    assert stored_after_each(flow_of(text), events) == [1, 2] + [3] * 58


def test_keys_of_once_per_bound_what_it_remembers() -> None:
    """TEF-73"""
    flow = flow_of("SELECT ?x ONCE PER ?x WHERE ?x p ?y")
    stored_after_each(flow, [thence.Event(tick, f"<{EX}a{tick % 4}> <{EX}p> {tick} .") for tick in range(40)])
    assert [len(keys) for keys in flow.hosts[0].state.machine.once.values()] == [4]


def test_timers_of_facts_that_ended_are_dropped() -> None:
    """TEF-64: each price replaces the one before it, whose timer is far away."""
    text = """CONSTRUCT FACT ?x price ?n WHERE SINCE ?x opens ?n UNION REPLACE ?x price ?m ON ?x sells ?n
    SELECT ?x WHERE ?x price ?n[?s, ?_], now() > ?s + 100000"""
    events = [thence.Event(0, f"<{EX}a> <{EX}opens> 0 .")]
    events += [thence.Event(tick, f"<{EX}a> <{EX}sells> {tick} .") for tick in range(1, 400)]
    flow = flow_of(text)
    stored_after_each(flow, events)
    machine = flow.hosts[0].state.machine
    assert machine.timer == 399 + 100001
    assert len(machine.timers.heap) < 150


@dataclass
class CountingNode:
    """Counts the matches that a node gives."""

    node: FactNode
    count: int = 0

    def find(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        found = self.node.find(frame, after, facts)
        self.count += len(found)
        return found


def test_a_view_is_derived_again_only_for_what_changed() -> None:
    """TEF-47: the facts of other subjects are not asked for."""
    text = """CONSTRUCT FACT ?x f ?n WHERE SINCE ?x p ?n
    CONSTRUCT FACT ?x g ?n WHERE SINCE ?x q ?n
    CONSTRUCT FACT ?x both ?m WHERE ?x f ?n, ?x g ?k, ?m = ?n + ?k
    SELECT ?x ?m WHERE ?x both ?m"""
    events = [thence.Event(tick, f"<{EX}a{tick}> <{EX}p> {tick} . <{EX}a{tick}> <{EX}q> 1 .") for tick in range(1, 30)]
    flow = flow_of(text)
    stored_after_each(flow, events[:-1])
    machine = flow.hosts[0].state.machine
    (query,) = (query for stratum in machine.views.strata for group in stratum for query in group.views[0].queries)
    query.node = counting = CountingNode(query.node)
    assert stored_after_each(flow, events[-1:]) == [3 * 29]
    assert counting.count == 1


LIT = """CONSTRUCT FACT ?x lit ?y WHERE SINCE ?x glows ?y UNION UNTIL ?x fades ?y
CONSTRUCT FACT ?x busy ?y WHERE SINCE ?x enters ?y UNION UNTIL ?x leaves ?y
"""


def test_a_view_with_without_stores_no_facts_that_have_ended() -> None:
    """TEF-37, TEF-49: a view asks what holds, and what ended at this instant."""
    text = LIT + "CONSTRUCT FACT ?x wasted ?y WHERE ?x lit ?y WITHOUT ?x busy ?y"
    events = [thence.Event(0, f"<{EX}a> <{EX}glows> 1 .")]
    events += [thence.Event(tick, f"<{EX}a> <{EX}{('leaves', 'enters')[tick % 2]}> 1 .") for tick in range(1, 60)]
    assert max(stored_after_each(flow_of(text), events)) <= 4


def test_a_fact_that_restarts_looks_at_the_latest_event_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """TEF-38: what holds now began at the last E."""
    text = LIT + "CONSTRUCT FACT ?x calm ?y WHERE ?x lit ?y WITHOUT ?x rings ?y"
    events = [thence.Event(0, f"<{EX}a> <{EX}glows> 1 .")]
    events += [thence.Event(tick, f"<{EX}a> <{EX}rings> 1 .") for tick in range(1, 100)]
    asked = []
    monkeypatch.setattr(event_instances, "is_met", lambda *given: asked.append(given) or is_met(*given))
    flow = flow_of(text)
    stored_after_each(flow, events)
    assert [fact.start for fact in flow.hosts[0].state.machine.store.holding()] == [0, 99]
    assert len(asked) < 1000


def test_what_within_makes_useless_is_dropped_now_and_then() -> None:
    """TEF-76: the events of the last ten ticks count; each key has one of its own."""
    text = "SELECT ?x WITHIN 10 TICKS WHERE ?x starts ?y SEQ ?x ends ?y"
    events = [thence.Event(tick, f"<{EX}a{tick}> <{EX}starts> 1 .") for tick in range(400)]
    assert max(stored_after_each(flow_of(text), events)) <= 65


def forged(number: int) -> dict[str, Any]:
    """The head of a state, of which one thing is wrong."""
    flow = flow_of(LIT + "CONSTRUCT FACT ?x wasted ?y WHERE ?x lit ?y")
    stored_after_each(flow, [thence.Event(1, f"<{EX}a> <{EX}glows> 1 .")])
    head = json.loads(json.dumps(FactsOperator().snapshot(program_of(flow), flow.hosts[0].state)[0]))
    made, view = head["facts"]
    now, first, _, idle, keys, created = head["times"]
    wrong: list[dict[str, Any]] = [
        {},
        {"facts": [made, made, view]},
        {"facts": [made, [created, *made[1:]]]},
        {"facts": [made, [created + 1, *view[1:]]]},
        {"facts": [made, [*view[:5], False]]},
        {"facts": [made, [*view[:4], 99, True]]},
        {"facts": [[*made[:2], 2**63, *made[3:]], view]},
        {"ends": [10**30]},
        {"times": [now, first, 7, idle, keys, created]},
    ]
    return head | wrong[number]


@pytest.mark.parametrize("number", range(9))
def test_a_forged_state_is_refused(number: int) -> None:
    """A fact twice, of no statement, of a number to come; a time of more than 64 bits; a timer of nothing."""
    program = program_of(flow_of(LIT + "CONSTRUCT FACT ?x wasted ?y WHERE ?x lit ?y"))
    if number == 0:
        assert operator.restore(program, forged(0), 9, Environment(NO_BACKGROUND)).stored == 2
        return
    with pytest.raises(thence.InputError, match="damaged"):
        operator.restore(program, forged(number), 9, Environment(NO_BACKGROUND))


def ring(tick: int) -> str:
    return f"<{EX}a{tick % 5}> <{EX}rings> {tick % 3} ."


FLAT = {
    "what restarts a fact that holds": (
        LIT + "CONSTRUCT FACT ?x calm ?y WHERE ?x lit ?y WITHOUT ?x rings ?z",
        lambda tick: f"<{EX}a{tick}> <{EX}glows> 1 ." if tick < 5 else ring(tick),
    ),
    "what restarts facts that end": (
        LIT + "SELECT ?x WHERE ?x stirs ?_ DURING (?x lit ?y WITHOUT ?x rings ?z)",
        lambda tick: (
            f"<{EX}a> <{EX}{('glows', 'rings', 'stirs', 'fades')[tick % 4]}> 1 . <{EX}b{tick}> <{EX}rings> 1 ."
        ),
    ),
    "what restarts a fact that a step replaces": (
        LIT
        + "CONSTRUCT FACT ?x dim ?y WHERE (SINCE ?x glows ?y) UNION "
        + "(REPLACE (?x dim ?o WITHOUT ?x rings ?_) ON ?x hums ?y)",
        lambda tick: f"<{EX}a> <{EX}{('glows', 'rings', 'rings', 'hums')[min(tick, tick % 3 + 1)]}> 1 .",
    ),
    "events within a time": (
        LIT + "SELECT ?x WITHIN 20 TICKS WHERE (?x rings ?y SEQ ?x rings ?z) WITHOUT ?x stirs ?_",
        lambda tick: f"<{EX}a> <{EX}{('rings', 'stirs')[tick % 2]}> {tick} .",
    ),
    "facts that events of some time ask for": (
        LIT + "SELECT ?x WITHIN 20 TICKS WHERE ?x rings ?y WITHOUT ?x lit ?_",
        lambda tick: f"<{EX}a> <{EX}{('glows', 'rings', 'fades')[tick % 3]}> 1 .",
    ),
    "rows that differ": ("SELECT DISTINCT ?x ?y WHERE ?x rings ?y", lambda tick: ring(tick)),
}


@pytest.mark.parametrize("name", FLAT)
def test_what_is_stored_does_not_grow_where_no_warning_is_given(name: str) -> None:
    """TEF-77"""
    text, graph = FLAT[name]
    assert thence.parse(text, language="tef-sparql").warnings == ()
    flow = flow_of(text)
    events = [thence.Event(tick, graph(tick)) for tick in range(20_000)]
    most = 0
    for first in range(0, len(events), 100):
        batch = encode(events[first : first + 100], stream="events")
        list(flow.feed({"events": [batch]}, int(batch.ends[-1]) + 1))
        state = flow.hosts[0].state
        remembered = sum(map(len, [*state.machine.once.values(), *state.machine.seen.values()]))
        most = max(most, state.stored + remembered)
    assert most <= 200


WARNED = {
    "CONSTRUCT FACT ?x calm ?y WHERE ?x lit ?y WITHOUT (?x rings ?y SEQ ?x stirs ?y)": "SEQ right of WITHOUT may match",
    "SELECT ?x WITHIN 5 TICKS WHERE (?x rings ?y SEQ ?x stirs ?y) WITHOUT (?x hums ?_ BEFORE ?x falls ?_)": (
        "BEFORE right of WITHOUT may match"
    ),
    "CONSTRUCT FACT ?x calm ?y WHERE ?x lit ?y WITHOUT (?x rings ?z, ?z > ?y)": "as long as facts hold: WITHOUT asks",
    "SELECT ?x WHERE ?x stirs ?y WITH (?x lit ?y WITHOUT ?x rings ?y)": "WITH asks for them if an event lasts",
    "SELECT ?x WHERE ?x stirs ?y DURING (?x lit ?y WITHOUT ?x busy ?y)": "facts for ever: WITHOUT asks when they ended",
    "SELECT ?x WHERE ?x lit ?y WITHOUT ?x busy ?y": "facts for ever: WITHOUT asks when they ended",
}


@pytest.mark.parametrize("text", WARNED)
def test_what_is_stored_for_ever_is_warned_of(text: str) -> None:
    """TEF-77"""
    (warning,) = thence.parse(LIT + text, language="tef-sparql").warnings
    assert warning.startswith("Statement 3 keeps") and WARNED[text] in warning


BEGAN = [
    "duration(?t, ?now) > {}",
    "{} < duration(?t, ?now)",
    "?now - ?t > {}",
    "?t < ?now - {}",
    "?now - {} > ?t",
]


@pytest.mark.parametrize(("domain", "test"), [*product(["ticks", "times"], BEGAN), ("ticks", "?t - ?now < -{}")])
def test_facts_that_began_too_late_are_not_looked_at(domain: str, test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TEF-41: of fifty members, those that are too old end."""
    length, begun = ("50", 0) if domain == "ticks" else ("50m", datetime(2024, 1, 1, tzinfo=UTC))
    text = f"""CONSTRUCT FACT ?x member ?p WHERE (SINCE ?x price ?p)
      UNION (UNTIL (?x price ?_[?_, ?now] DURING ?x member ?p[?t, ?_]), {test.format(length)})
    SELECT ?x WHERE ?x member 1000"""
    looked = []
    began_between = FactStore.began_between

    def counted(*asked: Any) -> list[Fact]:
        looked.append(found := began_between(*asked))
        return found

    monkeypatch.setattr(FactStore, "began_between", counted)
    apart = 1 if domain == "ticks" else timedelta(minutes=1)
    events = [thence.Event(begun + apart * number, f"<{EX}a> <{EX}price> {number} .") for number in range(120)]
    assert stored_after_each(flow_of(text), events) == [min(number, 51) for number in range(1, 121)]
    assert max(map(len, looked)) == 1


def test_facts_that_are_not_in_the_order_of_their_starts_are_all_looked_at() -> None:
    """What is entered again, as views are, may have begun earlier than what is there."""
    store = FactStore()
    for number, start in enumerate((5, 9, 3)):
        store.add(Fact(number, ("x", "p", number), start, None, 1))
    assert len(store.began_between("x", "p", None, MIN_TIME, 5, FOREVER)) == 3
    for fact in list(store.holding()):
        store.remove(fact)
    for number, start in enumerate((3, 5, 5, 9)):
        store.add(Fact(number, ("x", "p", number), start, None, 1))
    asked = [(MIN_TIME, 5), (5, 5), (6, MAX_TIME), (4, 8)]
    found = [[fact.number for fact in store.began_between(None, "p", None, *each, FOREVER)] for each in asked]
    assert found == [[0, 1, 2], [1, 2], [3], [1, 2]]
