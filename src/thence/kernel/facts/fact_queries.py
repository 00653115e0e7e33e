"""A fact pattern that is asked again and again, and what changes of facts may change about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    Conjunction,
    Either,
    Kind,
    OnEnd,
    OnStart,
    Related,
    TefPattern,
    Test,
    Times,
)
from thence.algebra.tef_variables import bound
from thence.algebra.traversal import nodes
from thence.kernel.facts.cells import Cell
from thence.kernel.facts.fact_nodes import FactBase, FactMatch, FactNode, TripleSlots
from thence.kernel.facts.fact_store import FOREVER, Fact
from thence.kernel.facts.frames import Frame, only
from thence.kernel.facts.pattern_compiler import PatternCompiler, certain
from thence.program.facts.kinds import Kinds, now_comparison
from thence.rdf.terms import IRI


class Leaf(NamedTuple):
    """A triple of facts in a pattern, and the slots of its variables that the whole pattern joins by: a UNION on the
    way hides those of one side (TEF-69)."""

    slots: TripleSlots
    visible: tuple[int, ...]


class Change(NamedTuple):
    """What a step or an instant has changed beside facts."""

    is_time: bool  # it is time-driven
    has_events: bool  # an event right of `F WITHOUT E` came


NO_CHANGE = Change(is_time=False, has_events=False)
TIME = Change(is_time=True, has_events=False)
EVENTS = Change(is_time=False, has_events=True)


@dataclass(slots=True)
class FactQuery:
    """A compiled fact pattern. `certain` are the slots that every match binds."""

    node: FactNode
    empty: Frame
    leaves: tuple[Leaf, ...]
    certain: tuple[int, ...]
    reads: frozenset[Cell] | None  # predicates; None: any
    is_clocked: bool  # it compares with now()
    needs_facts: bool  # no match is of static triples alone
    has_absence: bool  # it has WITHOUT
    has_events: bool  # it has `F WITHOUT E`
    is_monotone: bool  # only facts that begin make it begin, and only facts that end make it end

    def every(self, after: int, facts: FactBase) -> list[FactMatch]:
        """All matches, but for those of facts that ended at `after` or earlier."""
        return self.node.find(self.empty, after, facts)

    def frames(self, changed: Iterable[Fact]) -> list[Frame]:
        """What is bound in the matches that one of some facts may be part of."""
        found: dict[Frame, None] = {}
        for fact in changed:
            for leaf in self.leaves:
                frame = leaf.slots.unified(fact.triple, self.empty)
                if frame is not None:
                    found[only(frame, leaf.visible)] = None
        return list(found)

    def held_with(self, changed: Iterable[Fact], facts: FactBase) -> Iterator[FactMatch]:
        """The matches, of facts that hold, that some facts may be part of; a match may come more than once."""
        for frame in self.frames(changed):
            yield from self.node.find(frame, FOREVER, facts)

    def began(self, now: int, facts: FactBase) -> list[FactMatch]:
        """The matches that began at this instant and hold."""
        if self.is_monotone:
            begun = [fact for fact in facts.store.begun if fact.end is None]
            found: Iterable[FactMatch] = self.held_with(begun, facts) if begun else ()
        else:
            found = self.every(now, facts)
        return [each for each in found if each.start == now and each.holds_at(now)]

    def is_touched(self, changed: Iterable[Fact], change: Change) -> bool:
        """Whether a step may have changed the matches."""
        if (change.is_time and self.is_clocked) or (change.has_events and self.has_events):
            return True
        reads = self.reads
        for fact in changed:
            if reads is None or fact.triple[1] in reads:
                return True
        return False


def fact_query(pattern: TefPattern, compiler: PatternCompiler) -> FactQuery:
    """A fact pattern over a statement's layout."""
    kinds = compiler.kinds
    leaves = tuple(_leaves(pattern, bound(pattern), compiler))
    constants = [leaf.slots.positions[1].constant for leaf in leaves]
    is_clocked = any(isinstance(each, Test) and now_comparison(each.condition) is not None for each in nodes(pattern))
    absent = [each for each in nodes(pattern) if isinstance(each, Absent)]
    return FactQuery(
        node=compiler.facts(pattern),
        empty=compiler.layout.empty,
        leaves=leaves,
        certain=compiler.layout.slots_of(certain(pattern)),
        reads=None if None in constants else frozenset(each for each in constants if each is not None),
        is_clocked=is_clocked,
        needs_facts=_needs_facts(pattern, kinds),
        has_absence=bool(absent),
        has_events=any(kinds.of_pattern(each.right) is Kind.EVENT for each in absent),
        is_monotone=not is_clocked and not absent,
    )


def _leaves(pattern: TefPattern, visible: frozenset[Variable], compiler: PatternCompiler) -> Iterator[Leaf]:
    """The triples of facts, those right of WITHOUT included."""
    match pattern:
        case TriplePattern():
            if not _is_static(pattern, compiler.kinds):
                yield Leaf(compiler.triple(pattern), compiler.layout.slots_of(bound(pattern) & visible))
        case Conjunction():
            yield from _leaves(pattern.left, visible, compiler)
            yield from _leaves(pattern.right, visible, compiler)
        case Either():
            common = visible & bound(pattern)
            yield from _leaves(pattern.left, common, compiler)
            yield from _leaves(pattern.right, common, compiler)
        case Absent():
            yield from _leaves(pattern.left, visible, compiler)
            if compiler.kinds.of_pattern(pattern.right) is not Kind.EVENT:
                yield from _leaves(pattern.right, visible, compiler)
        case Times() | Test() | Assignment():
            yield from _leaves(pattern.pattern, visible, compiler)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is no fact")
        case _:
            assert_never(pattern)


def _needs_facts(pattern: TefPattern, kinds: Kinds) -> bool:
    match pattern:
        case TriplePattern():
            return not _is_static(pattern, kinds)
        case Conjunction():
            return _needs_facts(pattern.left, kinds) or _needs_facts(pattern.right, kinds)
        case Either():
            return _needs_facts(pattern.left, kinds) and _needs_facts(pattern.right, kinds)
        case Absent():
            return _needs_facts(pattern.left, kinds)
        case Times() | Test() | Assignment():
            return _needs_facts(pattern.pattern, kinds)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is no fact")
        case _:
            assert_never(pattern)


def _is_static(pattern: TriplePattern, kinds: Kinds) -> bool:
    return isinstance(pattern.predicate, IRI) and kinds.of(pattern.predicate) is Kind.STATIC
