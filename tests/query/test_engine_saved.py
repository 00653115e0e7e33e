"""An engine that is saved and restored between any two pushes gives what an unbroken one gives, in every language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import thence
from oracle import ep_sparql_cases, rsep_ql_cases, tef_sparql_cases
from oracle.ep_sparql_text import text as ep_sparql_text
from oracle.rsep_ql_text import text as rsep_ql_text
from oracle.sase_composed import written
from oracle.sase_composed_cases import Text
from oracle.sase_composed_cases import texts as sase_texts
from oracle.tef_sparql_text import text as tef_sparql_text
from strategies import examples
from strategies.spaseq import Case as SequenceCase
from strategies.spaseq import cases as sequence_cases
from support.comparable_terms import store_of
from support.engine_cases import given_event, query_of
from support.ep_sparql_runs import background_of as ep_sparql_background
from support.ep_sparql_runs import given_events as ep_sparql_events
from support.rsep_ql_runs import background_of as rsep_ql_background
from support.rsep_ql_runs import given_events as rsep_ql_events
from support.sase_composed import in_time
from support.sase_runs import typed
from support.spaseq_runs import background
from support.tef_engine import document
from thence.columns.array_codec import pack_arrays, unpack_arrays
from thence.io.background_data import load_background
from thence.local.engine import Engine
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf.terms import IRI
from thence.runtime import saved_state
from thence.runtime.results import Match, Problem

pytestmark = pytest.mark.numba

Pushed = Sequence[tuple[str, thence.Event]]


def agrees(
    make: Callable[[], Engine],
    events: Pushed,
    restarts: set[int],
    advances: set[int],
    *,
    facts: bool = False,
    history: bool = False,
) -> None:
    """`restarts` and `advances` are the pushes before which an engine is restored, and after which it is advanced."""
    unbroken, broken = make(), make()
    for number, (stream, event) in enumerate(events):
        if number in restarts:
            broken = make().restore(broken.save())
        assert shown(broken.push(stream, event)) == shown(unbroken.push(stream, event))
        if number in advances and unbroken.watermark.now is not None:
            assert shown(broken.advance(event.end + 1)) == shown(unbroken.advance(event.end + 1))
        if facts:
            assert str(broken.facts()) == str(unbroken.facts())
        if history:
            for time in range(event.end + 1):
                assert str(broken.facts(at=time)) == str(unbroken.facts(at=time))
    broken = make().restore(broken.save())
    assert shown(broken.close()) == shown(unbroken.close())
    assert broken.counts == unbroken.counts


def shown(found: Sequence[Match | Problem]) -> list[object]:
    return [(each, each.id, each.events) if isinstance(each, Match) else each for each in found]


CUTS = st.sets(st.integers(0, 12), max_size=6)
ADVANCES = st.sampled_from([set[int](), set[int](), {0}, {1, 3}, {2}])
LATENESS = st.sampled_from([0, 0, 1, 3])


@examples(0.3)
@given(sequence_cases(), CUTS, ADVANCES, LATENESS)
def test_spaseq(case: SequenceCase, cuts: set[int], advances: set[int], lateness: int) -> None:
    query = query_of(case)
    make = partial(query.engine, background=background(case), lateness=lateness, problems=True, timed_out=len(cuts) > 3)
    events = [(event.stream, given_event(event)) for event in case.events]
    agrees(make, events, cuts, advances)


@examples(0.3)
@given(st.one_of(sase_texts(), sase_texts(totals=True)), CUTS, ADVANCES, LATENESS)
def test_sase(text: Text, cuts: set[int], advances: set[int], lateness: int) -> None:
    query = thence.parse(written(text.queries), language="sase+")
    make = partial(query.engine, lateness=lateness, problems=True)
    agrees(make, [(stream, typed(event)) for _, stream, event in in_time(text)], cuts, advances)


@pytest.mark.filterwarnings("ignore::thence.errors.ThenceWarning")  # of state that a policy keeps
@examples(0.3)
@given(st.one_of(ep_sparql_cases.cases(), ep_sparql_cases.policy_cases()), CUTS, ADVANCES, LATENESS)
def test_ep_sparql(case: ep_sparql_cases.Case, cuts: set[int], advances: set[int], lateness: int) -> None:
    make = partial(
        thence.parse(ep_sparql_text(case.file), language="ep-sparql").engine,
        background=ep_sparql_background(case),
        reasoning="rdfs" if case.reasoning else None,
        policy=case.policy or None,
        lateness=lateness,
        max_rounds=48,
        problems=True,
    )
    try:
        agrees(make, ep_sparql_events(case.events), cuts, advances)
    except thence.LimitError:  # rules without end
        assume(False)


@examples(0.3)
@given(rsep_ql_cases.varied_cases(), CUTS, ADVANCES, LATENESS)
def test_rsep_ql(case: rsep_ql_cases.Case, cuts: set[int], advances: set[int], lateness: int) -> None:
    query = thence.parse(rsep_ql_text(case.query), language="rsep-ql")
    known = rsep_ql_background(case)
    make = partial(
        query.engine,
        background=None if known is NO_BACKGROUND else known,
        policy=case.preset or None,
        report=case.report,
        lateness=lateness,
        problems=True,
    )
    agrees(make, rsep_ql_events(case.events), cuts, advances)


@examples(0.3)
@given(tef_sparql_cases.cases(), CUTS, ADVANCES, LATENESS)
def test_tef_sparql(case: tef_sparql_cases.Case, cuts: set[int], advances: set[int], lateness: int) -> None:
    assume(case.program.statements)
    query = thence.parse(tef_sparql_text(case.program), language="tef-sparql")
    known = Background(load_background(store_of(case.background))) if case.background else None
    history = len(cuts) % 2 == 1
    make = partial(query.engine, background=known, lateness=lateness, max_steps=10_000, problems=True, history=history)
    (name, *_) = query.streams
    events = [
        (each.stream or name, thence.Event(each.start, document(each.triples), end=each.end, id=each.id))
        for each in case.events
    ]
    try:
        agrees(make, events, cuts, advances, facts=True, history=history)
    except thence.LimitError:
        assume(False)


PAIR = """PREFIX : <http://example.org/> SELECT ?x WITHIN 10 TICKS FROM STREAM S <x:s>
{ SEQ (A ; B) DEFINE GPM A ON S { ?x a :A } DEFINE GPM B ON S { ?y a :B } }"""


def pair() -> thence.Query:
    return thence.parse(PAIR)


def test_the_events_of_a_match_come_back_as_they_were_given() -> None:
    """With their attributes in Python's types, and blank nodes as they were labelled."""
    values: dict[str, Any] = {
        "whole": 2**70,
        "exact": Decimal("1.50"),
        "double": -0.0,
        "text": "a\n\u20ac",
        "truth": True,
        "none": None,
        "when": datetime(2024, 5, 6, 7, tzinfo=UTC),
        "day": date(2024, 5, 6),
        "iri": IRI("x:y"),
    }
    first = thence.Event(1, {"type": "A", **values}, id="first")
    labelled = thence.Event(2, "_:me a <http://example.org/A> .")
    engine = pair().engine(lateness=2)
    engine.push(first)
    engine.push(thence.Event(3, {"type": "x"}))  # waits, and so does the next one
    engine.push(labelled)
    engine = pair().engine(lateness=2).restore(engine.save())
    engine.push(thence.Event(4, {"type": "B"}))
    whole, unnamed = (match for match in engine.close() if isinstance(match, Match))
    assert whole.event_ids == ("first", "S:3") and unnamed.event_ids == ("S:2", "S:3")
    assert whole.events[0] == first and repr(whole.events[0].attributes) == repr(first.attributes)
    assert unnamed.events[0].triples == labelled.triples


