"""Matches of event patterns, what they wait for, and where they are stored (TEF-39, TEF-58, TEF-71)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from thence.algebra.expressions import Expression, Variable
from thence.kernel.facts.fact_patterns import FactEvaluation
from thence.kernel.facts.fact_store import Fact
from thence.match.context import Solution
from thence.match.expression_evaluator import passes
from thence.rdf.terms import Term


class Pending(NamedTuple):
    """An expression that waits for variables to its left (TEF-58): a test, or the value of a variable. `bound` is what
    its part binds, `now` when its part was completed (TEF-62), `names` what it waits for."""

    variable: Variable | None
    expression: Expression
    bound: Solution
    now: int
    names: frozenset[Variable]


class Blocking(NamedTuple):
    """What stands right of WITHOUT, and was there, if it goes with variables that are bound further to the left
    (TEF-39)."""

    bound: Solution
    names: frozenset[Variable]
    pending: tuple[Pending, ...] = ()


class EventInstance(NamedTuple):
    """A match of an event pattern. `keys` are its events in pattern order, `refs` those from outside; `read` are the
    facts that DURING and WITH have read; `hidden` is what UNION has dropped, `arms` which arms they are of."""

    bound: Solution
    start: int
    end: int
    keys: tuple[int, ...]
    refs: tuple[int, ...]
    pending: tuple[Pending, ...] = ()
    read: tuple[Fact, ...] = ()
    hidden: frozenset[tuple[Variable, Term]] = frozenset()
    arms: tuple[int, ...] = ()
    blocked: tuple[Blocking, ...] = ()

    @property
    def identity(self) -> object:
        """Its events and its mapping, as it is before UNION drops variables (TEF-71)."""
        return self.keys, frozenset(self.bound.items()), self.hidden, self.arms


def merged(left: Solution, right: Solution) -> Solution | None:
    """Both mappings as one; None if they are not compatible."""
    small, large = (left, right) if len(left) < len(right) else (right, left)
    for variable, term in small.items():
        if large.get(variable, term) != term:
            return None
    return {**left, **right}


def settled(instance: EventInstance, facts: FactEvaluation, *, is_whole: bool = False) -> EventInstance | None:
    """With the expressions evaluated that waited for variables which are bound now; None: one does not hold. If it is
    whole, nothing further to the left is to come: a variable without a value stays so."""
    if not instance.pending and not instance.blocked:
        return instance
    bound, rest = instance.bound, []
    for each in instance.pending:
        known = {**{name: bound[name] for name in each.names if name in bound}, **each.bound}
        if not is_whole and not each.names <= known.keys():
            rest.append(each)
        elif each.variable is None:
            if not passes(each.expression, known, facts.at(each.now)):
                return None
        else:
            found = facts.assigned(known, each.variable, each.expression, facts.at(each.now))
            if found is None or bound.get(each.variable, found[each.variable]) != found[each.variable]:
                return None
            bound = {**bound, each.variable: found[each.variable]}
    undecided = []
    for other in instance.blocked:
        if merged({name: term for name, term in bound.items() if name in other.names}, other.bound) is None:
            continue  # it is about something else
        if not is_whole and not other.names <= bound.keys():
            undecided.append(other)
        elif _still_blocks(other, bound, facts):
            return None
    return instance._replace(bound=bound, pending=tuple(rest), blocked=tuple(undecided))


def _still_blocks(other: Blocking, bound: Solution, facts: FactEvaluation) -> bool:
    together = {**{name: bound[name] for name in other.names if name in bound}, **other.bound}
    return settled(EventInstance(together, 0, 0, (), (), other.pending), facts, is_whole=True) is not None


@dataclass(slots=True)
class Stored:
    """Instances that were completed earlier, by the variables that the other side always binds too."""

    names: tuple[Variable, ...]
    listed: dict[tuple[Term, ...], list[EventInstance]] = field(default_factory=dict)

    def add(self, instance: EventInstance) -> None:
        self.listed.setdefault(self._key(instance.bound), []).append(instance)

    def of(self, bound: Solution) -> list[EventInstance]:
        return self.listed.get(self._key(bound), [])

    def all(self) -> Iterator[EventInstance]:
        return (each for same in self.listed.values() for each in same)

    def forget(self, before: int, *, by_end: bool = False) -> None:
        """Drop instances that start before a time, or end before it."""
        for key in list(self.listed):
            kept = [each for each in self.listed[key] if (each.end if by_end else each.start) >= before]
            if kept:
                self.listed[key] = kept
            else:
                del self.listed[key]

    def _key(self, bound: Solution) -> tuple[Term, ...]:
        return tuple(bound[name] for name in self.names)


def is_met(other: EventInstance, bound: Solution, facts: FactEvaluation) -> bool:
    """Whether an instance, right of WITHOUT, goes with what is bound to its left (TEF-39)."""
    together = merged(bound, other.bound)
    if together is None:
        return False
    return settled(other._replace(bound=together), facts, is_whole=True) is not None
