"""PARTITION BY: which events break `,`, where GPMs name what partitions in different places, or not at all."""

from __future__ import annotations

import pytest

from oracle.spaseq_cases import ask, graph, pattern
from oracle.spaseq_query import Event, Gpm, Query
from strategies.spaseq import Case, text
from support.flows import flow_of
from support.spaseq_runs import background, batches_of, comparable_row, engine_answers, oracle_answers
from thence.engines.automaton.plan.spaseq import plan
from thence.lang.spaseq.parser import parse

pytestmark = pytest.mark.numba


def agreed(query: Query, *triples: str) -> list[str]:
    """The events of each row, on which definitions, engine and unoptimised engine agree; event n is at time n."""
    events = (Event("S1", time, graph(triple), str(time)) for time, triple in enumerate(triples, start=1))
    case = Case(query, tuple(events), {})
    expected = oracle_answers(case)
    assert engine_answers(case) == expected
    assert engine_answers(case, cuts=[2, 3]) == expected
    runner = flow_of(plan(parse(text(query)), optimise=False), background(case))
    assert [comparable_row(row, runner) for row in runner.run(batches_of(case))] == sorted(
        expected, key=lambda row: row[2]
    )
    return sorted(" ".join(row[3]) for row in expected.elements())


def gpm(name: str, triple: str) -> Gpm:
    return Gpm(name, "S1", pattern(triple), (), ())


def test_an_event_of_another_partition_passes_no_run() -> None:
    query = ask("A , B", gpm("A", "?h a ?a"), gpm("B", "?h b ?b"), within=9, partition=("h",))
    assert agreed(query, "h1 a 1", "h2 a 1", "h2 b 1", "h2 b 2", "h1 b 1") == ["1 5", "2 3"]


def test_gpms_that_differ_in_names_alone_may_put_an_event_into_different_partitions() -> None:
    query = ask("A , B", gpm("A", "?h p ?x"), gpm("B", "?y p ?h"), within=9, partition=("h",))
    assert agreed(query, "h1 p z", "q p h1", "q p q") == ["1 2", "2 3"]


def test_two_variables_that_partition_may_change_places() -> None:
    query = ask("A , B", gpm("A", "?h p ?k"), gpm("B", "?k p ?h"), within=9, partition=("h", "k"))
    assert agreed(query, "x p y", "x p z", "y p x") == ["1 3"]


def test_a_negated_gpm_need_not_bind_what_partitions() -> None:
    gpms = gpm("A", "?h a ?a"), gpm("B", "?h b ?b"), gpm("N", "?z n ?b"), gpm("C", "?h c ?c")
    query = ask("A , B ; N! ; C", *gpms, within=9, partition=("h",))
    assert agreed(query, "h a 1", "h b 1", "q n 1", "h c 1") == []
    assert agreed(query, "h a 1", "h b 1", "q n 2", "h c 1") == ["1 2 4"]


def test_a_negated_gpm_may_ask_what_another_asks_under_names_that_partition_nothing() -> None:
    gpms = gpm("A", "?h p ?x"), gpm("B", "?h b ?b"), gpm("N", "?y p ?z"), gpm("C", "?h c ?c")
    query = ask("A , B ; N! ; C", *gpms, within=9, partition=("h",))
    assert agreed(query, "h p z", "h b 1", "h c 1") == ["1 2 3"]
