"""Fact patterns that are asked repeatedly: what they depend on, which of their matches a change may concern, and how
these are found."""

from __future__ import annotations

import heapq
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, assert_never

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
    bound,
)
from thence.algebra.traversal import nodes
from thence.algebra.variables import mentioned
from thence.engines.facts.event_instances import Stored
from thence.engines.facts.fact_nodes import ALWAYS, FactBase, FactMatch, FactNode, TripleSlots
from thence.engines.facts.fact_store import FOREVER, Fact
from thence.engines.facts.frames import Cell, Frame, only
from thence.engines.facts.kind_checks import Kinds, now_comparison
from thence.engines.facts.pattern_compiler import PatternCompiler, all_variables, certain
from thence.rdf.terms import IRI

# Values by the frames of matches, found by their bound variables.

K = TypeVar("K", bound=tuple[Frame, *tuple[Any, ...]])
V = TypeVar("V")
Shape: TypeAlias = tuple[int, ...]
"""The slots that a frame binds."""


@dataclass(slots=True)
class FrameIndex(Generic[K, V]):
    """Values by key; a key begins with the frame of a match. It is indexed by the slots of each shape that it is asked
    with, of which a query has few; every frame that is entered binds these."""

    entries: dict[K, V] = field(default_factory=dict)
    shapes: dict[Shape, dict[Frame, dict[K, None]]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: K) -> bool:
        return key in self.entries

    def items(self) -> ItemsView[K, V]:
        return self.entries.items()

    def put(self, key: K, value: V) -> None:
        if key not in self.entries:
            for shape, listed in self.shapes.items():
                listed.setdefault(_part(key[0], shape), {})[key] = None
        self.entries[key] = value

    def take(self, frame: Frame) -> dict[K, V]:
        """Remove the entries that agree with a frame; these."""
        shape = tuple([slot for slot, each in enumerate(frame) if each is not None])
        if not shape:
            found, self.entries, self.shapes = self.entries, {}, {}
            return found
        if shape not in self.shapes:
            listed = self.shapes[shape] = {}
            for key in self.entries:
                listed.setdefault(_part(key[0], shape), {})[key] = None
        return {key: self._remove(key) for key in list(self.shapes[shape].get(_part(frame, shape), ()))}

    def _remove(self, key: K) -> V:
        for shape, listed in self.shapes.items():
            part = _part(key[0], shape)
            del listed[part][key]
            if not listed[part]:
                del listed[part]
        return self.entries.pop(key)


def _part(frame: Frame, shape: Shape) -> Frame:
    return tuple([frame[slot] for slot in shape])


# The dependencies of a fact pattern: its triples, and the variables whose values may be fixed before it is asked.


def fact_triples(pattern: TefPattern, kinds: Kinds, *, is_absent: bool = False) -> Iterator[tuple[TriplePattern, bool]]:
    """The triples of facts in a fact pattern, and whether each is right of a WITHOUT."""
    match pattern:
        case TriplePattern():
            if not _is_static(pattern, kinds):
                yield pattern, is_absent
        case Conjunction() | Either():
            yield from fact_triples(pattern.left, kinds, is_absent=is_absent)
            yield from fact_triples(pattern.right, kinds, is_absent=is_absent)
        case Absent():
            yield from fact_triples(pattern.left, kinds, is_absent=is_absent)
            if kinds.of_pattern(pattern.right) is not Kind.EVENT:
                yield from fact_triples(pattern.right, kinds, is_absent=True)
        case Times() | Test() | Assignment():
            yield from fact_triples(pattern.pattern, kinds, is_absent=is_absent)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is not a fact")
        case _:
            assert_never(pattern)


def skeleton(pattern: TefPattern) -> TefPattern:
    """The triples that a match consists of, without conditions, times and WITHOUT: each match of the pattern, whenever
    it holds, is one of the skeleton, as far as triples bind it."""
    match pattern:
        case TriplePattern():
            return pattern
        case Conjunction():
            return Conjunction(skeleton(pattern.left), skeleton(pattern.right))
        case Either():
            return Either(skeleton(pattern.left), skeleton(pattern.right))
        case Absent():
            return skeleton(pattern.left)
        case Times() | Test() | Assignment():
            return skeleton(pattern.pattern)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is not a fact")
        case _:
            assert_never(pattern)


