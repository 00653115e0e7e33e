"""What is true of every SPAseQ query, on made-up cases; and that these cases are worth something."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.notation import read
from oracle.spaseq import Match, World, evaluate
from oracle.spaseq_enumerated import enumerated, size
from oracle.spaseq_legal import is_legal
from oracle.spaseq_query import Query, Selection, Unary, arms
from oracle.spaseq_rows import rows
from oracle.spaseq_text import sequence
from strategies import examples
from strategies.spaseq import Case, Options, cases, features, queries, streams, tell


def answers(case: Case) -> frozenset[Match]:
    return evaluate(case.query, case.events, case.background)


def places(matches: frozenset[Match]) -> Counter[frozenset[tuple[int, int, str]]]:
    return Counter(match.places for match in matches)


def test_judging_whole_choices_of_events_gives_the_same_matches_and_often_some() -> None:
    """Also that cases are worth something: enough have matches, and those use every operator."""
    total, counts = 0, Counter[str]()

    @examples(4)
    @given(cases(Options(most_events=7)))
    def look(case: Case) -> None:
        nonlocal total
        assume(size(World(case.query, case.events, case.background)) <= 5_000)
        found = answers(case)
        expected = enumerated(case.query, case.events, case.background)
        assert Counter((match.places, match.run.mapping, match.certain) for match in found) == Counter(expected)
        tell(case.query, found)
        total += 1
        counts.update(features(case.query) | {"matches"} if found else ())
        counts["several mappings"] += len(places(found)) < len(found)
        counts["equal times"] += len({event.time for event in case.events}) < len(case.events)

    look()
    # far below what is usual: Hypothesis varies cases that it had before, so that shares wander
    wanted = dict.fromkeys(OPERATORS, 0.005) | {"matches": 0.4, "several mappings": 0.02, "equal times": 0.25}
    assert {
        feature: counts[feature] / total for feature, share in wanted.items() if counts[feature] < share * total
    } == {}


OPERATORS = (
    *",;:&|+?!",
    "! at the end",
    "FILTER",
    "GRAPH",
    "PARTITION BY",
    "WITHIN",
    "TUMBLING",
    "no window",
    "aggregate",
)


@examples(0.5)
@given(queries())
def test_a_sequence_is_read_as_it_is_written(query: Query) -> None:
    assert read(sequence(query)) == (query.parts, query.selections)


@examples(0.5)
@given(cases())
def test_strict_matches_are_next_matches_and_those_are_any_matches(case: Case) -> None:
    def with_all(selection: Selection) -> Counter[frozenset[tuple[int, int, str]]]:
        return places(
            answers(replace(case, query=replace(case.query, selections=(selection,) * len(case.query.selections))))
        )

    assert with_all(Selection.STRICT) <= with_all(Selection.NEXT) <= with_all(Selection.ANY)


@examples(0.5)
@given(cases(), st.integers(0, 12))
def test_what_is_certain_stays_whatever_comes_later(case: Case, now: int) -> None:
    so_far = tuple(event for event in case.events if event.time <= now)
    early = {match for match in answers(replace(case, events=so_far)) if match.certain <= now}
    assert early == {match for match in answers(case) if match.certain <= now}


@examples(0.5)
@given(cases(), st.integers(-20, 20))
def test_only_differences_of_times_count(case: Case, later: int) -> None:
    query = case.query
    if query.within is not None and query.within.tumbling:
        query = replace(query, within=replace(query.within, start=query.within.start + later))
    moved = tuple(replace(event, time=event.time + later) for event in case.events)
    assert places(evaluate(query, moved, case.background)) == places(answers(case))


@examples(0.5)
@given(cases(Options(windows=("sliding",), unaries=(Unary.ONCE, Unary.PLUS, Unary.OPTIONAL))))
def test_a_sliding_window_only_chooses_among_the_matches(case: Case) -> None:
    within = case.query.within
    assert within is not None
    unlimited = answers(replace(case, query=replace(case.query, within=None)))
    assert answers(case) == {match for match in unlimited if match.run.end - match.run.first <= within.width}


@examples(0.5)
@given(cases(), st.data())
def test_a_stream_that_the_query_does_not_name_changes_nothing(case: Case, data: st.DataObject) -> None:
    others = [replace(event, stream="S9", id="other " + event.id) for event in data.draw(streams(case.query))]
    assert answers(replace(case, events=case.events + tuple(others))) == answers(case)


@examples(0.5)
@given(cases())
def test_every_match_is_in_order_and_inside_its_window(case: Case) -> None:
    within = case.query.within
    for match in answers(case):
        times = [filled.event.time for filled in match.run.filled]
        assert times == sorted(times)
        assert match.run.start <= match.run.first == times[0] <= match.run.end == times[-1] <= match.certain
        assert within is None or match.run.end - match.run.first <= within.width


@examples(0.5)
@given(cases())
def test_rows_are_as_many_as_matches_unless_they_are_distinct(case: Case) -> None:
    found = rows(replace(case.query, distinct=False), answers(case))
    assert len(found) == len(answers(case))
    distinct = rows(replace(case.query, distinct=True), answers(case))
    assert {row.cells for row in distinct} == {row.cells for row in found}
    assert len({row.cells for row in distinct}) == len(distinct)


@examples(0.5)
@given(queries(Options(windows=("none",))))
def test_options_leave_things_out(query: Query) -> None:
    assert query.within is None
    assert not any(arm[-1].negated for arm in arms(query))
    assert is_legal(query)
