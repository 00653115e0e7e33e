"""A fact pattern that is asked again and again, and which of its matches a change may concern.

A change is turned into frames: every match that begins, ends or starts again by the change agrees with one of them, so
that the node is asked for these alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from thence.algebra.tef_sparql import Absent, Kind, TefPattern, Test
from thence.algebra.traversal import nodes
from thence.kernel.facts.cells import Cell
from thence.kernel.facts.event_instances import Stored
from thence.kernel.facts.fact_nodes import ALWAYS, FactBase, FactMatch, FactNode, TripleSlots
from thence.kernel.facts.fact_store import FOREVER, Fact
from thence.kernel.facts.frames import Frame, only
from thence.kernel.facts.pattern_compiler import PatternCompiler, certain
from thence.kernel.facts.query_patterns import fact_triples, needs_facts, skeleton, unfixed
from thence.program.facts.kinds import now_comparison


class Leaf(NamedTuple):
    """A triple of facts in a pattern, and the slots of its variables that a frame may fix."""

    slots: TripleSlots
    fixed: tuple[int, ...]


DueFrames: TypeAlias = Mapping["FactQuery", Sequence[Frame]]
"""By query what is bound in matches whose comparison with now() becomes true or false."""


class Changes(NamedTuple):
    """What has changed in a step or an instant: facts that started and stopped; events right of `F WITHOUT E`, each
    with where it is stored; and comparisons with now(). `is_first`: nothing was known before."""

    started: Sequence[Fact]
    stopped: Sequence[Fact]
    events: Sequence[tuple[Stored, Frame]] = ()
    due: DueFrames = MappingProxyType({})
    is_first: bool = False


@dataclass(slots=True, eq=False)
class FactQuery:
    """A compiled fact pattern. `certain` are the slots that every match binds, `fixed` those of them that a frame may
    fix: to ask with a frame gives the matches that agree with it, and all of them. `skeleton` is the node of its
    triples alone, without conditions, times and WITHOUT."""

    node: FactNode
    skeleton: FactNode
    empty: Frame
    present: tuple[Leaf, ...]
    absent: tuple[Leaf, ...]  # right of WITHOUT
    events: tuple[Stored, ...]  # right of `F WITHOUT E`
    certain: tuple[int, ...]
    fixed: tuple[int, ...]
    reads: frozenset[Cell] | None  # predicates; None: any
    is_clocked: bool  # it compares with now()
    needs_facts: bool  # no match is of static triples alone

    def holding(self, frame: Frame, facts: FactBase) -> list[FactMatch]:
        """The matches that hold and agree with a frame."""
        now = facts.now
        return [each for each in self.found(frame, FOREVER, facts) if each.holds_at(now)]

    def found(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        """The matches that agree with a frame, as the node finds them; those of static triples alone hold from the
        first event on (TEF-45)."""
        found = self.node.find(frame, after, facts)
        if self.needs_facts:
            return found
        return [each._replace(start=facts.first) if each.start == ALWAYS else each for each in found]

    def gained(self, changes: Changes) -> list[Frame]:
        """What is bound in the matches that may have begun."""
        if changes.is_first:
            return [self.empty]
        found = self._otherwise(changes)
        self._add([fact for fact in changes.started if fact.end is None], self.present, found)
        return self._widest(found) if found else []

    def lost(self, changes: Changes) -> list[Frame]:
        """What is bound in the matches that may have ended."""
        found = self._otherwise(changes)
        self._add(changes.stopped, self.present, found)
        return self._widest(found)

    def touched(self, changes: Changes) -> list[Frame]:
        """What is bound in the matches that may have begun or ended."""
        found = self._otherwise(changes)
        self._add(changes.started, self.present, found)
        self._add(changes.stopped, self.present, found)
        return self._widest(found)

    def frames_with(self, facts: Iterable[Fact]) -> list[Frame]:
        """What is bound in the matches that some facts may be part of."""
        found: dict[Frame, None] = {}
        self._add(facts, self.present, found)
        return self._widest(found)

    def _otherwise(self, changes: Changes) -> dict[Frame, None]:
        """What is bound in the matches that may have begun or ended, and not by their own facts."""
        found: dict[Frame, None] = {}
        if self.absent:
            self._add(changes.started, self.absent, found)
            self._add(changes.stopped, self.absent, found)
        if self.events:
            for stored, frame in changes.events:
                if any(stored is own for own in self.events):
                    found[only(frame, self.fixed)] = None
        if self.is_clocked:
            found.update(dict.fromkeys(changes.due.get(self, ())))
        return found

    def _add(self, facts: Iterable[Fact], leaves: tuple[Leaf, ...], found: dict[Frame, None]) -> None:
        reads, empty = self.reads, self.empty
        for fact in facts:
            triple = fact.triple
            if reads is None or triple[1] in reads:
                for slots, fixed in leaves:
                    frame = slots.unified(triple, empty)
                    if frame is not None:
                        found[only(frame, fixed)] = None

    def _widest(self, found: dict[Frame, None]) -> list[Frame]:
        return [self.empty] if self.empty in found else list(found)


def fact_query(pattern: TefPattern, compiler: PatternCompiler) -> FactQuery:
    """A fact pattern over a statement's layout."""
    kinds, layout = compiler.kinds, compiler.layout
    own = len(compiler.absent)
    node = compiler.facts(pattern)
    bare = skeleton(pattern)
    always = certain(pattern)
    fixed = layout.slots_of(always - unfixed(pattern, kinds))
    leaves: tuple[list[Leaf], list[Leaf]] = ([], [])
    for triple, is_absent in fact_triples(pattern, kinds):
        slots = compiler.triple(triple)
        own_slots = {position.slot for position in slots.positions}
        leaves[is_absent].append(Leaf(slots, tuple(slot for slot in fixed if slot in own_slots)))
    constants = [leaf.slots.positions[1].constant for leaf in (*leaves[0], *leaves[1])]
    return FactQuery(
        node=node,
        skeleton=node if bare == pattern else compiler.facts(bare),
        empty=layout.empty,
        present=tuple(leaves[0]),
        absent=tuple(leaves[1]),
        events=tuple(known.stored for _, known in compiler.absent[own:]),
        certain=layout.slots_of(always),
        fixed=fixed,
        reads=None if None in constants else frozenset(each for each in constants if each is not None),
        is_clocked=any(
            isinstance(each, Test) and now_comparison(each.condition) is not None for each in nodes(pattern)
        ),
        needs_facts=needs_facts(pattern, kinds),
    )


def has_gaps(pattern: TefPattern, compiler: PatternCompiler) -> bool:
    """Whether it has a WITHOUT over facts."""
    gaps = (node for node in nodes(pattern) if isinstance(node, Absent))
    return any(compiler.kinds.of_pattern(gap.right) is not Kind.EVENT for gap in gaps)
