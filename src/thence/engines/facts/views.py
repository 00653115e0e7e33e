"""Views: facts derived from facts alone, the least fixpoint (TEF-47 to TEF-49); unnamed ones under ONSTART and ONEND
(TEF-50)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.algebra.tef_sparql import ConstructStatement, TefPattern
from thence.engines.facts.compiled_expressions import Head
from thence.engines.facts.fact_nodes import FactBase, FactMatch, TimesSlots
from thence.engines.facts.fact_queries import Changes, FactQuery, FrameIndex
from thence.engines.facts.fact_store import FOREVER, Fact, FactStore
from thence.engines.facts.frames import Cell, CellTriple, Frame, frame_rank, only, triple_rank
from thence.errors import LimitError

# Unnamed views: composite fact patterns under ONSTART and ONEND, each match of which has its turn (TEF-50).
#
# Each change comes as frames: everything about matches that agree with them is derived again.

Identity: TypeAlias = tuple[Frame, int]
"""A mapping and a start (TEF-50); the ends of open facts are not bound."""


class Turn(NamedTuple):
    """A match that began, with its place in the order of creation."""

    order: tuple[object, ...]
    view: int
    match: FactMatch


Origin: TypeAlias = tuple[Frame, frozenset[tuple[int, Cell]], tuple[int, ...], int]
"""The identity of a match across interruptions: its mapping, what UNION has dropped, the arms, and the start."""


@dataclass(slots=True)
class Continuity:
    """Since when each match of a pattern with WITHOUT holds without a break: what it is without may start and end at
    one time, and then it starts again (TEF-43, TEF-49). `times` are those around the pattern, `[?s, ?e]`, if it has
    any: they are not part of the query."""

    query: FactQuery
    times: TimesSlots | None
    since: FrameIndex[Origin, int] = field(default_factory=FrameIndex)

    def note(self, frames: Iterable[Frame], facts: FactBase) -> None:
        """After a step that may have changed the matches that agree with some frames."""
        for frame in frames:
            earlier = self.since.take(frame)
            for origin in map(_origin, self.query.holding(frame, facts)):
                self.since.put(origin, earlier.get(origin, facts.now))

    def open(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        matches = []
        for match in self.query.holding(frame, facts):
            start = self.since.entries.get(_origin(match), facts.now)
            timed = match.frame if self.times is None else self.times.timed(match.frame, start, None, facts)
            if timed is not None:
                matches.append(match._replace(frame=timed, start=start))
        return matches

    def timed(self, ended: FactMatch, match: FactMatch, facts: FactBase) -> FactMatch:
        """A match that has ended, with the times that it has held."""
        if self.times is None:
            return ended
        return ended._replace(frame=self.times.timed(ended.frame, match.start, facts.now, facts) or match.frame)


def _origin(match: FactMatch) -> Origin:
    return match.frame, match.hidden, match.arms, match.start


def _agree(one: Frame, other: Frame) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


@dataclass(slots=True)
class UnnamedQuery:
    """A composite fact pattern of ONSTART, ONEND or SELECT, each match of which starts and ends for itself."""

    query: FactQuery
    continuity: Continuity | None  # of the query

    def open(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        """The matches that hold and agree with a frame."""
        return self.query.holding(frame, facts) if self.continuity is None else self.continuity.open(frame, facts)

    def began(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        """The open matches that began at this instant."""
        return [each for each in self.open(frame, facts) if each.start == facts.now]

    def ended(self, match: FactMatch, facts: FactBase) -> FactMatch:
        """A match as it is now that it has ended: its times are bound."""
        now = facts.now
        for each in self.query.matches(only(match.frame, self.query.fixed), now - 1, facts):
            if each.end == now and _agree(match.frame, each.frame):
                if self.continuity is not None:
                    return self.continuity.timed(each, match, facts)
                if each.start == match.start:
                    return each
        return match._replace(end=now)


@dataclass(slots=True)
class UnnamedView:
    """The view of that number: the matches that began at this instant for ONSTART, those that hold for ONEND."""

    number: int
    query: UnnamedQuery
    has_starts: bool
    has_ends: bool
    begun: FrameIndex[Identity, Turn] = field(default_factory=FrameIndex)
    held: FrameIndex[Identity, FactMatch] = field(default_factory=FrameIndex)

    def begin(self) -> None:
        """An instant begins."""
        if self.begun:
            self.begun = FrameIndex()

    def recall(self, facts: FactBase) -> None:
        """Restore the state of the view from the facts."""
        if self.has_ends:
            self.ended([self.query.query.empty], facts)

    def note_begun(self, frames: Iterable[Frame], facts: FactBase, step: int) -> None:
        """After a step: what began at this instant and holds, of the matches that agree with some frames; it comes
        after all facts of the step."""
        for frame in frames:
            earlier = self.begun.take(frame)
            for each in self.query.began(frame, facts):
                identity = (each.frame, each.start)
                order = (facts.store.created, 1, step, self.number, frame_rank(each.frame))
                known = earlier.get(identity)
                self.begun.put(identity, Turn(order if known is None else known.order, self.number, each))

    def ended(self, frames: Iterable[Frame], facts: FactBase) -> list[FactMatch]:
        """After a step: what held and no longer does, in order, of the matches that agree with some frames."""
        gone: list[FactMatch] = []
        for frame in frames:
            earlier = self.held.take(frame)
            for each in self.query.open(frame, facts):
                self.held.put((each.frame, each.start), each)
            gone += (each for identity, each in earlier.items() if identity not in self.held)
        gone = [each for each in gone if each.start < facts.now]
        gone.sort(key=lambda each: (each.start, frame_rank(each.frame)))
        return [self.query.ended(each, facts) for each in gone]


# Views: facts derived from facts alone, the least fixpoint (TEF-47 to TEF-49).
#
# A group of views is settled by what has changed, by delete and rederive. A fact that may have lost a derivation is
# removed, unless it has another one from facts of lower rank: these do not depend on it. So are the facts that were
# derived from a fact which is removed. Those that are derivable from what is left come back; then facts are derived
# from what is new, round by round.

_FEW = 8
"""So few facts of a view are looked at one by one, rather than found by what they were derived from."""


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
        """The predicates that it derives; None: any."""
        found = [each.parts[1][0] for each in self.head.triples]
        return None if None in found else frozenset(each for each in found if each is not None)

    def reads(self, other: View) -> bool:
        """Whether it may read what another derives."""
        made = other.predicates
        return any(made is None or query.reads is None or not made.isdisjoint(query.reads) for query in self.queries)


class Rule(NamedTuple):
    """A view by one of its patterns."""

    view: View
    query: FactQuery


class Question(NamedTuple):
    """A question to a rule: the derivations that agree with a frame."""

    view: View
    query: FactQuery
    frame: Frame


@dataclass(frozen=True, slots=True, eq=False)
class ViewGroup:
    """Views that are settled together, since they derive the same triples or read each other."""

    views: tuple[View, ...]
    rules: tuple[Rule, ...]
    is_recursive: bool

    def number(self, predicate: Cell) -> int:
        """The first statement that derives facts of a predicate: their order follows it."""
        made = ((view.number, view.predicates) for view in self.views)
        return min(number for number, predicates in made if predicates is None or predicate in predicates)

    def known(self, triple: CellTriple, store: FactStore) -> Fact | None:
        """The fact of a triple that the group has derived and that holds."""
        for fact in store.open.get(triple, ()):
            if self.owns(fact):
                return fact
        return None

    def owns(self, fact: Fact) -> bool:
        return fact.is_view and any(view.number == fact.statement for view in self.views)

    def questions_with(self, facts: Sequence[Fact]) -> Iterator[Question]:
        """For the derivations that some facts may be part of."""
        for view, query in self.rules:
            for frame in query.frames_with(facts):
                yield Question(view, query, frame)


@dataclass(slots=True)
class Views:
    """The views of a program: by stratum, and in it by group, each after those that it reads."""

    strata: tuple[tuple[ViewGroup, ...], ...]
    max_rounds: int
    ranks: int = 0

    def settle(self, facts: FactBase, changes: Changes) -> list[Fact]:
        """Bring all views up to the facts of a step; those that ended. What starts and stops is added to the changes,
        which are those of the store."""
        created = facts.store.created
        ended: list[Fact] = []
        for stratum in self.strata:
            for group in stratum:
                ended += self._settle(group, facts, changes)
        _number_in_order(facts.store, created)
        ended.sort(key=lambda fact: (fact.statement, fact.start, triple_rank(fact.triple)))
        return ended

    def _settle(self, group: ViewGroup, facts: FactBase, changes: Changes) -> list[Fact]:
        """Bring a group up to the facts; the views that ended."""
        lost = [Question(view, query, frame) for view, query in group.rules for frame in query.lost(changes)]
        gained = [Question(view, query, frame) for view, query in group.rules for frame in query.gained(changes)]
        if not lost and not gained:
            return []
        store = facts.store
        removed, derivable = self._remove(group, lost, changes.stopped, facts) if lost else ({}, {})
        if removed and group.is_recursive:
            derivable = self._put_back(group, removed, facts)
        self._derive(group, gained, derivable, removed, facts)
        ended = []
        for fact in removed.values():
            fact.end = facts.now
            store.stopped.append(fact)
            if fact.start < facts.now:
                ended.append(fact)
                if store.keeps_ended:
                    store.add(fact)
        return ended

    def _remove(
        self, group: ViewGroup, lost: Iterable[Question], stopped: Sequence[Fact], facts: FactBase
    ) -> tuple[dict[CellTriple, Fact], dict[CellTriple, int]]:
        """Remove the facts that may have lost all derivations; these, and the triples of them that have one. Facts of
        lower rank are decided first, so that no fact which is removed later is part of the derivation by which one
        stays."""
        store = facts.store
        doubted: dict[int, Fact] = {}
        unclear: list[Question] = []
        for question in lost:
            few = _few_concerned(group, question, store)
            if few is None:
                unclear.append(question)
            else:
                doubted.update((fact.number, fact) for fact in few)
        if unclear:
            with store.reopened(stopped):  # what was derived, was so from the facts before
                doubted.update(
                    (fact.number, fact) for question in unclear for fact in _concerned(group, question, facts)
                )
        waiting = [(fact.rank, number, fact) for number, fact in doubted.items() if fact.end is None]
        heapq.heapify(waiting)
        removed: dict[CellTriple, Fact] = {}
        derivable: dict[CellTriple, int] = {}
        while waiting:
            _, _, fact = heapq.heappop(waiting)
            is_founded, number = _founded(group, fact, facts)
            if is_founded:
                continue
            removed[fact.triple] = fact
            if number is not None:
                derivable[fact.triple] = number
            for question in group.questions_with([fact]) if group.is_recursive else ():
                for other in _concerned(group, question, facts):
                    if other.rank > fact.rank and other.number not in doubted:
                        doubted[other.number] = other
                        heapq.heappush(waiting, (other.rank, other.number, other))
            store.remove(fact)
        return removed, derivable

    def _put_back(self, group: ViewGroup, removed: dict[CellTriple, Fact], facts: FactBase) -> dict[CellTriple, int]:
        """Put back the facts that have held without a break, by a derivation that began earlier. Returns the triples of
        the other derivable facts, each with a statement."""
        now = facts.now
        derivable: dict[CellTriple, int] = {}
        waiting: list[Fact] = []

        def note(triple: CellTriple, start: int, number: int) -> None:
            fact = removed.get(triple)
            if fact is None:
                return
            if start < now and fact.start < now:
                del removed[triple]
                facts.store.add(fact)
                waiting.append(self._ranked(fact))
            else:
                derivable[triple] = number

        for triple in list(removed):
            for match, number in _derivations(group, triple, facts):
                note(triple, match.start, number)
                if triple not in removed:
                    break
        while waiting and removed and group.is_recursive:
            for view, query, frame in group.questions_with([waiting.pop()]):
                for match in query.holding(frame, facts):
                    for triple in view.head.of(match.frame, facts.moment):
                        note(triple, match.start, view.number)
        return {triple: number for triple, number in derivable.items() if triple in removed}

    def _derive(
        self,
        group: ViewGroup,
        gained: Iterable[Question],
        derivable: dict[CellTriple, int],
        removed: dict[CellTriple, Fact],
        facts: FactBase,
    ) -> None:
        """Start what is derivable, and what follows from it. What was removed, and began at this instant, comes
        back."""
        store, now = facts.store, facts.now
        derived, rounds = {**derivable, **_derived(gained, facts)}, 1
        while derived:
            started: list[Fact] = []
            for triple in derived:
                if group.known(triple, store) is not None:
                    continue
                known = removed.get(triple)
                if known is not None and known.start == now:
                    del removed[triple]
                    store.add(known)
                else:
                    known = store.start(triple, now, group.number(triple[1]), is_view=True)
                if known is not None:
                    started.append(self._ranked(known))
            if not started or not group.is_recursive:
                return
            rounds += 1
            if rounds > self.max_rounds:
                raise LimitError(
                    f"Statement {derived[started[-1].triple]} still derives new facts after {self.max_rounds:,} rounds "
                    "at one time. Try: a view that ends, or a larger max_rounds"
                )
            derived = _derived(group.questions_with(started), facts)

    def _ranked(self, fact: Fact) -> Fact:
        """A fact that was derived now."""
        self.ranks += 1
        fact.rank = self.ranks
        return fact

    def recall(self, facts: FactBase) -> None:
        """After a restart: the ranks of views that hold, by deriving them."""
        for group in (group for stratum in self.strata for group in stratum if group.is_recursive):
            held = {fact.triple: fact for fact in list(facts.store.holding()) if group.owns(fact)}
            for fact in held.values():
                facts.store.remove(fact)
            derived = _derived((Question(view, query, query.empty) for view, query in group.rules), facts)
            while known := [held.pop(triple) for triple in derived if triple in held]:
                for fact in known:
                    facts.store.add(self._ranked(fact))
                derived = _derived(group.questions_with(known), facts)
            for fact in held.values():  # in a malformed state nothing may derive it
                facts.store.add(self._ranked(fact))


def _derived(questions: Iterable[Question], facts: FactBase) -> dict[CellTriple, int]:
    """The triples that follow from what holds, each with a statement that derives it."""
    triples: dict[CellTriple, int] = {}
    for view, query, frame in questions:
        for match in query.holding(frame, facts):
            for triple in view.head.of(match.frame, facts.moment):
                triples.setdefault(triple, view.number)
    return triples


def _concerned(group: ViewGroup, question: Question, facts: FactBase) -> Iterator[Fact]:
    """The facts that hold and have, or had, a derivation that agrees with a frame; perhaps others."""
    view, query, frame = question
    store = facts.store
    if all(None not in template.known(frame) for template in view.head.triples):
        frames = [frame]
    else:
        frames = [only(match.frame, query.certain) for match in query.skeleton.find(frame, FOREVER, facts)]
    for template in view.head.triples:
        for known in dict.fromkeys(tuple(template.known(one)) for one in frames):
            subject, predicate, target = known
            if subject is None or predicate is None or target is None:
                held = store.matching(subject, predicate, target, FOREVER)
            else:
                held = store.open.get((subject, predicate, target), [])
            for fact in held:
                if group.owns(fact) and all(a is None or a == b for a, b in zip(known, fact.triple, strict=True)):
                    yield fact


def _few_concerned(group: ViewGroup, question: Question, store: FactStore) -> list[Fact] | None:
    """All facts that hold and that the head makes of a frame, if they are few; None: they are many."""
    concerned: list[Fact] = []
    for template in question.view.head.triples:
        subject, predicate, target = template.known(question.frame)
        if subject is None or predicate is None:
            return None
        held = store.matching(subject, predicate, target, FOREVER)
        if len(held) > _FEW:
            return None
        concerned += [fact for fact in held if group.owns(fact)]
    return concerned


def _founded(group: ViewGroup, fact: Fact, facts: FactBase) -> tuple[bool, int | None]:
    """Whether a fact has a derivation that does not depend on it, and with which it has held without a break: one that
    began before this instant, if the fact did. And the number of a statement that derives it in any way."""
    statement = None
    for match, number in _derivations(group, fact.triple, facts):
        is_unbroken = match.start < facts.now or fact.start == facts.now
        if is_unbroken and not any(one.rank >= fact.rank for one in match.facts if group.owns(one)):
            return True, number
        statement = number
    return False, statement


def _derivations(group: ViewGroup, triple: CellTriple, facts: FactBase) -> Iterator[tuple[FactMatch, int]]:
    """The derivations of a triple that hold, each with the number of its statement."""
    for view, query in group.rules:
        for template in view.head.triples:
            frame = template.frame_of(triple, query.fixed, query.empty)
            for match in () if frame is None else query.holding(frame, facts):
                if triple in view.head.of(match.frame, facts.moment):
                    yield match, view.number


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
    return tuple(map(_group, sorted(groups.values(), key=lambda group: len(reach[group[0]]))))


def _depends(view: View, other: View) -> bool:
    """Whether a view must not be settled before another: it reads it, or derives the same triples."""
    one, made = view.predicates, other.predicates
    return view.reads(other) or one is None or made is None or not one.isdisjoint(made)


def _group(views: Sequence[View]) -> ViewGroup:
    rules = tuple(Rule(view, query) for view in views for query in view.queries)
    return ViewGroup(tuple(views), rules, any(view.reads(other) for view in views for other in views))
