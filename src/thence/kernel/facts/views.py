"""Views: facts derived from facts alone, the least fixpoint (TEF-47 to TEF-49).

A group of views that is monotone and not recursive is settled by what has changed: the triples that the changed facts
may concern are derived again, and no others. Other groups are computed anew, if what they read has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from thence.algebra.tef_sparql import ConstructStatement, TefPattern
from thence.errors import LimitError
from thence.kernel.facts.cells import Cell, CellTriple, triple_rank
from thence.kernel.facts.fact_nodes import FactBase, FactMatch
from thence.kernel.facts.fact_queries import Change, FactQuery
from thence.kernel.facts.fact_store import FOREVER, Fact, FactStore
from thence.kernel.facts.heads import Head


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A statement that derives facts from facts."""

    number: int
    statement: ConstructStatement
    patterns: tuple[TefPattern, ...]
    head: Head
    queries: tuple[FactQuery, ...]

    @property
    def predicates(self) -> frozenset[Cell] | None:
        """Those it derives; None: any."""
        found = [each.parts[1][0] for each in self.head.triples]
        return None if None in found else frozenset(each for each in found if each is not None)

    def reads(self, other: View) -> bool:
        """Whether it may read what another derives."""
        made = other.predicates
        return any(made is None or each.reads is None or not made.isdisjoint(each.reads) for each in self.queries)


@dataclass(frozen=True, slots=True, eq=False)
class ViewGroup:
    """Views that are settled together, since they derive the same triples or read each other."""

    views: tuple[View, ...]
    by_change: bool

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(view.number for view in self.views)


@dataclass(slots=True)
class Views:
    """The views of a program: by stratum, and in it by group, each after those that it reads."""

    strata: tuple[tuple[ViewGroup, ...], ...]
    max_rounds: int = 1000

    def settle(self, facts: FactBase, change: Change) -> list[Fact]:
        """Bring all views up to the facts of a step; those that ended."""
        ended: list[Fact] = []
        store = facts.store
        for stratum in self.strata:
            created = store.created
            own: list[Fact] = []
            for group in stratum:
                changed = store.started + store.stopped
                if any(query.is_touched(changed, change) for view in group.views for query in view.queries):
                    own += _settle_changed(group, facts) if group.by_change else self._settle_anew(group, facts)
            _number_in_order(store, created)
            own.sort(key=lambda fact: (fact.statement, fact.start, triple_rank(fact.triple)))
            ended += own
        return ended

    def settle_all(self, facts: FactBase) -> None:
        """Derive all views from the facts at the start."""
        for stratum in self.strata:
            created = facts.store.created
            for group in stratum:
                self._settle_anew(group, facts)
            _number_in_order(facts.store, created)

    def _settle_anew(self, group: ViewGroup, facts: FactBase) -> list[Fact]:
        """Derive all triples of a group; the views that ended."""
        store, now = facts.store, facts.now
        held = {fact.triple: fact for fact in _held(group, store)}
        for fact in held.values():
            store.remove(fact)
        # what has held without a break: by derivations that began earlier
        kept: dict[CellTriple, Fact] = {}
        changed = True
        while changed:
            changed = False
            for triple, _ in _derived(group, facts, lambda each: each.holds_at(now) and each.start < now):
                known = held.get(triple)
                if known is not None and known.start < now and triple not in kept:
                    kept[triple] = known
                    store.add(known)
                    changed = True
        changed, rounds = True, 0
        while changed:
            rounds += 1
            if rounds > self.max_rounds:
                raise LimitError(
                    f"Statement {store.started[-1].statement} still derives new facts after {self.max_rounds:,} rounds "
                    "at one time. Try: a view that ends, or a larger max_rounds"
                )
            changed = False
            for triple, number in _derived(group, facts, lambda each: each.holds_at(now)):
                if triple in kept:
                    continue
                known = held.get(triple)
                if known is not None and known.start == now:
                    store.add(known)
                else:
                    known = store.start(triple, now, number, is_view=True)
                    assert known is not None
                kept[triple] = known
                changed = True
        ended = []
        for triple, fact in held.items():
            if kept.get(triple) is not fact:
                fact.end = now
                store.stopped.append(fact)
                if fact.start < now:
                    ended.append(fact)
                    if store.keeps_ended:
                        store.add(fact)
        return ended


