"""Where SASE+ closures end, what windows and negation leave, and when a match is certain."""

from __future__ import annotations

from oracle.sase import matches
from oracle.sase_notation import event, line, read
from oracle.sase_query import Event


def certain(query: str, events: list[Event]) -> dict[str, int]:
    """The events of each match, and when it is certain."""
    return {" ".join(id for part in match.ids for id in part): match.certain for match in matches(read(query), events)}


def found(query: str, events: list[Event]) -> list[str]:
    return sorted(certain(query, events))


def test_an_end_condition_is_tested_after_each_take_and_a_match_certain_there() -> None:
    assert certain("A+ a[] WHERE a.LEN = 2", line("a1 a2 x a3")) == {"a1 a2": 2, "a2 a3": 4}
    assert certain("A+ a[] WHERE a.LEN >= 1 AND a[1].x = 1", line("a1:1 a2 a3")) == {"a1": 1, "a1 a2": 2, "a1 a2 a3": 3}


def test_with_the_cut_the_closure_ends_where_its_condition_first_holds() -> None:
    query = "A+ a[] WHERE {}(a[]!) {{ sum(a[].x) >= 3 }}"
    prices = line("a1:1 a2:2 a3:3")
    assert found(query.format("skip_till_next_match"), prices) == ["a1 a2", "a2 a3", "a3"]
    assert found(query.format("skip_till_any_match"), prices) == ["a1 a2", "a1 a3", "a2 a3", "a3"]


def test_a_closure_with_an_end_condition_proceeds_nowhere_else() -> None:
    assert found("A+ a[], B b WHERE a.LEN = 2", line("a1 b1 a2 a3 b2")) == ["a1 a2 b2", "a2 a3 b2"]


def test_what_follows_an_end_condition_waits_by_its_own_strategy_from_the_last_take() -> None:
    strict = "A+ a[], B b WHERE strict_contiguity(b) { } AND a.LEN = 1"
    assert found(strict, line("a1 x b1")) == []
    assert found(strict, line("a1 b1")) == ["a1 b1"]
    assert found("A+ a[], B b WHERE a.LEN = 1", line("a1 b1 b2")) == ["a1 b1"]


def test_all_end_conditions_hold_together() -> None:
    assert found("A+ a[] WHERE a.LEN > 1 AND a[a.LEN].x > a[1].x", line("a1:2 a2:1 a3:3")) == ["a1 a2 a3", "a2 a3"]


def test_a_later_components_conjunct_is_no_end_condition() -> None:
    assert found("A+ a[], B b WHERE b.x = a.LEN", line("a1 a2 b1:1 b2:2")) == ["a1 a2 b2", "a2 b1"]


def test_a_last_closure_without_end_condition_gives_one_match_a_run_at_the_windows_end() -> None:
    assert certain("A+ a[] WITHIN 4", line("a1 x a2")) == {"a1 a2": 5, "a2": 7}
    assert certain("B b, A+ a[] WITHIN 3", line("b1 a1 x a2 a3")) == {"b1 a1 a2": 4}


def test_or_when_an_event_stops_it() -> None:
    strict = "A+ a[] WHERE strict_contiguity(a[]) { }"
    assert certain(strict, line("a1 a2 x")) == {"a1 a2": 3, "a2": 3}
    assert certain(strict + " WITHIN 9", line("a1 a2 x a3")) == {"a1 a2": 3, "a2": 3, "a3": 13}
    assert certain(strict + " WITHIN 1", line("a1 a2 a3 a4 x")) == {"a1 a2": 2, "a2 a3": 3, "a3 a4": 4, "a4": 5}


def test_what_stops_a_last_closure_under_strict_contiguity_may_be_skipped_by_other_strategies() -> None:
    first, rest = event("a1", 1, k=1, x=1), [event("x", 2, k=2), event("a2", 3, k=1), event("y", 4, k=1)]
    events = [first, *rest, event("a3", 5, k=1)]
    query = "A+ a[] WHERE {}(a[]) {{ [k] AND a[1].x = 1 }} WITHIN 9"
    assert found(query.format("strict_contiguity"), events) == ["a1"]
    assert found(query.format("partition_contiguity"), events) == ["a1 a2"]
    assert found(query.format("skip_till_next_match"), events) == ["a1 a2 a3"]
    assert found(query.format("skip_till_any_match"), events) == ["a1", "a1 a2", "a1 a2 a3", "a1 a3"]


