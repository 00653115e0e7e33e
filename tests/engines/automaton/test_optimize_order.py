"""The order in which the operands of `&` are joined changes neither the rows nor the order of their events."""

from __future__ import annotations

from itertools import permutations

import pytest

import thence
from support.rewriting import query_of
from thence.algebra.show import show

pytestmark = pytest.mark.numba

GPMS = {"A": "?x :a ?a", "B": "?y :b ?b", "C": "?x :c ?y"}


def events(sizes: tuple[int, ...]) -> list[thence.Event]:
    """At each of three times so many events for A, for B and for C."""
    graphs = ["<x:n{0}> <x:a> {0} .", "<x:n{0}> <x:b> {0} .", "<x:n{0}> <x:c> <x:n{0}> ."]
    return [
        thence.Event(time, graphs[kind].format(number), id=f"{'ABC'[kind]}{number}@{time}")
        for time in range(3)
        for kind, size in enumerate(sizes)
        for number in range(size)
    ]


@pytest.mark.parametrize("sizes", list(permutations((1, 2, 4))))
@pytest.mark.parametrize("operand", ["A & B & C", "C & A & B", "B & (C & A)"])
def test_events_stand_in_the_order_of_the_pattern_whichever_operand_is_rare(
    operand: str, sizes: tuple[int, ...]
) -> None:
    names = [letter for letter in operand if letter in GPMS]
    found = thence.parse(show(query_of(operand, **GPMS))).match(events(sizes))
    assert [match.event_ids for match in found] == [tuple(f"{name}0@{time}" for name in names) for time in range(3)]