def unfixed(pattern: TefPattern, kinds: Kinds, scope: frozenset[Variable] = frozenset()) -> frozenset[Variable]:
    """The variables whose values must not be fixed before a fact pattern is asked. An expression or a WITHOUT names
    them where nothing to their left is sure to bind them, and is to see them unbound (TEF-39, TEF-58); or one side of a
    UNION has its own (TEF-69). `scope` is what the left is sure to bind."""
    match pattern:
        case TriplePattern():
            return frozenset()
        case Times():
            return unfixed(pattern.pattern, kinds, scope)
        case Test() | Assignment():
            expression = pattern.condition if isinstance(pattern, Test) else pattern.expression
            known = scope | _sure(pattern.pattern)
            return unfixed(pattern.pattern, kinds, scope) | (mentioned(expression) - known)
        case Conjunction():
            return unfixed(pattern.left, kinds, scope) | unfixed(pattern.right, kinds, scope | _sure(pattern.left))
        case Either():
            own = (bound(pattern.left) | bound(pattern.right)) - bound(pattern)
            sides = (unfixed(side, kinds, scope - own) for side in (pattern.left, pattern.right))
            return own.union(*sides)
        case Absent():
            known = scope | _sure(pattern.left)
            left = unfixed(pattern.left, kinds, scope) | (all_variables(pattern.right) - known)
            is_event = kinds.of_pattern(pattern.right) is Kind.EVENT
            return left if is_event else left | unfixed(pattern.right, kinds, known)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is not a fact")
        case _:
            assert_never(pattern)