def test_the_end_of_the_input_stops_a_last_closure_at_the_latest_event() -> None:
    """SA-21, SA-22"""
    strict, parted = "A+ a[] WHERE strict_contiguity(a[]) { }", "A+ a[] WHERE partition_contiguity(a[]) { [k] }"
    assert certain(strict, line("a1 a2")) == {"a1 a2": 2, "a2": 2}
    assert certain(strict + " WITHIN 9", line("a1 a2")) == {"a1 a2": 10, "a2": 11}
    assert certain(strict, line("a1 a2=x")) == {"a1": 2, "a1 a2": 2, "a2": 2}
    assert certain("B b, A+ a[] WHERE strict_contiguity(a[]) { }", line("b1 a1 a2")) == {"b1 a1 a2": 3}
    assert certain("A+ a[], B b WHERE strict_contiguity(a[], b) { }", line("a1 a2")) == {}
    # of whatever partition
    events = [event("a1", 1, k=1), event("a2", 2, k=2), event("x", 3, k=2), event("y", 5)]
    assert certain(parted, events) == {"a1": 5, "a2": 3}


def test_partition_contiguity_stops_a_last_closure_in_its_partition_only() -> None:
    events = [event("a1", 1, k=1), event("x", 2, k=2), event("a2", 3, k=1), event("y", 4, k=1)]
    assert certain("A+ a[] WHERE partition_contiguity(a[]) { [k] }", events) == {"a1 a2": 4, "a2": 4}


def test_the_windows_edge_belongs_to_it() -> None:
    events = [event("a1", 0), event("b1", 5), event("b2", 6)]
    assert found("A a, B b WHERE skip_till_any_match(b) { } WITHIN 5", events) == ["a1 b1"]
    assert certain("A a, B+ b[] WITHIN 5", events) == {"a1 b1": 5}
    assert found("A a, B b WITHIN 4", events) == []


def test_iterator_predicates_hold_from_one_or_from_two() -> None:
    numbers = line("a1:1 a2:3 a3:2 b1")
    assert found("A+ a[], B b WHERE a[i].x > 1", numbers) == ["a2 a3 b1", "a3 b1"]
    assert found("A+ a[], B b WHERE a[i].x > a[1].x", numbers) == ["a1 a2 a3 b1", "a2 b1", "a3 b1"]
    assert found("A+ a[], B b WHERE a[i].x > a[i-1].x", numbers) == ["a1 a2 b1", "a2 b1", "a3 b1"]
    assert found("A+ a[], B b WHERE a[i].x > sum(a[..i-1].x)", numbers) == ["a1 a2 b1", "a2 b1", "a3 b1"]
    assert found("A+ a[], B b WHERE a[1].x > 1", numbers) == ["a2 a3 b1", "a3 b1"]


def test_an_iterator_in_a_later_conjunct_holds_for_every_i() -> None:
    assert found("A+ a[], B b WHERE b.x > a[i].x", line("a1:1 a2:3 b1:3 b2:4")) == ["a1 a2 b2", "a2 b2"]
    assert found("A+ a[], B b WHERE b.x > a[i].x - a[i-1].x", line("a1:1 a2:3 b1:2 b2:3")) == [
        "a1 a2 b2",
        "a2 b1",
        "a2 b2",
    ]


def test_missing_values_and_other_kinds_make_no_comparison_true() -> None:
    lacking, word = event("a1", 1), event("a2", 2, x="u")
    events = [lacking, word, event("a3", 3, x=1)]
    assert found("A a WHERE a.x = 1", events) == ["a3"]
    assert found("A a WHERE a.x != 2", events) == ["a3"]
    assert found("A a WHERE NOT (a.x = 2)", events) == ["a3"]
    assert found("A a WHERE (a.x = 2 OR a.x IS NULL)", events) == ["a1"]
    assert found("A a WHERE a.x IS NOT NULL", events) == ["a2", "a3"]
    assert found("A a WHERE a.x < 'v'", events) == ["a2"]
    assert found("A a WHERE a.x / 0 IS NULL", events) == ["a1", "a2", "a3"]


