"""What the engine of TEF-SPARQL maintains by change, recomputed whole after every step: both must agree."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from unittest.mock import patch

from thence.engines.facts.event_instances import CurrentEvent
from thence.engines.facts.fact_nodes import FactBase
from thence.engines.facts.fact_queries import Changes, DueFrames
from thence.engines.facts.fact_store import FOREVER, Fact, FactStore
from thence.engines.facts.frames import CellTriple
from thence.engines.facts.steps import Machine, WaitingTriple
from thence.engines.facts.views import ViewGroup, Views, _origin


@contextmanager
def recomputed() -> Iterator[None]:
    """Inside, every step is checked: an AssertionError says what differs."""
    settle, step, instant, select = Views.settle, Machine._step, Machine.instant, Machine._select_facts

    def checked_settle(self: Views, facts: FactBase, changes: Changes) -> list[Fact]:
        other = replace(facts, store=copy.deepcopy(facts.store))
        ended = settle(self, facts, changes)
        expected = [fact for stratum in self.strata for group in stratum for fact in settled_whole(group, other)]
        assert {(fact.triple, fact.start) for fact in ended} == {(fact.triple, fact.start) for fact in expected}
        assert every(facts.store) == every(other.store)
        return ended

    def checked_step(self: Machine, hand: CurrentEvent | None, now: int, due: DueFrames = MappingProxyType({})) -> None:
        known = {id(each): dict(each.since.items()) for each in self.continuities()}  # as it was, after a restart too
        step(self, hand, now, due)
        for each in self.continuities():
            before = known[id(each)]
            holding = {_origin(match) for match in each.query.holding(each.query.empty, self.facts)}
            assert dict(each.since.items()) == {origin: before.get(origin, now) for origin in holding}
        for view in self.unnamed:
            whole = view.query.open(view.query.query.empty, self.facts)
            if view.has_ends:
                assert set(view.held.entries) == {(match.frame, match.start) for match in whole}
            if view.has_starts:
                assert set(view.begun.entries) == {(match.frame, now) for match in whole if match.start == now}

    def checked_instant(self: Machine, now: int, triples: list[WaitingTriple], *, is_event: bool) -> None:
        instant(self, now, triples, is_event=is_event)
        if self.timers.queries:
            assert self.timer == min(times_to_come(self), default=None)

    def checked_select(self: Machine, changes: Changes, now: int) -> None:
        for each in self.selects:
            for query in each.queries:
                frames = query.query.gained(changes)
                found = [match for frame in frames for match in query.open(frame, self.facts)]
                whole = query.open(query.query.empty, self.facts)
                begun = {(match.frame, match.arms) for match in found if match.start == now}
                assert begun == {(match.frame, match.arms) for match in whole if match.start == now}
        select(self, changes, now)

    with (
        patch.object(Views, "settle", checked_settle),
        patch.object(Machine, "_step", checked_step),
        patch.object(Machine, "instant", checked_instant),
        patch.object(Machine, "_select_facts", checked_select),
    ):
        yield


def every(store: FactStore) -> set[tuple[CellTriple, int, int | None, bool]]:
    return {(fact.triple, fact.start, fact.end, fact.is_view) for fact in (*store.holding(), *store.ended)}


def times_to_come(machine: Machine) -> Iterator[int]:
    for query in machine.timers.queries:
        machine.facts.due = set()
        query.node.find(query.empty, FOREVER, machine.facts)
        yield from (time for time, _ in machine.facts.due)


def settled_whole(group: ViewGroup, facts: FactBase) -> list[Fact]:
    """Derive all triples of a group from what it reads; the facts that ended (TEF-47 to TEF-49)."""
    store, now = facts.store, facts.now
    held = {fact.triple: fact for fact in list(store.holding()) if group.owns(fact)}
    for fact in held.values():
        store.remove(fact)
    kept: dict[CellTriple, Fact] = {}
    while True:  # what has held without a break: by derivations that began earlier
        again = [triple for triple in derived(group, facts, before=now) if triple in held and triple not in kept]
        again = [triple for triple in again if held[triple].start < now]
        if not again:
            break
        for triple in again:
            kept[triple] = held[triple]
            store.add(held[triple])
    while fresh := [triple for triple in derived(group, facts, before=now + 1) if triple not in kept]:
        for triple in fresh:
            known = held.get(triple)
            if known is not None and known.start == now:
                store.add(known)
            else:
                known = store.start(triple, now, group.number(triple[1]), is_view=True)
                assert known is not None
            kept[triple] = known
    gone = [fact for triple, fact in held.items() if kept.get(triple) is not fact]
    for fact in gone:
        fact.end = now
        if fact.start < now and store.keeps_ended:
            store.add(fact)
    return [fact for fact in gone if fact.start < now]


def derived(group: ViewGroup, facts: FactBase, *, before: int) -> list[CellTriple]:
    """The triples of the derivations that hold and began before a time."""
    found: dict[CellTriple, None] = {}
    for view, query in group.rules:
        for match in query.holding(query.empty, facts):
            if match.start < before:
                found.update(dict.fromkeys(view.head.of(match.frame, facts.moment)))
    return list(found)
