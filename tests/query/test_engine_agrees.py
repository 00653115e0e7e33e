"""Events pushed one by one give the rows that `match` gives, each as soon as it is certain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import spaseq_query
from strategies.spaseq import Case, cases
from support.engine_cases import Comparable, given_event, matched_rows, only_matches, query_of, summary, tell
from support.spaseq_runs import background
from thence.runtime.results import Match

pytestmark = pytest.mark.numba


@given(st.data(), cases())
def test_pushing_in_the_order_of_time_gives_the_rows_of_match(data: st.DataObject, case: Case) -> None:
    shuffled = data.draw(st.permutations(case.events))
    pushed = sorted(shuffled, key=lambda event: event.time)  # equal times in any order
    assert summary(case, tell(pushed_rows(case, pushed))) == summary(case, tell(matched_rows(case)))


@given(st.data(), cases())
def test_events_shuffled_within_the_lateness_give_the_rows_of_match(data: st.DataObject, case: Case) -> None:
    shuffled = data.draw(st.permutations(case.events))
    latest = max((event.time for event in case.events), default=0)
    earliest = min((event.time for event in case.events), default=0)
    found = pushed_rows(case, shuffled, lateness=latest - earliest)
    assert summary(case, tell(found)) == summary(case, tell(matched_rows(case)))


@given(st.data(), cases())
def test_every_row_comes_as_soon_as_it_is_certain(data: st.DataObject, case: Case) -> None:
    lateness = data.draw(st.integers(0, 2))
    pushed = sorted(data.draw(st.permutations(case.events)), key=lambda event: event.time)
    if case.query.distinct:
        return  # of equal rows the first one stays, and at one time that is the one whose event came first
    rows = matched_rows(case)
    engine = query_of(case).engine(background=background(case), lateness=lateness)
    waits = engine.answers.flow.waits_for_time
    found: Counter[Comparable] = Counter()
    there: list[spaseq_query.Event] = []
    for event in pushed:
        found.update(tell(only_matches(engine.push(event.stream, given_event(event)))))
        there.append(event)
        now = engine.watermark.now
        if now is None:
            assert not found
            continue
        known = {event.id for event in there if event.time <= now}
        complete = [row for row in rows if known.issuperset(row.event_ids)]
        must = Counter(tell(row for row in complete if row.certain < now or (row.certain == now and not waits)))
        may = Counter(tell(row for row in complete if row.certain <= now))
        assert must <= found <= may


def pushed_rows(case: Case, events: Iterable[spaseq_query.Event], *, lateness: int = 0) -> list[Match]:
    engine = query_of(case).engine(background=background(case), lateness=lateness)
    found = [row for event in events for row in engine.push(event.stream, given_event(event))] + engine.close()
    assert engine.counts.late == 0
    times = [row.certain for row in only_matches(found)]
    assert times == sorted(times)
    return only_matches(found)