def test_a_negated_event_between_its_neighbours_drops_the_match() -> None:
    assert found("A a, ~N n, B b", line("a1 n1 b1")) == []
    assert found("A a, ~N n, B b", line("a1=n1 b1=n2 n3")) == ["a1 b1"]
    assert found("A a, ~N n, B b WHERE n.x > b.x", line("a1 n1:1 n2 b1:1")) == ["a1 b1"]
    assert found("A a, ~N n, B b WHERE n.x > b.x", line("a1 n1:2 n2 b1:1")) == []


def test_negation_never_changes_which_events_are_chosen() -> None:
    # skip-till-next has b1; that an event between forbids it does not lead to b2
    assert found("A a, ~N n, B b WHERE n.x = b.x", line("a1 n1:1 b1:1 b2:2")) == []
    # the gap begins after the closure's last event
    assert found("A+ a[], ~N n, B b", line("a1 n1 a2 b1 n2 b2")) == ["a1 a2 b1", "a2 b1"]


def test_equivalence_tests_hold_for_negated_events_too() -> None:
    events = [event("a1", 1, k=1), event("n1", 2, k=2), event("n2", 3), event("b1", 4, k=1)]
    assert found("A a, ~N n, B b WHERE [k]", events) == ["a1 b1"]
    assert found("A a, ~N n, B b", events) == []


def test_a_negation_at_the_end_watches_to_the_windows_edge() -> None:
    query = "A a, B b, ~N n WITHIN 5"
    assert certain(query, [event("a1", 0), event("b1", 2)]) == {"a1 b1": 5}
    assert certain(query, [event("a1", 0), event("b1", 2), event("n1", 5)]) == {}
    assert certain(query, [event("a1", 0), event("b1", 2), event("n1", 6)]) == {"a1 b1": 5}
    assert certain(query, [event("a1", 0), event("b1", 2), event("n1", 2)]) == {"a1 b1": 5}


def test_a_negated_series_is_any_that_satisfies_all_its_predicates() -> None:
    query = "A a, ~(N+ n[]), B b WHERE n[i].x > n[i-1].x AND n.LEN = 2"
    assert found(query, line("a1 n1:1 n2:2 b1")) == []
    assert found(query, line("a1 n1:2 n2:1 b1")) == ["a1 b1"]
    assert found(query, line("a1 n1:1 n2:0 x n3:2 b1")) == []
    assert found("A a, ~(N+ n[]), B b", line("a1 n1 b1")) == []
    assert found("A a, ~(N+ n[]), B b WHERE n.LEN > 1", line("a1 n1=n2 b1")) == ["a1 b1"]


def test_a_negated_series_is_chosen_by_its_strategy() -> None:
    query = "A a, ~(N+ n[]), B b WHERE {}(n[]) {{ n[1].x = 1 AND n[i].x > n[i-1].x AND n[n.LEN].x = 3 AND n.LEN = 2 }}"
    # 1 3 is a series by skip-till-any; by skip-till-next 1 2 comes first
    assert found(query.format("skip_till_any_match"), line("a1 n1:1 n2:2 n3:3 b1")) == []
    assert found(query.format("skip_till_next_match"), line("a1 n1:1 n2:2 n3:3 b1")) == ["a1 b1"]
    assert found(query.format("skip_till_next_match"), line("a1 n1:1 x n3:3 b1")) == []
    assert found(query.format("strict_contiguity"), line("a1 n1:1 x n3:3 b1")) == ["a1 b1"]
    assert found(query.format("strict_contiguity"), line("a1 x n1:1 n3:3 x b1")) == []


def test_query_4_an_unusual_route() -> None:
    query = """S a, ~(S+ b[]), S c WHERE skip_till_any_match(a, c) { [k] AND a.x = 'NY' AND c.x = 'AM'
        AND b[1].from = a.x AND b[i].from = b[i-1].x AND b[b.LEN].x = c.from AND b.LEN <= 3 }"""
    start = event("s0", 0, k=1, x="NY")
    hops = [event("s1", 1, k=1, **{"from": "NY"}, x="BO"), event("s2", 2, k=1, **{"from": "BO"}, x="WO")]
    end = event("s3", 3, k=1, **{"from": "WO"}, x="AM")
    assert found(query, [start, *hops, end]) == []
    assert found(query, [start, hops[1], end]) == ["s0 s3"]
