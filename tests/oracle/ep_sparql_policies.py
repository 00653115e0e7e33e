"""The policies `chronological` and `recent` over chains of SEQs (EP-66 to EP-72, RS-33 to RS-47)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

from oracle.ep_sparql_data import Data, Occurrence
from oracle.ep_sparql_expressions import Time
from oracle.ep_sparql_patterns import Evaluation, Place, Solution, Solutions, combination
from oracle.ep_sparql_query import Chain, Group, Select, in_scope
from oracle.graphs import EMPTY, Mapping, compatible

Listed: TypeAlias = tuple[Solution, tuple[str, ...]]
"""A row, and its input events in pattern order: of an occurrence, the first visible one that brought it."""


def policy_solutions(data: Data, select: Select, policy: str) -> list[Listed]:
    """At each t the rows that end at t, over what no earlier row has consumed (EP-70, EP-71)."""
    found: list[Listed] = []
    consumed: set[str] = set()
    for time in sorted({source.end for source in data.sources}):
        now = replace(data, sources=tuple(s for s in data.sources if s.end <= time and s.event not in consumed))
        evaluation = Evaluation(now)
        selected = Selection(evaluation, policy).group(select.where, (), UNRESTRICTED, everything)
        emitted = [solution for solution in selected if solution.end == time]
        for solution in emitted:
            row = evaluation.row(select, solution, evaluation.scope(solution))
            found.append((row.solution, events_of(now, solution)))
        consumed.update(event for solution in emitted for event in events_of(now, solution))
    return found


def events_of(data: Data, solution: Solution) -> tuple[str, ...]:
    """The first visible event of each occurrence in it (EP-72); background gives none."""
    bringers = [data.brought_by(filling) for _, filling in solution.marks if isinstance(filling, Occurrence)]
    return tuple(sources[0].event for sources in bringers if sources)


@dataclass(frozen=True)
class Restriction:
    """What an enclosing SEQ leaves of its left side: compatible with μ2, and ending before t3 (RS-35)."""

    mapping: Mapping
    before: Time

    def admits(self, solution: Solution) -> bool:
        return compatible(self.mapping, solution.mapping) and solution.end < self.before

    def further(self, right: Solution) -> Restriction:
        return Restriction(self.mapping | right.mapping, min(self.before, right.start))


UNRESTRICTED = Restriction(EMPTY, inf)


def precedes(left: Solution, right: Solution) -> bool:
    """(t1,t2) ≺ (t3,t4): by ends, then by starts (RS-33)."""
    return (left.end, left.start) < (right.end, right.start)


def first(solutions: Solutions) -> Solutions:
    """FIRST, with all ties (RS-37)."""
    return [each for each in solutions if not any(precedes(other, each) for other in solutions)]


def last(solutions: Solutions) -> Solutions:
    return [each for each in solutions if not any(precedes(each, other) for other in solutions)]


Accepts: TypeAlias = Callable[[Solution], bool]
"""What the filters of enclosing groups leave of a left operand (EP-69)."""


class Selection:
    """One evaluation under a policy."""

    def __init__(self, evaluation: Evaluation, policy: str) -> None:
        self.evaluation = evaluation
        self.best: Callable[[Solutions], Solutions] = {"chronological": first, "recent": last}[policy]

    def group(self, group: Group, place: Place, restriction: Restriction, accepts: Accepts) -> Solutions:
        """A chain with its filters, or triples with theirs, as far as the restriction admits and enclosing filters
        accept."""
        inner = [(number, each) for number, each in enumerate(group.elements) if isinstance(each, Group)]
        if inner:  # alone beside filters, which are filters of an enclosing group
            [(number, each)] = inner
            return self.group(
                each,
                (*place, number),
                restriction,
                lambda whole: self.evaluation.passes(group.filters, whole) and accepts(whole),
            )
        chains = [(number, each) for number, each in enumerate(group.elements) if isinstance(each, Chain)]
        if not chains:
            found = self.evaluation.group(group, place)
            return [each for each in found if restriction.admits(each) and accepts(each)]
        [(number, chain)] = chains
        operands = (chain.first, *(right for _, right in chain.rest))
        whole = ChainSelection(self, operands, group, (*place, number), accepts)
        return whole.prefixes(len(operands), None, restriction)


def everything(solution: Solution) -> bool:
    return True


@dataclass(frozen=True)
class ChainSelection:
    """A chain `E1 SEQ E2 SEQ …` in its group. The group's filters and those of enclosing groups are judged before any
    of its SEQs selects; they reach into E1, and not into what stands right of a SEQ (EP-69)."""

    selection: Selection
    operands: tuple[Group, ...]
    group: Group
    place: Place
    accepts: Accepts

    def prefixes(self, length: int, right: Solution | None, restriction: Restriction) -> Solutions:
        """The solutions of the first `length` operands before `right`, what is chosen of the operands after them.

        Only those count that the filters pass, together with `right`.
        """
        operand, place = self.operands[length - 1], (*self.place, length - 1)
        if length == 1:
            return self.selection.group(operand, place, restriction, lambda each: self.passes(combined(each, right)))
        candidates = self.selection.group(operand, place, restriction, everything)
        partners = {
            each: self.prefixes(length - 1, combined(each, right), restriction.further(each)) for each in candidates
        }
        joined = [each for each in candidates if partners[each]]
        shared = self.shared(length)
        kept = [each for each in joined if each in self.selection.best(rivals(each, joined, shared))]
        return [combination(a, each) for each in kept for a in self.selection.best(partners[each])]

    def passes(self, whole: Solution) -> bool:
        return self.selection.evaluation.passes(self.group.filters, whole) and self.accepts(whole)

    def shared(self, length: int) -> frozenset[str]:
        """The variables in scope in both sides of a SEQ, by the text (RS-41)."""
        left = {name for operand in self.operands[: length - 1] for name in in_scope(operand)}
        return frozenset(left & set(in_scope(self.operands[length - 1])))


def combined(left: Solution, right: Solution | None) -> Solution:
    return left if right is None else combination(left, right)


def rivals(candidate: Solution, joined: Iterable[Solution], shared: frozenset[str]) -> Solutions:
    """It and those that agree with it on the shared variables: same value, or both unbound (RS-41)."""

    def values(solution: Solution) -> frozenset[tuple[str, object]]:
        return frozenset(pair for pair in solution.mapping if pair[0] in shared)

    return [other for other in joined if values(other) == values(candidate)]
