"""SASE+ on cases worked out by hand: the paper's own, and one for each rule of choosing events."""

from __future__ import annotations

from oracle.sase import matches
from oracle.sase_notation import event, line, read
from oracle.sase_query import Event


def found(query: str, events: list[Event]) -> list[str]:
    """The events of each match in the order of the pattern, components parted by `|`."""
    shown = (" | ".join(" ".join(part) for part in match.ids) for match in matches(read(query), events))
    return sorted(shown)


STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")


def rising(strategy: str) -> str:
    """Query 2: a price that rises from 10 to 20."""
    return f"A+ a[] WHERE {strategy}(a[]) {{ a[1].x = 10 AND a[i].x >= a[i-1].x AND a[a.LEN].x = 20 }}"


def test_figure_1a_without_the_cut_the_closure_goes_on_to_the_next_price_of_20() -> None:
    prices = line("a1:10 a2:15 a3:20 a4:18 a5:20")
    assert found(rising("skip_till_next_match"), prices) == ["a1 a2 a3", "a1 a2 a3 a5"]


def test_figure_1a_with_the_cut_it_stops_at_the_first_price_of_20() -> None:
    prices = line("a1:10 a2:15 a3:20 a4:18 a5:20")
    assert found(rising("skip_till_next_match").replace("(a[])", "(a[]!)"), prices) == ["a1 a2 a3"]


def test_figure_1a_a_price_that_must_rise_reaches_a_second_20_by_skip_till_any_alone() -> None:
    prices = line("a1:10 a2:15 a3:20 a4:18 a5:20")
    assert found(rising("skip_till_next_match").replace(">=", ">"), prices) == ["a1 a2 a3"]
    assert "a1 a2 a4 a5" in found(rising("skip_till_any_match").replace(">=", ">"), prices)


def volumes() -> list[Event]:
    """Figure 1(b): the volume falls at the third event and again at the fifth, while the price rises."""
    numbers = [(10, 2000), (12, 1800), (14, 1000), (16, 1000), (18, 500)]
    return [
        Event("STOCK", time, (("price", price), ("volume", volume), ("symbol", "G")), f"s{time}")
        for time, (price, volume) in enumerate(numbers, start=1)
    ]


QUERY_3 = """STOCK+ a[], STOCK b WHERE skip_till_next_match(a[], b) { [symbol] AND a[1].volume > 1800
    AND a[i].price > avg(a[..i-1].price) AND b.volume < 0.8 * a[a.LEN].volume } WITHIN 10"""


def test_figure_1b_with_the_cut_the_closure_stops_where_the_next_component_begins() -> None:
    assert found(QUERY_3.replace("(a[]", "(a[]!"), volumes()) == ["s1 s2 | s3"]


def test_figure_1b_without_it_one_event_ends_one_match_and_continues_another() -> None:
    assert found(QUERY_3, volumes()) == ["s1 s2 s3 s4 | s5", "s1 s2 | s3"]


def test_a_strategy_for_each_way_of_choosing_rising_prices() -> None:
    prices = line("a1:1 a2:2 a7:7 a3:3 a4:4 a5:5 a6:6")
    longest = "A+ a[] WHERE {}(a[]) {{ a[1].x = 1 AND a[i].x > a[i-1].x }} WITHIN 10"
    assert found(longest.format("strict_contiguity"), prices) == ["a1 a2 a7"]
    assert found(longest.format("skip_till_next_match"), prices) == ["a1 a2 a7"]
    assert "a1 a2 a3 a4 a5 a6" in found(longest.format("skip_till_any_match"), prices)
    # a1, then either any of the 32 choices among 2, 3, 4, 5, 6, or 7 with or without 2 before it
    assert len(found(longest.format("skip_till_any_match"), prices)) == 32 + 2


def test_a_closure_goes_on_after_the_next_component_matched() -> None:
    assert found("A+ a[], B b", line("a1 a2 b1 b2")) == ["a1 a2 | b1", "a1 a2 | b2", "a2 | b1", "a2 | b2"]


def test_with_the_cut_it_does_not() -> None:
    query = "A+ a[], B b WHERE skip_till_next_match(a[]!, b) { }"
    assert found(query, line("a1 a2 b1 b2")) == ["a1 a2 | b1", "a2 | b1"]


def test_the_cut_leaves_it_to_the_next_component_to_skip() -> None:
    query = "A+ a[], B b WHERE skip_till_next_match(a[]!) { } AND skip_till_any_match(b) { }"
    assert found(query, line("a1 b1 b2")) == ["a1 | b1", "a1 | b2"]


def test_an_event_that_begins_the_next_component_may_be_taken_instead() -> None:
    assert found("A+ a[], ANY b", line("a1 a2 a3")) == ["a1 a2 | a3", "a1 | a2", "a2 | a3"]
    assert found("A+ a[], ANY b WHERE skip_till_next_match(a[]!) { }", line("a1 a2 a3")) == ["a1 | a2", "a2 | a3"]