def _saved_with(event: thence.Event) -> bytes:
    engine = pair().engine()
    engine.push(event)
    return engine.save()


def test_an_engine_that_has_seen_nothing_is_restored_as_one() -> None:
    engine = pair().engine().restore(pair().engine().save())
    assert engine.close() == []


def test_what_is_no_saved_engine_of_the_query_is_refused() -> None:
    saved = _saved_with(thence.Event(1, {"type": "A"}))
    query = pair()
    other, engine = thence.parse(PAIR.replace("10 TICKS", "11 TICKS")), query.engine()
    with pytest.raises(thence.InputError, match=r"The saved engine belongs to another query. Try: restore it with"):
        other.engine().restore(saved)
    for torn in (b"", b"pickle", saved[:-1], saved[:60], saved[:-1] + bytes([saved[-1] ^ 1])):
        with pytest.raises(thence.InputError, match="cut off"):
            engine.restore(torn)
    with pytest.raises(thence.InputError, match=r"restored from bytes, not str. Try: the bytes of engine.save"):
        query.engine().restore("saved")  # type: ignore[arg-type]
    head, _ = unpack_arrays(saved_state.unsealed(saved))
    older = saved_state.sealed(pack_arrays(head | {"version": 1}, []))
    with pytest.raises(thence.InputError, match=r"The saved engine was written by version 1 .* into a new engine"):
        engine.restore(older)
    assert engine.restore(saved).counts.events == 1  # it stayed new


