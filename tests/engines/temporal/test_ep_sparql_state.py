"""EP-SPARQL: state that the query bounds stays flat, and other state causes a warning (EP-74 – EP-79)."""

from __future__ import annotations

import pytest

import thence
from thence.errors import ThenceWarning

PREFIX = "PREFIX : <http://example.org/> "
SHORT = "FILTER(getDURATION() < 20)"
PAIR = "{ { ?x :p ?y } SEQ { ?x :q ?z } %s }"


def query(text: str) -> thence.Query:
    return thence.parse(PREFIX + text, language="ep-sparql")


def event(time: int, predicate: str) -> thence.Event:
    return thence.Event(time, f"<x:a> <http://example.org/{predicate}> {time} .")


def sizes(asked: thence.Query, predicates: str, policy: str | None = None, count: int = 1200) -> tuple[int, int]:
    """The most bytes of a saved state in the first half of the events, and in the second: their predicates take
    turns."""
    engine = asked.engine(policy=policy) if policy else asked.engine()
    found: list[int] = []
    for time in range(count):
        engine.push(event(1000 + time, predicates[time % len(predicates)]))
        if time % 7 == 0:
            (host,) = engine.answers.flow.hosts
            head, arrays = host.snapshot()
            found.append(len(str(head)) + sum(array.nbytes for array in arrays))
    half = len(found) // 2
    return max(found[:half]), max(found[half:])


def is_flat(found: tuple[int, int]) -> bool:
    first, second = found
    return second < 1.1 * first + 200


@pytest.mark.parametrize(
    "key",
    [
        "(getENDTIME() AS ?t)",
        "(NOW() AS ?t)",
        "(getSTARTTIME() AS ?t)",
        "(getENDTIME() AS ?t) ?x",
    ],
)
def test_groups_that_can_gain_nothing_more_leave_the_state(key: str) -> None:
    """EP-58, EP-75: a group of one end, or of one start where the duration is bounded."""
    asked = query(f"SELECT ?t (COUNT(*) AS ?n) {{ ?x :p ?y {SHORT} }} GROUP BY {key}")
    assert asked.warnings == ()
    assert is_flat(sizes(asked, "p"))


def test_a_group_whose_key_is_bound_to_the_end_leaves_the_state() -> None:
    asked = query("SELECT ?t (COUNT(*) AS ?n) { ?x :p ?y BIND(getENDTIME() AS ?t) FILTER(?y > 0) } GROUP BY ?t")
    assert asked.warnings == ()
    assert is_flat(sizes(asked, "p"))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?t (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY (getSTARTTIME() AS ?t)",
        f"SELECT ?t (COUNT(*) AS ?n) {{ ?x :p ?y {SHORT} }} GROUP BY (FLOOR(getENDTIME() / 10) AS ?t)",
        f"SELECT ?t (COUNT(*) AS ?n) {{ ?x :p ?y {SHORT} BIND(getENDTIME() + 1 AS ?t) }} GROUP BY ?t",
    ],
)
def test_groups_by_times_that_stay_cause_a_warning(text: str) -> None:
    """EP-79"""
    (warning,) = query(text).warnings
    assert "SELECT 1 keeps its groups for ever" in warning


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?y {{ ?x :p ?y FILTER NOT EXISTS {{ ?x :q ?z FILTER(?z > ?y) }} {SHORT} }}",
        f"SELECT ?y {{ ?x :p ?y BIND(EXISTS {{ ?x :q ?z FILTER(?z > ?y) }} AS ?e) {SHORT} }}",
        f"SELECT ?x (COUNT(*) AS ?n) {{ ?x :p ?y {SHORT} }} GROUP BY ?x HAVING(EXISTS {{ ?x :q ?z }})",
    ],
)
def test_an_exists_that_is_evaluated_for_each_row_causes_a_warning(text: str) -> None:
    """EP-79: no bound removes the triples that it reads."""
    (warning,) = query(text).warnings
    assert "SELECT 1 keeps all triples that an EXISTS reads for ever" in warning
    assert not is_flat(sizes(query(text), "pq"))


@pytest.mark.parametrize(
    "absence",
    [
        "FILTER NOT EXISTS { ?x :q ?x }",  # one solution for each shared mapping (EP-78)
        f"OPTIONAL {{ ?x :q ?z FILTER(?z > ?y) {SHORT} }} FILTER(!BOUND(?z))",  # the cure
    ],
)
def test_absence_without_a_warning_has_bounded_state(absence: str) -> None:
    """EP-75, EP-78"""
    asked = query(f"SELECT ?y {{ ?x :p ?y {absence} {SHORT} }}")
    assert asked.warnings == ()
    assert is_flat(sizes(asked, "pq"))