def test_two_closures() -> None:
    assert found("A+ a[], B+ b[], C c", line("a1 b1 a2 b2 c1")) == [
        "a1 a2 | b2 | c1",
        "a1 | b1 b2 | c1",
        "a2 | b2 | c1",
    ]


def test_plain_components_by_strategy() -> None:
    events = line("a1 x b1 b2")
    assert found("A a, B b WHERE strict_contiguity(a, b) { }", events) == []
    assert found("A a, B b WHERE strict_contiguity(a, b) { }", line("a1 b1 b2")) == ["a1 | b1"]
    assert found("A a, B b", events) == ["a1 | b1"]
    assert found("A a, B b WHERE skip_till_any_match(a, b) { }", events) == ["a1 | b1", "a1 | b2"]


def test_skip_till_next_skips_what_fails_the_conjuncts_or_lacks_the_attribute() -> None:
    assert found("A a, B b WHERE b.x > 1", line("a1 b1:1 b2 b3:2 b4:3")) == ["a1 | b3"]


def test_a_variable_waits_by_its_own_strategy() -> None:
    first_strict = "A a, B b, C c WHERE strict_contiguity(b) { }"
    assert found(first_strict, line("a1 b1 x c1")) == ["a1 | b1 | c1"]
    assert found(first_strict, line("a1 x b1 c1")) == []


def test_a_strict_closure_that_stops_hands_over_to_a_component_that_skips() -> None:
    query = "A+ a[], B b WHERE strict_contiguity(a[]) { }"
    assert found(query, line("a1 a2 x a3 b1")) == ["a1 a2 | b1", "a2 | b1", "a3 | b1"]
    assert found("A+ a[], B b WHERE strict_contiguity(a[], b) { }", line("a1 a2 x b1")) == []


def test_strict_contiguity_counts_every_event_partition_contiguity_those_of_the_partition() -> None:
    events = [event("a1", 1, k=1), event("x", 2, k=2), event("y", 3), event("b1", 4, k=1)]
    query = "A a, B b WHERE {}(a, b) {{ [k] }}"
    assert [found(query.format(strategy), events) for strategy in STRATEGIES] == [[], *[["a1 | b1"]] * 3]


def test_an_event_of_any_type_breaks_its_partition() -> None:
    events = [event("a1", 1, k=1), event("x", 2, k=1), event("b1", 3, k=1)]
    query = "A a, B b WHERE {}(a, b) {{ PARTITION BY(k) }}"
    assert [found(query.format(strategy), events) for strategy in STRATEGIES] == [[], [], *[["a1 | b1"]] * 2]


def test_partition_by_comes_before_equivalence_tests() -> None:
    events = [event("a1", 1, k=1, y=1), event("x", 2, k=1, y=2), event("b1", 3, k=1, y=1)]
    query = "A a, B b WHERE partition_contiguity(a, b) {{ {} }}"
    assert found(query.format("[k, y]"), events) == ["a1 | b1"]
    assert found(query.format("[y] AND PARTITION BY(k)"), events) == []


def test_an_equivalence_test_holds_for_all_events_and_fails_without_the_attribute() -> None:
    events = [event("a1", 1, k=1), event("a2", 2, k=2), event("a3", 3), event("a4", 4, k=1), event("b1", 5, k=1)]
    assert found("A+ a[], B b WHERE [k]", events) == ["a1 a4 | b1", "a4 | b1"]
    assert found("A a WHERE [k]", events) == ["a1", "a2", "a4"]


def test_events_at_one_time_are_alternatives() -> None:
    strict = "A a, B b WHERE strict_contiguity(a, b) { }"
    assert found(strict, line("a1=x b1")) == ["a1 | b1"]
    assert found(strict, line("a1 x=b1")) == ["a1 | b1"]
    assert found("A a, B b", line("a1=b1")) == []
    assert found("A a, B b", line("a1 b1=b2 b3")) == ["a1 | b1", "a1 | b2"]


def test_a_run_waits_on_only_if_it_may_ignore_all_alternatives() -> None:
    assert found("A+ a[], B b", line("a1 a2=x b1")) == ["a1 a2 | b1", "a2 | b1"]
    assert found("A+ a[], B b", line("a1 y=x b1")) == ["a1 | b1"]
    assert found("A+ a[] WITHIN 5", line("a1 a2=a3 a4")) == ["a1 a2 a4", "a1 a3 a4", "a2 a4", "a3 a4", "a4"]


def test_one_alternative_may_stop_a_closure_that_another_continues() -> None:
    assert found("A+ a[] WHERE strict_contiguity(a[]) { }", line("a1 a2=x y")) == ["a1", "a1 a2", "a2"]
    handed = "A+ a[], B b WHERE strict_contiguity(a[]) { }"
    assert found(handed, line("a1 a2=x b1")) == ["a1 a2 | b1", "a1 | b1", "a2 | b1"]


def test_who_proceeds_waits_only_if_all_alternatives_may_be_ignored_there() -> None:
    handed = "A+ a[], B b WHERE strict_contiguity(a[]) { }"
    assert found(handed, line("a1 b1=x b2")) == ["a1 | b1"]