def _settle_changed(group: ViewGroup, facts: FactBase) -> list[Fact]:
    """Derive again what the facts that changed in this step may concern; the views that ended."""
    store, now = facts.store, facts.now
    started, stopped = [fact for fact in store.started if fact.end is None], list(store.stopped)
    derived: dict[CellTriple, int] = {}  # by facts that started, each with the statement's number
    concerned: dict[CellTriple, None] = {}  # views that lost a derivation, perhaps
    for view in group.views:
        for query in view.queries:
            for frame in query.frames(stopped):
                for each in view.head.triples:
                    subject, predicate, target = each.known(frame)
                    held = store.matching(subject, predicate, target, FOREVER)
                    concerned.update((fact.triple, None) for fact in held if fact.is_view)
            for match in query.held_with(started, facts):
                for triple in view.head.of(match.frame, facts.moment):
                    derived.setdefault(triple, view.number)
    ended = []
    for triple in concerned:
        known = next(fact for fact in store.open[triple] if fact.is_view)
        starts = list(_derivations(group, triple, facts))
        if starts and (known.start == now or any(start < now for start, _ in starts)):
            continue
        if store.end(known, now):
            ended.append(known)
        if starts:
            store.start(triple, now, starts[0][1], is_view=True)
    for triple, number in derived.items():
        if not any(fact.is_view for fact in store.open.get(triple, ())):
            store.start(triple, now, number, is_view=True)
    return ended


def _derivations(group: ViewGroup, triple: CellTriple, facts: FactBase) -> Iterator[tuple[int, int]]:
    """The derivations of a triple that hold: start, and number of the statement."""
    for view in group.views:
        for query in view.queries:
            for each in view.head.triples:
                frame = each.frame_of(triple, query.certain, query.empty)
                for match in () if frame is None else query.node.find(frame, FOREVER, facts):
                    if match.holds_at(facts.now) and triple in view.head.of(match.frame, facts.moment):
                        yield match.start, view.number


def _held(group: ViewGroup, store: FactStore) -> list[Fact]:
    """The views of a group that hold."""
    numbers, predicates = group.numbers, [view.predicates for view in group.views]
    if None in predicates:
        every = list(store.holding())
    else:
        names = {name: None for each in predicates if each is not None for name in each}
        known = [store.predicates[name] for name in names if name in store.predicates]
        every = [fact for each in known for fact in each.every.values()]
    return [fact for fact in every if fact.is_view and fact.statement in numbers]


def _derived(group: ViewGroup, facts: FactBase, holds: Callable[[FactMatch], bool]) -> list[tuple[CellTriple, int]]:
    """The triples that a group derives from what is there, each once, with the statement's number."""
    found: dict[CellTriple, int] = {}
    for view in group.views:
        for query in view.queries:
            for match in query.every(facts.now, facts):
                if holds(match):
                    for triple in view.head.of(match.frame, facts.moment):
                        found.setdefault(triple, view.number)
    return list(found.items())


def _number_in_order(store: FactStore, created: int) -> None:
    """Facts that began in one step are created in the order of their statements, then of their triples: renumbers those
    after `created`."""
    if store.created - created < 2:
        return
    began = [fact for fact in store.started if fact.number > created and fact.end is None]
    numbers = sorted(fact.number for fact in began)
    for fact in began:
        store.remove(fact)
    began.sort(key=lambda fact: (fact.statement, triple_rank(fact.triple)))
    for number, fact in zip(numbers, began, strict=True):
        fact.number = number
        store.add(fact)


def view_groups(views: Sequence[View]) -> tuple[ViewGroup, ...]:
    """The views of a stratum by group, each after those that it reads."""
    reach = {view: {other for other in views if view is other or _depends(view, other)} for view in views}
    changed = True
    while changed:
        changed = False
        for known in reach.values():
            further = set().union(*(reach[other] for other in known)) - known
            if further:
                known |= further
                changed = True
    groups: dict[frozenset[int], list[View]] = {}
    for view in views:
        same = [other for other in reach[view] if view in reach[other]]
        groups.setdefault(frozenset(other.number for other in same), []).append(view)
    ordered = sorted(groups.values(), key=lambda group: len(reach[group[0]]))
    return tuple(ViewGroup(tuple(group), _is_by_change(group)) for group in ordered)


def _depends(view: View, other: View) -> bool:
    """Whether a view must not be settled before another: it reads it, or derives the same triples."""
    one, made = view.predicates, other.predicates
    return view.reads(other) or one is None or made is None or not one.isdisjoint(made)


def _is_by_change(group: Sequence[View]) -> bool:
    is_recursive = any(view.reads(other) for view in group for other in group)
    return not is_recursive and all(query.is_monotone for view in group for query in view.queries)
