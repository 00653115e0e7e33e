"""The facts that hold and those that have held (TEF-40 to TEF-43)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.match.context import Solution
from thence.rdf.terms import Term, Triple

Key: TypeAlias = tuple[Term | None, Term, Term | None]
"""Subject, predicate and object of an index; None: any."""


@dataclass(slots=True, eq=False)
class Fact:
    """A triple that holds from `start` on, until `end`; None: it still does. `number` is the order of creation,
    `statement` the number of the statement that made it, `is_view` whether it is derived from facts alone."""

    number: int
    triple: Triple
    start: int
    end: int | None
    statement: int
    is_view: bool = False


def unified(pattern: TriplePattern, triple: Triple, bound: Solution) -> Solution | None:
    """The bindings with which a pattern is the triple; None if it cannot be."""
    found = bound
    for slot, term in zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True):
        if isinstance(slot, Variable):
            known = found.get(slot)
            if known is None:
                found = {**found, slot: term} if found is bound else found | {slot: term}
            elif known != term:
                return None
        elif slot != term:
            return None
    return found if found is not bound else dict(bound)


@dataclass(slots=True)
class FactStore:
    """Facts by predicate, and by predicate with subject or object. What ended stays, as far as patterns may ask."""

    open: dict[Triple, list[Fact]] = field(default_factory=dict)
    indexes: dict[Key, dict[int, Fact]] = field(default_factory=dict)  # open ones, by number
    ended: dict[Term, list[Fact]] = field(default_factory=dict)  # by predicate
    created: int = 0

    def __len__(self) -> int:
        return sum(map(len, self.open.values())) + sum(map(len, self.ended.values()))

    def start(self, triple: Triple, time: int, statement: int, *, is_view: bool = False) -> Fact | None:
        """A new fact; None if it began at that time already, and still holds (TEF-40)."""
        if any(fact.start == time for fact in self.open.get(triple, ())):
            return None
        self.created += 1
        fact = Fact(self.created, triple, time, None, statement, is_view)
        self.add(fact)
        return fact

    def add(self, fact: Fact) -> None:
        if fact.end is not None:
            self.ended.setdefault(fact.triple.predicate, []).append(fact)
            return
        self.open.setdefault(fact.triple, []).append(fact)
        for key in _keys(fact.triple):
            self.indexes.setdefault(key, {})[fact.number] = fact

    def end(self, fact: Fact, time: int) -> bool:
        """End a fact that holds. A fact that began at that time never held, and is removed: False (TEF-43)."""
        self.remove(fact)
        fact.end = time
        if fact.start == time:
            return False
        self.ended.setdefault(fact.triple.predicate, []).append(fact)
        return True

    def remove(self, fact: Fact) -> None:
        """Take out a fact that holds."""
        same = self.open[fact.triple]
        same.remove(fact)
        if not same:
            del self.open[fact.triple]
        for key in _keys(fact.triple):
            del self.indexes[key][fact.number]
            if not self.indexes[key]:
                del self.indexes[key]

    def holding(self) -> Iterator[Fact]:
        return (fact for same in self.open.values() for fact in same)

    def matching(self, pattern: TriplePattern, bound: Solution, *, ended: bool = True) -> Iterator[Fact]:
        """The facts that a pattern may match, given what is bound."""
        slots = (pattern.subject, pattern.predicate, pattern.object)
        subject, predicate, target = (bound.get(slot) if isinstance(slot, Variable) else slot for slot in slots)
        if predicate is None:
            found: Iterable[Fact] = sorted(self.holding(), key=lambda fact: fact.number)
        elif subject is not None:
            found = self.indexes.get((subject, predicate, None), {}).values()
        elif target is not None:
            found = self.indexes.get((None, predicate, target), {}).values()
        else:
            found = self.indexes.get((None, predicate, None), {}).values()
        yield from list(found)
        if ended:
            listed = self.ended.values() if predicate is None else [self.ended.get(predicate, [])]
            yield from [fact for same in listed for fact in same]

    def forget(self, before: int) -> None:
        """Drop facts that ended not after a time."""
        for predicate in list(self.ended):
            kept = [fact for fact in self.ended[predicate] if fact.end is not None and fact.end > before]
            if kept:
                self.ended[predicate] = kept
            else:
                del self.ended[predicate]


def _keys(triple: Triple) -> tuple[Key, Key, Key]:
    subject, predicate, target = triple
    return (None, predicate, None), (subject, predicate, None), (None, predicate, target)
