"""What is true of every TEF-SPARQL program (section 4.6), on made-up cases; and that the cases are worth something."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.tef_sparql import Run, TooManySteps
from oracle.tef_sparql_cases import Case, cases, is_emitting, whole
from oracle.tef_sparql_patterns import Fact
from oracle.tef_sparql_text import text
from strategies import examples


def run(case: Case, until: int | None = None) -> Run:
    try:
        return whole(case, until=until)
    except TooManySteps:
        assume(False)
        raise


def test_rows_of_the_past_are_never_changed() -> None:
    """The corollary of 4.6: monotone. Also that cases are worth something: enough have answers, and use every word."""
    total, counts = 0, Counter[str]()

    @examples(3)
    @given(cases(), st.integers(1, 9))
    def look(case: Case, time: int) -> None:
        nonlocal total
        found = run(case)
        past = replace(case, events=tuple(event for event in case.events if event.end < time))
        assert run(past, until=time).rows == [row for row in found.rows if row[2] < time]
        assert run(case, until=time).rows == [row for row in found.rows if row[2] < time]
        made = [each for each in found.constructed if each[2] < time]
        assert run(past, until=time).constructed == run(case, until=time).constructed == made
        total += 1
        if found.rows or (is_emitting(case.program) and (found.constructed or found.facts)):
            written = text(case.program)
            counts.update(["answers", *(word for word in WORDS if word in written)])

    look()
    wanted = dict.fromkeys(WORDS, 0.01) | {"answers": 0.3}
    assert {word: counts[word] / total for word, share in wanted.items() if counts[word] < share * total} == {}


WORDS = (
    *("SINCE", "UNTIL", "REPLACE", "ON INIT", "UNION", " WITHOUT ", " SEQ ", " BEFORE ", " DURING ", " WITH "),
    *("ONSTART", "ONEND", "now()", "duration", "ONCE PER", "CONSTRUCT EVENT", "CONSTRUCT FACT", "WITHIN"),
)


@given(cases(), st.integers(0, 9))
def test_every_step_draws_conclusions_about_now_only(case: Case, time: int) -> None:
    """The theorem of 4.6: at each instant facts start, open, or end; nothing else about facts changes."""
    before, after = facts(case, time), facts(case, time + 1)
    started = {fact for fact in after if fact.start == time}
    assert all(fact.end is None for fact in started)
    ended = {fact for fact in after if fact.end == time}
    assert before == {replace(fact, end=None) if fact in ended else fact for fact in after - started}


def facts(case: Case, until: int) -> set[Fact]:
    return set(run(case, until).facts)


@given(cases())
def test_rows_and_events_end_now_and_facts_have_an_interval(case: Case) -> None:
    found = run(case)
    ends = [row[2] for row in found.rows]
    assert ends == sorted(ends)
    assert [each[2] for each in found.constructed] == sorted(each[2] for each in found.constructed)
    assert all(start <= end for _, start, end, *_ in (*found.rows, *found.constructed))
    assert all(fact.end is None or fact.start < fact.end for fact in found.facts)
    keys = [fact.key for fact in found.facts]
    assert len(set(keys)) == len(keys)


@given(cases(), st.randoms(use_true_random=False))
def test_only_the_order_among_equal_times_decides(case: Case, random: Random) -> None:
    shuffled = list(case.events)
    random.shuffle(shuffled)
    place = {event.id: number for number, event in enumerate(case.events)}
    times = sorted({event.end for event in shuffled}, key=lambda _: random.random())
    other = [e for time in times for e in sorted(shuffled, key=lambda e: place[e.id]) if e.end == time]
    found, again = run(case), run(replace(case, events=tuple(other)))
    assert (found.rows, found.constructed, found.facts) == (again.rows, again.constructed, again.facts)


@given(cases())
def test_later_statements_that_only_select_change_nothing_else(case: Case) -> None:
    constructs = tuple(each for each in case.program.statements if each not in case.program.selects)
    found = run(case)
    again = run(replace(case, program=replace(case.program, statements=constructs)))
    assert found.constructed == again.constructed
    selected = {predicate for predicate in found.kinds if found.kinds[predicate] is not again.kinds.get(predicate)}
    if not selected:
        assert set(found.facts) == set(again.facts)