def _sure(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that every match of a fact pattern binds; the end of an open fact is unbound (TEF-54)."""
    match pattern:
        case TriplePattern():
            return bound(pattern)
        case Times():
            return _sure(pattern.pattern) | ({pattern.start} if isinstance(pattern.start, Variable) else frozenset())
        case Assignment():
            return _sure(pattern.pattern) | {pattern.variable}
        case Conjunction():
            return _sure(pattern.left) | _sure(pattern.right)
        case Either():
            return _sure(pattern.left) & _sure(pattern.right)
        case Absent():
            return _sure(pattern.left)
        case Test():
            return _sure(pattern.pattern)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is not a fact")
        case _:
            assert_never(pattern)


def needs_facts(pattern: TefPattern, kinds: Kinds) -> bool:
    """Whether no match is of static triples alone."""
    match pattern:
        case TriplePattern():
            return not _is_static(pattern, kinds)
        case Conjunction():
            return needs_facts(pattern.left, kinds) or needs_facts(pattern.right, kinds)
        case Either():
            return needs_facts(pattern.left, kinds) and needs_facts(pattern.right, kinds)
        case Absent():
            return needs_facts(pattern.left, kinds)
        case Times() | Test() | Assignment():
            return needs_facts(pattern.pattern, kinds)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is not a fact")
        case _:
            assert_never(pattern)


def _is_static(pattern: TriplePattern, kinds: Kinds) -> bool:
    return isinstance(pattern.predicate, IRI) and kinds.of(pattern.predicate) is Kind.STATIC


# A fact pattern that is asked again and again, and which of its matches a change may concern.
#
# A change is turned into frames: every match that begins, ends or starts again by the change agrees with one of them,
# so that the node is asked for these alone.


class Leaf(NamedTuple):
    """A triple of facts in a pattern, and the slots of its variables that a frame may fix."""

    slots: TripleSlots
    fixed: tuple[int, ...]


DueFrames: TypeAlias = Mapping["FactQuery", Sequence[Frame]]
"""By query what is bound in matches whose comparison with now() becomes true or false."""


class Changes(NamedTuple):
    """The changes of a step or an instant: facts that started and stopped; events right of `F WITHOUT E`, each with its
    storage; and comparisons with now(). `is_first`: nothing was known before."""

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
        return [each for each in self.matches(frame, FOREVER, facts) if each.holds_at(now)]

    def matches(self, frame: Frame, after: int, facts: FactBase) -> list[FactMatch]:
        """The matches that agree with a frame, as the node finds them; those of static triples alone hold from the
        first event on (TEF-45)."""
        matches = self.node.find(frame, after, facts)
        if self.needs_facts:
            return matches
        return [each._replace(start=facts.first) if each.start == ALWAYS else each for each in matches]

    def gained(self, changes: Changes) -> list[Frame]:
        """The bindings of the matches that may have begun."""
        if changes.is_first:
            return [self.empty]
        frames = self._otherwise(changes)
        self._add([fact for fact in changes.started if fact.end is None], self.present, frames)
        return self._widest(frames) if frames else []

    def lost(self, changes: Changes) -> list[Frame]:
        """The bindings of the matches that may have ended."""
        frames = self._otherwise(changes)
        self._add(changes.stopped, self.present, frames)
        return self._widest(frames)

    def touched(self, changes: Changes) -> list[Frame]:
        """The bindings of the matches that may have begun or ended."""
        frames = self._otherwise(changes)
        self._add(changes.started, self.present, frames)
        self._add(changes.stopped, self.present, frames)
        return self._widest(frames)

    def frames_with(self, facts: Iterable[Fact]) -> list[Frame]:
        """The bindings of the matches that may include some facts."""
        frames: dict[Frame, None] = {}
        self._add(facts, self.present, frames)
        return self._widest(frames)

    def _otherwise(self, changes: Changes) -> dict[Frame, None]:
        """The bindings of the matches that may have begun or ended by something other than their own facts."""
        frames: dict[Frame, None] = {}
        if self.absent:
            self._add(changes.started, self.absent, frames)
            self._add(changes.stopped, self.absent, frames)
        if self.events:
            for stored, frame in changes.events:
                if any(stored is own for own in self.events):
                    frames[only(frame, self.fixed)] = None
        if self.is_clocked:
            frames.update(dict.fromkeys(changes.due.get(self, ())))
        return frames

    def _add(self, facts: Iterable[Fact], leaves: tuple[Leaf, ...], frames: dict[Frame, None]) -> None:
        reads, empty = self.reads, self.empty
        for fact in facts:
            triple = fact.triple
            if reads is None or triple[1] in reads:
                for slots, fixed in leaves:
                    frame = slots.unified(triple, empty)
                    if frame is not None:
                        frames[only(frame, fixed)] = None

    def _widest(self, frames: dict[Frame, None]) -> list[Frame]:
        return [self.empty] if self.empty in frames else list(frames)


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


# When time alone drives a step: when comparisons with now() over facts will be true or false next (TEF-64).


_FEW = 64


class Due(NamedTuple):
    """A time to come: that of the matches of a query that agree with a frame."""

    time: int
    entered: int
    query: int
    frame: Frame


@dataclass(slots=True)
class Timers:
    """The times to come, as a heap. They follow from the matches that changes concern, for as long as these hold: an
    entry is looked at again when its turn comes."""

    queries: tuple[FactQuery, ...]
    heap: list[Due] = field(default_factory=list)
    known: set[tuple[int, int, Frame]] = field(default_factory=set)  # what the heap has
    entered: int = 0
    most: int = _FEW  # entries of the heap, before those that are no longer due are dropped

    def recall(self, facts: FactBase) -> None:
        """All of them, from the facts that hold."""
        self.heap, self.known = [], set()
        for number, query in enumerate(self.queries):
            self._enter(number, [query.empty], facts)
        self.most = max(_FEW, 2 * len(self.heap))

    def due(self, now: int) -> dict[FactQuery, list[Frame]]:
        """Remove what is due at a time: by query what is bound in the matches that it concerns."""
        frames: dict[FactQuery, list[Frame]] = {}
        while self.heap and self.heap[0].time <= now:
            time, _, number, frame = heapq.heappop(self.heap)
            self.known.discard((time, number, frame))
            frames.setdefault(self.queries[number], []).append(frame)
        return frames

    def next(self, changes: Changes, facts: FactBase) -> int | None:
        """After an instant: the next time."""
        for number, query in enumerate(self.queries):
            self._enter(number, query.gained(changes), facts)
        if len(self.heap) > self.most:
            self.recall(facts)
        while self.heap:
            time, _, number, frame = self.heap[0]
            if (time, frame) in _due(self.queries[number], frame, facts):
                return time
            heapq.heappop(self.heap)
            self.known.discard((time, number, frame))
        return None

    def _enter(self, number: int, frames: Iterable[Frame], facts: FactBase) -> None:
        for frame in frames:
            for time, own in _due(self.queries[number], frame, facts):
                if (time, number, own) not in self.known:
                    self.known.add((time, number, own))
                    self.entered += 1
                    heapq.heappush(self.heap, Due(time, self.entered, number, own))


def _due(query: FactQuery, frame: Frame, facts: FactBase) -> set[tuple[int, Frame]]:
    """When comparisons of a query will be true or false next, of the matches that agree with a frame; and what is bound
    in each."""
    facts.due = set()
    query.node.find(frame, FOREVER, facts)
    return {(time, only(each, query.fixed)) for time, each in facts.due}
