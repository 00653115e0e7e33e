"""The facts that hold and those that have held (TEF-40 to TEF-43)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from thence.engines.facts.frames import Cell, CellTriple
from thence.rdf.times import MIN_TIME

FOREVER = 2**63 - 1
"""The end of a fact that still holds, where ends are compared: later than everything (TEF-28)."""


@dataclass(slots=True, eq=False)
class Fact:
    """A triple that holds from `start` on, until `end`; None: it still does. `number` is the order of creation,
    `statement` the number of the statement that made it, `is_view` whether it is derived from facts alone. Of a view,
    `rank` is greater than that of the facts of its group that it was derived from."""

    number: int
    triple: CellTriple
    start: int
    end: int | None
    statement: int
    is_view: bool = False
    rank: int = 0


_NONE: dict[int, Fact] = {}


@dataclass(slots=True)
class PredicateFacts:
    """The facts of one predicate: those that hold by number, subject and object; those that ended in the order of their
    ends, by subject too. Those that hold are in the order of their starts, if they were entered so (`is_ordered`): what
    statements make begins now."""

    every: dict[int, Fact] = field(default_factory=dict)
    by_subject: dict[Cell, dict[int, Fact]] = field(default_factory=dict)
    by_object: dict[Cell, dict[int, Fact]] | None = None  # from when it is first asked for
    ended: deque[Fact] = field(default_factory=deque)
    ended_by_subject: dict[Cell, deque[Fact]] = field(default_factory=dict)
    is_ordered: bool = True
    latest: int = MIN_TIME  # start of those that were entered

    def add(self, fact: Fact) -> None:
        number, (subject, _, target) = fact.number, fact.triple
        if not self.every:
            self.is_ordered = True
        elif fact.start < self.latest:
            self.is_ordered = False
        self.latest = fact.start
        self.every[number] = fact
        same = self.by_subject.get(subject)
        if same is None:
            self.by_subject[subject] = {number: fact}
        else:
            same[number] = fact
        if self.by_object is not None:
            self.by_object.setdefault(target, {})[number] = fact

    def remove(self, fact: Fact) -> None:
        number, (subject, _, target) = fact.number, fact.triple
        del self.every[number]
        same = self.by_subject[subject]
        del same[number]
        if not same:
            del self.by_subject[subject]
        if self.by_object is not None:
            del self.by_object[target][number]
            if not self.by_object[target]:
                del self.by_object[target]

    def of_object(self, target: Cell) -> dict[int, Fact]:
        if self.by_object is None:
            self.by_object = {}
            for number, fact in self.every.items():
                self.by_object.setdefault(fact.triple[2], {})[number] = fact
        return self.by_object.get(target, {})

    def held(self, subject: Cell | None, target: Cell | None) -> dict[int, Fact]:
        """The facts that hold of a subject, else of an object, else all."""
        if subject is not None:
            return self.by_subject.get(subject, _NONE)
        return self.every if target is None else self.of_object(target)

    def add_ended(self, fact: Fact) -> None:
        self.ended.append(fact)
        self.ended_by_subject.setdefault(fact.triple[0], deque()).append(fact)

    def remove_oldest(self) -> None:
        """Drop the fact that ended first."""
        fact = self.ended.popleft()
        same = self.ended_by_subject[fact.triple[0]]
        same.popleft()
        if not same:
            del self.ended_by_subject[fact.triple[0]]


@dataclass(slots=True)
class FactStore:
    """Facts by predicate, and by predicate with subject or object. Facts that have ended stay if patterns may read
    them."""

    open: dict[CellTriple, list[Fact]] = field(default_factory=dict)
    predicates: dict[Cell, PredicateFacts] = field(default_factory=dict)
    ended: deque[Fact] = field(default_factory=deque)  # in the order of their ends
    keeps_ended: bool = True
    created: int = 0
    started: list[Fact] = field(default_factory=list)  # since `forget_changes`
    stopped: list[Fact] = field(default_factory=list)  # since `forget_changes`: facts that ended, or never held
    begun: list[Fact] = field(default_factory=list)  # at this instant; those that no longer hold have an end

    def __len__(self) -> int:
        return sum(map(len, self.open.values())) + len(self.ended)

    def start(self, triple: CellTriple, time: int, statement: int, *, is_view: bool = False) -> Fact | None:
        """A new fact; None if it began at that time already, and still holds (TEF-40). A view goes beside a made fact
        of its triple, if its head has a variable for a predicate."""
        same = self.open.get(triple)
        if same is not None and any(fact.start == time and fact.is_view is is_view for fact in same):
            return None
        self.created += 1
        fact = Fact(self.created, triple, time, None, statement, is_view)
        self.add(fact)
        self.started.append(fact)
        self.begun.append(fact)
        return fact

    def add(self, fact: Fact) -> None:
        """Enter a fact; one that ended must not have ended before those that are here."""
        of_predicate = self.predicates.get(fact.triple[1])
        if of_predicate is None:
            of_predicate = self.predicates[fact.triple[1]] = PredicateFacts()
        if fact.end is not None:
            self.ended.append(fact)
            of_predicate.add_ended(fact)
            return
        same = self.open.get(fact.triple)
        if same is None:
            self.open[fact.triple] = [fact]
        else:
            same.append(fact)
        of_predicate.add(fact)

    def end(self, fact: Fact, time: int) -> bool:
        """End a fact that holds. A fact that began at that time never held, and is removed: False (TEF-43)."""
        self.remove(fact)
        fact.end = time
        self.stopped.append(fact)
        if fact.start == time:
            return False
        if self.keeps_ended:
            self.add(fact)
        return True

    def remove(self, fact: Fact) -> None:
        """Take out a fact that holds."""
        same = self.open[fact.triple]
        same.remove(fact)
        if not same:
            del self.open[fact.triple]
        self.predicates[fact.triple[1]].remove(fact)

    @contextmanager
    def reopened(self, facts: Iterable[Fact]) -> Iterator[None]:
        """A context in which some facts that ended at this instant hold again."""
        ends = [(fact, fact.end) for fact in facts]
        touched = {fact.triple[1]: self.predicates[fact.triple[1]] for fact, _ in ends}
        orders = [(each, each.is_ordered, each.latest) for each in touched.values()]
        for fact, _ in ends:
            fact.end = None
            self.add(fact)
        try:
            yield
        finally:
            for fact, end in ends:
                self.remove(fact)
                fact.end = end
            for each, is_ordered, latest in orders:  # the others are as they did
                each.is_ordered, each.latest = is_ordered, latest

    def holding(self) -> Iterator[Fact]:
        return (fact for same in self.open.values() for fact in same)

    def matching(self, subject: Cell | None, predicate: Cell | None, target: Cell | None, after: int) -> list[Fact]:
        """The facts that may be those of a triple, None being any term, as far as they end after a time."""
        if predicate is None:
            found = sorted(self.holding(), key=lambda fact: fact.number)
            return found if after == FOREVER else found + _ended_after(self.ended, after)
        of_predicate = self.predicates.get(predicate)
        if of_predicate is None:
            return []
        held: Iterable[Fact]
        if subject is not None and target is not None:
            held = self.open.get((subject, predicate, target), ())
        else:
            held = of_predicate.held(subject, target).values()
        if not of_predicate.ended or after == FOREVER:
            return [*held]
        ended = of_predicate.ended if subject is None else of_predicate.ended_by_subject.get(subject, deque())
        return [*held, *_ended_after(ended, after)]

    def began_between(
        self, subject: Cell | None, predicate: Cell, target: Cell | None, low: int, high: int, after: int
    ) -> list[Fact]:
        """Facts that `matching` returns, at least those that began within the closed interval."""
        of_predicate = self.predicates.get(predicate)
        if of_predicate is None or not of_predicate.is_ordered or not (after == FOREVER or not of_predicate.ended):
            return self.matching(subject, predicate, target, after)
        held = of_predicate.held(subject, target)
        found = []
        if low == MIN_TIME:
            for fact in held.values():
                if fact.start > high:
                    break
                found.append(fact)
            return found
        for fact in reversed(held.values()):
            if fact.start < low:
                break
            if fact.start <= high:
                found.append(fact)
        return found[::-1]

    def first(self, subject: Cell | None, predicate: Cell | None, target: Cell | None) -> int:
        """The time when the first stored fact of a triple began; FOREVER if there is no such fact."""
        found = self.matching(subject, predicate, target, MIN_TIME)
        return min((fact.start for fact in found if target is None or fact.triple[2] == target), default=FOREVER)

    def forget(self, before: int) -> None:
        """Drop facts that ended at a time or before it."""
        ended = self.ended
        while ended and ended[0].end is not None and ended[0].end <= before:
            self.predicates[ended.popleft().triple[1]].remove_oldest()

    def forget_changes(self) -> None:
        if self.started:
            self.started = []
        if self.stopped:
            self.stopped = []


def _ended_after(ended: deque[Fact], after: int) -> list[Fact]:
    """The facts that ended after a time, in the order of their ends."""
    if not ended or (ended[-1].end is not None and ended[-1].end <= after):
        return []
    found = []
    for fact in reversed(ended):
        if fact.end is not None and fact.end <= after:
            break
        found.append(fact)
    return found[::-1]
