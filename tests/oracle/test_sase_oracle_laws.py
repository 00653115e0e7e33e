"""What is true of every SASE+ query, on made-up cases; and that these cases are worth something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.sase import aggregate, matches, present
from oracle.sase_cases import Case, aggregate_cases, cases, tied_cases, unended_cases
from oracle.sase_expressions import Scope, holds, of_event
from oracle.sase_kinds import of_all_kinds
from oracle.sase_legal import problems
from oracle.sase_notation import read
from oracle.sase_query import (
    ANY,
    Arithmetic,
    Chosen,
    Condition,
    Equivalence,
    Event,
    Expression,
    Group,
    PartitionBy,
    Query,
    Strategy,
    Value,
    rewritten,
)
from oracle.sase_runs import Buffer, agree, has_end_condition, skips
from oracle.sase_text import key_name, text
from strategies import examples


def chosen(query: Query, events: tuple[Event, ...]) -> frozenset[Buffer]:
    return frozenset(match.events for match in matches(query, events))


def uniform(query: Query, strategy: Strategy, *, cut: bool = True) -> Query:
    """The query with one strategy for all variables that are not negated; a negated series keeps its own."""
    own = tuple(Group(query.strategy(c), (Chosen(c.variable),)) for c in query.components if c.negated and c.closure)
    same = tuple(Chosen(c.variable, cut and query.stops(c)) for c in query.positives)
    return replace(query, groups=(Group(strategy, same), *own), conditions=tuple(query.all_conditions()))


def ends_openly(query: Query) -> bool:
    """The last component is a closure without end condition: how far it goes depends on what stops it."""
    last = query.positives[-1]
    return last.closure and not has_end_condition(query, last)


@examples(2)
@given(cases())
def test_skip_till_any_has_the_matches_of_all_other_strategies(case: Case) -> None:
    query = replace(case.query, within=case.query.within or 6)
    widest = chosen(uniform(query, Strategy.ANY), case.events)
    for strategy in Strategy if query.tested() else (Strategy.STRICT, Strategy.NEXT):
        assert chosen(uniform(query, strategy), case.events) <= widest


@examples(2)
@given(cases())
def test_next_has_those_of_partition_and_that_those_of_strict_if_the_last_closure_has_an_end_condition(
    case: Case,
) -> None:
    query = case.query
    assume(not ends_openly(query))
    following = chosen(uniform(query, Strategy.NEXT), case.events)
    strict = chosen(uniform(query, Strategy.STRICT), case.events)
    assert strict <= following
    if query.tested():
        partition = chosen(uniform(query, Strategy.PARTITION), case.events)
        assert strict <= partition <= following


def splits(events: tuple[Event, ...], query: Query, place: int = 0) -> Iterator[Buffer]:
    """All ways to give these events, in their order, to the components from `place` on."""
    if place == len(query.positives):
        if not events:
            yield ()
        return
    longest = len(events) if query.positives[place].closure else 1
    for length in range(1, min(longest, len(events)) + 1):
        for rest in splits(events[length:], query, place + 1):
            yield (events[:length], *rest)


def choices(query: Query, events: tuple[Event, ...]) -> Iterator[Buffer]:
    """All choices of events that satisfy the pattern and every conjunct, whatever lies between them."""
    for count in range(1, len(events) + 1):
        for some in combinations(events, count):
            if all(earlier.time < later.time for earlier, later in pairwise(some)):
                yield from (each for each in splits(some, query) if satisfies(query, each))


def satisfies(query: Query, buffer: Buffer) -> bool:
    by_variable = {c.variable: events for c, events in zip(query.positives, buffer, strict=True)}
    first, last = buffer[0][0], buffer[-1][-1]
    return (
        (query.within is None or last.time - first.time <= query.within)
        and all(c.type in (ANY, e.type) for c, events in zip(query.positives, buffer, strict=True) for e in events)
        and all(agree(query.tested(), event, first) for events in buffer for event in events)
        and all(holds(each, Scope(by_variable, {})) for c in query.positives for each in query.conjuncts(c))
    )


def passes(query: Query, buffer: Buffer, events: tuple[Event, ...]) -> bool:
    """Whether the strategies skip all that lies between the chosen events.

    A run waits at the closure that it is in; where an end condition holds, and after a plain variable, at the next
    component.
    """
    waits: list[tuple[int, Event, Event]] = []
    for place, part in enumerate(buffer):
        waits += [(place, *pair) for pair in pairwise(part)]
        if place + 1 < len(buffer):
            component = query.positives[place]
            stays = component.closure and not has_end_condition(query, component)
            waits.append((place if stays else place + 1, part[-1], buffer[place + 1][0]))
    for place, before, after in waits:
        so_far = [tuple(e for e in part if e.time <= before.time) for part in buffer]
        known = {c.variable: part for c, part in zip(query.positives, so_far, strict=True) if part}
        between = [event for event in events if before.time < event.time < after.time]
        if not all(skips(query, query.positives[place], known, event) for event in between):
            return False
    return True


@examples(3)
@given(cases(), st.sampled_from(Strategy))
def test_the_runs_of_one_strategy_are_the_choices_between_which_it_skips_everything(
    case: Case, strategy: Strategy
) -> None:
    query = uniform(case.query, strategy, cut=False)
    assume(strategy is not Strategy.PARTITION or query.tested())
    assume(not ends_openly(query))
    negated = [component for component in query.components if component.negated]
    assert chosen(query, case.events) == {
        buffer
        for buffer in choices(query, case.events)
        if passes(query, buffer, case.events)
        and not any(present(query, component, buffer, case.events) for component in negated)
    }


@examples(1)
@given(cases())
def test_a_last_closure_under_skip_till_any_is_every_choice_in_the_window(case: Case) -> None:
    query = replace(uniform(case.query, Strategy.ANY, cut=False), components=case.query.positives)
    query = replace(query, conditions=_positive(case.query), within=case.query.within or 6)
    assert chosen(query, case.events) == {*choices(query, case.events)}


def _positive(query: Query) -> tuple[Condition, ...]:
    return tuple(
        each
        for each in query.all_conditions()
        if isinstance(each, Equivalence | PartitionBy) or not query.acts_at(each).negated
    )


@examples(1)
@given(cases())
def test_negation_only_drops_matches(case: Case) -> None:
    query = case.query
    groups = [
        replace(group, conditions=(), chosen=tuple(c for c in group.chosen if c.variable in positive))
        for positive in [{component.variable for component in query.positives}]
        for group in query.groups
    ]
    without = replace(query, components=query.positives, groups=tuple(groups), conditions=_positive(query))
    assert chosen(query, case.events) <= chosen(without, case.events)


@examples(2)
@given(cases())
def test_the_cut_only_drops_matches(case: Case) -> None:
    groups = tuple(
        replace(group, chosen=tuple(replace(each, stop=False) for each in group.chosen)) for group in case.query.groups
    )
    assert chosen(case.query, case.events) <= chosen(replace(case.query, groups=groups), case.events)


@examples(1)
@given(cases(), st.integers(0, 6))
def test_a_window_keeps_the_matches_that_fit_in_it(case: Case, width: int) -> None:
    """But a last closure ends with it, and what must be absent at the end must be so up to its end."""
    assume(not ends_openly(case.query) and not case.query.components[-1].negated)
    every = matches(replace(case.query, within=None), case.events)
    fitting = frozenset(match for match in every if match.end - match.first <= width)
    assert matches(replace(case.query, within=width), case.events) == fitting


@examples(1)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_events_in_the_input_does_not_matter(case: Case, random: Random) -> None:
    shuffled = list(case.events)
    random.shuffle(shuffled)
    assert matches(case.query, shuffled) == matches(case.query, case.events)


@examples(1)
@given(cases())
def test_events_of_a_match_follow_each_other_and_it_is_certain_from_its_end_to_its_windows_end(case: Case) -> None:
    for match in matches(case.query, case.events):
        times = [event.time for part in match.events for event in part]
        assert all(earlier < later for earlier, later in pairwise(times))
        assert match.end <= match.certain
        assert case.query.within is None or match.certain <= match.first + case.query.within


@examples(1)
@given(st.one_of(cases(), aggregate_cases(plain=True), *map(of_all_kinds, (cases(), aggregate_cases(plain=True)))))
def test_a_query_is_legal_and_read_as_it_is_written(case: Case) -> None:
    assert problems(case.query) == []
    assert read(text(case.query)) == case.query


@examples(1)
@given(aggregate_cases())
def test_aggregates_count_the_matches_of_each_group(case: Case) -> None:
    groups = Counter(
        tuple(of_event(key, match.events[0][0]) for key in case.query.by) for match in matches(case.query, case.events)
    )
    counted: dict[tuple[Value, ...], object] = {
        tuple(dict(row)[key_name(key)] for key in case.query.by): dict(row)["n0"]  # type: ignore[misc]
        for row in aggregate(case.query, case.events)
    }
    assert counted == groups


def test_cases_often_have_matches_and_use_whatever_there_is() -> None:
    counts = Counter[str]()

    @examples(4)
    @given(cases())
    def look(case: Case) -> None:
        counts["all"] += 1
        if found := matches(case.query, case.events):
            counts.update(["matches", *(["several"] if len(found) > 1 else []), *features(case.query)])

    look()
    assert counts["matches"] > 0.4 * counts["all"]
    # far below what is usual: Hypothesis varies cases that it had before, so that shares wander
    assert {feature: counts[feature] for feature in FEATURES if counts[feature] < 0.005 * counts["all"]} == {}


def test_tied_cases_often_have_matches_two_strategies_and_a_cut_before_what_waits_by_skip_till_any() -> None:
    counts = Counter[str]()

    @examples(1)
    @given(tied_cases())
    def look(cases: list[Case]) -> None:
        query = cases[0].query
        pairs = [(one, after) for one, after in pairwise(query.positives) if query.stops(one)]
        named = {
            "matches": any(matches(query, case.events) for case in cases),
            "two strategies": "two strategies" in features(query),
            "! before any": any(query.strategy(after) is Strategy.ANY for _, after in pairs),
        }
        counts.update(["all", *(name for name, there in named.items() if there)])

    look()
    assert counts["matches"] > 0.6 * counts["all"]
    assert counts["two strategies"] > 0.3 * counts["all"]
    assert counts["! before any"] > 0.1 * counts["all"]


def test_the_end_of_the_input_often_completes_matches_of_closures_that_nothing_else_ends() -> None:
    counts = Counter[str]()

    @examples(1)
    @given(unended_cases())
    def look(case: Case) -> None:
        later = matches(case.query, case.events, latest=9)
        counts.update(["all", *["completed"] * any(match.certain == 9 for match in later)])

    look()
    assert counts["completed"] > 0.3 * counts["all"]


def test_cases_of_all_kinds_often_have_matches_and_ask_whatever_there_is() -> None:
    counts = Counter[str]()

    @examples(3)
    @given(of_all_kinds(cases()))
    def look(case: Case) -> None:
        counts["all"] += 1
        if matches(case.query, case.events):
            counts.update(["matches", *asked(case.query)])

    look()
    assert counts["matches"] > 0.3 * counts["all"]
    assert {name: counts[name] for name in ASKED if counts[name] < 0.01 * counts["all"]} == {}


ASKED = ("In", "Like", "Call", "IsNull", "Arithmetic")


def asked(query: Query) -> set[str]:
    return {type(part).__name__ for part in all_parts(query)}


def all_parts(query: Query) -> list[Expression]:
    """The expressions of a query, and what they are made of."""
    found: list[Expression] = []

    def look(part: Expression) -> Expression:
        found.append(part)
        return part

    rewritten(query, look)
    return found


FEATURES = (
    "several",
    *(strategy.value for strategy in Strategy),
    *("two strategies", "!", "~", "~ at the end", "~( )", "[ ]", "PARTITION BY", "PARTITION BY k + 1", "no window"),
    *("open end", "end condition", "two closures", "closure in the middle", "%"),
)


def features(query: Query) -> set[str]:
    strategies = {query.strategy(component) for component in query.positives}
    closures = [component for component in query.positives if component.closure]
    conditions = {type(each) for each in query.all_conditions()}
    named = {
        "two strategies": len(strategies) > 1,
        "!": any(query.stops(component) for component in closures),
        "~": any(component.negated and not component.closure for component in query.components),
        "~( )": any(component.negated and component.closure for component in query.components),
        "~ at the end": query.components[-1].negated,
        "[ ]": Equivalence in conditions,
        "PARTITION BY": PartitionBy in conditions,
        "PARTITION BY k + 1": any(not isinstance(key, str) for key in query.tested()),
        "no window": query.within is None,
        "open end": ends_openly(query),
        "end condition": any(has_end_condition(query, component) for component in closures),
        "two closures": len(closures) > 1,
        "closure in the middle": any(component.closure for component in query.positives[1:-1]),
        "%": any(isinstance(part, Arithmetic) and part.operator == "%" for part in all_parts(query)),
    }
    return {strategy.value for strategy in strategies} | {name for name, there in named.items() if there}
