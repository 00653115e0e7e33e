"""The key of a query: what every event of a match has in common, whatever part it fills."""

from __future__ import annotations

import pytest

from support.rewriting import query_of
from thence.engines.automaton.plan.tables import shard_key

GPMS = {"A": "?x :a ?a", "B": "?x :b ?b", "C": "?y :c ?x", "D": "?x :d ?d OPTIONAL { ?x :at ?y }", "N": "?z :n ?n"}


def key(sequence: str, *, partition: str = "", **gpms: str) -> str:
    return " ".join(map(str, shard_key(query_of(sequence, partition=partition, **GPMS | gpms))))


def test_it_is_what_every_part_binds() -> None:
    assert key("A ; B+ ; C") == "?x"
    assert key("C , C") == "?x ?y"
    assert key("(A | B) ; (B & C) ; A?") == "?x"


def test_a_part_without_it_leaves_none() -> None:
    assert key("A ; N") == ""
    assert key("A ; (B | N)") == ""


def test_each_side_of_a_conjunction_must_bind_it_since_its_events_come_alone() -> None:
    assert key("A ; (B & N)") == ""


def test_negated_parts_must_bind_it_since_their_events_must_be_found() -> None:
    assert key("A ; B! ; C") == "?x"
    assert key("A ; N! ; C") == ""


def test_what_may_be_unbound_is_none() -> None:
    assert key("C ; D") == "?x"


def test_a_closure_alone_has_only_locals() -> None:
    assert key("A+") == ""
    assert key("A+", partition="PARTITION BY (?x)") == "?x"


@pytest.mark.parametrize("graph", ["GRAPH :kb { ?x :k ?k }"])
def test_a_block_binds_it_too(graph: str) -> None:
    assert key("A ; B", A=f"?y :a ?a {graph}") == "?x"