def test_groups_that_leave_count_as_those_that_stay() -> None:
    """EP-58: at each end, what ended then; by start, all that starts then."""
    events = [event(1, "p"), event(1, "p"), event(2, "q"), event(2, "p"), event(4, "q"), event(30, "q")]
    by_end = query(f"SELECT ?t (COUNT(*) AS ?n) {PAIR % SHORT} GROUP BY (getENDTIME() AS ?t)")
    assert [(row.end, row.bindings["n"].value) for row in by_end.match(events)] == [(2, "1"), (4, "2")]
    by_start = query(f"SELECT ?t (COUNT(*) AS ?n) {PAIR % SHORT} GROUP BY (getSTARTTIME() AS ?t)")
    found = sorted((row.start, row.end, row.bindings["n"].value) for row in by_start.match(events))
    assert found == [(1, 2, "1"), (1, 4, "2"), (2, 4, "1")]


@pytest.mark.parametrize("policy", ["chronological", "recent"])
@pytest.mark.parametrize(
    ("where", "predicates"),
    [
        (PAIR % SHORT, "p"),
        (PAIR % SHORT, "q"),
        (PAIR % "", "q"),  # nothing to the left of it: it can never pair
        (PAIR % SHORT, "ppqq"),
        (f"{{ {{ ?x :p ?y . ?x :r ?w }} SEQ {{ {{ ?x :q ?z }} SEQ {{ ?x :s ?v }} {SHORT} }} {SHORT} }}", "pqr"),
    ],
)
def test_what_cannot_pair_any_more_leaves_the_state_of_a_policy(where: str, predicates: str, policy: str) -> None:
    """EP-74, EP-75: rivals are combinations that pass the filters (EP-69); what is in none of them is not a rival."""
    assert is_flat(sizes(query(f"SELECT * {where}"), predicates, policy))


def test_a_policy_over_a_bounded_query_gives_the_rows_of_the_definitions_after_it_has_forgotten() -> None:
    """EP-70, EP-74: `a p 1070` is too early for `a q 1100`, `a p 1090` is not."""
    engine = query(f"SELECT ?y ?z {PAIR % SHORT}").engine(policy="chronological")
    rows = [row for time in range(1000, 1100) for row in engine.push(event(time, "p" if time % 10 == 0 else "r"))]
    rows += [*engine.push(event(1100, "q")), *engine.close()]
    assert [(row.start, row.end) for row in rows] == [(1090, 1100)]


NESTED = "SELECT * {{ {{ {{ ?x :p ?y }} SEQ {{ {{ ?x :q ?z }} SEQ {{ ?x :r ?k }} {0} }} {1} }} }}"


@pytest.mark.parametrize("policy", ["chronological", "recent"])
def test_a_bound_outside_of_a_right_operand_causes_a_warning_under_a_policy(policy: str) -> None:
    """EP-69, EP-79: the outer filter does not prune the right operand."""
    asked = query(NESTED.format("", SHORT))
    assert asked.warnings == ()
    for method in (asked.engine, asked.explain, lambda policy: asked.match([], policy=policy)):
        with pytest.warns(ThenceWarning) as caught:
            method(policy=policy)
        assert [str(each.message) for each in caught] == [
            "SELECT 1 keeps the solutions of SEQ for ever: under a policy, a bound on getDURATION() outside of a right "
            'operand does not reach into it. Try: FILTER(getDURATION() < "PT1H"^^xsd:dayTimeDuration), or < 100 where '
            "times are ticks, inside its group too"
        ]


@pytest.mark.parametrize("policy", ["chronological", "recent"])
def test_the_cure_of_that_warning_bounds_the_state(policy: str) -> None:
    """EP-74, EP-75"""
    assert is_flat(sizes(query(NESTED.format(SHORT, SHORT)), "pq", policy))


def test_a_warning_that_holds_without_a_policy_is_given_once() -> None:
    """EP-79; pytest makes an error of any further one."""
    asked = query(NESTED.format("", ""))
    assert "nothing bounds getDURATION()" in asked.warnings[0]
    asked.explain(policy="recent")