TIMED_OUT = (PAIR, "spaseq", "timed_out")
HISTORY = ("CONSTRUCT FACT ?x f ?y WHERE SINCE ?x p ?y UNION UNTIL ?x q ?y", "tef-sparql", "history")


@pytest.mark.parametrize(("text", "language", "option"), [TIMED_OUT, HISTORY])
@pytest.mark.parametrize("kept", [False, True])
def test_an_engine_that_keeps_more_or_less_is_refused(text: str, language: str, option: str, kept: bool) -> None:
    """Facts that have ended, and partial matches that timed out, are not in a state that was saved without them."""
    query = thence.parse(text, language=language)
    saved = query.engine(**{option: kept}).save()
    query.engine(**{option: kept}).restore(saved)
    with pytest.raises(thence.InputError, match="and the options that it was saved with"):
        query.engine(**{option: not kept}).restore(saved)


def test_an_engine_whose_lengths_are_of_another_kind_of_time_is_refused() -> None:
    query = thence.parse(PAIR.replace("WITHIN 10 TICKS", ""))
    engine = query.engine()
    engine.push(thence.Event(1, {"type": "A"}))
    with pytest.raises(thence.InputError, match="lateness is in dates"):
        query.engine(lateness="5s").restore(engine.save())


NAMES = ("watermark", "domain", "counts", "order", "flow", "held", "waiting", "beyond", "events", "hosts")


@pytest.mark.parametrize("name", NAMES)
def test_a_forged_head_is_refused(name: str) -> None:
    engine = pair().engine(lateness=1)
    engine.push(thence.Event(1, {"type": "A"}))
    engine.push(thence.Event(3, {"type": "A"}))
    head, reader = unpack_arrays(saved_state.unsealed(engine.save()))
    arrays = [reader.next() for _ in head.pop("arrays")]
    for forged in (None, 7, [None], [None] * 4, [[1, "S", 0, True]] * 9, "x"):
        again = saved_state.sealed(pack_arrays(head | {name: forged}, arrays))
        with pytest.raises(thence.InputError, match="damaged"):
            pair().engine(lateness=1).restore(again)


def test_only_a_new_engine_is_restored() -> None:
    saved = _saved_with(thence.Event(1, {"type": "A"}))
    used = pair().engine().restore(saved)
    with pytest.raises(thence.InputError, match=r"Only a new engine .* Try: query.engine\(…\).restore\(saved\)"):
        used.restore(saved)


@pytest.mark.parametrize("call", ["push", "advance", "save", "restore"])
def test_a_closed_engine_takes_no_call(call: str) -> None:
    engine = pair().engine()
    engine.close()
    arguments: dict[str, list[Any]] = {"push": [thence.Event(1, {"type": "A"})], "advance": [3], "restore": [b""]}
    with pytest.raises(
        thence.InputError, match=rf"{call}\(\) needs an engine that runs, and this one is closed. Try: "
    ):
        getattr(engine, call)(*arguments.get(call, []))
    assert engine.close() == []
